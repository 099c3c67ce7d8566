//! The categories of lowered variables by their bytes on the whole chip, so that a category keeps its
//! place, and with it its colour, on every tile.

use crate::analysis::figures::joined::joined;
use crate::store::Report;
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

/// The categories of a source and a target, each in the same places: in the order of the source, then
/// those that only the target has. Categories are the same when their names are; nothing stands in the
/// place of one that a report does not have.
pub fn categories_of_two(reports: [&Report; 2]) -> [Vec<Option<CategoryId>>; 2] {
    let [source, target] = reports.map(|report| {
        let ids = report.variables.get().map(categories_by_bytes).unwrap_or_default();
        let name = |id: CategoryId| match report.categories.get().and_then(|all| all.name(id)) {
            Some(name) => name.to_owned(),
            None => format!("<category {id}>"),
        };
        ids.into_iter().map(|id| (name(id), id)).collect()
    });
    let (mut of_source, mut of_target) = (Vec::new(), Vec::new());
    for [source, target] in joined(source, target) {
        of_source.push(source);
        of_target.push(target);
    }
    [of_source, of_target]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::report::Categories;

    #[test]
    fn the_largest_comes_first() {
        let mut variables = LoweredVariables::default();
        for (category, bytes) in [(3, 5), (0, 9), (255, 99), (7, 3), (3, 5), (8, 3), (9, 0)] {
            variables.categories.push(category);
            variables.bytes.push(bytes);
        }
        assert_eq!(categories_by_bytes(&variables), [3, 0, 7, 8].map(CategoryId));
    }

    #[test]
    fn the_same_category_has_the_same_place_in_both() {
        let report = |rows: &[(u8, u32)], names: &[&str]| {
            let report = Report::default();
            let mut variables = LoweredVariables::default();
            for (category, bytes) in rows {
                variables.categories.push(*category);
                variables.bytes.push(*bytes);
            }
            report.variables.fill(Some(variables));
            let mut categories = Categories::default();
            for (id, name) in (0..).zip(names) {
                categories.ids.push(CategoryId(id));
                categories.names.push(name);
            }
            report.categories.fill(Some(categories));
            report
        };
        let source = report(&[(0, 9), (1, 5), (2, 1)], &["code", "data", "stack"]);
        let target = report(&[(0, 7), (1, 3), (2, 5)], &["message", "stack", "code"]);
        let ids = |ids: [Option<u32>; 4]| ids.map(|id| id.map(CategoryId)).to_vec();
        let [of_source, of_target] = categories_of_two([&source, &target]);
        assert_eq!(of_source, ids([Some(0), Some(1), Some(2), None]));
        assert_eq!(of_target, ids([Some(2), None, Some(1), Some(0)]));
    }
}
