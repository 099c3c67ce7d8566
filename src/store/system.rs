//! Words of the system that a report comes from: what a device and a range of addresses are called there.

/// The words of a system, as they begin a title, in the singular where nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct System {
    /// Its name in answers of commands: "poplar".
    pub name: &'static str,
    /// What has memory: "IPU".
    pub device: &'static str,
    /// All of them together: "All IPUs".
    pub all_devices: &'static str,
    /// A range of addresses in which things are placed: "Tile".
    pub arena: &'static str,
    /// The same within a sentence: "tile".
    pub arena_in_text: &'static str,
    /// One of them, within a sentence: "a tile".
    pub an_arena: &'static str,
    /// Several of them, within a sentence: "tiles".
    pub arenas: &'static str,
    /// "Worst tile of each step".
    pub worst_arena: &'static str,
    /// What memory goes by: "Step".
    pub step: &'static str,
    /// The same within a sentence: "step".
    pub step_in_text: &'static str,
    /// Several of them, within a sentence: "steps".
    pub steps: &'static str,
    /// Whether steps of two runs belong together by what they do; else by their numbers alone, which says nothing.
    pub are_steps_matched: bool,
    /// What it was told: "Engine options".
    pub options: &'static str,
    /// The same within a sentence, short: "options".
    pub options_in_text: &'static str,
    /// What is there for as long as the program runs: "Always live".
    pub always_live: &'static str,
    /// The same within a sentence: "always live".
    pub always_live_in_text: &'static str,
    /// What is not: "Not always live".
    pub not_always_live: &'static str,
    /// The same within a sentence: "not always live".
    pub not_always_live_in_text: &'static str,
    /// What a program consists of: "Program".
    pub program: &'static str,
    /// Several of them, within a sentence: "programs".
    pub programs: &'static str,
    /// Where the machine begins: "Control programs".
    pub control_programs: &'static str,
    /// What names of variables are in liveness: "Variable before lowering".
    pub variable: &'static str,
    /// What they are where variables are placed: "Variable as it was lowered".
    pub placed_variable: &'static str,
}

impl System {
    /// Of a report whose system has no words of its own.
    pub const GENERAL: Self = Self {
        name: "general",
        device: "Device",
        all_devices: "All devices",
        arena: "Arena",
        arena_in_text: "arena",
        an_arena: "an arena",
        arenas: "arenas",
        worst_arena: "Worst arena of each step",
        step: "Step",
        step_in_text: "step",
        steps: "steps",
        are_steps_matched: true,
        options: "Options",
        options_in_text: "options",
        always_live: "Always live",
        always_live_in_text: "always live",
        not_always_live: "Not always live",
        not_always_live_in_text: "not always live",
        program: "Program",
        programs: "programs",
        control_programs: "Control programs",
        variable: "Variable",
        placed_variable: "Variable",
    };

    /// Of Graphcore's Poplar.
    pub const POPLAR: Self = Self {
        name: "poplar",
        device: "IPU",
        all_devices: "All IPUs",
        arena: "Tile",
        arena_in_text: "tile",
        an_arena: "a tile",
        arenas: "tiles",
        worst_arena: "Worst tile of each step",
        step: "Step",
        step_in_text: "step",
        steps: "steps",
        are_steps_matched: true,
        options: "Engine options",
        options_in_text: "options",
        always_live: "Always live",
        always_live_in_text: "always live",
        not_always_live: "Not always live",
        not_always_live_in_text: "not always live",
        program: "Program",
        programs: "programs",
        control_programs: "Control programs",
        variable: "Variable before lowering",
        placed_variable: "Variable as it was lowered",
    };

    /// Of PyTorch's allocators.
    pub const PYTORCH: Self = Self {
        name: "pytorch",
        device: "GPU",
        all_devices: "All devices",
        arena: "Segment",
        arena_in_text: "segment",
        an_arena: "a segment",
        arenas: "segments",
        worst_arena: "Worst segment of each event",
        step: "Event",
        step_in_text: "event",
        steps: "events",
        are_steps_matched: false,
        options: "Settings",
        options_in_text: "settings",
        always_live: "Live throughout",
        always_live_in_text: "live throughout",
        not_always_live: "Not live throughout",
        not_always_live_in_text: "not live throughout",
        program: "Event",
        programs: "events",
        control_programs: "Events",
        variable: "Frame of the allocation",
        placed_variable: "Block",
    };

    /// Of XLA's programs.
    pub const XLA: Self = Self {
        name: "xla",
        device: "Memory",
        all_devices: "All memory spaces",
        arena: "Allocation",
        arena_in_text: "allocation",
        an_arena: "an allocation",
        arenas: "allocations",
        worst_arena: "Worst allocation of each step",
        step: "Step",
        step_in_text: "step",
        steps: "steps",
        are_steps_matched: false,
        options: "Flags",
        options_in_text: "flags",
        always_live: "Reserved throughout",
        always_live_in_text: "reserved throughout",
        not_always_live: "Temporary",
        not_always_live_in_text: "temporary",
        program: "Instruction",
        programs: "instructions and computations",
        control_programs: "Program of the module",
        variable: "Value",
        placed_variable: "Value",
    };
}

impl Default for System {
    fn default() -> Self {
        Self::GENERAL
    }
}
