//! The figures of runs side by side.

use serde::Serialize;
use serde_json::{Value, json};

use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::{Difference, percent_of};

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureOfRun {
    /// Its name in JSON.
    pub key: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// How much; `None` where it is not known.
    pub value: Option<u64>,
    /// Whether it is a lower bound.
    pub is_at_least: bool,
}

/// A figure of several runs, the first of which is the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedFigure {
    /// Its name in JSON.
    pub key: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// Of each run.
    pub values: Vec<Option<u64>>,
    /// Which of them are lower bounds.
    pub are_at_least: Vec<bool>,
}

impl ComparedFigure {
    /// Those of runs of one system, which all have the same ones.
    pub fn of_runs(runs: &[&[FigureOfRun]]) -> Vec<Self> {
        let first = runs.first().copied().unwrap_or_default();
        let figure = |figure: &FigureOfRun| {
            let of_run =
                |run: &&[FigureOfRun]| run.iter().find(|other| other.key == figure.key).copied();
            let all: Vec<Option<FigureOfRun>> = runs.iter().map(of_run).collect();
            Self {
                key: figure.key,
                title: figure.title,
                unit: figure.unit,
                values: all.iter().map(|one| one.and_then(|one| one.value)).collect(),
                are_at_least: all
                    .iter()
                    .map(|one| one.is_some_and(|one| one.is_at_least))
                    .collect(),
            }
        };
        first.iter().map(figure).collect()
    }

    /// Of a run.
    pub fn value(&self, place: usize) -> Option<u64> {
        self.values.get(place).copied().flatten()
    }

    /// Of a run beside that of the first.
    pub fn difference(&self, place: usize) -> Difference {
        Difference::of([self.value(0), self.value(place)])
    }

    /// Of a run in percent of the first's, one decimal, half up.
    pub fn percent_of_source(&self, place: usize) -> Option<f64> {
        percent_of(self.value(place)?, self.value(0)?)
    }

    /// The figure of a run beside that of the first, for programs.
    pub fn json(&self, place: usize) -> Value {
        let difference = self.difference(place);
        json!({
            "key": self.key,
            "title": self.title,
            "unit": self.unit.key(),
            "source": difference.source,
            "target": difference.target,
            "difference": difference.change(),
            "percent": difference.percent(),
            "percent_of_source": self.percent_of_source(place),
        })
    }
}

/// A number of both runs that a conclusion is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Change {
    /// What it counts.
    pub unit: &'static str,
    /// Both values, with their difference.
    #[serde(flatten)]
    pub figure: Difference,
}
