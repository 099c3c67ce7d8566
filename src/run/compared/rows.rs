//! The things alive at the peaks of two runs, side by side, as rows that add up to both peaks.
//!
//! A system says what is alive, and by which keys things of both runs belong together. Level after level, what has a key
//! on both sides is matched, and the rest is left for the next level; what is left in the end is only on one side. Every
//! thing is in one row, so each column adds up to the peak of its side, and so do the columns by category and by owner.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::amounts::{Amount, Both};
use super::names::{Owner, PathId, SharedNames, TextId};

/// A category of a system. Categories are in order by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Category {
    /// Its place among those of the system.
    pub place: u8,
    /// Its key.
    pub key: &'static str,
    /// What it is called.
    pub title: &'static str,
}

/// What a thing is shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThingKind {
    /// What it belongs to.
    pub path: PathId,
    /// What else describes it: its shape.
    pub detail: Option<TextId>,
    /// What it is for, where things of one kind have one category.
    pub category: Option<Category>,
    /// Bytes of each thing, where things of one kind are of one size.
    pub size: Option<u64>,
}

/// Something that is alive at a peak, or several of one kind, size and category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thing {
    /// What it is shown as.
    pub kind: ThingKind,
    /// What it is for.
    pub category: Category,
    /// What made it, where that is known beside its path.
    pub made_by: Option<TextId>,
    /// Bytes of each.
    pub size: u64,
    /// The bytes that count of it: of addresses that several share, only one has them.
    pub amount: Amount,
}

/// A key that things of both sides can have in common.
pub type MatchKey = [u64; 3];

/// A level of matching.
#[derive(Clone, Copy, Debug)]
pub struct MatchLevel {
    /// What it is called; `None` of what nothing needs to be said of.
    pub by: Option<&'static str>,
    /// The key of a thing; `None` where it has none.
    pub key: fn(&SharedNames, &Thing) -> Option<MatchKey>,
    /// Whether what it matches has only its innermost owner in common.
    pub is_of_owner_alone: bool,
}

/// How things of two runs are matched.
#[derive(Clone, Copy, Debug)]
pub struct MatchRules {
    /// The levels, in their order.
    pub levels: &'static [MatchLevel],
    /// Whether one thing is matched with one, the largest first; else all that have a key with all.
    pub is_one_to_one: bool,
}

/// Things that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedRow {
    /// What it belongs to: in the target, or else in the source.
    pub path: PathId,
    /// What the things are on each side; of several kinds the one with most bytes.
    pub kinds: [Option<ThingKind>; 2],
    /// What they are for; of several categories the one with most bytes.
    pub category: Category,
    /// Bytes of each thing, where all are of one size.
    pub size: Option<u64>,
    /// Bytes and things.
    pub both: Both,
    /// By what they were matched; `None` of what only one side has, or where nothing needs to be said.
    pub matched_by: Option<&'static str>,
}

/// A sum by owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerRow {
    /// The innermost owner; `None` of what belongs to nobody.
    pub owner: Option<Owner>,
    /// The category; `None` where all of them are together.
    pub category: Option<Category>,
    /// Bytes and things.
    pub both: Both,
}

/// What is alive at the peaks of two runs.
#[derive(Clone, Debug, Default)]
pub struct Peaks {
    /// Names of all rows.
    pub names: SharedNames,
    /// The rows, the largest change first.
    pub rows: Vec<ComparedRow>,
    /// By category, in the order of the system; those that either has.
    pub by_category: Vec<(Category, Both)>,
    /// By owner, the largest change first.
    pub by_owner: Vec<OwnerRow>,
    /// By owner and category.
    pub by_owner_and_category: Vec<OwnerRow>,
}

impl Peaks {
    /// Puts what is alive at both peaks side by side.
    pub fn of(mut names: SharedNames, alive: &[Vec<Thing>; 2], matching: &MatchRules) -> Self {
        let by_category = by_category(alive);
        let owned = [false, true].map(|by_category| by_owner(&names, alive, by_category));
        let [by_owner, by_owner_and_category] = owned;
        let rows = rows(&mut names, alive, matching);
        Self { names, rows, by_category, by_owner, by_owner_and_category }
    }

    /// The innermost owner of a row.
    pub fn owner(&self, row: &ComparedRow) -> Option<&Owner> {
        self.names.owner(row.path)
    }

    /// The owner in the source, where it is another one than in the target; the inner `None` is nobody.
    pub fn owner_of_source(&self, row: &ComparedRow) -> Option<Option<&Owner>> {
        let [Some(source), Some(target)] = row.kinds else { return None };
        let [source, target] = [source, target].map(|kind| self.names.owner(kind.path));
        (source != target).then_some(source)
    }

    /// What describes it beside its owner: a shape, `f32[64] → f32[128]` where the sides differ.
    pub fn detail(&self, row: &ComparedRow) -> Option<String> {
        let [source, target] = self.details(row);
        match (source, target) {
            (Some(source), Some(target)) if source != target => {
                Some(format!("{source} → {target}"))
            }
            (source, target) => target.or(source).map(str::to_owned),
        }
    }

    /// The same of each side.
    pub fn details(&self, row: &ComparedRow) -> [Option<&str>; 2] {
        row.kinds.map(|kind| Some(self.names.text_of(kind?.detail?)))
    }

    /// The names of what called the innermost owner.
    pub fn callers(&self, row: &ComparedRow) -> impl Iterator<Item = &str> {
        self.names.owners(row.path).skip(1).map(|owner| &*owner.name)
    }
}

/// Takes a set of things that belong together: the level that matched them, if one did, and their places on each side.
type TakeSet<'a> = dyn FnMut(Option<usize>, [&[u32]; 2]) + 'a;

/// Puts all things into sets; of what is not matched, one side is empty.
fn each_set(
    names: &SharedNames,
    alive: &[Vec<Thing>; 2],
    matching: &MatchRules,
    each: &mut TakeSet<'_>,
) {
    let places = |things: &Vec<Thing>| (0_u32..).zip(things).map(|(place, _)| place).collect();
    let mut left: [Vec<u32>; 2] = alive.each_ref().map(places);
    for (number, level) in matching.levels.iter().enumerate() {
        let mut rest: [Vec<u32>; 2] = Default::default();
        let mut keyed: [Vec<(MatchKey, u32)>; 2] = Default::default();
        let sides = left.into_iter().zip(alive).zip(rest.iter_mut().zip(&mut keyed));
        for ((places, things), (rest, keyed)) in sides {
            for place in places {
                let key = things.get(place as usize).map(|thing| (level.key)(names, thing));
                match key.flatten() {
                    Some(key) => keyed.push((key, place)),
                    None => rest.push(place),
                }
            }
            keyed.sort_unstable();
        }
        let mut sides = keyed.each_ref().map(Vec::as_slice);
        while let Some(key) = sides.iter().filter_map(|side| Some(side.first()?.0)).min() {
            let sets = sides.each_mut().map(|side| {
                let count = side.iter().take_while(|(other, _)| *other == key).count();
                let (set, after) = side.split_at(count);
                *side = after;
                set.iter().map(|(_, place)| *place).collect::<Vec<u32>>()
            });
            let alone = if matching.is_one_to_one {
                pair(alive, sets, &mut |pair| each(Some(number), pair))
            } else if sets.iter().all(|side| !side.is_empty()) {
                each(Some(number), sets.each_ref().map(Vec::as_slice));
                continue;
            } else {
                sets
            };
            for (rest, alone) in rest.iter_mut().zip(alone) {
                rest.extend(alone);
            }
        }
        left = rest;
    }
    let [source, target] = &left;
    source.chunks(1).for_each(|one| each(None, [one, &[]]));
    target.chunks(1).for_each(|one| each(None, [&[], one]));
}

/// Pairs one with one, the largest first, of equals the first, whichever run is the source; gives back what is left.
fn pair(
    alive: &[Vec<Thing>; 2],
    mut places: [Vec<u32>; 2],
    each: &mut dyn FnMut([&[u32]; 2]),
) -> [Vec<u32>; 2] {
    for (side, things) in places.iter_mut().zip(alive) {
        let size = |place: u32| things.get(place as usize).map(|one| (one.size, one.amount.bytes));
        side.sort_unstable_by_key(|place| (Reverse(size(*place)), *place));
    }
    let [source, target] = &places;
    let count = source.len().min(target.len());
    source.chunks(1).zip(target.chunks(1)).for_each(|(one, other)| each([one, other]));
    places.map(|side| side.into_iter().skip(count).collect())
}

/// What becomes a row.
#[derive(Default)]
struct RowSum {
    both: Both,
    /// Bytes of each category, where the kind that is shown has none.
    by_category: Vec<(Category, u64)>,
    /// Whether something is in it.
    has_any: bool,
    /// The size of the first kind that is in it.
    size: Option<u64>,
    /// Whether another one has another size.
    has_other_sizes: bool,
}

impl RowSum {
    fn add(&mut self, side: usize, thing: &Thing, has_category: bool) {
        self.both.add_to(side, thing.amount);
        let mut sums = self.by_category.iter_mut();
        match sums.find(|(category, _)| *category == thing.category) {
            _ if has_category => {}
            Some((_, sum)) => *sum = sum.saturating_add(thing.amount.bytes),
            None => self.by_category.push((thing.category, thing.amount.bytes)),
        }
        if !self.has_any {
            self.size = thing.kind.size;
            self.has_any = true;
        }
        self.has_other_sizes |= self.size != thing.kind.size;
    }

    /// The category with most bytes, the first of equals.
    fn category(&self) -> Option<Category> {
        let all = self.by_category.iter();
        all.max_by_key(|(category, bytes)| (*bytes, Reverse(*category))).map(|(of, _)| *of)
    }
}

/// A row of all sets that are matched by the same level and shown as the same.
fn rows(
    names: &mut SharedNames,
    alive: &[Vec<Thing>; 2],
    matching: &MatchRules,
) -> Vec<ComparedRow> {
    type Identity = (Option<usize>, [Option<ThingKind>; 2]);
    let mut sums: HashMap<Identity, RowSum> = HashMap::new();
    each_set(names, alive, matching, &mut |level, places| {
        let [source, target] = alive;
        let [of_source, of_target] = places;
        let kinds = [
            largest_kind(names, things_at(source, of_source)),
            largest_kind(names, things_at(target, of_target)),
        ];
        let [kind_of_source, kind_of_target] = kinds;
        let shown = kind_of_target.or(kind_of_source);
        let has_category = shown.is_some_and(|kind| kind.category.is_some());
        let sum = sums.entry((level, kinds)).or_default();
        things_at(source, of_source).for_each(|thing| sum.add(0, thing, has_category));
        things_at(target, of_target).for_each(|thing| sum.add(1, thing, has_category));
    });
    let row = |((level, kinds), sum): (Identity, RowSum)| {
        let [source, target] = kinds;
        let shown = target.or(source)?;
        let level = level.and_then(|level| matching.levels.get(level));
        let is_of_owner_alone = level.is_some_and(|level| level.is_of_owner_alone);
        Some(ComparedRow {
            path: if is_of_owner_alone { names.innermost(shown.path) } else { shown.path },
            kinds,
            category: shown.category.or_else(|| sum.category())?,
            size: sum.size.filter(|_| !sum.has_other_sizes),
            both: sum.both,
            matched_by: level.and_then(|level| level.by),
        })
    };
    let mut rows: Vec<ComparedRow> = sums.into_iter().filter_map(row).collect();
    let names = &*names;
    rows.sort_by(|a, b| {
        let owners = |row: &ComparedRow| names.owners(row.path);
        let details = |row: &ComparedRow| {
            row.kinds.map(|kind| kind.and_then(|kind| kind.detail).map(|text| names.text_of(text)))
        };
        b.both
            .rank()
            .cmp(&a.both.rank())
            .then_with(|| owners(a).cmp(owners(b)))
            .then_with(|| details(a).cmp(&details(b)))
            .then_with(|| {
                (a.size, a.category, a.matched_by).cmp(&(b.size, b.category, b.matched_by))
            })
            .then_with(|| a.kinds.cmp(&b.kinds))
    });
    rows
}

/// Things by their places.
fn things_at<'a>(
    things: &'a [Thing],
    places: &'a [u32],
) -> impl Iterator<Item = &'a Thing> + Clone {
    places.iter().filter_map(|place| things.get(*place as usize))
}

/// The kind that has most bytes; of equals the first by its path and size.
fn largest_kind<'a>(
    names: &SharedNames,
    things: impl Iterator<Item = &'a Thing> + Clone,
) -> Option<ThingKind> {
    let mut first = things.clone();
    let only = first.next().filter(|_| first.next().is_none());
    if let Some(thing) = only {
        return Some(thing.kind);
    }
    let mut sums: HashMap<ThingKind, u64> = HashMap::new();
    for thing in things {
        let sum = sums.entry(thing.kind).or_default();
        *sum = sum.saturating_add(thing.amount.bytes);
    }
    let order = |kind: &ThingKind| (names.order(kind.path), kind.size, *kind);
    let largest = sums
        .into_iter()
        .max_by(|(a, of_a), (b, of_b)| of_a.cmp(of_b).then_with(|| order(b).cmp(&order(a))));
    largest.map(|(kind, _)| kind)
}

fn by_category(alive: &[Vec<Thing>; 2]) -> Vec<(Category, Both)> {
    let mut sums: BTreeMap<Category, Both> = BTreeMap::new();
    for (side, things) in alive.iter().enumerate() {
        for thing in things {
            sums.entry(thing.category).or_default().add_to(side, thing.amount);
        }
    }
    sums.into_iter().collect()
}

/// By the innermost owner, and by category if that is asked for; the largest change first, of equals by name.
fn by_owner(names: &SharedNames, alive: &[Vec<Thing>; 2], is_by_category: bool) -> Vec<OwnerRow> {
    let mut sums: BTreeMap<(Option<&Owner>, Option<Category>), Both> = BTreeMap::new();
    for (side, things) in alive.iter().enumerate() {
        for thing in things {
            let category = is_by_category.then_some(thing.category);
            let key = (names.owner(thing.kind.path), category);
            sums.entry(key).or_default().add_to(side, thing.amount);
        }
    }
    let row = |((owner, category), both): ((Option<&Owner>, _), Both)| OwnerRow {
        owner: owner.cloned(),
        category,
        both,
    };
    let mut rows: Vec<OwnerRow> = sums.into_iter().map(row).collect();
    rows.sort_by_key(|row| Reverse(row.both.rank()));
    rows
}
