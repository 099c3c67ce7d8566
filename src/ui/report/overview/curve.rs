//! The memory over steps in small: areas where the run says what memory is for, else the curve against the limit, with
//! the highest peaks; and the lines, bands and moments beside it.

use eframe::egui::{self, Color32, Vec2};
use std::collections::BTreeSet;
use std::sync::Arc;

use super::OverviewDetail;
use crate::analysis::comparison::step_axis::StepAxis;
use crate::analysis::liveness::scope_curve::AlwaysLive;
use crate::analysis::liveness::scope_title;
use crate::analysis::liveness::timeline::Timeline;
use crate::analysis::program::step_operations::StepOperations;
use crate::analysis::program::steps;
use crate::run::areas::{AreasBy, AreasOf};
use crate::store::System;
use crate::text::{CommonPath, grouped, shortened};
use crate::ui::command::{Command, Page};
use crate::ui::job::Cancel;
use crate::ui::report::areas::{AreaCaches, DrawnAreas, DrawnBeside};
use crate::ui::report::is_limit_near;
use crate::ui::report::moment::step_id;
use crate::ui::report::room::of_part;
use crate::ui::report::run_part::RunPart;
use crate::ui::report::slot_axis::MOST_PEAKS;
use crate::ui::runs::Run;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, BinValues};
use crate::ui::widget::card::picture_card_ui;
use crate::ui::widget::curve::{CurveLayer, CurvePeak, CurvePlot, curve_ui};
use crate::ui::widget::heights::Heights;
use crate::ui::widget::legend::{Patch, label_ui};
use crate::ui::widget::picture::at_pointer_ui;
use crate::ui::widget::sign::{Sign, answer_ui};
use crate::ui::widget::view::VisibleRange;

/// Longest name of a peak.
const NAME: usize = 32;
/// Longest name of the step under the pointer.
const POINTED: usize = 80;
/// Height of a line of the key, points.
const KEY_LINE: f32 = 20.0;
/// What a card has around its picture, points.
const AROUND: f32 = 64.0;

pub struct KnownCurve {
    curve: CurveAreas,
    beside: DrawnBeside,
    /// What its steps run.
    operations: Option<Arc<StepOperations>>,
    peaks: Vec<CurvePeak>,
    /// The names of the peaks; of areas, which have a legend, none.
    names: Vec<String>,
    /// What it is held against, where that is not far above all of it.
    limit: Option<u64>,
    /// The device whose memory it is, where each has its own.
    of: Option<String>,
}

enum CurveAreas {
    /// What is live throughout, and the rest.
    Timeline(Arc<Timeline>),
    /// By what memory is for.
    Areas(DrawnAreas),
}

/// What the curve of a run is split by, where that needs no part of its report.
pub fn areas_of_run(run: &Run) -> Option<AreasBy> {
    let answers = run.derived.answers();
    let usual = answers.groupings(&run.derived, run.derived.first_scope()).first().copied();
    usual.filter(|by| *by != AreasBy::Liveness)
}

impl KnownCurve {
    pub fn of(run: &Run, detail: OverviewDetail, cancel: &Cancel) -> Option<Self> {
        match areas_of_run(run) {
            None => Self::of_timeline(run, cancel),
            Some(_) if detail == OverviewDetail::First => {
                Self::of_areas(run, AreasBy::Whole, cancel)
            }
            Some(by) => Self::of_areas(run, by, cancel),
        }
    }

    fn of_areas(run: &Run, by: AreasBy, cancel: &Cancel) -> Option<Self> {
        let (derived, answers) = (&run.derived, run.derived.answers());
        let scope = derived.first_scope();
        let count = run.report.steps.get()?.count_of(scope.device(&run.report));
        let axis = StepAxis::by_index(&[count]);
        let drawn_areas = || {
            let of = AreasOf { scope, by };
            let stacked = answers.areas(derived, of, &|| cancel.is_cancelled())?;
            let areas = DrawnAreas::of(stacked.into(), BTreeSet::new(), None);
            Some((areas.peaks(), areas))
        };
        let beside = || {
            let mut beside = answers.beside_curve(derived, scope, false);
            if by != AreasBy::Whole {
                beside.lines.extend(answers.other_curves(derived, scope));
            }
            DrawnBeside::of(beside, &axis, 0)
        };
        let (areas, beside) = rayon::join(drawn_areas, beside);
        let (peaks, areas) = areas?;
        if areas.total().is_empty() {
            // Nothing is ever there; what is drawn beside it still needs its steps.
            return Self::of_timeline(run, cancel);
        }
        Some(Self {
            beside,
            peaks,
            names: Vec::new(),
            of: derived.first_device().map(|_| scope_title(&run.report, scope)),
            limit: derived.limit_bytes(scope).filter(|limit| is_limit_near(areas.top, *limit)),
            operations: None,
            curve: CurveAreas::Areas(areas),
        })
    }

    fn of_timeline(run: &Run, cancel: &Cancel) -> Option<Self> {
        let (report, scope) = (&run.report, run.derived.first_scope());
        let timeline = run.derived.timeline(scope, &|| cancel.is_cancelled())?;
        let operations = run.derived.operations();
        let highest = timeline.highest_peaks(MOST_PEAKS);
        let peak = |position: usize| {
            let bytes = timeline.alive_at(position);
            CurvePeak { position, bytes, key: None }
        };
        let title = |step| steps::title(report, operations.as_deref(), scope.device(report), step);
        let titles: Vec<_> = highest.iter().copied().map(title).collect();
        let common = CommonPath::of(titles.iter().map(|title| &**title));
        let beside = run.derived.answers().beside_curve(&run.derived, scope, false);
        Some(Self {
            beside: DrawnBeside::of(beside, &StepAxis::by_index(&[timeline.len()]), 0),
            peaks: highest.iter().copied().map(peak).collect(),
            names: titles.iter().map(|title| common.shortened(title, NAME).into_owned()).collect(),
            of: None,
            limit: timeline.limit.filter(|limit| is_limit_near(timeline.top, *limit)),
            operations,
            curve: CurveAreas::Timeline(timeline),
        })
    }

    /// What runs at a step.
    fn title_of(&self, run: &Run, step: usize) -> String {
        let scope = run.derived.first_scope();
        let (operations, report) = (self.operations.as_deref(), &run.report);
        let title = steps::title(report, operations, scope.device(report), step);
        shortened(&title, POINTED).into_owned()
    }

    fn timeline(&self) -> Option<&Timeline> {
        match &self.curve {
            CurveAreas::Timeline(timeline) => Some(timeline),
            CurveAreas::Areas(_) => None,
        }
    }

    fn len(&self) -> usize {
        match &self.curve {
            CurveAreas::Timeline(timeline) => timeline.len(),
            CurveAreas::Areas(areas) => areas.total().len(),
        }
    }

    fn top(&self) -> u64 {
        let of_curve = match &self.curve {
            CurveAreas::Timeline(timeline) => timeline.top,
            CurveAreas::Areas(areas) => areas.top,
        };
        let of_lines = self.beside.lines.iter().map(|line| line.top);
        of_lines.chain(self.limit).fold(of_curve, u64::max)
    }

    /// What the picture is called: `Memory over steps`.
    fn title(&self, system: &System) -> String {
        let title = format!("Memory over {}", system.steps);
        match &self.of {
            Some(of) => format!("{title}, {of}"),
            None => title,
        }
    }

    /// Where the named peaks are, for those who do not see the discs.
    fn peaks_text(&self, run: &Run) -> String {
        let steps: Vec<String> =
            self.peaks.iter().map(|peak| step_id(&run.report, peak.position)).collect();
        let has_names = !self.names.is_empty();
        if has_names { format!(", peaks at {}", steps.join(", ")) } else { String::new() }
    }
}

/// Whether the curve stays below its limit, in a few words; of a curve without one the way to Liveness.
fn answer_of_curve_ui(
    ui: &mut egui::Ui,
    run: &Run,
    known: &KnownCurve,
    commands: &mut Vec<Command>,
) {
    let timeline = known.timeline();
    let Some((top, limit)) = timeline.and_then(|timeline| Some((timeline.top, timeline.limit?)))
    else {
        if ui.link("Open in Liveness").clicked() {
            commands.push(Command::Go(Page::Liveness));
        }
        return;
    };
    let units = Units::now(ui);
    let answer = if top > limit {
        (Sign::Over, format!("alive up to {}, {} over", units.bytes(top), units.bytes(top - limit)))
    } else {
        (
            Sign::Fits,
            format!("alive up to {}, {} below", units.bytes(top), units.bytes(limit - top)),
        )
    };
    ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
        let (sign, text) = of_part(run, answer, units);
        answer_ui(ui, sign, &text);
    });
}

#[derive(Default)]
pub struct CurvePicture {
    view: VisibleRange,
    heights: Heights,
    caches: [BinCache; 3],
    areas: AreaCaches,
    lines: Vec<BinCache>,
    /// Tells areas apart; a curve without them is always the same.
    version: u64,
}

impl CurvePicture {
    /// Draws the card of the curve in a height; a click selects a step and shows it in Liveness.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        known: &KnownCurve,
        height: f32,
        part: &mut RunPart<'_>,
    ) {
        let (mut exports, mut commands) = (Vec::new(), Vec::new());
        let run = part.run;
        picture_card_ui(
            ui,
            &known.title(&part.run.report.system),
            &mut exports,
            |ui| answer_of_curve_ui(ui, run, known, &mut commands),
            |ui| {
                // What more lines of the key need the picture gives.
                let key = (key_ui(ui, known, part) - KEY_LINE).max(0.0);
                self.picture_ui(ui, known, height - AROUND - key, part);
            },
        );
        part.commands.append(&mut exports);
        part.commands.append(&mut commands);
    }

    fn picture_ui(
        &mut self,
        ui: &mut egui::Ui,
        known: &KnownCurve,
        height: f32,
        part: &mut RunPart<'_>,
    ) {
        let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
        let Self { view, heights, caches: [followed, level, area], areas, lines, version } = self;
        lines.resize_with(known.beside.lines.len(), BinCache::default);
        let lines = known.beside.lines.iter().zip(lines);
        let lines = lines.map(|(line, cache)| known.beside.layer(line, line.color(&tokens), cache));
        let (mut ground, mut layers) = (None, Vec::new());
        let limit = known.limit;
        let limits = limit.map(|limit| (limit, format!("Limit {}", units.bytes(limit))));
        // What the pointer follows is the last layer.
        match &known.curve {
            CurveAreas::Areas(of_groups) => {
                *version = of_groups.version;
                layers = of_groups.layers(areas, limit, &tokens);
                layers.extend(lines);
                of_groups.prepare_total(followed);
                let total = BinValues::Known(of_groups.total());
                layers.push(CurveLayer::line(total, Color32::TRANSPARENT, followed));
            }
            CurveAreas::Timeline(timeline) => {
                match &timeline.curve.always_live {
                    AlwaysLive::Level(bytes) => {
                        ground =
                            Some((*bytes, tokens.area(tokens.always_live), tokens.always_live));
                    }
                    AlwaysLive::AtStep(values) => layers.push(CurveLayer {
                        fill: Some(tokens.area(tokens.always_live)),
                        ..CurveLayer::line(BinValues::Known(values), tokens.always_live, level)
                    }),
                    AlwaysLive::Unknown => {}
                }
                let (values, base) = temporary_of(timeline);
                layers.push(CurveLayer {
                    base,
                    fill: Some(tokens.area(tokens.temporary)),
                    limit,
                    ..CurveLayer::line(values, tokens.temporary, area)
                });
                // A line within the area is seen on it.
                layers.extend(lines);
                let (values, base) = temporary_of(timeline);
                layers.push(CurveLayer {
                    base,
                    ..CurveLayer::line(values, Color32::TRANSPARENT, followed)
                });
            }
        }
        let (run, system) = (part.run, part.run.report.system);
        let (title, moments) = (known.title(&system), known.beside.moments(units));
        let step = |step: usize| step_id(&run.report, step);
        let size = Vec2::new(ui.available_width(), height);
        let layout = egui::Layout::top_down(egui::Align::Min);
        let answer = ui.allocate_ui_with_layout(size, layout, |ui| {
            let steps = grouped(known.len() as u64);
            let picture = CurvePlot {
                value: format!("{steps} {}{}", system.steps, known.peaks_text(run)),
                x_title: system.step,
                x_unit: system.step,
                version: *version,
                top: known.top(),
                ground,
                layers,
                limits: limits.into_iter().collect(),
                moments: &moments,
                bands: &known.beside.bands,
                peaks: &known.peaks,
                ..CurvePlot::of(&title, known.len(), &step)
            };
            curve_ui(ui, view, heights, picture)
        });
        if let (Some(step), CurveAreas::Timeline(timeline)) = (answer.inner.hovered, &known.curve) {
            at_pointer_ui(&answer.inner.response, |ui| {
                let title = known.title_of(run, step);
                ui.label(fonts::line([(&*title, fonts::semibold(12.0), tokens.text)]));
                ui.weak(format!("{} alive", units.bytes(timeline.alive_at(step))));
            });
        }
        if let Some(click) = answer.inner.clicked {
            part.show_step(click.position);
        }
    }
}

/// What is not live throughout, and what it stands on.
fn temporary_of(timeline: &Timeline) -> (BinValues<'_>, u64) {
    let curve = &timeline.curve;
    match (&timeline.together, &curve.always_live) {
        (Some(together), _) => (BinValues::Known(together), 0),
        (None, AlwaysLive::Level(level)) => (BinValues::Known(&curve.not_always_live), *level),
        (None, _) => (BinValues::Known(&curve.not_always_live), 0),
    }
}

/// The named peaks, or what the areas are of, and the lines; a click on a peak shows it. Returns its height.
fn key_ui(ui: &mut egui::Ui, known: &KnownCurve, part: &mut RunPart<'_>) -> f32 {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    let key = ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::new(14.0, 2.0);
        for (number, (peak, name)) in (1..).zip(known.peaks.iter().zip(&known.names)) {
            let job = fonts::line([
                (&*number.to_string(), fonts::semibold(12.0), tokens.text),
                (&*format!("  {name}  "), fonts::regular(12.0), tokens.weak_text),
                (&*units.bytes(peak.bytes), fonts::semibold(12.0), tokens.text),
            ]);
            let peak_ui = ui.add(egui::Label::new(job).sense(egui::Sense::click()).extend());
            let peak_ui = peak_ui.on_hover_cursor(egui::CursorIcon::PointingHand);
            if peak_ui.on_hover_text("Show it in Liveness").clicked() {
                part.show_step(peak.position);
            }
        }
        if let CurveAreas::Areas(areas) = &known.curve {
            for (group, patch) in areas.key(&tokens) {
                label_ui(ui, patch, &group.title);
            }
        }
        for line in &known.beside.lines {
            label_ui(ui, Patch::Line(line.color(&tokens)), &line.title);
        }
    });
    key.response.rect.height()
}
