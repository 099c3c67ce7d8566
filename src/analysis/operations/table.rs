//! The table of operations. Each figure comes from the tables that tell it apart by program, exchange, compute set,
//! vertex type or variable; its whole from `memory_by_category`, where a category has the sizes of all its variables:
//! those at addresses of their own and those at shared ones.
//!
//! - Control code, exchange code, vertex state and variables belong to operations as [`Owners`] says.
//! - The code of a vertex type belongs to an operation where the compute sets of no other one, and none without an
//!   operation, use the type; what is shared belongs to none.
//! - Alive at a step: variables whose class lives there; code and vertex state live as long as the program, unless
//!   the report says of any of their kind that it does not: then of no operation.
//! - Measured cycles are those of the steps that ran, each with the tile that took longest.
//! - Estimated cycles and FLOPs are the compiler's: of each step once, however often a loop runs it. They are known of
//!   an operation where they are of all its steps that compute or exchange.

use std::collections::{BTreeMap, HashMap};

use super::{Figures, OperationFigure, OperationRow, OperationTable, operation_of_span};
use crate::analysis::comparison::owners::{Owned, Owners};
use crate::analysis::comparison::tally::Pseudo;
use crate::analysis::compute::estimates::StepWork;
use crate::analysis::compute::vertex_state::StateBytes;
use crate::analysis::execution::Executed;
use crate::analysis::liveness;
use crate::analysis::liveness::scope_curve::ScopeCurve;
use crate::analysis::memory::over_tiles::{most, sum};
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::{self, CategoryBytes};
use crate::analysis::program::operations::partials_type;
use crate::analysis::program::step_operations::StepOperations;
use crate::store::exchange::ExchangeId;
use crate::store::liveness::{Classes, Liveness, VariableBytes};
use crate::store::{Report, VertexTypeId};

/// The layers that contexts of a report are of, those that most contexts are of first.
pub fn layers(report: &Report) -> Vec<String> {
    let Some(debug) = report.debug.get() else { return Vec::new() };
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for row in 0..debug.ids.len() {
        let count = counts.entry(debug.layer(row)).or_default();
        *count = count.saturating_add(1);
    }
    let mut layers: Vec<(&str, u64)> =
        counts.into_iter().filter(|(layer, _)| !layer.is_empty()).collect();
    layers.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    layers.into_iter().map(|(layer, _)| layer.to_owned()).collect()
}

/// The operations of the layer that `steps` and `owners` are of, with what is alive by the curve of everything; `None` where the report names no operation, or when
/// it was canceled.
pub fn table(
    report: &Report,
    steps: &StepOperations,
    owners: &Owners,
    curve: Option<&ScopeCurve>,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<OperationTable> {
    let debug = report.debug.get()?;
    let always_live = curve.and_then(|curve| curve.always_live.at(0));
    let curve = curve.map(|curve| &*curve.not_always_live);
    let peak = curve.and_then(liveness::peak);
    let mut table = Filling {
        report,
        owners,
        rows: vec![Figures::default(); owners.operations().len()],
        whole: whole(report, peak.and_then(|step| curve?.get(step).copied()), always_live),
        worst_steps: vec![None; owners.operations().len()],
    };
    let pseudo_is_always_live = table.variables(peak, is_cancelled)?;
    table.code_and_state(pseudo_is_always_live);
    table.compute(steps);
    table.measured();
    let mut contexts: Vec<Option<u32>> = vec![None; owners.operations().len()];
    let programs = report.programs.get();
    for (row, owner) in owners.programs.iter().enumerate() {
        let Some(owner) = owner.map(|owner| owner as usize) else { continue };
        if let Some(figures) = table.rows.get_mut(owner) {
            figures.add(OperationFigure::Programs, 1);
        }
        let id = programs.and_then(|programs| programs.debug_ids.get(row).copied());
        if let Some(context) = contexts.get_mut(owner).filter(|context| context.is_none()) {
            let row = id.and_then(|id| debug.position(id));
            *context = row.and_then(|row| u32::try_from(row).ok());
        }
    }
    let Filling { rows, whole, worst_steps, .. } = table;
    let rest = rest(&rows, &whole);
    let facts = rows.into_iter().zip(worst_steps).zip(contexts);
    let rows = owners.operations().iter().zip(facts).zip(0_u32..);
    let row = |((operation, ((figures, worst_step), context)), place): (
        (_, ((_, _), Option<u32>)),
        u32,
    )| {
        let of_context = context.and_then(|row| partials_type(debug, row as usize));
        OperationRow {
            operation: Clone::clone(operation),
            partials_type: of_context.map(str::to_owned),
            figures,
            worst_step,
            steps: steps.steps_of(place).to_vec(),
            context,
        }
    };
    let rows = rows.map(row).collect();
    let peak = peak.and_then(|peak| u32::try_from(peak).ok());
    Some(OperationTable { rows, rest, whole, peak })
}

/// What rows leave of the whole.
fn rest(rows: &[Figures], whole: &Figures) -> Figures {
    let mut sum = Figures::default();
    for row in rows {
        sum.add_all(row);
    }
    let mut rest = Figures::default();
    for figure in OperationFigure::ALL.into_iter().filter(|figure| figure.adds_up()) {
        let left =
            whole.get(figure).map(|whole| whole.saturating_sub(sum.get(figure).unwrap_or(0)));
        rest.set(figure, left);
    }
    rest
}

/// The whole of each figure, as the report states it; `at_peak` is what is alive at the peak and not always, `reserved`
/// what the curve has always, which counts where memory is not known by category.
fn whole(report: &Report, at_peak: Option<u64>, reserved: Option<u64>) -> Figures {
    let mut whole = Figures::default();
    if let Some(memory) = report.memory.get() {
        let mut unknown = Vec::new();
        for category in &memory.categories {
            let figure = match Pseudo::of(&category.name) {
                Some(Pseudo::ControlCode) => OperationFigure::ControlCode,
                Some(Pseudo::ExchangeCode) => OperationFigure::ExchangeCode,
                Some(Pseudo::VertexState) => OperationFigure::VertexState,
                None if is_vertex_code(Some(&category.name)) => OperationFigure::VertexCode,
                None => OperationFigure::Variables,
            };
            let CategoryBytes { not_overlapped, overlapped } = memory::category_total(category);
            match not_overlapped.zip(overlapped) {
                Some((own, shared)) => whole.add(figure, own.saturating_add(shared)),
                None => unknown.push(figure),
            }
        }
        let code = OperationFigure::CODE.map(|figure| whole.get(figure));
        let code = code.into_iter().flatten().reduce(i64::saturating_add);
        whole.set(OperationFigure::Code, code);
        for figure in unknown {
            whole.set(figure, None);
            if OperationFigure::CODE.contains(&figure) {
                whole.set(OperationFigure::Code, None);
            }
        }
        let always_live = memory::sum(&memory.always_live).and_then(|sum| i64::try_from(sum).ok());
        whole.set(OperationFigure::AlwaysLive, always_live);
        let alive = always_live.zip(at_peak).map(|(sum, more)| sum.saturating_add_unsigned(more));
        whole.set(OperationFigure::PeakLive, alive);
    } else if let Some(liveness) = report.liveness.get() {
        let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        whole.set(OperationFigure::AlwaysLive, reserved.map(signed));
        let alive = reserved.zip(at_peak).map(|(sum, more)| signed(sum.saturating_add(more)));
        whole.set(OperationFigure::PeakLive, alive);
        let rows = sizes_of(liveness);
        let bytes = |rows: &[VariableBytes]| {
            rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes))
        };
        whole.set(OperationFigure::Variables, rows.map(bytes).map(signed));
    }
    if let Some(sets) = report.compute_sets.get() {
        let sum = sets
            .vertices
            .iter()
            .copied()
            .try_fold(0_u64, |sum, more| Some(sum.saturating_add(more?)));
        whole.set(OperationFigure::Vertices, sum.and_then(|sum| i64::try_from(sum).ok()));
    }
    let count = |count: usize| i64::try_from(count).ok();
    whole.set(OperationFigure::Programs, report.programs.get().and_then(|it| count(it.ids.len())));
    whole.set(OperationFigure::Steps, report.steps.get().and_then(|steps| count(steps.ids.len())));
    whole
}

/// The sizes of variables, where each has memory of its own: of others, which take it one from another, they would count
/// it again and again.
fn sizes_of(liveness: &Liveness) -> Option<&[VariableBytes]> {
    liveness.variable_bytes.as_deref().filter(|_| liveness.counted_bytes.is_none())
}

/// A table that is being filled.
struct Filling<'a> {
    report: &'a Report,
    owners: &'a Owners,
    /// For each of [`Owners::operations`].
    rows: Vec<Figures>,
    whole: Figures,
    worst_steps: Vec<Option<u32>>,
}

impl Filling<'_> {
    /// Variables, and what of them is alive. Says whether code of exchanges, vertex state and control code live as
    /// long as the program. `None` when it was canceled.
    fn variables(
        &mut self,
        peak: Option<usize>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<[bool; 3]> {
        let mut is_always_live = [true; 3];
        let Some(liveness) = self.report.liveness.get() else { return Some(is_always_live) };
        // Each address counts once.
        let Some(rows) = liveness.counted_bytes() else { return Some(is_always_live) };
        let pseudo: Vec<Option<Pseudo>> = liveness.variable_names.iter().map(Pseudo::of).collect();
        // What an operation has in classes that are not always live.
        let mut temporary: Vec<HashMap<usize, u64>> = vec![HashMap::new(); self.rows.len()];
        let has_sizes = sizes_of(liveness).is_some();
        for figures in &mut self.rows {
            figures.add(OperationFigure::AlwaysLive, 0);
            if has_sizes {
                figures.add(OperationFigure::Variables, 0);
            }
        }
        for (count, row) in rows.iter().enumerate() {
            if count % 4096 == 0 && is_cancelled() {
                return None;
            }
            let class = liveness.classes.ids.position(row.class);
            let always = class.and_then(|class| liveness.classes.always_live.get(class)).copied();
            let variable = liveness.variable_ids.position(row.variable);
            if let Some(kind) = variable.and_then(|variable| *pseudo.get(variable)?) {
                if let Some(flag) = is_always_live.get_mut(kind as usize) {
                    *flag &= always != Some(false) || row.bytes == 0;
                }
                continue;
            }
            if is_vertex_code(liveness.variable_names.at(variable.unwrap_or(usize::MAX))) {
                continue;
            }
            let VariableBytes { bytes, .. } = *row;
            let Some((owner, _)) = self.owners.variables.of(liveness, row) else { continue };
            let Some(figures) = self.rows.get_mut(owner as usize) else { continue };
            if has_sizes {
                figures.add(OperationFigure::Variables, bytes);
            }
            match (always, class) {
                (Some(true), _) => figures.add(OperationFigure::AlwaysLive, bytes),
                (Some(false), Some(class)) => {
                    if let Some(of_class) = temporary.get_mut(owner as usize) {
                        let sum = of_class.entry(class).or_default();
                        *sum = sum.saturating_add(bytes);
                    }
                }
                _ => {}
            }
        }
        for (place, of_class) in temporary.iter().enumerate() {
            let (at_peak, worst) = alive(&liveness.classes, of_class, peak);
            let Some(figures) = self.rows.get_mut(place) else { continue };
            if peak.is_some() {
                figures.add(OperationFigure::PeakLive, at_peak);
            }
            figures.add(OperationFigure::WorstLive, worst.map_or(0, |(bytes, _)| bytes));
            if let Some(cell) = self.worst_steps.get_mut(place) {
                *cell = worst.map(|(_, step)| step);
            }
            let always = figures.get(OperationFigure::AlwaysLive).unwrap_or(0).unsigned_abs();
            figures.add(OperationFigure::WorstLive, always);
            if peak.is_some() {
                figures.add(OperationFigure::PeakLive, always);
            }
        }
        Some(is_always_live)
    }

    /// Code and the state of vertices; `is_always_live` says of exchange code, state and control code whether they
    /// are.
    fn code_and_state(&mut self, is_always_live: [bool; 3]) {
        let all = TileSelection::default();
        let (report, owners) = (self.report, self.owners);
        let [exchange, state, control] = is_always_live;
        self.owned(OperationFigure::ExchangeCode, owners.exchange_code(report, &all), exchange);
        self.owned(OperationFigure::ControlCode, owners.control_code(report, &all), control);
        let of_sets = report.compute_set_tiles.get().map(|sets| {
            let bytes = sets.state.iter().map(|state| StateBytes::on(state, &all).total());
            owners.compute_sets.iter().copied().zip(bytes).collect()
        });
        self.owned(OperationFigure::VertexState, of_sets, state);
        // The code of vertices is always there.
        self.owned(OperationFigure::VertexCode, self.vertex_code(), true);
        for figures in &mut self.rows {
            let parts = OperationFigure::CODE.map(|figure| figures.get(figure));
            figures.set(
                OperationFigure::Code,
                parts.into_iter().flatten().reduce(i64::saturating_add),
            );
        }
    }

    fn owned(&mut self, figure: OperationFigure, rows: Option<Vec<Owned>>, is_always_live: bool) {
        let Some(rows) = rows else { return };
        self.rows.iter_mut().for_each(|figures| figures.add(figure, 0));
        for (owner, bytes) in rows {
            let (Some(owner), Some(bytes)) = (owner, bytes) else { continue };
            let Some(figures) = self.rows.get_mut(owner as usize) else { continue };
            figures.add(figure, bytes);
            for alive in
                [OperationFigure::AlwaysLive, OperationFigure::PeakLive, OperationFigure::WorstLive]
            {
                if is_always_live && figures.get(alive).is_some() {
                    figures.add(alive, bytes);
                }
            }
        }
    }

    /// The code of each vertex type and the operation that alone uses it.
    fn vertex_code(&self) -> Option<Vec<Owned>> {
        let owners = owners_of_vertex_types(self.report, self.owners)?;
        let (all, types) = (TileSelection::default(), self.report.vertex_types.get()?);
        let bytes = types.code.iter().map(|code| sum(code.as_ref(), &all));
        Some(owners.into_iter().zip(bytes).collect())
    }

    /// Vertices, steps, and estimates.
    fn compute(&mut self, steps: &StepOperations) {
        let (report, owners) = (self.report, self.owners);
        if let Some(sets) = report.compute_sets.get() {
            self.rows.iter_mut().for_each(|figures| figures.add(OperationFigure::Vertices, 0));
            for (owner, vertices) in owners.compute_sets.iter().zip(&sets.vertices) {
                if let (Some(owner), Some(vertices)) = (owner, vertices)
                    && let Some(figures) = self.rows.get_mut(*owner as usize)
                {
                    figures.add(OperationFigure::Vertices, *vertices);
                }
            }
        }
        let estimates = Estimates::of(report);
        for (place, figures) in (0_u32..).zip(&mut self.rows) {
            let of = steps.steps_of(place);
            figures.set(OperationFigure::Steps, i64::try_from(of.len()).ok());
            let (cycles, flops) = estimates.sums(report, of);
            figures.set(OperationFigure::EstimatedCycles, cycles);
            figures.set(OperationFigure::EstimatedFlops, flops);
        }
        if let Some(all) = report.steps.get() {
            let all: Vec<u32> = (0..).take(all.ids.len()).collect();
            let (cycles, flops) = estimates.sums(report, &all);
            self.whole.set(OperationFigure::EstimatedCycles, cycles);
            self.whole.set(OperationFigure::EstimatedFlops, flops);
        }
    }

    /// Cycles of the steps that ran; nothing where none was recorded.
    fn measured(&mut self) {
        let (report, owners) = (self.report, self.owners);
        let Some(executed) = Executed::of(report).filter(|_| report.programs.get().is_some())
        else {
            return;
        };
        self.rows.iter_mut().for_each(|figures| figures.add(OperationFigure::Cycles, 0));
        for (span, cycles) in executed.trace.spans.cycles.iter().enumerate() {
            self.whole.add(OperationFigure::Cycles, *cycles);
            let owner = operation_of_span(executed, owners, span);
            let figures = owner.and_then(|owner| self.rows.get_mut(owner as usize));
            if let Some(figures) = figures {
                figures.add(OperationFigure::Cycles, *cycles);
            }
        }
    }
}

/// For each vertex type the operation that alone uses it; `None` where the report does not say what is used.
pub(super) fn owners_of_vertex_types(report: &Report, owners: &Owners) -> Option<Vec<Option<u32>>> {
    let (sets, types) = (report.compute_sets.get()?, report.vertex_types.get()?);
    let mut users: HashMap<VertexTypeId, Option<u32>> = HashMap::new();
    for (of_types, owner) in sets.vertices_by_type.iter().zip(&owners.compute_sets) {
        for counted in of_types.iter().flatten() {
            let user = users.entry(counted.vertex_type).or_insert(*owner);
            *user = user.filter(|user| Some(*user) == *owner);
        }
    }
    Some(types.ids.as_slice().iter().map(|id| users.get(id).copied().flatten()).collect())
}

fn is_vertex_code(name: Option<&str>) -> bool {
    name == Some("vertexCode")
}

/// What is alive of classes at a step, and at the first of those at which most is.
fn alive(
    classes: &Classes,
    of_class: &HashMap<usize, u64>,
    step: Option<usize>,
) -> (u64, Option<(u64, u32)>) {
    let mut at_step = 0_u64;
    let mut changes: BTreeMap<u32, i128> = BTreeMap::new();
    for (class, bytes) in of_class {
        for range in classes.ranges_of(*class) {
            *changes.entry(range.start).or_default() += i128::from(*bytes);
            *changes.entry(range.end).or_default() -= i128::from(*bytes);
            let is_there = |step: usize| (range.start as usize..range.end as usize).contains(&step);
            if step.is_some_and(is_there) {
                at_step = at_step.saturating_add(*bytes);
            }
        }
    }
    let mut now = 0_i128;
    let mut worst: Option<(u64, u32)> = None;
    for (step, change) in changes {
        now += change;
        let bytes = u64::try_from(now).unwrap_or(0);
        if bytes > worst.map_or(0, |(most, _)| most) {
            worst = Some((bytes, step));
        }
    }
    (at_step, worst)
}

/// Cycles and FLOPs of compute sets and exchanges.
struct Estimates {
    /// For each compute set.
    of_sets: Vec<(Option<u64>, Option<u64>)>,
    of_exchanges: HashMap<ExchangeId, Option<u64>>,
}

impl Estimates {
    fn of(report: &Report) -> Self {
        let all = TileSelection::default();
        let of_sets = report.compute_set_tiles.get().map(|sets| {
            let lists = sets.cycles.iter().zip(&sets.flops);
            lists
                .map(|(cycles, flops)| (most(cycles.as_ref(), &all), sum(flops.as_ref(), &all)))
                .collect()
        });
        let of_exchanges = report.exchanges.get().map(|exchanges| {
            let lists = exchanges.ids.iter().zip(&exchanges.cycles);
            lists.map(|(id, cycles)| (*id, most(cycles.as_ref(), &all))).collect()
        });
        Self {
            of_sets: of_sets.unwrap_or_default(),
            of_exchanges: of_exchanges.unwrap_or_default(),
        }
    }

    /// The sums over steps; `None` where one that computes or exchanges has none, or none does.
    fn sums(&self, report: &Report, of: &[u32]) -> (Option<i64>, Option<i64>) {
        let mut cycles = KnownSum::default();
        let mut flops = KnownSum::default();
        for step in of {
            match StepWork::of_step(report, *step as usize) {
                Some(StepWork::ComputeSet(set)) => {
                    let row = report.compute_sets.get().and_then(|sets| sets.ids.position(set));
                    let (of_cycles, of_flops) =
                        row.and_then(|row| self.of_sets.get(row).copied()).unwrap_or_default();
                    cycles.add(of_cycles);
                    flops.add(of_flops);
                }
                Some(StepWork::Exchange(exchange)) => {
                    cycles.add(self.of_exchanges.get(&exchange).copied().flatten());
                }
                None => {}
            }
        }
        (cycles.sum(), flops.sum())
    }
}

/// A sum that is known if all its parts are, and there is one.
#[derive(Default)]
struct KnownSum {
    sum: u64,
    parts: u64,
    is_unknown: bool,
}

impl KnownSum {
    fn add(&mut self, part: Option<u64>) {
        self.parts = self.parts.saturating_add(1);
        self.is_unknown |= part.is_none();
        self.sum = self.sum.saturating_add(part.unwrap_or(0));
    }

    fn sum(&self) -> Option<i64> {
        (self.parts > 0 && !self.is_unknown).then(|| i64::try_from(self.sum).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_alive_is_that_of_a_search(
            lives in proptest::collection::vec((0..9_u32, 0..5_u32, 0..100_u64), 0..8),
            step in 0..12_usize,
        ) {
            // The first class always lives and is not asked for.
            let ranges = lives.iter().map(|(start, length, _)| [*start..start + length]);
            let classes = fixture::classes(0, std::iter::once([0..9]).chain(ranges));
            let of_class: HashMap<usize, u64> =
                (1..).zip(&lives).map(|(class, (.., bytes))| (class, *bytes)).collect();
            let at = |step: u32| -> u64 {
                let is_there = |(start, length, _): &&(u32, u32, u64)| (*start..start + length).contains(&step);
                lives.iter().filter(is_there).map(|(.., bytes)| bytes).sum()
            };
            let (found, worst) = alive(&classes, &of_class, Some(step));
            prop_assert_eq!(found, at(u32::try_from(step).unwrap()));
            let most = (0..14).map(at).max().filter(|most| *most > 0);
            let first = most.and_then(|most| (0..14).find(|step| at(*step) == most));
            prop_assert_eq!(worst, most.zip(first));
        }
    }
}
