//! The runs that are shown: one to eight reports, the first of which is the reference. Every page draws
//! them by the same code.
//!
//! One list of [`Needed`] parts says what a page waits for and what its answers are keyed by, so that they cannot
//! differ; an answer that was made for other runs is never drawn ([`RunsAnswer`]).

use eframe::egui;
use std::sync::Arc;

use super::job::{Cancel, Latest, Same};
use super::theme::Tokens;
use crate::analysis::comparison::step_axis::StepAxis;
use crate::analysis::derived::{Derived, DerivedPair};
use crate::analysis::liveness::{Scope, devices_with_curve};
use crate::progress::Progress;
use crate::run::Room;
use crate::store::debug_info::DebugInfo;
use crate::store::target::Target;
use crate::store::{Absence, ArenaId, DeviceId, Part, Report, System};
use crate::text::capitalised;
use crate::text::run_names::run_name;

/// Most runs that are open together; each has a color of its own.
pub const MOST_RUNS: usize = 8;
/// Runs with fewer steps, tiles, programs, debug contexts, events and blocks together are small.
pub const SMALL: usize = 4000;

/// Names a run for as long as it is open; reading it again gives another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

/// A step of a run; a position in [`crate::store::program::Steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepAt {
    pub run: RunId,
    pub step: usize,
}

/// How the pictures of several runs are arranged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrangement {
    /// In one picture.
    #[default]
    Overlaid,
    /// In a picture each, whose axes, cursor and selection are linked.
    SideBySide,
}

/// What makes a step of one run that of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepsBy {
    /// Names and order; where steps are not matched, the parts of the program that they are in.
    #[default]
    Matching,
    /// Their numbers alone.
    Index,
}

/// What a run is told apart by: a letter, and a color that follows from it; of the reference ink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Badge {
    pub letter: char,
    /// Its place among the letters of the runs beside the reference; `None` of the reference.
    pub place_of_other: Option<usize>,
}

impl Badge {
    /// The badge of a run, by the places of its letter and of the reference's in the alphabet.
    pub fn of(letter: u8, of_reference: u8) -> Self {
        let after = usize::from(letter > of_reference);
        let place = usize::from(letter).saturating_sub(after);
        Self {
            letter: char::from(b'A'.saturating_add(letter.min(25))),
            place_of_other: (letter != of_reference).then_some(place),
        }
    }

    pub fn color(self, tokens: &Tokens) -> egui::Color32 {
        tokens.run(self.place_of_other)
    }
}

#[derive(Clone)]
pub struct Run {
    pub id: RunId,
    pub report: Arc<Report>,
    /// Whether more of it is coming.
    pub is_working: bool,
    pub derived: Arc<Derived>,
    /// What follows from its matching with the reference, once known; none of the reference itself.
    pub pair: Option<Arc<DerivedPair>>,
    /// Its letter, which it keeps while it is open.
    pub badge: Badge,
    /// What it is called in legends and columns: `Source` and `Target` of two, its name of more.
    pub title: Arc<str>,
    /// What it is called; no other open run has this name.
    pub name: Arc<str>,
    /// Whether [`Self::title`] is a role, not a name.
    has_role: bool,
}

impl Run {
    /// Its title within a sentence: `source`, or its name.
    pub fn title_in_text(&self) -> String {
        if self.has_role { self.title.to_lowercase() } else { self.title.to_string() }
    }

    /// Its title as the subject of a sentence: `the source`, or its name.
    pub fn the(&self) -> String {
        if self.has_role { format!("the {}", self.title_in_text()) } else { self.title.to_string() }
    }

    /// Its color, where there are several.
    pub fn color(&self, ui: &egui::Ui) -> egui::Color32 {
        self.badge.color(Tokens::now(ui))
    }

    /// The fill of areas below its curve, where there are several.
    pub fn fill(&self, ui: &egui::Ui) -> egui::Color32 {
        let tokens = Tokens::now(ui);
        tokens.area(self.badge.color(tokens))
    }
}

/// Why steps of runs of a system are not matched.
pub fn only_numbers_in_common(system: &System) -> String {
    let steps = capitalised(system.steps);
    format!("{steps} of different runs have nothing in common but their numbers")
}

/// A value for each run, in their order.
pub type PerRun<T> = Vec<T>;

/// A part of the runs that something needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// Versions, options, side files.
    About,
    Memory,
    /// What curves go by: changes from step to step, or where there are none liveness.
    Curves,
    /// Steps, programs, classes, curves.
    Liveness,
    Debug,
    Variables,
    /// Bytes of variables by tile.
    TileVariables,
    /// What compute sets have on each tile.
    ComputeSets,
    VertexTypes,
    Exchanges,
    /// The axis that the steps of all runs share.
    Axis,
    /// The matching of each run with the reference.
    Matching,
}

pub type Needs = &'static [Needed];

impl Needed {
    /// Whether nothing more of it will come from a report, and why it will not come at all.
    fn state(self, report: &Report) -> (bool, Option<&Absence>) {
        fn of<T>(part: &Part<T>) -> (bool, Option<&Absence>) {
            (part.is_settled(), part.absence())
        }
        match self {
            Self::About => of(&report.about),
            Self::Memory => of(&report.memory),
            Self::Curves if report.deltas.get().is_some() => (true, None),
            Self::Curves | Self::Liveness => of(&report.liveness),
            Self::Debug => of(&report.debug),
            Self::Variables => of(&report.variables),
            Self::TileVariables => of(&report.tile_variable_bytes),
            Self::ComputeSets => of(&report.compute_set_tiles),
            Self::VertexTypes => of(&report.vertex_types),
            Self::Exchanges => of(&report.exchanges),
            Self::Axis | Self::Matching => (true, None),
        }
    }

    /// Whether nothing more of it will come from a report.
    pub fn is_settled(self, report: &Report) -> bool {
        self.state(report).0
    }

    /// Whether the report's system has nothing of the kind: it is absent, and needs no reason.
    fn is_foreign(self, report: &Report) -> bool {
        self.state(report).1.is_some_and(|absence| !absence.is_explained())
    }
}

/// Tells apart what answers were made for: the runs, and which of the needed parts were there.
#[derive(Clone, PartialEq)]
pub struct RunsKey {
    ids: Vec<RunId>,
    settled: Vec<bool>,
    axis: Option<Same<StepAxis>>,
    pairs: Vec<Option<Same<DerivedPair>>>,
    /// What the user says of the device of each.
    rooms: Vec<Room>,
}

/// The runs that are shown. Never empty; the first one is the reference.
#[derive(Clone)]
pub struct Runs {
    list: Vec<Run>,
    axis: Option<Arc<StepAxis>>,
    pub arrangement: Arrangement,
    /// What makes a step of one that of another.
    pub steps_by: StepsBy,
    /// Whether they share parts of the program at which they can meet, though their steps are not matched.
    pub have_landmarks: bool,
    /// Why their steps have no common axis, when none will come.
    pub why_not: Option<String>,
}

impl Runs {
    /// The runs with their common axis; `None` where there is no run.
    pub fn new(
        mut list: Vec<Run>,
        axis: Option<Arc<StepAxis>>,
        arrangement: Arrangement,
        why_not: Option<String>,
    ) -> Option<Self> {
        let several = list.len();
        for (place, run) in list.iter_mut().enumerate() {
            run.has_role = several <= 2;
            run.title = match (several, place) {
                (..=2, 0) => "Source".into(),
                (..=2, _) => "Target".into(),
                _ => Arc::clone(&run.name),
            };
        }
        (!list.is_empty()).then_some(Self {
            list,
            axis,
            arrangement,
            steps_by: StepsBy::default(),
            have_landmarks: false,
            why_not,
        })
    }

    pub fn reference(&self) -> &Run {
        let [reference, ..] = &*self.list else { unreachable!("made with at least one run") };
        reference
    }

    pub fn system(&self) -> &System {
        &self.reference().report.system
    }

    /// Whether steps can lie beside each other by anything but their numbers.
    pub fn can_be_aligned(&self) -> bool {
        self.system().are_steps_matched || self.have_landmarks
    }

    /// Whether they meet at parts of the program.
    pub fn meet_at_landmarks(&self) -> bool {
        self.have_landmarks && self.steps_by == StepsBy::Matching
    }

    /// Whether a place on the common axis is a step of the same number in all.
    pub fn are_by_number(&self) -> bool {
        !self.system().are_steps_matched && !self.meet_at_landmarks()
    }

    /// All of them, the reference first.
    pub fn iter(&self) -> std::slice::Iter<'_, Run> {
        self.list.iter()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_one(&self) -> bool {
        self.list.len() == 1
    }

    /// Its title where there is little room: of many runs the letter.
    pub fn short_title(&self, run: &Run) -> String {
        if self.len() > 2 { run.badge.letter.to_string() } else { run.title.to_string() }
    }

    /// A text for one run, for two, and for more.
    pub fn of_number<'a>(&self, [one, two, more]: [&'a str; 3]) -> &'a str {
        match self.len() {
            1 => one,
            2 => two,
            _ => more,
        }
    }

    /// Whether each has a picture of its own: then its position, else one picture of all.
    pub fn pictures(&self) -> Vec<Option<usize>> {
        match self.arrangement {
            Arrangement::SideBySide if !self.is_one() => (0..self.len()).map(Some).collect(),
            _ => vec![None],
        }
    }

    pub fn get(&self, run: usize) -> Option<&Run> {
        self.list.get(run)
    }

    pub fn position(&self, id: RunId) -> Option<usize> {
        self.list.iter().position(|run| run.id == id)
    }

    /// The position of the run that the reference is compared with: the first after it if none was chosen.
    pub fn compared(&self, chosen: Option<RunId>) -> usize {
        chosen.and_then(|id| self.position(id)).filter(|place| *place > 0).unwrap_or(1)
    }

    pub fn each<'a, T>(&'a self, value: impl FnMut(&'a Run) -> T) -> PerRun<T> {
        self.list.iter().map(value).collect()
    }

    pub fn reports(&self) -> Vec<&Report> {
        self.list.iter().map(|run| &*run.report).collect()
    }

    /// The arena of a run, by its place, that one of the reference is matched with.
    pub fn matched_arena(&self, run: usize, arena: ArenaId) -> Option<ArenaId> {
        if run == 0 {
            return Some(arena);
        }
        let of_run = self.get(run)?.report.arenas.get()?;
        self.reference().report.arenas.get()?.matched(arena, of_run)
    }

    /// The device of a run, by its place, that one of the reference is matched with.
    fn matched_device(&self, run: usize, device: DeviceId) -> Option<DeviceId> {
        if run == 0 {
            return Some(device);
        }
        let of_run = self.get(run)?.report.arenas.get()?;
        self.reference().report.arenas.get()?.matched_device(device, of_run)
    }

    /// The scope that is looked at: of the device that is chosen, or the first.
    pub fn scope(&self, device: Option<DeviceId>) -> Scope {
        let derived = &self.reference().derived;
        let first = derived.first_scope();
        let chosen = device.filter(|device| {
            first != Scope::Everything && devices_with_curve(derived.report()).contains(device)
        });
        chosen.map_or(first, Scope::Device)
    }

    /// Whether devices of the reference have memories of their own, each with its own steps.
    pub fn have_own_steps(&self) -> bool {
        self.reference().derived.first_device().is_some()
    }

    /// The axis of a scope: where devices have steps of their own, that of its device.
    pub fn axis_of(&self, scope: Scope) -> Option<Arc<StepAxis>> {
        let axis = Arc::clone(self.axis()?);
        let Run { report, derived, .. } = self.reference();
        let device = scope.device(report);
        if self.meet_at_landmarks() && device.is_some() && device != derived.first_device() {
            // Landmarks are of the device that the run is about.
            let steps = |run: &Run| run.report.steps.get().map_or(0, |steps| steps.ids.len());
            return Some(Arc::new(StepAxis::by_index(&self.each(steps))));
        }
        let count = report.steps.get().map(|steps| steps.count_of(device));
        let own = count.filter(|count| self.is_one() && *count < axis.len());
        Some(own.map_or(axis, |count| Arc::new(StepAxis::by_index(&[count]))))
    }

    /// The scope of a run, by its place, that one of the reference is matched with.
    pub fn matched_scope(&self, run: usize, scope: Scope) -> Option<Scope> {
        let derived = &self.list.get(run)?.derived;
        let has = |device| devices_with_curve(derived.report()).contains(&device);
        match scope {
            Scope::Arena(arena) => self.matched_arena(run, arena).map(Scope::Arena),
            Scope::Device(_) if run == 0 || !self.have_own_steps() => Some(scope),
            Scope::Device(device) => {
                let same = self.matched_device(run, device).filter(|device| has(*device));
                // What each run is about lies beside each other, wherever that is.
                let first = || {
                    let of_reference = &self.reference().derived;
                    (of_reference.first_scope() == scope).then(|| derived.first_scope())
                };
                same.map(Scope::Device).or_else(first)
            }
            Scope::WorstArena => Some(scope),
            Scope::Everything => Some(derived.first_scope()),
        }
    }

    /// `C lies on A` of each run whose picture is that of a run before it; `first` gives the place of that run.
    pub fn lies_on(&self, first: impl Fn(usize) -> Option<usize>) -> Vec<String> {
        let letter = |place: usize| self.get(place).map(|run| run.badge.letter);
        let of = |place| Some(format!("{} lies on {}", letter(place)?, letter(first(place)?)?));
        (0..self.len()).filter_map(of).collect()
    }

    /// The machine that says which tiles an IPU has: that of the first run that does. None where runs contradict
    /// each other, for then no tile is on the same IPU in all.
    pub fn machine(&self) -> Option<&Target> {
        let targets = || self.list.iter().filter_map(|run| run.report.target.get());
        let mut known = targets().filter(|target| target.tiles_per_device.is_some());
        let Some(first) = known.next() else { return targets().next() };
        known.all(|other| other.tiles_per_device == first.tiles_per_device).then_some(first)
    }

    /// Whether a look at all steps, tiles, programs and debug contexts takes less than a frame. A snapshot is replayed
    /// before any part of its report is there, so its size is that of what was replayed; as with an XLA module.
    pub fn are_small(&self) -> bool {
        let size = |report: &Report| {
            let of = |len: Option<usize>| len.unwrap_or(0);
            of(report.steps.get().map(|steps| steps.ids.len()))
                + of(report.memory.get().map(|memory| memory.tiles.len()))
                + of(report.programs.get().map(|programs| programs.ids.len()))
                + of(report.debug.get().map(DebugInfo::len))
        };
        let of_run =
            |run: &Run| size(&run.report).saturating_add(run.derived.things_beside_report());
        self.list.iter().map(of_run).sum::<usize>() < SMALL
    }

    /// Whether more of one of them is coming.
    pub fn is_working(&self) -> bool {
        self.list.iter().any(|run| run.is_working)
    }

    /// Whether nothing more of what is needed will come from the reports.
    pub fn are_read(&self, needs: Needs) -> bool {
        let is_read = |run: &Run| needs.iter().all(|needed| needed.is_settled(&run.report));
        self.list.iter().all(is_read)
    }

    /// Whether the system of all runs has nothing of the kind of one of these parts.
    pub fn are_foreign_to(&self, needs: Needs) -> bool {
        let is_foreign = |run: &Run| needs.iter().any(|needed| needed.is_foreign(&run.report));
        self.list.iter().all(is_foreign)
    }

    /// Whether the parts that are needed are read, and axis and matching are there where they are needed.
    pub fn is_settled(&self, needs: Needs) -> bool {
        let has_axis = !needs.contains(&Needed::Axis) || self.axis.is_some();
        let is_matched = |run: &Run| !needs.contains(&Needed::Matching) || run.pair.is_some();
        has_axis && self.list.iter().skip(1).all(is_matched) && self.are_read(needs)
    }

    /// What answers about what is needed are keyed by.
    pub fn key(&self, needs: Needs) -> RunsKey {
        let settled = |run: &Run| needs.iter().map(|part| part.is_settled(&run.report)).collect();
        let settled: Vec<Vec<bool>> = self.list.iter().map(settled).collect();
        let pair = |run: &Run| run.pair.as_ref().map(|pair| Same(Arc::clone(pair)));
        let has_pairs = needs.contains(&Needed::Matching);
        RunsKey {
            ids: self.list.iter().map(|run| run.id).collect(),
            settled: settled.concat(),
            axis: self.axis.clone().filter(|_| needs.contains(&Needed::Axis)).map(Same),
            pairs: self.list.iter().filter(|_| has_pairs).map(pair).collect(),
            rooms: self.list.iter().map(|run| run.derived.room()).collect(),
        }
    }

    /// The axis that the steps of all share, as soon as it is known.
    pub fn axis(&self) -> Option<&Arc<StepAxis>> {
        self.axis.as_ref()
    }

    /// The slot of a step, where its run is shown.
    pub fn slot_of(&self, at: StepAt) -> Option<usize> {
        self.axis()?.slot(self.position(at.run)?, at.step)
    }

    /// The step in a slot, of the first run that has one there.
    pub fn step_at(&self, slot: usize) -> Option<StepAt> {
        let axis = self.axis()?;
        let step = |(place, run): (usize, &Run)| {
            Some(StepAt { run: run.id, step: axis.step(place, slot)? })
        };
        self.list.iter().enumerate().find_map(step)
    }
}

impl Run {
    /// A run that has no title yet: [`Runs::new`] gives it one.
    pub fn new(id: RunId, derived: Arc<Derived>, badge: Badge) -> Self {
        let report = Arc::clone(derived.report());
        let name: Arc<str> = run_name(&report.path).into();
        Self {
            id,
            report,
            is_working: false,
            derived,
            pair: None,
            badge,
            title: Arc::clone(&name),
            name,
            has_role: false,
        }
    }
}

/// The answer to the latest of a row of questions about the runs.
pub struct RunsAnswer<K, V>(Latest<(RunsKey, K), V>);

impl<K, V> Default for RunsAnswer<K, V> {
    fn default() -> Self {
        Self(Latest::default())
    }
}

impl<K: Clone + PartialEq, V: Send + 'static> RunsAnswer<K, V> {
    /// Asks, unless this was the last question; takes what has come. Called in every frame.
    pub fn ask(
        &mut self,
        name: &str,
        ctx: &egui::Context,
        (runs, needs): (&Arc<Runs>, Needs),
        key: &K,
        work: impl FnOnce(&Runs, &Cancel) -> V + Send + 'static,
    ) {
        let for_job = Arc::clone(runs);
        let key = (runs.key(needs), key.clone());
        self.0.ask(name, ctx, &key, move |cancel| work(&for_job, cancel));
    }

    /// As [`Self::ask`], but of small runs the answer is there at once: it takes less than a frame.
    pub fn ask_or_tell(
        &mut self,
        name: &str,
        ctx: &egui::Context,
        (runs, needs): (&Arc<Runs>, Needs),
        key: &K,
        work: impl FnOnce(&Runs, &Cancel) -> V + Send + 'static,
    ) {
        let for_job = Arc::clone(runs);
        // Before the work: what is read meanwhile may not be in its answer.
        let asked = (runs.key(needs), key.clone());
        self.0
            .ask_or_tell(name, ctx, &asked, runs.are_small(), move |cancel| work(&for_job, cancel));
    }

    /// The last answer about these runs, on this axis, with its question, which may be an earlier one.
    pub fn last(&self, runs: &Runs) -> Option<(&K, &V)> {
        let ((made_for, key), answer) = self.0.last()?;
        let ids = runs.iter().map(|run| run.id);
        let is_of_runs = made_for.ids.iter().copied().eq(ids)
            && made_for
                .axis
                .as_ref()
                .is_none_or(|Same(axis)| runs.axis().is_some_and(|now| Arc::ptr_eq(axis, now)));
        is_of_runs.then_some((key, answer))
    }

    /// The answer to this very question, from these parts.
    pub fn get(&self, (runs, needs): (&Runs, Needs), key: &K) -> Option<&V> {
        self.0.get(&(runs.key(needs), key.clone()))
    }

    /// How far the job is, while one runs.
    pub fn progress(&self) -> Option<&Progress> {
        self.0.progress()
    }

    pub fn failure(&self) -> Option<&str> {
        self.0.failure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Answers;

    /// A run that has so much beside its report.
    #[derive(Debug)]
    struct Beside(usize);

    impl Answers for Beside {
        fn things_beside_report(&self) -> usize {
            self.0
        }
    }

    #[test]
    fn runs_are_as_small_as_their_events() {
        let small = |events: usize| {
            let report = Arc::new(Report::default());
            let derived = Derived::new(report).with_answers(Arc::new(Beside(events)));
            let run = Run::new(RunId(1), Arc::new(derived), Badge::of(0, 0));
            let runs = Runs::new(vec![run], None, Arrangement::default(), None).expect("a run");
            runs.are_small()
        };
        assert!(small(100));
        assert!(!small(SMALL), "no part of its report is there, and yet much is");
    }
}
