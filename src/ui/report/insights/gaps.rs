//! What gaps take on the tiles that are over, by their reasons, where the curve is not what fails.

use eframe::egui::{self, Label};

use super::ChosenPart;
use crate::analysis::placement::overflow::LostToGaps;
use crate::systems::poplar::insights::Insights;
use crate::systems::poplar::insights::verdict::{Cause, Failure};
use crate::text::{counted, grouped};
use crate::ui::command::Sheet;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::card::listed_card_ui;
use crate::ui::widget::measured::{Columns, Measured};
use crate::ui::widget::rows::{Column, Value};

pub fn gaps_ui(ui: &mut egui::Ui, page: &mut ChosenPart<'_>, found: &Insights) {
    let Some(failure) = found.verdict.as_ref().and_then(|verdict| verdict.failure.as_ref()) else {
        return;
    };
    let Some(gaps) = failure.gaps.as_ref().filter(|gaps| !gaps.is_empty()) else { return };
    let title = match failure.cause {
        Some(Cause::Curve) => "What gaps take",
        _ => "Why the curve fits and the tiles do not",
    };
    let units = Units::now(ui);
    let tokens = *Tokens::now(ui);
    let (mut exports, sheet) = (Vec::new(), || sheet(gaps));
    listed_card_ui(
        ui,
        title,
        (&mut exports, sheet),
        |_| {},
        |ui| {
            let caption = fonts::caption(sentence(failure, units)).color(tokens.weak_text);
            ui.add(Label::new(caption).wrap());
            let whole = gaps.iter().fold(0_u64, |sum, lost| sum.saturating_add(lost.bytes));
            for lost in gaps {
                let name = lost.reason.title();
                let hover = format!(
                    "{} on {}; {} would fit without these alone",
                    counted(lost.count, "gap"),
                    counted(lost.tiles, "tile"),
                    grouped(lost.would_fit)
                );
                let row = Measured {
                    name,
                    hover: &hover,
                    color: tokens.gap,
                    size: Some((lost.bytes, whole)),
                    value: &units.bytes(lost.bytes),
                    percent: Some(lost.bytes as f64 * 100.0 / whole.max(1) as f64),
                    ..Measured::default()
                };
                row.ui(ui, Columns { has_percent: true, ..Columns::default() });
            }
            if let Some(bytes @ 1..) = failure.not_explained_bytes {
                let text = format!("{} more is not explained by liveness", units.bytes(bytes));
                ui.label(fonts::caption(text).color(tokens.weak_text));
            }
        },
    );
    page.commands.append(&mut exports);
}

fn sheet(gaps: &[LostToGaps]) -> Sheet {
    let columns = vec![
        Column::rest("Reason"),
        Column::bytes("Size", 0.0),
        Column::count("Gaps", 0.0),
        Column::count("Tiles", 0.0),
        Column::count("Tiles that would fit without", 0.0),
    ];
    let row = |lost: &LostToGaps| {
        let counts = [lost.count, lost.tiles, lost.would_fit].map(Value::Count);
        let mut row = vec![Value::text(lost.reason.title()), Value::Bytes(lost.bytes)];
        row.extend(counts);
        row
    };
    Sheet::of(columns, gaps.iter().map(row).collect())
}

fn sentence(failure: &Failure, units: Units) -> String {
    let of = match failure.gaps_of_tiles {
        count if count < failure.tiles_over => {
            format!("; the reasons are those of the {} most over", counted(count, "tile"))
        }
        _ => String::new(),
    };
    let fit = match failure.would_fit_without_gaps {
        0 => "none would fit even without them".to_owned(),
        tiles => format!("without them {} would fit", grouped(tiles)),
    };
    let tiles = counted(failure.tiles_over, "tile");
    format!("{} of gaps on the {tiles}; {fit}{of}", units.bytes(failure.gap_bytes))
}
