//! Devices whose memory is known: presets of `--capacity`, and of chips that files name.

use crate::text::size;

/// A device by the name that users write, and its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownDevice {
    /// `v5e`, `H100`, `A100-40GB`.
    pub name: &'static str,
    /// Bytes, rounded down: the least that a source states.
    pub bytes: u64,
    /// What of the device these bytes are.
    pub of: KnownMemory,
    /// What files call it, without the maker.
    other_names: &'static [&'static str],
}

/// What the bytes of a known device are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownMemory {
    /// What the compiler lets a program have.
    ForProgram,
    /// The same, of one of the two cores of a chip, which are devices of their own.
    ForProgramOfCore,
    /// All memory of the device; what the driver and other processes have of it is a part.
    Total,
    /// The same, of one of the two halves of a card, which are devices of their own.
    TotalOfHalf,
}

impl KnownMemory {
    /// In words.
    pub fn title(self) -> &'static str {
        match self {
            Self::ForProgram => "HBM that a program may have",
            Self::ForProgramOfCore => "HBM that a program may have, of one core",
            Self::Total => "all memory of the device",
            Self::TotalOfHalf => "all memory of one of the card's two devices",
        }
    }
}

/// All of them, by maker and age. Where sources differ by driver, it is the least.
pub const KNOWN_DEVICES: &[KnownDevice] = {
    use KnownMemory::{ForProgram, ForProgramOfCore, Total, TotalOfHalf};
    &[
        // Error texts of XLA: "Used 19.46G of 15.75G hbm".
        known("v2", 748, ForProgramOfCore, &[]),
        known("v3", 1548, ForProgramOfCore, &[]),
        known("v4", 3075, ForProgram, &[]),
        known("v5e", 1575, ForProgram, &["v5 lite"]),
        known("v5p", 9574, ForProgram, &[]),
        known("v6e", 3125, ForProgram, &["v6 lite"]),
        known("v7x", 9475, ForProgramOfCore, &[]),
        // Device properties in PyTorch: `total_memory=16130MB`.
        known("V100-16GB", 1575, Total, &["V100-SXM2-16GB", "V100-PCIE-16GB"]),
        // Logs of TensorFlow: `totalMemory: 31.72GiB`.
        known("V100-32GB", 3172, Total, &["V100-SXM2-32GB", "V100-PCIE-32GB"]),
        // Error texts of PyTorch: "GPU 0 has a total capacity of 14.56 GiB".
        known("T4", 1456, Total, &[]),
        // Device properties in PyTorch.
        known("A100-40GB", 3938, Total, &["A100-SXM4-40GB", "A100-PCIE-40GB"]),
        // Error texts of PyTorch.
        known("A100-80GB", 7910, Total, &["A100-SXM4-80GB", "A100 80GB PCIe"]),
        known("A10G", 2203, Total, &[]),
        known("L4", 2203, Total, &[]),
        known("L40S", 4434, Total, &[]),
        known("RTX 3090", 2349, Total, &[]),
        known("RTX 4090", 2349, Total, &[]),
        known("RTX 5090", 3134, Total, &[]),
        known("RTX A6000", 4726, Total, &[]),
        // Target configurations of XLA: `device_memory_size: 84942979072`.
        known("H100", 7910, Total, &["H100 80GB HBM3", "H100 PCIe"]),
        // Error texts of PyTorch.
        known("H200", 13972, Total, &["H200 141GB HBM3e"]),
        known("B200", 17835, Total, &[]),
        // Target configurations of XLA.
        known("GB200", 18430, Total, &[]),
        // Device properties in PyTorch.
        known("MI250X", 6398, TotalOfHalf, &[]),
        // Error texts of PyTorch.
        known("MI300X", 19169, Total, &[]),
    ]
};

/// A row of the table, with hundredths of a GiB.
const fn known(
    name: &'static str,
    hundredths: u64,
    of: KnownMemory,
    other_names: &'static [&'static str],
) -> KnownDevice {
    KnownDevice { name, bytes: (hundredths << 30) / 100, of, other_names }
}

/// Words that may stand before a name: the maker, and what it calls such devices.
const MOST_WORDS_BEFORE: usize = 2;

/// The device that a user or a file names; `None` where it is none of them, or could be several: an A100 has 40 GB or 80.
pub fn known_device_of(text: &str) -> Option<&'static KnownDevice> {
    let words: Vec<String> = words_of(text).collect();
    let has_digit = |word: &String| word.contains(|letter: char| letter.is_ascii_digit());
    let before = words.iter().position(has_digit)?.min(MOST_WORDS_BEFORE);
    let names: Vec<String> =
        (0..=before).map(|first| words.iter().skip(first).cloned().collect()).collect();
    KNOWN_DEVICES.iter().find(|device| {
        let mut known = std::iter::once(&device.name).chain(device.other_names);
        known.any(|known| names.contains(&words_of(known).collect()))
    })
}

/// The words of a name in small letters: how they are put together differs.
fn words_of(name: &str) -> impl Iterator<Item = String> {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase)
}

/// What `--capacity` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityArgument {
    /// Bytes of the device.
    pub bytes: u64,
    /// The device that has them, where that was named in place of bytes.
    pub from: Option<&'static str>,
}

impl CapacityArgument {
    /// Of bytes with a unit as in [`size::parse`], or the name of a known device.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(device) = known_device_of(text) {
            return Ok(Self { bytes: device.bytes, from: Some(device.name) });
        }
        match size::parse(text) {
            Ok(bytes) => Ok(Self { bytes, from: None }),
            Err(expected) if text.starts_with(|first: char| first.is_ascii_digit()) => {
                Err(expected)
            }
            Err(_) => {
                let names: Vec<&str> = KNOWN_DEVICES.iter().map(|device| device.name).collect();
                Err(format!("bytes such as 16GiB expected, or a device: {}", names.join(", ")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(text: &str) -> Option<&'static str> {
        known_device_of(text).map(|device| device.name)
    }

    #[test]
    fn names_are_found_as_users_and_files_write_them() {
        for (text, expected) in [
            ("v5e", "v5e"),
            ("TPU v5e", "v5e"),
            ("tpu-v5e", "v5e"),
            ("TPU v5 lite", "v5e"),
            ("TPU v6 lite", "v6e"),
            ("TPU v4", "v4"),
            ("h100", "H100"),
            ("NVIDIA H100 80GB HBM3", "H100"),
            ("a100 40gb", "A100-40GB"),
            ("NVIDIA A100-SXM4-80GB", "A100-80GB"),
            ("Tesla T4", "T4"),
            ("rtx4090", "RTX 4090"),
            ("NVIDIA GeForce RTX 4090", "RTX 4090"),
            ("AMD Instinct MI300X", "MI300X"),
        ] {
            assert_eq!(name_of(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_name_that_could_be_several_devices_is_none() {
        for text in [
            "",
            "TPU",
            "NVIDIA",
            "v5",
            "TPU v5",
            "TPU v4 lite",
            "A100",
            "V100",
            "NVIDIA H100 NVL",
            "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
            "NVIDIA GeForce RTX 4090 Laptop GPU",
            "4090",
            "surely not an H100",
            "NVIDIA GH200",
        ] {
            assert_eq!(name_of(text), None, "{text}");
        }
    }

    #[test]
    fn no_name_is_of_two_devices_or_a_number_of_bytes() {
        for device in KNOWN_DEVICES {
            let all = std::iter::once(&device.name).chain(device.other_names);
            for name in all {
                assert_eq!(known_device_of(name), Some(device), "{name}");
                assert!(size::parse(name).is_err(), "{name}");
            }
        }
    }

    #[test]
    fn the_document_lists_all_of_them() {
        let commands = include_str!("../../docs/user/commands.md");
        for KnownDevice { name, bytes, of, .. } in KNOWN_DEVICES {
            let hundredths = (bytes * 100).div_ceil(1 << 30);
            let size = format!("{}.{:02}", hundredths / 100, hundredths % 100);
            let row = format!("| `{name}` | {size} GiB | {} |", of.title());
            assert!(commands.contains(&row), "{row}");
        }
    }

    #[test]
    fn a_capacity_is_bytes_or_a_device() {
        let of = |bytes, from| Ok(CapacityArgument { bytes, from });
        assert_eq!(CapacityArgument::parse("16GiB"), of(16 << 30, None));
        assert_eq!(CapacityArgument::parse("v5e"), of(63 << 28, Some("v5e")));
        assert_eq!(CapacityArgument::parse("Nvidia h100"), of(84_932_978_278, Some("H100")));
        let unknown = CapacityArgument::parse("h1000").unwrap_err();
        assert!(unknown.contains("v5e, v5p") && unknown.contains("H100"), "{unknown}");
        assert_eq!(CapacityArgument::parse("1KX").unwrap_err(), size::parse("1KX").unwrap_err());
    }
}
