//! A report that is open: what was read of it, and what follows from that.

mod indexed;
mod memories;
mod placed_scratch;
mod report;

pub use memories::{MemoryOfRank, is_throughout, main_memory, main_view};
pub use placed_scratch::{SCRATCH, SCRATCH_RULE, scratch_at, scratch_by_operation};
pub use report::{device_titles, memory_of_device};

use std::path::Path;
use std::sync::Arc;

use self::indexed::ReportIndex;
use super::files::{ReportSource, TtnnFiles};
use super::memory::facts::RankView;
use super::memory::scratch_facts::closest;
use super::memory::{RankMemory, RankReplay};
use super::recorded::{CorePages, TtnnReport};
use crate::format::{Error, Progress};
use crate::index::{Cache, IndexError};
use crate::store::names::Names;
use crate::store::{Report, WarningCode};

/// A report with what follows from it.
#[derive(Debug)]
pub struct TtnnRun {
    /// What all systems share.
    pub report: Arc<Report>,
    /// What was recorded and worked out.
    pub contents: Arc<TtnnContents>,
    index: Option<ReportIndex>,
}

/// What was recorded, and what follows from it.
#[derive(Debug)]
pub struct TtnnContents {
    /// What was recorded.
    pub recorded: TtnnReport,
    names: Names,
    memories: Vec<RankMemory>,
    /// What cores hold at the operation of each rank that has the least headroom.
    pages: Vec<Option<CorePages>>,
    /// The files, from which what cores hold at other operations is read.
    source: ReportSource,
}

impl TtnnRun {
    /// Reads a report by its path and its files, or its index where it has one; `None` when that was canceled.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged beyond use.
    pub fn open(
        path: &Path,
        source: &ReportSource,
        cache: Option<&Cache>,
        progress: &Progress,
    ) -> Result<Option<Self>, Error> {
        let report = Report::of(super::WORDS, path.to_owned());
        let mut files = TtnnFiles::open(source, &report, progress)?;
        let mut index = cache.and_then(|cache| ReportIndex::find(cache, &files));
        let contents = match index.as_ref().and_then(|index| index.read(source)) {
            Some((contents, warnings)) => {
                report.warnings.add_all(&warnings);
                contents
            }
            None => {
                let read = TtnnContents::read(&mut files, source, &report, progress)?;
                let Some(contents) = read else { return Ok(None) };
                if contents.recorded.ranks.iter().all(|rank| !rank.is_incomplete) {
                    index = index.map(|index| index.with(report.warnings.list()));
                }
                contents
            }
        };
        let run = Self { report: Arc::new(report), contents: Arc::new(contents), index };
        run.fill_report();
        Ok(Some(run))
    }

    /// Whether it was read from an index, with which nothing is wrong.
    pub fn has_index(&self) -> bool {
        self.index.as_ref().is_some_and(ReportIndex::is_there)
    }

    /// Writes the index of the report; returns its size. `None` where there is one already, none is to be used, or the
    /// report is read as fast without.
    ///
    /// # Errors
    /// When the database is damaged or has changed, when the index cannot be written, and when it was canceled.
    pub fn write_index(&self, progress: &Progress) -> Result<Option<u64>, IndexError> {
        self.index.as_ref().map_or(Ok(None), |index| index.write(&self.contents, progress))
    }
}

/// Says where graphs and rows of buffers contradict each other; the rows are taken.
fn warn_of_contradictions(
    report: &Report,
    files: &TtnnFiles,
    recorded: &TtnnReport,
    memories: &[RankMemory],
) {
    for (place, (rank, memory)) in recorded.ranks.iter().zip(memories).enumerate() {
        let (number, places) = (rank.rank, memory.mismatches);
        if places == 0 {
            continue;
        }
        let parts = files.parts_of(place);
        let message = format!(
            "rank {number}: {} contradicts {} in {places} places; what the latter says is shown",
            parts.graphs, parts.buffers
        );
        report.warnings.add(WarningCode::Inconsistent, parts.file, message);
    }
}

impl TtnnContents {
    /// Reads all of them; `None` when that was canceled.
    fn read(
        files: &mut TtnnFiles,
        source: &ReportSource,
        report: &Report,
        progress: &Progress,
    ) -> Result<Option<Self>, Error> {
        let mut recorded = files.read(report, progress)?;
        let start = |recorded: &TtnnReport| -> Vec<RankReplay> {
            recorded.ranks.iter().map(RankReplay::of).collect()
        };
        let replays = files.read_graphs(
            &mut recorded,
            report,
            progress,
            start,
            |replays, recorded, place, at, graph| {
                let replay = replays.get_mut(place).zip(recorded.ranks.get(place));
                if let Some((replay, rank)) = replay {
                    replay.step(rank, at, &graph);
                }
            },
        )?;
        if progress.is_cancelled() {
            return Ok(None);
        }
        let ranks = replays.into_iter().zip(&recorded.ranks);
        let memories: Vec<RankMemory> = ranks.map(|(replay, rank)| replay.finish(rank)).collect();
        warn_of_contradictions(report, files, &recorded, &memories);
        let names = std::mem::take(&mut recorded.names).into_names();
        let (pages, source) = (Vec::new(), source.clone());
        let mut contents = Self { recorded, names, memories, pages, source };
        contents.read_pages(files, report, progress)?;
        contents.recorded.ranks.iter_mut().for_each(|rank| rank.stays = Vec::new());
        Ok((!progress.is_cancelled()).then_some(contents))
    }

    /// Each rank with what follows from it.
    pub fn views(&self) -> Vec<RankView<'_>> {
        let ranks = self.recorded.ranks.iter().zip(&self.memories).enumerate();
        let view = |(place, (rank, memory))| RankView {
            names: &self.names,
            rank,
            memory,
            pages: self.pages.get(place).and_then(Option::as_ref),
        };
        ranks.map(view).collect()
    }

    fn read_pages(
        &mut self,
        files: &TtnnFiles,
        report: &Report,
        progress: &Progress,
    ) -> Result<(), Error> {
        let views = self.views();
        let wanted = views
            .iter()
            .enumerate()
            .filter_map(|(place, view)| Some((place, closest(view)?.program.moment.operation)));
        let wanted: Vec<(usize, u32)> = wanted.collect();
        let (counts, found) = files.read_pages(&self.recorded, &wanted, report, progress)?;
        for (rank, rows) in self.recorded.ranks.iter_mut().zip(counts) {
            rank.page_rows = rows;
        }
        self.pages = self.recorded.ranks.iter().map(|_| None).collect();
        for ((place, _), pages) in wanted.into_iter().zip(found) {
            let has_rows = self.recorded.ranks.get(place).is_some_and(|rank| rank.page_rows > 0);
            if let Some(of_rank) = self.pages.get_mut(place).filter(|_| has_rows) {
                *of_rank = Some(pages);
            }
        }
        Ok(())
    }

    /// What cores hold at the end of operations of ranks, by places of ranks with positions: read from the file. `None` where
    /// the report does not say, the file cannot be read any more, or when it was canceled. Captures would have to be read as a
    /// whole.
    pub fn pages_at(&self, wanted: &[(usize, u32)], progress: &Progress) -> Option<Vec<CorePages>> {
        self.recorded.page_table.filter(|_| matches!(self.source, ReportSource::Database(_)))?;
        let report = Report::of(super::WORDS, self.source.main_file());
        let files = TtnnFiles::open(&self.source, &report, progress).ok()?;
        let (_, found) = files.read_pages(&self.recorded, wanted, &report, progress).ok()?;
        (!progress.is_cancelled()).then_some(found)
    }
}
