//! Measures how each part of a report is read: `cargo bench --no-default-features --bench reading -- REPORT`.
//!
//! Prints for every part the seconds that passed, the seconds that its threads worked, and the most memory that
//! was resident until then. A large report: `tilescope synth -o DIR --network resnext101 --size 1GiB --proportion 0.35`.
//! With `--index DIRECTORY` before the path what an index there has is read from it; where it has none it is written.
//! With `--through-sqlite` before the path every table is read through SQLite, with `--only-the-window` no more than the window reads.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tilescope::format::Progress;
use tilescope::index::{Cache, Limits};
use tilescope::store::{ArenaId, TileId};
use tilescope::systems::poplar::cross_checks::contradictions;
use tilescope::systems::poplar::files::OpenReport;

/// A line of `/proc/self/status`, MiB.
fn status_mib(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap();
    let kib: u64 = line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
    kib / 1024
}

/// The most that was seen of memory that is the process's own, not a file's.
static OWN: AtomicU64 = AtomicU64::new(0);

/// Looks every few milliseconds how much memory is the process's own.
fn watch_memory() {
    let watch = || loop {
        OWN.fetch_max(status_mib("RssAnon:"), Ordering::Relaxed);
        std::thread::sleep(std::time::Duration::from_millis(3));
    };
    std::thread::Builder::new().name("memory".to_owned()).spawn(watch).unwrap();
}

/// The most resident memory of this process until now, and how much of it was its own.
fn most_resident() -> String {
    OWN.fetch_max(status_mib("RssAnon:"), Ordering::Relaxed);
    format!("{} MiB, own {} MiB", status_mib("VmHWM:"), OWN.load(Ordering::Relaxed))
}

/// Seconds that all threads of this process have worked; also in the kernel, which copies pages.
fn worked_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next().unwrap().parse::<f64>().unwrap();
    // USER_HZ is 100 on every Linux.
    (ticks() + ticks()) / 100.0
}

fn measure<T>(part: &str, read: impl FnOnce() -> T) -> T {
    let (start, worked) = (Instant::now(), worked_seconds());
    let answer = read();
    println!(
        "| {part} | {:.3} s | {:.2} s | {} |",
        start.elapsed().as_secs_f64(),
        worked_seconds() - worked,
        most_resident()
    );
    answer
}

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let Some(path) = arguments.last() else {
        println!("name a report, see the head of benches/reading.rs");
        return;
    };
    let progress = Progress::default();
    println!("| part | passed | worked | most resident |\n|---|---|---|---|");
    let place = arguments.iter().position(|word| word == "--index");
    let cache = place
        .map(|place| Cache::in_directory(PathBuf::from(&arguments[place + 1]), Limits::default()));
    watch_memory();
    let found = Instant::now();
    let open =
        OpenReport::find_with(Path::new(path), cache.as_ref(), &Progress::default()).unwrap();
    if !arguments.iter().any(|word| word == "--only-the-window") {
        open.expect_index();
    }
    println!("| finding it | {:.3} s | | {} |", found.elapsed().as_secs_f64(), most_resident());
    if arguments.iter().any(|word| word == "--through-sqlite") {
        open.read_through_sqlite();
    }
    let (start, worked) = (Instant::now(), worked_seconds());
    measure("small tables", || open.read_small_tables(&progress).unwrap());
    measure("debug contexts", || open.read_debug_info(&progress));
    measure("variables", || open.read_variables(&progress));
    measure("bytes by tile", || open.read_tile_variable_bytes(&progress));
    measure("compute sets, vertices, exchanges", || open.read_compute(&progress));
    measure("comparing what is said twice", || {
        open.compare_parts(|report| contradictions(report, &progress));
    });
    println!(
        "| all that the window reads | {:.3} s | {:.2} s | {} |",
        start.elapsed().as_secs_f64(),
        worked_seconds() - worked,
        most_resident()
    );
    if arguments.iter().any(|word| word == "--only-the-window") {
        return;
    }
    if cache.is_some() {
        measure("writing the index", || open.write_index(&Progress::default()).unwrap());
        println!(
            "{} bytes of an index",
            cache.iter().flat_map(Cache::list).map(|it| it.bytes).sum::<u64>()
        );
        return;
    }
    let tiles: Vec<ArenaId> = open
        .report
        .memory
        .get()
        .unwrap()
        .tiles
        .as_slice()
        .iter()
        .map(|tile| (*tile).into())
        .collect();
    let rows = AtomicU64::new(0);
    measure("constraints of all tiles", || {
        let reader = open.report.reader().unwrap();
        reader
            .read_some(&tiles, &progress, &|_, placed| {
                rows.fetch_add(placed.placements.len() as u64, Ordering::Relaxed);
            })
            .unwrap();
    });
    measure("names and constraints of all tiles, in order", || {
        open.read_each_tile(&progress, |_: TileId, placed| {
            rows.fetch_add(placed.placements.len() as u64, Ordering::Relaxed);
        })
        .unwrap()
    });
    println!("\n{} rows of tiles", rows.into_inner());
    for refusal in open.left_to_sqlite() {
        println!("left to SQLite: {refusal}");
    }
    for warning in open.report.warnings.list() {
        println!("{}: {}", warning.file, warning.message);
    }
}
