//! The color of a category: one everywhere, whatever else is in a picture and whatever run or report
//! it is of.
//!
//! Each category of Poplar belongs to one of nine families, which have a color each; a line and the name part
//! members of a family. A name that is not known is of the family of what is left over.

use eframe::egui::{self, Color32};
use std::sync::Arc;

use crate::analysis::liveness::variable_kind::variable_kind;
use crate::analysis::memory::category_order::{SharedCategory, categories_of_all};
use crate::analysis::memory::category_title;
use crate::analysis::memory::tile_details::OVERLAPPED;
use crate::store::Report;
use crate::text::shortened;
use crate::ui::runs::{Needed, Needs, Runs, RunsAnswer};
use crate::ui::theme::{Family, Tokens};

/// The family of a category, by its name in the file. look.md gives the colors of the categories of PyTorch; categories of
/// other systems that mean the same share them.
pub fn family(name: &str) -> Family {
    match name {
        "variable" | "constant" | "sharedDataStorage" | "Input" => Family::Variable,
        "rearrangement" | "Activation" => Family::Rearrangement,
        "Temporary" | "Circular buffer" | "message" | "globalMessage" | "outputEdge" => {
            Family::Message
        }
        "Parameter"
        | "Weight"
        | "vertexInstanceState"
        | "vertexFieldData"
        | "copyDescriptor"
        | "vectorListDescriptor"
        | "sharedStructureState" => Family::VertexState,
        "Autocast cache" | "vertexCode" | "sharedCodeStorage" => Family::VertexCode,
        "Optimizer state" | "controlCode" | "controlId" | "controlTable" => Family::ControlCode,
        "Gradient"
        | "Result"
        | "internalExchangeCode"
        | "globalExchangeCode"
        | "globalExchangePacketHeader" => Family::ExchangeCode,
        "hostMessage"
        | "hostExchangeCode"
        | "hostExchangePacketHeader"
        | "Autograd detail"
        | "Helper"
        | "Workspace" => Family::HostExchange,
        _ => Family::Other,
    }
}

pub fn family_title(family: Family) -> &'static str {
    match family {
        Family::Variable => "Variable",
        Family::Rearrangement => "Rearrangement",
        Family::Message => "Message",
        Family::VertexState => "Vertex instance state",
        Family::VertexCode => "Vertex code",
        Family::ControlCode => "Control code",
        Family::ExchangeCode => "Exchange code",
        Family::HostExchange => "Host exchange",
        Family::Other => "Other",
    }
}

/// The color of a category by its name in the file.
pub fn category_color(name: &str, tokens: &Tokens) -> Color32 {
    tokens.family(family(name))
}

/// The color of a variable before lowering, by the category that its name says; gray where the report has none of that
/// name.
pub fn variable_color(report: &Report, name: &str, tokens: &Tokens) -> Color32 {
    let kind = variable_kind(name);
    let mut categories = report.categories.get().into_iter().flat_map(|all| all.names.iter());
    let is_category = categories.any(|category| category == kind);
    category_color(if is_category { kind } else { "" }, tokens)
}

/// The color and title of a part of a tile's bytes ([`categories_of_tile`]).
///
/// [`categories_of_tile`]: crate::analysis::memory::tile_details::categories_of_tile
pub fn tile_category(name: &str, tokens: &Tokens) -> (Color32, String) {
    match name {
        OVERLAPPED => (tokens.gap, "Shared by several variables".to_owned()),
        name => (category_color(name, tokens), category_title(&shortened(name, 60))),
    }
}

pub fn other_categories_color(tokens: &Tokens) -> Color32 {
    tokens.family(Family::Other)
}

const NEEDS: Needs = &[Needed::Variables];
/// Categories with a color of their own; what is left over is gray.
const MOST: usize = 8;

/// The categories of the runs on maps, the largest of the reference first.
pub struct CategoryColors {
    families: Vec<Family>,
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
        self.0.failure().unwrap_or("Reading the categories…")
    }
}

impl CategoryColors {
    pub fn of(runs: &Runs) -> Self {
        let categories = categories_of_all(&runs.reports());
        let name = |category: &SharedCategory| category.name.clone().unwrap_or_default();
        let families = categories.iter().map(|category| family(&name(category)));
        Self { families: families.collect(), categories }
    }

    pub fn coloured(&self) -> &[SharedCategory] {
        self.categories.get(..MOST).unwrap_or(&self.categories)
    }

    pub fn color(&self, place: usize, tokens: &Tokens) -> Color32 {
        tokens.family(self.families.get(place).copied().unwrap_or(Family::Other))
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
    fn a_category_has_the_colour_of_its_family_in_both_themes() {
        for theme in [Theme::Light, Theme::Dark] {
            let tokens = Tokens::of(theme);
            let of = |name: &str| category_color(name, tokens);
            assert_eq!(of("message"), of("globalMessage"));
            assert_ne!(of("message"), of("rearrangement"));
            assert_eq!(of("somethingNew"), other_categories_color(tokens));
        }
    }
}
