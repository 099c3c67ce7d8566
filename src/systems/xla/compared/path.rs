//! Paths of operations, as two modules have them in common: the compiler adds numbers, and releases of JAX wrap the same
//! operation in other parts.

use std::borrow::Cow;

use crate::systems::xla::buffer_assignment::insights::paths::{
    CHECKPOINT, is_checkpointed, is_recomputed,
};
use crate::text::path_parts;

/// Parts that say nothing of the operation, and that only some releases write.
const WRAPPERS: [&str; 2] = ["closed_call", "jvp()"];
/// What older releases write into the transformation around it: `jvp(while)` for `jvp()/while`.
const CONTROL_FLOW: [&str; 3] = ["while", "scan", "cond"];

/// A path without the numbers that the compiler adds to its parts: `dot_general.12` is `dot_general`.
pub fn without_numbers(path: &str) -> Cow<'_, str> {
    if path_parts(path).all(|part| without_number(part) == part) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(path_parts(path).map(without_number).collect::<Vec<_>>().join("/"))
}

/// The same without parts in which only some releases wrap an operation. Within a module it may stand for several paths.
pub fn plain_path(path: &str) -> Cow<'_, str> {
    let mut plain: Vec<Cow<'_, str>> = Vec::new();
    for (place, part) in path_parts(path).enumerate() {
        let part = without_number(part);
        let is_main = place == 1 && part == "jit(main)";
        // What `transpose` says already.
        let is_said = plain.last().is_some_and(|before| {
            before.strip_prefix("transpose(").and_then(|inner| inner.strip_suffix(')'))
                == Some(part)
        });
        if is_main || is_said || WRAPPERS.contains(&part) {
            continue;
        }
        match control_flow(part) {
            Some((around, inner)) => {
                let is_wrapper = WRAPPERS.contains(&&*around);
                plain.extend((!is_wrapper).then_some(Cow::Owned(around)));
                plain.push(Cow::Borrowed(inner));
            }
            None => plain.push(Cow::Borrowed(part)),
        }
    }
    let plain = plain.join("/");
    if plain == path || plain.is_empty() { Cow::Borrowed(path) } else { Cow::Owned(plain) }
}

/// A plain path without the parts that `jax.checkpoint` adds. A recomputed operation of the backward pass gets the path of
/// the operation of the forward pass that it repeats, so one module can have the path twice.
pub fn kept_path(path: &str) -> Cow<'_, str> {
    let plain = plain_path(path);
    if !is_checkpointed(&plain) {
        return plain;
    }
    let is_again = is_recomputed(&plain);
    let mut kept: Vec<&str> = Vec::new();
    for part in path_parts(&plain).filter(|part| !CHECKPOINT.contains(part)) {
        let forward = part.strip_prefix("transpose(").and_then(|inner| inner.strip_suffix(')'));
        let forward = forward.filter(|_| is_again).unwrap_or(part);
        if !WRAPPERS.contains(&forward) {
            kept.push(forward);
        }
    }
    if kept.is_empty() { plain } else { Cow::Owned(kept.join("/")) }
}

fn without_number(mut part: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit());
    while let Some((before, _)) =
        part.rsplit_once('.').filter(|(before, number)| !before.is_empty() && is_number(number))
    {
        part = before;
    }
    part
}

/// `transpose(jvp(while))` as `transpose(jvp())` and `while`; `None` of other parts.
fn control_flow(part: &str) -> Option<(String, &str)> {
    let (before, inner) = part.rsplit_once('(')?;
    let word = inner.trim_end_matches(')');
    let closing = inner.get(word.len()..)?;
    CONTROL_FLOW.contains(&word).then(|| (format!("{before}({closing}"), word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_compiler_are_left_out_and_those_of_the_user_stay() {
        for (path, plain) in [
            ("jit(f)/layer3/dot_general.12", "jit(f)/layer3/dot_general"),
            ("jit(f.2)/add.1.3/x", "jit(f.2)/add/x"),
            ("ps[0]['w1']", "ps[0]['w1']"),
            ("a/b", "a/b"),
            (".5", ".5"),
            ("", ""),
        ] {
            assert_eq!((without_numbers(path), plain_path(path)), (plain.into(), plain.into()));
        }
    }

    #[test]
    fn releases_wrap_the_same_operation_in_other_parts() {
        for (one, other) in [
            ("jit(step)/jit(main)/mlp/mul", "jit(step)/mlp/mul"),
            ("jit(step)/jit(main)/reduce_sum", "jit(step)/jvp()/reduce_sum"),
            (
                "jit(step)/jit(main)/transpose(jvp(while))/body/mlp/mul",
                "jit(step)/transpose(jvp())/while/body/closed_call/mlp/mul",
            ),
            (
                "jit(step)/transpose(jvp(block0))/checkpoint/add",
                "jit(step)/transpose(jvp(block0))/jvp(block0)/checkpoint/add",
            ),
        ] {
            assert_eq!(plain_path(one), plain_path(other));
        }
        // Passes are told apart, a program may be called `main`, and what is only a wrapper keeps its name.
        assert_ne!(plain_path("jit(f)/jvp(a)/mul"), plain_path("jit(f)/transpose(jvp(a))/mul"));
        assert_eq!(plain_path("jit(main)/mul"), "jit(main)/mul");
        assert_eq!(plain_path("jvp()"), "jvp()");
    }

    #[test]
    fn what_is_computed_again_has_the_path_of_what_was_kept() {
        for (again, kept) in [
            (
                "jit(f)/transpose(jvp(layer0))/jvp(layer0)/checkpoint/rematted_computation/mlp/mul",
                "jit(f)/jvp(layer0)/mlp/mul",
            ),
            ("jit(f)/jvp(layer0)/checkpoint/mlp/mul", "jit(f)/jvp(layer0)/mlp/mul"),
            (
                "jit(f)/transpose(jvp())/while/body/closed_call/checkpoint/rematted_computation/mul",
                "jit(f)/jvp()/while/body/closed_call/mul",
            ),
            (
                "jit(f)/jit(main)/transpose(jvp(while))/body/checkpoint/rematted_computation/mul",
                "jit(f)/jit(main)/jvp(while)/body/mul",
            ),
        ] {
            assert_eq!(kept_path(again), kept_path(kept), "{again}");
        }
        // The backward pass of what is computed again is none of it, and a scope of the user is none either.
        let backward = "jit(f)/transpose(jvp(layer0))/jvp(layer0)/checkpoint/mlp/mul";
        assert_eq!(kept_path(backward), "jit(f)/transpose(jvp(layer0))/mlp/mul");
        assert_eq!(kept_path("jit(f)/jvp(load_checkpoint)/mul"), "jit(f)/jvp(load_checkpoint)/mul");
        assert_eq!(kept_path("checkpoint"), "checkpoint");
    }
}
