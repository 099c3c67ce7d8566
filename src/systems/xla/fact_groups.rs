//! The facts of a module: what was compiled, what each memory space has, what XLA itself states.

use std::borrow::Cow;

use super::buffer_assignment::claims::{ModuleClaim, compared_claims};
use super::buffer_assignment::facts::{ModuleFacts, TemporaryFacts, TraceFacts};
use super::buffer_assignment::insights::{ModuleInsights, SpaceInsights};
use super::buffer_assignment::program::AnalysedModule;
use crate::analysis::comparison::fact_groups::{
    Statements, TitledFacts, count, push, sized, sized_with, words,
};
use crate::analysis::comparison::facts::Said;
use crate::store::hlo::CapacityOf;
use crate::text::{bytes, capitalised, clean, grouped};

/// The facts of a module, with what it says at first sight.
pub(super) fn groups(program: &AnalysedModule, insights: &ModuleInsights) -> Vec<TitledFacts> {
    let facts = ModuleFacts::of(&program.analysed, program.platform);
    let mut groups = vec![(Cow::Borrowed("Program"), of_module(program, &facts))];
    for space in &insights.spaces {
        let title = Cow::Owned(space.title.clone());
        groups.push((title, of_space(&facts, space)));
    }
    groups.push((Cow::Borrowed("Stated by XLA"), stated(program)));
    groups.push((Cow::Borrowed("Stated by the profile"), profiled(program)));
    groups.push((Cow::Borrowed("XLA's own simulation"), of_traces(&facts)));
    groups.retain(|(_, facts)| !facts.is_empty());
    groups
}

fn of_module(program: &AnalysedModule, facts: &ModuleFacts) -> Statements {
    let mut said = Vec::new();
    let module = &program.analysed.module;
    if !module.name.is_empty() {
        push(&mut said, "Module", words(clean(&module.name).into_owned()));
    }
    if let Some(platform) = facts.platform {
        push(&mut said, "Compiled for", words(platform.to_uppercase()));
    }
    if let Some(device) = &program.beside.device {
        push(&mut said, "Device", words(clean(device).into_owned()));
    }
    match (program.beside.capacity_of, program.beside.capacity_bytes) {
        (CapacityOf::File, Some(capacity)) => {
            push(&mut said, "Memory of the device", sized(capacity));
        }
        (CapacityOf::Preset(name), Some(capacity)) => {
            let note = format!(" (preset {name})");
            push(&mut said, "Memory of the device", sized_with(capacity, note));
        }
        _ => {}
    }
    if !module.instructions.is_empty() {
        push(&mut said, "Instructions", count(module.instructions.len()));
        push(&mut said, "Computations", count(module.computations.len()));
    }
    if let Some(steps) = facts.steps {
        push(&mut said, "Schedule", Said::Count(u64::from(steps), " steps".to_owned()));
    }
    push(&mut said, "Allocations", count(facts.allocations));
    push(&mut said, "Values", count(facts.values));
    if facts.parameters.allocations > 0 {
        let donated = facts.parameters.donated_bytes;
        push(&mut said, "Parameters", sized(facts.parameters.bytes));
        push(&mut said, "Donated of these", sized(donated));
    }
    if let Some(donatable) = facts.donatable_bytes {
        push(&mut said, "Results that could be donated to", sized(donatable));
    }
    said
}

fn of_space(facts: &ModuleFacts, space: &SpaceInsights) -> Statements {
    let mut said = Vec::new();
    push(&mut said, "All allocations", sized(space.total_bytes));
    for (kind, bytes) in &space.by_kind {
        said.push((Cow::Owned(capitalised(kind.in_text())), sized(*bytes)));
    }
    if let Some(peak) = &space.peak {
        let step = grouped(u64::from(peak.at.position));
        push(
            &mut said,
            "Temporary, most in use",
            sized_with(peak.at.bytes, format!(" at step {step}")),
        );
        push(&mut said, "Lost to packing", sized(peak.lost_bytes()));
        push(&mut said, "Padding at the peak", sized(peak.padding_bytes));
    }
    if let Some(all) = facts.in_use.as_ref().and_then(|of| of.get(&space.color)) {
        push(&mut said, "Values in use at most", sized(all.peak_bytes));
    }
    said
}

/// What the profile in which the module lies says of the device, whatever ran on it.
fn profiled(program: &AnalysedModule) -> Statements {
    let mut said = Vec::new();
    let Some(profile) = &program.beside.profile else { return said };
    if let Some(memory) = profile.memory_bytes {
        push(&mut said, "Memory of the device", sized(memory));
    }
    if let Some(limit) = profile.limit_bytes {
        push(&mut said, "Limit of the allocator", sized(limit));
    }
    if let Some(peak) = profile.peak_in_use_bytes {
        let allocator = profile.allocator.as_deref().map(clean);
        let of = allocator.map_or_else(String::new, |allocator| format!(" ({allocator})"));
        push(&mut said, "Peak in use of the process", sized_with(peak, of));
    }
    said
}

/// What XLA states of the program in its texts.
fn stated(program: &AnalysedModule) -> Statements {
    let claim = |claim: ModuleClaim| {
        let said = if claim.agrees {
            sized_with(claim.claimed_bytes, ", agrees with the allocations")
        } else {
            let ours = bytes(claim.bytes);
            sized_with(claim.claimed_bytes, format!(", allocations of {ours}: does not agree"))
        };
        (Cow::Owned(claim.title(|color| program.color_words(color))), said)
    };
    let mut said: Statements = compared_claims(program).into_iter().map(claim).collect();
    if let Some(moment) = program.claims.moment {
        let step = grouped(u64::from(moment));
        push(&mut said, "XLA's moment", words(format!("step {step}, not the peak of memory")));
    }
    said
}

/// What XLA's simulations come to, of each temporary allocation that has one.
fn of_traces(facts: &ModuleFacts) -> Statements {
    let traced = facts.temp.iter().filter_map(|one| Some((one, one.heap_trace.as_ref()?)));
    let said = |(one, trace): (&TemporaryFacts, &TraceFacts)| {
        let of = if trace.whole_module { "" } else { ", in an order of its own" };
        let name = Cow::Owned(format!("Allocation {}", one.allocation));
        (name, sized_with(trace.peak_bytes, format!(" at most{of}")))
    };
    traced.map(said).collect()
}
