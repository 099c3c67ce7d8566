//! What to free for a tile to fit: the smallest set of variables alive at its worst step that covers its excess.
//!
//! Variables of one name count as one. The largest first is the smallest set in number: no other set of as many
//! variables has more bytes. Where they are gone another step may be the worst; and what lies behind
//! gaps moves, so it is a bound, not a placement.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;

use super::pressure::{PlaceView, Pressure};
use super::timeline::AliveRow;
use crate::analysis::comparison::owners::Owners;
use crate::analysis::liveness::variable_name;
use crate::analysis::program::operations::Operation;
use crate::store::Report;

/// What must go from one place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MustGo {
    /// The tile; `None` for all tiles together, where the report does not have bytes by tile.
    pub tile: Option<u32>,
    /// Bytes over the limit, gaps included.
    pub over_bytes: u64,
    /// The number of the worst step.
    pub step: Option<u32>,
    /// Bytes alive there.
    pub alive_bytes: u64,
    /// The variables, largest first, then by name.
    pub variables: Vec<GoingVariable>,
    pub bytes: u64,
    /// Whether these are as many as the place is over.
    pub is_enough: bool,
}

/// The variables of one name that must go.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoingVariable {
    pub name: String,
    /// Bytes in the place.
    pub bytes: u64,
    /// Whether any of them lives as long as the program.
    pub is_always_live: bool,
    /// The operation that they belong to: that which alone runs while they live, else that which
    /// made them; `None` where that is none or several.
    pub operation: Option<Operation>,
}

/// What must go from the `most` worst places.
pub fn must_go(
    report: &Report,
    pressure: &Pressure<'_>,
    owners: &Owners,
    most: usize,
) -> Vec<MustGo> {
    let views = pressure.views.iter().take(most);
    views.map(|view| from_place(report, pressure, owners, view)).collect()
}

fn from_place(
    report: &Report,
    pressure: &Pressure<'_>,
    owners: &Owners,
    view: &PlaceView,
) -> MustGo {
    let place = view.place;
    let step = view.worst.step as usize;
    let liveness = pressure.liveness();
    let mut by_name: HashMap<Cow<'_, str>, Vec<&AliveRow>> = HashMap::new();
    for row in view.timeline.rows() {
        if row.is_always_live || liveness.classes.is_live_at(row.class, step) {
            by_name.entry(variable_name(liveness, row.variable)).or_default().push(row);
        }
    }
    let mut names: Vec<(u64, Cow<'_, str>, Vec<&AliveRow>)> = by_name
        .into_iter()
        .map(|(name, rows)| {
            let bytes = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
            (bytes, name, rows)
        })
        .collect();
    names.sort_by(|a, b| (Reverse(a.0), &a.1).cmp(&(Reverse(b.0), &b.1)));
    let mut found = MustGo {
        tile: place.tile.map(|tile| tile.0),
        over_bytes: place.over_bytes,
        step: report.steps.get().and_then(|steps| Some(steps.ids.get(step)?.0)),
        alive_bytes: view.worst.bytes,
        variables: Vec::new(),
        bytes: 0,
        is_enough: false,
    };
    for (bytes, name, rows) in names {
        if found.bytes >= place.over_bytes {
            break;
        }
        found.bytes = found.bytes.saturating_add(bytes);
        found.variables.push(GoingVariable {
            name: name.into_owned(),
            bytes,
            is_always_live: rows.iter().any(|row| row.is_always_live),
            operation: only_operation(pressure, owners, &rows),
        });
    }
    found.is_enough = found.bytes >= place.over_bytes;
    found
}

fn only_operation(
    pressure: &Pressure<'_>,
    owners: &Owners,
    rows: &[&AliveRow],
) -> Option<Operation> {
    let of = |row: &&AliveRow| operation_of(pressure, owners, row);
    let first = rows.first().and_then(of)?;
    rows.iter().all(|row| of(row) == Some(first)).then_some(())?;
    owners.operations().get(first as usize).cloned()
}

/// The operation that alone runs while a row lives, else that which made it.
pub fn operation_of(pressure: &Pressure<'_>, owners: &Owners, row: &AliveRow) -> Option<u32> {
    owners.variables.of_life(row.class_row).or_else(|| {
        let (operation, _) = owners.variables.of(pressure.liveness(), &row.table_row())?;
        Some(operation)
    })
}
