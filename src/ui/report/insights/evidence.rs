//! The evidence of a conclusion: rows with their bytes as bars, each with a link to its place.

use eframe::egui;

use crate::run::Evidence;
use crate::text::{CommonPath, grouped, readable, shortened};
use crate::ui::report::areas::short_frame;
use crate::ui::report::more_ui;
use crate::ui::report::run_part::{JumpInRun, RunPart};
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::measured::{Measured, MeasuredColumns};

/// Pieces of evidence that are shown.
const MOST_EVIDENCE: usize = 6;
/// Longest sentence.
const TEXT: usize = 300;
/// Width of the way to something, points.
const LINK: f32 = 92.0;

pub fn evidence_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, evidence: &[Evidence]) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let words = part.run.report.system;
    let shown = evidence.iter().take(MOST_EVIDENCE);
    let most = shown.clone().filter_map(|one| one.bytes).max().unwrap_or(0);
    // The advice itself names the kind of the operation.
    let name = |one: &Evidence| {
        let place = one.place.as_ref();
        let operation = place.and_then(|at| at.selected_operation.as_ref()?.name.as_deref());
        match place.and_then(|at| at.frame.as_ref()) {
            Some(frame) if one.text.starts_with(frame.as_str()) => {
                short_frame(&one.text).to_owned()
            }
            _ => readable(operation.unwrap_or(&one.text)).into_owned(),
        }
    };
    let names: Vec<String> = shown.clone().map(name).collect();
    let common = CommonPath::of(names.iter().map(String::as_str));
    for (place, (one, name)) in shown.zip(&names).enumerate() {
        let way = one.place.as_ref().and_then(|place| part.way(place));
        let at = one.place.clone().unwrap_or_default();
        let title = match &way {
            Some(JumpInRun::Step(_)) => {
                at.step.map(|step| format!("{} {}", words.step, grouped(step.unsigned_abs())))
            }
            Some(JumpInRun::Arenas(arenas)) => Some(match arenas.count() {
                1 => format!("{} {arenas}", words.arena),
                count => format!("{} {}", grouped(count), words.arenas),
            }),
            None => None,
        };
        let file = at.file.as_deref().map(|file| shortened(file, 80));
        let value = match (one.bytes, &file) {
            (Some(bytes), _) => units.bytes(bytes),
            (None, Some(file)) => file.clone().into_owned(),
            (None, None) => String::new(),
        };
        let hover = shortened(&one.text, TEXT);
        let variable = at.variable.as_deref().or(at.frame.as_deref());
        let columns = MeasuredColumns { link: LINK, ..MeasuredColumns::default() };
        let room = columns.name_characters(ui);
        // A sentence that is too long goes on below the row, behind what it is about.
        let about = at.variable.as_deref().filter(|_| name.chars().count() > room);
        let (name, rest) = match about.and_then(|about| Some((about, name.strip_prefix(about)?))) {
            Some((about, rest)) => (about, rest.trim_start_matches(", ")),
            None => (name.as_str(), ""),
        };
        let row = Measured {
            name: &common.shortened(name, room),
            hover: &hover,
            is_link: variable.is_some(),
            color: tokens.temporary,
            size: one.bytes.map(|bytes| (bytes, most)),
            value: &value,
            link: title.as_deref(),
            ..Measured::default()
        };
        let clicked = ui.push_id(("evidence", place), |ui| row.ui(ui, columns)).inner;
        if !rest.is_empty() {
            ui.add(egui::Label::new(fonts::caption(shortened(rest, TEXT)).weak()).wrap());
        }
        if let (true, Some(variable)) = (clicked.name, variable) {
            if let Some(JumpInRun::Step(position)) = way {
                part.select_step(position);
            }
            part.show_variable(variable);
        }
        match way {
            Some(JumpInRun::Step(position)) if clicked.link => {
                if let Some(operation) = at.selected_operation {
                    part.selection.select_operation(Some(operation));
                }
                part.show_step(position);
            }
            Some(JumpInRun::Arenas(arenas)) if clicked.link => part.show_tiles(arenas),
            _ => {}
        }
    }
    more_ui(ui, evidence.len(), MOST_EVIDENCE);
}
