//! What a sentence says, in words for people who do not know it.

use super::{
    BufferWithoutSpace, ScratchKind, TenstorrentError, TenstorrentForm, TenstorrentVerdict,
};
use crate::text::{bytes, clean, exact_bytes, grouped};

/// What happened, and what is missing.
pub fn in_plain_words(error: &TenstorrentError) -> String {
    let missing = error.missing_bytes.map(exact_bytes);
    let missing = |words: &str| {
        missing.as_ref().map_or_else(String::new, |missing| format!(": {missing} {words}"))
    };
    match &error.form {
        TenstorrentForm::NoSpace(buffer) => no_space(buffer, None, error),
        TenstorrentForm::NoSpaceDependencies {
            buffer,
            largest_window_bytes_per_bank: window,
            ..
        } => no_space(buffer, *window, error),
        TenstorrentForm::Clash { scratch, lowest_l1_address, scratch_end_address, .. } => format!(
            "The {} buffers of a program end at address {}, and the lowest L1 tensor begins at {}{}.",
            scratch.word(),
            grouped(*scratch_end_address),
            grouped(*lowest_l1_address),
            missing("of overlap on each core"),
        ),
        TenstorrentForm::BeyondCore {
            scratch,
            worker_l1_bytes_per_core,
            scratch_end_address,
            ..
        } => format!(
            "The {} buffers of a program alone reach up to {}, and a core has {} of L1{}, whatever else is freed.",
            scratch.word(),
            bytes(*scratch_end_address),
            bytes(*worker_l1_bytes_per_core),
            missing("too much"),
        ),
        TenstorrentForm::BelowFloor { floor_address, address } => format!(
            "A buffer would begin at address {}, and none may begin below {}{}.",
            grouped(*address),
            grouped(*floor_address),
            missing("too little"),
        ),
        TenstorrentForm::Ring { buffer, ring_bytes, unreserved_l1_bytes_per_core } => format!(
            "The ring of the dataflow buffer {} takes {} of each core, and a core has {} of L1 for it{}, whatever is freed.",
            clean(buffer),
            bytes(*ring_bytes),
            bytes(*unreserved_l1_bytes_per_core),
            missing("too much"),
        ),
        TenstorrentForm::Arena { requested_bytes, .. } => match error.form.arena_bytes() {
            Some(room) if error.missing_bytes.is_some() => format!(
                "The persistent L1 arena has {} on each core, and {} were asked for{}, whatever is freed.",
                bytes(room),
                bytes(*requested_bytes),
                missing("too much"),
            ),
            Some(room) => format!(
                "The persistent L1 arena has {} on each core, and no piece of {} in it is free.",
                bytes(room),
                bytes(*requested_bytes),
            ),
            None => {
                format!("The persistent L1 arena has no free piece of {}.", bytes(*requested_bytes))
            }
        },
        TenstorrentForm::ServiceCore { lowest_service_address, scratch_end_address, .. } => {
            format!(
                "The circular buffers of a program end at address {}, and on these cores a service has taken L1 from {} on{}.",
                grouped(*scratch_end_address),
                grouped(*lowest_service_address),
                missing("of overlap on each core"),
            )
        }
    }
}

fn no_space(buffer: &BufferWithoutSpace, window: Option<u64>, error: &TenstorrentError) -> String {
    let needed = format!(
        "Each of {} {} has to hold {} of the {} buffer",
        grouped(buffer.banks),
        buffer.banks_word(),
        bytes(buffer.bytes_per_bank),
        clean(&buffer.space)
    );
    let missing = error.missing_bytes.map(exact_bytes).unwrap_or_default();
    let bank = buffer.bank_bytes.map(bytes).unwrap_or_default();
    let free = buffer.free_bytes_per_bank.map(bytes).unwrap_or_default();
    let largest = buffer.largest_free_bytes_per_bank.map(bytes).unwrap_or_default();
    match error.verdict {
        TenstorrentVerdict::NeverFits => {
            format!("{needed}, and has {bank} in all: {missing} too much, whatever is freed.")
        }
        TenstorrentVerdict::OutOfMemory => {
            format!("{needed}, and {free} of its {bank} are free: {missing} too little.")
        }
        TenstorrentVerdict::Fragmented => format!(
            "{needed}, and {free} of its {bank} are free, but the largest piece has {largest}: {missing} too little in one piece."
        ),
        TenstorrentVerdict::BlockedByDependencies => format!(
            "{needed}, and {largest} are free in one piece, but others depend on a part of it and leave a piece of {}: {missing} \
             too little.",
            window.map(bytes).unwrap_or_default()
        ),
        TenstorrentVerdict::Clash | TenstorrentVerdict::Unknown => {
            let bank = if bank.is_empty() { bank } else { format!(" of its {bank}") };
            format!("{needed}; the message does not say what is missing{bank}.")
        }
    }
}

impl BufferWithoutSpace {
    /// What its banks are.
    pub fn banks_word(&self) -> &'static str {
        if self.is_of_cores() { "cores" } else { "DRAM banks" }
    }

    /// Whether its banks are the L1 of cores.
    pub fn is_of_cores(&self) -> bool {
        self.space.starts_with("L1")
    }
}

impl ScratchKind {
    /// `circular` or `dataflow`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Circular => "circular",
            Self::Dataflow => "dataflow",
        }
    }
}
