//! Where buffers lie, and how.

use crate::text::words;

words! {
    /// A space of memory, as `buffer_type` numbers them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum BufferSpace by word {
        /// The memory of a chip outside of its cores.
        Dram = "DRAM",
        /// The memory of each core.
        L1 = "L1",
        /// Memory of the host.
        System = "SYSTEM_MEMORY",
        /// The part of L1 for small tables.
        L1Small = "L1_SMALL",
        /// The part of DRAM for recorded commands.
        Trace = "TRACE",
    }
}

impl BufferSpace {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();
    /// Those of chips, in the order in which they are shown.
    pub const OF_CHIP: [Self; 4] = [Self::Dram, Self::L1, Self::L1Small, Self::Trace];

    /// The space of a `buffer_type`.
    pub fn of_code(code: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// The same of a word, which some reports have in place of the number.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|space| space.word() == word)
    }

    /// Whether it is a part of each core.
    pub fn is_of_core(self) -> bool {
        matches!(self, Self::L1 | Self::L1Small)
    }
}

/// Where a buffer lies: the same address on all banks of a space. Addresses of several spaces have nothing in common.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct BufferKey {
    /// Its space.
    pub space: BufferSpace,
    /// Its first byte on each bank.
    pub address: u64,
}

words! {
    /// How a buffer is dealt out to banks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BufferLayout by word {
        /// Page by page.
        Interleaved = "INTERLEAVED",
        /// In parts of all its height.
        HeightSharded = "HEIGHT_SHARDED",
        /// In parts of all its width.
        WidthSharded = "WIDTH_SHARDED",
        /// In blocks.
        BlockSharded = "BLOCK_SHARDED",
    }
}

impl BufferLayout {
    /// The layout of a word of the graph.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.word() == word)
    }

    /// The layout of a `buffer_layout`. Reports that have buffers core by core number them as the C++ enumeration does, which
    /// leaves out 1; others number them without a gap.
    pub fn of_code(code: u64, is_detailed: bool) -> Option<Self> {
        let place = if is_detailed && code > 0 {
            code.checked_sub(1).filter(|place| *place > 0)?
        } else {
            code
        };
        Self::ALL.get(usize::try_from(place).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_layouts_depend_on_who_wrote_them() {
        let of = |is_detailed| [0, 1, 2, 3, 4].map(|code| BufferLayout::of_code(code, is_detailed));
        let [interleaved, height, width, block] = BufferLayout::ALL.map(Some);
        assert_eq!(of(true), [interleaved, None, height, width, block]);
        assert_eq!(of(false), [interleaved, height, width, block, None]);
    }

    #[test]
    fn spaces_are_told_by_number_and_by_word() {
        assert_eq!(BufferSpace::of_code(3), Some(BufferSpace::L1Small));
        assert_eq!(BufferSpace::of_code(u64::MAX), None);
        assert_eq!(BufferSpace::of_word("L1"), Some(BufferSpace::L1));
    }
}
