//! Comparisons whose rows are many and long: the document has far more bytes than the files, and is never in memory.

use std::path::PathBuf;

use tilescope::cli::compare::{By, CompareArguments, DeviceArguments, Shown, document};
use tilescope::systems::{SYSTEMS, find};

use super::common::seeded::Seeded;
use super::*;

const STACKS: u64 = 20_000;
const DEPTH: usize = 100;
const FRAMES: usize = 400;
/// Each block has one.
const BLOCK: u64 = 512;

/// A snapshot of blocks that live on, each allocated by a stack of its own; frames are named by what they were kept under.
fn snapshot() -> Vec<u8> {
    let text = |text: &str| [&[0x8c, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let number = |number: u64| [&[0x8a, 8][..], &number.to_le_bytes()].concat();
    let list = |items: &[Vec<u8>]| [b"](", &items.concat()[..], b"e"].concat();
    let dict = |entries: &[(&str, Vec<u8>)]| {
        let entries = entries.iter().map(|(key, value)| [text(key), value.clone()].concat());
        [b"}(", &entries.collect::<Vec<_>>().concat()[..], b"u"].concat()
    };
    // Behind what one byte can name, as nearly all of a real file.
    let kept = |frame: usize| u32::try_from(frame + 256).unwrap().to_le_bytes();
    let frames = (0..FRAMES).map(|frame| {
        let made = dict(&[
            ("filename", text(&format!("/home/me/project/train_{}.py", frame % 50))),
            ("line", number(frame as u64)),
            ("name", text(&format!("function_{frame}"))),
        ]);
        [&made[..], b"r", &kept(frame)].concat()
    });
    let base = 0x7f00_0000_0000_u64;
    let event = |action: &str, address: u64, size: u64, frames: Vec<u8>| {
        let entries = [("addr", number(address)), ("size", number(size)), ("stream", number(0))];
        let named = [("action", text(action)), ("frames", frames)];
        dict(&[&named[..], &entries].concat())
    };
    let mut seeded = Seeded(7);
    let mut events = vec![event("segment_alloc", base, STACKS * BLOCK, list(&[]))];
    events.extend((0..STACKS).map(|place| {
        let frames: Vec<_> =
            (0..DEPTH).map(|_| [&b"j"[..], &kept(seeded.place(FRAMES))].concat()).collect();
        event("alloc", base + place * BLOCK, BLOCK, list(&frames))
    }));
    let all = number(STACKS * BLOCK);
    let sizes = ["allocated_size", "active_size", "requested_size"].map(|key| (key, all.clone()));
    let blocks = (0..STACKS).map(|place| {
        let address = ("address", number(base + place * BLOCK));
        let sizes = ["size", "requested_size"].map(|key| (key, number(BLOCK)));
        let others = [("state", text("active_allocated")), ("frames", list(&[]))];
        dict(&[&[address][..], &sizes, &others].concat())
    });
    let named = [
        ("device", number(0)),
        ("stream", number(0)),
        ("address", number(base)),
        ("total_size", all.clone()),
        ("segment_type", text("large")),
        ("blocks", list(&blocks.collect::<Vec<_>>())),
    ];
    let segment = dict(&[&named[..], &sizes].concat());
    let root = [
        ("segments", list(&[segment])),
        ("frames", list(&frames.collect::<Vec<_>>())),
        ("device_traces", list(&[list(&events)])),
    ];
    [b"\x80\x04", &dict(&root)[..], b"."].concat()
}

#[test]
fn stacks_that_are_long_and_all_different() {
    compare_with_itself(Shown::default());
}

#[test]
fn the_same_as_comma_separated_values() {
    compare_with_itself(Shown { csv: true, by: vec![By::Variable], ..Shown::default() });
}

/// The arguments of a run that is compared with itself.
pub fn with_itself(run: &Path, shown: Shown) -> CompareArguments {
    CompareArguments {
        source: run.to_owned(),
        target: run.to_owned(),
        more: Vec::<PathBuf>::new(),
        json: true,
        module: None,
        device: DeviceArguments::default(),
        shown,
    }
}

/// Compares the file with itself, and writes that.
fn compare_with_itself(shown: Shown) {
    let is_csv = shown.csv;
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pickle");
    let bytes = snapshot();
    fs::write(&path, &bytes).unwrap();
    let bytes = bytes.len();
    let progress = Progress::default();
    let arguments = with_itself(&path, shown);
    let (written, took) = counted(|| {
        let both = [(); 2].map(|()| find(SYSTEMS, &path, None, &progress).unwrap());
        let document = document(&both, &arguments, &progress).unwrap();
        assert!(document.warnings().is_empty(), "{:?}", document.warnings());
        let mut written = Counted(0);
        if is_csv {
            document.write_text(&mut written).unwrap();
        } else {
            serde_json::to_writer(&mut written, &document).unwrap();
        }
        written.0
    });
    assert!(written > 5 * bytes, "{} MiB", written / MIB);
    let most = 2 * bytes * 4 + 32 * MIB;
    assert!(took.bytes < most, "{} MiB of two files of {}", took.bytes / MIB, bytes / MIB);
}
