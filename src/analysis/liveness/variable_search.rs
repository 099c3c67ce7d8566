//! The search for variables before lowering by a part of their names, whatever its case.
//!
//! The name itself comes first, then names that begin with it, then the others; the shorter before the longer.

use std::collections::BTreeSet;

use crate::store::Report;

/// Names that have a text in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundVariables {
    /// The first of them, each once.
    pub names: Vec<String>,
    /// How many there are in all.
    pub count: usize,
}

/// The variables of some reports by a part of their names, at most so many of them.
pub fn find_variables(
    reports: &[&Report],
    text: &str,
    most: usize,
    is_cancelled: &dyn Fn() -> bool,
) -> FoundVariables {
    let wanted = text.to_lowercase();
    let mut found: BTreeSet<(u8, usize, &str)> = BTreeSet::new();
    for liveness in reports.iter().filter_map(|report| report.liveness.get()) {
        for (place, name) in liveness.variable_names.iter().enumerate() {
            if place.is_multiple_of(4096) && is_cancelled() {
                return FoundVariables::default();
            }
            if let Some(rank) = rank(name, &wanted) {
                found.insert((rank, name.len(), name));
            }
        }
    }
    let count = found.len();
    let names = found.into_iter().take(most).map(|(_, _, name)| name.to_owned()).collect();
    FoundVariables { names, count }
}

/// How near a name comes to a text in lower case, the nearest first; `None` where it does not have it.
pub(in crate::analysis) fn rank(name: &str, wanted: &str) -> Option<u8> {
    let lower = name.to_lowercase();
    Some(match lower.find(wanted)? {
        0 if lower.len() == wanted.len() => 0,
        0 => 1,
        _ => 2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::liveness::Liveness;

    #[test]
    fn names_are_found_by_a_part_the_nearest_first_and_each_once() {
        let report = |names: &[&str]| {
            let mut liveness = Liveness::default();
            for name in names {
                liveness.variable_names.push(name);
            }
            let report = Report::default();
            report.liveness.fill(Some(liveness));
            report
        };
        let reports =
            [report(&["a/Conv1", "conv1/weights", "other", "a/Conv1"]), report(&["conv1", "b"])];
        let reports: Vec<&Report> = reports.iter().collect();
        let find = |text: &str, most| find_variables(&reports, text, most, &|| false);
        assert_eq!(find("CONV1", 9).names, ["conv1", "conv1/weights", "a/Conv1"]);
        let first = find("conv1", 2);
        assert_eq!((first.names.len(), first.count), (2, 3));
        assert_eq!(find("absent", 9), FoundVariables::default());
        assert_eq!(find_variables(&[&Report::default()], "a", 9, &|| false).count, 0);
        assert_eq!(find_variables(&reports, "conv1", 9, &|| true).count, 0, "nobody waits");
    }
}
