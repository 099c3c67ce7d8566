//! PyTorch's own totals beside a snapshot (`torch.cuda.memory_stats()` as JSON): kept as claims, beside our figures.

use std::path::Path;

use serde_json::Value;

use crate::format::Progress;
use crate::format::side_files::read_object;
use crate::store::Warnings;
use crate::store::snapshot::{AllocatorClaims, ClaimedBytes};

/// Larger files are not what they should be.
const MOST_BYTES: u64 = 1 << 20;

/// Reads the totals; `None` with a warning where they cannot be read.
pub(super) fn read_claims(
    path: &Path,
    name: &str,
    warnings: &Warnings,
    progress: &Progress,
) -> Option<AllocatorClaims> {
    let totals = read_object(path, name, MOST_BYTES, warnings, progress)?;
    let of = |figure: &str| {
        let bytes = |part: &str| totals.get(&format!("{figure}.all.{part}"))?.as_u64();
        ClaimedBytes { current: bytes("current"), peak: bytes("peak") }
    };
    Some(AllocatorClaims {
        file: name.to_owned(),
        rank: None,
        requested: of("requested_bytes"),
        allocated: of("allocated_bytes"),
        active: of("active_bytes"),
        reserved: of("reserved_bytes"),
        failed_requests: totals.get("num_ooms").and_then(Value::as_u64),
    })
}
