//! What follows the message of a TPU program that does not fit: what the bytes are made of, and the
//! largest allocations.

use super::amount;
use super::finding::{Allocation, Part};
use super::lines::bare;
use super::message::readable;

/// Allocations that are kept; the compiler lists twenty.
const MOST_ALLOCATIONS: usize = 20;

enum Section {
    Before,
    Total,
    Between,
    Allocations,
}

/// Reads both, as far as they are there. They end where the next message of this kind begins.
pub fn read(after: &[u8]) -> (Vec<Part>, Vec<Allocation>) {
    let (mut parts, mut allocations) = (Vec::new(), Vec::<Allocation>::new());
    let mut section = Section::Before;
    for line in after.split(|byte| *byte == b'\n').skip(1) {
        let line = String::from_utf8_lossy(bare(line));
        let line = line.trim();
        if line.contains("Ran out of memory") {
            break;
        }
        if line.starts_with("Total ") && line.contains(" usage >= ") {
            section = Section::Total;
        } else if line.starts_with("Largest program allocations") {
            section = Section::Allocations;
        } else if matches!(section, Section::Total) {
            match part(line) {
                Some(part) => parts.push(part),
                None => section = Section::Between,
            }
        } else if matches!(section, Section::Allocations) {
            match size(line) {
                Some(_) if allocations.len() == MOST_ALLOCATIONS => break,
                Some(bytes) => allocations.push(Allocation { bytes, ..Allocation::default() }),
                None => {
                    if let Some(last) = allocations.last_mut() {
                        fact(last, line);
                    }
                }
            }
        }
    }
    (parts, allocations)
}

/// `program          63.80G`
fn part(line: &str) -> Option<Part> {
    let (name, size) = line.rsplit_once([' ', '\t'])?;
    let name = name.trim().to_owned();
    Some(Part { bytes: amount::bytes(size)?, name }).filter(|part| !part.name.is_empty())
}

/// `1. Size: 2.00G`
fn size(line: &str) -> Option<u64> {
    let (number, size) = line.split_once(". Size: ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { amount::bytes(size) } else { None }
}

fn fact(allocation: &mut Allocation, line: &str) {
    let Some((name, value)) = line.split_once(": ") else { return };
    let text = || Some(readable(value.as_bytes()));
    match name {
        "Operator" => allocation.operator = text(),
        "Shape" => allocation.shape = text(),
        "Unpadded size" => allocation.unpadded_bytes = amount::bytes(value),
        "XLA label" => allocation.label = text(),
        "Allocation type" => allocation.allocation_type = text(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\n\nTotal hbm usage >= 12.75G:\n    reserved        256.00M \n    \
        program          10.50G \n    arguments         2.00G \n\nOutput size 1.00G; shares 1.00G with \
        arguments.\n\nProgram hbm requirement 10.50G:\n    global            2.0M\n\n  Largest program \
        allocations in hbm:\n\n  1. Size: 4.00G\n     Operator: op_name=\"jit(train)/dot\" \
        source_line=7\n     Shape: bf16[64,2048,3]{2,1,0:T(8,128)}\n     Unpadded size: 96.00M\n     \
        Extra memory due to padding: 3.91G (42.7x expansion)\n     XLA label: fusion.7 = fusion(p.1)\n     \
        Allocation type: HLO temp\n     ==========================\n\n  2. Size: 64.0K\n     Shape: \
        f32[128,6]{1,0}\n";

    #[test]
    fn parts_and_allocations_are_read() {
        let expected_part = |name: &str, bytes| Part { name: name.to_owned(), bytes };
        for listing in [
            LISTING.to_owned(),
            LISTING.replace('\n', "\r\n"),
            LISTING.replace('\n', "\n[rank0]: "),
        ] {
            let (parts, allocations) = read(listing.as_bytes());
            assert_eq!(
                parts,
                [
                    expected_part("reserved", 256 << 20),
                    expected_part("program", 21 << 29),
                    expected_part("arguments", 2 << 30)
                ]
            );
            assert_eq!(allocations.len(), 2);
            let first = &allocations[0];
            assert_eq!((first.bytes, first.unpadded_bytes), (4 << 30, Some(96 << 20)));
            assert_eq!(first.operator.as_deref(), Some("op_name=\"jit(train)/dot\" source_line=7"));
            assert_eq!(first.shape.as_deref(), Some("bf16[64,2048,3]{2,1,0:T(8,128)}"));
            assert_eq!(first.label.as_deref(), Some("fusion.7 = fusion(p.1)"));
            assert_eq!(first.allocation_type.as_deref(), Some("HLO temp"));
            assert_eq!((allocations[1].bytes, allocations[1].unpadded_bytes), (64 << 10, None));
        }
    }

    #[test]
    fn what_belongs_to_the_next_message_is_left_to_it() {
        let two = format!("\nRan out of memory in memory space vmem.\n{LISTING}");
        assert_eq!(read(two.as_bytes()), (Vec::new(), Vec::new()));
        assert_eq!(read(b""), (Vec::new(), Vec::new()));
    }
}
