//! What `tilescope liveness` prints: the curve and what is alive as tables of text, and as CSV.

use super::{ConsistsOf, LivenessReport, Step, operation_text};
use crate::analysis::liveness::NamedBytes;
use crate::cli::output::{Answer, CsvAnswer, aligned, name_cell, or_unknown};
use crate::csv;
use crate::systems::poplar::insights::advice::operation_title;
use crate::text::{bytes, exact_bytes, grouped, size_or_less};

fn steps_table(steps: impl Iterator<Item = Step>) -> String {
    let rows = steps.map(|step| {
        let operation = step.operation.as_ref().and_then(|operation| operation.kind.as_deref());
        vec![
            step.step.to_string(),
            grouped(step.not_always_live_bytes),
            bytes(step.not_always_live_bytes),
            name_cell(step.kind.as_deref().unwrap_or("–")),
            name_cell(operation.unwrap_or("–")),
            name_cell(step.name.as_deref().unwrap_or("–")),
        ]
    });
    aligned(&["step", "not always live", "", "<kind", "<operation", "<name"], rows)
}

fn variables_table(title: &str, variables: &[NamedBytes]) -> String {
    let rows = variables.iter().map(|variable| {
        vec![name_cell(&variable.name), grouped(variable.bytes), bytes(variable.bytes)]
    });
    aligned(&[&format!("<{title}"), "bytes", ""], rows)
}

impl ConsistsOf {
    fn text(&self) -> String {
        let whole = u64::try_from(self.whole_bytes).unwrap_or(0);
        let mut text = format!("\nAlive, always or not: {}\n", exact_bytes(whole));
        let Some(rows) = &self.rows else {
            return text
                + "  What it consists of is not known: a table, or debug information, is absent\n";
        };
        let rows = rows.iter().map(|row| {
            let size = size_or_less(row.bytes, bytes);
            vec![name_cell(&row.name), size, format!("{:.1} %", row.percent)]
        });
        text += &aligned(&["<Consists of", "bytes", ""], rows);
        text
    }
}

impl LivenessReport {
    fn steps_csv(&self) -> String {
        let mut text = csv::line([
            "step",
            "program",
            "kind",
            "name",
            "operation",
            "not_always_live_bytes",
            "always_live_bytes",
        ]);
        let known = |text: &Option<String>| text.clone().unwrap_or_default();
        for step in self.steps.rows() {
            let operation = step.operation.as_ref().map(operation_title);
            text += &csv::line([
                step.step.to_string(),
                step.program.to_string(),
                known(&step.kind),
                known(&step.name),
                operation.unwrap_or_default(),
                step.not_always_live_bytes.to_string(),
                self.always_live_bytes.map_or_else(String::new, |bytes| bytes.to_string()),
            ]);
        }
        text
    }

    fn variables_csv(&self) -> String {
        let mut text = csv::line(["variable", "bytes", "always_live"]);
        for (variables, is_always) in
            [(&self.variables, "no"), (&self.always_live_variables, "yes")]
        {
            for variable in variables.iter().flatten() {
                text += &csv::line([&*variable.name, &variable.bytes.to_string(), is_always]);
            }
        }
        text
    }
}

impl CsvAnswer for LivenessReport {
    fn csv(&self) -> String {
        let Some(found) = &self.consists_of else {
            return if self.step.is_some() { self.variables_csv() } else { self.steps_csv() };
        };
        let mut text = csv::line(["part", "bytes", "percent"]);
        for row in found.rows.iter().flatten() {
            let percent = format!("{:.3}", row.percent);
            text += &csv::line([&*row.name, &row.bytes.to_string(), &percent]);
        }
        text
    }
}

impl Answer for LivenessReport {
    const SCHEMA: &'static str = "tilescope.liveness/1";

    fn text(&self) -> String {
        let mut text = format!(
            "Liveness of {}, {} steps\n  Always live     {}\n  Limit           {}\n\n",
            self.scope,
            grouped(self.step_count as u64),
            or_unknown(self.always_live_bytes, exact_bytes),
            or_unknown(self.limit_bytes, exact_bytes),
        );
        if let Some(note) = self.note {
            text += &format!("{note}\n\n");
        }
        if self.is_filtered {
            let count = self.steps.matched.as_ref().map_or(0, Vec::len);
            text += &format!("{} steps match\n", grouped(count as u64));
            text += &steps_table(self.steps.rows());
        } else if self.step.is_none() || self.peaks.is_some() {
            text += "Peaks, largest first\n";
            text += &steps_table(self.text_peaks.iter().cloned());
        }
        if let Some(step) = &self.step {
            text += &format!(
                "\nStep {}: {} not always live\n",
                step.step,
                exact_bytes(step.not_always_live_bytes)
            );
            if let Some(operation) = &step.operation {
                text += &format!("  {}\n", operation_text(operation));
            }
        }
        if let Some(found) = &self.consists_of {
            text += &found.text();
            return text;
        }
        if let Some(variables) = &self.variables {
            text.push('\n');
            text += &variables_table("Not always live", variables);
        }
        if let Some(variables) = &self.always_live_variables {
            text.push('\n');
            text += &variables_table("Always live", variables);
        }
        text
    }
}
