//! The table of files that are not text.

use super::peek::Peek;
use super::{
    DUMP_MODULES, EXTRACT, Form, Look, Lookalike, NO_PROFILE, NOT_READ, OPENS, RECORD_SNAPSHOT,
    first_of,
};

/// Tables of Nsight Systems, in its export as SQLite.
const NSYS_TABLES: [&str; 5] =
    ["CUPTI_ACTIVITY_KIND_", "TARGET_INFO_", "NVTX_EVENTS", "OSRT_API", "TARGET_INFO_SYSTEM_ENV"];
/// Tables of the reports of TT-NN.
const TTNN_TABLES: [&str; 3] = ["operation_arguments", "buffer_pages", "device_operations"];

fn is_sqlite(of: &Peek) -> bool {
    of.begins(b"SQLite format 3\0")
}

/// Whether it may be a report: a database that is not of another program.
pub(super) fn is_database(of: &Peek) -> bool {
    is_sqlite(of) && !of.has_any(&NSYS_TABLES)
}

/// Whether a zip archive is what torch.save or torch.export writes.
fn is_zip(of: &Peek) -> bool {
    of.begins(b"PK\x03\x04") || of.begins(b"PK\x05\x06")
}

/// Whether a message has the fields of a trace packet, several of them, and most of them the id of their sequence.
fn is_perfetto(of: &Peek) -> bool {
    let packets: Vec<_> = of.fields().take(64).collect();
    let is_packet = |message: &[u8]| {
        let packet = Peek::of_bytes("", message);
        packet.fields().any(|(number, value)| number == 10 && value.is_none())
    };
    let packets_of_trace =
        packets.iter().filter(|(number, value)| *number == 1 && value.is_some_and(is_packet));
    packets.iter().all(|(number, _)| *number == 1)
        && packets_of_trace.count().saturating_mul(2) > packets.len().max(2)
}

/// Whether a message has the fields of a profile of pprof: types of values, samples, and many texts of which the first
/// is empty.
fn is_pprof(of: &Peek) -> bool {
    let mut has = [false; 3];
    for (number, value) in of.fields() {
        let place = match (number, value) {
            (1, Some(_)) => 0,
            (2, Some(_)) => 1,
            (4..=6, Some(_)) => 2,
            (3, Some(_)) | (7..=15, _) => continue,
            _ => return false,
        };
        if let Some(slot) = has.get_mut(place) {
            *slot = true;
        }
    }
    has == [true; 3]
}

/// Whether a message has the fields of an ONNX model: a version, and the name of what wrote it.
fn is_onnx(of: &Peek) -> bool {
    let is_name = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_graphic);
    let mut fields = of.fields();
    let first = [fields.next(), fields.next()];
    matches!(first, [Some((1, None)), Some((2, Some(name)))] if is_name(name))
}

/// The kinds, the most particular first.
const TABLE: &[Lookalike<Peek>] = &[
    // PyTorch.
    Lookalike {
        is: |of| {
            is_zip(of)
                && (of.zips("serialized_exported_program.json")
                    || of.zips("archive_format")
                    || of.zips("/models/model.json"))
        },
        what: "a torch.export program",
        whose: "PyTorch",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: |of| {
            is_zip(of)
                && of.zips("/data.pkl")
                && (of.zips("/constants.pkl") || of.zips(".py"))
                && of.zipped.iter().any(|name| name.contains("/code/"))
        },
        what: "a TorchScript model",
        whose: "PyTorch",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: |of| is_zip(of) && of.zips("/data.pkl"),
        what: "a torch.save checkpoint",
        whose: "PyTorch",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: |of| of.pickle().is_legacy_save,
        what: "a torch.save checkpoint in the format before version 1.6",
        whose: "PyTorch",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: |of| of.pickle().holds("torch"),
        what: "a pickle of objects",
        whose: "PyTorch",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: |of| of.pickle().holds("jax") || of.pickle().holds("jaxlib"),
        what: "a pickle of objects",
        whose: "JAX",
        but: NO_PROFILE,
        hint: DUMP_MODULES,
    },
    Lookalike {
        is: |of| of.pickle().holds("pandas"),
        what: "a pickle of tables",
        whose: "pandas",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.pickle().holds("sklearn"),
        what: "a pickle of objects",
        whose: "scikit-learn",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.pickle().holds("numpy"),
        what: "a pickle of arrays",
        whose: "NumPy",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.pickle().names_library(),
        what: "a pickle of Python objects",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.pickle().is_one,
        what: "a pickle",
        whose: "Python",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
    // Weights and arrays.
    Lookalike {
        is: |of| of.has_at(8, b"{\"") && (of.ends(&[".safetensors"]) || of.has("\"data_offsets\"")),
        what: "a safetensors file with model weights",
        whose: "Hugging Face",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: |of| [b"GGUF", b"lmgg", b"tjgg", b"fmgg"].iter().any(|magic| of.begins(*magic)),
        what: "a GGUF file with model weights",
        whose: "llama.cpp",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.begins(b"\x93NUMPY"),
        what: "an npy array",
        whose: "NumPy",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| is_zip(of) && (of.ends(&[".npz"]) || of.zips(".npy")),
        what: "an npz archive of arrays",
        whose: "NumPy",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| is_zip(of) && of.zips("model.weights.h5"),
        what: "a model",
        whose: "Keras",
        but: NO_PROFILE,
        hint: DUMP_MODULES,
    },
    Lookalike {
        is: |of| of.begins(b"\x89HDF\r\n\x1A\n") && (of.ends(&[".keras"]) || of.has("keras")),
        what: "an HDF5 model",
        whose: "Keras",
        but: NO_PROFILE,
        hint: DUMP_MODULES,
    },
    Lookalike {
        is: |of| of.begins(b"\x89HDF\r\n\x1A\n"),
        what: "an HDF5 file",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike { is: is_onnx, what: "an ONNX model", whose: "", but: NO_PROFILE, hint: OPENS },
    Lookalike {
        is: |of| of.has_at(4, b"TFL3"),
        what: "a TensorFlow Lite model",
        whose: "Google",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.has_at(4, b"ORTM"),
        what: "an ONNX Runtime model",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    // What other profilers write.
    Lookalike {
        is: |of| of.begins(b"memray\0"),
        what: "a capture of Python memory",
        whose: "memray",
        but: ", and holds no memory of a GPU",
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: |of| of.has_at(12, b"\x09") && of.has("brain.Event") || of.name.contains("tfevents"),
        what: "a tfevents file",
        whose: "TensorBoard",
        but: NO_PROFILE,
        hint: "Open the .xplane.pb file of the run instead: it lies in plugins/profile/ below the log directory \
               where the profiler ran.",
    },
    Lookalike {
        is: |of| of.ends(&[".nsys-rep", ".qdrep", ".qdstrm"]),
        what: "an Nsight Systems report",
        whose: "NVIDIA",
        but: NOT_READ,
        hint: OPENS,
    },
    Lookalike {
        is: |of| is_sqlite(of) && of.has_any(&NSYS_TABLES),
        what: "an SQLite export of an Nsight Systems report",
        whose: "NVIDIA",
        but: NOT_READ,
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.begins(b"NVR\0") || of.ends(&[".ncu-rep"]),
        what: "an Nsight Compute report",
        whose: "NVIDIA",
        but: NOT_READ,
        hint: OPENS,
    },
    Lookalike {
        is: |of| is_sqlite(of) && of.has_any(&TTNN_TABLES),
        what: "a TT-NN report",
        whose: "Tenstorrent",
        but: " that lacks the table operations or buffers",
        hint: OPENS,
    },
    Lookalike {
        is: |of| is_sqlite(of),
        what: "an SQLite database",
        whose: "",
        but: " without tables that Tilescope knows",
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.ends(&[".pftrace", ".perfetto-trace", ".perfetto"]) || is_perfetto(of),
        what: "a trace",
        whose: "Perfetto",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| is_pprof(of) && of.has_any(&["jaxlib", "jax/_src", "jit", "xla"]),
        what: "a device memory profile in pprof format",
        whose: "JAX",
        but: NOT_READ,
        hint: DUMP_MODULES,
    },
    Lookalike {
        is: |of| is_pprof(of) || of.ends(&[".pprof"]),
        what: "a pprof profile",
        whose: "",
        but: NOT_READ,
        hint: OPENS,
    },
    // Programs.
    Lookalike {
        is: |of| of.begins(b"ML\xEFR"),
        what: "a StableHLO program in MLIR bytecode",
        whose: "XLA",
        but: ", which says nothing about memory before it is compiled",
        hint: DUMP_MODULES,
    },
    Lookalike {
        is: |of| of.ends(&["saved_model.pb"]),
        what: "a SavedModel",
        whose: "TensorFlow",
        but: NO_PROFILE,
        hint: DUMP_MODULES,
    },
    Lookalike {
        is: |of| of.begins(b"\x7FELF"),
        what: "an executable or library (ELF)",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| {
            of.begins(b"\xCF\xFA\xED\xFE") || of.begins(b"\xCA\xFE\xBA\xBE") || of.begins(b"MZ")
        },
        what: "an executable or library",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.begins(b"!<arch>\n"),
        what: "a static library",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    // Archives.
    Lookalike { is: is_zip, what: "a zip archive", whose: "", but: NOT_READ, hint: EXTRACT },
    Lookalike {
        is: |of| of.has_at(257, b"ustar"),
        what: "a tar archive",
        whose: "",
        but: NOT_READ,
        hint: EXTRACT,
    },
    Lookalike {
        is: |of| of.begins(b"\x28\xB5\x2F\xFD"),
        what: "a file compressed with Zstandard (zst)",
        whose: "",
        but: NOT_READ,
        hint: "Decompress it first (`zstd -d FILE`), then open what comes out.",
    },
    Lookalike {
        is: |of| of.begins(b"\xFD7zXZ\0"),
        what: "a file compressed with xz",
        whose: "",
        but: NOT_READ,
        hint: "Decompress it first (`xz -dk FILE`), then open what comes out.",
    },
    Lookalike {
        is: |of| of.begins(b"BZh"),
        what: "a file compressed with bzip2",
        whose: "",
        but: NOT_READ,
        hint: "Decompress it first (`bunzip2 -k FILE`), then open what comes out.",
    },
    Lookalike {
        is: |of| of.begins(b"\x04\x22\x4D\x18"),
        what: "a file compressed with LZ4",
        whose: "",
        but: NOT_READ,
        hint: "Decompress it first (`lz4 -d FILE`), then open what comes out.",
    },
    Lookalike {
        is: |of| of.begins(b"7z\xBC\xAF\x27\x1C") || of.begins(b"Rar!\x1A\x07"),
        what: "an archive (7z or rar)",
        whose: "",
        but: NOT_READ,
        hint: EXTRACT,
    },
    // Tables.
    Lookalike {
        is: |of| of.begins(b"PAR1"),
        what: "a Parquet file",
        whose: "",
        but: NO_PROFILE,
        hint: "Query it with DuckDB, pandas or Spark. A run is opened by its own files.",
    },
    Lookalike {
        is: |of| of.begins(b"ARROW1") && of.has_all(&["element", "checksum", "values"]),
        what: "a file of the index cache",
        whose: "Tilescope",
        but: NO_PROFILE,
        hint: "Open the run that it was made from; `tilescope index --list` lists these files with their runs.",
    },
    Lookalike {
        is: |of| of.begins(b"ARROW1") || of.begins(b"FEA1"),
        what: "an Arrow file",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    // Documents and pictures.
    Lookalike {
        is: |of| of.begins(b"%PDF"),
        what: "a PDF document",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| {
            let pictures: [&[u8]; 4] = [b"\x89PNG\r\n", b"\xFF\xD8\xFF", b"GIF8", b"BM"];
            let is_webp = of.begins(b"RIFF") && of.has_at(8, b"WEBP");
            is_webp || pictures.iter().any(|magic| of.begins(magic))
        },
        what: "a picture",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    // What only a name says.
    Lookalike {
        is: |of| of.ends(&[".onnx"]),
        what: "an ONNX model",
        whose: "",
        but: NO_PROFILE,
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.ends(&[".pt", ".pth", ".ckpt"]),
        what: "a damaged file with the name of a PyTorch checkpoint",
        whose: "",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
];

/// What a file is that is not text.
pub(super) fn look(of: &Peek) -> Look {
    first_of(TABLE, of, Form::Binary).unwrap_or_else(|| Look {
        is: format!("a file of an unknown kind (it begins with the bytes {})", of.first_bytes()),
        but: "",
        hint: OPENS.to_owned(),
        form: Form::Unknown,
    })
}
