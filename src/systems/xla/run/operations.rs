//! Paths of operations as debug contexts: each part of `jit(step)/block/dot_general` lies within the one before, and the
//! last one has the line of the source.

use std::collections::HashMap;
use std::sync::Arc;

use super::AnalysedModule;
use crate::progress::Progress;
use crate::store::context_details::{ContextDetails, DetailValue, ReadContext};
use crate::store::debug_info::{Context, DebugInfo, TextRef};
use crate::store::hlo::{HloModule, InstructionId, ValueId};
use crate::store::names::{Interner, NameId};
use crate::store::placed::ReadError;
use crate::text::{parts_between, path_slashes};

/// The layer that names operations: the framework, of which the file has no name.
pub(super) const LAYER: &str = "framework";

/// Parts of a path that lie within each other; what is behind them is one part.
const MOST_PARTS: usize = 64;
/// Contexts of an instruction, and how many more of all: programs have about two. Beyond it a path is one context.
const MOST_OF_INSTRUCTION: usize = 4;
const MOST_MORE: usize = 1 << 10;

/// The operations of a program.
#[derive(Default)]
pub(super) struct Operations {
    /// Contexts, ids from 1.
    pub debug: DebugInfo,
    /// The context of each path, by its row in the module's texts.
    by_path: HashMap<NameId, u64>,
    /// The context of each instruction; 0 for none.
    of_instructions: Vec<u64>,
    /// The first instruction of each context that has any.
    first_of: HashMap<u64, InstructionId>,
}

impl Operations {
    /// Of a program; none where the file has no paths.
    pub fn of(program: &AnalysedModule) -> Self {
        let module = &program.analysed.module;
        let most = module.instructions.len().saturating_mul(MOST_OF_INSTRUCTION);
        let mut adding = Adding { most: most.saturating_add(MOST_MORE), ..Adding::default() };
        let mut by_path: HashMap<NameId, u64> = HashMap::new();
        let mut of_instructions = Vec::with_capacity(module.instructions.len());
        let mut first_of = HashMap::new();
        let sources = module.instructions.op_names.iter().zip(&module.instructions.sources);
        for (row, (path, source)) in (0..).zip(sources) {
            let context = match *path {
                NameId::NONE => 0,
                path => *(by_path.entry(path))
                    .or_insert_with(|| adding.path(module.texts.get(path), module, *source)),
            };
            if context != 0 {
                first_of.entry(context).or_insert(InstructionId(row));
            }
            of_instructions.push(context);
        }
        Self { debug: adding.done(), by_path, of_instructions, first_of }
    }

    /// The context of the operation that an instruction comes from.
    pub fn of_instruction(&self, id: InstructionId) -> Option<u64> {
        self.of_instructions.get(id.0 as usize).copied().filter(|context| *context != 0)
    }

    /// The same of a value.
    pub fn of_value(&self, program: &AnalysedModule, value: ValueId) -> Option<u64> {
        self.by_path.get(&program.analysed.operation_id(value)?).copied()
    }
}

/// Says what a context says beyond its columns: the calls in the source around its place.
#[derive(Debug)]
pub(super) struct Callers {
    program: Arc<AnalysedModule>,
    first_of: HashMap<u64, InstructionId>,
}

impl Callers {
    pub fn of(program: &Arc<AnalysedModule>, operations: &mut Operations) -> Self {
        let first_of = std::mem::take(&mut operations.first_of);
        Self { program: Arc::clone(program), first_of }
    }
}

impl ReadContext for Callers {
    fn read(&self, id: u64, _: u64, _: &Progress) -> Result<ContextDetails, ReadError> {
        let mut details = ContextDetails::default();
        if let Some(instruction) = self.first_of.get(&id) {
            let stack = self.program.analysed.module.stack(*instruction);
            let outer = stack.into_iter().skip(1).map(DetailValue::Text).collect::<Vec<_>>();
            if !outer.is_empty() {
                details.entries.push(("called from".to_owned(), DetailValue::List(outer)));
            }
        }
        Ok(details)
    }
}

/// Contexts while they are added.
#[derive(Default)]
struct Adding {
    debug: DebugInfo,
    words: Interner,
    texts: Interner,
    /// Contexts that are no operation themselves, by what they lie in, and the part of the path.
    known: HashMap<(Option<u32>, NameId), u32>,
    /// Contexts beyond which none is made but for whole paths.
    most: usize,
}

impl Adding {
    /// The id of a path, which is new.
    fn path(&mut self, path: &str, module: &HloModule, source: (NameId, u32)) -> u64 {
        let mut parent = None;
        let mut slashes = path_slashes(path);
        let last = slashes.pop();
        let (within, last) = last.map_or(("", path), |at| (&path[..at], &path[at + 1..]));
        let is_over = self.debug.ids.len() >= self.most;
        let most = if is_over || within.is_empty() { 0 } else { MOST_PARTS };
        slashes.truncate(MOST_PARTS - 1);
        let parts = parts_between(within, &slashes).into_iter().take(most);
        let mut parts = parts.chain([last]).peekable();
        while let Some(part) = parts.next() {
            let word = self.words.intern(part);
            let is_last = parts.peek().is_none();
            if let Some(row) = self.known.get(&(parent, word)).copied().filter(|_| !is_last) {
                parent = Some(row);
                continue;
            }
            let row = self.debug.ids.len() as u32;
            let (file, line) = source;
            let context = Context {
                parent,
                layer: Some(self.words.intern(LAYER)),
                kind: Some(word),
                // What is shown of an operation is the whole path; what it lies in has its own part.
                name: TextRef(self.texts.intern(if is_last { path } else { part }).0),
                source: (is_last && file != NameId::NONE)
                    .then(|| (self.words.intern(module.texts.get(file)), line)),
                ..Context::of(u64::from(row).saturating_add(1))
            };
            self.debug.push(context);
            if !is_last {
                self.known.insert((parent, word), row);
            }
            parent = Some(row);
        }
        parent.map_or(0, |row| u64::from(row).saturating_add(1))
    }

    fn done(self) -> DebugInfo {
        DebugInfo { words: self.words.into_names(), texts: self.texts.into_names(), ..self.debug }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::program::operations::operation;

    #[test]
    fn parts_of_paths_lie_within_each_other_and_the_whole_path_names_the_operation() {
        let mut module = HloModule::default();
        let file = module.texts.push("train.py");
        let mut adding = Adding { most: 100, ..Adding::default() };
        let first = adding.path("jit(f)/block/dot", &module, (file, 7));
        let block = adding.path("jit(f)/block", &module, (NameId::NONE, 0));
        let second = adding.path("jit(f)/block/add", &module, (file, 9));
        let debug = adding.done();
        let found = |id: u64| operation(&debug, debug.position(id).unwrap()).unwrap();
        assert_eq!(found(first).name.as_deref(), Some("jit(f)/block/dot"));
        assert_eq!(found(first).kind.as_deref(), Some("dot"));
        assert_eq!(found(first).location.as_deref(), Some("train.py:7"));
        assert_eq!(found(second).location.as_deref(), Some("train.py:9"));
        assert_eq!(found(block).name.as_deref(), Some("jit(f)/block"));
        let parent = |id: u64| debug.parent(debug.position(id).unwrap());
        assert_eq!(parent(first), parent(second), "both lie in the block");
        assert_eq!(debug.ids.len(), 5, "a path that others lie in is an operation of its own");
    }

    #[test]
    fn slashes_within_brackets_are_of_their_part() {
        let mut adding = Adding { most: 100, ..Adding::default() };
        let id = adding.path("jit(f)/jvp(a/b)/mul", &HloModule::default(), (NameId::NONE, 0));
        let debug = adding.done();
        let up = |row: usize| debug.parent(row);
        let row = debug.position(id).unwrap();
        let kind = |row: usize| operation(&debug, row).and_then(|one| one.kind);
        assert_eq!(kind(row).as_deref(), Some("mul"));
        assert_eq!(up(row).and_then(kind).as_deref(), Some("jvp(a/b)"));
        assert_eq!(up(row).and_then(up).and_then(kind).as_deref(), Some("jit(f)"));
        assert_eq!(debug.ids.len(), 3);
    }

    #[test]
    fn contexts_do_not_depend_on_the_order_of_instructions() {
        let paths = ["jit(f)/block", "jit(f)/block/dot", "jit(f)", "jit(f)/block/dot/x", "f//x"];
        let of = |paths: &[&str]| {
            let mut adding = Adding { most: 100, ..Adding::default() };
            for path in paths {
                adding.path(path, &HloModule::default(), (NameId::NONE, 0));
            }
            let debug = adding.done();
            let name = |row: u32| operation(&debug, row as usize).and_then(|one| one.name);
            let mut all: Vec<_> = (0..debug.ids.len() as u32)
                .map(|row| (name(row), debug.parent(row as usize).and_then(|up| name(up as u32))))
                .collect();
            all.sort();
            all
        };
        let mut reversed = paths;
        reversed.reverse();
        assert_eq!(of(&paths), of(&reversed));
        assert_eq!(of(&paths[..2]), of(&[paths[1], paths[0]]));
    }

    #[test]
    fn paths_of_many_parts_do_not_make_contexts_without_end() {
        let mut adding = Adding { most: 100, ..Adding::default() };
        for number in 0..100 {
            let path: String = (0..40).map(|part| format!("{number}.{part}/")).collect();
            adding.path(&format!("{path}dot"), &HloModule::default(), (NameId::NONE, 0));
        }
        let debug = adding.done();
        assert!(debug.ids.len() < 100 + 41 + 100, "{}", debug.ids.len());
        let last = operation(&debug, debug.ids.len() - 1).unwrap();
        assert!(last.name.unwrap().starts_with("99.0/99.1/"), "the whole path");
        assert_eq!(last.kind.as_deref(), Some("dot"));
    }
}
