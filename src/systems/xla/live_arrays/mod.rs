//! A device memory profile of JAX as a run of its own: the arrays that were alive at one moment, by the code that made them.

mod answers;
mod list;
mod report;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::answers::ProfileAnswers;
use super::files::{DeviceProfile, LiveSample, ProfileFrame, read_device_profile};
use super::system::Xla;
use crate::analysis::derived::Derived;
use crate::analysis::natural;
use crate::files::file_name;
use crate::format::{Error, Progress};
use crate::store::report::{FileStatus, ReportFile};
use crate::store::{Report, System, Warning, Warnings};
use crate::systems::system::{FoundRun, OpenRun, RunSystem};
use crate::text::clean;

/// The words of such a run.
const WORDS: System = System {
    device: "Device",
    all_devices: "All devices",
    arena: "Device",
    arena_in_text: "device",
    an_arena: "a device",
    arenas: "devices",
    worst_arena: "Worst device",
    step: "Moment",
    step_in_text: "moment",
    steps: "moments",
    always_live: "Alive throughout",
    always_live_in_text: "alive throughout",
    not_always_live: "Alive at the moment",
    not_always_live_in_text: "alive at the moment",
    program: "Moment",
    programs: "moments",
    control_programs: "Moments",
    variable: "Code that made it",
    placed_variable: "Array",
    item: "Array",
    item_in_text: "array",
    an_item: "an array",
    items: "arrays",
    ..super::WORDS
};

/// The kind of arrays, and of the code of programs.
const BUFFER: &str = "buffer";
const EXECUTABLE: &str = "executable";
/// What has no stack.
const NO_STACK: &str = "(no Python stack)";

/// A profile that was found.
#[derive(Debug)]
pub(super) struct FoundProfile {
    path: PathBuf,
    profile: Arc<DeviceProfile>,
    warnings: Vec<Warning>,
}

impl FoundProfile {
    /// The profile at a path; `None` where there is something else.
    ///
    /// # Errors
    /// When it is one that is damaged.
    pub(super) fn find(path: &Path, progress: &Progress) -> Result<Option<Self>, Error> {
        if !fs::metadata(path).is_ok_and(|of| of.is_file()) {
            return Ok(None);
        }
        let warnings = Warnings::default();
        let profile = read_device_profile(path, &warnings, progress)?;
        Ok(profile.map(|profile| Self {
            path: path.to_owned(),
            profile: Arc::new(profile),
            warnings: warnings.list(),
        }))
    }

    /// Whether a file below a directory is called like one.
    pub(super) fn is_called_so(path: &Path) -> bool {
        let name = file_name(path);
        let ending = Path::new(crate::files::packed::unpacked_name(&name)).extension();
        ending.is_some_and(|ending| ending.eq_ignore_ascii_case("prof"))
    }
}

impl FoundRun for FoundProfile {
    fn system(&self) -> &'static dyn RunSystem {
        &Xla
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn why_no_index(&self) -> Option<[&'static str; 2]> {
        Some(["a device memory profile", "It is read as fast without one."])
    }

    fn open(&self, _: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let report = Report::of(WORDS, self.path.clone());
        report.warnings.add_all(&self.warnings);
        let bytes = fs::metadata(&self.path).ok().map(|metadata| metadata.len());
        let status = if report.is_cut() { FileStatus::Truncated } else { FileStatus::Ok };
        report.set_files(vec![ReportFile { name: file_name(&self.path), bytes, status }]);
        let open = OpenProfile::of(Arc::clone(&self.profile), status != FileStatus::Ok);
        report::fill(&report, &open);
        let answers = Arc::new(ProfileAnswers::of(open));
        Ok(Some(Box::new(Arc::new(Derived::new(Arc::new(report)).with_answers(answers)))))
    }
}

/// A profile that is open.
#[derive(Debug)]
struct OpenProfile {
    profile: Arc<DeviceProfile>,
    /// The devices, by name; those of arrays alone.
    devices: Vec<String>,
    /// The bytes and the number of what is on each of them.
    sums: Vec<(u64, u64)>,
    /// The code that each sample counts to, and the place of its device.
    owners: Vec<(String, Option<usize>)>,
    is_cut: bool,
}

impl OpenProfile {
    fn of(profile: Arc<DeviceProfile>, is_cut: bool) -> Self {
        let names = profile.samples.iter().map(|sample| profile.texts.get(sample.device));
        let names: HashSet<&str> = names.collect();
        // What belongs to no device is no memory of one.
        let mut names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        names.sort_by(|one, other| natural::compare(one, other).then_with(|| one.cmp(other)));
        let devices = names.iter().map(|name| (*name).to_owned()).collect();
        let places: HashMap<&str, usize> = names.into_iter().zip(0..).collect();
        // A frame is in many stacks.
        let is_of = |of: fn(&DeviceProfile, &ProfileFrame) -> bool| -> Vec<bool> {
            profile.frames.iter().map(|frame| of(&profile, frame)).collect()
        };
        let (is_own, is_of_jax) = (is_of(is_own), is_of(is_of_jax));
        let mut sums = vec![(0_u64, 0_u64); places.len()];
        let mut owners = Vec::with_capacity(profile.samples.len());
        for sample in &profile.samples {
            let place = places.get(profile.texts.get(sample.device)).copied();
            if let Some((bytes, count)) = place.and_then(|place| sums.get_mut(place)) {
                *bytes = bytes.saturating_add(sample.bytes);
                *count = count.saturating_add(sample.count);
            }
            owners.push((owner_of(&profile, [&is_own, &is_of_jax], sample), place));
        }
        Self { profile, devices, sums, owners, is_cut }
    }

    fn kind(&self, sample: &LiveSample) -> &str {
        self.profile.texts.get(sample.kind)
    }

    /// Bytes and number of what is of a kind, or of all.
    fn sum(&self, kind: Option<&str>) -> (u64, u64) {
        let of = self.profile.samples.iter();
        let of = of.filter(|sample| kind.is_none_or(|kind| self.kind(sample) == kind));
        of.fold((0, 0), |(bytes, count), sample| {
            (bytes.saturating_add(sample.bytes), count.saturating_add(sample.count))
        })
    }

    /// The same of a device.
    fn sum_of_device(&self, place: usize) -> (u64, u64) {
        self.sums.get(place).copied().unwrap_or_default()
    }

    fn frames(&self, sample: &LiveSample) -> impl Iterator<Item = &ProfileFrame> {
        let calls = self.profile.calls.get(sample.calls.clone()).unwrap_or_default();
        calls.iter().filter_map(|call| self.profile.frames.get(*call as usize))
    }

    fn title(&self, frame: &ProfileFrame) -> String {
        title_of(&self.profile, frame)
    }
}

/// `train.py:12 (step)`.
fn title_of(profile: &DeviceProfile, frame: &ProfileFrame) -> String {
    let (file, function) = (profile.texts.get(frame.file), profile.texts.get(frame.function));
    match (file, frame.line) {
        ("", _) => function.to_owned(),
        (_, 0) => format!("{file} ({function})"),
        (_, line) => format!("{file}:{line} ({function})"),
    }
}

/// Whether a call is in the user's own code: not in a package that is installed, nor within Python or what is compiled.
fn is_own(profile: &DeviceProfile, frame: &ProfileFrame) -> bool {
    let file = profile.texts.get(frame.file);
    let is_python =
        is_python_file(file) || file.starts_with("<ipython-input") || file.contains("ipykernel_");
    let installed = ["/site-packages/", "/dist-packages/", "\\site-packages\\", "/lib/python"];
    is_python && !installed.iter().any(|part| file.contains(part))
}

fn is_python_file(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("py"))
}

/// Whether a call is in JAX itself.
fn is_of_jax(profile: &DeviceProfile, frame: &ProfileFrame) -> bool {
    let file = profile.texts.get(frame.file);
    file.contains("/jax/") || file.contains("/jaxlib/") || !is_python_file(file)
}

/// The code that a sample counts to: the innermost call of the user, else the innermost that is not of
/// JAX, else the innermost. Of each frame it is known whether it is either.
fn owner_of(
    profile: &DeviceProfile,
    [is_own, is_of_jax]: [&[bool]; 2],
    sample: &LiveSample,
) -> String {
    let calls = profile.calls.get(sample.calls.clone()).unwrap_or_default();
    let innermost = |known: &[bool], is: bool| {
        calls.iter().find(|call| known.get(**call as usize).is_some_and(|known| *known == is))
    };
    let call = innermost(is_own, true).or_else(|| innermost(is_of_jax, false)).or(calls.first());
    let frame = call.and_then(|call| profile.frames.get(*call as usize));
    frame.map_or_else(|| NO_STACK.to_owned(), |frame| clean(&title_of(profile, frame)).into_owned())
}
