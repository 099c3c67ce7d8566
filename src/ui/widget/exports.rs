//! The buttons that take a picture or a table out of the window, and the pictures and cards of the page: each says in
//! every pass where it lies, so that it can be taken out, also in the other theme.

use eframe::egui::scroll_area::ScrollAreaOutput;
use eframe::egui::{self, Button, Id, Rect};

use crate::ui::command::{Command, ExportRequest, ExportSource, ExportTo};
use crate::ui::icon::Icon;
use crate::ui::widget::sign::Sign;

/// What can be taken out of the page that is shown, and what is said of it.
#[derive(Clone, Default)]
pub struct Exportable {
    pass: u64,
    /// Names and places, in the order in which they were drawn.
    pub pictures: Vec<(String, Rect)>,
    /// What the page answers.
    pub answer: Option<(Sign, String)>,
    /// What of the report the page shows: "worst tile".
    pub scope: Option<String>,
    /// Points by which the page is higher than there is room for: as much of it is scrolled away.
    pub hidden: f32,
    /// The run that is being drawn, where several have pictures with the same names.
    run: Option<String>,
}

impl Exportable {
    /// Of the pass that is being drawn.
    pub fn now(ctx: &egui::Context) -> Self {
        let page = Self::last(ctx);
        if page.pass == ctx.cumulative_pass_nr() { page } else { Self::default() }
    }

    /// Of the last pass that was drawn.
    pub fn last(ctx: &egui::Context) -> Self {
        ctx.data(|data| data.get_temp(key())).unwrap_or_default()
    }

    fn add(ctx: &egui::Context, add: impl FnOnce(&mut Self)) {
        let pass = ctx.cumulative_pass_nr();
        ctx.data_mut(|data| {
            let kept: &mut Self = data.get_temp_mut_or_default(key());
            if kept.pass != pass {
                *kept = Self { pass, ..Self::default() };
            }
            add(kept);
        });
    }

    /// Where a picture lies; one with the same name that was drawn first comes first.
    pub fn place_of(&self, name: &str) -> Option<Rect> {
        self.pictures.iter().find(|(known, _)| known == name).map(|(_, rect)| *rect)
    }
}

fn key() -> Id {
    Id::unique("what can be exported")
}

/// Says whose pictures and cards are drawn by `draw`, where others on the page are called the same.
pub fn exports_of_run<R>(ui: &mut egui::Ui, run: &str, draw: impl FnOnce(&mut egui::Ui) -> R) -> R {
    Exportable::add(ui.ctx(), |page| page.run = Some(run.to_owned()));
    let drawn = draw(ui);
    Exportable::add(ui.ctx(), |page| page.run = None);
    drawn
}

/// The name of a picture by which it is found on the page.
fn name_on_page(page: &Exportable, name: &str) -> String {
    match &page.run {
        Some(run) => format!("{name} of {run}"),
        None => name.to_owned(),
    }
}

/// Says where a picture or a card lies that can be taken out; of one that is scrolled out partly, what is seen.
pub fn exportable(ui: &egui::Ui, name: &str, rect: Rect) {
    let seen = rect.intersect(ui.clip_rect());
    if seen.width() >= 16.0 && seen.height() >= 16.0 {
        Exportable::add(ui.ctx(), |page| {
            let name = name_on_page(page, name);
            let is_known =
                page.pictures.iter().any(|(known, place)| *known == name && *place == seen);
            if !is_known {
                page.pictures.push((name, seen));
            }
        });
    }
}

/// Says what the page answers, for the caption of its pictures.
pub fn answer_of_exports(ui: &egui::Ui, answer: Option<&(Sign, String)>) {
    Exportable::add(ui.ctx(), |page| page.answer = answer.cloned());
}

/// Says what of the report the page shows, for the caption of its pictures: "worst tile".
pub fn scope_of_exports(ui: &egui::Ui, scope: &str) {
    Exportable::add(ui.ctx(), |page| page.scope = Some(scope.to_owned()));
}

/// Says that a part of the page scrolls, and how high all of it is.
pub fn scrolled_of_exports<R>(ui: &egui::Ui, area: &ScrollAreaOutput<R>) {
    let hidden = area.content_size.y - area.inner_rect.height();
    Exportable::add(ui.ctx(), |page| page.hidden = page.hidden.max(hidden));
}

/// Whether this pass is drawn to be taken out: without what belongs to the window alone, such as buttons.
pub fn is_taken_out(ctx: &egui::Context) -> bool {
    ctx.data(|data| data.get_temp(Id::unique("is taken out"))).unwrap_or(false)
}

pub fn take_out(ctx: &egui::Context, is_taken: bool) {
    ctx.data_mut(|data| data.insert_temp(Id::unique("is taken out"), is_taken));
}

/// The buttons of a picture, once it is known where it lies.
pub fn picture_exports_ui(
    ui: &mut egui::Ui,
    name: &str,
    is_named: bool,
    place: Option<Rect>,
    commands: &mut Vec<Command>,
) {
    if let Some(rect) = place {
        exportable(ui, name, rect);
    }
    exports_ui(ui, "picture", name, is_named, commands, || place.map(|_| ExportSource::Picture));
}

/// From the right to the left. `form` is "picture" or "as CSV"; `is_named` tells several on a page apart.
pub fn exports_ui(
    ui: &mut egui::Ui,
    form: &str,
    name: &str,
    is_named: bool,
    commands: &mut Vec<Command>,
    what: impl Fn() -> Option<ExportSource>,
) {
    let forms = [
        (ExportTo::File, Icon::Save, format!("Save {form}…")),
        (ExportTo::Clipboard, Icon::Copy, format!("Copy {form}")),
    ];
    if is_taken_out(ui.ctx()) {
        return;
    }
    for (to, icon, title) in forms {
        let of = if is_named { format!("{title}: {name}") } else { title.clone() };
        let button = Button::new(icon.atom()).frame_when_inactive(false);
        let button = ui.add(button).accessible_name(of).on_hover_text(title);
        if button.clicked()
            && let Some(what) = what()
        {
            let name = name_on_page(&Exportable::now(ui.ctx()), name);
            commands.push(Command::Export(ExportRequest { name, to, what }));
        }
    }
}
