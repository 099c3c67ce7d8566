//! The window. It draws figures of [`crate::analysis`] and computes none itself.
//!
//! [`app`] holds the state and draws a frame; pages of a report are in `report`, what they are
//! made of in `widget`. Pages and bars send [`command`]s. Work happens on named threads
//! ([`loading`], `job`) that wake the window.

pub mod app;
mod card_fields;
pub mod command;
mod diagnose;
mod export;
pub(crate) mod headless;
mod home;
mod icon;
mod incoming;
mod job;
mod keys;
pub mod loading;
mod menu;
mod open_runs;
mod pages;
mod palette;
mod reading;
mod recent;
mod report;
mod report_view;
mod run_chips;
mod run_failures;
pub(crate) mod runs;
mod selection;
mod settings;
mod settings_file;
mod split;
mod status;
mod sweep;
mod theme;
mod top_bar;
mod units;
mod warnings;
mod widget;

use eframe::egui;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Instant;

use app::App;
use loading::Load;

/// Debian packages that a window needs and that no linker sees, because they are loaded at run time.
const PACKAGES: &str = "libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon0 libxkbcommon-x11-0 \
                        libgl1-mesa-dri libegl1";

/// Opens the window, on the reports at the paths, the first of which is the reference, or on the home
/// page, and returns when it is closed.
///
/// `started` is when the process began, for `TILESCOPE_LOG_FIRST_GRAPH`.
///
/// # Errors
/// When no window can be opened.
pub fn run(paths: Vec<PathBuf>, started: Instant) -> Result<(), String> {
    let ctx = egui::Context::default();
    // The reports are read while the window is being made.
    let loads: Vec<Load> = paths.into_iter().map(|path| Load::start(path, &ctx)).collect();
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("Tilescope")
            .with_app_id("tilescope")
            .with_inner_size([1280.0, 800.0])
            .with_min_inner_size([720.0, 540.0])
            .with_drag_and_drop(true),
        renderer: eframe::Renderer::Glow,
        ..eframe::NativeOptions::default()
    };
    let is_measured = std::env::var_os("TILESCOPE_LOG_FIRST_GRAPH").is_some();
    let create: eframe::AppCreator<'_> = Box::new(move |creation| {
        let settings = dirs::config_dir().map(|directory| directory.join("tilescope"));
        let app = App::with_loads(&creation.egui_ctx, loads);
        let app = match settings {
            Some(directory) => app.with_settings(&creation.egui_ctx, directory),
            None => app,
        };
        let app = if is_measured { app.measuring_from(started) } else { app };
        Ok(Box::new(app))
    });
    // The window libraries panic, instead of failing, where a library is not installed.
    let run = AssertUnwindSafe(|| eframe::run_native_ext("tilescope", options, Some(ctx), create));
    match catch_unwind(run) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            let reason = error.to_string();
            Err(format!("the window could not be opened: {}. {}", plain(&reason), hint()))
        }
        Err(_) => Err(format!("the window stopped with the message above. {}", hint())),
    }
}

/// A message of the window library without the place in its own source.
fn plain(message: &str) -> &str {
    let after_place = message.rsplit_once(".rs:").and_then(|(_, rest)| rest.split_once(": "));
    after_place.map_or(message, |(_, reason)| reason)
}

fn hint() -> String {
    if cfg!(target_os = "linux") {
        format!("If a library is missing: on Debian and Ubuntu, install {PACKAGES}")
    } else {
        String::new()
    }
}

/// Whether a window can be opened: on Linux that takes X11 or Wayland, and a login node often has neither.
pub fn has_display() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_do_not_name_places_in_sources() {
        let message = "winit: os error at /build/mod.rs:788: Failed to open a connection: refused";
        assert_eq!(plain(message), "Failed to open a connection: refused");
        assert_eq!(plain("no config: none"), "no config: none");
    }
}
