//! JSON beside what is read: `framework.json` and `app.json`, which have any values, shown with their paths
//! (formats/poplar.md 1.6), and files that say what is asked for.

use std::io::Read as _;
use std::path::Path;

use serde_json::{Map, Value};

use crate::files;
use crate::limits;
use crate::progress::{Progress, Watched};

use crate::store::options::SideFact;
use crate::store::report::FileStatus;
use crate::store::{WarningCode, Warnings};

/// Larger files are not what they should be.
pub const SIDE_FILE_BYTES: u64 = 16 << 20;

/// Reads a side file into paths and values; the status says whether it could be read.
pub fn read_side_file(
    path: &Path,
    name: &str,
    warnings: &Warnings,
    progress: &Progress,
) -> (Vec<SideFact>, FileStatus) {
    match read_json(path, SIDE_FILE_BYTES, progress) {
        Ok(value) => {
            let mut facts = SideFacts { list: Vec::new(), bytes_left: limits::FACT_BYTES };
            if !flatten(&value, String::new(), &mut facts) {
                let message = format!(
                    "its values are more than {}, or with their paths take more than {} bytes; the first of them are shown",
                    limits::FACTS,
                    limits::FACT_BYTES
                );
                warnings.add(WarningCode::Inconsistent, name, message);
            }
            (facts.list, FileStatus::Ok)
        }
        Err(error) => {
            warnings.add(WarningCode::Inconsistent, name, format!("not shown: {error}"));
            (Vec::new(), FileStatus::Invalid)
        }
    }
}

/// Reads an object of JSON of at most so many bytes; `None` with a warning where it is none, or cannot be read.
pub fn read_object(
    path: &Path,
    name: &str,
    most_bytes: u64,
    warnings: &Warnings,
    progress: &Progress,
) -> Option<Map<String, Value>> {
    let why = match read_json(path, most_bytes, progress) {
        Ok(Value::Object(object)) => return Some(object),
        Ok(_) => "an object expected, another value found".to_owned(),
        Err(error) => error,
    };
    warnings.add(WarningCode::Inconsistent, name, format!("not shown: {why}"));
    None
}

/// Reads a file of JSON of at most so many bytes; an error is what to say of it.
fn read_json(path: &Path, most_bytes: u64, progress: &Progress) -> Result<Value, String> {
    let file = files::open(path).map_err(|error| error.to_string())?;
    let bytes = file.metadata().map_err(|error| error.to_string())?.len();
    if bytes > most_bytes {
        return Err(format!("at most {most_bytes} bytes expected, {bytes} found"));
    }
    let mut text = Vec::new();
    progress.expect(bytes);
    let mut file = Watched { reader: file.take(most_bytes), progress };
    file.read_to_end(&mut text).map_err(|error| error.to_string())?;
    // A value takes far more memory than its bytes; between two of them, or before the first, is one of these.
    let values = text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    if values > limits::JSON_VALUES {
        return Err(format!("at most {} values expected, {values} found", limits::JSON_VALUES));
    }
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}

struct SideFacts {
    list: Vec<SideFact>,
    bytes_left: usize,
}

impl SideFacts {
    /// Returns whether there was room for it.
    fn push(&mut self, path: String, value: String) -> bool {
        // Two texts in a list take some bytes of their own.
        let bytes = path.len().saturating_add(value.len()).saturating_add(size_of::<SideFact>());
        let left = self.bytes_left.checked_sub(bytes);
        let Some(left) = left.filter(|_| self.list.len() < limits::FACTS) else { return false };
        self.bytes_left = left;
        self.list.push(SideFact { path, value });
        true
    }
}

/// Puts the leaves of a value down with the keys of all that they are in; returns whether there was room for all.
/// serde_json refuses values nested deeper than 128, so this recursion is bounded.
fn flatten(value: &Value, path: String, facts: &mut SideFacts) -> bool {
    let below =
        |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path} / {key}") };
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().all(|(key, value)| flatten(value, below(key), facts))
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            let mut items = items.iter().enumerate();
            items.all(|(index, value)| flatten(value, below(&index.to_string()), facts))
        }
        Value::String(text) => facts.push(path, text.clone()),
        other => facts.push(path, other.to_string()),
    }
}
