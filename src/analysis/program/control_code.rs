//! Control code of programs without that of their children.
//!
//! `control_code_bytes_by_tile` of a program includes its children's code (formats/poplar.md 2.4): its own
//! is what they leave.

use crate::store::Report;

use crate::analysis::memory::over_tiles::sum;
use crate::analysis::memory::selection::TileSelection;

/// For each of [`crate::store::program::Programs::ids`] its own control code on the selected tiles, or on
/// all of an empty selection, bytes; 0 where the file has none. `None` where that part is absent.
pub fn own_control_code(report: &Report, tiles: &TileSelection) -> Option<Vec<u64>> {
    let programs = report.programs.get()?;
    let lists = report.control_code.get()?;
    let with_children: Vec<u64> =
        lists.iter().map(|list| sum(list.as_ref(), tiles).unwrap_or(0)).collect();
    let bytes_of = |row: usize| with_children.get(row).copied().unwrap_or(0);
    let own = |(row, bytes): (usize, &u64)| {
        let children = programs.children_of(row).iter();
        let children = children.filter_map(|child| programs.ids.position(*child)).map(bytes_of);
        bytes.saturating_sub(children.fold(0, u64::saturating_add))
    };
    Some(with_children.iter().enumerate().map(own).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::store::ProgramId;
    use crate::store::program::Programs;
    use crate::store::tile_list::TileList;

    #[test]
    fn children_do_not_count() {
        let mut programs = Programs::default();
        for (id, children) in [(0, vec![5, 7, 99]), (5, vec![]), (7, vec![5]), (9, vec![0])] {
            assert!(programs.ids.push(ProgramId(id)));
            programs.children.extend(children.into_iter().map(ProgramId));
            programs.children_ends.push(programs.children.len());
        }
        let list = |a, b| Some(TileList::from_runs([(1, a), (1, b)]));
        let report = Report::default();
        assert_eq!(own_control_code(&report, &TileSelection::default()), None);
        report.programs.fill(Some(programs));
        report.control_code.fill(Some(vec![list(100, 10), list(4, 4), list(30, 0), None]));
        let own = |tiles| own_control_code(&report, &tiles);
        // Of the third program the file says less than of its child.
        assert_eq!(own(TileSelection::default()), Some(vec![110 - 8 - 30, 8, 22, 0]));
        let tile = TileSelection::one(crate::store::TileId(1));
        assert_eq!(own(tile), Some(vec![6, 4, 0, 0]));
    }
}
