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
    /// The place of the category, where things of one kind have one.
    pub category: Option<u8>,
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
        let mut sums = RowSums::default();
        each_set(&names, alive, matching, |level, places| {
            let things = |side: usize, places: &[usize]| {
                let all = alive.get(side);
                places.iter().filter_map(|place| all?.get(*place).copied()).collect()
            };
            let [source, target] = places;
            sums.add(&names, level, &[things(0, source), things(1, target)]);
        });
        let rows = rows(&mut names, sums, matching);
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

/// Gives the things that are matched, by their places among those of their side, with the place of the level; of what is
/// not matched, one side is empty.
fn each_set(
    names: &SharedNames,
    alive: &[Vec<Thing>; 2],
    matching: &MatchRules,
    mut take: impl FnMut(Option<usize>, [&[usize]; 2]),
) {
    let mut left = alive.each_ref().map(|things| (0..things.len()).collect::<Vec<_>>());
    for (level, rule) in matching.levels.iter().enumerate() {
        let mut keyed: Vec<(MatchKey, usize, usize)> = Vec::new();
        for (side, (places, things)) in left.iter_mut().zip(alive).enumerate() {
            places.retain(|&place| {
                let key = things.get(place).and_then(|thing| (rule.key)(names, thing));
                keyed.extend(key.map(|key| (key, side, place)));
                key.is_none()
            });
        }
        keyed.sort_unstable();
        let mut places: [Vec<usize>; 2] = Default::default();
        for set in keyed.chunk_by(|one, other| one.0 == other.0) {
            let middle = set.partition_point(|(_, side, _)| *side == 0);
            let sides = <[_; 2]>::from(set.split_at(middle));
            for (places, side) in places.iter_mut().zip(sides) {
                places.clear();
                places.extend(side.iter().map(|(.., place)| *place));
            }
            let rest = if matching.is_one_to_one {
                pair(alive, &mut places, |pair| take(Some(level), pair))
            } else if places.iter().all(|side| !side.is_empty()) {
                take(Some(level), places.each_ref().map(Vec::as_slice));
                continue;
            } else {
                0
            };
            for (left, places) in left.iter_mut().zip(&places) {
                left.extend_from_slice(places.get(rest..).unwrap_or_default());
            }
        }
    }
    let [source, target] = left;
    for place in source {
        take(None, [&[place], &[]]);
    }
    for place in target {
        take(None, [&[], &[place]]);
    }
}

/// Pairs one with one, the largest first, of equals the first; gives back how many pairs there are.
fn pair(
    alive: &[Vec<Thing>; 2],
    places: &mut [Vec<usize>; 2],
    mut take: impl FnMut([&[usize]; 2]),
) -> usize {
    for (places, things) in places.iter_mut().zip(alive) {
        // The places break ties, alike whichever run is the source.
        places.sort_by_key(|&place| {
            let size = things.get(place).map(|thing| (thing.size, thing.amount.bytes));
            (Reverse(size), place)
        });
    }
    let [source, target] = &*places;
    for (source, target) in source.iter().zip(target) {
        take([&[*source], &[*target]]);
    }
    source.len().min(target.len())
}

/// What becomes a row.
#[derive(Default)]
struct RowSum {
    both: Both,
    /// Bytes by category; most rows have one.
    by_category: Vec<(Category, u64)>,
    /// Whether something is in it.
    has_any: bool,
    /// The size of the first kind that is in it.
    size: Option<u64>,
    /// Whether another one has another size.
    has_other_sizes: bool,
}

impl RowSum {
    fn add(&mut self, side: usize, thing: &Thing) {
        self.both.add_to(side, thing.amount);
        let bytes = thing.amount.bytes;
        let mut known = self.by_category.iter_mut();
        if let Some((_, sum)) = known.find(|(category, _)| *category == thing.category) {
            *sum = sum.saturating_add(bytes);
        } else {
            self.by_category.reserve_exact(1);
            self.by_category.push((thing.category, bytes));
        }
        if !self.has_any {
            self.size = thing.kind.size;
            self.has_any = true;
        }
        self.has_other_sizes |= self.size != thing.kind.size;
    }

    /// The category with most bytes, the first of equals; or that of a place.
    fn category(&self, place: Option<u8>) -> Option<Category> {
        let is_it = |category: &Category| place.is_none_or(|place| category.place == place);
        let all = self.by_category.iter().filter(|(category, _)| is_it(category));
        let most = all.max_by_key(|(category, bytes)| (*bytes, Reverse(*category)));
        most.map(|(category, _)| *category)
    }
}

/// By which level things are matched, and what they are shown as on each side: what has this in common is one row.
type RowIdentity = (Option<usize>, [Option<ThingKind>; 2]);

#[derive(Default)]
struct RowSums(HashMap<RowIdentity, RowSum>);

impl RowSums {
    fn add(&mut self, names: &SharedNames, level: Option<usize>, things: &[Vec<Thing>; 2]) {
        let kinds = things.each_ref().map(|things| largest_kind(names, things));
        let sum = self.0.entry((level, kinds)).or_default();
        for (side, things) in things.iter().enumerate() {
            for thing in things {
                sum.add(side, thing);
            }
        }
    }
}

/// A row of all sets that are matched by the same level and shown as the same.
fn rows(names: &mut SharedNames, sums: RowSums, matching: &MatchRules) -> Vec<ComparedRow> {
    let row = |((level, kinds), sum): (RowIdentity, RowSum)| {
        let [source, target] = kinds;
        let shown = target.or(source)?;
        let level = level.and_then(|level| matching.levels.get(level));
        let is_of_owner_alone = level.is_some_and(|level| level.is_of_owner_alone);
        Some(ComparedRow {
            path: if is_of_owner_alone { names.innermost(shown.path) } else { shown.path },
            kinds,
            category: sum.category(shown.category)?,
            size: sum.size.filter(|_| !sum.has_other_sizes),
            both: sum.both,
            matched_by: level.and_then(|level| level.by),
        })
    };
    let mut rows = Vec::with_capacity(sums.0.len());
    rows.extend(sums.0.into_iter().filter_map(row));
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

/// The kind that has most bytes; of equals the first by its path and size.
fn largest_kind(names: &SharedNames, things: &[Thing]) -> Option<ThingKind> {
    if let [thing] = things {
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
