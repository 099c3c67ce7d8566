//! A part of the window as SVG: the shapes of the last frame, written one by one. Text stays text.

use eframe::egui::epaint::{ClippedShape, ColorMode, Mesh, PathShape, TextShape};
use eframe::egui::{self, Color32, LayerId, Pos2, Rect, Shape, Stroke};
use std::fmt::Write as _;

/// The part of the window that was painted on its background, as an SVG document.
pub fn svg_of(ctx: &egui::Context, rect: Rect) -> String {
    ctx.graphics(|layers| {
        let shapes = layers.get(LayerId::background());
        svg(shapes.iter().flat_map(|list| list.all_entries()), rect)
    })
}

fn svg<'a>(shapes: impl Iterator<Item = &'a ClippedShape>, rect: Rect) -> String {
    let (width, height) = (rect.width(), rect.height());
    let mut drawing = Drawing { text: String::new(), clips: Vec::new(), rect };
    for clipped in shapes {
        let clip = clipped.clip_rect.intersect(rect);
        let bounds = clipped.shape.visual_bounding_rect();
        if clip.is_positive() && (bounds.intersects(clip) || !bounds.is_positive()) {
            let clip = drawing.clip(clip);
            let before = drawing.text.len();
            drawing.shape(&clipped.shape);
            if drawing.text.len() > before {
                drawing.text.insert_str(before, &format!("<g clip-path=\"url(#c{clip})\">\n"));
                drawing.text.push_str("</g>\n");
            }
        }
    }
    let mut clips = String::new();
    for (index, clip) in drawing.clips.iter().enumerate() {
        let at = clip.translate(-rect.min.to_vec2());
        let _ = writeln!(
            clips,
            "<clipPath id=\"c{index}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
            at.left(),
            at.top(),
            at.width(),
            at.height()
        );
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"Ubuntu, sans-serif\">\n<defs>\n{clips}</defs>\n{}</svg>\n",
        drawing.text
    )
}

struct Drawing {
    text: String,
    clips: Vec<Rect>,
    rect: Rect,
}

impl Drawing {
    /// The number of a clip rectangle.
    fn clip(&mut self, clip: Rect) -> usize {
        if let Some(index) = self.clips.iter().position(|known| *known == clip) {
            return index;
        }
        self.clips.push(clip);
        self.clips.len() - 1
    }

    fn at(&self, pos: Pos2) -> Pos2 {
        pos - self.rect.min.to_vec2()
    }

    fn line(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing into a text does not fail.
        let _ = self.text.write_fmt(arguments);
        self.text.push('\n');
    }

    fn element(&mut self, name: &str, places: &[(&str, f32)], paint: &str) {
        let places = places.iter().map(|(name, place)| format!(" {name}=\"{place}\""));
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
                let places = [("x1", a.x), ("y1", a.y), ("x2", b.x), ("y2", b.y)];
                self.element("line", &places, &paint(Color32::TRANSPARENT, *stroke));
            }
            Shape::Path(path) => self.path(path),
            Shape::Rect(rect) => {
                let (at, size) = (self.at(rect.rect.min), rect.rect.size());
                let radius = f32::from(rect.corner_radius.nw);
                let places = [("x", at.x), ("y", at.y), ("width", size.x), ("height", size.y)];
                let places = [&places[..], &[("rx", radius)]].concat();
                self.element("rect", &places, &paint(rect.fill, rect.stroke));
            }
            Shape::Text(text) => self.text(text),
            Shape::Mesh(mesh) => self.mesh(mesh),
            // Nothing that pages draw.
            _ => {}
        }
    }

    fn path(&mut self, path: &PathShape) {
        let points: Vec<String> = path
            .points
            .iter()
            .map(|point| self.at(*point))
            .map(|point| format!("{},{}", point.x, point.y))
            .collect();
        let color = match &path.stroke.color {
            ColorMode::Solid(color) => *color,
            ColorMode::UV(_) => return,
        };
        let paint = paint(path.fill, Stroke::new(path.stroke.width, color));
        let kind = if path.closed { "polygon" } else { "polyline" };
        self.line(format_args!("<{kind} points=\"{}\"{paint}/>", points.join(" ")));
    }

    /// Triangles of one colour as one path; textures are left out.
    fn mesh(&mut self, mesh: &Mesh) {
        let mut by_color: Vec<(Color32, String)> = Vec::new();
        for triangle in mesh.indices.chunks_exact(3) {
            let corners: Vec<_> =
                triangle.iter().filter_map(|index| mesh.vertices.get(*index as usize)).collect();
            let [first, ..] = corners[..] else { continue };
            let points: Vec<String> = corners
                .iter()
                .map(|corner| self.at(corner.pos))
                .map(|point| format!("{} {}", point.x, point.y))
                .collect();
            let path = format!("M{}Z", points.join("L"));
            match by_color.last_mut() {
                Some((color, paths)) if *color == first.color => paths.push_str(&path),
                _ => by_color.push((first.color, path)),
            }
        }
        for (color, path) in by_color {
            let paint = paint(color, Stroke::NONE);
            self.line(format_args!("<path shape-rendering=\"crispEdges\" d=\"{path}\"{paint}/>"));
        }
    }

    fn text(&mut self, text: &TextShape) {
        let section = text.galley.job.sections.first();
        let size = section.map_or(13.0, |section| section.format.font_id.size);
        let color = text.override_text_color.or(section.map(|section| section.format.color));
        let color = color.filter(|color| *color != Color32::PLACEHOLDER);
        let paint = paint(color.unwrap_or(text.fallback_color), Stroke::NONE);
        for row in &text.galley.rows {
            let Some(first) = row.glyphs.first() else { continue };
            let at = self.at(text.pos) + row.pos.to_vec2() + first.pos.to_vec2();
            let words = escaped(&row.text());
            let turned = match text.angle {
                0.0 => String::new(),
                angle => {
                    let pivot = self.at(text.pos);
                    format!(" transform=\"rotate({} {} {})\"", angle.to_degrees(), pivot.x, pivot.y)
                }
            };
            self.line(format_args!(
                "<text x=\"{}\" y=\"{}\" font-size=\"{size}\" textLength=\"{}\"{turned}{paint}>{words}</text>",
                at.x,
                at.y,
                row.size.x
            ));
        }
    }
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
    if stroke.width > 0.0 {
        let (stroke_color, alpha) = color(stroke.color);
        text.push_str(&format!(" stroke=\"{stroke_color}\" stroke-width=\"{}\"", stroke.width));
        if alpha < 1.0 {
            text.push_str(&format!(" stroke-opacity=\"{alpha:.3}\""));
        }
    }
    text
}

/// A text for XML; control characters, which it does not allow, are left out.
fn escaped(text: &str) -> String {
    let text: String = text.chars().filter(|character| !character.is_control()).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::{CornerRadius, pos2, vec2};

    #[test]
    fn shapes_become_elements_at_their_place() {
        let rect = Rect::from_min_size(pos2(100.0, 50.0), vec2(40.0, 30.0));
        let clipped = |shape| ClippedShape {
            clip_rect: Rect::EVERYTHING,
            transform_after_tessellation: egui::emath::TSTransform::IDENTITY,
            shape,
        };
        let inside = Rect::from_min_size(pos2(105.0, 60.0), vec2(4.0, 5.0));
        let outside = Rect::from_min_size(pos2(5.0, 6.0), vec2(4.0, 5.0));
        let shapes = [
            clipped(Shape::rect_filled(inside, CornerRadius::ZERO, Color32::RED)),
            clipped(Shape::rect_filled(outside, CornerRadius::ZERO, Color32::GREEN)),
        ];
        let text = svg(shapes.iter(), rect);
        assert!(text.contains("<rect x=\"5\" y=\"10\" width=\"4\" height=\"5\""), "{text}");
        assert!(text.contains("fill=\"#ff0000\"") && !text.contains("#00ff00"), "{text}");
        assert!(text.contains("viewBox=\"0 0 40 30\""), "{text}");
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escaped("<a & b>\u{1}"), "&lt;a &amp; b&gt;");
    }
}
