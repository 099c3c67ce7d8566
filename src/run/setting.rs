//! Settings that a run was made with, where two runs differ in them.

use serde::Serialize;

use crate::text::clean;

/// A setting that is not the same in two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct DifferentSetting {
    /// What it is a setting of: a fixed key.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// What the source has; `None` where it does not say.
    pub source: Option<String>,
    /// What the target has.
    pub target: Option<String>,
}

impl DifferentSetting {
    /// Those of two lists of names and values, in the order of the source.
    pub fn between(kind: &'static str, [source, target]: [&[(String, String)]; 2]) -> Vec<Self> {
        let value = |list: &[(String, String)], name: &str| {
            list.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
        };
        let of_target = target.iter().filter(|(name, _)| value(source, name).is_none());
        let rows = source.iter().chain(of_target).map(|(name, _)| Self {
            kind,
            name: name.clone(),
            source: value(source, name),
            target: value(target, name),
        });
        rows.filter(|row| row.source != row.target).collect()
    }

    /// What both runs have.
    pub fn values(&self) -> [Option<&str>; 2] {
        [self.source.as_deref(), self.target.as_deref()]
    }

    /// The values as words of a sentence.
    pub fn said(&self) -> [String; 2] {
        self.values().map(|value| match value {
            None => "not said".to_owned(),
            Some("") => "none".to_owned(),
            Some(value) => clean(value).into_owned(),
        })
    }
}
