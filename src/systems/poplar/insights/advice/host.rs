//! Host streams: messages, headers and code of the exchange with the host, where they are a fiftieth or more of
//! what is alive on the tiles that are over.

use super::how;
use super::{AdviceContext, Candidate, IpuTechnique, LOWER, advice_of};
use crate::analysis::liveness::variable_name;
use crate::analysis::memory::category_title;
use crate::run::{Advice, Evidence, Proposal};
use crate::systems::poplar::insights::pressure::AliveAbove;

/// Names under which a report counts what host exchanges need.
const NAMES: [&str; 3] = ["hostMessage", "hostExchangePacketHeader", "hostExchangeCode"];

/// The advice; `None` where the streams take little.
pub fn candidate<'a>(context: &AdviceContext<'a>) -> Option<Candidate<'a>> {
    let pressure = context.pressure;
    let liveness = pressure.liveness();
    let is_host = move |variable| NAMES.contains(&&*variable_name(liveness, variable));
    let rows: Vec<&AliveAbove> =
        pressure.alive.iter().filter(|row| is_host(row.alive.variable)).collect();
    let bytes = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.at_worst_bytes));
    if bytes == 0 || bytes < pressure.alive_bytes / 50 {
        return None;
    }
    let evidence = rows.iter().map(|row| {
        let name = variable_name(liveness, row.alive.variable);
        Evidence::new(category_title(&name))
            .bytes(row.most.0)
            .on_place(&row.most.1)
            .of_variable(&name)
    });
    let advice = Advice {
        text: "Stream less to and from the host at once".to_owned(),
        proposal: Proposal { direction: Some(LOWER), ..Proposal::default() },
        how: how::host_streams(),
        evidence: evidence.collect(),
        caution: "Less prefetching can leave the IPU waiting for the host",
        ..advice_of(IpuTechnique::FewerAndSmallerHostStreams)
    };
    Some(Candidate::at_best(advice, "all of it freed", move |row| is_host(row.variable), |_| 0))
}
