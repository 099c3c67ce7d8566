//! Results whose memory a parameter could give.

use std::collections::HashMap;

use super::analysed::Analysed;
use crate::store::hlo::{Allocation, AllocationKind, ElementType, ValueId};

/// A result that could take over the memory of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Donatable {
    /// The result.
    pub result: ValueId,
    /// Its bytes.
    pub bytes: u64,
}

impl Analysed {
    /// Results that are no donated parameter and have the type and dimensions of a parameter that is not donated, each
    /// parameter used once.
    pub fn donatable(&self) -> Vec<Donatable> {
        let module = &self.module;
        let mut kinds: Vec<Option<&Allocation>> = vec![None; module.values.len()];
        for assigned in &module.assigned {
            if let Some(slot) = kinds.get_mut(assigned.value.0 as usize) {
                *slot = module.allocations.get(assigned.allocation as usize);
            }
        }
        let allocation = |value: ValueId| kinds.get(value.0 as usize).copied().flatten();
        let key = |value: ValueId| {
            let shape = module.value_shape(value);
            let kind = module.shapes.element_type(shape)?;
            (kind != ElementType::TUPLE).then(|| (kind, module.shapes.dimensions(shape)))
        };
        let mut free: HashMap<(ElementType, &[i64]), u64> = HashMap::new();
        for id in module.entry_parameters().into_values() {
            for value in self.held.of_instruction(id) {
                let is_kept = allocation(value).is_some_and(|one| !one.is_donated());
                if let Some(key) = key(value).filter(|_| is_kept) {
                    *free.entry(key).or_default() += 1;
                }
            }
        }
        let entry = module.entry.and_then(|row| module.computations.get(row as usize));
        let Some(root) = entry.map(|entry| entry.root) else { return Vec::new() };
        let mut found = Vec::new();
        for result in self.held.of_instruction(root) {
            let is_result =
                allocation(result).is_some_and(|one| one.kind != AllocationKind::Parameter);
            let Some(key) = key(result).filter(|_| is_result) else { continue };
            if let Some(count) = free.get_mut(&key).filter(|count| **count > 0) {
                *count -= 1;
                let bytes = module.value(result).map_or(0, |value| value.bytes);
                found.push(Donatable { result, bytes });
            }
        }
        found
    }

    /// Bytes of [`Self::donatable`].
    pub fn donatable_bytes(&self) -> u64 {
        self.donatable().iter().fold(0, |sum, one| sum.saturating_add(one.bytes))
    }
}
