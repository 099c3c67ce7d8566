//! The figures that XLA's texts beside a module state (formats/xla.md 6, 7): totals, and the position that it takes for
//! the peak. All else that they have is read elsewhere, or follows from the module.

use super::discover::{ModuleFile, ProtoKind, read_bytes};
use super::listing::{FoundModule, ModuleAt, stem_of, texts_of};
use super::text::whole_lines;
use crate::format::Progress;
use crate::store::hlo::{StatedFigure, StatedOf, XlaClaims};
use crate::store::{WarningCode, Warnings};

/// How the report of totals is called behind the stem that all texts of an assignment have.
const REPORT: &str = "-memory-usage-report.txt";
/// Totals that are kept: there is one of each memory space, and one of all.
const MOST_TOTALS: usize = 64;
/// Lines between two looks at whether anybody still waits.
const AT_ONCE: usize = 4096;

/// What the texts of a module state. One that cannot be read is a warning.
pub fn claims(found: &FoundModule, warnings: &Warnings, progress: &Progress) -> XlaClaims {
    let path = found.at.path();
    let mut texts = match &found.at {
        ModuleAt::Proto(..) => texts_of(path),
        ModuleAt::Texts(files) => files.clone(),
        ModuleAt::Record(..) => Vec::new(),
    };
    // What was printed into one file has none beside it.
    if texts.iter().all(|text| text.part.is_none()) {
        let report = stem_of(path).map(|stem| path.with_file_name(format!("{stem}{REPORT}")));
        let report = report.filter(|report| report.is_file());
        texts.extend(report.map(|report| ModuleFile::of(report, ProtoKind::Text)));
    }
    let mut claims = XlaClaims::default();
    for text in texts {
        match read_bytes(&text, warnings, progress) {
            Ok(Some(bytes)) => add(&mut claims, &text.name, &bytes, progress),
            Ok(None) => break,
            Err(error) => warnings.add(WarningCode::Inconsistent, &text.name, error.message),
        }
    }
    claims
}

fn add(claims: &mut XlaClaims, file: &str, text: &[u8], progress: &Progress) {
    let mut color = None;
    for (number, line) in whole_lines(text).split(|letter| *letter == b'\n').enumerate() {
        if number.is_multiple_of(AT_ONCE) && progress.is_cancelled() {
            return;
        }
        let line = line.trim_ascii();
        if let Some(bytes) = number_behind(line, b"Total bytes used: ") {
            add_total(claims, file, StatedOf::All, bytes);
        } else if line.starts_with(b"Memory Space: ") {
            color = color_of(line);
        } else if let (Some(bytes), Some(color)) = (number_behind(line, b"Total bytes: "), color) {
            add_total(claims, file, StatedOf::MemorySpace(color), bytes);
        } else if let Some(position) = number_behind(line, b"Live ranges at ") {
            claims.moment = claims.moment.or(u32::try_from(position).ok());
        }
    }
}

/// Adds a total, unless another text has said the same.
fn add_total(claims: &mut XlaClaims, file: &str, of: StatedOf, bytes: u64) {
    let is_said = |one: &StatedFigure| (one.of, one.bytes) == (of, bytes);
    if claims.figures.len() < MOST_TOTALS && !claims.figures.iter().any(is_said) {
        claims.figures.push(StatedFigure { file: file.to_owned(), of, bytes });
    }
}

/// `Memory Space: default (color=0)`.
fn color_of(line: &[u8]) -> Option<i64> {
    let line = std::str::from_utf8(line).ok()?;
    let (_, color) = line.rsplit_once("(color=")?;
    color.strip_suffix(')')?.parse().ok()
}

/// The whole number with which a line goes on; none of `24.02MiB`.
fn number_behind(line: &[u8], words: &[u8]) -> Option<u64> {
    let number = line.strip_prefix(words)?.split(|letter| *letter == b' ').next()?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> XlaClaims {
        let mut claims = XlaClaims::default();
        for (file, text) in texts.iter().enumerate() {
            add(&mut claims, &file.to_string(), text.as_bytes(), &Progress::default());
        }
        claims
    }

    fn total(file: &str, of: StatedOf, bytes: u64) -> StatedFigure {
        StatedFigure { file: file.to_owned(), of, bytes }
    }

    #[test]
    fn totals_of_all_and_of_each_memory_space_are_read() {
        let values = "\nTotal bytes used: 142631508 (136.02MiB)\n\nUsed values:\n<1 a @0>\n";
        let lives = "HloLiveRange (max 9):\n  Live ranges at 110 (peak):\n    a{}: 64 bytes\n";
        let report = "Memory Space: default (color=0)\nTotal bytes: 25190400 (24.02MiB)\n  12.00MiB(100%); Total bytes: \
                      7\nMemory Space: color_6 (color=6)\nTotal bytes: 512 (512B)\nMemory Space: x\nTotal bytes: 9\n";
        let claims = of(&[values, lives, report, values]);
        assert_eq!(claims.moment, Some(110));
        let expected = [
            total("0", StatedOf::All, 142_631_508),
            total("2", StatedOf::MemorySpace(0), 25_190_400),
            total("2", StatedOf::MemorySpace(6), 512),
        ];
        assert_eq!(claims.figures, expected);
    }

    #[test]
    fn what_is_cut_or_no_number_states_nothing() {
        let nothing = XlaClaims::default();
        assert_eq!(of(&["Total bytes used: 1426"]), nothing, "a number that may be cut");
        assert_eq!(of(&["Total bytes used: 24.02MiB\nTotal bytes used: 1,234 (2KiB)\n"]), nothing);
        assert_eq!(of(&["Total bytes used: \nTotal bytes used: x\nTotal bytes: 5\n"]), nothing);
        let large = "Total bytes used: 99999999999999999999\nLive ranges at 4294967296 (peak):\n";
        assert_eq!(of(&[large]), nothing);
        let many: String = (0..1000).map(|bytes| format!("Total bytes used: {bytes}\n")).collect();
        assert_eq!(of(&[&many]).figures.len(), MOST_TOTALS);
    }
}
