//! Files and directories that no reader takes: every command says what they are, and speaks of no other system.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::words::line_about_ipus;
use crate::common::{in_package, json, sample, tilescope};
use flate2::Compression;
use flate2::write::GzEncoder;

/// A kind of file: its name, its bytes, what the message must have, and what the hint must have.
struct Kind {
    name: &'static str,
    bytes: Vec<u8>,
    says: &'static str,
    hint: &'static str,
    /// Whether a log may look like it.
    is_text: bool,
}

/// A directory: its name, the files in it, and the same words.
type DirectoryKind =
    (&'static str, &'static [(&'static str, &'static [u8])], &'static str, &'static str);

fn binary(
    name: &'static str,
    bytes: impl AsRef<[u8]>,
    says: &'static str,
    hint: &'static str,
) -> Kind {
    Kind { name, bytes: bytes.as_ref().to_vec(), says, hint, is_text: false }
}

fn text(name: &'static str, text: &str, says: &'static str, hint: &'static str) -> Kind {
    Kind { is_text: true, ..binary(name, text, says, hint) }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zip archive of files that are stored as they are.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let offset = u32::try_from(archive.len()).unwrap();
        let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        let name_length = u16::try_from(name.len()).unwrap().to_le_bytes();
        let shared =
            [&[20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &length[..], &length, &name_length]
                .concat();
        archive.extend([b"PK\x03\x04", &shared[..], &[0, 0], name.as_bytes(), bytes].concat());
        let rest = [0; 12];
        directory.extend(
            [b"PK\x01\x02\x14\0", &shared[..], &rest, &offset.to_le_bytes(), name.as_bytes()]
                .concat(),
        );
    }
    archive.extend(directory);
    archive.extend(b"PK\x05\x06");
    archive.extend([0; 18]);
    archive
}

fn tfevents() -> Vec<u8> {
    [
        &[24, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 9][..],
        &[0; 8],
        b"\x1A\x0Dbrain.Event:2",
        &[5, 6, 7, 8],
    ]
    .concat()
}

/// A database with tables.
fn database(tables: &[&str]) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    for table in tables {
        connection.execute(&format!("CREATE TABLE {table} (id INTEGER)"), []).unwrap();
    }
    drop(connection);
    fs::read(path).unwrap()
}

const RECORD: &str = "torch.cuda.memory._dump_snapshot";
const DUMP: &str = "--xla_dump_to";
const OPENS: &str = "Tilescope opens";

fn of_python() -> Vec<Kind> {
    let torch =
        [("m/data.pkl", &b"\x80\x02}q\0."[..]), ("m/data/0", &[0; 16]), ("m/version", b"3\n")];
    let script = [
        ("m/data.pkl", &b"\x80\x02}."[..]),
        ("m/code/m.py", b"x"),
        ("m/constants.pkl", b"\x80\x02)."),
    ];
    let exported = [("m/archive_format", &b"pt2"[..]), ("m/models/model.json", b"{}")];
    let legacy = b"\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.\x80\x02M\xE9\x03.";
    vec![
        binary("model.pt", zip(&torch), "torch.save", RECORD),
        binary("last.ckpt", zip(&torch), "torch.save", RECORD),
        binary("script.pt", zip(&script), "TorchScript", RECORD),
        binary("model.pt2", zip(&exported), "torch.export", RECORD),
        binary("old.pth", legacy, "torch.save", RECORD),
        binary("cut.pth", b"\x01\x02\x03\x04", "checkpoint", RECORD),
        binary("a.pkl", b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\0.", "NumPy", OPENS),
        binary("t.pkl", b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\0.", "PyTorch", RECORD),
        binary("j.pkl", b"\x80\x02cjaxlib.xla_extension\nArray\nq\0.", "JAX", DUMP),
        binary(
            "model.safetensors",
            b"\x40\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}",
            "safetensors",
            RECORD,
        ),
        binary("model.gguf", b"GGUF\x03\0\0\0\x01\0\0\0", "GGUF", OPENS),
        binary("model.onnx", b"\x08\x07\x12\x07pytorch\x1A\x052.1.0\x3A\0", "ONNX", OPENS),
        binary("a.npy", b"\x93NUMPY\x01\0v\0{'descr': '<f4'}", "NumPy", OPENS),
        binary("a.npz", zip(&[("x.npy", b"\x93NUMPY")]), "npz", OPENS),
        binary("a.h5", b"\x89HDF\r\n\x1A\n\0\0\0\0", "HDF5", OPENS),
        binary("m.h5", b"\x89HDF\r\n\x1A\n\0\0keras_version", "Keras", DUMP),
        binary("m.keras", zip(&[("model.weights.h5", b"x")]), "Keras", DUMP),
    ]
}

fn of_profilers() -> Vec<Kind> {
    let trace = "{\"schemaVersion\": 1, \"deviceProperties\": [], \"traceEvents\": [{\"ph\": \"X\", \"ts\": 1}]}";
    let perfetto = [0x0A, 4, 0x40, 1, 0x50, 1].repeat(4);
    let pprof = [
        &b"\x0A\x04\x08\x01\x10\x02\x12\x02\x10\x01\x22\x02\x08\x01\x32\0"[..],
        b"\x32\x07jax/_src\x32\x03jit",
    ]
    .concat();
    vec![
        text("a.pt.trace.json", trace, "torch.profiler", RECORD),
        binary("a.pt.trace.json.gz", gzip(trace.as_bytes()), "torch.profiler", RECORD),
        text("chrome.json", "{\"traceEvents\": []}", "trace", OPENS),
        text("list.json", "[{\"ph\": \"X\", \"ts\": 1, \"name\": \"a\"}]", "trace", OPENS),
        text(
            "jax.json",
            "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":[]}",
            "JAX",
            ".xplane.pb",
        ),
        binary("a.perfetto-trace", &perfetto, "Perfetto", OPENS),
        binary("unnamed", &perfetto, "Perfetto", OPENS),
        binary("a.nsys-rep", b"\xF5\xB1\x01\x02\x03", "Nsight Systems", OPENS),
        binary(
            "nsys.sqlite",
            database(&["CUPTI_ACTIVITY_KIND_KERNEL", "StringIds"]),
            "Nsight Systems",
            OPENS,
        ),
        binary("a.ncu-rep", b"NVR\0\x01\x02\x03\x04", "Nsight Compute", OPENS),
        binary("memray-a.bin", b"memray\0\x0C\0\0\0\0", "memray", RECORD),
        binary("events.out.tfevents.1.host", tfevents(), "TensorBoard", ".xplane.pb"),
        binary("memory.prof", gzip(&pprof), "JAX", DUMP),
        binary("db.sqlite", database(&["operation_arguments", "buffers"]), "Tenstorrent", OPENS),
        text(
            "snapshot.json",
            "{\"segments\": [{\"total_size\": 2, \"blocks\": []}], \"device_traces\": []}",
            "exported as JSON",
            "pickle",
        ),
        text("stats.json", "{\"allocated_bytes.all.peak\": 4}", "statistics", RECORD),
        text(
            "viz.html",
            "<!DOCTYPE html><script src=\"MemoryViz.js\"></script>",
            "memory_viz",
            "snapshot",
        ),
    ]
}

fn others() -> Vec<Kind> {
    let mut tar = vec![0; 1024];
    tar[257..262].copy_from_slice(b"ustar");
    vec![
        text("module_0001.jit_f.txt", "HloModule jit_f\n", "HLO", DUMP),
        text(
            "f.mlir",
            "module @f {\n  func.func @main() { stablehlo.add }\n}\n",
            "StableHLO",
            DUMP,
        ),
        binary("f.mlirbc", b"ML\xEFR\x0D\x01\x02", "StableHLO", DUMP),
        binary("saved_model.pb", b"\x08\x01\x12\x04\x0A\x02ab", "TensorFlow", DUMP),
        binary("a.zst", b"\x28\xB5\x2F\xFD\x04\x00", "Zstandard", "zstd -d"),
        binary("a.xz", b"\xFD7zXZ\0\0\x04", "xz", "xz -dk"),
        binary("a.bz2", b"BZh91AY&SY\x01\x02", "bzip2", "bunzip2"),
        binary("a.zip", zip(&[("run/snapshot.pickle", b"x")]), "zip", "Extract"),
        binary("a.tar", &tar, "tar", "Extract"),
        binary("a.tar.gz", gzip(&tar), "tar", "Extract"),
        binary(
            "graph_capture.json.gz",
            gzip(br#"[{"counter": 0, "node_type": "capture_start", "params": {}}]"#),
            "a graph capture (Tenstorrent), compressed with gzip",
            "Decompress it first",
        ),
        binary(
            "db.sqlite.gz",
            gzip(&database(&["cats"])),
            "SQLite database, compressed with gzip",
            "Decompress it first",
        ),
        Kind {
            is_text: true,
            ..binary("run.log.gz", gzip(b"epoch 1\nloss 3\n"), "gzip", "tilescope diagnose")
        },
        binary("lib.so", b"\x7FELF\x02\x01\x01\0\0", "ELF", OPENS),
        binary("a.pdf", b"%PDF-1.7\n\x01\x02\x03\x04", "PDF", OPENS),
        binary("a.png", b"\x89PNG\r\n\x1A\n\0\0\0\x0D", "picture", OPENS),
        binary("a.parquet", b"PAR1\x15\x04\x15\x10", "Parquet", "DuckDB"),
        binary("a.arrow", b"ARROW1\0\0\xFF\xFF\xFF\xFF", "Arrow", OPENS),
        binary("a.db", database(&["cats"]), "SQLite", OPENS),
        binary("nothing-known", b"\x01\x02\x03\x04\x05", "01 02 03 04 05", OPENS),
        text(
            "config.json",
            "{\"architectures\": [\"Llama\"], \"model_type\": \"llama\"}",
            "Hugging Face",
            RECORD,
        ),
        text("some.json", "{\"a\": 1}", "JSON", OPENS),
        text("profile.json", "{\"a\": 1}", "JSON", OPENS),
        text("app.json", "{\"batch\": 1}", "JSON", OPENS),
        text("lines.jsonl", "{\"a\": 1}\n{\"a\": 2}\n", "JSON lines", "tilescope diagnose"),
        text("a.csv", "a,b\n1,2\n", "CSV", OPENS),
        text("train.py", "import torch\n", "source", OPENS),
        text("train.log", "epoch 1\nloss 3\n", "a log", "tilescope diagnose"),
        text("notes", "epoch 1\nloss 3\n", "a text file", "tilescope diagnose"),
        text("empty.pickle", "", "empty (0 bytes)", "ended before"),
    ]
}

/// Asserts that no word of another system is said; `path` is the user's own.
fn assert_neutral(output: &Output, path: &Path) {
    let both = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8(both).unwrap().replace(&path.display().to_string(), "PATH");
    assert_eq!(line_about_ipus(&said, false), None, "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

/// Runs a command on a path and asserts that it is refused with these words.
fn assert_refused(arguments: &[&str], path: &Path, says: &str, hint: &str) {
    let output = tilescope(arguments);
    assert_eq!(output.status.code(), Some(3), "{arguments:?}: {output:?}");
    assert_neutral(&output, path);
    let error = &json(&output)["error"];
    let message =
        error["message"].as_str().expect("a message").replace(&path.display().to_string(), "PATH");
    assert!(message.starts_with("PATH is ") && message.contains(says), "{says}: {message}");
    let said = error["hint"].as_str().expect("a hint");
    assert!(said.contains(hint), "{arguments:?}, {hint}: {said}");
    assert_eq!(error["file"], path.display().to_string(), "{error}");
}

fn snapshot() -> PathBuf {
    in_package("sample_profiles/training/segments-0/snapshot.pickle")
}

fn check_all(path: &Path, says: &str, hint: &str) {
    let (name, snapshot) = (path.display().to_string(), snapshot().display().to_string());
    for arguments in [
        &["summary", &name, "--json"][..],
        &["compare", &name, &snapshot, "--json"],
        &["compare", &snapshot, &name, "--json"],
        &["sweep", &name, "--json"],
        &["check", &name, "--must-fit", "--json"],
    ] {
        assert_refused(arguments, path, says, hint);
    }
}

fn check_kinds(kinds: Vec<Kind>) {
    let directory = tempfile::tempdir().unwrap();
    for Kind { name, bytes, says, hint, is_text } in kinds {
        // Each has a directory of its own: what lies beside a file is looked at.
        let alone = directory.path().join(format!("of-{name}"));
        fs::create_dir(&alone).unwrap();
        let path = alone.join(name);
        fs::write(&path, bytes).unwrap();
        check_all(&path, says, hint);
        let arguments = ["diagnose", &path.display().to_string(), "--json"];
        if is_text {
            let output = tilescope(&arguments);
            assert_eq!(output.status.code(), Some(0), "{name}: {output:?}");
            assert_neutral(&output, &path);
        } else {
            assert_refused(&arguments, &path, says, hint);
        }
    }
}

#[test]
fn files_of_python_libraries_are_called_what_they_are() {
    check_kinds(of_python());
}

#[test]
fn files_of_other_profilers_are_called_what_they_are() {
    check_kinds(of_profilers());
}

#[test]
fn other_files_are_called_what_they_are() {
    check_kinds(others());
}

#[test]
fn directories_are_called_what_they_are() {
    let kinds: [DirectoryKind; 12] = [
        ("empty", &[], "an empty directory", OPENS),
        ("tensorboard", &[("run/events.out.tfevents.1.host", b"x")], "TensorBoard", ".xplane.pb"),
        (
            "hugging-face",
            &[("config.json", b"{}"), ("model.safetensors", b"x")],
            "Hugging Face",
            RECORD,
        ),
        ("saved", &[("saved_model.pb", b"\x08\x01")], "TensorFlow", DUMP),
        ("orbax", &[("_CHECKPOINT_METADATA", b"{}")], "Orbax", DUMP),
        ("checkpoints", &[("checkpoint-500/trainer_state.json", b"{}")], "checkpoints", RECORD),
        ("traces", &[("a.pt.trace.json", b"{}")], "torch.profiler", RECORD),
        ("compressed", &[("rank0.pickle.gz", b"\x1F\x8B")], "compressed files", "Decompress"),
        ("repository", &[(".git/HEAD", b"ref"), ("a.txt", b"x")], "Git repository", OPENS),
        ("source", &[("pyproject.toml", b""), ("a.py", b"")], "source directory", OPENS),
        ("logs", &[("rank0.log", b"epoch 1\n"), ("rank1.log", b"epoch 1\n")], "logs", "diagnose"),
        (
            "other",
            &[("a.bin", b"\x01"), ("b.dat", b"\x02"), ("c", b"\x03")],
            "without anything",
            OPENS,
        ),
    ];
    let directory = tempfile::tempdir().unwrap();
    for (name, files, says, hint) in kinds {
        let path = directory.path().join(name);
        fs::create_dir(&path).unwrap();
        for (name, bytes) in files {
            let file = path.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        check_all(&path, says, hint);
        let arguments = ["diagnose", &path.display().to_string(), "--json"];
        let output = tilescope(&arguments);
        assert_eq!(output.status.code(), Some(3), "{name}: {output:?}");
        assert_neutral(&output, &path);
    }
}

#[test]
fn what_tilescope_wrote_itself_is_known() {
    let directory = tempfile::tempdir().unwrap();
    let (lake, cache) = (directory.path().join("lake"), directory.path().join("cache"));
    let snapshot = snapshot().display().to_string();
    let output = tilescope(&["export", &snapshot, "--parquet", &lake.display().to_string()]);
    assert!(output.status.success(), "{output:?}");
    check_all(&lake, "a lake", "DuckDB");
    let output = Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(["index", &snapshot])
        .env("XDG_CACHE_HOME", &cache)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let index = cache.join("tilescope/index");
    check_all(&index, "the index cache", "tilescope index --list");
    let file = fs::read_dir(&index)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|ending| ending == "arrow"));
    check_all(&file.expect("an index"), "index cache", "Open the run");
    let answer = directory.path().join("answer.json");
    fs::write(&answer, tilescope(&["summary", &snapshot, "--json"]).stdout).unwrap();
    check_all(&answer, "an answer of a command", "Open the run");
}

/// All other commands that take a run ask the same way.
#[test]
fn every_command_refuses_alike() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.gguf");
    fs::write(&path, b"GGUF\x03\0\0\0\x01").unwrap();
    let (name, lake) = (path.display().to_string(), directory.path().join("lake"));
    let lake = lake.display().to_string();
    for arguments in [
        &["tiles", &name, "--json"][..],
        &["liveness", &name, "--json"],
        &["ops", &name, "--json"],
        &["trace", &name, "--json"],
        &["map", &name, "--tile", "0", "--json"],
        &["index", &name, "--json"],
        &["export", &name, "--parquet", &lake, "--json"],
        &["sweep", &name, &name, "--json"],
        &["sweep", &snapshot().display().to_string(), &name, "--json"],
    ] {
        assert_refused(arguments, &path, "GGUF", OPENS);
    }
}

#[test]
fn without_a_display_no_command_is_promised_that_fails() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.gguf");
    fs::write(&path, b"GGUF\x03\0\0\0\x01").unwrap();
    let output = tilescope(&[&path.display().to_string()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("GGUF") && !said.contains("tilescope summary"), "{said}");
    let output = tilescope(&[&snapshot().display().to_string()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("`tilescope summary"), "{said}");
    let several = in_package("sample_profiles/training").display().to_string();
    let said = String::from_utf8_lossy(&tilescope(&[&several]).stderr).into_owned();
    assert!(said.contains("`tilescope sweep"), "{said}");
}

#[test]
fn several_runs_in_a_directory_lead_to_sweep() {
    let directory = tempfile::tempdir().unwrap();
    let mixed = directory.path().join("mixed");
    let nested = mixed.join("snapshots");
    fs::create_dir_all(&nested).unwrap();
    fs::copy(snapshot(), nested.join("run.pickle")).unwrap();
    fs::write(nested.join("app.json"), "{\"batch_size\": 4}").unwrap();
    let dump = mixed.join("dump");
    fs::create_dir(&dump).unwrap();
    for file in fs::read_dir(in_package("sample_profiles/xla/keep")).unwrap().flatten() {
        fs::copy(file.path(), dump.join(file.file_name())).unwrap();
    }
    for name in ["a", "b"] {
        let report = directory.path().join("reports").join(name);
        fs::create_dir_all(&report).unwrap();
        fs::copy(sample().join("profile.pop"), report.join("profile.pop")).unwrap();
    }
    let [training, reports] =
        [in_package("sample_profiles/training"), directory.path().join("reports")];
    for path in [&training, &reports, &mixed, &directory.path().to_owned()] {
        let output = tilescope(&["summary", &path.display().to_string(), "--json"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let hint = json(&output)["error"]["hint"].to_string();
        assert!(hint.contains(&format!("`tilescope sweep {}`", path.display())), "{hint}");
    }
    let said = |path: &Path| {
        let output = tilescope(&["summary", &path.display().to_string(), "--json"]);
        json(&output)["error"]["message"].as_str().unwrap().to_owned()
    };
    let of_mixed = said(&mixed);
    assert!(of_mixed.contains("holds 2 runs"), "{of_mixed}");
    assert!(of_mixed.contains("run.pickle (PyTorch)"), "{of_mixed}");
    assert!(of_mixed.contains(".hlo.pb (XLA)"), "{of_mixed}");
    let of_all = said(directory.path());
    assert!(of_all.contains("holds 4 runs") && of_all.contains("/a (Poplar)"), "{of_all}");
    // What lies beside a snapshot is no report that is missing.
    let output = tilescope(&["sweep", &directory.path().display().to_string(), "--json"]);
    let runs = json(&output)["runs"].as_array().expect("runs").len();
    assert_eq!(runs, 4, "{output:?}");
}

/// A directory of one run beside what is none is opened.
#[test]
fn one_run_among_other_files_is_opened() {
    let directory = tempfile::tempdir().unwrap();
    let in_it = |name: &str| directory.path().join(name);
    fs::write(in_it("events.out.tfevents.1.host"), b"x").unwrap();
    fs::write(in_it("config.json"), b"{}").unwrap();
    fs::write(in_it("model.safetensors"), b"x").unwrap();
    fs::create_dir(in_it("lake")).unwrap();
    fs::create_dir(in_it("memory")).unwrap();
    fs::copy(snapshot(), in_it("memory/run.pickle")).unwrap();
    let output = tilescope(&["summary", &directory.path().display().to_string(), "--json"]);
    assert_eq!(json(&output)["source"]["system"], "pytorch", "{output:?}");
    let profile = in_it("plugins/profile/2026_11_27");
    fs::create_dir_all(&profile).unwrap();
    fs::remove_file(in_it("memory/run.pickle")).unwrap();
    for file in fs::read_dir(in_package("sample_profiles/xla/keep")).unwrap().flatten() {
        fs::copy(file.path(), profile.join(file.file_name())).unwrap();
    }
    let output = tilescope(&["summary", &directory.path().display().to_string(), "--json"]);
    assert_eq!(json(&output)["source"]["system"], "xla", "{output:?}");
}

/// What is damaged or incomplete is still answered by the system that it is of.
#[test]
fn a_system_answers_for_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::create_dir_all(path("report")).unwrap();
    fs::copy(sample().join("debug.cbor"), path("report/debug.cbor")).unwrap();
    fs::write(path("cut.pop"), b"SQLite").unwrap();
    fs::write(path("plain.pickle"), b"\x80\x04}\x94\x8C\x01aK\x01s.").unwrap();
    fs::write(path("module_0001.f.hlo.pb"), b"\x0A\xFF").unwrap();
    for (name, words) in [
        ("report", "profile.pop"),
        ("report/debug.cbor", "profile.pop"),
        ("cut.pop", "SQLite format 3"),
        ("plain.pickle", "not a memory snapshot"),
        ("module_0001.f.hlo.pb", "no proto of XLA"),
    ] {
        let output = tilescope(&["summary", &path(name).display().to_string(), "--json"]);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let error = json(&output)["error"].to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
    // A profile under another name is one.
    fs::copy(sample().join("profile.pop"), path("renamed.sqlite")).unwrap();
    let output = tilescope(&["summary", &path("renamed.sqlite").display().to_string(), "--json"]);
    assert!(output.status.success(), "{output:?}");
}

/// That a file may not be read is said as the system says it.
#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_called_so() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.gguf");
    fs::write(&path, b"GGUF").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::File::open(&path).is_ok() {
        eprintln!("skipped: root may read everything");
        return;
    }
    for command in ["summary", "diagnose"] {
        let output = tilescope(&[command, &path.display().to_string(), "--json"]);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let error = &json(&output)["error"];
        assert_eq!(error["kind"], "unreadable", "{error}");
        assert!(error["hint"].to_string().contains("permissions"), "{error}");
        assert_neutral(&output, &path);
    }
}

/// The shared cases of wrong input, where they are there.
#[test]
fn shared_cases_of_wrong_input_are_right() {
    let cases = in_package("../shared/cases");
    let script = cases.join("check.py");
    if !script.is_file() {
        eprintln!("skipped: ../shared/cases is absent");
        return;
    }
    // The script takes a directory: that of the cases of this group.
    let group = tempfile::tempdir().unwrap();
    let mut count = 0;
    for entry in fs::read_dir(&cases).unwrap().flatten() {
        let path = entry.path();
        let Some(input) = path.to_str().and_then(|path| path.strip_suffix(".expected.json")) else {
            continue;
        };
        let expected: serde_json::Value =
            serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        if expected["group"] == "wrong input" {
            count += 1;
            for path in [&path, Path::new(input)] {
                fs::copy(path, group.path().join(path.file_name().unwrap())).unwrap();
            }
        }
    }
    let run = Command::new("python3")
        .arg(script)
        .args([Path::new(env!("CARGO_BIN_EXE_tilescope")), group.path()])
        .output();
    let Ok(output) = run else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains(&format!("{count} of {count} cases right")), "{said}{output:?}");
}
