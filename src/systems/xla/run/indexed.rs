//! What of a module is kept in the index: all that its proto or its texts say, which is what takes long to read of a large
//! one. What follows from it is worked out each time, and what lies beside it is read each time.

use crate::index::{Cache, Identity, IndexError, IndexFile, Indexed, check};
use crate::progress::Progress;
use crate::store::Warning;
use crate::store::hlo::{HloModule, ValueId};
use crate::systems::xla::files::{FoundModule, ModuleAt};

/// Bytes of an instruction or a value, with its places and events, about.
const ROW_BYTES: usize = 64;

const MODULE: &str = "module";

/// The index of a module: where it is or would be.
#[derive(Debug)]
pub(super) struct ModuleIndex {
    indexed: Indexed,
    /// What reading it said; `None` where that does not stand for all of it.
    warnings: Option<Vec<Warning>>,
}

impl ModuleIndex {
    /// Of a module that was found. The name of its file counts, because the module, and what is said of it, may be named
    /// after it; so does where in the file it is.
    pub(super) fn find(cache: &Cache, found: &FoundModule) -> Option<Self> {
        let identity = match &found.at {
            ModuleAt::Proto(file, _) | ModuleAt::Record(file, _) => Identity::of([&*file.path]),
            ModuleAt::Texts(files) => Identity::of(files.iter().map(|file| &*file.path)),
        };
        let part = format!("{}#{}", found.listed.file, found.at.place());
        Some(Self { indexed: Indexed::of(cache, identity?.of_part(part)), warnings: None })
    }

    /// Whether there is one, and nothing wrong was found with it yet.
    pub(super) fn is_there(&self) -> bool {
        self.indexed.is_there()
    }

    /// The same with what was said of the whole module while it was read.
    pub(super) fn with(self, warnings: Vec<Warning>) -> Self {
        Self { warnings: Some(warnings), ..self }
    }

    /// The module, and what was said of it.
    pub(super) fn read(&self) -> Option<(HloModule, Vec<Warning>)> {
        self.indexed.read(read)
    }

    /// Writes it; `None` where there is one, or the module is too small.
    ///
    /// # Errors
    /// When it was not the whole module that was read, and as [`Indexed::write`].
    pub(super) fn write(
        &self,
        module: &HloModule,
        progress: &Progress,
    ) -> Result<Option<u64>, IndexError> {
        let rows = module.instructions.len().saturating_add(module.values.len());
        if self.is_there() || !self.indexed.is_worth(rows) {
            return Ok(None);
        }
        let Some(warnings) = &self.warnings else {
            return Err(IndexError::NotWritten("the file is not whole".to_owned()));
        };
        let expected = rows.saturating_mul(ROW_BYTES).saturating_add(module.texts.text.len());
        let write = self
            .indexed
            .write(expected as u64, progress, |to| to.encoded(MODULE, &(module, warnings)));
        write.map(Some)
    }
}

/// What an index says.
pub(crate) fn read(from: &IndexFile) -> Result<(HloModule, Vec<Warning>), IndexError> {
    let (module, warnings) = from.decoded(MODULE)?;
    check_module(&module)?;
    Ok((module, warnings))
}

/// Sees to what the readers of files see to, and analysis takes for granted. All else is looked up where it is used.
fn check_module(module: &HloModule) -> Result<(), IndexError> {
    check(module.shapes.are_sound(), "parts within their shapes")?;
    let instructions = &module.instructions;
    let count = instructions.len();
    let lengths = [
        instructions.opcodes.len(),
        instructions.shapes.len(),
        instructions.op_names.len(),
        instructions.sources.len(),
        instructions.numbers.len(),
    ];
    check(lengths == [count; 5], "columns of one length")?;
    let mut end = 0;
    for computation in &module.computations {
        let rows = &computation.instructions;
        check(end <= rows.start && rows.start <= rows.end, "computations one after the other")?;
        end = rows.end;
    }
    check(end as usize <= count, "instructions that there are")?;
    let is_value = |id: ValueId| module.value(id).is_some();
    check(module.aliases.iter().all(|(a, b)| is_value(*a) && is_value(*b)), "values with aliases")?;
    let is_placed = module.assigned.iter().all(|one| {
        let room = module.allocations.get(one.allocation as usize).map(|one| one.bytes);
        let end = one.offset.checked_add(one.bytes);
        is_value(one.value) && end.zip(room).is_some_and(|(end, room)| end <= room)
    });
    check(is_placed, "values within their allocations")?;
    let mut stated = module.stated.iter().flat_map(|stated| stated.ranges.iter().flatten());
    check(stated.all(|(start, end)| start <= end), "lives that end after they begin")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Warnings;
    use crate::systems::xla::buffer_assignment::program::AnalysedModule;
    use crate::systems::xla::files::{ModuleFile, ProtoKind, read_module};
    use crate::systems::xla::synth::{DumpOptions, write_dump};

    #[test]
    fn whatever_stands_in_an_index_is_an_error_or_a_module_that_can_be_analysed() {
        let directory = tempfile::tempdir().expect("a directory");
        let options = DumpOptions::default().with_instructions(60);
        let (progress, warnings) = (Progress::default(), Warnings::default());
        let written = write_dump(&options, directory.path(), &progress).expect("a dump");
        let file = ModuleFile::of(written.file, ProtoKind::Module);
        let read_again = read_module(&file, 0, &warnings, &progress).expect("a module");
        let module = read_again.expect("a module").module;
        let whole = postcard::to_stdvec(&(module, warnings.list())).expect("bytes");
        let sound = |bytes: &[u8]| {
            let (module, _): (HloModule, Vec<Warning>) = postcard::from_bytes(bytes).ok()?;
            check_module(&module).ok().map(|()| module)
        };
        assert!(sound(&whole).is_some());
        let mut read_all_the_same = 0;
        for (at, change) in (0..whole.len()).zip([1, 0x7F, 0x80].into_iter().cycle()).step_by(7) {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            if let Some(module) = sound(&bytes) {
                drop(AnalysedModule::of(module));
                read_all_the_same += 1;
            }
        }
        assert!(read_all_the_same > 0, "figures differ, positions do not");
    }
}
