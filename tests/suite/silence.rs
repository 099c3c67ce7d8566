//! Figures that a report states twice are compared: a contradiction is said once, with both figures; a good report has
//! none; and a bit that changes a figure seldom does so in silence.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::seeded::Seeded;
use crate::common::{
    damaged_sample, in_package, liveness_arguments, real_report, sample_options, tiles_arguments,
};
use rayon::prelude::*;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde::Serialize;
use serde_json::Value;
use tilescope::cli::Input;
use tilescope::cli::liveness::LivenessReport;
use tilescope::cli::map::{Map, MapArguments};
use tilescope::cli::summary::Summary;
use tilescope::cli::tiles::{TileBreakdown, Tiles};
use tilescope::format::{Error, Progress};
use tilescope::index::{Cache, Limits};
use tilescope::store::WarningCode;
use tilescope::systems::poplar::cross_checks::{contradictions, contradictions_of_tile};
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::machine::Architecture;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};
use tilescope::systems::poplar::system::ReportRun;
use tilescope::systems::system::OpenRun as _;

/// All warnings of a report that is read to its end, as by the window and by `index`.
fn warnings(path: &Path) -> Vec<String> {
    let progress = Progress::default();
    let open = OpenReport::find(path).unwrap();
    open.read_all(&progress, |report| contradictions(report, &progress)).unwrap();
    let list = open.report.warnings.list();
    let list = list.into_iter().filter(|warning| warning.code == WarningCode::Inconsistent);
    list.map(|warning| format!("{}: {}", warning.file, warning.message)).collect()
}

fn sql(directory: &Path, statements: &str) {
    let connection = Connection::open(directory.join("profile.pop")).unwrap();
    connection.execute_batch(statements).unwrap();
}

fn harmed(statements: &str) -> Vec<String> {
    let directory = damaged_sample(|directory| sql(directory, statements));
    warnings(directory.path())
}

fn assert_good(path: &Path) {
    assert_eq!(warnings(path), Vec::<String>::new(), "{}", path.display());
    let progress = Progress::default();
    let open = OpenReport::open(path, &progress).unwrap();
    for tile in [0, 1, 7] {
        let placed = open.report.reader().unwrap();
        let placed = placed.read(tilescope::store::ArenaId(tile), &progress).unwrap();
        let id = tilescope::store::TileId(tile);
        let found = contradictions_of_tile(&open.report, id, &placed.unwrap());
        assert_eq!(found, Vec::<String>::new(), "tile {tile} of {}", path.display());
    }
}

#[test]
fn good_reports_have_no_contradiction() {
    for (name, _) in sample_options() {
        assert_good(&in_package("sample_profiles").join(name));
    }
    for name in ["poplar-3.3", "poplar-3.3-interrupted"] {
        if let Some(path) = real_report(name) {
            let said = warnings(&path);
            let damaged = |text: &&String| !text.starts_with("debug.cbor");
            assert_eq!(said.iter().find(damaged), None, "{name}");
        }
    }
}

#[test]
fn synthetic_reports_of_many_shapes_have_no_contradiction() {
    let base = ReportOptions::default();
    let mk1 = ReportOptions { architecture: Architecture::Mk1, ..base.clone() };
    let run = ReportOptions { execution: true, ..base.clone() };
    let shapes = [
        ReportOptions { seed: 3, batch: 1, tiles_per_ipu: 8, ..base.clone() },
        ReportOptions { seed: 5, proportion: 0.001, ..base.clone() },
        ReportOptions { seed: 6, copies: 3, tiles_per_ipu: 33, ..base.clone() },
        ReportOptions { seed: 7, batch: 1, ..mk1.clone() },
        ReportOptions { seed: 8, batch: 4, tiles_per_ipu: 24, ..mk1 },
        ReportOptions { seed: 10, ipus: 2, batch: 4, ..run.clone() },
        ReportOptions { seed: 11, ipus: 4, batch: 3, proportion: 0.2, ..run.clone() },
        ReportOptions { seed: 12, ipus: 2, batch: 32, ..run },
    ];
    shapes.par_iter().for_each(|options| {
        let directory = tempfile::tempdir().unwrap();
        write_report(options, directory.path(), &Progress::default()).unwrap();
        assert_good(directory.path());
    });
}

/// Each emptied table is named once, with what needs it and how many rows that has.
#[test]
fn emptied_tables_that_others_need_are_named() {
    let emptied = [
        ("target_info", "memory_by_tile, which has 16"),
        ("memory_by_tile", "graph_info.num_vars, which has 1200"),
        ("memory_by_category", "memory_by_tile, which has 16"),
        ("var_categories", "memory_by_category, which has 27"),
        ("vars_info", "graph_info.num_vars, which has 1200"),
        ("vars_string_table", "graph_info.num_vars, which has 1200"),
        ("eq_classes", "graph_info.num_vars, which has 1200"),
        ("eq_class_step", "eq_classes, which has "),
        ("var_bytes_by_eq_class", "eq_classes, which has "),
        ("unlowered_vars", "var_bytes_by_eq_class, which has "),
        ("memory_not_always_live_by_step_and_ipu", "eq_class_step, which has "),
        ("programs", "depth_first_steps, which has 67"),
        ("depth_first_steps", "programs, which has 67"),
        ("program_types", "programs, which has 67"),
        ("compute_sets", "programs of kind OnTileExecute, which has 27"),
        ("program_type_on_tile_execute", "programs of kind OnTileExecute, which has 27"),
        ("vertex_instances", "compute_sets, which has 27"),
        ("vertex_types", "compute_sets, which has 27"),
        ("memory_by_compute_set", "compute_sets, which has 27"),
        ("memory_by_vertex_type", "compute_sets, which has 27"),
    ];
    emptied.par_iter().for_each(|(table, by)| {
        let said = harmed(&format!("DELETE FROM {table}"));
        let message = format!("table {table}: rows expected by {by}");
        let count = said.iter().filter(|text| text.contains(&message)).count();
        assert_eq!(count, 1, "{message}: {said:#?}");
        assert!(said.iter().all(|text| text.len() < 400), "{said:#?}");
    });
}

/// Each contradiction is said once, with both sides and their figures, and how many there are.
#[test]
fn contradictions_name_both_sides() {
    let contradictions: &[(&str, &str)] = &[
        (
            "UPDATE target_info SET num_ipus = 3",
            "table target_info, column num_tiles: 48 expected by num_ipus × tiles_per_ipu, 16 found",
        ),
        (
            "UPDATE target_info SET num_replicas = 2",
            "table target_info, column num_ipus: 2 expected by num_replicas × ipus_per_replica, 1 found",
        ),
        (
            "UPDATE target_info SET bytes_per_tile = bytes_per_tile + 1024",
            "table target_info, column bytes_per_ipu: 10240000 expected by bytes_per_tile × tiles_per_ipu, 10223616 found",
        ),
        (
            "UPDATE target_info SET total_memory = 5",
            "table target_info, column total_memory: 10223616 expected by bytes_per_tile × num_tiles, 5 found",
        ),
        (
            "UPDATE graph_info SET num_vars = 1201",
            "table graph_info, column num_vars: 1200 expected by the rows of vars_info, 1201 found",
        ),
        (
            "UPDATE graph_info SET num_compute_sets = 26",
            "table graph_info, column num_compute_sets: 27 expected by the rows of compute_sets, 26 found",
        ),
        (
            "UPDATE graph_info SET num_vertices = 1",
            "table graph_info, column num_vertices: 2267 expected by compute_sets.vertex_counts, 1 found",
        ),
        (
            "UPDATE graph_info SET num_edges = 1",
            "table graph_info, column num_edges: 6801 expected by compute_sets.edge_count, 1 found",
        ),
        (
            "UPDATE memory_by_tile SET total = total + 5 WHERE tile = 3",
            "table memory_by_tile, column total, tile 3: 541964 expected by the sum of its regions, 541969 found",
        ),
        (
            "UPDATE memory_by_tile SET non_interleaved = non_interleaved - 5, total = total - 5 WHERE tile < 4",
            "table memory_by_tile, column non_interleaved, tile 0: 195292 expected by vars_info, 195287 found (4 differ)",
        ),
        (
            "UPDATE memory_by_tile SET total_including_gaps = total_including_gaps + 8",
            "table memory_by_tile, column total_including_gaps, tile 0: 538844 expected by vars_info, 538852 found (16 differ)",
        ),
        (
            "UPDATE memory_by_tile SET always_live_bytes = 5 WHERE tile = 3",
            "table memory_by_tile, column always_live_bytes, sum of all tiles: 1020664 expected by var_bytes_by_eq_class, 956389 found",
        ),
        (
            "UPDATE memory_by_tile SET not_always_live_max_bytes = 900000 WHERE tile = 3",
            "table memory_by_tile, always_live_bytes + not_always_live_max_bytes, tile 3: at most 541964 expected by total, 964280 found",
        ),
        (
            "UPDATE memory_by_tile SET tile = 20 WHERE tile = 15",
            "table memory_by_tile, column tile: at most 15 expected by target_info.num_tiles, less one, 20 found",
        ),
        (
            "UPDATE memory_by_category SET category_id = 'stock' WHERE category_id = 'stack'",
            "table memory_by_category, column category_id, category stock: one of its names expected by var_categories, none found",
        ),
        (
            "DELETE FROM memory_by_category WHERE category_id = 'stack'",
            "table memory_by_category, tile 0, category stack: 1064 expected by vars_info, 0 found (16 differ)",
        ),
        (
            "UPDATE memory_by_category SET non_interleaved_non_overlapped = (SELECT non_interleaved_non_overlapped FROM memory_by_category WHERE category_id = 'controlCode') WHERE category_id = 'stack'",
            "table memory_by_category, column non_interleaved_non_overlapped, tile 0, category stack: 1064 expected by vars_info, 4076 found (16 differ)",
        ),
        (
            "UPDATE memory_by_category SET interleaved_overlapped = (SELECT interleaved_overlapped FROM memory_by_category WHERE category_id = 'stack') WHERE category_id = 'variable'",
            "table memory_by_category, column interleaved_overlapped, tile 0, category variable: 211460 expected by vars_info, 0 found (16 differ)",
        ),
        (
            "UPDATE memory_not_always_live_by_step_and_ipu SET delta_bytes = delta_bytes + 4 WHERE ipu = 0 AND step_id = 2",
            "table memory_not_always_live_by_step_and_ipu, all IPUs, step 2: 619652 expected by the sum of its IPUs, 619648 found (36 differ)",
        ),
        (
            "UPDATE memory_not_always_live_by_step_and_ipu SET delta_bytes = delta_bytes + 4 WHERE step_id = 2",
            "table memory_not_always_live_by_step_and_ipu, IPU 0, step 2: 619648 expected by the rows by tile of var_bytes_by_eq_class, and eq_class_step, 619652 found (36 differ)",
        ),
        (
            "UPDATE eq_classes SET is_always_live = 1 WHERE id = 2",
            "table eq_class_step, steps, class 2: 67 expected by eq_classes.is_always_live, 7 found",
        ),
        (
            "DELETE FROM eq_class_step WHERE eq_class_id = 2",
            "table eq_class_step, rows, class 2: some expected by the bytes in var_bytes_by_eq_class, none found",
        ),
        (
            "UPDATE eq_class_step SET step_id_to = 35 WHERE eq_class_id = 2",
            "table memory_not_always_live_by_step_and_ipu, all IPUs, step 34: 5446824 expected by var_bytes_by_eq_class and eq_class_step, 1606756 found",
        ),
        (
            "UPDATE var_bytes_by_eq_class SET bytes = bytes + 4 WHERE tile IS NULL AND unlowered_var_id = 0",
            "table var_bytes_by_eq_class, rows of all tiles, class 1: 1020664 expected by its rows by tile, 1020668 found (2 differ)",
        ),
        (
            "UPDATE var_bytes_by_eq_class SET bytes = bytes + 4 WHERE tile = 2 AND unlowered_var_id = 0",
            "table var_bytes_by_eq_class, column bytes, tile 2, class 1: 63948 expected by vars_info, 63952 found",
        ),
        (
            "UPDATE var_bytes_by_eq_class SET unlowered_var_id = 999 WHERE tile IS NULL AND unlowered_var_id = 0",
            "table var_bytes_by_eq_class, column unlowered_var_id: one of 35 variables expected by unlowered_vars, 999 found",
        ),
        (
            "UPDATE var_bytes_by_eq_class SET tile = 99 WHERE tile = 15",
            "table var_bytes_by_eq_class, column tile: one of 16 tiles expected by memory_by_tile, 99 found",
        ),
        (
            "UPDATE vars_info SET tile = 99 WHERE tile = 15",
            "table vars_info, column tile: one of 16 tiles expected by memory_by_tile, 99 found",
        ),
        (
            "UPDATE vars_info SET size_bytes = size_bytes + 4 WHERE var_id = 100",
            "table memory_by_category, column non_interleaved_non_overlapped, tile 1, category hostExchangeCode: 1532 expected by vars_info, 1536 found",
        ),
        (
            "UPDATE vars_info SET offset = offset + 400000 WHERE var_id = 100",
            "table memory_by_tile, column total, tile 1: 540064 expected by vars_info, 540492 found",
        ),
        (
            "UPDATE vars_info SET category = 0 WHERE category = 11",
            "table memory_by_category, column non_interleaved_non_overlapped, tile 0, category variable: 38232 expected by vars_info, 37168 found (32 differ)",
        ),
        (
            "UPDATE vars_info SET equivalence_class = 2 WHERE var_id = 100",
            "table memory_by_tile, column not_always_live_max_bytes, tile 1: 476644 expected by vars_info, 476216 found",
        ),
        (
            "DELETE FROM vars_info WHERE var_id = 100",
            "table graph_info, column num_vars: 1199 expected by the rows of vars_info, 1200 found",
        ),
        (
            "UPDATE depth_first_steps SET program_id = 1 WHERE id = 2 OR id = 60",
            "table depth_first_steps, column program_id, step 60: one of 8 children of program 53 expected by the children in programs, 1 found",
        ),
        (
            "UPDATE depth_first_steps SET program_id = 999 WHERE id = 66",
            "table depth_first_steps, column program_id, step 66: one of 67 programs expected by programs, 999 found",
        ),
        (
            "UPDATE depth_first_steps SET program_id = (SELECT program_id FROM depth_first_steps WHERE id = 4) WHERE id = 3",
            "table depth_first_steps, order of program_id, step 3: 3 expected by the children in programs, 4 found",
        ),
        (
            "UPDATE depth_first_steps SET parent_step_id = 70 WHERE id = 2",
            "table depth_first_steps, column parent_step_id, step 2: an earlier step expected by the order of the steps, 70 found",
        ),
        (
            "UPDATE program_type_on_tile_execute SET compute_set = 99 WHERE compute_set = 5",
            "table programs, column variant_index, program 17: one of 27 compute sets expected by program_type_on_tile_execute and compute_sets, 99 found",
        ),
        (
            "UPDATE programs SET variant_index = 99 WHERE variant = (SELECT id FROM program_types WHERE name = 'DoExchange') AND variant_index = 3",
            "table programs, column variant_index, program 23: one of its rows expected by program_type_do_exchange, 99 found",
        ),
        (
            "DELETE FROM vertex_instances WHERE compute_set = 3",
            "table vertex_instances, compute set 3: 66 expected by compute_sets.vertex_counts, 0 found",
        ),
        (
            "UPDATE memory_by_vertex_type SET vertex_data_bytes = padding_bytes",
            "table memory_by_vertex_type, column vertex_data_bytes: 39580 expected by memory_by_compute_set, 0 found",
        ),
    ];
    contradictions.par_iter().for_each(|(statements, expected)| {
        let said = harmed(statements);
        let expected = format!("profile.pop: {expected}");
        let count = said.iter().filter(|text| **text == expected).count();
        assert_eq!(count, 1, "{statements}: {expected}\n{}", said.join("\n"));
    });
}

/// Of what is wrong everywhere there is one warning with a count, however large the report.
#[test]
fn a_kind_is_said_once() {
    let said = harmed(
        "UPDATE memory_by_tile SET total = total + 1, always_live_bytes = 0; \
         UPDATE vars_info SET offset = 0; UPDATE var_bytes_by_eq_class SET bytes = 4",
    );
    assert!(said.len() < 40, "{said:#?}");
    assert!(said.iter().any(|text| text.ends_with("(16 differ)")), "{said:#?}");
}

/// A runs' table that counts other steps than there are.
#[test]
fn steps_of_runs_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let options = ReportOptions { execution: true, ..ReportOptions::default() };
    write_report(&options, directory.path(), &Progress::default()).unwrap();
    sql(directory.path(), "UPDATE runs SET num_steps = num_steps + 1");
    let said = warnings(directory.path());
    assert!(said.iter().any(|text| text.contains("rows expected by runs.num_steps")), "{said:?}");
}

/// What a command does not read it cannot compare; what it reads it does.
#[test]
fn commands_compare_what_they_read() {
    let said = |statements: &str, ask: fn(&Path) -> Result<Value, Error>| {
        let directory = damaged_sample(|directory| sql(directory, statements));
        ask(directory.path()).unwrap()["warnings"].to_string()
    };
    let total = "UPDATE memory_by_tile SET total = total + 5 WHERE tile = 3";
    assert!(said(total, crate::common::summary).contains("by the sum of its regions"));
    assert!(!said(total, crate::common::summary).contains("vars_info"));
    let map: fn(&Path) -> Result<Value, Error> = |path| crate::common::map(path, 3, None);
    assert!(said(total, map).contains("by vars_info"));
    let alignment = "UPDATE vars_info SET alignment = 6 WHERE tile = 3";
    assert!(said(alignment, map).contains("a power of two expected"));
    let alignment = "UPDATE vars_info SET alignment = 1 << 19 WHERE tile = 3 AND offset > 0";
    assert!(said(alignment, map).contains("a multiple of 524288 expected"));
    let lives = "UPDATE var_bytes_by_eq_class SET bytes = bytes + 4 WHERE tile = 2";
    assert!(!said(lives, crate::common::summary).contains("var_bytes_by_eq_class"), "not read");
}

/// A report that contradicts itself is not indexed, so that its warnings come again.
#[test]
fn what_contradicts_itself_is_not_indexed() {
    let directory = damaged_sample(|directory| {
        sql(directory, "UPDATE graph_info SET num_vars = 1201");
    });
    let place = tempfile::tempdir().unwrap();
    let cache = Cache::in_directory(place.path().join("index"), Limits::default());
    let progress = Progress::default();
    for _ in 0..2 {
        let open = OpenReport::find_with(directory.path(), Some(&cache), &progress).unwrap();
        open.read_all(&progress, |report| contradictions(report, &progress)).unwrap();
        let error = open.write_index(&Progress::default()).unwrap_err().to_string();
        assert!(error.contains("1200 expected by the rows of vars_info, 1201 found"), "{error}");
        assert!(!open.has_index());
    }
}

/// The answers of the commands whose figures are looked at, of a report that is opened once.
fn answers(run: &ReportRun) -> Result<Vec<Value>, Error> {
    let progress = Progress::default();
    let path = || run.open.report.path.clone();
    let tiles = |by| Tiles::of(run, &tiles_arguments(&path(), by), &progress).map(value);
    let liveness =
        |tile| LivenessReport::of(run, &liveness_arguments(&path(), tile), &progress).map(value);
    let map = MapArguments {
        input: Input { path: path(), json: true },
        arena: 3,
        step: Some(12),
        csv: false,
    };
    Ok(vec![
        value(Summary::of_run(run, &[], &progress)?),
        tiles(TileBreakdown::Region)?,
        tiles(TileBreakdown::Category)?,
        liveness(None)?,
        liveness(Some(2))?,
        value(Map::of(run, &map, &progress)?),
    ])
}

fn value(answer: impl Serialize) -> Value {
    figures_of(serde_json::to_value(&answer).unwrap())
}

/// The sample itself has one warning: that it was not run.
fn is_warned(run: &ReportRun) -> bool {
    let progress = Progress::default();
    let warnings = run.warnings(&progress);
    warnings.iter().any(|warning| warning.code != WarningCode::NoExecution)
}

/// An answer with its numbers; what texts say is no figure.
fn figures_of(answer: Value) -> Value {
    match answer {
        Value::String(_) => Value::String(String::new()),
        Value::Array(list) => Value::Array(list.into_iter().map(figures_of).collect()),
        Value::Object(object) => Value::Object(
            object
                .into_iter()
                .filter(|(key, _)| !["warnings", "source", "schema"].contains(&&**key))
                .map(|(key, value)| (key, figures_of(value)))
                .collect(),
        ),
        other => other,
    }
}

/// A small report whose files are harmed.
struct Target {
    files: Vec<(&'static str, Vec<u8>)>,
    good: Vec<Value>,
}

const PAGE: usize = 4096;

/// What a change of a file led to.
#[derive(Default)]
struct Outcome {
    /// Where figures are others.
    changed: Vec<String>,
    /// Whether the commands warn.
    is_said: bool,
    /// Whether what reads everything, as the window and `index` do, warns.
    is_said_of_all: bool,
}

impl Target {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let options = ReportOptions { tiles_per_ipu: 4, ..ReportOptions::default() };
        write_report(&options, directory.path(), &Progress::default()).unwrap();
        let files = ["profile.pop", "debug.cbor", "app.json", "framework.json", "compile.log"]
            .map(|name| (name, fs::read(directory.path().join(name)).unwrap()));
        let progress = Progress::default();
        let run = ReportRun::of(OpenReport::open(directory.path(), &progress).unwrap());
        let good = answers(&run).unwrap();
        run.open.read_all(&progress, |report| contradictions(report, &progress)).unwrap();
        assert!(!is_warned(&run));
        Self { files: files.into(), good }
    }

    /// Changes one of the files and asks.
    fn outcome(&self, file: usize, change: impl FnOnce(&mut [u8])) -> Outcome {
        let copy = tempfile::tempdir().unwrap();
        let mut change = Some(change);
        for (index, (name, bytes)) in self.files.iter().enumerate() {
            let mut bytes = bytes.clone();
            if let Some(change) = change.take_if(|_| index == file) {
                change(&mut bytes);
            }
            fs::write(copy.path().join(name), &bytes).unwrap();
        }
        let progress = Progress::default();
        let said = |changed| Outcome { changed, is_said: true, is_said_of_all: true };
        let Ok(open) = OpenReport::open(copy.path(), &progress) else {
            return said(vec!["no report".to_owned()]);
        };
        let run = ReportRun::of(open);
        let Ok(answers) = answers(&run) else { return said(vec!["no answer".to_owned()]) };
        let mut changed = Vec::new();
        for (was, is) in self.good.iter().zip(&answers).filter(|(was, is)| was != is) {
            differ("", was, is, &mut changed);
        }
        if changed.is_empty() {
            return Outcome::default();
        }
        let is_said = is_warned(&run);
        let read = run.open.read_all(&progress, |report| contradictions(report, &progress));
        Outcome { changed, is_said, is_said_of_all: read.is_err() || is_warned(&run) }
    }

    /// The cells of tables that a change makes others of, `table.column row N: was -> is`; none of `debug.cbor`.
    fn cells_that_differ(&self, file: usize, change: impl FnOnce(&mut [u8])) -> Vec<String> {
        let (name, good) = &self.files[file];
        if *name != "profile.pop" {
            return Vec::new();
        }
        let directory = tempfile::tempdir().unwrap();
        let mut bad = good.clone();
        change(&mut bad);
        let open = |name: &str, bytes: &[u8]| {
            let path = directory.path().join(name);
            fs::write(&path, bytes).unwrap();
            Connection::open(path).unwrap()
        };
        let (good, bad) = (open("good", good), open("bad", &bad));
        let mut found = Vec::new();
        let tables = rows_of(&good, "sqlite_master WHERE type = 'table'").unwrap().1;
        for table in tables.iter().map(|row| &row[2]) {
            let Some((columns, rows)) = rows_of(&good, table) else { continue };
            let others = rows_of(&bad, table).map_or(Vec::new(), |(_, rows)| rows);
            for (place, (was, is)) in rows.iter().zip(&others).enumerate() {
                for ((column, was), is) in
                    columns.iter().zip(was).zip(is).filter(|((_, a), b)| a != b)
                {
                    found.push(format!("{table}.{column} row {place}: {was:.60} -> {is:.60}"));
                }
            }
            if rows.len() != others.len() {
                found.push(format!("{table} {} rows, {} expected", others.len(), rows.len()));
            }
        }
        found
    }

    /// The pages of `profile.pop` and `debug.cbor` that figures depend on.
    fn pages(&self) -> Vec<(usize, usize)> {
        let pages = |file: usize| {
            let count = self.files[file].1.len().div_ceil(PAGE);
            (0..count).map(move |page| (file, page))
        };
        let all: Vec<(usize, usize)> = pages(0).chain(pages(1)).collect();
        let matters = |(file, page): &(usize, usize)| {
            let overwrite = |bytes: &mut [u8]| {
                bytes.iter_mut().skip(page * PAGE).take(PAGE).for_each(|byte| *byte ^= 0xff);
            };
            !self.outcome(*file, overwrite).changed.is_empty()
        };
        all.into_par_iter().filter(matters).collect()
    }
}

/// Of single-bit flips that change a figure at most 10 % do so in silence. What these are is printed.
#[test]
fn a_bit_that_changes_a_figure_seldom_does_so_in_silence() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
    };
    let target = Target::new();
    let pages = target.pages();
    let mut seeded = Seeded(number("TILESCOPE_SEED", 16));
    let flips: Vec<(usize, usize, u32)> = (0..number("TILESCOPE_FLIPS", 1300))
        .map(|_| {
            let (file, page) = pages[usize::try_from(seeded.below(pages.len() as u64)).unwrap()];
            let at = page * PAGE + usize::try_from(seeded.below(PAGE as u64)).unwrap();
            (file, at, u32::try_from(seeded.below(8)).unwrap())
        })
        .filter(|(file, at, _)| *at < target.files[*file].1.len())
        .collect();
    let outcomes: Vec<(&(usize, usize, u32), Outcome)> = flips
        .par_iter()
        .map(|flip| (flip, target.outcome(flip.0, |bytes| bytes[flip.1] ^= 1 << flip.2)))
        .collect();
    let changed: Vec<_> = outcomes.iter().filter(|(_, it)| !it.changed.is_empty()).collect();
    let silent: Vec<_> = changed.iter().filter(|(_, it)| !it.is_said_of_all).collect();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for ((file, at, bit), outcome) in &silent {
        let cells = target.cells_that_differ(*file, |bytes| bytes[*at] ^= 1 << bit);
        let figures = outcome.changed.len();
        println!("silent: {} byte {at} bit {bit}: {figures} figures", target.files[*file].0);
        cells.iter().take(3).for_each(|cell| println!("    cell    {cell}"));
        outcome.changed.iter().take(3).for_each(|figure| println!("    figure  {figure}"));
        let column = cells.first().and_then(|cell| cell.split(' ').next());
        *kinds.entry(column.unwrap_or(target.files[*file].0).to_owned()).or_default() += 1;
    }
    for (column, count) in kinds {
        println!("silent: {count} in {column}");
    }
    println!(
        "{} bits flipped on {} pages: {} change a figure, {} in silence, {} unless everything is read",
        outcomes.len(),
        pages.len(),
        changed.len(),
        silent.len(),
        changed.iter().filter(|(_, it)| !it.is_said).count(),
    );
    assert!(changed.len() >= 200, "{}", changed.len());
    assert!(silent.len() * 10 <= changed.len(), "{} of {}", silent.len(), changed.len());
}

/// A value on part of a line.
fn short(value: &Value) -> String {
    let text = value.to_string();
    let cut: String = text.chars().take(60).collect();
    if cut == text { cut } else { format!("{cut}…") }
}

/// All rows of a table by their place, as SQLite reads them.
fn rows_of(connection: &Connection, table: &str) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let with_id = connection.prepare(&format!("SELECT rowid AS rowid, * FROM {table}"));
    let mut statement =
        with_id.or_else(|_| connection.prepare(&format!("SELECT * FROM {table}"))).ok()?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let cell = |row: &rusqlite::Row<'_>, column: usize| match row.get_ref(column) {
        Ok(ValueRef::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    };
    let rows = statement
        .query_map([], |row| Ok((0..columns.len()).map(|column| cell(row, column)).collect()))
        .ok()?;
    let rows = rows.map_while(Result::ok).collect();
    Some((columns, rows))
}

fn differ(place: &str, was: &Value, is: &Value, paths: &mut Vec<String>) {
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            for (key, value) in was {
                let other = is.get(key).unwrap_or(&Value::Null);
                differ(&format!("{place}/{key}"), value, other, paths);
            }
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            for (row, (was, is)) in was.iter().zip(is).enumerate() {
                differ(&format!("{place}/{row}"), was, is, paths);
            }
        }
        _ if was != is => paths.push(format!("{place}: {} -> {}", short(was), short(is))),
        _ => {}
    }
}
