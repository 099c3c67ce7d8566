//! Advice about the memory of IPUs.

use std::borrow::Cow;

use super::{Finding, free_at_least};
use crate::analysis::diagnose::finding::Kind;
use crate::text::clean;

const CAPTURE: &str = "Capture a report that is complete although memory does not suffice: run with \
    POPLAR_ENGINE_OPTIONS='{\"autoReport.all\":\"true\",\"autoReport.directory\":\"./profile\",\
    \"debug.allowOutOfMemory\":\"true\"}', then see `tilescope summary ./profile`.";

const PROPORTION: &str = "Lower availableMemoryProportion (0.6 unless set, not below 0.05) where \
    convolutions or matmuls own the peak: PopTorch `opts.setAvailableMemoryProportion({\"IPU0\": 0.3})`, \
    TensorFlow `cfg.convolutions.poplar_options[\"availableMemoryProportion\"] = \"0.3\"` and the same of \
    `cfg.matmuls`, PopART `builder.setAvailableMemoryProportion(tensor, 0.3)`, PopLibs option \
    `availableMemoryProportion`.";

const BATCH: &str = "Compute fewer samples at once; in training accumulate gradients more often to keep the \
    total batch: PopTorch `opts.Training.gradientAccumulation(n)`, TensorFlow \
    `gradient_accumulation_steps_per_replica=n`, PopART `opts.accumulationFactor = n`.";

const RECOMPUTE: &str = "In training, compute activations again instead of keeping them: PopTorch \
    `poptorch.recomputationCheckpoint(x)`, TensorFlow `cfg.allow_recompute = True`, PopART \
    `opts.autoRecomputation = popart.RecomputationType.Standard`.";

const OFFLOAD: &str = "Where always-live memory is near the limit, keep the optimiser's state off the chip: \
    PopTorch `opts.TensorLocations.setOptimizerLocation(poptorch.TensorLocationSettings()\
    .useOnChipStorage(False))`, TensorFlow `offload_weight_update_variables=True`, PopART \
    `opts.optimizerStateTensorLocationSettings.location.storage = popart.TensorStorage.OffChip`.";

const SPLIT: &str = "Split the model over more IPUs: PopTorch `poptorch.BeginBlock(layer, ipu_id=1)`, \
    TensorFlow `ipu.keras.PipelineStage(1)`, PopART `builder.virtualGraph(1)`.";

const PARTIALS: &str = "Use half-precision partials if the numbers allow it: PopTorch \
    `opts.Precision.setPartialsType(torch.half)`, TensorFlow \
    `cfg.convolutions.poplar_options[\"partialsType\"] = \"half\"` and the same of `cfg.matmuls`, PopART \
    `opts.partialsTypeMatMuls = \"half\"`, PopLibs option `partialsType`.";

const SERIALISE: &str = "Make the operation smaller: split a large matmul into a row of small ones (PopTorch \
    `poptorch.serializedMatMul`, PopART `builder.setSerializeMatMul`), or compute fewer samples at once.";

/// The advice.
pub fn of(finding: &Finding) -> Vec<String> {
    match finding.kind {
        Kind::TileOutOfMemory | Kind::TilesOutOfMemory => tile(finding),
        Kind::ExchangeTooLarge => exchange(finding),
        Kind::CodeTooLarge => code(finding),
        Kind::PlannerAtMinimum => at_minimum(finding),
        Kind::PlannerOverTarget => over_target(finding),
        Kind::PlannerNoPlan => no_plan(finding),
        _ => does_not_fit(finding),
    }
}

/// The next step: to look at the report that the message names, or to make one.
fn look(finding: &Finding) -> String {
    let Some(profile) = &finding.profile else { return CAPTURE.to_owned() };
    let path = shell_word(profile);
    match finding.tile {
        Some(tile) => format!(
            "See what fills the tile with `tilescope map {path} --tile {tile}`, and how many others are over \
             with `tilescope summary {path}`."
        ),
        None => format!(
            "See which tiles are over with `tilescope summary {path}`, and what is alive at the peaks with \
             `tilescope liveness {path} --step peak --peaks 5`."
        ),
    }
}

/// A path as a shell takes it.
fn shell_word(path: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+=:@%,~".contains(c);
    let path = clean(path);
    if path.chars().all(is_plain) {
        return path;
    }
    Cow::Owned(format!("'{}'", path.replace('\'', r"'\''")))
}

fn list<const N: usize>(advice: [&str; N]) -> impl Iterator<Item = String> {
    advice.into_iter().map(str::to_owned)
}

fn tile(finding: &Finding) -> Vec<String> {
    let mut advice = Vec::new();
    // Without a limit the excess is that of all tiles.
    let tile = finding.tile.filter(|_| finding.limit_bytes.is_some());
    let place = tile.map_or_else(String::new, |tile| format!(" on tile {tile}"));
    if let Some(amount) = free_at_least(finding) {
        advice.push(format!(
            "{amount}{place}. If few tiles are that full, one operation or tensor is laid out unevenly: spread \
             it (Poplar `poputil::mapTensorLinearly`), or change its plan; if all are, the program is too large."
        ));
    }
    advice.push(look(finding));
    advice.extend(list([PROPORTION, BATCH]));
    let is_far_over = finding.excess_bytes.zip(finding.limit_bytes).is_some_and(|(e, l)| e > l);
    advice.extend(list([if is_far_over { SPLIT } else { RECOMPUTE }]));
    advice
}

fn does_not_fit(finding: &Finding) -> Vec<String> {
    std::iter::once(look(finding)).chain(list([PROPORTION, BATCH, RECOMPUTE, OFFLOAD])).collect()
}

/// Words in the names of exchanges of gathers and scatters.
const SLICES: [&str; 5] = ["slice", "update", "gather", "scatter", "embedding"];

fn exchange(finding: &Finding) -> Vec<String> {
    let name = finding.exchange.as_deref().unwrap_or_default();
    let operation = operation_of(name);
    let lower = name.to_lowercase();
    let mut advice = Vec::new();
    if operation.is_empty() {
        advice.push(
            "Find the operation that the exchange belongs to and split it, so that one exchange \
            moves less to the tile."
                .to_owned(),
        );
    } else {
        advice.push(format!(
            "Split the operation {operation} into several, so that one exchange moves less to a tile: what it \
             receives is more than a whole tile holds, and freeing other memory does not help."
        ));
    }
    if SLICES.iter().any(|word| lower.contains(word)) {
        advice.push(
            "Look up or update fewer rows at once, or divide the table into several.".to_owned(),
        );
    }
    advice.push(
        "Keep the operand from one tile: let PopLibs lay it out (`createSliceableTensor`, \
        `createWeights` and the like), or spread it with `poputil::mapTensorLinearly`."
            .to_owned(),
    );
    match &finding.profile {
        None => advice.push(CAPTURE.to_owned()),
        Some(profile) => advice.push(format!(
            "Find its program step with `tilescope liveness {} --filter {}`.",
            shell_word(profile),
            shell_word(operation)
        )),
    }
    advice.extend(list([BATCH]));
    advice
}

/// `scatterAdd/multiUpdateAdd` of `cs19_98/scatterAdd/multiUpdateAdd_ExchangePre`.
fn operation_of(exchange: &str) -> &str {
    let name = match exchange.split_once('/') {
        Some((set, name)) if set.starts_with("cs") => name,
        _ => exchange,
    };
    name.trim_end_matches("_ExchangePre").trim_end_matches("_ExchangePost")
}

fn code(finding: &Finding) -> Vec<String> {
    let compare = match &finding.profile {
        None => CAPTURE.to_owned(),
        Some(_) => look(finding),
    };
    let rest = list([
        "Raise availableMemoryProportion again where it is very low: plans for little memory need more \
         exchange and control code, which is always live.",
        "Give operations that are otherwise equal the same availableMemoryProportion on an IPU, so that they \
         share code.",
        "Let equal parts share code: PopART `opts.enableOutlining = True` with a lower \
         `opts.outlineThreshold`, PopTorch the same with `opts._Popart.set(…)`, TensorFlow \
         `ipu.outlined_function`; write loops as loops instead of repeating their body.",
    ]);
    let mut advice: Vec<_> = rest.collect();
    advice.insert(0, compare);
    advice.push(SPLIT.to_owned());
    advice
}

fn at_minimum(finding: &Finding) -> Vec<String> {
    let mut advice: Vec<_> = list([
        "Do not lower availableMemoryProportion further for this operation: its plan is already the one with \
         the least memory. The warning alone does not mean that the program does not fit.",
        SERIALISE,
        PARTIALS,
        "If there is room, raise the proportion of this operation: at the minimum its plan is slow, and its \
         operands may lie on few tiles.",
    ])
    .collect();
    advice.push(look(finding));
    advice
}

fn over_target(finding: &Finding) -> Vec<String> {
    let limit = finding.limit_bytes.map_or_else(String::new, |limit| {
        format!(" The planner now tries with {} a tile.", crate::text::bytes(limit))
    });
    let mut advice = vec![format!(
        "Expect more temporary memory than availableMemoryProportion allows for this operation: no plan fits \
         it.{limit}"
    )];
    advice.extend(list([
        "Look up or update fewer rows at once, or compute fewer samples at once, if the program does not fit.",
        "Set a proportion that has a plan, so that the peak is known beforehand.",
    ]));
    advice.push(look(finding));
    advice
}

fn no_plan(finding: &Finding) -> Vec<String> {
    let mut advice: Vec<_> = list([
        "Expect a slow or uneven gather or scatter: it runs without a plan. The warning alone does not mean \
         that the program does not fit.",
        "Raise availableMemoryProportion of the operation, or look up fewer rows at once.",
    ])
    .collect();
    advice.push(look(finding));
    advice
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
