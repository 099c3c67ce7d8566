//! What the allocator of a device did while a profile was recorded, as a run of its own beside the programs of the
//! profile: its events are steps, what is in use is the curve, and the blocks are what is alive.

mod answers;
mod block_list;
mod cards;
mod insights;
mod report;
mod table;

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;

use self::answers::RecordAnswers;
pub(super) use self::table::{MOST_OF_TABLE, allocators_section};
use crate::analysis::derived::Derived;
use crate::format::{Error, Progress};
use crate::run::ModuleOfRun;
use crate::store::hlo::{AllocatorFigures, AllocatorRecord, RecordedBlock};
use crate::store::report::{FileStatus, ReportFile};
use crate::store::{Report, System};
use crate::systems::xla::files::{FoundModule, read_record};
use crate::systems::xla::run::XlaFiles;

/// The words of such a run.
const WORDS: System = System {
    all_devices: "The device",
    arena: "Allocator",
    arena_in_text: "allocator",
    an_arena: "an allocator",
    arenas: "allocators",
    worst_arena: "Worst allocator of each event",
    step: "Event",
    step_in_text: "event",
    steps: "events",
    always_live: "In use throughout",
    always_live_in_text: "in use throughout",
    not_always_live: "Not in use throughout",
    not_always_live_in_text: "not in use throughout",
    program: "Event",
    programs: "events",
    control_programs: "Events",
    variable: "Allocation",
    placed_variable: "Block",
    item: "Block",
    item_in_text: "block",
    an_item: "a block",
    items: "blocks",
    ..super::WORDS
};

/// What blocks of before the first event are called.
const BEFORE: &str = "in use before the record began";
/// What blocks are called of which nothing says what they are for.
const NOT_NAMED: &str = "not named in the profile";

/// A record that is open.
#[derive(Debug)]
struct OpenRecord {
    /// The profile.
    file: String,
    record: AllocatorRecord,
    figures: AllocatorFigures,
    /// What was allocated or freed; `None` where the profile does not say where blocks lie.
    blocks: Option<Vec<RecordedBlock>>,
    /// Bytes that the programs of the profile reserve, by their names: of those of one name the least and the most, and
    /// how many they are.
    programs: HashMap<String, NamedPrograms>,
    /// All that lies at its path, the record first.
    modules: Vec<ModuleOfRun>,
}

/// The programs of one name.
#[derive(Clone, Copy, Debug, Default)]
struct NamedPrograms {
    count: u64,
    least_bytes: u64,
    most_bytes: u64,
}

impl NamedPrograms {
    fn add(&mut self, bytes: u64) {
        self.least_bytes = if self.count == 0 { bytes } else { self.least_bytes.min(bytes) };
        self.most_bytes = self.most_bytes.max(bytes);
        self.count = self.count.saturating_add(1);
    }
}

impl OpenRecord {
    /// Bytes that a program of the profile reserves; `None` where programs of that name reserve different ones.
    fn program_bytes(&self, program: &str) -> Option<u64> {
        let named = self.programs.get(program)?;
        (named.least_bytes == named.most_bytes).then_some(named.most_bytes)
    }

    /// Bytes in use from before the first event to behind the last: those of blocks that no event is about.
    fn always_live_bytes(&self) -> u64 {
        let events = &self.record.events;
        let least = events.iter().map(|event| event.in_use_bytes).min().unwrap_or(0);
        let Some(blocks) = &self.blocks else { return 0 };
        let freed = blocks.iter().filter(|block| block.from.is_none());
        let freed = freed.fold(0_u64, |sum, block| sum.saturating_add(block.bytes));
        self.record.first_in_use_bytes().saturating_sub(freed).min(least)
    }

    /// The blocks that are in use at the peak; none where blocks are not known.
    fn blocks_at_peak(&self) -> impl Iterator<Item = &RecordedBlock> {
        let peak = u32::try_from(self.figures.peak_event).unwrap_or(u32::MAX);
        self.blocks.iter().flatten().filter(move |block| block.events().contains(&peak))
    }

    /// What a block is called.
    fn title(&self, block: &RecordedBlock) -> &str {
        let event = |place: u32| self.record.events.get(place as usize);
        match block.from.and_then(event) {
            Some(event) => self.record.title(event).unwrap_or(NOT_NAMED),
            None => BEFORE,
        }
    }
}

/// Reads the record that is meant; `None` where it is not there any more, or reading was canceled.
///
/// # Errors
/// When the profile cannot be read.
pub(super) fn open_record(
    files: &XlaFiles,
    progress: &Progress,
) -> Result<Option<Arc<Derived>>, Error> {
    let Some(found) = files.modules.first() else { return Ok(None) };
    let report = Report::of(WORDS, files.path.clone());
    for warning in &files.warnings {
        report.warnings.add(warning.code, &warning.file, warning.message.as_str());
    }
    let Some(record) = read_record(found, &report.warnings, progress)? else { return Ok(None) };
    let Some(figures) = record.figures() else { return Ok(None) };
    let file = found.listed.file.clone();
    let bytes = fs::metadata(found.at.path()).ok().map(|metadata| metadata.len());
    let status = if report.is_cut() { FileStatus::Truncated } else { FileStatus::Ok };
    report.set_files(vec![ReportFile { name: file.clone(), bytes, status }]);
    let mut programs = HashMap::new();
    let of_file = |one: &&FoundModule| one.is_program() && one.at.path() == found.at.path();
    for one in files.modules.iter().filter(of_file) {
        let Some(name) = &one.listed.module else { continue };
        let named: &mut NamedPrograms = programs.entry(name.clone()).or_default();
        named.add(one.listed.main_bytes);
    }
    let blocks = record.blocks();
    let modules = files.listed_modules();
    let open = OpenRecord { file, record, figures, blocks, programs, modules };
    report::fill(&report, &open);
    Ok(Some(Arc::new(
        Derived::new(Arc::new(report)).with_answers(Arc::new(RecordAnswers::of(open))),
    )))
}
