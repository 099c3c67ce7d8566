//! The choice of the part of the machine that the page is about.

use eframe::egui::{self, ComboBox, Key, TextEdit};
use std::collections::BTreeSet;

use crate::analysis::liveness::{Scope, devices_with_curve};
use crate::analysis::memory::totals;
use crate::store::{ArenaId, Report, System, TileId};
use crate::ui::theme::Tokens;

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

pub fn scope_title(system: &System, scope: Scope) -> String {
    match scope {
        Scope::Everything => system.all_devices.to_owned(),
        Scope::Device(device) => format!("{} {device}", system.device),
        Scope::Arena(arena) => format!("{} {arena}", system.arena),
        Scope::WorstArena => system.worst_arena.to_owned(),
    }
}

impl ScopeChoice {
    /// Draws it, from the right to the left, with what at least one of the reports has. Says whether
    /// another scope was chosen.
    pub fn ui(&mut self, ui: &mut egui::Ui, reports: &[&Report], selected: Option<TileId>) -> bool {
        let before = self.scope;
        if matches!(self.scope, Scope::Arena(_)) {
            self.tile_ui(ui, reports);
        }
        let system = reports.first().map_or(System::GENERAL, |report| report.system);
        let combo = ComboBox::from_id_salt("scope").width(150.0);
        let combo = combo.selected_text(scope_title(&system, self.scope)).show_ui(ui, |ui| {
            let mut offer = |ui: &mut egui::Ui, scope: Scope| {
                ui.selectable_value(&mut self.scope, scope, scope_title(&system, scope));
            };
            offer(ui, Scope::Everything);
            let devices = reports.iter().flat_map(|report| devices_with_curve(report));
            for device in devices.collect::<BTreeSet<_>>() {
                offer(ui, Scope::Device(device));
            }
            offer(ui, Scope::WorstArena);
            let is_arena = matches!(self.scope, Scope::Arena(_));
            let one = format!("One {}…", system.arena.to_lowercase());
            if ui.selectable_label(is_arena, one).clicked() && !is_arena {
                self.scope = Scope::Arena(first_choice(reports, selected).into());
            }
        });
        combo
            .response
            .accessible_name("Scope")
            .on_hover_text("The part of the machine in the picture");
        if self.scope == before {
            return false;
        }
        if let Scope::Arena(tile) = self.scope {
            self.tile = tile.to_string();
        }
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
            field = field.text_color(Tokens::now(ui).bad);
        }
        let field = ui.add(field).accessible_name("Tile number");
        let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        field.on_hover_text("Type the number of a tile and press Enter");
        if is_entered && let Some(arena) = wanted {
            self.scope = Scope::Arena(arena);
        }
    }
}

/// The tile that "One tile" begins with: the selected one, else the fullest of the first report.
fn first_choice(reports: &[&Report], selected: Option<TileId>) -> TileId {
    let fullest = || {
        let report = reports.first()?;
        let memory = report.memory.get()?;
        memory.tiles.get(totals(memory, report.target.get()).fullest?)
    };
    selected.or_else(fullest).unwrap_or(TileId(0))
}
