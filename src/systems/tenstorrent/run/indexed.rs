//! What of a report is kept in the index: all that its files say but for single graphs and rows, and what follows from it.

use super::TtnnContents;
use crate::index::{Cache, Identity, IndexError, IndexFile, Indexed, check};
use crate::progress::Progress;
use crate::store::Warning;
use crate::store::names::Names;
use crate::systems::tenstorrent::files::{ReportSource, TtnnFiles};
use crate::systems::tenstorrent::memory::RankMemory;
use crate::systems::tenstorrent::recorded::{TtnnDevice, TtnnRank};

/// Bytes of an operation, a tensor, a buffer or an argument, about.
const ROW_BYTES: usize = 32;

const RECORDED: &str = "recorded";
const MEMORIES: &str = "memories";
const NAMES: [&str; 2] = ["names", "name_ends"];

/// The index of a report: where it is or would be.
#[derive(Debug)]
pub(super) struct ReportIndex {
    indexed: Indexed,
    /// What reading it said; `None` where that does not stand for all of it.
    warnings: Option<Vec<Warning>>,
}

impl ReportIndex {
    /// Of a report that can have one: it is whole, and is read where it lies.
    pub(super) fn find(cache: &Cache, files: &TtnnFiles) -> Option<Self> {
        let paths = files.whole()?;
        let identity = Identity::of(paths.iter().map(|path| &**path))?;
        Some(Self { indexed: Indexed::of(cache, identity), warnings: None })
    }

    /// Whether there is one, and nothing wrong was found with it yet.
    pub(super) fn is_there(&self) -> bool {
        self.indexed.is_there()
    }

    /// The same with what was said of the whole report while it was read.
    pub(super) fn with(self, warnings: Vec<Warning>) -> Self {
        Self { warnings: Some(warnings), ..self }
    }

    /// The report of these files, and what was said of it.
    pub(super) fn read(&self, source: &ReportSource) -> Option<(TtnnContents, Vec<Warning>)> {
        self.indexed.read(|from| read(from, source))
    }

    /// Writes it; `None` where there is one, or the report is too small.
    ///
    /// # Errors
    /// When it was not the whole report that was read, and as [`Indexed::write`].
    pub(super) fn write(
        &self,
        contents: &TtnnContents,
        progress: &Progress,
    ) -> Result<Option<u64>, IndexError> {
        let TtnnContents { recorded, names, memories, pages, source: _ } = contents;
        let rows = |rank: &TtnnRank| rank.buffer_rows.saturating_add(rank.page_rows);
        let rows = recorded.ranks.iter().map(rows).fold(0, u64::saturating_add);
        if self.is_there() || !self.indexed.is_worth(usize::try_from(rows).unwrap_or(usize::MAX)) {
            return Ok(None);
        }
        let Some(warnings) = &self.warnings else {
            return Err(IndexError::NotWritten("the report is not whole".to_owned()));
        };
        let kept = recorded.ranks.iter().zip(memories).map(|(rank, memory)| {
            let operations = rank.operations.ids.len().saturating_add(memory.programs.len());
            operations.saturating_add(memory.lives.len()).saturating_mul(4)
        });
        let rows = kept.fold(names.len(), usize::saturating_add);
        let expected = rows.saturating_mul(ROW_BYTES).saturating_add(names.text.len());
        let write = self.indexed.write(expected as u64, progress, |to| {
            to.encoded(RECORDED, &(recorded, warnings))?;
            to.encoded(MEMORIES, &(memories, pages))?;
            let [texts, ends] = NAMES;
            to.column(texts, &names.text)?;
            to.column(ends, &names.ends)
        });
        write.map(Some)
    }
}

/// What an index says.
fn read(
    from: &IndexFile,
    source: &ReportSource,
) -> Result<(TtnnContents, Vec<Warning>), IndexError> {
    let [texts, ends] = NAMES;
    let (recorded, memories) = rayon::join(|| from.decoded(RECORDED), || from.decoded(MEMORIES));
    let ((recorded, warnings), (memories, pages)) = (recorded?, memories?);
    let names = Names { text: from.column(texts)?, ends: from.column(ends)? };
    let contents = TtnnContents { recorded, names, memories, pages, source: source.clone() };
    check_contents(&contents)?;
    Ok((contents, warnings))
}

/// Sees to what the readers of files see to, and analysis takes for granted. All else is looked up where it is used.
fn check_contents(contents: &TtnnContents) -> Result<(), IndexError> {
    let TtnnContents { recorded, memories, pages, .. } = contents;
    let ranks = recorded.ranks.len();
    check([memories.len(), pages.len()] == [ranks; 2], "what follows from each rank")?;
    recorded.ranks.iter().zip(memories).try_for_each(|(rank, memory)| check_rank(rank, memory))
}

fn check_rank(rank: &TtnnRank, memory: &RankMemory) -> Result<(), IndexError> {
    let operations = &rank.operations;
    let lengths = [
        operations.names.len(),
        operations.host_nanoseconds.len(),
        operations.has_rows.len(),
        operations.has_error.len(),
        operations.is_deallocate.len(),
        memory.levels.len(),
    ];
    check(lengths == [operations.ids.len(); 6], "columns of one length")?;
    check(memory.reads.len() == memory.lives.len(), "readers of each buffer")?;
    let grid = rank.machine.device.map_or(0, |device| device.grid_x.max(device.grid_y));
    check(grid <= TtnnDevice::MOST_CORES, "a grid that a chip can have")
}
