//! The lifetimes of everything alive at a step, as bars over the visible steps.

use eframe::egui::{self, Color32, Rect, Stroke};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::lifetimes::{Lifetime, lifetimes_at};
use crate::analysis::memory::category_title;
use crate::analysis::placement::counted::COUNTED_ONCE;
use crate::analysis::placement::placed_lifetimes::{PlacedLifetime, placed_lifetimes};
use crate::run::AreasBy;
use crate::run::StepBytes;
use crate::store::{Report, UnloweredId};
use crate::text::{CommonPath, capitalised};
use crate::ui::job::Cancel;
use crate::ui::report::category_colors::{category_color, variable_color};
use crate::ui::report::figures::variables::ranges_text;
use crate::ui::theme::Tokens;
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// What the bars are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LivesBy {
    #[default]
    Size,
    Length,
    Address,
}

#[derive(Default)]
struct LifetimeRow {
    name: String,
    /// Its number, where the report has it under one.
    variable: Option<UnloweredId>,
    /// Path of the operation that makes it.
    operation: Option<String>,
    bytes: u64,
    /// Its place, on one tile.
    address: Option<u64>,
    /// Its category, where that is known beside its name.
    category: Option<String>,
    is_always_live: bool,
    ranges: Arc<[Range<u32>]>,
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
    /// How bytes are counted, where some have the same addresses.
    rule: &'static str,
    lives: Vec<LifetimeRow>,
    /// What the operations have in common.
    operations: CommonPath,
    has_addresses: bool,
    steps: u64,
}

impl LifetimeRows {
    /// Everything of a scope that is alive at a step; `None` where that is not in the report.
    pub fn new(report: &Arc<Report>, scope: Scope, step: usize, cancel: &Cancel) -> Option<Self> {
        let liveness = report.liveness.get()?;
        let mut has_shared = liveness.counted_bytes.is_some();
        let mut placed = |life: PlacedLifetime| {
            has_shared |= life.counted_bytes < life.bytes;
            let PlacedLifetime { name, counted_bytes: bytes, offset, category, .. } = life;
            let PlacedLifetime { is_always_live, ranges, .. } = life;
            let category = category.and_then(|id| report.category_name(id)).map(str::to_owned);
            LifetimeRow {
                name,
                bytes,
                address: Some(offset),
                category,
                is_always_live,
                ranges,
                ..LifetimeRow::default()
            }
        };
        let named = |life: Lifetime| {
            let Lifetime { name, variable, bytes, is_always_live, ranges, .. } = life;
            let (variable, ranges) = (Some(variable), ranges.into());
            LifetimeRow { name, variable, bytes, is_always_live, ranges, ..LifetimeRow::default() }
        };
        let (lives, has_addresses) = match scope {
            Scope::Arena(arena) => {
                let lives = placed_lifetimes(report, arena, step, cancel.progress())?;
                (lives.into_iter().map(&mut placed).collect(), true)
            }
            scope => {
                let lives = lifetimes_at(report, scope, step)?;
                (lives.into_iter().map(named).collect(), false)
            }
        };
        let steps = report.steps.get().map_or(0, |steps| steps.ids.len() as u64);
        let rule = if has_shared { COUNTED_ONCE } else { "" };
        let operations = CommonPath::default();
        Some(Self { report: Arc::clone(report), rule, lives, operations, has_addresses, steps })
    }

    /// With the category of each, for the colors of bars; those of an arena have theirs already.
    #[must_use]
    pub fn with_categories(
        mut self,
        derived: &Derived,
        scope: Scope,
        step: usize,
        cancel: &Cancel,
    ) -> Self {
        if !matches!(scope, Scope::Arena(_)) {
            add_categories(&mut self.lives, derived, scope, step, cancel);
        }
        self
    }

    /// With the operation that makes each, where the system knows that.
    #[must_use]
    pub fn with_operations(mut self, derived: &Derived) -> Self {
        let numbered: Vec<(usize, UnloweredId)> = self
            .lives
            .iter()
            .enumerate()
            .filter_map(|(at, life)| Some((at, life.variable?)))
            .collect();
        let variables: Vec<UnloweredId> = numbered.iter().map(|(_, variable)| *variable).collect();
        let briefs = derived.answers().variable_briefs(derived, &variables);
        for ((at, _), brief) in numbered.into_iter().zip(briefs) {
            if let Some(life) = self.lives.get_mut(at) {
                life.operation = brief.operation;
            }
        }
        self.operations =
            CommonPath::of(self.lives.iter().filter_map(|life| life.operation.as_deref()));
        self
    }

    /// The path of the operation that makes a row's variable, and its end where there is no room for all of it.
    pub fn operation(&self, row: usize) -> Option<(&str, Cow<'_, str>)> {
        let path = self.lives.get(row)?.operation.as_deref()?;
        Some((path, self.operations.left_out(path)))
    }

    /// In an order for bars: what passes before what always lives.
    #[must_use]
    pub fn sorted(mut self, by: LivesBy) -> Self {
        let steps = |range: &Range<u32>| u64::from(range.end.saturating_sub(range.start));
        let key = |life: &LifetimeRow| match by {
            LivesBy::Size => u64::MAX - life.bytes,
            LivesBy::Length => u64::MAX - life.ranges.iter().map(steps).sum::<u64>(),
            LivesBy::Address => life.address.unwrap_or(u64::MAX),
        };
        self.lives.sort_by_key(|life| (life.is_always_live, key(life)));
        self
    }

    /// How many do not always live, of rows that are [`Self::sorted`].
    pub fn passing(&self) -> usize {
        self.lives.partition_point(|life| !life.is_always_live)
    }

    /// Name, bytes and steps of one.
    pub fn life(&self, row: usize) -> Option<(&str, u64, &[Range<u32>])> {
        self.lives.get(row).map(|life| (&*life.name, life.bytes, &*life.ranges))
    }

    /// The color of its category, gray where that is not known.
    pub fn color(&self, row: usize, tokens: &Tokens) -> Color32 {
        let life = self.lives.get(row);
        let category = life.and_then(|life| life.category.as_deref());
        category.map_or_else(
            || variable_color(&self.report, life.map_or("", |life| &life.name), tokens),
            |category| category_color(category, tokens),
        )
    }

    pub fn report(&self) -> &Report {
        &self.report
    }

    pub fn columns(&self) -> Vec<TableColumn> {
        let of_name = self.report.system.variable;
        // On a tile not each of them has such a name.
        let or = if self.has_addresses { "; without one, its category" } else { "" };
        let whole = format!("{of_name}{or}");
        let name = TableColumn::text(self.report.system.item, 190.0).called(whole);
        let bytes = TableColumn::bytes("Bytes", 84.0).counted_by(self.rule);
        let mut columns = vec![name, bytes];
        if self.has_addresses {
            columns.push(TableColumn::count("Address", 78.0).not_summed());
        }
        columns.push(
            TableColumn::count(format!("{} alive", capitalised(self.report.system.steps)), 82.0)
                .not_summed(),
        );
        columns.push(TableColumn::painted("Life"));
        columns
    }

    pub fn name(&self, row: usize) -> Option<&str> {
        self.lives.get(row).map(|life| &*life.name)
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
        let Some(LifetimeRow { is_always_live, ranges, .. }) = self.lives.get(row) else { return };
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
        if *is_always_live {
            bar(rect.left(), rect.right(), tokens.always_live);
        }
        let mut drawn_to = f32::NEG_INFINITY;
        for range in ranges.iter().filter(|_| !is_always_live) {
            let from = x((axis.place)(range.start) - 0.5).max(drawn_to);
            let to = x((axis.place)(range.end) - 0.5);
            if to - drawn_to < 0.5 {
                continue;
            }
            bar(from, to, tokens.temporary);
            drawn_to = to.max(from + 1.0);
        }
    }
}

/// Fills in what each is for: of an allocation by its code and where it begins, of another variable by its name. Of
/// several that these do not tell apart it is known where all have the same.
fn add_categories(
    lives: &mut [LifetimeRow],
    derived: &Derived,
    scope: Scope,
    step: usize,
    cancel: &Cancel,
) {
    let mut known: HashMap<(String, u32), Option<String>> = HashMap::new();
    let mut add = |key: (String, u32), category: Option<String>| {
        let of_key = known.entry(key).or_insert_with(|| category.clone());
        if *of_key != category {
            *of_key = None;
        }
    };
    let is_cancelled = || cancel.is_cancelled();
    let allocations = derived.answers().allocations(derived, scope, Some(step), &is_cancelled);
    let begin = |life: &LifetimeRow| life.ranges.first().map_or(0, |range| range.start);
    let has_allocations = allocations.is_some();
    if let Some(all) = allocations {
        for row in 0..all.len() {
            let begin = u32::try_from(all.step(row).unwrap_or(0)).unwrap_or(u32::MAX);
            let code = all.code(all.stack(row), AreasBy::Line).into_owned();
            add((code, begin), all.get(row).and_then(|one| one.category));
        }
    } else {
        let at = StepBytes { scope, step, always_live_bytes: 0, not_always_live_bytes: 0 };
        let alive = derived.answers().alive(derived, &at).unwrap_or_default();
        for one in alive.not_always_live {
            add((one.name, 0), one.category.map(|key| category_title(&key)));
        }
    }
    for life in lives {
        let key = (life.name.clone(), if has_allocations { begin(life) } else { 0 });
        life.category = known.get(&key).cloned().flatten();
    }
}

impl Rows for LifetimeRows {
    fn len(&self) -> usize {
        self.lives.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some(life) = self.lives.get(row) else { return CellValue::Nothing };
        let steps = |range: &Range<u32>| u64::from(range.end.saturating_sub(range.start));
        match (column, life.address) {
            (0, _) => CellValue::text(&*life.name),
            (1, _) => CellValue::Bytes(life.bytes),
            (2, Some(address)) => CellValue::Count(address),
            (2, None) | (3, Some(_)) if life.is_always_live => CellValue::Count(self.steps),
            (2, None) | (3, Some(_)) => CellValue::Count(life.ranges.iter().map(steps).sum()),
            _ if life.is_always_live => CellValue::text(self.report.system.always_live_in_text),
            _ => CellValue::text(ranges_text(&self.report, &life.ranges)),
        }
    }
}
