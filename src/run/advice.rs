//! Advice: what to try next, what it saves, whether that is enough, how it is written, and what it costs.

use serde::Serialize;

use super::evidence::Evidence;
use super::verdict::{Outcome, Verdict};
use crate::text::{grouped, range, words};

words! {
    /// What a saving is a part of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SavedOf by key, title {
        /// The peak of the requested curve.
        RequestedPeak = "requested_peak" | "requested peak",
        /// What was in use when a request failed, with that request.
        WantedAtFailure = "wanted_at_failure" | "wanted when memory ended",
        /// The peak of the reserved curve.
        ReservedPeak = "reserved_peak" | "reserved peak",
        /// What was reserved when the request failed.
        ReservedAtFailure = "reserved_at_failure" | "memory reserved when it failed",
        /// The peak of what is temporary.
        TemporaryPeak = "temporary_peak" | "temporary peak",
        /// All that is taken.
        Total = "total" | "total",
        /// What is over the limit of arenas.
        OverLimit = "over_limit" | "that is over",
    }
}

/// A piece of advice.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Advice {
    /// The technique: a fixed key, and the anchor of its section in the book.
    pub id: &'static str,
    /// The technique in a few words.
    #[serde(skip)]
    pub title: &'static str,
    /// The number of the device that it is about; `None` for the whole run.
    pub device: Option<i64>,
    /// The name of the device, where a run has several.
    #[serde(skip)]
    pub device_name: Option<String>,
    /// What to do and why, in a sentence without its full stop.
    pub text: String,
    /// What it saves; `None` where no honest figure can be given.
    pub saving: Option<Saving>,
    /// Whether what it saves covers what is too much; `None` where the capacity or the saving is not known well enough.
    /// After a request that failed, what is too much is what that request lacked.
    pub makes_it_fit: Option<bool>,
    /// The option that it is about, with its values.
    #[serde(flatten)]
    pub proposal: Proposal,
    /// What it is based on, never empty.
    pub evidence: Vec<Evidence>,
    /// How it is written.
    pub how: Vec<HowTo>,
    /// What it costs, and what to mind.
    pub caution: &'static str,
}

impl Advice {
    /// Advice to use a technique, of which nothing else is said yet.
    pub fn of(id: &'static str, title: &'static str) -> Self {
        Self {
            id,
            title,
            device: None,
            device_name: None,
            text: String::new(),
            saving: None,
            makes_it_fit: None,
            proposal: Proposal::default(),
            evidence: Vec::new(),
            how: Vec::new(),
            caution: "",
        }
    }

    /// Whether what it saves covers what a run lacks (definitions.md, `makes_it_fit`); `None` where that is not known, or it
    /// lacks nothing.
    pub fn fits_where(&self, verdict: &Verdict) -> Option<bool> {
        if verdict.outcome != Outcome::DoesNotFit {
            return None;
        }
        let of_device = verdict.devices.iter().find(|of| Some(of.device) == self.device);
        let over = of_device.map_or(verdict.over_bytes, |of| of.over_bytes)?;
        let saving = self.saving.as_ref().filter(|_| over > 0)?;
        let is_enough = saving.expected_bytes.is_some_and(|expected| expected >= over);
        if is_enough && verdict.at_least.is_none() {
            return Some(true);
        }
        saving.at_most_bytes.filter(|most| *most < over).map(|_| false)
    }

    /// What it saves and whether that is enough, as sentences that follow another: `. Saves about 2.00 GiB of …`.
    pub fn sentences_of_saving(&self, size: &dyn Fn(u64) -> String) -> String {
        let saving = self.saving.as_ref().map(|saving| format!(". {}", saving.sentence(size)));
        let fits = match self.makes_it_fit {
            Some(true) => ". This is enough on its own",
            Some(false) => ". This is not enough on its own",
            None => "",
        };
        saving.unwrap_or_default() + fits
    }

    /// Whether it is enough, for people, with what would be used then of what there is where the verdict says what is used
    /// now; `None` where that is not known.
    pub fn enough_text(
        &self,
        verdict: Option<&Verdict>,
        size: &dyn Fn(u64) -> String,
    ) -> Option<String> {
        let enough = if self.makes_it_fit? { "Enough on its own" } else { "Not enough on its own" };
        let of_all =
            verdict.filter(|it| it.outcome == Outcome::DoesNotFit && self.device.is_none());
        let used = of_all.and_then(|it| it.used_of_all).filter(|(used, all)| used > all);
        let saved = self.saving.as_ref().and_then(|saving| saving.expected_bytes);
        Some(match used.zip(saved) {
            Some(((used, all), saved)) => {
                let left = size(used.saturating_sub(saved));
                format!("{enough}: {left} of {} would be used", size(all))
            }
            None => enough.to_owned(),
        })
    }
}

/// The option that a piece of advice is about, with its values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Proposal {
    /// Its name.
    pub option: Option<&'static str>,
    /// Which way it goes: `lower`, `raise`, `change`.
    pub direction: Option<&'static str>,
    /// Its values now, ascending.
    pub now: Vec<f64>,
    /// The value to try first.
    pub suggested: Option<f64>,
    /// The value to try next, if that is not enough.
    pub next: Option<f64>,
}

impl Proposal {
    /// Its values now: `0.6`, `0.2 to 0.6`.
    pub fn now_text(&self) -> Option<String> {
        range(&self.now)
    }
}

/// How a technique is written in one framework.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct HowTo {
    /// The framework.
    pub framework: &'static str,
    /// What to do, where that is not code.
    pub text: String,
    /// What to write.
    pub code: String,
}

impl HowTo {
    /// What to write in a framework.
    pub fn code(framework: &'static str, code: impl Into<String>) -> Self {
        Self { framework, text: String::new(), code: code.into() }
    }
}

/// A technique that comes to mind and does not help here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct NotAdvised {
    /// The technique: a fixed key.
    pub id: &'static str,
    /// Why it does not help, in a sentence without its full stop.
    pub why: String,
    /// What says so.
    pub evidence: Vec<Evidence>,
}

/// What a piece of advice saves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Saving {
    /// What following it brings; `None` where only a bound is known.
    pub expected_bytes: Option<u64>,
    /// A bound that holds; `None` where none is known.
    pub at_most_bytes: Option<u64>,
    /// What is guaranteed; `None` where nothing is.
    pub at_least_bytes: Option<u64>,
    /// Bytes of the whole that it is a part of.
    pub of_bytes: u64,
    /// What that whole is.
    pub of: SavedOf,
    /// How it was worked out.
    pub basis: String,
    /// Arenas that would be within the limit, where that is what counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arenas: Option<u64>,
    /// On how many of the arenas that are over it was worked out, and how many are, where that is not all of them.
    #[serde(skip)]
    pub sample: Option<Sample>,
}

/// Of how many things a figure was worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Things that were looked at.
    pub looked_at: u64,
    /// All of them.
    pub of: u64,
    /// What they are, in the plural.
    pub things: &'static str,
}

impl Saving {
    /// A saving of a whole, of which nothing is known yet.
    pub fn of(of: SavedOf, of_bytes: u64, basis: impl Into<String>) -> Self {
        Self {
            expected_bytes: None,
            at_most_bytes: None,
            at_least_bytes: None,
            of_bytes,
            of,
            basis: basis.into(),
            arenas: None,
            sample: None,
        }
    }

    /// The figure by which it is ranked: what is expected, else what is guaranteed, else the bound.
    pub fn ranking_bytes(&self) -> u64 {
        self.expected_bytes.or(self.at_least_bytes).or(self.at_most_bytes).unwrap_or(0)
    }

    /// The shares of the whole that are sure, or expected where nothing is sure, and at most.
    pub fn shares(&self) -> [f64; 2] {
        let share = |bytes: u64| bytes as f64 / self.of_bytes.max(1) as f64;
        let sure = self.at_least_bytes.or(self.expected_bytes).unwrap_or(0);
        let most = self.expected_bytes.max(self.at_most_bytes).unwrap_or(sure);
        [share(sure), share(most)]
    }

    /// The same in percent: `100 %`, `about 40 %`, `45 to 100 %`, `up to 74 %`. All is only said of all.
    pub fn percent_text(&self) -> String {
        let whole = |share: f64| match (share * 100.0).floor() {
            0.0 if share > 0.0 => "under 1".to_owned(),
            percent => percent.to_string(),
        };
        let [sure, most] = self.shares().map(whole);
        match (self.at_least_bytes, self.expected_bytes) {
            (Some(1..), _) if sure == most => format!("{sure} %"),
            (Some(1..), _) => format!("{sure} to {most} %"),
            (_, Some(_)) => format!("about {sure} %"),
            (_, None) => format!("up to {most} %"),
        }
    }

    /// What it saves in a sentence, without its full stop; `size` writes bytes.
    pub fn sentence(&self, size: &dyn Fn(u64) -> String) -> String {
        let sample = self.sample.map_or_else(String::new, |sample| {
            let (looked_at, of) = (grouped(sample.looked_at), grouped(sample.of));
            format!(" (worked out on {looked_at} of these {of} {})", sample.things)
        });
        let of = match self.of {
            SavedOf::OverLimit => format!("of the {} that is over", size(self.of_bytes)),
            of => format!("of the {} {}", size(self.of_bytes), of.title()),
        };
        format!("Saves {} {of}{sample}", self.amount(size))
    }

    fn amount(&self, size: &dyn Fn(u64) -> String) -> String {
        let part = |bytes: u64| {
            if bytes == self.of_bytes { "all".to_owned() } else { size(bytes) }
        };
        let most = self.expected_bytes.max(self.at_most_bytes);
        match (self.at_least_bytes, self.expected_bytes, most) {
            (Some(least @ 1..), _, Some(most)) if most > least => {
                format!("at least {}, at most {},", size(least), part(most))
            }
            (Some(least @ 1..), _, _) => part(least),
            (_, Some(expected), Some(most)) if most > expected => {
                format!("about {}, at most {},", size(expected), size(most))
            }
            (_, Some(expected), _) => format!("about {}", size(expected)),
            (_, None, Some(most)) => format!("at most {}", part(most)),
            (_, None, None) => "an unknown part".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saving(least: Option<u64>, expected: Option<u64>, most: Option<u64>) -> Saving {
        Saving {
            at_least_bytes: least,
            expected_bytes: expected,
            at_most_bytes: most,
            ..Saving::of(SavedOf::RequestedPeak, 1000, "")
        }
    }

    #[test]
    fn all_is_only_said_of_what_covers_all() {
        let percent = |least, expected, most| saving(least, expected, most).percent_text();
        assert_eq!(percent(Some(1000), Some(1000), None), "100 %");
        assert_eq!(percent(None, None, Some(999)), "up to 99 %");
        assert_eq!(percent(Some(450), Some(1000), None), "45 to 100 %");
        assert_eq!(percent(Some(3), Some(3), None), "under 1 %");
        assert_eq!(percent(None, Some(401), Some(700)), "about 40 %");
    }

    #[test]
    fn a_sentence_says_what_is_sure_expected_and_at_most() {
        let sentence = |least, expected, most| {
            saving(least, expected, most).sentence(&|bytes| format!("{bytes} B"))
        };
        let of = "of the 1000 B requested peak";
        assert_eq!(
            sentence(None, Some(40), Some(70)),
            format!("Saves about 40 B, at most 70 B, {of}")
        );
        assert_eq!(sentence(None, Some(70), Some(70)), format!("Saves about 70 B {of}"));
        assert_eq!(sentence(None, None, Some(70)), format!("Saves at most 70 B {of}"));
        assert_eq!(
            sentence(Some(40), Some(70), None),
            format!("Saves at least 40 B, at most 70 B, {of}")
        );
        assert_eq!(sentence(Some(1000), Some(1000), None), format!("Saves all {of}"));
        assert_eq!(sentence(None, None, None), format!("Saves an unknown part {of}"));
    }

    #[test]
    fn advice_is_ranked_by_what_is_expected_and_not_by_a_bound() {
        assert_eq!(saving(Some(1), Some(2), Some(3)).ranking_bytes(), 2);
        assert_eq!(saving(Some(1), None, Some(3)).ranking_bytes(), 1);
        assert_eq!(saving(None, None, Some(3)).ranking_bytes(), 3);
    }
}
