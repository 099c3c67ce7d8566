//! The verdict in the words that every system shares.

use super::sentences::{over_text, verdict_figures, verdict_sentences};
use super::verdict::{IpuVerdict, OverCause, TilesVerdict};
use crate::run::{DeviceVerdict, Evidence, Outcome, Verdict};
use crate::text::{bytes, counted};

/// Who says how much memory a tile has.
const CAPACITY_FROM: &str = "the report";

impl TilesVerdict {
    /// The verdict for pages and commands of any system. Memory is that of one tile, for a tile cannot use what
    /// another has left: used is the fullest tile with its gaps.
    pub(crate) fn of_run(&self) -> Verdict {
        let mut details = verdict_sentences(self, &bytes);
        let (short, text) = match &self.failure {
            Some(failure) => (
                format!("{} over", counted(failure.tiles_over, "tile")),
                over_text(self, failure, ", on"),
            ),
            None if details.is_empty() => ("fits".to_owned(), "No tile is over".to_owned()),
            None => ("fits".to_owned(), details.remove(0)),
        };
        let used_bytes = self.ipus.iter().filter_map(IpuVerdict::fullest_tile_bytes).max();
        Verdict {
            outcome: outcome(self.fits),
            cause: self.failure.as_ref().and_then(|failure| Some(failure.cause?.word())),
            short,
            text,
            details,
            figures: verdict_figures(self),
            used_bytes,
            at_least: None,
            used_of: Some("the fullest tile"),
            capacity_bytes: Some(self.limit_bytes),
            capacity_from: Some(CAPACITY_FROM.to_owned()),
            over_bytes: used_bytes.map(|used| used.saturating_sub(self.limit_bytes)),
            used_of_all: Some((self.used_bytes, self.capacity_bytes)),
            failed: self.failure.as_ref().map(|failure| {
                let tiles = match failure.tiles_over {
                    1 => format!("tile {}", failure.worst_tile),
                    tiles => format!("the {}", counted(tiles, "tile")),
                };
                Evidence::new(tiles).at(|place| place.arena = Some(failure.tiles.clone()))
            }),
            devices: self.ipus.iter().map(IpuVerdict::of_device).collect(),
        }
    }
}

impl IpuVerdict {
    /// Bytes of its fullest tile, gaps included.
    fn fullest_tile_bytes(&self) -> Option<u64> {
        self.fullest_tile?.including_gaps_bytes
    }

    fn of_device(&self) -> DeviceVerdict {
        let (used_bytes, capacity_bytes) = (self.fullest_tile_bytes(), self.bytes_per_tile());
        let over = |(used, limit): (u64, u64)| used.saturating_sub(limit);
        DeviceVerdict {
            device: self.ipu.into(),
            name: format!("IPU {}", self.ipu),
            outcome: outcome(self.fits),
            cause: self.cause.map(OverCause::word),
            used_bytes,
            capacity_bytes,
            over_bytes: used_bytes.zip(capacity_bytes).map(over),
            peak_bytes: self.peak_bytes,
            peak_step: self.peak_step.map(i64::from),
        }
    }
}

fn outcome(fits: bool) -> Outcome {
    if fits { Outcome::Fits } else { Outcome::DoesNotFit }
}

/// The verdict of a report that does not say what its tiles use, or what they have.
pub(crate) fn unknown() -> Verdict {
    Verdict {
        cause: Some("not-recorded"),
        short: "not known".to_owned(),
        text: "The report does not say how much memory its tiles use, or how much they have"
            .to_owned(),
        ..Verdict::default()
    }
}
