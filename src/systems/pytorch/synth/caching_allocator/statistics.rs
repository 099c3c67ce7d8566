//! The statistics of PyTorch's allocator (`torch.cuda.memory_stats`): each figure now, at most, and what was added and
//! taken away in all, for all blocks and for each of the two pools.

use serde_json::{Map, Value};

/// A figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Now.
    pub current: u64,
    /// At most.
    pub peak: u64,
    /// Added in all.
    pub allocated: u64,
    /// Taken away in all.
    pub freed: u64,
}

impl Counts {
    fn add(&mut self, amount: u64) {
        self.current += amount;
        self.peak = self.peak.max(self.current);
        self.allocated += amount;
    }

    fn subtract(&mut self, amount: u64) {
        self.current -= amount;
        self.freed += amount;
    }
}

/// A figure of all blocks and of each pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByPool {
    /// Of both.
    pub all: Counts,
    /// Of requests up to 1 MiB.
    pub small: Counts,
    /// Of larger ones.
    pub large: Counts,
}

impl ByPool {
    fn add(&mut self, is_small: bool, amount: u64) {
        self.all.add(amount);
        if is_small { self.small.add(amount) } else { self.large.add(amount) }
    }

    fn subtract(&mut self, is_small: bool, amount: u64) {
        self.all.subtract(amount);
        if is_small { self.small.subtract(amount) } else { self.large.subtract(amount) }
    }
}

/// All figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocatorStatistics {
    /// Blocks that are handed out.
    pub allocation: ByPool,
    /// Segments.
    pub segment: ByPool,
    /// Blocks that cannot be used again yet.
    pub active: ByPool,
    /// Free blocks that are parts of a segment.
    pub inactive_split: ByPool,
    /// Bytes that are handed out.
    pub allocated_bytes: ByPool,
    /// Bytes of segments.
    pub reserved_bytes: ByPool,
    /// Bytes that cannot be used again yet.
    pub active_bytes: ByPool,
    /// Bytes of free parts of segments.
    pub inactive_split_bytes: ByPool,
    /// Bytes that were asked for.
    pub requested_bytes: ByPool,
    /// Segments that were asked for again after others were given back.
    pub retries: u64,
    /// Requests that failed.
    pub failed_requests: u64,
}

impl AllocatorStatistics {
    pub(super) fn hand_out(&mut self, is_small: bool, requested: u64, bytes: u64) {
        self.allocation.add(is_small, 1);
        self.allocated_bytes.add(is_small, bytes);
        self.active.add(is_small, 1);
        self.active_bytes.add(is_small, bytes);
        self.requested_bytes.add(is_small, requested);
    }

    pub(super) fn give_back(&mut self, is_small: bool, bytes: u64) {
        self.allocation.subtract(is_small, 1);
        self.allocated_bytes.subtract(is_small, bytes);
    }

    pub(super) fn complete(&mut self, is_small: bool, requested: u64, bytes: u64) {
        self.active.subtract(is_small, 1);
        self.active_bytes.subtract(is_small, bytes);
        self.requested_bytes.subtract(is_small, requested);
    }

    pub(super) fn take_segment(&mut self, is_small: bool, bytes: u64) {
        self.segment.add(is_small, 1);
        self.reserved_bytes.add(is_small, bytes);
    }

    pub(super) fn give_back_segment(&mut self, is_small: bool, bytes: u64) {
        self.segment.subtract(is_small, 1);
        self.reserved_bytes.subtract(is_small, bytes);
    }

    /// A part of a segment is free.
    pub(super) fn part_gained(&mut self, is_small: bool, bytes: u64) {
        self.inactive_split.add(is_small, 1);
        self.inactive_split_bytes.add(is_small, bytes);
    }

    /// It is no longer, or no longer for itself.
    pub(super) fn part_lost(&mut self, is_small: bool, bytes: u64) {
        self.inactive_split.subtract(is_small, 1);
        self.inactive_split_bytes.subtract(is_small, bytes);
    }

    pub(super) fn part_shrunk(&mut self, is_small: bool, bytes: u64) {
        self.inactive_split_bytes.subtract(is_small, bytes);
    }

    /// The keys and values of `torch.cuda.memory_stats()`.
    pub fn as_pytorch(&self, most_split_bytes: Option<u64>) -> Map<String, Value> {
        let figures = [
            ("active", &self.active),
            ("active_bytes", &self.active_bytes),
            ("allocated_bytes", &self.allocated_bytes),
            ("allocation", &self.allocation),
            ("inactive_split", &self.inactive_split),
            ("inactive_split_bytes", &self.inactive_split_bytes),
            ("requested_bytes", &self.requested_bytes),
            ("reserved_bytes", &self.reserved_bytes),
            ("segment", &self.segment),
        ];
        let mut all = Map::new();
        for (name, of_pools) in figures {
            let pools = [
                ("all", of_pools.all),
                ("large_pool", of_pools.large),
                ("small_pool", of_pools.small),
            ];
            for (pool, counts) in pools {
                let Counts { current, peak, allocated, freed } = counts;
                let kinds = [
                    ("allocated", allocated),
                    ("current", current),
                    ("freed", freed),
                    ("peak", peak),
                ];
                for (kind, count) in kinds {
                    all.insert(format!("{name}.{pool}.{kind}"), Value::from(count));
                }
            }
        }
        let most_split = most_split_bytes.map_or(Value::from(-1), Value::from);
        all.insert("max_split_size".to_owned(), most_split);
        for (name, count) in [
            ("num_alloc_retries", self.retries),
            ("num_device_alloc", self.segment.all.allocated),
            ("num_device_free", self.segment.all.freed),
            ("num_ooms", self.failed_requests),
        ] {
            all.insert(name.to_owned(), Value::from(count));
        }
        all
    }
}
