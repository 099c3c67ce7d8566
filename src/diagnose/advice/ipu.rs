//! Advice about the memory of IPUs.

use std::borrow::Cow;

use super::{Finding, Sentence, free_at_least, led_by};
use crate::diagnose::finding::Kind;
use crate::text::{bytes, clean, shortened};

const CAPTURE: &str = "Capture a report that is complete although memory does not suffice: run with \
    `POPLAR_ENGINE_OPTIONS='{\"autoReport.all\":\"true\",\"autoReport.directory\":\"./profile\",\
    \"debug.allowOutOfMemory\":\"true\"}'`, then see `tilescope summary ./profile`.";

const PROPORTION: &str = "Lower availableMemoryProportion (0.6 unless set, not below 0.05) where \
    convolutions or matmuls own the peak: PopTorch `opts.setAvailableMemoryProportion({\"IPU0\": \
    0.3})`, TensorFlow `cfg.convolutions.poplar_options[\"availableMemoryProportion\"] = \"0.3\"` \
    and the same for `cfg.matmuls`, PopART `builder.setAvailableMemoryProportion(tensor, 0.3)`, \
    PopLibs option `availableMemoryProportion`.";

const BATCH: &str = "Compute fewer samples at once; in training accumulate gradients more often to keep the \
    total batch: PopTorch `opts.Training.gradientAccumulation(n)`, TensorFlow \
    `gradient_accumulation_steps_per_replica=n`, PopART `opts.accumulationFactor = n`.";

const RECOMPUTE: &str = "In training, compute activations again instead of keeping them: PopTorch \
    `poptorch.recomputationCheckpoint(x)`, TensorFlow `cfg.allow_recompute = True`, PopART \
    `opts.autoRecomputation = popart.RecomputationType.Standard`.";

const OFFLOAD: &str = "Where always-live memory is near the limit, keep the optimizer's state off the chip: \
    PopTorch `opts.TensorLocations.setOptimizerLocation(poptorch.TensorLocationSettings()\
    .useOnChipStorage(False))`, TensorFlow `offload_weight_update_variables=True`, PopART \
    `opts.optimizerStateTensorLocationSettings.location.storage = popart.TensorStorage.OffChip`.";

const SPLIT: &str = "Split the model over more IPUs: PopTorch `poptorch.BeginBlock(layer, ipu_id=1)`, \
    TensorFlow `ipu.keras.PipelineStage(1)`, PopART `builder.virtualGraph(1)`.";

const PARTIALS: &str = "Use half-precision partials if the numbers allow it: PopTorch \
    `opts.Precision.setPartialsType(torch.half)`, TensorFlow \
    `cfg.convolutions.poplar_options[\"partialsType\"] = \"half\"` and the same for \
    `cfg.matmuls`, PopART `opts.partialsTypeMatMuls = \"half\"`, PopLibs option `partialsType`.";

const SERIALISE: &str = "Make the operation smaller: split a large matmul into a sequence of \
    small ones (PopTorch `poptorch.serializedMatMul`, PopART `builder.setSerializeMatMul`), or \
    compute fewer samples at once.";

pub fn of(finding: &Finding) -> Vec<Sentence> {
    match finding.kind {
        Kind::TileOutOfMemory | Kind::TilesOutOfMemory => tile(finding),
        Kind::ExchangeTooLarge => exchange(finding),
        Kind::CodeTooLarge => code(),
        Kind::PlannerAtMinimum => at_minimum(),
        Kind::PlannerOverTarget => over_target(finding),
        Kind::PlannerNoPlan => no_plan(),
        _ => does_not_fit(finding),
    }
}

/// The next step: to look at the report that the message names, or to make one.
fn look(finding: &Finding) -> Sentence {
    let Some(profile) = &finding.profile else { return CAPTURE.into() };
    let path = shell_word(profile);
    let step = match finding.tile {
        Some(tile) => format!(
            "See what fills the tile with `tilescope map {path} --tile {tile}`, and how many others are over \
             with `tilescope summary {path}`."
        ),
        None => format!(
            "See which tiles are over with `tilescope summary {path}`, and what is alive at the peaks with \
             `tilescope liveness {path} --step peak --peaks 5`."
        ),
    };
    step.into()
}

/// A path or name as a shell takes it.
fn shell_word(path: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+=:@%,~".contains(c);
    let path = clean(path);
    if path.chars().all(is_plain) {
        return path;
    }
    Cow::Owned(format!("'{}'", path.replace('\'', r"'\''")))
}

fn tile(finding: &Finding) -> Vec<Sentence> {
    // Without a limit the excess is that of all tiles.
    let tile = finding.tile.filter(|_| finding.limit_bytes.is_some());
    let place = tile.map_or_else(String::new, |tile| format!(" on tile {tile}"));
    let free = free_at_least(finding).map(|amount| {
        format!(
            "{amount}{place}. If few tiles are that full, one operation or tensor is laid out unevenly: spread \
             it (Poplar `poputil::mapTensorLinearly`), or change its plan; if all are, the program is too large."
        )
    });
    let is_far_over =
        finding.excess_bytes.zip(finding.limit_bytes).is_some_and(|(excess, limit)| excess > limit);
    let last = if is_far_over { SPLIT } else { RECOMPUTE };
    let rest = led_by(look(finding), [PROPORTION, BATCH, last]);
    free.map(Sentence::from).into_iter().chain(rest).collect()
}

fn does_not_fit(finding: &Finding) -> Vec<Sentence> {
    led_by(look(finding), [PROPORTION, BATCH, RECOMPUTE, OFFLOAD])
}

/// Words in the names of exchanges of gathers and scatters.
const SLICES: [&str; 5] = ["slice", "update", "gather", "scatter", "embedding"];

fn exchange(finding: &Finding) -> Vec<Sentence> {
    let name = finding.exchange.as_deref().unwrap_or_default();
    let operation = match operation_of(name) {
        "" => Cow::Borrowed("that the exchange belongs to"),
        operation => shortened(operation, 200),
    };
    let split = format!(
        "Split the operation {operation} into several, so that one exchange moves less to a tile: what it \
         receives is more than a whole tile holds, and freeing other memory does not help."
    );
    let name = name.to_lowercase();
    let is_slice = SLICES.iter().any(|word| name.contains(word));
    let rows = "Look up or update fewer rows at once, or divide the table into several.";
    let keep = "Keep the operand from one tile: let PopLibs lay it out (`createSliceableTensor`, `createWeights` \
        and the like), or spread it with `poputil::mapTensorLinearly`.";
    led_by(split, is_slice.then_some(rows).into_iter().chain([keep, BATCH, CAPTURE]))
}

/// `scatterAdd/multiUpdateAdd` of `cs19_98/scatterAdd/multiUpdateAdd_ExchangePre`.
fn operation_of(exchange: &str) -> &str {
    let name = match exchange.split_once('/') {
        Some((set, name)) if set.starts_with("cs") => name,
        _ => exchange,
    };
    name.trim_end_matches("_ExchangePre").trim_end_matches("_ExchangePost")
}

fn code() -> Vec<Sentence> {
    let rest = [
        "Raise availableMemoryProportion again where it is very low: plans for little memory need more \
         exchange and control code, which is always live.",
        "Give operations that are otherwise equal the same availableMemoryProportion on an IPU, so that they \
         share code.",
        "Let equal parts share code: PopART `opts.enableOutlining = True` with a lower \
         `opts.outlineThreshold`, PopTorch the same with `opts._Popart.set(…)`, TensorFlow \
         `ipu.outlined_function`; write loops as loops instead of repeating their body.",
        SPLIT,
    ];
    led_by(CAPTURE, rest)
}

fn at_minimum() -> Vec<Sentence> {
    let keep = "Do not lower availableMemoryProportion further for this operation: its plan is already the one \
        with the least memory. The warning alone does not mean that the program does not fit.";
    let raise = "If there is room, raise the proportion of this operation: at the minimum its plan is slow, and \
        its operands may lie on few tiles.";
    led_by(keep, [SERIALISE, PARTIALS, raise, CAPTURE])
}

fn over_target(finding: &Finding) -> Vec<Sentence> {
    let limit = finding.limit_bytes.map_or_else(String::new, |limit| {
        format!(" The planner now tries with {} a tile.", bytes(limit))
    });
    let expect = format!(
        "Expect more temporary memory than availableMemoryProportion allows for this operation: no plan fits \
         it.{limit}"
    );
    let fewer = "Look up or update fewer rows at once, or compute fewer samples at once, if the program does not fit.";
    let set = "Set a proportion that has a plan, so that the peak is known beforehand.";
    led_by(expect, [fewer, set, CAPTURE])
}

fn no_plan() -> Vec<Sentence> {
    let expect = "Expect a slow or uneven gather or scatter: it runs without a plan. The warning alone does not \
        mean that the program does not fit.";
    let raise = "Raise availableMemoryProportion of the operation, or look up fewer rows at once.";
    led_by(expect, [raise, CAPTURE])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_exchanges() {
        assert_eq!(operation_of("cs3_7/dec/embed/gather_ExchangePre"), "dec/embed/gather");
        assert_eq!(operation_of("fwd/conv_ExchangePost"), "fwd/conv");
        assert_eq!(operation_of(""), "");
    }

    #[test]
    fn paths_are_words_of_a_shell() {
        assert_eq!(shell_word("./run/profile.pop"), "./run/profile.pop");
        assert_eq!(shell_word("my run/it's.pop"), r"'my run/it'\''s.pop'");
    }
}
