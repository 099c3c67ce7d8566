//! A report of four tiles for the tests of compute sets, vertices, exchanges and estimates.

use crate::analysis::fixture::steps;
use crate::store::compute::{ComputeSetTiles, ComputeSets, Instances, TypeCount};
use crate::store::exchange::{ExchangeId, ExchangeKind, Exchanges, HostEnd, Transfer};
use crate::store::program::{Programs, Steps};
use crate::store::tile_list::TileList;
use crate::store::vertex::VertexTypes;
use crate::store::{ComputeSetId, ProgramId, Report, VertexTypeId};

/// A list of four tiles.
#[allow(clippy::unnecessary_wraps, reason = "so that it stands in columns as it is")]
pub fn list(numbers: [u64; 4]) -> Option<TileList> {
    Some(TileList::from_runs(numbers.map(|number| (1, number))))
}

/// Compute set 3 has vertices of the types 1 and 2, compute set 5 of type 2 on tile 3 only, and its
/// edge pointers could not be read. Programs 0 to 3 run: compute set 3, an internal exchange, compute
/// set 5, a host exchange; the steps are the programs 0, 1, 2, 0, 3.
pub fn report() -> Report {
    let report = Report::default();
    let mut sets = ComputeSets::default();
    let mut tiles = ComputeSetTiles::default();
    let set = |sets: &mut ComputeSets, id, name, by_type: &[(u32, u64)]| {
        sets.ids.push(ComputeSetId(id));
        sets.names.push(name);
        sets.vertices.push(Some(by_type.iter().map(|(_, count)| count).sum()));
        let count =
            |(id, count): &(u32, u64)| TypeCount { vertex_type: VertexTypeId(*id), count: *count };
        sets.vertices_by_type.push(Some(by_type.iter().map(count).collect()));
        sets.edges.push(Some(7));
    };
    set(&mut sets, 3, "add", &[(1, 10), (2, 4)]);
    set(&mut sets, 5, "reduce", &[(2, 6)]);
    for (set, kind, by_tile) in
        [(3, 1, list([1, 2, 3, 4])), (3, 2, list([4, 0, 0, 0])), (5, 2, list([0, 0, 0, 6]))]
    {
        let (compute_set, vertex_type) = (ComputeSetId(set), VertexTypeId(kind));
        tiles.instances.push(Instances { compute_set, vertex_type, by_tile });
    }
    let zero = || list([0; 4]);
    tiles.state.push([list([8; 4]), list([1, 0, 0, 0]), zero(), zero(), zero()]);
    tiles.state.push([list([0, 0, 0, 40]), None, zero(), zero(), zero()]);
    tiles.cycles = vec![list([50, 60, 0, 20]), None];
    tiles.flops = vec![list([1, 2, 3, 4]), None];
    report.compute_sets.fill(Some(sets));
    report.compute_set_tiles.fill(Some(tiles));

    let mut types = VertexTypes::default();
    types.ids.push(VertexTypeId(1));
    types.names.push("Add");
    types.sizes.push(Some(8));
    types.sources.push("asm");
    types.code.push(list([100, 100, 0, 0]));
    types.state.push([list([8; 4]), zero(), zero(), zero(), zero()]);
    report.vertex_types.fill(Some(types));

    let mut programs = Programs::default();
    let internal = ExchangeId { kind: ExchangeKind::Internal, number: 0 };
    let host = ExchangeId { kind: ExchangeKind::Host, number: 0 };
    for (id, name, set, exchange) in [
        (0, "", Some(ComputeSetId(3)), None),
        (1, "pre", None, Some(internal)),
        (2, "", Some(ComputeSetId(5)), None),
        (3, "", None, Some(host)),
    ] {
        programs.ids.push(ProgramId(id));
        programs.names.push(name);
        programs.compute_sets.push(set);
        programs.exchanges.push(exchange);
    }
    report.programs.fill(Some(programs));
    let programs = [0, 1, 2, 0, 3].map(ProgramId).to_vec();
    report.steps.fill(Some(Steps { programs, ..steps(5) }));

    let transfer = |source: &str, destination: &str, is_source: Option<bool>| Transfer {
        source: source.to_owned(),
        destination: destination.to_owned(),
        host: is_source.map(|is_source| HostEnd { is_source, is_remote_buffer: !is_source }),
    };
    report.exchanges.fill(Some(Exchanges {
        ids: vec![internal, host],
        received: vec![list([0, 4, 4, 0]), list([0, 0, 0, 64])],
        sent: vec![list([8, 0, 0, 0]), list([0; 4])],
        code: vec![list([12, 12, 12, 0]), None],
        cycles: vec![list([30, 31, 32, 33]), None],
        transfers: vec![
            transfer("v[0,8)", "message[0,4)", None),
            transfer("in", "x[0,32)", Some(true)),
            transfer("x[0,32)", "out", Some(false)),
        ],
        transfer_ends: vec![1, 3],
    }));
    report
}
