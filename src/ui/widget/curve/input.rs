//! Selection in a picture by mouse and keyboard.

use eframe::egui::{self, Event, EventFilter, InputState, Key, Modifiers, Response};
use egui_plot::PlotTransform;

use super::CurveClick;
use crate::ui::widget::bins::PixelBin;
use crate::ui::widget::heights::Heights;
use crate::ui::widget::view::VisibleRange;

/// Whether dragging selects a range: with Shift, and where there is nothing to pan.
pub fn is_selecting(ui: &egui::Ui, view: VisibleRange) -> bool {
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
) -> Option<CurveClick> {
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
        click = Some(CurveClick::new(position, modifiers));
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

/// With Ctrl the wheel zooms bytes around the pointer; what is zoomed moves with a drag.
pub fn navigate_heights(
    ui: &egui::Ui,
    response: &Response,
    transform: &PlotTransform,
    heights: &mut Heights,
    usual: (f64, f64),
    can_pan: bool,
) {
    let per_point = transform.dvalue_dpos()[1].abs();
    if response.dragged() && can_pan {
        heights.pan(usual, f64::from(response.drag_delta().y) * per_point);
    }
    let Some(pointer) = response.hover_pos() else { return };
    let (factor, is_held) = ui.input(|input| (input.zoom_delta(), input.modifiers.command));
    if is_held && (factor - 1.0).abs() > f32::EPSILON {
        heights.zoom(usual, f64::from(factor), transform.value_from_position(pointer).y);
    }
}

/// The spike beside a position, no farther than `reach`: a pixel may be several positions, and a hand is no ruler.
/// Nothing where positions are wider than that.
pub fn snapped(bins: &[PixelBin], position: f64, reach: f64) -> Option<usize> {
    if reach <= 0.75 {
        return None;
    }
    let from = bins.partition_point(|bin| (bin.to as f64) <= position - reach);
    let to = bins.partition_point(|bin| (bin.from as f64) < position + reach);
    let distance = |bin: &PixelBin| (bin.highest as f64 - position).abs();
    let is_spike = |place: usize, bin: &PixelBin| {
        let beside = |place: Option<usize>| place.and_then(|place| bins.get(place));
        let lower = |other: Option<&PixelBin>| other.is_none_or(|other| other.max <= bin.max);
        lower(beside(place.checked_sub(1))) && lower(beside(Some(place + 1)))
    };
    let near = bins.get(from..to)?.iter().zip(from..);
    let spikes = near.filter(|(bin, place)| is_spike(*place, bin));
    let by_height = |a: &PixelBin, b: &PixelBin| {
        a.max.cmp(&b.max).then_with(|| distance(b).total_cmp(&distance(a)))
    };
    spikes.map(|(bin, _)| bin).max_by(|a, b| by_height(a, b)).map(|bin| bin.highest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::widget::bins::{BinValues, fold};

    #[test]
    fn a_click_beside_a_spike_means_the_spike() {
        let values: Vec<u64> = (0..100).map(|at| if at == 50 { 900 } else { 10 }).collect();
        let bins = fold(BinValues::Known(&values), &[], (-0.5, 99.5), 200);
        assert_eq!(snapped(&bins, 52.4, 3.0), Some(50));
        assert_eq!(snapped(&bins, 47.6, 3.0), Some(50));
        assert_eq!(snapped(&bins, 60.2, 3.0), Some(60), "on the level what is under the pointer");
        assert_eq!(snapped(&bins, 51.0, 0.5), None, "wide steps are hit");
        assert_eq!(snapped(&[], 51.0, 3.0), None);
    }
}
