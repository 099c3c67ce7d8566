//! The open part of the tree as a list: kind and name at the left, step and bytes alive there at the right.

use std::borrow::Cow;

use eframe::egui::{
    self, Align2, Color32, Key, Pos2, Rect, Response, Role, Sense, Stroke, Vec2, WidgetInfo,
};

use super::words::{group_title, kind_words, name_words, title_words};
use crate::analysis::program::compiled_programs::CompiledPrograms;
use crate::analysis::program::tree_rows::{RowOf, TreeRow, TreeRows};
use crate::analysis::program::tree_search::Matches;
use crate::analysis::program_links::ProgramLinks;
use crate::store::System;
use crate::text::grouped;
use crate::ui::report::moment::step_id;
use crate::ui::report::program_kind_colors::kind_color;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::column_widths::{MOST_SHOWN, fitted};
use crate::ui::widget::data_table_cells::paint_opener;
use crate::ui::widget::long_list::LongList;
use crate::ui::widget::picture::pressed_keys;

/// Of a level of the tree, points, and the levels after which rows move no more to the right.
const LEVEL: f32 = 14.0;
const MOST_LEVELS: u16 = 24;
/// Where marks stand, points.
const GUTTER: f32 = 14.0;
/// Widths at the right: the step, and the bytes with their bar.
const STEP: f32 = 76.0;
const ALIVE: f32 = 132.0;
const BAR: f32 = 48.0;
/// Widths of the list below which these are left out.
const LEAST_WITH_ALIVE: f32 = 520.0;
const LEAST_WITH_STEP: f32 = 320.0;

pub struct ShownPrograms<'a> {
    pub compiled: CompiledPrograms<'a>,
    pub links: &'a ProgramLinks,
    pub rows: &'a TreeRows,
    pub matches: Option<&'a Matches>,
    /// The operation whose programs are marked.
    pub operation: Option<u32>,
    /// The program that is selected, and which of its rows.
    pub selected: Option<usize>,
    pub selected_row: Option<usize>,
    pub name: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    Select(usize),
    Toggle(usize),
    /// Opens or closes the row where it is not so yet.
    Open(usize, bool),
}

/// Where the columns at the right begin, in a list of this width.
struct ProgramColumns {
    step: f32,
    alive: f32,
}

impl ProgramColumns {
    fn of(rect: Rect) -> Self {
        let alive = if rect.width() < LEAST_WITH_ALIVE { 0.0 } else { ALIVE };
        let step = if rect.width() < LEAST_WITH_STEP { 0.0 } else { STEP };
        Self { step: rect.right() - alive - step, alive: rect.right() - alive }
    }
}

/// Titles of the columns, in a line above the list.
pub fn titles_ui(ui: &mut egui::Ui, system: &System) {
    let size = Vec2::new(ui.available_width(), 18.0);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let rect = Rect::from_min_max(rect.min, Pos2::new(rect.right() - 10.0, rect.bottom()));
    let (tokens, font) = (Tokens::now(ui), fonts::medium(size::CAPTION));
    let columns = ProgramColumns::of(rect);
    let title = |x: f32, align: Align2, text: &str| {
        let at = Pos2::new(x, rect.center().y);
        ui.painter().text(at, align, text, font.clone(), tokens.third_text);
    };
    title(rect.left() + GUTTER + LEVEL, Align2::LEFT_CENTER, system.program);
    let mut x = rect.left() + GUTTER + LEVEL + 62.0;
    for (text, is_found) in [("found", true), ("same operation", false)] {
        let at = Pos2::new(x, rect.center().y);
        mark(ui.painter(), at, is_found, tokens);
        let galley = ui.painter().layout_no_wrap(text.to_owned(), font.clone(), tokens.third_text);
        let width = galley.size().x;
        if x + width > columns.step - 40.0 {
            break;
        }
        ui.painter().galley(at + Vec2::new(9.0, -galley.size().y / 2.0), galley, tokens.third_text);
        x += width + 28.0;
    }
    if columns.step < columns.alive {
        title(columns.alive - 8.0, Align2::RIGHT_CENTER, "Step");
    }
    if columns.alive < rect.right() {
        let live = format!("{} there", system.not_always_live);
        title(rect.right() - 6.0, Align2::RIGHT_CENTER, &live);
    }
    ui.painter().hline(rect.x_range(), rect.bottom(), Stroke::new(1.0, tokens.border));
}

/// Draws the list; says what was done in it.
pub fn list_ui(ui: &mut egui::Ui, list: &mut LongList, shown: &ShownPrograms<'_>) -> Option<Done> {
    let mut done = None;
    let mut is_clicked = false;
    let response = list.ui(ui, shown.name, shown.rows.len(), |ui, rect, place| {
        if let Some(row) = shown.rows.get(place) {
            let of_row = row_ui(ui, shown, rect, place, row);
            is_clicked |= of_row.is_some();
            done = done.or(of_row);
        }
    });
    if is_clicked || response.clicked() {
        response.request_focus();
    }
    if response.has_focus() {
        done = done.or_else(|| key(ui, &response, list.page(), shown));
    }
    done
}

/// What the arrows and their like ask for.
fn key(ui: &egui::Ui, list: &Response, page: usize, shown: &ShownPrograms<'_>) -> Option<Done> {
    let pressed = pressed_keys(ui, list, true);
    let rows = shown.rows;
    let last = rows.len().checked_sub(1)?;
    let now = shown.selected_row.unwrap_or(0);
    let row = rows.get(now)?;
    let move_to = |wanted: usize| {
        // Headings are passed over, where there is something behind them.
        let after = (wanted..=last).find(|row| rows.program(*row).is_some());
        let before = (0..=wanted.min(last)).rev().find(|row| rows.program(*row).is_some());
        let found = if wanted >= now { after.or(before) } else { before.or(after) };
        found.map(Done::Select)
    };
    let moves: [(Key, usize); 6] = [
        (Key::ArrowDown, now.saturating_add(1).min(last)),
        (Key::ArrowUp, now.saturating_sub(1)),
        (Key::PageDown, now.saturating_add(page).min(last)),
        (Key::PageUp, now.saturating_sub(page)),
        (Key::Home, 0),
        (Key::End, last),
    ];
    if let Some((_, wanted)) = moves.into_iter().find(|(key, _)| pressed(*key)) {
        return move_to(wanted);
    }
    if pressed(Key::ArrowRight) {
        let is_closed = row.has_children && !row.is_open;
        let next = || move_to(now.saturating_add(1));
        return if is_closed { Some(Done::Open(now, true)) } else { next() };
    }
    if pressed(Key::ArrowLeft) {
        let is_open = row.is_open && matches!(row.of, RowOf::Program(_));
        let parent = || rows.parent(now).filter(|parent| rows.program(*parent).is_some());
        return if is_open { Some(Done::Open(now, false)) } else { parent().map(Done::Select) };
    }
    None
}

fn row_ui(
    ui: &mut egui::Ui,
    shown: &ShownPrograms<'_>,
    rect: Rect,
    place: usize,
    row: TreeRow,
) -> Option<Done> {
    let tokens = *Tokens::now(ui);
    let compiled = &shown.compiled;
    let program = match row.of {
        RowOf::Heading(group) => {
            let count = grouped(shown.links.shape.roots(group).len() as u64);
            let text = format!("{} ({count})", group_title(group, &compiled.report.system));
            let at = Pos2::new(rect.left() + GUTTER - 8.0, rect.center().y);
            let font = fonts::semibold(size::TABLE);
            ui.painter().text(at, Align2::LEFT_CENTER, &text, font, tokens.weak_text);
            let id = ui.scope_id().with(("heading", place));
            let heading = ui.interact(rect, id, Sense::hover());
            heading.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
            return None;
        }
        RowOf::Program(program) => program,
    };
    let response = ui.interact(rect, ui.scope_id().with(("row", place)), Sense::click());
    let is_selected = match shown.selected_row {
        Some(selected) => selected == place,
        None => shown.selected == Some(program),
    };
    let is_other_place = !is_selected && shown.selected == Some(program);
    let painter = ui.painter().clone();
    if is_selected {
        painter.rect_filled(rect, 4, tokens.selected);
    } else if response.hovered() || is_other_place {
        painter.rect_filled(rect, 4, tokens.raised);
    }
    marks(&painter, rect, program, shown, &tokens);
    let columns = ProgramColumns::of(rect);
    let indent = LEVEL * f32::from(row.depth.saturating_sub(1).min(MOST_LEVELS));
    let mut x = rect.left() + GUTTER + indent;
    let mut done = None;
    if row.has_children {
        let box_ = Rect::from_center_size(Pos2::new(x + 6.0, rect.center().y), Vec2::splat(16.0));
        let opener = ui.interact(box_, ui.scope_id().with(("opener", place)), Sense::click());
        paint_opener(ui, &opener, row.is_open);
        if opener.clicked() {
            done = Some(Done::Toggle(place));
        }
    }
    x += LEVEL;
    let kind_name = compiled.kind(program).unwrap_or_default();
    let swatch = Rect::from_min_size(Pos2::new(x, rect.center().y - 7.0), Vec2::new(4.0, 14.0));
    painter.rect_filled(swatch, 2, kind_color(kind_name, &tokens));
    x += 10.0;
    let is_top = row.depth == 1;
    let kind = kind_words(compiled, &shown.links.shape, program, is_top);
    let (name, is_own) = name_words(compiled, shown.links, program, MOST_SHOWN);
    let right = columns.step - 8.0;
    let at = Pos2::new(x, rect.center().y);
    let (kind_end, mut is_cut) =
        text(ui, at, right, &kind, fonts::medium(size::TABLE), tokens.text);
    if !name.is_empty() && kind_end + 8.0 < right {
        let at = Pos2::new(kind_end + 8.0, rect.center().y);
        let color = if is_own { tokens.weak_text } else { tokens.third_text };
        let (_, is_name_cut) = text(ui, at, right, &name, fonts::regular(size::TABLE), color);
        is_cut |= is_name_cut || name.contains('…');
    }
    visits_ui(ui, rect, &columns, program, shown);
    let title = if name.is_empty() { kind } else { format!("{kind} {name}") };
    response.widget_info(|| WidgetInfo::selected(Role::Row, true, is_selected, &title));
    if response.double_clicked() && row.has_children {
        done = done.or(Some(Done::Toggle(place)));
    } else if response.clicked() {
        done = done.or(Some(Done::Select(place)));
    }
    if row.is_within_itself {
        response.on_hover_text("A program that contains this place: it is not opened again");
    } else if is_cut && response.hovered() {
        response.on_hover_text(title_words(compiled, shown.links, program));
    }
    done
}

/// A disc of what was searched for, a ring of what is of the same operation.
fn marks(
    painter: &egui::Painter,
    rect: Rect,
    program: usize,
    shown: &ShownPrograms<'_>,
    tokens: &Tokens,
) {
    let at = Pos2::new(rect.left() + GUTTER / 2.0, rect.center().y);
    // What is both is a disc in a ring.
    if shown.operation.is_some_and(|operation| shown.links.is_of(program, operation)) {
        mark(painter, at, false, tokens);
    }
    if shown.matches.is_some_and(|matches| matches.contains(program)) {
        mark(painter, at, true, tokens);
    }
}

fn mark(painter: &egui::Painter, at: Pos2, is_found: bool, tokens: &Tokens) {
    if is_found {
        painter.circle_filled(at, 2.5, tokens.accent);
    } else {
        painter.circle_stroke(at, 4.5, Stroke::new(1.2, tokens.accent));
    }
}

/// The step that visits it, of several the highest, and what is alive there.
fn visits_ui(
    ui: &egui::Ui,
    rect: Rect,
    columns: &ProgramColumns,
    program: usize,
    shown: &ShownPrograms<'_>,
) {
    let Some((step, alive)) = shown.links.highest_visit(program) else { return };
    let (tokens, units) = (Tokens::now(ui), Units::now(ui));
    let font = fonts::regular(size::TABLE);
    if columns.step < columns.alive {
        let id = step_id(shown.compiled.report, step);
        let visits = shown.links.steps_of(program).len() as u64;
        let text = if visits > 1 { format!("{id}, ×{}", grouped(visits)) } else { id };
        let at = Pos2::new(columns.alive - 8.0, rect.center().y);
        ui.painter().text(at, Align2::RIGHT_CENTER, text, font.clone(), tokens.weak_text);
    }
    if columns.alive < rect.right()
        && let (Some(alive), Some(highest)) = (alive, shown.links.highest())
    {
        let bar = Rect::from_min_size(
            Pos2::new(columns.alive + 4.0, rect.center().y - 4.0),
            Vec2::new(BAR, 8.0),
        );
        let parts = [(alive, tokens.temporary)];
        Bar { parts: &parts, whole: highest, limit: None }.paint(ui.painter(), bar, tokens);
        let at = Pos2::new(rect.right() - 6.0, rect.center().y);
        let text = units.bytes(alive);
        ui.painter().text(at, Align2::RIGHT_CENTER, text, font, tokens.text);
    }
}

/// Writes a text in the room that is there; returns where it ends, and whether some of it was left out.
fn text(
    ui: &egui::Ui,
    at: Pos2,
    right: f32,
    text: &str,
    font: egui::FontId,
    color: Color32,
) -> (f32, bool) {
    let (text, _) = fitted(ui, text, &font, (right - at.x).max(0.0));
    let is_cut = matches!(text, Cow::Owned(_));
    (ui.painter().text(at, Align2::LEFT_CENTER, text, font, color).right(), is_cut)
}
