//! Tiles named by a text such as `0-15,952`.

use std::fmt;
use std::ops::RangeInclusive;

use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::text::shortened;

/// Tiles, as ranges of tile numbers that ascend and neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileSelection(Vec<RangeInclusive<u32>>);

impl TileSelection {
    pub(crate) fn one(tile: TileId) -> Self {
        Self(vec![tile.0..=tile.0])
    }

    /// The tiles from one to another, in whichever order they are named.
    pub fn between(a: TileId, b: TileId) -> Self {
        Self(vec![a.0.min(b.0)..=a.0.max(b.0)])
    }

    /// The tiles of a scope; `None`, which is all tiles, selects none: what goes by selection takes all
    /// then.
    pub fn of_scope(tiles: Option<RangeInclusive<u32>>) -> Self {
        Self(tiles.into_iter().filter(|range| !range.is_empty()).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges, ascending.
    pub fn ranges(&self) -> &[RangeInclusive<u32>] {
        &self.0
    }

    /// Number of tile numbers in it.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|range| u64::from(range.end() - range.start()) + 1).sum()
    }

    pub(crate) fn first(&self) -> Option<TileId> {
        self.0.first().map(|range| TileId(*range.start()))
    }

    /// The tiles in it, ascending.
    pub fn iter(&self) -> impl Iterator<Item = TileId> {
        self.0.iter().cloned().flatten().map(TileId)
    }

    /// Whether a tile is selected.
    pub fn contains(&self, tile: TileId) -> bool {
        let after = self.0.partition_point(|range| *range.end() < tile.0);
        self.0.get(after).is_some_and(|range| range.contains(&tile.0))
    }

    /// Takes a tile in, or out where it is in.
    pub fn toggle(&mut self, tile: TileId) {
        if !self.contains(tile) {
            self.0.push(tile.0..=tile.0);
            self.tidy();
            return;
        }
        let parts = self.0.iter().flat_map(|range| {
            let (first, last) = (*range.start(), *range.end());
            let is_cut = range.contains(&tile.0);
            let left = match (is_cut, tile.0.checked_sub(1)) {
                (false, _) => Some(first..=last),
                (true, Some(before)) => Some(first..=before),
                (true, None) => None,
            };
            let right = tile.0.checked_add(1).filter(|_| is_cut).map(|after| after..=last);
            [left, right]
        });
        self.0 = parts.flatten().filter(|range| !range.is_empty()).collect();
    }

    /// The first number in the selection that `is_tile` does not know. A range is known when both
    /// its ends are: the numbers between are not gone through.
    pub fn first_unknown(&self, is_tile: impl Fn(TileId) -> bool) -> Option<u32> {
        self.0
            .iter()
            .flat_map(|range| [*range.start(), *range.end()])
            .find(|tile| !is_tile(TileId(*tile)))
    }

    fn tidy(&mut self) {
        self.0.sort_by_key(|range| *range.start());
        let mut tidy: Vec<RangeInclusive<u32>> = Vec::with_capacity(self.0.len());
        for range in self.0.drain(..) {
            match tidy.last_mut() {
                Some(last) if *range.start() <= last.end().saturating_add(1) => {
                    *last = *last.start()..=*last.end().max(range.end());
                }
                _ => tidy.push(range),
            }
        }
        self.0 = tidy;
    }
}

impl FromIterator<TileId> for TileSelection {
    fn from_iter<I: IntoIterator<Item = TileId>>(tiles: I) -> Self {
        let mut selection = Self(tiles.into_iter().map(|tile| tile.0..=tile.0).collect());
        selection.tidy();
        selection
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
        let mut selection = Self(text.split(',').map(range).collect::<Result<_, _>>()?);
        selection.tidy();
        Ok(selection)
    }
}

/// The tiles of a report that a text names.
///
/// # Errors
/// What is wrong with the text, for people.
pub fn tiles_of_text(text: &str, tiles: &IdColumn<TileId>) -> Result<TileSelection, String> {
    if text.trim().is_empty() {
        return Ok(TileSelection::default());
    }
    let selection: TileSelection =
        text.parse().map_err(|error: String| shortened(&error, 80).into_owned())?;
    match selection.first_unknown(|tile| tiles.position(tile).is_some()) {
        Some(tile) => {
            let range = match (tiles.as_slice().first(), tiles.as_slice().last()) {
                (Some(first), Some(last)) => format!(", whose tiles are from {first} to {last}"),
                _ => String::new(),
            };
            Err(format!("Tile {tile} is not in the report{range}"))
        }
        None => Ok(selection),
    }
}

/// The text that [`std::str::FromStr`] reads.
impl fmt::Display for TileSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match (range.start(), range.end()) {
                (first, last) if first == last => write!(f, "{comma}{first}")?,
                (first, last) => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn lists_and_ranges_are_read_and_nonsense_is_named() {
        let selection: TileSelection = "0-15, 952".parse().unwrap();
        assert!(selection.contains(TileId(15)) && selection.contains(TileId(952)));
        assert!(!selection.contains(TileId(16)));
        assert_eq!(selection.first_unknown(|tile| tile.0 < 900), Some(952));
        assert_eq!(selection.to_string(), "0-15,952");
        let error = |text: &str| text.parse::<TileSelection>().unwrap_err();
        assert_eq!(error("3-1"), "`3-1` runs backwards");
        assert_eq!(error("a"), "`a` is not a tile number");
        assert_eq!(error(""), "`` is not a tile number");
        assert_eq!(error("1,,2"), "`` is not a tile number");
        assert_eq!(error("4294967296"), "`4294967296` is not a tile number");
        let tiles = [9, 3, 4, 3].map(TileId);
        assert_eq!(tiles.into_iter().collect::<TileSelection>().to_string(), "3-4,9");
        let all: TileSelection = "0-4294967295".parse().unwrap();
        assert_eq!(all.count(), 1 << 32);
    }

    #[test]
    fn a_text_that_names_no_tiles_is_explained() {
        let mut tiles = IdColumn::default();
        for tile in [4, 5, 9] {
            tiles.push(TileId(tile));
        }
        let read = |text: &str| tiles_of_text(text, &tiles);
        assert_eq!(read("5, 9").unwrap().to_string(), "5,9");
        assert!(read("  ").unwrap().is_empty());
        let error = read("4-9,12").unwrap_err();
        assert_eq!(error, "Tile 12 is not in the report, whose tiles are from 4 to 9");
        assert_eq!(read("4-x").unwrap_err(), "`x` is not a tile number");
        assert!(read(&"\u{202e}".repeat(9999)).unwrap_err().len() < 1000);
    }

    proptest! {
        #[test]
        fn toggling_is_that_of_a_set(tiles in proptest::collection::vec(0..12_u32, 0..40)) {
            let (mut selection, mut set) = (TileSelection::default(), BTreeSet::new());
            for tile in tiles {
                selection.toggle(TileId(tile));
                if !set.remove(&tile) {
                    set.insert(tile);
                }
            }
            prop_assert_eq!(selection.iter().map(|tile| tile.0).collect::<BTreeSet<_>>(), set.clone());
            prop_assert_eq!(selection.count() as usize, set.len());
            prop_assert!(selection.ranges().windows(2).all(|pair| *pair[0].end() + 1 < *pair[1].start()));
            if !selection.is_empty() {
                let again: TileSelection = selection.to_string().parse().unwrap();
                prop_assert_eq!(again, selection);
            }
        }
    }
}
