//! Conclusions from two modules: sentences without their full stop, each with the numbers that it is drawn from.
//!
//! Better or worse is only said of whole files of one module that were compiled for the same kind of machine. Nothing is said to be
//! the cause of anything: what changed, and by how much.

mod of_peak;

use super::parameters::OtherParameters;
use super::{ComparedModule, ModuleFigure, ModuleSide};
use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::{Difference, share_of_it};
use crate::run::compared::rows::ComparedRow;
use crate::run::{Compared, Conclusion, Evidence};
use crate::text::{capitalised, clean, counted, grouped, shortened, signed};

/// Changes of one kind that are named.
const MOST_NAMED: usize = 3;
/// A change that is named is at least this part of the larger peak.
const LEAST_PART: u64 = 200;
/// Letters of a path of an operation.
const LETTERS: usize = 60;

/// What follows from a comparison; `size` writes bytes.
pub(super) fn conclusions(
    compared: &Compared,
    own: [&ModuleSide; 2],
    size: &dyn Fn(u64) -> String,
) -> Vec<Conclusion> {
    let sides = own.map(|side| &side.of);
    let mut said = ModuleConclusions { compared, own, sides, size, conclusions: Vec::new() };
    said.not_whole();
    said.modules();
    said.platforms();
    said.conclusions.extend(compared.settings_conclusion("Flags of the compilation", LETTERS));
    said.parameters();
    said.total();
    said.parts();
    said.donated();
    said.peak();
    said.rows();
    said.recomputed();
    said.recomputed_at_once();
    said.peak_moved();
    said.packing();
    said.only_tables();
    said.conclusions
}

struct ModuleConclusions<'a> {
    compared: &'a Compared,
    own: [&'a ModuleSide; 2],
    sides: [&'a ComparedModule; 2],
    size: &'a dyn Fn(u64) -> String,
    conclusions: Vec<Conclusion>,
}

const SIDES: [&str; 2] = ["source", "target"];

impl ModuleConclusions<'_> {
    fn say(&mut self, conclusion: Conclusion) {
        self.conclusions.push(conclusion);
    }

    /// The memory space within a sentence.
    fn title(&self) -> &str {
        &self.own[0].space
    }

    fn values(&self, figure: ModuleFigure) -> [Option<u64>; 2] {
        self.sides.map(|side| figure.of(&side.figures))
    }

    fn figure(&self, figure: ModuleFigure) -> Difference {
        Difference::of(self.values(figure))
    }

    /// A figure as what a conclusion is drawn from.
    fn evidence(&self, figure: ModuleFigure) -> Evidence {
        Evidence::change(figure.title(), Unit::Bytes, self.figure(figure))
    }

    fn are_of_one_platform(&self) -> bool {
        let [source, target] = self.sides.map(|side| side.platform);
        source == target
    }

    fn are_of_one_module(&self) -> bool {
        let [source, target] = self.sides;
        source.is_of_module_of(target)
    }

    /// Whether less is better, of what is known to be comparable.
    fn judged(&self, figure: &Difference) -> Option<bool> {
        let are_whole = self.sides.iter().all(|side| side.is_whole());
        let is_comparable = are_whole && self.are_of_one_platform() && self.are_of_one_module();
        figure.is_less().filter(|_| is_comparable)
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
        let share = share_of_it(to, from);
        let [change, now, before] = [from.abs_diff(to), to, from].map(|bytes| (self.size)(bytes));
        if now == before {
            return format!("{change} {word}{what} than the {before} of the source");
        }
        format!("{change} {word}{what}: {now} instead of {before}{share}")
    }

    fn not_whole(&mut self) {
        let mut texts = Vec::new();
        for (side, name) in self.sides.iter().zip(SIDES) {
            if side.is_cut {
                texts.push(format!(
                    "The file of the {name} ends before its contents do: \
                    statements about it cover only the part that could be read"
                ));
            }
            if side.figures.lives.is_none() {
                // Of a program that is known it is known what is computed again.
                let lacks = match side.recomputed {
                    None => "has no instructions",
                    Some(_) => "does not say in which order instructions run",
                };
                let known = match side.figures.traced_peak_bytes {
                    None => "it is not known when values live".to_owned(),
                    Some(peak) => format!(
                        "when values live is known only from XLA's own simulation, which has at \
                        most {} of temporary values",
                        (self.size)(peak)
                    ),
                };
                texts.push(format!(
                    "The file of the {name} {lacks}: {known}, and the values alive at the peaks \
                    are not compared"
                ));
            }
        }
        for text in texts {
            self.say(Conclusion::new("not-whole", text));
        }
    }

    fn modules(&mut self) {
        if self.are_of_one_module() {
            return;
        }
        let name = |side: &ComparedModule| shortened(&clean(&side.module), LETTERS).into_owned();
        let [source, target] = self.sides.map(name);
        let text = format!(
            "The source is the module {source} and the target {target}: they are different \
            modules, so nothing is called better"
        );
        self.say(Conclusion::new("modules", text));
    }

    fn platforms(&mut self) {
        if self.are_of_one_platform() {
            return;
        }
        let word = |side: &ComparedModule| {
            side.platform.map_or_else(
                || "a platform that its file's name does not state".to_owned(),
                |platform| format!("a {}", platform.as_str().to_uppercase()),
            )
        };
        let [source, target] = self.sides.map(word);
        let text = format!(
            "The source was compiled for {source} and the target for {target}: layouts, fusions \
            and padding are those of each machine, so nothing is called better"
        );
        self.say(Conclusion::new("platforms", text));
    }

    fn parameters(&mut self) {
        let parameters = OtherParameters::between(self.own.map(|side| &side.parameters));
        let mut texts = Vec::new();
        if let [Some(source), Some(target)] = parameters.counts
            && source != target
        {
            texts.push(format!(
                "The module takes {} instead of {}",
                counted(target, "parameter"),
                grouped(source)
            ));
        }
        for changed in parameters.changed.iter().take(MOST_NAMED) {
            let [source, target] = &changed.shapes;
            let name = match &changed.name {
                Some(name) => shortened(&clean(name), LETTERS).into_owned(),
                None => format!("parameter {}", changed.number),
            };
            let example = format!("{name} is {} instead of {}", clean(target), clean(source));
            let count = counted(changed.count, "parameter");
            let verb = if changed.count == 1 { "has" } else { "have" };
            texts.push(match changed.dimension {
                Some([from, to]) => {
                    format!("{count} {verb} {to} instead of {from} in one dimension: {example}")
                }
                None if changed.count == 1 && changed.name.is_none() => capitalised(&example),
                None if changed.count == 1 => format!("Parameter {example}"),
                None => format!("{count} are of another type or of other dimensions: {example}"),
            });
        }
        for text in texts {
            self.say(Conclusion::new("parameters", text));
        }
    }

    fn total(&mut self) {
        let [Some(from), Some(to)] = self.values(ModuleFigure::Total) else { return };
        let figure = self.figure(ModuleFigure::Total);
        let evidence = vec![self.evidence(ModuleFigure::Total)];
        if from == to {
            let is_same = |row: &ComparedRow| row.both.source == row.both.target;
            let rows = self.compared.peaks.as_ref().map(|peaks| peaks.rows.iter().all(is_same));
            let parts = ModuleFigure::PARTS.map(|part| self.figure(part).is_equal());
            let alike = parts == [true; 5];
            let (id, rest) = match (rows, alike) {
                (Some(true), true) => ("equal", ", and the values alive at the peaks are the same"),
                (_, true) => ("total", ", of parts of the same sizes"),
                (_, false) => ("total", ", of parts of other sizes"),
            };
            let text = format!(
                "Both modules reserve {} of {}{rest}",
                (self.size)(to),
                clean(self.title())
            );
            self.say(Conclusion { evidence, ..Conclusion::new(id, text) });
            return;
        }
        let what = format!(" {}", clean(self.title()));
        let text = format!("The module reserves {}", self.change_of(&what, [from, to]));
        let is_better = self.judged(&figure);
        self.say(Conclusion { is_better, evidence, ..Conclusion::new("total", text) });
    }

    /// The change by kind of allocation: the numbers add up to it.
    fn parts(&mut self) {
        let parts = ModuleFigure::PARTS.map(|part| (part, self.figure(part)));
        let mut changed: Vec<(ModuleFigure, Difference)> =
            parts.into_iter().filter(|(_, figure)| figure.change() != Some(0)).collect();
        if changed.is_empty() {
            return;
        }
        changed.sort_by_key(|(_, figure)| std::cmp::Reverse(figure.magnitude()));
        let part = |(part, figure): &(ModuleFigure, Difference)| {
            format!("{} {}", plural(*part), self.signed(figure.change().unwrap_or(0)))
        };
        let named: Vec<String> = changed.iter().map(part).collect();
        let text = format!("The change of the reserved memory: {}", named.join(", "));
        let evidence = changed.iter().map(|(part, _)| self.evidence(*part)).collect();
        self.say(Conclusion { evidence, ..Conclusion::new("parts", text) });
    }

    fn donated(&mut self) {
        let [Some(from), Some(to)] = self.values(ModuleFigure::Donated) else { return };
        if from == to {
            return;
        }
        let [results_before, results] =
            self.values(ModuleFigure::Outputs).map(|bytes| (self.size)(bytes.unwrap_or(0)));
        let donates = match (from, to) {
            (0, to) => format!(
                "The target donates {} of its parameters to results, the source none",
                (self.size)(to)
            ),
            (from, 0) => format!(
                "The source donates {} of its parameters to results, the target none",
                (self.size)(from)
            ),
            _ => format!(
                "The target donates {} of its parameters to results instead of {}",
                (self.size)(to),
                (self.size)(from)
            ),
        };
        let text = format!(
            "{donates} (donation); results of their own take {results} instead of {results_before}"
        );
        let evidence =
            [ModuleFigure::Donated, ModuleFigure::Outputs].map(|figure| self.evidence(figure));
        let evidence = evidence.into();
        self.say(Conclusion { evidence, ..Conclusion::new("donated", text) });
    }
}

/// Several of a part, within a sentence.
fn plural(part: ModuleFigure) -> &'static str {
    match part {
        ModuleFigure::Temporary => "temporary allocations",
        ModuleFigure::Arguments => "parameters",
        ModuleFigure::Outputs => "results of their own",
        ModuleFigure::Constants => "constants",
        ModuleFigure::ThreadLocal => "thread-local scratch",
        _ => part.title(),
    }
}
