//! The device memory profile of JAX (`jax.profiler.save_device_memory_profile`, formats/xla.md 12): what is alive at one
//! moment, by Python stack. It is a profile of pprof, usually packed by gzip.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::path::Path;

use super::wire::{Malformed, Wire, WireField};
use crate::files::packed::FilePacking;
use crate::files::{self, file_name};
use crate::format::{Error, ErrorKind, Progress};
use crate::limits;
use crate::progress::Watched;
use crate::store::names::{Interner, NameId, Names};
use crate::store::{WarningCode, Warnings};

/// Bytes of a profile, unpacked: real ones have some hundred thousand.
const MOST_BYTES: u64 = 32 << 20;
/// Samples, locations, their lines, functions and texts, each. A location of JAX has one line.
const MOST_ROWS: usize = 1 << 18;
/// Calls in the stacks of all samples, those whose function is missing included.
const MOST_CALLS: usize = 4 << 20;
/// Devices: a process has those of its host, and each takes a look at all samples.
const MOST_DEVICES: usize = 1 << 10;

/// What is alive, by where it was made.
#[derive(Debug, Default)]
pub struct DeviceProfile {
    /// What is alive; those of one place and device stand together.
    pub samples: Vec<LiveSample>,
    /// The calls of all stacks, the innermost first.
    pub calls: Vec<u32>,
    /// Each call once.
    pub frames: Vec<ProfileFrame>,
    /// Names of files, functions, kinds and devices.
    pub texts: Names,
}

/// Arrays or programs that were made at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSample {
    /// The stack, among the calls.
    pub calls: std::ops::Range<usize>,
    /// How many there are.
    pub count: u64,
    /// Their bytes together.
    pub bytes: u64,
    /// `buffer` or `executable`.
    pub kind: NameId,
    /// On which device; programs have none.
    pub device: NameId,
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProfileFrame {
    /// The file, as Python names it.
    pub file: NameId,
    /// The function.
    pub function: NameId,
    /// The line; 0 where it is not known.
    pub line: u32,
}

/// Whether a file with the beginning `head`, unpacked, may be a profile of pprof: a type of values comes first.
fn may_be_profile(head: &[u8]) -> bool {
    let mut fields = Wire::of(head);
    let mut is_type = || match fields.next_field() {
        Ok(Some((1, WireField::Bytes(bytes)))) => {
            let mut within = Wire::of(bytes);
            let mut all = std::iter::from_fn(|| within.next_field().transpose());
            all.all(|field| matches!(field, Ok((1 | 2, WireField::Number(_)))))
        }
        _ => false,
    };
    is_type() && is_type()
}

/// Reads the profile at a path; `None` where there is something else, or reading was canceled.
///
/// # Errors
/// When it is one that is damaged, or larger than any.
pub fn read_device_profile(
    path: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<DeviceProfile>, Error> {
    let Some((bytes, is_cut)) = bytes_of(path, progress)? else { return Ok(None) };
    let name = file_name(path);
    let raw = RawProfile::of(&bytes);
    if !raw.is_of_jax() {
        return Ok(None);
    }
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("{name} is larger than any device memory profile");
        return Err(Error::new(ErrorKind::Damaged, message)
            .in_file(path)
            .hint(format!("At most {} MiB are read.", MOST_BYTES >> 20)));
    }
    let damaged = |what: &str| {
        Error::new(ErrorKind::Damaged, format!("{name} is a damaged device memory profile: {what}"))
            .in_file(path)
            .hint("jax.profiler.save_device_memory_profile(\"memory.prof\") writes another.")
    };
    if raw.is_full {
        return Err(damaged("it has more samples, calls or texts than any"));
    }
    let (profile, doubts) =
        raw.resolved(progress).ok_or_else(|| damaged("its stacks have too many calls"))?;
    if progress.is_cancelled() {
        return Ok(None);
    }
    if is_cut || raw.is_cut {
        let message = "ends before its contents do; the complete part is shown";
        warnings.add(WarningCode::Truncated, &name, message);
    }
    let ProfileDoubts { incomplete, beyond_devices } = doubts;
    if incomplete > 0 {
        let message = format!(
            "{incomplete} samples have no bytes or calls that the profile does not have; what is missing is left out"
        );
        warnings.add(WarningCode::Inconsistent, &name, message);
    }
    if beyond_devices > 0 {
        let message = format!(
            "only the first {MOST_DEVICES} devices are told apart; {beyond_devices} samples of others count for none"
        );
        warnings.add(WarningCode::Inconsistent, &name, message);
    }
    let mut bytes = profile.samples.iter().map(|sample| sample.bytes);
    if bytes.try_fold(0, u64::checked_add).is_none() {
        let message = "its samples have more bytes together than 2^64 − 1; sums are at least that";
        warnings.add(WarningCode::Inconsistent, &name, message);
    }
    Ok(Some(profile))
}

/// What is doubtful of the samples of a profile.
#[derive(Default)]
struct ProfileDoubts {
    /// Samples that have no bytes, or calls that the profile does not have.
    incomplete: u64,
    /// Samples of more devices than are told apart.
    beyond_devices: u64,
}

/// The bytes of a file that may be a profile, unpacked, and whether they end too soon; `None` of another one.
fn bytes_of(path: &Path, progress: &Progress) -> Result<Option<(Vec<u8>, bool)>, Error> {
    let failed = |error: &std::io::Error| Error::io(path, error);
    let file = files::open(path).map_err(|error| failed(&error))?;
    let packing = FilePacking::of_file(&file).map_err(|error| failed(&error))?;
    let mut head = vec![0; 1 << 12];
    let read = files::read_up_to_at(&file, &mut head, 0).map_err(|error| failed(&error))?;
    head.truncate(read);
    let head = packing.map_or_else(|| head.clone(), |packing| packing.beginning(&head, 256));
    if !may_be_profile(&head) {
        return Ok(None);
    }
    progress.expect(file.metadata().map_or(0, |metadata| metadata.len()));
    let watched = Watched { reader: files::WithoutHoles(file), progress };
    let mut bytes = Vec::new();
    let most = MOST_BYTES.saturating_add(1);
    let read = match packing {
        Some(packing) => packing.reader(watched).take(most).read_to_end(&mut bytes),
        None => watched.take(most).read_to_end(&mut bytes),
    };
    match read {
        _ if progress.is_cancelled() => Ok(None),
        Ok(_) => Ok(Some((bytes, false))),
        Err(_) if packing.is_some() => Ok(Some((bytes, true))),
        Err(error) => Err(failed(&error)),
    }
}

/// A sample as it stands in the file.
#[derive(Default)]
struct RawSample {
    locations: std::ops::Range<usize>,
    values: [Option<u64>; 2],
    /// The texts of the labels `kind` and `device`, by their places.
    labels: Vec<(u64, u64)>,
}

/// The messages of a profile, with everything by its number.
#[derive(Default)]
struct RawProfile<'a> {
    types: Vec<u64>,
    samples: Vec<RawSample>,
    /// The locations of all samples.
    locations: Vec<u64>,
    /// The calls of each location: function and line.
    lines: HashMap<u64, std::ops::Range<usize>>,
    all_lines: Vec<(u64, u64)>,
    /// The name and the file of each function.
    functions: HashMap<u64, (u64, u64)>,
    texts: Vec<&'a [u8]>,
    is_full: bool,
    is_cut: bool,
}

impl<'a> RawProfile<'a> {
    fn of(message: &'a [u8]) -> Self {
        let mut raw = Self::default();
        let mut fields = Wire::of(message);
        loop {
            let field = match fields.next_field() {
                Ok(Some(field)) => field,
                Ok(None) => break,
                Err(_) => {
                    raw.is_cut = true;
                    break;
                }
            };
            let (number, WireField::Bytes(bytes)) = field else {
                raw.is_cut |= matches!(field.1, WireField::Cut(_));
                continue;
            };
            let added = match number {
                1 => raw.add_type(bytes),
                2 => raw.add_sample(bytes),
                4 => raw.add_location(bytes),
                5 => raw.add_function(bytes),
                6 => {
                    raw.texts.push(bytes);
                    Ok(())
                }
                _ => Ok(()),
            };
            raw.is_cut |= added.is_err();
            let rows = [
                raw.samples.len(),
                raw.lines.len(),
                raw.all_lines.len(),
                raw.functions.len(),
                raw.texts.len(),
            ];
            if rows.into_iter().any(|rows| rows > MOST_ROWS) || raw.locations.len() > MOST_CALLS {
                raw.is_full = true;
                break;
            }
        }
        raw
    }

    fn add_type(&mut self, message: &[u8]) -> Result<(), Malformed> {
        let mut fields = Wire::of(message);
        let mut kind = 0;
        while let Some((number, field)) = fields.next_field()? {
            if let (1, WireField::Number(text)) = (number, field) {
                kind = text;
            }
        }
        if self.types.len() < 16 {
            self.types.push(kind);
        }
        Ok(())
    }

    fn add_sample(&mut self, message: &[u8]) -> Result<(), Malformed> {
        let start = self.locations.len();
        let mut sample = RawSample::default();
        let mut values = Vec::new();
        let mut fields = Wire::of(message);
        while let Some((number, field)) = fields.next_field()? {
            match number {
                1 => numbers(field, MOST_CALLS.saturating_add(1), &mut self.locations)?,
                2 => numbers(field, 2, &mut values)?,
                3 if sample.labels.len() < 16 => sample.labels.push(label(field.bytes())?),
                _ => {}
            }
        }
        sample.locations = start..self.locations.len();
        sample.values = [values.first().copied(), values.get(1).copied()];
        self.samples.push(sample);
        Ok(())
    }

    fn add_location(&mut self, message: &[u8]) -> Result<(), Malformed> {
        let (mut id, start) = (0, self.all_lines.len());
        let mut fields = Wire::of(message);
        while let Some((number, field)) = fields.next_field()? {
            match (number, field) {
                (1, WireField::Number(number)) => id = number,
                (4, WireField::Bytes(bytes)) => self.all_lines.push(label(bytes)?),
                _ => {}
            }
        }
        self.lines.insert(id, start..self.all_lines.len());
        Ok(())
    }

    fn add_function(&mut self, message: &[u8]) -> Result<(), Malformed> {
        let (mut id, mut name, mut file) = (0, 0, 0);
        let mut fields = Wire::of(message);
        while let Some((number, field)) = fields.next_field()? {
            match (number, field) {
                (1, WireField::Number(number)) => id = number,
                (2, WireField::Number(text)) => name = text,
                (4, WireField::Number(text)) => file = text,
                _ => {}
            }
        }
        self.functions.insert(id, (name, file));
        Ok(())
    }

    /// The text at a place, at most a word; empty where there is none.
    fn text(&self, place: u64) -> &'a [u8] {
        let text = usize::try_from(place).ok().and_then(|place| self.texts.get(place));
        let text = text.copied().unwrap_or_default();
        text.get(..limits::WORD_BYTES).unwrap_or(text)
    }

    /// Whether its values are those that JAX writes: a number of allocations, and their bytes.
    fn is_of_jax(&self) -> bool {
        let types: Vec<_> = self.types.iter().map(|kind| self.text(*kind)).collect();
        let has_kind = |sample: &RawSample| {
            self.label_text(sample, b"kind").is_some_and(|place| !self.text(place).is_empty())
        };
        types == [&b"allocations"[..], b"space"]
            && (self.samples.is_empty() || self.samples.iter().any(has_kind))
    }

    /// The place of the text of a label of a sample; `None` where it has none.
    fn label_text(&self, sample: &RawSample, name: &[u8]) -> Option<u64> {
        let of = sample.labels.iter().find(|(key, _)| self.text(*key) == name);
        of.map(|(_, text)| *text)
    }

    /// The profile with all that its numbers name, and what is doubtful of it; `None` where there are too many calls.
    fn resolved(&self, progress: &Progress) -> Option<(DeviceProfile, ProfileDoubts)> {
        let (mut profile, mut doubts) = (DeviceProfile::default(), ProfileDoubts::default());
        let (mut devices, mut looked_at) = (HashSet::new(), 0_usize);
        let mut names = TextNames { raw: self, names: Interner::default(), places: HashMap::new() };
        let mut known: HashMap<(u64, u64), u32> = HashMap::new();
        for sample in &self.samples {
            if progress.is_cancelled() {
                break;
            }
            let (start, mut is_whole) = (profile.calls.len(), sample.values[1].is_some());
            for id in self.locations.get(sample.locations.clone()).unwrap_or_default() {
                let lines = self.lines.get(id).and_then(|lines| self.all_lines.get(lines.clone()));
                is_whole &= lines.is_some();
                let lines = lines.unwrap_or_default();
                looked_at = looked_at.saturating_add(lines.len());
                if looked_at > MOST_CALLS {
                    return None;
                }
                for line in lines {
                    let Some((name, file)) = self.functions.get(&line.0) else {
                        is_whole = false;
                        continue;
                    };
                    let frames = &mut profile.frames;
                    let frame = *known.entry(*line).or_insert_with(|| {
                        let (function, file) = (names.name(*name), names.name(*file));
                        let line = u32::try_from(line.1).unwrap_or(0);
                        frames.push(ProfileFrame { file, function, line });
                        u32::try_from(frames.len().saturating_sub(1)).unwrap_or(u32::MAX)
                    });
                    profile.calls.push(frame);
                }
            }
            doubts.incomplete = doubts.incomplete.saturating_add(u64::from(!is_whole));
            let Some(bytes) = sample.values[1] else { continue };
            let mut device = names.of_label(sample, b"device");
            if devices.len() < MOST_DEVICES {
                devices.insert(device);
            } else if !devices.contains(&device) {
                device = names.names.intern("");
                doubts.beyond_devices = doubts.beyond_devices.saturating_add(1);
            }
            profile.samples.push(LiveSample {
                calls: start..profile.calls.len(),
                count: sample.values[0].unwrap_or(0),
                // Below 0 there is nothing.
                bytes: if i64::try_from(bytes).is_ok() { bytes } else { 0 },
                kind: names.of_label(sample, b"kind"),
                device,
            });
        }
        profile.texts = names.names.into_names();
        Some((profile, doubts))
    }
}

/// The names that the texts of a profile become, each made once, however often it is referred to.
struct TextNames<'a> {
    raw: &'a RawProfile<'a>,
    names: Interner,
    /// By the places of the texts.
    places: HashMap<u64, NameId>,
}

impl TextNames<'_> {
    /// The name that the text at a place is.
    fn name(&mut self, place: u64) -> NameId {
        let Self { raw, names, places } = self;
        *places
            .entry(place)
            .or_insert_with(|| names.intern(&String::from_utf8_lossy(raw.text(place))))
    }

    /// The text of a label of a sample; the empty name where it has none.
    fn of_label(&mut self, sample: &RawSample, label: &[u8]) -> NameId {
        match self.raw.label_text(sample, label) {
            Some(place) => self.name(place),
            None => self.names.intern(""),
        }
    }
}

/// The first two numbers of a small message: a label's key and text, a line's function and number.
fn label(message: &[u8]) -> Result<(u64, u64), Malformed> {
    let (mut first, mut second) = (0, 0);
    let mut fields = Wire::of(message);
    while let Some((number, field)) = fields.next_field()? {
        match (number, field) {
            (1, WireField::Number(number)) => first = number,
            (2, WireField::Number(number)) => second = number,
            _ => {}
        }
    }
    Ok((first, second))
}

/// Adds the numbers of a field, one or several end to end, until there are so many.
fn numbers(field: WireField<'_>, most: usize, to: &mut Vec<u64>) -> Result<(), Malformed> {
    match field {
        WireField::Number(number) if to.len() < most => to.push(number),
        WireField::Number(_) => {}
        WireField::Bytes(mut bytes) | WireField::Cut(mut bytes) => {
            while !bytes.is_empty() && to.len() < most {
                let number = buffa::encoding::decode_varint(&mut bytes);
                to.push(number.map_err(|error| Malformed(error.to_string()))?);
            }
        }
    }
    Ok(())
}
