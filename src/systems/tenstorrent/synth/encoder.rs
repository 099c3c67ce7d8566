//! The network of synthetic reports: an encoder whose layers have attention and a feed-forward part.

use super::capture::{CalledOperation, DraftTensor, EndedEarly, NetworkCapture};
use super::chip::TensorPlace;
use super::{KeptTensor, TtnnReportOptions};
use crate::synth::WriteError;
use crate::synth::transformer::Transformer;

/// The file that calls the operations.
pub const SOURCE_FILE: &str = "/home/user/model/encoder.py";
/// Its text.
pub const SOURCE: &str = include_str!("encoder.py");

macro_rules! called {
    ($name:literal, $operations:expr, $line:literal) => {
        CalledOperation { name: $name, device_operations: &$operations, line: $line }
    };
}

const MATMUL: &str = "MatmulDeviceOperation";
const NORM: &str = "LayerNormDeviceOperation";
const BINARY: &str = "BinaryNgDeviceOperation";

/// Brings a batch to the chip.
pub const FROM_TORCH: CalledOperation = called!(
    "ttnn.from_torch",
    ["TilizeDeviceOperation"],
    "x = ttnn.from_torch(batch, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=place)"
);
const FIRST_NORM: CalledOperation = called!(
    "ttnn.layer_norm",
    [NORM],
    "h = ttnn.layer_norm(x, weight=w.norm1, memory_config=place)"
);
const QUERY_KEY_VALUE: CalledOperation =
    called!("ttnn.linear", [MATMUL], "qkv = ttnn.linear(h, w.qkv, memory_config=place)");
const HEADS: CalledOperation = called!(
    "ttnn.experimental.nlp_create_qkv_heads",
    ["NlpCreateQkvHeadsDeviceOperation"],
    "q, k, v = ttnn.experimental.nlp_create_qkv_heads(qkv, num_heads=heads, transpose_k_heads=True, memory_config=place)"
);
const SCORES: CalledOperation =
    called!("ttnn.matmul", [MATMUL], "scores = ttnn.matmul(q, k, memory_config=place)");
const SOFTMAX: CalledOperation = called!(
    "ttnn.softmax",
    ["SoftmaxDeviceOperation"],
    "weights = ttnn.softmax(scores, dim=-1, memory_config=place)"
);
const CONTEXT: CalledOperation =
    called!("ttnn.matmul", [MATMUL], "context = ttnn.matmul(weights, v, memory_config=place)");
const CONCATENATED: CalledOperation = called!(
    "ttnn.experimental.nlp_concat_heads",
    ["NLPConcatHeadsDeviceOperation"],
    "joined = ttnn.experimental.nlp_concat_heads(context, memory_config=place)"
);
const PROJECTED: CalledOperation =
    called!("ttnn.linear", [MATMUL], "a = ttnn.linear(joined, w.projection, memory_config=place)");
const FIRST_SUM: CalledOperation =
    called!("ttnn.add", [BINARY], "x = ttnn.add(x, a, memory_config=place)");
const SECOND_NORM: CalledOperation = called!(
    "ttnn.layer_norm",
    [NORM],
    "g = ttnn.layer_norm(x, weight=w.norm2, memory_config=place)"
);
const UP: CalledOperation = called!(
    "ttnn.linear",
    [MATMUL, "UnaryDeviceOperation"],
    "u = ttnn.linear(g, w.up, activation=\"gelu\", memory_config=place)"
);
const DOWN: CalledOperation =
    called!("ttnn.linear", [MATMUL], "d = ttnn.linear(u, w.down, memory_config=place)");
const SECOND_SUM: CalledOperation =
    called!("ttnn.add", [BINARY], "x = ttnn.add(x, d, memory_config=place)");

/// The weights of a layer, which lie in DRAM.
struct LayerWeights {
    norms: [DraftTensor; 2],
    query_key_value: DraftTensor,
    projection: DraftTensor,
    up: DraftTensor,
    down: DraftTensor,
}

impl LayerWeights {
    fn load(run: &mut NetworkCapture<'_>, width: u64) -> Option<Self> {
        let mut load = |rows, columns| run.load([1, 1, rows, columns], TensorPlace::Dram);
        Some(Self {
            norms: [load(1, width)?, load(1, width)?],
            query_key_value: load(width, 3 * width)?,
            projection: load(width, width)?,
            up: load(width, 4 * width)?,
            down: load(4 * width, width)?,
        })
    }
}

/// The encoder of a rank with its weights.
pub struct LoadedEncoder {
    network: Transformer,
    place: TensorPlace,
    is_leaking: bool,
    layers: Vec<LayerWeights>,
    first: DraftTensor,
}

impl LoadedEncoder {
    /// Loads the weights and the first batch.
    ///
    /// # Errors
    /// When they do not fit.
    pub fn load(
        run: &mut NetworkCapture<'_>,
        options: &TtnnReportOptions,
        layers: u64,
    ) -> Result<Self, WriteError> {
        let (network, place) = (options.network, options.activations);
        let too_large = |option, value, array, place: TensorPlace| {
            let most = place.banks().saturating_mul(place.bank_bytes());
            WriteError::TooLarge { option, value, array, most }
        };
        let weights = (0..layers).map(|_| LayerWeights::load(run, network.width));
        let layers: Option<Vec<LayerWeights>> = weights.collect();
        let of_weights = || too_large("--width", network.width, "the weights", TensorPlace::Dram);
        let layers = layers.ok_or_else(of_weights)?;
        let first = run.load([network.batch, 1, network.sequence, network.width], place);
        let first = first.ok_or_else(|| too_large("--batch", network.batch, "a batch", place))?;
        Ok(Self { network, place, is_leaking: options.is_leaking, layers, first })
    }

    /// Runs it so many times, on a batch each.
    pub fn run(&self, run: &mut NetworkCapture<'_>, passes: u64) -> Result<(), EndedEarly> {
        let mut x = self.layers(run, self.first.clone())?;
        for _ in 1..passes {
            run.drop_tensor(&x);
            let [batch] = run.call(&FROM_TORCH, &[], [self.first.shape], self.place)?;
            x = self.layers(run, batch)?;
        }
        Ok(())
    }

    fn layers(
        &self,
        run: &mut NetworkCapture<'_>,
        batch: DraftTensor,
    ) -> Result<DraftTensor, EndedEarly> {
        self.layers.iter().try_fold(batch, |x, weights| self.layer(run, &x, weights))
    }

    fn layer(
        &self,
        run: &mut NetworkCapture<'_>,
        x: &DraftTensor,
        weights: &LayerWeights,
    ) -> Result<DraftTensor, EndedEarly> {
        let (place, hidden) = (self.place, x.shape);
        let attended = self.attention(run, x, weights)?;
        let [sum] = run.call(&FIRST_SUM, &[x, &attended], [hidden], place)?;
        run.drop_tensor(x);
        run.deallocate(&attended, "ttnn.deallocate(a)")?;
        let [g] = run.call(&SECOND_NORM, &[&sum, &weights.norms[1]], [hidden], place)?;
        let wide = [hidden[0], hidden[1], hidden[2], 4 * hidden[3]];
        let [u] = run.call(&UP, &[&g, &weights.up], [wide], place)?;
        run.deallocate(&g, "ttnn.deallocate(g)")?;
        let [d] = run.call(&DOWN, &[&u, &weights.down], [hidden], place)?;
        run.deallocate(&u, "ttnn.deallocate(u)")?;
        let [result] = run.call(&SECOND_SUM, &[&sum, &d], [hidden], place)?;
        run.drop_tensor(&sum);
        run.deallocate(&d, "ttnn.deallocate(d)")?;
        Ok(result)
    }

    fn attention(
        &self,
        run: &mut NetworkCapture<'_>,
        x: &DraftTensor,
        weights: &LayerWeights,
    ) -> Result<DraftTensor, EndedEarly> {
        let (place, hidden) = (self.place, x.shape);
        let Transformer { batch, heads, sequence, width, .. } = self.network;
        let of_head = width.div_ceil(heads);
        let [normed] = run.call(&FIRST_NORM, &[x, &weights.norms[0]], [hidden], place)?;
        let triple = [batch, 1, sequence, 3 * width];
        let [qkv] =
            run.call(&QUERY_KEY_VALUE, &[&normed, &weights.query_key_value], [triple], place)?;
        if self.is_leaking {
            let (address, bytes) = (normed.address, normed.bytes_per_bank());
            let last_read_by = run.written.operations;
            run.written.kept.push(KeptTensor { address, bytes, last_read_by });
        } else {
            run.deallocate(&normed, "ttnn.deallocate(h)")?;
        }
        let (queries, keys) =
            ([batch, heads, sequence, of_head], [batch, heads, of_head, sequence]);
        let [query, key, value] = run.call(&HEADS, &[&qkv], [queries, keys, queries], place)?;
        run.deallocate(&qkv, "ttnn.deallocate(qkv)")?;
        let square = [batch, heads, sequence, sequence];
        let [scores] = run.call(&SCORES, &[&query, &key], [square], place)?;
        run.deallocate(&query, "ttnn.deallocate(q)")?;
        run.deallocate(&key, "ttnn.deallocate(k)")?;
        let [shares] = run.call(&SOFTMAX, &[&scores], [square], place)?;
        run.deallocate(&scores, "ttnn.deallocate(scores)")?;
        let [context] = run.call(&CONTEXT, &[&shares, &value], [queries], place)?;
        run.deallocate(&shares, "ttnn.deallocate(weights)")?;
        run.deallocate(&value, "ttnn.deallocate(v)")?;
        let [joined] = run.call(&CONCATENATED, &[&context], [hidden], place)?;
        run.deallocate(&context, "ttnn.deallocate(context)")?;
        let [projected] = run.call(&PROJECTED, &[&joined, &weights.projection], [hidden], place)?;
        run.deallocate(&joined, "ttnn.deallocate(joined)")?;
        Ok(projected)
    }
}
