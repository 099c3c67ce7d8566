//! Recognizes files and directories that no reader opens: their kind, who writes them, and what to do with them.
//!
//! The answer comes from three tables, one for files that are not text ([`binary`]), one for texts ([`text`]), one for
//! directories ([`directory`]). An entry is recognized by the first bytes, a key, or the ending of the name. Nothing here
//! knows a reader, nothing is executed, and no more than [`peek::HEAD`] bytes of a file are read or decompressed.

mod binary;
mod directory;
mod peek;
mod pickle;
mod text;

use std::fs;
use std::io;
use std::path::Path;

use peek::Peek;
pub(crate) use peek::is_control;

use super::packed::FilePacking;
pub(crate) use pickle::is_of_other_library;

/// What Tilescope opens.
const OPENS: &str = "Tilescope opens PyTorch memory snapshots and timelines, XLA dumps and xplane profiles, Graphcore \
    reports and TT-NN reports; see `tilescope --help`.";
/// How to record what Tilescope opens of PyTorch.
const RECORD_SNAPSHOT: &str = "Record a memory snapshot instead: call torch.cuda.memory._record_memory_history(), run \
    some steps, then call torch.cuda.memory._dump_snapshot(\"run.pickle\") and open run.pickle.";
/// How to record what Tilescope opens of JAX and XLA.
const DUMP_MODULES: &str = "Dump the compiled modules instead: run with \
    XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_proto --xla_dump_hlo_as_text\" and open DIR.";
/// What to do with a log.
const LOG: &str = "Use `tilescope diagnose FILE`.";
/// What to do with a text.
const DIAGNOSE: &str = "If it is a log or an error message, use `tilescope diagnose FILE`.";
/// What to do with an archive.
const EXTRACT: &str = "Extract it first, then open what it holds.";

/// What follows the name of a kind that is nothing about memory.
const NO_PROFILE: &str = ", not a memory profile";
/// What follows the name of a kind that is about memory.
const NOT_READ: &str = ", which Tilescope does not read";

/// A kind of file or directory.
struct Lookalike<T: ?Sized> {
    /// How it is recognized.
    is: fn(&T) -> bool,
    /// What it is called, with its article.
    what: &'static str,
    /// Who writes it; empty where that says nothing.
    whose: &'static str,
    /// Why it is not opened.
    but: &'static str,
    /// What to do.
    hint: &'static str,
}

impl<T: ?Sized> Lookalike<T> {
    fn look(&self, form: Form) -> Look {
        let is = match self.whose {
            "" => self.what.to_owned(),
            whose => format!("{} ({whose})", self.what),
        };
        Look { is, but: self.but, hint: self.hint.to_owned(), form }
    }
}

/// The first entry of a table that matches.
fn first_of<T: ?Sized>(table: &[Lookalike<T>], of: &T, form: Form) -> Option<Look> {
    table.iter().find(|entry| (entry.is)(of)).map(|entry| entry.look(form))
}

/// How the content is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text, or nothing at all.
    Text,
    /// Bytes of a kind that is known.
    Binary,
    /// Bytes of no known kind.
    Unknown,
    Directory,
}

/// What a path looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// The kind with its article, and whose it is.
    is: String,
    /// Why it is not opened.
    but: &'static str,
    /// What to do with it.
    pub hint: String,
    pub form: Form,
}

impl Look {
    /// `model.pt is a torch.save checkpoint (PyTorch), not a memory profile`.
    pub fn message(&self, name: &str) -> String {
        format!("{name} is {}{}", self.is, self.but)
    }

    /// Whether an error message may be found in it.
    pub fn may_be_log(&self) -> bool {
        [LOG, DIAGNOSE].contains(&&*self.hint)
    }

    /// `model.pt is a torch.save checkpoint (PyTorch), not a log`.
    pub fn not_a_log(&self, name: &str) -> String {
        format!("{name} is {}, not a log", self.is)
    }
}

/// What is at a path.
///
/// # Errors
/// When it cannot be read, or is neither a file nor a directory.
pub(crate) fn look(path: &Path) -> io::Result<Look> {
    if fs::metadata(path)?.is_dir() {
        return directory::look(path);
    }
    Ok(look_at(&Peek::of(path)?))
}

/// What a stream is that begins with some bytes.
pub(crate) fn look_at_stream(head: &[u8]) -> Look {
    look_at(&Peek::of_bytes("", head))
}

fn look_at(of: &Peek) -> Look {
    if of.head.is_empty() {
        let hint = "The program that writes it may have ended before it wrote anything, or is still running.";
        return Look {
            is: "empty (0 bytes)".to_owned(),
            but: "",
            hint: hint.to_owned(),
            form: Form::Text,
        };
    }
    if let Some((packing, plain)) = of.decompressed() {
        return look_at_compressed(packing, &plain);
    }
    if of.is_text() { text::look(of) } else { binary::look(of) }
}

/// The same of what a file holds that is compressed.
fn look_at_compressed(packing: FilePacking, plain: &Peek) -> Look {
    let by = packing.name();
    let hint = format!("Decompress it first (`{}`), then open what comes out.", packing.command());
    let hint = hint.as_str();
    let (is, but, hint) = match () {
        () if plain.pickle().is_snapshot() => {
            (format!("a memory snapshot (PyTorch), compressed with {by}"), NOT_READ, hint)
        }
        () if text::is_capture(plain) => {
            (format!("a graph capture (Tenstorrent), compressed with {by}"), NOT_READ, hint)
        }
        () if binary::is_database(plain) => {
            (format!("an SQLite database, compressed with {by}"), NOT_READ, hint)
        }
        () if plain.head.is_empty() || plain.decompressed().is_some() => {
            (format!("a file compressed with {by}"), NOT_READ, hint)
        }
        () if plain.is_text() => {
            let look = text::look(plain);
            return Look {
                // A log is read as it is.
                form: if look.may_be_log() { Form::Text } else { Form::Binary },
                is: format!("{}, compressed with {by}", look.is),
                but: look.but,
                hint: look.hint,
            };
        }
        () => match binary::look(plain) {
            look if look.form == Form::Binary => {
                let is = format!("{}, compressed with {by}", look.is);
                return Look { is, ..look };
            }
            _ => (format!("a file compressed with {by}"), NOT_READ, hint),
        },
    };
    Look { is, but, hint: hint.to_owned(), form: Form::Binary }
}

#[cfg(test)]
mod tests;
