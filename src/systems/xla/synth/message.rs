//! Messages of protobuf as they are written: field by field, those that are 0 or empty left out as proto3 does.

use buffa::encoding::{Tag, WireType, encode_varint};

/// A message that is being written.
#[derive(Debug, Default)]
pub(super) struct ProtoMessage {
    bytes: Vec<u8>,
}

impl ProtoMessage {
    /// A message that `write` fills.
    pub fn of(write: impl FnOnce(&mut Self)) -> Self {
        let mut message = Self::default();
        write(&mut message);
        message
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A number, a kind, or whether something is so.
    pub fn number(&mut self, field: u32, number: impl Into<u64>) {
        let number = number.into();
        if number != 0 {
            Tag::new(field, WireType::Varint).encode(&mut self.bytes);
            encode_varint(number, &mut self.bytes);
        }
    }

    pub fn text(&mut self, field: u32, text: &str) {
        if !text.is_empty() {
            self.delimited(field, text.as_bytes());
        }
    }

    /// Numbers end to end.
    pub fn numbers(&mut self, field: u32, numbers: impl IntoIterator<Item = u64>) {
        let mut all = Vec::new();
        numbers.into_iter().for_each(|number| encode_varint(number, &mut all));
        if !all.is_empty() {
            self.delimited(field, &all);
        }
    }

    /// A message within, which is there even if it is empty.
    pub fn message(&mut self, field: u32, write: impl FnOnce(&mut Self)) {
        let within = Self::of(write);
        self.delimited(field, &within.bytes);
    }

    fn delimited(&mut self, field: u32, bytes: &[u8]) {
        Tag::new(field, WireType::LengthDelimited).encode(&mut self.bytes);
        encode_varint(bytes.len() as u64, &mut self.bytes);
        self.bytes.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_protobuf_has_them() {
        let message = ProtoMessage::of(|message| {
            message.number(1, 150_u64);
            message.number(2, 0_u64);
            message.text(3, "ab");
            message.numbers(4, [1, 150]);
            message.message(5, |within| within.number(1, true));
            message.message(6, |_| ());
        });
        let expected = [
            0x08, 0x96, 0x01, 0x1A, 2, b'a', b'b', 0x22, 3, 1, 0x96, 0x01, 0x2A, 2, 0x08, 1, 0x32,
            0,
        ];
        assert_eq!(message.into_bytes(), expected);
    }
}
