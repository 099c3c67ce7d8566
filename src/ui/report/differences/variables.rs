//! Variables of two reports as differences, with what they belong to.

use std::collections::HashMap;
use std::sync::Arc;

use eframe::egui;

use super::{Entries, Entry, Unit};
use crate::analysis::comparison::attribution::Attribution;
use crate::analysis::comparison::contribution::OperationName;
use crate::analysis::comparison::matching::Matching;
use crate::analysis::comparison::variable_rows::{Owner, VariablePair, variable_pairs};
use crate::analysis::liveness::variables::VariableRow;
use crate::store::Report;
use crate::ui::job::{Latest, Same};

/// What the variables of two reports belong to, found beside the window.
#[derive(Debug, Default)]
pub struct Owners(Latest<Same<Matching>, Arc<Attribution>>);

impl Owners {
    /// Asks for what they belong to as far as the reports are matched; returns what was found last.
    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        reports: [&Arc<Report>; 2],
        matching: &Arc<Matching>,
    ) -> Option<Arc<Attribution>> {
        let ([source, target], key) = (reports.map(Arc::clone), Same(Arc::clone(matching)));
        let Same(matching) = key.clone();
        self.0.ask("what variables belong to", ctx, &key, move |_| {
            Arc::new(Attribution::of(&source, &target, &matching))
        });
        self.0.last().map(|(_, attribution)| Arc::clone(attribution))
    }
}

/// The bytes of the first column of both lists; with operations and modules as groups, where it is
/// known what belongs to them.
pub fn variable_entries(
    reports: [&Report; 2],
    rows: [Vec<VariableRow>; 2],
    attribution: Option<&Attribution>,
) -> Entries {
    let none = Attribution::default();
    let mut titles = Titles::default();
    let entry = |pair: VariablePair| Entry {
        name: pair.name,
        source: pair.source,
        target: pair.target,
        groups: attribution.map_or(Vec::new(), |known| titles.groups(pair.owner, known)),
    };
    let pairs = variable_pairs(reports, attribution.unwrap_or(&none), rows);
    let groupings = if attribution.is_some() {
        vec!["Operation", "Module", "Kind of operation"]
    } else {
        Vec::new()
    };
    let list = pairs.into_iter().map(entry).collect();
    Entries { unit: Unit::Bytes, title: "Variable", groupings, list }
}

/// The names of groups, each kept once.
#[derive(Default)]
struct Titles(HashMap<String, Arc<str>>);

impl Titles {
    fn groups(&mut self, owner: Owner, attribution: &Attribution) -> Vec<Arc<str>> {
        let titles = match owner {
            Owner::One(place) => {
                let row = attribution.operations.rows().get(place);
                let name = row.and_then(|row| attribution.operation_name(row));
                name.map(|name| titles_of(&name)).unwrap_or_default()
            }
            Owner::Several => ["Several operations"; 3].map(str::to_owned),
            Owner::Unknown => ["Not attributable"; 3].map(str::to_owned),
        };
        titles.map(|title| self.shared(title)).into()
    }

    fn shared(&mut self, title: String) -> Arc<str> {
        let shared = self.0.entry(title).or_insert_with_key(|title| Arc::from(&**title));
        Arc::clone(shared)
    }
}

/// Operation, module and kind.
fn titles_of(name: &OperationName) -> [String; 3] {
    let kind = name.kind.as_ref().unwrap_or(&name.layer).clone();
    let operation = match &name.name {
        Some(name) => format!("{name}, {kind}"),
        None => kind.clone(),
    };
    [operation, name.module().to_owned(), kind]
}
