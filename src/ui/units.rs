//! The unit of bytes that the window shows: KiB, MiB … or bytes. One choice for all pages.

use eframe::egui::{self, Id};

use crate::text::{self, grouped};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Units {
    /// In the largest binary unit that they reach: `24.4 MiB`.
    #[default]
    Binary,
    /// One by one: `25,621,116 B`.
    Bytes,
}

impl Units {
    /// The units in use, from any [`egui::Ui`] or [`egui::Context`].
    pub fn now(ctx: &egui::Context) -> Self {
        ctx.data(|data| data.get_temp(key())).unwrap_or_default()
    }

    /// Makes these the units in use.
    pub fn apply(self, ctx: &egui::Context) {
        ctx.data_mut(|data| data.insert_temp(key(), self));
    }

    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Binary => Self::Bytes,
            Self::Bytes => Self::Binary,
        }
    }

    /// Bytes, for cells and ticks: `24.4 MiB`, or `25,621,116 B`.
    pub fn bytes(self, bytes: u64) -> String {
        match self {
            Self::Binary => text::bytes(bytes),
            Self::Bytes => format!("{} B", grouped(bytes)),
        }
    }

    /// Bytes in the unit of others, which they stand beside.
    pub fn beside(self, bytes: u64, others: u64) -> String {
        match self {
            Self::Binary => text::bytes_beside(bytes, others),
            Self::Bytes => self.bytes(bytes),
        }
    }

    /// Bytes to the last one, for facts and tooltips: `24.4 MiB (25,621,116 B)`, or `25,621,116 B`.
    pub fn exact(self, bytes: u64) -> String {
        match self {
            Self::Binary => text::exact_bytes(bytes),
            Self::Bytes => self.bytes(bytes),
        }
    }
}

fn key() -> Id {
    Id::unique("units of bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_units_say_which_they_are() {
        assert_eq!(Units::Binary.bytes(25_621_116), "24.4 MiB");
        assert_eq!(Units::Binary.exact(25_621_116), "24.4 MiB (25,621,116 B)");
        assert_eq!(Units::Bytes.bytes(25_621_116), "25,621,116 B");
        assert_eq!(Units::Bytes.exact(12), "12 B");
        let ctx = egui::Context::default();
        assert_eq!(Units::now(&ctx), Units::Binary);
        Units::now(&ctx).other().apply(&ctx);
        assert_eq!(Units::now(&ctx), Units::Bytes);
    }
}
