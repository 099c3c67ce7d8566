//! Insights of the six runs of the story, and of the real report.

use std::cmp::Reverse;
use std::path::Path;

use crate::common::{compared, real_report, summary, tiles};
use serde_json::Value;
use tilescope::analysis::memory::selection::TileSelection;
use tilescope::cli::tiles::TileBreakdown;
use tilescope::format::Progress;
use tilescope::store::TileId;
use tilescope::systems::poplar::insights::advice::IpuTechnique;
use tilescope::systems::poplar::synth::story::{PROPORTIONS, directory_name, story};
use tilescope::systems::poplar::synth::{ReportOptions, write_report};

const LIMIT: u64 = 638_976;

/// What one run says.
struct Run {
    insights: Value,
    summary: Value,
    tiles: Vec<Value>,
}

impl Run {
    fn read(path: &Path) -> Self {
        let summary = summary(path).unwrap();
        let tiles = tiles(path, TileBreakdown::Gaps).unwrap();
        Self {
            insights: summary["insights"].clone(),
            tiles: tiles["tiles"].as_array().unwrap().clone(),
            summary,
        }
    }

    fn over(&self) -> impl Iterator<Item = &Value> {
        self.tiles.iter().filter(|tile| number(tile, "over_limit_bytes") > 0)
    }

    /// Of the tiles that are over.
    fn sum_over(&self, key: &str) -> u64 {
        self.over().map(|tile| number(tile, key)).sum()
    }

    fn advice(&self, id: &str) -> &Value {
        let list = self.insights["advice"].as_array().unwrap();
        list.iter().find(|advice| advice["id"] == id).unwrap_or_else(|| panic!("{id} in {list:#?}"))
    }

    fn ids(&self) -> Vec<&str> {
        let list = self.insights["advice"].as_array().unwrap().iter();
        list.map(|advice| advice["id"].as_str().unwrap()).collect()
    }

    fn failure(&self) -> &Value {
        &self.summary["poplar"]["verdict"]["failure"]
    }
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} in {value}"))
}

/// Bytes that a piece of advice saves: those that are expected, or else the bound.
fn saved(advice: &Value) -> Option<u64> {
    let saving = &advice["saving"];
    saving["expected_bytes"].as_u64().or_else(|| saving["at_most_bytes"].as_u64())
}

/// The insights of `compare`.
fn insights_of_two(source: &Path, target: &Path) -> Value {
    compared(source, target).unwrap()["poplar"]["insights"].clone()
}

/// What is said of every run, whatever it is.
fn holds_of_every_run(run: &Run) {
    let poplar = &run.summary["poplar"];
    let (verdict, memory) = (&poplar["verdict"], &poplar["memory"]);
    assert_eq!(verdict["fits"], memory["fits"]);
    assert_eq!(verdict["used_bytes"], memory["including_gaps_bytes"]);
    assert_eq!(number(verdict, "capacity_bytes"), LIMIT * 1472);
    // Of a tile, as of every device.
    let of_run = &run.summary["verdict"];
    let fullest = number(&memory["fullest_tile"], "including_gaps_bytes");
    assert_eq!((number(of_run, "used_bytes"), number(of_run, "capacity_bytes")), (fullest, LIMIT));
    assert_eq!(number(of_run, "over_bytes"), fullest.saturating_sub(LIMIT));
    assert_eq!(of_run["outcome"] == "fits", verdict["fits"] == true);
    assert_eq!(of_run["cause"], verdict["failure"]["cause"]);
    assert_eq!(of_run["devices"].as_array().unwrap().len(), 1);
    let peak = &run.summary["liveness"]["peak"];
    for by in ["by_operation", "by_module"] {
        let rows = peak[by].as_array().unwrap().iter();
        assert_eq!(rows.map(|row| number(row, "bytes")).sum::<u64>(), number(peak, "bytes"));
    }
    let bins = poplar["histogram"].as_array().unwrap();
    assert_eq!(bins.iter().map(|bin| number(bin, "tiles")).sum::<u64>(), 1472);
    let over: u64 = bins
        .iter()
        .filter(|bin| number(bin, "above_bytes") >= LIMIT)
        .map(|bin| number(bin, "tiles"))
        .sum();
    assert_eq!(over, number(memory, "tiles_over_limit"), "the limit parts the histogram");
    assert_eq!(poplar["fullest_tiles"][0]["tile"], memory["fullest_tile"]["tile"]);
    let mut last = u64::MAX;
    for advice in run.insights["advice"].as_array().unwrap() {
        let evidence = advice["evidence"].as_array().unwrap();
        assert!(!evidence.is_empty(), "{advice}");
        let named = evidence.iter().all(|row| {
            let place = ["operation", "variable", "file"];
            !row["bytes"].is_null() || place.iter().any(|key| !row["place"][*key].is_null())
        });
        assert!(named, "names or figures of this report: {advice}");
        let bytes = saved(advice).unwrap_or(0);
        assert!(bytes <= last && bytes <= run.sum_over("over_limit_bytes"), "ranked: {advice}");
        last = bytes;
        assert!(!advice["caution"].as_str().unwrap().is_empty());
    }
    let Some(failure) = run.failure().as_object() else { return };
    assert_eq!(failure["tiles_over"], run.over().count());
    assert_eq!(failure["over_bytes"], run.sum_over("over_limit_bytes"));
    assert_eq!(failure["gap_bytes"], run.sum_over("gap_bytes"));
    let fit_without_gaps = run.over().filter(|tile| number(tile, "bytes") <= LIMIT).count();
    assert_eq!(failure["would_fit_without_gaps"], fit_without_gaps);
    let listed: TileSelection = failure["tiles"].as_str().unwrap().parse().unwrap();
    assert!(run.over().all(|tile| listed.contains(TileId(number(tile, "tile") as u32))));
    assert_eq!(listed.count(), run.over().count() as u64);
    let worst = &run.summary["poplar"]["must_go"][0];
    assert_eq!(worst["tile"], failure["worst_tile"]);
    assert_eq!(worst["over_bytes"], failure["worst_over_bytes"]);
    assert!(number(worst, "bytes") >= number(worst, "over_bytes") && worst["is_enough"] == true);
}

/// 0.8 and 0.75: convolutions own the peaks of every tile; a lower proportion is the cheapest that is enough.
fn convolutions_own_the_peaks(run: &Run, proportion: f64) {
    assert_eq!(run.failure()["cause"], "curve");
    assert_eq!(run.ids()[0], "lower-available-memory-proportion");
    let lower = run.advice("lower-available-memory-proportion");
    assert_eq!((&lower["direction"], &lower["now"][0]), (&"lower".into(), &proportion.into()));
    assert_eq!(lower["now"].as_array().unwrap().len(), 1);
    // 0.6 does not fit and 0.35 does.
    let suggested = lower["suggested"].as_f64().unwrap();
    assert!((0.3..0.6).contains(&suggested), "{suggested}");
    let over = run.sum_over("over_limit_bytes");
    assert_eq!(
        (number(&lower["saving"], "expected_bytes"), number(&lower["saving"], "of_bytes")),
        (over, over)
    );
    assert_eq!(lower["saving"]["arenas"], 1472);
    assert!(lower["saving"]["basis"].as_str().unwrap().contains(&suggested.to_string()));
    for row in lower["evidence"].as_array().unwrap() {
        let name = row["place"]["operation"].as_str().unwrap();
        let text = row["text"].as_str().unwrap();
        assert!(text.contains(&format!("convolution {name}")), "{text}");
        assert!(text.contains(&format!("availableMemoryProportion {proportion}")), "{text}");
        assert!(number(row, "bytes") > (suggested * LIMIT as f64) as u64, "{row}");
    }
    let frameworks: Vec<&str> = lower["how"]
        .as_array()
        .unwrap()
        .iter()
        .map(|how| how["framework"].as_str().unwrap())
        .collect();
    assert_eq!(frameworks, ["PopTorch", "TensorFlow", "PopART", "Poplar"]);
    assert!(lower["how"][0]["code"].as_str().unwrap().contains(&suggested.to_string()));
    let peak = &run.summary["poplar"]["liveness"]["peak"];
    let of_peak = lower["evidence"].as_array().unwrap().iter();
    let mut names = of_peak.map(|row| &row["place"]["operation"]);
    assert!(names.any(|name| *name == peak["operation"]["name"]), "that of the peak is among them");
    let batch = run.advice("smaller-batch");
    assert!(batch["text"].as_str().unwrap().contains("4 instead of 8"), "{batch}");
    assert!(
        run.advice("half-precision-partials")["evidence"][0]["text"]
            .as_str()
            .unwrap()
            .contains("float")
    );
    assert_eq!(run.insights["not_advised"].as_array().unwrap().len(), 0);
}

/// 0.6: the curve fits, placement does not.
fn placement_fails(run: &Run) {
    let failure = run.failure();
    assert_eq!(failure["cause"], "placement");
    assert_eq!(failure["need_more_at_one_step"], 0);
    let curve = &run.summary["poplar"]["verdict"]["curve"];
    assert!(number(curve, "bytes") <= number(curve, "limit_bytes"));
    let gaps = failure["gaps"].as_array().unwrap();
    // Of the tiles that are over the worst are looked at.
    let looked_at: TileSelection = failure["gaps_of"].as_str().unwrap().parse().unwrap();
    assert_eq!(looked_at.count(), 8);
    let tile = |tile: &Value| TileId(number(tile, "tile") as u32);
    let over = || run.over().filter(|row| looked_at.contains(tile(row)));
    assert_eq!(over().count(), 8, "all of them are over");
    let mut worst: Vec<&Value> = run.over().collect();
    worst.sort_by_key(|row| (Reverse(number(row, "over_limit_bytes")), tile(row)));
    assert!(worst.iter().take(8).all(|row| looked_at.contains(tile(row))), "the worst");
    for lost in gaps {
        let reason = lost["reason"].as_str().unwrap();
        let of_tiles: Vec<u64> = over()
            .filter_map(|tile| tile["by"][reason].as_u64())
            .filter(|bytes| *bytes > 0)
            .collect();
        assert_eq!(number(lost, "bytes"), of_tiles.iter().sum::<u64>(), "{reason}");
        assert_eq!(number(lost, "tiles"), of_tiles.len() as u64, "{reason}");
    }
    assert_eq!(gaps[0]["reason"], "element-constraint");
    let all: u64 = gaps.iter().map(|lost| number(lost, "bytes")).sum();
    assert_eq!(all, over().map(|row| number(row, "gap_bytes")).sum::<u64>());
    let advice = run.advice("lose-less-to-gaps");
    let gaps: u64 = run
        .over()
        .map(|tile| number(tile, "gap_bytes").min(number(tile, "over_limit_bytes")))
        .sum();
    assert_eq!(saved(advice), Some(gaps));
    assert!(advice["evidence"][0]["text"].as_str().unwrap().contains("element-constraint"));
    let lower = run.advice("lower-available-memory-proportion");
    assert!(lower["suggested"].as_f64().unwrap() < 0.4, "0.35 fits");
}

/// 0.01 and 0.005: the planner is at the minimum, its operands lie on few tiles.
fn operands_lie_on_few_tiles(run: &Run, proportion: f64) {
    let failure = run.failure();
    assert_eq!(failure["cause"], "imbalance");
    assert_eq!(failure["need_more_at_one_step"], run.over().count());
    assert_eq!(run.ids()[0], "raise-available-memory-proportion");
    let raise = run.advice("raise-available-memory-proportion");
    assert_eq!((&raise["direction"], &raise["now"][0]), (&"raise".into(), &proportion.into()));
    assert_eq!((&raise["suggested"], &raise["next"]), (&0.05.into(), &0.1.into()));
    assert_eq!(saved(raise), Some(run.sum_over("over_limit_bytes")));
    let evidence = raise["evidence"].as_array().unwrap();
    assert!(evidence.iter().any(|row| row["place"]["file"] == "compile.log"), "{evidence:#?}");
    let operands = &evidence[0];
    assert!(
        operands["text"].as_str().unwrap().contains("held entirely by 46 such tiles"),
        "{operands}"
    );
    assert!(operands["text"].as_str().unwrap().contains("alive for convolution "), "{operands}");
    assert!(operands["place"]["variable"].as_str().unwrap().starts_with("<rearrangement:"));
    assert!(!run.ids().contains(&"lower-available-memory-proportion"));
    let not = &run.insights["not_advised"][0];
    assert_eq!(not["id"], "lower-available-memory-proportion");
    let why = not["why"].as_str().unwrap();
    assert!(why.contains("changes nothing") && why.contains("minimum"), "{why}");
    assert_eq!(not["evidence"][0]["place"]["file"], "compile.log");
}

/// 0.35 fits, with so much room.
fn room_is_left(run: &Run) {
    let verdict = &run.summary["poplar"]["verdict"];
    assert_eq!(verdict["fits"], true);
    let room = &verdict["room"];
    let fullest = run.tiles.iter().map(|tile| number(tile, "including_gaps_bytes")).max().unwrap();
    assert_eq!(number(room, "least_bytes"), LIMIT - fullest);
    let alive = number(&run.summary["liveness"]["peak"], "bytes");
    assert_eq!(number(room, "above_peak_bytes"), LIMIT * 1472 - alive);
    assert!(
        run.ids().is_empty() && run.summary["poplar"]["must_go"].as_array().unwrap().is_empty()
    );
}

#[test]
fn the_story_is_understood() {
    let directory = tempfile::tempdir().unwrap();
    story().write(directory.path(), &Progress::default()).unwrap();
    let path = |proportion| directory.path().join(directory_name(proportion));
    let runs = PROPORTIONS.map(|proportion| Run::read(&path(proportion)));
    runs.iter().for_each(holds_of_every_run);
    let [at_08, at_075, at_06, at_035, at_001, at_0005] = &runs;
    convolutions_own_the_peaks(at_08, 0.8);
    convolutions_own_the_peaks(at_075, 0.75);
    placement_fails(at_06);
    room_is_left(at_035);
    operands_lie_on_few_tiles(at_001, 0.01);
    operands_lie_on_few_tiles(at_0005, 0.005);

    let change = |source, target| insights_of_two(&path(source), &path(target));
    let lowered = change(0.75, 0.6);
    let of_kind = |list: &Value, kind: &str| {
        list.as_array().unwrap().iter().find(|insight| insight["kind"] == kind).cloned().unwrap()
    };
    let fits = of_kind(&lowered, "fits");
    assert!(fits["what"].as_str().unwrap().starts_with(
        "It did not fit before and still does not: 221 tiles are over their limit, and 1,472 were"
    ));
    assert_eq!(number(&fits["bytes"], "source"), at_075.sum_over("over_limit_bytes"));
    let temporaries = of_kind(&lowered, "temporaries");
    let peak =
        |run: &Run| number(&run.summary["poplar"]["liveness"]["peak"], "not_always_live_bytes");
    assert_eq!(temporaries["bytes"]["source"], peak(at_075));
    assert_eq!(temporaries["bytes"]["target"], peak(at_06));
    assert_eq!(temporaries["is_better"], true);
    // The peak moved, so what it consists of is told at matched steps.
    assert_eq!(temporaries["largest"], serde_json::json!([]));
    let moved = of_kind(&lowered, "peak-moved");
    assert_eq!(moved["largest"][0]["operation"]["kind"], "convolution");
    let always_live = of_kind(&lowered, "always-live");
    assert_eq!(
        (&always_live["is_better"], always_live["largest"].as_array().unwrap().len()),
        (&false.into(), 3)
    );
    // Nor does a lower peak help that does not decide it.
    let trade = of_kind(&lowered, "trade");
    assert!(trade["what"].as_str().unwrap().contains("was not enough"), "{trade}");
    assert_eq!(trade["is_better"], Value::Null);
    // What lies between says nothing new: the best plans fit the budget, or the planner cannot do with less.
    let same = change(0.8, 0.75);
    let equal = of_kind(&same, "equal-plans")["what"].as_str().unwrap().to_owned();
    assert!(
        equal.starts_with(
            "An availableMemoryProportion of 0.75 changes nothing compared with 0.8: the plans of all"
        ),
        "{equal}"
    );
    assert!(same.as_array().unwrap().iter().all(|insight| insight["is_better"].is_null()));
    let at_minimum = of_kind(&change(0.01, 0.005), "planner-at-minimum");
    let text = at_minimum["what"].as_str().unwrap();
    assert!(
        text.starts_with("In both the planner is at its minimum memory")
            && text.ends_with(": 0.005 is 0.01"),
        "{text}"
    );
    assert!(same.as_array().unwrap().iter().all(|insight| insight["kind"] != "planner-at-minimum"));
    let fitting = change(0.6, 0.35);
    assert!(
        of_kind(&fitting, "fits")["what"]
            .as_str()
            .unwrap()
            .starts_with("It did not fit before and fits now")
    );
    let too_low = change(0.35, 0.01);
    assert!(of_kind(&too_low, "fits")["what"].as_str().unwrap().contains("no longer fits"));
    assert_eq!(of_kind(&too_low, "balance")["is_better"], false, "the peak fell, a tile did not");
    assert!(of_kind(&too_low, "trade")["what"].as_str().unwrap().contains("was not worth it"));
}

#[test]
fn of_the_real_report_nothing_is_invented() {
    for name in ["poplar-3.3", "poplar-3.3-interrupted"] {
        let Some(path) = real_report(name) else { return };
        let summary = summary(&path).unwrap();
        let (insights, poplar) = (&summary["insights"], &summary["poplar"]);
        let verdict = &poplar["verdict"];
        assert_eq!((&verdict["fits"], &verdict["failure"]), (&true.into(), &Value::Null));
        assert_eq!(number(&verdict["room"], "least_bytes"), LIMIT - 32_804);
        assert_eq!(verdict["room"]["tile"], 0);
        let peak = 2_705_487 + 759_828;
        assert_eq!(number(&verdict["room"], "above_peak_bytes"), LIMIT * 1472 - peak);
        assert_eq!(number(verdict, "used_bytes"), 25_621_116);
        for list in [&insights["advice"], &insights["not_advised"], &poplar["must_go"]] {
            assert_eq!(list.as_array().unwrap().len(), 0, "{list}");
        }
        let largest = &poplar["largest"];
        assert_eq!(largest["category"]["name"], "vertexCode");
        assert_eq!(largest["category"]["not_overlapped_bytes"], 979_192);
        assert_eq!(
            (&largest["step"]["step"], &largest["step"]["bytes"]),
            (&107.into(), &759_828.into())
        );
        assert_eq!(poplar["fullest_tiles"][0]["bytes"], 32_804);
    }
}

#[test]
fn every_technique_has_a_section() {
    let text = std::fs::read_to_string(crate::common::in_package("docs/user/advice.md")).unwrap();
    let anchors: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .map(|title| {
            let title = title.to_lowercase().replace(' ', "-");
            title.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect()
        })
        .collect();
    for technique in IpuTechnique::ALL {
        let id = serde_json::to_value(technique).unwrap();
        assert!(anchors.iter().any(|anchor| id == *anchor), "{id} in {anchors:?}");
    }
}

/// What is alive at the peak, by each of four, adds up to it.
#[test]
fn what_the_peak_of_one_report_consists_of_adds_up() {
    let path = crate::common::sample();
    let report = path.to_str().unwrap();
    for by in ["category", "operation", "module", "variable"] {
        for scope in [&[][..], &["--ipu", "0"], &["--tile", "3"]] {
            let mut arguments = vec!["liveness", report, "--step", "peak", "--by", by, "--json"];
            arguments.extend(scope);
            let found = crate::common::json(&crate::common::tilescope(&arguments));
            let consists = &found["by"];
            let rows = consists["rows"].as_array().unwrap();
            let sum: i64 = rows.iter().map(|row| row["bytes"].as_i64().unwrap()).sum();
            assert_eq!(Some(sum), consists["bytes"].as_i64(), "{arguments:?}");
            let alive = number(&found, "always_live_bytes")
                + number(&found["step"], "not_always_live_bytes");
            assert_eq!(sum, i64::try_from(alive).unwrap(), "{arguments:?}");
            assert!(
                rows.len() > 1 && rows[0]["name"].as_str().is_some_and(|name| !name.is_empty())
            );
        }
    }
    let wrong =
        crate::common::tilescope(&["liveness", report, "--step", "peak", "--by", "fullest"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_log_from_anywhere_counts_as_those_beside_the_report() {
    let report = crate::common::in_package("sample_profiles/does-not-fit");
    let elsewhere = tempfile::tempdir().unwrap();
    let log = elsewhere.path().join("job 17.txt");
    let warning = "2031-05-04T01:02:03.000002Z PL:POPLIN    7.7 W: Warning: convolution planner \
        unable to meet memory target. Optimizing for minimum memory...\n";
    std::fs::write(&log, warning.repeat(3)).unwrap();
    let (report, log) = (report.to_str().unwrap(), log.to_str().unwrap());
    let said = |arguments: &[&str]| {
        let output =
            crate::common::tilescope(&[&["summary", report, "--json"], arguments].concat());
        assert_eq!(output.status.code(), Some(0));
        crate::common::json(&output)["insights"].to_string()
    };
    assert!(!said(&[]).contains("job 17.txt"));
    let with_log = said(&["--log", log]);
    assert!(with_log.contains("job 17.txt") && with_log.contains("minimum memory"), "{with_log}");
    let absent = elsewhere.path().join("absent.log");
    let output =
        crate::common::tilescope(&["summary", report, "--json", "--log", absent.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(crate::common::json(&output)["error"]["kind"], "not-found");
}

/// A tiny network that does not fit, written with these options.
fn written(options: &ReportOptions) -> (tempfile::TempDir, Run) {
    let directory = tempfile::tempdir().unwrap();
    write_report(options, directory.path(), &Progress::default()).unwrap();
    let run = Run::read(directory.path());
    (directory, run)
}

/// The network of `does-not-fit`.
fn too_large() -> ReportOptions {
    ReportOptions { batch: 12, proportion: 0.8, ..ReportOptions::default() }
}

#[test]
fn half_precision_is_advised_where_variables_are_of_single_precision() {
    let half = written(&too_large()).1;
    assert!(!half.ids().contains(&"half-precision"), "its tensors are half already");
    let single = written(&ReportOptions { single_precision: true, ..too_large() }).1;
    let advice = single.advice("half-precision");
    let evidence = advice["evidence"].as_array().unwrap();
    assert_eq!(evidence.len(), 5);
    for row in evidence {
        let (what, name) =
            (row["text"].as_str().unwrap(), row["place"]["variable"].as_str().unwrap());
        assert!(what.starts_with(&format!("{name}, float32 [12, ")), "{what}");
    }
    // Followed, it saves something, and no more than it says.
    let over = |run: &Run| number(run.failure(), "over_bytes");
    let less = over(&single) - over(&half);
    assert!(less > 0 && Some(less) <= saved(advice), "{less} of {advice}");
    assert_eq!(advice["saving"]["at_least_bytes"], Value::Null, "nothing is promised");
}

#[test]
fn what_measures_is_told_with_its_bytes_and_leaving_it_out_saves_what_is_promised() {
    let over = |run: &Run| number(run.failure(), "over_bytes");
    let bytes_of = |advice: &Value| -> Vec<u64> {
        let evidence = advice["evidence"].as_array().unwrap().iter();
        evidence.map(|row| number(row, "bytes")).collect()
    };
    let close = || ReportOptions { batch: 9, ..too_large() };
    let plain = written(&close()).1;
    assert!(!plain.ids().contains(&"capture-without-profiling"), "it measures nothing");
    let measures = written(&ReportOptions { instrumented: true, ..close() }).1;
    assert!(number(measures.failure(), "worst_over_bytes") < 16 << 10);
    let advice = measures.advice("capture-without-profiling");
    // Control code, results, vertex code of src/synth/lowering/runtime.rs.
    assert_eq!(bytes_of(advice), [160, 28, 128]);
    assert!(advice["text"].as_str().unwrap().contains("level Tile"), "{advice}");
    // The execution profile is off already: something else has it measure.
    assert_eq!(advice["option"], "debug.instrument");
    assert!(advice["how"].to_string().contains("debug.instrument"), "{advice}");
    let promised = number(&advice["saving"], "at_least_bytes");
    assert_eq!(promised, number(measures.failure(), "tiles_over") * (160 + 28 + 128));
    assert!(over(&measures) - over(&plain) >= promised);
    // Of tiles that are far over the results alone are known.
    let far = written(&ReportOptions { instrumented: true, ..too_large() }).1;
    let advice = far.advice("capture-without-profiling");
    assert_eq!(bytes_of(advice), [28]);
    assert_eq!(number(&advice["saving"], "at_least_bytes"), 16 * 28);
}
