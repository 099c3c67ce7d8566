//! Marks over the lanes: matches of the search, slow steps at the peak, and the step that is selected on all pages. As
//! many as there are points, whatever their number.

use eframe::egui::{self, Color32, Mesh, Pos2, Rect, Shape, Stroke};

use super::TracePage;
use super::data::ReadRun;
use crate::analysis::execution::lanes::{Lane, LaneOf};
use crate::ui::report::PageContext;
use crate::ui::runs::Run;
use crate::ui::theme::Tokens;
use crate::ui::widget::flame::Placing;

impl TracePage {
    pub fn marks_ui(
        &self,
        ui: &egui::Ui,
        placing: Placing,
        (page, run, read): (&PageContext<'_>, &Run, &ReadRun),
        lane: &Lane,
        place: usize,
    ) {
        let LaneOf::Ipu(ipu) = lane.of else { return };
        let Some(executed) = read.executed() else { return };
        let trace = executed.trace;
        let Some(rows) = trace.ipus.iter().find(|it| it.ipu == ipu).map(|it| it.rows.clone())
        else {
            return;
        };
        let tokens = *Tokens::now(ui);
        let painter = ui.painter_at(placing.rect.expand2(egui::vec2(0.0, 6.0)));
        let bounds = |span: u32| {
            let span = span as usize;
            let bounds = (*trace.spans.starts.get(span)?, *trace.spans.ends.get(span)?);
            rows.contains(&span).then_some(bounds)
        };
        let start = |span: &u32| trace.spans.starts.get(*span as usize).copied().unwrap_or(0);
        if let Some(matches) = self.search.matches(page.runs).and_then(|all| all.get(place)) {
            let spans = visible(matches, placing, &start, &bounds);
            let mut mesh = Mesh::default();
            for (from, to) in spans {
                let x = placing.x(from)..=placing.x(to).max(placing.x(from) + 2.0);
                let y = placing.rect.top() - 3.0..=placing.rect.top();
                mesh.add_colored_rect(Rect::from_x_y_ranges(x, y), tokens.accent);
            }
            painter.add(Shape::mesh(mesh));
        }
        for (from, to) in visible(&read.slow, placing, &start, &bounds) {
            let x = f32::midpoint(placing.x(from), placing.x(to));
            triangle(&painter, Pos2::new(x, placing.rect.top()), tokens.note);
        }
        for at in page.selection.steps.iter().filter(|at| at.run == run.id) {
            let spans: Vec<u32> = read.spans_of(at.step).collect();
            for (from, to) in visible(&spans, placing, &start, &bounds) {
                let x = placing.x(from)..=placing.x(to).max(placing.x(from) + 2.0);
                let area = Rect::from_x_y_ranges(x, placing.rect.y_range());
                let stroke = Stroke::new(1.5, tokens.accent);
                painter.rect_filled(area, 0, tokens.accent.gamma_multiply(0.18));
                painter.rect_stroke(area, 0, stroke, egui::StrokeKind::Inside);
            }
        }
    }
}

/// The visible spans of a list that is by start, no more than one for each point.
fn visible(
    spans: &[u32],
    placing: Placing,
    start: &dyn Fn(&u32) -> u64,
    bounds: &dyn Fn(u32) -> Option<(u64, u64)>,
) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let per_point = placing.per_point();
    // What began before may still be seen: a few of them are looked at.
    let first =
        spans.partition_point(|span| (start(span) as f64) < placing.from).saturating_sub(16);
    let mut next = first;
    while let Some(span) = spans.get(next).filter(|span| (start(span) as f64) <= placing.to) {
        let begin = start(span);
        match bounds(*span).filter(|(_, to)| *to as f64 >= placing.from) {
            Some(range) => {
                found.push(range);
                let border = (begin as f64 + per_point).max(begin as f64 + 1.0) as u64;
                let rest = spans.get(next + 1..).unwrap_or(&[]);
                next += 1 + rest.partition_point(|span| start(span) < border);
            }
            // Of another IPU, or before.
            None => next += 1,
        }
    }
    found
}

fn triangle(painter: &egui::Painter, at: Pos2, color: Color32) {
    let points = vec![at + egui::vec2(-4.0, -6.0), at + egui::vec2(4.0, -6.0), at];
    painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
}
