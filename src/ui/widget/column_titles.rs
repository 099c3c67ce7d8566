//! The titles of a table's columns: a click sorts. In columns that stand close they have two lines.

use eframe::egui::{
    self, Align, Align2, FontId, Label, Layout, Pos2, Rect, RichText, Role, Sense, Vec2, WidgetInfo,
};
use std::borrow::Cow;

use super::column_widths::{BAR, BESIDE_BAR, fitted, percent_width, text_width};
use super::data_table_cells::{is_rest, is_within, more_ui};
use super::rows::TableColumn;
use crate::text::shortened;
use crate::ui::run_chips::paint_badge;
use crate::ui::theme::fonts::{self, size};
use crate::ui::theme::{ROW_HEIGHT, Tokens};

/// A column whose run has a badge says so in so much room at most.
const BADGED_TITLE: f32 = 92.0;
/// A badge with what is free after it.
const BADGE: f32 = 20.0;
/// The sign of sorting.
const SORT_SIGN: f32 = 16.0;
/// Most letters of a title.
const MOST: usize = 60;
/// The height of a title, and of a line of one that has two, points.
const TITLE: f32 = 16.0;
const LINE: f32 = 14.0;

/// The height of the titles of a table.
pub fn title_height(columns: &[TableColumn]) -> f32 {
    let have_two_lines = columns.iter().any(|column| column.is_dense);
    if have_two_lines { 2.0 * LINE + ROW_HEIGHT - TITLE } else { ROW_HEIGHT }
}

/// How much room a title takes, with the sign of sorting.
pub fn title_width(ui: &egui::Ui, column: &TableColumn) -> f32 {
    let title = shortened(column.short_title(), MOST);
    let lines = TitleLines::of(&title, column.is_dense);
    let [above, below] = lines.texts.map(|text| text_width(ui, text, &font()));
    match column.badge {
        Some(_) => BADGE + below.min(BADGED_TITLE) + SORT_SIGN,
        None if lines.is_sign_above => below.max(above + SORT_SIGN),
        None => above.max(below + SORT_SIGN),
    }
}

/// A title that sorts: first the largest on top, for texts the first on top; then the other way.
pub fn title_ui(
    ui: &mut egui::Ui,
    index: usize,
    column: &TableColumn,
    sort: Option<&mut Option<(usize, bool)>>,
) {
    let (tokens, font) = (*Tokens::now(ui), font());
    if let Some(bar) = &column.bar {
        let width = percent_width(ui, bar.of);
        let text = RichText::new(bar.of).font(font.clone()).color(tokens.third_text);
        let size = Vec2::new(width, ROW_HEIGHT);
        ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
            ui.set_min_size(size);
            ui.add(Label::new(text).extend().selectable(false));
        });
        ui.add_space(BAR + 2.0 * BESIDE_BAR - ui.spacing().item_spacing.x);
    }
    let direction = sort
        .as_ref()
        .and_then(|sort| sort.filter(|(by, _)| *by == index))
        .map(|(_, is_descending)| is_descending);
    let sign = match direction {
        Some(true) => " ▼",
        Some(false) => " ▲",
        None => "",
    };
    let badge = column.badge.as_ref().map(|(badge, _)| *badge);
    let sense = if sort.is_some() { Sense::click() } else { Sense::hover() };
    let before = if badge.is_some() { BADGE } else { 0.0 };
    let (place, seen) = (ui.available_rect_before_wrap().x_range(), ui.clip_rect().x_range());
    let is_figure = ui.layout().prefer_right_to_left();
    let end = if is_figure { place.max } else { place.max.min(seen.max) };
    let room = end - place.min - before;
    let title = shortened(column.short_title(), MOST);
    let lines = TitleLines::of(&title, column.is_dense);
    let whole = lines.with_sign(sign);
    let texts = whole.each_ref().map(|text| fitted(ui, text, &font, room));
    let needed = texts.iter().map(|(_, needed)| *needed).fold(0.0, f32::max);
    let texts = texts.map(|(text, _)| text);
    let is_cut = texts.iter().any(|text| matches!(text, Cow::Owned(_)));
    let color = if direction.is_some() { tokens.text } else { tokens.third_text };
    let width = texts.iter().map(|text| text_width(ui, text, &font)).fold(0.0, f32::max);
    let height = if column.is_dense { 2.0 * LINE } else { TITLE };
    let (rect, label) = ui.allocate_exact_size(Vec2::new(width.ceil() + before, height), sense);
    // As of the cells: what the edge of the table would cut is not drawn.
    let is_seen = is_within(rect.left()..=rect.right(), seen)
        && (is_figure || !is_rest(place, seen, needed + before));
    if !is_seen {
        more_ui(ui, place, seen, rect.center().y);
    }
    if let Some(badge) = badge.filter(|_| is_seen) {
        let place = Rect::from_min_size(rect.min, Vec2::splat(16.0));
        paint_badge(ui.painter(), place, badge, &tokens);
    }
    let color = if label.hovered() && sort.is_some() { tokens.text } else { color };
    let (x, align) = if column.is_number() || !column.is_dense {
        (rect.right(), Align2::RIGHT_CENTER)
    } else {
        (rect.left(), Align2::LEFT_CENTER)
    };
    let ys = if column.is_dense {
        [rect.top() + LINE / 2.0, rect.bottom() - LINE / 2.0]
    } else {
        [rect.center().y; 2]
    };
    for (text, y) in texts.into_iter().zip(ys).filter(|(text, _)| is_seen && !text.is_empty()) {
        ui.painter().text(Pos2::new(x, y), align, text, font.clone(), color);
    }
    let more = column.whole_title.as_deref().or(is_cut.then_some(&*column.title));
    let more = more.or(badge.map(|_| &*column.title));
    let more = [more, Some(column.rule).filter(|rule| !rule.is_empty())];
    let more: Vec<&str> = more.into_iter().flatten().collect();
    let more = (!more.is_empty()).then(|| more.join("\n"));
    let Some(sort) = sort else {
        label.widget_info(|| WidgetInfo::labeled(Role::Label, true, &column.title));
        if let Some(title) = more {
            label.on_hover_text(title);
        }
        return;
    };
    let name = format!("Sort by {}", column.title);
    label.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    if label.clicked() {
        let first = column.is_number();
        *sort = Some((index, direction.map_or(first, |is_descending| !is_descending)));
    }
    label.on_hover_text(match more {
        Some(title) => format!("{name}\n{title}"),
        None => name,
    });
}

fn font() -> FontId {
    fonts::medium(size::CAPTION)
}

/// A title as it is drawn: one that has one line has it below.
#[derive(Debug, PartialEq, Eq)]
struct TitleLines<'a> {
    texts: [&'a str; 2],
    /// Whether the sign of sorting stands in the line above: where there is more room.
    is_sign_above: bool,
}

impl<'a> TitleLines<'a> {
    fn of(title: &'a str, are_two: bool) -> Self {
        let letters = |text: &str| text.chars().count();
        let longest = |(above, below): &(&str, &str)| letters(above).max(letters(below));
        let broken = title.match_indices(' ').map(|(at, _)| title.split_at(at));
        let best = broken.map(|(above, below)| (above, below.trim_start())).min_by_key(longest);
        let (above, below) = best.filter(|_| are_two).unwrap_or(("", title));
        Self { texts: [above, below], is_sign_above: are_two && letters(above) < letters(below) }
    }

    fn with_sign(&self, sign: &str) -> [String; 2] {
        let [above, below] = self.texts;
        if self.is_sign_above {
            [format!("{above}{sign}"), below.to_owned()]
        } else {
            [above.to_owned(), format!("{below}{sign}")]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_broken_where_its_lines_are_shortest_and_the_sign_has_room() {
        let lines = |title| {
            let lines = TitleLines::of(title, true);
            lines.with_sign(" ▼")
        };
        assert_eq!(lines("Max allocated"), ["Max ▼", "allocated"]);
        assert_eq!(lines("Requested peak"), ["Requested", "peak ▼"]);
        assert_eq!(lines("Temporary in use"), ["Temporary", "in use ▼"]);
        assert_eq!(lines("Reserved"), [" ▼", "Reserved"]);
        assert_eq!(TitleLines::of("Max allocated", false).with_sign(" ▼"), ["", "Max allocated ▼"]);
    }
}
