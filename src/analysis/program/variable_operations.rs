//! The operation of every variable before lowering.
//!
//! By the first of these that names exactly one operation ([`crate::analysis::program::operations`]):
//!
//! - the variable's debug contexts; those that name none do not count,
//! - of a pseudo variable `<message:X>` or `<rearrangement:X>` the contexts of the variables named X,
//! - of a variable that is not always live its life, class by class: the steps at which the class is
//!   live and that belong to an operation all belong to the same one.
//!
//! The first two hold for all classes of a variable, the third differs from class to class: `<anon>`
//! counts the anonymous variables of all operations, each of which lives while its own one runs.

use std::collections::HashMap;

use crate::store::Report;
use crate::store::liveness::{Classes, Liveness, VariableBytes};
use crate::store::placed::Placement;

use crate::analysis::program::operations::Operation;
use crate::analysis::program::step_operations::{FoundOperations, StepOperations};

/// How the operation of a variable was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// Its debug contexts say so.
    Contexts,
    /// Those of the variable that it is a message or rearrangement of say so.
    Original,
    /// It lives only while that operation runs.
    Life,
}

/// The operations of variables, by variable and class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariableOperations {
    /// The operations of the steps, in the order of [`StepOperations::operations`], then those that
    /// only variables have.
    pub operations: Vec<Operation>,
    /// By contexts, for each of [`Liveness::variable_ids`].
    of_variable: Vec<Option<(u32, FoundBy)>>,
    /// By life, for each of [`Classes::ids`].
    of_class: Vec<Option<u32>>,
}

impl VariableOperations {
    /// The operation of a variable as far as it lives in one class, a position in `operations`, and
    /// how it was found; `None` where it belongs to none, or to several.
    pub fn of(&self, liveness: &Liveness, row: &VariableBytes) -> Option<(u32, FoundBy)> {
        let position = liveness.variable_ids.position(row.variable);
        let by_contexts = position.and_then(|position| *self.of_variable.get(position)?);
        by_contexts.or_else(|| {
            let class = liveness.classes.ids.position(liveness.whole_life(row.class))?;
            Some(((*self.of_class.get(class)?)?, FoundBy::Life))
        })
    }

    /// The operation of what is placed: that of the variable that it was lowered from, else by its life.
    pub fn of_placement(&self, liveness: &Liveness, placement: &Placement) -> Option<u32> {
        match placement.unlowered {
            Some(variable) => {
                let row = VariableBytes { variable, class: placement.class, bytes: 0 };
                self.of(liveness, &row).map(|(operation, _)| operation)
            }
            None => self.of_life(liveness.classes.ids.position(placement.class)?),
        }
    }

    /// The operation that alone runs while a class, by its position, is live: what lives so is a
    /// temporary of that operation, whatever it was made from. A position in `operations`.
    pub fn of_life(&self, class: usize) -> Option<u32> {
        *self.of_class.get(class)?
    }
}

/// The operations of all variables; `steps` are those of the report's steps. Without debug contexts
/// no variable has one. `None` where the liveness is absent.
pub fn variable_operations(report: &Report, steps: &StepOperations) -> Option<VariableOperations> {
    let liveness = report.liveness.get()?;
    let Some(debug) = report.debug.get() else { return Some(VariableOperations::default()) };
    let mut found = FoundOperations::new(debug, &steps.operations, steps.layer.as_ref());
    let by_contexts: Vec<Option<u32>> = (0..liveness.variable_ids.len())
        .map(|position| {
            only_one(liveness.debug_ids_of(position).iter().filter_map(|id| found.of_context(*id)))
        })
        .collect();
    let operations = found.operations;
    Some(VariableOperations {
        operations,
        of_variable: with_pseudo_variables(liveness, &by_contexts),
        of_class: by_life(&liveness.classes, &steps.of_step),
    })
}

/// What all of some operations are, if they are one.
fn only_one(mut operations: impl Iterator<Item = u32>) -> Option<u32> {
    let first = operations.next()?;
    operations.all(|other| other == first).then_some(first)
}

fn with_pseudo_variables(
    liveness: &Liveness,
    by_contexts: &[Option<u32>],
) -> Vec<Option<(u32, FoundBy)>> {
    let name_of = |position| liveness.variable_names.at(position).unwrap_or("");
    // Where variables of one name belong to several operations, the name belongs to none.
    let mut by_name: HashMap<&str, Option<u32>> = HashMap::new();
    for (position, operation) in by_contexts.iter().enumerate() {
        let Some(operation) = *operation else { continue };
        by_name
            .entry(name_of(position))
            .and_modify(|known| *known = known.filter(|known| *known == operation))
            .or_insert(Some(operation));
    }
    let by_original = |position| {
        let operation = *by_name.get(original(name_of(position))?)?;
        Some((operation?, FoundBy::Original))
    };
    let of_contexts = |operation: &Option<u32>| Some(((*operation)?, FoundBy::Contexts));
    by_contexts
        .iter()
        .enumerate()
        .map(|(position, operation)| of_contexts(operation).or_else(|| by_original(position)))
        .collect()
}

/// The variable that a pseudo variable is a message or rearrangement of. One of several variables is
/// named by the first of them: `<message:X>+`.
pub(crate) fn original(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("<message:").or_else(|| name.strip_prefix("<rearrangement:"))?;
    Some(rest.rsplit_once('>')?.0)
}

/// For each class the operation of all steps at which it is live and that belong to one.
fn by_life(classes: &Classes, of_step: &[Option<u32>]) -> Vec<Option<u32>> {
    let ahead = Ahead::of(of_step);
    let of_range = |range: &std::ops::Range<u32>| ahead.within(range.start, range.end);
    (0..classes.ids.len())
        .map(|class| {
            if classes.always_live.get(class) != Some(&false) {
                return None;
            }
            let mut found = None;
            for range in classes.ranges_of(class) {
                match (of_range(range), found) {
                    (Within::None, _) => {}
                    (Within::One(operation), None) => found = Some(operation),
                    (Within::One(operation), Some(known)) if known == operation => {}
                    _ => return None,
                }
            }
            found
        })
        .collect()
}

/// The operations of the steps of a range.
enum Within {
    /// No step belongs to one.
    None,
    /// All that belong to one belong to this.
    One(u32),
    /// They belong to several.
    Several,
}

/// For each step what comes there or later: the first step that belongs to an operation, that
/// operation, and the first step that belongs to another one.
struct Ahead {
    steps: Vec<(u32, u32, u32)>,
}

impl Ahead {
    fn of(of_step: &[Option<u32>]) -> Self {
        const NEVER: u32 = u32::MAX;
        let mut next: Option<(u32, u32, u32)> = None;
        let mut steps = vec![(NEVER, 0, NEVER); of_step.len()];
        for (step, (place, operation)) in steps.iter_mut().zip(of_step).enumerate().rev() {
            if let (Some(operation), Ok(step)) = (*operation, u32::try_from(step)) {
                let other = match next {
                    None => NEVER,
                    Some((_, same, other)) if same == operation => other,
                    Some((first, ..)) => first,
                };
                next = Some((step, operation, other));
            }
            *place = next.unwrap_or(*place);
        }
        Self { steps }
    }

    fn within(&self, start: u32, end: u32) -> Within {
        match self.steps.get(start as usize) {
            Some((first, operation, other)) if *first < end => {
                if *other < end {
                    Within::Several
                } else {
                    Within::One(*operation)
                }
            }
            _ => Within::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::analysis::fixture::{self, contexts};
    use crate::store::UnloweredId;

    fn operation(name: &str) -> Operation {
        Operation {
            kind: Some("convolution".to_owned()),
            layer: "poplibs".to_owned(),
            name: Some(name.to_owned()),
            ..Operation::default()
        }
    }

    fn classes(ranges: &[Vec<(u32, u32)>]) -> Classes {
        let of_class = |ranges: &Vec<(u32, u32)>| {
            ranges.iter().map(|(start, end)| *start..*end).collect::<Vec<_>>()
        };
        fixture::classes(0, ranges.iter().map(of_class))
    }

    #[test]
    fn contexts_come_before_originals_and_lives() {
        let of_step = vec![Some(0), Some(0), None, Some(1), Some(1)];
        let steps = StepOperations::new(of_step, vec![operation("a"), operation("b")]);
        let mut liveness = Liveness {
            classes: classes(&[vec![(0, 5)], vec![(0, 3)], vec![(1, 4)], vec![(2, 5)], vec![]]),
            ..Liveness::default()
        };
        for (id, (name, debug_ids)) in (10..).zip([
            ("weights", vec![3, 4]),
            ("<anon>", vec![1, 2]),
            ("<message:weights>+", vec![]),
            ("<rearrangement:output>", vec![2]),
            ("output", vec![1]),
            ("<message:both>", vec![]),
            ("both", vec![1]),
            ("both", vec![2]),
            ("<const>", vec![9]),
        ]) {
            assert!(liveness.variable_ids.push(UnloweredId(id)));
            liveness.variable_names.push(name);
            liveness.debug_ids.extend(debug_ids);
            liveness.debug_id_ends.push(liveness.debug_ids.len());
        }
        let report = Report::default();
        let of = "convolution";
        report.debug.fill(Some(contexts([(of, "a"), (of, "b"), (of, "c"), ("", "")])));
        report.liveness.fill(Some(liveness));
        let found = variable_operations(&report, &steps).expect("operations");
        let names: Vec<_> =
            found.operations.iter().map(|operation| operation.name.as_deref().unwrap()).collect();
        assert_eq!(names, ["a", "b", "c"], "those of steps keep their places");
        let liveness = report.liveness.get().expect("liveness");
        let of = |variable, class| {
            let found = found.of(liveness, &fixture::variable_bytes((variable, class, 1)));
            found.map(|(operation, by)| (names[operation as usize], by))
        };
        assert_eq!(
            of(10, 0),
            Some(("c", FoundBy::Contexts)),
            "a context of no operation is passed"
        );
        assert_eq!(of(11, 1), Some(("a", FoundBy::Life)), "a step of no operation is passed");
        assert_eq!(of(11, 3), Some(("b", FoundBy::Life)));
        assert_eq!(of(11, 2), None, "it lives in two");
        assert_eq!((of(11, 0), of(11, 4), of(11, 77)), (None, None, None));
        assert_eq!(of(12, 2), Some(("c", FoundBy::Original)));
        assert_eq!(of(13, 1), Some(("b", FoundBy::Contexts)), "its own come first");
        assert_eq!((of(15, 0), of(15, 1)), (None, Some(("a", FoundBy::Life))));
        assert_eq!((of(18, 0), of(99, 0), of(99, 3)), (None, None, Some(("b", FoundBy::Life))));
        assert_eq!(variable_operations(&Report::default(), &steps), None);
    }

    proptest! {
        #[test]
        fn a_life_is_that_of_a_search(
            of_step in proptest::collection::vec(proptest::option::of(0..3_u32), 0..30),
            cuts in proptest::collection::vec(
                proptest::collection::vec((0..32_u32, 0..8_u32), 0..3), 1..8),
        ) {
            let ranges: Vec<Vec<(u32, u32)>> = cuts
                .iter()
                .map(|cuts| cuts.iter().map(|(start, length)| (*start, start + length)).collect())
                .collect();
            let found = by_life(&classes(&ranges), &of_step);
            for (class, ranges) in ranges.iter().enumerate() {
                let steps = ranges.iter().flat_map(|(start, end)| *start..*end);
                let of_steps = steps.filter_map(|step| *of_step.get(step as usize)?);
                let expected = if class == 0 { None } else { only_one(of_steps) };
                prop_assert_eq!(found[class], expected);
            }
        }
    }
}
