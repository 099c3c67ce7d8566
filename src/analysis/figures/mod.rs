//! Figures that all of the analysis uses: a figure of two reports, rows of several reports side by side.

pub(crate) mod difference;
pub(crate) mod joined;
