//! The figures of runs side by side. For reports whose steps are matched they are those of `summary`, the bytes of
//! code, and the peak as a whole.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::store::execution::ExecutionTotals;
use crate::store::memory::{Region, TileMemory};
use crate::store::options::GraphInfo;

use crate::analysis::figures::difference::{Difference, RateDifference, percent_of};
use crate::analysis::figures::joined::side_by_side;
use crate::analysis::liveness::timeline::WithTimeline;
use crate::analysis::memory::{self, CategoryBytes, TileTotals, cell};
use crate::analysis::throughput::{BY_CYCLES, BY_ELAPSED_TIME, Throughput, throughput};
use crate::text::words;

words! {
    /// What a figure counts; its key is its name for programs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Unit by key {
        Bytes = "bytes",
        Count = "count",
        /// Cycles of a tile's clock.
        Cycles = "cycles",
        Microseconds = "microseconds",
        /// A rate: its exact values are those of `rates`.
        SamplesPerSecond = "samples-per-second",
        /// The number of a tile or step: where something is, not how much.
        Place = "number",
    }
}

/// A figure of one run, or of several: the first of them is the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name for programs: `memory.total_bytes`.
    pub key: Cow<'static, str>,
    pub title: Cow<'static, str>,
    pub unit: Unit,
    /// Of a rate to the nearest whole.
    pub values: Vec<Option<i64>>,
    /// Of a rate the exact values; of all else none.
    pub rates: Vec<Option<f64>>,
    /// Which values are lower bounds.
    pub are_at_least: Vec<bool>,
}

fn signed(figure: u64) -> i64 {
    i64::try_from(figure).unwrap_or(i64::MAX)
}

impl Figure {
    /// A figure of one run; `is_at_least` of a lower bound.
    pub fn of_run(
        key: &'static str,
        title: &'static str,
        unit: Unit,
        value: Option<u64>,
        is_at_least: bool,
    ) -> Self {
        Self {
            key: Cow::Borrowed(key),
            title: Cow::Borrowed(title),
            unit,
            values: vec![value.map(signed)],
            rates: Vec::new(),
            are_at_least: vec![is_at_least],
        }
    }

    /// The figures of runs side by side, by their keys; in the order of the first run that has them.
    pub fn side_by_side(runs: &[&[Self]]) -> Vec<Self> {
        let keyed = |run: &&[Self]| run.iter().map(|one| (one.key.clone(), one.clone())).collect();
        let joined = |cells: Vec<Option<Self>>| {
            let Self { key, title, unit, .. } = cells.iter().flatten().next()?.clone();
            let of = |cell: &Option<Self>| cell.as_ref().and_then(|one| *one.values.first()?);
            let rate = |cell: &Option<Self>| cell.as_ref().and_then(|one| *one.rates.first()?);
            let at_least = |cell: &Option<Self>| {
                cell.as_ref().is_some_and(|one| one.are_at_least.first() == Some(&true))
            };
            let is_rate = unit == Unit::SamplesPerSecond;
            let rates = if is_rate { cells.iter().map(rate).collect() } else { Vec::new() };
            let (values, are_at_least) =
                cells.iter().map(|cell| (of(cell), at_least(cell))).unzip();
            Some(Self { key, title, unit, values, rates, are_at_least })
        };
        let rows = side_by_side(runs.iter().map(keyed).collect());
        rows.into_iter().filter_map(joined).collect()
    }

    /// Of a run.
    pub fn value(&self, run: usize) -> Option<i64> {
        self.values.get(run).copied().flatten()
    }

    /// Whether the value of a run is a lower bound.
    pub fn is_at_least(&self, run: usize) -> bool {
        self.are_at_least.get(run) == Some(&true)
    }

    /// Whether no run has it.
    pub fn is_unknown(&self) -> bool {
        self.values.iter().all(Option::is_none)
    }

    /// From the first run to another one.
    pub fn difference(&self, other: usize) -> Difference {
        Difference { source: self.value(0), target: self.value(other) }
    }

    /// The same of a rate, exactly; `None` of all else.
    pub fn rate_difference(&self, other: usize) -> Option<RateDifference> {
        let value = |run: usize| self.rates.get(run).copied().flatten();
        let is_rate = self.unit == Unit::SamplesPerSecond;
        is_rate.then(|| RateDifference { source: value(0), target: value(other) })
    }

    /// Of a run in percent of the first's, one decimal, half up; of amounts that are counted.
    pub fn percent_of_source(&self, run: usize) -> Option<f64> {
        let of = |run| {
            self.value(run).filter(|_| !matches!(self.unit, Unit::Place)).map(i64::unsigned_abs)
        };
        percent_of(of(run)?, of(0)?)
    }

    /// The figure of a run beside that of the first, for programs; where something is has no difference.
    pub fn json(&self, run: usize) -> Value {
        let difference = self.difference(run);
        let is_amount = self.unit != Unit::Place;
        let [source, target, change, percent] = match self.rate_difference(run) {
            Some(rate) => {
                [rate.source, rate.target, rate.change(), rate.percent()].map(|one| json!(one))
            }
            None => {
                let change = difference.change().filter(|_| is_amount);
                let percent = difference.percent().filter(|_| is_amount);
                [json!(difference.source), json!(difference.target), json!(change), json!(percent)]
            }
        };
        json!({
            "key": self.key,
            "title": self.title,
            "unit": self.unit.key(),
            "source": source,
            "target": target,
            "difference": change,
            "percent": percent,
            "percent_of_source": self.percent_of_source(run),
        })
    }
}

/// A figure that says most.
#[derive(Clone, Copy, Debug)]
pub struct KeyFigure {
    pub title: &'static str,
    /// The same as the title of a column.
    pub short_title: &'static str,
    key: &'static str,
}

impl KeyFigure {
    /// It, among all figures.
    pub fn of<'a>(&self, figures: &'a [Figure]) -> Option<&'a Figure> {
        figures.iter().find(|figure| figure.key == self.key)
    }
}

const fn key_figure(
    title: &'static str,
    short_title: &'static str,
    key: &'static str,
) -> KeyFigure {
    KeyFigure { title, short_title, key }
}

pub const BY_CYCLES_KEY: &str = "throughput_by_cycles_samples_per_second";
pub const BY_ELAPSED_TIME_KEY: &str = "throughput_by_elapsed_time_samples_per_second";

pub const KEY_FIGURES: [KeyFigure; 9] = [
    key_figure("Peak, with what always lives", "Peak", "liveness.peak.bytes"),
    key_figure(
        "Not always live at the peak",
        "Not always live",
        "liveness.peak.not_always_live_bytes",
    ),
    key_figure("Always live", "Always live", "memory.always_live_bytes"),
    key_figure(
        "Fullest tile, with gaps",
        "Fullest tile",
        "memory.fullest_tile.including_gaps_bytes",
    ),
    key_figure("Tiles over the limit", "Tiles over", "memory.tiles_over_limit"),
    key_figure("Code", "Code", "memory.code_bytes"),
    key_figure("Cycles", "Cycles", "execution.cycles"),
    key_figure(
        BY_CYCLES,
        "Samples/s by cycles",
        "execution.throughput_by_cycles_samples_per_second",
    ),
    key_figure(
        BY_ELAPSED_TIME,
        "Samples/s by elapsed time",
        "execution.throughput_by_elapsed_time_samples_per_second",
    ),
];

/// All figures, in the order in which `summary` has them; those that no report has are listed as well.
/// Small tables are enough.
pub fn figures(reports: &[WithTimeline]) -> Vec<Figure> {
    let reports = reports.iter().map(FactsOfReport::of).collect();
    let mut list = FigureList { reports, figures: Vec::new() };
    list.graph();
    list.memory();
    list.categories();
    list.liveness();
    list.execution();
    list.figures
}

struct FactsOfReport<'a> {
    graph: GraphInfo,
    memory: Option<&'a TileMemory>,
    totals: TileTotals,
    steps: Option<u64>,
    peak: Option<ReportPeak>,
    always_live: Option<u64>,
    execution: Option<&'a ExecutionTotals>,
    throughput: Throughput,
}

struct ReportPeak {
    step: u32,
    not_always_live: u64,
}

impl<'a> FactsOfReport<'a> {
    fn of(of: &'a WithTimeline) -> Self {
        let report = &of.report;
        let memory = report.memory.get();
        let target = report.target.get();
        let totals = memory.map(|memory| memory::totals(memory, target)).unwrap_or_default();
        let steps = report.steps.get();
        let peak = || {
            let (position, not_always_live) = of.peak()?;
            Some(ReportPeak { step: steps?.ids.get(position)?.0, not_always_live })
        };
        Self {
            graph: report.graph.get().copied().unwrap_or_default(),
            memory,
            steps: steps.map(|steps| steps.ids.len() as u64),
            peak: peak(),
            always_live: totals.always_live_bytes,
            totals,
            execution: report.execution.get(),
            throughput: throughput(report),
        }
    }

    fn fullest(&self, of: impl Fn(&TileMemory, usize) -> Option<u64>) -> Option<u64> {
        of(self.memory?, self.totals.fullest?)
    }

    fn category(&self, name: &str) -> CategoryBytes {
        let of_name = |memory: &'a TileMemory| {
            memory.categories.iter().find(|category| category.name == name)
        };
        self.memory.and_then(of_name).map(memory::category_total).unwrap_or_default()
    }
}

struct FigureList<'a> {
    reports: Vec<FactsOfReport<'a>>,
    figures: Vec<Figure>,
}

impl FigureList<'_> {
    fn add(
        &mut self,
        path: &[&str],
        title: &str,
        unit: Unit,
        of: impl Fn(&FactsOfReport<'_>) -> Option<u64>,
    ) {
        self.figures.push(Figure {
            key: path.join(".").into(),
            title: title.to_owned().into(),
            unit,
            values: self.reports.iter().map(|facts| of(facts).map(signed)).collect(),
            rates: Vec::new(),
            are_at_least: Vec::new(),
        });
    }

    fn add_rate(&mut self, path: &[&str], title: &str, of: fn(&Throughput) -> Option<f64>) {
        let rates: Vec<_> = self.reports.iter().map(|facts| of(&facts.throughput)).collect();
        self.figures.push(Figure {
            key: path.join(".").into(),
            title: title.to_owned().into(),
            unit: Unit::SamplesPerSecond,
            values: rates.iter().map(|rate| rate.map(|rate| rate.round() as i64)).collect(),
            rates,
            are_at_least: Vec::new(),
        });
    }

    fn graph(&mut self) {
        let mut add = |key, title, of: fn(&GraphInfo) -> Option<u64>| {
            self.add(&["graph", key], title, Unit::Count, |facts| of(&facts.graph));
        };
        add("compute_sets", "Compute sets", |graph| graph.compute_sets);
        add("edges", "Edges", |graph| graph.edges);
        add("variables", "Variables", |graph| graph.variables);
        add("vertices", "Vertices", |graph| graph.vertices);
    }

    fn memory(&mut self) {
        let mut add = |key, title, of: fn(&TileTotals) -> Option<u64>| {
            self.add(&["memory", key], title, Unit::Bytes, |facts| of(&facts.totals));
        };
        add("total_bytes", "Total", |totals| totals.total_bytes);
        add("including_gaps_bytes", "Including gaps", |totals| totals.including_gaps_bytes);
        add("gap_bytes", "Gaps", |totals| totals.gap_bytes);
        add("always_live_bytes", "Always live", |totals| totals.always_live_bytes);
        self.add(&["memory", "code_bytes"], "Code", Unit::Bytes, |facts| {
            memory::code_bytes(facts.memory?)
        });
        for (number, region) in Region::ALL.into_iter().enumerate() {
            let path = ["memory", "by_region", region.key()];
            self.add(&path, region.title(), Unit::Bytes, |facts| {
                *facts.totals.by_region.get(number)?
            });
        }
        let tile = ["memory", "fullest_tile", "tile"];
        self.add(&tile, "Fullest tile", Unit::Place, |facts| {
            facts.fullest(|memory, row| Some(u64::from(memory.tiles.get(row)?.0)))
        });
        let bytes = ["memory", "fullest_tile", "bytes"];
        self.add(&bytes, "Fullest tile, without gaps", Unit::Bytes, |facts| {
            facts.fullest(|memory, row| cell(&memory.total, row))
        });
        let bytes = ["memory", "fullest_tile", "including_gaps_bytes"];
        self.add(&bytes, "Fullest tile, including gaps", Unit::Bytes, |facts| {
            facts.fullest(|memory, row| cell(&memory.including_gaps, row))
        });
        self.add(&["memory", "tiles_over_limit"], "Tiles over the limit", Unit::Count, |facts| {
            facts.totals.tiles_over_limit
        });
    }

    fn categories(&mut self) {
        let mut names: Vec<String> = Vec::new();
        for category in
            self.reports.iter().filter_map(|of| of.memory).flat_map(|memory| &memory.categories)
        {
            if !names.contains(&category.name) {
                names.push(category.name.clone());
            }
        }
        for name in names {
            let title = memory::category_title(&name);
            let path = |part| ["memory", "by_category", &name, part];
            self.add(&path("not_overlapped"), &title, Unit::Bytes, |facts| {
                facts.category(&name).not_overlapped
            });
            let title = format!("{title}, overlapped");
            self.add(&path("overlapped"), &title, Unit::Bytes, |facts| {
                facts.category(&name).overlapped
            });
        }
    }

    fn liveness(&mut self) {
        self.add(&["liveness", "steps"], "Steps", Unit::Count, |facts| facts.steps);
        let mut add = |key, title, unit, of: fn(&FactsOfReport<'_>) -> Option<u64>| {
            self.add(&["liveness", "peak", key], title, unit, of);
        };
        add("step", "Step of the peak", Unit::Place, |facts| {
            Some(u64::from(facts.peak.as_ref()?.step))
        });
        add("not_always_live_bytes", "Not always live at the peak", Unit::Bytes, |facts| {
            Some(facts.peak.as_ref()?.not_always_live)
        });
        add("bytes", "Peak", Unit::Bytes, |facts| {
            Some(facts.peak.as_ref()?.not_always_live.saturating_add(facts.always_live?))
        });
    }

    fn execution(&mut self) {
        let mut add = |key, title, unit, of: fn(&ExecutionTotals) -> Option<u64>| {
            self.add(&["execution", key], title, unit, |facts| of(facts.execution?));
        };
        add("runs", "Runs", Unit::Count, |totals| Some(totals.runs));
        add("steps", "Steps run", Unit::Count, |totals| Some(totals.steps));
        add("cycles", "Cycles", Unit::Cycles, |totals| totals.cycles);
        add("elapsed_microseconds", "Elapsed", Unit::Microseconds, |totals| {
            totals.elapsed_microseconds
        });
        self.add_rate(&["execution", BY_CYCLES_KEY], BY_CYCLES, |found| found.by_cycles);
        let path = ["execution", BY_ELAPSED_TIME_KEY];
        self.add_rate(&path, BY_ELAPSED_TIME, |found| found.by_elapsed_time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::Arc;

    use crate::analysis::fixture;
    use crate::store::Report;

    fn report(tiles: &[u64], category: &str) -> Report {
        let mut memory = fixture::memory((0..).zip(tiles.iter().map(|bytes| Some(*bytes))));
        memory.total.clone_from(&memory.including_gaps);
        memory.categories.push(fixture::category(category, &[5], &[1]));
        let report = Report::default();
        report.memory.fill(Some(memory));
        report.fill_arenas_with_tiles();
        report
    }

    #[test]
    fn what_a_report_lacks_is_not_known() {
        let reports = [report(&[10, 30, 30], "stack"), report(&[50], "vertexCode")].map(Arc::new);
        let list = figures(&reports.map(|report| WithTimeline { report, timeline: None }));
        let value = |path: &str| {
            let of_path = |figure: &&Figure| figure.key == path;
            let value = list.iter().find(of_path).expect("a figure").difference(1);
            (value.source, value.target)
        };
        assert_eq!(value("memory.including_gaps_bytes"), (Some(70), Some(50)));
        assert_eq!(value("memory.gap_bytes"), (Some(0), Some(0)));
        assert_eq!(value("memory.fullest_tile.tile"), (Some(1), Some(0)));
        assert_eq!(value("memory.fullest_tile.including_gaps_bytes"), (Some(30), Some(50)));
        assert_eq!(value("memory.by_category.stack.not_overlapped"), (Some(5), None));
        assert_eq!(value("memory.by_category.vertexCode.overlapped"), (None, Some(1)));
        assert_eq!(value("memory.code_bytes"), (None, Some(6)));
        assert_eq!(value("memory.always_live_bytes"), (None, None));
        assert_eq!(value("liveness.peak.bytes"), (None, None));
        assert_eq!(value("execution.cycles"), (None, None));
    }
}
