#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| tilescope::fuzzing::ttnn_graph(input));
