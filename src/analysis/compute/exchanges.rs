//! Exchanges on some tiles: what they move, their code and cycles, and how often they are run.
//!
//! Bytes are summed over the tiles, cycles are those of the busiest of them: exact for internal
//! exchanges, which the compiler schedules, estimates for others. The name is that of the first program
//! that runs the exchange; without one, the names of its streams. Steps are visits of the step list to
//! a program that runs it. On a selection of tiles, exchanges that move nothing there and have no code
//! there are left out.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::store::Report;
use crate::store::exchange::{ExchangeId, ExchangeKind, Transfer};

use crate::analysis::memory::over_tiles::{most, sum};
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::step_counts::step_counts;

/// An exchange. What the file does not say, or what cannot be read, is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeRow {
    /// Its id, which says the kind.
    pub id: ExchangeId,
    /// Its name, empty where nothing has one.
    pub name: String,
    /// Bytes that the tiles receive.
    pub received: Option<u64>,
    /// Bytes that the tiles send.
    pub sent: Option<u64>,
    /// Code on the tiles, bytes; the file has it of internal exchanges only.
    pub code: Option<u64>,
    /// Cycles of the busiest of the tiles.
    pub cycles: Option<u64>,
    /// Steps that run it.
    pub steps: Option<u64>,
    /// The position of the first of them.
    pub first_step: Option<u32>,
    /// What moves where, "source → destination"; several for several streams.
    pub routes: Vec<String>,
}

impl ExchangeRow {
    fn is_nothing(&self) -> bool {
        let has_code = self.id.kind == ExchangeKind::Internal && self.code != Some(0);
        self.received == Some(0) && self.sent == Some(0) && !has_code
    }
}

/// The exchanges on the selected tiles, or on all of an empty selection: most bytes received first,
/// then most sent, then by id. `None` where they are absent.
pub fn rows(report: &Report, tiles: &TileSelection) -> Option<Vec<ExchangeRow>> {
    let exchanges = report.exchanges.get()?;
    let names = program_names(report);
    let steps = step_counts(report, |programs| &programs.exchanges);
    let visits = |id: &ExchangeId| Some(steps.as_ref()?.get(id).copied().unwrap_or_default());
    let row = |(row, id): (usize, &ExchangeId)| {
        let transfers = exchanges.transfers_of(row);
        let name = names.get(id).filter(|name| !name.is_empty());
        ExchangeRow {
            id: *id,
            name: name.map_or_else(|| stream_names(transfers), |name| (*name).to_owned()),
            received: sum(exchanges.received.get(row).and_then(Option::as_ref), tiles),
            sent: sum(exchanges.sent.get(row).and_then(Option::as_ref), tiles),
            code: sum(exchanges.code.get(row).and_then(Option::as_ref), tiles),
            cycles: most(exchanges.cycles.get(row).and_then(Option::as_ref), tiles),
            steps: visits(id).map(|visits| visits.count),
            first_step: visits(id).and_then(|visits| visits.first),
            routes: transfers.iter().map(route).collect(),
        }
    };
    let rows = exchanges.ids.iter().enumerate().map(row);
    let mut rows: Vec<_> = rows.filter(|row| tiles.is_empty() || !row.is_nothing()).collect();
    rows.sort_by_key(|row| (Reverse((row.received, row.sent)), row.id));
    Some(rows)
}

/// The name of the first program that runs each exchange.
fn program_names(report: &Report) -> HashMap<ExchangeId, &str> {
    let mut names = HashMap::new();
    if let Some(programs) = report.programs.get() {
        for (exchange, name) in programs.exchanges.iter().zip(programs.names.iter()) {
            if let Some(exchange) = exchange {
                names.entry(*exchange).or_insert(name);
            }
        }
    }
    names
}

fn stream_names(transfers: &[Transfer]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in transfers.iter().filter_map(Transfer::host_name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

pub(crate) fn route(transfer: &Transfer) -> String {
    let end = |of_host: bool, name: &str| match transfer.host {
        Some(host) if of_host == host.is_source => {
            let what = if host.is_remote_buffer { "remote buffer" } else { "stream" };
            format!("{what} {name}")
        }
        _ => name.to_owned(),
    };
    format!("{} → {}", end(true, &transfer.source), end(false, &transfer.destination))
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::fixture::report;

    #[test]
    fn all_tiles_and_some() {
        let all = rows(&report(), &TileSelection::default()).expect("rows");
        let (host, internal) = (&all[0], &all[1]);
        assert_eq!((&*host.name, host.received, host.sent), ("in, out", Some(64), Some(0)));
        assert_eq!((host.code, host.cycles, host.steps), (None, None, Some(1)));
        assert_eq!(host.routes, ["stream in → x[0,32)", "x[0,32) → remote buffer out"]);
        assert_eq!((&*internal.name, internal.received), ("pre", Some(8)));
        assert_eq!((internal.sent, internal.code, internal.cycles), (Some(8), Some(36), Some(33)));
        assert_eq!(internal.routes, ["v[0,8) → message[0,4)"]);
        let some = rows(&report(), &"1,9".parse().unwrap()).expect("rows");
        assert_eq!((some.len(), some[0].id.kind), (1, ExchangeKind::Internal));
        assert_eq!((some[0].received, some[0].sent, some[0].cycles), (Some(4), Some(0), Some(31)));
        assert_eq!(rows(&Report::default(), &TileSelection::default()), None);
    }
}
