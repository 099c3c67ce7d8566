//! What is said of each of several runs: whether it fits, or how it ended.

use super::Glance;
use crate::analysis::comparison::at_a_glance::RunFacts;
use crate::analysis::comparison::run_verdict::RunVerdict;
use crate::systems::pytorch::allocator::run_end::Outcome;
use crate::text::capitalised;
use crate::ui::report::head::Answer;
use crate::ui::runs::Runs;
use crate::ui::widget::sign::Sign;

/// Whether all runs are memory snapshots, which say how they ended and of whose blocks none is called always live.
pub fn are_snapshots(glance: &Glance) -> bool {
    glance.facts.iter().all(|facts| matches!(facts.verdict, Some(RunVerdict::Ended(_))))
}

/// Which memory snapshots ran out of memory.
pub fn how_they_ended(runs: &[RunFacts], name: &dyn Fn(usize) -> String) -> Answer {
    let places = |wanted: Outcome| {
        let is_wanted = |facts: &RunFacts| facts.verdict == Some(RunVerdict::Ended(wanted));
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
        [] => (Sign::Note, "Whether a request failed is not recorded of all runs".to_owned()),
        [one] => (Sign::Over, format!("{} ran out of memory", name(*one))),
        all if all.len() == count => {
            (Sign::Over, if count == 2 { "Both" } else { "All" }.to_owned() + " ran out of memory")
        }
        some => (Sign::Over, format!("{} of {count} ran out of memory", some.len())),
    }
}

/// What is said of a run in a word or two.
pub fn verdict_text(runs: &Runs, facts: &RunFacts) -> String {
    let verdict = facts.verdict.map(|verdict| verdict.text(Some(runs.system())));
    capitalised(&verdict.unwrap_or_else(|| "not known".to_owned()))
}

/// The sign of the same.
pub fn sign(facts: &RunFacts) -> Sign {
    Sign::of(facts.verdict.and_then(RunVerdict::went_well))
}
