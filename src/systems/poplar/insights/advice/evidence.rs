//! What a piece of advice is based on: names and figures of this report, with what they are about, so that a
//! page can lead there.

use serde::Serialize;

use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::operations::Operation;
use crate::store::Report;
use crate::systems::poplar::insights::pressure::Place;

/// One thing that a report says.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evidence {
    /// What it is, without the figure.
    pub what: String,
    pub bytes: Option<u64>,
    /// The tiles that it is on, as text: `0-15,952`.
    pub tiles: Option<String>,
    /// The number of the program step.
    pub step: Option<u32>,
    pub operation: Option<Operation>,
    /// The name of the variable before lowering.
    pub variable: Option<String>,
    /// The file beside the profile that says it.
    pub file: Option<String>,
}

impl Evidence {
    /// Something without figures.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    #[must_use]
    pub fn bytes(self, bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..self }
    }

    #[must_use]
    pub fn on(self, tiles: &TileSelection) -> Self {
        Self { tiles: (!tiles.is_empty()).then(|| tiles.to_string()), ..self }
    }

    #[must_use]
    pub fn on_place(self, place: &Place) -> Self {
        self.on(&place.tile.map(TileSelection::one).unwrap_or_default())
    }

    /// In a place, at a step position.
    #[must_use]
    pub fn at(self, report: &Report, place: &Place, step: u32) -> Self {
        let step = report.steps.get().and_then(|steps| Some(steps.ids.get(step as usize)?.0));
        Self { step, ..self.on_place(place) }
    }

    #[must_use]
    pub fn operation(self, operation: Option<&Operation>) -> Self {
        Self { operation: operation.cloned(), ..self }
    }

    #[must_use]
    pub fn variable(self, name: &str) -> Self {
        Self { variable: Some(name.to_owned()), ..self }
    }

    #[must_use]
    pub fn file(self, name: &str) -> Self {
        Self { file: Some(name.to_owned()), ..self }
    }
}

/// An operation in a sentence: `convolution layer1.0.conv2`.
pub fn operation_title(operation: &Operation) -> String {
    let kind = operation.title();
    match &operation.name {
        Some(name) => format!("{kind} {name}"),
        None => kind.to_owned(),
    }
}
