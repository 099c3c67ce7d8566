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
    let failed = failed(run).map_or_else(String::new, |failed| format!("; the run: {failed}"));
    format!("{} under the limit{failed}", units.exact(limit - bytes))
}

/// How a run failed as a whole, in a word or two; `None` where it did not, or nobody knows.
pub fn failure(verdict: Option<&Verdict>) -> Option<String> {
    let failed = verdict.filter(|verdict| verdict.outcome.went_well() == Some(false));
    failed.map(|verdict| verdict.short.clone())
}

/// The same as far as it was worked out, so that it can be asked for in every frame.
pub fn failed(run: &Run) -> Option<String> {
    failure(run.derived.known_verdict().as_deref())
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

/// What is said of a part of a run, behind how the whole run failed where the part itself has room.
pub fn of_part(run: &Run, (sign, text): SignedAnswer) -> SignedAnswer {
    let failed = failed(run).filter(|_| sign == Sign::Fits);
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
    let failed = failed(run).filter(|_| sign == Sign::Fits);
    let of_part = sign_of_part(run, sign);
    let shown = if failed.is_some() { Sign::Plain } else { of_part };
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
    fn only_words_begin_small() {
        let texts = ["Highest peak 1 B", "All fit", "IPU 0", "5 B free", "A: 5 B free", ""];
        let small = ["highest peak 1 B", "all fit", "IPU 0", "5 B free", "A: 5 B free", ""];
        assert_eq!(texts.map(begun_small), small);
    }
}
