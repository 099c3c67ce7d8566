//! Reading that nobody waits for.

use super::*;
use crate::pages::with_shared_pages;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A way to read something, by its name.
type Read<'a> = (&'a str, Box<dyn Fn() + 'a>);

/// A report of so many rows that none is read as a whole between two looks.
fn many_rows() -> (TempDir, MutexGuard<'static, ()>) {
    let alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let options = Options { tiles_per_ipu: 1024, ..Options::default() };
    write_report(&options, directory.path(), &Progress::default()).unwrap();
    (directory, alone)
}

#[test]
fn every_read_ends_at_once_when_nobody_waits() {
    let (directory, _alone) = many_rows();
    fs::write(directory.path().join("a.log"), vec![b'a'; 20 * MIB]).unwrap();
    let (open, cancelled) =
        (OpenReport::open(directory.path(), &Progress::default()).unwrap(), Progress::default());
    cancelled.cancel();
    let reader = || open.report.reader().unwrap();
    let arenas: Vec<ArenaId> = (0..200).map(ArenaId).collect();
    let (mut bytes_of_logs, bytes) = (0, std::cell::Cell::new(0));
    let reads: Vec<Read<'_>> = vec![
        ("small tables", Box::new(|| drop(OpenReport::open(directory.path(), &cancelled)))),
        ("contexts", Box::new(|| open.read_debug_info(&cancelled))),
        ("variables", Box::new(|| open.read_variables(&cancelled))),
        ("bytes by tile", Box::new(|| open.read_tile_variable_bytes(&cancelled))),
        ("compute", Box::new(|| open.read_compute(&cancelled))),
        ("programs", Box::new(|| open.read_program_trees(&cancelled))),
        ("all tiles", Box::new(|| drop(open.read_each_tile(&cancelled, |_, _| ())))),
        ("a tile", Box::new(|| drop(reader().read(ArenaId(3), &cancelled)))),
        ("some tiles", Box::new(|| drop(reader().read_some(&arenas, &cancelled, &|_, _| ())))),
        ("bytes of tiles", Box::new(|| drop(open.read_variable_bytes(2..=90, &cancelled)))),
        (
            "logs",
            Box::new(|| {
                open.read_logs(&[], &cancelled, |log| {
                    bytes.set(bytes.get() + std::io::copy(log, &mut std::io::sink())?);
                    Ok(Vec::new())
                });
            }),
        ),
    ];
    for (what, read) in &reads {
        let ((), took) = counted(read);
        let work = took.work;
        assert!(work.rows < 20_000 && work.pages < 600 && work.steps < 40_000, "{what}: {work}");
        assert!(work.placements < 500 && took.bytes < 20 * MIB, "{what}: {work}");
    }
    drop(reads);
    bytes_of_logs += bytes.get();
    assert_eq!(bytes_of_logs, 0);
    let variables = open.report.variables.absence().unwrap();
    assert!(format!("{variables:?}").contains("ancelled"), "{variables:?}");
}

#[test]
fn reading_tiles_ends_when_the_first_of_them_is_enough() {
    let (directory, _alone) = many_rows();
    let open = OpenReport::open(directory.path(), &Progress::default()).unwrap();
    let enough = Progress::default();
    let mut tiles = 0;
    let of_each = |_, _| {
        enough.cancel();
        tiles += 1;
    };
    let (_, took) = counted(|| open.read_each_tile(&enough, of_each).unwrap());
    assert!(tiles < 10 && took.work.rows < 1000, "{tiles} tiles, {}", took.work);
    let (enough, tiles) = (Progress::default(), AtomicUsize::new(0));
    let arenas: Vec<ArenaId> = (0..1000).map(ArenaId).collect();
    let of_some = |_, _| {
        enough.cancel();
        tiles.fetch_add(1, Ordering::Relaxed);
    };
    let reader = open.report.reader().unwrap();
    reader.read_some(&arenas, &enough, &of_some).unwrap();
    assert!(tiles.load(Ordering::Relaxed) < 100, "{tiles:?}");
}

#[test]
fn sqlite_stops_in_the_middle_of_a_question() {
    let directory = harmed_sample(|directory| {
        without_indexes(directory, "programs");
        sql(directory, "UPDATE programs SET compilation_step_id = 1");
        with_shared_pages(directory, &["programs"]);
    });
    let (progress, before) = (Progress::default(), WorkDone::now().steps);
    std::thread::scope(|scope| {
        scope.spawn(|| drop(OpenReport::open(directory.path(), &progress)));
        // It takes millions of steps before it is stopped for another reason.
        while WorkDone::now().steps < before + 100_000 {
            std::thread::yield_now();
        }
        progress.cancel();
    });
    let steps = WorkDone::now().steps - before;
    assert!(steps < 1_500_000, "{steps}");
}
