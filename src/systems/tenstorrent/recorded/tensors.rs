//! Tensors that Python saw, and the operations that made and read them.

use std::collections::BTreeMap;

use super::space::{BufferKey, BufferLayout, BufferSpace};
use crate::store::names::{FastMap, NameId};

/// The tensors of a rank.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TtnnTensors {
    /// Rows of `tensors`.
    pub rows: u64,
    by_id: FastMap<u64, TensorFacts>,
    /// Outputs of operations: positions with tensors, ascending.
    outputs: Vec<(u32, u64)>,
    /// Tensors that rows give an address, by the position of the operation that has them first.
    with_address: Vec<(u32, u64)>,
}

/// What is known of a tensor.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TensorFacts {
    /// Its row in `tensors`.
    pub row: Option<TensorRow>,
    /// The first operation that reads it, by position.
    pub first_read: Option<u32>,
    /// The last one.
    pub last_read: Option<u32>,
    /// Whether it is an input or output of any operation.
    pub is_visible: bool,
    /// The operation that made it, else the first that has it as an input.
    first_operation: Option<u32>,
    is_made: bool,
}

/// A row of `tensors`.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct TensorRow {
    /// `Shape([1, 1, 512, 512])`.
    pub shape: NameId,
    /// `DataType.BFLOAT16`.
    pub data_type: NameId,
    /// `Layout.TILE`.
    pub page_layout: NameId,
    /// Where it was to be placed.
    pub placement: TensorPlacement,
    /// Its buffer, where the row has an address.
    pub key: Option<BufferKey>,
    /// Whether it says where the tensor lies: it is one of a device.
    pub has_memory_config: bool,
}

/// Where the text of a memory configuration places a tensor, as far as its words are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TensorPlacement {
    /// The space.
    pub space: Option<BufferSpace>,
    /// How it is dealt out to banks.
    pub layout: Option<BufferLayout>,
}

impl TensorPlacement {
    /// Of `MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::L1,…)`.
    pub fn of_config(text: &str) -> Self {
        let word = |key: &str| {
            let (_, rest) = text.split_once(key)?;
            rest.split([',', ')']).next()?.rsplit(['.', ':']).next()
        };
        Self {
            space: word("buffer_type=").and_then(BufferSpace::of_word),
            layout: word("memory_layout=").and_then(BufferLayout::of_word),
        }
    }
}

impl TtnnTensors {
    /// Adds a row of `tensors`.
    pub fn add_row(&mut self, tensor: u64, row: TensorRow) {
        self.rows = self.rows.saturating_add(1);
        self.by_id.entry(tensor).or_default().row = Some(row);
    }

    /// Adds an input of the operation at a position. `ttnn.deallocate` reads nothing.
    pub fn add_input(&mut self, tensor: u64, operation: u32, is_read: bool) {
        let facts = self.by_id.entry(tensor).or_default();
        facts.is_visible = true;
        if is_read {
            facts.first_read = Some(facts.first_read.map_or(operation, |at| at.min(operation)));
            facts.last_read = facts.last_read.max(Some(operation));
        }
        if !facts.is_made {
            let first = facts.first_operation;
            facts.first_operation = Some(first.map_or(operation, |at| at.min(operation)));
        }
    }

    /// Adds an output of the operation at a position.
    pub fn add_output(&mut self, tensor: u64, operation: u32) {
        let facts = self.by_id.entry(tensor).or_default();
        facts.is_visible = true;
        let first = facts.first_operation.filter(|_| facts.is_made);
        facts.first_operation = Some(first.map_or(operation, |at| at.min(operation)));
        facts.is_made = true;
        self.outputs.push((operation, tensor));
    }

    /// To be called when all were added.
    pub fn finish(&mut self) {
        self.outputs.sort_unstable();
        let with_address = self.by_id.iter().filter_map(|(tensor, facts)| {
            facts.row?.key?;
            Some((facts.first_operation?, *tensor))
        });
        self.with_address = with_address.collect();
        self.with_address.sort_unstable();
    }

    /// What is known of a tensor.
    pub fn get(&self, tensor: u64) -> Option<&TensorFacts> {
        self.by_id.get(&tensor)
    }

    /// Those that have a row, by their ids.
    pub fn with_rows(&self) -> impl Iterator<Item = (u64, &TensorFacts)> {
        let rows = self.by_id.iter().filter(|(_, facts)| facts.row.is_some());
        let sorted: BTreeMap<u64, &TensorFacts> = rows.map(|(id, facts)| (*id, facts)).collect();
        sorted.into_iter()
    }

    /// The outputs of an operation.
    pub fn outputs_of(&self, operation: u32) -> impl Iterator<Item = u64> {
        of_operation(&self.outputs, operation)
    }

    /// The tensors with an address that an operation has first.
    pub fn first_at(&self, operation: u32) -> impl Iterator<Item = u64> {
        of_operation(&self.with_address, operation)
    }
}

fn of_operation(list: &[(u32, u64)], operation: u32) -> impl Iterator<Item = u64> {
    let start = list.partition_point(|(at, _)| *at < operation);
    let rest = list.get(start..).unwrap_or_default().iter();
    rest.take_while(move |(at, _)| *at == operation).map(|(_, tensor)| *tensor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_configuration_says_where_and_how() {
        let of = |text: &str| {
            let TensorPlacement { space, layout } = TensorPlacement::of_config(text);
            (space.map(BufferSpace::word), layout.map(BufferLayout::word))
        };
        let sharded = "MemoryConfig(memory_layout=TensorMemoryLayout::HEIGHT_SHARDED,buffer_type=BufferType::L1_SMALL,\
            shard_spec=ShardSpec{grid=[{\"start\":{\"x\":0}], shape=[1, 14]})";
        assert_eq!(of(sharded), (Some("L1_SMALL"), Some("HEIGHT_SHARDED")));
        let dots = "MemoryConfig(memory_layout=TensorMemoryLayout.INTERLEAVED,buffer_type=BufferType.DRAM)";
        assert_eq!(of(dots), (Some("DRAM"), Some("INTERLEAVED")));
        assert_eq!(of("buffer_type=,memory_layout=TILED"), (None, None));
        assert_eq!(of("x"), (None, None));
    }
}
