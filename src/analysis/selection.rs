//! Tiles named by a text such as `0-15,952`.

use std::ops::RangeInclusive;

use crate::store::TileId;

/// Tiles, as ranges in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileSelection(Vec<RangeInclusive<u32>>);

impl TileSelection {
    /// Whether a tile is selected.
    pub fn contains(&self, tile: TileId) -> bool {
        self.0.iter().any(|range| range.contains(&tile.0))
    }

    /// The first number in the selection that `is_tile` does not know. A range is known when both
    /// its ends are: the numbers between are not gone through.
    pub fn first_unknown(&self, is_tile: impl Fn(TileId) -> bool) -> Option<u32> {
        self.0
            .iter()
            .flat_map(|range| [*range.start(), *range.end()])
            .find(|tile| !is_tile(TileId(*tile)))
    }
}

impl std::str::FromStr for TileSelection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.trim()
                .parse::<u32>()
                .map_err(|_| format!("`{}` is not a tile number", text.trim()))
        };
        let range = |part: &str| match part.split_once('-') {
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first > last {
                    return Err(format!("`{}` runs backwards", part.trim()));
                }
                Ok(first..=last)
            }
            None => number(part).map(|tile| tile..=tile),
        };
        text.split(',').map(range).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_read_and_nonsense_is_named() {
        let selection: TileSelection = "0-15, 952".parse().unwrap();
        assert!(selection.contains(TileId(15)) && selection.contains(TileId(952)));
        assert!(!selection.contains(TileId(16)));
        assert_eq!(selection.first_unknown(|tile| tile.0 < 900), Some(952));
        let error = |text: &str| text.parse::<TileSelection>().unwrap_err();
        assert_eq!(error("3-1"), "`3-1` runs backwards");
        assert_eq!(error("a"), "`a` is not a tile number");
        assert_eq!(error(""), "`` is not a tile number");
        assert_eq!(error("1,,2"), "`` is not a tile number");
        assert_eq!(error("4294967296"), "`4294967296` is not a tile number");
    }
}
