//! Shapes: types and dimensions, and tuples of them.
//!
//! A shape is its parts, the outer before the inner: a place within it is a number, 0 for the whole, and a tuple is as
//! many parts as it has within it. So what an instruction holds at each place is a row of numbers.

use crate::store::column::number;
use crate::store::names::{NameId, Names};

number! {
    /// A row of [`Shapes`].
    pub struct ShapeId(pub u32);
}

impl ShapeId {
    /// None is known.
    pub const NONE: Self = Self(u32::MAX);
}

/// The type of the elements of an array, by its number in XLA's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ElementType(pub u32);

/// Names and bits (formats/xla.md 3); 0 bits where elements have no size.
const ELEMENT_TYPES: [(u32, &str, u64); 36] = [
    (1, "pred", 8),
    (2, "s8", 8),
    (3, "s16", 16),
    (4, "s32", 32),
    (5, "s64", 64),
    (6, "u8", 8),
    (7, "u16", 16),
    (8, "u32", 32),
    (9, "u64", 64),
    (10, "f16", 16),
    (11, "f32", 32),
    (12, "f64", 64),
    (13, "tuple", 0),
    (14, "opaque", 0),
    (15, "c64", 64),
    (16, "bf16", 16),
    (17, "token", 0),
    (18, "c128", 128),
    (19, "f8e5m2", 8),
    (20, "f8e4m3fn", 8),
    (21, "s4", 4),
    (22, "u4", 4),
    (23, "f8e4m3b11fnuz", 8),
    (24, "f8e5m2fnuz", 8),
    (25, "f8e4m3fnuz", 8),
    (26, "s2", 2),
    (27, "u2", 2),
    (28, "f8e4m3", 8),
    (29, "f8e3m4", 8),
    (30, "s1", 1),
    (31, "u1", 1),
    (32, "f4e2m1fn", 4),
    (33, "f8e8m0fnu", 8),
    (34, "buffer", 0),
    (35, "f6e2m3fn", 6),
    (36, "f6e3m2fn", 6),
];

impl ElementType {
    /// Several shapes together.
    pub const TUPLE: Self = Self(13);

    fn known(self) -> Option<(&'static str, u64)> {
        let found = ELEMENT_TYPES.iter().find(|(number, ..)| *number == self.0)?;
        Some((found.1, found.2))
    }

    /// The type that is written so.
    pub fn named(name: &str) -> Option<Self> {
        ELEMENT_TYPES.iter().find(|(_, known, _)| *known == name).map(|(number, ..)| Self(*number))
    }

    /// As XLA writes it; `type37` where the number is not known.
    pub fn title(self) -> String {
        self.known().map_or_else(|| format!("type{}", self.0), |(name, _)| name.to_owned())
    }

    /// Bits of an element; `None` where none or unknown.
    pub fn bits(self) -> Option<u64> {
        self.known().map(|(_, bits)| bits).filter(|bits| *bits > 0)
    }
}

/// Columns of parts: those of one shape follow each other.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Shapes {
    types: Vec<u32>,
    /// Where the dimensions of each end.
    dimension_ends: Vec<u32>,
    dimensions: Vec<i64>,
    /// How the elements of each array lie in memory, as XLA writes it: `{1,0:T(8,128)}`.
    layouts: Vec<NameId>,
    /// How many parts each is with those within it; 0 while it is not closed.
    parts: Vec<u32>,
    /// Where the elements of each tuple lie, and what each begins with.
    elements: Vec<(u32, u32)>,
    element_places: Vec<u32>,
}

impl Shapes {
    /// Begins a part: what follows until [`Self::close`] is within it.
    pub fn open(&mut self, kind: ElementType, dimensions: &[i64]) -> ShapeId {
        self.open_laid_out(kind, dimensions, NameId::NONE)
    }

    /// The same with the text of its layout.
    pub fn open_laid_out(
        &mut self,
        kind: ElementType,
        dimensions: &[i64],
        layout: NameId,
    ) -> ShapeId {
        let id = ShapeId(u32::try_from(self.types.len()).unwrap_or(u32::MAX));
        self.types.push(kind.0);
        self.dimensions.extend_from_slice(dimensions);
        self.dimension_ends.push(u32::try_from(self.dimensions.len()).unwrap_or(u32::MAX));
        self.layouts.push(layout);
        self.parts.push(0);
        self.elements.push((0, 0));
        id
    }

    /// Ends a part whose elements are these, in their order.
    pub fn close(&mut self, id: ShapeId, elements: &[ShapeId]) {
        let row = id.0 as usize;
        let start = self.element_places.len() as u32;
        let places = elements.iter().map(|element| element.0.saturating_sub(id.0));
        self.element_places.extend(places);
        if let Some(range) = self.elements.get_mut(row) {
            *range = (start, self.element_places.len() as u32);
        }
        let count = self.types.len().saturating_sub(row);
        if let Some(parts) = self.parts.get_mut(row) {
            *parts = u32::try_from(count).unwrap_or(u32::MAX);
        }
    }

    /// Whether all parts lie within the shapes that they are of, and elements behind what they are elements of, as
    /// [`Self::open`] and [`Self::close`] leave them. What comes from elsewhere has to be, or a path in it may not end.
    pub fn are_sound(&self) -> bool {
        let count = self.types.len();
        let lengths =
            [self.dimension_ends.len(), self.layouts.len(), self.parts.len(), self.elements.len()];
        let is_sound = |(row, (parts, (start, end))): (usize, (&u32, &(u32, u32)))| {
            let Some(places) = self.element_places.get(*start as usize..*end as usize) else {
                return false;
            };
            let ends = |place: &u32| {
                let within = self.parts.get(row.checked_add(*place as usize)?)?;
                place.checked_add(*within).filter(|_| *place > 0)
            };
            let is_within = |place| ends(place).is_some_and(|end| end <= *parts);
            // One that was not closed has no parts and no elements.
            row.checked_add(*parts as usize).is_some_and(|end| end <= count)
                && places.iter().all(is_within)
        };
        lengths == [count; 4] && self.parts.iter().zip(&self.elements).enumerate().all(is_sound)
    }

    /// The type of a shape.
    pub fn element_type(&self, id: ShapeId) -> Option<ElementType> {
        self.types.get(id.0 as usize).map(|kind| ElementType(*kind))
    }

    /// Whether it is several together.
    pub fn is_tuple(&self, id: ShapeId) -> bool {
        self.element_type(id) == Some(ElementType::TUPLE)
    }

    /// The dimensions of an array.
    pub fn dimensions(&self, id: ShapeId) -> &[i64] {
        let row = id.0 as usize;
        let Some(end) = self.dimension_ends.get(row) else { return &[] };
        let start = row.checked_sub(1).and_then(|before| self.dimension_ends.get(before));
        let range = start.map_or(0, |start| *start as usize)..*end as usize;
        self.dimensions.get(range).unwrap_or(&[])
    }

    /// Number of places of a shape: 1 for an array.
    pub fn places(&self, id: ShapeId) -> u32 {
        self.parts.get(id.0 as usize).copied().unwrap_or(0)
    }

    /// What each element of a tuple begins with, as places of it.
    fn starts(&self, id: ShapeId) -> &[u32] {
        let Some((start, end)) = self.elements.get(id.0 as usize) else { return &[] };
        self.element_places.get(*start as usize..*end as usize).unwrap_or(&[])
    }

    /// The place at which an element of a tuple begins.
    pub fn element(&self, id: ShapeId, number: u32) -> Option<u32> {
        self.starts(id).get(number as usize).copied()
    }

    /// The element of a tuple in which a place is, and the place within that; `None` of the whole.
    pub fn element_at(&self, id: ShapeId, place: u32) -> Option<(u32, u32)> {
        if place >= self.places(id) {
            return None;
        }
        let starts = self.starts(id);
        let number = starts.partition_point(|start| *start <= place).checked_sub(1)?;
        let within = place.checked_sub(*starts.get(number)?)?;
        Some((u32::try_from(number).ok()?, within))
    }

    /// The shape at a place.
    pub fn part(&self, id: ShapeId, place: u32) -> ShapeId {
        if place >= self.places(id) {
            return ShapeId::NONE;
        }
        ShapeId(id.0.saturating_add(place))
    }

    /// The place that a path of elements leads to.
    pub fn place(&self, id: ShapeId, index: impl IntoIterator<Item = i64>) -> Option<u32> {
        let mut place = 0_u32;
        for element in index {
            let element = u32::try_from(element).ok()?;
            place = place.checked_add(self.element(self.part(id, place), element)?)?;
        }
        (place < self.places(id)).then_some(place)
    }

    /// The path of elements to a place.
    pub fn index_of(&self, id: ShapeId, place: u32) -> Vec<u32> {
        let (mut shape, mut place, mut index) = (id, place, Vec::new());
        while let Some((number, within)) = self.element_at(shape, place) {
            index.push(number);
            shape = self.part(shape, place.saturating_sub(within));
            place = within;
        }
        index
    }

    /// Bytes without padding; `None` of a tuple and where the type is not known.
    pub fn unpadded_bytes(&self, id: ShapeId) -> Option<u64> {
        let bits = self.element_type(id)?.bits()?;
        let count = self.dimensions(id).iter().try_fold(1_u64, |count, dimension| {
            count.checked_mul(u64::try_from(*dimension).ok()?)
        })?;
        Some(count.checked_mul(bits)?.div_ceil(8))
    }

    /// `f32[64,1024]`; a tuple in parentheses, the first of its elements.
    pub fn title(&self, id: ShapeId) -> String {
        let Some(kind) = self.element_type(id) else { return String::new() };
        if kind == ElementType::TUPLE {
            const MOST: usize = 8;
            let starts = self.starts(id);
            let named: Vec<String> = (starts.iter().take(MOST))
                .map(|place| {
                    let part = self.part(id, *place);
                    if self.is_tuple(part) { "(…)".to_owned() } else { self.title(part) }
                })
                .collect();
            let more = if starts.len() > MOST { ", …" } else { "" };
            return format!("({}{more})", named.join(", "));
        }
        self.array_title(id, kind)
    }

    /// The same with all elements of tuples, and with texts with their layouts: `(f32[64,1024]{1,0:T(8,128)}, s32[])`.
    pub fn whole_title(&self, id: ShapeId, texts: Option<&Names>) -> String {
        let Some(kind) = self.element_type(id) else { return String::new() };
        if kind == ElementType::TUPLE {
            let element = |place: &u32| self.whole_title(self.part(id, *place), texts);
            let elements: Vec<String> = self.starts(id).iter().map(element).collect();
            return format!("({})", elements.join(", "));
        }
        let layout = texts.and_then(|texts| self.layout(id, texts)).unwrap_or_default();
        format!("{}{layout}", self.array_title(id, kind))
    }

    /// How the elements of an array lie in memory, as XLA writes it; `None` where the file does not say.
    pub fn layout<'a>(&self, id: ShapeId, texts: &'a Names) -> Option<&'a str> {
        let layout = *self.layouts.get(id.0 as usize)?;
        (layout != NameId::NONE).then(|| texts.get(layout))
    }

    fn array_title(&self, id: ShapeId, kind: ElementType) -> String {
        let dimensions: Vec<String> = self.dimensions(id).iter().map(i64::to_string).collect();
        format!("{}[{}]", kind.title(), dimensions.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(f32[2,3], (s4[5]), pred[])`.
    fn nested() -> (Shapes, ShapeId) {
        let mut shapes = Shapes::default();
        let whole = shapes.open(ElementType::TUPLE, &[]);
        let first = shapes.open(ElementType(11), &[2, 3]);
        shapes.close(first, &[]);
        let second = shapes.open(ElementType::TUPLE, &[]);
        let inner = shapes.open(ElementType(21), &[5]);
        shapes.close(inner, &[]);
        shapes.close(second, &[inner]);
        let third = shapes.open(ElementType(1), &[]);
        shapes.close(third, &[]);
        shapes.close(whole, &[first, second, third]);
        (shapes, whole)
    }

    #[test]
    fn places_and_paths_lead_to_each_other() {
        let (shapes, whole) = nested();
        assert_eq!(shapes.places(whole), 5);
        let paths = [vec![], vec![0], vec![1], vec![1, 0], vec![2]];
        for (place, path) in (0..).zip(paths) {
            assert_eq!(shapes.index_of(whole, place), path);
            let path = path.iter().map(|element| i64::from(*element));
            assert_eq!(shapes.place(whole, path), Some(place));
        }
        assert_eq!(shapes.place(whole, [3]), None);
        assert_eq!(shapes.place(whole, [0, 0]), None);
        assert_eq!(shapes.place(whole, [-1]), None);
        assert_eq!(shapes.element_at(whole, 3), Some((1, 1)));
        assert_eq!(shapes.element_at(whole, 0), None);
        assert_eq!(shapes.element_at(whole, 9), None);
    }

    #[test]
    fn sizes_and_words_of_shapes() {
        let (shapes, whole) = nested();
        assert_eq!(shapes.title(whole), "(f32[2,3], (…), pred[])");
        let texts = Names::default();
        assert_eq!(shapes.whole_title(whole, Some(&texts)), "(f32[2,3], (s4[5]), pred[])");
        assert_eq!(shapes.unpadded_bytes(whole), None);
        assert_eq!(shapes.unpadded_bytes(shapes.part(whole, 1)), Some(24));
        // Five elements of four bits.
        assert_eq!(shapes.unpadded_bytes(shapes.part(whole, 3)), Some(3));
        assert_eq!(shapes.unpadded_bytes(shapes.part(whole, 4)), Some(1));
        assert_eq!(ElementType(37).title(), "type37");
        assert_eq!(ElementType::named("bf16"), Some(ElementType(16)));
    }

    #[test]
    fn a_size_beyond_all_numbers_is_not_known() {
        let mut shapes = Shapes::default();
        let huge = shapes.open(ElementType(11), &[i64::MAX, i64::MAX]);
        shapes.close(huge, &[]);
        let negative = shapes.open(ElementType(11), &[-1]);
        shapes.close(negative, &[]);
        assert_eq!(shapes.unpadded_bytes(huge), None);
        assert_eq!(shapes.unpadded_bytes(negative), None);
    }
}
