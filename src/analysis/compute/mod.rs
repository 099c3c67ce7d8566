//! Computation and exchange: compute sets, vertices, exchanges, estimates.

pub mod compute_sets;
pub mod estimates;
pub mod exchanges;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod vertex_state;
pub mod vertices;
