//! What is alive at the peaks of two programs, side by side (formats/xla.md 10).
//!
//! The bytes of a value are those addresses that it has the longest, so each column adds up to the union of what is in
//! use. Values of both sides are paired, the largest first, where they have in common: the path of their operation
//! without the numbers that the compiler adds, element type, dimensions and category; of what is left, what the
//! instruction does (the kind of a fusion), element type and dimensions; then the path and the category, whatever the
//! dimensions, as of another batch; then the category and the size, for nothing speaks for values of other operations
//! and other sizes being in the place of each other. What is left then is only on one side. Pairs of the same two kinds
//! are a row.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::analysis::compared_snapshots::Both;
use crate::store::hlo::InstructionId;
use crate::systems::pytorch::allocator::peak::OwnedBytes;
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::categories::ValueCategory;
use crate::systems::xla::buffer_assignment::in_use::Placed;
use crate::systems::xla::buffer_assignment::peaks::NO_OPERATION;
use crate::text::{path_parts, words};

words! {
    /// What values that were paired have in common.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum PairedBy by as_str {
        /// Path of the operation, element type, dimensions, category.
        Operation = "operation",
        /// What the instruction does, element type, dimensions.
        Opcode = "opcode",
        /// Path of the operation and category.
        Path = "path",
        /// The category and the size.
        Category = "category",
    }
}

/// What values are of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueKind {
    /// Path of the operation without numbers of the compiler; `None` where none is known.
    pub operation: Option<String>,
    /// Element type and dimensions: `f32[64,1024]`.
    pub shape: String,
    /// What for.
    pub category: ValueCategory,
}

impl ValueKind {
    /// The operation, or that there is none.
    pub fn operation_title(&self) -> &str {
        self.operation.as_deref().unwrap_or(NO_OPERATION)
    }
}

/// Values that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramRow {
    /// Of source and target; `None` where it is only on the other side.
    pub kinds: [Option<ValueKind>; 2],
    /// Bytes and values: `blocks` are values.
    pub both: Both,
    /// How they were paired; `None` of what only one side has.
    pub paired: Option<PairedBy>,
}

impl ProgramRow {
    /// What it is of: the target's, or else the source's.
    pub fn kind(&self) -> Option<&ValueKind> {
        let [source, target] = &self.kinds;
        target.as_ref().or(source.as_ref())
    }

    /// The path of the operation.
    pub fn operation(&self) -> &str {
        self.kind().map_or(NO_OPERATION, ValueKind::operation_title)
    }

    /// The operation of the source, where it is another one.
    pub fn other_operation(&self) -> Option<&str> {
        let [Some(source), Some(target)] = &self.kinds else { return None };
        (source.operation != target.operation).then(|| source.operation_title())
    }

    /// `f32[64,1024]`; where the sides differ `f32[64,1024] → f32[128,1024]`.
    pub fn shape(&self) -> String {
        match &self.kinds {
            [Some(source), Some(target)] if source.shape != target.shape => {
                format!("{} → {}", source.shape, target.shape)
            }
            _ => self.kind().map(|kind| kind.shape.clone()).unwrap_or_default(),
        }
    }
}

/// What is alive at the peaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramPeaks {
    /// The rows, largest change first.
    pub rows: Vec<ProgramRow>,
    /// By category, in the order of [`ValueCategory::ALL`]; those that either has.
    pub by_category: Vec<(ValueCategory, Both)>,
    /// By the path of the operation, largest change first.
    pub by_operation: Vec<(Option<String>, Both)>,
}

/// A path without the numbers that the compiler adds to its parts: `dot_general.12` is `dot_general`.
pub(super) fn without_numbers(path: &str) -> Cow<'_, str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit());
    let numbered = |part: &str| part.rsplit_once('.').is_some_and(|(_, number)| is_number(number));
    if !path_parts(path).any(numbered) {
        return Cow::Borrowed(path);
    }
    let plain = path_parts(path).map(|part| {
        let mut part = part;
        while let Some((before, number)) = part.rsplit_once('.') {
            if !is_number(number) {
                break;
            }
            part = before;
        }
        part
    });
    Cow::Owned(plain.collect::<Vec<_>>().join("/"))
}

/// A value that is alive, by numbers that both sides share.
#[derive(Clone, Copy, Debug)]
struct Alive {
    /// `None` where no operation is known.
    path: Option<u32>,
    opcode: u32,
    shape: u32,
    category: ValueCategory,
    /// Bytes of the value.
    size: u64,
    /// Bytes that count to it.
    share: u64,
}

/// Texts of both sides, each once.
#[derive(Default)]
struct Words {
    known: HashMap<String, u32>,
    list: Vec<String>,
}

impl Words {
    fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.known.get(word) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.known.insert(word.to_owned(), number);
        self.list.push(word.to_owned());
        number
    }

    fn of(&self, number: u32) -> &str {
        self.list.get(number as usize).map_or("", String::as_str)
    }
}

fn alive((analysed, color, position): (&Analysed, i64, u32), words: &mut Words) -> Vec<Alive> {
    let module = &analysed.module;
    let mut of_value = |(one, share): (&Placed, u64)| {
        let value = one.assigned.value;
        let instruction =
            module.value(value).map_or(InstructionId::NONE, |value| value.instruction);
        let opcode = module.fusion_kind(instruction).unwrap_or(module.opcode(instruction));
        let path = analysed.operation(value).map(|path| words.number(&without_numbers(path)));
        Alive {
            path,
            opcode: words.number(opcode),
            shape: words.number(&module.shapes.title(module.value_shape(value))),
            category: analysed.category(&one.assigned),
            size: one.assigned.bytes,
            share,
        }
    };
    analysed.shares_at(color, position).into_iter().map(&mut of_value).collect()
}

/// Puts what is alive at a position of a memory space of each side beside each other.
pub(super) fn compared_peaks(sides: [(&Analysed, i64, u32); 2]) -> ProgramPeaks {
    let mut words = Words::default();
    let alive = sides.map(|side| alive(side, &mut words));
    let mut categories = [Both::default(); ValueCategory::ALL.len()];
    let mut operations: BTreeMap<Option<u32>, Both> = BTreeMap::new();
    for (side, values) in alive.iter().enumerate() {
        for one in values {
            let owned = OwnedBytes { bytes: one.share, blocks: 1 };
            let place = ValueCategory::ALL.iter().position(|category| *category == one.category);
            if let Some(sum) = place.and_then(|place| categories.get_mut(place)) {
                sum.add_to(side, owned);
            }
            operations.entry(one.path).or_default().add_to(side, owned);
        }
    }
    let by_category = ValueCategory::ALL.into_iter().zip(categories);
    let has_any = |both: &Both| both.source.blocks > 0 || both.target.blocks > 0;
    let by_operation = operations.into_iter();
    let mut by_operation: Vec<(Option<String>, Both)> = by_operation
        .map(|(path, both)| (path.map(|path| words.of(path).to_owned()), both))
        .collect();
    by_operation.sort_by(|a, b| order(&b.1).cmp(&order(&a.1)).then_with(|| a.0.cmp(&b.0)));
    ProgramPeaks {
        rows: rows(paired(alive), &words),
        by_category: by_category.filter(|(_, both)| has_any(both)).collect(),
        by_operation,
    }
}

/// By what rows are in order, the largest first.
fn order(both: &Both) -> (u64, u64) {
    (both.size_of_change(), both.most())
}

/// A pair, or one that has none, with how it was found.
type Pair = (Option<PairedBy>, [Option<Alive>; 2]);

/// Pairs the values of two sides.
fn paired(alive: [Vec<Alive>; 2]) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut left = alive;
    for by in PairedBy::ALL {
        let mut by_key: BTreeMap<[u64; 3], [Vec<Alive>; 2]> = BTreeMap::new();
        let mut without_key: [Vec<Alive>; 2] = Default::default();
        for (side, values) in left.into_iter().enumerate() {
            for one in values {
                let list = match key(&one, by) {
                    Some(key) => by_key.entry(key).or_default().get_mut(side),
                    None => without_key.get_mut(side),
                };
                if let Some(list) = list {
                    list.push(one);
                }
            }
        }
        left = without_key;
        for mut both in by_key.into_values() {
            for side in &mut both {
                // What comes later of equals stays behind it.
                side.sort_by_key(|one| std::cmp::Reverse((one.size, one.share)));
            }
            let [source, target] = both;
            let count = source.len().min(target.len());
            pairs.extend(
                (source.iter().zip(&target)).map(|(a, b)| (Some(by), [Some(*a), Some(*b)])),
            );
            for (list, values) in left.iter_mut().zip([source, target]) {
                list.extend(values.into_iter().skip(count));
            }
        }
    }
    let [source, target] = left;
    pairs.extend(source.into_iter().map(|one| (None, [Some(one), None])));
    pairs.extend(target.into_iter().map(|one| (None, [None, Some(one)])));
    pairs
}

/// What values must have in common; `None` where that is not known.
fn key(one: &Alive, by: PairedBy) -> Option<[u64; 3]> {
    let category = one.category as u64;
    let [opcode, shape] = [one.opcode, one.shape].map(u64::from);
    let path = one.path.map(u64::from);
    Some(match by {
        PairedBy::Operation => [path?, shape, category],
        PairedBy::Opcode => [opcode, shape, 0],
        PairedBy::Path => [path?, category, 0],
        PairedBy::Category => [category, one.size, 0],
    })
}

/// A row of all pairs that are of the same two kinds.
fn rows(pairs: Vec<Pair>, words: &Words) -> Vec<ProgramRow> {
    type Kind = (Option<u32>, u32, ValueCategory);
    let mut sums: BTreeMap<(Option<PairedBy>, [Option<Kind>; 2]), Both> = BTreeMap::new();
    for (by, pair) in pairs {
        let kinds = pair.map(|one| one.map(|one| (one.path, one.shape, one.category)));
        let both = sums.entry((by, kinds)).or_default();
        for (side, one) in pair.into_iter().enumerate() {
            if let Some(one) = one {
                both.add_to(side, OwnedBytes { bytes: one.share, blocks: 1 });
            }
        }
    }
    let kind = |(path, shape, category): Kind| ValueKind {
        operation: path.map(|path| words.of(path).to_owned()),
        shape: words.of(shape).to_owned(),
        category,
    };
    let row = |((paired, kinds), both): ((Option<PairedBy>, [Option<Kind>; 2]), Both)| ProgramRow {
        kinds: kinds.map(|one| one.map(kind)),
        both,
        paired,
    };
    let mut rows: Vec<ProgramRow> = sums.into_iter().map(row).collect();
    rows.sort_by(|a, b| {
        order(&b.both)
            .cmp(&order(&a.both))
            .then_with(|| a.kinds.cmp(&b.kinds))
            .then(a.paired.cmp(&b.paired))
    });
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_of_the_compiler_are_left_out_and_those_of_the_user_stay() {
        assert_eq!(without_numbers("jit(f)/layer3/dot_general.12"), "jit(f)/layer3/dot_general");
        assert_eq!(without_numbers("jit(f.2)/add.1.3/x"), "jit(f.2)/add/x");
        assert_eq!(without_numbers("ps[0]['w1']"), "ps[0]['w1']");
        assert_eq!(without_numbers("a/b"), "a/b");
    }

    fn value() -> impl Strategy<Value = Alive> {
        let path = prop_oneof![Just(None), (0..3_u32).prop_map(Some)];
        (path, 3..5_u32, 5..8_u32, 0..3_usize, 0..4_u64, 0..4_u64).prop_map(
            |(path, opcode, shape, category, size, share)| Alive {
                path,
                opcode,
                shape,
                category: ValueCategory::ALL[category],
                size: size * 100,
                share: share.min(size) * 100,
            },
        )
    }

    fn values() -> impl Strategy<Value = Vec<Alive>> {
        prop::collection::vec(value(), 0..40)
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_row_and_columns_add_up(source in values(), target in values()) {
            let mut words = Words::default();
            for word in ["a", "b", "c", "d", "e", "f", "g", "h"] {
                words.number(word);
            }
            let sums = [&source, &target].map(|values| {
                (values.iter().map(|one| one.share).sum::<u64>(), values.len() as u64)
            });
            let rows = rows(paired([source.clone(), target.clone()]), &words);
            let sum = |of: fn(&Both) -> OwnedBytes| {
                let owned = rows.iter().map(|row| of(&row.both));
                owned.fold((0, 0), |sum, one| (sum.0 + one.bytes, sum.1 + one.blocks))
            };
            prop_assert_eq!([sum(|both| both.source), sum(|both| both.target)], sums);
            for row in &rows {
                let has = [row.both.source.blocks > 0, row.both.target.blocks > 0];
                prop_assert_eq!(row.kinds.each_ref().map(Option::is_some), has);
                prop_assert_eq!(row.paired.is_some(), has == [true, true]);
            }
        }

        #[test]
        fn of_one_category_and_size_nothing_is_left_on_both_sides(source in values(), target in values()) {
            let pairs = paired([source, target]);
            let left = |side: usize| pairs.iter().filter(|pair| pair.0.is_none()).filter_map(move |pair| pair.1[side]);
            for one in left(0) {
                prop_assert!(left(1).all(|other| (other.category, other.size) != (one.category, one.size)));
            }
        }

        #[test]
        fn a_side_compared_with_itself_has_no_change(values in values()) {
            let pairs = paired([values.clone(), values]);
            for (by, pair) in pairs {
                let [Some(source), Some(target)] = pair else { return Err(TestCaseError::fail("one alone")) };
                prop_assert_eq!((source.size, source.share), (target.size, target.share));
                prop_assert!(by.is_some());
            }
        }
    }
}
