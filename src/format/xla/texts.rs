//! Texts and shapes of a module, each once.

use std::collections::HashMap;

use super::wire::{Fields, Malformed};
use crate::budget;
use crate::store::hlo::{ElementType, ShapeId, Shapes};
use crate::store::names::{Interner, NameId, Names};

/// Texts and shapes as they are read.
#[derive(Default)]
pub(super) struct Texts<'a> {
    names: Interner,
    shapes: Shapes,
    /// Shapes by their bytes in the file, which are the same again and again.
    by_bytes: HashMap<&'a [u8], ShapeId>,
}

impl<'a> Texts<'a> {
    /// The row of a text; damaged letters are replaced.
    pub fn text(&mut self, bytes: &[u8]) -> NameId {
        let text = String::from_utf8_lossy(bytes);
        self.names.intern(&budget::cut(&text, budget::NAME_BYTES))
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
        self.by_bytes.insert(bytes, id);
        Ok(id)
    }

    fn read_shape(&mut self, bytes: &'a [u8], level: usize) -> Result<ShapeId, Malformed> {
        if level > budget::TUPLE_LEVELS {
            return Err(Malformed(format!("tuples lie within {} others", budget::TUPLE_LEVELS)));
        }
        let (mut kind, mut dimensions, mut within) = (0, Vec::new(), Vec::new());
        Fields::of(bytes).each(|number, field| {
            match number {
                2 => kind = u32::try_from(field.number()).unwrap_or(u32::MAX),
                3 => field.add_numbers(&mut dimensions)?,
                4 => within.push(field.bytes()),
                _ => {}
            }
            Ok(())
        })?;
        let id = self.shapes.open(ElementType(kind), &dimensions);
        let mut elements = Vec::with_capacity(within.len());
        for element in within {
            elements.push(self.read_shape(element, level.saturating_add(1))?);
        }
        self.shapes.close(id, &elements);
        Ok(id)
    }

    /// Bytes of memory that it takes, about.
    pub fn bytes(&self) -> usize {
        let names = self.names.bytes();
        names
            .saturating_add(self.shapes.bytes())
            .saturating_add(self.by_bytes.len().saturating_mul(32))
    }

    /// The columns.
    pub fn finish(self) -> (Names, Shapes) {
        (self.names.into_names(), self.shapes)
    }
}
