//! What is alive one by one: the arrays that were made by one stack on one device, with that stack.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

use super::{BUFFER, EXECUTABLE, OpenProfile, is_of_jax, is_own};
use crate::run::allocations::{Allocation, Allocations, CodeFrame};
use crate::run::areas::AreasBy;
use crate::systems::xla::files::LiveSample;
use crate::text::counted;

/// Samples, the largest first.
#[derive(Debug)]
pub(super) struct LiveArrayList {
    open: Arc<OpenProfile>,
    rows: Vec<u32>,
}

impl LiveArrayList {
    /// Those of a device, or all.
    pub(super) fn of(open: &Arc<OpenProfile>, device: Option<usize>) -> Self {
        let of_device = |row: &u32| {
            let owner = open.owners.get(*row as usize);
            device.is_none() || owner.is_some_and(|(_, of)| *of == device)
        };
        let count = u32::try_from(open.profile.samples.len()).unwrap_or(u32::MAX);
        let mut rows: Vec<u32> = (0..count).filter(of_device).collect();
        let bytes =
            |row: &u32| open.profile.samples.get(*row as usize).map_or(0, |sample| sample.bytes);
        rows.sort_by_key(|row| (Reverse(bytes(row)), *row));
        Self { open: Arc::clone(open), rows }
    }

    fn sample(&self, row: usize) -> Option<&LiveSample> {
        self.open.profile.samples.get(*self.rows.get(row)? as usize)
    }
}

/// `4 arrays`, `1 program`.
pub(super) fn counted_kind(kind: &str, count: u64) -> String {
    match kind {
        BUFFER => counted(count, "array"),
        EXECUTABLE => counted(count, "program"),
        "" => counted(count, "allocation"),
        other => counted(count, other),
    }
}

impl Allocations for LiveArrayList {
    fn titles(&self) -> (&'static str, bool) {
        ("Made in", false)
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get(&self, row: usize) -> Option<Allocation> {
        let sample = self.sample(row)?;
        Some(Allocation {
            bytes: sample.bytes,
            category: Some(counted_kind(self.open.kind(sample), sample.count)),
            from: Some(0),
            steps: 1,
            device: self.open.profile.texts.get(sample.device).to_owned(),
            life: "alive at the moment of the profile".to_owned(),
            ..Allocation::default()
        })
    }

    fn bytes(&self, row: usize) -> [u64; 2] {
        [self.sample(row).map_or(0, |sample| sample.bytes); 2]
    }

    fn step(&self, _: usize) -> Option<usize> {
        Some(0)
    }

    fn key(&self, row: usize) -> (u32, u32) {
        (self.rows.get(row).copied().unwrap_or(u32::MAX), 0)
    }

    fn stack(&self, row: usize) -> usize {
        let has_calls = self.sample(row).is_some_and(|sample| !sample.calls.is_empty());
        if has_calls { row } else { self.stacks() }
    }

    fn stacks(&self) -> usize {
        self.rows.len()
    }

    fn frames_of(&self, stack: usize) -> &[u32] {
        let calls = self.sample(stack).map(|sample| sample.calls.clone());
        calls.and_then(|calls| self.open.profile.calls.get(calls)).unwrap_or_default()
    }

    fn frames(&self) -> usize {
        self.open.profile.frames.len()
    }

    fn frame(&self, frame: u32) -> CodeFrame {
        let profile = &self.open.profile;
        profile.frames.get(frame as usize).map_or_else(CodeFrame::default, |frame| CodeFrame {
            title: self.open.title(frame),
            is_own: is_own(profile, frame),
            is_in_paths: !is_of_jax(profile, frame),
        })
    }

    fn code(&self, stack: usize, _: AreasBy) -> Cow<'_, str> {
        let row = self.rows.get(stack).and_then(|row| self.open.owners.get(*row as usize));
        row.map_or(Cow::Borrowed(super::NO_STACK), |(owner, _)| Cow::Borrowed(owner))
    }

    fn has_devices(&self) -> bool {
        self.open.devices.len() > 1
    }
}
