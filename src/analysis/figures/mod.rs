//! What all of the analysis counts with: a figure of two reports, rows of two reports side by side.

pub mod difference;
pub mod joined;
