//! A program of XLA that is open: the module of a dump that is meant, what follows from it, what lies beside it, and the
//! report that pages and commands share with other systems.

mod report;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::analysis::buffer_assignment::analysed::Analysed;
use crate::analysis::buffer_assignment::live_ranges::LiveRange;
use crate::format::xla::{self, Beside, ListedModule, list_modules, platform_of_name, read_listed};
use crate::format::{Error, ErrorKind, Progress};
use crate::store::hlo::{Platform, ValueId};
use crate::store::report::{FileStatus, ReportFile};
use crate::store::{Report, System, Warning, WarningCode, Warnings};

/// Bytes of the printed live ranges that are compared with what follows from the program.
const MOST_TEXT: u64 = 256 << 20;

/// The modules that a path names, the one that is meant first.
#[derive(Clone, Debug)]
pub struct XlaFiles {
    /// The path that was named.
    pub path: PathBuf,
    /// The modules; never empty.
    pub modules: Vec<ListedModule>,
    /// What there is to say of how they were found.
    pub warnings: Vec<Warning>,
}

/// The modules of a path; `None` where there is nothing of XLA's. With `module` the first whose file or name has that
/// in it is meant, else the one that takes the most of the main memory.
///
/// # Errors
/// When the path cannot be read, or no module is called so.
pub fn find(
    path: &Path,
    module: Option<&str>,
    progress: &Progress,
) -> Result<Option<XlaFiles>, Error> {
    let warnings = Warnings::default();
    let mut modules = list_modules(path, &warnings, progress)?;
    if let Some(wanted) = module.filter(|_| !modules.is_empty()) {
        let is_wanted = |one: &ListedModule| {
            one.file.contains(wanted)
                || one.module.as_deref().is_some_and(|name| name.contains(wanted))
        };
        let Some(place) = modules.iter().position(is_wanted) else {
            let names: Vec<&str> = modules
                .iter()
                .take(5)
                .map(|one| one.module.as_deref().unwrap_or(&one.file))
                .collect();
            let message = format!("{} has no module {wanted:?}", path.display());
            return Err(Error::new(ErrorKind::Usage, message)
                .in_file(path)
                .hint(format!("It has {}.", names.join(", "))));
        };
        modules[..=place].rotate_right(1);
    }
    let path = path.to_owned();
    let files = XlaFiles { path, modules, warnings: warnings.list() };
    Ok((!files.modules.is_empty()).then_some(files))
}

/// A run of XLA.
#[derive(Debug)]
pub struct XlaRun {
    /// What all systems have.
    pub report: Arc<Report>,
    /// The module, with what follows from it.
    pub program: Arc<Program>,
}

/// A module with what lies beside it.
#[derive(Debug)]
pub struct Program {
    /// What follows from it.
    pub analysed: Analysed,
    /// What it was compiled for.
    pub platform: Option<Platform>,
    /// What lies beside it.
    pub beside: Beside,
    /// The modules of the dump, this one first.
    pub modules: Vec<ListedModule>,
}

impl XlaRun {
    /// Reads the module that is meant; `None` when that was cancelled.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged beyond use.
    pub fn open(files: &XlaFiles, progress: &Progress) -> Result<Option<Self>, Error> {
        let Some(listed) = files.modules.first() else { return Ok(None) };
        let report = Report::of(System::XLA, files.path.clone());
        for warning in &files.warnings {
            report.warnings.add(warning.code, &warning.file, warning.message.as_str());
        }
        let path = listed.at.path();
        let bytes = fs::metadata(path).ok().map(|metadata| metadata.len());
        let mut file = ReportFile { name: listed.file.clone(), bytes, status: FileStatus::Ok };
        let Some(read) = read_listed(listed, &report.warnings, progress)? else { return Ok(None) };
        file.status = read.status;
        report.set_files(vec![file]);
        let mut analysed = Analysed::of(read.module);
        compare_printed(&mut analysed, path, &report.warnings, progress);
        let program = Program {
            analysed,
            platform: platform_of_name(&listed.file),
            beside: Beside::of(path),
            modules: files.modules.clone(),
        };
        Ok(Some(Self { report: Arc::new(report), program: Arc::new(program) }))
    }
}

/// Where XLA has printed when values live and that is something else, what it printed counts, with a warning.
fn compare_printed(analysed: &mut Analysed, path: &Path, warnings: &Warnings, progress: &Progress) {
    if analysed.module.entry.is_none() {
        return;
    }
    let mut printed: Vec<(String, u32, u32)> = Vec::new();
    for text in xla::texts_of(path) {
        let is_small = fs::metadata(&text).is_ok_and(|metadata| metadata.len() <= MOST_TEXT);
        if !is_small || progress.is_cancelled() {
            continue;
        }
        if let Ok(bytes) = fs::read(&text) {
            printed.extend(xla::text::stated_ranges(&bytes));
        }
    }
    if printed.is_empty() {
        return;
    }
    let module = &analysed.module;
    let rows = (0..module.values.len() as u32).map(ValueId);
    let by_name: HashMap<String, ValueId> =
        rows.map(|row| (with_braces(module.value_name(row)), row)).collect();
    let differs = |(name, start, end): &(String, u32, u32)| {
        let value = *by_name.get(name)?;
        let range = LiveRange { start: *start, end: *end };
        (analysed.ranges.get(value)? != range).then_some((value, range))
    };
    let different: Vec<(ValueId, LiveRange)> = printed.iter().filter_map(differs).collect();
    if different.is_empty() {
        return;
    }
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let message = format!(
        "{} of {} values live at other positions in the text beside it than follows from the program; those of the text \
         are shown",
        different.len(),
        printed.len()
    );
    warnings.add(WarningCode::Inconsistent, &file, message);
    analysed.live_at(&different);
}

fn with_braces(name: String) -> String {
    if name.ends_with('}') { name } else { format!("{name}{{}}") }
}
