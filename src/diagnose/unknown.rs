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
        // Of a Tenstorrent core.
        r"(?i:(?:clash(?:es)? with|exceed(?:s|ed)?|beyond) (?:[\w.,-]+ ){0,4}L1 (?:buffers|size|memory)\b)",
        r"\w+_ALLOC_FAILED\b",
        r"\bbad_alloc\b|\bbad allocation\b",
        r"(?i:RESOURCE[ _]EXHAUSTED)",
        r"(?i:(?:killed|terminated|ended|reaped) by (?:the )?(?:[\w-]+ ){0,2}(?:oom|out[ -]of[ -]memory)[ -](?:killer|daemon))",
        r"\bOOM(?:[ -]?[Kk]illed|[ -]?[Ee]rror| when | while |[.!:]? *\r?$)",
        r"\b(?:[Dd]etected|[Hh]it|[Gg]ot|due to|[Cc]aused by) (?:an? )?OOM\b",
    ];
    regex(&words.join("|"))
});

/// What stands before the words in a sentence that only considers the case, and in code.
static NOT_SAID: LazyLock<Regex> = LazyLock::new(|| {
    let before = [
        r"(?i:\b(?:avoid\w*|prevent\w*|if|when|whenever|unless|in (?:this |that )?case|handl\w+|catch\w*|retr\w+|fix(?:e[sd]|ing)?|against|why|how|may|might|could|can|would|except|raise|throw|assert|import|for|on|no|not|never|without)\b(?:[^.:;]|::|\.\w)*$)",
        // `0 tiles`, not `GPU 0` and `step 7.0`.
        r"(?:^|[,:;(\[])\s*0 [^.:;]*$",
        // People write of themselves, and of messages.
        r"(?i:^\W*(?:my|i (?:get|got|am|have|see|run|ran))\s|^\W*as the (?:error|message)\b)[^\r\n]*$",
        // A string in code.
        r#"[(=,\[]\s*[A-Za-z]{0,2}["'][^"']*$"#,
        r#"^\s{4,}[A-Za-z]{0,2}["'][^"']*$"#,
        r"^\s*(?:#(?:[^#]|$)|#{2,6} [^:]*$|//|/\*|\*|\|)",
        // The subject of a commit.
        r"^[*|\\/ ]*[0-9a-f]{7,12} (?:\([^)]*\) )?(?i:docs?|feat|fix|tests?|chore|ci|build|perf|refactor|style|revert|merge|add|update)\b",
        // A remark behind code.
        r"\S\s+(?:#|//)\s+[A-Za-z][^:]*$",
        // A place of a template that is not filled.
        r"\{\{|\$\{|\$labels\b",
        // Frames of a stack, and tests that ran.
        r"^\s*(?:frame #|at [\w.$<>]*$|=== RUN|--- (?:PASS|SKIP)|ok \d|✓|✔)",
        r"^\s*(?:[Hh]int:|def |class |return |from |except\b|elif |\+|- )",
        r"--?\w[\w-]*$",
    ];
    regex(&before.join("|"))
});

/// What stands behind them where nothing is exhausted, or something other than memory; nothing behind a
/// colon is the head of a message that was wrapped.
static OTHER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i:\A\s*(?::\s*\z|on 0 |errors?\b|exceptions?\b|handl|prot|guard|recover|score|(?:\(OOM\) )?(?:killer|daemon|manager)\b|\+0x|\w*\x22?\s*[:=(]\s*(?:true|false)|:? ?From /job:|:.*\b(?:received message larger|quota|rate limit|too many requests|file descriptor|disk|no space left)))",
    )
});

/// A word of small letters that a name goes on before or behind: `test_out_of_memory`, `out_of_memory_handler`. That of a
/// device, and of an error, belong to it.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\A(?:(?:cuda|gpu|hip|xpu|npu|device|host|vram|hbm|err|error|status)_)*(?:out_?of|insufficient|not_enough|exhausted)_?[a-z]*_?memory(?:_?(?:errors?|exceptions?|failure|event))?\z",
    )
});

/// What makes a sentence a question.
static QUESTION: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"\A[^.!?:\r\n]{0,300}\?(?:[\s"')]|\z)"#));

static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "(?i:\\b(?:allocate|allocating|request(?:ed)?|reserve|size|needs?)\\b)[^0-9\r\n]{0,40}\
             ([0-9][0-9,.]*\\s*(?:[kKMGTP]i?B|B|bytes))\\b",
    )
});

static DEVICE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?<rocm>(?i:rocm|\bhip|miopen|rccl))|(?<xpu>\b(?:XPU|xpu|SYCL|level_zero)\b)|(?<npu>\b(?:NPU|npu|Ascend|CANN|HCCL)\b)|(?<tt>\b(?:TT_FATAL|TT_THROW|ttnn|TT-NN|tt[-_]metal|[Tt]enstorrent|Tensix)\b)|(?<mps>\b(?:MPS|mps|Metal)\b)|(?<cuda>(?i:cuda|cudnn|cublas|\bgpu|nccl))|(?<tpu>\b(?:TPU|tpu|libtpu|hbm|HBM|vmem)\b)|(?<ipu>(?i:poplar|popart|poptorch|poplibs|\bipu))|(?<host>\bJava heap|\bOOM[ -]?[Kk]ill|\bRAM\b|/dev/shm)",
    )
});

/// Whether what stands before the words in their line makes them a case that is only considered, or code.
pub fn is_considered(before: &[u8]) -> bool {
    NOT_SAID.is_match(before.get(before.len().saturating_sub(BEFORE)..).unwrap_or_default())
}

/// Whether what stands behind the words makes them a question.
pub fn is_asked(behind: &[u8]) -> bool {
    QUESTION.is_match(behind)
}

/// Whether words in a line are a part of a name in code or of a test.
fn is_of_name(line: &[u8], start: usize, end: usize) -> bool {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let (before, rest) = line.split_at_checked(start).unwrap_or_default();
    let before = before.iter().rev().take_while(|byte| is_of_word(byte)).count();
    let behind = line.get(end..).unwrap_or_default();
    let behind = behind.iter().take_while(|byte| is_of_word(byte)).count();
    let whole = line.get(start.saturating_sub(before)..end.saturating_add(behind));
    let whole = whole.unwrap_or(rest);
    // `TestOutOfMemory`
    let is_test = whole.starts_with(b"Test");
    let is_small = whole.contains(&b'_')
        && !whole.contains(&b' ')
        && whole.iter().any(u8::is_ascii_lowercase)
        && !whole.iter().any(u8::is_ascii_uppercase);
    is_test || is_small && !NAME.is_match(whole)
}

/// Where in a line the words stand, if it says that memory does not suffice.
fn place(line: &[u8]) -> Option<usize> {
    WORDS.find_iter(line).find_map(|words| {
        let (before, behind) = (line.get(..words.start())?, line.get(words.end()..)?);
        let is_said = !is_considered(before)
            && !OTHER.is_match(behind)
            && !is_asked(behind)
            && !is_of_name(line, words.start(), words.end());
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
        ("tt", Device::Tenstorrent),
        ("mps", Device::Mps),
        ("cuda", Device::Cuda),
        ("tpu", Device::Tpu),
        ("ipu", Device::Ipu),
        ("host", Device::Host),
    ];
    devices.into_iter().find(|(group, _)| names.name(group).is_some()).map(|(_, device)| device)
}

#[cfg(test)]
mod tests {
    use super::super::diagnose;

    #[test]
    fn text_that_speaks_of_the_case_is_no_failure() {
        for text in [
            "systemd[1]: Starting Userspace Out-Of-Memory (OOM) Killer...",
            "systemd[1]: Started out-of-memory daemon.",
            "kernel:  ? out_of_memory+0x4a/0x3b0",
            "kernel:  mem_cgroup_out_of_memory+0x9c/0xb0",
            "frame #4: c10::OutOfMemoryError::~OutOfMemoryError() + 0x1a (0x7f in /x/libc10.so)",
            "tests/test_pool.py::test_out_of_memory_is_reported[8] PASSED  [ 50%]",
            "test pool::tests::out_of_memory_is_an_error ... ok",
            "--- PASS: TestOutOfMemory (0.00s)",
            "  ✓ tells that the GPU is out of memory (4 ms)",
            "0a1b2c3 fix CUDA out of memory in the sampler",
            "    Fix out of memory of long inputs",
            "batch=4 # against CUDA out of memory",
            "int most = 8;  // the GPU runs out of memory above it",
            "Why is the GPU out of memory when I train?",
            "What does OOMKilled mean?",
            "My run says \"CUDA error: out of memory\" at step 4",
            "   expr: increase(reason_total{reason=\"OOMKilled\"}[5m]) > 3",
            "  summary: Pod {{ $labels.pod }} was OOMKilled",
            "        \"Not enough memory. Please try to increase --mem-fraction-static.\"",
            "## CUDA out of memory",
        ] {
            assert_eq!(diagnose(text), [], "{text}");
        }
    }

    #[test]
    fn a_failure_in_other_words_is_one() {
        for text in [
            "worker 3 was killed by the OOM killer",
            "The job was terminated by the cgroup out-of-memory killer",
            "GPU 0 is out of memory",
            "status: gpu_out_of_memory",
            "job ended: out_of_memory_error",
            "step 7.0 of rank 2: insufficient device memory",
            "Is anything else running? The GPU is out of memory.",
            "MyCudaOutOfMemoryException: pool 2",
        ] {
            assert_eq!(diagnose(text).len(), 1, "{text}");
        }
    }
}
