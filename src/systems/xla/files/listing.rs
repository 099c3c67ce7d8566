//! The modules of a path, and which of them is meant (formats/xla.md 2): of each its name and how much it takes, read
//! without what is in it.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::contents::{head_of, is_printed_dump, printed_texts};
use super::discover::{
    DUMP_AGAIN, FilePart, MOST_BYTES, ModuleFile, ProtoKind, TEXTS, module_files,
    protos_of_profile, read_bytes, too_large,
};
use super::message_kind::MessageKind;
use super::module::module_name;
use super::profiled::{names_of_host, profiled};
use super::wire::{Wire, WireField, field_at};
use super::{DumpName, HloProto, Proto, bytes_behind, text};
use crate::files::packed::unpacked_name;
use crate::files::{self, file_name};
use crate::format::{Error, ErrorKind, Progress};
use crate::limits;
use crate::progress::Watched;
use crate::store::hlo::{AllocationKind, BufferAllocation, ListedModule, ProfiledMemory};
use crate::store::{Warning, WarningCode, Warnings};
use crate::text::{counted, grouped};

/// A module of a dump, and where it is.
#[derive(Clone, Debug)]
pub struct FoundModule {
    /// What it is.
    pub listed: ListedModule,
    /// Where.
    pub at: ModuleAt,
    /// What the profile that it lies in says of the device.
    pub profile: Option<Arc<ProfiledMemory>>,
}

/// Where a module is.
#[derive(Clone, Debug)]
pub enum ModuleAt {
    /// A proto; of a profile one of its protos, from 0.
    Proto(ModuleFile, usize),
    /// The texts of its assignment.
    Texts(Vec<ModuleFile>),
    /// No program: of a profile what one of its allocators did, from 0.
    Record(ModuleFile, usize),
}

impl ModuleAt {
    /// Whether both are the same module of the same file.
    pub fn is_same(&self, other: &Self) -> bool {
        self.path() == other.path() && self.place() == other.place()
    }

    /// Where it is among the modules of its file: of a profile there are several.
    pub fn place(&self) -> usize {
        match self {
            Self::Proto(_, place) | Self::Record(_, place) => *place,
            // Of what was printed into one file, where that is.
            Self::Texts(files) => {
                let part = files.first().and_then(|file| file.part);
                part.map_or(0, |part| usize::try_from(part.start).unwrap_or(usize::MAX))
            }
        }
    }

    /// The file, or the first of them.
    pub fn path(&self) -> &Path {
        match self {
            Self::Proto(file, _) | Self::Record(file, _) => &file.path,
            Self::Texts(files) => files.first().map_or(Path::new(""), |file| &file.path),
        }
    }
}

impl FoundModule {
    /// Whether it is a program; else it is what an allocator did while programs ran.
    pub fn is_program(&self) -> bool {
        !matches!(self.at, ModuleAt::Record(..))
    }
}

/// What a module takes, as its allocations say.
#[derive(Clone, Copy, Default)]
struct ModuleSizes {
    allocations: usize,
    total: u64,
    temporary: u64,
    main: u64,
}

impl ModuleSizes {
    fn add(&mut self, bytes: u64, kind: AllocationKind, color: i64) {
        self.allocations = self.allocations.saturating_add(1);
        self.total = self.total.saturating_add(bytes);
        if kind == AllocationKind::Temporary {
            self.temporary = self.temporary.saturating_add(bytes);
        }
        if color == 0 {
            self.main = self.main.saturating_add(bytes);
        }
    }

    fn of<'a>(allocations: impl IntoIterator<Item = &'a BufferAllocation>) -> Self {
        let mut sizes = Self::default();
        for allocation in allocations {
            sizes.add(allocation.bytes, allocation.kind, allocation.color);
        }
        sizes
    }

    fn listed(self, file: &ModuleFile, module: Option<String>, at: ModuleAt) -> FoundModule {
        let listed = ListedModule {
            file: file.name.clone(),
            key: String::new(),
            title: String::new(),
            place: 0,
            module,
            allocations: self.allocations,
            total_bytes: self.total,
            temp_bytes: self.temporary,
            main_bytes: self.main,
        };
        FoundModule { listed, at, profile: None }
    }
}

/// The modules of a path, the largest in its main memory first; of equals the first file name. Empty where there is
/// nothing of XLA's. Damaged files become warnings.
///
/// # Errors
/// When the directory, or the file that was named, cannot be read, and when there are files of XLA's and none has an
/// assignment.
pub fn list_modules(
    path: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Vec<FoundModule>, Error> {
    let files = module_files(path, warnings, progress)?;
    let is_directory = path.is_dir();
    let mut listed = Vec::new();
    for of_kind in files.chunk_by(|one, other| one.kind == other.kind) {
        let read = of_kind.par_iter().map(|file| list_file(file, is_directory, warnings, progress));
        for modules in read.collect::<Vec<_>>() {
            listed.extend(modules?);
        }
        if !listed.is_empty() {
            break;
        }
    }
    if files.is_empty() && is_printed_dump(path) {
        listed = list_printed(path, warnings, progress)?;
    }
    // Of a file that was named its contents have said it.
    let is_of_xla = |file: &ModuleFile| !is_directory || file.kind != ProtoKind::Assignment;
    if listed.is_empty() && files.iter().any(is_of_xla) && !progress.is_cancelled() {
        return Err(no_module(path, &warnings.list()));
    }
    // What comes first of equals stays first.
    listed.sort_by_key(|one: &FoundModule| {
        // Records keep the order of their names.
        let bytes = if one.is_program() { one.listed.main_bytes } else { 0 };
        (!one.is_program(), std::cmp::Reverse(bytes))
    });
    name_modules(path, &mut listed);
    Ok(listed)
}

/// That files of XLA have no module, and the first thing that was said of them.
fn no_module(path: &Path, said: &[Warning]) -> Error {
    let message = format!("{} has no module with a buffer assignment", path.display());
    let why = said.first().map(|warning| format!(": {}: {}", warning.file, warning.message));
    Error::new(ErrorKind::NotAReport, message + &why.unwrap_or_default())
        .in_file(path)
        .hint(DUMP_AGAIN)
}

/// Gives each module of a path the key by which it is asked for, and the title by which it is told from the others.
fn name_modules(path: &Path, listed: &mut [FoundModule]) {
    let mut by_name: HashMap<Option<String>, usize> = HashMap::new();
    for FoundModule { listed, .. } in &*listed {
        let count = by_name.entry(listed.module.clone()).or_default();
        *count = count.saturating_add(1);
    }
    for (place, FoundModule { listed, at, .. }) in listed.iter_mut().enumerate() {
        listed.place = place;
        let below = at.path().strip_prefix(path).ok();
        let below = below.filter(|below| !below.as_os_str().is_empty());
        let file = below.map_or(listed.file.clone(), |below| below.display().to_string());
        listed.key = match at {
            ModuleAt::Proto(of, place) if of.kind == ProtoKind::Profile => {
                format!("{file}#{}", place.saturating_add(1))
            }
            ModuleAt::Record(..) => format!("{file}#{}", listed.module.as_deref().unwrap_or("")),
            _ => file,
        };
        let is_alone = by_name.get(&listed.module) == Some(&1);
        let name = listed.module.as_ref().filter(|name| is_alone && !name.is_empty());
        listed.title = name.unwrap_or(&listed.key).clone();
        if let ModuleAt::Record(..) = at {
            listed.title.push_str(": memory while it runs");
        }
    }
}

fn list_file(
    file: &ModuleFile,
    is_one_of_many: bool,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Vec<FoundModule>, Error> {
    let listed = match file.kind {
        ProtoKind::Module => match file.is_compressed() {
            Ok(false) => list_from_file(file, warnings, progress),
            Ok(true) => list_protos(file, warnings, progress),
            Err(error) => Err(error),
        },
        ProtoKind::Profile => list_protos(file, warnings, progress),
        ProtoKind::Text => list_text(file, warnings, progress),
        // Files of others are called so as well.
        ProtoKind::Assignment => match head_of(&file.path) {
            Ok(head) if MessageKind::of(&head) == MessageKind::Other => Ok(Vec::new()),
            Ok(_) => list_protos(file, warnings, progress),
            Err(error) => Err(Error::io(&file.path, &error)),
        },
    };
    match listed {
        Err(error) if is_one_of_many => {
            warnings.add(WarningCode::Inconsistent, &file.name, error.message);
            Ok(Vec::new())
        }
        listed => listed,
    }
}

/// The module of a proto that is not compressed: the module itself is passed over, of which others may have a hundred
/// megabytes and no assignment.
fn list_from_file(
    file: &ModuleFile,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Vec<FoundModule>, Error> {
    let failed = |error: &io::Error| Error::io(&file.path, error);
    let mut opened = files::open(&file.path).map_err(|error| failed(&error))?;
    let end = opened.metadata().map_err(|error| failed(&error))?.len();
    if end > MOST_BYTES {
        return Err(too_large(file));
    }
    let (mut name, mut assignment, mut at) = (None, Vec::new(), 0_u64);
    let mut is_cut = end == 0;
    // What is read ahead, and where that begins.
    let (mut block, mut block_at) = (Vec::new(), 0_u64);
    while at < end {
        let passed = usize::try_from(at.saturating_sub(block_at)).unwrap_or(usize::MAX);
        let mut ahead = block.get(passed..).unwrap_or_default();
        if ahead.len() < HEAD && block_at.saturating_add(block.len() as u64) < end {
            if progress.is_cancelled() {
                return Ok(Vec::new());
            }
            block.resize(BLOCK, 0);
            let read = files::read_up_to_at(&opened, &mut block, at);
            block.truncate(read.map_err(|error| failed(&error))?);
            block_at = at;
            ahead = &block;
        }
        let Ok(Some((number, start, length))) = field_at(ahead) else {
            if !assignment.is_empty() {
                warnings.add(WarningCode::Inconsistent, &file.name, bytes_behind(at));
                break;
            }
            is_cut = at > 0 && ahead.len() <= LONGEST_HEAD;
            if is_cut {
                break;
            }
            let message = format!("{}: no proto of XLA's: byte {at} is no field", file.name);
            return Err(Error::new(ErrorKind::Damaged, message).in_file(&file.path));
        };
        let from = at.saturating_add(start as u64);
        match number {
            1 => name = ahead.get(start..).map(name_of),
            3 => {
                let there = length.min(end.saturating_sub(from));
                progress.expect(there);
                opened.seek(SeekFrom::Start(from)).map_err(|error| failed(&error))?;
                assignment.clear();
                let reader = Watched { reader: files::WithoutHoles(&mut opened), progress };
                match reader.take(there).read_to_end(&mut assignment) {
                    _ if progress.is_cancelled() => return Ok(Vec::new()),
                    read => read.map_err(|error| failed(&error))?,
                };
            }
            _ => {}
        }
        at = from.saturating_add(length);
        is_cut = at > end;
    }
    if is_cut {
        note_cut(file, end, warnings);
    }
    let sizes = sizes_of(&assignment);
    let listed = sizes.map(|sizes| sizes.listed(file, name, ModuleAt::Proto(file.clone(), 0)));
    Ok(listed.into_iter().collect())
}

/// Bytes in which the head of a field and the name of a module lie, and bytes that are read at once.
const HEAD: usize = 2 << 10;
const BLOCK: usize = 64 << 10;
/// Bytes of the number and the length of a field: those of a file that ends within them are no damage.
const LONGEST_HEAD: usize = 10;

/// Warns of a file that ends too soon: what is missing may be its assignment, or the most of it.
fn note_cut(file: &ModuleFile, end: u64, warnings: &Warnings) {
    let message = match end {
        0 => "is empty".to_owned(),
        _ => format!("ends at byte {end} before its contents do; the complete part is shown"),
    };
    warnings.add(WarningCode::Truncated, &file.name, message);
}

/// The modules of a file that is read whole.
fn list_protos(
    file: &ModuleFile,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Vec<FoundModule>, Error> {
    let Some(bytes) = read_bytes(file, warnings, progress)? else { return Ok(Vec::new()) };
    let mut is_cut = false;
    let protos = match file.kind {
        ProtoKind::Profile => protos_of_profile(&bytes, &mut is_cut),
        _ => vec![&*bytes],
    };
    if is_cut {
        let message = "ends before its contents do; modules behind that are not known";
        warnings.add(WarningCode::Truncated, &file.name, message);
    }
    // What is damaged is said when the module is read.
    let unsaid = Warnings::default();
    // Of a profile that is not packed a module is read where it lies.
    let is_of_profile = file.kind == ProtoKind::Profile && !file.is_compressed()?;
    let mut listed = Vec::new();
    let (mut seen, mut equal, mut left_out) = (HashSet::new(), 0_u64, 0_u64);
    for (place, message) in protos.into_iter().enumerate() {
        if !seen.insert(message) {
            equal = equal.saturating_add(1);
            continue;
        }
        if listed.len() >= limits::MODULES_OF_PROFILE {
            left_out = left_out.saturating_add(1);
            continue;
        }
        let reading = Proto::of(message, &file.name, &unsaid, progress);
        let proto = match MessageKind::of(message) {
            MessageKind::HloProto => HloProto::of(message, &reading).ok(),
            MessageKind::Assignment => Some(HloProto { module: None, assignment: Some(message) }),
            MessageKind::Profile | MessageKind::Other => None,
        };
        // Of a file that cannot be decompressed to its end that was said.
        if reading.is_cut.get() && !is_said_to_be_cut(file, warnings) {
            note_cut(file, message.len() as u64, warnings);
        }
        let Some(HloProto { module, assignment: Some(assignment) }) = proto else { continue };
        let part = is_of_profile.then(|| part_of(&bytes, message)).flatten();
        let at = ModuleAt::Proto(ModuleFile { part, ..file.clone() }, place);
        let sizes = sizes_of(assignment);
        listed.extend(sizes.map(|sizes| sizes.listed(file, module.map(name_of), at)));
    }
    if equal > 0 {
        let message = format!(
            "has {} more that are the same as one before, byte for byte; each module is shown once",
            counted(equal, "module")
        );
        warnings.add(WarningCode::Inconsistent, &file.name, message);
    }
    if left_out > 0 {
        let message = format!(
            "only the first {} modules are shown; there are {} more",
            grouped(limits::MODULES_OF_PROFILE as u64),
            grouped(left_out)
        );
        warnings.add(WarningCode::Inconsistent, &file.name, message);
    }
    if file.kind == ProtoKind::Profile {
        let profile = profiled(&bytes, &file.name).map(Arc::new);
        let of_host = names_of_host(&bytes);
        let is_of_device = |one: &&mut FoundModule| {
            one.listed.module.as_ref().is_none_or(|name| !of_host.contains(name.as_bytes()))
        };
        for one in listed.iter_mut().filter(is_of_device) {
            one.profile.clone_from(&profile);
        }
        let records = profile.iter().flat_map(|profile| profile.allocators.iter().enumerate());
        listed.extend(records.map(|(place, figures)| FoundModule {
            listed: ListedModule {
                file: file.name.clone(),
                module: Some(figures.allocator.clone()),
                main_bytes: figures.peak_in_use_bytes,
                ..ListedModule::default()
            },
            at: ModuleAt::Record(file.clone(), place),
            profile: profile.clone(),
        }));
    }
    Ok(listed)
}

/// Where some bytes of a file lie in it.
fn part_of(file: &[u8], bytes: &[u8]) -> Option<FilePart> {
    let start = bytes.as_ptr().addr().checked_sub(file.as_ptr().addr())?;
    let is_within = start.saturating_add(bytes.len()) <= file.len();
    is_within.then_some(FilePart { start: start as u64, bytes: bytes.len() as u64 })
}

fn is_said_to_be_cut(file: &ModuleFile, warnings: &Warnings) -> bool {
    let is_it = |one: &Warning| one.code == WarningCode::Truncated && one.file == file.name;
    warnings.list().iter().any(is_it)
}

/// The name of a module, with which it begins.
fn name_of(module: &[u8]) -> String {
    match Wire::of(module).next_field() {
        Ok(Some((1, field))) => module_name(field.bytes()),
        _ => String::new(),
    }
}

/// What an assignment takes; `None` where it has no allocation.
fn sizes_of(assignment: &[u8]) -> Option<ModuleSizes> {
    let mut sizes = ModuleSizes::default();
    let mut fields = Wire::of(assignment);
    while let Ok(Some((number, field))) = fields.next_field() {
        if let (3, WireField::Bytes(allocation)) = (number, field) {
            add_allocation(allocation, &mut sizes);
        }
    }
    (sizes.allocations > 0).then_some(sizes)
}

fn add_allocation(message: &[u8], sizes: &mut ModuleSizes) {
    let (mut bytes, mut color) = (0, 0);
    let mut is_temporary = true;
    let mut fields = Wire::of(message);
    while let Ok(Some((number, field))) = fields.next_field() {
        match number {
            2 => bytes = u64::try_from(field.number()).unwrap_or(0),
            3 | 5 | 7 | 12 => is_temporary &= !field.is_true(),
            8 => color = field.number(),
            _ => {}
        }
    }
    let kind = if is_temporary { AllocationKind::Temporary } else { AllocationKind::LiveOut };
    sizes.add(bytes, kind, color);
}

/// With what the names of the texts and of the proto of an assignment begin, of one of them.
pub(super) fn stem_of(path: &Path) -> Option<String> {
    let name = file_name(path);
    let proto = unpacked_name(&name);
    let mut endings = TEXTS.iter().copied().chain([".hlo.pb"]);
    endings.find_map(|ending| proto.strip_suffix(ending)).map(str::to_owned)
}

/// The texts of the assignment that a path is one of, or whose proto it is; the allocations first.
pub fn texts_of(path: &Path) -> Vec<ModuleFile> {
    let Some(stem) = stem_of(path) else { return Vec::new() };
    let beside = TEXTS.iter().map(|ending| path.with_file_name(format!("{stem}{ending}")));
    let there = beside.filter(|path| path.is_file());
    there.map(|path| ModuleFile::of(path, ProtoKind::Text)).collect()
}

fn list_text(
    file: &ModuleFile,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Vec<FoundModule>, Error> {
    let mut texts = texts_of(&file.path);
    if texts.is_empty() {
        // Its contents say what it is, not its name.
        texts.push(file.clone());
    }
    let Some(first) = texts.first() else { return Ok(Vec::new()) };
    let Some(bytes) = read_bytes(first, warnings, progress)? else { return Ok(Vec::new()) };
    let sizes = ModuleSizes::of(&text::allocations(&bytes));
    let module = DumpName::of(&first.name).map(|name| name.module.to_owned());
    let listed = sizes.listed(&first.clone(), module, ModuleAt::Texts(texts));
    Ok((sizes.allocations > 0).then_some(listed).into_iter().collect())
}

/// The modules of what `--xla_dump_to=-` printed.
fn list_printed(
    path: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Vec<FoundModule>, Error> {
    let whole = ModuleFile::of(path.to_owned(), ProtoKind::Text);
    let Some(printed) = read_bytes(&whole, warnings, progress)? else { return Ok(Vec::new()) };
    let mut listed = Vec::new();
    for texts in printed_texts(path, &printed) {
        let Some(first) = texts.first().cloned() else { continue };
        let Some(part) = first.part else { continue };
        let start = usize::try_from(part.start).unwrap_or(usize::MAX);
        let bytes = usize::try_from(part.bytes).unwrap_or(usize::MAX);
        let text = printed.get(start..).and_then(|rest| rest.get(..bytes)).unwrap_or_default();
        let sizes = ModuleSizes::of(&text::allocations(text));
        if sizes.allocations > 0 {
            let module = DumpName::of(&first.name).map(|name| name.module.to_owned());
            listed.push(sizes.listed(&first, module, ModuleAt::Texts(texts)));
        }
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use buffa::encoding::encode_varint;

    use super::*;

    fn module_file(directory: &Path, name: &str) -> ModuleFile {
        ModuleFile::of(directory.join(name), ProtoKind::Module)
    }

    #[test]
    fn what_is_no_proto_is_read_in_blocks_and_left_when_nobody_waits() {
        let directory = tempfile::tempdir().unwrap();
        let file = module_file(directory.path(), "a.hlo.pb");
        fs::write(&file.path, [0x10, 0].repeat(BLOCK * 2)).unwrap();
        let looks = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&looks);
        let progress = Progress::asking(move || counted.fetch_add(1, Ordering::Relaxed) == 2);
        assert!(list_from_file(&file, &Warnings::default(), &progress).unwrap().is_empty());
        assert_eq!(looks.load(Ordering::Relaxed), 3, "at each block, until the third");
        assert!(
            list_from_file(&file, &Warnings::default(), &Progress::default()).unwrap().is_empty()
        );
    }

    #[test]
    fn what_says_to_be_larger_than_a_proto_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = module_file(directory.path(), "a.hlo.pb");
        // Field 3, of 6 GiB.
        fs::write(&file.path, [0x1A, 0x80, 0x80, 0x80, 0x80, 0x18]).unwrap();
        assert!(
            list_from_file(&file, &Warnings::default(), &Progress::default()).unwrap().is_empty(),
            "it is cut"
        );
        File::options().write(true).open(&file.path).unwrap().set_len(6 << 30).unwrap();
        let error = list_from_file(&file, &Warnings::default(), &Progress::default()).unwrap_err();
        assert!(error.message.contains("larger than any proto"), "{error:?}");
        // Nothing is said of protos where a text is too large.
        let text = ModuleFile { kind: ProtoKind::Text, ..file };
        let error = read_bytes(&text, &Warnings::default(), &Progress::default()).unwrap_err();
        assert!(error.message.contains("of a text at most 2 GiB"), "{error:?}");
    }

    #[test]
    fn a_field_that_reaches_behind_a_block_is_found_whole() {
        let directory = tempfile::tempdir().unwrap();
        let file = module_file(directory.path(), "a.hlo.pb");
        // A module of two blocks with a name, and an assignment with one allocation of 5 bytes, padded to another block.
        let mut module = vec![0x0A, 1, b'm', 0x12, 0x80, 0x80, 0x08];
        module.resize(module.len() + 2 * BLOCK, 0);
        let mut assignment = vec![0x1A, 2, 0x10, 5, 0x22, 0x80, 0x80, 0x04];
        assignment.resize(assignment.len() + BLOCK, 0);
        let varint = |number: usize| {
            let mut bytes = Vec::new();
            encode_varint(number as u64, &mut bytes);
            bytes
        };
        let parts = [(0x0A, module), (0x1A, assignment)];
        let message = parts
            .into_iter()
            .flat_map(|(tag, part)| [vec![tag], varint(part.len()), part].concat());
        fs::write(&file.path, message.collect::<Vec<u8>>()).unwrap();
        let found = list_from_file(&file, &Warnings::default(), &Progress::default()).unwrap();
        let [FoundModule { listed, .. }] = &found[..] else { panic!("one: {found:?}") };
        assert_eq!((listed.module.as_deref(), listed.total_bytes), (Some("m"), 5));
    }
}
