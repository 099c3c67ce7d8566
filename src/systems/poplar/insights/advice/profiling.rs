//! A report without instrumentation. The worst tile is examined and stands for all that are over, because each has the
//! same code and counters. For tiles that are far over, only the results are known, which liveness counts by
//! themselves.

use std::collections::HashMap;
use std::sync::Arc;

use super::how;
use super::{AdviceContext, Candidate, Effect, IpuTechnique, LOWER, advice_of};
use crate::analysis::liveness::variable_kind::ANONYMOUS;
use crate::analysis::liveness::variable_name;
use crate::analysis::memory::category_title;
use crate::run::{Advice, Evidence, Proposal};
use crate::store::liveness::Liveness;
use crate::store::{ClassId, Report, UnloweredId};
use crate::systems::poplar::insights::instrumentation::{
    Instrumentation, RESULTS, is_instrumented,
};
use crate::systems::poplar::insights::pressure::{LeftOfRow, PlaceView};
use crate::systems::poplar::insights::timeline::AliveRow;

/// The advice; `None` where the report is not instrumented, or nothing of it is on the worst tile.
pub fn candidate<'a>(context: &AdviceContext<'a>) -> Option<Candidate<'a>> {
    let target = context.report.target.get().filter(|target| is_instrumented(target))?;
    let liveness = context.pressure.liveness();
    let view = context.pressure.views.first()?;
    let place = view.place;
    let read = context.of_tiles.instrumentation;
    let found = match read {
        Some(found) => found.clone(),
        None => Instrumentation::of_results(view.timeline.rows(), liveness),
    };
    let level = target.compute_instrumentation.as_deref().filter(|level| !level.is_empty());
    let mut evidence = Vec::new();
    for ((shown, _), bytes) in &found.bytes {
        let what = if shown == ANONYMOUS {
            "Buffers for measurements".to_owned()
        } else if shown == RESULTS {
            category_title(shown)
        } else {
            format!("{} for measuring", category_title(shown))
        };
        evidence.push(Evidence::new(what).bytes(*bytes).on_place(&place));
    }
    if evidence.is_empty() {
        return None;
    }
    let option = option_to_leave_out(context.report);
    let of_level = level.map_or_else(String::new, |level| format!(" (level {level})"));
    let advice = Advice {
        text: format!("Capture the report without measuring the execution{of_level}"),
        proposal: Proposal { option: Some(option), direction: Some(LOWER), ..Proposal::default() },
        how: how::no_instrumentation(option),
        evidence,
        caution: "The report then has no execution trace and no measured cycles",
        ..advice_of(IpuTechnique::CaptureWithoutProfiling)
    };
    let basis = match read {
        Some(_) => {
            "the measuring code and buffers of the worst tile removed from each of them; host \
             exchanges for measuring, which no name identifies, come on top"
        }
        None => "the results removed from each of them; code and buffers for them come on top",
    };
    let measured = Arc::new(bytes_of_variables(&found, liveness));
    let left = || -> LeftOfRow<'a> {
        let measured = Arc::clone(&measured);
        Box::new(move |_: &PlaceView, row: &AliveRow| {
            row.bytes.saturating_sub(measured.get(&(row.variable, row.class)).copied().unwrap_or(0))
        })
    };
    let effect = Effect::Left(left(), left());
    Some(Candidate { advice, effect, basis: basis.to_owned() })
}

/// The option that is to be off: that of the execution profile, or where that is off already, the one of which
/// programs are instrumented without it.
fn option_to_leave_out(report: &Report) -> &'static str {
    const PROFILE: &str = "autoReport.outputExecutionProfile";
    let options = report.about.get().map(|about| about.engine_options.as_slice());
    let profile = options.unwrap_or_default().iter().find(|option| option.name == PROFILE);
    if profile.is_some_and(|option| option.value == "false") { "debug.instrument" } else { PROFILE }
}

/// Bytes that measure, by variable and class.
fn bytes_of_variables(
    found: &Instrumentation,
    liveness: &Liveness,
) -> HashMap<(UnloweredId, ClassId), u64> {
    let mut by_name: HashMap<&str, Vec<(ClassId, u64)>> = HashMap::new();
    for ((name, class), bytes) in &found.bytes {
        by_name.entry(name).or_default().push((*class, *bytes));
    }
    let ids = liveness.variable_ids.as_slice().iter();
    let named = ids.filter_map(|id| Some((*id, by_name.get(&*variable_name(liveness, *id))?)));
    let entries =
        named.flat_map(|(id, rows)| rows.iter().map(move |(class, bytes)| ((id, *class), *bytes)));
    entries.collect()
}
