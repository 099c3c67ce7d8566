//! The color of a kind of program: one everywhere, in the program tree as in the trace.
//!
//! The color follows from what a kind does; if that has a category of memory of its own (vertices, exchange, host), it
//! is the color of that category. Red and green stay what is over and what fits.

use eframe::egui::Color32;

use crate::analysis::program::kinds::Activity;
use crate::ui::theme::{Family, Tokens};

/// The color of what programs do.
pub fn activity_color(activity: Activity, tokens: &Tokens) -> Color32 {
    let paler = |family, share| tokens.surface.lerp_to_gamma(tokens.family(family), share);
    match activity {
        Activity::Compute => tokens.family(Family::VertexState),
        Activity::InternalExchange => tokens.family(Family::ExchangeCode),
        Activity::GlobalExchange => tokens.family(Family::Message),
        Activity::StreamCopy => tokens.family(Family::HostExchange),
        Activity::StreamCopyBegin => paler(Family::HostExchange, 0.45),
        Activity::StreamCopyEnd => paler(Family::HostExchange, 0.7),
        Activity::Sync => paler(Family::Other, 0.5),
        Activity::Control => tokens.family(Family::ControlCode),
        Activity::Other => tokens.family(Family::Other),
    }
}

/// The color of a kind, by its name in the file.
pub fn kind_color(kind: &str, tokens: &Tokens) -> Color32 {
    activity_color(Activity::of_kind(kind), tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::Theme;

    #[test]
    fn kinds_that_do_something_else_have_another_colour_in_both_themes() {
        for theme in [Theme::Light, Theme::Dark] {
            let tokens = Tokens::of(theme);
            let colors = Activity::ALL.map(|activity| activity_color(activity, tokens));
            for (place, color) in colors.iter().enumerate() {
                assert!(!colors[..place].contains(color), "{:?}", Activity::ALL[place]);
                assert!(*color != tokens.over && *color != tokens.fits);
            }
            assert_eq!(kind_color("Sans", tokens), kind_color("SyncAns", tokens));
        }
    }
}
