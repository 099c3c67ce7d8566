//! Poplar's own sums, recomputed from the lowered variables of every report at hand
//! (formats/poplar.md 2.4).

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use tilescope::analysis::liveness::{self, Scope};
use tilescope::analysis::memory;
use tilescope::analysis::placement::gaps;
use tilescope::analysis::placement::read::read_arena;
use tilescope::analysis::placement::recompute;
use tilescope::format::Progress;
use tilescope::store::ids::CategoryId;
use tilescope::store::liveness::VariableBytes;
use tilescope::store::memory::{Region, TileColumn};
use tilescope::store::{ArenaId, TileId};
use tilescope::systems::poplar::files::{OpenReport, blob};
use tilescope::systems::poplar::synth::machine::Architecture;
use tilescope::systems::poplar::synth::network::Network;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};

fn check(path: &Path) {
    let progress = Progress::default();
    let open = OpenReport::open(path, &progress).unwrap();
    open.read_variables(&progress);
    let report = &*open.report;
    let (target, tiles) = (report.target.get().unwrap(), report.memory.get().unwrap());
    let (steps, liveness) = (report.steps.get().unwrap(), report.liveness.get().unwrap());
    let categories = report.categories.get().unwrap();
    let resident = report.variables.get().unwrap();
    let graph = report.graph.get().unwrap();
    assert_eq!(resident.len() as u64, graph.variables.unwrap());
    assert!(resident.resident_bytes() <= resident.len() * 24, "at most 24 bytes a variable");
    let count = steps.ids.len();
    let mut everything = vec![0_u64; count];
    let mut seen = 0;
    let is_there = open.read_each_tile(&progress, |tile, variables| {
        let row = tiles.tiles.position(tile).expect("a row in memory_by_tile");
        let sums = recompute::tile_sums(&variables, target, &liveness.classes, count);
        let stored = |column: &TileColumn| memory::cell(column, row).expect("a number");
        assert_eq!(sums.total, stored(&tiles.total), "total of tile {tile}");
        assert_eq!(sums.including_gaps, stored(&tiles.including_gaps), "end of tile {tile}");
        for (region, bytes) in Region::ALL.into_iter().zip(sums.by_region) {
            let column = &tiles.by_region[region as usize];
            assert_eq!(bytes, stored(column), "{region:?} of tile {tile}");
        }
        assert_eq!(sums.always_live, stored(&tiles.always_live), "always live on {tile}");
        assert_eq!(
            sums.not_always_live_max,
            stored(&tiles.not_always_live_max),
            "not always live on tile {tile}"
        );
        let gap_bytes: u64 = gaps::by_reason(&gaps::gaps(&variables, Some(target)))
            .values()
            .map(|total| total.bytes)
            .sum();
        assert_eq!(sums.total + gap_bytes, sums.including_gaps, "used + gaps of tile {tile}");
        let found: BTreeMap<String, recompute::CategorySums> =
            recompute::category_sums(&variables, target)
                .into_iter()
                .map(|(id, sums)| (categories.name(CategoryId(id)).unwrap().to_owned(), sums))
                .collect();
        for category in &tiles.categories {
            let sums = found.get(&category.name).copied().unwrap_or_default();
            for region in 0..3 {
                let stored = |lists: &[Option<Vec<u64>>; 3]| {
                    lists[region].as_ref().expect("a list")[tile.0 as usize]
                };
                let place = format!("{} of tile {tile}, region {region}", category.name);
                let alone = stored(&category.not_overlapped);
                assert_eq!(sums.not_overlapped[region], alone, "{place}");
                assert_eq!(sums.overlapped[region], stored(&category.overlapped), "{place}");
            }
        }
        let curve = recompute::curve(variables.placements.iter(), &liveness.classes, count);
        everything.iter_mut().zip(&curve).for_each(|(sum, bytes)| *sum += bytes);
        check_resident(resident, tile, &variables);
        seen += 1;
    });
    assert!(is_there.unwrap());
    assert_eq!(seen, tiles.tiles.len(), "every tile has variables");
    let stored = liveness::curve(report, Scope::Everything).unwrap();
    assert_eq!(everything, stored, "the curve over all tiles");
    let rows = liveness.variable_bytes.as_ref().unwrap();
    let of_rows = liveness::curve_of_variables(rows, &liveness.classes, count);
    assert_eq!(of_rows, stored, "the curve from bytes by class");
    let peak = liveness::peak(&stored).unwrap();
    let at_peak: u64 =
        liveness::variables_at(rows, liveness, peak).iter().map(|variable| variable.bytes).sum();
    assert_eq!(at_peak, stored[peak], "the variables at the peak");
    let classes = &liveness.classes;
    let is_always_live = |row: &&VariableBytes| {
        classes.ids.position(row.class).is_some_and(|class| classes.always_live[class])
    };
    let always: u64 = rows.iter().filter(is_always_live).map(|row| row.bytes).sum();
    assert_eq!(Some(always), memory::sum(&tiles.always_live), "the always-live variables");
    check_tile_rows(&open, &progress);
}

/// The resident columns agree with what is read by tile.
fn check_resident(
    resident: &tilescope::store::variable::LoweredVariables,
    tile: TileId,
    variables: &tilescope::store::placed::Placed,
) {
    let rows = resident.rows_of(tile);
    assert_eq!(rows.len(), variables.placements.len());
    for (row, variable) in rows.zip(&variables.placements) {
        assert_eq!(u64::from(resident.offsets[row]), variable.offset);
        assert_eq!(u64::from(resident.bytes[row]), variable.bytes);
        assert_eq!(resident.classes[row], variable.class);
        assert_eq!(resident.flags[row], variable.flags);
    }
}

/// The sums by unlowered variable on a tile give the same curve as its lowered variables.
fn check_tile_rows(open: &OpenReport, progress: &Progress) {
    let report = &*open.report;
    let liveness = report.liveness.get().unwrap();
    let count = report.steps.get().unwrap().ids.len();
    for tile in [0, 1, 7] {
        let rows = open.read_variable_bytes(tile..=tile, progress).unwrap().unwrap();
        let variables = read_arena(report, ArenaId(tile), &Progress::default()).unwrap().unwrap();
        assert_eq!(
            liveness::curve_of_variables(&rows, &liveness.classes, count),
            recompute::curve(variables.placements.iter(), &liveness.classes, count)
        );
    }
}

#[test]
fn the_real_reports() {
    for name in ["poplar-3.3", "poplar-3.3-interrupted"] {
        if let Some(path) = crate::common::real_report(name) {
            check(&path);
        }
    }
}

/// A dozen seeds and shapes: 1, 2 and 4 IPUs, Mk1 and Mk2, fitting or not, run or not.
fn shapes() -> Vec<ReportOptions> {
    let base = ReportOptions::default();
    let mk1 = ReportOptions { architecture: Architecture::Mk1, ..base.clone() };
    let run = ReportOptions { execution: true, ..base.clone() };
    vec![
        ReportOptions { seed: 2, ..base.clone() },
        ReportOptions { seed: 3, batch: 1, tiles_per_ipu: 8, ..base.clone() },
        ReportOptions { seed: 4, batch: 20, proportion: 0.75, ..base.clone() },
        ReportOptions { seed: 5, proportion: 0.001, ..base.clone() },
        ReportOptions { seed: 6, copies: 3, tiles_per_ipu: 33, ..base.clone() },
        ReportOptions { seed: 7, batch: 1, ..mk1.clone() },
        ReportOptions { seed: 8, batch: 4, tiles_per_ipu: 24, ..mk1 },
        ReportOptions { seed: 9, ..run.clone() },
        ReportOptions { seed: 10, ipus: 2, batch: 4, ..run.clone() },
        ReportOptions { seed: 11, ipus: 4, batch: 3, proportion: 0.2, ..run.clone() },
        ReportOptions { seed: 12, ipus: 2, batch: 32, ..run },
        ReportOptions {
            seed: 13,
            network: Network::Resnext101,
            tiles_per_ipu: 64,
            batch: 1,
            ..base
        },
    ]
}

#[test]
fn synthetic_reports_of_a_dozen_shapes() {
    let (mut overflowed, mut executed) = (0, 0);
    for options in shapes() {
        let directory = tempfile::tempdir().unwrap();
        write_report(&options, directory.path(), &Progress::default()).unwrap();
        check(directory.path());
        check_tables(directory.path());
        let answer = crate::common::summary(directory.path()).unwrap()["poplar"].clone();
        overflowed += u32::from(answer["memory"]["fits"] == false);
        executed += u32::from(!answer["execution"].is_null());
        assert_eq!(
            answer["execution"].is_null(),
            !options.execution || answer["memory"]["fits"] == false
        );
    }
    assert!(overflowed >= 3 && executed >= 2, "{overflowed} overflow, {executed} ran");
}

/// What the tables say of each other beside the memory (formats/poplar.md 2.4 and 8).
fn check_tables(directory: &Path) {
    let db = Connection::open(directory.join("profile.pop")).unwrap();
    let number =
        |sql: &str| db.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)).unwrap().unwrap_or(0);
    let lists = |sql: &str, decode: &dyn Fn(&[u8]) -> Vec<u64>| -> Vec<Vec<u64>> {
        let mut statement = db.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
        rows.map(|blob| decode(&blob.unwrap())).collect()
    };
    let tiles = usize::try_from(number("SELECT num_tiles FROM target_info")).unwrap();
    let runs = |sql: &str| lists(sql, &|blob| blob::run_length_list_of(blob, tiles).unwrap());
    let plain = |sql: &str| lists(sql, &|blob| blob::list(blob).unwrap());
    let total = |lists: &[Vec<u64>]| lists.iter().flatten().sum::<u64>();
    let stored = |sql: &str| u64::try_from(number(sql)).unwrap();
    assert_eq!(
        stored("SELECT num_compute_sets FROM graph_info"),
        stored("SELECT count(*) FROM compute_sets")
    );
    assert_eq!(stored("SELECT num_vars FROM graph_info"), stored("SELECT count(*) FROM vars_info"));
    assert_eq!(
        stored("SELECT num_edges FROM graph_info"),
        stored("SELECT sum(edge_count) FROM compute_sets")
    );
    let vertices = total(&plain("SELECT vertex_counts FROM compute_sets"));
    assert_eq!(stored("SELECT num_vertices FROM graph_info"), vertices);
    assert_eq!(total(&runs("SELECT instances_by_tile FROM vertex_instances")), vertices);
    let mut all = 0;
    for column in ["vertex_data_bytes", "edge_ptr_bytes", "copy_ptr_bytes", "padding_bytes"] {
        let by_set = total(&runs(&format!("SELECT {column} FROM memory_by_compute_set")));
        let by_type = total(&plain(&format!("SELECT {column} FROM memory_by_vertex_type")));
        assert_eq!(by_set, by_type, "{column}");
        all += by_set;
    }
    let of_category = |name: &str| {
        stored(&format!(
            "SELECT sum(size_bytes) FROM vars_info v JOIN var_categories c ON c.id = v.category \
             WHERE c.name = '{name}'"
        ))
    };
    assert_eq!(all, of_category("vertexInstanceState") + of_category("vertexFieldData"));
    let exchange = |column: &str| runs(&format!("SELECT {column} FROM program_type_do_exchange"));
    let code = exchange("code_bytes_by_tile_rle");
    assert!(code.iter().flatten().all(|bytes| bytes.is_multiple_of(4)));
    assert!(of_category("internalExchangeCode") <= total(&code));
    assert!(
        total(&exchange("bytes_received_by_tile_rle"))
            >= total(&exchange("bytes_sent_by_tile_rle"))
    );
    // Interference is mutual, and of everything with itself.
    let ids = plain(
        "SELECT interference_class_ids FROM equivalence_class_interference ORDER BY class_id",
    );
    let classes: Vec<u64> = (1..=ids.len() as u64).collect();
    for (class, others) in classes.iter().zip(&ids) {
        assert!(others.contains(class));
        for other in others {
            let back = &ids[usize::try_from(other - 1).unwrap()];
            assert!(back.contains(class), "{class} and {other}");
        }
    }
    let placed: Vec<u64> =
        plain("SELECT [order] FROM allocation_order_by_tile ORDER BY tile").concat();
    assert_eq!(placed, (0..stored("SELECT count(*) FROM vars_info")).collect::<Vec<_>>());
    check_execution(&number);
}

/// Steps follow each other on every IPU, and their cycles are those of their longest tile.
fn check_execution(number: &dyn Fn(&str) -> i64) {
    assert_eq!(number("SELECT count(*) FROM steps"), number("SELECT sum(num_steps) FROM runs"));
    assert_eq!(number("SELECT count(*) FROM steps"), number("SELECT count(*) FROM program_trace"));
    let overlaps = number(
        "SELECT count(*) FROM (SELECT cycles_base - lag(cycles_base + cycles) OVER \
         (PARTITION BY ipu ORDER BY step_id) AS pause FROM steps_by_ipu) WHERE pause < 0",
    );
    assert_eq!(overlaps, 0, "steps of an IPU overlap");
    let others = "SELECT count(*) FROM execution_info WHERE compilation_id NOT IN \
                  (SELECT compilation_id FROM compilation_info)";
    assert_eq!(number(others), 0);
    let orphans = "SELECT count(*) FROM steps_by_ipu WHERE tile_cycles_id NOT IN \
                   (SELECT id FROM cycles_by_tile)";
    assert_eq!(number(orphans), 0);
}

#[test]
fn equal_options_give_equal_files() {
    let options = ReportOptions { ipus: 2, batch: 2, execution: true, ..ReportOptions::default() };
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_report(&options, a.path(), &Progress::default()).unwrap();
    write_report(&options, b.path(), &Progress::default()).unwrap();
    for name in ["profile.pop", "debug.cbor", "app.json", "framework.json", "compile.log"] {
        let read = |directory: &Path| std::fs::read(directory.join(name)).unwrap();
        assert_eq!(read(a.path()), read(b.path()), "{name}");
    }
}

#[test]
fn the_tables_are_those_of_a_real_report() {
    let Some(real) = crate::common::real_report("poplar-3.3") else { return };
    let tables = |path: &Path| -> BTreeMap<String, Vec<String>> {
        let db = Connection::open_with_flags(
            format!("file:{}?immutable=1", path.join("profile.pop").display()),
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
        )
        .unwrap();
        let mut statement = db
            .prepare(
                "SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p \
                 WHERE m.type = 'table' ORDER BY m.name, p.cid",
            )
            .unwrap();
        let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        for row in rows {
            let (table, column) = row.unwrap();
            tables.entry(table).or_default().push(column);
        }
        tables
    };
    assert_eq!(tables(&crate::common::sample()), tables(&real));
}

#[test]
fn the_samples_are_what_their_commands_write() {
    for (name, options) in crate::common::sample_options() {
        let directory = tempfile::tempdir().unwrap();
        write_report(&options, directory.path(), &Progress::default()).unwrap();
        let shipped = crate::common::in_package("sample_profiles").join(name);
        for file in ["profile.pop", "debug.cbor", "app.json", "framework.json", "compile.log"] {
            let read = |directory: &Path| std::fs::read(directory.join(file)).unwrap();
            let is_same = read(directory.path()) == read(&shipped);
            assert!(is_same, "{name}/{file}: run the command of sample_profiles/README.md again");
        }
        check(&shipped);
        check_tables(&shipped);
    }
}
