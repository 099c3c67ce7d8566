//! What lies in arenas by the layers of the operations that make it.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::areas::{AreaColor, AreaGroup};
use crate::analysis::areas::{AreaGroups, MOST_GROUPS};
use crate::analysis::derived::Derived;
use crate::analysis::memory::category_title;
use crate::store::placed::Placement;

/// Something that is placed, with its bytes × steps and the name of its category.
pub struct PlacedSize<'a> {
    /// It.
    pub placement: &'a Placement,
    /// Its bytes × steps.
    pub size: u128,
    /// The name of its category.
    pub category: &'a str,
}

/// The layers, the largest first, behind them the categories of what belongs to none; and of each thing the place of its
/// group. Nothing where no layer is known.
pub fn by_layer<'a>(
    derived: &Derived,
    all: impl Iterator<Item = PlacedSize<'a>>,
) -> (Vec<AreaGroup>, Vec<u8>) {
    let (answers, owners) = (derived.answers(), derived.owners());
    let Some(liveness) = derived.report().liveness.get() else { return Default::default() };
    let mut of_operation: HashMap<u32, Option<String>> = HashMap::new();
    let mut layer_of = |placement: &Placement| {
        let operation = owners.variables.of_placement(liveness, placement)?;
        let layer = || {
            let name = owners.operations().get(operation as usize)?.name.as_deref()?;
            answers.model_place(name).layer
        };
        of_operation.entry(operation).or_insert_with(layer).clone()
    };
    let (mut groups, mut keys) = (AreaGroups::default(), Vec::new());
    let mut sizes: HashMap<u32, u128> = HashMap::new();
    for PlacedSize { placement, size, category } in all {
        let group = match layer_of(placement) {
            Some(layer) => AreaGroup::placed(layer),
            None => AreaGroup::category(category_title(category), category, ""),
        };
        let key = groups.key(group);
        let sum = sizes.entry(key).or_default();
        *sum = sum.saturating_add(size);
        keys.push(key);
    }
    let is_layer = |key: &u32| groups.get(*key).color == AreaColor::Place;
    let mut ranked: Vec<(u32, u128)> = sizes.into_iter().collect();
    ranked.sort_by_key(|(key, size)| (!is_layer(key), Reverse(*size), *key));
    let layers = ranked.iter().filter(|(key, _)| is_layer(key)).count();
    if layers == 0 {
        return Default::default();
    }
    let shown = if layers > MOST_GROUPS + 1 { MOST_GROUPS } else { layers };
    let mut named = Vec::new();
    let mut places: HashMap<u32, u8> = HashMap::new();
    for (rank, (key, _)) in ranked.iter().enumerate() {
        if rank == shown && shown < layers {
            named.push(AreaGroup::rest("Other layers"));
        } else if !(shown..layers).contains(&rank) {
            named.push(groups.get(*key));
        }
        places.insert(*key, u8::try_from(named.len().saturating_sub(1)).unwrap_or(u8::MAX));
    }
    let place = |key: &u32| places.get(key).copied().unwrap_or(u8::MAX);
    (named, keys.iter().map(place).collect())
}
