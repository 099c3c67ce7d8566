//! How many bytes a value of the parameters has, as their sizes tell: a layer that takes what another gives has as many
//! values in each row of its weight as the other has in its bias, and a square weight has the square of a bias.

use std::collections::{HashMap, HashSet};

use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::insights::context::DeviceContext;

/// Fewer values than these say nothing.
const LEAST_VALUES: u64 = 64;
/// How many times as many parameters must speak for one size as for the other.
const LEAST_TIMES: usize = 2;

/// The sizes of parameters.
pub(super) struct ParameterSizes {
    /// Bytes of each of them.
    sizes: HashSet<u64>,
    /// Bytes of a value; `None` where the sizes do not tell.
    value_bytes: Option<u64>,
}

impl ParameterSizes {
    pub(super) fn of(context: &DeviceContext<'_>) -> Self {
        let is_parameter = |row: &usize| context.category(*row) == BlockCategory::Parameter;
        let rows = context.rows().filter(is_parameter);
        let made: Vec<u64> = rows.map(|row| context.requested(row)).collect();
        Self { value_bytes: value_bytes(&made), sizes: made.into_iter().collect() }
    }

    /// Whether a value has 32 bits.
    pub(super) fn are_single(&self) -> bool {
        self.value_bytes == Some(4)
    }

    /// Whether a value has 16 bits.
    pub(super) fn are_half(&self) -> bool {
        self.value_bytes == Some(2)
    }
}

/// Bytes of a value, by the bytes of parameters in the order in which they were made.
fn value_bytes(made: &[u64]) -> Option<u64> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for bytes in made {
        *counts.entry(*bytes).or_default() += 1;
    }
    // Values in a row of a weight, from the bias beside it.
    let rows = made.windows(2).filter_map(|pair| match pair {
        [weight, bias] if weight > bias && *bias > 0 && weight % bias == 0 => Some(weight / bias),
        _ => None,
    });
    let rows: Vec<u64> = rows.filter(|values| *values >= LEAST_VALUES).collect();
    let votes = |value: u64| {
        let of_rows = rows.iter().filter(|values| counts.contains_key(&(*values * value))).count();
        let square = |bytes: u64| {
            let values = bytes / value;
            (values >= LEAST_VALUES).then(|| values.checked_mul(bytes)).flatten()
        };
        let of_squares = counts.keys().filter_map(|bytes| counts.get(&square(*bytes)?));
        of_rows + of_squares.sum::<usize>()
    };
    let (half, single) = (votes(2), votes(4));
    match () {
        () if half > 0 && half >= single.saturating_mul(LEAST_TIMES) => Some(2),
        () if single > 0 && single >= half.saturating_mul(LEAST_TIMES) => Some(4),
        () => None,
    }
}

/// Whether the state of the optimizer has a byte for each value of a parameter already: more bytes of parameters have
/// state of a part of their size than of their size.
pub(super) fn has_eight_bits(context: &DeviceContext<'_>, weights: &ParameterSizes) -> bool {
    let state = context.at_most(|row| context.category(row) == BlockCategory::OptimizerState);
    let state: HashSet<u64> = state.into_iter().map(|row| context.requested(row)).collect();
    let with_state = |parts: u64| {
        let has = weights.sizes.iter().filter(|bytes| state.contains(&(**bytes / parts)));
        has.fold(0_u64, |sum, bytes| sum.saturating_add(*bytes))
    };
    with_state(if weights.are_half() { 2 } else { 4 }) > with_state(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parameters of layers of so many values, each with a bias, or with a normalization after it.
    fn layers(value: u64, widths: &[u64], has_bias: bool) -> Vec<u64> {
        let of_pair = |pair: &[u64]| {
            let (from, to) = (pair[0], pair[1]);
            if has_bias { vec![from * to * value, to * value] } else { vec![from * to * value] }
        };
        widths.windows(2).flat_map(of_pair).collect()
    }

    #[test]
    fn sizes_of_parameters_tell_bytes_of_a_value() {
        for value in [2, 4] {
            let network = layers(value, &[512, 2048, 512, 512, 1000], true);
            assert_eq!(value_bytes(&network), Some(value), "with biases");
            let mut network = layers(value, &[512, 512, 512, 512, 1376, 512], false);
            network.extend([512 * value; 3]);
            assert_eq!(value_bytes(&network), Some(value), "with norms");
        }
        assert_eq!(value_bytes(&[]), None);
        assert_eq!(value_bytes(&[1 << 20, 1 << 20]), None);
        assert_eq!(value_bytes(&[0, 0, 7]), None);
    }
}
