//! A network that is captured while it runs: each call takes buffers, runs programs, and gives an operation with its graph.
//! The figures that readers shall find are counted here, at the allocators.

use std::collections::{BTreeMap, BTreeSet};

use super::bank::FreeOfBank;
use super::chip::{FLOOR, L1_BANK_BYTES, PAGE_BYTES, TensorPlace, WORKER_L1_BYTES};
use super::failure::WrittenFailure;
use super::graph::DraftGraph;
use super::scratch::circular_buffers;
use super::{ReportSchema, WrittenPeak, WrittenRank};
use crate::synth::{WriteError, mix};

/// A tensor on the chip.
#[derive(Clone, Debug)]
pub struct DraftTensor {
    /// Its number.
    pub id: u64,
    /// Its sizes.
    pub shape: [u64; 4],
    /// Where it lies.
    pub place: TensorPlace,
    /// The address in each bank.
    pub address: u64,
}

impl DraftTensor {
    /// Pages: tiles of the last two sizes, which are filled up.
    pub fn pages(&self) -> u64 {
        let [a, b, rows, columns] = self.shape;
        a * b * rows.div_ceil(32) * columns.div_ceil(32)
    }

    /// Bytes of all pages.
    pub fn bytes(&self) -> u64 {
        self.pages() * PAGE_BYTES
    }

    /// Bytes of the fullest bank: pages are dealt round.
    pub fn bytes_per_bank(&self) -> u64 {
        self.pages().div_ceil(self.place.banks()) * PAGE_BYTES
    }

    /// `Shape([1, 8, 32, 64])`.
    pub fn shape_text(&self) -> String {
        format!("Shape({:?})", self.shape)
    }

    /// How and where it lies, as a text of TT-NN.
    pub fn memory_config(&self) -> String {
        let place = self.place.word();
        format!(
            "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::{place},shard_spec=std::nullopt)"
        )
    }
}

/// An operation that Python calls.
#[derive(Clone, Copy, Debug)]
pub struct CalledOperation {
    /// `ttnn.matmul`.
    pub name: &'static str,
    /// The operations of the device that it runs one after the other; all but the last make a tensor of their own.
    pub device_operations: &'static [&'static str],
    /// The line of the source that calls it.
    pub line: &'static str,
}

/// An operation that ended, with all that is written of it.
#[derive(Debug)]
pub struct DraftOperation<'a> {
    /// The number of the rank.
    pub rank: u64,
    /// Its number, from 1.
    pub id: u64,
    /// `ttnn.matmul`.
    pub name: &'static str,
    /// Host time of the call.
    pub seconds: f64,
    /// The line of the source that calls it.
    pub line: &'static str,
    /// The tensors that it reads.
    pub inputs: &'a [&'a DraftTensor],
    /// Those that it makes.
    pub outputs: &'a [DraftTensor],
    /// Its graph.
    pub graph: String,
    /// What is alive at its end, where that is recorded.
    pub alive: Option<&'a BTreeMap<(TensorPlace, u64), DraftTensor>>,
    /// Why it failed.
    pub error: Option<String>,
}

/// Why a network ends before its last operation.
#[derive(Debug)]
pub enum EndedEarly {
    /// An operation failed, which is recorded.
    Failed,
    /// What was recorded cannot be written.
    Unwritten(WriteError),
}

/// What takes operations in as they end.
pub type WriteOperation<'a> = &'a mut dyn FnMut(&DraftOperation<'_>) -> Result<(), WriteError>;

/// The network of a rank while it runs.
pub struct NetworkCapture<'a> {
    write: WriteOperation<'a>,
    schema: ReportSchema,
    seed: u64,
    rank: u64,
    banks: [FreeOfBank; 2],
    alive: BTreeMap<(TensorPlace, u64), DraftTensor>,
    tensors: u64,
    /// Programs that were built: device operations with their arguments.
    built: BTreeSet<(&'static str, Vec<String>)>,
    /// What was counted so far.
    pub written: WrittenRank,
}

/// What an operation came to, before it is recorded.
struct RanOperation {
    graph: DraftGraph,
    outputs: Vec<DraftTensor>,
    failure: Option<WrittenFailure>,
}

impl<'a> NetworkCapture<'a> {
    /// Before the first operation.
    pub fn new(
        rank: u64,
        schema: ReportSchema,
        seed: u64,
        write: WriteOperation<'a>,
    ) -> NetworkCapture<'a> {
        NetworkCapture {
            write,
            schema,
            seed,
            rank,
            banks: [TensorPlace::Dram, TensorPlace::L1].map(FreeOfBank::new),
            alive: BTreeMap::new(),
            tensors: 0,
            built: BTreeSet::new(),
            written: WrittenRank::default(),
        }
    }

    fn bank(&mut self, place: TensorPlace) -> &mut FreeOfBank {
        &mut self.banks[place as usize]
    }

    fn l1(&self) -> &FreeOfBank {
        &self.banks[TensorPlace::L1 as usize]
    }

    /// A tensor that is there before the first operation; nothing where it does not fit.
    pub fn load(&mut self, shape: [u64; 4], place: TensorPlace) -> Option<DraftTensor> {
        self.tensors += 1;
        let tensor = DraftTensor { id: self.tensors, shape, place, address: 0 };
        let address = self.bank(place).take(tensor.bytes_per_bank())?;
        let tensor = DraftTensor { address, ..tensor };
        self.alive.insert((place, address), tensor.clone());
        Some(tensor)
    }

    /// A tensor that Python no longer names: it is freed, and no operation says so.
    pub fn drop_tensor(&mut self, tensor: &DraftTensor) {
        self.bank(tensor.place).give_back(tensor.address, tensor.bytes_per_bank());
        self.alive.remove(&(tensor.place, tensor.address));
    }

    /// A call of `ttnn.deallocate`.
    pub fn deallocate(
        &mut self,
        tensor: &DraftTensor,
        line: &'static str,
    ) -> Result<(), EndedEarly> {
        let mut graph = self.graph();
        self.note_l1();
        graph.free(tensor);
        self.drop_tensor(tensor);
        let called = CalledOperation { name: "ttnn.deallocate", device_operations: &[], line };
        let ran = RanOperation { graph, outputs: Vec::new(), failure: None };
        self.record(&called, &[tensor], ran).map(drop)
    }

    /// A call that makes tensors of these shapes.
    pub fn call<const N: usize>(
        &mut self,
        called: &CalledOperation,
        inputs: &[&DraftTensor],
        shapes: [[u64; 4]; N],
        place: TensorPlace,
    ) -> Result<[DraftTensor; N], EndedEarly> {
        let before = self.written.clone();
        self.note_l1();
        let mut ran = RanOperation { graph: self.graph(), outputs: Vec::new(), failure: None };
        let mut own: Vec<DraftTensor> = Vec::new();
        let last = called.device_operations.len().saturating_sub(1);
        for (number, operation) in called.device_operations.iter().enumerate() {
            let shapes: &[[u64; 4]] = if number == last { &shapes } else { &shapes[..1] };
            let mut of_inputs: Vec<&DraftTensor> = own.iter().collect();
            of_inputs.extend(inputs);
            let made = self.run(operation, &of_inputs, shapes, place, &mut ran);
            if ran.failure.is_some() {
                break;
            }
            if number == last {
                ran.outputs = made;
            } else {
                own.extend(made);
            }
        }
        if ran.failure.is_none() {
            for tensor in &own {
                ran.graph.free(tensor);
                self.drop_tensor(tensor);
            }
        } else if !self.schema.records_failures() {
            // What a failed operation did is in no report of this schema.
            self.written = before;
        }
        let outputs = self.record(called, inputs, ran)?;
        outputs.try_into().map_err(|_| EndedEarly::Failed)
    }

    fn graph(&self) -> DraftGraph {
        DraftGraph::new(self.schema == ReportSchema::V3_5)
    }

    /// Runs an operation of the device: allocates what it makes, then builds its program or takes it from the cache.
    fn run(
        &mut self,
        operation: &'static str,
        inputs: &[&DraftTensor],
        shapes: &[[u64; 4]],
        place: TensorPlace,
        ran: &mut RanOperation,
    ) -> Vec<DraftTensor> {
        let arguments: Vec<String> = inputs
            .iter()
            .map(|input| format!("{}, {}", input.shape_text(), input.memory_config()))
            .chain([place.word().to_owned()])
            .collect();
        let function = ran.graph.start(operation, inputs, &arguments);
        let mut made = Vec::new();
        for shape in shapes {
            match self.allocate(*shape, place) {
                Ok(tensor) => {
                    ran.graph.allocate(&tensor);
                    made.push(tensor);
                }
                Err(failure) => {
                    ran.failure = Some(failure);
                    return made;
                }
            }
        }
        let scratch = circular_buffers(operation, inputs, &made);
        let end = FLOOR + scratch.iter().sum::<u64>();
        ran.failure = self.scratch_failure(end);
        if ran.failure.is_none() {
            let is_cache_hit = !self.built.insert((operation, arguments));
            ran.graph.program(function, &scratch, is_cache_hit);
            let in_use = self.l1().taken_bytes() + end - FLOOR;
            self.written.in_use_bytes = self.written.in_use_bytes.max(in_use);
            let nanoseconds = 20_000 + mix(self.seed ^ self.written.operations) % 200_000;
            ran.graph.end(operation, &made, nanoseconds);
        }
        made
    }

    fn allocate(
        &mut self,
        shape: [u64; 4],
        place: TensorPlace,
    ) -> Result<DraftTensor, WrittenFailure> {
        match self.load(shape, place) {
            Some(tensor) => {
                self.note_l1();
                Ok(tensor)
            }
            None => {
                let tensor = DraftTensor { id: 0, shape, place, address: 0 };
                let bank = self.bank(place);
                Err(WrittenFailure::OutOfMemory {
                    place,
                    bytes: tensor.bytes(),
                    bytes_per_bank: tensor.bytes_per_bank(),
                    allocated_bytes: bank.taken_bytes(),
                    largest_free_bytes: bank.largest_free_bytes(),
                })
            }
        }
    }

    /// Whether circular buffers up to an address fail: beyond the core, or against the lowest buffer.
    fn scratch_failure(&self, end: u64) -> Option<WrittenFailure> {
        if end > WORKER_L1_BYTES {
            return Some(WrittenFailure::Beyond { end });
        }
        let lowest = self.alive.range((TensorPlace::L1, 0)..).next();
        let lowest = lowest.map_or(FLOOR + L1_BANK_BYTES, |((_, address), _)| *address);
        (end > lowest).then_some(WrittenFailure::Clash { lowest, end })
    }

    /// Holds L1 against the most so far.
    fn note_l1(&mut self) {
        let taken = self.l1().taken_bytes();
        self.written.l1_transient_bytes = self.written.l1_transient_bytes.max(taken);
    }

    /// Hands an operation over, and counts what is alive at its end.
    fn record(
        &mut self,
        called: &CalledOperation,
        inputs: &[&DraftTensor],
        ran: RanOperation,
    ) -> Result<Vec<DraftTensor>, EndedEarly> {
        let has_failed = ran.failure.is_some();
        let is_recorded = !has_failed || self.schema.records_failures();
        let id = self.written.operations + 1;
        if is_recorded {
            self.written.operations = id;
            self.note_end(id);
        }
        // Of one that found no room for its result, no snapshot is taken.
        let has_rows = !matches!(ran.failure, Some(WrittenFailure::OutOfMemory { .. }));
        let microseconds = 200 + mix(self.seed ^ (id << 8)) % 20_000;
        let operation = DraftOperation {
            rank: self.rank,
            id,
            name: called.name,
            seconds: microseconds as f64 / 1e6,
            line: called.line,
            inputs,
            outputs: &ran.outputs,
            graph: ran.graph.finish(),
            alive: (is_recorded && has_rows).then_some(&self.alive),
            error: ran.failure.as_ref().map(WrittenFailure::message),
        };
        (self.write)(&operation).map_err(EndedEarly::Unwritten)?;
        self.written.failure = ran.failure;
        if has_failed { Err(EndedEarly::Failed) } else { Ok(ran.outputs) }
    }

    fn note_end(&mut self, id: u64) {
        let taken = self.banks.each_ref().map(FreeOfBank::taken_bytes);
        let largest_free = self.l1().largest_free_bytes();
        for (peak, bytes) in self.written.peaks.iter_mut().zip(taken) {
            if bytes > peak.bytes {
                *peak = WrittenPeak { bytes, operation: id };
            }
        }
        if self.written.peaks[TensorPlace::L1 as usize].operation == id {
            self.written.largest_free_bytes = largest_free;
        }
    }
}
