//! The modules of a path, and which of them is meant (formats/xla.md 2): of each its name and how much it takes, read
//! without what is in it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::discover::{ModuleFile, ProtoKind, module_files, protos_of_profile, read_bytes};
use super::wire::{Field, Fields, Malformed};
use super::{HloProto, Reading, is_hlo_proto, text};
use crate::format::{Error, Progress};
use crate::store::hlo::{Allocation, AllocationKind};
use crate::store::{WarningCode, Warnings};

/// A module of a dump.
#[derive(Clone, Debug, Serialize)]
pub struct ListedModule {
    /// The name of its file.
    pub file: String,
    /// Its name; none of a bare assignment, and of text the part of the file's name.
    pub module: Option<String>,
    /// Number of allocations.
    pub allocations: usize,
    /// Of all allocations.
    pub total_bytes: u64,
    /// Of temporary allocations.
    pub temp_bytes: u64,
    /// Of all allocations in the main memory.
    #[serde(skip)]
    pub main_bytes: u64,
    /// Where it is.
    #[serde(skip)]
    pub at: ModuleAt,
}

/// Where a module is.
#[derive(Clone, Debug)]
pub enum ModuleAt {
    /// A proto.
    File(ModuleFile),
    /// One of the protos of a profile, from 0.
    Profile(ModuleFile, usize),
    /// The texts of its assignment.
    Texts(Vec<PathBuf>),
}

impl ModuleAt {
    /// The file, or the first of them.
    pub fn path(&self) -> &Path {
        match self {
            Self::File(file) | Self::Profile(file, _) => &file.path,
            Self::Texts(paths) => paths.first().map_or(Path::new(""), PathBuf::as_path),
        }
    }
}

/// What a module takes, as its allocations say.
#[derive(Clone, Copy, Default)]
struct Sizes {
    allocations: usize,
    total: u64,
    temporary: u64,
    main: u64,
}

impl Sizes {
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

    fn of<'a>(allocations: impl IntoIterator<Item = &'a Allocation>) -> Self {
        let mut sizes = Self::default();
        for allocation in allocations {
            sizes.add(allocation.bytes, allocation.kind, allocation.color);
        }
        sizes
    }

    fn listed(self, file: &str, module: Option<String>, at: ModuleAt) -> ListedModule {
        ListedModule {
            file: file.to_owned(),
            module,
            allocations: self.allocations,
            total_bytes: self.total,
            temp_bytes: self.temporary,
            main_bytes: self.main,
            at,
        }
    }
}

/// The modules of a path, the largest in its main memory first; of equals the first file name. Empty where there is
/// nothing of XLA's. Damaged files become warnings.
///
/// # Errors
/// When the directory, or the file that was named, cannot be read.
pub fn list_modules(
    path: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Vec<ListedModule>, Error> {
    let files = module_files(path, progress)?;
    let is_directory = path.is_dir();
    let mut listed = Vec::new();
    for kind in [ProtoKind::Module, ProtoKind::Profile] {
        for file in files.iter().filter(|file| file.kind == kind) {
            list_file(file, is_directory, &mut listed, warnings, progress)?;
        }
        if !listed.is_empty() {
            break;
        }
    }
    if listed.is_empty() {
        list_texts(path, &mut listed, progress);
    }
    if listed.is_empty() {
        for file in files.iter().filter(|file| file.kind == ProtoKind::Assignment) {
            list_file(file, is_directory, &mut listed, warnings, progress)?;
        }
    }
    // What comes first of equals stays first.
    listed.sort_by_key(|one| std::cmp::Reverse(one.main_bytes));
    Ok(listed)
}

fn list_file(
    file: &ModuleFile,
    is_one_of_many: bool,
    listed: &mut Vec<ListedModule>,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<(), Error> {
    let bytes = match read_bytes(file, progress) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(()),
        Err(error) if is_one_of_many => {
            warnings.add(WarningCode::Inconsistent, &file.name, error.message);
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    if file.kind == ProtoKind::Profile {
        for (place, proto) in protos_of_profile(&bytes).into_iter().enumerate() {
            let at = ModuleAt::Profile(file.clone(), place);
            listed.extend(list_proto(proto, file, at, progress).unwrap_or(None));
        }
        return Ok(());
    }
    match list_proto(&bytes, file, ModuleAt::File(file.clone()), progress) {
        Ok(one) => listed.extend(one),
        Err(fault) => {
            let message = format!("it is left out, for it is no proto of XLA's: {}", fault.0);
            warnings.add(WarningCode::Inconsistent, &file.name, message);
        }
    }
    Ok(())
}

/// What a proto has, unless it has no assignment.
fn list_proto(
    message: &[u8],
    file: &ModuleFile,
    at: ModuleAt,
    progress: &Progress,
) -> Result<Option<ListedModule>, Malformed> {
    // What is damaged is said when the module is read.
    let unsaid = Warnings::default();
    let reading = Reading::of(message, &file.name, &unsaid, progress);
    let (name, assignment) = if is_hlo_proto(message) {
        let proto = HloProto::of(message, &reading)?;
        let name = proto.module.map(module_name);
        (name, proto.assignment)
    } else if file.kind == ProtoKind::Assignment {
        (None, Some(message))
    } else {
        (None, None)
    };
    let Some(assignment) = assignment else { return Ok(None) };
    let mut sizes = Sizes::default();
    let mut fields = Fields::of(assignment);
    while let Ok(Some((number, field))) = fields.next_field() {
        if let (3, Field::Bytes(allocation)) = (number, field) {
            add_allocation(allocation, &mut sizes);
        }
    }
    Ok((sizes.allocations > 0).then(|| sizes.listed(&file.name, name, at)))
}

fn module_name(module: &[u8]) -> String {
    match Fields::of(module).next_field() {
        Ok(Some((1, field))) => String::from_utf8_lossy(field.bytes()).into_owned(),
        _ => String::new(),
    }
}

fn add_allocation(message: &[u8], sizes: &mut Sizes) {
    let (mut bytes, mut color) = (0, 0);
    let mut is_temporary = true;
    let mut fields = Fields::of(message);
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

/// The endings of the texts of an assignment.
const TEXTS: [&str; 3] =
    ["-buffer-assignment.txt", "-buffer-assignment-values.txt", "-live-range.txt"];

/// The texts of the assignment that a path is one of, or whose proto it is; the allocations first.
pub fn texts_of(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let proto = name.strip_suffix(".gz").unwrap_or(&name);
    let endings = TEXTS.iter().copied().chain([".hlo.pb"]);
    let Some(stem) = endings.into_iter().find_map(|ending| proto.strip_suffix(ending)) else {
        return Vec::new();
    };
    let beside = TEXTS.iter().map(|ending| path.with_file_name(format!("{stem}{ending}")));
    beside.filter(|path| path.is_file()).collect()
}

/// Bytes of the texts that are read of an assignment to list it.
const MOST_TEXT: u64 = 256 << 20;

fn list_texts(path: &Path, listed: &mut Vec<ListedModule>, progress: &Progress) {
    let heads: Vec<PathBuf> = if path.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut heads: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        heads.retain(|path| path.to_string_lossy().ends_with(TEXTS[0]));
        heads.sort();
        heads
    } else {
        vec![path.to_owned()]
    };
    for head in heads {
        let texts = texts_of(&head);
        let Some(first) = texts.first() else { continue };
        let name = first.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let file =
            ModuleFile { path: first.clone(), name: name.clone(), kind: ProtoKind::Assignment };
        let is_small = fs::metadata(first).is_ok_and(|data| data.len() <= MOST_TEXT);
        let Some(Ok(Some(bytes))) = is_small.then(|| read_bytes(&file, progress)) else { continue };
        let sizes = Sizes::of(&text::allocations(&bytes));
        if sizes.allocations > 0 {
            let module = module_of_name(&name);
            listed.push(sizes.listed(&name, module, ModuleAt::Texts(texts)));
        }
    }
}

/// The name of the module within the name of a file of a dump: `module_0028.jit_step.cpu_after…` is `jit_step`.
fn module_of_name(file: &str) -> Option<String> {
    let (_, rest) = file.split_once("module_")?;
    let (number, rest) = rest.split_once('.')?;
    let (name, _) = rest.split_once('.')?;
    number.bytes().all(|letter| letter.is_ascii_digit()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_module_is_within_that_of_its_files() {
        let name =
            "1795309.module_0028.jit_train_step.cpu_after_optimizations-buffer-assignment.txt";
        assert_eq!(module_of_name(name).as_deref(), Some("jit_train_step"));
        assert_eq!(module_of_name("module_x.y.z"), None);
        assert_eq!(module_of_name("a.txt"), None);
    }
}
