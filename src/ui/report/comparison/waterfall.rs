//! Why the peak changed: from the reference's to the run's in steps, with the limit. The steps add up to the byte.

use eframe::egui::{
    self, Align2, Color32, Pos2, Rect, Role, Sense, Shape, Stroke, Vec2, WidgetInfo,
};
use std::sync::Arc;

use super::pair_of_runs::PairOfRuns;
use crate::analysis::comparison::contribution::{Contributor, LifePart};
use crate::analysis::comparison::explanation::{Explanation, GroupedBy};
use crate::analysis::comparison::waterfall::{Waterfall, WaterfallStep};
use crate::analysis::figures::difference::{Difference, Side};
use crate::text::{grouped, readable, shortened};
use crate::ui::command::Command;
use crate::ui::job::{Made, Same};
use crate::ui::report::category_colors::category_color;
use crate::ui::report::grouped_by::grouped_by_segments_ui;
use crate::ui::report::is_limit_near;
use crate::ui::report::moment::step_id;
use crate::ui::report::runs_compared::RunsCompared;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::bar;
use crate::ui::widget::card::picture_card_ui;
use crate::ui::widget::picture::text_within;
use crate::ui::widget::rows::{percent_text, signed};
use crate::ui::widget::ticks;

/// Steps at most; what is small is put together in the last.
const MOST_STEPS: usize = 8;
/// Least width of a card whose title has room beside the choices, points.
const BESIDE_TITLE: f32 = 480.0;
/// Width of the sizes at the right, points.
const SIZES: f32 = 104.0;
/// Room for the name of the limit above the bars, and for the axis below them, points.
const LIMIT: f32 = 16.0;
const AXIS: f32 = 18.0;
/// Lowest and highest line, points.
const ROW: [f32; 2] = [20.0, 56.0];

#[derive(Default)]
pub struct WhyThePeak {
    by: GroupedBy,
    made: Made<(Same<RunsCompared>, GroupedBy), Option<Waterfall>>,
}

impl WhyThePeak {
    /// Draws the card; the picture has a height.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        pair: &PairOfRuns<'_>,
        found: &Arc<RunsCompared>,
        limit: Option<u64>,
        height: f32,
        commands: &mut Vec<Command>,
    ) {
        let peak = found.matched().and_then(|matched| matched.peak.as_ref());
        let whole = peak.map(|peak| peak.whole.of(LifePart::All));
        let verb = match whole.and_then(|whole| whole.change()) {
            Some(..=-1) => "Why the peak fell",
            Some(1..) => "Why the peak rose",
            _ => "The peak",
        };
        let [from, to] = pair.runs.map(|run| run.badge.letter);
        let title = format!("{verb}, {from} → {to}");
        let is_beside = ui.available_width() >= BESIDE_TITLE;
        let system = &pair.runs[0].report.system;
        let (mut beside, mut below) = (self.by, self.by);
        picture_card_ui(
            ui,
            &title,
            commands,
            |ui| {
                if is_beside {
                    grouped_by_segments_ui(ui, system, &mut beside);
                }
            },
            |ui| {
                if !is_beside {
                    grouped_by_segments_ui(ui, system, &mut below);
                }
                let Some((peak, whole)) = peak.zip(whole) else {
                    ui.weak("One of the reports has no curve over steps");
                    return;
                };
                change_ui(ui, pair, peak, &whole);
                let key = (Same(Arc::clone(found)), self.by);
                let made = self.made.of(key, |(_, by)| {
                    let grouping = peak.grouping(*by)?;
                    Waterfall::of(whole, grouping, LifePart::All, MOST_STEPS)
                });
                match made {
                    Some(waterfall) => picture_ui(ui, pair, waterfall, limit, height),
                    None => {
                        ui.weak("The reports do not say what these bytes belong to, or are not read yet");
                    }
                }
            },
        );
        self.by = if is_beside { beside } else { below };
    }
}

/// How much, and from where to where.
fn change_ui(ui: &mut egui::Ui, pair: &PairOfRuns<'_>, peak: &Explanation, whole: &Difference) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let change = whole.change().unwrap_or(0);
    let steps = [Side::Source, Side::Target]
        .map(|side| step_id(&pair.run(side).report, side.of(peak.moments).step));
    let steps = match &steps {
        [before, after] if before == after => format!("at step {before}"),
        [before, after] => format!("from step {before} to step {after}"),
    };
    ui.horizontal_wrapped(|ui| {
        let text = match change {
            0 => "Unchanged".to_owned(),
            _ => signed(change, |bytes| units.bytes(bytes)),
        };
        let text = egui::RichText::new(text).font(fonts::semibold(size::KEY_FIGURE));
        ui.label(text.color(change_color(change, &tokens)));
        let percent = whole.percent().filter(|_| change != 0).map(percent_text);
        let percent = percent.map_or_else(String::new, |percent| format!("{percent}, "));
        ui.weak(format!("{percent}{steps}"));
    });
}

fn change_color(change: i64, tokens: &Tokens) -> Color32 {
    match change {
        1.. => tokens.more,
        0 => tokens.text,
        _ => tokens.less,
    }
}

/// Where bytes lie in the picture.
struct WaterfallScale {
    bars: Rect,
    top: i64,
}

impl WaterfallScale {
    fn x(&self, bytes: i64) -> f32 {
        let share = bytes.max(0) as f64 / self.top.max(1) as f64;
        self.bars.left() + self.bars.width() * share.min(1.0) as f32
    }
}

fn picture_ui(
    ui: &mut egui::Ui,
    pair: &PairOfRuns<'_>,
    found: &Waterfall,
    limit: Option<u64>,
    height: f32,
) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let rows = found.steps.len() + 2;
    let [lowest, highest] = ROW;
    let row = ((height - LIMIT - AXIS) / rows as f32).clamp(lowest, highest);
    let size = Vec2::new(ui.available_width(), height.max(LIMIT + AXIS + row * rows as f32));
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let names = (rect.width() * 0.34).clamp(96.0, 210.0);
    let bars =
        Rect::from_min_max(rect.min + Vec2::new(names, LIMIT), rect.max - Vec2::new(SIZES, AXIS));
    let near = limit.filter(|limit| is_limit_near(u64::try_from(found.top()).unwrap_or(0), *limit));
    let near = near.and_then(|limit| i64::try_from(limit).ok());
    let top = found.top().max(near.unwrap_or(0));
    let scale = WaterfallScale { bars, top: top.saturating_add(top / 24).max(1) };
    axis(ui, &scale, units, &tokens);
    let line = |place: usize| {
        let y = bars.top() + row * place as f32;
        Rect::from_x_y_ranges(rect.x_range(), y..=y + row)
    };
    let run_row = |place: usize, side: Side, bytes: i64| {
        let run = pair.run(side);
        let name = format!("{} {}", run.badge.letter, shortened(&run.name, 40));
        let bytes_of = u64::try_from(bytes).unwrap_or(0);
        let value = near.map_or_else(
            || units.bytes(bytes_of),
            |limit| units.beside(bytes_of, limit.unsigned_abs()),
        );
        let shown =
            WaterfallLine { rect: line(place), names, name: &name, value: &value, swatch: None };
        shown.ui(ui, tokens.text, true);
        let bar = bar_of(&scale, line(place), (0, bytes));
        ui.painter().rect_filled(bar, 1, run.badge.color(&tokens));
        if let Some(limit) = near.filter(|limit| bytes > *limit) {
            let over = bar_of(&scale, line(place), (limit, bytes));
            bar::over(ui.painter(), over, 0, &tokens);
        }
    };
    run_row(0, Side::Source, found.from);
    run_row(rows - 1, Side::Target, found.to);
    for (place, step) in (1..).zip(&found.steps) {
        step_ui(ui, &scale, line(place), names, step, units);
        // From where the one before ended.
        let x = scale.x(step.before);
        let y = line(place).top() - row * 0.14..=line(place).top() + row * 0.14;
        ui.painter().vline(x, y, Stroke::new(1.0, tokens.third_text));
    }
    let x = scale.x(found.to);
    let y = line(rows - 1).top() - row * 0.14..=line(rows - 1).top() + row * 0.14;
    ui.painter().vline(x, y, Stroke::new(1.0, tokens.third_text));
    if let Some(limit) = near {
        let x = scale.x(limit);
        let ends = [Pos2::new(x, bars.top()), Pos2::new(x, bars.bottom())];
        ui.painter().extend(Shape::dashed_line(&ends, Stroke::new(1.5, tokens.ink), 5.0, 3.0));
        let text = format!("Limit {}", units.bytes(limit.unsigned_abs()));
        let font = fonts::semibold(size::CAPTION);
        let at = Pos2::new(x, rect.top());
        let galley = ui.painter().layout_no_wrap(text, font, tokens.text);
        let left = (at.x - galley.size().x / 2.0).min(rect.right() - galley.size().x);
        ui.painter().galley(Pos2::new(left, at.y), galley, tokens.text);
    }
}

/// The bar between two sizes in a line.
fn bar_of(scale: &WaterfallScale, line: Rect, (from, to): (i64, i64)) -> Rect {
    let (low, high) = (scale.x(from.min(to)), scale.x(from.max(to)));
    let margin = line.height() * 0.14;
    // What is very little is a line.
    Rect::from_x_y_ranges(low..=high.max(low + 1.5), line.top() + margin..=line.bottom() - margin)
}

fn axis(ui: &egui::Ui, scale: &WaterfallScale, units: Units, tokens: &Tokens) {
    let (bars, font) = (scale.bars, fonts::regular(size::CAPTION));
    let wanted = scale.top as f64 * f64::from(62.0 / bars.width().max(1.0));
    let step = ticks::bytes_step(wanted, units);
    for bytes in ticks::multiples(step, (0.0, scale.top as f64)) {
        let x = scale.x(bytes as i64);
        ui.painter().vline(x, bars.y_range(), Stroke::new(1.0, tokens.grid));
        let text = ticks::bytes_text(bytes, step, scale.top as f64, units);
        let at = Pos2::new(x, bars.bottom() + 3.0);
        ui.painter().text(at, Align2::CENTER_TOP, text, font.clone(), tokens.third_text);
    }
}

/// The texts of a line.
struct WaterfallLine<'a> {
    rect: Rect,
    names: f32,
    name: &'a str,
    value: &'a str,
    swatch: Option<Color32>,
}

impl WaterfallLine<'_> {
    fn ui(&self, ui: &egui::Ui, color: Color32, is_total: bool) {
        let tokens = Tokens::now(ui);
        let response = ui.interact(
            self.rect,
            ui.scope_id().with(("waterfall", self.name, self.rect.top() as i32)),
            Sense::hover(),
        );
        let said = format!("{}: {}", self.name, self.value);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &said));
        response.on_hover_text(&said);
        let mut name =
            Rect::from_min_size(self.rect.min, Vec2::new(self.names - 8.0, self.rect.height()));
        if let Some(swatch) = self.swatch {
            let at = Pos2::new(name.left() + 5.0, name.center().y);
            ui.painter().rect_filled(Rect::from_center_size(at, Vec2::splat(10.0)), 2, swatch);
        }
        if !is_total {
            name.min.x += 16.0;
        }
        text_within(ui.painter(), name, self.name.to_owned(), size::TABLE, tokens.text);
        let at = Pos2::new(self.rect.right(), self.rect.center().y);
        let font = fonts::semibold(size::TABLE);
        ui.painter().text(at, Align2::RIGHT_CENTER, self.value, font, color);
    }
}

fn step_ui(
    ui: &egui::Ui,
    scale: &WaterfallScale,
    rect: Rect,
    names: f32,
    step: &WaterfallStep,
    units: Units,
) {
    let tokens = *Tokens::now(ui);
    let change = step.change();
    let color = change_color(change, &tokens);
    let (name, swatch) = match &step.contributor {
        None => (format!("{} others", grouped(step.count as u64)), None),
        Some(contributor) => {
            let swatch = match contributor {
                Contributor::Category(name) => Some(category_color(name, &tokens)),
                _ => None,
            };
            (readable(&contributor.title()).into_owned(), swatch)
        }
    };
    let name = shortened(&name, 120);
    let value = signed(change, |bytes| units.bytes(bytes));
    WaterfallLine { rect, names, name: &name, value: &value, swatch }.ui(ui, color, false);
    if change != 0 {
        let bar = bar_of(scale, rect, (step.before, step.after));
        ui.painter().rect_filled(bar, 1, color);
    }
}
