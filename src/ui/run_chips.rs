//! The open runs as chips: badge, name, verdict, and what can be done with each.

use eframe::egui::{
    self, Align2, Button, Color32, Response, RichText, Role, Sense, Stroke, StrokeKind, Vec2,
    WidgetInfo,
};

use super::command::Command;
use super::icon::Icon;
use super::keys::{RunEntry, loading_actions, showing_actions};
use super::open_runs::{OpenRuns, RequestedRun};
use super::runs::Badge;
use super::theme::{Tokens, fonts, text_on};
use super::widget::sign::Sign;
use crate::run::Verdict;
use crate::store::System;
use crate::text::{clean, shortened};

/// How much a chip says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChipDetail {
    /// The name, and the verdict in words.
    Words,
    /// The name, and the verdict as a sign.
    Names,
    /// What tells the name from the others.
    ShortNames,
    /// As little of it as tells anything.
    Ends,
}

impl ChipDetail {
    /// Longest name, characters.
    fn longest(self) -> usize {
        match self {
            Self::Words => 36,
            Self::Names => 20,
            Self::ShortNames => 9,
            Self::Ends => 6,
        }
    }
}

/// Of a chip without its name and its words: badge, sign, button, and what lies between, points.
const CHIP: f32 = 80.0;
/// Longest path.
const PATH: usize = 300;
/// Height of a chip with its frame, points.
const CHIP_HEIGHT: f32 = 28.0;
/// Side of a badge, points.
const BADGE: f32 = 18.0;

/// The chips in the order of their letters.
pub struct Chips<'a> {
    chips: Vec<Chip<'a>>,
    /// Widths of names and of words, for each detail.
    widths: [f32; 4],
}

impl<'a> Chips<'a> {
    pub fn of(ui: &egui::Ui, open: &'a OpenRuns, entries: &'a [RunEntry]) -> Self {
        let names: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
        let details =
            [ChipDetail::Words, ChipDetail::Names, ChipDetail::ShortNames, ChipDetail::Ends];
        let names = details.map(|detail| elided(&names, detail.longest()));
        let runs = open.iter().zip(entries).enumerate();
        let mut chips: Vec<Chip> = runs
            .map(|(place, (run, entry))| Chip {
                run,
                entry,
                badge: open.badge(run),
                is_reference: place == 0,
                is_alone: open.len() == 1,
                names: names.each_ref().map(|all| all.get(place).cloned().unwrap_or_default()),
            })
            .collect();
        chips.sort_by_key(|chip| chip.badge.letter);
        let widths = details.map(|detail| chips.iter().map(|chip| chip.width(ui, detail)).sum());
        Self { chips, widths }
    }

    /// Points of all of them side by side.
    pub fn width(&self, detail: ChipDetail, spacing: f32) -> f32 {
        let of_chips = self.widths.get(detail as usize).copied().unwrap_or_default();
        of_chips + self.chips.len() as f32 * (CHIP + spacing)
    }

    pub fn ui(&self, ui: &mut egui::Ui, detail: ChipDetail, commands: &mut Vec<Command>) {
        // From the first on all are as high in their row.
        ui.set_min_height(CHIP_HEIGHT);
        for chip in &self.chips {
            chip.ui(ui, detail, commands);
        }
    }

    /// In as many rows as they need; with names as long as one row has room for.
    pub fn rows_ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let (room, spacing) = (ui.available_width(), ui.spacing().item_spacing.x);
        let in_one_row = [ChipDetail::Names, ChipDetail::ShortNames];
        let in_one_row = in_one_row.into_iter().find(|it| self.width(*it, spacing) <= room);
        let (is_one_row, detail) = (in_one_row.is_some(), in_one_row.unwrap_or(ChipDetail::Ends));
        let widest = self.chips.iter().map(|chip| chip.width(ui, detail)).fold(0.0, f32::max);
        let in_a_row = if is_one_row {
            self.chips.len()
        } else {
            (room / (CHIP + widest + spacing)).floor() as usize
        };
        for row in self.chips.chunks(in_a_row.max(1)) {
            ui.horizontal(|ui| {
                ui.set_min_height(CHIP_HEIGHT);
                for chip in row {
                    chip.ui(ui, detail, commands);
                }
            });
        }
    }
}

/// Names of at most so many characters: of a longer one that part is left out which it has in common with the
/// one most like it, or its middle.
pub fn elided(names: &[&str], most: usize) -> Vec<String> {
    let shared = |name: &str| {
        let others = names.iter().filter(|other| **other != name);
        let alike =
            others.map(|other| name.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count());
        alike.max().unwrap_or(0)
    };
    names
        .iter()
        .map(|name| {
            if name.chars().count() <= most || names.len() < 2 {
                return shortened(name, most).into_owned();
            }
            // From the beginning of the word that differs.
            let before = name.get(..shared(name)).unwrap_or_default();
            let from = before.rfind(['/', '-', '_', ' ']).map_or(0, |at| at + 1);
            let (head, tail) = name.split_at_checked(from).unwrap_or(("", name));
            let room = most.saturating_sub(tail.chars().count() + 1);
            let head: String = head.chars().take(room).collect();
            match from {
                0 => shortened(name, most).into_owned(),
                _ => format!("{}…{}", clean(&head), shortened(tail, most - 1)),
            }
        })
        .collect()
}

/// A letter on its color.
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

/// Draws a badge in a line that wraps, in the next one where what belongs behind it has no room in this one.
pub fn badge_before_ui(ui: &mut egui::Ui, badge: Badge, room: f32) -> Response {
    if ui.available_size_before_wrap().x < BADGE + room {
        ui.end_row();
    }
    badge_ui(ui, badge)
}

struct Chip<'a> {
    run: &'a RequestedRun,
    entry: &'a RunEntry,
    badge: Badge,
    is_reference: bool,
    is_alone: bool,
    /// Its name in each detail.
    names: [String; 4],
}

impl Chip<'_> {
    /// Its badge hides it, its name makes it the reference, a button opens what else can be done.
    fn ui(&self, ui: &mut egui::Ui, detail: ChipDetail, commands: &mut Vec<Command>) {
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
                self.name_ui(ui, detail, commands);
                self.verdict_ui(ui, detail);
                self.more_ui(ui, commands);
            });
        });
    }

    fn name(&self, detail: ChipDetail) -> &str {
        self.names.get(detail as usize).map_or("", String::as_str)
    }

    /// The verdict in as few words as there is room for: "221 over" of its tiles.
    fn brief(&self, verdict: &Verdict) -> String {
        let Some(report) = self.run.report() else { return verdict.short.clone() };
        let &System { arenas, arena_in_text, .. } = &report.system;
        let of = [arenas, arena_in_text].map(|word| format!(" {word} "));
        of.iter().fold(verdict.short.clone(), |text, word| text.replacen(word, " ", 1))
    }

    /// Of its name and its words, points.
    fn width(&self, ui: &egui::Ui, detail: ChipDetail) -> f32 {
        let verdict = self.run.verdict().filter(|_| detail == ChipDetail::Words);
        let words = verdict.map_or(String::new(), |verdict| format!(" {}", self.brief(&verdict)));
        let text = format!("{}{words}", self.name(detail));
        let color = Color32::PLACEHOLDER;
        ui.painter().layout_no_wrap(text, fonts::medium(12.0), color).size().x
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

    fn name_ui(&self, ui: &mut egui::Ui, detail: ChipDetail, commands: &mut Vec<Command>) {
        let text = RichText::new(self.name(detail)).font(fonts::medium(12.0));
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

    /// Whether it fits, or how it ended, as far as that is known.
    fn verdict_ui(&self, ui: &mut egui::Ui, detail: ChipDetail) {
        let Some(verdict) = self.run.verdict() else { return };
        let sign = Sign::of(verdict.outcome.went_well());
        let text = self.brief(&verdict);
        let response = sign.ui(ui, 13.0);
        if detail == ChipDetail::Words {
            ui.label(RichText::new(text).font(fonts::medium(12.0)).weak());
        } else {
            response.on_hover_text(text);
        }
    }

    fn more_ui(&self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let more = Button::new(Icon::More.atom()).frame_when_inactive(false);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_what_tells_them_apart() {
        let names = ["resnext101-batch16-amp-0.35", "resnext101-batch16-amp-0.01"];
        assert_eq!(elided(&names, 14), ["resnext10…0.35", "resnext10…0.01"]);
        assert_eq!(elided(&["amp-0.6", "amp-0.35"], 9), ["amp-0.6", "amp-0.35"]);
        let ends = ["first-of-many-runs-of-a-model", "other-of-many-runs-of-a-model"];
        assert_eq!(elided(&ends, 9), ["firs…odel", "othe…odel"]);
        let hidden = ["a-long-way/\u{202e}x-12345678901", "a-long-way/y"];
        assert!(elided(&hidden, 9).iter().all(|name| !name.contains('\u{202e}')));
        assert!(elided(&[], 9).is_empty());
        let groups = ["splits_0.pickle", "splits_2.pickle", "train.pickle"];
        assert_eq!(elided(&groups, 9), ["…0.pickle", "…2.pickle", "trai…ckle"]);
    }
}
