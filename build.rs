//! Works out a number that changes with the source of the readers and their limits, the store, the index, the cross-checks and the replay, so that an index that
//! was written by another version of them is never used. (A stable hash: FNV-1a.)

use std::path::{Path, PathBuf};

fn sources(path: &Path, files: &mut Vec<PathBuf>) {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().for_each(|entry| sources(&entry.path(), files)),
        Err(_) => files.push(path.to_owned()),
    }
}

fn main() {
    let mut files = Vec::new();
    let layers = [
        "src/format",
        "src/store",
        "src/index",
        "src/limits.rs",
        "src/systems/poplar/cross_checks",
        "src/systems/poplar/files",
        "src/systems/pytorch/files",
        "src/systems/pytorch/allocator",
        "src/systems/pytorch/run",
        "src/systems/tenstorrent/files",
        "src/systems/tenstorrent/memory",
        "src/systems/tenstorrent/recorded",
        "src/systems/tenstorrent/run",
        "src/systems/xla/files",
        "src/systems/xla/run",
    ];
    for layer in layers {
        // What is not there would be left out of the number, and cargo would build everything again each time.
        assert!(Path::new(layer).exists(), "build.rs names {layer}, which was moved");
        println!("cargo::rerun-if-changed={layer}");
        sources(Path::new(layer), &mut files);
    }
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in files.iter().filter_map(|file| std::fs::read(file).ok()).flatten() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    println!("cargo::rustc-env=TILESCOPE_READERS={hash:016x}");
}
