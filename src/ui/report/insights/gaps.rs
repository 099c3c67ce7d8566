//! What gaps take on the tiles that are over, by their reasons, where the curve is not what fails.

use eframe::egui::{self, Label};

use crate::analysis::insights::Insights;
use crate::analysis::insights::verdict::{Cause, Failure};
use crate::text::{counted, grouped};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::card::card_ui;
use crate::ui::widget::measured::{Columns, Measured};

pub fn gaps_ui(ui: &mut egui::Ui, found: &Insights) {
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
    card_ui(ui, title, |ui| {
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
    });
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
