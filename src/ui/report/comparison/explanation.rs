//! The parts of a change: ranked contributions that add up to it.

use eframe::egui::{self, Align2, FontId, Pos2, Rect, Stroke};
use std::sync::Arc;

use super::pair_of_runs::PairOfRuns;
use crate::analysis::comparison::contribution::{BytesOfTwo, Contributor, Grouping, LifePart};
use crate::analysis::comparison::explanation::GroupedBy;
use crate::analysis::figures::difference::{Difference, Side};
use crate::analysis::matched_reports::MatchedReports;
use crate::text::grouped;
use crate::ui::report::PageContext;
use crate::ui::report::grouped_by::grouped_by_ui;
use crate::ui::report::runs_compared::RunsCompared;
use crate::ui::runs::{Needed, Run, Runs};
use crate::ui::theme::Tokens;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::measured::share_text;
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// Width of a column of bytes, points.
const BYTES: f32 = 112.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ExplainedWhat {
    /// Where the peak has moved what changed at the step of the source's, else the peak.
    #[default]
    First,
    /// What changed at the step of the target's peak.
    TargetPeak,
    Peak,
    NotAlwaysLive,
    AlwaysLive,
    FullestTile,
}

impl ExplainedWhat {
    /// The subject itself, or what stands in for one that these reports do not have.
    fn of(self, found: &MatchedReports) -> Self {
        match self {
            Self::First if found.moved(Side::Source).is_none() => Self::TargetPeak.of(found),
            Self::TargetPeak if found.moved(Side::Target).is_none() => Self::Peak,
            subject => subject,
        }
    }
}

#[derive(Default)]
pub struct ExplanationTab {
    subject: ExplainedWhat,
    by: GroupedBy,
    table: DataTable,
    made: Option<MadeRows>,
}

struct MadeRows {
    found: Arc<RunsCompared>,
    choice: (ExplainedWhat, GroupedBy),
    rows: Arc<ContributionRows>,
}

impl ExplanationTab {
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        pair: &PairOfRuns<'_>,
        found: &Arc<RunsCompared>,
        matched: &MatchedReports,
    ) {
        let mut subject = self.subject.of(matched);
        self.choices_ui(ui, page.runs, matched, &mut subject);
        // What stands in for the chosen one is not chosen: it may come back with other runs.
        if subject != self.subject.of(matched) {
            self.subject = subject;
        }
        let choice = (subject, self.by);
        let is_fresh = self
            .made
            .as_ref()
            .is_some_and(|made| made.choice == choice && Arc::ptr_eq(&made.found, found));
        if !is_fresh {
            let the = pair.runs.map(Run::the);
            let rows = ContributionRows::new(found, matched, choice, the).map(Arc::new);
            self.made = rows.map(|rows| MadeRows { found: Arc::clone(found), choice, rows });
        }
        let Some(made) = &self.made else {
            let reason = "The tables that say what bytes belong to are absent or not read yet";
            absent_ui(ui, "One of the reports does not have this", reason);
            return;
        };
        let rows = &made.rows;
        let [source, target] = pair.titles();
        let columns = [
            TableColumn::rest("Contribution"),
            TableColumn::bytes(source, BYTES),
            TableColumn::bytes(target, BYTES),
            TableColumn::bytes("Difference", BYTES),
            TableColumn::painted("Share of all changes"),
        ];
        let selection = &mut *page.selection;
        let is_selected = |row: usize| match rows.contributor(row) {
            Some(Contributor::Operation(name)) => selection
                .operation()
                .is_some_and(|selected| selected.kind == name.kind && selected.name == name.name),
            Some(Contributor::Variable(name)) => selection.variable() == Some(name),
            _ => false,
        };
        let tokens = *Tokens::now(ui);
        let data = Data {
            note: rows.note,
            is_selected: &is_selected,
            paint: &|painter, rect, row| rows.paint(painter, rect, row, &tokens),
            ..Data::of("explanation", &columns, rows.clone())
        };
        let click = self.table.ui(ui, &data, page.commands);
        let clicked = click.and_then(|click| rows.contributor(click.row));
        match clicked {
            Some(Contributor::Operation(name)) => selection.toggle_operation(name.clone()),
            Some(Contributor::Variable(name)) => selection.toggle_variable(name.clone(), false),
            _ => {}
        }
    }

    fn choices_ui(
        &mut self,
        ui: &mut egui::Ui,
        runs: &Runs,
        found: &MatchedReports,
        chosen: &mut ExplainedWhat,
    ) {
        let are_foreign = runs.are_foreign_to(&[Needed::Memory]);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            ui.weak("Change of");
            let has_moved = found.moved_peak.is_some();
            for (subject, title) in [
                (ExplainedWhat::First, "where the source peaked"),
                (ExplainedWhat::TargetPeak, "where the target peaks"),
                (ExplainedWhat::Peak, if has_moved { "the two peaks" } else { "the peak" }),
                (
                    ExplainedWhat::NotAlwaysLive,
                    if has_moved {
                        "their not-always-live part"
                    } else {
                        "its not-always-live part"
                    },
                ),
                (ExplainedWhat::AlwaysLive, "always live"),
                (ExplainedWhat::FullestTile, "the fullest tile"),
            ] {
                let is_there = subject.of(found) == subject;
                if !is_there || subject == ExplainedWhat::FullestTile && are_foreign {
                    continue;
                }
                ui.selectable_value(chosen, subject, title);
            }
            ui.separator();
            grouped_by_ui(ui, &mut self.by);
        });
    }
}

/// The contributions to a change, largest first.
struct ContributionRows {
    rows: Vec<(Option<Contributor>, String, Option<Side>, Difference)>,
    /// All changes together, whichever way they go.
    gross: u64,
    largest: u64,
    note: &'static str,
    /// The runs as subjects of a sentence.
    the: [String; 2],
}

impl ContributionRows {
    /// `None` where the reports lack what it needs.
    fn new(
        found: &RunsCompared,
        matched: &MatchedReports,
        (subject, by): (ExplainedWhat, GroupedBy),
        the: [String; 2],
    ) -> Option<Self> {
        let part = match subject {
            ExplainedWhat::Peak | ExplainedWhat::FullestTile => LifePart::All,
            ExplainedWhat::First | ExplainedWhat::TargetPeak | ExplainedWhat::NotAlwaysLive => {
                LifePart::NotAlwaysLive
            }
            ExplainedWhat::AlwaysLive => LifePart::AlwaysLive,
        };
        let grouping = match subject {
            ExplainedWhat::FullestTile => {
                let fullest = found.fullest.as_ref()?;
                let grouping = by.of(fullest.by_category.as_ref(), fullest.by_owner.as_ref());
                grouping?
            }
            _ => {
                let peak = match subject {
                    ExplainedWhat::First => matched.moved(Side::Source)?,
                    ExplainedWhat::TargetPeak => matched.moved(Side::Target)?,
                    _ => matched.peak.as_ref()?,
                };
                peak.grouping(by)?
            }
        };
        let ranked = grouping.ranked(part);
        let mut rows: Vec<_> = ranked
            .iter()
            .map(|(row, bytes)| {
                (Some(row.contributor.clone()), row.contributor.title(), row.only, *bytes)
            })
            .collect();
        let largest = ranked.iter().filter_map(|(_, bytes)| bytes.magnitude()).max().unwrap_or(0);
        rows.extend(unchanged(grouping, part, ranked.len()));
        let note = match subject {
            ExplainedWhat::First => {
                "not always live at the step of the source's peak and the matched one"
            }
            ExplainedWhat::TargetPeak => {
                "not always live at the step of the target's peak and the matched one"
            }
            ExplainedWhat::Peak if matched.moved_peak.is_some() => {
                "each report at its own peak: different steps"
            }
            ExplainedWhat::Peak => "each report at its own peak",
            ExplainedWhat::NotAlwaysLive => {
                "each report at its own peak, without what always lives"
            }
            ExplainedWhat::AlwaysLive => "the same at every step",
            ExplainedWhat::FullestTile => "each report on its own fullest tile, with gaps",
        };
        let sizes = ranked.iter().filter_map(|(_, bytes)| bytes.magnitude());
        let gross = sizes.fold(0, u64::saturating_add);
        Some(Self { rows, gross, largest, note, the })
    }

    fn contributor(&self, row: usize) -> Option<&Contributor> {
        self.rows.get(row)?.0.as_ref()
    }

    /// A bar from the middle, to the right for growth, and the part in percent.
    fn paint(&self, painter: &egui::Painter, rect: Rect, row: usize, tokens: &Tokens) {
        let Some(change) = self.rows.get(row).and_then(|(.., bytes)| bytes.change()) else {
            return;
        };
        let text_width = 62.0;
        let bars = Rect::from_min_max(rect.min, Pos2::new(rect.right() - text_width, rect.max.y));
        let middle = bars.center().x.round();
        let length = change.unsigned_abs() as f32 / self.largest.max(1) as f32;
        let length = (length * (bars.width() / 2.0 - 2.0)).max(1.0);
        let y = rect.center().y - 5.0..=rect.center().y + 5.0;
        painter.vline(middle, rect.y_range(), Stroke::new(1.0, tokens.border));
        let (x, color) = match change {
            0 => return,
            1.. => (middle..=middle + length, tokens.more),
            _ => (middle - length..=middle, tokens.less),
        };
        painter.rect_filled(Rect::from_x_y_ranges(x, y), 1, color);
        if let Some(percent) = self.percent(change) {
            let at = Pos2::new(rect.right() - 2.0, rect.center().y);
            let font = FontId::proportional(12.5);
            let text = share_text(percent.abs());
            painter.text(at, Align2::RIGHT_CENTER, text, font, tokens.weak_text);
        }
    }

    /// Which part of all changes together it is; below 0 of what became less.
    fn percent(&self, change: i64) -> Option<f64> {
        (self.gross != 0).then(|| change as f64 * 100.0 / self.gross as f64)
    }
}

impl Rows for ContributionRows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some((_, title, only, bytes)) = self.rows.get(row) else { return CellValue::Nothing };
        let is_lacking = |side: Side| only.is_some_and(|only| only != side);
        match column {
            0 => CellValue::text(&**title),
            1 if is_lacking(Side::Source) => CellValue::Nothing,
            2 if is_lacking(Side::Target) => CellValue::Nothing,
            1 => signed_bytes(bytes.source),
            2 => signed_bytes(bytes.target),
            3 => bytes.change().map_or(CellValue::Nothing, CellValue::Change),
            _ => bytes
                .change()
                .and_then(|change| self.percent(change))
                .map_or(CellValue::Nothing, CellValue::Percent),
        }
    }

    fn hover(&self, row: usize) -> Option<String> {
        let (contributor, _, only, _) = self.rows.get(row)?;
        if let Some(only) = only {
            return Some(format!("Only in {}", only.of(self.the.each_ref())));
        }
        let text = match contributor.as_ref()? {
            Contributor::NotAttributable => {
                "Bytes without a known owner. Shared code counts for each of its users, so this \
                 can be below 0 to make everything add up"
            }
            Contributor::Overlapped => "Addresses that several variables use, each byte once",
            Contributor::NotExplained => "Bytes that are neither always live nor alive at the peak",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// Bytes, of which what is left over can be below 0.
fn signed_bytes(bytes: Option<i64>) -> CellValue<'static> {
    match bytes {
        Some(bytes @ 0..) => CellValue::Bytes(bytes.unsigned_abs()),
        Some(bytes) => CellValue::Change(bytes),
        None => CellValue::Nothing,
    }
}

/// What has not changed, in one row, so that the columns add up.
fn unchanged(
    grouping: &Grouping,
    part: LifePart,
    changed: usize,
) -> Option<(Option<Contributor>, String, Option<Side>, Difference)> {
    let mut sum = BytesOfTwo::default();
    let mut count = 0;
    for row in grouping.rows() {
        let bytes = row.bytes.of(part);
        if bytes.is_equal() && bytes.source != Some(0) {
            sum.add_all(&row.bytes);
            count += 1;
        }
    }
    let title = match (count, changed) {
        (0, _) => return None,
        (count, 0) => format!("Unchanged: all {}", grouped(count)),
        (count, _) => format!("Unchanged: {} more", grouped(count)),
    };
    Some((None, title, None, sum.of(part)))
}
