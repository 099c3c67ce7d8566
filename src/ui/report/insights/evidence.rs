//! What a conclusion is based on: rows with their bytes as bars, and the way to each.

use eframe::egui;

use super::ChosenPart;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::operations::{Operation, OperationName};
use crate::run::{Evidence, Place};
use crate::store::StepId;
use crate::text::{grouped, readable, shortened};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::measured::{Columns, Measured};

/// Pieces of evidence that are shown.
const MOST_EVIDENCE: usize = 6;
/// Longest sentence.
const TEXT: usize = 300;
/// Width of the way to something, points.
const LINK: f32 = 76.0;

/// Where a piece of evidence leads.
enum Way {
    Step(usize),
    Tiles(TileSelection),
}

pub fn evidence_ui(ui: &mut egui::Ui, page: &mut ChosenPart<'_>, evidence: &[Evidence]) {
    let units = Units::now(ui);
    let tokens = *Tokens::now(ui);
    let shown = evidence.iter().take(MOST_EVIDENCE);
    let most = shown.clone().filter_map(|one| one.bytes).max().unwrap_or(0);
    for (number, one) in shown.enumerate() {
        let place = one.place.clone().unwrap_or_default();
        let way = way(page, &place);
        let title = match &way {
            Some(Way::Step(_)) => place.step.map(|step| format!("Step {step}")),
            Some(Way::Tiles(tiles)) => Some(match tiles.count() {
                1 => format!("Tile {tiles}"),
                count => format!("{} tiles", grouped(count)),
            }),
            None => None,
        };
        let file = place.file.as_deref().map(|file| shortened(file, 80));
        let value = match (one.bytes, &file) {
            (Some(bytes), _) => units.bytes(bytes),
            (None, Some(file)) => file.clone().into_owned(),
            (None, None) => String::new(),
        };
        let hover = shortened(&one.text, TEXT);
        // The kind of the operation stands in the advice itself.
        let name = readable(place.operation.as_deref().unwrap_or(&hover));
        let row = Measured {
            name: &name,
            hover: &hover,
            is_link: place.variable.is_some(),
            color: tokens.temporary,
            size: one.bytes.map(|bytes| (bytes, most)),
            value: &value,
            link: title.as_deref(),
            ..Measured::default()
        };
        let columns = Columns { link: LINK, ..Columns::default() };
        let clicked = ui.push_id(("evidence", number), |ui| row.ui(ui, columns)).inner;
        if let (true, Some(variable)) = (clicked.name, &place.variable) {
            page.show_variable(variable);
        }
        match way {
            Some(Way::Step(position)) if clicked.link => {
                if let Some(operation) = operation_of(page, &place) {
                    page.selection.operation = Some(operation);
                }
                page.show_step(position);
            }
            Some(Way::Tiles(tiles)) if clicked.link => page.show_tiles(tiles),
            _ => {}
        }
    }
    if evidence.len() > MOST_EVIDENCE {
        ui.weak(format!("and {} more", evidence.len() - MOST_EVIDENCE));
    }
}

/// The operation that a place names.
fn operation_of(page: &ChosenPart<'_>, place: &Place) -> Option<OperationName> {
    place.operation.as_ref()?;
    let steps = page.run.derived.operations()?;
    let is_meant = |of: &&Operation| of.name == place.operation && of.kind == place.operation_kind;
    steps.operations.iter().find(is_meant).map(OperationName::of)
}

fn way(page: &ChosenPart<'_>, place: &Place) -> Option<Way> {
    let steps = page.report().steps.get();
    let step = place.step.and_then(|step| u32::try_from(step).ok());
    let position = step.and_then(|step| steps?.ids.position(StepId(step)));
    let tiles = || place.arena.as_ref()?.parse::<TileSelection>().ok();
    position.map(Way::Step).or_else(|| tiles().map(Way::Tiles))
}
