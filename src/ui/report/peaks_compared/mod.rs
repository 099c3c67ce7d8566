//! Two runs whose steps have nothing in common, compared by what each took and by what is alive at the peak of each.
//! Asked for by every page that says what changed.

mod table;

use eframe::egui::{self, Label, RichText};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analysis::derived::Derived;
use crate::run::compared::{Compared, ComparedWords};
use crate::run::{Conclusion, Room};
use crate::ui::job::{Latest, Made, Same};
use crate::ui::runs::Run;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::card::card_ui;
pub use table::PeakTable;

/// Two runs, compared.
pub struct PeaksCompared {
    source: Arc<Derived>,
    pub compared: Compared,
    /// By tab; none where nothing is known of what is alive at a peak.
    pub tables: Vec<Arc<PeakTable>>,
}

impl PeaksCompared {
    /// Compares two runs of one system, of a device or of the one that says most.
    fn of([source, target]: &[Arc<Derived>; 2], device: Option<i64>) -> Result<Self, String> {
        match Compared::of([source, target], device) {
            Ok(Some(compared)) => Ok(Self {
                source: Arc::clone(source),
                tables: table::of(&compared).into_iter().map(Arc::new).collect(),
                compared,
            }),
            Ok(None) => Err("The runs have nothing that could be compared".to_owned()),
            Err(error) => Err(error.message),
        }
    }

    fn said(&self, room: Room, units: Units) -> Vec<Conclusion> {
        self.compared.conclusions(&self.source, room, &|bytes| units.bytes(bytes))
    }
}

/// The runs that are compared, and the number of the device; without, the one that says most.
#[derive(Clone, PartialEq)]
struct Key([Same<Derived>; 2], Option<i64>);

/// What was found of two runs, or why nothing was.
pub type Found = Result<Arc<PeaksCompared>, Arc<str>>;

#[derive(Default)]
pub struct FoundPeaks {
    found: Latest<Key, Found>,
    said: Made<(Same<PeaksCompared>, Room, Units), Vec<Conclusion>>,
}

impl FoundPeaks {
    /// Asks for it; `None` until it is worked out. Called in every frame.
    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        both: [&Run; 2],
        device: Option<i64>,
    ) -> Option<Found> {
        let derived = both.map(|run| Arc::clone(&run.derived));
        let key = Key(derived.each_ref().map(|derived| Same(Arc::clone(derived))), device);
        self.found.ask("comparison of the peaks of two runs", ctx, &key, move |_| {
            PeaksCompared::of(&derived, device).map(Arc::new).map_err(Arc::from)
        });
        self.found.get(&key).cloned()
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
        found: &Arc<PeaksCompared>,
        room: Room,
    ) {
        let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
        let said =
            self.said.of((Same(Arc::clone(found)), room, units), |_| found.said(room, units));
        card_ui(ui, title, |ui| {
            for said in said {
                let text = RichText::new(format!("{}.", said.text));
                let text = match said.is_better {
                    Some(true) => text.color(tokens.less),
                    Some(false) => text.color(tokens.more),
                    None => text,
                };
                ui.add(Label::new(text).wrap());
            }
        });
    }
}

/// Two runs, where they are of one system whose steps are not matched.
pub fn with_peaks<'a>(reference: &'a Run, other: &'a Run) -> Option<[&'a Run; 2]> {
    let both = [reference, other];
    let [words, of_other] = both.map(|run| run.derived.answers().compared_words());
    let are_alike = std::ptr::eq(words?, of_other?);
    are_alike.then_some(both)
}

/// What the devices of runs are called, by their numbers, with the words of their system; those of one number that are
/// called differently by it alone.
pub fn devices_of(both: [&Run; 2]) -> Option<(&'static ComparedWords, BTreeMap<i64, String>)> {
    let words = both[0].derived.answers().compared_words()?;
    let mut titles: BTreeMap<i64, String> = BTreeMap::new();
    for run in both {
        for (device, title) in run.derived.answers().devices(&run.derived) {
            let known = titles.entry(device).or_insert_with(|| title.clone());
            if *known != title {
                *known = format!("{} {device}", words.device[0]);
            }
        }
    }
    Some((words, titles))
}
