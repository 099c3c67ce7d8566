//! The parts of a PyTorch run in the index: the snapshot, and results that need a pass over all events: the replay of
//! each device, and what each block is for.

use serde::{Deserialize, Serialize};

use super::ReplayedSnapshot;
use super::snapshot_parts::{
    decoded_words, expected_snapshot_bytes, read_snapshot, write_snapshot,
};
use crate::files::file_name;
use crate::index::{Cache, Identity, IndexError, IndexFile, Indexed, check};
use crate::progress::Progress;
use crate::store::Warning;
use crate::store::snapshot::SnapshotDevice;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::replay::Replay;
use crate::systems::pytorch::files::{FileKind, SnapshotFiles};

/// Devices of which there is room for all columns.
const MOST_DEVICES: usize = 32;

/// Bytes of a block in all columns.
const LIFE_BYTES: u64 = 41;

/// The index of a snapshot: where it is or would be.
#[derive(Debug)]
pub(super) struct SnapshotIndex {
    indexed: Indexed,
    /// The name of the file.
    file: String,
    /// What reading and replaying it said; `None` where that does not stand for the whole file.
    warnings: Option<Vec<Warning>>,
}

/// What is encoded.
#[derive(Deserialize)]
struct Small {
    warnings: Vec<Warning>,
    replays: Vec<Replay>,
}

/// The same as it is in a run, in the same order.
#[derive(Serialize)]
struct SmallOf<'a> {
    warnings: &'a [Warning],
    replays: &'a [Replay],
}

const SMALL: &str = "replays";

/// The columns of a device: those of its blocks, and what each is for.
const LIVES: [&str; 8] = [
    "addresses",
    "requested",
    "bytes",
    "allocated_at",
    "requested_free_at",
    "freed_at",
    "stacks",
    "categories",
];

fn names_of(place: usize) -> [String; LIVES.len()] {
    LIVES.map(|name| format!("lives.{place}.{name}"))
}

impl SnapshotIndex {
    /// Of a snapshot; a timeline has none.
    pub(super) fn find(cache: &Cache, files: &SnapshotFiles) -> Option<Self> {
        if files.kind != FileKind::Snapshot {
            return None;
        }
        let identity = Identity::of([&*files.path])?;
        let file = file_name(&files.path);
        Some(Self { indexed: Indexed::of(cache, identity), file, warnings: None })
    }

    /// Whether there is one, and nothing wrong was found with it yet.
    pub(super) fn is_there(&self) -> bool {
        self.indexed.is_there()
    }

    /// The same with what was said of the whole file while it was read.
    pub(super) fn with(self, warnings: Vec<Warning>) -> Self {
        Self { warnings: Some(warnings), ..self }
    }

    /// The snapshot with its replays, and what was said of them. All of it is of the one file, by the name that it has
    /// now: an index stands for what is in it, and it may have been read first under another one.
    pub(super) fn read(&self) -> Option<(ReplayedSnapshot, Vec<Warning>)> {
        let (replayed, mut warnings) = self.indexed.read(read)?;
        for warning in &mut warnings {
            warning.file.clone_from(&self.file);
        }
        Some((replayed, warnings))
    }

    /// Writes it.
    ///
    /// # Errors
    /// When it was not the whole file that was read, and as [`Indexed::write`].
    pub(super) fn write(
        &self,
        replayed: &ReplayedSnapshot,
        progress: &Progress,
    ) -> Result<u64, IndexError> {
        let not = |why: &str| Err(IndexError::NotWritten(why.to_owned()));
        let Some(warnings) = &self.warnings else { return not("the file is not whole") };
        if replayed.replays.len() > MOST_DEVICES {
            return not("more devices than there is room for");
        }
        let blocks: usize = replayed.replays.iter().map(|replay| replay.lives.len()).sum();
        let expected = expected_snapshot_bytes(&replayed.snapshot)
            .saturating_add((blocks as u64).saturating_mul(LIFE_BYTES));
        self.indexed.write(expected, progress, |to| {
            write_snapshot(&replayed.snapshot, to)?;
            let replays = &replayed.replays;
            to.encoded(SMALL, &SmallOf { warnings, replays })?;
            for (place, replay) in replays.iter().enumerate() {
                let lives = &replay.lives;
                let [addresses, requested, bytes, allocated, requested_free, freed, stacks, kinds] =
                    names_of(place);
                to.column(&addresses, &lives.addresses)?;
                to.column(&requested, &lives.requested)?;
                to.column(&bytes, &lives.bytes)?;
                to.column(&allocated, &lives.allocated_at)?;
                to.column(&requested_free, &lives.requested_free_at)?;
                to.column(&freed, &lives.freed_at)?;
                to.column(&stacks, &lives.stacks)?;
                let categories = replayed.categories(place).iter();
                to.column(&kinds, &categories.map(|category| *category as u8).collect())?;
            }
            Ok(())
        })
    }
}

/// What an index says.
pub(crate) fn read(from: &IndexFile) -> Result<(ReplayedSnapshot, Vec<Warning>), IndexError> {
    let snapshot = read_snapshot(from)?;
    let Small { warnings, mut replays } = from.decoded(SMALL)?;
    let devices: Vec<SnapshotDevice> = snapshot.all_devices().cloned().collect();
    check(devices.len() == replays.len(), "a replay of each device")?;
    let mut categories = Vec::with_capacity(replays.len());
    for (place, (replay, device)) in replays.iter_mut().zip(&devices).enumerate() {
        let names = names_of(place);
        from.verify(&names.each_ref().map(String::as_str))?;
        let [addresses, requested, bytes, allocated, requested_free, freed, stacks, kinds] = &names;
        let lives = BlockLives {
            addresses: from.column(addresses)?,
            requested: from.column(requested)?,
            bytes: from.column(bytes)?,
            allocated_at: from.column(allocated)?,
            requested_free_at: from.column(requested_free)?,
            freed_at: from.column(freed)?,
            stacks: from.column(stacks)?,
        };
        let of = decoded_words(&from.column::<u8>(kinds)?, &BlockCategory::ALL)?;
        let count = lives.len();
        let lengths = [
            lives.requested.len(),
            lives.bytes.len(),
            lives.allocated_at.len(),
            lives.requested_free_at.len(),
            lives.freed_at.len(),
            lives.stacks.len(),
            of.len(),
        ];
        check(lengths.iter().all(|length| *length == count), "columns of one length")?;
        check(u32::try_from(device.events.len()).is_ok(), "events that have numbers")?;
        replay.lives = lives;
        categories.push(of);
    }
    Ok((ReplayedSnapshot::of_known(snapshot, replays, categories), warnings))
}
