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
    let (layers, categories) = ranked.split_at(ranked.partition_point(|(key, _)| is_layer(key)));
    if layers.is_empty() {
        return Default::default();
    }
    // The order, and so the colors, are those of the run, whichever arenas are looked at.
    let mut titles = layers_of_run(derived);
    for (key, _) in layers {
        let title = groups.get(*key).title;
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    let shown = titles.len().min(MOST_GROUPS);
    let place_of = |key: &u32| {
        let title = groups.get(*key).title;
        titles.iter().position(|other| *other == title).map_or(shown, |place| place.min(shown))
    };
    let mut places: HashMap<u32, usize> =
        layers.iter().map(|(key, _)| (*key, place_of(key))).collect();
    let rest = (titles.len() > shown).then(|| AreaGroup::rest("Other layers"));
    let named = titles.into_iter().take(shown).map(AreaGroup::placed);
    let mut named: Vec<AreaGroup> = named.chain(rest).collect();
    for (key, _) in categories {
        places.insert(*key, named.len());
        named.push(groups.get(*key));
    }
    let place =
        |key: &u32| places.get(key).and_then(|place| u8::try_from(*place).ok()).unwrap_or(u8::MAX);
    (named, keys.iter().map(place).collect())
}

/// The layers of a run, those whose variables have most bytes first: in this order they have their colors on all maps.
pub fn layers_of_run(derived: &Derived) -> Vec<String> {
    let (answers, owners) = (derived.answers(), derived.owners());
    let Some(liveness) = derived.report().liveness.get() else { return Vec::new() };
    let mut of_operation: HashMap<u32, u64> = HashMap::new();
    for row in liveness.variable_bytes.iter().flatten() {
        if let Some((operation, _)) = owners.variables.of(liveness, row) {
            let sum = of_operation.entry(operation).or_default();
            *sum = sum.saturating_add(row.bytes);
        }
    }
    let mut of_layer: HashMap<String, u64> = HashMap::new();
    for (operation, bytes) in of_operation {
        let name = owners.operations().get(operation as usize).and_then(|one| one.name.as_deref());
        if let Some(layer) = name.and_then(|name| answers.model_place(name).layer) {
            let sum = of_layer.entry(layer).or_default();
            *sum = sum.saturating_add(bytes);
        }
    }
    let mut layers: Vec<(String, u64)> = of_layer.into_iter().collect();
    layers.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    layers.into_iter().map(|(layer, _)| layer).collect()
}
