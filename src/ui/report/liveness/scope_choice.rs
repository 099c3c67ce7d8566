//! The choice of the part of the machine that the page is about.

use eframe::egui::{self, ComboBox, Key, TextEdit};
use std::collections::BTreeSet;

use crate::analysis::liveness::{Scope, devices_with_curve, first_arena, scope_title};
use crate::store::{ArenaId, DeviceId, Report};
use crate::ui::runs::Runs;
use crate::ui::selection::Selection;
use crate::ui::theme::Tokens;
use crate::ui::widget::exports::scope_of_exports;

/// The choice, and the number of a tile as it is being typed.
#[derive(Default)]
pub struct ScopeChoice {
    /// `None` until another than the first is chosen.
    chosen: Option<Scope>,
    tile: String,
}

impl ScopeChoice {
    /// What is looked at; a device that has memory of its own is that of all pages.
    pub fn scope(&self, runs: &Runs, device: Option<DeviceId>) -> Scope {
        let scope = self.chosen.unwrap_or_else(|| runs.scope(device));
        let main = main_device(&runs.reference().report).filter(|_| scope == Scope::Everything);
        main.map_or(scope, Scope::Device)
    }

    pub fn show(&mut self, scope: Scope) {
        self.chosen = Some(scope);
        if let Scope::Arena(tile) = scope {
            self.tile = tile.to_string();
        }
    }

    /// Draws it, from the right to the left, with what at least one of the reports has. Says whether
    /// another scope was chosen.
    pub fn ui(&mut self, ui: &mut egui::Ui, runs: &Runs, selection: &mut Selection) -> bool {
        let (before, reports) = (self.scope(runs, selection.device), &*runs.reports());
        let mut now = before;
        if matches!(now, Scope::Arena(_))
            && let Some(arena) = self.tile_ui(ui, reports)
        {
            now = Scope::Arena(arena);
        }
        let have_own_steps = runs.have_own_steps();
        let Some(first) = reports.first() else { return false };
        scope_of_exports(ui, &scope_title(first, now));
        let combo = ComboBox::from_id_salt("scope").width(150.0);
        let combo = combo.selected_text(scope_title(first, now)).show_ui(ui, |ui| {
            let mut offer = |ui: &mut egui::Ui, scope: Scope| {
                ui.selectable_value(&mut now, scope, scope_title(first, scope));
            };
            // Of memories that are apart, or of different kinds, there is no sum.
            if !have_own_steps && main_device(first).is_none() {
                offer(ui, Scope::Everything);
            }
            let devices = reports.iter().flat_map(|report| devices_with_curve(report));
            for device in devices.collect::<BTreeSet<_>>() {
                offer(ui, Scope::Device(device));
            }
            if first.arenas.get().is_none_or(|arenas| arenas.are_alike) {
                offer(ui, Scope::WorstArena);
            }
            let is_arena = matches!(now, Scope::Arena(_));
            let one = format!("One {}…", first.system.arena_in_text);
            if ui.selectable_label(is_arena, one).clicked() && !is_arena {
                let selected = selection.tiles.first();
                let arena = selected.map(ArenaId::from).or_else(|| first_arena(first));
                now = Scope::Arena(arena.unwrap_or(ArenaId(0)));
            }
        });
        combo
            .response
            .accessible_name("Scope")
            .on_hover_text("The part of the machine in the picture");
        if now == before {
            return false;
        }
        self.show(now);
        if let (Scope::Device(device), true) = (now, have_own_steps) {
            (self.chosen, selection.device) = (None, Some(device));
        }
        true
    }

    /// Draws the number of an arena; returns the arena that was entered.
    fn tile_ui(&mut self, ui: &mut egui::Ui, reports: &[&Report]) -> Option<ArenaId> {
        let is_there = |report: &Report, arena: ArenaId| {
            report.arenas.get().is_some_and(|arenas| arenas.ids.position(arena).is_some())
        };
        let is_arena = |arena: &ArenaId| reports.iter().any(|report| is_there(report, *arena));
        let wanted = self.tile.trim().parse().ok().map(ArenaId).filter(is_arena);
        let mut field = TextEdit::singleline(&mut self.tile).desired_width(52.0);
        if wanted.is_none() {
            field = field.text_color(Tokens::now(ui).over);
        }
        let system = reports.first().map(|report| report.system).unwrap_or_default();
        let field = ui.add(field).accessible_name(format!("{} number", system.arena));
        let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        field.on_hover_text(format!("Type the number of {} and press Enter", system.an_arena));
        wanted.filter(|_| is_entered)
    }
}

/// Of memories of different kinds the one that figures of all of them are about.
fn main_device(report: &Report) -> Option<DeviceId> {
    let main = report.arenas.get()?.main?;
    devices_with_curve(report).contains(&main).then_some(main)
}
