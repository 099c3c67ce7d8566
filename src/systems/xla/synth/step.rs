//! A training step of a transformer as JAX traces it and XLA compiles it: a loop over its layers forward, one backward,
//! and Adam. Values of the forward pass that the backward pass needs wait in arrays with a row for each layer.

use super::DumpOptions;
use super::program::{ArrayId, ArrayResult, Carried, DraftModule, Home, Origin};
use super::shape::{Array, Scalar, XlaTarget};
use super::source::{Code, Pass, in_loop, operation};
use super::tensors::{NetworkSizes, Remat, Tensor, Tensors, WEIGHTS};

/// A step while it is put together.
struct StepDraft<'a> {
    options: &'a DumpOptions,
    sizes: NetworkSizes,
    program: DraftModule,
    parameters: u64,
}

pub(super) fn training_step(options: &DumpOptions) -> DraftModule {
    let sizes = NetworkSizes::of(&options.network);
    let mut step =
        StepDraft { options, sizes, program: DraftModule::new(options.platform), parameters: 0 };
    step.program.reducer();
    step.write();
    step.program
}

impl StepDraft<'_> {
    fn parameter(&mut self, path: &str, array: Array) -> ArrayId {
        let number = self.parameters;
        self.parameters += 1;
        let name = path.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
        self.program.parameter(&name, number, array, path.to_owned())
    }

    /// The weights of the network: those of the layers, the embedding, the head.
    fn weights(&mut self, of: &str, element: Scalar) -> Vec<ArrayId> {
        let mut all: Vec<(String, Array)> = (0..WEIGHTS.len())
            .map(|number| {
                let array = Array { element, ..self.sizes.stacked(&self.sizes.weight(number)) };
                (format!("{of}['layers']['{}']", WEIGHTS[number]), array)
            })
            .collect();
        let net = self.sizes.net;
        let table = Array::of(element, &[net.vocabulary, net.width]);
        let head = Array::of(element, &[net.width, net.vocabulary]);
        all.push((format!("{of}['embedding']"), table));
        all.push((format!("{of}['head']"), head));
        all.into_iter().map(|(path, array)| self.parameter(&path, array)).collect()
    }

    fn write(&mut self) {
        let weights = self.weights("params", self.sizes.element);
        let means = self.weights("state['mean']", Scalar::Single);
        let squares = self.weights("state['square']", Scalar::Single);
        let net = self.sizes.net;
        let batch = Array::of(Scalar::Int, &[net.batch, net.sequence]);
        let tokens = self.parameter("tokens", batch.clone());
        let labels = self.parameter("labels", batch);

        let [layers @ .., embedding, head] = &*weights else {
            unreachable!("two more than of layers")
        };
        let (hidden, kept) = self.forward(tokens, *embedding, layers);
        let (loss, gradient, of_head) = self.loss(hidden, *head, labels);
        let (mut gradients, gradient) = self.backward(gradient, layers, &kept);
        gradients.push(self.program.fusion(
            "kLoop",
            &["scatter"],
            &[tokens, gradient],
            self.program.array_of(*embedding).clone(),
            operation(Pass::Backward, "embedding/scatter-add", Code::Embedding),
        ));
        gradients.push(of_head);

        let mut results = Vec::new();
        for (number, gradient) in gradients.into_iter().enumerate() {
            let of = [weights[number], means[number], squares[number]];
            results.extend(self.adam(of, gradient));
        }
        // New weights, then new means, then new squares, as the function returns them.
        let results = (0..3).flat_map(|part| results.iter().skip(part).step_by(3)).copied();
        let results: Vec<ArrayId> = results.chain([loss]).collect();
        self.program.finish(&results);
        let kept = [tokens, labels].into_iter();
        let states = weights.into_iter().chain(means).chain(squares);
        for parameter in kept.chain(states.filter(|_| !self.options.is_donated)) {
            self.program.keep(parameter);
        }
    }

    /// A product of matrices. On a GPU it has scratch memory.
    fn product(&mut self, operands: [ArrayId; 2], array: Array, origin: Origin) -> ArrayId {
        /// What cuBLAS takes.
        const SCRATCH: u64 = 4 << 20;
        match self.program.platform {
            XlaTarget::Cpu => self.program.instruction(("dot", "dot"), &operands, array, origin),
            XlaTarget::Tpu => {
                self.program.fusion("kOutput", &["convolution"], &operands, array, origin)
            }
            XlaTarget::Gpu => {
                let scratch = Array::of(Scalar::Byte, &[SCRATCH]);
                let made = vec![ArrayResult::from(array), ArrayResult::from(scratch)];
                let name = ("cublas-gemm", "custom-call");
                let tuple = self.program.several(name, &operands, made, origin);
                self.program.element(&tuple, 0)
            }
        }
    }

    fn fused(
        &mut self,
        parts: &[&'static str],
        operands: &[ArrayId],
        made: impl Into<ArrayResult>,
        origin: Origin,
    ) -> ArrayId {
        self.program.fusion("kLoop", parts, operands, made, origin)
    }

    /// An array of zeros with a row for each layer, which a loop fills.
    fn zeros(&mut self, array: &Array, pass: Pass) -> Carried {
        let array = self.sizes.stacked(array);
        let zero = self.program.constant(Array::scalar(array.element));
        let origin = operation(pass, "broadcast_in_dim", Code::Scan);
        let initial = self.program.instruction(("broadcast", "broadcast"), &[zero], array, origin);
        Carried { initial, is_new: true }
    }

    /// The number of turns, which a loop counts.
    fn counter(&mut self) -> Carried {
        let zero = self.program.constant(Array::scalar(Scalar::Int));
        let scalar = Array::scalar(Scalar::Int);
        let initial =
            self.program.instruction(("copy", "copy"), &[zero], scalar, Origin::default());
        Carried { initial, is_new: true }
    }

    /// The row of a layer of an array.
    fn row(&mut self, pass: Pass, stacked: ArrayId, layer: ArrayId) -> ArrayId {
        let Array { element, dimensions } = self.program.array_of(stacked);
        let array = Array::of(*element, &dimensions[1..]);
        let origin = in_loop(pass, "jit(dynamic_index_in_dim)/dynamic_slice");
        let name = ("dynamic-slice", "dynamic-slice");
        self.program.instruction(name, &[stacked, layer], array, origin)
    }

    /// The rows of a layer of several.
    fn rows(&mut self, pass: Pass, stacked: &[ArrayId], layer: ArrayId) -> Vec<ArrayId> {
        stacked.iter().map(|all| self.row(pass, *all, layer)).collect()
    }

    /// Puts the row of a layer into an array, where it is.
    fn put(&mut self, pass: Pass, stacked: &mut ArrayId, row: ArrayId, layer: ArrayId) {
        let array = self.program.array_of(*stacked).clone();
        let into = Some(self.program.group_of(*stacked));
        let origin = in_loop(pass, "jit(dynamic_update_index_in_dim)/dynamic_update_slice");
        let name = ("dynamic-update-slice", "dynamic-update-slice");
        let made = ArrayResult { array, into };
        *stacked = self.program.instruction(name, &[*stacked, row, layer], made, origin);
    }

    /// The number of the layer that is computed in a turn as the one at a place of it.
    fn layer(&mut self, pass: Pass, turn: ArrayId) -> ArrayId {
        let scalar = Array::scalar(Scalar::Int);
        self.program.instruction(("add", "add"), &[turn], scalar, in_loop(pass, "add"))
    }

    /// Counts a turn, at its end.
    fn count(&mut self, pass: Pass, turn: ArrayId) -> ArrayId {
        let into = Some(self.program.group_of(turn));
        let made = ArrayResult { array: Array::scalar(Scalar::Int), into };
        self.program.instruction(("add", "add"), &[turn], made, in_loop(pass, "add"))
    }

    /// All layers; returns what the last one gives, and what waits for the backward pass.
    fn forward(
        &mut self,
        tokens: ArrayId,
        embedding: ArrayId,
        weights: &[ArrayId],
    ) -> (ArrayId, Vec<ArrayId>) {
        let hidden = self.sizes.hidden();
        let origin = operation(Pass::Forward, "embedding/gather", Code::Embedding);
        let embedded = self.fused(&["gather"], &[tokens, embedding], hidden.clone(), origin);
        let kept = self.options.remat.kept();
        let mut carried = vec![self.counter(), Carried { initial: embedded, is_new: true }];
        carried.extend(weights.iter().map(|weight| Carried { initial: *weight, is_new: false }));
        let first_kept = carried.len();
        for tensor in kept {
            let array = self.sizes.tensor(*tensor);
            carried.push(self.zeros(&array, Pass::Forward));
        }
        let origin = operation(Pass::Forward, "while", Code::Scan);
        let last = carried.len();
        let unroll = self.options.unroll;
        let (open, elements) = self.program.begin_loop(carried, origin);
        let (&[turn, mut hidden], rest) = elements.split_at(2) else { unreachable!("two") };
        let (weights, stacks) = rest.split_at(WEIGHTS.len());
        let mut stacks = stacks.to_vec();
        let into = self.program.group_of(hidden);
        for place in 0..unroll {
            let layer = self.layer(Pass::Forward, turn);
            let pass = Pass::ForwardLayer((unroll > 1).then_some(place));
            let weights = self.rows(Pass::Forward, weights, layer);
            let mut tensors = Tensors::default();
            tensors[Tensor::Input as usize] = Some(hidden);
            self.complete_layer(&mut tensors, &weights, pass);
            for (tensor, stack) in kept.iter().zip(&mut stacks) {
                if let Some(made) = tensors[*tensor as usize] {
                    self.put(Pass::Forward, stack, made, layer);
                }
            }
            let into = (place + 1 == unroll).then_some(into);
            hidden = self.end_layer(&tensors, &weights, pass, into);
        }
        let turn = self.count(Pass::Forward, turn);
        let new: Vec<ArrayId> =
            [turn, hidden].iter().chain(weights).chain(&stacks).copied().collect();
        let result = self.program.end_loop(open, &new);
        let hidden = self.program.element(&result, 1);
        let kept = (first_kept..last).map(|number| self.program.element(&result, number));
        (hidden, kept.collect())
    }

    /// The product of what is there with weights.
    fn dense(
        &mut self,
        from: Option<ArrayId>,
        weight: ArrayId,
        array: Array,
        origin: Origin,
    ) -> Option<ArrayId> {
        from.map(|from| self.product([from, weight], array, origin))
    }

    /// What of a layer is not there yet and its backward pass needs.
    fn complete_layer(&mut self, tensors: &mut Tensors, weights: &[ArrayId], pass: Pass) {
        use Tensor::{Attended, Gelu, Input, Norm1, Norm2, Projected, Qkv, Softmax, Sum, Up};
        for tensor in [Norm1, Qkv, Softmax, Attended, Projected, Sum, Norm2, Up, Gelu] {
            if tensors[tensor as usize].is_some() {
                continue;
            }
            let has = |tensor: Tensor| tensors[tensor as usize];
            let Some(input) = has(Input) else { continue };
            let array = self.sizes.tensor(tensor);
            let made = match tensor {
                Input => continue,
                Norm1 => Some(self.norm([input, weights[0]], pass, Code::Norm1)),
                Qkv => {
                    let origin = operation(pass, "attention/dot_general", Code::Qkv);
                    self.dense(has(Norm1), weights[1], array, origin)
                }
                Softmax => has(Qkv).map(|qkv| {
                    let origin =
                        operation(pass, "attention/bqhd,bkhd->bhqk/dot_general", Code::Scores);
                    let scores = self.product([qkv, qkv], array.clone(), origin);
                    let origin = operation(pass, "attention/softmax", Code::Softmax);
                    self.fused(&["exponential", "divide"], &[scores], array, origin)
                }),
                Attended => has(Softmax).zip(has(Qkv)).map(|(softmax, qkv)| {
                    let origin =
                        operation(pass, "attention/bhqk,bkhd->bqhd/dot_general", Code::Attended);
                    self.product([softmax, qkv], array, origin)
                }),
                // What is there already needs no part of its own.
                Projected => {
                    let from = has(Attended).filter(|_| has(Sum).is_none());
                    let origin = operation(pass, "attention/dot_general", Code::Projected);
                    self.dense(from, weights[2], array, origin)
                }
                Sum => has(Projected).map(|from| {
                    self.fused(
                        &["add"],
                        &[input, from],
                        array,
                        operation(pass, "add", Code::FirstSum),
                    )
                }),
                Norm2 => has(Sum).map(|from| self.norm([from, weights[3]], pass, Code::Norm2)),
                Up => {
                    let origin = operation(pass, "feed_forward/dot_general", Code::Up);
                    self.dense(has(Norm2), weights[4], array, origin)
                }
                Gelu => has(Up).map(|from| {
                    let origin = operation(pass, "feed_forward/gelu", Code::Gelu);
                    self.fused(&["tanh", "multiply"], &[from], array, origin)
                }),
            };
            tensors[tensor as usize] = made;
        }
    }

    fn norm(&mut self, operands: [ArrayId; 2], pass: Pass, line: Code) -> ArrayId {
        let part = if line == Code::Norm1 { "attention/norm/mul" } else { "feed_forward/norm/mul" };
        let array = self.sizes.hidden();
        self.fused(&["rsqrt", "multiply"], &operands, array, operation(pass, part, line))
    }

    /// What a layer gives, in memory that is there already if it is the last one of a turn.
    fn end_layer(
        &mut self,
        tensors: &Tensors,
        weights: &[ArrayId],
        pass: Pass,
        into: Option<usize>,
    ) -> ArrayId {
        let [Some(gelu), Some(sum)] = [Tensor::Gelu, Tensor::Sum].map(|one| tensors[one as usize])
        else {
            unreachable!("the layer is complete")
        };
        let array = self.sizes.hidden();
        let origin = operation(pass, "feed_forward/dot_general", Code::Down);
        let down = self.product([gelu, weights[5]], array.clone(), origin);
        self.fused(
            &["add"],
            &[sum, down],
            ArrayResult { array, into },
            operation(pass, "add", Code::SecondSum),
        )
    }

    /// The loss, its gradient with respect to what the layers give, and that of the head.
    fn loss(
        &mut self,
        hidden: ArrayId,
        head: ArrayId,
        labels: ArrayId,
    ) -> (ArrayId, ArrayId, ArrayId) {
        let logits = self.sizes.rows(self.sizes.net.vocabulary);
        let forward = |path, line| operation(Pass::Forward, path, line);
        let backward = |path, line| operation(Pass::Backward, path, line);
        let scores =
            self.product([hidden, head], logits.clone(), forward("head/dot_general", Code::Head));
        let origin = forward("log_softmax", Code::Loss);
        let likely =
            self.fused(&["exponential", "log", "subtract"], &[scores], logits.clone(), origin);
        let into = Some(self.program.new_group(Home::Output));
        let made = ArrayResult { array: Array::scalar(Scalar::Single), into };
        let loss = self.program.fusion(
            "kInput",
            &["reduce"],
            &[likely, labels],
            made,
            forward("reduce_sum", Code::Loss),
        );
        let origin = backward("log_softmax/sub", Code::Loss);
        let of_scores = self.fused(&["exponential", "subtract"], &[likely, labels], logits, origin);
        let head_array = self.program.array_of(head).clone();
        let of_head =
            self.product([hidden, of_scores], head_array, backward("head/dot_general", Code::Head));
        let array = self.sizes.hidden();
        let gradient =
            self.product([of_scores, head], array, backward("head/dot_general", Code::Head));
        (loss, gradient, of_head)
    }

    /// The gradients of the weights of the layers, and of what the first layer begins with.
    fn backward(
        &mut self,
        gradient: ArrayId,
        weights: &[ArrayId],
        kept: &[ArrayId],
    ) -> (Vec<ArrayId>, ArrayId) {
        let mut carried = vec![self.counter(), Carried { initial: gradient, is_new: true }];
        for number in 0..WEIGHTS.len() {
            let array = self.sizes.weight(number);
            carried.push(self.zeros(&array, Pass::Backward));
        }
        carried
            .extend(weights.iter().chain(kept).map(|one| Carried { initial: *one, is_new: false }));
        let origin = operation(Pass::Backward, "while", Code::Scan);
        let (unroll, remat) = (self.options.unroll, self.options.remat);
        let (open, elements) = self.program.begin_loop(carried, origin);
        let (&[turn, mut gradient], rest) = elements.split_at(2) else { unreachable!("two") };
        let (stacks, fixed) = rest.split_at(WEIGHTS.len());
        let (weights, kept) = fixed.split_at(WEIGHTS.len());
        let mut stacks = stacks.to_vec();
        let into = self.program.group_of(gradient);
        for place in (0..unroll).rev() {
            let layer = self.layer(Pass::Backward, turn);
            let name = (unroll > 1).then_some(place);
            let weights = self.rows(Pass::Backward, weights, layer);
            let mut tensors = Tensors::default();
            for (tensor, row) in remat.kept().iter().zip(self.rows(Pass::Backward, kept, layer)) {
                tensors[*tensor as usize] = Some(row);
            }
            self.complete_layer(&mut tensors, &weights, Pass::Again(name));
            let pass = match remat {
                Remat::None => Pass::BackwardLayer(name),
                _ => Pass::BackwardAgain(name),
            };
            let into = (place == 0).then_some(into);
            let of = (gradient, layer);
            gradient = self.backward_layer(of, &tensors, &weights, &mut stacks, (pass, into));
        }
        let turn = self.count(Pass::Backward, turn);
        let new: Vec<ArrayId> =
            [turn, gradient].iter().chain(&stacks).chain(fixed).copied().collect();
        let result = self.program.end_loop(open, &new);
        let gradients =
            (2..2 + WEIGHTS.len()).map(|number| self.program.element(&result, number)).collect();
        (gradients, self.program.element(&result, 1))
    }

    /// The gradient of what a layer begins with, from that of what it gives; those of its weights go into their stacks.
    fn backward_layer(
        &mut self,
        (gradient, layer): (ArrayId, ArrayId),
        tensors: &Tensors,
        weights: &[ArrayId],
        stacks: &mut [ArrayId],
        (pass, into): (Pass, Option<usize>),
    ) -> ArrayId {
        let has = |tensor: Tensor| tensors[tensor as usize].unwrap_or(gradient);
        let (hidden, scores) = (self.sizes.hidden(), self.sizes.scores());
        let wide = self.sizes.tensor(Tensor::Up);
        let ff = |line| operation(pass, "feed_forward/dot_general", line);
        let attention = |line| operation(pass, "attention/dot_general", line);

        let of_gelu = self.product([gradient, weights[5]], wide.clone(), ff(Code::Down));
        self.weight_gradient(5, [has(Tensor::Gelu), gradient], stacks, layer, ff(Code::Down));
        let origin = operation(pass, "feed_forward/gelu", Code::Gelu);
        let of_up = self.fused(&["tanh", "multiply"], &[of_gelu, has(Tensor::Up)], wide, origin);
        self.weight_gradient(4, [has(Tensor::Norm2), of_up], stacks, layer, ff(Code::Up));
        let of_norm = self.product([of_up, weights[4]], hidden.clone(), ff(Code::Up));
        let origin = operation(pass, "feed_forward/norm/mul", Code::Norm2);
        self.scale_gradient(3, [of_norm, has(Tensor::Sum)], stacks, layer, origin.clone());
        let operands = [of_norm, has(Tensor::Sum), weights[3], gradient];
        let of_sum = self.fused(&["rsqrt", "multiply", "add"], &operands, hidden.clone(), origin);

        let of_attended =
            self.product([of_sum, weights[2]], hidden.clone(), attention(Code::Projected));
        self.weight_gradient(
            2,
            [has(Tensor::Attended), of_sum],
            stacks,
            layer,
            attention(Code::Projected),
        );
        let qkv = has(Tensor::Qkv);
        let of_softmax =
            self.product([of_attended, qkv], scores.clone(), attention(Code::Attended));
        let operands = [has(Tensor::Softmax), of_attended];
        let of_values = self.product(operands, hidden.clone(), attention(Code::Attended));
        let origin = operation(pass, "attention/softmax", Code::Softmax);
        let operands = [of_softmax, has(Tensor::Softmax)];
        let of_scores = self.fused(&["multiply", "subtract"], &operands, scores, origin);
        let of_queries = self.product([of_scores, qkv], hidden.clone(), attention(Code::Scores));
        let of_keys = self.product([of_scores, qkv], hidden.clone(), attention(Code::Scores));
        let origin = operation(pass, "attention/concatenate", Code::Qkv);
        let operands = [of_queries, of_keys, of_values];
        let of_qkv =
            self.fused(&["concatenate"], &operands, self.sizes.tensor(Tensor::Qkv), origin);
        self.weight_gradient(1, [has(Tensor::Norm1), of_qkv], stacks, layer, attention(Code::Qkv));
        let of_norm = self.product([of_qkv, weights[1]], hidden.clone(), attention(Code::Qkv));
        let origin = operation(pass, "attention/norm/mul", Code::Norm1);
        self.scale_gradient(0, [of_norm, has(Tensor::Input)], stacks, layer, origin.clone());
        let operands = [of_norm, has(Tensor::Input), weights[0], of_sum];
        self.fused(
            &["rsqrt", "multiply", "add"],
            &operands,
            ArrayResult { array: hidden, into },
            origin,
        )
    }

    /// The gradient of a matrix, into the stack of its gradients.
    fn weight_gradient(
        &mut self,
        number: usize,
        operands: [ArrayId; 2],
        stacks: &mut [ArrayId],
        layer: ArrayId,
        origin: Origin,
    ) {
        let array = self.sizes.weight(number);
        let gradient = self.product(operands, array, origin);
        self.put(Pass::Backward, &mut stacks[number], gradient, layer);
    }

    /// The gradient of a scale, which is a sum over tokens.
    fn scale_gradient(
        &mut self,
        number: usize,
        operands: [ArrayId; 2],
        stacks: &mut [ArrayId],
        layer: ArrayId,
        origin: Origin,
    ) {
        let array = self.sizes.weight(number);
        let gradient =
            self.program.fusion("kInput", &["multiply", "reduce"], &operands, array, origin);
        self.put(Pass::Backward, &mut stacks[number], gradient, layer);
    }

    /// A weight and its two states as they are after the step: in the memory of the old ones where those are donated.
    fn adam(&mut self, of: [ArrayId; 3], gradient: ArrayId) -> [ArrayId; 3] {
        let made = of.map(|one| ArrayResult {
            array: self.program.array_of(one).clone(),
            into: Some(if self.options.is_donated {
                self.program.group_of(one)
            } else {
                self.program.new_group(Home::Output)
            }),
        });
        let origin = operation(Pass::Update, "sub", Code::Adam);
        let operands = [of[0], of[1], of[2], gradient];
        let tuple = self.program.fusion_of_several(
            &["multiply", "sqrt", "subtract"],
            &operands,
            made.to_vec(),
            origin,
        );
        [0, 1, 2].map(|number| self.program.element(&tuple, number))
    }
}
