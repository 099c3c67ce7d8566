//! Arguments of calls: the single arguments, options and attributes of a context as one text, which equal calls share.
//! Tensors (maps with a shape) and lists, which Poplar writes as maps from "0" on, are no single values.

use std::fmt::Write as _;

use super::cbor::{Item, Stop};
use super::{CborKey, ContextOptions, IN_PLACE, Reader, deeper};
use crate::limits;
use crate::store::debug_info::{BEFORE_VALUE, BETWEEN_ARGUMENTS};
use crate::store::names::{Interner, NameId};

/// Bytes of a text that is no longer than is kept of it.
const SHORT: u64 = limits::WORD_BYTES as u64;

/// The lists of all contexts, and that of the context that is being read.
#[derive(Default)]
pub struct FoundArguments {
    lists: Interner,
    now: String,
    /// Whether the context has more than are kept.
    is_cut: bool,
    /// Bytes that all lists take.
    bytes: usize,
    /// Contexts of which some or all were left out.
    pub left_out: u64,
}

impl FoundArguments {
    /// Begins an entry of the list.
    fn begin(&mut self, name: &str) {
        if !self.now.is_empty() {
            self.now.push(BETWEEN_ARGUMENTS);
        }
        self.now.push_str(name);
    }

    /// Begins a context.
    pub fn clear(&mut self) {
        self.now.clear();
        self.is_cut = false;
    }

    /// Ends it: the row of its list.
    pub fn take(&mut self) -> Option<NameId> {
        let mut list = None;
        if !self.now.is_empty() {
            list = Some(self.lists.find(&self.now)).filter(|list| *list != NameId::NONE);
            let bytes =
                self.bytes.saturating_add(self.now.len()).saturating_add(limits::BESIDE_ARGUMENTS);
            if list.is_none() && bytes <= limits::ALL_ARGUMENT_BYTES {
                self.bytes = bytes;
                list = Some(self.lists.intern(&self.now));
            }
            self.is_cut |= list.is_none();
        }
        self.left_out = self.left_out.saturating_add(u64::from(self.is_cut));
        list
    }

    pub fn into_lists(self) -> Interner {
        self.lists
    }
}

impl Reader<'_> {
    /// Goes through what a call was given.
    pub(super) fn read_arguments(&mut self, options: &mut ContextOptions) -> Result<(), Stop> {
        match self.cbor.item()? {
            Item::Map(pairs) => self.each_argument(pairs, options, deeper(0)?),
            other => self.scan_item(CborKey::Other, other, options, 0),
        }
    }

    fn each_argument(
        &mut self,
        pairs: Option<u64>,
        options: &mut ContextOptions,
        depth: u32,
    ) -> Result<(), Stop> {
        let before = self.arguments.now.len();
        let mut is_tensor = false;
        self.each(pairs, |reader| {
            let start = reader.arguments.now.len();
            let key = reader.argument_name(is_tensor)?;
            is_tensor |= key == CborKey::Shape;
            let is_kept = match reader.cbor.item()? {
                // What is in a list or of a tensor is not even written down: most of a file is that.
                item if is_tensor => {
                    reader.scan_item(key, item, options, depth)?;
                    false
                }
                Item::Map(pairs) if key != CborKey::Proportion => {
                    reader.arguments.now.truncate(start);
                    return reader.each_argument(pairs, options, deeper(depth)?);
                }
                item if key == CborKey::Number || !is_single(item) => {
                    reader.scan_item(key, item, options, depth)?;
                    false
                }
                item => {
                    reader.single_value((key, item), options)?;
                    true
                }
            };
            let is_long = reader.arguments.now.len() > limits::ARGUMENT_BYTES;
            reader.arguments.is_cut |= is_long && is_kept;
            if is_long || !is_kept {
                reader.arguments.now.truncate(start);
            }
            Ok(())
        })?;
        if is_tensor {
            self.arguments.now.truncate(before);
        }
        Ok(())
    }

    /// Reads a name, which begins an entry of the list unless it is a place in one or of a tensor.
    fn argument_name(&mut self, is_of_tensor: bool) -> Result<CborKey, Stop> {
        let Item::Text(length) = self.cbor.item()? else {
            return Err(Stop::Fault("a key (a text) expected".to_owned()));
        };
        if let Some(length @ ..=IN_PLACE) = length {
            let bytes = self.cbor.next(length as usize)?;
            let key = CborKey::of_argument(bytes);
            if key != CborKey::Number && !is_of_tensor {
                self.arguments.begin(&String::from_utf8_lossy(bytes));
            }
            return Ok(key);
        }
        let name = self.text(length)?;
        let key = CborKey::of_argument(name.as_bytes());
        if key != CborKey::Number && !is_of_tensor {
            self.arguments.begin(&name);
        }
        Ok(key)
    }

    /// Reads a value, which ends an entry of the list.
    fn single_value(
        &mut self,
        (key, item): (CborKey, Item),
        options: &mut ContextOptions,
    ) -> Result<(), Stop> {
        let list = &mut self.arguments.now;
        list.push(BEFORE_VALUE);
        let start = list.len();
        // What is written to a text cannot fail.
        let _ = match item {
            Item::Text(Some(length @ ..=SHORT)) => {
                list.push_str(&String::from_utf8_lossy(self.cbor.next(length as usize)?));
                Ok(())
            }
            Item::Text(length) => {
                let text = self.text(length)?;
                self.arguments.now.push_str(&limits::cut(&text, limits::WORD_BYTES));
                Ok(())
            }
            Item::Unsigned(number) => write!(list, "{number}"),
            Item::Negative(number) => {
                write!(list, "{}", (-1_i128).saturating_sub(number.into()))
            }
            Item::Float(number) => write!(list, "{number}"),
            Item::Simple(20) => write!(list, "false"),
            Item::Simple(21) => write!(list, "true"),
            _ => write!(list, "null"),
        };
        if matches!(key, CborKey::Proportion | CborKey::PartialsType) {
            let text = self.arguments.now.get(start..).unwrap_or_default().to_owned();
            self.keep_option(key, item, &text, options);
        }
        Ok(())
    }
}

fn is_single(item: Item) -> bool {
    !matches!(item, Item::Map(_) | Item::Array(_) | Item::Bytes(_) | Item::Tag(_) | Item::Break)
}

impl CborKey {
    /// The key of an argument: also whether it is that of a tensor, or a place in a list.
    fn of_argument(bytes: &[u8]) -> Self {
        match bytes {
            b"shape" => Self::Shape,
            [b'0'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit) => Self::Number,
            _ => Self::of(bytes),
        }
    }
}
