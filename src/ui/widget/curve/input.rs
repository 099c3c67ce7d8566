//! How mouse and keyboard select in a picture.

use eframe::egui::{self, Event, EventFilter, InputState, Key, Modifiers, Response};
use egui_plot::PlotTransform;

use super::Click;
use crate::ui::widget::view::View;

/// Whether dragging selects a range: with Shift, and where there is nothing to pan.
pub fn is_selecting(ui: &egui::Ui, view: View) -> bool {
    !view.is_zoomed() || ui.input(|input| input.modifiers.shift)
}

/// The first and last position between the place where the button went down and the pointer.
pub fn dragged_range(
    ui: &egui::Ui,
    transform: &PlotTransform,
    len: usize,
) -> Option<(usize, usize)> {
    let (from, to) = ui.input(|input| (input.pointer.press_origin(), input.pointer.interact_pos()));
    let last = len.checked_sub(1)?;
    let position =
        |at: egui::Pos2| (transform.value_from_position(at).x.round().max(0.0) as usize).min(last);
    let (from, to) = (position(from?), position(to?));
    Some((from.min(to), from.max(to)))
}

/// Arrows, Home and End move the selection while the picture has the focus, from the position that was
/// selected last; with Shift they add to it.
pub fn select_by_key(
    ui: &egui::Ui,
    response: &Response,
    len: usize,
    selected: Option<usize>,
) -> Option<Click> {
    if !response.has_focus() || len == 0 {
        return None;
    }
    let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let last = len - 1;
    let mut now = selected;
    let mut click = None;
    // In a slow frame there may be several, and Shift may be up again when it ends.
    for (key, modifiers) in ui.input(pressed_keys) {
        if modifiers.alt || modifiers.command {
            continue;
        }
        let position = match key {
            Key::ArrowRight => now.map_or(0, |now| (now + 1).min(last)),
            Key::ArrowLeft => now.map_or(last, |now| now.saturating_sub(1)),
            Key::Home => 0,
            Key::End => last,
            _ => continue,
        };
        now = Some(position);
        click = Some(Click::new(position, modifiers));
    }
    click
}

fn pressed_keys(input: &InputState) -> Vec<(Key, Modifiers)> {
    let pressed = |event: &Event| match event {
        Event::Key { key, pressed: true, modifiers, .. } => Some((*key, *modifiers)),
        _ => None,
    };
    input.events.iter().filter_map(pressed).collect()
}

/// What was held when the button went up that makes a click.
pub fn modifiers_of_click(ui: &egui::Ui) -> Modifiers {
    ui.input(|input| {
        let released = |event: &Event| match event {
            Event::PointerButton { pressed: false, modifiers, .. } => Some(*modifiers),
            _ => None,
        };
        input.events.iter().rev().find_map(released).unwrap_or(input.modifiers)
    })
}
