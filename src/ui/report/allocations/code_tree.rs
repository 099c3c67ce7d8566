//! Bytes of allocations by the way through the code that asked for them, as ranges within ranges: the outermost function on
//! top, each as wide as all that it asked for.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::analysis::spans::{SpanRow, SpanRows};
use crate::run::allocations::Allocations;
use crate::run::areas::AreasBy;
use crate::ui::report::areas::short_frame;

/// Frames of a way; what is deeper stays with the last of them.
const MOST_DEPTH: usize = 40;

/// The tree: a row for each depth, of which the first is everything.
#[derive(Clone, Debug, Default)]
pub struct CodeTree {
    /// Bytes as places of an axis.
    pub spans: SpanRows,
    names: Vec<String>,
}

#[derive(Default)]
struct CodeNode {
    bytes: u64,
    below: HashMap<u32, usize>,
}

impl CodeTree {
    /// Of the bytes of stacks.
    pub fn of(all: &dyn Allocations, bytes: &HashMap<usize, u64>) -> Self {
        let is_shown: Vec<bool> =
            (0..all.frames() as u32).map(|frame| all.frame(frame).is_in_paths).collect();
        let mut nodes = vec![CodeNode::default()];
        for (stack, bytes) in bytes {
            let is_shown = |row: &&u32| is_shown.get(**row as usize).copied().unwrap_or(false);
            let way: Vec<u32> =
                all.frames_of(*stack).iter().rev().filter(is_shown).copied().collect();
            let mut at = 0;
            nodes[0].bytes = nodes[0].bytes.saturating_add(*bytes);
            let none = [u32::MAX];
            let way = if way.is_empty() { &none[..] } else { &way };
            for frame in way.iter().take(MOST_DEPTH) {
                let next = nodes.len();
                let found = *nodes[at].below.entry(*frame).or_insert(next);
                if found == next {
                    nodes.push(CodeNode::default());
                }
                at = found;
                nodes[at].bytes = nodes[at].bytes.saturating_add(*bytes);
            }
        }
        Self::laid_out(all, &nodes)
    }

    fn laid_out(all: &dyn Allocations, nodes: &[CodeNode]) -> Self {
        let name = |frame: u32| match frame {
            u32::MAX => all.code(all.stacks(), AreasBy::Line).into_owned(),
            frame => all.frame(frame).title,
        };
        // The row before: the place of each node on the axis.
        let mut row: Vec<(usize, u64)> = vec![(0, 0)];
        let (mut spans, mut names) = (Vec::new(), vec![String::new()]);
        while !row.is_empty() {
            let starts = row.iter().map(|(_, start)| *start).collect();
            let ends = row.iter().map(|(node, start)| start.saturating_add(nodes[*node].bytes));
            spans.push(SpanRow::of(starts, ends.collect(), Vec::new()));
            let mut next = Vec::new();
            for (node, start) in &row {
                let mut below: Vec<(u32, usize)> =
                    nodes[*node].below.iter().map(|(frame, node)| (*frame, *node)).collect();
                below.sort_by_key(|(frame, node)| (Reverse(nodes[*node].bytes), *frame));
                let mut at = *start;
                for (frame, node) in below {
                    next.push((node, at));
                    names.push(name(frame));
                    at = at.saturating_add(nodes[node].bytes);
                }
            }
            row = next;
        }
        Self { spans: SpanRows::of(spans), names }
    }

    pub fn bytes(&self, number: u32) -> u64 {
        self.spans.get(number).map_or(0, |(start, end)| end.saturating_sub(start))
    }

    /// The frame of a range, whole; empty for everything.
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    /// The same, short.
    pub fn short_name(&self, number: u32) -> &str {
        short_frame(self.name(number))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::run::{Allocation, CodeFrame};

    const NO_STACK: &str = "(no Python stack)";

    /// Two stacks of three functions.
    #[derive(Debug)]
    struct TwoStacks;

    impl Allocations for TwoStacks {
        fn len(&self) -> usize {
            0
        }

        fn get(&self, _: usize) -> Option<Allocation> {
            None
        }

        fn bytes(&self, _: usize) -> [u64; 2] {
            [0; 2]
        }

        fn step(&self, _: usize) -> Option<usize> {
            None
        }

        fn key(&self, _: usize) -> (u32, u32) {
            (0, 0)
        }

        fn stack(&self, _: usize) -> usize {
            self.stacks()
        }

        fn stacks(&self) -> usize {
            2
        }

        /// Innermost first.
        fn frames_of(&self, stack: usize) -> &[u32] {
            [&[1, 0][..], &[2, 0]].get(stack).copied().unwrap_or_default()
        }

        fn frames(&self) -> usize {
            3
        }

        fn frame(&self, frame: u32) -> CodeFrame {
            let name = ["main", "forward", "backward"][frame as usize];
            let title = format!("/a/t.py:{} ({name})", frame + 1);
            CodeFrame { title, is_own: true, is_in_paths: true }
        }

        fn code(&self, _: usize, _: AreasBy) -> Cow<'_, str> {
            NO_STACK.into()
        }

        fn has_devices(&self) -> bool {
            false
        }
    }

    #[test]
    fn ways_that_begin_alike_share_their_beginning() {
        let all = TwoStacks;
        let tree = CodeTree::of(&all, &HashMap::from([(0, 10), (1, 30), (2, 2)]));
        let found: Vec<(&str, u64)> =
            (0..5).map(|number| (tree.short_name(number), tree.bytes(number))).collect();
        assert_eq!(
            found,
            [
                ("", 42),
                ("t.py:1 (main)", 40),
                (NO_STACK, 2),
                ("t.py:3 (backward)", 30),
                ("t.py:2 (forward)", 10)
            ]
        );
    }
}
