//! What a conclusion is based on: rows with their bytes as bars, and the way to each.

use eframe::egui;

use super::ChosenPart;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::operations::OperationName;
use crate::store::StepId;
use crate::systems::poplar::insights::advice::Evidence;
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
    for (place, one) in shown.enumerate() {
        let way = way(page, one);
        let title = match &way {
            Some(Way::Step(_)) => one.step.map(|step| format!("Step {step}")),
            Some(Way::Tiles(tiles)) => Some(match tiles.count() {
                1 => format!("Tile {tiles}"),
                count => format!("{} tiles", grouped(count)),
            }),
            None => None,
        };
        let file = one.file.as_deref().map(|file| shortened(file, 80));
        let value = match (one.bytes, &file) {
            (Some(bytes), _) => units.bytes(bytes),
            (None, Some(file)) => file.clone().into_owned(),
            (None, None) => String::new(),
        };
        let hover = shortened(&one.what, TEXT);
        // The kind of the operation stands in the advice itself.
        let operation = one.operation.as_ref().and_then(|operation| operation.name.as_deref());
        let name = readable(operation.unwrap_or(&hover));
        let row = Measured {
            name: &name,
            hover: &hover,
            is_link: one.variable.is_some(),
            color: tokens.temporary,
            size: one.bytes.map(|bytes| (bytes, most)),
            value: &value,
            link: title.as_deref(),
            ..Measured::default()
        };
        let columns = Columns { link: LINK, ..Columns::default() };
        let clicked = ui.push_id(("evidence", place), |ui| row.ui(ui, columns)).inner;
        if let (true, Some(variable)) = (clicked.name, &one.variable) {
            page.show_variable(variable);
        }
        match way {
            Some(Way::Step(position)) if clicked.link => {
                if let Some(operation) = &one.operation {
                    page.selection.operation = Some(OperationName::of(operation));
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

fn way(page: &ChosenPart<'_>, evidence: &Evidence) -> Option<Way> {
    let steps = page.report().steps.get();
    let position = evidence.step.and_then(|step| steps?.ids.position(StepId(step)));
    let tiles = || evidence.tiles.as_ref()?.parse::<TileSelection>().ok();
    position.map(Way::Step).or_else(|| tiles().map(Way::Tiles))
}
