//! Parameters of two modules that are not of the same type and dimensions: what a batch of another size, another
//! element type, or another network looks like to a compiler.

use std::collections::{BTreeMap, HashMap};

use crate::store::hlo::{ElementType, HloModule};

/// A change that parameters have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ParameterChange {
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
    pub count: u64,
    /// The number of the first.
    pub number: i64,
    /// Its name in the target, where the program has one.
    pub name: Option<String>,
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

/// A parameter of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EntryParameter {
    name: Option<String>,
    /// `f32[64,1024]`.
    title: String,
    element_type: Option<ElementType>,
    dimensions: Vec<i64>,
    is_tuple: bool,
}

/// The parameters of a program by their numbers; `None` where the program is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters(Option<BTreeMap<i64, EntryParameter>>);

impl Parameters {
    pub(super) fn of(module: &HloModule) -> Self {
        let shapes = &module.shapes;
        let parameter = |(number, id)| {
            let shape = module.instructions.shape(id);
            let parameter = EntryParameter {
                name: module.op_name(id).map(str::to_owned),
                title: shapes.whole_title(shape, None),
                element_type: shapes.element_type(shape),
                dimensions: shapes.dimensions(shape).to_vec(),
                is_tuple: shapes.is_tuple(shape),
            };
            (number, parameter)
        };
        let all = || module.entry_parameters().into_iter().map(parameter).collect();
        Self(module.entry.is_some().then(all))
    }
}

impl OtherParameters {
    /// Between two programs.
    pub fn between(parameters: [&Parameters; 2]) -> Self {
        let counts = parameters.map(|Parameters(of)| Some(of.as_ref()?.len() as u64));
        let none = Self { counts, changed: Vec::new() };
        let [Parameters(Some(source)), Parameters(Some(target))] = parameters else { return none };
        if source.len() != target.len() {
            return none;
        }
        let mut changed: Vec<ChangedParameters> = Vec::new();
        let mut known: HashMap<ParameterChange, usize> = HashMap::new();
        for (number, first) in source {
            let Some(second) = target.get(number) else { continue };
            let Some(change) = change(first, second) else { continue };
            let next = changed.len();
            let place = *known.entry(change).or_insert(next);
            if place == next {
                changed.push(ChangedParameters {
                    count: 0,
                    number: *number,
                    name: second.name.clone(),
                    shapes: [first, second].map(|one| one.title.clone()),
                    dimension: match change {
                        ParameterChange::Dimension(_, from, to) => Some([from, to]),
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

/// What is another of two parameters; `None` where nothing is.
fn change(source: &EntryParameter, target: &EntryParameter) -> Option<ParameterChange> {
    if source.is_tuple || target.is_tuple {
        return (source.title != target.title).then_some(ParameterChange::Other);
    }
    let (from, to) = (&source.dimensions, &target.dimensions);
    if source.element_type != target.element_type {
        return Some(if from == to {
            ParameterChange::ElementType
        } else {
            ParameterChange::Other
        });
    }
    if from == to {
        return None;
    }
    if from.len() != to.len() {
        return Some(ParameterChange::Other);
    }
    let mut others = from.iter().zip(to).enumerate().filter(|(_, (from, to))| from != to);
    match (others.next(), others.next()) {
        (Some((place, (from, to))), None) => Some(ParameterChange::Dimension(place, *from, *to)),
        _ => Some(ParameterChange::Other),
    }
}
