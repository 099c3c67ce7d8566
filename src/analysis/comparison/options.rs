//! What two reports were made with that is not the same: versions, the machine, engine and target
//! options, side files, and the values of `availableMemoryProportion`.

use std::collections::{HashMap, HashSet};

use crate::store::Report;

use crate::analysis::program::operations::{ProportionCount, proportions};
use crate::analysis::program::report_options::{OptionKind, texts};

/// An option whose values differ; `None` where a report does not have it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OptionDifference {
    /// Where it stands.
    pub kind: OptionKind,
    /// Its name; of a proportion the kind of operation.
    pub name: String,
    /// Its value in the source.
    pub source: Option<String>,
    /// Its value in the target.
    pub target: Option<String>,
}

/// All options that differ, those that plans depend on first.
pub fn options(source: &Report, target: &Report) -> Vec<OptionDifference> {
    let [source, target] = [source, target].map(all_options);
    let values = |side: &[Known]| -> HashMap<(OptionKind, String), String> {
        side.iter().map(|known| ((known.kind, known.name.clone()), known.value.clone())).collect()
    };
    let [in_source, in_target] = [&source, &target].map(|side| values(side));
    let mut seen = HashSet::new();
    let all = source.iter().chain(&target).map(|known| (known.kind, known.name.clone()));
    let mut differences: Vec<OptionDifference> = all
        .filter(|key| seen.insert(key.clone()))
        .map(|key| {
            let [source, target] = [&in_source, &in_target].map(|side| side.get(&key).cloned());
            OptionDifference { kind: key.0, name: key.1, source, target }
        })
        .filter(|difference| difference.source != difference.target)
        .collect();
    differences.sort_by_key(|difference| difference.kind);
    differences
}

/// An option of one report.
struct Known {
    kind: OptionKind,
    name: String,
    value: String,
}

fn all_options(report: &Report) -> Vec<Known> {
    let mut all = proportions_by_kind(report);
    all.extend(texts(report).into_iter().map(|(kind, name, value)| Known { kind, name, value }));
    all
}

/// For each kind of operation its values; how often each is set only where there are several.
fn proportions_by_kind(report: &Report) -> Vec<Known> {
    let known = report.debug.get().zip(report.programs.get());
    let mut rows = known.map(|(debug, programs)| proportions(debug, programs)).unwrap_or_default();
    rows.sort_by(|a, b| {
        a.operation
            .cmp(&b.operation)
            .then(a.value.partial_cmp(&b.value).unwrap_or(std::cmp::Ordering::Equal))
    });
    let of_kind = rows.chunk_by(|a, b| a.operation == b.operation);
    of_kind
        .filter_map(|rows| {
            let operation = rows.first()?.operation.clone();
            Some(Known {
                kind: OptionKind::AvailableMemoryProportion,
                name: operation.unwrap_or_else(|| "not known".to_owned()),
                value: values(rows),
            })
        })
        .collect()
}

fn values(rows: &[ProportionCount]) -> String {
    let value = |row: &ProportionCount| {
        row.value.as_ref().map_or_else(|| "not a number".to_owned(), f64::to_string)
    };
    match rows {
        [one] => value(one),
        _ => {
            let times = |row: &ProportionCount| format!("{} × {}", value(row), row.count);
            rows.iter().map(times).collect::<Vec<String>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::options::{About, EngineOption, SideFact};
    use crate::store::target::Target;

    fn report(version: &str, engine: &[(&str, &str)], app: &[(&str, &str)], tiles: u64) -> Report {
        let option = |(name, value): &(&str, &str)| EngineOption {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
            is_default: Some(false),
        };
        let fact = |(path, value): &(&str, &str)| SideFact {
            path: (*path).to_owned(),
            value: (*value).to_owned(),
        };
        let report = Report::default();
        report.about.fill(Some(About {
            poplar_version: Some(version.to_owned()),
            engine_options: engine.iter().map(option).collect(),
            app: app.iter().map(fact).collect(),
            ..About::default()
        }));
        report.target.fill(Some(Target { tiles: Some(tiles), ..Target::default() }));
        report
    }

    #[test]
    fn only_what_differs_is_listed() {
        let source =
            report("3.3.0", &[("a", "1"), ("b", "2"), ("only", "x")], &[("batch", "8")], 1472);
        let target =
            report("3.3.0", &[("b", "3"), ("a", "1")], &[("batch", "8"), ("new", "1")], 16);
        let found = options(&source, &target);
        let found: Vec<_> = found
            .iter()
            .map(|row| (row.kind, &*row.name, row.source.as_deref(), row.target.as_deref()))
            .collect();
        let expected = [
            (OptionKind::Target, "tiles", Some("1472"), Some("16")),
            (OptionKind::EngineOption, "b", Some("2"), Some("3")),
            (OptionKind::EngineOption, "only", Some("x"), None),
            (OptionKind::App, "new", None, Some("1")),
        ];
        assert_eq!(found, expected);
        assert!(options(&source, &source).is_empty());
        assert!(options(&Report::default(), &Report::default()).is_empty());
    }

    #[test]
    fn several_values_say_how_often_each_is_set() {
        let row = |value, count| ProportionCount { operation: None, value, count };
        assert_eq!(values(&[row(Some(0.6), 53)]), "0.6");
        let several = [row(None, 1), row(Some(0.2), 2), row(Some(0.6), 53)];
        assert_eq!(values(&several), "not a number × 1, 0.2 × 2, 0.6 × 53");
    }
}
