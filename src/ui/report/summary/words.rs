//! Texts of the Summary that differ for one run, two, and several.

use crate::analysis::comparison::facts::Said;
use crate::text::grouped;
use crate::ui::runs::Runs;
use crate::ui::units::Units;

/// All that a fact says, with all digits.
pub fn said_text(said: &Said, units: Units) -> String {
    sized_text(said, &|bytes| units.exact(bytes))
}

/// All that a fact says; `size` writes bytes.
pub fn sized_text(said: &Said, size: &dyn Fn(u64) -> String) -> String {
    match said {
        Said::Bytes(before, bytes, after) => format!("{before}{}{after}", size(*bytes)),
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

pub const SAME: &str = "the same";
pub const DIFFERS: &str = "≠ differs";
