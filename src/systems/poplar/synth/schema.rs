//! The tables of format 3.8.0 (formats/poplar.md 2.2), in a short notation: `I` integer, `T` text,
//! `B` blob, `R` real, `!` not null, `*` primary key. Columns that have no room beside the name of
//! their table follow in lines that begin with spaces.

const TABLES: &str = "
graph_info: num_compute_sets I!, num_edges I!, num_vars I!, num_vertices I!
target_info:
    bytes_per_ipu I!, bytes_per_tile I!, clock_frequency I!, min_sync_delay I!, num_ipus I!,
    num_tiles I!, tiles_per_ipu I!, total_memory I!, num_replicas I!, ipus_per_replica I!,
    tiles_per_replica I!, memory_per_replica I!, architecture T!, type_ T!,
    supervisorInstrFetchDelay I!, memoryElementOffsets B!, interleavedMemoryStart I!,
    memoryRegionsOffsets B!, tileMemoryBaseAddress I!, tilesPerSuperTile I!, numWorkerContexts I!,
    exchangeBytesPerCycle I!, memcpyBytesPerCycle I!, instructionBytes I!,
    supportsSuperTileSendReceive I!, globalSyncCycles I!, globalExchangePacketBytes I!,
    tileLocalSyncSyncDelay I!, tileLocalSyncExitDelay I!, numStrideBits I!, dataPathWidth I!,
    fp8ConvUnitMaxPipelineDepth I, fp16ConvUnitMaxPipelineDepth I!, fp32ConvUnitMaxPipelineDepth I!,
    fp8ConvUnitInputLoadElemsPerCycle I, fp16ConvUnitInputLoadElemsPerCycle I!,
    fp32ConvUnitInputLoadElemsPerCycle I!, fp16InFp16OutConvUnitsPerTile I!,
    fp16InFp32OutConvUnitsPerTile I!, fp32InFp32OutConvUnitsPerTile I!,
    fp8InFp16OutConvUnitsPerTile I, convUnitCoeffLoadBytesPerCycle I!, workerInstrFetchDelay I!,
    maxImmediateOffsetInRunInstr I!, rptCountMax I!, atomicStoreGranularity I!
relative_sync_delay: tile I*, delay I!
optimization_info: key T!, value R!
date_time: string T!
poplar_version: string T!, package_hash T!, major I!, minor I!, point I!
version_info: major I!, minor I!, point I!, is_unstable_format I!, file_type T!
compilation_trace: dur I!, name T!, ts I!
compute_sets:
    compute_set I*, name T!, vertex_types B!, vertex_counts B!, active_cycles_by_tile B,
    active_cycles_by_vertex_type B, cycles_by_tile B, edge_count I, debug_id I,
    cycles_by_tile_ids B, estimated_flops_by_tile B, var_ids_diff_rle B
vertex_instances: compute_set I!*, vertex_type I!*, instances_by_tile B!
vertex_types: id I*, name T!, size I!, source T
programs:
    compilation_step_id I*, id I!*, variant I!, variant_index I, children B, name T, debug_id I,
    control_code_bytes_by_tile B
program_types: id I*, name T!, program_type_table T
program_type_call: compilation_step_id I, id I*, function_id I!
program_type_on_tile_execute: id I*, compute_set I!
exchange_target: id I*
exchange_regions: id I!*, var_id I!*, regions T
program_type_do_exchange:
    id I*, bytes_received_by_tile_rle B!, bytes_sent_by_tile_rle B!, code_bytes_by_tile_rle B!,
    cycles_by_tile_rle B, source_vars T, destination_vars T, bytes_received_by_ipu_rle B!,
    bytes_sent_by_ipu_rle B!, max_data_sent_and_received_by_ipu_rle B!, cycles_by_tile_ids B,
    source_regions_id I, destination_regions_id I
program_type_code_copy: id I*, cycles_by_tile_ids B, destination_regions_id I
program_type_global_exchange:
    id I*, bytes_received_by_tile_rle B!, bytes_sent_by_tile_rle B!, estimated_cycles_by_tile_rle B,
    source_vars T, destination_vars T, bytes_received_by_ipu_rle B!, bytes_sent_by_ipu_rle B!,
    max_data_sent_and_received_by_ipu_rle B!, estimated_cycles_by_tile_ids B, source_regions_id I,
    destination_regions_id I, sync_type T!
program_type_repeat: id I*, repeat_count I
program_type_stream_copy_mid:
    id I*, bytes_received_by_tile_rle B!, bytes_sent_by_tile_rle B!, estimated_cycles_by_tile_rle B,
    bytes_received_by_ipu_rle B!, bytes_sent_by_ipu_rle B!,
    max_data_sent_and_received_by_ipu_rle B!, estimated_cycles_by_tile_ids B
program_type_sync: id I*, sync_type T!
program_type_sans: id I*, tiles B!
program_type_sync_ans: id I*, tiles B!
control_programs: compilation_step_id I*, id I!*, program I!
function_programs: compilation_step_id I*, id I!*, program I!
host_exchange_from_host:
    stream_copy_mid_id I!, stream T!, regions T!, is_remote_buffer I!, regions_id I
host_exchange_to_host:
    stream_copy_mid_id I!, stream T!, regions T!, is_remote_buffer I!, regions_id I
memory_by_category:
    category_id T*, interleaved_non_overlapped B!, interleaved_overlapped B!,
    non_interleaved_non_overlapped B!, non_interleaved_overlapped B!, overflowed_non_overlapped B!,
    overflowed_overlapped B!
memory_by_compute_set:
    compute_set I*, copy_ptr_bytes B!, descriptor_bytes B!, edge_ptr_bytes B!, padding_bytes B!,
    vertex_data_bytes B!
memory_by_vertex_type:
    vertex_type I*, code_bytes B!, copy_ptr_bytes B!, descriptor_bytes B!, edge_ptr_bytes B!,
    padding_bytes B!, vertex_data_bytes B!
instrumentation_settings: compute I!, compute_level T, external_exchange I!, control_flow I!
memory_by_tile:
    tile I*, interleaved I!, interleaved_including_gaps I!, non_interleaved I!,
    non_interleaved_including_gaps I!, overflowed I!, overflowed_including_gaps I!, total I!,
    total_including_gaps I!, always_live_bytes I!, not_always_live_max_bytes I
memory_liveness_tiles: position I*, tile I
string_table: id I*, string T
debug_ids: variable_id I*, ids B
compilation_parameters: name T*, value T!, is_default I!
target_parameters: name T*, value T!, is_default I!
depth_first_steps: id I*, program_id I!, parent_step_id I
memory_not_always_live_by_step_and_ipu: ipu I, step_id I!, delta_bytes I!
compilation_cycles_by_tile: id I*, cycles_by_tile_rle B
var_categories: id I*, name T!, description T!
vars_info:
    var_id I*, tile I!, name_base_id I!, name_prefix__vertex_field_ I, name_suffix T!,
    size_bytes I!, alignment I!, offset I!, category I!, equivalence_class I!,
    element_constraints B, region_constraints B, unlowered_var_id I, bitset I!
equivalence_class_interference: class_id I!, interference_class_ids B!
allocation_order_by_tile: tile I!, order B!
compilation_info: compilation_id T!
eq_classes: id I*, is_always_live I!
var_bytes_by_eq_class: unlowered_var_id I!, eq_class_id I!, bytes I!, tile I
eq_class_step: eq_class_id I!, step_id_from I!, step_id_to I!
unlowered_vars: id I*, name T!
vars_string_table: id I*, string T!
compilation_steps: id I*, name T!
steps:
    id I*, type T!, program I, sync_type T, host_exchange I, inter_ipu_exchange I, exchange I,
    compute_set I
cycles_by_tile: id I*, cycles_by_tile_rle B!
steps_by_ipu:
    step_id I!*, ipu I!*, cycles_base I!, active_cycles_from_max I!, active_cycles_from_mean I!,
    active_cycles_from_min I!, active_cycles_to_max I!, active_cycles_to_mean I!,
    active_cycles_to_min I!, all_cycles_to_max I!, all_cycles_to_mean I!, all_cycles_to_min I!,
    cycles I!, active_tiles I!, active_tile_balance R!, thread_balance R, tile_balance R!,
    tile_cycles_id I
vertices: vertex_id I*, compute_set_id I!, vertex_type I!, cycles I!
compute_set_cycles_by_tile: compute_set_id I*, cycles_by_tile_ids B!
compute_set_cycles_by_ipu: compute_set_id I*, cycles_by_ipu_rle B!
inter_ipu_exchange_cycles_by_tile:
    inter_ipu_exchange_id I*, exchange_cycles_by_tile_ids B!, sync_cycles_by_tile_ids B!
runs:
    id I*, start_epoch_time_microseconds I!, elapsed_microseconds I, name T!, num_programs I!,
    num_steps I!, estimated_freq_by_ipu B, start_cycles_by_ipu B, end_cycles_by_ipu B
program_trace: id I*, program_id I!
execution_cycle_totals:
    run_id I, cycles I!, tile_cycles_active_compute I!, tile_cycles_compute I!,
    tile_cycles_internal_exchange I!, tile_cycles_inter_ipu_exchange I!, tile_cycles_stream_copy I!,
    tile_cycles_stream_copy_begin I!, tile_cycles_stream_copy_end I!, tile_cycles_sync I!,
    tile_overhead_cycles_active_compute I!, tile_overhead_cycles_compute I!,
    tile_overhead_cycles_internal_exchange I!, tile_overhead_cycles_inter_ipu_exchange I!,
    tile_overhead_cycles_stream_copy I!, tile_overhead_cycles_stream_copy_begin I!,
    tile_overhead_cycles_stream_copy_end I!, tile_overhead_cycles_sync I!
execution_parameters: name T!*, value T!, is_default I!, run I*
execution_info: compilation_id T!
absolute_markers: id I*, cycles_from I!, cycles_length I!, step_id_by_tile B!, cycles_by_tile B!
blocks: tile I!, cycles_from I!, cycles_to I!, block_id I, type I!
";

/// Indexes beside the primary keys.
const INDEXES: &str = "
    CREATE INDEX memory_not_always_live_by_ipu ON memory_not_always_live_by_step_and_ipu (ipu);
    CREATE INDEX block_cycles_from ON blocks (tile, cycles_from);
    CREATE INDEX block_cycles_to ON blocks (tile, cycles_to);";

/// The SQL that makes all tables and indexes.
pub fn sql() -> String {
    let mut sql = String::new();
    for table in TABLES.replace("\n ", " ").lines() {
        let Some((table, columns)) = table.split_once(':') else { continue };
        let mut keys = Vec::new();
        let mut lines = Vec::new();
        let mut one_key_at = None;
        for column in columns.split(',') {
            let Some((name, mark)) = column.trim().split_once(' ') else { continue };
            let kind = match mark.chars().next() {
                Some('T') => "TEXT",
                Some('B') => "BLOB",
                Some('R') => "REAL",
                _ => "INTEGER",
            };
            let not_null = if mark.contains('!') { " NOT NULL" } else { "" };
            if mark.contains('*') {
                keys.push(format!("[{name}]"));
                one_key_at = Some(lines.len());
            }
            lines.push(format!("[{name}] {kind}{not_null}"));
        }
        // A key of one integer column must stand at the column: it then is SQLite's row id.
        match (keys.len(), one_key_at.and_then(|at| lines.get_mut(at))) {
            (1, Some(line)) => line.push_str(" PRIMARY KEY"),
            (0, _) => {}
            _ => lines.push(format!("PRIMARY KEY ({})", keys.join(", "))),
        }
        sql.push_str(&format!("CREATE TABLE {table} ({});\n", lines.join(", ")));
    }
    sql + INDEXES
}
