//! The verdict over the full width of a page: sign, word and sentence, and at the right its proof: what is used
//! against what there is, or the figures that say most.

use eframe::egui::{self, Align, Button, Label, Layout, Margin, RichText, Stroke, Vec2};
use std::sync::Arc;

use crate::run::{FirstSight, VerdictFigure};
use crate::text::{clean, shortened, unbroken};
use crate::ui::report::run_part::{JumpInRun, RunPart};
use crate::ui::theme::fonts::{self, size};
use crate::ui::theme::{BETWEEN_CARDS, Tokens};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::exports::exportable;
use crate::ui::widget::sign::Sign;

/// Side of the sign, points.
const SIGN: f32 = 36.0;
/// Width of the bar of what is used, points.
const USED: f32 = 300.0;
/// Least width of a banner whose proof stands beside the sentence, points.
const BESIDE: f32 = 820.0;

/// Between the sentence and its proof, points: what egui puts there, and as much again.
const GAP: f32 = 32.0;

/// Longest sentence.
const TEXT: usize = 400;
/// Longest note of a figure.
const NOTE: usize = 60;

/// What the banner shows beside its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// A bar of what is used, a way to the tiles that are over, and the figures in a line.
    Used,
    /// The figures, each with its title.
    Figures,
}

struct Banner<'a> {
    sign: Sign,
    word: &'a str,
    /// Why, in a sentence.
    reason: String,
    /// What may still change.
    so_far: Option<&'a str>,
    figures: Vec<BannerFigure>,
    /// What is used, and of how much; bytes.
    used: Option<(u64, u64)>,
    /// The button that leads to what is wrong, and what the pointer learns of it.
    button: Option<(String, &'a str)>,
}

/// A figure of a verdict: what it is, how much, of what.
struct BannerFigure {
    title: &'static str,
    value: String,
    note: String,
    /// Whether it says by how much something is over.
    is_over: bool,
}

impl BannerFigure {
    /// A key figure in the units that are shown.
    fn of(figure: &VerdictFigure, units: Units) -> Self {
        Self {
            title: figure.title,
            value: units.bytes(figure.bytes),
            note: shortened(&figure.note, NOTE).into_owned(),
            is_over: figure.is_over,
        }
    }
}

/// Draws the verdict of a run, where it has one; `so_far` says what may still change.
pub fn verdict_banner_ui(
    ui: &mut egui::Ui,
    part: &mut RunPart<'_>,
    sight: &FirstSight,
    proof: Proof,
    so_far: Option<&str>,
) {
    let Some(verdict) = &sight.found.verdict else { return };
    let units = Units::now(ui);
    let all = if proof == Proof::Used { &verdict.figures } else { &sight.figures };
    let figures = all.iter().map(|figure| BannerFigure::of(figure, units));
    let of_part = sight.parts.get(sight.part).filter(|_| proof == Proof::Used);
    let of_part = of_part.map(|title| BannerFigure {
        // A figure of that name beside it would read as of another one.
        title: Some(part.run.report.system.device)
            .filter(|title| all.iter().all(|figure| figure.title != *title))
            .unwrap_or_default(),
        value: title.clone(),
        note: String::new(),
        is_over: false,
    });
    let failed = verdict.failed.as_ref().and_then(|failed| {
        let place = failed.place.clone()?;
        let hover = match part.way(&place)? {
            JumpInRun::Step(_) => "Selects it in Liveness",
            JumpInRun::Arenas(_) => "Selects them on the Memory page",
        };
        Some((place, (format!("Show {}", failed.text), hover)))
    });
    let (place, button) = failed.unzip();
    let banner = Banner {
        sign: Sign::of(verdict.outcome.went_well()),
        word: verdict.outcome.title(),
        reason: unbroken(&shortened(&clean(&sight.reason), TEXT)),
        so_far,
        figures: of_part.into_iter().chain(figures).collect(),
        used: verdict.used_of_all,
        button,
    };
    if banner_ui(ui, &banner, proof)
        && let Some(place) = place
    {
        part.show(&place, false);
    }
}

/// Draws a banner; says whether its button was pressed.
fn banner_ui(ui: &mut egui::Ui, banner: &Banner<'_>, proof: Proof) -> bool {
    let tokens = *Tokens::now(ui);
    let sign = banner.sign;
    let frame = sign.frame(&tokens).corner_radius(8).inner_margin(Margin::symmetric(18, 12));
    let mut is_clicked = false;
    let shown = frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        let figures = &banner.figures;
        let is_beside = ui.available_width() >= BESIDE;
        // How high the sentence is turns out when it is laid out; what stands beside it is in its middle.
        let id = ui.scope_id().with("height of the verdict");
        let height = ui.data(|data| data.get_temp(id)).unwrap_or(SIGN);
        let row = Vec2::new(ui.available_width(), height);
        ui.allocate_ui_with_layout(row, Layout::left_to_right(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 16.0;
            sign.ui(ui, SIGN);
            let proof_width = match (is_beside, proof) {
                (false, _) => 0.0,
                (true, Proof::Used) => {
                    let used = if banner.used.is_some() { USED } else { 0.0 };
                    used + if banner.button.is_some() { 150.0 } else { 0.0 }
                }
                (true, Proof::Figures) => 150.0 * figures.len() as f32,
            };
            let width = (ui.available_width() - proof_width - GAP).max(120.0);
            let size = Vec2::new(width, height);
            let inner = ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
                ui.set_width(width);
                sentence_ui(ui, banner);
                if proof == Proof::Used {
                    line_of_figures_ui(ui, figures);
                }
                ui.min_rect().height()
            });
            if (inner.inner - height).abs() > 0.5 {
                ui.data_mut(|data| data.insert_temp(id, inner.inner));
                ui.ctx().request_discard("the verdict is as high as its sentence");
            }
            if proof_width > 0.0 {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| match proof {
                    Proof::Used => {
                        is_clicked = button_ui(ui, banner);
                        used_ui(ui, banner, USED);
                    }
                    Proof::Figures => figures_ui(ui, figures),
                });
            }
        });
        if is_beside {
            return;
        }
        ui.add_space(6.0);
        match proof {
            Proof::Used => {
                used_ui(ui, banner, ui.available_width());
                is_clicked = button_ui(ui, banner);
            }
            Proof::Figures => line_of_figures_ui(ui, figures),
        }
    });
    exportable(ui, "Verdict", shown.response.rect);
    ui.add_space(BETWEEN_CARDS - ui.spacing().item_spacing.y);
    is_clicked
}

fn sentence_ui(ui: &mut egui::Ui, banner: &Banner<'_>) {
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.label(RichText::new(banner.word).font(fonts::semibold(size::VERDICT)));
    ui.add(Label::new(RichText::new(&banner.reason).size(size::BODY)).wrap());
    if let Some(so_far) = banner.so_far {
        let note = fonts::caption(so_far).color(Tokens::now(ui).note);
        ui.add(Label::new(note).wrap());
    }
}

/// What is used of what there is, with the limit as a tick.
fn used_ui(ui: &mut egui::Ui, banner: &Banner<'_>, width: f32) {
    let Some((used, capacity)) = banner.used else { return };
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    ui.allocate_ui_with_layout(Vec2::new(width, 36.0), Layout::top_down(Align::Min), |ui| {
        ui.set_width(width);
        ui.horizontal(|ui| {
            ui.label(RichText::new("Used").size(size::TABLE).weak());
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let size = |bytes| units.beside(bytes, capacity);
                ui.label(fonts::number(used_text(used, capacity, &size)));
            });
        });
        // Where all of it fits there is still room behind the tick, so that it is seen as one.
        let whole = capacity.saturating_add(capacity / 32).max(used);
        // Some part is over though all together would have room.
        let has_failed = banner.sign == Sign::Over && used <= capacity;
        let color = if has_failed { tokens.over } else { tokens.temporary };
        let bar = Bar { parts: &[(used, color)], whole, limit: Some(capacity) };
        bar.ui(ui, Vec2::new(width, 12.0)).accessible_name("Memory used");
    });
}

fn button_ui(ui: &mut egui::Ui, banner: &Banner<'_>) -> bool {
    let Some((title, hover)) = &banner.button else { return false };
    let (tokens, title) =
        (Tokens::now(ui), RichText::new(title).font(fonts::semibold(size::TABLE)));
    let button = Button::new(title).fill(tokens.selected).stroke(Stroke::new(1.0, tokens.accent));
    ui.add(button).on_hover_text(*hover).clicked()
}

/// The figures beside each other, from the right to the left.
fn figures_ui(ui: &mut egui::Ui, figures: &[BannerFigure]) {
    let tokens = *Tokens::now(ui);
    for figure in figures.iter().rev() {
        ui.allocate_ui_with_layout(Vec2::new(118.0, 52.0), Layout::top_down(Align::Min), |ui| {
            ui.set_width(118.0);
            ui.spacing_mut().item_spacing.y = 1.0;
            ui.label(fonts::caption(figure.title).color(tokens.weak_text));
            let color = if figure.is_over { tokens.over } else { tokens.text };
            let value = RichText::new(&figure.value).font(fonts::semibold(size::KEY_FIGURE));
            ui.label(value.color(color));
            ui.label(fonts::caption(&figure.note).color(tokens.weak_text));
        });
        ui.add(egui::Separator::default().vertical().spacing(4.0));
    }
}

fn line_of_figures_ui(ui: &mut egui::Ui, figures: &[BannerFigure]) {
    let tokens = *Tokens::now(ui);
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 16.0;
        let (regular, bold) = (fonts::regular(size::TABLE), fonts::semibold(size::TABLE));
        for figure in figures {
            let value = unbroken(&figure.value);
            let parts = [
                (figure.title, &regular, tokens.weak_text),
                (&*value, &bold, tokens.text),
                (&*figure.note, &regular, tokens.weak_text),
            ];
            let parts = parts.into_iter().filter(|(text, ..)| !text.is_empty());
            let spaced = parts.enumerate().flat_map(|(place, (text, font, color))| {
                let space = if place == 0 { "" } else { "  " };
                [(space, font.clone(), color), (text, font.clone(), color)]
            });
            // A figure stands in one line with its name, where a line has room for it.
            let galley = ui.painter().layout_job(fonts::line(spaced));
            let has_room = galley.size().x <= ui.max_rect().width();
            let label = Label::new(Arc::clone(&galley.job));
            ui.add(if has_room { label.extend() } else { label.wrap() });
        }
    });
}

/// How much of what there is is used, in one text: `886.4 of 897.0 MiB, 98.8 %`.
pub fn used_text(used: u64, capacity: u64, size: &dyn Fn(u64) -> String) -> String {
    let percent = used as f64 * 100.0 / capacity.max(1) as f64;
    format!("{}, {percent:.1} %", part_of(&size(used), &size(capacity)))
}

/// A part and its whole, the unit once where it is the same: `886.4 of 897.0 MiB`.
fn part_of(part: &str, whole: &str) -> String {
    let units = [part, whole].map(|text| text.rsplit_once(' '));
    match units {
        [Some((number, unit)), Some((_, other))] if unit == other => format!("{number} of {whole}"),
        _ => format!("{part} of {whole}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::bytes;

    #[test]
    fn a_unit_stands_once_where_it_is_the_same() {
        let mib = |count: u64| count << 20;
        assert_eq!(used_text(mib(886), mib(897), &bytes), "886.0 of 897.0 MiB, 98.8 %");
        assert_eq!(used_text(1024, mib(2), &bytes), "1.00 KiB of 2.00 MiB, 0.0 %");
        assert_eq!(used_text(7, 0, &bytes), "7 of 0 B, 700.0 %");
    }
}
