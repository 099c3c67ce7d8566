//! The listing after the message that an XLA module does not fit (xla.md, section 8): the parts of its bytes, and the
//! largest allocations.

use std::sync::LazyLock;

use memchr::memrchr;
use regex::bytes::Regex;

use super::amount;
use super::finding::{ListedAllocation, Packing, Percent, UsedPart};
use super::message::{pattern, readable};

/// Allocations that are kept; the compiler lists twenty.
const MOST_ALLOCATIONS: usize = 20;
/// Parts that are kept of each list; the compiler knows less than ten.
const MOST_PARTS: usize = 40;

/// What there is of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct XlaListing {
    /// `Total hbm usage >= 19.71G`.
    pub total_bytes: Option<u64>,
    /// What that is made of.
    pub parts: Vec<UsedPart>,
    /// `Program hbm requirement 19.46G`: what that is made of.
    pub program: Vec<UsedPart>,
    /// What XLA says of the program's packing.
    pub packing: Option<Packing>,
    /// The largest allocations.
    pub allocations: Vec<ListedAllocation>,
    /// Bytes of the results, and of those that share memory with arguments.
    pub outputs: (Option<u64>, Option<u64>),
}

enum ListingSection {
    /// Before the lists and between them.
    None,
    Total,
    Program,
    Allocations,
}

/// Reads all of it that is there. It ends where the next message of this kind begins.
pub fn read(after: &[u8]) -> XlaListing {
    let mut listing = XlaListing::default();
    let mut section = ListingSection::None;
    // Facts belong to the allocation above them until a rule closes it.
    let mut is_open = false;
    for line in lines_of(after) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if text.contains("Ran out of memory") || text.contains("while trying to allocate") {
            break;
        }
        if let Some((_, total)) =
            text.split_once(" usage >= ").filter(|_| text.starts_with("Total "))
        {
            listing.total_bytes = amount::bytes(total.trim_end_matches(':'));
            section = ListingSection::Total;
        } else if text.starts_with("Program ") && text.contains(" requirement ") {
            section = ListingSection::Program;
        } else if text.starts_with("Largest program allocations") || text == "Peak buffers:" {
            section = ListingSection::Allocations;
        } else if let Some(outputs) = OUTPUTS.captures(line) {
            let bytes = |group| amount::of_bytes(outputs.get(group)?.as_bytes());
            listing.outputs = (bytes(1), bytes(2));
            section = ListingSection::None;
        } else if text.starts_with("total fragmentation:") {
            listing.packing = packing(line);
        } else {
            match section {
                ListingSection::None => {}
                ListingSection::Total => add_part(text, &mut listing.parts, &mut section),
                ListingSection::Program => {
                    listing.packing = packing(line).or(listing.packing);
                    add_part(text, &mut listing.program, &mut section);
                }
                ListingSection::Allocations if text.starts_with("====") => is_open = false,
                ListingSection::Allocations => match size(text) {
                    Some(_) if listing.allocations.len() == MOST_ALLOCATIONS => break,
                    Some(size) => {
                        let bytes = amount::bytes(size);
                        is_open = bytes.is_some();
                        let new = bytes
                            .map(|bytes| ListedAllocation { bytes, ..ListedAllocation::default() });
                        listing.allocations.extend(new);
                    }
                    None => {
                        let last = listing.allocations.last_mut().filter(|_| is_open);
                        if let Some(last) = last {
                            fact(last, text);
                        }
                    }
                },
            }
        }
    }
    listing
}

/// The lines of a listing behind the one in which it begins. A last one that is not ended may be cut within a number:
/// it is left out, unless its amount has a unit.
pub fn lines_of(after: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ended = memrchr(b'\n', after).map_or(0, |newline| newline.saturating_add(1));
    let (ended, last) = after.split_at_checked(ended).unwrap_or_default();
    let last = (!ended.is_empty() && AMOUNT_WITH_UNIT.is_match(last)).then_some(last);
    let ended = ended.strip_suffix(b"\n").unwrap_or(ended);
    ended.split(|byte| *byte == b'\n').skip(1).chain(last)
}

/// What stands in parentheses behind an amount is about it.
static AMOUNT_WITH_UNIT: LazyLock<Regex> = LazyLock::new(|| {
    pattern("(?:^|\\s)[0-9][0-9.,]*(?:\\s?(?:[kKMGTP]i?B?|B|bytes))\\s*(?:$|\\s\\()")
});

/// `program          63.80G`; a line without an amount ends the list.
fn add_part(line: &str, parts: &mut Vec<UsedPart>, section: &mut ListingSection) {
    let part_of = |line: &str| {
        let (name, size) = line.trim_end().rsplit_once([' ', '\t'])?;
        Some(UsedPart { bytes: amount::bytes(size)?, name: readable(name.as_bytes()) })
    };
    // What stands in parentheses is about the part, behind its amount or before.
    let before = line.split_once(" (").map_or(line, |(part, _)| part).trim_end();
    if before.ends_with("unknown size") || line.ends_with("unknown size") {
        return;
    }
    let part = part_of(before).or_else(|| part_of(line));
    // What is there already is of another writer's listing, or of another memory.
    let is_known = |part: &UsedPart| parts.iter().any(|other| other.name == part.name);
    if part.as_ref().is_some_and(is_known) {
        return;
    }
    match part.filter(|part| !part.name.is_empty() && parts.len() < MOST_PARTS) {
        Some(part) => parts.push(part),
        None => *section = ListingSection::None,
    }
}

/// `Output size 6.25G; shares 6.25G with arguments.`
static OUTPUTS: LazyLock<Regex> =
    LazyLock::new(|| pattern("^\\s*Output size ({size})(?:; shares ({size}) with arguments)?"));
static UTILIZATION: LazyLock<Regex> =
    LazyLock::new(|| pattern("(?<percent>[0-9.]{1,10})% utilization"));
static UNPADDED: LazyLock<Regex> = LazyLock::new(|| pattern("Unpadded \\((?<bytes>{size})\\)"));
static PADDED: LazyLock<Regex> = LazyLock::new(|| pattern("\\bPadded \\((?<bytes>{size})\\)"));
static FRAGMENTATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern("(?<percent>[0-9.]{1,10})% fragmentation(?: \\((?<bytes>{size})\\))?")
});
static TOTAL_FRAGMENTATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern("total fragmentation: (?<bytes>{size})(?: \\((?<percent>[0-9.]{1,10})%\\))?")
});

/// What a line says of how well the memory is packed, if anything.
fn packing(line: &[u8]) -> Option<Packing> {
    let text = |regex: &Regex, group| {
        let found = regex.captures(line)?.name(group)?.as_bytes();
        Some(String::from_utf8_lossy(found).into_owned())
    };
    let bytes = |regex: &Regex| amount::bytes(&text(regex, "bytes")?);
    let percent = |regex: &Regex| Percent::of(&text(regex, "percent")?);
    let packing = Packing {
        utilization_percent: percent(&UTILIZATION),
        unpadded_bytes: bytes(&UNPADDED),
        padded_bytes: bytes(&PADDED),
        fragmentation_percent: percent(&FRAGMENTATION).or_else(|| percent(&TOTAL_FRAGMENTATION)),
        fragmentation_bytes: bytes(&FRAGMENTATION).or_else(|| bytes(&TOTAL_FRAGMENTATION)),
    };
    Some(packing).filter(|packing| *packing != Packing::default())
}

/// The amount of `1. Size: 2.00G`, on a GPU of `Size: 2.00GiB`, where the line is such a one.
fn size(line: &str) -> Option<&str> {
    let (number, size) = line.split_once("Size: ")?;
    let number = number.trim_end().trim_end_matches('.');
    Some(size).filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn fact(allocation: &mut ListedAllocation, line: &str) {
    let Some((name, value)) = line.split_once(": ") else { return };
    let text = || Some(readable(value.as_bytes()));
    match name {
        "Operator" => allocation.operator = text(),
        "Shape" => allocation.shape = text(),
        "Entry Parameter Subshape" => {
            allocation.shape = text();
            allocation.allocation_type = Some("entry parameter".to_owned());
        }
        "Unpadded size" => allocation.unpadded_bytes = amount::bytes(value),
        // `16.00M (1.0x expansion)`
        "Extra memory due to padding" => {
            allocation.padding_bytes = amount::bytes(value.split(" (").next().unwrap_or(value));
        }
        "XLA label" | "XLA Label" => allocation.label = text(),
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
        let expected_part = |name: &str, bytes| UsedPart { name: name.to_owned(), bytes };
        for listing in [LISTING.to_owned(), LISTING.replace('\n', "\r\n")] {
            let XlaListing { parts, allocations, .. } = read(listing.as_bytes());
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
            assert_eq!(first.padding_bytes, Some(4_198_330_532));
            assert_eq!((allocations[1].bytes, allocations[1].unpadded_bytes), (64 << 10, None));
        }
    }

    #[test]
    fn what_belongs_to_the_next_message_is_left_to_it() {
        let two = format!("\nRan out of memory in memory space vmem.\n{LISTING}");
        assert_eq!(read(two.as_bytes()), XlaListing::default());
        assert_eq!(read(b""), XlaListing::default());
    }

    fn packing_of(line: &str) -> Packing {
        packing(line.as_bytes()).expect("a claim")
    }

    #[test]
    fn packing_is_read_of_all_releases() {
        let new = packing_of(
            "HLO temp 19.46G (99.8% utilization: Unpadded (1.50G) Padded (2.00G), 4.7% fragmentation (930.25M))",
        );
        assert_eq!(
            (new.utilization_percent, new.fragmentation_percent),
            (Some(Percent(9980)), Some(Percent(470)))
        );
        assert_eq!((new.unpadded_bytes, new.padded_bytes), (Some(3 << 29), Some(2 << 30)));
        assert_eq!(new.fragmentation_bytes, Some(975_437_824));
        let old = packing_of("HLO temp 17.08G (92.8% utilization, 0.3% fragmentation (53.61M))");
        assert_eq!((old.utilization_percent, old.padded_bytes), (Some(Percent(9280)), None));
        assert_eq!(old.fragmentation_bytes, Some(56_214_159));
        let gpu = packing_of("              total fragmentation:  680.30MiB (4.60%)");
        assert_eq!(gpu.fragmentation_percent, Some(Percent(460)));
        assert_eq!(gpu.fragmentation_bytes, Some(713_346_253));
    }

    #[test]
    fn words_in_parentheses_before_an_amount_do_not_end_a_list() {
        let listing = read(
            b"\nTotal hbm usage >= 7.00G:\n  reserved  1.00G\n  heap allocations (without fragmentation)   6.00G\n  \
              arguments  8B (of 2)\n",
        );
        let part = |name: &str, bytes| UsedPart { name: name.to_owned(), bytes };
        let heap = part("heap allocations (without fragmentation)", 6 << 30);
        assert_eq!(listing.parts, [part("reserved", 1 << 30), heap, part("arguments", 8)]);
    }

    #[test]
    fn a_last_line_that_is_cut_within_a_number_is_left_out() {
        let names = |text: &str| -> Vec<String> {
            read(text.as_bytes()).parts.into_iter().map(|part| part.name).collect()
        };
        let list = "\nTotal hbm usage >= 7.00G:\n  reserved  1.00G\n  program  ";
        assert_eq!(names(&format!("{list}10")), ["reserved"]);
        assert_eq!(names(&format!("{list}10.5")), ["reserved"]);
        assert_eq!(names(&format!("{list}10.50G")), ["reserved", "program"]);
        assert_eq!(names(&format!("{list}10.50G (100.0% uti")), ["reserved", "program"]);
        let sizes = |end: &str| {
            let text = format!("\n  Largest program allocations in hbm:\n\n  1. Size: 4{end}");
            read(text.as_bytes()).allocations.len()
        };
        assert_eq!((sizes(""), sizes("K"), sizes("\n")), (0, 1, 1));
    }

    #[test]
    fn what_has_no_size_is_left_out_with_its_facts() {
        let listing = read(
            b"\nTotal hbm usage >= 1.0K:\n  reserved  unknown size\n  new thing  1B\n\n  Largest program allocations \
              in hbm:\n1. Size: 5B\n===\nShape: no\n====\nShape: no\n2. Size: unknown size\nShape: f32[2]\n",
        );
        assert_eq!(listing.parts, [UsedPart { name: "new thing".to_owned(), bytes: 1 }]);
        assert_eq!((listing.total_bytes, listing.allocations.len()), (Some(1024), 1));
        assert_eq!(listing.allocations[0].shape.as_deref(), Some("no"), "until the rule");
    }
}
