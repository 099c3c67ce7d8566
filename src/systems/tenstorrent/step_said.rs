//! An operation as the page of the curve shows it: its arguments, programs and the calls that led to it.

use super::memory::facts::RankView;
use super::memory::scratch_facts::known_scratch;
use crate::run::Cell;
use crate::run::allocations::CodeFrame;
use crate::run::beside_curve::StepSaid;
use crate::text::{counted, shortened, time_text};

/// Characters of an argument: tensors are written at length.
const ARGUMENT: usize = 160;

/// The operation at a position.
pub(super) fn step_said(view: &RankView<'_>, at: u32) -> StepSaid {
    let frame = |frame: super::recorded::CalledFrom<'_>| CodeFrame {
        title: frame.title(),
        is_own: frame.is_users(),
        is_in_paths: true,
    };
    StepSaid {
        title: view.operation(at).name.to_owned(),
        bytes: None,
        facts: facts(view, at),
        stack_title: "Called by",
        stack: view.frames(at).map(frame).collect(),
        has_stacks: view.rank.calls.has_stacks(),
    }
}

fn facts(view: &RankView<'_>, at: u32) -> Vec<(&'static str, Cell)> {
    let mut facts = Vec::new();
    for (name, value) in view.rank.calls.arguments_of(at) {
        let (name, value) = (view.name(name), view.name(value));
        facts.push(("Argument", Cell::Text(format!("{name} = {}", shortened(value, ARGUMENT)))));
    }
    for tensor in view.rank.tensors.outputs_of(at) {
        let (shape, data_type) = view.tensor(Some(tensor));
        let said = shape.zip(data_type).map(|(shape, data_type)| format!("{shape:?} {data_type}"));
        let said = said.map_or_else(String::new, |said| format!(" {said}"));
        facts.push(("Output", Cell::Text(format!("tensor {tensor}{said}"))));
    }
    facts.extend(programs(view, at));
    let host = view.rank.operations.host_nanoseconds.get(at as usize).copied().flatten();
    let host = host.map(|time| time_text(time as f64 * 1e-9));
    facts.extend(host.map(|time| ("Host time", Cell::Text(time))));
    facts
}

/// Programs of an operation, and the most that circular buffers of those that are known take of a core.
fn programs(view: &RankView<'_>, at: u32) -> Vec<(&'static str, Cell)> {
    let programs = &view.memory.programs;
    let of_operation = programs.iter().filter(|program| program.moment.operation == at);
    let count = of_operation.count() as u64;
    if count == 0 {
        return Vec::new();
    }
    let known = || known_scratch(view).filter(|known| known.program.moment.operation == at);
    let not_known = count.saturating_sub(known().count() as u64);
    let mut facts = vec![("Programs", Cell::Count(count))];
    let most = known().max_by_key(|known| known.bytes);
    facts.extend(most.map(|most| ("Circular buffers of a core", Cell::Bytes(most.bytes))));
    if not_known > 0 {
        let text = format!("not known of {}", counted(not_known, "program"));
        facts.push(("Circular buffers", Cell::Text(text)));
    }
    facts
}
