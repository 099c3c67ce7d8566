//! Which category has which colour on maps of memory: the largest of the reference first, and the same
//! colour in every run.

use crate::analysis::memory::category_order::{SharedCategory, categories_of_all};
use crate::analysis::memory::category_title;
use crate::store::ids::CategoryId;
use crate::text::shortened;
use crate::ui::runs::{Needed, Needs, Runs};

/// What they follow from.
pub const NEEDS: Needs = &[Needed::Variables];
/// Categories with a colour of their own; what is left over is grey.
const MOST: usize = 8;

/// The categories of the runs in the order of their colours.
#[derive(Debug)]
pub struct CategoryColors(Vec<SharedCategory>);

impl CategoryColors {
    /// Of these runs.
    pub fn of(runs: &Runs) -> Self {
        Self(categories_of_all(&runs.reports()))
    }

    /// Those with a colour of their own; each has that of its place in [`crate::ui::theme::Tokens`].
    pub fn coloured(&self) -> &[SharedCategory] {
        self.0.get(..MOST).unwrap_or(&self.0)
    }

    /// The place of a category of a run, where it has a colour of its own.
    pub fn place(&self, run: usize, id: CategoryId) -> Option<usize> {
        self.coloured().iter().position(|category| category.ids.get(run) == Some(&Some(id)))
    }

    /// Whether some have no colour of their own.
    pub fn has_others(&self) -> bool {
        self.0.len() > MOST
    }

    /// The title of the category at a place.
    pub fn title(&self, place: usize) -> String {
        let Some(category) = self.0.get(place) else { return String::new() };
        let id = category.ids.iter().flatten().next();
        match (&category.name, id) {
            (Some(name), _) => shortened(&category_title(name), 40).into_owned(),
            (None, id) => id.map_or_else(String::new, |id| format!("Category {id}")),
        }
    }
}
