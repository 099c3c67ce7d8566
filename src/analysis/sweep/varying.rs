//! The options that are not the same in all runs.
//!
//! An option varies when two runs have different values of it, numbers compared as numbers; for side
//! files and proportions also when one run has it and another, of which options of that kind are known,
//! has not. Runs that could not be read do not count. The directory is an option only where nothing
//! else tells two runs apart.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{SweepRun, compare_values};
use crate::analysis::program::report_options::{
    OptionKind, OptionValue, ReportOption, id, short_name,
};

/// How many options are listed; side files may have any number of them.
const MOST_OPTIONS: usize = 1000;

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct VaryingOption {
    /// Its name among those of all kinds, `app.batch_size` for example.
    pub id: String,
    /// Where it stands.
    pub kind: OptionKind,
    /// Its name there.
    pub name: String,
    /// A short name; the id where options with other values have the same one.
    pub short_name: String,
    /// Its values, ascending, each once; last `None` if a run does not have it.
    pub values: Vec<Option<OptionValue>>,
    /// The first option in the list that has the same values in all runs; `None` if this is it.
    pub same_as: Option<usize>,
}

impl VaryingOption {
    pub fn value_of<'a>(&self, run: &'a SweepRun) -> Option<&'a OptionValue> {
        run.option(self.kind, &self.name)
    }

    /// Whether tables have a column for it: one of each group. The directory needs none, it is the name of the run.
    pub fn is_column(&self) -> bool {
        self.same_as.is_none() && self.kind != OptionKind::Directory
    }
}

/// The options that vary, proportions and `app.json` first, then by kind and name; and how many more
/// there are than are listed.
pub(super) fn varying_options(runs: &[SweepRun]) -> (Vec<VaryingOption>, usize) {
    let read: Vec<&SweepRun> = runs.iter().filter(|run| run.error.is_none()).collect();
    let mut known: BTreeMap<(OptionKind, &str), KnownValues<'_>> = BTreeMap::new();
    for run in &read {
        for option in run.facts.options.iter().filter(|option| option.kind != OptionKind::Directory)
        {
            let known = known.entry((option.kind, &option.name)).or_default();
            known.runs += 1;
            known.has_several |= *known.first.get_or_insert(&option.value) != &option.value;
        }
    }
    let varies = |(kind, known): (OptionKind, &KnownValues<'_>)| {
        let absent = read.iter().filter(|run| run.facts.kinds.binary_search(&kind).is_ok()).count();
        known.has_several || (kind.absence_counts() && known.runs < absent)
    };
    known.retain(|(kind, _), known| varies((*kind, known)));
    let left_out = known.len().saturating_sub(MOST_OPTIONS);
    let mut keys: Vec<(OptionKind, &str)> = known.into_keys().collect();
    // What users set and note themselves comes before the many options that Poplar lists.
    keys.sort_by_key(|(kind, _)| match kind {
        OptionKind::AvailableMemoryProportion => 0,
        OptionKind::App => 1,
        _ => 2,
    });
    keys.truncate(MOST_OPTIONS);
    let mut options: Vec<VaryingOption> =
        keys.into_iter().map(|(kind, name)| varying_option(kind, name, &read)).collect();
    // What every run has of the options so far, as positions in their values.
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); read.len()];
    let mut columns: HashMap<Vec<usize>, usize> = HashMap::new();
    for (place, option) in options.iter_mut().enumerate() {
        let column: Vec<usize> = read.iter().map(|run| position(option, run)).collect();
        rows.iter_mut().zip(&column).for_each(|(row, cell)| row.push(*cell));
        let first = *columns.entry(column).or_insert(place);
        option.same_as = (first != place).then_some(first);
    }
    let different: HashSet<&Vec<usize>> = rows.iter().collect();
    if different.len() < read.len() {
        options.push(varying_option(OptionKind::Directory, "directory", &read));
    }
    make_short_names_unique(&mut options);
    (options, left_out)
}

#[derive(Default)]
struct KnownValues<'a> {
    runs: usize,
    first: Option<&'a OptionValue>,
    has_several: bool,
}

fn varying_option(kind: OptionKind, name: &str, runs: &[&SweepRun]) -> VaryingOption {
    let mut values: Vec<Option<&OptionValue>> =
        runs.iter().map(|run| run.option(kind, name)).collect();
    values.sort_by(|a, b| compare_values(*a, *b));
    values.dedup();
    VaryingOption {
        id: id(kind, name),
        kind,
        name: name.to_owned(),
        short_name: short_name(kind, name).into_owned(),
        values: values.into_iter().map(Option::<&OptionValue>::cloned).collect(),
        same_as: None,
    }
}

/// Gives each run that left no report the proportions that `app.json` says for it, where in all reports the two
/// are the same: the run would stand in no cell otherwise.
pub(super) fn complete_those_without_report(runs: &mut [SweepRun]) {
    let reported: Vec<&SweepRun> = runs.iter().filter(|run| run.is_read()).collect();
    let Some((first, others)) = reported.split_first() else { return };
    let of_kind =
        |wanted: OptionKind| first.facts.options.iter().filter(move |it| it.kind == wanted);
    let mut same: Vec<(String, String)> = Vec::new();
    for proportion in of_kind(OptionKind::AvailableMemoryProportion) {
        let is_same = |run: &SweepRun, app: &str| {
            let own = run.option(OptionKind::AvailableMemoryProportion, &proportion.name);
            own.is_some() && own == run.option(OptionKind::App, app)
        };
        let app = of_kind(OptionKind::App).find(|app| {
            is_same(first, &app.name) && others.iter().all(|run| is_same(run, &app.name))
        });
        same.extend(app.map(|app| (proportion.name.clone(), app.name.clone())));
    }
    for run in runs.iter_mut().filter(|run| run.no_report) {
        for (name, app) in &same {
            let Some(value) = run.option(OptionKind::App, app).cloned() else { continue };
            let kind = OptionKind::AvailableMemoryProportion;
            run.add_option(ReportOption { kind, name: name.clone(), value });
            run.facts.kinds.push(kind);
        }
        run.facts.kinds.sort();
        run.facts.kinds.dedup();
    }
}

fn position(option: &VaryingOption, run: &SweepRun) -> usize {
    let value = option.value_of(run);
    let found = option.values.binary_search_by(|probe| compare_values(probe.as_ref(), value));
    // Every value of every run is in the list.
    found.unwrap_or(usize::MAX)
}

fn make_short_names_unique(options: &mut [VaryingOption]) {
    let mut groups: HashMap<String, HashSet<usize>> = HashMap::new();
    for (place, option) in options.iter().enumerate() {
        let group = option.same_as.unwrap_or(place);
        groups.entry(option.short_name.clone()).or_default().insert(group);
    }
    for option in options {
        if groups.get(&option.short_name).is_some_and(|groups| groups.len() > 1) {
            option.short_name.clone_from(&option.id);
        }
    }
}
