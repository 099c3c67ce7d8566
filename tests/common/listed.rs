//! Reports in memory from a list of steps, for what compares reports.

use tilescope::store::compute::ComputeSets;
use tilescope::store::debug_info::{Context, DebugInfo, TextRef};
use tilescope::store::exchange::{ExchangeId, ExchangeKind, Exchanges};
use tilescope::store::liveness::Liveness;
use tilescope::store::names::Interner;
use tilescope::store::program::{Programs, Steps};
use tilescope::store::{ComputeSetId, ProgramId, Report, StepId, UnloweredId};

/// A step whose program is visited by no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The kind; an `OnTileExecute` has a compute set that has the name, a `DoExchange` an exchange.
    pub kind: &'static str,
    /// The name, empty for none.
    pub name: String,
    /// The name of the operation, empty for a step that belongs to none.
    pub operation: String,
}

/// A step.
pub fn step(kind: &'static str, name: &str, operation: &str) -> Step {
    Step { kind, name: name.to_owned(), operation: operation.to_owned() }
}

/// A report with these steps, and a variable for each name of `variables`.
pub fn report(steps: &[Step], variables: &[String], with_debug: bool) -> Report {
    report_with(steps, variables, with_debug, |_| {})
}

/// As [`report`], with more in its liveness.
pub fn report_with(
    steps: &[Step],
    variables: &[String],
    with_debug: bool,
    more: impl FnOnce(&mut Liveness),
) -> Report {
    let (mut kinds, mut names) = (Interner::default(), Interner::default());
    let (mut programs, mut visits) = (Programs::default(), Steps::default());
    let (mut compute_sets, mut exchanges) = (ComputeSets::default(), Exchanges::default());
    for (number, step) in (0_u32..).zip(steps) {
        visits.ids.push(StepId(number));
        visits.programs.push(ProgramId(number));
        visits.parents.push(None);
        programs.ids.push(ProgramId(number));
        programs.kinds.push(Some(kinds.intern(step.kind)));
        programs.debug_ids.push(match step.operation.as_str() {
            "" => 0,
            name => u64::from(names.intern(name).0) + 1,
        });
        let (mut compute_set, mut exchange) = (None, None);
        if step.kind == "OnTileExecute" {
            let id = ComputeSetId(compute_sets.ids.len() as u32);
            compute_sets.ids.push(id);
            compute_sets.names.push(&step.name);
            programs.names.push("");
            compute_set = Some(id);
        } else {
            programs.names.push(&step.name);
        }
        if step.kind == "DoExchange" {
            let number = exchanges.ids.len() as u32;
            exchanges.ids.push(ExchangeId { kind: ExchangeKind::Internal, number });
            exchange = exchanges.ids.last().copied();
        }
        programs.compute_sets.push(compute_set);
        programs.exchanges.push(exchange);
        programs.children_ends.push(0);
    }
    programs.kind_names = kinds.into_names();
    let mut liveness = Liveness::default();
    for (number, name) in (0..).zip(variables) {
        liveness.variable_ids.push(UnloweredId(number));
        liveness.variable_names.push(name);
    }
    more(&mut liveness);
    let report = Report::default();
    report.steps.fill(Some(visits));
    report.programs.fill(Some(programs));
    report.compute_sets.fill(Some(compute_sets));
    report.exchanges.fill(Some(exchanges));
    report.liveness.fill(Some(liveness));
    report.debug.fill(with_debug.then(|| debug(names)));
    report
}

/// A convolution for each name.
fn debug(names: Interner) -> DebugInfo {
    let (mut words, mut debug) = (Interner::default(), DebugInfo::default());
    for (id, name) in (1..).zip(names.into_names().iter()) {
        let name = TextRef(debug.texts.push(name).0);
        debug.push(Context {
            layer: Some(words.intern("poplibs")),
            kind: Some(words.intern("convolution")),
            name,
            ..Context::of(id)
        });
    }
    debug.words = words.into_names();
    debug.known_layers = tilescope::systems::poplar::files::layers();
    debug
}
