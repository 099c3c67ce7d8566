//! What is shown of a snapshot's memory: which devices, which curve, as areas of what, over events or over time.

use eframe::egui;
use std::collections::BTreeSet;

use crate::store::snapshot::Snapshot;
use crate::systems::pytorch::allocator::curves::{BlockCurve, BlocksBy, Devices};
use crate::ui::report::snapshot::curves::CurvesKey;
use crate::ui::widget::choice::{choice_ui, segments_ui};

pub struct Choices {
    /// What was chosen; before that what the snapshot is looked at by first.
    devices: Option<Devices>,
    pub curve: BlockCurve,
    pub by: BlocksBy,
    pub is_over_time: bool,
    /// Titles of areas that are switched off.
    pub hidden: BTreeSet<String>,
    pub has_reserved: bool,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            devices: None,
            curve: BlockCurve::default(),
            by: BlocksBy::default(),
            is_over_time: false,
            hidden: BTreeSet::new(),
            has_reserved: true,
        }
    }
}

impl Choices {
    /// The devices of a snapshot that are shown.
    pub fn devices(&self, snapshot: &Snapshot) -> Devices {
        let is_there = |devices: &Devices| match devices {
            Devices::All => snapshot.devices.len() > 1,
            Devices::At(place) => *place < snapshot.all_devices().count(),
        };
        self.devices.filter(is_there).unwrap_or_else(|| Devices::first_of(snapshot))
    }

    /// What curves are made of; of several runs each is one line over events.
    pub fn key(&self, snapshot: &Snapshot, is_one: bool) -> CurvesKey {
        CurvesKey {
            devices: self.devices(snapshot),
            curve: self.curve,
            by: if is_one { self.by } else { BlocksBy::Nothing },
            is_over_time: is_one && self.is_over_time,
            hidden: if is_one { self.hidden.clone() } else { BTreeSet::new() },
        }
    }

    /// Draws the choices, from the right to the left.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        snapshot: &Snapshot,
        (is_one, has_times): (bool, bool),
    ) {
        if is_one {
            let before = self.by;
            let title = |by: &BlocksBy| format!("By {}", by.title().to_lowercase());
            choice_ui(ui, ("Areas of", 128.0), &mut self.by, BlocksBy::ALL, title)
                .on_hover_text("What the areas below the curve are of");
            if before != self.by {
                self.hidden.clear();
            }
        }
        let curves = BlockCurve::ALL.map(|curve| (curve, curve.title()));
        segments_ui(ui, self.curve.rule(), &mut self.curve, curves);
        if is_one && has_times {
            let axes = [(false, "Events"), (true, "Time")];
            segments_ui(ui, "What the axis goes by", &mut self.is_over_time, axes);
        }
        let places: Vec<usize> = (0..snapshot.all_devices().count()).collect();
        if places.len() > 1 {
            let mut devices = self.devices(snapshot);
            let several = (snapshot.devices.len() > 1).then_some(Devices::All);
            let all = several.into_iter().chain(places.into_iter().map(Devices::At));
            let title = |devices: &Devices| devices.title(snapshot);
            choice_ui(ui, ("Device", 120.0), &mut devices, all, title);
            if devices != self.devices(snapshot) {
                self.devices = Some(devices);
            }
        }
    }
}
