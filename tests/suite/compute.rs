//! Vertices, compute sets and exchanges: Poplar's own sums (formats/poplar.md 2.4), and damage.

use std::path::Path;

use rusqlite::Connection;
use tilescope::analysis::compute::estimates::NoEstimate;
use tilescope::analysis::compute::{compute_sets, estimates, exchanges, vertices};
use tilescope::analysis::memory::selection::TileSelection;
use tilescope::analysis::program::steps as analysis_steps;
use tilescope::format::Progress;
use tilescope::store::exchange::ExchangeKind;
use tilescope::store::tile_list::TileList;
use tilescope::store::{Absence, Report, WarningCode};
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};

fn open(path: &Path) -> OpenReport {
    let progress = Progress::default();
    let open = OpenReport::open(path, &progress).unwrap();
    open.read_compute(&progress);
    open
}

fn sum(list: Option<&TileList>) -> u64 {
    list.expect("a list").sum()
}

/// Bytes of all lowered variables of a category.
fn category(report: &Report, name: &str) -> u64 {
    let categories = &report.memory.get().unwrap().categories;
    let category = categories.iter().find(|category| category.name == name);
    category.map_or(0, |category| {
        let lists = category.not_overlapped.iter().chain(&category.overlapped).flatten();
        lists.flatten().sum()
    })
}

/// The store has what the file says, and the tables agree with each other.
fn check(report: &Report) {
    let graph = report.graph.get().unwrap();
    let sets = report.compute_sets.get().unwrap();
    let tiles = report.compute_set_tiles.get().unwrap();
    let types = report.vertex_types.get().unwrap();
    let exchanges = report.exchanges.get().unwrap();
    assert_eq!(graph.compute_sets, Some(sets.ids.len() as u64));
    assert_eq!(graph.vertices, sets.vertices.iter().copied().sum::<Option<u64>>());
    assert_eq!(graph.edges, sets.edges.iter().copied().sum::<Option<u64>>());
    for (row, id) in sets.ids.as_slice().iter().enumerate() {
        let by_type = sets.vertices_by_type[row].as_ref().unwrap();
        let instances = tiles.instances_of(*id);
        assert_eq!(by_type.len(), instances.len(), "types of compute set {id}");
        for count in by_type {
            let of_type = instances.iter().find(|row| row.vertex_type == count.vertex_type);
            assert_eq!(sum(of_type.unwrap().by_tile.as_ref()), count.count, "compute set {id}");
            assert!(types.ids.position(count.vertex_type).is_some());
        }
        let all: u64 = by_type.iter().map(|count| count.count).sum();
        assert_eq!(sets.vertices[row], Some(all));
    }
    let mut parts = [0; 5];
    for (part, total) in parts.iter_mut().enumerate() {
        *total = types.state.iter().map(|lists| sum(lists[part].as_ref())).sum();
        let by_set: u64 = tiles.state.iter().map(|lists| sum(lists[part].as_ref())).sum();
        assert_eq!(*total, by_set, "part {part}");
    }
    let state = category(report, "vertexInstanceState") + category(report, "vertexFieldData");
    assert_eq!(parts[..4].iter().sum::<u64>(), state);
    let descriptors = category(report, "copyDescriptor") + category(report, "vectorListDescriptor");
    assert_eq!(parts[4], descriptors);
    let code: u64 = types.code.iter().map(|list| sum(list.as_ref())).sum();
    assert!(code <= category(report, "vertexCode"));
    check_exchanges(report);
    check_rows(report);
    assert!(exchanges.resident_bytes() > 0);
    let mut warnings = report.warnings.list();
    warnings.retain(|warning| warning.code == WarningCode::Inconsistent);
    assert_eq!(warnings, []);
}

/// The rows of the tables add up to the graph, and those of parts of the tiles to those of all.
fn check_rows(report: &Report) {
    let graph = report.graph.get().unwrap();
    let tiles = report.memory.get().unwrap().tiles.len();
    let all = TileSelection::default();
    let parts: Vec<TileSelection> = [0..tiles / 3, tiles / 3..tiles]
        .map(|range| format!("{}-{}", range.start, range.end - 1).parse().unwrap())
        .to_vec();
    let add = |numbers: &mut dyn Iterator<Item = Option<u64>>| numbers.sum::<Option<u64>>();

    let sets = |tiles| compute_sets::rows(report, tiles).unwrap();
    assert_eq!(add(&mut sets(&all).iter().map(|row| row.vertices)), graph.vertices);
    assert_eq!(add(&mut sets(&all).iter().map(|row| row.edges)), graph.edges);
    assert!(sets(&all).iter().all(|row| row.steps >= Some(1)), "each is run");
    let types = |tiles| vertices::rows(report, tiles).unwrap();
    assert_eq!(add(&mut types(&all).iter().map(|row| row.instances)), graph.vertices);
    let state = |tiles| {
        let by_set = add(&mut sets(tiles).iter().map(|row| row.state.total()));
        assert_eq!(by_set, add(&mut types(tiles).iter().map(|row| row.state.total())));
        by_set
    };
    assert_eq!(add(&mut parts.iter().map(state)), state(&all));
    let count = |tiles| {
        let by_set = add(&mut sets(tiles).iter().map(|row| row.vertices));
        assert_eq!(by_set, add(&mut types(tiles).iter().map(|row| row.instances)));
        by_set
    };
    assert_eq!(add(&mut parts.iter().map(count)), graph.vertices);
    let moved = |tiles| {
        let rows = exchanges::rows(report, tiles).unwrap();
        add(&mut rows.iter().flat_map(|row| [row.received, row.sent]))
    };
    assert_eq!(add(&mut parts.iter().map(moved)), moved(&all));

    // Exchanges have cycles; compute sets have none without the engine option.
    assert!(report.compute_set_tiles.get().unwrap().cycles.iter().all(Option::is_none));
    let all_steps: Vec<usize> = (0..report.steps.get().unwrap().ids.len()).collect();
    let figures = estimates::at_steps(report, None, &all_steps);
    for (step, figures) in figures.iter().enumerate() {
        let runs =
            (analysis_steps::compute_set(report, step), analysis_steps::exchange(report, step));
        match runs {
            (Some(_), _) => assert_eq!(figures.cycles, Err(NoEstimate::NotInReport)),
            (None, Some(_)) => assert!(figures.cycles.is_ok_and(|cycles| cycles.most > 0)),
            (None, None) => assert_eq!(figures.cycles, Err(NoEstimate::DoesNotApply)),
        }
    }

    // The vertices at a step are those of its compute set.
    let steps: Vec<usize> = (0..report.steps.get().unwrap().ids.len()).collect();
    let rows = vertices::at_steps(report, None, &steps).unwrap();
    let last = u32::try_from(tiles - 1).unwrap();
    assert_eq!(vertices::at_steps(report, Some(0..=last), &steps).unwrap(), rows);
    for row in sets(&all) {
        let runs = |step: &&usize| analysis_steps::compute_set(report, **step) == Some(row.id);
        for step in steps.iter().filter(runs).take(2) {
            assert_eq!(add(&mut rows.iter().map(|row| row.instances[*step])), row.vertices);
        }
    }
}

/// Every exchange is run, what is received was sent, and the code is there.
fn check_exchanges(report: &Report) {
    let exchanges = report.exchanges.get().unwrap();
    let programs = report.programs.get().unwrap();
    let tiles = report.memory.get().unwrap().tiles.len();
    for id in programs.exchanges.iter().flatten() {
        assert!(exchanges.position(*id).is_some(), "{id:?} is there");
    }
    for (row, id) in exchanges.ids.iter().enumerate() {
        assert!(programs.exchanges.contains(&Some(*id)), "{id:?} is run");
        let lists = [&exchanges.received, &exchanges.sent, &exchanges.cycles];
        for list in lists {
            assert_eq!(list[row].as_ref().unwrap().len() as usize, tiles);
        }
        assert_eq!(exchanges.code[row].is_some(), id.kind == ExchangeKind::Internal);
        assert!(!exchanges.transfers_of(row).is_empty());
        if id.kind != ExchangeKind::Host {
            assert!(sum(exchanges.received[row].as_ref()) >= sum(exchanges.sent[row].as_ref()));
        }
    }
}

#[test]
fn the_real_report_adds_up() {
    for name in ["poplar-3.3", "poplar-3.3-interrupted"] {
        let Some(path) = crate::common::real_report(name) else { continue };
        let open = open(&path);
        check(&open.report);
        let exchanges = open.report.exchanges.get().unwrap();
        let count = |kind| exchanges.ids.iter().filter(|id| id.kind == kind).count();
        assert_eq!((count(ExchangeKind::Internal), count(ExchangeKind::Host)), (13, 8));
        let first = exchanges.transfers_of(0);
        assert_eq!((first.len(), &*first[0].source), (1, "controlId: programId0#0[0,4)"));
        let streams = exchanges.transfers_of(13 + 4);
        let streams: Vec<&str> = streams.iter().map(|transfer| &*transfer.destination).collect();
        let outputs = ["Output Stream 0 for output 1", "Output Stream 0 for output 0"];
        assert_eq!(streams, [&["streamCopyTimingInfoStream_4"][..], &outputs].concat());
    }
}

#[test]
fn synthetic_reports_add_up() {
    for (name, _) in crate::common::sample_options() {
        check(&open(&crate::common::in_package("sample_profiles").join(name)).report);
    }
    let base = ReportOptions { batch: 3, ..ReportOptions::default() };
    for options in [
        ReportOptions { seed: 3, tiles_per_ipu: 33, copies: 3, ..base.clone() },
        ReportOptions { seed: 4, ipus: 4, proportion: 0.2, ..base },
    ] {
        let directory = tempfile::tempdir().unwrap();
        write_report(&options, directory.path(), &Progress::default()).unwrap();
        check(&open(directory.path()).report);
    }
}

fn damaged(sql: &str) -> (tempfile::TempDir, OpenReport) {
    let directory = crate::common::damaged_sample(|directory| {
        Connection::open(directory.join("profile.pop"))
            .and_then(|connection| connection.execute_batch(sql))
            .unwrap();
    });
    let open = open(directory.path());
    (directory, open)
}

fn said(report: &Report) -> String {
    let warnings = report.warnings.list();
    warnings.iter().map(|warning| format!("{}\n", warning.message)).collect()
}

#[test]
fn a_damaged_list_is_named_and_the_rest_is_read() {
    // 0x85 0x81: two numbers promised, one there. 0xfe 0x81: a run of 63 on 16 tiles.
    let (_directory, open) = damaged(
        "UPDATE vertex_instances SET instances_by_tile = x'8581' WHERE compute_set = 1;
         UPDATE memory_by_compute_set SET padding_bytes = x'fe81' WHERE compute_set = 2;
         UPDATE memory_by_vertex_type SET code_bytes = x'81' WHERE vertex_type = 0;
         UPDATE compute_sets SET vertex_types = x'' WHERE compute_set = 0;
         UPDATE compilation_cycles_by_tile SET cycles_by_tile_rle = 'text' WHERE id = (
             SELECT min(id) FROM compilation_cycles_by_tile);
         UPDATE program_type_do_exchange SET cycles_by_tile_ids = x'7fff' WHERE id = 1;
         UPDATE program_type_stream_copy_mid SET bytes_sent_by_tile_rle = x'01' WHERE id = 0;",
    );
    let report = &*open.report;
    let (sets, tiles) =
        (report.compute_sets.get().unwrap(), report.compute_set_tiles.get().unwrap());
    let types = report.vertex_types.get().unwrap();
    let exchanges = report.exchanges.get().unwrap();
    assert!(sets.vertices_by_type[0].is_none() && sets.vertices_by_type[1].is_some());
    assert_eq!(tiles.instances.iter().filter(|row| row.by_tile.is_none()).count(), 1);
    let unread = tiles.state.iter().flatten().filter(|list| list.is_none()).count();
    assert_eq!((unread, &tiles.state[2][3]), (1, &None));
    assert!(types.code[0].is_none() && types.code[1].is_some());
    assert_eq!(exchanges.cycles.iter().filter(|list| list.is_none()).count(), 2);
    assert_eq!(exchanges.sent.iter().filter(|list| list.is_none()).count(), 1);
    let said = said(report);
    for place in [
        "table vertex_instances, row compute_set 1, column instances_by_tile: a run or block",
        "table memory_by_compute_set, row compute_set 2, column padding_bytes: 16 numbers",
        "table memory_by_vertex_type, row vertex_type 0, column code_bytes: 16 numbers",
        "table compute_sets, row compute_set 0, column vertex_types: a type for each",
        "table compilation_cycles_by_tile, row id 4, column cycles_by_tile_rle: a BLOB",
        "column cycles_by_tile_ids: table compilation_cycles_by_tile has no list 16383",
        "table program_type_stream_copy_mid, row id 0, column bytes_sent_by_tile_rle: the number that",
    ] {
        assert!(said.contains(place), "{place} in\n{said}");
    }
}

#[test]
fn absent_tables_leave_their_parts_out() {
    for (tables, expected) in [
        ("vertex_types", [false, true, true]),
        ("compute_sets", [true, false, true]),
        ("program_type_do_exchange", [true, true, true]),
        ("compilation_cycles_by_tile", [true, true, true]),
        ("target_info", [true, true, true]),
    ] {
        let (_directory, open) = damaged(&format!("DROP TABLE {tables}"));
        let report = &*open.report;
        let found = [
            report.vertex_types.get().is_some(),
            report.compute_set_tiles.get().is_some(),
            report.exchanges.get().is_some(),
        ];
        assert_eq!(found, expected, "without {tables}");
        let settled = report.vertex_types.is_settled() && report.compute_set_tiles.is_settled();
        assert!(settled && report.exchanges.is_settled());
        assert!(said(report).contains(tables));
    }
    let (_directory, open) = damaged("DROP TABLE target_info; DROP TABLE memory_by_tile");
    assert!(open.report.exchanges.is_settled() && open.report.exchanges.get().is_none());
}

#[test]
fn a_number_of_tiles_that_cannot_be_takes_no_memory() {
    let (_directory, open) = damaged(
        "UPDATE target_info SET num_tiles = 4294967295, tiles_per_ipu = 4294967295;
         UPDATE vertex_instances SET instances_by_tile = x'1f7f7f7ffe81';",
    );
    let tiles = open.report.compute_set_tiles.get().unwrap();
    assert!(tiles.instances.iter().all(|one| one.by_tile.is_none()));
    let said = said(&open.report);
    assert!(said.contains("at most 1048576 expected, 4294967295 found"), "{said}");

    // As many as there may be are one run.
    let (_directory, open) = damaged(
        "UPDATE target_info SET num_tiles = 1048576, tiles_per_ipu = 1048576;
         UPDATE vertex_instances SET instances_by_tile = x'0100008081';",
    );
    let tiles = open.report.compute_set_tiles.get().unwrap();
    let list = tiles.instances[0].by_tile.as_ref().unwrap();
    assert_eq!((list.len(), list.get((1 << 20) - 1)), (1 << 20, Some(1)));
    assert!(tiles.resident_bytes() < 100_000);
}

#[test]
fn a_cancelled_reading_leaves_nothing_in_part() {
    let progress = Progress::default();
    let open = OpenReport::open(&crate::common::sample(), &progress).unwrap();
    progress.cancel();
    open.read_compute(&progress);
    let report = &*open.report;
    assert!(report.vertex_types.is_settled() && report.vertex_types.get().is_none());
    assert!(report.compute_set_tiles.get().is_none() && report.exchanges.get().is_none());
    // What was not read may be in the report: nobody says that its tables are not there.
    let absences = [report.vertex_types.absence(), report.compute_set_tiles.absence()];
    for absence in absences.into_iter().chain([report.exchanges.absence()]) {
        assert!(absence.unwrap().is_cancelled(), "{absence:?}");
    }
    let computes = |step: &usize| analysis_steps::compute_set(report, *step).is_some();
    let step = (0..report.steps.get().unwrap().ids.len()).find(computes).unwrap();
    let figures = estimates::at_steps(report, None, &[step]);
    assert_eq!(figures[0].cycles, Err(NoEstimate::Cancelled));
    open.read_debug_info(&progress);
    open.read_variables(&progress);
    assert!(report.debug.absence().unwrap().is_cancelled(), "names come last in the file");
    assert!(report.variables.absence().unwrap().is_cancelled());
    report.settle_rest(&Absence::cancelled());
    assert!(report.tile_variable_bytes.absence().unwrap().is_cancelled());
    assert!(report.memory.get().is_some(), "what was read before stays");
}

#[test]
fn estimates_are_read_by_id_or_as_lists_of_older_formats() {
    // 0x46a8 is 9000; 0xa085 a run of 16 times 5, on 16 tiles.
    let (_directory, open) = damaged(
        "INSERT INTO compilation_cycles_by_tile VALUES (9000, x'a085');
         UPDATE compute_sets SET cycles_by_tile_ids = x'46a8' WHERE compute_set = 0;
         UPDATE compute_sets SET cycles_by_tile_ids = x'46a946a8' WHERE compute_set = 1;
         UPDATE compute_sets SET estimated_flops_by_tile = x'a087' WHERE compute_set = 0;",
    );
    let tiles = open.report.compute_set_tiles.get().unwrap();
    assert_eq!(sum(tiles.cycles[0].as_ref()), 16 * 5);
    assert!(tiles.cycles[1..].iter().all(Option::is_none));
    assert_eq!(sum(tiles.flops[0].as_ref()), 16 * 7);
    assert!(said(&open.report).contains("one id for each IPU expected, 2 found"));

    let (_directory, open) = damaged(
        "ALTER TABLE compute_sets DROP COLUMN cycles_by_tile_ids;
         UPDATE compute_sets SET cycles_by_tile = x'a083' WHERE compute_set = 0;
         UPDATE compute_sets SET cycles_by_tile = x'81808080808080808080808080808082'
         WHERE compute_set = 1;",
    );
    let tiles = open.report.compute_set_tiles.get().unwrap();
    assert_eq!(sum(tiles.cycles[0].as_ref()), 16 * 3);
    assert_eq!(sum(tiles.cycles[1].as_ref()), 3, "a plain list");
    assert!(said(&open.report).contains("cycles_by_tile_ids; the older cycles_by_tile is read"));
}
