//! Conclusions from two snapshots: sentences without their full stop, each with the numbers that it is drawn from.
//!
//! Better or worse is only said if both runs ended and were recorded as a whole: a run that failed might have needed
//! more, and so might the time before a window. Sentences about the peak are about bytes alive there, not about all
//! that the run allocated.

use super::figures::SnapshotFigure;
use super::{ComparedSide, PeakMoment};
use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::{Difference, share_of_it};
use crate::run::compared::amounts::Both;
use crate::run::compared::names::Owner;
use crate::run::compared::rows::{Category, OwnerRow};
use crate::run::{Compared, Conclusion, Evidence};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::run_end::{Ended, Recorded};
use crate::text::{capitalised, clean, counted};

/// Changes of functions that are named, each way.
const MOST_NAMED: usize = 3;
/// A change that is named is at least this part of the larger peak.
const LEAST_PART: u64 = 200;

/// What follows from a comparison; `size` writes bytes.
pub(super) fn conclusions(
    compared: &Compared,
    sides: [&ComparedSide; 2],
    size: &dyn Fn(u64) -> String,
) -> Vec<Conclusion> {
    let mut said = SnapshotConclusions { compared, sides, size, conclusions: Vec::new() };
    said.not_whole();
    said.conclusions.extend(compared.settings_conclusion("Settings of the allocator", usize::MAX));
    said.peak();
    said.categories();
    said.functions();
    said.recomputed();
    said.peak_moved();
    said.reserved();
    said.conclusions
}

struct SnapshotConclusions<'a> {
    compared: &'a Compared,
    sides: [&'a ComparedSide; 2],
    size: &'a dyn Fn(u64) -> String,
    conclusions: Vec<Conclusion>,
}

const SIDES: [&str; 2] = ["source", "target"];

impl SnapshotConclusions<'_> {
    fn say(&mut self, conclusion: Conclusion) {
        self.conclusions.push(conclusion);
    }

    fn figure(&self, figure: SnapshotFigure) -> Difference {
        Difference::of(self.sides.map(|side| Some(figure.of(side))))
    }

    /// The figure as what a conclusion is drawn from.
    fn evidence(&self, figure: SnapshotFigure) -> Vec<Evidence> {
        vec![Evidence::change(figure.title(), Unit::Bytes, self.figure(figure))]
    }

    /// Whether both sides have events, so that there is a peak.
    fn have_peaks(&self) -> bool {
        self.sides.iter().all(|side| side.took.recorded != Recorded::Nothing)
    }

    /// A figure of the target in place of that of the source, with its percent where both are more than lower bounds.
    fn in_place_of(&self, figure: SnapshotFigure) -> String {
        let sides = self.sides;
        let [from, to] = sides.map(|side| {
            let least = if figure.is_at_least(&side.took) { "at least " } else { "" };
            format!("{least}{}", (self.size)(figure.of(side)))
        });
        let share = match sides.map(|side| figure.is_at_least(&side.took)) {
            [false, false] => share_of_it(figure.of(sides[1]), figure.of(sides[0])),
            _ => String::new(),
        };
        format!("{to} instead of {from}{share}")
    }

    /// Whether less is better, of what is known to be comparable.
    fn judged(&self, figure: &Difference) -> Option<bool> {
        let are_whole = self.sides.iter().all(|side| side.is_whole());
        figure.is_less().filter(|_| are_whole)
    }

    fn not_whole(&mut self) {
        let mut texts = Vec::new();
        for (side, name) in self.sides.iter().zip(SIDES) {
            let facts = &side.facts;
            if side.took.is_cut {
                texts.push(format!(
                    "The file of the {name} ends before its contents do: \
                    statements about it cover only the part that could be read"
                ));
            }
            match side.took.recorded {
                Recorded::Nothing if !side.took.is_cut => texts.push(format!(
                    "The {name} has no events: its peak is the memory in use when the snapshot \
                    was taken"
                )),
                Recorded::Window => texts.push(format!(
                    "The events of the {name} begin when {} of {} {} there already: its peaks are those of the recorded window",
                    counted(facts.start.live_blocks, "block"),
                    (self.size)(facts.start.requested_bytes),
                    if facts.start.live_blocks == 1 { "was" } else { "were" }
                )),
                _ => {}
            }
            if side.took.ending == Ended::OutOfMemory {
                texts.push(format!(
                    "The {name} did not run to its end: its peaks might have been higher"
                ));
            }
        }
        for text in texts {
            self.say(Conclusion::new("not-whole", text));
        }
    }

    fn peak(&mut self) {
        let figure = self.figure(SnapshotFigure::RequestedPeak);
        let evidence = self.evidence(SnapshotFigure::RequestedPeak);
        let [source, target] = self.sides;
        // Without events there is no peak, but what was there at the end.
        if !self.have_peaks() {
            let what = [source, target].map(|side| match side.took.recorded {
                Recorded::Nothing => "were there when the snapshot was taken",
                _ => "were asked for at the peak",
            });
            let [from, to] =
                [source, target].map(|side| (self.size)(SnapshotFigure::RequestedPeak.of(side)));
            let text = format!(
                "{from} {} of the source, {to} {} of the target: these figures are not of the \
                same kind",
                what[0], what[1]
            );
            self.say(Conclusion { evidence, ..Conclusion::new("peak", text) });
            return;
        }
        let device = match (source.device_title(), target.device_title()) {
            (source, target) if source == target => source,
            (source, target) => format!("{source} and {target}"),
        };
        let to = SnapshotFigure::RequestedPeak.of(target);
        let mut rows = self.compared.peaks.iter().flat_map(|peaks| &peaks.rows);
        let is_same = rows.all(|row| row.both.source == row.both.target);
        let (id, text) = match figure.change().unwrap_or(0) {
            0 if is_same => (
                "equal",
                format!(
                    "The requested peak of {device} is the same, {}, and consists of the same blocks",
                    (self.size)(to)
                ),
            ),
            0 => (
                "peak",
                format!(
                    "The requested peak of {device} is the same, {}, of other blocks",
                    (self.size)(to)
                ),
            ),
            change => {
                let word = if change < 0 { "less" } else { "more" };
                let text = format!(
                    "The requested peak of {device} is {} {word}: {}",
                    (self.size)(change.unsigned_abs()),
                    self.in_place_of(SnapshotFigure::RequestedPeak)
                );
                ("peak", text)
            }
        };
        let is_better = self.judged(&figure);
        self.say(Conclusion { is_better, evidence, ..Conclusion::new(id, text) });
    }

    /// The change by category: the numbers add up to it.
    fn categories(&mut self) {
        let changed = self.compared.peaks.iter().flat_map(|peaks| &peaks.by_category);
        let mut changed: Vec<_> =
            changed.filter(|(_, both)| both.bytes().change() != Some(0)).collect();
        if changed.is_empty() {
            return;
        }
        changed.sort_by_key(|(_, both)| std::cmp::Reverse(both.bytes().magnitude()));
        let part = |(category, both): &&(Category, Both)| {
            let change = both.bytes().change().unwrap_or(0);
            let size = crate::text::signed(change, |bytes| (self.size)(bytes));
            format!("{} {size}", plural(*category))
        };
        let parts: Vec<String> = changed.iter().map(part).collect();
        let text = format!("The change of the peak: {}", parts.join(", "));
        let evidence = changed
            .iter()
            .map(|(category, both)| Evidence::change(category.title, Unit::Bytes, both.bytes()));
        let evidence = evidence.collect();
        self.say(Conclusion { evidence, ..Conclusion::new("categories", text) });
    }

    /// The functions with the largest changes, first what went, then what came.
    fn functions(&mut self) {
        let compared = self.compared;
        let Some(peaks) = &compared.peaks else { return };
        let most = self.sides.iter().map(|side| side.took.requested_peak_bytes).max();
        let least = (most.unwrap_or(0) / LEAST_PART).max(1);
        for (id, is_less) in [("less", true), ("more", false)] {
            let wanted = peaks.by_owner_and_category.iter().filter(|row| {
                let change = row.both.bytes().change().unwrap_or(0);
                (change < 0) == is_less && change.unsigned_abs() >= least
            });
            for row in wanted.take(MOST_NAMED) {
                let text = self.of_function(row);
                let what = row.category.map_or("Blocks", |category| category.title);
                let evidence = vec![Evidence::change(what, Unit::Bytes, row.both.bytes())];
                self.say(Conclusion { evidence, ..Conclusion::new(id, text) });
            }
        }
    }

    fn of_function(&self, row: &OwnerRow) -> String {
        let what = row.category.map_or("Blocks", plural);
        let place = match &row.owner {
            None => "without a Python stack".to_owned(),
            Some(function) => format!("in {}", in_file(function)),
        };
        let Both { source, target } = row.both;
        let change = (self.size)(source.bytes.abs_diff(target.bytes));
        let what = capitalised(what);
        let word = if target.bytes < source.bytes { "less" } else { "more" };
        let rest = match (source.count, target.count) {
            (1, 0) => "its block is not alive at the target's peak".to_owned(),
            (blocks, 0) => {
                format!("none of the {} is alive at the target's peak", counted(blocks, "block"))
            }
            (0, blocks) => {
                format!("{} that the source's peak does not have", counted(blocks, "block"))
            }
            _ => format!("{} instead of {}", (self.size)(target.bytes), (self.size)(source.bytes)),
        };
        format!("{what} allocated {place} are {change} {word}: {rest}")
    }

    fn recomputed(&mut self) {
        let [source, target] = self.sides.map(|side| side.recomputed);
        let text = match (source, target) {
            (0, 0) => return,
            (0, count) => format!(
                "The target computes activations again in the backward pass ({} below torch/utils/checkpoint.py), the source does not",
                counted(count, "allocation")
            ),
            (count, 0) => format!(
                "The source computes activations again in the backward pass ({} below torch/utils/checkpoint.py), the target does not",
                counted(count, "allocation")
            ),
            (a, b) if a == b => return,
            (a, b) => format!(
                "Both compute activations again in the backward pass, with {} in the source and {} in the target",
                counted(a, "allocation"),
                counted(b, "allocation")
            ),
        };
        let figure = Difference::of([Some(source), Some(target)]);
        let evidence = vec![Evidence::change("Allocations", Unit::Count, figure)];
        self.say(Conclusion { evidence, ..Conclusion::new("recomputed", text) });
    }

    fn peak_moved(&mut self) {
        if !self.have_peaks() {
            return;
        }
        let [source, target] = self.sides.map(|side| place_of(&side.peak));
        if let (Some(source), Some(target)) = (source, target)
            && source != target
        {
            let text = format!("The peak moved: it was {source}, and is {target}");
            self.say(Conclusion::new("peak-moved", text));
        }
    }

    fn reserved(&mut self) {
        let figure = self.figure(SnapshotFigure::MaxReserved);
        let change = figure.change().unwrap_or(0);
        if change == 0 || !self.have_peaks() {
            return;
        }
        let word = if change < 0 { "less" } else { "more" };
        let text = format!(
            "PyTorch reserves {} {word} at its peak: {}",
            (self.size)(change.unsigned_abs()),
            self.in_place_of(SnapshotFigure::MaxReserved)
        );
        let is_better = self.judged(&figure);
        let evidence = self.evidence(SnapshotFigure::MaxReserved);
        self.say(Conclusion { is_better, evidence, ..Conclusion::new("reserved", text) });
    }
}

/// Where a peak is, in words that two runs can share: neither lines nor numbers of events; `None` where no stack says.
fn place_of(peak: &PeakMoment) -> Option<String> {
    if peak.event < 0 {
        return Some("before the first event".to_owned());
    }
    let action = match peak.action {
        Some(crate::store::snapshot::Action::Alloc) | None => "an allocation",
        Some(action) => action.as_str(),
    };
    let place = match &peak.function {
        Some(function) => format!("{action} in {}", in_file(function)),
        None if peak.has_stacks => {
            format!("{action} without a Python stack, as the backward pass makes them")
        }
        None => return None,
    };
    Some(match peak.annotations.last() {
        Some(within) => format!("{place}, within {}", clean(within)),
        None => place,
    })
}

/// `forward of train.py`.
fn in_file(function: &Owner) -> String {
    let name = clean(&function.name);
    match &function.file {
        Some(file) => {
            let file = file.rsplit('/').next().unwrap_or(file);
            format!("{name} of {}", clean(file))
        }
        None => name.into_owned(),
    }
}

/// Several of a category, within a sentence.
fn plural(category: Category) -> &'static str {
    let known = BlockCategory::ALL.into_iter().find(|one| one.as_str() == category.key);
    match known.unwrap_or(BlockCategory::Unknown) {
        BlockCategory::Parameter => "parameters",
        BlockCategory::Gradient => "gradients",
        BlockCategory::OptimizerState => "optimizer state",
        BlockCategory::AutocastCache => "autocast copies of parameters",
        BlockCategory::Input => "inputs",
        BlockCategory::Activation => "activations",
        BlockCategory::Temporary => "temporaries",
        BlockCategory::Workspace => "workspaces",
        BlockCategory::Unknown => "blocks of unknown purpose",
    }
}
