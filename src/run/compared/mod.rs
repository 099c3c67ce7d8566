//! Two runs of one system, compared by their peaks: what each took, what is alive at the peak of each, settings that
//! differ, and what follows.
//!
//! A system gives a [`Side`] of each run by [`crate::run::Answers::compared_side`]; all else is worked out here, alike
//! for all. Steps of the runs need nothing in common.

pub mod amounts;
pub mod figures;
pub mod names;
pub mod rows;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use self::figures::{ComparedFigure, FigureOfRun};
use self::names::Names;
use self::rows::{Level, Matching, Peaks, Thing};
use super::room::StatedRoom;
use super::setting::DifferentSetting;
use super::{Conclusion, Room};
use crate::analysis::derived::Derived;
use crate::format::Error;

/// A table of what is alive at the peaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeakTab {
    /// The rows.
    Rows,
    /// Their sums by owner and category.
    Owners,
}

/// How runs of a system are compared by their peaks, and in which words.
#[derive(Debug)]
pub struct ComparedWords {
    /// How things of two runs are matched.
    pub matching: Matching,
    /// What a setting is a setting of: a fixed key.
    pub setting: &'static str,
    /// Where no setting differs.
    pub no_setting: &'static str,
    /// Whether owners are operations; else they are functions, which stand for modules.
    pub are_owners_operations: bool,
    /// What an owner is called: "Function".
    pub owner: &'static str,
    /// What things without an owner are called.
    pub nobody: &'static str,
    /// What stands beside the owner of a row: "Called by".
    pub detail: &'static str,
    /// What is counted: "blocks".
    pub counted: &'static str,
    /// What each that is counted is called, where all of a row can be of one size: "Each block".
    pub each: Option<&'static str>,
    /// Above the sums by owner.
    pub by_owner: &'static str,
    /// Above the rows.
    pub by_row: &'static str,
    /// The tables of the window with their titles, in their order.
    pub tabs: [(PeakTab, &'static str); 2],
    /// Above what is alive by category.
    pub at_peaks: &'static str,
    /// What peaks are compared: "Requested peaks".
    pub peaks: &'static str,
    /// What the rows of tables add up to.
    pub adds_up: &'static str,
    /// Where nothing is known of what is alive.
    pub no_peaks: &'static str,
    /// What memory goes by, which is not matched: "events".
    pub steps: &'static str,
    /// What has memory, and what stands for the one that is meant if the user names none.
    pub device: [&'static str; 2],
}

impl ComparedWords {
    /// Of a system that has no words of its own: things are matched by their owners, which are operations.
    pub const GENERAL: Self = Self {
        matching: Matching {
            levels: &[Level {
                by: Some("operation"),
                key: |names, thing| {
                    let owner = names.owner_number(thing.kind.path)?;
                    Some([owner.into(), thing.category.place.into(), 0])
                },
                is_of_owner_alone: false,
            }],
            is_one_to_one: false,
        },
        setting: "setting",
        no_setting: "No setting differs",
        are_owners_operations: true,
        owner: "Operation",
        nobody: "no operation",
        detail: "Shape",
        counted: "variables",
        each: None,
        by_owner: "By operation",
        by_row: "By operation and category",
        tabs: [(PeakTab::Owners, "By operation"), (PeakTab::Rows, "By operation and category")],
        at_peaks: "At the peaks",
        peaks: "Peaks",
        adds_up: "what is alive at the peak of each; adds up to both peaks",
        no_peaks: "A run does not say what is alive",
        steps: "steps",
        device: ["Device", "First device"],
    };
}

/// The peak of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeakOfSide {
    /// Bytes that are alive and compared.
    pub bytes: u64,
    /// Bytes of them that are not there throughout.
    pub not_always_live_bytes: u64,
    /// The step, by the number that the system gives it; `None` where it has none.
    pub step: Option<i64>,
}

/// What a system knows of a side beside what all have.
#[derive(Clone)]
pub struct Own(Arc<dyn Any + Send + Sync>);

impl Own {
    /// Of a system's own facts.
    pub fn new<T: Any + Send + Sync>(facts: T) -> Self {
        Self(Arc::new(facts))
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Own")
    }
}

/// One of two runs, as its system gives it.
#[derive(Clone, Debug)]
pub struct Side {
    /// The number of the device.
    pub device: i64,
    /// What that is called.
    pub title: String,
    /// The peak; `None` where it is not known.
    pub peak: Option<PeakOfSide>,
    /// The peak in words: `862 MiB (903,778,312 B) at event 1,800`.
    pub peak_text: String,
    /// Bytes that are there throughout, within the peak or beside it.
    pub always_live_bytes: u64,
    /// What the run took.
    pub figures: Vec<FigureOfRun>,
    /// The settings that it was made with.
    pub settings: Vec<(String, String)>,
    /// What the device has, as something beside the run states it.
    pub stated: StatedRoom,
    /// What is alive at the peak, by [`Names`] of both sides; `None` where it is not known.
    pub alive: Option<Vec<Thing>>,
    /// What only the system knows.
    pub own: Own,
}

impl Side {
    /// What only the system knows, if it is of its type.
    pub fn own<T: Any>(&self) -> Option<&T> {
        self.own.0.downcast_ref()
    }
}

/// Two runs, compared.
#[derive(Clone, Debug)]
pub struct Compared {
    /// How their system compares.
    pub words: &'static ComparedWords,
    /// Source and target; what is alive in them is in `peaks`.
    pub sides: [Side; 2],
    /// Settings that differ, in the order of the source.
    pub settings: Vec<DifferentSetting>,
    /// What each took.
    pub figures: Vec<ComparedFigure>,
    /// What is alive at the peak of each; `None` where it is not known of both.
    pub peaks: Option<Peaks>,
}

impl Compared {
    /// Compares the devices of a number, or those that say most; `None` where the system does not compare by peaks.
    ///
    /// # Errors
    /// When a side does not have the device, or nothing that could be compared.
    pub fn of(both: [&Derived; 2], device: Option<i64>) -> Result<Option<Self>, Error> {
        let [source, target] = both;
        let Some(words) = source.answers().compared_words() else { return Ok(None) };
        let mut names = Names::default();
        let first = source.answers().compared_side(source, device, &mut names)?;
        let second = target.answers().compared_side(target, device, &mut names)?;
        let (Some(mut first), Some(mut second)) = (first, second) else { return Ok(None) };
        let alive = first.alive.take().zip(second.alive.take());
        let peaks = alive.map(|(a, b)| Peaks::of(names, [a, b], &words.matching));
        let settings = [&*first.settings, &*second.settings];
        Ok(Some(Self {
            words,
            settings: DifferentSetting::between(words.setting, settings),
            figures: ComparedFigure::of_runs(&[&first.figures, &second.figures]),
            peaks,
            sides: [first, second],
        }))
    }

    /// What only the system knows of both sides.
    pub fn own<T: Any>(&self) -> Option<[&T; 2]> {
        let [source, target] = &self.sides;
        Some([source.own()?, target.own()?])
    }

    /// What follows, as the system of the source says it; `size` writes bytes.
    pub fn conclusions(
        &self,
        source: &Derived,
        room: Room,
        size: &dyn Fn(u64) -> String,
    ) -> Vec<Conclusion> {
        source.answers().change_conclusions(self, room, size)
    }
}
