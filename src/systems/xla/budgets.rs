//! The figures of an XLA module that budgets limit.
//!
//! The total is what a memory space reserves, because that is what the device must have. The peak is the memory
//! reserved throughout plus the temporary peak, as in liveness: parameters, results and constants count whether they
//! are in use then or not. Both are of the main memory, or of the one that is named.

use super::buffer_assignment::insights::need_of_space;
use super::buffer_assignment::program::AnalysedModule;
use super::compared::ComparedModule;
use crate::run::{AtLeast, BudgetFacts, BudgetFigure, BudgetedFigure, Need};

/// Of a memory space, or of the main memory; `None` where it does not have it.
pub(super) fn need(program: &AnalysedModule, device: Option<i64>) -> Option<Need> {
    let of = ComparedModule::of(program, device.unwrap_or(0))?;
    Some(need_of_space(program, of.figures.color, of.figures.total_bytes))
}

/// Of a memory space, or of the main memory; `None` where it does not have it.
pub(super) fn budgets(program: &AnalysedModule, device: Option<i64>) -> Option<BudgetFacts> {
    let of = ComparedModule::of(program, device.unwrap_or(0))?;
    // `None` where neither the order of instructions is known nor XLA's simulation of what is temporary.
    let temporary = of.figures.temporary_peak_bytes();
    let throughout = of.figures.throughout_bytes();
    let unknown = "the file does not say when values live";
    let figure = |figure, subject, bytes| BudgetedFigure {
        at_least: of.is_cut.then_some(AtLeast::CUT),
        ..BudgetedFigure::of(figure, [subject, "is"], bytes, unknown)
    };
    Some(BudgetFacts {
        figures: vec![
            figure(BudgetFigure::Total, "the reserved memory", Some(of.figures.total_bytes)),
            figure(
                BudgetFigure::Peak,
                "the memory reserved throughout with the temporary peak",
                temporary.map(|temporary| throughout.saturating_add(temporary)),
            ),
        ],
        need: need_of_space(program, of.figures.color, of.figures.total_bytes),
        own: String::new(),
    })
}
