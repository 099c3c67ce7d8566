//! The kind of a file by its contents, if its name does not tell: compressed, a proto, the text of an assignment, or
//! what `--xla_dump_to=-` prints (formats/xla.md 1).

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use memchr::memmem;

use super::discover::{FilePart, ModuleFile, TEXTS};
use crate::files;
use crate::files::packed::FilePacking;

/// Bytes of a file that tell what it is.
const HEAD: usize = 64 << 10;
/// The same of what a program printed, which may have begun with something else.
const MOST_BEFORE: usize = 1 << 20;

/// The first bytes of a file, decompressed. What cannot be decompressed ends there.
pub(super) fn head_of(path: &Path) -> io::Result<Vec<u8>> {
    let file = files::open(path)?;
    let mut head = vec![0; HEAD];
    let read = files::read_up_to_at(&file, &mut head, 0)?;
    head.truncate(read);
    Ok(FilePacking::of(&head)
        .map_or_else(|| head.clone(), |packing| packing.beginning(&head, HEAD)))
}

pub(super) fn is_assignment_text(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"BufferAssignment:")
}

/// Whether a file has what `--xla_dump_to=-` prints of an assignment. Others that a program may be asked for, and those
/// that cannot be read, have none.
pub(super) fn is_printed_dump(path: &Path) -> bool {
    if !fs::metadata(path).is_ok_and(|of| of.is_file()) {
        return false;
    }
    let mut head = vec![0; MOST_BEFORE];
    let read = files::open(path).and_then(|file| files::read_up_to_at(&file, &mut head, 0));
    head.truncate(read.unwrap_or(0));
    let is_text = head.get(..head.len().min(4096)).is_some_and(|start| !start.contains(&0));
    is_text && memmem::find(&head, BEGIN).is_some()
}

const BEGIN: &[u8] = b"*** Begin ";
const END: &[u8] = b"*** End ";
const RULE: &[u8] = b" ***";

/// The texts of assignments that were printed into a file: of each module its texts, the allocations first.
pub(super) fn printed_texts(path: &Path, printed: &[u8]) -> Vec<Vec<ModuleFile>> {
    let mut by_stem: BTreeMap<String, [Option<ModuleFile>; 3]> = BTreeMap::new();
    for (name, part) in printed_parts(printed) {
        let ending = TEXTS.iter().position(|ending| name.ends_with(ending));
        let Some((place, ending)) = ending.and_then(|at| Some((at, TEXTS.get(at)?))) else {
            continue;
        };
        let stem = name.strip_suffix(ending).unwrap_or_default().to_owned();
        if let Some(slot) = by_stem.entry(stem).or_default().get_mut(place) {
            slot.get_or_insert_with(|| ModuleFile::part_of(path, name, part));
        }
    }
    let has_allocations =
        |texts: &[Option<ModuleFile>; 3]| texts.first().is_some_and(Option::is_some);
    let modules = by_stem.into_values().filter(has_allocations);
    modules.map(|texts| texts.into_iter().flatten().collect()).collect()
}

/// The files that were printed one after the other: the name of each, and where its contents are. One whose end is not
/// there reaches to the next, or to the end of all.
fn printed_parts(printed: &[u8]) -> Vec<(String, FilePart)> {
    let mut parts: Vec<(String, FilePart)> = Vec::new();
    let mut open: Option<(String, usize)> = None;
    let mut at = 0_usize;
    let part = |start: usize, end: usize| FilePart {
        start: start as u64,
        bytes: end.saturating_sub(start) as u64,
    };
    for line in printed.split_inclusive(|byte| *byte == b'\n') {
        let behind = at.saturating_add(line.len());
        let begun =
            line.strip_prefix(BEGIN).and_then(|rest| rest.trim_ascii_end().strip_suffix(RULE));
        if begun.is_some() || line.starts_with(END) {
            parts.extend(open.take().map(|(name, start)| (name, part(start, at))));
        }
        if let Some(name) = begun {
            open = Some((String::from_utf8_lossy(name).into_owned(), behind));
        }
        at = behind;
    }
    parts.extend(open.map(|(name, start)| (name, part(start, printed.len()))));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_files_are_told_apart_and_belong_to_modules() {
        let printed = b"epoch 1\n*** Begin module_0001.f.cpu_after_optimizations-live-range.txt ***\nlives\n\
            *** End module_0001.f.cpu_after_optimizations-live-range.txt ***\n\
            *** Begin module_0001.f.cpu_after_optimizations.txt ***\nHloModule f\n*** End x ***\nloss 3\n\
            *** Begin module_0001.f.cpu_after_optimizations-buffer-assignment.txt ***\nallocations\n\
            *** Begin module_0002.g.cpu_after_optimizations-live-range.txt ***\ncut";
        let parts: Vec<&[u8]> = printed_parts(printed)
            .into_iter()
            .map(|(_, part)| &printed[part.start as usize..][..part.bytes as usize])
            .collect();
        assert_eq!(parts, [&b"lives\n"[..], b"HloModule f\n", b"allocations\n", b"cut"]);
        let modules = printed_texts(Path::new("log"), printed);
        let names: Vec<Vec<&str>> = modules
            .iter()
            .map(|texts| texts.iter().map(|text| text.name.as_str()).collect())
            .collect();
        let of = |end| format!("module_0001.f.cpu_after_optimizations{end}");
        assert_eq!(names, [[of(TEXTS[0]), of(TEXTS[2])]]);
    }
}
