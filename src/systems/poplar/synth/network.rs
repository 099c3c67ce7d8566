//! Networks as lists of layers: what they compute and how large their tensors are.

/// A kind of layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// A convolution with a square kernel.
    Convolution {
        /// Width of the kernel.
        kernel: u64,
        /// Groups of channels.
        groups: u64,
    },
    /// A fully connected layer.
    MatMul,
    /// A sum with the input of the block, and an activation.
    AddRelu,
    /// The mean over space.
    Pool,
}

/// A layer. Sizes are elements of one sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkLayer {
    /// PyTorch's name of the module, `layer3.5.conv2` for example.
    pub name: String,
    pub(crate) kind: LayerKind,
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) weights: u64,
    pub(crate) macs: u64,
    /// Shapes of input, weights and output of one sample; without weights, empty.
    pub(crate) shapes: [Vec<u64>; 3],
    /// Whether the layer begins a block whose input is kept until the block's sum.
    pub begins_block: bool,
    /// Line of the model's source.
    pub line: u64,
}

impl NetworkLayer {
    /// The PopLibs call that computes it.
    pub fn api(&self) -> &'static str {
        match self.kind {
            LayerKind::Convolution { .. } => "convolution",
            LayerKind::MatMul => "matMul",
            LayerKind::AddRelu => "mapInPlace",
            LayerKind::Pool => "pool",
        }
    }

    /// PyTorch's name of it.
    pub(crate) fn torch(&self) -> &'static str {
        match self.kind {
            LayerKind::Convolution { .. } => "conv2d",
            LayerKind::MatMul => "linear",
            LayerKind::AddRelu => "add_",
            LayerKind::Pool => "adaptive_avg_pool2d",
        }
    }

    /// The ONNX operation.
    pub fn onnx(&self) -> &'static str {
        match self.kind {
            LayerKind::Convolution { .. } => "Conv",
            LayerKind::MatMul => "MatMul",
            LayerKind::AddRelu => "Add",
            LayerKind::Pool => "GlobalAveragePool",
        }
    }

    /// Whether PopLibs plans it within `availableMemoryProportion`.
    pub fn is_planned(&self) -> bool {
        matches!(self.kind, LayerKind::Convolution { .. } | LayerKind::MatMul)
    }
}

/// A network that a report can be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Network {
    /// A few layers, for tests and first looks.
    Tiny,
    // Like ResNeXt-101 on pictures of 448 × 448.
    /// An image classifier of 100 grouped convolutions.
    Resnext101,
}

impl Network {
    /// Its name in options and file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Resnext101 => "resnext101",
        }
    }

    pub(crate) fn layers(self) -> Vec<NetworkLayer> {
        match self {
            Self::Tiny => residual_network(&[(1, 64, 28)], 64),
            Self::Resnext101 => {
                residual_network(&[(3, 256, 112), (4, 512, 56), (23, 1024, 28), (3, 2048, 14)], 128)
            }
        }
    }
}

/// A stem, stages of (blocks, channels, width of the picture), and a head. `width` is the number of
/// channels within the blocks of the first stage; it doubles with each stage.
fn residual_network(stages: &[(u64, u64, u64)], width: u64) -> Vec<NetworkLayer> {
    let mut layers = Vec::new();
    let first = stages.first().map_or(56, |stage| stage.2);
    // The pooling after the first convolution counts as part of its stride.
    layers.push(convolution("conv1", 7, 1, 3, width / 2, first * 4, 4, 150));
    let mut channels = width / 2;
    let mut picture = first;
    for (stage, (blocks, output, size)) in (1_u64..).zip(stages) {
        let within = width << (stage - 1);
        for block in 0..*blocks {
            let stride = if block == 0 { picture / size } else { 1 };
            let name = |part: &str| format!("layer{stage}.{block}.{part}");
            let mut conv1 = convolution(&name("conv1"), 1, 1, channels, within, picture, 1, 90);
            conv1.begins_block = true;
            layers.push(conv1);
            layers.push(convolution(&name("conv2"), 3, 32, within, within, picture, stride, 93));
            layers.push(convolution(&name("conv3"), 1, 1, within, *output, *size, 1, 96));
            let elements = output * size * size;
            let add = layer(&name("add"), LayerKind::AddRelu, elements, elements, 103);
            let shape = vec![*output, *size, *size];
            layers.push(NetworkLayer { shapes: [shape.clone(), Vec::new(), shape], ..add });
            channels = *output;
            picture = *size;
        }
    }
    let pool = layer("avgpool", LayerKind::Pool, channels * picture * picture, channels, 170);
    let shapes = [vec![channels, picture, picture], Vec::new(), vec![channels]];
    layers.push(NetworkLayer { shapes, ..pool });
    let weights = channels * 1000;
    let shapes = [vec![channels], vec![channels, 1000], vec![1000]];
    let fc = layer("fc", LayerKind::MatMul, channels, 1000, 172);
    layers.push(NetworkLayer { weights, macs: weights, shapes, ..fc });
    layers
}

/// A layer without weights that goes once through its input.
fn layer(name: &str, kind: LayerKind, input: u64, output: u64, line: u64) -> NetworkLayer {
    let (name, begins_block) = (name.to_owned(), false);
    let shapes = [vec![input], Vec::new(), vec![output]];
    NetworkLayer { name, kind, input, output, weights: 0, macs: input, shapes, begins_block, line }
}

#[expect(clippy::too_many_arguments, reason = "the seven figures that define a convolution")]
fn convolution(
    name: &str,
    kernel: u64,
    groups: u64,
    from: u64,
    to: u64,
    picture: u64,
    stride: u64,
    line: u64,
) -> NetworkLayer {
    let size = picture / stride;
    let weights = kernel * kernel * from * to / groups;
    let kind = LayerKind::Convolution { kernel, groups };
    let (input, output) = (from * picture * picture, to * size * size);
    let shapes = [
        vec![from, picture, picture],
        vec![to, from / groups, kernel, kernel],
        vec![to, size, size],
    ];
    let macs = weights * size * size;
    NetworkLayer { weights, macs, shapes, ..layer(name, kind, input, output, line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_large_network_has_the_size_of_its_model() {
        let layers = Network::Resnext101.layers();
        let weights: u64 = layers.iter().map(|layer| layer.weights).sum();
        assert!((40_000_000..48_000_000).contains(&weights), "{weights} weights");
        let convolutions = layers.iter().filter(|layer| layer.api() == "convolution").count();
        assert_eq!(convolutions, 1 + 33 * 3);
        assert!(layers.iter().any(|layer| layer.name == "layer3.22.conv2"));
    }
}
