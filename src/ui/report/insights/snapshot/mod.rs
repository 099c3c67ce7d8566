//! Insights of a memory snapshot: whether the run went through, who owns the peak, what lies free in pieces, what failed
//! and why, and what to try, each with the way to the event and the code that it is about.

mod failure;
mod owners;
mod pieces;

use eframe::egui::{self, Label, ScrollArea};

use crate::systems::pytorch::allocator::insights::{DeviceInsights, SnapshotInsights};
use crate::text::{clean, shortened};
use crate::ui::command::{Command, Page};
use crate::ui::report::found_insights::FoundSnapshotInsights;
use crate::ui::report::run_part::RunPart;
use crate::ui::report::two_columns::{Column, two_columns_ui};
use crate::ui::report::verdict_banner::{Banner, BannerFigure, Proof, banner_ui};
use crate::ui::units::Units;
use crate::ui::widget::card::card_ui;
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::exports::scrolled_of_exports;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::sign::Sign;

use super::advice::{Unfolded, advice_ui};
use super::{ADVICE, TWO_COLUMNS};

/// Longest sentence.
const TEXT: usize = 400;

/// What is chosen on the page of a snapshot.
#[derive(Default)]
pub struct SnapshotChoices {
    owners: owners::OwnerBy,
    advice: Unfolded,
    /// The device whose cards are shown, a place; at first the one that the verdict is about.
    device: Option<usize>,
}

/// The page of one snapshot.
#[derive(Default)]
pub struct InsightsOfSnapshot(FoundSnapshotInsights);

/// A run with what is chosen on its cards.
struct SnapshotPart<'a> {
    part: RunPart<'a>,
    choices: &'a mut SnapshotChoices,
    device: i64,
}

impl InsightsOfSnapshot {
    pub fn ui(&mut self, ui: &mut egui::Ui, part: RunPart<'_>, choices: &mut SnapshotChoices) {
        let Some(found) = self.0.ask(ui.ctx(), part.run) else {
            let why = self.0.failure().unwrap_or("Working out what the snapshot says");
            absent_ui(ui, why, "");
            return;
        };
        let place = choices.device.filter(|place| *place < found.devices.len());
        let of_verdict =
            found.devices.iter().position(|one| Some(one.device) == found.verdict.device);
        let place = place.or(of_verdict).unwrap_or(0);
        let device = found.devices.get(place);
        let number = device.map_or(0, |device| device.device);
        let mut page = SnapshotPart { part, choices, device: number };
        let area = ScrollArea::vertical().id_salt("insights").auto_shrink(false);
        let area = area.show(ui, |ui| {
            verdict_ui(ui, &mut page, &found);
            if ui.available_width() < TWO_COLUMNS {
                advice_column_ui(ui, &mut page, &found);
                figures_ui(ui, &mut page, &found, place);
                return;
            }
            two_columns_ui(ui, ADVICE, |ui, column| match column {
                Column::Left => advice_column_ui(ui, &mut page, &found),
                Column::Right => figures_ui(ui, &mut page, &found, place),
            });
        });
        scrolled_of_exports(ui, &area);
    }
}

impl SnapshotPart<'_> {
    /// Selects an event of a device; of what was before the first the first.
    fn select_event(&mut self, device: i64, event: i64) {
        let Some(replayed) = self.part.run.derived.snapshot() else { return };
        let device = replayed.snapshot.devices.iter().find(|one| one.number == device);
        let step = device.map(|device| replayed.step_of(device, event.max(0)));
        if let Some(step) = step.and_then(|step| usize::try_from(step).ok()) {
            self.part.select_step(step);
        }
    }

    fn show_event(&mut self, device: i64, event: i64) {
        self.select_event(device, event);
        self.part.commands.push(Command::Go(Page::Liveness));
    }

    /// What code has allocated of all that is alive after an event.
    fn show_code(&mut self, (device, event): (i64, i64), frame: &str) {
        self.select_event(device, event);
        self.part.show_variable(frame);
    }

    /// The segments as they are after an event.
    fn show_segments(&mut self, device: i64, event: i64) {
        self.select_event(device, event);
        self.part.commands.push(Command::Go(Page::Map));
    }
}

fn verdict_ui(ui: &mut egui::Ui, page: &mut SnapshotPart<'_>, found: &SnapshotInsights) {
    let Some(verdict) = &found.found.verdict else { return };
    let facts = &found.verdict;
    let is_of = |device: &&DeviceInsights| Some(device.device) == facts.device;
    let of = found.devices.iter().find(is_of).filter(|_| found.devices.len() > 1);
    let of = of.map(|device| BannerFigure {
        title: "Device",
        value: device.title(),
        note: String::new(),
        is_over: false,
    });
    let units = Units::now(ui);
    let figures = verdict.figures.iter().map(|figure| BannerFigure::of(figure, units));
    // What others had is known only of the moment at which it failed.
    let used = verdict.capacity_bytes.filter(|_| !facts.capacity_is_share).map(|capacity| {
        let others = facts.other_bytes.unwrap_or(0);
        (facts.reserved_peak_bytes.saturating_add(others), capacity)
    });
    let failure = facts.failed_event;
    let banner = Banner {
        sign: Sign::of(verdict.outcome.went_well()),
        word: verdict.outcome.title(),
        reason: shortened(&clean(&verdict.text), TEXT).into_owned(),
        so_far: None,
        figures: of.into_iter().chain(figures).collect(),
        used,
        button: failure.map(|_| ("Show the request".to_owned(), "Selects it in Liveness")),
    };
    if banner_ui(ui, &banner, Proof::Used)
        && let (Some(device), Some(event)) = (facts.device, failure)
    {
        page.show_event(device, event.into());
    }
}

/// What to try, and what follows in words.
fn advice_column_ui(ui: &mut egui::Ui, page: &mut SnapshotPart<'_>, found: &SnapshotInsights) {
    let said = (&found.found.advice[..], &found.found.not_advised[..]);
    advice_ui(ui, &mut page.part, &mut page.choices.advice, said);
    let said = found.found.verdict.as_ref().map_or("", |verdict| &verdict.text);
    let others = found.found.conclusions.iter();
    let mut others = others.filter(|one| said.is_empty() || !one.text.ends_with(said)).peekable();
    if others.peek().is_some() {
        card_ui(ui, "In words", |ui| {
            for conclusion in others {
                ui.add(Label::new(shortened(&clean(&conclusion.text), TEXT)).wrap());
            }
        });
    }
}

/// The figures of a device.
fn figures_ui(
    ui: &mut egui::Ui,
    page: &mut SnapshotPart<'_>,
    found: &SnapshotInsights,
    mut place: usize,
) {
    if found.devices.len() > 1 {
        let before = place;
        let title = |place: &usize| {
            found.devices.get(*place).map_or_else(String::new, DeviceInsights::title)
        };
        choice_ui(ui, ("Device", 120.0), &mut place, 0..found.devices.len(), title);
        ui.add_space(6.0);
        if place != before {
            page.choices.device = Some(place);
        }
    }
    let Some(device) = found.devices.get(place) else { return };
    page.device = device.device;
    failure::failure_ui(ui, page, device);
    owners::owners_ui(ui, page, device);
    pieces::pieces_ui(ui, page, device);
}
