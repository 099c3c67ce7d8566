//! A picture of the window as SVG: the shapes of a pass, written one by one. Text stays text, in the fonts of the
//! window, of which those that are used are embedded with the letters of English. Other letters come from the reader's
//! fonts; `textLength` keeps every text as wide as in the window.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eframe::egui::epaint::{
    ClippedShape, ColorMode, Mesh, PathShape, RectShape, StrokeKind, TextShape, Vertex,
};
use eframe::egui::{Color32, ColorImage, Pos2, Rect, Shape, Stroke, TextureId, Vec2};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use super::fonts::Faces;
use super::scene::Scene;
use super::svg_path::{PathData, thinned};
use super::write::png;
use crate::text::xml_text;

/// Bytes that a picture of a curve should have at most.
const MOST_BYTES: usize = 60_000;
/// Widths of pixel columns, points; the wider ones make a picture of a restless curve small enough.
const COLUMNS: [u8; 3] = [1, 2, 4];

/// Writes a scene as a document that is read without the window's fonts.
pub fn document(scene: &Scene) -> String {
    let mut documents = COLUMNS.iter().map(|column| written(scene, Some(*column)));
    let finest = documents.next().unwrap_or_default();
    // Textures make a picture large, whatever its columns.
    if finest.len() <= MOST_BYTES || !scene.textures.is_empty() {
        return finest;
    }
    documents.find(|coarser| coarser.len() <= MOST_BYTES).unwrap_or(finest)
}

/// Writes a scene for a renderer that has the window's fonts and uses any number of pixels a point.
pub fn drawing(scene: &Scene) -> String {
    written(scene, None)
}

/// Writes a scene; with the width of a pixel column, as a document of its own.
fn written(scene: &Scene, column: Option<u8>) -> String {
    let (width, height) = (scene.whole.width(), scene.whole.height());
    let mut drawing = Drawing {
        text: String::new(),
        definitions: String::new(),
        clips: Vec::new(),
        patterns: Vec::new(),
        fonts: BTreeSet::new(),
        textures: &scene.textures,
        origin: scene.whole.min,
        lines_end: 0,
        column,
        clip: None,
    };
    drawing.shapes(&scene.shapes, scene.picture);
    drawing.shapes(&scene.caption, scene.whole);
    drawing.end_clip();
    let style = if column.is_some() { style_of(&drawing.fonts) } else { String::new() };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{}\">\n<defs>\n{style}{}</defs>\n\
         <rect width=\"{width}\" height=\"{height}\"{}/>\n{}</svg>\n",
        escaped(&Faces::of_window().regular_stack()),
        drawing.definitions,
        paint(scene.ground, Stroke::NONE),
        drawing.text
    )
}

/// The fonts that are used, as data.
fn style_of(fonts: &BTreeSet<usize>) -> String {
    let mut style = "<style>\n".to_owned();
    for face in fonts.iter().filter_map(|place| Faces::of_window().get(*place)) {
        let data = STANDARD.encode(face.in_pictures);
        let _ = writeln!(
            style,
            "@font-face{{font-family:\"{}\";src:url(data:font/woff2;base64,{data})}}",
            face.name
        );
    }
    style + "</style>\n"
}

struct Drawing<'a> {
    text: String,
    definitions: String,
    clips: Vec<Rect>,
    /// Textures that repeat, by what makes them.
    patterns: Vec<(TextureId, Color32, [u32; 4])>,
    /// Places of the fonts that are used.
    fonts: BTreeSet<usize>,
    textures: &'a HashMap<TextureId, Arc<ColorImage>>,
    origin: Pos2,
    /// Where the last path of lines ends in the text.
    lines_end: usize,
    /// The width of a pixel column, where paths are thinned to those.
    column: Option<u8>,
    /// The clip rectangle of the group that is being written.
    clip: Option<usize>,
}

impl Drawing<'_> {
    fn shapes(&mut self, shapes: &[ClippedShape], within: Rect) {
        for clipped in shapes {
            let clip = clipped.clip_rect.intersect(within);
            let clip = self.clip_of(clip);
            if self.clip != Some(clip) {
                self.end_clip();
                self.line(format_args!("<g clip-path=\"url(#c{clip})\">"));
                self.clip = Some(clip);
            }
            self.shape(&clipped.shape);
        }
    }

    fn end_clip(&mut self) {
        if self.clip.take().is_some() {
            self.text.push_str("</g>\n");
        }
    }

    /// The number of a clip rectangle.
    fn clip_of(&mut self, clip: Rect) -> usize {
        if let Some(index) = self.clips.iter().position(|known| *known == clip) {
            return index;
        }
        let at = clip.translate(-self.origin.to_vec2());
        let _ = writeln!(
            self.definitions,
            "<clipPath id=\"c{}\"><rect{}/></clipPath>",
            self.clips.len(),
            places_of(at)
        );
        self.clips.push(clip);
        self.clips.len() - 1
    }

    fn at(&self, pos: Pos2) -> Pos2 {
        pos - self.origin.to_vec2()
    }

    fn line(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing into a text does not fail.
        let _ = self.text.write_fmt(arguments);
        self.text.push('\n');
    }

    fn element(&mut self, name: &str, places: &[(&str, f32)], paint: &str) {
        let places = places.iter().map(|(name, place)| format!(" {name}=\"{}\"", short(*place)));
        self.line(format_args!("<{name}{}{paint}/>", places.collect::<String>()));
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| self.shape(shape)),
            Shape::Circle(circle) => {
                let center = self.at(circle.center);
                let places = [("cx", center.x), ("cy", center.y), ("r", circle.radius)];
                self.element("circle", &places, &paint(circle.fill, circle.stroke));
            }
            Shape::LineSegment { points: [a, b], stroke } => {
                let (a, b) = (self.at(*a), self.at(*b));
                self.segment([a, b].map(|at| [short(at.x), short(at.y)]), *stroke);
            }
            Shape::Path(path) => self.path(path),
            Shape::Rect(rect) => self.rect(rect),
            Shape::Text(text) => self.text(text),
            Shape::Mesh(mesh) => self.mesh(mesh),
            // Nothing that pages draw.
            _ => {}
        }
    }

    /// A line; those of a dashed line are one path.
    fn segment(&mut self, [[from_x, from_y], [to_x, to_y]]: [[f32; 2]; 2], stroke: Stroke) {
        let data = if is_same(from_y, to_y) {
            format!("M{from_x} {from_y}H{to_x}")
        } else if is_same(from_x, to_x) {
            format!("M{from_x} {from_y}V{to_y}")
        } else {
            format!("M{from_x} {from_y}L{to_x} {to_y}")
        };
        let end = format!("\"{}/>\n", paint(Color32::TRANSPARENT, stroke));
        let is_last = self.lines_end == self.text.len() && self.text.ends_with(&end);
        if is_last {
            self.text.truncate(self.text.len() - end.len());
        } else {
            self.text.push_str("<path d=\"");
        }
        self.text.push_str(&data);
        self.text.push_str(&end);
        self.lines_end = self.text.len();
    }

    fn rect(&mut self, rect: &RectShape) {
        let half = rect.stroke.width / 2.0;
        let at = match rect.stroke_kind {
            StrokeKind::Inside => rect.rect.shrink(half),
            StrokeKind::Middle => rect.rect,
            StrokeKind::Outside => rect.rect.expand(half),
        };
        let at = at.translate(-self.origin.to_vec2());
        let radius = match f32::from(rect.corner_radius.nw) {
            0.0 => String::new(),
            radius => format!(" rx=\"{radius}\""),
        };
        let paint = paint(rect.fill, rect.stroke);
        if at.width() >= 0.0 && at.height() >= 0.0 {
            self.line(format_args!("<rect{}{radius}{paint}/>", places_of(at)));
        }
    }

    fn path(&mut self, path: &PathShape) {
        let points: Vec<Pos2> = path.points.iter().map(|point| self.at(*point)).collect();
        let points = match self.column {
            Some(column) if !path.closed => thinned(&points, column),
            _ => points,
        };
        let points: Vec<String> =
            points.iter().map(|point| format!("{},{}", short(point.x), short(point.y))).collect();
        let color = match &path.stroke.color {
            ColorMode::Solid(color) => *color,
            ColorMode::UV(_) => return,
        };
        let paint = paint(path.fill, Stroke::new(path.stroke.width, color));
        let kind = if path.closed { "polygon" } else { "polyline" };
        self.line(format_args!("<{kind} points=\"{}\"{paint}/>", points.join(" ")));
    }

    fn mesh(&mut self, mesh: &Mesh) {
        match self.textures.get(&mesh.texture_id).cloned() {
            Some(image) if is_of_rects(mesh) => {
                for corners in mesh.vertices.chunks_exact(4) {
                    self.textured(mesh.texture_id, &image, corners);
                }
            }
            _ => self.colored(mesh),
        }
    }

    /// Rectangles and triangles, those of one color that follow one another as one path.
    fn colored(&mut self, mesh: &Mesh) {
        let rects: Option<Vec<(Color32, Rect)>> =
            mesh.vertices.chunks(4).map(|corners| self.upright(corners)).collect();
        if let Some(rects) = rects.filter(|rects| mesh.indices.len() == rects.len() * 6) {
            for alike in rects.chunk_by(|a, b| a.0 == b.0) {
                let Some((color, _)) = alike.first() else { continue };
                let rects: Vec<Rect> = alike.iter().map(|(_, rect)| *rect).collect();
                self.path_of(*color, &PathData::of_rects(&rects, self.column));
            }
            return;
        }
        let mut by_color: Vec<(Color32, PathData)> = Vec::new();
        for triangle in mesh.indices.chunks_exact(3) {
            let corners: Vec<&Vertex> =
                triangle.iter().filter_map(|index| mesh.vertices.get(*index as usize)).collect();
            let Some(color) = corners.first().map(|corner| corner.color) else { continue };
            if by_color.last().is_none_or(|(known, _)| *known != color) {
                by_color.push((color, PathData::default()));
            }
            let places = corners.iter().map(|corner| self.at(corner.pos));
            if let Some((_, data)) = by_color.last_mut() {
                data.polygon(places);
            }
        }
        for (color, data) in by_color {
            self.path_of(color, &data);
        }
    }

    /// The rectangle of one color that four corners are, in whichever order.
    fn upright(&self, corners: &[Vertex]) -> Option<(Color32, Rect)> {
        let [first, _, _, _] = corners else { return None };
        let rect =
            Rect::from_points(&corners.iter().map(|one| self.at(one.pos)).collect::<Vec<_>>());
        let is_one_of = |place: f32, [a, b]: [f32; 2]| is_same(place, a) || is_same(place, b);
        let is_corner = |one: &Vertex| {
            let at = self.at(one.pos);
            one.color == first.color
                && is_one_of(at.x, [rect.left(), rect.right()])
                && is_one_of(at.y, [rect.top(), rect.bottom()])
        };
        corners.iter().all(is_corner).then_some((first.color, rect))
    }

    fn path_of(&mut self, color: Color32, data: &PathData) {
        if !data.is_empty() && color != Color32::TRANSPARENT {
            let paint = paint(color, Stroke::NONE);
            self.line(format_args!("<path shape-rendering=\"crispEdges\" d=\"{data}\"{paint}/>"));
        }
    }

    /// A rectangle of a texture: the image, a part of it, or its repetition.
    fn textured(&mut self, id: TextureId, image: &ColorImage, corners: &[Vertex]) {
        let [first, .., last] = corners else { return };
        let rect = Rect::from_two_pos(self.at(first.pos), self.at(last.pos));
        let uv = Rect::from_two_pos(first.uv, last.uv);
        let size = Vec2::new(image.width() as f32, image.height() as f32);
        if !rect.is_positive() || !uv.is_positive() {
            return;
        }
        if Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0)).expand(1e-3).contains_rect(uv) {
            let Some(data) = data_of(image, first.color) else { return };
            let (at, part) = (uv.min.to_vec2() * size, uv.size() * size);
            self.line(format_args!(
                "<svg{} viewBox=\"{} {} {} {}\" preserveAspectRatio=\"none\">\
                 <image width=\"{}\" height=\"{}\" image-rendering=\"optimizeSpeed\" \
                 style=\"image-rendering:pixelated\" href=\"{data}\"/></svg>",
                places_of(rect),
                at.x,
                at.y,
                part.x,
                part.y,
                size.x,
                size.y
            ));
            return;
        }
        let tile = rect.size() / uv.size();
        let start = rect.min - (uv.min.to_vec2() * tile);
        let place = [start.x.rem_euclid(tile.x), start.y.rem_euclid(tile.y), tile.x, tile.y];
        let place = place.map(|number| (number * 16.0).round() / 16.0);
        let key = (id, first.color, place.map(f32::to_bits));
        let known = self.patterns.iter().position(|known| *known == key);
        let index = known.unwrap_or(self.patterns.len());
        if known.is_none() {
            let Some(data) = data_of(image, first.color) else { return };
            let [x, y, width, height] = place;
            let _ = writeln!(
                self.definitions,
                "<pattern id=\"p{index}\" patternUnits=\"userSpaceOnUse\" x=\"{x}\" y=\"{y}\" \
                 width=\"{width}\" height=\"{height}\"><image width=\"{width}\" height=\"{height}\" \
                 preserveAspectRatio=\"none\" href=\"{data}\"/></pattern>"
            );
            self.patterns.push(key);
        }
        self.line(format_args!("<rect{} fill=\"url(#p{index})\"/>", places_of(rect)));
    }

    /// The parts of each line that are alike.
    fn text(&mut self, text: &TextShape) {
        let sections = &text.galley.job.sections;
        let mut byte = 0;
        for row in &text.galley.rows {
            let mut parts: Vec<(usize, String, Pos2, f32)> = Vec::new();
            for glyph in &row.glyphs {
                let of = |section: &_| is_within(section, byte);
                let section = sections.iter().position(of).unwrap_or(sections.len().max(1) - 1);
                byte += glyph.chr.len_utf8();
                match parts.last_mut() {
                    Some((known, words, from, width)) if *known == section => {
                        words.push(glyph.chr);
                        *width = glyph.pos.x + glyph.advance_width - from.x;
                    }
                    _ => {
                        parts.push((section, glyph.chr.into(), glyph.pos, glyph.advance_width));
                    }
                }
            }
            byte += usize::from(row.ends_with_newline);
            for (section, words, from, width) in parts {
                let at = self.at(text.pos) + row.pos.to_vec2() + from.to_vec2();
                self.words(text, section, &words, at, width);
            }
        }
    }

    fn words(&mut self, text: &TextShape, section: usize, words: &str, at: Pos2, width: f32) {
        let format = text.galley.job.sections.get(section).map(|section| &section.format);
        let size = format.map_or(13.0, |format| format.font_id.size);
        let color = text.override_text_color.or(format.map(|format| format.color));
        let color = color.filter(|color| *color != Color32::PLACEHOLDER);
        let color = color.unwrap_or(text.fallback_color).gamma_multiply(text.opacity_factor);
        if words.trim().is_empty() || color == Color32::TRANSPARENT {
            return;
        }
        let paint = paint(color, Stroke::NONE);
        let face = format.and_then(|format| Faces::of_window().face(&format.font_id.family));
        // Most text is in the font of the document.
        let family =
            face.filter(|(_, face)| !face.is_regular()).map_or(String::new(), |(_, face)| {
                format!(" font-family=\"{}\"", escaped(&face.stack()))
            });
        self.fonts.extend(face.map(|(place, _)| place));
        let turned = match text.angle {
            0.0 => String::new(),
            angle => {
                let pivot = self.at(text.pos);
                format!(" transform=\"rotate({} {} {})\"", angle.to_degrees(), pivot.x, pivot.y)
            }
        };
        let [x, y, width] = [at.x, at.y, width].map(short);
        // Without it, space at the ends is dropped and space between is made one.
        let is_spaced = words.starts_with(' ') || words.ends_with(' ') || words.contains("  ");
        let space = if is_spaced { " xml:space=\"preserve\"" } else { "" };
        let words = escaped(words);
        self.line(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" textLength=\"{width}\"{family}{turned}\
             {paint}{space}>{words}</text>"
        ));
    }
}

fn is_within(section: &eframe::egui::text::LayoutSection, byte: usize) -> bool {
    let range = &section.byte_range;
    usize::from(range.start) <= byte && byte < usize::from(range.end)
}

fn is_same(a: f32, b: f32) -> bool {
    (a - b).abs() <= f32::EPSILON
}

/// Whether it has rectangles alone, four corners each in the order of `Mesh::add_colored_rect`.
fn is_of_rects(mesh: &Mesh) -> bool {
    let rects = mesh.vertices.len() / 4;
    let is_square = |corners: &[Vertex]| match corners {
        [a, b, c, d] => {
            let [a, b, c, d] = [a.pos, b.pos, c.pos, d.pos];
            is_same(a.y, b.y) && is_same(c.y, d.y) && is_same(a.x, c.x) && is_same(b.x, d.x)
        }
        _ => false,
    };
    mesh.vertices.len() == rects * 4
        && mesh.indices.len() == rects * 6
        && mesh.vertices.chunks_exact(4).all(is_square)
}

/// An image in a color, as the address that has it within.
fn data_of(image: &ColorImage, tint: Color32) -> Option<String> {
    let pixels = image
        .pixels
        .iter()
        .map(|pixel| if tint == Color32::WHITE { *pixel } else { *pixel * tint });
    let tinted = ColorImage::new(image.size, pixels.collect());
    Some(format!("data:image/png;base64,{}", STANDARD.encode(png(&tinted).ok()?)))
}

/// A number of two decimals: hundredths of a point are not seen.
fn short(number: f32) -> f32 {
    (number * 100.0).round() / 100.0
}

fn places_of(rect: Rect) -> String {
    let [x, y, width, height] =
        [rect.left(), rect.top(), rect.width().max(0.0), rect.height().max(0.0)].map(short);
    format!(" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

/// Fill and stroke as attributes.
fn paint(fill: Color32, stroke: Stroke) -> String {
    let color = |color: Color32| {
        let [r, g, b, alpha] = color.to_srgba_unmultiplied();
        (format!("#{r:02x}{g:02x}{b:02x}"), f32::from(alpha) / 255.0)
    };
    let mut text = String::new();
    match color(fill) {
        (_, 0.0) => text.push_str(" fill=\"none\""),
        (fill, 1.0) => text.push_str(&format!(" fill=\"{fill}\"")),
        (fill, alpha) => text.push_str(&format!(" fill=\"{fill}\" fill-opacity=\"{alpha:.3}\"")),
    }
    if stroke.width > 0.0 && stroke.color != Color32::TRANSPARENT {
        let (stroke_color, alpha) = color(stroke.color);
        text.push_str(&format!(" stroke=\"{stroke_color}\" stroke-width=\"{}\"", stroke.width));
        if alpha < 1.0 {
            text.push_str(&format!(" stroke-opacity=\"{alpha:.3}\""));
        }
    }
    text
}

/// A text that may stand between tags and in an attribute.
fn escaped(text: &str) -> String {
    xml_text(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::{self, CornerRadius, pos2, vec2};
    use resvg::usvg::roxmltree::Document;

    fn clipped(shape: Shape) -> ClippedShape {
        ClippedShape {
            clip_rect: Rect::EVERYTHING,
            transform_after_tessellation: egui::emath::TSTransform::IDENTITY,
            shape,
        }
    }

    fn scene(shapes: impl IntoIterator<Item = Shape>) -> Scene {
        let rect = Rect::from_min_size(pos2(100.0, 50.0), vec2(40.0, 30.0));
        Scene {
            shapes: shapes.into_iter().map(clipped).collect(),
            picture: rect,
            caption: Vec::new(),
            whole: rect,
            ground: Color32::WHITE,
            textures: HashMap::new(),
        }
    }

    #[test]
    fn shapes_become_elements_at_their_place() {
        let inside = Rect::from_min_size(pos2(105.0, 60.0), vec2(4.0, 5.0));
        let text = document(&scene([Shape::rect_filled(inside, CornerRadius::ZERO, Color32::RED)]));
        assert!(text.contains("<rect x=\"5\" y=\"10\" width=\"4\" height=\"5\""), "{text}");
        assert!(text.contains("fill=\"#ff0000\""), "{text}");
        assert!(text.contains("viewBox=\"0 0 40 30\""), "{text}");
    }

    #[test]
    fn textures_are_in_the_document() {
        let image = Arc::new(ColorImage::filled([2, 2], Color32::BLUE));
        let (map, hatch) = (TextureId::User(1), TextureId::User(2));
        let mut shown = Mesh::with_texture(map);
        let whole = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
        let place = Rect::from_min_size(pos2(105.0, 60.0), vec2(8.0, 8.0));
        shown.add_rect_with_uv(place, whole, Color32::WHITE);
        let mut repeated = Mesh::with_texture(hatch);
        let often = Rect::from_min_max(pos2(3.0, 3.0), pos2(7.0, 7.0));
        repeated.add_rect_with_uv(place, often, Color32::RED);
        let mut scene = scene([Shape::mesh(shown), Shape::mesh(repeated)]);
        scene.textures.extend([(map, Arc::clone(&image)), (hatch, image)]);
        let text = document(&scene);
        let document = Document::parse(&text).expect("well-formed");
        let has = |name: &str| document.descendants().any(|node| node.has_tag_name(name));
        assert!(has("image") && has("pattern"), "{text}");
    }

    #[test]
    fn no_text_makes_a_document_ill_formed() {
        assert_eq!(escaped("\u{202e}a\u{ffff}"), "\\u{202e}a");
        assert_eq!(escaped("<a & \"b\">\u{1}\u{9b}\u{7f}"), "&lt;a &amp; &quot;b&quot;&gt;");
        let context = egui::Context::default();
        context.set_fonts(crate::ui::theme::fonts::definitions());
        let nasty = "a\u{0}b\u{1b}[31m\u{fffe}\u{ffff}]]>&amp;\u{202e}<script>\"'";
        let mut shapes = Vec::new();
        let mut output = context.run_ui(egui::RawInput::default(), |ui| {
            let font = crate::ui::theme::fonts::semibold(12.0);
            let galley = ui.painter().layout_no_wrap(nasty.to_owned(), font, Color32::RED);
            shapes.push(Shape::galley(pos2(101.0, 51.0), galley, Color32::RED));
        });
        output.textures_delta.clear();
        for is_alone in [true, false] {
            let scene = scene(shapes.iter().cloned());
            let text = if is_alone { document(&scene) } else { drawing(&scene) };
            let document = Document::parse(&text).expect("well-formed");
            let words = document.descendants().find(|node| node.has_tag_name("text"));
            let words = words.and_then(|node| node.text()).unwrap_or_default();
            assert!(words.contains("<script>") && words.starts_with("ab"), "{words:?}");
            assert_eq!(text.contains("@font-face"), is_alone);
        }
    }
}
