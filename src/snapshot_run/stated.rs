//! What error texts beside a snapshot say of requests that failed.

use std::path::Path;

use crate::analysis::allocator::stated_failure::StatedFailure;
use crate::analysis::diagnose::{Device, Finding, Kind, diagnose_reader};
use crate::files;
use crate::format::pytorch::SnapshotFiles;

/// Bytes of an error text that are looked at.
const MOST_ERROR_TEXT: u64 = 1 << 20;

/// What the error text beside a snapshot says; nothing where there is none, or it cannot be read.
pub fn stated_failures(files: &SnapshotFiles) -> Vec<StatedFailure> {
    let Some(path) = &files.error_text else { return Vec::new() };
    let Ok(file) = files::open(path) else { return Vec::new() };
    let Ok(found) = diagnose_reader(std::io::Read::take(file, MOST_ERROR_TEXT)) else {
        return Vec::new();
    };
    let name = path.file_name().unwrap_or(Path::new("").as_os_str()).to_string_lossy();
    let of_gpus = found.findings.iter().filter(|finding| finding.device == Some(Device::Cuda));
    of_gpus.map(|finding| stated(&name, finding)).collect()
}

/// What a message says of a request that failed.
pub(crate) fn stated(file: &str, finding: &Finding) -> StatedFailure {
    let number = finding.instance.as_deref().and_then(|name| name.strip_prefix("GPU "));
    StatedFailure {
        file: file.to_owned(),
        device: number.and_then(|number| number.parse().ok()),
        requested_bytes: finding.requested_bytes,
        capacity_bytes: finding.limit_bytes,
        is_share: finding.kind == Kind::CudaProcessLimit,
        free_bytes: finding.free_bytes,
        unallocated_bytes: finding.unallocated_bytes,
        other_processes_bytes: finding.other_processes_bytes,
        rank_not_there: None,
    }
}
