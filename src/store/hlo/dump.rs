//! The rest of a dump beside the open module: other modules, and the files beside them.

use serde::Serialize;

use super::AllocatorFigures;

/// A module of a dump.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ListedModule {
    /// The name of its file.
    pub file: String,
    /// By what it is asked for: the file as seen from the path that was named, of a profile with its place there, from 1
    /// (`a/host.xplane.pb#2`).
    #[serde(skip)]
    pub key: String,
    /// What it is called among the others: its name, or the key where others have the same.
    #[serde(skip)]
    pub title: String,
    /// Its place among the modules of its path, the largest in the main memory first.
    #[serde(skip)]
    pub place: usize,
    /// Its name; none of a bare assignment, and of text the part of the file's name.
    pub module: Option<String>,
    /// Number of allocations.
    pub allocations: usize,
    /// Of all allocations.
    pub total_bytes: u64,
    /// Of temporary allocations.
    pub temp_bytes: u64,
    /// Of all allocations in the main memory.
    #[serde(skip)]
    pub main_bytes: u64,
}

/// What files beside a module say.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BesideModule {
    /// The device, as it names itself.
    pub device: Option<String>,
    /// The file that names it.
    #[serde(skip)]
    pub device_file: String,
    /// Bytes that its main memory has.
    pub capacity_bytes: Option<u64>,
    /// The file that says so, or that names the device whose they are.
    pub capacity_file: Option<String>,
    /// What these bytes are.
    #[serde(skip)]
    pub capacity_of: CapacityOf,
    /// What the profile says in which the module lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfiledMemory>,
    /// Flags of the compilation that are not as they are by default.
    #[serde(skip)]
    pub flags: Vec<(String, String)>,
}

/// What the capacity of a module's device is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CapacityOf {
    /// As a file states it.
    #[default]
    File,
    /// All memory of the device, in a profile.
    Memory,
    /// What the allocator may take of that at most, in a profile.
    Limit,
    /// What is known of the device of this name.
    Preset(&'static str),
}

/// What a profile says of the memory of its devices.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProfiledMemory {
    /// The profile.
    #[serde(skip)]
    pub file: String,
    /// The kind of device, where all are of one.
    #[serde(skip)]
    pub device: Option<String>,
    /// Bytes of the device; of several the least.
    pub memory_bytes: Option<u64>,
    /// Bytes that the allocator of a device may take at most; of several the least.
    pub limit_bytes: Option<u64>,
    /// Most bytes that an allocator of a device had in use since the process began, whatever ran; of several the most.
    pub peak_in_use_bytes: Option<u64>,
    /// The allocator that had them.
    pub allocator: Option<String>,
    /// What the allocator of each device did while the profile was recorded.
    #[serde(skip)]
    pub allocators: Vec<AllocatorFigures>,
}

impl BesideModule {
    /// Takes what a profile says, where no other file says it.
    pub fn add_profile(&mut self, profile: &ProfiledMemory) {
        self.profile = Some(profile.clone());
        if let (None, Some(device)) = (&self.device, &profile.device) {
            self.device = Some(device.clone());
            self.device_file.clone_from(&profile.file);
        }
        let all =
            [(profile.memory_bytes, CapacityOf::Memory), (profile.limit_bytes, CapacityOf::Limit)];
        let stated = all.into_iter().filter_map(|(bytes, of)| Some((bytes?, of)));
        if let Some((bytes, of)) = stated.min_by_key(|(bytes, _)| *bytes) {
            self.set_capacity(bytes, &profile.file, of);
        }
    }

    /// What allocators did while the profile was recorded in which the module lies.
    pub fn allocators(&self) -> &[AllocatorFigures] {
        self.profile.as_ref().map_or(&[], |profile| &profile.allocators)
    }

    /// Takes a capacity, where none is known yet.
    pub fn set_capacity(&mut self, bytes: u64, file: &str, of: CapacityOf) {
        if self.capacity_bytes.is_none() {
            self.capacity_bytes = Some(bytes);
            self.capacity_file = Some(file.to_owned());
            self.capacity_of = of;
        }
    }

    /// Where the capacity is from, in words.
    pub fn capacity_from(&self) -> Option<String> {
        let file = self.capacity_file.as_deref()?;
        Some(match self.capacity_of {
            CapacityOf::File => file.to_owned(),
            CapacityOf::Memory => format!("the device's memory in {file}"),
            CapacityOf::Limit => format!("the allocator's limit in {file}"),
            CapacityOf::Preset(name) => format!("the preset {name} for the device in {file}"),
        })
    }
}

/// What XLA itself states of a module, in files beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct XlaClaims {
    /// Figures.
    pub figures: Vec<StatedFigure>,
    /// The position whose values it lists as those of the peak, by a rule of its own: it is not that of memory.
    pub moment: Option<u32>,
}

/// A figure that a file states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedFigure {
    /// The file.
    pub file: String,
    /// What it is of.
    pub of: StatedOf,
    /// What it states.
    pub bytes: u64,
}

/// What a figure of XLA is of (formats/xla.md 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedOf {
    /// All allocations.
    All,
    /// Those of a memory space.
    MemorySpace(i64),
    /// Temporary ones.
    Temporary,
    /// Parameters.
    Arguments,
    /// Parameters that results take over.
    Donated,
    /// Results, with the parameters that they take over.
    Outputs,
}

impl StatedOf {
    /// What XLA calls it: in its texts, or in `CompiledMemoryStats`.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "Total bytes used",
            Self::MemorySpace(_) => "Total bytes",
            Self::Temporary => "temp_size_in_bytes",
            Self::Arguments => "argument_size_in_bytes",
            Self::Donated => "alias_size_in_bytes",
            Self::Outputs => "output_size_in_bytes",
        }
    }
}

/// The name of a module without the number by which some front ends tell its compilations apart: `Graph.35`.
pub fn plain_module_name(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((plain, number)) if !plain.is_empty() && is_number(number) => plain,
        _ => name,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit())
}
