//! Who makes a value: what a loop stacks belongs to the operation that makes each layer of it, not to the loop.
//!
//! A loop over layers keeps what the backward pass needs in one value for all of them, which a `dynamic-update-slice`
//! fills layer by layer. Copies, conversions without a name of their own, calls, fusions and asynchronous parts lead on to
//! what they are given.

use std::collections::{BTreeMap, HashMap};

use super::held_values::{HeldValues, source};
use super::schedule::Schedule;
use crate::store::hlo::{HloModule, HloValue, InstructionId, ValueId};

/// Steps from a value to its maker, at most.
const MOST: usize = 128;

/// The last parts of paths that name no operation but what it is written in, or what a loop does with its result.
const AROUND: [&str; 8] = [
    "while",
    "body",
    "cond",
    "closed_call",
    "eval_jaxpr",
    "checkpoint",
    "scan",
    "dynamic_update_slice",
];

/// What a loop fills layer by layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The instruction that puts a layer into it.
    pub update: InstructionId,
    /// The one that makes the layer.
    pub maker: InstructionId,
    /// Number of layers.
    pub layers: u64,
}

/// An instruction and a place of its shape.
type HeldPlace = (InstructionId, u32);

/// The makers of the values of a module.
#[derive(Clone, Debug, Default)]
pub struct Makers {
    /// By the value's row; [`InstructionId::NONE`] where nothing is known.
    of_values: Vec<InstructionId>,
    /// What loops fill, by the value that stands for the group of those that share its memory.
    pub stacks: BTreeMap<u32, Stack>,
    /// Whether the instructions of a computation run in a loop, by its row.
    is_looped: Vec<bool>,
}

impl Makers {
    /// Of all values.
    pub fn of(
        module: &HloModule,
        schedule: &Schedule,
        held: &HeldValues,
        alias_groups: &[u32],
    ) -> Self {
        let is_looped = looped(module, schedule);
        let way = Way { module, schedule, held, is_looped: &is_looped };
        let mut stacks: BTreeMap<u32, Stack> = BTreeMap::new();
        // Where its instruction says nothing, as what loops carry: the first that says it of those that share its memory.
        let mut of_groups: HashMap<u32, InstructionId> = HashMap::new();
        for (value, group) in module.values.iter().zip(alias_groups) {
            if let Some(stack) = way.stack((value.instruction, value.place)) {
                stacks.entry(*group).or_insert(stack);
            }
            if way.is_named(value.instruction) {
                of_groups.entry(*group).or_insert(value.instruction);
            }
        }
        let maker = |(value, group): (&HloValue, &u32)| {
            if let Some(stack) = stacks.get(group) {
                return stack.maker;
            }
            let own = value.instruction;
            let followed = || Some(way.maker((own, value.place))).filter(|id| way.is_named(*id));
            let shared = || of_groups.get(group).copied();
            let is_plain = way.is_named(own) && !way.leads_on(own);
            Some(own).filter(|_| is_plain).or_else(followed).or_else(shared).unwrap_or(own)
        };
        let of_values = module.values.iter().zip(alias_groups).map(maker).collect();
        Self { of_values, stacks, is_looped }
    }

    /// The maker of a value.
    pub fn maker(&self, value: ValueId) -> Option<InstructionId> {
        self.of_values.get(value.0 as usize).copied().filter(|id| *id != InstructionId::NONE)
    }

    /// Whether an instruction runs in a loop, or is one.
    pub fn is_in_loop(&self, module: &HloModule, schedule: &Schedule, id: InstructionId) -> bool {
        let is_within = schedule.computation(id).and_then(|row| self.is_looped.get(row));
        module.opcode(id) == "while" || is_within.copied().unwrap_or(false)
    }
}

/// Whether each computation runs in a loop.
fn looped(module: &HloModule, schedule: &Schedule) -> Vec<bool> {
    let is_looped = |row: usize| {
        let mut at = row;
        for _ in 0..MOST {
            let Some((caller, _)) = schedule.caller(at) else { return false };
            if module.opcode(caller) == "while" {
                return true;
            }
            let Some(around) = schedule.computation(caller) else { return false };
            at = around;
        }
        false
    };
    (0..module.computations.len()).map(is_looped).collect()
}

/// Leads from what instructions hold to what makes it.
struct Way<'a> {
    module: &'a HloModule,
    schedule: &'a Schedule,
    held: &'a HeldValues,
    is_looped: &'a [bool],
}

impl Way<'_> {
    fn operand(&self, id: InstructionId, number: usize) -> Option<InstructionId> {
        self.module.instructions.operands.of(id.0).get(number).map(|row| InstructionId(*row))
    }

    fn root_of(&self, id: InstructionId) -> Option<InstructionId> {
        let row = *self.module.instructions.called.of(id.0).first()?;
        Some(self.module.computations.get(row as usize)?.root)
    }

    /// Whether a path says what an instruction does.
    fn is_named(&self, id: InstructionId) -> bool {
        self.module.op_name(id).is_some()
    }

    /// Whether a path, if there is one, ends in what an operation is written in.
    fn is_around(&self, id: InstructionId) -> bool {
        let path = self.module.op_name(id).unwrap_or_default();
        let last = path.rsplit('/').next().unwrap_or_default();
        let word = last.rsplit('(').next().unwrap_or_default().trim_end_matches(')');
        word.is_empty() || AROUND.contains(&word)
    }

    /// Whether an instruction only hands on what it is given.
    fn leads_on(&self, id: InstructionId) -> bool {
        match self.module.opcode(id) {
            "tuple"
            | "get-tuple-element"
            | "bitcast"
            | "reshape"
            | "while"
            | "call"
            | "copy-start"
            | "copy-done"
            | "async-start"
            | "async-update"
            | "async-done"
            | "optimization-barrier"
            | "opt-barrier"
            | "add-dependency"
            | "domain"
            | "dynamic-update-slice" => true,
            "fusion" | "copy" | "convert" | "transpose" | "slice" | "concatenate" | "pad"
            | "custom-call" => self.is_around(id),
            _ => false,
        }
    }

    /// From where an instruction has what it holds at a place, one step of the way; `None` where it makes it.
    fn before(&self, (id, place): HeldPlace) -> Option<HeldPlace> {
        let module = self.module;
        let shape = module.instructions.shape(id);
        match module.opcode(id) {
            "get-tuple-element" | "tuple" | "call" | "copy-done" | "async-done" => {
                source(module, self.schedule, id, place)
            }
            "fusion" | "while" => Some((self.root_of(id)?, place)),
            "copy-start" => Some((self.operand(id, 0)?, 0)),
            "async-start" => match module.shapes.element_at(shape, place)? {
                (1, within) => Some((self.root_of(id)?, within)),
                _ => None,
            },
            "parameter" => self.before_parameter(id, place),
            _ => Some((self.operand(id, 0)?, place)),
        }
    }

    /// What a parameter of a called computation holds: that of a loop what the iteration before leaves there, or what was
    /// there before it, if no iteration changes it.
    fn before_parameter(&self, id: InstructionId, place: u32) -> Option<HeldPlace> {
        let row = self.schedule.computation(id)?;
        let (caller, _) = self.schedule.caller(row)?;
        if self.module.opcode(caller) != "while" {
            return source(self.module, self.schedule, id, place);
        }
        let root = self.root_of(caller)?;
        let is_kept = self.held.at(root, place) == self.held.at(id, place);
        Some((if is_kept { self.operand(caller, 0)? } else { root }, place))
    }

    fn is_looped(&self, id: InstructionId) -> bool {
        let row = self.schedule.computation(id);
        row.and_then(|row| self.is_looped.get(row)).copied().unwrap_or(false)
    }

    /// What fills what an instruction holds, if a loop does it layer by layer.
    fn stack(&self, from: HeldPlace) -> Option<Stack> {
        let mut at = from;
        for _ in 0..MOST {
            let id = at.0;
            let opcode = self.module.opcode(id);
            if opcode == "dynamic-update-slice" && self.is_looped(id) {
                let layer = self.operand(id, 1)?;
                let bytes = |id: InstructionId| {
                    self.module.shapes.unpadded_bytes(self.module.instructions.shape(id))
                };
                let layers = bytes(id)?.checked_div(bytes(layer)?)?;
                let maker = self.maker((layer, 0));
                return (layers > 1).then_some(Stack { update: id, maker, layers });
            }
            let is_same =
                matches!(opcode, "fusion" | "copy" | "convert" | "transpose" | "parameter");
            if !is_same && (!self.leads_on(id) || opcode == "dynamic-update-slice") {
                return None;
            }
            at = self.before(at)?;
        }
        None
    }

    /// The instruction that makes what another one holds at a place, as far as paths tell.
    fn maker(&self, from: HeldPlace) -> InstructionId {
        let mut at = from;
        // The last on the way that says something: where the way ends at one that says nothing, it counts.
        let mut named = None;
        for _ in 0..MOST {
            let id = at.0;
            let is_update = self.module.opcode(id) == "dynamic-update-slice";
            let next = match self.module.opcode(id) {
                "dynamic-update-slice" if self.is_looped(id) => {
                    self.operand(id, 1).map(|layer| (layer, 0))
                }
                "dynamic-update-slice" => None,
                // What has no name itself is a part of what does.
                "fusion" | "parameter" => self.before(at),
                _ if self.leads_on(id) || !self.is_named(id) => self.before(at),
                _ => None,
            };
            if self.is_named(id) && !is_update && !self.is_around(id) {
                named = Some(id);
            }
            match next {
                Some(before) if before != at => at = before,
                _ => return if self.is_named(id) { id } else { named.unwrap_or(id) },
            }
        }
        named.unwrap_or(from.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::xla::buffer_assignment::analysed::Analysed;
    use crate::systems::xla::buffer_assignment::hand_made::scanned;

    #[test]
    fn a_stack_belongs_to_what_makes_a_layer_of_it() {
        let made = scanned(8);
        let analysed = Analysed::of(made.module);
        for value in [made.zeros, made.stack] {
            assert_eq!(analysed.makers.maker(value), Some(made.maker));
            let path = analysed.operation(value);
            assert_eq!(path, Some("jit(f)/jvp()/while/body/closed_call/mlp/sin"));
        }
        let stack = analysed.makers.stacks.values().next().copied().expect("a stack");
        assert_eq!((analysed.makers.stacks.len(), stack.layers, stack.maker), (1, 6, made.maker));
        let carried = analysed.operation(made.carried);
        assert_eq!(carried, Some("jit(f)/jvp()/while/body/closed_call/mlp/tanh"));
    }

    #[test]
    fn an_update_outside_of_a_loop_is_no_stack() {
        let mut made = scanned(8);
        // The same without a loop: the body is called.
        let opcode = made.module.texts.push("call");
        for row in 0..made.module.instructions.len() {
            if made.module.opcode(InstructionId(row as u32)) == "while" {
                made.module.instructions.opcodes[row] = opcode;
            }
        }
        let analysed = Analysed::of(made.module);
        assert!(analysed.makers.stacks.is_empty());
    }
}
