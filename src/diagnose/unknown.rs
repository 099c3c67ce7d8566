//! Lines that say that memory does not suffice, in words that no [`super::message::Message`] has.
//!
//! Its figures and the device are taken where they are named; without a device it is not known what failed. Lines of code,
//! comments, and sentences that only consider the case are none.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::finding::{Device, Finding, Kind};
use super::message::{readable, regex};
use super::{device_names, figures};

/// Bytes of a line before and behind the words that are kept of a very long one.
const BEFORE: usize = 500;
const BEHIND: usize = 1500;

/// What memory is called, without the last word.
const WHOSE: &str = "(?:free|available|gpu|cuda|hip|device|host|system|virtual|video|shared|local|global|tile|on-chip|dedicated|physical|graphics|unified|heap|pinned|pre-?allocated|main|cpu|npu|xpu|tpu|hbm|dram|sram|accelerator|vulkan|opencl|metal|workspace|contiguous|scratch|pool|swap|real|allocatable|accessible|and|java|container|cluster|its|your|all|total)";

/// The words.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"(?:out[ _-]?of|insufficient|not[ _-]?enough|exhausted|no (?:more|free|available|remaining))[ _-]?(?:WHOSE[ _-]){0,4}(?:memory|vram\b|ram\b)\w*",
        r"OUT_OF_ME\+|\bENOMEM\b|\bERR_?NO_?MEM\w*|\b(?:cnrtErrorNoMem|CNRT_RET_ERR_NOMEM|NoMemoryError)\b|HSA_STATUS_ERROR_OUT_OF_RESOURCES",
        r"(?:memory|vram|\bram)(?: size)?(?: of)?(?: \w+){0,2}? (?:(?:is|was|are|were) )?(?:insufficient|not (?:be )?(?:enough|sufficient)|(?:isn't|wasn't) (?:enough|sufficient))",
        r"(?:memory|heap|vram|arena)(?: size of [0-9,.]+ ?\w*)? (?:(?:is|was|has been) )?exhausted|no memory (?:left|available)",
        r"(?:not|n't) have (?:enough|sufficient) (?:WHOSE )*(?:memory|vram|ram)\b",
        r"(?:can ?not|can't|could not|couldn't|unable to|fail(?:ed|ure)? to|failed) (?:(?:pre)?alloc(?:ate|ating|ation)?|acquire|reserve|map|commit|pin|lock|malloc|grow)(?: [\w.,:'()-]+){0,8}? ?(?:memory|buffers?|[0-9]-?bytes?|bytes?|tensors?|workspace|vector|arrays?|heap|vram|ram|[0-9] ?[kmgt]i?b)\b",
        r"(?:cannot|can't|could not|unable to|fail(?:ed|ure)? to|failed) alloc(?:ate|ating)? [0-9.,]+ ?(?:[kmgt]i?b?|b|bytes)\b",
        r"(?:memory|buffer|array|vector|tensor|heap|vram|workspace|device|gpu)[ _](?:object )?allocation(?: of (?:size )?[0-9][\w.,]*(?: \w+)?)?[ _](?:has )?(?:failed|failure|error|err\b)",
        r"\b(?:m|re|c)?alloc(?:ate|ation)? (?:WHOSE )*memory (?:has |is |was )?failed",
        r"\b(?:m|re|c)?alloc(?:ation)?(?:\(\))?(?: request)?(?: of| for)?(?: size)?:? [0-9][\w.,]*(?: (?:bytes|[kmgt]i?b))? (?:has )?failed|\berror allocating [0-9]|not reserve enough space for|smaller than requested bytes of|alloc(?:ation)? failed[^\r\n]{0,80}? size\b",
        r"exceed(?:s|ed|ing)? (?:[\w.,'%/-]+ ){0,5}(?:\w+_)?(?:memory|vram|ram)\b",
        r"(?:over|beyond|above|reaching|hit) (?:[\w'-]+ ){0,4}memory'? (?:usage )?(?:limit|quota|budget)s?\b",
        r"memory (?:[\w-]+ ){0,3}(?:limit|quota|budget)s?(?: of [0-9][\w.,]*(?: \w+)?)?(?: \([^()]{1,60}\))? (?:is |was |has been |vastly )?exceeded|memory (?:usage|use|consumption) (?:[\w.()/%]+ ){0,6}exceed(?:s|ed)\b",
        r"exceeds job (?:hard|soft) limit .?[hs]_(?:vmem|rss|data)\b",
        r"more (?:WHOSE )*(?:memory|vram|ram) than (?:(?:is|was|are|it|there|the|your|this|what) )*(?:available|allowed|allocated|permitted|reserved|granted|requested|has|had|limit|device|gpu)\b",
        r"(?:use[sd]?|using|consum(?:es|ed|ing)|request(?:ed|s)?) too much (?:WHOSE )*(?:memory|ram)\b|instance type with more memory",
        r"can't reduce memory use below",
        // Of a Tenstorrent core.
        r"(?:clash(?:es)? with|exceed(?:s|ed)?|beyond) (?:[\w.,-]+ ){0,4}L1 (?:buffers|size|memory)\b",
        r"\w+_ALLOC(?:ATION)?_FAIL(?:ED|URE)\b|\w*ERROR_\w*MEMORY_ALLOCATION\b|cudaErrorMemoryAllocation",
        r"\bbad_alloc\b|\bbad allocation\b",
        r"RESOURCE[ _]EXHAUSTED",
        r"(?:killed|terminated|ended|reaped) by (?:the )?(?:[\w-]+ ){0,2}(?:oom|out[ -]of[ -]memory)[ -](?:killer|daemon)|\b(?:systemd-oomd|oomd|earlyoom|lowmemorykiller|lmkd) killed",
        r"memorystatus: kill|(?:evict|kill)(?:ed|ing)\b[^.\r\n]{0,60}?\bmemory ?pressure",
    ];
    let exact = [
        r"\bOOM(?:[ -]?[Kk]ill(?:ed|ing)|[ -]?[Ee]rror| when | while |[.!:]? *\r?$)",
        r"\b(?:[Dd]etected|[Hh]it|[Gg]ot|due to|[Cc]aused by) (?:an? )?OOM\b",
    ];
    regex(&format!("(?i:{})|{}", words.join("|").replace("WHOSE", WHOSE), exact.join("|")))
});

/// What stands before the words in a sentence that only considers the case.
static CONSIDERED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i:\b(?:avoid\w*|prevent\w*|if|when|whenever|unless|in (?:this |that )?case|handl\w+|catch\w*|retr\w+|fix(?:e[sd]|ing)?|against|why|how|may|might|could|can|would|except|raise|throw|assert|import|for|on|no|not|never|without)\b(?:[^.:;]|::|\.\w)*$|\bimport [\w.]*$)",
    )
});

/// What stands before them in other lines that say of no failure, and in code.
static NOT_SAID: LazyLock<Regex> = LazyLock::new(|| {
    let before = [
        // `0 tiles`, not `GPU 0` and `step 7.0`.
        r"(?:^|[,:;(\[])\s*0 [^.:;]*$",
        // People write of themselves, and of messages.
        r"(?i:^\W*(?:my|i (?:get|got|am|have|see|run|ran))\s|^\W*as the (?:error|message)\b)[^\r\n]*$",
        // Bytes that go from one memory to another.
        r"(?i:\b(?:mov|cop[yi]|evict|swap|load|read|map|pag|stream|fetch|writ|push|flush|offload)\w* (?:[\w.]+ ){0,5}$)",
        r"(?i:^\W*(?:tip|hint|usage|docs?|release notes|feature|checking|fix(?:e[sd])?)\b.*$)",
        // A file that stays readable.
        r"(?i:\bmlock\b[^\r\n]*$)",
        // A string in code.
        r#"[(=,\[]\s*[A-Za-z]{0,2}["'][^"']*$"#,
        r#"^\s{4,}[A-Za-z]{0,2}["'][^"']*$"#,
        r"^\s*(?:#(?:[^#]|$)|#{2,6} [^:]*$|//|/\*|\*(?:[^*]|$)|\|)",
        // The subject of a commit.
        r"^[*|\\/ ]*[0-9a-f]{7,12} (?:\([^)]*\) )?(?i:docs?|feat|fix|tests?|chore|ci|build|perf|refactor|style|revert|merge|add|update)\b",
        // A remark behind code.
        r"\S\s+(?:#|//)\s+[A-Za-z][^:]*$",
        // A place of a template that is not filled.
        r"\{\{|\$\{|\$labels\b",
        // Frames of a stack, and tests that ran.
        r"^\s*(?:frame #|at [\w.$<>]*$|=== RUN|--- (?:PASS|SKIP)|ok \d|✓|✔)",
        r"^\s*(?:[Hh]int:|def |class |return |from |except\b|elif |\+|- )",
        r"--?\w[\w-]*$|On$|\bTEST(?:_\w)?\([^)]*$",
    ];
    regex(&before.join("|"))
});

/// What stands behind them where nothing is exhausted, or something other than memory; nothing behind a
/// colon is the head of a message that was wrapped.
static OTHER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i:\A\s*(?::\s*\z|on 0 |bandwidth|banks?\b|efficien|accesses|traffic|clock|(?:[a-z]+ )?(?:errors|exceptions)\b|handl|prot|guard|recover|score|(?:\(OOM\) )?(?:killer|daemon|manager)\b|\+0x|\w*\x22?\s*[:=(]\s*(?:true|false)|:? ?From /job:|:.*\b(?:received message larger|quota|rate limit|too many requests|file descriptor|disk|no space left)|[^\r\n]{0,80}\b(?-i:PASSED|SKIPPED|XFAIL)\b))",
    )
});

/// What stands before a remark, and before the name of a test of GoogleTest.
static REMARK: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i:\b(?:tip|hint|note|usage|docs?)\W*\z)|\[ *(?:RUN|OK|PASSED|SKIPPED|DISABLED) *\]")
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
    LazyLock::new(|| regex(r#"\A(?:[^.!?:\r\n]{0,300}\w["')]*)?\?(?:[\s"')]|\z)"#));

/// What stands before them where they end a sentence that says what failed, whatever else is in it.
static SAID: LazyLock<Regex> = LazyLock::new(|| {
    let ended = r"\b(?:killed|terminated|evicted|aborted|stopped|held|removed|canceled|cancelled|restarted|failed)\b[^.;:]{0,80}\bfor (?:\w+ )?$";
    let not_done = r"\b(?:could ?not|couldn't|can ?not|can't|unable to|did not|didn't|failed to|was not|is not)\b[^.;:]{0,200}(?:\b(?:because|due|since|as|from)\b|[,(-])[^.;:]{0,80}$";
    regex(&format!("(?i:{ended}|{not_done})"))
});

/// A word with hyphens is a subject: `out-of-memory tests`. It says what failed at the end of a sentence and before an error.
static SUBJECT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i:\A(?:[ -](?:errors?|exceptions?|conditions?|situation|event|failure|kill\w*|crash|state)\b|\W*\z|[.,:;!)\x22'])|\A (?:at|in|on|while|during|when|after)\b)",
    )
});
/// What stands before an error that is there, not one that is spoken of.
static MET: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i:(?:\b(?:due to|because of|caused by|encounter(?:ed|s)?|hit|got|caught|detected|received|reported|raised|threw|failed|died|crashed|ended|exited|with|from|reason|status|error|fatal|critical)\b|[:\])>=]|\bis|\bwas|\bran)\W{0,3}(?:(?:an?|the|this|gpu|cuda|[a-z]+'s) ){0,3}(?:[\w-]+ )?\z|\A\W*\z)",
    )
});

/// Whether what stands before the words in their line makes them a case that is only considered, or code.
pub fn is_considered(before: &[u8]) -> bool {
    let before = before.get(before.len().saturating_sub(BEFORE)..).unwrap_or_default();
    NOT_SAID.is_match(before) || (CONSIDERED.is_match(before) && !SAID.is_match(before))
}

/// Whether words are the subject of a sentence that says of no failure.
fn is_subject(words: &[u8], before: &[u8], behind: &[u8]) -> bool {
    let is_error = behind.starts_with(b" error") || behind.starts_with(b" exception");
    let has_hyphen = words.windows(3).any(|part| part.eq_ignore_ascii_case(b"of-"));
    (is_error && !MET.is_match(before))
        || (has_hyphen && (!SUBJECT.is_match(behind) || !MET.is_match(before)))
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
            && !is_subject(words.as_bytes(), before, behind)
            && !is_of_name(line, words.start(), words.end());
        is_said.then_some(words.start())
    })
}

/// What the text of a line says, if it says that memory does not suffice; what stands before the text may name the device.
pub fn read((before, line): (&[u8], &[u8])) -> Option<Finding> {
    let place = place(line).filter(|_| !REMARK.is_match(before))?;
    let end = line.len().min(place.saturating_add(BEHIND));
    let line = line.get(place.saturating_sub(BEFORE)..end).unwrap_or_default();
    let named = device_names::device(before, line);
    let device = named.map(|named| named.device);
    let mut finding = Finding {
        text: readable(line),
        device,
        is_general: true,
        is_of_log: named.is_some_and(|named| named.is_open),
        ..Finding::new(kind_of(device))
    };
    figures::take(&mut finding, line);
    Some(finding.with_excess())
}

/// What fails where the memory of a device does not suffice. Of an IPU each message says something of its own.
pub fn kind_of(device: Option<Device>) -> Kind {
    match device {
        None | Some(Device::Ipu) => Kind::UnknownMemoryMessage,
        Some(Device::Host) => Kind::HostOutOfMemory,
        Some(Device::Tpu) => Kind::TpuOutOfMemory,
        Some(Device::Cuda | Device::Rocm) => Kind::GpuOutOfMemory,
        Some(_) => Kind::AcceleratorOutOfMemory,
    }
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
            "tests/test_pool.py::test_message[RuntimeError: CUDA out of memory] PASSED  [ 60%]",
            "warning: failed to mlock 245760-byte buffer (after previously locking 0 bytes): Cannot allocate memory",
            "test pool::tests::out_of_memory_is_an_error ... ok",
            "--- PASS: TestOutOfMemory (0.00s)",
            "  ✓ tells that the GPU is out of memory (4 ms)",
            "0a1b2c3 fix CUDA out of memory in the sampler",
            "    Fix out of memory of long inputs",
            "batch=4 # against CUDA out of memory",
            "int most = 8;  // the GPU runs out of memory above it",
            "Why is the GPU out of memory when I train?",
            "What does OOMKilled mean?",
            "See the out-of-memory guide.",
            "#SBATCH --mem=64G   # 32G was not enough, the step was OOM killed",
            "Running 4 out-of-memory tests",
            "Bitte Out-of-Memory-Tests erst morgen starten.",
            "Copying weights out of GPU memory to the host",
            "12.5 GB out of 80 GB memory are used",
            "container_1: 2.1 GB of 4 GB physical memory used; 3 GB of 8.4 GB virtual memory used",
            "-Xmx4g -XX:+HeapDumpOnOutOfMemoryError",
            "[ RUN      ] PoolTest.OutOfMemory",
            "Fix out-of-memory crash in the loader",
            "release notes: the allocator no longer runs out of memory",
            "Failed to allocate IP address from pool",
            "WARN memory usage is at 85 % of the limit",
            "NOTE: out of memory is common on small cards",
            "the kernel exceeds 80 % of the memory bandwidth",
            "large models may cause out of memory errors",
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
            "Exception in thread \"worker for task 12\" java.lang.OutOfMemoryError: Java heap space",
            "engine stopped due to an out of memory error",
            "The engine could not start because of insufficient device memory",
            "the step failed: out-of-memory",
        ] {
            assert_eq!(diagnose(text).len(), 1, "{text}");
        }
    }
}
