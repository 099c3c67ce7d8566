//! Stub.
#![allow(missing_docs)]
use crate::store::Report;
#[derive(Debug, Default)]
pub struct Pairs;
pub struct MatchCounts {
    pub matched: u64,
    pub only_source: u64,
    pub only_target: u64,
}
impl Pairs {
    pub fn counts(&self) -> MatchCounts {
        MatchCounts { matched: 0, only_source: 0, only_target: 0 }
    }
}
#[derive(Debug, Default)]
pub struct Matching {
    pub steps: Pairs,
}
pub fn match_reports(_s: &Report, _t: &Report, _c: &(dyn Fn() -> bool + Sync)) -> Option<Matching> {
    Some(Matching::default())
}
#[derive(Debug)]
pub struct AlignedSteps(usize, usize);
impl AlignedSteps {
    pub fn by_matching(_steps: &Pairs, a: usize, b: usize) -> Self {
        Self(a, b)
    }
    pub fn by_index(a: usize, b: usize) -> Self {
        Self(a, b)
    }
    pub fn source_at(&self, slot: usize) -> Option<usize> {
        (slot < self.0).then_some(slot)
    }
    pub fn target_at(&self, slot: usize) -> Option<usize> {
        (slot < self.1).then_some(slot)
    }
    pub fn source_at_or_before(&self, slot: usize) -> Option<usize> {
        Some(slot.min(self.0.checked_sub(1)?))
    }
    pub fn target_at_or_before(&self, slot: usize) -> Option<usize> {
        Some(slot.min(self.1.checked_sub(1)?))
    }
    pub fn slot_of_source(&self, slot: usize) -> Option<usize> {
        Some(slot)
    }
    pub fn slot_of_target(&self, slot: usize) -> Option<usize> {
        Some(slot)
    }
}
