//! Finds containers that contain themselves. No snapshot has one, and nothing else would notice, because readers look
//! at fixed depths. Such a file is refused, because it is not a snapshot.

use std::collections::HashMap;

use super::objects::Objects;
use super::values::{Pickled, PyObject, Reference};

/// What can contain others: an object, or the contents of a tuple.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Container {
    Object(u32),
    Tuple(u32),
}

/// Whether a container that is reached from `root` is within itself.
pub(super) fn has_cycle(objects: &Objects, root: u32) -> bool {
    let search = CycleSearch { objects, ends: ends(objects) };
    // What is open has its children still to come; what is closed leads nowhere.
    let mut is_open: HashMap<Container, bool> = HashMap::new();
    let mut way = vec![(Container::Object(root), search.children(Container::Object(root)))];
    is_open.insert(Container::Object(root), true);
    while let Some((node, children)) = way.last_mut() {
        let Some(child) = children.pop() else {
            is_open.insert(*node, false);
            way.pop();
            continue;
        };
        match is_open.get(&child) {
            Some(true) => return true,
            Some(false) => {}
            None => {
                is_open.insert(child, true);
                way.push((child, search.children(child)));
            }
        }
    }
    false
}

/// For each short list, whether nothing in it contains anything: of stacks, all frames.
fn ends(objects: &Objects) -> Vec<bool> {
    let is_end = |item: &u32| match objects.value(Reference(*item)) {
        Pickled::Tuple(_) => false,
        Pickled::Object(object) => matches!(
            objects.kind(object),
            PyObject::Frame(_) | PyObject::Mark(_) | PyObject::EmptyDict | PyObject::EmptyList
        ),
        _ => true,
    };
    let rows = 0..u32::try_from(objects.short_lists()).unwrap_or(0);
    rows.map(|row| objects.short_items(row).iter().all(is_end)).collect()
}

struct CycleSearch<'a> {
    objects: &'a Objects,
    ends: Vec<bool>,
}

impl CycleSearch<'_> {
    fn children(&self, node: Container) -> Vec<Container> {
        let mut children = Vec::new();
        let objects = self.objects;
        let value = |item: &u32| objects.value(Reference(*item));
        match node {
            Container::Tuple(row) => {
                for item in objects.short_items(row) {
                    self.add(value(item), &mut children);
                }
            }
            Container::Object(object) => {
                let items = objects.items(object).unwrap_or_default();
                for item in items {
                    self.add(value(item), &mut children);
                }
                for (key, of_key) in objects.pairs(object) {
                    self.add(objects.value(*key), &mut children);
                    self.add(objects.value(*of_key), &mut children);
                }
                let parts = match objects.kind(object) {
                    PyObject::Event(row) => {
                        [objects.events.frames.get(row as usize).copied(), None]
                    }
                    PyObject::Segment(row) => {
                        let segment = objects.segments.get(row as usize);
                        segment.map_or([None; 2], |segment| [segment.blocks, segment.frames])
                    }
                    PyObject::Block(row) => {
                        let block = objects.blocks.get(row as usize);
                        block.map_or([None; 2], |block| [block.frames, block.history])
                    }
                    _ => [None; 2],
                };
                for part in parts.into_iter().flatten().filter(|part| *part < objects.len()) {
                    self.add(Pickled::Object(part), &mut children);
                }
            }
        }
        children
    }

    /// Adds what a value contains others in.
    fn add(&self, value: Pickled, to: &mut Vec<Container>) {
        let ends_here = |row: u32| self.ends.get(row as usize).copied().unwrap_or(true);
        let leads_on_from =
            |list: u32| self.objects.list_row(list).is_some_and(|row| !ends_here(row));
        match value {
            Pickled::Tuple(row) if !ends_here(row) => to.push(Container::Tuple(row)),
            Pickled::Object(object) => {
                let leads_on = match self.objects.kind(object) {
                    PyObject::EmptyDict
                    | PyObject::EmptyList
                    | PyObject::Frame(_)
                    | PyObject::Mark(_) => false,
                    PyObject::ShortList(_) | PyObject::KnownList(_) => leads_on_from(object),
                    // Most of what there is: an event leads on by its list of frames alone.
                    PyObject::Event(row) => {
                        let frames = self.objects.events.frames.get(row as usize);
                        let list = frames.filter(|list| **list < self.objects.len());
                        list.is_some_and(|list| match self.objects.kind(*list) {
                            PyObject::ShortList(_) | PyObject::KnownList(_) => leads_on_from(*list),
                            PyObject::EmptyList | PyObject::EmptyDict | PyObject::Frame(_) => false,
                            _ => true,
                        })
                    }
                    _ => true,
                };
                if leads_on {
                    to.push(Container::Object(object));
                }
            }
            _ => {}
        }
    }
}
