//! What each core of the worker grid has in use at an operation: buffers, which take the same of all cores, circular buffers
//! of the program that takes most, and the pages that lie on the core.

use super::memory::facts::RankView;
use super::memory::scratch_facts::{CoreGrid, KnownScratch, closest, fullest, known_scratch};
use super::memory::{ProgramState, ProgramUse};
use super::recorded::{BufferSpace, CorePages};
use super::run::{MemoryOfRank, TtnnContents, main_view, memory_of_device};
use super::verdict::capacity_bytes;
use crate::format::Progress;
use crate::run::cores::{ChipOfCores, CoreFigure, CoresAtStep};
use crate::store::DeviceId;
use crate::text::{clean, counted};

/// Title, rule, and whether the limit of a core is one of the figure; in the order of [`OneCore::figures`].
const FIGURES: [(&str, &str, bool); 5] = [
    (
        "In use",
        "Buffers in L1 and L1_SMALL, which take the same addresses of all cores, and the circular buffers of the program of \
         the operation that takes most",
        true,
    ),
    (
        "L1 buffers, reserved",
        "Bytes of L1 that buffers take of every core, whether or not a part of them lies there",
        false,
    ),
    ("L1_SMALL, reserved", "Bytes of L1_SMALL that buffers take of every core", false),
    (
        "Circular buffers",
        "From where circular buffers begin to the highest end of one on the core, of the program of the operation that takes most",
        false,
    ),
    (
        "Pages held",
        "Bytes of the pages of buffers that lie on the core at the end of the operation",
        false,
    ),
];

/// Bytes of one core.
#[derive(Clone, Copy, Debug, Default)]
struct OneCore {
    l1: u64,
    l1_small: u64,
    scratch: u64,
    pages: Option<u64>,
}

impl OneCore {
    fn in_use(&self) -> u64 {
        self.l1.saturating_add(self.l1_small).saturating_add(self.scratch)
    }

    fn figures(&self) -> [Option<u64>; FIGURES.len()] {
        let reserved = [self.in_use(), self.l1, self.l1_small, self.scratch].map(Some);
        let [in_use, l1, small, scratch] = reserved;
        [in_use, l1, small, scratch, self.pages]
    }
}

/// The cores of all ranks at a position, or where most is in use of the rank that the run is about.
pub(super) fn cores_at(
    contents: &TtnnContents,
    wanted: Option<usize>,
    progress: &Progress,
) -> Option<CoresAtStep> {
    let views = contents.views();
    let main = main_view(&views)?;
    let most = fullest_operation(main);
    let at = match wanted {
        Some(step) => u32::try_from(step).ok()?,
        None => most.unwrap_or(0),
    };
    let width = |view: &RankView<'_>| usize::try_from(view.device().grid_x).unwrap_or(0);
    let height = |view: &RankView<'_>| usize::try_from(view.device().grid_y).unwrap_or(0);
    let columns = views.iter().map(width).max().filter(|columns| *columns > 0)?;
    let lines = views.iter().map(height).max().filter(|lines| *lines > 0)?;
    let pages = pages(contents, &views, at, progress);
    let mut found = CoresAtStep {
        step: at as usize,
        is_fullest: most == Some(at),
        columns,
        lines,
        figures: FIGURES.map(figure).to_vec(),
        ..CoresAtStep::default()
    };
    for ((place, view), pages) in (0_u32..).zip(&views).zip(&pages) {
        let is_there = at < view.rank.operations.count();
        let memory = memory_of_device(&views, DeviceId(place))?;
        found.chips.push(chip(view, &memory, is_there.then_some(at)));
        let cores = is_there.then(|| RankCores::of(view, at, pages.as_ref()));
        for (line, column) in (0..lines).flat_map(|line| (0..columns).map(move |at| (line, at))) {
            let core = cores.as_ref().and_then(|cores| cores.core(column, line));
            let figures = core.map_or([None; FIGURES.len()], |core| core.figures());
            for (figure, bytes) in found.figures.iter_mut().zip(figures) {
                figure.bytes.push(bytes);
            }
        }
    }
    found.figures.retain(|figure| figure.bytes.iter().any(Option::is_some));
    found.note = note(&views, at);
    (!progress.is_cancelled()).then_some(found)
}

fn figure((title, rule, has_limit): (&'static str, &'static str, bool)) -> CoreFigure {
    CoreFigure { title, rule, has_limit, bytes: Vec::new() }
}

/// The operation of a rank at which most of a core is in use.
fn fullest_operation(view: &RankView<'_>) -> Option<u32> {
    let known = fullest(view).map(|known| (known.in_use_bytes(), known.program.moment.operation));
    let ends = (0..view.rank.operations.count()).map(|at| (view.memory.core_level(at), at));
    let ends = ends.max_by_key(|(bytes, at)| (*bytes, std::cmp::Reverse(*at)));
    match (known, ends) {
        (Some(known), Some(end)) if end.0 > known.0 => Some(end.1),
        (known, end) => known.or(end).map(|(_, at)| at),
    }
}

/// What lies on the cores of each rank at the end of an operation, where the report says so.
fn pages(
    contents: &TtnnContents,
    views: &[RankView<'_>],
    at: u32,
    progress: &Progress,
) -> Vec<Option<CorePages>> {
    let is_known = |view: &RankView<'_>| {
        view.pages.is_some()
            && closest(view).is_some_and(|known| known.program.moment.operation == at)
    };
    let mut found: Vec<Option<CorePages>> =
        views.iter().map(|view| view.pages.filter(|_| is_known(view)).cloned()).collect();
    let places = views.iter().enumerate().zip(&found);
    let wanted: Vec<(usize, u32)> = places
        .filter(|((_, view), pages)| {
            pages.is_none() && view.rank.page_rows > 0 && at < view.rank.operations.count()
        })
        .map(|((place, _), _)| (place, at))
        .collect();
    let read = (!wanted.is_empty()).then(|| contents.pages_at(&wanted, progress)).flatten();
    for ((place, _), pages) in wanted.into_iter().zip(read.into_iter().flatten()) {
        if let Some(of_rank) = found.get_mut(place) {
            *of_rank = Some(pages);
        }
    }
    found
}

fn chip(view: &RankView<'_>, memory: &MemoryOfRank, at: Option<u32>) -> ChipOfCores {
    let chips = view.rank.machine.chips;
    let title = format!("rank {}", view.rank.rank);
    ChipOfCores {
        title: if chips > 1 { format!("{title}, {} alike", counted(chips, "chip")) } else { title },
        arena: memory.arena(),
        limit_bytes: capacity_bytes(view),
        operation: at.map(|at| clean(view.operation(at).name).into_owned()),
    }
}

/// The cores of a rank.
struct RankCores<'a> {
    width: usize,
    height: usize,
    l1: u64,
    l1_small: u64,
    scratch: Option<CoreGrid>,
    pages: Option<&'a CorePages>,
}

impl<'a> RankCores<'a> {
    fn of(view: &RankView<'_>, at: u32, pages: Option<&'a CorePages>) -> Self {
        let device = view.device();
        let of_operation = known_scratch(view).filter(|it| it.program.moment.operation == at);
        let most = of_operation.max_by_key(KnownScratch::in_use_bytes);
        // Where more is there at the end than with any program, that is the fullest moment that is known.
        let most = most.filter(|known| known.in_use_bytes() >= view.memory.core_level(at));
        let (l1, l1_small) = match &most {
            Some(known) => (known.program.moment.l1_bytes, known.program.moment.l1_small_bytes),
            None => {
                let level = |space| view.memory.level(space, at);
                (level(BufferSpace::L1), level(BufferSpace::L1Small))
            }
        };
        let size = |cores: u64| usize::try_from(cores).unwrap_or(0);
        Self {
            width: size(device.grid_x),
            height: size(device.grid_y),
            l1,
            l1_small,
            scratch: most.map(|known| CoreGrid::of(&device, known.buffers)),
            pages,
        }
    }

    /// The core at a place; `None` beyond the grid.
    fn core(&self, column: usize, line: usize) -> Option<OneCore> {
        if column >= self.width || line >= self.height {
            return None;
        }
        let place = line.checked_mul(self.width)?.checked_add(column)?;
        let scratch = self.scratch.as_ref().and_then(|grid| grid.bytes.get(place)).copied();
        let key = (u32::try_from(column).ok()?, u32::try_from(line).ok()?);
        let pages = self.pages.map(|pages| pages.get(&key).copied().unwrap_or(0));
        let (l1, l1_small) = (self.l1, self.l1_small);
        Some(OneCore { l1, l1_small, scratch: scratch.unwrap_or(0), pages })
    }
}

/// What is not known of the programs of an operation.
fn note(views: &[RankView<'_>], at: u32) -> String {
    let programs = views.iter().flat_map(|view| &view.memory.programs);
    let of_operation: Vec<&ProgramUse> =
        programs.filter(|program| program.moment.operation == at).collect();
    let unknown = of_operation.iter().filter(|it| it.state == ProgramState::Unknown).count() as u64;
    if unknown == 0 {
        return String::new();
    }
    let all = counted(of_operation.len() as u64, "program");
    format!(
        "The report does not have the circular buffers of {unknown} of {all} of this operation: cores may have had more in use"
    )
}
