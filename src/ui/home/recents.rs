//! The list of reports that were opened before. Whether they are still there is looked up beside the
//! window: a path on a network may take its time.

use eframe::egui;
use std::path::PathBuf;

use eframe::egui::{
    Align, Button, CornerRadius, Label, Layout, RichText, Role, Sense, UiBuilder, Vec2, WidgetInfo,
};

use crate::text::shortened;
use crate::ui::command::Command;
use crate::ui::icon::Icon;
use crate::ui::job::Latest;
use crate::ui::recent::{RecentReport, date_text};
use crate::ui::theme::{Tokens, card_frame};

/// Height of an entry, points.
const ROW: f32 = 42.0;
/// Longest path.
const PATH: usize = 300;

/// Which paths, and the how-manieth look at them.
type Question = (Vec<PathBuf>, u64);

/// What the list remembers.
#[derive(Debug, Default)]
pub struct Recents {
    looks: u64,
    /// Whether each path is there.
    are_there: Latest<Question, Vec<bool>>,
}

impl Recents {
    /// Has the paths looked up again.
    pub fn look_again(&mut self) {
        self.looks += 1;
    }

    /// Draws the list.
    pub fn ui(&mut self, ui: &mut egui::Ui, reports: &[RecentReport], commands: &mut Vec<Command>) {
        card_frame(Tokens::now(ui)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.label(RichText::new("Recent reports").strong().size(15.0));
            ui.add_space(2.0);
            if reports.is_empty() {
                ui.weak("Reports that you open are listed here");
                return;
            }
            let paths: Vec<PathBuf> = reports.iter().map(|report| report.path.clone()).collect();
            let question = (paths, self.looks);
            let paths = question.0.clone();
            self.are_there.ask("recent reports", ui.ctx(), &question, move |cancel| {
                let known = paths.iter().map(|path| !cancel.is_cancelled() && path.exists());
                known.collect::<Vec<_>>()
            });
            // While nothing is known of a path it is offered.
            let are_there = self.are_there.get(&question);
            ui.spacing_mut().item_spacing.y = 0.0;
            for (index, report) in reports.iter().enumerate() {
                let is_there = are_there.and_then(|known| known.get(index)).copied();
                row_ui(ui, report, is_there.unwrap_or(true), commands);
            }
        });
    }
}

/// An entry: title and path at the left, date and bin at the right. A click opens it.
fn row_ui(ui: &mut egui::Ui, report: &RecentReport, is_there: bool, commands: &mut Vec<Command>) {
    let tokens = Tokens::now(ui);
    let title = shortened(&report.title, PATH);
    let path = report.path.display().to_string();
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
        commands.push(Command::Forget(report.path.clone()));
    }
    if is_there {
        right_ui.add(Label::new(RichText::new(date_text(report.opened)).weak()).selectable(false));
    } else {
        let text = RichText::new("moved or deleted").color(tokens.warning);
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
        commands.push(Command::Open(report.path.clone()));
    }
}
