//! Who owns the peak: by category with its rule, by user frame, by function, by module of `torch.nn`.

use eframe::egui::{self, Label};

use super::SnapshotPart;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::DeviceInsights;
use crate::systems::pytorch::allocator::insights::peak::PeakInsights;
use crate::systems::pytorch::allocator::phases::PhaseOfEvent;
use crate::systems::pytorch::allocator::user_frame::NO_STACK;
use crate::text::{counted, grouped, shortened};
use crate::ui::command::Sheet;
use crate::ui::report::areas::short_frame;
use crate::ui::report::category_colors::category_color;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::card::listed_card_ui;
use crate::ui::widget::choice::segments_ui;
use crate::ui::widget::measured::{Columns, Measured};
use crate::ui::widget::rows::{Column, Value};

/// Rows that are shown.
const MOST_ROWS: usize = 9;
const TITLE: &str = "What the peak consists of";

/// What the bytes of the peak are put together by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnerBy {
    #[default]
    Category,
    Frame,
    Function,
    Module,
}

impl OwnerBy {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Category, "Category"),
        (Self::Frame, "Line"),
        (Self::Function, "Function"),
        (Self::Module, "Module"),
    ];
}

/// A row: its name, what the pointer learns of it, the category that has most of it, bytes and blocks.
struct Row<'a> {
    name: &'a str,
    hover: String,
    category: BlockCategory,
    bytes: u64,
    blocks: u64,
}

pub fn owners_ui(ui: &mut egui::Ui, page: &mut SnapshotPart<'_>, device: &DeviceInsights) {
    let peak = &device.peak;
    if peak.blocks == 0 {
        return;
    }
    let mut by = page.choices.owners;
    let rows = rows(peak, by);
    let (mut exports, sheet) = (Vec::new(), || sheet(&rows));
    let mut clicked = None;
    let mut wants_event = false;
    listed_card_ui(
        ui,
        TITLE,
        (&mut exports, sheet),
        |_| {},
        |ui| {
            wants_event = head_ui(ui, device);
            segments_ui(ui, "What bytes are put together by", &mut by, OwnerBy::ALL);
            clicked = rows_ui(ui, peak, &rows, by);
            if let Some(note) = &peak.note {
                let note = fonts::caption(shortened(note, 400)).color(Tokens::now(ui).note);
                ui.add(Label::new(note).wrap());
            }
        },
    );
    page.part.commands.append(&mut exports);
    page.choices.owners = by;
    if wants_event {
        page.show_event(device.device, peak.event);
    } else if let Some(frame) = clicked {
        page.show_code((device.device, peak.event), &frame);
    }
}

/// The peak in a line, with the way to it; says whether that was clicked.
fn head_ui(ui: &mut egui::Ui, device: &DeviceInsights) -> bool {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let peak = &device.peak;
    let window =
        if device.history_complete || device.events == 0 { "" } else { " in the recorded window" };
    let phase = peak.phase.as_ref().map(PhaseOfEvent::text).filter(|text| !text.is_empty());
    let phase = phase.map_or_else(String::new, |phase| format!(", in {}", shortened(&phase, 120)));
    let of = format!(
        "{} requested of {} in {}{window}{phase}",
        units.bytes(peak.bytes),
        device.title(),
        counted(peak.blocks, "block")
    );
    let mut is_clicked = false;
    ui.horizontal_wrapped(|ui| {
        ui.label(fonts::caption(of).color(tokens.weak_text));
        if device.events > 0 {
            let event = u64::try_from(peak.event);
            let title = event.map_or("Before the first event".to_owned(), |event| {
                format!("Event {}", grouped(event))
            });
            is_clicked =
                ui.link(fonts::caption(title)).on_hover_text("Select it in Liveness").clicked();
        }
    });
    is_clicked
}

/// Draws the rows; the frame that was clicked.
fn rows_ui(
    ui: &mut egui::Ui,
    peak: &PeakInsights,
    rows: &[Row<'_>],
    by: OwnerBy,
) -> Option<String> {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let columns = Columns { has_swatch: true, has_percent: true, ..Columns::default() };
    let percent = |bytes: u64| Some(bytes as f64 * 100.0 / peak.bytes.max(1) as f64);
    let mut clicked = None;
    let (shown, others) = rows.split_at(rows.len().min(MOST_ROWS));
    for row in shown {
        let color = category_color(row.category.title(), &tokens);
        let name = shortened(short_frame(row.name), 160);
        let measured = Measured {
            name: &name,
            hover: &row.hover,
            is_link: by == OwnerBy::Frame && row.name != NO_STACK,
            swatch: Some(color),
            color,
            size: Some((row.bytes, peak.bytes)),
            value: &units.bytes(row.bytes),
            percent: percent(row.bytes),
            ..Measured::default()
        };
        if ui.push_id(row.name, |ui| measured.ui(ui, columns)).inner.name {
            clicked = Some(row.name.to_owned());
        }
    }
    let shown_bytes = shown.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
    let rest = peak.bytes.saturating_sub(shown_bytes);
    let more = others.len() + if by == OwnerBy::Frame { peak.more_frames } else { 0 };
    if more > 0 {
        let name = counted(more as u64, "other");
        let measured = Measured {
            name: &name,
            color: tokens.third_text,
            size: Some((rest, peak.bytes)),
            value: &units.bytes(rest),
            percent: percent(rest),
            ..Measured::default()
        };
        measured.ui(ui, columns);
    }
    clicked
}

fn rows(peak: &PeakInsights, by: OwnerBy) -> Vec<Row<'_>> {
    let owners = match by {
        OwnerBy::Category => {
            let row =
                |one: &crate::systems::pytorch::allocator::insights::peak::CategoryBytes| Row {
                    name: one.category.title(),
                    hover: format!("By the rule: {}. {}", one.rule, counted(one.blocks, "block")),
                    category: one.category,
                    bytes: one.bytes,
                    blocks: one.blocks,
                };
            let mut rows: Vec<_> = peak.by_category.iter().map(row).collect();
            rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
            return rows;
        }
        OwnerBy::Frame => &peak.by_frame,
        OwnerBy::Function => &peak.by_function,
        OwnerBy::Module => &peak.by_module,
    };
    let row = |one: &'_ crate::systems::pytorch::allocator::peak::FrameBytes| {
        let blocks = counted(one.all.blocks, "block");
        let name = shortened(&one.name, 300);
        format!("{name}: {blocks}, most of it {}", one.category.title().to_lowercase())
    };
    let rows = owners.iter().map(|one| Row {
        name: &one.name,
        hover: row(one),
        category: one.category,
        bytes: one.all.bytes,
        blocks: one.all.blocks,
    });
    rows.collect()
}

fn sheet(rows: &[Row<'_>]) -> Sheet {
    let columns = vec![
        Column::rest("What"),
        Column::rest("Category"),
        Column::bytes("Requested", 0.0),
        Column::count("Blocks", 0.0),
    ];
    let row = |row: &Row<'_>| {
        vec![
            Value::text(row.name.to_owned()),
            Value::text(row.category.title()),
            Value::Bytes(row.bytes),
            Value::Count(row.blocks),
        ]
    };
    Sheet::of(columns, rows.iter().map(row).collect())
}
