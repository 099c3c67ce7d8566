//! A figure of two reports: difference = target − source; percent of the source, one decimal, not
//! known where the source is 0 (definitions.md, Comparison).

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use crate::text::grouped;

/// A figure of the source and of the target; `None` where a report does not have it. Signed, because
/// what is left over when parts are taken from a whole can be below 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub source: Option<i64>,
    pub target: Option<i64>,
}

impl Difference {
    /// Of figures that the reports may lack. What is more than 2⁶³ − 1, as no report has it, counts
    /// as that.
    pub fn of(figures: [Option<u64>; 2]) -> Self {
        let signed = |figure: u64| i64::try_from(figure).unwrap_or(i64::MAX);
        let [source, target] = figures.map(|figure| figure.map(signed));
        Self { source, target }
    }

    /// Of figures that are known.
    pub fn between(source: i64, target: i64) -> Self {
        Self { source: Some(source), target: Some(target) }
    }

    /// Target − source; `None` where one of them is not known.
    pub fn change(&self) -> Option<i64> {
        Some(self.target?.saturating_sub(self.source?))
    }

    /// The change in percent of the source, one decimal; `None` where the source is not above 0.
    pub fn percent(&self) -> Option<f64> {
        let source = self.source.filter(|source| *source > 0)?;
        Some((self.change()? as f64 * 1000.0 / source as f64).round() / 10.0)
    }

    /// Whether the target has less. `None` if a side is not known, or if the change is below a thousandth of the source:
    /// too little to call better or worse.
    pub fn is_less(&self) -> Option<bool> {
        let (change, source) = (self.change()?, self.source?);
        let is_slight = change.unsigned_abs() < source.unsigned_abs() / 1000;
        (change != 0 && !is_slight).then_some(change < 0)
    }

    /// Whether both are known and the same, or neither is known.
    pub fn is_equal(&self) -> bool {
        self.source == self.target
    }

    /// The size of the change, for an order by it; what is not known comes last.
    pub fn magnitude(&self) -> Option<u64> {
        self.change().map(i64::unsigned_abs)
    }
}

impl Serialize for Difference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Difference", 4)?;
        object.serialize_field("source", &self.source)?;
        object.serialize_field("target", &self.target)?;
        object.serialize_field("difference", &self.change())?;
        object.serialize_field("percent", &self.percent())?;
        object.end()
    }
}

/// A share in percent with one decimal, half up; `None` of nothing.
pub fn percent_of(own: u64, reference: u64) -> Option<f64> {
    let (own, reference) = (u128::from(own), u128::from(reference));
    let tenths = (own * 2000 + reference).checked_div(reference * 2)?;
    Some(u64::try_from(tenths).ok()? as f64 / 10.0)
}

/// The ratio of a number to a reference as the end of a sentence: `, 76.3 % of it`, or `, 29 times as much` from tenfold
/// on. Empty if the reference is 0.
pub fn share_of_it(own: u64, reference: u64) -> String {
    match percent_of(own, reference) {
        None => String::new(),
        Some(percent) if percent >= 1000.0 => {
            format!(", {} times as much", grouped((percent / 100.0).round() as u64))
        }
        Some(percent) => format!(", {percent:.1} % of it"),
    }
}

/// A rate of the source and of the target; the same for what is no whole number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateDifference {
    pub source: Option<f64>,
    pub target: Option<f64>,
}

impl RateDifference {
    /// Target − source; `None` where one of them is not known.
    pub fn change(&self) -> Option<f64> {
        Some(self.target? - self.source?)
    }

    /// The change in percent of the source, one decimal; `None` where the source is not above 0.
    pub fn percent(&self) -> Option<f64> {
        let source = self.source.filter(|source| *source > 0.0)?;
        Some((self.change()? * 1000.0 / source).round() / 10.0)
    }
}

impl schemars::JsonSchema for Difference {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Difference".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let number = schemars::json_schema!({ "type": ["integer", "null"] });
        schemars::json_schema!({
            "type": "object",
            "properties": {
                "source": number,
                "target": number,
                "difference": number,
                "percent": { "type": ["number", "null"] }
            },
            "required": ["source", "target", "difference", "percent"]
        })
    }
}

/// The report that has something which the other has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The first report.
    Source,
    /// The second.
    Target,
}

impl Side {
    /// Both, in the order in which they are shown.
    pub const BOTH: [Self; 2] = [Self::Source, Self::Target];

    /// Its name for programs.
    pub fn key(self) -> &'static str {
        self.of(["source", "target"])
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Source => "Source",
            Self::Target => "Target",
        }
    }

    /// What belongs to this report, of source and target.
    pub fn of<T>(self, [source, target]: [T; 2]) -> T {
        match self {
            Self::Source => source,
            Self::Target => target,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slight_changes_are_neither_less_nor_more() {
        let of = |source, target| Difference::between(source, target).is_less();
        assert_eq!([of(1000, 999), of(1000, 1001)], [Some(true), Some(false)]);
        assert_eq!([of(1 << 30, (1 << 30) + 128), of(5, 5), of(0, 0)], [None; 3]);
        assert_eq!([of(0, 1), Difference::of([None, Some(1)]).is_less()], [Some(false), None]);
    }

    #[test]
    fn shares_from_tenfold_on_are_factors() {
        assert_eq!(share_of_it(763, 1000), ", 76.3 % of it");
        assert_eq!(share_of_it(4096, 1), ", 4,096 times as much");
        assert_eq!(share_of_it(1, 0), "");
    }

    #[test]
    fn percent_is_of_the_source() {
        let known = Difference::of([Some(1_500_000), Some(4_215_000)]);
        assert_eq!((known.change(), known.percent()), (Some(2_715_000), Some(181.0)));
        assert_eq!(Difference::of([Some(3), Some(2)]).percent(), Some(-33.3));
        assert_eq!(Difference::of([Some(0), Some(2)]).percent(), None);
        assert_eq!(Difference::between(-1, 2).percent(), None);
        let unknown = Difference::of([None, Some(2)]);
        assert_eq!((unknown.change(), unknown.percent(), unknown.is_equal()), (None, None, false));
        assert!(Difference::default().is_equal());
        let json = serde_json::to_value(known).expect("JSON");
        let expected = serde_json::json!(
            {"source": 1_500_000, "target": 4_215_000, "difference": 2_715_000, "percent": 181.0});
        assert_eq!(json, expected);
        assert_eq!(Difference::of([Some(u64::MAX), Some(0)]).change(), Some(-i64::MAX));
    }
}
