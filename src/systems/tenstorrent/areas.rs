//! The curve of a space as areas, and what is drawn beside it.

use super::memory::facts::RankView;
use super::memory::purposes::BufferPurpose;
use super::memory::scratch_facts::known_scratch;
use super::recorded::BufferSpace;
use super::run::MemoryOfRank;
use crate::analysis::areas::{AreaGroups, Counted, NOT_ATTRIBUTABLE, stacked};
use crate::run::areas::{AreaGroup, AreasBy, StackedAreas};
use crate::run::beside_curve::{BesideCurve, CurveLine, StepMoment};
use crate::text::capitalised;

/// What was there before the report, and has no operation.
const BEFORE: &str = "Before the report";

/// What the curve of a space can be split by, the usual one first.
pub(super) fn groupings(view: &RankView<'_>) -> Vec<AreasBy> {
    let mut all = vec![AreasBy::Category, AreasBy::Operation];
    all.extend(view.rank.calls.has_stacks().then_some(AreasBy::Line));
    all.push(AreasBy::Liveness);
    all
}

/// The areas of a space; `None` for what it cannot be split by here.
pub(super) fn areas(
    view: &RankView<'_>,
    memory: &MemoryOfRank,
    by: AreasBy,
) -> Option<StackedAreas> {
    if !matches!(by, AreasBy::Category | AreasBy::Operation | AreasBy::Line) {
        return None;
    }
    let operations = view.rank.operations.count();
    let (mut groups, mut counted) = (AreaGroups::default(), Vec::new());
    for (life, reads) in view.memory.lives.iter().zip(&view.memory.reads) {
        if life.key.space != memory.space || !life.is_at_end_of(life.first) {
            continue;
        }
        let group = match (by, life.allocated_by) {
            (AreasBy::Category, _) => {
                let purpose = BufferPurpose::of(view, life, *reads);
                AreaGroup::category(capitalised(purpose.key()), purpose.key(), purpose.rule())
            }
            (AreasBy::Operation, Some(at)) => AreaGroup::placed(view.operation(at).name),
            (_, Some(at)) => match view.line(at) {
                Some(line) => AreaGroup::placed(line),
                None => AreaGroup::rest(NOT_ATTRIBUTABLE),
            },
            (_, None) => AreaGroup::placed(BEFORE),
        };
        let steps = life.first..life.last().saturating_add(1).min(operations);
        counted.push(Counted { steps, bytes: life.bytes, key: groups.key(group) });
    }
    let levels: Vec<u64> = memory.levels(view).collect();
    let peak = view.memory.peak(memory.space).map(|at| at as usize);
    let areas = stacked(levels.len(), &counted, peak, |key| groups.get(key));
    let level = |step: usize| levels.get(step).copied().unwrap_or(0);
    Some(areas.up_to(level, levels.len(), NOT_ATTRIBUTABLE))
}

/// Beside L1: the same with circular buffers as far as they are known, and operations that failed.
pub(super) fn beside_curve(view: &RankView<'_>, memory: &MemoryOfRank) -> BesideCurve {
    if memory.space != BufferSpace::L1 {
        return BesideCurve::default();
    }
    let mut bytes: Vec<u64> = memory.levels(view).collect();
    for known in known_scratch(view) {
        if let Some(most) = bytes.get_mut(known.program.moment.operation as usize) {
            *most = known.in_use_bytes().max(*most);
        }
    }
    let line = CurveLine {
        title: "With circular buffers".into(),
        rule: "Buffers in L1 and L1_SMALL where a program of the operation begins, with its circular buffers; programs whose \
               circular buffers are not known count without them",
        is_usual: true,
        other: None,
        bytes,
    };
    let errors = view.rank.errors.iter().filter_map(|error| error.operation);
    let moment = |at: u32| StepMoment { step: at as usize, title: "Failed", bytes: None };
    let mut moments: Vec<StepMoment> = errors.map(moment).collect();
    moments.sort_by_key(|moment| moment.step);
    let has_scratch = known_scratch(view).next().is_some();
    let lines = has_scratch.then_some(line).into_iter().collect();
    BesideCurve { lines, moments, ..BesideCurve::default() }
}
