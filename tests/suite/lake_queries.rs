//! The queries of docs/user/lake.md, as they stand there, in DuckDB and in Spark, on a lake of 500 runs: both say the
//! same, and what `sweep` and the other commands say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::in_package;
use crate::common::lake::integer;
use rayon::prelude::*;
use serde_json::{Value, json};
use tilescope::cli::liveness::{LivenessArguments, LivenessReport, StepChoice};
use tilescope::cli::output::arrow::ArrowArgument;
use tilescope::cli::scope::ScopeArguments;
use tilescope::cli::tiles::TileBreakdown;
use tilescope::format::Progress;
use tilescope::run::AliveBy;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};
use tilescope::systems::xla::synth::story::story;

/// Tiles of the machine of each model, the last of which fits at no setting.
const MODELS: [(&str, u32); 4] = [("ant", 10), ("bee", 14), ("cat", 20), ("dog", 5)];
const BATCHES: [u64; 5] = [2, 4, 6, 9, 14];
const PROPORTIONS: [f64; 5] = [0.05, 0.15, 0.3, 0.5, 0.8];
/// Commits in order of time, not of their names, and how often each repeats the network.
const COMMITS: [(&str, u32); 5] = [("f00d", 1), ("beef", 1), ("0dd5", 2), ("cafe", 1), ("a11e", 2)];

struct Run {
    model: &'static str,
    commit: usize,
    batch: u64,
    proportion: f64,
    path: PathBuf,
}

fn write_runs(folder: &Path) -> Vec<Run> {
    let mut runs = Vec::new();
    for (model, _) in MODELS {
        for (commit, (name, _)) in COMMITS.iter().enumerate() {
            for batch in BATCHES {
                for proportion in PROPORTIONS {
                    let path = folder.join(format!("{model}/{name}/{batch}-{proportion}"));
                    runs.push(Run { model, commit, batch, proportion, path });
                }
            }
        }
    }
    runs.par_iter().for_each(|run| {
        let tiles_per_ipu = MODELS.iter().find(|(model, _)| *model == run.model).unwrap().1;
        let options = ReportOptions {
            copies: COMMITS[run.commit].1,
            batch: run.batch,
            proportion: run.proportion,
            tiles_per_ipu,
            // Each commit changes a little of everything.
            seed: run.commit as u64,
            execution: true,
            ..ReportOptions::default()
        };
        write_report(&options, &run.path, &Progress::default()).unwrap();
        let app = json!({
            "model": run.model,
            "git": { "commit": COMMITS[run.commit].0 },
            "batch_size": run.batch,
            "available_memory_proportion": run.proportion,
        });
        std::fs::write(run.path.join("app.json"), app.to_string()).unwrap();
        let profile = rusqlite::Connection::open(run.path.join("profile.pop")).unwrap();
        let date = format!("2026-02-{:02} 03:04:05", run.commit + 1);
        assert_eq!(profile.execute("UPDATE date_time SET string = ?1", [date]).unwrap(), 1);
    });
    runs
}

/// The Python with both engines; `None`, after saying why, where it cannot be had. CI must have it.
fn python() -> Option<PathBuf> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("lake-venv");
    let made = Command::new(in_package("scripts/lake-venv")).arg(&directory).output();
    let why = match made {
        Ok(made) if made.status.success() => {
            return Some(PathBuf::from(String::from_utf8(made.stdout).unwrap().trim()));
        }
        Ok(made) => String::from_utf8_lossy(&made.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "no DuckDB and Spark: {why}");
    eprintln!("skipped: no DuckDB and Spark: {why}");
    None
}

/// The rows of every query, by its name.
fn ask(python: &Path, lake: &Path, engine: &str) -> BTreeMap<String, Vec<Value>> {
    let output = Command::new(python)
        .arg(in_package("scripts/lake_queries.py"))
        .args([lake, &in_package("docs/user/lake.md")])
        .arg(engine)
        .output()
        .unwrap();
    assert!(output.status.success(), "{engine}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What the commands say of each run that `sweep` does not.
struct Answers {
    /// Bytes alive at the peak by kind of operation; none for what belongs to none.
    by_operation: BTreeMap<Option<String>, i64>,
    /// Of tiles that are over: how many, bytes, most.
    over: [i64; 3],
    /// Gap bytes by reason.
    gaps: BTreeMap<String, i64>,
    /// Variables of the fullest tile by category: how many, bytes, bytes alive at the peak.
    categories: BTreeMap<String, [i64; 3]>,
}

fn answers(run: &Run, row: &Value) -> Answers {
    let arguments = LivenessArguments {
        module: None,
        input: tilescope::cli::Input { path: run.path.clone(), json: true },
        step: Some(StepChoice::Peak),
        scope: ScopeArguments::default(),
        filter: None,
        by: Some(AliveBy::Operation),
        peaks: None,
        csv: false,
        arrow: ArrowArgument::default(),
    };
    let liveness = crate::common::answer(&run.path, |open, progress| {
        LivenessReport::of(open, &arguments, progress)
    });
    let liveness = liveness.unwrap();
    let mut by_operation = BTreeMap::new();
    for row in liveness["by"]["rows"].as_array().unwrap() {
        // `conv1 (convolution)`
        let name = row["name"].as_str().unwrap();
        let kind = name.rsplit_once(" (").map(|(_, kind)| kind.trim_end_matches(')').to_owned());
        *by_operation.entry(kind).or_default() += integer(&row["bytes"]);
    }
    let tiles = crate::common::tiles(&run.path, TileBreakdown::Gaps).unwrap();
    let mut over = [0, 0, 0];
    let mut gaps = BTreeMap::new();
    for tile in tiles["tiles"].as_array().unwrap() {
        let bytes = integer(&tile["over_limit_bytes"]);
        over = [over[0] + i64::from(bytes > 0), over[1] + bytes, over[2].max(bytes)];
        for (reason, bytes) in tile["by"].as_object().unwrap() {
            *gaps.entry(reason.clone()).or_default() += integer(bytes);
        }
    }
    let tile = u32::try_from(integer(&row["fullest_tile"])).unwrap();
    let step = u32::try_from(integer(&liveness["step"]["step"])).unwrap();
    let map = crate::common::map(&run.path, tile, Some(step)).unwrap();
    let mut categories: BTreeMap<String, [i64; 3]> = BTreeMap::new();
    for variable in map["variables"].as_array().unwrap() {
        let category = categories.entry(variable["category"].as_str().unwrap().to_owned());
        let [count, bytes, alive] = category.or_default();
        (*count, *bytes) = (*count + 1, *bytes + integer(&variable["bytes"]));
        *alive += if variable["live"] == true { integer(&variable["bytes"]) } else { 0 };
    }
    Answers { by_operation, over, gaps, categories }
}

fn float(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

#[test]
fn both_engines_have_the_figures_of_the_commands() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let runs = write_runs(folder.path());
    assert_eq!(runs.len(), 500);
    let lake = tempfile::tempdir().unwrap();
    let exported = crate::common::lake::export(&[folder.path()], lake.path());
    assert_eq!(exported["runs"].as_array().unwrap().len(), 500);
    let sweep = crate::common::lake::sweep(folder.path());
    crate::common::lake::runs_are_those_of_the_sweep(lake.path(), &sweep);
    // XLA modules lie in the same table.
    let programs = tempfile::tempdir().unwrap();
    story().write(programs.path(), &Progress::default()).unwrap();
    crate::common::lake::export(
        &[programs.path(), &in_package("sample_profiles/xla")],
        lake.path(),
    );

    let found = ask(&python, lake.path(), "duckdb");
    let of_spark = ask(&python, lake.path(), "spark");
    for (query, rows) in &found {
        assert_eq!(Some(rows), of_spark.get(query), "{query}");
        assert!(!rows.is_empty(), "{query} finds something");
    }
    assert_eq!(found.len(), of_spark.len());

    // The figures of a run beside its path.
    let with_path = |row: &Value| {
        let path = row["path"].as_str().unwrap().to_owned();
        let mut figures = row["figures"].clone();
        figures["path"] = path.clone().into();
        figures["over_limit_bytes"] = row["verdict"]["over_bytes"].clone();
        (path, figures)
    };
    let by_path: BTreeMap<String, Value> =
        sweep["runs"].as_array().unwrap().iter().map(with_path).collect();
    let row = |run: &Run| &by_path[run.path.to_str().unwrap()];
    let answers: Vec<Answers> = runs.par_iter().map(|run| answers(run, row(run))).collect();
    let of_all: Vec<(&Run, &Value, &Answers)> =
        runs.iter().zip(&answers).map(|(run, answers)| (run, row(run), answers)).collect();

    best_of_each_model_are_those_of_its_sweep(folder.path(), &found);
    commits_grew_what_the_sweep_says(&of_all, &found);
    operations_have_what_liveness_says(&of_all, &found["operations_that_own_the_peaks"]);
    tiles_have_what_the_commands_say(&of_all, &found);
    programs_have_what_their_summaries_say(lake.path(), &found);
    let outcomes = found["outcomes_by_system"].iter();
    let of_xla = outcomes.clone().filter(|row| row["system"] == "xla");
    assert_eq!(of_xla.map(|row| integer(&row["in_runs"])).sum::<i64>(), 7);
    let of_poplar = outcomes.filter(|row| row["system"] == "poplar");
    assert_eq!(of_poplar.map(|row| integer(&row["in_runs"])).sum::<i64>(), 500);
}

fn programs_have_what_their_summaries_say(lake: &Path, found: &BTreeMap<String, Vec<Value>>) {
    let mut by_name: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    let mut by_operation: BTreeMap<Option<String>, i64> = BTreeMap::new();
    let mut lost = 0;
    for row in crate::common::lake::runs_of(lake, "xla") {
        let path = row["path"].as_str().unwrap();
        let summary = crate::common::json(&crate::common::tilescope(&["summary", "--json", path]));
        let memory = &summary["memory"];
        let peak = &summary["liveness"]["peak"];
        let temporary = i64::try_from(crate::common::not_always_live(&summary)).unwrap();
        let figures = (integer(&memory["total_bytes"]), temporary);
        by_name.insert(row["name"].as_str().unwrap().to_owned(), figures);
        lost += integer(&memory["gap_bytes"]);
        for owner in peak["by_operation"].as_array().unwrap() {
            let name = owner["name"].as_str().unwrap();
            if crate::common::is_reserved(name) {
                continue;
            }
            let name = Some(name).filter(|name| *name != "(no operation)").map(str::to_owned);
            *by_operation.entry(name).or_default() += integer(&owner["bytes"]);
        }
    }
    assert_eq!(by_name.len(), 7);
    let rows = &found["modules_by_what_they_reserve"];
    let found_names: BTreeMap<String, (i64, i64)> = rows
        .iter()
        .map(|row| {
            let figures = (integer(&row["total_bytes"]), integer(&row["temporary_peak_bytes"]));
            (row["name"].as_str().unwrap().to_owned(), figures)
        })
        .collect();
    assert_eq!(found_names, by_name);
    assert!(rows.iter().any(|row| float(&row["share_of_largest"]).total_cmp(&1.0).is_eq()));
    let operations = &found["operations_that_own_the_peaks_of_modules"];
    let all: i64 = operations.iter().map(|row| integer(&row["peak_bytes"])).sum();
    assert_eq!(all, by_name.values().map(|(_, peak)| peak).sum::<i64>());
    for row in operations {
        let name = row["operation_name"].as_str().map(str::to_owned);
        // A summary names those that own most.
        if let Some(named) = by_operation.get(&name) {
            assert!(integer(&row["peak_bytes"]) >= *named, "{row}");
        }
    }
    let found_lost: i64 =
        found["lost_by_memory_space"].iter().map(|row| integer(&row["lost_bytes"])).sum();
    assert_eq!(found_lost, lost);
}

fn best_of_each_model_are_those_of_its_sweep(folder: &Path, found: &BTreeMap<String, Vec<Value>>) {
    let mut without = 0;
    for (model, _) in MODELS {
        let sweep = crate::common::lake::sweep(&folder.join(model));
        let of_model = |query: &str| -> Vec<&Value> {
            found[query].iter().filter(|row| row["model"] == model).collect()
        };
        // Without one that fits nothing is the fastest; the best is then the one that needs least.
        let best = &sweep["best"];
        let rows = of_model("fastest_that_fits");
        if best["by"] != "throughput_samples_per_second" {
            assert!(rows.is_empty(), "nothing of {model} fits");
            without += 1;
            continue;
        }
        assert!(rows.iter().all(|row| row["path"] == best["path"]), "{best} {rows:?}");
        let speed = best["value"].as_f64().unwrap();
        assert!((float(&rows[0]["throughput_samples_per_second"]) - speed).abs() < f64::EPSILON);
        // Its settings.
        let options: BTreeMap<&str, &str> = rows
            .iter()
            .map(|row| (row["id"].as_str().unwrap(), row["value"].as_str().unwrap()))
            .collect();
        let expected = best["settings"].as_object().unwrap();
        let expected: BTreeMap<&str, String> = expected
            .iter()
            .filter(|(id, _)| *id != "directory")
            .map(|(id, value)| {
                (id.as_str(), value.as_str().map_or(value.to_string(), str::to_owned))
            })
            .collect();
        let expected: BTreeMap<&str, &str> =
            expected.iter().map(|(id, value)| (*id, value.as_str())).collect();
        assert_eq!(options, expected);
        let marked: BTreeSet<&str> = sweep["runs"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["pareto"] == true)
            .map(|row| row["path"].as_str().unwrap())
            .collect();
        let not_beaten = of_model("not_beaten");
        let not_beaten: BTreeSet<&str> =
            not_beaten.iter().map(|row| row["path"].as_str().unwrap()).collect();
        assert_eq!(not_beaten, marked);
        assert!(marked.len() > 1, "{model}: {marked:?}");
    }
    assert!(without < MODELS.len(), "some fit");
}

fn commits_grew_what_the_sweep_says(
    runs: &[(&Run, &Value, &Answers)],
    found: &BTreeMap<String, Vec<Value>>,
) {
    let of = |model: &str, commit: usize, batch: u64, proportion: f64| {
        let is_it = |run: &Run| {
            (run.model, run.commit, run.batch) == (model, commit, batch)
                && run.proportion.total_cmp(&proportion).is_eq()
        };
        runs.iter().find(|(run, ..)| is_it(run)).unwrap().1
    };
    // By model and commit: settings, most, sum.
    let mut peaks: BTreeMap<(&str, &str), [i64; 3]> = BTreeMap::new();
    let mut always_live: BTreeMap<(&str, u64, &str), [i64; 2]> = BTreeMap::new();
    for (model, _) in MODELS {
        for (commit, (name, _)) in COMMITS.iter().enumerate().skip(1) {
            for batch in BATCHES {
                let most = |commit: usize, key: &str| -> i64 {
                    let all = PROPORTIONS.iter();
                    all.map(|it| integer(&of(model, commit, batch, *it)[key])).max().unwrap()
                };
                let grown = |key: &str| most(commit, key) - most(commit - 1, key);
                if grown("always_live_bytes") > 0 {
                    let grown = [grown("always_live_bytes"), grown("code_bytes")];
                    always_live.insert((model, batch, name), grown);
                }
                for proportion in PROPORTIONS {
                    let peak =
                        |commit| integer(&of(model, commit, batch, proportion)["peak_bytes"]);
                    let grown = peak(commit) - peak(commit - 1);
                    if grown > 0 {
                        let [settings, most, sum] = peaks.entry((model, name)).or_default();
                        (*settings, *most, *sum) = (*settings + 1, grown.max(*most), *sum + grown);
                    }
                }
            }
        }
    }
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = &found["commits_that_grew_the_peak"];
    let found_peaks: BTreeMap<(String, String), [i64; 3]> = rows
        .iter()
        .map(|row| {
            let figures = ["settings_that_grew", "most_grown_bytes", "grown_bytes"];
            let key = (text(row, "model"), text(row, "commit_id"));
            (key, figures.map(|figure| integer(&row[figure])))
        })
        .collect();
    let owned = peaks.iter().map(|((model, commit), figures)| {
        ((String::from(*model), String::from(*commit)), *figures)
    });
    assert_eq!(found_peaks, owned.collect());
    assert!(rows.is_sorted_by_key(|row| -integer(&row["most_grown_bytes"])));
    // Those that repeat the network grow most.
    assert!(["0dd5", "a11e"].contains(&&*text(&rows[0], "commit_id")));
    let found_always: BTreeMap<(String, u64, String), [i64; 2]> =
        found["commits_that_grew_always_live"]
            .iter()
            .map(|row| {
                let batch = row["batch_size"].as_u64().unwrap();
                let key = (text(row, "model"), batch, text(row, "commit_id"));
                let figures = ["always_live_grown_bytes", "code_grown_bytes"];
                (key, figures.map(|figure| integer(&row[figure])))
            })
            .collect();
    let owned = always_live.iter().map(|((model, batch, commit), figures)| {
        ((String::from(*model), *batch, String::from(*commit)), *figures)
    });
    assert_eq!(found_always, owned.collect());
}

fn operations_have_what_liveness_says(runs: &[(&Run, &Value, &Answers)], rows: &[Value]) {
    let mut expected: BTreeMap<Option<String>, (i64, usize)> = BTreeMap::new();
    for (_, _, answers) in runs {
        for (kind, bytes) in &answers.by_operation {
            let (sum, count) = expected.entry(kind.clone()).or_default();
            (*sum, *count) = (*sum + bytes, *count + 1);
        }
    }
    let found: BTreeMap<Option<String>, (i64, usize)> = rows
        .iter()
        .map(|row| {
            let runs = usize::try_from(integer(&row["in_runs"])).unwrap();
            (row["kind"].as_str().map(str::to_owned), (integer(&row["peak_bytes"]), runs))
        })
        .collect();
    assert_eq!(found, expected);
    let all: i64 = runs.iter().map(|(_, row, _)| integer(&row["peak_bytes"])).sum();
    assert_eq!(found.values().map(|(bytes, _)| bytes).sum::<i64>(), all);
    for row in rows {
        let share = integer(&row["peak_bytes"]) as f64 / all as f64;
        assert!((float(&row["share"]) - share).abs() < 1e-12, "{row}");
        assert_eq!(row["models"], MODELS.len());
    }
}

fn tiles_have_what_the_commands_say(
    runs: &[(&Run, &Value, &Answers)],
    found: &BTreeMap<String, Vec<Value>>,
) {
    let over: BTreeMap<&str, [i64; 3]> = found["tiles_over_their_limit"]
        .iter()
        .map(|row| {
            let figures = ["tiles_over", "over_bytes", "most_over_bytes"];
            (row["path"].as_str().unwrap(), figures.map(|figure| integer(&row[figure])))
        })
        .collect();
    let mut gaps: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    let mut categories: BTreeMap<(&str, &str), [i64; 3]> = BTreeMap::new();
    for (run, row, answers) in runs {
        let path = run.path.to_str().unwrap();
        let expected = Some(answers.over).filter(|over| over[0] > 0);
        assert_eq!(over.get(path).copied(), expected, "{path}");
        assert_eq!(integer(&row["tiles_over_limit"]), answers.over[0]);
        assert_eq!(integer(&row["over_limit_bytes"]), answers.over[2]);
        for (reason, bytes) in &answers.gaps {
            *gaps.entry((run.model, reason)).or_default() += bytes;
        }
        for (category, figures) in &answers.categories {
            let sums = categories.entry((run.model, category)).or_default();
            sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        }
    }
    let text = |row: &'_ Value, key: &str| row[key].as_str().unwrap().to_owned();
    let found_gaps: BTreeMap<(String, String), i64> = found["gaps_by_reason"]
        .iter()
        .map(|row| ((text(row, "model"), text(row, "reason")), integer(&row["gap_bytes"])))
        .collect();
    let owned = |(model, other): &(&str, &str)| (String::from(*model), String::from(*other));
    assert_eq!(found_gaps, gaps.iter().map(|(key, bytes)| (owned(key), *bytes)).collect());
    let found_categories: BTreeMap<(String, String), [i64; 3]> = found["fullest_tiles_by_category"]
        .iter()
        .map(|row| {
            let figures = ["variables", "bytes", "live_at_peak_bytes"];
            let key = (text(row, "model"), text(row, "category"));
            (key, figures.map(|figure| integer(&row[figure])))
        })
        .collect();
    assert_eq!(
        found_categories,
        categories.iter().map(|(key, figures)| (owned(key), *figures)).collect()
    );
}
