//! The categories of lowered variables by their bytes on the whole chip, so that a category keeps its
//! place, and with it its color, on every tile and in every report.

use crate::analysis::figures::joined::side_by_side;
use crate::store::Report;
use crate::store::ids::CategoryId;
use crate::store::variable::LoweredVariables;

/// The categories that have bytes, most first, then by number; what no row describes is left out.
pub fn categories_by_bytes(variables: &LoweredVariables) -> Vec<CategoryId> {
    let mut bytes = [0_u64; 256];
    for (row, category) in variables.categories.iter().enumerate() {
        if let (Some(sum), Some(size)) =
            (bytes.get_mut(usize::from(*category)), variables.size(row))
        {
            *sum = sum.saturating_add(size);
        }
    }
    let mut found: Vec<(u64, u32)> =
        (0..).zip(bytes).take(255).map(|(id, bytes)| (bytes, id)).collect();
    found.retain(|(bytes, _)| *bytes > 0);
    found.sort_by_key(|(bytes, id)| (std::cmp::Reverse(*bytes), *id));
    found.into_iter().map(|(_, id)| CategoryId(id)).collect()
}

/// A category of several reports; it is the same where its name is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedCategory {
    /// Its name, where a report says it.
    pub name: Option<String>,
    /// Its number in each report that has bytes of it.
    pub ids: Vec<Option<CategoryId>>,
}

/// The categories of reports: in the order of the first, then those that only later ones have. Of a
/// report without resident variables all, as they are listed.
pub fn categories_of_all(reports: &[&Report]) -> Vec<SharedCategory> {
    let of_report = |report: &&Report| {
        let ids = match report.variables.get() {
            Some(variables) => categories_by_bytes(variables),
            None if !report.variables.is_settled() => Vec::new(),
            None => report.categories.get().map_or(Vec::new(), |all| all.ids.as_slice().to_vec()),
        };
        let keyed = ids.into_iter().map(|id| {
            let name = report.category_name(id).map(str::to_owned);
            let key = (name.clone(), name.is_none().then_some(id));
            (key, (id, name))
        });
        keyed.collect::<Vec<_>>()
    };
    let rows = side_by_side(reports.iter().map(of_report).collect());
    let category = |row: Vec<Option<(CategoryId, Option<String>)>>| {
        let name = row.iter().flatten().find_map(|(_, name)| name.clone());
        SharedCategory { name, ids: row.into_iter().map(|cell| Some(cell?.0)).collect() }
    };
    rows.into_iter().map(category).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::{Lowered, categories, lowered};

    fn variable((category, bytes): (u8, u32)) -> Lowered {
        Lowered::new(0, bytes, 0, category)
    }

    #[test]
    fn the_largest_comes_first() {
        let rows = [(3, 5), (0, 9), (255, 99), (7, 3), (3, 5), (8, 3), (9, 0)];
        let variables = lowered([(0, rows.map(variable))]);
        assert_eq!(categories_by_bytes(&variables), [3, 0, 7, 8].map(CategoryId));
    }

    #[test]
    fn the_same_category_has_the_same_place_in_both() {
        let report = |rows: &[(u8, u32)], names: &[&str]| {
            let report = Report::default();
            report.variables.fill(Some(lowered([(0, rows.iter().copied().map(variable))])));
            report.categories.fill(Some(categories(0, names)));
            report
        };
        let source = report(&[(0, 9), (1, 5), (2, 1)], &["code", "data", "stack"]);
        let target = report(&[(0, 7), (1, 3), (2, 5)], &["message", "stack", "code"]);
        let ids = |ids: [Option<u32>; 4]| ids.map(|id| id.map(CategoryId)).to_vec();
        let all = categories_of_all(&[&source, &target]);
        let of = |report: usize| all.iter().map(|found| found.ids[report]).collect::<Vec<_>>();
        assert_eq!(of(0), ids([Some(0), Some(1), Some(2), None]));
        assert_eq!(of(1), ids([Some(2), None, Some(1), Some(0)]));
    }
}
