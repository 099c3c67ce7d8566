//! The variables of the selected tiles in two reports.

use std::sync::Arc;

use eframe::egui;

use super::super::tabs::Beside;
use super::listed::{Listed, Things};
use crate::analysis::comparison::attribution::Attribution;
use crate::analysis::liveness::variables::on_tiles;
use crate::analysis::liveness::why_no_variables;
use crate::analysis::memory::selection::TileSelection;
use crate::ui::job::Same;
use crate::ui::legacy::{Pair, Side};
use crate::ui::report::differences::variables::{Owners, variable_entries};
use crate::ui::report::{PageContext, reason_of, unread_ui};

/// A question: the tiles, which parts of the reports were there, and the matching that says what
/// variables belong to.
type Key = (TileSelection, [[bool; 2]; 2], Option<Same<Attribution>>);

/// What the table remembers.
#[derive(Debug, Default)]
pub struct PairVariables {
    listed: Listed<Key>,
    owners: Owners,
}

impl PairVariables {
    /// Draws the table; a click selects a variable, or takes the selection away.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        (page, pair): (&mut PageContext<'_>, &Pair<'_>),
        beside: Beside<'_>,
    ) {
        let reports = [page.report, pair.target];
        let tiles = &page.selection.tiles;
        let are_there = reports
            .map(|report| [report.liveness.is_settled(), report.tile_variable_bytes.is_settled()]);
        let is_enough = |[all, by_tile]: &[bool; 2]| *all && (tiles.is_empty() || *by_tile);
        if !are_there.iter().all(is_enough) {
            ui.horizontal(beside);
            let is_working = page.is_working || pair.is_target_working;
            unread_ui(ui, "The variables of single tiles", is_working);
            return;
        }
        let owners =
            pair.matching.and_then(|matching| self.owners.ask(ui.ctx(), reports, matching));
        let key: Key = (tiles.clone(), are_there, owners.clone().map(Same));
        let (for_job, wanted) = (reports.map(Arc::clone), tiles.clone());
        self.listed.ask(ui.ctx(), "variables of tiles of both", &key, move |_| {
            let reports = for_job.each_ref().map(|report| &**report);
            let rows = Side::BOTH.map(|side| {
                let found = on_tiles(side.of(reports), &wanted, 0);
                found.map(|found| found.rows).ok_or_else(|| {
                    let title = format!("Variables are not in the {}", side.title().to_lowercase());
                    let absence = why_no_variables(side.of(reports), !wanted.is_empty());
                    (title, reason_of(absence))
                })
            });
            let [source, target] = rows;
            Ok(Things::from(variable_entries(reports, [source?, target?], owners.as_deref())))
        });
        let selected = page.selection.variable.clone();
        let note = if tiles.is_empty() {
            "on all tiles, over all steps"
        } else {
            "on the selected tiles, over all steps"
        };
        let clicked = self.listed.ui(
            ui,
            ("Variables of both", note),
            &|entry| selected.as_ref() == Some(&entry.name),
            page.commands,
            beside,
        );
        if let Some(entry) = clicked {
            let is_selected = selected.as_ref() == Some(&entry.name);
            page.selection.variable = (!is_selected).then_some(entry.name);
        }
    }
}
