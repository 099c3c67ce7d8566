//! The lists of what was compared and of reports that were opened before. Whether they are still there
//! is looked up beside the window: a path on a network may take its time.

use eframe::egui::{
    self, Align, Button, CornerRadius, Label, Layout, RichText, Role, Sense, UiBuilder, Vec2,
    WidgetInfo,
};
use std::path::PathBuf;

use super::HomeState;
use crate::text::shortened;
use crate::ui::command::Command;
use crate::ui::icon::Icon;
use crate::ui::job::Latest;
use crate::ui::recent::{date_text, titles};
use crate::ui::settings::Change;
use crate::ui::theme::{Tokens, card_frame};

/// Height of an entry, points.
const ROW: f32 = 42.0;
/// The list that is there also when it is empty.
const REPORTS: &str = "Recent reports";
/// Longest path.
const PATH: usize = 300;

/// Which paths, and the how-manieth look at them.
type Question = (Vec<PathBuf>, u64);

#[derive(Default)]
pub struct Recents {
    looks: u64,
    are_there: Latest<Question, Vec<bool>>,
}

impl Recents {
    pub fn look_again(&mut self) {
        self.looks += 1;
    }

    pub fn ui(&mut self, ui: &mut egui::Ui, state: &HomeState<'_>, commands: &mut Vec<Command>) {
        let entries: Vec<Entry> = entries(state);
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
        let (comparisons, rest) = entries.split_at(state.comparisons.len());
        let (sweeps, reports) = rest.split_at(state.sweeps.len());
        for (title, list) in
            [("Recent comparisons", comparisons), ("Recent sweeps", sweeps), (REPORTS, reports)]
        {
            if list.is_empty() && title != REPORTS {
                continue;
            }
            card_frame(Tokens::now(ui)).show(ui, |ui| {
                ui.set_width(ui.available_width());
                ui.label(RichText::new(title).strong().size(15.0));
                ui.add_space(2.0);
                if list.is_empty() {
                    ui.weak("Reports that you open are listed here");
                }
                ui.spacing_mut().item_spacing.y = 0.0;
                for entry in list {
                    let known = entry.paths.iter().map(|_| are_there.next().unwrap_or(true));
                    // Counted, so that each path takes its answer.
                    let is_there = known.filter(|is_there| !is_there).count() == 0;
                    row_ui(ui, entry, is_there, commands);
                }
            });
            ui.add_space(8.0);
        }
    }
}

struct Entry {
    title: String,
    paths: Vec<PathBuf>,
    opened: u64,
    open: Command,
    forget: Command,
}

/// The comparisons, the sweeps, then the reports.
fn entries(state: &HomeState<'_>) -> Vec<Entry> {
    let comparisons = state.comparisons.iter().map(|comparison| Entry {
        title: comparison.title.clone(),
        paths: comparison.paths(),
        opened: comparison.opened,
        open: Command::Compare(comparison.paths()),
        forget: Command::Set(Change::ForgetComparison(comparison.paths())),
    });
    let reports = state.recents.iter().zip(titles(state.recents)).map(|(report, title)| Entry {
        title,
        paths: vec![report.path.clone()],
        opened: report.opened,
        open: Command::Open(report.path.clone()),
        forget: Command::Set(Change::Forget(report.path.clone())),
    });
    let sweeps = state.sweeps.iter().zip(titles(state.sweeps)).map(|(sweep, title)| Entry {
        title: format!("sweep {title}"),
        paths: vec![sweep.path.clone()],
        opened: sweep.opened,
        open: Command::OpenSweep(sweep.path.clone()),
        forget: Command::Set(Change::ForgetSweep(sweep.path.clone())),
    });
    comparisons.chain(sweeps).chain(reports).collect()
}

/// An entry: title and path at the left, date and bin at the right. A click opens it.
fn row_ui(ui: &mut egui::Ui, report: &Entry, is_there: bool, commands: &mut Vec<Command>) {
    let tokens = Tokens::now(ui);
    let title = shortened(&report.title, PATH);
    let paths: Vec<String> = report.paths.iter().map(|path| path.display().to_string()).collect();
    let path = paths.join("  →  ");
    let size = Vec2::new(ui.available_width(), ROW);
    let sense = if is_there { Sense::click() } else { Sense::hover() };
    let (rect, row) = ui.allocate_exact_size(size, sense);
    row.widget_info(|| WidgetInfo::labeled(Role::Button, is_there, format!("Open {title}")));
    if is_there && (row.hovered() || row.has_focus()) {
        ui.painter().rect_filled(rect, CornerRadius::same(4), tokens.stripe);
    }
    if row.has_focus() {
        let stroke = egui::Stroke::new(1.0, tokens.accent);
        ui.painter().rect_stroke(rect, 4, stroke, egui::StrokeKind::Inside);
    }
    let inner = rect.shrink2(Vec2::new(8.0, 3.0));
    let mut right_ui =
        ui.new_child(UiBuilder::new().max_rect(inner).layout(Layout::right_to_left(Align::Center)));
    let bin = right_ui.add(Button::new(Icon::Bin.atom()).frame_when_inactive(false));
    let bin = bin.accessible_name(format!("Remove {title} from the list"));
    if bin.on_hover_text("Remove from the list; the report stays where it is").clicked() {
        commands.push(report.forget.clone());
    }
    if is_there {
        right_ui.add(Label::new(RichText::new(date_text(report.opened)).weak()).selectable(false));
    } else {
        let text = RichText::new("moved or deleted").color(tokens.note);
        right_ui.add(Label::new(text).selectable(false));
    }
    let mut left = inner;
    left.max.x = right_ui.min_rect().left() - 12.0;
    let mut left_ui =
        ui.new_child(UiBuilder::new().max_rect(left).layout(Layout::top_down(Align::Min)));
    left_ui.spacing_mut().item_spacing.y = 1.0;
    let name = RichText::new(&*title);
    let name = if is_there { name.strong() } else { name.weak() };
    left_ui.add(Label::new(name).truncate().selectable(false));
    let place = RichText::new(shortened(&path, PATH)).weak().small();
    left_ui.add(Label::new(place).truncate().selectable(false));
    if row.clicked() {
        commands.push(report.open.clone());
    }
    if report.paths.len() > 2 {
        // One path a line: a row has no room for them.
        let lines: Vec<_> = paths.iter().map(|path| shortened(path, PATH)).collect();
        row.on_hover_text(lines.join("\n"));
    }
}
