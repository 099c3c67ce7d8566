//! The nodes of a graph in the form that all producers write: objects whose keys stand once, in plain JSON.
//!
//! Graphs are most of a large report, and little of them says anything of memory. Here the rest is passed over, and nodes are
//! filled in place. What is taken is what `serde_json` takes, with the same
//! values; whatever is rarer is refused, and then read by it.

use std::borrow::Cow;

use super::node::{GraphNode, NodeParams, NodeValue};

/// Lists and objects within each other that are gone into.
const MOST_DEPTH: usize = 16;
/// Digits of a number that fits into 64 bits for certain.
const MOST_DIGITS: usize = 18;

/// Hands each node of a list to `each`, which finds a node that is used again for the next one. `None` where something is
/// not of the usual form; the nodes until then are right.
pub fn read<'a>(text: &'a str, mut each: impl FnMut(&mut GraphNode<'a>)) -> Option<()> {
    let mut json = PlainJson { rest: text };
    let (mut node, mut params) = (GraphNode::default(), KeptParams::default());
    json.list([b'[', b']'], |json| {
        json.node(&mut node, &mut params)?;
        each(&mut node);
        Some(())
    })?;
    json.peek().is_none().then_some(())
}

/// Room for what nodes say, which is used again and again.
#[derive(Default)]
struct KeptParams<'a> {
    params: Option<Box<NodeParams<'a>>>,
    /// A bit for each that was set, by the number of its key.
    set: u32,
}

impl<'a> KeptParams<'a> {
    /// Takes back what the node before said.
    fn renew(&mut self) -> Box<NodeParams<'a>> {
        let mut params = self.params.take().unwrap_or_default();
        params.clear(std::mem::take(&mut self.set));
        params
    }
}

/// What is left of a text.
struct PlainJson<'a> {
    rest: &'a str,
}

impl<'a> PlainJson<'a> {
    /// The next byte that is no white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.rest.as_bytes() {
                [b' ' | b'\n' | b'\r' | b'\t', ..] => self.pass(1)?,
                bytes => return bytes.first().copied(),
            }
        }
    }

    #[inline]
    fn pass(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        if self.peek()? == byte { self.pass(1) } else { None }
    }

    /// What stands between two brackets, without the commas.
    #[inline]
    fn list(
        &mut self,
        [open, close]: [u8; 2],
        mut each: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.take(open)?;
        if self.peek()? == close {
            return self.pass(1);
        }
        loop {
            each(self)?;
            let next = self.peek()?;
            self.pass(1)?;
            if next == close {
                return Some(());
            }
            if next != b',' {
                return None;
            }
        }
    }

    /// The keys of an object; `each` takes their values.
    #[inline]
    fn object(&mut self, mut each: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.list([b'{', b'}'], |json| {
            let (key, has_escapes) = json.string()?;
            json.take(b':')?;
            if has_escapes { None } else { each(json, key) }
        })
    }

    /// What stands between two quotes, and whether it has escapes.
    #[inline]
    fn string(&mut self) -> Option<(&'a str, bool)> {
        self.take(b'"')?;
        let start = self.rest;
        let (mut length, mut has_escapes) = (0_usize, false);
        loop {
            let bytes = start.as_bytes().get(length..)?;
            let plain = plain_bytes(bytes);
            length = length.checked_add(plain)?;
            match bytes.get(plain..)? {
                [b'"', ..] => break,
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => {
                    has_escapes = true;
                    length = length.checked_add(2)?;
                }
                _ => return None,
            }
        }
        let (text, rest) = start.split_at_checked(length)?;
        self.rest = rest.get(1..)?;
        Some((text, has_escapes))
    }

    /// A number of digits alone, as nearly all are; else nothing is taken.
    #[inline]
    fn whole_number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        let mut length = 0_usize;
        let bytes = self.rest.as_bytes();
        for byte in bytes.iter().take(MOST_DIGITS) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // 18 digits fit.
            number = number.wrapping_mul(10).wrapping_add(digit.into());
            length = length.wrapping_add(1);
        }
        let is_usual = match bytes.get(length) {
            Some(b'0'..=b'9' | b'.' | b'-' | b'e' | b'E') | None => false,
            Some(_) => length == 1 || bytes.first() != Some(&b'0'),
        };
        (is_usual && length > 0).then(|| self.pass(length))?.map(|()| number)
    }

    /// The text of a number that has no exponent.
    fn number(&mut self) -> Option<&'a str> {
        let bytes = self.rest.as_bytes();
        let is_of_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
        let length = bytes.iter().take_while(|byte| is_of_number(byte)).count();
        let (text, rest) = self.rest.split_at_checked(length)?;
        let digits = text.strip_prefix('-').unwrap_or(text);
        let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_whole = whole == "0" || !(whole.is_empty() || whole.starts_with('0'));
        let is_number = is_whole && are_digits(whole) && !part.is_empty() && are_digits(part);
        let ends = !rest.starts_with(['e', 'E']);
        self.rest = rest;
        (is_number && ends && length <= MOST_DIGITS).then_some(text)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    /// Passes over a value.
    fn pass_value(&mut self, depth: usize) -> Option<()> {
        let below = depth.checked_sub(1)?;
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'[' => self.list([b'[', b']'], |json| json.pass_value(below)),
            b'{' => self.object(|json, _| json.pass_value(below)),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => match self.whole_number() {
                Some(_) => Some(()),
                None => self.number().map(drop),
            },
        }
    }

    /// A value that is kept where it is neither a list nor an object.
    fn value(&mut self) -> Option<NodeValue<'a>> {
        Some(match self.peek()? {
            b'"' => {
                let quoted = self.rest;
                let (text, has_escapes) = self.string()?;
                if has_escapes {
                    let quoted = quoted.get(..quoted.len().checked_sub(self.rest.len())?)?;
                    NodeValue::Text(Cow::Owned(serde_json::from_str(quoted).ok()?))
                } else {
                    NodeValue::Text(Cow::Borrowed(text))
                }
            }
            b't' => self.word("true").map(|()| NodeValue::Flag(true))?,
            b'f' => self.word("false").map(|()| NodeValue::Flag(false))?,
            b'0'..=b'9' | b'-' => match self.whole_number() {
                Some(number) => NodeValue::Number(number),
                None => self.number()?.parse().map_or(NodeValue::Absent, NodeValue::Number),
            },
            _ => self.pass_value(MOST_DEPTH).map(|()| NodeValue::Absent)?,
        })
    }

    fn values(&mut self, values: &mut Vec<NodeValue<'a>>) -> Option<()> {
        self.list([b'[', b']'], |json| {
            values.push(json.value()?);
            Some(())
        })
    }

    /// A value as it stands there.
    fn raw(&mut self) -> Option<&'a str> {
        self.peek()?;
        let from = self.rest;
        self.pass_value(MOST_DEPTH)?;
        from.get(..from.len().checked_sub(self.rest.len())?)
    }

    fn params(&mut self, params: &mut NodeParams<'a>, seen: &mut u32) -> Option<()> {
        self.object(|json, key| match params.field(key) {
            Some((place, value)) => {
                mark_new(seen, place)?;
                *value = json.value()?;
                Some(())
            }
            None => json.pass_value(MOST_DEPTH),
        })
    }

    fn node(&mut self, node: &mut GraphNode<'a>, kept: &mut KeptParams<'a>) -> Option<()> {
        if let Some(params) = node.clear() {
            kept.params = Some(params);
        }
        let mut seen = 0_u32;
        self.object(|json, key| {
            let place = match key {
                "counter" => {
                    node.counter = json.value()?;
                    0
                }
                "node_type" => {
                    node.node_type = json.value()?;
                    1
                }
                "params" => {
                    if json.peek()? == b'n' {
                        json.word("null")?;
                    } else {
                        let params = node.params.insert(kept.renew());
                        json.params(params, &mut kept.set)?;
                    }
                    2
                }
                "connections" => {
                    json.values(&mut node.connections)?;
                    3
                }
                "input_tensors" => {
                    json.values(&mut node.input_tensors)?;
                    4
                }
                "arguments" => {
                    node.arguments = Some(json.raw()?).filter(|text| *text != "null");
                    5
                }
                "duration_ns" => {
                    node.duration_ns = json.value()?;
                    6
                }
                _ => return json.pass_value(MOST_DEPTH),
            };
            mark_new(&mut seen, place)
        })
    }
}

/// Marks a key; `None` where it has been met before.
#[inline]
fn mark_new(seen: &mut u32, place: u32) -> Option<()> {
    let before = *seen;
    *seen |= 1_u32.checked_shl(place)?;
    (*seen != before).then_some(())
}

/// How many bytes of a string come before a quote, a backslash, or what may not stand in one.
#[inline]
fn plain_bytes(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut plain = 0_usize;
    for word in words {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return plain.saturating_add((special.trailing_zeros() / 8) as usize);
        }
        plain = plain.saturating_add(8);
    }
    let is_plain = |byte: &&u8| **byte >= b' ' && !matches!(byte, b'"' | b'\\');
    plain.saturating_add(rest.iter().take_while(is_plain).count())
}

/// The highest bit of each byte that is a quote, a backslash or below a space. Bits above the lowest of them may be
/// set without reason.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let below = |word: u64, least: u64| word.wrapping_sub(ONES.wrapping_mul(least)) & !word;
    let is = |byte: u8| below(word ^ ONES.wrapping_mul(byte.into()), 1);
    (is(b'"') | is(b'\\') | below(word, b' '.into())) & ONES.wrapping_mul(0x80)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// Nodes as texts of what they say.
    fn by_serde(text: &str) -> Option<Vec<String>> {
        let nodes: Vec<GraphNode<'_>> = serde_json::from_str(text).ok()?;
        Some(nodes.iter().map(|node| format!("{node:?}")).collect())
    }

    fn read_here(text: &str) -> Option<Vec<String>> {
        let mut nodes = Vec::new();
        read(text, |node| nodes.push(format!("{node:?}")))?;
        Some(nodes)
    }

    #[test]
    fn special_bytes_are_found_wherever_they_stand() {
        for special in [b'"', b'\\', 0, 1, 0x1f] {
            for at in 0..24 {
                let mut bytes = [b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff].repeat(3);
                bytes[at] = special;
                assert_eq!(plain_bytes(&bytes), at, "{special}");
                bytes.truncate(at);
                assert_eq!(plain_bytes(&bytes), at);
            }
        }
    }

    #[test]
    fn the_usual_form_is_taken() {
        let text = r#" [ {"arguments": ["a \"b\"", [1, {"x": null}]], "connections": [3, "4"], "counter": 0, "input_tensors": [],
            "node_type": "function_start", "duration_ns": -1.5, "stacking_level": 2, "other": true,
            "params": {"name": "f", "core_range_set": "[{\"end\": 1}]", "address": "64", "size": 128, "type": false}},
            {"params": null, "arguments": null}, {} ] "#;
        let found = read_here(text).unwrap();
        assert_eq!(Some(found), by_serde(text));
    }

    #[test]
    fn what_is_rarer_is_refused() {
        for text in [
            "",
            "{}",
            "[",
            "[]]",
            "[{},]",
            "[1]",
            "[[]]",
            "[{\"counter\" 1}]",
            "[{\"counter\": 1, \"counter\": 1}]",
            "[{\"params\": {\"name\": null, \"name\": 1}}]",
            "[{\"params\": 3}]",
            "[{\"params\": []}]",
            "[{\"connections\": null}]",
            "[{\"counter\": 01}]",
            "[{\"counter\": 1e3}]",
            "[{\"counter\": -}]",
            "[{\"counter\": 1.}]",
            "[{\"counter\": nul}]",
            "[{\"\\u0061\": 1}]",
            "[{\"a\": \"\\x\"}]",
            "[{\"a\": \"\n\"}]",
            "[{\"a\": 1} {}]",
            "[{\"counter\": 12345678901234567890}]",
        ] {
            assert_eq!(read_here(text), None, "{text}");
        }
        let deep = format!("[{{\"arguments\": {}", "[".repeat(100_000));
        assert_eq!(read_here(&deep), None);
    }

    /// JSON values, among them what nodes have.
    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[ -~äß\n\\\\\"]{0,20}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key(), inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    fn key() -> impl Strategy<Value = String> {
        let known = [
            "counter",
            "node_type",
            "connections",
            "input_tensors",
            "arguments",
            "duration_ns",
            "name",
            "address",
            "size",
            "type",
            "layout",
            "tensor_id",
            "shape",
            "core_range_set",
            "program_cache_hit",
            "a\"b",
        ];
        prop::sample::select(known.map(str::to_owned).to_vec())
    }

    fn node() -> impl Strategy<Value = Value> {
        let pairs = |inner| prop::collection::vec((key(), inner), 0..8);
        let object = |pairs: Vec<(String, Value)>| Value::Object(pairs.into_iter().collect());
        let numbers = prop::collection::vec(any::<u32>(), 0..4);
        (pairs(value()), pairs(value()), numbers).prop_map(move |(of_node, of_params, numbers)| {
            let mut node = object(of_node);
            node["params"] = object(of_params);
            node["connections"] = numbers.into();
            node["input_tensors"] = Value::Array(Vec::new());
            node
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 20_000 }))]

        /// Nothing is taken that serde_json does not take, and all with the same values, also of a text with one byte changed.
        #[test]
        fn what_is_taken_is_what_serde_json_gives(
            nodes in prop::collection::vec(node(), 0..4), is_pretty: bool, at: prop::sample::Index, other in 0_u8..0x7f,
        ) {
            let nodes = Value::Array(nodes);
            let text = if is_pretty { format!("{nodes:#}") } else { nodes.to_string() };
            if let Some(found) = read_here(&text) {
                prop_assert_eq!(Some(found), by_serde(&text));
            }
            let mut bytes = text.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = other;
            if let Ok(text) = String::from_utf8(bytes)
                && let Some(found) = read_here(&text)
            {
                prop_assert_eq!(Some(found), by_serde(&text));
            }
        }
    }
}
