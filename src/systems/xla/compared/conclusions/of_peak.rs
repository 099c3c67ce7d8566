//! Conclusions from the temporary values at the peaks of two modules.

use super::{LEAST_PART, LETTERS, MOST_NAMED, ModuleConclusions, SIDES};
use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::Difference;
use crate::run::compared::names::Owner;
use crate::run::compared::rows::{ComparedRow, Peaks};
use crate::run::{Conclusion, Evidence};
use crate::systems::xla::buffer_assignment::categories::ValueCategory;
use crate::systems::xla::buffer_assignment::insights::advice::scan::bytes_of_several;
use crate::systems::xla::compared::alive::{BY_CATEGORY, is_throughout};
use crate::systems::xla::compared::path::plain_path;
use crate::systems::xla::compared::{ModuleFigure, PeakPlace};
use crate::text::{clean, counted, grouped, path_end};

/// A part of what a module reserves that is worth a word: a checkpoint that saves less changes next to nothing.
const LEAST_SAVED: u64 = 50;

impl ModuleConclusions<'_> {
    pub(super) fn peak(&mut self) {
        let [Some(from), Some(to)] = self.values(ModuleFigure::TemporaryPeak) else { return };
        if from == to {
            return;
        }
        let text = format!(
            "At their peak, temporary values in {} take {}",
            clean(self.title()),
            self.change_text([from, to])
        );
        let is_better = self.judged(&self.figure(ModuleFigure::TemporaryPeak));
        let evidence = vec![self.evidence(ModuleFigure::TemporaryPeak)];
        self.say(Conclusion { is_better, evidence, ..Conclusion::new("peak", text) });
    }

    /// The rows with the largest changes, first what went, then what came.
    pub(super) fn rows(&mut self) {
        let compared = self.compared;
        let Some(peaks) = &compared.peaks else { return };
        let most = self.sides.iter().filter_map(|side| side.figures.lives);
        let most = most.map(|lives| lives.temporary_peak_bytes).max().unwrap_or(0);
        let least = (most / LEAST_PART).max(1);
        for (id, is_less) in [("less", true), ("more", false)] {
            let wanted = peaks.rows.iter().filter(|row| {
                let change = row.both.bytes().change().unwrap_or(0);
                let is_large = change.unsigned_abs() >= least;
                (change < 0) == is_less && is_large && !is_throughout(row)
            });
            for row in wanted.take(MOST_NAMED) {
                let text = self.of_row(peaks, row);
                let figure = row.both.bytes();
                let evidence = vec![Evidence::change(row.category.title, Unit::Bytes, figure)];
                self.say(Conclusion { evidence, ..Conclusion::new(id, text) });
            }
        }
    }

    fn of_row(&self, peaks: &Peaks, row: &ComparedRow) -> String {
        let (source, target) = (row.both.source, row.both.target);
        let operation = |owner: Option<&Owner>| {
            let path = owner.map_or(self.compared.words.nobody, |owner| &*owner.name);
            clean(&path_end(path, LETTERS)).into_owned()
        };
        let shape = peaks.detail(row).unwrap_or_default();
        let what = format!("{} of {}", clean(&shape), operation(peaks.owner(row)));
        match (source.count, target.count) {
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
                let other = match peaks.owner_of_source(row) {
                    Some(other) => format!(", in the place of {}", operation(other)),
                    None => String::new(),
                };
                let by = match row.matched_by {
                    Some(BY_CATEGORY) => " (of the same size and category, of another operation)",
                    _ => "",
                };
                format!("{what}{other}: {change}{by}")
            }
        }
    }

    pub(super) fn recomputed(&mut self) {
        let [Some(source), Some(target)] = self.sides.map(|side| side.recomputed) else {
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
        let evidence = vec![Evidence::change("Instructions", Unit::Count, figure)];
        self.say(Conclusion { evidence, ..Conclusion::new("recomputed", text) });
    }

    /// That at the peak of one side what is computed again is there for several layers at once.
    pub(super) fn recomputed_at_once(&mut self) {
        let peaks = self.values(ModuleFigure::TemporaryPeak);
        let several = [0, 1].map(|side| {
            let layers = &self.sides[side].recomputed_at_peak;
            bytes_of_several(layers, peaks[side].unwrap_or(0))
        });
        let (side, sum) = match several {
            [Some(sum), None] => (0, sum),
            [None, Some(sum)] => (1, sum),
            _ => return,
        };
        let layers = &self.sides[side].recomputed_at_peak;
        let values =
            format!("the recomputed values of {} layers, {},", layers.len(), (self.size)(sum));
        let [other, total] = [1 - side, side]
            .map(|side| ModuleFigure::Total.of(&self.sides[side].figures).unwrap_or(0));
        let is_first = self.sides[1 - side].recomputed == Some(0);
        let text = if is_first && total >= other.saturating_sub(other / LEAST_SAVED) {
            format!(
                "The checkpoint of the {} changes next to nothing: at its peak {values} are alive \
                at once",
                SIDES[side]
            )
        } else {
            format!(
                "At the {}'s peak, {values} are alive at once, as if they had been kept",
                SIDES[side]
            )
        };
        let evidence = layers.iter().map(|(layer, bytes)| Evidence::of(layer, *bytes)).collect();
        let conclusion = Conclusion::new("checkpoint-without-effect", text);
        self.say(Conclusion { evidence, ..conclusion });
    }

    pub(super) fn peak_moved(&mut self) {
        let [Some(source), Some(target)] = self.sides.map(|side| side.peak.as_ref()) else {
            return;
        };
        let is_same = {
            let operations =
                [source, target].map(|place| place.operation.as_deref().map(plain_path));
            source.opcode == target.opcode && operations[0] == operations[1]
        };
        let [source, target] = [source, target].map(words_of_place);
        if !is_same {
            let text = format!("The peak moved from {source} to {target}");
            self.say(Conclusion::new("peak-moved", text));
        }
    }

    pub(super) fn packing(&mut self) {
        let [Some(from), Some(to)] = self.values(ModuleFigure::Lost) else { return };
        let most = self.values(ModuleFigure::Temporary).into_iter().flatten().max().unwrap_or(0);
        if from.abs_diff(to) < (most / LEAST_PART).max(1) {
            return;
        }
        let text = format!(
            "Packing and alignment of temporary allocations lose {}",
            self.change_text([from, to])
        );
        let is_better = self.judged(&self.figure(ModuleFigure::Lost));
        let evidence = vec![self.evidence(ModuleFigure::Lost)];
        self.say(Conclusion { is_better, evidence, ..Conclusion::new("packing", text) });
    }

    /// Where what is temporary is hardly anything but tables of tuples, as in the main memory of a TPU whose work is
    /// elsewhere.
    pub(super) fn only_tables(&mut self) {
        let Some(peaks) = &self.compared.peaks else { return };
        let key = ValueCategory::TupleTable.as_str();
        let tables = peaks.by_category.iter().find(|(one, _)| one.key == key);
        let Some((category, tables)) = tables else { return };
        let of = [tables.source.bytes, tables.target.bytes];
        let peak = self.values(ModuleFigure::TemporaryPeak).map(|bytes| bytes.unwrap_or(0));
        let is_most = |side: usize| peak[side] > 0 && of[side] >= peak[side] / 2;
        let names: Vec<&str> =
            [0, 1].into_iter().filter(|side| is_most(*side)).map(|side| SIDES[side]).collect();
        if names.is_empty() {
            return;
        }
        let text = format!(
            "Temporary values in {} are mostly tuple tables in the {}: the other values are in \
            other memory spaces",
            clean(self.title()),
            names.join(" and the ")
        );
        let evidence = vec![Evidence::change(category.title, Unit::Bytes, tables.bytes())];
        self.say(Conclusion { evidence, ..Conclusion::new("only-tables", text) });
    }
}

/// Where a peak is, without names of instructions and positions, which no two compilations share.
fn words_of_place(place: &PeakPlace) -> String {
    let opcode = if place.opcode.is_empty() { "an instruction" } else { &place.opcode };
    match &place.operation {
        Some(operation) => format!("{} of {}", clean(opcode), clean(&path_end(operation, LETTERS))),
        None => clean(opcode).into_owned(),
    }
}
