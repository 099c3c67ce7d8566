//! PyTorch's own totals beside a snapshot (`torch.cuda.memory_stats()` as JSON): kept as claims, beside our figures.

use std::io::Read as _;
use std::path::Path;

use serde_json::{Map, Value};

use crate::files;
use crate::store::snapshot::{AllocatorClaims, ClaimedBytes};
use crate::store::{WarningCode, Warnings};

/// Larger files are not what they should be.
const MOST_BYTES: u64 = 1 << 20;

/// Reads the totals; `None` with a warning where they cannot be read.
pub(super) fn read_claims(path: &Path, name: &str, warnings: &Warnings) -> Option<AllocatorClaims> {
    let read = || -> Result<Map<String, Value>, String> {
        let file = files::open(path).map_err(|error| error.to_string())?;
        let mut text = Vec::new();
        let read = file.take(MOST_BYTES).read_to_end(&mut text);
        read.map_err(|error| error.to_string())?;
        serde_json::from_slice(&text).map_err(|error| error.to_string())
    };
    let totals = match read() {
        Ok(totals) => totals,
        Err(error) => {
            warnings.add(WarningCode::Inconsistent, name, format!("not shown: {error}"));
            return None;
        }
    };
    let of = |figure: &str| {
        let bytes = |part: &str| totals.get(&format!("{figure}.all.{part}"))?.as_u64();
        ClaimedBytes { current: bytes("current"), peak: bytes("peak") }
    };
    Some(AllocatorClaims {
        file: name.to_owned(),
        requested: of("requested_bytes"),
        allocated: of("allocated_bytes"),
        active: of("active_bytes"),
        reserved: of("reserved_bytes"),
        failed_requests: totals.get("num_ooms").and_then(Value::as_u64),
    })
}
