//! A tiny network for tests and first looks: three convolutions and a fully connected layer on an
//! IPU Model with few tiles.

use serde_json::{Map, Value};

use super::model::{ComputeSet, Context, Life, Model, Program, Wanted, category};
use crate::store::target::Target;

const SOURCE_OF_POPLIBS: &str = "poplibs/lib/poplin/Convolution.cpp";
const SOURCE_OF_MODEL: &str = "tiny.py";

/// What the convolutions are given: `availableMemoryProportion`.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Tiles of the one IPU.
    pub tiles: u32,
    /// Batch size.
    pub batch: u64,
    /// `availableMemoryProportion` of convolutions and matmuls.
    pub proportion: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { tiles: 16, batch: 8, proportion: 0.6 }
    }
}

/// An IPU Model of the Mk2 architecture with this many tiles (formats/poplar.md 2.4).
pub fn target(tiles: u32) -> Target {
    const BYTES_PER_TILE: u64 = 638_976;
    const INTERLEAVED_START: u64 = 212_992;
    let low = (0..13).map(|element| element * 16_384);
    let high = (0..13).map(|element| INTERLEAVED_START + element * 32_768);
    let tiles = u64::from(tiles);
    let bytes = tiles * BYTES_PER_TILE;
    Target {
        kind: Some("IPU_MODEL".to_owned()),
        architecture: Some("ipu2".to_owned()),
        ipus: Some(1),
        replicas: Some(1),
        ipus_per_replica: Some(1),
        tiles: Some(tiles),
        tiles_per_ipu: Some(tiles),
        tiles_per_replica: Some(tiles),
        bytes_per_tile: Some(BYTES_PER_TILE),
        bytes_per_ipu: Some(bytes),
        bytes_per_replica: Some(bytes),
        total_bytes: Some(bytes),
        clock_hz: Some(1_850_000_000),
        element_offsets: low.chain(high).collect(),
        region_offsets: vec![0, INTERLEAVED_START],
        interleaved_start: Some(INTERLEAVED_START),
        tile_base_address: Some(311_296),
        ..Target::default()
    }
}

/// A layer of the network. Sizes are bytes on a tile.
struct Layer {
    name: &'static str,
    api: &'static str,
    weights: u64,
    output: u64,
    /// Temporary bytes that the fastest plan would take; the proportion caps them.
    partials: u64,
    line: u64,
}

const LAYERS: [Layer; 4] = [
    Layer {
        name: "stem.conv",
        api: "convolution",
        weights: 4_704,
        output: 6_272,
        partials: 30_100,
        line: 31,
    },
    Layer {
        name: "layer1.0.conv1",
        api: "convolution",
        weights: 18_432,
        output: 6_272,
        partials: 52_600,
        line: 18,
    },
    Layer {
        name: "layer1.0.conv2",
        api: "convolution",
        weights: 36_864,
        output: 3_136,
        partials: 41_200,
        line: 19,
    },
    Layer { name: "fc", api: "matMul", weights: 32_000, output: 500, partials: 4_000, line: 40 },
];

/// Makes the model.
pub fn model(options: &Options) -> Model {
    let mut builder = Builder::new(options);
    builder.program();
    builder.variables();
    builder.model
}

struct Builder<'a> {
    options: &'a Options,
    model: Model,
    /// First and last step of each layer, and the steps of its convolve and reduce.
    spans: Vec<Span>,
    input_steps: (u32, u32),
    output_steps: (u32, u32),
}

#[derive(Clone, Copy)]
struct Span {
    arrange: u32,
    convolve: u32,
    reduce: u32,
}

impl<'a> Builder<'a> {
    fn new(options: &'a Options) -> Self {
        let mut app = Map::new();
        app.insert("network".to_owned(), Value::from("tiny"));
        app.insert("batch_size".to_owned(), Value::from(options.batch));
        app.insert("available_memory_proportion".to_owned(), Value::from(options.proportion));
        let option =
            |name: &str, value: &str, is_default| (name.to_owned(), value.to_owned(), is_default);
        let model = Model {
            target: target(options.tiles),
            programs: Vec::new(),
            compute_sets: Vec::new(),
            vertex_types: vec!["popops::Rearrange", "poplin::ConvPartial1x1Out", "popops::Reduce"],
            tiles: Vec::new(),
            contexts: Vec::new(),
            app,
            options: vec![
                option("autoReport.all", "true", false),
                option("autoReport.directory", "./profile", false),
                option("debug.allowOutOfMemory", "true", true),
                option("target.deterministicWorkers", "true", true),
            ],
        };
        Self { options, model, spans: Vec::new(), input_steps: (0, 0), output_steps: (0, 0) }
    }

    fn step(&self) -> u32 {
        u32::try_from(self.model.programs.len()).unwrap_or(u32::MAX)
    }

    fn add(
        &mut self,
        kind: &'static str,
        name: String,
        context: u64,
        parent: Option<usize>,
    ) -> u32 {
        let step = self.step();
        self.model.programs.push(Program { kind, name, context, parent, compute_set: None });
        step
    }

    fn execute(&mut self, name: String, context: u64, parent: usize, vertex_type: usize) -> u32 {
        let compute_set = self.model.compute_sets.len();
        let vertices = u64::from(self.options.tiles) * 6;
        self.model.compute_sets.push(ComputeSet {
            name,
            context,
            vertices: vec![(vertex_type, vertices)],
            edges: vertices * 3,
        });
        let step = self.add("OnTileExecute", String::new(), context, Some(parent));
        if let Some(program) = self.model.programs.last_mut() {
            program.compute_set = Some(compute_set);
        }
        step
    }

    fn context(&mut self, context: Context) -> u64 {
        let id = self.model.contexts.len() as u64 + 1;
        self.model.contexts.push(Context { id, ..context });
        id
    }

    /// The program: input stream, layers, output stream.
    fn program(&mut self) {
        let root = self.context(poplar_context(0, "Sequence", "main"));
        self.add("Sequence", String::new(), root, None);
        self.input_steps = self.stream_copy(root, "input");
        for layer in &LAYERS {
            self.layer(layer);
        }
        self.output_steps = self.stream_copy(root, "output");
    }

    fn stream_copy(&mut self, root: u64, name: &str) -> (u32, u32) {
        let context = self.context(poplar_context(root, "StreamCopy", name));
        let first = self.add("Sans", String::new(), context, Some(0));
        for kind in ["StreamCopyBegin", "StreamCopyMid", "StreamCopyEnd", "SyncAns"] {
            self.add(kind, String::new(), context, Some(0));
        }
        (first, self.step())
    }

    fn layer(&mut self, layer: &Layer) {
        let torch = self.context(Context {
            layer: "poptorch",
            kind: ("op_type", layer.api.to_owned()),
            location: (SOURCE_OF_MODEL, layer.line),
            ..poplar_context(0, "", &format!("model.{}", layer.name))
        });
        let popart_type =
            if layer.api == "matMul" { "ai.onnx.MatMul:9" } else { "ai.onnx.Conv:11" };
        let popart = self.context(Context {
            layer: "popart",
            kind: ("opid", popart_type.to_owned()),
            ..poplar_context(torch, "", &format!("model.{}", layer.name))
        });
        let call = self.context(Context {
            layer: "poplibs",
            kind: ("api", layer.api.to_owned()),
            location: (SOURCE_OF_POPLIBS, 2_700),
            options: vec![
                ("availableMemoryProportion", self.options.proportion.to_string()),
                ("partialsType", "float".to_owned()),
            ],
            ..poplar_context(popart, "", layer.name)
        });
        let reduce = self.context(Context {
            layer: "poplibs",
            kind: ("api", "reduceWithOutput".to_owned()),
            location: ("poplibs/lib/popops/Reduction.cpp", 273),
            ..poplar_context(call, "", "")
        });
        let sequence_context = self.context(poplar_context(call, "Sequence", ""));
        let execute = self.context(poplar_context(call, "Execute", ""));
        let reduce_execute = self.context(poplar_context(reduce, "Execute", ""));
        let sequence = self.step() as usize;
        self.add("Sequence", String::new(), sequence_context, Some(0));
        let conv = format!("{}/Conv_3x3", layer.name);
        let arrange = self.execute(format!("{conv}/PreArrange"), execute, sequence, 0);
        let number = self.model.compute_sets.len();
        let pre = format!("cs{number}_{conv}/Convolve/ExchangePre");
        self.add("DoExchange", pre, execute, Some(sequence));
        self.add("WriteUndef", String::new(), execute, Some(sequence));
        let convolve = self.execute(format!("{conv}/Convolve"), execute, sequence, 1);
        let exchange = format!("cs{number}_{conv}/Reduce/ExchangePre");
        self.add("DoExchange", exchange, reduce_execute, Some(sequence));
        let reduce = self.execute(format!("{conv}/Reduce"), reduce_execute, sequence, 2);
        self.spans.push(Span { arrange, convolve, reduce });
    }

    /// The variables of all tiles.
    fn variables(&mut self) {
        for tile in 0..self.options.tiles {
            let variables = self.variables_of(tile);
            self.model.tiles.push(variables);
        }
    }

    fn variables_of(&self, tile: u32) -> Vec<Wanted> {
        let mut variables = code_and_stack(tile);
        let uneven = u64::from(tile * 7 % 5) * 64;
        let batch = self.options.batch;
        // Without a proportion to hold them back, partials grow with the batch.
        let cap = (self.options.proportion * 100_000.0) as u64;
        let mut input_from = self.input_steps.0;
        let mut input = format!("{}/input", "model");
        let mut input_bytes = 3_136 * batch / 8 + uneven;
        for (layer, span) in LAYERS.iter().zip(&self.spans) {
            let weights = format!("model.{}.weight", layer.name);
            variables.push(user(&weights, layer.weights + uneven, Life::Always));
            variables.push(user(&input, input_bytes, Life::steps(input_from..span.convolve + 1)));
            variables.push(Wanted {
                shown_as: format!("<rearrangement:{input}>"),
                is_lowered_from: false,
                category: category("rearrangement"),
                ..user(
                    &format!("arrange-{}", layer.name),
                    input_bytes,
                    Life::steps(span.arrange..span.convolve + 1),
                )
            });
            variables.push(Wanted {
                shown_as: format!("<message:{input}>"),
                is_lowered_from: false,
                category: category("message"),
                ..user(
                    &format!("message-{}", layer.name),
                    input_bytes / 2,
                    Life::steps(span.arrange + 1..span.convolve + 1),
                )
            });
            let partials = (layer.partials * batch / 8).min(cap) + uneven;
            variables.push(Wanted {
                alignment: 16,
                is_interleaved: layer.api == "convolution",
                ..user(
                    &format!("{}/Conv_3x3/partials", layer.name),
                    partials,
                    Life::steps(span.convolve..span.reduce + 1),
                )
            });
            input = format!("{}/output", layer.name);
            input_bytes = layer.output * batch / 8 + uneven;
            input_from = span.reduce;
        }
        let (out_from, out_to) = self.output_steps;
        variables.push(user(&input, input_bytes, Life::steps(input_from..out_to)));
        if tile == 0 {
            variables.push(Wanted {
                shown_as: "hostMessage".to_owned(),
                is_lowered_from: false,
                category: category("hostMessage"),
                alignment: 32,
                ..user("_commandPacketPayload", 4_096, Life::steps(out_from..out_to))
            });
        }
        variables
    }
}

/// Code, packed low, and the stack.
fn code_and_stack(tile: u32) -> Vec<Wanted> {
    let code = |name: &str, bytes: u64, kind: &str| Wanted {
        shown_as: kind.to_owned(),
        is_lowered_from: false,
        is_code: true,
        category: category(kind),
        ..user(name, bytes, Life::Always)
    };
    let shown = |kind: &str, variable: Wanted| Wanted {
        shown_as: kind.to_owned(),
        is_lowered_from: false,
        category: category(kind),
        ..variable
    };
    let more = u64::from(tile % 3) * 32;
    vec![
        code(".text.poplar_start", 1_092, "controlCode"),
        code(".text.__runCodelet_popops__Rearrange", 540, "vertexCode"),
        code(".text.__runCodelet_poplin__ConvPartial1x1Out", 2_316, "vertexCode"),
        code(".text.__runCodelet_popops__Reduce", 868, "vertexCode"),
        code(".text.supervisor.internal_exchange_0", 1_240 + more, "internalExchangeCode"),
        code(".text.supervisor.host_exchange_0", 112, "hostExchangeCode"),
        Wanted { alignment: 8, ..shown("stack", user("__stack", 888, Life::Always)) },
        Wanted { is_constant: true, ..shown("constant", user("zero", 4, Life::Always)) },
        shown("vertexInstanceState", user("__vertexState", 384 + more, Life::Always)),
        shown("vertexFieldData", user("__vertexFields", 150, Life::Always)),
        Wanted { bytes: 0, ..shown("constant", user("unused", 0, Life::Always)) },
    ]
}

fn user(name: &str, bytes: u64, life: Life) -> Wanted {
    Wanted {
        name: name.to_owned(),
        bytes,
        alignment: 4,
        category: category("variable"),
        life,
        shown_as: name.to_owned(),
        is_lowered_from: true,
        is_code: false,
        is_interleaved: false,
        is_constant: false,
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
