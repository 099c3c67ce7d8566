//! The modules of two dumps side by side.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::analysis::figures::difference::Difference;
use crate::store::hlo::ListedModule;

/// The modules of two dumps by their names; of one name in the order of their files.
pub(super) fn json(dumps: [&[ListedModule]; 2]) -> Value {
    let mut by_name: BTreeMap<&str, [Vec<&ListedModule>; 2]> = BTreeMap::new();
    for (side, modules) in dumps.into_iter().enumerate() {
        let mut modules: Vec<&ListedModule> = modules.iter().collect();
        modules.sort_by(|a, b| a.file.cmp(&b.file));
        for one in modules {
            let name = one.module.as_deref().unwrap_or_default();
            if let Some(list) = by_name.entry(name).or_default().get_mut(side) {
                list.push(one);
            }
        }
    }
    let rows = by_name.into_iter().flat_map(|(name, [source, target])| {
        (0..source.len().max(target.len())).map(move |place| {
            let pair = [source.get(place), target.get(place)];
            let sizes = |of: fn(&ListedModule) -> u64| {
                Difference::of(pair.map(|one| one.map(|one| of(one))))
            };
            json!({
                "module": name,
                "only": match pair {
                    [Some(_), None] => Some("source"),
                    [None, Some(_)] => Some("target"),
                    _ => None,
                },
                "total_bytes": sizes(|one| one.total_bytes),
                "temp_bytes": sizes(|one| one.temp_bytes),
            })
        })
    });
    rows.collect()
}
