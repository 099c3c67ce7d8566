//! Variables of two reports as differences, with the operations that they belong to.

use std::collections::HashMap;
use std::sync::Arc;

use eframe::egui;

use super::{Entries, Entry, Unit};
use crate::analysis::joined::joined;
use crate::analysis::matching::Matching;
use crate::analysis::operations::Operation;
use crate::analysis::variable_owners::{Owner, VariableOwners};
use crate::analysis::variables::VariableRow;
use crate::store::Report;
use crate::ui::job::Latest;

/// What an operation does and what it is called.
pub fn operation_title(operation: &Operation) -> String {
    let kind = operation.kind.as_deref().unwrap_or(&operation.layer);
    match &operation.name {
        Some(name) => format!("{name}, {kind}"),
        None => kind.to_owned(),
    }
}

/// The operations of the variables of two reports, found beside the window.
#[derive(Debug, Default)]
pub struct Owners(Latest<usize, Option<Arc<VariableOwners>>>);

impl Owners {
    /// Asks for the operations as far as these are matched; returns them with the place of the matching
    /// in memory, which tells them apart.
    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        reports: [Arc<Report>; 2],
        matching: &Arc<Matching>,
    ) -> Option<(usize, Arc<VariableOwners>)> {
        let place = Arc::as_ptr(matching).addr();
        let matching = Arc::clone(matching);
        // The answer keeps the matching, so that no other one can come to lie in its place.
        self.0.ask("operations of variables", ctx, &place, move |_| {
            let reports = reports.each_ref().map(|report| &**report);
            VariableOwners::new(reports, &matching).map(Arc::new)
        });
        self.0.get(&place).cloned().flatten().map(|owners| (place, owners))
    }
}

/// The bytes of the first column of both lists, by name; with operations as groups, where these are
/// known.
pub fn variable_entries(
    reports: [&Report; 2],
    [source, target]: [Vec<VariableRow>; 2],
    owners: Option<&VariableOwners>,
) -> Entries {
    let mut titles = Titles::default();
    let bytes = |row: &VariableRow| row.bytes.first().copied().unwrap_or(0);
    let list = joined(source, target, |row| &row.name).into_iter().filter_map(|rows| {
        let rows_now = rows.each_ref().map(Option::as_ref);
        let groups = owners.map(|owners| titles.groups(owners.of(reports, rows_now)));
        let [source, target] = rows_now.map(|row| row.map(bytes));
        let name = rows.into_iter().flatten().next()?.name;
        Some(Entry { name, source, target, groups: groups.unwrap_or_default() })
    });
    let groupings = if owners.is_some() { vec!["Operation", "Kind of operation"] } else { vec![] };
    Entries { unit: Unit::Bytes, title: "Variable", groupings, list: list.collect() }
}

/// The names of groups, each kept once.
#[derive(Default)]
struct Titles(HashMap<String, Arc<str>>);

impl Titles {
    fn groups(&mut self, owner: Owner<'_>) -> Vec<Arc<str>> {
        let kind = |operation: &Operation| {
            operation.kind.clone().unwrap_or_else(|| operation.layer.clone())
        };
        let [operation, kind] = match owner {
            Owner::One(operation) => [operation_title(operation), kind(operation)],
            Owner::Several => ["Several operations"; 2].map(str::to_owned),
            Owner::Unknown => ["Not attributable"; 2].map(str::to_owned),
        };
        vec![self.shared(operation), self.shared(kind)]
    }

    fn shared(&mut self, title: String) -> Arc<str> {
        let shared = self.0.entry(title).or_insert_with_key(|title| Arc::from(&**title));
        Arc::clone(shared)
    }
}
