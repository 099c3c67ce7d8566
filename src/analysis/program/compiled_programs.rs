//! The programs of one compilation step with what the report says of each: name, calls, callers, steps.
//!
//! The name of a program is its own; of an `OnTileExecute` without one its compute set's, of an exchange
//! with the host without one those of its streams.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::store::exchange::Transfer;
use crate::store::program::{ProgramTree, Programs};
use crate::store::{FunctionId, Report};

/// The programs of a compilation step.
#[derive(Clone, Copy, Debug)]
pub struct CompiledPrograms<'a> {
    /// The report.
    pub report: &'a Report,
    /// Its programs; all numbers of programs are positions in them.
    pub programs: &'a Programs,
    /// What they start from and call.
    pub tree: &'a ProgramTree,
}

impl<'a> CompiledPrograms<'a> {
    /// Those of a compilation step, a position in [`crate::store::program::ProgramTrees::steps`]; `None` where
    /// they are not there, or not yet.
    pub fn at(report: &'a Report, step: usize) -> Option<Self> {
        let tree = report.program_trees.get()?.steps.get(step)?;
        let programs = tree.programs.as_ref().or_else(|| report.programs.get())?;
        Some(Self { report, programs, tree })
    }

    /// A number that those have in common which have the same ids and lie in the same tree, whatever they are called: so
    /// a report need not be kept to be compared with.
    pub fn tree_hash(&self) -> u64 {
        let (programs, tree) = (self.programs, self.tree);
        let mut hasher = DefaultHasher::new();
        programs.ids.as_slice().hash(&mut hasher);
        programs.children_ends.hash(&mut hasher);
        programs.children.hash(&mut hasher);
        tree.control.hash(&mut hasher);
        tree.functions.hash(&mut hasher);
        hasher.finish()
    }

    /// The kind of a program, as the file calls it.
    pub fn kind(&self, program: usize) -> Option<&'a str> {
        self.programs.kind(program)
    }

    /// Its own name.
    pub fn own_name(&self, program: usize) -> Option<&'a str> {
        self.programs.names.at(program).filter(|name| !name.is_empty())
    }

    /// The name of the compute set that it runs.
    pub fn compute_set_name(&self, program: usize) -> Option<&'a str> {
        let set = (*self.programs.compute_sets.get(program)?)?;
        let sets = self.report.compute_sets.get()?;
        sets.names.at(sets.ids.position(set)?).filter(|name| !name.is_empty())
    }

    /// The names of the streams that it moves data of.
    pub fn stream_names(&self, program: usize) -> impl Iterator<Item = &'a str> {
        self.transfers(program).iter().filter_map(Transfer::host_name)
    }

    fn transfers(&self, program: usize) -> &'a [Transfer] {
        let exchange = self.programs.exchanges.get(program).copied().flatten();
        let found = exchange.and_then(|id| {
            let exchanges = self.report.exchanges.get()?;
            Some(exchanges.transfers_of(exchanges.position(id)?))
        });
        found.unwrap_or_default()
    }

    /// What people know it by.
    pub fn name(&self, program: usize) -> Option<&'a str> {
        let own = self.own_name(program).or_else(|| self.compute_set_name(program));
        own.or_else(|| self.stream_names(program).next())
    }

    /// The function that it calls, with the function's program.
    pub fn callee(&self, program: usize) -> Option<(FunctionId, usize)> {
        let function = self.tree.callee(self.programs.ids.get(program)?)?;
        Some((function, self.programs.ids.position(self.tree.function(function)?)?))
    }

    /// The programs that call a function, in the order of their ids.
    pub fn callers(&self, function: FunctionId) -> Vec<usize> {
        let all = self.tree.callers.as_slice().iter().zip(&self.tree.callees);
        let callers = all.filter(|(_, callee)| **callee == function);
        callers.filter_map(|(caller, _)| self.programs.ids.position(*caller)).collect()
    }

    /// How often it repeats its children, where the compiler knows.
    pub fn repeat_count(&self, program: usize) -> Option<u64> {
        self.tree.repeat_count(self.programs.ids.get(program)?)
    }

    /// Whether these are the programs that the steps of liveness visit.
    pub fn is_final(&self) -> bool {
        self.tree.programs.is_none()
    }
}
