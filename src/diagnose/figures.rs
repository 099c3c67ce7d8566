//! Amounts that a line states in its own words: what was asked for, what is there, what is free, what is used.
//!
//! What an amount is stands behind it (`8.5 GiB free`), or before it (`Free GPU memory (GiB): 8.5`). An amount of which the
//! line does not say what it is, is none.

use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

use super::amount;
use super::finding::{Device, Finding, Kind};
use super::message::regex;
use super::origin;
use super::streams::LogRegion;

/// Bytes before an amount in which the words lie that say what it is.
const BEFORE: usize = 100;
/// Lines before a message and behind it in which its figures may stand.
const LINES_BEFORE: usize = 2;
const LINES_BEHIND: usize = 8;
/// Bytes of such a line.
const LONGEST: usize = 400;

/// What a line states, in bytes, and of which device.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StatedFigures {
    requested: Option<u64>,
    free: Option<u64>,
    used: Option<u64>,
    limit: Option<u64>,
    device_index: Option<u64>,
    instance: Option<String>,
}

impl StatedFigures {
    /// Those of a message.
    pub fn of(finding: &Finding) -> Self {
        Self {
            requested: finding.requested_bytes,
            free: finding.free_bytes,
            used: finding.used_bytes,
            limit: finding.limit_bytes,
            device_index: finding.device_index,
            instance: finding.instance.clone(),
        }
    }

    /// Gives them to a finding that does not have them.
    pub fn complete(self, finding: &mut Finding) {
        finding.requested_bytes = finding.requested_bytes.or(self.requested);
        finding.free_bytes = finding.free_bytes.or(self.free);
        finding.used_bytes = finding.used_bytes.or(self.used);
        finding.limit_bytes = finding.limit_bytes.or(self.limit);
        finding.device_index = finding.device_index.or(self.device_index);
        finding.instance = finding.instance.take().or(self.instance);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FigureName {
    Requested,
    Free,
    Used,
    Limit,
}

static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?<number>[0-9]+(?:[.,][0-9]+)*)(?:[ -]?(?<unit>[KMGTP]i?[Bb]?|[kmgtp]i?[Bb]|B|[KMGTkmgt]i?[Bb]ytes?|(?i:kilo|mega|giga|tera)bytes?|[Bb]ytes?))?\b",
    )
});

/// Behind an amount.
static BEHIND: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\A[\s)]{0,2}(?:(?:of|is|are|was|were|has been|currently|already|still|gpu|device|cuda|host|system|physical|virtual|video|memory|vram|ram) ){0,3}(?:(?<free>free|available|avail|left|remain(?:s|ing|ed)?|unused)|(?<limit>total|capacity|allowed|limit|maximum)|(?<used>used|in use|allocated|occupied)|(?<requested>requested|required|needed))\b",
    )
});
/// Behind an amount that is more than the one behind these words.
static MORE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\A[\s)]{0,3}(?:(?:of|physical|virtual|memory|is|was|which|used) ){0,3}(?:exceed(?:s|ing|ed (?:the|its|limit))|>|(?:more|larger|greater|higher) than|over the|above the|beyond the)",
    )
});
/// Behind a part of a whole whose words say that it is memory in use.
static PART: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\A (?:of|out of) [0-9.,]+ ?[KMGT]?i?B (?:of )?(?:physical |virtual |system |gpu )?(?:memory|ram)\b",
    )
});
/// Between an amount and the whole that it is of.
static OF_WHOLE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\A\s*(?:/|of|out of)\s*(?:a |the )?(?:total )?\z"));

/// Before an amount: the last of them counts.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)(?<limit>\b(?:max(?:imum)? (?:\w+ ){0,2}size|(?:memory|heap|pool|device) size|limit\w*|capacity|total|max(?:imum)?|budget|quota|allowed)\b|exceed(?:s|ing|ed)?\b)|(?<free>\b(?:free|available|avail|remaining|left|unused)\b)|(?<used>\b(?:used|usage|in use|using|allocated|consum\w+|occupied|peak (?:\w+ )?memory|rss|would use)\b|running\b)|(?<requested>\b(?:(?:pre)?allocat(?:e|ing)|(?:m|re|c|mm)?alloc(?:ation)?(?: of| for)?(?: size)?|size|request(?:ed|ing|s)?|requir(?:es?|ed|ing)|needs?|needed|wants?|wanted|asked for|reserv(?:e|ing)|m?map|commit|block of)\b)",
    )
});
static UNIT: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)[(\[](?:in )?(?<unit>[kmgt]i?b|(?:kilo|mega|giga)?bytes)[)\]][^0-9]{0,6}\z")
});
/// What ends the reach of a name.
static SENTENCE_END: LazyLock<Regex> = LazyLock::new(|| regex(r"[,;]|[.!?]\s"));

/// Which of several devices.
static INDEX: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:(?:gpu|xpu|npu|mlu|hpu|device|dev)[ _]?(?:id|index|ordinal|number|no\.?)?\s?[:=#(]?\s?(?:id\s?[:=]\s?)?|(?:cuda|hip|rocm|xpu|npu|gpu|mlu|hpu|musa):)(?<index>[0-9]{1,3})(?:[^0-9.%\w/]|[.](?:[^0-9]|\z)|\z)",
    )
});

/// What a line states.
pub fn stated(line: &[u8]) -> StatedFigures {
    let mut figures = StatedFigures::default();
    let mut end = 0;
    let mut last_unit = String::new();
    let mut last_name = None;
    for found in AMOUNT.captures_iter(line) {
        let Some(whole) = found.get(0) else { continue };
        let start = whole.start().saturating_sub(BEFORE).max(end);
        let gap = line.get(start..whole.start()).unwrap_or_default();
        let behind = line.get(whole.end()..).unwrap_or_default();
        if behind.starts_with(b"%") || behind.starts_with(b" %") {
            continue;
        }
        let number = word(&found, "number");
        let unit = Some(word(&found, "unit")).filter(|unit| !unit.is_empty());
        let Some(unit) = unit.or_else(|| unit_of(&number, gap, behind, &last_unit)) else {
            continue;
        };
        let is_of_whole = end > 0 && OF_WHOLE.is_match(gap);
        let is_pair = is_of_whole && last_name.is_some();
        let name = if is_pair { Some(FigureName::Limit) } else { name_of(gap, behind, last_name) };
        let bytes = amount::bytes(&format!("{number} {unit}"));
        (end, last_unit, last_name) = (whole.end(), unit, name);
        let place = match name {
            Some(FigureName::Requested) => &mut figures.requested,
            Some(FigureName::Free) => &mut figures.free,
            Some(FigureName::Used) => &mut figures.used,
            Some(FigureName::Limit) => &mut figures.limit,
            None => continue,
        };
        *place = place.or(bytes);
    }
    figures
}

fn word(found: &Captures, name: &str) -> String {
    let bytes = found.name(name).map_or(&b""[..], |word| word.as_bytes());
    String::from_utf8_lossy(bytes).into_owned()
}

/// The unit of a number that has none beside it: that of its name (`Free (GiB): 8`), of the amount that it is a part of, or of
/// the amount before it. Many digits are bytes; a few may be anything.
fn unit_of(number: &str, gap: &[u8], behind: &[u8], last: &str) -> Option<String> {
    if let Some(named) = UNIT.captures(gap) {
        return Some(word(&named, "unit"));
    }
    let is_long = number.trim_end_matches('0').trim_end_matches('.').parse::<u64>().is_ok()
        && number.len() >= 6;
    let is_named = || gap.ends_with(b": ") && number.len() > 2 && NAME.is_match(gap);
    pair_unit(behind)
        .or_else(|| is_long.then(String::new))
        .or_else(|| Some(last.to_owned()).filter(|last| !last.is_empty() && is_named()))
}

/// The unit of `1.5 GiB` in `0.5/1.5 GiB`, for the number before it.
fn pair_unit(behind: &[u8]) -> Option<String> {
    let rest = behind.strip_prefix(b"/").or_else(|| behind.strip_prefix(b" / "))?;
    let found = AMOUNT.captures(rest)?;
    let is_next = found.get(0).is_some_and(|all| all.start() == 0);
    Some(word(&found, "unit")).filter(|unit| is_next && !unit.is_empty())
}

/// What an amount is, by what stands before it since the last one, and behind it.
fn name_of(gap: &[u8], behind: &[u8], last: Option<FigureName>) -> Option<FigureName> {
    if let Some(found) = BEHIND.captures(behind) {
        return group(&found);
    }
    let named = NAME.captures_iter(gap).filter(|name| {
        let end = name.get(0).map_or(0, |name| name.end());
        !SENTENCE_END.is_match(gap.get(end..).unwrap_or_default())
    });
    let named = named.last().and_then(|name| group(&name));
    // What is more than a limit is in use, as is what is a part of a whole.
    let is_free = named.is_none_or(|name| name == FigureName::Limit);
    if is_free && last.is_none() && (MORE.is_match(behind) || PART.is_match(behind)) {
        return Some(FigureName::Used);
    }
    named
}

fn group(found: &Captures) -> Option<FigureName> {
    let names = [
        ("free", FigureName::Free),
        ("limit", FigureName::Limit),
        ("used", FigureName::Used),
        ("requested", FigureName::Requested),
    ];
    names.into_iter().find(|(name, _)| found.name(name).is_some()).map(|(_, name)| name)
}

/// Takes what a line states into a finding that does not have it.
pub fn take(finding: &mut Finding, line: &[u8]) {
    stated(line).complete(finding);
    let index = || INDEX.captures(line).and_then(|found| found.name("index"));
    number_device(finding, || String::from_utf8_lossy(index()?.as_bytes()).parse().ok());
}

/// Says which of several devices it is, where the message does not.
pub fn number_device(finding: &mut Finding, index: impl FnOnce() -> Option<u64>) {
    if finding.device_index.is_some() || finding.device == Some(Device::Host) {
        return;
    }
    if let Some(index) = index() {
        let name = if finding.device.is_some_and(Device::is_gpu) { "GPU" } else { "device" };
        finding.device_index = Some(index);
        finding.instance.get_or_insert_with(|| format!("{name} {index}"));
    }
}

/// Lines near a message that state the memory of a device.
static OF_DEVICE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)memory|\bmem\b|vram|\bhbm|\b(?:gpu|cuda|device)\b|requested"));
static OF_OTHERS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:cpu|host|system|ram|disk|swap|param\w*|weights?|checkpoint\w*|files?|download\w*|dataset|batch|activations?|after)\b",
    )
});

/// Reads the lines near a message of a device that has no figures of the device. `known` are the lines
/// that messages take, `first` the numbers of those in which they begin.
pub fn take_nearby(finding: &mut Finding, region: &LogRegion, known: &[usize], first: &[u64]) {
    let is_of_device = matches!(
        finding.kind,
        Kind::CudaOutOfMemory
            | Kind::GpuOutOfMemory
            | Kind::GpuLibraryOutOfMemory
            | Kind::ServerStartMemory
            | Kind::AcceleratorOutOfMemory
    );
    let own = region.line_of(finding.line);
    let has_any = |of: &Finding| of.free_bytes.or(of.used_bytes).or(of.limit_bytes).is_some();
    let Some(own) = own.filter(|_| is_of_device && !has_any(finding)) else { return };
    let behind: Vec<usize> = (own + 1..=own + LINES_BEHIND).collect();
    let before: Vec<usize> = (own.saturating_sub(LINES_BEFORE)..own).rev().collect();
    for lines in [behind, before] {
        for line in lines {
            if first.binary_search(&region.number(line)).is_ok() {
                break;
            }
            if known.binary_search(&line).is_ok() {
                continue;
            }
            let text = region.plain(line);
            let text = text.get(..text.len().min(LONGEST)).unwrap_or_default();
            if OF_DEVICE.is_match(text)
                && !OF_OTHERS.is_match(text)
                && !is_of_another(finding, region, own, line)
            {
                take(finding, text);
            }
        }
        if has_any(finding) {
            break;
        }
    }
}

/// Whether another writer wrote a line, as far as what stands before the lines tells.
fn is_of_another(finding: &Finding, region: &LogRegion, own: usize, line: usize) -> bool {
    let writer = |line| region.names(line).filter(|(part, _)| part.is_of_writer()).last();
    let key = |line| writer(line).map(|(part, _)| part.key);
    let other = origin::of(region, line);
    let is_other = finding
        .origin
        .as_deref()
        .zip(other.as_deref())
        .is_some_and(|(own, other)| own.is_other(other));
    is_other || key(line).is_some_and(|of_line| key(own) != Some(of_line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(
        requested: impl Into<Option<u64>>,
        free: impl Into<Option<u64>>,
        used: impl Into<Option<u64>>,
        limit: impl Into<Option<u64>>,
    ) -> StatedFigures {
        StatedFigures {
            requested: requested.into(),
            free: free.into(),
            used: used.into(),
            limit: limit.into(),
            ..StatedFigures::default()
        }
    }

    #[test]
    fn amounts_are_what_the_words_beside_them_say() {
        const G: u64 = 1 << 30;
        const M: u64 = 1 << 20;
        for (line, expected) in [
            (
                "job is over memory limit of 2048 megabytes. Peak usage: 2103 megabytes.",
                figures(None, None, 2103 * M, 2048 * M),
            ),
            (
                "Memory limit of 512 MiB exceeded with 531 MiB used.",
                figures(None, None, 531 * M, 512 * M),
            ),
            ("4.5 GB of 4 GB physical memory used", figures(None, None, 9 * G / 2, 4 * G)),
            ("memory allocation of 123456789 bytes failed", figures(123_456_789, None, None, None)),
            ("cannot allocate vector of size 1.5 Gb", figures(3 * G / 2, None, None, None)),
            (
                "cannot allocate 4194304-byte block (8589934592 in use)",
                figures(4_194_304, None, 8_589_934_592, None),
            ),
            ("usage: 97.84% (6 GiB/8 GiB)", figures(None, None, 6 * G, 8 * G)),
            ("Free memory: 1.5/8 GiB", figures(None, 3 * G / 2, None, 8 * G)),
            ("Total GPU memory (GiB): 8.0", figures(None, None, None, 8 * G)),
            (
                "Memory usage: 1048576 bytes free, 8589934592 bytes total.",
                figures(None, M, None, 8 * G),
            ),
            ("Out of memory. Requested 64 MB; Free 32 MB", figures(64 * M, 32 * M, None, None)),
            (
                "would use 2 GiB (attempt to allocate chunk of 4194304 bytes), maximum: 1 GiB",
                figures(4 * M, None, 2 * G, G),
            ),
            ("requested 4 GiB, but only 2 GiB are available", figures(4 * G, 2 * G, None, None)),
            ("step 3 of 4, 97 % used, cuda:1, 8b, version 12.4", figures(None, None, None, None)),
        ] {
            assert_eq!(stated(line.as_bytes()), expected, "{line}");
        }
    }
}
