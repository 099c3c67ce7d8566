//! The lake: its files have the figures of the commands, and exporting is safe.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::copies::copy_into;
use crate::common::lake::{
    Row, columns_are_documented, export, integer, of_run, rows, runs_of, sum, tables_of,
};
use crate::common::{in_package, json, real_report, sample, sample_options, tilescope};
use serde_json::{Value, json};
use tilescope::cli::tiles::TileBreakdown;
use tilescope::lake::TABLES;
use tilescope::run::tables::{ColumnKind, RunTable};

/// The tables that reports have.
fn tables() -> impl Iterator<Item = &'static RunTable> {
    TABLES.iter().chain(tables_of("poplar"))
}

/// Exports one report; the lake, and the run's id.
fn exported(report: &Path) -> (tempfile::TempDir, String) {
    let lake = tempfile::tempdir().unwrap();
    let answer = export(&[report], lake.path());
    let run = answer["runs"][0]["run"].as_str().unwrap().to_owned();
    (lake, run)
}

/// The samples of the package and the real reports that are at hand.
fn reports() -> Vec<std::path::PathBuf> {
    let samples = sample_options().into_iter();
    let mut all: Vec<_> =
        samples.map(|(name, _)| in_package("sample_profiles").join(name)).collect();
    all.extend(real_report("poplar-3.3"));
    all.extend(real_report("poplar-3.3-interrupted"));
    all
}

/// What a command says of rows, as far as the rows of a table have it.
fn same_figures(table: &[Row], command: &[Value], keys: &[&str]) {
    assert_eq!(table.len(), command.len());
    for (row, expected) in table.iter().zip(command) {
        for key in keys {
            assert_eq!(row[*key], expected[*key], "{key} of {expected}");
        }
    }
}

#[test]
fn tiles_have_the_figures_of_the_command() {
    for report in reports() {
        let (lake, run) = exported(&report);
        let tiles = of_run(lake.path(), "tiles", &run);
        let command = crate::common::tiles(&report, TileBreakdown::Region).unwrap();
        let keys = [
            "tile",
            "ipu",
            "bytes",
            "including_gaps_bytes",
            "gap_bytes",
            "always_live_bytes",
            "not_always_live_max_bytes",
            "over_limit_bytes",
        ];
        let command = command["tiles"].as_array().unwrap();
        same_figures(&tiles, command, &keys);
        for (row, expected) in tiles.iter().zip(command) {
            for region in ["non_interleaved", "interleaved", "overflowed"] {
                assert_eq!(row[&format!("{region}_bytes")], expected["by"][region]);
            }
        }
        let runs = of_run(lake.path(), "runs", &run);
        for (of_run, of_tiles) in [
            ("total_bytes", "bytes"),
            ("including_gaps_bytes", "including_gaps_bytes"),
            ("gap_bytes", "gap_bytes"),
            ("always_live_bytes", "always_live_bytes"),
        ] {
            assert_eq!(integer(&runs[0][of_run]), sum(&tiles, of_tiles), "{of_run}");
        }
    }
}

#[test]
fn steps_and_variables_have_the_figures_of_liveness() {
    for report in reports() {
        let (lake, run) = exported(&report);
        let answer = crate::common::liveness(&report, None).unwrap();
        let steps = of_run(lake.path(), "steps", &run);
        let command = answer["steps"].as_array().unwrap();
        same_figures(
            &steps,
            command,
            &["step", "program", "kind", "name", "not_always_live_bytes"],
        );
        for (row, expected) in steps.iter().zip(command) {
            for (column, key) in [
                ("operation_kind", "kind"),
                ("operation_layer", "layer"),
                ("operation_name", "name"),
                ("available_memory_proportion", "available_memory_proportion"),
                ("location", "location"),
            ] {
                assert_eq!(row[column], expected["operation_facts"][key], "{column} of {expected}");
            }
            assert!(expected["operation"].is_null() || row["operation"].is_u64(), "{expected}");
        }
        let runs = of_run(lake.path(), "runs", &run);
        assert_eq!(runs[0]["peak_step"], answer["step"]["step"]);
        let variables = of_run(lake.path(), "variables", &run);
        for (key, is_always_live) in [("variables", false), ("always_live_variables", true)] {
            let expected = answer[key].as_array().unwrap().iter();
            let expected: BTreeMap<&str, i64> = expected
                .map(|row| (row["name"].as_str().unwrap(), integer(&row["bytes"])))
                .collect();
            let mut found: BTreeMap<&str, i64> = BTreeMap::new();
            for row in &variables {
                if row["always_live"] == is_always_live && row["live_at_peak"] == true {
                    *found.entry(row["name"].as_str().unwrap()).or_default() +=
                        integer(&row["bytes"]);
                }
            }
            assert_eq!(found, expected, "{key} of {}", report.display());
        }
        let alive: Vec<Row> =
            variables.into_iter().filter(|row| row["live_at_peak"] == true).collect();
        assert_eq!(sum(&alive, "bytes"), integer(&runs[0]["peak_bytes"]), "{}", report.display());
    }
}

#[test]
fn operations_add_up_to_the_peak_as_the_command_says() {
    let mut with_operations = 0;
    for report in reports() {
        let (lake, run) = exported(&report);
        let operations = of_run(lake.path(), "operations", &run);
        let path = report.to_str().unwrap();
        let answer =
            json(&tilescope(&["liveness", path, "--step", "peak", "--by", "operation", "--json"]));
        let expected = answer["by"]["rows"].as_array().unwrap();
        if expected.len() == 1 && expected[0]["name"] == "Not attributable" {
            assert!(operations.is_empty(), "{path} names no operations");
            continue;
        }
        with_operations += 1;
        let runs = of_run(lake.path(), "runs", &run);
        assert_eq!(sum(&operations, "peak_bytes"), integer(&runs[0]["peak_bytes"]));
        let titles = |row: &Row| match (row["name"].as_str(), row["kind"].as_str()) {
            _ if row["operation"].is_null() => "Not attributable".to_owned(),
            (name, kind) => {
                let kind = kind.or(row["layer"].as_str()).unwrap();
                format!("{} ({kind})", name.unwrap_or("without a name"))
            }
        };
        let mut found: BTreeMap<String, i64> = BTreeMap::new();
        for row in operations.iter().filter(|row| integer(&row["peak_bytes"]) != 0) {
            *found.entry(titles(row)).or_default() += integer(&row["peak_bytes"]);
            assert_eq!(
                integer(&row["always_live_bytes"]) + integer(&row["not_always_live_bytes"]),
                integer(&row["peak_bytes"])
            );
        }
        let mut command: BTreeMap<String, i64> = BTreeMap::new();
        for row in expected {
            *command.entry(row["name"].as_str().unwrap().to_owned()).or_default() +=
                integer(&row["bytes"]);
        }
        assert_eq!(found, command, "{path}");
        // Steps point at the operations of their names.
        for step in
            of_run(lake.path(), "steps", &run).iter().filter(|step| step["operation"].is_u64())
        {
            let operation =
                operations.iter().find(|row| row["operation"] == step["operation"]).unwrap();
            assert_eq!(operation["name"], step["operation_name"]);
            assert_eq!(operation["kind"], step["operation_kind"]);
        }
    }
    assert!(with_operations >= 5, "{with_operations}");
}

#[test]
fn placements_and_gaps_have_the_figures_of_the_map() {
    for report in reports() {
        let (lake, run) = exported(&report);
        let placements = of_run(lake.path(), "placements", &run);
        let gaps = of_run(lake.path(), "gaps", &run);
        let tiles = of_run(lake.path(), "tiles", &run);
        let on_tile = |rows: &[Row], tile: &Value| -> Vec<Row> {
            rows.iter().filter(|row| row["tile"] == *tile).cloned().collect()
        };
        if placements.is_empty() {
            assert!(gaps.is_empty());
            continue;
        }
        assert!(placements.is_sorted_by_key(|row| integer(&row["tile"])));
        for tile in &tiles {
            let of_tile = on_tile(&gaps, &tile["tile"]);
            assert_eq!(sum(&of_tile, "bytes"), integer(&tile["gap_bytes"]), "{}", tile["tile"]);
        }
        for tile in [&tiles[0], &tiles[tiles.len() / 2], &tiles[tiles.len() - 1]] {
            let number = u32::try_from(integer(&tile["tile"])).unwrap();
            let map = crate::common::map(&report, number, None).unwrap();
            let mut of_tile = on_tile(&placements, &tile["tile"]);
            of_tile.sort_by_key(|row| (integer(&row["offset_bytes"]), integer(&row["bytes"])));
            let command = map["variables"].as_array().unwrap();
            same_figures(&of_tile, command, &["bytes", "name", "category", "always_live"]);
            let offsets = |rows: &[Row]| -> Vec<Value> {
                rows.iter().map(|row| row["offset_bytes"].clone()).collect()
            };
            let of_command = |rows: &Value| -> Vec<Value> {
                rows.as_array().unwrap().iter().map(|row| row["offset"].clone()).collect()
            };
            assert_eq!(offsets(&of_tile), of_command(&map["variables"]));
            let of_tile = on_tile(&gaps, &tile["tile"]);
            assert_eq!(offsets(&of_tile), of_command(&map["gaps"]));
            same_figures(&of_tile, map["gaps"].as_array().unwrap(), &["bytes", "reason"]);
        }
        // What lives at the peak: the map at that step.
        let runs = of_run(lake.path(), "runs", &run);
        let step = u32::try_from(integer(&runs[0]["peak_step"])).unwrap();
        let tile = u32::try_from(integer(&runs[0]["fullest_tile"])).unwrap();
        let map = crate::common::map(&report, tile, Some(step)).unwrap();
        let live = |row: &&Value| row["live"] == true;
        let expected: i64 = map["variables"]
            .as_array()
            .unwrap()
            .iter()
            .filter(live)
            .map(|row| integer(&row["bytes"]))
            .sum();
        let mut of_tile = on_tile(&placements, &json!(tile));
        of_tile.retain(|row| row["live_at_peak"] == true);
        assert_eq!(sum(&of_tile, "bytes"), expected);
    }
}

#[test]
fn a_run_has_the_figures_of_its_row_in_a_sweep() {
    let lake = tempfile::tempdir().unwrap();
    let folder = in_package("sample_profiles");
    export(&[&folder], lake.path());
    crate::common::lake::runs_are_those_of_the_sweep(
        lake.path(),
        &crate::common::lake::sweep(&folder),
    );
    let runs = runs_of(lake.path(), "poplar");
    let unknown = runs.iter().find(|run| run["cycles"].is_null()).unwrap();
    assert!(unknown["throughput_samples_per_second"].is_null(), "what is not known is null");
    assert!(runs.iter().all(|run| run["model"] == "tiny" && run["commit_id"].is_null()));
}

#[test]
fn exporting_again_replaces_and_several_at_once_do_not_disturb_each_other() {
    let lake = tempfile::tempdir().unwrap();
    let folder = in_package("sample_profiles");
    let first = export(&[&folder], lake.path());
    let before = rows(lake.path(), "placements");
    // The same reports elsewhere, one of them twice, by several processes at once.
    let copies = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        copy_into(&sample(), &copies.path().join(name));
    }
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| export(&[&folder, copies.path()], lake.path()));
        }
    });
    assert_eq!(rows(lake.path(), "placements"), before);
    let runs = rows(lake.path(), "runs");
    assert_eq!(runs.len(), first["runs"].as_array().unwrap().len());
    // Those of other systems are in the same table.
    assert_eq!(runs_of(lake.path(), "pytorch").len(), 2);
    assert_eq!(runs_of(lake.path(), "xla").len(), 3);
    let mut left: Vec<_> = std::fs::read_dir(lake.path()).unwrap().flatten().collect();
    left.retain(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert!(left.is_empty(), "{left:?}");
    let twice = export(&[copies.path()], lake.path());
    let warning = &twice["warnings"][0]["message"];
    assert!(warning.as_str().unwrap().contains("the same run as"), "{twice}");
    // Other settings make another run.
    std::fs::write(copies.path().join("a/app.json"), r#"{"model":"other","commit":"c0ffee"}"#)
        .unwrap();
    export(&[copies.path()], lake.path());
    let runs_now = rows(lake.path(), "runs");
    assert_eq!(runs_now.len(), runs.len() + 1);
    let other = runs_now.iter().find(|run| run["model"] == "other").unwrap();
    assert_eq!(other["commit_id"], "c0ffee");
}

#[test]
fn what_cannot_be_read_is_a_warning_and_what_is_damaged_has_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    for (name, _) in [("cut", 0), ("broken", 0), ("whole", 0)] {
        std::fs::create_dir(place(name)).unwrap();
        std::fs::copy(sample().join("profile.pop"), place(name).join("profile.pop")).unwrap();
    }
    let profile = place("cut").join("profile.pop");
    let length = std::fs::metadata(&profile).unwrap().len();
    std::fs::File::options().write(true).open(&profile).unwrap().set_len(length / 2).unwrap();
    std::fs::write(place("broken").join("profile.pop"), "no database").unwrap();
    std::fs::create_dir(place("nothing")).unwrap();
    std::fs::write(place("nothing").join("app.json"), r#"{"batch_size":64}"#).unwrap();
    let lake = tempfile::tempdir().unwrap();
    let answer = export(&[folder.path()], lake.path());
    let warnings = answer["warnings"].as_array().unwrap();
    let of = |file: &str| warnings.iter().any(|warning| warning["file"] == file);
    assert!(of("broken/profile.pop") && of("cut/profile.pop"), "{warnings:?}");
    let runs = rows(lake.path(), "runs");
    let named = |name: &str| runs.iter().find(|run| run["name"] == name);
    assert!(named("broken").is_none() && named("whole").is_some());
    assert!(integer(&named("cut").unwrap()["warnings"]) > 0);
    let nothing = named("nothing").unwrap();
    assert_eq!((&nothing["no_report"], &nothing["fits"]), (&json!(true), &Value::Null));
    let options = of_run(lake.path(), "options", nothing["run"].as_str().unwrap());
    assert!(options.iter().any(|row| row["id"] == "app.batch_size" && row["number"] == 64.0));
    // Without debug information no bytes belong to operations, and without execution there are no cycles.
    let whole = named("whole").unwrap();
    assert!(of_run(lake.path(), "operations", whole["run"].as_str().unwrap()).is_empty());
    assert_eq!(whole["cycles"], Value::Null);
    // All tables have a file for every run.
    for table in tables() {
        for run in &runs {
            let directory = format!("{}/run={}", table.name, run["run"].as_str().unwrap());
            assert!(lake.path().join(directory).join("part.parquet").is_file());
        }
    }
}

#[test]
fn exit_statuses_say_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken");
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(broken.join("profile.pop"), "no database").unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "no directory").unwrap();
    let lake = folder.path().join("lake");
    let within = crate::common::damaged_sample(|_| {});
    let inside = within.path().join("lake");
    let (whole, samples) = (sample(), in_package("sample_profiles"));
    // The row of a run, which comes last, has no place.
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("runs"), "no directory").unwrap();
    let [broken, file, lake, sample, within, inside, samples, taken] =
        [&broken, &file, &lake, &whole, within.path(), &inside, &samples, &taken]
            .map(|path| path.to_str().unwrap());
    for (arguments, status, kind) in [
        (vec![broken, "--parquet", lake], 3, "not-a-report"),
        (vec!["/no/such/path", "--parquet", lake], 3, "not-found"),
        (vec![sample, "--parquet", file], 4, "cannot-write"),
        (vec![within, "--parquet", inside], 2, "usage"),
        (vec![samples, "--parquet", taken], 4, "cannot-write"),
    ] {
        let output = tilescope(&[&["export", "--json"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        assert_eq!(json(&output)["error"]["kind"], kind);
    }
    assert!(!Path::new(inside).exists());
    assert_eq!(tilescope(&["export", sample]).status.code(), Some(2), "nothing says where");
    let output =
        tilescope(&["export", "--stats", &format!("{sample}/debug.cbor"), "--parquet", lake]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("1 run in "));
    assert!(String::from_utf8_lossy(&output.stderr).contains("work: rows"));
}

#[test]
fn an_export_that_is_ended_leaves_no_file_that_is_not_whole() {
    let lake = tempfile::tempdir().unwrap();
    let folder = in_package("sample_profiles");
    let mut was_ended = 0;
    // Sooner and later, each time from where the one before was ended.
    for milliseconds in [5, 20, 40, 60, 80, 120, 200, 400] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tilescope"))
            .args(["export", "--no-index", folder.to_str().unwrap(), "--parquet"])
            .arg(lake.path())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        was_ended += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        for table in tables().filter(|table| lake.path().join(table.name).is_dir()) {
            for entry in std::fs::read_dir(lake.path().join(table.name)).unwrap().flatten() {
                let name = entry.file_name();
                let run = name.to_str().unwrap().strip_prefix("run=").unwrap();
                // A directory may have been made for a file that did not come.
                if entry.path().join("part.parquet").exists() {
                    of_run(lake.path(), table.name, run);
                }
            }
        }
    }
    assert!(was_ended > 0, "all of them came to their end");
    export(&[&folder], lake.path());
    assert_eq!(runs_of(lake.path(), "poplar").len(), sample_options().len());
}

/// The type in SQL, of DuckDB and Spark alike.
fn sql(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Integer => "BIGINT",
        ColumnKind::Real => "DOUBLE",
        ColumnKind::Flag => "BOOLEAN",
        ColumnKind::Text => "STRING",
    }
}

#[test]
fn the_document_has_every_column() {
    let text = std::fs::read_to_string(in_package("docs/user/lake.md")).unwrap();
    for table in tables() {
        let section = text.split(&format!("\n### {}\n", table.name)).nth(1).unwrap();
        let section = section.split("\n### ").next().unwrap();
        let lines = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
        let found: Vec<(&str, &str)> =
            lines.map(|(name, rest)| (name, rest.split(" | ").next().unwrap())).collect();
        let expected: Vec<(&str, &str)> =
            table.columns.iter().map(|(name, kind)| (*name, sql(*kind))).collect();
        assert_eq!(found, expected, "{}", table.name);
    }
}

#[test]
fn snapshots_have_tables_of_their_own() {
    use crate::common::recording::{MIB, Recording, stack};
    let folder = tempfile::tempdir().unwrap();
    let mut run = Recording::default();
    run.set("expandable_segments", false);
    run.alloc(0, 3 * MIB, &stack(&[("/home/me/train.py", 10, "__init__")]));
    let forward = stack(&[
        ("/v/site-packages/torch/nn/linear.py", 4, "forward"),
        ("/home/me/train.py", 20, "forward"),
    ]);
    let first = run.alloc(0, 5 * MIB, &forward);
    let other = run.alloc(1, 2 * MIB, &forward);
    run.free(first);
    run.free(other);
    run.out_of_memory(1, 40 * MIB, MIB);
    let snapshot = run.write(folder.path(), "run.pickle");
    std::fs::create_dir(folder.path().join("report")).unwrap();
    std::fs::copy(sample().join("profile.pop"), folder.path().join("report/profile.pop")).unwrap();
    let lake = tempfile::tempdir().unwrap();
    let said = export(&[folder.path()], lake.path());
    let runs = said["runs"].as_array().unwrap();
    let names: Vec<_> = runs.iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["report", "run.pickle"]);
    let id = runs[1]["run"].as_str().unwrap();
    let own = tables_of("pytorch");
    for table in TABLES.iter().chain(own) {
        let written = of_run(lake.path(), table.name, id);
        assert_eq!(Some(written.len() as u64), runs[1]["tables"][table.name]["rows"].as_u64());
        assert!(!written.is_empty(), "{}", table.name);
        let columns: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
        assert!(written.iter().all(|row| columns.iter().all(|name| row.contains_key(*name))));
    }
    let report = runs[0]["run"].as_str().unwrap();
    for (tables, run) in [(tables_of("poplar"), id), (own, report)] {
        for table in tables {
            assert!(of_run_is_absent(lake.path(), table.name, run), "{}", table.name);
        }
    }
    let devices = rows(lake.path(), "devices");
    let peaks: Vec<i64> = devices.iter().map(|row| integer(&row["requested_peak_bytes"])).collect();
    assert_eq!(peaks, [8 << 20, 2 << 20]);
    assert_eq!(devices[1]["failed_request_bytes"], 40 * MIB);
    let blocks = rows(lake.path(), "blocks");
    for (device, peak) in (0_i64..).zip(&peaks) {
        let alive = blocks
            .iter()
            .filter(|row| row["device"] == device && row["live_at_requested_peak"] == true);
        assert_eq!(alive.map(|row| integer(&row["requested_bytes"])).sum::<i64>(), *peak);
    }
    assert_eq!(blocks[1]["frame"], "/home/me/train.py:20 (forward)");
    assert_eq!(
        (&blocks[0]["freed_event"], &blocks[0]["category"]),
        (&Value::Null, &json!("parameter"))
    );
    let events = rows(lake.path(), "events");
    assert_eq!(events.iter().filter(|row| row["action"] == "oom").count(), 1);
    let failed = events.iter().find(|row| row["action"] == "oom").unwrap();
    assert_eq!((&failed["address"], &failed["device_free_bytes"]), (&Value::Null, &json!(MIB)));
    let snapshots = runs_of(lake.path(), "pytorch");
    assert_eq!((snapshots.len(), &snapshots[0]["outcome"]), (1, &json!("out-of-memory")));
    assert_eq!(snapshots[0]["oom_request_bytes"], 40 * MIB);
    // The curve is of the device that failed, over its own events.
    let steps = of_run(lake.path(), "steps", id);
    let most = steps.iter().map(|row| integer(&row["not_always_live_bytes"])).max().unwrap();
    let of_failed: Vec<_> = events.iter().filter(|row| row["device"] == failed["device"]).collect();
    assert!(most == peaks[1] && steps.len() == of_failed.len(), "{most} of {steps:?}");
    for (step, event) in steps.iter().zip(of_failed) {
        assert_eq!((&step["step"], &step["kind"]), (&event["event"], &event["action"]));
        assert_eq!(event["step"], event["event"]);
    }
    let options = of_run(lake.path(), "options", id);
    assert!(options.iter().any(|row| row["id"] == "setting.expandable_segments"), "{options:?}");
    let frames = rows(lake.path(), "frames");
    let users: Vec<_> =
        frames.iter().filter(|row| row["users"] == true).map(|row| &row["line"]).collect();
    assert_eq!(users, [10, 20]);
    // The same again replaces its files; every column stands in the document.
    export(&[&snapshot], lake.path());
    assert_eq!(runs_of(lake.path(), "pytorch").len(), 1);
    columns_are_documented("Memory snapshots", own);
    let timeline = folder.path().join("timeline.json");
    std::fs::write(
        &timeline,
        "[[1, 2], [[0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0, 0, 0, 0]]]",
    )
    .unwrap();
    let lake = lake.path().to_str().unwrap();
    let refused = tilescope(&["export", timeline.to_str().unwrap(), "--parquet", lake]);
    assert_eq!(refused.status.code(), Some(2));
}

/// Whether a table has no file of a run.
fn of_run_is_absent(lake: &Path, table: &str, run: &str) -> bool {
    !lake.join(table).join(format!("run={run}")).exists()
}
