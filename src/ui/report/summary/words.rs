//! What the Summary says in other words of one run, of two, and of several.

use crate::analysis::comparison::facts::{Fit, Said};
use crate::text::grouped;
use crate::ui::runs::Runs;
use crate::ui::units::Units;

pub fn fit_text(fit: &Fit, units: Units) -> String {
    if fit.fits {
        return "Fits: no tile is over its limit".to_owned();
    }
    let over = fit.tiles_over.map_or_else(|| "some".to_owned(), grouped);
    let most =
        fit.most_over.map_or(String::new(), |most| format!(", by {} at most", units.exact(most)));
    format!("Does not fit: {over} of {} tiles over the limit{most}", grouped(fit.tiles))
}

/// The same, where several runs share a line.
pub fn short_fit_text(fit: &Fit, units: Units) -> String {
    if fit.fits {
        return "Fits".to_owned();
    }
    let over = fit.tiles_over.map_or_else(|| "some".to_owned(), grouped);
    let most =
        fit.most_over.map_or(String::new(), |most| format!(", by up to {}", units.bytes(most)));
    format!("{over} tiles over{most}")
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
