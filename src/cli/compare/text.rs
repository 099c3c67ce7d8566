//! A comparison as text for people.

use super::document::{ComparedRun, Comparison};
use super::steps::{PlanRow, SpikeRow, StepsMatched};
use super::tables::{shown, wholes};
use crate::analysis::comparison::contribution::OperationName;
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::analysis::comparison::options::OptionDifference;
use crate::analysis::figures::difference::{Difference, RateDifference};
use crate::analysis::program::operations::PROPORTION;
use crate::analysis::program::report_options::OptionKind;
use crate::cli::output::{aligned, name_cell, or_unknown, wrapped};
use crate::run::{Conclusion, Outcome};
use crate::text::{bytes, clean, grouped, rate, signed, signed_bytes, signed_percent, signed_rate};

/// For people.
pub(super) fn text(of: &Comparison) -> String {
    let is_of_two = of.runs.len() == 2;
    let mut text = String::new();
    if let ([source, target], true) = (&*of.runs, is_of_two) {
        text += &said(&target.conclusions);
        text +=
            &format!("\nSource  {}\nTarget  {}\n", clean(&source.text()), clean(&target.text()));
    } else {
        for (number, run) in (1..).zip(&of.runs) {
            let reference = if number == 1 { ", the reference" } else { "" };
            text +=
                &format!("{number}  {}{reference}\n{}", clean(&run.text()), said(&run.conclusions));
        }
    }
    section(&mut text, "What differs", &options(of));
    if of.shown.brief {
        return text;
    }
    let is_whole = of.shown.by.is_empty();
    if is_whole {
        section(&mut text, "Figures", &figures(of));
        if of.lacks_room {
            text += "  The files do not state the memory of the device: set it with --capacity \
                16GiB\n";
        }
    }
    if !is_of_two {
        return text
            + "\nChanges are against the first; compare two of them to see what a change consists of\n";
    }
    for whole in wholes(of) {
        let Some(title) = whole.title else { continue };
        text += &format!("\n{title}\n");
        let tables = whole.tables.iter().filter(|table| table.says_anything());
        text.extend(tables.map(|table| format!("\n{}", table.text(of))));
    }
    if let Some(steps) = of.steps.as_ref().filter(|_| is_whole) {
        of_steps(&mut text, steps);
    }
    if let Some(note) = of.note {
        text += &format!("\n{note}\n");
    }
    text
}

fn of_steps(text: &mut String, found: &StepsMatched) {
    section(text, "Changed plans", &plans(found.plans.as_deref()));
    section(text, "Spikes", &spikes(&found.spikes));
    if let Some(steps) = &found.steps {
        *text += &format!(
            "\nSteps: {} matched, {} only in the source, {} only in the target\n",
            grouped(steps.matched as u64),
            grouped(steps.only_source as u64),
            grouped(steps.only_target as u64)
        );
    }
}

fn section(text: &mut String, title: &str, body: &str) {
    if !body.is_empty() {
        *text += &format!("\n{title}\n{body}");
    }
}

/// Conclusions, one below the other, each with whether it is better.
fn said(conclusions: &[Conclusion]) -> String {
    let line = |said: &Conclusion| {
        let word = match said.is_better {
            Some(true) => "better",
            Some(false) => "worse",
            None => "",
        };
        wrapped(&format!("{word:6}  "), &clean(&format!("{}.", said.text)))
    };
    conclusions.iter().map(line).collect()
}

/// What differs, with a column for each run.
fn options(of: &Comparison) -> String {
    if of.settings.is_empty() {
        return format!("  {}\n", of.compared.words.no_setting);
    }
    let value = |value: &Option<String>| match value.as_deref() {
        None => "–".to_owned(),
        Some("") => "none".to_owned(),
        Some(value) => name_cell(value),
    };
    let rows = of.settings.iter().map(|option: &OptionDifference| {
        let title = option_title(option.kind, &option.name);
        std::iter::once(title).chain(option.values.iter().map(value)).collect()
    });
    let titles: Vec<String> = match &*of.runs {
        [_, _] => ["<", "<source", "<target"].map(str::to_owned).into(),
        runs => {
            let numbers = (1..=runs.len()).map(|number| format!("<{number}"));
            std::iter::once("<".to_owned()).chain(numbers).collect()
        }
    };
    aligned(&titles, rows)
}

fn option_title(kind: OptionKind, name: &str) -> String {
    let name = name_cell(name);
    match kind {
        OptionKind::AvailableMemoryProportion => format!("{PROPORTION} of {name}"),
        OptionKind::Version => format!("version: {name}"),
        OptionKind::Target => format!("target: {name}"),
        OptionKind::EngineOption
        | OptionKind::Setting
        | OptionKind::Flag
        | OptionKind::Directory => name,
        OptionKind::ExecutionOption => format!("option of the runs: {name}"),
        OptionKind::TargetOption => format!("target option: {name}"),
        OptionKind::App => format!("app.json: {name}"),
        OptionKind::Framework => format!("framework.json: {name}"),
    }
}

/// A change, signed, with its percentage: `+2.70 MiB (+181 %)`.
pub(super) fn change(value: &Difference, unit: Unit) -> String {
    let Some(change) = value.change() else { return "not known".to_owned() };
    let amount = if unit == Unit::Bytes { signed_bytes(change) } else { signed(change, grouped) };
    match value.percent() {
        Some(percent) if change != 0 => format!("{amount} ({})", signed_percent(percent)),
        _ => amount,
    }
}

/// A change of a rate, signed, with its percentage.
fn rate_change(value: &RateDifference) -> String {
    let Some(change) = value.change() else { return "not known".to_owned() };
    match value.percent() {
        Some(percent) if change != 0.0 => {
            format!("{} ({})", signed_rate(change), signed_percent(percent))
        }
        _ => signed_rate(change),
    }
}

/// A figure in its unit.
pub(super) fn amount(value: Option<i64>, unit: Unit) -> String {
    or_unknown(value, |value| match unit {
        Unit::Bytes if value < 0 => signed_bytes(value),
        Unit::Bytes => bytes(value.unsigned_abs()),
        Unit::Place => value.to_string(),
        _ if value < 0 => signed(value, grouped),
        _ => grouped(value.unsigned_abs()),
    })
}

/// The figures of all runs, each after the first with its change, without the categories that do not change and what no
/// run has.
fn figures(of: &Comparison) -> String {
    let is_of_two = of.runs.len() == 2;
    let others = 1..of.runs.len();
    let is_shown = |figure: &&Figure| {
        let is_category = figure.key.contains(".by_category.");
        let has_changed = others.clone().any(|run| !figure.difference(run).is_equal());
        if is_category { has_changed } else { !figure.is_unknown() }
    };
    let rows = of.figures.iter().filter(is_shown).map(|figure| {
        let title = match figure.unit {
            Unit::Microseconds => format!("{}, µs", clean(&figure.title)),
            _ => clean(&figure.title).into_owned(),
        };
        let mut cells = vec![title, value(figure, 0)];
        for run in others.clone() {
            cells.extend([value(figure, run), change_of(figure, run)]);
        }
        let share = figure.percent_of_source(1).filter(|_| is_of_two);
        cells.push(share.map_or_else(String::new, |percent| format!("{percent:.1} %")));
        cells
    });
    let mut titles = vec!["<".to_owned()];
    if is_of_two {
        titles.extend(["source", "target", "<change", "of the source"].map(str::to_owned));
    } else {
        for (number, run) in (1..).zip(&of.runs) {
            titles.push(format!("{number} {}", name_cell(&run.name)));
            titles.extend((number > 1).then(|| "<change".to_owned()));
        }
        titles.push(String::new());
    }
    aligned(&titles, outcomes(of).into_iter().chain(rows))
}

/// Whether the runs fit, where that is known of one of them by itself.
fn outcomes(of: &Comparison) -> Option<Vec<String>> {
    let word = |run: &ComparedRun| {
        let outcome = run.verdict.as_ref().map(|verdict| verdict.outcome).unwrap_or_default();
        outcome.word().to_owned()
    };
    let is_known = |run: &ComparedRun| {
        run.verdict.as_ref().is_some_and(|verdict| verdict.outcome != Outcome::Unknown)
    };
    if !of.runs.iter().any(is_known) {
        return None;
    }
    let mut cells = vec!["Outcome".to_owned()];
    for (place, run) in of.runs.iter().enumerate() {
        cells.push(word(run));
        cells.extend((place > 0).then(String::new));
    }
    cells.push(String::new());
    Some(cells)
}

fn value(figure: &Figure, run: usize) -> String {
    if let Some(of_rate) = figure.rate_difference(run) {
        return or_unknown(of_rate.target, rate);
    }
    let least = if figure.is_at_least(run) { "≥ " } else { "" };
    format!("{least}{}", amount(figure.value(run), figure.unit))
}

fn change_of(figure: &Figure, run: usize) -> String {
    match figure.rate_difference(run) {
        Some(of_rate) => rate_change(&of_rate),
        None if figure.unit == Unit::Place => String::new(),
        None => change(&figure.difference(run), figure.unit),
    }
}

pub(super) fn operation_text(operation: &OperationName) -> String {
    let kind = operation.title();
    match &operation.name {
        Some(name) => format!("{} {}", name_cell(kind), name_cell(name)),
        None => name_cell(kind),
    }
}

fn plans(plans: Option<&[PlanRow]>) -> String {
    let Some(plans) = plans else {
        return "  not known: this needs the whole debug information of both runs\n".to_owned();
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
