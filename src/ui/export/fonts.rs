//! The fonts of the window for drawings: by the names that they have themselves, and as data.

use eframe::egui::FontFamily;
use resvg::usvg::fontdb::{Database, Source};
use std::sync::{Arc, OnceLock};

use crate::ui::theme::fonts::definitions;

pub struct Face {
    family: FontFamily,
    /// What the font calls its family.
    pub name: String,
    pub data: Arc<dyn AsRef<[u8]> + Send + Sync>,
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
            let data = Arc::clone(&font.font);
            let ids = database.load_font_source(Source::Binary(Arc::clone(&data)));
            let Some(known) = ids.first().and_then(|id| database.face(*id)) else { continue };
            let Some((own_name, _)) = known.families.first() else { continue };
            for (family, names) in &definitions.families {
                if names.first() == Some(name) {
                    let (name, data) = (own_name.clone(), Arc::clone(&data));
                    faces.push(Face { family: family.clone(), name, data });
                }
            }
        }
        let regular = faces.iter().find(|face| face.family == FontFamily::Proportional);
        if let Some(regular) = regular {
            database.set_sans_serif_family(&regular.name);
        }
        Self { database: Arc::new(database), faces }
    }

    /// The font that a family begins with, with its place among all.
    pub fn face(&self, family: &FontFamily) -> Option<(usize, &Face)> {
        self.faces.iter().enumerate().find(|(_, face)| face.family == *family)
    }

    pub fn get(&self, place: usize) -> Option<&Face> {
        self.faces.get(place)
    }
}
