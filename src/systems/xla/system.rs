//! XLA modules as a system whose runs can be opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::{DumpName, ModuleAt, ProtoKind};
use super::joined_logs::join_logs;
use super::lake;
use super::live_arrays::FoundProfile;
use super::record::open_record;
use super::run::{ErrorText, XlaFiles, XlaRun, find, programs_below};
use super::synth::arguments::synth;
use crate::analysis::derived::Derived;
use crate::format::{Error, ErrorKind, Progress};
use crate::index::{self, Cache, IndexError};
use crate::run::joined_logs::{JoinedLogs, LogToJoin};
use crate::run::{ModuleOfRun, RunTable, TableWriter};
use crate::store::{System, Warnings};
use crate::synth::Synth;
use crate::systems::below::{each_file_below, only_run};
use crate::systems::system::{
    Capture, FoundRun, IdPart, OpenRun, Reading, RunSystem, boxed, of_type,
};
use crate::text::{clean, counted};

/// In the place of a record among those of its file: modules have places of their own.
const RECORD: u64 = 1 << 63;

/// The system.
#[derive(Debug)]
pub struct Xla;

impl RunSystem for Xla {
    fn title(&self) -> &'static str {
        "XLA"
    }

    fn words(&self) -> System {
        super::WORDS
    }

    fn capture(&self) -> Option<&'static Capture> {
        Some(&Capture {
            title: "Dump XLA modules",
            code: r#"export XLA_FLAGS="--xla_dump_to=./dump --xla_dump_hlo_as_text --xla_dump_hlo_as_proto""#,
            hint: "Set this before the first compilation, for JAX, PyTorch/XLA, or TensorFlow with \
                   tf.function(jit_compile=True). A module that does not fit is dumped too. Then open the directory.",
        })
    }

    fn find(
        &self,
        path: &Path,
        module: Option<&str>,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error> {
        if let Some(profile) = FoundProfile::find(path, progress)? {
            return Ok(Some(boxed(profile)));
        }
        let found = find(path, module, progress)?;
        if found.is_none() && progress.is_cancelled() {
            return Err(Error::new(ErrorKind::Unreadable, "cancelled").in_file(path));
        }
        match found {
            None if path.is_dir() => only_run(path, profiles_below(path, warnings, progress)),
            found => Ok(found.map(boxed)),
        }
    }

    fn below(
        &self,
        paths: &[PathBuf],
        module: Option<&str>,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Vec<Box<dyn FoundRun>>, Error> {
        let (mut found, mut others) = (Vec::new(), Vec::new());
        for path in paths {
            let profiles = if path.is_dir() {
                profiles_below(path, warnings, progress)
            } else {
                FoundProfile::find(path, progress)?.map(boxed).into_iter().collect()
            };
            // A directory may have modules beside profiles.
            if profiles.is_empty() || path.is_dir() {
                others.push(path.clone());
            }
            found.extend(profiles);
        }
        found.extend(programs_below(&others, module, warnings, progress).into_iter().map(boxed));
        Ok(found)
    }

    fn has_modules(&self) -> bool {
        true
    }

    fn partial(&self, path: &Path) -> Option<Derived> {
        Some(ErrorText::open(path)?.derived())
    }

    fn find_beside_logs(
        &self,
        path: &Path,
        progress: &Progress,
    ) -> Result<Option<Box<dyn FoundRun>>, Error> {
        Ok(find(path, None, progress)?.map(boxed))
    }

    fn join_logs(
        &self,
        named: &[Box<dyn FoundRun>],
        logs: &[LogToJoin<'_>],
        progress: &Progress,
    ) -> Result<JoinedLogs, Error> {
        let named = of_type::<XlaFiles>(named);
        Ok(join_logs(&named, logs, progress))
    }

    fn tables(&self) -> &'static [RunTable] {
        &lake::TABLES
    }

    fn synth(&self) -> Option<Synth> {
        Some(synth())
    }

    fn instead_of(&self, command: &str) -> &'static str {
        match command {
            "tiles" => {
                "Memory spaces have no tiles: tilescope summary has the bytes of each, tilescope map --arena N what lies \
                 where in an allocation."
            }
            "ops" => {
                "tilescope liveness --step peak --by operation has the bytes of each operation; a module says nothing of \
                 vertices and cycles."
            }
            "trace" | "export --chrome-trace" => {
                "A module is what was compiled, not what ran: tilescope liveness lists its instructions in their order, \
                 and jax.profiler.trace writes a trace."
            }
            _ => "",
        }
    }
}

/// The device memory profiles in a directory and a few levels below it. What is no such profile is passed over.
fn profiles_below(
    directory: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Vec<Box<dyn FoundRun>> {
    let mut found = Vec::new();
    each_file_below(directory, warnings, progress, |path| {
        if FoundProfile::is_called_so(&path) {
            found.extend(FoundProfile::find(&path, progress).ok().flatten().map(boxed));
        }
    });
    found.sort_by(|one, other| one.path().cmp(other.path()));
    found
}

impl FoundRun for XlaFiles {
    fn system(&self) -> &'static dyn RunSystem {
        &Xla
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn opened_by(&self) -> PathBuf {
        let first = self.modules.first();
        first.map_or_else(|| self.path.clone(), |found| found.at.path().to_owned())
    }

    /// The directory of its dump, else what all files of the module begin with.
    fn naming_path(&self, is_alone: bool) -> PathBuf {
        match self.modules.first() {
            Some(found) if !is_alone => {
                let file = found.listed.file.as_str();
                let name = DumpName::of(file);
                self.path.join(name.map_or(file, |name| name.prefix.trim_end_matches('.')))
            }
            _ => self.path.clone(),
        }
    }

    /// Of a profile, which has several modules, the place in it counts as well, and so does where it was printed.
    fn id_parts(&self) -> Vec<IdPart> {
        let Some(found) = self.modules.first() else { return Vec::new() };
        let (place, files) = match &found.at {
            ModuleAt::Proto(file, place) => {
                let is_profile = file.kind == ProtoKind::Profile;
                (is_profile.then_some(*place as u64), std::slice::from_ref(file))
            }
            ModuleAt::Texts(files) => (None, files.as_slice()),
            ModuleAt::Record(file, place) => {
                (Some((*place as u64) | RECORD), std::slice::from_ref(file))
            }
        };
        let number = |number: u64| IdPart::Bytes(number.to_le_bytes().to_vec());
        let mut parts: Vec<IdPart> = place.map(number).into_iter().collect();
        for file in files {
            let part = file.part.filter(|_| file.kind != ProtoKind::Profile);
            parts.extend(part.map(|part| number(part.start)));
            parts.push(IdPart::File(file.path.clone()));
        }
        parts
    }

    fn choice(&self) -> Option<String> {
        let [first, _, ..] = self.modules.as_slice() else { return None };
        let name = first.listed.module.as_deref().unwrap_or("not named");
        let (name, file) = (clean(name), clean(&first.listed.key));
        let programs = self.modules.iter().filter(|one| one.is_program()).count();
        let records = self.modules.len().saturating_sub(programs);
        let counts = [(programs, "module"), (records, "allocator")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, of)| counted(count as u64, of)).collect();
        Some(format!("{}; this is {name} of {file}", counts.join(" and ")))
    }

    fn modules(&self) -> Vec<ModuleOfRun> {
        self.listed_modules()
    }

    fn why_no_index(&self) -> Option<[&'static str; 2]> {
        let first = self.modules.first().filter(|found| !found.is_program());
        first.map(|_| ["the record of an allocator", "The modules beside it can have one."])
    }

    fn choose_module(&mut self, place: usize) {
        if let Some(modules) = self.modules.get_mut(..=place) {
            modules.rotate_right(1);
        }
    }

    fn begin(
        &self,
        cache: Option<&Cache>,
        reading: &Reading<'_>,
    ) -> Result<Option<Box<dyn OpenRun>>, Error> {
        if self.modules.first().is_some_and(|found| !found.is_program()) {
            reading.first("Reading what the allocator did");
            let run = open_record(self, reading.progress)?;
            return Ok(run.map(|derived| {
                let open: Box<dyn OpenRun> = Box::new(derived);
                open
            }));
        }
        reading.first("Reading the module");
        let run = XlaRun::open_with(self, cache, reading.progress)?;
        Ok(run.map(|run| {
            let derived = Arc::new(run.derived());
            let open: Box<dyn OpenRun> = Box::new(OpenModule { run, derived });
            open
        }))
    }

    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        self.begin(index::of_process(), &Reading::unseen(progress))
    }
}

/// A module that is open.
#[derive(Debug)]
pub struct OpenModule {
    /// What was read of it.
    pub run: XlaRun,
    derived: Arc<Derived>,
}

impl OpenRun for OpenModule {
    fn derived(&self) -> &Arc<Derived> {
        &self.derived
    }

    fn fill_report(&self, progress: &Progress) {
        self.run.fill_report(progress);
    }

    fn write_tables(&self, writer: &dyn TableWriter, _: &Progress) -> Result<(), Error> {
        lake::write(&self.run, writer)
    }

    fn has_index(&self) -> bool {
        self.run.has_index()
    }

    fn write_index(&self, progress: &Progress) -> Result<Option<u64>, IndexError> {
        self.run.write_index(progress)
    }
}
