//! The compiler's phases of two reports below each other, on one scale. A phase that is chosen in one is
//! chosen in the other.

use eframe::egui;
use eframe::egui::{Button, Label, Rect, RichText, ScrollArea};

use super::super::phases::{HEAD, Made, ROWS, duration_text, exports_ui, no_phases_ui, share_text};
use crate::analysis::program::phases::{joined_frames, phases};
use crate::store::options::{About, CompilerPhase};
use crate::ui::legacy::{Pair, Side};
use crate::ui::report::PageContext;
use crate::ui::report::halves::side_color;
use crate::ui::split;
use crate::ui::widget::flame::{FLAME_ROW, Flame, FlameFrame};
use crate::ui::widget::rows::{percent_text, signed};

/// What the part remembers.
#[derive(Debug, Default)]
pub struct PairPhases {
    made: Option<Both>,
    flames: [Flame; 2],
    /// Where the pictures were in the last frame.
    picture: Option<Rect>,
}

/// The phases of both, and for each phase that of the other report.
#[derive(Debug)]
struct Both {
    made: [Made; 2],
    partners: [Vec<Option<usize>>; 2],
}

impl Both {
    fn new([source, target]: [&[CompilerPhase]; 2]) -> Self {
        let (source, target) = (phases(source), phases(target));
        let mut partners = [vec![None; source.frames.len()], vec![None; target.frames.len()]];
        for row in joined_frames(&source.frames, &target.frames) {
            let [of_source, of_target] = row;
            let [in_source, in_target] = &mut partners;
            if let Some(place) = of_source.and_then(|place| in_source.get_mut(place)) {
                *place = of_target;
            }
            if let Some(place) = of_target.and_then(|place| in_target.get_mut(place)) {
                *place = of_source;
            }
        }
        Self { made: [Made::of(source), Made::of(target)], partners }
    }

    /// The phase of the other report.
    fn partner(&self, side: Side, frame: Option<usize>) -> Option<usize> {
        *side.of(self.partners.each_ref()).get(frame?)?
    }

    fn frame(&self, side: Side, frame: Option<usize>) -> Option<&FlameFrame> {
        side.of(self.made.each_ref()).frames.get(frame?)
    }

    fn totals(&self) -> [u64; 2] {
        self.made.each_ref().map(|made| made.total)
    }
}

impl PairPhases {
    /// Draws the part at the bottom of the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, pair: &Pair<'_>) {
        let [source, target] = [page.report, pair.target].map(|report| report.about.get());
        let (Some(source), Some(target)) = (source, target) else { return };
        let lists = [&source.phases[..], &target.phases[..]];
        if lists.iter().all(|list| list.is_empty()) {
            return;
        }
        let both = self.made.get_or_insert_with(|| Both::new(lists));
        let rows: usize = both.made.iter().map(|made| made.rows().min(ROWS)).sum();
        let height = HEAD + 16.0 + rows as f32 * FLAME_ROW + 2.0 * FLAME_ROW;
        let default = height.min(ui.available_height() * 0.4);
        let most = (ui.available_height() - 200.0).max(80.0);
        let (flames, picture) = (&mut self.flames, self.picture);
        self.picture = split::below(ui, "compiler phases of two", default, 64.0..=most, |ui| {
            head_ui(ui, both, flames, picture, page);
            let area = ScrollArea::vertical().auto_shrink(false);
            let shown = area.show(ui, |ui| flames_ui(ui, both, [source, target], flames));
            Some(shown.inner.intersect(shown.inner_rect))
        });
    }
}

fn head_ui(
    ui: &mut egui::Ui,
    both: &Both,
    flames: &mut [Flame; 2],
    picture: Option<Rect>,
    page: &mut PageContext<'_>,
) {
    ui.horizontal(|ui| {
        ui.label(RichText::new("Compiler phases").strong().size(15.0));
        let [source, target] = both.totals();
        let change = change_text(source, target);
        ui.weak(format!("{} → {}, {change}", duration_text(source), duration_text(target)));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            exports_ui(ui, picture, page.commands);
            let is_zoomed = flames.iter().any(Flame::is_zoomed);
            let all = ui.add_enabled(is_zoomed, Button::new("Show all phases"));
            if all.on_hover_text("Double-click, or key 0").clicked() {
                flames.iter_mut().for_each(Flame::reset);
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                let chosen =
                    Side::BOTH.map(|side| both.frame(side, side.of(flames.each_ref()).chosen()));
                if let Some(text) = chosen_text(chosen) {
                    ui.separator();
                    ui.add(Label::new(RichText::new(text).strong()).truncate());
                }
            });
        });
    });
}

/// Draws both pictures; returns where they lie.
fn flames_ui(ui: &mut egui::Ui, both: &Both, abouts: [&About; 2], flames: &mut [Flame; 2]) -> Rect {
    let span = both.totals().into_iter().max().unwrap_or(0);
    let mut drawn = Rect::NOTHING;
    for side in Side::BOTH {
        let made = side.of(both.made.each_ref());
        let title = RichText::new(side.title()).strong().color(side_color(ui, side));
        drawn = drawn.union(ui.label(title).rect);
        if made.frames.is_empty() {
            no_phases_ui(ui, side.of(abouts));
            continue;
        }
        let name = side.of([
            "Compiler phases of the source over time",
            "Compiler phases of the target over time",
        ]);
        let flame = side.of(flames.each_mut());
        flame.span = span;
        let before = (flame.zoomed(), flame.chosen());
        let (response, hovered) = flame.ui(ui, name, &made.frames, |frame| made.text(frame));
        drawn = drawn.union(response.rect);
        let after = (flame.zoomed(), flame.chosen());
        if after != before {
            let other = side.of([Side::Target, Side::Source]).of(flames.each_mut());
            other.follow(both.partner(side, after.0), both.partner(side, after.1));
            ui.request_repaint();
        }
        if hovered.is_some() {
            let partner = both.partner(side, hovered);
            let frames = side.of([[hovered, partner], [partner, hovered]]);
            egui::Tooltip::for_widget(&response)
                .at_pointer()
                .show(|ui| tooltip_ui(ui, both, frames));
        }
    }
    drawn
}

fn chosen_text([source, target]: [Option<&FlameFrame>; 2]) -> Option<String> {
    let name = &source.or(target)?.name;
    let time = |frame: Option<&FlameFrame>| {
        frame.map_or_else(|| "–".to_owned(), |frame| duration_text(frame.duration))
    };
    let change = source.zip(target).map_or(String::new(), |(source, target)| {
        format!(", {}", change_text(source.duration, target.duration))
    });
    Some(format!("{name}: {} → {}{change}", time(source), time(target)))
}

fn tooltip_ui(ui: &mut egui::Ui, both: &Both, frames: [Option<usize>; 2]) {
    let frames = Side::BOTH.map(|side| both.frame(side, side.of(frames)));
    let [source, target] = frames;
    let Some(first) = source.or(target) else { return };
    ui.label(RichText::new(&first.name).strong());
    egui::Grid::new("phase of both").num_columns(3).spacing([14.0, 2.0]).show(ui, |ui| {
        ui.label("");
        for side in Side::BOTH {
            ui.label(RichText::new(side.title()).color(side_color(ui, side)));
        }
        ui.end_row();
        let mut row = |title: &str, of: &dyn Fn(Side, &FlameFrame) -> String| {
            ui.weak(title);
            for side in Side::BOTH {
                let frame = side.of(frames);
                ui.label(frame.map_or_else(|| "not there".to_owned(), |frame| of(side, frame)));
            }
            ui.end_row();
        };
        row("Duration", &|_, frame| duration_text(frame.duration));
        row("Share", &|side, frame| share_text(frame.duration, side.of(both.totals())));
        row("Itself", &|_, frame| duration_text(frame.own));
    });
    if let (Some(source), Some(target)) = (source, target) {
        ui.label(format!("Difference: {}", change_text(source.duration, target.duration)));
    }
}

/// From one duration to another.
fn change_text(source: u64, target: u64) -> String {
    let change = i64::try_from(i128::from(target) - i128::from(source)).unwrap_or(i64::MAX);
    let text = signed(change, duration_text);
    if source == 0 || change == 0 {
        return text;
    }
    format!("{text} ({})", percent_text(change as f64 * 100.0 / source as f64))
}
