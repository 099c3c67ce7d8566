//! The programs of a compilation step as a tree: what an engine runs, functions, and what neither leads to.
//!
//! The lists of children in a file may share programs, as calls did before there were functions, and in a
//! damaged one a program may lie within itself. So every program has a *first place*: where a walk from
//! control programs, then functions, then all others, children in their order, comes to it first. Going
//! from first place to first place visits each program once, however many places it has.

use crate::store::program::{ProgramTree, Programs};
use crate::store::{FunctionId, list_at};

/// What a program at the top of the tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramGroup {
    /// What an engine runs (`control_programs`).
    Control,
    /// A function that programs call (`function_programs`).
    Functions,
    /// Neither leads to it.
    Others,
}

impl ProgramGroup {
    /// All of them, in the order of the tree.
    pub const ALL: [Self; 3] = [Self::Control, Self::Functions, Self::Others];

    /// What its programs are called together.
    pub fn title(self) -> &'static str {
        match self {
            Self::Control => "Control programs",
            Self::Functions => "Functions",
            Self::Others => "Unreachable programs",
        }
    }
}

/// Stands for no program.
const NONE: u32 = u32::MAX;
/// Programs that are walked over before it is asked whether to stop.
const PROGRAMS_PER_LOOK: usize = 8192;

/// Where programs lie; all numbers are positions in [`Programs`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeShape {
    /// The programs at the top, group by group.
    roots: Vec<u32>,
    /// Where those of each group end.
    root_ends: [usize; 3],
    /// What each program lies in at its first place.
    parents: Vec<u32>,
    /// All programs in the order of their first places.
    order: Vec<u32>,
    /// For each program its place in `order`.
    ranks: Vec<u32>,
    /// Functions by their program.
    functions: Vec<(u32, FunctionId)>,
}

impl TreeShape {
    /// The shape of a tree; `None` where nobody waits for it any more.
    pub fn of(
        programs: &Programs,
        tree: &ProgramTree,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let position = |program| u32::try_from(programs.ids.position(program)?).ok();
        let mut functions: Vec<(u32, FunctionId)> = tree
            .functions
            .iter()
            .zip(tree.function_ids.as_slice())
            .filter_map(|(program, id)| Some((position(*program)?, *id)))
            .collect();
        let control = tree.control.iter().filter_map(|program| position(*program));
        let mut roots: Vec<u32> = control.collect();
        let control_end = roots.len();
        roots.extend(functions.iter().map(|(root, _)| *root));
        let functions_end = roots.len();
        functions.sort_unstable();
        let mut walk = TreeWalk::new(programs);
        for root in &roots {
            walk.from(*root, is_cancelled)?;
        }
        // First what is no child of anything, then what lies within itself alone.
        let mut is_child = vec![false; programs.ids.len()];
        for child in programs.children.iter().filter_map(|child| programs.ids.position(*child)) {
            if let Some(is_child) = is_child.get_mut(child) {
                *is_child = true;
            }
        }
        for wanted in [false, true] {
            for (place, is_child) in (0..).zip(&is_child) {
                if *is_child == wanted && !walk.is_known(place) {
                    roots.push(place);
                    walk.from(place, is_cancelled)?;
                }
            }
        }
        let TreeWalk { parents, order, .. } = walk;
        let mut ranks = vec![NONE; order.len()];
        for (rank, program) in (0..).zip(&order) {
            if let Some(place) = ranks.get_mut(*program as usize) {
                *place = rank;
            }
        }
        let root_ends = [control_end, functions_end, roots.len()];
        Some(Self { roots, root_ends, parents, order, ranks, functions })
    }

    /// The programs at the top of a group.
    pub fn roots(&self, group: ProgramGroup) -> &[u32] {
        list_at(&self.roots, &self.root_ends, group as usize)
    }

    /// All programs in the order of their first places.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Where a program is among some that are in the order of their first places.
    pub fn place_among(&self, program: usize, in_order: &[u32]) -> Option<usize> {
        let rank = |program: usize| self.ranks.get(program).copied();
        let wanted = rank(program)?;
        in_order.binary_search_by_key(&Some(wanted), |other| rank(*other as usize)).ok()
    }

    /// The way to the first place of a program, from the top.
    pub fn path(&self, program: usize) -> Vec<usize> {
        let up = |at: &usize| self.parents.get(*at).map(|parent| *parent as usize);
        let known = |at: &usize| *at < self.parents.len();
        // Every program was reached once, so the way ends.
        let mut path: Vec<usize> =
            std::iter::successors(Some(program), |at| up(at)).take_while(known).collect();
        path.reverse();
        path
    }

    /// The function that a program is.
    pub fn function_at(&self, program: usize) -> Option<FunctionId> {
        let at = self.functions.partition_point(|(other, _)| (*other as usize) < program);
        let (other, function) = self.functions.get(at)?;
        (*other as usize == program).then_some(*function)
    }
}

/// The children of a program that are there, as positions.
pub(crate) fn children_at(programs: &Programs, program: usize) -> impl Iterator<Item = usize> {
    programs.children_of(program).iter().filter_map(|child| programs.ids.position(*child))
}

/// Visits every program once.
struct TreeWalk<'a> {
    programs: &'a Programs,
    parents: Vec<u32>,
    is_known: Vec<bool>,
    order: Vec<u32>,
    looks: usize,
}

impl<'a> TreeWalk<'a> {
    fn new(programs: &'a Programs) -> Self {
        let len = programs.ids.len();
        let (parents, is_known) = (vec![NONE; len], vec![false; len]);
        Self { programs, parents, is_known, order: Vec::with_capacity(len), looks: 0 }
    }

    fn is_known(&self, program: u32) -> bool {
        self.is_known.get(program as usize).copied().unwrap_or(true)
    }

    fn visit(&mut self, program: u32, parent: u32) {
        if let (Some(is_known), Some(of)) =
            (self.is_known.get_mut(program as usize), self.parents.get_mut(program as usize))
        {
            (*is_known, *of) = (true, parent);
            self.order.push(program);
        }
    }

    /// Visits all that a program leads to and that was not visited yet.
    fn from(&mut self, root: u32, is_cancelled: &dyn Fn() -> bool) -> Option<()> {
        if self.is_known(root) {
            return Some(());
        }
        self.visit(root, NONE);
        // Programs with the number of their children that were looked at.
        let mut open = vec![(root, 0_usize)];
        while let Some((program, looked_at)) = open.last_mut() {
            self.looks = self.looks.wrapping_add(1);
            if self.looks.is_multiple_of(PROGRAMS_PER_LOOK) && is_cancelled() {
                return None;
            }
            let Some(child) = self.programs.children_of(*program as usize).get(*looked_at) else {
                open.pop();
                continue;
            };
            *looked_at = looked_at.saturating_add(1);
            let child = self.programs.ids.position(*child);
            let Some(child) = child.and_then(|child| u32::try_from(child).ok()) else { continue };
            if !self.is_known(child) {
                let parent = *program;
                self.visit(child, parent);
                open.push((child, 0));
            }
        }
        Some(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::store::ProgramId;

    /// Programs 0, 1, 2 … with these children, which may be absent.
    pub fn programs(children: &[Vec<u32>]) -> Programs {
        let mut programs = Programs::default();
        for (id, children) in (0..).zip(children) {
            assert!(programs.ids.push(ProgramId(id)));
            programs.names.push("");
            programs.debug_ids.push(0);
            programs.kinds.push(None);
            programs.compute_sets.push(None);
            programs.exchanges.push(None);
            programs.children.extend(children.iter().copied().map(ProgramId));
            programs.children_ends.push(programs.children.len());
        }
        programs
    }

    /// A tree that starts from a program, with functions that are programs.
    pub fn tree(control: &[u32], functions: &[u32]) -> ProgramTree {
        let control = control.iter().copied().map(ProgramId).collect();
        let mut tree = ProgramTree { control, ..ProgramTree::default() };
        for (id, program) in (0..).zip(functions) {
            assert!(tree.function_ids.push(FunctionId(id)));
            tree.functions.push(ProgramId(*program));
        }
        tree
    }

    pub fn shape(programs: &Programs, tree: &ProgramTree) -> TreeShape {
        TreeShape::of(programs, tree, &|| false).expect("not cancelled")
    }

    #[test]
    fn what_nothing_leads_to_is_there_too() {
        let programs = programs(&[vec![1], vec![], vec![1], vec![4], vec![3], vec![99]]);
        let shape = shape(&programs, &tree(&[0], &[2]));
        assert_eq!(shape.order(), [0, 1, 2, 5, 3, 4]);
        let place = |program| shape.place_among(program, &[0, 2, 5, 4]);
        assert_eq!([0, 1, 5, 4, 99].map(place), [Some(0), None, Some(2), Some(3), None]);
        assert_eq!(ProgramGroup::ALL.map(|group| shape.roots(group)), [&[0][..], &[2], &[5, 3]]);
        assert_eq!((shape.function_at(2), shape.function_at(0)), (Some(FunctionId(0)), None));
        assert_eq!(shape.path(4), [3, 4]);
        assert_eq!(shape.path(99), Vec::<usize>::new());
        assert_eq!(
            TreeShape::of(&programs, &tree(&[], &[]), &|| false).map(|it| it.roots.len()),
            Some(4)
        );
    }

    #[test]
    fn a_way_a_million_programs_deep_and_one_shared_a_million_times_are_walked() {
        let deep: Vec<Vec<u32>> = (1..=1_000_000).map(|child| vec![child]).collect();
        let programs_of = programs(&deep);
        let shape_of = shape(&programs_of, &tree(&[0], &[]));
        assert_eq!((shape_of.order().len(), shape_of.path(999_999).len()), (1_000_000, 1_000_000));
        let shared = programs(&[vec![1; 1_000_000], vec![2; 1_000_000], vec![]]);
        assert_eq!(shape(&shared, &tree(&[0], &[])).order(), [0, 1, 2]);
        let looks = std::cell::Cell::new(0);
        let is_cancelled = || looks.replace(looks.get() + 1) > 3;
        assert_eq!(TreeShape::of(&shared, &tree(&[0], &[]), &is_cancelled), None);
    }

    proptest! {
        #[test]
        fn every_program_has_one_first_place(
            children in proptest::collection::vec(proptest::collection::vec(0..9_u32, 0..4), 0..8),
            control in proptest::collection::vec(0..8_u32, 0..3),
        ) {
            let programs = programs(&children);
            let shape = shape(&programs, &tree(&control, &[]));
            let mut order = shape.order().to_vec();
            order.sort_unstable();
            prop_assert_eq!(order, (0..children.len() as u32).collect::<Vec<_>>());
            for program in 0..children.len() {
                let path = shape.path(program);
                prop_assert_eq!(path.last(), Some(&program));
                for pair in path.windows(2) {
                    prop_assert!(children_at(&programs, pair[0]).any(|child| child == pair[1]));
                }
                prop_assert!(shape.roots.iter().any(|root| *root as usize == path[0]));
            }
        }
    }
}
