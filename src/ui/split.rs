//! Splitters between the parts of a page, by name: where the user has put one it stays, in all
//! reports and from run to run. A double-click puts it back.
//!
//! Sizes are in the context's data, so that pages need nothing for them; the window puts in what the
//! settings have ([`set_all`]) and takes out what has changed ([`take_changes`]).

use eframe::egui::{
    self, CentralPanel, Frame, Id, IdSalt, Margin, Panel, PanelState, Pos2, Rect, Vec2,
    accesskit::Action,
};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

#[derive(Clone, Default)]
struct SplitSizes {
    by_name: BTreeMap<String, f32>,
    /// What the contents of each part below a splitter needed last.
    needed: BTreeMap<String, f32>,
    /// How far down the contents of the part that is drawn have to reach.
    reach: f32,
    changed: Vec<(String, Option<f32>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SplitSide {
    Left,
    Bottom,
}

/// Shows a part at the bottom; the part above it comes next ([`rest`]).
pub fn below<R>(
    ui: &mut egui::Ui,
    name: &str,
    default: f32,
    range: RangeInclusive<f32>,
    add: impl FnOnce(&mut egui::Ui) -> R,
) -> R {
    part_ui(ui, SplitSide::Bottom, name, default, range, add)
}

/// Shows a part at the left; the part beside it comes next ([`rest`]).
pub fn left<R>(
    ui: &mut egui::Ui,
    name: &str,
    default: f32,
    range: RangeInclusive<f32>,
    add: impl FnOnce(&mut egui::Ui) -> R,
) -> R {
    part_ui(ui, SplitSide::Left, name, default, range, add)
}

/// Shows what is above or beside the part before.
pub fn rest<R>(ui: &mut egui::Ui, margin: Margin, add: impl FnOnce(&mut egui::Ui) -> R) -> R {
    CentralPanel::default().frame(Frame::new().inner_margin(margin)).show(ui, add).inner
}

/// Says how far down a part has to reach so that its contents are of use. One below a splitter that nobody has moved gets
/// that height, as far as there is room.
pub fn reach(ui: &egui::Ui, bottom: f32) {
    ui.data_mut(|data| {
        let sizes = data.get_temp_mut_or_default::<SplitSizes>(key());
        sizes.reach = sizes.reach.max(bottom);
    });
}

/// Puts all splitters where they were left.
pub fn set_all(ctx: &egui::Context, by_name: BTreeMap<String, f32>) {
    ctx.data_mut(|data| data.get_temp_mut_or_default::<SplitSizes>(key()).by_name = by_name);
}

/// The splitters that were moved since the last call; without a size where one was put back.
pub fn take_changes(ctx: &egui::Context) -> Vec<(String, Option<f32>)> {
    ctx.data_mut(|data| {
        std::mem::take(&mut data.get_temp_mut_or_default::<SplitSizes>(key()).changed)
    })
}

/// Points by which the height of contents depends on where they stand.
const ROUNDING: f32 = 2.0;

fn key() -> Id {
    Id::unique("sizes beside splitters")
}

fn part_ui<R>(
    ui: &mut egui::Ui,
    side: SplitSide,
    name: &str,
    default: f32,
    range: RangeInclusive<f32>,
    add: impl FnOnce(&mut egui::Ui) -> R,
) -> R {
    let (least, most) = (*range.start(), range.end().max(*range.start()));
    // As egui names a panel and its handle.
    let panel_id = ui.scope_id().with_salt(IdSalt::new(name));
    let handle = panel_id.with("__resize");
    let moved = ui.read_response(handle);
    let is_held = moved.as_ref().is_some_and(|moved| moved.dragged() || moved.drag_stopped());
    if moved.as_ref().is_some_and(egui::Response::double_clicked) {
        remember(ui, name, None);
    }
    if !is_held {
        // A part that had to give way in a small window gets its size back in a larger one.
        let (size, needed) = ui.data_mut(|data| {
            let sizes = data.get_temp_mut_or_default::<SplitSizes>(key());
            let needed = sizes.needed.get(name).copied().unwrap_or(0.0);
            (sizes.by_name.get(name).copied(), needed)
        });
        let size = Vec2::splat(size.unwrap_or(default.max(needed)).clamp(least, most));
        let state = PanelState { outer_rect: Rect::from_min_size(Pos2::ZERO, size) };
        ui.data_mut(|data| data.insert_persisted(panel_id, state));
    }
    let (panel, margin) = match side {
        SplitSide::Left => (Panel::left(name), Margin { right: 10, ..Margin::ZERO }),
        SplitSide::Bottom => (Panel::bottom(name), Margin { top: 6, ..Margin::ZERO }),
    };
    let swap_reach = |ui: &egui::Ui, with: f32| {
        ui.data_mut(|data| {
            let sizes = data.get_temp_mut_or_default::<SplitSizes>(key());
            std::mem::replace(&mut sizes.reach, with)
        })
    };
    // What parts beside each other need the one that they are in needs, too.
    let outer = (side == SplitSide::Bottom).then(|| swap_reach(ui, 0.0));
    let shown = panel
        .resizable(true)
        .size_range(least..=most)
        .frame(Frame::new().inner_margin(margin))
        .show(ui, |ui| {
            // Contents that are small do not pull the splitter to them.
            ui.take_available_space();
            ui.scope_builder(egui::UiBuilder::new().max_rect(ui.max_rect()), add).inner
        });
    if let Some(outer) = outer {
        let reached = swap_reach(ui, outer);
        let needed = (reached - shown.response.rect.top()).max(0.0).ceil();
        let changed = ui.data_mut(|data| {
            let sizes = data.get_temp_mut_or_default::<SplitSizes>(key());
            let before = sizes.needed.get(name).copied().unwrap_or(0.0);
            // Contents that are still read say nothing, and where text is rounded to is no reason to move.
            let differs = reached > 0.0 && (before - needed).abs() > ROUNDING;
            if differs {
                sizes.needed.insert(name.to_owned(), needed);
            }
            differs
        });
        if changed {
            ui.request_repaint();
        }
    }
    let is_asked = [Action::Increment, Action::Decrement, Action::SetValue]
        .iter()
        .any(|action| ui.input(|input| input.has_accesskit_action_request(handle, *action)));
    if is_asked || moved.is_some_and(|moved| moved.drag_stopped()) {
        let size = shown.response.rect.size();
        remember(ui, name, Some(if side == SplitSide::Left { size.x } else { size.y }));
    }
    shown.inner
}

fn remember(ui: &egui::Ui, name: &str, size: Option<f32>) {
    ui.data_mut(|data| {
        let sizes = data.get_temp_mut_or_default::<SplitSizes>(key());
        match size {
            Some(size) => drop(sizes.by_name.insert(name.to_owned(), size)),
            None => drop(sizes.by_name.remove(name)),
        }
        sizes.changed.push((name.to_owned(), size));
    });
}
