//! Dicts that are segments, blocks and annotations, as they stand in the file: what is absent or of another type is not
//! there.

use super::intern::Texts;
use super::values::Pickled;
use super::word::Word;

/// A dict that is a segment (formats/pytorch.md 3.1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SegmentRow {
    pub(super) device: i64,
    pub(super) address: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) allocated: Option<u64>,
    pub(super) active: Option<u64>,
    pub(super) requested: Option<u64>,
    pub(super) stream: u64,
    pub(super) is_small: bool,
    pub(super) is_expandable: bool,
    /// A tuple.
    pub(super) pool: Option<u32>,
    pub(super) blocks: Option<u32>,
    pub(super) frames: Option<u32>,
}

/// A dict that is a block (3.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockRow {
    pub(super) address: Option<u64>,
    pub(super) size: Option<u64>,
    pub(super) requested: Option<u64>,
    /// [`Word::Other`] where the file has none that is known.
    pub(super) state: Option<Word>,
    pub(super) frames: Option<u32>,
    /// What a block had before 2.1 in place of the last two.
    pub(super) history: Option<u32>,
}

/// A dict that begins or ends a part of the run (3.5).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarkRow {
    pub(super) stage: Option<Word>,
    pub(super) name: Option<u32>,
    pub(super) device: i64,
    pub(super) time: Option<i64>,
}

/// The pairs whose key is a word that is known.
#[inline]
pub(super) fn words(pairs: &[Pickled], texts: &Texts) -> impl Iterator<Item = (Word, Pickled)> {
    pairs.chunks_exact(2).filter_map(|pair| match pair {
        [Pickled::Text(key), value] => Some((texts.word(*key), *value)),
        _ => None,
    })
}

fn number(value: Pickled) -> Option<u64> {
    match value {
        Pickled::Unsigned(number) => Some(number),
        _ => None,
    }
}

fn signed(value: Pickled) -> Option<i64> {
    match value {
        Pickled::Unsigned(number) => i64::try_from(number).ok(),
        Pickled::Negative(number) => Some(number),
        _ => None,
    }
}

fn object(value: Pickled) -> Option<u32> {
    match value {
        Pickled::Object(object) => Some(object),
        _ => None,
    }
}

pub(super) fn fill_segment(segment: &mut SegmentRow, pairs: &[Pickled], texts: &Texts) {
    for (word, value) in words(pairs, texts) {
        match word {
            Word::Device => segment.device = signed(value).unwrap_or(0),
            Word::Address => segment.address = number(value),
            Word::TotalSize => segment.total = number(value),
            Word::AllocatedSize => segment.allocated = number(value),
            Word::ActiveSize => segment.active = number(value),
            Word::RequestedSize => segment.requested = number(value),
            Word::Stream => segment.stream = signed(value).map_or(0, i64::cast_unsigned),
            Word::SegmentType => {
                let is_small = |text| texts.word(text) == Word::Small;
                segment.is_small = matches!(value, Pickled::Text(text) if is_small(text));
            }
            Word::SegmentPoolId => {
                segment.pool = match value {
                    Pickled::Tuple(tuple) => Some(tuple),
                    _ => None,
                }
            }
            Word::IsExpandable => segment.is_expandable = value == Pickled::Bool(true),
            Word::Blocks => segment.blocks = object(value),
            Word::Frames => segment.frames = object(value),
            _ => {}
        }
    }
}

pub(super) fn fill_block(block: &mut BlockRow, pairs: &[Pickled], texts: &Texts) {
    for (word, value) in words(pairs, texts) {
        match word {
            Word::Address => block.address = number(value),
            Word::Size => block.size = number(value),
            Word::RequestedSize => block.requested = number(value),
            Word::State => {
                block.state = match value {
                    Pickled::Text(text) => Some(texts.word(text)),
                    _ => None,
                }
            }
            Word::Frames => block.frames = object(value),
            Word::History => block.history = object(value),
            _ => {}
        }
    }
}

pub(super) fn fill_mark(mark: &mut MarkRow, pairs: &[Pickled], texts: &Texts) {
    for (word, value) in words(pairs, texts) {
        match (word, value) {
            (Word::Stage, Pickled::Text(text)) => mark.stage = Some(texts.word(text)),
            (Word::Name, Pickled::Text(text)) => mark.name = Some(text),
            (Word::Device, value) => mark.device = signed(value).unwrap_or(0),
            (Word::TimeUs, value) => mark.time = signed(value),
            _ => {}
        }
    }
}
