//! The facts of the slot in view: its steps, what they do, and the largest live variables.

use eframe::egui;
use std::sync::Arc;

use super::tables::{OF_VARIABLES, VariablesAt};
use super::timelines::SlotTimelines;
use crate::analysis::program::steps::{StepFacts, facts};
use crate::run::beside_curve::StepSaid;
use crate::ui::report::figures::FigureEntry;
use crate::ui::report::moment::Moment;
use crate::ui::runs::{Needed, Needs, PerRun, Run, Runs, RunsAnswer};

/// What a step did is asked of the run.
const OF_STEPS: Needs = &[Needed::Liveness, Needed::Axis];
const MOST_VARIABLES: usize = 8;

/// The largest variables alive in a slot, and how many there are besides.
type LargestVariables = (Vec<FigureEntry>, usize);

/// The facts of a slot, kept while it is looked at.
#[derive(Default)]
pub struct SlotFacts {
    made_for: Option<(usize, u64, bool)>,
    moment: Option<Moment>,
    /// Of each run's step, of those that have one there.
    pub of_runs: Vec<Option<StepFacts>>,
    said: RunsAnswer<(usize, u64), PerRun<Option<StepSaid>>>,
    largest: RunsAnswer<(usize, u64), Option<LargestVariables>>,
}

impl SlotFacts {
    /// Gathers the facts of a slot, unless they are there; what is alive comes from beside the window.
    pub fn prepare(
        &mut self,
        ctx: &egui::Context,
        runs: &Arc<Runs>,
        timelines: &Arc<SlotTimelines>,
        slot: usize,
    ) {
        let key = (slot, timelines.version, runs.is_settled(&[Needed::Debug]));
        if self.made_for != Some(key) {
            let moment = Moment::at_slot(&timelines.axis, slot);
            let facts = |(place, run): (usize, &Run)| {
                facts(&run.report, timelines.device(run), moment.step_there(place)?)
            };
            self.of_runs = runs.iter().enumerate().map(facts).collect();
            self.moment = Some(moment);
            self.made_for = Some(key);
        }
        let (key, timelines) = ((slot, timelines.version), Arc::clone(timelines));
        let (axis, scope) = (Arc::clone(&timelines.axis), timelines.scope);
        self.said.ask("what steps did", ctx, (runs, OF_STEPS), &key, move |runs, _| {
            let said = |(place, run): (usize, &Run)| {
                run.derived.answers().step_said(&run.derived, scope, axis.step(place, slot)?)
            };
            runs.iter().enumerate().map(said).collect()
        });
        let needs = (runs, OF_VARIABLES);
        self.largest.ask("variables in a slot", ctx, needs, &key, move |runs, _| {
            let entries = VariablesAt::in_slot(runs, &timelines, slot).entries(runs).ok()?;
            let mut variables = entries.list;
            variables.retain(|entry| entry.figures.iter().flatten().any(|bytes| *bytes > 0));
            let most = |entry: &FigureEntry| entry.figures.iter().copied().max();
            variables.sort_by_key(|entry| std::cmp::Reverse(most(entry)));
            let others = variables.len().saturating_sub(MOST_VARIABLES);
            variables.truncate(MOST_VARIABLES);
            Some((variables, others))
        });
    }

    pub fn moment(&self) -> Option<&Moment> {
        self.moment.as_ref()
    }

    /// The facts of the first run that has a step there.
    pub fn first(&self) -> Option<&StepFacts> {
        self.of_runs.iter().flatten().next()
    }

    /// The same, as far as it is this slot that was looked at last.
    pub fn first_in(&self, slot: usize) -> Option<&StepFacts> {
        self.first().filter(|_| self.made_for.is_some_and(|(of, ..)| of == slot))
    }

    /// What the step of each run in a slot did, once that is known.
    pub fn said(&self, runs: &Runs, key: &(usize, u64)) -> &[Option<StepSaid>] {
        self.said.get((runs, OF_STEPS), key).map_or(&[], |said| said)
    }

    /// What is alive; nothing where variables are not there, and what to say while it is looked for. Those of
    /// the slot before stay until then.
    pub fn largest(
        &self,
        runs: &Runs,
        key: &(usize, u64),
    ) -> Result<Option<&LargestVariables>, &str> {
        let found = self.largest.get((runs, OF_VARIABLES), key);
        match found.or_else(|| Some(self.largest.last(runs)?.1)) {
            Some(found) => Ok(found.as_ref()),
            None => Err(self.largest.failure().unwrap_or("Looking for the largest variables…")),
        }
    }
}
