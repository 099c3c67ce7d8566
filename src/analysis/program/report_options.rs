//! The settings of a report: options, versions, machine, side files, proportions; each with a name and a value that
//! compares as a number where it is one.
//!
//! A text is a number when it reads as one: an integer of 64 bits exactly, `0.60` as 0.6, `16.0` as 16.
//! Texts of versions stay texts (3.10 is not 3.1), and so do integers of more bits. The proportions of a
//! kind of operation are one number, or the list of all that occur.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

use crate::analysis::natural;
use crate::store::Report;
use crate::store::options::{EngineOption, SideFact};
use crate::store::target::Target;

use crate::analysis::program::operations;
use crate::text::words;

/// What the version of the form of files is of.
const FORMAT: &str = "format";

words! {
    /// Where an option stands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum OptionKind by key {
        /// `availableMemoryProportion` in the debug contexts, by kind of operation.
        AvailableMemoryProportion = "available_memory_proportion",
        /// Versions of Poplar and of the report's format.
        Version = "version",
        /// The machine.
        Target = "target",
        /// An option of the compilation.
        EngineOption = "engine_option",
        /// An option of the runs, where it is not that of the compilation.
        ExecutionOption = "execution_option",
        /// An option of the machine.
        TargetOption = "target_option",
        /// `app.json`.
        App = "app",
        /// `framework.json`.
        Framework = "framework",
        /// A setting of the run that has no list of its own.
        Setting = "setting",
        /// A flag of the compiler.
        Flag = "flag",
        /// Where the report lies.
        Directory = "directory",
    }
}

impl OptionKind {
    /// What its options' ids begin with.
    fn prefix(self) -> &'static str {
        match self {
            Self::AvailableMemoryProportion => "availableMemoryProportion.",
            Self::App => "app.",
            Self::EngineOption => "engine.",
            Self::ExecutionOption => "execution.",
            Self::TargetOption => "target_option.",
            Self::Target => "target.",
            Self::Framework => "framework.",
            Self::Version => "version.",
            Self::Setting | Self::Flag => "setting.",
            Self::Directory => "",
        }
    }

    /// Whether a report that has other options of this kind, and not the one in question, says by that
    /// that it is made without it. Poplar lists all of its options, so there it only means another
    /// version.
    pub fn absence_counts(self) -> bool {
        matches!(
            self,
            Self::AvailableMemoryProportion | Self::App | Self::Framework | Self::Setting
        )
    }
}

/// An option of one report.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ReportOption {
    pub kind: OptionKind,
    /// Its name; of a proportion the kind of operation, of side files the path with ` / `.
    pub name: String,
    pub value: OptionValue,
}

impl ReportOption {
    /// Settings of a run, by name, each once.
    pub fn settings(list: &[(String, String)]) -> Vec<Self> {
        let setting = |(name, value): &(String, String)| Self {
            kind: OptionKind::Setting,
            name: name.clone(),
            value: OptionValue::parse(value),
        };
        let mut settings: Vec<Self> = list.iter().map(setting).collect();
        settings.sort_by(|a, b| a.name.cmp(&b.name));
        settings.dedup_by(|a, b| a.name == b.name);
        settings
    }
}

/// The name of an option among those of all kinds, without spaces around the parts of a path:
/// `app.training.batch_size`, `availableMemoryProportion.convolution`.
pub fn id(kind: OptionKind, name: &str) -> String {
    format!("{}{}", kind.prefix(), name.replace(" / ", "."))
}

/// The short name of an option, as it stands in a table: the last part of a path, and for proportions
/// that they are.
pub fn short_name(kind: OptionKind, name: &str) -> Cow<'_, str> {
    match kind {
        OptionKind::AvailableMemoryProportion => operations::PROPORTION.into(),
        OptionKind::App | OptionKind::Framework => last_part(name).into(),
        OptionKind::Version => format!("{name} version").into(),
        _ => name.into(),
    }
}

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum OptionValue {
    Integer(i64),
    /// Another number; finite.
    Number(f64),
    /// Anything else.
    Text(String),
    /// Several values, ascending.
    List(Vec<OptionValue>),
}

impl OptionValue {
    /// The value that a text stands for.
    pub fn parse(text: &str) -> Self {
        let trimmed = text.trim();
        if let Ok(integer) = trimmed.parse() {
            return Self::Integer(integer);
        }
        // A longer integer would lose its last digits as a float.
        let is_integer = !trimmed.contains(['.', 'e', 'E']);
        match trimmed.parse::<f64>() {
            Ok(number) if number.is_finite() && !is_integer => Self::number(number),
            _ => Self::Text(text.to_owned()),
        }
    }

    /// A finite number; a whole one becomes an integer.
    fn number(number: f64) -> Self {
        // Every whole float from −2⁶³ to 2⁶³ is that integer exactly.
        let end = 9_223_372_036_854_775_808.0;
        if number.fract() == 0.0 && (-end..end).contains(&number) {
            Self::Integer(number as i64)
        } else {
            Self::Number(number)
        }
    }

    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::List(_) => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Integer(_) | Self::Number(_) => 0,
            Self::Text(_) => 1,
            Self::List(_) => 2,
        }
    }
}

impl Ord for OptionValue {
    /// Numbers by their size, then texts in their natural order, then lists.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => natural::compare(a, b),
            (Self::List(a), Self::List(b)) => a.cmp(b),
            _ => match (self.as_f64(), other.as_f64()) {
                // The largest integers are 2⁶³ as floats; the float that is 2⁶³ is larger.
                (Some(a), Some(b)) => a.total_cmp(&b).then_with(|| {
                    let is_float = |value: &Self| matches!(value, Self::Number(_));
                    is_float(self).cmp(&is_float(other))
                }),
                _ => self.rank().cmp(&other.rank()),
            },
        }
    }
}

impl PartialOrd for OptionValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OptionValue {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for OptionValue {}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => integer.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::List(values) => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                f.write_str(&values.join(", "))
            }
        }
    }
}

/// All options of a report, by kind and name, each once. Left out is what follows from others: the
/// version of the format, and where the report was written.
pub fn options(report: &Report) -> Vec<ReportOption> {
    let mut all = proportions(report);
    for (kind, name, text) in texts(report) {
        let is_version = match kind {
            OptionKind::Version if name == FORMAT => continue,
            OptionKind::EngineOption | OptionKind::ExecutionOption
                if name == "autoReport.directory" =>
            {
                continue;
            }
            OptionKind::Version => true,
            OptionKind::App | OptionKind::Framework => {
                last_part(&name).to_lowercase().contains("version")
            }
            _ => false,
        };
        let value = if is_version { OptionValue::Text(text) } else { OptionValue::parse(&text) };
        all.push(ReportOption { kind, name, value });
    }
    all.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    all.dedup_by(|later, first| (later.kind, &later.name) == (first.kind, &first.name));
    all
}

/// Kind, name and value of everything but the proportions, as texts, in the order of the report.
pub fn texts(report: &Report) -> Vec<(OptionKind, String, String)> {
    let mut all = Vec::new();
    let mut add = |kind, name: &str, value: Option<String>| {
        all.extend(value.map(|value| (kind, name.to_owned(), value)));
    };
    let about = report.about.get().cloned().unwrap_or_default();
    add(OptionKind::Version, report.system.producer, about.producer_version);
    add(OptionKind::Version, FORMAT, about.format);
    if let Some(target) = report.target.get() {
        let device = report.system.device.to_lowercase();
        target_facts(target, &device, |name, value| add(OptionKind::Target, name, value));
    }
    let pair = |option: &EngineOption| (option.name.clone(), option.value.clone());
    let compiled: HashSet<(String, String)> = about.engine_options.iter().map(pair).collect();
    let lists: [(OptionKind, &[EngineOption]); 3] = [
        (OptionKind::EngineOption, &about.engine_options),
        (OptionKind::ExecutionOption, &about.execution_options),
        (OptionKind::TargetOption, &about.target_options),
    ];
    for (kind, options) in lists {
        for option in options {
            if kind != OptionKind::ExecutionOption || !compiled.contains(&pair(option)) {
                add(kind, &option.name, Some(option.value.clone()));
            }
        }
    }
    let files: [(OptionKind, &[SideFact]); 2] =
        [(OptionKind::App, &about.app), (OptionKind::Framework, &about.framework)];
    for (kind, facts) in files {
        for fact in facts {
            add(kind, &fact.path, Some(fact.value.clone()));
        }
    }
    all
}

/// The last part of a path in a side file.
pub fn last_part(path: &str) -> &str {
    path.rsplit(" / ").next().unwrap_or(path)
}

fn target_facts(target: &Target, device: &str, mut add: impl FnMut(&str, Option<String>)) {
    let text = |number: Option<u64>| number.as_ref().map(ToString::to_string);
    add("kind", target.kind.clone());
    add("architecture", target.architecture.clone());
    add(&format!("{device}s"), text(target.devices));
    add("replicas", text(target.replicas));
    add("tiles", text(target.tiles));
    add(&format!("tiles_per_{device}"), text(target.tiles_per_device));
    add("bytes_per_tile", text(target.bytes_per_tile));
    add("clock_hz", text(target.clock_hz));
    add("compute_instrumentation", target.compute_instrumentation.clone());
    let external = target.external_exchange_instrumentation.as_ref().map(ToString::to_string);
    add("external_exchange_instrumentation", external);
}

/// For each kind of operation its value, or its values.
fn proportions(report: &Report) -> Vec<ReportOption> {
    let Some((debug, programs)) = report.debug.get().zip(report.programs.get()) else {
        return Vec::new();
    };
    let mut by_operation: BTreeMap<String, Vec<OptionValue>> = BTreeMap::new();
    for row in operations::proportions(debug, programs) {
        let value = match row.value {
            Some(value) if value.is_finite() => OptionValue::number(value),
            _ => OptionValue::Text("not a number".to_owned()),
        };
        let operation = row.operation.unwrap_or_else(|| "unknown".to_owned());
        by_operation.entry(operation).or_default().push(value);
    }
    let option = |(name, mut values): (String, Vec<OptionValue>)| {
        values.sort();
        values.dedup();
        let value = match values.len() {
            1 => values.swap_remove(0),
            _ => OptionValue::List(values),
        };
        ReportOption { kind: OptionKind::AvailableMemoryProportion, name, value }
    };
    by_operation.into_iter().map(option).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::side_facts;
    use crate::store::options::About;
    use proptest::prelude::*;

    #[test]
    fn numbers_compare_as_numbers_and_versions_do_not() {
        let parse = OptionValue::parse;
        assert_eq!(parse("0.60"), parse("0.6"));
        assert_eq!(parse("16.0"), parse(" 16"));
        assert_eq!(parse("1e3"), parse("1000"));
        assert!(parse("9") < parse("10") && parse("0.35") < parse("1") && parse("-1") < parse("0"));
        assert!(parse("splits_2") < parse("splits_10"));
        assert!(parse("99") < parse("true"));
        for text in ["inf", "NaN", "0x10", "", "true", "3.3.0 (de1f8de2a7)"] {
            assert_eq!(parse(text), OptionValue::Text(text.to_owned()), "{text}");
        }
        assert_ne!(parse("18446744073709551615"), parse("18446744073709551614"));
        assert_ne!(parse("9007199254740993"), parse("9007199254740992"));
        let fact = |path: &str, value: &str| {
            let report = Report::default();
            let framework = side_facts(&[(path, value)]);
            report.about.fill(Some(About { framework, ..About::default() }));
            options(&report).remove(0).value
        };
        assert_ne!(fact("PyTorch / Version", "2.10"), fact("PyTorch / Version", "2.1"));
        assert_eq!(fact("Version / size", "2.10"), fact("size", "2.1"));
    }

    #[test]
    fn ids_say_where_an_option_stands() {
        assert_eq!(id(OptionKind::App, "training / batch_size"), "app.training.batch_size");
        assert_eq!(short_name(OptionKind::App, "training / batch_size"), "batch_size");
        assert_eq!(id(OptionKind::Version, "Poplar"), "version.Poplar");
        assert_eq!(short_name(OptionKind::Version, "Poplar"), "Poplar version");
        let proportion = OptionKind::AvailableMemoryProportion;
        assert_eq!(id(proportion, "matMul"), "availableMemoryProportion.matMul");
        assert_eq!(short_name(proportion, "matMul"), "availableMemoryProportion");
    }

    #[test]
    fn an_option_of_the_runs_counts_where_it_differs() {
        let option = |name: &str, value: &str| EngineOption {
            name: name.to_owned(),
            value: value.to_owned(),
            is_default: None,
        };
        let report = Report::default();
        report.about.fill(Some(About {
            engine_options: vec![option("a", "1"), option("autoReport.directory", "./x")],
            execution_options: vec![option("a", "1"), option("b", "2")],
            ..About::default()
        }));
        let found: Vec<_> =
            options(&report).into_iter().map(|option| (option.kind, option.name)).collect();
        let expected = [
            (OptionKind::EngineOption, "a".to_owned()),
            (OptionKind::ExecutionOption, "b".to_owned()),
        ];
        assert_eq!(found, expected);
        assert!(options(&Report::default()).is_empty());
    }

    proptest! {
        #[test]
        fn a_number_comes_back(number in proptest::num::f64::NORMAL | proptest::num::f64::ZERO) {
            let value = OptionValue::parse(&format!("{number:e}"));
            prop_assert_eq!(value.as_f64(), Some(number));
        }

        #[test]
        fn values_have_one_order(
            texts in proptest::collection::vec(
                "-?(922337203685477580[6-8]|[0-9]{1,2})(\\.[05]|e[0-2])?|[a-c]{0,2}",
                3,
            ),
        ) {
            let mut values: Vec<_> = texts.iter().map(|text| OptionValue::parse(text)).collect();
            values.sort();
            prop_assert!(values[0] <= values[1] && values[1] <= values[2]);
            prop_assert!(values[0] <= values[2]);
            let is_equal = |a: usize, b: usize| values[a] == values[b];
            prop_assert_eq!(is_equal(0, 2), is_equal(0, 1) && is_equal(1, 2));
        }
    }
}
