//! Areas, lines, bands and moments of a run as pictures draw them, folded for the screen beside the window.

use eframe::egui::{self, Color32};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use crate::analysis::comparison::step_axis::StepAxis;
use crate::analysis::liveness::peaks::far_peaks;
use crate::run::areas::{AreaColor, AreaGroup, StackedAreas};
use crate::run::beside_curve::{BesideCurve, StepBand, StepMoment};
use crate::text::shortened;
use crate::ui::report::category_colors::category_color;
use crate::ui::report::slot_axis::MOST_PEAKS;
use crate::ui::theme::{Family, Tokens};
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, BinValues, FoldedBlocks, new_version};
use crate::ui::widget::curve::{AxisBand, CurveLayer, CurvePeak};
use crate::ui::widget::legend::{Patch, by_color, entry_ui};

/// Longest name in a legend.
const NAME: usize = 34;
/// Share of the card's color in an area.
const FAINT: f32 = 0.82;

/// Colors of groups that have none by their name, by their rank.
const BY_PLACE: [Family; 8] = [
    Family::Rearrangement,
    Family::ExchangeCode,
    Family::VertexState,
    Family::Variable,
    Family::ControlCode,
    Family::HostExchange,
    Family::VertexCode,
    Family::Message,
];

pub fn group_color(group: &AreaGroup, place: usize, tokens: &Tokens) -> Color32 {
    match &group.color {
        AreaColor::Category(name) => category_color(name, tokens),
        AreaColor::Rest => tokens.family(Family::Other),
        AreaColor::Place => color_of_place(place, tokens),
    }
}

/// The color of a group of this rank.
pub fn color_of_place(place: usize, tokens: &Tokens) -> Color32 {
    let family = BY_PLACE.get(place % BY_PLACE.len()).copied();
    tokens.family(family.unwrap_or(Family::Other))
}

/// The end of a path, and how it goes on: `train.py:20 (forward)` for `/home/me/train.py:20 (forward)`.
pub fn short_frame(title: &str) -> &str {
    let end = title.find(" (").unwrap_or(title.len());
    let file = title.get(..end).filter(|file| is_place_in_source(file));
    let file = file.and_then(|file| file.rfind('/'));
    file.and_then(|slash| title.get(slash.saturating_add(1)..)).unwrap_or(title)
}

/// Whether a name is that of a file, perhaps with a line; names of operations have slashes, too.
fn is_place_in_source(name: &str) -> bool {
    let file = name.rsplit_once(':').map_or(name, |(file, _)| file);
    file.starts_with('/') || Path::new(file).extension().is_some_and(|ending| ending == "py")
}

/// Bins of the areas of a run, from the ground up.
pub type AreaCaches = Vec<BinCache>;

/// The areas of a run as they are drawn: by slot, without what is hidden.
pub struct DrawnAreas {
    /// All of them, by step.
    pub stacked: Arc<StackedAreas>,
    /// Titles of those that are hidden.
    hidden: BTreeSet<String>,
    /// `None` where that is the same.
    drawn: Option<Vec<Vec<u64>>>,
    blocks: Vec<FoldedBlocks>,
    /// The most at any step.
    pub top: u64,
    /// Tells them apart from all others.
    pub version: u64,
}

impl DrawnAreas {
    /// Of areas over steps, over an axis.
    pub fn of(
        stacked: Arc<StackedAreas>,
        hidden: BTreeSet<String>,
        axis: Option<&StepAxis>,
    ) -> Self {
        let is_shown = |group: &AreaGroup| !hidden.contains(&group.title);
        let shown = (!stacked.groups.iter().all(is_shown)).then(|| stacked.layers_of(is_shown));
        let drawn = match axis.filter(|axis| !axis.is_identity()) {
            None => shown,
            Some(axis) => {
                let layers = shown.as_ref().unwrap_or(&stacked.layers);
                Some(layers.par_iter().map(|layer| by_slot(layer, axis)).collect())
            }
        };
        let mut made =
            Self { stacked, hidden, drawn, blocks: Vec::new(), top: 0, version: new_version() };
        let layers = 0..made.stacked.layers.len();
        let fold = |layer| FoldedBlocks::of(BinValues::Known(made.layer(layer)));
        made.blocks = layers.into_par_iter().map(fold).collect();
        made.top = made.total().iter().max().copied().unwrap_or(0);
        made
    }

    /// Bytes of a group and of all shown groups below it, by slot; empty of a group that is hidden.
    fn layer(&self, layer: usize) -> &[u64] {
        let layers = self.drawn.as_ref().unwrap_or(&self.stacked.layers);
        layers.get(layer).map_or(&[], Vec::as_slice)
    }

    /// The highest layer that is shown.
    fn highest(&self) -> Option<usize> {
        (0..self.stacked.layers.len()).rev().find(|layer| !self.layer(*layer).is_empty())
    }

    /// All that is shown, by slot.
    pub fn total(&self) -> &[u64] {
        self.highest().map_or(&[], |layer| self.layer(layer))
    }

    /// Gives a cache what is folded of all that is shown.
    pub fn prepare_total(&self, cache: &mut BinCache) {
        if let Some(blocks) = self.highest().and_then(|layer| self.blocks.get(layer)) {
            cache.take(self.version, self.total().len(), blocks);
        }
    }

    pub fn is_shown(&self, group: &AreaGroup) -> bool {
        !self.hidden.contains(&group.title)
    }

    /// The highest peaks of all that is shown, of those that lie close together the highest.
    pub fn peaks(&self) -> Vec<CurvePeak> {
        far_peaks(self.total(), MOST_PEAKS)
            .into_iter()
            .map(|(position, bytes)| CurvePeak { position, bytes, key: None })
            .collect()
    }

    /// The areas, each on the one before. `limit` is that of all of them together.
    pub fn layers<'a>(
        &'a self,
        caches: &'a mut AreaCaches,
        limit: Option<u64>,
        tokens: &Tokens,
    ) -> Vec<CurveLayer<'a>> {
        caches.resize_with(self.stacked.groups.len(), BinCache::default);
        let mut layers: Vec<CurveLayer<'a>> = Vec::with_capacity(caches.len() + 3);
        for (place, cache) in caches.iter_mut().enumerate() {
            let values = self.layer(place);
            let Some(group) = self.stacked.groups.get(place).filter(|_| !values.is_empty()) else {
                continue;
            };
            if let Some(blocks) = self.blocks.get(place) {
                cache.take(self.version, values.len(), blocks);
            }
            let color = group_color(group, place, tokens);
            layers.push(CurveLayer {
                fill: Some(tokens.surface.lerp_to_gamma(color, FAINT)),
                is_stacked: !layers.is_empty(),
                limit: limit.filter(|_| Some(place) == self.highest()),
                ..CurveLayer::line(BinValues::Known(values), Color32::TRANSPARENT, cache)
            });
        }
        layers
    }

    /// The groups with their patches, from the top down, as the areas lie.
    pub fn key(&self, tokens: &Tokens) -> Vec<(&AreaGroup, Patch)> {
        let groups = self.stacked.groups.iter().enumerate().rev();
        by_color(groups.map(|(place, group)| (group, group_color(group, place, tokens))))
    }

    /// The entries of a legend, from the top down, as the areas lie; a click hides an area or shows it again. Returns
    /// whether one was clicked.
    pub fn legend_ui(&self, ui: &mut egui::Ui, hidden: &mut BTreeSet<String>) -> bool {
        let tokens = *Tokens::now(ui);
        let mut is_changed = false;
        for (group, patch) in self.key(&tokens) {
            let title = shortened(short_frame(&group.title), NAME);
            let mut is_shown = !hidden.contains(&group.title);
            let entry = entry_ui(ui, patch, &title, &mut is_shown);
            let rule = if group.rule.is_empty() { &group.title } else { &group.rule };
            if entry.on_hover_text(rule).changed() {
                is_changed = true;
                if is_shown {
                    hidden.remove(&group.title);
                } else {
                    hidden.insert(group.title.clone());
                }
            }
        }
        is_changed
    }
}

/// Which of the ordered colors lines of other devices have.
const OTHERS: [usize; 7] = [3, 1, 5, 6, 2, 0, 4];

/// What is drawn beside the curve of a run.
#[derive(Default)]
pub struct DrawnBeside {
    pub lines: Vec<DrawnLine>,
    pub bands: Vec<AxisBand>,
    moments: Vec<(usize, StepMoment)>,
    /// Tells them apart from all others.
    version: u64,
}

pub struct DrawnLine {
    pub title: Cow<'static, str>,
    pub rule: &'static str,
    /// Whether it is drawn before anybody asks for it.
    pub is_usual: bool,
    /// Whether it is the first of those.
    is_first: bool,
    /// Of another device its place among those.
    pub other: Option<usize>,
    by_step: Vec<u64>,
    by_slot: Option<Vec<u64>>,
    blocks: FoldedBlocks,
    /// The most at any step.
    pub top: u64,
}

impl DrawnLine {
    pub fn at(&self, step: usize) -> Option<u64> {
        self.by_step.get(step).copied()
    }

    /// The first line shows what is reserved and stands out. Other devices have their own colors; other ways of counting
    /// are drawn weakly.
    pub fn color(&self, tokens: &Tokens) -> Color32 {
        match self.other {
            // Those in front are seen on every area.
            Some(place) => tokens.ordered(OTHERS.get(place).copied().unwrap_or(usize::MAX)),
            None if self.is_first => tokens.ink,
            None => tokens.weak_text,
        }
    }

    fn values(&self) -> &[u64] {
        self.by_slot.as_ref().unwrap_or(&self.by_step)
    }
}

impl DrawnBeside {
    pub fn of(beside: BesideCurve, axis: &StepAxis, place: usize) -> Self {
        let BesideCurve { lines, bands, moments } = beside;
        let first = lines.iter().position(|line| line.is_usual);
        let line = |(at, line): (usize, crate::run::beside_curve::CurveLine)| {
            let by_slot = (!axis.is_identity()).then(|| {
                let at = |slot| axis.step_at_or_before(place, slot);
                let bytes = |slot| at(slot).and_then(|step| line.bytes.get(step)).copied();
                (0..axis.end(place)).map(|slot| bytes(slot).unwrap_or(0)).collect::<Vec<u64>>()
            });
            let values = by_slot.as_ref().unwrap_or(&line.bytes);
            DrawnLine {
                title: line.title,
                rule: line.rule,
                is_usual: line.is_usual,
                is_first: first == Some(at),
                other: line.other,
                blocks: FoldedBlocks::of(BinValues::Known(values)),
                top: line.bytes.iter().max().copied().unwrap_or(0),
                by_slot,
                by_step: line.bytes,
            }
        };
        let moment = |moment: StepMoment| Some((axis.slot(place, moment.step)?, moment));
        Self {
            lines: lines.into_par_iter().enumerate().map(line).collect(),
            bands: bands.into_iter().map(|band| band_in_slots(band, axis, place)).collect(),
            moments: moments.into_iter().filter_map(moment).collect(),
            version: new_version(),
        }
    }

    pub fn layer<'a>(
        &self,
        line: &'a DrawnLine,
        color: Color32,
        cache: &'a mut BinCache,
    ) -> CurveLayer<'a> {
        cache.take(self.version, line.values().len(), &line.blocks);
        let version = Some(self.version);
        CurveLayer { version, ..CurveLayer::line(BinValues::Known(line.values()), color, cache) }
    }

    /// What happened, with the slots at which it did.
    pub fn moments(&self, units: Units) -> Vec<(usize, String)> {
        let text = |moment: &StepMoment| match moment.bytes {
            Some((bytes, of)) => format!("{}, {} {of}", moment.title, units.bytes(bytes)),
            None => moment.title.to_owned(),
        };
        self.moments.iter().map(|(slot, moment)| (*slot, text(moment))).collect()
    }

    pub fn last_moment(&self) -> Option<&StepMoment> {
        self.moments.last().map(|(_, moment)| moment)
    }
}

/// A curve over steps of the only run, over slots.
fn by_slot(curve: &[u64], axis: &StepAxis) -> Vec<u64> {
    if curve.is_empty() {
        return Vec::new();
    }
    let at = |slot| axis.step(0, slot).and_then(|step| curve.get(step)).copied();
    (0..axis.len()).map(|slot| at(slot).unwrap_or(0)).collect()
}

fn band_in_slots(band: StepBand, axis: &StepAxis, place: usize) -> AxisBand {
    let number = |slot: usize| u32::try_from(slot).unwrap_or(u32::MAX);
    let slot = |step: u32| axis.slot(place, step as usize);
    let span = |(steps, name): (std::ops::Range<u32>, String)| {
        let end = slot(steps.end.saturating_sub(1))?.saturating_add(1);
        Some((number(slot(steps.start)?)..number(end), name))
    };
    AxisBand { title: band.title, spans: band.parts.into_iter().filter_map(span).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beside_a_curve_are_not_folded_again_for_a_picture() {
        let line = crate::run::beside_curve::CurveLine {
            title: "Reserved".into(),
            rule: "",
            is_usual: true,
            other: None,
            bytes: (0..20_000).collect(),
        };
        let beside = BesideCurve { lines: vec![line], ..BesideCurve::default() };
        let beside = DrawnBeside::of(beside, &StepAxis::by_index(&[20_000]), 0);
        let (line, mut cache) = (&beside.lines[0], BinCache::default());
        let layer = beside.layer(line, Color32::WHITE, &mut cache);
        assert!(layer.cache.is_folded(layer.version.unwrap(), line.values().len()));
    }

    #[test]
    fn lines_end_with_their_run() {
        let bytes = vec![3, 5];
        let line =
            crate::run::beside_curve::CurveLine { is_usual: true, bytes, ..Default::default() };
        let beside = BesideCurve { lines: vec![line], ..BesideCurve::default() };
        let beside = DrawnBeside::of(beside, &StepAxis::by_index(&[2, 6]), 0);
        assert_eq!(beside.lines[0].values(), [3, 5]);
    }

    #[test]
    fn frames_are_told_by_the_end_of_their_path() {
        assert_eq!(short_frame("/home/me/train.py:20 (forward)"), "train.py:20 (forward)");
        assert_eq!(short_frame("(no Python stack)"), "(no Python stack)");
        assert_eq!(short_frame("forward (a/b)"), "forward (a/b)");
        assert_eq!(short_frame("jit(step)/dot_general"), "jit(step)/dot_general");
    }
}
