//! A module with what follows from it, and what lies beside it.

use super::analysed::Analysed;
use super::trace_lives::names_of_traces;
use crate::limits;
use crate::store::hlo::{BesideModule, HloModule, ListedModule, Platform, ValueId, XlaClaims};
use crate::store::names::NameId;

/// That XLA found no room for a program, as an error text about it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedModule {
    pub file: String,
    /// Bytes too many, where it says how many.
    pub excess_bytes: Option<u64>,
}

/// A module with what lies beside it.
#[derive(Debug)]
pub struct AnalysedModule {
    /// What follows from it.
    pub analysed: Analysed,
    /// Whether its file ends before its contents do: then it takes what is known at least.
    pub is_cut: bool,
    /// Why it does not fit, where XLA has said that.
    pub refusal: Option<RefusedModule>,
    /// What it was compiled for.
    pub platform: Option<Platform>,
    /// What lies beside it.
    pub beside: BesideModule,
    /// What XLA states of it.
    pub claims: XlaClaims,
    /// The modules of the dump, this one first.
    pub modules: Vec<ListedModule>,
    /// The names of values by traces of XLA's simulation, by the value's row; empty where instructions are known.
    traced_names: Vec<NameId>,
    /// Bytes to which names of values are cut, where together they would be too many.
    most_name: usize,
}

impl AnalysedModule {
    /// Works out what follows from a module, beside which nothing is known yet.
    pub fn of(module: HloModule) -> Self {
        let traced_names = names_of_traces(&module);
        Self {
            most_name: most_name(&module, &traced_names),
            traced_names,
            analysed: Analysed::of(module),
            is_cut: false,
            refusal: None,
            platform: None,
            beside: BesideModule::default(),
            claims: XlaClaims::default(),
            modules: Vec::new(),
        }
    }

    /// The name of a value: of one whose instruction is not known what a trace calls it, else its id.
    pub fn value_name(&self, value: ValueId) -> String {
        let module = &self.analysed.module;
        let name = module.value_name(value);
        if !name.is_empty() {
            return limits::cut(&name, self.most_name).into_owned();
        }
        let traced = self.traced_names.get(value.0 as usize).copied();
        let traced = traced.filter(|name| *name != NameId::NONE).map(|name| module.texts.get(name));
        match (traced.filter(|name| !name.is_empty()), module.value(value)) {
            (Some(name), _) => limits::cut(name, self.most_name).into_owned(),
            (None, Some(value)) => format!("value {}", value.id),
            (None, None) => String::new(),
        }
    }

    /// What the file is.
    pub fn format(&self) -> &'static str {
        let module = &self.analysed.module;
        match () {
            () if module.entry.is_some() => "HLO module with its buffer assignment",
            () if module.stated.is_some() => "text of a buffer assignment",
            () => "buffer assignment",
        }
    }

    /// What a memory space is called: XLA's own words on a TPU.
    pub fn color_title(&self, color: i64) -> String {
        match (self.platform, color) {
            (Some(Platform::Tpu), 0) => "HBM".to_owned(),
            (Some(Platform::Tpu), 1) => "VMEM".to_owned(),
            (Some(Platform::Tpu), 2) => "SMEM".to_owned(),
            (_, 0) => "Memory".to_owned(),
            _ => format!("Color {color}"),
        }
    }

    /// The same within a sentence.
    pub fn color_words(&self, color: i64) -> String {
        match (self.platform, color) {
            (Some(Platform::Tpu), 0..=2) => self.color_title(color),
            _ => self.color_title(color).to_lowercase(),
        }
    }
}

/// Bytes to which names of values are cut: a value of some bytes may be of an instruction with a long name.
fn most_name(module: &HloModule, traced: &[NameId]) -> usize {
    let of_instructions =
        module.values.iter().map(|value| module.instruction_name(value.instruction));
    let traced = traced.iter().filter(|name| **name != NameId::NONE);
    let names = of_instructions.chain(traced.map(|name| module.texts.get(*name)));
    let bytes = names.map(str::len).fold(0, usize::saturating_add);
    limits::name_bytes(module.values.len(), bytes).unwrap_or(limits::NAME_BYTES)
}
