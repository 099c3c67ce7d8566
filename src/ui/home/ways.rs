//! The three ways in: a run, many runs, an error. Each card is a button.

use eframe::egui::{
    self, Align, Label, Layout, Rect, Role, Sense, Stroke, StrokeKind, UiBuilder, Vec2, WidgetInfo,
};

use crate::ui::command::{Command, PickFor, Tool};
use crate::ui::icon::{ICON_SIDE, Icon};
use crate::ui::theme::{BETWEEN_CARDS, Tokens, fonts};

/// Height of a card, points.
const HEIGHT: f32 = 88.0;
/// Side of the ground of an icon, points.
const GROUND: f32 = 36.0;
/// Least width of a card beside others, points.
const LEAST: f32 = 210.0;

struct WayToOpen {
    icon: Icon,
    title: &'static str,
    text: &'static str,
    command: Command,
    why_not: Option<&'static str>,
    /// The one that most people want.
    is_first: bool,
}

pub fn ways_ui(ui: &mut egui::Ui, is_picking: bool, commands: &mut Vec<Command>) {
    let ways = [
        WayToOpen {
            icon: Icon::Open,
            title: "Open run…",
            text: "A file, its directory, or a directory above it",
            command: Command::Pick(PickFor::Open),
            why_not: is_picking.then_some("The dialog is open"),
            is_first: true,
        },
        WayToOpen {
            icon: Icon::Sweep,
            title: "Compare many runs",
            text: "A directory of runs with different settings: which fit, and which is best",
            command: Command::Use(Tool::Sweep),
            why_not: None,
            is_first: false,
        },
        WayToOpen {
            icon: Icon::Diagnose,
            title: "Explain an error or a log",
            text: "Out of memory: what the message says, and what to do",
            command: Command::Use(Tool::Diagnose),
            why_not: None,
            is_first: false,
        },
    ];
    let room = ui.available_width();
    let is_beside = room >= 3.0 * LEAST + 2.0 * BETWEEN_CARDS;
    let width = if is_beside { ((room - 2.0 * BETWEEN_CARDS) / 3.0).floor() } else { room };
    let size = Vec2::new(width, if is_beside { HEIGHT } else { 64.0 });
    let cards = |ui: &mut egui::Ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(if is_beside { BETWEEN_CARDS } else { 8.0 });
        for way in ways {
            way.ui(ui, size, commands);
        }
    };
    if is_beside {
        ui.horizontal(cards)
    } else {
        ui.vertical(cards)
    };
}

impl WayToOpen {
    fn ui(self, ui: &mut egui::Ui, size: Vec2, commands: &mut Vec<Command>) {
        let tokens = *Tokens::now(ui);
        let is_on = self.why_not.is_none();
        let sense = if is_on { Sense::click() } else { Sense::hover() };
        let (rect, card) = ui.allocate_exact_size(size, sense);
        card.widget_info(|| WidgetInfo::labeled(Role::Button, is_on, self.title));
        let is_lit = is_on && (card.hovered() || card.has_focus());
        let edge = if self.is_first || is_lit { tokens.accent } else { tokens.border };
        let edge = Stroke::new(if is_lit { 1.5 } else { 1.0 }, edge);
        ui.painter().rect(rect, 8, tokens.surface, edge, StrokeKind::Inside);
        let inner = rect.shrink(14.0);
        let ground = Rect::from_min_size(inner.min, Vec2::splat(GROUND));
        ui.painter().rect_filled(ground, 8, tokens.selected);
        let icon = Rect::from_center_size(ground.center(), Vec2::splat(ICON_SIDE));
        self.icon.paint(ui.painter(), icon, tokens.accent);
        let mut text = inner;
        text.min.x = ground.right() + 12.0;
        let mut ui =
            ui.new_child(UiBuilder::new().max_rect(text).layout(Layout::top_down(Align::Min)));
        ui.spacing_mut().item_spacing.y = 2.0;
        let title = fonts::card_title(self.title).color(tokens.text);
        ui.add(Label::new(title).selectable(false).truncate());
        let about = fonts::caption(self.why_not.unwrap_or(self.text)).color(tokens.weak_text);
        ui.add(Label::new(about).selectable(false).wrap());
        if card.clicked() {
            commands.push(self.command);
        }
    }
}
