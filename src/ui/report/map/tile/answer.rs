//! The answer of the map of one tile: by how much it is over and when, or what is free at its highest.

use std::sync::Arc;

use super::super::summary::together;
use super::data::RunData;
use crate::ui::report::figures::variables::ranges_text;
use crate::ui::report::head::Answer;
use crate::ui::runs::{Run, Runs};
use crate::ui::units::Units;
use crate::ui::widget::sign::Sign;

pub fn answer(runs: &Runs, found: &[Option<Arc<RunData>>], units: Units) -> Option<Answer> {
    let of_run = |(run, data): (&Run, &Option<Arc<RunData>>)| {
        let data = data.as_ref()?;
        let map = &data.tile.map;
        let limit = map.limit?;
        let (sign, mut text) = match map.end.checked_sub(limit).filter(|over| *over > 0) {
            Some(over) => (Sign::Over, format!("{} over", units.bytes(over))),
            None => (Sign::Fits, format!("{} free at its highest", units.bytes(limit - map.end))),
        };
        if !runs.is_one() {
            let text = text.replace(" at its highest", "");
            return Some((sign, format!("{}: {text}", run.badge.letter)));
        }
        if sign == Sign::Over && data.has_steps {
            let is_always =
                matches!(&data.over_steps[..], [all] if *all == (0..data.rectangles.steps));
            let when = ranges_text(&data.tile.report, &data.over_steps);
            text =
                if is_always { format!("{text}, at all steps") } else { format!("{text}, {when}") };
        }
        Some((sign, text))
    };
    together(runs.iter().zip(found).filter_map(of_run))
}
