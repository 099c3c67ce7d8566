//! Evidence: what a conclusion or a piece of advice is based on, and the place that it leads to.

use serde::Serialize;

use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::Difference;
use crate::analysis::program::operations::OperationName;
use crate::store::System;
use crate::text::grouped;

/// One thing that a run says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Evidence {
    /// What it is, without the figure.
    pub text: String,
    /// Its bytes.
    pub bytes: Option<u64>,
    /// Where it is; the window makes links of it.
    pub place: Option<Place>,
    /// Of a comparison: what both runs say; `bytes` are then those of the target.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

/// A number of both runs that a conclusion is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Change {
    /// What it counts.
    pub unit: &'static str,
    /// Both values, with their difference.
    #[serde(flatten)]
    pub figure: Difference,
}

/// Where a piece of evidence is, by whatever applies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Place {
    /// The number of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<i64>,
    /// The step, by the number that the system gives it: a program step, an event within the device, a position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// The arenas, as text: tiles `0-15,952`, or an allocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arena: Option<String>,
    /// The address, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The name of the operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The operation with its kind and layer, by which the window selects it.
    #[serde(skip)]
    pub selected_operation: Option<OperationName>,
    /// The name of the variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The frame of the user's code: `path:line (function)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// The file beside the run that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

impl Evidence {
    /// Evidence without figures.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Evidence with its bytes.
    pub fn of(text: impl Into<String>, bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..Self::new(text) }
    }

    /// What both runs say of something.
    pub fn change(text: impl Into<String>, unit: Unit, figure: Difference) -> Self {
        let bytes = figure.target.filter(|_| unit == Unit::Bytes);
        Self {
            bytes: bytes.and_then(|bytes| u64::try_from(bytes).ok()),
            change: Some(Change { unit: unit.key(), figure }),
            ..Self::new(text)
        }
    }

    /// The same with its bytes.
    #[must_use]
    pub fn bytes(self, bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..self }
    }

    /// The same with what `fill` says of its place.
    #[must_use]
    pub fn at(mut self, fill: impl FnOnce(&mut Place)) -> Self {
        let mut place = self.place.take().unwrap_or_default();
        fill(&mut place);
        self.place = (place != Place::default()).then_some(place);
        self
    }

    /// What it says with its bytes, and where that is, as far as it fits on a line; `size` writes bytes.
    pub fn sentence(&self, words: &System, size: &dyn Fn(u64) -> String) -> String {
        let mut text = self.text.clone();
        if let Some(count) = self.bytes {
            text += &format!(": {}", size(count));
        }
        let Some(place) = &self.place else { return text };
        // A list of many says nothing on a line.
        if let Some(arenas) = place.arena.as_ref().filter(|arenas| arenas.len() <= 12) {
            let is_one = arenas.parse::<u64>().is_ok();
            let word = if is_one { words.arena_in_text } else { words.arenas };
            text += &format!(" on {word} {arenas}");
        }
        if let Some(step) = place.step.and_then(|step| u64::try_from(step).ok()) {
            text += &format!(", {} {}", words.step_in_text, grouped(step));
        }
        text
    }

    /// The same at a step.
    #[must_use]
    pub fn at_step(self, step: impl Into<i64>) -> Self {
        let step = step.into();
        self.at(|place| place.step = Some(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_the_keys_that_apply() {
        let json = |one: &Evidence| serde_json::to_value(one).unwrap();
        let nowhere = Evidence::of("a block", 7).at(|_| {});
        assert_eq!(
            json(&nowhere),
            serde_json::json!({"text": "a block", "bytes": 7, "place": null})
        );
        let somewhere = nowhere.at_step(3).at(|place| place.arena = Some("0-3".to_owned()));
        assert_eq!(json(&somewhere)["place"], serde_json::json!({"step": 3, "arena": "0-3"}));
    }
}
