//! The output of `tilescope liveness`: the curve and the live variables as text tables and as CSV.

use std::io::{self, Write};

use super::variables::VariablesToWrite;
use super::{Groups, LivenessReport, SaidOfStep, StepRow, operation_text};
use crate::analysis::memory::category_title;
use crate::cli::output::arrow::{RowsAnswer, write_stream};
use crate::cli::output::{
    Answer, CsvAnswer, aligned, as_text, name_cell, or_unknown, write_aligned,
};
use crate::cli::summary::text::{MOST_CALLS, pairs};
use crate::csv;
use crate::run::{AliveBy, AliveVariable, DetailedVariable};
use crate::store::System;
use crate::text::{bytes, clean, exact_bytes, grouped, shortened, size_or_less};

/// Longest shape.
const SHAPE: usize = 60;

fn write_steps(
    out: &mut dyn Write,
    steps: impl Iterator<Item = StepRow> + Clone,
    words: &System,
) -> io::Result<()> {
    let rows = steps.map(|step| {
        let facts = step.operation_facts.as_ref();
        let operation = facts.and_then(|operation| operation.kind.as_deref());
        vec![
            step.step.to_string(),
            grouped(step.not_always_live_bytes),
            bytes(step.not_always_live_bytes),
            name_cell(step.kind.as_deref().unwrap_or("–")),
            name_cell(operation.unwrap_or("–")),
            name_cell(step.name.as_deref().unwrap_or("–")),
        ]
    });
    let columns =
        [words.step_in_text, words.not_always_live_in_text, "", "<kind", "<operation", "<name"];
    write_aligned(out, &columns, rows)
}

fn write_variables(
    out: &mut dyn Write,
    title: &str,
    to_write: &VariablesToWrite,
) -> io::Result<()> {
    let variables = &to_write.list;
    let has_shapes = variables.iter().any(|variable| variable.shape.is_some());
    let has_operations = variables.iter().any(|variable| variable.operation.is_some());
    // Where nothing is padded that needs no column.
    let has_padding = variables.iter().any(|variable| variable.padding_bytes.unwrap_or(0) > 0);
    let rows = to_write.rows().map(|DetailedVariable { variable, details }| {
        let shared = match variable.shared_bytes {
            0 => String::new(),
            shared => format!("shares {}", bytes(shared)),
        };
        let size = [grouped(variable.bytes), bytes(variable.bytes)];
        let [exact, rounded] = size;
        let shape = variable.shape.as_deref().map_or_else(String::new, |shape| {
            let layout = details.layout.as_deref().unwrap_or_default();
            name_cell(&format!("{}{layout}", shortened(shape, SHAPE)))
        });
        let shape = has_shapes.then_some(shape);
        let operation = has_operations
            .then(|| variable.operation.as_deref().map_or_else(String::new, name_cell));
        let padding = variable.padding_bytes.map_or_else(|| "not known".to_owned(), bytes);
        let padding = has_padding.then_some(padding);
        let cells = [name_cell(&variable.name)].into_iter().chain(shape);
        let cells = cells.chain([exact, rounded]).chain(padding).chain([shared]);
        cells.chain(operation).collect()
    });
    let shape = has_shapes.then_some("<Shape");
    let title = format!("<{title}");
    let padding = has_padding.then_some("padding");
    let titles = [&*title].into_iter().chain(shape).chain(["bytes", ""]);
    let operation = has_operations.then_some("<Operation");
    let titles: Vec<&str> = titles.chain(padding).chain(["<"]).chain(operation).collect();
    write_aligned(out, &titles, rows)?;
    if has_padding {
        out.write_all(padding_text(variables).as_bytes())?;
    }
    Ok(())
}

/// How much of all of them is padding, and of how much that is not known.
fn padding_text(variables: &[AliveVariable]) -> String {
    let known = variables.iter().filter_map(|variable| variable.padding_bytes);
    let padding = known.fold(0_u64, u64::saturating_add);
    let unknown = variables.iter().filter(|variable| variable.padding_bytes.is_none());
    let unknown = unknown.fold(0_u64, |sum, variable| sum.saturating_add(variable.bytes));
    let but = if unknown > 0 {
        format!("; of {} it is not known", bytes(unknown))
    } else {
        String::new()
    };
    format!("  Padding: {}{but}\n", exact_bytes(padding))
}

impl Groups {
    fn text(&self) -> String {
        let mut text = format!("\nAlive, always or not: {}\n", exact_bytes(self.bytes));
        let rows = self.percents().map(|(row, percent)| {
            let size = size_or_less(row.bytes, bytes);
            let name = match self.group {
                // In JSON it is the key.
                AliveBy::Category => category_title(&row.name.replace('_', " ")),
                _ => row.name.clone(),
            };
            vec![name_cell(&name), size, format!("{percent:.1} %")]
        });
        text += &aligned(&["<Consists of", "bytes", ""], rows);
        text
    }
}

impl SaidOfStep {
    fn text(&self) -> String {
        let size =
            self.bytes.map_or_else(String::new, |amount| format!(" of {}", exact_bytes(amount)));
        let title =
            (!self.title.is_empty()).then(|| ("Did", clean(&self.title).into_owned() + &size));
        let facts = self.facts.iter().map(|fact| (fact.name, clean(&fact.text).into_owned()));
        let calls = self.stack.iter().take(MOST_CALLS).enumerate().map(|(place, call)| {
            (if place == 0 { self.stack_title } else { "called from" }, clean(call).into_owned())
        });
        pairs(title.into_iter().chain(facts).chain(calls))
    }
}

impl LivenessReport {
    fn steps_csv(&self) -> String {
        let mut text = csv::line([
            "step",
            "kind",
            "name",
            "operation",
            "bytes",
            "not_always_live_bytes",
            "always_live_bytes",
        ]);
        let known = |text: Option<String>| text.unwrap_or_default();
        for step in self.steps.rows() {
            text += &csv::line([
                step.step.to_string(),
                known(step.kind),
                known(step.name),
                known(step.operation),
                step.bytes.to_string(),
                step.not_always_live_bytes.to_string(),
                self.always_live_bytes.map_or_else(String::new, |bytes| bytes.to_string()),
            ]);
        }
        text
    }

    fn variables_csv(&self) -> String {
        let mut text = csv::line([
            "variable",
            "bytes",
            "always_live",
            "category",
            "operation",
            "shape",
            "shared_bytes",
            "element_type",
            "layout",
            "unpadded_bytes",
            "padding_bytes",
            "made_by",
            "made_by_kind",
            "filled_by",
            "memory_of",
            "source",
            "operands",
            "users",
        ]);
        for (variables, is_always) in
            [(&self.variables, "no"), (&self.always_live_variables, "yes")]
        {
            let rows = variables.iter().flat_map(VariablesToWrite::rows);
            for DetailedVariable { variable, details } in rows {
                let known = |text: &Option<String>| text.clone().unwrap_or_default();
                let number =
                    |bytes: Option<u64>| bytes.map_or_else(String::new, |bytes| bytes.to_string());
                text += &csv::line([
                    variable.name.clone(),
                    variable.bytes.to_string(),
                    is_always.to_owned(),
                    variable.category.as_deref().unwrap_or_default().to_owned(),
                    known(&variable.operation),
                    known(&variable.shape),
                    variable.shared_bytes.to_string(),
                    known(&details.element_type),
                    known(&details.layout),
                    number(details.unpadded_bytes),
                    number(variable.padding_bytes),
                    known(&details.made_by),
                    known(&details.made_by_kind),
                    known(&details.filled_by),
                    known(&details.memory_of),
                    known(&details.source),
                    // Names of instructions have no blanks.
                    details.operands.join(" "),
                    details.users.join(" "),
                ]);
            }
        }
        text
    }
}

impl CsvAnswer for LivenessReport {
    fn csv(&self) -> String {
        let Some(found) = &self.by else {
            return if self.step.is_some() { self.variables_csv() } else { self.steps_csv() };
        };
        let mut text = csv::line(["name", "bytes", "count", "percent"]);
        for (row, percent) in found.percents() {
            let (count, percent) = (row.count.to_string(), format!("{percent:.3}"));
            text += &csv::line([&*row.name, &row.bytes.to_string(), &count, &percent]);
        }
        text
    }
}

impl RowsAnswer for LivenessReport {
    fn write_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(by) = &self.by {
            return write_stream(|| by.rows.iter(), out);
        }
        if self.step.is_some() {
            let lists = [&self.variables, &self.always_live_variables];
            return write_stream(
                || lists.into_iter().flatten().flat_map(VariablesToWrite::rows),
                out,
            );
        }
        match &self.peaks {
            Some(peaks) => write_stream(|| peaks.iter(), out),
            None => write_stream(|| self.steps.rows(), out),
        }
    }
}

impl Answer for LivenessReport {
    const SCHEMA: &'static str = "tilescope.liveness/2";

    fn text(&self) -> String {
        as_text(|out| self.write_text(out))
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let words = self.words;
        let width = words.always_live.len().max(14);
        write!(
            out,
            "Liveness of {}, {} {}\n  {:width$}  {}\n  {:width$}  {}\n\n",
            clean(&self.scope),
            grouped(self.steps.timeline.len() as u64),
            words.steps,
            words.always_live,
            or_unknown(self.always_live_bytes, exact_bytes),
            "Limit",
            or_unknown(self.limit_bytes, exact_bytes),
        )?;
        if let Some(note) = self.note {
            write!(out, "{note}\n\n")?;
        }
        if self.is_filtered {
            let count = self.steps.matched.as_ref().map_or(0, Vec::len);
            writeln!(out, "{} {} match", grouped(count as u64), words.steps)?;
            write_steps(out, self.steps.rows(), &words)?;
        } else if self.step.is_none() || self.peaks.is_some() {
            out.write_all(b"Peaks, largest first\n")?;
            write_steps(out, self.text_peaks.iter().cloned(), &words)?;
        }
        if let Some(step) = &self.step {
            writeln!(
                out,
                "\n{} {}: {} {}",
                words.step,
                step.step,
                exact_bytes(step.not_always_live_bytes),
                words.not_always_live_in_text,
            )?;
            if let Some(operation) = &step.operation_facts {
                writeln!(out, "  {}", operation_text(operation))?;
            }
            if let Some(said) = &self.said {
                out.write_all(said.text().as_bytes())?;
            }
        }
        if let Some(found) = &self.by {
            return out.write_all(found.text().as_bytes());
        }
        let lists = [
            (words.not_always_live, &self.variables),
            (words.always_live, &self.always_live_variables),
        ];
        for (title, variables) in lists {
            if let Some(variables) = variables {
                out.write_all(b"\n")?;
                write_variables(out, title, variables)?;
            }
        }
        Ok(())
    }
}
