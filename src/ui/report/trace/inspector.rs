//! The inspector of the page: the step under the pointer or the chosen one, then what the visible or selected range was
//! spent on.

use eframe::egui::{self, Label};

use super::axis::{AxisUnit, length_text};
use super::data::ReadRun;
use super::lanes::block_title;
use super::{ADDING_UP, ChosenNode, OfRuns, RangeIs, TracePage};
use crate::analysis::execution::lanes::LaneNode;
use crate::analysis::execution::statistics::CycleStatistics;
use crate::text::{capitalised, grouped, shortened};
use crate::ui::command::{Command, Page};
use crate::ui::report::PageContext;
use crate::ui::report::program_kind_colors::activity_color;
use crate::ui::run_chips::badge_ui;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::inspector::{fact_ui, part_ui, title_ui};

/// Longest name of a step.
const NAME: usize = 90;

impl TracePage {
    pub(super) fn inspect_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        read: &OfRuns,
        hovered: Option<ChosenNode>,
    ) {
        let runs = page.runs;
        match hovered.or(self.chosen) {
            Some(chosen) => {
                let kind = if hovered.is_some() && hovered != self.chosen {
                    "Step under the pointer; click to select it"
                } else {
                    "Selected step"
                };
                let of_run = runs.position(chosen.run).and_then(|place| read.get(place)?.as_ref());
                if let Some(of_run) = of_run {
                    self.step_ui(ui, page, kind, of_run, chosen);
                }
            }
            None => {
                ui.weak("Click a step to select it, here and in Liveness. Drag along the axis, or with Shift, to select a range.");
            }
        }
        ui.separator();
        self.statistics_ui(ui, page, read);
    }

    fn step_ui(
        &self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        kind: &str,
        read: &ReadRun,
        chosen: ChosenNode,
    ) {
        let Some(executed) = read.executed() else { return };
        let (trace, units) = (executed.trace, Units::now(ui));
        let length = |cycles: u64| length_text(cycles, self.unit, read.clock_hz);
        let span = match chosen.node {
            LaneNode::Span(span) => span,
            LaneNode::Block(row) => {
                let Some(block) = trace.blocks.get(row) else { return };
                title_ui(ui, kind, &block_title(read, row), &format!("tile {}", block.tile));
                fact_ui(ui, "Took", &length(block.end - block.start));
                return;
            }
            LaneNode::Part(_) => return,
        };
        let step = executed.step_of(span);
        let id = trace.ids.get(step).copied().unwrap_or(0);
        title_ui(
            ui,
            kind,
            &format!("Step {}", grouped(u64::from(id))),
            &shortened(executed.title(step), NAME),
        );
        let spans = &trace.spans;
        let number = |column: &[u64]| column.get(span).copied().unwrap_or(0);
        fact_ui(ui, "Kind", &shortened(trace.kind(step), 40));
        if let Some(ipu) = trace.device_of(span) {
            fact_ui(ui, "On", &format!("{} {ipu}", page.runs.system().device));
        }
        fact_ui(ui, "Longest tile", &length(number(&spans.cycles)));
        fact_ui(ui, "From", &length(number(&spans.starts).saturating_sub(read.cycles.start)));
        let tiles = spans.active_tiles.get(span).copied().unwrap_or(0);
        fact_ui(ui, "Active tiles", &grouped(u64::from(tiles)));
        if let Some(balance) = spans.balance(span) {
            fact_ui(ui, "Balance of tiles", &format!("{:.0} %", balance * 100.0));
        }
        if let Some(cycles) = trace.tile_cycles(span) {
            fact_ui(ui, "Cycles of all tiles", &grouped(cycles));
        }
        let liveness_step = read.liveness_steps.get(step).copied().flatten();
        if let Some(at) = liveness_step {
            let bytes = trace.device_of(span).and_then(|device| {
                let of_device = read.memory.iter().find(|of| of.device == device)?;
                of_device.at(number(&spans.starts))
            });
            if let Some(bytes) = bytes {
                fact_ui(ui, "Not always live", &units.bytes(bytes));
            }
            let id = read.report.steps.get().and_then(|steps| steps.ids.get(at as usize));
            if let Some(id) = id {
                fact_ui(ui, "Step in Liveness", &grouped(id.0.into()));
            }
        }
        let is_slow = read.slow.contains(span);
        if is_slow {
            let text = "▲ Slow, and memory is near its peak here";
            ui.add(Label::new(fonts::caption(text).color(Tokens::now(ui).note)).wrap());
        }
        if liveness_step.is_some() && Some(chosen) == self.chosen {
            let button = ui.button("Show in Liveness");
            if button.on_hover_text("What is in memory at this step").clicked() {
                page.commands.push(Command::Go(Page::Liveness));
            }
        }
    }

    fn statistics_ui(&self, ui: &mut egui::Ui, page: &PageContext<'_>, read: &OfRuns) {
        // Title, length and figures are of one range, also while those of the next are added up.
        let Some((((from, to), which, _), spent)) = self.statistics.last(page.runs) else {
            let failure = self.sums.failure().or(self.statistics.failure());
            ui.weak(failure.unwrap_or(ADDING_UP));
            return;
        };
        ui.label(fonts::number(which.title()));
        for ((run, of_run), found) in page.runs.iter().zip(read).zip(&spent.of_runs) {
            let (Some(of_run), Some(found)) = (of_run, found) else { continue };
            if !page.runs.is_one() {
                ui.horizontal(|ui| {
                    badge_ui(ui, run.badge);
                    ui.label(fonts::number(&*run.title));
                });
            }
            let length = (*to).min(of_run.len() as u64).saturating_sub(*from);
            let length = length_text(length, self.unit, of_run.clock_hz);
            fact_ui(ui, "Length", &length);
            if let Some(stage) = of_run.longest_stage.as_ref().filter(|_| *which == RangeIs::Whole)
            {
                ui.add(Label::new(fonts::caption(stage.text(page.runs.system().device))).wrap());
            }
            self.found_ui(ui, of_run, found);
            ui.add_space(6.0);
        }
    }

    fn found_ui(&self, ui: &mut egui::Ui, read: &ReadRun, found: &CycleStatistics) {
        let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
        let share = |cycles: u64| format!("{:.1} %", found.share(cycles) * 100.0);
        let short = |cycles: u64| match self.unit {
            AxisUnit::Cycles => grouped(cycles),
            AxisUnit::Time => length_text(cycles, self.unit, read.clock_hz),
        };
        let percent = |value: f64| format!("{:.1} %", value * 100.0);
        if let Some(utilisation) = found.utilisation {
            fact_ui(ui, "Utilisation", &percent(utilisation));
        }
        if let Some(balance) = found.balance {
            fact_ui(ui, "Balance of tiles", &percent(balance));
        }
        if let Some(tiles) = found.active_tiles {
            fact_ui(ui, "Active tiles", &grouped(tiles.round() as u64));
        }
        if let Some(moved) = found.moved {
            ui.label(
                fonts::caption("Bytes of transfers, by the compiler").color(tokens.third_text),
            );
            for (name, bytes) in [
                ("From the host", moved.from_host),
                ("To the host", moved.to_host),
                ("From other IPUs", moved.from_ipus),
                ("To other IPUs", moved.to_ipus),
            ] {
                fact_ui(ui, name, &units.bytes(bytes));
            }
        }
        ui.label(fonts::caption("Cycles of steps by kind, on all IPUs").color(tokens.third_text));
        for kind in &found.kinds {
            let color = activity_color(kind.activity, &tokens);
            let parts = &[(kind.cycles, color)];
            let bar = Bar { parts, whole: found.range_cycles, limit: None };
            let size = format!("{} · {}", short(kind.cycles), share(kind.cycles));
            part_ui(ui, &shortened(&kind.kind, 30), &size, &bar);
        }
        fact_ui(
            ui,
            "No step",
            &format!("{} · {}", short(found.idle_cycles), share(found.idle_cycles)),
        );
        if !found.left_out.is_empty() {
            let names: Vec<String> =
                found.left_out.iter().map(|kind| shortened(kind, 30).into_owned()).collect();
            fact_ui(ui, "Hidden, and left out here", &capitalised(&names.join(", ")));
        }
    }
}
