//! The activity of each kind of program: compute, exchange, wait.
//!
//! Kinds are words of the file (`program_types`, `steps.type`, formats/poplar.md 2.4), of which there are more than
//! forty; what each does is by its name, also with what it is called in other versions. A kind with none of these names
//! is not guessed: it is other.

use crate::text::words;

words! {
    /// What programs of a kind do.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Activity by as_str, title {
        /// Vertices run.
        Compute = "compute" | "Compute",
        /// Data moves between tiles of an IPU.
        InternalExchange = "internal-exchange" | "Internal exchange",
        /// Data moves between IPUs.
        GlobalExchange = "inter-ipu-exchange" | "Exchange between IPUs",
        /// The IPU gets ready for, or waits for, the host.
        StreamCopyBegin = "stream-copy-begin" | "Stream copy, begin",
        /// Data moves between IPU and host.
        StreamCopy = "stream-copy" | "Stream copy",
        /// The transfer with the host is ended.
        StreamCopyEnd = "stream-copy-end" | "Stream copy, end",
        /// Tiles wait for each other.
        Sync = "sync" | "Sync",
        /// Which program runs next: sequences, loops, calls.
        Control = "control" | "Control",
        /// Any other kind.
        Other = "other" | "Other",
    }
}

impl Activity {
    /// What programs of a kind do, by its name in the file.
    pub fn of_kind(kind: &str) -> Self {
        match kind {
            "OnTileExecute" | "Execute" => Self::Compute,
            "DoExchange" | "Exchange" => Self::InternalExchange,
            "GlobalExchange" | "InterIpuExchange" => Self::GlobalExchange,
            "StreamCopyBegin" => Self::StreamCopyBegin,
            "StreamCopyMid" | "StreamCopy" | "HostExchange" => Self::StreamCopy,
            "StreamCopyEnd" => Self::StreamCopyEnd,
            "Sequence" | "Repeat" | "RepeatWhile" | "Call" | "Switch" | "OnEveryTileSwitch"
            | "OnTileSwitch" => Self::Control,
            kind if kind.contains("Sync") || kind == "Sans" => Self::Sync,
            _ => Self::Other,
        }
    }

    /// Whether it moves data to or from the host, or waits for it.
    pub fn is_of_host(self) -> bool {
        matches!(self, Self::StreamCopyBegin | Self::StreamCopy | Self::StreamCopyEnd)
    }

    /// Whether tiles do nothing of their own meanwhile, but wait for each other or for the host.
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::Sync | Self::StreamCopyBegin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_notes_is_known_by_what_it_does() {
        for (kind, activity) in [
            ("OnTileExecute", Activity::Compute),
            ("DoExchange", Activity::InternalExchange),
            ("GlobalExchange", Activity::GlobalExchange),
            ("StreamCopyBegin", Activity::StreamCopyBegin),
            ("StreamCopyMid", Activity::StreamCopy),
            ("StreamCopyEnd", Activity::StreamCopyEnd),
            ("SyncAns", Activity::Sync),
            ("Sans", Activity::Sync),
            ("InternalSync", Activity::Sync),
            ("RepeatWhile", Activity::Control),
            ("WriteUndef", Activity::Other),
            ("SomethingNew", Activity::Other),
        ] {
            assert_eq!(Activity::of_kind(kind), activity, "{kind}");
        }
    }
}
