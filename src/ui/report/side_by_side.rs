//! Several runs side by side: the same of each, in a grid that fits or in columns that scroll.

use eframe::egui::containers::scroll_area::ScrollSource;
use eframe::egui::{self, AsIdSalt, ComboBox, Rect, Response, ScrollArea, vec2};

use super::run_title_ui;
use crate::text::{counted, shortened};
use crate::ui::runs::{Run, RunId, Runs};
use crate::ui::theme::{Tokens, fonts};
use crate::ui::widget::exports::exports_of_run;

/// Between neighbors, points.
const GAP: f32 = 14.0;
/// Height of the title of a run above what is drawn of it, points.
const TITLE: f32 = 20.0;
/// Least height of a picture with its title where several lie below each other, points.
const LEAST_HEIGHT: f32 = 104.0;
/// Room for how many runs there are beyond those that are seen, points.
const MORE: f32 = 84.0;
/// Narrowest column of a run where there are more than two, points.
const LEAST_WIDTH: f32 = 380.0;

/// Offers the runs that the reference can be compared with.
pub fn compared_run_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    now: &Run,
    chosen: &mut Option<RunId>,
) -> Response {
    let combo = ComboBox::from_id_salt("compared run").width(150.0);
    let combo = combo.selected_text(shortened(&now.title, 24)).show_ui(ui, |ui| {
        for run in runs.iter().skip(1) {
            if ui.selectable_label(run.id == now.id, &*run.title).clicked() {
                *chosen = Some(run.id);
            }
        }
    });
    combo.response.accessible_name("Compared run")
}

/// Draws something of each run, by its position, in a part of the space that is left.
pub fn side_by_side_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    mut of_run: impl FnMut(&mut egui::Ui, usize, &Run),
) {
    let space = ui.available_rect_before_wrap();
    let columns = match runs.len() {
        few @ ..=3 => few,
        4 => 2,
        5 | 6 => 3,
        _ => 4,
    };
    let rows = runs.len().div_ceil(columns);
    let (width, height) = (space.width() / columns as f32, space.height() / rows as f32);
    let stroke = egui::Stroke::new(1.0, Tokens::now(ui).border);
    for (place, run) in runs.iter().enumerate() {
        let (column, row) = (place % columns, place / columns);
        let left = space.left() + width * column as f32;
        let top = space.top() + height * row as f32;
        let mut rect = Rect::from_x_y_ranges(left..=left + width, top..=top + height);
        if column > 0 {
            ui.painter().vline(left, rect.y_range(), stroke);
            rect.min.x += GAP / 2.0;
        }
        if column + 1 < columns {
            rect.max.x -= GAP / 2.0;
        }
        if row + 1 < rows {
            rect.max.y -= GAP / 2.0;
        }
        part_ui(ui, ("run", place), rect, |ui| {
            if !runs.is_one() {
                run_title_ui(ui, run);
            }
            of_run(ui, place, run);
        });
    }
}

/// Draws something of each run, by its position, below that of the others: of many in two columns, which scroll where
/// there is too little room for all.
pub fn runs_below_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    space: Rect,
    mut of_run: impl FnMut(&mut egui::Ui, usize, &Run),
) {
    let columns = if runs.len() > 3 { 2 } else { 1 };
    let rows = runs.len().div_ceil(columns) as f32;
    let height = if runs.is_one() { 0.0 } else { LEAST_HEIGHT };
    let height = (space.height() / rows).max(height);
    let gap = GAP * (columns as f32 - 1.0);
    let size = vec2((space.width() - gap) / columns as f32, height);
    let mut all_ui = |ui: &mut egui::Ui, corner: egui::Pos2| {
        for (place, run) in runs.iter().enumerate() {
            let (column, row) = ((place % columns) as f32, (place / columns) as f32);
            let corner = corner + vec2(column * (size.x + gap), row * size.y);
            let mut area = Rect::from_min_size(corner, size);
            if !runs.is_one() {
                let title = area.with_max_y(area.top() + TITLE);
                let title = egui::UiBuilder::new().max_rect(title);
                ui.scope_builder(title, |ui| run_title_ui(ui, run));
                area.min.y += TITLE;
            }
            ui.scope_builder(egui::UiBuilder::new().max_rect(area), |ui| of_run(ui, place, run));
        }
    };
    if height * rows <= space.height() + 1.0 {
        all_ui(ui, space.min);
        return;
    }
    ui.scope_builder(egui::UiBuilder::new().max_rect(space), |ui| {
        // The wheel belongs to the pictures.
        let area = ScrollArea::vertical().id_salt("runs below each other").auto_shrink(false);
        area.scroll_source(ScrollSource::SCROLL_BAR).show(ui, |ui| {
            let corner = ui.max_rect().min;
            ui.allocate_space(vec2(space.width(), height * rows));
            all_ui(ui, corner);
        });
    });
}

/// Draws something of each run beside that of the others; of one alone in all the space. What does not
/// fit beside each other is reached by scrolling.
pub fn columns_of_runs_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    mut part: impl FnMut(&mut egui::Ui, &Run),
) {
    let count = runs.len() as f32;
    let width = (ui.available_width() - GAP * (count - 1.0)) / count;
    match runs.len() {
        1 => part(ui, runs.reference()),
        2 => columns_ui(ui, runs, width, &mut part),
        _ => {
            // As many whole columns as there is room for: a part of one would cut what it says.
            let seen = ((ui.available_width() + GAP) / (LEAST_WIDTH + GAP)).floor().max(1.0);
            let of_seen = (ui.available_width() - GAP * (seen - 1.0)) / seen;
            let area = ScrollArea::horizontal().id_salt("runs side by side").auto_shrink(false);
            let width = width.max(of_seen);
            let shown = area.show(ui, |ui| columns_ui(ui, runs, width, &mut part));
            let seen = shown.state.clamped_offset().x + shown.inner_rect.width() + GAP + 1.0;
            let whole = (seen / (width + GAP)) as usize;
            more_runs_ui(ui, runs.len().saturating_sub(whole), shown.inner_rect);
        }
    }
}

/// Says over their titles how many runs there are at the right of those that are seen.
fn more_runs_ui(ui: &mut egui::Ui, more: usize, seen: Rect) {
    if more > 0 {
        let place = seen.with_min_x(seen.right() - MORE).with_max_y(seen.top() + TITLE);
        ui.painter().rect_filled(place, 0, Tokens::now(ui).page);
        let text = format!("{} ›", counted(more as u64, "more run"));
        ui.put(place, egui::Label::new(fonts::caption(text)).extend());
    }
}

fn columns_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    width: f32,
    part: &mut impl FnMut(&mut egui::Ui, &Run),
) {
    let space = ui.available_rect_before_wrap();
    let mut left = space.left();
    for run in runs.iter() {
        let rect = egui::Rect::from_x_y_ranges(left..=left + width, space.y_range());
        part_ui(ui, run.id, rect, |ui| {
            run_title_ui(ui, run);
            exports_of_run(ui, &run.title, |ui| part(ui, run));
        });
        if left > space.left() {
            let stroke = egui::Stroke::new(1.0, Tokens::now(ui).border);
            ui.painter().vline(left - GAP / 2.0, space.y_range(), stroke);
        }
        left += width + GAP;
    }
}

/// Draws in a part of the space, whose widgets are told from those of others by the id.
pub fn part_ui(ui: &mut egui::Ui, id: impl AsIdSalt, rect: Rect, add: impl FnOnce(&mut egui::Ui)) {
    let builder = egui::UiBuilder::new().id_salt(id).max_rect(rect);
    ui.scope_builder(builder, |ui| {
        ui.set_clip_rect(rect.expand(4.0).intersect(ui.clip_rect()));
        add(ui);
    });
}
