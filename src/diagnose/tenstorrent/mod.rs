//! The sentences in which TT-NN (tt-metal) says that memory of a Tenstorrent device does not suffice: their figures, and
//! what follows from these (tenstorrent.md, section 7).
//!
//! A sentence is the same in a log, in an exception and in a report: [`errors_in`] finds it in any of them.

mod messages;
mod sentences;
mod words;

use serde::Serialize;

pub(super) use messages::MESSAGES;
pub use words::in_plain_words;

/// What a sentence says, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct TenstorrentError {
    /// Which sentence it is, with its figures.
    #[serde(flatten)]
    pub form: TenstorrentForm,
    /// What kept the memory from being had.
    pub verdict: TenstorrentVerdict,
    /// Bytes that have to be freed or saved before it fits: of one bank for a buffer, of each core for the rest. `None`
    /// where the figures do not say.
    pub missing_bytes: Option<u64>,
}

/// A sentence of a text, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ErrorAtLine {
    /// The line in which the sentence begins, from 1.
    pub line: u64,
    /// What it says.
    #[serde(flatten)]
    pub error: TenstorrentError,
}

/// The sentences, by their figures. Figures that the text does not have are `None`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(tag = "form", rename_all = "kebab-case")]
pub enum TenstorrentForm {
    /// A buffer has no place in its banks.
    NoSpace(BufferWithoutSpace),
    /// The same where a part of what is free may not be used because others depend on it.
    NoSpaceDependencies {
        /// The buffer, and what its banks have.
        #[serde(flatten)]
        buffer: BufferWithoutSpace,
        /// Ranges of addresses that others depend on.
        dependency_ranges: Option<u64>,
        /// Other ranges that are taken.
        occupied_ranges: Option<u64>,
        /// Bytes that are left of each bank.
        placeable_bytes_per_bank: Option<u64>,
        /// Pieces in which they lie.
        windows: Option<u64>,
        /// The largest of these.
        largest_window_bytes_per_bank: Option<u64>,
    },
    /// The scratch of a program reaches into an L1 buffer.
    Clash {
        /// Which scratch it is.
        scratch: ScratchKind,
        /// A number that the process counts; no operation.
        program: u64,
        /// The cores, as `[x0, y0, x1, y1]`, both ends included.
        core_ranges: Vec<[u32; 4]>,
        /// Address of the lowest L1 buffer.
        lowest_l1_address: u64,
        /// The address behind the scratch.
        scratch_end_address: u64,
        /// Bytes of the scratch, where the address at which it begins is known: a text does not say it.
        scratch_bytes_per_core: Option<u64>,
    },
    /// The scratch of a program is larger than the L1 of a core.
    BeyondCore {
        /// Which scratch it is.
        scratch: ScratchKind,
        /// The cores, as `[x0, y0, x1, y1]`, both ends included.
        core_ranges: Vec<[u32; 4]>,
        /// The address behind the scratch.
        scratch_end_address: u64,
        /// Bytes of the L1 of a core.
        worker_l1_bytes_per_core: u64,
        /// Bytes of the scratch, where the address at which it begins is known: a text does not say it.
        scratch_bytes_per_core: Option<u64>,
    },
    /// A buffer would begin below the first address that it may have.
    BelowFloor {
        /// The first address that it may have.
        floor_address: u64,
        /// The address that it would have.
        address: u64,
    },
    /// The ring of a dataflow buffer is larger than what is free for it in a core.
    Ring {
        /// Its name.
        buffer: String,
        /// Its size on a core.
        ring_bytes: u64,
        /// What a core has for it.
        unreserved_l1_bytes_per_core: u64,
    },
    /// The persistent L1 arena has no place.
    Arena {
        /// Bytes on each core that were asked for.
        requested_bytes: u64,
        /// What their address has to be a multiple of.
        alignment_bytes: Option<u64>,
        /// The cores, as `[x0, y0, x1, y1]`, both ends included.
        core_ranges: Vec<[u32; 4]>,
        /// Where that part of L1 begins.
        from_address: Option<u64>,
        /// The address behind it.
        to_address: Option<u64>,
    },
    /// The scratch of a program reaches into memory of the cores that serve others.
    ServiceCore {
        /// A number that the process counts; no operation.
        program: u64,
        /// The cores, as `[x0, y0, x1, y1]`, both ends included.
        core_ranges: Vec<[u32; 4]>,
        /// The lowest address that the service has taken.
        lowest_service_address: u64,
        /// The address behind the scratch.
        scratch_end_address: u64,
    },
}

/// A buffer that has no place, and what its banks have. A bank is the L1 of a core, or a channel of DRAM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct BufferWithoutSpace {
    /// `DRAM`, `L1`, `L1_SMALL` or `TRACE`.
    pub space: String,
    /// Bytes of the whole buffer.
    pub buffer_bytes: u64,
    /// Banks that it is spread over.
    pub banks: u64,
    /// Bytes of it that each bank has to hold.
    pub bytes_per_bank: u64,
    /// Bytes of a bank.
    pub bank_bytes: Option<u64>,
    /// Bytes of a bank that are taken.
    pub allocated_bytes_per_bank: Option<u64>,
    /// Bytes of a bank that are free.
    pub free_bytes_per_bank: Option<u64>,
    /// The largest piece of these.
    pub largest_free_bytes_per_bank: Option<u64>,
}

/// Memory that a program has on each core while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScratchKind {
    /// Circular buffers.
    Circular,
    /// Dataflow buffers (Metal 2.0).
    Dataflow,
}

/// What kept the memory from being had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TenstorrentVerdict {
    /// It is more than the memory that there is, however much is freed.
    NeverFits,
    /// Too little is free.
    OutOfMemory,
    /// Enough is free, but not in one piece.
    Fragmented,
    /// Enough is free in one piece, but others depend on a part of it.
    BlockedByDependencies,
    /// Scratch and buffers want the same addresses.
    Clash,
    /// The figures do not say.
    Unknown,
}

/// The sentences in a text, in its order, none left out. Any white space in a sentence may be a line end.
pub fn errors_in(text: &[u8]) -> Vec<ErrorAtLine> {
    let mut line = 1;
    let mut counted = 0;
    let at_line = |(at, form): (usize, TenstorrentForm)| {
        let before = text.get(counted..at).unwrap_or_default();
        line += memchr::memchr_iter(b'\n', before).count() as u64;
        counted = at;
        ErrorAtLine { line, error: TenstorrentError::of(form) }
    };
    sentences::found_in(text).into_iter().map(at_line).collect()
}

impl TenstorrentError {
    /// What follows from a sentence.
    pub fn of(form: TenstorrentForm) -> Self {
        let (verdict, missing_bytes) = form.verdict();
        Self { form, verdict, missing_bytes }
    }

    /// The same where it is known at which address scratch begins.
    #[must_use]
    pub fn with_floor(mut self, floor_address: u64) -> Self {
        if let TenstorrentForm::Clash { scratch_end_address, scratch_bytes_per_core, .. }
        | TenstorrentForm::BeyondCore { scratch_end_address, scratch_bytes_per_core, .. } =
            &mut self.form
        {
            *scratch_bytes_per_core = scratch_end_address.checked_sub(floor_address);
        }
        self
    }
}

impl TenstorrentForm {
    fn verdict(&self) -> (TenstorrentVerdict, Option<u64>) {
        use TenstorrentVerdict::{BlockedByDependencies, Clash, NeverFits, OutOfMemory, Unknown};
        match self {
            Self::NoSpace(buffer) => buffer
                .verdict()
                .map_or((Unknown, None), |(verdict, missing)| (verdict, Some(missing))),
            Self::NoSpaceDependencies { buffer, largest_window_bytes_per_bank: window, .. } => {
                let window = window.and_then(|window| excess(buffer.bytes_per_bank, window));
                let blocked = window.map(|missing| (BlockedByDependencies, missing));
                let verdict = buffer.verdict().or(blocked);
                verdict.map_or((Unknown, None), |(verdict, missing)| (verdict, Some(missing)))
            }
            Self::Clash { scratch_end_address: end, lowest_l1_address: lowest, .. }
            | Self::ServiceCore {
                scratch_end_address: end, lowest_service_address: lowest, ..
            } => (Clash, excess(*end, *lowest)),
            Self::BeyondCore { scratch_end_address, worker_l1_bytes_per_core, .. } => {
                (NeverFits, excess(*scratch_end_address, *worker_l1_bytes_per_core))
            }
            Self::BelowFloor { floor_address, address } => {
                (OutOfMemory, excess(*floor_address, *address))
            }
            Self::Ring { ring_bytes, unreserved_l1_bytes_per_core, .. } => {
                (NeverFits, excess(*ring_bytes, *unreserved_l1_bytes_per_core))
            }
            Self::Arena { requested_bytes, .. } => {
                let missing = self.arena_bytes().and_then(|room| excess(*requested_bytes, room));
                (if missing.is_some() { NeverFits } else { Unknown }, missing)
            }
        }
    }

    /// Bytes of an arena on each core, where the sentence is about one and says it.
    fn arena_bytes(&self) -> Option<u64> {
        let Self::Arena { from_address, to_address, .. } = self else { return None };
        (*to_address)?.checked_sub((*from_address)?)
    }
}

impl BufferWithoutSpace {
    /// Why it has no place, and the bytes that are missing in each bank; `None` where the figures do not say.
    fn verdict(&self) -> Option<(TenstorrentVerdict, u64)> {
        use TenstorrentVerdict::{Fragmented, NeverFits, OutOfMemory};
        let rooms = [
            (NeverFits, self.bank_bytes),
            (OutOfMemory, self.free_bytes_per_bank),
            (Fragmented, self.largest_free_bytes_per_bank),
        ];
        rooms
            .into_iter()
            .find_map(|(verdict, room)| Some((verdict, excess(self.bytes_per_bank, room?)?)))
    }
}

/// Bytes by which something is too large for a room.
fn excess(bytes: u64, room: u64) -> Option<u64> {
    bytes.checked_sub(room).filter(|excess| *excess > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn buffer(bank: Option<u64>, free: Option<u64>, largest: Option<u64>) -> BufferWithoutSpace {
        BufferWithoutSpace {
            space: "L1".to_owned(),
            buffer_bytes: 6400,
            banks: 64,
            bytes_per_bank: 100,
            bank_bytes: bank,
            allocated_bytes_per_bank: bank
                .zip(free)
                .and_then(|(bank, free)| bank.checked_sub(free)),
            free_bytes_per_bank: free,
            largest_free_bytes_per_bank: largest,
        }
    }

    #[test]
    fn the_first_reason_that_applies_is_the_verdict() {
        use TenstorrentVerdict::{
            BlockedByDependencies, Fragmented, NeverFits, OutOfMemory, Unknown,
        };
        for (bank, free, largest, expected) in [
            (None, None, None, (Unknown, None)),
            (Some(100), None, None, (Unknown, None)),
            (Some(99), None, None, (NeverFits, Some(1))),
            (Some(90), Some(50), Some(50), (NeverFits, Some(10))),
            (Some(200), Some(99), Some(50), (OutOfMemory, Some(1))),
            (Some(200), Some(100), Some(80), (Fragmented, Some(20))),
            (Some(200), Some(150), Some(100), (Unknown, None)),
        ] {
            let of = |form| {
                let error = TenstorrentError::of(form);
                (error.verdict, error.missing_bytes)
            };
            let buffer = buffer(bank, free, largest);
            assert_eq!(of(TenstorrentForm::NoSpace(buffer.clone())), expected, "{buffer:?}");
            let with_window =
                |largest_window_bytes_per_bank| TenstorrentForm::NoSpaceDependencies {
                    buffer: buffer.clone(),
                    dependency_ranges: Some(1),
                    occupied_ranges: Some(0),
                    placeable_bytes_per_bank: Some(70),
                    windows: Some(2),
                    largest_window_bytes_per_bank,
                };
            let blocked =
                if expected.0 == Unknown { (BlockedByDependencies, Some(40)) } else { expected };
            assert_eq!(of(with_window(Some(60))), blocked, "{buffer:?}");
            assert_eq!(of(with_window(None)), expected, "{buffer:?}");
        }
    }

    const CLASH: &str = "Statically allocated circular buffers\n    in program 0 clash with L1 buffers on core range [0-0 -\r\n\
        7-7]. L1 buffer allocated at 294912 and static circular buffer region ends at 367680";

    #[test]
    fn every_sentence_of_a_text_has_its_line() {
        let text = format!(
            "TT_THROW: {CLASH} (assert.hpp:104)\n\nE       TT_FATAL: DFB a::b: ring size (9 bytes) exceeds Tensix unreserved L1 size \
             (7 bytes)\n{{{CLASH}\nbacktrace:\n}}"
        );
        let found = errors_in(text.as_bytes());
        let lines: Vec<_> =
            found.iter().map(|found| (found.line, found.error.missing_bytes)).collect();
        assert_eq!(lines, [(1, Some(72_768)), (5, Some(2)), (6, Some(72_768))]);
        assert_eq!(errors_in(b""), []);
        assert_eq!(errors_in(text.replace("clash", "meet").replace("ring", "a").as_bytes()), []);
    }

    #[test]
    fn a_report_says_where_scratch_begins() {
        let [found] = &errors_in(CLASH.as_bytes())[..] else { panic!("one sentence") };
        let facts = serde_json::to_value(found.error.clone().with_floor(105_536)).expect("JSON");
        let expected = json!({
            "form": "clash", "scratch": "circular", "program": 0, "core_ranges": [[0, 0, 7, 7]],
            "lowest_l1_address": 294_912, "scratch_end_address": 367_680, "scratch_bytes_per_core": 262_144,
            "verdict": "clash", "missing_bytes": 72_768,
        });
        assert_eq!(facts, expected);
    }

    #[test]
    fn numbers_that_are_no_bytes_are_no_figures() {
        let text = "DFB a: ring size (99999999999999999999999 bytes) exceeds Tensix unreserved L1 size (7 bytes)";
        assert_eq!(errors_in(text.as_bytes()), []);
        let text = "Out of Memory: Not enough space to allocate 9 B L1 buffer across 1 banks, where each bank needs to store 9 B, \
            but bank size is 99999999999999999999999 B";
        let [found] = &errors_in(text.as_bytes())[..] else { panic!("one sentence") };
        assert_eq!(found.error.verdict, TenstorrentVerdict::Unknown);
    }
}
