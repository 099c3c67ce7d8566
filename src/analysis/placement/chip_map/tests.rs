//! Pictures against a count of every single byte.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

use crate::analysis::fixture::{self, Lowered};
use crate::store::variable::LoweredVariables;

const NEVER: &(dyn Fn() -> bool + Sync) = &|| false;

/// Offset, bytes, class, category.
type Variable = (u32, u32, u32, u8);

/// Tiles 0, 2, 4 … with these variables; class 1 lives always, 2 at steps 0 and 1, 3 at 2 and 3.
/// Category 4 is unallocated data in disguise: its variables have no place.
fn report(tiles: &[Vec<Variable>]) -> Report {
    let report = fixture::report_of_lives(4, &[vec![0..4], vec![0..2], vec![2..4]]);
    report.categories.fill(Some(fixture::categories(1, &["category", "category"])));
    let variable = |(offset, bytes, class, category): &Variable| Lowered {
        flags: u16::from(*category != 4),
        ..Lowered::new(*offset, *bytes, *class, *category)
    };
    let variables = tiles.iter().map(|tile| tile.iter().map(variable));
    report.variables.fill(Some(fixture::lowered((0..).step_by(2).zip(variables))));
    report
}

/// The same by looking at every byte.
fn brute_force(
    tiles: &[Vec<Variable>],
    wanted: Range<u32>,
    addresses: Range<u64>,
    step: Option<u32>,
) -> AreaBytes {
    let mut found = AreaBytes::default();
    let mut by_category: BTreeMap<u8, u64> = BTreeMap::new();
    for tile in wanted {
        let none = Vec::new();
        let variables = if tile % 2 == 0 { tiles.get(tile as usize / 2) } else { None };
        let placed: Vec<&Variable> = variables
            .unwrap_or(&none)
            .iter()
            .filter(|(_, bytes, _, category)| *bytes > 0 && *category != 4)
            .collect();
        let end = placed.iter().map(|(offset, bytes, ..)| u64::from(offset + bytes)).max();
        for address in addresses.clone() {
            let at: Vec<&&Variable> = placed
                .iter()
                .filter(|(offset, bytes, ..)| {
                    (u64::from(*offset)..u64::from(offset + bytes)).contains(&address)
                })
                .collect();
            let is_alive = |class: u32| match (class, step) {
                (1, _) | (_, None) => true,
                (2, Some(step)) => step < 2,
                (3, Some(step)) => step >= 2,
                _ => false,
            };
            let alive: Vec<&&&Variable> =
                at.iter().filter(|(.., class, _)| is_alive(*class)).collect();
            for (.., category) in &alive {
                let category = if [1, 2].contains(category) { *category } else { u8::MAX };
                *by_category.entry(category).or_default() += 1;
            }
            if alive.iter().any(|(.., class, _)| *class == 1) {
                found.always_live += 1;
            } else if alive.len() > 1 {
                found.several += 1;
            }
            if !alive.is_empty() {
                found.alive += 1;
            } else if !at.is_empty() {
                found.free += 1;
            } else if end.is_some_and(|end| address < end) {
                found.gap += 1;
            } else {
                found.beyond += 1;
            }
        }
    }
    let id = |category| (category != u8::MAX).then_some(CategoryId(u32::from(category)));
    found.by_category =
        by_category.into_iter().map(|(category, bytes)| (id(category), bytes)).collect();
    found
}

fn variables() -> impl Strategy<Value = Vec<Vec<Variable>>> {
    let variable = (0..70_u32, 0..25_u32, 1..5_u32, 1..6_u8);
    proptest::collection::vec(proptest::collection::vec(variable, 0..12), 0..6)
}

proptest! {
    #[test]
    fn every_byte_of_an_area_counts_where_it_belongs(
        tiles in variables(),
        step in proptest::option::of(0..4_u32),
        wanted in (0..14_u32, 0..14_u32),
        addresses in (0..100_u64, 0..100_u64),
    ) {
        let (wanted, addresses) = (wanted.0..wanted.1, addresses.0..addresses.1);
        let report = report(&tiles);
        let step_position = step.map(|step| step as usize);
        let found = area_bytes(&report, wanted.clone(), addresses.clone(), step_position);
        let found = found.expect("an area");
        prop_assert_eq!(&found, &brute_force(&tiles, wanted.clone(), addresses.clone(), step));
        let area = (wanted.len() as u64) * addresses.end.saturating_sub(addresses.start);
        prop_assert_eq!(found.alive + found.free + found.gap + found.beyond, area);
    }

    #[test]
    fn every_cell_shows_what_most_of_its_bytes_are(
        tiles in variables(),
        step in proptest::option::of(0..4_usize),
        tile_window in (0..8_u32, 0..14_u32),
        addresses in (0..60_u64, 0..100_u64),
        size in (0..40_u32, 0..9_u32),
    ) {
        let report = report(&tiles);
        let window = ChipWindow {
            tiles: tile_window.0..tile_window.1,
            addresses: addresses.0..addresses.1,
            columns: size.0,
            rows: size.1,
        };
        let picture = |by| render(&report, &window, by, step, NEVER).expect("a picture");
        let by_category = picture(ColourBy::Category);
        let by_liveness = picture(ColourBy::Liveness);
        let by_gaps = picture(ColourBy::Gaps);
        prop_assert_eq!(by_category.cells.len(), by_category.rows * by_category.columns);
        prop_assert!(by_category.columns <= size.0.max(1) as usize + 1);
        prop_assert!(by_category.rows <= size.1.max(1) as usize + 1);
        if !window.tiles.is_empty() && !window.addresses.is_empty() {
            prop_assert!(by_category.tiles.start <= window.tiles.start);
            prop_assert!(by_category.tiles.end >= window.tiles.end);
            prop_assert!(by_category.addresses.start <= window.addresses.start);
            prop_assert!(by_category.addresses.end >= window.addresses.end);
        }
        for tile in by_category.tiles.clone().step_by(by_category.tiles_per_row as usize) {
            let bytes_per_cell = by_category.bytes_per_cell;
            for start in by_category.addresses.clone().step_by(bytes_per_cell as usize) {
                let tiles = tile..tile + by_category.tiles_per_row;
                let at = area_bytes(&report, tiles, start..start + bytes_per_cell, step);
                let at = at.expect("an area");
                let most = at.alive.max(at.free).max(at.gap).max(at.beyond);
                let single = at.alive - at.always_live - at.several;
                let common = at.always_live.max(at.several).max(single);
                let largest = at.by_category.iter().map(|(_, bytes)| *bytes).max();
                match by_category.at(tile, start) {
                    Some(ChipCell::Beyond) => prop_assert_eq!(at.beyond, most),
                    Some(ChipCell::Gap) => prop_assert_eq!(at.gap, most),
                    Some(ChipCell::Free) => prop_assert_eq!(at.free, most),
                    Some(ChipCell::Category(category)) => {
                        prop_assert_eq!(at.alive, most);
                        let id = (category != u8::MAX).then_some(CategoryId(u32::from(category)));
                        let bytes = at.by_category.iter().find(|(other, _)| *other == id);
                        prop_assert_eq!(bytes.map(|(_, bytes)| *bytes), largest);
                    }
                    other => prop_assert!(false, "{:?}", other),
                }
                match by_liveness.at(tile, start) {
                    Some(ChipCell::AlwaysLive) => prop_assert_eq!(at.always_live, common),
                    Some(ChipCell::Several) => prop_assert_eq!(at.several, common),
                    Some(ChipCell::NotAlwaysLive) => prop_assert_eq!(single, common),
                    other => prop_assert_eq!(other, by_category.at(tile, start)),
                }
                match by_gaps.at(tile, start) {
                    Some(ChipCell::GapShare(share)) => {
                        let lost = at.gap + at.free;
                        prop_assert_eq!(share == 0, lost == 0);
                        prop_assert_eq!(share == 255, lost > 0 && at.alive == 0);
                    }
                    other => {
                        prop_assert_eq!(other, Some(ChipCell::Beyond));
                        prop_assert!(at.beyond > at.alive + at.free + at.gap);
                    }
                }
            }
        }
        prop_assert_eq!(by_category.at(by_category.tiles.end, by_category.addresses.start), None);
        prop_assert_eq!(by_category.at(by_category.tiles.start, by_category.addresses.end), None);
    }

    #[test]
    fn rows_at_an_address_are_those_that_use_it(
        tiles in variables(),
        step in proptest::option::of(0..4_u32),
        tile in 0..12_u32,
        address in 0..100_u64,
    ) {
        let report = report(&tiles);
        let rows = rows_at(&report, TileId(tile), address, step.map(|step| step as usize));
        let at = brute_force(&tiles, tile..tile + 1, address..address + 1, step);
        let variables: u64 = at.by_category.iter().map(|(_, bytes)| *bytes).sum();
        prop_assert_eq!(rows.len() as u64, variables);
    }
}

#[test]
fn windows_that_cannot_be_are_empty_and_cancelling_gives_nothing() {
    let report = report(&[vec![(0, 8, 1, 1)]]);
    let window = |tiles, addresses| ChipWindow { tiles, addresses, columns: 10, rows: 10 };
    let picture = |window: &ChipWindow| render(&report, window, ColourBy::Category, None, NEVER);
    let cells = |tiles, addresses| picture(&window(tiles, addresses)).expect("a picture").cells;
    assert_eq!(cells(3..3, 0..10), []);
    assert_eq!(cells(0..3, 10..10), []);
    assert_eq!(cells(0..3, u64::MAX - 1..u64::MAX), []);
    assert_eq!(cells(u32::MAX - 1..u32::MAX, 0..1), [ChipCell::Beyond]);
    assert!(cells(0..u32::MAX, 0..u64::MAX).iter().all(|cell| *cell == ChipCell::Beyond));
    assert_eq!(cells(0..1, 0..9)[7..], [ChipCell::Category(1), ChipCell::Beyond]);
    let whole = window(0..1, 0..9);
    assert_eq!(render(&report, &whole, ColourBy::Gaps, None, &|| true), None);
    let empty = Report::default();
    assert_eq!(render(&empty, &whole, ColourBy::Gaps, None, NEVER), None);
    empty.variables.fill(Some(LoweredVariables::default()));
    assert_eq!(render(&empty, &whole, ColourBy::Gaps, Some(0), NEVER), None, "no liveness");
    assert_eq!(render(&empty, &whole, ColourBy::Liveness, None, NEVER), None);
    assert!(render(&empty, &whole, ColourBy::Category, None, NEVER).is_some());
    assert_eq!(area_bytes(&empty, 0..1, 0..9, None).map(|bytes| bytes.beyond), Some(9));
}
