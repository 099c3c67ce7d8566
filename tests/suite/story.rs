//! The story of one model at six proportions, and a sweep, told by the reports alone.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{answer, summary};
use serde_json::Value;
use tilescope::analysis::execution::Executed;
use tilescope::analysis::execution::stated::stated_and_summed;
use tilescope::cli::Input;
use tilescope::cli::liveness::{LivenessArguments, LivenessReport};
use tilescope::cli::output::arrow::ArrowArgument;
use tilescope::cli::scope::ScopeArguments;
use tilescope::cli::tiles::{Tiles, TilesArguments};
use tilescope::format::Progress;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::story::{PROPORTIONS, directory_name, story};
use tilescope::systems::poplar::synth::{ReportOptions, write_report};

/// What the reports of one run say.
struct Run {
    /// The section of the system.
    summary: Value,
    tiles: Value,
    liveness: Value,
    log: String,
}

impl Run {
    fn read(path: &Path) -> Self {
        let input = || Input { path: path.to_owned(), json: true };
        let tiles = TilesArguments {
            input: input(),
            tile: None,
            ipu: None,
            by: None,
            csv: false,
            arrow: ArrowArgument::default(),
        };
        let liveness = LivenessArguments {
            input: input(),
            step: None,
            scope: ScopeArguments::default(),
            module: None,
            filter: None,
            by: None,
            peaks: None,
            csv: false,
            arrow: ArrowArgument::default(),
        };
        Self {
            summary: summary(path).unwrap()["poplar"].clone(),
            tiles: answer(path, |open, progress| Tiles::of(open, &tiles, progress)).unwrap(),
            liveness: answer(path, |open, progress| LivenessReport::of(open, &liveness, progress))
                .unwrap(),
            log: std::fs::read_to_string(path.join("compile.log")).unwrap(),
        }
    }

    fn memory(&self, key: &str) -> u64 {
        self.summary["memory"][key].as_u64().unwrap()
    }

    fn peak(&self) -> u64 {
        self.summary["liveness"]["peak"]["not_always_live_bytes"].as_u64().unwrap()
    }

    fn limit(&self) -> u64 {
        self.liveness["limit_bytes"].as_u64().unwrap()
    }

    fn statistics(&self, key: &str) -> u64 {
        self.tiles["statistics"][key].as_u64().unwrap()
    }

    /// Tiles that are over, as (bytes, including gaps).
    fn tiles_over(&self) -> Vec<(u64, u64)> {
        let tiles = self.tiles["tiles"].as_array().unwrap().iter();
        tiles
            .filter(|tile| tile["over_limit_bytes"].as_u64().unwrap() > 0)
            .map(|tile| {
                (tile["bytes"].as_u64().unwrap(), tile["including_gaps_bytes"].as_u64().unwrap())
            })
            .collect()
    }
}

#[test]
fn the_story_comes_out() {
    let directory = tempfile::tempdir().unwrap();
    story().write(directory.path(), &Progress::default()).unwrap();
    let runs =
        PROPORTIONS.map(|proportion| Run::read(&directory.path().join(directory_name(proportion))));
    let [at_08, at_075, at_06, at_035, at_001, at_0005] = &runs;
    for (run, proportion) in runs.iter().zip(PROPORTIONS) {
        assert_eq!(run.summary["target"]["tiles"], 1472);
        assert_eq!(run.summary["target"]["architecture"], "ipu2");
        let values = run.summary["available_memory_proportion"].as_array().unwrap();
        assert!(values.iter().all(|row| row["value"] == proportion), "{values:?}");
    }

    // 0.8 and 0.75: the same plans, spikes above the limit that are all convolutions, good balance.
    let without_options = |run: &Run| {
        let mut liveness = run.liveness.clone();
        for step in liveness["steps"].as_array_mut().unwrap() {
            step["operation_facts"]["available_memory_proportion"].take();
        }
        (liveness, run.tiles.clone(), run.summary["memory"].clone())
    };
    assert_eq!(without_options(at_08), without_options(at_075));
    let spikes: Vec<&Value> = at_075.liveness["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| {
            let bytes = step["not_always_live_bytes"].as_u64().unwrap();
            bytes + at_075.memory("always_live_bytes") > at_075.limit()
        })
        .collect();
    assert!(spikes.len() >= 5 && spikes.len() < 100, "{} steps above the limit", spikes.len());
    assert!(spikes.iter().all(|step| step["operation_facts"]["kind"] == "convolution"));
    assert_eq!(at_075.summary["memory"]["fits"], false);
    assert!(at_075.statistics("max") * 10 < at_075.statistics("min") * 12, "tiles are balanced");

    // 0.6: under the limit on average, over it on some tiles, by imbalance and by gaps; less
    // temporary and more always-live memory than 0.75.
    assert!(at_06.memory("always_live_bytes") + at_06.peak() < at_06.limit());
    let over = at_06.tiles_over();
    assert!(over.len() > 20 && over.len() < 736, "{} tiles over", over.len());
    let bytes_per_tile = 638_976;
    assert!(over.iter().any(|(bytes, _)| *bytes > bytes_per_tile), "imbalance alone");
    assert!(over.iter().any(|(bytes, _)| *bytes <= bytes_per_tile), "only with their gaps");
    assert!(at_06.peak() < at_075.peak());
    assert!(at_06.memory("always_live_bytes") > at_075.memory("always_live_bytes"));

    // 0.35 fits and runs.
    assert_eq!(at_035.summary["memory"]["fits"], true);
    assert!(at_035.summary["execution"]["cycles"].as_u64().unwrap() > 1_000_000);
    assert!([at_08, at_075, at_06, at_001].iter().all(|run| run.summary["execution"].is_null()));
    // What ran adds up to what is stated of it, by kind and in whole; of the others there is nothing.
    for (run, proportion) in runs.iter().zip(PROPORTIONS) {
        let path = directory.path().join(directory_name(proportion));
        let open = OpenReport::open(&path, &Progress::default()).unwrap();
        open.report.read_trace(&Progress::default());
        let executed = Executed::of(&open.report);
        assert_eq!(executed.is_some(), !run.summary["execution"].is_null(), "{proportion}");
        for of_run in executed.map_or_else(Vec::new, stated_and_summed) {
            let rows = of_run.unwrap();
            assert!(rows.iter().all(|row| row.stated == row.summed), "{rows:?}");
        }
    }

    // 0.01 and 0.005: the same report, the planner's warning, small spikes, failure by imbalance.
    assert_eq!(without_options(at_001), without_options(at_0005));
    let warning = "unable to meet memory target. Optimizing for minimum memory...";
    assert!(at_001.log.contains(warning) && at_001.log == at_0005.log);
    assert!([at_08, at_075, at_06, at_035].iter().all(|run| run.log.is_empty()));
    assert!(at_001.peak() * 2 < at_035.peak());
    assert_eq!(at_001.summary["memory"]["fits"], false);
    let over = at_001.tiles_over();
    assert!(over.len() < 100, "{} tiles over", over.len());
    assert!(at_001.statistics("max") > 2 * at_001.statistics("median"));
    assert!(at_001.statistics("median") < bytes_per_tile);
}

#[test]
fn the_best_of_a_sweep_lies_within() {
    let batches = [4, 8, 12, 16, 20, 24];
    let mut samples_per_second: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let directory = tempfile::tempdir().unwrap();
    for (row, batch) in batches.into_iter().enumerate() {
        for (column, proportion) in PROPORTIONS.into_iter().enumerate() {
            let options =
                ReportOptions { batch, proportion, execution: true, ..ReportOptions::default() };
            let path = directory.path().join(format!("{batch}-{proportion}"));
            write_report(&options, &path, &Progress::default()).unwrap();
            let answer = summary(&path).unwrap();
            if let Some(seconds) = answer["poplar"]["execution"]["seconds"].as_f64() {
                let runs = answer["poplar"]["execution"]["runs"].as_u64().unwrap();
                samples_per_second
                    .insert((row, column), ((batch * runs) as f64 / seconds).round() as u64);
            }
        }
    }
    let best = samples_per_second.iter().max_by_key(|(_, samples)| **samples).unwrap();
    let (row, column) = *best.0;
    assert!(row > 0 && row + 1 < batches.len(), "batch {} is no corner", batches[row]);
    assert!(column > 0 && column + 1 < PROPORTIONS.len(), "nor is {}", PROPORTIONS[column]);
    assert!(samples_per_second.len() > 8, "{samples_per_second:?}");
}
