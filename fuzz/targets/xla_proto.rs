#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| tilescope::fuzzing::xla_proto(input));
