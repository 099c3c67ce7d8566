//! What a run that a message is about advises: techniques with what each saves there.

use std::collections::HashMap;

use super::super::output::{opened, with_progress, wrapped};
use crate::diagnose::Finding;
use crate::run::joined_logs::RunOfMessage;
use crate::run::{Advice, Room};
use crate::systems::{self, of_process};
use crate::text::{bytes, clean};

/// Pieces of advice that are said.
const MOST: usize = 3;
/// Runs that are opened for it.
const MOST_RUNS: usize = 4;

/// The advice of the runs that were asked so far.
#[derive(Default)]
pub struct AdviceOfRuns {
    known: HashMap<(RunOfMessage, Option<u64>), Vec<Advice>>,
}

impl AdviceOfRuns {
    /// The best advice of a run where the device has what a message says; none of a run that cannot be opened, or when
    /// many were.
    pub fn of(&mut self, run: &RunOfMessage, finding: &Finding) -> Vec<Advice> {
        let key = (run.clone(), finding.limit_bytes);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        if self.known.len() >= MOST_RUNS {
            return Vec::new();
        }
        let advice = asked(run, finding).unwrap_or_default();
        self.known.insert(key, advice.clone());
        advice
    }
}

fn asked(run: &RunOfMessage, finding: &Finding) -> Option<Vec<Advice>> {
    with_progress("Reading the run", |progress| {
        let found = systems::find(of_process(), &run.path, run.module.as_deref(), progress).ok()?;
        let open = opened(&*found, progress).ok()?;
        open.read_for_summary(&[], progress).ok()?;
        let derived = open.derived();
        if finding.limit_bytes.is_some() {
            derived.set_room(Room {
                capacity_bytes: finding.limit_bytes,
                other_bytes: finding.other_processes_bytes.unwrap_or(0),
                is_other_said: finding.other_processes_bytes.is_some(),
                ..Room::default()
            });
        }
        let insights = derived.run_insights(progress)?;
        let is_of_device = |advice: &&Advice| {
            advice.device.is_none() || run.device.is_none() || advice.device == run.device
        };
        Some(insights.advice.iter().filter(is_of_device).take(MOST).cloned().collect())
    })
}

/// For people: each with its saving, and whether that is enough.
pub fn text(advice: &[Advice]) -> String {
    let line = |one: &Advice| {
        wrapped("  - ", &format!("{}{}", clean(one.title), one.sentences_of_saving(&bytes)))
    };
    advice.iter().map(line).collect()
}
