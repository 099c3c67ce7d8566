//! What the user can ask of the window. Pages and bars send commands; the app carries them out.

use eframe::egui::{Rect, ThemePreference};
use std::path::PathBuf;
use std::sync::Arc;

use super::runs::{Arrangement, RunId, StepsBy};
use super::units::Units;
use crate::analysis::figures::difference::Side;

use super::widget::rows::{Column, Order, Rows};

/// A page of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Page {
    /// Facts, options, files.
    Summary,
    /// Whether it fits, and what to try next.
    Insights,
    /// Bytes over tiles.
    #[default]
    Memory,
    /// Bytes over steps.
    Liveness,
    /// What changed from one report to another.
    Comparison,
}

/// What a directory or file is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickFor {
    /// To open its report.
    Open,
    /// To compare what is open with its report.
    Run,
    /// To open its report in place of a run that could not be opened.
    InPlaceOf(RunId),
    /// To name it in the fields for two reports.
    Field(Side),
    /// To read a log, which is a file.
    Log,
    /// To put the reports in it side by side.
    Sweep,
}

/// What needs no open report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Many reports side by side.
    Sweep,
    /// Errors and logs explained.
    Diagnose,
}

/// A wish.
#[derive(Clone)]
pub enum Command {
    /// Opens the report at a path.
    Open(PathBuf),
    /// Opens the demo, which is written first where it is not there.
    Demo,
    /// Opens several reports to compare, the first of which is the reference.
    Compare(Vec<PathBuf>),
    /// Compares what is open with the report at a path, too.
    AddRun(PathBuf),
    /// Opens the report at a path in place of a run that could not be opened.
    OpenInPlace(RunId, PathBuf),
    /// Shows the reference alone again.
    EndComparison,
    /// Makes the second run the reference: of two, exchanges source and target.
    Swap,
    /// Compares all others with this run.
    MakeReference(RunId),
    /// Leaves a run out of all pages, or shows it again.
    HideRun(RunId, bool),
    /// Reads a run again.
    ReloadRun(RunId),
    /// Closes a run.
    CloseRun(RunId),
    /// Shows several runs in another arrangement.
    Arrange(Arrangement),
    /// Aligns the steps of several runs in another way.
    AlignSteps(StepsBy),
    /// Shows the fields for two reports on the home page.
    ChooseTwo,
    /// Names a report in the fields for two.
    NameReport(Side, PathBuf),
    /// Asks for a directory with a dialog.
    Pick(PickFor),
    /// Reads the report again.
    Reload,
    /// Goes back to the home page.
    Close,
    /// Stops reading.
    Cancel,
    /// Shows a page.
    Go(Page),
    /// Shows what needs no open report.
    Use(Tool),
    /// Explains a log.
    OpenLog(PathBuf),
    /// Puts the reports below a directory side by side.
    OpenSweep(PathBuf),
    /// Shows or hides the warnings.
    ToggleWarnings,
    /// Takes a report out of the list of recent ones.
    Forget(PathBuf),
    /// Takes a comparison out of the list of recent ones.
    ForgetComparison(Vec<PathBuf>),
    /// Shows the list of commands, or hides it.
    TogglePalette,
    /// Shows the list of keys, or hides it.
    ToggleKeys,
    /// Shows icons only in the menu, or icons with titles again.
    ToggleMenu,
    /// Changes the colours.
    Theme(ThemePreference),
    /// Changes the unit of bytes.
    Units(Units),
    /// Goes back to the selection before this one.
    Back,
    /// Goes forward again.
    Forward,
    /// Puts something on the clipboard or into a file.
    Export(Export),
}

/// Something to take out of the window.
#[derive(Clone)]
pub struct Export {
    /// What it is, for people and for the name of the file: "liveness curve".
    pub name: String,
    /// Where to.
    pub to: ExportTo,
    /// What is taken.
    pub what: Exported,
}

/// Where an export goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportTo {
    /// The clipboard.
    Clipboard,
    /// A file that the user names.
    File,
}

/// What is taken out of the window.
#[derive(Clone)]
pub enum Exported {
    /// A part of the window as a picture.
    Picture(Rect),
    /// A table, as comma-separated values.
    Table(Sheet),
}

/// What is shown of a table.
#[derive(Clone)]
pub struct Sheet {
    /// The rows.
    pub rows: Arc<dyn Rows>,
    /// The columns.
    pub columns: Vec<Column>,
    /// Which rows, in which order.
    pub order: Arc<Order>,
}
