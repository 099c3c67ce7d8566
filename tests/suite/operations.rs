//! Operations: what belongs to each adds up to what the report has, in every layer.

use std::path::{Path, PathBuf};

use crate::common::{answer, in_package, real_report, sample, sample_options};
use serde_json::Value;
use tilescope::analysis::operations::OperationFigure;
use tilescope::cli::Input;
use tilescope::cli::ops::{Lines, Ops, OpsArguments};
use tilescope::cli::output::arrow::ArrowArgument;
use tilescope::format::Error;

fn ops(path: &Path, layer: Option<&str>) -> Result<Value, Error> {
    let input = Input { path: path.to_owned(), json: true };
    let layer = layer.map(str::to_owned);
    let arguments = OpsArguments {
        input,
        layer,
        by: Lines::Operation,
        csv: false,
        arrow: ArrowArgument::default(),
    };
    answer(path, |open, progress| Ops::of(open, &arguments, progress))
}

fn sum(rows: &Value, key: &str) -> i64 {
    rows.as_array().unwrap().iter().filter_map(|row| row[key].as_i64()).sum()
}

/// Every figure adds up, and what is known of the whole is what other commands say.
fn check(path: &Path) {
    let found = ops(path, None).unwrap();
    let layers: Vec<&str> =
        found["layers"].as_array().unwrap().iter().map(|layer| layer.as_str().unwrap()).collect();
    assert!(layers.contains(&"poplar") && layers.contains(&"poplibs"), "{layers:?}");
    let summary = crate::common::summary(path).unwrap()["poplar"].clone();
    let memory = &summary["memory"];
    let categories: i64 = memory["by_category"]
        .as_object()
        .unwrap()
        .values()
        .map(|it| it["not_overlapped"].as_i64().unwrap() + it["overlapped"].as_i64().unwrap())
        .sum();
    for layer in std::iter::once(None).chain(layers.into_iter().map(Some)) {
        let found = ops(path, layer).unwrap();
        let (rows, totals) = (&found["operations"], &found["totals"]);
        let what = format!("{} {layer:?}", path.display());
        for figure in OperationFigure::ALL.into_iter().filter(|figure| figure.adds_up()) {
            let key = figure.key();
            if let Some(total) = totals[key].as_i64() {
                assert_eq!(sum(rows, key), total, "{what}: {key}");
            }
        }
        let total = |figure: OperationFigure| totals[figure.key()].as_i64().unwrap();
        let parts =
            [OperationFigure::Code, OperationFigure::VertexState, OperationFigure::Variables]
                .map(total);
        assert_eq!(parts.iter().sum::<i64>(), categories, "{what}");
        assert_eq!(
            OperationFigure::CODE.map(total).iter().sum::<i64>(),
            total(OperationFigure::Code),
            "{what}"
        );
        let peak = &summary["liveness"]["peak"];
        let alive = peak["always_live_bytes"].as_i64().unwrap();
        assert_eq!(total(OperationFigure::AlwaysLive), alive, "{what}");
        let alive = alive + peak["not_always_live_bytes"].as_i64().unwrap();
        assert_eq!(total(OperationFigure::PeakLive), alive, "{what}");
        assert_eq!(found["peak_step"], peak["step"], "{what}");
        for row in rows.as_array().unwrap() {
            // What is alive at the peak is alive at some step.
            if let (Some(peak), Some(worst)) =
                (row["peak_live_bytes"].as_i64(), row["worst_live_bytes"].as_i64())
            {
                assert!(peak <= worst, "{what}: {row}");
            }
        }
        let modules = &found["modules"];
        let of_operations: i64 = sum(rows, "variable_bytes")
            - rows.as_array().unwrap().last().unwrap()["variable_bytes"].as_i64().unwrap();
        assert_eq!(sum(modules, "variable_bytes"), of_operations, "{what}");
    }
}

#[test]
fn figures_of_samples_add_up() {
    for (name, _) in sample_options() {
        check(&in_package("sample_profiles").join(name));
    }
}

#[test]
fn figures_of_the_real_report_add_up() {
    if let Some(path) = real_report("poplar-3.3") {
        check(&path);
    }
}

#[test]
fn figures_of_the_story_add_up() {
    let story: PathBuf = in_package("../baseline/story");
    if !story.is_dir() {
        eprintln!("skipped: ../baseline/story is absent");
        return;
    }
    for run in ["amp-0.8", "amp-0.6", "amp-0.005"] {
        check(&story.join(run));
    }
}

#[test]
fn operations_have_the_fixed_keys() {
    let found = ops(&sample(), Some("poplibs")).unwrap();
    let rows = found["operations"].as_array().unwrap();
    for key in [
        "name",
        "operation",
        "layer",
        "programs",
        "code_bytes",
        "variable_bytes",
        "peak_live_bytes",
        "cycles",
        "estimated_cycles",
        "available_memory_proportion",
        "location",
    ] {
        assert!(rows[0].get(key).is_some(), "{key}");
    }
    let first = &rows[0];
    assert_eq!((&first["name"], &first["layer"]), (&"layer1.0.conv2".into(), &"poplibs".into()));
    assert_eq!(first["operation"]["kind"], "convolution");
    assert_eq!(first["location"], "resnext.py:93");
    assert_eq!(first["available_memory_proportion"], 0.6);
    assert_eq!(first["partials_type"], "float");
    let rest = rows.last().unwrap();
    assert_eq!((&rest["operation"], &rest["name"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_layer_names_its_own_operations() {
    let found = ops(&sample(), Some("onnx")).unwrap();
    let names: Vec<&str> = found["operations"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert!(names.contains(&"model.layer1.0.conv2"), "{names:?}");
    let modules: Vec<&str> = found["modules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|module| module["name"].as_str().unwrap())
        .collect();
    assert_eq!(modules, ["model.layer1.0", "model"]);
    let error = ops(&sample(), Some("keras")).unwrap_err();
    assert_eq!(error.kind, tilescope::format::ErrorKind::Usage);
    assert!(error.hint.unwrap().contains("onnx"));
}
