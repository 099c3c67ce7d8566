//! Variables in half precision: those that are alive on the tiles that are over and that Poplar calls `float`.
//!
//! Poplar's own debug context of a variable says its type and shape (formats/poplar.md 3.1). A variable whose contexts
//! do not agree, or that has none, is left as it is; what is copied of one, `<message:X>` and `<rearrangement:X>`, has its type.

use std::collections::{HashMap, HashSet};

use super::how;
use super::{AdviceContext, Candidate, IpuTechnique, MOST_EVIDENCE, advice_of};
use crate::analysis::liveness::variable_name;
use crate::analysis::program::variable_operations::original;
use crate::progress::Progress;
use crate::run::{Advice, Evidence};
use crate::store::context_details::{ContextDetails, DetailValue};
use crate::store::{Report, UnloweredId};
use crate::systems::poplar::insights::timeline::AliveRow;

/// Contexts that are read, of the largest variables first: each is a place in a file.
const MOST_READ: usize = 500;

/// The type that halves, as Poplar writes it.
const SINGLE_PRECISION: &str = "float";

/// The advice; `None` where nothing may be read, or no variable is said to be of single precision.
pub fn candidate<'a>(context: &AdviceContext<'a>) -> Option<Candidate<'a>> {
    let (pressure, report) = (context.pressure, context.report);
    let liveness = pressure.liveness();
    let elements = elements_of_largest(context, context.of_tiles.reading?);
    let name = move |variable| variable_name(liveness, variable);
    let rows = pressure.alive.iter();
    let rows = rows.filter_map(|row| Some((row, elements.get(&row.alive.variable)?.shape()?)));
    let evidence = rows.take(MOST_EVIDENCE).map(|(row, shape)| {
        let name = name(row.alive.variable);
        Evidence::new(format!("{name}, float32 {shape}"))
            .bytes(row.most.0)
            .alive_at(report, &row.most.1, row.step)
            .of_variable(&name)
    });
    let evidence: Vec<Evidence> = evidence.collect();
    if evidence.is_empty() {
        return None;
    }
    // A name that another variable has as well says nothing of what is copied.
    let named = |is_single: bool| -> HashSet<String> {
        let of = elements.iter().filter(|(_, known)| known.shape().is_some() == is_single);
        of.map(|(variable, _)| name(*variable).into_owned()).collect()
    };
    let copied: HashSet<String> = named(true).difference(&named(false)).cloned().collect();
    let single = elements.iter().filter(|(_, known)| known.shape().is_some());
    let single: HashSet<UnloweredId> = single.map(|(variable, _)| *variable).collect();
    let is_single = move |row: &AliveRow| {
        single.contains(&row.variable)
            || original(&name(row.variable)).is_some_and(|of| copied.contains(of))
    };
    let advice = Advice {
        text: "Keep large single-precision variables in half precision".to_owned(),
        how: how::half_precision(),
        evidence,
        caution: "Accuracy may suffer: training needs stochastic rounding and a loss scale",
        ..advice_of(IpuTechnique::HalfPrecision)
    };
    let basis = "half of the variables that debug contexts call float, and of their copies";
    Some(Candidate::at_best(advice, basis, is_single, |bytes| bytes.div_ceil(2)))
}

/// What contexts say of a variable's elements.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Elements {
    /// They are of single precision; the shape as text.
    Single(String),
    /// They are of another type, or contexts do not agree.
    Other,
}

impl Elements {
    fn shape(&self) -> Option<&str> {
        match self {
            Self::Single(shape) => Some(shape),
            Self::Other => None,
        }
    }
}

/// The elements of the largest variables; those of which no type is known are absent.
fn elements_of_largest(
    context: &AdviceContext<'_>,
    progress: &Progress,
) -> HashMap<UnloweredId, Elements> {
    let mut looked_at = HashSet::new();
    let (mut found, mut left) = (HashMap::new(), MOST_READ);
    for variable in context.pressure.alive.iter().map(|row| row.alive.variable) {
        if left == 0 || progress.is_cancelled() {
            break;
        }
        if looked_at.insert(variable)
            && let Some(elements) = elements_of(context.report, variable, &mut left, progress)
        {
            found.insert(variable, elements);
        }
    }
    found
}

/// The elements of a variable; `None` where no context says their type. `left` is how many contexts may still be read;
/// of a variable of which some may not, nothing is known.
fn elements_of(
    report: &Report,
    variable: UnloweredId,
    left: &mut usize,
    progress: &Progress,
) -> Option<Elements> {
    let (liveness, debug) = (report.liveness.get()?, report.debug.get()?);
    let ids = liveness.debug_ids_of(liveness.variable_ids.position(variable)?);
    let mut found: Option<Elements> = None;
    for id in ids {
        let Some(row) = debug.position(*id) else { continue };
        if progress.is_cancelled() {
            return None;
        }
        *left = left.checked_sub(1)?;
        let Some(details) = report.read_context(row, progress).ok().flatten() else { continue };
        match of_context(&details) {
            None => {}
            // Whatever the others say.
            Some(Elements::Other) => return Some(Elements::Other),
            Some(single) => drop(found.get_or_insert(single)),
        }
    }
    found
}

/// The same of a context; `None` of one that is not of a variable.
fn of_context(details: &ContextDetails) -> Option<Elements> {
    let text = |key| match details.get(key) {
        Some(DetailValue::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    if text("category") != Some("var") {
        return None;
    }
    if text("type")? != SINGLE_PRECISION {
        return Some(Elements::Other);
    }
    let Some(DetailValue::List(sizes)) = details.get("shape") else {
        return Some(Elements::Single(String::new()));
    };
    let size = |size: &DetailValue| match size {
        DetailValue::Integer(size) => size.to_string(),
        _ => "?".to_owned(),
    };
    let sizes: Vec<String> = sizes.iter().map(size).collect();
    Some(Elements::Single(format!("[{}]", sizes.join(", "))))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::analysis::fixture;
    use crate::store::context_details::ReadContext;
    use crate::store::liveness::Liveness;
    use crate::store::placed::ReadError;

    /// Contexts of single precision, but for some ids.
    #[derive(Debug)]
    struct Contexts {
        halves: &'static [u64],
        read: Arc<AtomicUsize>,
    }

    impl ReadContext for Contexts {
        fn read(&self, id: u64, _: u64, _: &Progress) -> Result<ContextDetails, ReadError> {
            self.read.fetch_add(1, Ordering::Relaxed);
            let of_type = if self.halves.contains(&id) { "half" } else { "float" };
            let text = |text: &str| DetailValue::Text(text.to_owned());
            let entries = [("category", text("var")), ("type", text(of_type))];
            let entries = entries.map(|(key, value)| (key.to_owned(), value)).to_vec();
            Ok(ContextDetails { entries, is_cut: false })
        }
    }

    #[test]
    fn no_more_contexts_are_read_than_may_be_and_none_once_they_do_not_agree() {
        let read = Arc::new(AtomicUsize::new(0));
        let report = Report::default();
        report.debug.fill(Some(fixture::contexts([("", "a"); 40])));
        let mut liveness = Liveness::default();
        fixture::name_variables(&mut liveness, &["agree", "differ"]);
        liveness.debug_ids = (1..=40).collect();
        liveness.debug_id_ends = vec![30, 40];
        report.liveness.fill(Some(liveness));
        report.set_context_reader(Box::new(Contexts { halves: &[33], read: Arc::clone(&read) }));
        let elements = |variable, mut left: usize, progress: &Progress| {
            read.store(0, Ordering::Relaxed);
            let found = elements_of(&report, UnloweredId(variable), &mut left, progress);
            (found, read.load(Ordering::Relaxed), left)
        };
        let single = Some(Elements::Single(String::new()));
        let progress = Progress::default();
        assert_eq!(elements(0, 31, &progress), (single, 30, 1));
        assert_eq!(elements(0, 12, &progress), (None, 12, 0), "not all may be read");
        assert_eq!(elements(1, 31, &progress), (Some(Elements::Other), 3, 28), "31, 32, 33");
        assert_eq!(elements(0, 31, &Progress::asking(|| true)), (None, 0, 31), "cancelled");
    }

    #[test]
    fn a_context_of_a_variable_says_its_type_and_shape() {
        let of = |entries: &[(&str, DetailValue)]| {
            let entries = entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
            of_context(&ContextDetails { entries: entries.collect(), is_cut: false })
        };
        let text = |text: &str| DetailValue::Text(text.to_owned());
        let shape = DetailValue::List(vec![DetailValue::Integer(3), DetailValue::Integer(4)]);
        let single = [("category", text("var")), ("type", text("float")), ("shape", shape)];
        assert_eq!(of(&single), Some(Elements::Single("[3, 4]".to_owned())));
        assert_eq!(of(&[("category", text("var")), ("type", text("half"))]), Some(Elements::Other));
        assert_eq!(of(&[("category", text("var"))]), None, "no type");
        assert_eq!(of(&[("category", text("program")), ("type", text("float"))]), None);
    }
}
