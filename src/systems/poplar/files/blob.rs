//! The number lists of `profile.pop` (formats/poplar.md 2.3), decoded and encoded.
//!
//! Numbers are base 128, most significant group first, with 0x80 marking the last byte of each. A
//! run-length list is a sequence of such numbers: an even header `h` is followed by one number that
//! is repeated `h / 2` times, an odd one by `h / 2` numbers. No length from the file is trusted: a
//! list never takes more memory than the caller expects or than the blob has bytes.

use crate::limits;

/// Why a blob is not a list of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// The last number has no end mark.
    #[error("the number that begins at byte {at} has no end")]
    Unterminated {
        /// Offset in the blob.
        at: usize,
    },
    /// A number does not fit in 64 bits.
    #[error("the number that begins at byte {at} needs more than 64 bits")]
    TooLarge {
        /// Offset in the blob.
        at: usize,
    },
    /// The blob ends where a run or a literal block wants numbers.
    #[error("a run or block is cut short after {found} numbers")]
    CutShort {
        /// Numbers before the cut.
        found: usize,
    },
    /// The list is longer than any is.
    #[error("at most {most} numbers expected")]
    TooLong {
        /// As many as there may be.
        most: usize,
    },
    /// A number of a list of such as have 32 bits has more.
    #[error("numbers below 2³² expected, {found} found")]
    Number {
        /// The last of them.
        found: u64,
    },
    /// The list is not as long as it must be.
    #[error("{expected} numbers expected, {found} found")]
    Count {
        /// As many as there must be.
        expected: usize,
        /// As many as there are; for a list that is too long, at least this many.
        found: u64,
    },
}

/// The numbers of a plain list, one at a time.
#[derive(Clone, Debug)]
pub struct Numbers<'a> {
    blob: &'a [u8],
    at: usize,
}

/// Reads a plain list.
pub fn numbers(blob: &[u8]) -> Numbers<'_> {
    Numbers { blob, at: 0 }
}

impl Iterator for Numbers<'_> {
    type Item = Result<u64, BlobError>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        let rest = self.blob.get(start..).filter(|rest| !rest.is_empty())?;
        let mut number = 0_u64;
        let mut fits = true;
        for (length, byte) in (1_usize..).zip(rest) {
            fits &= number >> 57 == 0;
            number = (number << 7) | u64::from(byte & 0x7f);
            if byte & 0x80 != 0 {
                self.at = start.saturating_add(length);
                let result = if fits { Ok(number) } else { Err(BlobError::TooLarge { at: start }) };
                return Some(result);
            }
        }
        self.at = self.blob.len();
        Some(Err(BlobError::Unterminated { at: start }))
    }
}

/// Decodes a plain list whose length nothing says.
///
/// # Errors
/// When a number is unterminated or too large, or there are more than any list has.
pub fn list(blob: &[u8]) -> Result<Vec<u64>, BlobError> {
    let most = limits::LIST_NUMBERS;
    if blob.len() > most && ends(blob) > most {
        return Err(BlobError::TooLong { most });
    }
    numbers(blob).collect()
}

fn ends(blob: &[u8]) -> usize {
    blob.iter().filter(|byte| **byte & 0x80 != 0).count()
}

/// Decodes a plain list of exactly `expected` numbers.
///
/// # Errors
/// When a number is unterminated or too large, or there are fewer or more.
pub fn list_of(blob: &[u8], expected: usize) -> Result<Vec<u64>, BlobError> {
    // Before there is room for more than are expected.
    let found = ends(blob);
    if found > expected {
        return Err(BlobError::Count { expected, found: found as u64 });
    }
    let decoded = numbers(blob).collect::<Result<Vec<_>, _>>()?;
    if decoded.len() == expected {
        Ok(decoded)
    } else {
        Err(BlobError::Count { expected, found: decoded.len() as u64 })
    }
}

/// Decodes a run-length list of exactly `expected` numbers.
///
/// # Errors
/// When a number is unterminated or too large, a run is cut short, or there are fewer or more
/// numbers; nothing is allocated beyond `expected` numbers, whatever a run says.
pub fn run_length_list_of(blob: &[u8], expected: usize) -> Result<Vec<u64>, BlobError> {
    let mut decoded: Vec<u64> = Vec::new();
    run_length_runs_of(blob, expected, |count, value| {
        decoded.resize(decoded.len().saturating_add(count), value);
    })?;
    Ok(decoded)
}

/// Decodes a run-length list of exactly `expected` numbers without expanding it: calls `each` with how
/// often a number comes, and the number.
///
/// # Errors
/// As [`run_length_list_of`].
pub fn run_length_runs_of(
    blob: &[u8],
    expected: usize,
    each: impl FnMut(usize, u64),
) -> Result<(), BlobError> {
    let decoded = run_length_runs(blob, expected, each)?;
    if decoded == expected {
        Ok(())
    } else {
        Err(BlobError::Count { expected, found: decoded as u64 })
    }
}

/// Decodes ascending numbers below 2³² of which the file has the differences, the first from 0, as a run-length
/// list.
///
/// # Errors
/// As [`run_length_list_of`], when there are more than any list has, and when a number is larger.
pub fn ascending(blob: &[u8]) -> Result<Vec<u32>, BlobError> {
    let most = limits::ALL_LIST_NUMBERS;
    let mut list: Vec<u32> = Vec::new();
    let mut too_large = None;
    run_length_runs(blob, most, |count, difference| {
        for _ in 0..count {
            if too_large.is_some() {
                return;
            }
            let next = u64::from(list.last().copied().unwrap_or(0)).saturating_add(difference);
            match u32::try_from(next) {
                Ok(next) => list.push(next),
                Err(_) => too_large = Some(next),
            }
        }
    })?;
    match too_large {
        Some(found) => Err(BlobError::Number { found }),
        None => Ok(list),
    }
}

/// The same of a list of at most `expected` numbers; returns how many there are.
fn run_length_runs(
    blob: &[u8],
    expected: usize,
    mut each: impl FnMut(usize, u64),
) -> Result<usize, BlobError> {
    let mut decoded = 0_usize;
    let mut source = numbers(blob);
    while let Some(header) = source.next() {
        let header = header?;
        let wanted = header >> 1;
        let found = (decoded as u64).saturating_add(wanted);
        // What is at most `expected` fits in usize.
        let Some(end) = usize::try_from(found).ok().filter(|end| *end <= expected) else {
            return Err(BlobError::Count { expected, found });
        };
        let cut = BlobError::CutShort { found: decoded };
        if header & 1 == 0 {
            each(end.saturating_sub(decoded), source.next().ok_or(cut)??);
        } else {
            for _ in 0..wanted {
                each(1, source.next().ok_or(cut)??);
            }
        }
        decoded = end;
    }
    Ok(decoded)
}

fn push_number(blob: &mut Vec<u8>, number: u64) {
    let significant = 64_u32.saturating_sub(number.leading_zeros()).max(1);
    let groups = significant.div_ceil(7);
    for group in (0..groups).rev() {
        let bits = (number >> group.saturating_mul(7)) & 0x7f;
        let mark = if group == 0 { 0x80 } else { 0 };
        blob.push(mark | u8::try_from(bits).unwrap_or(0x7f));
    }
}

/// Encodes a plain list.
pub fn encode_list(list: &[u64]) -> Vec<u8> {
    let mut blob = Vec::new();
    for number in list {
        push_number(&mut blob, *number);
    }
    blob
}

/// Encodes a run-length list: runs for two and more equal numbers, blocks for what lies between.
pub fn encode_run_length_list(list: &[u64]) -> Vec<u8> {
    let mut blob = Vec::new();
    let mut literals: Vec<u64> = Vec::new();
    let flush = |blob: &mut Vec<u8>, literals: &mut Vec<u64>| {
        if !literals.is_empty() {
            push_number(blob, ((literals.len() as u64) << 1) | 1);
            literals.drain(..).for_each(|number| push_number(blob, number));
        }
    };
    for run in list.chunk_by(|a, b| a == b) {
        match run {
            [single] => literals.push(*single),
            [first, ..] => {
                flush(&mut blob, &mut literals);
                push_number(&mut blob, (run.len() as u64) << 1);
                push_number(&mut blob, *first);
            }
            [] => {}
        }
    }
    flush(&mut blob, &mut literals);
    blob
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_worked_examples_of_the_format_notes_decode() {
        assert_eq!(list(&[0x80, 0xff, 0x01, 0x80]), Ok(vec![0, 127, 128]));
        assert_eq!(list(&[0x01, 0x00, 0x80]), Ok(vec![16384]));
        let mut fours = vec![4; 1472];
        fours[0] = 0;
        let blob = [0x83, 0x80, 0x16, 0xfe, 0x84];
        assert_eq!(run_length_list_of(&blob, 1472), Ok(fours.clone()));
        assert_eq!(encode_run_length_list(&fours), blob);
        assert_eq!(run_length_list_of(&[0x17, 0x80, 0x80], 1472), Ok(vec![0; 1472]));
        let blob = [
            0x83, 0x07, 0x98, 0x88, 0x02, 0xc0, 0x83, 0x02, 0xe0, 0x8a, 0x02, 0x80, 0x16, 0xea,
            0x01, 0xe0,
        ];
        let expected = [vec![920], vec![320; 4], vec![352], vec![256; 5], vec![224; 1461]].concat();
        assert_eq!(run_length_list_of(&blob, 1472), Ok(expected));
    }

    #[test]
    fn lists_longer_than_any_are_not_decoded() {
        let most = limits::LIST_NUMBERS;
        assert_eq!(list(&vec![0x80; most + 1]), Err(BlobError::TooLong { most }));
        assert_eq!(list(&vec![0x80; most]).map(|list| list.len()), Ok(most));
        let found = Err(BlobError::Count { expected: 3, found: 1000 });
        assert_eq!(list_of(&[0x80; 1000], 3), found);
    }

    #[test]
    fn damage_is_named_and_takes_no_memory() {
        assert_eq!(list(&[0x81, 0x01]), Err(BlobError::Unterminated { at: 1 }));
        let above_64_bits = [0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0xff];
        assert_eq!(list(&above_64_bits), Err(BlobError::TooLarge { at: 0 }));
        let mut run_of_2_to_62 = Vec::new();
        push_number(&mut run_of_2_to_62, 1 << 63);
        push_number(&mut run_of_2_to_62, 1);
        assert_eq!(
            run_length_list_of(&run_of_2_to_62, 4),
            Err(BlobError::Count { expected: 4, found: 1 << 62 })
        );
        assert_eq!(run_length_list_of(&[0x84], 2), Err(BlobError::CutShort { found: 0 }));
        assert_eq!(run_length_list_of(&[0x85, 0x81], 2), Err(BlobError::CutShort { found: 0 }));
        let too_few = Err(BlobError::Count { expected: 3, found: 2 });
        assert_eq!(run_length_list_of(&[0x84, 0x81], 3), too_few);
        assert_eq!(list_of(&[0x81, 0x82], 3), too_few);
    }

    proptest! {
        #[test]
        fn lists_come_back(numbers in proptest::collection::vec(any::<u64>(), 0..200)) {
            prop_assert_eq!(list_of(&encode_list(&numbers), numbers.len()), Ok(numbers));
        }

        #[test]
        fn run_length_lists_come_back(
            runs in proptest::collection::vec((any::<u64>(), 1..40_usize), 0..40)
        ) {
            let numbers: Vec<u64> =
                runs.iter().flat_map(|(number, count)| vec![*number; *count]).collect();
            let blob = encode_run_length_list(&numbers);
            prop_assert_eq!(run_length_list_of(&blob, numbers.len()), Ok(numbers));
        }

        #[test]
        fn any_bytes_are_read_or_refused(
            blob in proptest::collection::vec(any::<u8>(), 0..200), expected in 0..50_usize
        ) {
            if let Ok(numbers) = list(&blob) {
                prop_assert_eq!(list(&encode_list(&numbers)), Ok(numbers));
            }
            if let Ok(numbers) = run_length_list_of(&blob, expected) {
                prop_assert_eq!(numbers.len(), expected);
            }
        }
    }
}
