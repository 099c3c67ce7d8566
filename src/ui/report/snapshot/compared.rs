//! Two memory snapshots compared, asked for by every page that says what changed, and what follows in words.

use eframe::egui::{self, Label, RichText};
use std::sync::Arc;

use super::snapshot_of;
use crate::analysis::compared_snapshots::{
    ComparedSnapshots, Room, SnapshotConclusion, conclusions,
};
use crate::analysis::derived::Derived;
use crate::ui::job::{Latest, Same};
use crate::ui::runs::Run;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::card::card_ui;

/// The runs that are compared, and the number of the device; without, the one that failed or had most.
#[derive(Clone, PartialEq)]
struct Key([Same<Derived>; 2], Option<i64>);

/// What was found of two snapshots, or why nothing was.
pub type Compared = Result<Arc<ComparedSnapshots>, &'static str>;

#[derive(Default)]
pub struct FoundComparison(Latest<Key, Compared>);

impl FoundComparison {
    /// Asks for it; `None` until it is worked out. Called in every frame.
    pub fn ask(
        &mut self,
        ctx: &egui::Context,
        both: [&Run; 2],
        device: Option<i64>,
    ) -> Option<Compared> {
        let derived = both.map(|run| Arc::clone(&run.derived));
        let key = Key(derived.each_ref().map(|derived| Same(Arc::clone(derived))), device);
        self.0.ask("comparison of two snapshots", ctx, &key, move |_| {
            let found = compared(derived.each_ref().map(|derived| &**derived), device);
            let why_not = match device {
                Some(_) => "One of the snapshots does not have this device",
                None => "A snapshot has no device",
            };
            found.map(Arc::new).ok_or(why_not)
        });
        self.0.get(&key).cloned()
    }

    /// Why there will be none.
    pub fn failure(&self) -> Option<&str> {
        self.0.failure()
    }
}

/// Two runs, where both are snapshots.
pub fn both_snapshots<'a>(reference: &'a Run, other: &'a Run) -> Option<[&'a Run; 2]> {
    let both = [reference, other];
    both.iter().all(|run| snapshot_of(run).is_some()).then_some(both)
}

/// Compares the devices of a number, or those that failed or had most.
fn compared(both: [&Derived; 2], device: Option<i64>) -> Option<ComparedSnapshots> {
    let [source, target] = both.map(Derived::allocator);
    ComparedSnapshots::of([source?, target?], device).ok()
}

/// What follows, in words, in a card; with what the device has, where the user says it.
pub fn words_ui(ui: &mut egui::Ui, title: &str, found: &ComparedSnapshots, room: Room) {
    let units = Units::now(ui);
    let tokens = *Tokens::now(ui);
    let said = conclusions(found, room, &|bytes| units.bytes(bytes));
    card_ui(ui, title, |ui| {
        for SnapshotConclusion { text, is_better, .. } in &said {
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
