//! `tilescope tiles`: memory of every tile, or of some.

use std::collections::BTreeMap;
use std::io::{self, Write};

use clap::{Args, ValueEnum};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::Input;
use super::output::arrow::{ArrowArgument, RowsAnswer, write_stream};
use super::output::{self, Answer, CsvAnswer, aligned, or_unknown};
use super::schemas::by_keys;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::{self, CategoryBytes, Statistics};
use crate::analysis::placement::gaps::GapsByReason;
use crate::analysis::placement::read::gaps_of_all;
use crate::csv;
use crate::format::{Error, ErrorKind, Progress};
use crate::store::memory::{Region, TileMemory};
use crate::store::target::Target;
use crate::store::{Report, TileId};
use crate::systems::system::OpenRun;
use crate::text::{exact_bytes, grouped};

/// Arguments of `tilescope tiles`.
#[derive(Debug, Args)]
pub struct TilesArguments {
    /// The report.
    #[command(flatten)]
    pub input: Input,
    /// Only these tiles, for example 0-15,952.
    #[arg(long, value_name = "TILES")]
    pub tile: Option<TileSelection>,
    /// Only the tiles of this IPU.
    #[arg(long, value_name = "N")]
    pub ipu: Option<u32>,
    /// Break each tile's bytes down.
    #[arg(long)]
    pub by: Option<TileBreakdown>,
    /// Print comma-separated values instead of text: one line of titles with the units, then a line
    /// for each tile, with a column for each part of --by.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print an Arrow stream instead.
    #[command(flatten)]
    pub arrow: ArrowArgument,
}

/// How a tile's bytes are broken down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TileBreakdown {
    /// Non-interleaved, interleaved, overflowed.
    Region,
    /// What the bytes are for.
    Category,
    /// Always-live bytes, the maximum of the others, and the rest that neither explains.
    Liveness,
    /// Gap bytes by the reason for each gap (reads all lowered variables).
    Gaps,
}

/// `tilescope.tiles/2` (cli.md).
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Tiles {
    tiles: Vec<Tile>,
    statistics: Statistics,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Tile {
    tile: u32,
    ipu: Option<u32>,
    #[serde(flatten, serialize_with = "by_key")]
    #[schemars(schema_with = "figures_schema")]
    figures: [Option<u64>; 6],
    #[schemars(schema_with = "parts_schema")]
    by: Option<Map<String, Value>>,
    /// Gap bytes by region, with `--by region`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, Option<u64>>>")]
    gaps_by_region: Option<Map<String, Value>>,
}

/// A figure of a tile: its key for programs, its title for people, and what the tile in a row has.
struct TileNumber {
    key: &'static str,
    title: &'static str,
    of: fn(&TileMemory, Option<&Target>, usize) -> Option<u64>,
}

const FIGURES: [TileNumber; 6] = [
    TileNumber {
        key: "bytes",
        title: "bytes",
        of: |memory, _, row| memory::cell(&memory.total, row),
    },
    TileNumber {
        key: "including_gaps_bytes",
        title: "with gaps",
        of: |memory, _, row| memory::cell(&memory.including_gaps, row),
    },
    TileNumber {
        key: "gap_bytes",
        title: "gaps",
        of: |memory, _, row| memory::gap_bytes(memory, row),
    },
    TileNumber {
        key: "always_live_bytes",
        title: "always live",
        of: |memory, _, row| memory::cell(&memory.always_live, row),
    },
    TileNumber {
        key: "not_always_live_max_bytes",
        title: "not always live",
        of: |memory, _, row| memory::cell(&memory.not_always_live_max, row),
    },
    TileNumber { key: "over_limit_bytes", title: "over", of: memory::over_limit_bytes },
];

fn by_key<S: Serializer>(figures: &[Option<u64>; 6], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(FIGURES.iter().map(|figure| figure.key).zip(figures))
}

fn figures_schema(generator: &mut SchemaGenerator) -> Schema {
    by_keys::<Option<u64>>(&FIGURES.map(|figure| figure.key), generator)
}

/// Bytes of each part; of a category what is overlapped apart.
fn parts_schema(generator: &mut SchemaGenerator) -> Schema {
    let of_category = generator.subschema_for::<CategoryBytes>();
    let bytes = generator.subschema_for::<Option<u64>>();
    json_schema!({
        "type": ["object", "null"],
        "additionalProperties": { "anyOf": [bytes, of_category] }
    })
}

impl Tiles {
    /// The tiles that the arguments select.
    ///
    /// # Errors
    /// As [`output::lacks`] without tiles, `usage` for a tile or an IPU that does not exist.
    pub fn of(
        run: &dyn OpenRun,
        arguments: &TilesArguments,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let report = &**run.derived().report();
        let memory = report.memory.get();
        let memory =
            memory.ok_or_else(|| output::lacks(report, report.memory.absence(), "tiles"))?;
        check_selection(report, memory, arguments)?;
        let target = report.target.get();
        let ipu_of = |tile| target.and_then(|target| target.device_of(tile));
        let is_wanted = |tile: TileId| {
            arguments.tile.as_ref().is_none_or(|selected| selected.contains(tile))
                && arguments.ipu.is_none_or(|ipu| ipu_of(tile) == Some(ipu))
        };
        let all = memory.tiles.as_slice().iter().copied().enumerate();
        let rows: Vec<(usize, TileId)> = all.filter(|(_, tile)| is_wanted(*tile)).collect();
        let gaps = match arguments.by {
            Some(TileBreakdown::Gaps) => gaps_of_all(report, progress)?,
            _ => None,
        };
        let broken_down = |row: usize, tile: TileId| match arguments.by? {
            TileBreakdown::Region => Some(by_region(memory, row)),
            TileBreakdown::Category => Some(by_category(memory, tile)),
            TileBreakdown::Liveness => Some(by_liveness(memory, row)),
            TileBreakdown::Gaps => Some(gaps_json(gaps.as_ref()?.of_tile(tile))),
        };
        let is_by_region = arguments.by == Some(TileBreakdown::Region);
        let one = |(row, tile): &(usize, TileId)| Tile {
            tile: tile.0,
            ipu: ipu_of(*tile),
            figures: FIGURES.map(|figure| (figure.of)(memory, target, *row)),
            by: broken_down(*row, *tile),
            gaps_by_region: is_by_region.then(|| gaps_by_region(memory, *row)),
        };
        Ok(Self {
            tiles: rows.iter().map(one).collect(),
            statistics: memory::statistics(memory, rows.iter().map(|(row, _)| *row)),
        })
    }
}

/// A tile or IPU that is not there is a mistake in the arguments, not an empty answer.
fn check_selection(
    report: &Report,
    memory: &TileMemory,
    arguments: &TilesArguments,
) -> Result<(), Error> {
    let is_tile = |tile| memory.tiles.position(tile).is_some();
    if let Some(tile) = arguments.tile.as_ref().and_then(|tiles| tiles.first_unknown(is_tile)) {
        return Err(no_such_tile(tile, memory));
    }
    if let Some(ipu) = arguments.ipu {
        check_ipu(report, ipu)?;
    }
    Ok(())
}

fn no_such_tile(tile: u32, memory: &TileMemory) -> Error {
    let tiles = memory.tiles.as_slice();
    let range = match (tiles.first(), tiles.last()) {
        (Some(first), Some(last)) => format!("its tiles are {first} to {last}"),
        _ => "it has no tiles".to_owned(),
    };
    Error::new(ErrorKind::Usage, format!("this report has no tile {tile}: {range}"))
}

/// Checks that the report has an IPU.
///
/// # Errors
/// `usage` when it has not.
pub fn check_ipu(report: &Report, ipu: u32) -> Result<(), Error> {
    let ipus = report.target.get().and_then(|target| target.devices);
    match ipus {
        Some(ipus) if u64::from(ipu) >= ipus => Err(Error::new(
            ErrorKind::Usage,
            format!("this report has no IPU {ipu}: it has {ipus}, counted from 0"),
        )),
        _ => Ok(()),
    }
}

fn by_region(memory: &TileMemory, row: usize) -> Map<String, Value> {
    let regions = Region::ALL.iter().zip(&memory.by_region);
    regions
        .map(|(region, column)| (region.key().to_owned(), memory::cell(column, row).into()))
        .collect()
}

fn gaps_by_region(memory: &TileMemory, row: usize) -> Map<String, Value> {
    let gaps = |region: Region| memory::region_gap_bytes(memory, region, row).into();
    Region::ALL.into_iter().map(|region| (region.key().to_owned(), gaps(region))).collect()
}

fn by_category(memory: &TileMemory, tile: TileId) -> Map<String, Value> {
    let json = |category| serde_json::to_value(memory::category_on_tile(category, tile));
    let categories = memory.categories.iter();
    categories
        .map(|category| (category.name.clone(), json(category).unwrap_or(Value::Null)))
        .collect()
}

fn by_liveness(memory: &TileMemory, row: usize) -> Map<String, Value> {
    let parts = [
        ("always_live", memory::cell(&memory.always_live, row)),
        ("not_always_live_max", memory::cell(&memory.not_always_live_max, row)),
        ("not_explained", memory::not_explained_bytes(memory, row)),
    ];
    parts.into_iter().map(|(key, bytes)| (key.to_owned(), bytes.into())).collect()
}

/// Bytes by reason.
pub fn gaps_json(gaps: Option<&GapsByReason>) -> Map<String, Value> {
    let gaps = gaps.into_iter().flatten();
    gaps.map(|(reason, total)| (reason.key().to_owned(), total.bytes.into())).collect()
}

/// Whether a part of the breakdown is 0 bytes.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Object(parts) => parts.values().all(is_nothing),
        other => other.as_u64() == Some(0),
    }
}

/// The parts of which any tile has bytes.
fn keys_with_bytes<'a>(tiles: impl Iterator<Item = &'a Map<String, Value>>) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for (key, value) in tiles.flatten() {
        if !keys.contains(key) && !is_nothing(value) {
            keys.push(key.clone());
        }
    }
    keys
}

fn number(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "–".to_owned(), grouped)
}

/// A part of the breakdown; of a category what is overlapped stands behind what is not.
fn cell_text(value: &Value) -> String {
    let Value::Object(parts) = value else { return number(value.as_u64()) };
    let part = |key: &str| parts.get(key).and_then(Value::as_u64);
    match part("overlapped") {
        Some(0) => number(part("not_overlapped")),
        overlapped => format!("{} + {}", number(part("not_overlapped")), number(overlapped)),
    }
}

impl Answer for Tiles {
    const SCHEMA: &'static str = "tilescope.tiles/2";

    fn text(&self) -> String {
        let keys = keys_with_bytes(self.tiles.iter().filter_map(|tile| tile.by.as_ref()));
        let gaps = self.tiles.iter().filter_map(|tile| tile.gaps_by_region.as_ref());
        let gap_keys = keys_with_bytes(gaps);
        let mut header = vec!["tile", "IPU"];
        header.extend(FIGURES.map(|figure| figure.title));
        let gap_titles = gap_keys.iter().map(|key| format!("{key} gaps"));
        let titles = keys.iter().cloned().chain(gap_titles);
        let titles: Vec<String> = titles.map(|key| key.replace('_', " ")).collect();
        header.extend(titles.iter().map(String::as_str));
        let rows = self.tiles.iter().map(|tile| {
            let mut cells = vec![
                tile.tile.to_string(),
                tile.ipu.map_or_else(|| "–".to_owned(), |ipu| ipu.to_string()),
            ];
            cells.extend(tile.figures.map(number));
            let by = |key: &String| tile.by.as_ref().and_then(|by| by.get(key));
            cells.extend(keys.iter().map(|key| by(key).map_or_else(|| "0".to_owned(), cell_text)));
            let gaps = |key: &String| tile.gaps_by_region.as_ref().and_then(|gaps| gaps.get(key));
            cells.extend(gap_keys.iter().map(|key| number(gaps(key).and_then(Value::as_u64))));
            cells
        });
        let statistics = &self.statistics;
        let line = |name: &str, bytes| format!("  {name:<16}{}\n", or_unknown(bytes, exact_bytes));
        let mut text = aligned(&header, rows);
        text += "\nBytes including gaps over these tiles\n";
        text += &line("minimum", statistics.min);
        text += &line("median", statistics.median);
        text += &line("99th percentile", statistics.p99);
        text += &line("maximum", statistics.max);
        text += &line("mean", statistics.mean);
        text
    }
}

impl RowsAnswer for Tiles {
    fn write_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        write_stream(|| self.tiles.iter(), out)
    }
}

impl CsvAnswer for Tiles {
    fn csv(&self) -> String {
        let mut header = ["tile", "ipu"].map(str::to_owned).to_vec();
        header.extend(FIGURES.map(|figure| figure.key.to_owned()));
        // The breakdown's columns: a part, and of a category what is overlapped apart.
        let mut columns: Vec<(&str, Option<&str>)> = Vec::new();
        for (key, value) in self.tiles.iter().filter_map(|tile| tile.by.as_ref()).flatten() {
            if columns.iter().any(|(column, _)| column == key) {
                continue;
            }
            match value {
                Value::Object(parts) => {
                    columns.extend(parts.keys().map(|part| (key.as_str(), Some(part.as_str()))));
                }
                _ => columns.push((key, None)),
            }
        }
        header.extend(columns.iter().map(|(key, part)| match part {
            Some(part) => format!("by_{key}_{part}_bytes"),
            None => format!("by_{key}_bytes"),
        }));
        let has_gaps = self.tiles.iter().any(|tile| tile.gaps_by_region.is_some());
        let gap_keys = Region::ALL.map(Region::key);
        if has_gaps {
            header.extend(gap_keys.map(|key| format!("gaps_by_{key}_bytes")));
        }
        let mut text = csv::line(header);
        for tile in &self.tiles {
            let mut cells = vec![
                tile.tile.to_string(),
                tile.ipu.map_or_else(String::new, |ipu| ipu.to_string()),
            ];
            cells.extend(tile.figures.map(plain));
            cells.extend(columns.iter().map(|(key, part)| {
                let Some(by) = &tile.by else { return String::new() };
                // A reason that a tile has no gap of is not in its list.
                let Some(value) = by.get(*key) else { return plain(Some(0)) };
                plain(part.map_or(Some(value), |part| value.get(part)).and_then(Value::as_u64))
            }));
            if let Some(gaps) = &tile.gaps_by_region {
                cells.extend(gap_keys.map(|key| plain(gaps.get(key).and_then(Value::as_u64))));
            }
            text += &csv::line(cells);
        }
        text
    }
}

/// A figure for programs.
fn plain(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| bytes.to_string())
}
