//! Programs and the steps of the depth-first walk over them.

use std::collections::BTreeMap;

use super::exchange::ExchangeId;
use super::ids::{ComputeSetId, DeviceId, FunctionId, IdColumn, ProgramId, StepId};
use super::list_at;
use super::names::{NameId, Names};

/// Columns of `programs`, of one compilation step.
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

/// How the programs of one compilation step hang together beside their children.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ProgramTree {
    /// The name of an earlier compilation step (`compilation_steps`); `None` of the final one.
    pub name: Option<String>,
    /// The programs of an earlier step; those of the final one are [`crate::store::Report::programs`].
    pub programs: Option<Programs>,
    /// What an engine runs (`control_programs`), in the order of the file.
    pub control: Vec<ProgramId>,
    /// Functions (`function_programs`).
    pub function_ids: IdColumn<FunctionId>,
    /// The program of each function.
    pub functions: Vec<ProgramId>,
    /// Programs that call a function.
    pub callers: IdColumn<ProgramId>,
    /// The function that each of them calls (`program_type_call`).
    pub callees: Vec<FunctionId>,
    /// Programs that repeat their children a number of times that the compiler knows.
    pub repeats: IdColumn<ProgramId>,
    /// How often each of them does (`program_type_repeat`).
    pub repeat_counts: Vec<u64>,
}

impl ProgramTree {
    /// The function that a program calls.
    pub fn callee(&self, caller: ProgramId) -> Option<FunctionId> {
        self.callees.get(self.callers.position(caller)?).copied()
    }

    /// The program of a function.
    pub fn function(&self, id: FunctionId) -> Option<ProgramId> {
        self.functions.get(self.function_ids.position(id)?).copied()
    }

    /// How often a program repeats its children.
    pub fn repeat_count(&self, program: ProgramId) -> Option<u64> {
        self.repeat_counts.get(self.repeats.position(program)?).copied()
    }
}

/// The programs of every compilation step that the report has, the final one first, the others in the
/// order of the file.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ProgramTrees {
    /// The compilation steps.
    pub steps: Vec<ProgramTree>,
}

/// Columns of `depth_first_steps`: the step list of liveness.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Steps {
    /// The steps.
    pub ids: IdColumn<StepId>,
    /// The program that each step is a visit to.
    pub programs: Vec<ProgramId>,
    /// The step that contains each; empty where no step contains another.
    pub parents: Vec<Option<StepId>>,
    /// The programs of each device's own steps, where devices count steps separately; else empty. `programs` then has those of
    /// the device that is shown first.
    #[serde(skip)]
    pub by_device: BTreeMap<DeviceId, Vec<ProgramId>>,
}

impl Steps {
    /// The programs of the steps, in the order of these: of a device, or of all.
    pub fn programs_of(&self, device: Option<DeviceId>) -> &[ProgramId] {
        device.and_then(|device| self.by_device.get(&device)).unwrap_or(&self.programs)
    }

    /// How many steps a device has, or there are.
    pub fn count_of(&self, device: Option<DeviceId>) -> usize {
        let of_device = device.and_then(|device| self.by_device.get(&device));
        of_device.map_or(self.ids.len(), Vec::len)
    }
}
