//! One file that opens anywhere: a run, or runs beside each other, as an HTML page without a network, which also reads
//! without its script. Every text is escaped where it is written.
//!
//! The page forbids everything that it does not bring itself: its style and its script are allowed by what they hash to.

mod compared;
mod curve;
mod map;
mod palette;
mod run;
mod samples;
mod tables;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use self::compared::compared_markup;
use self::palette::GroupColors;
use self::run::run_markup;
use crate::analysis::derived::Derived;
use crate::progress::Progress;
use crate::run::{Outcome, Room};
use crate::store::Warning;
use crate::text::clean;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A run of a page.
#[derive(Debug)]
pub struct HtmlRun {
    /// What it is called among the others.
    pub name: String,
    /// What is worked out of it; all that its pages go by is read.
    pub derived: Arc<Derived>,
    /// What is wrong with its files.
    pub warnings: Vec<Warning>,
}

/// Runs that are put onto a page, the first of which is the reference.
#[derive(Debug)]
pub struct HtmlPage {
    runs: Vec<HtmlRun>,
    /// What the user said of the device.
    room: Room,
}

impl HtmlPage {
    /// Runs of different systems are shown beside each other, but not compared.
    pub fn of(runs: Vec<HtmlRun>, room: Room) -> Self {
        Self { runs, room }
    }

    /// The page.
    pub fn write(&self, progress: &Progress) -> String {
        let names: Vec<&str> = self.runs.iter().map(|run| &*run.name).collect();
        let title = names.join(" and ");
        let palette = GroupColors::default();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy());
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="generator" content=(concat!("Tilescope ", env!("CARGO_PKG_VERSION")));
                    title { (clean(&title)) " – Tilescope" }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header {
                        h1 { (clean(&title)) }
                        @if let Some(run) = self.runs.first() {
                            p.about { (run.derived.report().system.producer) " memory, by Tilescope " (env!("CARGO_PKG_VERSION")) }
                        }
                        (self.contents())
                    }
                    main {
                        (compared_markup(&self.runs, self.room))
                        @for (number, run) in self.runs.iter().enumerate() {
                            (run_markup(run, &palette, number, self.runs.len(), progress))
                        }
                    }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        page.into_string()
    }

    /// Where each run of several begins, with its outcome.
    fn contents(&self) -> Markup {
        if self.runs.len() < 2 {
            return html! {};
        }
        html! {
            nav {
                a href="#compared" { "What changed" }
                @for (number, run) in self.runs.iter().enumerate() {
                    @let verdict = run.derived.verdict();
                    @let outcome = verdict.map_or(Outcome::Unknown, |verdict| verdict.outcome);
                    a href=(format!("#run{number}")) { (clean(&run.name)) " " span class=(outcome_class(outcome)) { (outcome.word()) } }
                }
            }
        }
    }
}

/// The class of an outcome, by which it is colored.
fn outcome_class(outcome: Outcome) -> &'static str {
    match outcome.went_well() {
        Some(true) => "outcome well",
        Some(false) => "outcome ill",
        None => "outcome",
    }
}

/// What the page may do: nothing but its own style and script.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

/// Data for the script, which no text in it can end.
fn data_markup(id: &str, data: &serde_json::Value) -> Markup {
    // No `<` is left that could end the element; JSON means the same.
    let text = data.to_string().replace('<', "\\u003c");
    html! { script type="application/json" id=(id) { (PreEscaped(text)) } }
}
