//! Evidence of an IPU report: names and figures with the tiles, step, operation and variable that they are about.

use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::operations::{Operation, OperationName};
use crate::run::Evidence;
use crate::store::Report;
use crate::systems::poplar::insights::pressure::PressurePlace;

/// Where in a report a piece of evidence is.
impl Evidence {
    /// On tiles, written as text: `0-15,952`.
    #[must_use]
    pub(crate) fn on_tiles(self, tiles: &impl ToString) -> Self {
        let tiles = Some(tiles.to_string()).filter(|tiles| !tiles.is_empty());
        self.at(|place| place.arena = tiles)
    }

    /// On the tile of a place; a place that stands for all tiles adds nothing.
    #[must_use]
    pub(crate) fn on_place(self, place: &PressurePlace) -> Self {
        self.on_tiles(&place.tile.map(TileSelection::one).unwrap_or_default())
    }

    /// At a step, given by its position.
    #[must_use]
    pub(crate) fn at_position(self, report: &Report, step: u32) -> Self {
        let step = report.steps.get().and_then(|steps| Some(steps.ids.get(step as usize)?.0));
        self.at(|place| place.step = step.map(i64::from))
    }

    /// In a place, at a step given by its position.
    #[must_use]
    pub(crate) fn alive_at(self, report: &Report, place: &PressurePlace, step: u32) -> Self {
        self.on_place(place).at_position(report, step)
    }

    #[must_use]
    pub(crate) fn of_operation(self, operation: Option<&Operation>) -> Self {
        self.at(|place| {
            place.operation = operation.and_then(|operation| operation.name.clone());
            place.selected_operation = operation.map(OperationName::of);
        })
    }

    /// Of a variable before lowering.
    #[must_use]
    pub(crate) fn of_variable(self, name: &str) -> Self {
        self.at(|place| place.variable = Some(name.to_owned()))
    }

    /// In a file beside the profile.
    #[must_use]
    pub(crate) fn in_file(self, name: &str) -> Self {
        self.at(|place| place.file = Some(name.to_owned()))
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
