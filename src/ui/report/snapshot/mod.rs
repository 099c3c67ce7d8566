//! What the pages of a memory snapshot share: its runs, colours, stacks, and facts of blocks and events.

pub mod block_facts;
pub mod block_rows;
pub mod code_tree;
pub mod curves;
pub mod stack;

use eframe::egui::Color32;
use std::sync::Arc;

use super::category_colors::category_color;
use crate::systems::pytorch::allocator::curves::{CurveGroup, OTHERS};
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::{Family, Tokens};

/// The snapshot of a run.
pub fn snapshot_of(run: &Run) -> Option<&Arc<ReplayedSnapshot>> {
    run.derived.snapshot()
}

/// Whether all runs are snapshots.
pub fn are_snapshots(runs: &Runs) -> bool {
    runs.iter().all(|run| snapshot_of(run).is_some())
}

/// Works out what inspectors and tables say of the blocks of a device: what each is for, and after that which of them
/// each event is about. Who draws says nothing before the latter is known, and so waits for neither.
pub fn prepare(replayed: &ReplayedSnapshot, place: usize) {
    replayed.categories(place);
    replayed.index(place);
}

/// Colours of groups of code, by their rank at the peak.
const OF_CODE: [Family; 8] = [
    Family::Rearrangement,
    Family::ExchangeCode,
    Family::VertexState,
    Family::Variable,
    Family::ControlCode,
    Family::HostExchange,
    Family::VertexCode,
    Family::Message,
];

/// The colour of an area: of a category by its name, of code by its rank.
pub fn group_color(group: &CurveGroup, place: usize, tokens: &Tokens) -> Color32 {
    match group.category {
        Some(category) => category_color(category.title(), tokens),
        // Categories of a timeline that a snapshot does not have.
        None if matches!(&*group.title, "Input" | "Autograd detail") => {
            category_color(&group.title, tokens)
        }
        None if group.title == OTHERS => tokens.family(Family::Other),
        None => {
            let family = OF_CODE.get(place % OF_CODE.len()).copied();
            tokens.family(family.unwrap_or(Family::Other))
        }
    }
}

/// The end of a path, and how it goes on: `train.py:20 (forward)` for `/home/me/train.py:20 (forward)`.
pub fn short_frame(title: &str) -> &str {
    let end = title.find(" (").unwrap_or(title.len());
    let file = title.get(..end).and_then(|file| file.rfind('/'));
    file.and_then(|slash| title.get(slash.saturating_add(1)..)).unwrap_or(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_told_by_the_end_of_their_path() {
        assert_eq!(short_frame("/home/me/train.py:20 (forward)"), "train.py:20 (forward)");
        assert_eq!(short_frame("(no Python stack)"), "(no Python stack)");
        assert_eq!(short_frame("forward (a/b)"), "forward (a/b)");
    }
}
