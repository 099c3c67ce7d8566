//! What changed between runs: conclusions, what differs, figures, and what the change of the peak consists of.

use maud::{Markup, html};

use super::HtmlRun;
use super::tables::{HtmlCell, table_markup};
use crate::analysis::comparison::contribution::{Grouping, LifePart};
use crate::analysis::comparison::explanation::GroupedBy;
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::analysis::comparison::options::{OptionDifference, OptionText};
use crate::analysis::derived::Derived;
use crate::analysis::figures::difference::Difference;
use crate::run::compared::RunSide;
use crate::run::compared::names::Owner;
use crate::run::{Compared, Conclusion, Room};
use crate::text::{bytes, capitalised, clean, exact_bytes, grouped, rate, signed_percent};

/// The runs against the first; nothing of a single one.
pub(super) fn compared_markup(runs: &[HtmlRun], room: Room) -> Markup {
    let [source, others @ ..] = runs else { return html! {} };
    if others.is_empty() {
        return html! {};
    }
    let compared: Vec<(&HtmlRun, Option<Compared>)> =
        others.iter().map(|run| (run, compared_with(&source.derived, &run.derived))).collect();
    let known = || compared.iter().filter_map(|(_, compared)| compared.as_ref());
    let side = |at: usize| move |of: &Compared| of.sides.get(at).cloned();
    let first = known().next().and_then(side(0));
    let sides: Vec<RunSide> = first.into_iter().chain(known().filter_map(side(1))).collect();
    let figures: Vec<&[Figure]> = sides.iter().map(|side| &*side.figures).collect();
    let settings =
        OptionText::that_differ(sides.iter().map(|side| side.settings.clone()).collect());
    let names: Vec<&str> = std::iter::once(&*source.name)
        .chain(compared.iter().filter(|(_, of)| of.is_some()).map(|(run, _)| &*run.name))
        .collect();
    html! {
        section.compared id="compared" {
            h2 { "What changed" }
            @for (run, of) in &compared {
                @if others.len() > 1 { h3 { (clean(&run.name)) " against " (clean(&source.name)) } }
                @match of {
                    None => p { "These runs have nothing that could be compared." },
                    Some(of) => (conclusions_markup(&of.conclusions(&source.derived, room, &bytes))),
                }
            }
            (settings_markup(&settings, &names))
            (figures_markup(&Figure::side_by_side(&figures), &names))
            @for (run, of) in &compared {
                @if let Some(of) = of { (peak_markup(of, &source.name, &run.name)) }
            }
        }
    }
}

fn compared_with(source: &Derived, other: &Derived) -> Option<Compared> {
    // The window may have runs of several systems open.
    if source.report().system.name != other.report().system.name {
        return None;
    }
    // Why it cannot be compared is said in general: the page has all that each run says by itself.
    Compared::of([source, other], None, None, &|| false).ok().flatten()
}

fn conclusions_markup(conclusions: &[Conclusion]) -> Markup {
    let class = |is_better: Option<bool>| match is_better {
        Some(true) => "less",
        Some(false) => "more",
        None => "",
    };
    let word = |is_better: Option<bool>| match is_better {
        Some(true) => "Better: ",
        Some(false) => "Worse: ",
        None => "",
    };
    html! {
        ul.said {
            @for one in conclusions {
                li { strong class=(class(one.is_better)) { (word(one.is_better)) } (clean(&one.text)) "." }
            }
        }
    }
}

/// Titles of columns: the first, and the runs.
fn columns<'a>(first: &'a str, names: &[&'a str]) -> Vec<&'a str> {
    std::iter::once(first).chain(names.iter().copied()).collect()
}

fn settings_markup(settings: &[OptionDifference], names: &[&str]) -> Markup {
    let rows: Vec<Vec<HtmlCell>> = settings
        .iter()
        .map(|setting| {
            let values = (0..names.len()).map(|run| match setting.value(run) {
                None => HtmlCell::Empty,
                Some("") => HtmlCell::Text("none".to_owned()),
                Some(value) => HtmlCell::Text(value.to_owned()),
            });
            std::iter::once(HtmlCell::Text(setting.title())).chain(values).collect()
        })
        .collect();
    table_markup("What differs", &columns("Setting", names), &rows)
}

fn figures_markup(figures: &[Figure], names: &[&str]) -> Markup {
    let is_shown = |figure: &&Figure| {
        let is_category = figure.key.contains(".by_category.");
        let has_changed = (1..names.len()).any(|run| !figure.difference(run).is_equal());
        if is_category { has_changed } else { !figure.is_unknown() }
    };
    let rows: Vec<Vec<HtmlCell>> = figures
        .iter()
        .filter(is_shown)
        .map(|figure| {
            let value = |run: usize| HtmlCell::Text(value_text(figure, run));
            let title = match figure.unit {
                Unit::Microseconds => format!("{}, µs", figure.title),
                _ => figure.title.to_string(),
            };
            std::iter::once(HtmlCell::Text(title)).chain((0..names.len()).map(value)).collect()
        })
        .collect();
    table_markup("Figures", &columns("Figure", names), &rows)
}

/// A figure of a run, and how far it is from that of the first.
fn value_text(figure: &Figure, run: usize) -> String {
    let difference = figure.difference(run);
    let percent = difference.percent().filter(|percent| run > 0 && *percent != 0.0);
    let percent =
        percent.map_or_else(String::new, |percent| format!(" ({})", signed_percent(percent)));
    if let Some(of_rate) = figure.rate_difference(run) {
        return of_rate
            .target
            .map_or_else(String::new, |value| format!("{}{percent}", rate(value)));
    }
    let Some(value) = figure.value(run) else { return "not known".to_owned() };
    let least = if figure.is_at_least(run) { "≥ " } else { "" };
    let amount = match figure.unit {
        Unit::Bytes => u64::try_from(value).map_or_else(|_| value.to_string(), exact_bytes),
        Unit::Place => return value.to_string(),
        _ => u64::try_from(value).map_or_else(|_| value.to_string(), grouped),
    };
    format!("{least}{amount}{percent}")
}

/// What the change of the peak consists of, by group; the rows of a table add up to both peaks.
fn peak_markup(of: &Compared, source: &str, target: &str) -> Markup {
    let matched = of.matched.as_ref().and_then(|matched| matched.peak.as_ref());
    let of_matched = |by: GroupedBy| {
        let grouping = matched.and_then(|peak| peak.grouping(by));
        grouping
            .into_iter()
            .flat_map(Grouping::rows)
            .map(|row| changed_row(row.contributor.title(), &row.bytes.of(LifePart::All)))
    };
    let mut tables: Vec<(&str, Vec<Vec<HtmlCell>>)> = vec![
        ("By category", of_matched(GroupedBy::Category).collect()),
        ("By operation", of_matched(GroupedBy::Operation).collect()),
    ];
    if let Some(peaks) = &of.peaks {
        let categories = peaks.by_category.iter();
        let categories =
            categories.map(|(category, both)| changed_row(category.title.into(), &both.bytes()));
        let owners = peaks.by_owner.iter().map(|row| {
            let title = row.owner.as_ref().map_or_else(|| of.words.nobody.to_owned(), Owner::title);
            changed_row(title, &row.both.bytes())
        });
        tables = vec![("By category", categories.collect()), (of.words.by_owner, owners.collect())];
    }
    html! {
        div.tables {
            @for (title, rows) in &mut tables {
                ({
                    rows.sort_by_key(|row| std::cmp::Reverse(size_of_change(row)));
                    table_markup(&format!("{}: {}", of.words.peaks, title.to_lowercase()), &[&capitalised(title.trim_start_matches("By ")), source, target, "Change"], rows)
                })
            }
        }
    }
}

fn changed_row(title: String, bytes: &Difference) -> Vec<HtmlCell> {
    let known = |bytes: Option<i64>| {
        bytes.and_then(|bytes| u64::try_from(bytes).ok()).map_or(HtmlCell::Empty, HtmlCell::Bytes)
    };
    vec![
        HtmlCell::Text(title),
        known(bytes.source),
        known(bytes.target),
        HtmlCell::Change(bytes.change()),
    ]
}

fn size_of_change(row: &[HtmlCell]) -> u64 {
    match row.last() {
        Some(HtmlCell::Change(Some(change))) => change.unsigned_abs(),
        _ => 0,
    }
}
