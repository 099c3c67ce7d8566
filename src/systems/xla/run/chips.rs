//! Chips by what the compiler and profiles call them.

use crate::run::{KnownDevice, known_device_of};

/// What is known of a chip that a file names in its own way.
pub(super) fn known_chip(device: &str) -> Option<&'static KnownDevice> {
    known_device_of(match device {
        "TPU_VERSION_JELLYFISH" => "v2",
        "TPU_VERSION_DRAGONFISH" => "v3",
        "TPU_VERSION_PUFFERFISH" => "v4",
        // The hash stands for the name in releases before that was published.
        "TPU_VERSION_VIPERFISH lite" | "TPU_VERSION_2093c6a02 lite" => "v5e",
        "TPU_VERSION_VIPERFISH" | "TPU v5" => "v5p",
        "TPU_VERSION_GHOSTLITE" => "v6e",
        "TPU7x" => "v7x",
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_are_known_by_what_files_call_them() {
        let name = |device| known_chip(device).map(|known| known.name);
        for (device, expected) in [
            ("TPU_VERSION_VIPERFISH lite", Some("v5e")),
            ("TPU v5 lite", Some("v5e")),
            ("TPU_VERSION_VIPERFISH", Some("v5p")),
            ("TPU v5", Some("v5p")),
            ("TPU_VERSION_GHOSTLITE", Some("v6e")),
            ("NVIDIA H100 80GB HBM3", Some("H100")),
            ("TPU_VERSION_PUFFERFISH lite", None),
            ("TPU_VERSION_GHOSTLITE x", None),
            ("TPU v4 lite", None),
            ("NVIDIA A100", None),
        ] {
            assert_eq!(name(device), expected, "{device}");
        }
    }
}
