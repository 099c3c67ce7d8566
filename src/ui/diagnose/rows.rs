//! Findings as the rows of a table.

use crate::diagnose::{Finding, Kind};
use crate::ui::widget::rows::{CellValue, TableColumn};

/// Width of a column of bytes, points.
const BYTES: f32 = 92.0;

pub fn columns() -> Vec<TableColumn> {
    vec![
        TableColumn::rest("What"),
        TableColumn::text("Line", 60.0),
        TableColumn::text("Tile", 56.0),
        TableColumn::bytes("Used", BYTES).not_summed(),
        TableColumn::bytes("Limit", BYTES).not_summed(),
        TableColumn::bytes("Too much", BYTES).not_summed(),
    ]
}

pub fn cell(finding: &Finding, column: usize) -> CellValue<'_> {
    let number = |number: Option<u64>| number.map_or(CellValue::Nothing, CellValue::Id);
    match column {
        0 => CellValue::text(title(finding.kind)),
        1 => CellValue::Id(finding.line),
        2 => number(finding.tile),
        3 => CellValue::bytes(finding.used_bytes),
        4 => CellValue::bytes(finding.limit_bytes),
        _ => CellValue::bytes(finding.excess_bytes),
    }
}

pub fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::TileOutOfMemory => "A tile is out of memory",
        Kind::TilesOutOfMemory => "Tiles are out of memory",
        Kind::VariablesDoNotFit => "Variables cannot be placed",
        Kind::ExchangeTooLarge => "An exchange is too large for a tile",
        Kind::CodeTooLarge => "A tile's code leaves no room",
        Kind::OutOfMemory => "An IPU is out of memory",
        Kind::ProfileNotWritten => "Out of memory, and no report was asked for",
        Kind::HostBuffer => "A host buffer is too small (not the IPU)",
        Kind::PlannerAtMinimum => "The planner is at minimum memory",
        Kind::PlannerOverTarget => "The planner exceeds its share of memory",
        Kind::PlannerNoPlan => "The planner found no plan",
        Kind::TpuOutOfMemory => "A TPU is out of memory",
        Kind::TpuFragmented => "A TPU's memory is fragmented",
        Kind::CudaOutOfMemory => "A GPU is out of memory",
        Kind::CudaFragmented => "A GPU's memory is fragmented",
        Kind::CudaProcessLimit => "A process is over its share of a GPU",
        Kind::CudaRefused => "A GPU gave no memory although enough was free",
        Kind::GpuOutOfMemory => "A GPU is out of memory (XLA, TensorFlow)",
        Kind::GpuMemoryTight => "A GPU's memory is tight (a warning)",
        Kind::GpuLibraryOutOfMemory => "A library got no memory of a GPU",
        Kind::GpuSharedMemory => "A kernel needs too much shared memory of a GPU",
        Kind::ServerStartMemory => "A server finds too little free memory",
        Kind::KvCacheTooSmall => "The cache of keys and values is too small",
        Kind::AcceleratorOutOfMemory => "An accelerator is out of memory",
        Kind::AcceleratorFragmented => "An accelerator's memory is fragmented",
        Kind::AcceleratorProcessLimit => "A process is over its share of an accelerator",
        Kind::AcceleratorRefused => "An accelerator gave no memory although enough was free",
        Kind::BlockTooLarge => "One block is larger than the device gives",
        Kind::RematerializationLimit => "XLA cannot make a program small enough",
        Kind::DeprecatedSetting => "A setting has an old name (a warning)",
        Kind::HostOutOfMemory => "The machine is out of memory (no device)",
        Kind::HostSharedMemory => "The machine is out of shared memory (no device)",
        Kind::ProcessKilled => "A process was killed",
        Kind::UnknownMemoryMessage => "About memory, but not recognized",
    }
}
