//! The colours of the map of all tiles, and what they mean.

use eframe::egui;
use eframe::egui::{Color32, ColorImage, Sense, Stroke, StrokeKind, Vec2};

use crate::analysis::memory::category_order::{categories_by_bytes, categories_of_two};
use crate::analysis::memory::category_title;
use crate::analysis::placement::chip_map::{Cell, ChipMap, ColourBy};
use crate::store::Report;
use crate::store::ids::CategoryId;
use crate::store::variable::LoweredVariables;
use crate::text::shortened;
use crate::ui::theme::Tokens;

/// Categories with a colour of their own.
const MOST_CATEGORIES: usize = 8;

/// Colours by meaning. Gaps and free bytes are chequered, so that colour is not their only sign.
#[derive(Debug)]
pub struct Colors {
    tokens: Tokens,
    /// By row of `var_categories`.
    categories: Vec<Color32>,
    /// Titles of the categories with a colour of their own, the largest first.
    titles: Vec<(String, Color32)>,
    has_others: bool,
}

impl Colors {
    /// Gives the largest categories of a report their colours.
    pub fn new(report: &Report, variables: &LoweredVariables, tokens: &Tokens) -> Self {
        let order: Vec<_> = categories_by_bytes(variables).into_iter().map(Some).collect();
        let titles = order.iter().map(|id| title(report, *id)).collect();
        Self::of_order(&order, titles, tokens)
    }

    /// Gives the categories of two reports the same colours, in the order of the source.
    pub fn of_two([source, target]: [&Report; 2], tokens: &Tokens) -> [Self; 2] {
        let [of_source, of_target] = categories_of_two([source, target]);
        let titles: Vec<String> = of_source
            .iter()
            .zip(&of_target)
            .map(|(in_source, in_target)| match in_source {
                Some(_) => title(source, *in_source),
                None => title(target, *in_target),
            })
            .collect();
        [of_source, of_target].map(|order| Self::of_order(&order, titles.clone(), tokens))
    }

    /// Gives the categories at the first places a colour each.
    fn of_order(order: &[Option<CategoryId>], titles: Vec<String>, tokens: &Tokens) -> Self {
        let mut categories = vec![Self::other(tokens); 256];
        for (id, color) in order.iter().zip(tokens.series).take(MOST_CATEGORIES) {
            if let Some(place) = id.and_then(|id| categories.get_mut(id.0 as usize)) {
                *place = color;
            }
        }
        let has_others = titles.len() > MOST_CATEGORIES;
        let titles = titles.into_iter().zip(tokens.series).take(MOST_CATEGORIES).collect();
        Self { tokens: *tokens, categories, titles, has_others }
    }

    fn other(tokens: &Tokens) -> Color32 {
        tokens.series[9]
    }

    /// The two colours of a cell, which alternate; most cells have one.
    fn of(&self, cell: Cell) -> [Color32; 2] {
        let tokens = &self.tokens;
        match cell {
            Cell::Beyond => [tokens.surface; 2],
            Cell::Gap => [tokens.bad, tokens.surface],
            Cell::Free => [tokens.weak_text, tokens.surface],
            Cell::Category(id) => {
                let color = self.categories.get(usize::from(id)).copied();
                [color.unwrap_or(Self::other(tokens)); 2]
            }
            Cell::AlwaysLive => [tokens.base; 2],
            Cell::NotAlwaysLive => [tokens.top; 2],
            Cell::Several => [tokens.mark; 2],
            Cell::GapShare(share) => {
                let share = f32::from(share) / 255.0;
                [tokens.base_fill.lerp_to_gamma(tokens.bad, share); 2]
            }
        }
    }

    /// A map as a picture, a pixel a cell.
    pub fn image(&self, map: &ChipMap) -> ColorImage {
        let color = |(index, cell): (usize, &Cell)| {
            let (row, column) = (index / map.columns.max(1), index % map.columns.max(1));
            // Squares of two pixels: single ones would look grey.
            let [even, odd] = self.of(*cell);
            if (row / 2 + column / 2).is_multiple_of(2) { even } else { odd }
        };
        let pixels = map.cells.iter().enumerate().map(color).collect();
        ColorImage::new([map.columns, map.rows], pixels)
    }
}

fn title(report: &Report, id: Option<CategoryId>) -> String {
    let name = id.and_then(|id| report.categories.get()?.name(id));
    name.map_or_else(
        || id.map_or_else(String::new, |id| format!("Category {id}")),
        |name| category_title(&shortened(name, 40)),
    )
}

/// Says what the colours mean.
pub fn legend_ui(ui: &mut egui::Ui, colors: &Colors, colour_by: ColourBy, is_at_step: bool) {
    let mut entries: Vec<(&str, [Color32; 2])> = Vec::new();
    match colour_by {
        ColourBy::Category => {
            entries.extend(colors.titles.iter().map(|(title, color)| (&**title, [*color; 2])));
            if colors.has_others {
                entries.push(("Others", [Colors::other(&colors.tokens); 2]));
            }
        }
        ColourBy::Liveness => {
            entries.push(("Always live", colors.of(Cell::AlwaysLive)));
            let title = if is_at_step { "Live at the step" } else { "Not always live" };
            entries.push((title, colors.of(Cell::NotAlwaysLive)));
            if !is_at_step {
                entries.push(("Several variables", colors.of(Cell::Several)));
            }
        }
        ColourBy::Gaps => {
            entries.push(("No gap", colors.of(Cell::GapShare(0))));
            entries.push(("Half gaps", colors.of(Cell::GapShare(128))));
            entries.push(("Gaps only", colors.of(Cell::GapShare(255))));
        }
    }
    if colour_by != ColourBy::Gaps {
        entries.push(("Gap", colors.of(Cell::Gap)));
        if is_at_step {
            entries.push(("Free at the step", colors.of(Cell::Free)));
        }
    }
    for (title, colors_of) in entries {
        entry_ui(ui, title, colors_of);
    }
}

/// One entry as one widget, so that entries wrap as words do.
fn entry_ui(ui: &mut egui::Ui, title: &str, [even, odd]: [Color32; 2]) {
    const PATCH: f32 = 16.0;
    let tokens = Tokens::now(ui);
    let font = egui::TextStyle::Body.resolve(ui.style());
    let galley = ui.painter().layout_no_wrap(title.to_owned(), font, tokens.text);
    let size = Vec2::new(PATCH + 5.0 + galley.size().x, galley.size().y.max(PATCH));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let patch =
        egui::Rect::from_min_size(rect.left_center() - Vec2::new(0.0, 6.0), Vec2::new(PATCH, 12.0));
    ui.painter().rect_filled(patch, 0, even);
    for (column, row) in [(0_u8, 0_u8), (2, 0), (1, 1), (3, 1), (0, 2), (2, 2)] {
        let at = patch.min + Vec2::new(f32::from(column), f32::from(row)) * 4.0;
        ui.painter().rect_filled(egui::Rect::from_min_size(at, Vec2::splat(4.0)), 0, odd);
    }
    let stroke = Stroke::new(1.0, tokens.border);
    ui.painter().rect_stroke(patch, 0, stroke, StrokeKind::Inside);
    let at = egui::pos2(rect.left() + PATCH + 5.0, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, tokens.text);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, title));
}
