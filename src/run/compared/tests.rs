//! Every thing is in one row, and every column adds up, whatever is matched with whatever.

use proptest::prelude::*;

use super::amounts::{Amount, Both};
use super::names::{Owner, SharedNames};
use super::rows::{Category, MatchLevel, MatchRules, Peaks, Thing, ThingKind};

const CATEGORIES: [Category; 3] = [
    Category { place: 0, key: "a", title: "A" },
    Category { place: 1, key: "b", title: "B" },
    Category { place: 2, key: "c", title: "C" },
];

fn owner(names: &SharedNames, thing: &Thing) -> Option<u64> {
    names.owner_number(thing.kind.path).map(u64::from)
}

const LEVELS: [MatchLevel; 3] = [
    MatchLevel {
        by: Some("path"),
        key: |_, thing| Some([thing.kind.path.number(), thing.size, 0]),
        is_of_owner_alone: false,
    },
    MatchLevel {
        by: Some("owner"),
        key: |names, thing| Some([owner(names, thing)?, 0, 0]),
        is_of_owner_alone: true,
    },
    MatchLevel {
        by: Some("size"),
        key: |_, thing| Some([thing.size, thing.category.place.into(), 0]),
        is_of_owner_alone: false,
    },
];

const ONE_TO_ONE: MatchRules = MatchRules { levels: &LEVELS, is_one_to_one: true };
const ALL_WITH_ALL: MatchRules = MatchRules { levels: &LEVELS, is_one_to_one: false };

/// A thing by small numbers: owner and caller, 0 for none; category; hundreds of bytes, and how many of them count.
type Numbers = (u8, u8, usize, u64, u64);

fn things() -> impl Strategy<Value = Vec<Numbers>> {
    prop::collection::vec((0..4_u8, 0..3_u8, 0..3_usize, 0..4_u64, 0..4_u64), 0..40)
}

fn thing(names: &mut SharedNames, (owner, caller, category, size, share): Numbers) -> Thing {
    let owners = [owner, caller].into_iter().take_while(|owner| *owner > 0);
    let path = names.path(owners.map(|owner| Owner::operation(&owner.to_string())));
    Thing {
        kind: ThingKind { path, detail: None, category: None, size: Some(size * 100) },
        category: CATEGORIES[category],
        made_by: None,
        size: size * 100,
        amount: Amount { bytes: share.min(size) * 100, count: 1 },
    }
}

fn peaks(both: [&[Numbers]; 2], matching: &MatchRules) -> Peaks {
    let mut names = SharedNames::default();
    let alive = both.map(|side| side.iter().map(|one| thing(&mut names, *one)).collect());
    Peaks::of(names, &alive, matching)
}

fn sum<'a>(rows: impl Iterator<Item = &'a Both>) -> Both {
    rows.fold(Both::default(), |mut sum, both| {
        sum.source.add(both.source);
        sum.target.add(both.target);
        sum
    })
}

proptest! {
    #[test]
    fn every_column_adds_up_to_its_peak(source in things(), target in things(), is_one_to_one: bool) {
        let matching = if is_one_to_one { ONE_TO_ONE } else { ALL_WITH_ALL };
        let found = peaks([&source, &target], &matching);
        let amount = |side: &[Numbers]| Amount {
            bytes: side.iter().map(|(.., size, share)| share.min(size) * 100).sum(),
            count: side.len() as u64,
        };
        let whole = Both { source: amount(&source), target: amount(&target) };
        prop_assert_eq!(sum(found.rows.iter().map(|row| &row.both)), whole);
        prop_assert_eq!(sum(found.by_category.iter().map(|(_, both)| both)), whole);
        prop_assert_eq!(sum(found.by_owner.iter().map(|row| &row.both)), whole);
        prop_assert_eq!(sum(found.by_owner_and_category.iter().map(|row| &row.both)), whole);
        let difference = whole.target.bytes.cast_signed() - whole.source.bytes.cast_signed();
        let changes = found.rows.iter().filter_map(|row| row.both.bytes().change());
        prop_assert_eq!(changes.sum::<i64>(), difference);
        for row in &found.rows {
            let has = [row.both.source.count > 0, row.both.target.count > 0];
            prop_assert_eq!(row.kinds.map(|kind| kind.is_some()), has);
            prop_assert_eq!(row.matched_by.is_some(), has == [true, true]);
            prop_assert!(!is_one_to_one || row.matched_by.is_none() || row.both.source.count == row.both.target.count);
        }
    }

    #[test]
    fn what_has_the_last_key_in_common_is_not_left_on_both_sides(source in things(), target in things()) {
        let found = peaks([&source, &target], &ALL_WITH_ALL);
        let left = |side: usize| found.rows.iter().filter(move |row| {
            row.matched_by.is_none() && row.kinds[side].is_some()
        });
        for one in left(0) {
            prop_assert!(left(1).all(|other| (other.category, other.size) != (one.category, one.size)));
        }
    }

    #[test]
    fn a_side_compared_with_itself_has_no_change(side in things(), is_one_to_one: bool) {
        let matching = if is_one_to_one { ONE_TO_ONE } else { ALL_WITH_ALL };
        for row in peaks([&side, &side], &matching).rows {
            prop_assert_eq!(row.both.source, row.both.target);
            prop_assert!(row.matched_by.is_some());
        }
    }
}
