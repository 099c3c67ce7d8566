//! What stands beside a strip: the largest that is there and the largest gap by name, as many as there is room for.

use eframe::egui::{self, Align2, Color32, Pos2, Rect, Stroke};

use super::data::RunData;
use super::strip::{StripKey, gaps_end};
use super::tooltip::Hit;
use super::words::{band_title, pretty_name};
use crate::analysis::placement::always_live::Band;
use crate::analysis::placement::gaps::{Gap, GapReason};
use crate::analysis::placement::tile_map::TileMapBlock;
use crate::text::{path_slashes, shortened};
use crate::ui::job::Same;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::plane::PlacedPlane;
use crate::ui::widget::spread::spread;

/// Height of a label, and between the strip and labels, points.
pub const LABEL: f32 = 23.0;
pub const TO_LABELS: f32 = 14.0;
/// Narrowest room for labels, points.
pub const LEAST_LABELS: f32 = 90.0;
/// Least height of a block or gap that is worth a name, points.
const NAMED: f32 = 2.0;

/// What stands beside a part of the strip.
pub struct Label {
    /// The middle of that part, then where the label stands.
    from: f32,
    pub at: f32,
    pub hit: Option<Hit>,
    title: String,
    below: Option<String>,
    size: Option<String>,
    is_over: bool,
    is_strong: bool,
}

/// What a label may be of.
#[derive(Clone, Copy)]
enum Labelled<'a> {
    Block(&'a TileMapBlock),
    /// With its place among the gaps.
    Gap(usize, &'a Gap),
    Band(&'a Band),
}

/// A label that there may be room for.
struct WantedLabel<'a> {
    from: f32,
    weight: u64,
    of: Labelled<'a>,
    is_over: bool,
}

/// The labels for which there is room: of what is largest, and of the largest gap.
pub fn labels_of(key: &StripKey, placed: &PlacedPlane) -> Vec<Label> {
    let (Same(of), strip) = (&key.of, key.strip);
    let data = &of.tile;
    let at_step = key.at_step.as_ref().map(|Same(at_step)| &**at_step);
    let map = at_step.map_or(&data.map, |at_step| &at_step.map);
    let end = gaps_end(map, at_step);
    let limit = map.limit.unwrap_or(u64::MAX);
    let part = |start: u64, end: u64| {
        let y = |address: u64| placed.y_of(address as f64);
        let (top, bottom) = (y(end).max(strip.top()), y(start).min(strip.bottom()));
        (bottom > top).then(|| (f32::midpoint(top, bottom), bottom - top))
    };
    let mut wanted = Vec::new();
    for block in map.blocks.iter().filter(|block| !block.is_always_live) {
        let Some((from, height)) = part(block.offset, block.end) else { continue };
        let is_over = block.end > limit || data.placed.without_room == Some(block.row);
        if height >= NAMED || is_over {
            let weight = if is_over { u64::MAX } else { block.end - block.offset };
            wanted.push(WantedLabel { from, weight, of: Labelled::Block(block), is_over });
        }
    }
    let largest = map.gaps.iter().enumerate().rev();
    let largest = largest.filter(|(_, gap)| gap.reason != GapReason::FreeAtStep);
    // Of equals the first: others have room after what is larger.
    let largest = largest.max_by_key(|(_, gap)| gap.size());
    let largest = largest.filter(|(_, gap)| gap.size().saturating_mul(1000) >= end);
    let largest = largest.map(|(place, _)| place);
    for (place, gap) in map.gaps.iter().enumerate().take_while(|(_, gap)| gap.bytes.end <= end) {
        let Some((from, height)) = part(gap.bytes.start, gap.bytes.end) else { continue };
        let is_largest = Some(place) == largest;
        if height >= NAMED || is_largest {
            let weight = if is_largest { u64::MAX } else { gap.size() };
            let of = Labelled::Gap(place, gap);
            wanted.push(WantedLabel { from, weight, of, is_over: false });
        }
    }
    for band in &of.bands {
        let Some((from, height)) = part(band.bytes.start, band.bytes.end) else { continue };
        if height >= LABEL / 2.0 {
            let weight = band.bytes.end - band.bytes.start;
            wanted.push(WantedLabel { from, weight, of: Labelled::Band(band), is_over: false });
        }
    }
    wanted.sort_by_key(|label| std::cmp::Reverse(label.weight));
    wanted.truncate((strip.height() / LABEL) as usize);
    wanted.sort_by(|a, b| a.from.total_cmp(&b.from));
    let places: Vec<f32> = wanted.iter().map(|label| label.from).collect();
    let ends = (strip.top() + LABEL / 2.0, strip.bottom() - LABEL / 2.0);
    let labels = wanted.iter().zip(spread(&places, LABEL, ends));
    labels.map(|(wanted, at)| wanted.label(of, at, key.units)).collect()
}

impl WantedLabel<'_> {
    fn label(&self, of: &RunData, at: f32, units: Units) -> Label {
        let report = &of.tile.report;
        let (hit, size, title, below) = match self.of {
            Labelled::Block(block) => {
                let (title, below) = name_and_owner(of, block.row);
                let bytes = block.end - block.offset;
                (Some(Hit::Variable(block.row)), Some(bytes), title, below)
            }
            Labelled::Gap(place, gap) => {
                let (title, below) = match gap.reason {
                    GapReason::FreeAtStep => {
                        ("Free here", format!("taken at other {}", report.system.steps))
                    }
                    reason => ("Gap", reason.title().to_lowercase()),
                };
                (Some(Hit::Gap(place)), Some(gap.size()), title.to_owned(), Some(below))
            }
            Labelled::Band(band) => {
                let live = report.system.always_live_in_text.to_owned();
                (None, None, band_title(report, band), Some(live))
            }
        };
        Label {
            from: self.from,
            at,
            is_strong: hit.is_some(),
            hit,
            title,
            below,
            size: size.map(|bytes| units.bytes(bytes)),
            is_over: self.is_over,
        }
    }
}

/// What a variable is called beside a strip, and what it is of.
fn name_and_owner(of: &RunData, row: u32) -> (String, Option<String>) {
    let (title, below) = pretty_name(of, row);
    // A shape behind a name, or an owner behind a kind, has a line of its own.
    let blank = title.find(" [").or_else(|| title.find(" of ")).filter(|_| below.is_none());
    if let Some((name, rest)) = blank.and_then(|blank| title.split_at_checked(blank)) {
        return (name.to_owned(), Some(rest.trim_start().to_owned()));
    }
    // The end of a path says what it is, the rest of what: there is room for little of both in one line.
    let slash = path_slashes(&title).pop().filter(|_| below.is_none());
    let parts = slash.and_then(|slash| title.split_at_checked(slash));
    let parts = parts.map(|(of, last)| (of.to_owned(), last.trim_start_matches('/').to_owned()));
    match parts.filter(|(of, last)| !of.is_empty() && !last.is_empty()) {
        Some((of, last)) => (last, Some(of)),
        None => (title, below),
    }
}

impl Label {
    pub fn paint(
        &self,
        painter: &egui::Painter,
        from: f32,
        area: Rect,
        is_chosen: bool,
        tokens: &Tokens,
    ) {
        let left = from + TO_LABELS;
        let line = [Pos2::new(from + 1.0, self.from), Pos2::new(left - 3.0, self.at)];
        painter.line_segment(line, Stroke::new(1.0, tokens.third_text));
        let color = match (self.is_over, self.is_strong) {
            (true, _) => tokens.over,
            (false, true) => tokens.text,
            (false, false) => tokens.weak_text,
        };
        let mut right = area.right();
        if let Some(size) = &self.size {
            let galley = painter.layout_no_wrap(size.clone(), fonts::medium(11.0), tokens.text);
            right -= galley.size().x;
            painter.galley(Pos2::new(right, self.at - 11.0), galley, tokens.text);
            right -= 8.0;
        }
        let font = if self.is_strong { fonts::medium(11.0) } else { fonts::regular(11.0) };
        let most = |text: &str, right: f32, font: &egui::FontId| {
            fitting(painter, text, right - left, font)
        };
        let at = Pos2::new(left, self.at - if self.below.is_some() { 11.0 } else { 6.5 });
        let title = most(&self.title, right, &font);
        let drawn = painter.text(at, Align2::LEFT_TOP, title, font, color);
        if is_chosen {
            painter.hline(drawn.x_range(), drawn.bottom(), Stroke::new(1.0, tokens.accent));
        }
        if let Some(below) = &self.below {
            let (at, font) = (Pos2::new(left, self.at), fonts::regular(10.5));
            let text = most(below, area.right(), &font);
            painter.text(at, Align2::LEFT_TOP, text, font, tokens.third_text);
        }
    }
}

/// A text without as much of its middle, or of the beginning of a path, as there is no room for.
fn fitting(painter: &egui::Painter, text: &str, width: f32, font: &egui::FontId) -> String {
    let color = Color32::PLACEHOLDER;
    let own = painter.layout_no_wrap(text.to_owned(), font.clone(), color).size().x;
    if own <= width {
        return text.to_owned();
    }
    let mut letters = (text.chars().count() as f32 * width / own - 1.0).max(4.0) as usize;
    loop {
        let short = shortened(text, letters).into_owned();
        let own = painter.layout_no_wrap(short.clone(), font.clone(), color).size().x;
        // The letters that stay may be wider than others.
        if own <= width || letters <= 4 {
            return short;
        }
        letters -= 1;
    }
}
