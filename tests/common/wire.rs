//! Messages of protobuf, field by field.

use buffa::encoding::encode_varint;

/// A number as it stands in a message.
pub fn varint(number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_varint(number, &mut bytes);
    bytes
}

/// A field with bytes.
pub fn part(number: u64, bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [varint(number << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// A field with a number, which is absent where that is 0.
pub fn number(of: u64, value: u64) -> Vec<u8> {
    if value == 0 { Vec::new() } else { [varint(of << 3), varint(value)].concat() }
}
