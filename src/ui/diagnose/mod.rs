//! An error or a log explained: what ran out, by how much, and what to do. It needs no report.

mod finding;
mod rows;
mod sentence;

use eframe::egui::{self, RichText, ScrollArea, TextEdit};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command::{Command, PickFor};
use super::job::Latest;
use super::runs::{Run, RunId, Runs};
use super::selection::Selection;
use super::split;
use super::theme::Tokens;
use super::widget::data_table::{Data, DataTable};
use super::widget::facts::absent_ui;
use super::widget::rows::{Listed, Rows};
use crate::diagnose::{CutLog, Diagnosis, Finding, diagnose_reader};
use crate::files;
use crate::log_file;
use crate::run::MessagePlace;
use crate::text::{grouped, shortened};

/// Height of the field at first, points.
const FIELD: f32 = 166.0;
/// Width of what is said of a finding at first, points.
const DETAILS: f32 = 440.0;

/// Most findings that are all shown as cards; of more there is a table, and the card of one.
const MOST_CARDS: usize = 12;

#[derive(Clone, Debug, PartialEq, Eq)]
enum DiagnosedText {
    /// What was typed, by the number of the change.
    Text(u64),
    /// A file, by the how-manieth time that it was opened.
    Log(PathBuf, u64),
}

/// Why the end of a packed log was not read.
fn why_cut(cut: CutLog) -> &'static str {
    match cut {
        CutLog::Grows => {
            "this packed log unpacks to more than 64 times its bytes, so its end was not read: unpack it to read all"
        }
        CutLog::Damaged => {
            "this packed log is cut or damaged, so only what could be unpacked was read"
        }
    }
}

/// The runs that are open while an error is explained, and what is selected in them.
pub struct OpenBeside<'a> {
    pub runs: &'a Arc<Runs>,
    pub selection: &'a mut Selection,
}

/// Where an open run has what a message is about.
#[derive(Clone)]
struct PlaceInRun {
    run: RunId,
    place: MessagePlace,
}

struct FoundMessages {
    findings: Vec<Finding>,
    /// Of each finding the places in the runs that are open.
    places: Vec<Vec<PlaceInRun>>,
    rows: Arc<dyn Rows>,
    lines: u64,
    cut_lines: u64,
    further: u64,
    less_read: u64,
    cut: Option<CutLog>,
}

#[derive(Default)]
pub struct DiagnosePage {
    text: String,
    log: Option<PathBuf>,
    changes: u64,
    found: Latest<(DiagnosedText, Vec<RunId>), Result<FoundMessages, String>>,
    table: DataTable,
    chosen: usize,
}

impl DiagnosePage {
    pub fn open_log(&mut self, path: PathBuf) {
        self.log = Some(path);
        self.changes += 1;
        self.chosen = 0;
    }

    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        mut open: Option<OpenBeside<'_>>,
        commands: &mut Vec<Command>,
    ) {
        self.head_ui(ui, commands);
        if self.log.is_none() {
            let most = (ui.available_height() - 200.0).max(90.0);
            let above = egui::Panel::top("error text").resizable(false).show_separator_line(false);
            let height = FIELD.min(most);
            above.exact_size(height).frame(egui::Frame::NONE).show(ui, |ui| self.text_ui(ui));
        }
        self.look(ui.ctx(), open.as_ref().map(|open| open.runs));
        let found = match self.found.last() {
            Some((_, Ok(found))) => found,
            Some((_, Err(reason))) => {
                absent_ui(ui, "The log could not be read", reason);
                return;
            }
            None => {
                let text = self.found.failure().unwrap_or("Reading…");
                absent_ui(ui, text, "");
                return;
            }
        };
        if found.findings.is_empty() {
            let is_empty = self.log.is_none() && self.text.trim().is_empty();
            if is_empty {
                let hint = "Messages about the memory of a device or of the machine are found among \
                            the other lines of a log";
                absent_ui(ui, "Nothing to explain yet", hint);
            } else {
                let nothing = "Ordinary output: no line reports a lack of memory";
                let hint = found.cut.map_or(nothing, why_cut);
                absent_ui(ui, "Nothing about memory was found", hint);
            }
            return;
        }
        let near = self.log.as_deref().and_then(Path::parent);
        if found.findings.len() <= MOST_CARDS {
            if let Some(cut) = found.cut {
                ui.weak(why_cut(cut));
            }
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                for (finding, places) in found.findings.iter().zip(&found.places) {
                    finding::finding_ui(ui, finding, (places, open.as_mut()), near, commands);
                }
            });
            return;
        }
        let last = found.findings.len() - 1;
        self.chosen = self.chosen.min(last);
        let columns = rows::columns();
        let mut note = format!("in {} lines", grouped(found.lines));
        if found.cut_lines > 0 {
            note += &format!(
                ", {} of which are longer than 1 MiB and read so far",
                grouped(found.cut_lines)
            );
        }
        if found.further > 0 {
            note += &format!("; {} further messages are not listed", grouped(found.further));
        }
        if found.less_read > 0 {
            note +=
                &format!("; {} were read without the lines around them", grouped(found.less_read));
        }
        if let Some(cut) = found.cut {
            note += &format!("; {}", why_cut(cut));
        }
        let chosen = self.chosen;
        let data = Data {
            title: "Findings",
            note: &note,
            is_selected: &|row| row == chosen,
            ..Data::of("findings", &columns, Arc::clone(&found.rows))
        };
        let width = ui.available_width();
        let most = (width - 260.0).max(260.0);
        split::left(ui, "findings", width - DETAILS.min(width / 2.0), 260.0..=most, |ui| {
            if let Some(click) = self.table.ui(ui, &data, commands) {
                self.chosen = click.row;
            }
        });
        let beside = egui::Margin { left: 12, ..egui::Margin::ZERO };
        split::rest(ui, beside, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                let places = found.places.get(self.chosen).map_or(&[][..], Vec::as_slice);
                if let Some(finding) = found.findings.get(self.chosen) {
                    finding::finding_ui(ui, finding, (places, open.as_mut()), near, commands);
                }
            });
        });
    }

    fn head_ui(&mut self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        ui.horizontal_wrapped(|ui| {
            ui.heading("Explain an error");
            ui.add_space(8.0);
            if ui.button("Open log…").clicked() {
                commands.push(Command::AskPath(PickFor::Log));
            }
            match &self.log {
                Some(log) => {
                    ui.label(shortened(&log.display().to_string(), 100));
                    if ui.button("Paste a text instead").clicked() {
                        self.log = None;
                        self.changes += 1;
                    }
                }
                None => {
                    ui.weak("Paste a message or a log below; it stays on this machine");
                }
            }
        });
        ui.add_space(4.0);
    }

    fn text_ui(&mut self, ui: &mut egui::Ui) {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            let field = TextEdit::multiline(&mut self.text)
                .hint_text(RichText::new(
                    "CUDA out of memory. …, RESOURCE_EXHAUSTED: …, TT_FATAL: …, or a whole log",
                ))
                .desired_width(f32::INFINITY)
                .desired_rows(8)
                .text_color(Tokens::now(ui).text)
                .font(egui::TextStyle::Monospace);
            if ui.add(field).accessible_name("Error text").changed() {
                self.changes += 1;
                self.chosen = 0;
            }
        });
    }

    /// Asks what the text or the log says, and what the runs that are open have of it.
    fn look(&mut self, ctx: &egui::Context, runs: Option<&Arc<Runs>>) {
        let subject = match &self.log {
            Some(log) => DiagnosedText::Log(log.clone(), self.changes),
            None => DiagnosedText::Text(self.changes),
        };
        let read = |run: &&Run| run.derived.known_verdict().is_some();
        let ids = runs.into_iter().flat_map(|runs| runs.iter().filter(read));
        let subject = (subject, ids.map(|run| run.id).collect::<Vec<_>>());
        if self.found.get(&subject).is_some() {
            // Also asked again in each frame, so that the text is copied only when it has changed.
            return;
        }
        let (text, log) = match &self.log {
            Some(log) => (String::new(), Some(log.clone())),
            None => (self.text.clone(), None),
        };
        let runs = runs.map(Arc::clone);
        self.found.ask("diagnosis", ctx, &subject, move |cancel| {
            let diagnosis = match log {
                None => diagnose_reader(text.as_bytes()).map_err(|error| error.to_string()),
                Some(log) => {
                    let diagnosis = log_file::diagnose_file(&log, files::open, cancel.progress());
                    diagnosis.map_err(|error| match error.hint {
                        Some(hint) => format!("{}\n{hint}", error.message),
                        None => error.message,
                    })
                }
            };
            Ok(found(diagnosis?, runs.as_deref()))
        });
    }
}

fn found(diagnosis: Diagnosis, runs: Option<&Runs>) -> FoundMessages {
    let Diagnosis { findings, lines, cut_lines, further, less_read, cut } = diagnosis;
    let rows = Arc::new(Listed { rows: findings.clone(), cell: rows::cell });
    let places = findings.iter().map(|finding| {
        let place = |run: &Run| {
            let place = run.derived.answers().message_place(&run.derived, finding)?;
            Some(PlaceInRun { run: run.id, place })
        };
        runs.into_iter().flat_map(Runs::iter).filter_map(place).collect()
    });
    let places = places.collect();
    FoundMessages { findings, places, rows, lines, cut_lines, further, less_read, cut }
}
