//! Lists equal curves: whatever is listed at a step of a scope adds up to the curve there, of every sample of every
//! system that is at hand, alone and compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tilescope::analysis::derived::Derived;
use tilescope::analysis::liveness::lifetimes::lifetimes_at;
use tilescope::analysis::liveness::scope_curve::ScopeCurve;
use tilescope::analysis::liveness::{Scope, devices_with_curve, variables};
use tilescope::analysis::placement::placed_lifetimes::placed_lifetimes;
use tilescope::format::Progress;
use tilescope::run::compared::amounts::Both;
use tilescope::run::{
    AliveBy, AreasOf, ArenasOf, Compared, StepBytes, VariableBrief, alive_rows_of_report,
};
use tilescope::store::ArenaId;
use tilescope::systems;
use tilescope::systems::system::{LatePart, OpenRun};

use crate::common::{in_package, tilescope};

/// Steps of a scope that are looked at, beside its peak.
const STEPS: usize = 12;
/// Arenas of a run that are.
const ARENAS: usize = 6;

/// What was held against a curve, by the list: how often, how often it differed, and the first difference.
#[derive(Default)]
struct Found(BTreeMap<&'static str, (u64, u64, Option<String>)>);

impl Found {
    fn check(&mut self, list: &'static str, sum: u64, curve: u64, place: &str) {
        let (all, other, first) = self.0.entry(list).or_default();
        *all += 1;
        if sum != curve {
            *other += 1;
            first.get_or_insert_with(|| format!("{place}: {sum} of {curve}"));
        }
    }
}

/// Everything below a directory that opens as a run, all modules of it.
fn runs_of(path: &Path) -> Vec<(String, Box<dyn OpenRun>)> {
    let progress = Progress::default();
    if let Ok(mut found) = systems::find(systems::of_process(), path, None, &progress) {
        let mut runs = Vec::new();
        for place in 0..found.modules().len().max(1) {
            found.choose_module(place);
            if let Ok(Some(run)) = found.open(&progress) {
                runs.push((format!("{} {place}", path.display()), run));
            }
        }
        return runs;
    }
    if !path.is_dir() {
        return Vec::new();
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.iter().flat_map(|path| runs_of(path)).collect()
}

fn sum(bytes: impl IntoIterator<Item = u64>) -> u64 {
    bytes.into_iter().sum()
}

fn scopes(derived: &Derived) -> Vec<Scope> {
    let report = derived.report();
    let mut scopes = vec![Scope::Everything, Scope::WorstArena];
    scopes.extend(devices_with_curve(report).into_iter().map(Scope::Device));
    let arenas = report.arenas.get().map_or(Vec::new(), |arenas| arenas.ids.as_slice().to_vec());
    let capacity = |arena: &ArenaId| report.arenas.get().and_then(|all| all.capacity(*arena));
    let mut largest = arenas.clone();
    largest.sort_by_key(|arena| std::cmp::Reverse(capacity(arena)));
    scopes.extend(largest.into_iter().take(ARENAS).map(Scope::Arena));
    scopes
}

fn steps(curve: &ScopeCurve) -> Vec<usize> {
    let len = curve.not_always_live.len();
    let last = len.saturating_sub(1);
    let mut steps: Vec<usize> = (0..=STEPS).map(|part| last * part / STEPS).collect();
    steps.extend((0..len).rev().max_by_key(|step| curve.not_always_live[*step]));
    steps.sort_unstable();
    steps.dedup();
    steps.retain(|step| *step < len);
    steps
}

/// Bytes that pass, and those that are there throughout.
fn bytes_at(curve: &ScopeCurve, step: usize) -> (u64, u64) {
    (curve.not_always_live[step], curve.always_live.at(step).unwrap_or(0))
}

fn look_at(name: &str, run: &dyn OpenRun, found: &mut Found) {
    let progress = Progress::default();
    run.fill_report(&progress);
    run.read_parts(&LatePart::ALL, &progress);
    let derived = run.derived();
    for scope in scopes(derived) {
        let Some(timeline) = derived.timeline(scope, &|| false) else { continue };
        let curve = &timeline.curve;
        for step in steps(curve) {
            let place = format!("{name} {scope:?} step {step}");
            look_at_step((&place, derived), (scope, step), curve, found);
        }
        look_at_areas(name, derived, (scope, curve), found);
        look_at_padding(name, derived, (scope, curve), found);
    }
    if let Some(peak) = derived.answers().peak(derived) {
        for (list, rows) in [
            ("peak by category", &peak.by_category),
            ("peak by operation", &peak.by_operation),
            ("peak by module", &peak.by_module),
            ("peak by line", &peak.by_line),
        ] {
            if !rows.is_empty() {
                found.check(list, sum(rows.iter().map(|row| row.bytes)), peak.bytes, name);
            }
        }
        let largest = sum(peak.largest.iter().map(|one| one.bytes));
        found.check("largest at the peak, too much", largest.saturating_sub(peak.bytes), 0, name);
    }
    look_at_maps(name, derived, found);
}

fn look_at_step(
    (place, derived): (&str, &Arc<Derived>),
    (scope, step): (Scope, usize),
    curve: &ScopeCurve,
    found: &mut Found,
) {
    let report = derived.report();
    let (passing, always) = bytes_at(curve, step);
    let whole = passing + always;
    let worst = curve.worst_arenas.as_deref();
    if let Some(rows) = variables::not_always_live(report, scope, &[step], worst) {
        let listed = sum(rows.iter().map(|row| row.bytes[0]));
        found.check("variables not always live", listed, passing, place);
    }
    if let Some(rows) = variables::always_live(report, scope) {
        let listed = sum(rows.iter().map(|row| row.bytes[0]));
        found.check("variables always live", listed, always, place);
    }
    let lives = match scope {
        Scope::Arena(arena) => placed_lifetimes(report, arena, step, &Progress::default())
            .map(|lives| sum(lives.iter().map(|life| life.counted_bytes))),
        _ => {
            lifetimes_at(report, scope, step).map(|lives| sum(lives.iter().map(|life| life.bytes)))
        }
    };
    if let Some(lives) = lives {
        let list =
            if matches!(scope, Scope::Arena(_)) { "lifetimes of an arena" } else { "lifetimes" };
        found.check(list, lives, whole, place);
    }
    let at = StepBytes { scope, step, always_live_bytes: always, not_always_live_bytes: passing };
    if let Some(alive) = derived.answers().alive(derived, &at) {
        let listed = sum(alive.not_always_live.iter().map(|one| one.bytes));
        found.check("alive, not always live", listed, passing, place);
        let listed = sum(alive.always_live.iter().map(|one| one.bytes));
        found.check("alive, always live", listed, always, place);
        let shown = at.variables(Some(alive)).rows();
        let shown: i64 = at.rows(shown).iter().map(|row| row.bytes).sum();
        found.check("alive as shown", shown.unsigned_abs(), whole, place);
    }
    for by in derived.answers().alive_groupings(derived, scope) {
        let rows = derived.answers().alive_rows(derived, &at, by);
        if !rows.is_empty() {
            let list = match by.key() {
                "category" => "alive by category",
                "operation" => "alive by operation",
                "module" => "alive by module",
                "line" => "alive by line",
                "pool" => "alive by pool",
                _ => "alive by variable",
            };
            let listed: i64 = rows.iter().map(|row| row.bytes).sum();
            found.check(list, listed.unsigned_abs(), whole, place);
        }
    }
    // What the tab of the window and a card of Insights say.
    for by in [AliveBy::Category, AliveBy::Operation, AliveBy::Module] {
        let rows = alive_rows_of_report(derived, &at, by);
        if !rows.is_empty() {
            let listed: i64 = rows.iter().map(|row| row.bytes).sum();
            found.check("consists of", listed.unsigned_abs(), whole, place);
            let less = rows.iter().any(|row| row.bytes < 0);
            found.check("consists of less than nothing", less.into(), 0, place);
        }
    }
    if let Some(list) = derived.answers().allocations(derived, scope, Some(step), &|| false) {
        let listed = sum((0..list.len()).map(|row| list.bytes(row)[0]));
        found.check("allocations", listed, whole, place);
    }
}

fn look_at_areas(
    name: &str,
    derived: &Arc<Derived>,
    (scope, curve): (Scope, &ScopeCurve),
    found: &mut Found,
) {
    for by in derived.answers().groupings(derived, scope) {
        let of = AreasOf { scope, by };
        let Some(areas) = derived.answers().areas(derived, of, &|| false) else { continue };
        for step in steps(curve) {
            let (listed, (passing, always)) =
                (sum(areas.at(step).map(|(_, bytes)| bytes)), bytes_at(curve, step));
            found.check("areas", listed, passing + always, &format!("{name} {of:?} step {step}"));
        }
    }
}

/// The curve less the one without padding is the padding of what is alive.
fn look_at_padding(
    name: &str,
    derived: &Arc<Derived>,
    (scope, curve): (Scope, &ScopeCurve),
    found: &mut Found,
) {
    let lines = derived.answers().beside_curve(derived, scope, true).lines;
    let Some(unpadded) = lines.iter().find(|line| line.title == "Without padding") else { return };
    for step in steps(curve) {
        let (not_always_live_bytes, always_live_bytes) = bytes_at(curve, step);
        let at = StepBytes { scope, step, always_live_bytes, not_always_live_bytes };
        let alive = at.variables(derived.answers().alive(derived, &at));
        let all: Vec<_> = alive.not_always_live.iter().chain(&alive.always_live).collect();
        let padding = sum(all.iter().filter_map(|one| one.padding_bytes));
        let place = format!("{name} {scope:?} step {step}");
        found.check("padding", padding, at.bytes() - unpadded.bytes[step], &place);
        let more = all.iter().filter(|one| one.padding_bytes.is_some_and(|it| it > one.bytes));
        found.check("padding beyond bytes", more.count() as u64, 0, &place);
        // The table of the window goes by the report.
        let report = derived.report();
        let passing = variables::not_always_live(report, scope, &[step], None);
        let throughout = variables::always_live(report, scope);
        let rows: Vec<_> = passing.into_iter().chain(throughout).flatten().collect();
        let ids: Vec<_> = rows.iter().map(|row| row.parts[0].variable).collect();
        let shapes = derived.answers().variable_briefs(derived, &ids);
        let of_row = |(row, shape): (&variables::VariableRow, &VariableBrief)| {
            Some(shape.padding_bytes?.min(row.bytes[0]))
        };
        let listed = sum(rows.iter().zip(&shapes).filter_map(of_row));
        found.check("padding of variables", listed, padding, &place);
    }
}

fn look_at_maps(name: &str, derived: &Arc<Derived>, found: &mut Found) {
    for (device, title) in derived.answers().arena_maps(derived).iter().enumerate() {
        let of = ArenasOf { device, selected: Vec::new() };
        let Some(map) = derived.answers().arena_map(derived, &of, &Progress::default()) else {
            continue;
        };
        let last = map.steps().saturating_sub(1);
        for step in (0..=STEPS).map(|part| last * part / STEPS) {
            let Some(moment) = map.moment(step, None, &|| false) else { continue };
            let place = format!("{name} map of {title} step {step}");
            let active = sum(moment.at.arenas.iter().map(|of| of.active));
            found.check("map, arenas", active, moment.at.whole.active, &place);
            let free = sum(moment.at.arenas.iter().map(tilescope::run::arena_map::ArenaUse::free));
            found.check("map, free", free, moment.at.whole.free(), &place);
            let sizes = sum(moment.at.arenas.iter().map(|of| of.reserved));
            found.check("map, sizes", sizes, moment.at.whole.reserved, &place);
            let by_category = sum(moment.by_category.iter().map(|(_, bytes)| *bytes));
            found.check("map, categories", by_category, active, &place);
            let taken =
                sum((0..moment.allocations.len()).map(|row| moment.allocations.bytes(row)[1]));
            found.check("map, blocks", taken, active, &place);
            let asked =
                sum((0..moment.allocations.len()).map(|row| moment.allocations.bytes(row)[0]));
            found.check("map, blocks as said", asked, moment.listed_bytes, &place);
        }
    }
}

/// Columns of a comparison add up to what each side has, and so changes to the difference of both.
fn look_at_pair(name: &str, both: [&Derived; 2], found: &mut Found) {
    let Ok(Some(compared)) = Compared::of(both, None, None, &|| false) else { return };
    let Some(peaks) = &compared.peaks else { return };
    let side_of =
        |both: &Both, side: usize| if side == 0 { both.source.bytes } else { both.target.bytes };
    for (side, of) in compared.sides.iter().enumerate() {
        let Some(peak) = &of.peak else { continue };
        let lists = [
            ("compared, rows", sum(peaks.rows.iter().map(|row| side_of(&row.both, side)))),
            ("compared, owners", sum(peaks.by_owner.iter().map(|row| side_of(&row.both, side)))),
            (
                "compared, owners and categories",
                sum(peaks.by_owner_and_category.iter().map(|row| side_of(&row.both, side))),
            ),
            (
                "compared, categories",
                sum(peaks.by_category.iter().map(|(_, both)| side_of(both, side))),
            ),
        ];
        for (list, listed) in lists {
            found.check(list, listed, peak.bytes, name);
        }
    }
}

/// Looks at all runs below a directory, alone and each beside the next; says how many there were.
fn look_below(directory: &Path) -> usize {
    let mut found = Found::default();
    let runs = runs_of(directory);
    for (name, run) in &runs {
        look_at(name, &**run, &mut found);
    }
    for pair in runs.windows(2) {
        let [(_, source), (name, target)] = pair else { continue };
        let both = [source, target].map(|run| &**run.derived());
        if both[0].report().system.name == both[1].report().system.name {
            look_at_pair(name, both, &mut found);
        }
    }
    let mut other = Vec::new();
    println!("{}: {} runs", directory.display(), runs.len());
    for (list, (all, differ, first)) in &found.0 {
        println!("  {list}: {differ} of {all} differ");
        other.extend(first.as_ref().map(|first| format!("{list}: {differ} of {all}, {first}")));
    }
    assert!(other.is_empty(), "{}", other.join("\n"));
    runs.len()
}

#[test]
fn lists_equal_curves_of_own_samples() {
    assert!(look_below(&in_package("sample_profiles")) > 8);
}

#[test]
fn padding_of_tiled_programs_adds_up() {
    let directory = tempfile::tempdir().unwrap();
    let network = "--layers 2 --width 80 --heads 2 --sequence 50 --vocabulary 1000 --batch 3";
    for (name, options) in [("loops", "--remat dots"), ("flat", "--unroll 2 --half-precision")] {
        let path = directory.path().join(name);
        let arguments = format!("synth --system xla --platform tpu {network} {options} -o");
        let mut arguments: Vec<&str> = arguments.split(' ').collect();
        arguments.push(path.to_str().unwrap());
        let output = tilescope(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let mut found = Found::default();
    for (name, run) in runs_of(directory.path()) {
        look_at(&name, &*run, &mut found);
    }
    for list in ["padding", "padding beyond bytes", "padding of variables"] {
        let (all, differ, first) = &found.0[list];
        assert!(*all > 2 * STEPS as u64 && *differ == 0, "{list}: {differ} of {all}, {first:?}");
    }
}

#[test]
fn lists_equal_curves_of_shared_samples() {
    for folder in ["poplar-3.3", "pytorch", "pytorch-truth", "xla", "xla-followed"] {
        let directory = in_package("../shared/profiles").join(folder);
        if directory.is_dir() {
            assert!(look_below(&directory) > 0);
        } else {
            println!("skipped: {} is absent", directory.display());
        }
    }
}
