//! The room of a device: what it has, and what others have of it.

/// What the device has, as the user says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Bytes of the device.
    pub capacity_bytes: Option<u64>,
    /// What others have of it.
    pub other_bytes: u64,
    /// Whether the user says that; else what an error text says of them counts, where the capacity is from there.
    pub is_other_said: bool,
}

/// What something beside a run states of its device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatedRoom {
    /// Bytes of the device.
    pub capacity_bytes: Option<u64>,
    /// What others had of it.
    pub other_bytes: Option<u64>,
}

/// What a device has: as the user says, else as something beside a run states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRoom {
    /// Bytes of the device.
    pub capacity_bytes: u64,
    /// Whether something beside the run states that.
    pub is_stated: bool,
    /// What others have of it.
    pub other_bytes: u64,
    /// Whether that follows from what is stated.
    pub is_other_stated: bool,
}

impl Room {
    /// The same, or what is stated beside a run; `None` where nobody says what the device has.
    pub fn or_stated(self, stated: StatedRoom) -> Option<KnownRoom> {
        let capacity_bytes = self.capacity_bytes.or(stated.capacity_bytes)?;
        let is_stated = self.capacity_bytes.is_none();
        let others = stated.other_bytes.filter(|_| is_stated && !self.is_other_said);
        Some(KnownRoom {
            capacity_bytes,
            is_stated,
            other_bytes: others.unwrap_or(self.other_bytes),
            is_other_stated: others.is_some(),
        })
    }
}
