//! What Python recorded of its calls: `graph_capture.python_io.json`, a list of calls in their order.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::format::json_pieces::{JsonPieces, PieceError, PieceRange};
use crate::limits;
use crate::store::names::{FastMap, Interner, NameId};
use crate::systems::tenstorrent::files::calls::{STACK_BYTES, VALUE_BYTES};

/// Bytes of a part of a call: of its arguments, its tensors or its stack trace.
const PART_BYTES: u64 = 4 << 20;

/// A call as Python saw it.
#[derive(Debug)]
pub struct PythonCall {
    pub name: NameId,
    pub inputs: Vec<u64>,
    pub outputs: Vec<u64>,
    /// The innermost frame first.
    pub stack: Option<NameId>,
    /// Names with values.
    pub arguments: Vec<(NameId, NameId)>,
    /// Where its own graph lies, if it has one.
    pub graph: Option<PieceRange>,
    /// Type and message of the exception that ended it.
    pub error: Option<(String, String)>,
}

/// All calls.
#[derive(Debug, Default)]
pub struct PythonCalls {
    pub calls: Vec<PythonCall>,
    /// The places of the calls of each name, in their order.
    of_names: FastMap<NameId, Vec<usize>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PythonError {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

impl PythonCalls {
    /// Reads the list at a position of a file.
    pub fn read(
        pieces: &mut JsonPieces<'_>,
        names: &mut Interner,
    ) -> (Self, Result<(), PieceError>) {
        let mut found = Self::default();
        let read = pieces.list(|pieces| {
            let mut call = PythonCall::UNKNOWN;
            pieces.object(|key, pieces| call.take(key, pieces, names))?;
            found.calls.push(call);
            Ok(())
        });
        for (place, call) in found.calls.iter().enumerate() {
            found.of_names.entry(call.name).or_default().push(place);
        }
        (found, read)
    }

    /// The call of a name with so many of that name before it.
    pub fn find(&self, name: NameId, before: usize) -> Option<&PythonCall> {
        self.calls.get(*self.of_names.get(&name)?.get(before)?)
    }
}

impl PythonCall {
    /// One of which nothing is known yet.
    const UNKNOWN: Self = Self {
        name: NameId::NONE,
        inputs: Vec::new(),
        outputs: Vec::new(),
        stack: None,
        arguments: Vec::new(),
        graph: None,
        error: None,
    };

    /// Takes a key with its value in. A value that is none of its kind says nothing.
    fn take(
        &mut self,
        key: &str,
        pieces: &mut JsonPieces<'_>,
        names: &mut Interner,
    ) -> Result<(), PieceError> {
        let range = pieces.skip()?;
        if key == "captured_graph" {
            // One without nodes says nothing.
            self.graph = Some(range).filter(|range| range.end.saturating_sub(range.start) > 4);
            return Ok(());
        }
        let is_wanted = ["name", "arguments", "input_tensor_ids", "output_tensor_ids"];
        if !is_wanted.contains(&key) && !["python_stack_trace", "error"].contains(&key) {
            return Ok(());
        }
        let text = pieces.bytes_up_to(&range, PART_BYTES)?;
        match key {
            "name" => {
                let name: String = serde_json::from_slice(&text).unwrap_or_default();
                self.name = names.intern(&limits::cut(&name, limits::NAME_BYTES));
            }
            "input_tensor_ids" => self.inputs = ids(&text),
            "output_tensor_ids" => self.outputs = ids(&text),
            "arguments" => {
                let all: Map<String, Value> = serde_json::from_slice(&text).unwrap_or_default();
                let pair = |(name, value): (&String, &Value)| {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let value = names.intern(&limits::cut(&value, VALUE_BYTES));
                    (names.intern(&limits::cut(name, limits::WORD_BYTES)), value)
                };
                self.arguments = all.iter().map(pair).collect();
            }
            "python_stack_trace" => {
                let lines: Vec<String> = serde_json::from_slice(&text).unwrap_or_default();
                let stack = lines.join("\n");
                self.stack =
                    (!stack.is_empty()).then(|| names.intern(&limits::cut(&stack, STACK_BYTES)));
            }
            _ => {
                let error: Option<PythonError> = serde_json::from_slice(&text).unwrap_or_default();
                self.error = error.map(|error| (error.kind, error.message));
            }
        }
        Ok(())
    }
}

/// Ids of tensors, as numbers or as texts of them.
fn ids(text: &[u8]) -> Vec<u64> {
    let values: Vec<Value> = serde_json::from_slice(text).unwrap_or_default();
    let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    values.iter().filter_map(number).collect()
}
