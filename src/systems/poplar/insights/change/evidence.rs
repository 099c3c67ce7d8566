//! The numbers that a conclusion is drawn from.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::{Difference, RateDifference};
use crate::run::Evidence as RunEvidence;
use crate::text::{grouped, rate, signed, signed_percent, signed_rate, size_or_less};

/// What both reports say of something.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeEvidence {
    /// Its name in JSON.
    pub name: &'static str,
    /// What it is called where it belongs to the text.
    pub title: Option<String>,
    pub values: EvidenceValues,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EvidenceValues {
    Flags([Option<bool>; 2]),
    Words([Option<String>; 2]),
    Number(Unit, Difference),
    /// Samples per second.
    Rate(RateDifference),
}

impl ChangeEvidence {
    pub fn number(name: &'static str, unit: Unit, figure: Difference) -> Self {
        Self { name, title: None, values: EvidenceValues::Number(unit, figure) }
    }

    pub fn bytes(name: &'static str, figure: Difference) -> Self {
        Self::number(name, Unit::Bytes, figure)
    }

    pub fn rate(name: &'static str, rate: RateDifference) -> Self {
        Self { name, title: None, values: EvidenceValues::Rate(rate) }
    }

    pub fn words(name: &'static str, words: [Option<String>; 2]) -> Self {
        Self { name, title: None, values: EvidenceValues::Words(words) }
    }

    pub fn flags(name: &'static str, flags: [Option<bool>; 2]) -> Self {
        Self { name, title: None, values: EvidenceValues::Flags(flags) }
    }

    /// As part of the text.
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// The same as all systems have it: a change of an amount, or what both reports say as text.
    pub fn of_run(&self, size: &dyn Fn(u64) -> String) -> Option<RunEvidence> {
        let title = self.title.as_deref().unwrap_or(self.name);
        match &self.values {
            EvidenceValues::Number(unit, figure) if *unit != Unit::Place => {
                Some(RunEvidence::change(title, *unit, *figure))
            }
            _ => self.clone().titled(title).text(size).map(RunEvidence::new),
        }
    }

    /// As part of the text: `Over the limit: 0 B to 33.6 MiB, +33.6 MiB`. `None` where it is none.
    pub fn text(&self, bytes: &dyn Fn(u64) -> String) -> Option<String> {
        let title = self.title.as_ref()?;
        let (values, change) = match &self.values {
            EvidenceValues::Flags(_) => return None,
            EvidenceValues::Words(words) => (words.clone(), None),
            EvidenceValues::Number(unit, figure) => {
                let shown = |number: u64| {
                    if *unit == Unit::Bytes { bytes(number) } else { grouped(number) }
                };
                let value = |number: i64| size_or_less(number, shown);
                let change = figure.change().filter(|change| *change != 0);
                let change = change.map(|change| (signed(change, shown), figure.percent()));
                ([figure.source, figure.target].map(|number| number.map(value)), change)
            }
            EvidenceValues::Rate(found) => {
                let change = found.change().filter(|change| *change != 0.0);
                let change = change.map(|change| (signed_rate(change), found.percent()));
                ([found.source, found.target].map(|number| number.map(rate)), change)
            }
        };
        let change = change.map_or_else(String::new, |(change, percent)| match percent {
            Some(percent) => format!(", {change} ({})", signed_percent(percent)),
            None => format!(", {change}"),
        });
        Some(match values {
            [None, None] => return None,
            [Some(before), Some(after)] if before == after && change.is_empty() => {
                format!("{title}: {before} in both")
            }
            [Some(before), Some(after)] => format!("{title}: {before} to {after}{change}"),
            [Some(before), None] => format!("{title}: {before} before, now not known"),
            [None, Some(after)] => format!("{title}: not known before, now {after}"),
        })
    }
}

/// The fields of the values.
fn put<O: SerializeStruct, T: Serialize>(
    object: &mut O,
    unit: Option<&'static str>,
    [source, target, difference]: [T; 3],
    percent: Option<f64>,
) -> Result<(), O::Error> {
    object.serialize_field("unit", &unit)?;
    object.serialize_field("source", &source)?;
    object.serialize_field("target", &target)?;
    object.serialize_field("difference", &difference)?;
    object.serialize_field("percent", &percent)
}

impl Serialize for ChangeEvidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Evidence", 6)?;
        object.serialize_field("name", self.name)?;
        match &self.values {
            EvidenceValues::Flags([source, target]) => {
                put(&mut object, None, [*source, *target, None], None)?;
            }
            EvidenceValues::Words([source, target]) => {
                put(&mut object, None, [source.as_deref(), target.as_deref(), None], None)?;
            }
            EvidenceValues::Number(unit, figure) => {
                // Where something is has no difference.
                let is_amount = *unit != Unit::Place;
                let change = figure.change().filter(|_| is_amount);
                let percent = figure.percent().filter(|_| is_amount);
                let values = [figure.source, figure.target, change];
                put(&mut object, Some(unit.key()), values, percent)?;
            }
            EvidenceValues::Rate(found) => {
                let values = [found.source, found.target, found.change()];
                let unit = Some(Unit::SamplesPerSecond.key());
                put(&mut object, unit, values, found.percent())?;
            }
        }
        object.end()
    }
}
