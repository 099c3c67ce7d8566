//! The answer of the map of one tile: by how much it is over and when, or what is free at its highest; of one without
//! a limit how the run failed.

use std::sync::Arc;

use super::super::summary::together;
use super::data::RunData;
use crate::text::capitalised;
use crate::ui::report::figures::variables::ranges_text;
use crate::ui::report::head::SignedAnswer;
use crate::ui::report::room::{failed, of_part};
use crate::ui::runs::{Run, Runs};
use crate::ui::units::Units;
use crate::ui::widget::sign::Sign;

pub fn answer(runs: &Runs, found: &[Option<Arc<RunData>>], units: Units) -> Option<SignedAnswer> {
    let of_run = |(run, data): (&Run, &Option<Arc<RunData>>)| {
        let data = data.as_ref()?;
        let map = &data.tile.map;
        let Some(limit) = map.limit else {
            // Without a limit of its own it is what is known of the run.
            let text = failed(run, units)?;
            let text = if runs.is_one() {
                capitalised(&text)
            } else {
                format!("{}: {text}", run.badge.letter)
            };
            return Some((Sign::Over, text));
        };
        let (sign, mut text) = data.tile.room(limit, units);
        if !runs.is_one() {
            let (sign, text) = of_part(run, (sign, text), units);
            return Some((sign, format!("{}: {text}", run.badge.letter)));
        }
        if map.is_filled_from_both_ends {
            return Some(of_part(run, (sign, text), units));
        }
        if sign == Sign::Fits {
            text.push_str(" at its highest");
        } else if data.has_steps && !data.tile.is_device_limited {
            let is_always =
                matches!(&data.over_steps[..], [all] if *all == (0..data.rectangles.steps));
            let when = ranges_text(&data.tile.report, &data.over_steps);
            let steps = runs.system().steps;
            text = if is_always {
                format!("{text}, at all {steps}")
            } else {
                format!("{text}, {when}")
            };
        }
        Some(of_part(run, (sign, text), units))
    };
    together(runs.iter().zip(found).filter_map(of_run))
}
