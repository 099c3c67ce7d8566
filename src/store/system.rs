//! Words of the system that a report comes from: what a device and a range of addresses are called there.

/// The words of a system, as they begin a title, in the singular where nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct System {
    /// Its name in answers of commands: "poplar".
    pub name: &'static str,
    /// What writes its files: "Poplar".
    pub producer: &'static str,
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
    /// What takes memory: "Variable".
    pub item: &'static str,
    /// The same within a sentence: "variable".
    pub item_in_text: &'static str,
    /// One of them, within a sentence: "a variable".
    pub an_item: &'static str,
    /// Several of them, within a sentence: "variables".
    pub items: &'static str,
}

impl System {
    /// Of a report whose system has no words of its own.
    pub const GENERAL: Self = Self {
        name: "general",
        producer: "Producer",
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
        item: "Variable",
        item_in_text: "variable",
        an_item: "a variable",
        items: "variables",
    };
}

impl Default for System {
    fn default() -> Self {
        Self::GENERAL
    }
}
