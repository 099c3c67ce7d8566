//! The choice of the tile, and its summary in one line.

use eframe::egui::{self, Key, Label, RichText, TextEdit};

use super::read::TileData;
use crate::analysis::liveness::first_arena;
use crate::analysis::memory::selection::TileSelection;
use crate::store::ArenaId;
use crate::store::arena::Arenas;
use crate::text::{grouped, in_turn, shortened};
use crate::ui::report::{PageContext, change_color, change_text};
use crate::ui::runs::{Run, RunId};
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;

#[derive(Default)]
pub struct TileChoice {
    arena: Option<ArenaId>,
    typed: Option<String>,
    /// The arena of a variable that was selected elsewhere, and the arenas that were selected then: others go before it.
    followed: Option<(ArenaId, TileSelection)>,
    /// The arena that one looks at first, of the reference.
    first: Option<(RunId, Option<ArenaId>)>,
}

impl TileChoice {
    /// The one that was shown, as long as it is selected, else the first selected one, else the fullest
    /// tile of the reference.
    pub fn arena(&mut self, run: &Run, arenas: &Arenas, selection: &TileSelection) -> ArenaId {
        if self.first.is_none_or(|(of, _)| of != run.id) {
            self.first = Some((run.id, first_arena(&run.report)));
        }
        let first = self.first.and_then(|(_, first)| first);
        self.followed.take_if(|(_, with)| with != selection);
        let followed = self.followed.as_ref().map(|(arena, _)| *arena);
        let shown = self.arena.filter(|arena| selection.contains(arena.tile()));
        let selected = selection.first().map(ArenaId::from);
        let arena =
            followed.or(shown).or(selected).or(first).or(arenas.ids.get(0)).unwrap_or(ArenaId(0));
        self.arena = Some(arena);
        arena
    }

    /// Shows one that was selected elsewhere.
    pub fn show(&mut self, arena: ArenaId) {
        (self.arena, self.typed, self.followed) = (Some(arena), None, None);
    }

    /// Shows that of a variable, until another is chosen or selected.
    pub fn follow(&mut self, arena: ArenaId, selection: &TileSelection) {
        self.followed = Some((arena, selection.clone()));
    }

    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let Some(arenas) = page.runs.reference().report.arenas.get() else { return };
        let system = *page.runs.system();
        let arena = self.arena(page.runs.reference(), arenas, &page.selection.tiles);
        let place = arenas.ids.position(arena);
        ui.spacing_mut().item_spacing.x = 4.0;
        let label = ui.label(system.arena);
        let mut text = self.typed.clone().unwrap_or_else(|| arena.to_string());
        let has = |run: &Run, arena: ArenaId| {
            run.report.arenas.get().is_some_and(|all| all.ids.position(arena).is_some())
        };
        let typed = |text: &str| {
            let wanted = text.trim().parse().ok().map(ArenaId);
            wanted.filter(|arena| page.runs.iter().any(|run| has(run, *arena)))
        };
        let mut field = TextEdit::singleline(&mut text).desired_width(56.0);
        if self.typed.as_deref().is_some_and(|text| typed(text).is_none()) {
            field = field.text_color(Tokens::now(ui).over);
        }
        let field = ui.add(field).labelled_by(label.id);
        if field.changed() {
            self.typed = Some(text.clone());
        }
        let mut wanted = None;
        if field.lost_focus() {
            if ui.input(|input| input.key_pressed(Key::Enter)) {
                wanted = typed(&text);
            }
            self.typed = None;
        }
        field.on_hover_text(format!("Type the number of {} and press Enter", system.an_arena));
        for (sign, word, to) in [
            ("‹", "before", place.and_then(|place| place.checked_sub(1))),
            ("›", "after", place.map(|place| place + 1)),
        ] {
            let name = format!("{} {word}", system.arena);
            let to = to.and_then(|place| arenas.ids.get(place));
            let button = ui.add_enabled(to.is_some(), egui::Button::new(sign));
            if button.accessible_name(&name).on_hover_text(name).clicked() {
                wanted = to;
            }
        }
        if let Some(arena) = wanted {
            // It is selected where it was not.
            if !page.selection.tiles.contains(arena.tile()) {
                page.selection.tiles = TileSelection::one(arena.tile());
            }
            self.show(arena);
        }
    }
}

/// What there is to say of a tile: of several runs one after the other.
pub fn facts_ui(ui: &mut egui::Ui, tiles: &[&TileData]) {
    let units = Units::now(ui);
    let of_all = |text: &dyn Fn(&TileData) -> String| {
        in_turn(&tiles.iter().map(|data| text(data)).collect::<Vec<_>>())
    };
    let items = tiles.first().map_or("", |data| data.report.system.items);
    let count = of_all(&|data| grouped(data.map.blocks.len() as u64));
    let size = of_all(&|data| units.bytes(data.taken_bytes()));
    let mut text = if tiles.iter().all(|data| data.map.is_filled_from_both_ends) {
        format!("{size} at its fullest, {count} {items}")
    } else {
        let gaps = of_all(&|data| units.bytes(data.gap_bytes()));
        format!("{size} with gaps, {gaps} of gaps, {count} {items}")
    };
    let mut strong = None;
    match tiles {
        [data] => {
            let map = &data.map;
            let report = &data.report;
            let device = report.arenas.get().and_then(|arenas| arenas.device(data.arena));
            let of = |device| format!(" of {}", report.device_title(device));
            let title = report.arena_title(data.arena);
            // An arena that is all of its device is called as that.
            let device = device.filter(|device| report.device_title(*device) != title);
            let of = device.map_or(String::new(), of);
            text = format!("{title}{of}: {text}");
            let over = map.limit.filter(|limit| map.end > *limit).map(|limit| map.end - limit);
            strong = over.map(|over| {
                (format!("{} over the limit", units.bytes(over)), Tokens::now(ui).over)
            });
        }
        [source, target] => {
            let (from, to) = (source.taken_bytes(), target.taken_bytes());
            strong = Some((change_text(from, to, units), change_color(ui, from, to)));
        }
        _ => {}
    }
    if let Some(problem) = tiles.iter().find_map(|data| data.problem.as_ref()) {
        text = format!("{text}; names are absent: {}", shortened(problem, 80));
    }
    if let Some((text, color)) = strong {
        ui.add(Label::new(RichText::new(text).font(fonts::semibold(12.0)).color(color)).wrap());
    }
    ui.add(Label::new(fonts::caption(text).color(Tokens::now(ui).weak_text)).wrap());
}
