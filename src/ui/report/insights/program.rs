//! Insights of a program of XLA: whether it fits, what to try, who owns the peak of what is temporary, and what is lost,
//! each with the way to the step that it is about.

use eframe::egui::{self, Label, ScrollArea};
use std::sync::Arc;

use super::advice::{TEXT, Unfolded, advice_ui};
use super::{ADVICE, TWO_COLUMNS};
use crate::systems::xla::buffer_assignment::insights::{
    PeakOfSpace, ProgramInsights, SpaceInsights,
};
use crate::systems::xla::buffer_assignment::peaks::Owner;
use crate::text::{clean, counted, grouped, shortened};
use crate::ui::command::Sheet;
use crate::ui::job::{Latest, Same};
use crate::ui::report::program_verdict::verdict_ui;
use crate::ui::report::run_part::RunPart;
use crate::ui::report::two_columns::{Column as Side, two_columns_ui};
use crate::ui::report::verdict_banner::Proof;
use crate::ui::runs::Run;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::card::{card_ui, listed_card_ui};
use crate::ui::widget::choice::segments_ui;
use crate::ui::widget::exports::scrolled_of_exports;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::measured::{Columns, Measured};
use crate::ui::widget::rows::{Column, Value};

/// Rows that are shown.
const MOST_ROWS: usize = 12;

/// What the bytes of the peak are put together by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum OwnerBy {
    #[default]
    Operation,
    Source,
    Category,
}

impl OwnerBy {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Operation, "Operation"), (Self::Source, "Line"), (Self::Category, "Category")];

    fn owners(self, peak: &PeakOfSpace) -> &[Owner] {
        match self {
            Self::Operation => &peak.by_operation,
            Self::Source => &peak.by_source,
            Self::Category => &peak.by_category,
        }
    }
}

/// What is chosen on the page of a program.
#[derive(Default)]
pub struct ProgramChoices {
    by: OwnerBy,
    /// The memory space, a place among them.
    space: usize,
    advice: Unfolded,
}

/// What is worked out of a program.
#[derive(Default)]
pub struct InsightsOfProgram(Latest<Same<crate::store::Report>, Option<Arc<ProgramInsights>>>);

impl InsightsOfProgram {
    fn ask(&mut self, ctx: &egui::Context, run: &Run) -> Option<Arc<ProgramInsights>> {
        let derived = Arc::clone(&run.derived);
        let key = Same(Arc::clone(&run.report));
        self.0.ask("insights", ctx, &key, move |_| derived.program_insights());
        self.0.get(&key)?.clone()
    }

    pub fn ui(&mut self, ui: &mut egui::Ui, mut part: RunPart<'_>, choices: &mut ProgramChoices) {
        let Some(found) = self.ask(ui.ctx(), part.run) else {
            let why = self.0.failure();
            absent_ui(ui, why.unwrap_or("Working out what the program says"), "");
            return;
        };
        let area = ScrollArea::vertical().id_salt("insights").auto_shrink(false);
        let area = area.show(ui, |ui| {
            if let Some(verdict) = &found.found.verdict {
                verdict_ui(ui, verdict, Proof::Used);
            }
            if ui.available_width() < TWO_COLUMNS {
                advice_column_ui(ui, &mut part, choices, &found);
                figures_ui(ui, &mut part, choices, &found);
                return;
            }
            two_columns_ui(ui, ADVICE, |ui, side| match side {
                Side::Left => advice_column_ui(ui, &mut part, choices, &found),
                Side::Right => figures_ui(ui, &mut part, choices, &found),
            });
        });
        scrolled_of_exports(ui, &area);
    }
}

/// What to try, and what follows in words.
fn advice_column_ui(
    ui: &mut egui::Ui,
    part: &mut RunPart<'_>,
    choices: &mut ProgramChoices,
    found: &ProgramInsights,
) {
    let advised = (&*found.found.advice, &*found.found.not_advised);
    advice_ui(ui, part, &mut choices.advice, advised);
    let said = found.found.verdict.as_ref().map(|verdict| &verdict.text);
    let conclusions = found.found.conclusions.iter();
    let mut others = conclusions.filter(|one| Some(&one.text) != said).peekable();
    if others.peek().is_some() {
        card_ui(ui, "In words", |ui| {
            for conclusion in others {
                ui.add(Label::new(shortened(&conclusion.text, TEXT)).wrap());
            }
        });
    }
}

/// The peak of a memory space, by what is chosen, and what is lost.
fn figures_ui(
    ui: &mut egui::Ui,
    part: &mut RunPart<'_>,
    choices: &mut ProgramChoices,
    found: &ProgramInsights,
) {
    let with_peak: Vec<&SpaceInsights> =
        found.large_spaces().filter(|space| space.peak.is_some()).collect();
    if with_peak.len() > 1 {
        let titles = with_peak.iter().map(|space| space.title.as_str()).enumerate();
        segments_ui(ui, "Memory space", &mut choices.space, titles);
        ui.add_space(6.0);
    }
    let space = with_peak.get(choices.space).or(with_peak.first());
    let Some((space, peak)) = space.and_then(|space| Some((space, space.peak.as_ref()?))) else {
        return;
    };
    owners_ui(ui, part, choices, (space, peak));
    lost_ui(ui, peak);
}

fn owners_ui(
    ui: &mut egui::Ui,
    part: &mut RunPart<'_>,
    choices: &mut ProgramChoices,
    (space, peak): (&SpaceInsights, &PeakOfSpace),
) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let whole = peak.at.bytes;
    let mut by = choices.by;
    let rows: Vec<&Owner> = by.owners(peak).iter().filter(|owner| owner.bytes > 0).collect();
    let sheet = || {
        let columns = vec![
            Column::rest("Name"),
            Column::bytes("Bytes", 100.0),
            Column::count("Values", 80.0),
        ];
        let row = |owner: &&Owner| {
            let name = Value::text(owner.name.clone());
            vec![name, Value::Bytes(owner.bytes), Value::Count(owner.values as u64)]
        };
        Sheet::of(columns, rows.iter().map(row).collect())
    };
    let mut exports = Vec::new();
    let mut wants_step = false;
    let title = format!("What the temporary peak of {} consists of", space.in_text);
    listed_card_ui(
        ui,
        &title,
        (&mut exports, sheet),
        |_| {},
        |ui| {
            ui.horizontal_wrapped(|ui| {
                let of = format!("{} in use", units.bytes(whole));
                ui.label(fonts::caption(of).color(tokens.weak_text));
                let step = format!("Step {}", grouped(u64::from(peak.at.position)));
                let hover = format!("{}; a click selects it in Liveness", clean(&peak.instruction));
                // Liveness has the curve of the main memory.
                wants_step = ui.link(fonts::caption(step)).on_hover_text(hover).clicked();
            });
            segments_ui(ui, "What bytes are put together by", &mut by, OwnerBy::ALL);
            let columns = Columns { has_percent: true, ..Columns::default() };
            for owner in rows.iter().take(MOST_ROWS) {
                let name = clean(&owner.name);
                let values = counted(owner.values as u64, "value");
                let row = Measured {
                    name: &shortened(&owner.name, columns.name_characters(ui)),
                    hover: &format!("{name}\n{values}"),
                    color: tokens.temporary,
                    size: Some((owner.bytes, whole)),
                    value: &units.bytes(owner.bytes),
                    percent: Some(owner.bytes as f64 * 100.0 / whole.max(1) as f64),
                    ..Measured::default()
                };
                row.ui(ui, columns);
            }
            if let Some(more @ 1..) = rows.len().checked_sub(MOST_ROWS) {
                let left: u64 = rows.iter().skip(MOST_ROWS).map(|owner| owner.bytes).sum();
                ui.weak(format!("{} more with {}", grouped(more as u64), units.bytes(left)));
            }
        },
    );
    part.commands.append(&mut exports);
    choices.by = by;
    if wants_step {
        part.show_step(peak.at.position as usize);
    }
}

/// What temporary allocations have that is never in use at once, and what tiles that are not full take.
fn lost_ui(ui: &mut egui::Ui, peak: &PeakOfSpace) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    card_ui(ui, "What is lost", |ui| {
        for (name, bytes, whole, hover) in [
            (
                "Packing and alignment",
                peak.lost_bytes(),
                peak.at.allocated_bytes,
                "Temporary allocations less what is in use of them at their peak",
            ),
            (
                "Padding of tiled shapes",
                peak.padding_bytes,
                peak.at.bytes,
                "Of what lives at the peak, less the bytes of its elements",
            ),
        ] {
            let row = Measured {
                name,
                hover,
                color: tokens.always_live,
                size: Some((bytes, whole)),
                value: &units.bytes(bytes),
                percent: Some(bytes as f64 * 100.0 / whole.max(1) as f64),
                ..Measured::default()
            };
            row.ui(ui, Columns { has_percent: true, ..Columns::default() });
        }
    });
}
