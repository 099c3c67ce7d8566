//! Finds the modules of a path: an HloProto, a profile, a bare assignment, or a dump directory with many of them
//! (formats/xla.md 2).

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::contents::{head_of, is_assignment_text};
use super::message_kind::MessageKind;
use super::wire::{Wire, WireField, field_at};
use super::{ReadModule, read_proto};
use crate::files::looks_like::is_control;
use crate::files::packed::{FilePacking, most_in_memory, unpacked_name};
use crate::files::{self, file_name};
use crate::format::{Error, ErrorKind, Progress};
use crate::progress::Watched;
use crate::store::hlo::Platform;
use crate::store::{WarningCode, Warnings};

/// What brings a module.
pub(super) const DUMP_AGAIN: &str =
    "XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_proto --xla_dump_hlo_as_text\" dumps modules.";

/// How deep modules are looked for below a directory.
const MAX_DEPTH: usize = 5;
/// Files that are looked at.
const MOST_FILES: usize = 50_000;
/// Bytes of a proto: what protobuf allows. No more is read of a text either.
pub(super) const MOST_BYTES: u64 = 1 << 31;
/// Bytes of what is compressed that are looked at before the rest is.
const FIRST: u64 = 4 << 10;

/// The endings of the texts of an assignment.
pub(super) const TEXTS: [&str; 3] =
    ["-buffer-assignment.txt", "-buffer-assignment-values.txt", "-live-range.txt"];

/// A file that may hold a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleFile {
    /// The file.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// What kind it is.
    pub kind: ProtoKind,
    /// Where in the file it is, if it is not all of it.
    pub part: Option<FilePart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// Its first byte.
    pub start: u64,
    /// Its length.
    pub bytes: u64,
}

/// What a file is by its name: its contents decide whether a module is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProtoKind {
    /// `*.hlo.pb`, or compressed.
    Module,
    /// `*.xplane.pb`.
    Profile,
    /// The text of an assignment.
    Text,
    /// A bare assignment.
    Assignment,
}

/// What a file name says; `None` for what is nothing of XLA's.
pub fn kind_of_name(name: &str) -> Option<ProtoKind> {
    if name.ends_with(TEXTS[0]) {
        return Some(ProtoKind::Text);
    }
    let stem = unpacked_name(name).strip_suffix(".pb")?;
    match stem.rsplit_once('.') {
        Some((_, "hlo")) => Some(ProtoKind::Module),
        Some((_, "xplane")) => Some(ProtoKind::Profile),
        _ if stem.ends_with("-memory-usage-report") => None,
        _ => Some(ProtoKind::Assignment),
    }
}

/// For what a module was compiled, as far as the stage in the file's name says.
pub fn platform_of_name(name: &str) -> Option<Platform> {
    let after = unpacked_name(name);
    let stage = after.strip_suffix(".hlo.pb").or_else(|| after.strip_suffix(TEXTS[0]))?;
    match () {
        () if stage.ends_with("cpu_after_optimizations") => Some(Platform::Cpu),
        () if stage.ends_with("gpu_after_optimizations") => Some(Platform::Gpu),
        // Others have their name before the stage.
        () if stage.ends_with(".after_optimizations") => Some(Platform::Tpu),
        () => None,
    }
}

impl ModuleFile {
    /// A file that is known to be of a kind.
    pub fn of(path: PathBuf, kind: ProtoKind) -> Self {
        Self { name: file_name(&path), path, kind, part: None }
    }

    /// A text within a file, by its own name.
    pub(super) fn part_of(path: &Path, name: String, part: FilePart) -> Self {
        Self { name, path: path.to_owned(), kind: ProtoKind::Text, part: Some(part) }
    }

    /// Whether it is compressed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn is_compressed(&self) -> Result<bool, Error> {
        let packing = files::open(&self.path).and_then(|file| FilePacking::of_file(&file));
        packing.map(|packing| packing.is_some()).map_err(|error| Error::io(&self.path, &error))
    }
}

/// Whether a file is called as XLA calls the protos of a dump.
fn is_named_by_xla(name: &str) -> bool {
    name.starts_with("module_") || name.contains("buffer_assignment") || name.contains(".hlo.")
}

/// What a file is that was named by itself. Where its name does not say it, its contents do.
fn kind_of_one(path: &Path) -> Result<Option<ProtoKind>, Error> {
    let name = file_name(path);
    if TEXTS.iter().any(|ending| name.ends_with(ending)) {
        return Ok(Some(ProtoKind::Text));
    }
    match kind_of_name(&name) {
        Some(ProtoKind::Assignment) => {
            let head = head_of(path).map_err(|error| Error::io(path, &error))?;
            match MessageKind::of(&head) {
                MessageKind::HloProto => Ok(Some(ProtoKind::Module)),
                MessageKind::Assignment => Ok(Some(ProtoKind::Assignment)),
                MessageKind::Profile => Ok(Some(ProtoKind::Profile)),
                MessageKind::Other if is_assignment_text(&head) => Ok(Some(ProtoKind::Text)),
                // Others write protos as well.
                MessageKind::Other if !is_named_by_xla(&name) => Ok(None),
                MessageKind::Other => {
                    let message = format!("{name}: neither a module nor an assignment of XLA's");
                    let error = Error::new(ErrorKind::Damaged, message).in_file(path);
                    Err(error.hint(DUMP_AGAIN))
                }
            }
        }
        Some(kind) => Ok(Some(kind)),
        // Other readers say what cannot be read.
        None if fs::metadata(path).is_ok_and(|of| of.is_file()) => {
            let Ok(head) = head_of(path) else { return Ok(None) };
            Ok(match MessageKind::of(&head) {
                _ if is_assignment_text(&head) => Some(ProtoKind::Text),
                // Line ends can be read as fields.
                _ if !head.iter().copied().any(is_control) => None,
                MessageKind::HloProto => Some(ProtoKind::Module),
                MessageKind::Profile => Some(ProtoKind::Profile),
                // What has so few fields as an assignment may be anything.
                MessageKind::Assignment | MessageKind::Other => None,
            })
        }
        None => Ok(None),
    }
}

/// The files of a path that may hold modules, by kind and name; `warnings` says what was not looked at.
///
/// # Errors
/// When the directory cannot be listed, or the file that was named is called like a proto and cannot be read, or is none.
pub fn module_files(
    path: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Vec<ModuleFile>, Error> {
    if !path.is_dir() {
        let kind = kind_of_one(path)?;
        return Ok(kind.map(|kind| ModuleFile::of(path.to_owned(), kind)).into_iter().collect());
    }
    let warn = |message: String| {
        warnings.add(WarningCode::Inconsistent, &path.display().to_string(), message);
    };
    let mut found = Vec::new();
    let mut left = vec![(path.to_owned(), 0_usize)];
    let mut looked_at = 0_usize;
    'all: while let Some((directory, depth)) = left.pop() {
        let entries = match files::listed(&directory) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(Error::io(&directory, &error)),
            Err(error) => {
                warn(format!("{}: not searched: {error}", directory.display()));
                continue;
            }
        };
        for entry in entries {
            looked_at = looked_at.saturating_add(1);
            if looked_at > MOST_FILES {
                warn(format!("only the first {MOST_FILES} files were searched; there are more"));
            }
            if progress.is_cancelled() || looked_at > MOST_FILES {
                break 'all;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                if depth < MAX_DEPTH {
                    left.push((entry.path(), depth.saturating_add(1)));
                }
                continue;
            }
            let file = entry.path();
            found.extend(kind_of_name(&file_name(&file)).map(|kind| ModuleFile::of(file, kind)));
        }
    }
    found.sort_by(|one, other| {
        (one.kind, &one.name, &one.path).cmp(&(other.kind, &other.name, &other.path))
    });
    Ok(found)
}

/// The bytes of a file, decompressed where they are compressed; `None` when that was canceled. Where it cannot be
/// decompressed to its end, what came until then, with a warning.
///
/// # Errors
/// When it cannot be read, or is larger than a proto can be.
pub fn read_bytes(
    file: &ModuleFile,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<Vec<u8>>, Error> {
    let failed = |error: &io::Error| Error::io(&file.path, error);
    let mut opened: File = files::open(&file.path).map_err(|error| failed(&error))?;
    let packing = FilePacking::of_file(&opened).map_err(|error| failed(&error))?;
    let length = match file.part {
        None => opened.metadata().map_err(|error| failed(&error))?.len(),
        Some(part) => {
            opened.seek(SeekFrom::Start(part.start)).map_err(|error| failed(&error))?;
            part.bytes
        }
    };
    if length > MOST_BYTES {
        return Err(too_large(file));
    }
    progress.expect(length);
    let watched = Watched { reader: files::WithoutHoles(opened), progress };
    let mut bytes = Vec::new();
    let most = packing.map_or(length, |_| most_in_memory(length).min(MOST_BYTES));
    let read = match packing {
        Some(packing) => read_packed(packing.reader(watched), file.kind, most, &mut bytes),
        None => watched.take(most).read_to_end(&mut bytes).map(drop),
    };
    match read {
        _ if progress.is_cancelled() => Ok(None),
        Ok(()) if bytes.len() as u64 > most => {
            let message = format!("{} is more than {} MiB, decompressed", file.name, most >> 20);
            Err(Error::new(ErrorKind::Damaged, message)
                .in_file(&file.path)
                .hint("Decompress it first if it is good: files as they are may be larger."))
        }
        Ok(()) => Ok(Some(bytes)),
        // What was decompressed until then may be enough.
        Err(error) if packing.is_some() && !bytes.is_empty() => {
            let message = format!("cannot be decompressed to its end: {error}");
            warnings.add(WarningCode::Truncated, &file.name, message);
            Ok(Some(bytes))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Reads what is compressed up to one byte more than `most`. What does not begin as its kind does is not read on.
fn read_packed(
    mut reader: impl Read,
    kind: ProtoKind,
    most: u64,
    bytes: &mut Vec<u8>,
) -> io::Result<()> {
    reader.by_ref().take(FIRST).read_to_end(bytes)?;
    let is_message = kind == ProtoKind::Text || field_at(bytes).is_ok_and(|field| field.is_some());
    if is_message {
        let left = most.saturating_add(1).saturating_sub(bytes.len() as u64);
        reader.take(left).read_to_end(bytes)?;
    }
    Ok(())
}

/// That a file is larger than any proto, or a text than what is read of one.
pub(super) fn too_large(file: &ModuleFile) -> Error {
    let (message, hint) = match file.kind {
        ProtoKind::Text => (
            format!("{} is too large to be read: of a text at most 2 GiB are", file.name),
            "The proto of its module is much smaller: XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_proto\" writes it.",
        ),
        _ => (
            format!("{} is larger than any proto of XLA's", file.name),
            "XLA writes no larger protos: is it one?",
        ),
    };
    Error::new(ErrorKind::Damaged, message).in_file(&file.path).hint(hint)
}

/// The HloProtos within a profile (formats/xla.md 4.4); `is_cut` says whether it ends before its contents do.
pub fn protos_of_profile<'a>(message: &'a [u8], is_cut: &mut bool) -> Vec<&'a [u8]> {
    let mut protos = Vec::new();
    let mut fields = Wire::of(message);
    loop {
        match fields.next_field() {
            Ok(Some((number, field))) => {
                *is_cut |= matches!(field, WireField::Cut(_));
                if number == 1 {
                    add_protos_of_plane(field.bytes(), &mut protos);
                }
            }
            Ok(None) => return protos,
            Err(_) => {
                *is_cut = true;
                return protos;
            }
        }
    }
}

fn add_protos_of_plane<'a>(plane: &'a [u8], protos: &mut Vec<&'a [u8]>) {
    let (mut name, mut found) = (&[][..], Vec::new());
    let mut fields = Wire::of(plane);
    while let Ok(Some((number, field))) = fields.next_field() {
        match (number, field) {
            (2, WireField::Bytes(bytes)) => name = bytes,
            // An entry of a map; its value; the statistics of that; the bytes of one.
            (4, WireField::Bytes(entry)) => {
                for metadata in parts(entry, 2) {
                    for statistic in parts(metadata, 5) {
                        found.extend(parts(statistic, 6));
                    }
                }
            }
            _ => {}
        }
    }
    if name == b"/host:metadata" {
        protos.append(&mut found);
    }
}

/// The messages of one field.
fn parts(message: &[u8], wanted: u32) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut fields = Wire::of(message);
    while let Ok(Some((number, field))) = fields.next_field() {
        if let (true, WireField::Bytes(bytes)) = (number == wanted, field) {
            found.push(bytes);
        }
    }
    found
}

/// The module of a proto, if it has an assignment; of a profile the one at a place among its protos.
///
/// # Errors
/// When the file cannot be read, or is no proto of XLA's.
pub fn read_module(
    file: &ModuleFile,
    place: usize,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<ReadModule>, Error> {
    let Some(bytes) = read_bytes(file, warnings, progress)? else { return Ok(None) };
    if file.kind != ProtoKind::Profile || file.part.is_some() {
        return read_message(&bytes, file, warnings, progress);
    }
    // Listing has said whether it is cut.
    match protos_of_profile(&bytes, &mut false).get(place) {
        Some(proto) => read_message(proto, file, warnings, progress),
        None => Ok(None),
    }
}

fn read_message(
    message: &[u8],
    file: &ModuleFile,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<ReadModule>, Error> {
    read_proto(message, &file.name, warnings, progress).map_err(|what| {
        let error = Error::new(ErrorKind::Damaged, format!("{}: {what}", file.name));
        error.in_file(&file.path).hint(DUMP_AGAIN)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_say_for_what_a_module_was_compiled() {
        for (stage, expected) in [
            ("cpu_after_optimizations.hlo.pb", Some(Platform::Cpu)),
            ("sm_9.0a_gpu_after_optimizations.hlo.pb.gz", Some(Platform::Gpu)),
            ("cl_933746096.after_optimizations.hlo.pb", Some(Platform::Tpu)),
            ("after_optimizations-buffer-assignment.txt", Some(Platform::Tpu)),
            ("before_optimizations.hlo.pb", None),
            ("cl_9.after_optimizations_before_buffer_assignment.hlo.pb", None),
        ] {
            assert_eq!(platform_of_name(&format!("module_0001.f.{stage}")), expected, "{stage}");
        }
    }
}
