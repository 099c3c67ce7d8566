//! The choice of the part of the machine that the page is about.

use eframe::egui::{self, ComboBox, Key, TextEdit};
use std::collections::BTreeSet;

use crate::analysis::liveness::{Scope, devices_with_curve, first_arena, scope_title};
use crate::store::{ArenaId, Report, TileId};
use crate::ui::theme::Tokens;
use crate::ui::widget::exports::scope_of_exports;

/// The choice, and the number of a tile as it is being typed.
pub struct ScopeChoice {
    pub scope: Scope,
    tile: String,
}

impl Default for ScopeChoice {
    fn default() -> Self {
        Self { scope: Scope::Everything, tile: String::new() }
    }
}

impl ScopeChoice {
    pub fn show(&mut self, scope: Scope) {
        self.scope = scope;
        if let Scope::Arena(tile) = scope {
            self.tile = tile.to_string();
        }
    }

    /// Draws it, from the right to the left, with what at least one of the reports has. Says whether
    /// another scope was chosen.
    pub fn ui(&mut self, ui: &mut egui::Ui, reports: &[&Report], selected: Option<TileId>) -> bool {
        let before = self.scope;
        if matches!(self.scope, Scope::Arena(_)) {
            self.tile_ui(ui, reports);
        }
        let Some(first) = reports.first() else { return false };
        scope_of_exports(ui, &scope_title(first, self.scope));
        let combo = ComboBox::from_id_salt("scope").width(150.0);
        let combo = combo.selected_text(scope_title(first, self.scope)).show_ui(ui, |ui| {
            let mut offer = |ui: &mut egui::Ui, scope: Scope| {
                ui.selectable_value(&mut self.scope, scope, scope_title(first, scope));
            };
            offer(ui, Scope::Everything);
            let devices = reports.iter().flat_map(|report| devices_with_curve(report));
            for device in devices.collect::<BTreeSet<_>>() {
                offer(ui, Scope::Device(device));
            }
            if first.arenas.get().is_none_or(|arenas| arenas.are_alike) {
                offer(ui, Scope::WorstArena);
            }
            let is_arena = matches!(self.scope, Scope::Arena(_));
            let one = format!("One {}…", first.system.arena_in_text);
            if ui.selectable_label(is_arena, one).clicked() && !is_arena {
                let arena = selected.map(ArenaId::from).or_else(|| first_arena(first));
                self.scope = Scope::Arena(arena.unwrap_or(ArenaId(0)));
            }
        });
        combo
            .response
            .accessible_name("Scope")
            .on_hover_text("The part of the machine in the picture");
        if self.scope == before {
            return false;
        }
        self.show(self.scope);
        true
    }

    fn tile_ui(&mut self, ui: &mut egui::Ui, reports: &[&Report]) {
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
        if is_entered && let Some(arena) = wanted {
            self.scope = Scope::Arena(arena);
        }
    }
}
