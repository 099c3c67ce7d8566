//! A device memory profile of JAX as a run of its own: the arrays that were alive at one moment, by the code that made them.

mod answers;
mod list;
mod report;

use std::collections::HashMap;
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
    /// The code that each sample counts to, and the place of its device.
    owners: Vec<(String, Option<usize>)>,
    is_cut: bool,
}

impl OpenProfile {
    fn of(profile: Arc<DeviceProfile>, is_cut: bool) -> Self {
        let mut devices: Vec<String> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for sample in &profile.samples {
            let name = profile.texts.get(sample.device);
            places.entry(name).or_insert_with(|| {
                devices.push(name.to_owned());
                devices.len().saturating_sub(1)
            });
        }
        // What belongs to no device is no memory of one.
        devices.retain(|name| !name.is_empty());
        devices.sort_by(|one, other| natural::compare(one, other));
        let owner = |sample: &LiveSample| {
            let device = profile.texts.get(sample.device);
            let place = devices.iter().position(|name| name == device);
            (owner_of(&profile, sample), place)
        };
        let owners = profile.samples.iter().map(owner).collect();
        Self { profile, devices, owners, is_cut }
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
        let of = self.profile.samples.iter().zip(&self.owners);
        of.filter(|(_, (_, device))| *device == Some(place)).fold((0, 0), |(bytes, count), one| {
            (bytes.saturating_add(one.0.bytes), count.saturating_add(one.0.count))
        })
    }

    fn frames(&self, sample: &LiveSample) -> impl Iterator<Item = &ProfileFrame> {
        frames_of(&self.profile, sample)
    }

    fn title(&self, frame: &ProfileFrame) -> String {
        title_of(&self.profile, frame)
    }
}

fn frames_of<'a>(
    profile: &'a DeviceProfile,
    sample: &LiveSample,
) -> impl Iterator<Item = &'a ProfileFrame> {
    let calls = profile.calls.get(sample.calls.clone()).unwrap_or_default();
    calls.iter().filter_map(|call| profile.frames.get(*call as usize))
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
/// JAX, else the innermost.
fn owner_of(profile: &DeviceProfile, sample: &LiveSample) -> String {
    let title = |frame: &ProfileFrame| clean(&title_of(profile, frame)).into_owned();
    if let Some(frame) = frames_of(profile, sample).find(|frame| is_own(profile, frame)) {
        return title(frame);
    }
    let other = frames_of(profile, sample).find(|frame| !is_of_jax(profile, frame));
    other.or_else(|| frames_of(profile, sample).next()).map_or_else(|| NO_STACK.to_owned(), title)
}
