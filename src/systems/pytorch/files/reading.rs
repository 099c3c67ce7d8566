//! Reads the pickle of a snapshot in blocks, so that a file of any size takes the memory of what is in it.

use std::path::Path;

use super::ahead::{ReadAhead, Unpacked, with_input};
use super::assemble::assemble;
use super::machine::{Machine, Pause};
use super::objects::Objects;
use super::values::{Fault, Pickled, PyObject, Reference};
use super::word::Word;
use crate::files;
use crate::files::packed::{FilePacking, most_in_parts};
use crate::format::{Error, ErrorKind, Progress};
use crate::progress::Watched;
use crate::store::report::FileStatus;
use crate::store::snapshot::{Snapshot, ToldEvents};
use crate::store::{WarningCode, Warnings};

/// Memory that is taken whatever the size of the file.
const SMALL_MEMORY: u64 = 32 << 20;

/// The same of a file that is packed: how large it is says little of what is in it.
const PACKED_MEMORY: u64 = 96 << 20;

/// What a file that has been read is.
#[derive(Debug)]
pub(super) struct ReadSnapshot {
    pub(super) snapshot: Snapshot,
    pub(super) status: FileStatus,
}

/// Reads a snapshot, and tells of its events meanwhile; `None` when that was canceled.
///
/// # Errors
/// When the file cannot be read, is no snapshot, or would run code.
pub(super) fn read_snapshot(
    path: &Path,
    name: &str,
    warnings: &Warnings,
    progress: &Progress,
    tell: &mut impl FnMut(ToldEvents),
) -> Result<Option<ReadSnapshot>, Error> {
    let file = files::open(path).map_err(|error| Error::io(path, &error))?;
    let bytes = file.metadata().map_err(|error| Error::io(path, &error))?.len();
    progress.expect(bytes);
    let packing = FilePacking::of_file(&file).map_err(|error| Error::io(path, &error))?;
    let Some(packing) = packing else {
        let memory = bytes.saturating_mul(3).saturating_add(SMALL_MEMORY);
        let size = FileSize { bytes, is_packed: false, memory };
        return with_input(&file, bytes, |input| {
            read_from(input, path, name, size, warnings, progress, tell)
        });
    };
    let memory = bytes.saturating_mul(3).saturating_add(PACKED_MEMORY);
    let most = most_in_parts(bytes);
    let size = FileSize { bytes: most, is_packed: true, memory };
    let reader = packing.reader(Watched { reader: files::WithoutHoles(file), progress });
    with_input(Unpacked { reader, most }, most, |input| {
        read_from(input, path, name, size, warnings, progress, tell)
    })
}

/// How large a file is, and what it may take.
#[derive(Clone, Copy)]
struct FileSize {
    /// Its bytes; of one that is packed the most that may come of it.
    bytes: u64,
    is_packed: bool,
    /// Bytes of memory that its objects may take.
    memory: u64,
}

fn read_from(
    mut input: ReadAhead,
    path: &Path,
    name: &str,
    size: FileSize,
    warnings: &Warnings,
    progress: &Progress,
    tell: &mut impl FnMut(ToldEvents),
) -> Result<Option<ReadSnapshot>, Error> {
    let FileSize { bytes, is_packed, memory: most_bytes } = size;
    let mut machine = Machine::new(bytes);
    let mut status = FileStatus::Ok;
    let damaged = |offset: u64, fault: &Fault| {
        let message = format!(
            "{name}: a pickle, but not a plain memory snapshot: byte {offset}: {}",
            fault.0
        );
        Error::new(ErrorKind::Damaged, message)
            .in_file(path)
            .at(format!("byte {offset}"))
            .hint("Only files of torch.cuda.memory._dump_snapshot are read; copy the file again if it is one.")
    };
    loop {
        let (done, result) = machine.run(input.rest(), input.offset);
        input.pass(done as u64);
        machine.objects.events.tell(tell);
        match result.map_err(|fault| damaged(input.offset, &fault))? {
            Pause::Stop => {
                let left = bytes.saturating_sub(input.offset);
                if left > 0 && !is_packed {
                    let message =
                        format!("{left} bytes follow the end of the snapshot; they are not read");
                    warnings.add(WarningCode::Inconsistent, name, message);
                }
                break;
            }
            Pause::Skip(more) => input.pass(more),
            Pause::NeedsMore => {
                if progress.is_cancelled() {
                    return Ok(None);
                }
                if machine.bytes() as u64 > most_bytes {
                    let fault = Fault::new(if is_packed {
                        format!(
                            "its objects take more than {most_bytes} bytes, which is much for a packed file: unpack it \
                             first if it is good"
                        )
                    } else {
                        format!(
                            "its objects take more than {most_bytes} bytes, for a file of {bytes}"
                        )
                    });
                    return Err(damaged(input.offset, &fault));
                }
                let read = input.fill().map_err(|error| Error::io(path, &error))?;
                if !is_packed {
                    progress.advance(read as u64);
                }
                if read == 0 {
                    status = FileStatus::Truncated;
                    break;
                }
            }
        }
    }
    let end = input.offset;
    // What it holds goes, and whoever reads ahead with it.
    drop(input);
    machine.objects.settle().map_err(|fault| damaged(end, &fault))?;
    let root = match status {
        FileStatus::Ok => machine.result(),
        _ => rescued(&mut machine, end, name, warnings),
    };
    let mut objects = machine.into_objects();
    let root = match root {
        Some(Pickled::Object(root)) if matches!(objects.kind(root), PyObject::Dict(_)) => {
            Some(root)
        }
        Some(Pickled::Object(list)) if is_list_of_segments(&objects, list) => {
            Some(root_with(&mut objects, list).map_err(|fault| damaged(end, &fault))?)
        }
        _ => None,
    };
    let has = |root: u32, key| objects.get(root, key).is_some();
    let is_snapshot = |root: &u32| has(*root, Word::Segments) || has(*root, Word::DeviceTraces);
    let Some(root) = root.filter(is_snapshot) else {
        let message = match status {
            FileStatus::Ok => format!(
                "{name} is a pickle, but not a memory snapshot: a dict with segments or \
                device_traces, or a list of segments expected"
            ),
            _ => format!("{name} ends at byte {end}, before any of its segments is complete"),
        };
        return Err(Error::new(ErrorKind::NotAReport, message)
            .in_file(path)
            .hint("torch.cuda.memory._dump_snapshot writes memory snapshots."));
    };
    let assembled = assemble(objects, root, most_bytes, name, warnings);
    let (snapshot, is_as_told) = assembled.map_err(|fault| damaged(end, &fault))?;
    if !is_as_told {
        tell(ToldEvents::Changed);
    }
    Ok(Some(ReadSnapshot { snapshot, status }))
}

/// Whether a list is what `torch.cuda.memory_snapshot()` returns: the segments alone, without events.
fn is_list_of_segments(objects: &Objects, list: u32) -> bool {
    let first = objects.items(list).and_then(<[u32]>::first).copied();
    let object = first.and_then(|first| Reference(first).object());
    object.is_some_and(|object| matches!(objects.kind(object), PyObject::Segment(_)))
}

/// A snapshot that has these segments and nothing else.
fn root_with(objects: &mut Objects, segments: u32) -> Result<u32, Fault> {
    let key = objects.text(b"segments")?;
    let root = objects.new_object(PyObject::EmptyDict)?;
    objects.set(root, &[key, Pickled::Object(segments)])?;
    Ok(root)
}

/// The first of some values that are segments.
fn whole_segments(objects: &Objects, values: &[Pickled]) -> Vec<Pickled> {
    let is_segment = |item: &&Pickled| match item {
        Pickled::Object(object) => matches!(objects.kind(*object), PyObject::Segment(_)),
        _ => false,
    };
    values.iter().take_while(is_segment).copied().collect()
}

/// Makes the best of a file that ends too soon: what of the root is complete. Of segments that were cut the complete
/// ones are kept; events that were cut are left out, for the state at the end is not what their last one left, and so
/// are all of which not all segments are there, for it is these that they led to.
fn rescued(machine: &mut Machine, offset: u64, name: &str, warnings: &Warnings) -> Option<Pickled> {
    let events = machine.objects.events.len();
    let warn = |what: String| {
        warnings.add(
            WarningCode::Truncated,
            name,
            format!("ends at byte {offset} before its contents do; {what}"),
        );
    };
    let first = machine.stack.first().copied();
    let (Some(Pickled::Object(root)), Some(start)) = (first, machine.marks.first().copied()) else {
        warn("only its end mark is missing".to_owned());
        return first;
    };
    let stack = std::mem::take(&mut machine.stack);
    let above = stack.get(start..).unwrap_or_default();
    if machine.objects.items(root).is_some() {
        let whole = whole_segments(&machine.objects, above);
        machine.objects.append(root, &whole).ok()?;
        let count = machine.objects.items(root).map_or(0, <[u32]>::len);
        warn(format!("the first {count} segments are shown"));
        return Some(Pickled::Object(root));
    }
    let mut complete: Vec<(Word, [Pickled; 2])> = Vec::new();
    let (mut has_segments, mut has_host_segments) = (false, false);
    let mut at = 0_usize;
    let mut said = "the complete part is shown".to_owned();
    while let (Some(Pickled::Text(key)), Some(value)) =
        (above.get(at), above.get(at.saturating_add(1)))
    {
        let word = machine.objects.texts.word(*key);
        let next = at.saturating_add(2);
        let is_last_mark =
            machine.marks.get(1).is_some_and(|mark| *mark == start.saturating_add(next));
        let is_complete = !is_last_mark && matches!(above.get(next), Some(Pickled::Text(_)));
        if is_complete {
            complete.push((word, [Pickled::Text(*key), *value]));
            has_segments |= word == Word::Segments;
            has_host_segments |= word == Word::HostSegments;
            at = next;
            continue;
        }
        let Pickled::Object(list) = value else { break };
        let open = above.get(next..).unwrap_or_default();
        match word {
            Word::Segments => {
                let whole = whole_segments(&machine.objects, open);
                // What was added to the list already is whole as well.
                let added = machine.objects.items(*list).map_or(0, <[u32]>::len);
                said = format!(
                    "the first {} segments are shown, and no events",
                    added.saturating_add(whole.len())
                );
                if machine.objects.append(*list, &whole).is_ok() {
                    complete.push((word, [Pickled::Text(*key), *value]));
                }
            }
            Word::DeviceTraces => {
                // Lists of events follow each other; the last is the one that was cut.
                let is_list = |item: &&Pickled| match item {
                    Pickled::Object(object) => machine.objects.items(*object).is_some(),
                    _ => false,
                };
                let lists: Vec<Pickled> = open.iter().take_while(is_list).copied().collect();
                let whole = lists.get(..lists.len().saturating_sub(1)).unwrap_or_default();
                let left_out = if has_segments {
                    "those of the device in which it ends are not shown, because nothing records \
                    their outcome"
                } else {
                    "none is shown, because no segment records their outcome"
                };
                said = format!("{events} events were complete; {left_out}");
                let has_list = machine.objects.items(*list).is_some();
                if has_list && machine.objects.append(*list, whole).is_ok() {
                    complete.push((word, [Pickled::Text(*key), *value]));
                }
            }
            _ => {}
        }
        break;
    }
    warn(said);
    complete.retain(|(word, _)| match word {
        Word::DeviceTraces => has_segments,
        Word::HostTraces => has_host_segments,
        _ => true,
    });
    let complete: Vec<Pickled> = complete.into_iter().flat_map(|(_, pair)| pair).collect();
    machine.objects.set(root, &complete).ok()?;
    Some(Pickled::Object(root))
}
