//! What a module brings into a table of many runs: what it takes of a memory space.

use super::compared::{ComparedProgram, ProgramFigure};
use crate::analysis::program::report_options::{OptionKind, ReportOption};
use crate::analysis::sweep::{FigureKind, NoReference, Percents, SweepFacts, SweepFigure};
use crate::run::Verdict;

const fn kind(
    [key, word]: [&'static str; 2],
    [title, column]: [&'static str; 2],
    percents: Percents,
    rank: u8,
) -> FigureKind {
    FigureKind { percents, ..FigureKind::bytes([key, word], [title, column], Some(rank)) }
}

static FIGURES: [(ProgramFigure, FigureKind); 9] = [
    (
        ProgramFigure::Total,
        kind(["total_bytes", "total"], ["Reserved", "reserved"], Percents::OfBoth, 10),
    ),
    (
        ProgramFigure::Temporary,
        kind(["temporary_bytes", "temporary"], ["Temporary", "temporary"], Percents::No, 20),
    ),
    (
        ProgramFigure::TemporaryPeak,
        kind(
            ["temporary_peak_bytes", "temporary-peak"],
            ["Temporary, in use at most", "temporary in use"],
            Percents::OfReference,
            21,
        ),
    ),
    (
        ProgramFigure::Lost,
        kind(["lost_bytes", "lost"], ["Lost to packing", "lost to packing"], Percents::No, 22),
    ),
    (
        ProgramFigure::Padding,
        kind(["padding_bytes", "padding"], ["Padding at the peak", "padding"], Percents::No, 23),
    ),
    (
        ProgramFigure::Arguments,
        kind(["argument_bytes", "arguments"], ["Parameters", "parameters"], Percents::No, 24),
    ),
    (
        ProgramFigure::Donated,
        kind(["donated_bytes", "donated"], ["Donated parameters", "donated"], Percents::No, 25),
    ),
    (
        ProgramFigure::Outputs,
        kind(
            ["output_bytes", "outputs"],
            ["Results of their own", "own results"],
            Percents::No,
            26,
        ),
    ),
    (
        ProgramFigure::InUsePeak,
        kind(
            ["in_use_peak_bytes", "in-use-peak"],
            ["In use at most", "most in use"],
            Percents::No,
            27,
        ),
    ),
];

/// That of all allocations, which has a column of its own.
static NEEDED_OF_SPACE: FigureKind =
    FigureKind::bytes(["needed_bytes", "needed"], ["Needed", "needed"], None);

/// The facts of a memory space; `verdict` is that of the module.
pub(super) fn sweep_facts(
    side: &ComparedProgram,
    flags: &[(String, String)],
    verdict: Verdict,
) -> SweepFacts {
    let figure = |(of, kind): &'static (ProgramFigure, FigureKind)| {
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
        verdict,
        ..SweepFacts::default()
    }
}

const CUT: &str = "A file that is cut says what was in it until there, not what the run took.";

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
