//! Memory by tile and by category.

use std::borrow::Cow;

use crate::format::sqlite::Tables;
use crate::limits;
use crate::store::WarningCode;
use crate::store::memory::{CategoryMemory, Region, TileMemory};
use crate::systems::poplar::files::{absent, blob};

/// Reads `memory_by_tile` and `memory_by_category`. `tiles` is how many numbers a list by tile must
/// have; without a target it is taken from the rows of `memory_by_tile`.
pub fn read_memory(tables: &Tables<'_>, tiles: Option<u64>) -> Option<TileMemory> {
    const COLUMNS: [&str; 11] = [
        "tile",
        "total",
        "total_including_gaps",
        "non_interleaved",
        "interleaved",
        "overflowed",
        "always_live_bytes",
        "not_always_live_max_bytes",
        "non_interleaved_including_gaps",
        "interleaved_including_gaps",
        "overflowed_including_gaps",
    ];
    let mut memory = TileMemory::default();
    let found = tables.read("memory_by_tile", &COLUMNS, "tile", |cells| {
        if memory.tiles.len() as u64 >= limits::TILES {
            cells.damage(0, "more tiles than any system has");
            return;
        }
        if !cells.next_id(&mut memory.tiles, "a tile comes twice") {
            return;
        }
        memory.total.push(cells.required(1));
        memory.including_gaps.push(cells.required(2));
        for (region, column) in memory.by_region.iter_mut().zip(3..) {
            region.push(cells.required(column));
        }
        memory.always_live.push(cells.required(6));
        memory.not_always_live_max.push(cells.number(7));
        for (region, column) in memory.including_gaps_by_region.iter_mut().zip(8..) {
            region.push(cells.number(column));
        }
        if let (Some(Some(total)), Some(Some(with_gaps))) =
            (memory.total.last(), memory.including_gaps.last())
            && total > with_gaps
        {
            cells.damage(2, &format!("at least total, {total}, expected, {with_gaps} found"));
        }
    });
    if !found {
        return None;
    }
    let rows = memory.tiles.len();
    if let Some(tiles) = tiles
        && tiles != rows as u64
    {
        tables.warn(
            WarningCode::Inconsistent,
            format!(
                "table memory_by_tile: {tiles} tiles expected by target_info, {rows} rows found"
            ),
        );
    }
    let expected = tiles.and_then(|tiles| usize::try_from(tiles).ok()).unwrap_or(rows);
    memory.categories = read_categories(tables, expected);
    shorten_names(tables, &mut memory.categories, rows);
    memory.why_no_categories = memory.categories.is_empty().then(absent::memory_by_category);
    Some(memory)
}

/// Every tile repeats the names of all categories.
fn shorten_names(tables: &Tables<'_>, categories: &mut [CategoryMemory], tiles: usize) {
    let bytes = categories.iter().map(|category| category.name.len()).sum::<usize>();
    let times = tiles.saturating_mul(categories.len());
    if let Some(most) = limits::name_bytes(times, bytes.saturating_mul(tiles)) {
        for category in categories {
            category.name = limits::cut(&category.name, most).into_owned();
        }
        let message = format!(
            "table memory_by_category: names are cut to {most} bytes: {tiles} tiles repeat them"
        );
        tables.warn(WarningCode::Inconsistent, message);
    }
}

fn read_categories(tables: &Tables<'_>, tiles: usize) -> Vec<CategoryMemory> {
    let mut columns = vec!["category_id".to_owned()];
    for region in [Region::NonInterleaved, Region::Interleaved, Region::Overflowed] {
        columns.push(format!("{}_non_overlapped", region.key()));
        columns.push(format!("{}_overlapped", region.key()));
    }
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut categories = Vec::new();
    tables.read("memory_by_category", &columns, "", |cells| {
        let Some(name) = cells.word(0).map(Cow::into_owned) else { return };
        if categories.len() >= limits::CATEGORIES {
            cells.damage(0, "more categories than there are");
            return;
        }
        let mut list = |column| cells.decode(column, |bytes| blob::list_of(bytes, tiles));
        categories.push(CategoryMemory {
            name,
            not_overlapped: [list(1), list(3), list(5)],
            overlapped: [list(2), list(4), list(6)],
        });
    });
    categories
}
