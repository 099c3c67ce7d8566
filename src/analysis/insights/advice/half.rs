//! Variables in half precision: those that are alive on the tiles that are over and that Poplar calls `float`.
//!
//! Poplar's own debug context of a variable says its type and shape (formats/poplar.md 3.1). A variable whose contexts
//! do not agree, or that has none, is left as it is; what is copied of one, `<message:X>` and `<rearrangement:X>`, has its type.

use std::collections::{HashMap, HashSet};

use super::how;
use super::{Advice, Candidate, Context, Evidence, MOST_EVIDENCE, Technique};
use crate::analysis::insights::timeline::AliveRow;
use crate::analysis::liveness::variable_name;
use crate::analysis::program::variable_operations::original;
use crate::progress::Progress;
use crate::store::context_details::{ContextDetails, Value};
use crate::store::{Report, UnloweredId};

/// Variables whose contexts are read, largest first: each is a place in a file.
const MOST_READ: usize = 500;

/// The type that halves, as Poplar writes it.
const SINGLE_PRECISION: &str = "float";

/// The advice; `None` where nothing may be read, or no variable is said to be of single precision.
pub fn candidate<'a>(context: &Context<'a>) -> Option<Candidate<'a>> {
    let (pressure, report) = (context.pressure, context.report);
    let liveness = pressure.liveness();
    let shapes = shapes_of_single(context, context.of_tiles.reading?);
    let name = move |variable| variable_name(liveness, variable);
    let rows = pressure.alive.iter();
    let rows = rows.filter_map(|row| Some((row, shapes.get(&row.alive.variable)?.as_deref()?)));
    let evidence = rows.take(MOST_EVIDENCE).map(|(row, shape)| {
        let name = name(row.alive.variable);
        Evidence::new(format!("{name}, float32 {shape}"))
            .bytes(row.most.0)
            .at(report, &row.most.1, row.step)
            .variable(&name)
    });
    let evidence: Vec<Evidence> = evidence.collect();
    if evidence.is_empty() {
        return None;
    }
    // A name that another variable has as well says nothing of what is copied.
    let named = |is_single: bool| -> HashSet<String> {
        let of = shapes.iter().filter(|(_, shape)| shape.is_some() == is_single);
        of.map(|(variable, _)| name(*variable).into_owned()).collect()
    };
    let copied: HashSet<String> = named(true).difference(&named(false)).cloned().collect();
    let single: HashSet<UnloweredId> =
        shapes.iter().filter(|(_, shape)| shape.is_some()).map(|(variable, _)| *variable).collect();
    let is_single = move |row: &AliveRow| {
        single.contains(&row.variable)
            || original(&name(row.variable)).is_some_and(|of| copied.contains(of))
    };
    let advice = Advice {
        what: "Keep the large variables of single precision in half precision".to_owned(),
        how: how::half_precision(),
        evidence,
        caution: "Accuracy: training wants stochastic rounding and a loss scale",
        ..Advice::of(Technique::HalfPrecision)
    };
    let basis =
        "half of the variables that debug contexts call float, and of what is copied of them";
    Some(Candidate::at_best(advice, basis, is_single, |bytes| bytes.div_ceil(2)))
}

/// The shapes of the largest variables of single precision, and `None` for those of another type, or of several.
/// Variables of which no type is known are absent.
fn shapes_of_single(
    context: &Context<'_>,
    progress: &Progress,
) -> HashMap<UnloweredId, Option<String>> {
    let mut shapes = HashMap::new();
    let variables = context.pressure.alive.iter().map(|row| row.alive.variable);
    for variable in variables {
        if shapes.len() >= MOST_READ || progress.is_cancelled() {
            break;
        }
        if !shapes.contains_key(&variable) {
            shapes.insert(variable, shape_of_single(context.report, variable, progress));
        }
    }
    shapes.into_iter().filter_map(|(variable, shape)| Some((variable, shape?))).collect()
}

/// The shape of a variable of single precision; `Some(None)` for another type, `None` where none is known.
fn shape_of_single(
    report: &Report,
    variable: UnloweredId,
    progress: &Progress,
) -> Option<Option<String>> {
    let (liveness, debug) = (report.liveness.get()?, report.debug.get()?);
    let ids = liveness.debug_ids_of(liveness.variable_ids.position(variable)?);
    let mut found: Option<Option<String>> = None;
    for id in ids {
        let Some(row) = debug.position(*id) else { continue };
        let Some(details) = report.read_context(row, progress).ok().flatten() else { continue };
        let Some(shape) = of_variable(&details) else { continue };
        found = Some(match found {
            None => shape,
            Some(known) => known.filter(|_| shape.is_some()),
        });
    }
    found
}

/// The same of a context; `None` of one that is not of a variable.
fn of_variable(details: &ContextDetails) -> Option<Option<String>> {
    let text = |key| match details.get(key) {
        Some(Value::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    if text("category") != Some("var") {
        return None;
    }
    let shape = || match details.get("shape") {
        Some(Value::List(sizes)) => {
            let size = |size: &Value| match size {
                Value::Integer(size) => size.to_string(),
                _ => "?".to_owned(),
            };
            format!("[{}]", sizes.iter().map(size).collect::<Vec<_>>().join(", "))
        }
        _ => String::new(),
    };
    Some((text("type")? == SINGLE_PRECISION).then(shape))
}
