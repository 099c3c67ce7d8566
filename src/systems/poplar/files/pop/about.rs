//! Versions, target, options, sizes: the tables of one row, and the lists of options.

use crate::format::sqlite::{Cells, Tables};
use crate::format::{Error, ErrorKind};
use crate::limits;
use crate::store::WarningCode;
use crate::store::ids::IdColumn;
use crate::store::options::{About, CompilerPhase, EngineOption, GraphInfo};
use crate::store::report::Categories;
use crate::store::target::Target;
use crate::systems::poplar::files::{absent, blob};

/// The newest minor version of format 3 whose tables are known here.
const KNOWN_MINOR: u64 = 8;

/// Reads versions, date, options and compiler phases.
///
/// # Errors
/// `unsupported-version` when the format's major version is above 3.
pub fn read_about(tables: &Tables<'_>) -> Result<About, Error> {
    let mut about = About::default();
    let mut version = None;
    tables.read("version_info", &["major", "minor", "point"], "", |cells| {
        if version.is_none() {
            version = Some([cells.number(0), cells.number(1), cells.number(2)]);
        }
    });
    if let Some([Some(major), minor, point]) = version {
        if major > 3 {
            return Err(Error::new(
                ErrorKind::UnsupportedVersion,
                format!("format {major} expected to be 3: this report is newer than this program"),
            )
            .at("table version_info, column major")
            .hint("Look for a newer version of Tilescope."));
        }
        if minor.is_some_and(|minor| minor > KNOWN_MINOR) {
            tables.warn(
                WarningCode::UnsupportedVersion,
                format!(
                    "format 3.{} is newer than 3.{KNOWN_MINOR}; read as far as it is known",
                    minor.unwrap_or(0)
                ),
            );
        }
        let text = |number: Option<u64>| number.map_or("?".to_owned(), |number| number.to_string());
        about.format = Some(format!("profile.pop {major}.{}.{}", text(minor), text(point)));
    }
    tables.read("poplar_version", &["string"], "", |cells| {
        about.producer_version = about.producer_version.take().or_else(|| cells.owned_text(0));
    });
    tables.read("date_time", &["string"], "", |cells| {
        about.compiled_at = about.compiled_at.take().or_else(|| cells.owned_text(0));
    });
    tables.read("compilation_info", &["compilation_id"], "", |cells| {
        about.compilation_id = about.compilation_id.take().or_else(|| cells.owned_text(0));
    });
    about.engine_options = read_options(tables, "compilation_parameters");
    about.target_options = read_options(tables, "target_parameters");
    if tables.has_table("execution_parameters") {
        about.execution_options = read_options(tables, "execution_parameters");
        // There is a row for each run.
        about.execution_options.dedup_by(|later, first| later.name == first.name);
    }
    tables.read("compilation_trace", &["name", "ts", "dur"], "", |cells| {
        if let (Some(name), Some(start), Some(duration)) =
            (cells.owned_text(0), cells.signed(1), cells.signed(2))
        {
            about.phases.push(CompilerPhase {
                name,
                start_microseconds: start,
                duration_microseconds: duration,
            });
        }
    });
    about.why_no_phases = about.phases.is_empty().then(absent::phases);
    Ok(about)
}

fn read_options(tables: &Tables<'_>, table: &str) -> Vec<EngineOption> {
    let mut options = Vec::new();
    tables.read(table, &["name", "value", "is_default"], "name", |cells| {
        if let Some(name) = cells.owned_text(0) {
            options.push(EngineOption {
                name,
                value: cells.long_text(1).unwrap_or_default().into_owned(),
                is_default: cells.number(2).map(|flag| flag != 0),
            });
        }
    });
    options
}

pub fn read_target(tables: &Tables<'_>) -> Option<Target> {
    const COLUMNS: [&str; 17] = [
        "type_",
        "architecture",
        "num_ipus",
        "num_replicas",
        "ipus_per_replica",
        "num_tiles",
        "tiles_per_ipu",
        "tiles_per_replica",
        "bytes_per_tile",
        "bytes_per_ipu",
        "memory_per_replica",
        "total_memory",
        "clock_frequency",
        "memoryElementOffsets",
        "memoryRegionsOffsets",
        "interleavedMemoryStart",
        "tileMemoryBaseAddress",
    ];
    let mut target: Option<Target> = None;
    tables.read("target_info", &COLUMNS, "", |cells| {
        if target.is_some() {
            return;
        }
        let interleaved_start = cells.number(15);
        let mut offsets = |column| read_offsets(cells, column, interleaved_start);
        let (element_offsets, region_offsets) = (offsets(13), offsets(14));
        target = Some(Target {
            kind: cells.owned_text(0),
            architecture: cells.owned_text(1),
            devices: cells.number_up_to(2, limits::TILES),
            replicas: cells.number_up_to(3, limits::TILES),
            devices_per_replica: cells.number_up_to(4, limits::TILES),
            tiles: cells.number_up_to(5, limits::TILES),
            tiles_per_device: cells.number_up_to(6, limits::TILES),
            tiles_per_replica: cells.number_up_to(7, limits::TILES),
            bytes_per_tile: cells.number(8),
            bytes_per_device: cells.number(9),
            bytes_per_replica: cells.number(10),
            total_bytes: cells.number(11),
            clock_hz: cells.number(12),
            element_offsets,
            region_offsets,
            interleaved_start,
            tile_base_address: cells.number(16),
            ..Target::default()
        });
    });
    let target = &mut target;
    tables.read("instrumentation_settings", &["compute_level", "external_exchange"], "", |cells| {
        if let Some(target) = target {
            target.compute_instrumentation = cells.owned_text(0);
            target.external_exchange_instrumentation = cells.number(1).map(|flag| flag != 0);
        }
    });
    target.take()
}

/// Start addresses of elements or regions: ascending from 0, with the interleaved region's among
/// them.
fn read_offsets(
    cells: &mut Cells<'_, '_>,
    column: usize,
    interleaved_start: Option<u64>,
) -> Vec<u64> {
    let Some(mut offsets) = cells.decode(column, blob::list) else { return Vec::new() };
    if offsets.first() != Some(&0) || !offsets.is_sorted_by(|a, b| a < b) {
        cells.damage(column, "start addresses that ascend from 0 expected");
        offsets.sort_unstable();
        offsets.dedup();
    } else if let Some(start) = interleaved_start
        && offsets.binary_search(&start).is_err()
    {
        cells.damage(column, &format!("interleavedMemoryStart, {start}, expected among them"));
    }
    offsets
}

pub fn read_graph(tables: &Tables<'_>) -> Option<GraphInfo> {
    let columns = ["num_compute_sets", "num_edges", "num_vars", "num_vertices"];
    let mut graph = None;
    tables.read("graph_info", &columns, "", |cells| {
        graph.get_or_insert(GraphInfo {
            compute_sets: cells.number(0),
            edges: cells.number(1),
            variables: cells.number(2),
            vertices: cells.number(3),
        });
    });
    graph
}

pub fn read_categories(tables: &Tables<'_>) -> Option<Categories> {
    let mut categories = Categories { ids: IdColumn::default(), ..Categories::default() };
    let found = tables.read("var_categories", &["id", "name"], "id", |cells| {
        if cells.next_id(&mut categories.ids, "an id comes twice") {
            categories.names.push(&cells.word(1).unwrap_or_default());
        }
    });
    found.then_some(categories)
}
