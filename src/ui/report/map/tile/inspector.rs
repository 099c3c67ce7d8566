//! The inspector of one tile: the selected variable, what lies around the limit at the step, why memory ends where
//! it does, and where to go from there.

use eframe::egui::{self, Align2, Mesh, Pos2, Rect, RichText, Sense, Shape, Stroke, Vec2};

use super::RunTile;
use super::kinds::VariableKinds;
use super::paint::OverLimitShapes;
use super::words::{category, life, pretty_name};
use crate::analysis::liveness::Scope;
use crate::analysis::placement::gaps::largest_range;
use crate::analysis::program::steps::name as step_name;
use crate::text::{counted, grouped, shortened};
use crate::ui::command::Command;
use crate::ui::report::map::{MapView, limit_around_ui};
use crate::ui::report::moment::step_id;
use crate::ui::report::room::room_box_ui;
use crate::ui::report::variable_details::{ShownDetails, WantedVariable};
use crate::ui::report::{PageContext, more_ui};
use crate::ui::runs::{Run, StepAt};
use crate::ui::selection::Jump;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::inspector::{fact_ui, title_ui, words_ui};
use crate::ui::widget::sign::Sign;

/// Height of the lens with its labels, and of its bar, points.
const LENS: f32 = 62.0;
const BAR: f32 = 24.0;
/// Least width of a block there that is told apart from the one before it, points.
const LEAST_APART: f32 = 3.0;
/// Least width with three columns, points.
const WIDE: f32 = 560.0;
/// Of what lies where something had no room, how many are named.
const MOST_CLASHES: usize = 6;
/// Longest raw name.
const NAME: usize = 120;

pub struct Inspected<'a> {
    pub run: &'a Run,
    pub tile: &'a RunTile,
    pub kinds: &'a VariableKinds,
    /// The chosen variable, else that which ends highest at the step.
    pub row: Option<u32>,
    pub is_chosen: bool,
    pub has_tiles: bool,
}

impl Inspected<'_> {
    /// Draws it; returns the way to another map.
    pub fn ui(
        &self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        details: &mut ShownDetails,
    ) -> Option<MapView> {
        let units = Units::now(ui);
        let facts = self.row.map_or_else(Vec::new, |row| self.facts(row, units));
        // Under a picture it is wide and low.
        if ui.available_width() < WIDE {
            self.title_ui(ui, units);
            facts_ui(ui, &facts);
            self.details_ui(ui, &facts, details);
            self.lens_ui(ui, units);
            self.why_ui(ui, units);
            ui.add_space(4.0);
            return self.links_ui(ui, page, &facts);
        }
        ui.columns_const(|[left, middle, right]| {
            self.title_ui(left, units);
            self.lens_ui(left, units);
            facts_ui(middle, &facts);
            self.details_ui(middle, &facts, details);
            self.why_ui(right, units);
            self.links_ui(right, page, &facts)
        })
    }

    /// What else is known of the variable.
    fn details_ui(
        &self,
        ui: &mut egui::Ui,
        facts: &[(&'static str, String)],
        details: &mut ShownDetails,
    ) {
        let placements = &self.tile.data.placed.placements;
        let variable = self.row.and_then(|row| placements.get(row as usize)?.unlowered);
        let Some(variable) = variable else { return };
        let said: Vec<&str> = facts.iter().map(|(name, _)| *name).collect();
        details.ui_but(ui, self.run, WantedVariable::Numbered(variable), &said);
    }

    /// What it is of, and whether it ends above the limit.
    fn title_ui(&self, ui: &mut egui::Ui, units: Units) {
        let Some(row) = self.row else {
            let arena = self.tile.data.report.arena_title(self.tile.data.arena);
            title_ui(ui, "Nothing is placed here", &arena, "");
            return;
        };
        let (name, _) = pretty_name(&self.tile.of, row);
        let item = self.run.report.system.item_in_text;
        let kind = if self.is_chosen {
            format!("Selected {item}")
        } else if self.is_without_room(row) {
            "It had no room".to_owned()
        } else {
            format!("Highest {item}")
        };
        title_ui(ui, &kind, &shortened(&name, NAME), &self.life_title(row));
        self.verdict_ui(ui, row, units);
        self.no_room_ui(ui, row, units);
    }

    fn limit(&self) -> Option<u64> {
        self.tile.data.map.limit
    }

    fn life_title(&self, row: u32) -> String {
        let data = &self.tile.data;
        let Some(variable) = data.placed.placements.get(row as usize) else { return String::new() };
        let is_always = life(&data.report, variable) == "Always";
        let system = &data.report.system;
        let life =
            if is_always { system.always_live_in_text } else { system.not_always_live_in_text };
        let category = category(&data.report, variable);
        if category.eq_ignore_ascii_case(life) { category } else { format!("{category}, {life}") }
    }

    fn is_without_room(&self, row: u32) -> bool {
        self.tile.data.placed.without_room == Some(row)
    }

    /// Of what had no room, by how much it reaches into others, or over the limit.
    fn no_room_ui(&self, ui: &mut egui::Ui, row: u32, units: Units) {
        let Some(bytes) = self.tile.data.bytes_of(row).filter(|_| self.is_without_room(row)) else {
            return;
        };
        let clashes = &self.tile.of.clashes;
        let lowest = clashes.iter().map(|clash| clash.bytes.start).min();
        let (over, where_to) = match (lowest, self.limit()) {
            (Some(lowest), _) => {
                let count = counted(clashes.len() as u64, self.run.report.system.item_in_text);
                (bytes.end.saturating_sub(lowest), format!("into {count}"))
            }
            (None, Some(limit)) if bytes.end > limit => {
                (bytes.end - limit, "over what there is".to_owned())
            }
            _ => return,
        };
        let answer = (Sign::Over, format!("Reaches {} {where_to}", units.bytes(over)));
        room_box_ui(ui, self.run, false, answer, |_| {});
        ui.add_space(4.0);
        for clash in clashes.iter().take(MOST_CLASHES) {
            let (name, _) = pretty_name(&self.tile.of, clash.row);
            let from = units.bytes(bytes.end.saturating_sub(clash.bytes.start));
            fact_ui(ui, &shortened(&name, NAME), &format!("begins {from} too low"));
        }
        more_ui(ui, clashes.len(), MOST_CLASHES);
        ui.add_space(4.0);
    }

    /// The limit, where the end of what is placed says how much is free below it.
    fn limit_of_end(&self) -> Option<u64> {
        self.limit().filter(|_| !self.tile.data.map.is_filled_from_both_ends)
    }

    /// Whether the variable ends above the limit, in a box.
    fn verdict_ui(&self, ui: &mut egui::Ui, row: u32, units: Units) {
        let (Some(limit), Some(bytes)) = (self.limit_of_end(), self.tile.data.bytes_of(row)) else {
            return;
        };
        let answer = match bytes.end.checked_sub(limit).filter(|over| *over > 0) {
            Some(over) => (Sign::Over, format!("Ends {} over", units.bytes(over))),
            None => {
                let free = units.bytes(limit - bytes.end);
                (Sign::Fits, format!("Ends {free} below the limit"))
            }
        };
        room_box_ui(ui, self.run, false, answer, |ui| {
            let of = format!("{} of {}", units.bytes(bytes.end), units.bytes(limit));
            ui.label(fonts::caption(of).color(Tokens::now(ui).weak_text));
        });
        ui.add_space(4.0);
    }

    fn facts(&self, row: u32, units: Units) -> Vec<(&'static str, String)> {
        let data = &self.tile.data;
        let Some(variable) = data.placed.placements.get(row as usize) else { return Vec::new() };
        let bytes = variable.offset..variable.end();
        let mut facts = vec![
            ("Address", units.bytes(bytes.start)),
            ("Size", units.bytes(variable.bytes)),
            ("End", units.bytes(bytes.end)),
            ("Alive", life(&data.report, variable)),
        ];
        if let Some(start) = data.report.target.get().and_then(|target| target.interleaved_start) {
            let region = match (bytes.start >= start, bytes.end > start) {
                (true, _) => "interleaved",
                (false, true) => "across both",
                (false, false) => "non-interleaved",
            };
            facts.push(("Region", region.to_owned()));
        }
        if data.is_complete && variable.alignment > 0 {
            facts.push(("Alignment", format!("{} B", grouped(variable.alignment))));
        }
        if let Some(operation) = self.tile.of.operation(row) {
            facts.push(("Operation", shortened(&operation.name, NAME).into_owned()));
            let proportion = operation.proportion.map(|proportion| proportion.to_string());
            facts.extend(proportion.map(|proportion| ("Proportion", proportion)));
        }
        facts.push(("Recorded name", shortened(data.name(row), NAME).into_owned()));
        facts
    }

    /// The last addresses at the step, as a bar.
    fn lens_ui(&self, ui: &mut egui::Ui, units: Units) {
        let (Some(limit), Some(at_step)) = (self.limit_of_end(), &self.tile.at_step) else {
            return;
        };
        let tokens = Tokens::now(ui);
        line(ui);
        let step = step_id(&self.run.report, at_step.step);
        let title = RichText::new(format!(
            "Around the limit, {} {step}",
            self.run.report.system.step_in_text
        ));
        ui.label(title.font(fonts::semibold(13.0)));
        let (area, response) =
            ui.allocate_exact_size(Vec2::new(ui.available_width(), LENS), Sense::hover());
        let over = at_step.used.end.saturating_sub(limit);
        let above = over.saturating_mul(2).max(limit / 80).max(1);
        let start = limit.saturating_sub(above.saturating_mul(4));
        let span = (limit - start + above) as f64;
        let bar =
            Rect::from_min_size(area.min + Vec2::new(0.0, 16.0), Vec2::new(area.width(), BAR));
        let x = |address: u64| {
            let along = address.saturating_sub(start) as f64 / span;
            bar.left() + bar.width() * along.clamp(0.0, 1.0) as f32
        };
        let painter = ui.painter();
        painter.rect_filled(bar, 2, tokens.page);
        // Thousands of blocks may lie there: those that add less than half of a point are part of the next one.
        let mut drawn = bar.left();
        let (mut blocks, mut edges) = (Mesh::default(), Mesh::default());
        let mut painted = OverLimitShapes::begin(ui.ctx());
        for block in at_step.map.blocks.iter().filter(|block| block.end > start) {
            let kind = self.tile.kinds.get(block.row as usize).copied().flatten();
            let (left, right) = (x(block.offset), x(block.end));
            let Some(kind) = kind.filter(|_| right - drawn >= 0.5) else { continue };
            let left = if left - drawn < 0.5 { drawn } else { left };
            drawn = right;
            let part = Rect::from_x_y_ranges(left..=right, bar.y_range());
            blocks.add_colored_rect(part, self.kinds.fill(tokens, kind));
            if part.width() >= LEAST_APART {
                edges.add_colored_rect(part.with_max_x(left + 1.0), tokens.surface);
            }
            if block.end > limit {
                painted.add(part.with_min_x(x(limit).max(left)), tokens);
            }
        }
        painter.add(Shape::mesh(blocks));
        painted.paint(painter);
        painter.add(Shape::mesh(edges));
        let at = x(limit);
        let tick = Rect::from_x_y_ranges(at - 1.0..=at + 1.0, bar.top() - 4.0..=bar.bottom() + 4.0);
        painter.rect_filled(tick, 0, tokens.ink);
        let mut right = (at + 2.0).min(area.right());
        if over > 0 {
            let text = format!("+{}", units.bytes(over));
            let text = painter.layout_no_wrap(text, fonts::medium(11.0), tokens.over);
            let left = (at + 6.0).min(area.right() - text.size().x);
            painter.galley(Pos2::new(left, area.top()), text, tokens.over);
            right = left - 6.0;
        }
        let text = format!("Limit {}", units.bytes(limit));
        let above = Pos2::new(right, area.top());
        painter.text(above, Align2::RIGHT_TOP, text, fonts::medium(11.0), tokens.text);
        let below = Pos2::new(bar.left(), bar.bottom() + 5.0);
        let (font, color) = (fonts::regular(11.0), tokens.third_text);
        let first = painter.text(below, Align2::LEFT_TOP, units.bytes(start), font.clone(), color);
        // What ends before the bar begins has no place below it.
        if at_step.used.end >= start {
            let end = x(at_step.used.end);
            painter.vline(end, bar.bottom()..=bar.bottom() + 5.0, Stroke::new(1.0, color));
            let text = format!("Ends at {}", units.bytes(at_step.used.end));
            let text = painter.layout_no_wrap(text, font, color);
            let most = (area.right() - text.size().x).max(first.right() + 8.0);
            let left = (end - text.size().x / 2.0).clamp(first.right() + 8.0, most);
            painter.galley(Pos2::new(left, below.y), text, color);
        }
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Around the limit");
            info.current_text_value = Some(format!("ends at {}", units.exact(at_step.used.end)));
            info
        });
    }

    /// What memory is taken up by at the step, and what follows from it.
    fn why_ui(&self, ui: &mut egui::Ui, units: Units) {
        let Some(at_step) = &self.tile.at_step else { return };
        let (used, step) = (&at_step.used, step_id(&self.run.report, at_step.step));
        line(ui);
        let limit = self.limit();
        let is_over = limit.is_some_and(|limit| used.end > limit);
        let title = if is_over { "Why is it over?" } else { "What is alive" };
        ui.label(RichText::new(title).font(fonts::semibold(13.0)));
        let text = match limit.filter(|_| is_over) {
            Some(limit) if used.alive > limit => format!(
                "{} more is alive than fits, however it is placed",
                units.bytes(used.alive - limit)
            ),
            Some(_) => format!(
                "What is alive would fit. It ends higher because {} are free here but taken at other steps, and {} are gaps",
                units.bytes(used.free),
                units.bytes(used.gaps)
            ),
            None => String::new(),
        };
        if !text.is_empty() {
            words_ui(ui, RichText::new(text).size(fonts::size::TABLE).weak());
        }
        let alive = format!("Alive at {} {step}", self.run.report.system.step_in_text);
        fact_ui(ui, &alive, &units.bytes(used.alive));
        let facts = match limit.filter(|_| at_step.map.is_filled_from_both_ends) {
            Some(limit) => [
                ("Free", limit.saturating_sub(used.alive)),
                ("Largest free range", largest_range(&at_step.map.gaps)),
                ("Limit", limit),
            ],
            None => [
                ("Gaps", used.gaps),
                ("Free here, taken at others", used.free),
                ("End of memory", used.end),
            ],
        };
        for (name, bytes) in facts {
            fact_ui(ui, name, &units.bytes(bytes));
        }
        if limit.is_none() {
            let around = Scope::around(&self.run.report, self.tile.data.arena);
            limit_around_ui(ui, self.run, around, units);
        }
        if let Some(name) = step_name(&self.run.report, None, at_step.step) {
            fact_ui(ui, &format!("{} {step}", self.run.report.system.step), &shortened(name, NAME));
        }
    }

    fn links_ui(
        &self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        facts: &[(&'static str, String)],
    ) -> Option<MapView> {
        let mut way = None;
        ui.horizontal_wrapped(|ui| {
            let at_step = self.tile.at_step.as_ref().map(|at_step| at_step.step);
            if let Some(step) = at_step
                && ui.button("Lifetime in Liveness").clicked()
            {
                if let Some(name) = self.row.and_then(|row| self.tile.data.unlowered_name(row)) {
                    page.selection.select_variable(Some(name));
                }
                let at = StepAt { run: self.run.id, step };
                page.commands.push(Command::GoTo(Jump::Step(at)));
            }
            if self.has_tiles && ui.button("Show all tiles").clicked() {
                way = Some(MapView::AllTiles);
            }
            if !facts.is_empty() && ui.button("Copy facts").clicked() {
                let lines = facts.iter().map(|(name, value)| format!("{name}: {value}\n"));
                ui.copy_text(lines.collect());
            }
        });
        way
    }
}

fn facts_ui(ui: &mut egui::Ui, facts: &[(&'static str, String)]) {
    for (name, value) in facts {
        fact_ui(ui, name, value);
    }
}

fn line(ui: &mut egui::Ui) {
    ui.add_space(4.0);
    ui.separator();
    ui.add_space(2.0);
}
