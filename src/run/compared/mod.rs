//! Two runs of one system, compared: the memory that each took, what is alive at each peak, settings that differ, and
//! conclusions.
//!
//! A system gives a [`RunSide`] of each run by [`crate::run::Answers::compared_side`]; all else is worked out here, alike
//! for all. Where steps of the runs are matched, the peaks are explained by what is matched with what; else by the
//! things that are alive at them, and steps need nothing in common.

pub mod amounts;
mod fits;
pub mod names;
mod of_answers;
pub mod rows;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use self::names::{SharedNames, TextId};
use self::rows::{MatchLevel, MatchRules, Peaks, Thing};
use super::{Conclusion, Evidence, Need, Room};
use crate::analysis::comparison::contribution::LifePart;
use crate::analysis::comparison::figures::{Figure, Unit, figures};
use crate::analysis::comparison::moment::ScopeStep;
use crate::analysis::comparison::options::{OptionDifference, OptionText};
use crate::analysis::derived::{Derived, DerivedPair};
use crate::analysis::figures::difference::Difference;
use crate::analysis::liveness::Scope;
use crate::analysis::matched_reports::MatchedReports;
use crate::analysis::memory;
use crate::format::Error;
use crate::text::{clean, shortened, signed_percent};

/// The conclusion that says whether runs fit.
const FITS: &str = "fits";
/// Settings that a sentence names.
const MOST_NAMED: usize = 3;

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
    pub matching: MatchRules,
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
    /// Whether a capacity that is stated beside one run counts for both: it is that of the machine.
    pub is_capacity_of_machine: bool,
    /// What has memory, and what stands for the one that is meant if the user names none.
    pub device: [&'static str; 2],
}

impl ComparedWords {
    /// Of a system that has no words of its own: variables are matched by their operations and their names.
    pub const GENERAL: Self = Self {
        matching: MatchRules {
            levels: &[MatchLevel {
                by: None,
                key: |names, thing| {
                    let owner = names.owner_number(thing.kind.path).map(u64::from);
                    let name = thing.kind.detail.map(TextId::number);
                    Some([owner.unwrap_or(u64::MAX), name.unwrap_or(u64::MAX), 0])
                },
                is_of_owner_alone: false,
            }],
            is_one_to_one: false,
        },
        no_setting: "No option, version or machine differs",
        are_owners_operations: true,
        owner: "Operation",
        nobody: "no operation",
        detail: "Variable",
        counted: "variables",
        each: None,
        by_owner: "By operation",
        by_row: "By operation and variable",
        tabs: [(PeakTab::Rows, "By operation and variable"), (PeakTab::Owners, "By operation")],
        at_peaks: "At the peaks",
        peaks: "Peaks",
        adds_up: "bytes alive at the peak of each run; they add up to both peaks",
        no_peaks: "One of the runs does not say what is alive",
        steps: "steps",
        is_capacity_of_machine: false,
        device: ["Device", "All devices"],
    };
}

/// The peak of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeakOfSide {
    /// Bytes that are alive, the same as the peak of [`crate::run::PeakOfRun`] has.
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
pub struct RunSide {
    /// The number of the device; `None` of the whole run.
    pub device: Option<i64>,
    /// What that is called; empty of the whole run.
    pub title: String,
    /// The peak; `None` where it is not known.
    pub peak: Option<PeakOfSide>,
    /// The peak in words: `862 MiB (903,778,312 B) at event 1,800`.
    pub peak_text: String,
    /// Bytes that are there throughout, a part of the peak.
    pub always_live_bytes: Option<u64>,
    /// What the run took.
    pub figures: Vec<Figure>,
    /// The settings that it was made with.
    pub settings: Vec<OptionText>,
    /// What the device must have for it.
    pub need: Need,
    /// What is alive at the peak, by [`SharedNames`] of both sides; `None` where it is not known.
    pub alive: Option<Vec<Thing>>,
    /// What only the system knows.
    pub own: Own,
}

impl PeakOfSide {
    /// Of all devices of a report; `None` where its curve or what is always live is not known.
    pub fn of_report(derived: &Derived) -> Option<Self> {
        let timeline = derived.timeline(Scope::Everything, &|| false)?;
        let alive = ScopeStep::peak(&timeline.curve, Scope::Everything)?;
        let step = derived.report().steps.get().and_then(|steps| steps.ids.get(alive.moment.step));
        Some(Self {
            bytes: u64::try_from(alive.bytes.sum()).ok()?,
            not_always_live_bytes: u64::try_from(alive.bytes.not_always_live).ok()?,
            step: step.map(|step| step.0.into()),
        })
    }
}

impl RunSide {
    /// A report whose steps are matched with those of another: all of its devices together.
    pub fn of_report(derived: &Derived) -> Self {
        let report = derived.report();
        let run = derived.with_timeline(Scope::Everything, &|| false);
        let totals = report.memory.get().map(|of| memory::totals(of, report.target.get()));
        Self {
            device: None,
            title: String::new(),
            peak: PeakOfSide::of_report(derived),
            peak_text: String::new(),
            always_live_bytes: totals.and_then(|totals| totals.always_live_bytes),
            figures: figures(&[run]),
            settings: OptionText::all(report),
            need: derived.answers().need(derived, None).unwrap_or_default(),
            alive: None,
            own: Own::new(()),
        }
    }

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
    pub sides: [RunSide; 2],
    /// Settings that differ, in the order of the source.
    pub settings: Vec<OptionDifference>,
    /// What each took.
    pub figures: Vec<Figure>,
    /// What is alive at the peak of each; `None` where it is not known of both.
    pub peaks: Option<Peaks>,
    /// What follows from matched steps, where those of both are.
    pub matched: Option<Arc<MatchedReports>>,
}

impl Compared {
    /// Compares the devices of a number, or those that say most; `None` where a run has nothing that could be compared.
    /// Of runs whose steps are matched, `pair` says how; without, that is worked out.
    ///
    /// # Errors
    /// When a side does not have the device, or nothing that could be compared.
    pub fn of(
        both: [&Derived; 2],
        pair: Option<&Arc<DerivedPair>>,
        device: Option<i64>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Self>, Error> {
        let [source, target] = both;
        let words = source.answers().compared_words();
        let mut names = SharedNames::default();
        let first = source.answers().compared_side(source, device, &mut names)?;
        let second = target.answers().compared_side(target, device, &mut names)?;
        let (Some(mut first), Some(mut second)) = (first, second) else { return Ok(None) };
        let alive = first.alive.take().zip(second.alive.take());
        let peaks = alive.map(|(a, b)| Peaks::of(names, &[a, b], &words.matching));
        let settings = [&first, &second].map(|side| side.settings.clone());
        let are_matched = both.iter().all(|run| run.report().system.are_steps_matched);
        let matched = are_matched.then(|| {
            let pair = pair.cloned();
            let pair = pair.unwrap_or_else(|| Arc::new(DerivedPair::of(both, is_cancelled)));
            Arc::new(MatchedReports::of(both, &pair, is_cancelled))
        });
        Ok(Some(Self {
            words,
            settings: OptionText::that_differ(settings.into()),
            figures: Figure::side_by_side(&[&first.figures, &second.figures]),
            peaks,
            matched,
            sides: [first, second],
        }))
    }

    /// What only the system knows of both sides.
    pub fn own<T: Any>(&self) -> Option<[&T; 2]> {
        let [source, target] = &self.sides;
        Some([source.own()?, target.own()?])
    }

    /// Which settings differ, in a sentence; `what` are settings in words, and `letters` how many each value has at most.
    pub fn settings_conclusion(&self, what: &str, letters: usize) -> Option<Conclusion> {
        let named = self.settings.iter().take(MOST_NAMED).map(|setting| {
            let [source, target] = setting.said();
            let [source, target] = [&source, &target].map(|value| shortened(value, letters));
            format!("{} from {source} to {target}", clean(&setting.name))
        });
        let named: Vec<String> = named.collect();
        let more = match self.settings.len().saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let text = format!("{what} differ: {}{more}", named.join(", "));
        (!named.is_empty()).then(|| Conclusion::new("settings", text))
    }

    /// How the peaks of matched runs differ, in a sentence; for systems that say nothing of their own.
    pub fn peak_change(&self, size: &dyn Fn(u64) -> String) -> Option<Conclusion> {
        let peak = self.matched.as_ref()?.peak.as_ref()?;
        let bytes = [LifePart::NotAlwaysLive, LifePart::AlwaysLive].map(|part| peak.whole.of(part));
        let [temporary, always] = bytes.map(|bytes| moved(&bytes, size));
        let text = format!("Temporary memory at the peak {temporary}; always-live memory {always}");
        let [temporary, always] = bytes;
        let evidence = vec![
            Evidence::change("Not always live", Unit::Bytes, temporary),
            Evidence::change("Always live", Unit::Bytes, always),
        ];
        Some(Conclusion { evidence, ..Conclusion::new("peak", text) })
    }

    /// What follows, as the system of the source says it; `size` writes bytes.
    pub fn conclusions(
        &self,
        source: &Derived,
        room: Room,
        size: &dyn Fn(u64) -> String,
    ) -> Vec<Conclusion> {
        let answers = source.answers();
        let are_alike = answers.change_warnings(self).is_empty();
        let mut own = answers.change_conclusions(self, size);
        // What a system says of whether they fit goes by what the files say of the device.
        if room.is_said() {
            own.retain(|conclusion| conclusion.id != FITS);
        }
        let is_said = own.iter().any(|conclusion| conclusion.id == FITS);
        let fits = (!is_said).then(|| self.fit_conclusion(room, are_alike, size)).flatten();
        fits.into_iter().chain(own).collect()
    }
}

fn moved(bytes: &Difference, size: &dyn Fn(u64) -> String) -> String {
    let percent = bytes.percent().map(|percent| format!(" ({})", signed_percent(percent)));
    match bytes.change() {
        None => "cannot be compared".to_owned(),
        Some(0) => "stayed the same".to_owned(),
        Some(change) => {
            let verb = if change > 0 { "rose" } else { "fell" };
            format!("{verb} by {}{}", size(change.unsigned_abs()), percent.unwrap_or_default())
        }
    }
}
