//! The verdict before and after the change, by which all other conclusions are weighed.

use super::{ChangeEvidence, ChangeInsight, ChangeKind};
use crate::analysis::comparison::figures::Unit;
use crate::analysis::comparison::machine::are_same_machine;
use crate::analysis::figures::difference::Difference;
use crate::analysis::memory::{cell, totals};
use crate::store::Report;
use crate::systems::poplar::insights::verdict::{TilesVerdict, verdict};
use crate::text::{counted, grouped};

/// What is known of the fit of both reports.
pub struct FitOfBoth {
    verdicts: [Option<TilesVerdict>; 2],
    /// Bytes of the fullest tile of each, gaps included.
    pub fullest: Difference,
    /// Whether bytes of all tiles of both are of the same machine.
    pub is_same_machine: bool,
}

impl FitOfBoth {
    pub fn of(reports: [&Report; 2]) -> Self {
        let is_same_machine = are_same_machine(reports);
        let fullest = fullest_bytes(reports);
        Self { verdicts: reports.map(verdict), fullest, is_same_machine }
    }

    /// Whether source and target fit.
    pub fn fits(&self) -> [Option<bool>; 2] {
        self.verdicts.each_ref().map(|verdict| Some(verdict.as_ref()?.fits))
    }

    fn tiles_over(&self) -> [Option<u64>; 2] {
        self.of_failure(|failure| failure.tiles_over)
    }

    /// Bytes that tiles are over.
    pub fn over(&self) -> Difference {
        Difference::of(self.of_failure(|failure| failure.over_bytes))
    }

    fn of_failure(
        &self,
        of: impl Fn(&crate::systems::poplar::insights::verdict::TilesFailure) -> u64,
    ) -> [Option<u64>; 2] {
        self.verdicts
            .each_ref()
            .map(|verdict| Some(verdict.as_ref()?.failure.as_ref().map_or(0, &of)))
    }

    /// Whether less memory is better: not where both fit, and not known where the reports are of different
    /// machines or do not say whether they fit.
    pub fn is_less_better(&self) -> bool {
        let [before, after] = self.fits();
        let decides = before.zip(after).is_some_and(|(before, after)| !(before && after));
        decides && self.is_same_machine
    }

    /// The first conclusion.
    pub fn insight(&self) -> ChangeInsight {
        let over = self.over();
        let change = over.change().filter(|change| *change != 0 && self.is_same_machine);
        let is_better = match self.fits() {
            [Some(before), Some(after)] if before != after => Some(after),
            [Some(false), Some(false)] => change.map(|change| change < 0),
            _ => None,
        };
        let tiles = Difference::of(self.tiles_over());
        let fullest = ChangeEvidence::bytes("fullest_tile_including_gaps_bytes", self.fullest);
        let over = ChangeEvidence::bytes("over_limit_bytes", over);
        let may_fit = |fits: Option<bool>| fits != Some(false);
        let bytes = if self.fits().into_iter().all(may_fit) {
            [fullest.titled("The fullest tile, with gaps"), over]
        } else {
            [over.titled("Over the limit"), fullest]
        };
        ChangeInsight::new(ChangeKind::Fits, self.sentences(), is_better).with(
            [ChangeEvidence::flags("fits", self.fits())]
                .into_iter()
                .chain([ChangeEvidence::number("tiles_over_limit", Unit::Count, tiles)])
                .chain(bytes),
        )
    }

    fn sentences(&self) -> String {
        let [before, after] = self.tiles_over().map(|tiles| tiles.unwrap_or(0));
        match self.fits() {
            [Some(true), Some(true)] => "It fit before and still fits".to_owned(),
            [Some(true), Some(false)] => {
                format!("It fit before and no longer fits: {}", are_over(after))
            }
            [Some(false), Some(true)] => {
                format!("It did not fit before and fits now: {} over before", were(before))
            }
            [Some(false), Some(false)] if before == after => {
                format!("It did not fit before and still does not: {}, as before", are_over(after))
            }
            [Some(false), Some(false)] => format!(
                "It did not fit before and still does not: {}, and {} over before",
                are_over(after),
                if before == 1 { "1 was".to_owned() } else { format!("{} were", grouped(before)) }
            ),
            [None, Some(true)] => "It fits now. It is not known whether it fit before".to_owned(),
            [None, Some(false)] => format!(
                "It does not fit now: {}. It is not known whether it fit before",
                are_over(after)
            ),
            [Some(true), None] => "It fit before. It is not known whether it still fits".to_owned(),
            [Some(false), None] => {
                format!(
                    "It did not fit before: {} over. It is not known whether it fits now",
                    were(before)
                )
            }
            [None, None] => "It is not known whether it fits, neither before nor after".to_owned(),
        }
    }
}

fn are_over(tiles: u64) -> String {
    let rest = if tiles == 1 { "is over its limit" } else { "are over their limit" };
    format!("{} {rest}", counted(tiles, "tile"))
}

fn were(tiles: u64) -> String {
    format!("{} {}", counted(tiles, "tile"), if tiles == 1 { "was" } else { "were" })
}

fn fullest_bytes(reports: [&Report; 2]) -> Difference {
    Difference::of(reports.map(|report| {
        let memory = report.memory.get()?;
        cell(&memory.including_gaps, totals(memory, report.target.get()).fullest?)
    }))
}
