//! The values in use at the peak of a memory space, for a comparison (formats/xla.md 10).
//!
//! Memory reserved for as long as the module runs belongs to no operation, and is named by its kind. The bytes of a
//! value are those that count for it (`buffer_assignment::shares`), so each column adds up to what is in use. Values of
//! both sides are paired, the largest first, where they have in common: the path of their operation (see `path`),
//! element type, dimensions and category; of what is left, what the instruction does (the kind of a fusion), element
//! type and dimensions; then the path and the category, whatever the dimensions, as of another batch; then the category
//! and the size; values of other operations and other sizes are not paired. Pairs of the same two kinds are a row.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::path::{kept_path, without_numbers};
use crate::run::compared::amounts::Amount;
use crate::run::compared::names::{Owner, SharedNames, TextId};
use crate::run::compared::rows::{Category, ComparedRow, MatchLevel, MatchRules, Thing, ThingKind};
use crate::store::hlo::{AllocationKind, InstructionId, ValueId};
use crate::systems::xla::buffer_assignment::analysed::Analysed;
use crate::systems::xla::buffer_assignment::categories::ValueCategory;
use crate::systems::xla::buffer_assignment::in_use::PlacedValue;

/// What pairs of the same size and category alone are matched by.
pub(super) const BY_CATEGORY: &str = "category";

/// How values of two modules are matched.
pub(super) const MATCHING: MatchRules = MatchRules {
    levels: &[
        level("operation", |names, thing| {
            Some([path(names, thing)?, text(thing.kind.detail), category(thing)])
        }),
        level("opcode", |_, thing| Some([text(thing.made_by), text(thing.kind.detail), 0])),
        level("path", |names, thing| Some([path(names, thing)?, category(thing), 0])),
        level(BY_CATEGORY, |_, thing| Some([category(thing), thing.size, 0])),
    ],
    is_one_to_one: true,
};

const fn level(by: &'static str, key: fn(&SharedNames, &Thing) -> Option<[u64; 3]>) -> MatchLevel {
    MatchLevel { by: Some(by), key, is_of_owner_alone: false }
}

/// The path of an operation; `None` where none is known.
fn path(names: &SharedNames, thing: &Thing) -> Option<u64> {
    names.owner_number(thing.kind.path).map(u64::from)
}

fn text(text: Option<TextId>) -> u64 {
    text.map_or(u64::MAX, TextId::number)
}

fn category(thing: &Thing) -> u64 {
    thing.category.place.into()
}

fn category_of(category: ValueCategory) -> Category {
    Category { place: category as u8, key: category.as_str(), title: category.title() }
}

/// What is in use of a memory space at a position.
pub(super) fn alive(
    analysed: &Analysed,
    color: i64,
    position: u32,
    names: &mut SharedNames,
) -> Vec<Thing> {
    let module = &analysed.module;
    let shares = analysed.shares_at(color, position);
    let path_of = |value: ValueId| analysed.operation(value).map(without_numbers);
    let paths = shares.iter().filter_map(|(one, _)| path_of(one.assigned.value));
    let all: BTreeSet<String> = paths.map(Cow::into_owned).collect();
    let with_plain = |path: String| {
        let plain = kept_path(&path).into_owned();
        (path, plain)
    };
    let owners = names.operations(all.into_iter().map(with_plain).collect());
    let thing = |(one, bytes): (&PlacedValue, u64)| {
        let value = one.assigned.value;
        let instruction =
            module.value(value).map_or(InstructionId::NONE, |value| value.instruction);
        let opcode = module.fusion_kind(instruction).unwrap_or(module.opcode(instruction));
        let path = names.path(path_of(value).and_then(|path| owners.get(&*path)).cloned());
        let category = category_of(analysed.category(&one.assigned));
        let shape = names.text(&module.shapes.whole_title(module.value_shape(value), None));
        Thing {
            kind: ThingKind {
                path,
                detail: Some(shape),
                category: Some(category.place),
                size: None,
            },
            category,
            made_by: Some(names.text(opcode)),
            size: one.assigned.bytes,
            amount: Amount { bytes, count: 1 },
        }
    };
    let mut things: Vec<Thing> = shares.into_iter().map(thing).collect();
    let reserved = analysed.allocations_of(color, |kind| kind != AllocationKind::Temporary);
    things.extend(reserved.filter(|(_, one)| one.bytes > 0).map(|(_, one)| {
        let category = category_of(ValueCategory::of_allocation(one.kind));
        let name = format!("({})", category.key);
        Thing {
            kind: ThingKind {
                path: names.path([Owner::operation(&name)]),
                detail: None,
                category: Some(category.place),
                size: None,
            },
            category,
            made_by: Some(names.text(&name)),
            size: one.bytes,
            amount: Amount { bytes: one.bytes, count: 1 },
        }
    }));
    things
}

/// Whether a row is of what is reserved throughout, not of what is temporary.
pub(super) fn is_throughout(row: &ComparedRow) -> bool {
    row.kinds.iter().flatten().all(|kind| kind.detail.is_none())
}
