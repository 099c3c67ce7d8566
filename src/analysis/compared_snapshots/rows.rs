//! What is alive at the requested peaks of two snapshots, side by side (formats/pytorch.md 8.3).
//!
//! Blocks of one side belong together where their user frames are the same, without the numbers of lines, and so is
//! their size. These groups are matched: first by user frames and size; what is left by the innermost user frame,
//! whatever the callers and sizes; what is left then by size. Blocks without a frame of Python are a row by themselves.
//! Every block counts in one row, so each column adds up to the requested peak of its side, and so do the columns by
//! category and by function.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use crate::analysis::figures::difference::Difference;
use crate::store::snapshot::{Snapshot, StackId};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::peak::OwnedBytes;
use crate::systems::pytorch::allocator::user_frame::{NO_STACK, is_users, user_frame};
use crate::text::words;

use super::ComparedDevice;

/// A function in a file. Thousands of rows name the same ones, so their texts are shared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function {
    /// The file.
    pub file: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl Function {
    /// `file (function)`.
    pub fn title(&self) -> String {
        format!("{} ({})", self.file, self.name)
    }
}

/// User frames, innermost first, by their numbers among the functions of both sides: a snapshot of some MB may have
/// millions.
#[derive(Clone)]
pub struct UserFrames {
    functions: Arc<[Function]>,
    numbers: Path,
}

impl UserFrames {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Function> {
        self.numbers.iter().filter_map(|number| self.functions.get(*number as usize))
    }

    /// The innermost.
    pub fn first(&self) -> Option<&Function> {
        self.iter().next()
    }
}

impl PartialEq for UserFrames {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for UserFrames {}

impl fmt::Debug for UserFrames {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

/// What both sides have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Both {
    /// Of the source.
    pub source: OwnedBytes,
    /// Of the target.
    pub target: OwnedBytes,
}

impl Both {
    /// Bytes of both.
    pub fn bytes(&self) -> Difference {
        Difference::of([Some(self.source.bytes), Some(self.target.bytes)])
    }

    /// The larger of the two.
    pub fn most(&self) -> u64 {
        self.source.bytes.max(self.target.bytes)
    }

    /// What became of it.
    pub fn row_change(&self) -> RowChange {
        let Self { source, target } = self;
        match (source.blocks, target.blocks) {
            (_, 0) => RowChange::OnlySource,
            (0, _) => RowChange::OnlyTarget,
            _ if target.bytes > source.bytes => RowChange::Grown,
            _ if target.bytes < source.bytes => RowChange::Shrunk,
            _ => RowChange::Unchanged,
        }
    }

    /// Bytes by which they differ.
    pub fn size_of_change(&self) -> u64 {
        self.source.bytes.abs_diff(self.target.bytes)
    }

    /// Counts what another has.
    pub fn add(&mut self, other: &Self) {
        self.source.join(other.source);
        self.target.join(other.target);
    }

    /// Adds to the source, which is side 0, or to the target.
    pub fn add_to(&mut self, side: usize, owned: OwnedBytes) {
        let sum = if side == 0 { &mut self.source } else { &mut self.target };
        sum.join(owned);
    }
}

words! {
    /// By what blocks of both sides were found to belong together.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MatchedBy by as_str {
        /// All user frames and the size.
        Frames = "frames",
        /// The innermost user frame.
        Frame = "frame",
        /// The size alone.
        Size = "size",
    }
}

words! {
    /// What became of a row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RowChange by as_str, title {
        /// It is only at the source's peak.
        OnlySource = "only-source" | "only in source",
        /// It is only at the target's peak.
        OnlyTarget = "only-target" | "only in target",
        /// The target has more.
        Grown = "grown" | "grown",
        /// The target has less.
        Shrunk = "shrunk" | "shrunk",
        /// Both have the same bytes.
        Unchanged = "unchanged" | "unchanged",
    }
}

/// A row: blocks that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedRow {
    /// User frames, innermost first; of a row that is matched by size those of the target; none of the row without a
    /// Python stack.
    pub frames: UserFrames,
    /// Where the source allocated it, of a row that is matched by size alone.
    pub of_source: Option<Function>,
    /// Bytes of each block, where all are of one size.
    pub size: Option<u64>,
    /// The category that has most of it.
    pub category: BlockCategory,
    /// Bytes and blocks.
    pub both: Both,
    /// How it was matched; `None` of what only one side has, and of the row without a stack.
    pub matched: Option<MatchedBy>,
}

impl ComparedRow {
    /// Where it was allocated: `file (function)`.
    pub fn title(&self) -> String {
        self.frames.first().map_or_else(|| NO_STACK.to_owned(), Function::title)
    }

    /// What became of it.
    pub fn change(&self) -> RowChange {
        self.both.row_change()
    }
}

/// A sum by where it was allocated and what for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    /// The innermost user function; `None` without a Python stack.
    pub function: Option<Function>,
    /// What for; `None` where all categories are together.
    pub category: Option<BlockCategory>,
    /// Bytes and blocks.
    pub both: Both,
}

/// What is alive at the peaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedPeaks {
    /// The rows, largest change first.
    pub rows: Vec<ComparedRow>,
    /// By category, in the order of [`BlockCategory::ALL`]; those that either has.
    pub by_category: Vec<(BlockCategory, Both)>,
    /// By the innermost user function, largest change first.
    pub by_function: Vec<FunctionRow>,
    /// By the same and by category.
    pub by_function_and_category: Vec<FunctionRow>,
}

/// User frames by their numbers among the functions of both sides. Groups and rows share it.
type Path = Arc<[u32]>;
type ByCategory = [OwnedBytes; BlockCategory::ALL.len()];

/// Blocks of one path and size.
#[derive(Clone, Debug)]
struct Group {
    path: Path,
    size: u64,
    /// By side.
    categories: [ByCategory; 2],
}

impl Group {
    fn both(&self) -> Both {
        let mut both = Both::default();
        for (side, categories) in self.categories.iter().enumerate() {
            for owned in categories {
                both.add_to(side, *owned);
            }
        }
        both
    }

    fn has(&self, side: usize) -> bool {
        self.categories.get(side).is_some_and(|of| of.iter().any(|owned| owned.blocks > 0))
    }

    fn is_of_both(&self) -> bool {
        self.has(0) && self.has(1)
    }
}

/// Functions of both sides, each once.
#[derive(Default)]
struct Functions {
    known: HashMap<Function, u32>,
    list: Vec<Function>,
}

impl Functions {
    fn number(&mut self, function: Function) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.known.entry(function.clone()).or_insert(next);
        if number == next {
            self.list.push(function);
        }
        number
    }

    /// The user frames of a stack; where there is none the innermost of Python.
    fn path(&mut self, snapshot: &Snapshot, stack: StackId) -> Path {
        let Some(first) = user_frame(snapshot, stack) else { return Path::default() };
        let of_user = snapshot.frames_of(stack).filter(|frame| is_users(snapshot, frame));
        let mut frames: Vec<_> = of_user.collect();
        if frames.is_empty() {
            frames.push(first);
        }
        let function = |frame: &crate::store::snapshot::Frame| Function {
            file: snapshot.texts.get(frame.file).into(),
            name: snapshot.texts.get(frame.name).into(),
        };
        frames.into_iter().map(|frame| self.number(function(frame))).collect()
    }
}

/// Puts the peaks of two devices side by side.
pub(super) fn compared_peaks(sides: [&ComparedDevice<'_>; 2]) -> ComparedPeaks {
    let mut functions = Functions::default();
    let mut groups: BTreeMap<(Path, u64), Group> = BTreeMap::new();
    for (side, of) in sides.into_iter().enumerate() {
        let lives = &of.replay.lives;
        let mut paths: HashMap<StackId, Path> = HashMap::new();
        for &row in of.live {
            let (size, stack) = (lives.requested[row], lives.stacks[row]);
            let path =
                paths.entry(stack).or_insert_with(|| functions.path(of.snapshot, stack)).clone();
            let category = of.categories.get(row).copied().unwrap_or(BlockCategory::Unknown);
            // All without a stack are one row.
            let key_size = if path.is_empty() { 0 } else { size };
            let group = groups.entry((path, key_size)).or_insert_with_key(|(path, size)| Group {
                path: Arc::clone(path),
                size: *size,
                categories: [[OwnedBytes::default(); BlockCategory::ALL.len()]; 2],
            });
            if let Some(sum) =
                group.categories.get_mut(side).and_then(|of| of.get_mut(category as usize))
            {
                sum.add(size);
            }
        }
    }
    let groups: Vec<Group> = groups.into_values().collect();
    let functions: Arc<[Function]> = functions.list.into();
    let mut rows = matched(&groups, &functions);
    rows.sort_by(|a, b| {
        let order = |row: &ComparedRow| (row.both.size_of_change(), row.both.most());
        order(b)
            .cmp(&order(a))
            .then_with(|| a.frames.iter().cmp(b.frames.iter()))
            .then(a.size.cmp(&b.size))
    });
    ComparedPeaks {
        rows,
        by_category: by_category(&groups),
        by_function: by_function(&groups, &functions, false),
        by_function_and_category: by_function(&groups, &functions, true),
    }
}

/// A row of each group that both sides have, and of those that are matched otherwise, or not.
fn matched(groups: &[Group], functions: &Arc<[Function]>) -> Vec<ComparedRow> {
    let (mut rows, mut left) = (Vec::new(), Vec::new());
    for group in groups {
        if group.path.is_empty() {
            rows.push(row_of(&[group], None, functions));
        } else if group.is_of_both() {
            rows.push(row_of(&[group], Some(MatchedBy::Frames), functions));
        } else {
            left.push(group);
        }
    }
    let innermost = |group: &Group| u64::from(group.path.first().copied().unwrap_or(u32::MAX));
    left = match_by(left, innermost, MatchedBy::Frame, functions, &mut rows);
    left = match_by(left, |group| group.size, MatchedBy::Size, functions, &mut rows);
    rows.extend(left.into_iter().map(|group| row_of(&[group], None, functions)));
    rows
}

/// Makes a row of all groups of one key where both sides have it; the others are left.
fn match_by<'a>(
    groups: Vec<&'a Group>,
    key: impl Fn(&Group) -> u64,
    by: MatchedBy,
    functions: &Arc<[Function]>,
    rows: &mut Vec<ComparedRow>,
) -> Vec<&'a Group> {
    let mut by_key: BTreeMap<u64, Vec<&Group>> = BTreeMap::new();
    for group in groups {
        by_key.entry(key(group)).or_default().push(group);
    }
    let mut left = Vec::new();
    for of_key in by_key.into_values() {
        if (0..2).all(|side| of_key.iter().any(|group| group.has(side))) {
            rows.push(row_of(&of_key, Some(by), functions));
        } else {
            left.extend(of_key);
        }
    }
    left
}

fn row_of(
    groups: &[&Group],
    matched: Option<MatchedBy>,
    functions: &Arc<[Function]>,
) -> ComparedRow {
    let mut both = Both::default();
    let mut categories = [0_u64; BlockCategory::ALL.len()];
    for group in groups {
        for (side, of_side) in group.categories.iter().enumerate() {
            for (sum, owned) in categories.iter_mut().zip(of_side) {
                both.add_to(side, *owned);
                *sum = sum.saturating_add(owned.bytes);
            }
        }
    }
    let largest = |side: usize| {
        let of_side = groups.iter().rev().filter(|group| group.has(side));
        of_side.max_by_key(|group| group.both().most())
    };
    let (source, target) = (largest(0), largest(1));
    let shown = target.or(source).map(|group| Arc::clone(&group.path)).unwrap_or_default();
    // Callers of groups that only share the innermost frame are of one of them.
    let shown = match (matched, shown.first()) {
        (Some(MatchedBy::Frame), Some(innermost)) => Arc::from([*innermost]),
        _ => shown,
    };
    let of_source = source.filter(|_| matched == Some(MatchedBy::Size));
    let size = groups.first().map(|group| group.size);
    let is_one_size = groups.iter().all(|group| Some(group.size) == size);
    let named = BlockCategory::ALL.into_iter().zip(categories).rev();
    ComparedRow {
        of_source: of_source
            .and_then(|group| functions.get(*group.path.first()? as usize))
            .cloned(),
        size: size.filter(|_| is_one_size && !shown.is_empty()),
        frames: UserFrames { functions: Arc::clone(functions), numbers: shown },
        // The first of equals.
        category: named
            .max_by_key(|(_, bytes)| *bytes)
            .map_or(BlockCategory::Unknown, |(category, _)| category),
        both,
        matched,
    }
}

fn by_category(groups: &[Group]) -> Vec<(BlockCategory, Both)> {
    let mut sums = [Both::default(); BlockCategory::ALL.len()];
    for group in groups {
        for (side, categories) in group.categories.iter().enumerate() {
            for (sum, owned) in sums.iter_mut().zip(categories) {
                sum.add_to(side, *owned);
            }
        }
    }
    let named = BlockCategory::ALL.into_iter().zip(sums);
    named.filter(|(_, both)| both.source.blocks > 0 || both.target.blocks > 0).collect()
}

fn by_function(groups: &[Group], functions: &[Function], is_by_category: bool) -> Vec<FunctionRow> {
    let mut sums: BTreeMap<(Option<&Function>, Option<BlockCategory>), Both> = BTreeMap::new();
    for group in groups {
        let function = group.path.first().and_then(|number| functions.get(*number as usize));
        for (side, categories) in group.categories.iter().enumerate() {
            for (category, owned) in BlockCategory::ALL.into_iter().zip(categories) {
                if owned.blocks > 0 {
                    let category = is_by_category.then_some(category);
                    sums.entry((function, category)).or_default().add_to(side, *owned);
                }
            }
        }
    }
    let row = |((function, category), both): ((Option<&Function>, _), Both)| FunctionRow {
        function: function.cloned(),
        category,
        both,
    };
    let mut rows: Vec<FunctionRow> = sums.into_iter().map(row).collect();
    // By name already.
    rows.sort_by_key(|row| std::cmp::Reverse((row.both.size_of_change(), row.both.most())));
    rows
}
