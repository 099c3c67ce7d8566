//! Memory by category over time, without names, addresses or lives: what torch.profiler writes.

/// Names of the categories, in the order of the columns.
pub const CATEGORY_NAMES: [&str; CATEGORIES] = [
    "PARAMETER",
    "OPTIMIZER_STATE",
    "INPUT",
    "TEMPORARY",
    "ACTIVATION",
    "GRADIENT",
    "AUTOGRAD_DETAIL",
    "unknown",
];

/// Number of categories.
pub const CATEGORIES: usize = 8;

/// How a timeline was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimelineForm {
    /// Bytes at points of time.
    #[default]
    Curve,
    /// Changes, of which the bytes are the running sums.
    Raw,
}

/// A timeline: a row for each point, or for each change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryTimeline {
    /// How it was written.
    pub form: TimelineForm,
    /// Time of each row: microseconds of a curve, nanoseconds of changes.
    pub times: Vec<i64>,
    /// Bytes of each category after each row.
    pub bytes: Vec<[i64; CATEGORIES]>,
    /// Changes that are what was there before.
    pub preexisting: u64,
}

impl MemoryTimeline {
    /// Leaves out what has no time, or no bytes.
    pub fn cut_to_shorter(&mut self) {
        let rows = self.times.len().min(self.bytes.len());
        self.times.truncate(rows);
        self.bytes.truncate(rows);
    }

    /// Bytes of all categories after each row.
    pub fn totals(&self) -> impl Iterator<Item = i64> {
        self.bytes
            .iter()
            .map(|row| row.iter().fold(0, |sum: i64, bytes| sum.saturating_add(*bytes)))
    }

    /// The row of the largest total, the first of equals, with it.
    pub fn peak(&self) -> Option<(usize, i64)> {
        let mut peak: Option<(usize, i64)> = None;
        for (row, total) in self.totals().enumerate() {
            if peak.is_none_or(|(_, most)| total > most) {
                peak = Some((row, total));
            }
        }
        peak
    }
}
