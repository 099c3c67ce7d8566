//! The open runs as chips: badge, name, verdict, and what can be done with each.

use eframe::egui::{
    self, Align2, Button, Color32, Response, RichText, Role, Sense, Stroke, StrokeKind, Vec2,
    WidgetInfo,
};

use super::command::Command;
use super::keys::{RunEntry, loading_actions, showing_actions};
use super::open_runs::{OpenRun, OpenRuns};
use super::runs::Badge;
use super::theme::{Tokens, fonts, text_on};
use super::widget::sign::Sign;
use crate::text::{grouped, shortened};

/// Longest name of a run, where there are few and where there are more.
const NAMES: [usize; 2] = [40, 18];
/// Most runs whose verdict is said in words.
const FEW: usize = 3;
/// Longest path.
const PATH: usize = 300;
/// Side of a badge, points.
const BADGE: f32 = 18.0;

/// Draws the chips in the order of their letters.
pub fn chips_ui(
    ui: &mut egui::Ui,
    open: &OpenRuns,
    entries: &[RunEntry],
    commands: &mut Vec<Command>,
) {
    let mut chips: Vec<Chip> = open
        .iter()
        .zip(entries)
        .enumerate()
        .map(|(place, (run, entry))| Chip {
            run,
            entry,
            badge: open.badge(run),
            is_reference: place == 0,
            are_few: open.len() <= FEW,
            is_alone: open.len() == 1,
        })
        .collect();
    chips.sort_by_key(|chip| chip.badge.letter);
    for chip in &chips {
        chip.ui(ui, commands);
    }
}

/// A letter on its colour.
pub fn paint_badge(painter: &egui::Painter, rect: egui::Rect, badge: Badge, tokens: &Tokens) {
    let color = badge.color(tokens);
    painter.rect_filled(rect, 4, color);
    let font = fonts::semibold(11.0);
    painter.text(rect.center(), Align2::CENTER_CENTER, badge.letter, font, text_on(color));
}

/// The badge of a run in a line of text.
pub fn badge_ui(ui: &mut egui::Ui, badge: Badge) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(BADGE), Sense::hover());
    paint_badge(ui.painter(), rect, badge, Tokens::now(ui));
    response
}

struct Chip<'a> {
    run: &'a OpenRun,
    entry: &'a RunEntry,
    badge: Badge,
    is_reference: bool,
    are_few: bool,
    is_alone: bool,
}

impl Chip<'_> {
    /// Its badge hides it, its name makes it the reference, a button opens what else can be done.
    fn ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let tokens = *Tokens::now(ui);
        let edge =
            if self.is_reference && !self.is_alone { tokens.third_text } else { tokens.border };
        let frame = egui::Frame::new()
            .fill(tokens.raised)
            .stroke(Stroke::new(1.0, edge))
            .corner_radius(12)
            .inner_margin(egui::Margin { left: 5, right: 6, top: 0, bottom: 0 });
        frame.show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.set_height(24.0);
                ui.spacing_mut().item_spacing.x = 5.0;
                ui.spacing_mut().button_padding = Vec2::new(2.0, 2.0);
                self.badge_ui(ui, commands);
                self.name_ui(ui, commands);
                self.verdict_ui(ui);
                self.more_ui(ui, commands);
            });
        });
    }

    /// The reference is always shown.
    fn badge_ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let tokens = Tokens::now(ui);
        let sense = if self.is_reference { Sense::hover() } else { Sense::click() };
        let (rect, badge) = ui.allocate_exact_size(Vec2::splat(BADGE), sense);
        if self.run.is_hidden {
            let color = self.badge.color(tokens);
            ui.painter().rect_stroke(rect, 4, Stroke::new(1.5, color), StrokeKind::Inside);
            let (at, font) = (rect.center(), fonts::semibold(11.0));
            let (middle, letter) = (Align2::CENTER_CENTER, self.badge.letter);
            ui.painter().text(at, middle, letter, font, tokens.third_text);
        } else {
            paint_badge(ui.painter(), rect, self.badge, tokens);
        }
        if self.is_reference {
            return;
        }
        if badge.hovered() || badge.has_focus() {
            let stroke = Stroke::new(1.0, tokens.text);
            ui.painter().rect_stroke(rect.expand(1.5), 5, stroke, StrokeKind::Outside);
        }
        let does = if self.run.is_hidden { "Show" } else { "Hide" };
        let name = format!("{does} {}", self.entry.name);
        badge.widget_info(|| {
            WidgetInfo::selected(Role::CheckBox, true, !self.run.is_hidden, name.clone())
        });
        if badge.on_hover_text(name).clicked() {
            commands.push(Command::HideRun(self.run.id, !self.run.is_hidden));
        }
    }

    fn name_ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let [long, short] = NAMES;
        let longest = if self.are_few { long } else { short };
        let text = RichText::new(shortened(&self.entry.name, longest)).font(fonts::medium(12.0));
        let text = match self.run.load.stage() {
            _ if self.run.is_hidden => text.weak().strikethrough(),
            stage if stage.failure().is_some() => text.color(Tokens::now(ui).note),
            _ => text,
        };
        let button = Button::new(text).fill(Color32::TRANSPARENT).frame_when_inactive(false);
        let button = ui.add(button);
        if self.is_alone {
            button.accessible_name(&*self.entry.name).on_hover_text(self.path());
        } else if self.is_reference {
            let button = button.accessible_name(format!("{} is the reference", self.entry.name));
            button.on_hover_text(format!("All others are compared with it\n{}", self.path()));
        } else {
            let does = format!("Make {} the reference", self.entry.name);
            let button = button.accessible_name(&does);
            if button.on_hover_text(format!("{does}\n{}", self.path())).clicked() {
                commands.push(Command::MakeReference(self.run.id));
            }
        }
    }

    /// Whether it fits, as far as that is known.
    fn verdict_ui(&self, ui: &mut egui::Ui) {
        let Some(fit) = self.run.fit() else { return };
        let sign = Sign::of(Some(fit.fits));
        let text = match fit.tiles_over {
            _ if fit.fits => "fits".to_owned(),
            Some(over) => format!("{} over", grouped(over)),
            None => "does not fit".to_owned(),
        };
        let response = sign.ui(ui, 13.0);
        if self.are_few {
            ui.label(RichText::new(text).font(fonts::medium(12.0)).weak());
        } else {
            response.on_hover_text(text);
        }
    }

    fn more_ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let more = Button::new("…").frame_when_inactive(false).min_size(Vec2::new(16.0, 0.0));
        let more = ui.add(more).accessible_name(format!("More for {}", self.entry.name));
        egui::Popup::menu(&more).show(|ui| {
            ui.weak(shortened(&self.path(), 120));
            let showing = showing_actions(self.entry, self.is_reference);
            for (title, command) in showing.chain(loading_actions(self.entry)) {
                if ui.button(title).clicked() {
                    commands.push(command);
                }
            }
        });
    }

    fn path(&self) -> String {
        shortened(&self.run.load.path.display().to_string(), PATH).into_owned()
    }
}
