//! Works out a number that changes with the source of the readers and their limits, the store, the index, the cross-checks and the replay, so that an index that
//! was written by another version of them is never used. (A stable hash: FNV-1a.) It lists the files of the Python package, which the program brings. For a
//! release build it also asks git for the commit.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

fn sources(path: &Path, files: &mut Vec<PathBuf>) {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().for_each(|entry| sources(&entry.path(), files)),
        Err(_) => files.push(path.to_owned()),
    }
}

/// Output of git; `None` without git or outside a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The commit that is built, with its date, and whether files differ from it.
fn commit() -> Option<String> {
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let here = std::env::var_os("CARGO_MANIFEST_DIR")?;
    // Sources that were unpacked inside another repository are not of its commit.
    if Path::new(&top).canonicalize().ok()? != Path::new(&here).canonicalize().ok()? {
        return None;
    }
    let commits = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&commits).exists() {
        println!("cargo::rerun-if-changed={commits}");
    }
    println!("cargo::rerun-if-changed=src");
    let is_changed = git(&["status", "--porcelain", "-uno"]).is_some();
    let commit = git(&["log", "-1", "--format=%h %cs"])?;
    Some(if is_changed { commit + ", changed" } else { commit })
}

/// What `--version` says. A debug build has no commit, because each commit would rebuild everything.
fn version() -> String {
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    match is_release.then(commit).flatten() {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    }
}

/// Writes the expression that has each file of the Python package by its name, with its text.
fn list_python_package() -> io::Result<()> {
    let package = Path::new("python/tilescope").canonicalize()?;
    let mut files = Vec::new();
    sources(&package, &mut files);
    // Not what Python has compiled.
    files.retain(|file| file.extension().is_some_and(|kind| kind == "py" || kind == "typed"));
    files.sort();
    let mut list = String::from("&[");
    for file in files {
        let name = file.strip_prefix(&package).map_err(io::Error::other)?;
        list += &format!(
            "({:?}, include_str!({:?})),",
            name.display().to_string(),
            file.display().to_string()
        );
        println!("cargo::rerun-if-changed={}", file.display());
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    std::fs::write(out.join("python_package.rs"), list + "]")
}

fn main() -> io::Result<()> {
    list_python_package()?;
    println!("cargo::rustc-env=TILESCOPE_VERSION={}", version());
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
    Ok(())
}
