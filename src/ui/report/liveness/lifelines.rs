//! The lifetimes of everything alive at the selected step: bars below the curve, on its axis.

use eframe::egui::{self, Align2, Color32, Pos2, Rangef, Rect, ScrollArea, Sense, Stroke, Vec2};
use std::sync::Arc;

use super::lifetimes::{LifetimeRows, LivesBy};
use super::lifetimes_table::OF_LIVES;
use super::lives_of::LivesOf;
use super::tables::ListedPicture;
use super::words::selected_moment;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::variable_kind::pretty_name;
use crate::text::{grouped, shortened};
use crate::ui::report::PageContext;
use crate::ui::report::figures::variables::ranges_text;
use crate::ui::report::moment::{Moment, step_id};
use crate::ui::runs::{Runs, RunsAnswer};
use crate::ui::theme::{BETWEEN_CARDS, Tokens, fonts, text_on};
use crate::ui::units::Units;
use crate::ui::widget::card::picture_card_ui;
use crate::ui::widget::choice::segments_ui;

/// Height of a row, and of its bar, points.
const ROW: f32 = 19.0;
const BAR: f32 = 7.0;
/// Between the parts of a label.
const BETWEEN: f32 = 14.0;
/// Longest name beside a bar, and longest end of the path of what makes it.
const NAME: usize = 60;
const OPERATION_END: usize = 40;

/// The rows of a run, a scope and a step, in an order.
type RowsOfRun = RunsAnswer<(usize, Scope, usize, LivesBy), Option<Arc<LifetimeRows>>>;

#[derive(Default)]
pub struct Lifelines {
    by: LivesBy,
    rows: Vec<RowsOfRun>,
}

/// What is known of the lives in a run at the selected moment.
struct FoundLives {
    place: usize,
    step: usize,
    scope: Scope,
    rows: Result<Arc<LifetimeRows>, String>,
}

impl Lifelines {
    /// Forgets what was read of runs; the order stays.
    pub fn forget(&mut self) {
        self.rows.clear();
    }

    /// Draws the card of the run that is chosen; `frame` is where the curve lies along x.
    pub fn card_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &ListedPicture<'_>,
        lives_of: &mut LivesOf,
        frame: Rangef,
    ) {
        let runs = page.runs;
        let moment = selected_moment(subject.timelines, subject.slots);
        let place = lives_of.place(runs, subject.timelines, &moment);
        let found = self.find(ui, runs, subject, place, &moment);
        let title = found.as_ref().map_or("Lifetimes".to_owned(), |found| found.title(runs));
        let mut by = self.by;
        let choices = |ui: &mut egui::Ui| {
            let choices = [(LivesBy::Size, "Size"), (LivesBy::Length, "Length")];
            let address = (LivesBy::Address, "Address");
            let is_placed = |found: &FoundLives| matches!(found.scope, Scope::Arena(_));
            let address = found.as_ref().is_some_and(is_placed).then_some(address);
            segments_ui(ui, "Order of the rows", &mut by, choices.into_iter().chain(address));
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                lives_of.ui(ui, "Bars of", runs, place);
                note_ui(ui, found.as_ref());
            });
        };
        let mut exports = Vec::new();
        picture_card_ui(ui, &title, &mut exports, choices, |ui| {
            // A card keeps room below itself.
            let height = ui.available_height() - BETWEEN_CARDS / 2.0;
            found_ui(ui, page, subject, found.as_ref(), frame, height);
        });
        page.commands.append(&mut exports);
        self.by = by;
    }

    /// Draws those of a run below its own curve, in the height that is there.
    pub fn below_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &ListedPicture<'_>,
        place: usize,
        frame: Rangef,
    ) {
        let runs = page.runs;
        let moment = selected_moment(subject.timelines, subject.slots);
        let found = self.find(ui, runs, subject, place, &moment);
        ui.horizontal(|ui| {
            if let Some(found) = &found {
                ui.label(fonts::caption(found.title(runs)));
            }
            note_ui(ui, found.as_ref());
        });
        let height = ui.available_height();
        found_ui(ui, page, subject, found.as_ref(), frame, height);
    }

    /// Asks for the lives in a run; `None` before its first step, or where it has no curve.
    fn find(
        &mut self,
        ui: &egui::Ui,
        runs: &Arc<Runs>,
        subject: &ListedPicture<'_>,
        place: usize,
        moment: &Moment,
    ) -> Option<FoundLives> {
        let (step, curve) = (moment.step(place)?, subject.timelines.run(place)?);
        let scope = curve.timeline.worst_arena_at(step).map_or(curve.scope, Scope::Arena);
        let (key, by) = ((place, scope, step, self.by), self.by);
        self.rows.resize_with(runs.len(), RowsOfRun::default);
        let rows = self.rows.get_mut(place)?;
        rows.ask("lifetimes as bars", ui.ctx(), (runs, OF_LIVES), &key, move |runs, cancel| {
            let run = runs.get(place)?;
            let rows = LifetimeRows::new(&run.report, scope, step, cancel)?;
            let rows = rows.with_categories(&run.derived, scope, step, cancel);
            let rows = rows.with_operations(&run.derived);
            Some(Arc::new(rows.sorted(by)))
        });
        let found = rows.last(runs).and_then(|(_, found)| found.clone());
        let rows = found.ok_or_else(|| rows.failure().unwrap_or("Looking…").to_owned());
        Some(FoundLives { place, step, scope, rows })
    }
}

impl FoundLives {
    fn title(&self, runs: &Runs) -> String {
        let step = runs.get(self.place).map(|run| step_id(&run.report, self.step));
        let word = runs.system().step_in_text;
        format!("Lifetimes at {word} {}", step.unwrap_or_default())
    }
}

fn note_ui(ui: &mut egui::Ui, found: Option<&FoundLives>) {
    let Some(Ok(rows)) = found.map(|found| &found.rows) else { return };
    let note = format!("{} alive besides what lives throughout", grouped(rows.passing() as u64));
    let note = fonts::caption(note).color(Tokens::now(ui).third_text);
    ui.add(egui::Label::new(note).truncate());
}

/// The bars, or why there are none.
fn found_ui(
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    subject: &ListedPicture<'_>,
    found: Option<&FoundLives>,
    frame: Rangef,
    height: f32,
) {
    let Some(FoundLives { place, step, rows, .. }) = found else {
        let word = page.runs.system().step_in_text;
        ui.weak(format!("Nothing is alive before the first {word} and after the last"));
        return;
    };
    let rows = match rows {
        Ok(rows) => rows,
        Err(why_not) => {
            ui.weak(why_not);
            return;
        }
    };
    let (axis, (start, end)) = (&subject.timelines.axis, subject.range);
    let per_slot = f64::from(frame.span()) / (end - start);
    let x = |step: u32| {
        let slot = axis.slot_or_end(*place, step as usize);
        frame.min + ((slot as f64 - 0.5 - start) * per_slot) as f32
    };
    let at = u32::try_from(*step).unwrap_or(u32::MAX);
    ui.spacing_mut().item_spacing.y = 0.0;
    let area = ScrollArea::vertical().id_salt(place).auto_shrink(false);
    let area = area.min_scrolled_height(0.0).max_height(height);
    area.show_rows(ui, ROW, rows.passing(), |ui, shown| {
        for row in shown {
            row_ui(ui, page, rows, row, at, frame, &x);
        }
    });
}

fn row_ui(
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    rows: &LifetimeRows,
    row: usize,
    at: u32,
    frame: Rangef,
    x: &dyn Fn(u32) -> f32,
) {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    let Some((name, bytes, ranges)) = rows.life(row) else { return };
    let size = Vec2::new(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let is_selected = page.selection.variables().any(|selected| selected == name);
    if is_selected {
        ui.painter().rect_filled(rect, 3, tokens.selected);
    } else if row.is_multiple_of(2) {
        ui.painter().rect_filled(rect, 3, tokens.stripe);
    }
    let painter = ui.painter();
    let middle = rect.center().y;
    let right = Pos2::new(frame.min - 8.0, middle);
    let font = fonts::semibold(fonts::size::CAPTION);
    painter.text(right, Align2::RIGHT_CENTER, units.bytes(bytes), font, tokens.text);
    let lane = Rect::from_x_y_ranges(frame, rect.y_range());
    let lane = painter.with_clip_rect(lane.intersect(painter.clip_rect()));
    let color = rows.color(row, &tokens);
    let dim = tokens.surface.lerp_to_gamma(color, 0.45);
    let y = middle - BAR / 2.0..=middle + BAR / 2.0;
    let (mut drawn_to, mut here) = (f32::NEG_INFINITY, None);
    for range in ranges {
        let (from, to) = (x(range.start), x(range.end));
        if range.contains(&at) {
            here = Some((from, to.max(from + 3.0), range.clone()));
        }
        // Of many that lie in a pixel one is drawn.
        if to < frame.min || from > frame.max || to - drawn_to < 0.5 {
            continue;
        }
        drawn_to = to.max(from + 1.0);
        lane.rect_filled(Rect::from_x_y_ranges(from..=drawn_to, y.clone()), 1, dim);
    }
    let cursor = f32::midpoint(x(at), x(at.saturating_add(1)));
    if let Some((from, to, _)) = &here {
        lane.rect_filled(Rect::from_x_y_ranges(*from..=*to, y), 1, color);
    }
    lane.vline(cursor, rect.y_range(), Stroke::new(1.0, tokens.ink));
    if let Some((from, to, range)) = here {
        let life = ranges_text(rows.report(), &[range]);
        let name = pretty_name(name);
        let operation = rows.operation(row);
        let operation = operation.map(|(_, end)| shortened(&end, OPERATION_END).into_owned());
        let operation = operation.filter(|operation| *operation != name);
        let short_name = shortened(&name, NAME);
        let parts = operation.iter().map(|text| &**text).chain([&*short_name, &*life]);
        label_ui(
            &lane,
            rect,
            Rangef::new(from, to),
            cursor,
            parts,
            [color, tokens.surface],
            &tokens,
        );
    }
    response.widget_info(|| {
        let label = format!("Life of {name}");
        egui::WidgetInfo::selected(egui::Role::Button, true, is_selected, label)
    });
    let hover = || {
        let text = format!("{}, {}", pretty_name(name), ranges_text(rows.report(), ranges));
        match rows.operation(row) {
            Some((path, _)) => format!("{path}\n{text}"),
            None => text,
        }
    };
    // The text is long and rows are many: it is made where somebody learns it.
    let is_told = response.hovered() || ui.ctx().has_accesskit_node(response.id);
    let response = if is_told { response.on_hover_text(hover()) } else { response };
    if response.clicked() {
        page.selection.toggle_variable(name.to_owned(), false);
    }
}

/// What makes it, its name and its life, as many of them as leave its bar and its ends to be seen; on grounds of the colors
/// within the bar and beside it.
fn label_ui<'a>(
    lane: &egui::Painter,
    rect: Rect,
    bar: Rangef,
    cursor: f32,
    parts: impl Iterator<Item = &'a str>,
    [within, beside]: [Color32; 2],
    tokens: &Tokens,
) {
    let font = fonts::regular(fonts::size::CAPTION);
    let galley =
        |text: &str| lane.layout_no_wrap(text.to_owned(), font.clone(), Color32::PLACEHOLDER);
    let parts: Vec<_> = parts.map(galley).collect();
    let ends: Vec<f32> = parts
        .iter()
        .scan(-BETWEEN, |end, part| {
            *end += BETWEEN + part.size().x;
            Some(*end)
        })
        .collect();
    let Some((height, (left, count))) = parts.first().map(|part| part.size().y).zip(label_place(
        lane.clip_rect().x_range(),
        bar,
        cursor,
        &ends,
    )) else {
        return;
    };
    let top = rect.center().y - height / 2.0;
    let width = ends.get(count.saturating_sub(1)).copied().unwrap_or_default();
    let size = Vec2::new(width + 6.0, height);
    let ground = Rect::from_min_size(Pos2::new(left - 3.0, top), size);
    // Without its color the bar would look like two.
    let is_within = bar.contains(ground.left()) && bar.contains(ground.right());
    let (color, [first, others]) = if is_within {
        (within, [text_on(within); 2])
    } else {
        (beside.gamma_multiply(0.88), [tokens.text, tokens.third_text])
    };
    lane.rect_filled(ground, 2, color);
    for (place, (part, end)) in parts.into_iter().zip(&ends).take(count).enumerate() {
        let x = left + end - part.size().x;
        lane.galley(Pos2::new(x, top), part, if place == 0 { first } else { others });
    }
}

/// Where a label begins, and how many of its parts it has, which end at these widths: beside its bar, as many as have room
/// there, or else within the bar, on the wider side of the line of the step. `None` without any parts.
fn label_place(visible: Rangef, bar: Rangef, cursor: f32, ends: &[f32]) -> Option<(f32, usize)> {
    for (place, width) in ends.iter().enumerate().rev() {
        if bar.max + 8.0 + width <= visible.max {
            return Some((bar.max.max(visible.min) + 8.0, place + 1));
        }
        if bar.min - 8.0 - width >= visible.min {
            return Some((bar.min.min(visible.max) - 8.0 - width, place + 1));
        }
    }
    let first = *ends.first()?;
    let all = Rangef::new(bar.min.max(visible.min), bar.max.min(visible.max));
    let at = cursor.clamp(all.min, all.max.max(all.min));
    let (before, after) = (Rangef::new(all.min, at), Rangef::new(at, all.max));
    let wider = if before.span() > after.span() { before } else { after };
    let within = if first + 24.0 <= wider.span() { wider } else { all };
    let has_room = |width: &&f32| **width + 24.0 <= within.span();
    let count = ends.iter().take_while(has_room).count().max(1);
    let width = ends.get(count - 1).copied().unwrap_or(first);
    Some((within.center() - width / 2.0, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_leaves_the_ends_of_its_bar_to_be_seen() {
        let visible = Rangef::new(0.0, 400.0);
        let at =
            |cursor, from, to| label_place(visible, Rangef::new(from, to), cursor, &[100.0, 200.0]);
        let at = |cursor, from, to| at(cursor, from, to).expect("parts");
        let place = |from, to| at(from, from, to);
        assert_eq!(place(50.0, 150.0), (158.0, 2), "right of it");
        assert_eq!(place(250.0, 350.0), (42.0, 2), "left of it");
        assert_eq!(place(130.0, 220.0), (228.0, 1), "the name alone");
        assert_eq!(place(110.0, 395.0), (2.0, 1));
        assert_eq!(place(-50.0, 390.0), (95.0, 2), "within what is seen of it");
        assert_eq!(place(90.0, 300.0), (145.0, 1));
        assert_eq!(at(150.0, 0.0, 400.0), (175.0, 2), "right of the step");
        assert_eq!(at(250.0, 0.0, 390.0), (25.0, 2), "left of the step");
        assert_eq!(at(190.0, 0.0, 310.0), (45.0, 1));
        assert_eq!(at(200.0, 95.0, 310.0), (152.5, 1), "no room on either side");
        for (from, to) in [(0.0, 301.0), (95.0, 400.0), (-1e6, 1e6), (90.0, 299.0)] {
            let (left, count) = place(from, to);
            let end = left + 100.0 * count as f32;
            assert!(left >= 0.0 && end <= 400.0, "{from} to {to}: {left} to {end}");
            let start = f32::max(from, 0.0);
            assert!(!(left - 3.0..end + 3.0).contains(&start), "{from} to {to}: {left} to {end}");
        }
    }
}
