//! Bytes that grow: values of JSON files, warnings, lists, messages of logs.

use tilescope::cli::diagnose::DiagnoseReport;

use super::*;

#[test]
fn leaves_of_a_json_file_that_have_long_ways() {
    let directory = harmed_sample(|directory| {
        let (levels, leaves) = (100, 60_000);
        let key = "k".repeat(1000);
        let open = format!("{{\"{key}\":").repeat(levels);
        let leaves = vec!["{}"; leaves].join(",");
        let text = format!("{open}[{leaves}]{}", "}".repeat(levels));
        assert!(text.len() < 400_000);
        fs::write(directory.join("app.json"), text).unwrap();
    });
    let (said, _) = ask_some(directory.path(), 120);
    assert!(said.contains("app.json") && said.contains("take more than"), "{said}");
}

#[test]
fn a_json_file_of_many_values() {
    let directory = harmed_sample(|directory| {
        let text = format!("[{}1]", "{},".repeat(5_000_000));
        fs::write(directory.join("framework.json"), text).unwrap();
    });
    let (said, _) = ask_some(directory.path(), 120);
    assert!(said.contains("framework.json") && said.contains("values expected"), "{said}");
}

#[test]
fn a_json_file_of_as_many_values_as_may_be_read_compares_by_the_first() {
    let directory = harmed_sample(|directory| {
        let text = format!("[{}1]", "[],".repeat(200_000));
        fs::write(directory.join("framework.json"), text).unwrap();
    });
    let (said, _) = ask_some(directory.path(), 120);
    assert!(said.contains("framework.json") && said.contains("more than 20000"), "{said}");
    let (one, sample) = (directory.path().display().to_string(), sample().display().to_string());
    let output = crate::common::tilescope(&["compare", &sample, &one, &one, "--json"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.len() < 20 * MIB, "{} bytes", output.stdout.len());
}

#[test]
fn a_warning_for_each_of_many_tiles() {
    let directory = harmed_sample(|directory| {
        // A variable on each tile, which must not share an element with one that is not there.
        sql(
            directory,
            "DELETE FROM vars_info; \
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) \
             INSERT INTO vars_info (var_id, tile, offset, size_bytes, alignment, equivalence_class, \
                 name_base_id, name_suffix, category, bitset, element_constraints) \
             SELECT i, i, 0, 8, 4, 1, 1, '', 1, 1, x'85' FROM n;",
        );
    });
    let (said, _) = ask_all(directory.path(), 300);
    assert!(
        said.contains("constraints name a variable that it does not have (")
            && said.contains("such tiles")
    );
    assert!(said.len() < 300_000, "{} bytes of warnings", said.len());
}

#[test]
fn lists_longer_than_there_are_tiles() {
    let directory = harmed_sample(|directory| {
        let blob = vec![0x80_u8; 12 * MIB];
        let connection = Connection::open(directory.join("profile.pop")).unwrap();
        let statement = "UPDATE memory_by_category SET interleaved_overlapped = ?1 WHERE rowid = 1";
        connection.execute(statement, [&blob]).unwrap();
        let statement = "UPDATE programs SET children = ?1 WHERE id = 1";
        connection.execute(statement, [&blob]).unwrap();
    });
    let (said, _) = ask_some(directory.path(), 30);
    assert!(said.contains("16 numbers expected, 12582912 found"), "{said}");
    assert!(said.contains("table programs") && said.contains("numbers expected"), "{said}");
}

#[test]
fn many_lists_that_are_each_short_enough() {
    let directory = harmed_sample(|directory| {
        set(directory, "programs SET children", &vec![0x81_u8; 900_000]);
    });
    let (said, _) = ask_some(directory.path(), 300);
    assert!(said.contains("more children than all programs"), "{said}");
}

#[test]
fn many_constraints_of_every_variable() {
    let directory = harmed_sample(|directory| {
        set(directory, "vars_info SET element_constraints", &vec![0x85_u8; 10_000]);
    });
    let (said, _) = ask_some(directory.path(), 300);
    assert!(!said.is_empty());
}

#[test]
fn a_class_that_lives_often_and_is_named_by_many_rows() {
    let directory = harmed_sample(|directory| {
        without_indexes(directory, "eq_class_step");
        without_indexes(directory, "var_bytes_by_eq_class");
        sql(
            directory,
            "INSERT OR REPLACE INTO eq_classes (id, is_always_live) VALUES (1, 0); \
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
             INSERT INTO eq_class_step (eq_class_id, step_id_from, step_id_to) \
             SELECT 1, i % 60, i % 60 + 1 FROM n; \
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) \
             INSERT INTO var_bytes_by_eq_class (unlowered_var_id, eq_class_id, bytes, tile) \
             SELECT 1, 1, 4, CASE i % 2 WHEN 0 THEN 2 END FROM n;",
        );
    });
    let (said, took) = ask_all(directory.path(), 150);
    assert!(said.contains("its class lives too often"), "{said}");
    assert!(took.work.rows < 5_000_000, "{}", took.work);
}

#[test]
fn numbers_of_tiles_that_no_system_has() {
    for number in ["4000000000", "9223372036854775807"] {
        let directory = harmed_sample(|directory| {
            let set = ["num_tiles", "tiles_per_ipu", "num_ipus", "num_replicas"];
            let set = set.map(|column| format!("{column} = {number}")).join(", ");
            sql(directory, &format!("UPDATE target_info SET {set}"));
        });
        let (said, took) = ask_all(directory.path(), 150);
        assert!(said.contains("at most 1048576 expected"), "{said}");
        assert!(took.work.rows < 1_000_000, "{}", took.work);
    }
}

#[test]
fn a_log_of_one_long_line_and_one_of_many_findings() {
    let directory = harmed_sample(|directory| {
        let line = "Memory allocation: Out of memory on tile 3: 700000 bytes used but tiles only have 638976. ";
        fs::write(directory.join("compile.log"), line.repeat(6 * MIB / line.len())).unwrap();
        fs::write(directory.join("run.log"), format!("{line}\n").repeat(6 * MIB / line.len()))
            .unwrap();
    });
    let (_, took) = counted(|| summary(directory.path()).unwrap());
    assert!(took.bytes < 60 * MIB, "{} MiB", took.bytes / MIB);
    for log in ["compile.log", "run.log"] {
        let output = crate::common::tilescope(&[
            "diagnose",
            "--json",
            &directory.path().join(log).display().to_string(),
        ]);
        assert!(output.status.success());
        assert!(output.stdout.len() < 100 * MIB, "{log}: {}", output.stdout.len());
    }
}

#[test]
fn ranks_whose_listings_alternate_are_told_apart_in_time() {
    let _alone = alone();
    let listing = "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. \
                   Used 19.46G of 15.75G hbm. Exceeded hbm capacity by 3.71G.\n\n\
                   Total hbm usage >= 19.71G:\n    reserved        258.00M\n    program          19.46G\n\n\
                   Program hbm requirement 19.46G:\n    HLO temp         19.46G\n\n\
                   Largest program allocations in hbm:\n\n  1. Size: 2.00G\n     Shape: f32[512,1024,1024]\n\
                        ==========================\n\n  2. Size: 1.00G\n";
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("train.log");
    let lines =
        listing.lines().flat_map(|line| (0..1500).map(move |rank| format!("[{rank}]: {line}\n")));
    fs::write(&log, lines.collect::<String>()).unwrap();
    let files = [log];
    let (report, took) = counted(|| DiagnoseReport::of(&files).unwrap());
    let report = serde_json::to_value(report).unwrap();
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1500);
    let listed = |found: &serde_json::Value| found["allocations"].as_array().map_or(0, Vec::len);
    assert!(findings.iter().all(|found| listed(found) == 2), "each has its listing");
    // The lines around a message may be read again, but not for each message.
    let bytes = fs::metadata(&files[0]).unwrap().len();
    assert!(took.work.bytes < 12 * bytes, "{} of {bytes}", took.work);
}
