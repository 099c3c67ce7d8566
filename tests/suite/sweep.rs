//! A sweep over a folder of reports: one model at four batch sizes and six proportions, with a report
//! among them that cannot be read.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{json, real_report, sample, tilescope};
use rayon::prelude::*;
use serde_json::Value;
use tilescope::cli::sweep::{SweepArguments, SweepReport};
use tilescope::format::Progress;
use tilescope::store::Warnings;
use tilescope::systems::poplar::files::runs_in_folder;
use tilescope::systems::poplar::synth::story::PROPORTIONS;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};

const BATCHES: [u64; 4] = [4, 8, 16, 24];
/// Deeper than the window looks for reports when one is opened.
const BROKEN: &str = "older/runs/of/last/week/broken";

/// The folder; written once for all tests, and in the next run again.
fn grid() -> &'static Path {
    static GRID: OnceLock<PathBuf> = OnceLock::new();
    GRID.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sweep");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        let runs: Vec<(u64, f64)> = BATCHES
            .into_iter()
            .flat_map(|batch| PROPORTIONS.map(|proportion| (batch, proportion)))
            .collect();
        runs.into_par_iter().for_each(|(batch, proportion)| {
            let options =
                ReportOptions { batch, proportion, execution: true, ..ReportOptions::default() };
            let path = folder.join(format!("batch-{batch}/amp-{proportion}"));
            write_report(&options, &path, &Progress::default()).unwrap();
        });
        let broken = folder.join(BROKEN);
        std::fs::create_dir_all(&broken).unwrap();
        std::fs::write(broken.join("profile.pop"), "no database").unwrap();
        folder
    })
}

fn sweep(arguments: &[&str]) -> Value {
    let folder = grid().to_str().unwrap();
    let output = tilescope(&[&["sweep", folder, "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    json(&output)
}

/// The runs, each with its figures and settings beside what is said of it.
fn rows(answer: &Value) -> Vec<Value> {
    let flat = |run: &Value| {
        let mut row = run.as_object().unwrap().clone();
        row.extend(run["figures"].as_object().unwrap().clone());
        let verdict = &run["verdict"];
        row.insert("options".to_owned(), run["settings"].clone());
        let fits = match verdict["outcome"].as_str() {
            Some("fits") => Value::Bool(true),
            Some("does-not-fit") => Value::Bool(false),
            _ => Value::Null,
        };
        row.insert("fits".to_owned(), fits);
        for key in ["outcome", "cause", "used_bytes", "capacity_bytes", "over_bytes"] {
            row.insert(key.to_owned(), verdict[key].clone());
        }
        Value::Object(row)
    };
    answer["runs"].as_array().unwrap().iter().map(flat).collect()
}

#[test]
fn the_fastest_that_fits_lies_within() {
    let answer = sweep(&[]);
    assert_eq!(answer["schema"], "tilescope.sweep/2");
    let ids: Vec<_> = answer["settings"].as_array().unwrap().iter().map(|row| &row["id"]).collect();
    let expected = [
        "availableMemoryProportion.convolution",
        "availableMemoryProportion.matMul",
        "app.available_memory_proportion",
        "app.batch_size",
    ];
    assert_eq!(ids, expected);
    assert_eq!(answer["settings"][3]["values"], serde_json::json!(BATCHES));
    assert_eq!(answer["settings"][2]["same_as"], expected[0]);
    assert_eq!(rows(&answer).len(), BATCHES.len() * PROPORTIONS.len() + 1);

    let best = &answer["best"];
    let (batch, proportion) =
        (&best["settings"]["app.batch_size"], best["settings"][expected[0]].as_f64().unwrap());
    assert!([8, 16].contains(&batch.as_u64().unwrap()), "{best}");
    assert!(proportion > 0.005 && proportion < 0.8, "{best}");
    assert_eq!(best["by"], "throughput_samples_per_second");
    let row = &rows(&answer)[usize::try_from(best["run"].as_u64().unwrap()).unwrap()].clone();
    assert_eq!((row["path"].as_str(), &row["fits"]), (best["path"].as_str(), &true.into()));
    let speed = |row: &Value| row["throughput_samples_per_second"].as_f64();
    assert_eq!(speed(row), best["value"].as_f64());
    assert!(rows(&answer).iter().all(|other| speed(other) <= speed(row)));
    // The definition: samples of all runs by the time of their cycles.
    let of = |key: &str| row[key].as_f64().unwrap();
    let expected = of("batch_size") * of("recorded_runs") * 1.85e9 / of("cycles");
    assert!((speed(row).unwrap() / expected - 1.0).abs() < 1e-9, "{row}");
    // By elapsed time it is another figure, that of the summary.
    let summary = crate::common::summary(Path::new(row["path"].as_str().unwrap())).unwrap();
    let by_time = "throughput_by_elapsed_time_samples_per_second";
    assert!(row[by_time].is_f64() && row[by_time] != row["throughput_samples_per_second"]);
    assert_eq!(row[by_time], summary["poplar"]["execution"][by_time]);
}

#[test]
fn a_row_has_the_figures_of_the_summary() {
    let answer = sweep(&[]);
    for row in rows(&answer).iter().filter(|row| row["error"].is_null()).step_by(7) {
        let summary = crate::common::summary(Path::new(row["path"].as_str().unwrap())).unwrap();
        let memory = &summary["poplar"]["memory"];
        for key in
            ["fits", "tiles_over_limit", "total_bytes", "including_gaps_bytes", "always_live_bytes"]
        {
            assert_eq!(row[key], memory[key], "{key}");
        }
        let tile = &memory["fullest_tile"];
        assert_eq!(row["fullest_tile"], tile["tile"]);
        assert_eq!(row["fullest_tile_including_gaps_bytes"], tile["including_gaps_bytes"]);
        let peak = summary["poplar"]["liveness"]["peak"]["not_always_live_bytes"].as_u64().unwrap();
        let always_live = memory["always_live_bytes"].as_u64().unwrap();
        assert_eq!(row["peak_bytes"], peak + always_live);
        assert_eq!(row["cycles"], summary["poplar"]["execution"]["cycles"]);
        let code = |name: &str| memory["by_category"][name]["not_overlapped"].as_u64().unwrap();
        let kinds = ["control", "vertex", "internalExchange", "hostExchange", "globalExchange"];
        let code: u64 = kinds.iter().map(|kind| code(&format!("{kind}Code"))).sum();
        assert_eq!(row["code_bytes"], code, "code does not overlap");
        assert!(code > 0 && code < always_live);
    }
}

#[test]
fn a_report_that_cannot_be_read_is_a_row_with_its_error() {
    let answer = sweep(&[]);
    let all = rows(&answer);
    let (broken, read) = all.split_last().unwrap();
    assert!(read.iter().all(|row| row["error"].is_null()));
    assert_eq!(broken["name"], BROKEN);
    assert_eq!(broken["error"]["kind"], "not-a-report");
    assert_eq!((&broken["fits"], &broken["verdict"]), (&Value::Null, &Value::Null));
    assert_eq!(broken["figures"], serde_json::json!({}));
    let warnings = answer["warnings"].as_array().unwrap();
    let file = format!("{BROKEN}/profile.pop");
    let warning = warnings.iter().find(|warning| warning["file"] == *file).unwrap();
    assert!(warning["message"].as_str().unwrap().contains("cannot be read"), "{warning}");
    // Where people read, what is said of many reports is said once.
    let output = tilescope(&["sweep", grid().to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let not_run = rows(&answer).iter().filter(|row| row["fits"] == false).count();
    assert!(not_run > 3 && warnings.len() == not_run + 1, "{warnings:?}");
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.contains(&format!("no-execution: profile.pop of {not_run} runs")), "{said}");
}

#[test]
fn every_cell_of_the_heat_map_has_its_run() {
    for (figure, key) in [("peak", "peak_bytes"), ("throughput", "throughput_samples_per_second")] {
        let answer = sweep(&["--by", "batch_size", "--and", "matmul", "--figure", figure]);
        let map = &answer["heat_map"];
        assert_eq!((&map["by"], &map["figure"]), (&"app.batch_size".into(), &key.into()));
        assert_eq!(map["rows"], serde_json::json!(BATCHES));
        assert_eq!(map["columns"].as_array().unwrap().len(), PROPORTIONS.len());
        let cells = map["cells"].as_array().unwrap();
        assert_eq!(cells.len(), BATCHES.len() * PROPORTIONS.len());
        for cell in cells {
            let row = &rows(&answer).into_iter().find(|row| row["path"] == cell["path"]).unwrap();
            assert_eq!(row["options"]["app.batch_size"], cell["by"]);
            assert_eq!(row["options"]["availableMemoryProportion.matMul"], cell["and"]);
            assert_eq!((&row["fits"], &row[key]), (&cell["fits"], &cell["value"]));
            assert_eq!(cell["runs"], 1);
        }
    }
}

#[test]
fn curves_rise_and_fall_as_they_must() {
    let lines = |by: &str, figure: &str| -> Vec<Vec<u64>> {
        let answer = sweep(&["--by", by, "--figure", figure]);
        let points = |line: &Value| {
            let points = line["points"].as_array().unwrap().iter();
            points.map(|point| point["value"].as_u64().unwrap()).collect()
        };
        answer["curve"]["lines"].as_array().unwrap().iter().map(points).collect()
    };
    let rises = |line: &Vec<u64>| line.is_sorted() && line.first() < line.last();
    let falls = |line: &Vec<u64>| line.is_sorted_by(|a, b| a >= b) && line.first() > line.last();
    let by_proportion = lines("convolution", "peak");
    assert_eq!((by_proportion.len(), by_proportion[0].len()), (BATCHES.len(), PROPORTIONS.len()));
    assert!(by_proportion.iter().all(rises), "{by_proportion:?}");
    for figure in ["code", "always-live"] {
        let lines = lines("convolution", figure);
        assert!(lines.iter().all(falls), "smaller plans take more code: {figure} {lines:?}");
    }
    let by_batch = lines("batch", "peak");
    assert_eq!(by_batch.len(), PROPORTIONS.len());
    assert!(by_batch.iter().all(rises), "{by_batch:?}");
}

/// The cells of comma-separated values without quotes.
fn cells(arguments: &[&str]) -> Vec<Vec<String>> {
    let folder = grid().to_str().unwrap();
    let output = tilescope(&[&["sweep", folder, "--csv"], arguments].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('"'), "{text}");
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn comma_separated_values_have_the_figures_of_the_json() {
    let answer = sweep(&[]);
    let table = cells(&[]);
    let header = &table[0];
    assert_eq!(table.len(), 1 + rows(&answer).len());
    let unique: std::collections::BTreeSet<_> = header.iter().collect();
    assert_eq!(unique.len(), header.len());
    for (line, row) in table[1..].iter().zip(&rows(&answer)) {
        assert_eq!(line.len(), header.len());
        for (title, cell) in header.iter().zip(line) {
            let value = match title.as_str() {
                "best" | "reference" => continue,
                "error" => &row["error"]["message"],
                title => row.get(title).unwrap_or(&row["options"][title]),
            };
            let expected = match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            assert_eq!(*cell, expected, "{title}");
        }
    }
    let map = cells(&["--by", "batch", "--and", "matMul", "--figure", "needed"]);
    assert_eq!(map[0][2..], ["needed_bytes", "fits", "runs", "path"]);
    assert_eq!((map.len(), map[1].len()), (25, 6));
    let along = cells(&["--by", "batch", "--figure", "code"]);
    assert_eq!(along[0][2..], ["code_bytes", "fits", "path"]);
    assert_eq!((along.len(), along[1].len()), (25, 5));
}

fn text(arguments: &[&str]) -> String {
    let folder = grid().to_str().unwrap();
    let output = tilescope(&[&["sweep", folder], arguments].concat());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_text_marks_the_best_and_shows_only_what_varies() {
    let best = sweep(&[])["best"]["path"].as_str().unwrap().to_owned();
    let best = Path::new(&best).strip_prefix(grid()).unwrap().to_str().unwrap().to_owned();
    let table = text(&[]);
    assert!(table.starts_with("25 runs below "), "{table}");
    let marked: Vec<_> = table.lines().filter(|line| line.starts_with("  * ")).collect();
    assert!(marked.len() == 1 && marked[0].contains(&best), "{table}");
    assert!(table.contains(&format!("Fastest that fits: * {best}: ")), "{table}");
    let header = table.lines().nth(2).unwrap();
    assert!(header.contains("run  ") && header.contains("  batch_size  "), "{header}");
    assert!(!header.contains("matMul") && table.contains("together"), "{table}");
    assert!(table.contains("cannot be read"), "{table}");
    let map = text(&["--by", "batch", "--and", "proportion"]);
    assert!(map.starts_with("Samples per second (by cycles) by batch_size (down)"), "{map}");
    assert!(map.contains(" * ") && map.contains(" ! –") && map.contains(BROKEN), "{map}");
    assert!(text(&["--by", "proportion"]).contains("batch_size 24"));
}

#[test]
fn a_folder_without_speed_or_without_reports_says_so() {
    let path = sample();
    let path = path.to_str().unwrap();
    let alone = json(&tilescope(&["sweep", path, "--json"]));
    assert_eq!((rows(&alone).len(), &alone["runs"][0]["name"]), (1, &".".into()));
    assert_eq!(alone["settings"], serde_json::json!([]));
    let best = &alone["best"];
    assert_eq!(
        (&best["run"], &best["by"]),
        (&0.into(), &"needed_bytes".into()),
        "no speed is known"
    );
    assert_eq!(best["value"], alone["runs"][0]["verdict"]["used_bytes"]);
    assert_eq!(alone["no_best_because"], Value::Null);
    let empty = tempfile::tempdir().unwrap();
    let profile = sample().join("profile.pop");
    for (arguments, status, kind) in [
        (vec![empty.path().to_str().unwrap()], 3, "not-a-report"),
        (vec!["/no/such/path"], 3, "not-found"),
        (vec![path, "--by", "batch"], 2, "usage"),
    ] {
        let output = tilescope(&[&["sweep", "--json"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        assert_eq!(json(&output)["error"]["kind"], kind);
    }
    // A run that is named by itself is one.
    let named = json(&tilescope(&["sweep", profile.to_str().unwrap(), "--json"]));
    assert_eq!(named["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(named["runs"][0]["figures"], alone["runs"][0]["figures"]);
    for wrong in [&["--and", "batch"][..], &["--figure", "peak"], &["--by", "x", "--figure", "y"]] {
        let output = tilescope(&[&["sweep", path], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn reading_many_reports_says_how_far_it_is_and_can_be_cancelled() {
    let warnings = Warnings::default();
    let reports = runs_in_folder(grid(), &warnings, &Progress::default()).unwrap().reports;
    assert!(reports.is_sorted_by_key(|report| &report.profile) && warnings.list().is_empty());
    let arguments = SweepArguments::of_path(grid().to_owned());
    let progress = Progress::default();
    let answer = SweepReport::of(&arguments, &progress).unwrap();
    let answer = serde_json::to_value(answer).unwrap();
    let runs = answer["runs"].as_array().unwrap();
    assert!(runs.iter().all(|run| run["error"].is_null() == (run["name"] != BROKEN)));
    let mut names: Vec<_> = runs.iter().map(|run| run["name"].as_str().unwrap()).collect();
    // They come in the order of their settings, directories in that of their names.
    names.sort_unstable();
    let expected: Vec<_> = reports.iter().map(|report| report.name.as_str()).collect();
    assert_eq!(names, expected);
    let (done, total) = progress.now();
    assert!(done == total && total > 1 << 20, "{done} of {total} bytes");

    let asked = AtomicUsize::new(0);
    let progress = Progress::asking(move || asked.fetch_add(1, Ordering::Relaxed) > 40);
    let stopped = SweepReport::of(&arguments, &progress);
    assert_eq!(stopped.unwrap_err().message, "cancelled");
    assert!(progress.now().0 < total, "in the midst of them");
}

#[test]
fn real_reports_that_nothing_tells_apart_have_their_directories() {
    let Some(folder) = real_report(".") else { return };
    let [whole, cut] = ["poplar-3.3", "poplar-3.3-interrupted"].map(|name| folder.join(name));
    let answer =
        json(&tilescope(&["sweep", whole.to_str().unwrap(), cut.to_str().unwrap(), "--json"]));
    assert_eq!(answer["settings"].as_array().unwrap().len(), 1);
    assert_eq!(answer["settings"][0]["id"], "directory");
    let names: Vec<_> = rows(&answer).iter().map(|row| row["name"].clone()).collect();
    assert_eq!(names, ["poplar-3.3", "poplar-3.3-interrupted/profile_me5mjvuv.pop"]);
    for row in rows(&answer) {
        assert_eq!((&row["fits"], &row["total_bytes"]), (&true.into(), &3_465_355.into()));
        assert_eq!(row["peak_bytes"], 2_705_487 + 759_828);
        assert_eq!(row["fullest_tile_including_gaps_bytes"], 32_804);
        assert_eq!((&row["batch_size"], &row["cycles"]), (&Value::Null, &Value::Null));
    }
    assert_eq!(answer["best"]["by"], "needed_bytes");
}

/// Three runs with a measured figure in app.json, and a fourth that left only its app.json and a log.
fn measured() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let app = |batch: u64, proportion: f64| {
        serde_json::json!({
            "batch_size": batch,
            "available_memory_proportion": proportion,
            "measured": { "samples_per_second": 1000.5 * batch as f64 },
        })
    };
    for (batch, proportion) in [(4, 0.005), (4, 0.35), (24, 0.35)] {
        let options =
            ReportOptions { batch, proportion, execution: true, ..ReportOptions::default() };
        let path = folder.path().join(format!("batch-{batch}-amp-{proportion}"));
        write_report(&options, &path, &Progress::default()).unwrap();
        std::fs::write(path.join("app.json"), app(batch, proportion).to_string()).unwrap();
        std::fs::remove_file(path.join("compile.log")).ok();
    }
    let warning = "2031-05-04T01:02:03.000002Z PL:POPLIN    7.7 W: Warning: convolution planner \
        unable to meet memory target. Optimizing for minimum memory...\n";
    let logged = folder.path().join("batch-4-amp-0.005");
    std::fs::write(logged.join("planner.log"), warning.repeat(5)).unwrap();
    let lost = folder.path().join("batch-24-amp-0.005");
    std::fs::create_dir(&lost).unwrap();
    std::fs::write(lost.join("app.json"), app(24, 0.005).to_string()).unwrap();
    std::fs::write(lost.join("job.log"), "killed\n").unwrap();
    folder
}

fn sweep_of(folder: &Path, arguments: &[&str]) -> std::process::Output {
    tilescope(&[&["sweep", folder.to_str().unwrap()], arguments].concat())
}

#[test]
fn a_number_of_app_json_is_the_figure_of_a_sweep() {
    let folder = measured();
    let key = "samples_per_second";
    let answer = json(&sweep_of(folder.path(), &["--by", "batch_size", "--figure", key, "--json"]));
    assert_eq!(answer["curve"]["figure"], "app.measured.samples_per_second");
    let lines = answer["curve"]["lines"].as_array().unwrap();
    let points = lines.iter().flat_map(|line| line["points"].as_array().unwrap());
    let four = points.clone().find(|point| point["by"] == 4).unwrap();
    assert_eq!(four["value"], 4002.0, "{lines:#?}");
    let output = sweep_of(folder.path(), &["--by", "batch_size", "--figure", key]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("samples_per_second by batch_size"), "{text}");
    let output = sweep_of(folder.path(), &["--by", "batch_size", "--figure", "absent"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("app.measured.samples_per_second") && said.contains("fullest-tile"));
}

#[test]
fn a_run_without_a_report_is_a_row_and_a_cell_that_say_so() {
    let folder = measured();
    let answer = json(&sweep_of(folder.path(), &["--json"]));
    assert_eq!(rows(&answer).len(), 4);
    let lost = &rows(&answer).into_iter().find(|row| row["no_report"] == true).unwrap();
    assert_eq!((&lost["name"], &lost["fits"]), (&"batch-24-amp-0.005".into(), &Value::Null));
    assert_eq!((&lost["error"], &lost["options"]["app.batch_size"]), (&Value::Null, &24.into()));
    assert_eq!(rows(&answer).iter().filter(|row| row["no_report"] == false).count(), 3);
    let by = ["--by", "batch_size", "--and", "convolution"];
    let text = String::from_utf8(sweep_of(folder.path(), &by).stdout).unwrap();
    let row = text.lines().find(|line| line.trim_start().starts_with("24 ")).unwrap();
    assert!(row.contains("no report"), "{text}");
    let text = String::from_utf8(sweep_of(folder.path(), &[]).stdout).unwrap();
    let row = text.lines().find(|line| line.contains("batch-24-amp-0.005")).unwrap();
    assert!(row.contains("no report"), "{text}");
}

#[test]
fn the_planner_at_minimum_is_a_column_of_the_sweep() {
    let folder = measured();
    let answer = json(&sweep_of(folder.path(), &["--json"]));
    let of = |name: &str| {
        let row = rows(&answer).into_iter().find(|row| row["name"] == name).unwrap();
        row.get("planner_at_minimum").unwrap().clone()
    };
    assert_eq!(of("batch-4-amp-0.005"), 5);
    assert_eq!(of("batch-4-amp-0.35"), Value::Null, "it has no log");
    assert_eq!(of("batch-24-amp-0.005"), 0, "its log says nothing of it");
    let text = String::from_utf8(sweep_of(folder.path(), &[]).stdout).unwrap();
    assert!(text.contains("at minimum"), "{text}");
    let row = text.lines().find(|line| line.contains("batch-4-amp-0.005")).unwrap();
    assert!(row.trim_end().ends_with(" 5"), "{text}");
}

#[test]
fn a_sweep_says_by_how_much_a_run_is_over_and_which_no_other_beats() {
    let answer = sweep(&[]);
    let mut over = 0;
    for row in rows(&answer).iter().filter(|row| row["error"].is_null()) {
        let bytes = row["fullest_tile_including_gaps_bytes"].as_u64().unwrap();
        let limit = row["capacity_bytes"].as_u64().unwrap();
        assert_eq!(row["over_bytes"], bytes.saturating_sub(limit));
        assert_eq!(row["fits"], bytes <= limit);
        over += u64::from(bytes > limit);
    }
    assert!(over > 3, "{over} are over");
    let map = text(&["--by", "batch", "--and", "proportion", "--figure", "peak"]);
    assert!(map.contains("KiB over") || map.contains(" B over"), "{map}");
    let all = rows(&answer);
    let best: Vec<&Value> = all.iter().filter(|row| row["pareto"] == true).collect();
    assert!(best.iter().any(|row| row["path"] == answer["best"]["path"]), "{best:?}");
    let figures = |row: &Value| {
        let tile = row["fullest_tile_including_gaps_bytes"].as_u64();
        (tile, row["throughput_samples_per_second"].as_f64())
    };
    for one in &best {
        for other in all.iter().filter(|row| row["fits"] == true) {
            let ((tile, speed), (other_tile, other_speed)) = (figures(one), figures(other));
            assert!(other_tile >= tile || other_speed <= speed, "{other} beats {one}");
        }
    }
}

#[test]
fn runs_of_several_systems_in_one_directory_are_rows_of_one_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    std::fs::create_dir(&report).unwrap();
    std::fs::copy(sample().join("profile.pop"), report.join("profile.pop")).unwrap();
    let samples = crate::common::in_package("sample_profiles");
    for name in ["keep", "donate"] {
        let to = folder.path().join(name);
        std::fs::create_dir(&to).unwrap();
        for file in std::fs::read_dir(samples.join("xla").join(name)).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
    let snapshot = samples.join("training/segments-0/snapshot.pickle");
    std::fs::copy(snapshot, folder.path().join("snapshot.pickle")).unwrap();
    let output = sweep_of(folder.path(), &["--json"]);
    let answer = json(&output);
    let systems: Vec<_> =
        answer["runs"].as_array().unwrap().iter().map(|run| &run["system"]).collect();
    assert_eq!(systems, ["xla", "xla", "poplar", "pytorch"], "{answer}");
    assert!(!answer["warnings"].to_string().contains("left out"), "{answer}");
    assert_eq!(answer["no_best_because"], "several-systems");
    // The user's capacity is that of the devices; a tile has what it has.
    let answer = json(&sweep_of(folder.path(), &["--json", "--capacity", "6MiB"]));
    let outcomes = answer["runs"].as_array().unwrap().iter().map(|run| &run["verdict"]["outcome"]);
    assert_eq!(outcomes.collect::<Vec<_>>(), ["fits", "does-not-fit", "fits", "does-not-fit"]);
    let text = String::from_utf8(sweep_of(folder.path(), &[]).stdout).unwrap();
    assert!(text.contains("system") && text.contains("pytorch"), "{text}");
}
