//! XLA modules in a lake: rows have the figures of `summary`, `liveness` and `sweep`, of real dumps as well.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::lake::{
    Row, columns_are_documented, export, integer, of_run, rows, runs_of, sum, tables_of,
};
use crate::common::{in_package, json, sample, tilescope};
use serde_json::{Value, json};
use tilescope::format::Progress;
use tilescope::lake::TABLES;
use tilescope::synth::transformer::Transformer;
use tilescope::systems::xla::synth::story::{VARIANTS, story};
use tilescope::systems::xla::synth::{DumpOptions, XlaTarget, write_dump};

fn samples() -> PathBuf {
    in_package("sample_profiles/xla")
}

const FILE: &str = "module_0000.jit_train_step.cpu_after_optimizations.hlo.pb";

/// Dumps with all that they may have, the real ones among them that are at hand.
fn dumps() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = ["again", "donate", "keep"].map(|name| samples().join(name)).into();
    let profiles = in_package("../shared/profiles/xla");
    if !profiles.is_dir() {
        eprintln!("skipped: ../shared/profiles/xla is absent");
        return all;
    }
    let folders = fs::read_dir(profiles).unwrap().flatten().map(|entry| entry.path());
    all.extend(folders.filter(|path| path.join("expected.json").is_file()));
    all.retain(|path| !path.ends_with("tpu-errors"));
    all.push(in_package("../shared/profiles/xla/cpu-jax0.6.2-scan-remat/buffer_assignment.pb"));
    all
}

fn summary(path: &Path) -> Value {
    let output = tilescope(&["summary", "--json", path.to_str().unwrap()]);
    assert!(output.status.success(), "{}", json(&output));
    json(&output)
}

/// The tables of one run.
struct Tables {
    lake: tempfile::TempDir,
    run: String,
}

impl Tables {
    #[track_caller]
    fn of(path: &Path) -> Self {
        let lake = tempfile::tempdir().unwrap();
        let answer = export(&[path], lake.path());
        assert_eq!(answer["runs"].as_array().unwrap().len(), 1, "{answer}");
        let run = answer["runs"][0]["run"].as_str().unwrap().to_owned();
        Self { lake, run }
    }

    fn rows(&self, table: &str) -> Vec<Row> {
        of_run(self.lake.path(), table, &self.run)
    }
}

#[test]
fn a_run_has_the_figures_of_summary() {
    for dump in dumps() {
        let tables = Tables::of(&dump);
        let (summary, name) = (summary(&dump), dump.display());
        let facts = &summary["xla"];
        let modules = tables.rows("runs");
        let [module] = &modules[..] else { panic!("one of {name}") };
        for (column, expected) in [
            ("system", &json!("xla")),
            ("module", &facts["module"]),
            ("steps", &summary["liveness"]["steps"]),
            ("format", &summary["source"]["format"]),
            ("outcome", &summary["verdict"]["outcome"]),
            ("used_bytes", &summary["verdict"]["used_bytes"]),
            ("capacity_bytes", &summary["verdict"]["capacity_bytes"]),
            ("fits", &crate::common::fits(&summary)),
            ("total_bytes", &summary["memory"]["total_bytes"]),
            ("gap_bytes", &summary["memory"]["gap_bytes"]),
            ("always_live_bytes", &summary["memory"]["always_live_bytes"]),
            ("peak_step", &summary["liveness"]["peak"]["step"]),
            ("peak_bytes", &summary["liveness"]["peak"]["bytes"]),
            ("warnings", &json!(summary["warnings"].as_array().unwrap().len())),
            ("whole", &json!(true)),
        ] {
            let expected = Some(expected).filter(|it| **it != "").unwrap_or(&Value::Null);
            assert_eq!(&module[column], expected, "{column} of {name}");
        }

        let spaces = tables.rows("memory_spaces");
        assert_eq!(sum(&spaces, "total_bytes"), integer(&facts["total_bytes"]), "{name}");
        assert_eq!(sum(&spaces, "values"), integer(&facts["values"]), "{name}");
        let donated = &facts["parameters"]["donated_bytes"];
        assert_eq!(sum(&spaces, "donated_bytes"), integer(donated), "{name}");
        for space in &spaces {
            let color = space["color"].to_string();
            assert_eq!(space["total_bytes"], facts["bytes_by_color"][&color]);
            assert_eq!(space["in_use_peak_bytes"], facts["in_use"][&color]["peak_bytes"]);
            assert_eq!(space["platform"], facts["platform"]);
            assert_eq!(space["device"], facts["device"]["device"]);
            let parts = ["argument", "output", "constant", "thread_local", "temporary"];
            let parts = parts.map(|part| integer(&space[&format!("{part}_bytes")]));
            assert_eq!(parts.iter().sum::<i64>(), integer(&space["total_bytes"]), "{name}");
        }
        // Of what every space has and the run, the run's are those of the main memory.
        let main = spaces.iter().find(|space| space["color"] == 0).unwrap();
        assert_eq!(main["donatable_bytes"], facts["donatable_bytes"], "{name}");
        // The trace of a bare assignment is in `steps` alone.
        let has_schedule = !facts["steps"].is_null();
        let is_shared =
            |column: &str| module.contains_key(column) && (has_schedule || column != "peak_step");
        let shared = main.iter().filter(|(column, _)| is_shared(column));
        assert!(shared.clone().count() >= 9);
        for (column, value) in shared {
            assert_eq!(&module[column], value, "{column} of {name}");
        }

        let allocations = tables.rows("allocations");
        assert_eq!(allocations.len() as u64, facts["allocations"].as_u64().unwrap());
        let mut by_kind: BTreeMap<String, i64> = BTreeMap::new();
        for row in &allocations {
            let kind = row["kind"].as_str().unwrap();
            *by_kind.entry(kind.to_owned()).or_default() += integer(&row["bytes"]);
        }
        for (kind, bytes) in facts["bytes_by_kind"].as_object().unwrap() {
            assert_eq!(by_kind.get(kind).copied().unwrap_or(0), integer(bytes), "{kind} of {name}");
        }
        for expected in facts["temp"].as_array().unwrap() {
            let row = allocations.iter().find(|row| row["allocation"] == expected["allocation"]);
            let row = row.unwrap();
            assert_eq!((&row["color"], &row["kind"]), (&expected["color"], &json!("temp")));
            assert_eq!((&row["bytes"], &row["values"]), (&expected["bytes"], &expected["values"]));
            assert_eq!(row["in_use_peak_bytes"], expected["peak"]["bytes"], "{name}");
            if expected["peak"]["bytes"] != 0 {
                assert_eq!(row["peak_step"], expected["peak"]["first"], "{name}");
            }
        }
        assert_eq!(integer(&module["warnings"]), 0, "{name}");
    }
}

#[test]
fn values_add_up_to_the_peak_of_each_memory_space_and_have_their_lives() {
    for dump in dumps() {
        let tables = Tables::of(&dump);
        let (summary, name) = (summary(&dump), dump.display());
        let facts = &summary["xla"];
        let values = tables.rows("placed_values");
        assert_eq!(values.len() as u64, facts["values"].as_u64().unwrap());
        let lives = values.iter().filter(|row| !row["first_step"].is_null()).count();
        if let Some(known) = facts["values_with_live_range"].as_u64() {
            assert_eq!(lives as u64, known, "{name}");
        } else {
            assert!(values.iter().all(|row| row["peak_bytes"].is_null()), "{name}");
        }
        for space in tables.rows("memory_spaces") {
            let of_space = values.iter().filter(|row| row["color"] == space["color"]);
            let owned: i64 = of_space.filter_map(|row| row["peak_bytes"].as_i64()).sum();
            assert_eq!(owned, space["temporary_peak_bytes"].as_i64().unwrap_or(0), "{name}");
        }
        if facts["steps"].is_null() {
            continue;
        }
        // What operations own is what `summary` says.
        let mut owned: BTreeMap<&str, i64> = BTreeMap::new();
        for row in values.iter().filter(|row| row["color"] == 0) {
            let operation = row["operation_name"].as_str().unwrap_or("(no operation)");
            *owned.entry(operation).or_default() += row["peak_bytes"].as_i64().unwrap_or(0);
        }
        for row in summary["liveness"]["peak"]["by_operation"].as_array().into_iter().flatten() {
            let operation = row["name"].as_str().unwrap();
            if !crate::common::is_reserved(operation) {
                assert_eq!(owned[operation], integer(&row["bytes"]), "{name}");
            }
        }
        // The largest that live at the peak of each temporary allocation, in every column.
        for allocation in facts["temp"].as_array().unwrap() {
            for top in allocation["peak"]["top"].as_array().into_iter().flatten() {
                let row = values.iter().find(|row| {
                    row["name"] == top["name"] && row["allocation"] == allocation["allocation"]
                });
                let row = row.unwrap();
                for (column, key) in [
                    ("bytes", "bytes"),
                    ("offset_bytes", "offset"),
                    ("first_step", "start"),
                    ("last_step", "end"),
                    ("shape", "shape"),
                    ("unpadded_bytes", "unpadded_bytes"),
                    ("location", "source"),
                ] {
                    assert_eq!(row[column], top[key], "{column} of {} in {name}", top["name"]);
                }
            }
        }
    }
}

#[test]
fn steps_are_those_of_liveness() {
    for dump in dumps() {
        let output = tilescope(&["liveness", "--json", dump.to_str().unwrap()]);
        let steps = Tables::of(&dump).rows("steps");
        if !output.status.success() {
            // A bare assignment without a trace has no steps.
            assert!(steps.is_empty(), "{}", dump.display());
            continue;
        }
        let answer = json(&output);
        let expected = answer["steps"].as_array().unwrap();
        assert_eq!(steps.len(), expected.len(), "{}", dump.display());
        for (row, expected) in steps.iter().zip(expected) {
            for key in ["step", "program", "kind", "name", "not_always_live_bytes"] {
                assert_eq!(row[key], expected[key], "{key} of {expected}");
            }
            assert_eq!(row["operation_name"], expected["operation_facts"]["name"]);
            assert_eq!(row["location"], expected["operation_facts"]["location"]);
        }
    }
}

#[test]
fn runs_below_a_directory_are_those_of_a_sweep_and_lie_beside_reports() {
    let folder = tempfile::tempdir().unwrap();
    story().write(folder.path(), &Progress::default()).unwrap();
    let sweep = json(&tilescope(&["sweep", "--json", folder.path().to_str().unwrap()]));
    let sweep = crate::common::swept(&sweep);
    let report = folder.path().join("report");
    fs::create_dir(&report).unwrap();
    fs::copy(sample().join("profile.pop"), report.join("profile.pop")).unwrap();
    let lake = tempfile::tempdir().unwrap();
    let said = export(&[folder.path()], lake.path());
    assert_eq!(said["runs"].as_array().unwrap().len(), VARIANTS.len() + 1);
    assert_eq!(runs_of(lake.path(), "poplar").len(), 1);
    let modules = runs_of(lake.path(), "xla");
    assert_eq!(modules.len(), VARIANTS.len());
    for expected in sweep["rows"].as_array().unwrap() {
        let variant = expected["variant"].as_str().unwrap();
        let is_it = |row: &&Row| row["name"].as_str().unwrap().starts_with(&format!("{variant}/"));
        let row = modules.iter().find(is_it).unwrap();
        assert_eq!(
            row["path"],
            *folder.path().join(row["name"].as_str().unwrap()).to_str().unwrap()
        );
        let mut compared = 0;
        for (key, value) in expected.as_object().unwrap() {
            if let Some(found) = row.get(key).filter(|_| key.ends_with("_bytes") || key == "fits") {
                assert_eq!(found, value, "{key} of {variant}");
                compared += 1;
            }
        }
        assert!(compared >= 8, "{compared} of {expected}");
        let run = row["run"].as_str().unwrap();
        for table in TABLES.iter().chain(tables_of("xla")) {
            let written = said["runs"].as_array().unwrap().iter().find(|one| one["run"] == run);
            let written = &written.unwrap()["tables"][table.name]["rows"];
            assert_eq!(
                of_run(lake.path(), table.name, run).len() as u64,
                written.as_u64().unwrap()
            );
            assert_ne!(*written, 0, "{}", table.name);
        }
        for table in tables_of("poplar") {
            assert!(!lake.path().join(table.name).join(format!("run={run}")).exists());
        }
    }
    // The same again replaces its files, wherever it lies.
    let other = tempfile::tempdir().unwrap();
    let first = folder.path().join(VARIANTS[0].0);
    crate::common::copies::copy_into(&first, other.path());
    export(&[other.path()], lake.path());
    assert_eq!(runs_of(lake.path(), "xla").len(), VARIANTS.len());
}

#[test]
fn a_module_is_taken_by_its_name_and_compilations_of_it_are_runs() {
    let folder = tempfile::tempdir().unwrap();
    for (number, from, name) in
        [("0002", "again", "step"), ("0010", "keep", "step"), ("0011", "donate", "other")]
    {
        let to = FILE.replace("0000", number).replace("train_step", name);
        fs::copy(samples().join(from).join(FILE), folder.path().join(to)).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let exported = |arguments: &[&str]| {
        let lake = tempfile::tempdir().unwrap();
        let lake = lake.path().to_str().unwrap();
        let output = tilescope(&[&["export", "--json", "--parquet", lake], arguments].concat());
        let names = |said: &Value| -> Vec<String> {
            let runs = said["runs"].as_array().into_iter().flatten();
            runs.map(|run| run["name"].as_str().unwrap().to_owned()).collect()
        };
        (output.status.code(), names(&json(&output)), json(&output))
    };
    // All three say that they are of one name in the file itself.
    let (status, names, _) = exported(&[path]);
    assert_eq!((status, names.len()), (Some(0), 3), "{names:?}");
    let one = folder.path().join(FILE.replace("0000", "0010").replace("train_step", "step"));
    let (status, names, _) = exported(&[one.to_str().unwrap()]);
    assert_eq!(status, Some(0));
    assert_eq!(names, [one.file_name().unwrap().to_str().unwrap()]);
    let (status, names, said) = exported(&[path, "--module", "no such"]);
    assert_eq!((status, names.len()), (Some(2), 0));
    assert_eq!(said["error"]["kind"], "usage", "{said}");
    let sample = sample();
    let (status, _, said) = exported(&[sample.to_str().unwrap(), "--module", "step"]);
    assert_eq!((status, &said["error"]["kind"]), (Some(2), &json!("usage")));
    if let Some(several) = crate::common::real_report("xla/cpu-jax0.10.2-several") {
        let several = several.to_str().unwrap();
        let (_, names, _) = exported(&[several]);
        assert!(names.len() == 1 && names[0].contains("jit_train_step"), "{names:?}");
        let (_, names, _) = exported(&[several, "--module", "jit__normal"]);
        assert!(names.len() == 2 && names.iter().all(|it| it.contains("jit__normal")), "{names:?}");
    }
    if let Some(profile) = crate::common::real_report("xla/xplane-jax0.10.2-mlp") {
        let (_, names, said) = exported(&[profile.to_str().unwrap(), "--module", "jit__normal"]);
        assert!(names.len() == 2 && names[0] != names[1], "{names:?}");
        assert_ne!(said["runs"][0]["run"], said["runs"][1]["run"], "they are in one file");
    }
}

#[test]
fn what_is_cut_has_the_rest_and_what_cannot_be_read_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["cut", "whole", "broken"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::copy(samples().join("keep").join(FILE), folder.path().join(name).join(FILE)).unwrap();
    }
    let cut = folder.path().join("cut").join(FILE);
    let length = fs::metadata(&cut).unwrap().len();
    fs::File::options().write(true).open(&cut).unwrap().set_len(length * 9 / 10).unwrap();
    fs::write(folder.path().join("broken").join(FILE), "no proto").unwrap();
    let lake = tempfile::tempdir().unwrap();
    let said = export(&[folder.path()], lake.path());
    let warnings = said["warnings"].as_array().unwrap();
    let of = |name: &str| {
        warnings.iter().any(|warning| warning["file"].as_str().unwrap().contains(name))
    };
    assert!(of("cut") && !of("whole") && !warnings.is_empty(), "{warnings:?}");
    let said_broken = warnings.iter().any(|warning| warning.to_string().contains("no proto"));
    assert!(said_broken, "{warnings:?}");
    let modules = rows(lake.path(), "runs");
    assert_eq!(modules.len(), 2);
    let row = |name: &str| {
        modules.iter().find(|row| row["name"].as_str().unwrap().starts_with(name)).unwrap()
    };
    assert_eq!((&row("cut")["whole"], &row("whole")["whole"]), (&json!(false), &json!(true)));
    assert!(row("cut")["at_least"].as_str().unwrap().contains("total_bytes"));
    assert!(integer(&row("cut")["warnings"]) > 0);
    let summary = summary(&cut);
    assert_eq!(row("cut")["total_bytes"], summary["memory"]["total_bytes"]);
    assert_eq!(row("cut")["fits"], crate::common::fits(&summary));
    let values =
        |name: &str| of_run(lake.path(), "placed_values", row(name)["run"].as_str().unwrap()).len();
    assert!(values("cut") > 0 && values("cut") < values("whole"));
    // Alone, it is an error that says what is wrong.
    let broken = folder.path().join("broken");
    let lake = lake.path().to_str().unwrap();
    for path in [broken.join(FILE), broken] {
        let output = tilescope(&["export", "--json", "--parquet", lake, path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(3), "{}", json(&output));
        assert!(json(&output)["error"]["message"].to_string().contains("no proto"));
    }
}

#[test]
fn a_large_program_is_written_in_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let options = DumpOptions {
        network: Transformer { layers: 12, ..Transformer::default() },
        platform: XlaTarget::Tpu,
        ..DumpOptions::default()
    };
    let written =
        write_dump(&options.with_instructions(200_000), folder.path(), &Progress::default())
            .unwrap();
    let lake = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let said = export(&[folder.path()], lake.path());
    let took = began.elapsed();
    let tables = &said["runs"][0]["tables"];
    assert_eq!(tables["placed_values"]["rows"].as_u64(), Some(written.values));
    assert_eq!(tables["steps"]["rows"].as_u64(), Some(u64::from(written.steps) + 1));
    assert!(took < Duration::from_mins(1), "{took:?}");
    eprintln!("{} instructions: {took:?}", written.instructions);
}

#[test]
fn the_document_has_every_column_of_programs() {
    columns_are_documented("XLA modules", tables_of("xla"));
}
