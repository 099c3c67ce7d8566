//! XLA modules compared: columns that add up to the union of what is in use, whatever is compared with whatever,
//! and what is concluded from them.

use std::path::{Path, PathBuf};

use crate::common::compared::{
    self, assert_change, compare, conclusion, figure, number, refusal, rows, said, sums,
    sums_of_rows,
};
use crate::common::tilescope;
use serde_json::Value;
use tilescope::text::grouped;

fn real(name: &str) -> Option<PathBuf> {
    compared::real("xla", name)
}

fn text(paths: &[&Path], options: &[&str]) -> String {
    let paths: Vec<&str> = paths.iter().map(|path| path.to_str().expect("UTF-8")).collect();
    let output = tilescope(&[&["compare"], &*paths, options].concat());
    assert!(output.status.success(), "{paths:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// That every table has columns that add up to the unions at the peaks, the parts of what is reserved to the total, and
/// the numbers of a conclusion to the change that it is about.
#[track_caller]
fn assert_adds_up(found: &Value) {
    let parts = ["temporary", "argument", "output", "constant", "thread_local"];
    for key in ["source", "target", "difference"] {
        let part = |part: &&str| number(figure(found, &format!("{part}_bytes")), key);
        let sum: i64 = parts.iter().map(part).sum();
        assert_eq!(sum, number(figure(found, "total_bytes"), key));
    }
    let of_parts = conclusion(found, "parts").map_or(0, |said| sums(&said["evidence"])[2]);
    assert_eq!(of_parts, number(figure(found, "total_bytes"), "difference"));
    let peak = &found["peak"];
    // What is temporary, and what is reserved throughout.
    let [source, target] = ["source", "target"].map(|side| {
        let temporary = found["xla"]["peak"][side]["bytes"].as_i64();
        assert_eq!(peak["not_always_live_bytes"][side].as_i64(), temporary);
        Some(temporary? + number(&peak["always_live_bytes"], side))
    });
    assert_eq!([peak["source_bytes"].as_i64(), peak["target_bytes"].as_i64()], [source, target]);
    let (Some(source), Some(target)) = (source, target) else {
        for by in ["by_category", "by_operation", "by_module", "by_line", "by_variable"] {
            assert_eq!(peak[by], serde_json::json!([]));
        }
        return;
    };
    let expected = [source, target, target - source];
    for by in ["by_category", "by_operation", "by_variable"] {
        assert_eq!(sums_of_rows(&peak[by]), expected);
        for row in rows(&peak[by]) {
            let [source, target] = ["source_bytes", "target_bytes"].map(|key| number(row, key));
            assert_eq!(number(row, "difference_bytes"), target - source);
        }
    }
    for row in rows(&peak["by_variable"]) {
        assert_change(row);
        let values = ["source_count", "target_count"].map(|side| number(row, side));
        // A pair is of one value of each side.
        let is_paired = values[0] == values[1];
        assert_eq!(row["matched_by"].is_string(), is_paired, "{row}");
    }
    assert_eq!(found["steps"], Value::Null);
}

/// Every path of the real files that is compared, and whether it knows when values live.
fn all_real() -> Vec<(PathBuf, bool)> {
    let folders = [
        "cpu-jax0.4.30-scan",
        "cpu-jax0.6.2-scan-remat",
        "cpu-jax0.10.2-mlp",
        "cpu-jax0.10.2-mlp-nodonate",
        "cpu-jax0.10.2-scan",
        "cpu-jax0.10.2-scan-remat",
        "cpu-jax0.10.2-several",
        "gpu-jax0.10.2-mlp",
        "tpu-jax0.10.2-conv",
        "tpu-jax0.6.2-scan-oom",
        "xplane-jax0.10.2-mlp",
    ];
    let bare = "cpu-jax0.10.2-scan/buffer_assignment.pb";
    let all = folders.into_iter().map(|name| (name, true)).chain([(bare, false)]);
    all.filter_map(|(name, is_known)| Some((real(name)?, is_known))).collect()
}

#[test]
fn of_all_pairs_every_column_adds_up_and_the_other_way_round_it_is_the_opposite() {
    let all = all_real();
    for (place, (source, _)) in all.iter().enumerate() {
        for (target, _) in &all[place..] {
            let found = compare(&[source, target], &[]);
            assert_adds_up(&found);
            let reversed = compare(&[target, source], &[]);
            assert_adds_up(&reversed);
            let differences = |found: &Value, sign: i64| {
                let rows = rows(&found["peak"]["by_variable"]).iter();
                let mut all: Vec<i64> =
                    rows.map(|row| sign * number(row, "difference_bytes")).collect();
                all.sort_unstable();
                all
            };
            assert_eq!(differences(&found, 1), differences(&reversed, -1));
            if source == target {
                assert_eq!(number(figure(&found, "total_bytes"), "difference"), 0);
                assert!(differences(&found, 1).iter().all(|difference| *difference == 0));
            }
        }
    }
}

#[test]
fn what_is_the_same_is_said_to_be_the_same() {
    let Some(scan) = real("cpu-jax0.10.2-scan") else { return };
    let found = compare(&[&scan, &scan], &[]);
    let ids: Vec<&Value> = rows(&found["conclusions"]).iter().map(|said| &said["id"]).collect();
    assert_eq!(ids, ["equal"], "{}", found["conclusions"]);
    let variables = rows(&found["peak"]["by_variable"]);
    assert!(variables.iter().all(|row| row["change"] == "unchanged"));
    assert!(variables.iter().all(|row| row["matched_by"] != "category"));
}

#[test]
fn checkpoints_lower_the_peak_and_the_instructions_that_compute_again_are_counted() {
    let (Some(scan), Some(remat)) = (real("cpu-jax0.10.2-scan"), real("cpu-jax0.10.2-scan-remat"))
    else {
        return;
    };
    let found = compare(&[&scan, &remat], &[]);
    let peak = figure(&found, "temporary_peak_bytes");
    assert_eq!(number(peak, "source"), 11_227_144);
    assert!(number(peak, "difference") < 0);
    assert_eq!(conclusion(&found, "peak").expect("the peak")["is_better"], true);
    assert_eq!(conclusion(&found, "total").expect("the total")["is_better"], true);
    let again = said(&found, "recomputed");
    assert!(
        again.starts_with("The target computes values again in the backward pass ("),
        "{again}"
    );
    assert!(conclusion(&found, "donated").is_none() && conclusion(&found, "parameters").is_none());
    assert!(said(&found, "less").contains("f32["), "{}", said(&found, "less"));
    let reversed = compare(&[&remat, &scan], &[]);
    assert_eq!(conclusion(&reversed, "peak").expect("the peak")["is_better"], false);
    assert!(said(&reversed, "recomputed").starts_with("The source computes values again"));
}

#[test]
fn donation_is_said_with_what_results_take_instead() {
    let (Some(with), Some(without)) =
        (real("cpu-jax0.10.2-mlp"), real("cpu-jax0.10.2-mlp-nodonate"))
    else {
        return;
    };
    let found = compare(&[&without, &with], &[]);
    let donated = figure(&found, "donated_bytes");
    assert_eq!(number(donated, "source"), 0);
    assert!(number(donated, "target") > 50_000_000);
    assert_eq!(number(figure(&found, "donatable_bytes"), "source"), 50_405_376);
    let text = said(&found, "donated");
    assert!(text.starts_with("The target donates 48.1 MiB of its parameters to results"), "{text}");
    assert!(conclusion(&found, "recomputed").is_none());
    // The one that has fewer bytes is the better one.
    assert_eq!(conclusion(&found, "total").expect("the total")["is_better"], true);
}

#[test]
fn nothing_is_better_of_another_platform_and_nothing_known_of_a_bare_assignment() {
    let (Some(cpu), Some(gpu)) = (real("cpu-jax0.10.2-mlp"), real("gpu-jax0.10.2-mlp")) else {
        return;
    };
    let found = compare(&[&cpu, &gpu], &[]);
    assert!(
        said(&found, "platforms")
            .starts_with("The source was compiled for a CPU and the target for a GPU")
    );
    let better = rows(&found["conclusions"]).iter().filter(|said| !said["is_better"].is_null());
    assert_eq!(better.count(), 0, "{}", found["conclusions"]);
    // The dump of the GPU says what it has.
    assert_eq!(found["xla"]["stated_capacity_bytes"]["target"], 84_942_979_072_u64);
    assert!(said(&found, "fits").contains("and fits"));
    let bare = real("cpu-jax0.10.2-mlp/buffer_assignment.pb").expect("beside it");
    let found = compare(&[&cpu, &bare], &[]);
    assert!(said(&found, "not-whole").contains("no instructions"));
    assert_eq!(found["peak"]["target_bytes"], Value::Null);
    assert_eq!(number(figure(&found, "total_bytes"), "difference"), 0);
    assert!(conclusion(&found, "equal").is_none(), "{}", found["conclusions"]);
}

#[test]
fn what_does_not_fit_is_said_and_memory_spaces_are_chosen() {
    let (Some(conv), Some(oom)) = (real("tpu-jax0.10.2-conv"), real("tpu-jax0.6.2-scan-oom"))
    else {
        return;
    };
    let found = compare(&[&conv, &oom], &["--capacity", "16128MiB"]);
    let fits = said(&found, "fits");
    assert!(
        fits.starts_with("Of the 15.8 GiB: the source reserves")
            && fits.contains("; the target reserves"),
        "{fits}"
    );
    assert!(fits.ends_with("over"), "{fits}");
    assert_eq!(conclusion(&found, "fits").expect("said")["is_better"], false);
    let vmem = compare(&[&conv, &oom], &["--device", "1"]);
    assert_adds_up(&vmem);
    assert_eq!(vmem["xla"]["color"], 1);
    assert_ne!(vmem["xla"]["peak"]["source"]["bytes"], found["xla"]["peak"]["source"]["bytes"]);
    let paths = [conv.to_str().expect("UTF-8"), oom.to_str().expect("UTF-8")];
    let (status, message) = refusal(&[paths[0], paths[1], "--device", "9"]);
    assert_eq!(status, 2);
    assert!(message.contains("no memory space 9") && message.contains("0 (HBM)"), "{message}");
}

#[test]
fn dumps_are_compared_module_by_module() {
    let (Some(several), Some(mlp)) = (real("cpu-jax0.10.2-several"), real("cpu-jax0.10.2-mlp"))
    else {
        return;
    };
    let found = compare(&[&several, &mlp], &[]);
    assert_eq!(found["xla"]["module"]["source"], "jit_train_step");
    assert_eq!(found["xla"]["module"]["target"], "jit_train_step");
    let only = rows(&found["xla"]["modules"]).iter().filter(|row| row["only"] == "source");
    assert!(only.count() > 5, "{}", found["xla"]["modules"]);
    let normal = compare(&[&several, &several], &["--module", "jit__normal"]);
    assert_eq!(normal["xla"]["module"]["source"], "jit__normal");
    let path = several.to_str().expect("UTF-8");
    let (status, message) = refusal(&[path, path, "--module", "jit_none"]);
    assert!(status == 2 && message.contains("no module"), "{message}");
}

#[test]
fn where_none_is_named_the_largest_module_that_all_dumps_have_is_compared() {
    let directory = tempfile::tempdir().expect("a directory");
    let dump = |name: &str, modules: &[(&str, u64)]| {
        let path = directory.path().join(name);
        std::fs::create_dir_all(&path).expect("a directory");
        for (module, bytes) in modules {
            let text = format!(
                "BufferAssignment:\nallocation 0: size {bytes}, preallocated-temp:\n value: <1 a @0> \
                 (size={bytes},offset=0): u8[{bytes}]{{0}}\n"
            );
            let stage = "cpu_after_optimizations-buffer-assignment.txt";
            std::fs::write(path.join(format!("module_0001.{module}.{stage}")), text)
                .expect("a text");
        }
        path
    };
    let first = dump("first", &[("eval", 4096), ("step", 1024), ("init", 256)]);
    let second = dump("second", &[("other", 8192), ("init", 512), ("step", 2048)]);
    let third = dump("third", &[("init", 64)]);
    let none = dump("none", &[("serve", 64)]);
    let modules = |paths: &[&Path]| {
        let module = &compare(paths, &[])["xla"]["module"];
        ["source", "target"].map(|side| module[side].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(modules(&[&first, &second]), ["step", "step"]);
    assert_eq!(modules(&[&first, &second, &third]), ["init", "init"]);
    assert_eq!(modules(&[&first, &none]), ["eval", "serve"], "each keeps its own");
}

#[test]
fn text_values_and_more_than_two_are_of_the_same_figures() {
    let (Some(scan), Some(remat), Some(old)) = (
        real("cpu-jax0.10.2-scan"),
        real("cpu-jax0.10.2-scan-remat"),
        real("cpu-jax0.6.2-scan-remat"),
    ) else {
        return;
    };
    let shown = text(&[&scan, &remat], &[]);
    for part in ["Figures", "By category", "By operation", "By operation, shape and category"] {
        assert!(shown.contains(part), "{shown}");
    }
    let found = compare(&[&scan, &remat], &[]);
    assert_eq!(number(&found["peak"]["not_always_live_bytes"], "source"), 11_227_144);
    let peak = number(&found["peak"], "source_bytes").unsigned_abs();
    assert!(shown.contains(&format!("({} B) at position", grouped(peak))), "{shown}");
    let values = text(&[&scan, &remat], &["--csv", "--by", "operation"]);
    assert!(
        values.starts_with("change_of,by,contributor,name,kind,only,source_bytes,"),
        "{values}"
    );
    let sum = |column: usize| -> u64 {
        let lines = values.lines().skip(1);
        lines
            .map(|line| line.rsplit(',').nth(column).expect("a cell").parse::<u64>().unwrap_or(0))
            .sum()
    };
    assert_eq!(sum(6), peak);
    let found = compare(&[&scan, &remat, &old], &[]);
    assert_eq!(rows(&found["runs"]).len(), 3);
    let last = &found["runs"][2];
    assert!(rows(&last["figures"]).iter().any(|row| row["key"] == "total_bytes"));
    let of_two = compare(&[&scan, &old], &[]);
    assert_eq!(last["conclusions"], of_two["conclusions"]);
    let shown = text(&[&scan, &remat, &old], &["--brief"]);
    assert!(shown.contains("the reference"), "{shown}");
    let path = scan.to_str().expect("UTF-8");
    let output = tilescope(&["compare", path, path, "--by", "module"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && message.contains("--by module"), "{message}");
}
