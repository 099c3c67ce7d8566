//! The verdict of pipelines, IPU by IPU, against figures worked out from the tables of the profile alone.

use std::path::Path;

use crate::common::summary;
use rusqlite::Connection;
use serde_json::Value;
use tilescope::format::Progress;
use tilescope::systems::poplar::synth::network::Network;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};

/// What the tables say of one IPU.
struct Ipu {
    peak_bytes: i64,
    memory_bytes: i64,
    /// Bytes over the limit.
    over_bytes: i64,
    /// Tiles that are over, and those that need more at one step than they have.
    tiles_over: i64,
    tiles_short: i64,
}

impl Ipu {
    fn read(profile: &Connection, ipu: u32) -> Self {
        let (tiles, limit): (i64, i64) = profile
            .query_row("SELECT tiles_per_ipu, bytes_per_tile FROM target_info", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        let first = i64::from(ipu) * tiles;
        let of_tiles = |sum: &str| -> i64 {
            let sql = format!(
                "SELECT COALESCE(SUM({sum}), 0) FROM memory_by_tile WHERE tile >= ?1 AND tile < ?2"
            );
            profile.query_row(&sql, [first, first + tiles], |row| row.get(0)).unwrap()
        };
        let sql = "SELECT delta_bytes FROM memory_not_always_live_by_step_and_ipu \
                   WHERE ipu = ?1 ORDER BY step_id";
        let mut statement = profile.prepare(sql).unwrap();
        let deltas = statement.query_map([ipu], |row| row.get::<_, i64>(0)).unwrap();
        let (mut alive, mut peak) = (0, 0);
        for delta in deltas {
            alive += delta.unwrap();
            peak = peak.max(alive);
        }
        let over = format!("MAX(total_including_gaps - {limit}, 0)");
        let is_short = format!(
            "total_including_gaps > {limit} AND always_live_bytes + not_always_live_max_bytes > {limit}"
        );
        Self {
            peak_bytes: of_tiles("always_live_bytes") + peak,
            memory_bytes: tiles * limit,
            over_bytes: of_tiles(&over),
            tiles_over: of_tiles(&format!("total_including_gaps > {limit}")),
            tiles_short: of_tiles(&is_short),
        }
    }

    fn cause(&self) -> Option<&'static str> {
        match self {
            _ if self.tiles_over == 0 => None,
            _ if self.peak_bytes > self.memory_bytes => Some("curve"),
            _ if self.tiles_short > 0 => Some("imbalance"),
            _ => Some("placement"),
        }
    }
}

fn write(path: &Path, ipus: u32, copies: u32, tiles_per_ipu: u32, batch: u64, proportion: f64) {
    let network = Network::Tiny;
    let base = ReportOptions { network, copies, batch, proportion, ..ReportOptions::default() };
    write_report(&ReportOptions { ipus, tiles_per_ipu, ..base }, path, &Progress::default())
        .unwrap();
}

/// Compares what `summary` says with the tables, and returns the cause of each IPU.
fn causes(ipus: u32, copies: u32, tiles: u32, batch: u64, proportion: f64) -> (Vec<Value>, Value) {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), ipus, copies, tiles, batch, proportion);
    let insights = summary(directory.path()).unwrap()["poplar"].clone();
    let profile = Connection::open(directory.path().join("profile.pop")).unwrap();
    let rows = insights["ipus"].as_array().unwrap();
    assert_eq!(rows.len(), ipus as usize);
    let mut worst: Option<(i64, Value)> = None;
    for (ipu, row) in (0..).zip(rows) {
        let expected = Ipu::read(&profile, ipu);
        assert_eq!((&row["ipu"], &row["tiles"]), (&ipu.into(), &tiles.into()));
        assert_eq!(row["tiles_over"], expected.tiles_over, "IPU {ipu}");
        assert_eq!(row["fits"], expected.tiles_over == 0);
        assert_eq!(row["peak_bytes"], expected.peak_bytes, "IPU {ipu}");
        assert_eq!(row["limit_bytes"], expected.memory_bytes);
        assert_eq!(row["cause"].as_str(), expected.cause(), "IPU {ipu}");
        if worst.as_ref().is_none_or(|(most, _)| expected.over_bytes > *most) {
            worst = Some((expected.over_bytes, row["cause"].clone()));
        }
    }
    let failure = &insights["verdict"]["failure"];
    if let Some((over @ 1.., cause)) = worst {
        assert_eq!(failure["cause"], cause, "that of the worst IPU, over by {over}");
        let some_fit = rows.iter().any(|row| row["fits"] == true);
        assert_eq!(failure["between_ipus"].is_object(), some_fit, "imbalance between IPUs");
    }
    (rows.iter().map(|row| row["cause"].clone()).collect(), insights)
}

fn none() -> Value {
    Value::Null
}

#[test]
fn one_ipu_over_is_not_the_fault_of_the_other() {
    let (found, insights) = causes(2, 1, 8, 9, 0.7);
    assert_eq!(found, [none(), "curve".into()]);
    let failure = &insights["verdict"]["failure"];
    assert_eq!((&failure["ipus"], &failure["worst_ipu"]), (&Value::from([1]), &1.into()));
    let between = &failure["between_ipus"];
    assert_eq!((&between["full"], &between["others"]), (&Value::from([1]), &Value::from([0])));
    // The fullest tile decides what must leave every tile, and what fits.
    let number = |value: &Value| value.as_u64().unwrap();
    let [empty, full] = [&insights["ipus"][0], &insights["ipus"][1]];
    let fullest = |row: &Value| number(&row["fullest_tile"]["including_gaps_bytes"]);
    let limit = number(&insights["verdict"]["limit_bytes"]);
    let used = number(&full["used_bytes"]);
    let moved = (used * (fullest(full) - limit)).div_ceil(fullest(full));
    assert_eq!(number(&between["move_bytes"]), moved);
    assert_eq!(number(&between["room_bytes"]), (limit - fullest(empty)) * 8);
}

#[test]
fn all_ipus_over_by_their_curves_is_no_imbalance() {
    let (found, insights) = causes(2, 2, 16, 6, 0.9);
    assert_eq!(found, ["curve", "curve"]);
    assert_eq!(insights["verdict"]["failure"]["tiles_over"], 32);
    let (found, _) = causes(4, 2, 8, 8, 0.9);
    assert_eq!(found, ["curve"; 4]);
}

#[test]
fn one_tile_of_one_ipu_over_is_an_imbalance_of_that_ipu() {
    let (found, insights) = causes(2, 1, 8, 7, 0.2);
    assert_eq!(found, [none(), "imbalance".into()]);
    assert_eq!(insights["verdict"]["failure"]["tiles_over"], 1);
    let (found, _) = causes(4, 2, 8, 6, 0.05);
    assert_eq!(found, [none(), "imbalance".into(), none(), "imbalance".into()]);
    let (found, _) = causes(4, 2, 16, 6, 0.05);
    assert_eq!(found, [none(), "placement".into(), none(), "placement".into()]);
}

#[test]
fn a_pipeline_whose_ipus_fail_differently_fails_by_the_worst() {
    let (found, insights) = causes(4, 3, 16, 12, 0.6);
    assert_eq!(found, [none(), none(), "curve".into(), "placement".into()]);
    assert_eq!(insights["verdict"]["failure"]["ipus"], Value::from([2, 3]));
    let (found, _) = causes(4, 3, 16, 6, 0.05);
    assert_eq!(found, [none(), none(), "placement".into(), "imbalance".into()]);
}

#[test]
fn a_pipeline_that_fits_has_the_room_of_its_tightest_ipu() {
    let (found, insights) = causes(2, 1, 16, 4, 0.6);
    assert_eq!(found, [none(), none()]);
    let rooms = insights["ipus"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["limit_bytes"].as_u64().unwrap() - row["peak_bytes"].as_u64().unwrap());
    let room = &insights["verdict"]["room"]["above_peak_bytes"];
    assert_eq!(room.as_u64(), rooms.min());
}

#[test]
fn what_to_write_names_the_ipu_that_is_over() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), 2, 1, 8, 9, 0.7);
    let summary = summary(directory.path()).unwrap();
    let advice = summary["insights"]["advice"].as_array().unwrap();
    let lower = advice.iter().find(|one| one["id"] == "lower-available-memory-proportion").unwrap();
    let text = lower["how"][0]["code"].as_str().unwrap();
    assert!(text.contains("\"IPU1\"") && !text.contains("\"IPU0\""), "{text}");
}

/// What is said of the worst IPU counts its tiles alone.
#[test]
fn the_count_of_an_imbalance_is_of_the_worst_ipu() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), 4, 2, 8, 6, 0.05);
    let path = directory.path().to_str().unwrap();
    let text = crate::common::tilescope(&["summary", path]).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("On IPU 3 the curve fits, but 1 tile needs more"), "{text}");
    let insights = summary(directory.path()).unwrap()["poplar"].clone();
    assert_eq!(insights["verdict"]["failure"]["need_more_at_one_step"], 2, "both IPUs");
}
