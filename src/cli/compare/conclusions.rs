//! The conclusions of a comparison, as they stand in JSON and as text.

use serde::Serialize;

use crate::analysis::comparison::contribution::OperationName;
use crate::analysis::memory::category_title;
use crate::cli::output::{name_cell, wrapped};
use crate::systems::poplar::insights::change::{ChangeInsight, Evidence};
use crate::text::{bytes, clean, signed_bytes, signed_percent};

/// A conclusion with the numbers that it is drawn from.
#[derive(Clone, Debug, Serialize)]
pub struct Conclusion {
    id: &'static str,
    text: String,
    /// Null where it is neither, or not known.
    is_better: Option<bool>,
    evidence: Vec<Evidence>,
    /// What contributes most, for the text.
    #[serde(skip)]
    most: Option<String>,
}

impl Conclusion {
    pub fn of(insight: &ChangeInsight) -> Self {
        Self {
            id: insight.kind.id(),
            text: insight.text(&bytes),
            is_better: insight.is_better,
            evidence: insight.evidence.clone(),
            most: most(insight),
        }
    }
}

/// `Most: convolution layer1.2.conv2 −690.2 MiB (−99.7 %)`.
fn most(insight: &ChangeInsight) -> Option<String> {
    let largest = insight.largest.first()?;
    let category = largest.category.as_deref().map(category_title);
    let operation = || largest.operation.as_ref().map(OperationName::in_words);
    let name = category.or_else(operation)?;
    let percent = largest.bytes.percent();
    let percent =
        percent.map_or_else(String::new, |percent| format!(" ({})", signed_percent(percent)));
    let change = signed_bytes(largest.bytes.change()?);
    Some(format!("Most: {} {change}{percent}.", name_cell(&name)))
}

/// The conclusions of reports, one below the other.
pub fn text_of_reports(conclusions: &[Conclusion]) -> String {
    let whole = |conclusion: &Conclusion| {
        let most = conclusion.most.as_deref().unwrap_or_default();
        (conclusion.is_better, format!("{} {most}", clean(&conclusion.text)))
    };
    text(conclusions.iter().map(whole))
}

/// Conclusions, one below the other, each with whether it is better.
pub fn text(conclusions: impl Iterator<Item = (Option<bool>, String)>) -> String {
    let line = |(is_better, text): (Option<bool>, String)| {
        let word = match is_better {
            Some(true) => "better",
            Some(false) => "worse",
            None => "",
        };
        wrapped(&format!("{word:6}  "), &text)
    };
    conclusions.map(line).collect()
}
