//! Variables before lowering, by name, with their bytes: always live, alive at steps, or on tiles.
//!
//! A row is a name: variables of one name count together, one that the file does not name is
//! `<variable N>`. Its parts are its variables by class; those without bytes are left out. The bytes
//! of everything are those over all tiles (rows of `var_bytes_by_eq_class` without a tile), those of
//! IPUs and tiles the sums of their tiles' rows. At a step the bytes of the rows add up to the
//! liveness curve there.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::store::liveness::{Classes, Liveness, TileVariableBytes, VariableBytes};
use crate::store::{ArenaId, ClassId, Report, TileId, UnloweredId};

use crate::analysis::liveness::{Scope, live_at, variable_name};
use crate::analysis::memory::selection::TileSelection;

/// The variables of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableRow {
    /// The name.
    pub name: String,
    /// Bytes in each column.
    pub bytes: Vec<u64>,
    /// What they are of, largest first, then by variable and class.
    pub parts: Vec<VariablePart>,
}

/// A variable as far as it lives in one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariablePart {
    /// The variable.
    pub variable: UnloweredId,
    /// The class.
    pub class: ClassId,
    /// Whether the class lives as long as the program.
    pub is_always_live: bool,
    /// Bytes in the scope while it lives: the most of its columns.
    pub bytes: u64,
    /// For each column, whether its bytes count there.
    pub is_live: Vec<bool>,
}

/// Bytes of a variable in a class that count in one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ColumnBytes {
    variable: UnloweredId,
    class: ClassId,
    column: usize,
    bytes: u64,
}

/// The always-live variables of a scope, in one column, largest first, then by name; `None` where
/// the part that it needs is absent, and for the worst tile, which is another one from step to step.
pub fn always_live(report: &Report, scope: Scope) -> Option<Vec<VariableRow>> {
    let liveness = report.liveness.get()?;
    let classes = &liveness.classes;
    let is_wanted = |class: usize| classes.always_live.get(class) == Some(&true);
    let entries = entries_of(rows_of_scope(report, scope)?, classes, is_wanted, 0);
    Some(table(liveness, entries, 1))
}

/// The not-always-live variables of a scope that are alive at one of `steps` (step positions), with
/// a column for each; by the first column, largest first, then by name. For [`Scope::WorstArena`]
/// `worst_arenas` says which arena that is at every step
/// ([`crate::analysis::liveness::scope_curve::ScopeCurve::worst_arenas`]); otherwise it is not used. `None` where the
/// part that it needs is absent.
pub fn not_always_live(
    report: &Report,
    scope: Scope,
    steps: &[usize],
    worst_arenas: Option<&[ArenaId]>,
) -> Option<Vec<VariableRow>> {
    let liveness = report.liveness.get()?;
    let classes = &liveness.classes;
    let mut entries = Vec::new();
    for (column, step) in steps.iter().enumerate() {
        let scope = match scope {
            Scope::WorstArena => Scope::Arena(*worst_arenas?.get(*step)?),
            _ => scope,
        };
        let live = live_at(classes, *step);
        let is_wanted = |class: usize| live.get(class) == Some(&true);
        entries.extend(entries_of(rows_of_scope(report, scope)?, classes, is_wanted, column));
    }
    Some(table(liveness, entries, steps.len()))
}

/// The variables of some tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectedVariables {
    /// The tiles of the columns after the first, which is the sum of the selection.
    pub tiles: Vec<TileId>,
    /// The variables.
    pub rows: Vec<VariableRow>,
}

/// All variables, always live or not, of the selected tiles: a column with the sum of the selection,
/// then one for each tile if there are at most `most_columns` tiles. Of an empty selection: the sum
/// over all tiles. Bytes are those over all classes, so more than are ever alive at one step. `None`
/// where the part that it needs is absent.
pub fn on_tiles(
    report: &Report,
    tiles: &TileSelection,
    most_columns: usize,
) -> Option<SelectedVariables> {
    let liveness = report.liveness.get()?;
    if tiles.is_empty() {
        let entries = entries_of(everything(liveness)?, &liveness.classes, |_| true, 0);
        let rows = table(liveness, entries, 1);
        return Some(SelectedVariables { tiles: Vec::new(), rows });
    }
    let table_of_tiles = report.tile_variable_bytes.get()?;
    let of_rows = |rows: Range<usize>, column| {
        let rows = ScopeRows::Tiles(table_of_tiles, rows);
        entries_of(rows, &liveness.classes, |_| true, column)
    };
    let is_few = tiles.count() <= most_columns as u64;
    let columns: Vec<TileId> = if is_few { tiles.iter().collect() } else { Vec::new() };
    let mut entries = Vec::new();
    for range in tiles.ranges() {
        entries.extend(of_rows(table_of_tiles.rows_between(range), 0));
    }
    for (column, tile) in (1..).zip(&columns) {
        entries.extend(of_rows(table_of_tiles.rows_of(*tile), column));
    }
    let rows = table(liveness, entries, 1 + columns.len());
    Some(SelectedVariables { tiles: columns, rows })
}

/// Bytes of the variables of a name on each of some tiles, over all classes. `None` where the bytes
/// by tile are absent.
pub fn over_tiles(
    report: &Report,
    name: &str,
    tiles: impl Iterator<Item = TileId>,
) -> Option<Vec<u64>> {
    let liveness = report.liveness.get()?;
    let table = report.tile_variable_bytes.get()?;
    let ids = liveness.variable_ids.as_slice();
    let wanted: Vec<bool> = ids.iter().map(|id| variable_name(liveness, *id) == name).collect();
    let is_wanted = |id: UnloweredId| {
        let position = liveness.variable_ids.position(id);
        position.map_or_else(
            || variable_name(liveness, id) == name,
            |position| wanted.get(position) == Some(&true),
        )
    };
    let of_tile = |tile: TileId| {
        let rows = table.iter(table.rows_of(tile)).filter(|row| is_wanted(row.variable));
        rows.fold(0_u64, |sum, row| sum.saturating_add(row.bytes))
    };
    Some(tiles.map(of_tile).collect())
}

/// The rows of bytes by variable and class that belong to a scope; of several tiles a row each.
#[derive(Clone)]
pub(crate) enum ScopeRows<'a> {
    Listed(&'a [VariableBytes]),
    Tiles(&'a TileVariableBytes, Range<usize>),
}

impl ScopeRows<'_> {
    pub(crate) fn each(self, each: impl FnMut(VariableBytes)) {
        match self {
            ScopeRows::Listed(rows) => rows.iter().copied().for_each(each),
            ScopeRows::Tiles(table, rows) => table.iter(rows).for_each(each),
        }
    }
}

fn everything(liveness: &Liveness) -> Option<ScopeRows<'_>> {
    liveness.counted_bytes().map(ScopeRows::Listed)
}

/// `None` where the part that it needs is absent, and for the worst tile.
pub(crate) fn rows_of_scope(report: &Report, scope: Scope) -> Option<ScopeRows<'_>> {
    let table = || report.tile_variable_bytes.get();
    match scope {
        Scope::Everything => everything(report.liveness.get()?),
        Scope::Device(device) => {
            let of_devices = &report.liveness.get()?.counted_bytes_of_devices;
            if let Some(rows) = of_devices.get(&device) {
                return Some(ScopeRows::Listed(rows));
            }
            let rows = table()?.rows_between(&scope.tiles(report.target.get())?);
            Some(ScopeRows::Tiles(table()?, rows))
        }
        Scope::Arena(arena) => Some(ScopeRows::Tiles(table()?, table()?.rows_of(arena.tile()))),
        Scope::WorstArena => None,
    }
}

/// The rows whose class, by position, is wanted, summed by variable and class.
fn entries_of(
    rows: ScopeRows<'_>,
    classes: &Classes,
    is_wanted: impl Fn(usize) -> bool,
    column: usize,
) -> Vec<ColumnBytes> {
    let is_wanted = |class: ClassId| classes.ids.position(class).is_some_and(&is_wanted);
    let mut entries: Vec<ColumnBytes> = Vec::new();
    rows.each(|VariableBytes { variable, class, bytes }| {
        if bytes > 0 && is_wanted(class) {
            entries.push(ColumnBytes { variable, class, column, bytes });
        }
    });
    entries.sort_unstable_by_key(|entry| (entry.variable, entry.class));
    entries.dedup_by(|later, first| {
        let is_same = (later.variable, later.class) == (first.variable, first.class);
        if is_same {
            first.bytes = first.bytes.saturating_add(later.bytes);
        }
        is_same
    });
    entries
}

/// Gathers entries to rows by name. An entry comes at most once for its variable, class and column.
fn table(liveness: &Liveness, mut entries: Vec<ColumnBytes>, columns: usize) -> Vec<VariableRow> {
    if columns > 1 {
        entries.sort_unstable();
    }
    let mut rows: Vec<VariableRow> = Vec::new();
    let mut rows_by_name: HashMap<Cow<'_, str>, usize> = HashMap::new();
    for of_variable in entries.chunk_by(|a, b| a.variable == b.variable) {
        let Some(variable) = of_variable.first().map(|entry| entry.variable) else { continue };
        let name = variable_name(liveness, variable);
        let row = *rows_by_name.entry(name).or_insert_with_key(|name| {
            let bytes = vec![0; columns];
            rows.push(VariableRow { name: name.to_string(), bytes, parts: Vec::new() });
            rows.len() - 1
        });
        let Some(row) = rows.get_mut(row) else { continue };
        for of_class in of_variable.chunk_by(|a, b| a.class == b.class) {
            let Some(class) = of_class.first().map(|entry| entry.class) else { continue };
            let mut part = VariablePart {
                variable,
                class,
                is_always_live: liveness.classes.is_always_live(class),
                bytes: 0,
                is_live: vec![false; columns],
            };
            for entry in of_class {
                part.bytes = part.bytes.max(entry.bytes);
                if let Some(sum) = row.bytes.get_mut(entry.column) {
                    *sum = sum.saturating_add(entry.bytes);
                }
                if let Some(is_live) = part.is_live.get_mut(entry.column) {
                    *is_live = true;
                }
            }
            row.parts.push(part);
        }
    }
    for row in &mut rows {
        row.parts.sort_by_key(|part| (std::cmp::Reverse(part.bytes), part.variable, part.class));
    }
    rows.sort_unstable_by(|a, b| {
        b.bytes.first().cmp(&a.bytes.first()).then_with(|| a.name.cmp(&b.name))
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::analysis::fixture;
    use crate::analysis::liveness::curve_of_variables;
    use crate::store::DeviceId;
    use crate::store::target::Target;

    const STEPS: usize = 6;

    /// Two IPUs of two tiles; class 1 is always live, each later one of two ranges; the variables 0
    /// and 3 have one name, 4 has none. `cells` are tile, variable, class and bytes.
    fn report(cuts: &[(u32, u32)], cells: &[(u32, u32, u32, u32)]) -> Report {
        let lives = [(0, 6)].iter().chain(cuts).map(|(start, length)| {
            let (end, last) = ((start + length).min(6), 6_u32);
            [*start..end, (end + 1).min(last)..(end + 2).min(last)]
        });
        let mut liveness = Liveness { classes: fixture::classes(1, lives), ..Liveness::default() };
        fixture::name_variables(&mut liveness, &["w", "x", "y", "w"]);
        let of_tile = |tile: u32| {
            let cells = cells.iter().filter(move |cell| cell.0 == tile);
            cells.map(|(_, variable, class, bytes)| (*variable, *class, *bytes))
        };
        let table = fixture::tile_variable_bytes((0..4).map(of_tile));
        liveness.variable_bytes = Some(table.iter(0..table.len()).collect());
        let report = Report::default();
        report.liveness.fill(Some(liveness));
        report.tile_variable_bytes.fill(Some(table));
        report.target.fill(Some(Target { tiles_per_device: Some(2), ..Target::default() }));
        report
    }

    fn sums(rows: &[VariableRow], columns: usize) -> Vec<u64> {
        let sum = |column: usize| rows.iter().map(|row| row.bytes[column]).sum();
        (0..columns).map(sum).collect()
    }

    #[test]
    fn variables_of_one_name_are_a_row() {
        let cells =
            [(0, 0, 2, 8), (0, 3, 2, 4), (1, 0, 2, 1), (1, 4, 3, 9), (3, 2, 2, 50), (0, 1, 1, 7)];
        let report = report(&[(0, 2), (1, 2)], &cells);
        let rows =
            not_always_live(&report, Scope::Device(DeviceId(0)), &[0, 1], None).expect("rows");
        let names: Vec<_> = rows.iter().map(|row| (row.name.as_str(), &row.bytes[..])).collect();
        assert_eq!(names, [("w", &[13, 13][..]), ("<variable 4>", &[0, 9])]);
        let parts: Vec<_> =
            rows[0].parts.iter().map(|part| (part.variable.0, part.bytes)).collect();
        assert_eq!(parts, [(0, 9), (3, 4)]);
        assert_eq!(rows[1].parts[0].is_live, [false, true]);
        let always = always_live(&report, Scope::Arena(ArenaId(0))).expect("rows");
        assert_eq!((always.len(), always[0].bytes[0], always[0].name.as_str()), (1, 7, "x"));
        assert!(always[0].parts[0].is_always_live);
        assert_eq!(always_live(&report, Scope::WorstArena), None);
        let worst = [ArenaId(3), ArenaId(1)];
        let rows =
            not_always_live(&report, Scope::WorstArena, &[0, 1], Some(&worst)).expect("rows");
        assert_eq!(sums(&rows, 2), [50, 10]);
        assert_eq!(not_always_live(&report, Scope::WorstArena, &[9], Some(&worst)), None);
    }

    #[test]
    fn a_selection_has_its_sum_and_a_few_tiles_a_column_each() {
        let cells = [(0, 0, 1, 8), (0, 0, 2, 2), (1, 0, 2, 1), (2, 1, 2, 30), (3, 1, 2, 0)];
        let report = report(&[(0, 2)], &cells);
        let of = |text: &str, most| on_tiles(&report, &text.parse().expect("tiles"), most);
        let found = of("0-1,3,9", 4).expect("variables");
        assert_eq!(found.tiles, [0, 1, 3, 9].map(TileId));
        assert_eq!(found.rows.len(), 1, "rows without bytes are left out");
        assert_eq!(found.rows[0].bytes, [11, 10, 1, 0, 0]);
        assert_eq!(found.rows[0].parts[1].is_live, [true, true, true, false, false]);
        let found = of("0-4294967295", 4).expect("variables");
        let all = on_tiles(&report, &TileSelection::default(), 4).expect("variables");
        assert_eq!(found, all);
        assert_eq!(all.rows[0].bytes, [30]);
    }

    proptest! {
        #[test]
        fn variables_add_up_to_the_curve(
            cuts in proptest::collection::vec((0..6_u32, 0..4_u32), 0..5),
            cells in proptest::collection::vec((0..4_u32, 0..5_u32, 0..8_u32, 0..99_u32), 0..40),
        ) {
            let report = report(&cuts, &cells);
            let liveness = report.liveness.get().expect("liveness");
            let table = report.tile_variable_bytes.get().expect("rows");
            let all: Vec<usize> = (0..STEPS).collect();
            let worst: Vec<ArenaId> = (0..STEPS as u32).map(|step| ArenaId(step % 4)).collect();
            let curve_of = |tiles: std::ops::RangeInclusive<u32>| {
                let rows: Vec<_> = table.iter(table.rows_between(&tiles)).collect();
                curve_of_variables(&rows, &liveness.classes, STEPS)
            };
            for (scope, tiles) in [
                (Scope::Everything, 0..=3),
                (Scope::Device(DeviceId(1)), 2..=3),
                (Scope::Arena(ArenaId(2)), 2..=2),
            ] {
                let rows = not_always_live(&report, scope, &all, None).expect("rows");
                prop_assert_eq!(sums(&rows, STEPS), curve_of(tiles.clone()));
                let always = always_live(&report, scope).expect("rows");
                let expected: u64 = table
                    .iter(table.rows_between(&tiles))
                    .filter(|row| row.class == ClassId(1))
                    .map(|row| row.bytes)
                    .sum();
                prop_assert_eq!(sums(&always, 1), vec![expected]);
                for row in rows.iter().chain(&always) {
                    for column in 0..row.bytes.len() {
                        let live = row.parts.iter().filter(|part| part.is_live[column]);
                        prop_assert_eq!(live.map(|part| part.bytes).sum::<u64>(), row.bytes[column]);
                    }
                }
                prop_assert!(rows.is_sorted_by(|a, b| (b.bytes[0], &a.name) < (a.bytes[0], &b.name)));
            }
            let rows = not_always_live(&report, Scope::WorstArena, &all, Some(&worst));
            let expected: Vec<u64> =
                worst.iter().enumerate().map(|(step, tile)| curve_of(tile.0..=tile.0)[step]).collect();
            prop_assert_eq!(sums(&rows.expect("rows"), STEPS), expected);
        }
    }
}
