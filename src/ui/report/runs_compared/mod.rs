//! Two runs of one system, compared: by what each took and what is alive at the peak of each, and by their steps where
//! these are matched. Asked for by every page that says what changed.

mod table;

use eframe::egui::{self, RichText};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analysis::comparison::fullest_tile::{FullestTiles, gaps_of_fullest};
use crate::analysis::comparison::slot_peaks::Spike;
use crate::analysis::derived::{Derived, DerivedPair};
use crate::analysis::matched_reports::MatchedReports;
use crate::run::compared::{Compared, ComparedWords};
use crate::run::{Conclusion, Room};
use crate::text::{shortened, unbroken};
use crate::ui::job::{Latest, Same};
use crate::ui::report::found_insights::{are_all, settled};
use crate::ui::runs::{Needed, Needs, Run};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::card::card_ui;
pub use table::PeakTable;

/// What of reports whose steps are matched a comparison goes by, beside what they are matched by, and logs.
const NEEDS: Needs = &[Needed::Debug, Needed::Variables, Needed::TileVariables, Needed::Exchanges];
/// Peaks of each report that are looked at.
const MOST_PEAKS: usize = 1000;
/// Letters of a sentence.
const LETTERS: usize = 600;

/// Two runs, compared.
pub struct RunsCompared {
    source: Arc<Derived>,
    pub compared: Compared,
    /// By tab of what is alive at the peaks; none where nothing is known of that.
    pub tables: Vec<Arc<PeakTable>>,
    /// What the fullest tiles consist of.
    pub fullest: Option<FullestTiles>,
    /// The peaks of both curves.
    pub spikes: Vec<Spike>,
    /// Whether nothing more comes of what it goes by.
    pub is_final: bool,
}

impl RunsCompared {
    /// Compares two runs of one system.
    fn of(key: &ComparisonKey, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Result<Self, String> {
        let both = key.both.each_ref().map(|Same(derived)| &**derived);
        let pair = key.pair.as_ref().map(|Same(pair)| pair);
        let compared = Compared::of(both, pair, key.device, is_cancelled);
        let compared = compared.map_err(|error| error.message)?;
        let compared = compared.ok_or("The runs have nothing to compare")?;
        let matched = compared.matched.as_deref();
        // What went wrong is among the warnings of the report.
        let gaps = || both.map(|derived| gaps_of_fullest(derived.report()).ok().flatten());
        let Same(source) = &key.both[0];
        Ok(Self {
            source: Arc::clone(source),
            tables: table::of(&compared).into_iter().map(Arc::new).collect(),
            fullest: matched.and_then(|found| found.fullest(both, &gaps(), is_cancelled)),
            spikes: matched.map_or_else(Vec::new, |found| found.spikes(MOST_PEAKS)),
            is_final: are_all(&key.settled),
            compared,
        })
    }

    /// What follows from matched steps, where these are matched.
    pub fn matched(&self) -> Option<&MatchedReports> {
        self.compared.matched.as_deref()
    }

    fn said(&self, room: Room, units: Units) -> Vec<Conclusion> {
        self.compared.conclusions(&self.source, room, &|bytes| units.bytes(bytes))
    }
}

/// What two runs are compared by. Tables keep what the runs are called, so that belongs to it.
#[derive(Clone, PartialEq)]
struct ComparisonKey {
    both: [Same<Derived>; 2],
    titles: [Arc<str>; 2],
    /// The number of the device; without, the one that says most.
    device: Option<i64>,
    /// How their steps are matched, where they are, and which parts were there.
    pair: Option<Same<DerivedPair>>,
    settled: Vec<bool>,
}

impl ComparisonKey {
    /// `None` as long as steps that are to be matched are not.
    fn of(both: [&Run; 2], device: Option<i64>) -> Option<Self> {
        let are_matched = both.iter().all(|run| run.report.system.are_steps_matched);
        let settled = |run: &Run| settled(&run.report, NEEDS);
        let pair = both[1].pair.as_ref().map(|pair| Same(Arc::clone(pair)));
        (!are_matched || pair.is_some()).then(|| Self {
            both: both.map(|run| Same(Arc::clone(&run.derived))),
            titles: both.map(|run| Arc::clone(&run.title)),
            device,
            pair,
            settled: if are_matched { both.map(settled).concat() } else { Vec::new() },
        })
    }
}

/// What was found of two runs, or why nothing was.
pub type ComparedOrWhyNot = Result<Arc<RunsCompared>, Arc<str>>;

#[derive(Default)]
pub struct AskedComparison {
    found: Latest<ComparisonKey, ComparedOrWhyNot>,
    said: Latest<(Same<RunsCompared>, Room, Units), Vec<Conclusion>>,
}

impl AskedComparison {
    /// Asks for it; `None` until it is worked out. While it is worked out anew with more at hand, what was found before
    /// stays. Called in every frame.
    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        both: [&Run; 2],
        device: Option<i64>,
    ) -> Option<ComparedOrWhyNot> {
        let key = ComparisonKey::of(both, device)?;
        let for_job = key.clone();
        self.found.ask("comparison of two runs", ctx, &key, move |cancel| {
            RunsCompared::of(&for_job, &|| cancel.is_cancelled()).map(Arc::new).map_err(Arc::from)
        });
        let (of, found) = self.found.last()?;
        ((&of.both, of.device) == (&key.both, device)).then(|| found.clone())
    }

    /// Why there will be none.
    pub fn failure(&self) -> Option<&str> {
        self.found.failure()
    }

    /// What follows, in words, in a card; with what the device has, where the user says it.
    pub fn words_ui(
        &mut self,
        ui: &mut egui::Ui,
        title: &str,
        found: &Arc<RunsCompared>,
        room: Room,
    ) {
        let units = Units::now(ui);
        let (key, for_job) = ((Same(Arc::clone(found)), room, units), Arc::clone(found));
        self.said
            .ask("what follows of two runs", ui.ctx(), &key, move |_| for_job.said(room, units));
        // Of other runs nothing is shown; what was said in other units stays until it is said anew.
        let said = self.said.last().filter(|((of, ..), _)| *of == key.0);
        card_ui(ui, title, |ui| {
            said.into_iter().flat_map(|(_, said)| said).for_each(|said| said_ui(ui, said));
        });
    }
}

fn said_ui(ui: &mut egui::Ui, said: &Conclusion) {
    let tokens = *Tokens::now(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        // Less is not always better: the colors are those of a change, the word says the rest.
        let word = match said.is_better {
            Some(true) => Some(("✓ better", tokens.less)),
            Some(false) => Some(("× worse", tokens.more)),
            None => None,
        };
        if let Some((word, color)) = word {
            ui.label(RichText::new(word).font(fonts::semibold(size::BODY)).color(color));
        }
        ui.label(unbroken(&shortened(&format!("{}.", said.text), LETTERS)));
    });
}

/// Two runs, where they are of one system, so that they can be compared.
pub fn of_one_system<'a>(reference: &'a Run, other: &'a Run) -> Option<[&'a Run; 2]> {
    (reference.report.system.name == other.report.system.name).then_some([reference, other])
}

/// What the devices of runs are called, by their numbers, with the words of their system; those of one number that are
/// called differently by it alone.
pub fn devices_of(both: [&Run; 2]) -> (&'static ComparedWords, BTreeMap<i64, String>) {
    let words = both[0].derived.answers().compared_words();
    let mut titles: BTreeMap<i64, String> = BTreeMap::new();
    for run in both {
        for (device, title) in run.derived.answers().devices(&run.derived) {
            let known = titles.entry(device).or_insert_with(|| title.clone());
            if *known != title {
                *known = format!("{} {device}", words.device[0]);
            }
        }
    }
    (words, titles)
}
