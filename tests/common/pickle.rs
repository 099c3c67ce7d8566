//! Pickles of plain containers (formats/pytorch.md 2), as PyTorch writes its snapshots.

use serde_json::Value;

/// A value as a pickle of protocol 4. An array of two numbers is a list, as everything else that JSON has.
pub fn pickle(value: &Value) -> Vec<u8> {
    let mut bytes = vec![0x80, 4];
    write(value, &mut bytes);
    bytes.push(b'.');
    bytes
}

fn write(value: &Value, bytes: &mut Vec<u8>) {
    match value {
        Value::Null => bytes.push(b'N'),
        Value::Bool(is_true) => bytes.push(if *is_true { 0x88 } else { 0x89 }),
        Value::Number(number) => {
            let number = number.as_i64().expect("an integer");
            bytes.extend([0x8A, 8]);
            bytes.extend(number.to_le_bytes());
        }
        Value::String(text) => {
            bytes.push(b'X');
            bytes.extend(u32::try_from(text.len()).expect("short").to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        Value::Array(values) => {
            bytes.extend([b']', b'(']);
            for value in values {
                write(value, bytes);
            }
            bytes.push(b'e');
        }
        Value::Object(entries) => {
            bytes.extend([b'}', b'(']);
            for (key, value) in entries {
                write(&Value::from(key.as_str()), bytes);
                write(value, bytes);
            }
            bytes.push(b'u');
        }
    }
}
