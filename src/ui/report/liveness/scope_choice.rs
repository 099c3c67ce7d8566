//! The choice of the part of the machine that the page is about.

use eframe::egui;
use eframe::egui::{ComboBox, Key, TextEdit};
use std::collections::BTreeSet;

use crate::analysis::liveness::Scope;
use crate::analysis::memory::totals;
use crate::store::{Report, System, TileId};
use crate::ui::theme::Tokens;

/// The choice, and the number of a tile as it is being typed.
#[derive(Debug)]
pub struct ScopeChoice {
    /// The part of the machine.
    pub scope: Scope,
    tile: String,
}

impl Default for ScopeChoice {
    fn default() -> Self {
        Self { scope: Scope::Everything, tile: String::new() }
    }
}

/// What a scope is called.
pub fn scope_title(system: &System, scope: Scope) -> String {
    match scope {
        Scope::Everything => system.all_devices.to_owned(),
        Scope::Ipu(ipu) => format!("{} {ipu}", system.device),
        Scope::Tile(tile) => format!("{} {tile}", system.arena),
        Scope::WorstTile => system.worst_arena.to_owned(),
    }
}

impl ScopeChoice {
    /// Draws it, from the right to the left, with what at least one of the reports has. Says whether
    /// another scope was chosen.
    pub fn ui(&mut self, ui: &mut egui::Ui, reports: &[&Report], selected: Option<TileId>) -> bool {
        let before = self.scope;
        if matches!(self.scope, Scope::Tile(_)) {
            self.tile_ui(ui, reports);
        }
        let of_report = |report: &&Report| {
            let by_ipu = report.liveness.get().and_then(|liveness| liveness.deltas.as_ref());
            by_ipu.map_or(Vec::new(), |deltas| deltas.by_ipu.keys().copied().collect())
        };
        let system = reports.first().map_or(System::GENERAL, |report| report.system);
        let combo = ComboBox::from_id_salt("scope").width(150.0);
        let combo = combo.selected_text(scope_title(&system, self.scope)).show_ui(ui, |ui| {
            let mut offer = |ui: &mut egui::Ui, scope: Scope| {
                ui.selectable_value(&mut self.scope, scope, scope_title(&system, scope));
            };
            offer(ui, Scope::Everything);
            let ipus: BTreeSet<_> = reports.iter().flat_map(of_report).collect();
            for ipu in ipus {
                offer(ui, Scope::Ipu(ipu));
            }
            offer(ui, Scope::WorstTile);
            let is_tile = matches!(self.scope, Scope::Tile(_));
            if ui
                .selectable_label(is_tile, format!("One {}…", system.arena.to_lowercase()))
                .clicked()
                && !is_tile
            {
                self.scope = Scope::Tile(first_choice(reports, selected));
            }
        });
        combo
            .response
            .accessible_name("Scope")
            .on_hover_text("The part of the machine in the picture");
        if self.scope == before {
            return false;
        }
        if let Scope::Tile(tile) = self.scope {
            self.tile = tile.to_string();
        }
        true
    }

    fn tile_ui(&mut self, ui: &mut egui::Ui, reports: &[&Report]) {
        let has_tile = |report: &Report, tile: TileId| {
            report.memory.get().is_some_and(|memory| memory.tiles.position(tile).is_some())
        };
        let is_tile = |tile: &TileId| reports.iter().any(|report| has_tile(report, *tile));
        let wanted = self.tile.trim().parse().ok().map(TileId).filter(is_tile);
        let mut field = TextEdit::singleline(&mut self.tile).desired_width(52.0);
        if wanted.is_none() {
            field = field.text_color(Tokens::now(ui).bad);
        }
        let field = ui.add(field).accessible_name("Tile number");
        let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        field.on_hover_text("Type the number of a tile and press Enter");
        if is_entered && let Some(tile) = wanted {
            self.scope = Scope::Tile(tile);
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
