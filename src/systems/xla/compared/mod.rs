//! Modules in a comparison by peaks: what each takes of a memory space, and what is in use there at the peak of each
//! (formats/xla.md 10).
//!
//! The peak of a side is where most of its temporary allocations is in use, because another order, checkpointing or
//! another batch changes that; memory reserved for as long as the module runs is a part of it, by kind. Positions of
//! two compilations have nothing in common, and none is matched.

mod alive;
mod conclusions;
mod listed;
mod parameters;
pub(crate) mod path;

use serde_json::{Map, Value, json};

use self::parameters::{OtherParameters, Parameters};
use self::path::without_numbers;
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::analysis::comparison::options::OptionText;
use crate::analysis::program::report_options::OptionKind;
use crate::run::compared::names::SharedNames;
use crate::run::compared::{Compared, ComparedWords, Own, PeakOfSide, PeakTab, RunSide};
use crate::run::{Conclusion, Need, Room};
use crate::store::hlo::{InstructionId, ListedModule, Platform, plain_module_name};
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::insights::advice::scan::recomputed_at_once;
use crate::systems::xla::buffer_assignment::insights::need_of_space;
use crate::systems::xla::buffer_assignment::insights::paths::is_recomputed;
use crate::systems::xla::buffer_assignment::peaks::NO_OPERATION;
use crate::systems::xla::buffer_assignment::program::AnalysedModule;
use crate::systems::xla::buffer_assignment::space::SpaceFigures;
use crate::text::{exact_bytes, grouped, shortened};

pub use crate::systems::xla::buffer_assignment::space::ModuleFigure;

/// How modules are compared.
pub static WORDS: ComparedWords = ComparedWords {
    matching: alive::MATCHING,
    no_setting: "No flag of XLA differs",
    are_owners_operations: true,
    owner: "Operation",
    nobody: NO_OPERATION,
    detail: "Shape",
    counted: "values",
    each: None,
    by_owner: "By operation",
    by_row: "By operation, shape and category",
    tabs: [
        (PeakTab::Owners, "At the peaks by operation"),
        (PeakTab::Rows, "By operation, shape and category"),
    ],
    at_peaks: "At the peaks",
    peaks: "Peaks",
    adds_up: "bytes in use at the peak of each module; they add up to both peaks",
    no_peaks: "One of the modules does not say when values live, or has no temporary values",
    steps: "positions",
    is_capacity_of_machine: false,
    device: ["Memory space", "Main memory"],
};

/// Where a peak is, in words that two compilations can share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeakPlace {
    pub position: u32,
    /// What the instruction there does.
    pub opcode: String,
    /// Its name.
    pub instruction: String,
    /// The path of its operation, or of the nearest producer's; without numbers of the compiler.
    pub operation: Option<String>,
}

/// One side of the comparison.
#[derive(Clone, Debug)]
pub struct ComparedModule {
    /// The name of its module; empty of a bare assignment.
    pub module: String,
    /// What it takes.
    pub figures: SpaceFigures,
    /// What it was compiled for.
    pub platform: Option<Platform>,
    /// Where the peak is of what is temporary; `None` where nothing is known of when values live, or nothing is
    /// temporary.
    pub peak: Option<PeakPlace>,
    /// Instructions of what is computed again in the backward pass; `None` where instructions are not known.
    pub recomputed: Option<u64>,
    /// The layers of which values that are computed again are alive at the peak, with their bytes, the largest first.
    pub recomputed_at_peak: Vec<(String, u64)>,
    /// Whether its file ends before its contents do.
    pub is_cut: bool,
}

impl ComparedModule {
    /// What a program takes of a memory space; `None` where it does not have it.
    pub fn of(program: &AnalysedModule, color: i64) -> Option<Self> {
        let analysed = &program.analysed;
        // A program without any allocation takes nothing of the main memory.
        if color != 0 && !analysed.colors().any(|one| one == color) {
            return None;
        }
        let module = &analysed.module;
        let figures = SpaceFigures::of(analysed, color);
        let lives = figures.lives.filter(|lives| lives.temporary_peak_bytes > 0);
        Some(Self {
            module: module.name.clone(),
            figures,
            platform: program.platform,
            peak: lives.map(|lives| place_of(analysed, lives.position)),
            recomputed_at_peak: lives
                .map(|lives| recomputed_at_once(analysed, color, lives.position))
                .unwrap_or_default(),
            recomputed: module.entry.is_some().then(|| recomputed(analysed)),
            is_cut: program.is_cut,
        })
    }

    /// Whether both are of one module, as far as their names say.
    pub fn is_of_module_of(&self, other: &Self) -> bool {
        let [one, other] = [self, other].map(|side| plain_module_name(&side.module));
        one == other || one.is_empty() || other.is_empty()
    }

    /// Whether its figures are of a whole program.
    pub fn is_whole(&self) -> bool {
        !self.is_cut
    }
}

/// One of two modules, with what only their comparison needs.
#[derive(Debug)]
struct ModuleSide {
    of: ComparedModule,
    /// The modules of its dump, itself first.
    modules: Vec<ListedModule>,
    /// The memory space within a sentence.
    space: String,
    parameters: Parameters,
}

/// What a module brings into a comparison of a memory space; `None` where it does not have it.
pub fn side(program: &AnalysedModule, color: i64, names: &mut SharedNames) -> Option<RunSide> {
    let own = ComparedModule::of(program, color)?;
    let lives = own.figures.lives;
    let throughout = own.figures.throughout_bytes();
    let temporary = lives.map(|lives| lives.temporary_peak_bytes);
    let bytes = temporary.map(|bytes| bytes.saturating_add(throughout));
    let step = own.peak.as_ref().map(|peak| peak.position.into());
    let space = program.color_title(color);
    let peak_text = match (bytes, &own.peak) {
        (None, _) => "not known".to_owned(),
        (Some(bytes), None) => format!("{} throughout", exact_bytes(bytes)),
        (Some(bytes), Some(peak)) => {
            format!("{} at position {}", exact_bytes(bytes), grouped(peak.position.into()))
        }
    };
    let figure = |figure: ModuleFigure| {
        let unit = if figure.is_bytes() { Unit::Bytes } else { Unit::Count };
        Figure::of_run(figure.key(), figure.title(), unit, figure.of(&own.figures), false)
    };
    Some(RunSide {
        device: Some(color),
        title: match &*own.module {
            "" => space,
            module => format!("{module}, {space}"),
        },
        peak: bytes.zip(temporary).map(|(bytes, not_always_live_bytes)| PeakOfSide {
            bytes,
            not_always_live_bytes,
            step,
        }),
        peak_text,
        always_live_bytes: Some(throughout),
        figures: ModuleFigure::ALL.into_iter().map(figure).collect(),
        settings: OptionText::of_kind(OptionKind::Flag, &flags(program)),
        need: need_of_space(program, color, own.figures.total_bytes),
        alive: lives.map(|lives| alive::alive(&program.analysed, color, lives.position, names)),
        own: Own::new(ModuleSide {
            of: own,
            modules: program.modules.clone(),
            space: program.color_words(color),
            parameters: Parameters::of(&program.analysed.module),
        }),
    })
}

/// The flags that a module was compiled with. Where and what is dumped changes nothing of it.
fn flags(program: &AnalysedModule) -> Vec<(String, String)> {
    let all = program.beside.flags.iter();
    all.filter(|(name, _)| !name.starts_with("xla_dump_")).cloned().collect()
}

/// What follows from a comparison of two modules; `size` writes bytes.
pub fn change_conclusions(compared: &Compared, size: &dyn Fn(u64) -> String) -> Vec<Conclusion> {
    let Some(sides) = compared.own() else { return Vec::new() };
    conclusions::conclusions(compared, sides, size)
}

/// That the target is another module than the source.
pub fn change_warnings(compared: &Compared) -> Vec<String> {
    let Some([source, target]) = compared.own::<ModuleSide>() else { return Vec::new() };
    let (source, target) = (&source.of, &target.of);
    if target.is_of_module_of(source) {
        return Vec::new();
    }
    let [name, of_first] = [target, source].map(|side| shortened(&side.module, 60));
    vec![format!(
        "it is {name} and the first is {of_first}: these are different modules, so nothing is \
        called better or worse"
    )]
}

/// What only modules say of a comparison, for programs.
pub fn change_json(compared: &Compared, room: Room) -> Map<String, Value> {
    let Some([source, target]) = compared.own::<ModuleSide>() else { return Map::new() };
    let both = |value: &dyn Fn(&ComparedModule) -> Value| json!({ "source": value(&source.of), "target": value(&target.of) });
    let [first, second] = &compared.sides;
    let of_need = |value: &dyn Fn(&Need) -> Value| json!({ "source": value(&first.need), "target": value(&second.need) });
    let listed = |value: &dyn Fn(&ListedModule) -> Value| {
        let first = |side: &ModuleSide| side.modules.first().map_or(Value::Null, value);
        json!({ "source": first(source), "target": first(target) })
    };
    let facts = [
        ("module", listed(&|one| json!(one.module))),
        ("file", listed(&|one| json!(one.file))),
        ("platform", both(&|side| json!(side.platform.map(Platform::as_str)))),
        ("color", source.of.figures.color.into()),
        ("cut", both(&|side| side.is_cut.into())),
        ("stated_capacity_bytes", of_need(&|need| json!(need.stated.capacity_bytes))),
        ("capacity_bytes", json!(room.capacity_bytes)),
        ("other_bytes", json!(room.other_bytes)),
        ("over_bytes", of_need(&|need| json!(need.judge(room).over_bytes))),
        ("peak", both(&peak_json)),
        ("recomputed_instructions", both(&|side| json!(side.recomputed))),
        ("parameters", parameters_json([&source.parameters, &target.parameters])),
        ("modules", listed::json([&*source.modules, &*target.modules])),
    ];
    facts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn peak_json(side: &ComparedModule) -> Value {
    let peak = side.peak.as_ref();
    json!({
        "bytes": side.figures.lives.map(|lives| lives.temporary_peak_bytes),
        "position": peak.map(|peak| peak.position),
        "opcode": peak.map(|peak| peak.opcode.as_str()),
        "instruction": peak.map(|peak| peak.instruction.as_str()),
        "operation": peak.and_then(|peak| peak.operation.as_deref()),
    })
}

fn parameters_json(both: [&Parameters; 2]) -> Value {
    let parameters = OtherParameters::between(both);
    let [source, target] = parameters.counts;
    let changed = parameters.changed.iter().map(|changed| {
        let [source, target] = &changed.shapes;
        json!({
            "count": changed.count,
            "number": changed.number,
            "name": changed.name,
            "shape": { "source": source, "target": target },
            "dimension": changed.dimension.map(|[source, target]| json!({ "source": source, "target": target })),
        })
    });
    json!({
        "count": { "source": source, "target": target },
        "changed": changed.collect::<Value>(),
    })
}

fn place_of(analysed: &Analysed, position: u32) -> PeakPlace {
    let module = &analysed.module;
    let instruction = analysed.schedule.instructions.get(position as usize).copied();
    let instruction = instruction.unwrap_or(InstructionId::NONE);
    let operation = module.nearest_operation(instruction).map(|name| module.texts.get(name));
    PeakPlace {
        position,
        opcode: module.opcode(instruction).to_owned(),
        instruction: module.instruction_name(instruction).to_owned(),
        operation: operation.map(|path| without_numbers(path).into_owned()),
    }
}

/// How many instructions that run are of what `jax.checkpoint` computes again.
fn recomputed(analysed: &Analysed) -> u64 {
    let is_again = |id: &&InstructionId| analysed.module.op_name(**id).is_some_and(is_recomputed);
    analysed.schedule.instructions.iter().filter(is_again).count() as u64
}
