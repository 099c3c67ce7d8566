//! The parts of a change, as JSON.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::json;

use super::By;
use crate::analysis::comparison::contribution::{Contribution, Contributor, Grouping, LifePart};
use crate::analysis::comparison::explanation::{ByOwner, Explanation};
use crate::analysis::comparison::fullest_tile::FullestTiles;
use crate::analysis::figures::difference::{Difference, Side};
use crate::analysis::placement::gaps::GapReason;
use crate::store::Report;

/// A part of what is alive at the peaks: the whole, and the contributions to its change, largest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedPart {
    #[serde(flatten)]
    pub whole: Difference,
    pub source_step: Option<u32>,
    pub target_step: Option<u32>,
    #[serde(flatten)]
    pub groupings: Groupings,
}

/// The fullest tiles, and the contributions to the change of their bytes including gaps.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedFullestTile {
    #[serde(flatten)]
    pub whole: Difference,
    pub source_tile: u32,
    pub target_tile: u32,
    #[serde(flatten)]
    pub groupings: Groupings,
}

/// What changed at the steps that are matched with the peaks; null of a peak whose step has no partner.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedAtMatchedSteps {
    pub source_peak: Option<ExplainedMoment>,
    pub target_peak: Option<ExplainedMoment>,
}

/// All that is alive at a pair of steps, and its part that is not always live.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedMoment {
    pub peak: ExplainedPart,
    pub not_always_live: ExplainedPart,
}

/// The same change by what it belongs to; each adds up to it. Rows that do not change are left out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Groupings {
    pub by_category: Option<Vec<ExplainedRow>>,
    pub by_operation: Option<Vec<ExplainedRow>>,
    pub by_module: Option<Vec<ExplainedRow>>,
    pub by_variable: Option<Vec<ExplainedRow>>,
}

#[derive(Debug)]
pub struct ExplainedRow {
    pub contributor: Contributor,
    pub only: Option<Side>,
    pub bytes: Difference,
}

impl ExplainedPart {
    pub fn of(reports: [&Report; 2], explanation: &Explanation, part: LifePart) -> Self {
        let [source_step, target_step] = Side::BOTH.map(|side| {
            let position = side.of(explanation.moments).step;
            side.of(reports).steps.get()?.ids.get(position).map(|step| step.0)
        });
        Self {
            whole: explanation.whole.of(part),
            source_step,
            target_step,
            groupings: Groupings::of(
                explanation.by_category.as_ref(),
                explanation.by_owner.as_ref(),
                part,
            ),
        }
    }
}

impl ExplainedAtMatchedSteps {
    pub fn of(reports: [&Report; 2], [source, target]: &[Option<Explanation>; 2]) -> Self {
        let moment = |explanation: &Explanation| ExplainedMoment {
            peak: ExplainedPart::of(reports, explanation, LifePart::All),
            not_always_live: ExplainedPart::of(reports, explanation, LifePart::NotAlwaysLive),
        };
        Self { source_peak: source.as_ref().map(moment), target_peak: target.as_ref().map(moment) }
    }
}

impl ExplainedFullestTile {
    pub fn of(tiles: &FullestTiles) -> Self {
        let (categories, owners) = (tiles.by_category.as_ref(), tiles.by_owner.as_ref());
        Self {
            whole: tiles.bytes,
            source_tile: tiles.tiles[0].0,
            target_tile: tiles.tiles[1].0,
            groupings: Groupings::of(categories, owners, LifePart::All),
        }
    }
}

impl Groupings {
    /// All of them, with what they go by.
    pub fn all(&self) -> [(By, &'static str, Option<&Vec<ExplainedRow>>); 4] {
        [
            (By::Category, "category", self.by_category.as_ref()),
            (By::Operation, "operation", self.by_operation.as_ref()),
            (By::Module, "module", self.by_module.as_ref()),
            (By::Variable, "variable", self.by_variable.as_ref()),
        ]
    }

    fn of(categories: Option<&Grouping>, owners: Option<&ByOwner>, part: LifePart) -> Self {
        let rows = |grouping: &Grouping| ranked(grouping, part);
        Self {
            by_category: categories.map(rows),
            by_operation: owners.and_then(|owners| owners.operations.as_ref().map(rows)),
            by_module: owners.and_then(|owners| owners.modules.as_ref().map(rows)),
            by_variable: owners.map(|owners| rows(&owners.variables)),
        }
    }
}

impl ExplainedRow {
    /// What it is, and its name, as in JSON.
    pub fn key_and_name(&self) -> (&'static str, Option<&str>) {
        match &self.contributor {
            Contributor::Category(name) => ("category", Some(name.as_str())),
            Contributor::Operation(operation) => ("operation", operation.name.as_deref()),
            Contributor::Module(name) => ("module", Some(name.as_str())),
            Contributor::Variable(name) => ("variable", Some(name.as_str())),
            Contributor::Overlapped => ("overlapped", None),
            Contributor::NotExplained => ("not_explained", None),
            Contributor::Gaps(reason) => ("gaps", reason.map(GapReason::key)),
            Contributor::NotAttributable => ("not_attributable", None),
        }
    }

    pub fn operation_kind(&self) -> Option<&str> {
        match &self.contributor {
            Contributor::Operation(operation) => operation.kind.as_deref(),
            _ => None,
        }
    }
}

fn ranked(grouping: &Grouping, part: LifePart) -> Vec<ExplainedRow> {
    let row = |(row, bytes): (&Contribution, Difference)| ExplainedRow {
        contributor: row.contributor.clone(),
        only: row.only,
        bytes,
    };
    grouping.ranked(part).into_iter().map(row).collect()
}

impl Serialize for ExplainedRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        let (contributor, name) = self.key_and_name();
        object.serialize_entry("contributor", contributor)?;
        object.serialize_entry("name", &name)?;
        if let Contributor::Operation(operation) = &self.contributor {
            object.serialize_entry("kind", &operation.kind)?;
            object.serialize_entry("layer", &operation.layer)?;
        }
        object.serialize_entry("only", &self.only)?;
        object.serialize_entry("source", &self.bytes.source)?;
        object.serialize_entry("target", &self.bytes.target)?;
        object.serialize_entry("difference", &self.bytes.change())?;
        object.serialize_entry("percent", &self.bytes.percent())?;
        object.end()
    }
}

impl JsonSchema for ExplainedRow {
    fn schema_name() -> Cow<'static, str> {
        "ExplainedRow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let [text, number] = ["string", "integer"].map(|of| json!({ "type": [of, "null"] }));
        json_schema!({
            "type": "object",
            "properties": {
                "contributor": { "type": "string" },
                "name": text,
                "kind": text,
                "layer": text,
                "only": { "enum": ["source", "target", null] },
                "source": number,
                "target": number,
                "difference": number,
                "percent": { "type": ["number", "null"] }
            },
            "required": ["contributor", "name", "only", "source", "target", "difference", "percent"]
        })
    }
}
