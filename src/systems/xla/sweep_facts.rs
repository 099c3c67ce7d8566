//! The facts of a module for a sweep: the memory that it takes in a memory space.

use super::compared::{ComparedModule, ModuleFigure};
use crate::analysis::program::report_options::{OptionKind, ReportOption};
use crate::analysis::sweep::{FigureKind, NoReference, Percents, SweepFacts, SweepFigure};

/// A figure as a comparison calls it: its name as an argument, and what stands above its column.
const fn kind(
    figure: ModuleFigure,
    [word, column]: [&'static str; 2],
    percents: Percents,
    rank: u8,
) -> (ModuleFigure, FigureKind) {
    let bytes = FigureKind::bytes([figure.key(), word], [figure.title(), column], Some(rank));
    (figure, FigureKind { percents, ..bytes })
}

static FIGURES: [(ModuleFigure, FigureKind); 9] = [
    kind(ModuleFigure::Total, ["total", "reserved"], Percents::OfBoth, 10),
    kind(ModuleFigure::Temporary, ["temporary", "temporary"], Percents::No, 20),
    kind(
        ModuleFigure::TemporaryPeak,
        ["temporary-peak", "temporary in use"],
        Percents::OfReference,
        21,
    ),
    kind(ModuleFigure::Lost, ["lost", "lost to packing"], Percents::No, 22),
    kind(ModuleFigure::Padding, ["padding", "padding"], Percents::No, 23),
    kind(ModuleFigure::Arguments, ["arguments", "parameters"], Percents::No, 24),
    kind(ModuleFigure::Donated, ["donated", "donated"], Percents::No, 25),
    kind(ModuleFigure::Outputs, ["outputs", "own results"], Percents::No, 26),
    kind(ModuleFigure::InUsePeak, ["in-use-peak", "most in use"], Percents::No, 27),
];

/// That of all allocations, which has a column of its own.
static NEEDED_OF_SPACE: FigureKind =
    FigureKind::bytes(["needed_bytes", "needed"], ["Needed", "needed"], None);

/// The facts of a memory space.
pub(super) fn sweep_facts(side: &ComparedModule, flags: &[(String, String)]) -> SweepFacts {
    let figure = |(of, kind): &'static (ModuleFigure, FigureKind)| {
        SweepFigure::count(kind, of.of(&side.figures)).at_least(side.is_cut)
    };
    let needed = SweepFigure::count(&NEEDED_OF_SPACE, Some(side.figures.total_bytes));
    let options = ReportOption::settings(flags);
    SweepFacts {
        kinds: options.first().map(|_| OptionKind::Setting).into_iter().collect(),
        options,
        figures: FIGURES.iter().map(figure).chain([needed.at_least(side.is_cut)]).collect(),
        why_no_reference: side.is_cut.then_some(NoReference::NotWhole),
        is_whole: !side.is_cut,
        notes: side.is_cut.then_some(CUT).into_iter().collect(),
        ..SweepFacts::default()
    }
}

const CUT: &str = "A cut file shows the run only up to the cut, not all that the run took.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_called_as_in_a_comparison() {
        for (of, kind) in &FIGURES {
            assert_eq!((of.key(), of.title()), (kind.key, kind.title));
        }
    }
}
