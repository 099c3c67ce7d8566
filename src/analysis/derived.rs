//! A cache of results that several pages ask for, for a run or for a run and the reference: timelines by scope,
//! operations of steps, owners of bytes.
//!
//! All questions may take long and belong on a thread beside the window; who asks for what another
//! thread is working out waits for it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::comparison::attribution::Attribution;
use super::comparison::fact_groups::side_by_side_groups;
use super::comparison::facts::{FactGroup, Fit};
use super::comparison::matching::{MatchCounts, Matching, match_reports};
use super::comparison::owners::Owners;
use super::execution::Executed;
use super::liveness::over_limit::devices_apart;
use super::liveness::timeline::{Timeline, WithTimeline};
use super::liveness::{Scope, has_curve_of_deltas, limit_bytes, limit_where, needs_bytes_by_tile};
use super::program::step_operations::{StepOperations, step_operations};
use crate::progress::Progress;
use crate::run::{Answers, Conclusion, DeviceVerdict, FirstSight, Insights, Need, Room, Verdict};
use crate::store::{DeviceId, Report, WarningCode};

/// Answers by question, each worked out once.
#[derive(Debug)]
pub struct Memo<K, V> {
    answers: Mutex<HashMap<K, Arc<Mutex<Option<V>>>>>,
    made: AtomicUsize,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { answers: Mutex::default(), made: AtomicUsize::new(0) }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A value behind a lock is replaced as a whole, so it is never half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Clone + Eq + Hash, V: Clone> Memo<K, V> {
    /// The answer, worked out if it is not there. `None` from `make` says that it was canceled: the
    /// next who asks works it out.
    pub fn get(&self, key: &K, make: impl FnOnce() -> Option<V>) -> Option<V> {
        let cell = Arc::clone(lock(&self.answers).entry(key.clone()).or_default());
        let mut answer = lock(&cell);
        if answer.is_none() {
            self.made.fetch_add(1, Ordering::Relaxed);
            *answer = make();
        }
        answer.clone()
    }

    /// Forgets the answers to some questions.
    fn keep(&self, is_kept: impl Fn(&K) -> bool) {
        lock(&self.answers).retain(|key, _| is_kept(key));
    }

    /// The answer where it is there; waits for nothing.
    pub fn known(&self, key: &K) -> Option<V> {
        let answers = self.answers.try_lock().ok()?;
        answers.get(key)?.try_lock().ok()?.clone()
    }

    /// How often an answer was worked out.
    pub fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }
}

/// What is worked out once for a run.
#[derive(Debug)]
pub struct Derived {
    report: Arc<Report>,
    timelines: Memo<(Scope, Option<u64>), Option<Arc<Timeline>>>,
    operations: Memo<(), Option<Arc<StepOperations>>>,
    owners: Memo<(), Arc<Owners>>,
    itself: Memo<(), Arc<Attribution>>,
    fit: Memo<(), Option<Fit>>,
    room: Mutex<Room>,
    verdict: Memo<(bool, Room), Arc<Verdict>>,
    trace: Memo<(), ()>,
    answers: Arc<dyn Answers>,
    own_insights: Memo<(), Arc<Insights>>,
}

/// The answers of a run whose system has none of its own.
#[derive(Debug)]
struct NoAnswers;

impl Answers for NoAnswers {}

impl Derived {
    /// Of a report; works nothing out yet.
    pub fn new(report: Arc<Report>) -> Self {
        Self {
            report,
            timelines: Memo::default(),
            operations: Memo::default(),
            owners: Memo::default(),
            itself: Memo::default(),
            fit: Memo::default(),
            room: Mutex::default(),
            verdict: Memo::default(),
            trace: Memo::default(),
            answers: Arc::new(NoAnswers),
            own_insights: Memo::default(),
        }
    }

    /// The same with the answers of its system.
    #[must_use]
    pub fn with_answers(mut self, answers: Arc<dyn Answers>) -> Self {
        self.answers = answers;
        self
    }

    /// The answers of its system.
    pub fn answers(&self) -> &dyn Answers {
        &*self.answers
    }

    /// The device that is looked at first, where devices have memories of their own.
    pub fn first_device(&self) -> Option<DeviceId> {
        self.answers.first_device(self)
    }

    /// The scope that is looked at first.
    pub fn first_scope(&self) -> Scope {
        self.first_device().map_or(Scope::Everything, Scope::Device)
    }

    /// What the user says of its device; nothing at first.
    pub fn room(&self) -> Room {
        *lock(&self.room)
    }

    /// Takes what the user says of its device: all verdicts and advice go by it from now on.
    pub fn set_room(&self, room: Room) {
        *lock(&self.room) = room;
        // Curves are large, and a capacity that is typed is another one with each letter.
        let limit = room.limit_bytes();
        self.timelines.keep(|(_, said_bytes)| *said_bytes == limit);
    }

    /// The verdict with what follows and what to try next; `None` where it was canceled, or files behind the run cannot
    /// be read any more.
    pub fn run_insights(&self, progress: &Progress) -> Option<Arc<Insights>> {
        let own = self.own_insights.get(&(), || {
            let found = self.answers.insights(self, progress).ok()?;
            (!progress.is_cancelled()).then(|| Arc::new(found))
        })?;
        Some(self.judged(&own))
    }

    /// What the first pages show of it; `size` writes bytes. Where it `is_final` nothing more comes of what it goes by;
    /// else it takes what is there, and no time.
    pub fn first_sight(
        &self,
        is_final: bool,
        progress: &Progress,
        size: &dyn Fn(u64) -> String,
    ) -> FirstSight {
        let own = self.answers.first_sight(self, is_final, progress, size);
        let found = self.judged(&own.found);
        let (Some(before), Some(now)) = (own.found.verdict.clone(), found.verdict.clone()) else {
            return FirstSight { found, ..own };
        };
        let reason = if before.text == now.text { own.reason } else { now.text };
        let mut figures = own.figures;
        if before.figures != now.figures {
            figures.retain(|figure| !figure.is_of_room);
            figures.extend(now.figures.iter().filter(|figure| figure.is_of_room).cloned());
        }
        let is_new = |one: &&Conclusion| !own.found.conclusions.contains(one);
        let new = found.conclusions.iter().filter(is_new).map(|one| one.text.clone());
        let sentences = new.chain(own.sentences).collect();
        FirstSight { found, reason, sentences, figures, ..own }
    }

    /// Insights by what is known of the device.
    fn judged(&self, own: &Arc<Insights>) -> Arc<Insights> {
        match (self.verdict(), &own.verdict) {
            (Some(verdict), Some(before)) if *verdict != *before => {
                Arc::new((**own).clone().with_verdict(&verdict, self.room()))
            }
            _ => Arc::clone(own),
        }
    }

    /// The report.
    pub fn report(&self) -> &Arc<Report> {
        &self.report
    }

    /// The timeline of a scope; `None` where the report has no such curve, while parts that it needs
    /// may still come, or when it was canceled.
    pub fn timeline(
        &self,
        scope: Scope,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Arc<Timeline>> {
        let report = &self.report;
        // An answer is kept: none is made of parts that are not there yet. Of what a curve needs, the changes are
        // there last, and where there are none liveness.
        let is_settled = (has_curve_of_deltas(report, scope) || report.liveness.is_settled())
            && (!needs_bytes_by_tile(report, scope) || report.tile_variable_bytes.is_settled());
        let made = is_settled.then(|| {
            let said_bytes = self.room().limit_bytes();
            self.timelines.get(&(scope, said_bytes), || {
                let timeline = Timeline::of(report, scope, said_bytes, is_cancelled).map(Arc::new);
                (timeline.is_some() || !is_cancelled()).then_some(timeline)
            })
        });
        made.flatten().flatten()
    }

    /// What the curve of a scope can be held against: what the user says, else what the files say; none of several devices,
    /// which each have their own.
    pub fn limit_bytes(&self, scope: Scope) -> Option<u64> {
        let arenas = self.report.arenas.get()?;
        if !devices_apart(&self.report, scope).is_empty() {
            return None;
        }
        match self.room().limit_bytes() {
            Some(said) => limit_where(scope, arenas, said),
            None => limit_bytes(scope, arenas),
        }
    }

    /// The report with its timeline of a scope.
    pub fn with_timeline(
        &self,
        scope: Scope,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> WithTimeline {
        let timeline = self.timeline(scope, is_cancelled);
        WithTimeline { report: Arc::clone(&self.report), timeline }
    }

    /// The same with the timeline where it was worked out; waits for nothing.
    pub fn with_known_timeline(&self, scope: Scope) -> WithTimeline {
        let timeline = self.timelines.known(&(scope, self.room().limit_bytes())).flatten();
        WithTimeline { report: Arc::clone(&self.report), timeline }
    }

    /// The operation of every step; `None` where steps, programs or debug contexts are absent, or may
    /// still come.
    pub fn operations(&self) -> Option<Arc<StepOperations>> {
        let made = || Some(step_operations(&self.report).map(Arc::new));
        let kept = self.has_operations_settled().then(|| self.operations.get(&(), made));
        kept.flatten().flatten()
    }

    /// Whether nothing more will come of what operations are found by.
    fn has_operations_settled(&self) -> bool {
        let report = &self.report;
        report.steps.is_settled() && report.programs.is_settled() && report.debug.is_settled()
    }

    /// The operations that variables, compute sets and exchanges belong to.
    pub fn owners(&self) -> Arc<Owners> {
        let made = || {
            let steps = self.operations().unwrap_or_default();
            Arc::new(Owners::of(&self.report, &steps))
        };
        // What is made before operations are known is not kept.
        let is_settled = self.has_operations_settled();
        let kept = is_settled.then(|| self.owners.get(&(), || Some(made())));
        kept.flatten().unwrap_or_else(made)
    }

    /// What its bytes belong to, as of a pair that is the report with itself.
    pub fn attribution_to_itself(&self) -> Arc<Attribution> {
        let made = || {
            let steps = self.operations().unwrap_or_default();
            // Equal names share a row without being paired, and what is compared with itself has no others.
            let itself =
                Matching { step_operations: [steps.clone(), steps], ..Matching::default() };
            let (report, owners) = (&*self.report, self.owners());
            Arc::new(Attribution::with([report; 2], &itself, [owners.clone(), owners]))
        };
        let is_settled = self.has_operations_settled() && self.report.liveness.is_settled();
        let kept = is_settled.then(|| self.itself.get(&(), || Some(made())));
        kept.flatten().unwrap_or_else(made)
    }

    /// Whether the program fits; `None` where that is not known, or not yet.
    pub fn fit(&self) -> Option<Fit> {
        let is_settled = self.report.memory.is_settled() && self.report.target.is_settled();
        let kept = is_settled.then(|| self.fit.get(&(), || Some(Fit::of(&self.report))));
        kept.flatten().flatten()
    }

    /// Whether it fits, or how it ended, by what its files and the user say of the device; `None` where nothing is said of
    /// it, or not yet.
    pub fn verdict(&self) -> Option<Arc<Verdict>> {
        // What decides it is often known before the curves, which say why.
        let is_final = self.report.liveness.is_settled();
        let room = self.room();
        self.verdict.get(&(is_final, room), || {
            let own = self.answers.verdict(self)?;
            let of = |device| self.answers.need(self, device).ok();
            let need = of(None).unwrap_or_else(|| Need::of_verdict(&own));
            let in_room = |device: &DeviceVerdict| {
                let number = Some(device.device);
                let other = if need.device == number { None } else { of(number) };
                // A device of which nothing is known beside its own verdict keeps that.
                match other.as_ref().or((need.device == number).then_some(&need)) {
                    Some(need) if !need.is_beside => device.clone().in_room(need, room),
                    _ => device.clone(),
                }
            };
            let devices = own.devices.iter().map(in_room).collect();
            Some(Arc::new(Verdict { devices, ..own.in_room(&need, room) }))
        })
    }

    /// The verdict of what one of its devices needs.
    pub fn verdict_of(&self, need: &Need) -> Verdict {
        let own = self.answers.verdict(self).unwrap_or_default();
        let of = need.device.filter(|_| own.devices.len() > 1);
        let of_device = own.devices.iter().find(|one| of == Some(one.device));
        // That of the run is about the device that says most, in words of its system.
        let is_main = self.answers.need(self, None).is_ok_and(|main| main.device == need.device);
        let own = match of_device.filter(|_| !is_main) {
            Some(of) => Verdict::of_device(of),
            None => own,
        };
        own.in_room(need, self.room())
    }

    /// The same where it was worked out; waits for nothing, so that it can be asked for in every frame.
    pub fn known_verdict(&self) -> Option<Arc<Verdict>> {
        let room = self.room();
        [true, false].iter().find_map(|is_final| self.verdict.known(&(*is_final, room)))
    }

    /// Things beside the report that a look at all of them goes through: events and blocks, points of a timeline,
    /// instructions and values.
    pub fn things_beside_report(&self) -> usize {
        self.answers.things_beside_report()
    }

    /// The steps that ran, read when they are first asked for, and held against what the run states of them: what differs
    /// becomes a warning. `None` where none were recorded, or when it was canceled.
    pub fn executed(&self, progress: &Progress) -> Option<Executed<'_>> {
        let report = &self.report;
        self.trace.get(&(), || {
            report.read_trace(progress);
            let executed = Executed::of(report);
            let messages = executed.map(|executed| self.answers.contradictions_of_trace(executed));
            let file = report.files().into_iter().next().map_or(String::new(), |file| file.name);
            for message in messages.into_iter().flatten() {
                report.warnings.on_demand().add(WarningCode::Inconsistent, &file, message);
            }
            (!progress.is_cancelled()).then_some(())
        })?;
        Executed::of(report)
    }

    /// How many timelines were worked out.
    pub fn timelines_made(&self) -> usize {
        self.timelines.made()
    }
}

/// The facts of runs, by their systems, side by side.
pub fn fact_groups(runs: &[&Derived]) -> Vec<FactGroup> {
    side_by_side_groups(runs.iter().map(|run| run.answers().fact_groups(run)).collect())
}

/// The matching of a run with the reference, and what follows from it.
#[derive(Debug)]
pub struct DerivedPair {
    reports: [Arc<Report>; 2],
    /// Which rows belong together.
    pub matching: Arc<Matching>,
    /// How many steps do, counted once.
    pub step_counts: MatchCounts,
    attribution: Memo<(), Arc<Attribution>>,
}

impl DerivedPair {
    /// Of the reference, a run, and their matching.
    pub fn new(reports: [Arc<Report>; 2], matching: Matching) -> Self {
        let step_counts = matching.steps.counts();
        Self { reports, matching: Arc::new(matching), step_counts, attribution: Memo::default() }
    }

    /// Matches two reports; nothing is matched where one has no steps, or when it was canceled.
    pub fn of(both: [&Derived; 2], is_cancelled: &(dyn Fn() -> bool + Sync)) -> Self {
        let reports = both.map(|derived| Arc::clone(&derived.report));
        let matching = match_reports(&reports[0], &reports[1], is_cancelled);
        Self::new(reports, matching.unwrap_or_default())
    }

    /// What the bytes of both belong to.
    pub fn attribution(&self) -> Arc<Attribution> {
        let reports = self.reports.each_ref().map(|report| &**report);
        let made = || Arc::new(Attribution::of(reports, &self.matching));
        self.attribution.get(&(), || Some(made())).unwrap_or_else(made)
    }

    /// How often the attribution was worked out.
    pub fn attributions_made(&self) -> usize {
        self.attribution.made()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::debug_info::DebugInfo;
    use crate::store::liveness::Deltas;
    use crate::store::program::Programs;

    #[test]
    fn an_answer_is_worked_out_once_unless_it_was_cancelled() {
        let memo: Memo<u8, u8> = Memo::default();
        assert_eq!(memo.get(&1, || None), None, "cancelled");
        assert_eq!(memo.get(&1, || Some(5)), Some(5));
        assert_eq!(memo.get(&1, || Some(6)), Some(5));
        assert_eq!(memo.made(), 2);
    }

    #[test]
    fn what_was_asked_for_too_early_is_there_later() {
        let report = Arc::new(Report::default());
        let derived = Derived::new(Arc::clone(&report));
        let timeline = || derived.timeline(Scope::Everything, &|| false);
        report.steps.fill(Some(crate::analysis::fixture::steps(1)));
        assert!(timeline().is_none(), "liveness is not read yet");
        assert!(derived.operations().is_none(), "neither are programs");
        report.deltas.fill(Some(Deltas::default()));
        assert_eq!(timeline().map(|timeline| timeline.len()), Some(1));
        report.programs.fill(Some(Programs::default()));
        report.debug.fill(Some(DebugInfo::default()));
        assert!(derived.operations().is_some());
    }

    #[test]
    fn many_who_ask_at_once_wait_for_one() {
        let memo: Memo<u8, u8> = Memo::default();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(memo.get(&1, || Some(5)), Some(5)));
            }
        });
        assert_eq!(memo.made(), 1);
    }
}
