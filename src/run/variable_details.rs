//! What is known of single variables: worked out for those that somebody asks for.

use serde::Serialize;

use super::section::Cell;
use crate::text::grouped;

/// What lists say of a variable beside its name and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableBrief {
    /// `f32[64,1024]`; empty where it is not known.
    pub shape: String,
    /// Path of the operation that makes it, where its system knows that of variables; of what a loop fills, the one that
    /// makes a layer.
    pub operation: Option<String>,
    /// Bytes of padding in all of it; `None` where it is not known how many.
    pub padding_bytes: Option<u64>,
}

/// What is known of a variable beside its bytes and its life. What a system does not say is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct VariableDetails {
    /// Its type and extents: `f32[64,1024]`.
    #[serde(skip)]
    pub shape: Option<String>,
    /// The type of its elements: `bf16`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element_type: Option<String>,
    /// How its elements lie in memory, as the compiler writes it: `{1,0:T(8,128)(2,1)}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// Bytes of its elements alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unpadded_bytes: Option<u64>,
    /// Bytes that it takes with padding.
    #[serde(skip)]
    pub padded_bytes: Option<u64>,
    /// The instruction that makes it; of what a loop fills layer by layer, the one that makes a layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// What that instruction does: `fusion kLoop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by_kind: Option<String>,
    /// Of what a loop fills layer by layer: the instruction that puts a layer into it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filled_by: Option<String>,
    /// Number of these layers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<u64>,
    /// The value whose memory it takes over, by which the compiler's own texts call that memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_of: Option<String>,
    /// Path of its operation.
    #[serde(skip)]
    pub operation: Option<String>,
    /// The line of code that it comes from: `file:line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What the instruction that holds it works on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<String>,
    /// The instructions that use it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
}

impl VariableDetails {
    /// Names with what they say, of lists the first ones.
    pub fn facts(&self) -> Vec<(&'static str, Cell)> {
        let text = |text: &Option<String>| text.clone().map_or(Cell::Empty, Cell::Text);
        let made_by = self.made_by.as_ref().map(|name| match &self.made_by_kind {
            Some(kind) => format!("{name}, {kind}"),
            None => name.clone(),
        });
        let padding = self.padded_bytes.zip(self.unpadded_bytes);
        let padding = padding.map(|(padded, unpadded)| padded.saturating_sub(unpadded));
        let list = |names: &[String]| {
            if names.is_empty() { Cell::Empty } else { Cell::Text(first_names(names)) }
        };
        let facts = [
            ("Operation", text(&self.operation)),
            ("Line of code", text(&self.source)),
            ("Made by", text(&made_by)),
            ("Filled by", text(&self.filled_by)),
            ("Layers", self.layers.map_or(Cell::Empty, Cell::Count)),
            ("In the memory of", text(&self.memory_of)),
            ("Shape", text(&self.shape)),
            // A shape begins with it.
            ("Element type", text(&self.element_type.clone().filter(|_| self.shape.is_none()))),
            ("Layout", text(&self.layout)),
            ("With padding", Cell::from(self.padded_bytes)),
            ("Without padding", Cell::from(self.unpadded_bytes)),
            ("Padding", Cell::from(padding)),
            ("Operands", list(&self.operands)),
            ("Used by", list(&self.users)),
        ];
        facts.into_iter().filter(|(_, said)| *said != Cell::Empty).collect()
    }
}

/// `add.3, copy.7 and 12 more`.
fn first_names(names: &[String]) -> String {
    const MOST: usize = 4;
    let first = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => first,
        more => format!("{first} and {} more", grouped(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_counted_and_what_is_not_known_is_left_out() {
        let users = (0..6).map(|number| format!("add.{number}")).collect();
        let (padded_bytes, unpadded_bytes) = (Some(4096), Some(96));
        let details =
            VariableDetails { unpadded_bytes, padded_bytes, users, ..VariableDetails::default() };
        let used_by = Cell::Text("add.0, add.1, add.2, add.3 and 2 more".to_owned());
        let expected = [
            ("With padding", Cell::Bytes(4096)),
            ("Without padding", Cell::Bytes(96)),
            ("Padding", Cell::Bytes(4000)),
            ("Used by", used_by),
        ];
        assert_eq!(details.facts(), expected);
        assert!(VariableDetails::default().facts().is_empty());
    }
}
