//! What is advised of a failure, and what is not.

use super::diagnose;

/// The sentences of the only finding.
fn advised(log: &str) -> String {
    let findings = diagnose(log);
    assert_eq!(findings.len(), 1, "{log}: {findings:#?}");
    findings[0].advice.iter().map(|sentence| format!("{sentence}\n")).collect()
}

/// A message of PyTorch on a device of 80 GiB with a tenth of a GiB free, and a request of 1 GiB.
fn message(processes: &str, allocated: f64, held: f64) -> String {
    format!(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 80.00 GiB of \
         which 102.40 MiB is free. {processes}Of the allocated memory {allocated:.2} GiB is allocated by PyTorch, and \
         {held:.2} GiB is reserved by PyTorch but unallocated."
    )
}

#[test]
fn who_else_has_the_device_is_asked_where_pytorch_has_little_of_it() {
    let two = "Process 11 has 50.00 GiB memory in use. Process 12 has 29.90 GiB memory in use. ";
    let text = advised(&message(two, 28.5, 0.3));
    assert!(text.contains("51.1 GiB of it are neither free nor held by PyTorch"), "{text}");
    assert_eq!(
        diagnose(&message(two, 28.5, 0.3))[0].other_processes_bytes,
        None,
        "it may be either"
    );
    // What only one of them can be is known.
    let found = diagnose(&message(two, 40.0, 0.3)).remove(0);
    assert_eq!(found.other_processes_bytes, crate::diagnose::amount::bytes("29.90 GiB"));
    // The driver takes a part in any process, and what this process has is said mostly.
    let own = "Including non-PyTorch memory, this process has 79.90 GiB memory in use. ";
    for text in [message("", 78.0, 0.5), message(own, 70.0, 0.5)] {
        assert!(!advised(&text).contains("neither free"), "{text}");
    }
}

#[test]
fn memory_in_pieces_is_said_by_what_lies_in_them() {
    for (held, expected) in [(0.5, false), (3.0, false), (4.5, true), (7.0, true)] {
        let text = advised(&message("", 79.0 - held, held));
        assert_eq!(text.contains("expandable_segments"), expected, "{held}: {text}");
    }
    let large = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 5.25 GiB. GPU 3 has a total capacity of 191.98 GiB \
                 of which 2.10 GiB is free. Of the allocated memory 180.21 GiB is allocated by PyTorch, and 7.89 GiB is reserved \
                 by PyTorch but unallocated.";
    assert!(advised(large).contains("PYTORCH_HIP_ALLOC_CONF=expandable_segments:True"));
    let old = "RuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 23.69 GiB total capacity; 20.71 GiB already \
               allocated; 33.06 MiB free; 22.36 GiB reserved in total by PyTorch)";
    assert!(advised(old).contains("ALLOC_CONF=max_split_size_mb:128"));
}

#[test]
fn libraries_have_no_names_of_others() {
    let paddle = "ResourceExhaustedError: Out of memory error on GPU 0. Cannot allocate 2.250000GB memory on GPU 0, 22.187500GB memory \
                  has been allocated and available memory is only 1.500000GB.";
    let text = advised(paddle);
    assert!(
        text.contains("paddle") && !text.contains("TensorFlow") && !text.contains("Keras"),
        "{text}"
    );
    let accelerate = "ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the \
                      quantized model. If you want to dispatch the model on the CPU or the disk while keeping these modules in 32-bit, \
                      you need to set `llm_int8_enable_fp32_cpu_offload=True` and pass a custom `device_map` to `from_pretrained`.";
    let text = advised(accelerate);
    assert!(text.contains("`device_map`") && !text.contains("gradients"), "{text}");
    let ollama = "Error: model requires more system memory (48.6 GiB) than is available (30.1 GiB)";
    let text = advised(ollama);
    assert!(text.contains("smaller model") && !text.contains("data loader"), "{text}");
}

#[test]
fn a_server_without_room_for_any_key_is_not_told_to_shorten_requests() {
    let log = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the \
               engine.";
    let text = advised(log);
    assert!(text.starts_with("Raise `gpu_memory_utilization`"), "{text}");
    assert!(!text.contains("max_model_len") && !text.contains("kv_cache_dtype"), "{text}");
    // Where the log says that the share cannot be raised, what is first is no alternative to anything.
    let text = advised(&format!("INFO gpu_memory_utilization=0.98\n{log}"));
    assert!(
        text.starts_with("Make the weights smaller") && text.contains("\nOr leave out"),
        "{text}"
    );
}

#[test]
fn a_server_that_could_not_start_ends_its_processes() {
    let log = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n\n[2026-11-20 10:00:41] Received \
               sigquit from a child process. It usually means the child failed.\nKilled\n";
    assert_eq!(diagnose(log)[0].consequences.len(), 1);
    advised(log);
}

#[test]
fn an_error_that_multiprocessing_prints_again_is_one() {
    let said = "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, \
                which is larger than the available KV cache memory (5.66 GiB). Based on the available memory, the estimated \
                maximum model length is 46384.";
    let head = "(EngineCore_DP0 pid=420) ERROR 11-20 10:01:40 [core.py:708]";
    let log = format!(
        "{head} Traceback (most recent call last):\n{head}   File \"core.py\", line 699, in run\n{head}     raise \
         ValueError(\n{head} {said}\n(EngineCore_DP0 pid=420) Process EngineCore_DP0:\n(EngineCore_DP0 pid=420) Traceback \
         (most recent call last):\n(EngineCore_DP0 pid=420)     raise ValueError(\n(EngineCore_DP0 pid=420) {said}\n"
    );
    advised(&log);
}
