//! The table of text files.

use super::peek::Peek;
use super::{
    DIAGNOSE, DUMP_MODULES, Form, LOG, Look, Lookalike, NO_PROFILE, NOT_READ, OPENS,
    RECORD_SNAPSHOT, first_of,
};

fn is_json(of: &Peek) -> bool {
    of.text().starts_with(b"{") || of.text().starts_with(b"[")
}

/// Whether it is a trace as Chrome shows it: an object with a list of events, or that list.
fn is_chrome_trace(of: &Peek) -> bool {
    let is_list = of.text().starts_with(b"[") && of.has_all(&["\"ph\"", "\"ts\""]);
    is_json(of) && (of.has("\"traceEvents\"") || is_list || is_torch_trace(of))
}

/// Whether it begins as torch.profiler begins its traces, with the events behind it.
fn is_torch_trace(of: &Peek) -> bool {
    of.text().starts_with(b"{")
        && (of.ends(&[".pt.trace.json"])
            || of.has_all(&["\"schemaVersion\"", "\"deviceProperties\""]))
}

/// Whether it is a graph that ttnn.graph captured, alone or with the parts beside it.
pub(super) fn is_capture(of: &Peek) -> bool {
    let is_graph = || of.has_all(&["\"node_type\"", "\"capture_start\""]);
    is_json(of) && (is_graph() || of.has_any(&["\"per_operation_buffers\"", "\"buffer_pages\""]))
}

/// Whether each line is an object of its own.
fn is_lines_of_json(of: &Peek) -> bool {
    let mut lines = of.text().split(|byte| *byte == b'\n').take(2);
    let is_object = |line: &[u8]| {
        let line = line.trim_ascii();
        line.starts_with(b"{") && line.ends_with(b"}")
    };
    lines.next().is_some_and(is_object) && lines.next().is_some_and(is_object)
}

/// The kinds, the most particular first.
const TABLE: &[Lookalike<Peek>] = &[
    Lookalike {
        is: |of| is_json(of) && of.has("\"schema\"") && of.has("\"tilescope."),
        what: "an answer of a command",
        whose: "Tilescope",
        but: NO_PROFILE,
        hint: "Open the run that it is about.",
    },
    Lookalike {
        is: is_torch_trace,
        what: "a torch.profiler trace",
        whose: "PyTorch",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: |of| is_chrome_trace(of) && of.has_any(&["\"highres-ticks\"", "/device:TPU"]),
        what: "a profiler trace",
        whose: "JAX or TensorFlow",
        but: NO_PROFILE,
        hint: "Open the .xplane.pb file that lies beside it.",
    },
    Lookalike {
        is: is_chrome_trace,
        what: "a trace in Chrome's format",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| {
            is_json(of)
                && (of.has("\"device_traces\"")
                    || of.has("\"segments\"") && of.has_any(&["\"total_size\"", "\"blocks\""]))
        },
        what: "a memory snapshot exported as JSON",
        whose: "PyTorch",
        but: NOT_READ,
        hint: "Save the snapshot as a pickle, as torch.cuda.memory._dump_snapshot(\"run.pickle\") does, and open that.",
    },
    Lookalike {
        is: |of| is_json(of) && of.has_any(&["\"allocated_bytes.", "\"reserved_bytes."]),
        what: "a file of memory statistics",
        whose: "PyTorch",
        but: ", which has totals and no blocks",
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: |of| {
            is_json(of) && of.has_any(&["\"weight_map\"", "\"architectures\"", "\"model_type\""])
        },
        what: "a model configuration",
        whose: "Hugging Face",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: is_lines_of_json,
        what: "a file of JSON lines",
        whose: "",
        but: NO_PROFILE,
        hint: DIAGNOSE,
    },
    Lookalike {
        is: |of| is_json(of) && (of.ends(&[".json"]) || of.has("\":")),
        what: "a JSON file of a kind that Tilescope does not know",
        whose: "",
        but: "",
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.text().starts_with(b"HloModule "),
        what: "an HLO program as text",
        whose: "XLA",
        but: ", which does not say where buffers lie",
        hint: DUMP_MODULES,
    },
    Lookalike {
        is: |of| {
            let begins = of.text().starts_with(b"module") || of.text().starts_with(b"#loc");
            of.ends(&[".mlir"]) || begins && of.has_any(&["stablehlo.", "mhlo.", "func.func"])
        },
        what: "a StableHLO program in MLIR text",
        whose: "XLA",
        but: ", which says nothing about memory before it is compiled",
        hint: DUMP_MODULES,
    },
    Lookalike {
        is: |of| of.ends(&["-memory-usage-report.txt"]),
        what: "a memory usage report",
        whose: "XLA",
        but: ", which has totals and no buffers",
        hint: "Open the directory of the dump, or the .hlo.pb or -buffer-assignment.txt file beside it.",
    },
    Lookalike {
        is: |of| is_html(of) && of.has_any(&["MemoryViz", "memory_viz"]),
        what: "a memory_viz page",
        whose: "PyTorch",
        but: NOT_READ,
        hint: "Open the snapshot that it was made from.",
    },
    Lookalike { is: is_html, what: "an HTML page", whose: "", but: NO_PROFILE, hint: OPENS },
    Lookalike {
        is: |of| {
            of.text().starts_with(b"<svg") || of.text().starts_with(b"<?xml") && of.has("<svg")
        },
        what: "an SVG picture",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.begins(b"version https://git-lfs"),
        what: "a Git LFS pointer, not the file itself",
        whose: "",
        but: "",
        hint: "Fetch the file with: git lfs pull",
    },
    Lookalike {
        is: |of| of.ends(&[".csv", ".tsv"]),
        what: "a CSV table",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| {
            of.ends(&[".py", ".ipynb", ".sh", ".yaml", ".yml", ".toml", ".rs", ".cpp", ".h", ".md"])
        },
        what: "a source or configuration file",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.ends(&[".log", ".out", ".err"]),
        what: "a log",
        whose: "",
        but: NO_PROFILE,
        hint: LOG,
    },
];

fn is_html(of: &Peek) -> bool {
    let start = of.text().get(..of.text().len().min(15)).unwrap_or_default().to_ascii_lowercase();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

/// What a text is.
pub(super) fn look(of: &Peek) -> Look {
    first_of(TABLE, of, Form::Text).unwrap_or_else(|| Look {
        is: "a text file".to_owned(),
        but: NO_PROFILE,
        hint: DIAGNOSE.to_owned(),
        form: Form::Text,
    })
}
