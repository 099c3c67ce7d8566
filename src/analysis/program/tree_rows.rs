//! The open part of a tree of programs as rows, one below the other: columns, so that a million of them
//! take seven megabytes, and a row is opened or closed by moving numbers.
//!
//! Shared children come once for each place, so there is a bound to how many rows are open together
//! (`crate::limits`). A program within itself is shown and not opened.

use std::collections::HashMap;

use crate::limits;
use crate::store::ProgramId;
use crate::store::program::Programs;

use super::tree::{ProgramGroup, TreeShape, children_at};

/// What a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOf {
    /// The heading of a group.
    Heading(ProgramGroup),
    /// A program, a position in [`Programs`].
    Program(usize),
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeRow {
    /// What it shows.
    pub of: RowOf,
    /// How many rows it lies within.
    pub depth: u16,
    /// Whether what it contains is below it.
    pub is_open: bool,
    /// Whether it contains anything that could be.
    pub has_children: bool,
    /// Whether it is a program that it lies within, too.
    pub is_within_itself: bool,
}

const OPEN: u8 = 1;
const CHILDREN: u8 = 2;
const WITHIN_ITSELF: u8 = 4;
const HEADING: u8 = 8;

/// Rows that are written before it is asked whether to stop.
const ROWS_PER_LOOK: usize = 8192;

/// The open part of a tree.
#[derive(Clone, Debug, Default)]
pub struct TreeRows {
    /// Of a heading the place of its group.
    programs: Vec<u32>,
    depths: Vec<u16>,
    flags: Vec<u8>,
    /// Whether something was not opened because too much is open already.
    pub is_full: bool,
}

impl TreeRows {
    /// The groups with what is at their tops; of control programs one level more.
    pub fn new(programs: &Programs, shape: &TreeShape) -> Self {
        let deepest = |group| if group == ProgramGroup::Control { 2 } else { 1 };
        Self::laid_out(programs, shape, deepest, &|| false).unwrap_or_default()
    }

    /// All that can be open, depth first; `None` where nobody waits for it any more.
    pub fn all_open(
        programs: &Programs,
        shape: &TreeShape,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<Self> {
        Self::laid_out(programs, shape, |_| limits::TREE_DEPTH, is_cancelled)
    }

    /// All rows of each group down to a depth.
    fn laid_out(
        programs: &Programs,
        shape: &TreeShape,
        deepest: impl Fn(ProgramGroup) -> u16,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let mut rows = Self::default();
        let roots = ProgramGroup::ALL.iter().map(|group| shape.roots(*group).len());
        let roots = roots.fold(0_usize, usize::saturating_add);
        let mut roots_left = roots.min(limits::TREE_ROWS.saturating_sub(ProgramGroup::ALL.len()));
        rows.is_full = roots_left < roots;
        let mut laying = Laying {
            programs,
            is_on_way: vec![false; programs.ids.len()],
            promised: ProgramGroup::ALL.len().saturating_add(roots_left),
            deepest: 0,
        };
        for (place, group) in (0..).zip(ProgramGroup::ALL) {
            let of_group = shape.roots(group);
            if !of_group.is_empty() {
                rows.push(place, 0, HEADING | OPEN | CHILDREN);
            }
            laying.deepest = deepest(group);
            let shown = of_group.get(..roots_left).unwrap_or(of_group);
            roots_left = roots_left.saturating_sub(shown.len());
            for root in shown {
                rows.push_all_of(*root as usize, &mut laying, is_cancelled)?;
            }
        }
        Some(rows)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.programs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty()
    }

    /// A row.
    pub fn get(&self, row: usize) -> Option<TreeRow> {
        let (number, depth) = (*self.programs.get(row)?, *self.depths.get(row)?);
        let flags = *self.flags.get(row)?;
        let of = if flags & HEADING != 0 {
            RowOf::Heading(*ProgramGroup::ALL.get(number as usize)?)
        } else {
            RowOf::Program(number as usize)
        };
        Some(TreeRow {
            of,
            depth,
            is_open: flags & OPEN != 0,
            has_children: flags & CHILDREN != 0,
            is_within_itself: flags & WITHIN_ITSELF != 0,
        })
    }

    /// The program of a row that has one.
    pub fn program(&self, row: usize) -> Option<usize> {
        match self.get(row)?.of {
            RowOf::Program(program) => Some(program),
            RowOf::Heading(_) => None,
        }
    }

    /// The row that a row lies in.
    pub fn parent(&self, row: usize) -> Option<usize> {
        let depth = *self.depths.get(row)?;
        self.depths.get(..row)?.iter().rposition(|other| *other < depth)
    }

    /// Opens a row, unless it is open, contains nothing, or too much is open already.
    pub fn open(&mut self, row: usize, programs: &Programs) {
        let Some(program) = self.program(row) else { return };
        let above = std::iter::successors(self.parent(row), |row| self.parent(*row));
        let mut way: Vec<usize> = above.filter_map(|row| self.program(row)).collect();
        way.reverse();
        way.push(program);
        self.open_way(row, &way, &[], programs);
    }

    /// Opens a closed row, the last of a way from the top, and within it those that lead on; the row of the last one.
    /// `None` where too much is open already, or a row contains nothing.
    fn open_way(
        &mut self,
        row: usize,
        way: &[usize],
        further: &[usize],
        programs: &Programs,
    ) -> Option<usize> {
        let TreeRow { depth, is_open, has_children, .. } = self.get(row)?;
        if is_open || !has_children {
            return None;
        }
        // Where on the way each program is.
        let levels: HashMap<usize, usize> = way.iter().chain(further).copied().zip(0..).collect();
        let mut below = Self::default();
        // What comes after the way within each row that opens: its level, and children that are not there yet.
        let mut rest: Vec<(usize, u16, &[ProgramId])> = Vec::new();
        let (mut level, mut depth) = (way.len().checked_sub(1)?, depth);
        let mut program = *way.last()?;
        let mut promised = self.len();
        let mut next = further.iter();
        let last = loop {
            let children = programs.children_of(program);
            promised = promised.saturating_add(children.len());
            if depth >= limits::TREE_DEPTH || promised > limits::TREE_ROWS {
                self.is_full = true;
                break None;
            }
            depth = depth.saturating_add(1);
            match below.len().checked_sub(1) {
                Some(last) => below.set_open(last),
                None => self.set_open(row),
            }
            let wanted = next.next();
            let is_wanted = |child: &ProgramId| wanted.copied() == programs.ids.position(*child);
            let found = wanted.and_then(|_| children.iter().position(is_wanted));
            let (first, others) =
                children.split_at(found.map_or(0, |found| found.saturating_add(1)));
            below.push_children(programs, first, depth, &levels, level);
            rest.push((level, depth, others));
            match (wanted, found) {
                (None, _) => break Some(row),
                (Some(_), None) => break None,
                (Some(_), Some(_)) if next.len() == 0 => {
                    break Some(row.saturating_add(below.len()));
                }
                (Some(wanted), _) => (program, level) = (*wanted, level.saturating_add(1)),
            }
        };
        for (level, depth, children) in rest.into_iter().rev() {
            below.push_children(programs, children, depth, &levels, level);
        }
        let at = row.saturating_add(1);
        self.programs.splice(at..at, below.programs);
        self.depths.splice(at..at, below.depths);
        self.flags.splice(at..at, below.flags);
        last
    }

    /// Children of a program at a level of the way that opens.
    fn push_children(
        &mut self,
        programs: &Programs,
        children: &[ProgramId],
        depth: u16,
        levels: &HashMap<usize, usize>,
        level: usize,
    ) {
        for child in children.iter().filter_map(|child| programs.ids.position(*child)) {
            let is_around = levels.get(&child).is_some_and(|other| *other <= level);
            self.push_program(programs, child, depth, is_around);
        }
    }

    fn set_open(&mut self, row: usize) {
        if let Some(flags) = self.flags.get_mut(row) {
            *flags |= OPEN;
        }
    }

    /// Closes a row; headings stay open.
    pub fn close(&mut self, row: usize) {
        let Some(TreeRow { of: RowOf::Program(_), depth, is_open: true, .. }) = self.get(row)
        else {
            return;
        };
        let start = row.saturating_add(1);
        let below = self.depths.get(start..).unwrap_or(&[]);
        let end = start.saturating_add(below.iter().take_while(|other| **other > depth).count());
        self.programs.drain(start..end);
        self.depths.drain(start..end);
        self.flags.drain(start..end);
        if let Some(flags) = self.flags.get_mut(row) {
            *flags &= !OPEN;
        }
    }

    /// Opens a row that is closed, and closes one that is open.
    pub fn toggle(&mut self, row: usize, programs: &Programs) {
        if self.get(row).is_some_and(|row| row.is_open) {
            self.close(row);
        } else {
            self.open(row, programs);
        }
    }

    /// Opens the way to the first place of a program; the row that it has there. `None` where the way is
    /// too deep, or too much is open.
    pub fn reveal(
        &mut self,
        program: usize,
        programs: &Programs,
        shape: &TreeShape,
    ) -> Option<usize> {
        let path = shape.path(program);
        let root = u32::try_from(*path.first()?).ok()?;
        let of_group = |group: &ProgramGroup| shape.roots(*group).contains(&root);
        let group = ProgramGroup::ALL.into_iter().find(of_group)?;
        let is_heading =
            |row: &usize| self.get(*row).is_some_and(|row| row.of == RowOf::Heading(group));
        let mut row = (0..self.len()).find(is_heading)?;
        for (level, next) in path.iter().enumerate() {
            if level > 0 && !self.get(row)?.is_open {
                let (way, further) = path.split_at(level);
                return self.open_way(row, way, further, programs);
            }
            row = self.below(row, *next)?;
        }
        Some(row)
    }

    /// The first row of a program right within a row.
    fn below(&self, row: usize, program: usize) -> Option<usize> {
        let depth = self.depths.get(row)?.saturating_add(1);
        let start = row.saturating_add(1);
        let depths = self.depths.get(start..)?.iter().take_while(|other| **other >= depth);
        let wanted = u32::try_from(program).ok()?;
        let mut both = depths.zip(self.programs.get(start..)?);
        let found = both.position(|(other, number)| *other == depth && *number == wanted)?;
        Some(start.saturating_add(found))
    }

    fn push(&mut self, number: u32, depth: u16, flags: u8) {
        self.programs.push(number);
        self.depths.push(depth);
        self.flags.push(flags);
    }

    fn push_program(&mut self, programs: &Programs, program: usize, depth: u16, is_around: bool) {
        let Ok(number) = u32::try_from(program) else { return };
        let has_children = !is_around && children_at(programs, program).next().is_some();
        let flags = [(has_children, CHILDREN), (is_around, WITHIN_ITSELF)];
        let flags = flags.iter().filter(|(is_so, _)| *is_so).map(|(_, flag)| flag).sum();
        self.push(number, depth, flags);
    }

    /// A program at the top with all that it contains.
    fn push_all_of(
        &mut self,
        root: usize,
        laying: &mut Laying<'_>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<()> {
        let programs = laying.programs;
        // Programs that are open, with the number of their children that were looked at.
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(program) = next.take() {
                if self.len().is_multiple_of(ROWS_PER_LOOK) && is_cancelled() {
                    return None;
                }
                let depth = u16::try_from(open.len()).unwrap_or(u16::MAX).saturating_add(1);
                let is_around = laying.is_on_way.get(program) == Some(&true);
                self.push_program(programs, program, depth, is_around);
                let has_children = self.flags.last().is_some_and(|flags| flags & CHILDREN != 0);
                if has_children && (depth < laying.deepest || depth == limits::TREE_DEPTH) {
                    let promised =
                        laying.promised.saturating_add(programs.children_of(program).len());
                    if promised <= limits::TREE_ROWS && depth < limits::TREE_DEPTH {
                        laying.promised = promised;
                        open.push((program, 0));
                        set(&mut laying.is_on_way, program, true);
                        self.set_open(self.len().saturating_sub(1));
                    } else {
                        self.is_full = true;
                    }
                }
            }
            let Some((program, looked_at)) = open.last_mut() else { return Some(()) };
            match programs.children_of(*program).get(*looked_at) {
                Some(child) => {
                    *looked_at = looked_at.saturating_add(1);
                    next = programs.ids.position(*child);
                }
                None => {
                    set(&mut laying.is_on_way, *program, false);
                    open.pop();
                }
            }
        }
    }
}

/// How far rows are laid out.
struct Laying<'a> {
    programs: &'a Programs,
    /// For each program whether it is open around the row that comes.
    is_on_way: Vec<bool>,
    /// Rows that are there or will be, because what contains them is open.
    promised: usize,
    /// The depth at which rows stay closed.
    deepest: u16,
}

fn set(flags: &mut [bool], place: usize, is_set: bool) {
    if let Some(flag) = flags.get_mut(place) {
        *flag = is_set;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::analysis::program::tree::tests::{programs, shape, tree};

    /// Rows as text: depth, program, and what can be done with it.
    fn text(rows: &TreeRows) -> String {
        let row = |row: TreeRow| {
            let name = match row.of {
                RowOf::Heading(group) => group.title()[..1].to_owned(),
                RowOf::Program(program) => program.to_string(),
            };
            let mark = match (row.is_within_itself, row.has_children, row.is_open) {
                (true, ..) => "!",
                (_, true, false) => "+",
                _ => "",
            };
            format!("{}{name}{mark}", ".".repeat(row.depth.into()))
        };
        let rows = (0..rows.len()).filter_map(|at| rows.get(at));
        rows.map(row).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rows_open_and_close_and_a_program_within_itself_ends_there() {
        let programs = programs(&[vec![1, 2], vec![3], vec![], vec![1, 2]]);
        let shape = shape(&programs, &tree(&[0], &[3]));
        let mut rows = TreeRows::new(&programs, &shape);
        assert_eq!(text(&rows), "C .0 ..1+ ..2 F .3+");
        rows.toggle(2, &programs);
        assert_eq!(text(&rows), "C .0 ..1 ...3+ ..2 F .3+");
        rows.toggle(3, &programs);
        assert_eq!(text(&rows), "C .0 ..1 ...3 ....1! ....2 ..2 F .3+");
        assert_eq!((rows.parent(4), rows.parent(0)), (Some(3), None));
        rows.toggle(4, &programs);
        rows.toggle(0, &programs);
        assert_eq!(rows.len(), 9, "neither opens nor closes");
        rows.toggle(1, &programs);
        assert_eq!(text(&rows), "C .0+ F .3+");
        let found = rows.reveal(3, &programs, &shape);
        assert_eq!((text(&rows).as_str(), found), ("C .0 ..1 ...3+ ..2 F .3+", Some(3)));
        let all = TreeRows::all_open(&programs, &shape, &|| false).expect("not cancelled");
        assert_eq!(text(&all), "C .0 ..1 ...3 ....1! ....2 ..2 F .3 ..1 ...3! ..2");
        assert!(!all.is_full);
    }

    #[test]
    fn a_way_is_opened_at_once_and_what_is_open_stays_within_the_bound() {
        // Each program has the next one between ten others that have none.
        let (depth, others) = (1000_u32, 10_u32);
        let children = |program: u32| -> Vec<u32> {
            let leaves = |from: u32| (from..from + others / 2).map(|leaf| depth + leaf);
            leaves(0).chain([program + 1]).chain(leaves(others / 2)).collect()
        };
        let mut all: Vec<Vec<u32>> = (0..depth - 1).map(children).collect();
        all.resize((depth + others) as usize, Vec::new());
        let programs_of = programs(&all);
        let shape_of = shape(&programs_of, &tree(&[0], &[]));
        let mut rows = TreeRows::new(&programs_of, &shape_of);
        let row = rows.reveal(depth as usize - 1, &programs_of, &shape_of).expect("a row");
        assert_eq!(rows.program(row), Some(depth as usize - 1));
        let every = TreeRows::all_open(&programs_of, &shape_of, &|| false).expect("not cancelled");
        assert_eq!(text(&rows), text(&every));
        rows.close(1);
        assert_eq!(rows.len(), 2);
        // Roots count, too, those of groups that come later as well.
        let many: Vec<u32> = vec![0; limits::TREE_ROWS];
        let wide = programs(&[vec![1; 1000], Vec::new()]);
        let shape_of = shape(&wide, &tree(&many, &[1, 1, 1]));
        let all = TreeRows::all_open(&wide, &shape_of, &|| false).expect("not cancelled");
        assert!(all.is_full && all.len() <= limits::TREE_ROWS, "{}", all.len());
    }

    #[test]
    fn children_that_are_shared_a_million_fold_stop_at_the_bound() {
        // Each program contains the next one a thousand times: 10²⁷ places.
        let mut children: Vec<Vec<u32>> = (1..10).map(|next| vec![next; 1000]).collect();
        children.push(Vec::new());
        let programs_of = programs(&children);
        let shape_of = shape(&programs_of, &tree(&[0], &[]));
        let all = TreeRows::all_open(&programs_of, &shape_of, &|| false).expect("not cancelled");
        assert!(all.is_full && all.len() <= limits::TREE_ROWS, "{}", all.len());
        // What is open is whole: as many rows right within each as it has children.
        let top = (0..all.len()).filter(|row| all.get(*row).is_some_and(|row| row.depth == 2));
        assert_eq!(top.count(), 1000);
        let mut fewer = all.clone();
        fewer.close(1);
        assert!(fewer.len() < all.len() && fewer.is_full, "what is closed opens nothing else");
        let mut one = TreeRows::new(&programs_of, &shape_of);
        assert!(one.reveal(9, &programs_of, &shape_of).is_some());
        // Deeper than anybody opens.
        let deep: Vec<Vec<u32>> = (1..=20_000).map(|child| vec![child]).collect();
        let deep = programs(&deep);
        let shape_of = shape(&deep, &tree(&[0], &[]));
        let all = TreeRows::all_open(&deep, &shape_of, &|| false).expect("not cancelled");
        assert!(all.is_full && all.len() == usize::from(limits::TREE_DEPTH) + 1);
        assert_eq!(TreeRows::new(&deep, &shape_of).reveal(19_999, &deep, &shape_of), None);
    }

    proptest! {
        #[test]
        fn opening_row_by_row_gives_what_opening_all_gives(
            children in proptest::collection::vec(proptest::collection::vec(0..7_u32, 0..3), 0..6),
        ) {
            let programs = programs(&children);
            let shape = shape(&programs, &tree(&[0], &[1]));
            let mut rows = TreeRows::new(&programs, &shape);
            let mut row = 0;
            while row < rows.len() {
                rows.open(row, &programs);
                row += 1;
            }
            let all = TreeRows::all_open(&programs, &shape, &|| false).expect("not cancelled");
            prop_assert_eq!(text(&rows), text(&all));
            for program in 0..children.len() {
                let row = TreeRows::new(&programs, &shape).reveal(program, &programs, &shape);
                prop_assert!(row.is_some());
                prop_assert_eq!(all.clone().reveal(program, &programs, &shape).and_then(|row| all.program(row)), Some(program));
            }
        }
    }
}
