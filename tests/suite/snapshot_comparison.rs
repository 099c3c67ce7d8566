//! Memory snapshots compared: columns that add up to the peaks, whatever is compared with whatever, and what is
//! concluded from them.

use std::path::{Path, PathBuf};

use crate::common::compared::{
    self, assert_change, compare, conclusion, figure, number, refusal, rows, said, sums,
    sums_of_rows, text_of,
};
use crate::common::recording::{MIB, Recording, no_stack, stack};
use crate::common::tilescope;
use serde_json::Value;

fn real(name: &str) -> Option<PathBuf> {
    compared::real("pytorch", name)
}

/// That every table has columns that add up to the requested peaks, and rows that say what they are.
#[track_caller]
fn assert_adds_up(found: &Value) {
    let peak = &found["peak"];
    let [source, target] = ["source", "target"]
        .map(|side| found["pytorch"]["peak"][side]["bytes"].as_i64().expect("a peak"));
    assert_eq!((number(peak, "source_bytes"), number(peak, "target_bytes")), (source, target));
    let expected = [source, target, target - source];
    for by in ["by_category", "by_module", "by_variable"] {
        assert_eq!(sums_of_rows(&peak[by]), expected);
        for row in rows(&peak[by]) {
            let [source, target] = ["source_bytes", "target_bytes"].map(|key| number(row, key));
            assert_eq!(number(row, "difference_bytes"), target - source);
        }
    }
    rows(&peak["by_variable"]).iter().for_each(assert_change);
    // The parts that are named add up to the change.
    let of_categories = conclusion(found, "categories");
    let parts = of_categories.map_or(0, |said| sums(&said["evidence"])[2]);
    assert_eq!(parts, expected[2]);
    // Events of two runs are never aligned.
    assert_eq!(found["steps"], Value::Null);
    assert!(found.as_object().expect("an object").contains_key("steps"));
}

#[test]
fn checkpoints_take_activations_from_the_peak_and_every_column_adds_up() {
    let (Some(base), Some(checkpoints)) = (real("train_base.pickle"), real("train_ckpt.pickle"))
    else {
        return;
    };
    let found = compare(&[&base, &checkpoints], &[]);
    assert_adds_up(&found);
    let percent = |key: &str| &figure(&found, key)["percent_of_source"];
    assert_eq!(percent("max_allocated_bytes"), 54.8);
    assert_eq!(percent("max_reserved_bytes"), 64.0);
    assert_eq!(percent("requested_peak_bytes"), 53.3);
    assert!(rows(&found["settings"]).is_empty(), "{}", found["settings"]);
    let peak = conclusion(&found, "peak").expect("the peak");
    assert_eq!(peak["is_better"], true);
    assert_eq!(number(&peak["evidence"][0], "difference"), 481_325_060 - 903_778_312);
    let less = said(&found, "less");
    assert!(less.starts_with("Activations allocated in forward of snap_train.py"), "{less}");
    assert!(said(&found, "recomputed").contains("The target computes activations again"));
    assert!(said(&found, "peak-moved").contains("Optimizer.step#AdamW.step"));
    // The other way round it is the opposite.
    let reversed = compare(&[&checkpoints, &base], &[]);
    assert_adds_up(&reversed);
    assert_eq!(conclusion(&reversed, "peak").expect("the peak")["is_better"], false);
    let mut differences = [&found, &reversed].map(|found| {
        let rows =
            rows(&found["peak"]["by_variable"]).iter().map(|row| number(row, "difference_bytes"));
        let mut rows: Vec<i64> = rows.collect();
        rows.sort_unstable();
        rows
    });
    differences[1].iter_mut().for_each(|difference| *difference = -*difference);
    differences[1].sort_unstable();
    assert_eq!(differences[0], differences[1]);
    // With itself nothing differs.
    let same = compare(&[&base, &base], &[]);
    assert_adds_up(&same);
    assert!(
        rows(&same["peak"]["by_variable"])
            .iter()
            .all(|row| row["change"] == "unchanged" && row["source_bytes"] == row["target_bytes"])
    );
    let ids: Vec<_> = rows(&same["conclusions"]).iter().map(|said| &said["id"]).collect();
    assert_eq!(ids, ["equal"], "{}", same["conclusions"]);
}

#[test]
fn whatever_is_compared_adds_up() {
    let names = [
        "train_base.pickle",
        "train_oom.pickle",
        "edge_state.pickle",
        "edge_ring.pickle",
        "two_devices.pickle",
        "train_expandable.pickle",
        "edge_annot_torch2.1.2.pickle",
        "edge_streams_torch2.15.0.pickle",
        "edge_meta_torch2.15.0.pickle",
    ];
    let files: Vec<PathBuf> = names.iter().filter_map(|name| real(name)).collect();
    let mut compared = 0;
    for source in &files {
        for target in &files {
            assert_adds_up(&compare(&[source, target], &[]));
            compared += 1;
        }
    }
    assert_eq!(compared, files.len() * files.len());
    let [Some(base), Some(out), Some(state), Some(ring)] = [0, 1, 2, 3].map(|row| files.get(row))
    else {
        return;
    };
    // Of a run that failed, or of which the beginning is not known, nothing is judged.
    let found = compare(&[base, out], &[]);
    assert_eq!(conclusion(&found, "peak").expect("the peak")["is_better"], Value::Null);
    // With what others had of the device then, the one that ran elsewhere does not fit, either.
    let fits = conclusion(&found, "fits").expect("whether it fits");
    assert_eq!(fits["is_better"], Value::Null, "{fits}");
    let fits = |both: [&PathBuf; 2]| {
        let found = compare(&[both[0], both[1]], &["--other", "0"]);
        conclusion(&found, "fits").expect("whether it fits")["is_better"].clone()
    };
    assert_eq!([fits([base, out]), fits([out, base])], [false, true]);
    assert!(said(&compare(&[base, state], &[]), "not-whole").contains("no events"));
    assert!(said(&compare(&[base, ring], &[]), "not-whole").contains("recorded window"));
    let two = files.iter().find(|path| path.ends_with("two_devices.pickle")).expect("it");
    let of_one = compare(&[two, two], &["--device", "0"]);
    assert_eq!(of_one["source"]["device"], 0);
}

/// A step of training: parameters, activations of a number of blocks, and what the backward pass makes.
fn step(activations: usize, line: u64, function: &str) -> Recording {
    let file = "/home/me/train.py";
    let called =
        |line: u64, name: &'static str| stack(&[(file, line, name), (file, line + 40, "main")]);
    let mut run = Recording::default();
    run.alloc(0, 8 * MIB, &called(3, "__init__"));
    let renamed = stack(&[(file, line + 9, function), (file, 70, "main")]);
    let kept: Vec<u64> =
        (0..activations).map(|_| run.alloc(0, 2 * MIB, &called(line, "forward"))).collect();
    let head = run.alloc(0, 3 * MIB, &renamed);
    run.alloc(0, 5 * MIB, &no_stack());
    run.free(head);
    kept.into_iter().rev().for_each(|address| run.free(address));
    run
}

#[test]
fn blocks_belong_together_by_functions_not_by_lines() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = step(6, 20, "head").write(directory.path(), "source.pickle");
    // The file is another by a few lines, `head` is called otherwise, and something new is allocated.
    let mut changed = step(2, 25, "project");
    changed.alloc(0, 17 * MIB, &stack(&[("/home/me/new.py", 4, "cache")]));
    let target = changed.write(directory.path(), "target.pickle");
    let found = compare(&[&source, &target], &[]);
    assert_adds_up(&found);
    let row = |name: &str| {
        let found = rows(&found["peak"]["by_variable"]).iter().find(|row| {
            let frame = row["calls"][0].as_str().unwrap_or("(no Python stack)");
            frame.contains(name)
        });
        found.unwrap_or_else(|| panic!("no {name}")).clone()
    };
    // The peak of the target is when all is freed but what is new: 8 + 5 + 17.
    assert_eq!(number(&found["peak"], "target_bytes"), 30 * (1 << 20));
    assert_eq!(row("(forward)")["change"], "only-source");
    assert_eq!(
        (number(&row("(cache)"), "target_bytes"), row("(cache)")["change"].as_str()),
        (17 << 20, Some("only-target"))
    );
    assert_eq!(row("(no Python")["change"], "unchanged");
    assert_eq!(row("(__init__)")["matched_by"], "frames");
    // Without the cache both peaks are at the same point.
    let target = step(2, 25, "project").write(directory.path(), "target.pickle");
    let found = compare(&[&source, &target], &[]);
    assert_adds_up(&found);
    let row = |name: &str| {
        let found = rows(&found["peak"]["by_variable"]).iter();
        let mut found = found.filter(|row| row["calls"][0].as_str().unwrap_or("").contains(name));
        found.next().cloned().unwrap_or_else(|| panic!("no {name}"))
    };
    let forward = row("(forward)");
    assert_eq!(
        (forward["change"].as_str(), forward["matched_by"].as_str()),
        (Some("shrunk"), Some("frames"))
    );
    assert_eq!(number(&forward, "source_count") - number(&forward, "target_count"), 4);
    let project = row("(project)");
    assert_eq!(
        (project["matched_by"].as_str(), project["change"].as_str()),
        (Some("size"), Some("unchanged"))
    );
    assert_eq!(project["name_of_source"], "/home/me/train.py (head)");
}

#[test]
fn settings_that_differ_come_first_and_a_capacity_says_what_fits() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut large = step(6, 20, "head");
    large.set("expandable_segments", false);
    let mut small = step(2, 20, "head");
    small.set("expandable_segments", true);
    let source = large.write(directory.path(), "large.pickle");
    let target = small.write(directory.path(), "small.pickle");
    let found = compare(&[&source, &target], &["--capacity", "24MiB", "--other", "2MiB"]);
    assert_eq!(found["settings"][0]["name"], "expandable_segments");
    assert_eq!(
        (&found["settings"][0]["source"], &found["settings"][0]["target"]),
        (&"false".into(), &"true".into())
    );
    let fits = conclusion(&found, "fits").expect("whether it fits");
    assert_eq!(fits["is_better"], true, "{fits}");
    assert!(fits["text"].as_str().expect("a text").contains("6.00 MiB over"), "{fits}");
    let reversed = compare(&[&target, &source], &["--capacity", "24MiB", "--other", "2MiB"]);
    assert_eq!(conclusion(&reversed, "fits").expect("it")["is_better"], false);
    let text = tilescope(&["compare", text_of(&source), text_of(&target)]);
    let text = String::from_utf8(text.stdout).expect("text");
    let [differs, figures] =
        ["What differs", "Figures"].map(|title| text.find(title).expect(title));
    assert!(differs < figures && text.contains("--capacity 16GiB"), "{text}");
    assert!(!text.to_lowercase().contains("tile"), "{text}");
    // A capacity that an error text beside the source states counts for both.
    let mut failed = step(6, 20, "head");
    failed.out_of_memory(0, 40 * MIB, 11 * MIB);
    let failed = failed.write(directory.path(), "failed.pickle");
    let message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 40.00 MiB. GPU 0 has a total capacity of 24.00 MiB of which 11.00 MiB is free.\n";
    std::fs::write(directory.path().join("failed.pickle.oom.txt"), message).expect("a file");
    let found = compare(&[&failed, &target], &[]);
    let fits = said(&found, "fits");
    assert!(
        fits.contains("as the error text beside the source states")
            && fits.contains("ran out of memory"),
        "{fits}"
    );
    assert_eq!(conclusion(&found, "fits").expect("it")["is_better"], true);
}

#[test]
fn what_checkpoints_compute_again_is_counted_by_the_same_rule_as_elsewhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = step(2, 20, "head").write(directory.path(), "source.pickle");
    let mut again = step(2, 20, "head");
    let checkpoint = "/v/site-packages/torch/utils/checkpoint.py";
    again.alloc(
        0,
        2 << 20,
        &stack(&[("/home/me/train.py", 20, "forward"), (checkpoint, 9, "inner_unpack")]),
    );
    let target = again.write(directory.path(), "target.pickle");
    let found = compare(&[&source, &target], &[]);
    assert_eq!(found["pytorch"]["recomputed_allocations"]["target"], 1);
    assert!(said(&found, "recomputed").contains("1 allocation"));
}

#[test]
fn without_stacks_nobody_knows_whether_the_peak_moved() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = step(6, 20, "head").write(directory.path(), "source.pickle");
    let mut bare = Recording::default();
    bare.alloc(0, 8 << 20, &stack(&[]));
    let target = bare.write(directory.path(), "target.pickle");
    let found = compare(&[&source, &target], &[]);
    assert_eq!(conclusion(&found, "peak-moved"), None, "{found}");
}

#[test]
fn what_cannot_be_compared_is_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = step(2, 20, "head").write(directory.path(), "run.pickle");
    let sample = crate::common::sample();
    for paths in [[text_of(&run), text_of(&sample)], [text_of(&sample), text_of(&run)]] {
        let (status, message) = refusal(&paths);
        assert!(status == 2 && message.contains("is a run of PyTorch"), "{message}");
    }
    let absent = directory.path().join("absent.pickle");
    let (status, message) = refusal(&[text_of(&run), text_of(&absent)]);
    assert!(status == 3 && message.contains("absent.pickle"), "{message}");
    let timeline = directory.path().join("timeline.json");
    std::fs::write(
        &timeline,
        "[[1, 2], [[0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0, 0, 0, 0]]]",
    )
    .expect("a file");
    let (status, message) = refusal(&[text_of(&run), text_of(&timeline)]);
    assert!(status == 2 && message.contains("timeline"), "{message}");
    let (status, message) = refusal(&[text_of(&run), text_of(&run), "--device", "3"]);
    assert!(status == 2 && message.contains("no device 3"), "{message}");
    let (status, message) = refusal(&[text_of(&sample), text_of(&sample), "--device", "0"]);
    assert!(status == 2 && message.contains("--device"), "{message}");
    for by in ["operation", "fullest"] {
        let output = tilescope(&["compare", text_of(&run), text_of(&run), "--by", by]);
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn three_snapshots_stand_side_by_side_and_a_cut_one_is_not_judged() {
    let directory = tempfile::tempdir().expect("a directory");
    let paths: Vec<PathBuf> = [6, 2, 4]
        .iter()
        .map(|blocks| {
            step(*blocks, 20, "head").write(directory.path(), &format!("a{blocks}.pickle"))
        })
        .collect();
    let all: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let found = compare(&all, &[]);
    let runs = rows(&found["runs"]);
    let peaks: Vec<i64> = runs
        .iter()
        .map(|run| {
            let figures = rows(&run["figures"]).iter();
            number(
                figures
                    .clone()
                    .find(|figure| figure["key"] == "requested_peak_bytes")
                    .expect("a peak"),
                "target",
            )
        })
        .collect();
    assert_eq!(peaks, [28 << 20, 20 << 20, 24 << 20]);
    assert!(rows(&runs[0]["conclusions"]).is_empty() && !rows(&runs[2]["conclusions"]).is_empty());
    let table = tilescope(&[
        "compare",
        text_of(&paths[0]),
        text_of(&paths[1]),
        "--csv",
        "--by",
        "category,variable",
    ]);
    let table = String::from_utf8(table.stdout).expect("text");
    let of_category: i64 = table
        .lines()
        .filter(|line| line.starts_with("peak,category,"))
        .map(|line| {
            line.split(',').nth(8).and_then(|cell| cell.parse::<i64>().ok()).expect("a number")
        })
        .sum();
    assert_eq!(of_category, -(8 << 20));
    let whole = std::fs::read(&paths[0]).expect("a file");
    let cut = directory.path().join("cut.pickle");
    std::fs::write(&cut, &whole[..whole.len() - 700]).expect("a file");
    let found = compare(&[&paths[1], &cut], &[]);
    assert_eq!(found["pytorch"]["cut"]["target"], true);
    let peak = conclusion(&found, "peak").or(conclusion(&found, "equal")).expect("the peak");
    assert_eq!(peak["is_better"], Value::Null, "{peak}");
    assert!(said(&found, "not-whole").contains("ends before its contents do"));
    assert_eq!(found["warnings"][0]["code"], "truncated", "{}", found["warnings"]);
}
