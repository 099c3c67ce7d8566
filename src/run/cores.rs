//! The cores of chips as a grid: what each has in use at one step.
//!
//! Cores are no arenas of the report: one arena stands for all cores of a chip, which have the same buffers at the same
//! addresses and differ in what only some of them hold.

use crate::store::ArenaId;

/// What the cores of a run hold at a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoresAtStep {
    /// The step, a position.
    pub step: usize,
    /// Whether most is in use at this step.
    pub is_fullest: bool,
    /// Cores of a line of the grid.
    pub columns: usize,
    /// Lines of the grid.
    pub lines: usize,
    /// The chips, one grid each.
    pub chips: Vec<ChipOfCores>,
    /// What is told of each core, the usual one first.
    pub figures: Vec<CoreFigure>,
    /// What the report does not say of this step; empty where it says all.
    pub note: String,
}

/// A chip, or several that hold the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChipOfCores {
    /// What it is called.
    pub title: String,
    /// The arena that stands for its cores.
    pub arena: ArenaId,
    /// Bytes that a core can hold, where that is known.
    pub limit_bytes: Option<u64>,
    /// What ran at the step: `ttnn.matmul`. `None` where the chip has no such step.
    pub operation: Option<String>,
}

/// One figure of every core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreFigure {
    /// What it is called.
    pub title: &'static str,
    /// What it counts.
    pub rule: &'static str,
    /// Whether the limit of a core is one of this figure.
    pub has_limit: bool,
    /// Bytes of each core, line by line, chip after chip; `None` where they are not known.
    pub bytes: Vec<Option<u64>>,
}

impl CoresAtStep {
    /// How many cores a grid has.
    pub fn cores_of_chip(&self) -> usize {
        self.columns.saturating_mul(self.lines)
    }

    /// The chip, the column and the line of a core.
    pub fn place_of(&self, core: usize) -> Option<(&ChipOfCores, usize, usize)> {
        let chip = self.chips.get(core.checked_div(self.cores_of_chip())?)?;
        let within = core.checked_rem(self.cores_of_chip())?;
        Some((chip, within.checked_rem(self.columns)?, within.checked_div(self.columns)?))
    }

    /// What a core is called: `Core 3, 5`, column and line; of several chips with its own.
    pub fn title_of(&self, core: usize) -> Option<String> {
        let (chip, column, line) = self.place_of(core)?;
        let title = format!("Core {column}, {line}");
        Some(if self.chips.len() > 1 { format!("{title} of {}", chip.title) } else { title })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_called_by_column_and_line() {
        let chip = |title: &str| ChipOfCores {
            title: title.to_owned(),
            arena: ArenaId(0),
            limit_bytes: None,
            operation: None,
        };
        let mut cores = CoresAtStep {
            columns: 3,
            lines: 2,
            chips: vec![chip("rank 0"), chip("rank 1")],
            ..CoresAtStep::default()
        };
        assert_eq!(cores.title_of(5).as_deref(), Some("Core 2, 1 of rank 0"));
        assert_eq!(cores.title_of(7).as_deref(), Some("Core 1, 0 of rank 1"));
        assert_eq!(cores.title_of(12), None);
        cores.chips.pop();
        assert_eq!(cores.title_of(1).as_deref(), Some("Core 1, 0"));
        assert_eq!(CoresAtStep::default().title_of(0), None);
    }
}
