//! The runs that are open: how each is loaded, which are shown, which one is the reference, and how
//! their steps belong together. [`OpenRuns::runs`] is what pages see of them.

use eframe::egui;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::job::{Latest, Made, Same};
use super::loading::{Load, LoadFailure, Meant};
use super::runs::{
    Arrangement, Badge, MOST_RUNS, Run, RunId, Runs, StepsBy, only_numbers_in_common,
};
use crate::analysis::comparison::landmarks::axis_by_landmarks;
use crate::analysis::comparison::matching::match_reports;
use crate::analysis::comparison::step_axis::StepAxis;
use crate::analysis::derived::{Derived, DerivedPair};
use crate::run::Verdict;
use crate::run::modules::{ModuleOfRun, common_module};
use crate::store::Report;
use crate::text::clean;
use crate::text::run_names::run_names;

/// A run that is open, or was asked for.
pub struct RequestedRun {
    pub id: RunId,
    pub load: Load,
    /// The place of its letter in the alphabet, which it keeps while it is open.
    letter: u8,
    /// Whether it is left out of all pages.
    pub is_hidden: bool,
    /// Whether it has taken the place of another, or of itself.
    is_again: bool,
}

impl RequestedRun {
    /// Whether it fits, or how it ended; `None` where that is not known, or not yet.
    pub fn verdict(&self) -> Option<Arc<Verdict>> {
        let known = self.load.derived()?.known_verdict();
        known.filter(|verdict| verdict.outcome.went_well().is_some())
    }

    /// Whether it was shown before, and will be again as soon as its files are found.
    fn is_expected(&self) -> bool {
        self.is_again && !self.is_hidden && self.report().is_none() && self.failure().is_none()
    }

    /// Its report, as soon as its files are found; nothing where it cannot be opened.
    pub fn report(&self) -> Option<&Arc<Report>> {
        self.derived().map(|derived| derived.report())
    }

    fn derived(&self) -> Option<&Arc<Derived>> {
        self.load.derived().filter(|_| self.failure().is_none())
    }

    /// Where its report is, or was looked for.
    pub fn path(&self) -> &Path {
        self.load.report().map_or(&self.load.path, |report| &report.path)
    }

    pub fn failure(&self) -> Option<LoadFailure> {
        self.load.stage().failure().cloned()
    }
}

/// Which parts of two reports were there when they were matched: debug contexts, exchanges.
type Matchable = [bool; 2];

/// The matching of a run with the reference; `None` where it cannot be.
type FoundPair = Latest<Matchable, Option<Arc<DerivedPair>>>;

#[derive(Clone, PartialEq)]
struct AxisKey {
    ids: Vec<RunId>,
    lens: Vec<usize>,
    pairs: Vec<Same<DerivedPair>>,
}

#[derive(Default)]
pub struct OpenRuns {
    list: Vec<RequestedRun>,
    next: u32,
    pub arrangement: Arrangement,
    pub steps_by: StepsBy,
    /// By reference and run.
    pairs: BTreeMap<(RunId, RunId), FoundPair>,
    axis: Latest<AxisKey, Arc<StepAxis>>,
    /// Where runs meet at parts of their programs; `None` where they share none.
    by_landmarks: Latest<AxisKey, Option<Arc<StepAxis>>>,
    by_index: Made<Vec<usize>, Arc<StepAxis>>,
}

impl OpenRuns {
    /// All of them, the reference first.
    pub fn iter(&self) -> std::slice::Iter<'_, RequestedRun> {
        self.list.iter()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn paths(&self) -> Vec<&Path> {
        self.list.iter().map(|run| &*run.load.path).collect()
    }

    /// The letter of a run, and its color beside the reference.
    pub fn badge(&self, run: &RequestedRun) -> Badge {
        let of_reference = self.list.first().map_or(run.letter, |first| first.letter);
        Badge::of(run.letter, of_reference)
    }

    /// What each is called, in their order.
    pub fn names(&self) -> Vec<String> {
        let paths: Vec<PathBuf> = self.list.iter().map(|run| self.naming_path(run)).collect();
        run_names(paths.iter().map(PathBuf::as_path))
    }

    /// The path by which a run is called; modules of one dump by their own names as well.
    fn naming_path(&self, run: &RequestedRun) -> PathBuf {
        let path = run.path();
        let is_alone = self.list.iter().filter(|other| other.path() == path).count() == 1;
        let derived = run.load.derived().filter(|_| !is_alone);
        let module = derived.and_then(|derived| derived.answers().modules().first());
        module.map_or(path.to_owned(), |module| path.join(&*clean(&module.title)))
    }

    pub fn failures(&self) -> Vec<(RunId, LoadFailure)> {
        self.list.iter().filter_map(|run| Some((run.id, run.failure()?))).collect()
    }

    pub fn attributions_made(&self) -> Vec<usize> {
        let of_pair = |found: &FoundPair| {
            found.last().and_then(|(_, pair)| pair.as_ref()).map_or(0, |it| it.attributions_made())
        };
        self.pairs.values().map(of_pair).collect()
    }

    /// Fails when there are as many as there can be.
    pub fn add(&mut self, load: Load) -> Result<(), String> {
        if self.list.len() >= MOST_RUNS {
            return Err(format!("{MOST_RUNS} runs are open: close one first"));
        }
        let id = self.new_id();
        let is_taken = |letter: &u8| self.list.iter().any(|run| run.letter == *letter);
        let letter = (0..=u8::MAX).find(|letter| !is_taken(letter)).unwrap_or_default();
        self.list.push(RequestedRun { id, load, letter, is_hidden: false, is_again: false });
        Ok(())
    }

    /// Closes one; where it was the reference, the next one is.
    pub fn close(&mut self, id: RunId) {
        self.list.retain(|run| run.id != id);
        self.pairs.retain(|(reference, other), _| *reference != id && *other != id);
        self.show_reference();
    }

    /// Closes all but the reference.
    pub fn close_others(&mut self) {
        self.list.truncate(1);
        self.pairs.clear();
        self.show_reference();
    }

    pub fn clear(&mut self) {
        *self = Self {
            next: self.next,
            arrangement: self.arrangement,
            steps_by: self.steps_by,
            ..Self::default()
        };
    }

    /// The dumps of which another module is to be compared than the one that is open, with that module. One that the user
    /// has chosen stays.
    pub fn other_modules(&self) -> Vec<(RunId, ModuleOfRun)> {
        let (mut dumps, mut lists) = (Vec::new(), Vec::new());
        for run in &self.list {
            let modules = run.derived().map_or(&[][..], |derived| derived.answers().modules());
            let mut modules = modules.to_vec();
            // The one that is open comes first.
            let Some(open) = modules.first().map(|one| one.key.clone()) else { continue };
            match run.load.module {
                Meant::Chosen(_) => modules.truncate(1),
                Meant::Largest | Meant::Compared(_) => modules.sort_by_key(|one| one.place),
            }
            dumps.push((run.id, open));
            lists.push(modules);
        }
        let places = common_module(&lists).unwrap_or_default();
        let compared =
            lists.into_iter().zip(places).map(|(modules, place)| modules.into_iter().nth(place));
        let other = |((id, open), compared): ((RunId, String), Option<ModuleOfRun>)| {
            Some((id, compared.filter(|one| one.key != open)?))
        };
        dumps.into_iter().zip(compared).filter_map(other).collect()
    }

    /// Leaves one out of all pages, or shows it again. The reference is always shown.
    pub fn hide(&mut self, id: RunId, is_hidden: bool) {
        if let Some(run) = self.list.iter_mut().skip(1).find(|run| run.id == id) {
            run.is_hidden = is_hidden;
        }
    }

    /// Makes one the reference; the one before is the second then.
    pub fn make_reference(&mut self, id: RunId) {
        if let Some(place) = self.list.iter().position(|run| run.id == id) {
            let run = self.list.remove(place);
            self.list.insert(0, run);
            self.show_reference();
        }
    }

    /// Makes the next one the reference: of two, swaps them.
    pub fn swap(&mut self) {
        if let Some(next) = self.list.get(1) {
            self.make_reference(next.id);
        }
    }

    /// Reads one again, or another report in its place. Returns what it is known by now.
    pub fn replace(&mut self, id: RunId, load: Load) -> Option<RunId> {
        let now = self.new_id();
        let run = self.list.iter_mut().find(|run| run.id == id)?;
        run.load = load;
        run.id = now;
        run.is_again = true;
        self.pairs.retain(|(reference, other), _| *reference != id && *other != id);
        Some(now)
    }

    fn new_id(&mut self) -> RunId {
        self.next = self.next.wrapping_add(1);
        RunId(self.next)
    }

    fn show_reference(&mut self) {
        if let Some(reference) = self.list.first_mut() {
            reference.is_hidden = false;
        }
    }

    /// What pages see: the runs whose files are found, with what is known of how they belong together.
    /// Asks for what is not known yet.
    pub fn runs(&mut self, ctx: &egui::Context) -> Option<Arc<Runs>> {
        // Pages of the others alone would forget what is chosen and visible of all.
        if self.list.iter().any(RequestedRun::is_expected) {
            return None;
        }
        // Where the reference cannot be opened, the next one stands in for it.
        self.list.iter().find(|run| run.failure().is_none())?.report()?;
        let names = self.names();
        let mut shown: Vec<Run> = Vec::with_capacity(self.list.len());
        for (place, open) in self.list.iter().enumerate().filter(|(_, run)| !run.is_hidden) {
            let Some(derived) = open.derived() else { continue };
            let mut run = Run::new(open.id, Arc::clone(derived), self.badge(open));
            if let Some(name) = names.get(place) {
                run.name = name.as_str().into();
            }
            run.is_working = open.load.stage().is_working();
            shown.push(run);
        }
        let mut why_not = None;
        if let Some((reference, others)) = shown.split_first_mut() {
            for other in others {
                // Steps of systems that do not name them are not those of another run.
                if !are_steps_matched([&*reference, other]) {
                    why_not = Some(only_numbers_in_common(&reference.report.system));
                    continue;
                }
                let found = self.pairs.entry((reference.id, other.id)).or_default();
                ask_for_pair(found, ctx, reference, other);
                match found.last() {
                    Some((_, Some(pair))) => other.pair = Some(Arc::clone(pair)),
                    Some((_, None)) => {
                        why_not = Some("One of the runs has no program steps".to_owned());
                    }
                    None => why_not = why_not.or(found.failure().map(str::to_owned)),
                }
            }
        }
        let lens = lens(&shown);
        let by_landmarks = lens.as_ref().and_then(|lens| self.axis_by_landmarks(ctx, &shown, lens));
        let axis = lens.and_then(|lens| {
            self.axis(ctx, &shown, &lens, why_not.is_some(), by_landmarks.clone())
        });
        let mut runs = Runs::new(shown, axis, self.arrangement, why_not)?;
        runs.steps_by = self.steps_by;
        runs.have_landmarks = by_landmarks.is_some();
        Some(Arc::new(runs))
    }

    /// The axis that the steps of all share; by number where they are not to be matched, or cannot be, or are not
    /// yet.
    fn axis(
        &mut self,
        ctx: &egui::Context,
        runs: &[Run],
        lens: &[usize],
        is_in_vain: bool,
        by_landmarks: Option<Arc<StepAxis>>,
    ) -> Option<Arc<StepAxis>> {
        let are_alike = are_steps_matched(runs);
        let is_matched =
            runs.len() > 1 && self.steps_by == StepsBy::Matching && are_alike && !is_in_vain;
        let matched = is_matched.then(|| self.matched_axis(ctx, runs, lens)).flatten();
        let by_landmarks = by_landmarks.filter(|_| self.steps_by == StepsBy::Matching);
        matched.or(by_landmarks).or_else(|| {
            let axis = self.by_index.of(lens.to_vec(), |lens| Arc::new(StepAxis::by_index(lens)));
            Some(Arc::clone(axis))
        })
    }

    /// The axis of runs whose steps are not matched, but lie in the same parts of a program.
    fn axis_by_landmarks(
        &mut self,
        ctx: &egui::Context,
        runs: &[Run],
        lens: &[usize],
    ) -> Option<Arc<StepAxis>> {
        if runs.len() < 2 || are_steps_matched(runs) {
            return None;
        }
        let ids = runs.iter().map(|run| run.id).collect();
        let key = AxisKey { ids, lens: lens.to_vec(), pairs: Vec::new() };
        let lens = key.lens.clone();
        let all: Vec<_> = runs.iter().map(|run| Arc::clone(&run.derived)).collect();
        self.by_landmarks.ask("landmarks of the runs", ctx, &key, move |_| {
            let landmarks: Vec<_> =
                all.iter().map(|derived| derived.answers().landmarks(derived)).collect();
            let landmarks: Vec<_> = landmarks.iter().map(Vec::as_slice).collect();
            axis_by_landmarks(&lens, &landmarks).map(Arc::new)
        });
        let (made_for, axis) = self.by_landmarks.last()?;
        axis.clone().filter(|_| *made_for == key)
    }

    /// The axis of matched steps; `None` until all are matched.
    fn matched_axis(
        &mut self,
        ctx: &egui::Context,
        runs: &[Run],
        lens: &[usize],
    ) -> Option<Arc<StepAxis>> {
        let pair = |run: &Run| run.pair.clone().map(Same);
        let pairs: Vec<_> = runs.iter().skip(1).map(pair).collect::<Option<_>>()?;
        let ids = runs.iter().map(|run| run.id).collect();
        let key = AxisKey { ids, lens: lens.to_vec(), pairs };
        let for_job = key.clone();
        self.axis.ask("common axis of steps", ctx, &key, move |_| {
            let (reference, lens) = for_job.lens.split_first().unwrap_or((&0, &[]));
            let others = for_job.pairs.iter().map(|Same(pair)| &pair.matching.steps);
            let others: Vec<_> = others.zip(lens.iter().copied()).collect();
            Arc::new(StepAxis::by_matching(*reference, &others))
        });
        // While steps of the same runs are matched anew with more at hand, the axis before stays.
        let (made_for, axis) = self.axis.last()?;
        ((&made_for.ids, &made_for.lens) == (&key.ids, &key.lens)).then(|| Arc::clone(axis))
    }
}

/// How many steps each has, once all are known.
fn lens(runs: &[Run]) -> Option<Vec<usize>> {
    let len = |run: &Run| {
        let steps = run.report.steps.is_settled().then(|| run.report.steps.get());
        steps.map(|steps| steps.map_or(0, |steps| steps.ids.len()))
    };
    runs.iter().map(len).collect()
}

/// Whether steps of each of the runs can be those of another, by the words of their systems.
fn are_steps_matched<'a>(runs: impl IntoIterator<Item = &'a Run>) -> bool {
    runs.into_iter().all(|run| run.report.system.are_steps_matched)
}

/// Asks for the matching of a run with the reference, which is made again when more of them is there.
fn ask_for_pair(found: &mut FoundPair, ctx: &egui::Context, reference: &Run, other: &Run) {
    let reports = [&reference.report, &other.report];
    let both = |is_settled: fn(&Report) -> bool| reports.iter().all(|report| is_settled(report));
    if !both(|report| report.liveness.is_settled()) {
        return;
    }
    let key =
        [both(|report| report.debug.is_settled()), both(|report| report.exchanges.is_settled())];
    let reports = reports.map(Arc::clone);
    found.ask("matching of two reports", ctx, &key, move |cancel| {
        let [source, target] = &reports;
        let matching = match_reports(source, target, &|| cancel.is_cancelled())?;
        Some(Arc::new(DerivedPair::new(reports, matching)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::loading::Stage;

    #[test]
    fn modules_of_one_dump_are_called_by_their_own_names() {
        let (ctx, mut open) = (egui::Context::default(), OpenRuns::default());
        let dump = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_profiles/xla");
        for module in ["again", "keep"] {
            let module = Meant::Chosen(module.to_owned());
            open.add(Load::start_with(dump.clone(), Vec::new(), module, &ctx))
                .expect("room for it");
        }
        while open.list.iter().any(|run| run.load.stage().is_working()) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let names = open.names();
        assert!(names[0].starts_with("again/module_0000"), "{names:?}");
        assert!(names[1].starts_with("keep/module_0000"), "{names:?}");
        open.close_others();
        assert_eq!(open.names(), ["xla"]);
    }

    #[test]
    fn while_a_run_is_read_again_the_others_are_not_shown_alone() {
        let ctx = egui::Context::default();
        let mut open = OpenRuns::default();
        let report = |name: &str| Arc::new(Report::new(name.into()));
        for name in ["/a", "/b"] {
            open.add(Load::ready(report(name))).expect("room for it");
        }
        // One that is opened comes to those that are there.
        open.add(Load::at("/c".into(), Stage::Finding)).expect("room for it");
        assert_eq!(open.runs(&ctx).map(|runs| runs.len()), Some(2));
        let id = open.list[1].id;
        let again = open.replace(id, Load::at("/b".into(), Stage::Finding)).expect("it is open");
        assert!(open.runs(&ctx).is_none(), "pages would forget what is chosen of both");
        open.hide(again, true);
        assert_eq!(open.runs(&ctx).map(|runs| runs.len()), Some(1));
        open.hide(again, false);
        open.replace(again, Load::ready(report("/b")));
        assert_eq!(open.runs(&ctx).map(|runs| runs.len()), Some(2));
    }
}
