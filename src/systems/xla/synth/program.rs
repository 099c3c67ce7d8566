//! A program as XLA's compiler leaves it, while it is put together: computations, instructions in the order in which they
//! run, and the values that they make. Whoever adds an instruction says which values it holds, so that when a value
//! lives is known without looking at the program again.

use std::collections::HashMap;

use super::shape::{Array, HloShape, Scalar, XlaTarget};

#[derive(Debug)]
pub(super) struct DraftComputation {
    pub name: String,
    pub instructions: Vec<usize>,
    pub root: usize,
    /// Whether its instructions have places in the order: those of a fusion have none.
    pub is_scheduled: bool,
}

#[derive(Debug)]
pub(super) struct Instruction {
    pub computation: usize,
    pub name: String,
    pub opcode: &'static str,
    pub shape: HloShape,
    pub operands: Vec<usize>,
    pub called: Vec<usize>,
    /// Of a parameter its number, of `get-tuple-element` that of the element.
    pub number: u64,
    /// How the parts of a fusion are put together.
    pub fusion_kind: &'static str,
    pub origin: Origin,
}

/// From where in the user's program an instruction comes.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    /// The path of the operation; empty for none.
    pub path: String,
    /// The innermost frame of the source, from 1; 0 for none.
    pub frame: u32,
}

/// Where the memory of a group of values is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    Temporary,
    Parameter(u64),
    Output,
    Constant,
    ThreadLocal,
}

/// Something that an instruction makes, at a place of its shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct DraftValue {
    pub instruction: usize,
    /// The element of a tuple.
    pub element: Option<u64>,
    pub bytes: u64,
    /// Values of one group have one place in memory, one after the other.
    pub group: usize,
    /// The first and last position at which it lives; `None` of what has no place in the order.
    pub life: Option<(u32, u32)>,
}

/// An array that instructions can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArrayId {
    pub instruction: usize,
    pub value: usize,
}

/// A tuple that instructions can use: its table and its elements.
#[derive(Clone, Debug)]
pub(super) struct TupleHandle {
    instruction: usize,
    table: usize,
    elements: Vec<usize>,
}

/// An element that a loop carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub initial: ArrayId,
    /// Whether each turn makes it new, in the same memory.
    pub is_new: bool,
}

/// A loop whose body is being put together.
#[derive(Debug)]
pub(super) struct OpenLoop {
    carried: Vec<Carried>,
    origin: Origin,
    initial: TupleHandle,
    /// The group of the tables of its tuples.
    tables: usize,
    /// The computation that it is in.
    before: usize,
    /// Body and condition.
    called: [usize; 2],
}

/// What an operation makes, and where.
#[derive(Clone, Debug)]
pub(super) struct ArrayResult {
    pub array: Array,
    /// The group whose memory it takes over; a new one otherwise.
    pub into: Option<usize>,
}

impl From<Array> for ArrayResult {
    fn from(array: Array) -> Self {
        Self { array, into: None }
    }
}

#[derive(Debug)]
pub(super) struct DraftModule {
    pub platform: XlaTarget,
    pub computations: Vec<DraftComputation>,
    pub instructions: Vec<Instruction>,
    /// The instructions in the order in which they run, called computations in their place.
    pub order: Vec<usize>,
    pub values: Vec<DraftValue>,
    /// Where the memory of each group is.
    pub groups: Vec<Home>,
    pub entry: usize,
    /// The values that the program gives back.
    pub results: Vec<usize>,
    /// How many instructions have a name so far.
    names: HashMap<String, u32>,
    /// The computation that instructions are added to.
    open: usize,
}

impl DraftModule {
    pub fn new(platform: XlaTarget) -> Self {
        let mut program = Self {
            platform,
            computations: Vec::new(),
            instructions: Vec::new(),
            order: Vec::new(),
            values: Vec::new(),
            groups: Vec::new(),
            entry: 0,
            results: Vec::new(),
            names: HashMap::new(),
            open: 0,
        };
        program.computation("main", true);
        program
    }

    fn computation(&mut self, name: &str, is_scheduled: bool) -> usize {
        let name = self.numbered(name);
        self.computations.push(DraftComputation {
            name,
            instructions: Vec::new(),
            root: 0,
            is_scheduled,
        });
        self.computations.len() - 1
    }

    /// A name with the number of times that it was there before.
    fn numbered(&mut self, name: &str) -> String {
        match self.names.get_mut(name) {
            Some(count) => {
                *count += 1;
                format!("{name}.{count}")
            }
            None => {
                self.names.insert(name.to_owned(), 0);
                name.to_owned()
            }
        }
    }

    /// Adds an instruction without operands to the open computation; the last one is its root.
    fn push(&mut self, name: &str, opcode: &'static str, shape: HloShape, origin: Origin) -> usize {
        let name = self.numbered(name);
        let row = self.instructions.len();
        let computation = self.open;
        self.instructions.push(Instruction {
            computation,
            name,
            opcode,
            shape,
            operands: Vec::new(),
            called: Vec::new(),
            number: 0,
            fusion_kind: "",
            origin,
        });
        let of = &mut self.computations[computation];
        of.instructions.push(row);
        of.root = row;
        if of.is_scheduled {
            self.order.push(row);
        }
        row
    }

    /// The position of the instruction that was added last.
    fn now(&self) -> u32 {
        self.order.len() as u32 - 1
    }

    /// The position of the instruction that will be added next, with which the open computation ends if nothing is
    /// added to it.
    fn next(&self) -> u32 {
        self.order.len() as u32
    }

    pub fn new_group(&mut self, home: Home) -> usize {
        self.groups.push(home);
        self.groups.len() - 1
    }

    pub fn group_of(&self, handle: ArrayId) -> usize {
        self.values[handle.value].group
    }

    pub fn array_of(&self, handle: ArrayId) -> &Array {
        match &self.instructions[handle.instruction].shape {
            HloShape::Array(array) => array,
            HloShape::Tuple(_) => unreachable!("a handle is of an array"),
        }
    }

    /// A value that the last instruction makes.
    fn value(&mut self, element: Option<u64>, group: usize) -> usize {
        let instruction = self.instructions.len() - 1;
        let of = &self.instructions[instruction];
        let bytes = match (&of.shape, element) {
            (HloShape::Tuple(elements), Some(element)) => {
                self.platform.array_bytes(&elements[element as usize])
            }
            (shape, _) => shape.bytes(self.platform),
        };
        let is_scheduled = self.computations[of.computation].is_scheduled;
        let life = is_scheduled.then(|| (self.now(), self.now()));
        self.values.push(DraftValue { instruction, element, bytes, group, life });
        self.values.len() - 1
    }

    /// Lets a value live until a position at least.
    fn until(&mut self, value: usize, position: u32) {
        if let Some((_, last)) = &mut self.values[value].life {
            *last = position.max(*last);
        }
    }

    fn use_all(&mut self, operands: &[ArrayId]) {
        let now = self.now();
        for one in operands {
            self.until(one.value, now);
        }
        let rows = operands.iter().map(|one| one.instruction).collect();
        if let Some(last) = self.instructions.last_mut() {
            last.operands = rows;
        }
    }

    /// A parameter of the program, in memory of its own.
    pub fn parameter(&mut self, name: &str, number: u64, array: Array, path: String) -> ArrayId {
        let origin = Origin { path, frame: 0 };
        let instruction = self.push(name, "parameter", HloShape::Array(array), origin);
        self.instructions[instruction].number = number;
        let group = self.new_group(Home::Parameter(number));
        let value = self.value(None, group);
        if let Some((first, _)) = &mut self.values[value].life {
            *first = 0;
        }
        ArrayId { instruction, value }
    }

    /// Keeps a parameter as it is until the program ends.
    pub fn keep(&mut self, parameter: ArrayId) {
        let end = self.next();
        self.until(parameter.value, end);
    }

    /// A constant, in memory of its own.
    pub fn constant(&mut self, array: Array) -> ArrayId {
        let group = self.new_group(Home::Constant);
        self.instruction(
            ("constant", "constant"),
            &[],
            ArrayResult { array, into: Some(group) },
            Origin::default(),
        )
    }

    /// An instruction that makes an array, by its name and what it does.
    pub fn instruction(
        &mut self,
        (name, opcode): (&str, &'static str),
        operands: &[ArrayId],
        made: impl Into<ArrayResult>,
        origin: Origin,
    ) -> ArrayId {
        let ArrayResult { array, into } = made.into();
        let instruction = self.push(name, opcode, HloShape::Array(array), origin);
        self.use_all(operands);
        let group = into.unwrap_or_else(|| self.new_group(Home::Temporary));
        ArrayId { instruction, value: self.value(None, group) }
    }

    /// A fusion of operations one after the other that makes an array; it is called after the last of them.
    pub fn fusion(
        &mut self,
        kind: &'static str,
        parts: &[&'static str],
        operands: &[ArrayId],
        made: impl Into<ArrayResult>,
        origin: Origin,
    ) -> ArrayId {
        let made = made.into();
        let called = self.fused(parts, operands, &HloShape::Array(made.array.clone()), &origin);
        let name = format!("{}_fusion", parts.last().unwrap_or(&"").replace('-', "_"));
        let handle = self.instruction((&name, "fusion"), operands, made, origin);
        let fusion = &mut self.instructions[handle.instruction];
        (fusion.called, fusion.fusion_kind) = (vec![called], kind);
        handle
    }

    /// A fusion that makes several arrays.
    pub fn fusion_of_several(
        &mut self,
        parts: &[&'static str],
        operands: &[ArrayId],
        made: Vec<ArrayResult>,
        origin: Origin,
    ) -> TupleHandle {
        let shape = HloShape::Tuple(made.iter().map(|one| one.array.clone()).collect());
        let called = self.fused(parts, operands, &shape, &origin);
        let tuple = self.several(("fusion", "fusion"), operands, made, origin);
        let fusion = &mut self.instructions[tuple.instruction];
        (fusion.called, fusion.fusion_kind) = (vec![called], "kLoop");
        tuple
    }

    /// An instruction that makes several arrays, by its name and what it does.
    pub fn several(
        &mut self,
        (name, opcode): (&str, &'static str),
        operands: &[ArrayId],
        made: Vec<ArrayResult>,
        origin: Origin,
    ) -> TupleHandle {
        let shape = HloShape::Tuple(made.iter().map(|one| one.array.clone()).collect());
        let instruction = self.push(name, opcode, shape, origin);
        self.use_all(operands);
        let group = self.new_group(Home::Temporary);
        let table = self.value(None, group);
        let elements = (0..).zip(made).map(|(element, made)| {
            let group = made.into.unwrap_or_else(|| self.new_group(Home::Temporary));
            self.value(Some(element), group)
        });
        TupleHandle { instruction, table, elements: elements.collect() }
    }

    /// The computation of a fusion: parameters, and the parts one after the other.
    fn fused(
        &mut self,
        parts: &[&'static str],
        operands: &[ArrayId],
        shape: &HloShape,
        origin: &Origin,
    ) -> usize {
        let before = self.open;
        self.open = self.computation("fused_computation", false);
        let parameters: Vec<usize> = (0..)
            .zip(operands)
            .map(|(number, operand)| {
                let array = self.array_of(*operand).clone();
                let name = format!("param_{number}");
                let row = self.push(&name, "parameter", HloShape::Array(array), Origin::default());
                self.instructions[row].number = number;
                row
            })
            .collect();
        let mut last = parameters;
        for part in parts {
            let row = self.push(part, part, shape.clone(), origin.clone());
            self.instructions[row].operands = std::mem::replace(&mut last, vec![row]);
        }
        std::mem::replace(&mut self.open, before)
    }

    /// The computation with which sums are made, of which each call has scratch memory.
    pub fn reducer(&mut self) {
        let before = self.open;
        self.open = self.computation("region_0", false);
        let scalar = || HloShape::Array(Array::scalar(Scalar::Single));
        let mut rows = Vec::new();
        for (name, opcode) in
            [("reduce_sum", "parameter"), ("reduce_sum", "parameter"), ("add", "add")]
        {
            let row = self.push(name, opcode, scalar(), Origin::default());
            let group = self.new_group(Home::ThreadLocal);
            self.value(None, group);
            if opcode == "parameter" {
                self.instructions[row].number = rows.len() as u64;
                rows.push(row);
            } else {
                self.instructions[row].operands = std::mem::take(&mut rows);
            }
        }
        self.open = before;
    }

    /// An element of a tuple, which stays where it is.
    pub fn element(&mut self, tuple: &TupleHandle, number: usize) -> ArrayId {
        let HloShape::Tuple(arrays) = &self.instructions[tuple.instruction].shape else {
            unreachable!("a tuple handle is of a tuple")
        };
        let array = arrays[number].clone();
        let origin = self.instructions[tuple.instruction].origin.clone();
        let name = ("get-tuple-element", "get-tuple-element");
        let instruction = self.push(name.0, name.1, HloShape::Array(array), origin);
        let of = &mut self.instructions[instruction];
        (of.operands, of.number) = (vec![tuple.instruction], number as u64);
        let (now, value) = (self.now(), tuple.elements[number]);
        self.until(tuple.table, now);
        self.until(value, now);
        ArrayId { instruction, value }
    }

    /// Puts arrays together; they stay where they are.
    fn tuple(&mut self, elements: &[ArrayId], table: usize) -> TupleHandle {
        let arrays = elements.iter().map(|one| self.array_of(*one).clone()).collect();
        let instruction = self.push("tuple", "tuple", HloShape::Tuple(arrays), Origin::default());
        self.use_all(elements);
        let table = self.value(None, table);
        TupleHandle { instruction, table, elements: elements.iter().map(|one| one.value).collect() }
    }

    /// Lets everything of a tuple live until a position at least.
    fn tuple_until(&mut self, tuple: &TupleHandle, position: u32) {
        self.until(tuple.table, position);
        tuple.elements.iter().for_each(|value| self.until(*value, position));
    }

    /// A tuple that comes into a computation, or out of a loop: elements that each turn makes new are values of its own.
    fn carried(
        &mut self,
        (name, opcode): (&str, &'static str),
        initial: &TupleHandle,
        carried: &[Carried],
        origin: Origin,
    ) -> TupleHandle {
        let shape = self.instructions[initial.instruction].shape.clone();
        let instruction = self.push(name, opcode, shape, origin);
        let now = self.now();
        let table = self.value(None, self.values[initial.table].group);
        let mut elements = Vec::with_capacity(carried.len());
        for (number, (value, one)) in (0..).zip(initial.elements.iter().zip(carried)) {
            elements.push(if one.is_new {
                self.value(Some(number), self.values[*value].group)
            } else {
                self.until(*value, now);
                *value
            });
        }
        TupleHandle { instruction, table, elements }
    }

    /// Begins a loop: its elements, the first of which counts the turns, as the body has them.
    pub fn begin_loop(
        &mut self,
        carried: Vec<Carried>,
        origin: Origin,
    ) -> (OpenLoop, Vec<ArrayId>) {
        let initial: Vec<ArrayId> = carried.iter().map(|one| one.initial).collect();
        let tables = self.new_group(Home::Temporary);
        let initial = self.tuple(&initial, tables);
        let before = self.open;

        let condition = self.computation("condition", true);
        self.open = condition;
        let tuple = self.carried(("arg_tuple", "parameter"), &initial, &carried, Origin::default());
        let limit = self.constant(Array::scalar(Scalar::Int));
        let turn = self.element(&tuple, 0);
        let path = format!("{}/cond/lt", origin.path);
        let is_on = self.instruction(
            ("compare", "compare"),
            &[turn, limit],
            Array::scalar(Scalar::Bool),
            Origin { path, ..origin },
        );
        let end = self.next();
        self.until(is_on.value, end);

        let body = self.computation("body", true);
        self.open = body;
        let tuple = self.carried(("arg_tuple", "parameter"), &initial, &carried, Origin::default());
        // A loop uses what it begins with where its body begins.
        let now = self.now();
        self.tuple_until(&initial, now);
        let elements = (0..carried.len()).map(|number| self.element(&tuple, number)).collect();
        (OpenLoop { carried, origin, initial, tables, before, called: [body, condition] }, elements)
    }

    /// Ends a loop with what a turn makes of its elements: those that are new are in the memory of the old ones.
    pub fn end_loop(&mut self, open: OpenLoop, new: &[ArrayId]) -> TupleHandle {
        let result = self.tuple(new, open.tables);
        let end = self.next();
        self.tuple_until(&result, end);
        self.open = open.before;
        let result = self.carried(("while", "while"), &open.initial, &open.carried, open.origin);
        let of = &mut self.instructions[result.instruction];
        (of.operands, of.called) = (vec![open.initial.instruction], open.called.to_vec());
        result
    }

    /// Ends the program with its results.
    pub fn finish(&mut self, results: &[ArrayId]) {
        let group = self.new_group(Home::Output);
        let tuple = self.tuple(results, group);
        let end = self.next();
        self.tuple_until(&tuple, end);
        self.results = tuple.elements;
    }

    /// Whether a value is the table of a tuple.
    pub fn is_table(&self, row: usize) -> bool {
        let value = &self.values[row];
        value.element.is_none() && self.instructions[value.instruction].shape.is_tuple()
    }
}
