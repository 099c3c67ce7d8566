//! The default side of a comparison by peaks, made from the answers of the run, for systems that have nothing to add.

use super::amounts::Amount;
use super::names::{Owner, SharedNames};
use super::rows::{Category, Thing, ThingKind};
use super::{Own, PeakOfSide, RunSide};
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::analysis::comparison::options::OptionText;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::run::{AliveVariable, Place, StepBytes};
use crate::text::exact_bytes;

const VARIABLE: Category = Category { place: 0, key: "variable", title: "Variable" };

impl RunSide {
    /// Of all devices of a run together; `None` where it has no peak.
    pub fn of_answers(derived: &Derived, names: &mut SharedNames) -> Option<Self> {
        let (answers, report) = (derived.answers(), derived.report());
        let peak = answers.peak(derived)?;
        let always_live_bytes = peak.always_live_bytes.unwrap_or(0);
        let not_always_live_bytes = peak.bytes.saturating_sub(always_live_bytes);
        let place = Place { step: peak.step, ..Place::default() };
        let alive = answers.step_position(derived, &place).map(|step| {
            let scope = Scope::Everything;
            let at = StepBytes { scope, step, always_live_bytes, not_always_live_bytes };
            let found = at.variables(answers.alive(derived, &at));
            let all = found.always_live.iter().chain(&found.not_always_live);
            let category = |variable: &AliveVariable| {
                let known = variable.category.as_deref();
                known.and_then(|name| answers.compared_category(name)).unwrap_or(VARIABLE)
            };
            all.map(|variable| thing(variable, category(variable), names)).collect()
        });
        let total = answers.memory(derived).total_bytes;
        let figure = |key, title, bytes| Figure::of_run(key, title, Unit::Bytes, bytes, false);
        let at = peak
            .step
            .map_or_else(String::new, |step| format!(" at {} {step}", report.system.step_in_text));
        Some(Self {
            device: peak.device,
            title: report.system.all_devices.to_owned(),
            peak: Some(PeakOfSide { bytes: peak.bytes, not_always_live_bytes, step: peak.step }),
            peak_text: format!("{}{at}", exact_bytes(peak.bytes)),
            always_live_bytes: peak.always_live_bytes,
            figures: vec![
                figure("peak_bytes", "Peak", Some(peak.bytes)),
                figure("total_bytes", "Total", total),
            ],
            settings: OptionText::all(report),
            need: answers.need(derived, None).unwrap_or_default(),
            alive,
            own: Own::new(()),
        })
    }
}

fn thing(variable: &AliveVariable, category: Category, names: &mut SharedNames) -> Thing {
    let path = names.path(variable.operation.as_deref().map(Owner::operation));
    let detail = Some(names.text(&variable.name));
    Thing {
        kind: ThingKind { path, detail, category: Some(category.place), size: None },
        category,
        made_by: None,
        size: variable.bytes,
        amount: Amount { bytes: variable.bytes, count: 1 },
    }
}
