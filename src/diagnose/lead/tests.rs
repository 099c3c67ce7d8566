//! Tests of what stands before the text of a line.

use super::*;

fn rest(line: &str) -> String {
    let mut parts = Vec::new();
    lead(line.as_bytes(), &mut parts);
    line.get(text_start(&parts)..).expect("a border of characters").to_owned()
}

#[test]
fn prefixes_of_launchers_and_loggers_are_recognized() {
    for prefix in [
        "[1,0]<stderr>:",
        "[1,mpirank:3,algo-2]<stdout>:",
        "[rank3]: ",
        "[default5]:[rank5]: ",
        "[rank5]:E0707 15:19:48.123000 4242 torch/x.py:123] ",
        " 3: ",
        "10.0.0.5: [rank9]: ",
        "node-7: ",
        "2024-04-03T08:27:22.916100Z stderr F ",
        "2025-07-07T15:19:48.123456Z 00O ",
        "2025-08-02T15:19:48.1236290Z ##[error]",
        "2024-04-03 08:27:22,916 ",
        "2025-07-07 15:19:48,123 - trainer - ERROR - ",
        "2025-07-07 15:19:48.123 | ERROR    | __main__:main:42 - ",
        "2025-07-07T15:19:48Z\tERROR\ttrain\t",
        "worker-1_1  | [1,0]<stderr>:",
        "2020-05-04 09:05:40.721128: E    1578 tensorflow/a/b.cc:76] ",
        "2020-05-04 09:05:40.721128: W tensorflow/a/b.cc:76] ",
        "E0504 09:05:40.721128    1578 b.cc:76] ",
        "Apr  3 08:27:22 host python[4242]: ",
        "Apr  3 08:27:22 host kernel: [12345.678901] ",
        "<13>1 2025-07-07T15:19:48.123Z node01 python 4242 - - ",
        "[2025-07-07 15:19:48,123] [ERROR] [launch.py:325:main] ",
        "[2025-07-07, 15:19:48 UTC] {subprocess.py:93} INFO - ",
        "[2025-07-07 15:19:48,123: WARNING/ForkPoolWorker-1] ",
        "(RayTrainWorker pid=1234, ip=10.0.0.1) ",
        "(Worker_TP5 pid=553) ERROR 07-29 21:48:54 [multiproc_executor.py:962] ",
        "[2025-07-07 15:19:48 TP5] ",
        "ERROR:root:",
        "[pod/train-0/worker] 2025-07-07 15:19:48 [error    ] ",
        "ERROR\t2025-07-07 15:19:48 +0000\tworkerpool0-0\t",
        "> ",
        "wandb: ",
    ] {
        assert_eq!(rest(&format!("{prefix}Tried to allocate")), "Tried to allocate", "{prefix}");
        // A word alone may be a text.
        if !prefix.ends_with('\t') {
            assert_eq!(rest(prefix.trim_end()), "", "{prefix} alone");
        }
    }
    for text in [
        "Tile 0 receives",
        "  indented",
        "",
        "torch.OutOfMemoryError: CUDA out of memory",
        "RESOURCE_EXHAUSTED: Ran out",
        "    reserved        528.00M",
        "  1. Size: 32.00G",
        "(GPU 0; 8.00 GiB total capacity; 7.00 GiB already allocated)",
        "CUDA error: out of memory",
        "std::bad_alloc",
    ] {
        assert_eq!(rest(text), text);
    }
}

#[test]
fn lines_of_one_writer_have_the_same_key() {
    let key = |line: &str| {
        let mut parts = Vec::new();
        lead(line.as_bytes(), &mut parts);
        parts.last().expect("a part").key
    };
    for (one, other) in [
        ("2025-07-07 15:19:48,123 - ERROR - a", "2025-07-08 16:20:49,001 - INFO - b"),
        ("[core.py:708] a", "[executor.py:9] b"),
        (
            "[2025-07-07 15:19:48,123: WARNING/Fork-1] a",
            "[2025-07-07 15:19:49,000: ERROR/Fork-1] b",
        ),
        ("[   12.345678] a", "[12345.000001] b"),
    ] {
        assert_eq!(key(one), key(other));
    }
    for (one, other) in
        [("[rank0]: a", "[rank1]: a"), ("(Worker_TP0 pid=5) a", "(Worker_TP0 pid=6) a")]
    {
        assert_ne!(key(one), key(other));
    }
}
