//! Check boxes before the rows of a table.

use eframe::egui;

/// Rows that are ticked, in the order in which they were.
pub struct RowTicks<'a> {
    pub rows: &'a mut Vec<usize>,
    pub is_possible: &'a dyn Fn(usize) -> bool,
}

impl RowTicks<'_> {
    pub fn ui(&mut self, ui: &mut egui::Ui, row: usize, name: &str) {
        let mut is_ticked = self.rows.contains(&row);
        let check_box = egui::Checkbox::without_text(&mut is_ticked);
        let response = ui.add_enabled((self.is_possible)(row), check_box);
        let response = response.accessible_name(format!("Tick {name}"));
        if response.clicked() {
            self.rows.retain(|other| *other != row);
            self.rows.extend(is_ticked.then_some(row));
        }
    }
}
