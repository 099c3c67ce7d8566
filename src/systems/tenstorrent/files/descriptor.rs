//! `cluster_descriptor.yaml`: of its keys the architecture, the kinds of boards and harvested DRAM banks are read, line by
//! line, for all of them stand on lines of their own.

use std::io::Read as _;
use std::path::Path;

use super::discover::SideFiles;
use crate::files;
use crate::store::{WarningCode, Warnings};
use crate::systems::tenstorrent::recorded::{ArchSource, ChipArch, TtnnMachine, TtnnRank};

/// Bytes of a descriptor that are read: one of many hosts has some hundred thousand.
const MOST_BYTES: u64 = 4 << 20;
/// L1 of a worker core of Blackhole, bytes, which tells the architecture where no descriptor does.
const BLACKHOLE_L1_BYTES: u64 = 1_572_864;

/// What a descriptor says.
#[derive(Debug, Default, PartialEq, Eq)]
struct ClusterDescriptor {
    arch: Option<String>,
    board: Option<String>,
    harvested_dram_banks: u32,
}

impl ClusterDescriptor {
    fn parse(text: &str) -> Self {
        let (mut found, mut section, mut boards) = (Self::default(), "", Vec::new());
        let mut mask = None;
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            if !key.starts_with([' ', '-']) {
                section = key;
                continue;
            }
            let key = key.trim_start_matches([' ', '-']);
            match (section, key) {
                ("arch", _) if found.arch.is_none() && !value.is_empty() => {
                    found.arch = Some(value.to_ascii_lowercase());
                }
                // Of several it does not matter how many there are.
                ("boards", "board_type") if boards.len() < 2 && !boards.contains(&value) => {
                    boards.push(value);
                }
                ("harvesting", "dram_harvesting_mask") if mask.is_none() => {
                    mask = value.parse::<u32>().ok();
                }
                _ => {}
            }
        }
        found.harvested_dram_banks = mask.unwrap_or(0).count_ones();
        if let [board] = *boards {
            found.board = Some(board.to_owned()).filter(|board| !board.is_empty());
        }
        found
    }
}

/// Fills the architecture of a rank, from its descriptor where there is one beside it.
pub fn fill_from_folder(rank: &mut TtnnRank, beside: &SideFiles, warnings: &Warnings) {
    let own = format!("cluster_descriptor_{}_of_", rank.rank.saturating_add(1));
    let name = beside.find(|name| name.starts_with(&own));
    let name = name.or_else(|| beside.find(|name| name == "cluster_descriptor.yaml"));
    let found = name.map(|name| read_file(&beside.folder.join(name), name, warnings));
    fill(&mut rank.machine, found.unwrap_or_default());
}

/// The same from the text of a descriptor.
pub fn fill_by_text(machine: &mut TtnnMachine, text: &str) {
    fill(machine, ClusterDescriptor::parse(text));
}

fn read_file(path: &Path, name: &str, warnings: &Warnings) -> ClusterDescriptor {
    let mut bytes = Vec::new();
    let read = files::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    if let Err(error) = read {
        warnings.add(WarningCode::Inconsistent, name, format!("not read: {error}"));
    }
    ClusterDescriptor::parse(&String::from_utf8_lossy(&bytes))
}

fn fill(machine: &mut TtnnMachine, found: ClusterDescriptor) {
    let worker = machine.device.map(|device| device.worker_l1_bytes);
    let by_size = if worker == Some(BLACKHOLE_L1_BYTES) { "blackhole" } else { "wormhole_b0" };
    machine.arch = match found.arch {
        Some(name) => ChipArch { name, from: ArchSource::Descriptor },
        None => ChipArch { name: by_size.to_owned(), from: ArchSource::L1Size },
    };
    machine.board = found.board;
    let harvested = u64::from(found.harvested_dram_banks);
    machine.dram_banks = machine.arch.dram_banks().saturating_sub(harvested);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_read_line_by_line() {
        let text = "arch:\n  0: wormhole_b0\n  1: wormhole_b0\nchips:\n  0:\n    - 0\nharvesting:\n  0:\n    \
            noc_translation: true\n    dram_harvesting_mask: 5\n  1:\n    dram_harvesting_mask: 0\nboards:\n  -\n    \
            - board_id: 72\n    - board_type: n300\n  -\n    - board_type: n300\n";
        let found = ClusterDescriptor::parse(text);
        assert_eq!(found.arch.as_deref(), Some("wormhole_b0"));
        assert_eq!((found.board.as_deref(), found.harvested_dram_banks), (Some("n300"), 2));
        let empty = "arch:\n  {}\nharvesting:\n  {}\nboards:\n  []\n";
        assert_eq!(ClusterDescriptor::parse(empty), ClusterDescriptor::default());
        let two = "boards:\n  -\n    - board_type: n150\n  -\n    - board_type: n300\n";
        assert_eq!(ClusterDescriptor::parse(two).board, None);
    }

    #[test]
    fn without_a_descriptor_the_size_of_l1_tells_the_architecture() {
        let of = |worker_l1_bytes| {
            let device = crate::systems::tenstorrent::recorded::TtnnDevice {
                worker_l1_bytes,
                ..Default::default()
            };
            let mut machine = TtnnMachine { device: Some(device), ..TtnnMachine::default() };
            fill(&mut machine, ClusterDescriptor::default());
            (machine.arch.rounding_bytes(), machine.dram_banks)
        };
        assert_eq!((of(1_572_864), of(1_499_136)), ((64, 8), (32, 12)));
    }
}
