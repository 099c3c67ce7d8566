//! `tilescope map`: what lies where in one arena, its gaps and their reasons.

use std::collections::BTreeMap;
use std::io::{self, Write};

use clap::Args;
use serde::{Serialize, Serializer};

use super::Input;
use super::output::{Answer, CsvAnswer, aligned, as_text, name_cell, write_aligned};
use super::scope::check_arena;
use super::tiles::gaps_json;
use crate::analysis::placement::gaps::{Gap, GapReason, GapsByReason};
use crate::analysis::placement::read::read_arena;
use crate::analysis::placement::tile_map::TileMap;
use crate::csv;
use crate::format::{Error, ErrorKind, Progress};
use crate::limits::RepeatedNames;
use crate::store::ids::CategoryId;
use crate::store::placed::{Placed, Placement};
use crate::store::{ArenaId, DeviceId, Report, StepId};
use crate::systems::system::OpenRun;
use crate::text::{clean, exact_bytes, grouped};

/// Arguments of `tilescope map`.
#[derive(Debug, Args)]
pub struct MapArguments {
    /// The run.
    #[command(flatten)]
    pub input: Input,
    /// The arena: a tile, a segment, an allocation.
    #[arg(long, visible_alias = "tile", value_name = "N")]
    pub arena: u32,
    /// Mark what is live and what is free at this step.
    #[arg(long, value_name = "N")]
    pub step: Option<u32>,
    /// Print comma-separated values instead of text: one line of titles with the units, then a line
    /// for each variable and gap, by address.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// `tilescope.map/2` (cli.md).
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Map {
    arena: u32,
    /// What it is called.
    name: String,
    /// The number of its device.
    device: Option<i64>,
    step: Option<u32>,
    elements: Vec<u64>,
    regions: Vec<u64>,
    variables: Vec<Variable>,
    gaps: Vec<GapRow>,
    #[serde(serialize_with = "bytes_by_reason")]
    #[schemars(with = "BTreeMap<String, u64>")]
    gaps_by_reason: GapsByReason,
    end: u64,
    /// What it can hold; `null` of one that is as large as what it is for.
    limit_bytes: Option<u64>,
    /// Of an arena that is a tile.
    #[serde(flatten)]
    tile: Option<OfTile>,
}

fn bytes_by_reason<S: Serializer>(gaps: &GapsByReason, serializer: S) -> Result<S::Ok, S::Error> {
    gaps_json(Some(gaps)).serialize(serializer)
}

/// What tiles say in their own words.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct OfTile {
    tile: u32,
    ipu: Option<i64>,
    bytes_per_tile: Option<u64>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Variable {
    offset: u64,
    bytes: u64,
    name: String,
    category: Option<String>,
    always_live: bool,
    /// Whether it is live at the step; without a step there is nothing to say.
    live: Option<bool>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct GapRow {
    offset: u64,
    bytes: u64,
    reason: GapReason,
}

impl Map {
    /// The map of the arena that the arguments name.
    ///
    /// # Errors
    /// `damaged` when what is placed there cannot be read, `usage` for an arena or step that is not there.
    pub fn of(
        run: &dyn OpenRun,
        arguments: &MapArguments,
        progress: &Progress,
    ) -> Result<Self, Error> {
        run.fill_report(progress);
        let report = &**run.derived().report();
        let id = ArenaId(arguments.arena);
        check_arena(report, id)?;
        let step = arguments.step.map(|step| step_position(report, step)).transpose()?;
        let placed = read_arena(report, id, progress)?.ok_or_else(|| not_read(report, id))?;
        run.check_arena(id, &placed);
        let map = TileMap::new(&placed, report, id, step);
        let arenas = report.arenas.get();
        let device = arenas.and_then(|arenas| arenas.device(id)).map(DeviceId::to_number);
        let gaps_by_reason = map.gaps_by_reason();
        let is_tile = arenas.is_none_or(|arenas| arenas.are_alike);
        let tile = OfTile { tile: arguments.arena, ipu: device, bytes_per_tile: map.limit };
        Ok(Self {
            arena: arguments.arena,
            name: report.arena_title(id),
            device,
            step: arguments.step,
            elements: map.elements,
            regions: map.regions,
            variables: variables(report, &placed, step),
            gaps: map.gaps.iter().map(gap_row).collect(),
            gaps_by_reason,
            end: map.end,
            limit_bytes: map.limit,
            tile: is_tile.then_some(tile),
        })
    }
}

/// Why nothing can be said of an arena.
fn not_read(report: &Report, arena: ArenaId) -> Error {
    let absence = report.variables.absence().or(report.arenas.absence());
    let absence = absence.filter(|absence| absence.is_explained());
    let message = format!("the placement in {} cannot be read", report.arena_title(arena));
    let error = Error::new(ErrorKind::Damaged, message).in_file(&report.path);
    match absence {
        Some(absence) => error.at(absence.what.clone()).hint(absence.hint.clone()),
        None => error.hint("The warnings say what is wrong; tilescope summary has what is known."),
    }
}

/// The position of a step.
///
/// # Errors
/// `usage` when the run has none of that number.
pub fn step_position(report: &Report, step: u32) -> Result<usize, Error> {
    report.steps.get().and_then(|steps| steps.ids.position(StepId(step))).ok_or_else(|| {
        let words = report.system;
        Error::new(ErrorKind::Usage, format!("this run has no {} {step}", words.step_in_text))
            .hint(format!("`tilescope liveness` lists the {}.", words.steps))
    })
}

/// The allocated variables by address.
fn variables(report: &Report, tile: &Placed, step: Option<usize>) -> Vec<Variable> {
    let category = |variable: &Placement| report.category_name(CategoryId(variable.category?));
    let classes = report.liveness.get().map(|liveness| &liveness.classes);
    let mut names = RepeatedNames::default();
    let is_live = |variable: &Placement, step| {
        classes.is_some_and(|classes| classes.is_live_at(variable.class, step))
    };
    let mut variables: Vec<Variable> = tile
        .placements
        .iter()
        .enumerate()
        .filter(|(_, variable)| variable.flags.is_allocated())
        .map(|(row, variable)| Variable {
            offset: variable.offset,
            bytes: variable.bytes,
            name: tile.names.at(row).unwrap_or("").to_owned(),
            category: category(variable).map(|name| names.take(name).into_owned()),
            always_live: classes.is_some_and(|classes| classes.is_always_live(variable.class)),
            live: step.map(|step| is_live(variable, step)),
        })
        .collect();
    variables.sort_by_key(|variable| (variable.offset, variable.bytes));
    variables
}

fn gap_row(gap: &Gap) -> GapRow {
    GapRow { offset: gap.bytes.start, bytes: gap.size(), reason: gap.reason }
}

impl Answer for Map {
    const SCHEMA: &'static str = "tilescope.map/2";

    fn text(&self) -> String {
        as_text(|out| self.write_text(out))
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let limit = self
            .limit_bytes
            .map_or_else(String::new, |limit| format!(" of {}", exact_bytes(limit)));
        let name = name_cell(&self.name);
        write!(out, "{name}: ends at {}{limit}\n\n", exact_bytes(self.end))?;
        // Variables and gaps in one list, by address.
        let variables = self.variables.iter().map(MapLine::Variable);
        let mut rows: Vec<MapLine<'_>> =
            variables.chain(self.gaps.iter().map(MapLine::Gap)).collect();
        rows.sort_by_key(MapLine::offset);
        write_aligned(
            out,
            &["offset", "bytes", "<name", "<category", "<life"],
            rows.iter().map(MapLine::cells),
        )?;
        let totals = self.gaps_by_reason.iter().map(|(reason, total)| {
            vec![
                reason.key().to_owned(),
                grouped(total.bytes),
                format!("in {}", grouped(total.count)),
            ]
        });
        write!(out, "\nGaps by reason\n{}", aligned(&["<", "", ""], totals))
    }
}

/// A line of the map.
enum MapLine<'a> {
    Variable(&'a Variable),
    Gap(&'a GapRow),
}

impl MapLine<'_> {
    fn offset(&self) -> u64 {
        match self {
            Self::Variable(variable) => variable.offset,
            Self::Gap(gap) => gap.offset,
        }
    }

    fn cells(&self) -> Vec<String> {
        let (bytes, cells) = match self {
            Self::Variable(variable) => {
                let life = match (variable.always_live, variable.live) {
                    (true, _) => "always",
                    (false, None) => "",
                    (false, Some(true)) => "live",
                    (false, Some(false)) => "not live",
                };
                let category = name_cell(variable.category.as_deref().unwrap_or("–"));
                (variable.bytes, [name_cell(&variable.name), category, life.to_owned()])
            }
            Self::Gap(gap) => {
                let cells = ["– gap –".to_owned(), gap.reason.key().to_owned(), String::new()];
                (gap.bytes, cells)
            }
        };
        [grouped(self.offset()), grouped(bytes)].into_iter().chain(cells).collect()
    }
}

impl CsvAnswer for Map {
    fn csv(&self) -> String {
        let of_variable = |variable: &Variable| {
            let cells = [
                variable.offset.to_string(),
                variable.bytes.to_string(),
                "variable".to_owned(),
                clean(&variable.name).into_owned(),
                clean(variable.category.as_deref().unwrap_or("")).into_owned(),
                variable.always_live.to_string(),
                variable.live.map_or_else(String::new, |live| live.to_string()),
                String::new(),
            ];
            (variable.offset, csv::line(cells))
        };
        let of_gap = |gap: &GapRow| {
            let (offset, bytes) = (gap.offset.to_string(), gap.bytes.to_string());
            let cells = [&offset, &bytes, "gap", "", "", "", "", gap.reason.key()];
            (gap.offset, csv::line(cells))
        };
        let variables = self.variables.iter().map(of_variable);
        let mut lines: Vec<(u64, String)> = variables.chain(self.gaps.iter().map(of_gap)).collect();
        lines.sort_by_key(|(offset, _)| *offset);
        let mut text = csv::line([
            "offset_bytes",
            "bytes",
            "kind",
            "name",
            "category",
            "always_live",
            "live",
            "gap_reason",
        ]);
        text.extend(lines.into_iter().map(|(_, line)| line));
        text
    }
}
