//! Where operations stand in the model, by their paths: the scopes that the code names (`jax.named_scope`, modules of
//! Flax), without what JAX itself writes between them, and the pass.

use std::collections::BTreeSet;

use super::buffer_assignment::analysed::Analysed;
use super::buffer_assignment::in_use::PlacedValue;
use super::buffer_assignment::insights::paths::{
    is_backward, is_differentiated, is_recomputed, scopes,
};
use super::buffer_assignment::program::AnalysedModule;
use super::variables::hands_on;
use crate::analysis::program::modules::{ModelPlace, StepSpans};
use crate::run::AliveBy;
use crate::run::beside_curve::StepBand;
use crate::store::names::NameId;

/// What counts to no layer.
pub const NO_LAYER: &str = "(no layer)";

/// Depths of scopes that have a band.
const MOST_DEPTHS: usize = 3;

/// What the paths of a program have in common.
#[derive(Debug)]
pub struct LayersOfPaths {
    /// How many scopes all operations that have any begin with.
    common: usize,
    /// Whether several layers are told apart.
    pub has_several: bool,
}

impl LayersOfPaths {
    /// Of all operations of a program.
    pub fn of(program: &AnalysedModule) -> Self {
        let module = &program.analysed.module;
        let names: BTreeSet<NameId> = module.instructions.op_names.iter().copied().collect();
        let named = names.into_iter().filter(|name| *name != NameId::NONE);
        let all: Vec<Vec<&str>> = named.map(|name| scopes(module.texts.get(name))).collect();
        Self::of_scopes(&all)
    }

    fn of_scopes(all: &[Vec<&str>]) -> Self {
        let mut some = all.iter().filter(|scopes| !scopes.is_empty());
        let Some(first) = some.next() else { return Self { common: 0, has_several: false } };
        // Each keeps one.
        let mut common = first.len().saturating_sub(1);
        for scopes in some {
            let same = first.iter().zip(scopes).take_while(|(one, other)| one == other).count();
            common = common.min(same).min(scopes.len().saturating_sub(1));
        }
        let mut layers = Self { common, has_several: false };
        let different: BTreeSet<_> = all
            .iter()
            .filter_map(|scopes| layers.place_of(scopes, None).layer)
            .take(1 << 16)
            .collect();
        layers.has_several = different.len() > 1;
        layers
    }

    /// Where an operation of this path stands.
    pub fn place(&self, path: &str) -> ModelPlace {
        self.place_of(&scopes(path), pass(path))
    }

    /// The layer ends with the first scope that has a number; where none has, all of them are its name.
    fn place_of(&self, scopes: &[&str], pass: Option<&'static str>) -> ModelPlace {
        let own = scopes.get(self.common..).unwrap_or_default();
        let is_numbered = |scope: &&str| scope.ends_with(|letter: char| letter.is_ascii_digit());
        let end = own.iter().position(is_numbered).map_or(own.len(), |at| at.saturating_add(1));
        let layer = own.get(..end).unwrap_or_default().join("/");
        ModelPlace {
            layer: (!layer.is_empty()).then_some(layer),
            modules: own.iter().map(|scope| (*scope).to_owned()).collect(),
            pass,
        }
    }
}

fn pass(path: &str) -> Option<&'static str> {
    match () {
        () if is_recomputed(path) => Some("Recomputed"),
        () if is_backward(path) => Some("Backward"),
        () if is_differentiated(path) => Some("Forward"),
        () => None,
    }
}

/// Whether XLA itself computes an instruction again to take less memory: it names it so.
pub fn is_rematerialised(instruction: &str) -> bool {
    // What follows is how it numbers it or says what it does.
    let is_numbered =
        |rest: &str| rest.bytes().all(|letter| letter.is_ascii_digit()) || rest.starts_with('_');
    let mut parts = instruction.split('.').skip(1);
    parts.any(|part| part.strip_prefix("remat").is_some_and(is_numbered))
}

/// The passes and the scopes of the steps of a program, a band a depth; a band that is the same everywhere is left out.
pub fn bands(program: &AnalysedModule, layers: &LayersOfPaths) -> Vec<StepBand> {
    let module = &program.analysed.module;
    let mut passes: StepSpans<&'static str> = StepSpans::default();
    let mut depths: [StepSpans<Vec<String>>; MOST_DEPTHS] = Default::default();
    for (step, id) in (0_u32..).zip(&program.analysed.schedule.instructions) {
        // What takes no time interrupts no layer.
        let path = module.op_name(*id).filter(|_| !hands_on(module.opcode(*id)));
        let Some(path) = path else { continue };
        let place = layers.place(path);
        let is_again = is_rematerialised(module.instruction_name(*id));
        passes.add(step, if is_again { Some("Recomputed") } else { place.pass });
        for (depth, spans) in (1..).zip(&mut depths) {
            spans.add(step, place.modules.get(..depth).map(<[String]>::to_vec));
        }
    }
    let pass = |(steps, title): (std::ops::Range<u32>, &str)| (steps, title.to_owned());
    let mut bands =
        vec![StepBand { title: "Pass", parts: passes.done.into_iter().map(pass).collect() }];
    for (spans, title) in depths.into_iter().zip(["Layer", "", ""]) {
        let part =
            |(steps, modules): (_, Vec<String>)| Some((steps, modules.into_iter().next_back()?));
        bands.push(StepBand { title, parts: spans.done.into_iter().filter_map(part).collect() });
    }
    bands.retain(|band| band.parts.len() > 1);
    bands
}

/// What a value counts to, by layer too.
pub fn owner(
    analysed: &Analysed,
    layers: &LayersOfPaths,
    one: &PlacedValue,
    by: AliveBy,
) -> String {
    if by != AliveBy::Layer {
        return analysed.owner(one, by);
    }
    let layer = analysed.operation(one.assigned.value).and_then(|path| layers.place(path).layer);
    layer.unwrap_or_else(|| NO_LAYER.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_ends_with_its_number_and_what_all_begin_with_is_left_out() {
        let all = [vec!["Model", "Block_3", "Dense_1"], vec!["Model", "head"], vec![]];
        let layers = LayersOfPaths::of_scopes(&all);
        assert_eq!((layers.common, layers.has_several), (1, true));
        let place = layers.place("jit(f)/transpose(jvp(Model))/Block_3/Dense_1/dot");
        assert_eq!(place.layer.as_deref(), Some("Block_3"));
        assert_eq!(place.modules, ["Block_3", "Dense_1"]);
        assert_eq!(place.pass, Some("Backward"));
        assert_eq!(
            layers.place("jit(f)/jvp(Model)/head/norm/dot").layer.as_deref(),
            Some("head/norm")
        );
        assert_eq!(layers.place("jit(f)/add"), ModelPlace::default());
        let one = LayersOfPaths::of_scopes(&[vec!["Model"], vec!["Model"]]);
        assert_eq!((one.common, one.has_several), (0, false));
        assert!(!LayersOfPaths::of_scopes(&[vec![]]).has_several);
    }

    #[test]
    fn what_xla_computes_again_is_told_by_its_name() {
        assert!(is_rematerialised("fusion.3.remat2") && is_rematerialised("dot.remat"));
        assert!(!is_rematerialised("remat.3") && !is_rematerialised("dot.rematch"));
    }
}
