//! Two reports side by side: the same thing of each, under its heading, with one selection.

use eframe::egui;
use eframe::egui::RichText;

use super::PageContext;
use crate::text::shortened;
use crate::ui::legacy::{Pair, Side};
use crate::ui::theme::Tokens;

/// Between the halves, points.
const GAP: f32 = 14.0;

/// The heading of what is of one report: a mark that is also in legends, the word, the directory.
pub fn side_title_ui(ui: &mut egui::Ui, side: Side, name: &str) {
    ui.horizontal(|ui| {
        ui.label(RichText::new(side.title()).strong().color(side_color(ui, side)));
        ui.weak(shortened(name, 60));
    });
}

/// The colour of what is of one report.
pub fn side_color(ui: &egui::Ui, side: Side) -> egui::Color32 {
    let tokens = Tokens::now(ui);
    match side {
        Side::Source => tokens.base,
        Side::Target => tokens.top,
    }
}

/// What a report is called: the last part of its path.
pub fn report_name(report: &crate::store::Report) -> String {
    let name = report.path.file_name().unwrap_or(report.path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Draws something of each report beside that of the other. What one half selects is selected in
/// both.
pub fn halves_ui(
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    pair: &Pair<'_>,
    mut half: impl FnMut(&mut egui::Ui, Side, &mut PageContext<'_>),
) {
    let space = ui.available_rect_before_wrap();
    let middle = space.center().x;
    for side in Side::BOTH {
        let mut rect = space;
        match side {
            Side::Source => rect.max.x = middle - GAP / 2.0,
            Side::Target => rect.min.x = middle + GAP / 2.0,
        }
        let builder = egui::UiBuilder::new().id_salt(side.title()).max_rect(rect);
        ui.scope_builder(builder, |ui| {
            ui.set_clip_rect(rect.expand(4.0).intersect(ui.clip_rect()));
            let report = match side {
                Side::Source => page.report,
                Side::Target => pair.target,
            };
            side_title_ui(ui, side, &report_name(report));
            let before = pair.selection_of(side, page.selection);
            let mut after = before.clone();
            let mut of_side = PageContext {
                report,
                is_working: match side {
                    Side::Source => page.is_working,
                    Side::Target => pair.is_target_working,
                },
                selection: &mut after,
                has_painted_graph: page.has_painted_graph,
                commands: page.commands,
            };
            half(ui, side, &mut of_side);
            if after != before {
                pair.take_selection(side, &before, after, page.selection);
            }
        });
    }
    let stroke = egui::Stroke::new(1.0, Tokens::now(ui).border);
    ui.painter().vline(middle, space.y_range(), stroke);
}
