//! What a file is that is called like a profile and is not SQLite, by its first bytes.

use std::path::Path;

use crate::format::{Error, ErrorKind};

/// Why such a file is no profile.
pub fn refusal_of_header(profile: &Path, header: &[u8]) -> Error {
    let refuse = |kind, message: String, hint: &str| {
        Error::new(kind, message).in_file(profile).at("byte 0").hint(hint)
    };
    let shown = profile.display();
    if header.is_empty() {
        return refuse(
            ErrorKind::NotAReport,
            format!("{shown} is empty"),
            "The run may have ended before the report was written.",
        );
    }
    if header.starts_with(b"version https://git-lfs") {
        return refuse(
            ErrorKind::NotAReport,
            format!("{shown} is a Git LFS pointer, not the report itself"),
            "Fetch the file with: git lfs pull",
        );
    }
    let first = header.iter().find(|byte| !byte.is_ascii_whitespace());
    let is_cbor_map = matches!(header, [0xa0..=0xbf, 0x60..=0x7b, ..]);
    if first == Some(&b'{') || is_cbor_map {
        return refuse(
            ErrorKind::UnsupportedVersion,
            format!(
                "{shown} is JSON or CBOR: a report of format 1 or 2; format 3 (SQLite) is read"
            ),
            "Capture the report again with Poplar SDK 2.1 or later.",
        );
    }
    refuse(
        ErrorKind::NotAReport,
        format!("{shown} is not a profile: `SQLite format 3` expected at its start"),
        "Open the directory that Poplar's autoReport.directory names.",
    )
}
