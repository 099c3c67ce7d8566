//! Attention that is written out keeps a matrix of all positions by all positions for each head. A fused kernel makes
//! none. The matrix is what `softmax` makes in a function that calls it for layer after layer, or that is named after
//! attention, or a product of two tensors that the function copies for it, queries and keys. What the same function makes
//! of the same number of values goes as well: scores, a mask applied, a cast, what dropout leaves. [`EndedMatrices`] finds those
//! that are older than the first event.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::attention_backward::EndedMatrices;
use super::{BlockCandidate, SnapshotTechnique, of_most};
use crate::store::names::NameId;
use crate::store::snapshot::{Snapshot, StackId};
use crate::systems::pytorch::allocator::insights::context::DeviceContext;
use crate::systems::pytorch::allocator::insights::what_if::BlockChange;
use crate::systems::pytorch::allocator::stack_signs::{StackPhase, StackRole};
use crate::systems::pytorch::allocator::user_frame::{is_python, is_users};

/// How many times as large as queries scores are at most: positions by values of a head. Statistics of a normalization are
/// smaller.
pub(super) const MOST_TIMES: u64 = 128;

/// A function of the program or of a library: its file and its name, and from where it is called, for many are called
/// `forward`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct CalledFunction {
    file: NameId,
    name: NameId,
    called_from: u64,
}

pub(super) fn candidate<'a>(context: &'a DeviceContext<'a>) -> BlockCandidate<'a> {
    let matrices = Matrices::of(context);
    let mut is_matrix: Vec<bool> = context.rows().map(|row| matrices.holds(context, row)).collect();
    let mut of_backward: Vec<bool> =
        context.rows().map(|row| matrices.may_hold(context, row)).collect();
    let ended = EndedMatrices::of(context);
    for (flags, rows) in [(&mut is_matrix, ended.kept), (&mut of_backward, ended.of_backward)] {
        for row in rows {
            if let Some(flag) = flags.get_mut(row) {
                *flag = true;
            }
        }
    }
    let has = move |row: usize| is_matrix.get(row).copied().unwrap_or(false);
    let rows = context.at_most(&has);
    let with_backward = {
        let has = has.clone();
        move |row: usize| has(row) || of_backward.get(row).copied().unwrap_or(false)
    };
    BlockCandidate {
        technique: SnapshotTechnique::Sdpa,
        text: format!(
            "{} are matrices of attention, one value for each pair of positions. \
             scaled_dot_product_attention computes the same without keeping them",
            of_most(context, &rows)
        ),
        rows,
        evidence: "Matrices of attention",
        expected: Some(BlockChange::without(has)),
        best: BlockChange::without(with_backward),
        basis: "expected: the peak without what softmax makes in attention and what its function makes of that size; \
            at most: without blocks of these sizes in the backward pass either"
            .to_owned(),
        caution: "A mask of your own and dropout choose the kernel: check that flash or memory-efficient \
            attention is the one that runs. Attention weights are not returned any more",
    }
}

/// What of a stack matters here.
#[derive(Clone, Copy)]
struct AskedBy {
    /// A row of the functions that compute attention.
    of: Option<usize>,
    function: CalledFunction,
    /// The line that it is at.
    line: u32,
    /// Whether the function asked itself, and no layer that it calls.
    is_own: bool,
}

/// The matrices of a function.
#[derive(Default)]
struct OfFunction {
    /// Bytes of each.
    sizes: HashSet<u64>,
    /// Lines that call softmax.
    lines: HashSet<u32>,
}

/// The functions that compute attention, with the sizes of the matrices that they keep.
struct Matrices {
    /// By stack.
    asked_by: Vec<Option<AskedBy>>,
    of_functions: Vec<OfFunction>,
    sizes: HashSet<u64>,
}

impl Matrices {
    fn of(context: &DeviceContext<'_>) -> Self {
        let is_one = |row: &usize| {
            let signs = context.signs_of(*row);
            signs.role == StackRole::Softmax && signs.phase == StackPhase::Forward
        };
        let products = products(context);
        let rows: Vec<usize> = context.rows().filter(is_one).chain(products.clone()).collect();
        let stacks = 0..context.snapshot.stacks.len() as u32;
        let stacks = stacks.filter(|_| !rows.is_empty()).map(StackId);
        let mut asked_by: Vec<_> = stacks.map(|stack| asked_by(context.snapshot, stack)).collect();
        let of = |row: usize| asked_by.get(context.stack(row).0 as usize).copied().flatten();
        let mut counts: HashMap<(NameId, NameId), usize> = HashMap::new();
        let mut of_functions: HashMap<CalledFunction, OfFunction> = HashMap::new();
        for row in rows {
            let Some(AskedBy { function, line, is_own, .. }) = of(row) else { continue };
            if !is_own && context.signs_of(row).role != StackRole::Softmax {
                continue;
            }
            let of_function = of_functions.entry(function).or_default();
            of_function.sizes.insert(context.requested(row));
            if context.signs_of(row).role == StackRole::Softmax {
                of_function.lines.insert(line);
            }
            *counts.entry((function.file, function.name)).or_default() += 1;
        }
        // A classifier calls it once in each pass.
        let passes = context.moments.forward_passes().max(1);
        let is_of_layers = |function: &CalledFunction| {
            let (file, name) = (function.file, function.name);
            let text = |name: NameId| context.snapshot.texts.get(name).to_ascii_lowercase();
            let is_named = |name: String| name.contains("attention") || name.contains("attn");
            let count = counts.get(&(file, name)).copied().unwrap_or(0);
            count >= passes * 2 || is_named(text(file)) || is_named(text(name))
        };
        let products: HashSet<CalledFunction> =
            products.into_iter().filter_map(|row| Some(of(row)?.function)).collect();
        of_functions.retain(|function, _| products.contains(function) || is_of_layers(function));
        let sizes = of_functions.values().flat_map(|of| of.sizes.iter().copied()).collect();
        let (functions, of_functions): (Vec<CalledFunction>, Vec<OfFunction>) =
            of_functions.into_iter().unzip();
        let numbers: HashMap<CalledFunction, usize> = functions.into_iter().zip(0..).collect();
        for asked_by in asked_by.iter_mut().flatten() {
            asked_by.of = numbers.get(&asked_by.function).copied();
        }
        Self { asked_by, of_functions, sizes }
    }

    /// Whether a block is such a matrix, or was made of one.
    fn holds(&self, context: &DeviceContext<'_>, row: usize) -> bool {
        let signs = context.signs_of(row);
        let may_be = signs.phase == StackPhase::Forward || signs.is_recomputed;
        let asked_by = self.asked_by.get(context.stack(row).0 as usize).copied().flatten();
        let Some(asked_by) = asked_by.filter(|_| may_be) else { return false };
        let of = asked_by.of.and_then(|of| self.of_functions.get(of));
        let Some(OfFunction { sizes, lines }) = of else { return false };
        let bytes = context.requested(row);
        match signs.role {
            StackRole::Softmax => true,
            // With the mask, a byte for each value.
            StackRole::Dropout => [1, 2, 4].iter().any(|part| has(sizes, bytes, *part)),
            // A cast of them, to half of the bytes or twice as many.
            _ if lines.contains(&asked_by.line) => {
                asked_by.is_own
                    && (has(sizes, bytes, 1)
                        || has(sizes, bytes, 2)
                        || sizes.contains(&(bytes / 2)))
            }
            _ => asked_by.is_own && has(sizes, bytes, 1),
        }
    }

    /// Whether a block of a backward pass is as large as one.
    fn may_hold(&self, context: &DeviceContext<'_>, row: usize) -> bool {
        let signs = context.signs_of(row);
        let bytes = context.requested(row);
        signs.phase == StackPhase::Backward
            && !signs.has_python
            && (has(&self.sizes, bytes, 1) || has(&self.sizes, bytes, 2))
    }
}

/// Products of two tensors of one size, which were copied for it, that are larger than these: scores of attention.
fn products(context: &DeviceContext<'_>) -> Vec<usize> {
    let is_product = |row: &usize| {
        let order = context.order(*row);
        let (first, second) = (order.saturating_sub(2), order.saturating_sub(1));
        let copied = context.requested(first);
        let stack = context.stack(*row);
        order >= 2
            && copied == context.requested(second)
            && copied < context.requested(*row)
            && context.requested(*row) / MOST_TIMES <= copied
            && context.stack(first) == stack
            && context.stack(second) == stack
            && context.signs_of(*row).is_call
            && context.signs_of(*row).phase == StackPhase::Forward
    };
    context.rows().filter(is_product).collect()
}

/// Whether so many times the bytes are one of some sizes.
fn has(sizes: &HashSet<u64>, bytes: u64, times: u64) -> bool {
    bytes > 0 && sizes.contains(&bytes.saturating_mul(times))
}

/// The function of the user frame of a stack, from where it is called, and whether it asked itself.
fn asked_by(snapshot: &Snapshot, stack: StackId) -> Option<AskedBy> {
    let mut frames = snapshot.frames_of(stack).filter(|frame| is_python(snapshot, frame));
    let mut is_own = true;
    let frame = loop {
        let frame = frames.next()?;
        if is_users(snapshot, frame) {
            break frame;
        }
        is_own = false;
    };
    let mut called_from = DefaultHasher::new();
    for caller in frames {
        (caller.file, caller.name, caller.line).hash(&mut called_from);
    }
    let function =
        CalledFunction { file: frame.file, name: frame.name, called_from: called_from.finish() };
    Some(AskedBy { of: None, function, line: frame.line, is_own })
}
