//! Areas: the curve of a run split into groups that are stacked on one another and add up to it at every step.

use crate::analysis::liveness::Scope;
use crate::text::words;

words! {
    /// What areas are grouped by.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum AreasBy by key, title {
        /// Nothing: the whole curve is one area.
        Whole = "whole" | "Nothing",
        /// Whether memory is in use from the first step to the last.
        Liveness = "liveness" | "Liveness",
        /// What memory is for.
        Category = "category" | "Category",
        /// The operation.
        Operation = "operation" | "Operation",
        /// The module of the model.
        Module = "module" | "Module",
        /// The layer of the model.
        Layer = "layer" | "Layer",
        /// The line of the user's code.
        Line = "line" | "Line of code",
        /// The function of the user's code.
        Function = "function" | "Function",
        /// The file of the user's code.
        File = "file" | "File",
        /// The pool of the allocator, and the stream.
        Pool = "pool" | "Pool and stream",
    }
}

/// Which areas are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AreasOf {
    /// Of which part of the machine.
    pub scope: Scope,
    /// Grouped by what.
    pub by: AreasBy,
}

/// How a group is colored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AreaColor {
    /// As the category of this name is everywhere.
    Category(String),
    /// By its place among the groups.
    Place,
    /// As the rest, which belongs to no group of its own.
    Rest,
}

/// A group of memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AreaGroup {
    /// What it is called.
    pub title: String,
    /// How it is colored.
    pub color: AreaColor,
    /// The rule by which memory belongs to it; empty where the title says it.
    pub rule: String,
}

/// A curve as areas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackedAreas {
    /// The groups from the ground up.
    pub groups: Vec<AreaGroup>,
    /// For each group the bytes of it and of all groups below it, at each step. The last one is the curve.
    pub layers: Vec<Vec<u64>>,
}

impl AreaGroup {
    /// A category, which has its color by its name.
    pub fn category(title: impl Into<String>, name: &str, rule: &str) -> Self {
        let color = AreaColor::Category(name.to_owned());
        Self { title: title.into(), color, rule: rule.to_owned() }
    }

    /// A group that is colored by its place.
    pub fn placed(title: impl Into<String>) -> Self {
        Self { title: title.into(), color: AreaColor::Place, rule: String::new() }
    }

    /// The rest.
    pub fn rest(title: impl Into<String>) -> Self {
        Self { title: title.into(), color: AreaColor::Rest, rule: String::new() }
    }
}

impl StackedAreas {
    /// The bytes of each group at a step, from the ground up.
    pub fn at(&self, step: usize) -> impl Iterator<Item = (&AreaGroup, u64)> {
        let mut below = 0;
        self.groups.iter().zip(&self.layers).map(move |(group, layer)| {
            let upto = layer.get(step).copied().unwrap_or(below);
            let bytes = upto.saturating_sub(below);
            below = below.max(upto);
            (group, bytes)
        })
    }

    /// Makes the areas add up to a curve: bytes that no group has become a group of their own on top, and groups end
    /// where the curve does.
    #[must_use]
    pub fn up_to(mut self, curve: impl Fn(usize) -> u64, len: usize, rest: &str) -> Self {
        let mut has_rest = false;
        for step in 0..len {
            let whole = curve(step);
            for layer in &mut self.layers {
                if let Some(bytes) = layer.get_mut(step) {
                    *bytes = (*bytes).min(whole);
                }
            }
            let top = self.layers.last().and_then(|layer| layer.get(step)).copied().unwrap_or(0);
            has_rest |= top < whole;
        }
        if has_rest {
            self.groups.push(AreaGroup::rest(rest));
            self.layers.push((0..len).map(curve).collect());
        }
        self
    }

    /// The layers with the groups that are not shown left out: those have none.
    pub fn layers_of(&self, is_shown: impl Fn(&AreaGroup) -> bool) -> Vec<Vec<u64>> {
        let len = self.layers.last().map_or(0, Vec::len);
        let mut hidden = vec![0_u64; len];
        let mut below = vec![0_u64; len];
        let mut layers = Vec::with_capacity(self.layers.len());
        for (group, layer) in self.groups.iter().zip(&self.layers) {
            let is_shown = is_shown(group);
            let mut shown = Vec::with_capacity(if is_shown { len } else { 0 });
            for ((bytes, hidden), below) in layer.iter().zip(&mut hidden).zip(&mut below) {
                if is_shown {
                    shown.push(bytes.saturating_sub(*hidden));
                } else {
                    *hidden = hidden.saturating_add(bytes.saturating_sub(*below));
                }
                *below = *bytes;
            }
            layers.push(shown);
        }
        layers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn areas() -> StackedAreas {
        let groups = ["a", "b"].map(AreaGroup::placed).to_vec();
        StackedAreas { groups, layers: vec![vec![1, 2, 3], vec![4, 2, 9]] }
    }

    #[test]
    fn areas_add_up_to_the_curve() {
        let curve = [5, 2, 7];
        let areas = areas().up_to(|step| curve[step], 3, "Rest");
        assert_eq!(areas.layers, [vec![1, 2, 3], vec![4, 2, 7], vec![5, 2, 7]]);
        let bytes: Vec<u64> = areas.at(0).map(|(_, bytes)| bytes).collect();
        assert_eq!(bytes, [1, 3, 1]);
    }

    #[test]
    fn hidden_groups_have_no_room() {
        assert_eq!(areas().layers_of(|_| true), areas().layers);
        assert_eq!(areas().layers_of(|group| group.title == "b"), [vec![], vec![3, 0, 6]]);
        assert_eq!(areas().layers_of(|group| group.title == "a"), [vec![1, 2, 3], vec![]]);
    }
}
