//! The variables of both reports as differences: those alive at a place, and those that always live.

use eframe::egui;
use std::collections::HashMap;
use std::sync::Arc;

use super::Both;
use super::derived::PairDerived;
use super::places::Places;
use super::words::operation_title;
use crate::analysis::joined::joined;
use crate::analysis::operations::Operation;
use crate::analysis::variable_owners::{Owner, VariableOwners};
use crate::analysis::variables::{VariableRow, always_live, not_always_live};
use crate::store::Report;
use crate::ui::comparison::Side;
use crate::ui::job::Latest;
use crate::ui::report::differences::{Entries, Entry, Unit};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// What is alive there, and not always live.
    NotAlwaysLive(Places),
    /// What always lives.
    AlwaysLive,
}

/// What entries were made for: also the curves, and the matching whose operations were known.
type Key = (Wanted, u64, Option<usize>);

/// Entries of both, or the report that lacks what they need.
type Found = Result<Arc<Entries>, Side>;

/// Lists of variables, made beside the window.
#[derive(Debug, Default)]
pub struct PairVariables {
    owners: Latest<usize, Option<Arc<VariableOwners>>>,
    entries: Latest<Key, Found>,
}

impl PairVariables {
    /// Asks for a list; returns the one that was made last with what it is of.
    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        both: &Both<'_>,
        derived: &Arc<PairDerived>,
        wanted: Wanted,
    ) -> Option<(Wanted, &Found)> {
        let place = Arc::as_ptr(both.matching).addr();
        let (reports, matching) = (both.shared(), Arc::clone(both.matching));
        // The answer keeps the matching, so that no other one can come to lie in its place.
        self.owners.ask("operations of variables", ctx, &place, move |_| {
            VariableOwners::new(plain(&reports), &matching).map(Arc::new)
        });
        let owners = self.owners.get(&place).cloned().flatten();
        let key = (wanted, derived.version, owners.is_some().then_some(place));
        let (reports, derived) = (both.shared(), Arc::clone(derived));
        self.entries.ask("variables of both", ctx, &key, move |_| {
            let reports = plain(&reports);
            let [source, target] =
                Side::BOTH.map(|side| rows(side.of(reports), &derived, side, wanted).ok_or(side));
            Ok(Arc::new(entries(reports, [source?, target?], owners.as_deref())))
        });
        self.entries.last().map(|((wanted, ..), found)| (*wanted, found))
    }

    /// Why there is no list.
    pub fn failure(&self) -> Option<&str> {
        self.entries.failure()
    }
}

fn plain(reports: &[Arc<Report>; 2]) -> [&Report; 2] {
    reports.each_ref().map(|report| &**report)
}

fn rows(
    report: &Report,
    derived: &PairDerived,
    side: Side,
    wanted: Wanted,
) -> Option<Vec<VariableRow>> {
    match wanted {
        Wanted::AlwaysLive => always_live(report, derived.scope),
        Wanted::NotAlwaysLive(places) => {
            let worst = derived.side(side)?.derived.curve.worst_tiles.as_deref();
            let steps: Vec<usize> = places.step(side).into_iter().collect();
            not_always_live(report, derived.scope, &steps, worst)
        }
    }
}

fn entries(
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
