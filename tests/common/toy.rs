//! A system of 250 lines: what a folder below `src/systems` has, for files that a person can write. Tests add it to the list,
//! and it opens in window and commands like the others.
//!
//! A file is lines of words: `chip CAPACITY`, `setting NAME VALUE`, `buffer NAME KIND BYTES FIRST LAST` (steps).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tilescope::analysis::comparison::figures::Unit;
use tilescope::analysis::derived::Derived;
use tilescope::format::{Error, ErrorKind, Progress};
use tilescope::index::Cache;
use tilescope::run::compared::amounts::Amount;
use tilescope::run::compared::figures::FigureOfRun;
use tilescope::run::compared::names::{Names as PeakNames, Owner};
use tilescope::run::compared::rows::{Category, Kind, Thing};
use tilescope::run::compared::{ComparedWords, Own, PeakOfSide, Side};
use tilescope::run::{
    Answers, DeviceVerdict, MemoryTotals, Outcome, PeakOfRun, PeakRow, StatedRoom, Verdict,
};
use tilescope::store::arena::Arenas;
use tilescope::store::liveness::{Deltas, Liveness, VariableBytes};
use tilescope::store::names::Names;
use tilescope::store::options::{About, EngineOption};
use tilescope::store::placed::{Placed, Placement, ReadArena, ReadError};
use tilescope::store::program::Steps;
use tilescope::store::report::Categories;
use tilescope::store::variable::VariableFlags;
use tilescope::store::{
    Absence, ArenaId, CategoryId, ClassId, DeviceId, ProgramId, Report, StepId, System,
    UnloweredId, Warnings,
};
use tilescope::systems::system::{FoundRun, OpenRun, Reading, RunSystem};

/// The system.
#[derive(Debug)]
pub struct Toy;

const WORDS: System = System {
    name: "toy",
    device: "Chip",
    all_devices: "All chips",
    arena: "Bank",
    arena_in_text: "bank",
    an_arena: "a bank",
    arenas: "banks",
    worst_arena: "Worst bank of each step",
    are_steps_matched: false,
    ..System::GENERAL
};

static COMPARED: ComparedWords = ComparedWords::GENERAL;

/// What a file says.
#[derive(Clone, Debug, Default)]
struct Contents {
    capacity: u64,
    settings: Vec<(String, String)>,
    buffers: Vec<Buffer>,
}

#[derive(Clone, Debug)]
struct Buffer {
    name: String,
    kind: String,
    bytes: u64,
    first: u32,
    last: u32,
}

impl Contents {
    fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, &error))?;
        let mut contents = Self::default();
        for (line, number) in text.lines().zip(1..) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let parsed = match *words.as_slice() {
                ["chip", bytes] => bytes.parse().map(|bytes| contents.capacity = bytes).ok(),
                ["setting", name, value] => {
                    contents.settings.push((name.to_owned(), value.to_owned()));
                    Some(())
                }
                ["buffer", name, kind, bytes, first, last] => {
                    let buffer = || {
                        let (name, kind) = (name.to_owned(), kind.to_owned());
                        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
                        Some(Buffer { name, kind, bytes: bytes.parse().ok()?, first, last })
                    };
                    buffer().map(|buffer| contents.buffers.push(buffer))
                }
                _ => None,
            };
            if parsed.is_none() {
                return Err(Error::new(ErrorKind::Damaged, "a line with chip, setting or buffer expected")
                    .in_file(path)
                    .at(format!("line {number}")));
            }
        }
        Ok(contents)
    }

    fn steps(&self) -> u32 {
        self.buffers.iter().map(|one| one.last + 1).max().unwrap_or(0)
    }

    fn at(&self, step: u32) -> impl Iterator<Item = &Buffer> {
        self.buffers.iter().filter(move |one| (one.first..=one.last).contains(&step))
    }

    fn bytes_at(&self, step: u32) -> u64 {
        self.at(step).map(|one| one.bytes).sum()
    }

    /// The first step at which most is alive.
    fn peak(&self) -> u32 {
        (0..self.steps()).rev().max_by_key(|step| self.bytes_at(*step)).unwrap_or(0)
    }

    /// The kinds of buffers, each once.
    fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = self.buffers.iter().map(|one| one.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    fn fill(self: &Arc<Self>, report: &Report) {
        let option = |(name, value): &(String, String)| EngineOption {
            name: name.clone(),
            value: value.clone(),
            is_default: None,
        };
        let engine_options = self.settings.iter().map(option).collect();
        report.about.fill(Some(About { engine_options, ..About::default() }));
        let mut categories = Categories::default();
        for (number, kind) in (0..).zip(self.kinds()) {
            categories.ids.push(CategoryId(number));
            categories.names.push(kind);
        }
        report.categories.fill(Some(categories));
        let mut arenas = Arenas { come_and_go: true, ..Arenas::default() };
        arenas.device_capacities.insert(DeviceId(0), self.capacity);
        arenas.ids.push(ArenaId(0));
        arenas.names.push("bank");
        arenas.devices.push(Some(DeviceId(0)));
        arenas.capacities.push(Some(self.capacity));
        arenas.always_live.push(Some(0));
        report.arenas.fill(Some(arenas));
        let mut steps = Steps::default();
        let (mut changes, mut before) = (Vec::new(), 0);
        for step in 0..self.steps() {
            steps.ids.push(StepId(step));
            steps.programs.push(ProgramId(0));
            steps.parents.push(None);
            let now = self.bytes_at(step) as i64;
            changes.push((step, now - before));
            before = now;
        }
        report.steps.fill(Some(steps));
        let mut liveness = Liveness::default();
        let mut rows = Vec::new();
        for (number, one) in (0..).zip(&self.buffers) {
            let (variable, class) = (UnloweredId(number), ClassId(number));
            liveness.variable_ids.push(variable);
            liveness.variable_names.push(&one.name);
            liveness.classes.push(class, false, [one.first..one.last + 1]);
            rows.push(VariableBytes { variable, class, bytes: one.bytes });
        }
        liveness.variable_bytes_of_devices.insert(DeviceId(0), rows.clone());
        liveness.variable_bytes = Some(rows);
        let by_device = [(DeviceId(0), changes.clone())].into();
        liveness.deltas = Some(Deltas { everything: changes, by_device });
        report.liveness.fill(Some(liveness));
        report.set_reader(Box::new(ToyReader(Arc::clone(self))));
        report.settle_rest(&Absence::unexplained());
    }
}

/// Gives what lies in the bank: each buffer behind the one before it.
#[derive(Debug)]
struct ToyReader(Arc<Contents>);

impl ReadArena for ToyReader {
    fn read(&self, _: ArenaId, _: &Progress) -> Result<Option<Placed>, ReadError> {
        let (kinds, mut names, mut offset) = (self.0.kinds(), Names::default(), 0);
        let mut placements = Vec::new();
        for (number, one) in (0..).zip(&self.0.buffers) {
            names.push(&one.name);
            let category = kinds.iter().position(|kind| *kind == one.kind);
            placements.push(Placement {
                id: number,
                offset,
                bytes: one.bytes,
                alignment: 0,
                category: category.map(|place| place as u32),
                class: ClassId(number),
                unlowered: Some(UnloweredId(number)),
                flags: VariableFlags(1),
            });
            offset += one.bytes;
        }
        let none = vec![Vec::new(); placements.len()];
        Ok(Some(Placed::new(placements, names, none.clone(), none)))
    }
}

impl Answers for Contents {
    fn verdict(&self, _: &Derived) -> Option<Verdict> {
        let (used, capacity) = (self.bytes_at(self.peak()), self.capacity);
        let over = used.saturating_sub(capacity);
        let outcome = if over == 0 { Outcome::Fits } else { Outcome::DoesNotFit };
        let device = DeviceVerdict {
            name: "Chip 0".to_owned(),
            outcome,
            used_bytes: Some(used),
            capacity_bytes: Some(capacity),
            over_bytes: Some(over),
            peak_bytes: Some(used),
            peak_step: Some(self.peak().into()),
            ..DeviceVerdict::default()
        };
        Some(Verdict {
            outcome,
            short: outcome.word().to_owned(),
            text: format!("The peak is {used} B, and the chip has {capacity} B"),
            used_bytes: Some(used),
            capacity_bytes: Some(capacity),
            over_bytes: Some(over),
            devices: vec![device],
            ..Verdict::default()
        })
    }

    fn memory(&self, _: &Derived) -> MemoryTotals {
        let total = self.buffers.iter().map(|one| one.bytes).sum();
        MemoryTotals { total_bytes: Some(total), always_live_bytes: Some(0), ..Default::default() }
    }

    fn peak(&self, _: &Derived) -> Option<PeakOfRun> {
        let row = |kind: &str| {
            let of_kind = || self.at(self.peak()).filter(|one| one.kind == kind);
            let (bytes, count) = (of_kind().map(|one| one.bytes).sum(), of_kind().count() as u64);
            PeakRow { name: kind.to_owned(), bytes, count }
        };
        Some(PeakOfRun {
            device: Some(0),
            step: Some(self.peak().into()),
            bytes: Some(self.bytes_at(self.peak())),
            always_live_bytes: Some(0),
            by_category: self.kinds().into_iter().map(row).collect(),
            ..PeakOfRun::default()
        })
    }

    fn compared_words(&self) -> Option<&'static ComparedWords> {
        Some(&COMPARED)
    }

    fn compared_side(
        &self,
        _: &Derived,
        _: Option<i64>,
        names: &mut PeakNames,
    ) -> Result<Option<Side>, Error> {
        let bytes = self.bytes_at(self.peak());
        let mut thing = |one: &Buffer| {
            let path = names.path(Some(Owner::operation(&one.name)));
            let category = Category { place: 0, key: "buffer", title: "Buffer" };
            let kind = Kind { path, detail: None, category: Some(category), size: None };
            let amount = Amount { bytes: one.bytes, count: 1 };
            Thing { kind, category, made_by: None, size: one.bytes, amount }
        };
        let value = Some(bytes);
        Ok(Some(Side {
            device: 0,
            title: "Chip 0".to_owned(),
            peak: Some(PeakOfSide { bytes, not_always_live_bytes: bytes, step: Some(self.peak().into()) }),
            peak_text: format!("{bytes} B"),
            always_live_bytes: 0,
            figures: vec![FigureOfRun { key: "peak_bytes", title: "Peak", unit: Unit::Bytes, value, is_at_least: false }],
            settings: self.settings.clone(),
            stated: StatedRoom { capacity_bytes: Some(self.capacity), other_bytes: None },
            alive: Some(self.at(self.peak()).map(&mut thing).collect()),
            own: Own::new(()),
        }))
    }
}

impl RunSystem for Toy {
    fn title(&self) -> &'static str {
        "Toy"
    }

    fn words(&self) -> System {
        WORDS
    }

    fn find(
        &self,
        path: &Path,
        _: Option<&str>,
        _: &Warnings,
        _: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error> {
        let is_it = path.extension().is_some_and(|ending| ending == "toy");
        Ok(is_it.then(|| -> Box<dyn FoundRun> { Box::new(FoundToy(path.to_owned())) }))
    }
}

#[derive(Debug)]
struct FoundToy(PathBuf);

impl FoundRun for FoundToy {
    fn system(&self) -> &'static dyn RunSystem {
        &Toy
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn open(&self, _: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let contents = Arc::new(Contents::read(&self.0)?);
        let report = Arc::new(Report::of(WORDS, self.0.clone()));
        let derived = Derived::new(report).with_answers(Arc::clone(&contents) as Arc<dyn Answers>);
        Ok(Some(Box::new(OpenToy { contents, derived: Arc::new(derived) })))
    }

    fn begin(
        &self,
        _: Option<&Cache>,
        reading: &Reading<'_>,
    ) -> Result<Option<Box<dyn OpenRun>>, Error> {
        self.open(reading.progress)
    }
}

struct OpenToy {
    contents: Arc<Contents>,
    derived: Arc<Derived>,
}

impl OpenRun for OpenToy {
    fn derived(&self) -> &Arc<Derived> {
        &self.derived
    }

    fn fill_report(&self, _: &Progress) {
        self.contents.fill(self.derived.report());
    }
}
