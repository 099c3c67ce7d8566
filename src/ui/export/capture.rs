//! Has a picture painted once more to take it out: in the theme that is wanted, without the window's own buttons. The
//! pass is discarded, so that the window does not show it.
//!
//! Jobs draw again what has the colors of the theme, such as maps; until they have, for as long as people wait for a
//! file, the window itself has the other theme.

use eframe::egui::{self, Theme, ThemePreference};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use super::caption::CaptionSubject;
use super::scene::Scene;
use super::scene_of;
use crate::ui::job::in_flight;
use crate::ui::widget::exports::take_out;

/// Passes of a frame: that in which a picture is asked for, that which is taken, that which is shown, and one more.
pub const PASSES: NonZeroUsize = NonZeroUsize::new(4).unwrap();
/// Longest wait for what jobs draw.
const LONGEST: Duration = Duration::from_secs(5);

pub struct PictureCapture {
    pub name: String,
    before: ThemePreference,
    started: Instant,
    /// Jobs that were under way before, as far as they still can be.
    jobs_before: usize,
    /// The pass before which nothing is taken.
    first_pass: u64,
}

impl PictureCapture {
    pub fn start(ctx: &egui::Context, name: String, theme: Theme) -> Self {
        let before = ctx.options(|options| options.theme_preference);
        ctx.set_theme(theme);
        take_out(ctx, true);
        next_pass(ctx);
        let (started, jobs_before) = (Instant::now(), in_flight(ctx));
        Self { name, before, started, jobs_before, first_pass: ctx.cumulative_pass_nr() + 1 }
    }

    /// Takes the picture once it is there; `Err` when it is not on the page. Called at the end of each pass.
    pub fn take(
        &mut self,
        ctx: &egui::Context,
        about: &CaptionSubject,
    ) -> Option<Result<Scene, String>> {
        let (pass, jobs) = (ctx.cumulative_pass_nr(), in_flight(ctx));
        // What has ended meanwhile must not hide that the picture is still drawn anew.
        self.jobs_before = self.jobs_before.min(jobs);
        if pass < self.first_pass {
            return None;
        }
        if jobs > self.jobs_before && self.started.elapsed() < LONGEST {
            // What a job has made is on the screen in the pass after.
            self.first_pass = pass + 1;
            ctx.request_repaint_after(Duration::from_millis(20));
            return None;
        }
        let scene = scene_of(ctx, about, &self.name);
        ctx.set_theme(self.before);
        take_out(ctx, false);
        next_pass(ctx);
        Some(scene.ok_or_else(|| format!("The {} is not in the window", self.name)))
    }
}

/// At once, and without showing this one.
fn next_pass(ctx: &egui::Context) {
    ctx.request_discard("a picture is taken out of the window");
    ctx.request_repaint();
}
