//! Tests of the tables.

use std::io::Write as _;

use proptest::prelude::*;

use super::peek::HEAD;
use super::*;

fn of(name: &str, bytes: &[u8]) -> Look {
    look_at(&Peek::of_bytes(name, bytes))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn the_first_bytes_come_before_the_name() {
    for (name, bytes, expected) in [
        ("x.pt", &b"GGUF\x03\0\0\0"[..], "a GGUF file"),
        ("model.onnx", b"\x7FELF\x02\x01\x01\0", "an executable"),
        ("x.nsys-rep", b"\x80\x04}\x94.", "a pickle"),
        ("x.pt", b"\x01\x02\x03\x04", "a damaged file with the name of a PyTorch checkpoint"),
        ("x.nsys-rep", b"\x01\x02\x03\x04", "an Nsight Systems report"),
        (
            "x",
            b"\x01\x02\x03\x04",
            "a file of an unknown kind (it begins with the bytes 01 02 03 04)",
        ),
    ] {
        let is = of(name, bytes).is;
        assert!(is.starts_with(expected), "{name}: {is}");
    }
}

#[test]
fn texts_of_any_encoding_are_text() {
    let utf_16: Vec<u8> = "loss 0.3, step 12\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big_endian: Vec<u8> =
        "loss 0.3, step 12\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let marked = [&b"\xFF\xFE"[..], &utf_16].concat();
    let with_hole = [&[0; 4096][..], b"epoch 3\n"].concat();
    let coloured = b"\x1B[31merror\x1B[0m: \xE9chec\r\n".as_slice();
    for bytes in [&utf_16, &big_endian, &marked, &with_hole, coloured, b"\xEF\xBB\xBFloss"] {
        assert_eq!(of("run", bytes).form, Form::Text, "{bytes:?}");
    }
    for bytes in [&[0; 64][..], b"\x01\x02\x03", b"PK\x05\x06\0\0\0\0"] {
        assert_ne!(of("run", bytes).form, Form::Text, "{bytes:?}");
    }
}

#[test]
fn pickles_say_what_they_hold() {
    // The same array in protocols 2 and 4.
    let arrays = [
        &b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\0."[..],
        b"\x80\x04\x8C\x15numpy.core.multiarray\x94\x8C\x0C_reconstruct\x94\x93\x94.",
    ];
    for bytes in arrays {
        assert_eq!(of("a.pkl", bytes).is, "a pickle of arrays (NumPy)");
        assert!(is_of_other_library(bytes));
    }
    let snapshot = b"\x80\x04}\x94\x8C\x08segments\x94]\x94s.";
    assert!(!is_of_other_library(snapshot));
    assert!(of("a.pickle.gz", &gzip(snapshot)).is.starts_with("a memory snapshot"));
    // What is neither is for the reader of snapshots to refuse.
    for bytes in [&b"\x80\x04}\x94\x8C\x01aK\x01s."[..], b"\x80\x02cos\nsystem\n.", b"\x80"] {
        assert!(!is_of_other_library(bytes), "{bytes:?}");
    }
}

/// Only the beginning is read and decompressed, and only once.
#[test]
fn compressed_files_are_decompressed_within_a_bound() {
    let bomb = gzip(&vec![b' '; 32 << 20]);
    let peek = Peek::of_bytes("x.gz", &bomb);
    let plain = peek.decompressed().unwrap();
    assert_eq!((peek.head.len(), plain.1.head.len()), (HEAD, HEAD));
    let twice = of("x.gz.gz", &gzip(&gzip(b"GGUF\x03\0\0\0")));
    assert!(twice.is.starts_with("a file compressed with gzip"), "{}", twice.is);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.bin");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(Peek::of(&path).unwrap().head.len(), HEAD);
}

#[test]
fn hints_are_no_riddles() {
    for look in [of("x", b""), of("x", b"\x01"), of("x.log", b"loss 3\n"), of("x", b"some text\n")]
    {
        assert!(look.hint.ends_with('.') && !look.hint.contains("  "), "{}", look.hint);
    }
    let log = of("x.log", b"loss 3\n");
    assert_eq!(log.message("x.log"), "x.log is a log, not a memory profile");
    assert!(log.may_be_log());
}

/// Beginnings by which files are recognized, so that random bytes behind them reach what reads further.
const BEGINNINGS: [&[u8]; 14] = [
    b"",
    b"\x80\x04",
    b"\x80\x02c",
    b"\x80\x02\x8A\x0A",
    b"\x1F\x8B\x08\0\0\0\0\0\0\x03",
    b"PK\x03\x04",
    b"PK\x01\x02",
    b"\x0A",
    b"\x08\x07\x12",
    b"SQLite format 3\0",
    b"[",
    b"{\"a\":",
    b"\xFF\xFE",
    b"\0\0\0\0\0\0\0\0{\"",
];

proptest! {
    #[test]
    fn random_bytes_are_something(
        begin in 0..BEGINNINGS.len(),
        bytes in proptest::collection::vec(any::<u8>(), 0..2000),
        name in "[a-z.-]{0,12}",
    ) {
        let bytes = [BEGINNINGS[begin], &bytes].concat();
        let look = of(&name, &bytes);
        prop_assert!(!look.message("x").is_empty() && !look.not_a_log("x").is_empty());
        prop_assert!(look.is.len() < 200);
        is_of_other_library(&bytes);
        let compressed = gzip(&bytes);
        let cut = compressed.len() / 2;
        of(&name, &compressed);
        of(&name, compressed.get(..cut).unwrap_or_default());
    }
}
