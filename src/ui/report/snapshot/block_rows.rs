//! Allocations as rows of a table.

use std::cmp::Reverse;
use std::sync::Arc;

use super::block_facts::{address_text, life_text};
use super::short_frame;
use crate::store::snapshot::StackId;
use crate::systems::pytorch::allocator::curves::{BlocksBy, CodeNames};
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::ui::widget::rows::{BarOf, Column, Rows, Value};

/// Width of a table from which bars leave room for all of its columns, points.
pub const BARS: f32 = 960.0;

/// Allocations of a snapshot, the largest first.
pub struct BlockRows {
    replayed: Arc<ReplayedSnapshot>,
    /// Place of the device, and block.
    rows: Vec<(u32, u32)>,
    has_devices: bool,
}

impl BlockRows {
    /// Of some blocks of devices that are prepared ([`super::prepare`]).
    pub fn of(replayed: &Arc<ReplayedSnapshot>, mut rows: Vec<(u32, u32)>) -> Self {
        rows.sort_by_key(|(place, row)| {
            let lives = replayed.replays.get(*place as usize).map(|replay| &replay.lives);
            let bytes = lives.and_then(|lives| lives.requested.get(*row as usize));
            (Reverse(bytes.copied().unwrap_or(0)), *place, *row)
        });
        // Who draws does not wait for them.
        replayed.code_names(BlocksBy::Frame);
        let has_devices = replayed.snapshot.all_devices().count() > 1;
        Self { replayed: Arc::clone(replayed), rows, has_devices }
    }

    fn names(&self) -> &CodeNames {
        self.replayed.code_names(BlocksBy::Frame)
    }

    /// The place of the device and the block of a row.
    pub fn at(&self, row: usize) -> Option<(u32, u32)> {
        self.rows.get(row).copied()
    }

    /// The columns, with bars of a whole where there is room for them.
    pub fn columns(&self, whole: u64, room: f32) -> Vec<Column> {
        let whole = whole as f64;
        let bar = BarOf { track: whole, limit: None, whole, of: "of all that is listed" };
        let asked = Column::bytes("Asked", 100.0);
        let mut columns = vec![
            Column::text("Code", 220.0),
            if room < BARS { asked } else { asked.with_bars(bar) },
            Column::bytes("Block", 90.0),
            Column::text("Category", 100.0),
            Column { unit: "number", ..Column::text("From event", 80.0) },
            Column { unit: "number", ..Column::text("Events alive", 80.0) },
            Column::text("Address", 130.0),
        ];
        if self.has_devices {
            columns.push(Column::text("Device", 70.0));
        }
        columns
    }
}

impl Rows for BlockRows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some((place, row)) = self.rows.get(row).copied() else { return Value::Nothing };
        let (place, row) = (place as usize, row as usize);
        let Some((device, replay)) = self.replayed.device(place) else { return Value::Nothing };
        let lives = &replay.lives;
        let of = |column: &[u64]| column.get(row).copied();
        match column {
            0 => {
                let stack = lives.stacks.get(row).copied().unwrap_or(StackId::NONE);
                Value::text(short_frame(self.names().title_of(stack)))
            }
            1 => Value::bytes(of(&lives.requested)),
            2 => Value::bytes(of(&lives.bytes)),
            3 => {
                let category = self.replayed.categories(place).get(row);
                category.map_or(Value::Nothing, |category| Value::text(category.title()))
            }
            4 => {
                lives.allocation(row).map_or(Value::text("before"), |event| Value::Id(event.into()))
            }
            5 => {
                let from = lives.allocation(row).unwrap_or(0);
                match lives.freed_at.get(row).copied() {
                    Some(BlockLives::OPEN) | None => {
                        let count = device.events.len() as u64;
                        Value::Count(count.saturating_sub(u64::from(from)))
                    }
                    Some(event) => Value::Count(u64::from(event.saturating_sub(from))),
                }
            }
            6 => {
                let number = self.replayed.known_index(place).map_or(0, |index| index.number(row));
                let address = lives.addresses.get(row).copied().unwrap_or(0);
                Value::text(address_text(address, number))
            }
            _ => Value::text(device.title()),
        }
    }

    fn hover(&self, row: usize) -> Option<String> {
        let (place, row) = self.rows.get(row).copied()?;
        let (device, replay) = self.replayed.device(place as usize)?;
        let life = life_text(&replay.lives, row as usize, device.events.len());
        let stack = replay.lives.stacks.get(row as usize)?;
        Some(format!("{}\nLives from {life}", self.names().title_of(*stack)))
    }
}
