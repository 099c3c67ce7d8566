//! Every message with its facts, and what may happen to it on its way into a log.

mod advised;
mod properties;
mod tenstorrent;
mod writers;

use serde_json::{Value, json};

use super::*;

/// A text with one message, and its facts in JSON.
struct Example {
    text: String,
    facts: Value,
}

/// The messages of the list beside this file: each below a line with its facts, apart by an empty line.
const EXAMPLES: &str = include_str!("examples.txt");

fn examples() -> Vec<Example> {
    let lines = EXAMPLES.lines().filter(|line| !line.starts_with('#'));
    let example = |block: &str| {
        let (facts, text) = block.split_once('\n').expect("facts above a message");
        Example { text: text.to_owned(), facts: serde_json::from_str(facts).expect("JSON") }
    };
    let lines = lines.collect::<Vec<_>>().join("\n");
    let blocks = lines.trim().split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    blocks.map(example).collect()
}

/// Whether a finding, or a part of one, has these facts and no others.
fn has(found: &Value, facts: &Value) -> bool {
    const NO_FACTS: [&str; 5] = ["line", "text", "device", "time", "advice"];
    match (found, facts) {
        (Value::Object(found), Value::Object(facts)) => {
            let is_expected = |(key, value): (&String, &Value)| match facts.get(key) {
                Some(fact) => has(value, fact),
                None => value.is_null() || *value == json!([]) || NO_FACTS.contains(&&**key),
            };
            facts.keys().all(|key| found.contains_key(key)) && found.iter().all(is_expected)
        }
        (Value::Array(found), Value::Array(facts)) => {
            found.len() == facts.len() && found.iter().zip(facts).all(|(one, fact)| has(one, fact))
        }
        (Value::Number(found), Value::String(amount)) => found.as_u64() == bytes(amount),
        _ => found == facts,
    }
}

/// The bytes of `1.5 GiB`.
fn bytes(amount: &str) -> Option<u64> {
    let (number, unit) = amount.split_once(' ')?;
    let unit = 10 * (["KiB", "MiB", "GiB"].iter().position(|known| *known == unit)? + 1);
    Some((number.parse::<f64>().ok()? * (1_u64 << unit) as f64) as u64)
}

#[test]
fn every_message_is_found_with_its_facts() {
    for example in examples() {
        let findings = diagnose(&example.text);
        assert_eq!(findings.len(), 1, "{}: {findings:#?}", example.text);
        let found = &findings[0];
        let facts = serde_json::to_value(found).expect("JSON");
        assert!(has(&facts, &example.facts), "{facts:#} is not {:#}", example.facts);
        let device = example.facts.get("device").cloned();
        let device = device.unwrap_or_else(|| serde_json::to_value(found.kind.device()).unwrap());
        assert_eq!((found.line, &facts["device"]), (1, &device), "{}", example.text);
        let on_one_line = example.text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(on_one_line.contains(&found.text), "{:?}", found.text);
        assert!((2..=5).contains(&found.advice.len()), "{:#?}", found.advice);
        for sentence in &found.advice {
            assert!(sentence.ends_with('.') && !sentence.contains("  "), "{sentence:?}");
            assert!(sentence.starts_with(char::is_uppercase), "{sentence:?}");
        }
    }
}

#[test]
fn every_message_of_the_table_is_found_by_its_own_row() {
    let mut of_others = Vec::new();
    for (family, messages) in message::FAMILIES {
        for message in messages {
            let found = diagnose(message.example);
            assert_eq!(found.len(), 1, "{family}: {}: {found:#?}", message.example);
            let own = message::pattern(message.pattern);
            assert!(own.is_match(message.example.as_bytes()), "{}", message.example);
            let matched = own.find(message.example.as_bytes()).unwrap();
            let matched = message::readable(matched.as_bytes());
            if found[0].text != matched {
                of_others.push(format!("{} is not {matched}", found[0].text));
            }
            assert_ne!(found[0].kind, Kind::UnknownMemoryMessage, "{}", message.example);
            assert!((2..=5).contains(&found[0].advice.len()), "{:#?}", found[0].advice);
            assert!(message.meaning.ends_with('.'), "{}", message.meaning);
        }
    }
    assert!(of_others.is_empty(), "{of_others:#?}");
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
    // An exception that came of it tells it again.
    let [finding] = &findings[..] else { panic!("one finding") };
    assert_eq!((finding.line, finding.consequences.len()), (4, 1));
    assert_eq!((finding.consequences[0].line, &finding.consequences[0].text), (8, &finding.text));
    let line = "Out of memory on tile 1: 9 bytes used but tiles only have 8 bytes of memory";
    assert_eq!(texts(&format!("{line}; {line}; {line}")).len(), 3);
    // A setting that is deprecated is worth a word only where nothing failed.
    let is_failure = |example: &Example| example.facts["kind"] != "deprecated-setting";
    let all: Vec<String> =
        examples().into_iter().filter(is_failure).map(|example| example.text).collect();
    // What stands close to a failure may come of it.
    let found = diagnose(&all.join(&"\n".repeat(120)));
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
        step 3: memory usage: 3 MB of 40 MB\n\
        DataLoader(pin_memory=True, num_workers=8)\n\
            except torch.cuda.OutOfMemoryError:\n\
        \x20   except MemoryError as error:\n\
        retrying when out of memory, up to 3 times\n\
        the batch size finder stops if CUDA runs out of memory\n\
        logger.error(\"out of memory\", step)\n\
        INFO: large batches may cause out of memory errors\n\
        // throws bad_alloc\n\
        + raise OutOfMemoryError\n\
        systemd: oom_score_adj is 0, OOM killer enabled\n\
        429 RESOURCE_EXHAUSTED: Quota exceeded for requests, rate limit\n\
        allocated 12 buffers, InUse: 123, memory limit 40 GB\n\
        Allocator GPU_0_bfc has memory limit 12 GiB\n\
        planner: 12 memory targets met\n\
        INFO 11-20 09:11:20 [gpu_worker.py:298] Available KV cache memory: 51.62 GiB\n\
        INFO [loggers.py:118] GPU KV cache usage: 97.3%, Prefix cache hit rate: 12.1%\n\
        [launch.py:351:main] Process 4242 exits successfully.\n\
        worker exited with code 0, exitcode: 1, return code = 0, exit status 2\n\
        \"OOMKilled\": false, \"ExitCode\": 0\n\
        the job was killed by the user; Killed 3 stale processes\n\
        pkill -9 python; kill -9 4242\n\
        if \"CUDA error: out of memory\" in str(error):\n\
        # CUDA_ERROR_OUT_OF_MEMORY means that the driver has none\n\
        raise RuntimeError(\"MPS backend out of memory\")\n\
        XLA backend allocating 38654705664 bytes on device 0 for BFCAllocator.\n\
        Limit:                     40231108608\n\
        PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:128\n\
        NOTE: The SHMEM allocation limit is set to the default of 64MB.\n\
        [loss] 1e-9, lr 3e-137, step 137 of 9000, exit code 13\n\
        Triton autotuning: num_stages=3, shared memory 65536 B of 101376 B\n\
        TPU available: False, using: 0 TPU cores, IPU available: False\n\
        HloRematerialization: reduced memory use by rematerialization to 3.5GiB\n\
        shm size of the container: 64M /dev/shm\n\
        free memory on device cuda:0 is 20.1/23.5 GiB\n";
    assert_eq!(diagnose(ordinary), []);
    assert_eq!(diagnose(""), []);
}

fn lines_and_kinds(text: &str) -> Vec<(u64, &'static str)> {
    diagnose(text).iter().map(|one| (one.line, one.kind.key())).collect()
}

#[test]
fn an_exception_of_poplar_alone_on_its_line_is_out_of_memory() {
    for line in [
        "poplar.graph_memory_allocation_error",
        "poplar::graph_memory_allocation_error",
        "poplar.graph_memory_allocation_error: ",
        "poplar::graph_memory_allocation_error: no room for the stack",
        "[1,0]<stderr>:poplar.graph_memory_allocation_error",
    ] {
        assert_eq!(lines_and_kinds(&format!("Traceback\n{line}\nend\n")), [(2, "out-of-memory")]);
    }
    let known = "poplar.graph_memory_allocation_error: Out of memory on tile 3: 9 bytes used but tiles only \
        have 8 bytes of memory";
    assert_eq!(lines_and_kinds(known), [(1, "tile-out-of-memory")]);
    assert_eq!(lines_and_kinds("poplar.stream_memory_allocation_error\n"), [(1, "host-buffer")]);
    for code in [
        "except poplar.graph_memory_allocation_error as error:",
        "} catch (const poplar::graph_memory_allocation_error &e) {",
    ] {
        assert_eq!(diagnose(code), []);
    }
}

#[test]
fn memory_of_the_host_is_not_that_of_a_device() {
    let host = "host-out-of-memory";
    for (text, expected) in [
        ("Traceback\n  x = f()\nMemoryError\n", &[(3, host)][..]),
        ("MemoryError\r\n", &[(1, host)]),
        ("StepId=7.batch exceeded memory limit (734003200 > 52428800), being killed", &[(1, host)]),
        ("MemoryError: Unable to allocate 7.45 GiB for an array with shape (9, 9)\n", &[(1, host)]),
        (
            "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 1.00 GiB for an array\n",
            &[(1, host)],
        ),
        ("MemoryError: std::bad_alloc\n", &[(1, host)]),
        (
            "terminate called after throwing an instance of 'std::bad_alloc'\nterminate called recursively\n  \
             what():  std::bad_alloc\n",
            &[(3, host)],
        ),
        (
            "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
            &[(2, host)],
        ),
        ("RuntimeError: std::bad_alloc\nRuntimeError: std::bad_alloc", &[(1, host), (2, host)]),
        (
            "except MemoryError:\n    raise MemoryError(\"too large\")\nMemoryError handling is on\n",
            &[],
        ),
    ] {
        assert_eq!(lines_and_kinds(text), expected, "{text}");
    }
    let [finding] = &diagnose("fork: Cannot allocate memory")[..] else { panic!("one finding") };
    assert_eq!(finding.device, Some(Device::Host));
    assert!(finding.advice[0].contains("not device memory"), "{:?}", finding.advice);
    assert!(finding.advice.iter().any(|sentence| sentence.contains("ulimit -v")));
}

#[test]
fn enough_free_memory_is_no_matter_of_fewer_samples() {
    let refused = "CUDA out of memory. Tried to allocate 12.50 MiB. GPU 0 has a total capacity of 10.57 GiB of which \
        9.28 GiB is free. Of the allocated memory 1.00 GiB is allocated by PyTorch, and 90.00 MiB is reserved by \
        PyTorch but unallocated.";
    let share = "CUDA out of memory. Tried to allocate 12.50 MiB. GPU 0 has a total capacity of 10.57 GiB of which \
        9.28 GiB is free. 512.00 MiB allowed; Of the allocated memory 508.00 MiB is allocated by PyTorch, and 2.00 \
        MiB is reserved by PyTorch but unallocated.";
    for (text, kind, words) in [
        (refused, Kind::CudaRefused, "9.28 GiB are free and 12.5 MiB were asked for"),
        (share, Kind::CudaProcessLimit, "a limit of 512.0 MiB"),
    ] {
        let [finding] = &diagnose(text)[..] else { panic!("one finding") };
        assert_eq!(finding.kind, kind);
        assert!(finding.advice[0].contains(words), "{:?}", finding.advice);
        assert!(!finding.advice[0].contains("compute fewer samples"), "{:?}", finding.advice);
        assert!(!finding.advice.iter().any(|sentence| sentence.contains("expandable_segments")));
    }
    assert_eq!(diagnose(share)[0].limit_bytes, Some(512 << 20));
}

#[test]
fn what_xla_lists_behind_its_message_is_read() {
    let log = "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4770354232 bytes.\n\
        BufferAssignment OOM Debugging.\nBufferAssignment stats:\n             parameter allocation:  372.75MiB\n              \
        constant allocation:    48.5KiB\n        maybe_live_out allocation:    9.50GiB\n     preallocated temp \
        allocation:    4.50GiB\n                 total allocation:   14.50GiB\n              total fragmentation:  \
        680.30MiB (4.60%)\nPeak buffers:\n";
    let [finding] = &diagnose(log)[..] else { panic!("one finding") };
    assert_eq!((finding.kind, finding.used_bytes), (Kind::GpuOutOfMemory, Some(29 << 29)));
    let parts: Vec<_> = finding.breakdown.iter().map(|part| (&*part.name, part.bytes)).collect();
    let expected = [
        ("parameter", 1491 << 18),
        ("constant", 97 << 9),
        ("maybe_live_out", 19 << 29),
        ("preallocated temp", 9 << 29),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn an_operation_that_needs_too_much_on_the_chip_has_its_figures() {
    let log = "RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem while allocating on stack for %window.1 = \
        (u32[16,8,128]{2,1,0}) reduce-window(u32[16,8,128] %bitcast.2), to_apply=%Add. Scoped allocation with size \
        31.00M and limit 16.00M exceeded scoped vmem limit by 15.00M. It should not be possible to run out of scoped \
        vmem - please file a bug against XLA.";
    let [finding] = &diagnose(log)[..] else { panic!("one finding") };
    let figures = (finding.used_bytes, finding.limit_bytes, finding.excess_bytes);
    assert_eq!(figures, (Some(31 << 20), Some(16 << 20), Some(15 << 20)));
    assert_eq!(finding.memory_space.as_deref(), Some("vmem"));
    // The figures of the next message are not its own.
    let two = format!("Ran out of memory in memory space smem\n{log}");
    assert_eq!(diagnose(&two)[0].used_bytes, None);
}

#[test]
fn words_about_memory_say_whose_it_is() {
    let other = "accelerator-out-of-memory";
    let (gpu, host) = ("gpu-out-of-memory", "host-out-of-memory");
    for (line, kind, device) in [
        ("RuntimeError: CUDA: not enough memory for the plan", gpu, "cuda"),
        ("ROCm: memory allocation failed", gpu, "rocm"),
        ("cuda failed with error 2 out of memory. Look at the log.", gpu, "cuda"),
        ("[av1_nvenc @ 0x5571] OpenEncodeSessionEx failed: out of memory (10)", gpu, "cuda"),
        ("GPU ran out of video memory while it drew frame 3", gpu, "cuda"),
        ("[XPU] insufficient memory", other, "xpu"),
        ("the NPU has run out of memory", other, "npu"),
        ("rtMalloc failed, ret:207001 memory allocation error", other, "npu"),
        (
            "the program exceeds the available memory of the TPU by 3 pages",
            "tpu-out-of-memory",
            "tpu",
        ),
        ("java.lang.OutOfMemoryError: Java heap space", host, "host"),
        (
            "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
            host,
            "host",
        ),
        ("worker 3 was OOM-killed", host, "host"),
        ("RuntimeError: bad allocation", host, "host"),
        ("Container killed by YARN for exceeding memory limits", host, "host"),
        ("web.1: Error R14 (Memory quota exceeded)", host, "host"),
        ("The notebook tried to allocate more memory than is available.", host, "host"),
        ("117  train  gpu  acct  8 OUT_OF_ME+  0:125", host, "host"),
        ("fatal error: runtime: out of memory", host, "host"),
    ] {
        let [finding] = &diagnose(&format!("epoch 1\n{line}\nepoch 2\n"))[..] else {
            panic!("one finding in {line:?}: {:?}", texts(line))
        };
        let facts = serde_json::to_value(finding).expect("JSON");
        assert_eq!((&facts["kind"], &facts["device"]), (&json!(kind), &json!(device)), "{line}");
    }
}

#[test]
fn amounts_beside_words_about_memory_are_read() {
    for (line, facts) in [
        (
            "Job has gone over memory limit of 2048 megabytes. Peak usage: 2103 megabytes.",
            json!({"kind": "host-out-of-memory", "limit_bytes": "2048 MiB", "used_bytes": "2103 MiB", "excess_bytes": "55 MiB"}),
        ),
        (
            "memory allocation of 4294967296 bytes failed",
            json!({"kind": "host-out-of-memory", "requested_bytes": "4 GiB"}),
        ),
        (
            "ERROR: Out of GPU memory trying to allocate 3.250 GiB\nEffective GPU memory usage: 97.84% (23.5 GiB/24 GiB)",
            json!({"kind": "gpu-out-of-memory", "requested_bytes": "3.25 GiB", "used_bytes": "23.5 GiB", "limit_bytes": "24 GiB"}),
        ),
        (
            "CUDNN_STATUS_ALLOC_FAILED\nMemory usage: 1048576 bytes free, 8589934592 bytes total.",
            json!({"kind": "gpu-library-out-of-memory", "free_bytes": "1 MiB", "limit_bytes": "8 GiB"}),
        ),
        (
            "CUDA error 2: out of memory\nRuntimeError: Failed to allocate 1073741824 bytes on device 'cuda:1'",
            json!({"kind": "cuda-out-of-memory", "requested_bytes": "1 GiB", "device_index": 1, "instance": "GPU 1"}),
        ),
        (
            "Device(id:6) memory isn't enough and alloc failed, kernel name: MatMul, alloc size: 3221225472B. [mindspore]",
            json!({"kind": "accelerator-out-of-memory", "requested_bytes": "3 GiB", "device_index": 6, "instance": "device 6"}),
        ),
    ] {
        let [mut finding] = <[Finding; 1]>::try_from(diagnose(line)).expect("one finding");
        finding.consequences.clear();
        let found = serde_json::to_value(finding).expect("JSON");
        assert!(has(&found, &facts), "{line}: {found:#} is not {facts:#}");
    }
    // Those of another writer are not its own.
    let log = "[rank0]: CUDA error: out of memory\n[rank1]: GPU memory: 5 GiB free, 8 GiB total\n";
    assert_eq!(diagnose(log)[0].limit_bytes, None);
}

#[test]
fn what_speaks_of_memory_and_is_not_known_says_so() {
    for (line, device, requested) in [
        ("RESOURCE_EXHAUSTED: no room", None, None),
        ("jaxlib._jax.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory", None, None),
        ("Failed to allocate memory for a result, size 134217728 B", None, Some(134_217_728)),
        ("[popart] [error] not enough memory to place tensors", Some(Device::Ipu), None),
        ("libgomp.so.1: cannot allocate memory in static TLS block", None, None),
    ] {
        let [finding] = &diagnose(&format!("epoch 1\n{line}\nepoch 2\n"))[..] else {
            panic!("one finding in {line:?}: {:?}", texts(line))
        };
        assert_eq!((finding.kind, finding.line), (Kind::UnknownMemoryMessage, 2), "{line}");
        assert_eq!((finding.device, finding.requested_bytes), (device, requested), "{line}");
        assert!(finding.advice[0].contains("not known"), "{:?}", finding.advice);
    }
    let json = serde_json::to_value(&diagnose("the backend has not enough memory\n")[0]).unwrap();
    assert_eq!((&json["kind"], &json["device"]), (&"unknown-memory-message".into(), &().into()));
    assert_eq!(json["text"], "the backend has not enough memory");
}

#[test]
fn a_line_of_a_known_message_is_not_unknown_as_well() {
    for text in [
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 8.00 GiB total capacity; \
         7.00 GiB already allocated; 0 bytes free; 7.00 GiB reserved in total by PyTorch) If reserved memory is >> \
         allocated memory try setting max_split_size_mb to avoid fragmentation.",
        "RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom:\nRan out of memory in memory space vmem.",
        "ResourceExhaustedError: OOM when allocating tensor with shape[1,2]\n\t [[Node: x]]\nHint: If you want to see a \
         list of allocated tensors when OOM happens, add report_tensor_allocations_upon_oom to RunOptions.",
        "Memory allocation error : Out of memory on tile 0: 9 bytes used but tiles only have 8 bytes of memory",
    ] {
        let kinds = lines_and_kinds(text);
        assert_eq!(kinds.len(), 1, "{text}: {kinds:?}");
        assert_ne!(kinds[0].1, "unknown-memory-message", "{text}");
    }
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
    let commands = include_str!("../../../docs/user/commands.md");
    let known = examples().into_iter().map(|example| example.facts);
    for facts in known.chain([json!({ "kind": Kind::UnknownMemoryMessage })]) {
        let key = format!("`{}`", facts["kind"].as_str().expect("a kind"));
        assert!(commands.contains(&key), "{key} in docs/user/commands.md");
    }
    let advice = include_str!("../../../docs/user/advice.md");
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
