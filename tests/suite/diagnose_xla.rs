//! `diagnose` with XLA modules: which module a message is about, and that nothing is claimed where figures do not agree.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::recording::{MIB, Recording, stack};
use crate::common::{json, real_report, tilescope};
use serde_json::{Value, json};
use tilescope::format::Progress;
use tilescope::synth::transformer::Transformer;
use tilescope::systems::xla::synth::{DumpOptions, Remat, WrittenModule, XlaTarget, write_dump};

fn options(platform: XlaTarget, layers: u64) -> DumpOptions {
    let network = Transformer {
        layers,
        width: 48,
        heads: 3,
        sequence: 20,
        vocabulary: 100,
        batch: 2,
        element_bytes: 4,
    };
    DumpOptions { network, platform, ..DumpOptions::default() }
}

fn dump(platform: XlaTarget, directory: &Path) -> WrittenModule {
    write_dump(&options(platform, 3), directory, &Progress::default()).unwrap()
}

#[track_caller]
fn diagnose(paths: &[&Path]) -> Value {
    let paths = paths.iter().map(|path| path.to_str().unwrap());
    let output = tilescope(&["diagnose", "--json"].into_iter().chain(paths).collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    json(&output)
}

#[track_caller]
fn text(paths: &[&Path]) -> String {
    let paths = paths.iter().map(|path| path.to_str().unwrap());
    let output = tilescope(&["diagnose"].into_iter().chain(paths).collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn log(directory: &Path, text: &str) -> PathBuf {
    let path = directory.join("train.log");
    fs::write(&path, text).unwrap();
    path
}

/// As messages write it.
fn amount(bytes: u64) -> String {
    format!("{:.2}K", bytes as f64 / 1024.0)
}

fn short_form(total: u64) -> String {
    format!(
        "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries ({}) exceeds \
         available HBM (16.00K).\n",
        amount(total)
    )
}

fn long_form(temporary: u64, listed: &[(u64, &str)]) -> String {
    let mut text = format!(
        "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used {0} of 16.00K \
         hbm. Exceeded hbm capacity by 1.00K.\n\nTotal hbm usage >= {0}:\n    reserved        0B\n    program          \
         {0}\n    arguments       0B\n\nProgram hbm requirement {0}:\n    HLO temp          {0}\n",
        amount(temporary)
    );
    if !listed.is_empty() {
        text += "\n  Largest program allocations in hbm:\n";
    }
    for (number, (bytes, shape)) in (1..).zip(listed) {
        text += &format!(
            "\n  {number}. Size: {}\n     Shape: {shape}\n     ==========================\n",
            amount(*bytes)
        );
    }
    text
}

fn request(bytes: u64) -> String {
    format!("RESOURCE_EXHAUSTED: Out of memory while trying to allocate {bytes} bytes.\n")
}

fn summary(path: &Path) -> Value {
    json(&tilescope(&["summary", "--json", path.to_str().unwrap()]))
}

#[track_caller]
fn only(answer: &Value) -> &Value {
    let [finding] = &answer["findings"].as_array().unwrap()[..] else { panic!("one: {answer}") };
    finding
}

#[track_caller]
fn assert_nothing_is_claimed(answer: &Value) {
    let finding = only(answer);
    assert_eq!((&finding["module"], &finding["possible_modules"]), (&Value::Null, &json!([])));
}

#[test]
fn the_module_beside_a_log_whose_figures_agree_is_named_with_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let written = dump(XlaTarget::Tpu, directory.path());
    let log = log(directory.path(), &short_form(written.total_bytes));
    let summary = summary(directory.path());
    let answer = diagnose(&[&log]);
    let module = &only(&answer)["module"];
    assert_eq!(module["file"], written.file.to_str().unwrap(), "{answer}");
    assert_eq!((&module["by"], &module["is_cut"]), (&json!("total_bytes"), &json!(false)));
    assert_eq!(module["total_bytes"], summary["memory"]["total_bytes"]);
    assert_eq!(module["agreed_bytes"], summary["memory"]["total_bytes"]);
    assert_eq!(module["capacity_bytes"], 16 << 10);
    let peak = &summary["liveness"]["peak"];
    assert_eq!(module["temporary_peak_bytes"], crate::common::not_always_live(&summary));
    assert_eq!(module["peak_step"], peak["step"]);
    let owner = &module["peak_operations"][0];
    let rows = peak["by_operation"].as_array().unwrap().iter();
    let mut of_operations =
        rows.filter(|row| !crate::common::is_reserved(row["name"].as_str().unwrap()));
    let largest = of_operations.next().unwrap();
    assert_eq!((&owner["operation"], &owner["bytes"]), (&largest["name"], &largest["bytes"]));
    let said = text(&[&log]);
    assert!(said.contains("module jit_train_step ("), "{said}");
    assert!(said.contains("is as the message states; it reserves"), "{said}");
    assert!(said.contains(owner["operation"].as_str().unwrap()), "{said}");
    // What helps is what the summary of the module says, where its device has what the message says.
    let id_and_saving = |advice: &Value| (advice["id"].clone(), advice["saving"].clone());
    let advised = summary["insights"]["advice"].as_array().unwrap().iter().map(id_and_saving);
    let advised: Vec<_> = advised.collect();
    let of_message = only(&answer)["run_advice"].as_array().unwrap().clone();
    assert!(!of_message.is_empty(), "{answer}");
    for advice in &of_message {
        assert!(advised.contains(&id_and_saving(advice)), "{advice}");
        assert_ne!(advice["makes_it_fit"], true, "the message states far less: {advice}");
    }
    assert!(said.contains("What helps in the run that was found"), "{said}");
    // Of another program nothing is claimed.
    fs::write(&log, short_form(written.total_bytes * 2)).unwrap();
    assert_nothing_is_claimed(&diagnose(&[&log]));
    fs::write(&log, short_form(written.total_bytes / 2)).unwrap();
    assert_nothing_is_claimed(&diagnose(&[&log]));
    assert!(!text(&[&log]).contains("module"), "nothing is said");
}

#[test]
fn a_dump_that_a_log_names_and_one_that_is_named_are_looked_into() {
    let directory = tempfile::tempdir().unwrap();
    let dumped = directory.path().join("elsewhere");
    fs::create_dir(&dumped).unwrap();
    let written = dump(XlaTarget::Tpu, &dumped);
    let message = long_form(written.temporary_bytes, &[]);
    let log = log(directory.path(), &message);
    assert_nothing_is_claimed(&diagnose(&[&log]));
    for paths in [[&*log, &*dumped], [&*dumped, &*log], [&*written.file, &*log]] {
        let answer = diagnose(&paths);
        let module = &only(&answer)["module"];
        assert_eq!(module["by"], "temporary_bytes", "{answer}");
        assert_eq!(module["agreed_bytes"], written.temporary_bytes);
        assert_eq!(answer["dumps"], Value::Null, "it is joined");
    }
    // Named twice it is still one.
    let answer = diagnose(&[&dumped, &written.file, &log]);
    assert!(only(&answer)["module"].is_object(), "{answer}");
    fs::write(&log, format!("XLA_FLAGS=--xla_dump_to=./elsewhere\n{message}")).unwrap();
    assert!(only(&diagnose(&[&log]))["module"].is_object());
    // What no message is of stands by itself.
    fs::write(&log, short_form(7 << 20)).unwrap();
    let answer = diagnose(&[&dumped, &log]);
    assert_nothing_is_claimed(&answer);
    let alone = &answer["dumps"][0];
    assert_eq!(alone["path"], dumped.to_str().unwrap());
    assert_eq!(alone["modules"][0]["total_bytes"], written.total_bytes);
    assert!(
        text(&[&dumped, &log]).contains("elsewhere, a dump of XLA\n  jit_train_step: it reserves")
    );
    assert!(text(&[&dumped, &log]).ends_with("no message states figures of this dump\n"));
    let said = text(&[&dumped]);
    assert!(said.starts_with(dumped.to_str().unwrap()) && !said.contains("no message"), "{said}");
}

#[test]
fn what_a_message_lists_tells_programs_of_one_size_from_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let written = dump(XlaTarget::Tpu, directory.path());
    let summary = summary(directory.path());
    let values = summary["xla"]["temp"][0]["peak"]["top"].as_array().unwrap();
    let listed: Vec<(u64, String)> = values
        .iter()
        .map(|value| {
            let shape = format!("{}{{1,0:T(8,128)}}", value["shape"].as_str().unwrap());
            (value["bytes"].as_u64().unwrap(), shape)
        })
        .collect();
    let listed: Vec<(u64, &str)> = listed.iter().map(|(bytes, shape)| (*bytes, &**shape)).collect();
    let log = log(directory.path(), &long_form(written.temporary_bytes, &listed));
    let answer = diagnose(&[&log]);
    let module = &only(&answer)["module"];
    assert_eq!((&module["listed"], &module["listed_found"]), (&json!(5), &json!(5)), "{answer}");
    assert!(text(&[&log]).contains("and 5 of 5 listed allocations it has"));
    // Another program of that size.
    let others = listed.iter().map(|(bytes, _)| (*bytes, "s8[7,7,7]{2,1,0}")).collect::<Vec<_>>();
    fs::write(&log, long_form(written.temporary_bytes, &others)).unwrap();
    assert_nothing_is_claimed(&diagnose(&[&log]));
}

#[test]
fn of_several_modules_it_is_the_one_that_agrees_or_it_cannot_be_told() {
    let directory = tempfile::tempdir().unwrap();
    let full = DumpOptions { remat: Remat::Full, ..options(XlaTarget::Gpu, 3) };
    let other = write_dump(&full, directory.path(), &Progress::default()).unwrap();
    let moved = |number: &str, file: &Path| {
        let name = file.file_name().unwrap().to_str().unwrap();
        let to = file.with_file_name(name.replace("module_0001", number));
        fs::rename(file, &to).unwrap();
        to
    };
    let other_file = moved("module_0007", &other.file);
    let written = dump(XlaTarget::Gpu, directory.path());
    assert_ne!(other.temporary_bytes, written.temporary_bytes);
    let log = log(directory.path(), &request(written.temporary_bytes));
    let module = |answer: &Value| only(answer)["module"]["file"].clone();
    let answer = diagnose(&[&log]);
    assert_eq!(module(&answer), written.file.to_str().unwrap());
    assert_eq!(only(&answer)["module"]["by"], "requested_bytes");
    assert!(text(&[&log]).contains("the request is one for its temporary allocation"));
    fs::write(&log, request(other.temporary_bytes)).unwrap();
    assert_eq!(module(&diagnose(&[&log])), other_file.to_str().unwrap());
    fs::write(&log, request(other.temporary_bytes + 1)).unwrap();
    assert_nothing_is_claimed(&diagnose(&[&log]));
    // Two compilations of one program.
    let again = moved("module_0009", &written.file);
    let written = dump(XlaTarget::Gpu, directory.path());
    fs::write(&log, request(written.temporary_bytes)).unwrap();
    let answer = diagnose(&[&log]);
    assert_eq!(only(&answer)["module"], Value::Null);
    let possible = json!([written.file.to_str().unwrap(), again.to_str().unwrap()]);
    assert_eq!(only(&answer)["possible_modules"], possible);
    assert!(
        text(&[&log]).contains("2 modules have the figures of the message, so it cannot be told")
    );
}

#[test]
fn a_message_of_another_device_is_about_no_module() {
    for (platform, is_of_gpu) in
        [(XlaTarget::Cpu, true), (XlaTarget::Tpu, true), (XlaTarget::Gpu, false)]
    {
        let directory = tempfile::tempdir().unwrap();
        let written = dump(platform, directory.path());
        let message = if is_of_gpu {
            request(written.temporary_bytes)
        } else {
            short_form(written.total_bytes)
        };
        let log = log(directory.path(), &message);
        assert_nothing_is_claimed(&diagnose(&[&log]));
    }
}

#[test]
fn a_module_that_is_cut_is_said_to_take_so_much_at_least_and_one_that_is_broken_says_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let written = dump(XlaTarget::Tpu, directory.path());
    let log = log(directory.path(), &short_form(written.total_bytes));
    let bytes = fs::read(&written.file).unwrap();
    // Allocations come before the trace.
    fs::write(&written.file, &bytes[..bytes.len() - 10]).unwrap();
    let answer = diagnose(&[&log]);
    assert_eq!(only(&answer)["module"]["is_cut"], true, "{answer}");
    assert!(text(&[&log]).contains("its file is cut: it reserves at least"));
    for end in (0..bytes.len()).step_by(bytes.len() / 20) {
        fs::write(&written.file, &bytes[..end]).unwrap();
        let answer = diagnose(&[&log]);
        let module = &only(&answer)["module"];
        assert!(module.is_null() || module["is_cut"] == true, "{end}: {answer}");
    }
    fs::write(&written.file, "no proto").unwrap();
    assert_nothing_is_claimed(&diagnose(&[&log]));
    let named = tilescope(&["diagnose", "--json", written.file.to_str().unwrap()]);
    assert_eq!(named.status.code(), Some(3), "what was named cannot be read");
}

#[test]
fn errors_of_pytorch_and_of_xla_in_one_log_have_what_is_theirs_and_the_same_keys() {
    let directory = tempfile::tempdir().unwrap();
    let written = dump(XlaTarget::Gpu, directory.path());
    // A request of PyTorch that is as large as that of XLA.
    let mut run = Recording::default();
    run.alloc(0, MIB, &stack(&[("/home/me/train.py", 10, "forward")]));
    run.out_of_memory(0, written.temporary_bytes, MIB / 4);
    let snapshot = run.write(directory.path(), "run.pickle");
    let of_pytorch = "CUDA out of memory. Tried to allocate 382.00 MiB (GPU 0; 7.77 GiB total capacity; 6.03 GiB already \
                      allocated; 113.31 MiB free; 6.69 GiB reserved in total by PyTorch)\n";
    let of_ipu =
        "Out of memory on tile 12: 270336 bytes used but tiles only have 262144 bytes of memory\n";
    let message = format!("{of_pytorch}{}{of_ipu}", request(written.temporary_bytes));
    let log = log(directory.path(), &message);
    for paths in [vec![&*log], vec![&*log, &*snapshot]] {
        let answer = diagnose(&paths);
        let findings = answer["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 3, "{answer}");
        let keys = |finding: &Value| -> BTreeSet<String> {
            finding.as_object().unwrap().keys().cloned().collect()
        };
        assert!(findings.iter().all(|finding| keys(finding) == keys(&findings[0])));
        let [pytorch, xla, ipu] = &findings[..] else { panic!() };
        assert_eq!((&pytorch["module"], &ipu["module"]), (&Value::Null, &Value::Null));
        assert_eq!(xla["module"]["agreed_bytes"], written.temporary_bytes);
        assert_eq!(xla["snapshot"], Value::Null, "a request of XLA is none of PyTorch's");
    }
}

#[test]
fn real_messages_are_joined_with_the_module_that_they_are_about() {
    let Some(refused) = real_report("xla/tpu-jax0.6.2-scan-oom") else { return };
    let error = refused.join("error.txt");
    let answer = diagnose(&[&error]);
    let module = &only(&answer)["module"];
    assert_eq!(module["by"], "temporary_bytes", "{answer}");
    assert_eq!((&module["listed"], &module["listed_found"]), (&json!(20), &json!(20)), "{module}");
    assert_eq!(module["temporary_bytes"], 20_898_447_872_u64);
    assert_eq!(module["temporary_peak_bytes"], 20_896_029_184_u64);
    let Some(errors) = real_report("xla/tpu-errors") else { return };
    for name in ["jax0.10.2-mlp.txt", "jax0.6.2-conv.txt"] {
        let conv = refused.with_file_name("tpu-jax0.10.2-conv");
        let answer = diagnose(&[&errors.join(name), &refused, &conv]);
        assert_nothing_is_claimed(&answer);
        assert_eq!(answer["dumps"].as_array().unwrap().len(), 2);
    }
    // The same error, several modules that could be meant, by their size, and one that is.
    let answer = diagnose(&[&error, &refused, &refused.with_file_name("cpu-jax0.10.2-several")]);
    assert!(only(&answer)["module"].is_object());
    assert_eq!(answer["dumps"].as_array().unwrap().len(), 1);
}
