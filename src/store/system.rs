//! Words of the system that a report comes from: what a device, a range of addresses and a step are
//! called there.

/// The words of a system, as they begin a title, in the singular where nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct System {
    /// The system itself.
    pub name: &'static str,
    /// What has memory: "IPU".
    pub device: &'static str,
    /// All of them together: "All IPUs".
    pub all_devices: &'static str,
    /// A range of addresses in which things are placed: "Tile".
    pub arena: &'static str,
    /// Several of them, within a sentence: "tiles".
    pub arenas: &'static str,
    /// "Worst tile of each step".
    pub worst_arena: &'static str,
    /// What happens one after the other: "Step".
    pub step: &'static str,
    /// What lives as long as the program: "Always live".
    pub always_live: &'static str,
    /// Everything else.
    pub not_always_live: &'static str,
}

impl System {
    /// Of a report whose system has no words of its own.
    pub const GENERAL: Self = Self {
        name: "",
        device: "Device",
        all_devices: "All devices",
        arena: "Arena",
        arenas: "arenas",
        worst_arena: "Worst arena of each step",
        step: "Step",
        always_live: "Always live",
        not_always_live: "Not always live",
    };

    /// Of Graphcore's Poplar.
    pub const POPLAR: Self = Self {
        name: "Poplar",
        device: "IPU",
        all_devices: "All IPUs",
        arena: "Tile",
        arenas: "tiles",
        worst_arena: "Worst tile of each step",
        ..Self::GENERAL
    };
}

impl Default for System {
    fn default() -> Self {
        Self::GENERAL
    }
}
