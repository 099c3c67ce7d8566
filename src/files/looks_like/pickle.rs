//! The first opcodes of a pickle, which say what it holds. They are walked over, and nothing is executed.

/// The number that torch.save wrote first before PyTorch 1.6.
const LEGACY_MAGIC: &[u8] = b"\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19";
/// Keys of memory snapshots, and one of the segments that some are a list of.
const SNAPSHOT_KEYS: [&[u8]; 7] = [
    b"segments",
    b"device_traces",
    b"external_annotations",
    b"allocator_settings",
    b"host_segments",
    b"host_traces",
    b"segment_type",
];
/// Libraries whose objects a pickle may hold, and that write no memory snapshots.
const LIBRARIES: [&[u8]; 11] = [
    b"numpy",
    b"torch",
    b"pandas",
    b"sklearn",
    b"scipy",
    b"jax",
    b"jaxlib",
    b"tensorflow",
    b"keras",
    b"xgboost",
    b"lightgbm",
];

/// What the first opcodes of a pickle say.
#[derive(Debug, Default)]
pub(super) struct Pickle<'a> {
    /// Whether it begins as one.
    pub is_one: bool,
    /// Whether torch.save wrote it before PyTorch 1.6.
    pub is_legacy_save: bool,
    /// The modules whose objects it names.
    modules: Vec<&'a [u8]>,
    has_snapshot_key: bool,
}

impl<'a> Pickle<'a> {
    /// Walks over the opcodes of the beginning of a file.
    pub fn of(head: &'a [u8]) -> Self {
        let [0x80, 0..=5, rest @ ..] = head else { return Self::default() };
        let mut pickle = Self {
            is_one: true,
            is_legacy_save: rest.starts_with(LEGACY_MAGIC),
            ..Self::default()
        };
        let mut walk = OpcodeWalk { rest, texts: [&[]; 2] };
        while let Some(step) = walk.next() {
            match step {
                Opcode::Text(text) => pickle.has_snapshot_key |= SNAPSHOT_KEYS.contains(&text),
                Opcode::Global(module) => pickle.modules.push(module),
                Opcode::Other => {}
            }
        }
        pickle
    }

    pub fn is_snapshot(&self) -> bool {
        self.has_snapshot_key && !self.names_library()
    }

    /// Whether it holds objects of a library, such as `numpy`.
    pub fn holds(&self, library: &str) -> bool {
        self.modules.iter().any(|module| root(module) == library.as_bytes())
    }

    pub fn names_library(&self) -> bool {
        self.modules.iter().any(|module| LIBRARIES.contains(&root(module)))
    }
}

/// Whether a pickle holds objects of a library that writes no memory snapshots, or is one of torch.save's.
pub(crate) fn is_of_other_library(head: &[u8]) -> bool {
    let pickle = Pickle::of(head);
    pickle.is_legacy_save || (pickle.names_library() && !pickle.has_snapshot_key)
}

/// The package of a module: `numpy` of `numpy.core.multiarray`.
fn root(module: &[u8]) -> &[u8] {
    module.split(|byte| *byte == b'.').next().unwrap_or_default()
}

enum Opcode<'a> {
    Text(&'a [u8]),
    Global(&'a [u8]),
    Other,
}

struct OpcodeWalk<'a> {
    rest: &'a [u8],
    /// The last two texts: where a global is made of texts, its module and its name.
    texts: [&'a [u8]; 2],
}

impl<'a> OpcodeWalk<'a> {
    /// The next opcode; `None` at the end, and where it is none.
    fn next(&mut self) -> Option<Opcode<'a>> {
        let (opcode, after) = self.rest.split_first()?;
        self.rest = after;
        match opcode {
            b'('
            | b'.'
            | b'0'
            | b'1'
            | b'2'
            | b'N'
            | b'Q'
            | b'R'
            | b'a'
            | b'b'
            | b'd'
            | b'}'
            | b'e'
            | b'l'
            | b']'
            | b'o'
            | b's'
            | b't'
            | b')'
            | b'u'
            | 0x81
            | 0x85..=0x89
            | 0x8F..=0x92
            | 0x94
            | 0x97
            | 0x98 => {}
            0x93 => return self.texts.first().map(|module| Opcode::Global(module)),
            b'c' | b'i' => {
                let module = self.line()?;
                self.line()?;
                return Some(Opcode::Global(module));
            }
            b'S' | b'V' => {
                let text = self.line()?;
                return Some(self.text(text));
            }
            b'F' | b'I' | b'L' | b'P' | b'g' | b'p' => {
                self.line()?;
            }
            b'K' | b'h' | b'q' | 0x80 | 0x82 => {
                self.take(1)?;
            }
            b'M' | 0x83 => {
                self.take(2)?;
            }
            b'J' | b'j' | b'r' | 0x84 => {
                self.take(4)?;
            }
            b'G' | 0x95 => {
                self.take(8)?;
            }
            b'U' | b'X' | b'T' | 0x8C | 0x8D => {
                let text = self.counted(match opcode {
                    b'U' | 0x8C => 1,
                    0x8D => 8,
                    _ => 4,
                })?;
                return Some(self.text(text));
            }
            b'C' | 0x8A => {
                self.counted(1)?;
            }
            b'B' | 0x8B => {
                self.counted(4)?;
            }
            0x8E | 0x96 => {
                self.counted(8)?;
            }
            _ => return None,
        }
        Some(Opcode::Other)
    }

    fn text(&mut self, text: &'a [u8]) -> Opcode<'a> {
        let [_, last] = self.texts;
        self.texts = [last, text];
        Opcode::Text(text)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, after) = self.rest.split_at_checked(count)?;
        self.rest = after;
        Some(taken)
    }

    /// What stands behind its own length, which is a number of so many bytes.
    fn counted(&mut self, width: usize) -> Option<&'a [u8]> {
        let mut length = [0; 8];
        length.get_mut(..width)?.copy_from_slice(self.take(width)?);
        self.take(usize::try_from(u64::from_le_bytes(length)).ok()?)
    }

    fn line(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(b'\n', self.rest)?;
        let line = self.take(end)?;
        self.take(1)?;
        Some(line)
    }
}
