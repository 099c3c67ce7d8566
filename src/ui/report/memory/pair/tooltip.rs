//! What the pointer learns of a tile of two reports.

use eframe::egui;
use eframe::egui::{Grid, RichText};

use super::super::select::tile_text;
use super::made::machine;
use super::picture::Parts;
use crate::analysis::memory::{cell, gap_bytes};
use crate::store::TileId;
use crate::store::memory::TileMemory;
use crate::store::target::Target;
use crate::text::shortened;
use crate::ui::legacy::Side;
use crate::ui::report::halves::side_color;
use crate::ui::report::{against_limit, change_color, change_text};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// Longest name of a part.
const LONGEST_TITLE: usize = 40;

/// A figure of both.
type Figure<'a> = (&'a str, [Option<u64>; 2]);

/// Draws the facts of the tile at a position, with its parts.
pub fn tile_ui(
    ui: &mut egui::Ui,
    parts: &Parts<'_>,
    targets: [Option<&Target>; 2],
    position: usize,
) {
    let (shown, units) = (&parts.made.shown, Units::now(ui));
    let Some(tile) = shown.axis.tile(position) else { return };
    ui.label(RichText::new(tile_text(machine(targets), tile)).strong());
    let rows = Side::BOTH.map(|side| shown.row(side.of(parts.memories), side, position));
    let figure = |of: &dyn Fn(&TileMemory, usize) -> Option<u64>| {
        Side::BOTH.map(|side| of(side.of(parts.memories), side.of(rows)?))
    };
    let with_gaps = figure(&|memory, row| cell(&memory.including_gaps, row));
    figures_ui(
        ui,
        "tile figures",
        &[
            ("With gaps", with_gaps),
            ("Without gaps", figure(&|memory, row| cell(&memory.total, row))),
            ("Gaps", figure(&gap_bytes)),
            ("Always live", figure(&|memory, row| cell(&memory.always_live, row))),
        ],
    );
    if let Some(stacks) = &parts.made.stacks {
        let [source, target] = stacks.each_ref();
        let of = |stack: &super::super::stack::Stack, part: usize, row: Option<usize>| {
            cell(&stack.parts.get(part)?.bytes, row?)
        };
        let mut figures: Vec<(String, [Option<u64>; 2])> = Vec::new();
        for (index, part) in source.parts.iter().enumerate() {
            let bytes = [of(source, index, rows[0]), of(target, index, rows[1])];
            if bytes.iter().any(|bytes| bytes.is_some_and(|bytes| bytes > 0)) {
                figures.push((shortened(&part.title, LONGEST_TITLE).into_owned(), bytes));
            }
        }
        let size =
            |[source, target]: &[Option<u64>; 2]| source.unwrap_or(0).abs_diff(target.unwrap_or(0));
        figures.sort_by_key(|(_, bytes)| std::cmp::Reverse(size(bytes)));
        let figures: Vec<Figure<'_>> =
            figures.iter().map(|(title, bytes)| (&**title, *bytes)).collect();
        ui.separator();
        figures_ui(ui, "tile parts", &figures);
    }
    ui.separator();
    for side in Side::BOTH {
        let limit = side.of(targets).and_then(|target| target.bytes_per_tile);
        let text = match (side.of(rows), side.of(with_gaps), limit) {
            (None, ..) => Some((format!("{}: it does not have this tile", side.title()), false)),
            (_, Some(bytes), Some(limit)) => {
                let text = against_limit(bytes, limit, units);
                Some((format!("{}: {text}", side.title()), bytes > limit))
            }
            _ => None,
        };
        if let Some((text, is_over)) = text {
            let text = RichText::new(text);
            let bad = Tokens::now(ui).bad;
            ui.label(if is_over { text.color(bad).strong() } else { text });
        }
    }
}

/// Figures of both with their difference.
fn figures_ui(ui: &mut egui::Ui, id: &str, figures: &[Figure<'_>]) {
    let units = Units::now(ui);
    let text =
        |bytes: Option<u64>| bytes.map_or_else(|| "–".to_owned(), |bytes| units.bytes(bytes));
    Grid::new(id).num_columns(4).spacing([14.0, 2.0]).show(ui, |ui| {
        ui.label("");
        for side in Side::BOTH {
            ui.label(RichText::new(side.title()).color(side_color(ui, side)));
        }
        ui.weak("Difference");
        ui.end_row();
        for (title, [source, target]) in figures {
            ui.weak(*title);
            ui.label(text(*source));
            ui.label(text(*target));
            if let (Some(source), Some(target)) = (source, target) {
                let change = RichText::new(change_text(*source, *target, units));
                ui.label(change.color(change_color(ui, *source, *target)));
            }
            ui.end_row();
        }
    });
}

/// The bytes of a tile with gaps in both, in words.
pub fn with_gaps_text(parts: &Parts<'_>, tile: TileId, units: Units) -> String {
    let texts = Side::BOTH.map(|side| {
        let memory = side.of(parts.memories);
        let row = memory.tiles.position(tile);
        let bytes = row.and_then(|row| cell(&memory.including_gaps, row));
        let bytes = bytes.map_or_else(|| "–".to_owned(), |bytes| units.exact(bytes));
        format!("{} {bytes}", side.title().to_lowercase())
    });
    format!("{} with gaps", texts.join(", "))
}
