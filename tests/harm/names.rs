//! Names that rows repeat by reference.

use super::*;

#[test]
fn a_name_that_many_steps_repeat() {
    let directory = harmed_sample(|directory| {
        many_steps(directory);
        let name = "n".repeat(100_000);
        set(directory, "programs SET name", &name);
        set(directory, "compute_sets SET name", &name);
    });
    let (said, _) = ask_some(directory.path(), 300);
    assert!(said.contains("depth_first_steps repeats them"), "{said}");
}

#[test]
fn names_of_categories_that_every_tile_repeats() {
    let directory = harmed_sample(|directory| {
        without_indexes(directory, "memory_by_category");
        set(directory, "memory_by_category SET category_id", &"n".repeat(40_000));
        set(directory, "var_categories SET name", &"n".repeat(1 << 20));
    });
    let (said, _) = ask_all(directory.path(), 150);
    assert!(said.contains("table memory_by_category, row category_id nnn"), "{said}");
    let by_category = tiles(directory.path(), TileBreakdown::Category).unwrap().to_string();
    assert!(by_category.len() < MIB, "{}", by_category.len());
}

#[test]
fn a_name_that_all_variables_of_a_tile_repeat() {
    let directory = harmed_sample(|directory| {
        set(directory, "vars_string_table SET string", &"n".repeat(1 << 20));
    });
    let (said, _) = ask_some(directory.path(), 300);
    assert!(said.contains("vars_string_table") && said.contains("it is cut"), "{said}");
    let map = map(directory.path(), 0, None).unwrap();
    assert!(map.to_string().len() < 64 * MIB, "{}", map.to_string().len());
    assert_eq!(map["gaps"], crate::common::map(&sample(), 0, None).unwrap()["gaps"]);
}
