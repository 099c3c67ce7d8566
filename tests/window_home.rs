//! Drives what is around the pages: home, menu, palette, keys, settings, Summary.

mod window_report;
mod window_support;

use eframe::egui::Theme;
use tilescope::ui::app::App;
use window_support::{has_text, window};

#[test]
fn the_home_page_says_how_to_open_a_report() {
    let harness = window(Theme::Light, |ctx| App::new(ctx, None));
    assert!(has_text(&harness, "Open a report"));
    assert!(has_text(&harness, "Open demo report"));
}
