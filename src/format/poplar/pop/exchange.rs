//! Exchanges within an IPU, between IPUs and with the host.

use super::tile_lists::Cycles;
use crate::format::poplar::table::Tables;
use crate::store::exchange::{ExchangeId, ExchangeKind, Exchanges, HostEnd, Transfer};

/// Where a kind of exchanges is, and which columns it has.
struct Source {
    kind: ExchangeKind,
    table: &'static str,
    cycle_ids: &'static str,
    cycle_lists: &'static str,
    has_variables: bool,
    /// Only together with variables.
    has_code: bool,
}

const SOURCES: [Source; 3] = [
    Source {
        kind: ExchangeKind::Internal,
        table: "program_type_do_exchange",
        cycle_ids: "cycles_by_tile_ids",
        cycle_lists: "cycles_by_tile_rle",
        has_variables: true,
        has_code: true,
    },
    Source {
        kind: ExchangeKind::Global,
        table: "program_type_global_exchange",
        cycle_ids: "estimated_cycles_by_tile_ids",
        cycle_lists: "estimated_cycles_by_tile_rle",
        has_variables: true,
        has_code: false,
    },
    Source {
        kind: ExchangeKind::Host,
        table: "program_type_stream_copy_mid",
        cycle_ids: "estimated_cycles_by_tile_ids",
        cycle_lists: "estimated_cycles_by_tile_rle",
        has_variables: false,
        has_code: false,
    },
];

/// Reads all exchanges; `None` without any of their tables, or when the reading was cancelled.
pub fn read_exchanges(tables: &Tables<'_>, cycles: &Cycles) -> Option<Exchanges> {
    let mut exchanges = Exchanges::default();
    let mut is_there = false;
    for source in &SOURCES {
        let mut streams = match source.kind {
            ExchangeKind::Host => read_streams(tables),
            _ => Vec::new(),
        };
        is_there |= read_kind(tables, source, cycles, &mut streams, &mut exchanges);
    }
    (is_there && !tables.progress.is_cancelled()).then_some(exchanges)
}

/// `streams` are the transfers of the exchange with a number, by number; they are taken from there.
fn read_kind(
    tables: &Tables<'_>,
    source: &Source,
    cycles: &Cycles,
    streams: &mut [(u32, Transfer)],
    exchanges: &mut Exchanges,
) -> bool {
    let cycle_column = Cycles::column(tables, source.table, source.cycle_ids, source.cycle_lists);
    let mut columns =
        vec!["id", "bytes_received_by_tile_rle", "bytes_sent_by_tile_rle", cycle_column];
    if source.has_variables {
        columns.extend(["source_vars", "destination_vars"]);
    }
    if source.has_code {
        columns.push("code_bytes_by_tile_rle");
    }
    tables.read(source.table, &columns, "id", |cells| {
        let Some(number) = cells.required32(0) else { return };
        let id = ExchangeId { kind: source.kind, number };
        if exchanges.ids.last().is_some_and(|last| *last >= id) {
            cells.damage(0, "an exchange comes twice, or out of order");
            return;
        }
        exchanges.ids.push(id);
        let mut list = |column| cells.decode(column, |blob| cycles.sizes.run_length(blob));
        exchanges.received.push(list(1));
        exchanges.sent.push(list(2));
        exchanges.code.push(if source.has_code { list(6) } else { None });
        let is_ids = cycle_column == source.cycle_ids;
        exchanges.cycles.push(cycles.decode(cells, 3, is_ids));
        if source.has_variables {
            let source = cells.owned_text(4).unwrap_or_default();
            let destination = cells.owned_text(5).unwrap_or_default();
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
        tables.read(table, &columns, "", |cells| {
            let Some(number) = cells.required32(0) else { return };
            let stream = cells.owned_text(1).unwrap_or_default();
            let regions = cells.owned_text(2).unwrap_or_default();
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
