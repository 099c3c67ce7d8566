//! Reading that nobody waits for.

use super::*;
use crate::pages::with_shared_pages;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use tilescope::analysis::liveness::Scope;
use tilescope::analysis::liveness::scope_curve::scope_curve;
use tilescope::analysis::placement::chip_map::{ChipWindow, ColourBy, render};
use tilescope::analysis::placement::read::gaps_of_all;
use tilescope::cli::summary::Summary;
use tilescope::index::{Cache, Limits};
use tilescope::lake::export;
use tilescope::store::Warnings;
use tilescope::systems::poplar::cross_checks::contradictions;
use tilescope::systems::poplar::files::runs_in_folder;
use tilescope::systems::poplar::system::ReportRun;

/// A way to read something, by its name.
type Read<'a> = (&'a str, Box<dyn Fn() + 'a>);

/// A report of so many rows that none is read as a whole between two looks.
fn many_rows() -> (TempDir, MutexGuard<'static, ()>) {
    let alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let options = ReportOptions { tiles_per_ipu: 1024, ..ReportOptions::default() };
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

/// The thread that encodes the largest table of a lake fails with the first rows that are handed to it together.
#[test]
fn an_encoder_that_fails_ends_its_reader() {
    let (directory, _alone) = many_rows();
    let failed_at: Arc<OnceLock<WorkDone>> = Arc::default();
    let at = Arc::clone(&failed_at);
    let progress = Progress::asking(move || {
        let is_encoder = std::thread::current().name() == Some("encoder");
        assert!(!is_encoder || at.set(WorkDone::now()).is_err(), "this encoder is to fail");
        false
    });
    let (lake, before) = (tempfile::tempdir().unwrap(), WorkDone::now());
    let error = export(&[directory.path().to_owned()], None, lake.path(), &progress).unwrap_err();
    let end = WorkDone::now();
    assert!(error.message.contains("the thread that encodes ended"), "{error}");
    let failed_at = failed_at.get().unwrap();
    let (read, after) = (failed_at.since(&before), end.since(failed_at));
    assert!((8000..20_000).contains(&read.placements), "{read}");
    assert!(after.placements <= 2000 && after.rows <= 4096, "{after}");
}

/// A job by its name, with how often it looks at least.
type Job<'a> = (&'a str, u64, Box<dyn Fn(&Progress) + Sync + 'a>);

/// What a job did: how often it looked whether anybody still waits, and the most that it read or wrote between
/// two looks.
#[derive(Debug, Default)]
struct Looks {
    count: u64,
    most: WorkDone,
    last: WorkDone,
    /// At the look at which it was told to stop.
    at_stop: Option<WorkDone>,
}

impl Looks {
    fn look(&mut self, stop_at: u64) -> bool {
        let now = WorkDone::now();
        // What was read before the job began is not its own.
        let done = now.since(if self.count == 0 { &now } else { &self.last });
        let most = &mut self.most;
        most.pages = most.pages.max(done.pages);
        most.bytes = most.bytes.max(done.bytes);
        most.rows = most.rows.max(done.rows);
        most.steps = most.steps.max(done.steps);
        most.placements = most.placements.max(done.placements);
        most.written = most.written.max(done.written);
        (self.last, self.count) = (now, self.count + 1);
        let is_over = self.count >= stop_at;
        if is_over {
            self.at_stop.get_or_insert(now);
        }
        is_over
    }
}

/// Does a job on one thread, which stops at a look.
fn stopped_at(look: u64, job: &(dyn Fn(&Progress) + Sync)) -> (Looks, WorkDone) {
    let looks = Arc::new(Mutex::new(Looks::default()));
    let seen = Arc::clone(&looks);
    let progress = Progress::asking(move || seen.lock().unwrap().look(look));
    let thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    thread.install(|| job(&progress));
    drop(progress);
    let end = WorkDone::now();
    let looks = Arc::try_unwrap(looks).unwrap().into_inner().unwrap();
    (looks, end)
}

/// Every reader and every long analysis, stopped at a quarter, a half and three quarters of its looks: between two
/// looks it does little, and after the one at which nobody waits any more hardly anything.
#[test]
fn every_job_stops_in_the_middle() {
    let (directory, _alone) = many_rows();
    let beside = |name: &str| directory.path().join(name);
    fs::write(beside("a.log"), b"some words of a log that say nothing\n".repeat(150_000)).unwrap();
    let long = "x".repeat(1000);
    let facts: Vec<_> =
        (0..9000).map(|number| serde_json::json!({ "a": number, "b": long })).collect();
    fs::write(beside("app.json"), serde_json::json!(facts).to_string()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for run in 0..300 {
        fs::create_dir(folder.path().join(run.to_string())).unwrap();
        fs::write(folder.path().join(format!("{run}/app.json")), "{}").unwrap();
    }
    fs::copy(sample().join("profile.pop"), folder.path().join("0/profile.pop")).unwrap();
    let many_files = tempfile::tempdir().unwrap();
    for file in 0..3000 {
        fs::write(many_files.path().join(file.to_string()), "").unwrap();
    }
    fs::copy(sample().join("profile.pop"), many_files.path().join("profile.pop")).unwrap();

    let of_log = |log: &mut (dyn std::io::Read + Send)| {
        std::io::copy(log, &mut std::io::sink()).map(|_| Vec::new())
    };
    let never = Progress::default();
    let read_all = |open: &OpenReport, progress: &Progress| {
        drop(open.read_all(progress, |report| contradictions(report, progress)));
    };
    let again = || OpenReport::open(directory.path(), &never).unwrap();
    let open = again();
    read_all(&open, &never);
    let arenas: Vec<ArenaId> = (0..600).map(ArenaId).collect();
    let reader = || open.report.reader().unwrap();
    let window = ChipWindow { tiles: 0..1024, addresses: 0..1 << 20, columns: 900, rows: 600 };
    let cache_of = |directory: &Path| Cache::in_directory(directory.to_owned(), Limits::default());
    let lake = tempfile::tempdir().unwrap();
    let jobs: Vec<Job<'_>> = vec![
        ("small tables", 20, Box::new(|p| drop(OpenReport::open(directory.path(), p)))),
        ("contexts", 2, Box::new(|p| again().read_debug_info(p))),
        ("variables", 20, Box::new(|p| again().read_variables(p))),
        ("bytes by tile", 20, Box::new(|p| again().read_tile_variable_bytes(p))),
        ("compute", 10, Box::new(|p| again().read_compute(p))),
        ("logs", 5, Box::new(|p| again().read_logs(&[], p, of_log))),
        ("everything", 100, Box::new(|p| read_all(&again(), p))),
        ("all tiles", 20, Box::new(|p| drop(open.read_each_tile(p, |_, _| ())))),
        ("a tile", 2, Box::new(|p| drop(reader().read(ArenaId(3), p)))),
        ("some tiles", 20, Box::new(|p| drop(reader().read_some(&arenas, p, &|_, _| ())))),
        ("bytes of tiles", 5, Box::new(|p| drop(open.read_variable_bytes(2..=900, p)))),
        ("cross-checks", 20, Box::new(|p| drop(contradictions(&open.report, p)))),
        ("gaps of all tiles", 20, Box::new(|p| drop(gaps_of_all(&open.report, p)))),
        ("summary", 3, Box::new(|p| drop(Summary::of_run(&ReportRun::of(again()), &[], p)))),
        (
            "the worst tile",
            5,
            Box::new(|p| drop(scope_curve(&open.report, Scope::WorstArena, &|| p.is_cancelled()))),
        ),
        (
            "the map of all tiles",
            100,
            Box::new(|p| {
                let is_cancelled = &|| p.is_cancelled();
                drop(render(&open.report, &window, ColourBy::Category, Some(5), is_cancelled));
            }),
        ),
        (
            "writing an index",
            10,
            Box::new(|p| {
                let kept = tempfile::tempdir().unwrap();
                let cache = cache_of(&kept.path().join("index"));
                let open = OpenReport::open_with(directory.path(), Some(&cache), &never).unwrap();
                read_all(&open, &never);
                drop(open.write_index(p));
            }),
        ),
        (
            "export",
            50,
            Box::new(|p| drop(export(&[directory.path().to_owned()], None, lake.path(), p))),
        ),
        (
            "a folder of runs",
            300,
            Box::new(|p| drop(runs_in_folder(folder.path(), &Warnings::default(), p))),
        ),
        (
            "a folder of files",
            10,
            Box::new(|p| drop(runs_in_folder(many_files.path(), &Warnings::default(), p))),
        ),
    ];
    for (what, least, job) in &jobs {
        let (whole, _) = stopped_at(u64::MAX, job);
        println!("{what}: {} looks, at most {} between two", whole.count, whole.most);
        assert!(whole.count >= *least, "{what}: {} looks", whole.count);
        let most = &whole.most;
        assert!(most.bytes <= (1 << 20) + 4096 && most.pages <= 256, "{what}: {most}");
        assert!(
            most.rows <= 4096 && most.steps <= 4000 && most.placements <= 2000,
            "{what}: {most}"
        );
        assert!(most.written <= 1 << 20, "{what}: {most}");
        for part in 1..=3 {
            let look = (whole.count * part / 4).max(1);
            let (looks, end) = stopped_at(look, job);
            let after = end.since(&looks.at_stop.unwrap_or_else(|| panic!("{what}: {looks:?}")));
            println!("  stopped at look {look}: {after}");
            // Each row of a picture and each tile asks once more, and does nothing.
            assert!(looks.count <= look + 1100, "{what}: {} looks", looks.count);
            assert!(after.bytes <= 2 << 20 && after.pages <= 512, "{what}: {after}");
            assert!(after.rows <= 4096 && after.steps <= 20_000, "{what}: {after}");
            assert!(after.placements <= 2000 && after.written <= 1 << 20, "{what}: {after}");
        }
    }
}
