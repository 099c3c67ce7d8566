//! What paths of operations say of a program: its passes, what is computed again, and its layers.
//!
//! JAX writes the transformations into the path: `jvp(…)` of a forward pass that is differentiated, `transpose(…)` of its
//! backward pass. Where a path has neither, nothing is said of passes.

use crate::store::hlo::InstructionId;
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::text::path_parts;

/// Parts of paths of what `jax.checkpoint` wraps.
pub const CHECKPOINT: [&str; 4] = ["checkpoint", "remat", "remat2", "rematted_computation"];

/// Parts that JAX writes into paths for control flow and calls.
const CONTROL_FLOW: [&str; 11] = [
    "while",
    "body",
    "cond",
    "closed_call",
    "core_call",
    "xla_call",
    "named_call",
    "shard_map",
    "custom_jvp_call",
    "custom_vjp_call",
    "custom_vjp_call_jaxpr",
];

/// Whether a path is of the backward pass.
pub fn is_backward(path: &str) -> bool {
    path.contains("transpose(")
}

/// Whether a path is of a function that is differentiated.
pub fn is_differentiated(path: &str) -> bool {
    path.contains("jvp(")
}

/// Whether a path is of a function under `jax.checkpoint`.
pub fn is_checkpointed(path: &str) -> bool {
    (path.contains("checkpoint") || path.contains("remat"))
        && words(path).any(|word| CHECKPOINT.contains(&word))
}

/// Whether a path is of what `jax.checkpoint` computes again.
pub fn is_recomputed(path: &str) -> bool {
    words(path).any(|word| word == "rematted_computation")
}

/// Whether a path is of a forward pass of which nothing is computed again.
pub fn is_kept_forward(path: &str) -> bool {
    is_differentiated(path) && !is_backward(path) && !is_checkpointed(path)
}

/// Whether a path is of a function that is differentiated in an iteration of a loop, not around it.
fn is_in_loop(path: &str) -> bool {
    path.split_once("jvp(").is_some_and(|(around, _)| words(around).any(|word| word == "while"))
}

/// The words between slashes and parentheses.
fn words(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '(', ')']).filter(|word| !word.is_empty())
}

/// The scopes that an operation is in, the outermost first.
pub fn scopes(path: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let mut parts = path_parts(path);
    // The last is the operation.
    parts.next_back();
    for part in parts {
        let (around, inner) = match part.rsplit_once('(') {
            Some((around, inner)) => (around, inner.trim_end_matches(')')),
            None => ("", part),
        };
        // A function that was compiled is no scope, whatever transforms it.
        if around.rsplit('(').any(|word| word == "jit" || word == "pjit") {
            continue;
        }
        for scope in inner.split('/') {
            if !scope.is_empty() && !is_written_by_jax(scope) && found.last() != Some(&scope) {
                found.push(scope);
            }
        }
    }
    found
}

/// Whether JAX writes a part of a path, and no code names it so; `einsum` writes its pattern.
fn is_written_by_jax(part: &str) -> bool {
    let is_branch = || {
        let number = part.strip_prefix("branch_").and_then(|rest| rest.strip_suffix("_fun"));
        number.is_some_and(|number| number.bytes().all(|letter| letter.is_ascii_digit()))
    };
    CONTROL_FLOW.contains(&part) || CHECKPOINT.contains(&part) || part.contains("->") || is_branch()
}

/// The layers that an operation is in, the outermost first: its scopes up to each that has a number (`layer0`,
/// `Encoder/Block_3`).
pub fn layers(path: &str) -> Vec<String> {
    let scopes = scopes(path);
    let is_numbered =
        |(_, scope): &(usize, &&str)| scope.ends_with(|letter: char| letter.is_ascii_digit());
    let numbered = scopes.iter().enumerate().filter(is_numbered);
    numbered.filter_map(|(at, _)| Some(scopes.get(..=at)?.join("/"))).collect()
}

/// What paths say of the steps of a program.
#[derive(Clone, Debug, Default)]
pub struct Passes {
    /// Whether each position is of the backward pass.
    is_backward_at: Vec<bool>,
    /// Whether each computation has instructions of the backward pass.
    is_backward_in: Vec<bool>,
    /// Whether there are a forward pass that is differentiated and a backward pass.
    pub is_training: bool,
    /// Whether some of it is under `jax.checkpoint`.
    pub has_checkpoint: bool,
    /// Whether most of both runs in an iteration of a loop.
    pub is_looped: bool,
}

impl Passes {
    /// Of a program.
    pub fn of(analysed: &Analysed) -> Self {
        let module = &analysed.module;
        let is_backward_in = vec![false; module.computations.len()];
        let mut passes = Self { is_backward_in, ..Self::default() };
        let (mut forward, mut looped) = (0_usize, 0_usize);
        for (row, computation) in module.computations.iter().enumerate() {
            for id in computation.instructions.clone() {
                let Some(path) = module.op_name(InstructionId(id)) else { continue };
                passes.has_checkpoint |= is_checkpointed(path);
                if is_backward(path) {
                    if let Some(slot) = passes.is_backward_in.get_mut(row) {
                        *slot = true;
                    }
                } else if is_differentiated(path) {
                    forward = forward.saturating_add(1);
                    looped = looped.saturating_add(usize::from(is_in_loop(path)));
                }
            }
        }
        passes.is_training = forward > 0 && passes.is_backward_in.contains(&true);
        passes.is_looped = looped > forward / 2;
        // What has no path, as an element that is taken of a tuple, is where it runs.
        let mut is_before = false;
        let mut steps = Vec::with_capacity(analysed.schedule.instructions.len());
        for id in &analysed.schedule.instructions {
            if let Some(path) = module.op_name(*id) {
                is_before = is_backward(path);
            }
            steps.push(is_before || passes.is_backward_loop(analysed, *id));
        }
        passes.is_backward_at = steps;
        passes
    }

    /// Whether a step is of the backward pass.
    pub fn is_backward_at(&self, step: u32) -> bool {
        self.is_backward_at.get(step as usize).copied().unwrap_or(false)
    }

    /// Whether an instruction is a loop of the backward pass: older releases say so in the paths of its body alone.
    pub fn is_backward_loop(&self, analysed: &Analysed, id: InstructionId) -> bool {
        let module = &analysed.module;
        let body = module.instructions.called.of(id.0).first();
        let is_backward = body.and_then(|body| self.is_backward_in.get(*body as usize));
        module.opcode(id) == "while" && is_backward.copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_what_the_code_names_whatever_jax_writes_around() {
        for (path, expected) in [
            ("jit(step)/jvp(layer0)/attention/dot_general", vec!["layer0", "attention"]),
            ("jit(step)/transpose(jvp(layer0))/jvp(layer0)/checkpoint/add", vec!["layer0"]),
            ("jit(step)/jvp()/while/body/closed_call/mlp/mul", vec!["mlp"]),
            ("jit(step)/jvp(head)/jit(log_softmax)/sub", vec!["head"]),
            ("jit(step)/jvp(jit(relu6))/max", vec![]),
            (
                "jit(f)/transpose(jvp(checkpoint))/rematted_computation/Model/Block_3/dot",
                vec!["Model", "Block_3"],
            ),
            ("jit(f)/jvp(a/b)/cond/branch_1_fun/mul", vec!["a", "b"]),
            ("jit(f)/attention/bhqk,bkhd->bqhd/dot_general", vec!["attention"]),
            ("ps['blocks'][2]['w2']", vec![]),
        ] {
            assert_eq!(scopes(path), expected, "{path}");
        }
    }

    #[test]
    fn layers_are_scopes_with_a_number_whatever_wraps_them() {
        for (path, expected) in [
            ("jit(step)/jvp(layer0)/attention/dot_general", vec!["layer0"]),
            ("jit(step)/transpose(jvp(layer0))/jvp(layer0)/checkpoint/add", vec!["layer0"]),
            (
                "jit(step)/jvp(Model)/Block_3/Dense_1/add",
                vec!["Model/Block_3", "Model/Block_3/Dense_1"],
            ),
            ("jit(step)/jvp()/while/body/closed_call/jit(relu6)/max", vec![]),
            ("jit(step)/jvp(head)/log1p", vec![]),
        ] {
            assert_eq!(layers(path), expected, "{path}");
        }
    }

    #[test]
    fn gradients_in_a_loop_are_told_from_a_loop_over_layers() {
        assert!(is_in_loop("jit(step)/while/body/closed_call/jvp(layer0)/dot_general"));
        assert!(!is_in_loop("jit(step)/jvp()/while/body/closed_call/dot_general"));
        assert!(!is_in_loop("jit(step)/while/body/dot_general"));
    }

    #[test]
    fn a_scope_that_only_contains_the_word_is_not_computed_again() {
        assert!(is_checkpointed("jit(f)/transpose(jvp(checkpoint))/rematted_computation/dot"));
        assert!(!is_checkpointed("jit(f)/jvp(load_checkpoint)/dot"));
        assert!(is_kept_forward("jit(f)/jvp(while)/body/dot"));
        assert!(!is_kept_forward("jit(f)/jvp()/checkpoint/dot"));
        assert!(!is_kept_forward("jit(f)/dot"));
    }
}
