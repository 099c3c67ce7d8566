//! The colors of groups: a category has one everywhere on the page, whatever run and picture it is in.

use std::cell::RefCell;

use crate::run::areas::{AreaColor, AreaGroup};

/// How many colors there are; further categories have the first ones again.
const COLORS: usize = 10;

/// The categories of a page in the order in which they came, which gives each its color.
#[derive(Debug, Default)]
pub(super) struct GroupColors(RefCell<Vec<String>>);

impl GroupColors {
    /// The class that colors a category.
    pub fn category(&self, name: &str) -> String {
        let mut names = self.0.borrow_mut();
        let known = names.iter().position(|known| known == name);
        let place = known.unwrap_or(names.len());
        if known.is_none() {
            names.push(name.to_owned());
        }
        class_of(place)
    }

    /// The class that colors a group, the one at this place among others.
    pub fn group(&self, place: usize, group: &AreaGroup) -> String {
        match &group.color {
            AreaColor::Category(name) => self.category(name),
            AreaColor::Place => class_of(place),
            AreaColor::Rest => "rest".to_owned(),
        }
    }
}

fn class_of(place: usize) -> String {
    format!("g{}", place % COLORS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_keeps_its_color() {
        let palette = GroupColors::default();
        let (first, second) = (palette.category("Activation"), palette.category("Gradient"));
        assert_ne!(first, second);
        assert_eq!(palette.group(7, &AreaGroup::category("Activations", "Activation", "")), first);
        assert_eq!(palette.group(7, &AreaGroup::rest("Rest")), "rest");
    }
}
