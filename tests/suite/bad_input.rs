//! Bad input: each kind gives a message that names the place, or a warning and everything else.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{
    all_answers, damaged_sample, liveness, map, sample, summary, tiles, warning_codes,
};
use rayon::prelude::*;
use rusqlite::Connection;
use serde_json::Value;
use tilescope::cli::tiles::TileBreakdown;
use tilescope::format::{Error, ErrorKind, Progress};
use tilescope::systems::poplar::synth::{ReportOptions, write_report};

fn error_of(path: &Path) -> Error {
    summary(path).expect_err("this must not open")
}

fn sql(directory: &Path, statements: &str) {
    Connection::open(directory.join("profile.pop"))
        .and_then(|connection| connection.execute_batch(statements))
        .expect("the damage can be done");
}

/// The text of everything that was said: warnings of all answers, and errors.
fn said(answers: &[Result<Value, Error>]) -> String {
    let said = answers.iter().map(|answer| match answer {
        Ok(answer) => answer["warnings"].to_string(),
        Err(error) => format!("{error} {}", error.at.as_deref().unwrap_or("")),
    });
    said.collect::<Vec<_>>().join("\n")
}

/// Answers without what may differ without loss: warnings, and paths and sizes of files.
fn figures(answers: &[Result<Value, Error>]) -> Vec<Option<Value>> {
    let strip = |answer: &Value| {
        let mut answer = answer.clone();
        answer["warnings"].take();
        if let Some(source) = answer.get_mut("source") {
            source["path"].take();
            source["files"].take();
        }
        answer
    };
    answers.iter().map(|answer| answer.as_ref().ok().map(strip)).collect()
}

#[test]
fn paths_without_a_report() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("nothing");
    assert_eq!(error_of(&missing).kind, ErrorKind::NotFound);
    assert!(error_of(&missing).message.contains("nothing"));
    let empty = error_of(directory.path());
    assert_eq!(empty.kind, ErrorKind::NotAReport);
    assert!(empty.hint.unwrap().contains("autoReport"));
    let inner = directory.path().join("a/b");
    fs::create_dir_all(&inner).unwrap();
    fs::write(inner.join("readme.txt"), "no report").unwrap();
    assert_eq!(error_of(directory.path()).kind, ErrorKind::NotAReport);
    assert_eq!(error_of(&inner.join("readme.txt")).kind, ErrorKind::NotAReport);
}

#[test]
fn several_reports_are_listed() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["training", "inference"] {
        let options = ReportOptions { tiles_per_ipu: 4, ..ReportOptions::default() };
        write_report(&options, &directory.path().join(name), &Progress::default()).unwrap();
    }
    let error = error_of(directory.path());
    assert_eq!(error.kind, ErrorKind::SeveralReports);
    assert!(error.message.contains("training") && error.message.contains("inference"));
    fs::remove_dir_all(directory.path().join("training")).unwrap();
    assert!(summary(directory.path()).is_ok(), "the one report below is opened");
}

#[test]
fn profile_pop_comes_before_an_interrupted_one() {
    let directory = damaged_sample(|directory| {
        fs::copy(directory.join("profile.pop"), directory.join("profile_abcd1234.pop")).unwrap();
    });
    let answer = summary(directory.path()).unwrap();
    assert_eq!(answer["source"]["files"][0]["name"], "profile.pop");
    assert!(answer["warnings"].to_string().contains("profile_abcd1234.pop"));
    fs::remove_file(directory.path().join("profile.pop")).unwrap();
    let answer = summary(directory.path()).unwrap();
    assert_eq!(answer["source"]["files"][0]["name"], "profile_abcd1234.pop");
    fs::copy(
        directory.path().join("profile_abcd1234.pop"),
        directory.path().join("profile_zzzz9999.pop"),
    )
    .unwrap();
    assert_eq!(error_of(directory.path()).kind, ErrorKind::SeveralReports);
    assert!(summary(&directory.path().join("profile_zzzz9999.pop")).is_ok(), "a file by its name");
}

#[test]
fn debug_information_one_directory_up() {
    let directory = damaged_sample(|directory| {
        fs::create_dir(directory.join("inference")).unwrap();
        fs::rename(directory.join("profile.pop"), directory.join("inference/profile.pop")).unwrap();
    });
    let answer = summary(&directory.path().join("inference")).unwrap();
    assert_eq!(answer["source"]["files"][1]["name"], "../debug.cbor");
    assert_eq!(answer["poplar"]["liveness"]["peak"]["operation"]["kind"], "convolution");
    fs::remove_file(directory.path().join("debug.cbor")).unwrap();
    let answer = summary(directory.path()).unwrap();
    let codes = warning_codes(&answer);
    assert!(codes.contains(&"missing-file") && codes.contains(&"no-debug-info"), "{codes:?}");
}

#[test]
fn files_that_are_no_profile() {
    let with = |bytes: &[u8]| {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("profile.pop"), bytes).unwrap();
        error_of(directory.path())
    };
    assert_eq!(with(b"this is a text").kind, ErrorKind::NotAReport);
    assert_eq!(with(b"").kind, ErrorKind::NotAReport);
    assert_eq!(with(b"{\"target\": {}}").kind, ErrorKind::UnsupportedVersion);
    assert_eq!(with(b"\xa1\x66target\xa0").kind, ErrorKind::UnsupportedVersion);
    let pointer = with(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n");
    assert!(pointer.hint.unwrap().contains("git lfs pull"));
    assert_eq!(with(b"SQLite format 3\0").kind, ErrorKind::Damaged, "a header and nothing else");
    let legacy = tempfile::tempdir().unwrap();
    fs::write(legacy.path().join("graph.json"), "{}").unwrap();
    assert_eq!(error_of(legacy.path()).kind, ErrorKind::UnsupportedVersion);
}

#[test]
fn databases_that_are_no_profile() {
    let directory = tempfile::tempdir().unwrap();
    sql(directory.path(), "CREATE TABLE cats (name TEXT);");
    let error = error_of(directory.path());
    assert_eq!(error.kind, ErrorKind::NotAReport);
    assert!(error.message.contains("without the tables"));
    let newer = damaged_sample(|directory| sql(directory, "UPDATE version_info SET major = 4"));
    let error = error_of(newer.path());
    assert_eq!(error.kind, ErrorKind::UnsupportedVersion);
    assert!(error.at.unwrap().contains("version_info"));
    let newer = damaged_sample(|directory| sql(directory, "UPDATE version_info SET minor = 9"));
    let answer = summary(newer.path()).unwrap();
    assert!(warning_codes(&answer).contains(&"unsupported-version"));
    // A view is a program that the file would make us run.
    let view = damaged_sample(|directory| {
        sql(
            directory,
            "DROP TABLE memory_by_tile; CREATE VIEW memory_by_tile AS WITH RECURSIVE \
             n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS tile FROM n",
        );
    });
    assert!(said(&all_answers(view.path())).contains("table memory_by_tile is absent"));
}

fn schema() -> Vec<(String, Vec<String>)> {
    let connection = Connection::open(sample().join("profile.pop")).unwrap();
    let names = |sql: &str, of: &[&str]| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map(rusqlite::params_from_iter(of), |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    let tables = names("SELECT name FROM sqlite_master WHERE type = 'table'", &[]);
    let columns = |table: &String| names("SELECT name FROM pragma_table_info(?1)", &[table]);
    tables.into_iter().map(|table| (table.clone(), columns(&table))).collect()
}

/// Whatever damage changes in the figures, a warning or an error names the table.
fn check_explained(what: &str, table: &str, intact: &[Option<Value>], directory: &Path) {
    let answers = all_answers(directory);
    let said = said(&answers);
    if figures(&answers) != intact {
        assert!(said.contains(table), "{what} changed the figures, but it was only said:\n{said}");
    }
}

#[test]
fn each_table_dropped() {
    let intact = figures(&all_answers(&sample()));
    schema().par_iter().for_each(|(table, _)| {
        let directory = damaged_sample(|directory| sql(directory, &format!("DROP TABLE {table}")));
        check_explained(&format!("dropping {table}"), table, &intact, directory.path());
    });
}

#[test]
fn each_column_dropped() {
    let intact = figures(&all_answers(&sample()));
    let columns: Vec<(String, Vec<String>, usize)> = schema()
        .into_iter()
        .filter(|(_, columns)| columns.len() > 1)
        .flat_map(|(table, columns)| {
            (0..columns.len())
                .map(move |at| (table.clone(), columns.clone(), at))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(columns.len() > 300);
    columns.par_iter().for_each(|(table, columns, dropped)| {
        let kept: Vec<String> = columns
            .iter()
            .enumerate()
            .filter(|(at, _)| at != dropped)
            .map(|(_, column)| format!("[{column}]"))
            .collect();
        // Key columns cannot be dropped, so the table is made anew without the column.
        let directory = damaged_sample(|directory| {
            let statements = format!(
                "CREATE TABLE kept AS SELECT {} FROM {table}; DROP TABLE {table}; \
                 ALTER TABLE kept RENAME TO {table}",
                kept.join(", ")
            );
            sql(directory, &statements);
        });
        let what = format!("dropping {table}.{}", columns[*dropped]);
        check_explained(&what, table, &intact, directory.path());
    });
}

#[test]
fn each_list_damaged() {
    const DAMAGE: [(&str, &str); 5] = [
        ("too few numbers", "X'80'"),
        ("too many numbers", "CAST([column] || X'8182838485868788898A8B8C8D8E8F90' AS BLOB)"),
        ("an unterminated number", "CAST([column] || X'01' AS BLOB)"),
        ("a number above 64 bits", "CAST([column] || X'7F7F7F7F7F7F7F7F7F7FFF' AS BLOB)"),
        ("an endless run", "X'0100000000000000008081'"),
    ];
    let intact = figures(&all_answers(&sample()));
    let connection = Connection::open(sample().join("profile.pop")).unwrap();
    let has_blob = |table: &str, column: &str| {
        let sql = format!("SELECT count(*) FROM {table} WHERE typeof([{column}]) = 'blob'");
        connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap() > 0
    };
    // A shorter list of constraints is a list of constraints, and debug contexts are any numbers:
    // nothing says how many.
    let is_damage = |table: &str, column: &str, what: &str| match (table, what) {
        ("debug_ids", _) => matches!(what, "an unterminated number" | "a number above 64 bits"),
        (_, "too few numbers") => !column.ends_with("_constraints"),
        _ => true,
    };
    let mut cases = Vec::new();
    for (table, columns) in schema() {
        for column in columns.into_iter().filter(|column| has_blob(&table, column)) {
            for (what, value) in
                DAMAGE.into_iter().filter(|damage| is_damage(&table, &column, damage.0))
            {
                let value = value.replace("column", &column);
                cases.push((table.clone(), column.clone(), what, value));
            }
        }
    }
    assert!(cases.len() > 60);
    cases.par_iter().for_each(|(table, column, what, value)| {
        let directory = damaged_sample(|directory| {
            sql(directory, &format!("UPDATE {table} SET [{column}] = {value}"));
        });
        let place = format!("{what} in {table}.{column}");
        check_explained(&place, table, &intact, directory.path());
    });
}

#[test]
fn a_damaged_list_names_table_row_and_column() {
    let directory = damaged_sample(|directory| {
        sql(
            directory,
            "UPDATE memory_by_category SET non_interleaved_overlapped = X'81828301' \
             WHERE category_id = 'stack'",
        );
    });
    let answer = summary(directory.path()).unwrap();
    let messages = answer["warnings"].to_string();
    for part in ["memory_by_category", "row category_id stack", "non_interleaved_overlapped"] {
        assert!(messages.contains(part), "{part} in {messages}");
    }
    assert_eq!(
        answer["poplar"]["memory"]["by_category"]["stack"]["overlapped"],
        Value::Null,
        "never 0"
    );
    assert_eq!(
        answer["memory"]["total_bytes"],
        summary(&sample()).unwrap()["memory"]["total_bytes"]
    );
}

#[test]
fn numbers_that_cannot_be() {
    for statements in [
        "UPDATE target_info SET num_tiles = 0, tiles_per_ipu = 0, bytes_per_tile = 0",
        "UPDATE target_info SET num_tiles = 9223372036854775807, tiles_per_ipu = -1",
        "DELETE FROM memory_by_tile",
        "DELETE FROM depth_first_steps",
        "DELETE FROM target_info",
        "UPDATE memory_by_tile SET total = 9223372036854775807, total_including_gaps = 9223372036854775807",
        "UPDATE memory_by_tile SET total = -5, tile = tile + 4294967290",
        "UPDATE depth_first_steps SET id = id + 9223372036854775000",
        "UPDATE eq_class_step SET step_id_to = 4294967295, step_id_from = 0",
        "UPDATE memory_not_always_live_by_step_and_ipu SET delta_bytes = -9223372036854775807",
        "UPDATE memory_not_always_live_by_step_and_ipu SET delta_bytes = 9223372036854775807",
        "UPDATE memory_not_always_live_by_step_and_ipu SET ipu = 4000000000 WHERE ipu = 0",
        "UPDATE vars_info SET offset = 4294967295, size_bytes = 4294967295",
        "UPDATE vars_info SET offset = -1",
        "UPDATE vars_info SET alignment = 0",
        "UPDATE vars_info SET var_id = var_id * 9000000000000",
        "UPDATE vars_info SET tile = 15 - tile",
        "UPDATE vars_info SET category = 4000, bitset = 9223372036854775807",
        "UPDATE var_bytes_by_eq_class SET bytes = 9223372036854775807",
        "UPDATE vars_info SET name_suffix = X'00FF', size_bytes = 'many'",
    ] {
        let directory = damaged_sample(|directory| sql(directory, statements));
        let answers = all_answers(directory.path());
        for answer in answers.iter().flatten() {
            assert!(answer["warnings"].is_array(), "{statements}");
        }
    }
    let directory = damaged_sample(|directory| {
        sql(directory, "UPDATE target_info SET num_tiles = 0, tiles_per_ipu = 0");
    });
    let answer = tiles(directory.path(), TileBreakdown::Region).unwrap();
    assert_eq!(answer["tiles"][0]["ipu"], Value::Null, "no IPU can be told");
}

#[test]
fn tiles_out_of_order_are_grouped() {
    let directory =
        damaged_sample(|directory| sql(directory, "UPDATE vars_info SET tile = 15 - tile"));
    let moved = map(directory.path(), 15, None).unwrap();
    assert_eq!(moved["variables"], map(&sample(), 0, None).unwrap()["variables"]);
}

#[test]
fn a_step_that_names_an_absent_program() {
    let directory = damaged_sample(|directory| {
        sql(directory, "UPDATE depth_first_steps SET program_id = 999 WHERE id = 33");
    });
    let answer = liveness(directory.path(), None).unwrap();
    assert_eq!(answer["step"]["step"], 33);
    assert_eq!((&answer["step"]["kind"], &answer["step"]["name"]), (&Value::Null, &Value::Null));
    let messages = answer["warnings"].to_string();
    assert!(messages.contains("depth_first_steps") && messages.contains("row id 33"), "{messages}");
}

#[test]
fn names_of_any_kind() {
    let long = "x".repeat(100_000);
    let names = ["\u{1b}[31mred\u{7}\n\r\t\0", "\u{202e}txet\u{2066}", "תמונה", "a'b\"c", &long];
    for name in names {
        let directory = damaged_sample(|directory| {
            let connection = Connection::open(directory.join("profile.pop")).unwrap();
            for table in [
                "unlowered_vars SET name",
                "compute_sets SET name",
                "programs SET name",
                "vars_string_table SET string",
                "var_categories SET name",
                "date_time SET string",
            ] {
                connection.execute(&format!("UPDATE {table} = ?1"), [name]).unwrap();
            }
        });
        let answers = all_answers(directory.path());
        let text = answers.iter().flatten().map(Value::to_string).collect::<String>();
        assert!(answers.iter().all(Result::is_ok));
        let as_json = Value::from(name).to_string();
        assert!(text.contains(as_json.trim_matches('"')), "JSON keeps the name as it is");
    }
}

#[test]
fn any_bytes_may_be_wrong() {
    let profile = fs::read(sample().join("profile.pop")).unwrap();
    let debug = fs::read(sample().join("debug.cbor")).unwrap();
    // A fixed sequence (Knuth's linear congruential generator), so that a failure comes again.
    let random = |seed: u64| {
        let mut state = seed;
        move |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        }
    };
    (0..250_u64).into_par_iter().for_each(|seed| {
        let mut random = random(seed);
        let directory = damaged_sample(|directory| {
            for (name, bytes) in [("profile.pop", &profile), ("debug.cbor", &debug)] {
                let mut bytes = bytes.clone();
                match seed % 3 {
                    0 => bytes.truncate(random(bytes.len())),
                    1 => {
                        for _ in 0..=random(20) {
                            let at = random(bytes.len());
                            bytes[at] = u8::try_from(random(256)).unwrap();
                        }
                    }
                    _ => {
                        let at = random(bytes.len());
                        let end = (at + random(5000)).min(bytes.len());
                        bytes[at..end].fill(u8::try_from(random(256)).unwrap());
                    }
                }
                fs::write(directory.join(name), bytes).unwrap();
            }
        });
        all_answers(directory.path());
    });
}

#[test]
fn a_cut_profile_says_so() {
    let whole = fs::metadata(sample().join("profile.pop")).unwrap().len();
    let directory = damaged_sample(|directory| {
        let file = fs::OpenOptions::new().write(true).open(directory.join("profile.pop")).unwrap();
        file.set_len(whole * 3 / 4).unwrap();
    });
    let answer = summary(directory.path()).unwrap();
    assert!(warning_codes(&answer).contains(&"truncated"));
    assert_eq!(answer["source"]["files"][0]["status"], "truncated");
}

#[test]
fn a_cut_debug_file_keeps_what_was_complete() {
    let bytes = fs::read(sample().join("debug.cbor")).unwrap();
    for cut in (0..bytes.len()).step_by(97) {
        let directory = damaged_sample(|directory| {
            fs::write(directory.join("debug.cbor"), &bytes[..cut]).unwrap();
        });
        let answer = summary(directory.path()).unwrap();
        assert!(warning_codes(&answer).contains(&"truncated"), "cut at {cut}");
    }
}

#[test]
fn a_context_that_is_its_own_ancestor() {
    // {contexts: [{id: 1, parentId: 2, layer: "poplibs", api: "a"}, {id: 2, parentId: 1}, …],
    //  stringTable: []}
    let mut bytes = vec![0xa2, 0x68];
    bytes.extend(b"contexts");
    bytes.push(0x9f);
    for (id, parent) in [(1, 2), (2, 1), (3, 3)] {
        bytes.extend([0xa2, 0x62]);
        bytes.extend(b"id");
        bytes.push(id);
        bytes.push(0x68);
        bytes.extend(b"parentId");
        bytes.push(parent);
    }
    bytes.extend([0xff, 0x6b]);
    bytes.extend(b"stringTable");
    bytes.push(0x80);
    let directory =
        damaged_sample(|directory| fs::write(directory.join("debug.cbor"), &bytes).unwrap());
    let answer = summary(directory.path()).unwrap();
    assert!(answer["warnings"].to_string().contains("its own ancestor"));
}

#[test]
fn cbor_that_promises_too_much() {
    let mut huge_text = vec![0xa1, 0x7b];
    huge_text.extend(u64::MAX.to_be_bytes());
    let mut huge_array = vec![0xa1, 0x68];
    huge_array.extend(b"contexts");
    huge_array.push(0x9b);
    huge_array.extend(u64::MAX.to_be_bytes());
    let nested = vec![0x81_u8; 200_000];
    let mut deep = vec![0xa1, 0x61, b'x'];
    deep.extend(nested);
    for bytes in [huge_text, huge_array, deep, vec![0xff], vec![0x00], b"hello".to_vec()] {
        let directory =
            damaged_sample(|directory| fs::write(directory.join("debug.cbor"), &bytes).unwrap());
        let answer = summary(directory.path()).unwrap();
        assert!(warning_codes(&answer).contains(&"no-debug-info"));
    }
}

#[test]
fn a_proportion_that_is_no_number() {
    let directory = damaged_sample(|directory| {
        let path = directory.join("debug.cbor");
        let bytes = fs::read(&path).unwrap();
        // The text "0.6" becomes "abc".
        let mut changed = bytes.clone();
        let at = bytes.windows(4).position(|window| window == b"\x630.6").unwrap();
        changed[at + 1..at + 4].copy_from_slice(b"abc");
        fs::write(path, changed).unwrap();
    });
    let answer = summary(directory.path()).unwrap();
    assert!(warning_codes(&answer).contains(&"unknown-value"));
    let rows = answer["poplar"]["available_memory_proportion"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["value"].is_null()));
}

fn listing(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Not a test of its own: the process that holds a lock for the test below.
#[test]
#[ignore = "run by a_lock_held as its own process"]
fn lock_holder() {
    let Ok(profile) = std::env::var("TILESCOPE_TEST_LOCK") else { return };
    let connection = Connection::open(profile).unwrap();
    let mode = std::env::var("TILESCOPE_TEST_LOCK_MODE").unwrap();
    connection
        .execute_batch(&format!("BEGIN {mode}; UPDATE memory_by_tile SET total = total + 1;"))
        .unwrap();
    println!("locked");
    std::io::stdout().flush().unwrap();
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

#[cfg(unix)]
#[test]
fn a_lock_held() {
    let intact = summary(&sample()).unwrap();
    for mode in ["IMMEDIATE", "EXCLUSIVE"] {
        let directory = damaged_sample(|_| ());
        let mut holder = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "bad_input::lock_holder", "--ignored", "--nocapture"])
            .env("TILESCOPE_TEST_LOCK", directory.path().join("profile.pop"))
            .env("TILESCOPE_TEST_LOCK_MODE", mode)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(holder.stdout.take().unwrap()).lines();
        assert!(output.any(|line| line.unwrap().contains("locked")), "the lock is held");
        let before = listing(directory.path());
        let answer = summary(directory.path()).unwrap();
        assert!(warning_codes(&answer).contains(&"unfinished"), "{mode}");
        assert_eq!(
            answer["poplar"]["memory"], intact["poplar"]["memory"],
            "the last completed state"
        );
        assert_eq!(listing(directory.path()), before, "nothing is created beside the file");
        holder.stdin.take().unwrap().write_all(b"done\n").unwrap();
        assert!(holder.wait().unwrap().success());
    }
}

#[test]
fn a_hot_journal() {
    let intact = summary(&sample()).unwrap();
    // A change that does not fit in SQLite's cache is half in the file when its writer dies.
    let writing = damaged_sample(|_| ());
    let died = tempfile::tempdir().unwrap();
    let connection = Connection::open(writing.path().join("profile.pop")).unwrap();
    connection
        .execute_batch(
            "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; \
             UPDATE memory_by_tile SET total = total + 1; \
             UPDATE vars_info SET name_suffix = 'a long suffix that needs another page'; \
             UPDATE memory_by_category SET category_id = category_id || 'x';",
        )
        .unwrap();
    for name in listing(writing.path()) {
        fs::copy(writing.path().join(&name), died.path().join(&name)).unwrap();
    }
    drop(connection);
    assert!(died.path().join("profile.pop-journal").is_file(), "the journal is hot");
    let changed = fs::read(died.path().join("profile.pop")).unwrap();
    assert_ne!(
        changed,
        fs::read(sample().join("profile.pop")).unwrap(),
        "half of it is in the file"
    );
    let before = listing(died.path());
    let answer = summary(died.path()).unwrap();
    assert!(warning_codes(&answer).contains(&"unfinished"));
    assert_eq!(answer["poplar"]["memory"], intact["poplar"]["memory"], "rolled back");
    assert_eq!(listing(died.path()), before, "nothing is created beside the file");
    assert_eq!(fs::read(died.path().join("profile.pop")).unwrap(), changed, "nor changed in it");
}
