//! The tooltip of a variable or a gap.

use eframe::egui::{self, Label, RichText};

use super::read::TileData;
use super::words::{addresses, category, life, reason_text, reason_title};
use crate::analysis::placement::gaps::Gap;
use crate::text::{grouped, shortened};
use crate::ui::report::tooltip_facts_ui;
use crate::ui::units::Units;

/// Longest name.
const NAME: usize = 160;
/// Longest name of a neighbor.
const NEIGHBOUR: usize = 56;

/// What lies at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// The variable of a row.
    Variable(u32),
    /// A gap, a position in those that are drawn.
    Gap(usize),
    Nothing,
}

pub fn hit_ui(ui: &mut egui::Ui, data: &TileData, gaps: &[Gap], hit: Hit) {
    match hit {
        Hit::Variable(row) => variable_ui(ui, data, row),
        Hit::Gap(place) => {
            if let Some(gap) = gaps.get(place) {
                gap_ui(ui, data, gap);
            }
        }
        Hit::Nothing => {}
    }
}

fn variable_ui(ui: &mut egui::Ui, data: &TileData, row: u32) {
    let Some(variable) = data.placed.placements.get(row as usize) else { return };
    let units = Units::now(ui);
    let title = RichText::new(shortened(data.name(row), NAME)).strong();
    ui.add(Label::new(title).wrap());
    let mut facts = vec![
        ("Bytes", units.exact(variable.bytes)),
        ("Addresses", addresses(variable.offset, variable.end())),
        ("Category", category(&data.report, variable)),
    ];
    if data.is_complete && variable.alignment > 0 {
        facts.push(("Alignment", format!("{} B", grouped(variable.alignment))));
    }
    facts.push(("Live", life(&data.report, variable)));
    if variable.flags.must_be_interleaved() {
        facts.push(("Place", "Must lie in interleaved memory".to_owned()));
    }
    for (title, constraints) in [
        ("Apart by element", &data.placed.element_constraints),
        ("Apart by region", &data.placed.region_constraints),
    ] {
        let from = constraints.get(row as usize).map_or(&[][..], Vec::as_slice);
        if let Some(first) = from.first() {
            let first = shortened(data.name(*first), NEIGHBOUR);
            let more = match from.len() {
                1 => String::new(),
                count => format!(" and {} more", grouped(count as u64 - 1)),
            };
            facts.push((title, format!("from {first}{more}")));
        }
    }
    let before = data.unlowered_name(row).filter(|name| name != data.name(row));
    if let Some(before) = before {
        facts.push((data.report.system.variable, shortened(&before, NEIGHBOUR).into_owned()));
    }
    tooltip_facts_ui(ui, "variable facts", &facts);
}

fn gap_ui(ui: &mut egui::Ui, data: &TileData, gap: &Gap) {
    let units = Units::now(ui);
    let title = format!("Gap of {}", units.exact(gap.size()));
    ui.label(RichText::new(title).strong());
    ui.add(Label::new(reason_text(data, gap)).wrap());
    let name = |row: Option<usize>, none: &str| {
        let name = row.and_then(|row| data.placed.names.at(row));
        name.map_or_else(|| none.to_owned(), |name| shortened(name, NEIGHBOUR).into_owned())
    };
    let facts = [
        ("Addresses", addresses(gap.bytes.start, gap.bytes.end)),
        ("Reason", reason_title(gap.reason, &data.report.system)),
        ("Before it", name(gap.before, "Nothing")),
        ("After it", name(gap.after, "Nothing")),
    ];
    tooltip_facts_ui(ui, "gap facts", &facts);
}
