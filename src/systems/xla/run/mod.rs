//! An open XLA module: the one of a dump that is meant, what follows from it, what lies beside it, and the report that
//! pages and commands share with other systems.

mod agreement;
mod chips;
mod error_text;
mod indexed;
mod operations;
mod programs;
pub(super) mod report;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::indexed::ModuleIndex;
#[cfg(any(test, fuzzing))]
pub(crate) use self::indexed::read as read_index;

use crate::analysis::derived::Derived;
use crate::diagnose::Kind;
use crate::files;
use crate::format::{Error, ErrorKind, Progress};
use crate::index::{self, Cache, IndexError};
use crate::run::ModuleOfRun;
use crate::store::hlo::{CapacityOf, InstructionId};
use crate::store::report::{FileStatus, ReportFile};
use crate::store::{Report, Warning, WarningCode, Warnings};
use crate::systems::xla::answers::{XlaAnswers, module_of_run};
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::claims::{add_memory_analysis, compared_claims};
use crate::systems::xla::buffer_assignment::live_ranges::LiveRange;
pub use crate::systems::xla::buffer_assignment::program::AnalysedModule;
use crate::systems::xla::buffer_assignment::program::RefusedModule;
use crate::systems::xla::files::{
    self as xla, FilesBeside, FoundModule, ModuleFile, list_modules, platform_of_name, read_listed,
};
use crate::text::{bytes, clean, grouped, shortened};

pub use self::agreement::{AgreedFigure, Agreement, ModuleTotals, stated_bytes};
pub use self::error_text::{ErrorText, dump_of_text, texts_in};

/// The modules that a path names, the one that is meant first.
#[derive(Clone, Debug)]
pub struct XlaFiles {
    /// The path that was named.
    pub path: PathBuf,
    /// The modules; never empty.
    pub modules: Vec<FoundModule>,
    /// What there is to say of how they were found.
    pub warnings: Vec<Warning>,
    /// Error texts beside the modules, where they were read for several at once.
    pub texts: Option<Arc<Vec<ErrorText>>>,
    /// Files beside the modules, where they were listed for several at once.
    pub beside: Option<Arc<FilesBeside>>,
}

/// Modules that an error names.
const MOST_NAMED: usize = 12;

impl XlaFiles {
    /// The modules as all systems list them.
    pub fn listed_modules(&self) -> Vec<ModuleOfRun> {
        self.modules.iter().map(|found| module_of_run(&found.listed)).collect()
    }
}

/// The modules of a path; `None` where there is nothing of XLA's. With `module` the one of that key is meant, or the first
/// whose file or name is called so, or has that in it, else the one that takes the most of the main memory.
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
        let Some(place) = place_of(&modules, wanted) else {
            let name = |found: &FoundModule| {
                let (one, bytes) = (&found.listed, bytes(found.listed.main_bytes));
                // Of modules of one name the key alone is no name.
                let name = one.module.as_ref().filter(|name| !one.title.starts_with(&***name));
                let name = name.map_or_else(String::new, |name| format!("{} of ", clean(name)));
                format!("{name}{} ({bytes})", clean(&one.title))
            };
            let mut names: Vec<String> = modules.iter().take(MOST_NAMED).map(name).collect();
            let more = modules.len().saturating_sub(names.len());
            let more_text =
                || format!("and {} more that `tilescope summary` lists", grouped(more as u64));
            names.extend((more > 0).then(more_text));
            let message = format!("{} has no module {wanted:?}", path.display());
            return Err(Error::new(ErrorKind::Usage, message)
                .in_file(path)
                .hint(format!("It has {}.", names.join(", "))));
        };
        modules[..=place].rotate_right(1);
    }
    let path = path.to_owned();
    let files = XlaFiles { path, modules, warnings: warnings.list(), texts: None, beside: None };
    Ok((!files.modules.is_empty()).then_some(files))
}

/// The programs below paths that are variants of each other, in no order: of each directory the module that is meant, or
/// the one that has a text in its name, with all its compilations. What cannot be listed is a warning.
pub fn programs_below(
    paths: &[PathBuf],
    module: Option<&str>,
    warnings: &Warnings,
    progress: &Progress,
) -> Vec<XlaFiles> {
    let mut by_directory: BTreeMap<PathBuf, Vec<FoundModule>> = BTreeMap::new();
    for path in paths {
        match find(path, None, progress) {
            Ok(Some(files)) => {
                warnings.add_all(&files.warnings);
                for one in files.modules.into_iter().filter(FoundModule::is_program) {
                    let directory = files::directory_of(one.at.path());
                    by_directory.entry(directory).or_default().push(one);
                }
            }
            Ok(None) => {}
            Err(error) => {
                let path = path.display().to_string();
                warnings.add(WarningCode::Inconsistent, &path, error.message);
            }
        }
    }
    let variants = |(directory, modules): (PathBuf, Vec<FoundModule>)| {
        let place = module.map_or(Some(0), |text| place_of(&modules, text));
        let name = place.and_then(|place| modules.get(place)).map(|one| one.listed.module.clone());
        let is_it = |one: &FoundModule| Some(&one.listed.module) == name.as_ref();
        let mut all: Vec<FoundModule> = modules.into_iter().filter(is_it).collect();
        // One file may be below several paths.
        all.sort_by(|a, b| a.at.path().cmp(b.at.path()));
        all.dedup_by(|a, b| a.at.is_same(&b.at));
        let texts = Arc::new(texts_in(&directory));
        let beside = Arc::new(FilesBeside::of(&directory));
        let files = move |one| XlaFiles {
            path: directory.clone(),
            modules: vec![one],
            warnings: Vec::new(),
            texts: Some(Arc::clone(&texts)),
            beside: Some(Arc::clone(&beside)),
        };
        all.into_iter().map(files).collect::<Vec<_>>()
    };
    by_directory.into_iter().flat_map(variants).collect()
}

/// The module of a key, else the first whose file or name is called so, else the first that has the text in one of them,
/// or a part of a path in its whole path.
fn place_of(modules: &[FoundModule], wanted: &str) -> Option<usize> {
    let place = |is_so: &dyn Fn(&str) -> bool| {
        modules.iter().position(|FoundModule { listed, .. }| {
            is_so(&listed.file) || listed.module.as_deref().is_some_and(is_so)
        })
    };
    let by_key =
        |is_so: &dyn Fn(&str) -> bool| modules.iter().position(|one| is_so(&one.listed.key));
    let in_path = |one: &FoundModule| one.at.path().display().to_string().contains(wanted);
    by_key(&|key| key == wanted)
        .or_else(|| place(&|name| name == wanted))
        .or_else(|| place(&|name| name.contains(wanted)))
        .or_else(|| by_key(&|key| key.contains(wanted)))
        .or_else(|| modules.iter().position(in_path).filter(|_| wanted.contains('/')))
}

/// A run of XLA.
#[derive(Debug)]
pub struct XlaRun {
    /// What all systems have.
    pub report: Arc<Report>,
    /// The module, with what follows from it.
    pub program: Arc<AnalysedModule>,
    /// All that lies at its path, the one that is open first.
    pub modules: Vec<ModuleOfRun>,
    /// What XLA said when the program did not fit, where that lies beside it.
    pub error_text: Option<ErrorText>,
    index: Option<ModuleIndex>,
}

impl AnalysedModule {
    /// That it has no such memory space.
    pub fn no_such_space(&self, color: i64) -> Error {
        let there: Vec<String> = (self.analysed.colors())
            .map(|color| format!("{color} ({})", self.color_title(color)))
            .collect();
        let name = shortened(&self.analysed.module.name, 60);
        let message = format!("{name} has no memory space {color}");
        Error::new(ErrorKind::Usage, message).hint(format!("It has: {}.", there.join(", ")))
    }
}

impl XlaRun {
    /// The run with its answers.
    pub fn derived(&self) -> Derived {
        Derived::new(Arc::clone(&self.report)).with_answers(Arc::new(XlaAnswers::of(self)))
    }

    /// Reads the module that is meant, from its index where it has one; `None` when that was canceled.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged beyond use.
    pub fn open(files: &XlaFiles, progress: &Progress) -> Result<Option<Self>, Error> {
        Self::open_with(files, index::of_process(), progress)
    }

    /// The same with an index of one's own, or none.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(
        files: &XlaFiles,
        cache: Option<&Cache>,
        progress: &Progress,
    ) -> Result<Option<Self>, Error> {
        let Some(found) = files.modules.first() else { return Ok(None) };
        let read_texts = || Arc::new(texts_in(&files::directory_of(found.at.path())));
        let texts: &[ErrorText] = &files.texts.clone().unwrap_or_else(read_texts);
        let listed = &found.listed;
        let report = Report::of(crate::systems::xla::WORDS, files.path.clone());
        for warning in &files.warnings {
            report.warnings.add(warning.code, &warning.file, warning.message.as_str());
        }
        let path = found.at.path();
        let bytes = fs::metadata(path).ok().map(|metadata| metadata.len());
        let mut file = ReportFile { name: listed.file.clone(), bytes, status: FileStatus::Ok };
        let mut index = cache.and_then(|cache| ModuleIndex::find(cache, found));
        let (module, warnings) = match index.as_ref().and_then(ModuleIndex::read) {
            Some(read) => read,
            None => {
                let warnings = Warnings::default();
                let Some(read) = read_listed(found, &warnings, progress)? else { return Ok(None) };
                file.status = read.status;
                if read.status == FileStatus::Ok && !warnings.has(WarningCode::Truncated) {
                    index = index.map(|index| index.with(warnings.list()));
                }
                (read.module, warnings.list())
            }
        };
        report.warnings.add_all(&warnings);
        report.set_files(vec![file]);
        let mut program = AnalysedModule::of(module);
        program.is_cut = report.is_cut();
        compare_printed(&mut program.analysed, path, &report.warnings, progress);
        program.platform = platform_of_name(&listed.file);
        program.claims = xla::claims(found, &report.warnings, progress);
        let list_beside = || Arc::new(FilesBeside::of(&files::directory_of(path)));
        let listed_beside = files.beside.clone().unwrap_or_else(list_beside);
        let stated = xla::memory_analysis(path, &report.warnings, progress);
        let is_alone = !stated.is_empty() && !listed_beside.has_several_modules;
        add_memory_analysis(&mut program, stated, is_alone);
        note_contradictions(&program, &report.warnings);
        note_overflow(&program, &listed.file, &report.warnings);
        program.beside = listed_beside.read(path);
        if let Some(profile) = &found.profile {
            program.beside.add_profile(profile);
        }
        let sizes = (!texts.is_empty()).then(|| ModuleTotals::of(&program));
        let capacity = sizes.as_ref().and_then(|sizes| error_text::capacity(texts, sizes));
        let beside = &mut program.beside;
        if let Some((text, capacity)) = capacity {
            beside.set_capacity(capacity, &text.file(), CapacityOf::File);
        }
        if let Some(known) = beside.device.as_deref().and_then(chips::known_chip) {
            let file = beside.device_file.clone();
            beside.set_capacity(known.bytes, &file, CapacityOf::Preset(known.name));
        }
        let error_text = sizes.and_then(|sizes| error_text::about(texts, &sizes)).cloned();
        // A compiler that finds no room says so of the program; an allocation of a run that fails, of that moment.
        let refused = error_text.as_ref().filter(|text| text.finding.kind == Kind::TpuOutOfMemory);
        program.refusal = refused.map(|text| RefusedModule {
            file: text.file(),
            excess_bytes: text.finding.excess_bytes,
        });
        let programs = files.modules.iter().filter(|found| found.is_program());
        program.modules = programs.map(|found| found.listed.clone()).collect();
        let (report, program) = (Arc::new(report), Arc::new(program));
        let modules = files.listed_modules();
        Ok(Some(Self { report, program, modules, error_text, index }))
    }

    /// Whether it was read from an index, with which nothing is wrong.
    pub fn has_index(&self) -> bool {
        self.index.as_ref().is_some_and(ModuleIndex::is_there)
    }

    /// Writes the index of the module; returns its size. `None` where there is one already, none is to be used, or the
    /// module is read as fast without.
    ///
    /// # Errors
    /// When the file is cut or has changed, when the index cannot be written, and when it was canceled.
    pub fn write_index(&self, progress: &Progress) -> Result<Option<u64>, IndexError> {
        let write = |index: &ModuleIndex| index.write(&self.program.analysed.module, progress);
        self.index.as_ref().map_or(Ok(None), write)
    }
}

/// Warns where XLA states another figure than comes out of the module.
fn note_contradictions(program: &AnalysedModule, warnings: &Warnings) {
    for claim in compared_claims(program).iter().filter(|claim| !claim.agrees) {
        let message = format!(
            "{} is stated as {} B, but the module's allocations have {} B: the statement is of \
             another compilation, or damaged",
            claim.title(|color| format!("color {color}")),
            claim.claimed_bytes,
            claim.bytes
        );
        warnings.add(WarningCode::Inconsistent, &claim.file, message);
    }
}

/// No number holds the bytes of all allocations: sums end at the largest one.
fn note_overflow(program: &AnalysedModule, file: &str, warnings: &Warnings) {
    let mut bytes = program.analysed.module.allocations.iter().map(|one| one.bytes);
    if bytes.try_fold(0, u64::checked_add).is_none() {
        let message =
            "its allocations have more bytes together than 2^64 − 1; sums are at least that";
        warnings.add(WarningCode::Inconsistent, file, message);
    }
}

/// Where XLA has printed when values live and that is something else, what it printed counts, with a warning.
fn compare_printed(analysed: &mut Analysed, path: &Path, warnings: &Warnings, progress: &Progress) {
    if analysed.module.entry.is_none() {
        return;
    }
    // Old releases have all in the first text, newer ones the lives in the last.
    let texts = xla::texts_of(path);
    let has_lives = |text: &&ModuleFile| text.name.ends_with("-live-range.txt");
    let Some(text) = texts.iter().find(has_lives).or(texts.first()) else { return };
    let bytes = match xla::read_bytes(text, warnings, progress) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return,
        Err(error) => {
            warnings.add(WarningCode::Inconsistent, &text.name, error.message);
            return;
        }
    };
    let printed = xla::text::printed_lives(&bytes, &|| progress.is_cancelled());
    let warn = |message: String| warnings.add(WarningCode::Inconsistent, &text.name, message);
    let end = analysed.schedule.end();
    if printed.end.is_some_and(|printed| printed != end) {
        warn(
            "it is of another order of instructions than the proto; its lives are not compared"
                .to_owned(),
        );
        return;
    }
    let module = &analysed.module;
    let mut instructions: HashMap<&str, InstructionId> =
        HashMap::with_capacity(module.values.len());
    for value in &module.values {
        let name = module.instruction_name(value.instruction);
        instructions.entry(name).or_insert(value.instruction);
    }
    let (mut different, mut impossible) = (Vec::new(), 0_usize);
    for (name, path, start, last) in &printed.ranges {
        let Some(instruction) = instructions.get(name.as_str()) else { continue };
        let shape = module.instructions.shape(*instruction);
        let place = module.shapes.place(shape, path.iter().map(|one| i64::from(*one)));
        // What an instruction holds and makes itself.
        let value = place.map(|place| analysed.held.at(*instruction, place));
        let value = value.filter(|value| {
            module.value(*value).is_some_and(|value| value.instruction == *instruction)
        });
        let Some((value, ours)) = value.and_then(|one| Some((one, analysed.ranges.get(one)?)))
        else {
            continue;
        };
        if start > last || *last > end {
            impossible += 1;
        } else if (ours.start, ours.end) != (*start, *last) {
            different.push((value, LiveRange { start: *start, end: *last }));
        }
    }
    if impossible > 0 {
        warn(format!(
            "{impossible} lives end before they begin, or after the module; they are ignored"
        ));
    }
    if !different.is_empty() {
        warn(format!(
            "{} of {} values live at other positions than follow from the module; those of the \
            text are shown",
            different.len(),
            printed.ranges.len()
        ));
        analysed.live_at(&different);
    }
}
