//! The categories of lowered variables by their bytes on the whole chip, so that a category keeps its
//! place, and with it its colour, on every tile.

use crate::store::ids::CategoryId;
use crate::store::variable::LoweredVariables;

/// The categories that have bytes, most first, then by number; what no row describes is left out.
pub fn categories_by_bytes(variables: &LoweredVariables) -> Vec<CategoryId> {
    let mut bytes = [0_u64; 256];
    for (category, size) in variables.categories.iter().zip(&variables.bytes) {
        if let Some(sum) = bytes.get_mut(usize::from(*category)) {
            *sum = sum.saturating_add(u64::from(*size));
        }
    }
    let mut found: Vec<(u64, u32)> =
        (0..).zip(bytes).take(255).map(|(id, bytes)| (bytes, id)).collect();
    found.retain(|(bytes, _)| *bytes > 0);
    found.sort_by_key(|(bytes, id)| (std::cmp::Reverse(*bytes), *id));
    found.into_iter().map(|(_, id)| CategoryId(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_comes_first() {
        let mut variables = LoweredVariables::default();
        for (category, bytes) in [(3, 5), (0, 9), (255, 99), (7, 3), (3, 5), (8, 3), (9, 0)] {
            variables.categories.push(category);
            variables.bytes.push(bytes);
        }
        assert_eq!(categories_by_bytes(&variables), [3, 0, 7, 8].map(CategoryId));
    }
}
