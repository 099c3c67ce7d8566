//! Two runs whose steps have nothing in common, compared by what each took and by what is alive at the peak of each:
//! memory snapshots, or programs of XLA. Asked for by every page that says what changed, which draws both alike.

mod of_programs;
mod of_snapshots;
mod table;

use eframe::egui::{self, Label, RichText};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analysis::compared_programs::ComparedPrograms;
use crate::analysis::compared_snapshots::{Both, ComparedSnapshots, DifferentSetting, Room};
use crate::analysis::derived::Derived;
use crate::ui::job::{Latest, Made, Same};
use crate::ui::runs::Run;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::card::card_ui;
pub use table::{PeakRow, PeakTable};

/// What is said of the peaks of a system.
pub struct PeakWords {
    /// What the tabs of the tables are called.
    pub tabs: [&'static str; 2],
    /// Above what is alive by category.
    pub at_peaks: &'static str,
    /// What the rows of tables add up to.
    pub adds_up: &'static str,
    /// Where no setting differs.
    pub no_setting: &'static str,
    /// Where nothing is known of what is alive.
    pub no_peaks: &'static str,
    /// What has memory, and what stands for the one that is meant if the user names none.
    pub device: [&'static str; 2],
    /// What the card has, for example.
    pub capacity: &'static str,
}

/// A figure of both runs.
pub struct FigureRow {
    pub title: &'static str,
    pub is_bytes: bool,
    pub values: [Option<u64>; 2],
    /// The target in percent of the source.
    pub percent: Option<f64>,
}

/// What was compared.
enum Compared {
    Snapshots(Box<ComparedSnapshots>),
    /// With the memory space within a sentence.
    Programs(Box<ComparedPrograms>, String),
}

/// Two runs, compared.
pub struct PeaksCompared {
    compared: Compared,
    pub words: &'static PeakWords,
    pub settings: Vec<DifferentSetting>,
    pub figures: Vec<FigureRow>,
    /// Empty where nothing is known of what is alive at a peak.
    pub by_category: Vec<(&'static str, Both)>,
    /// By tab; none where nothing is known of what is alive at a peak.
    pub tables: Vec<Arc<PeakTable>>,
}

/// A sentence, and whether what it says is better; `None` where it is neither.
type Said = (String, Option<bool>);

impl PeaksCompared {
    /// Compares two runs of one system, of a device or of the one that says most; `None` where their steps are matched.
    fn of(both: [&Derived; 2], device: Option<i64>) -> Option<Result<Self, &'static str>> {
        let snapshots = both.map(Derived::allocator);
        if let [Some(source), Some(target)] = snapshots {
            return Some(Self::of_snapshots([source, target], device));
        }
        let [source, target] = both;
        source.program().and(target.program())?;
        Some(Self::of_programs(both, device))
    }

    fn said(&self, room: Room, units: Units) -> Vec<Said> {
        let size = |bytes| units.bytes(bytes);
        match &self.compared {
            Compared::Snapshots(found) => of_snapshots::said(found, room, &size),
            Compared::Programs(found, space) => of_programs::said(found, room, (space, &size)),
        }
    }
}

/// The runs that are compared, and the number of the device; without, the one that says most.
#[derive(Clone, PartialEq)]
struct Key([Same<Derived>; 2], Option<i64>);

/// What was found of two runs, or why nothing was.
pub type Found = Result<Arc<PeaksCompared>, &'static str>;

#[derive(Default)]
pub struct FoundPeaks {
    found: Latest<Key, Found>,
    said: Made<(Same<PeaksCompared>, Room, Units), Vec<Said>>,
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
            let found = PeaksCompared::of(derived.each_ref().map(|derived| &**derived), device);
            found.unwrap_or(Err("The runs are of different systems")).map(Arc::new)
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
            for (text, is_better) in said {
                let text = RichText::new(format!("{text}."));
                let text = match is_better {
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
    let all = |is: fn(&Run) -> bool| both.iter().all(|run| is(run));
    let are_alike =
        all(|run| run.derived.snapshot().is_some()) || all(|run| run.derived.program().is_some());
    are_alike.then_some(both)
}

/// What the devices of runs are called, by their numbers, with the words of their system.
pub fn devices_of(both: [&Run; 2]) -> (&'static PeakWords, BTreeMap<i64, String>) {
    match both[0].derived.program() {
        Some(_) => (&of_programs::WORDS, of_programs::spaces(both)),
        None => (&of_snapshots::WORDS, of_snapshots::devices(both)),
    }
}
