//! The memory over steps in small: the curve against the limit, the highest peaks named.

use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{self, Vec2};

use crate::analysis::liveness::scope_curve::AlwaysLive;
use crate::analysis::liveness::timeline::Timeline;
use crate::analysis::program::step_operations::StepOperations;
use crate::analysis::program::steps;
use crate::store::{Report, System};
use crate::text::{grouped, shortened};
use crate::ui::report::moment::step_id;
use crate::ui::report::run_part::RunPart;
use crate::ui::report::slot_axis::MOST_PEAKS;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, Values, new_version};
use crate::ui::widget::curve::{Layer, Peak, Picture, curve_ui};
use crate::ui::widget::heights::Heights;
use crate::ui::widget::sign::{Sign, answer_ui};
use crate::ui::widget::view::View;

/// Longest name of a peak.
const NAME: usize = 32;
/// Height of a line of the key, points.
const KEY_LINE: f32 = 20.0;

/// The highest peaks of a curve, each with the name of its operation.
#[derive(Default)]
pub struct NamedPeaks {
    peaks: Vec<Peak>,
    names: Vec<String>,
}

impl NamedPeaks {
    /// With what is always live.
    pub fn of(report: &Report, timeline: &Timeline, operations: Option<&StepOperations>) -> Self {
        let highest = || timeline.peaks.iter().take(MOST_PEAKS).map(|peak| peak.step);
        let peak = |position: usize| {
            let bytes = timeline.alive_at(position);
            Peak { position, bytes, key: None }
        };
        let name = |step| shortened(&steps::title(report, operations, step), NAME).into_owned();
        Self { peaks: highest().map(peak).collect(), names: highest().map(name).collect() }
    }

    /// Where they are, for those who do not see the discs.
    fn text(&self, report: &Report) -> String {
        let steps: Vec<String> =
            self.peaks.iter().map(|peak| step_id(report, peak.position)).collect();
        if steps.is_empty() { String::new() } else { format!(", peaks at {}", steps.join(", ")) }
    }
}

/// What the picture is called: `Memory over steps`.
pub fn over_steps(system: &System) -> String {
    format!("Memory over {}", system.steps)
}

pub struct StepsPicture {
    view: View,
    heights: Heights,
    caches: [BinCache; 2],
    version: u64,
}

impl Default for StepsPicture {
    fn default() -> Self {
        let caches = [BinCache::default(), BinCache::default()];
        let (view, heights) = (View::default(), Heights::default());
        Self { view, heights, caches, version: new_version() }
    }
}

/// Whether the curve stays below its limit, in a few words; nothing where there is no limit.
pub fn answer_of_curve_ui(ui: &mut egui::Ui, timeline: &Timeline) {
    let Some(limit) = timeline.limit else { return };
    let (top, units) = (timeline.top, Units::now(ui));
    let (sign, text) = if top > limit {
        (Sign::Over, format!("highest {}, {} over", units.bytes(top), units.bytes(top - limit)))
    } else {
        (Sign::Fits, format!("highest {}, {} below", units.bytes(top), units.bytes(limit - top)))
    };
    ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
        answer_ui(ui, sign, &text);
    });
}

impl StepsPicture {
    /// Draws the curve in a height; a click selects a step and shows it in Liveness.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        (timeline, named): (&Timeline, &NamedPeaks),
        height: f32,
        part: &mut RunPart<'_>,
    ) {
        let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
        // What more lines of the key need the picture gives.
        let height = height - (key_ui(ui, named, part) - KEY_LINE).max(0.0);
        let curve = &timeline.curve;
        let [temporary, level] = &mut self.caches;
        let (values, base) = match (&timeline.together, &curve.always_live) {
            (Some(together), _) => (Values::Known(together), 0),
            (None, AlwaysLive::Level(level)) => (Values::Known(&curve.not_always_live), *level),
            (None, _) => (Values::Known(&curve.not_always_live), 0),
        };
        let mut layers = Vec::with_capacity(2);
        layers.push(Layer {
            base,
            fill: Some(tokens.area(tokens.temporary)),
            limit: timeline.limit,
            ..Layer::line(values, tokens.temporary, temporary)
        });
        let mut ground = None;
        match &curve.always_live {
            AlwaysLive::Level(bytes) => {
                ground = Some((*bytes, tokens.area(tokens.always_live), tokens.always_live));
            }
            AlwaysLive::AtStep(values) => layers.insert(
                0,
                Layer {
                    fill: Some(tokens.area(tokens.always_live)),
                    ..Layer::line(Values::Known(values), tokens.always_live, level)
                },
            ),
            AlwaysLive::Unknown => {}
        }
        let report = std::sync::Arc::clone(part.report());
        let limits = timeline.limit.map(|limit| (limit, format!("Limit {}", units.bytes(limit))));
        let size = Vec2::new(ui.available_width(), height);
        let layout = egui::Layout::top_down(egui::Align::Min);
        let answer = ui.allocate_ui_with_layout(size, layout, |ui| {
            curve_ui(
                ui,
                (&mut self.view, &mut self.heights),
                Picture {
                    value: format!(
                        "{} {}{}",
                        grouped(timeline.len() as u64),
                        report.system.steps,
                        named.text(&report)
                    ),
                    x_title: report.system.step,
                    x_unit: report.system.step,
                    version: self.version,
                    top: timeline.top.max(timeline.limit.unwrap_or(0)),
                    ground,
                    layers,
                    limits: limits.into_iter().collect(),
                    peaks: &named.peaks,
                    ..Picture::of(&over_steps(&report.system), timeline.len(), &|step| {
                        step_id(&report, step)
                    })
                },
            )
        });
        if let Some(click) = answer.inner.clicked {
            part.show_step(click.position);
        }
    }
}

/// The peaks by their operations; a click shows one. Returns its height.
fn key_ui(ui: &mut egui::Ui, named: &NamedPeaks, part: &mut RunPart<'_>) -> f32 {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    let key = ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::new(14.0, 2.0);
        for (number, (peak, name)) in (1..).zip(named.peaks.iter().zip(&named.names)) {
            let mut job = LayoutJob::default();
            for (text, font, color) in [
                (number.to_string(), fonts::semibold(12.0), tokens.text),
                (format!("  {name}  "), fonts::regular(12.0), tokens.weak_text),
                (units.bytes(peak.bytes), fonts::semibold(12.0), tokens.text),
            ] {
                job.append(&text, 0.0, TextFormat::simple(font, color));
            }
            let peak_ui = ui.add(egui::Label::new(job).sense(egui::Sense::click()).extend());
            let peak_ui = peak_ui.on_hover_cursor(egui::CursorIcon::PointingHand);
            if peak_ui.on_hover_text("Show it in Liveness").clicked() {
                part.show_step(peak.position);
            }
        }
    });
    key.response.rect.height()
}
