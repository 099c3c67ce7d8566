//! The facts of both reports side by side: cards with source, target and difference.

use eframe::egui;
use eframe::egui::{Grid, Label, RichText, ScrollArea};

use super::super::cards::{Said, Statement, statements};
use crate::analysis::comparison::joined::joined;
use crate::store::Report;
use crate::text::grouped;
use crate::ui::legacy::Side;
use crate::ui::report::halves::side_color;
use crate::ui::report::{change_color, change_text};
use crate::ui::theme::{Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::rows::Value;

/// Width of names, and of differences, points.
const NAME: f32 = 176.0;
const DIFFERENCE: f32 = 150.0;
/// Narrowest and widest value, points.
const VALUE: (f32, f32) = (64.0, 180.0);

/// A card: its title, and the facts of both.
pub type PairCard = (&'static str, Vec<PairFact>);

/// A fact of both; `None` where a report does not have it.
#[derive(Debug)]
pub struct PairFact {
    name: &'static str,
    said: [Option<Said>; 2],
}

/// The cards with what is known now.
pub fn pair_cards([source, target]: [&Report; 2]) -> Vec<PairCard> {
    let cards = statements(source).into_iter().zip(statements(target));
    let facts = |source: Vec<Statement>, target: Vec<Statement>| {
        let [source, target] =
            [source, target].map(|list| list.into_iter().map(|row| (row.0, row)).collect());
        let fact = |row: [Option<Statement>; 2]| {
            let name = row.iter().flatten().next()?.0;
            Some(PairFact { name, said: row.map(|said| said.map(|(_, said)| said)) })
        };
        joined(source, target).into_iter().filter_map(fact).collect()
    };
    cards.map(|((title, source), (_, target))| (title, facts(source, target))).collect()
}

/// Draws the cards below each other.
pub fn cards_ui(ui: &mut egui::Ui, cards: &[PairCard]) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for (title, facts) in cards {
            card_frame(Tokens::now(ui)).show(ui, |ui| {
                ui.set_width(ui.available_width());
                card_ui(ui, title, facts);
            });
            ui.add_space(6.0);
        }
    });
}

fn card_ui(ui: &mut egui::Ui, title: &str, facts: &[PairFact]) {
    let units = Units::now(ui);
    let spacing = 14.0;
    // The same columns in all cards.
    let rest = ui.available_width() - NAME - DIFFERENCE - spacing * 3.0;
    let width = (rest / 2.0).clamp(VALUE.0, VALUE.1);
    let grid = Grid::new(("facts of both", title)).num_columns(4).spacing([spacing, 3.0]);
    grid.show(ui, |ui| {
        cell_ui(ui, NAME, |ui| ui.label(RichText::new(title).strong().size(15.0)));
        for side in Side::BOTH {
            let title = RichText::new(side.title()).strong().color(side_color(ui, side));
            cell_ui(ui, width, |ui| ui.label(title));
        }
        ui.weak("Difference");
        ui.end_row();
        if facts.is_empty() {
            ui.weak("In neither report");
        }
        for fact in facts {
            let name = RichText::new(fact.name).weak();
            cell_ui(ui, NAME, |ui| ui.add(Label::new(name).truncate()));
            for said in &fact.said {
                cell_ui(ui, width, |ui| value_ui(ui, said.as_ref(), units));
            }
            difference_ui(ui, fact, units);
            ui.end_row();
        }
    });
}

/// A cell as wide as all of its column.
fn cell_ui(ui: &mut egui::Ui, width: f32, add: impl FnOnce(&mut egui::Ui) -> egui::Response) {
    ui.scope(|ui| {
        ui.set_width(width);
        add(ui);
    });
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
    match said.map(|said| said.text(units)).filter(|all| *all != text) {
        Some(all) => label.on_hover_text(all),
        None => label,
    }
}

fn difference_ui(ui: &mut egui::Ui, fact: &PairFact, units: Units) {
    match fact.said.each_ref().map(Option::as_ref) {
        [Some(Said::Bytes(_, source, _)), Some(Said::Bytes(_, target, _))] => {
            let text = change_text(*source, *target, units);
            ui.colored_label(change_color(ui, *source, *target), text);
        }
        [Some(Said::Count(source, _)), Some(Said::Count(target, _))] => {
            let text = Value::count_change(*source, *target).shown(units);
            ui.colored_label(change_color(ui, *source, *target), text);
        }
        [Some(Said::Words(source)), Some(Said::Words(target))] if source == target => {
            ui.weak("the same");
        }
        [Some(Said::Words(_)), Some(Said::Words(_))] => {
            ui.label(RichText::new("≠ differs").strong());
        }
        [Some(Said::Unknown) | None, Some(Said::Unknown) | None] => {
            ui.label("");
        }
        [Some(_), None] => {
            ui.label("only in source");
        }
        [None, Some(_)] => {
            ui.label("only in target");
        }
        _ => {
            ui.label("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::target::Target;

    #[test]
    fn facts_of_both_share_their_lines() {
        let report = |target: Target| {
            let report = Report::default();
            report.target.fill(Some(target));
            report
        };
        let source =
            report(Target { tiles: Some(4), kind: Some("IPU".into()), ..Target::default() });
        let target = report(Target {
            tiles: Some(8),
            clock_hz: Some(1_000_000),
            kind: Some("CPU".into()),
            ..Target::default()
        });
        let cards = pair_cards([&source, &target]);
        let (title, facts) = &cards[1];
        let names: Vec<_> = facts.iter().map(|fact| fact.name).collect();
        assert_eq!((*title, &names[..]), ("Target", &["Type", "Tiles", "Clock"][..]));
        let count = |count| Some(Said::Count(count, String::new()));
        assert_eq!(facts[1].said, [count(4), count(8)]);
        assert_eq!(facts[2].said, [None, Some(Said::Words("1 MHz".into()))]);
    }
}
