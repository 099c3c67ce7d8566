//! Bytes alive over the spans of each IPU: those of the step of liveness of each.

use super::Executed;
use crate::analysis::spans::Bins;

/// Bytes alive over the spans of an IPU.
#[derive(Clone, Debug)]
pub struct MemoryOfDevice {
    /// The IPU.
    pub device: u32,
    /// Where each span begins.
    pub starts: Vec<u64>,
    /// Not-always-live bytes from there on: of a span without a step of liveness those before it.
    pub bytes: Vec<u64>,
    bins: Bins<BytesOfBin>,
    /// The most of them.
    pub most: u64,
}

/// What is alive from the spans of a bin on: the most, and after the last of them; nothing where none begins.
type BytesOfBin = Option<(u64, u64)>;

impl MemoryOfDevice {
    fn of(device: u32, starts: Vec<u64>, bytes: Vec<u64>) -> Self {
        let things = (0..starts.len()).map(|at| (starts[at], Some((bytes[at], bytes[at]))));
        let both = |a: BytesOfBin, b: BytesOfBin| match (a, b) {
            (Some((most, _)), Some((other, last))) => Some((most.max(other), last)),
            (a, b) => a.or(b),
        };
        let end = starts.last().map_or(0, |start| start.saturating_add(1));
        let bins = Bins::of(end, things, None, both);
        let most = bytes.iter().copied().max().unwrap_or(0);
        Self { device, starts, bytes, bins, most }
    }

    /// What is alive at a cycle; `None` before the first span.
    pub fn at(&self, cycle: u64) -> Option<u64> {
        let begun = self.starts.partition_point(|start| *start <= cycle);
        self.bytes.get(begun.checked_sub(1)?).copied()
    }

    /// The most that is alive in each of `columns` equal parts between two places; `None` before the first span.
    pub fn columns(&self, (from, to): (f64, f64), columns: usize) -> Vec<Option<u64>> {
        let unit = (to - from) / columns.max(1) as f64;
        let mut last = (from > 0.0).then(|| self.at(from as u64)).flatten();
        let mut found = Vec::with_capacity(columns);
        let first = self.starts.partition_point(|start| (*start as f64) < from);
        let bins = self.bins.between((from, to), unit);
        let (mut bin, mut span) = (0, first);
        for column in 0..columns {
            let end = from + (column + 1) as f64 * unit;
            let mut most = last;
            if let Some(bins) = bins {
                // Bins are shorter than columns.
                let (begin, length, bins) = bins;
                while let Some(held) = bins.get(bin).filter(|_| begin + (bin as f64) * length < end)
                {
                    if let Some((highest, after)) = held {
                        most = most.max(Some(*highest));
                        last = Some(*after);
                    }
                    bin += 1;
                }
            } else {
                while let Some((_, bytes)) = self
                    .starts
                    .get(span)
                    .zip(self.bytes.get(span))
                    .filter(|(start, _)| (**start as f64) < end)
                {
                    most = most.max(Some(*bytes));
                    last = Some(*bytes);
                    span += 1;
                }
            }
            found.push(most);
        }
        found
    }
}

/// Bytes alive over the spans of each IPU; none where the report has no liveness.
pub fn memory_over_spans(
    executed: Executed<'_>,
    liveness_steps: &[Option<u32>],
) -> Vec<MemoryOfDevice> {
    let trace = executed.trace;
    let of_device = |device: &crate::store::execution::DeviceSpans| {
        let curve = executed.curve_of_device(device.device)?;
        let mut last = 0;
        let bytes_at = |span: usize| {
            let step = liveness_steps.get(executed.step_of(span)).copied().flatten();
            last = step.and_then(|step| curve.get(step as usize).copied()).unwrap_or(last);
            last
        };
        let bytes: Vec<u64> = device.rows.clone().map(bytes_at).collect();
        let starts = trace.spans.starts.get(device.rows.clone()).unwrap_or(&[]).to_vec();
        Some(MemoryOfDevice::of(device.device, starts, bytes))
    };
    trace.devices.iter().filter_map(of_device).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_by_columns_is_that_of_the_spans_from_near_and_from_afar() {
        let starts: Vec<u64> = (0..10_000).map(|at| 500 + at * 10).collect();
        let bytes: Vec<u64> =
            (0..10_000).map(|at| if at % 1000 == 700 { 9000 } else { at }).collect();
        let memory = MemoryOfDevice::of(0, starts, bytes);
        assert_eq!((memory.at(499), memory.at(500), memory.at(519)), (None, Some(0), Some(1)));
        let near = memory.columns((600.0, 640.0), 4);
        assert_eq!(near, [10, 11, 12, 13].map(Some));
        let afar = memory.columns((500.0, 100_500.0), 10);
        let expected = |at: u64| (at * 1000 + 999).max(9000);
        // A bin at the edge of a column counts for one of them.
        for (at, most) in (0..).zip(&afar) {
            assert!(most.is_some_and(|most| most.abs_diff(expected(at)) < 20), "{at}: {most:?}");
        }
        // Beyond the last span its bytes stay; before the first there is nothing.
        let beyond = memory.columns((-100_000.0, 300_500.0), 4);
        assert_eq!((beyond[0], beyond[2], beyond[3]), (None, Some(9999), Some(9999)));
    }
}
