//! The variables of one tile as far as the resident columns know them: without the names of the file,
//! without alignments, without constraints. For reports whose tiles cannot be read one by one.

use crate::store::placed::{Placed, Placement};
use crate::store::variable::LoweredVariables;
use crate::store::{Report, TileId};

use crate::analysis::liveness::lifetimes::category_and_name;

/// The variables of a tile, each with the name of the variable that it was lowered from, else with the
/// title of its category. `None` where lowered variables are not there.
pub fn resident_tile(report: &Report, tile: TileId) -> Option<Placed> {
    let variables = report.variables.get()?;
    let mut found = Placed::default();
    for row in variables.rows_of(tile) {
        let (category, name) = category_and_name(report, variables, row);
        let Some(variable) = lowered(variables, row, category.map(|id| id.0)) else { continue };
        found.placements.push(variable);
        found.names.push(&name);
        found.element_constraints.push(Vec::new());
        found.region_constraints.push(Vec::new());
    }
    Some(found)
}

fn lowered(variables: &LoweredVariables, row: usize, category: Option<u32>) -> Option<Placement> {
    let id = match &variables.ids {
        Some(ids) => *ids.get(row)?,
        None => variables.first_id.saturating_add(u32::try_from(row).ok()?),
    };
    let unlowered = variables.unlowered.get(row).copied();
    Some(Placement {
        id,
        offset: variables.offset(row)?,
        bytes: variables.size(row)?,
        alignment: 0,
        category,
        class: *variables.classes.get(row)?,
        unlowered: unlowered.filter(|id| *id != LoweredVariables::NO_UNLOWERED),
        flags: *variables.flags.get(row)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::{Lowered, categories, lowered};
    use crate::store::UnloweredId;
    use crate::store::liveness::Liveness;

    #[test]
    fn variables_have_the_names_that_are_known() {
        let report = Report::default();
        assert!(resident_tile(&report, TileId(4)).is_none());
        let of_category = |category| Lowered::new(64, 8, 1, category);
        let named = Lowered { unlowered: UnloweredId(5), ..of_category(0) };
        let variables = lowered([(4, [named, of_category(0), of_category(255)])]);
        report.variables.fill(Some(LoweredVariables { first_id: 10, ..variables }));
        let mut liveness = Liveness::default();
        liveness.variable_ids.push(UnloweredId(5));
        liveness.variable_names.push("weights");
        report.liveness.fill(Some(liveness));
        report.categories.fill(Some(categories(0, &["controlCode"])));
        let tile = resident_tile(&report, TileId(4)).expect("variables");
        let names: Vec<&str> = tile.names.iter().collect();
        assert_eq!(names, ["weights", "Control code", "Unknown category"]);
        let ids: Vec<_> = tile.placements.iter().map(|variable| variable.id).collect();
        assert_eq!(ids, [10, 11, 12]);
        assert_eq!(tile.placements[0].unlowered, Some(UnloweredId(5)));
        assert_eq!((tile.placements[1].unlowered, tile.placements[2].category), (None, None));
        assert!(resident_tile(&report, TileId(5)).expect("nothing").placements.is_empty());
    }
}
