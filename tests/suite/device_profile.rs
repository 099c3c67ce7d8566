//! Device memory profiles of JAX, one alone and two compared, and what is packed.

use std::fs;
use std::io::Write as _;

use serde_json::Value;

use crate::common::wire::{number, part};
use crate::common::{in_package, json, real_report, tilescope};

/// What is alive: file and line of the call, how many arrays, their bytes, the device.
type Alive<'a> = (&'a str, u64, u64, u64, &'a str);

/// A profile as JAX writes it: each array is made by a call of the user, which JAX is called from.
fn profile(alive: &[Alive]) -> Vec<u8> {
    let mut texts: Vec<String> =
        ["", "allocations", "count", "space", "bytes", "kind", "buffer", "executable", "device"]
            .map(str::to_owned)
            .into();
    let mut text = |text: &str| {
        let place = texts.iter().position(|known| known == text);
        place.unwrap_or_else(|| {
            texts.push(text.to_owned());
            texts.len() - 1
        }) as u64
    };
    let kind = |of, unit| part(1, [number(1, of), number(2, unit)].concat());
    let mut bytes = [kind(1, 2), kind(3, 4)].concat();
    let label = |key, text| part(3, [number(1, key), number(2, text)].concat());
    let (mut samples, mut places, mut functions) = (Vec::new(), Vec::new(), Vec::new());
    let function = |id: u64, name: u64, file: u64| {
        part(5, [number(1, id), number(2, name), number(4, file)].concat())
    };
    let jax = text("/venv/lib/python3.11/site-packages/jax/_src/pjit.py");
    functions.extend(function(1, text("_run"), jax));
    places
        .extend(part(4, [number(1, 1), part(4, [number(1, 1), number(2, 139)].concat())].concat()));
    for (id, (file, line, count, size, device)) in (2..).zip(alive) {
        functions.extend(function(id, text("step"), text(file)));
        let call = part(4, [number(1, id), number(2, *line)].concat());
        places.extend(part(4, [number(1, id), call].concat()));
        let values =
            [number(2, *count), if *size == 0 { vec![2 << 3, 0] } else { number(2, *size) }];
        let labels = if device.is_empty() {
            label(5, 7)
        } else {
            [label(5, 6), label(8, text(device))].concat()
        };
        let calls = part(1, [1, id as u8]);
        samples.extend(part(2, [calls, values.concat(), labels].concat()));
    }
    bytes.extend([samples, places, functions].concat());
    for text in &texts {
        bytes.extend(part(6, text));
    }
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn answer(arguments: &[&str]) -> Value {
    json(&tilescope(arguments))
}

fn sum(rows: &Value, key: &str) -> i64 {
    rows.as_array().unwrap().iter().map(|row| row[key].as_i64().unwrap()).sum()
}

const ONE: [Alive; 4] = [
    ("/home/me/train.py", 12, 3, 3 << 20, "gpu:0"),
    ("/home/me/train.py", 30, 1, 1 << 20, "gpu:0"),
    ("/home/me/data.py", 5, 2, 4096, "gpu:1"),
    ("/home/me/train.py", 12, 1, 0, ""),
];

#[test]
fn a_profile_says_what_is_alive_by_stack_size_and_device() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("memory.prof");
    fs::write(&path, gzip(&profile(&ONE))).unwrap();
    let path = path.to_str().unwrap();
    let found = answer(&["summary", path, "--json"]);
    assert_eq!(found["source"]["system"], "xla");
    let total = (4 << 20) + 4096;
    assert_eq!(found["memory"]["total_bytes"], total);
    assert_eq!(found["verdict"]["outcome"], "unknown");
    assert_eq!(found["verdict"]["cause"], "one-moment");
    let figures = &found["xla"]["device_profile"];
    assert_eq!([&figures["arrays"], &figures["programs"]], [6, 1]);
    assert_eq!(sum(&figures["stacks"], "bytes"), total);
    assert_eq!(figures["stacks"][0]["code"], "/home/me/train.py:12 (step)");
    assert_eq!(figures["devices"][0]["name"], "gpu:0");
    assert_eq!(sum(&figures["devices"], "bytes"), total);
    // What is alive at the moment adds up to it.
    let at = answer(&["liveness", path, "--step", "0", "--by", "line", "--json"]);
    let text = at.to_string();
    assert!(text.contains("/home/me/data.py:5 (step)"), "{text:.1000}");
    // More may be needed at the peak: nothing passes, but what is too much is that.
    let check = |capacity| {
        let output =
            tilescope(&["check", path, "--must-fit", "--device", "0", "--capacity", capacity]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, said) = check("16GiB");
    assert!(status == Some(1) && said.contains("one moment"), "{said}");
    let (status, said) = check("2MiB");
    assert!(status == Some(1) && said.contains("too much"), "{said}");
}

#[test]
fn two_profiles_are_compared_with_rows_that_add_up() {
    let directory = tempfile::tempdir().unwrap();
    let other =
        [ONE[0], (ONE[1].0, 30, 5, 9 << 20, "gpu:0"), ("/home/me/new.py", 1, 1, 77, "gpu:1")];
    let paths = [("a.prof", &ONE[..]), ("b.prof.gz", &other[..])].map(|(name, alive)| {
        let path = directory.path().join(name);
        let bytes = profile(alive);
        let bytes = if name.contains(".gz") { gzip(&bytes) } else { bytes };
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let found = answer(&["compare", &paths[0], &paths[1], "--json"]);
    let change = (12 << 20) + 77 - (4 << 20) - 4096;
    for rows in ["by_category", "by_operation", "by_variable"] {
        assert_eq!(sum(&found["peak"][rows], "difference_bytes"), change, "{rows}");
    }
    // Both are runs below the directory.
    let found = answer(&["sweep", directory.path().to_str().unwrap(), "--json"]);
    assert_eq!(found["runs"].as_array().unwrap().len(), 2, "{found:#}");
}

/// The totals of real ones are those that their README states.
#[test]
fn real_profiles_have_the_sums_of_their_samples() {
    let Some(directory) = real_report("xla-pprof") else { return };
    for (name, count, bytes) in [("memory1.prof", 13, 10_331_456), ("memory9.prof", 29, 12_091_456)]
    {
        let path = directory.join(name);
        let found = answer(&["summary", path.to_str().unwrap(), "--json"]);
        let figures = &found["xla"]["device_profile"];
        assert_eq!(
            (&figures["count"], &figures["bytes"]),
            (&count.into(), &bytes.into()),
            "{name}"
        );
    }
}

#[test]
fn what_is_packed_has_the_answers_of_what_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let sample = in_package("sample_profiles/training/segments-2/snapshot.pickle");
    let bytes = fs::read(sample).unwrap();
    let plain = directory.path().join("run.pickle");
    fs::write(&plain, &bytes).unwrap();
    let of = |path: &std::path::Path| {
        let mut answer = answer(&["summary", path.to_str().unwrap(), "--json"]);
        answer["source"] = Value::Null;
        answer
    };
    let expected = of(&plain);
    assert!(expected["memory"]["total_bytes"].is_u64(), "{expected:#}");
    let packed = directory.path().join("packed.pickle.gz");
    fs::write(&packed, gzip(&bytes)).unwrap();
    assert_eq!(of(&packed), expected);
    // Cut, it is a file that ends too soon.
    let whole = gzip(&bytes);
    fs::write(&packed, &whole[..whole.len() * 9 / 10]).unwrap();
    let output = tilescope(&["summary", packed.to_str().unwrap(), "--json"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("truncated") || output.status.code() == Some(3), "{said:.500}");
}
