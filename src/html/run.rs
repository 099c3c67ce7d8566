//! A run on a page: whether it fits, its curve, who owns the peak, what to try, and what else its system says.

use maud::{Markup, html};

use super::curve::curve_markup;
use super::map::map_markup;
use super::palette::GroupColors;
use super::tables::{HtmlCell, table_markup};
use super::{HtmlRun, outcome_class};
use crate::progress::Progress;
use crate::run::{
    Advice, Cell, Claim, DeviceVerdict, Evidence, Insights, PeakOfRun, PeakRow, Section,
    SectionBody, Verdict,
};
use crate::store::System;
use crate::text::{bytes, capitalised, clean, exact_bytes, grouped};

/// The sections of a run, one of so many on the page. Alone it needs no title of its own.
pub(super) fn run_markup(
    run: &HtmlRun,
    palette: &GroupColors,
    number: usize,
    of: usize,
    progress: &Progress,
) -> Markup {
    let (derived, answers) = (&run.derived, run.derived.answers());
    let words = &derived.report().system;
    let insights = derived.run_insights(progress).unwrap_or_default();
    let peak = answers.peak(derived);
    html! {
        section.run id=(format!("run{number}")) {
            @if of > 1 { h2 { (clean(&run.name)) } }
            @if let Some(verdict) = &insights.verdict { (verdict_markup(verdict)) }
            (curve_markup(derived, palette, number, of, progress))
            (insights_markup(&insights, words))
            @if let Some(peak) = &peak { (peak_markup(peak, words)) }
            (map_markup(derived, palette, of, progress))
            @for section in answers.sections(derived, &insights) { (section_markup(&section)) }
            (claims_markup(&answers.claims(derived)))
            (source_markup(run))
        }
    }
}

fn verdict_markup(verdict: &Verdict) -> Markup {
    let capacity = verdict.used_bytes.zip(verdict.capacity_bytes);
    html! {
        div.verdict {
            p class=(outcome_class(verdict.outcome)) { (clean(&verdict.headline(&bytes))) }
            p { (sentence(&verdict.text)) }
            @for detail in &verdict.details { p.note { (sentence(detail)) } }
            @if let Some((used, capacity)) = capacity {
                (bar_markup(used, capacity))
                p.note {
                    (exact_bytes(used)) " of " (exact_bytes(capacity)) (verdict.on_what())
                    @if let Some(from) = &verdict.capacity_from { "; the capacity is from " (clean(from)) }
                }
            }
        }
        (devices_markup(&verdict.devices))
    }
}

/// What is used of a capacity; what is over it stands out.
fn bar_markup(used: u64, capacity: u64) -> Markup {
    let whole = used.max(capacity).max(1) as f64;
    let width = |bytes: u64| format!("{:.2}", bytes as f64 * 100.0 / whole);
    html! {
        svg.bar viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true" {
            rect.used width=(width(used.min(capacity))) height="1" {}
            @if used > capacity { rect.over x=(width(capacity)) width=(width(used.saturating_sub(capacity))) height="1" {} }
        }
    }
}

fn devices_markup(devices: &[DeviceVerdict]) -> Markup {
    if devices.len() < 2 {
        return html! {};
    }
    let known = |bytes: Option<u64>| bytes.map_or(HtmlCell::Empty, HtmlCell::Bytes);
    let rows: Vec<_> = devices
        .iter()
        .map(|device| {
            vec![
                HtmlCell::Text(device.name.clone()),
                HtmlCell::Text(device.outcome.word().to_owned()),
                known(device.used_bytes),
                known(device.capacity_bytes),
                known(device.over_bytes.filter(|over| *over > 0)),
                known(device.peak_bytes),
            ]
        })
        .collect();
    table_markup("Devices", &["Device", "Verdict", "Used", "Capacity", "Over", "Peak"], &rows)
}

fn insights_markup(insights: &Insights, words: &System) -> Markup {
    let is_said = |text: &str| {
        insights.verdict.as_ref().is_some_and(|verdict| text.ends_with(&*verdict.text))
    };
    html! {
        @let conclusions: Vec<_> = insights.conclusions.iter().filter(|one| !is_said(&one.text)).collect();
        @if !conclusions.is_empty() {
            h3 { "What stands out" }
            ul.said {
                @for conclusion in conclusions {
                    li { (sentence(&conclusion.text)) (evidence_markup(&conclusion.evidence, words)) }
                }
            }
        }
        @if !insights.advice.is_empty() {
            h3 { "What to try" }
            ol.advice {
                @for advice in &insights.advice { li { (advice_markup(advice, insights.verdict.as_ref(), words)) } }
            }
        }
        @if !insights.not_advised.is_empty() {
            details {
                summary { "Considered, but would not help" }
                ul.said {
                    @for one in &insights.not_advised {
                        li { (sentence(&one.why)) (evidence_markup(&one.evidence, words)) }
                    }
                }
            }
        }
    }
}

fn advice_markup(advice: &Advice, verdict: Option<&Verdict>, words: &System) -> Markup {
    let of = advice.device_name.as_deref();
    html! {
        h4 {
            (advice.title)
            @if let Some(of) = of { " (" (clean(of)) ")" }
            @if let Some(saving) = &advice.saving { span.saving { (saving.percent_text()) } }
        }
        @if advice.text != advice.title { p { (sentence(&advice.text)) } }
        @if let Some(saving) = &advice.saving { p { (sentence(&saving.sentence(&bytes))) } }
        @if let Some(enough) = advice.enough_text(verdict, &bytes) { p { strong { (sentence(&enough)) } } }
        @if !advice.caution.is_empty() { p.note { "Cost: " (sentence(advice.caution)) } }
        @for how in &advice.how {
            @if advice.how.len() > 1 { p.note { (how.framework) } }
            @if !how.text.is_empty() { p { (clean(&how.text)) } }
            @if !how.code.is_empty() { pre { code { (how.code) } } }
        }
        (evidence_markup(&advice.evidence, words))
    }
}

fn evidence_markup(evidence: &[Evidence], words: &System) -> Markup {
    /// Rows of what a conclusion goes by.
    const MOST: usize = 50;
    html! {
        @if !evidence.is_empty() {
            details {
                summary { "Evidence" }
                ul {
                    @for one in evidence.iter().take(MOST) { li { (clean(&one.sentence(words, &bytes))) } }
                    @if evidence.len() > MOST { li { (grouped((evidence.len() - MOST) as u64)) " more" } }
                }
            }
        }
    }
}

fn peak_markup(peak: &PeakOfRun, words: &System) -> Markup {
    let name =
        peak.name.as_deref().filter(|name| peak.stack.first().is_none_or(|line| line != name));
    let step = peak.step.map(|step| match u64::try_from(step) {
        Ok(step) => format!("at {} {}", words.step_in_text, grouped(step)),
        Err(_) => format!("before the first {}", words.step_in_text),
    });
    let mut at: Vec<&str> = Vec::new();
    let named = [step.as_deref(), peak.kind.as_deref(), name, peak.operation.as_deref()];
    for one in named.into_iter().flatten() {
        // The name of a step may be that of its operation.
        if !at.contains(&one) {
            at.push(one);
        }
    }
    let largest: Vec<_> = peak
        .largest
        .iter()
        .map(|one| {
            let text = |text: &Option<String>| text.clone().map_or(HtmlCell::Empty, HtmlCell::Text);
            let category = one.category.as_deref().map(readable_key);
            vec![
                HtmlCell::Text(one.name.clone()),
                HtmlCell::Bytes(one.bytes),
                text(&category),
                text(&one.operation),
            ]
        })
        .collect();
    html! {
        h3 { "Who owns the peak" }
        p { (exact_bytes(peak.bytes)) " alive" @if !at.is_empty() { " " (clean(&at.join(", "))) } }
        @if let Some(always) = peak.always_live_bytes { p.note { (words.always_live) ": " (exact_bytes(always)) } }
        @if !peak.stack.is_empty() {
            details {
                summary { "The calls that led there" }
                ul { @for call in &peak.stack { li { code { (clean(call)) } } } }
            }
        }
        div.tables {
            (rows_markup("By category", "Category", &peak.by_category, readable_key))
            (rows_markup("By operation", "Operation", &peak.by_operation, str::to_owned))
            (rows_markup("By module", "Module", &peak.by_module, str::to_owned))
            (rows_markup("By line of code", "Line", &peak.by_line, str::to_owned))
        }
        (table_markup("The largest", &["Name", "Bytes", "Category", "Operation"], &largest))
    }
}

/// The key of a category as words: `autocast_cache` is "Autocast cache".
fn readable_key(key: &str) -> String {
    capitalised(&key.replace('_', " "))
}

fn rows_markup(
    title: &str,
    column: &str,
    rows: &[PeakRow],
    named: impl Fn(&str) -> String,
) -> Markup {
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            vec![
                HtmlCell::Text(named(&row.name)),
                HtmlCell::Bytes(row.bytes),
                HtmlCell::Count(row.count),
            ]
        })
        .collect();
    table_markup(title, &[column, "Bytes", "Number"], &rows)
}

fn section_markup(section: &Section) -> Markup {
    let cell = |cell: &Cell| match cell {
        Cell::Text(text) => HtmlCell::Text(text.clone()),
        Cell::Bytes(bytes) => HtmlCell::Bytes(*bytes),
        Cell::Count(count) => HtmlCell::Count(*count),
        Cell::Empty => HtmlCell::Empty,
    };
    match &section.body {
        SectionBody::Facts(facts) => {
            let said = |of: &Cell| match of {
                Cell::Text(text) => clean(text).into_owned(),
                Cell::Bytes(amount) => exact_bytes(*amount),
                Cell::Count(count) => grouped(*count),
                Cell::Empty => String::new(),
            };
            html! {
                h3 { (clean(&section.title)) }
                dl { @for (name, of) in facts { dt { (clean(name)) } dd { (said(of)) } } }
            }
        }
        SectionBody::Table { columns, rows } => {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let rows: Vec<Vec<HtmlCell>> =
                rows.iter().map(|row| row.iter().map(cell).collect()).collect();
            table_markup(&section.title, &columns, &rows)
        }
        SectionBody::Sentences(sentences) => html! {
            h3 { (clean(&section.title)) }
            @for one in sentences { p { (sentence(one)) } }
        },
    }
}

fn claims_markup(claims: &[Claim]) -> Markup {
    let rows: Vec<_> = claims
        .iter()
        .map(|claim| {
            let agrees = if claim.agrees { "agrees" } else { "differs" };
            vec![
                HtmlCell::Text(claim.name.clone()),
                HtmlCell::Bytes(claim.stated),
                HtmlCell::Bytes(claim.ours),
                HtmlCell::Text(agrees.to_owned()),
                HtmlCell::Text(claim.file.clone()),
            ]
        })
        .collect();
    table_markup("Stated beside the run", &["Figure", "Stated", "Here", "", "By"], &rows)
}

fn source_markup(run: &HtmlRun) -> Markup {
    let (derived, report) = (&run.derived, run.derived.report());
    let format = derived.answers().format(derived);
    let facts = [
        ("Path", Some(report.path.display().to_string())),
        ("Format", format.format),
        ("Written by", format.producer),
        ("Captured", format.captured_at),
    ];
    html! {
        details {
            summary { "Files and warnings" }
            dl {
                @for (name, said) in facts {
                    @if let Some(said) = said { dt { (name) } dd { (clean(&said)) } }
                }
            }
            @if !run.warnings.is_empty() {
                ul { @for warning in &run.warnings { li { (clean(&warning.file)) ": " (clean(&warning.message)) } } }
            }
        }
    }
}

/// A sentence with its capital letter and its full stop.
fn sentence(text: &str) -> String {
    let text = clean(text);
    // A name keeps its letters: it has other things in it than a word.
    let is_word = text
        .split(' ')
        .next()
        .is_some_and(|first| first.bytes().all(|letter| letter.is_ascii_lowercase()));
    let text = if is_word { capitalised(&text) } else { text.into_owned() };
    let is_whole = text.ends_with(['.', ':', '!', '?']) || text.is_empty();
    if is_whole { text } else { format!("{text}.") }
}
