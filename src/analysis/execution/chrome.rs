//! The trace in the JSON format that Chrome's tracing and Perfetto open ("Trace Event Format").
//!
//! - An IPU is a process; its spans are complete events (`X`) in threads, each of which has spans that do not overlap:
//!   those that would go to the next one, with transfers with the host beside others in threads of their own.
//! - Times are microseconds by the clock of the target; without one a microsecond stands for a cycle, which
//!   `otherData` says.
//! - Not-always-live bytes are a counter (`C`) of each IPU. Runs are a process of their own. Blocks of lightweight
//!   profiling are threads of the IPU of their tile.

use std::io::{Error, Result, Write};

use serde_json::{Value, json};

use super::Executed;
use super::lanes::{LaneNode, LaneOf, Lanes, Nesting};
use super::memory::memory_over_spans;
use crate::progress::Progress;
use crate::store::execution::BlockKind;

/// Threads of an IPU that hold overlapping spans; what does not find room there is in the last.
const MOST_THREADS: usize = 64;
/// The first thread of overlapped I/O, and of blocks, of an IPU.
const THREADS_OF_IO: usize = 1000;
const THREADS_OF_BLOCKS: usize = 10_000;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenEvents {
    /// Spans and blocks.
    pub spans: u64,
    /// Changes of counters.
    pub counters: u64,
}

struct TraceWriter<'a, W> {
    to: &'a mut W,
    is_first: bool,
}

impl<W: Write> TraceWriter<'_, W> {
    fn add(&mut self, event: &Value) -> Result<()> {
        self.to.write_all(if self.is_first { b"\n" } else { b",\n" })?;
        self.is_first = false;
        serde_json::to_writer(&mut *self.to, event).map_err(Error::from)
    }

    fn name(&mut self, pid: u64, tid: Option<usize>, name: &str) -> Result<()> {
        let what = if tid.is_some() { "thread_name" } else { "process_name" };
        let tid = tid.unwrap_or(0);
        self.add(&json!({"ph": "M", "pid": pid, "tid": tid, "name": what, "args": {"name": name}}))
    }
}

/// Writes the trace.
///
/// # Errors
/// When it cannot be written, or nobody wants it any more.
pub fn write_chrome_trace<W: Write>(
    executed: Executed<'_>,
    to: &mut W,
    progress: &Progress,
) -> Result<WrittenEvents> {
    let trace = executed.trace;
    let clock = executed.clock_hz();
    let time = |cycles: u64| match clock {
        Some(clock) => cycles as f64 * 1e6 / clock as f64,
        None => cycles as f64,
    };
    let unit = match clock {
        Some(clock) => format!("cycles at {clock} Hz"),
        None => "a microsecond stands for a cycle: the report does not state the clock".to_owned(),
    };
    let other =
        json!({"time": unit, "counters": "not-always-live bytes of the steps, by the compiler"});
    write!(to, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{other},\"traceEvents\":[")?;
    let mut events = TraceWriter { to, is_first: true };
    let mut written = WrittenEvents::default();
    // Process 0 is the one that viewers have for what belongs to none.
    let pid = |device: u32| u64::from(device) + 2;
    events.name(1, None, "Runs")?;
    for (recorded, cycles) in trace.runs.iter().zip(executed.cycles_of_runs()) {
        let Some(cycles) = cycles else { continue };
        let name = format!("Run {} {}", recorded.id, recorded.name);
        let args = json!({"cycles": cycles.end - cycles.start, "elapsed_microseconds": recorded.elapsed_microseconds});
        events.add(
            &json!({"ph": "X", "pid": 1, "tid": 0, "name": name, "cat": "run", "args": args,
            "ts": time(cycles.start), "dur": time(cycles.end) - time(cycles.start)}),
        )?;
    }
    for device in &trace.devices {
        events.name(
            pid(device.device),
            None,
            &format!("{} {}", executed.report.system.device, device.device),
        )?;
    }
    let lanes = Lanes::of(executed, Nesting::Flat, &[], progress);
    let lanes = lanes.ok_or_else(|| Error::other("cancelled"))?;
    let tiles_per_device = executed.tiles_per_device().and_then(|tiles| u32::try_from(tiles).ok());
    for lane in &lanes.lanes {
        let (device, first, title) = match lane.of {
            LaneOf::Device(device) => (device, 0, "Steps".to_owned()),
            LaneOf::OverlappedIo(device) => (device, THREADS_OF_IO, "Overlapped I/O".to_owned()),
            LaneOf::Blocks(tile) => {
                let device =
                    tiles_per_device.and_then(|tiles| tile.checked_div(tiles)).unwrap_or(0);
                (
                    device,
                    THREADS_OF_BLOCKS + tile as usize * MOST_THREADS,
                    format!("Blocks of tile {tile}"),
                )
            }
        };
        let mut free_from: Vec<u64> = Vec::new();
        for number in 0..u32::try_from(lane.rows.len()).unwrap_or(u32::MAX) {
            if number.is_multiple_of(256) && progress.is_cancelled() {
                return Err(Error::other("cancelled"));
            }
            let (Some((start, end)), Some(node)) = (lane.rows.get(number), lane.node(number))
            else {
                continue;
            };
            let free = free_from.iter().position(|free| *free <= start);
            let thread = match free {
                Some(thread) => thread,
                None if free_from.len() < MOST_THREADS => {
                    let title = match free_from.len() {
                        0 => title.clone(),
                        more => format!("{title} {}", more + 1),
                    };
                    events.name(pid(device), Some(first + free_from.len()), &title)?;
                    free_from.push(0);
                    free_from.len() - 1
                }
                None => MOST_THREADS - 1,
            };
            if let Some(free) = free_from.get_mut(thread) {
                *free = end;
            }
            let (name, kind, args) = described(executed, node);
            events.add(&json!({"ph": "X", "pid": pid(device), "tid": first + thread, "name": name, "cat": kind,
                "args": args, "ts": time(start), "dur": time(end) - time(start)}))?;
            written.spans += 1;
        }
    }
    for of_device in memory_over_spans(executed, &executed.liveness_steps()) {
        let mut last = None;
        for (start, bytes) in of_device.starts.iter().zip(&of_device.bytes) {
            if last == Some(*bytes) {
                continue;
            }
            last = Some(*bytes);
            events.add(
                &json!({"ph": "C", "pid": pid(of_device.device), "tid": 0, "name": "Not always live",
                "ts": time(*start), "args": {"bytes": bytes}}),
            )?;
            written.counters += 1;
        }
    }
    to.write_all(b"\n]}\n")?;
    Ok(written)
}

/// Name, category and arguments of an event.
fn described(executed: Executed<'_>, node: LaneNode) -> (String, String, Value) {
    let trace = executed.trace;
    match node {
        LaneNode::Span(span) => {
            let step = executed.step_of(span);
            let spans = &trace.spans;
            let args = json!({
                "step": trace.ids.get(step), "kind": trace.kind(step), "cycles": spans.cycles.get(span),
                "active_tiles": spans.active_tiles.get(span), "tile_balance": spans.balance(span),
                "tile_cycles": trace.tile_cycles(span),
            });
            (executed.title(step).to_owned(), trace.kind(step).to_owned(), args)
        }
        LaneNode::Block(row) => {
            let block = trace.blocks.get(row);
            let kind = block.map_or(BlockKind::Unknown, |block| BlockKind::of(block.kind)).title();
            let id = block.and_then(|block| block.id);
            let name = id.map_or_else(|| kind.to_owned(), |id| format!("{kind} {id}"));
            (name, "block".to_owned(), json!({"block": id, "tile": block.map(|block| block.tile)}))
        }
        LaneNode::Part(_) => (String::new(), String::new(), Value::Null),
    }
}
