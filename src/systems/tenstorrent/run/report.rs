//! The report that pages and commands share with other systems: spaces of ranks are devices, one bank of each is an arena,
//! operations are steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::memories::{MemoryOfRank, is_throughout, main_memory, memories};
use super::placed_scratch::{SCRATCH, add_scratch, scratch_classes};
use super::{TtnnContents, TtnnRun};
use crate::progress::Progress;
use crate::store::arena::Arenas;
use crate::store::debug_info::DebugInfo;
use crate::store::ids::CategoryId;
use crate::store::liveness::{Deltas, Liveness, VariableBytes};
use crate::store::names::{FastMap, NameId, Names};
use crate::store::options::{About, EngineOption};
use crate::store::placed::{Placed, Placement, ReadArena, ReadError};
use crate::store::program::{Programs, Steps};
use crate::store::report::Categories;
use crate::store::variable::VariableFlags;
use crate::store::{Absence, ArenaId, ClassId, DeviceId, ProgramId, Report, StepId, UnloweredId};
use crate::systems::tenstorrent::memory::BufferLife;
use crate::systems::tenstorrent::memory::facts::{BufferNames, RankView};
use crate::systems::tenstorrent::memory::purposes::BufferPurpose;
use crate::systems::tenstorrent::recorded::BufferSpace;
use crate::text::capitalised;

/// The class of what is there from the first operation to the last.
const THROUGHOUT: ClassId = ClassId(0);

impl TtnnRun {
    /// Fills the parts of the report.
    pub(super) fn fill_report(&self) {
        let (report, views) = (&*self.report, self.contents.views());
        let (memories, main) = (memories(&views), main_memory(&views));
        self.fill_about();
        let mut categories = Categories::default();
        let names = BufferPurpose::ALL.map(BufferPurpose::key).into_iter().chain([SCRATCH]);
        let names = names.map(capitalised);
        for (number, name) in (0..).zip(names) {
            categories.ids.push(CategoryId(number));
            categories.names.push(&name);
        }
        report.categories.fill(Some(categories));
        let of_scratch = || (0..views.len()).flat_map(|rank| scratch_classes(&views, rank));
        let ((arenas, (steps, programs), scratch), (deltas, mut liveness)) = rayon::join(
            || {
                let scratch: Vec<(ClassId, u32)> = of_scratch().collect();
                (arenas(&views, &memories, main), steps(&views, &memories, main), scratch)
            },
            || lives(&views, &memories, main),
        );
        for (class, at) in scratch {
            liveness.classes.push(class, false, [at..at.saturating_add(1)]);
        }
        report.arenas.fill(Some(arenas));
        report.steps.fill(Some(steps));
        report.programs.fill(Some(programs));
        report.deltas.fill(Some(deltas));
        report.liveness.fill(Some(liveness));
        // The page Operations lists the calls, which have no contexts beside them.
        report.debug.fill(Some(DebugInfo::default()));
        report.set_reader(Box::new(BankReader(Arc::clone(&self.contents))));
        report.settle_rest(&Absence::unexplained());
    }

    fn fill_about(&self) {
        let recorded = &self.contents.recorded;
        let option = |(name, value): &(String, String)| EngineOption {
            name: name.clone(),
            value: value.clone(),
            is_default: None,
        };
        // Where files lie differs in every run, and says nothing of it.
        let is_no_place = |(name, _): &&(String, String)| {
            !["_path", "_dir", "report_name"].iter().any(|end| name.ends_with(end))
        };
        self.report.about.fill(Some(About {
            producer_version: recorded.ttnn_version.clone(),
            format: recorded.schema_version.as_ref().map(|schema| format!("schema {schema}")),
            engine_options: recorded.settings.iter().filter(is_no_place).map(option).collect(),
            why_no_phases: Some(Absence::unexplained()),
            ..About::default()
        }));
    }
}

fn arenas(views: &[RankView<'_>], memories: &[MemoryOfRank], main: Option<MemoryOfRank>) -> Arenas {
    let main = main.map(|main| main.device());
    // Buffers lie below the end of a bank, circular buffers above its start.
    let mut arenas = Arenas { main, are_filled_from_both_ends: true, ..Arenas::default() };
    for memory in memories {
        let Some(view) = views.get(memory.rank) else { continue };
        let (device, title) = (memory.device(), memory.title(view));
        arenas.ids.push(memory.arena());
        arenas.names.push(&title);
        arenas.devices.push(Some(device));
        arenas.capacities.push(memory.capacity_bytes(view));
        let lives = view.memory.lives.iter().filter(|life| life.key.space == memory.space);
        let throughout = lives.filter(|life| is_throughout(life)).map(|life| life.bytes);
        arenas.always_live.push(Some(throughout.fold(0, u64::saturating_add)));
        arenas.device_names.insert(device, title);
        if Some(device) != main {
            arenas.apart.insert(device);
        }
    }
    arenas
}

/// A step for each operation of the rank with the most, with a program for each name.
fn steps(
    views: &[RankView<'_>],
    memories: &[MemoryOfRank],
    main: Option<MemoryOfRank>,
) -> (Steps, Programs) {
    let (mut steps, mut programs) = (Steps::default(), Programs::default());
    let kind = programs.kind_names.push("operation");
    let mut known: FastMap<NameId, ProgramId> = FastMap::default();
    let mut of_ranks: Vec<Vec<ProgramId>> = Vec::new();
    for view in views {
        let program = |name: &NameId| {
            let next = ProgramId(u32::try_from(known.len()).unwrap_or(u32::MAX));
            let id = *known.entry(*name).or_insert(next);
            if id == next && programs.ids.push(id) {
                programs.kinds.push(Some(kind));
                programs.names.push(view.name(*name));
                programs.debug_ids.push(0);
                programs.compute_sets.push(None);
                programs.exchanges.push(None);
                programs.children_ends.push(0);
            }
            id
        };
        of_ranks.push(view.rank.operations.names.iter().map(program).collect());
    }
    let ids = views.iter().map(|view| &view.rank.operations.ids).max_by_key(|ids| ids.len());
    for (place, id) in (0_u32..).zip(ids.into_iter().flatten()) {
        // Ids of operations are small numbers; where one is not, the steps count from there on.
        if !steps.ids.push(StepId(u32::try_from(*id).unwrap_or(u32::MAX))) {
            steps.ids.push(StepId(place));
        }
        steps.parents.push(None);
    }
    let count = steps.ids.len();
    steps.parents.truncate(count);
    let of_rank = |rank: usize| of_ranks.get(rank).cloned().unwrap_or_default();
    steps.programs = of_rank(main.map_or(0, |main| main.rank));
    steps.programs.resize(count, ProgramId(0));
    if views.len() > 1 {
        let devices = memories.iter().map(|memory| (memory.device(), of_rank(memory.rank)));
        steps.by_device = devices.collect();
    }
    (steps, programs)
}

/// What changes at each step, and when buffers live. Classes of scratch are added behind.
fn lives(
    views: &[RankView<'_>],
    memories: &[MemoryOfRank],
    main: Option<MemoryOfRank>,
) -> (Deltas, Liveness) {
    let (mut deltas, mut liveness) = (Deltas::default(), Liveness::default());
    let mut called = BufferNames::default();
    let longest = views.iter().map(|view| view.rank.operations.count()).max().unwrap_or(0);
    liveness.classes.push(THROUGHOUT, true, [0..longest]);
    // A memory in which nothing ever is has rows, too: none.
    let mut rows: BTreeMap<DeviceId, Vec<VariableBytes>> =
        memories.iter().map(|memory| (memory.device(), Vec::new())).collect();
    for (number, view, place) in numbered(views) {
        let Some(life) = view.memory.lives.get(place) else { continue };
        let Some(memory) = memories.iter().find(|memory| is_in(memory, view, life, views)) else {
            continue;
        };
        let reads = view.memory.reads_of(place);
        let (variable, class) = (UnloweredId(number), class_of(number, life));
        liveness.variable_ids.push(variable);
        liveness.variable_names.push(&called.of(view, life, reads));
        if class != THROUGHOUT {
            let end = life.last().saturating_add(1).min(view.rank.operations.count());
            liveness.classes.push(class, false, [life.first..end]);
        }
        let row = VariableBytes { variable, class, bytes: life.bytes };
        rows.entry(memory.device()).or_default().push(row);
    }
    for memory in memories {
        let Some(view) = views.get(memory.rank) else { continue };
        let of = view.memory.lives.iter().filter(|life| life.key.space == memory.space);
        let throughout = of.filter(|life| is_throughout(life)).map(|life| life.bytes);
        let throughout = throughout.fold(0, u64::saturating_add);
        let (mut before, mut changes) = (0_i64, Vec::new());
        for (step, level) in (0_u32..).zip(memory.levels(view)) {
            let now = i64::try_from(level.saturating_sub(throughout)).unwrap_or(i64::MAX);
            if now != before {
                changes.push((step, now.saturating_sub(before)));
            }
            before = now;
        }
        if Some(memory.device()) == main.map(|main| main.device()) {
            deltas.everything.clone_from(&changes);
        }
        deltas.by_device.insert(memory.device(), changes);
    }
    let of_main = main.and_then(|main| rows.get(&main.device()).cloned());
    liveness.variable_bytes = Some(of_main.unwrap_or_default());
    liveness.counted_bytes_of_devices = rows;
    (deltas, liveness)
}

/// The lives of all ranks that are there at the end of an operation, each with its number in the report, its rank, and its
/// place there.
fn numbered<'a, 'b>(
    views: &'b [RankView<'a>],
) -> impl Iterator<Item = (u32, &'b RankView<'a>, usize)> {
    let all = views.iter().flat_map(|view| (0..view.memory.lives.len()).map(move |at| (view, at)));
    let numbered = (0_u32..).zip(all);
    let is_at_an_end = |(_, (view, place)): &(u32, (&'b RankView<'a>, usize))| {
        let life = view.memory.lives.get(*place);
        life.is_some_and(|life| life.is_at_end_of(life.first))
    };
    numbered.filter(is_at_an_end).map(|(number, (view, place))| (number, view, place))
}

fn is_in(
    memory: &MemoryOfRank,
    view: &RankView<'_>,
    life: &BufferLife,
    views: &[RankView<'_>],
) -> bool {
    let of = views.get(memory.rank);
    memory.space == life.key.space && of.is_some_and(|of| std::ptr::eq(of.rank, view.rank))
}

fn class_of(number: u32, life: &BufferLife) -> ClassId {
    if is_throughout(life) { THROUGHOUT } else { ClassId(number.saturating_add(1)) }
}

/// Reads a bank from the lives of buffers, which are in memory.
#[derive(Debug)]
struct BankReader(Arc<TtnnContents>);

impl ReadArena for BankReader {
    fn read(&self, arena: ArenaId, _: &Progress) -> Result<Option<Placed>, ReadError> {
        let views = self.0.views();
        let memories = memories(&views);
        let Some(memory) = memories.iter().find(|memory| memory.arena() == arena) else {
            return Ok(None);
        };
        let in_space = |view: &RankView<'_>| {
            let lives = view.memory.lives.iter();
            lives.filter(|life| life.key.space == memory.space).count()
        };
        let most = views.get(memory.rank).map_or(0, in_space);
        let (mut placements, mut names) = (Vec::with_capacity(most), Names::default());
        let mut called = BufferNames::default();
        for (number, view, place) in numbered(&views) {
            let Some(life) = view.memory.lives.get(place) else { continue };
            if !is_in(memory, view, life, &views) {
                continue;
            }
            let reads = view.memory.reads_of(place);
            names.push(&called.of(view, life, reads));
            placements.push(Placement {
                id: number,
                offset: life.key.address.saturating_sub(memory.base(view)),
                bytes: life.bytes,
                alignment: 0,
                category: Some(BufferPurpose::of(view, life, reads) as u32),
                class: class_of(number, life),
                unlowered: Some(UnloweredId(number)),
                flags: VariableFlags(1),
            });
        }
        let mut without_room = None;
        if memory.space == BufferSpace::L1
            && let Some(view) = views.get(memory.rank)
        {
            let base = memory.base(view);
            without_room = add_scratch(&views, memory.rank, base, &mut placements, &mut names);
        }
        let mut placed = Placed::new(placements, names, Vec::new(), Vec::new());
        placed.without_room = without_room;
        Ok(Some(placed))
    }
}

/// The memory that a device of the report is.
pub fn memory_of_device(views: &[RankView<'_>], device: DeviceId) -> Option<MemoryOfRank> {
    memories(views).into_iter().find(|memory| memory.device() == device)
}

/// What each device is called.
pub fn device_titles(report: &Report, views: &[RankView<'_>]) -> BTreeMap<i64, String> {
    let title = |memory: MemoryOfRank| {
        let device = memory.device();
        (device.to_number(), report.device_title(device))
    };
    memories(views).into_iter().map(title).collect()
}
