//! Texts and shapes of a module, each once.

use super::layouts::layout_text;
use super::wire::{Malformed, Wire};
use crate::limits;
use crate::store::hlo::{ElementType, ShapeId, Shapes};
use crate::store::names::{FastMap, Interner, NameId, Names};

/// What a part of a shape takes in the columns, and while its tuple is read.
const PART_BYTES: usize = 64;

/// Why something is left out that is not damaged.
pub(super) const NO_ROOM: &str = "there is no room for it";

/// Memory that is taken whatever the size of the file.
const SMALL_MEMORY: usize = 32 << 20;

/// Memory that what is read may still take.
pub(super) struct Allowance {
    left: usize,
    /// Whether something was left out for want of it.
    pub is_used_up: bool,
}

impl Allowance {
    /// For a message, or a text, of so many bytes.
    pub fn of(bytes: usize) -> Self {
        Self { left: Self::most(bytes), is_used_up: false }
    }

    /// Bytes for a message, or a text, of so many bytes: two and a half times that, and what is there in any case.
    pub fn most(bytes: usize) -> usize {
        bytes.saturating_mul(2).saturating_add(bytes / 2).saturating_add(SMALL_MEMORY)
    }

    /// Takes room for something before it is made.
    ///
    /// # Errors
    /// When there is not so much left.
    pub fn take(&mut self, bytes: usize) -> Result<(), Malformed> {
        self.is_used_up |= bytes > self.left;
        self.left = self.left.saturating_sub(bytes);
        if self.is_used_up { Err(Malformed(NO_ROOM.to_owned())) } else { Ok(()) }
    }
}

/// Texts and shapes as they are read.
pub(super) struct XlaTexts<'a> {
    /// What they and all else of the message may take.
    pub room: Allowance,
    names: Interner,
    shapes: Shapes,
    /// Shapes by their bytes in the file, which are the same again and again.
    by_bytes: FastMap<&'a [u8], ShapeId>,
    /// Texts of layouts, likewise.
    layouts: FastMap<&'a [u8], NameId>,
}

impl<'a> XlaTexts<'a> {
    /// Of a message of so many bytes.
    pub fn of(bytes: usize) -> Self {
        Self {
            room: Allowance::of(bytes),
            names: Interner::default(),
            shapes: Shapes::default(),
            by_bytes: FastMap::default(),
            layouts: FastMap::default(),
        }
    }

    /// The row of a text; damaged letters are replaced. None where there is no room for it.
    pub fn text(&mut self, bytes: &[u8]) -> NameId {
        /// What a text takes beside its letters, which stand twice.
        const BESIDE: usize = 48;
        let text = String::from_utf8_lossy(bytes);
        let text = limits::cut(&text, limits::NAME_BYTES);
        let known = self.names.find(&text);
        let needed = text.len().saturating_mul(2).saturating_add(BESIDE);
        if known != NameId::NONE || self.room.take(needed).is_err() {
            return known;
        }
        self.names.intern(&text)
    }

    /// The row of a text; none where it is empty.
    pub fn text_if_any(&mut self, bytes: &[u8]) -> NameId {
        if bytes.is_empty() { NameId::NONE } else { self.text(bytes) }
    }

    /// A shape.
    ///
    /// # Errors
    /// When the message is damaged, or tuples lie too deep within each other.
    pub fn shape(&mut self, bytes: &'a [u8]) -> Result<ShapeId, Malformed> {
        if let Some(known) = self.by_bytes.get(bytes) {
            return Ok(*known);
        }
        let id = self.read_shape(bytes, 0)?;
        self.room.take(size_of::<(&[u8], ShapeId)>().saturating_mul(2))?;
        self.by_bytes.insert(bytes, id);
        Ok(id)
    }

    fn read_shape(&mut self, bytes: &'a [u8], level: usize) -> Result<ShapeId, Malformed> {
        if level > limits::TUPLE_LEVELS {
            return Err(Malformed(format!("tuples lie within {} others", limits::TUPLE_LEVELS)));
        }
        let (mut kind, mut dimensions, mut within, mut layout) = (0, Vec::new(), Vec::new(), None);
        let room = &mut self.room;
        room.take(PART_BYTES)?;
        Wire::of(bytes).each(|number, field| {
            match number {
                2 => kind = u32::try_from(field.number()).unwrap_or(u32::MAX),
                3 => field.add_numbers(&mut dimensions, room)?,
                4 => {
                    room.take(size_of::<&[u8]>())?;
                    within.push(field.bytes());
                }
                5 => layout = Some(field.bytes()),
                _ => {}
            }
            Ok(())
        })?;
        let layout = layout.map_or(Ok(NameId::NONE), |layout| self.layout(layout))?;
        let id = self.shapes.open_laid_out(ElementType(kind), &dimensions, layout);
        let mut elements = Vec::with_capacity(within.len());
        for element in within {
            elements.push(self.read_shape(element, level.saturating_add(1))?);
        }
        self.shapes.close(id, &elements);
        Ok(id)
    }

    /// The text of a layout; none of one that says nothing.
    fn layout(&mut self, bytes: &'a [u8]) -> Result<NameId, Malformed> {
        if let Some(known) = self.layouts.get(bytes) {
            return Ok(*known);
        }
        let text = layout_text(bytes, &mut self.room)?;
        self.room.take(size_of::<(&[u8], NameId)>().saturating_mul(2))?;
        let layout = self.text_if_any(text.as_bytes());
        self.layouts.insert(bytes, layout);
        Ok(layout)
    }

    pub fn finish(self) -> (Names, Shapes) {
        (self.names.into_names(), self.shapes)
    }
}
