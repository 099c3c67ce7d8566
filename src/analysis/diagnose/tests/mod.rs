//! Every message with its facts, and what may happen to it on its way into a log.

mod examples;
mod properties;

use super::*;
use examples::examples;

#[test]
fn every_message_is_found_with_its_facts() {
    for example in examples() {
        let findings = diagnose(&example.text);
        assert_eq!(findings.len(), 1, "{}: {findings:#?}", example.text);
        let found = &findings[0];
        let expected = Finding {
            line: 1,
            text: found.text.clone(),
            breakdown: found.breakdown.clone(),
            allocations: found.allocations.clone(),
            advice: found.advice.clone(),
            ..example.expected
        };
        assert_eq!(*found, expected, "{}", example.text);
        let on_one_line = example.text.replace('\n', " ");
        assert!(on_one_line.contains(&found.text), "{:?}", found.text);
        assert!((2..=5).contains(&found.advice.len()), "{:#?}", found.advice);
        for sentence in &found.advice {
            assert!(sentence.ends_with('.') && !sentence.contains("  "), "{sentence:?}");
            assert!(sentence.starts_with(char::is_uppercase), "{sentence:?}");
        }
    }
}

fn texts(text: &str) -> Vec<String> {
    diagnose(text).into_iter().map(|finding| finding.text).collect()
}

#[test]
fn each_occurrence_is_a_finding() {
    let traceback = "Traceback (most recent call last):\n  File \"run.py\", line 9, in <module>\n    \
        run()\nRuntimeError: Out of memory on tile 3: 700000 bytes used but tiles only have 638976 bytes of \
        memory\n\nDuring handling of the above exception, another exception occurred:\n\nRuntimeError: \
        Out of memory on tile 3: 700000 bytes used but tiles only have 638976 bytes of memory\n";
    let findings = diagnose(traceback);
    assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [4, 8]);
    assert_eq!(findings[0].text, findings[1].text);
    let line = "Out of memory on tile 1: 9 bytes used but tiles only have 8 bytes of memory";
    assert_eq!(texts(&format!("{line}; {line}; {line}")).len(), 3);
    let all: Vec<String> = examples().into_iter().map(|example| example.text).collect();
    let found = diagnose(&all.join("\n"));
    assert_eq!(found.len(), all.len());
    assert!(found.is_sorted_by_key(|finding| finding.line));
    for (alone, among) in all.iter().zip(&found) {
        assert_eq!(diagnose(alone)[0].text, among.text);
    }
}

#[test]
fn an_exception_and_its_message_are_one() {
    let terminate =
        "terminate called after throwing an instance of 'poplar::graph_memory_allocation_error'\n";
    let message = |tile| {
        format!(
            "Out of memory on tile {tile}: 9 bytes used but tiles only have 8 bytes of memory\n"
        )
    };
    let (one, two) = (message(1), message(2));
    let kinds = |text: &str| {
        diagnose(text).iter().map(|one| (one.line, one.kind.key())).collect::<Vec<_>>()
    };
    let known = "tile-out-of-memory";
    assert_eq!(kinds(&format!("{terminate}  what():  {one}")), [(2, known)]);
    assert_eq!(
        kinds(&format!("{terminate}  what():  {one}{terminate}  what():  {two}")),
        [(2, known), (4, known)]
    );
    // Two processes write at once.
    assert_eq!(
        kinds(&format!("{terminate}{terminate}  what():  {one}  what():  {two}")),
        [(3, known), (4, known)]
    );
    assert_eq!(
        kinds(&format!(
            "[1,0]<stderr>:{terminate}[1,1]<stderr>:{terminate}[1,1]<stderr>:  what():  {one}[1,0]<stderr>:  what():  {two}"
        )),
        [(3, known), (4, known)]
    );
    // A message that is not known, and none at all.
    let unknown = format!("{terminate}  what():  no room for the stack\n");
    assert_eq!(kinds(&unknown), [(1, "out-of-memory")]);
    assert!(texts(&unknown)[0].ends_with("what(): no room for the stack"));
    assert_eq!(kinds(terminate), [(1, "out-of-memory")]);
    assert_eq!(
        kinds(&format!("{unknown}{terminate}  what():  {two}")),
        [(1, "out-of-memory"), (4, known)]
    );
    // Other exceptions' wrappers.
    assert_eq!(kinds(&format!("'poplar_graph_memory_allocation_error': {one}")), [(1, known)]);
    assert_eq!(
        kinds(&format!("[Poplar][Compile engine] graph_memory_allocation_error: {one}")),
        [(1, known)]
    );
    assert_eq!(kinds(&format!("popart.session.OutOfMemoryException: {one}")), [(1, known)]);
    assert_eq!(kinds(&format!("Memory allocation error : {one}")), [(1, known)]);
}

#[test]
fn ordinary_output_is_no_finding() {
    let ordinary = "\
        Compiling graph: memory estimate 300000 bytes on tile 3\n\
        2026-01-01T00:00:00.000000Z PL:POPLIN    42.42 I: planner cache has 12 plans, memory target 0.6\n\
        2026-01-01T00:00:00.000000Z PL:POPLIN    42.42 D: Planning convolution with a per-tile memory limit of \
        383385 bytes across 1472 tiles.\n\
        Memory Usage:\n  Total:\n    Including Gaps:  1,234 B\n  0 tile(s) out of memory\n\
        Out of memory on 0 tiles\n\
        Message memory:                    0 bytes\n\
        Profile saved to: ./report/profile.pop\n\
        except popart.session.OutOfMemoryException as error:\n\
        raise RuntimeError(f\"Out of memory on tile {tile}\")\n\
        re.findall(r\"Out of memory on tile (.+?) bytes\", log)\n\
        # To avoid CUDA out of memory, reduce the batch.\n\
        grpc: RESOURCE_EXHAUSTED: Received message larger than max (5 vs. 4)\n\
        Attempting to allocate 3 IPUs\n\
        planner: 12 memory targets met\n";
    assert_eq!(diagnose(ordinary), []);
    assert_eq!(diagnose(""), []);
}

#[test]
fn a_summary_gives_tile_and_limit_too() {
    let summary = "Target:\n  Tiles per IPU:  1,472\n  Memory Per-Tile:        624.0 kB\n\n  By Tile:\n    \
        Maximum (Including Gaps): 700,416 (684.0 K) on tile 1,024\n    Maximum (Excluding Gaps): 690,000 \
        (673.8 K) on tile 9\n    3 tile(s) out of memory\n";
    let [finding] = &diagnose(summary)[..] else { panic!("one finding") };
    let facts = (finding.tiles_out, finding.tile, finding.used_bytes, finding.limit_bytes);
    assert_eq!(facts, (Some(3), Some(1024), Some(700_416), Some(638_976)));
    assert_eq!((finding.excess_bytes, finding.line), (Some(61_440), 8));
    // The summary of another program does not help.
    let far =
        format!("{}{}3 tile(s) out of memory", &summary[..summary.len() - 30], "\n".repeat(2000));
    let [finding] = &diagnose(&far)[..] else { panic!("one finding") };
    assert_eq!((finding.tile, finding.used_bytes, finding.excess_bytes), (None, None, None));
}

#[test]
fn the_listing_behind_a_tpu_message_is_read() {
    let log = "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used \
        20.00G of 16.00G hbm. Exceeded hbm capacity by 4.00G.\n\nTotal hbm usage >= 20.50G:\n    reserved \
        512.00M \n    program         6.00G \n    arguments         14.00G \n\n  Largest program allocations in \
        hbm:\n\n  1. Size: 2.00G\n     Shape: f32[1024,8]{1,0}\n     Unpadded size: 128.00M\n";
    let [finding] = &diagnose(log)[..] else { panic!("one finding") };
    let names: Vec<_> = finding.breakdown.iter().map(|part| &*part.name).collect();
    assert_eq!(names, ["reserved", "program", "arguments"]);
    assert_eq!(finding.allocations.len(), 1);
    assert!(
        finding.advice[0].contains("4.00 GiB (25 % of the limit), of the arguments first"),
        "{:?}",
        finding.advice
    );
    assert!(
        finding.advice[1].contains("f32[1024,8]{1,0}: 2.00 GiB hold 128.0 MiB"),
        "{:?}",
        finding.advice
    );
}

#[test]
fn advice_names_amount_report_and_option() {
    let advice = |text: &str| diagnose(text)[0].advice.clone();
    let without = advice(
        "Out of memory on tile 5: 700416 bytes used but tiles only have 638976 bytes of memory",
    );
    assert!(
        without[0].starts_with("Free at least 60.0 KiB (10 % of the limit) on tile 5."),
        "{without:?}"
    );
    assert!(without[1].contains("autoReport.all"), "{without:?}");
    assert!(without[2].contains("setAvailableMemoryProportion"), "{without:?}");
    let with = advice(
        "Out of memory: Cannot fit all variable data onto one or more tiles. Profile saved to: ./my run/profile.pop",
    );
    assert!(with[0].contains("`tilescope summary './my run/profile.pop'`"), "{with:?}");
    let host = advice(
        "Buffer 2 needs to be at least 4096 Bytes, but remaining host buffer memory is only 1024",
    );
    assert!(host[0].contains("4.00 KiB") && host[0].contains("do not help"), "{host:?}");
    let planner = advice(
        "convolution planner unable to meet memory target; retrying while targeting minimum memory.",
    );
    assert!(planner[0].starts_with("Do not lower availableMemoryProportion"), "{planner:?}");
}

#[test]
fn a_huge_message_is_shortened() {
    let name = "deep/".repeat(1500);
    let log = format!("Tile 4 receives more data than it has total memory in exchange '{name}'");
    let [finding] = &diagnose(&log)[..] else { panic!("one finding") };
    assert_eq!(finding.exchange.as_deref(), Some(&*name));
    assert_eq!(finding.text.chars().count(), 2000);
}

#[test]
fn the_documents_list_kinds_and_link_to_headings() {
    let readme = include_str!("../../../../README.md");
    for example in examples() {
        let key = format!("`{}`", example.expected.kind.key());
        assert!(readme.contains(&key), "{key} in README.md");
    }
    let advice = include_str!("../../../../docs/advice.md");
    let anchor = |heading: &str| heading.to_lowercase().replace(' ', "-").replace('\'', "");
    let headings: Vec<String> = advice
        .lines()
        .filter_map(|line| {
            Some(anchor(line.strip_prefix("###").or(line.strip_prefix("##"))?.trim()))
        })
        .collect();
    let links: Vec<&str> =
        advice.split("](#").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).collect();
    assert!(links.len() > 16, "{links:?}");
    for link in links {
        assert!(headings.iter().any(|heading| heading == link), "{link} is a heading");
    }
}
