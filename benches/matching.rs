//! Measures the matching of two large reports: `cargo bench --no-default-features --bench matching`.
//!
//! Prints for each pair of reports the seconds of `match_reports`, those that its threads worked, by how
//! much it raised the resident memory at its peak, and how much was matched. The reports are in memory and the same at every run.
//! An argument chooses the pairs that have it in their title.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

#[path = "../tests/common/listed.rs"]
mod listed;

use std::time::Instant;

use listed::{Step, report, step};
use tilescope::analysis::comparison::matching::match_reports;

/// Steps of the source.
const STEPS: usize = 500_000;
/// Steps of an operation.
const STEPS_OF_OPERATION: usize = 100;

/// Numbers that are the same at every run.
struct Noise(u64);

impl Noise {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Convolutions in layers and blocks. Names within an operation repeat, some steps have none; exchanges
/// have the number of their compute set in their name, from `first_number` on.
fn network(steps: usize, first_number: usize) -> Vec<Step> {
    let kinds = ["Sequence", "OnTileExecute", "DoExchange", "WriteUndef", "OnTileExecute"];
    (0..steps)
        .map(|place| {
            let operation = place / STEPS_OF_OPERATION;
            let layer =
                format!("layer{}.{}.conv{}", operation / 12, operation / 3 % 4, operation % 3);
            let kind = kinds[place % kinds.len()];
            let name = match kind {
                "OnTileExecute" => format!("{layer}/Conv/Part{}", place % 7),
                "DoExchange" => format!("cs{}_{layer}/Conv/ExchangePre", first_number + place / 5),
                _ => String::new(),
            };
            Step { kind, name, operation: layer }
        })
        .collect()
}

/// One step in twenty is left out, is another one, or has another one before it; so many more come in
/// that there are 4 in 100 more in the end.
fn edited(steps: &[Step]) -> Vec<Step> {
    let mut noise = Noise(3);
    let mut edited = Vec::new();
    for (place, original) in steps.iter().enumerate() {
        let new = |name: String| Step { name, ..original.clone() };
        match noise.below(200) {
            0 => {}
            1 => edited.push(new(format!("renamed{place}"))),
            // A name that others have as well.
            2..=4 => edited.extend([steps[place.saturating_sub(7)].clone(), original.clone()]),
            5..=9 => edited.extend([new(format!("new{place}")), original.clone()]),
            _ => edited.push(original.clone()),
        }
    }
    edited
}

/// The resident memory at its peak, in MiB.
fn peak_mebibytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Seconds that all threads have worked.
fn processor_seconds() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let nanoseconds = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path.join("schedstat")).unwrap();
        text.split_whitespace().next().unwrap().parse::<f64>().unwrap()
    };
    threads.map(|thread| nanoseconds(thread.unwrap().path())).sum::<f64>() / 1e9
}

fn measure(title: &str, source: &[Step], target: &[Step], with_debug: bool) {
    let chosen = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    if chosen.is_some_and(|chosen| !title.contains(&chosen)) {
        return;
    }
    let variables = |steps: &[Step]| -> Vec<String> {
        steps.iter().step_by(10).map(|step| step.name.clone()).collect()
    };
    let (from, to) = (
        report(source, &variables(source), with_debug),
        report(target, &variables(target), with_debug),
    );
    // The peak from here on.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = peak_mebibytes();
    let (started, worked) = (Instant::now(), processor_seconds());
    let matching = match_reports(&from, &to, &|| false).unwrap();
    let seconds = started.elapsed().as_secs_f64();
    let worked = processor_seconds() - worked;
    let more = peak_mebibytes() - before;
    let counts = matching.steps.counts();
    println!(
        "{title:<46} {:>7} {:>7} {seconds:7.2} s ({worked:.2} s of work) {more:5.0} MiB (of {before:.0}); matched {}, \
         exact {}, likely {}, weak {}",
        source.len(),
        target.len(),
        counts.matched,
        counts.exact,
        counts.likely,
        counts.weak
    );
}

fn main() {
    let source = network(STEPS, 0);
    let target = edited(&source);
    measure("edited", &source, &target, true);
    measure("edited, without debug information", &source, &target, false);
    let renumbered = edited(&network(STEPS, 3));
    measure("edited and numbered anew", &source, &renumbered, true);
    measure("the same, without debug information", &source, &renumbered, false);
    measure("itself", &source, &source, true);
    let mut one_more = source.clone();
    let at = STEPS / 3;
    one_more.splice(at..at, source[at..at + STEPS_OF_OPERATION].iter().cloned());
    measure("an operation more", &source, &one_more, true);

    let same = vec![step("Sync", "", ""); STEPS + STEPS / 25];
    measure("one key only", &same[..STEPS], &same, true);
    let other: Vec<Step> = (0..STEPS + STEPS / 25)
        .map(|place| step("OnTileExecute", &format!("other{place}"), ""))
        .collect();
    measure("no key in common", &source, &other, true);
    for keys in [2, 4, 20, 1000] {
        let mut noise = Noise(9);
        let mut random = |steps: usize| -> Vec<Step> {
            (0..steps)
                .map(|_| step("OnTileExecute", &format!("x{}", noise.below(keys)), ""))
                .collect()
        };
        let (from, to) = (random(STEPS), random(STEPS + STEPS / 25));
        measure(&format!("{keys} keys by chance"), &from, &to, true);
        measure(&format!("{keys} keys by chance, edited"), &from, &edited(&from), true);
    }
    let layers: Vec<Step> =
        (0..STEPS).map(|place| step("OnTileExecute", &format!("x{}", place % 50), "")).collect();
    measure("equal layers, edited", &layers, &edited(&layers), true);
    let mut noise = Noise(5);
    let ten: Vec<Step> = (0..STEPS / STEPS_OF_OPERATION)
        .flat_map(|_| {
            let operation = noise.below(10) * STEPS_OF_OPERATION * 12;
            source[operation..operation + STEPS_OF_OPERATION].to_vec()
        })
        .collect();
    measure("ten operations again and again, edited", &ten, &edited(&ten), true);
    let mut turned = source.clone();
    turned.reverse();
    measure("turned around", &source, &turned, true);
    let mut moved: Vec<Step> = source.clone();
    moved.rotate_left(STEPS / 2);
    measure("halves exchanged", &source, &moved, true);
}
