//! Small reports for the tests of insights.

use std::ops::Range;

use crate::analysis::fixture::{self, contexts};
use crate::store::compute::{ComputeSets, TypeCount};
use crate::store::debug_info::Proportion;
use crate::store::exchange::{ExchangeId, ExchangeKind, Exchanges};
use crate::store::liveness::Liveness;
use crate::store::memory::TileMemory;
use crate::store::program::{Programs, Steps};
use crate::store::target::Target;
use crate::store::tile_list::TileList;
use crate::store::{ClassId, ComputeSetId, ProgramId, Report, StepId, TileId, VertexTypeId};

/// A PopLibs call.
#[derive(Clone, Debug, Default)]
pub struct Call {
    pub kind: &'static str,
    pub name: &'static str,
    pub proportion: Option<f64>,
    pub partials: Option<&'static str>,
    /// Bytes of exchange code on every tile, and the edges of its only compute set.
    pub exchange_code: u32,
    pub edges: u64,
}

/// A variable in a class of its own.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: &'static str,
    /// The steps at which it lives; `None` for always.
    pub life: Option<Range<u32>>,
    /// Bytes on each tile.
    pub bytes: Vec<u32>,
}

/// What a report is made of.
#[derive(Clone, Debug)]
pub struct Fixture {
    pub limit: u64,
    pub tiles_per_ipu: u64,
    pub replicas: u64,
    pub calls: Vec<Call>,
    /// For each step the call that runs, a place in `calls`.
    pub steps: Vec<Option<usize>>,
    pub variables: Vec<Variable>,
    pub gap: u64,
    /// Whether the bytes by tile are read.
    pub by_tile: bool,
}

impl Default for Fixture {
    fn default() -> Self {
        Self {
            limit: 100,
            tiles_per_ipu: 4,
            replicas: 1,
            calls: Vec::new(),
            steps: Vec::new(),
            variables: Vec::new(),
            gap: 0,
            by_tile: true,
        }
    }
}

pub fn call(kind: &'static str, name: &'static str, proportion: f64) -> Call {
    Call { kind, name, proportion: Some(proportion), ..Call::default() }
}

pub fn temporary(name: &'static str, life: Range<u32>, bytes: &[u32]) -> Variable {
    Variable { name, life: Some(life), bytes: bytes.to_vec() }
}

pub fn always(name: &'static str, bytes: &[u32]) -> Variable {
    Variable { name, life: None, bytes: bytes.to_vec() }
}

impl Fixture {
    /// Without calls.
    pub fn of_one_step(variables: Vec<Variable>) -> Self {
        Self { steps: vec![None], variables, ..Self::default() }
    }

    pub fn report(&self) -> Report {
        let report = Report::default();
        report.target.fill(Some(Target {
            bytes_per_tile: Some(self.limit),
            tiles_per_device: Some(self.tiles_per_ipu),
            replicas: Some(self.replicas),
            ..Target::default()
        }));
        self.fill_programs(&report);
        self.fill_variables(&report);
        report
    }

    fn fill_programs(&self, report: &Report) {
        let mut debug = contexts(self.calls.iter().map(|call| (call.kind, call.name)));
        let mut words = crate::store::names::Interner::default();
        // The fixture's words stay, in their order, so that rows of them stay valid.
        for word in debug.words.iter() {
            words.intern(word);
        }
        for (row, call) in (0..).zip(&self.calls) {
            if let Some(value) = call.proportion {
                debug.proportions.push((row, Proportion::Value(value)));
            }
            if let Some(partials) = call.partials {
                debug.partials_types.push((row, words.intern(partials)));
            }
        }
        debug.words = words.into_names();
        report.debug.fill(Some(debug));
        let (mut steps, mut programs) = (Steps::default(), Programs::default());
        for (id, call) in (0..).zip(&self.steps) {
            assert!(steps.ids.push(StepId(id)) && programs.ids.push(ProgramId(id)));
            steps.programs.push(ProgramId(id));
            programs.debug_ids.push(call.map_or(0, |call| call as u64 + 1));
            programs.exchanges.push(call.map(|call| exchange_id(call as u32)));
            programs.names.push("");
        }
        report.steps.fill(Some(steps));
        report.programs.fill(Some(programs));
        let (mut sets, mut exchanges) = (ComputeSets::default(), Exchanges::default());
        let tiles = self.tiles() as u32;
        for (id, call) in (0..).zip(&self.calls) {
            assert!(sets.ids.push(ComputeSetId(id)));
            sets.names.push(call.name);
            let count = TypeCount { vertex_type: VertexTypeId(0), count: 8 };
            sets.vertices_by_type.push(Some(Box::new([count])));
            sets.vertices.push(Some(8));
            sets.edges.push(Some(call.edges));
            sets.debug_ids.push(u64::from(id) + 1);
            exchanges.ids.push(exchange_id(id));
            exchanges
                .code
                .push(Some(TileList::from_runs([(tiles, u64::from(call.exchange_code))])));
        }
        report.compute_sets.fill(Some(sets));
        report.exchanges.fill(Some(exchanges));
    }

    fn tiles(&self) -> usize {
        self.variables.iter().map(|variable| variable.bytes.len()).max().unwrap_or(0)
    }

    fn fill_variables(&self, report: &Report) {
        let mut liveness = Liveness::default();
        let mut all = Vec::new();
        for (id, variable) in (0..).zip(&self.variables) {
            let life = variable.life.clone().unwrap_or(0..self.steps.len() as u32);
            assert!(liveness.classes.push(ClassId(id), variable.life.is_none(), [life]));
            let bytes = variable.bytes.iter().map(|bytes| u64::from(*bytes)).sum();
            all.push(fixture::variable_bytes((id, id, bytes)));
        }
        let names: Vec<_> = self.variables.iter().map(|variable| variable.name).collect();
        fixture::name_variables(&mut liveness, &names);
        liveness.variable_bytes = Some(all);
        let on_tile = |variable: &Variable, tile| variable.bytes.get(tile).copied().unwrap_or(0);
        let rows = |tile: usize| {
            let variables = (0..).zip(&self.variables);
            variables.map(move |(id, variable)| (id, id, on_tile(variable, tile)))
        };
        let table = fixture::tile_variable_bytes((0..self.tiles()).map(rows));
        let mut memory = TileMemory::default();
        for tile in 0..self.tiles() {
            let mut alive = vec![0_u64; self.steps.len().max(1)];
            let mut always_live = 0;
            for variable in &self.variables {
                let bytes = on_tile(variable, tile);
                match &variable.life {
                    None => always_live += u64::from(bytes),
                    Some(life) => {
                        let steps = life.start as usize..(life.end as usize).min(alive.len());
                        alive[steps].iter_mut().for_each(|sum| *sum += u64::from(bytes));
                    }
                }
            }
            assert!(memory.tiles.push(TileId(tile as u32)));
            let others = alive.iter().max().copied().unwrap_or(0);
            memory.always_live.push(Some(always_live));
            memory.not_always_live_max.push(Some(others));
            memory.total.push(Some(always_live + others));
            memory.including_gaps.push(Some(always_live + others + self.gap));
        }
        report.liveness.fill(Some(liveness));
        report.memory.fill(Some(memory));
        report.fill_arenas_with_tiles();
        report.tile_variable_bytes.fill(self.by_tile.then_some(table));
    }
}

fn exchange_id(number: u32) -> ExchangeId {
    ExchangeId { kind: ExchangeKind::Internal, number }
}
