//! The overview strip: everything at a glance, and the visible part between two handles.

use eframe::egui::{self, Color32, CursorIcon, Key, Pos2, Rect, Role, Sense, Stroke, Vec2};

use super::bins::{BinCache, BinValues};
use super::view::VisibleRange;
use crate::ui::theme::Tokens;

/// Height of the strip, points.
pub const HEIGHT: f32 = 24.0;
/// Width of a handle, points.
const HANDLE: f32 = 9.0;

pub struct Overview<'a> {
    /// The numbers, evenly over the axis.
    pub values: BinValues<'a>,
    pub len: usize,
    /// Added to each of them.
    pub base: u64,
    /// Changes when the numbers change.
    pub version: u64,
    pub top: u64,
    pub limit: Option<u64>,
    /// A position that is marked.
    pub selected: Option<usize>,
    pub cache: &'a mut BinCache,
}

/// Draws the strip in the width that is left; dragging moves the visible part or its ends.
pub fn overview_ui(ui: &mut egui::Ui, view: &mut VisibleRange, mut overview: Overview<'_>) {
    let len = overview.len;
    let size = Vec2::new(ui.available_width().max(60.0), HEIGHT);
    let (rect, strip) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let inner = rect.shrink2(Vec2::new(HANDLE / 2.0, 0.0));
    let (low, high) = VisibleRange::everything(len);
    let per_point = (high - low) / f64::from(inner.width().max(1.0));
    let x = |place: f64| inner.left() + ((place - low) / per_point) as f32;
    let tokens = Tokens::now(ui);

    paint_values(ui, inner, &mut overview, tokens.weak_text.gamma_multiply(0.55));
    paint_marks(ui, inner, &overview, x);
    let (start, end) = view.range(len);
    let window = Rect::from_x_y_ranges(x(start)..=x(end), rect.y_range());
    for aside in [
        Rect::from_x_y_ranges(inner.left()..=window.left(), rect.y_range()),
        Rect::from_x_y_ranges(window.right()..=inner.right(), rect.y_range()),
    ] {
        ui.painter().rect_filled(aside, 0, tokens.page.gamma_multiply(0.75));
    }
    ui.painter().hline(inner.x_range(), rect.bottom(), Stroke::new(1.0, tokens.border));

    if strip.dragged() && view.is_zoomed() {
        view.pan(len, f64::from(strip.drag_delta().x) * per_point);
    } else if strip.clicked()
        && let Some(pointer) = strip.interact_pointer_pos()
    {
        let center = low + f64::from(pointer.x - inner.left()) * per_point;
        view.pan(len, center - f64::midpoint(start, end));
    }
    if view.is_zoomed() {
        strip.on_hover_cursor(CursorIcon::Grab).on_hover_text("Drag to move the visible part");
    }
    for (title, at, is_start) in
        [("Start of the visible part", start, true), ("End of the visible part", end, false)]
    {
        let area =
            Rect::from_center_size(Pos2::new(x(at), rect.center().y), Vec2::new(HANDLE, HEIGHT));
        let handle = ui.interact(area, ui.scope_id().with(title), Sense::click_and_drag());
        let step = (end - start) / 50.0;
        let by_key = if handle.has_focus() {
            ui.memory_mut(|memory| {
                let filter = egui::EventFilter { horizontal_arrows: true, ..Default::default() };
                memory.set_focus_lock_filter(handle.id, filter);
            });
            ui.input(|input| {
                let pressed = |key| f64::from(u8::from(input.key_pressed(key)));
                (pressed(Key::ArrowRight) - pressed(Key::ArrowLeft)) * step
            })
        } else {
            0.0
        };
        let moved = f64::from(handle.drag_delta().x) * per_point + by_key;
        if moved != 0.0 {
            // An end stops before the other one.
            let (start, end) = view.range(len);
            if is_start {
                view.show(len, (start + moved).clamp(low, end - super::view::CLOSEST), end);
            } else {
                view.show(len, start, (end + moved).clamp(start + super::view::CLOSEST, high));
            }
            ui.request_repaint();
        }
        let is_active = handle.hovered() || handle.dragged() || handle.has_focus();
        let fill = if is_active { tokens.accent } else { tokens.surface };
        let body = area.shrink2(Vec2::new(1.5, 4.0));
        let stroke = Stroke::new(1.0, tokens.weak_text);
        ui.painter().vline(area.center().x, rect.y_range(), stroke);
        ui.painter().rect(body, 2, fill, stroke, egui::StrokeKind::Inside);
        handle.widget_info(|| {
            let mut info = egui::WidgetInfo::labeled(Role::Slider, true, title);
            info.value = Some(at);
            info
        });
        handle.on_hover_cursor(CursorIcon::ResizeHorizontal).on_hover_text(title);
    }
}

/// The limit, and where the selection is.
fn paint_marks(ui: &egui::Ui, inner: Rect, overview: &Overview<'_>, x: impl Fn(f64) -> f32) {
    let tokens = Tokens::now(ui);
    if let Some(limit) = overview.limit {
        let share = limit as f32 / (overview.top.max(1) as f32 * 1.05);
        if share <= 1.0 {
            let y = inner.bottom() - share * inner.height();
            ui.painter().hline(inner.x_range(), y, Stroke::new(1.0, tokens.ink));
        }
    }
    if let Some(selected) = overview.selected {
        let stroke = Stroke::new(1.5, tokens.accent);
        ui.painter().vline(x(selected as f64), inner.y_range(), stroke);
    }
}

fn paint_values(ui: &egui::Ui, inner: Rect, overview: &mut Overview<'_>, color: Color32) {
    let (low, high) = VisibleRange::everything(overview.values.len());
    let per_value = f64::from(inner.width()) / (high - low);
    let x = |place: f64| inner.left() + ((place - low) * per_value) as f32;
    let columns = inner.width().max(1.0) as usize;
    let top = overview.top.max(1) as f32 * 1.05;
    let mut mesh = egui::Mesh::default();
    for bin in overview.cache.get(overview.version, overview.values, (low, high), columns) {
        let height = bin.max.saturating_add(overview.base) as f32 / top * inner.height();
        let (left, right) = (x(bin.from as f64 - 0.5), x(bin.to as f64 - 0.5));
        let y = (inner.bottom() - height).max(inner.top())..=inner.bottom();
        mesh.add_colored_rect(Rect::from_x_y_ranges(left..=right, y), color);
    }
    ui.painter().add(egui::Shape::mesh(mesh));
}
