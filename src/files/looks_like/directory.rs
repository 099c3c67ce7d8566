//! The table of directories.

use std::fs;
use std::io;
use std::path::Path;

use super::peek::Peek;
use super::{
    DUMP_MODULES, Form, Look, Lookalike, NO_PROFILE, NOT_READ, OPENS, RECORD_SNAPSHOT, binary,
    first_of,
};

/// Entries of a directory that are looked at.
pub(crate) const MOST_ENTRIES: usize = 2000;
/// Directories in it that are looked into, and entries of each.
const MOST_BELOW: usize = 64;

/// The names in a directory.
#[derive(Debug, Default)]
struct Directory {
    files: Vec<String>,
    directories: Vec<String>,
    /// What lies in its directories, by its own name.
    below: Vec<String>,
    /// What its file `db.sqlite` looks like, and one of its Arrow files.
    database: Option<Look>,
    arrow: Option<Look>,
}

impl Directory {
    fn of(path: &Path) -> io::Result<Self> {
        let mut listing = Self::default();
        for entry in fs::read_dir(path)?.flatten().take(MOST_ENTRIES) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if listing.directories.len() < MOST_BELOW {
                    let below = fs::read_dir(entry.path()).into_iter().flatten().flatten();
                    let names = below.map(|entry| entry.file_name().to_string_lossy().into_owned());
                    listing.below.extend(names.take(MOST_BELOW));
                }
                listing.directories.push(name);
            } else {
                listing.files.push(name);
            }
        }
        let look = |name: &str| Peek::of(&path.join(name)).ok().map(|peek| binary::look(&peek));
        listing.database = listing.has("db.sqlite").then(|| look("db.sqlite")).flatten();
        let is_arrow =
            |name: &&String| Path::new(name).extension().is_some_and(|end| end == "arrow");
        listing.arrow = listing.files.iter().find(is_arrow).and_then(|name| look(name));
        Ok(listing)
    }

    fn has(&self, name: &str) -> bool {
        self.files.iter().any(|file| file == name)
    }

    fn has_directory(&self, name: &str) -> bool {
        self.directories.iter().any(|directory| directory == name)
    }

    /// Whether a file ends so.
    fn ends(&self, endings: &[&str]) -> bool {
        self.files.iter().any(|file| endings.iter().any(|ending| file.ends_with(ending)))
    }

    /// Whether most files end so.
    fn mostly(&self, endings: &[&str]) -> bool {
        let so = |file: &&String| endings.iter().any(|ending| file.ends_with(ending));
        let count = self.files.iter().filter(so).count();
        count > 0 && count.saturating_mul(2) >= self.files.len()
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.directories.is_empty()
    }
}

/// The kinds, the most particular first.
const TABLE: &[Lookalike<Directory>] = &[
    Lookalike {
        is: Directory::is_empty,
        what: "an empty directory",
        whose: "",
        but: "",
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.below.iter().any(|name| name.starts_with("run=")),
        what: "a lake that `tilescope export --parquet` wrote",
        whose: "",
        but: NO_PROFILE,
        hint: "Query its Parquet files with DuckDB, pandas or Spark. A run is opened by its own files.",
    },
    Lookalike {
        is: |of| of.arrow.as_ref().is_some_and(|look| look.is.contains("index cache")),
        what: "the index cache",
        whose: "Tilescope",
        but: NO_PROFILE,
        hint: "Open the runs themselves; `tilescope index --list` lists which have an index.",
    },
    Lookalike {
        is: |of| of.database.as_ref().is_some_and(|look| look.is.contains("Tenstorrent")),
        what: "a TT-NN report",
        whose: "Tenstorrent",
        but: " that lacks the table operations or buffers",
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.files.iter().chain(&of.below).any(|name| name.contains("tfevents")),
        what: "a log directory",
        whose: "TensorBoard",
        but: " without a memory profile",
        hint: "Record one with the profiler (jax.profiler.trace or tf.profiler): the .xplane.pb file that it writes can \
               be opened. For PyTorch, call torch.cuda.memory._dump_snapshot(\"run.pickle\") and open run.pickle.",
    },
    Lookalike {
        is: |of| {
            of.has("config.json")
                && of.ends(&[".safetensors", ".safetensors.index.json", "pytorch_model.bin"])
        },
        what: "a model directory",
        whose: "Hugging Face",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: |of| of.has("saved_model.pb"),
        what: "a SavedModel directory",
        whose: "TensorFlow",
        but: NO_PROFILE,
        hint: DUMP_MODULES,
    },
    Lookalike {
        is: |of| {
            let orbax = ["_CHECKPOINT_METADATA", "_METADATA", "manifest.ocdbt"];
            orbax.iter().any(|name| of.has(name) || of.below.iter().any(|below| below == name))
        },
        what: "a checkpoint directory",
        whose: "Orbax, JAX",
        but: NO_PROFILE,
        hint: DUMP_MODULES,
    },
    Lookalike {
        is: |of| of.ends(&[".pt.trace.json", ".pt.trace.json.gz"]),
        what: "a directory of torch.profiler traces",
        whose: "PyTorch",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: |of| {
            let is_step =
                |name: &String| name.starts_with("checkpoint-") || name.starts_with("global_step");
            let weights = [".pt", ".pth", ".ckpt", ".distcp", ".safetensors"];
            of.directories.iter().any(is_step) || of.has("latest") || of.mostly(&weights)
        },
        what: "a directory of checkpoints",
        whose: "",
        but: NO_PROFILE,
        hint: RECORD_SNAPSHOT,
    },
    Lookalike {
        is: |of| of.ends(&[".nsys-rep", ".ncu-rep", ".qdrep"]),
        what: "a directory of Nsight reports",
        whose: "NVIDIA",
        but: NOT_READ,
        hint: OPENS,
    },
    Lookalike {
        is: |of| {
            of.files
                .iter()
                .any(|name| name.starts_with("module_") && name.contains("optimizations"))
        },
        what: "an XLA dump without buffer assignments",
        whose: "",
        but: "",
        hint: DUMP_MODULES,
    },
    Lookalike {
        is: |of| of.mostly(&[".gz", ".zst", ".xz", ".bz2", ".tar", ".tgz", ".zip"]),
        what: "a directory of compressed files",
        whose: "",
        but: NOT_READ,
        hint: "Decompress them first, then open the directory.",
    },
    Lookalike {
        is: |of| of.has_directory(".git"),
        what: "a Git repository",
        whose: "",
        but: " without a memory profile",
        hint: OPENS,
    },
    Lookalike {
        is: |of| {
            of.mostly(&[".py", ".ipynb", ".rs", ".cpp", ".cc", ".h"])
                || ["pyproject.toml", "setup.py", "Cargo.toml", "package.json", "CMakeLists.txt"]
                    .iter()
                    .any(|name| of.has(name))
        },
        what: "a source directory",
        whose: "",
        but: " without a memory profile",
        hint: OPENS,
    },
    Lookalike {
        is: |of| of.mostly(&[".log", ".out", ".err", ".txt"]),
        what: "a directory of logs",
        whose: "",
        but: NO_PROFILE,
        hint: "Name the logs: `tilescope diagnose FILE...`.",
    },
];

/// What a directory is.
pub(super) fn look(path: &Path) -> io::Result<Look> {
    let listing = Directory::of(path)?;
    Ok(first_of(TABLE, &listing, Form::Directory).unwrap_or_else(|| Look {
        is: "a directory".to_owned(),
        but: " without anything that Tilescope opens, in it or below it",
        hint: OPENS.to_owned(),
        form: Form::Directory,
    }))
}
