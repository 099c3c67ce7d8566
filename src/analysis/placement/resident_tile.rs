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
        offset: u64::from(*variables.offsets.get(row)?),
        bytes: u64::from(*variables.bytes.get(row)?),
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
    use crate::store::liveness::Liveness;
    use crate::store::report::Categories;
    use crate::store::variable::VariableFlags;
    use crate::store::{ClassId, UnloweredId};

    #[test]
    fn variables_have_the_names_that_are_known() {
        let report = Report::default();
        assert!(resident_tile(&report, TileId(4)).is_none());
        let mut lowered = LoweredVariables { first_id: 10, ..LoweredVariables::default() };
        let none = LoweredVariables::NO_UNLOWERED;
        for (unlowered, category) in [(UnloweredId(5), 0), (none, 0), (none, 255)] {
            lowered.offsets.push(64);
            lowered.bytes.push(8);
            lowered.classes.push(ClassId(1));
            lowered.unlowered.push(unlowered);
            lowered.categories.push(category);
            lowered.flags.push(VariableFlags(1));
        }
        lowered.tiles.push(TileId(4));
        lowered.rows.push(0..3);
        report.variables.fill(Some(lowered));
        let mut liveness = Liveness::default();
        liveness.variable_ids.push(UnloweredId(5));
        liveness.variable_names.push("weights");
        report.liveness.fill(Some(liveness));
        let mut categories = Categories::default();
        categories.ids.push(crate::store::ids::CategoryId(0));
        categories.names.push("controlCode");
        report.categories.fill(Some(categories));
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
