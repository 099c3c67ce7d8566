//! Lowers a network to programs and symbols: exchanges before compute, rearranged operands and
//! partial sums that live only as long as they must, loops where a plan splits the work in time.
//!
//! Here is the program as a whole; `runtime` has what every IPU needs and the ways in and out,
//! `layers` what a layer becomes, `contexts` what its debug contexts say.

mod contexts;
mod layers;
mod runtime;

use serde_json::{Map, Value, json};

use super::ReportOptions;
use super::machine;
use super::model::{
    Detail, LifeSpan, Model, ModelContext, Program, Spread, Symbol, VertexType, category,
};

const VERTEX_TYPES: [VertexType; 7] = [
    VertexType { name: "popops::Rearrange<half>", bytes: 12 },
    VertexType { name: "poplin::ConvPartial1x1Out<half,float,true,false,16,4>", bytes: 44 },
    VertexType { name: "popops::ReducePartialsEqualSize<popops::ReduceAdd,float,half>", bytes: 20 },
    VertexType { name: "popops::Cast<float,half>", bytes: 12 },
    VertexType { name: "popops::DynamicSlice1d<half>", bytes: 24 },
    VertexType { name: "popops::BinaryOp1DInPlace<popops::ADD,half>", bytes: 16 },
    VertexType { name: "popops::Transpose2d<half>", bytes: 20 },
];
const REARRANGE: usize = 0;
const CONVOLVE: usize = 1;
const REDUCE: usize = 2;
const CAST: usize = 3;
const SLICE: usize = 4;
const ADD: usize = 5;
const TRANSPOSE: usize = 6;

pub fn lower(options: &ReportOptions) -> Model {
    let mut lowering = Lowering::new(options);
    lowering.program();
    lowering.finish()
}

struct Lowering<'a> {
    options: &'a ReportOptions,
    model: Model,
    /// Data symbols; those of code go into the model directly, before them.
    data: Vec<Symbol>,
    ipu: u32,
    /// The data symbol that holds the current activation, and the one that a block keeps.
    activation: usize,
    block_input: Option<usize>,
    root_context: u64,
    /// The context that data are made in.
    data_context: u64,
    /// The function that every layer calls, with its program.
    function_of_all: Option<(usize, usize)>,
}

impl<'a> Lowering<'a> {
    fn new(options: &'a ReportOptions) -> Self {
        let mut app = Map::new();
        app.insert("network".to_owned(), Value::from(options.network.name()));
        app.insert("batch_size".to_owned(), Value::from(options.batch));
        app.insert("available_memory_proportion".to_owned(), Value::from(options.proportion));
        let option =
            |name: &str, value: &str, is_default| (name.to_owned(), value.to_owned(), is_default);
        let executes = if options.execution { "true" } else { "false" };
        let mut model = Model {
            target: machine::target(options.architecture, options.ipus, options.tiles_per_ipu),
            seed: options.seed,
            vertex_types: VERTEX_TYPES.to_vec(),
            app,
            has_cycle_estimates: options.cycle_estimates,
            options: vec![
                option("autoReport.all", "true", false),
                option("autoReport.directory", "./profile", false),
                option("autoReport.outputExecutionProfile", executes, options.execution),
                option("debug.allowOutOfMemory", "true", true),
                option("target.deterministicWorkers", "true", true),
            ],
            is_instrumented: options.execution || options.instrumented,
            has_execution: options.execution,
            recorded: options.recorded,
            ..Model::default()
        };
        if options.instrumented {
            model.options.push(option("debug.instrument", "true", false));
        }
        if options.cycle_estimates {
            model.options.push(option("profiler.includeCycleEstimates", "true", false));
        }
        Self {
            options,
            model,
            data: Vec::new(),
            ipu: 0,
            activation: 0,
            block_input: None,
            root_context: 0,
            data_context: 0,
            function_of_all: None,
        }
    }

    fn step(&self) -> u32 {
        u32::try_from(self.model.programs.len()).unwrap_or(u32::MAX)
    }

    fn first_tile(&self) -> u32 {
        self.ipu * self.options.tiles_per_ipu
    }

    fn context(&mut self, context: ModelContext) -> u64 {
        let id = self.model.contexts.len() as u64 + 1;
        self.model.contexts.push(ModelContext { id, ..context });
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
        let again = None;
        let program = Program { kind, name, context, parent, detail, again, ipu, cycles };
        self.model.programs.push(program);
        step
    }

    /// A call of a function, right below the root.
    fn call(&mut self, context: u64, function: usize) -> usize {
        self.add_to_root("Call", context, Detail::Call(function), 0) as usize
    }

    /// Calls what every layer calls: the same two programs each time, which take no time.
    fn call_of_all(&mut self, context: u64) {
        let known = self.function_of_all;
        let function = known.map_or(self.model.functions.len(), |(function, _)| function);
        let call = self.call(context, function);
        let programs = [("Sequence", call), ("WriteUndef", call.saturating_add(1))];
        let first = self.step() as usize;
        for (place, (kind, parent)) in programs.into_iter().enumerate() {
            let root = self.root_context;
            self.add(kind, String::new(), root, Some(parent), Detail::None, 0);
            if let (Some((_, again)), Some(step)) = (known, self.model.programs.last_mut()) {
                step.again = Some(again.saturating_add(place));
            }
        }
        if known.is_none() {
            self.model.functions.push(first);
            self.function_of_all = Some((function, first));
        }
    }

    /// A step right below the root.
    fn add_to_root(
        &mut self,
        kind: &'static str,
        context: u64,
        detail: Detail,
        cycles: u64,
    ) -> u32 {
        self.add(kind, String::new(), context, Some(0), detail, cycles)
    }

    fn spread(&self, bytes: u64, unevenness: u64) -> Spread {
        Spread { first: self.first_tile(), tiles: self.options.tiles_per_ipu, bytes, unevenness }
    }

    /// A data symbol on the tiles of the current IPU.
    fn data(&mut self, name: &str, kind: &str, bytes: u64, life: LifeSpan) -> usize {
        let spread = self.spread(bytes, 30);
        let context = self.data_context;
        self.data.push(Symbol { context, ..symbol(name, kind, life, spread) });
        self.data.len() - 1
    }

    /// The same for a tensor of the user, with a debug context of its own that says its shape and type. It has no name,
    /// so the tensor belongs to the operation that made it.
    fn tensor(&mut self, name: &str, shape: &[u64], bytes: u64, life: LifeSpan) -> usize {
        let parent = self.data_context;
        let says = vec![("shape", json!(shape)), ("type", json!(self.element_type()))];
        let kind = ("category", "var".to_owned());
        let location = ("poplar/lib/Graph.cpp", 210);
        let context =
            self.context(ModelContext { kind, location, says, ..poplar_context(parent, "", "") });
        let at = self.data(name, "variable", bytes, life);
        if let Some(symbol) = self.data.get_mut(at) {
            symbol.context = context;
        }
        at
    }

    fn code(&mut self, name: &str, kind: &str, bytes: u64) -> usize {
        let spread = self.spread(bytes, 45);
        let symbol = Symbol {
            is_code: true,
            shown_as: kind.to_owned(),
            is_lowered_from: false,
            ..symbol(name, kind, LifeSpan::Always, spread)
        };
        self.model.symbols.push(symbol);
        self.model.symbols.len() - 1
    }

    fn name_of(&self, symbol: usize) -> String {
        self.data.get(symbol).map(|symbol| symbol.name.clone()).unwrap_or_default()
    }

    /// Lets a data symbol appear under another name before lowering, as no variable of the user.
    fn show_as(&mut self, symbol: usize, name: String) -> Option<&mut Symbol> {
        let symbol = self.data.get_mut(symbol)?;
        symbol.shown_as = name;
        symbol.is_lowered_from = false;
        Some(symbol)
    }

    /// Keeps a data symbol alive at a step.
    fn use_at(&mut self, symbol: usize, step: u32) {
        if let Some(Symbol { life: LifeSpan::Steps(_, to), .. }) = self.data.get_mut(symbol) {
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
        let shape = layers
            .first()
            .map(|layer| self.shapes(layer))
            .map_or_else(Vec::new, |[input, ..]| input);
        self.activation = self.tensor("input", &shape, bytes, LifeSpan::Steps(1, 2));
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

    /// Bytes on a tile of a tensor of the batch.
    fn bytes_per_tile(&self, elements: u64) -> u64 {
        self.share_of_tile(elements * self.options.batch)
    }

    /// Bytes on a tile of elements that are spread over an IPU.
    fn share_of_tile(&self, elements: u64) -> u64 {
        let bytes = if self.options.single_precision { 4 } else { 2 };
        (elements * bytes).div_ceil(u64::from(self.options.tiles_per_ipu).max(1))
    }

    /// Where the code leaves room for the stack below the interleaved region, partial sums go to the
    /// other side of its border.
    fn keep_partials_from_stack(&mut self) {
        let on_one_ipu = u64::from(self.options.ipus);
        let code: u64 = self.model.symbols.iter().map(|symbol| symbol.spread.bytes).sum();
        let border = self.model.target.interleaved_start.unwrap_or(0);
        // Code differs between tiles by a few hundredths, and data begins at the next element.
        if code / on_one_ipu * 11 / 10 + 2 * 16_384 < border {
            let partials = self.data.iter_mut().filter(|symbol| symbol.name.ends_with("/partials"));
            partials.for_each(|symbol| symbol.avoids_stack = true);
        }
    }

    /// Puts the data behind the code: always-live first, then the largest temporaries.
    fn finish(mut self) -> Model {
        self.keep_partials_from_stack();
        let code = self.model.symbols.len();
        let mut order: Vec<usize> = (0..self.data.len()).collect();
        order.sort_by_key(|at| {
            self.data.get(*at).map(|symbol| {
                let is_temporary = symbol.life != LifeSpan::Always;
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

fn symbol(name: &str, kind: &str, life: LifeSpan, spread: Spread) -> Symbol {
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
        avoids_stack: false,
        context: 0,
        spread,
    }
}

fn poplar_context(parent: u64, kind: &str, name: &str) -> ModelContext {
    ModelContext {
        id: 0,
        parent,
        layer: "poplar",
        kind: ("type", kind.to_owned()),
        name: name.to_owned(),
        location: ("poplar/lib/Program.cpp", 60),
        says: Vec::new(),
    }
}
