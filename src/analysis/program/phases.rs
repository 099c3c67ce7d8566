//! The compiler's phases as a flame graph.
//!
//! A phase is a child of the innermost phase that contains it whole; its depth is the number of phases around it, its
//! own time its duration without that of its children. If phases have the same start and duration, the later one in the
//! file is inside. Phases that overlap without containing each other, which Poplar does not write, stand side by side
//! and may cover each other.

use crate::analysis::figures::joined::side_by_side;
use crate::store::options::CompilerPhase;

/// A phase with its place in the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseBar {
    /// The phase, `allocateVarStorage` for example.
    pub name: String,
    /// Number of phases around it.
    pub depth: usize,
    /// The frame around it.
    pub parent: Option<usize>,
    /// Start after the start of the first phase, microseconds.
    pub start_microseconds: u64,
    /// Duration, microseconds.
    pub duration_microseconds: u64,
    /// Duration without that of its children, microseconds.
    pub self_microseconds: u64,
}

impl PhaseBar {
    /// End after the start of the first phase, microseconds.
    pub fn end_microseconds(&self) -> u64 {
        self.start_microseconds.saturating_add(self.duration_microseconds)
    }
}

/// All phases of a compilation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// By start, longer ones first, so that parents come before their children.
    pub frames: Vec<PhaseBar>,
    /// From the start of the first phase to the last end, microseconds.
    pub span_microseconds: u64,
}

/// Nests phases by time. A negative duration, which a clock that was set back gives, counts as 0.
pub fn phases(list: &[CompilerPhase]) -> Phases {
    let Some(first) = list.iter().map(|phase| phase.start_microseconds).min() else {
        return Phases::default();
    };
    let mut frames: Vec<PhaseBar> = list
        .iter()
        .map(|phase| {
            let duration = u64::try_from(phase.duration_microseconds).unwrap_or(0);
            PhaseBar {
                name: phase.name.clone(),
                depth: 0,
                parent: None,
                start_microseconds: phase.start_microseconds.abs_diff(first),
                duration_microseconds: duration,
                self_microseconds: duration,
            }
        })
        .collect();
    frames.sort_by_key(|frame| {
        (frame.start_microseconds, std::cmp::Reverse(frame.duration_microseconds))
    });
    // The frames around the current one, outermost first.
    let mut around: Vec<usize> = Vec::new();
    for index in 0..frames.len() {
        let Some(frame) = frames.get(index) else { break };
        let (start, end) = (frame.start_microseconds, frame.end_microseconds());
        let duration = frame.duration_microseconds;
        while let Some(outer) = around.last().and_then(|outer| frames.get(*outer))
            && (outer.end_microseconds() <= start || outer.end_microseconds() < end)
        {
            around.pop();
        }
        let parent = around.last().copied();
        if let Some(outer) = parent.and_then(|parent| frames.get_mut(parent)) {
            outer.self_microseconds = outer.self_microseconds.saturating_sub(duration);
        }
        if let Some(frame) = frames.get_mut(index) {
            frame.depth = around.len();
            frame.parent = parent;
        }
        around.push(index);
    }
    let span_microseconds = frames.iter().map(PhaseBar::end_microseconds).max().unwrap_or(0);
    Phases { frames, span_microseconds }
}

/// The frames of several compilations that are the same phase within the same phases, of several the
/// first with the first; by positions, those of the first compilation in their order, then the others.
pub fn joined_frames(compilations: &[Phases]) -> Vec<Vec<Option<usize>>> {
    let paths = |phases: &Phases| {
        let mut paths: Vec<String> = Vec::with_capacity(phases.frames.len());
        for frame in &phases.frames {
            let around = frame.parent.and_then(|parent| paths.get(parent));
            let path = around.map_or(String::new(), |around| format!("{around}\n"));
            paths.push(format!("{path}{}", frame.name));
        }
        paths.into_iter().zip(0..).collect()
    };
    side_by_side(compilations.iter().map(paths).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn phase(name: &str, start: i64, duration: i64) -> CompilerPhase {
        CompilerPhase {
            name: name.to_owned(),
            start_microseconds: start,
            duration_microseconds: duration,
        }
    }

    #[test]
    fn phases_of_two_compilations_are_joined_by_what_is_around_them() {
        let source = phases(&[
            phase("compile", 0, 100),
            phase("sort", 10, 10),
            phase("link", 30, 20),
            phase("sort", 35, 5),
        ]);
        let target = phases(&[
            phase("compile", 0, 100),
            phase("link", 10, 20),
            phase("sort", 15, 5),
            phase("write", 40, 5),
            phase("sort", 60, 5),
        ]);
        let rows = joined_frames(&[source, target]);
        let expected = [
            [Some(0), Some(0)],
            [Some(1), Some(4)],
            [Some(2), Some(1)],
            [Some(3), Some(2)],
            [None, Some(3)],
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn phases_nest_by_time() {
        let list = [
            phase("link", 160, 30),
            phase("lower", 110, 40),
            phase("compile", 100, 100),
            phase("allocate", 110, 40),
            phase("sort", 120, 10),
            phase("nothing", 150, 0),
            phase("backwards", 155, -4),
        ];
        let found = phases(&list);
        let rows: Vec<_> = found
            .frames
            .iter()
            .map(|frame| (frame.name.as_str(), frame.depth, frame.self_microseconds))
            .collect();
        let expected = [
            ("compile", 0, 30),
            ("lower", 1, 0),
            ("allocate", 2, 30),
            ("sort", 3, 10),
            ("nothing", 1, 0),
            ("backwards", 1, 0),
            ("link", 1, 30),
        ];
        assert_eq!(rows, expected);
        assert_eq!((found.frames[0].start_microseconds, found.span_microseconds), (0, 100));
        assert_eq!(phases(&[]), Phases::default());
    }

    #[test]
    fn numbers_that_cannot_be_do_no_harm() {
        let list = [phase("a", i64::MIN, i64::MAX), phase("b", i64::MAX, i64::MAX)];
        let found = phases(&list);
        assert_eq!(found.frames[1].start_microseconds, u64::MAX);
        assert_eq!(found.span_microseconds, u64::MAX);
        let crossing = phases(&[phase("a", 0, 10), phase("b", 5, 10), phase("c", 6, 4)]);
        let depths: Vec<_> = crossing.frames.iter().map(|frame| frame.depth).collect();
        assert_eq!(depths, [0, 0, 1], "c is inside of b, which reaches out of a");
    }

    /// Divides a time between phases within each other: `cuts` are consumed in order.
    fn nest(
        start: i64,
        end: i64,
        cuts: &mut impl Iterator<Item = u8>,
        list: &mut Vec<CompilerPhase>,
    ) {
        list.push(phase("phase", start, end - start));
        let mut at = start;
        while let Some(cut) = cuts.next() {
            let from = at + i64::from(cut % 5);
            let to = from + 1 + i64::from(cut / 5);
            if cut % 7 == 0 || to > end {
                return;
            }
            nest(from, to, cuts, list);
            at = to;
        }
    }

    proptest! {
        #[test]
        fn children_lie_within_their_parent_and_siblings_apart(
            cuts in proptest::collection::vec(0..255_u8, 0..60),
            start in -1000..1000_i64,
        ) {
            let mut list = Vec::new();
            nest(start, start + 400, &mut cuts.into_iter(), &mut list);
            list.reverse();
            let found = phases(&list);
            prop_assert_eq!(found.frames.len(), list.len());
            prop_assert_eq!(found.span_microseconds, 400);
            let own: u64 = found.frames.iter().map(|frame| frame.self_microseconds).sum();
            prop_assert_eq!(own, 400, "every microsecond is some phase's own");
            let most = found.frames.iter().map(|frame| frame.depth).max().unwrap_or(0);
            for depth in 0..=most {
                let row: Vec<_> =
                    found.frames.iter().filter(|frame| frame.depth == depth).collect();
                for pair in row.windows(2) {
                    prop_assert!(pair[0].end_microseconds() <= pair[1].start_microseconds);
                }
            }
        }

        #[test]
        fn whatever_the_phases_are_a_child_lies_within_its_parent(
            list in proptest::collection::vec((0..40_i64, -3..30_i64), 0..30),
        ) {
            let list: Vec<_> =
                list.iter().map(|(start, duration)| phase("phase", *start, *duration)).collect();
            let found = phases(&list);
            for frame in &found.frames {
                let parent = frame.parent.map(|parent| &found.frames[parent]);
                prop_assert_eq!(frame.depth, parent.map_or(0, |parent| parent.depth + 1));
                if let Some(parent) = parent {
                    prop_assert!(parent.start_microseconds <= frame.start_microseconds);
                    prop_assert!(frame.end_microseconds() <= parent.end_microseconds());
                }
            }
        }
    }
}
