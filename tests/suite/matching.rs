//! Matching of the rows of two reports.

use std::path::Path;

use crate::common::listed::{Step, report, step};
use proptest::prelude::*;
use tilescope::analysis::comparison::matching::{
    MatchCounts, Matching, Pairs, Sureness, match_reports,
};
use tilescope::analysis::program::operations::Operation;
use tilescope::analysis::program::steps;
use tilescope::format::Progress;
use tilescope::store::Report;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::story::{directory_name, options};
use tilescope::systems::poplar::synth::write_report;

fn matched(source: &Report, target: &Report) -> Matching {
    match_reports(source, target, &|| false).expect("reports with steps")
}

/// All lists of pairs with their names.
fn lists(matching: &Matching) -> [(&'static str, &Pairs); 6] {
    [
        ("steps", &matching.steps),
        ("programs", &matching.programs),
        ("compute sets", &matching.compute_sets),
        ("exchanges", &matching.exchanges),
        ("variables", &matching.variables),
        ("operations", &matching.operations),
    ]
}

/// Checks what holds for any two reports.
fn check(matching: &Matching, source: &Report, target: &Report) {
    for (list, pairs) in lists(matching) {
        for from in 0..pairs.source_len() {
            let to = pairs.target_of(from);
            assert!(to.is_none_or(|to| pairs.source_of(to) == Some(from)), "{list} {from}");
            assert_eq!(to.is_some(), pairs.sureness(from).is_some(), "{list} {from}");
        }
        let MatchCounts { matched, only_source, only_target, exact, likely, weak } = pairs.counts();
        assert_eq!(matched, exact + likely + weak);
        assert_eq!(
            (pairs.only_source().count(), pairs.only_target().count()),
            (only_source, only_target)
        );
        assert_eq!(
            (matched + only_source, matched + only_target),
            (pairs.source_len(), pairs.target_len())
        );
    }
    let pairs: Vec<(usize, usize)> = matching.steps.iter().collect();
    assert!(pairs.is_sorted_by(|one, next| one.0 < next.0 && one.1 < next.1));
    for (from, to) in pairs {
        let (one, other) =
            (steps::facts(source, None, from).unwrap(), steps::facts(target, None, to).unwrap());
        assert_eq!(one.kind, other.kind);
        let name = |operation: Option<Operation>| operation.and_then(|operation| operation.name);
        if let (Some(one), Some(other)) = (name(one.operation), name(other.operation)) {
            assert_eq!(one, other, "steps {from} and {to} are of two operations");
        }
        let program = |report: &Report, step: usize| {
            report.programs.get()?.ids.position(*report.steps.get()?.programs.get(step)?)
        };
        // Here every program has one step.
        assert_eq!(
            matching.programs.target_of(program(source, from).unwrap()),
            program(target, to)
        );
    }
}

/// Checks that a report is matched with itself, row by row.
fn check_with_itself(report: &Report) {
    let matching = matched(report, report);
    for (list, pairs) in lists(&matching) {
        for row in 0..pairs.source_len() {
            assert_eq!(pairs.target_of(row), Some(row), "{list}");
            assert_eq!(pairs.sureness(row), Some(Sureness::Exact), "{list} {row}");
        }
    }
    assert!(matching.steps.iter().next().is_some());
}

/// A part of an operation: kind and name; `{n}` is the number of the compute set.
const PARTS: [(&str, &str); 7] = [
    ("Sequence", ""),
    ("OnTileExecute", "Conv/Reduce"),
    ("OnTileExecute", "Conv/Reduce"),
    ("DoExchange", "cs{n}_98/Conv/ExchangePre"),
    ("WriteUndef", ""),
    ("OnTileExecute", "{o}/Cast"),
    ("DoExchange", "cs{n}_{o}/ExchangePost"),
];

/// An operation: its name, and which parts it has.
type Parts = (&'static str, Vec<usize>);

fn network() -> impl Strategy<Value = Vec<Parts>> {
    let names = ["", "layer1.0.conv1", "layer1.1.conv1", "fc", "layer1.0.conv1"];
    let shapes =
        [vec![0, 1, 3, 4, 2], vec![0, 3, 5, 6], vec![1, 1, 1], vec![4], vec![0, 4, 5, 3, 2, 6, 1]];
    let operation =
        (proptest::sample::select(names.to_vec()), proptest::sample::select(shapes.to_vec()));
    proptest::collection::vec(operation, 1..30)
}

/// The steps of operations in order. With `numbers`, compute sets are counted, so that an operation more
/// changes the names of all that follow.
fn steps_of(network: &[Parts], numbers: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    for (operation, parts) in network {
        for part in parts {
            let (kind, name) = PARTS[*part];
            let number = if numbers { steps.len() } else { 7 };
            let name = name.replace("{n}", &number.to_string()).replace("{o}", operation);
            steps.push(step(kind, &name, operation));
        }
    }
    steps
}

fn report_of(network: &[Parts], numbers: bool, with_debug: bool) -> Report {
    let variables: Vec<String> =
        network.iter().map(|(name, _)| format!("{name}/weights")).collect();
    report(&steps_of(network, numbers), &variables, with_debug)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_report_is_matched_with_itself(network in network(), numbers: bool, with_debug: bool) {
        check_with_itself(&report_of(&network, numbers, with_debug));
    }

    #[test]
    fn of_an_operation_more_only_its_steps_are_unmatched(
        network in network(),
        put_in in network(),
        place in 0..30_usize,
        numbers: bool,
        with_debug: bool,
    ) {
        let mut more = network.clone();
        let put_in = put_in[0].clone();
        more.insert(place % (network.len() + 1), put_in.clone());
        let (source, target) =
            (report_of(&network, numbers, with_debug), report_of(&more, numbers, with_debug));
        let matching = matched(&source, &target);
        check(&matching, &source, &target);
        let counts = matching.steps.counts();
        prop_assert_eq!((counts.only_source, counts.only_target), (0, put_in.1.len()));
        prop_assert_eq!(matching.programs.only_target().count(), put_in.1.len());
        let compute_sets = put_in.1.iter().filter(|part| PARTS[**part].0 == "OnTileExecute").count();
        prop_assert_eq!(matching.compute_sets.only_target().count(), compute_sets);
        let exchanges = put_in.1.iter().filter(|part| PARTS[**part].0 == "DoExchange").count();
        prop_assert_eq!(matching.exchanges.only_target().count(), exchanges);
        prop_assert_eq!(matching.variables.counts().only_source, 0);
        // And with the sides swapped.
        let matching = matched(&target, &source);
        check(&matching, &target, &source);
        let counts = matching.steps.counts();
        prop_assert_eq!((counts.only_source, counts.only_target), (put_in.1.len(), 0));
    }

    #[test]
    fn it_does_not_matter_which_is_the_source(
        one in network(),
        other in network(),
        numbers: bool,
        with_debug: (bool, bool),
    ) {
        let (source, target) =
            (report_of(&one, numbers, with_debug.0), report_of(&other, numbers, with_debug.1));
        let (there, back) = (matched(&source, &target), matched(&target, &source));
        check(&there, &source, &target);
        for ((list, there), (_, back)) in lists(&there).into_iter().zip(lists(&back)) {
            let mut turned: Vec<(usize, usize)> = back.iter().map(|(to, from)| (from, to)).collect();
            turned.sort_unstable();
            prop_assert_eq!(there.iter().collect::<Vec<_>>(), turned, "{}", list);
            for (from, to) in there.iter() {
                prop_assert_eq!(there.sureness(from), back.sureness(to), "{} {}", list, from);
            }
        }
    }
}

#[test]
fn numbers_that_have_moved_on_by_some_do_not_mislead() {
    // Poplar's number of the operation and of the compute set are in all names. One operation more, and
    // each has the numbers that the one after it had.
    let parts = |kinds: &[&str]| -> Vec<Step> {
        let mut steps = Vec::new();
        for (number, kind) in kinds.iter().enumerate() {
            let operation = format!("{number}/{kind}");
            steps.push(step(
                "DoExchange",
                &format!("cs{number}_{operation}/ExchangePre"),
                &operation,
            ));
            steps.push(step("WriteUndef", "", &operation));
            steps.push(step("OnTileExecute", &format!("{operation}/Reduce"), &operation));
            if *kind == "conv" {
                steps.push(step("OnTileExecute", &format!("{operation}/Cast"), &operation));
            }
        }
        steps
    };
    let kinds = ["conv", "relu"].repeat(20);
    let mut more = kinds.clone();
    more.splice(4..4, ["matMul", "add"]);
    for with_debug in [false, true] {
        let (source, target) =
            (report(&parts(&kinds), &[], with_debug), report(&parts(&more), &[], with_debug));
        let matching = matched(&source, &target);
        assert_eq!(matching.steps.only_source().count(), 0);
        assert_eq!(matching.steps.only_target().collect::<Vec<_>>(), (14..20).collect::<Vec<_>>());
        assert_eq!(matching.operations.only_target().count(), if with_debug { 2 } else { 0 });
        let counts = matching.steps.counts();
        assert!(counts.exact >= 10 && counts.likely >= 80 && counts.weak == 0, "{counts:?}");
    }
}

#[test]
fn what_stays_the_same_among_many_edits_is_found() {
    let network: Vec<Step> = (0..400)
        .flat_map(|operation| {
            let parts = [0, 1, 3, 4, 1, 2, 5, 0, 1, 1, 6, 4].repeat(4);
            let name = format!("layer{}.{}.conv1", operation / 3, operation % 3);
            parts.into_iter().map(move |part| {
                let (kind, part) = PARTS[part];
                step(
                    kind,
                    &part.replace("{n}", &operation.to_string()).replace("{o}", &name),
                    &name,
                )
            })
        })
        .collect();
    let (mut edited, mut kept) = (Vec::new(), Vec::new());
    for (place, original) in network.iter().enumerate() {
        // Every twentieth is left out, called something else, or has something before it.
        match (place * 7919) % 60 {
            0 => {}
            20 => edited.push(step(original.kind, &format!("other{place}"), &original.operation)),
            new => {
                if new == 40 {
                    edited.push(network[place.saturating_sub(5)].clone());
                }
                kept.push((place, edited.len()));
                edited.push(original.clone());
            }
        }
    }
    for with_debug in [true, false] {
        let (source, target) =
            (report(&network, &[], with_debug), report(&edited, &[], with_debug));
        let matching = matched(&source, &target);
        check(&matching, &source, &target);
        let found = kept.iter().filter(|(from, to)| matching.steps.target_of(*from) == Some(*to));
        // What comes before may equal what it was put before: then either may be the one that stayed.
        let found = found.count();
        assert!(found * 100 >= kept.len() * 97, "{found} of {}", kept.len());
        let counts = matching.steps.counts();
        assert!(counts.matched >= kept.len(), "{counts:?}");
        assert!(counts.weak * 100 <= kept.len() * 3, "{counts:?}");
    }
}

#[test]
fn steps_of_one_kind_between_pairs_are_weak_and_other_operations_stay_apart() {
    let source = [
        step("Sequence", "main", ""),
        step("OnTileExecute", "a/first", "a"),
        step("OnTileExecute", "a/old", "a"),
        step("DoExchange", "a/old", "a"),
        step("OnTileExecute", "b/x", "b"),
        step("OnTileExecute", "layer1.0/x", ""),
        step("Sync", "", ""),
    ];
    let target = [
        step("Sequence", "main", ""),
        step("OnTileExecute", "a/first", "a"),
        step("OnTileExecute", "a/new", "a"),
        step("OnTileExecute", "c/x", "c"),
        step("OnTileExecute", "layer1.1/x", ""),
        step("Sync", "", ""),
    ];
    let (source, target) = (report(&source, &[], true), report(&target, &[], true));
    let matching = matched(&source, &target);
    check(&matching, &source, &target);
    let found: Vec<_> = (0..7)
        .map(|step| matching.steps.target_of(step).zip(matching.steps.sureness(step)))
        .collect();
    let (exact, weak) = (Sureness::Exact, Sureness::Weak);
    let expected = [
        Some((0, exact)),
        Some((1, exact)),
        Some((2, weak)),
        None,
        None,
        Some((4, weak)),
        Some((5, exact)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn reports_without_anything_in_common_and_without_steps() {
    let source = report(&[step("OnTileExecute", "x", "a")], &["v".to_owned()], true);
    let target = report(&[step("OnTileExecute", "y", "b")], &["w".to_owned()], true);
    let matching = matched(&source, &target);
    assert!(lists(&matching).iter().all(|(_, pairs)| pairs.iter().next().is_none()));
    assert_eq!(matching.steps.counts().only_source, 1);
    assert!(match_reports(&source, &report(&[], &[], true), &|| false).is_none());
    assert!(match_reports(&Report::default(), &source, &|| false).is_none());
    let many: Vec<Step> = (0..50).map(|number| step("Sync", &number.to_string(), "")).collect();
    let turned: Vec<Step> = many.iter().rev().cloned().collect();
    let reports = (report(&many, &[], true), report(&turned, &[], true));
    assert!(match_reports(&reports.0, &reports.1, &|| true).is_none(), "cancelled");
}

/// A report directory with all that matching looks at.
fn read(path: &Path) -> OpenReport {
    let progress = Progress::default();
    let open = OpenReport::open(path, &progress).unwrap();
    open.read_debug_info(&progress);
    open.read_compute(&progress);
    open
}

#[test]
fn convolutions_are_matched_whatever_their_plan() {
    let directory = tempfile::tempdir().unwrap();
    let [source, target] = [0.75, 0.6].map(|proportion| {
        let path = directory.path().join(directory_name(proportion));
        write_report(&options(proportion), &path, &Progress::default()).unwrap();
        read(&path)
    });
    let (source, target) = (&*source.report, &*target.report);
    let matching = matched(source, target);
    check(&matching, source, target);
    // Every convolution has one step that convolves, and its name is nobody else's.
    let convolves = |report: &Report| -> Vec<(usize, String)> {
        let steps = 0..report.steps.get().unwrap().ids.len();
        let named =
            steps.filter_map(|step| Some((step, steps::name(report, None, step)?.to_owned())));
        named.filter(|(_, name)| name.ends_with("/Conv/Convolve")).collect()
    };
    let (from, to) = (convolves(source), convolves(target));
    assert_eq!((from.len(), to.len()), (100, 100));
    for ((from, name), (to, same)) in from.iter().zip(&to) {
        assert_eq!(name, same);
        assert_eq!(matching.steps.target_of(*from), Some(*to), "{name}");
        assert_eq!(matching.steps.sureness(*from), Some(Sureness::Exact), "{name}");
    }
    assert!(from.iter().zip(&to).any(|(from, to)| from.0 != to.0), "the step numbers differ");
    // The plans differ by steps of one side only, and by nothing that is the same.
    let counts = matching.steps.counts();
    assert_eq!((counts.only_source, counts.weak), (0, 0), "{counts:?}");
    let loops = ["Repeat", "Sequence", "OnTileExecute"];
    for step in matching.steps.only_target() {
        let facts = steps::facts(target, None, step).unwrap();
        assert!(loops.contains(&facts.kind.as_deref().unwrap()), "{facts:?}");
        assert!(
            facts
                .name
                .is_none_or(|name| name.ends_with("/SliceIn") || name.ends_with("/UpdateOut"))
        );
    }
    assert!(counts.only_target > 0);
    for (list, pairs) in lists(&matching) {
        assert_eq!(pairs.only_source().count(), 0, "{list}");
    }
    check_with_itself(source);
}

#[test]
fn a_real_report_with_and_without_its_debug_information() {
    let Some(path) = crate::common::real_report("poplar-3.3") else { return };
    let whole = read(&path);
    check_with_itself(&whole.report);
    // The same profile; its debug information ends in the middle and has no names.
    let Some(path) = crate::common::real_report("poplar-3.3-interrupted") else { return };
    let cut = read(&path);
    check_with_itself(&cut.report);
    let absent = OpenReport::open(&path, &Progress::default()).unwrap();
    absent.report.debug.fill(None);
    for other in [cut, absent] {
        let matching = matched(&whole.report, &other.report);
        check(&matching, &whole.report, &other.report);
        for step in 0..111 {
            assert_eq!(matching.steps.target_of(step), Some(step));
        }
        assert_eq!(matching.compute_sets.iter().count(), 27);
        assert_eq!(matching.variables.counts().exact, matching.variables.source_len());
    }
}
