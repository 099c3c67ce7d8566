//! Where the user's code calls operations, and with which arguments.

use crate::store::names::{FastMap, NameId};

/// Parts of paths by which the files of TT-NN itself are known: as a package, and in a build of its sources.
const FILES_OF_TTNN: [&str; 3] = ["-packages/ttnn/", "/ttnn/ttnn/", "<decorator"];

/// The calls of a rank, by the positions of their operations.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TtnnCalls {
    /// Stack traces as Python writes them, the innermost frame first.
    stacks: FastMap<u32, NameId>,
    /// Positions with names and values of arguments, ascending.
    arguments: Vec<(u32, NameId, NameId)>,
}

impl TtnnCalls {
    /// Adds the stack trace of an operation.
    pub fn add_stack(&mut self, operation: u32, stack: NameId) {
        self.stacks.entry(operation).or_insert(stack);
    }

    /// Adds an argument of an operation.
    pub fn add_argument(&mut self, operation: u32, name: NameId, value: NameId) {
        self.arguments.push((operation, name, value));
    }

    /// To be called when all were added.
    pub fn finish(&mut self) {
        self.arguments.sort_by_key(|(operation, ..)| *operation);
    }

    /// The stack trace of an operation.
    pub fn stack(&self, operation: u32) -> Option<NameId> {
        self.stacks.get(&operation).copied()
    }

    /// Whether any operation has a stack trace.
    pub fn has_stacks(&self) -> bool {
        !self.stacks.is_empty()
    }

    /// The arguments of an operation, names with values, as the report has them.
    pub fn arguments_of(&self, operation: u32) -> impl Iterator<Item = (NameId, NameId)> {
        let start = self.arguments.partition_point(|(at, ..)| *at < operation);
        let rest = self.arguments.get(start..).unwrap_or_default().iter();
        let of = rest.take_while(move |(at, ..)| *at == operation);
        of.map(|(_, name, value)| (*name, *value))
    }
}

/// A frame of a stack trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalledFrom<'a> {
    /// The file.
    pub path: &'a str,
    /// The line in it, from 1.
    pub line: u64,
    /// The function.
    pub function: &'a str,
}

impl CalledFrom<'_> {
    /// `path:line (function)`.
    pub fn title(&self) -> String {
        format!("{}:{} ({})", self.path, self.line, self.function)
    }

    /// The function with its file: `attention (path)`.
    pub fn function_title(&self) -> String {
        format!("{} ({})", self.function, self.path)
    }

    /// Whether it is in code of the user, not of TT-NN.
    pub fn is_users(&self) -> bool {
        !FILES_OF_TTNN.iter().any(|part| self.path.contains(part))
    }
}

/// The frames of a stack trace in its order.
pub fn frames_in(stack: &str) -> impl Iterator<Item = CalledFrom<'_>> {
    stack.lines().filter_map(|line| {
        let (path, rest) = line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
        let (number, function) = rest.split_once(", in ").unwrap_or((rest, "?"));
        Some(CalledFrom { path, line: number.trim().parse().ok()?, function: function.trim() })
    })
}

/// The innermost frame that is the user's own, else the innermost.
pub fn user_frame_in(stack: &str) -> Option<CalledFrom<'_>> {
    frames_in(stack).find(CalledFrom::is_users).or_else(|| frames_in(stack).next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_frame_is_the_innermost_outside_of_ttnn() {
        let stack = "  File \"/env/lib/python3.10/site-packages/ttnn/decorators.py\", line 7, in __call__\n    f()\n\n  File \
            \"/net/a b.py\", line 12, in forward\n    ttnn.relu(x)\n\n  File \"/net/run.py\", line 3, in <module>\n";
        assert_eq!(frames_in(stack).count(), 3);
        assert_eq!(user_frame_in(stack).unwrap().title(), "/net/a b.py:12 (forward)");
        let own = "File \"/x/ttnn/ttnn/a.py\", line 1, in f";
        assert_eq!(user_frame_in(own).unwrap().title(), "/x/ttnn/ttnn/a.py:1 (f)");
        assert_eq!(user_frame_in("File \"x, line\nFile \"a\", line z, in b"), None);
    }

    #[test]
    fn arguments_are_found_by_their_operation() {
        let mut calls = TtnnCalls::default();
        for (operation, name) in [(2, 1), (0, 2), (2, 3)] {
            calls.add_argument(operation, NameId(name), NameId(9));
        }
        calls.finish();
        let names = |operation| calls.arguments_of(operation).map(|(name, _)| name.0).collect();
        let [first, second, third]: [Vec<u32>; 3] = [names(0), names(1), names(2)];
        assert_eq!((first, second, third), (vec![2], vec![], vec![1, 3]));
    }
}
