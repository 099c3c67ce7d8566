//! Small modules made by hand, for tests.

use crate::store::hlo::{
    AllocationKind, Assigned, BufferAllocation, Computation, ElementType, HloModule, HloValue,
    InstructionId, NO_ROW, ShapeId, ValueId,
};
use crate::store::names::NameId;

/// A module that grows: computations one after the other, the entry last.
#[derive(Default)]
pub struct HandMade {
    pub module: HloModule,
    first: u32,
}

/// An instruction of single precision.
#[derive(Clone, Default)]
pub struct InstructionParts<'a> {
    pub opcode: &'a str,
    pub path: &'a str,
    pub dimensions: &'a [i64],
    pub operands: &'a [u32],
    pub called: &'a [u32],
    /// Of a parameter and of an element of a tuple.
    pub number: u32,
    /// The instructions whose shapes are the elements of the tuple that it makes.
    pub elements: &'a [u32],
}

impl HandMade {
    /// Adds an instruction to the computation that is open.
    pub fn add(&mut self, made: &InstructionParts<'_>) -> u32 {
        let module = &mut self.module;
        let row = module.instructions.len() as u32;
        let shape = if made.elements.is_empty() {
            leaf(module, made.dimensions)
        } else {
            let tuple = module.shapes.open(ElementType::TUPLE, &[]);
            let dimensions = |one: &u32| {
                let shape = module.instructions.shape(InstructionId(*one));
                module.shapes.dimensions(shape).to_vec()
            };
            let all: Vec<Vec<i64>> = made.elements.iter().map(dimensions).collect();
            let elements: Vec<ShapeId> = all.iter().map(|one| leaf(module, one)).collect();
            module.shapes.close(tuple, &elements);
            tuple
        };
        let name = module.texts.push(&format!("{}.{row}", made.opcode));
        let opcode = module.texts.push(made.opcode);
        let path = match made.path {
            "" => NameId::NONE,
            path => module.texts.push(path),
        };
        let columns = &mut module.instructions;
        columns.names.push(name);
        columns.opcodes.push(opcode);
        columns.shapes.push(shape);
        columns.op_names.push(path);
        columns.sources.push((NameId::NONE, 0));
        columns.numbers.push(made.number);
        columns.operands.push(made.operands.iter().copied());
        columns.called.push(made.called.iter().copied());
        row
    }

    /// Ends a computation: its last instruction is its result. Returns its row.
    pub fn computation(&mut self) -> u32 {
        let end = self.module.instructions.len() as u32;
        let row = self.module.computations.len() as u32;
        self.module.computations.push(Computation {
            name: NameId::NONE,
            instructions: self.first..end,
            root: InstructionId(end - 1),
            sequence: (self.first..end).map(InstructionId).collect(),
        });
        self.module.entry = Some(row);
        self.first = end;
        row
    }

    /// A value of an instruction that makes an array, in a temporary allocation behind those before it.
    pub fn value(&mut self, instruction: u32) -> ValueId {
        let module = &mut self.module;
        let row = module.values.len() as u32;
        let id = InstructionId(instruction);
        let bytes = module.shapes.unpadded_bytes(module.instructions.shape(id)).expect("an array");
        module.values.push(HloValue { id: row.into(), bytes, instruction: id, place: 0 });
        let offset = module.allocations.first().map_or(0, |one| one.bytes);
        match module.allocations.first_mut() {
            Some(one) => one.bytes += bytes,
            None => module.allocations.push(BufferAllocation {
                number: 0,
                bytes,
                kind: AllocationKind::Temporary,
                is_live_out: false,
                color: 0,
                parameter: None,
            }),
        }
        module.assigned.push(Assigned { allocation: 0, value: ValueId(row), offset, bytes });
        ValueId(row)
    }

    /// Lets a value share the memory of another.
    pub fn share(&mut self, one: ValueId, other: ValueId) {
        self.module.aliases.push((one, other));
        let place = |value: ValueId| move |assigned: &&mut Assigned| assigned.value == value;
        let offset = self.module.assigned.iter().find(|at| at.value == one).map(|at| at.offset);
        if let (Some(at), Some(offset)) =
            (self.module.assigned.iter_mut().find(place(other)), offset)
        {
            at.offset = offset;
        }
    }
}

fn leaf(module: &mut HloModule, dimensions: &[i64]) -> ShapeId {
    let shape = module.shapes.open(ElementType::named("f32").expect("known"), dimensions);
    module.shapes.close(shape, &[]);
    shape
}

/// An instruction of which no more is known.
fn of<'a>(opcode: &'a str, operands: &'a [u32]) -> InstructionParts<'a> {
    InstructionParts { opcode, operands, number: NO_ROW, ..InstructionParts::default() }
}

/// What a loop over six layers keeps for the backward pass, and the values of it.
pub struct Scanned {
    pub module: HloModule,
    /// Zeros, before the loop fills them.
    pub zeros: ValueId,
    /// The same memory with a layer more.
    pub stack: ValueId,
    /// What makes a layer of the stack.
    pub maker: InstructionId,
    /// What the loop hands on.
    pub carried: ValueId,
}

/// A loop over layers: each makes `sin`, four times as wide as its input, which the backward pass reads as a stack, and hands
/// on `tanh`.
pub fn scanned(width: i64) -> Scanned {
    const BODY: &str = "jit(f)/jvp()/while/body/closed_call";
    let mut made = HandMade::default();
    let one = [width];
    let [kept, all] = [[1, 4 * width], [6, 4 * width]];
    // Shapes of what the loop carries, which a tuple takes from instructions.
    let shapes = [
        made.add(&InstructionParts { dimensions: &one, ..of("constant", &[]) }),
        made.add(&InstructionParts { dimensions: &all, ..of("constant", &[]) }),
    ];
    made.computation();
    let parameter =
        made.add(&InstructionParts { elements: &shapes, number: 0, ..of("parameter", &[]) });
    let input = made.add(&InstructionParts {
        dimensions: &one,
        number: 0,
        ..of("get-tuple-element", &[parameter])
    });
    let before = made.add(&InstructionParts {
        dimensions: &all,
        number: 1,
        ..of("get-tuple-element", &[parameter])
    });
    let path = |operation: &str| format!("{BODY}/{operation}");
    let sin = made.add(&InstructionParts {
        path: &path("mlp/sin"),
        dimensions: &kept,
        ..of("sine", &[input])
    });
    let layer = made.add(&InstructionParts {
        path: &path("broadcast_in_dim"),
        dimensions: &kept,
        ..of("reshape", &[sin])
    });
    let update = made.add(&InstructionParts {
        path: "jit(f)/jvp()/while/body/dynamic_update_slice",
        dimensions: &all,
        ..of("dynamic-update-slice", &[before, layer])
    });
    let tanh = made.add(&InstructionParts {
        path: &path("mlp/tanh"),
        dimensions: &one,
        ..of("tanh", &[input])
    });
    made.add(&InstructionParts { elements: &shapes, ..of("tuple", &[tanh, update]) });
    let body = made.computation();
    let condition_of =
        made.add(&InstructionParts { elements: &shapes, number: 0, ..of("parameter", &[]) });
    made.add(&InstructionParts { dimensions: &[], ..of("compare", &[condition_of]) });
    let condition = made.computation();
    let x = made.add(&InstructionParts {
        path: "x",
        dimensions: &one,
        number: 0,
        ..of("parameter", &[])
    });
    let start = made.add(&InstructionParts {
        path: "jit(f)/mul",
        dimensions: &one,
        ..of("multiply", &[x])
    });
    let zeros = made.add(&InstructionParts {
        path: "jit(f)/jvp()/broadcast_in_dim",
        dimensions: &all,
        ..of("broadcast", &[])
    });
    let given = made.add(&InstructionParts { elements: &shapes, ..of("tuple", &[start, zeros]) });
    let run = made.add(&InstructionParts {
        path: "jit(f)/jvp()/while",
        elements: &shapes,
        called: &[body, condition],
        ..of("while", &[given])
    });
    let filled = made.add(&InstructionParts {
        dimensions: &all,
        number: 1,
        ..of("get-tuple-element", &[run])
    });
    made.add(&InstructionParts {
        path: "jit(f)/transpose(jvp())/mul",
        dimensions: &one,
        ..of("multiply", &[filled])
    });
    made.computation();
    let [start, zeros, carried, stack] =
        [start, zeros, tanh, update].map(|instruction| made.value(instruction));
    made.share(start, carried);
    made.share(zeros, stack);
    Scanned { module: made.module, zeros, stack, maker: InstructionId(sin), carried }
}
