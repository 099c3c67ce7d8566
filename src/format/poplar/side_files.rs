//! `framework.json` and `app.json`: any JSON, shown as paths and values (formats/poplar.md 1.6).

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use crate::store::options::SideFact;
use crate::store::report::FileStatus;
use crate::store::{WarningCode, Warnings};

/// Larger files are not what they should be.
const MAX_BYTES: u64 = 16 << 20;

/// Reads a side file into paths and values; the status says whether it could be read.
pub fn read_side_file(path: &Path, name: &str, warnings: &Warnings) -> (Vec<SideFact>, FileStatus) {
    let read = || -> Result<Value, String> {
        let bytes = fs::metadata(path).map_err(|error| error.to_string())?.len();
        if bytes > MAX_BYTES {
            return Err(format!("at most {MAX_BYTES} bytes expected, {bytes} found"));
        }
        let mut text = Vec::new();
        let file = File::open(path).map_err(|error| error.to_string())?;
        file.take(MAX_BYTES).read_to_end(&mut text).map_err(|error| error.to_string())?;
        serde_json::from_slice(&text).map_err(|error| error.to_string())
    };
    match read() {
        Ok(value) => {
            let mut facts = Vec::new();
            flatten(&value, String::new(), &mut facts);
            (facts, FileStatus::Ok)
        }
        Err(error) => {
            warnings.add(WarningCode::Inconsistent, name, format!("not shown: {error}"));
            (Vec::new(), FileStatus::Invalid)
        }
    }
}

/// serde_json refuses values nested deeper than 128, so this recursion is bounded.
fn flatten(value: &Value, path: String, facts: &mut Vec<SideFact>) {
    let below =
        |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path} / {key}") };
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                flatten(value, below(key), facts);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (index, value) in items.iter().enumerate() {
                flatten(value, below(&index.to_string()), facts);
            }
        }
        Value::String(text) => facts.push(SideFact { path, value: text.clone() }),
        other => facts.push(SideFact { path, value: other.to_string() }),
    }
}
