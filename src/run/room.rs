//! The room of a device: what it has, and what others have of it.

/// What the device has, as the user says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Room {
    /// Bytes of the device.
    pub capacity_bytes: Option<u64>,
    /// The name of a known device that has these bytes, where he names that.
    pub named: Option<&'static str>,
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

impl StatedRoom {
    /// Bytes that were not others'.
    pub fn limit_bytes(&self) -> Option<u64> {
        Some(self.capacity_bytes?.saturating_sub(self.other_bytes.unwrap_or(0)))
    }
}

impl Room {
    /// Whether the user says anything.
    pub fn is_said(&self) -> bool {
        self.capacity_bytes.is_some() || self.other_bytes > 0 || self.is_other_said
    }

    /// Bytes that are not others', where he says what the device has.
    pub fn limit_bytes(&self) -> Option<u64> {
        Some(self.capacity_bytes?.saturating_sub(self.other_bytes))
    }

    /// Who says what the device has.
    pub fn from(&self) -> String {
        self.named.map_or_else(|| "the user".to_owned(), |device| format!("the user: {device}"))
    }
}
