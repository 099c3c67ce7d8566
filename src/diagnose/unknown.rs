//! Lines that say that memory does not suffice, in words that no [`super::message::Message`] has.
//!
//! What such a line says for certain is its words; the amount that it asks for and the device are taken
//! where they are named. Lines of code, comments, and sentences that only consider the case are none.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::amount;
use super::finding::{Device, Finding, Kind};
use super::message::{pattern, readable, regex};

/// Bytes of a line before and behind the words that are kept of a very long one.
const BEFORE: usize = 500;
const BEHIND: usize = 1500;

/// The words.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"(?i:(?:out[ _-]?of|insufficient|not enough|exhausted)[ _-]?(?:(?:gpu|cuda|hip|device|host|system|virtual|video|shared|local|tile|on-chip)[ _-])?memory\w*)",
        r"(?i:(?:can ?not|can't|could not|couldn't|unable to|failed to) (?:allocate|reserve|map) (?:[\w.,]+ ){0,5}memory)",
        r"(?i:memory[ _]allocation[ _](?:failed|failure|error|err)|cudaErrorMemoryAllocation)",
        r"(?i:exceed(?:s|ed|ing)? (?:[\w.,]+ ){0,4}memory)",
        r"(?i:can't reduce memory use below)",
        r"\w+_ALLOC_FAILED\b",
        r"\bbad_alloc\b|\bbad allocation\b",
        r"(?i:RESOURCE[ _]EXHAUSTED)",
        r"\bOOM(?:[ -]?[Kk]illed|[ -]?[Ee]rror| when | while |[.!:]? *\r?$)",
        r"\b(?:[Dd]etected|[Hh]it|[Gg]ot|due to|[Cc]aused by) (?:an? )?OOM\b",
    ];
    regex(&words.join("|"))
});

/// What stands before the words in a sentence that only considers the case, and in code.
static NOT_SAID: LazyLock<Regex> = LazyLock::new(|| {
    let before = [
        r"(?i:\b(?:avoid\w*|prevent\w*|if|when|whenever|unless|in (?:this |that )?case|handl\w+|catch\w*|retr\w+|may|might|could|can|would|except|raise|throw|assert|import|for|on|no|not|never|without|0)\b(?:[^.:;]|::|\.\w)*$)",
        // A string in code.
        r#"[(=,\[]\s*[A-Za-z]{0,2}["'][^"']*$"#,
        r"^\s*(?:#(?:[^#]|$)|//|/\*|\*|\|)",
        r"^\s*(?:[Hh]int:|def |class |return |from |except\b|elif |\+|- )",
        r"--?\w[\w-]*$",
    ];
    regex(&before.join("|"))
});

/// What stands behind them where nothing is exhausted, or something other than memory; nothing behind a
/// colon is the head of a message that was wrapped.
static OTHER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i:\A\s*(?::\s*\z|on 0 |errors?\b|exceptions?\b|handl|prot|guard|recover|score|\w*\x22?\s*[:=(]\s*(?:true|false)|:? ?From /job:|:.*\b(?:received message larger|quota|rate limit|too many requests|file descriptor|disk|no space left)))",
    )
});

static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "(?i:\\b(?:allocate|allocating|request(?:ed)?|reserve|size|needs?)\\b)[^0-9\r\n]{0,40}\
             ([0-9][0-9,.]*\\s*(?:[kKMGTP]i?B|B|bytes))\\b",
    )
});

static DEVICE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?<rocm>(?i:rocm|\bhip|miopen|rccl))|(?<xpu>\b(?:XPU|xpu|SYCL|level_zero)\b)|(?<npu>\b(?:NPU|npu|Ascend|CANN|HCCL)\b)|(?<mps>\b(?:MPS|mps|Metal)\b)|(?<cuda>(?i:cuda|cudnn|cublas|\bgpu|nccl))|(?<tpu>\b(?:TPU|tpu|libtpu|hbm|HBM|vmem)\b)|(?<ipu>(?i:poplar|popart|poptorch|poplibs|\bipu))|(?<host>\bJava heap|\bOOM[ -]?[Kk]ill|\bRAM\b|/dev/shm)",
    )
});

/// Whether what stands before the words in their line makes them a case that is only considered, or code.
pub fn is_considered(before: &[u8]) -> bool {
    NOT_SAID.is_match(before.get(before.len().saturating_sub(BEFORE)..).unwrap_or_default())
}

/// Where in a line the words stand, if it says that memory does not suffice.
fn place(line: &[u8]) -> Option<usize> {
    WORDS.find_iter(line).find_map(|words| {
        let (before, behind) = (line.get(..words.start())?, line.get(words.end()..)?);
        let is_said = !is_considered(before) && !OTHER.is_match(behind);
        is_said.then_some(words.start())
    })
}

/// What the text of a line says, if it says that memory does not suffice; what stands before the text may name the device.
pub fn read((before, line): (&[u8], &[u8])) -> Option<Finding> {
    let place = place(line)?;
    let end = line.len().min(place.saturating_add(BEHIND));
    let line = line.get(place.saturating_sub(BEFORE)..end).unwrap_or_default();
    let requested = AMOUNT.captures(line).and_then(|amount| amount.get(1));
    Some(Finding {
        text: readable(line),
        device: device(line).or_else(|| device(before)),
        requested_bytes: requested.and_then(|amount| amount::of_bytes(amount.as_bytes())),
        ..Finding::new(Kind::UnknownMemoryMessage)
    })
}

fn device(line: &[u8]) -> Option<Device> {
    let names = DEVICE.captures(line)?;
    let devices = [
        ("rocm", Device::Rocm),
        ("xpu", Device::Xpu),
        ("npu", Device::Npu),
        ("mps", Device::Mps),
        ("cuda", Device::Cuda),
        ("tpu", Device::Tpu),
        ("ipu", Device::Ipu),
        ("host", Device::Host),
    ];
    devices.into_iter().find(|(group, _)| names.name(group).is_some()).map(|(_, device)| device)
}
