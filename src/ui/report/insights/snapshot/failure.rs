//! The request at which a run ended, against what was free and what the device has.

use eframe::egui::{self, Label};

use super::SnapshotPart;
use crate::systems::pytorch::allocator::insights::DeviceInsights;
use crate::systems::pytorch::allocator::insights::out_of_memory::OutOfMemory;
use crate::text::{counted, shortened};
use crate::ui::command::Sheet;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::card::listed_card_ui;
use crate::ui::widget::measured::{Columns, Measured};
use crate::ui::widget::rows::{Column, Value};

/// Width of the way to something, points.
const LINK: f32 = 92.0;

/// Draws it where a run ended so.
pub fn failure_ui(ui: &mut egui::Ui, page: &mut SnapshotPart<'_>, device: &DeviceInsights) {
    let Some(failure) = &device.out_of_memory else { return };
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let rows = rows(failure, &tokens);
    let (mut exports, sheet) = (Vec::new(), || sheet(&rows));
    let (mut shown, mut wants_code) = (None, false);
    listed_card_ui(
        ui,
        "Out of memory",
        (&mut exports, sheet),
        |_| {},
        |ui| {
            let why = shortened(&failure.why(), 400).into_owned();
            ui.add(Label::new(fonts::caption(why).color(tokens.weak_text)).wrap());
            let most = rows.iter().map(|row| row.bytes).max().unwrap_or(0);
            for row in &rows {
                let is_way = row.is_segments || row.is_request;
                let measured = Measured {
                    name: &row.name,
                    hover: &row.hover,
                    color: row.color,
                    size: Some((row.bytes, most)),
                    value: &units.bytes(row.bytes),
                    link: is_way.then_some(if row.is_segments { "Segments" } else { "Event" }),
                    ..Measured::default()
                };
                let columns = Columns { link: LINK, ..Columns::default() };
                let clicked = ui.push_id(&row.name, |ui| measured.ui(ui, columns)).inner;
                if clicked.link {
                    shown = Some(row.is_segments);
                }
            }
            if let Some(frame) = &failure.frame {
                let text = format!("Asked at {}", shortened(frame, 200));
                let link = ui.link(fonts::caption(text));
                wants_code = link.on_hover_text("What its code had then, in Liveness").clicked();
            }
        },
    );
    page.part.commands.append(&mut exports);
    let event = i64::from(failure.event);
    match shown {
        Some(true) => page.show_segments(device.device, event),
        Some(false) => page.show_event(device.device, event),
        None => {}
    }
    if let Some(frame) = failure.frame.as_ref().filter(|_| wants_code) {
        page.show_code((device.device, event), frame);
    }
}

struct Row {
    name: String,
    hover: String,
    bytes: u64,
    color: egui::Color32,
    is_request: bool,
    is_segments: bool,
}

/// What was asked, and what there was.
fn rows(failure: &OutOfMemory, tokens: &Tokens) -> Vec<Row> {
    let row = |name: &str, hover: &str, bytes, color| Row {
        name: name.to_owned(),
        hover: hover.to_owned(),
        bytes,
        color,
        is_request: false,
        is_segments: false,
    };
    let mut rows = vec![Row {
        is_request: true,
        ..row("Asked", "Rounded up, as the allocator does", failure.requested_bytes, tokens.over)
    }];
    if let Some(bytes) = failure.device_free_bytes {
        rows.push(row("Free on the device", "As the event says", bytes, tokens.fits));
    }
    let pieces = format!("Free in {}", counted(failure.pieces as u64, "piece"));
    let hover = "Reserved and not in use, within segments";
    rows.push(Row { is_segments: true, ..row(&pieces, hover, failure.free_bytes, tokens.gap) });
    let largest = "Largest usable piece";
    rows.push(row(
        largest,
        "Of its size, pool and stream",
        failure.largest_usable_bytes,
        tokens.gap,
    ));
    if let Some(bytes @ 1..) = failure.short_bytes {
        let hover = "The segment for it, less what was free on the device";
        rows.push(row("Had to go at least", hover, bytes, tokens.over));
    }
    rows.push(row("In use", "Blocks of PyTorch", failure.active_bytes, tokens.temporary));
    rows.push(row("Reserved", "Segments of PyTorch", failure.reserved_bytes, tokens.temporary));
    let stated = failure.stated_by.as_deref().unwrap_or("the user");
    if let Some(bytes) = failure.other_bytes {
        let hover = "Other processes, the CUDA context, libraries: what the device has, less what was free and reserved";
        rows.push(row("Of others", hover, bytes, tokens.third_text));
    }
    if let Some(bytes) = failure.capacity_bytes {
        let title =
            if failure.capacity_is_share { "The process may have" } else { "The device has" };
        rows.push(row(title, &format!("Says {stated}"), bytes, tokens.third_text));
    }
    rows
}

fn sheet(rows: &[Row]) -> Sheet {
    let columns = vec![Column::rest("What"), Column::bytes("Size", 0.0)];
    let row = |row: &Row| vec![Value::text(row.name.clone()), Value::Bytes(row.bytes)];
    Sheet::of(columns, rows.iter().map(row).collect())
}
