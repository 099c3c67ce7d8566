//! The rules in their order: parameters and gradients, whose sizes others go by; then blocks from before the first
//! event, autocast's copies, and the rest, pass by pass.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::BlockCategory;
use super::before_window::{TrainingSigns, before_window};
use super::blocks::{BlockEvidence, LetGo, WORKSPACES};
use super::copies::{WeightSizes, autocast_copies};
use super::graphs::{Partners, end_of_forward, records_graph, result};
use super::passes::{RunPass, RunPasses};
use crate::store::snapshot::StackId;
use crate::systems::pytorch::allocator::phases::PhaseMoments;
use crate::systems::pytorch::allocator::stack_signs::{StackPhase, StackSigns};

/// As many tensors by one stack are loaded from a file, one after the other.
const LEAST_LOADED: usize = 8;

/// What the rules go by.
pub struct CategoryRules<'a> {
    blocks: BlockEvidence<'a>,
    passes: RunPasses,
    has_steps: bool,
    /// Whether state of an optimizer is found yet.
    has_state: bool,
    found: Vec<BlockCategory>,
    /// By stack, what the forward pass before asked for there last.
    before: Vec<Option<BlockCategory>>,
}

impl<'a> CategoryRules<'a> {
    pub fn of(mut blocks: BlockEvidence<'a>, moments: &PhaseMoments) -> Self {
        let passes = RunPasses::of(&blocks, &moments.optimizer_steps);
        if let Some(last) = passes.last_events(&blocks) {
            (blocks.last_begins, blocks.over) = last;
        }
        let found = vec![BlockCategory::Unknown; blocks.len()];
        let has_steps = !moments.optimizer_steps.is_empty();
        Self { blocks, passes, has_steps, has_state: false, found, before: Vec::new() }
    }

    pub fn categories(mut self) -> Vec<BlockCategory> {
        self.find_parameters_made();
        let made: Vec<u64> = self.bytes_of_parameters().collect();
        let gradients = self.find_gradients();
        self.find_parameters_loaded(&gradients);
        self.find_before_window(&gradients);
        let weights = WeightSizes::of(&made, self.bytes_of_parameters(), &gradients);
        for row in autocast_copies(&self.blocks, &self.passes, &weights) {
            self.decide(row, BlockCategory::AutocastCache);
        }
        if self.blocks.signs.has_autocast() {
            for row in self.recorded() {
                if self.blocks.let_go(row) == LetGo::ByAutocast {
                    self.decide(row, BlockCategory::AutocastCache);
                }
            }
        }
        self.find_workspaces();
        self.find_others();
        self.found
    }

    /// Of those that are known yet.
    fn bytes_of_parameters(&self) -> impl Iterator<Item = u64> {
        let is_parameter = |found: &BlockCategory| *found == BlockCategory::Parameter;
        let rows = self.found.iter().enumerate().filter(move |(_, found)| is_parameter(found));
        rows.map(|(row, _)| self.blocks.bytes(row))
    }

    fn is_undecided(&self, row: usize) -> bool {
        self.found.get(row) == Some(&BlockCategory::Unknown)
    }

    fn decide(&mut self, row: usize, category: BlockCategory) {
        if let Some(found) = self.found.get_mut(row).filter(|one| **one == BlockCategory::Unknown) {
            *found = category;
            self.has_state |= category == BlockCategory::OptimizerState;
        }
    }

    fn recorded(&self) -> Range<usize> {
        self.blocks.first_recorded()..self.blocks.len()
    }

    /// What is made with a module, and outlives the first pass after it.
    fn find_parameters_made(&mut self) {
        for row in self.recorded() {
            if self.blocks.phase(row) == StackPhase::Making
                && (self.blocks.is_lasting(row)
                    || self.blocks.until(row) >= self.passes.next_ends(row))
                && !self.blocks.is_beyond(row)
            {
                self.decide(row, BlockCategory::Parameter);
            }
        }
    }

    /// What backward passes make for parameters; the most of each size that one of them makes.
    fn find_gradients(&mut self) -> BTreeMap<u64, usize> {
        let blocks = &self.blocks;
        let is_backward = |row: &usize| {
            let signs = blocks.signs(*row);
            signs.phase == StackPhase::Backward && !signs.is_recomputed
        };
        let outlives_pass = |row: usize| match blocks.let_go(row) {
            LetGo::Never | LetGo::ByZeroGrad => true,
            let_go => {
                let ends = self.passes.backward_ends_after(blocks.event(row));
                let last = self.passes.place(row).and_then(|place| self.passes.all.get(place));
                let last = last.and_then(|pass| pass.backward).map(|(_, last)| blocks.event(last));
                ends.is_some_and(|event| blocks.until(row) > event)
                    || (let_go == LetGo::NotRecorded
                        && last.is_some_and(|last| blocks.until(row) > last))
            }
        };
        let rows = self.recorded().filter(is_backward).filter(|row| outlives_pass(*row));
        let rows: Vec<usize> = rows.filter(|row| !self.blocks.is_beyond(*row)).collect();
        let is_certain = |row: usize| blocks.let_go(row) == LetGo::ByZeroGrad;
        let made: HashSet<u64> = self.bytes_of_parameters().collect();
        let certain = rows.iter().filter(|row| is_certain(**row));
        let certain: HashSet<u64> = certain.map(|row| blocks.bytes(*row)).collect();
        let is_gradient = |row: &usize| {
            let bytes = blocks.bytes(*row);
            certain.contains(&bytes)
                || made.contains(&bytes)
                || (made.is_empty() && !blocks.may_be_workspace(*row))
        };
        let mut gradients: Vec<usize> = rows.into_iter().filter(is_gradient).collect();
        for bytes in WORKSPACES {
            if let Some(place) = self.workspace_among(&gradients, bytes) {
                gradients.remove(place);
            }
        }
        let blocks = &self.blocks;
        let mut of_passes: HashMap<(u64, Option<usize>), usize> = HashMap::new();
        for row in &gradients {
            *of_passes.entry((blocks.bytes(*row), self.passes.place(*row))).or_default() += 1;
        }
        let early = (0..blocks.first_recorded()).filter(|row| is_certain(*row));
        for row in early {
            *of_passes.entry((blocks.bytes(row), Some(usize::MAX))).or_default() += 1;
        }
        for row in gradients {
            self.decide(row, BlockCategory::Gradient);
        }
        let mut most: BTreeMap<u64, usize> = BTreeMap::new();
        for ((bytes, _), count) in of_passes {
            let most = most.entry(bytes).or_default();
            *most = count.max(*most);
        }
        most
    }

    /// The place of a workspace among gradients that are as large: the first backward pass makes it besides them, once.
    fn workspace_among(&self, gradients: &[usize], bytes: u64) -> Option<usize> {
        let mut of_size = (0..).zip(gradients).filter(|(_, row)| self.blocks.bytes(**row) == bytes);
        let (_, first) = of_size.clone().next()?;
        let first = self.passes.place(*first);
        let mut of_passes: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        for (_, row) in of_size.clone() {
            *of_passes.entry(self.passes.place(*row)).or_default() += 1;
        }
        let in_first = of_passes.remove(&first)?;
        let in_others = of_passes.into_values().max().unwrap_or(0);
        let made = self.bytes_of_parameters().filter(|made| *made == bytes).count();
        let expected = in_others.max(made);
        let is_one = |row: usize| {
            self.passes.place(row) == first
                && self.blocks.may_be_workspace(row)
                && is_of_autograd(self.blocks.signs(row))
        };
        let found = of_size.find(|(_, row)| is_one(**row)).map(|(place, _)| place);
        found.filter(|_| expected > 0 && in_first > expected)
    }

    /// What is loaded and kept before any module is called, outside of them, where all was recorded.
    fn find_parameters_loaded(&mut self, gradients: &BTreeMap<u64, usize>) {
        let blocks = &self.blocks;
        let first_call = self.recorded().find(|row| blocks.signs(*row).is_call);
        let Some(first_call) = first_call.filter(|_| blocks.first_recorded() == 0) else { return };
        let is_outside = |row: &usize| {
            let signs = blocks.signs(*row);
            signs.phase == StackPhase::Forward && !signs.is_functional && blocks.is_lasting(*row)
        };
        let rows = (0..first_call).filter(is_outside);
        let rows: Vec<usize> = rows.filter(|row| !self.blocks.is_beyond(*row)).collect();
        let mut by_stack: HashMap<StackId, usize> = HashMap::new();
        for row in &rows {
            *by_stack.entry(blocks.lives.stacks[*row]).or_default() += 1;
        }
        let mut known: HashMap<u64, usize> = HashMap::new();
        for bytes in self.bytes_of_parameters() {
            *known.entry(bytes).or_default() += 1;
        }
        let has_parameters = !known.is_empty();
        let mut is_loaded = |row: &usize| {
            if let Some(count) = gradients.get(&blocks.bytes(*row)) {
                // No more than have gradients: a batch may be as large as a parameter.
                let known = known.entry(blocks.bytes(*row)).or_default();
                *known += 1;
                return *known <= *count;
            }
            let of_stack = by_stack.get(&blocks.lives.stacks[*row]).copied().unwrap_or(0);
            gradients.is_empty()
                && !has_parameters
                && (of_stack >= LEAST_LOADED || blocks.signs(*row).is_loading)
        };
        let loaded: Vec<usize> = rows.into_iter().filter(|row| is_loaded(row)).collect();
        for row in loaded {
            self.decide(row, BlockCategory::Parameter);
        }
    }

    fn find_before_window(&mut self, gradients: &BTreeMap<u64, usize>) {
        let blocks = &self.blocks;
        if blocks.first_recorded() == 0 {
            return;
        }
        let has_optimizer = self.recorded().any(|row| blocks.phase(row) == StackPhase::Optimizer);
        let graphs = self.passes.all.iter().any(|pass| {
            pass.backward.is_some() || records_graph(blocks, pass, end_of_forward(blocks, pass))
        });
        let training = TrainingSigns {
            is_seen: self.has_steps || has_optimizer || !gradients.is_empty(),
            has_graph: graphs,
        };
        let found = before_window(blocks, gradients, training);
        for (row, category) in found.into_iter().enumerate() {
            self.decide(row, category);
        }
    }

    /// The first of each size that is kept, of what the program and autograd ask for: each has its own.
    fn find_workspaces(&mut self) {
        let blocks = &self.blocks;
        let mut seen = HashSet::new();
        let is_one = |row: &usize| {
            blocks.may_be_workspace(*row)
                && self.is_undecided(*row)
                && (blocks.signs(*row).is_call || is_of_autograd(blocks.signs(*row)))
        };
        let all = self.recorded().filter(is_one);
        let first = all.filter(|row| {
            seen.insert((blocks.bytes(*row), blocks.phase(*row) == StackPhase::Backward))
        });
        for row in first.collect::<Vec<_>>() {
            self.decide(row, BlockCategory::Workspace);
        }
    }

    /// All that parameters, gradients and copies leave.
    fn find_others(&mut self) {
        let first = self.passes.all.first().map_or(self.blocks.len(), |pass| pass.rows.start);
        let mut partners: Option<(usize, Partners)> = None;
        self.decide_all(self.blocks.first_recorded()..first, Self::of_no_pass);
        for place in 0..self.passes.all.len() {
            let Some(pass) = self.passes.all.get(place).cloned() else { continue };
            if pass.backward.is_none() && pass.calls.is_some() {
                let earlier = self.passes.all.get(..place).unwrap_or_default();
                let earlier = earlier.iter().rposition(|pass| pass.backward.is_some());
                let is_known = partners.as_ref().map(|(of, _)| *of) == earlier;
                if !is_known {
                    partners = earlier.and_then(|of| {
                        let rows = self.passes.all.get(of)?.rows.clone();
                        Some((of, Partners::of(&self.blocks, rows)))
                    });
                }
                let partners = partners.as_ref().map(|(_, partners)| partners);
                self.find_of_forward(&pass, partners);
            }
            self.decide_all(pass.rows.clone(), |rules, row| rules.of_pass(&pass, row));
            self.remember(&pass);
        }
    }

    fn decide_all(&mut self, rows: Range<usize>, one: impl Fn(&Self, usize) -> BlockCategory) {
        for row in rows {
            if self.is_undecided(row) {
                let category = one(self, row);
                self.decide(row, category);
            }
        }
    }

    fn remember(&mut self, pass: &RunPass) {
        if pass.backward.is_none() {
            return;
        }
        for row in pass.rows.clone() {
            let stack = self.blocks.lives.stacks[row];
            if stack != StackId::NONE && self.blocks.phase(row) == StackPhase::Forward {
                let place = stack.0 as usize;
                if place >= self.before.len() {
                    self.before.resize(place + 1, None);
                }
                if let (Some(before), Some(found)) =
                    (self.before.get_mut(place), self.found.get(row))
                {
                    *before = Some(*found);
                }
            }
        }
    }

    /// The graph of a forward pass that no backward pass follows.
    fn find_of_forward(&mut self, pass: &RunPass, partners: Option<&Partners>) {
        let blocks = &self.blocks;
        let at = end_of_forward(blocks, pass);
        let is_alive = |row: usize| blocks.until(row) > at;
        let pairs = partners.and_then(|partners| partners.pairs(blocks, pass.rows.clone()));
        if let Some(pairs) = pairs {
            let was_activation = |(_, partner): &&(usize, usize)| {
                self.found.get(*partner) == Some(&BlockCategory::Activation)
            };
            let were: Vec<_> = pairs.iter().filter(was_activation).collect();
            // Without a graph what was kept by one dies soon.
            if were.iter().filter(|(row, _)| is_alive(*row)).count() * 2 >= were.len() {
                let known = pairs.into_iter().filter_map(|pair| {
                    let (row, partner) = pair;
                    let category = *self.found.get(partner)?;
                    let is_known = category != BlockCategory::Activation || is_alive(row);
                    is_known.then_some((row, category))
                });
                for (row, category) in known.collect::<Vec<_>>() {
                    self.decide(row, category);
                }
            }
            return;
        }
        if !records_graph(blocks, pass, at) {
            return;
        }
        let result = result(blocks, pass, at);
        let is_activation = |row: &usize| {
            let signs = blocks.signs(*row);
            signs.phase == StackPhase::Forward
                && signs.is_of_network()
                && !signs.is_compiled
                && !signs.records_no_graph
                && is_alive(*row)
                && Some(*row) != result
        };
        for row in pass.rows.clone().filter(is_activation).collect::<Vec<_>>() {
            self.decide(row, BlockCategory::Activation);
        }
    }

    /// A block from before the first pass.
    fn of_no_pass(&self, row: usize) -> BlockCategory {
        match self.blocks.phase(row) {
            _ if self.blocks.is_beyond(row) => BlockCategory::Unknown,
            StackPhase::Optimizer => self.of_optimizer(row),
            StackPhase::Backward => self.of_backward(row),
            StackPhase::Making | StackPhase::Forward => self.soon_gone(row),
        }
    }

    fn of_pass(&self, pass: &RunPass, row: usize) -> BlockCategory {
        match self.blocks.phase(row) {
            StackPhase::Forward if !self.blocks.is_beyond(row) => self.of_forward(pass, row),
            _ => self.of_no_pass(row),
        }
    }

    fn of_optimizer(&self, row: usize) -> BlockCategory {
        let place = self.passes.place(row).map_or(0, |place| place.saturating_add(1));
        let next = self.passes.all.get(place).map(|pass| self.blocks.event(pass.rows.start));
        let (blocks, until) = (&self.blocks, self.blocks.until(row));
        let within = blocks.event(row)..next.unwrap_or(u32::MAX);
        let is_alive_at_failure = blocks.failed_within(within).is_some_and(|failed| until > failed);
        let is_state = blocks.is_kept(row) || next.is_some_and(|at| until > at);
        match () {
            () if blocks.signs(row).makes_state && (is_state || blocks.is_lasting(row)) => {
                BlockCategory::OptimizerState
            }
            // Whoever lets go of it after the failure.
            () if is_alive_at_failure && self.has_state => BlockCategory::Temporary,
            () if is_alive_at_failure => BlockCategory::Unknown,
            () if is_state => BlockCategory::OptimizerState,
            () => BlockCategory::Temporary,
        }
    }

    fn of_backward(&self, row: usize) -> BlockCategory {
        let is_recomputed = self.blocks.signs(row).is_recomputed;
        match self.blocks.let_go(row) {
            LetGo::ByAutograd | LetGo::NotRecorded if is_recomputed => BlockCategory::Activation,
            _ => self.soon_gone(row),
        }
    }

    fn of_forward(&self, pass: &RunPass, row: usize) -> BlockCategory {
        let (blocks, signs) = (&self.blocks, self.blocks.signs(row));
        let until = blocks.until(row);
        let let_go = blocks.let_go(row);
        let is_before_calls = pass.calls.is_some_and(|(first, _)| row < first);
        if is_before_calls && !signs.is_of_network() && until > blocks.event(pass.last_forward) {
            let is_loaded = signs.is_loading || signs.is_compiled;
            return if is_loaded { BlockCategory::Unknown } else { BlockCategory::Input };
        }
        let backward = pass.backward.map(|(first, last)| (blocks.event(first), blocks.event(last)));
        let failed = backward.and_then(|(first, _)| blocks.failed_within(first..pass.end));
        match (let_go, backward) {
            (LetGo::ByAutograd, _) => BlockCategory::Activation,
            // Whatever became of it after the failure.
            (_, Some((first, _)))
                if signs.is_of_network()
                    && until > first
                    && failed.is_some_and(|failed| until > failed) =>
            {
                BlockCategory::Activation
            }
            (LetGo::Never, Some(_)) if signs.is_of_network() && !signs.is_compiled => {
                self.of_kept(pass, row)
            }
            (LetGo::NotRecorded, Some((first, last))) if until > first => {
                let over = self.passes.backward_ends_after(last);
                let is_activation = over.is_none_or(|over| until <= over);
                if is_activation { BlockCategory::Activation } else { BlockCategory::Unknown }
            }
            // Whatever frees it after the failure, nobody knows what it would have been.
            _ if (signs.is_compiled || pass.calls.is_none())
                && blocks.failed_within(blocks.event(row)..until).is_some() =>
            {
                BlockCategory::Unknown
            }
            _ => self.soon_gone(row),
        }
    }

    /// What a module asked for in a pass with a backward pass, and nobody frees: of a graph that is kept, if it is so each
    /// time; made once it is a cache, and of the last pass a variable may hold it.
    fn of_kept(&self, pass: &RunPass, row: usize) -> BlockCategory {
        let is_last = pass.end == u32::MAX;
        match self.before.get(self.blocks.lives.stacks[row].0 as usize).copied().flatten() {
            None if !is_last => BlockCategory::Unknown,
            None | Some(BlockCategory::Unknown) => BlockCategory::Activation,
            Some(before) => before,
        }
    }

    /// Temporary if it does not outlive the pass after its own.
    fn soon_gone(&self, row: usize) -> BlockCategory {
        let is_gone =
            !self.blocks.is_kept(row) && self.blocks.until(row) <= self.passes.next_ends(row);
        if is_gone { BlockCategory::Temporary } else { BlockCategory::Unknown }
    }
}

/// Whether a backward pass asked for it, by itself or through code that was compiled.
fn is_of_autograd(signs: StackSigns) -> bool {
    !signs.has_python || signs.is_compiled
}
