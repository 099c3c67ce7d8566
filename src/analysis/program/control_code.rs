//! Control code of programs without that of their children.
//!
//! `control_code_bytes_by_tile` of a program includes its children's code (formats/poplar.md 2.4): its own
//! is what they leave.

use crate::store::Report;
use crate::store::program::Programs;

use super::tree::children_at;
use crate::analysis::memory::over_tiles::sum;
use crate::analysis::memory::selection::TileSelection;

/// The control code of a program without that of its children, bytes; `with_children` says what the file says of each.
pub fn own_of(programs: &Programs, program: usize, with_children: impl Fn(usize) -> u64) -> u64 {
    let children = children_at(programs, program).map(&with_children);
    with_children(program).saturating_sub(children.fold(0, u64::saturating_add))
}

/// For each of [`Programs::ids`] its own control code on the selected tiles, or on all of an empty selection, bytes; 0
/// where the file has none. `None` where that part is absent.
pub fn own_control_code(report: &Report, tiles: &TileSelection) -> Option<Vec<u64>> {
    let programs = report.programs.get()?;
    let lists = report.control_code.get()?;
    let with_children: Vec<u64> =
        lists.iter().map(|list| sum(list.as_ref(), tiles).unwrap_or(0)).collect();
    let bytes_of = |row: usize| with_children.get(row).copied().unwrap_or(0);
    Some((0..with_children.len()).map(|row| own_of(programs, row, bytes_of)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::store::ProgramId;
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
