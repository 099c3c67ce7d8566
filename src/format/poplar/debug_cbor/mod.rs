//! `debug.cbor` (formats/poplar.md 3.1), read as a stream: files of 400 MB are common.
//!
//! A map of `contexts`, in which children precede their parents, and `stringTable`, which comes
//! last. What is complete before a cut or a fault is kept.

mod contexts;

use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::Path;

use ciborium_io::Read as _;
use ciborium_ll::{Decoder, Header};

use crate::format::Progress;
use contexts::{Context, assemble};

use crate::store::debug_info::{DebugInfo, Proportion, TextRef};
use crate::store::names::{Interner, NameId, Names};
use crate::store::report::FileStatus;
use crate::store::{WarningCode, Warnings};
use crate::work::Work;

/// Values nested deeper than this are a fault: real contexts nest to about six.
const MAX_DEPTH: u32 = 64;

/// Reads the contexts; none when the reading was cancelled. The status says whether the file was
/// complete.
pub fn read_debug_info(
    path: &Path,
    name: &str,
    warnings: &Warnings,
    progress: &Progress,
) -> (Option<DebugInfo>, FileStatus) {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => {
            warnings.add(WarningCode::NoDebugInfo, name, format!("cannot be read: {error}"));
            return (None, FileStatus::Invalid);
        }
    };
    let mut reader = Reader {
        decoder: Decoder::from(BufReader::with_capacity(1 << 16, file)),
        contexts: Vec::new(),
        words: Interner::default(),
        texts: Names::default(),
        unparsed_proportion: None,
        progress,
        reported: 0,
    };
    let outcome = reader.read_file();
    let at = reader.decoder.offset();
    progress.advance(at.saturating_sub(reader.reported) as u64);
    Work::Bytes.add(at as u64);
    let read = reader.contexts.len();
    let mut status = FileStatus::Ok;
    match outcome {
        Ok(()) => {}
        // Names come last in the file, so a part of it would be contexts without names.
        Err(Stop::Cancelled) => return (None, status),
        Err(Stop::Truncated) => {
            status = FileStatus::Truncated;
            warnings.add(
                WarningCode::Truncated,
                name,
                format!("ends at byte {at} before its contents do; {read} contexts were complete"),
            );
        }
        Err(Stop::Fault(what)) => {
            status = FileStatus::Invalid;
            warnings.add(
                WarningCode::Inconsistent,
                name,
                format!("byte {at}: {what}; {read} contexts before it were read"),
            );
        }
    }
    if let Some((id, text)) = &reader.unparsed_proportion {
        warnings.add(
            WarningCode::UnknownValue,
            name,
            format!("context {id}, availableMemoryProportion: a number expected, {text:?} found"),
        );
    }
    if read == 0 {
        warnings.add(
            WarningCode::NoDebugInfo,
            name,
            "no debug context could be read: operations and their options are not known",
        );
        return (None, status);
    }
    let words = reader.words.into_names();
    let mut debug = assemble(reader.contexts, words, reader.texts, name, warnings);
    debug.is_cut = status != FileStatus::Ok;
    (Some(debug), status)
}

enum Stop {
    /// The file ends too soon.
    Truncated,
    /// The file is not what it should be.
    Fault(String),
    /// Nobody wants it any more.
    Cancelled,
}

impl From<ciborium_ll::Error<std::io::Error>> for Stop {
    fn from(error: ciborium_ll::Error<std::io::Error>) -> Self {
        match error {
            ciborium_ll::Error::Io(error) => error.into(),
            ciborium_ll::Error::Syntax(at) => Self::Fault(format!("no CBOR item begins at {at}")),
        }
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == ErrorKind::UnexpectedEof {
            Self::Truncated
        } else {
            Self::Fault(error.to_string())
        }
    }
}

struct Reader<'a> {
    decoder: Decoder<BufReader<File>>,
    contexts: Vec<Context>,
    words: Interner,
    texts: Names,
    /// The first context whose option could not be parsed, and its value.
    unparsed_proportion: Option<(u64, String)>,
    progress: &'a Progress,
    reported: usize,
}

/// The keys that are read (formats/poplar.md 3.1). Files have tens of millions of keys, so none of
/// them becomes a text of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Contexts,
    StringTable,
    Id,
    ParentId,
    Name,
    Layer,
    Location,
    FileName,
    LineNumber,
    /// What a layer calls the kind of a thing.
    Kind,
    Proportion,
    PartialsType,
    Other,
}

impl Key {
    /// No known key is longer.
    const LONGEST: usize = 32;

    fn of(bytes: &[u8]) -> Self {
        match bytes {
            b"contexts" => Self::Contexts,
            b"stringTable" => Self::StringTable,
            b"id" => Self::Id,
            b"parentId" => Self::ParentId,
            b"name" => Self::Name,
            b"layer" => Self::Layer,
            b"location" => Self::Location,
            b"fileName" => Self::FileName,
            b"lineNumber" => Self::LineNumber,
            b"api" | b"opType" | b"opid" | b"op_type" | b"opcode" | b"class" => Self::Kind,
            b"availableMemoryProportion" => Self::Proportion,
            b"partialsType" => Self::PartialsType,
            _ => Self::Other,
        }
    }
}

/// The options of one context that are kept.
#[derive(Default)]
struct Options {
    proportion: Option<Proportion>,
    /// The text of a proportion that is no number.
    unparsed: Option<String>,
    partials_type: Option<NameId>,
}

impl Reader<'_> {
    fn read_file(&mut self) -> Result<(), Stop> {
        let Header::Map(pairs) = self.decoder.pull()? else {
            return Err(Stop::Fault("a CBOR map expected".to_owned()));
        };
        self.each_item(pairs, |reader| match reader.key()? {
            Key::Contexts => reader.read_contexts(),
            Key::StringTable => reader.read_strings(),
            _ => reader.skip(0),
        })
    }

    /// Calls `each` for every item of an array or pair of a map, of so many or up to the end mark.
    fn each_item(
        &mut self,
        mut left: Option<usize>,
        mut each: impl FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        while self.has_next(&mut left)? {
            each(self)?;
        }
        Ok(())
    }

    /// Whether another item of an array or map follows; consumes the end mark of an open one.
    fn has_next(&mut self, left: &mut Option<usize>) -> Result<bool, Stop> {
        if let Some(count) = left {
            let more = *count > 0;
            *count = count.saturating_sub(1);
            return Ok(more);
        }
        match self.decoder.pull()? {
            Header::Break => Ok(false),
            other => {
                self.decoder.push(other);
                Ok(true)
            }
        }
    }

    fn read_contexts(&mut self) -> Result<(), Stop> {
        let Header::Array(items) = self.decoder.pull()? else {
            return Err(Stop::Fault("an array of contexts expected".to_owned()));
        };
        self.each_item(items, |reader| {
            let context = reader.read_context()?;
            reader.contexts.push(context);
            let at = reader.decoder.offset();
            if at.saturating_sub(reader.reported) > 1 << 20 {
                reader.progress.advance(at.saturating_sub(reader.reported) as u64);
                reader.reported = at;
                if reader.progress.is_cancelled() {
                    return Err(Stop::Cancelled);
                }
            }
            Ok(())
        })
    }

    fn read_context(&mut self) -> Result<Context, Stop> {
        let Header::Map(pairs) = self.decoder.pull()? else {
            return Err(Stop::Fault("a context (a map) expected".to_owned()));
        };
        let mut context = Context {
            id: 0,
            parent: 0,
            layer: self.words.intern(""),
            kind: None,
            name: TextRef::NONE,
            file: TextRef::NONE,
            line: 0,
            proportion: Proportion::Absent,
            partials_type: None,
        };
        let mut options = Options::default();
        let mut left = pairs;
        while self.has_next(&mut left)? {
            match self.key()? {
                Key::Id => context.id = self.number()?.unwrap_or(0),
                Key::ParentId => context.parent = self.number()?.unwrap_or(0),
                Key::Name => context.name = self.text_ref()?,
                Key::Location => self.read_location(&mut context)?,
                Key::Layer => {
                    if let Some(layer) = self.word()? {
                        context.layer = layer;
                    }
                }
                Key::Kind => {
                    if let Some(kind) = self.word()? {
                        context.kind.get_or_insert(kind);
                    }
                }
                key => self.scan(key, &mut options, 0)?,
            }
        }
        context.proportion = options.proportion.unwrap_or(Proportion::Absent);
        context.partials_type = options.partials_type;
        if let Some(text) = options.unparsed {
            self.unparsed_proportion.get_or_insert((context.id, text));
        }
        Ok(context)
    }

    fn read_location(&mut self, context: &mut Context) -> Result<(), Stop> {
        let header = self.decoder.pull()?;
        let Header::Map(pairs) = header else {
            return self.skip_rest(header, 0);
        };
        self.each_item(pairs, |reader| {
            match reader.key()? {
                Key::FileName => context.file = reader.text_ref()?,
                Key::LineNumber => {
                    let line = reader.number()?.and_then(|line| u32::try_from(line).ok());
                    context.line = line.unwrap_or(0);
                }
                _ => reader.skip(0)?,
            }
            Ok(())
        })
    }

    fn read_strings(&mut self) -> Result<(), Stop> {
        let Header::Array(items) = self.decoder.pull()? else {
            return Err(Stop::Fault("an array of strings expected".to_owned()));
        };
        self.each_item(items, |reader| {
            let text = match reader.decoder.pull()? {
                Header::Text(length) => reader.text(length)?,
                other => reader.skip_rest(other, 0).map(|()| String::new())?,
            };
            reader.texts.push(&text);
            Ok(())
        })
    }

    /// Goes through a value that is not kept, looking for options in the maps within it.
    fn scan(&mut self, key: Key, options: &mut Options, depth: u32) -> Result<(), Stop> {
        let header = self.decoder.pull()?;
        match (key, header) {
            (Key::Proportion, header) => self.proportion(header, options, depth),
            (Key::PartialsType, Header::Text(length)) => {
                let text = self.text(length)?;
                options.partials_type = Some(self.words.intern(&text));
                Ok(())
            }
            (_, Header::Map(pairs)) => {
                let depth = deeper(depth)?;
                self.each_item(pairs, |reader| {
                    let key = reader.key()?;
                    reader.scan(key, options, depth)
                })
            }
            (_, Header::Array(items)) => {
                let depth = deeper(depth)?;
                self.each_item(items, |reader| reader.scan(Key::Other, options, depth))
            }
            (_, other) => self.skip_rest(other, depth),
        }
    }

    /// The value of `availableMemoryProportion`: text or number in the file.
    fn proportion(
        &mut self,
        header: Header,
        options: &mut Options,
        depth: u32,
    ) -> Result<(), Stop> {
        let found = match header {
            Header::Float(value) => Some(value),
            Header::Positive(value) => Some(value as f64),
            Header::Text(length) => {
                let text = self.text(length)?;
                let parsed = text.trim().parse().ok().filter(|value: &f64| value.is_finite());
                if parsed.is_none() {
                    options.unparsed.get_or_insert(text.chars().take(80).collect());
                }
                parsed
            }
            other => {
                self.skip_rest(other, depth)?;
                options.unparsed.get_or_insert("something else".to_owned());
                None
            }
        };
        let value = found.filter(|value| value.is_finite());
        options.proportion = Some(value.map_or(Proportion::Unknown, Proportion::Value));
        Ok(())
    }

    fn skip(&mut self, depth: u32) -> Result<(), Stop> {
        let header = self.decoder.pull()?;
        self.skip_rest(header, depth)
    }

    /// Passes over what follows a header.
    fn skip_rest(&mut self, header: Header, depth: u32) -> Result<(), Stop> {
        match header {
            Header::Text(length) | Header::Bytes(length) => self.each_segment(length, |_| ()),
            Header::Tag(_) => self.skip(deeper(depth)?),
            Header::Array(items) => {
                let depth = deeper(depth)?;
                self.each_item(items, |reader| reader.skip(depth))
            }
            Header::Map(pairs) => {
                let depth = deeper(depth)?;
                self.each_item(pairs, |reader| {
                    reader.skip(depth)?;
                    reader.skip(depth)
                })
            }
            Header::Break => Err(Stop::Fault("an end mark where a value must be".to_owned())),
            Header::Positive(_) | Header::Negative(_) | Header::Float(_) | Header::Simple(_) => {
                Ok(())
            }
        }
    }

    fn key(&mut self) -> Result<Key, Stop> {
        match self.decoder.pull()? {
            Header::Text(Some(length)) if length <= Key::LONGEST => {
                let mut bytes = [0; Key::LONGEST];
                let (key, _) = bytes.split_at_mut(length);
                self.decoder.read_exact(key)?;
                Ok(Key::of(key))
            }
            Header::Text(length) => Ok(Key::of(self.text(length)?.as_bytes())),
            _ => Err(Stop::Fault("a key (a text) expected".to_owned())),
        }
    }

    /// A number ≥ 0, `None` for anything else.
    fn number(&mut self) -> Result<Option<u64>, Stop> {
        match self.decoder.pull()? {
            Header::Positive(number) => Ok(Some(number)),
            other => self.skip_rest(other, 0).map(|()| None),
        }
    }

    /// An index into the string table.
    fn text_ref(&mut self) -> Result<TextRef, Stop> {
        let index = self.number()?.and_then(|index| u32::try_from(index).ok());
        Ok(index.map_or(TextRef::NONE, TextRef))
    }

    /// A text that recurs, interned.
    fn word(&mut self) -> Result<Option<NameId>, Stop> {
        match self.decoder.pull()? {
            Header::Text(length) => {
                let text = self.text(length)?;
                Ok(Some(self.words.intern(&text)))
            }
            other => self.skip_rest(other, 0).map(|()| None),
        }
    }

    fn text(&mut self, length: Option<usize>) -> Result<String, Stop> {
        let mut bytes = Vec::new();
        self.each_segment(length, |piece| bytes.extend_from_slice(piece))?;
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Reads a text's or byte string's bytes in small pieces, so that a length costs nothing before
    /// its bytes have come.
    fn each_segment(
        &mut self,
        length: Option<usize>,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), Stop> {
        let mut length = length;
        let is_open = length.is_none();
        loop {
            if is_open {
                length = match self.decoder.pull()? {
                    Header::Break => return Ok(()),
                    Header::Text(Some(length)) | Header::Bytes(Some(length)) => Some(length),
                    _ => return Err(Stop::Fault("a piece of a text expected".to_owned())),
                };
            }
            let mut left = length.unwrap_or(0);
            let mut buffer = [0_u8; 256];
            while left > 0 {
                let wanted = left.min(buffer.len());
                let (piece, _) = buffer.split_at_mut(wanted);
                self.decoder.read_exact(piece)?;
                each(piece);
                left = left.saturating_sub(piece.len());
            }
            if !is_open {
                return Ok(());
            }
        }
    }
}

fn deeper(depth: u32) -> Result<u32, Stop> {
    if depth >= MAX_DEPTH {
        return Err(Stop::Fault(format!("values nested deeper than {MAX_DEPTH}")));
    }
    Ok(depth.saturating_add(1))
}
