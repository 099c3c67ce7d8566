//! Logs beside the profile, and the messages in them that this program knows.

/// A log. It is there also when it has no message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The file's name, `compile.log` for example.
    pub file: String,
    /// The messages, in the order of the file.
    pub messages: Vec<LogMessage>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogMessage {
    /// What it says, in the words of `tilescope diagnose`: `planner-at-minimum` for example.
    pub kind: &'static str,
    /// Its line, from 1.
    pub line: u64,
    pub text: String,
}
