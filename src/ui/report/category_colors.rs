//! The colour of a category: one everywhere, whatever else is in a picture and whatever run or report
//! it is of.
//!
//! The categories that Poplar has are assigned: those that are large in most reports have the plain
//! colours of the palette, what is akin to them is a darker or a lighter one. Any other name has the
//! colour that follows from its letters.

use eframe::egui::{self, Color32};
use std::sync::Arc;

use crate::analysis::memory::category_order::{SharedCategory, categories_of_all};
use crate::analysis::memory::category_title;
use crate::store::ids::CategoryId;
use crate::text::shortened;
use crate::ui::runs::{Needed, Needs, Runs, RunsAnswer};
use crate::ui::theme::Tokens;

/// Plain colours of the palette; what follows them there is for what is left over.
const PLAIN: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shade {
    Plain,
    Darker,
    Lighter,
}

use Shade::{Darker, Lighter, Plain};

/// The categories of Poplar that a report can have, with the place of a plain colour.
const ASSIGNED: [(&str, usize, Shade); 23] = [
    ("variable", 0, Plain),
    ("multiple", 0, Darker),
    ("outputEdge", 0, Lighter),
    ("vertexCode", 1, Plain),
    ("dwarf", 1, Darker),
    ("instrumentationResults", 1, Lighter),
    ("internalExchangeCode", 2, Plain),
    ("globalExchangeCode", 2, Darker),
    ("hostExchangeCode", 2, Lighter),
    ("rearrangement", 3, Plain),
    ("globalExchangePacketHeader", 3, Darker),
    ("hostExchangePacketHeader", 3, Lighter),
    ("controlCode", 4, Plain),
    ("stack", 4, Darker),
    ("controlId", 4, Lighter),
    ("message", 5, Plain),
    ("globalMessage", 5, Darker),
    ("hostMessage", 5, Lighter),
    ("constant", 6, Plain),
    ("copyDescriptor", 6, Lighter),
    ("vertexInstanceState", 7, Plain),
    ("vertexFieldData", 7, Darker),
    ("vectorListDescriptor", 7, Lighter),
];

/// The colour that a category has in both themes.
#[derive(Clone, Copy, Debug)]
struct CategoryColor(usize, Shade);

impl CategoryColor {
    fn of(name: &str) -> Self {
        let assigned = ASSIGNED.iter().find(|(known, ..)| *known == name);
        assigned.map_or_else(|| by_letters(name), |(_, place, shade)| Self(*place, *shade))
    }

    fn shown(self, tokens: &Tokens) -> Color32 {
        let Self(place, shade) = self;
        let [.., rest] = tokens.series;
        let color = tokens.series.get(place).copied().unwrap_or(rest);
        match shade {
            Plain => color,
            Darker => color.lerp_to_gamma(Color32::BLACK, 0.4),
            Lighter => color.lerp_to_gamma(Color32::WHITE, 0.45),
        }
    }
}

/// The colour of a category by its name in the file.
pub fn category_color(name: &str, tokens: &Tokens) -> Color32 {
    CategoryColor::of(name).shown(tokens)
}

pub fn other_categories_color(tokens: &Tokens) -> Color32 {
    let [.., others, _] = tokens.series;
    others
}

/// A colour that is the same in every run of the program (FNV-1a).
fn by_letters(name: &str) -> CategoryColor {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let place = usize::try_from(hash % PLAIN as u64).unwrap_or(0);
    let shade = [Plain, Darker, Lighter].get(usize::try_from((hash >> 32) % 3).unwrap_or(0));
    CategoryColor(place, shade.copied().unwrap_or(Plain))
}

const NEEDS: Needs = &[Needed::Variables];
/// Categories with a colour of their own; what is left over is grey.
const MOST: usize = 8;

/// The categories of the runs on maps, the largest of the reference first.
pub struct CategoryColors {
    colors: Vec<CategoryColor>,
    categories: Vec<SharedCategory>,
}

/// The same, asked for once by all maps of a page.
#[derive(Default)]
pub struct AskedColors(RunsAnswer<(), Arc<CategoryColors>>);

impl AskedColors {
    /// Asks; `None` until they are there, which [`Self::waiting`] says.
    pub fn ask(&mut self, ui: &egui::Ui, runs: &Arc<Runs>) -> Option<Arc<CategoryColors>> {
        self.0.ask("colours of categories", ui.ctx(), (runs, NEEDS), &(), |runs, _| {
            Arc::new(CategoryColors::of(runs))
        });
        self.0.last(runs).map(|((), colors)| Arc::clone(colors))
    }

    /// What is shown in place of a map.
    pub fn waiting(&self) -> &str {
        self.0.failure().unwrap_or("Looking at the categories…")
    }
}

impl CategoryColors {
    pub fn of(runs: &Runs) -> Self {
        let categories = categories_of_all(&runs.reports());
        let name = |category: &SharedCategory| category.name.clone().unwrap_or_default();
        let colors = categories.iter().map(|category| CategoryColor::of(&name(category)));
        Self { colors: colors.collect(), categories }
    }

    pub fn coloured(&self) -> &[SharedCategory] {
        self.categories.get(..MOST).unwrap_or(&self.categories)
    }

    /// The place of a category of a run, where it has a colour of its own.
    pub fn place(&self, run: usize, id: CategoryId) -> Option<usize> {
        self.coloured().iter().position(|category| category.ids.get(run) == Some(&Some(id)))
    }

    pub fn color(&self, place: usize, tokens: &Tokens) -> Color32 {
        let color = self.colors.get(place);
        color.map_or_else(|| other_categories_color(tokens), |color| color.shown(tokens))
    }

    pub fn has_others(&self) -> bool {
        self.categories.len() > MOST
    }

    pub fn title(&self, place: usize) -> String {
        let Some(category) = self.categories.get(place) else { return String::new() };
        let id = category.ids.iter().flatten().next();
        match (&category.name, id) {
            (Some(name), _) => shortened(&category_title(name), 40).into_owned(),
            (None, id) => id.map_or_else(String::new, |id| format!("Category {id}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::Theme;

    #[test]
    fn categories_of_poplar_are_told_apart() {
        for theme in [Theme::Light, Theme::Dark] {
            let tokens = Tokens::of(theme);
            let colors: Vec<_> =
                ASSIGNED.iter().map(|(name, ..)| category_color(name, tokens)).collect();
            for (place, color) in colors.iter().enumerate() {
                let distance = |other: &Color32| -> u32 {
                    let parts = color.to_array().into_iter().zip(other.to_array());
                    parts.map(|(a, b)| u32::from(a.abs_diff(b))).sum()
                };
                let others = colors.iter().enumerate().filter(|(other, _)| *other != place);
                let nearest = others.map(|(_, other)| distance(other)).min();
                assert!(nearest > Some(20), "{:?}: {nearest:?}", ASSIGNED[place]);
            }
        }
    }

    #[test]
    fn any_name_has_a_colour_that_stays() {
        let tokens = Tokens::of(Theme::Light);
        let of = |name: &str| category_color(name, tokens);
        assert_eq!(of("somethingNew"), of("somethingNew"));
        let names = ["", "a", "b", "somethingNew", "\u{202e}", "<category 7>"];
        assert!(names.iter().any(|name| of(name) != of("a")));
    }
}
