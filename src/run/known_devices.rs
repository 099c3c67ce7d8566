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
    /// Where they are stated.
    pub source: &'static str,
    /// Names in files, beside its own after a maker's.
    names_in_files: &'static [&'static str],
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

/// Where XLA says how much HBM a program may have: "Used 19.46G of 15.75G hbm".
const XLA_ERROR: &str = "error texts of XLA";
/// Where PyTorch says how much a device has: "GPU 0 has a total capacity of 79.10 GiB".
const PYTORCH_ERROR: &str = "error texts of PyTorch";
/// Where PyTorch lists what it knows of a device: `total_memory=48676MB`.
const PYTORCH_PROPERTIES: &str = "device properties in PyTorch";
/// `device_memory_size` of the targets that XLA can compile for without the device.
const XLA_TARGET: &str = "target configurations of XLA";
/// Where TensorFlow lists what it has found: `totalMemory: 31.72GiB`.
const TENSORFLOW_LOG: &str = "logs of TensorFlow";

/// All of them, by maker and age. Where sources differ by driver, it is the least.
pub const KNOWN_DEVICES: &[KnownDevice] = {
    use KnownMemory::{ForProgram, ForProgramOfCore, Total, TotalOfHalf};
    &[
        known("v2", 748, ForProgramOfCore, XLA_ERROR, &["TPU_VERSION_JELLYFISH"]),
        known("v3", 1548, ForProgramOfCore, XLA_ERROR, &["TPU_VERSION_DRAGONFISH"]),
        known("v4", 3075, ForProgram, XLA_ERROR, &["TPU_VERSION_PUFFERFISH"]),
        known(
            "v5e",
            1575,
            ForProgram,
            XLA_ERROR,
            // The hash stands for the name in releases before it was published.
            &["TPU v5 lite", "TPU_VERSION_VIPERFISH lite", "TPU_VERSION_2093c6a02 lite"],
        ),
        known("v5p", 9574, ForProgram, XLA_ERROR, &["TPU v5", "TPU_VERSION_VIPERFISH"]),
        known("v6e", 3125, ForProgram, XLA_ERROR, &["TPU v6 lite", "TPU_VERSION_GHOSTLITE"]),
        known("v7x", 9475, ForProgramOfCore, XLA_ERROR, &["TPU7x"]),
        known(
            "V100-16GB",
            1575,
            Total,
            PYTORCH_PROPERTIES,
            &["Tesla V100-SXM2-16GB", "Tesla V100-PCIE-16GB"],
        ),
        known(
            "V100-32GB",
            3172,
            Total,
            TENSORFLOW_LOG,
            &["Tesla V100-SXM2-32GB", "Tesla V100-PCIE-32GB"],
        ),
        known("T4", 1456, Total, PYTORCH_ERROR, &[]),
        known(
            "A100-40GB",
            3938,
            Total,
            PYTORCH_PROPERTIES,
            &["NVIDIA A100-SXM4-40GB", "NVIDIA A100-PCIE-40GB"],
        ),
        known(
            "A100-80GB",
            7910,
            Total,
            PYTORCH_ERROR,
            &["NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe"],
        ),
        known("A10G", 2203, Total, PYTORCH_ERROR, &[]),
        known("L4", 2203, Total, PYTORCH_ERROR, &[]),
        known("L40S", 4434, Total, PYTORCH_ERROR, &[]),
        known("RTX 3090", 2349, Total, PYTORCH_ERROR, &[]),
        known("RTX 4090", 2349, Total, PYTORCH_ERROR, &[]),
        known("RTX 5090", 3134, Total, PYTORCH_ERROR, &[]),
        known("RTX A6000", 4726, Total, PYTORCH_ERROR, &[]),
        known("H100", 7910, Total, XLA_TARGET, &["NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe"]),
        known("H200", 13972, Total, PYTORCH_ERROR, &["NVIDIA H200 141GB HBM3e"]),
        known("B200", 17835, Total, PYTORCH_ERROR, &[]),
        known("GB200", 18430, Total, XLA_TARGET, &[]),
        known("MI250X", 6398, TotalOfHalf, PYTORCH_PROPERTIES, &[]),
        known("MI300X", 19169, Total, PYTORCH_ERROR, &[]),
    ]
};

/// A row of the table, with hundredths of a GiB.
const fn known(
    name: &'static str,
    hundredths: u64,
    of: KnownMemory,
    source: &'static str,
    names_in_files: &'static [&'static str],
) -> KnownDevice {
    KnownDevice { name, bytes: (hundredths << 30) / 100, of, source, names_in_files }
}

/// What makers put before the names of their devices.
const MAKERS: [&str; 6] = ["nvidia", "tesla", "geforce", "amd", "instinct", "tpu"];

/// The device that a user or a file names; `None` where it is none of them, or could be several: an A100 has 40 GB or 80.
pub fn known_device_of(text: &str) -> Option<&'static KnownDevice> {
    let whole = letters_of(text);
    let mut own = &*whole;
    for maker in MAKERS {
        own = own.strip_prefix(maker).unwrap_or(own);
    }
    KNOWN_DEVICES.iter().find(|device| {
        letters_of(device.name) == own
            || device.names_in_files.iter().any(|name| letters_of(name) == whole)
    })
}

/// Small letters and digits of a name: how it is put together differs.
fn letters_of(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|one| one.to_ascii_lowercase()).collect()
}

/// What `--capacity` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityArgument {
    /// Bytes of the device.
    pub bytes: u64,
    /// The device whose they are, where that was named instead.
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
            ("TPU_VERSION_VIPERFISH lite", "v5e"),
            ("TPU v5", "v5p"),
            ("TPU_VERSION_VIPERFISH", "v5p"),
            ("TPU_VERSION_GHOSTLITE", "v6e"),
            ("TPU v4", "v4"),
            ("TPU7x", "v7x"),
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
            "v5 lite",
            "TPU v4 lite",
            "TPU_VERSION_PUFFERFISH lite",
            "A100",
            "V100",
            "NVIDIA H100 NVL",
            "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
            "NVIDIA GeForce RTX 4090 Laptop GPU",
            "4090",
            "not an H100",
        ] {
            assert_eq!(name_of(text), None, "{text}");
        }
    }

    #[test]
    fn no_name_is_of_two_devices_or_a_number_of_bytes() {
        for device in KNOWN_DEVICES {
            let all = std::iter::once(&device.name).chain(device.names_in_files);
            for name in all {
                assert_eq!(known_device_of(name), Some(device), "{name}");
                assert!(size::parse(name).is_err(), "{name}");
            }
        }
    }

    #[test]
    fn the_document_lists_all_of_them() {
        let commands = include_str!("../../docs/user/commands.md");
        for KnownDevice { name, bytes, of, source, .. } in KNOWN_DEVICES {
            let hundredths = (bytes * 100).div_ceil(1 << 30);
            let size = format!("{}.{:02}", hundredths / 100, hundredths % 100);
            let row = format!("| `{name}` | {size} GiB | {} | {source} |", of.title());
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
        assert_eq!(CapacityArgument::parse("1KB").unwrap_err(), size::parse("1KB").unwrap_err());
    }
}
