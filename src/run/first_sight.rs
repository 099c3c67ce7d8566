//! The content of the first pages of a run: insights, the verdict in words, and the cards of its system.

use std::sync::Arc;

use super::card::Card;
use super::insights::Insights;
use super::verdict::VerdictFigure;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::progress::Progress;

/// What a run says at first sight.
#[derive(Clone, Debug, Default)]
pub struct FirstSight {
    /// Verdict, conclusions and advice.
    pub found: Arc<Insights>,
    /// Why the verdict is what it is, in a sentence or two.
    pub reason: String,
    /// What follows, in sentences without their full stops.
    pub sentences: Vec<String>,
    /// The figures that say most at a glance.
    pub figures: Vec<VerdictFigure>,
    /// The scope whose peak decides the verdict.
    pub peak_scope: Option<Scope>,
    /// Parts of the run whose cards are shown one at a time: devices, memory spaces. None where there is only one.
    pub parts: Vec<String>,
    /// The part that is shown first.
    pub part: usize,
    /// Cards beside the advice.
    pub cards: Vec<Card>,
    /// Cards of a glance, for two columns.
    pub glance: [Vec<Card>; 2],
}

impl FirstSight {
    /// Of the insights of a run where its `reading` is final, else of its verdict.
    pub fn of_answers(derived: &Derived, is_final: bool, progress: &Progress) -> Self {
        let found = if is_final {
            derived.run_insights(progress)
        } else {
            let verdict = derived.answers().verdict(derived);
            Some(Arc::new(Insights { verdict, ..Insights::default() }))
        };
        Self::of(found.unwrap_or_default())
    }

    /// Of insights that say all in their own words.
    pub fn of(found: Arc<Insights>) -> Self {
        let (reason, figures) = (found.verdict.as_ref())
            .map(|verdict| (verdict.text.clone(), verdict.figures.clone()))
            .unwrap_or_default();
        // The verdict may be among the conclusions.
        let is_new = |text: &&String| reason.is_empty() || !text.ends_with(&*reason);
        let texts = found.conclusions.iter().map(|conclusion| &conclusion.text);
        let sentences = texts.filter(is_new).cloned().collect();
        Self { found, reason, sentences, figures, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Conclusion, Verdict};

    #[test]
    fn what_the_verdict_says_is_said_once() {
        let verdict = Verdict { text: "No request failed".to_owned(), ..Verdict::default() };
        let texts = ["GPU 0: No request failed", "Half of it is free"];
        let conclusions = texts.map(|text| Conclusion::new("any", text)).to_vec();
        let found = Insights { verdict: Some(verdict), conclusions, ..Insights::default() };
        let sight = FirstSight::of(Arc::new(found));
        assert_eq!(sight.reason, "No request failed");
        assert_eq!(sight.sentences, ["Half of it is free"]);
    }
}
