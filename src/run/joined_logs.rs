//! Messages of logs, joined with the runs that they are about.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::evidence::Place;
use crate::diagnose::Finding;
use crate::store::Warning;

/// The messages of a log.
#[derive(Clone, Copy, Debug)]
pub struct LogToJoin<'a> {
    /// Its file; `None` for standard input.
    pub file: Option<&'a Path>,
    /// What it says.
    pub findings: &'a [Finding],
}

/// What a run says of a message, or of itself where no message is about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JoinedRun {
    /// The keys that it has in JSON.
    pub keys: Map<String, Value>,
    /// The same for people: lines.
    pub text: String,
    /// The run itself, where a message is about one.
    pub of: Option<RunOfMessage>,
}

/// A run that a message is about, to be opened by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunOfMessage {
    /// Its file or directory.
    pub path: PathBuf,
    /// Which of its modules, of systems that have some.
    pub module: Option<String>,
    /// The number of the device; `None` where the run is about one.
    pub device: Option<i64>,
}

/// What the runs of a system say of some logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JoinedLogs {
    /// For each log, and each of its messages.
    pub messages: Vec<Vec<JoinedRun>>,
    /// The runs that were named and that no message is about; `keys` has them all in one list, and is empty where there are none.
    pub alone: JoinedRun,
    /// What is to be said of how they were found and read.
    pub warnings: Vec<Warning>,
}

/// Where a run has what a message is about.
#[derive(Clone, Debug, PartialEq)]
pub struct MessagePlace {
    /// How the run and the message agree, or what each says: a sentence without its full stop.
    pub said: String,
    /// What is shown: `tile 209 in Map`.
    pub title: String,
    /// The place; an arena is shown on Map.
    pub place: Place,
}
