//! The lowering of a layer: contexts, compute sets, exchanges, temporaries.

use super::{ADD, CAST, CONVOLVE, Lowering, REARRANGE, REDUCE, SLICE, TRANSPOSE, poplar_context};
use crate::systems::poplar::synth::model::{ComputeSet, Detail, Exchange, LifeSpan, ModelContext};
use crate::systems::poplar::synth::network::{LayerKind, NetworkLayer};
use crate::systems::poplar::synth::planner::{self, LayerPlan, PlanRequest};

/// Code of an exchange on a tile, bytes, and what each doubling of a serial split adds to it.
const EXCHANGE_CODE_BYTES: u64 = 428;
const EXCHANGE_CODE_BYTES_PER_DOUBLING: u64 = 120;
/// Control code of a layer on a tile, bytes, and what each doubling of a serial split adds to it.
const CONTROL_CODE_BYTES: u64 = 412;
const CONTROL_CODE_BYTES_PER_DOUBLING: u64 = 80;
/// State of the vertices of a compute set on a tile, bytes.
const STATE_BYTES: u64 = 132;

/// What the steps of a layer have in common.
struct LayerPlace<'n> {
    name: &'n str,
    sequence: usize,
    context: u64,
    /// Number of the layer, for names of compute sets.
    number: usize,
}

impl Lowering<'_> {
    pub(super) fn layer(&mut self, number: usize, layer: &NetworkLayer) {
        if layer.begins_block {
            self.block_input = Some(self.activation);
        }
        let call = self.contexts_of(layer);
        self.data_context = call;
        let sequence_context = self.context(poplar_context(call, "Sequence", ""));
        let mut parent = 0;
        if self.options.functions {
            self.call_of_all(sequence_context);
            parent = self.call(sequence_context, self.model.functions.len());
            self.model.functions.push(parent.saturating_add(1));
        }
        let sequence = self.step() as usize;
        self.add("Sequence", String::new(), sequence_context, Some(parent), Detail::None, 0);
        let context = self.context(poplar_context(call, "Execute", ""));
        let place = LayerPlace { name: &layer.name, sequence, context, number };
        if layer.is_planned() {
            self.planned_layer(layer, &place, call);
        } else {
            self.simple_layer(layer, &place);
        }
    }

    fn execute(
        &mut self,
        place: &LayerPlace<'_>,
        parent: usize,
        part: &str,
        vertex_type: usize,
        cycles: u64,
    ) -> u32 {
        let compute_set = self.model.compute_sets.len();
        self.model.compute_sets.push(ComputeSet {
            name: format!("{}/{part}", place.name),
            context: place.context,
            vertex_type,
            state: 0,
            state_parts: 1,
            state_part: 0,
        });
        let detail = Detail::Execute(compute_set);
        self.add("OnTileExecute", String::new(), place.context, Some(parent), detail, cycles)
    }

    fn exchange(
        &mut self,
        place: &LayerPlace<'_>,
        parent: usize,
        part: &str,
        exchange: Exchange,
        cycles: u64,
    ) -> u32 {
        let name = format!("cs{}_{}/{part}", place.number, place.name);
        self.add(
            "DoExchange",
            name,
            place.context,
            Some(parent),
            Detail::Exchange(exchange),
            cycles,
        )
    }

    /// A convolution or matmul, as its plan says.
    fn planned_layer(&mut self, layer: &NetworkLayer, place: &LayerPlace<'_>, call: u64) {
        let request = PlanRequest {
            batch: self.options.batch,
            tiles: self.options.tiles_per_ipu,
            bytes_per_tile: self.model.target.bytes_per_tile.unwrap_or(0),
            proportion: self.options.proportion,
        };
        let plan = planner::plan(layer, &request);
        self.model.plans.push(plan);
        let doublings = u64::from(plan.serial_split.ilog2());
        let exchanges = EXCHANGE_CODE_BYTES * 2 + EXCHANGE_CODE_BYTES_PER_DOUBLING * doublings;
        let control = CONTROL_CODE_BYTES + CONTROL_CODE_BYTES_PER_DOUBLING * doublings;
        let code = self.code_of_layer(place, exchanges.next_multiple_of(8), control);
        let weights = format!("model.{}.weight", layer.name);
        let [_, shape, _] = self.shapes(layer);
        self.tensor(&weights, &shape, self.share_of_tile(layer.weights), LifeSpan::Always);
        let first_compute_set = self.model.compute_sets.len();
        let kind = if layer.kind == LayerKind::MatMul { "MatMul" } else { "Conv" };
        let name = format!("{}/{kind}", layer.name);
        let place = &LayerPlace { name: &name, ..*place };
        let busy = plan.cycles / plan.serial_split;
        if layer.kind == LayerKind::MatMul {
            self.execute(place, place.sequence, "Transpose", TRANSPOSE, busy / 16);
        }
        let arrange = self.execute(place, place.sequence, "PreArrange", REARRANGE, busy / 12);
        self.use_at(self.activation, arrange);
        let mut body = place.sequence;
        if plan.serial_split > 1 {
            let repeat = self.step() as usize;
            let detail = Detail::Repeat(plan.serial_split);
            self.add("Repeat", String::new(), place.context, Some(place.sequence), detail, 0);
            body = self.step() as usize;
            self.add("Sequence", String::new(), place.context, Some(repeat), Detail::None, 0);
            self.execute(place, body, "SliceIn", SLICE, busy / 24);
        }
        let (operands, message) = self.operands(&plan, place, arrange);
        let pre = Exchange { received: message, copies: 2, code, code_parts: 2 };
        let exchange = self.exchange(place, body, "Convolve/ExchangePre", pre, busy / 5);
        self.use_at(message, exchange);
        self.add("WriteUndef", String::new(), place.context, Some(body), Detail::None, 0);
        let convolve = self.execute(place, body, "Convolve", CONVOLVE, busy / 2);
        for symbol in [operands, message, self.activation] {
            self.use_at(symbol, convolve);
        }
        let partials = self.data(
            &format!("{name}/partials"),
            "variable",
            plan.partial_bytes.max(64),
            LifeSpan::Steps(convolve, convolve + 1),
        );
        let work = self.data(
            &format!("{name}/workspace"),
            "variable",
            plan.temporary_bytes - plan.operand_bytes - plan.partial_bytes,
            LifeSpan::Steps(arrange, convolve + 1),
        );
        for temporary in [partials, work] {
            if let Some(symbol) = self.show_as(temporary, "<anon>".to_owned()) {
                symbol.alignment = 8;
            }
        }
        let reduce_context = self.context(ModelContext {
            layer: "poplibs",
            kind: ("api", "reduceWithOutput".to_owned()),
            location: ("poplibs/lib/popops/Reduction.cpp", 273),
            says: self.reduction_says(layer),
            ..poplar_context(call, "", "")
        });
        let context = self.context(poplar_context(reduce_context, "Execute", ""));
        let reduce_place = LayerPlace { context, ..*place };
        let post = Exchange { received: partials, copies: 1, code, code_parts: 2 };
        let moved = self.exchange(&reduce_place, body, "Reduce/ExchangePre", post, busy / 10);
        let reduced = self.execute(&reduce_place, body, "Reduce", REDUCE, busy / 10);
        self.use_at(partials, moved.max(reduced));
        if plan.serial_split > 1 {
            self.execute(place, body, "UpdateOut", SLICE, busy / 24);
        }
        let output = self.output(layer, convolve, reduced);
        let cast = self.execute(place, place.sequence, "Cast", CAST, busy / 16);
        self.use_at(output, cast);
        self.state(place, first_compute_set);
        self.activation = output;
    }

    /// The rearranged input and the message that brings it.
    fn operands(
        &mut self,
        plan: &LayerPlan,
        place: &LayerPlace<'_>,
        arrange: u32,
    ) -> (usize, usize) {
        let from = self.name_of(self.activation);
        let step = self.step();
        let operands = self.data(
            &format!("arrange-{}", place.number),
            "rearrangement",
            plan.operand_bytes * 3 / 4,
            LifeSpan::Steps(arrange, step + 1),
        );
        let message = self.data(
            &format!("message-{}", place.number),
            "message",
            plan.operand_bytes / 4,
            LifeSpan::Steps(step, step + 1),
        );
        for (symbol, kind) in [(operands, "rearrangement"), (message, "message")] {
            if let Some(symbol) = self.show_as(symbol, format!("<{kind}:{from}>")) {
                symbol.is_interleaved = kind == "rearrangement";
                symbol.alignment = 16;
                // A plan for little memory puts the same bytes on few tiles.
                let spread = &mut symbol.spread;
                let tiles = u64::from(spread.tiles) / u64::from(plan.operand_tiles).max(1);
                spread.tiles = plan.operand_tiles;
                spread.bytes = (spread.bytes * tiles).max(64);
            }
        }
        (operands, message)
    }

    /// A sum or a mean: one exchange, one compute set.
    fn simple_layer(&mut self, layer: &NetworkLayer, place: &LayerPlace<'_>) {
        let first_compute_set = self.model.compute_sets.len();
        let code = self.code_of_layer(place, EXCHANGE_CODE_BYTES, CONTROL_CODE_BYTES / 2);
        if let Some(kept) = self.block_input.filter(|_| layer.kind == LayerKind::AddRelu) {
            self.copy(place, kept, code);
        }
        let output = self.bytes_per_tile(layer.output);
        let step = self.step();
        let message = self.data(
            &format!("message-{}", place.number),
            "message",
            self.bytes_per_tile(layer.input) / 8 + 32,
            LifeSpan::Steps(step, step + 2),
        );
        let from = self.name_of(self.activation);
        self.show_as(message, format!("<message:{from}>"));
        let code_parts = if layer.kind == LayerKind::AddRelu { 2 } else { 1 };
        let exchange = Exchange { received: message, copies: 1, code, code_parts };
        let part = if layer.kind == LayerKind::AddRelu { "Add" } else { "Reduce" };
        self.exchange(
            place,
            place.sequence,
            &format!("{part}/ExchangePre"),
            exchange,
            output / 8 + 80,
        );
        let kind = if layer.kind == LayerKind::AddRelu { ADD } else { REDUCE };
        let done = self.execute(place, place.sequence, part, kind, output / 2 + 200);
        self.use_at(self.activation, done);
        if layer.kind == LayerKind::AddRelu
            && let Some(kept) = self.block_input.take()
        {
            self.use_at(kept, done);
        }
        let next = self.output(layer, done, done);
        self.state(place, first_compute_set);
        self.activation = next;
    }

    /// The code of the exchanges of a layer, which it returns, and its control code.
    fn code_of_layer(&mut self, place: &LayerPlace<'_>, exchanges: u64, control: u64) -> usize {
        let name = format!(".text.supervisor.internal_exchange_{}", place.number);
        let code = self.code(&name, "internalExchangeCode", exchanges);
        let name = format!(".text.supervisor.control_{}", place.number);
        self.code(&name, "controlCode", control);
        code
    }

    /// What a layer computes, from its first step on to its last.
    fn output(&mut self, layer: &NetworkLayer, first: u32, last: u32) -> usize {
        let bytes = self.bytes_per_tile(layer.output);
        let life = LifeSpan::Steps(first, last + 1);
        let [.., shape] = self.shapes(layer);
        self.tensor(&format!("{}/output", layer.name), &shape, bytes, life)
    }

    /// Brings what a block has kept to where its sum wants it: a copy of the user's program, which is
    /// an exchange once it is lowered.
    fn copy(&mut self, place: &LayerPlace<'_>, kept: usize, code: usize) {
        let root = self.root_context;
        let name = format!("{}/residual", place.name);
        let context = self.context(poplar_context(root, "Copy", &name));
        let exchange = Exchange { received: kept, copies: 1, code, code_parts: 2 };
        let copy = LayerPlace { context, ..*place };
        let step = self.exchange(&copy, place.sequence, "residual/Copy", exchange, 120);
        self.use_at(kept, step);
    }

    /// The state of the vertices of a layer's compute sets, one symbol for all of them.
    fn state(&mut self, place: &LayerPlace<'_>, first_compute_set: usize) {
        let parts = (self.model.compute_sets.len() - first_compute_set) as u64;
        let state = self.data(
            &format!("__vertexState_{}", place.number),
            "vertexInstanceState",
            STATE_BYTES * parts,
            LifeSpan::Always,
        );
        self.show_as(state, "vertexInstanceState".to_owned());
        let compute_sets = self.model.compute_sets.iter_mut().skip(first_compute_set);
        for (part, compute_set) in (0..).zip(compute_sets) {
            compute_set.state = state;
            compute_set.state_parts = parts;
            compute_set.state_part = part;
        }
    }
}
