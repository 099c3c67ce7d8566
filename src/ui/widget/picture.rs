//! Shared by pictures: textures, of which an earlier one stays, at its place, until the next one is there; what is said
//! of them to those who cannot see them, the focus, keys, texts on a ground, lines of rectangles.

use eframe::egui::epaint::FontsView;
use eframe::egui::text::LayoutJob;
use eframe::egui::{
    self, Align, Align2, Color32, ColorImage, EventFilter, FontId, Galley, Key, Mesh, Painter,
    Pos2, Rect, Response, Role, Shape, Stroke, StrokeKind, TextureHandle, TextureId,
    TextureOptions, WidgetInfo,
};
use std::sync::Arc;

use super::textures;
use crate::ui::job::{Cancel, Latest};
use crate::ui::theme::Tokens;

/// The texture of the image that is shown; another image is another `Arc`.
#[derive(Default)]
pub struct ImageTexture(Option<(Arc<ColorImage>, TextureHandle)>);

impl ImageTexture {
    pub fn of(&mut self, ui: &egui::Ui, name: &str, image: &Arc<ColorImage>) -> TextureId {
        let load = || ui.load_texture(name, Arc::clone(image), TextureOptions::NEAREST);
        let (shown, texture) = self.0.get_or_insert_with(|| (Arc::clone(image), load()));
        if !Arc::ptr_eq(shown, image) {
            texture.set(Arc::clone(image), TextureOptions::NEAREST);
            *shown = Arc::clone(image);
        }
        textures::remember(ui.ctx(), texture.id(), shown);
        texture.id()
    }
}

type MadePicture<V> = Option<(Arc<V>, Arc<ColorImage>)>;

/// An image that a job makes, with what the job knows of it.
pub struct ShownImage<K, V> {
    made: Latest<K, MadePicture<V>>,
    shown: Option<(K, Arc<V>, TextureId)>,
    texture: ImageTexture,
}

impl<K, V> Default for ShownImage<K, V> {
    fn default() -> Self {
        Self { made: Latest::default(), shown: None, texture: ImageTexture::default() }
    }
}

impl<K: Clone + PartialEq, V: Send + Sync + 'static> ShownImage<K, V> {
    /// Asks for the image of a key, and takes one that has come to the screen. Called in every frame.
    pub fn ask(
        &mut self,
        ui: &egui::Ui,
        name: &str,
        key: &K,
        make: impl FnOnce(&Cancel) -> Option<(V, ColorImage)> + Send + 'static,
    ) {
        self.made.ask(name, ui.ctx(), key, |cancel| {
            let (known, image) = make(cancel)?;
            Some((Arc::new(known), Arc::new(image)))
        });
        let Some((key, Some((known, image)))) = self.made.last() else { return };
        let is_shown = |(_, shown, _): &(K, Arc<V>, TextureId)| Arc::ptr_eq(shown, known);
        if !self.shown.as_ref().is_some_and(is_shown) && textures::has_room_in_frame(ui.ctx()) {
            let texture = self.texture.of(ui, name, image);
            self.shown = Some((key.clone(), Arc::clone(known), texture));
        }
    }

    /// What is on the screen, and the key that it was made for.
    pub fn shown(&self) -> Option<&(K, Arc<V>, TextureId)> {
        self.shown.as_ref()
    }

    /// Why there will be none.
    pub fn failure(&self) -> Option<&str> {
        self.made.failure()
    }

    /// Whether the last job could make none.
    pub fn is_impossible(&self) -> bool {
        self.made.last().is_some_and(|(_, made)| made.is_none())
    }
}

/// Paints all of a texture into a rectangle.
pub fn paint_texture(painter: &Painter, texture: TextureId, rect: Rect) {
    let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
    painter.image(texture, rect, whole, Color32::WHITE);
}

/// A text on a ground of its own; returns where it lies.
pub fn grounded_text(
    painter: &Painter,
    at: Pos2,
    align: Align2,
    text: &str,
    color: Color32,
) -> Rect {
    let galley = label_galley(painter, text, color);
    let rect = align.anchor_size(at, galley.size());
    paint_grounded(painter, rect, galley);
    rect
}

/// The text of a label in a picture, for what must know its size before it has a place.
pub fn label_galley(painter: &Painter, text: &str, color: Color32) -> Arc<Galley> {
    painter.layout_no_wrap(text.to_owned(), FontId::proportional(12.5), color)
}

/// Paints it, on a ground of its own.
pub fn paint_grounded(painter: &Painter, rect: Rect, galley: Arc<Galley>) {
    let ground = Tokens::of(painter.ctx().theme()).surface;
    painter.rect_filled(rect.expand2(egui::vec2(3.0, 1.0)), 2, ground);
    painter.galley(rect.min, galley, Color32::PLACEHOLDER);
}

/// The beginning of a text in the middle of a rectangle's left side, as far as there is room.
pub fn text_within(painter: &Painter, rect: Rect, text: String, size: f32, color: Color32) {
    let font = FontId::proportional(size);
    let text = painter.fonts_mut(|fonts| beginning(fonts, &font, text, rect.width()));
    let galley = painter.layout_job(LayoutJob::simple_singleline(text, font, color));
    let top = (rect.center().y - galley.size().y / 2.0).round();
    painter.galley(Pos2::new(rect.left(), top), galley, color);
}

/// A text as far as there is room, with an ellipsis where that is not all of it. Laying out whole texts to cut them
/// costs far more where there are hundreds whose room changes in every frame.
fn beginning(fonts: &mut FontsView<'_>, font: &FontId, mut text: String, room: f32) -> String {
    let ellipsis = fonts.glyph_width(font, '…');
    let (mut width, mut kept) = (0.0, 0);
    for (at, character) in text.char_indices() {
        if width + ellipsis <= room {
            kept = at;
        }
        width += fonts.glyph_width(font, character);
        if width > room {
            text.truncate(kept);
            if ellipsis <= room {
                text.push('…');
            }
            break;
        }
    }
    text
}

/// Adds a line along the edges of a rectangle, within it.
pub fn add_outline(mesh: &mut Mesh, rect: Rect, width: f32, color: Color32) {
    let inner = rect.shrink2(egui::Vec2::splat(width).min(rect.size() / 2.0));
    for edge in [
        rect.with_max_y(inner.top()),
        rect.with_min_y(inner.bottom()),
        rect.with_max_x(inner.left()),
        rect.with_min_x(inner.right()),
    ] {
        mesh.add_colored_rect(edge, color);
    }
}

/// Writes a sentence in the middle of a picture, wrapped to its width. If a word is wider than that, nothing is written.
pub fn message(painter: &Painter, rect: Rect, text: &str) {
    let color = Tokens::of(painter.ctx().theme()).weak_text;
    let font = FontId::proportional(14.0);
    let mut job = LayoutJob::simple(text.to_owned(), font, color, rect.width());
    job.halign = Align::Center;
    let galley = painter.layout_job(job);
    if galley.size().x <= rect.width() {
        let top = Pos2::new(rect.center().x, rect.center().y - galley.size().y / 2.0);
        painter.galley(top, galley, color);
    }
}

/// A limit as a dashed line across a frame, with its label above or below it, from the right, in the first place that is
/// free.
pub fn limit_line(
    painter: &Painter,
    frame: Rect,
    y: f32,
    text: &str,
    is_free: impl Fn(Rect) -> bool,
) {
    let ink = Tokens::of(painter.ctx().theme()).ink;
    let ends = [Pos2::new(frame.left(), y), Pos2::new(frame.right(), y)];
    painter.extend(Shape::dashed_line(&ends, Stroke::new(1.5, ink), 5.0, 3.0));
    let galley = label_galley(painter, text, ink);
    let (size, above) = (galley.size(), y - 3.0 - galley.size().y);
    let right = frame.right() - 4.0 - size.x;
    let columns = ((right - frame.left()) / 12.0).max(0.0) as i32;
    let place = |column: i32, top: f32| {
        Rect::from_min_size(Pos2::new(right - 12.0 * column as f32, top), size)
    };
    let mut places = [above, y + 3.0]
        .into_iter()
        .flat_map(|top| (0..=columns).map(move |column| place(column, top)));
    let free = places.find(|place| is_free(*place)).unwrap_or(place(0, above));
    paint_grounded(painter, free, galley);
}

/// Whether the pointer rests: hints come when it has, so that they do not flicker along.
#[derive(Default)]
pub struct Resting {
    at: Option<Pos2>,
    since: f64,
}

/// How long it must, seconds.
const REST: f64 = 0.4;

impl Resting {
    pub fn is_over(&mut self, ui: &egui::Ui, pointer: Option<Pos2>) -> bool {
        let now = ui.input(|input| input.time);
        if self.at != pointer {
            self.at = pointer;
            self.since = now;
        }
        let left = REST - (now - self.since);
        if left > 0.0 {
            ui.request_repaint_after(std::time::Duration::from_secs_f64(left));
        }
        left <= 0.0
    }
}

/// What the pointer learns, beside it; nothing while a menu lies there.
pub fn at_pointer_ui(response: &Response, add: impl FnOnce(&mut egui::Ui)) {
    if response.context_menu_opened() {
        return;
    }
    egui::Tooltip::for_widget(response).at_pointer().show(add);
}

/// What a picture says to those who cannot see it.
pub fn describe(response: &Response, name: &str, value: impl Fn() -> String) {
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::Canvas, true, name);
        info.current_text_value = Some(value());
        info
    });
}

/// A picture that is clicked has the keys, and shows by a line around `rect` that it has them.
pub fn focus(ui: &egui::Ui, response: &Response, rect: Rect, line: StrokeKind) {
    if response.clicked() || response.drag_started() {
        response.request_focus();
    }
    if response.has_focus() {
        let stroke = Stroke::new(1.0, Tokens::now(ui).accent);
        ui.painter().rect_stroke(rect, 0, stroke, line);
    }
}

/// The keys that are pressed, for a picture that has the focus; it keeps the arrows, the vertical ones only
/// where it knows them.
pub fn pressed_keys<'a>(
    ui: &'a egui::Ui,
    response: &Response,
    vertical_arrows: bool,
) -> impl Fn(Key) -> bool + use<'a> {
    let filter = EventFilter { horizontal_arrows: true, vertical_arrows, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    |key| ui.input(|input| input.modifiers.is_none() && input.key_pressed(key))
}

/// The position after or before the one that is chosen, where one of two keys asks for it; without a choice
/// the first or the last of all.
pub fn moved(
    pressed: impl Fn(Key) -> bool,
    [after, before]: [Key; 2],
    now: Option<usize>,
    count: usize,
) -> Option<usize> {
    let last = count.checked_sub(1)?;
    if pressed(after) {
        return Some(now.map_or(0, |now| (now + 1).min(last)));
    }
    pressed(before).then(|| now.map_or(last, |now| now.saturating_sub(1)))
}

/// The first or the last of all, where the keys Home and End ask for it.
pub fn to_end(pressed: impl Fn(Key) -> bool, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    if pressed(Key::Home) {
        return Some(0);
    }
    pressed(Key::End).then_some(last)
}

/// Keeps where the pointer is; of several pictures others may have been drawn before this was known.
pub fn link<T: PartialEq>(ui: &egui::Ui, known: &mut T, now: T, are_several: bool) {
    if *known != now {
        *known = now;
        if are_several {
            ui.request_repaint();
        }
    }
}
