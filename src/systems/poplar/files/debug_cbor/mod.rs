//! `debug.cbor` (formats/poplar.md 3.1), read as a stream: files of 400 MB are common.
//!
//! A map of `contexts`, in which children precede their parents, and `stringTable`, which comes last. Everything
//! complete before a cut or a fault is kept.

mod arguments;
mod cbor;
mod contexts;
mod details;

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use self::arguments::FoundArguments;
use self::cbor::{Cbor, Item, Stop};
pub use self::contexts::layers;
use self::contexts::{FoundContexts, assemble};
pub use self::details::DebugFile;
use crate::files;
use crate::format::Progress;
use crate::limits;
use crate::progress::Watched;
use crate::store::debug_info::{Context, DebugInfo, Proportion, TextRef};
use crate::store::names::{Interner, NameId, Names};
use crate::store::report::FileStatus;
use crate::store::{WarningCode, Warnings};

/// Values nested deeper than this are a fault: real contexts nest to about six.
const MAX_DEPTH: u32 = 64;
/// Bytes of a text that is looked at in place.
const IN_PLACE: u64 = 1 << 12;

/// Reads the contexts; none when the reading was canceled. The status says whether the file was
/// complete.
pub fn read_debug_info(
    path: &Path,
    name: &str,
    warnings: &Warnings,
    progress: &Progress,
) -> (Option<DebugInfo>, FileStatus) {
    let file = match files::open(path) {
        Ok(file) => file,
        Err(error) => {
            warnings.add(WarningCode::NoDebugInfo, name, format!("cannot be read: {error}"));
            return (None, FileStatus::Invalid);
        }
    };
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    let mut reader = Reader {
        most_contexts: limits::contexts(bytes),
        most_texts: limits::strings(bytes),
        left_out: 0,
        cbor: Cbor::new(Watched { reader: file, progress }),
        contexts: FoundContexts::default(),
        words: Interner::default(),
        arguments: FoundArguments::default(),
        texts: Names::default(),
        unparsed_proportion: None,
        without_id: 0,
    };
    let outcome = reader.read_file();
    let at = reader.cbor.offset();
    let read = reader.contexts.len();
    let mut status = FileStatus::Ok;
    match outcome {
        Ok(()) => {}
        // Names come last in the file, so a part of it would be contexts without names.
        Err(_) if progress.is_cancelled() => return (None, status),
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
    if reader.left_out > 0 {
        let message = format!(
            "{} contexts and texts more than a file of {bytes} bytes can hold; only the first of \
            each are read",
            reader.left_out
        );
        warnings.add(WarningCode::Inconsistent, name, message);
        status = FileStatus::Invalid;
    }
    if let Some((id, text)) = &reader.unparsed_proportion {
        warnings.add(
            WarningCode::UnknownValue,
            name,
            format!("context {id}, availableMemoryProportion: a number expected, {text:?} found"),
        );
    }
    if reader.arguments.left_out > 0 {
        let message = format!(
            "arguments of {} contexts cannot be searched: they have more than any report has",
            reader.arguments.left_out
        );
        warnings.add(WarningCode::Inconsistent, name, message);
    }
    if reader.without_id > 0 {
        let what = format!("{} contexts have no id and were left out", reader.without_id);
        warnings.add(WarningCode::Inconsistent, name, what);
    }
    if read == 0 {
        warnings.add(
            WarningCode::NoDebugInfo,
            name,
            "no debug context could be read: operations and their options are not known",
        );
        return (None, status);
    }
    let names = [reader.words, reader.arguments.into_lists()].map(Interner::into_names);
    let [words, arguments] = names;
    let mut debug = assemble(reader.contexts, [words, arguments, reader.texts], name, warnings);
    debug.is_cut = status != FileStatus::Ok;
    (Some(debug), status)
}

struct Reader<'a> {
    /// Contexts and texts that are kept, and how many more there were.
    most_contexts: usize,
    most_texts: usize,
    left_out: u64,
    cbor: Cbor<Watched<'a, File>>,
    contexts: FoundContexts,
    words: Interner,
    arguments: FoundArguments,
    texts: Names,
    /// The first context whose option could not be parsed, and its value.
    unparsed_proportion: Option<(u64, String)>,
    /// Contexts that were left out, because nothing can name them.
    without_id: u64,
}

/// The keys that are read (formats/poplar.md 3.1). Files have tens of millions of keys, so none of
/// them becomes a text of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CborKey {
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
    /// What a call was given.
    Arguments,
    Proportion,
    PartialsType,
    SourceFile,
    Code,
    /// That of a tensor.
    Shape,
    /// A place in a list.
    Number,
    Other,
}

impl CborKey {
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
            b"args" | b"attributes" | b"options" => Self::Arguments,
            b"availableMemoryProportion" => Self::Proportion,
            b"partialsType" => Self::PartialsType,
            b"sourcefile" => Self::SourceFile,
            b"sourceline" => Self::Code,
            _ => Self::Other,
        }
    }
}

/// The options of one context that are kept.
#[derive(Default)]
struct ContextOptions {
    proportion: Option<Proportion>,
    /// The text of a proportion that is no number.
    unparsed: Option<String>,
    partials_type: Option<NameId>,
}

impl Reader<'_> {
    fn read_file(&mut self) -> Result<(), Stop> {
        let Item::Map(pairs) = self.cbor.item()? else {
            return Err(Stop::Fault("a CBOR map expected".to_owned()));
        };
        self.each(pairs, |reader| match reader.key()? {
            CborKey::Contexts => reader.read_contexts(),
            CborKey::StringTable => reader.read_strings(),
            _ => reader.skip(0),
        })
    }

    /// Calls `each` for every item of an array or pair of a map, of so many or up to the end mark.
    fn each(
        &mut self,
        mut left: Option<u64>,
        mut each: impl FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        while self.cbor.has_next(&mut left)? {
            each(self)?;
        }
        Ok(())
    }

    fn read_contexts(&mut self) -> Result<(), Stop> {
        let Item::Array(items) = self.cbor.item()? else {
            return Err(Stop::Fault("an array of contexts expected".to_owned()));
        };
        self.each(items, Self::read_context)
    }

    fn read_context(&mut self) -> Result<(), Stop> {
        let offset = self.cbor.offset();
        let Item::Map(pairs) = self.cbor.item()? else {
            return Err(Stop::Fault("a context (a map) expected".to_owned()));
        };
        let mut context = Context { offset, ..Context::of(0) };
        let mut parent = 0;
        let (mut source_file, mut source_line) = (None, 0);
        let mut options = ContextOptions::default();
        self.arguments.clear();
        let mut left = pairs;
        while self.cbor.has_next(&mut left)? {
            match self.key()? {
                CborKey::Id => context.id = self.number()?.unwrap_or(0),
                CborKey::ParentId => parent = self.number()?.unwrap_or(0),
                CborKey::Name => context.name = self.text_ref()?,
                CborKey::Location => self.read_location(&mut context)?,
                CborKey::Layer => context.layer = self.word()?.or(context.layer),
                CborKey::Kind => context.kind = context.kind.or(self.word()?),
                CborKey::SourceFile => source_file = self.word()?,
                CborKey::Code => source_line = self.line()?,
                CborKey::Arguments => self.read_arguments(&mut options)?,
                key => self.scan(key, &mut options, 0)?,
            }
        }
        context.proportion = options.proportion.unwrap_or(Proportion::Absent);
        context.partials_type = options.partials_type;
        context.source = source_file.map(|file| (file, source_line));
        context.arguments = self.arguments.take();
        if let Some(text) = options.unparsed {
            self.unparsed_proportion.get_or_insert((context.id, text));
        }
        // No id is 0 (formats/poplar.md 3.1), and nothing asks for a context without one.
        if context.id == 0 {
            self.without_id = self.without_id.saturating_add(1);
        } else if self.contexts.len() >= self.most_contexts {
            self.left_out = self.left_out.saturating_add(1);
        } else if !self.contexts.push(context, parent) {
            return Err(Stop::Fault("more contexts than can be numbered".to_owned()));
        }
        Ok(())
    }

    fn read_location(&mut self, context: &mut Context) -> Result<(), Stop> {
        let item = self.cbor.item()?;
        let Item::Map(pairs) = item else {
            return self.skip_rest(item, 0);
        };
        self.each(pairs, |reader| {
            match reader.key()? {
                CborKey::FileName => context.file = reader.text_ref()?,
                CborKey::LineNumber => context.line = reader.line()?,
                _ => reader.skip(0)?,
            }
            Ok(())
        })
    }

    fn read_strings(&mut self) -> Result<(), Stop> {
        let Item::Array(items) = self.cbor.item()? else {
            return Err(Stop::Fault("an array of strings expected".to_owned()));
        };
        self.each(items, |reader| {
            let text = match reader.cbor.item()? {
                Item::Text(length) => reader.text(length)?,
                other => reader.skip_rest(other, 0).map(|()| String::new())?,
            };
            if reader.texts.len() < reader.most_texts {
                reader.texts.push(&text);
            } else {
                reader.left_out = reader.left_out.saturating_add(1);
            }
            Ok(())
        })
    }

    /// Goes through a value that is not kept, looking for options in the maps within it.
    fn scan(&mut self, key: CborKey, options: &mut ContextOptions, depth: u32) -> Result<(), Stop> {
        let item = self.cbor.item()?;
        self.scan_item(key, item, options, depth)
    }

    /// The same of a value whose head was read.
    fn scan_item(
        &mut self,
        key: CborKey,
        item: Item,
        options: &mut ContextOptions,
        depth: u32,
    ) -> Result<(), Stop> {
        match (key, item) {
            (CborKey::Proportion | CborKey::PartialsType, Item::Text(length)) => {
                let text = self.text(length)?;
                self.keep_option(key, item, &text, options);
                Ok(())
            }
            (CborKey::Proportion, _) => {
                self.skip_rest(item, depth)?;
                self.keep_option(key, item, "", options);
                Ok(())
            }
            (_, Item::Map(pairs)) => {
                let depth = deeper(depth)?;
                self.each(pairs, |reader| {
                    let key = reader.key()?;
                    reader.scan(key, options, depth)
                })
            }
            (_, Item::Array(items)) => {
                let depth = deeper(depth)?;
                self.each(items, |reader| reader.scan(CborKey::Other, options, depth))
            }
            _ => self.skip_rest(item, depth),
        }
    }

    /// Keeps the value of an option that has a column: `availableMemoryProportion` is a text or a number in the file.
    fn keep_option(&mut self, key: CborKey, item: Item, text: &str, options: &mut ContextOptions) {
        if let (CborKey::PartialsType, Item::Text(_)) = (key, item) {
            let word = self.words.intern(&limits::cut(text, limits::WORD_BYTES));
            options.partials_type = Some(word);
        }
        if key != CborKey::Proportion {
            return;
        }
        let found = match item {
            Item::Float(value) => Some(value),
            Item::Unsigned(value) => Some(value as f64),
            Item::Text(_) => {
                let parsed = text.trim().parse().ok().filter(|value: &f64| value.is_finite());
                if parsed.is_none() {
                    options.unparsed.get_or_insert(text.chars().take(80).collect());
                }
                parsed
            }
            _ => {
                options.unparsed.get_or_insert("something else".to_owned());
                None
            }
        };
        let value = found.filter(|value| value.is_finite());
        options.proportion = Some(value.map_or(Proportion::Unknown, Proportion::Value));
    }

    fn skip(&mut self, depth: u32) -> Result<(), Stop> {
        let item = self.cbor.item()?;
        self.skip_rest(item, depth)
    }

    /// Passes over what follows the head of an item.
    fn skip_rest(&mut self, item: Item, depth: u32) -> Result<(), Stop> {
        match item {
            Item::Text(length) | Item::Bytes(length) => self.cbor.each_piece(length, |_| ()),
            Item::Tag(_) => self.skip(deeper(depth)?),
            Item::Array(items) => {
                let depth = deeper(depth)?;
                self.each(items, |reader| reader.skip(depth))
            }
            Item::Map(pairs) => {
                let depth = deeper(depth)?;
                self.each(pairs, |reader| {
                    reader.skip(depth)?;
                    reader.skip(depth)
                })
            }
            Item::Break => Err(Stop::Fault("an end mark where a value must be".to_owned())),
            Item::Unsigned(_) | Item::Negative(_) | Item::Float(_) | Item::Simple(_) => Ok(()),
        }
    }

    fn key(&mut self) -> Result<CborKey, Stop> {
        match self.cbor.item()? {
            Item::Text(Some(length @ ..=IN_PLACE)) => {
                Ok(CborKey::of(self.cbor.next(length as usize)?))
            }
            Item::Text(length) => Ok(CborKey::of(self.text(length)?.as_bytes())),
            _ => Err(Stop::Fault("a key (a text) expected".to_owned())),
        }
    }

    /// A number ≥ 0, `None` for anything else.
    fn number(&mut self) -> Result<Option<u64>, Stop> {
        match self.cbor.item()? {
            Item::Unsigned(number) => Ok(Some(number)),
            other => self.skip_rest(other, 0).map(|()| None),
        }
    }

    /// A line of a file; 0 for what is none.
    fn line(&mut self) -> Result<u32, Stop> {
        Ok(self.number()?.and_then(|line| u32::try_from(line).ok()).unwrap_or(0))
    }

    /// An index into the string table.
    fn text_ref(&mut self) -> Result<TextRef, Stop> {
        let index = self.number()?.and_then(|index| u32::try_from(index).ok());
        Ok(index.map_or(TextRef::NONE, TextRef))
    }

    /// A text that recurs, interned; `None` for anything else.
    fn word(&mut self) -> Result<Option<NameId>, Stop> {
        match self.cbor.item()? {
            Item::Text(length) => self.interned(length).map(Some),
            other => self.skip_rest(other, 0).map(|()| None),
        }
    }

    fn interned(&mut self, length: Option<u64>) -> Result<NameId, Stop> {
        if let Some(length @ ..=IN_PLACE) = length {
            let bytes = self.cbor.next(length as usize)?;
            return Ok(match std::str::from_utf8(bytes) {
                Ok(text) => self.words.intern(&limits::cut(text, limits::WORD_BYTES)),
                Err(_) => {
                    let text = String::from_utf8_lossy(bytes);
                    self.words.intern(&limits::cut(&text, limits::WORD_BYTES))
                }
            });
        }
        let text = self.text(length)?;
        Ok(self.words.intern(&limits::cut(&text, limits::WORD_BYTES)))
    }

    /// A text, as much of it as names are kept.
    fn text(&mut self, length: Option<u64>) -> Result<String, Stop> {
        let mut bytes = Vec::new();
        self.cbor.each_piece(length, |piece| {
            // A byte more, so that it is seen to be longer.
            let room =
                limits::NAME_BYTES.saturating_add(1).saturating_sub(bytes.len()).min(piece.len());
            bytes.extend_from_slice(piece.get(..room).unwrap_or(piece));
        })?;
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        match limits::cut(&text, limits::NAME_BYTES) {
            Cow::Borrowed(_) => Ok(text),
            Cow::Owned(cut) => Ok(cut),
        }
    }
}

fn deeper(depth: u32) -> Result<u32, Stop> {
    if depth >= MAX_DEPTH {
        return Err(Stop::Fault(format!("values nested deeper than {MAX_DEPTH}")));
    }
    Ok(depth.saturating_add(1))
}
