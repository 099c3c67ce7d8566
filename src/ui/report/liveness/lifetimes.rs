//! How long everything alive at a step lives, as bars over the steps that the curve shows.

use eframe::egui::{self, Rect, Stroke};
use std::ops::Range;
use std::sync::Arc;

use crate::analysis::liveness::Scope;
use crate::analysis::liveness::lifetimes::{Lifetime, lifetimes_at};
use crate::analysis::placement::placed_lifetimes::{PlacedLifetime, placed_lifetimes};
use crate::store::Report;
use crate::ui::report::figures::variables::ranges_text;
use crate::ui::theme::Tokens;
use crate::ui::widget::rows::{Column, Rows, Value};

/// Everything alive at a step; on one tile with the place of each.
enum Lives {
    Anywhere(Vec<Lifetime>),
    Placed(Vec<PlacedLifetime>),
}

pub struct LifeAxis<'a> {
    /// The places that are visible.
    pub range: (f64, f64),
    pub at: usize,
    /// The place of a step, and after the last one the end.
    pub place: &'a dyn Fn(u32) -> f64,
}

pub struct LifetimeRows {
    report: Arc<Report>,
    lives: Lives,
    steps: u64,
}

impl LifetimeRows {
    /// Everything of a scope that is alive at a step; `None` where that is not in the report.
    pub fn new(report: &Arc<Report>, scope: Scope, step: usize) -> Option<Self> {
        let lives = match scope {
            Scope::Arena(arena) => Lives::Placed(placed_lifetimes(report, arena, step)?),
            scope => Lives::Anywhere(lifetimes_at(report, scope, step)?),
        };
        let steps = report.steps.get().map_or(0, |steps| steps.ids.len() as u64);
        Some(Self { report: Arc::clone(report), lives, steps })
    }

    pub fn columns(&self) -> Vec<Column> {
        let mut columns = vec![Column::text("Variable", 190.0), Column::bytes("Bytes", 84.0)];
        if matches!(self.lives, Lives::Placed(_)) {
            columns.push(Column::count("Address", 78.0).not_summed());
        }
        columns.push(Column::count("Steps alive", 82.0).not_summed());
        columns.push(Column::painted("Life"));
        columns
    }

    pub fn name(&self, row: usize) -> Option<&str> {
        match &self.lives {
            Lives::Anywhere(lives) => lives.get(row).map(|life| &*life.name),
            Lives::Placed(lives) => lives.get(row).map(|life| &*life.name),
        }
    }

    fn life(&self, row: usize) -> Option<(u64, bool, &[Range<u32>])> {
        match &self.lives {
            Lives::Anywhere(lives) => {
                lives.get(row).map(|life| (life.bytes, life.is_always_live, &*life.ranges))
            }
            Lives::Placed(lives) => {
                lives.get(row).map(|life| (life.bytes, life.is_always_live, &*life.ranges))
            }
        }
    }

    /// Paints the life of a row: bars where it is alive, and the step that is looked at.
    pub fn paint(
        &self,
        painter: &egui::Painter,
        rect: Rect,
        row: usize,
        axis: &LifeAxis<'_>,
        tokens: &Tokens,
    ) {
        let Some((_, is_always_live, ranges)) = self.life(row) else { return };
        let (start, end) = axis.range;
        let per_step = f64::from(rect.width()) / (end - start);
        let x = |place: f64| rect.left() + ((place - start) * per_step) as f32;
        let at = x(axis.at as f64);
        if rect.x_range().contains(at) {
            painter.vline(at, rect.y_range(), Stroke::new(1.0, tokens.text));
        }
        let body = rect.shrink2(egui::vec2(0.0, 4.0)).y_range();
        let bar = |from: f32, to: f32, color| {
            // A short life is to be seen beside the line of the step.
            let to = to.max(from + 3.0);
            let (from, to) = (from.max(rect.left()), to.min(rect.right()));
            if from < to {
                painter.rect_filled(Rect::from_x_y_ranges(from..=to, body), 1, color);
            }
        };
        if is_always_live {
            bar(rect.left(), rect.right(), tokens.base);
        }
        let mut drawn_to = f32::NEG_INFINITY;
        for range in ranges.iter().filter(|_| !is_always_live) {
            let from = x((axis.place)(range.start) - 0.5).max(drawn_to);
            let to = x((axis.place)(range.end) - 0.5);
            if to - drawn_to < 0.5 {
                continue;
            }
            bar(from, to, tokens.top);
            drawn_to = to.max(from + 1.0);
        }
    }
}

impl Rows for LifetimeRows {
    fn len(&self) -> usize {
        match &self.lives {
            Lives::Anywhere(lives) => lives.len(),
            Lives::Placed(lives) => lives.len(),
        }
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some((bytes, is_always_live, ranges)) = self.life(row) else { return Value::Nothing };
        let column = match (&self.lives, column) {
            (Lives::Placed(lives), 2) => {
                return lives.get(row).map_or(Value::Nothing, |life| Value::Count(life.offset));
            }
            (Lives::Placed(_), column @ 3..) => column - 1,
            (_, column) => column,
        };
        match column {
            0 => Value::text(self.name(row).unwrap_or_default()),
            1 => Value::Bytes(bytes),
            2 if is_always_live => Value::Count(self.steps),
            2 => Value::Count(
                ranges.iter().map(|range| u64::from(range.end.saturating_sub(range.start))).sum(),
            ),
            _ if is_always_live => Value::text("always live"),
            _ => Value::text(ranges_text(&self.report, ranges)),
        }
    }
}
