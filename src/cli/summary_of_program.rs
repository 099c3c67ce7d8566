//! `tilescope summary` of a program of XLA: the module of a dump that is meant.

mod peak;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use self::peak::Peak;

use super::output::{Answer, CsvAnswer, aligned, name_cell, wrapped};
use super::summary::{files_text, pairs, sections_text, summary_csv};
use super::summary_of_error_text::stated_text;
use crate::analysis::diagnose::{Finding, XlaCapture};
use crate::opened::{Program, XlaRun};
use crate::store::hlo::{Beside, ListedModule};
use crate::store::report::ReportFile;
use crate::systems::pytorch::allocator::insights::conclusions::Conclusion;
use crate::systems::xla::buffer_assignment::claims::{ComparedClaim, compared_claims};
use crate::systems::xla::buffer_assignment::facts::{ModuleFacts, TemporaryFacts};
use crate::systems::xla::buffer_assignment::insights::advice::ProgramAdvice;
use crate::systems::xla::buffer_assignment::insights::{
    PeakOfSpace, ProgramInsights, ProgramVerdict,
};
use crate::systems::xla::buffer_assignment::trace_lives::TraceLives;
use crate::text::{bytes, clean, grouped};

/// Rows of a table in text; JSON has all.
const MOST_ROWS: usize = 40;
/// Pieces of advice, and rows of what each is based on, in text.
const MOST_ADVICE: usize = 6;
const MOST_EVIDENCE: usize = 2;

/// `tilescope.summary/1` (cli.md, Other systems).
#[derive(Debug, Serialize)]
pub struct ProgramSummary {
    source: Source,
    memory: MemoryFacts,
    liveness: LivenessFacts,
    insights: InsightFacts,
    /// The facts of the system: keys of formats/xla.md.
    xla: Section,
    #[serde(skip)]
    color_titles: BTreeMap<i64, String>,
}

#[derive(Debug, Serialize)]
struct Source {
    path: String,
    system: &'static str,
    format: &'static str,
    files: Vec<ReportFile>,
}

/// Of the main memory.
#[derive(Debug, Serialize)]
struct MemoryFacts {
    /// Of all allocations: what the device must have.
    total_bytes: u64,
    /// Of those that are reserved for as long as the program runs.
    always_live_bytes: u64,
    /// Of temporary allocations, what is never in use at once.
    gap_bytes: Option<u64>,
    /// What the device has, where something beside the module says it.
    capacity_bytes: Option<u64>,
    fits: Option<bool>,
}

#[derive(Debug, Serialize)]
struct LivenessFacts {
    steps: Option<u32>,
    peak: Option<Peak>,
}

#[derive(Debug, Serialize)]
struct InsightFacts {
    verdict: ProgramVerdict,
    /// What to try; bounds of what is saved.
    advice: Vec<ProgramAdvice>,
    conclusions: Vec<Conclusion>,
}

#[derive(Debug, Serialize)]
struct Section {
    file: String,
    module: Option<String>,
    #[serde(flatten)]
    facts: ModuleFacts,
    modules: Vec<ListedModule>,
    device: Beside,
    /// What XLA states beside the module.
    claims: Option<Claims>,
    /// What XLA said when the program did not fit.
    error_text: Option<Stated>,
    flags: Map<String, Value>,
}

/// What XLA states of the module beside what comes out of it.
#[derive(Debug, Serialize)]
struct Claims {
    figures: Vec<ComparedClaim>,
    /// The position that XLA takes for the peak.
    moment: Option<u32>,
}

/// What an error text beside the module states: figures of XLA, which has its own definitions of most.
#[derive(Debug, Serialize)]
struct Stated {
    file: String,
    #[serde(flatten, serialize_with = "XlaCapture::serialize_of")]
    finding: Finding,
}

impl ProgramSummary {
    /// Sums up a run.
    pub fn of(run: &XlaRun) -> Self {
        let (report, program) = (&*run.report, &*run.program);
        let analysed = &program.analysed;
        let facts = ModuleFacts::of(analysed, program.platform);
        let main = facts.bytes_by_color.get(&0).copied().unwrap_or(0);
        let capacity = program.beside.capacity_bytes;
        let insights = ProgramInsights::of(program);
        let of_peak = insights.main_space().and_then(|space| space.peak.as_ref());
        let reserved = insights.verdict.reserved_bytes;
        let traced = TraceLives::of(analysed);
        let listed = program.modules.first();
        let flags = program.beside.flags.iter();
        Self {
            source: Source {
                path: report.path.display().to_string(),
                system: report.system.name,
                format: program.format(),
                files: report.files(),
            },
            memory: MemoryFacts {
                total_bytes: main,
                always_live_bytes: insights.verdict.reserved_bytes,
                gap_bytes: of_peak.map(PeakOfSpace::lost_bytes),
                capacity_bytes: capacity,
                fits: insights.verdict.outcome.fits(),
            },
            liveness: LivenessFacts {
                steps: facts
                    .steps
                    .or_else(|| u32::try_from(traced.as_ref()?.trace.events.len()).ok()),
                peak: (of_peak.map(|of| Peak::of(program, of, reserved)))
                    .or_else(|| Peak::of_trace(program, traced.as_ref()?, reserved)),
            },
            insights: InsightFacts {
                verdict: insights.verdict,
                advice: insights.advice,
                conclusions: insights.conclusions,
            },
            xla: Section {
                file: listed.map(|one| one.file.clone()).unwrap_or_default(),
                module: listed.and_then(|one| one.module.clone()),
                facts,
                modules: program.modules.clone(),
                device: program.beside.clone(),
                claims: claims(program),
                error_text: run
                    .error_text
                    .as_ref()
                    .map(|text| Stated { file: text.file(), finding: text.finding.clone() }),
                flags: flags
                    .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
                    .collect(),
            },
            color_titles: (analysed.colors())
                .map(|color| (color, program.color_title(color)))
                .collect(),
        }
    }
}

fn claims(program: &Program) -> Option<Claims> {
    let (figures, moment) = (compared_claims(program), program.claims.moment);
    (!figures.is_empty() || moment.is_some()).then_some(Claims { figures, moment })
}

/// The verdict, what follows, and what to try.
fn insights_text(insights: &InsightFacts) -> String {
    let verdict = &insights.verdict;
    let mut text = wrapped("  ", &format!("{}: {}", verdict.outcome.title(), verdict.reason));
    for conclusion in insights.conclusions.iter().filter(|one| one.text != verdict.reason) {
        text += &wrapped("  ", &conclusion.text);
    }
    for (number, advice) in (1..=MOST_ADVICE).zip(&insights.advice) {
        let (most, of) = (bytes(advice.saves_bytes), bytes(advice.of_bytes));
        let line = format!(
            "{number}. {}: {}. Saves {most} of the {of} {} if all else stays. {}",
            advice.id.title(),
            clean(&advice.what),
            advice.of,
            advice.caution
        );
        text += &wrapped("  ", &line);
        for one in advice.evidence.iter().take(MOST_EVIDENCE) {
            text += &wrapped("     ", &format!("{} {}", bytes(one.bytes), clean(&one.what)));
        }
    }
    text
}

impl Answer for ProgramSummary {
    const SCHEMA: &'static str = "tilescope.summary/1";

    fn text(&self) -> String {
        let mut sections = vec![("Program".to_owned(), self.program_text())];
        sections.push(("Memory".to_owned(), self.spaces_text()));
        sections.push(("Insights".to_owned(), insights_text(&self.insights)));
        if let Some(peak) = &self.liveness.peak {
            sections.push(("Peak of what is temporary".to_owned(), peak.text()));
        }
        let (temporary, more) = largest(self.xla.facts.temp.iter(), |one| one.bytes);
        let rows: Vec<Vec<String>> =
            temporary.into_iter().map(|one| self.temporary_row(one)).collect();
        if !rows.is_empty() {
            let header = [
                "allocation",
                "<Memory",
                "bytes",
                "peak",
                "lost",
                "at",
                "live",
                "padding",
                "trace of XLA",
            ];
            let table = aligned(&header, rows) + &more_text(more);
            sections.push(("Temporary allocations".to_owned(), table));
        }
        if let Some(claims) = &self.xla.claims {
            sections.push(("Stated beside it".to_owned(), self.claims_text(claims)));
        }
        if let Some(stated) = &self.xla.error_text {
            let title = format!("What XLA states ({}), not in the figures above", stated.file);
            sections.push((title, stated_text(XlaCapture::of_xla(&stated.finding))));
        }
        if self.xla.modules.len() > 1 {
            sections.push(("Modules".to_owned(), self.modules_text()));
        }
        sections_text(&sections)
    }
}

impl CsvAnswer for ProgramSummary {
    fn csv(&self) -> String {
        summary_csv(self)
    }
}

impl ProgramSummary {
    fn program_text(&self) -> String {
        let facts = &self.xla.facts;
        let mut rows = vec![
            ("Path", clean(&self.source.path).into_owned()),
            ("Module", clean(self.xla.module.as_deref().unwrap_or("not named")).into_owned()),
            ("File", files_text(&self.source.files)),
            ("Format", self.source.format.to_owned()),
        ];
        if let Some(platform) = facts.platform {
            rows.push(("Compiled for", platform.to_uppercase()));
        }
        if let Some(device) = &self.xla.device.device {
            rows.push(("Device", clean(device).into_owned()));
        }
        if let Some(steps) = facts.steps {
            rows.push(("Schedule", format!("{} steps", grouped(u64::from(steps)))));
        }
        rows.push((
            "Allocations",
            format!(
                "{}, {} values",
                grouped(facts.allocations as u64),
                grouped(facts.values as u64)
            ),
        ));
        let donated = facts.parameters.donated_bytes;
        let parameters = bytes(facts.parameters.bytes);
        rows.push(("Parameters", format!("{parameters}, {} of it donated", bytes(donated))));
        if let Some(donatable) = facts.donatable_bytes.filter(|bytes| *bytes > 0) {
            rows.push(("Donatable", bytes(donatable)));
        }
        if !self.xla.flags.is_empty() {
            let flags = self.xla.flags.iter();
            let flags: Vec<String> = flags
                .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or("")))
                .collect();
            rows.push(("Flags", clean(&flags.join(" ")).into_owned()));
        }
        pairs(rows)
    }

    fn title(&self, color: i64) -> String {
        self.color_titles.get(&color).cloned().unwrap_or_else(|| color.to_string())
    }

    fn spaces_text(&self) -> String {
        let facts = &self.xla.facts;
        let of = |by: Option<&BTreeMap<i64, u64>>, color: &i64| {
            by.and_then(|by| by.get(color)).map(|count| bytes(*count)).unwrap_or_default()
        };
        let (largest, more) = largest(facts.bytes_by_color.iter(), |(_, total)| **total);
        let rows = largest.into_iter().map(|(color, total)| {
            let in_use = facts.in_use.as_ref().and_then(|by| by.get(color));
            vec![
                self.title(*color),
                bytes(*total),
                of(facts.reserved_throughout_by_color.as_ref(), color),
                in_use.map(|in_use| bytes(in_use.peak_bytes)).unwrap_or_default(),
            ]
        });
        let mut text = aligned(&["<Memory", "reserved", "throughout", "most in use"], rows);
        text += &more_text(more);
        if let Some(capacity) = self.memory.capacity_bytes {
            let fits = self.insights.verdict.outcome.title().to_lowercase();
            let file = self.xla.device.capacity_file.as_deref().map(clean);
            let file = file.map(|file| format!(", says {file}")).unwrap_or_default();
            let reserved = bytes(self.memory.total_bytes);
            let text_of = format!("{fits}: {reserved} of {}{file}", bytes(capacity));
            text += &pairs([("Capacity", text_of)]);
        }
        text
    }

    fn temporary_row(&self, one: &TemporaryFacts) -> Vec<String> {
        let peak = one.peak.as_ref();
        let figure =
            |of: &dyn Fn(&crate::systems::xla::buffer_assignment::facts::PeakFacts) -> String| {
                peak.map(of).unwrap_or_default()
            };
        vec![
            one.allocation.to_string(),
            self.title(one.color),
            bytes(one.bytes),
            figure(&|peak| bytes(peak.bytes)),
            figure(&|peak| bytes(peak.lost_bytes)),
            figure(&|peak| positions(&peak.positions)),
            figure(&|peak| grouped(peak.live_values as u64)),
            figure(&|peak| bytes(peak.padding_bytes)),
            one.heap_trace.as_ref().map(|trace| bytes(trace.peak_bytes)).unwrap_or_default(),
        ]
    }

    fn claims_text(&self, claims: &Claims) -> String {
        let rows = claims.figures.iter().map(|claim| {
            let agrees = if claim.agrees { "" } else { "differs" };
            let [claimed, ours] = [claim.claimed_bytes, claim.bytes].map(bytes);
            vec![claim.title(|color| self.title(color)), claimed, ours, agrees.to_owned()]
        });
        let mut text = String::new();
        if !claims.figures.is_empty() {
            text += &aligned(&["<XLA's own", "stated", "allocations", "<"], rows);
        }
        if let Some(moment) = claims.moment {
            let at = format!("position {}, not the peak of memory", grouped(u64::from(moment)));
            text += &pairs([("XLA's moment", at)]);
        }
        text
    }

    fn modules_text(&self) -> String {
        // The one that is meant is first, the others by size.
        let more = self.xla.modules.len().saturating_sub(MOST_ROWS);
        let rows = self.xla.modules.iter().take(MOST_ROWS).enumerate().map(|(place, one)| {
            vec![
                if place == 0 { "this" } else { "" }.to_owned(),
                name_cell(one.module.as_deref().unwrap_or("not named")),
                bytes(one.total_bytes),
                bytes(one.temp_bytes),
                grouped(one.allocations as u64),
                name_cell(&one.key),
            ]
        });
        let header = ["<", "<Module", "total", "temporary", "allocations", "<File"];
        aligned(&header, rows) + &more_text(more)
    }
}

/// The largest of a table in their order, and how many others there are.
fn largest<T: Copy>(rows: impl Iterator<Item = T>, bytes: impl Fn(&T) -> u64) -> (Vec<T>, usize) {
    let mut rows: Vec<(usize, T)> = rows.enumerate().collect();
    let more = rows.len().saturating_sub(MOST_ROWS);
    if more > 0 {
        rows.sort_by_key(|(_, row)| std::cmp::Reverse(bytes(row)));
        rows.truncate(MOST_ROWS);
        rows.sort_by_key(|(place, _)| *place);
    }
    (rows.into_iter().map(|(_, row)| row).collect(), more)
}

/// How many rows a table has that are not shown.
fn more_text(more: usize) -> String {
    if more == 0 { String::new() } else { format!("  {} more\n", grouped(more as u64)) }
}

/// Positions as ranges: `153–158`.
fn positions(ranges: &[(u32, u32)]) -> String {
    let written = ranges.iter().take(3).map(|(first, last)| match last {
        last if first == last => first.to_string(),
        last => format!("{first}–{last}"),
    });
    let more = if ranges.len() > 3 { ", …" } else { "" };
    format!("{}{more}", written.collect::<Vec<_>>().join(", "))
}
