//! The memory of all tiles in one bar: what each category has for itself, what shares addresses, gaps, what is free.

use eframe::egui::{self, Color32, Rect, Sense, Vec2};

use crate::analysis::memory::capacity::{Capacity, PartOf};
use crate::ui::report::category_colors::{family, family_title};
use crate::ui::theme::{Family, Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bar::{Bar, hatch};
use crate::ui::widget::legend::{Patch, sized_label_ui};

/// Height of the bar, points.
const BAR: f32 = 26.0;

/// A part of the bar as it is shown: categories of a family are one.
struct BarPart {
    title: String,
    bytes: u64,
    color: Color32,
    is_hatched: bool,
}

pub fn capacity_ui(ui: &mut egui::Ui, capacity: &Capacity) {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    let parts = shown(capacity, &tokens);
    let used = capacity.used_bytes;
    let percent = used as f64 * 100.0 / capacity.capacity_bytes.max(1) as f64;
    ui.horizontal(|ui| {
        ui.label(fonts::number(format!("Used {}, {percent:.1} %", units.bytes(used))));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.label(fonts::number(format!("Capacity {}", units.bytes(capacity.capacity_bytes))));
        });
    });
    let size = Vec2::new(ui.available_width(), BAR);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let whole = used.max(capacity.capacity_bytes);
    let bar: Vec<(u64, Color32)> = parts.iter().map(|part| (part.bytes, part.color)).collect();
    let limit = Some(capacity.capacity_bytes);
    Bar { parts: &bar, whole, limit }.paint(ui.painter(), rect, &tokens);
    let mut from = 0_u64;
    let x = |bytes: u64| rect.left() + rect.width() * (bytes as f64 / whole.max(1) as f64) as f32;
    for part in &parts {
        let to = from.saturating_add(part.bytes);
        let area = Rect::from_x_y_ranges(x(from)..=x(to), rect.y_range());
        if part.is_hatched {
            ui.painter().rect_filled(area, 0, tokens.surface);
            hatch(ui.painter(), area, tokens.gap);
        }
        let is_hovered = response.hover_pos().is_some_and(|at| area.contains(at));
        if is_hovered {
            let text = format!("{}: {}", part.title, units.exact(part.bytes));
            response.clone().on_hover_text(text);
        }
        from = to;
    }
    response.widget_info(|| {
        let text = format!(
            "Memory used: {} of {}",
            units.bytes(used),
            units.bytes(capacity.capacity_bytes)
        );
        egui::WidgetInfo::labeled(egui::Role::Meter, true, text)
    });
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::new(14.0, 3.0);
        for part in &parts {
            let patch = if part.is_hatched {
                Patch::Hatch(tokens.gap)
            } else {
                Patch::Area(part.color, part.color)
            };
            sized_label_ui(ui, patch, &part.title, &units.bytes(part.bytes));
        }
        let free = capacity.free_bytes();
        if free > 0 {
            let patch = Patch::Area(tokens.raised, tokens.border);
            sized_label_ui(ui, patch, "Free", &units.bytes(free));
        }
    });
}

fn shown(capacity: &Capacity, tokens: &Tokens) -> Vec<BarPart> {
    let mut parts: Vec<(Family, u64)> = Vec::new();
    let mut rest = Vec::new();
    for (part, bytes) in &capacity.parts {
        let (title, color, is_hatched) = match part {
            PartOf::Category(name) => {
                let family = family(name);
                match parts.iter_mut().find(|(known, _)| *known == family) {
                    Some((_, sum)) => *sum = sum.saturating_add(*bytes),
                    None => parts.push((family, *bytes)),
                }
                continue;
            }
            PartOf::AlwaysLive => ("Always live", tokens.always_live, false),
            PartOf::Shared => ("Not always live, sharing addresses", tokens.temporary, false),
            PartOf::Gaps => ("Gaps", tokens.gap, true),
        };
        rest.push(BarPart { title: title.to_owned(), bytes: *bytes, color, is_hatched });
    }
    parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let of_family = |(family, bytes): (Family, u64)| BarPart {
        title: family_title(family).to_owned(),
        bytes,
        color: tokens.family(family),
        is_hatched: false,
    };
    parts.into_iter().map(of_family).chain(rest).filter(|part| part.bytes > 0).collect()
}
