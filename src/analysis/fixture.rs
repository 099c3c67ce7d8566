//! Parts of small reports for tests.

use std::ops::Range;

use crate::store::debug_info::{Context, DebugInfo, Layers, TextRef};
use crate::store::ids::CategoryId;
use crate::store::liveness::{Classes, Liveness, TileVariableBytes, VariableBytes};
use crate::store::memory::{CategoryMemory, TileMemory};
use crate::store::names::{Interner, Names};
use crate::store::options::SideFact;
use crate::store::placed::{Placed, Placement};
use crate::store::program::Steps;
use crate::store::report::Categories;
use crate::store::variable::{LoweredVariables, VariableFlags};
use crate::store::{ClassId, Report, StepId, TileId, UnloweredId};

/// Contexts 1, 2, 3 … without parents, of a kind and name: each a PopLibs call or, without a kind,
/// Poplar's own.
pub fn contexts<'a>(list: impl IntoIterator<Item = (&'a str, &'a str)>) -> DebugInfo {
    let layer = |kind: &str| if kind.is_empty() { "poplar" } else { "poplibs" };
    contexts_of_layers(list.into_iter().map(|(kind, name)| (layer(kind), kind, name)))
}

/// The same with the layer of each.
pub fn contexts_of_layers<'a>(
    list: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
) -> DebugInfo {
    let (mut words, mut debug) = (Interner::default(), DebugInfo::default());
    for (id, (layer, kind, name)) in (1..).zip(list) {
        let context = Context {
            layer: Some(words.intern(layer)),
            kind: (!kind.is_empty()).then(|| words.intern(kind)),
            name: TextRef(debug.texts.push(name).0),
            ..Context::of(id)
        };
        debug.push(context);
    }
    debug.words = words.into_names();
    let titles = [("onnx", "ONNX"), ("poplibs", "PopLibs")];
    debug.known_layers = Layers {
        titles: titles.map(|(name, title)| (name.to_owned(), title.to_owned())).to_vec(),
        calls: titles[1].0.to_owned(),
        machine: "poplar".to_owned(),
    };
    debug
}

/// Facts of a side file, each with its path.
pub fn side_facts(facts: &[(&str, &str)]) -> Vec<SideFact> {
    let fact = |(path, value): &(&str, &str)| SideFact {
        path: (*path).to_owned(),
        value: (*value).to_owned(),
    };
    facts.iter().map(fact).collect()
}

/// Steps 0, 1, 2 … without programs.
pub fn steps(count: u32) -> Steps {
    let mut steps = Steps::default();
    (0..count).for_each(|step| assert!(steps.ids.push(StepId(step))));
    steps
}

/// Classes from a number on, each with the steps at which it lives; the first of them always lives.
pub fn classes<R: IntoIterator<Item = Range<u32>>>(
    first: u32,
    list: impl IntoIterator<Item = R>,
) -> Classes {
    let mut classes = Classes::default();
    for (id, ranges) in (first..).zip(list) {
        assert!(classes.push(ClassId(id), id == first, ranges));
    }
    classes
}

/// Names variables 0, 1, 2 … before lowering.
pub fn name_variables(liveness: &mut Liveness, names: &[&str]) {
    for (id, name) in (0..).zip(names) {
        assert!(liveness.variable_ids.push(UnloweredId(id)));
        liveness.variable_names.push(name);
    }
}

/// Variable, class and bytes.
pub fn variable_bytes((variable, class, bytes): (u32, u32, u64)) -> VariableBytes {
    VariableBytes { variable: UnloweredId(variable), class: ClassId(class), bytes }
}

/// The bytes on tiles 0, 1, 2 …, by variable and class.
pub fn tile_variable_bytes<R: IntoIterator<Item = (u32, u32, u32)>>(
    tiles: impl IntoIterator<Item = R>,
) -> TileVariableBytes {
    let mut table = TileVariableBytes::default();
    for (tile, rows) in (0..).zip(tiles) {
        let start = table.len();
        for (variable, class, bytes) in rows {
            table.variables.push(UnloweredId(variable));
            table.classes.push(ClassId(class));
            table.bytes.push(bytes);
        }
        assert!(table.tiles.push(TileId(tile)));
        table.rows.push(start..table.len());
    }
    table
}

/// Categories from a number on.
pub fn categories(first: u32, names: &[&str]) -> Categories {
    let mut categories = Categories::default();
    for (id, name) in (first..).zip(names) {
        assert!(categories.ids.push(CategoryId(id)));
        categories.names.push(name);
    }
    categories
}

/// Tiles with their bytes, gaps included.
pub fn memory(tiles: impl IntoIterator<Item = (u32, Option<u64>)>) -> TileMemory {
    let mut memory = TileMemory::default();
    for (tile, bytes) in tiles {
        assert!(memory.tiles.push(TileId(tile)));
        memory.including_gaps.push(bytes);
    }
    memory
}

/// A category of which all bytes are in the first region; of each tile those that are not overlapped and
/// those that are.
pub fn category(name: &str, not_overlapped: &[u64], overlapped: &[u64]) -> CategoryMemory {
    let regions = |bytes: &[u64]| {
        let zeros = || Some(vec![0; bytes.len()]);
        [Some(bytes.to_vec()), zeros(), zeros()]
    };
    CategoryMemory {
        name: name.to_owned(),
        not_overlapped: regions(not_overlapped),
        overlapped: regions(overlapped),
    }
}

/// A placement that takes memory, without a category.
pub fn placement(offset: u64, bytes: u64, class: u32) -> Placement {
    Placement {
        id: 0,
        offset,
        bytes,
        alignment: 4,
        category: None,
        class: ClassId(class),
        unlowered: None,
        flags: VariableFlags(1),
    }
}

/// An arena with these, without names and constraints.
pub fn placed(placements: impl IntoIterator<Item = Placement>) -> Placed {
    Placed::new(placements.into_iter().collect(), Names::default(), Vec::new(), Vec::new())
}

/// A lowered variable.
#[derive(Clone, Copy, Debug)]
pub struct Lowered {
    pub offset: u32,
    pub bytes: u32,
    pub class: u32,
    pub unlowered: UnloweredId,
    pub category: u8,
    pub flags: u16,
}

impl Lowered {
    /// One that takes memory and was lowered from nothing.
    pub fn new(offset: u32, bytes: u32, class: u32, category: u8) -> Self {
        let unlowered = LoweredVariables::NO_UNLOWERED;
        Self { offset, bytes, class, unlowered, category, flags: 1 }
    }
}

/// The lowered variables of tiles.
pub fn lowered<R: IntoIterator<Item = Lowered>>(
    tiles: impl IntoIterator<Item = (u32, R)>,
) -> LoweredVariables {
    let mut all = LoweredVariables::default();
    for (tile, variables) in tiles {
        let start = all.len() as u32;
        for variable in variables {
            all.offsets.push(variable.offset);
            all.bytes.push(variable.bytes);
            all.classes.push(ClassId(variable.class));
            all.unlowered.push(variable.unlowered);
            all.categories.push(variable.category);
            all.flags.push(VariableFlags(variable.flags));
        }
        assert!(all.tiles.push(TileId(tile)));
        all.rows.push(start..all.len() as u32);
    }
    all
}

/// A report of some steps whose classes 1, 2 … live at these, the first of them always.
pub fn report_of_lives(count: u32, lives: &[Vec<Range<u32>>]) -> Report {
    let report = Report::default();
    report.steps.fill(Some(steps(count)));
    let classes = classes(1, lives.iter().cloned());
    report.liveness.fill(Some(Liveness { classes, ..Liveness::default() }));
    report
}
