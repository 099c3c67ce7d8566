//! Shapes of what instructions make, and what they take on each kind of machine.

use clap::ValueEnum;

use super::message::ProtoMessage;

/// For what a program is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum XlaTarget {
    /// The host.
    Cpu,
    /// A graphics card: products of matrices have scratch memory of their own.
    Gpu,
    /// A TPU: the last two dimensions are padded to whole tiles.
    Tpu,
}

/// Rows and columns of a tile of a TPU.
const TILE: [u64; 2] = [8, 128];

impl XlaTarget {
    /// The stage of the compiler after which buffers are assigned, as file names have it.
    pub(super) fn stage(self) -> &'static str {
        match self {
            Self::Cpu => "cpu_after_optimizations",
            Self::Gpu => "sm_9.0a_gpu_after_optimizations",
            Self::Tpu => "cl_933746096.after_optimizations",
        }
    }

    /// What offsets within an allocation are multiples of.
    pub(super) fn alignment(self) -> u64 {
        match self {
            Self::Cpu => 64,
            Self::Gpu => 256,
            Self::Tpu => 16_384,
        }
    }

    /// What an array takes.
    pub(super) fn array_bytes(self, array: &Array) -> u64 {
        let mut dimensions = array.dimensions.clone();
        if self == Self::Tpu {
            for (dimension, tile) in dimensions.iter_mut().rev().zip(TILE.into_iter().rev()) {
                *dimension = dimension.checked_next_multiple_of(tile).unwrap_or(u64::MAX);
            }
        }
        let elements = dimensions.iter().copied().fold(1, u64::saturating_mul);
        elements.saturating_mul(array.element.bytes())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Bool,
    Byte,
    Int,
    Single,
    Half,
}

impl Scalar {
    /// XLA's number and word of it, and its bytes.
    fn facts(self) -> (u64, &'static str, u64) {
        match self {
            Self::Bool => (1, "pred", 1),
            Self::Byte => (2, "s8", 1),
            Self::Int => (4, "s32", 4),
            Self::Single => (11, "f32", 4),
            Self::Half => (16, "bf16", 2),
        }
    }

    fn bytes(self) -> u64 {
        self.facts().2
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub element: Scalar,
    pub dimensions: Vec<u64>,
}

impl Array {
    pub fn of(element: Scalar, dimensions: &[u64]) -> Self {
        Self { element, dimensions: dimensions.to_vec() }
    }

    pub fn scalar(element: Scalar) -> Self {
        Self::of(element, &[])
    }

    fn write(&self, message: &mut ProtoMessage, platform: XlaTarget) {
        message.number(2, self.element.facts().0);
        message.numbers(3, self.dimensions.iter().copied());
        message.message(5, |layout| {
            layout.numbers(1, (0..self.dimensions.len() as u64).rev());
            for tile in self.tiles(platform) {
                layout.message(6, |message| message.numbers(1, tile));
            }
        });
    }

    /// Tiles of the layout, the second of two elements in half precision that share a word.
    fn tiles(&self, platform: XlaTarget) -> Vec<Vec<u64>> {
        let rank = self.dimensions.len().min(TILE.len());
        if platform != XlaTarget::Tpu || rank == 0 {
            return Vec::new();
        }
        let tile = TILE[TILE.len() - rank..].to_vec();
        let pairs = (self.element == Scalar::Half).then(|| vec![2, 1]);
        std::iter::once(tile).chain(pairs).collect()
    }

    /// `f32[64,128]{1,0:T(8,128)}`.
    fn text(&self, platform: XlaTarget) -> String {
        let joined =
            |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let order: Vec<u64> = (0..self.dimensions.len() as u64).rev().collect();
        let tiles = self
            .tiles(platform)
            .iter()
            .map(|tile| format!("({})", joined(tile)))
            .collect::<String>();
        let tiles = if tiles.is_empty() { tiles } else { format!(":T{tiles}") };
        let name = self.element.facts().1;
        format!("{name}[{}]{{{}{tiles}}}", joined(&self.dimensions), joined(&order))
    }
}

/// What an instruction makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HloShape {
    Array(Array),
    Tuple(Vec<Array>),
}

impl HloShape {
    pub fn is_tuple(&self) -> bool {
        matches!(self, Self::Tuple(_))
    }

    /// What it takes; of a tuple its table of addresses.
    pub fn bytes(&self, platform: XlaTarget) -> u64 {
        match self {
            Self::Array(array) => platform.array_bytes(array),
            Self::Tuple(elements) => 8 * elements.len() as u64,
        }
    }

    pub fn write(&self, message: &mut ProtoMessage, platform: XlaTarget) {
        match self {
            Self::Array(array) => array.write(message, platform),
            Self::Tuple(elements) => {
                message.number(2, 13_u64);
                for element in elements {
                    message.message(4, |message| element.write(message, platform));
                }
            }
        }
    }

    /// Of an array, of a tuple, or of an element of one.
    pub fn part_text(&self, element: Option<u64>, platform: XlaTarget) -> String {
        match (self, element) {
            (Self::Array(array), _) => array.text(platform),
            (Self::Tuple(elements), Some(element)) => elements[element as usize].text(platform),
            (Self::Tuple(elements), None) => {
                let texts: Vec<String> = elements.iter().map(|one| one.text(platform)).collect();
                format!("({})", texts.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tpu_pads_the_last_two_dimensions_to_tiles() {
        let array = Array::of(Scalar::Half, &[3, 9, 130]);
        assert_eq!(XlaTarget::Gpu.array_bytes(&array), 3 * 9 * 130 * 2);
        assert_eq!(XlaTarget::Tpu.array_bytes(&array), 3 * 16 * 256 * 2);
        assert_eq!(array.text(XlaTarget::Cpu), "bf16[3,9,130]{2,1,0}");
        assert_eq!(array.text(XlaTarget::Tpu), "bf16[3,9,130]{2,1,0:T(8,128)(2,1)}");
        let row = Array::of(Scalar::Single, &[16]);
        assert_eq!(
            (XlaTarget::Tpu.array_bytes(&row), row.text(XlaTarget::Tpu)),
            (512, "f32[16]{0:T(128)}".to_owned())
        );
        assert_eq!(XlaTarget::Tpu.array_bytes(&Array::scalar(Scalar::Int)), 4);
    }
}
