//! The facts at the left: of one run in cards, of several as cards with a column for each run.

use eframe::egui::{self, Align, Grid, Label, Layout, RichText, ScrollArea};

use super::words::{DIFFERS, SAME, said_text, state_text};
use crate::analysis::comparison::facts::{ComparedFact, FactGroup, Said};
use crate::text::grouped;
use crate::ui::command::Sheet;
use crate::ui::report::{change_color, change_text};
use crate::ui::run_chips::{badge_ui, elided};
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::fonts::{self, size};
use crate::ui::theme::{BETWEEN_CARDS, Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::column_widths::text_width;
use crate::ui::widget::data_table_cells::{is_within, more_ui};
use crate::ui::widget::exports::scrolled_of_exports;
use crate::ui::widget::facts::facts_ui;
use crate::ui::widget::rows::{CellValue, TableColumn, percent_text};

/// Least width of a column of cards of one run, points.
const COLUMN: f32 = 320.0;
const MOST_COLUMNS: usize = 3;

struct CardColumns {
    name: f32,
    /// Narrowest and widest value.
    value: (f32, f32),
    /// Of two runs.
    difference: f32,
    /// What the change takes of a value.
    change: f32,
    spacing: f32,
}

/// Of two runs, with a column for their difference.
const OF_TWO: CardColumns = CardColumns {
    name: 164.0,
    value: (64.0, 180.0),
    difference: 176.0,
    change: 0.0,
    spacing: 14.0,
};
/// Of more runs, with the change beside the value.
const OF_MORE: CardColumns =
    CardColumns { name: 126.0, value: (128.0, 190.0), difference: 0.0, change: 50.0, spacing: 6.0 };
/// Of so many that changes would push some out of sight: the pointer learns of them.
const OF_MANY: CardColumns = CardColumns { value: (76.0, 128.0), change: 0.0, ..OF_MORE };
/// Of a card, with room for the end of a long value, points.
const CARD_MARGIN: f32 = 24.0;
/// What the badge of a run takes beside its title, points.
const BADGE: f32 = 24.0;
/// Room for a character of a title, points.
const TITLE_CHARACTER: f32 = 8.0;
/// A change that is longer than that.
const TOO_LONG: &str = "> ×999";

impl CardColumns {
    /// Of so many runs in the width of a card, with changes where there is room for all runs.
    fn of(runs: usize, width: f32) -> Self {
        match runs {
            2 => OF_TWO,
            _ if OF_MORE.needed(runs) <= width => OF_MORE,
            _ => OF_MANY,
        }
    }

    fn needed(&self, runs: usize) -> f32 {
        let values = runs as f32 * (self.value.0 + self.spacing) - self.change;
        self.name + self.difference + values
    }

    /// The room at the right of a run's values for their change against the reference, points.
    fn change_room(&self, runs: &Runs, run: &Run) -> f32 {
        if run.id == runs.reference().id { 0.0 } else { self.change }
    }
}

/// The width that the cards of all runs need, points.
pub fn needed_width(runs: &Runs) -> f32 {
    let columns = if runs.len() == 2 { OF_TWO } else { OF_MORE };
    2.0 * CARD_MARGIN + columns.needed(runs.len())
}

pub fn cards_ui(ui: &mut egui::Ui, runs: &Runs, groups: &[FactGroup]) {
    let scrolls = egui::Vec2b::new(runs.len() > 2, true);
    let area = ScrollArea::new(scrolls).auto_shrink(false).show(ui, |ui| {
        if runs.is_one() {
            cards_of_one_ui(ui, groups);
            return;
        }
        for group in groups {
            card_frame(Tokens::now(ui)).show(ui, |ui| {
                ui.set_width(ui.available_width());
                card_ui(ui, runs, group);
            });
            ui.add_space(BETWEEN_CARDS - ui.spacing().item_spacing.y);
        }
    });
    scrolled_of_exports(ui, &area);
}

/// All facts as a table: what is a figure alone as a number, all else in words.
pub fn facts_sheet(runs: &Runs, groups: &[FactGroup]) -> Sheet {
    let titles = ["Group", "Fact"].map(TableColumn::rest).into_iter();
    let columns = titles.chain(runs.iter().map(|run| TableColumn::rest(&*run.name)));
    let said = |said: &Option<Said>| match said {
        Some(Said::Bytes(before, bytes, after)) if before.is_empty() && after.is_empty() => {
            CellValue::Bytes(*bytes)
        }
        Some(Said::Count(count, of)) if of.is_empty() => CellValue::Count(*count),
        Some(Said::Unknown) | None => CellValue::Nothing,
        Some(said) => CellValue::text(said_text(said, Units::Bytes)),
    };
    let row = |group: &FactGroup, fact: &ComparedFact| {
        let name =
            [CellValue::text(group.title.to_string()), CellValue::text(fact.name.to_string())];
        name.into_iter().chain(fact.said.iter().map(said)).collect()
    };
    let rows = groups.iter().flat_map(|group| group.facts.iter().map(move |fact| row(group, fact)));
    Sheet::of(columns.collect(), rows.collect())
}

/// Cards below each other, in two columns where there is room.
fn cards_of_one_ui(ui: &mut egui::Ui, groups: &[FactGroup]) {
    let units = Units::now(ui);
    let card = |ui: &mut egui::Ui, group: &FactGroup| {
        let fact = |fact: &ComparedFact| {
            let said = fact.said.first()?.as_ref()?;
            Some((fact.name.to_string(), said_text(said, units)))
        };
        let facts: Vec<_> = group.facts.iter().filter_map(fact).collect();
        facts_ui(ui, &group.title, &facts);
    };
    let count = ((ui.available_width() / COLUMN) as usize).clamp(1, MOST_COLUMNS);
    let columns = balanced(groups, count);
    ui.spacing_mut().item_spacing.x = BETWEEN_CARDS;
    ui.columns(count, |columns_ui| {
        for (ui, groups) in columns_ui.iter_mut().zip(columns) {
            for group in groups {
                card(ui, group);
            }
        }
    });
}

/// Deals out cards to columns, in their order, each to the column that is the shortest so far.
fn balanced(groups: &[FactGroup], count: usize) -> Vec<Vec<&FactGroup>> {
    let mut columns: Vec<(usize, Vec<&FactGroup>)> = vec![(0, Vec::new()); count];
    for group in groups {
        if let Some((lines, column)) = columns.iter_mut().min_by_key(|(lines, _)| *lines) {
            // A title and the margins are as high as three lines.
            *lines += group.facts.len() + 3;
            column.push(group);
        }
    }
    columns.into_iter().map(|(_, column)| column).collect()
}

fn card_ui(ui: &mut egui::Ui, runs: &Runs, group: &FactGroup) {
    let units = Units::now(ui);
    let is_pair = runs.len() == 2;
    // The same columns in all cards.
    let columns = CardColumns::of(runs.len(), ui.available_width());
    let change = columns.change;
    let rest = ui.available_width() - columns.name - columns.difference + change;
    // Cells are rounded to pixels.
    let width = (rest / runs.len() as f32 - columns.spacing).floor();
    let width = width.clamp(columns.value.0, columns.value.1);
    let grid = Grid::new(("facts of several", &group.title))
        .num_columns(runs.len() + 1 + usize::from(is_pair));
    grid.spacing([columns.spacing, 3.0]).show(ui, |ui| {
        let title = fonts::card_title(&*group.title);
        cell_ui(ui, columns.name, |ui| drop(ui.add(Label::new(title).truncate())));
        let titles: Vec<&str> = runs.iter().map(|run| &*run.title).collect();
        for (place, run) in runs.iter().enumerate() {
            let room = columns.change_room(runs, run);
            let width = width - change + room;
            right_cell_ui(ui, width, |ui| {
                whole_or_nothing(ui);
                // Above the values, unless that is too narrow for it.
                let for_title = width - BADGE;
                let title_width = text_width(ui, &run.title, &fonts::semibold(size::TABLE));
                let title = if title_width > for_title {
                    let most = (for_title / TITLE_CHARACTER) as usize;
                    elided(&titles, most).into_iter().nth(place).unwrap_or_default()
                } else {
                    run.title.to_string()
                };
                let galley = egui::WidgetText::from(fonts::number(title)).into_galley(
                    ui,
                    Some(egui::TextWrapMode::Truncate),
                    width - BADGE,
                    egui::TextStyle::Body,
                );
                let spare = (width - BADGE - galley.size().x).max(0.0);
                ui.add_space(room.min(spare));
                ui.add(Label::new(galley)).on_hover_text(&*run.name);
                badge_ui(ui, run.badge);
            });
        }
        if is_pair {
            ui.weak("Difference");
        }
        ui.end_row();
        if group.facts.is_empty() {
            ui.weak(runs.of_number(["", "In neither run", "In no run"]));
        }
        for fact in &group.facts {
            let name = RichText::new(&*fact.name).weak();
            cell_ui(ui, columns.name, |ui| drop(ui.add(Label::new(name).truncate())));
            let first = fact.said.first().and_then(Option::as_ref);
            for (said, run) in fact.said.iter().zip(runs.iter()) {
                let room = columns.change_room(runs, run);
                right_cell_ui(ui, width - change + room, |ui| {
                    whole_or_nothing(ui);
                    if is_pair || run.id == runs.reference().id {
                        value_ui(ui, said.as_ref(), units);
                    } else {
                        let said = [first, said.as_ref()];
                        changed_value_ui(ui, said, runs.reference(), units, room);
                    }
                });
            }
            if is_pair {
                difference_ui(ui, fact, runs, units);
            }
            ui.end_row();
        }
    });
}

/// A cell as wide as all of its column.
fn cell_ui(ui: &mut egui::Ui, width: f32, add: impl FnOnce(&mut egui::Ui)) {
    ui.scope(|ui| {
        ui.set_width(width);
        add(ui);
    });
}

/// The same, filled from the right to the left.
fn right_cell_ui(ui: &mut egui::Ui, width: f32, add: impl FnOnce(&mut egui::Ui)) {
    let size = egui::vec2(width, ui.text_style_height(&egui::TextStyle::Body));
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_width(width);
        ui.spacing_mut().item_spacing.x = 4.0;
        add(ui);
    });
}

/// A cell that the edge of the page would cut is not drawn: a part of a value reads as another value.
fn whole_or_nothing(ui: &mut egui::Ui) {
    let (cell, seen) = (ui.max_rect(), ui.clip_rect().x_range());
    if !is_within(cell.left()..=cell.right(), seen) {
        more_ui(ui, cell.x_range(), seen, cell.center().y);
        ui.set_opacity(0.0);
    }
}

/// A value in short; all of it as a tooltip.
fn value_ui(ui: &mut egui::Ui, said: Option<&Said>, units: Units) -> egui::Response {
    let text = match said {
        Some(Said::Bytes(_, bytes, _)) => units.bytes(*bytes),
        Some(Said::Count(count, _)) => grouped(*count),
        Some(Said::Words(words)) => words.clone(),
        Some(Said::Unknown) | None => "–".to_owned(),
    };
    let label = ui.add(Label::new(&text).truncate());
    match said.map(|said| said_text(said, units)).filter(|all| *all != text) {
        Some(all) => label.on_hover_text(all),
        None => label,
    }
}

/// A value with its change against the reference in short beside it, where that has room.
fn changed_value_ui(
    ui: &mut egui::Ui,
    [first, said]: [Option<&Said>; 2],
    reference: &Run,
    units: Units,
    room: f32,
) {
    let (before, now) = match [first, said] {
        [Some(Said::Bytes(_, before, _)), Some(Said::Bytes(_, now, _))]
        | [Some(Said::Count(before, _)), Some(Said::Count(now, _))]
            if before != now =>
        {
            (*before, *now)
        }
        [Some(Said::Words(before)), Some(Said::Words(now))] if before != now => {
            if room > 0.0 {
                right_cell_ui(ui, room, |ui| drop(ui.label(RichText::new("≠").strong())));
            }
            value_ui(ui, said, units);
            return;
        }
        _ => {
            ui.add_space(room);
            value_ui(ui, said, units);
            return;
        }
    };
    let change = match said {
        Some(Said::Bytes(..)) => change_text(before, now, units),
        _ => CellValue::count_change(before, now).shown(units).into_owned(),
    };
    let short = match before {
        0 => "new".to_owned(),
        _ => percent_text((now as f64 - before as f64) * 100.0 / before as f64),
    };
    // Times that have no room: a part of their digits would read as others.
    let font = egui::TextStyle::Small.resolve(ui.style());
    let has_room = text_width(ui, &short, &font) <= room;
    let short = if has_room { short } else { TOO_LONG.to_owned() };
    let short = RichText::new(short).small().color(change_color(ui, before, now));
    let hover = format!("{change} against {}", reference.title);
    if room > 0.0 {
        right_cell_ui(ui, room, |ui| {
            ui.add(Label::new(short).truncate()).on_hover_text(&hover);
        });
    }
    value_ui(ui, said, units).on_hover_text(hover);
}

fn difference_ui(ui: &mut egui::Ui, fact: &ComparedFact, runs: &Runs, units: Units) {
    let said = |run: usize| fact.said.get(run).and_then(Option::as_ref);
    match [said(0), said(1)] {
        [Some(Said::Bytes(_, source, _)), Some(Said::Bytes(_, target, _))] => {
            let text = change_text(*source, *target, units);
            ui.colored_label(change_color(ui, *source, *target), text);
        }
        [Some(Said::Count(source, _)), Some(Said::Count(target, _))] => {
            let text = CellValue::count_change(*source, *target).shown(units);
            ui.colored_label(change_color(ui, *source, *target), text);
        }
        [Some(Said::Words(source)), Some(Said::Words(target))] if source == target => {
            ui.weak(SAME);
        }
        [Some(Said::Words(_)), Some(Said::Words(_))] => {
            ui.label(RichText::new(DIFFERS).strong());
        }
        [Some(said), None] | [None, Some(said)] if *said != Said::Unknown => {
            ui.label(state_text(&fact.said, runs));
        }
        _ => drop(ui.label("")),
    }
}
