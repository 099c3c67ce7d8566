//! Exchanges within an IPU, between IPUs and with the host.

use super::tile_lists::{Cycles, ListSizes};
use crate::format::sqlite::{NumberedRows, ROW_ID, Tables};
use crate::store::TileId;
use crate::store::exchange::{CodeOnTiles, ExchangeId, ExchangeKind, Exchanges, HostEnd, Transfer};

const INTERNAL: &str = "program_type_do_exchange";

/// Reads all exchanges; `None` without any of their tables, or when the reading was canceled.
pub fn read_exchanges(tables: &Tables<'_>, cycles: &Cycles) -> Option<Exchanges> {
    let mut exchanges = Exchanges::default();
    let mut is_there = false;
    for kind in [ExchangeKind::Internal, ExchangeKind::Global, ExchangeKind::Host] {
        is_there |= read_kind(tables, kind, cycles, &mut exchanges);
    }
    (is_there && !tables.progress.is_cancelled()).then_some(exchanges)
}

/// Reads the code of internal exchanges on some tiles only; `None` without their table.
pub fn read_code_on_tiles(
    tables: &Tables<'_>,
    sizes: ListSizes,
    tiles: &[TileId],
) -> Option<CodeOnTiles> {
    let mut code = CodeOnTiles::of(tiles);
    let columns = ["id", "code_bytes_by_tile_rle"];
    let is_there = tables.has_table(INTERNAL)
        && tables.rows(&NumberedRows::all(INTERNAL, &columns, ROW_ID), |cells| {
            let Some(number) = cells.required32(0) else { return };
            if let Some(by_tile) = cells.decode(1, |blob| sizes.run_length(blob)) {
                code.push(ExchangeId { kind: ExchangeKind::Internal, number }, &by_tile);
            }
        });
    is_there.then_some(code)
}

/// Each kind has a table of its own, with columns of its own.
fn read_kind(
    tables: &Tables<'_>,
    kind: ExchangeKind,
    cycles: &Cycles,
    exchanges: &mut Exchanges,
) -> bool {
    let table = match kind {
        ExchangeKind::Internal => INTERNAL,
        ExchangeKind::Global => "program_type_global_exchange",
        ExchangeKind::Host => "program_type_stream_copy_mid",
    };
    let (cycle_ids, cycle_lists) = match kind {
        ExchangeKind::Internal => ("cycles_by_tile_ids", "cycles_by_tile_rle"),
        _ => ("estimated_cycles_by_tile_ids", "estimated_cycles_by_tile_rle"),
    };
    let (has_variables, has_code) = (kind != ExchangeKind::Host, kind == ExchangeKind::Internal);
    // The transfers of host exchanges, by number; they are taken from there.
    let mut streams = if has_variables { Vec::new() } else { read_streams(tables) };
    let cycle_column = Cycles::column(tables, table, cycle_ids, cycle_lists);
    let mut columns =
        vec!["id", "bytes_received_by_tile_rle", "bytes_sent_by_tile_rle", cycle_column];
    if has_variables {
        columns.extend(["source_vars", "destination_vars"]);
    }
    if has_code {
        columns.push("code_bytes_by_tile_rle");
    }
    tables.rows(&NumberedRows::all(table, &columns, "id"), |cells| {
        let Some(number) = cells.required32(0) else { return };
        let id = ExchangeId { kind, number };
        if exchanges.ids.last().is_some_and(|last| *last >= id) {
            cells.damage(0, "an exchange comes twice, or out of order");
            return;
        }
        exchanges.ids.push(id);
        let mut list = |column| cells.decode(column, |blob| cycles.sizes.run_length(blob));
        exchanges.received.push(list(1));
        exchanges.sent.push(list(2));
        exchanges.code.push(if has_code { list(6) } else { None });
        exchanges.cycles.push(cycles.decode(cells, 3, cycle_column == cycle_ids));
        if has_variables {
            let source = cells.long_text(4).unwrap_or_default().into_owned();
            let destination = cells.long_text(5).unwrap_or_default().into_owned();
            if !source.is_empty() || !destination.is_empty() {
                exchanges.transfers.push(Transfer { source, destination, host: None });
            }
        }
        let start = streams.partition_point(|(of, _)| *of < number);
        let of_this = streams.iter_mut().skip(start).take_while(|(of, _)| *of == number);
        let of_this = of_this.map(|(_, transfer)| std::mem::take(transfer));
        exchanges.transfers.extend(of_this);
        exchanges.transfer_ends.push(exchanges.transfers.len());
    })
}

/// What comes from the host and goes there, by the number of the exchange.
fn read_streams(tables: &Tables<'_>) -> Vec<(u32, Transfer)> {
    let columns = ["stream_copy_mid_id", "stream", "regions", "is_remote_buffer"];
    let mut streams = Vec::new();
    for (table, is_source) in [("host_exchange_from_host", true), ("host_exchange_to_host", false)]
    {
        tables.rows(&NumberedRows::all(table, &columns, ROW_ID), |cells| {
            let Some(number) = cells.required32(0) else { return };
            let stream = cells.long_text(1).unwrap_or_default().into_owned();
            let regions = cells.long_text(2).unwrap_or_default().into_owned();
            let is_remote_buffer = cells.number(3).is_some_and(|flag| flag != 0);
            let host = Some(HostEnd { is_source, is_remote_buffer });
            let (source, destination) =
                if is_source { (stream, regions) } else { (regions, stream) };
            streams.push((number, Transfer { source, destination, host }));
        });
    }
    // Stable, so that what comes from the host stays before what goes there.
    streams.sort_by_key(|(number, _)| *number);
    streams
}
