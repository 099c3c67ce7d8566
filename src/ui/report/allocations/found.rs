//! The allocations that tables list: those of a step or all, those whose stack a pattern is found in, and what they add
//! up to by the code that asked for them.

use regex::bytes::RegexBuilder;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::code_tree::CodeTree;
use super::rows::AllocationRows;
use crate::analysis::liveness::Scope;
use crate::run::allocations::Allocations;
use crate::run::areas::AreasBy;
use crate::ui::job::Cancel;
use crate::ui::runs::Run;
use crate::ui::widget::rows::{CellValue, Listed};

/// Bytes that a pattern may take when it is made ready.
const MOST_PATTERN: usize = 1 << 20;
/// Rows between two looks at whether anybody still waits.
const ROWS_PER_LOOK: usize = 4096;

/// Which allocations are listed, and what they are added up by.
#[derive(Clone, Debug, PartialEq)]
pub struct ListKey {
    /// Of which part of the machine.
    pub scope: Scope,
    /// Line, function or file.
    pub by: AreasBy,
    /// The step at which they are alive; `None` for all.
    pub step: Option<usize>,
    /// What is looked for in the calls of their stacks; empty for nothing.
    pub pattern: String,
}

/// Allocations, and what they add up to by the code that asked.
pub struct FoundAllocations {
    pub rows: Arc<AllocationRows>,
    /// By code, the most first.
    pub by_code: Arc<Listed<CodeRow>>,
    /// By call path.
    pub tree: CodeTree,
    pub bytes: u64,
}

/// What the code of a line, a function or a file asked for.
pub struct CodeRow {
    pub name: String,
    /// Bytes that were asked for.
    pub bytes: u64,
    taken: u64,
    count: u64,
    largest: u64,
}

impl FoundAllocations {
    /// Looks for them in a run; `None` where it has no list, or when it was canceled. Fails with what is wrong with the
    /// pattern.
    pub fn of(run: &Run, key: &ListKey, cancel: &Cancel) -> Option<Result<Self, String>> {
        let is_cancelled = || cancel.is_cancelled();
        let derived = &run.derived;
        let all = derived.answers().allocations(derived, key.scope, key.step, &is_cancelled)?;
        let matched = match matched_stacks(&*all, &key.pattern) {
            Ok(matched) => matched,
            Err(error) => return Some(Err(error)),
        };
        let mut rows = Vec::new();
        let mut by_stack: HashMap<usize, (u64, CodeRow)> = HashMap::new();
        let add = |sum: &mut u64, bytes: u64| *sum = sum.saturating_add(bytes);
        let mut whole = 0_u64;
        for row in 0..all.len() {
            if row.is_multiple_of(ROWS_PER_LOOK) && cancel.is_cancelled() {
                return None;
            }
            let stack = all.stack(row);
            if let Some(matched) = &matched {
                if !matched.get(stack).copied().unwrap_or(false) {
                    continue;
                }
                rows.push(row as u32);
            }
            let [asked, taken] = all.bytes(row);
            let (sum, of) =
                by_stack.entry(stack).or_insert_with(|| (0, CodeRow::of(String::new())));
            add(sum, asked);
            add(&mut whole, asked);
            of.add(asked, taken, 1, asked);
        }
        let mut by_code: HashMap<Cow<'_, str>, CodeRow> = HashMap::new();
        for (stack, (_, row)) in &by_stack {
            let name = all.code(*stack, key.by);
            let of = by_code.entry(name).or_insert_with_key(|name| CodeRow::of(name.to_string()));
            of.add(row.bytes, row.taken, row.count, row.largest);
        }
        let mut by_code: Vec<CodeRow> = by_code.into_values().collect();
        by_code.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
        let by_stack = by_stack.into_iter().map(|(stack, (bytes, _))| (stack, bytes)).collect();
        let tree = CodeTree::of(&*all, &by_stack);
        let rows = match matched {
            Some(_) => AllocationRows::some_of(all, rows),
            None => AllocationRows::of(all),
        };
        let by_code = Arc::new(Listed { rows: by_code, cell: code_cell });
        Some(Ok(Self { rows: Arc::new(rows), by_code, tree, bytes: whole }))
    }
}

impl CodeRow {
    fn of(name: String) -> Self {
        Self { name, bytes: 0, taken: 0, count: 0, largest: 0 }
    }

    fn add(&mut self, bytes: u64, taken: u64, count: u64, largest: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.taken = self.taken.saturating_add(taken);
        self.count = self.count.saturating_add(count);
        self.largest = self.largest.max(largest);
    }
}

fn code_cell(row: &CodeRow, column: usize) -> CellValue<'_> {
    match column {
        0 => CellValue::text(&*row.name),
        1 => CellValue::Bytes(row.bytes),
        2 => CellValue::Bytes(row.taken),
        3 => CellValue::Count(row.count),
        _ => CellValue::Bytes(row.largest),
    }
}

/// The stacks in which a pattern is found in a call, the last for no stack; `None` for all where there is no pattern.
fn matched_stacks(all: &dyn Allocations, pattern: &str) -> Result<Option<Vec<bool>>, String> {
    if pattern.is_empty() {
        return Ok(None);
    }
    let sought = RegexBuilder::new(pattern)
        .case_insensitive(true)
        .unicode(false)
        .size_limit(MOST_PATTERN)
        .build()
        .map_err(|error| format!("This is not a regular expression: {error}"))?;
    let is_found = |frame: u32| sought.is_match(all.frame(frame).title.as_bytes());
    let frames: Vec<bool> = (0..all.frames() as u32).map(is_found).collect();
    let has = |stack: usize| {
        let of = all.frames_of(stack).iter();
        of.into_iter().any(|frame| frames.get(*frame as usize).copied().unwrap_or(false))
    };
    let none = sought.is_match(all.code(all.stacks(), AreasBy::Line).as_bytes());
    Ok(Some((0..all.stacks()).map(has).chain([none]).collect()))
}
