//! `tilescope trace`: the steps that ran, when, on which IPU, and what the cycles were spent on.

use std::io::{self, Write};
use std::ops::Range;

use clap::Args;
use serde::Serialize;

use super::Input;
use super::output::arrow::{ArrowArgument, RowsAnswer, write_stream};
use super::output::{self, Answer, CsvAnswer, aligned, name_cell, or_unknown, wrapped};
use super::tiles::check_ipu;
use crate::analysis::derived::Derived;
use crate::analysis::execution::slow::slow_spans;
use crate::analysis::execution::stages::LongestStage;
use crate::analysis::execution::statistics::{
    CycleStatistics, MovedBytes, StatisticsQuery, statistics,
};
use crate::analysis::execution::sums::SpanSums;
use crate::analysis::execution::{Executed, lies_in};
use crate::csv;
use crate::format::{Error, ErrorKind, Progress};
use crate::limits::RepeatedNames;
use crate::store::Report;
use crate::store::execution::{BlockKind, ExecutionRun};
use crate::systems::system::{LatePart, OpenRun};
use crate::text::{bytes, counted, grouped, microseconds_text, time_text};

/// How many steps the text lists, longest first.
const STEPS_IN_TEXT: usize = 10;

/// Arguments of `tilescope trace`.
#[derive(Debug, Args)]
pub struct TraceArguments {
    /// The report.
    #[command(flatten)]
    pub input: Input,
    /// Only this IPU.
    #[arg(long, value_name = "N")]
    pub ipu: Option<u32>,
    /// Only steps that end after this cycle of their IPU.
    #[arg(long, value_name = "C")]
    pub from: Option<u64>,
    /// Only steps that begin before this cycle of their IPU.
    #[arg(long, value_name = "C")]
    pub to: Option<u64>,
    /// Print comma-separated values instead of text: one line of titles with the units, then a line for each step.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print an Arrow stream instead.
    #[command(flatten)]
    pub arrow: ArrowArgument,
}

/// `tilescope.trace/2` (cli.md).
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct TraceReport {
    clock_hz: Option<u64>,
    from_cycle: u64,
    to_cycle: u64,
    runs: Vec<TracedRun>,
    steps: Vec<TraceStep>,
    totals: Vec<Total>,
    ipus: Vec<OfIpu>,
    /// What a device is called.
    #[serde(skip)]
    device: &'static str,
    /// The device that works so much longer than the others that they wait for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_stage: Option<LongestStage>,
    blocks: Vec<Blocks>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct TracedRun {
    run: u64,
    name: String,
    start_microseconds: Option<u64>,
    elapsed_microseconds: Option<u64>,
    programs: Option<u64>,
    steps: Option<u64>,
    start_cycle: Option<u64>,
    end_cycle: Option<u64>,
    /// What the report states; the steps may add up to something else, which is a warning.
    cycles: Option<u64>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct TraceStep {
    step: u32,
    ipu: u32,
    kind: String,
    name: Option<String>,
    start_cycle: u64,
    end_cycle: u64,
    cycles: u64,
    active_tiles: u32,
    tile_balance: Option<f32>,
    tile_cycles: Option<u64>,
    /// The step of `liveness` at which it runs.
    liveness_step: Option<u32>,
    is_slow_at_peak: bool,
}

/// Cycles of a kind on an IPU.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Total {
    ipu: u32,
    kind: String,
    activity: &'static str,
    steps: u64,
    cycles: u64,
    /// Of all cycles of the IPU in the range, 0 to 1.
    share: f64,
    tile_cycles: Option<u64>,
}

/// What else is known of an IPU.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct OfIpu {
    ipu: u32,
    idle_cycles: u64,
    /// Of all cycles of the IPU in the range, 0 to 1.
    idle_share: f64,
    active_tiles: Option<f64>,
    tile_balance: Option<f64>,
    utilisation: Option<f64>,
    /// What the compiler made of the transfers that began in the range, bytes.
    moved_bytes: Option<MovedBytes>,
}

/// Blocks of lightweight profiling with one number.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Blocks {
    block: Option<u32>,
    kind: &'static str,
    count: u64,
    tiles: u64,
    cycles: u64,
}

impl TraceReport {
    /// The trace of the cycles and the IPU that the arguments name.
    ///
    /// # Errors
    /// `damaged` when no execution was recorded, `usage` for an IPU that is not there or cycles out of order.
    pub fn of(
        run: &dyn OpenRun,
        arguments: &TraceArguments,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let report = &**run.derived().report();
        let executed = read_trace(run.derived(), progress)?;
        if let Some(ipu) = arguments.ipu {
            check_ipu(report, ipu)?;
        }
        // What transfers move is read with what goes by tile.
        run.read_parts(&[LatePart::Compute], progress);
        let all = executed.cycles().unwrap_or_default();
        let cycles = arguments.from.unwrap_or(all.start)..arguments.to.unwrap_or(all.end);
        if cycles.start > cycles.end {
            let message = format!("--from {} is after --to {}", cycles.start, cycles.end);
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let wanted = |ipu: u32| arguments.ipu.is_none_or(|wanted| wanted == ipu);
        let (mut totals, mut ipus) = (Vec::new(), Vec::new());
        // Of what was canceled nothing is printed.
        let sums = SpanSums::of(executed, progress).unwrap_or_default();
        for ipu in executed.trace.devices.iter().map(|of| of.device).filter(|ipu| wanted(*ipu)) {
            let asked =
                StatisticsQuery { cycles: cycles.clone(), device: Some(ipu), hidden: Vec::new() };
            let found = statistics(executed, &sums, &asked);
            totals.extend(found.kinds.iter().map(|kind| Total {
                ipu,
                kind: kind.kind.clone(),
                activity: kind.activity.as_str(),
                steps: kind.spans,
                cycles: kind.cycles,
                share: found.share(kind.cycles),
                tile_cycles: kind.tile_cycles,
            }));
            ipus.push(OfIpu::of(ipu, &found));
        }
        // Of all devices over the whole trace alone.
        let are_all = executed.trace.devices.iter().all(|of| wanted(of.device));
        let is_whole = are_all && cycles == all;
        Ok(Self {
            device: report.system.device,
            longest_stage: is_whole.then(|| LongestStage::of(executed)).flatten(),
            clock_hz: executed.clock_hz(),
            from_cycle: cycles.start,
            to_cycle: cycles.end,
            runs: runs(executed),
            steps: steps(executed, &cycles, wanted),
            totals,
            ipus,
            blocks: blocks(report),
        })
    }
}

/// The steps that ran, read now and held against what the report states of them.
///
/// # Errors
/// `damaged` when none were recorded, with the option that brings them.
pub fn read_trace<'a>(derived: &'a Derived, progress: &Progress) -> Result<Executed<'a>, Error> {
    derived.executed(progress).ok_or_else(|| {
        let report = derived.report();
        let absence = report.trace.absence().or(report.execution.absence());
        let mut error = output::lacks(report, absence, "recorded execution");
        if error.kind == ErrorKind::Damaged {
            error.message.insert_str(0, "no execution recorded: ");
            error = error.at("table steps");
        }
        error
    })
}

fn runs(executed: Executed<'_>) -> Vec<TracedRun> {
    let runs = executed.trace.runs.iter().zip(executed.cycles_of_runs());
    let row = |(recorded, cycles): (&ExecutionRun, Option<Range<u64>>)| TracedRun {
        run: recorded.id,
        name: recorded.name.clone(),
        start_microseconds: recorded.start_microseconds,
        elapsed_microseconds: recorded.elapsed_microseconds,
        programs: recorded.programs,
        steps: recorded.steps,
        start_cycle: cycles.as_ref().map(|cycles| cycles.start),
        end_cycle: cycles.as_ref().map(|cycles| cycles.end),
        cycles: recorded.stated.map(|stated| stated.cycles),
    };
    runs.map(row).collect()
}

/// The steps of some IPUs that lie in the range, whole or in part, by IPU, then by start.
fn steps(
    executed: Executed<'_>,
    cycles: &Range<u64>,
    is_wanted: impl Fn(u32) -> bool,
) -> Vec<TraceStep> {
    let trace = executed.trace;
    let liveness_steps = executed.liveness_steps();
    let marked = slow_spans(executed, &liveness_steps).at_peak;
    let last = executed.cycles().map_or(0, |cycles| cycles.end);
    // A few long names would be as many as there are steps.
    let mut names = RepeatedNames::default();
    let id_of = |step: u32| executed.report.steps.get()?.ids.get(step as usize);
    let mut step = |ipu: u32, span: usize| {
        let spans = &trace.spans;
        let (start_cycle, end_cycle) = executed.bounds(span)?;
        let is_there = lies_in((start_cycle, end_cycle), cycles, last);
        let step = executed.step_of(span);
        is_there.then_some(TraceStep {
            step: *trace.ids.get(step)?,
            ipu,
            kind: names.take(trace.kind(step)).into_owned(),
            name: executed.name(step).map(|name| names.take(name).into_owned()),
            start_cycle,
            end_cycle,
            cycles: *spans.cycles.get(span)?,
            active_tiles: *spans.active_tiles.get(span)?,
            tile_balance: spans.balance(span),
            tile_cycles: trace.tile_cycles(span),
            liveness_step: liveness_steps
                .get(step)
                .copied()
                .flatten()
                .and_then(id_of)
                .map(|id| id.0),
            is_slow_at_peak: u32::try_from(span)
                .is_ok_and(|span| marked.binary_search(&span).is_ok()),
        })
    };
    let mut steps = Vec::new();
    for of in trace.devices.iter().filter(|of| is_wanted(of.device)) {
        steps.extend(of.rows.clone().filter_map(|span| step(of.device, span)));
    }
    steps
}

impl OfIpu {
    fn of(ipu: u32, found: &CycleStatistics) -> Self {
        Self {
            ipu,
            idle_cycles: found.idle_cycles,
            idle_share: found.share(found.idle_cycles),
            active_tiles: found.active_tiles,
            tile_balance: found.balance,
            utilisation: found.utilisation,
            moved_bytes: found.moved,
        }
    }
}

fn blocks(report: &Report) -> Vec<Blocks> {
    let Some(trace) = report.trace.get() else { return Vec::new() };
    let mut found: Vec<(Option<u32>, u8, u32, u64)> = (0..trace.blocks.len())
        .filter_map(|row| trace.blocks.get(row))
        .map(|block| (block.id, block.kind, block.tile, block.end - block.start))
        .collect();
    found.sort_unstable();
    let rows = found.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter_map(|of_block| {
        let (block, kind, ..) = of_block.first()?;
        let tiles = of_block.chunk_by(|a, b| a.2 == b.2).count();
        let cycles = of_block.iter().fold(0_u64, |sum, (.., cycles)| sum.saturating_add(*cycles));
        Some(Blocks {
            block: *block,
            kind: BlockKind::of(*kind).title(),
            count: of_block.len() as u64,
            tiles: tiles as u64,
            cycles,
        })
    });
    rows.collect()
}

impl TraceReport {
    fn time(&self, cycles: u64) -> String {
        match self.clock_hz {
            Some(clock) => time_text(cycles as f64 / clock as f64),
            None => String::new(),
        }
    }

    fn runs_text(&self) -> String {
        let rows = self.runs.iter().map(|run| {
            let number = |number: Option<u64>| or_unknown(number, grouped);
            vec![
                run.run.to_string(),
                name_cell(&run.name),
                number(run.steps),
                number(run.cycles),
                run.cycles.map_or_else(String::new, |cycles| self.time(cycles)),
                or_unknown(run.elapsed_microseconds, microseconds_text),
            ]
        });
        aligned(&["run", "<name", "steps", "cycles", "by the clock", "elapsed"], rows)
    }

    fn totals_text(&self) -> String {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let mut rows: Vec<Vec<String>> = Vec::new();
        for of_ipu in &self.ipus {
            let totals = self.totals.iter().filter(|total| total.ipu == of_ipu.ipu);
            rows.extend(totals.map(|total| {
                vec![
                    total.ipu.to_string(),
                    name_cell(&total.kind),
                    grouped(total.steps),
                    grouped(total.cycles),
                    percent(total.share),
                    or_unknown(total.tile_cycles, grouped),
                ]
            }));
            let idle = of_ipu.idle_cycles;
            let none = String::new;
            rows.push(vec![
                of_ipu.ipu.to_string(),
                "no step".to_owned(),
                none(),
                grouped(idle),
                percent(of_ipu.idle_share),
                none(),
            ]);
        }
        aligned(&["IPU", "<kind", "steps", "cycles", "", "tile cycles"], rows)
    }

    fn ipus_text(&self) -> String {
        let percent =
            |value: Option<f64>| or_unknown(value, |share| format!("{:.1} %", share * 100.0));
        let rows = self.ipus.iter().map(|of_ipu| {
            let moved = |part: fn(&MovedBytes) -> u64| {
                or_unknown(of_ipu.moved_bytes.as_ref(), |moved| bytes(part(moved)))
            };
            vec![
                of_ipu.ipu.to_string(),
                percent(of_ipu.utilisation),
                percent(of_ipu.tile_balance),
                or_unknown(of_ipu.active_tiles, |tiles| format!("{tiles:.0}")),
                moved(|moved| moved.from_host),
                moved(|moved| moved.to_host),
                moved(|moved| moved.from_ipus),
                moved(|moved| moved.to_ipus),
            ]
        });
        let titles = [
            "IPU",
            "utilisation",
            "balance",
            "active tiles",
            "from host",
            "to host",
            "from IPUs",
            "to IPUs",
        ];
        aligned(&titles, rows)
    }

    fn steps_text(&self) -> String {
        let mut longest: Vec<&TraceStep> = self.steps.iter().collect();
        longest.sort_by_key(|step| (std::cmp::Reverse(step.cycles), step.step));
        let rows = longest.into_iter().take(STEPS_IN_TEXT).map(|step| {
            vec![
                step.step.to_string(),
                step.ipu.to_string(),
                grouped(step.start_cycle),
                grouped(step.cycles),
                grouped(u64::from(step.active_tiles)),
                or_unknown(step.tile_balance, |balance| format!("{:.0} %", balance * 100.0)),
                if step.is_slow_at_peak { "yes".to_owned() } else { String::new() },
                name_cell(&step.kind),
                name_cell(step.name.as_deref().unwrap_or("–")),
            ]
        });
        let titles = [
            "step",
            "IPU",
            "from cycle",
            "cycles",
            "tiles",
            "balance",
            "at peak",
            "<kind",
            "<name",
        ];
        aligned(&titles, rows)
    }

    fn blocks_text(&self) -> String {
        let rows = self.blocks.iter().map(|of_block| {
            vec![
                of_block.block.map_or_else(|| "–".to_owned(), |block| block.to_string()),
                of_block.kind.to_owned(),
                grouped(of_block.count),
                grouped(of_block.tiles),
                grouped(of_block.cycles),
            ]
        });
        aligned(&["block", "<kind", "measured", "tiles", "cycles"], rows)
    }
}

impl Answer for TraceReport {
    const SCHEMA: &'static str = "tilescope.trace/2";

    fn text(&self) -> String {
        let length = self.to_cycle.saturating_sub(self.from_cycle);
        // A step is a row on each IPU that it ran on.
        let mut steps: Vec<u32> = self.steps.iter().map(|step| step.step).collect();
        steps.sort_unstable();
        steps.dedup();
        let mut text = format!(
            "Trace of {} on {}, cycles {} to {}{}\n\n{}",
            counted(steps.len() as u64, "step"),
            counted(self.ipus.len() as u64, self.device),
            grouped(self.from_cycle),
            grouped(self.to_cycle),
            self.clock_hz.map_or_else(String::new, |_| format!(", {}", self.time(length))),
            self.runs_text(),
        );
        text += &format!("\nSpent on\n{}\n{}", self.totals_text(), self.ipus_text());
        if let Some(stage) = &self.longest_stage {
            text += &format!("\n{}", wrapped("  ", &stage.text(self.device)));
        }
        text += &format!("\nLongest steps\n{}", self.steps_text());
        if !self.blocks.is_empty() {
            text += &format!("\nBlocks of lightweight profiling\n{}", self.blocks_text());
        }
        text
    }
}

impl RowsAnswer for TraceReport {
    fn write_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        write_stream(|| self.steps.iter(), out)
    }
}

impl CsvAnswer for TraceReport {
    fn csv(&self) -> String {
        let mut text = csv::line([
            "step",
            "ipu",
            "kind",
            "name",
            "start_cycle",
            "end_cycle",
            "cycles",
            "active_tiles",
            "tile_balance",
            "tile_cycles",
            "liveness_step",
        ]);
        let known =
            |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
        for step in &self.steps {
            text += &csv::line([
                step.step.to_string(),
                step.ipu.to_string(),
                step.kind.clone(),
                step.name.clone().unwrap_or_default(),
                step.start_cycle.to_string(),
                step.end_cycle.to_string(),
                step.cycles.to_string(),
                step.active_tiles.to_string(),
                step.tile_balance.map_or_else(String::new, |balance| balance.to_string()),
                known(step.tile_cycles),
                known(step.liveness_step.map(u64::from)),
            ]);
        }
        text
    }
}
