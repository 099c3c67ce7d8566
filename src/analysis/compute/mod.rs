//! What computes and exchanges: compute sets, vertices, exchanges, estimates.

#[cfg(test)]
pub(crate) mod fixture;
pub mod compute_sets;
pub mod estimates;
pub mod exchanges;
pub mod vertex_state;
pub mod vertices;
