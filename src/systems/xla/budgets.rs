//! The figures of an XLA module that budgets limit.
//!
//! The total is what a memory space reserves, because that is what the device must have. The peak is the memory
//! reserved throughout plus the temporary peak, as in liveness: parameters, results and constants count whether they
//! are in use then or not. Both are of the main memory, or of the one that is named.

use super::buffer_assignment::program::AnalysedModule;
use super::compared::ComparedModule;
use crate::run::{
    BudgetFacts, BudgetFigure, BudgetedFigure, FitFacts, NeededBytes, Outcome, Room, StatedRoom,
};
use crate::text::bytes;

/// Why a module fails that would fit by its figures.
const REFUSED: &str = "XLA refused it";

/// Of a memory space, or of the main memory; `None` where it does not have it.
pub(super) fn budgets(
    program: &AnalysedModule,
    device: Option<i64>,
    room: Room,
) -> Option<BudgetFacts> {
    let color = device.unwrap_or(0);
    let of = ComparedModule::of(program, color)?;
    // `None` where neither the order of instructions is known nor XLA's simulation of what is temporary.
    let temporary = of.figures.temporary_peak_bytes();
    let throughout = of.figures.throughout_bytes();
    let unknown = "the file does not say when values live";
    let figure =
        |figure, subject, bytes| BudgetedFigure::of(figure, [subject, "is"], bytes, unknown);
    let why_at_least =
        of.is_cut.then_some("the file ends before its contents do, so it may be more");
    Some(BudgetFacts {
        device: Some(color),
        title: program.color_title(color),
        figures: vec![
            figure(BudgetFigure::Total, "the reserved memory", Some(of.figures.total_bytes)),
            figure(
                BudgetFigure::Peak,
                "the memory reserved throughout with the temporary peak",
                temporary.map(|temporary| throughout.saturating_add(temporary)),
            ),
        ],
        why_at_least,
        fit: fit(&of, room, why_at_least),
    })
}

fn fit(of: &ComparedModule, room: Room, why_at_least: Option<&'static str>) -> FitFacts {
    let total = of.figures.total_bytes;
    let known =
        room.or_stated(StatedRoom { capacity_bytes: of.stated_capacity_bytes, other_bytes: None });
    let why_not = match of.fit(room) {
        Outcome::Fits => None,
        Outcome::DoesNotFit => Some(REFUSED),
        _ => Some(why_at_least.unwrap_or("it is not known whether it fits")),
    };
    if known.is_none() && why_not == Some(REFUSED) {
        let text = format!("it reserves {}, which XLA refused", bytes(total));
        return FitFacts::unknown(REFUSED, text);
    }
    let needed = NeededBytes {
        verb: "reserves",
        bytes: total,
        is_at_least: of.is_cut,
        why_not,
        is_of_window: false,
        stated_by: "",
    };
    FitFacts::of_room(needed, known)
}
