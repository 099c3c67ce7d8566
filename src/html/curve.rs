//! The curve as a picture: areas that are stacked, the limit, the peak. The script draws it anew to zoom.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};

use super::data_markup;
use super::palette::GroupColors;
use super::samples::{CurveSamples, highest_of_each};
use crate::analysis::derived::Derived;
use crate::analysis::liveness::scope_title;
use crate::progress::Progress;
use crate::text::{bytes, clean, exact_bytes, grouped};

/// Width and height of the picture, in its own units; the page scales it.
const SIZE: [f64; 2] = [1000.0, 260.0];
/// Steps of all curves of a page together.
const MOST_STEPS: usize = 4000;
/// Steps that the picture without a script has.
const DRAWN: usize = 500;
/// A limit is drawn where the curve reaches this part of it.
const NEAR_LIMIT: f64 = 0.25;

/// The curve of a run; nothing of one that has none. `of` are the runs of the page.
pub(super) fn curve_markup(
    derived: &Derived,
    palette: &GroupColors,
    number: usize,
    of: usize,
    progress: &Progress,
) -> Markup {
    let Some(samples) = CurveSamples::of(derived, MOST_STEPS / of.max(1), progress) else {
        return html! {};
    };
    let words = derived.report().system;
    let part = derived.first_device().map(|_| scope_title(derived.report(), samples.scope));
    let part = part.map_or_else(String::new, |part| format!(", {}", clean(&part)));
    let id = format!("curve{number}");
    let top = samples.top();
    let limit = samples.limit.filter(|limit| top as f64 >= *limit as f64 * NEAR_LIMIT);
    let peak = samples.total().iter().position(|bytes| *bytes == top);
    let at_peak = peak.and_then(|peak| samples.steps.get(peak)).copied().unwrap_or(0);
    let said = format!(
        "{} {}, at most {} at {} {}",
        grouped(samples.count as u64),
        words.steps,
        exact_bytes(top),
        words.step_in_text,
        grouped(at_peak.into())
    );
    html! {
        figure.curve data-curve=(id) data-step=(words.step) {
            figcaption {
                "Memory over " (words.steps) (part)
                span.note { (said) }
            }
            svg viewBox=(format!("0 0 {} {}", SIZE[0], SIZE[1])) preserveAspectRatio="none" role="img" aria-label=(said) {
                (areas(&samples, palette, top.max(limit.unwrap_or(0))))
                @if let Some(limit) = limit {
                    @let y = y_of(limit, top.max(limit));
                    line.limit x1="0" x2=(SIZE[0]) y1=(y) y2=(y) {}
                }
            }
            ul.key {
                @for (place, group) in samples.groups.iter().enumerate().rev() {
                    @if samples.groups.len() > 1 {
                        li title=(clean(&group.rule)) { i class=(palette.group(place, group)) {} (clean(&group.title)) }
                    }
                }
                @if let Some(limit) = limit { li { i.limit {} "Limit " (bytes(limit)) } }
            }
            (data_markup(&id, &samples.json(palette)))
        }
    }
}

fn y_of(bytes: u64, top: u64) -> String {
    let share = bytes as f64 / top.max(1) as f64;
    format!("{:.1}", SIZE[1] * (1.0 - share * 0.96))
}

/// The areas, the highest group first, so that those below it cover what is not its own.
fn areas(samples: &CurveSamples, palette: &GroupColors, top: u64) -> Markup {
    let kept = highest_of_each(samples.total(), DRAWN);
    let last = samples.steps.len().saturating_sub(1).max(1) as f64;
    let mut paths = String::new();
    for (place, (layer, group)) in samples.layers.iter().zip(&samples.groups).enumerate().rev() {
        let mut path = format!("M0 {}", SIZE[1]);
        for &step in &kept {
            let x = step as f64 * SIZE[0] / last;
            let y = y_of(layer.get(step).copied().unwrap_or(0), top);
            // Writing into a string does not fail.
            let _ = write!(path, "L{x:.1} {y}");
        }
        let end = kept.last().map_or(0.0, |&step| step as f64 * SIZE[0] / last);
        let _ = write!(path, "L{end:.1} {}Z", SIZE[1]);
        let _ = write!(paths, "<path class=\"{}\" d=\"{path}\"/>", palette.group(place, group));
    }
    PreEscaped(paths)
}
