//! Writes `debug.cbor` (formats/poplar.md 3.1): contexts, children first, then the string table.

use ciborium_ll::{Encoder, Header, simple};
use serde_json::Value;

use super::model::ModelContext;

/// The file's bytes.
pub fn encode(contexts: &[ModelContext]) -> Vec<u8> {
    let mut strings: Vec<String> = Vec::new();
    let mut writer = CborWriter(Vec::new());
    writer.header(Header::Map(Some(2)));
    writer.text("contexts");
    writer.header(Header::Array(None));
    // Poplar writes a context when it dies, so children come before their parents.
    for context in contexts.iter().rev() {
        let mut string = |text: &str| {
            let known = strings.iter().position(|other| other == text);
            let index = known.unwrap_or_else(|| {
                strings.push(text.to_owned());
                strings.len() - 1
            });
            Header::Positive(index as u64)
        };
        let (name, file) = (string(&context.name), string(context.location.0));
        let entries = 5 + usize::from(context.parent != 0) + context.says.len();
        writer.header(Header::Map(Some(entries)));
        writer.text(context.kind.0);
        writer.text(&context.kind.1);
        for (key, value) in &context.says {
            writer.text(key);
            writer.value(value);
        }
        writer.text("id");
        writer.header(Header::Positive(context.id));
        writer.text("layer");
        writer.text(context.layer);
        writer.text("location");
        writer.header(Header::Map(Some(2)));
        writer.text("fileName");
        writer.header(file);
        writer.text("lineNumber");
        writer.header(Header::Positive(context.location.1));
        writer.text("name");
        writer.header(name);
        if context.parent != 0 {
            writer.text("parentId");
            writer.header(Header::Positive(context.parent));
        }
    }
    writer.header(Header::Break);
    writer.text("stringTable");
    writer.header(Header::Array(Some(strings.len())));
    for string in &strings {
        writer.text(string);
    }
    writer.0
}

struct CborWriter(Vec<u8>);

impl CborWriter {
    fn header(&mut self, header: Header) {
        // A write into memory does not fail.
        drop(Encoder::from(&mut self.0).push(header));
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.header(Header::Simple(simple::NULL)),
            Value::Bool(false) => self.header(Header::Simple(simple::FALSE)),
            Value::Bool(true) => self.header(Header::Simple(simple::TRUE)),
            Value::Number(number) => self.header(match number.as_u64() {
                Some(number) => Header::Positive(number),
                None => Header::Float(number.as_f64().unwrap_or(f64::NAN)),
            }),
            Value::String(text) => self.text(text),
            Value::Array(values) => {
                self.header(Header::Array(Some(values.len())));
                for value in values {
                    self.value(value);
                }
            }
            Value::Object(entries) => {
                self.header(Header::Map(Some(entries.len())));
                for (key, value) in entries {
                    self.text(key);
                    self.value(value);
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        drop(Encoder::from(&mut self.0).text(text, None));
    }
}
