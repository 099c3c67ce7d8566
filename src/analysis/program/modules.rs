//! The modules of a network that steps belong to, by the names of their operations: `layer1.2.conv2` is of the layer
//! `layer1` and of its block `2`, `encoder/0/attention/MatMul` of `encoder` and of its block `0`.
//!
//! Steps without such a name belong to the module around them, where it is the same before and after.

use std::ops::Range;

use super::step_operations::StepOperations;
use crate::text::path_parts;

/// Steps in a row that belong to the same module, and its name.
pub type ModuleSpan = (Range<u32>, String);

/// Where an operation stands in the model, by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelPlace {
    /// The layer; `None` where the name says none.
    pub layer: Option<String>,
    /// The modules that it is in, the outermost first.
    pub modules: Vec<String>,
    /// The pass, such as `Backward`; `None` where the name does not say it.
    pub pass: Option<&'static str>,
}

impl ModelPlace {
    /// By the layer and the block of a name.
    pub fn of(name: &str) -> Self {
        let (layer, block) = module_of(name);
        let joined = match (layer, block) {
            (Some(layer), Some(block)) => Some(format!("{layer}.{block}")),
            (layer, _) => layer.map(str::to_owned),
        };
        let modules = [layer, block].into_iter().flatten().map(str::to_owned).collect();
        Self { layer: joined, modules, pass: None }
    }
}

/// Layers, and the blocks within them; ascending. Steps are positions in [`crate::store::program::Steps`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modules {
    /// The layers.
    pub layers: Vec<ModuleSpan>,
    /// The blocks, by their names within their layers.
    pub blocks: Vec<ModuleSpan>,
}

/// The layer and the block of an operation's name.
pub fn module_of(name: &str) -> (Option<&str>, Option<&str>) {
    let mut parts: Vec<&str> = path_parts(name).collect();
    // Of a path with dots the last part is the operation; of one without, the last two parts are.
    let dotted = parts.first().copied().filter(|first| first.contains('.'));
    let leaf = if dotted.is_some() { 1 } else { 2 };
    if let Some(path) = dotted {
        parts = path.split('.').collect();
    }
    parts.truncate(parts.len().saturating_sub(leaf));
    let mut modules = parts.into_iter();
    let mut next = || modules.next().filter(|part| !part.is_empty());
    let layer = next();
    (layer, layer.and_then(|_| next()))
}

impl Modules {
    /// Of the operations of all steps.
    pub fn of(operations: &StepOperations) -> Self {
        let named = |step: usize| operations.at(step)?.name.as_deref();
        Self::of_names((0..operations.of_step.len()).map(named))
    }

    fn of_names<'a>(names: impl Iterator<Item = Option<&'a str>>) -> Self {
        let mut layers = StepSpans::default();
        // Blocks of the same name in layers one after the other are not the same.
        let mut blocks = StepSpans::default();
        for (step, name) in (0_u32..).zip(names) {
            let Some(name) = name else { continue };
            let (layer, block) = module_of(name);
            layers.add(step, layer);
            blocks.add(step, layer.zip(block));
        }
        let of_block = |(range, (_, block)): (Range<u32>, (&str, &str))| (range, block.to_owned());
        let of_layer = |(range, layer): (Range<u32>, &str)| (range, layer.to_owned());
        Self {
            layers: layers.done.into_iter().map(of_layer).collect(),
            blocks: blocks.done.into_iter().map(of_block).collect(),
        }
    }
}

/// Steps in a row that belong to the same; steps of which nothing is said belong to what is around them.
pub struct StepSpans<T> {
    /// The steps of each, ascending.
    pub done: Vec<(Range<u32>, T)>,
    is_open: bool,
}

impl<T> Default for StepSpans<T> {
    fn default() -> Self {
        Self { done: Vec::new(), is_open: false }
    }
}

impl<T: PartialEq> StepSpans<T> {
    /// Adds a step that belongs to something, or to nothing; steps come in their order.
    pub fn add(&mut self, step: u32, module: Option<T>) {
        let Some(module) = module else {
            self.is_open = false;
            return;
        };
        match self.done.last_mut() {
            Some((range, last)) if self.is_open && *last == module => range.end = step + 1,
            _ => self.done.push((step..step + 1, module)),
        }
        self.is_open = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_layer_and_a_block() {
        assert_eq!(module_of("layer1.2.conv2"), (Some("layer1"), Some("2")));
        assert_eq!(module_of("layer1.2.conv2/Conv/Convolve"), (Some("layer1"), Some("2")));
        assert_eq!(module_of("layer4.0.downsample.0"), (Some("layer4"), Some("0")));
        assert_eq!(module_of("encoder/0/attention/MatMul"), (Some("encoder"), Some("0")));
        assert_eq!(module_of("jit(f)/jvp(a/b)/dense/dot"), (Some("jit(f)"), Some("jvp(a/b)")));
        assert_eq!(module_of("embedding/table/Gather"), (Some("embedding"), None));
        for name in ["conv1", "conv1/Conv", "", "/", "..", "fc.weight/"] {
            assert_eq!(module_of(name).1, None, "{name}");
        }
    }

    #[test]
    fn steps_in_a_row_are_one_span_and_steps_without_a_name_lie_within() {
        let names = [
            Some("conv1/Conv"),
            Some("layer1.0.conv1"),
            None,
            Some("layer1.0.conv2"),
            Some("layer1.1.conv1"),
            None,
            Some("layer2.1.conv1"),
            Some("fc/MatMul"),
            Some("layer2.1.conv1"),
        ];
        let found = Modules::of_names(names.into_iter());
        let span = |range: Range<u32>, name: &str| (range, name.to_owned());
        assert_eq!(
            found.layers,
            [span(1..5, "layer1"), span(6..7, "layer2"), span(8..9, "layer2")]
        );
        let blocks = [span(1..4, "0"), span(4..5, "1"), span(6..7, "1"), span(8..9, "1")];
        assert_eq!(found.blocks, blocks);
        assert_eq!(Modules::of_names(std::iter::empty()), Modules::default());
    }
}
