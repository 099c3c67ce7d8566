//! The tree of programs: real and synthetic reports, and what is wrong on purpose.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::real_report;
use rusqlite::{Connection, params};
use tilescope::analysis::derived::Derived;
use tilescope::analysis::program::compiled_programs::CompiledPrograms;
use tilescope::analysis::program::tree::{ProgramGroup, TreeShape};
use tilescope::analysis::program::tree_rows::{RowOf, TreeRows};
use tilescope::analysis::program::tree_search::matching_programs;
use tilescope::analysis::program_details::program_details;
use tilescope::format::Progress;
use tilescope::store::{FunctionId, WarningCode};
use tilescope::systems::poplar::cross_checks::contradictions;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};

fn open(path: &Path) -> OpenReport {
    let progress = Progress::default();
    let open = OpenReport::open(path, &progress).unwrap();
    open.read_debug_info(&progress);
    open.read_variables(&progress);
    open.read_tile_variable_bytes(&progress);
    open.read_compute(&progress);
    open.read_program_trees(&progress);
    open
}

fn shape(compiled: &CompiledPrograms<'_>) -> TreeShape {
    TreeShape::of(compiled.programs, compiled.tree, &|| false).unwrap()
}

/// The steps that visit a program, ascending.
fn steps(compiled: &CompiledPrograms<'_>, program: usize) -> Vec<usize> {
    let (steps, id) = (compiled.report.steps.get().unwrap(), compiled.programs.ids.get(program));
    let visits = steps.programs.iter().enumerate().filter(|(_, visited)| Some(**visited) == id);
    visits.map(|(step, _)| step).collect()
}

fn all_open(compiled: &CompiledPrograms<'_>, shape: &TreeShape) -> TreeRows {
    TreeRows::all_open(compiled.programs, shape, &|| false).unwrap()
}

fn with_functions() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let options = ReportOptions { functions: true, execution: true, ..ReportOptions::default() };
    write_report(&options, directory.path(), &Progress::default()).unwrap();
    directory
}

#[test]
fn the_real_report_has_its_programs_and_kinds_in_the_tree() {
    let Some(path) = real_report("poplar-3.3") else { return };
    let open = open(&path);
    let compiled = CompiledPrograms::at(&open.report, 0).unwrap();
    let shape = shape(&compiled);
    let rows = all_open(&compiled, &shape);
    let programs: Vec<usize> = (0..rows.len()).filter_map(|row| rows.program(row)).collect();
    assert_eq!(programs.len(), 111);
    let kinds: BTreeSet<&str> =
        programs.iter().filter_map(|program| compiled.kind(*program)).collect();
    assert_eq!(kinds.len(), 14, "{kinds:?}");
    assert_eq!(
        (shape.roots(ProgramGroup::Control).len(), shape.roots(ProgramGroup::Others).len()),
        (1, 0)
    );
    // Steps visit the programs in the order of the tree.
    let steps: Vec<usize> =
        programs.iter().flat_map(|program| steps(&compiled, *program)).collect();
    assert_eq!(steps, (0..111).collect::<Vec<_>>());
    let repeats: Vec<u64> =
        programs.iter().filter_map(|program| compiled.repeat_count(*program)).collect();
    assert_eq!(repeats.len(), 2);
    let found = matching_programs(&compiled, &shape, "rowCopySet", &|| false).unwrap();
    assert_eq!(found.in_order.len(), 2);
    // By what calls were given: a value in a map, and of all calls below a loop.
    let find = |text: &str| matching_programs(&compiled, &shape, text, &|| false).unwrap().in_order;
    // (reduceWithOutput twice with ADD, mapInPlace twice with Add).
    let added = find("op=add");
    let reduced = find("useScale=false");
    assert_eq!((added.len(), reduced.len()), (4, 2));
    assert!(reduced.iter().all(|program| added.contains(program)));
    let (inner, outer) = (find("end=3"), find("count=3"));
    assert!(!inner.is_empty() && inner.iter().all(|program| outer.contains(program)));
    assert!(find("count=4").is_empty());
    assert!(find("shape=[2, 3]").is_empty(), "tensors are no options");
    let owners = Derived::new(std::sync::Arc::clone(&open.report)).owners();
    let details =
        |program| program_details(&compiled, program, None, &owners, &Progress::default());
    let of_set = details(found.in_order[0] as usize);
    let vertices: Vec<_> = of_set.vertices.iter().filter_map(|row| row.count).collect();
    assert_eq!(vertices.iter().sum::<u64>(), 1);
    let variables = of_set.of_compute_set.expect("the file names them");
    assert!(variables.iter().any(|variable| variable.bytes > 0), "{variables:?}");
    assert!(of_set.own_control_code.is_some_and(|bytes| bytes > 0));
    // Every exchange says what moves where.
    let exchanges = matching_programs(&compiled, &shape, "DoExchange", &|| false).unwrap();
    assert_eq!(exchanges.in_order.len(), 13);
    for program in exchanges.in_order {
        let moves = details(program as usize).moves.expect("an exchange");
        assert!(moves.received.unwrap().sum >= moves.sent.unwrap().sum);
        assert!(!moves.routes.is_empty());
    }
}

#[test]
fn calls_lead_to_functions_and_functions_to_their_callers() {
    let directory = with_functions();
    let open = open(directory.path());
    assert_eq!(open.report.warnings.list(), []);
    assert_eq!(contradictions(&open.report, &Progress::default()), [""; 0]);
    let compiled = CompiledPrograms::at(&open.report, 0).unwrap();
    let shape = shape(&compiled);
    let functions = shape.roots(ProgramGroup::Functions).len();
    assert!(functions > 3 && shape.roots(ProgramGroup::Control).len() == 1);
    assert_eq!(shape.roots(ProgramGroup::Others).len(), 0);
    let callers: Vec<usize> =
        (0..functions as u32).map(|id| compiled.callers(FunctionId(id)).len()).collect();
    assert_eq!(callers[0], functions - 1, "every layer calls it");
    assert!(callers[1..].iter().all(|callers| *callers == 1), "{callers:?}");
    for caller in compiled.callers(FunctionId(0)) {
        assert_eq!(compiled.kind(caller), Some("Call"));
        let (function, program) = compiled.callee(caller).unwrap();
        assert_eq!((function, shape.function_at(program)), (FunctionId(0), Some(FunctionId(0))));
        assert_eq!(steps(&compiled, program).len(), functions - 1, "a visit for each call");
        assert_eq!(steps(&compiled, caller).len(), 1);
    }
    // Steps are more than programs, and name only what is there.
    let report = &open.report;
    assert!(report.steps.get().unwrap().ids.len() > compiled.programs.ids.len());
    // Before, what is called was a child of each that calls it.
    let earlier = CompiledPrograms::at(report, 1).unwrap();
    assert_eq!(earlier.tree.name.as_deref(), Some("before functions"));
    assert_eq!(earlier.programs.ids.as_slice(), compiled.programs.ids.as_slice());
    let of_earlier = TreeShape::of(earlier.programs, earlier.tree, &|| false).unwrap();
    assert_eq!(of_earlier.order().len(), earlier.programs.ids.len());
    let rows = all_open(&earlier, &of_earlier);
    let steps = report.steps.get().unwrap().ids.len();
    assert_eq!(rows.len() - 1, steps, "a row for each visit, below one heading");
    assert!(CompiledPrograms::at(report, 2).is_none());
}

#[test]
fn an_operation_is_found_by_its_option_and_has_variables() {
    let directory = with_functions();
    let open = open(directory.path());
    let compiled = CompiledPrograms::at(&open.report, 0).unwrap();
    let shape = shape(&compiled);
    let find = |text: &str| matching_programs(&compiled, &shape, text, &|| false).unwrap().in_order;
    let planned = find("availableMemoryProportion=0.6");
    assert!(!planned.is_empty());
    assert_eq!(find("availableMemoryProportion=0.8"), [0_u32; 0]);
    assert_eq!(find("partialsType=float"), planned);
    let reductions = find("op=ADD");
    assert!(!reductions.is_empty() && reductions.len() < planned.len());
    let in_groups = find("numConvGroups=1");
    assert!(!in_groups.is_empty() && in_groups.iter().all(|program| planned.contains(program)));
    assert!(find("convolution").iter().all(|program| planned.contains(program)));
    let derived = Derived::new(std::sync::Arc::clone(&open.report));
    let owners = derived.owners();
    let convolution = *find("convolution").first().unwrap() as usize;
    let operation = owners.of_program(convolution);
    assert_eq!(
        owners.operations()[operation.unwrap() as usize].kind.as_deref(),
        Some("convolution")
    );
    let details = program_details(&compiled, convolution, operation, &owners, &Progress::default());
    let names: Vec<&str> = details.of_operation.iter().map(|variable| &*variable.name).collect();
    assert!(names.iter().any(|name| name.ends_with(".weight")), "{names:?}");
}

/// A report whose profile was changed.
fn changed(change: impl FnOnce(&Connection)) -> tempfile::TempDir {
    let directory = with_functions();
    change(&Connection::open(directory.path().join("profile.pop")).unwrap());
    directory
}

#[test]
fn a_function_that_calls_itself_and_a_program_within_itself_end() {
    let directory = changed(|db| {
        // The first layer's function calls itself in place of what all layers call.
        db.execute("UPDATE program_type_call SET function_id = 1", []).unwrap();
        // Everything that has no children contains the root, a million times together.
        let many = tilescope::systems::poplar::files::blob::encode_list(&[0; 2000]);
        db.execute(
            "UPDATE programs SET children = ?1 WHERE length(children) = 0 AND id IN \
             (SELECT id FROM programs WHERE compilation_step_id IS NULL LIMIT 500)",
            params![many],
        )
        .unwrap();
    });
    let open = open(directory.path());
    for step in 0..2 {
        let compiled = CompiledPrograms::at(&open.report, step).unwrap();
        let shape = shape(&compiled);
        assert_eq!(shape.order().len(), compiled.programs.ids.len());
        let rows = all_open(&compiled, &shape);
        assert!(!rows.is_empty() && rows.len() <= 4 << 20, "{}", rows.len());
        let within = (0..rows.len()).filter(|row| rows.get(*row).unwrap().is_within_itself);
        assert!(within.count() > 1000);
    }
}

#[test]
fn what_is_missing_or_wrong_is_said_and_the_rest_is_there() {
    let directory = changed(|db| {
        db.execute("UPDATE control_programs SET program = 99999", []).unwrap();
        db.execute("UPDATE function_programs SET program = 99998 WHERE id = 1", []).unwrap();
        db.execute("DELETE FROM program_type_call WHERE id = 0", []).unwrap();
    });
    let report = open(directory.path()).report;
    let compiled = CompiledPrograms::at(&report, 0).unwrap();
    let shape = shape(&compiled);
    assert_eq!(shape.roots(ProgramGroup::Control).len(), 0);
    assert!(shape.roots(ProgramGroup::Others).contains(&0), "still in the tree");
    assert_eq!(shape.order().len(), compiled.programs.ids.len());
    let warnings = report.warnings.list();
    let has = |text: &str| warnings.iter().any(|warning| warning.message.contains(text));
    assert!(has("table programs has no program 99999"), "{warnings:?}");
    assert!(has("program_type_call does not have this call"), "{warnings:?}");
    assert!(warnings.iter().all(|warning| warning.code == WarningCode::Inconsistent));
    // Without the tables there is a tree still, and nothing to complain of.
    let directory = changed(|db| {
        for table in ["control_programs", "function_programs", "compilation_steps"] {
            db.execute(&format!("DROP TABLE {table}"), []).unwrap();
        }
        db.execute("DELETE FROM programs WHERE compilation_step_id IS NOT NULL", []).unwrap();
    });
    let report = open(directory.path()).report;
    let compiled = CompiledPrograms::at(&report, 0).unwrap();
    let rows = TreeRows::new(
        compiled.programs,
        &TreeShape::of(compiled.programs, compiled.tree, &|| false).unwrap(),
    );
    assert_eq!(rows.get(0).unwrap().of, RowOf::Heading(ProgramGroup::Others));
}

#[test]
fn a_reading_that_is_cancelled_leaves_nothing() {
    let directory = with_functions();
    let progress = Progress::default();
    let open = OpenReport::open(directory.path(), &progress).unwrap();
    progress.cancel();
    open.read_program_trees(&progress);
    assert!(open.report.program_trees.absence().unwrap().is_cancelled());
}
