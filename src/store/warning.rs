//! Warnings: what is damaged or absent in a report that can be read all the same.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::limits;
use crate::text::words;

words! {
    /// The kinds of warnings (cli.md).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum WarningCode by as_str {
        /// A file of the report is not there.
        MissingFile = "missing-file",
        /// A file ends before its contents do.
        Truncated = "truncated",
        /// A part is written in a format that is not known here.
        UnsupportedVersion = "unsupported-version",
        /// Two parts contradict each other, or a part has not the shape that it should have.
        Inconsistent = "inconsistent",
        /// The execution tables are empty.
        NoExecution = "no-execution",
        /// No debug context could be read.
        NoDebugInfo = "no-debug-info",
        /// The report was still being written, or its writer was interrupted.
        Unfinished = "unfinished",
        /// A value is none of those that are known.
        UnknownValue = "unknown-value",
    }
}

impl fmt::Display for WarningCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Something that a reader could do without.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema, serde::Deserialize,
)]
pub struct Warning {
    /// What kind of thing it is.
    pub code: WarningCode,
    /// The file's name.
    pub file: String,
    /// Where in the file, what was expected and what was found.
    pub message: String,
}

/// Collects warnings from readers on several threads; handed down, never returned. Many are as good as their number.
#[derive(Debug, Default)]
pub struct Warnings {
    gathered: Mutex<Gathered>,
    on_demand: OnceLock<Box<Self>>,
}

#[derive(Debug, Default)]
struct Gathered {
    list: Vec<Warning>,
    /// The same, to tell which are there.
    seen: HashSet<Warning>,
    /// Those beyond the budget, some of which may be the same.
    others: u64,
}

impl Warnings {
    /// Adds a warning, unless the same one is there.
    pub fn add(&self, code: WarningCode, file: &str, message: impl Into<String>) {
        let warning = Warning { code, file: file.to_owned(), message: message.into() };
        let mut gathered = self.locked();
        if gathered.seen.contains(&warning) {
            return;
        }
        // One of each kind is listed in any case: some kinds decide what else is said.
        let is_of_new_kind = || gathered.list.iter().all(|other| other.code != code);
        if gathered.list.len() >= limits::WARNINGS && !is_of_new_kind() {
            gathered.others = gathered.others.saturating_add(1);
            return;
        }
        gathered.list.push(warning.clone());
        gathered.seen.insert(warning);
    }

    /// Where those of parts go that are read when somebody asks for them, not with the rest: they are listed behind the
    /// others.
    pub fn on_demand(&self) -> &Self {
        self.on_demand.get_or_init(Box::default)
    }

    /// Adds warnings of another time or place.
    pub fn add_all(&self, warnings: &[Warning]) {
        for Warning { code, file, message } in warnings {
            self.add(*code, file, message.clone());
        }
    }

    /// All warnings so far, in the order in which they came, and how many there are beyond the budget.
    pub fn list(&self) -> Vec<Warning> {
        let mut list = self.list_of_reading();
        list.extend(self.on_demand.get().map(|others| others.list()).unwrap_or_default());
        list
    }

    /// The same without those of parts that somebody asked for: so it does not depend on whether anybody did.
    pub fn list_of_reading(&self) -> Vec<Warning> {
        let gathered = self.locked();
        let mut list = gathered.list.clone();
        if gathered.others > 0
            && let Some(last) = list.last().cloned()
        {
            let message = format!("{} further warnings are not listed", gathered.others);
            list.push(Warning { message, ..last });
        }
        list
    }

    /// How many there are so far.
    pub fn count(&self) -> usize {
        let gathered = self.locked();
        let own = gathered.list.len().saturating_add(usize::from(gathered.others > 0));
        own.saturating_add(self.on_demand.get().map_or(0, |others| others.count()))
    }

    /// Whether there is one of a kind.
    pub fn has(&self, code: WarningCode) -> bool {
        let is_own = self.locked().list.iter().any(|warning| warning.code == code);
        is_own || self.on_demand.get().is_some_and(|others| others.has(code))
    }

    fn locked(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_warning_is_there_once_and_many_are_counted() {
        let warnings = Warnings::default();
        for _ in 0..3 {
            for tile in 0..100_000 {
                let message = format!("tile {tile}");
                warnings.add(WarningCode::Inconsistent, "profile.pop", message);
            }
        }
        let list = warnings.list();
        assert_eq!((list.len(), warnings.count()), (limits::WARNINGS + 1, limits::WARNINGS + 1));
        let others = 3 * (100_000 - limits::WARNINGS);
        assert!(list[limits::WARNINGS].message.starts_with(&others.to_string()));
    }

    #[test]
    fn what_is_read_on_demand_is_listed_and_told_apart() {
        let warnings = Warnings::default();
        warnings.on_demand().add(WarningCode::Inconsistent, "profile.pop", "steps");
        warnings.add(WarningCode::Truncated, "debug.cbor", "contexts");
        let of_reading = warnings.list_of_reading();
        assert_eq!((warnings.count(), warnings.list().len(), of_reading.len()), (2, 2, 1));
        assert!(warnings.has(WarningCode::Inconsistent) && warnings.has(WarningCode::Truncated));
        assert_eq!(of_reading[0].code, WarningCode::Truncated);
    }
}
