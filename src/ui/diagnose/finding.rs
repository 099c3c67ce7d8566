//! One finding: the message, its facts, what to do.

use eframe::egui::{self, Align, Label, Layout, RichText, Sense, Vec2};
use std::path::Path;

use super::rows::title;
use super::sentence::sentence_ui;
use super::{OpenBeside, PlaceInRun};
use crate::diagnose::{Finding, Kind, WriterOfLine, XlaCapture};
use crate::store::TileId;
use crate::text::{clean, grouped, shortened};
use crate::ui::command::Command;
use crate::ui::report::run_part::RunPart;
use crate::ui::selection::Jump;
use crate::ui::theme::fonts::{self, size};
use crate::ui::theme::{BETWEEN_CARDS, Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::facts::{FactRow, fact_ui};
use crate::ui::widget::sign::{Sign, numbered_disc};

/// Longest message.
const MESSAGE: usize = 2000;
/// Least width for facts beside advice, points.
const BESIDE: f32 = 620.0;
/// Longest text of a cell.
const CELL: usize = 60;

/// Draws its card with what the open runs have of it. `near` is the directory of the log, which a relative path in the
/// message may start from.
pub fn finding_ui(
    ui: &mut egui::Ui,
    finding: &Finding,
    (places, open): (&[PlaceInRun], Option<&mut OpenBeside<'_>>),
    near: Option<&Path>,
    commands: &mut Vec<Command>,
) {
    let tokens = *Tokens::now(ui);
    card_frame(&tokens).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            sign(finding.kind).ui(ui, 16.0);
            ui.label(fonts::card_title(title(finding.kind)));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let line = format!("line {}", grouped(finding.line));
                ui.label(fonts::caption(line).color(tokens.third_text));
            });
        });
        ui.add_space(4.0);
        message_ui(ui, &shortened(&finding.text, MESSAGE));
        used_ui(ui, finding);
        if let Some(open) = open {
            places_ui(ui, places, open, commands);
        }
        ui.add_space(6.0);
        if ui.available_width() < BESIDE {
            facts_of_ui(ui, finding, near, commands);
            ui.add_space(8.0);
            advice_ui(ui, finding);
        } else {
            ui.columns_const(|[left, right]: &mut [egui::Ui; 2]| {
                left.with_layout(Layout::top_down(Align::Min), |ui| advice_ui(ui, finding));
                right.with_layout(Layout::top_down(Align::Min), |ui| {
                    facts_of_ui(ui, finding, near, commands);
                });
            });
        }
        allocations_ui(ui, finding);
    });
    ui.add_space(BETWEEN_CARDS - ui.spacing().item_spacing.y);
}

/// What the open runs have of the message, with a way there.
fn places_ui(
    ui: &mut egui::Ui,
    places: &[PlaceInRun],
    open: &mut OpenBeside<'_>,
    commands: &mut Vec<Command>,
) {
    for PlaceInRun { run, place } in places {
        let Some(run) = open.runs.iter().find(|one| one.id == *run) else { continue };
        ui.add_space(6.0);
        ui.horizontal_wrapped(|ui| {
            ui.label(format!("In {}: {}", shortened(&run.name, CELL), place.said));
            if ui.button(format!("Show {}", place.title)).clicked() {
                let selection = &mut *open.selection;
                let arena = place.place.arena.as_ref().and_then(|arena| arena.parse().ok());
                match arena {
                    Some(arena) => commands.push(Command::GoTo(Jump::Map(TileId(arena)))),
                    None => RunPart { run, selection, commands }.show(&place.place, false),
                }
            }
        });
    }
}

/// What is about memory that does not suffice is over; the others deserve a look.
fn sign(kind: Kind) -> Sign {
    match kind {
        Kind::PlannerAtMinimum
        | Kind::PlannerOverTarget
        | Kind::PlannerNoPlan
        | Kind::HostBuffer
        | Kind::GpuMemoryTight
        | Kind::RematerializationLimit
        | Kind::DeprecatedSetting
        | Kind::ProcessKilled
        | Kind::UnknownMemoryMessage => Sign::Note,
        _ => Sign::Over,
    }
}

/// The message as it stands in the log.
fn message_ui(ui: &mut egui::Ui, message: &str) {
    let ground = egui::Frame::new().fill(Tokens::now(ui).raised).corner_radius(6).inner_margin(8);
    ground.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.add(Label::new(RichText::new(message).monospace()).wrap());
    });
}

/// What is used, against the limit, where the message says both.
fn used_ui(ui: &mut egui::Ui, finding: &Finding) {
    let (Some(used), Some(limit)) = (finding.used_bytes, finding.limit_bytes) else { return };
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    ui.add_space(8.0);
    let whole = used.max(limit).saturating_add(limit / 10);
    let parts = [(used, tokens.temporary)];
    ui.horizontal(|ui| {
        let width = (ui.available_width() - 300.0).clamp(60.0, 420.0);
        let bar = Bar { parts: &parts, whole, limit: Some(limit) };
        bar.ui(ui, Vec2::new(width, 14.0)).accessible_name("Used against the limit");
        ui.label(fonts::number(units.bytes(used)));
        ui.label(fonts::caption(format!("of {}", units.bytes(limit))).color(tokens.weak_text));
        if let Some(over) = used.checked_sub(limit).filter(|over| *over > 0) {
            ui.label(fonts::number(format!("+{} over", units.bytes(over))).color(tokens.over));
        }
    });
}

fn facts_of_ui(
    ui: &mut egui::Ui,
    finding: &Finding,
    near: Option<&Path>,
    commands: &mut Vec<Command>,
) {
    ui.label(RichText::new("What it says").font(fonts::semibold(size::BODY)));
    ui.add_space(2.0);
    for (name, value) in facts(finding, Units::now(ui)) {
        fact_ui(ui, &name, &value);
    }
    if let Some(profile) = &finding.profile {
        let path = Path::new(profile);
        let path =
            near.filter(|_| path.is_relative()).map_or(path.to_owned(), |near| near.join(path));
        ui.add_space(4.0);
        let button = ui.button("Open the report that the message names");
        if button.on_hover_text(shortened(&path.display().to_string(), 300)).clicked() {
            commands.push(Command::Open(path));
        }
    }
}

/// The allocations that the message lists, and what it does not list.
fn allocations_ui(ui: &mut egui::Ui, finding: &Finding) {
    if finding.allocations.is_empty() {
        return;
    }
    let units = Units::now(ui);
    let of_program = XlaCapture::of(finding).filter(XlaCapture::is_of_program);
    let not_listed = of_program.and_then(|capture| capture.not_listed_bytes());
    ui.add_space(8.0);
    let title = match of_program {
        Some(_) => "Largest allocations: only a part; an XLA dump has all",
        None => "Allocations",
    };
    ui.label(RichText::new(title).font(fonts::semibold(size::BODY)));
    let cell = |text: Option<&str>| shortened(text.unwrap_or_default(), CELL).into_owned();
    egui::ScrollArea::horizontal().id_salt((finding.line, "allocations")).show(ui, |ui| {
        let grid = egui::Grid::new((finding.line, "allocations")).num_columns(4);
        grid.spacing([14.0, 2.0]).show(ui, |ui| {
            for title in ["Size", "Shape", "Operation", "Source"] {
                ui.weak(title);
            }
            ui.end_row();
            for one in &finding.allocations {
                ui.label(fonts::number(units.bytes(one.bytes)));
                ui.label(cell(one.shape.as_deref()));
                ui.label(cell(one.operation().or(one.label.as_deref())));
                ui.label(cell(one.source().as_deref()));
                ui.end_row();
            }
            if let Some(rest) = not_listed {
                ui.label(fonts::number(units.bytes(rest)));
                ui.weak("not listed");
                ui.end_row();
            }
        });
    });
}

fn advice_ui(ui: &mut egui::Ui, finding: &Finding) {
    ui.label(RichText::new("What to do").font(fonts::semibold(size::BODY)));
    ui.add_space(2.0);
    for (number, sentence) in (1_usize..).zip(&finding.advice) {
        ui.horizontal_top(|ui| {
            let (rect, _) = ui.allocate_exact_size(Vec2::splat(22.0), Sense::hover());
            numbered_disc(ui.painter(), rect.center(), number, Tokens::now(ui));
            ui.vertical(|ui| {
                ui.add_space(2.0);
                sentence_ui(ui, sentence);
            });
        });
        ui.add_space(4.0);
    }
}

/// Consequences of a failure that are listed, and the longest text of one.
const MOST_CONSEQUENCES: usize = 5;
const CONSEQUENCE: usize = 200;

fn facts(finding: &Finding, units: Units) -> Vec<FactRow> {
    let mut facts: Vec<FactRow> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| (name.to_owned(), clean(&value).into_owned())));
    };
    let exact = |bytes: Option<u64>| bytes.map(|bytes| units.exact(bytes));
    add("Line", Some(grouped(finding.line)));
    let origin = finding.origin.as_deref();
    let names = origin.map(WriterOfLine::names).filter(|names| !names.is_empty());
    add("Written by", names.map(|names| names.join(", ")));
    add("Time", origin.and_then(|origin| origin.time.clone()));
    add("Device", finding.instance.clone());
    add("Program", finding.program_name().map(str::to_owned));
    add("Part of the program", finding.part_of_program());
    add("Kernel", finding.kernel().map(str::to_owned));
    add("Memory space", finding.memory_space.clone());
    add("Tile", finding.tile.map(|tile| tile.to_string()));
    add("Tiles out of memory", finding.tiles_out.map(grouped));
    add("Exchange", finding.exchange.as_deref().map(str::to_owned));
    add("Used", exact(finding.used_bytes));
    add("Limit", exact(finding.limit_bytes));
    add("Too much", exact(finding.excess_bytes));
    add("Asked for", exact(finding.requested_bytes));
    add("Free", exact(finding.free_bytes));
    add("Free in one piece", exact(finding.contiguous_bytes));
    add("Held without use", exact(finding.unallocated_bytes));
    add("Held in all", exact(finding.reserved_bytes));
    add("In private pools", exact(finding.private_pools_bytes));
    add("Other processes", exact(finding.other_processes_bytes));
    add("Report", finding.profile.clone());
    for part in &finding.breakdown {
        add(&format!("Used: {}", clean(&part.name)), exact(Some(part.bytes)));
    }
    for then in finding.consequences.iter().take(MOST_CONSEQUENCES) {
        let text = shortened(&then.text, CONSEQUENCE).into_owned();
        add(&format!("Then line {}", grouped(then.line)), Some(text));
    }
    let program = finding.of_program.as_deref();
    for part in program.iter().flat_map(|program| &program.program) {
        add(&format!("Program: {}", clean(&part.name)), exact(Some(part.bytes)));
    }
    add("Total", exact(program.and_then(|program| program.total_bytes)));
    let packing = program.and_then(|program| program.packing).unwrap_or_default();
    add("Padded, says XLA", exact(packing.padded_bytes));
    add("Unpadded, says XLA", exact(packing.unpadded_bytes));
    add("Fragmentation, says XLA", exact(packing.fragmentation_bytes));
    facts
}
