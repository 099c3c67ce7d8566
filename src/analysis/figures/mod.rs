//! What all of the analysis counts with: a figure of two reports, rows of several reports side by side.

pub mod difference;
pub mod joined;
