//! The figures of programs side by side: what is reserved by kind, what is in use, and counts.

use super::ComparedProgram;
use crate::analysis::figures::difference::Difference;
use crate::analysis::variants::percent;
use crate::systems::xla::buffer_assignment::space::ProgramFigure;

/// A figure of several programs, the first of which is the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedFigure {
    /// Which it is.
    pub figure: ProgramFigure,
    /// Of each program.
    pub values: Vec<Option<u64>>,
}

impl ComparedFigure {
    /// The figure of a program beside that of the first.
    pub fn difference(&self, place: usize) -> Difference {
        let value = |place: usize| self.values.get(place).copied().flatten();
        Difference::of([value(0), value(place)])
    }

    /// The figure of a program in percent of the first's, one decimal, half up.
    pub fn percent_of_source(&self, place: usize) -> Option<f64> {
        let value = |place: usize| self.values.get(place).copied().flatten();
        percent(value(place)?, value(0)?)
    }
}

/// All figures of programs.
pub fn compared_figures(sides: &[&ComparedProgram]) -> Vec<ComparedFigure> {
    let of = |figure: ProgramFigure| ComparedFigure {
        figure,
        values: sides.iter().map(|side| figure.of(&side.figures)).collect(),
    };
    ProgramFigure::ALL.into_iter().map(of).collect()
}
