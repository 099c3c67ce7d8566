//! What is said of each of several runs: whether it fits, or how it ended.

use super::Glance;
use crate::analysis::allocator::insights::verdict::Outcome;
use crate::text::capitalised;
use crate::ui::fit_words::fit_text;
use crate::ui::report::head::Answer;
use crate::ui::runs::Runs;
use crate::ui::widget::sign::Sign;

/// Whether all runs are memory snapshots, which say how they ended and of whose blocks none is called always live.
pub fn are_snapshots(glance: &Glance) -> bool {
    glance.outcomes.iter().all(Option::is_some)
}

/// Which memory snapshots ran out of memory.
pub fn how_they_ended(outcomes: &[Option<Outcome>], name: &dyn Fn(usize) -> String) -> Answer {
    let places = |wanted: Outcome| {
        let all = outcomes.iter().enumerate();
        all.filter(|(_, of)| **of == Some(wanted)).map(|(place, _)| place).collect::<Vec<_>>()
    };
    let failed = places(Outcome::OutOfMemory);
    let count = outcomes.len();
    match failed.as_slice() {
        [] if places(Outcome::Ran).len() == count => {
            let of =
                if count == 2 { "either run".to_owned() } else { format!("any of {count} runs") };
            (Sign::Fits, format!("No request failed in {of}"))
        }
        [] => (Sign::Note, "Whether a request failed is not recorded of all runs".to_owned()),
        [one] => (Sign::Over, format!("{} ran out of memory", name(*one))),
        all if all.len() == count => {
            (Sign::Over, if count == 2 { "Both" } else { "All" }.to_owned() + " ran out of memory")
        }
        some => (Sign::Over, format!("{} of {count} ran out of memory", some.len())),
    }
}

/// What is said of a run in a word or two.
pub fn verdict_text(runs: &Runs, (glance, place): (&Glance, usize)) -> String {
    match glance.outcomes.get(place).copied().flatten() {
        Some(Outcome::OutOfMemory) => return "Out of memory".to_owned(),
        Some(Outcome::Ran) => return "Ran".to_owned(),
        Some(Outcome::Cut) => return Outcome::Cut.title().to_owned(),
        Some(Outcome::NotRecorded) | None => {}
    }
    let fit = glance.facts.get(place).and_then(|facts| facts.fit);
    let fit = fit.map(|fit| capitalised(&fit_text(fit, Some(runs.system()))));
    fit.unwrap_or_else(|| "Not known".to_owned())
}

/// The sign of the same.
pub fn sign(glance: &Glance, place: usize) -> Sign {
    let fits = glance.facts.get(place).and_then(|facts| facts.fit).map(|fit| fit.fits);
    Sign::of(match glance.outcomes.get(place).copied().flatten() {
        Some(Outcome::OutOfMemory) => Some(false),
        Some(Outcome::Ran) => Some(true),
        Some(Outcome::Cut | Outcome::NotRecorded) | None => fits,
    })
}
