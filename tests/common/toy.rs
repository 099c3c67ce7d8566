//! A whole system: what a folder below `src/systems` has at least, for files that a person can write. Tests add it to
//! the list of systems, and it opens in the window and in commands like the others (docs/dev/add-a-system.md).
//!
//! A file `*.toy` is lines of words: `chip CAPACITY`, `setting NAME VALUE`, and `buffer NAME KIND BYTES FIRST LAST`,
//! which is alive from the first of these steps to the last.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tilescope::analysis::derived::Derived;
use tilescope::format::{Error, ErrorKind, Progress};
use tilescope::run::{
    AliveBy, Answers, DeviceVerdict, GroupBytes, MemoryTotals, Outcome, StepBytes, Verdict,
};
use tilescope::store::arena::Arenas;
use tilescope::store::ids::CategoryId;
use tilescope::store::liveness::{Deltas, Liveness, VariableBytes};
use tilescope::store::names::Names;
use tilescope::store::options::{About, EngineOption};
use tilescope::store::placed::{Placed, Placement, ReadArena, ReadError};
use tilescope::store::program::Steps;
use tilescope::store::report::Categories;
use tilescope::store::variable::VariableFlags;
use tilescope::store::{
    Absence, ArenaId, ClassId, DeviceId, ProgramId, Report, StepId, System, UnloweredId, Warnings,
};
use tilescope::systems::below::only_run;
use tilescope::systems::system::{FoundRun, OpenRun, RunSystem};

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

/// What a file says.
#[derive(Debug, Default)]
struct Contents {
    capacity: u64,
    settings: Vec<(String, String)>,
    buffers: Vec<Buffer>,
}

#[derive(Debug)]
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
            contents.add(line).ok_or_else(|| {
                Error::new(ErrorKind::Damaged, "a line with chip, setting or buffer expected")
                    .in_file(path)
                    .at(format!("line {number}"))
            })?;
        }
        Ok(contents)
    }

    fn add(&mut self, line: &str) -> Option<()> {
        match *line.split_whitespace().collect::<Vec<_>>() {
            ["chip", bytes] => self.capacity = bytes.parse().ok()?,
            ["setting", name, value] => self.settings.push((name.to_owned(), value.to_owned())),
            ["buffer", name, kind, bytes, first, last] => self.buffers.push(Buffer {
                name: name.to_owned(),
                kind: kind.to_owned(),
                bytes: bytes.parse().ok()?,
                first: first.parse().ok()?,
                last: last.parse().ok()?,
            }),
            _ => return None,
        }
        Some(())
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

    /// Fills what all systems share; the rest is settled as not there.
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
        let (mut steps, mut changes, mut before) = (Steps::default(), Vec::new(), 0);
        for step in 0..self.steps() {
            steps.ids.push(StepId(step));
            steps.programs.push(ProgramId(0));
            steps.parents.push(None);
            let now = self.bytes_at(step).cast_signed();
            changes.push((step, now - before));
            before = now;
        }
        report.steps.fill(Some(steps));
        let (mut liveness, mut rows) = (Liveness::default(), Vec::new());
        for (number, one) in (0..).zip(&self.buffers) {
            let (variable, class) = (UnloweredId(number), ClassId(number));
            liveness.variable_ids.push(variable);
            liveness.variable_names.push(&one.name);
            liveness.classes.push(class, false, [one.first..one.last + 1]);
            rows.push(VariableBytes { variable, class, bytes: one.bytes });
        }
        liveness.counted_bytes_of_devices.insert(DeviceId(0), rows.clone());
        liveness.variable_bytes = Some(rows);
        let by_device = [(DeviceId(0), changes.clone())].into();
        report.deltas.fill(Some(Deltas { everything: changes, by_device, ..Deltas::default() }));
        report.liveness.fill(Some(liveness));
        report.set_reader(Box::new(Bank(Arc::clone(self))));
        report.settle_rest(&Absence::unexplained());
    }
}

/// What lies in the bank: each buffer behind the one before it.
#[derive(Debug)]
struct Bank(Arc<Contents>);

impl ReadArena for Bank {
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
        let over_bytes = Some(used.saturating_sub(capacity));
        let outcome = if used <= capacity { Outcome::Fits } else { Outcome::DoesNotFit };
        let (used_bytes, capacity_bytes) = (Some(used), Some(capacity));
        let device = DeviceVerdict {
            name: "Chip 0".to_owned(),
            outcome,
            used_bytes,
            capacity_bytes,
            over_bytes,
            peak_bytes: used_bytes,
            peak_step: Some(self.peak().into()),
            ..DeviceVerdict::default()
        };
        Some(Verdict {
            outcome,
            short: outcome.word().to_owned(),
            text: format!("The peak is {used} B, and the chip has {capacity} B"),
            used_bytes,
            capacity_bytes,
            over_bytes,
            devices: vec![device],
            ..Verdict::default()
        })
    }

    fn memory(&self, _: &Derived) -> MemoryTotals {
        let total = self.buffers.iter().map(|one| one.bytes).sum();
        MemoryTotals { total_bytes: Some(total), always_live_bytes: Some(0), ..Default::default() }
    }

    /// By kind, which the report does not say of its variables.
    fn alive_rows(&self, _: &Derived, at: &StepBytes, _: AliveBy) -> Vec<GroupBytes> {
        let row = |kind: &str| {
            let of_kind = || self.at(at.step as u32).filter(|one| one.kind == kind);
            let bytes = of_kind().map(|one| one.bytes.cast_signed()).sum();
            GroupBytes { name: kind.to_owned(), bytes, count: of_kind().count() as u64 }
        };
        self.kinds().into_iter().map(row).collect()
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
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error> {
        if path.is_dir() {
            return only_run(path, self.below(&[path.to_owned()], None, warnings, progress)?);
        }
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
        contents.fill(&report);
        Ok(Some(Box::new(Arc::new(Derived::new(report).with_answers(contents)))))
    }
}

/// A file whose hidden layer takes so many bytes. Most is alive at step 1: this, 1000 of weights and 500 of the input.
pub fn file(batch: u32, hidden: u32) -> String {
    format!(
        "chip 4096\nsetting batch {batch}\nbuffer weights parameter 1000 0 3\nbuffer input activation 500 0 1\n\
         buffer hidden activation {hidden} 1 2\nbuffer output result 300 2 3\n"
    )
}
