//! Core ranges as texts: `{[0-0 - 7-2], [0-3 - 3-3]}`, `{[(x=0,y=0) - (x=7,y=7)]}`, or JSON with `start` and `end`.

use crate::systems::tenstorrent::recorded::CoreRange;

/// Cores of a grid in one direction: far beyond what chips have.
const MOST_CORES: u32 = 4096;

/// The ranges of a text; none where it is of another form. All notations have four numbers for a range, x before y.
pub fn core_ranges(text: &str) -> Vec<CoreRange> {
    let numbers = text.split(|letter: char| !letter.is_ascii_digit());
    let numbers: Option<Vec<u32>> = (numbers.filter(|digits| !digits.is_empty()))
        .map(|digits| digits.parse().ok().filter(|number| *number < MOST_CORES))
        .collect();
    let numbers = numbers.unwrap_or_default();
    let (ranges, rest) = numbers.as_chunks::<4>();
    if !rest.is_empty() {
        return Vec::new();
    }
    let range = |&[x, y, other_x, other_y]: &[u32; 4]| CoreRange {
        corners: [x.min(other_x), y.min(other_y), x.max(other_x), y.max(other_y)],
    };
    ranges.iter().map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_in_all_notations() {
        let corners = |text: &str| -> Vec<[u32; 4]> {
            core_ranges(text).into_iter().map(|range| range.corners).collect()
        };
        assert_eq!(corners("{[0-0 - 7-2]}"), [[0, 0, 7, 2]]);
        assert_eq!(corners("{[0-0 - 7-0], [0-1 - 3-1]}"), [[0, 0, 7, 0], [0, 1, 3, 1]]);
        assert_eq!(corners("{[(x=0,y=1) - (x=7,y=7)]}"), [[0, 1, 7, 7]]);
        let json = r#"[{"end": {"x": 7, "y": 6}, "start": {"x": 0, "y": 0}}]"#;
        assert_eq!(corners(json), [[0, 0, 7, 6]]);
        assert_eq!(corners("{}"), [[0; 4]; 0]);
        assert_eq!(corners("[0-0 - 7]"), [[0; 4]; 0]);
        assert_eq!(corners("[0-0 - 99999999999-1]"), [[0; 4]; 0]);
    }
}
