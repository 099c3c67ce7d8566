//! Lowers a network to programs and symbols: exchanges before compute, rearranged operands and
//! partial sums that live only as long as they must, loops where a plan splits the work in time.

use serde_json::{Map, Value};

use super::Options;
use super::machine;
use super::model::{
    ComputeSet, Context, Detail, Exchange, Life, Model, Program, Spread, Symbol, VertexType,
    category,
};
use super::network::{Kind, Layer};
use super::planner::{self, Plan, Request};

/// Code of an exchange on a tile, bytes, and what each doubling of a serial split adds to it.
const EXCHANGE_CODE_BYTES: u64 = 428;
const EXCHANGE_CODE_BYTES_PER_DOUBLING: u64 = 120;
/// Control code of a layer on a tile, bytes, and what each doubling of a serial split adds to it.
const CONTROL_CODE_BYTES: u64 = 412;
const CONTROL_CODE_BYTES_PER_DOUBLING: u64 = 80;
/// State of the vertices of a compute set on a tile, bytes.
const STATE_BYTES: u64 = 132;
/// Cycles of host traffic, syncs and start in every run, whatever the batch.
const CYCLES_OF_A_RUN: u64 = 1_500_000;

const VERTEX_TYPES: [VertexType; 6] = [
    VertexType { name: "popops::Rearrange<half>", bytes: 12 },
    VertexType { name: "poplin::ConvPartial1x1Out<half,float,true,false,16,4>", bytes: 44 },
    VertexType { name: "popops::ReducePartialsEqualSize<popops::ReduceAdd,float,half>", bytes: 20 },
    VertexType { name: "popops::Cast<float,half>", bytes: 12 },
    VertexType { name: "popops::DynamicSlice1d<half>", bytes: 24 },
    VertexType { name: "popops::BinaryOp1DInPlace<popops::ADD,half>", bytes: 16 },
];
const REARRANGE: usize = 0;
const CONVOLVE: usize = 1;
const REDUCE: usize = 2;
const CAST: usize = 3;
const SLICE: usize = 4;
const ADD: usize = 5;

/// Lowers the network that the options name.
pub fn lower(options: &Options) -> Model {
    let mut lowering = Lowering::new(options);
    lowering.program();
    lowering.finish()
}

struct Lowering<'a> {
    options: &'a Options,
    model: Model,
    /// Data symbols; those of code go into the model directly, before them.
    data: Vec<Symbol>,
    ipu: u32,
    /// The data symbol that holds the current activation, and the one that a block keeps.
    activation: usize,
    block_input: Option<usize>,
    root_context: u64,
}

/// What the steps of a layer have in common.
struct Place<'n> {
    name: &'n str,
    sequence: usize,
    context: u64,
    /// Number of the layer, for names of compute sets.
    number: usize,
}

impl<'a> Lowering<'a> {
    fn new(options: &'a Options) -> Self {
        let mut app = Map::new();
        app.insert("network".to_owned(), Value::from(options.network.name()));
        app.insert("batch_size".to_owned(), Value::from(options.batch));
        app.insert("available_memory_proportion".to_owned(), Value::from(options.proportion));
        let option =
            |name: &str, value: &str, is_default| (name.to_owned(), value.to_owned(), is_default);
        let executes = if options.execution { "true" } else { "false" };
        let model = Model {
            target: machine::target(options.architecture, options.ipus, options.tiles_per_ipu),
            seed: options.seed,
            programs: Vec::new(),
            compute_sets: Vec::new(),
            vertex_types: VERTEX_TYPES.to_vec(),
            symbols: Vec::new(),
            contexts: Vec::new(),
            app,
            options: vec![
                option("autoReport.all", "true", false),
                option("autoReport.directory", "./profile", false),
                option("autoReport.outputExecutionProfile", executes, options.execution),
                option("debug.allowOutOfMemory", "true", true),
                option("target.deterministicWorkers", "true", true),
            ],
            plans: Vec::new(),
            batch: options.batch,
            has_execution: options.execution,
        };
        Self {
            options,
            model,
            data: Vec::new(),
            ipu: 0,
            activation: 0,
            block_input: None,
            root_context: 0,
        }
    }

    fn step(&self) -> u32 {
        u32::try_from(self.model.programs.len()).unwrap_or(u32::MAX)
    }

    fn first_tile(&self) -> u32 {
        self.ipu * self.options.tiles_per_ipu
    }

    fn context(&mut self, context: Context) -> u64 {
        let id = self.model.contexts.len() as u64 + 1;
        self.model.contexts.push(Context { id, ..context });
        id
    }

    fn add(
        &mut self,
        kind: &'static str,
        name: String,
        context: u64,
        parent: Option<usize>,
        detail: Detail,
        cycles: u64,
    ) -> u32 {
        let step = self.step();
        let ipu = self.ipu;
        self.model.programs.push(Program { kind, name, context, parent, detail, ipu, cycles });
        step
    }

    /// A data symbol on the tiles of the current IPU.
    fn data(&mut self, name: &str, kind: &str, bytes: u64, life: Life) -> usize {
        let spread = Spread {
            first: self.first_tile(),
            tiles: self.options.tiles_per_ipu,
            bytes,
            unevenness: 30,
        };
        self.data.push(symbol(name, kind, life, spread));
        self.data.len() - 1
    }

    fn code(&mut self, name: &str, kind: &str, bytes: u64) -> usize {
        let spread = Spread {
            first: self.first_tile(),
            tiles: self.options.tiles_per_ipu,
            bytes,
            unevenness: 45,
        };
        let symbol = Symbol {
            is_code: true,
            shown_as: kind.to_owned(),
            is_lowered_from: false,
            ..symbol(name, kind, Life::Always, spread)
        };
        self.model.symbols.push(symbol);
        self.model.symbols.len() - 1
    }

    /// Keeps a data symbol alive at a step.
    fn use_at(&mut self, symbol: usize, step: u32) {
        if let Some(Symbol { life: Life::Steps(_, to), .. }) = self.data.get_mut(symbol) {
            *to = (*to).max(step + 1);
        }
    }

    fn program(&mut self) {
        self.root_context = self.context(poplar_context(0, "Sequence", "main"));
        let root = self.root_context;
        self.add("Sequence", String::new(), root, None, Detail::None, 0);
        self.runtime();
        let layers = self.options.layers();
        let input = layers.first().map_or(0, |layer| layer.input);
        let bytes = self.bytes_per_tile(input);
        self.activation = self.data("input", "variable", bytes, Life::Steps(1, 2));
        let read = self.stream("input", true, self.activation);
        self.use_at(self.activation, read);
        let total: u64 = layers.iter().map(|layer| layer.macs).sum();
        let mut done = 0;
        for (number, layer) in layers.iter().enumerate() {
            let ipu =
                u32::try_from(done * u64::from(self.options.ipus) / total.max(1)).unwrap_or(0);
            if ipu > self.ipu {
                self.next_ipu(ipu, layer);
            }
            done += layer.macs;
            self.layer(number, layer);
        }
        let written = self.stream("output", false, self.activation);
        self.use_at(self.activation, written);
    }

    /// Bytes on a tile of a tensor of the batch in half precision.
    fn bytes_per_tile(&self, elements: u64) -> u64 {
        (elements * self.options.batch * 2).div_ceil(u64::from(self.options.tiles_per_ipu).max(1))
    }

    /// What every IPU has whatever it computes: boot code, library code, stacks.
    fn runtime(&mut self) {
        let exact = |spread: &mut Spread| spread.unevenness = 0;
        for (name, kind, bytes) in [
            (".text.poplar_start", "controlCode", 1_364),
            (".text.__runCodelet_popops__Rearrange___half", "vertexCode", 4_212),
            (
                ".text.__runCodelet_poplin__ConvPartial1x1Out___half_float_true_false_16_4",
                "vertexCode",
                12_624,
            ),
            (
                ".text.__runCodelet_poplin__ConvPartialnx1___half_float_true_false_16_4",
                "vertexCode",
                9_880,
            ),
            (
                ".text.__runCodelet_popops__ReducePartialsEqualSize___popops__ReduceAdd_float_half",
                "vertexCode",
                3_716,
            ),
            (".text.__runCodelet_popops__Cast___float_half", "vertexCode", 1_244),
            (".text.__runCodelet_popops__DynamicSlice1d___half", "vertexCode", 2_096),
            (
                ".text.__runCodelet_popops__BinaryOp1DInPlace___popops__ADD_half",
                "vertexCode",
                2_480,
            ),
            (".text.memcpy", "vertexCode", 628),
            (".text.supervisor.host_exchange_hostExchangeEntryMasterSync", "hostExchangeCode", 412),
        ] {
            let at = self.code(name, kind, bytes);
            if let Some(symbol) = self.model.symbols.get_mut(at) {
                exact(&mut symbol.spread);
            }
        }
        for (name, kind, bytes, alignment) in [
            ("__stack", "stack", 1_064, 8),
            ("multiple_headers_0", "hostExchangePacketHeader", 96, 32),
            ("zero", "constant", 4, 4),
            ("unused", "constant", 0, 4),
        ] {
            let at = self.data(name, kind, bytes, Life::Always);
            if let Some(symbol) = self.data.get_mut(at) {
                exact(&mut symbol.spread);
                symbol.alignment = alignment;
                symbol.is_lowered_from = false;
                symbol.is_constant = kind == "constant";
                symbol.shown_as =
                    if kind == "constant" { "<const>".to_owned() } else { kind.to_owned() };
            }
        }
    }

    /// Data from or to the host. Returns the step that moves it.
    fn stream(&mut self, name: &str, from_host: bool, tensor: usize) -> u32 {
        let root = self.root_context;
        let context = self.context(poplar_context(root, "StreamCopy", name));
        let code =
            self.code(&format!(".text.supervisor.host_exchange_{name}"), "hostExchangeCode", 548);
        let tiles = self.first_tile()..self.first_tile() + self.options.tiles_per_ipu;
        self.add("Sans", String::new(), context, Some(0), Detail::Tiles(tiles.clone()), 12);
        let begin = self.add(
            "StreamCopyBegin",
            String::new(),
            context,
            Some(0),
            Detail::None,
            CYCLES_OF_A_RUN / 4,
        );
        let message = self.data(
            &format!("hostMessage-{name}"),
            "hostMessage",
            1_024,
            Life::Steps(begin, begin + 3),
        );
        if let Some(symbol) = self.data.get_mut(message) {
            symbol.shown_as = "hostMessage".to_owned();
            symbol.is_lowered_from = false;
            symbol.alignment = 32;
        }
        let exchange = Exchange { received: message, copies: 1, code, code_parts: 1 };
        let detail = Detail::HostExchange(exchange, name.to_owned(), from_host);
        let bytes = self.data.get(tensor).map_or(0, |symbol| symbol.spread.bytes);
        let mid =
            self.add("StreamCopyMid", String::new(), context, Some(0), detail, 900 + bytes / 2);
        self.add(
            "StreamCopyEnd",
            String::new(),
            context,
            Some(0),
            Detail::None,
            CYCLES_OF_A_RUN / 8,
        );
        self.add("SyncAns", String::new(), context, Some(0), Detail::Tiles(tiles), 60);
        mid
    }

    /// Moves the activation to the next IPU of the pipeline.
    fn next_ipu(&mut self, ipu: u32, layer: &Layer) {
        let root = self.root_context;
        let context = self.context(poplar_context(root, "Copy", &format!("pipeline/{ipu}")));
        let leaves = self.activation;
        self.ipu = ipu;
        self.runtime();
        let code = self.code(&format!(".text.global_exchange_{ipu}"), "globalExchangeCode", 640);
        let sync = self.add("Sync", String::new(), context, Some(0), Detail::Sync, 600);
        let bytes = self.bytes_per_tile(layer.input);
        let arrives = self.data(
            &format!("pipeline/{ipu}/activation"),
            "variable",
            bytes,
            Life::Steps(sync, sync + 2),
        );
        let message = self.data(
            &format!("globalMessage-{ipu}"),
            "globalMessage",
            bytes / 8 + 64,
            Life::Steps(sync, sync + 2),
        );
        let shown = self.data.get(leaves).map(|symbol| symbol.name.clone()).unwrap_or_default();
        if let Some(symbol) = self.data.get_mut(message) {
            symbol.shown_as = format!("<message:{shown}>");
            symbol.is_lowered_from = false;
        }
        let exchange = Exchange { received: message, copies: 1, code, code_parts: 1 };
        let name = format!("pipeline/{ipu}/GlobalExchange");
        let moved = self.add(
            "GlobalExchange",
            name,
            context,
            Some(0),
            Detail::GlobalExchange(exchange),
            400 + bytes,
        );
        self.use_at(leaves, moved);
        self.activation = arrives;
        // A sum after a cut takes what arrives: the block's input came with it.
        self.block_input = self.block_input.map(|_| arrives);
    }

    fn layer(&mut self, number: usize, layer: &Layer) {
        if layer.begins_block {
            self.block_input = Some(self.activation);
        }
        let call = self.contexts_of(layer);
        let sequence_context = self.context(poplar_context(call, "Sequence", ""));
        let sequence = self.step() as usize;
        self.add("Sequence", String::new(), sequence_context, Some(0), Detail::None, 0);
        let context = self.context(poplar_context(call, "Execute", ""));
        let place = Place { name: &layer.name, sequence, context, number };
        if layer.is_planned() {
            self.planned_layer(layer, &place, call);
        } else {
            self.simple_layer(layer, &place);
        }
    }

    /// The chain of contexts from the framework to the PopLibs call, which it returns.
    fn contexts_of(&mut self, layer: &Layer) -> u64 {
        let name = format!("model.{}", layer.name);
        let torch = self.context(Context {
            layer: "poptorch",
            kind: ("op_type", layer.api().to_owned()),
            location: ("resnext.py", layer.line),
            ..poplar_context(0, "", &name)
        });
        let onnx = self.context(Context {
            layer: "onnx",
            kind: ("opType", layer.onnx().to_owned()),
            ..poplar_context(torch, "", &name)
        });
        let popart = self.context(Context {
            layer: "popart",
            kind: ("opid", format!("ai.onnx.{}:11", layer.onnx())),
            ..poplar_context(onnx, "", &name)
        });
        let options = if layer.is_planned() {
            vec![
                ("availableMemoryProportion", self.options.proportion.to_string()),
                ("partialsType", "float".to_owned()),
            ]
        } else {
            Vec::new()
        };
        let file = match layer.kind {
            Kind::Convolution { .. } => "poplibs/lib/poplin/Convolution.cpp",
            Kind::MatMul => "poplibs/lib/poplin/MatMul.cpp",
            Kind::AddRelu | Kind::Pool => "poplibs/lib/popops/ElementWise.cpp",
        };
        self.context(Context {
            layer: "poplibs",
            kind: ("api", layer.api().to_owned()),
            location: (file, 1_200),
            options,
            ..poplar_context(popart, "", &layer.name)
        })
    }

    fn execute(
        &mut self,
        place: &Place<'_>,
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
        place: &Place<'_>,
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
    fn planned_layer(&mut self, layer: &Layer, place: &Place<'_>, call: u64) {
        let request = Request {
            batch: self.options.batch,
            tiles: self.options.tiles_per_ipu,
            bytes_per_tile: self.model.target.bytes_per_tile.unwrap_or(0),
            proportion: self.options.proportion,
        };
        let plan = planner::plan(layer, &request);
        self.model.plans.push(plan);
        let doublings = u64::from(plan.serial_split.ilog2());
        let code = self.code(
            &format!(".text.supervisor.internal_exchange_{}", place.number),
            "internalExchangeCode",
            (EXCHANGE_CODE_BYTES * 2 + EXCHANGE_CODE_BYTES_PER_DOUBLING * doublings)
                .next_multiple_of(8),
        );
        self.code(
            &format!(".text.supervisor.control_{}", place.number),
            "controlCode",
            CONTROL_CODE_BYTES + CONTROL_CODE_BYTES_PER_DOUBLING * doublings,
        );
        let weights = format!("model.{}.weight", layer.name);
        let bytes = (layer.weights * 2).div_ceil(u64::from(self.options.tiles_per_ipu).max(1));
        self.data(&weights, "variable", bytes, Life::Always);
        let first_compute_set = self.model.compute_sets.len();
        let kind = if layer.api() == "matMul" { "MatMul" } else { "Conv" };
        let busy = plan.cycles / plan.serial_split;
        let arrange = self.execute(
            place,
            place.sequence,
            &format!("{kind}/PreArrange"),
            REARRANGE,
            busy / 12,
        );
        self.use_at(self.activation, arrange);
        let mut body = place.sequence;
        if plan.serial_split > 1 {
            let repeat = self.step() as usize;
            let detail = Detail::Repeat(plan.serial_split);
            self.add("Repeat", String::new(), place.context, Some(place.sequence), detail, 0);
            body = self.step() as usize;
            self.add("Sequence", String::new(), place.context, Some(repeat), Detail::None, 0);
            self.execute(place, body, &format!("{kind}/SliceIn"), SLICE, busy / 24);
        }
        let (operands, message) = self.operands(&plan, place, arrange);
        let pre = Exchange { received: message, copies: 2, code, code_parts: 2 };
        let exchange =
            self.exchange(place, body, &format!("{kind}/Convolve/ExchangePre"), pre, busy / 5);
        self.use_at(message, exchange);
        self.add("WriteUndef", String::new(), place.context, Some(body), Detail::None, 0);
        let convolve = self.execute(place, body, &format!("{kind}/Convolve"), CONVOLVE, busy / 2);
        for symbol in [operands, message, self.activation] {
            self.use_at(symbol, convolve);
        }
        let partials = self.data(
            &format!("{}/{kind}/partials", layer.name),
            "variable",
            plan.partial_bytes.max(64),
            Life::Steps(convolve, convolve + 1),
        );
        let work = self.data(
            &format!("{}/{kind}/workspace", layer.name),
            "variable",
            plan.temporary_bytes - plan.operand_bytes - plan.partial_bytes,
            Life::Steps(arrange, convolve + 1),
        );
        for temporary in [partials, work] {
            if let Some(symbol) = self.data.get_mut(temporary) {
                symbol.shown_as = "<anon>".to_owned();
                symbol.is_lowered_from = false;
                symbol.alignment = 8;
            }
        }
        let reduce_context = self.context(Context {
            layer: "poplibs",
            kind: ("api", "reduceWithOutput".to_owned()),
            location: ("poplibs/lib/popops/Reduction.cpp", 273),
            ..poplar_context(call, "", "")
        });
        let context = self.context(poplar_context(reduce_context, "Execute", ""));
        let reduce_place = Place { context, ..*place };
        let post = Exchange { received: partials, copies: 1, code, code_parts: 2 };
        let moved = self.exchange(
            &reduce_place,
            body,
            &format!("{kind}/Reduce/ExchangePre"),
            post,
            busy / 10,
        );
        let reduced =
            self.execute(&reduce_place, body, &format!("{kind}/Reduce"), REDUCE, busy / 10);
        self.use_at(partials, moved.max(reduced));
        if plan.serial_split > 1 {
            self.execute(place, body, &format!("{kind}/UpdateOut"), SLICE, busy / 24);
        }
        let output = self.bytes_per_tile(layer.output);
        let output = self.data(
            &format!("{}/output", layer.name),
            "variable",
            output,
            Life::Steps(convolve, reduced + 1),
        );
        let cast = self.execute(place, place.sequence, &format!("{kind}/Cast"), CAST, busy / 16);
        self.use_at(output, cast);
        self.state(place, first_compute_set);
        self.activation = output;
    }

    /// The rearranged input and the message that brings it.
    fn operands(&mut self, plan: &Plan, place: &Place<'_>, arrange: u32) -> (usize, usize) {
        let from =
            self.data.get(self.activation).map(|symbol| symbol.name.clone()).unwrap_or_default();
        let step = self.step();
        let operands = self.data(
            &format!("arrange-{}", place.number),
            "rearrangement",
            plan.operand_bytes * 3 / 4,
            Life::Steps(arrange, step + 1),
        );
        let message = self.data(
            &format!("message-{}", place.number),
            "message",
            plan.operand_bytes / 4,
            Life::Steps(step, step + 1),
        );
        for (symbol, kind) in [(operands, "rearrangement"), (message, "message")] {
            if let Some(symbol) = self.data.get_mut(symbol) {
                symbol.shown_as = format!("<{kind}:{from}>");
                symbol.is_lowered_from = false;
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
    fn simple_layer(&mut self, layer: &Layer, place: &Place<'_>) {
        let first_compute_set = self.model.compute_sets.len();
        let code = self.code(
            &format!(".text.supervisor.internal_exchange_{}", place.number),
            "internalExchangeCode",
            EXCHANGE_CODE_BYTES,
        );
        self.code(
            &format!(".text.supervisor.control_{}", place.number),
            "controlCode",
            CONTROL_CODE_BYTES / 2,
        );
        let output = self.bytes_per_tile(layer.output);
        let step = self.step();
        let message = self.data(
            &format!("message-{}", place.number),
            "message",
            self.bytes_per_tile(layer.input) / 8 + 32,
            Life::Steps(step, step + 2),
        );
        let from =
            self.data.get(self.activation).map(|symbol| symbol.name.clone()).unwrap_or_default();
        if let Some(symbol) = self.data.get_mut(message) {
            symbol.shown_as = format!("<message:{from}>");
            symbol.is_lowered_from = false;
        }
        let exchange = Exchange { received: message, copies: 1, code, code_parts: 1 };
        let part = if layer.kind == Kind::AddRelu { "Add" } else { "Reduce" };
        self.exchange(
            place,
            place.sequence,
            &format!("{part}/ExchangePre"),
            exchange,
            output / 8 + 80,
        );
        let kind = if layer.kind == Kind::AddRelu { ADD } else { REDUCE };
        let done = self.execute(place, place.sequence, part, kind, output / 2 + 200);
        self.use_at(self.activation, done);
        if layer.kind == Kind::AddRelu
            && let Some(kept) = self.block_input.take()
        {
            self.use_at(kept, done);
        }
        let next = self.data(
            &format!("{}/output", layer.name),
            "variable",
            output,
            Life::Steps(done, done + 1),
        );
        self.state(place, first_compute_set);
        self.activation = next;
    }

    /// The state of the vertices of a layer's compute sets, one symbol for all of them.
    fn state(&mut self, place: &Place<'_>, first_compute_set: usize) {
        let parts = (self.model.compute_sets.len() - first_compute_set) as u64;
        let state = self.data(
            &format!("__vertexState_{}", place.number),
            "vertexInstanceState",
            STATE_BYTES * parts,
            Life::Always,
        );
        if let Some(symbol) = self.data.get_mut(state) {
            symbol.shown_as = "vertexInstanceState".to_owned();
            symbol.is_lowered_from = false;
        }
        let compute_sets = self.model.compute_sets.iter_mut().skip(first_compute_set);
        for (part, compute_set) in (0..).zip(compute_sets) {
            compute_set.state = state;
            compute_set.state_parts = parts;
            compute_set.state_part = part;
        }
    }

    /// Puts the data behind the code: always-live first, then the largest temporaries.
    fn finish(mut self) -> Model {
        let code = self.model.symbols.len();
        let mut order: Vec<usize> = (0..self.data.len()).collect();
        order.sort_by_key(|at| {
            self.data.get(*at).map(|symbol| {
                let is_temporary = symbol.life != Life::Always;
                let largest_first = if is_temporary { u64::MAX - symbol.spread.bytes } else { 0 };
                (is_temporary, !symbol.is_interleaved && is_temporary, largest_first)
            })
        });
        let mut new_place = vec![0; self.data.len()];
        for (place, old) in order.iter().enumerate() {
            if let Some(slot) = new_place.get_mut(*old) {
                *slot = code + place;
            }
        }
        let moved = |at: usize| new_place.get(at).copied().unwrap_or(0);
        self.model.symbols.extend(order.iter().filter_map(|at| self.data.get(*at).cloned()));
        for program in &mut self.model.programs {
            if let Detail::Exchange(exchange)
            | Detail::GlobalExchange(exchange)
            | Detail::HostExchange(exchange, ..) = &mut program.detail
            {
                exchange.received = moved(exchange.received);
            }
        }
        for compute_set in &mut self.model.compute_sets {
            compute_set.state = moved(compute_set.state);
        }
        self.model
    }
}

fn symbol(name: &str, kind: &str, life: Life, spread: Spread) -> Symbol {
    Symbol {
        name: name.to_owned(),
        category: category(kind),
        life,
        shown_as: name.to_owned(),
        is_lowered_from: true,
        alignment: 4,
        is_code: false,
        is_interleaved: false,
        is_constant: false,
        spread,
    }
}

fn poplar_context(parent: u64, kind: &str, name: &str) -> Context {
    Context {
        id: 0,
        parent,
        layer: "poplar",
        kind: ("type", kind.to_owned()),
        name: name.to_owned(),
        location: ("poplar/lib/Program.cpp", 60),
        options: Vec::new(),
    }
}
