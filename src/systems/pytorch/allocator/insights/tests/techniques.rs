//! Techniques one by one: where they are advised, what they bring, and where nothing is said of them.

use super::*;

/// Stacks of a network with attention and a loss over classes.
struct Network {
    weight: StackId,
    layer: StackId,
    scores: StackId,
    softmax: StackId,
    head: StackId,
    loss: StackId,
    optimizer: StackId,
    zero_grad: StackId,
}

impl Network {
    /// In a file of the program, or of a library.
    fn of(maker: &mut Maker, model: &str) -> Self {
        let module = format!("{TORCH}/nn/modules/module.py");
        let linear = format!("{TORCH}/nn/modules/linear.py");
        let functional = format!("{TORCH}/nn/functional.py");
        let (adam, train) = (format!("{TORCH}/optim/adam.py"), "/home/me/train.py");
        let call = (&*module, "_call_impl");
        let block = [call, (model, "block"), call, (train, "main")];
        let attention = (model, "mix");
        let mut stack = |inner: &[(&str, &str)]| maker.stack(&[inner, &block].concat());
        let layer = stack(&[(&linear, "forward")]);
        let scores = stack(&[attention]);
        let softmax = stack(&[(&functional, "softmax"), attention]);
        let head = stack(&[(&linear, "forward"), (model, "head")]);
        Self {
            weight: maker.stack(&[(&module, "_apply"), (&module, "cuda"), (train, "main")]),
            layer,
            scores,
            softmax,
            head,
            loss: maker.stack(&[(&functional, "cross_entropy"), (train, "main")]),
            optimizer: maker.stack(&[(&adam, "_init_group"), (&adam, "step"), (train, "main")]),
            zero_grad: maker.stack(&[(&format!("{TORCH}/optim/optimizer.py"), "zero_grad")]),
        }
    }
}

/// Layers, and bytes of what each of them makes.
const LAYERS: usize = 8;
const WIDTH: u64 = 8 * MIB;
const MATRIX: u64 = 32 * MIB;
const LOGITS: u64 = 128 * MIB;
const WEIGHT: u64 = 16 * MIB;

/// A training run: in each step layers with attention, a head, a loss, a backward pass and a step of the optimizer.
struct TrainedNetwork {
    maker: Maker,
    network: Network,
    weights: Vec<u64>,
    has_state: bool,
}

impl TrainedNetwork {
    fn of(model: &str) -> Self {
        let mut maker = Maker::default();
        let network = Network::of(&mut maker, model);
        let weights = (0..LAYERS).map(|_| maker.own(WEIGHT, network.weight)).collect();
        Self { maker, network, weights, has_state: false }
    }

    /// What the forward pass keeps.
    fn forward(&mut self) -> Vec<u64> {
        let (maker, network) = (&mut self.maker, &self.network);
        let mut kept = Vec::new();
        for _ in 0..LAYERS {
            kept.push(maker.own(WIDTH, network.layer));
            let scores = maker.own(MATRIX, network.scores);
            kept.push(maker.own(MATRIX, network.softmax));
            maker.free(scores, network.scores);
        }
        kept
    }

    fn step(&mut self) {
        let kept = self.forward();
        let (maker, network) = (&mut self.maker, &self.network);
        let logits = maker.own(LOGITS, network.head);
        let loss = maker.own(LOGITS, network.loss);
        let of_loss = maker.own(LOGITS, StackId::NONE);
        for block in [loss, of_loss, logits] {
            maker.free(block, StackId::NONE);
        }
        let mut gradients = Vec::new();
        for block in kept.into_iter().rev() {
            if gradients.len() < self.weights.len() {
                gradients.push(maker.own(WEIGHT, StackId::NONE));
            }
            maker.free(block, StackId::NONE);
        }
        if !self.has_state {
            for _ in 0..2 * self.weights.len() {
                maker.own(WEIGHT, network.optimizer);
            }
            self.has_state = true;
        }
        for gradient in gradients {
            maker.free(gradient, network.zero_grad);
        }
    }

    fn made(self) -> SnapshotInsights {
        insights(&self.maker.made())
    }
}

fn ran(steps: usize, model: &str) -> SnapshotInsights {
    let mut training = TrainedNetwork::of(model);
    for _ in 0..steps {
        training.step();
    }
    training.made()
}

const MODEL: &str = "/home/me/model.py";
const WEIGHTS: u64 = LAYERS as u64 * WEIGHT;
const KEPT: u64 = LAYERS as u64 * (WIDTH + MATRIX);

#[test]
fn matrices_of_attention_and_blocks_of_a_loss_are_found() {
    let found = ran(3, MODEL);
    // Weights, two states of them, what the layers keep, logits, logarithms and their gradient.
    assert_eq!(found.devices[0].peak.bytes, 3 * WEIGHTS + KEPT + 3 * LOGITS);
    assert_eq!(expected(&found, SnapshotTechnique::Sdpa), Some(LAYERS as u64 * MATRIX));
    // With an eighth of it the peak is where the backward pass has made a few gradients.
    let saved = expected(&found, SnapshotTechnique::ChunkedLoss).unwrap();
    assert!(saved > 2 * LOGITS && saved <= 3 * LOGITS, "{saved}");
    let offload = advice(&found, SnapshotTechnique::OffloadActivations).unwrap();
    let places: Vec<usize> =
        [SnapshotTechnique::ChunkedLoss, SnapshotTechnique::OffloadActivations]
            .iter()
            .map(|id| found.found.advice.iter().position(|one| one.id == id.key()).unwrap())
            .collect();
    assert!(places[0] < places[1], "what takes much time comes later: {:?}", offload.caution);
}

#[test]
fn a_softmax_that_is_called_once_is_no_attention() {
    let mut maker = Maker::default();
    let network = Network::of(&mut maker, MODEL);
    maker.own(WEIGHT, network.weight);
    for _ in 0..2 {
        let kept: Vec<u64> = (0..9).map(|_| maker.own(WIDTH, network.layer)).collect();
        let classes = maker.own(MATRIX, network.softmax);
        let gradient = maker.own(WEIGHT, StackId::NONE);
        for block in kept.into_iter().chain([classes]) {
            maker.free(block, StackId::NONE);
        }
        maker.free(gradient, network.zero_grad);
    }
    let found = insights(&maker.made());
    assert_eq!(advice(&found, SnapshotTechnique::Sdpa), None);
}

/// A recording that begins with a backward pass through layers that keep so many matrices, which makes so many smaller
/// values from one weight to the next.
fn ended(matrices: usize, smaller: usize) -> SnapshotInsights {
    let mut maker = Maker::default();
    let network = Network::of(&mut maker, MODEL);
    for _ in 0..LAYERS {
        maker.older(WEIGHT);
    }
    let kept: Vec<u64> = (0..LAYERS * matrices).map(|_| maker.older(MATRIX)).collect();
    let mut gradients = Vec::new();
    for kept in kept.chunks(matrices) {
        gradients.push(maker.own(WEIGHT, StackId::NONE));
        let made: Vec<u64> = [MATRIX, MATRIX]
            .into_iter()
            .chain(std::iter::repeat_n(WIDTH, smaller))
            .map(|bytes| maker.own(bytes, StackId::NONE))
            .collect();
        for block in kept.iter().copied().chain(made) {
            maker.free(block, StackId::NONE);
        }
    }
    maker.own(WEIGHT, network.optimizer);
    for gradient in gradients {
        maker.free(gradient, network.zero_grad);
    }
    insights(&maker.made())
}

#[test]
fn matrices_of_attention_are_known_by_the_backward_pass_that_ends_them() {
    let found = ended(1, 4);
    // The peak is then where the last layer makes its gradient, with those of the layers before.
    let saved = LAYERS as u64 * MATRIX - (LAYERS as u64 - 1) * WEIGHT;
    assert_eq!(expected(&found, SnapshotTechnique::Sdpa), Some(saved));
    let has_none = |found| advice(&found, SnapshotTechnique::Sdpa).is_none();
    assert!(has_none(ended(2, 1)), "a linear layer makes one gradient of its input");
    assert!(has_none(ended(1, 2)), "two linear layers on one input make two");
    assert!(has_none(ended(9, 30)), "a loop over positions keeps a value for each");
}

#[test]
fn adapters_are_advised_of_a_network_from_a_library_alone() {
    let library = "/v/lib/python3.12/site-packages/transformers/models/llama/modeling_llama.py";
    assert!(advice(&ran(3, library), SnapshotTechnique::Lora).is_some());
    assert_eq!(advice(&ran(3, MODEL), SnapshotTechnique::Lora), None);
    assert_eq!(advice(&ran(3, MODEL), SnapshotTechnique::FullyShard), None, "one process");
}

/// Two steps, and a third that fails at the loss, with so much free on the device.
fn failed_in_third(device_free: u64, is_like: bool) -> SnapshotInsights {
    let mut training = TrainedNetwork::of(MODEL);
    training.step();
    training.step();
    training.forward();
    training.maker.own(LOGITS, training.network.head);
    training.maker.give_back();
    let loss = if is_like { LOGITS } else { LOGITS * 2 };
    training.maker.fail(loss, device_free, training.network.loss);
    training.made()
}

#[test]
fn advice_makes_a_run_fit_where_the_step_before_says_what_the_rest_needs() {
    let fits = |found: &SnapshotInsights, technique| {
        advice(found, technique).unwrap_or_else(|| panic!("{technique:?}")).makes_it_fit
    };
    let found = failed_in_third(LOGITS - MIB, true);
    assert_eq!(fits(&found, SnapshotTechnique::Sdpa), Some(true));
    assert_eq!(fits(&found, SnapshotTechnique::FewerSamples), Some(true));
    let other = failed_in_third(LOGITS - MIB, false);
    assert_eq!(
        fits(&other, SnapshotTechnique::Sdpa),
        None,
        "a step of another size says nothing of the rest"
    );
    // Of a first step nobody knows the rest.
    let first = failing_forward(24, 100 * MIB, 10 * MIB);
    assert_eq!(fits(&first, SnapshotTechnique::CheckpointActivations), None);
    // Not even all that half the samples leave is enough for the request.
    let more = failing_forward(24, 420 * MIB, 10 * MIB);
    assert_eq!(fits(&more, SnapshotTechnique::FewerSamples), Some(false));
    let ids = first.found.advice.iter().map(|one| (one.id, one.makes_it_fit));
    let ids: Vec<_> = ids.filter(|(_, fits)| *fits != Some(false)).collect();
    let last = ids.last().map(|(id, _)| *id);
    assert_eq!(last, Some(SnapshotTechnique::NoGradientsNeeded.key()), "it may be training");
    let ran = ran(3, MODEL);
    assert!(ran.found.advice.iter().all(|advice| advice.makes_it_fit.is_none()), "nothing failed");
}
