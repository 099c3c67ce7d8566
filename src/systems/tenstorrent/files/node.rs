//! A node of a captured graph, as far as it says something of memory. Values may be numbers, or numbers as texts; what is of
//! another kind counts as absent.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::limits;

/// Functions within each other that the end of one is looked for among.
const MOST_OPEN: usize = 64;

/// A node.
#[derive(Debug, Default, Deserialize)]
pub struct GraphNode<'a, P = NodeParams<'a>> {
    /// Its number within the graph.
    #[serde(borrow, default)]
    pub counter: NodeValue<'a>,
    /// What it is.
    #[serde(borrow, default)]
    pub node_type: NodeValue<'a>,
    /// What it says.
    #[serde(default)]
    pub params: Option<Box<P>>,
    /// Nodes that it is connected with: of the end of a function its results.
    #[serde(borrow, default)]
    pub connections: Vec<NodeValue<'a>>,
    /// Nodes of the tensors that a function takes.
    #[serde(borrow, default)]
    pub input_tensors: Vec<NodeValue<'a>>,
    /// What a function was called with, as it stands there.
    #[serde(borrow, default, deserialize_with = "as_it_stands")]
    pub arguments: Option<&'a str>,
    /// Host time of a function that ended.
    #[serde(borrow, default)]
    pub duration_ns: NodeValue<'a>,
}

impl<P> GraphNode<'_, P> {
    /// Takes back what it says, and keeps the room of its lists. Returns what it said last.
    pub fn clear(&mut self) -> Option<Box<P>> {
        self.counter = NodeValue::Absent;
        self.node_type = NodeValue::Absent;
        self.connections.clear();
        self.input_tensors.clear();
        self.arguments = None;
        self.duration_ns = NodeValue::Absent;
        self.params.take()
    }
}

fn as_it_stands<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a str>, D::Error> {
    Ok(Option::<&RawValue>::deserialize(deserializer)?.map(RawValue::get))
}

/// What nodes say; each has some of these.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeParams<'a> {
    #[serde(borrow)]
    pub name: NodeValue<'a>,
    #[serde(borrow)]
    pub address: NodeValue<'a>,
    #[serde(borrow)]
    pub size: NodeValue<'a>,
    #[serde(borrow)]
    pub max_size_per_bank: NodeValue<'a>,
    #[serde(borrow)]
    pub page_size: NodeValue<'a>,
    #[serde(borrow)]
    pub num_cores: NodeValue<'a>,
    #[serde(borrow)]
    pub buffer_type: NodeValue<'a>,
    /// The space as a word, where `buffer_type` is absent.
    #[serde(borrow, rename = "type")]
    pub space: NodeValue<'a>,
    #[serde(borrow)]
    pub layout: NodeValue<'a>,
    #[serde(borrow)]
    pub device_id: NodeValue<'a>,
    #[serde(borrow)]
    pub tensor_id: NodeValue<'a>,
    #[serde(borrow)]
    pub shape: NodeValue<'a>,
    #[serde(borrow)]
    pub core_range_set: NodeValue<'a>,
    #[serde(borrow)]
    pub globally_allocated: NodeValue<'a>,
    #[serde(borrow)]
    pub borrows_memory: NodeValue<'a>,
    #[serde(borrow)]
    pub program_cache_hit: NodeValue<'a>,
    #[serde(borrow)]
    pub program_factory_type: NodeValue<'a>,
    #[serde(borrow)]
    pub program_factory_index: NodeValue<'a>,
}

impl<'a> NodeParams<'a> {
    /// What stands for a key, with its number among all of them.
    #[inline]
    pub fn field(&mut self, key: &str) -> Option<(u32, &mut NodeValue<'a>)> {
        let number = match key {
            "name" => 0,
            "address" => 1,
            "size" => 2,
            "max_size_per_bank" => 3,
            "page_size" => 4,
            "num_cores" => 5,
            "buffer_type" => 6,
            "type" => 7,
            "layout" => 8,
            "device_id" => 9,
            "tensor_id" => 10,
            "shape" => 11,
            "core_range_set" => 12,
            "globally_allocated" => 13,
            "borrows_memory" => 14,
            "program_cache_hit" => 15,
            "program_factory_type" => 16,
            "program_factory_index" => 17,
            _ => return None,
        };
        Some((number, self.numbered(number)?))
    }

    /// The value with a number.
    #[inline]
    fn numbered(&mut self, number: u32) -> Option<&mut NodeValue<'a>> {
        Some(match number {
            0 => &mut self.name,
            1 => &mut self.address,
            2 => &mut self.size,
            3 => &mut self.max_size_per_bank,
            4 => &mut self.page_size,
            5 => &mut self.num_cores,
            6 => &mut self.buffer_type,
            7 => &mut self.space,
            8 => &mut self.layout,
            9 => &mut self.device_id,
            10 => &mut self.tensor_id,
            11 => &mut self.shape,
            12 => &mut self.core_range_set,
            13 => &mut self.globally_allocated,
            14 => &mut self.borrows_memory,
            15 => &mut self.program_cache_hit,
            16 => &mut self.program_factory_type,
            17 => &mut self.program_factory_index,
            _ => return None,
        })
    }

    /// Makes those values absent whose numbers are those of the bits that are set.
    pub fn clear(&mut self, mut set: u32) {
        while let Some(value) = self.numbered(set.trailing_zeros()) {
            *value = NodeValue::Absent;
            set &= set.wrapping_sub(1);
        }
    }
}

/// A value that is no list and no object.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum NodeValue<'a> {
    /// Absent, null, or of another kind.
    #[default]
    Absent,
    Number(u64),
    Text(Cow<'a, str>),
    Flag(bool),
}

impl NodeValue<'_> {
    /// The number, also of a text.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Absent | Self::Flag(_) => None,
        }
    }

    /// An address or a size that any machine can have.
    pub fn size(&self) -> Option<u64> {
        self.number().filter(|number| *number <= limits::ADDRESS)
    }

    /// The text; empty where it is none.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    /// Whether it is so, also as `1` or `true` in a text; `None` where it says neither.
    pub fn flag(&self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(*flag),
            Self::Number(number) => Some(*number != 0),
            Self::Text(text) => match &**text {
                "1" | "true" | "True" => Some(true),
                "0" | "false" | "False" => Some(false),
                _ => None,
            },
            Self::Absent => None,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for NodeValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeValueVisitor)
    }
}

struct NodeValueVisitor;

impl<'de> Visitor<'de> for NodeValueVisitor {
    type Value = NodeValue<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(NodeValue::Flag(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(NodeValue::Number(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(u64::try_from(number).map_or(NodeValue::Absent, NodeValue::Number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(NodeValue::Absent)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(NodeValue::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(NodeValue::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(NodeValue::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(NodeValue::Absent)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(NodeValue::Absent)
    }
}

/// The index of the innermost open function that matches. A failed function has no end node, so it need not be the last.
pub fn innermost<T>(open: &[T], is_it: impl Fn(&T) -> bool) -> Option<usize> {
    let from = open.len().saturating_sub(MOST_OPEN);
    let found = open.get(from..).unwrap_or_default().iter().rposition(is_it);
    found.map(|found| from.saturating_add(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_or_texts_of_them() {
        let text = r#"{"counter": 3, "node_type": "buffer_allocate", "other": {"deep": [1, {}]}, "params":
            {"address": "64", "size": 128, "layout": ["A"], "globally_allocated": "1", "device_id": -1}}"#;
        let node: GraphNode<'_> = serde_json::from_str(text).unwrap();
        let params = node.params.unwrap_or_default();
        assert_eq!(node.counter.number(), Some(3));
        assert_eq!((params.address.number(), params.size.number()), (Some(64), Some(128)));
        assert_eq!((params.layout.text(), params.device_id.number()), ("", None));
        assert_eq!(
            (params.globally_allocated.flag(), params.borrows_memory.flag()),
            (Some(true), None)
        );
        let node: GraphNode<'_> = serde_json::from_str(r#"{"params": null}"#).unwrap();
        assert!(node.params.is_none() && node.arguments.is_none());
    }
}
