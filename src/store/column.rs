//! A column of plain numbers: made here, or a part of a file that is mapped into memory.
//!
//! Whoever reads one sees a slice, in constant time, and does not know where it lies. The bytes of a
//! mapped one are shared: a clone of it costs nothing, and the file stays mapped as long as one is there.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytes::Bytes;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What a column can hold: numbers, and ids that are one, any bytes of which are a value.
pub trait Element:
    Copy + FromBytes + IntoBytes + Immutable + KnownLayout + fmt::Debug + 'static
{
}

impl<T: Copy + FromBytes + IntoBytes + Immutable + KnownLayout + fmt::Debug + 'static> Element
    for T
{
}

/// A number with a meaning of its own, of which there are columns.
macro_rules! number {
    ($(#[$meta:meta])* pub struct $name:ident(pub $of:ty);) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
            zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout,
        )]
        #[repr(transparent)]
        pub struct $name(pub $of);
    };
}
pub(crate) use number;

/// A column; a `&[T]` to those who read it.
#[derive(Clone)]
pub struct Column<T>(ColumnValues<T>);

#[derive(Clone)]
enum ColumnValues<T> {
    Owned(Vec<T>),
    /// Looked at when it was made: whole elements, which begin where one may.
    Shared(Bytes),
}

/// Bytes that are no column of such elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "whole elements of {element_bytes} bytes at a multiple of that expected, {found_bytes} bytes found"
)]
pub struct NoColumn {
    element_bytes: usize,
    found_bytes: usize,
}

impl<T: Element> Column<T> {
    /// The column that lies in these bytes, which are not copied.
    ///
    /// # Errors
    /// When they are not whole elements, or begin where none may.
    pub fn shared(bytes: Bytes) -> Result<Self, NoColumn> {
        if bytes.is_empty() {
            // No bytes may begin anywhere.
            return Ok(Self::default());
        }
        let (element_bytes, found_bytes) = (size_of::<T>(), bytes.len());
        match <[T]>::ref_from_bytes(&bytes) {
            Ok(_) => Ok(Self(ColumnValues::Shared(bytes))),
            Err(_) => Err(NoColumn { element_bytes, found_bytes }),
        }
    }

    /// Appends an element.
    #[inline]
    pub fn push(&mut self, element: T) {
        self.owned().push(element);
    }

    /// Appends elements.
    pub fn extend_from_slice(&mut self, elements: &[T]) {
        self.owned().extend_from_slice(elements);
    }

    /// Makes room for as many more elements, and not for others.
    pub fn reserve_exact(&mut self, more: usize) {
        self.owned().reserve_exact(more);
    }

    /// Bytes of memory that it takes of its own; none where it lies in a file.
    pub fn resident_bytes(&self) -> usize {
        match &self.0 {
            ColumnValues::Owned(list) => list.capacity().saturating_mul(size_of::<T>()),
            ColumnValues::Shared(_) => 0,
        }
    }

    /// Whether it lies in bytes that others share, as those of a mapped file.
    pub fn is_shared(&self) -> bool {
        matches!(self.0, ColumnValues::Shared(_))
    }

    /// The bytes that it shares, if it does.
    pub(crate) fn shared_bytes(&self) -> Option<Bytes> {
        match &self.0 {
            ColumnValues::Owned(_) => None,
            ColumnValues::Shared(bytes) => Some(bytes.clone()),
        }
    }

    #[cold]
    fn copy(&mut self) {
        self.0 = ColumnValues::Owned(self.to_vec());
    }

    /// The list to add to: a copy, where it was not its own.
    #[inline]
    fn owned(&mut self) -> &mut Vec<T> {
        if let ColumnValues::Shared(_) = self.0 {
            self.copy();
        }
        match &mut self.0 {
            ColumnValues::Owned(list) => list,
            ColumnValues::Shared(_) => unreachable!("replaced above"),
        }
    }
}

impl<T: Element> Deref for Column<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            ColumnValues::Owned(list) => list,
            ColumnValues::Shared(bytes) => <[T]>::ref_from_bytes(bytes).unwrap_or(&[]),
        }
    }
}

/// What is changed becomes its own first, where it was shared.
impl<T: Element> DerefMut for Column<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.owned()
    }
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self(ColumnValues::Owned(Vec::new()))
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(list: Vec<T>) -> Self {
        Self(ColumnValues::Owned(list))
    }
}

impl<T> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self(ColumnValues::Owned(elements.into_iter().collect()))
    }
}

impl<T: Element> Extend<T> for Column<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        self.owned().extend(elements);
    }
}

impl<'a, T: Element> IntoIterator for &'a Column<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Element> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Element + PartialEq> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Element + Eq> Eq for Column<T> {}

/// As the bytes of its elements, in the order of this machine.
impl<T: Element> Serialize for Column<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes((**self).as_bytes())
    }
}

impl<'de, T: Element> Deserialize<'de> for Column<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(FromColumnBytes(PhantomData))
    }
}

struct FromColumnBytes<T>(PhantomData<T>);

impl<T: Element> Visitor<'_> for FromColumnBytes<T> {
    type Value = Column<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "whole elements of {} bytes", size_of::<T>())
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Column<T>, E> {
        let elements = bytes.chunks_exact(size_of::<T>().max(1));
        if !elements.remainder().is_empty() {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        let list: Result<Vec<T>, _> = elements.map(T::read_from_bytes).collect();
        list.map(Column::from).map_err(|_| E::custom("not an element"))
    }
}

/// The same for a list that is no column, because it is to be small: for `#[serde(with = …)]`.
pub(crate) mod boxed {
    use super::{Column, Deserialize, Deserializer, Element, IntoBytes, Serializer};

    pub fn serialize<T: Element, S: Serializer>(list: &[T], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(list.as_bytes())
    }

    pub fn deserialize<'de, T: Element, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Box<[T]>, D::Error> {
        Ok(Column::deserialize(from)?.to_vec().into_boxed_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_that_are_no_column_are_refused() {
        let bytes = Bytes::from([0_u64, 1, 2].as_bytes().to_vec());
        assert!(Column::<u8>::shared(bytes.clone()).is_ok());
        assert!(Column::<u32>::shared(bytes.slice(..10)).is_err(), "not whole elements");
        let begins = (0..4).filter(|at| Column::<u32>::shared(bytes.slice(*at..*at + 8)).is_ok());
        assert_eq!(begins.count(), 1, "at one of four places an element may begin");
        assert_eq!(Column::<u32>::shared(Bytes::new()).map(|column| column.len()), Ok(0));
    }

    #[test]
    fn adding_to_a_shared_column_makes_it_its_own() {
        let bytes = Bytes::from_owner(vec![7_u8, 8]);
        let mut column: Column<u8> = Column::shared(bytes.clone()).expect("bytes");
        assert_eq!((column.resident_bytes(), column.is_shared()), (0, true));
        column.push(9);
        assert_eq!((&*column, column.is_shared()), (&[7, 8, 9][..], false));
        assert_eq!(&bytes[..], [7, 8]);
    }

    proptest! {
        #[test]
        fn shared_and_owned_are_the_same(list in proptest::collection::vec(any::<u32>(), 0..50)) {
            struct Aligned(Vec<u32>);
            impl AsRef<[u8]> for Aligned {
                fn as_ref(&self) -> &[u8] {
                    self.0.as_bytes()
                }
            }
            let shared: Column<u32> =
                Column::shared(Bytes::from_owner(Aligned(list.clone()))).expect("aligned");
            prop_assert_eq!(&*shared, &*list);
            prop_assert_eq!(&shared, &Column::from(list.clone()));
            let bytes = postcard::to_stdvec(&shared).expect("bytes");
            let back: Column<u32> = postcard::from_bytes(&bytes).expect("a column");
            prop_assert_eq!(&*back, &*list);
            for cut in 0..bytes.len() {
                // Whatever is left of them, it is no mistake of the program.
                drop(postcard::from_bytes::<Column<u32>>(&bytes[..cut]));
            }
        }
    }
}
