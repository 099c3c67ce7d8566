//! A comparison as text for people.

use super::conclusions;
use super::document::{Comparison, PlanRow, SpikeRow};
use super::explained::{ExplainedPart, Groupings, Row};
use super::{By, Shown};
use crate::analysis::comparison::contribution::{Contributor, OperationName};
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::analysis::comparison::options::OptionDifference;
use crate::analysis::figures::difference::{Difference, RateDifference, Side};
use crate::analysis::memory::category_title;
use crate::analysis::program::operations::PROPORTION;
use crate::analysis::program::report_options::OptionKind;
use crate::cli::output::{aligned, name_cell, or_unknown};
use crate::text::{bytes, clean, grouped, rate, signed, signed_bytes, signed_percent, signed_rate};

/// Rows of a table of contributions, plans or spikes.
const MOST_ROWS: usize = 10;

/// How many rows of a table are shown: where only one more would be left out, that one as well.
fn shown(rows: usize) -> usize {
    if rows > MOST_ROWS + 1 { MOST_ROWS } else { rows }
}

pub fn text(comparison: &Comparison) -> String {
    let shown = &comparison.shown;
    if !comparison.runs.is_empty() {
        return comparison.runs.text(shown.brief);
    }
    let mut text = conclusions::text_of_reports(&comparison.conclusions);
    text += &format!(
        "\nSource  {}\nTarget  {}\n",
        clean(&comparison.source.path),
        clean(&comparison.target.path)
    );
    let titles = ["source", "target"].map(str::to_owned);
    section(&mut text, "What differs", &options(&comparison.options.0, &titles));
    if shown.brief {
        return text;
    }
    let is_whole = shown.by.is_empty();
    if is_whole {
        section(&mut text, "Figures", &figures(comparison));
    }
    explanations(&mut text, comparison);
    if is_whole {
        section(&mut text, "Changed plans", &plans(comparison.plans.as_deref()));
        section(&mut text, "Spikes", &spikes(&comparison.spikes));
        if let Some(steps) = &comparison.steps {
            text += &format!(
                "\nSteps: {} matched, {} only in the source, {} only in the target\n",
                grouped(steps.matched as u64),
                grouped(steps.only_source as u64),
                grouped(steps.only_target as u64)
            );
        }
    }
    if let Some(note) = comparison.note {
        text += &format!("\n{note}\n");
    }
    text
}

fn explanations(text: &mut String, comparison: &Comparison) {
    let (shown, explanation) = (&comparison.shown, &comparison.explanation);
    let mut of_steps = |title: &str, explained: &ExplainedPart| {
        let steps = format!(
            ", step {} to step {}",
            or_unknown(explained.source_step, |step| step.to_string()),
            or_unknown(explained.target_step, |step| step.to_string())
        );
        part(text, title, &explained.whole, &steps, &explained.groupings, shown);
    };
    if !shown.is_fullest_alone() {
        let matched = comparison.explanation_at_matched_steps.as_ref();
        for (title, found) in [
            ("Where the source had its peak", matched.and_then(|of| of.source_peak.as_ref())),
            ("Where the target has its peak", matched.and_then(|of| of.target_peak.as_ref())),
        ] {
            if let Some(found) = found {
                of_steps(&format!("{title}, not always live"), &found.not_always_live);
            }
        }
        if let Some(peak) = &explanation.peak {
            let title =
                if matched.is_some() { "The two peaks, at different steps" } else { "The peak" };
            of_steps(title, peak);
        }
        if let Some(found) = &explanation.always_live {
            part(text, "Always live", &found.whole, "", &found.groupings, shown);
        }
    }
    if let Some(tile) = explanation.fullest_tile.as_ref().filter(|_| shown.has(By::Fullest)) {
        let tiles = format!(", tile {} to tile {}", tile.source_tile, tile.target_tile);
        part(text, "The fullest tile", &tile.whole, &tiles, &tile.groupings, shown);
    }
}

fn section(text: &mut String, title: &str, body: &str) {
    if !body.is_empty() {
        *text += &format!("\n{title}\n{body}");
    }
}

/// What differs, with a column for each report.
pub fn options(options: &[OptionDifference], titles: &[String]) -> String {
    if options.is_empty() {
        return "  nothing: versions, target and options are the same\n".to_owned();
    }
    let value = |value: &Option<String>| value.as_deref().map_or("–".to_owned(), name_cell);
    let rows = options.iter().map(|option| {
        let title = option_title(option.kind, &option.name);
        std::iter::once(title).chain(option.values.iter().map(value)).collect()
    });
    let titles = titles.iter().map(|title| format!("<{title}"));
    let titles: Vec<String> = std::iter::once("<".to_owned()).chain(titles).collect();
    aligned(&titles, rows)
}

fn option_title(kind: OptionKind, name: &str) -> String {
    let name = name_cell(name);
    match kind {
        OptionKind::AvailableMemoryProportion => format!("{PROPORTION} of {name}"),
        OptionKind::Version => format!("version: {name}"),
        OptionKind::Target => format!("target: {name}"),
        OptionKind::EngineOption | OptionKind::Directory => name,
        OptionKind::ExecutionOption => format!("option of the runs: {name}"),
        OptionKind::TargetOption => format!("target option: {name}"),
        OptionKind::App => format!("app.json: {name}"),
        OptionKind::Framework => format!("framework.json: {name}"),
    }
}

/// A change, signed, with its percentage: `+2.70 MiB (+181 %)`.
pub fn change(value: &Difference, unit: Unit) -> String {
    let Some(change) = value.change() else { return "not known".to_owned() };
    let amount = if unit == Unit::Bytes { signed_bytes(change) } else { signed(change, grouped) };
    match value.percent() {
        Some(percent) if change != 0 => format!("{amount} ({})", signed_percent(percent)),
        _ => amount,
    }
}

/// A change of a rate, signed, with its percentage.
pub fn rate_change(value: &RateDifference) -> String {
    let Some(change) = value.change() else { return "not known".to_owned() };
    match value.percent() {
        Some(percent) if change != 0.0 => {
            format!("{} ({})", signed_rate(change), signed_percent(percent))
        }
        _ => signed_rate(change),
    }
}

/// A figure in its unit.
pub fn amount(value: Option<i64>, unit: Unit) -> String {
    or_unknown(value, |value| match unit {
        Unit::Bytes if value < 0 => signed_bytes(value),
        Unit::Bytes => bytes(value.unsigned_abs()),
        Unit::Place => value.to_string(),
        _ if value < 0 => signed(value, grouped),
        _ => grouped(value.unsigned_abs()),
    })
}

/// Whether a report fits.
pub fn yes_or_no(fits: Option<bool>) -> &'static str {
    match fits {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not known",
    }
}

/// The figures, without the categories that do not change and what neither report has.
fn figures(comparison: &Comparison) -> String {
    let [source, target] = comparison.fits.map(yes_or_no);
    let is_shown = |figure: &&Figure| {
        let is_category = figure.path.iter().any(|part| part == "by_category");
        if is_category {
            return !figure.difference(1).is_equal();
        }
        figure.difference(1) != Difference::default()
    };
    let rows = comparison.figures.iter().filter(is_shown).map(|figure| {
        if let Some(of_rate) = figure.rate_difference(1) {
            let [source, target] =
                [of_rate.source, of_rate.target].map(|value| or_unknown(value, rate));
            return vec![figure.title.clone(), source, target, rate_change(&of_rate)];
        }
        let (unit, value) = (figure.unit, figure.difference(1));
        let change = if unit == Unit::Place { String::new() } else { change(&value, unit) };
        let title = match unit {
            Unit::Microseconds => format!("{}, µs", clean(&figure.title)),
            _ => clean(&figure.title).into_owned(),
        };
        vec![title, amount(value.source, unit), amount(value.target, unit), change]
    });
    let fits = vec!["Fits".to_owned(), source.to_owned(), target.to_owned(), String::new()];
    aligned(&["<", "source", "target", "<change"], std::iter::once(fits).chain(rows))
}

/// The change of a whole, and what it consists of.
fn part(
    text: &mut String,
    title: &str,
    whole: &Difference,
    places: &str,
    groupings: &Groupings,
    shown: &Shown,
) {
    *text += &format!(
        "\n{title}: {} to {}, {}{places}\n",
        amount(whole.source, Unit::Bytes),
        amount(whole.target, Unit::Bytes),
        change(whole, Unit::Bytes),
    );
    if whole.is_equal() {
        return;
    }
    for (by, title, rows) in groupings.all() {
        if let Some(rows) = rows.filter(|_| shown.has(by)) {
            text.push('\n');
            *text += &contributions(&format!("<By {title}"), rows);
        }
    }
}

fn contributions(title: &str, rows: &[Row]) -> String {
    let cells = |name: String, value: &Difference| {
        vec![
            name,
            amount(value.source, Unit::Bytes),
            amount(value.target, Unit::Bytes),
            change(value, Unit::Bytes),
        ]
    };
    let most = shown(rows.len());
    let first = rows.iter().take(most).map(|row| {
        let only = match row.only {
            Some(Side::Source) => " (only in the source)",
            Some(Side::Target) => " (only in the target)",
            None => "",
        };
        cells(format!("{}{only}", contributor(&row.contributor)), &row.bytes)
    });
    let others = rows.get(most..).filter(|others| !others.is_empty()).map(|others| {
        let sum = |side: fn(&Difference) -> Option<i64>| {
            others.iter().filter_map(|row| side(&row.bytes)).fold(0_i64, i64::saturating_add)
        };
        let value = Difference::between(sum(|value| value.source), sum(|value| value.target));
        cells(format!("{} others", grouped(others.len() as u64)), &value)
    });
    aligned(&[title, "source", "target", "<change"], first.chain(others))
}

fn contributor(contributor: &Contributor) -> String {
    match contributor {
        Contributor::Category(name) => name_cell(&category_title(name)),
        Contributor::Operation(operation) => operation_text(operation),
        Contributor::Module(name) | Contributor::Variable(name) => name_cell(name),
        Contributor::Overlapped => "overlapped".to_owned(),
        Contributor::NotExplained => "not explained by liveness".to_owned(),
        Contributor::Gaps(None) => "gaps".to_owned(),
        Contributor::Gaps(Some(reason)) => format!("gaps: {}", reason.key()),
        Contributor::NotAttributable => "not attributable".to_owned(),
    }
}

fn operation_text(operation: &OperationName) -> String {
    let kind = operation.title();
    match &operation.name {
        Some(name) => format!("{} {}", name_cell(kind), name_cell(name)),
        None => name_cell(kind),
    }
}

fn plans(plans: Option<&[PlanRow]>) -> String {
    let Some(plans) = plans else {
        return "  not known: this takes the whole debug information of both reports\n".to_owned();
    };
    if plans.is_empty() {
        return String::new();
    }
    // Not every compiler says how much control code a program has.
    let has_control = plans.iter().any(|plan| plan.control_code_bytes.change().is_some());
    let rows = plans.iter().take(shown(plans.len())).map(|plan| {
        let steps = format!(
            "{} to {}",
            amount(plan.steps.source, Unit::Count),
            amount(plan.steps.target, Unit::Count)
        );
        let mut cells = vec![
            operation_text(&plan.operation),
            steps,
            grouped(plan.matched_steps),
            change(&plan.peak_bytes, Unit::Bytes),
            change(&plan.vertices, Unit::Count),
            change(&plan.exchange_code_bytes, Unit::Bytes),
        ];
        cells.extend(has_control.then(|| change(&plan.control_code_bytes, Unit::Bytes)));
        cells
    });
    let mut header = vec!["<", "steps", "matched", "<peak", "<vertices", "<exchange code"];
    header.extend(has_control.then_some("<control code"));
    aligned(&header, rows) + &and_others(plans.len())
}

fn spikes(spikes: &[SpikeRow]) -> String {
    let rows = spikes.iter().take(shown(spikes.len())).map(|spike| {
        let what = match (&spike.operation, &spike.name) {
            (Some(operation), _) => operation_text(operation),
            (None, Some(name)) => name_cell(name),
            (None, None) => name_cell(spike.kind.as_deref().unwrap_or("–")),
        };
        // Steps that are matched by their place alone may do different things.
        let what = match &spike.target_operation {
            Some(other) if spike.operation.as_ref().is_some_and(|one| one != other) => {
                format!("{what} → {}", operation_text(other))
            }
            _ => what,
        };
        let step = |step: Option<u32>| step.map_or("–".to_owned(), |step| step.to_string());
        let value = &spike.not_always_live_bytes;
        vec![
            what,
            step(spike.source_step),
            step(spike.target_step),
            value.source.map_or("–".to_owned(), |bytes| amount(Some(bytes), Unit::Bytes)),
            value.target.map_or("–".to_owned(), |bytes| amount(Some(bytes), Unit::Bytes)),
            if value.change().is_some() { change(value, Unit::Bytes) } else { String::new() },
        ]
    });
    let header = ["<", "source step", "target step", "source", "target", "<change"];
    aligned(&header, rows) + &and_others(spikes.len())
}

fn and_others(rows: usize) -> String {
    match rows.saturating_sub(shown(rows)) {
        0 => String::new(),
        others => format!("  and {} others\n", grouped(others as u64)),
    }
}
