//! The figures of snapshots side by side: bytes at the end and at the peaks, and counts.

use super::ComparedSide;
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::systems::pytorch::allocator::curves::{BlockCurve, Devices, block_curve};
use crate::systems::pytorch::allocator::landmarks::{TrainingStep, training_steps};
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::took::SnapshotTook;
use crate::text::words;

/// Training steps that have a figure of their own.
const MOST_STEPS: usize = 12;

words! {
    /// A figure; its key is its name in JSON.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SnapshotFigure by key, title {
        /// Handed out at most.
        MaxAllocated = "max_allocated_bytes" | "Allocated peak",
        /// Taken from the device at most.
        MaxReserved = "max_reserved_bytes" | "Reserved peak",
        /// Asked for at most.
        RequestedPeak = "requested_peak_bytes" | "Requested peak",
        /// Handed out at the end.
        Allocated = "allocated_bytes" | "Allocated at the end",
        /// Taken from the device at the end.
        Reserved = "reserved_bytes" | "Reserved at the end",
        /// Asked for of what is in use at the end.
        Requested = "requested_bytes" | "Requested at the end",
        /// Free within segments at the end.
        Inactive = "inactive_bytes" | "Free within segments at the end",
        /// What blocks have more than was asked for, at the end.
        Rounding = "rounding_bytes" | "Rounding at the end",
        /// What the device must have at least.
        Needed = "needed_bytes" | "Needed of the device",
        /// Events that were recorded.
        Events = "events" | "Events",
    }
}

impl SnapshotFigure {
    /// All figures of a run.
    pub(super) fn all(side: &ComparedSide) -> Vec<Figure> {
        let of = |figure: Self| {
            let unit = if figure == Self::Events { Unit::Count } else { Unit::Bytes };
            let is_at_least = figure.is_at_least(&side.took);
            Figure::of_run(figure.key(), figure.title(), unit, Some(figure.of(side)), is_at_least)
        };
        Self::ALL.into_iter().map(of).collect()
    }

    /// The most that was requested in each training step, where there are several; of the first ones.
    pub(super) fn of_steps(replayed: &ReplayedSnapshot, place: usize) -> Vec<Figure> {
        let steps = training_steps(replayed, place);
        if steps.len() < 2 {
            return Vec::new();
        }
        let curve = block_curve(replayed, Devices::At(place), BlockCurve::Requested);
        let figure = |TrainingStep { name, events, is_whole }: TrainingStep| {
            let of_step = curve.get(events.start as usize..events.end as usize)?;
            let key = name.replace(' ', "_");
            Some(Figure {
                key: format!("{}.{key}", Self::RequestedPeak.key()).into(),
                title: format!("{}, {name}", Self::RequestedPeak.title()).into(),
                unit: Unit::Bytes,
                values: vec![i64::try_from(*of_step.iter().max()?).ok()],
                rates: Vec::new(),
                are_at_least: vec![!is_whole],
            })
        };
        steps.into_iter().take(MOST_STEPS).filter_map(figure).collect()
    }

    /// Whether it is a lower bound of a run: more may have been before the first event, or would have come after the
    /// last.
    pub fn is_at_least(self, took: &SnapshotTook) -> bool {
        match self {
            Self::MaxAllocated => took.max_allocated_is_at_least(),
            Self::MaxReserved => took.max_reserved_is_at_least(),
            Self::RequestedPeak => took.requested_peak_is_at_least(),
            Self::Needed => took.needed_is_at_least(),
            _ => false,
        }
    }

    /// Of a run.
    pub fn of(self, side: &ComparedSide) -> u64 {
        let (took, facts) = (&side.took, &side.facts);
        match self {
            Self::MaxAllocated => took.max_allocated_bytes,
            Self::MaxReserved => took.max_reserved_bytes,
            Self::RequestedPeak => took.requested_peak_bytes,
            Self::Allocated => took.allocated_bytes,
            Self::Reserved => took.reserved_bytes,
            Self::Requested => facts.end.requested_bytes,
            Self::Inactive => facts.end.inactive_bytes,
            Self::Rounding => facts.end.rounding_bytes,
            Self::Needed => took.needed_bytes,
            Self::Events => facts.events as u64,
        }
    }
}
