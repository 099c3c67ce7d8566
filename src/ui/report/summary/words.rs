//! What the Summary says in other words of one run, of two, and of several.

use crate::analysis::comparison::facts::{Fit, Said};
use crate::analysis::comparison::run_verdict::RunVerdict;
use crate::run::Outcome as ProgramFit;
use crate::store::System;
use crate::text::{capitalised, grouped};
use crate::ui::runs::Runs;
use crate::ui::units::Units;

/// Whether a run fits, or how it ended, in a sentence.
pub fn whole_verdict_text(verdict: RunVerdict, units: Units) -> String {
    let fit = match verdict {
        RunVerdict::Tiles(fit) => fit,
        RunVerdict::Ended(outcome) => return outcome.title().to_owned(),
        RunVerdict::Program(outcome, free) => {
            let bytes =
                |bytes: i128| units.exact(u64::try_from(bytes.unsigned_abs()).unwrap_or(u64::MAX));
            return match (outcome, free) {
                (ProgramFit::Fits, Some(free)) => format!("Fits: {} are free", bytes(free)),
                (ProgramFit::DoesNotFit, Some(free @ ..0)) => {
                    format!("Does not fit: {} too many", bytes(free))
                }
                _ => outcome.title().to_owned(),
            };
        }
    };
    if fit.fits {
        return "Fits: no tile is over its limit".to_owned();
    }
    let over = fit.tiles_over.map_or_else(|| "some".to_owned(), grouped);
    let most =
        fit.most_over.map_or(String::new(), |most| format!(", by {} at most", units.exact(most)));
    format!("Does not fit: {over} of {} tiles over the limit{most}", grouped(fit.tiles))
}

/// The same, where several runs share a line.
pub fn short_verdict_text(verdict: RunVerdict, system: &System, units: Units) -> String {
    let text = capitalised(&verdict.text(Some(system)));
    match verdict {
        RunVerdict::Tiles(Fit { fits: false, most_over: Some(most), .. }) => {
            format!("{text}, by up to {}", units.bytes(most))
        }
        _ => text,
    }
}

/// All that a fact says.
pub fn said_text(said: &Said, units: Units) -> String {
    match said {
        Said::Bytes(before, bytes, after) => format!("{before}{}{after}", units.exact(*bytes)),
        Said::Count(count, after) => format!("{}{after}", grouped(*count)),
        Said::Words(words) => words.clone(),
        Said::Unknown => "–".to_owned(),
    }
}

/// The values of a row in words: whether they are the same, and which runs have one.
pub fn state_text<T: PartialEq>(values: &[Option<T>], runs: &Runs) -> String {
    let mut having = values.iter().zip(runs.iter()).filter(|(value, _)| value.is_some());
    match (having.next(), having.next()) {
        (Some((_, run)), None) if values.len() > 1 => format!("only in {}", run.title_in_text()),
        _ if values.windows(2).all(|pair| pair.first() == pair.last()) => SAME.to_owned(),
        _ => DIFFERS.to_owned(),
    }
}

/// Of values that are all the same.
pub const SAME: &str = "the same";
/// Of values that are not.
pub const DIFFERS: &str = "≠ differs";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tile_is_one() {
        let text = |tiles_over: Option<u64>| {
            let fits = tiles_over == Some(0);
            let fit = Fit { fits, tiles: 4, tiles_over, most_over: tiles_over.map(|_| 2048) };
            short_verdict_text(RunVerdict::Tiles(fit), &System::POPLAR, Units::Binary)
        };
        assert_eq!(text(Some(1)), "1 tile over, by up to 2.00 KiB");
        assert_eq!(text(Some(1472)), "1,472 tiles over, by up to 2.00 KiB");
        assert_eq!(text(Some(0)), "Fits");
        assert_eq!(text(None), "Does not fit");
    }
}
