//! Whether a run fits, in words.

use crate::analysis::comparison::facts::Fit;
use crate::store::System;
use crate::text::grouped;

/// Whether a run fits, in words; with what is counted where its system is given: `221 tiles over`.
pub fn fit_text(fit: Fit, system: Option<&System>) -> String {
    match fit.tiles_over {
        _ if fit.fits => "fits".to_owned(),
        Some(over) => match system {
            Some(system) if over == 1 => format!("1 {} over", system.arena_in_text),
            Some(system) => format!("{} {} over", grouped(over), system.arenas),
            None => format!("{} over", grouped(over)),
        },
        None => "does not fit".to_owned(),
    }
}
