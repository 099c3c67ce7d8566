//! An operation as the page of the curve shows it: its arguments, programs and the calls that led to it.

use super::memory::facts::{RankView, place_text, shape_of};
use super::memory::scratch_facts::known_scratch;
use super::recorded::TensorPlacement;
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

/// The id in `ttnn.Tensor(shape=…, tensor_id=86, …)`.
fn tensor_in(value: &str) -> Option<u64> {
    let (_, rest) = value.strip_prefix("ttnn.Tensor(")?.split_once("tensor_id=")?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// Where `MemoryConfig(memory_layout=…, buffer_type=…, …)` places a tensor.
fn place_in(value: &str) -> Option<String> {
    let placement = TensorPlacement::of_config(value.strip_prefix("MemoryConfig(")?);
    let place = place_text(placement.space?, placement.layout);
    Some(match shard_shape(value) {
        Some(shape) => format!("{place}, shards of {shape:?}"),
        None => place,
    })
}

/// The shape in `shard_spec=ShardSpec{grid=[…], shape=[128, 64], …}`.
fn shard_shape(value: &str) -> Option<Vec<u64>> {
    let (_, spec) = value.split_once("shard_spec=ShardSpec{")?;
    let (_, shape) = spec.split_once("shape=")?;
    shape_of(shape)
}

/// `tensor 86 [1, 4, 128, 64] BFLOAT16 TILE (L1, interleaved)`.
pub(super) fn tensor_text(view: &RankView<'_>, tensor: u64) -> String {
    let (shape, data_type) = view.tensor(Some(tensor));
    let said = shape.zip(data_type).map(|(shape, data_type)| format!(" {shape:?} {data_type}"));
    let layout = view.tensor_layout(tensor);
    let space = if layout.is_empty() { "" } else { " " };
    format!("tensor {tensor}{}{space}{layout}", said.unwrap_or_default())
}

/// The arguments of an operation, names with values.
fn arguments<'a, 'b>(
    view: &'b RankView<'a>,
    at: u32,
) -> impl Iterator<Item = (&'a str, String)> + use<'a, 'b> {
    view.rank.calls.arguments_of(at).map(|(name, value)| {
        let value = view.name(value);
        let value = match (tensor_in(value), place_in(value)) {
            (Some(tensor), _) => tensor_text(view, tensor),
            (None, Some(place)) => format!("MemoryConfig({place})"),
            (None, None) => shortened(value, ARGUMENT).into_owned(),
        };
        (view.name(name), value)
    })
}

/// All arguments of an operation as they stand in a call: those by position without a name.
pub(super) fn arguments_text(view: &RankView<'_>, at: u32) -> String {
    let text = |(name, value): (&str, String)| {
        let is_position = name.bytes().all(|letter| letter.is_ascii_digit());
        if is_position { value } else { format!("{name}={value}") }
    };
    arguments(view, at).map(text).collect::<Vec<_>>().join(", ")
}

fn facts(view: &RankView<'_>, at: u32) -> Vec<(&'static str, Cell)> {
    let mut facts = Vec::new();
    for (name, value) in arguments(view, at) {
        facts.push(("Argument", Cell::Text(format!("{name} = {value}"))));
    }
    for tensor in view.rank.tensors.outputs_of(at) {
        facts.push(("Output", Cell::Text(tensor_text(view, tensor))));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_in_arguments_are_found_by_their_ids() {
        let value = "ttnn.Tensor(shape=Shape([4]), tensor_id=86, device=1)";
        assert_eq!(tensor_in(value), Some(86));
        assert_eq!(tensor_in("ttnn.Tensor(tensor_id=x)"), None);
        assert_eq!(tensor_in("tensor_id=3"), None);
    }

    #[test]
    fn of_a_memory_configuration_the_place_is_said() {
        let value = "MemoryConfig(memory_layout=TensorMemoryLayout::BLOCK_SHARDED,buffer_type=BufferType::L1,x=0)";
        assert_eq!(place_in(value).as_deref(), Some("L1, block sharded"));
        assert_eq!(place_in("MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED)"), None);
        assert_eq!(place_in("buffer_type=BufferType::L1"), None);
        let sharded = |spec: &str| place_in(&value.replace("x=0", spec));
        let grid = r#"grid=[{"start":{"x":0,"y":0},"end":{"x":3,"y":3}]"#;
        let spec =
            format!("shard_spec=ShardSpec{{{grid}, shape=[128, 64], orientation=ROW_MAJOR}}");
        assert_eq!(sharded(&spec).as_deref(), Some("L1, block sharded, shards of [128, 64]"));
        for spec in [
            "shard_spec=std::nullopt,shape=[1]",
            "shard_spec=ShardSpec{shape=[12",
            "shard_spec=ShardSpec{shape=[x]",
        ] {
            assert_eq!(sharded(spec).as_deref(), Some("L1, block sharded"), "{spec}");
        }
    }
}
