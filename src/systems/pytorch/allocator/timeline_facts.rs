//! The figures of a memory timeline of torch.profiler: its peak, by category.

use serde_json::{Map, Value, json};

use crate::store::memory_timeline::{CATEGORY_NAMES, MemoryTimeline, TimelineForm};

/// The facts of a timeline, as the commands give them (formats/pytorch.md 6).
pub fn timeline_facts(timeline: &MemoryTimeline) -> Map<String, Value> {
    let (row, bytes) = timeline.peak().unwrap_or((0, 0));
    let at_peak = timeline.bytes.get(row).copied().unwrap_or_default();
    let by_category: Map<String, Value> = CATEGORY_NAMES
        .iter()
        .zip(at_peak)
        .map(|(name, bytes)| ((*name).to_owned(), bytes.into()))
        .collect();
    let facts = match timeline.form {
        TimelineForm::Curve => json!({
            "form": "curve",
            "points": timeline.bytes.len(),
            "peak_bytes": bytes,
            "peak_point": row,
            "by_category": by_category,
        }),
        TimelineForm::Raw => json!({
            "form": "raw",
            "rows": timeline.bytes.len(),
            "preexisting": timeline.preexisting,
            "peak_bytes": bytes,
            "peak_row": row,
            "by_category": by_category,
            "left_bytes": timeline.totals().last().unwrap_or(0),
        }),
    };
    match facts {
        Value::Object(facts) => facts,
        _ => Map::new(),
    }
}
