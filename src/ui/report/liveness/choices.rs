//! What part of the machine the page is about, and how the curve is drawn.

use eframe::egui;
use eframe::egui::{ComboBox, Key, TextEdit};

use crate::analysis::liveness::Scope;
use crate::analysis::memory::totals;
use crate::store::{Report, TileId};
use crate::ui::report::is_limit_near;
use crate::ui::theme::Tokens;

use super::derived::Derived;

/// The choices.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the page")]
pub struct Choices {
    /// The part of the machine.
    pub scope: Scope,
    /// Whether the always-live bytes are shown.
    pub has_always_live: bool,
    /// Whether the not-always-live bytes are shown.
    pub has_not_always_live: bool,
    /// Whether the limit is shown.
    pub has_limit: bool,
    /// Whether what is not always live stands on what is.
    pub is_stacked: bool,
    /// Whether the picture reaches up to the limit; `None` follows the figures.
    is_limit_in_sight: Option<bool>,
    tile: String,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            scope: Scope::Everything,
            has_always_live: true,
            has_not_always_live: true,
            has_limit: true,
            is_stacked: true,
            is_limit_in_sight: None,
            tile: String::new(),
        }
    }
}

/// What a scope is called.
pub fn scope_title(scope: Scope) -> String {
    match scope {
        Scope::Everything => "All IPUs".to_owned(),
        Scope::Ipu(ipu) => format!("IPU {ipu}"),
        Scope::Tile(tile) => format!("Tile {tile}"),
        Scope::WorstTile => "Worst tile of each step".to_owned(),
    }
}

impl Choices {
    /// The limit, where it is shown: it says nothing of a part of what is alive.
    pub fn limit(&self, derived: &Derived) -> Option<u64> {
        derived.curve.limit.filter(|_| self.has_limit && self.is_whole())
    }

    /// Whether the curve shows all that is alive.
    pub fn is_whole(&self) -> bool {
        self.has_always_live && self.has_not_always_live && self.is_stacked
    }

    /// Whether the picture reaches up to the limit.
    pub fn is_limit_in_sight(&self, derived: &Derived) -> bool {
        let limit = self.limit(derived);
        limit.is_some_and(|limit| {
            self.is_limit_in_sight.unwrap_or_else(|| is_limit_near(derived.top, limit))
        })
    }

    /// Draws scope and options, from the right to the left.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        report: &Report,
        derived: Option<&Derived>,
        selected: Option<TileId>,
    ) {
        let mut is_in_sight = derived.is_some_and(|derived| self.is_limit_in_sight(derived));
        let has_limit = derived.is_some_and(|derived| self.limit(derived).is_some());
        let button =
            ui.add_enabled(has_limit, egui::Checkbox::new(&mut is_in_sight, "Scale to limit"));
        if button.changed() {
            self.is_limit_in_sight = Some(is_in_sight);
        }
        ui.checkbox(&mut self.is_stacked, "Stack")
            .on_hover_text("What is not always live stands on what is");
        self.scope_ui(ui, report, selected);
    }

    fn scope_ui(&mut self, ui: &mut egui::Ui, report: &Report, selected: Option<TileId>) {
        let before = self.scope;
        if matches!(self.scope, Scope::Tile(_)) {
            self.tile_ui(ui, report);
        }
        let by_ipu = report.liveness.get().and_then(|liveness| liveness.deltas.as_ref());
        let ipus = by_ipu.map_or(Vec::new(), |deltas| deltas.by_ipu.keys().copied().collect());
        let combo = ComboBox::from_id_salt("scope").width(150.0);
        let combo = combo.selected_text(scope_title(self.scope)).show_ui(ui, |ui| {
            let mut offer = |ui: &mut egui::Ui, scope: Scope| {
                ui.selectable_value(&mut self.scope, scope, scope_title(scope));
            };
            offer(ui, Scope::Everything);
            for ipu in ipus {
                offer(ui, Scope::Ipu(ipu));
            }
            offer(ui, Scope::WorstTile);
            let is_tile = matches!(self.scope, Scope::Tile(_));
            if ui.selectable_label(is_tile, "One tile…").clicked() && !is_tile {
                self.scope = Scope::Tile(first_choice(report, selected));
            }
        });
        combo
            .response
            .accessible_name("Scope")
            .on_hover_text("The part of the machine in the picture");
        if self.scope != before {
            self.is_limit_in_sight = None;
            if let Scope::Tile(tile) = self.scope {
                self.tile = tile.to_string();
            }
        }
    }

    fn tile_ui(&mut self, ui: &mut egui::Ui, report: &Report) {
        let is_tile = |tile: TileId| {
            report.memory.get().is_some_and(|memory| memory.tiles.position(tile).is_some())
        };
        let wanted = self.tile.trim().parse().ok().map(TileId).filter(|tile| is_tile(*tile));
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

/// The tile that "One tile" begins with: the selected one, else the fullest.
fn first_choice(report: &Report, selected: Option<TileId>) -> TileId {
    let fullest = || {
        let memory = report.memory.get()?;
        memory.tiles.get(totals(memory, report.target.get()).fullest?)
    };
    selected.or_else(fullest).unwrap_or(TileId(0))
}
