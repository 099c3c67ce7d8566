//! Cards of earlier runs, comparisons and sweeps. A job checks whether they still exist: a path on a network may take
//! its time.

use eframe::egui::{
    self, Align, Button, Label, Layout, Pos2, Rect, RichText, Role, Sense, Stroke, StrokeKind,
    UiBuilder, Vec2, WidgetInfo,
};
use std::path::PathBuf;

use super::HomeState;
use crate::text::{local_time, shortened};
use crate::ui::command::Command;
use crate::ui::icon::Icon;
use crate::ui::job::Latest;
use crate::ui::recent::{KnownReport, titles};
use crate::ui::settings::SettingChange;
use crate::ui::theme::fonts::{self, size};
use crate::ui::theme::{BETWEEN_CARDS, Tokens};
use crate::ui::units::Units;
use crate::ui::widget::sign::Sign;

/// Height of an entry, points.
const HEIGHT: f32 = 76.0;
/// Its least width.
const LEAST: f32 = 280.0;
/// The list that is there also when it is empty.
const REPORTS: &str = "Recent runs";
/// Longest path.
const PATH: usize = 300;

/// Which paths, and the how-manieth look at them.
type RecentsQuestion = (Vec<PathBuf>, u64);

#[derive(Default)]
pub struct Recents {
    looks: u64,
    are_there: Latest<RecentsQuestion, Vec<bool>>,
}

impl Recents {
    pub fn look_again(&mut self) {
        self.looks += 1;
    }

    pub fn ui(&mut self, ui: &mut egui::Ui, state: &HomeState<'_>, commands: &mut Vec<Command>) {
        let entries: Vec<RecentEntry> = entries(state);
        let paths: Vec<PathBuf> =
            entries.iter().flat_map(|entry| entry.paths.iter().cloned()).collect();
        let question = (paths, self.looks);
        if !question.0.is_empty() {
            let paths = question.0.clone();
            self.are_there.ask("recent reports", ui.ctx(), &question, move |cancel| {
                let known = paths.iter().map(|path| !cancel.is_cancelled() && path.exists());
                known.collect::<Vec<_>>()
            });
        }
        // While nothing is known of a path it is offered.
        let mut are_there = self.are_there.get(&question).into_iter().flatten().copied();
        let entries: Vec<(RecentEntry, bool)> = entries
            .into_iter()
            .map(|entry| {
                let known = entry.paths.iter().map(|_| are_there.next().unwrap_or(true));
                // Counted, so that each path takes its answer.
                let is_there = known.filter(|is_there| !is_there).count() == 0;
                (entry, is_there)
            })
            .collect();
        let (comparisons, rest) = entries.split_at(state.comparisons.len());
        let (sweeps, reports) = rest.split_at(state.sweeps.len());
        for (title, list) in
            [(REPORTS, reports), ("Recent comparisons", comparisons), ("Recent sweeps", sweeps)]
        {
            if list.is_empty() && title != REPORTS {
                continue;
            }
            ui.label(fonts::card_title(title));
            ui.add_space(4.0);
            if list.is_empty() {
                ui.weak("Runs that you open are listed here");
            }
            let room = ui.available_width();
            let columns = ((room + BETWEEN_CARDS) / (LEAST + BETWEEN_CARDS)).floor().max(1.0);
            let width = ((room + BETWEEN_CARDS) / columns - BETWEEN_CARDS).floor();
            for row in list.chunks(columns as usize) {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = BETWEEN_CARDS;
                    for (entry, is_there) in row {
                        card_ui(ui, entry, width, *is_there, commands);
                    }
                });
                ui.add_space(BETWEEN_CARDS - ui.spacing().item_spacing.y);
            }
            ui.add_space(8.0);
        }
    }
}

struct RecentEntry {
    title: String,
    paths: Vec<PathBuf>,
    opened: u64,
    known: KnownReport,
    open: Command,
    forget: Command,
}

/// The comparisons, the sweeps, then the reports.
fn entries(state: &HomeState<'_>) -> Vec<RecentEntry> {
    let comparisons = state.comparisons.iter().map(|comparison| RecentEntry {
        title: comparison.title.clone(),
        paths: comparison.paths(),
        opened: comparison.opened,
        known: KnownReport::default(),
        open: Command::Compare(comparison.paths()),
        forget: Command::Set(SettingChange::ForgetComparison(comparison.paths())),
    });
    let reports =
        state.recents.iter().zip(titles(state.recents)).map(|(report, title)| RecentEntry {
            title,
            paths: vec![report.path.clone()],
            opened: report.opened,
            known: report.known.clone(),
            open: Command::Open(report.path.clone()),
            forget: Command::Set(SettingChange::Forget(report.path.clone())),
        });
    let sweeps = state.sweeps.iter().zip(titles(state.sweeps)).map(|(sweep, title)| RecentEntry {
        title: format!("sweep {title}"),
        paths: vec![sweep.path.clone()],
        opened: sweep.opened,
        known: sweep.known.clone(),
        open: Command::OpenSweep(sweep.path.clone()),
        forget: Command::Set(SettingChange::ForgetSweep(sweep.path.clone())),
    });
    comparisons.chain(sweeps).chain(reports).collect()
}

/// An entry: sign and title, below them the path, at the bottom verdict, size and date. A click opens it.
fn card_ui(
    ui: &mut egui::Ui,
    entry: &RecentEntry,
    width: f32,
    is_there: bool,
    commands: &mut Vec<Command>,
) {
    let tokens = *Tokens::now(ui);
    let title = shortened(&entry.title, PATH);
    let paths: Vec<String> = entry.paths.iter().map(|path| path.display().to_string()).collect();
    let sense = if is_there { Sense::click() } else { Sense::hover() };
    let (rect, card) = ui.allocate_exact_size(Vec2::new(width, HEIGHT), sense);
    card.widget_info(|| WidgetInfo::labeled(Role::Button, is_there, format!("Open {title}")));
    let is_lit = is_there && (card.hovered() || card.has_focus());
    let edge = Stroke::new(1.0, if is_lit { tokens.accent } else { tokens.border });
    ui.painter().rect(rect, 8, tokens.surface, edge, StrokeKind::Inside);
    let inner = rect.shrink2(Vec2::new(12.0, 8.0));
    let line = |top: f32, height: f32| {
        let min = Pos2::new(inner.left(), inner.top() + top);
        Rect::from_min_size(min, Vec2::new(inner.width(), height))
    };
    let row = |ui: &mut egui::Ui, rect: Rect, layout: Layout| {
        let mut ui = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout));
        ui.spacing_mut().item_spacing.x = 6.0;
        ui
    };
    let (from_left, from_right) =
        (Layout::left_to_right(Align::Center), Layout::right_to_left(Align::Center));
    let mut at_right = row(ui, line(0.0, 20.0), from_right);
    let bin = at_right.add(Button::new(Icon::Bin.atom()).frame_when_inactive(false));
    let bin = bin.accessible_name(format!("Remove {title} from the list"));
    if bin.on_hover_text("Remove from the list; its files stay where they are").clicked() {
        commands.push(entry.forget.clone());
    }
    let mut first = line(0.0, 20.0);
    first.max.x = at_right.min_rect().left() - 8.0;
    let mut at_left = row(ui, first, from_left);
    if let Some(fits) = entry.known.fits.filter(|_| is_there) {
        Sign::of(Some(fits)).ui(&mut at_left, 14.0);
    }
    let color = if is_there { tokens.text } else { tokens.weak_text };
    let name = RichText::new(&*title).font(fonts::semibold(size::BODY)).color(color);
    at_left.add(Label::new(name).truncate().selectable(false));
    let place = paths.join("  →  ");
    let place = fonts::caption(shortened(&place, PATH)).color(tokens.weak_text);
    row(ui, line(22.0, 16.0), from_left).add(Label::new(place).truncate().selectable(false));
    let mut last = row(ui, line(40.0, 18.0), from_left);
    let mut say = |text: &str, color| {
        last.add(Label::new(fonts::caption(text).color(color)).selectable(false));
    };
    if is_there {
        if let Some(verdict) = &entry.known.verdict {
            say(verdict, tokens.text);
        }
        if let Some(bytes) = entry.known.bytes {
            say(&Units::now(ui).bytes(bytes), tokens.text);
        }
        say(&local_time(entry.opened), tokens.third_text);
    } else {
        say("moved or deleted", tokens.note);
    }
    if card.clicked() {
        commands.push(entry.open.clone());
    }
    let lines: Vec<_> = paths.iter().map(|path| shortened(path, PATH)).collect();
    card.on_hover_text(lines.join("\n"));
}
