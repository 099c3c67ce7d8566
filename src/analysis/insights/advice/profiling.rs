//! A report without what measures the execution. The worst tile is looked at and stands for all that are over: each has
//! the same code and counters. Of tiles that are far over only the results are known, which liveness counts by themselves.

use std::sync::Arc;

use super::how;
use super::{Advice, Candidate, Context, Direction, Effect, Evidence, Technique};
use crate::analysis::insights::instrumentation::{Instrumentation, RESULTS, is_instrumented};
use crate::analysis::insights::pressure::{Left, PlaceView};
use crate::analysis::insights::timeline::AliveRow;
use crate::analysis::liveness::variable_kind::ANONYMOUS;
use crate::analysis::liveness::variable_name;
use crate::analysis::memory::category_title;

/// The advice; `None` where the report is not instrumented, or nothing of it is on the worst tile.
pub fn candidate<'a>(context: &Context<'a>) -> Option<Candidate<'a>> {
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
            "Buffers for what was measured".to_owned()
        } else if shown == RESULTS {
            category_title(shown)
        } else {
            format!("{} that measures", category_title(shown))
        };
        evidence.push(Evidence::new(what).bytes(*bytes).on_place(&place));
    }
    if evidence.is_empty() {
        return None;
    }
    let of_level = level.map_or_else(String::new, |level| format!(" (level {level})"));
    let advice = Advice {
        what: format!("Capture the report without what measures the execution{of_level}"),
        option: Some("autoReport.outputExecutionProfile"),
        direction: Direction::Lower,
        how: how::no_instrumentation(),
        evidence,
        caution: "The report then has no execution trace and no measured cycles",
        ..Advice::of(Technique::CaptureWithoutProfiling)
    };
    let basis = match read {
        Some(_) => {
            "what measures on the worst tile gone from each of them; exchanges with the host for it, which no \
             name tells, come on top"
        }
        None => "the results gone from each of them; code and buffers for them come on top",
    };
    let found = Arc::new(found);
    let left = || -> Left<'a> {
        let found = Arc::clone(&found);
        Box::new(move |_: &PlaceView, row: &AliveRow| {
            let name = variable_name(liveness, row.variable).into_owned();
            row.bytes.saturating_sub(found.bytes.get(&(name, row.class)).copied().unwrap_or(0))
        })
    };
    let effect = Effect::Left(left(), left());
    Some(Candidate { advice, effect, basis: basis.to_owned() })
}
