//! The choices for the picture: which tiles, their order, the breakdown, the lines.

use eframe::egui::{self, Button, PopupCloseBehavior};

use super::arranged::{ArrangedTiles, TilesChoice};
use super::series::Series;
use super::statistics::answer;
use crate::analysis::memory::breakdown::Breakdown;
use crate::analysis::memory::tile_order::TileOrder;
use crate::ui::report::PageContext;
use crate::ui::report::head::arrangement_ui;
use crate::ui::runs::Runs;
use crate::ui::units::Units;
use crate::ui::widget::choice::{choice_ui, named_choice_ui};
use crate::ui::widget::exports::answer_of_exports;
use crate::ui::widget::sign::answer_ui;

/// Below this width the choices have a row of their own, points; several runs have more to choose and to say.
fn room(runs: &Runs) -> f32 {
    if runs.is_one() { 1020.0 } else { 1450.0 }
}

fn orders(runs: &Runs) -> Vec<(TileOrder, String)> {
    let by_number = (TileOrder::Number, "By tile number".to_owned());
    if runs.is_one() {
        return vec![by_number, (TileOrder::Bytes, "By bytes, largest first".to_owned())];
    }
    let by_bytes = format!("By bytes of {}", runs.reference().the());
    let by_change = "By change, largest first".to_owned();
    vec![by_number, (TileOrder::Bytes, by_bytes), (TileOrder::Change, by_change)]
}

pub struct MemoryChoices {
    pub tiles: TilesChoice,
    pub series: Series,
    /// Names of variables that are not drawn.
    pub hidden_variables: Vec<String>,
    pub has_limit: bool,
    /// Whether the picture reaches up to the limit; `None` follows the figures.
    pub is_scaled_to_limit: Option<bool>,
}

impl Default for MemoryChoices {
    fn default() -> Self {
        Self {
            tiles: TilesChoice::default(),
            series: Series::default(),
            hidden_variables: Vec::new(),
            has_limit: true,
            is_scaled_to_limit: None,
        }
    }
}

impl MemoryChoices {
    /// Draws the head of the page: its title and views, the answer, and the choices: of what bytes are divided by
    /// where they can be, of how runs are arranged, of the order, and of lines. `is_scaled` is what figures or user want now; without a limit
    /// it is nothing.
    pub fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &ArrangedTiles,
        is_divided: bool,
        is_scaled: Option<bool>,
        views: impl FnOnce(&mut egui::Ui),
    ) {
        let runs = page.runs;
        let answer = answer(runs, tiles, Units::now(ui));
        answer_of_exports(ui, Some(&answer));
        let ((sign, text), ipus) = (&answer, &tiles.axis.ipus);
        let is_wide = ui.available_width() >= room(runs);
        ui.horizontal(|ui| {
            ui.set_min_height(30.0);
            views(ui);
            ui.add_space(8.0);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if is_wide {
                    if is_divided {
                        self.options_ui(ui, runs, is_scaled);
                    }
                    self.order_ui(ui, runs);
                    self.tiles_ui(ui, ipus);
                    if is_divided {
                        self.breakdown_ui(ui);
                        arrangement_ui(ui, page);
                    }
                    ui.add_space(8.0);
                }
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    answer_ui(ui, *sign, text);
                });
            });
        });
        if !is_wide {
            ui.horizontal_wrapped(|ui| {
                if is_divided {
                    arrangement_ui(ui, page);
                    self.breakdown_ui(ui);
                }
                self.tiles_ui(ui, ipus);
                self.order_ui(ui, runs);
                if is_divided {
                    self.options_ui(ui, runs, is_scaled);
                }
            });
        }
    }

    fn breakdown_ui(&mut self, ui: &mut egui::Ui) {
        let title = |breakdown: &Option<Breakdown>| match breakdown {
            None => "None",
            Some(Breakdown::Region) => "Region",
            Some(Breakdown::Category) => "Category",
            Some(Breakdown::Liveness) => "Liveness",
        };
        let mut breakdown = self.tiles.breakdown;
        let all = [Breakdown::Region, Breakdown::Category, Breakdown::Liveness].map(Some);
        let choices = std::iter::once(None).chain(all);
        named_choice_ui(ui, "Breakdown", 148.0, &mut breakdown, choices, title)
            .on_hover_text("What the bytes of every tile are divided by");
        if breakdown != self.tiles.breakdown {
            self.tiles.divide(breakdown);
            self.series.follow_default();
        }
    }

    fn tiles_ui(&mut self, ui: &mut egui::Ui, ipus: &[u32]) {
        if ipus.len() < 2 {
            return;
        }
        let title = |ipu: &Option<u32>| match ipu {
            Some(ipu) => format!("IPU {ipu}"),
            None => "All IPUs".to_owned(),
        };
        let choices = std::iter::once(None).chain(ipus.iter().copied().map(Some));
        choice_ui(ui, "Tiles shown", 84.0, &mut self.tiles.ipu, choices, title)
            .on_hover_text("The tiles in the picture");
    }

    fn order_ui(&mut self, ui: &mut egui::Ui, runs: &Runs) {
        let (orders, order) = (orders(runs), &mut self.tiles.order);
        if !orders.iter().any(|(choice, _)| choice == order) {
            *order = TileOrder::default();
        }
        let title = orders.iter().find(|(choice, _)| choice == order);
        let title = title.map_or("", |(_, title)| title);
        let combo = egui::ComboBox::from_id_salt("order")
            .selected_text(title)
            .width(168.0)
            .show_ui(ui, |ui| {
                for (choice, title) in &orders {
                    ui.selectable_value(order, *choice, title);
                }
                let physical = ui.add_enabled(false, Button::selectable(false, "Physical"));
                physical.on_disabled_hover_text(
                    "The report does not say where its tiles lie on the chip",
                );
            });
        combo.response.accessible_name("Order").on_hover_text("The order of the tiles");
    }

    fn options_ui(&mut self, ui: &mut egui::Ui, runs: &Runs, is_scaled: Option<bool>) {
        let combo = egui::ComboBox::from_id_salt("options")
            .selected_text("Options")
            .width(84.0)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside);
        let combo = combo.show_ui(ui, |ui| {
            let mut has_gaps = self.series.has_gaps(runs);
            if ui.checkbox(&mut has_gaps, "Include gaps").changed() {
                self.series.include_gaps(has_gaps);
            }
            ui.add_enabled_ui(is_scaled.is_some(), |ui| {
                let unknown = "The limit of a tile is not known";
                ui.checkbox(&mut self.has_limit, "Show limit").on_disabled_hover_text(unknown);
                let mut is_wanted = is_scaled.unwrap_or(false);
                let scale = ui.checkbox(&mut is_wanted, "Scale to limit");
                if scale.on_disabled_hover_text(unknown).changed() {
                    self.is_scaled_to_limit = Some(is_wanted);
                    self.has_limit |= is_wanted;
                }
            });
        });
        combo.response.accessible_name("Options").on_hover_text("What is in the picture");
    }
}
