//! Lines that a terminal cut at its right border, within words and numbers.

/// Columns of a terminal, at least. Shorter lines that are equally long are so by chance.
const FEWEST_COLUMNS: usize = 60;
/// Bytes with which equal lines begin: what is written several times was not cut.
const SAME_BEGINNING: usize = 8;

/// The columns at which a terminal cut a line and the one behind it, if both seem to be cut: they are equally long, but for a
/// blank at the end that was lost. 0 where it is not so.
pub fn columns_of_cut(line: &[u8], next: &[u8]) -> usize {
    let [own, behind] = [line, next].map(columns);
    let is_again = line.get(..SAME_BEGINNING) == next.get(..SAME_BEGINNING);
    let most = own.max(behind);
    if most < FEWEST_COLUMNS || own.abs_diff(behind) > 1 || is_again { 0 } else { most }
}

/// What stands between the text of a line and that of the next one in place of a line end, if the line was cut at so
/// many columns.
pub fn joint(line: &[u8], cut_at: usize) -> Option<&'static [u8]> {
    match cut_at.checked_sub(columns(line)) {
        Some(0) if cut_at > 0 => Some(b""),
        Some(1) if cut_at > 1 => Some(b" "),
        _ => None,
    }
}

/// Columns that a line takes, as far as each character takes one.
fn columns(line: &[u8]) -> usize {
    let is_first_of_character = |byte: &&u8| **byte & 0xc0 != 0x80;
    without_end(line).iter().filter(is_first_of_character).count()
}

/// A line without its line end.
pub fn without_end(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
    line.get(..end.map_or(0, |end| end + 1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::diagnose;

    const MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB. GPU 2 has a total \
                           capacity of 39.50 GiB of which 800.50 MiB is free. Including non-PyTorch memory, this process has \
                           38.50 GiB memory in use. Of the allocated memory 36.75 GiB is allocated by PyTorch, and 1.25 GiB is \
                           reserved by PyTorch but unallocated.";

    /// Whether all figures of the message were read.
    fn assert_read(log: &str, why: &str) {
        let findings = diagnose(log);
        let [finding] = findings.as_slice() else { panic!("{why}: {findings:?}\n{log}") };
        let mib = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / f64::from(1 << 20));
        let figures = [finding.requested_bytes, finding.limit_bytes, finding.free_bytes];
        assert_eq!(figures.map(mib), [Some(1280.0), Some(40448.0), Some(800.5)], "{why}\n{log}");
        assert_eq!(mib(finding.unallocated_bytes), Some(1280.0), "{why}\n{log}");
    }

    #[test]
    fn a_message_that_a_terminal_cut_is_read() {
        for columns in [60, 72, 80, 97, 100, 120, 132, 160] {
            for is_trimmed in [false, true] {
                let lines: Vec<&str> = MESSAGE
                    .as_bytes()
                    .chunks(columns)
                    .filter_map(|line| std::str::from_utf8(line).ok())
                    .map(|line| if is_trimmed { line.trim_end() } else { line })
                    .collect();
                // A blank with which a line begins may not be lost.
                let log = format!("step 3\nloss 1.5\n{}\nmake: *** Error 1\n", lines.join("\n"));
                assert_read(&log, &format!("{columns} columns, blanks lost: {is_trimmed}"));
            }
        }
    }
}
