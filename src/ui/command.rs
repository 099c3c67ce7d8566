//! What the user can ask of the window. Pages and bars send commands; the app carries them out.

use std::path::PathBuf;

/// A page of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// Facts, options, files.
    Summary,
    /// Bytes over tiles.
    Memory,
    /// Bytes over steps.
    Liveness,
}

/// A wish.
#[derive(Clone, Debug)]
pub enum Command {
    /// Opens the report at a path.
    Open(PathBuf),
    /// Opens the demo, which is written first where it is not there.
    Demo,
    /// Asks for a directory with a dialog.
    Pick,
    /// Reads the report again.
    Reload,
    /// Goes back to the home page.
    Close,
    /// Stops reading.
    Cancel,
    /// Shows a page.
    Go(Page),
    /// Shows or hides the warnings.
    ToggleWarnings,
}
