//! The figure that colors the tiles, and the range of the color scale.

use eframe::egui::{self, Color32, Label, Sense, Vec2};

use crate::analysis::memory::tile_grid::TileFigure;
use crate::store::memory::TileMemory;
use crate::ui::report::tile_figures::figure_title;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bar;
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::column_widths::text_width;
use crate::ui::widget::diverging::color_bar_ui;

/// Width of the patch of what is over, points.
const OVER: f32 = 28.0;

/// What the colors reach from and to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorScale {
    #[default]
    LeastToMost,
    ZeroToMost,
    ZeroToLimit,
}

impl ColorScale {
    pub fn title(self) -> &'static str {
        match self {
            Self::LeastToMost => "From least to most",
            Self::ZeroToMost => "From 0 to most",
            Self::ZeroToLimit => "From 0 to limit",
        }
    }

    /// The ends of the colors, of values from the least to the most. What is over leaves the scale.
    pub fn ends(
        self,
        (least, most): (u64, u64),
        limit: Option<u64>,
        over: Option<u64>,
    ) -> (u64, u64) {
        let most = over.map_or(most, |over| most.min(over).max(least));
        match self {
            Self::LeastToMost => (least, most),
            Self::ZeroToMost => (0, most),
            Self::ZeroToLimit => (0, limit.unwrap_or(most)),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GridChoices {
    pub figure: TileFigure,
    pub scale: ColorScale,
}

impl GridChoices {
    /// Draws the choice of a figure, of those that one of the reports has.
    pub fn figure_ui(&mut self, ui: &mut egui::Ui, memories: &[&TileMemory]) {
        let mut figures = vec![
            TileFigure::IncludingGaps,
            TileFigure::Total,
            TileFigure::Gaps,
            TileFigure::OverLimit,
            TileFigure::AlwaysLive,
            TileFigure::NotAlwaysLiveMax,
        ];
        for category in memories.iter().flat_map(|memory| &memory.categories) {
            let figure = TileFigure::Category(category.name.clone());
            if !figures.contains(&figure) {
                figures.push(figure);
            }
        }
        choice_ui(ui, "Figure", 210.0, &mut self.figure, figures, figure_title);
    }

    /// The bytes above which a tile is over by the figure itself; `None` of other figures.
    pub fn over(&self, limit: Option<u64>) -> Option<u64> {
        match self.figure {
            TileFigure::IncludingGaps => limit,
            TileFigure::OverLimit => limit.map(|_| 0),
            _ => None,
        }
    }

    /// Draws the choice of a scale, with its ends where they are known; `most` is the largest value, where that is
    /// over.
    pub fn scale_ui(&mut self, ui: &mut egui::Ui, ends: Option<(u64, u64)>, over: Option<Over>) {
        let scales = [ColorScale::LeastToMost, ColorScale::ZeroToMost, ColorScale::ZeroToLimit];
        choice_ui(ui, "Color scale", 150.0, &mut self.scale, scales, |scale| scale.title());
        if let Some((least, most)) = ends {
            let units = Units::now(ui);
            // A line ends between them.
            let whole_ui = |ui: &mut egui::Ui, text: String| ui.add(Label::new(text).extend());
            whole_ui(ui, units.bytes(least));
            let tokens = Tokens::now(ui);
            color_bar_ui(ui, 96.0, 24, |step| shade(step / 23.0, tokens));
            let Some(over) = over else {
                whole_ui(ui, units.bytes(most));
                return;
            };
            if most == over.limit {
                limit_tick(ui, tokens);
                whole_ui(ui, format!("limit {}", units.bytes(over.limit)));
            } else {
                whole_ui(ui, units.bytes(most));
            }
            if let Some(most) = over.most {
                let text = format!("over, up to {}", units.bytes(most));
                // Beside its patch.
                let width = text_width(ui, &text, &fonts::regular(fonts::size::BODY));
                if ui.available_size_before_wrap().x < OVER + width + 16.0 {
                    ui.end_row();
                }
                let (rect, _) = ui.allocate_exact_size(Vec2::new(OVER, 12.0), Sense::hover());
                bar::over(ui.painter(), rect, 0, tokens);
                whole_ui(ui, text);
            }
        }
    }
}

/// What leaves the scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over {
    pub limit: u64,
    /// The largest value above it.
    pub most: Option<u64>,
}

fn limit_tick(ui: &mut egui::Ui, tokens: &Tokens) {
    let (rect, _) = ui.allocate_exact_size(Vec2::new(2.0, 18.0), Sense::hover());
    ui.painter().rect_filled(rect, 0, tokens.ink);
}

/// The color of a value between two ends; what is not known has none. What is over lets the ground through.
pub fn color(
    value: Option<u64>,
    ends: Option<(u64, u64)>,
    over: Option<u64>,
    tokens: &Tokens,
) -> Color32 {
    let (Some(value), Some((least, most))) = (value, ends) else { return tokens.surface };
    if over.is_some_and(|over| value > over) {
        return Color32::TRANSPARENT;
    }
    let span = most.saturating_sub(least).max(1) as f32;
    shade(value.saturating_sub(least) as f32 / span, tokens)
}

/// A color of the scale: brightness tells more from less, whatever the eye.
fn shade(share: f32, tokens: &Tokens) -> Color32 {
    tokens.heat(share)
}
