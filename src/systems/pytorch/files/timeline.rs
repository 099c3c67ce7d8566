//! The memory timeline of torch.profiler (formats/pytorch.md 6): a curve by category, in two forms.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::marker::PhantomData;
use std::path::Path;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;

use crate::files::packed::{FilePacking, most_in_parts};
use crate::files::{self, file_name};
use crate::format::{Error, ErrorKind, Progress};
use crate::progress::Watched;
use crate::store::memory_timeline::{CATEGORIES, MemoryTimeline, TimelineForm};

/// Bytes of a timeline, uncompressed.
const MOST_BYTES: u64 = 256 << 20;

/// Rows of a timeline: real ones have up to some hundred thousand.
const MOST_ROWS: usize = 1 << 20;

/// Reads a timeline; `None` when that was canceled.
///
/// # Errors
/// When the file cannot be read, or is none.
pub(super) fn read_timeline(
    path: &Path,
    progress: &Progress,
) -> Result<Option<MemoryTimeline>, Error> {
    let open = || -> Result<Box<dyn Read + '_>, Error> {
        let file = files::open(path).map_err(|error| Error::io(path, &error))?;
        let packing = FilePacking::of_file(&file).map_err(|error| Error::io(path, &error))?;
        let bytes = file.metadata().map_or(0, |metadata| metadata.len());
        progress.expect(bytes);
        let watched = Watched { reader: file, progress };
        let plain: Box<dyn Read + '_> = match packing {
            Some(packing) => {
                let most = most_in_parts(bytes).min(MOST_BYTES);
                Box::new(packing.reader(watched).take(most))
            }
            None => Box::new(watched.take(MOST_BYTES)),
        };
        Ok(Box::new(BufReader::with_capacity(1 << 16, NumbersOnly(plain))))
    };
    let failed = |error: serde_json::Error| match error.classify() {
        _ if progress.is_cancelled() => Ok(None),
        Category::Io if error.io_error_kind() == Some(io::ErrorKind::InvalidData) => {
            Err(damaged(path, &error))
        }
        Category::Io => Err(Error::io(path, &error.into())),
        _ => Err(damaged(path, &error)),
    };
    let no_curve = match serde_json::from_reader::<_, TimelineCurve>(open()?) {
        Ok(TimelineCurve(times, rows)) => {
            // The first number of a row is always 0.
            let bytes = rows.0.into_iter().map(|[_, bytes @ ..]: [i64; 9]| bytes);
            let mut timeline = MemoryTimeline {
                form: TimelineForm::Curve,
                bytes: bytes.collect(),
                times: times.0,
                preexisting: 0,
            };
            timeline.cut_to_shorter();
            return Ok(Some(timeline));
        }
        // The other form, perhaps.
        Err(error) if error.classify() == Category::Data => error,
        Err(error) => return failed(error),
    };
    let rows: TimelineRows = match serde_json::from_reader(open()?) {
        Ok(rows) => rows,
        // The form that the file has is the one that was read further.
        Err(error) if place(&error) < place(&no_curve) => return failed(no_curve),
        Err(error) => return failed(error),
    };
    let mut timeline = MemoryTimeline { form: TimelineForm::Raw, ..MemoryTimeline::default() };
    let mut now = [0_i64; CATEGORIES];
    for TimelineRow(time, action, bytes, category) in rows.0.0 {
        // Whatever a later release adds has no name.
        let category = usize::try_from(category).unwrap_or(usize::MAX).min(CATEGORIES - 1);
        if let Some(of_category) = now.get_mut(category) {
            *of_category = of_category.saturating_add(bytes);
        }
        timeline.times.push(time);
        timeline.bytes.push(now);
        if action == PREEXISTING {
            timeline.preexisting = timeline.preexisting.saturating_add(1);
        }
    }
    Ok(Some(timeline))
}

fn place(error: &serde_json::Error) -> (usize, usize) {
    (error.line(), error.column())
}

/// What was there before.
const PREEXISTING: u64 = 1;

/// Times and rows.
#[derive(serde::Deserialize)]
struct TimelineCurve(Few<i64>, Few<[i64; 9]>);

#[derive(serde::Deserialize)]
#[serde(transparent)]
struct TimelineRows(Few<TimelineRow>);

/// Time in nanoseconds, action, bytes with their sign, category.
#[derive(serde::Deserialize)]
struct TimelineRow(i64, u64, i64, u64);

/// A list that is refused where it has more items than a timeline has.
struct Few<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FewVisitor(PhantomData))
    }
}

struct FewVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
    type Value = Few<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST_ROWS} items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Few<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            if list.len() >= MOST_ROWS {
                return Err(serde::de::Error::invalid_length(list.len().saturating_add(1), &self));
            }
            list.push(item);
        }
        Ok(Few(list))
    }
}

/// JSON of lists and numbers: what has a text is none, and a text could be of any length.
struct NumbersOnly<R>(R);

impl<R: Read> Read for NumbersOnly<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        if memchr::memchr(b'"', buffer.get(..read).unwrap_or_default()).is_some() {
            let what = "it has a text, where a timeline has only numbers";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(read)
    }
}

fn damaged(path: &Path, error: &serde_json::Error) -> Error {
    let name = file_name(path);
    let place = format!("line {}, column {}", error.line(), error.column());
    let damaged =
        Error::new(ErrorKind::Damaged, format!("{name} is not a memory timeline: {error}"))
            .in_file(path);
    // What was refused before it was parsed has no line.
    let damaged = if error.line() > 0 { damaged.at(place) } else { damaged };
    damaged.hint("prof.export_memory_timeline writes .json and .raw.json.gz files that are read.")
}
