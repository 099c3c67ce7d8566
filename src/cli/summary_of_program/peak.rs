//! The peak of a program in `tilescope summary`: where it is, what is alive there, and who owns it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::analysis::liveness::NamedBytes;
use crate::cli::output::{aligned, name_cell};
use crate::cli::summary::pairs;
use crate::opened::Program;
use crate::store::names::NameId;
use crate::systems::xla::buffer_assignment::in_use::Placed;
use crate::systems::xla::buffer_assignment::insights::PeakOfSpace;
use crate::systems::xla::buffer_assignment::peaks::{NO_OPERATION, Owner, owners, shares_of};
use crate::systems::xla::buffer_assignment::trace_lives::TraceLives;
use crate::text::{clean, exact_bytes, grouped};

/// Variables and operations of the peak that are named.
const NAMED: usize = 10;
/// Calls of the source around the innermost one in text; JSON has more.
const MOST_FRAMES: usize = 8;

/// The peak of what is temporary in the main memory.
#[derive(Debug, Serialize)]
pub(super) struct Peak {
    step: u32,
    kind: Option<String>,
    name: Option<String>,
    /// Path of its operation.
    operation: Option<String>,
    source: Option<String>,
    /// Whether the operation is that of the nearest producer, for the instruction has none.
    operation_by_operand: bool,
    /// The calls in the source, the innermost first; empty where the file has only the place.
    stack: Vec<String>,
    not_always_live_bytes: u64,
    always_live_bytes: u64,
    by_category: BTreeMap<String, u64>,
    /// What operations own, which adds up to the bytes in use.
    by_operation: Vec<NamedBytes>,
    /// The largest values; they may share addresses.
    variables: Vec<NamedBytes>,
    /// Whether the step is an event of XLA's own simulation, for the order of instructions is not known.
    #[serde(skip)]
    is_of_trace: bool,
}

impl Peak {
    /// Where the order of instructions is known.
    pub fn of(program: &Program, of: &PeakOfSpace, always_live_bytes: u64) -> Self {
        let peak = &of.at;
        let analysed = &program.analysed;
        let module = &analysed.module;
        let instruction = analysed.schedule.instructions.get(peak.position as usize).copied();
        let live = analysed.live_temporaries(0, peak.position);
        Self {
            step: peak.position,
            kind: instruction
                .map(|id| module.opcode(id).to_owned())
                .filter(|kind| !kind.is_empty()),
            name: instruction.map(|id| module.instruction_name(id).to_owned()),
            operation: instruction
                .and_then(|id| module.nearest_operation(id))
                .map(|name| module.texts.get(name).to_owned()),
            source: instruction.and_then(|id| module.source(id)),
            operation_by_operand: instruction.is_some_and(|id| module.is_operation_by_operand(id)),
            stack: instruction.map(|id| module.stack(id)).unwrap_or_default(),
            not_always_live_bytes: peak.bytes,
            always_live_bytes,
            by_category: (of.by_category.iter())
                .map(|owner| (owner.name.clone(), owner.bytes))
                .collect(),
            by_operation: largest_owners(&of.by_operation),
            variables: largest_values(program, live.iter().copied()),
            is_of_trace: false,
        }
    }

    /// Where no instructions are known, by XLA's own simulation, whose events are the steps; `None` where nothing is ever
    /// in use.
    pub fn of_trace(
        program: &Program,
        traced: &TraceLives<'_>,
        always_live_bytes: u64,
    ) -> Option<Self> {
        let (bytes, step) = traced.peak();
        let event = traced.trace.events.get(step as usize).filter(|_| bytes > 0)?;
        let analysed = &program.analysed;
        let name = analysed.module.texts.get(event.instruction);
        let shares: Vec<_> = shares_of(&traced.placed, step).collect();
        let by_category =
            owners(&shares, |one| analysed.category(&one.assigned).as_str().to_owned());
        Some(Self {
            step,
            kind: Some(event.kind.as_str().to_owned()),
            name: (event.instruction != NameId::NONE).then(|| name.to_owned()),
            operation: None,
            source: None,
            operation_by_operand: false,
            stack: Vec::new(),
            not_always_live_bytes: bytes,
            always_live_bytes,
            by_category: by_category.into_iter().map(|owner| (owner.name, owner.bytes)).collect(),
            by_operation: largest_owners(&owners(&shares, |_| NO_OPERATION.to_owned())),
            variables: largest_values(program, shares.iter().map(|(one, _)| *one)),
            is_of_trace: true,
        })
    }

    /// As text for people.
    pub fn text(&self) -> String {
        let mut rows = vec![
            ("In use", exact_bytes(self.not_always_live_bytes)),
            ("Reserved", exact_bytes(self.always_live_bytes)),
        ];
        let what = match (&self.kind, &self.name) {
            (Some(kind), Some(name)) => format!(", {kind} {}", name_cell(name)),
            (None, Some(name)) => format!(", {}", name_cell(name)),
            _ => String::new(),
        };
        let (step, of) =
            if self.is_of_trace { ("Event", " of XLA's simulation") } else { ("Position", "") };
        rows.push((step, format!("{}{of}{what}", grouped(u64::from(self.step)))));
        if let Some(operation) = &self.operation {
            let by = if self.operation_by_operand { " (by operand)" } else { "" };
            rows.push(("Operation", format!("{}{by}", clean(operation))));
        }
        // The stack begins with the place itself.
        match &*self.stack {
            [] => {
                rows.extend(
                    self.source.iter().map(|source| ("Source", clean(source).into_owned())),
                );
            }
            [first, outer @ ..] => {
                rows.push(("Source", clean(first).into_owned()));
                let outer = outer.iter().take(MOST_FRAMES);
                rows.extend(outer.map(|frame| ("called from", clean(frame).into_owned())));
            }
        }
        let mut text = pairs(rows);
        for (title, rows) in [("<Operation", &self.by_operation), ("<Value", &self.variables)] {
            if !rows.is_empty() {
                text.push('\n');
                let rows =
                    rows.iter().map(|row| vec![name_cell(&row.name), exact_bytes(row.bytes)]);
                text += &aligned(&[title, "bytes"], rows);
            }
        }
        text
    }
}

/// The largest values, of equals the first names.
fn largest_values<'a>(
    program: &Program,
    values: impl Iterator<Item = &'a Placed>,
) -> Vec<NamedBytes> {
    let named = |one: &Placed| NamedBytes {
        name: program.value_name(one.assigned.value),
        bytes: one.assigned.bytes,
    };
    let mut named: Vec<NamedBytes> = values.map(named).collect();
    named.sort_by(|one, other| {
        (other.bytes.cmp(&one.bytes)).then_with(|| one.name.cmp(&other.name))
    });
    named.truncate(NAMED);
    named
}

fn largest_owners(owners: &[Owner]) -> Vec<NamedBytes> {
    let named = |owner: &Owner| NamedBytes { name: owner.name.clone(), bytes: owner.bytes };
    owners.iter().filter(|owner| owner.bytes > 0).map(named).take(NAMED).collect()
}
