//! Insights of small reports: every technique where it has evidence, and none where it has not.

use std::sync::Arc;

use proptest::prelude::*;

use super::advice::IpuTechnique;
use super::fixture::{Call, Fixture, Variable, always, call, temporary};
use super::verdict::OverCause;
use super::{PoplarInsights, insights_of_resident};
use crate::analysis::derived::Derived;
use crate::analysis::fixture::side_facts;
use crate::run::advice::Sample;
use crate::run::{Advice, Evidence, Place, Saving};
use crate::store::Report;
use crate::store::log::{Log, LogMessage};
use crate::store::options::About;

fn of(fixture: &Fixture) -> PoplarInsights {
    of_report(fixture.report())
}

fn of_report(report: Report) -> PoplarInsights {
    insights_of_resident(&Derived::new(Arc::new(report)))
}

/// Of a report that has `app.json` with a fact.
fn of_app(report: Report, path: &str, value: &str) -> PoplarInsights {
    let app = side_facts(&[(path, value)]);
    report.about.fill(Some(About { app, ..About::default() }));
    of_report(report)
}

fn ids(insights: &PoplarInsights) -> Vec<IpuTechnique> {
    let of = |advice: &Advice| IpuTechnique::ALL.into_iter().find(|of| of.key() == advice.id);
    insights.advice.iter().filter_map(of).collect()
}

fn place(evidence: &Evidence) -> Place {
    evidence.place.clone().unwrap_or_default()
}

fn advice(insights: &PoplarInsights, id: IpuTechnique) -> &Advice {
    let found = insights.advice.iter().find(|advice| advice.id == id.key());
    found.unwrap_or_else(|| panic!("{id:?} among {:?}", ids(insights)))
}

fn saving(insights: &PoplarInsights, id: IpuTechnique) -> &Saving {
    advice(insights, id).saving.as_ref().expect("a saving")
}

fn saved(insights: &PoplarInsights, id: IpuTechnique) -> u64 {
    let saving = saving(insights, id);
    saving.expected_bytes.or(saving.at_most_bytes).expect("bytes")
}

/// One tile of 100 bytes, 20 always live, one convolution with 90 bytes of temporaries.
fn one_convolution() -> Fixture {
    Fixture {
        calls: vec![call("convolution", "conv", 0.95)],
        steps: vec![None, Some(0), Some(0), None],
        variables: vec![
            always("weight", &[20, 20]),
            temporary("<anon>", 1..3, &[30, 10]),
            temporary("<rearrangement:x>", 2..3, &[60, 20]),
        ],
        tiles_per_ipu: 2,
        ..Fixture::default()
    }
}

#[test]
fn a_lower_proportion_is_as_low_as_it_must_be() {
    let found = of(&one_convolution());
    let verdict = found.verdict.as_ref().expect("a verdict");
    let failure = verdict.failure.as_ref().expect("tile 0 is over by 10");
    assert_eq!((failure.over_bytes, failure.worst_tile, failure.tiles.as_str()), (10, 0, "0"));
    assert_eq!(failure.cause, Some(OverCause::Imbalance), "both tiles together need 160 of 200");
    let id = IpuTechnique::LowerAvailableMemoryProportion;
    let lower = advice(&found, id);
    // 80 may be left of its temporaries, less 3 to spare, of a plan that takes a tenth more than it may.
    assert_eq!((lower.proposal.now.as_slice(), lower.proposal.suggested), (&[0.95][..], Some(0.7)));
    assert_eq!((lower.proposal.direction, lower.proposal.next), (Some("lower"), Some(0.59)));
    let saving = saving(&found, id);
    assert_eq!((saving.expected_bytes, saving.of_bytes, saving.arenas), (Some(10), 10, Some(1)));
    assert_eq!((saving.at_least_bytes, saving.at_most_bytes), (Some(10), Some(10)));
    assert_eq!(lower.makes_it_fit, Some(true));
    assert!(says_that_something_is_left(lower));
    let evidence = &lower.evidence[0];
    assert_eq!((evidence.bytes, place(evidence).step), (Some(90), Some(2)));
    assert_eq!(place(evidence).arena.as_deref(), Some("0"));
    assert_eq!(place(evidence).operation.as_deref(), Some("conv"));
    assert_eq!(
        place(evidence).selected_operation.as_ref().and_then(|one| one.kind.as_deref()),
        Some("convolution")
    );
    assert!(evidence.text.contains("convolution conv") && evidence.text.contains("0.95"));
    assert!(found.not_advised.is_empty());
    let must_go = &found.must_go[0];
    assert_eq!((must_go.tile, must_go.step, must_go.bytes), (Some(0), Some(2), 60));
    assert!(must_go.is_enough && must_go.variables.len() == 1);
    let operation = must_go.variables[0].operation.as_ref().expect("an operation");
    assert_eq!(operation.name.as_deref(), Some("conv"));
}

#[test]
fn nothing_is_promised_of_a_plan_that_must_become_much_smaller() {
    let mut fixture = one_convolution();
    fixture.variables[0] = always("weight", &[60, 20]);
    let found = of(&fixture);
    let id = IpuTechnique::LowerAvailableMemoryProportion;
    let lower = advice(&found, id);
    // 40 may be left of 90, less 3: (40 - 3) / 1.1.
    assert_eq!(lower.proposal.suggested, Some(0.33));
    let saving = saving(&found, id);
    assert_eq!((saving.expected_bytes, saving.at_least_bytes), (Some(50), None));
    let sentence = saving.sentence(&|bytes| bytes.to_string());
    assert_eq!(sentence, "Saves about 50 of the 50 that is over");
    assert_eq!(lower.makes_it_fit, None, "not for sure");
    assert!(says_that_something_is_left(lower));
    // Nothing that PopLibs advises leaves enough: 1 may be left of 90.
    fixture.variables[0] = always("weight", &[99, 20]);
    let found = of(&fixture);
    let lowest = advice(&found, IpuTechnique::LowerAvailableMemoryProportion);
    assert_eq!(lowest.proposal.suggested, Some(0.05));
    assert!(!says_that_something_is_left(lowest));
}

/// Whether a value was chosen so that something is to spare.
fn says_that_something_is_left(advice: &Advice) -> bool {
    let saving = advice.saving.as_ref().expect("a saving");
    saving.basis.contains("a thirty-second of a tile")
}

#[test]
fn fewer_samples_do_not_shrink_what_a_plan_may_take() {
    // The convolution takes 90 of the 95 that it may, and may take 95 with half as many samples, by a faster plan.
    let found = of_app(one_convolution().report(), "batch_size", "8");
    let smaller = advice(&found, IpuTechnique::SmallerBatch);
    assert_eq!((smaller.proposal.option, smaller.proposal.suggested), (Some("batch"), Some(4.0)));
    assert_eq!(smaller.saving.as_ref().map(|saving| saving.at_least_bytes), Some(None));
    assert!(!says_that_something_is_left(smaller), "halved, for no number of samples is enough");
    // Without a proportion it grows with the batch: 6 of 8 samples leave 20 + 68, and 7 leave 99 and nothing to spare.
    let mut alone = one_convolution();
    alone.calls[0].proportion = None;
    let found = of_app(alone.report(), "batch_size", "8");
    let smaller = advice(&found, IpuTechnique::SmallerBatch);
    assert_eq!((smaller.proposal.suggested, smaller.proposal.next), (Some(6.0), Some(4.0)));
    assert!(says_that_something_is_left(smaller));
    assert_eq!(smaller.saving.as_ref().map(|saving| saving.at_least_bytes), Some(Some(10)));
}

#[test]
fn what_is_always_live_bounds_the_proportion() {
    let found = of(&one_convolution());
    let of_id = |found: &PoplarInsights, id: &str| {
        found.conclusions.iter().find(|conclusion| conclusion.id == id).cloned()
    };
    let share = of_id(&found, "always-live-share").expect("a conclusion");
    assert!(share.text.contains("20 % of tile 0"), "{}", share.text);
    assert!(share.text.contains("above 0.8 cannot fit"), "{}", share.text);
    assert_eq!(share.evidence[0].bytes, Some(20));
    assert_eq!(of_id(&found, "split-the-model"), None);
    let mut large = one_convolution();
    large.variables.push(always("embedding", &[250, 260]));
    let found = of(&large);
    assert!(of_id(&found, "always-live-share").expect("one").text.contains("no proportion fits"));
    assert!(of_id(&found, "split-the-model").is_some(), "670 of 200");
    assert!(of_id(&found, "variable-larger-than-an-ipu").is_some(), "510 of 200");
    let mut many = one_convolution();
    many.variables.extend([always("a", &[150, 150]), always("b", &[150, 150])]);
    let found = of(&many);
    assert!(of_id(&found, "no-variable-larger-than-an-ipu").is_none(), "300 of 200");
    many.variables.truncate(3);
    many.variables.extend([always("a", &[90, 90]), always("b", &[90, 90])]);
    assert!(of_id(&of(&many), "no-variable-larger-than-an-ipu").is_some(), "180 of 200");
    let fits = of(&Fixture { limit: 1000, ..one_convolution() });
    assert!(fits.conclusions.is_empty(), "{:?}", fits.conclusions);
}

#[test]
fn of_many_tiles_some_are_looked_at_and_stand_for_the_others() {
    let over: Vec<u32> = (0..300).map(|tile| 101 + tile % 50).collect();
    let fixture = Fixture {
        calls: vec![call("convolution", "conv", 1.0)],
        steps: vec![None, Some(0)],
        variables: vec![temporary("<anon>", 1..2, &over)],
        tiles_per_ipu: 300,
        ..Fixture::default()
    };
    let found = of(&fixture);
    let saving = saving(&found, IpuTechnique::LowerAvailableMemoryProportion);
    let sample = Sample { looked_at: 64, of: 300, things: "tiles" };
    let all: u32 = over.iter().map(|bytes| bytes - 100).sum();
    assert_eq!((saving.sample, saving.of_bytes), (Some(sample), u64::from(all)));
    let sentence = saving.sentence(&|bytes| bytes.to_string());
    assert!(sentence.ends_with("(worked out on 64 of these 300 tiles)"), "{sentence}");
    assert_eq!(saving.expected_bytes, Some(all.into()), "a part stands for all");
    assert_eq!(saving.arenas, Some(300));
}

#[test]
fn without_bytes_by_tile_all_tiles_are_one_place() {
    let fixture = Fixture { by_tile: false, ..one_convolution() };
    let found = of(&fixture);
    let saving = saving(&found, IpuTechnique::LowerAvailableMemoryProportion);
    assert_eq!((saving.expected_bytes, saving.arenas), (Some(10), None));
    assert_eq!((found.must_go.len(), found.must_go[0].tile), (1, None));
}

#[test]
fn a_lower_proportion_changes_nothing_at_the_minimum() {
    let warning = LogMessage { kind: "planner-at-minimum", line: 7, text: String::new() };
    let logs = vec![Log { file: "compile.log".to_owned(), messages: vec![warning] }];
    let at = |proportion, logs: Vec<Log>| {
        let calls = vec![call("convolution", "conv", proportion)];
        let report = Fixture { calls, ..one_convolution() }.report();
        report.logs.fill(Some(logs));
        of_report(report)
    };
    let found = at(0.1, logs.clone());
    assert!(!ids(&found).contains(&IpuTechnique::LowerAvailableMemoryProportion));
    let not = &found.not_advised[0];
    assert_eq!(not.id, IpuTechnique::LowerAvailableMemoryProportion.key());
    assert!(not.why.contains("changes nothing"), "{}", not.why);
    assert_eq!(place(&not.evidence[0]).file.as_deref(), Some("compile.log"));
    // The log is of another operation: this one is within what it is allowed.
    let found = at(0.95, logs);
    assert!(ids(&found).contains(&IpuTechnique::LowerAvailableMemoryProportion));
    assert!(found.not_advised.is_empty());
    let found = at(0.05, Vec::new());
    assert!(found.not_advised[0].why.contains("advises against"));
    assert!(!ids(&found).contains(&IpuTechnique::LowerAvailableMemoryProportion));
}

#[test]
fn operands_on_few_tiles_want_a_higher_proportion() {
    let mut on_two = [0; 16];
    (on_two[3], on_two[4]) = (96, 96);
    let fixture = |kind| Fixture {
        calls: vec![Call { kind, ..call("", "conv", 0.02) }],
        steps: vec![None, Some(0), None],
        variables: vec![
            always("weight", &[20; 16]),
            temporary("<rearrangement:x>", 1..2, &on_two),
            temporary("x", 0..3, &[2; 16]),
        ],
        tiles_per_ipu: 16,
        ..Fixture::default()
    };
    let found = of(&fixture("convolution"));
    let id = IpuTechnique::RaiseAvailableMemoryProportion;
    let raise = advice(&found, id);
    // The least value that is worth a try.
    assert_eq!((raise.proposal.direction, raise.proposal.suggested), (Some("raise"), Some(0.05)));
    assert_eq!(saved(&found, id), 36, "both tiles, over by 18 each");
    assert!(
        raise.evidence[0].text.contains("held entirely by 2 such tiles"),
        "{}",
        raise.evidence[0].text
    );
    assert_eq!(place(&raise.evidence[0]).variable.as_deref(), Some("<rearrangement:x>"));
    // The same of something that has no plan, which is a matter of its layout.
    let mut other = fixture("gather");
    other.calls[0].proportion = None;
    let found = of(&other);
    assert_eq!(saved(&found, IpuTechnique::BalanceTheTiles), 36);
    assert!(!ids(&found).contains(&IpuTechnique::RaiseAvailableMemoryProportion));
}

#[test]
fn partials_are_halved_where_they_are_float() {
    let with = |partials| {
        let mut fixture = one_convolution();
        fixture.calls[0].partials = partials;
        of(&fixture)
    };
    let found = with(Some("float"));
    assert_eq!(saved(&found, IpuTechnique::HalfPrecisionPartials), 10, "15 bytes, 10 are over");
    for partials in [Some("half"), None] {
        assert!(!ids(&with(partials)).contains(&IpuTechnique::HalfPrecisionPartials));
    }
}

#[test]
fn the_batch_is_that_of_the_side_file() {
    let with = |name: &str, batch: &str| {
        of_app(one_convolution().report(), &format!("training / {name}"), batch)
    };
    let found = with("batch_size", "12");
    let smaller = advice(&found, IpuTechnique::SmallerBatch);
    assert!(smaller.text.contains("6 instead of 12"), "{}", smaller.text);
    assert_eq!(place(&smaller.evidence[1]).file.as_deref(), Some("app.json"));
    assert!(!ids(&with("Micro-Batch-Size", "1")).contains(&IpuTechnique::SmallerBatch));
    let unknown = with("batches", "1");
    assert!(advice(&unknown, IpuTechnique::SmallerBatch).text.contains("half as many"));
}

#[test]
fn activations_that_are_kept_can_be_computed_again() {
    let mut fixture = Fixture {
        steps: vec![None; 12],
        variables: vec![
            always("weight", &[50]),
            temporary("a", 0..12, &[20]),
            temporary("b", 2..11, &[20]),
            temporary("c", 4..10, &[20]),
            temporary("d", 6..7, &[5]),
        ],
        ..Fixture::default()
    };
    let found = of(&fixture);
    assert_eq!(saved(&found, IpuTechnique::RecomputeActivations), 15);
    let evidence = &advice(&found, IpuTechnique::RecomputeActivations).evidence;
    let names: Vec<_> = evidence.iter().filter_map(|row| place(row).variable).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(evidence[1].text.contains("since step 2"), "{}", evidence[1].text);
    // All of them from the beginning: no forward pass.
    fixture.variables[2].life = Some(0..11);
    fixture.variables[3].life = Some(0..10);
    assert!(!ids(&of(&fixture)).contains(&IpuTechnique::RecomputeActivations));
}

#[test]
fn state_of_the_optimiser_can_leave_be_shared_or_be_less() {
    let variables =
        vec![always("w", &[40]), always("Accl1___w", &[40]), always("Accl2___w", &[44])];
    let fixture = Fixture { replicas: 4, ..Fixture::of_one_step(variables) };
    let found = of(&fixture);
    for id in [
        IpuTechnique::OffloadVariables,
        IpuTechnique::ShardOverReplicas,
        IpuTechnique::OptimiserWithLessState,
    ] {
        assert_eq!(saved(&found, id), 24);
    }
    assert_eq!(advice(&found, IpuTechnique::OptimiserWithLessState).evidence.len(), 1);
    let alone = of(&Fixture { replicas: 1, ..fixture });
    assert!(!ids(&alone).contains(&IpuTechnique::ShardOverReplicas));
}

#[test]
fn equal_operations_can_share_exchange_code() {
    let equal = |name, edges| Call { exchange_code: 20, edges, ..call("convolution", name, 0.6) };
    let fixture = |edges| Fixture {
        calls: vec![equal("block1/conv", 5), equal("block2/conv", edges), equal("block3/conv", 5)],
        steps: vec![Some(0), Some(1), Some(2)],
        variables: vec![always("internalExchangeCode", &[60]), always("w", &[50])],
        ..Fixture::default()
    };
    let found = of(&fixture(5));
    let id = IpuTechnique::OutlineEqualParts;
    let outline = advice(&found, id);
    assert!(
        outline.evidence[0].text.contains("3 equal operations"),
        "{}",
        outline.evidence[0].text
    );
    assert_eq!(outline.evidence[0].bytes, Some(60));
    assert_eq!(saved(&found, id), 10);
    assert_eq!(saved(&of(&fixture(6)), IpuTechnique::OutlineEqualParts), 10, "two are equal");
    let mut differs = fixture(6);
    differs.calls[2].edges = 7;
    assert!(!ids(&of(&differs)).contains(&IpuTechnique::OutlineEqualParts));
}

#[test]
fn different_proportions_keep_code_apart() {
    let fixture = |second| Fixture {
        calls: vec![call("convolution", "a", 0.6), call("convolution", "b", second)],
        steps: vec![Some(0), Some(1)],
        variables: vec![always("controlCode", &[60]), always("w", &[50])],
        ..Fixture::default()
    };
    let found = of(&fixture(0.2));
    let id = IpuTechnique::OneProportionForEqualOperations;
    let one = advice(&found, id);
    assert_eq!((one.proposal.now.as_slice(), &one.saving), (&[0.2, 0.6][..], &None));
    assert!(!ids(&of(&fixture(0.6))).contains(&id));
}

#[test]
fn one_operation_that_owns_the_peak_is_made_smaller() {
    let mut fixture = one_convolution();
    fixture.calls[0].kind = "matMul";
    let found = of(&fixture);
    let id = IpuTechnique::MakeOneOperationSmaller;
    let smaller = advice(&found, id);
    assert!(smaller.text.contains("Serialize matMul conv"), "{}", smaller.text);
    assert_eq!(saved(&found, id), 10);
    fixture.calls.push(call("convolution", "other", 0.9));
    fixture.steps.push(Some(1));
    fixture.variables.push(temporary("<anon>", 4..5, &[95, 0]));
    assert!(!ids(&of(&fixture)).contains(&IpuTechnique::MakeOneOperationSmaller));
}

#[test]
fn a_full_ipu_gives_to_one_with_room() {
    let fixture = |bytes: &[u32]| Fixture {
        tiles_per_ipu: 2,
        ..Fixture::of_one_step(vec![always("w", bytes)])
    };
    let found = of(&fixture(&[120, 110, 10, 15]));
    let id = IpuTechnique::PipelineAndMoveSplitPoints;
    let split = advice(&found, id);
    assert!(split.text.contains("from IPU 0 to IPU 1"), "{}", split.text);
    assert_eq!(saved(&found, id), 30);
    assert!(!ids(&of(&fixture(&[120, 110]))).contains(&id));
    let found = of(&fixture(&[250, 210]));
    let split = advice(&found, IpuTechnique::PipelineAndMoveSplitPoints);
    assert_eq!(split.text, "Split the model over more IPUs: 3 instead of 1");
    assert_eq!((split.proposal.option, split.proposal.suggested), (Some("ipus"), Some(3.0)));
    assert_eq!((&split.saving, split.makes_it_fit), (&None, None));
}

#[test]
fn streams_count_where_they_are_large() {
    let fixture =
        |bytes| Fixture::of_one_step(vec![always("w", &[120]), always("hostMessage", &[bytes])]);
    let id = IpuTechnique::FewerAndSmallerHostStreams;
    assert_eq!(saved(&of(&fixture(10)), id), 10);
    assert!(!ids(&of(&fixture(1))).contains(&id));
}

#[test]
fn gaps_are_a_matter_of_placement() {
    let fixture = Fixture { gap: 16, ..Fixture::of_one_step(vec![always("w", &[90, 104])]) };
    let found = of(&fixture);
    let failure = found.verdict.as_ref().and_then(|verdict| verdict.failure.clone()).unwrap();
    assert_eq!((failure.gap_bytes, failure.would_fit_without_gaps), (32, 1));
    assert_eq!(failure.gaps, None, "they were not read");
    assert_eq!(saved(&found, IpuTechnique::LoseLessToGaps), 6 + 16);
    let saving = saving(&found, IpuTechnique::LoseLessToGaps);
    assert_eq!((saving.arenas, saving.expected_bytes), (Some(1), None));
    let only_gaps = of(&Fixture { variables: vec![always("w", &[90, 80])], ..fixture });
    let failure = only_gaps.verdict.and_then(|verdict| verdict.failure).unwrap();
    assert_eq!(failure.cause, Some(OverCause::Placement));
}

#[test]
fn what_fits_is_left_alone_but_for_much_room() {
    let fixture = |limit| Fixture { limit, ..one_convolution() };
    let found = of(&fixture(120));
    let room = found.verdict.as_ref().and_then(|verdict| verdict.room).expect("room");
    assert_eq!((room.tile, room.least_bytes, room.above_peak_bytes), (0, 10, Some(80)));
    assert!(found.advice.is_empty() && found.must_go.is_empty() && found.not_advised.is_empty());
    // All temporaries are 120 bytes on two tiles of 160, of which 0.95 allows 304.
    assert!(of(&fixture(160)).advice.is_empty(), "plans are not limited by it");
    let mut limited = fixture(160);
    limited.calls[0].proportion = Some(0.3);
    let found = of(&limited);
    let raise = advice(&found, IpuTechnique::RaiseAvailableMemoryProportion);
    assert_eq!((raise.proposal.now.as_slice(), &raise.saving), (&[0.3][..], &None));
    assert_eq!(raise.evidence[0].bytes, Some(50));
}

#[test]
fn of_an_empty_report_nothing_is_said() {
    let found = of_report(Report::default());
    assert_eq!((found.verdict, found.advice.len(), found.must_go.len()), (None, 0, 0));
    assert!(found.fullest_tiles.is_empty() && found.histogram.is_empty());
}

/// A report of a few steps, calls and variables.
fn fixtures() -> impl Strategy<Value = Fixture> {
    const NAMES: [&str; 6] =
        ["<anon>", "w", "x", "Accl1___w", "<message:x>", "internalExchangeCode"];
    const KINDS: [&str; 3] = ["convolution", "matMul", "reduce"];
    let variable = (
        0..NAMES.len(),
        proptest::option::of((0..8_u32, 1..8_u32)),
        proptest::collection::vec(0..60_u32, 4),
    );
    let variable = variable.prop_map(|(name, life, bytes)| Variable {
        name: NAMES[name],
        life: life.map(|(start, length)| start..(start + length).min(8)),
        bytes,
    });
    let call = (0..KINDS.len(), proptest::option::of(0.0..1.0));
    let call = call.prop_map(|(kind, proportion)| Call {
        kind: KINDS[kind],
        name: "a",
        proportion,
        partials: Some("float"),
        exchange_code: 5,
        edges: 1,
    });
    let calls = proptest::collection::vec(call, 3);
    let steps = proptest::collection::vec(proptest::option::of(0..3_usize), 8);
    let variables = proptest::collection::vec(variable, 1..9);
    (calls, steps, variables, 0..30_u64, any::<bool>(), 1..3_u64).prop_map(
        |(calls, steps, variables, gap, by_tile, ipus)| {
            let tiles_per_ipu = 4 / ipus;
            Fixture { tiles_per_ipu, calls, steps, variables, gap, by_tile, ..Fixture::default() }
        },
    )
}

proptest! {
    #[test]
    fn no_advice_without_evidence_and_none_saves_more_than_is_over(fixture in fixtures()) {
        let found = of(&fixture);
        let verdict = found.verdict.as_ref().expect("a verdict");
        prop_assert_eq!(verdict.fits, verdict.failure.is_none());
        // What two IPUs have alive together is the pressure on none of them.
        let is_known = fixture.by_tile || fixture.tiles_per_ipu == 4;
        prop_assert_eq!(verdict.fits || !is_known, found.must_go.is_empty());
        prop_assert!(
            verdict.fits || !is_known || !found.advice.is_empty() || fixture.gap == 0
        );
        let mut last = Some(u64::MAX);
        for advice in &found.advice {
            prop_assert!(!advice.evidence.is_empty(), "{:?}", advice);
            let bytes = advice.saving.as_ref().map(Saving::ranking_bytes);
            prop_assert!(bytes <= last, "ranked");
            last = bytes;
            if let Some(saving) = &advice.saving {
                let over = verdict.failure.as_ref().map_or(0, |failure| failure.over_bytes);
                prop_assert_eq!(saving.of_bytes, over);
                let most = saving.at_most_bytes.expect("a bound");
                prop_assert!(bytes > Some(0) && bytes <= Some(most) && most <= over);
                prop_assert!(!saving.basis.is_empty());
            }
        }
        for tile in &found.must_go {
            prop_assert_eq!(tile.bytes, tile.variables.iter().map(|row| row.bytes).sum::<u64>());
            prop_assert!(tile.bytes <= tile.alive_bytes);
            let without_last: u64 = tile.variables.iter().rev().skip(1).map(|row| row.bytes).sum();
            prop_assert!(without_last < tile.over_bytes, "none is there for nothing");
        }
    }

    #[test]
    fn what_must_go_is_the_smallest_set(
        bytes in proptest::collection::vec(1..60_u32, 1..9),
        limit in 1..200_u64,
    ) {
        const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let variables = bytes.iter().zip(NAMES).map(|(bytes, name)| always(name, &[*bytes]));
        let fixture = Fixture { limit, ..Fixture::of_one_step(variables.collect()) };
        let all: u64 = bytes.iter().map(|bytes| u64::from(*bytes)).sum();
        let Some(found) = of(&fixture).must_go.first().cloned() else {
            prop_assert!(all <= limit);
            return Ok(());
        };
        prop_assert_eq!(found.over_bytes, all - limit);
        let enough = |set: u32| {
            let chosen = bytes.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
            chosen.map(|(_, bytes)| u64::from(*bytes)).sum::<u64>() >= found.over_bytes
        };
        let smallest = (0..1_u32 << bytes.len()).filter(|set| enough(*set)).map(u32::count_ones).min();
        prop_assert_eq!(Some(found.variables.len() as u32), smallest);
        prop_assert!(found.is_enough);
    }
}
