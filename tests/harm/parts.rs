//! Reports with a part that is absent or too large.

use super::*;
use tilescope::analysis::placement::chip_map::{
    self, ChipCell, ChipWindow, ColourBy, area_bytes, rows_at,
};
use tilescope::store::TileId;

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
    assert_eq!(answer["scope"], "IPU 0");
    let by_category = of_ipu(directory.path(), Some("category"));
    assert_eq!(by_category["by"], of_ipu(&sample(), Some("category"))["by"]);
}

#[test]
fn a_variable_of_five_gib_stays_on_the_maps() {
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
    assert!(!said.contains("a number below 2³² expected"), "{said}");
    let map = map(directory.path(), 3, None).unwrap();
    let variables = map["variables"].as_array().unwrap();
    let it = variables.iter().find(|variable| variable["bytes"] == bytes);
    let offset = it.unwrap_or_else(|| panic!("{map:#}"))["offset"].as_u64().unwrap();
    assert!(map["end"].as_u64().unwrap() >= bytes);
    // The map of all tiles, from the columns that stay in memory.
    let progress = Progress::default();
    let open = OpenReport::open(directory.path(), &progress).unwrap();
    open.read_variables(&progress);
    let report = &*open.report;
    assert_eq!(report.variables.get().unwrap().wide.len(), 1);
    for address in [offset, offset + bytes - 1] {
        let rows = rows_at(report, TileId(3), address, None);
        let sizes = rows.iter().map(|row| report.variables.get().unwrap().size(*row as usize));
        assert!(sizes.clone().any(|size| size == Some(bytes)), "at {address}: {rows:?}");
    }
    assert!(rows_at(report, TileId(3), offset + bytes, None).is_empty());
    let area = area_bytes(report, 3..4, 0..1 << 40, None).unwrap();
    assert_eq!(area.alive + area.gap, offset + bytes);
    let window = ChipWindow { tiles: 0..16, addresses: 0..6 << 30, columns: 6, rows: 16 };
    let picture = chip_map::render(report, &window, ColourBy::Category, None, &|| false).unwrap();
    assert!(matches!(picture.at(3, 4 << 30), Some(ChipCell::Category(_))), "{picture:?}");
    assert_eq!(picture.at(2, 4 << 30), Some(ChipCell::Beyond));
}

#[test]
fn numbers_beyond_32_bits_in_every_row_are_as_many_as_there_is_room_for() {
    let directory = harmed_sample(|directory| {
        sql(directory, "UPDATE vars_info SET size_bytes = 1 << 39, offset = (1 << 39) + var_id");
    });
    let (_, took) = counted(|| all_answers(directory.path()));
    assert!(took.bytes < 150 * MIB, "{} MiB", took.bytes / MIB);
    drop(directory);
    let directory = harmed_sample(|directory| {
        sql(
            directory,
            "DELETE FROM vars_info; \
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) \
             INSERT INTO vars_info (var_id, tile, offset, size_bytes, alignment, equivalence_class, \
                 name_base_id, name_suffix, category, bitset) \
             SELECT i, i % 16, 8, 1 << 40, 4, 1, 1, '', 1, 1 FROM n;",
        );
    });
    let (said, _) = ask_all(directory.path(), 300);
    assert!(said.contains("at most 4294967295 expected"), "{said:.3000}");
}
