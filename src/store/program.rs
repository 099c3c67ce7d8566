//! Programs and the steps of the depth-first walk over them.

use super::exchange::ExchangeId;
use super::ids::{ComputeSetId, IdColumn, ProgramId, StepId};
use super::list_at;
use super::names::{NameId, Names};

/// Columns of `programs`, the final compilation step only.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Programs {
    /// The programs.
    pub ids: IdColumn<ProgramId>,
    /// Row in `kind_names`; `None` where the type is not in the file.
    pub kinds: Vec<Option<NameId>>,
    /// Names of kinds (`program_types`), `OnTileExecute` for example.
    pub kind_names: Names,
    /// Names of programs, empty for none.
    pub names: Names,
    /// Debug context of each program, 0 for none.
    pub debug_ids: Vec<u64>,
    /// The compute set that an `OnTileExecute` runs.
    pub compute_sets: Vec<Option<ComputeSetId>>,
    /// The exchange that a program of such a kind runs.
    pub exchanges: Vec<Option<ExchangeId>>,
    /// Children of all programs, end to end.
    pub children: Vec<ProgramId>,
    /// Where each program's children end in `children`.
    pub children_ends: Vec<usize>,
}

impl Programs {
    /// The kind of a program, `None` where the file does not name it.
    pub fn kind(&self, position: usize) -> Option<&str> {
        let name = (*self.kinds.get(position)?)?;
        Some(self.kind_names.get(name))
    }

    pub(crate) fn children_of(&self, position: usize) -> &[ProgramId] {
        list_at(&self.children, &self.children_ends, position)
    }
}

/// Columns of `depth_first_steps`: the step list of liveness.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Steps {
    /// The steps.
    pub ids: IdColumn<StepId>,
    /// The program that each step is a visit to.
    pub programs: Vec<ProgramId>,
    /// The step that contains it.
    pub parents: Vec<Option<StepId>>,
}
