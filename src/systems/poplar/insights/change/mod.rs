//! The effect of a change to the program: the conclusions of a comparison, each with the numbers that it is drawn from.
//!
//! - The first says whether it fits, before and after, also where that is not known.
//! - Better or worse is only said of what is known to be a gain or a loss. Where both fit, memory that is saved is
//!   none by itself. How fast it is, is judged by samples per second, and by cycles only where the batch, the runs
//!   and the clock are known to be the same.
//! - Bytes of all tiles of different machines are not judged.
//!
//! Figures are those of [`crate::analysis::matched_reports`]: what is alive at each report's own peak, of all tiles
//! together, and what its change consists of. Temporaries are what is not always live there.

mod evidence;
mod fit;
mod machine;
mod memory;
mod peak;
mod plans;
mod speed;
#[cfg(test)]
mod tests;

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

pub use self::evidence::{ChangeEvidence, EvidenceValues};
use self::fit::FitOfBoth;
use crate::analysis::comparison::contribution::{
    Contribution, Contributor, Grouping, LifePart, OperationName,
};
use crate::analysis::comparison::explanation::Explanation;
use crate::analysis::comparison::figures::Unit;
use crate::analysis::comparison::options::OptionDifference;
use crate::analysis::comparison::plans::Plans;
use crate::analysis::figures::difference::Difference;
use crate::analysis::memory::category_title;
use crate::run::{Compared, Conclusion, Evidence as RunEvidence};
use crate::store::Report;
use crate::text::{signed, signed_percent, words};

/// Contributions that are named for each figure.
const LARGEST: usize = 3;

words! {
    /// What a conclusion is about; its key is its id in JSON.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ChangeKind by id {
        /// Whether it fits: bytes that tiles are over; where both fit, bytes on the fullest tile.
        Fits = "fits",
        /// That the reports are for different machines.
        DifferentTargets = "different-targets",
        EqualPlans = "equal-plans",
        /// That the planner is at the minimum of memory.
        PlannerAtMinimum = "planner-at-minimum",
        /// Samples per second.
        Throughput = "throughput",
        /// Cycles of the recorded runs.
        Cycles = "cycles",
        /// That the peak is at another step.
        PeakMoved = "peak-moved",
        /// What is not always live at the peak.
        Temporaries = "temporaries",
        AlwaysLive = "always-live",
        /// Temporaries against always live: the peak as a whole.
        Trade = "trade",
        /// The fullest tile, where it went another way than the peak.
        Balance = "balance",
        /// Operations that are computed in another way.
        ChangedPlans = "changed-plans",
        /// That it is not known what became of operations.
        PlansNotKnown = "plans-not-known",
    }
}

/// A conclusion. In JSON `bytes` and `cycles` are the first figures of these units among its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeInsight {
    pub kind: ChangeKind,
    /// Whole sentences without the last full stop. Bytes are in the evidence alone, for whoever shows them
    /// chooses their unit.
    pub what: String,
    /// `None` where it is neither, or not known.
    pub is_better: Option<bool>,
    /// What it is drawn from; what has a title belongs to the text.
    pub evidence: Vec<ChangeEvidence>,
    /// What contributes most to the change, largest first.
    pub largest: Vec<LargestChange>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LargestChange {
    /// The category, by its name in the file.
    pub category: Option<String>,
    pub operation: Option<OperationName>,
    pub bytes: Difference,
}

impl ChangeInsight {
    fn new(kind: ChangeKind, what: impl Into<String>, is_better: Option<bool>) -> Self {
        let (evidence, largest) = (Vec::new(), Vec::new());
        Self { kind, what: what.into(), is_better, evidence, largest }
    }

    fn with(mut self, evidence: impl IntoIterator<Item = ChangeEvidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// The first figure of a unit.
    pub fn figure(&self, unit: Unit) -> Option<Difference> {
        self.evidence.iter().find_map(|evidence| match evidence.values {
            EvidenceValues::Number(of, figure) if of == unit => Some(figure),
            _ => None,
        })
    }

    /// The conclusion in full without the last full stop: its sentences, the figures that belong to them, and what
    /// contributes most, bytes as `size` writes them.
    pub fn text(&self, size: &dyn Fn(u64) -> String) -> String {
        let figures = self.evidence.iter().filter_map(|evidence| evidence.text(size));
        let largest: Vec<String> =
            self.largest.iter().filter_map(|largest| largest.text(size)).collect();
        let most = (!largest.is_empty()).then(|| format!("Most: {}", largest.join(", ")));
        let sentences = std::iter::once(self.what.clone()).chain(figures).chain(most);
        sentences.collect::<Vec<_>>().join(". ")
    }

    /// The same as all systems have it.
    fn conclusion(&self, size: &dyn Fn(u64) -> String) -> Conclusion {
        let evidence = self.evidence.iter().filter_map(|evidence| evidence.of_run(size));
        let largest = self.largest.iter().filter_map(|largest| {
            Some(RunEvidence::change(largest.name()?, Unit::Bytes, largest.bytes))
        });
        Conclusion {
            id: self.kind.id(),
            text: self.text(size),
            is_better: self.is_better,
            evidence: evidence.chain(largest).collect(),
        }
    }
}

impl LargestChange {
    fn name(&self) -> Option<String> {
        let category = self.category.as_deref().map(category_title);
        category.or_else(|| self.operation.as_ref().map(OperationName::in_words))
    }

    /// `layer1.2.conv2 (convolution) −690.2 MiB (−99.7 %)`.
    fn text(&self, size: &dyn Fn(u64) -> String) -> Option<String> {
        let (name, change) = (self.name()?, signed(self.bytes.change()?, size));
        let percent = self.bytes.percent().map(|percent| format!(" ({})", signed_percent(percent)));
        Some(format!("{name} {change}{}", percent.unwrap_or_default()))
    }
}

impl Serialize for ChangeInsight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("ChangeInsight", 7)?;
        object.serialize_field("kind", &self.kind)?;
        object.serialize_field("what", &self.what)?;
        object.serialize_field("bytes", &self.figure(Unit::Bytes))?;
        object.serialize_field("cycles", &self.figure(Unit::Cycles))?;
        object.serialize_field("is_better", &self.is_better)?;
        object.serialize_field("largest", &self.largest)?;
        object.serialize_field("evidence", &self.evidence)?;
        object.end()
    }
}

/// What conclusions are drawn from, beside the reports. What is `None` is not known.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownChange<'a> {
    /// What the change of the peaks of everything consists of.
    pub peak: Option<&'a Explanation>,
    /// Where the peak has moved: what changed at the source's peak and at the target's.
    pub moved: Option<&'a [Option<Explanation>; 2]>,
    pub plans: Option<&'a Plans>,
    pub options: &'a [OptionDifference],
}

/// The conclusions from two reports whose steps are matched; none of others.
pub fn insights_of(compared: &Compared) -> Vec<ChangeInsight> {
    let Some(matched) = &compared.matched else { return Vec::new() };
    let [source, target] = matched.reports();
    let known = KnownChange {
        peak: matched.peak.as_ref(),
        moved: matched.moved_peak.as_ref(),
        plans: matched.plans.as_ref(),
        options: &compared.settings,
    };
    change_insights(source, target, &known)
}

/// The same as all systems have them; `size` writes bytes.
pub fn conclusions_of(compared: &Compared, size: &dyn Fn(u64) -> String) -> Vec<Conclusion> {
    insights_of(compared).iter().map(|insight| insight.conclusion(size)).collect()
}

/// The conclusions, in the order of [`ChangeKind`]; but for whether it fits, what has not changed is left out.
pub fn change_insights(
    source: &Report,
    target: &Report,
    known: &KnownChange<'_>,
) -> Vec<ChangeInsight> {
    let reports = [source, target];
    let fit = FitOfBoth::of(reports);
    let peak = known.peak.map(|found| found.whole.of(LifePart::All));
    let of_peak = known.peak.into_iter().flat_map(|found| {
        let temporaries = memory::temporaries(found, &fit, known.moved.is_some());
        [temporaries, memory::always_live(found, &fit), memory::trade(found, &fit)]
    });
    std::iter::once(fit.insight())
        .chain(machine::different_targets(reports))
        .chain(plans::equal_plans(reports, known))
        .chain(plans::planner_at_minimum(reports, known))
        .chain(speed::speed(reports))
        .chain(known.peak.zip(known.moved).map(|(peaks, moved)| peak::moved(reports, peaks, moved)))
        .chain(of_peak.flatten())
        .chain(memory::balance(peak, &fit))
        .chain(plans::changed_plans(reports, known))
        .collect()
}

/// The largest contributions that have a name.
fn largest(rows: &Grouping, part: LifePart) -> Vec<LargestChange> {
    let named = rows.ranked(part).into_iter().filter_map(|(row, bytes)| {
        let Contribution { contributor, .. } = row;
        let (category, operation) = match contributor {
            Contributor::Category(name) => (Some(name.clone()), None),
            Contributor::Operation(name) => (None, Some(name.clone())),
            _ => return None,
        };
        Some(LargestChange { category, operation, bytes })
    });
    named.take(LARGEST).collect()
}
