//! `--arrow -`: the rows of the JSON as an Arrow stream.

use arrow_array::types::UInt64Type;
use arrow_ipc::reader::StreamReader;
use serde_json::Value;

use crate::common::{json, tilescope};

/// Commands with where their JSON has the rows that the stream has.
const COMMANDS: [(&[&str], &str); 9] = [
    (&["liveness", "sample_profiles/training/segments-2"], "/steps"),
    (&["liveness", "--peaks", "3", "sample_profiles/tiny"], "/peaks"),
    (&["liveness", "--step", "peak", "--by", "category", "sample_profiles/xla/keep"], "/by/rows"),
    (&["tiles", "sample_profiles/tiny"], "/tiles"),
    (&["tiles", "--by", "category", "sample_profiles/does-not-fit"], "/tiles"),
    (&["ops", "sample_profiles/tiny"], "/operations"),
    (&["ops", "sample_profiles/tenstorrent/l1"], "/calls"),
    (&["trace", "sample_profiles/pipeline"], "/steps"),
    (&["sweep", "sample_profiles/training"], "/runs"),
];

/// The stream of a command, as its columns and the cells of them that are numbers of bytes.
fn streamed(words: &[&str]) -> (Vec<String>, u64, Vec<Option<u64>>) {
    let output = tilescope(&[words, &["--arrow", "-"]].concat());
    assert_eq!(output.status.code(), Some(0), "{words:?}");
    let reader = StreamReader::try_new(&*output.stdout, None).unwrap();
    let names = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    let (mut rows, mut bytes) = (0, Vec::new());
    for batch in reader {
        let batch = batch.unwrap();
        rows += batch.num_rows() as u64;
        if let Some(column) = batch.column_by_name("bytes") {
            let column = arrow_array::cast::as_primitive_array::<UInt64Type>(column);
            bytes.extend(column.iter());
        }
    }
    (names, rows, bytes)
}

#[test]
fn streams_have_the_rows_of_the_json() {
    for (words, place) in COMMANDS {
        let (names, count, bytes) = streamed(words);
        let answer = json(&tilescope(&[words, &["--json"]].concat()));
        let rows = answer.pointer(place).and_then(Value::as_array).unwrap();
        assert_eq!(count, rows.len() as u64, "{words:?}");
        let keys: Vec<&str> = rows[0].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names[..keys.len()], keys, "{words:?}");
        let expected: Vec<Option<u64>> = rows.iter().map(|row| row["bytes"].as_u64()).collect();
        if !bytes.is_empty() {
            assert_eq!(bytes, expected, "{words:?}");
        }
    }
}

#[test]
fn a_stream_goes_to_standard_output_alone() {
    let sample = "sample_profiles/tiny";
    for more in
        [&["--arrow", "rows.arrow"][..], &["--arrow", "-", "--json"], &["--arrow", "-", "--csv"]]
    {
        let output = tilescope(&[&["tiles", sample], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
    }
}
