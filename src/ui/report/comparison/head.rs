//! What the reports were made with, and what changed, in a few figures and sentences.

use eframe::egui::{self, Label, RichText};

use super::pair_of_runs::PairOfRuns;
use crate::analysis::comparison::contribution::Part;
use crate::analysis::comparison::figures::{KEY_FIGURES, Unit};
use crate::analysis::comparison::plans::Plans;
use crate::analysis::figures::difference::{Difference, RateDifference};
use crate::systems::poplar::insights::change::ChangeKind;
use crate::systems::poplar::insights::compared::Compared;
use crate::text::{grouped, rate, shortened, signed_rate};
use crate::ui::report::two_columns::{Column, two_columns_ui};
use crate::ui::run_chips::badge_ui;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::card::card_ui;
use crate::ui::widget::rows::{percent_text, signed};

/// Options that are shown here; the others are in the table.
const MOST_OPTIONS: usize = 7;
/// Categories that a sentence names.
const MOST_CATEGORIES: usize = 3;

pub fn changes_ui(ui: &mut egui::Ui, pair: &PairOfRuns<'_>, found: &Compared) {
    let units = Units::now(ui);
    card_ui(ui, "In words", |ui| {
        for sentence in sentences(found, units) {
            ui.add(Label::new(sentence).wrap());
        }
    });
    let options = |ui: &mut egui::Ui| card_ui(ui, "What differs", |ui| options_ui(ui, found));
    let figures =
        |ui: &mut egui::Ui| card_ui(ui, "What changed", |ui| figures_ui(ui, pair, found, units));
    if ui.available_width() >= 760.0 {
        two_columns_ui(ui, 0.4, |ui, column| match column {
            Column::Left => options(ui),
            Column::Right => figures(ui),
        });
    } else {
        options(ui);
        figures(ui);
    }
}

fn options_ui(ui: &mut egui::Ui, found: &Compared) {
    if found.options.is_empty() {
        ui.weak("No option, version or machine differs");
    }
    egui::Grid::new("options that differ in short").num_columns(2).spacing([14.0, 2.0]).show(
        ui,
        |ui| {
            for option in found.options.iter().take(MOST_OPTIONS) {
                ui.weak(shortened(&option.title(), 44));
                let value = |value: &Option<String>| {
                    shortened(value.as_deref().unwrap_or("–"), 30).into_owned()
                };
                let values: Vec<String> = option.values.iter().map(value).collect();
                ui.label(values.join(" → "));
                ui.end_row();
            }
        },
    );
    if found.options.len() > MOST_OPTIONS {
        let more = found.options.len() - MOST_OPTIONS;
        ui.weak(format!("and {} more below", grouped(more as u64)));
    }
}

fn figures_ui(ui: &mut egui::Ui, pair: &PairOfRuns<'_>, found: &Compared, units: Units) {
    let tokens = *Tokens::now(ui);
    egui::Grid::new("what changed").num_columns(5).spacing([18.0, 2.0]).show(ui, |ui| {
        ui.weak("");
        for run in pair.runs {
            ui.horizontal(|ui| {
                badge_ui(ui, run.badge);
                ui.label(&*run.title);
            });
        }
        ui.weak("Difference");
        ui.weak(pair.relative_title());
        ui.end_row();
        for key in KEY_FIGURES {
            let Some(figure) = key.of(&found.figures) else { continue };
            let value = figure.difference(1);
            if value.source.is_none() && value.target.is_none() {
                continue;
            }
            ui.label(key.title);
            if let Some(of_rate) = figure.rate_difference(1) {
                rate_ui(ui, &of_rate);
                continue;
            }
            let shown = |number: u64| match figure.unit {
                Unit::Bytes => units.bytes(number),
                _ => grouped(number),
            };
            for number in [value.source, value.target] {
                let text = number.map(|number| shown(number.unsigned_abs()));
                ui.label(text.unwrap_or_else(|| "–".to_owned()));
            }
            let change = value.change();
            let color = match change {
                Some(1..) => tokens.more,
                Some(..=-1) => tokens.less,
                _ => tokens.text,
            };
            let text = change.map_or_else(|| "–".to_owned(), |change| signed(change, shown));
            ui.label(RichText::new(text).strong().color(color));
            let percent = value.percent().map_or(String::new(), percent_text);
            ui.weak(percent);
            ui.end_row();
        }
    });
}

/// The conclusions that come first whatever else is said: whether it fits, and that all plans are equal, the
/// machines differ, the peak moved, or how fast it is.
fn leading(found: &Compared, units: Units) -> impl Iterator<Item = String> {
    let leads = |kind: ChangeKind| {
        !matches!(
            kind,
            // The sentences below say the same with categories and kinds.
            ChangeKind::Temporaries
                | ChangeKind::AlwaysLive
                | ChangeKind::ChangedPlans
                | ChangeKind::Trade
                | ChangeKind::Balance
        )
    };
    let insights = found.insights.iter().filter(move |insight| leads(insight.kind));
    insights.map(move |insight| insight.text(&|bytes| units.bytes(bytes)))
}

/// A rate of both runs, its change, and that in percent; where it is better is said above.
fn rate_ui(ui: &mut egui::Ui, of_rate: &RateDifference) {
    let text = |number: Option<f64>, shown: fn(f64) -> String| {
        number.map_or_else(|| "–".to_owned(), shown)
    };
    for number in [of_rate.source, of_rate.target] {
        ui.label(text(number, rate));
    }
    ui.strong(text(of_rate.change(), signed_rate));
    ui.weak(of_rate.percent().map_or(String::new(), percent_text));
    ui.end_row();
}

fn sentences(found: &Compared, units: Units) -> Vec<String> {
    let mut sentences: Vec<String> = leading(found, units).collect();
    if let Some(peak) = &found.peak {
        let temporary = peak.whole.of(Part::NotAlwaysLive);
        let always = peak.whole.of(Part::AlwaysLive);
        let mut text = format!("Temporary memory at the peak {}", moved(&temporary, units));
        text.push_str(&format!("; always-live memory {}", moved(&always, units)));
        if let Some(grouping) = &peak.by_category {
            let rise = always.change().unwrap_or(0);
            let largest = grouping.ranked(Part::AlwaysLive).into_iter();
            let largest = largest.filter(|(_, bytes)| {
                bytes.change().is_some_and(|change| change.signum() == rise.signum())
            });
            let parts: Vec<String> = largest
                .take(MOST_CATEGORIES)
                .filter_map(|(row, bytes)| {
                    let bytes = units.bytes(bytes.change()?.unsigned_abs());
                    Some(format!("{} {bytes}", row.contributor.title().to_lowercase()))
                })
                .collect();
            if !parts.is_empty() {
                text.push_str(&format!(", of which {}", parts.join(", ")));
            }
        }
        text.push('.');
        sentences.push(text);
    }
    if let Some(plans) = found.plans.as_ref().filter(|plans| !plans.changed.is_empty()) {
        sentences.push(format!(
            "{} of {} operations that both reports have changed their plan{}.",
            grouped(plans.changed.len() as u64),
            grouped(plans.operations as u64),
            kinds(plans)
        ));
    }
    sentences
}

/// Which kinds of operations changed their plan: "47 convolution, 1 matMul".
fn kinds(plans: &Plans) -> String {
    let mut kinds: Vec<(&str, u64)> = Vec::new();
    for plan in &plans.changed {
        let kind = plan.name.title();
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let texts: Vec<String> =
        kinds.iter().take(4).map(|(kind, count)| format!("{} {kind}", grouped(*count))).collect();
    format!(": {}", texts.join(", "))
}

fn moved(bytes: &Difference, units: Units) -> String {
    let percent =
        bytes.percent().map_or(String::new(), |percent| format!(" ({})", percent_text(percent)));
    match bytes.change() {
        None => "cannot be compared".to_owned(),
        Some(0) => "stayed the same".to_owned(),
        Some(change) => {
            let verb = if change > 0 { "rose" } else { "fell" };
            format!("{verb} by {}{percent}", units.bytes(change.unsigned_abs()))
        }
    }
}
