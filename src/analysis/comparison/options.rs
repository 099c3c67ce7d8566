//! The settings of reports side by side, and those that differ: versions, the machine, engine and target options, side
//! files, and the values of `availableMemoryProportion`.
//!
//! Values belong together by name, of several of one name the first with the first.

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use crate::analysis::figures::joined::side_by_side;
use crate::analysis::program::operations::{PROPORTION, ProportionCount, proportions};
use crate::analysis::program::report_options::{OptionKind, texts};
use crate::store::Report;
use crate::store::options::{EngineOption, SideFact};
use crate::text::clean;

/// A value of each report; `None` where a report does not have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedValues {
    pub name: String,
    pub values: Vec<Option<String>>,
    /// Whether it has not been set, as the first report that has it says.
    pub is_default: Option<bool>,
}

impl NamedValues {
    /// Whether the values are not all the same.
    pub fn differs(&self) -> bool {
        self.values.windows(2).any(|pair| pair.first() != pair.last())
    }
}

/// Options of each report: first those that differ, of one report those that were set; else in the order
/// of the first.
pub fn options(lists: &[&[EngineOption]]) -> Vec<NamedValues> {
    fn cells(option: &EngineOption) -> NamedValue<'_> {
        (&option.name, &option.value, option.is_default)
    }
    named_values(lists.iter().map(|list| list.iter().map(cells).collect()).collect())
}

/// Values of a side file of each report, in the same order.
pub fn side_facts(lists: &[&[SideFact]]) -> Vec<NamedValues> {
    fn cells(fact: &SideFact) -> NamedValue<'_> {
        (&fact.path, &fact.value, None)
    }
    named_values(lists.iter().map(|list| list.iter().map(cells).collect()).collect())
}

type NamedValue<'a> = (&'a str, &'a str, Option<bool>);

fn named_values<'a>(lists: Vec<Vec<NamedValue<'a>>>) -> Vec<NamedValues> {
    let is_alone = lists.len() == 1;
    let keyed = |list: Vec<NamedValue<'a>>| list.into_iter().map(|row| (row.0, row)).collect();
    let row = |row: Vec<Option<NamedValue<'_>>>| {
        let (name, _, is_default) = *row.iter().flatten().next()?;
        let values = row.iter().map(|cell| cell.map(|(_, value, _)| value.to_owned())).collect();
        Some(NamedValues { name: name.to_owned(), values, is_default })
    };
    let rows = side_by_side(lists.into_iter().map(keyed).collect());
    let mut rows: Vec<NamedValues> = rows.into_iter().filter_map(row).collect();
    rows.sort_by_key(|row| !(row.differs() || is_alone && row.is_default == Some(false)));
    rows
}

/// An option whose values differ; `None` where a run does not have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionDifference {
    pub kind: OptionKind,
    /// Its name; of a proportion the kind of operation.
    pub name: String,
    pub values: Vec<Option<String>>,
}

impl OptionDifference {
    /// What it is called beside others: `availableMemoryProportion of convolution`.
    pub fn title(&self) -> String {
        match self.kind {
            OptionKind::AvailableMemoryProportion => format!("{PROPORTION} of {}", self.name),
            OptionKind::Version => format!("Version of {}", self.name),
            _ => self.name.clone(),
        }
    }

    /// The value of a run.
    pub fn value(&self, run: usize) -> Option<&str> {
        self.values.get(run)?.as_deref()
    }

    /// The values of source and target as words of a sentence.
    pub fn said(&self) -> [String; 2] {
        [0, 1].map(|run| match self.value(run) {
            None => "not said".to_owned(),
            Some("") => "none".to_owned(),
            Some(value) => clean(value).into_owned(),
        })
    }
}

impl Serialize for OptionDifference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("OptionDifference", 4)?;
        object.serialize_field("kind", &self.kind)?;
        object.serialize_field("name", &self.name)?;
        object.serialize_field("source", &self.value(0))?;
        object.serialize_field("target", &self.value(1))?;
        object.end()
    }
}

/// An option of one run, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionText {
    pub kind: OptionKind,
    /// Its name; of a proportion the kind of operation.
    pub name: String,
    pub value: String,
}

impl OptionText {
    /// All that a report was made with, as it says.
    pub fn all(report: &Report) -> Vec<Self> {
        let mut all = proportions_by_kind(report);
        all.extend(texts(report).into_iter().map(|(kind, name, value)| Self { kind, name, value }));
        all
    }

    /// Names and values of one kind.
    pub fn of_kind(kind: OptionKind, list: &[(String, String)]) -> Vec<Self> {
        let text = |(name, value): &(String, String)| {
            let (name, value) = (name.clone(), value.clone());
            Self { kind, name, value }
        };
        list.iter().map(text).collect()
    }

    /// All that differ between runs, those that plans depend on first.
    pub fn that_differ(runs: Vec<Vec<Self>>) -> Vec<OptionDifference> {
        let keyed = |text: Self| ((text.kind, text.name.clone()), text);
        let lists = runs.into_iter().map(|run| run.into_iter().map(keyed).collect());
        let difference = |row: Vec<Option<Self>>| {
            let first = row.iter().flatten().next()?;
            let (kind, name) = (first.kind, first.name.clone());
            let values: Vec<_> = row.into_iter().map(|text| Some(text?.value)).collect();
            let is_same = values.windows(2).all(|pair| pair.first() == pair.last());
            (!is_same).then_some(OptionDifference { kind, name, values })
        };
        let rows = side_by_side(lists.collect());
        let mut differences: Vec<_> = rows.into_iter().filter_map(difference).collect();
        differences.sort_by_key(|difference| difference.kind);
        differences
    }
}

/// All options of reports that differ, those that plans depend on first.
pub fn options_that_differ(reports: &[&Report]) -> Vec<OptionDifference> {
    OptionText::that_differ(reports.iter().map(|report| OptionText::all(report)).collect())
}

/// For each kind of operation its values; how often each is set only where there are several.
fn proportions_by_kind(report: &Report) -> Vec<OptionText> {
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
            Some(OptionText {
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
    use crate::analysis::fixture::side_facts;
    use crate::store::options::{About, EngineOption};
    use crate::store::target::Target;

    fn report(version: &str, engine: &[(&str, &str)], app: &[(&str, &str)], tiles: u64) -> Report {
        let option = |(name, value): &(&str, &str)| EngineOption {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
            is_default: Some(false),
        };
        let report = Report::default();
        report.about.fill(Some(About {
            producer_version: Some(version.to_owned()),
            engine_options: engine.iter().map(option).collect(),
            app: side_facts(app),
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
        let found = options_that_differ(&[&source, &target]);
        let found: Vec<_> = found
            .iter()
            .map(|row| (row.kind, &*row.name, row.values[0].as_deref(), row.values[1].as_deref()))
            .collect();
        let expected = [
            (OptionKind::Target, "tiles", Some("1472"), Some("16")),
            (OptionKind::EngineOption, "b", Some("2"), Some("3")),
            (OptionKind::EngineOption, "only", Some("x"), None),
            (OptionKind::App, "new", None, Some("1")),
        ];
        assert_eq!(found, expected);
        assert!(options_that_differ(&[&source, &source, &source]).is_empty());
        assert!(options_that_differ(&[&Report::default(), &Report::default()]).is_empty());
    }

    #[test]
    fn what_differs_comes_first_and_of_one_report_what_was_set() {
        let list = |options: &[(&str, &str)]| -> Vec<EngineOption> {
            let option = |(name, value): &(&str, &str)| EngineOption {
                name: (*name).to_owned(),
                value: (*value).to_owned(),
                is_default: Some(*name != "c"),
            };
            options.iter().map(option).collect()
        };
        let first = list(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "")]);
        let second = list(&[("c", "4"), ("a", "1"), ("new", "x"), ("d", "")]);
        let found = options(&[&first, &second]);
        let values = |row: &NamedValues| {
            let value = |place: usize| row.values[place].clone();
            (row.name.clone(), value(0), value(1), row.differs())
        };
        let text = |text: &str| Some(text.to_owned());
        let expected = [
            ("b".to_owned(), text("2"), None, true),
            ("c".to_owned(), text("3"), text("4"), true),
            ("new".to_owned(), None, text("x"), true),
            ("a".to_owned(), text("1"), text("1"), false),
            ("d".to_owned(), text(""), text(""), false),
        ];
        assert_eq!(found.iter().map(values).collect::<Vec<_>>(), expected);
        let alone = options(&[&first]);
        let names: Vec<&str> = alone.iter().map(|row| &*row.name).collect();
        assert_eq!(names, ["c", "a", "b", "d"]);
    }

    #[test]
    fn several_values_say_how_often_each_is_set() {
        let row = |value, count| ProportionCount { operation: None, value, count };
        assert_eq!(values(&[row(Some(0.6), 53)]), "0.6");
        let several = [row(None, 1), row(Some(0.2), 2), row(Some(0.6), 53)];
        assert_eq!(values(&several), "not a number × 1, 0.2 × 2, 0.6 × 53");
    }
}
