//! The curve of a space as areas, and what is drawn beside it.

use super::memory::facts::RankView;
use super::memory::purposes::BufferPurpose;
use super::memory::scratch_facts::known_scratch;
use super::recorded::BufferSpace;
use super::run::{MemoryOfRank, SCRATCH, SCRATCH_RULE, scratch_by_operation};
use crate::analysis::areas::{AreaGroups, Counted, NOT_ATTRIBUTABLE, stacked};
use crate::analysis::liveness::Scope;
use crate::run::areas::{AreaGroup, AreasBy, AreasOf, StackedAreas};
use crate::run::beside_curve::{BesideCurve, CurveLine, StepMoment};
use crate::text::capitalised;

/// What was there before the report, and has no operation.
const BEFORE: &str = "Before the report";

/// What the curve of a space can be split by, the usual one first.
pub(super) fn groupings(view: &RankView<'_>) -> Vec<AreasBy> {
    let mut all = vec![AreasBy::Category, AreasBy::Operation];
    if view.rank.calls.has_stacks() {
        all.extend([AreasBy::Line, AreasBy::Function]);
    }
    all.push(AreasBy::Liveness);
    all
}

/// The areas of a space, or of a bank of it, which has circular buffers as well; `None` for what it cannot be split by here.
pub(super) fn areas(
    view: &RankView<'_>,
    memory: &MemoryOfRank,
    of: AreasOf,
) -> Option<StackedAreas> {
    let by = of.by;
    let is_known = [AreasBy::Category, AreasBy::Operation, AreasBy::Line, AreasBy::Function];
    if !is_known.contains(&by) {
        return None;
    }
    let operations = view.rank.operations.count();
    let (mut groups, mut counted) = (AreaGroups::default(), Vec::new());
    for (life, reads) in view.memory.lives.iter().zip(&view.memory.reads) {
        if life.key.space != memory.space || !life.is_at_end_of(life.first) {
            continue;
        }
        let group = match by {
            AreasBy::Category => {
                let purpose = BufferPurpose::of(view, life, *reads);
                of_category(purpose.key(), purpose.rule())
            }
            _ => made_by(view, life.allocated_by, by),
        };
        let steps = life.first..life.last().saturating_add(1).min(operations);
        counted.push(Counted { steps, bytes: life.bytes, key: groups.key(group) });
    }
    let mut levels: Vec<u64> = memory.levels(view).collect();
    if matches!(of.scope, Scope::Arena(_)) && memory.space == BufferSpace::L1 {
        for (at, scratch) in scratch_by_operation(view) {
            let bytes = scratch.bytes_beside_buffers(view, at);
            let bytes = bytes.into_iter().fold(0, u64::saturating_add);
            let group = match by {
                AreasBy::Category => of_category(SCRATCH, SCRATCH_RULE),
                _ => made_by(view, Some(at), by),
            };
            counted.push(Counted {
                steps: at..at.saturating_add(1),
                bytes,
                key: groups.key(group),
            });
            if let Some(level) = levels.get_mut(at as usize) {
                *level = level.saturating_add(bytes);
            }
        }
    }
    let most = levels.iter().copied().max().filter(|most| *most > 0);
    let peak = most.and_then(|most| levels.iter().position(|level| *level == most));
    let areas = stacked(levels.len(), &counted, peak, |key| groups.get(key));
    let level = |step: usize| levels.get(step).copied().unwrap_or(0);
    Some(areas.up_to(level, levels.len(), NOT_ATTRIBUTABLE))
}

/// The group of a category, in the color that the map has for it.
fn of_category(key: &str, rule: &str) -> AreaGroup {
    let title = capitalised(key);
    AreaGroup::category(title.clone(), &title, rule)
}

/// The group of what an operation made.
fn made_by(view: &RankView<'_>, at: Option<u32>, by: AreasBy) -> AreaGroup {
    match (by, at) {
        (AreasBy::Operation, Some(at)) => AreaGroup::placed(view.operation(at).name),
        (_, Some(at)) => {
            let code = if by == AreasBy::Function { view.function(at) } else { view.line(at) };
            code.map_or_else(|| AreaGroup::rest(NOT_ATTRIBUTABLE), AreaGroup::placed)
        }
        (_, None) => AreaGroup::placed(BEFORE),
    }
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
