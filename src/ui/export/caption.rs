//! The caption below a picture: what it shows, of which reports, how they fit, and what made it.

use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{self, FontId, LayerId, Painter, Pos2, Rect, Vec2};

use crate::text::capitalised;
use crate::ui::run_chips::paint_badge;
use crate::ui::runs::Badge;
use crate::ui::theme::{Tokens, fonts, fonts::size};
use crate::ui::widget::sign::Sign;

/// What a caption says.
#[derive(Clone, Debug, Default)]
pub struct CaptionSubject {
    /// What the picture is called.
    pub name: String,
    /// Whether it is a page with all its cards.
    pub is_page: bool,
    pub runs: Vec<SubjectRun>,
    /// The page, and what of the report it shows.
    pub page: Vec<String>,
    pub answer: Option<(Sign, String)>,
    /// What is selected: "tile 39", "step 82".
    pub selection: Vec<String>,
    /// The one range of addresses that is shown or selected: "tile 39".
    pub arena: Option<String>,
}

#[derive(Clone, Debug)]
pub struct SubjectRun {
    pub badge: Badge,
    pub name: String,
    /// Whether it fits, in words.
    pub verdict: Option<(Sign, String)>,
}

const LINE: f32 = 18.0;
/// Least width of a caption, points.
const LEAST: f32 = 360.0;

/// Paints it below a rectangle in a layer; returns where it lies.
pub fn caption(ctx: &egui::Context, layer: LayerId, above: Rect, subject: &CaptionSubject) -> Rect {
    let tokens = Tokens::of(ctx.theme());
    let painter = Painter::new(ctx.clone(), layer, Rect::EVERYTHING);
    let width = above.width().max(LEAST);
    let mut to = Caption { painter, tokens, left: above.left(), width, at: above.left_bottom() };
    let title = capitalised(&subject.name);
    let made_by = concat!("Tilescope ", env!("CARGO_PKG_VERSION"));
    let made_by = to.galley(made_by, fonts::regular(size::CAPTION), tokens.third_text, width);
    let right = Pos2::new(above.left() + width - made_by.size().x, to.at.y + 1.0);
    to.width = (width - made_by.size().x - 12.0).max(120.0);
    to.painter.galley(right, made_by, tokens.third_text);
    to.text(&title, fonts::semibold(size::BODY), tokens.text);
    to.width = width;
    let facts: Vec<&str> =
        subject.page.iter().chain(&subject.selection).map(String::as_str).collect();
    if !facts.is_empty() {
        to.text(&facts.join(" · "), fonts::regular(size::CAPTION), tokens.weak_text);
    }
    if let Some((sign, answer)) = &subject.answer {
        to.signed(*sign, answer);
    }
    to.runs(&subject.runs);
    Rect::from_min_max(above.left_bottom(), Pos2::new(above.left() + width, to.at.y))
}

struct Caption {
    painter: Painter,
    tokens: &'static Tokens,
    left: f32,
    width: f32,
    at: Pos2,
}

impl Caption {
    fn galley(
        &self,
        text: &str,
        font: FontId,
        color: egui::Color32,
        width: f32,
    ) -> std::sync::Arc<egui::Galley> {
        let mut job = LayoutJob::single_section(text.to_owned(), TextFormat::simple(font, color));
        job.wrap.max_width = width;
        job.break_on_newline = false;
        self.painter.layout_job(job)
    }

    fn text(&mut self, text: &str, font: FontId, color: egui::Color32) {
        let galley = self.galley(text, font, color, self.width);
        let height = galley.size().y.max(LINE);
        self.painter.galley(self.at, galley, color);
        self.at.y += height;
    }

    fn signed(&mut self, sign: Sign, text: &str) {
        sign.paint(&self.painter, self.at + Vec2::new(6.0, 8.0), 6.0, self.tokens);
        let font = fonts::medium(size::TABLE);
        let galley = self.galley(text, font, self.tokens.text, self.width - 18.0);
        let height = galley.size().y.max(LINE);
        self.painter.galley(self.at + Vec2::new(18.0, 0.0), galley, self.tokens.text);
        self.at.y += height;
    }

    /// Side by side, as far as there is room.
    fn runs(&mut self, runs: &[SubjectRun]) {
        for run in runs {
            let tokens = self.tokens;
            let verdict = run.verdict.as_ref();
            let words = verdict.map_or(String::new(), |(_, words)| words.clone());
            let caption = fonts::regular(size::CAPTION);
            let name =
                self.galley(&run.name, fonts::medium(size::TABLE), tokens.text, self.width - 80.0);
            let words = self.galley(&words, caption, tokens.weak_text, self.width);
            let needed = 22.0 + name.size().x + 24.0 + words.size().x + 16.0;
            if self.at.x > self.left && self.at.x + needed > self.left + self.width {
                self.at = Pos2::new(self.left, self.at.y + LINE + 2.0);
            }
            let badge = Rect::from_min_size(self.at + Vec2::new(0.0, 1.0), Vec2::splat(16.0));
            paint_badge(&self.painter, badge, run.badge, tokens);
            let mut x = self.at.x + 22.0;
            let after = name.size().x;
            self.painter.galley(Pos2::new(x, self.at.y + 1.0), name, tokens.text);
            x += after + 8.0;
            if let Some((sign, _)) = verdict {
                sign.paint(&self.painter, Pos2::new(x + 6.0, self.at.y + 9.0), 6.0, tokens);
                x += 18.0;
                let after = words.size().x;
                self.painter.galley(Pos2::new(x, self.at.y + 2.0), words, tokens.weak_text);
                x += after;
            }
            self.at.x = x + 20.0;
        }
        if !runs.is_empty() {
            self.at = Pos2::new(self.left, self.at.y + LINE + 4.0);
        }
    }
}
