//! What room a part of a run has: a tile, a step, an IPU, a variable. Where the whole run does not fit, no part of it is
//! said to have room without that.

use eframe::egui::{self, Label, Margin, RichText};

use super::head::SignedAnswer;
use crate::run::{Outcome, Verdict};
use crate::text::{capitalised, unbroken};
use crate::ui::run_chips::badge_ui;
use crate::ui::runs::Run;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::sign::Sign;

/// Whether bytes are over a limit, and by how much, or how much is free below it; of a part of a run, see [`of_part`].
pub fn room_of(bytes: u64, limit: u64, units: Units) -> SignedAnswer {
    match bytes.checked_sub(limit).filter(|over| *over > 0) {
        Some(over) => (Sign::Over, format!("{} over", units.bytes(over))),
        None => (Sign::Fits, format!("{} free", units.bytes(limit.saturating_sub(bytes)))),
    }
}

/// What a part of a run is over its limit, or under it; then also how the whole run failed.
pub fn against_limit(run: &Run, bytes: u64, limit: u64, units: Units) -> String {
    if bytes > limit {
        return format!("{} over the limit", units.exact(bytes - limit));
    }
    let failed = failed(run, units);
    let failed = failed.map_or_else(String::new, |failed| format!("; the run: {failed}"));
    format!("{} under the limit{failed}", units.exact(limit - bytes))
}

/// Whether it is known that a run failed as a whole.
pub fn has_failed(verdict: Option<&Verdict>) -> bool {
    verdict.is_some_and(|verdict| verdict.outcome.went_well() == Some(false))
}

/// How a run failed as a whole, in a few words, with what is too much of what it needs of the whole device; `None` where
/// it did not fail, or nobody knows.
pub fn failure(verdict: Option<&Verdict>, units: Units) -> Option<String> {
    let failed = verdict.filter(|verdict| has_failed(Some(verdict)))?;
    let is_of_device = failed.used_of.is_none() && failed.outcome == Outcome::DoesNotFit;
    Some(match failed.over_bytes.filter(|over| is_of_device && *over > 0) {
        Some(over) => format!("{}, {} too much", failed.short, units.bytes(over)),
        None => failed.short.clone(),
    })
}

/// The same as far as it was worked out, so that it can be asked for in every frame.
pub fn failed(run: &Run, units: Units) -> Option<String> {
    failure(run.derived.known_verdict().as_deref(), units)
}

/// The same where it says more than a part with this sign: of one that is over itself, where the run needs more of its
/// device than any part has.
fn failed_beside(run: &Run, sign: Sign, units: Units) -> Option<String> {
    let is_of_device = || run.derived.known_verdict().is_some_and(|it| it.used_of.is_none());
    let says_more = sign == Sign::Fits || sign == Sign::Over && is_of_device();
    failed(run, units).filter(|_| says_more)
}

/// The sign of a part that has this one by itself: what fits is no good sign unless the whole run went well.
pub fn sign_of_part(run: &Run, sign: Sign) -> Sign {
    let outcome = || run.derived.known_verdict().map(|verdict| verdict.outcome);
    match (sign, outcome().and_then(Outcome::went_well)) {
        (Sign::Fits, Some(true)) => Sign::Fits,
        (Sign::Fits, Some(false)) => Sign::Over,
        (Sign::Fits, None) => Sign::Plain,
        (other, _) => other,
    }
}

/// What is said of a part of a run, behind how the whole run failed where that says more.
pub fn of_part(run: &Run, (sign, text): SignedAnswer, units: Units) -> SignedAnswer {
    let failed = failed_beside(run, sign, units);
    (sign_of_part(run, sign), behind(failed.as_deref(), text))
}

/// What is said of a part, behind how the whole failed.
pub fn behind(failed: Option<&str>, text: String) -> String {
    match failed {
        Some(failed) => format!("{}; {}", capitalised(failed), begun_small(&text)),
        None => text,
    }
}

/// The same text behind a semicolon: `All fit` is `all fit`, `IPU 0` stays.
fn begun_small(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

/// A box that says what room a part of a run has, in the color of its sign, with the letter of the run where there
/// are several, and more below it. Where the part has room and the whole run failed, the box has no color, and says so.
pub fn room_box_ui(
    ui: &mut egui::Ui,
    run: &Run,
    has_badge: bool,
    (sign, text): SignedAnswer,
    more: impl FnOnce(&mut egui::Ui),
) {
    let tokens = *Tokens::now(ui);
    let failed = failed_beside(run, sign, Units::now(ui));
    let of_part = sign_of_part(run, sign);
    let shown = if failed.is_some() && sign == Sign::Fits { Sign::Plain } else { of_part };
    let frame = shown.frame(&tokens);
    frame.corner_radius(6).inner_margin(Margin::symmetric(10, 6)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            if has_badge {
                badge_ui(ui, run.badge);
            }
            if shown != Sign::Plain {
                shown.ui(ui, 15.0);
            }
            let color = shown.color(&tokens);
            let text = RichText::new(unbroken(&text)).font(fonts::semibold(13.0)).color(color);
            ui.add(Label::new(text).wrap());
        });
        if let Some(failed) = failed {
            let text = fonts::caption(format!("The run: {failed}")).color(tokens.over);
            ui.add(Label::new(text).wrap());
        }
        more(ui);
    });
    ui.add_space(2.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_just_at_the_limit_has_no_room_and_is_not_over() {
        let room = |bytes| room_of(bytes, 512, Units::Binary);
        assert_eq!(room(512), (Sign::Fits, "0 B free".to_owned()));
        assert_eq!(room(513), (Sign::Over, "1 B over".to_owned()));
    }

    #[test]
    fn a_run_that_needs_too_much_of_its_device_says_so_beside_its_parts() {
        let verdict = |outcome, used_of| Verdict {
            outcome,
            short: "does not fit".to_owned(),
            used_of,
            over_bytes: Some(512),
            ..Verdict::default()
        };
        let failed = |verdict: Verdict| failure(Some(&verdict), Units::Binary);
        let of_device = failed(verdict(Outcome::DoesNotFit, None));
        assert_eq!(of_device.as_deref(), Some("does not fit, 512 B too much"));
        let of_part = failed(verdict(Outcome::DoesNotFit, Some("the fullest tile")));
        assert_eq!(of_part.as_deref(), Some("does not fit"));
        assert_eq!(failed(verdict(Outcome::Ran, None)), None);
    }

    #[test]
    fn only_words_begin_small() {
        let texts = ["Highest peak 1 B", "All fit", "IPU 0", "5 B free", "A: 5 B free", ""];
        let small = ["highest peak 1 B", "all fit", "IPU 0", "5 B free", "A: 5 B free", ""];
        assert_eq!(texts.map(begun_small), small);
    }
}
