//! The compiler's phases: what took how long, as a flame graph.

use eframe::egui;
use eframe::egui::{Button, Margin, RichText, ScrollArea};

use crate::store::Report;
use crate::store::options::CompilerPhase;
use crate::text::{grouped, shortened};
use crate::ui::report::tooltip_facts_ui;
use crate::ui::split;
use crate::ui::widget::flame::{FLAME_ROW, Flame, FlameFrame};

/// Longest name.
const NAME: usize = 120;
/// Rows that are shown at first.
const ROWS: usize = 9;
/// Height of the head with the space around, points.
const HEAD: f32 = 42.0;

/// What the part remembers.
#[derive(Debug, Default)]
pub struct Phases {
    frames: Option<Vec<FlameFrame>>,
    flame: Flame,
}

impl Phases {
    /// Draws the part at the bottom of the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, report: &Report) {
        let Some(about) = report.about.get() else { return };
        let frames = self.frames.get_or_insert_with(|| frames(&about.phases));
        if frames.is_empty() {
            let frame = egui::Frame::new().inner_margin(Margin::symmetric(0, 8));
            egui::Panel::bottom("no phases").frame(frame).show(ui, |ui| {
                ui.horizontal_wrapped(|ui| {
                    ui.label(RichText::new("Compiler phases").strong().size(15.0));
                    ui.weak("This report has none: table compilation_trace is absent or empty");
                });
            });
            return;
        }
        let rows = frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(1).min(ROWS);
        let default = (HEAD + rows as f32 * FLAME_ROW).min(ui.available_height() * 0.4);
        let most = (ui.available_height() - 200.0).max(80.0);
        split::below(ui, "compiler phases", default, 64.0..=most, |ui| {
            phases_ui(ui, &mut self.flame, frames);
        });
    }
}

fn phases_ui(ui: &mut egui::Ui, flame: &mut Flame, frames: &[FlameFrame]) {
    let total = total(frames);
    let text = |frame: &FlameFrame| {
        let time = duration_text(frame.duration);
        let own = duration_text(frame.own);
        format!("{}: {time}, {}, {own} itself", frame.name, share_text(frame.duration, total))
    };
    ui.horizontal(|ui| {
        ui.label(RichText::new("Compiler phases").strong().size(15.0));
        let count = grouped(frames.len() as u64);
        ui.weak(format!("{} in {count} phases", duration_text(total)));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
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
    let (response, hovered) =
        area.show(ui, |ui| flame.ui(ui, "Compiler phases over time", frames, text)).inner;
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
}

/// From the first start to the last end.
fn total(frames: &[FlameFrame]) -> i64 {
    let start = frames.iter().map(|frame| frame.start).min().unwrap_or(0);
    let ends = frames.iter().map(|frame| frame.start.saturating_add(frame.duration));
    ends.max().unwrap_or(0).saturating_sub(start)
}

fn share_text(part: i64, total: i64) -> String {
    if total <= 0 {
        return "all of it".to_owned();
    }
    format!("{:.1} %", part as f64 / total as f64 * 100.0)
}

/// Microseconds with three digits: `3.06 s`, `470 ms`, `55 µs`.
fn duration_text(microseconds: i64) -> String {
    match microseconds {
        ..1000 => format!("{microseconds} µs"),
        1000..100_000 => format!("{:.1} ms", microseconds as f64 / 1e3),
        100_000..1_000_000 => format!("{:.0} ms", microseconds as f64 / 1e3),
        _ => format!("{:.2} s", microseconds as f64 / 1e6),
    }
}

/// Phases nested by time: one that lies within another is one level deeper.
fn frames(phases: &[CompilerPhase]) -> Vec<FlameFrame> {
    let mut sorted: Vec<&CompilerPhase> = phases.iter().collect();
    // What contains comes before what is contained.
    sorted.sort_by_key(|phase| {
        (phase.start_microseconds, std::cmp::Reverse(phase.duration_microseconds))
    });
    let mut frames: Vec<FlameFrame> = Vec::with_capacity(sorted.len());
    let mut open: Vec<usize> = Vec::new();
    for phase in sorted {
        let (start, duration) = (phase.start_microseconds, phase.duration_microseconds.max(0));
        let ends_after = |frames: &[FlameFrame], parent: usize| {
            frames.get(parent).is_some_and(|parent: &FlameFrame| {
                start.saturating_add(duration) <= parent.start.saturating_add(parent.duration)
            })
        };
        while let Some(parent) = open.last().copied() {
            if ends_after(&frames, parent) {
                break;
            }
            open.pop();
        }
        if let Some(parent) = open.last().and_then(|parent| frames.get_mut(*parent)) {
            parent.own = parent.own.saturating_sub(duration).max(0);
        }
        let name = shortened(&phase.name, NAME).into_owned();
        frames.push(FlameFrame { name, depth: open.len(), start, duration, own: duration });
        open.push(frames.len() - 1);
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_nest_by_time() {
        let phase = |name: &str, start: i64, duration: i64| CompilerPhase {
            name: name.to_owned(),
            start_microseconds: start,
            duration_microseconds: duration,
        };
        let found = frames(&[
            phase("inner", 10, 20),
            phase("all", 0, 100),
            phase("after", 40, 60),
            phase("innermost", 10, 5),
        ]);
        let found: Vec<_> =
            found.iter().map(|frame| (frame.name.as_str(), frame.depth, frame.own)).collect();
        assert_eq!(
            found,
            [("all", 0, 20), ("inner", 1, 15), ("innermost", 2, 5), ("after", 1, 60)]
        );
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration_text(55), "55 µs");
        assert_eq!(duration_text(20_683), "20.7 ms");
        assert_eq!(duration_text(470_340), "470 ms");
        assert_eq!(duration_text(3_058_425), "3.06 s");
        assert_eq!(share_text(1, 0), "all of it");
    }
}
