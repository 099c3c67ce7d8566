//! A program of XLA at a glance: what its memory is reserved for, and who owns the peak of what is temporary.

use eframe::egui;

use crate::store::hlo::AllocationKind;
use crate::systems::xla::buffer_assignment::insights::ProgramInsights;
use crate::systems::xla::buffer_assignment::program::kind_title;
use crate::text::{capitalised, clean, counted, grouped, shortened};
use crate::ui::command::{Command, Page};
use crate::ui::report::run_part::RunPart;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::card::card_ui;
use crate::ui::widget::inspector::part_ui;

/// Operations that are named.
const MOST_OPERATIONS: usize = 7;
/// Longest name.
const NAME: usize = 44;

/// What the memory is reserved for, and whose the temporary peak is, beside each other.
pub fn parts_ui(ui: &mut egui::Ui, found: &ProgramInsights, part: &mut RunPart<'_>) {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    let share = |bytes: u64, whole: u64| {
        let percent = bytes as f64 * 100.0 / whole.max(1) as f64;
        format!("{}, {percent:.0} %", units.bytes(bytes))
    };
    ui.columns_const(|[left, right]| {
        for space in found.large_spaces() {
            card_ui(left, &format!("What {} is for", space.in_text), |ui| {
                let whole = space.total_bytes;
                for (kind, bytes) in &space.by_kind {
                    let color = match kind {
                        AllocationKind::Temporary => tokens.temporary,
                        _ => tokens.always_live,
                    };
                    let bar = Bar { parts: &[(*bytes, color)], whole, limit: None };
                    let title = capitalised(kind_title(*kind));
                    part_ui(ui, &title, &share(*bytes, whole), &bar);
                }
            });
        }
        for space in found.large_spaces() {
            let Some(peak) = &space.peak else { continue };
            let step = peak.at.position as usize;
            let title = format!("Whose the temporary peak of {} is", space.in_text);
            card_ui(right, &title, |ui| {
                let owners = peak.by_operation.iter().filter(|owner| owner.bytes > 0);
                let mut owners: Vec<_> = owners.collect();
                let more = owners.len().saturating_sub(MOST_OPERATIONS);
                owners.truncate(MOST_OPERATIONS);
                for owner in owners {
                    let bar = [(owner.bytes, tokens.temporary)];
                    let bar = Bar { parts: &bar, whole: peak.at.bytes, limit: None };
                    let name = clean(&owner.name);
                    let title = shortened(&name, NAME);
                    part_ui(ui, &title, &share(owner.bytes, peak.at.bytes), &bar);
                }
                if more > 0 && ui.link(counted(more as u64, "more operation")).clicked() {
                    part.commands.push(Command::Go(Page::Insights));
                }
                if space.color == 0 && ui.link(format!("Step {}", grouped(step as u64))).clicked() {
                    part.show_step(step);
                }
            });
        }
    });
}
