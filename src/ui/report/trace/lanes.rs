//! The lanes of one run: its runs of the engine, each IPU with what is nested there, tiles, memory; one widget, so that
//! zoom, pan and selection are the same everywhere in it.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{self, Align2, Color32, Mesh, Pos2, Rect, Response, Sense, Shape, Vec2};

use super::axis::{RULER, ruler_ui, selected_range_ui};
use super::data::ReadRun;
use super::memory::{MEMORY, memory_ui};
use super::{ChosenNode, TracePage};
use crate::analysis::execution::lanes::{Lane, LaneNode, LaneOf, Lanes, Looks};
use crate::analysis::program::kinds::Activity;
use crate::store::System;
use crate::store::execution::BlockKind;
use crate::text::{counted, grouped, microseconds_text, shortened};
use crate::ui::report::PageContext;
use crate::ui::report::program_kind_colors::activity_color;
use crate::ui::theme::{Tokens, fonts, text_on};
use crate::ui::widget::flame::{FlameLook, Placing, paint_rows, range_at};
use crate::ui::widget::navigate::{Axis, navigate, navigate_by_key};
use crate::ui::widget::picture::{add_outline, describe, focus, pressed_keys, text_within};

/// Height of a row, points.
const ROW: f32 = 18.0;
/// Between lanes, points.
const GAP: f32 = 8.0;
/// Room for what lanes are called, points.
pub const GUTTER: f32 = 84.0;
/// Height of the headers of runs, points.
const RUNS: f32 = 18.0;
/// Longest name in a picture.
const NAME: usize = 80;

/// Where the parts of a run's picture lie, from the top down.
struct LaneRects {
    ruler: Rect,
    runs: Option<Rect>,
    lanes: Vec<Rect>,
    tiles: Option<Rect>,
    memory: Option<Rect>,
}

impl LaneRects {
    fn height(run: &ReadRun, lanes: &Lanes, tiles: f32) -> f32 {
        let of_lanes = lanes.lanes.iter().map(|lane| lane_height(lane) + GAP);
        let runs = if run.has_runs() { RUNS + GAP } else { 0.0 };
        let memory = if run.memory.is_empty() { 0.0 } else { MEMORY + GAP };
        let tiles = if tiles > 0.0 { tiles + GAP } else { 0.0 };
        RULER + runs + of_lanes.sum::<f32>() + tiles + memory
    }

    fn of(run: &ReadRun, lanes: &Lanes, tiles: f32, rect: Rect) -> Self {
        let mut top = rect.top();
        let mut next = |height: f32, gap: f32| {
            let part = Rect::from_x_y_ranges(rect.x_range(), top..=top + height);
            top += height + gap;
            part
        };
        Self {
            ruler: next(RULER, 0.0),
            runs: run.has_runs().then(|| next(RUNS, GAP)),
            lanes: lanes.lanes.iter().map(|lane| next(lane_height(lane), GAP)).collect(),
            memory: (!run.memory.is_empty()).then(|| next(MEMORY, GAP)),
            tiles: (tiles > 0.0).then(|| next(tiles, GAP)),
        }
    }
}

fn lane_height(lane: &Lane) -> f32 {
    lane.rows.rows().len().max(1) as f32 * ROW
}

impl ReadRun {
    fn has_runs(&self) -> bool {
        self.executed().is_some_and(|executed| !executed.trace.runs.is_empty())
    }
}

impl TracePage {
    pub fn run_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        read: &ReadRun,
        lanes: &Lanes,
        len: usize,
        room: f32,
    ) {
        let Some(run) = page.runs.iter().find(|run| run.id == read.run) else { return };
        let without = LaneRects::height(read, lanes, 0.0) + GAP;
        let tiles = self.tiles.height(read, room - without, page.runs.is_one());
        let height = LaneRects::height(read, lanes, tiles);
        let size = Vec2::new(ui.available_width(), height);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        let data = rect.with_min_x(rect.left() + GUTTER);
        let parts = LaneRects::of(read, lanes, tiles, data);
        let placing = |rect: Rect, view: &crate::ui::widget::view::VisibleRange| {
            let (from, to) = view.range(len);
            let start = read.cycles.start as f64 + 0.5;
            Placing { rect, from: start + from, to: start + to }
        };
        let now = placing(data, &self.view);
        self.interact(ui, &response, read, now, len);
        let now = placing(data, &self.view);
        let tokens = *Tokens::now(ui);
        let from_start = Placing {
            rect: parts.ruler,
            from: now.from - read.cycles.start as f64,
            to: now.to - read.cycles.start as f64,
        };
        ruler_ui(ui, from_start, self.unit, read.clock_hz);
        if let Some(rect) = parts.runs {
            runs_ui(ui, Placing { rect, ..now }, read);
            label_ui(ui, rect, "Runs", &tokens);
        }
        let pointer = response.hover_pos();
        for (lane, rect) in lanes.lanes.iter().zip(&parts.lanes) {
            let placing = Placing { rect: *rect, ..now };
            let hit = |at| range_at(placing, &lane.rows, ROW, at);
            let hovered = pointer.and_then(hit);
            self.lane_ui(ui, placing, read, lanes, lane, hovered);
            label_ui(ui, *rect, &lane_title(&read.report.system, lane.of), &tokens);
            let node = hovered.and_then(|number| lane.node(number));
            if let Some(node) = node.filter(|node| !matches!(node, LaneNode::Part(_))) {
                self.hovered = Some(ChosenNode { run: read.run, node });
            }
            if let Some(number) = hovered.filter(|_| response.clicked()) {
                self.click(page, read, lane, number, len);
            }
            self.marks_ui(ui, placing, page, read, lane);
        }
        if let Some(rect) = parts.tiles {
            label_ui(ui, rect, &self.tiles.title(read), &tokens);
            let (placing, selected) = (Placing { rect, ..now }, &mut *page.selection);
            self.tiles.picture_ui(ui, placing, page.runs, read, selected, &response);
        }
        if let Some(rect) = parts.memory {
            label_ui(ui, rect, "Not always live", &tokens);
            memory_ui(ui, Placing { rect, ..now }, read, pointer);
        }
        let cycle = |from_first: u64| from_first.saturating_add(read.cycles.start);
        selected_range_ui(ui, now, self.range.map(|(from, to)| (cycle(from), cycle(to))));
        self.keys(ui, page, &response, read, lanes);
        focus(ui, &response, rect, egui::StrokeKind::Inside);
        let of = if page.runs.is_one() { String::new() } else { format!(" of {}", run.the()) };
        let name = format!("Execution trace{of}");
        describe(&response, &name, || self.text_of_chosen(page, read));
    }

    /// What is chosen in a run, for those who cannot see it.
    fn text_of_chosen(&self, page: &PageContext<'_>, read: &ReadRun) -> String {
        let chosen = self.chosen.filter(|chosen| chosen.run == read.run);
        let selected = page.selection.steps.iter().filter(|at| at.run == read.run);
        let marked: usize = selected.map(|at| read.spans_of(at.step).len()).sum();
        let text = if let Some(chosen) = chosen {
            text_of(read, chosen.node)
        } else {
            let steps = read.executed().map_or(0, |executed| executed.trace.ids.len());
            format!("{} steps", grouped(steps as u64))
        };
        match marked {
            0 => text,
            marked => format!("{text}; {} marked", counted(marked as u64, "span")),
        }
    }

    fn interact(
        &mut self,
        ui: &egui::Ui,
        response: &Response,
        read: &ReadRun,
        now: Placing,
        len: usize,
    ) {
        let start = read.cycles.start;
        let on_ruler = |at: Pos2| at.y < now.rect.top() + RULER;
        let cycle = |at: Pos2| (now.place(at.x).max(start as f64) as u64 - start).min(len as u64);
        if response.drag_started()
            && let Some(at) = ui.input(|input| input.pointer.press_origin())
        {
            let is_selecting = ui.input(|input| input.modifiers.shift) || on_ruler(at);
            self.range_from = is_selecting.then(|| cycle(at));
        }
        if let (Some(from), Some(at)) = (self.range_from, response.interact_pointer_pos()) {
            let to = cycle(at);
            if response.dragged() && from != to {
                self.range = Some((from.min(to), from.max(to)));
            }
        }
        let per_point = now.per_point();
        let origin = f64::from(now.rect.left()) - (now.from - start as f64) / per_point;
        let axis = Axis { origin, per_point };
        let mut moved =
            navigate(ui, response, axis, &mut self.view, len, self.range_from.is_none());
        if response.drag_stopped() {
            self.range_from = None;
        }
        if response.double_clicked() {
            self.view.reset();
            moved = true;
        }
        if response.has_focus() {
            moved |= navigate_by_key(ui, &mut self.view, len);
        }
        if moved {
            ui.request_repaint();
        }
    }

    fn click(
        &mut self,
        page: &mut PageContext<'_>,
        read: &ReadRun,
        lane: &Lane,
        number: u32,
        len: usize,
    ) {
        match lane.node(number) {
            // What contains steps gets the whole width.
            Some(LaneNode::Part(_)) => {
                if let Some((start, end)) = lane.rows.get(number) {
                    let from = |cycle: u64| cycle.saturating_sub(read.cycles.start) as f64;
                    let room = (end - start) as f64 * 0.02;
                    self.view.show(len, from(start) - room, from(end) + room);
                    self.range = Some((start - read.cycles.start, end - read.cycles.start));
                }
            }
            Some(node) => self.choose(page, read, node),
            None => {}
        }
    }

    /// Arrows go from the chosen step to the one before and after it, in whatever row.
    fn keys(
        &mut self,
        ui: &egui::Ui,
        page: &mut PageContext<'_>,
        response: &Response,
        read: &ReadRun,
        lanes: &Lanes,
    ) {
        if !response.has_focus() {
            return;
        }
        let pressed = pressed_keys(ui, response, true);
        let is_after = match [egui::Key::ArrowRight, egui::Key::ArrowLeft].map(pressed) {
            [true, _] => true,
            [_, true] => false,
            _ => return,
        };
        let Some(executed) = read.executed() else { return };
        let now = self.chosen_of(read);
        let lane = match now {
            Some((node, _)) => lanes.lane_of(executed.trace, node),
            None => lanes.lanes.first(),
        };
        let Some(lane) = lane else { return };
        if let Some(node) = lane.beside(now, is_after).and_then(|number| lane.node(number)) {
            self.choose(page, read, node);
        }
    }

    /// What is chosen in a run, and where it begins.
    fn chosen_of(&self, read: &ReadRun) -> Option<(LaneNode, u64)> {
        let chosen = self.chosen.filter(|chosen| chosen.run == read.run)?;
        Some((chosen.node, chosen.node.start(read.executed()?.trace)?))
    }

    /// Chooses a span or a block.
    fn choose(&mut self, page: &mut PageContext<'_>, read: &ReadRun, node: LaneNode) {
        match node {
            LaneNode::Span(span) => self.choose_span(page, read, span),
            LaneNode::Block(_) => self.chosen = Some(ChosenNode { run: read.run, node }),
            LaneNode::Part(_) => {}
        }
    }

    fn lane_ui(
        &self,
        ui: &egui::Ui,
        placing: Placing,
        read: &ReadRun,
        lanes: &Lanes,
        lane: &Lane,
        hovered: Option<u32>,
    ) {
        let tokens = *Tokens::now(ui);
        let Some(executed) = read.executed() else { return };
        let part_fill = tokens.raised.lerp_to_gamma(tokens.always_live, 0.35);
        let fill = |tag: u8, depth: usize| match Looks::of(tag) {
            Looks::Does(activity) => activity_color(activity, &tokens),
            Looks::Block(kind) => block_color(kind, &tokens),
            Looks::Part => part_fill.lerp_to_gamma(tokens.raised, 0.12 * (depth % 3) as f32),
        };
        let name = |number: u32| match lane.node(number) {
            Some(LaneNode::Span(span)) => {
                let title = executed.title(executed.step_of(span));
                let last = title.rsplit('/').next().unwrap_or(title);
                shortened(last, NAME).into_owned()
            }
            Some(LaneNode::Block(row)) => block_title(read, row),
            Some(LaneNode::Part(part)) => {
                let text = lanes.parts.get(part as usize).map_or("", |part| part);
                shortened(text, NAME).into_owned()
            }
            None => String::new(),
        };
        let chosen = self.chosen_of(read).and_then(|(node, start)| lane.range_of(node, start));
        let look = FlameLook { row: ROW, fill: &fill, name: &name, text: None, chosen, hovered };
        let painter = ui.painter_at(placing.rect);
        painter.rect_filled(placing.rect, 0, tokens.raised.gamma_multiply(0.35));
        paint_rows(&painter, placing, &lane.rows, &look);
    }
}

/// What is chosen, in words.
fn text_of(read: &ReadRun, node: LaneNode) -> String {
    let Some(executed) = read.executed() else { return String::new() };
    let trace = executed.trace;
    let span = match node {
        LaneNode::Span(span) => span,
        LaneNode::Block(row) => {
            let tile = trace.blocks.get(row).map_or(0, |block| block.tile);
            return format!("{} on tile {tile}", block_title(read, row));
        }
        LaneNode::Part(_) => return String::new(),
    };
    let step = executed.step_of(span);
    let id = trace.ids.get(step).copied().unwrap_or(0);
    let cycles = trace.spans.cycles.get(span).copied().unwrap_or(0);
    let title = shortened(executed.title(step), NAME);
    format!(
        "Step {} {title}, {}, {} cycles",
        grouped(u64::from(id)),
        trace.kind(step),
        grouped(cycles)
    )
}

pub fn block_title(read: &ReadRun, row: usize) -> String {
    let block = read.executed().and_then(|executed| executed.trace.blocks.get(row));
    let Some(block) = block else { return String::new() };
    let title = BlockKind::of(block.kind).title();
    block.id.map_or_else(|| title.to_owned(), |id| format!("{title} {id}"))
}

fn block_color(kind: u8, tokens: &Tokens) -> Color32 {
    match BlockKind::of(kind) {
        BlockKind::Common => activity_color(Activity::Compute, tokens),
        BlockKind::StreamCopy => activity_color(Activity::StreamCopy, tokens),
        BlockKind::Overflow => tokens.note,
        _ => tokens.gap,
    }
}

fn lane_title(system: &System, of: LaneOf) -> String {
    match of {
        LaneOf::Device(ipu) => format!("{} {ipu}", system.device),
        LaneOf::OverlappedIo(_) => "Overlapped I/O".to_owned(),
        LaneOf::Blocks(tile) => format!("Tile {tile}"),
    }
}

fn label_ui(ui: &egui::Ui, rect: Rect, text: &str, tokens: &Tokens) {
    let at = Pos2::new(rect.left() - GUTTER, rect.top() + 2.0);
    let font = fonts::regular(fonts::size::CAPTION);
    ui.painter().text(at, Align2::LEFT_TOP, text, font, tokens.weak_text);
}

/// The headers of the runs of the engine.
fn runs_ui(ui: &egui::Ui, placing: Placing, read: &ReadRun) {
    let Some(executed) = read.executed() else { return };
    let (tokens, painter) = (Tokens::now(ui), ui.painter_at(placing.rect));
    let pixels = ui.pixels_per_point();
    let one = 1.0_f32.round_to_pixels(pixels);
    let (mut mesh, mut names) = (Mesh::default(), Vec::new());
    let mut painted_to = f32::NEG_INFINITY;
    for (recorded, cycles) in executed.trace.runs.iter().zip(&read.run_cycles) {
        let Some(cycles) = cycles else { continue };
        if (cycles.end as f64) < placing.from || cycles.start as f64 > placing.to {
            continue;
        }
        let (left, right) = (placing.x(cycles.start), placing.x(cycles.end));
        // Of many that fall onto one point one is drawn.
        if right <= painted_to + 1.0 {
            continue;
        }
        painted_to = right;
        let x = left..=(right - 1.0).max(left + 1.0);
        let rect = Rect::from_x_y_ranges(x, placing.rect.y_range()).round_to_pixels(pixels);
        mesh.add_colored_rect(rect, tokens.raised);
        add_outline(&mut mesh, rect, one, tokens.border);
        if rect.width() > 40.0 {
            let elapsed = recorded.elapsed_microseconds.map(microseconds_text);
            let elapsed = elapsed.map_or_else(String::new, |elapsed| format!(", {elapsed}"));
            let name = shortened(&recorded.name, NAME);
            names.push((rect, format!("Run {} {name}{elapsed}", recorded.id)));
        }
    }
    painter.add(Shape::mesh(mesh));
    for (rect, text) in names {
        let inside = rect.shrink2(Vec2::new(5.0, 0.0));
        text_within(&painter, inside, text, 12.0, text_on(tokens.raised));
    }
}
