//! Messages of protobuf, field by field: nothing is copied, and fields that nobody asks for are passed over.

use buffa::encoding::{Tag, WireType, decode_varint, skip_field};

use super::texts::Allowance;

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireField<'a> {
    /// A number, also one that stands for true or false.
    Number(u64),
    /// A text, a message within, or numbers end to end.
    Bytes(&'a [u8]),
    /// The same, but the message ends before it does: what there is of it.
    Cut(&'a [u8]),
}

/// The number of the field with which bytes begin, where in them its contents begin, and their length, which may be
/// more than there is; `None` at the end.
///
/// # Errors
/// When they do not begin with a field.
pub(super) fn field_at(bytes: &[u8]) -> Result<Option<(u32, usize, u64)>, Malformed> {
    let malformed = |error: buffa::DecodeError| Malformed(error.to_string());
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut rest = bytes;
    let tag = Tag::decode(&mut rest).map_err(malformed)?;
    let length = match tag.wire_type() {
        WireType::LengthDelimited => decode_varint(&mut rest).map_err(malformed)?,
        _ => {
            skip_field(tag, &mut rest).map_err(malformed)?;
            0
        }
    };
    let start = bytes.len().saturating_sub(rest.len());
    Ok(Some((tag.field_number(), start, length)))
}

/// What is no message of protobuf, with the words of why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed(pub String);

/// The fields of a message that are still to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire<'a> {
    rest: &'a [u8],
}

impl<'a> Wire<'a> {
    pub fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    /// What is still to come.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next field by its number; `None` at the end.
    ///
    /// # Errors
    /// When what follows is no field. Nothing is read behind it.
    pub fn next_field(&mut self) -> Result<Option<(u32, WireField<'a>)>, Malformed> {
        let malformed = |error: buffa::DecodeError| Malformed(error.to_string());
        while !self.rest.is_empty() {
            let mut rest = std::mem::take(&mut self.rest);
            let tag = Tag::decode(&mut rest).map_err(malformed)?;
            let field = match tag.wire_type() {
                WireType::Varint => {
                    Some(WireField::Number(decode_varint(&mut rest).map_err(malformed)?))
                }
                WireType::LengthDelimited => {
                    let length = decode_varint(&mut rest).map_err(malformed)?;
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    Some(match rest.split_at_checked(length) {
                        Some((bytes, behind)) => {
                            rest = behind;
                            WireField::Bytes(bytes)
                        }
                        None => WireField::Cut(std::mem::take(&mut rest)),
                    })
                }
                _ => {
                    skip_field(tag, &mut rest).map_err(malformed)?;
                    None
                }
            };
            self.rest = rest;
            if let Some(field) = field {
                return Ok(Some((tag.field_number(), field)));
            }
        }
        Ok(None)
    }

    /// Every field of a message that is whole, until `each` has seen enough.
    ///
    /// # Errors
    /// When the message is damaged or cut.
    pub fn each(
        mut self,
        mut each: impl FnMut(u32, WireField<'a>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        while let Some((number, field)) = self.next_field()? {
            if let WireField::Cut(_) = field {
                return Err(Malformed("the message ends before its field does".to_owned()));
            }
            each(number, field)?;
        }
        Ok(())
    }
}

impl<'a> WireField<'a> {
    /// A number; negative ones take ten bytes and come out as such.
    pub fn number(self) -> i64 {
        match self {
            Self::Number(number) => number.cast_signed(),
            _ => 0,
        }
    }

    /// The bytes of a text or a message.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) | Self::Cut(bytes) => bytes,
            Self::Number(_) => &[],
        }
    }

    /// Whether it is set.
    pub fn is_true(self) -> bool {
        self.number() != 0
    }

    /// Adds the numbers of a repeated field: end to end, or one by one.
    ///
    /// # Errors
    /// When the last one is cut, or there is no room for them.
    pub fn add_numbers(
        self,
        numbers: &mut Vec<i64>,
        room: &mut Allowance,
    ) -> Result<(), Malformed> {
        match self {
            Self::Number(number) => {
                room.take(size_of::<i64>())?;
                numbers.push(number.cast_signed());
            }
            Self::Bytes(mut bytes) | Self::Cut(mut bytes) => {
                while !bytes.is_empty() {
                    room.take(size_of::<i64>())?;
                    let number = decode_varint(&mut bytes);
                    let number = number.map_err(|error| Malformed(error.to_string()))?;
                    numbers.push(number.cast_signed());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_of_every_kind_are_told_and_unknown_ones_passed_over() {
        // 1: 150; 2: "ab"; 3: fixed 32; 4: fixed 64; 5: group of a number; 6: two numbers end to end; 7: −1.
        let message = [
            0x08, 0x96, 0x01, 0x12, 2, b'a', b'b', 0x1D, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8,
            0x2B, 0x08, 1, 0x2C, 0x32, 3, 1, 0x96, 0x01, 0x38, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF, 0xFF, 1,
        ];
        let mut found = Vec::new();
        let each = |number, field: WireField<'_>| {
            found.push((number, format!("{field:?}")));
            Ok(())
        };
        Wire::of(&message).each(each).unwrap();
        let expected = [
            (1, "Number(150)"),
            (2, "Bytes([97, 98])"),
            (6, "Bytes([1, 150, 1])"),
            (7, "Number(18446744073709551615)"),
        ];
        assert_eq!(found, expected.map(|(number, text)| (number, text.to_owned())));
        let (mut numbers, mut room) = (Vec::new(), Allowance::of(0));
        WireField::Bytes(&[1, 0x96, 0x01]).add_numbers(&mut numbers, &mut room).unwrap();
        WireField::Number(u64::MAX).add_numbers(&mut numbers, &mut room).unwrap();
        assert_eq!(numbers, [1, 150, -1]);
        assert!(WireField::Bytes(&[0x96]).add_numbers(&mut numbers, &mut room).is_err());
    }

    #[test]
    fn what_is_cut_is_said_to_be() {
        let mut fields = Wire::of(&[0x12, 5, b'a', b'b']);
        assert_eq!(fields.next_field(), Ok(Some((2, WireField::Cut(b"ab")))));
        assert_eq!(fields.next_field(), Ok(None));
        assert!(Wire::of(&[0x12, 5, b'a']).each(|_, _| Ok(())).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_come_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut fields = Wire::of(&bytes);
            let mut left = bytes.len();
            while let Ok(Some((_, field))) = fields.next_field() {
                prop_assert!(field.bytes().len() < bytes.len());
                prop_assert!(fields.rest().len() < left);
                left = fields.rest().len();
            }
            prop_assert_eq!(fields.next_field(), Ok(None), "nothing behind a fault");
        }
    }
}
