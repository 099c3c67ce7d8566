//! Marks over the lanes: matches of the search, slow steps at the peak, and the step that is selected on all pages. As
//! many as there are points, whatever their number.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{self, Color32, Mesh, Pos2, Rect, Shape};
use std::ops::RangeInclusive;

use super::TracePage;
use super::data::ReadRun;
use crate::analysis::execution::lanes::{Lane, LaneOf};
use crate::store::execution::Spans;
use crate::ui::report::PageContext;
use crate::ui::theme::Tokens;
use crate::ui::widget::flame::Placing;
use crate::ui::widget::picture::add_outline;

/// Spans before the first that begins where the picture does.
const EARLIER: usize = 16;

impl TracePage {
    pub fn marks_ui(
        &self,
        ui: &egui::Ui,
        placing: Placing,
        page: &PageContext<'_>,
        read: &ReadRun,
        lane: &Lane,
    ) {
        let LaneOf::Device(device) = lane.of else { return };
        let Some(executed) = read.executed() else { return };
        let trace = executed.trace;
        let Some(rows) =
            trace.devices.iter().find(|it| it.device == device).map(|it| it.rows.clone())
        else {
            return;
        };
        let tokens = *Tokens::now(ui);
        let painter = ui.painter_at(placing.rect.expand2(egui::vec2(0.0, 6.0)));
        // Those of an IPU lie together, by start.
        let of_ipu = |spans: &'_ [u32]| -> std::ops::Range<usize> {
            let place = |row: usize| spans.partition_point(|span| (*span as usize) < row);
            place(rows.start)..place(rows.end)
        };
        let visible = |spans: &[u32], apart: f64| {
            visible(spans.get(of_ipu(spans)).unwrap_or(&[]), placing, apart, &trace.spans)
        };
        let pixels = ui.pixels_per_point();
        let upright = |(from, to): (u64, u64), y: RangeInclusive<f32>| {
            let (left, right) = (placing.x(from), placing.x(to).max(placing.x(from) + 2.0));
            Rect::from_x_y_ranges(left..=right, y).round_to_pixels(pixels)
        };
        let mut mesh = Mesh::default();
        let place = page.runs.position(read.run);
        let matches = self.search.matches(page.runs).and_then(|all| all.get(place?));
        if let Some(matches) = matches {
            for span in visible(&matches.by_row, 1.0) {
                let rect = upright(span, placing.rect.top() - 3.0..=placing.rect.top());
                mesh.add_colored_rect(rect, tokens.accent);
            }
        }
        for (from, to) in visible(&read.slow.by_row, 6.0) {
            let x = f32::midpoint(placing.x(from), placing.x(to));
            let tip = Pos2::new(x, placing.rect.top()).round_to_pixels(pixels);
            add_triangle(&mut mesh, tip, 1.0_f32.round_to_pixels(pixels), tokens.note);
        }
        for at in page.selection.steps.iter().filter(|at| at.run == read.run) {
            for span in visible(read.spans_of(at.step), 1.0) {
                let area = upright(span, placing.rect.y_range().into());
                mesh.add_colored_rect(area, tokens.accent.gamma_multiply(0.18));
                let line = 1.5_f32.round_to_pixels(pixels);
                add_outline(&mut mesh, area, line, tokens.accent);
            }
        }
        painter.add(Shape::mesh(mesh));
    }
}

/// The visible spans of a list of one IPU, which is by start: no closer to each other than so many points.
fn visible(list: &[u32], placing: Placing, apart: f64, spans: &Spans) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let start = |span: &u32| spans.starts.get(*span as usize).copied().unwrap_or(0);
    let end = |span: &u32| spans.ends.get(*span as usize).copied().unwrap_or(0);
    // What began before may still be seen: a few of them are looked at.
    let begun = list.partition_point(|span| (start(span) as f64) < placing.from);
    let before = list.get(begun.saturating_sub(EARLIER)..begun).unwrap_or(&[]);
    let reaches = |span: &&u32| end(span) as f64 > placing.from;
    found.extend(before.iter().filter(reaches).map(|span| (start(span), end(span))));
    let mut rest = list.get(begun..).unwrap_or(&[]);
    while let [first, others @ ..] = rest
        && start(first) as f64 <= placing.to
    {
        found.push((start(first), end(first)));
        let border = start(first) as f64 + placing.per_point() * apart;
        // The next one is near, mostly.
        let mut near = 1;
        while others.get(near).is_some_and(|span| (start(span) as f64) < border) {
            near *= 2;
        }
        let near = others.get(..near).unwrap_or(others);
        let next = near.partition_point(|span| (start(span) as f64) < border);
        rest = others.get(next..).unwrap_or(&[]);
    }
    found
}

/// Adds a triangle that points down, of lines of pixels.
fn add_triangle(mesh: &mut Mesh, tip: Pos2, line: f32, color: Color32) {
    for number in 0_u8..5 {
        let up = line * f32::from(number);
        let rect =
            Rect::from_x_y_ranges(tip.x - up..=tip.x + up + line, tip.y - up - line..=tip.y - up);
        mesh.add_colored_rect(rect, color);
    }
}
