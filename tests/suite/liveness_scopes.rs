//! Liveness by tile: what the analyses of any scope say agrees with Poplar's own sums and with each
//! other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tilescope::analysis::liveness::Scope;
use tilescope::analysis::liveness::lifetimes;
use tilescope::analysis::liveness::scope_curve::{AlwaysLive, ScopeCurve, scope_curve};
use tilescope::analysis::liveness::variables::{self, VariableRow};
use tilescope::analysis::memory;
use tilescope::analysis::memory::breakdown::{Breakdown, breakdowns};
use tilescope::analysis::memory::selection::TileSelection;
use tilescope::analysis::placement::placed_lifetimes::placed_lifetimes;
use tilescope::analysis::program::operations::Operation;
use tilescope::analysis::program::phases::phases;
use tilescope::analysis::program::step_operations::step_operations;
use tilescope::analysis::program::steps;
use tilescope::analysis::program::variable_operations::{FoundBy, variable_operations};
use tilescope::format::Progress;
use tilescope::store::{ArenaId, DeviceId, Report, TileId, WarningCode};
use tilescope::systems::poplar::files::OpenReport;

fn open(path: &Path) -> OpenReport {
    let progress = Progress::default();
    let open = OpenReport::open(path, &progress).unwrap();
    open.read_debug_info(&progress);
    open.read_variables(&progress);
    open.read_tile_variable_bytes(&progress);
    open
}

/// A small report, one of several IPUs, and the real one where it is at hand.
fn paths() -> Vec<PathBuf> {
    let mut paths =
        vec![crate::common::sample(), crate::common::in_package("sample_profiles/pipeline")];
    paths.extend(crate::common::real_report("poplar-3.3"));
    paths
}

#[test]
fn the_rows_of_a_tile_are_those_of_the_table() {
    for path in paths() {
        let open = open(&path);
        let table = open.report.tile_variable_bytes.get().unwrap();
        assert_eq!(table.tiles.len(), open.report.memory.get().unwrap().tiles.len());
        assert!(table.resident_bytes() <= table.len() * 16, "at most 16 bytes a row");
        for tile in table.tiles.as_slice().iter().step_by(61) {
            let read = open.read_variable_bytes(tile.0..=tile.0, &Progress::default());
            let rows: Vec<_> = table.iter(table.rows_of(*tile)).collect();
            assert_eq!(Some(rows), read.unwrap(), "tile {tile}");
        }
        assert_eq!(table.rows_between(&(0..=u32::MAX)), 0..table.len());
    }
}

fn sql(directory: &Path, statements: &str) {
    let connection = Connection::open(directory.join("profile.pop")).unwrap();
    connection.execute_batch(statements).unwrap();
}

#[test]
fn damaged_rows_are_left_out_with_a_warning() {
    let intact = open(&crate::common::sample());
    let count = intact.report.tile_variable_bytes.get().unwrap().len();
    let damaged = crate::common::damaged_sample(|directory| {
        sql(
            directory,
            "UPDATE var_bytes_by_eq_class SET bytes = -5 WHERE rowid = 9; \
             UPDATE var_bytes_by_eq_class SET tile = 'a' WHERE rowid = 10; \
             UPDATE var_bytes_by_eq_class SET bytes = 1 << 40 WHERE rowid = 11; \
             UPDATE var_bytes_by_eq_class SET eq_class_id = 999999 WHERE rowid = 12;",
        );
    });
    let open = open(damaged.path());
    assert_eq!(open.report.tile_variable_bytes.get().unwrap().len(), count - 3);
    let warnings = open.report.warnings.list();
    let about = warnings.iter().find(|warning| warning.message.contains("var_bytes_by_eq_class"));
    assert_eq!(about.unwrap().code, WarningCode::Inconsistent);
    assert!(about.unwrap().message.contains("4 such places"), "{about:?}");
}

#[test]
fn a_table_that_is_not_there_or_not_wanted_is_absent() {
    for statement in [
        "DROP TABLE var_bytes_by_eq_class",
        "ALTER TABLE var_bytes_by_eq_class DROP COLUMN tile",
        "DROP TABLE eq_classes",
    ] {
        let damaged = crate::common::damaged_sample(|directory| sql(directory, statement));
        let open = open(damaged.path());
        assert!(open.report.tile_variable_bytes.is_settled());
        assert!(open.report.tile_variable_bytes.get().is_none(), "{statement}");
    }
    let progress = Progress::default();
    let open = OpenReport::open(&crate::common::sample(), &progress).unwrap();
    progress.cancel();
    open.read_tile_variable_bytes(&progress);
    assert!(open.report.tile_variable_bytes.get().is_none(), "cancelled");
    assert!(open.report.tile_variable_bytes.is_settled());
    let absence = open.report.tile_variable_bytes.absence().unwrap();
    assert!(absence.is_cancelled() && absence.to_string().starts_with("Reading was canceled"));
}

fn curve(report: &Report, scope: Scope) -> ScopeCurve {
    scope_curve(report, scope, &|| false).unwrap()
}

#[test]
fn the_curves_of_tiles_add_up_to_that_of_everything() {
    for path in paths() {
        let open = open(&path);
        let report = &*open.report;
        let memory = report.memory.get().unwrap();
        let everything = curve(report, Scope::Everything);
        let mut sum = vec![0_u64; everything.not_always_live.len()];
        let mut always_live = 0;
        for (row, tile) in memory.tiles.as_slice().iter().enumerate() {
            let found = curve(report, Scope::Arena((*tile).into()));
            let most = found.not_always_live.iter().max().copied();
            assert_eq!(most, memory::cell(&memory.not_always_live_max, row), "tile {tile}");
            sum.iter_mut().zip(&found.not_always_live).for_each(|(sum, bytes)| *sum += bytes);
            always_live += found.always_live.at(0).unwrap();
            assert_eq!(found.limit, report.target.get().unwrap().bytes_per_tile);
        }
        assert_eq!(sum, everything.not_always_live);
        assert_eq!(everything.always_live, AlwaysLive::Level(always_live));
    }
}

#[test]
fn the_worst_tile_has_the_most_at_each_step() {
    for path in paths() {
        let open = open(&path);
        let report = &*open.report;
        let worst = curve(report, Scope::WorstArena);
        let tiles = report.memory.get().unwrap().tiles.as_slice();
        let alive = |curve: &ScopeCurve, step: usize| {
            curve.not_always_live[step] + curve.always_live.at(step).unwrap()
        };
        let mut most = vec![(0, TileId(0)); worst.not_always_live.len()];
        for tile in tiles {
            let found = curve(report, Scope::Arena((*tile).into()));
            for (step, most) in most.iter_mut().enumerate() {
                if alive(&found, step) > most.0 {
                    *most = (alive(&found, step), *tile);
                }
            }
        }
        for (step, (bytes, tile)) in most.into_iter().enumerate() {
            assert_eq!(alive(&worst, step), bytes);
            assert_eq!(worst.worst_arenas.as_ref().unwrap()[step], tile.into(), "step {step}");
        }
    }
}

fn sum(rows: &[VariableRow], column: usize) -> u64 {
    rows.iter().map(|row| row.bytes[column]).sum()
}

#[test]
fn variables_at_a_step_add_up_to_the_curve_of_every_scope() {
    for path in paths() {
        let open = open(&path);
        let report = &*open.report;
        let scopes = [
            Scope::Everything,
            Scope::Device(DeviceId(0)),
            Scope::Arena(ArenaId(3)),
            Scope::WorstArena,
        ];
        for scope in scopes {
            let curve = curve(report, scope);
            let worst = curve.worst_arenas.as_deref();
            for (step, bytes) in curve.not_always_live.iter().enumerate() {
                let steps = [step, step / 2];
                let rows = variables::not_always_live(report, scope, &steps, worst).unwrap();
                assert_eq!(sum(&rows, 0), *bytes, "{scope:?} at {step}");
                assert_eq!(sum(&rows, 1), curve.not_always_live[step / 2]);
            }
            let always = variables::always_live(report, scope).map(|rows| sum(&rows, 0));
            match curve.always_live {
                AlwaysLive::Level(bytes) => assert_eq!(always, Some(bytes), "{scope:?}"),
                _ => assert_eq!(always, None),
            }
        }
    }
}

#[test]
fn the_variables_of_tiles_are_those_that_the_command_lists() {
    for path in paths() {
        let open = open(&path);
        let answer = crate::common::liveness(&path, Some(2)).unwrap();
        let step = answer["step"]["step"].as_u64().unwrap() as usize;
        let scope = Scope::Arena(ArenaId(2));
        let rows = variables::not_always_live(&open.report, scope, &[step], None).unwrap();
        let listed = answer["variables"].as_array().unwrap().iter();
        let listed: Vec<_> = listed
            .map(|row| (row["name"].as_str().unwrap(), row["bytes"].as_u64().unwrap()))
            .filter(|(_, bytes)| *bytes > 0)
            .collect();
        let rows: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.bytes[0])).collect();
        assert_eq!(rows, listed);
    }
}

#[test]
fn the_variables_of_all_tiles_are_those_of_everything() {
    for path in paths() {
        let open = open(&path);
        let everything = variables::on_tiles(&open.report, &TileSelection::default(), 8).unwrap();
        let all = TileSelection::between(TileId(0), TileId(u32::MAX));
        let all = variables::on_tiles(&open.report, &all, 8).unwrap();
        assert_eq!(all, everything);
        let few = TileSelection::between(TileId(0), TileId(7));
        let few = variables::on_tiles(&open.report, &few, 8).unwrap();
        assert_eq!(few.tiles.len(), 8);
        for row in &few.rows {
            assert_eq!(row.bytes[1..].iter().sum::<u64>(), row.bytes[0], "{}", row.name);
        }
    }
}

#[test]
fn the_parts_of_every_tile_add_up() {
    for path in paths() {
        let open = open(&path);
        let memory = open.report.memory.get().unwrap();
        for which in [Breakdown::Region, Breakdown::Category, Breakdown::Liveness] {
            for most in [9, usize::MAX] {
                let parts = breakdowns(&[memory], which, most).unwrap().remove(0);
                assert!(which != Breakdown::Region || parts.len() == 3, "no byte beside regions");
                for (row, total) in memory.total.iter().enumerate() {
                    let known: Option<u64> = parts.iter().map(|part| part.bytes[row]).sum();
                    assert_eq!(known, *total, "{which:?}, row {row}");
                }
            }
        }
    }
    let Some(path) = crate::common::real_report("poplar-3.3") else { return };
    let open = open(&path);
    let memory = open.report.memory.get().unwrap();
    let parts = breakdowns(&[memory], Breakdown::Liveness, 9).unwrap().remove(0);
    assert_eq!(parts[2].bytes[0], Some(36), "tile 0 is not explained by liveness alone");
}

#[test]
fn lifetimes_at_a_step_add_up_to_what_is_alive() {
    for path in paths() {
        let open = open(&path);
        let report = &*open.report;
        for scope in [Scope::Everything, Scope::Device(DeviceId(0)), Scope::Arena(ArenaId(0))] {
            let curve = curve(report, scope);
            for step in (0..curve.not_always_live.len()).step_by(7) {
                let alive = curve.not_always_live[step] + curve.always_live.at(step).unwrap();
                let lifetimes = lifetimes::lifetimes_at(report, scope, step).unwrap();
                let bytes: u64 = lifetimes.iter().map(|lifetime| lifetime.bytes).sum();
                assert_eq!(bytes, alive, "{scope:?} at {step}");
                for lifetime in &lifetimes {
                    assert!(lifetime.ranges.iter().any(|range| range.contains(&(step as u32))));
                }
                if let Scope::Arena(arena) = scope {
                    let placed =
                        placed_lifetimes(report, arena, step, &Progress::default()).unwrap();
                    let bytes: u64 = placed.iter().map(|lifetime| lifetime.bytes).sum();
                    assert_eq!(bytes, alive, "placed on tile {arena} at {step}");
                }
            }
        }
    }
}

#[test]
fn the_lives_of_all_names_add_up_to_the_curve() {
    for path in paths() {
        let open = open(&path);
        let report = &*open.report;
        let everything = curve(report, Scope::Everything);
        let names: BTreeSet<String> = variables::on_tiles(report, &TileSelection::default(), 0)
            .unwrap()
            .rows
            .into_iter()
            .map(|row| row.name)
            .collect();
        let mut sum = vec![0; everything.not_always_live.len()];
        for name in names {
            for (range, bytes) in lifetimes::life_of(report, &name).unwrap() {
                sum[range.start as usize..range.end as usize]
                    .iter_mut()
                    .for_each(|sum| *sum += bytes);
            }
        }
        for (step, sum) in sum.into_iter().enumerate() {
            let always_live = everything.always_live.at(step).unwrap();
            assert_eq!(sum, everything.not_always_live[step] + always_live, "step {step}");
        }
    }
}

#[test]
fn every_step_has_the_operation_that_its_facts_name() {
    for path in paths() {
        let open = open(&path);
        let found = step_operations(&open.report).unwrap();
        for step in 0..found.of_step.len() {
            let named = |operation: &Operation| {
                (operation.layer.clone(), operation.kind.clone(), operation.name.clone())
            };
            let facts = steps::facts(&open.report, None, step).unwrap().operation;
            assert_eq!(found.at(step).map(named), facts.as_ref().map(named), "step {step}");
            if let Some(operation) = found.of_step[step] {
                assert!(found.steps_of(operation).contains(&(step as u32)));
            }
        }
    }
}

#[test]
fn the_compilers_phases_nest() {
    for path in paths() {
        let open = open(&path);
        let about = open.report.about.get().unwrap();
        let found = phases(&about.phases);
        assert_eq!(found.frames.len(), about.phases.len());
        for (row, frame) in found.frames.iter().enumerate() {
            let others = found.frames[row + 1..].iter().filter(|other| other.depth == frame.depth);
            for other in others {
                assert!(frame.end_microseconds() <= other.start_microseconds, "{}", frame.name);
            }
        }
        assert!(found.frames.iter().any(|frame| frame.depth > 0), "phases within phases");
    }
}

#[test]
fn variables_belong_to_the_operations_that_made_them() {
    let open = open(&crate::common::sample());
    let report = &*open.report;
    let found = variable_operations(report, &step_operations(report).unwrap()).unwrap();
    let liveness = report.liveness.get().unwrap();
    let mut seen = BTreeSet::new();
    let rows = liveness.variable_bytes.as_deref().unwrap().iter();
    for row in rows.filter(|row| row.bytes > 0) {
        let name = liveness.variable_name(row.variable).unwrap();
        let Some((operation, by)) = found.of(liveness, row) else {
            assert!(liveness.classes.is_always_live(row.class) || name == "hostMessage", "{name}");
            continue;
        };
        let operation = found.operations[operation as usize].name.as_deref().unwrap();
        if let Some(layer) =
            name.strip_prefix("model.").and_then(|name| name.strip_suffix(".weight"))
        {
            assert_eq!((operation, by), (layer, FoundBy::Contexts), "{name}");
        }
        let is_anonymous = name == "<anon>";
        // Nothing but the first layer needs the input.
        assert_eq!(
            by == FoundBy::Life,
            is_anonymous || name == "input",
            "{name} belongs to {operation}"
        );
        seen.insert((is_anonymous, operation));
    }
    assert!(seen.contains(&(true, "layer1.0.conv2")) && seen.contains(&(false, "fc")), "{seen:?}");

    let Some(path) = crate::common::real_report("poplar-3.3") else { return };
    let open = self::open(&path);
    let liveness = open.report.liveness.get().unwrap();
    let position = liveness.variable_names.iter().position(|name| name == "<anon>").unwrap();
    assert_eq!(liveness.debug_ids_of(position), [34, 72]);
    assert!(!liveness.debug_ids.contains(&0), "context 0 is none");
}

#[test]
fn debug_contexts_of_variables_may_be_damaged() {
    let damaged = crate::common::damaged_sample(|directory| {
        sql(
            directory,
            "UPDATE debug_ids SET ids = x'01' WHERE variable_id = 9; \
             INSERT INTO debug_ids VALUES (999999, x'81');",
        );
    });
    let intact = OpenReport::open(&crate::common::sample(), &Progress::default()).unwrap();
    let damaged = OpenReport::open(damaged.path(), &Progress::default()).unwrap();
    let [intact, found] = [&intact, &damaged].map(|open| open.report.liveness.get().unwrap());
    assert_eq!(found.debug_id_ends.len(), found.variable_ids.len());
    for position in 0..intact.variable_ids.len() {
        let is_damaged = intact.variable_ids.get(position).is_some_and(|id| id.0 == 9);
        let expected = if is_damaged { &[] } else { intact.debug_ids_of(position) };
        assert_eq!(found.debug_ids_of(position), expected);
    }
    assert!(!intact.debug_ids.is_empty());
    let warnings = damaged.report.warnings.list();
    let about: Vec<_> =
        warnings.iter().filter(|found| found.message.contains("debug_ids")).collect();
    assert!(about.len() == 1 && about[0].message.contains("2 such places"), "{about:?}");
}
