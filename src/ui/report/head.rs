//! The head of a page: its title, its answer in a sentence with a sign, and at the right its choices; of several runs
//! how their pictures are arranged and their steps belong together.

use eframe::egui::{self, Align, Layout, Response};

use super::PageContext;
use crate::text::{capitalised, grouped};
use crate::ui::command::Command;
use crate::ui::keys;
use crate::ui::runs::{Arrangement, Run, Runs, StepsBy, only_numbers_in_common};
use crate::ui::widget::choice::segments_ui;
use crate::ui::widget::exports::answer_of_exports;
use crate::ui::widget::sign::{Sign, answer_ui, answer_width};

pub type SignedAnswer = (Sign, String);

/// An answer of which less than this part has room beside the choices has a line of its own.
const LEAST_PART: f32 = 0.6;

/// Draws the head; choices are added from the right to the left. Returns the answer.
pub fn page_head_ui(
    ui: &mut egui::Ui,
    title: &str,
    answer: Option<&SignedAnswer>,
    choices: impl FnOnce(&mut egui::Ui),
) -> Option<Response> {
    page_head_with_ui(ui, title, answer, |_| {}, choices)
}

/// The same, with something after the answer.
pub fn page_head_with_ui(
    ui: &mut egui::Ui,
    title: &str,
    answer: Option<&SignedAnswer>,
    after: impl FnOnce(&mut egui::Ui),
    choices: impl FnOnce(&mut egui::Ui),
) -> Option<Response> {
    head_of_parts_ui(ui, |ui| drop(ui.heading(title)), answer, after, choices)
}

/// The same with anything in place of the title.
pub fn head_of_parts_ui(
    ui: &mut egui::Ui,
    title: impl FnOnce(&mut egui::Ui),
    answer: Option<&SignedAnswer>,
    after: impl FnOnce(&mut egui::Ui),
    choices: impl FnOnce(&mut egui::Ui),
) -> Option<Response> {
    answer_of_exports(ui, answer);
    let rest = |ui: &mut egui::Ui| {
        let answer = answer.map(|(sign, text)| answer_ui(ui, *sign, text));
        after(ui);
        answer
    };
    let head = ui.horizontal(|ui| {
        ui.set_min_height(30.0);
        title(ui);
        ui.add_space(8.0);
        let with_choices = ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            choices(ui);
            let room = ui.available_width();
            let has_room =
                answer.is_none_or(|(_, text)| answer_width(ui, text) * LEAST_PART <= room);
            if !has_room {
                return Err(rest);
            }
            Ok(ui.with_layout(Layout::left_to_right(Align::Center), rest).inner)
        });
        with_choices.inner
    });
    match head.inner {
        Ok(answer) => answer,
        Err(rest) => ui.horizontal(rest).inner,
    }
}

/// How pictures of several runs are arranged, from the right to the left; nothing of one run.
pub fn arrangement_ui(ui: &mut egui::Ui, page: &mut PageContext<'_>) {
    if page.runs.is_one() {
        return;
    }
    let mut now = page.runs.arrangement;
    let choices = [(Arrangement::Overlaid, "Overlaid"), (Arrangement::SideBySide, "Side by side")];
    segments_ui(ui, &with_keys(ui, "How pictures are shown", keys::ARRANGE), &mut now, choices);
    if now != page.runs.arrangement {
        page.commands.push(Command::Arrange(now));
    }
}

/// What makes a step of one run that of another, from the right to the left; nothing of one run.
pub fn alignment_ui(ui: &mut egui::Ui, page: &mut PageContext<'_>) {
    if page.runs.is_one() || !page.runs.can_be_aligned() {
        return;
    }
    let mut now = page.runs.steps_by;
    let matching = if page.runs.have_landmarks { "By part" } else { "By name" };
    let choices = [(StepsBy::Matching, matching), (StepsBy::Index, "By number")];
    segments_ui(ui, &with_keys(ui, "How steps are matched", keys::ALIGN), &mut now, choices);
    if now != page.runs.steps_by {
        page.commands.push(Command::AlignSteps(now));
    }
}

fn with_keys(ui: &egui::Ui, does: &str, keys: &[egui::KeyboardShortcut]) -> String {
    format!("{does} ({})", keys::keys_text(ui.ctx(), keys))
}

/// How many steps belong together, and how sure that is; nothing of one run.
pub fn matched_ui(ui: &mut egui::Ui, runs: &Runs) {
    match runs.len() {
        ..=1 => {}
        _ if runs.meet_at_landmarks() => {
            let steps = runs.system().steps;
            ui.weak(format!("{} by parts of the program", capitalised(steps))).on_hover_text(
                format!(
                    "Passes, steps of the optimizer and named parts that all runs have begin at \
                     the same place. Within a part {steps} are spread evenly: those at one place \
                     are not the same"
                ),
            );
        }
        _ if !runs.system().are_steps_matched => {
            let steps = capitalised(runs.system().steps);
            ui.weak(format!("{steps} by their numbers"))
                .on_hover_text(only_numbers_in_common(runs.system()));
        }
        2 => pair_matched_ui(ui, runs),
        _ => several_matched_ui(ui, runs),
    }
}

/// How many steps of the reference a run has too, and how sure that is.
fn pair_matched_ui(ui: &mut egui::Ui, runs: &Runs) {
    let steps_by = runs.steps_by;
    let Some(pair) = runs.get(1).and_then(|run| run.pair.as_ref()) else {
        let coming = format!(
            "{} are being matched, and aligned by number until then",
            capitalised(runs.system().steps)
        );
        ui.weak(runs.why_not.as_deref().unwrap_or(&coming));
        return;
    };
    let counts = &pair.step_counts;
    let number = |count: usize| grouped(count as u64);
    let matched = number(counts.matched);
    let text = match (counts.only_source, counts.only_target) {
        _ if steps_by == StepsBy::Index => "Steps aligned by number".to_owned(),
        (0, 0) => format!("{matched} steps matched"),
        (0, only) => format!("{matched} steps matched, {} only in the target", number(only)),
        (only, 0) => format!("{matched} steps matched, {} only in the source", number(only)),
        (source, target) => {
            format!(
                "{matched} steps matched, {} in one only",
                number(source.saturating_add(target))
            )
        }
    };
    let hover = format!(
        "By name {matched} steps are matched: {} by name and operation, {} where numbers in names differ, {} by their place; {} only in \
         the source, {} only in the target",
        number(counts.exact),
        number(counts.likely),
        number(counts.weak),
        number(counts.only_source),
        number(counts.only_target)
    );
    ui.weak(text).on_hover_text(hover);
}

/// The same of several runs, one a line.
fn several_matched_ui(ui: &mut egui::Ui, runs: &Runs) {
    let steps_by = runs.steps_by;
    let matched = |run: &Run| {
        let counts = &run.pair.as_ref()?.step_counts;
        let matched = grouped(counts.matched as u64);
        let (before, after) = (counts.only_source as u64, counts.only_target as u64);
        Some(format!(
            "{}: {matched} steps matched, {} only in the reference, {} only here",
            run.title,
            grouped(before),
            grouped(after)
        ))
    };
    let lines: Vec<String> = runs.iter().skip(1).filter_map(matched).collect();
    let text = match &runs.why_not {
        Some(why_not) => why_not.clone(),
        None if lines.len() + 1 < runs.len() => "Steps are being matched".to_owned(),
        None if steps_by == StepsBy::Index => "Steps aligned by number".to_owned(),
        None => "Steps matched".to_owned(),
    };
    ui.weak(text).on_hover_text(lines.join("\n"));
}
