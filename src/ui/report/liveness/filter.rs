//! The filter over steps: what it found is marked on the curve. It runs on its own thread.

use eframe::egui;
use std::sync::Arc;

use eframe::egui::TextEdit;

use super::derived::Derived;
use crate::analysis::program::steps::Filter;
use crate::store::Report;
use crate::store::program::Steps;
use crate::text;
use crate::ui::job::{Answer, Cancel, Job};
use crate::ui::units::Units;

/// How many steps are looked at before the job asks whether it shall stop.
const STEPS_PER_LOOK: usize = 1024;

/// The text and what it found.
#[derive(Debug, Default)]
pub struct StepFilter {
    text: String,
    /// What `found` and `job` are for: the text, and whether operations were known.
    asked: Option<(String, bool)>,
    job: Option<Job<Vec<u32>>>,
    found: Vec<u32>,
    /// Changes whenever `found` does.
    version: usize,
    /// What they are on a curve, by the versions of both.
    on_curve: Option<((usize, u64), OnCurve)>,
    failure: Option<String>,
}

/// What the matches are on a curve.
#[derive(Clone, Copy, Debug, Default)]
struct OnCurve {
    /// The matching step with the most bytes, the first of equals.
    largest: Option<(usize, u64)>,
    /// Number of peaks that match.
    peaks: usize,
    /// How many of the largest peaks match, one after the other.
    largest_peaks: usize,
}

impl StepFilter {
    /// The positions of the steps that match, ascending.
    pub fn matches(&self) -> &[u32] {
        &self.found
    }

    /// Changes whenever the matches do.
    pub fn version(&self) -> usize {
        self.version
    }

    /// Draws the field and the number of matches; returns the largest step when it is asked for.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        report: &Arc<Report>,
        derived: &Derived,
        steps: &Steps,
    ) -> Option<usize> {
        let label = ui.label("Filter steps");
        ui.add(
            TextEdit::singleline(&mut self.text)
                .hint_text("Name, kind, operation, such as conv")
                .desired_width(230.0),
        )
        .labelled_by(label.id);
        self.update(ui, report);
        let wanted = self.text.trim();
        if wanted.is_empty() {
            return None;
        }
        if let Some(failure) = &self.failure {
            ui.colored_label(ui.visuals().error_fg_color, failure);
            return None;
        }
        if self.job.is_some() {
            ui.weak("Looking…");
            return None;
        }
        let key = (self.version, derived.version());
        if self.on_curve.is_none_or(|(made_for, _)| made_for != key) {
            self.on_curve = Some((key, self.find_on_curve(derived)));
        }
        let on_curve = self.on_curve.map(|(_, on_curve)| on_curve).unwrap_or_default();
        let Some((step, bytes)) = on_curve.largest else {
            ui.label("No step matches");
            return None;
        };
        let count = text::grouped(self.found.len() as u64);
        let of = text::grouped(steps.ids.len() as u64);
        ui.label(format!("{count} of {of} steps match"));
        ui.label(peaks_text(on_curve.peaks, on_curve.largest_peaks, derived.peaks.len()));
        let id = steps.ids.get(step).map_or(0, |id| id.0);
        let button = ui.button(format!("Largest: step {id}, {}", Units::now(ui).bytes(bytes)));
        button.on_hover_text("Select it").clicked().then_some(step)
    }

    fn find_on_curve(&self, derived: &Derived) -> OnCurve {
        let bytes = |step: &u32| derived.not_always_live_at(*step as usize);
        let largest = self.found.iter().rev().max_by_key(|step| bytes(step));
        let is_found = |step: usize| {
            u32::try_from(step).is_ok_and(|step| self.found.binary_search(&step).is_ok())
        };
        let peaks = derived.peaks.iter().map(|peak| is_found(peak.step));
        OnCurve {
            largest: largest.map(|step| (*step as usize, bytes(step))),
            peaks: peaks.clone().filter(|is_found| *is_found).count(),
            largest_peaks: peaks.take_while(|is_found| *is_found).count(),
        }
    }

    /// Starts a job when the text or what is known of operations has changed; takes its answer.
    fn update(&mut self, ui: &egui::Ui, report: &Arc<Report>) {
        let wanted = (self.text.trim().to_owned(), report.debug.is_settled());
        if self.asked.as_ref() != Some(&wanted) {
            self.found.clear();
            self.version += 1;
            self.failure = None;
            self.job = None;
            if !wanted.0.is_empty() {
                self.start(ui, report, &wanted.0);
            }
            self.asked = Some(wanted);
        }
        match self.job.as_ref().map(Job::poll) {
            Some(Answer::Done(found)) => {
                self.found = found;
                self.version += 1;
                self.job = None;
            }
            Some(Answer::Failed) => {
                self.failure = Some("The filter stopped: a mistake in Tilescope".to_owned());
                self.job = None;
            }
            Some(Answer::Working) | None => {}
        }
    }

    fn start(&mut self, ui: &egui::Ui, report: &Arc<Report>, text: &str) {
        let (report, filter) = (Arc::clone(report), Filter::new(text));
        let work = move |cancel: &Cancel| matching_steps(&report, &filter, cancel);
        let job = Job::start("filter steps", ui.ctx(), work);
        match job {
            Ok(job) => self.job = Some(job),
            Err(error) => self.failure = Some(format!("No thread to filter with: {error}")),
        }
    }
}

/// The positions of the steps that match, ascending.
pub fn matching_steps(report: &Report, filter: &Filter, cancel: &Cancel) -> Vec<u32> {
    let steps = report.steps.get().map_or(0, |steps| steps.ids.len());
    let mut found = Vec::new();
    for step in 0..steps {
        if step % STEPS_PER_LOOK == 0 && cancel.is_cancelled() {
            break;
        }
        if filter.matches(report, step).is_some() {
            found.extend(u32::try_from(step).ok());
        }
    }
    found
}

/// Whether the peaks are what was looked for: how many match, and how many of the largest, one after
/// the other.
pub fn peaks_text(found: usize, largest: usize, peaks: usize) -> String {
    let grouped = |number: usize| text::grouped(number as u64);
    match (found, largest) {
        (found, _) if found == peaks => format!("and all {} peaks", grouped(peaks)),
        (found, first @ 2..) => format!(
            "and {} of {} peaks, the {} largest among them",
            grouped(found),
            grouped(peaks),
            grouped(first)
        ),
        (found, _) => format!("and {} of {} peaks", grouped(found), grouped(peaks)),
    }
}
