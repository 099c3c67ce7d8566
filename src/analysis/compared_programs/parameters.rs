//! Parameters of two programs that are not of the same type and dimensions: what a batch of another size, another
//! element type, or another network looks like to a compiler.

use std::collections::HashMap;

use crate::store::hlo::{HloModule, ShapeId};

/// A change that parameters have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Change {
    /// One dimension: its place, and what it is on each side.
    Dimension(usize, i64, i64),
    /// The element type alone.
    ElementType,
    /// Anything else.
    Other,
}

/// A change, with how many parameters have it and the first of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedParameters {
    /// How many have it.
    pub count: u64,
    /// The number of the first.
    pub number: i64,
    /// `f32[64,1024]` of source and target.
    pub shapes: [String; 2],
    /// Of one dimension that alone is another: what it is on each side.
    pub dimension: Option<[i64; 2]>,
}

/// Parameters that are not of the same type and dimensions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherParameters {
    /// How many parameters each side has; `None` where the program is not known.
    pub counts: [Option<u64>; 2],
    /// What differs between those of the same number, the most frequent first; empty where the sides have not as many.
    pub changed: Vec<ChangedParameters>,
}

impl OtherParameters {
    /// Between two programs.
    pub fn between(modules: [&HloModule; 2]) -> Self {
        let parameters =
            modules.map(|module| module.entry.is_some().then(|| module.entry_parameters()));
        let counts = parameters.each_ref().map(|of| Some(of.as_ref()?.len() as u64));
        let [Some(source), Some(target)] = &parameters else {
            return Self { counts, changed: Vec::new() };
        };
        if source.len() != target.len() {
            return Self { counts, changed: Vec::new() };
        }
        let mut numbers: Vec<i64> = source.keys().copied().collect();
        numbers.sort_unstable();
        let mut changed: Vec<ChangedParameters> = Vec::new();
        let mut known: HashMap<Change, usize> = HashMap::new();
        for number in numbers {
            let (Some(first), Some(second)) = (source.get(&number), target.get(&number)) else {
                continue;
            };
            let [a, b] = modules;
            let shapes = [a.instructions.shape(*first), b.instructions.shape(*second)];
            let Some(change) = change(modules, shapes) else { continue };
            let next = changed.len();
            let place = *known.entry(change).or_insert(next);
            if place == next {
                let [source, target] = shapes;
                changed.push(ChangedParameters {
                    count: 0,
                    number,
                    shapes: [a.shapes.title(source), b.shapes.title(target)],
                    dimension: match change {
                        Change::Dimension(_, from, to) => Some([from, to]),
                        _ => None,
                    },
                });
            }
            if let Some(row) = changed.get_mut(place) {
                row.count = row.count.saturating_add(1);
            }
        }
        changed.sort_by_key(|row| std::cmp::Reverse(row.count));
        Self { counts, changed }
    }
}

/// What is another of two shapes; `None` where nothing is.
fn change([a, b]: [&HloModule; 2], [source, target]: [ShapeId; 2]) -> Option<Change> {
    let types = [a.shapes.element_type(source), b.shapes.element_type(target)];
    let [from, to] = [a.shapes.dimensions(source), b.shapes.dimensions(target)];
    if a.shapes.is_tuple(source) || b.shapes.is_tuple(target) {
        return (a.shapes.title(source) != b.shapes.title(target)).then_some(Change::Other);
    }
    if types[0] != types[1] {
        return Some(if from == to { Change::ElementType } else { Change::Other });
    }
    if from == to {
        return None;
    }
    if from.len() != to.len() {
        return Some(Change::Other);
    }
    let mut others = from.iter().zip(to).enumerate().filter(|(_, (from, to))| from != to);
    match (others.next(), others.next()) {
        (Some((place, (from, to))), None) => Some(Change::Dimension(place, *from, *to)),
        _ => Some(Change::Other),
    }
}
