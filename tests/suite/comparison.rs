//! Two reports side by side: the story of 0.75 against 0.6 in numbers that add up, a report against
//! itself, and what `tilescope compare` prints.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::common::{
    in_package, json, liveness, real_report, sample, summary, tilescope, warning_codes,
};
use serde_json::{Value, json};
use tilescope::analysis::compute::{compute_sets, exchanges};
use tilescope::analysis::memory::selection::TileSelection;
use tilescope::format::Progress;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::planner::{LayerPlan, PlanRequest, plan};
use tilescope::systems::poplar::synth::{ReportOptions, story, write_report};

/// The document that `compare` prints.
fn compare(source: &Path, target: &Path) -> Value {
    let arguments = ["compare", source.to_str().unwrap(), target.to_str().unwrap(), "--json"];
    let output = tilescope(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let answer = json(&output);
    assert_eq!(answer["schema"], "tilescope.compare/2");
    answer
}

fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("a number expected, {value} found"))
}

/// The change of a figure; it is that of its two values, and the percentage fits.
fn change(value: &Value) -> i64 {
    let (source, target) = (int(&value["source"]), int(&value["target"]));
    assert_eq!(value["difference"], json!(target - source));
    let expected =
        (source > 0).then(|| ((target - source) as f64 * 1000.0 / source as f64).round() / 10.0);
    assert_eq!(value["percent"].as_f64(), expected);
    target - source
}

/// Checks that every grouping adds up to the whole, and that its rows are ranked.
fn adds_up(whole: &Value) {
    let expected = change(whole);
    let mut groupings = 0;
    for key in ["by_category", "by_operation", "by_module", "by_variable"] {
        let Some(rows) = whole[key].as_array() else { continue };
        assert_eq!(rows.iter().map(change).sum::<i64>(), expected, "{key}");
        assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(change(row).abs())), "{key}");
        assert!(rows.iter().all(|row| change(row) != 0), "{key}");
        groupings += 1;
    }
    assert!(groupings > 0);
}

/// A figure of both runs.
fn figure<'a>(answer: &'a Value, key: &str) -> &'a Value {
    let figures = answer["figures"].as_array().unwrap();
    let found = figures.iter().find(|figure| figure["key"] == key);
    found.unwrap_or_else(|| panic!("no figure {key}"))
}

/// How both runs came out.
fn outcomes(answer: &Value) -> [&Value; 2] {
    [0, 1].map(|run| &answer["verdicts"][run]["outcome"])
}

fn explanations(answer: &Value) -> [&Value; 4] {
    ["peak", "always_live", "not_always_live", "fullest_tile"]
        .map(|key| &answer["explanation"][key])
}

/// The row of a contributor.
fn row<'a>(rows: &'a Value, contributor: &str, name: &str) -> Option<&'a Value> {
    let is_it = |row: &&Value| {
        row["contributor"] == contributor && row["name"].as_str().unwrap_or("") == name
    };
    rows.as_array().unwrap().iter().find(is_it)
}

/// A report with its own options.
fn written(directory: &Path, name: &str, options: &ReportOptions) -> PathBuf {
    let path = directory.join(name);
    write_report(options, &path, &Progress::default()).unwrap();
    path
}

#[test]
fn the_story_from_075_to_06() {
    let directory = tempfile::tempdir().unwrap();
    let options = [0.75, 0.6].map(story::options);
    let [source, target] = [("source", 0), ("target", 1)]
        .map(|(name, at)| written(directory.path(), name, &options[at]));
    let answer = compare(&source, &target);
    let of_one = [&source, &target]
        .map(|path| (summary(path).unwrap()["poplar"].clone(), liveness(path, None).unwrap()));
    let [(from, from_liveness), (to, to_liveness)] = &of_one;
    explanations(&answer).into_iter().for_each(adds_up);
    the_peak_moved(&answer);

    // Temporary memory fell, always-live memory rose, each by what the reports themselves say.
    let peak = |answer: &Value, key: &str| int(&answer["liveness"]["peak"][key]);
    let fell = peak(to, "not_always_live_bytes") - peak(from, "not_always_live_bytes");
    let rose = peak(to, "always_live_bytes") - peak(from, "always_live_bytes");
    assert!(fell < 0 && rose > 0, "{fell} and {rose}");
    let [whole, always_live, not_always_live, fullest] = explanations(&answer);
    assert_eq!(change(not_always_live), fell);
    assert_eq!(change(always_live), rose);
    assert_eq!(change(whole), fell + rose);
    assert_eq!(change(figure(&answer, "liveness.peak.bytes")), fell + rose);
    assert_eq!(whole["source_step"], from["liveness"]["peak"]["step"]);
    assert_eq!(whole["target_step"], to["liveness"]["peak"]["step"]);

    // What rose is code and vertices: code is never overlapped, so its categories are the same figures.
    let category = |name: &str| {
        let of = |answer: &Value| int(&answer["memory"]["by_category"][name]["not_overlapped"]);
        of(to) - of(from)
    };
    let names = ["internalExchangeCode", "controlCode", "vertexInstanceState"];
    for name in names {
        assert!(category(name) > 0, "{name}");
        let row = row(&always_live["by_category"], "category", name).unwrap();
        assert_eq!(change(row), category(name), "{name}");
    }
    assert_eq!(names.map(category).iter().sum::<i64>(), rose);
    // Each layer has its exchanges and vertices; control code has no operation, nor have copies.
    let (before, after) = (code_and_state(&source), code_and_state(&target));
    let by_operation = &always_live["by_operation"];
    let mut attributed = 0;
    for (layer, bytes) in after.iter().filter(|(layer, _)| *layer != "copies") {
        let expected = bytes - before[layer];
        let found = row(by_operation, "operation", layer).map_or(0, change);
        assert_eq!(found, expected, "{layer}");
        attributed += expected;
    }
    assert!(attributed > 0);
    let left = row(by_operation, "not_attributable", "").map_or(0, change);
    assert_eq!(left, rose - attributed);

    let steps_of = |answer: &Value| {
        let mut counts: BTreeMap<String, i64> = BTreeMap::new();
        for step in answer["steps"].as_array().unwrap() {
            if let Some(name) = step["operation_facts"]["name"].as_str() {
                *counts.entry(name.to_owned()).or_default() += 1;
            }
        }
        counts
    };
    // The plans that the planner made differently are those that have changed.
    let layers = options[0].layers();
    let plan_of = |options: &ReportOptions, at: usize| -> LayerPlan {
        let request = PlanRequest {
            batch: options.batch,
            tiles: options.tiles_per_ipu,
            bytes_per_tile: 638_976,
            proportion: options.proportion,
        };
        plan(&layers[at], &request)
    };
    let planned = (0..layers.len()).filter(|at| layers[*at].is_planned());
    let replanned: BTreeSet<&str> = planned
        .filter(|at| plan_of(&options[0], *at) != plan_of(&options[1], *at))
        .map(|at| layers[at].name.as_str())
        .collect();
    assert!(replanned.len() >= 3, "{replanned:?}");
    let plans = answer["plans"].as_array().unwrap();
    let found: BTreeSet<&str> =
        plans.iter().map(|plan| plan["operation"]["name"].as_str().unwrap()).collect();
    // Those whose steps or vertices differ: one plan differs in how it is exchanged alone, which by itself is no
    // change of plan (definitions.md), for another batch does the same.
    let vertices = [&source, &target].map(|path| vertices(path));
    let counts = [from_liveness, to_liveness].map(steps_of);
    let is_other = |name: &&str| {
        vertices[0].get(*name) != vertices[1].get(*name)
            || counts[0].get(*name) != counts[1].get(*name)
    };
    let expected: BTreeSet<&str> = replanned.iter().copied().filter(is_other).collect();
    assert!(expected.len() >= 3 && expected.len() < replanned.len(), "{expected:?}");
    assert_eq!(found, expected);
    let (from_steps, to_steps) = (steps_of(from_liveness), steps_of(to_liveness));
    for plan in plans {
        let name = plan["operation"]["name"].as_str().unwrap();
        assert_eq!(plan["operation"]["kind"], "convolution");
        assert_eq!(change(&plan["steps"]), to_steps[name] - from_steps[name], "{name}");
        assert!(
            change(&plan["peak_bytes"]) < 0 && change(&plan["exchange_code_bytes"]) > 0,
            "{name}"
        );
        let proportion = json!({ "source": 0.75, "target": 0.6 });
        assert_eq!(plan["available_memory_proportion"], proportion);
    }

    // The spikes of those convolutions are matched although the step numbers differ.
    let bytes_at = |answer: &Value, step: &Value| -> i64 {
        let steps = answer["steps"].as_array().unwrap();
        let found = steps.iter().find(|row| row["step"] == *step).unwrap();
        int(&found["not_always_live_bytes"])
    };
    let compute_set = |answer: &Value, step: &Value| -> String {
        let steps = answer["steps"].as_array().unwrap();
        let found = steps.iter().find(|row| row["step"] == *step).unwrap();
        found["name"].as_str().unwrap().to_owned()
    };
    let mut shifted = BTreeSet::new();
    for spike in answer["spikes"].as_array().unwrap() {
        let (source_step, target_step) = (&spike["source_step"], &spike["target_step"]);
        if source_step.is_null() || target_step.is_null() {
            continue;
        }
        let bytes = &spike["not_always_live_bytes"];
        assert_eq!(bytes["source"], json!(bytes_at(from_liveness, source_step)));
        assert_eq!(bytes["target"], json!(bytes_at(to_liveness, target_step)));
        let name = compute_set(from_liveness, source_step);
        assert_eq!(name, compute_set(to_liveness, target_step));
        if source_step != target_step && name.ends_with("Conv/Convolve") {
            shifted.insert(spike["operation"]["name"].as_str().unwrap().to_owned());
            change(bytes);
        }
    }
    // All but those before which nothing has changed.
    let moved: BTreeSet<String> = replanned.iter().skip(1).map(|name| (*name).to_owned()).collect();
    assert!(shifted.is_superset(&moved), "{shifted:?}");

    // The fullest tile, and what differs in the options.
    let tile = |answer: &Value| int(&answer["memory"]["fullest_tile"]["including_gaps_bytes"]);
    assert_eq!(change(fullest), tile(to) - tile(from));
    let options = answer["settings"].as_array().unwrap();
    let proportion = json!({ "kind": "available_memory_proportion", "name": "convolution",
        "source": "0.75", "target": "0.6" });
    assert_eq!(options[0], proportion);
    assert_eq!(options.len(), 3, "{options:?}");
    let steps = &answer["steps"];
    let sum = |key: &str| int(&steps["matched"]) + int(&steps[key]);
    assert_eq!(sum("only_source"), int(&from["liveness"]["steps"]));
    assert_eq!(sum("only_target"), int(&to["liveness"]["steps"]));
}

/// Vertices by layer.
fn vertices(path: &Path) -> BTreeMap<String, u64> {
    let open = OpenReport::open(path, &Progress::default()).unwrap();
    open.read_compute(&Progress::default());
    let mut sums = BTreeMap::new();
    for set in compute_sets::rows(&open.report, &TileSelection::default()).unwrap() {
        *sums.entry(set.name.split_once('/').unwrap().0.to_owned()).or_default() +=
            set.vertices.unwrap();
    }
    sums
}

/// 0.6 has its peak at another operation: what changed is told at matched steps first.
fn the_peak_moved(answer: &Value) {
    let moved = &answer["peak_moved"];
    let peak = figure(answer, "liveness.peak.step");
    let matched = &answer["explanation_at_matched_steps"];
    for (side, other, key) in
        [("source", "target_step", "source_peak"), ("target", "source_step", "target_peak")]
    {
        assert_eq!(moved[side]["step"], peak[side]);
        assert_eq!(moved[side]["operation"]["kind"], "convolution");
        let found = &matched[key]["not_always_live"];
        adds_up(found);
        adds_up(&matched[key]["peak"]);
        assert_eq!(found[format!("{side}_step")], peak[side]);
        // The same as the spike says of the two steps.
        let spikes = answer["spikes"].as_array().unwrap();
        let of_peak = |spike: &&Value| spike[format!("{side}_step")] == peak[side];
        let spike = spikes.iter().find(of_peak).unwrap();
        assert_eq!(spike[other], found[other]);
        assert_eq!(change(&spike["not_always_live_bytes"]), change(found));
        // One operation owns the change there, as no operation does of the two peaks.
        let name = moved[side]["operation"]["name"].as_str().unwrap();
        let of_operation = row(&found["by_operation"], "operation", name).map_or(0, self::change);
        assert!(of_operation.abs() <= change(found).abs() * 2, "{of_operation} of {found}");
    }
    assert_ne!(moved["source"]["operation"], moved["target"]["operation"]);
    let said = conclusion(answer, "peak-moved");
    let text = said["text"].as_str().unwrap();
    assert!(
        text.starts_with("The peak moved from layer1.2.conv2 (convolution), step 82, to"),
        "{text}"
    );
}

/// A conclusion of a comparison.
fn conclusion<'a>(answer: &'a Value, id: &str) -> &'a Value {
    let conclusions = answer["conclusions"].as_array().unwrap();
    let found = conclusions.iter().find(|conclusion| conclusion["id"] == id);
    found.unwrap_or_else(|| panic!("{id} in {conclusions:#?}"))
}

fn has_conclusion(answer: &Value, id: &str) -> bool {
    answer["conclusions"].as_array().unwrap().iter().any(|conclusion| conclusion["id"] == id)
}

/// The value of a piece of evidence of a conclusion.
fn evidence<'a>(answer: &'a Value, id: &str, name: &str) -> &'a Value {
    let insights = answer["poplar"]["insights"].as_array().unwrap();
    let insight = insights.iter().find(|insight| insight["kind"] == id);
    let rows = insight.unwrap_or_else(|| panic!("no {id}"))["evidence"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} in {rows:#?}"))
}

/// Code of exchanges and state of vertices by layer, as the tables of the reports name them, bytes.
fn code_and_state(path: &Path) -> BTreeMap<String, i64> {
    let progress = Progress::default();
    let open = OpenReport::open(path, &progress).unwrap();
    open.read_compute(&progress);
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    let mut add = |name: &str, bytes: u64| {
        *sums.entry(name.to_owned()).or_default() += i64::try_from(bytes).unwrap();
    };
    for exchange in exchanges::rows(&open.report, &TileSelection::default()).unwrap() {
        // `cs12_layer1.0.conv2/Conv/Convolve/ExchangePre`; copies belong to no layer.
        let name = exchange.name.split_once('_').map_or("", |(_, name)| name);
        if let (Some((layer, part)), Some(code)) = (name.split_once('/'), exchange.code) {
            add(if part == "residual/Copy" { "copies" } else { layer }, code);
        }
    }
    for set in compute_sets::rows(&open.report, &TileSelection::default()).unwrap() {
        add(set.name.split_once('/').unwrap().0, set.state.total().unwrap());
    }
    sums
}

#[test]
fn of_more_than_two_each_has_a_row_against_the_first() {
    let names = ["pair-0.6", "pair-0.2", "pair-0.6"];
    let paths = names.map(|name| in_package("sample_profiles").join(name));
    let [first, second, third] = paths.each_ref().map(|path| path.to_str().unwrap());
    let output = tilescope(&["compare", first, second, third, "--json"]);
    let mut answer = json(&output);
    let runs = answer.as_object_mut().unwrap().remove("runs").unwrap();
    let verdicts = answer["verdicts"].as_array_mut().unwrap();
    assert_eq!(verdicts.pop().as_ref(), verdicts.first(), "the third is the first");
    assert_eq!(answer, compare(&paths[0], &paths[1]), "as for the first two");
    let [alone, other, same] = &**runs.as_array().unwrap() else { panic!("three rows") };
    for key in ["memory.including_gaps_bytes", "memory.always_live_bytes"] {
        assert_eq!(figure(other, key), figure(&answer, key));
        assert_eq!(figure(alone, key)["difference"], 0);
        assert_eq!(figure(same, key), figure(alone, key));
    }
    let settings = |run: &Value| -> Vec<Value> {
        run["settings"].as_array().unwrap().iter().map(|row| row["value"].clone()).collect()
    };
    assert_eq!(settings(alone), settings(same));
    for (row, value) in answer["settings"].as_array().unwrap().iter().zip(settings(other)) {
        assert_eq!(row["target"], value);
    }
    let text = tilescope(&["compare", first, second, third]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("3 pair-0.6") && text.contains("What differs"), "{text}");
    // Each has its own conclusions against the first.
    let of_pair = &compare(&paths[0], &paths[1])["conclusions"];
    assert_eq!((&alone["conclusions"], &other["conclusions"]), (&json!([]), of_pair));
    assert_eq!(&same["conclusions"], &compare(&paths[0], &paths[2])["conclusions"]);
    assert_eq!(text.matches("It fit before and still fits").count(), 2, "{text}");
    let brief = tilescope(&["compare", first, second, third, "--brief"]);
    let brief = String::from_utf8(brief.stdout).unwrap();
    assert!(text.starts_with(&brief) && brief.lines().count() < text.lines().count(), "{brief}");
    let csv = tilescope(&["compare", first, second, third, "--csv"]);
    let csv = String::from_utf8(csv.stdout).unwrap();
    assert!(csv.starts_with("figure,unit,run_1,run_2,run_3"), "{csv}");
}

#[test]
fn every_conclusion_has_an_id_a_sentence_and_numbers() {
    let (source, target) =
        (in_package("sample_profiles/pair-0.6"), in_package("sample_profiles/pair-0.2"));
    for answer in
        [compare(&source, &target), compare(&target, &in_package("sample_profiles/pipeline"))]
    {
        let conclusions = answer["conclusions"].as_array().unwrap();
        assert_eq!(
            (&conclusions[0]["id"], &answer["poplar"]["insights"][0]["kind"]),
            (&json!("fits"), &json!("fits"))
        );
        let insights = answer["poplar"]["insights"].as_array().unwrap();
        assert_eq!(conclusions.len(), insights.len());
        let ids: BTreeSet<&str> =
            conclusions.iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), conclusions.len(), "each once");
        for conclusion in conclusions {
            let text = conclusion["text"].as_str().unwrap();
            assert!(!text.is_empty() && !text.ends_with('.'), "{conclusion}");
            assert!(!conclusion["evidence"].as_array().unwrap().is_empty(), "{conclusion}");
        }
        for insight in insights {
            let rows = insight["evidence"].as_array().unwrap();
            assert!(!rows.is_empty(), "{insight}");
            for row in rows {
                for key in ["name", "unit", "source", "target", "difference", "percent"] {
                    assert!(row.get(key).is_some(), "{key} in {row}");
                }
            }
        }
    }
}

#[test]
fn where_both_fit_memory_that_is_saved_is_no_gain_and_more_cycles_are_a_loss() {
    let (source, target) =
        (in_package("sample_profiles/pair-0.6"), in_package("sample_profiles/pair-0.2"));
    let answer = compare(&source, &target);
    assert_eq!(answer["conclusions"][0]["is_better"], Value::Null);
    for id in ["temporaries", "always-live", "trade"] {
        assert_eq!(conclusion(&answer, id)["is_better"], Value::Null, "{id}");
    }
    let text = tilescope(&["compare", source.to_str().unwrap(), target.to_str().unwrap()]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        !text.contains("was worth it") && text.contains("no gain by itself: both fit"),
        "{text}"
    );
    assert_eq!(conclusion(&answer, "cycles")["is_better"], false);
    let throughput = conclusion(&answer, "throughput");
    assert_eq!(throughput["is_better"], false);
    for key in
        ["throughput_by_cycles_samples_per_second", "throughput_by_elapsed_time_samples_per_second"]
    {
        let figure = figure(&answer, &format!("execution.{key}"));
        assert_eq!(evidence(&answer, "throughput", key)["difference"], figure["difference"]);
        for (side, path) in [("source", &source), ("target", &target)] {
            let execution = &summary(path).unwrap()["poplar"]["execution"];
            let samples = 16.0 * execution["runs"].as_f64().unwrap();
            let seconds = match key {
                "throughput_by_cycles_samples_per_second" => {
                    execution["cycles"].as_f64().unwrap() / 1.85e9
                }
                _ => execution["seconds"].as_f64().unwrap(),
            };
            for found in [&figure[side], &execution[key]] {
                let found = found.as_f64().unwrap();
                assert!((found * seconds / samples - 1.0).abs() < 1e-9, "{found}");
            }
        }
    }
}

#[test]
fn a_smaller_batch_that_takes_fewer_cycles_is_judged_by_samples_per_second() {
    let directory = tempfile::tempdir().unwrap();
    let of_batch = |batch| {
        let options =
            ReportOptions { batch, tiles_per_ipu: 64, execution: true, ..ReportOptions::default() };
        written(directory.path(), &format!("batch-{batch}"), &options)
    };
    let answer = compare(&of_batch(24), &of_batch(16));
    assert_eq!(outcomes(&answer), ["fits", "fits"]);
    assert!(change(figure(&answer, "execution.cycles")) < 0);
    assert_eq!(conclusion(&answer, "cycles")["is_better"], Value::Null);
    let throughput = conclusion(&answer, "throughput");
    let samples = evidence(&answer, "throughput", "throughput_by_cycles_samples_per_second");
    assert_eq!(throughput["is_better"], json!(samples["difference"].as_f64().unwrap() > 0.0));
    assert_eq!(evidence(&answer, "throughput", "batch_size")["target"], 16);
}

#[test]
fn of_debug_information_that_one_report_lacks_no_change_of_plans_is_concluded() {
    let whole = in_package("sample_profiles/pair-0.6");
    for keep in [0.5, 0.95, 0.0] {
        let directory = tempfile::tempdir().unwrap();
        let cut = directory.path().join("cut");
        std::fs::create_dir(&cut).unwrap();
        for file in ["profile.pop", "app.json", "framework.json"] {
            std::fs::copy(whole.join(file), cut.join(file)).unwrap();
        }
        let debug = std::fs::read(whole.join("debug.cbor")).unwrap();
        if keep > 0.0 {
            let bytes = (debug.len() as f64 * keep) as usize;
            std::fs::write(cut.join("debug.cbor"), &debug[..bytes]).unwrap();
        }
        for (source, target) in [(&whole, &cut), (&cut, &whole)] {
            let answer = compare(source, target);
            assert_eq!(answer["plans"], Value::Null, "the same profile.pop, {keep} of debug.cbor");
            assert!(!has_conclusion(&answer, "changed-plans"));
            assert!(!has_conclusion(&answer, "equal-plans"));
            let said = conclusion(&answer, "plans-not-known");
            let state = if keep > 0.0 { "cut" } else { "absent" };
            let side = if *source == whole { "target" } else { "source" };
            assert_eq!(evidence(&answer, "plans-not-known", "debug_information")[side], state);
            assert!(
                said["text"].as_str().unwrap().contains(&format!("that of the {side} is {state}"))
            );
            for whole in explanations(&answer) {
                adds_up(whole);
                assert_eq!((change(whole), &whole["by_operation"]), (0, &Value::Null));
            }
        }
    }
    let answer = compare(&whole, &whole);
    assert_eq!(answer["plans"], json!([]));
    assert!(has_conclusion(&answer, "equal-plans"));
}

#[test]
fn reports_of_different_machines_are_each_held_against_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let small = written(directory.path(), "small", &ReportOptions::default());
    let whole = ReportOptions { tiles_per_ipu: 1472, ..ReportOptions::default() };
    let whole = written(directory.path(), "whole", &whole);
    let two = directory.path().join("two");
    let arguments = ["synth", "--architecture", "mk1", "--ipus", "2", "-o", two.to_str().unwrap()];
    assert_eq!(tilescope(&arguments).status.code(), Some(0));
    for (source, target) in [(&small, &whole), (&whole, &small), (&small, &two), (&two, &small)] {
        let answer = compare(source, target);
        for (side, path, outcome) in
            [("source", source, outcomes(&answer)[0]), ("target", target, outcomes(&answer)[1])]
        {
            let own = summary(path).unwrap()["poplar"].clone();
            for key in ["ipus", "tiles_per_ipu", "bytes_per_tile", "architecture"] {
                let said = evidence(&answer, "different-targets", key);
                assert_eq!(said[side], own["target"][key], "{key}");
            }
            for key in ["tiles_over_limit", "including_gaps_bytes", "always_live_bytes"] {
                let found = figure(&answer, &format!("memory.{key}"));
                assert_eq!(found[side], own["memory"][key], "{key}");
            }
            assert_eq!(*outcome == "fits", own["memory"]["fits"] == true);
            assert_eq!(evidence(&answer, "fits", "fits")[side], own["memory"]["fits"]);
            let peak = &own["liveness"]["peak"];
            assert_eq!(figure(&answer, "liveness.peak.step")[side], peak["step"]);
            let peak = int(&peak["not_always_live_bytes"]) + int(&peak["always_live_bytes"]);
            assert_eq!(answer["explanation"]["peak"][side], peak);
        }
        explanations(&answer).into_iter().for_each(adds_up);
        for id in ["temporaries", "always-live", "balance"] {
            if has_conclusion(&answer, id) {
                assert_eq!(conclusion(&answer, id)["is_better"], Value::Null, "{id}");
            }
        }
        assert!(!has_conclusion(&answer, "trade"), "bytes of one machine against those of another");
    }
}

#[test]
fn the_answer_comes_first_and_only_what_is_asked_for_follows() {
    let paths = ["pair-0.6", "pair-0.2"].map(|name| in_package("sample_profiles").join(name));
    let [source, target] = paths.each_ref().map(|path| path.to_str().unwrap());
    let printed = |options: &[&str]| {
        let output = tilescope(&[&["compare", source, target][..], options].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let (all, brief) = (printed(&[]), printed(&["--brief"]));
    assert!(all.trim_start().starts_with("It fit before and still fits."), "{all}");
    assert!(all.starts_with(&brief), "{brief}");
    assert!(brief.contains("What differs") && !brief.contains("Figures"), "{brief}");
    assert!(brief.lines().all(|line| line.chars().count() <= 100 || line.contains('/')), "{brief}");
    let by_module = printed(&["--by", "module"]);
    for (title, is_there) in [
        ("By module", true),
        ("By category", false),
        ("By operation", false),
        ("\nThe fullest tile:", false),
        ("Figures", false),
        ("Spikes", false),
    ] {
        assert_eq!(by_module.contains(title), is_there, "{title} in {by_module}");
    }
    let fullest = printed(&["--by", "fullest"]);
    assert!(fullest.contains("\nThe fullest tile:"), "{fullest}");
    assert!(!fullest.contains("\nAlways live:") && all.contains("\nAlways live:"), "{fullest}");
    let answer = compare(&paths[0], &paths[1]);
    let csv = printed(&["--csv"]);
    let total = figure(&answer, "memory.total_bytes");
    let expected = format!(
        "memory.total_bytes,bytes,{},{},{},{},{}",
        total["source"],
        total["target"],
        total["difference"],
        total["percent"],
        total["percent_of_source"]
    );
    assert!(csv.lines().any(|line| line == expected), "{expected} in {csv}");
    let csv = printed(&["--csv", "--by", "operation,fullest"]);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().skip(1).all(|row| row[1] == "operation"), "{csv}");
    let sum = |of: &str| -> i64 {
        rows.iter().filter(|row| row[0] == of).map(|row| row[8].parse::<i64>().unwrap()).sum()
    };
    for (of, whole) in ["peak", "always_live", "not_always_live", "fullest_tile"]
        .into_iter()
        .zip(explanations(&answer))
    {
        assert_eq!(sum(of), change(whole), "{of}");
    }
    for wrong in [
        &["--brief", "--csv"][..],
        &["--by", "colour"],
        &["--json", "--csv"],
        &[source, "--by", "module"],
    ] {
        let output = tilescope(&[&["compare", source, target], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn nothing_differs_from_a_report_itself() {
    let mut paths = vec![sample(), in_package("sample_profiles/pipeline")];
    paths.extend(real_report("poplar-3.3"));
    paths.extend(real_report("poplar-3.3-interrupted"));
    for path in paths {
        let answer = compare(&path, &path);
        assert_eq!(answer["settings"], json!([]));
        for whole in explanations(&answer) {
            adds_up(whole);
            assert_eq!(change(whole), 0);
        }
        answer["figures"].as_array().unwrap().iter().for_each(unchanged);
        // Of debug information that is cut no plans are known, not even against itself.
        let is_known = !warning_codes(&answer).contains(&"truncated");
        assert_eq!(answer["plans"], if is_known { json!([]) } else { Value::Null });
        for variable in answer["variables"].as_array().unwrap() {
            assert_eq!((change(variable), &variable["only"]), (0, &Value::Null));
        }
        for spike in answer["spikes"].as_array().unwrap() {
            assert_eq!(spike["source_step"], spike["target_step"]);
            assert_eq!(change(&spike["not_always_live_bytes"]), 0);
        }
        assert_eq!(answer["steps"]["matched"], figure(&answer, "liveness.steps")["source"]);
        assert_eq!(answer["steps"]["exact"], answer["steps"]["matched"]);
    }
}

/// Checks that a figure is the same in both reports.
fn unchanged(figure: &Value) {
    assert_eq!(figure["source"], figure["target"]);
    let is_known = figure["source"].is_number() && figure["unit"] != "number";
    assert!(!is_known || figure["difference"].as_f64() == Some(0.0), "{figure}");
}

#[test]
fn a_comparison_has_the_fixed_keys() {
    let (source, target) =
        (in_package("sample_profiles/pair-0.6"), in_package("sample_profiles/pair-0.2"));
    let answer = compare(&source, &target);
    let always_live = figure(&answer, "memory.always_live_bytes");
    for key in ["source", "target", "difference", "percent", "percent_of_source"] {
        assert!(always_live[key].is_number(), "{key}");
    }
    for (key, path) in [("source", &source), ("target", &target)] {
        let summary = summary(path).unwrap();
        let one = &summary["poplar"];
        for (name, own) in [
            ("memory.always_live_bytes", &one["memory"]["always_live_bytes"]),
            ("memory.total_bytes", &one["memory"]["total_bytes"]),
            ("execution.cycles", &one["execution"]["cycles"]),
            ("graph.vertices", &one["graph"]["vertices"]),
            ("liveness.peak.step", &one["liveness"]["peak"]["step"]),
            (
                "memory.by_category.stack.not_overlapped",
                &one["memory"]["by_category"]["stack"]["not_overlapped"],
            ),
        ] {
            assert_eq!(&figure(&answer, name)[key], own, "{name}");
        }
        assert_eq!(answer["memory"]["total_bytes"][key], summary["memory"]["total_bytes"]);
        let peak = &summary["liveness"]["peak"];
        for name in ["bytes", "step"] {
            assert_eq!(answer["peak"][format!("{key}_{name}")], peak[name], "{name}");
        }
        assert_eq!(answer["peak"]["always_live_bytes"][key], peak["always_live_bytes"]);
        for by in ["by_category", "by_operation", "by_module", "by_variable"] {
            let rows = answer["peak"][by].as_array().unwrap().iter();
            let sum = rows.map(|row| int(&row[format!("{key}_bytes")])).sum::<i64>();
            assert_eq!(sum, int(&peak["bytes"]), "{by} of the {key}");
        }
        assert_eq!(answer[key]["producer"], summary["source"]["producer"]);
    }
    assert_eq!(outcomes(&answer), ["fits", "fits"]);
    for key in ["matched", "only_source", "only_target"] {
        assert!(answer["steps"][key].is_u64(), "{key}");
    }
    let variables = answer["variables"].as_array().unwrap();
    assert!(variables.is_sorted_by_key(|row| std::cmp::Reverse(change(row).abs())));
    assert!(variables.iter().all(|row| ["name", "only"].iter().all(|key| row.get(key).is_some())));
    explanations(&answer).into_iter().for_each(adds_up);

    let arguments = ["compare", source.to_str().unwrap(), target.to_str().unwrap()];
    let text = String::from_utf8(tilescope(&arguments).stdout).unwrap();
    for expected in [
        "availableMemoryProportion of convolution  0.6     0.2",
        "Always live",
        "By operation",
        "Changed plans",
        "Spikes",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn the_peak_of_each_run_is_that_of_its_summary_whatever_system_it_is_of() {
    for names in [
        ["pair-0.6", "pair-0.2"],
        ["tiny", "does-not-fit"],
        ["training/segments-0", "training/segments-2"],
        ["xla/keep", "xla/again"],
        ["xla/keep", "xla/donate"],
    ] {
        let paths = names.map(|name| in_package("sample_profiles").join(name));
        let peak = &compare(&paths[0], &paths[1])["peak"];
        for (side, path) in ["source", "target"].into_iter().zip(&paths) {
            let summary = json(&tilescope(&["summary", path.to_str().unwrap(), "--json"]));
            let own = &summary["liveness"]["peak"];
            let bytes = int(&own["bytes"]);
            assert_eq!(int(&peak[format!("{side}_bytes")]), bytes, "{path:?}");
            assert_eq!(peak[format!("{side}_step")], own["step"], "{path:?}");
            assert_eq!(peak["always_live_bytes"][side], own["always_live_bytes"], "{path:?}");
            let not_always_live = int(&peak["not_always_live_bytes"][side]);
            assert_eq!(not_always_live, bytes - int(&own["always_live_bytes"]));
            for by in ["by_category", "by_variable"] {
                let rows = peak[by].as_array().unwrap().iter();
                let key = format!("{side}_bytes");
                assert_eq!(rows.map(|row| int(&row[&*key])).sum::<i64>(), bytes, "{by}");
            }
            let bytes_of = |rows: &Value, key: &str| -> BTreeMap<String, i64> {
                let rows = rows.as_array().unwrap().iter();
                let row = |row: &Value| (row["name"].as_str().unwrap().to_owned(), int(&row[key]));
                rows.map(row).filter(|(_, bytes)| *bytes != 0).collect()
            };
            let found = bytes_of(&peak["by_category"], &format!("{side}_bytes"));
            let of_summary = bytes_of(&own["by_category"], "bytes");
            // The summary of a report does not read what says it.
            assert!(of_summary.is_empty() || found == of_summary, "{path:?}: {found:?}");
        }
    }
}

#[test]
fn without_the_operations_of_one_report_nothing_goes_by_operation() {
    let damaged = crate::common::damaged_sample(|directory| {
        std::fs::remove_file(directory.join("debug.cbor")).unwrap();
    });
    for (source, target) in [(sample(), damaged.path().into()), (damaged.path().into(), sample())] {
        let answer = compare(&source, &target);
        for whole in explanations(&answer) {
            adds_up(whole);
            assert_eq!((change(whole), &whole["by_operation"]), (0, &Value::Null));
            assert_eq!(whole["by_variable"], json!([]));
        }
        assert_eq!(answer["steps"]["matched"], figure(&answer, "liveness.steps")["source"]);
    }
}

#[test]
fn what_a_report_lacks_is_null() {
    // The curve goes by its changes alone, so these are gone as well.
    const LIVENESS_AND_VARIABLES: &str = "DROP TABLE eq_classes; DROP TABLE vars_info; \
        DROP TABLE memory_not_always_live_by_step_and_ipu";
    let path = sample();
    let damaged = crate::common::damaged_sample(|directory| {
        rusqlite::Connection::open(directory.join("profile.pop"))
            .and_then(|db| db.execute_batch(LIVENESS_AND_VARIABLES))
            .unwrap();
        std::fs::remove_file(directory.join("debug.cbor")).unwrap();
    });
    let answer = compare(&path, damaged.path());
    let peak = figure(&answer, "liveness.peak.bytes");
    assert_eq!((&peak["target"], &peak["difference"]), (&Value::Null, &Value::Null));
    assert!(peak["source"].is_u64());
    assert_eq!(
        (&answer["explanation"]["peak"], &answer["variables"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(change(figure(&answer, "memory.total_bytes")), 0);
    assert_eq!(change(&answer["explanation"]["fullest_tile"]), 0);
    let files: Vec<_> = answer["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["file"].as_str().unwrap())
        .collect();
    assert!(
        files.iter().any(|file| file.starts_with(damaged.path().to_str().unwrap())),
        "{files:?}"
    );
    for arguments in [
        &["compare", path.to_str().unwrap(), "/no/such/path"][..],
        &["compare", "/no/such/path", path.to_str().unwrap()],
    ] {
        let output = tilescope(&[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(json(&output)["error"]["kind"], "not-found");
    }
    assert_eq!(tilescope(&["compare", path.to_str().unwrap()]).status.code(), Some(2));
}
