//! Variants of a training run side by side: the table that `tilescope sweep` prints of memory snapshots, and what each
//! needs below the line of what the card has.

mod bars;
mod rows;

use eframe::egui::{self, Label, RichText};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::chosen::{Choosable, select};
use super::{NAME, PICTURES, head};
use crate::analysis::variants::{Variant, VariantTable};
use crate::store::Warning;
use crate::text::{capitalised, counted, shortened};
use crate::ui::card_fields::{Typed, device_titles, device_ui, fields_row_ui};
use crate::ui::command::Command;
use crate::ui::report::head::{Answer, page_head_with_ui};
use crate::ui::split;
use crate::ui::theme::{BETWEEN_CARDS, Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::card::{picture_card_ui, table_card_ui};
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::row_ticks::RowTicks;
use crate::ui::widget::sign::Sign;
use rows::VariantRows;

/// Warnings that are listed when the pointer is over their number.
const MOST_WARNINGS: usize = 20;

/// What was read of a directory of snapshots.
pub struct ReadVariants {
    pub variants: Vec<Variant>,
    pub warnings: Vec<Warning>,
    /// The device that was asked for.
    pub device: Option<i64>,
}

pub struct Variants {
    pub folder: PathBuf,
    table: Arc<VariantTable>,
    rows: Arc<VariantRows>,
    warnings: Vec<Warning>,
    /// The device that is shown; `None` is the one that had most.
    pub device: Option<i64>,
    /// Every device of any variant.
    devices: BTreeMap<i64, String>,
    capacity: Typed,
    other: Typed,
    /// The name of the one that the user has chosen.
    reference: Option<String>,
    selected: Vec<usize>,
    ticked: Vec<usize>,
    data_table: DataTable,
}

impl Variants {
    /// Variants of a directory; what the user has typed and chosen of the same one before stays.
    pub fn new(folder: PathBuf, read: ReadVariants, before: Option<Self>) -> Self {
        let before = before.filter(|before| before.folder == folder);
        let devices = read.variants.iter().flat_map(|variant| variant.devices.iter().copied());
        let devices = device_titles(devices);
        let (capacity, other, reference) = match before {
            Some(before) => (before.capacity, before.other, before.reference),
            None => (Typed::default(), Typed::default(), None),
        };
        let table = Arc::new(table_of(read.variants, &capacity, &other, reference.as_deref()));
        Self {
            folder,
            rows: Arc::new(VariantRows::new(Arc::clone(&table))),
            selected: table.least_needed().into_iter().collect(),
            table,
            warnings: read.warnings,
            device: read.device,
            devices,
            capacity,
            other,
            reference,
            ticked: Vec::new(),
            data_table: DataTable::default(),
        }
    }

    /// Puts the same variants side by side with what is typed and chosen now.
    fn put_together(&mut self) {
        let rows = self.table.rows.clone();
        let reference = self.reference.as_deref();
        self.table = Arc::new(table_of(rows, &self.capacity, &self.other, reference));
        self.rows = Arc::new(VariantRows::new(Arc::clone(&self.table)));
    }

    /// Draws the page; returns whether another device was chosen, which is still to be read.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        path: &mut String,
        is_picking: bool,
        commands: &mut Vec<Command>,
    ) -> bool {
        self.head_ui(ui, path, is_picking, commands);
        let device = self.device;
        self.fields_ui(ui);
        let height = (ui.available_height() * 0.45).clamp(110.0, 420.0);
        let most = (ui.available_height() - PICTURES).max(110.0);
        split::below(ui, "sweep variants", height, 80.0..=most, |ui| {
            table_card_ui(ui, |ui| self.table_ui(ui, commands));
        });
        let margin = egui::Margin { top: 4, bottom: 6, ..egui::Margin::ZERO };
        split::rest(ui, margin, |ui| self.picture_ui(ui, commands));
        device != self.device
    }

    fn head_ui(
        &self,
        ui: &mut egui::Ui,
        path: &mut String,
        is_picking: bool,
        commands: &mut Vec<Command>,
    ) {
        let units = Units::now(ui);
        let answer = answer(&self.table, units);
        let weak = Tokens::now(ui).weak_text;
        let after = |ui: &mut egui::Ui| {
            let least = self.table.least_text(|bytes| units.bytes(bytes));
            if let Some(least) = least.filter(|_| self.table.capacity_bytes.is_some()) {
                let text = format!("· {}", shortened(&least, 2 * NAME));
                ui.add(Label::new(RichText::new(text).color(weak)).truncate());
            }
        };
        page_head_with_ui(ui, "Sweep", Some(&answer), after, |ui| {
            head::directory_menu_ui(ui, &self.folder, path, is_picking, commands);
            if !self.warnings.is_empty() {
                let count = counted(self.warnings.len() as u64, "warning");
                ui.label(count).on_hover_text(warnings_text(&self.warnings));
            }
        });
    }

    /// What the card has, what others have of it, and of which device it is.
    fn fields_ui(&mut self, ui: &mut egui::Ui) {
        let mut has_changed = false;
        fields_row_ui(ui, |ui| {
            has_changed |= self.capacity.ui(ui, "Capacity", "16GiB");
            has_changed |= self.other.ui(ui, "Other memory", "600MiB");
            if let Some(stated) =
                self.table.stated_capacity_bytes().filter(|_| self.capacity.is_empty())
            {
                let text = format!("Use the {} of an error text", Units::now(ui).bytes(stated));
                let hover = "What an error text beside a variant says that the card has, rounded";
                if ui.button(text).on_hover_text(hover).clicked() {
                    self.capacity.set(stated);
                    has_changed = true;
                }
            }
            if self.devices.len() > 1 {
                device_ui(ui, ["Device", "Fullest device"], &mut self.device, &self.devices);
            }
            let reference = capitalised(&self.table.reference_text());
            let reference = fonts::caption(shortened(&reference, 2 * NAME)).weak();
            ui.add(Label::new(reference).truncate());
        });
        if has_changed {
            self.put_together();
        }
    }

    fn table_ui(&mut self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let table = Arc::clone(&self.table);
        let name = |row: usize| {
            table.name(Some(row)).map_or(String::new(), |name| shortened(name, NAME).into_owned())
        };
        let path = |row: usize| table.rows.get(row).map(|row| row.path.clone());
        let choosable = Choosable { name: &name, path: &path };
        let (mut wanted, mut reference) = (Vec::new(), None);
        let ticked = self.ticked.clone();
        let mut head = |ui: &mut egui::Ui| {
            ui.label(fonts::card_title("Variants"));
            choosable.ui(ui, (&self.selected, &ticked), &mut wanted, |ui, row| {
                let can_be =
                    table.rows.get(row).is_some_and(|row| row.why_no_reference().is_none());
                let is_another = can_be && table.reference != Some(row);
                let button = ui.add_enabled(is_another, egui::Button::new("Make reference"));
                if button.on_hover_text("What all percents are of").clicked() {
                    reference = table.name(Some(row)).map(str::to_owned);
                }
            });
        };
        let selected = &self.selected;
        let data = Data {
            is_selected: &|row| selected.contains(&row),
            ..Data::of("variants", &self.rows.columns, self.rows.clone())
        };
        let mut now_ticked = ticked.clone();
        let ticks = RowTicks { rows: &mut now_ticked, is_possible: &|_| true };
        let click = self.data_table.ui_with(ui, &data, commands, Some(&mut head), Some(ticks));
        commands.append(&mut wanted);
        self.ticked = now_ticked;
        if let Some(click) = click {
            select(&mut self.selected, click.row, click.is_added);
        }
        if reference.is_some() {
            self.reference = reference;
            self.put_together();
        }
    }

    fn picture_ui(&mut self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        if self.table.rows.is_empty() {
            absent_ui(ui, "No variants", "None of the snapshots has the device");
            return;
        }
        let note = self.table.footnotes().first().copied().unwrap_or_default();
        let note = |ui: &mut egui::Ui| {
            ui.add(Label::new(fonts::caption(note).weak()).truncate());
        };
        // A card leaves room for the next one below it.
        let mut room = ui.available_rect_before_wrap();
        room.max.y -= BETWEEN_CARDS;
        let part = egui::UiBuilder::new().max_rect(room);
        let (table, selected) = (Arc::clone(&self.table), self.selected.clone());
        let click = ui.scope_builder(part, |ui| {
            picture_card_ui(ui, "Needed", commands, note, |ui| bars::bars_ui(ui, &table, &selected))
        });
        let Some(click) = click.inner else { return };
        if let Some(row) = self.table.rows.get(click.run).filter(|_| click.is_opened) {
            commands.push(Command::Open(row.path.clone()));
        }
        select(&mut self.selected, click.run, click.is_added);
    }
}

/// The table with what is typed. One that cannot be the reference, now that the files are others, is none.
fn table_of(
    rows: Vec<Variant>,
    capacity: &Typed,
    other: &Typed,
    reference: Option<&str>,
) -> VariantTable {
    let other = other.bytes.unwrap_or(0);
    let plain = |rows| VariantTable {
        rows,
        capacity_bytes: capacity.bytes,
        other_bytes: other,
        reference: None,
    };
    let table = VariantTable::new(rows.clone(), capacity.bytes, other, reference);
    let table = table.or_else(|_| VariantTable::new(rows.clone(), capacity.bytes, other, None));
    table.unwrap_or_else(|_| plain(rows))
}

/// How many fit, or which needs least.
fn answer(table: &VariantTable, units: Units) -> Answer {
    let bytes = |bytes: u64| units.bytes(bytes);
    match (table.capacity_text(bytes), table.least_text(bytes)) {
        (Some(text), _) => {
            let fits = table.rows.iter().any(|row| table.fits(row) == Some(true));
            (Sign::of(Some(fits)), text)
        }
        (None, Some(least)) => (Sign::Note, capitalised(&shortened(&least, 2 * NAME))),
        (None, None) => (Sign::Over, "No variant ran to its end".to_owned()),
    }
}

fn warnings_text(warnings: &[Warning]) -> String {
    let text = |warning: &Warning| {
        shortened(&format!("{}: {}", warning.file, warning.message), 200).into_owned()
    };
    let mut lines: Vec<String> = warnings.iter().take(MOST_WARNINGS).map(text).collect();
    let more = warnings.len().saturating_sub(MOST_WARNINGS);
    if more > 0 {
        lines.push(format!("and {}", counted(more as u64, "more warning")));
    }
    lines.join("\n")
}
