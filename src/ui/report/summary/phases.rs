//! The compiler's phases: what took how long, as a flame graph.

use eframe::egui;
use eframe::egui::{Button, Margin, Rect, RichText, ScrollArea};

use crate::analysis::program::phases::{Phases as NestedPhases, phases};
use crate::store::options::{About, CompilerPhase};
use crate::text::{grouped, shortened};
use crate::ui::command::{Command, Export, ExportTo, Exported};
use crate::ui::report::{PageContext, tooltip_facts_ui};
use crate::ui::split;
use crate::ui::widget::flame::{FLAME_ROW, Flame, FlameFrame};

/// Longest name.
const NAME: usize = 120;
/// Rows that are shown at first.
pub const ROWS: usize = 9;
/// Height of the head with the space around, points.
pub const HEAD: f32 = 42.0;

/// What the part remembers.
#[derive(Debug, Default)]
pub struct Phases {
    made: Option<Made>,
    flame: Flame,
    /// Where the picture was in the last frame.
    picture: Option<Rect>,
}

/// The phases with the time of all.
#[derive(Debug)]
pub struct Made {
    /// The phases.
    pub frames: Vec<FlameFrame>,
    /// The time of all.
    pub total: u64,
}

impl Made {
    /// Nests the phases of a compilation.
    pub fn new(list: &[CompilerPhase]) -> Self {
        Self::of(phases(list))
    }

    /// Takes phases that are nested.
    pub fn of(phases: NestedPhases) -> Self {
        let frames = phases.frames.into_iter().map(|frame| FlameFrame {
            name: shortened(&frame.name, NAME).into_owned(),
            depth: frame.depth,
            start: frame.start_microseconds,
            duration: frame.duration_microseconds,
            own: frame.self_microseconds,
        });
        Self { frames: frames.collect(), total: phases.span_microseconds }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(1)
    }

    /// A phase in words.
    pub fn text(&self, frame: &FlameFrame) -> String {
        let time = duration_text(frame.duration);
        let own = duration_text(frame.own);
        let share = share_text(frame.duration, self.total);
        format!("{}: {time}, {share}, {own} itself", frame.name)
    }
}

/// In place of the phases of a report that has none.
pub fn no_phases_ui(ui: &mut egui::Ui, about: &About) {
    match &about.why_no_phases {
        Some(absence) => ui.weak(format!("This report has none: {absence}")),
        None => ui.weak("This report has none"),
    };
}

impl Phases {
    /// Draws the part at the bottom of the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let Some(about) = page.report.about.get() else { return };
        let made = self.made.get_or_insert_with(|| Made::new(&about.phases));
        if made.frames.is_empty() {
            let frame = egui::Frame::new().inner_margin(Margin::symmetric(0, 8));
            egui::Panel::bottom("no phases").frame(frame).show(ui, |ui| {
                ui.horizontal_wrapped(|ui| {
                    ui.label(RichText::new("Compiler phases").strong().size(15.0));
                    no_phases_ui(ui, about);
                });
            });
            return;
        }
        let rows = made.rows().min(ROWS);
        let default = (HEAD + rows as f32 * FLAME_ROW).min(ui.available_height() * 0.4);
        let most = (ui.available_height() - 200.0).max(80.0);
        split::below(ui, "compiler phases", default, 64.0..=most, |ui| {
            let picture = phases_ui(ui, &mut self.flame, made, self.picture, page.commands);
            self.picture = Some(picture);
        });
    }
}

/// Draws head and picture; returns where the picture is.
fn phases_ui(
    ui: &mut egui::Ui,
    flame: &mut Flame,
    made: &Made,
    picture: Option<Rect>,
    commands: &mut Vec<Command>,
) -> Rect {
    let (frames, total) = (&made.frames, made.total);
    let text = |frame: &FlameFrame| made.text(frame);
    ui.horizontal(|ui| {
        ui.label(RichText::new("Compiler phases").strong().size(15.0));
        let count = grouped(frames.len() as u64);
        ui.weak(format!("{} in {count} phases", duration_text(total)));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            exports_ui(ui, picture, commands);
            let all = ui.add_enabled(flame.is_zoomed(), Button::new("Show all phases"));
            if all.on_hover_text("Double-click, or key 0").clicked() {
                flame.reset();
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                if let Some(frame) = flame.chosen().and_then(|chosen| frames.get(chosen)) {
                    ui.separator();
                    ui.add(egui::Label::new(RichText::new(text(frame)).strong()).truncate());
                }
            });
        });
    });
    let area = ScrollArea::vertical().auto_shrink(false);
    let shown = area.show(ui, |ui| flame.ui(ui, "Compiler phases over time", frames, text));
    let (response, hovered) = shown.inner;
    if let Some(frame) = hovered.and_then(|hovered| frames.get(hovered)) {
        egui::Tooltip::for_widget(&response).at_pointer().show(|ui| {
            ui.label(RichText::new(&frame.name).strong());
            let facts = [
                ("Duration", duration_text(frame.duration)),
                ("Share", share_text(frame.duration, total)),
                ("Itself", duration_text(frame.own)),
            ];
            tooltip_facts_ui(ui, "phase facts", &facts);
        });
    }
    response.rect.intersect(shown.inner_rect)
}

/// The buttons that copy and save the picture, from the right to the left.
pub fn exports_ui(ui: &mut egui::Ui, picture: Option<Rect>, commands: &mut Vec<Command>) {
    for (to, word, title) in
        [(ExportTo::File, "Save…", "Save picture…"), (ExportTo::Clipboard, "Copy", "Copy picture")]
    {
        let button = ui.add(Button::new(word));
        let button = button.accessible_name(format!("{title}: compiler phases"));
        if button.on_hover_text(title).clicked()
            && let Some(picture) = picture
        {
            let (name, what) = ("compiler phases".to_owned(), Exported::Picture(picture));
            commands.push(Command::Export(Export { name, to, what }));
        }
    }
}

/// A share of all.
pub fn share_text(part: u64, total: u64) -> String {
    if total == 0 {
        return "all of it".to_owned();
    }
    format!("{:.1} %", part as f64 / total as f64 * 100.0)
}

/// Microseconds with three digits: `3.06 s`, `470 ms`, `55 µs`.
pub fn duration_text(microseconds: u64) -> String {
    match microseconds {
        ..1000 => format!("{microseconds} µs"),
        1000..100_000 => format!("{:.1} ms", microseconds as f64 / 1e3),
        100_000..1_000_000 => format!("{:.0} ms", microseconds as f64 / 1e3),
        _ => format!("{:.2} s", microseconds as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration_text(55), "55 µs");
        assert_eq!(duration_text(20_683), "20.7 ms");
        assert_eq!(duration_text(470_340), "470 ms");
        assert_eq!(duration_text(3_058_425), "3.06 s");
        assert_eq!(share_text(1, 0), "all of it");
    }
}
