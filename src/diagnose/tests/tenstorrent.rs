//! Logs of TT-NN (Tenstorrent): what is told twice, what is not known, what is ordinary, and what helps.

use super::diagnose;
use crate::diagnose::{Device, Finding, Kind};

const CLASH: &str = "Statically allocated circular buffers in program 7 clash with L1 buffers on core range [0-0 - 7-7]. L1 \
    buffer allocated at 524288 and static circular buffer region ends at 655360";

/// The lines of the sentences of each finding.
fn lines(log: &str) -> Vec<Vec<u64>> {
    let of = |one: &Finding| one.tenstorrent.iter().map(|sentence| sentence.line).collect();
    diagnose(log).iter().map(of).collect()
}

fn logged(second: u32) -> String {
    format!(
        "2026-11-26 21:55:{second}.640 | critical |          Always | TT_THROW: {CLASH} (assert.hpp:104)\n"
    )
}

fn raised() -> String {
    format!(
        "Traceback (most recent call last):\n  File \"net.py\", line 9, in main\nRuntimeError: TT_THROW @ /project/program.cpp:1612: \
         tt::exception\ninfo:\n{CLASH}\nbacktrace:\n --- /opt/lib/libtt_metal.so(+0x3017bb) [0x7fd1b18137bb]\n --- \
         tt::tt_metal::ProgramImpl::compile(tt::tt_metal::IDevice*, bool)\n"
    )
}

#[test]
fn a_failure_that_is_logged_and_raised_is_one_with_both_sentences() {
    let once = logged(10) + &raised();
    assert_eq!(lines(&once), [vec![1, 6]]);
    let found = diagnose(&once);
    assert_eq!((found[0].line, found[0].consequences.len()), (1, 1));
    assert!(found[0].advice[0].contains("128.0 KiB (131,072 B)"), "{:?}", found[0].advice);
    let summary = format!(
        "=== short test summary info ===\nFAILED test_a.py::test_b - RuntimeError: {CLASH}\n"
    );
    assert_eq!(lines(&(once.clone() + &summary)), [vec![1, 6, 11]]);
    // Another attempt fails as the first did.
    assert_eq!(lines(&(once.clone() + &logged(20) + &raised())), [vec![1, 6], vec![10, 15]]);
}

#[test]
fn lines_of_pytest_may_be_wrapped() {
    let sentence =
        CLASH.replace(" core range", "\nE       core range").replace(" region", "\nE       region");
    let log = format!(
        "E       RuntimeError: TT_THROW @ a.cpp:1: tt::exception\nE       info:\nE       {sentence}\n"
    );
    assert_eq!(lines(&log), [vec![3]]);
}

#[test]
fn ordinary_lines_are_no_finding() {
    let log = "\
        2026-11-26 21:55:40.102 | info     |          Device | Opening user mode device driver (tt_cluster.cpp:228)\n\
        2026-11-26 21:55:40.402 | warning  |              Op | tensor is moved to DRAM because it does not fit into L1 (utils.cpp:3)\n\
        2026-11-26 21:55:40.502 | info     |           Metal | L1 buffers: 12 allocated, 655360 B of 1368736 B are in use\n\
        2026-11-26 21:55:40.602 | info     |           Metal | Statically allocated circular buffers in program 3 end at 367680\n\
        2026-11-26 21:55:40.702 | info     |           Metal | max L1 size 1499136 B, unreserved L1 size 1393312 B\n\
        2026-11-26 21:55:40.802 | debug    |           Metal | DFB in0_act: ring size (65536 bytes), entry_size 2048\n\
        2026-11-26 21:55:40.902 | info     |           Metal | Allocating 4194304 B L1 buffer across 64 banks (65536 B per bank)\n\
        PASSED tests/test_matmul.py::test_out_of_memory[1]\n\
        def test_l1(device):  # circular buffers clash with L1 buffers\n";
    assert_eq!(diagnose(log), []);
}

#[test]
fn what_is_said_in_other_words_is_of_the_device() {
    for text in [
        "TT_FATAL: Out of Memory: the region has no room for 4096 B (assert.hpp:104)",
        "TT_THROW: Kernel scratchpads of program 3 clash with L1 buffers on core range [0-0 - 7-7]",
        "RuntimeError: TT_THROW @ a.cpp:3: semaphores exceed max L1 size",
        "ttnn: not enough memory for the cache of programs",
    ] {
        let [finding] = &diagnose(text)[..] else { panic!("one finding: {text}") };
        assert_eq!(
            (finding.kind, finding.device),
            (Kind::AcceleratorOutOfMemory, Some(Device::Tenstorrent)),
            "{text}"
        );
        assert!(
            finding.advice.iter().any(|sentence| sentence.contains("TT-NN")),
            "{:?}",
            finding.advice
        );
    }
}

fn no_space(space: &str, each: u64, figures: &str) -> String {
    format!(
        "Out of Memory: Not enough space to allocate {} B {space} buffer across 4 banks, where each bank needs to store {each} B, but \
         bank size is {figures}",
        each.saturating_mul(4)
    )
}

#[test]
fn advice_is_of_the_space_and_of_what_is_missing() {
    let ring = "DFB in0: ring size (2000 bytes) exceeds Tensix unreserved L1 size (1500 bytes)";
    let beyond = "Statically allocated circular buffers on core range [0-0 - 3-3] grow to 9000 B which is beyond max L1 size of \
        8000 B";
    let pieces = "9000 B (allocated: 1000 B, free: 8000 B, largest free block: 100 B)";
    let full = "9000 B (allocated: 8500 B, free: 500 B, largest free block: 500 B)";
    for (text, words) in [
        (CLASH.to_owned(), "ttnn.deallocate(tensor)"),
        (CLASH.to_owned(), "in0_block_w"),
        (ring.to_owned(), "at most 75 %"),
        (beyond.to_owned(), "at least 1,000 B smaller"),
        (no_space("L1", 600, full), "Free at least 100 B of L1 on each core."),
        (no_space("L1", 9001, "9000 B"), "at least 5 cores"),
        (no_space("L1", 600, pieces), "ttnn.move"),
        (no_space("DRAM", 600, full), "100 B of DRAM in each bank, 400 B over all"),
        (no_space("DRAM", 600, full), "ttnn.bfloat8_b"),
        (no_space("L1_SMALL", 600, full), "l1_small_size=9100"),
        (no_space("L1_SMALL", 600, pieces), "l1_small_size=…"),
        (no_space("TRACE", 600, full), "trace_region_size"),
    ] {
        let [finding] = &diagnose(&text)[..] else { panic!("one finding: {text}") };
        let advice = finding.advice.join(" ");
        assert!(advice.contains(words), "{words}: {advice}");
        for word in ["GPU", "IPU", "availableMemoryProportion", "torch", "nvidia", "gradient"] {
            assert!(!advice.contains(word), "{word}: {advice}");
        }
        assert!(finding.in_plain_words().is_some_and(|words| words.ends_with('.')), "{text}");
    }
    for text in [ring, beyond] {
        let advice = diagnose(text)[0].advice.join(" ");
        assert!(!advice.contains("ttnn.deallocate"), "nothing that is freed helps: {advice}");
    }
}
