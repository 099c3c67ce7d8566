//! Overview.
use super::PageContext;
use crate::ui::pages::RunsPage;
use eframe::egui;

#[derive(Default)]
pub struct OverviewPage {}

impl RunsPage for OverviewPage {
    fn ui(&mut self, ui: &mut egui::Ui, _page: &mut PageContext<'_>) {
        ui.heading("Overview");
    }
}
