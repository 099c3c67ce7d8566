//! What follows from two programs, in sentences without their full stop, each with the numbers that it is drawn from.
//!
//! Better or worse is only said of whole files of one module that were compiled for the same kind of machine. Nothing is said to be
//! the cause of anything: what changed, and by how much.

use super::rows::PairedBy;
use super::{ComparedProgram, ComparedPrograms, PeakPlace, ProgramFigure, ProgramRow};
use crate::analysis::compared_snapshots::Room;
use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::Difference;
use crate::analysis::variants::percent;
use crate::run::Outcome as ProgramFit;
use crate::systems::poplar::insights::change::Evidence;
use crate::systems::xla::buffer_assignment::categories::ValueCategory;
use crate::text::{capitalised, clean, counted, grouped, path_slashes, shortened, signed, words};

/// Changes of one kind that are named.
const MOST_NAMED: usize = 3;
/// A change that is named is at least this part of the larger peak.
const LEAST_PART: u64 = 200;
/// Letters of a path of an operation.
const LETTERS: usize = 60;

words! {
    /// What a conclusion is about; its key is its id in JSON.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ProgramConclusionKind by id {
        /// Whether it fits.
        Fits = "fits",
        /// What cannot be concluded, and why.
        NotWhole = "not-whole",
        /// That they are other modules.
        Modules = "modules",
        /// That they were compiled for other machines.
        Platforms = "platforms",
        /// Flags of the compilation that differ.
        Settings = "settings",
        /// Parameters that are of other types or dimensions.
        Parameters = "parameters",
        /// What is reserved.
        Total = "total",
        /// What the change of that consists of.
        Parts = "parts",
        /// Parameters whose memory results take over.
        Donated = "donated",
        /// The peak of what is temporary.
        Peak = "peak",
        /// What is no longer there, or less of it.
        Less = "less",
        /// What is there in its place, or more of it.
        More = "more",
        /// That values are computed again.
        Recomputed = "recomputed",
        /// That the peak is somewhere else.
        PeakMoved = "peak-moved",
        /// What temporary allocations have more than is in use.
        Packing = "packing",
        /// That nearly all that is temporary is tables.
        OnlyTables = "only-tables",
        /// That both take the same.
        Equal = "equal",
    }
}

/// A conclusion.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramConclusion {
    /// What it is about.
    pub kind: ProgramConclusionKind,
    /// What it says.
    pub text: String,
    /// `None` where it is neither, or not known.
    pub is_better: Option<bool>,
    /// The numbers that it is drawn from.
    pub evidence: Vec<Evidence>,
}

/// What follows from a comparison; `title` is the memory space within a sentence, `size` writes bytes.
pub fn conclusions(
    compared: &ComparedPrograms,
    room: Room,
    title: &str,
    size: &dyn Fn(u64) -> String,
) -> Vec<ProgramConclusion> {
    let mut said = Said { compared, title, size, conclusions: Vec::new() };
    said.fits(room);
    said.not_whole();
    said.modules();
    said.platforms();
    said.settings();
    said.parameters();
    said.total();
    said.parts();
    said.donated();
    said.peak();
    said.rows();
    said.recomputed();
    said.peak_moved();
    said.packing();
    said.only_tables();
    said.conclusions
}

struct Said<'a> {
    compared: &'a ComparedPrograms,
    title: &'a str,
    size: &'a dyn Fn(u64) -> String,
    conclusions: Vec<ProgramConclusion>,
}

const SIDES: [&str; 2] = ["source", "target"];

impl Said<'_> {
    fn say(&mut self, kind: ProgramConclusionKind, text: String) -> &mut ProgramConclusion {
        let (is_better, evidence) = (None, Vec::new());
        self.conclusions.push(ProgramConclusion { kind, text, is_better, evidence });
        let last = self.conclusions.len().saturating_sub(1);
        &mut self.conclusions[last]
    }

    fn values(&self, figure: ProgramFigure) -> [Option<u64>; 2] {
        self.compared.sides.each_ref().map(|side| figure.of(&side.figures))
    }

    fn figure(&self, figure: ProgramFigure) -> Difference {
        Difference::of(self.values(figure))
    }

    fn are_of_one_platform(&self) -> bool {
        let [source, target] = self.compared.sides.each_ref().map(|side| side.platform);
        source == target
    }

    fn are_of_one_module(&self) -> bool {
        let [source, target] = &self.compared.sides;
        source.is_of_module_of(target)
    }

    /// Whether less is better, of what is known to be comparable.
    fn judged(&self, figure: &Difference) -> Option<bool> {
        let are_whole = self.compared.sides.iter().all(ComparedProgram::is_whole);
        let is_comparable = are_whole && self.are_of_one_platform() && self.are_of_one_module();
        let change = figure.change().filter(|change| *change != 0 && is_comparable)?;
        Some(change < 0)
    }

    fn signed(&self, change: i64) -> String {
        signed(change, |bytes| (self.size)(bytes))
    }

    /// `3.1 MiB less: 10.0 MiB in place of 13.1 MiB, 76.3 % of it`.
    fn change_text(&self, both: [u64; 2]) -> String {
        self.change_of("", both)
    }

    /// `3.1 MiB less HBM: 10.0 MiB in place of 13.1 MiB, 76.3 % of it`; `what` begins with a space.
    fn change_of(&self, what: &str, [from, to]: [u64; 2]) -> String {
        let word = if to < from { "less" } else { "more" };
        let share =
            percent(to, from).map_or_else(String::new, |share| format!(", {share:.1} % of it"));
        let [change, now, before] = [from.abs_diff(to), to, from].map(|bytes| (self.size)(bytes));
        format!("{change} {word}{what}: {now} in place of {before}{share}")
    }

    fn fits(&mut self, room: Room) {
        let sides = &self.compared.sides;
        let over = sides.each_ref().map(|side| side.over_bytes(room));
        let fits = sides.each_ref().map(|side| side.fit(room));
        if over == [None, None] && fits == [ProgramFit::Unknown; 2] {
            return;
        }
        let other = match room.other_bytes {
            0 => String::new(),
            other => format!(", of which others have {}", (self.size)(other)),
        };
        let describe = |side: usize| {
            let (of, name) = (&sides[side], SIDES[side]);
            let least = if of.is_whole() { "" } else { "at least " };
            let needed = format!("{least}{}", (self.size)(of.figures.total_bytes));
            let capacity = of.capacity_bytes(room).map(|bytes| (self.size)(bytes));
            match (over[side], capacity) {
                (Some(0), Some(capacity)) => {
                    let fits = match fits[side] {
                        ProgramFit::Fits => "and fits",
                        ProgramFit::DoesNotFit => "and XLA found no room for it",
                        _ => "and may fit, for its file is cut",
                    };
                    format!("the {name} reserves {needed} of {capacity}{other} {fits}")
                }
                (Some(over), Some(capacity)) => format!(
                    "the {name} reserves {needed} of {capacity}{other} and is {least}{} over",
                    (self.size)(over)
                ),
                _ if fits[side] == ProgramFit::DoesNotFit => {
                    format!("the {name} reserves {needed}, and XLA found no room for it")
                }
                _ => format!("the {name} reserves {needed}, and what its device has is not known"),
            }
        };
        let text = capitalised(&format!("{}; {}", describe(0), describe(1)));
        let is_better = match fits.map(ProgramFit::fits) {
            _ if !self.are_of_one_module() => None,
            [Some(false), Some(true)] => Some(true),
            [Some(true), Some(false)] => Some(false),
            _ => None,
        };
        let total = self.figure(ProgramFigure::Total);
        let said = self.say(ProgramConclusionKind::Fits, text);
        said.is_better = is_better;
        said.evidence.push(Evidence::bytes("total_bytes", total));
    }

    fn not_whole(&mut self) {
        let mut texts = Vec::new();
        for (side, name) in self.compared.sides.iter().zip(SIDES) {
            if side.is_cut {
                texts.push(format!("The file of the {name} ends before its contents do: what is said of it is of the part that could be read"));
            }
            if side.figures.lives.is_none() {
                // Of a program that is known it is known what is computed again.
                let lacks = match side.recomputed {
                    None => "has no instructions",
                    Some(_) => "does not say in which order instructions are run",
                };
                let known = match side.figures.traced_peak_bytes {
                    None => "nothing is known of when values live".to_owned(),
                    Some(peak) => format!(
                        "of when values live only XLA's own simulation is known, which has {} of what is temporary at most",
                        (self.size)(peak)
                    ),
                };
                texts.push(format!(
                    "The file of the {name} {lacks}: {known}, and what is alive at the peaks is not compared"
                ));
            }
        }
        for text in texts {
            self.say(ProgramConclusionKind::NotWhole, text);
        }
    }

    fn modules(&mut self) {
        if self.are_of_one_module() {
            return;
        }
        let name = |side: &ComparedProgram| shortened(&clean(&side.module), LETTERS).into_owned();
        let [source, target] = self.compared.sides.each_ref().map(name);
        let text = format!(
            "The source is the module {source} and the target {target}: they are different programs, so nothing is said to be better"
        );
        self.say(ProgramConclusionKind::Modules, text);
    }

    fn platforms(&mut self) {
        if self.are_of_one_platform() {
            return;
        }
        let word = |side: &ComparedProgram| {
            side.platform.map_or_else(
                || "a platform that its file's name does not say".to_owned(),
                |platform| format!("a {}", platform.as_str().to_uppercase()),
            )
        };
        let [source, target] = self.compared.sides.each_ref().map(word);
        let text = format!(
            "The source was compiled for {source} and the target for {target}: layouts, fusions and padding are those of each machine, so nothing is said to be better"
        );
        self.say(ProgramConclusionKind::Platforms, text);
    }

    fn settings(&mut self) {
        let flags = &self.compared.flags;
        if flags.is_empty() {
            return;
        }
        let named: Vec<String> = (flags.iter().take(MOST_NAMED))
            .map(|flag| {
                let [source, target] = flag.said();
                let (source, target) = (shortened(&source, LETTERS), shortened(&target, LETTERS));
                format!("{} from {source} to {target}", clean(&flag.name))
            })
            .collect();
        let more = match flags.len().saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let text = format!("Flags of the compilation differ: {}{more}", named.join(", "));
        self.say(ProgramConclusionKind::Settings, text);
    }

    fn parameters(&mut self) {
        let parameters = &self.compared.parameters;
        let mut texts = Vec::new();
        if let [Some(source), Some(target)] = parameters.counts
            && source != target
        {
            texts.push(format!(
                "The program takes {} in place of {}",
                counted(target, "parameter"),
                grouped(source)
            ));
        }
        for changed in parameters.changed.iter().take(MOST_NAMED) {
            let [source, target] = &changed.shapes;
            let example = format!(
                "parameter {} is {} in place of {}",
                changed.number,
                clean(target),
                clean(source)
            );
            let count = counted(changed.count, "parameter");
            let verb = if changed.count == 1 { "has" } else { "have" };
            texts.push(match changed.dimension {
                Some([from, to]) => {
                    format!("{count} {verb} {to} in place of {from} in one dimension: {example}")
                }
                None if changed.count == 1 => capitalised(&example),
                None => format!("{count} are of another type or of other dimensions: {example}"),
            });
        }
        for text in texts {
            self.say(ProgramConclusionKind::Parameters, text);
        }
    }

    fn total(&mut self) {
        let [Some(from), Some(to)] = self.values(ProgramFigure::Total) else { return };
        let figure = self.figure(ProgramFigure::Total);
        if from == to {
            let is_same = |row: &ProgramRow| row.both.source == row.both.target;
            let rows = self.compared.peaks.as_ref().map(|peaks| peaks.rows.iter().all(is_same));
            let parts = ProgramFigure::PARTS.map(|part| self.figure(part).is_equal());
            let alike = parts == [true; 5];
            let (kind, rest) = match (rows, alike) {
                (Some(true), true) => {
                    (ProgramConclusionKind::Equal, ", and what is alive at the peaks is the same")
                }
                (_, true) => (ProgramConclusionKind::Total, ", of parts of the same sizes"),
                (_, false) => (ProgramConclusionKind::Total, ", of parts of other sizes"),
            };
            let text =
                format!("Both programs reserve {} of {}{rest}", (self.size)(to), clean(self.title));
            self.say(kind, text).evidence.push(Evidence::bytes("total_bytes", figure));
            return;
        }
        let what = format!(" {}", clean(self.title));
        let text = format!("The program reserves {}", self.change_of(&what, [from, to]));
        let is_better = self.judged(&figure);
        let said = self.say(ProgramConclusionKind::Total, text);
        said.is_better = is_better;
        said.evidence.push(Evidence::bytes("total_bytes", figure));
    }

    /// The change by kind of allocation: the numbers add up to it.
    fn parts(&mut self) {
        let parts = ProgramFigure::PARTS.map(|part| (part, self.figure(part)));
        let mut changed: Vec<(ProgramFigure, Difference)> =
            parts.into_iter().filter(|(_, figure)| figure.change() != Some(0)).collect();
        if changed.is_empty() {
            return;
        }
        changed.sort_by_key(|(_, figure)| std::cmp::Reverse(figure.magnitude()));
        let part = |(part, figure): &(ProgramFigure, Difference)| {
            format!("{} {}", plural(*part), self.signed(figure.change().unwrap_or(0)))
        };
        let named: Vec<String> = changed.iter().map(part).collect();
        let text = format!("The change of what is reserved: {}", named.join(", "));
        let evidence = changed.iter().map(|(part, figure)| Evidence::bytes(part.key(), *figure));
        let evidence = evidence.collect();
        self.say(ProgramConclusionKind::Parts, text).evidence = evidence;
    }

    fn donated(&mut self) {
        let figure = self.figure(ProgramFigure::Donated);
        let [Some(from), Some(to)] = self.values(ProgramFigure::Donated) else { return };
        if from == to {
            return;
        }
        let outputs = self.figure(ProgramFigure::Outputs);
        let [results_before, results] =
            self.values(ProgramFigure::Outputs).map(|bytes| (self.size)(bytes.unwrap_or(0)));
        let donates = match (from, to) {
            (0, to) => format!(
                "The target gives {} of its parameters to results, the source gives none",
                (self.size)(to)
            ),
            (from, 0) => format!(
                "The source gives {} of its parameters to results, the target gives none",
                (self.size)(from)
            ),
            _ => format!(
                "The target gives {} of its parameters to results in place of {}",
                (self.size)(to),
                (self.size)(from)
            ),
        };
        let text = format!(
            "{donates} (donation); results of their own take {results} in place of {results_before}"
        );
        let said = self.say(ProgramConclusionKind::Donated, text);
        said.evidence.push(Evidence::bytes("donated_bytes", figure));
        said.evidence.push(Evidence::bytes("output_bytes", outputs));
    }

    fn peak(&mut self) {
        let figure = self.figure(ProgramFigure::TemporaryPeak);
        let [Some(from), Some(to)] = self.values(ProgramFigure::TemporaryPeak) else { return };
        if from == to {
            return;
        }
        let text = format!(
            "At its peak, what is temporary in {} takes {}",
            clean(self.title),
            self.change_text([from, to])
        );
        let is_better = self.judged(&figure);
        let said = self.say(ProgramConclusionKind::Peak, text);
        said.is_better = is_better;
        said.evidence.push(Evidence::bytes("temporary_peak_bytes", figure));
    }

    /// The rows with the largest changes, first what went, then what came.
    fn rows(&mut self) {
        let compared = self.compared;
        let Some(peaks) = &compared.peaks else { return };
        let most = compared.sides.iter().filter_map(|side| side.figures.lives);
        let most = most.map(|lives| lives.temporary_peak_bytes).max().unwrap_or(0);
        let least = (most / LEAST_PART).max(1);
        for (kind, is_less) in
            [(ProgramConclusionKind::Less, true), (ProgramConclusionKind::More, false)]
        {
            let wanted = peaks.rows.iter().filter(|row| {
                let change = row.both.bytes().change().unwrap_or(0);
                (change < 0) == is_less && change.unsigned_abs() >= least
            });
            for row in wanted.take(MOST_NAMED) {
                let text = self.of_row(row);
                let name = row.kind().map_or("bytes", |kind| kind.category.as_str());
                self.say(kind, text).evidence.push(Evidence::bytes(name, row.both.bytes()));
            }
        }
    }

    fn of_row(&self, row: &ProgramRow) -> String {
        let (source, target) = (row.both.source, row.both.target);
        let operation = |path: &str| clean(&shortened_path(path)).into_owned();
        let what = format!("{} of {}", clean(&row.shape()), operation(row.operation()));
        match (source.blocks, target.blocks) {
            (blocks, 0) => format!(
                "{what}: {} of {} at the source's peak, none of it at the target's",
                (self.size)(source.bytes),
                counted(blocks, "value")
            ),
            (0, blocks) => format!(
                "{what}: {} of {} at the target's peak, none of it at the source's",
                (self.size)(target.bytes),
                counted(blocks, "value")
            ),
            _ => {
                let change = self.change_text([source.bytes, target.bytes]);
                let other = match row.other_operation() {
                    Some(other) => format!(", in the place of {}", operation(other)),
                    None => String::new(),
                };
                let by = match row.paired {
                    Some(PairedBy::Category) => {
                        " (of the same size and category, of another operation)"
                    }
                    _ => "",
                };
                format!("{what}{other}: {change}{by}")
            }
        }
    }

    fn recomputed(&mut self) {
        let [Some(source), Some(target)] =
            self.compared.sides.each_ref().map(|side| side.recomputed)
        else {
            return;
        };
        let below =
            |count: u64| format!("{} below rematted_computation", counted(count, "instruction"));
        let text = match (source, target) {
            (a, b) if a == b => return,
            (0, count) => format!(
                "The target computes values again in the backward pass ({}), the source does not",
                below(count)
            ),
            (count, 0) => format!(
                "The source computes values again in the backward pass ({}), the target does not",
                below(count)
            ),
            (a, b) => format!(
                "Both compute values again in the backward pass, the source with {}, the target with {}",
                below(a),
                grouped(b)
            ),
        };
        let figure = Difference::of([Some(source), Some(target)]);
        let evidence = Evidence::number("instructions", Unit::Count, figure);
        self.say(ProgramConclusionKind::Recomputed, text).evidence.push(evidence);
    }

    fn peak_moved(&mut self) {
        let [Some(source), Some(target)] =
            self.compared.sides.each_ref().map(|side| side.peak.as_ref())
        else {
            return;
        };
        let [source, target] = [source, target].map(words_of_place);
        if source != target {
            let text =
                format!("The peak is somewhere else: it was at {source}, and is at {target}");
            self.say(ProgramConclusionKind::PeakMoved, text);
        }
    }

    fn packing(&mut self) {
        let figure = self.figure(ProgramFigure::Lost);
        let [Some(from), Some(to)] = self.values(ProgramFigure::Lost) else { return };
        let most = self.values(ProgramFigure::Temporary).into_iter().flatten().max().unwrap_or(0);
        if from.abs_diff(to) < (most / LEAST_PART).max(1) {
            return;
        }
        let text = format!(
            "Packing and alignment of temporary allocations lose {}",
            self.change_text([from, to])
        );
        let is_better = self.judged(&figure);
        let said = self.say(ProgramConclusionKind::Packing, text);
        said.is_better = is_better;
        said.evidence.push(Evidence::bytes("lost_bytes", figure));
    }

    /// Where what is temporary is hardly anything but tables of tuples, as in the main memory of a TPU whose work is
    /// elsewhere.
    fn only_tables(&mut self) {
        let Some(peaks) = &self.compared.peaks else { return };
        let tables = peaks.by_category.iter().find(|(one, _)| *one == ValueCategory::TupleTable);
        let Some((_, tables)) = tables else { return };
        let of = [tables.source.bytes, tables.target.bytes];
        let peak = self.values(ProgramFigure::TemporaryPeak).map(|bytes| bytes.unwrap_or(0));
        let is_most = |side: usize| peak[side] > 0 && of[side] >= peak[side] / 2;
        let names: Vec<&str> =
            [0, 1].into_iter().filter(|side| is_most(*side)).map(|side| SIDES[side]).collect();
        if names.is_empty() {
            return;
        }
        let text = format!(
            "What is temporary in {} is mostly tables of tuples in the {}: values are in other memory spaces",
            clean(self.title),
            names.join(" and the ")
        );
        let figure = tables.bytes();
        self.say(ProgramConclusionKind::OnlyTables, text)
            .evidence
            .push(Evidence::bytes("tuple_table", figure));
    }
}

/// The last parts of a path, as many as there is room for.
fn shortened_path(path: &str) -> String {
    if path.len() <= LETTERS {
        return path.to_owned();
    }
    let slashes = path_slashes(path);
    let mut behind = slashes.iter().map(|slash| &path[slash + 1..]);
    let short = behind.clone().find(|rest| rest.len() <= LETTERS);
    let rest = short.or_else(|| behind.next_back()).unwrap_or(path);
    format!("…/{}", shortened(rest, LETTERS))
}

/// Where a peak is, without names of instructions and positions, which no two compilations share.
fn words_of_place(place: &PeakPlace) -> String {
    let opcode = if place.opcode.is_empty() { "an instruction" } else { &place.opcode };
    match &place.operation {
        Some(operation) => format!("{} of {}", clean(opcode), clean(&shortened_path(operation))),
        None => clean(opcode).into_owned(),
    }
}

fn plural(part: ProgramFigure) -> &'static str {
    match part {
        ProgramFigure::Temporary => "temporary allocations",
        ProgramFigure::Arguments => "parameters",
        ProgramFigure::Outputs => "results of their own",
        ProgramFigure::Constants => "constants",
        ProgramFigure::ThreadLocal => "thread-local scratch",
        _ => part.title(),
    }
}
