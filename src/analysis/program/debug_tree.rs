//! A debug context with all that it and those above it say, as a tree to read: one node for each context on the way,
//! the outermost (the framework's) first, with its place in the source, arguments, options, shapes and types below it.
//!
//! Short values share a line: `float [2, 3]` for a shape and a type, `[1, 2]` for a list.

use crate::limits;
use crate::progress::Progress;
use crate::store::Report;
use crate::store::context_details::{ContextDetails, DetailValue, get};
use crate::store::debug_info::{DebugInfo, TextRef};
use crate::store::placed::ReadError;

/// Characters of a list that is said in one line.
const ONE_LINE: usize = 120;

/// Nodes below each other.
const DEPTH: usize = 16;

/// Keys that stand in a context's own line, or that nothing is gained from.
const OWN: [&str; 4] = ["layer", "location", "parentId", "name"];

/// Keys by which layers name the kind of a thing, the first that a context has.
const KINDS: [&str; 8] =
    ["api", "opType", "opid", "op_type", "opcode", "class", "category", "type"];

/// A line of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct DebugNode {
    /// What is said: a layer, a key of the file.
    pub key: String,
    /// What it is; empty where the nodes below say it.
    pub value: String,
    /// What belongs to it.
    pub children: Vec<DebugNode>,
}

impl DebugNode {
    fn leaf(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.into(), children: Vec::new() }
    }

    /// The node below with this key.
    pub fn child(&self, key: &str) -> Option<&Self> {
        self.children.iter().find(|node| node.key == key)
    }
}

/// What contexts say.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct DebugTree {
    /// A node for each context, the outermost first.
    pub contexts: Vec<DebugNode>,
    /// Whether the file says more than is shown.
    pub is_cut: bool,
}

/// The tree of a context, by its row; `None` where the report cannot say more than its columns do. It is read from
/// the file, so it is nothing for a thread that draws.
///
/// # Errors
/// When the file cannot be read any more, or has changed since.
pub fn debug_tree(
    report: &Report,
    context: usize,
    progress: &Progress,
) -> Result<Option<DebugTree>, ReadError> {
    let Some(debug) = report.debug.get() else { return Ok(None) };
    let read = |row| report.read_context(row, progress);
    tree_of(debug, debug.ancestry(context), read)
}

/// The tree of contexts, the innermost first; none is read that there is no room for.
///
/// # Errors
/// Those of `read`.
fn tree_of(
    debug: &DebugInfo,
    contexts: impl Iterator<Item = usize>,
    read: impl Fn(usize) -> Result<Option<ContextDetails>, ReadError>,
) -> Result<Option<DebugTree>, ReadError> {
    let (left, bytes_left) = (limits::CONTEXT_VALUES, limits::CONTEXT_BYTES);
    let mut writer = DebugTreeWriter { debug, left, bytes_left, is_cut: false };
    let mut nodes = Vec::new();
    // What is nearest is the last to be left out.
    for row in contexts {
        if !writer.takes() {
            break;
        }
        let Some(details) = read(row)? else { return Ok(None) };
        nodes.push(writer.context(row, &details));
    }
    nodes.reverse();
    Ok(Some(DebugTree { contexts: nodes, is_cut: writer.is_cut }))
}

struct DebugTreeWriter<'a> {
    debug: &'a DebugInfo,
    /// Nodes, and bytes of their texts, that there is room for.
    left: usize,
    bytes_left: usize,
    is_cut: bool,
}

impl DebugTreeWriter<'_> {
    fn context(&mut self, row: usize, details: &ContextDetails) -> DebugNode {
        self.is_cut |= details.is_cut;
        let kind = KINDS.into_iter().find_map(|key| Some((key, text(details.get(key)?)?)));
        let name = self.debug.name(row).map(str::to_owned);
        let value: Vec<String> = kind.iter().map(|(_, kind)| kind.clone()).chain(name).collect();
        let mut children = Vec::new();
        if let Some(location) = self.debug.location(row) {
            children.push(DebugNode::leaf("source", location));
        }
        if let Some(DetailValue::Map(location)) = details.get("location") {
            children.extend(self.function(location).map(|name| DebugNode::leaf("function", name)));
            // Where the layer names the user's line, its own is another.
            if self.debug.has_source(row) {
                let of = self.own_location(row, location);
                children.extend(of.map(|place| DebugNode::leaf("location", place)));
            }
        }
        let shown = kind.map(|(key, _)| key);
        for (key, value) in &details.entries {
            if !OWN.contains(&&**key) && Some(&**key) != shown {
                children.extend(self.node(key, value, DEPTH));
            }
        }
        let value = value.join(" · ");
        self.bytes_left = self.bytes_left.saturating_sub(value.len());
        let key = self.debug.known_layers.title(self.debug.layer(row)).to_owned();
        DebugNode { key, value, children }
    }

    fn function(&self, location: &[(String, DetailValue)]) -> Option<String> {
        self.referred(get(location, "functionName")?)
    }

    fn own_location(&self, row: usize, location: &[(String, DetailValue)]) -> Option<String> {
        let file = self.referred(get(location, "fileName")?)?;
        Some(format!("{file}:{}", self.debug.lines.get(row)?))
    }

    /// A text that is named by its row in the string table.
    fn referred(&self, value: &DetailValue) -> Option<String> {
        let DetailValue::Integer(row) = value else { return None };
        let text = self.debug.text(TextRef(u32::try_from(*row).ok()?))?;
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn node(&mut self, key: &str, value: &DetailValue, depth: usize) -> Option<DebugNode> {
        if depth == 0 || !self.takes() {
            self.is_cut = true;
            return None;
        }
        self.bytes_left = self.bytes_left.saturating_sub(key.len());
        let below =
            |writer: &mut Self, entries: &mut dyn Iterator<Item = (String, &DetailValue)>| {
                entries
                    .map_while(|(key, value)| writer.node(&key, value, depth.saturating_sub(1)))
                    .collect()
            };
        let children: Vec<DebugNode> = match (one_line(value), value) {
            (Some(line), _) => {
                self.bytes_left = self.bytes_left.saturating_sub(line.len());
                return Some(DebugNode::leaf(in_words(key), line));
            }
            (None, DetailValue::List(values)) => {
                let entries = values.iter().enumerate();
                below(self, &mut entries.map(|(at, value)| (at.to_string(), value)))
            }
            (None, DetailValue::Map(entries)) => {
                below(self, &mut entries.iter().map(|(key, value)| (key.clone(), value)))
            }
            (None, _) => Vec::new(),
        };
        Some(DebugNode { key: in_words(key).to_owned(), value: String::new(), children })
    }

    fn takes(&mut self) -> bool {
        let left = self.left.checked_sub(1).filter(|_| self.bytes_left > 0);
        self.left = left.unwrap_or(0);
        self.is_cut |= left.is_none();
        left.is_some()
    }
}

fn in_words(key: &str) -> &str {
    match key {
        "args" => "arguments",
        other => other,
    }
}

/// A value that is a single one.
fn text(value: &DetailValue) -> Option<String> {
    Some(match value {
        DetailValue::Text(text) => text.clone(),
        DetailValue::Integer(number) => number.to_string(),
        DetailValue::Number(number) => decimal(*number),
        DetailValue::Flag(flag) => if *flag { "true" } else { "false" }.to_owned(),
        DetailValue::Null => "null".to_owned(),
        DetailValue::List(_) | DetailValue::Map(_) => return None,
    })
}

/// A number; one that is of single precision, as those of files are, with the digits that such a one has.
fn decimal(number: f64) -> String {
    #[allow(clippy::cast_possible_truncation, reason = "compared with what it was")]
    let single = number as f32;
    let is_single = f64::from(single).to_bits() == number.to_bits();
    if is_single { single.to_string() } else { number.to_string() }
}

/// What can be said in one line: single values, short lists of them, a type with its shape.
fn one_line(value: &DetailValue) -> Option<String> {
    let list = |values: &mut dyn Iterator<Item = &DetailValue>| {
        let texts: Option<Vec<String>> = values.map(text).collect();
        let line = format!("[{}]", texts?.join(", "));
        (line.len() <= ONE_LINE).then_some(line)
    };
    match value {
        DetailValue::List(values) => list(&mut values.iter()),
        DetailValue::Map(entries) if entries.is_empty() => Some("none".to_owned()),
        DetailValue::Map(entries) => {
            let shape = |key| one_line(get(entries, key)?);
            if entries.len() == 2
                && let (Some(shape), Some(of_type)) = (shape("shape"), shape("type"))
            {
                return Some(format!("{of_type} {shape}"));
            }
            // Poplar writes lists as maps from "0" on.
            let is_list = entries.iter().enumerate().all(|(at, (key, _))| *key == at.to_string());
            is_list.then(|| list(&mut entries.iter().map(|(_, value)| value))).flatten()
        }
        single => text(single),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::contexts_of_layers;

    fn text(text: &str) -> DetailValue {
        DetailValue::Text(text.to_owned())
    }

    fn map<const N: usize>(entries: [(&str, DetailValue); N]) -> DetailValue {
        DetailValue::Map(entries.map(|(key, value)| (key.to_owned(), value)).into())
    }

    fn details<const N: usize>(entries: [(&str, DetailValue); N]) -> ContextDetails {
        let entries = entries.map(|(key, value)| (key.to_owned(), value)).into();
        ContextDetails { entries, is_cut: false }
    }

    /// The tree of contexts by their rows, the innermost first.
    fn tree(debug: &DebugInfo, contexts: &[(usize, ContextDetails)]) -> DebugTree {
        let read = |row| {
            let found = contexts.iter().find(|(other, _)| *other == row);
            Ok(found.map(|(_, details)| details.clone()))
        };
        let rows = contexts.iter().map(|(row, _)| *row);
        tree_of(debug, rows, read).expect("read").expect("contexts")
    }

    #[test]
    fn a_call_has_its_arguments_and_options() {
        let debug = contexts_of_layers([("onnx", "Conv", "conv1"), ("poplibs", "convolution", "")]);
        let shape = map([("shape", text("[2, 3]")), ("type", text("half"))]);
        let options = map([("availableMemoryProportion", DetailValue::Number(f64::from(0.6_f32)))]);
        let args = map([
            ("in", shape),
            ("dims", map([("0", DetailValue::Integer(1)), ("1", DetailValue::Integer(-2))])),
            ("none", map([])),
            ("options", options),
        ]);
        let call = details([
            ("api", text("convolution")),
            ("args", args),
            ("id", DetailValue::Integer(2)),
            ("layer", text("poplibs")),
        ]);
        let tree = tree(&debug, &[(1, call), (0, details([("opType", text("Conv"))]))]);
        assert!(!tree.is_cut);
        let [outer, inner] = &*tree.contexts else { panic!("{tree:?}") };
        assert_eq!((&*outer.key, &*outer.value), ("ONNX", "Conv · conv1"));
        assert_eq!((&*inner.key, &*inner.value), ("PopLibs", "convolution"));
        assert_eq!(inner.child("id"), Some(&DebugNode::leaf("id", "2")));
        let arguments = inner.child("arguments").unwrap();
        let value = |key: &str| &*arguments.child(key).unwrap().value;
        assert_eq!(value("in"), "half [2, 3]");
        assert_eq!(value("dims"), "[1, -2]");
        assert_eq!(value("none"), "none");
        let proportion = arguments.child("options").unwrap().children.first().unwrap();
        assert_eq!(*proportion, DebugNode::leaf("availableMemoryProportion", "0.6"));
    }

    fn nodes(list: &[DebugNode]) -> usize {
        list.iter().map(|node| 1 + nodes(&node.children)).sum()
    }

    #[test]
    fn a_tree_has_bounds() {
        let debug = contexts_of_layers([("poplibs", "", ""), ("poplibs", "", "")]);
        let deep = (0..40).fold(DetailValue::Flag(true), |inner, _| map([("in", inner)]));
        let deep = tree(&debug, &[(1, details([("args", deep)]))]);
        assert!(deep.is_cut);
        let mut depth = 0;
        let mut node = deep.contexts.first();
        while let Some(below) = node {
            (depth, node) = (depth + 1, below.children.first());
        }
        assert_eq!(depth, DEPTH + 1);

        let many = DetailValue::List(vec![map([("a", text("long"))]); 3000]);
        let wide = |row| (row, details([("args", many.clone())]));
        let wide = tree(&debug, &[wide(1), wide(0)]);
        assert!(wide.is_cut && nodes(&wide.contexts) <= limits::CONTEXT_VALUES);
    }

    #[test]
    fn no_context_is_read_that_there_is_no_room_for() {
        let debug = contexts_of_layers((0..9).map(|_| ("poplibs", "", "")));
        let read = std::cell::Cell::new(0);
        let long = |_| {
            read.set(read.get() + 1);
            let texts = vec![text(&"x".repeat(limits::CONTEXT_BYTES / 4))];
            Ok(Some(details([("args", map([("in", DetailValue::List(texts))]))])))
        };
        let tree = tree_of(&debug, (0..9).rev(), long).expect("read").expect("contexts");
        assert!(tree.is_cut);
        assert_eq!((tree.contexts.len(), read.get()), (4, 4));
    }
}
