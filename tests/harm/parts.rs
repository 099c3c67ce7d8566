//! What a part that is absent or too large leaves.

use super::*;

#[test]
fn the_curve_of_an_ipu_without_changes_from_step_to_step() {
    let of_ipu = |directory: &Path, by: Option<&str>| {
        let path = directory.display().to_string();
        let by = by.map_or(vec![], |by| vec!["--step", "peak", "--by", by]);
        let arguments = [vec!["liveness", "--json", "--ipu", "0", &path], by].concat();
        crate::common::json(&crate::common::tilescope(&arguments))
    };
    let intact = of_ipu(&sample(), None);
    let directory = harmed_sample(|directory| {
        sql(directory, "DROP TABLE memory_not_always_live_by_step_and_ipu");
    });
    let answer = of_ipu(directory.path(), None);
    assert_eq!(answer["steps"], intact["steps"]);
    assert_eq!(answer["scope"], "ipu 0");
    let by_category = of_ipu(directory.path(), Some("category"));
    assert_eq!(by_category["consists_of"], of_ipu(&sample(), Some("category"))["consists_of"]);
}

#[test]
fn a_variable_of_five_gib_stays_on_the_map_of_its_tile() {
    let bytes = 5_u64 << 30;
    let directory = harmed_sample(|directory| {
        let statement = "UPDATE vars_info SET size_bytes =";
        sql(
            directory,
            &format!(
                "{statement} {bytes} WHERE var_id = (SELECT max(var_id) FROM vars_info WHERE tile = 3)"
            ),
        );
    });
    let (said, _) = ask_all(directory.path(), 150);
    assert!(
        said.contains("column size_bytes: a number below 2³² expected, 5368709120 found"),
        "{said}"
    );
    let map = map(directory.path(), 3, None).unwrap();
    let variables = map["variables"].as_array().unwrap();
    assert!(variables.iter().any(|variable| variable["bytes"] == bytes), "{map:#}");
    assert!(map["end"].as_u64().unwrap() >= bytes);
}
