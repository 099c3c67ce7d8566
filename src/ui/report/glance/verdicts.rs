//! The verdict of each of several runs.

use super::Glance;
use crate::analysis::comparison::at_a_glance::RunFacts;
use crate::run::Outcome;
use crate::text::capitalised;
use crate::ui::report::head::SignedAnswer;
use crate::ui::widget::sign::Sign;

/// Whether the runs say how they ended, and not whether they fit.
pub fn have_ended(glance: &Glance) -> bool {
    let outcomes = || glance.facts.iter().filter_map(outcome);
    outcomes().any(|one| matches!(one, Outcome::Ran | Outcome::OutOfMemory))
        && outcomes().all(|one| one.fits().is_none())
}

fn outcome(facts: &RunFacts) -> Option<Outcome> {
    Some(facts.verdict.as_ref()?.outcome)
}

/// Which of the runs ran out of memory.
pub fn how_they_ended(runs: &[RunFacts], name: &dyn Fn(usize) -> String) -> SignedAnswer {
    let places = |wanted: Outcome| {
        let is_wanted = |facts: &RunFacts| outcome(facts) == Some(wanted);
        let all = runs.iter().enumerate().filter(|(_, facts)| is_wanted(facts));
        all.map(|(place, _)| place).collect::<Vec<_>>()
    };
    let failed = places(Outcome::OutOfMemory);
    let count = runs.len();
    match failed.as_slice() {
        [] if places(Outcome::Ran).len() == count => {
            let of =
                if count == 2 { "either run".to_owned() } else { format!("any of {count} runs") };
            (Sign::Fits, format!("No request failed in {of}"))
        }
        [] => (Sign::Plain, "Not all runs record whether a request failed".to_owned()),
        [one] => (Sign::Over, format!("{} ran out of memory", name(*one))),
        all if all.len() == count => {
            (Sign::Over, if count == 2 { "Both" } else { "All" }.to_owned() + " ran out of memory")
        }
        some => (Sign::Over, format!("{} of {count} ran out of memory", some.len())),
    }
}

/// What is said of a run in a word or two.
pub fn verdict_text(facts: &RunFacts) -> String {
    let verdict = facts.verdict.as_ref();
    capitalised(verdict.map_or(Outcome::Unknown.word(), |verdict| &verdict.short))
}

pub fn sign(facts: &RunFacts) -> Sign {
    Sign::of(outcome(facts).and_then(Outcome::went_well))
}
