//! The operations of a software layer with all that belongs to them: bytes, vertices, cycles, steps.
//!
//! [`crate::analysis::program::operations`] defines operations, and `comparison::owners` what belongs to them. Each
//! figure of all operations and the row of what belongs to none adds up to the whole; that row can be below 0 where
//! what several operations share counts for each of them.

mod by_tile;
mod modules;
mod runs;
mod table;

pub use by_tile::{FigureByTile, NotByTile, by_tile};
pub use modules::{Module, by_module};
pub use runs::{RunRow, side_by_side};
pub use table::{layers, table};

use crate::analysis::comparison::owners::Owners;
use crate::analysis::execution::Executed;
use crate::analysis::program::operations::Operation;
use crate::store::System;
use crate::text::{capitalised, words};

words! {
    /// What is said of an operation in a number.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum OperationFigure by key, title {
        /// Control code, code of internal exchanges, and code of vertex types that no other operation uses.
        Code = "code_bytes" | "Code",
        /// Of its programs, without that of their children: category `controlCode`.
        ControlCode = "control_code_bytes" | "Control code",
        /// Of its internal exchanges: category `internalExchangeCode`.
        ExchangeCode = "exchange_code_bytes" | "Exchange code",
        /// Of vertex types that only its compute sets use: category `vertexCode`.
        VertexCode = "vertex_code_bytes" | "Vertex code",
        /// Of the vertices of its compute sets: categories `vertexInstanceState`, `vertexFieldData`, `copyDescriptor`,
        /// `vectorListDescriptor`.
        VertexState = "vertex_state_bytes" | "Vertex state",
        /// Of its variables before lowering, whenever they live: all other categories.
        Variables = "variable_bytes" | "Variables",
        /// What of all that lives as long as the program.
        AlwaysLive = "always_live_bytes" | "Always live",
        /// What of all that is alive at the peak of the whole program.
        PeakLive = "peak_live_bytes" | "At the peak",
        /// The same at the step at which most of it is.
        WorstLive = "worst_live_bytes" | "At its worst step",
        /// Of its compute sets.
        Vertices = "vertices" | "Vertices",
        /// Recorded of its steps over all runs, each with those of the tile that took longest, of all IPUs together.
        Cycles = "cycles" | "Measured cycles",
        /// Estimated by the compiler, of the busiest tile, added up over its steps, each of which counts once.
        EstimatedCycles = "estimated_cycles" | "Estimated cycles",
        /// Estimated by the compiler, of all tiles, added up over its steps.
        EstimatedFlops = "estimated_flops" | "Estimated FLOPs",
        /// Programs that belong to it.
        Programs = "programs" | "Programs",
        /// Steps that are visits to them.
        Steps = "steps" | "Steps",
    }
}

impl OperationFigure {
    /// What it is called in the words of a system.
    pub fn title_in(self, system: &System) -> String {
        match self {
            Self::AlwaysLive => system.always_live.to_owned(),
            Self::Programs => capitalised(system.programs),
            _ => self.title().to_owned(),
        }
    }

    /// Whether it is of bytes.
    pub fn is_bytes(self) -> bool {
        self.key().ends_with("_bytes")
    }

    /// Whether operations add up to it: each one's worst step is its own.
    pub fn adds_up(self) -> bool {
        self != Self::WorstLive
    }

    /// The figures of which [`Self::Code`] consists.
    pub const CODE: [Self; 3] = [Self::ControlCode, Self::ExchangeCode, Self::VertexCode];
}

/// The operation of a step that ran on an IPU, a position in `Owners::operations`.
pub fn operation_of_span(executed: Executed<'_>, owners: &Owners, span: usize) -> Option<u32> {
    owners.of_program(executed.program_row(executed.step_of(span))?)
}

/// A number for each of [`OperationFigure::ALL`]; `None` where the report does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures([Option<i64>; OperationFigure::ALL.len()]);

impl Figures {
    /// A figure.
    pub fn get(&self, figure: OperationFigure) -> Option<i64> {
        self.0.get(figure as usize).copied().flatten()
    }

    pub(crate) fn set(&mut self, figure: OperationFigure, value: Option<i64>) {
        if let Some(cell) = self.0.get_mut(figure as usize) {
            *cell = value;
        }
    }

    /// Adds to a figure, from 0 where it is not there.
    pub(crate) fn add(&mut self, figure: OperationFigure, value: u64) {
        let sum = self.get(figure).unwrap_or(0).saturating_add_unsigned(value);
        self.set(figure, Some(sum));
    }

    /// Of sums lets go of what does not add up.
    pub fn keep_sums(&mut self) {
        for figure in OperationFigure::ALL.into_iter().filter(|figure| !figure.adds_up()) {
            self.set(figure, None);
        }
    }

    /// Adds those of another; what one of both does not say stays as the other has it.
    pub(crate) fn add_all(&mut self, other: &Self) {
        for (cell, more) in self.0.iter_mut().zip(other.0) {
            *cell = match (*cell, more) {
                (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
                (sum, more) => sum.or(more),
            };
        }
    }
}

/// An operation with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationRow {
    /// The operation; planner values are those of its first step.
    pub operation: Operation,
    /// The option `partialsType` at its first step.
    pub partials_type: Option<String>,
    /// Its figures.
    pub figures: Figures,
    /// The step at which most of it is alive, a position; `None` where nothing of it is ever alive.
    pub worst_step: Option<u32>,
    /// Its steps, positions, ascending.
    pub steps: Vec<u32>,
    /// The debug context of the first program that belongs to it, a row; of one that only variables have, `None`.
    pub context: Option<u32>,
}

/// All operations of a layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperationTable {
    /// In the order in which they first run.
    pub rows: Vec<OperationRow>,
    /// What belongs to none of them.
    pub rest: Figures,
    /// The whole, to which rows and rest add up.
    pub whole: Figures,
    /// The step of the peak of the whole program, a position.
    pub peak: Option<u32>,
}
