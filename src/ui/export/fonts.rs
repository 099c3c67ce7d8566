//! The fonts of the window for drawings: by the names that they have themselves, and as data.

use eframe::egui::FontFamily;
use resvg::usvg::fontdb::{Database, Source};
use std::sync::{Arc, OnceLock};

use crate::ui::theme::fonts::{definitions, of_pictures};

pub struct Face {
    family: FontFamily,
    /// What the font calls its family.
    pub name: String,
    /// The letters of English in it, as WOFF2.
    pub in_pictures: &'static [u8],
}

impl Face {
    /// The fonts to write with: this one, or what a reader without it has.
    pub fn stack(&self) -> String {
        let generic = if self.family == FontFamily::Monospace { "monospace" } else { "sans-serif" };
        format!("{}, {generic}", self.name)
    }

    /// Whether most text is in it.
    pub fn is_regular(&self) -> bool {
        self.family == FontFamily::Proportional
    }
}

pub struct Faces {
    pub database: Arc<Database>,
    faces: Vec<Face>,
}

impl Faces {
    pub fn of_window() -> &'static Self {
        static FACES: OnceLock<Faces> = OnceLock::new();
        FACES.get_or_init(Self::read)
    }

    fn read() -> Self {
        let definitions = definitions();
        let mut database = Database::new();
        let mut faces = Vec::new();
        for (name, font) in &definitions.font_data {
            let ids = database.load_font_source(Source::Binary(Arc::clone(&font.font)));
            let Some(known) = ids.first().and_then(|id| database.face(*id)) else { continue };
            let Some((own_name, _)) = known.families.first() else { continue };
            for (family, names) in &definitions.families {
                if names.first() == Some(name) {
                    let in_pictures = of_pictures(family);
                    faces.push(Face {
                        family: family.clone(),
                        name: own_name.clone(),
                        in_pictures,
                    });
                }
            }
        }
        let regular = faces.iter().find(|face| face.is_regular());
        if let Some(regular) = regular {
            database.set_sans_serif_family(&regular.name);
        }
        Self { database: Arc::new(database), faces }
    }

    /// The font that a family begins with, with its place among all.
    pub fn face(&self, family: &FontFamily) -> Option<(usize, &Face)> {
        self.faces.iter().enumerate().find(|(_, face)| face.family == *family)
    }

    /// The fonts of text that names none.
    pub fn regular_stack(&self) -> String {
        let regular = self.faces.iter().find(|face| face.is_regular());
        regular.map_or_else(|| "sans-serif".to_owned(), Face::stack)
    }

    pub fn get(&self, place: usize) -> Option<&Face> {
        self.faces.get(place)
    }
}
