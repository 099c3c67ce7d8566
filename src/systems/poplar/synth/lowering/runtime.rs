//! The runtime that every IPU has, and the transfer of data into and out of it.

use super::{Lowering, poplar_context};
use crate::systems::poplar::synth::model::{Detail, Exchange, LifeSpan, Spread};
use crate::systems::poplar::synth::network::NetworkLayer;

/// Cycles of host traffic, syncs and start in every run, whatever the batch.
const CYCLES_OF_A_RUN: u64 = 1_500_000;

/// Codelets of libraries, and the bytes of their code.
const CODELETS: [(&str, u64); 8] = [
    ("popops__Rearrange___half", 4_212),
    ("poplin__ConvPartial1x1Out___half_float_true_false_16_4", 12_624),
    ("poplin__ConvPartialnx1___half_float_true_false_16_4", 9_880),
    ("popops__ReducePartialsEqualSize___popops__ReduceAdd_float_half", 3_716),
    ("popops__Cast___float_half", 1_244),
    ("popops__DynamicSlice1d___half", 2_096),
    ("popops__BinaryOp1DInPlace___popops__ADD_half", 2_480),
    ("popops__Transpose2d___half", 1_368),
];

/// What measures the execution on a tile, as a real report has it (formats/poplar.md 4): its name, category and bytes.
const INSTRUMENTATION_CODE: [(&str, &str, u64); 2] = [
    (".text.supervisor.instrumentation_cycleCount", "controlCode", 160),
    (".text.__runCodelet_poplar_rt__InstrumentationDumpStep", "vertexCode", 128),
];
const INSTRUMENTATION_RESULTS: [(&str, u64); 3] =
    [("profileInfo0", 20), ("_instrumentCounterL", 4), ("_instrumentCounterU", 4)];

const HOST_SYNC: &str = ".text.supervisor.host_exchange_hostExchangeEntryMasterSync";

impl Lowering<'_> {
    /// What every IPU has whatever it computes: boot code, library code, stacks.
    pub(super) fn runtime(&mut self) {
        let exact = |spread: &mut Spread| spread.unevenness = 0;
        let library = CODELETS
            .map(|(name, bytes)| (format!(".text.__runCodelet_{name}"), "vertexCode", bytes));
        let mut code = vec![(".text.poplar_start".to_owned(), "controlCode", 1_364)];
        code.extend(library);
        code.push((".text.memcpy".to_owned(), "vertexCode", 628));
        code.push((HOST_SYNC.to_owned(), "hostExchangeCode", 412));
        let is_instrumented = self.options.instrumented;
        if is_instrumented {
            code.extend(
                INSTRUMENTATION_CODE.map(|(name, kind, bytes)| (name.to_owned(), kind, bytes)),
            );
        }
        for (name, kind, bytes) in code {
            let at = self.code(&name, kind, bytes);
            if let Some(symbol) = self.model.symbols.get_mut(at) {
                exact(&mut symbol.spread);
            }
        }
        let results =
            INSTRUMENTATION_RESULTS.map(|(name, bytes)| (name, "instrumentationResults", bytes, 4));
        let data = [
            ("__stack", "stack", 1_064, 8),
            ("multiple_headers_0", "hostExchangePacketHeader", 96, 32),
            ("zero", "constant", 4, 4),
            ("unused", "constant", 0, 4),
        ];
        for (name, kind, bytes, alignment) in
            data.into_iter().chain(results.into_iter().filter(|_| is_instrumented))
        {
            let at = self.data(name, kind, bytes, LifeSpan::Always);
            let is_constant = kind == "constant";
            let shown = if is_constant { "<const>" } else { kind };
            if let Some(symbol) = self.show_as(at, shown.to_owned()) {
                exact(&mut symbol.spread);
                symbol.alignment = alignment;
                symbol.is_constant = is_constant;
            }
        }
    }

    /// Data from or to the host. Returns the step that moves it.
    pub(super) fn stream(&mut self, name: &str, from_host: bool, tensor: usize) -> u32 {
        let root = self.root_context;
        let context = self.context(poplar_context(root, "StreamCopy", name));
        let code =
            self.code(&format!(".text.supervisor.host_exchange_{name}"), "hostExchangeCode", 548);
        let tiles = self.first_tile()..self.first_tile() + self.options.tiles_per_ipu;
        self.add_to_root("Sans", context, Detail::Tiles(tiles.clone()), 12);
        let begin = self.add_to_root("StreamCopyBegin", context, Detail::None, CYCLES_OF_A_RUN / 4);
        let message = self.data(
            &format!("hostMessage-{name}"),
            "hostMessage",
            1_024,
            LifeSpan::Steps(begin, begin + 3),
        );
        if let Some(symbol) = self.show_as(message, "hostMessage".to_owned()) {
            symbol.alignment = 32;
        }
        let exchange = Exchange { received: message, copies: 1, code, code_parts: 1 };
        let detail = Detail::HostExchange(exchange, name.to_owned(), from_host);
        let bytes = self.data.get(tensor).map_or(0, |symbol| symbol.spread.bytes);
        let mid = self.add_to_root("StreamCopyMid", context, detail, 900 + bytes / 2);
        self.add_to_root("StreamCopyEnd", context, Detail::None, CYCLES_OF_A_RUN / 8);
        self.add_to_root("SyncAns", context, Detail::Tiles(tiles), 60);
        mid
    }

    /// Moves the activation to the next IPU of the pipeline.
    pub(super) fn next_ipu(&mut self, ipu: u32, layer: &NetworkLayer) {
        let root = self.root_context;
        let context = self.context(poplar_context(root, "Copy", &format!("pipeline/{ipu}")));
        let leaves = self.activation;
        self.ipu = ipu;
        self.runtime();
        let code = self.code(&format!(".text.global_exchange_{ipu}"), "globalExchangeCode", 640);
        let sync = self.add_to_root("Sync", context, Detail::Sync, 600);
        let bytes = self.bytes_per_tile(layer.input);
        let arrives = self.data(
            &format!("pipeline/{ipu}/activation"),
            "variable",
            bytes,
            LifeSpan::Steps(sync, sync + 2),
        );
        let message = self.data(
            &format!("globalMessage-{ipu}"),
            "globalMessage",
            bytes / 8 + 64,
            LifeSpan::Steps(sync, sync + 2),
        );
        let shown = self.name_of(leaves);
        self.show_as(message, format!("<message:{shown}>"));
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
}
