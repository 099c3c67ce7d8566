//! The default side of a comparison by peaks, made from the answers of the run, for systems that have nothing to add.

use std::collections::BTreeMap;

use super::amounts::Amount;
use super::names::{Owner, SharedNames};
use super::rows::{Category, Thing, ThingKind};
use super::{Own, PeakOfSide, RunSide};
use crate::analysis::comparison::figures::{Figure, Unit};
use crate::analysis::comparison::options::OptionText;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::run::{AliveVariable, AliveVariables, PeakOfRun, Place, StepBytes};
use crate::text::exact_bytes;

/// Variables of a side that are told apart: more than devices have at a time, and few enough to be compared in little memory.
const MOST_THINGS: usize = 1 << 16;

const VARIABLE: Category = Category { place: 0, key: "variable", title: "Variable" };

impl RunSide {
    /// Of all devices of a run together; `None` where it has no peak.
    pub fn of_answers(derived: &Derived, names: &mut SharedNames) -> Option<Self> {
        let (answers, report) = (derived.answers(), derived.report());
        // Its largest variables may be very many.
        let peak = PeakOfRun { largest: Vec::new(), ..answers.peak(derived)? };
        let always_live_bytes = peak.always_live_bytes.unwrap_or(0);
        let not_always_live_bytes = peak.bytes.saturating_sub(always_live_bytes);
        let place = Place { step: peak.step, ..Place::default() };
        let alive = answers.step_position(derived, &place).map(|step| {
            let scope = Scope::Everything;
            let at = StepBytes { scope, step, always_live_bytes, not_always_live_bytes };
            let mut found = at.variables(answers.alive(derived, &at));
            let category = |variable: &AliveVariable| {
                let known = variable.category.as_deref();
                known.and_then(|name| answers.compared_category(name)).unwrap_or(VARIABLE)
            };
            let name = format!("smaller {}, taken together", answers.compared_words().counted);
            let smaller = together(smaller(&mut found), &name, &category);
            let AliveVariables { always_live, not_always_live } = found;
            let all = always_live.into_iter().chain(not_always_live);
            let all = all.map(|one| (category(&one), AliveVariable::amount(&one), one));
            let things = all.chain(smaller).map(|(of, amount, one)| thing(&one, of, amount, names));
            things.collect()
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

/// Takes the smallest variables of those that are too many out. Both lists have the largest first.
fn smaller(found: &mut AliveVariables) -> Vec<AliveVariable> {
    let AliveVariables { always_live, not_always_live } = found;
    let (mut kept, mut kept_always) = (0, 0);
    let bytes = |list: &[AliveVariable], at: usize| list.get(at).map(|one| one.bytes);
    for _ in 0..MOST_THINGS {
        let next = [bytes(always_live, kept_always), bytes(not_always_live, kept)];
        match next {
            [None, None] => return Vec::new(),
            [always, other] if always >= other => kept_always += 1,
            _ => kept += 1,
        }
    }
    let mut smaller = always_live.split_off(kept_always);
    smaller.extend(not_always_live.drain(kept..));
    smaller
}

/// What becomes a thing: its category and how much it is.
type ToCompare = (Category, Amount, AliveVariable);

/// Variables as one for each operation and category.
fn together(
    variables: Vec<AliveVariable>,
    name: &str,
    category: &dyn Fn(&AliveVariable) -> Category,
) -> Vec<ToCompare> {
    let mut sums: BTreeMap<(Option<String>, Category), Amount> = BTreeMap::new();
    for variable in variables {
        let (category, amount) = (category(&variable), variable.amount());
        sums.entry((variable.operation, category)).or_default().add(amount);
    }
    let one = |((operation, category), amount): ((Option<String>, _), Amount)| {
        let name = name.to_owned();
        let bytes = amount.bytes;
        let of = AliveVariable { name, bytes, operation, ..AliveVariable::default() };
        (category, amount, of)
    };
    sums.into_iter().map(one).collect()
}

impl AliveVariable {
    fn amount(&self) -> Amount {
        Amount { bytes: self.bytes, count: 1 }
    }
}

fn thing(
    variable: &AliveVariable,
    category: Category,
    amount: Amount,
    names: &mut SharedNames,
) -> Thing {
    let path = names.path(variable.operation.as_deref().map(Owner::operation));
    let detail = Some(names.text(&variable.name));
    Thing {
        kind: ThingKind { path, detail, category: Some(category.place), size: None },
        category,
        made_by: None,
        size: variable.bytes,
        amount,
    }
}
