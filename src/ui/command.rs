//! Commands of the window. Pages and bars send commands; the app carries them out.

use std::path::PathBuf;
use std::sync::Arc;

use super::runs::{Arrangement, RunId, StepsBy};
use super::selection::Jump;
use super::settings::SettingChange;
use crate::analysis::figures::difference::Side;
use crate::analysis::memory::selection::TileSelection;

use crate::analysis::program::operations::OperationName;

use super::widget::rows::{CellValue, Listed, Order, Rows, TableColumn};

/// A page of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Page {
    /// The verdict, and of everything the most important.
    #[default]
    Overview,
    /// Facts, options, files.
    Summary,
    /// Whether it fits, and what to try next.
    Insights,
    /// Bytes over tiles.
    Memory,
    /// Where things lie, and when.
    Map,
    /// Bytes over steps.
    Liveness,
    /// What ran when.
    Trace,
    /// What changed from one report to another.
    Comparison,
    /// The tree of programs.
    Programs,
    /// What each operation takes and needs.
    Operations,
}

/// What a directory or file is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PickFor {
    Open,
    /// To compare what is open with its report.
    Run,
    /// To open its report in place of a run that could not be opened.
    InPlaceOf(RunId),
    /// To name it in the fields for two reports.
    Field(Side),
    /// To read a log, which is a file.
    Log,
    /// To read a log together with a run.
    LogOf(RunId),
    Sweep,
}

impl PickFor {
    pub fn title(self) -> &'static str {
        match self {
            Self::Open => "Open a run",
            Self::Run => "Compare with another run",
            Self::InPlaceOf(_) => "Open another run",
            Self::Field(Side::Source) => "Source run",
            Self::Field(Side::Target) => "Target run",
            Self::Log => "Open a log",
            Self::LogOf(_) => "Add a log to the run",
            Self::Sweep => "Open a directory of runs",
        }
    }

    /// Whether it is a file, not a directory.
    pub fn is_file(self) -> bool {
        matches!(self, Self::Log | Self::LogOf(_))
    }

    /// Whether the page that asks has a field for it.
    pub fn has_field(self) -> bool {
        matches!(self, Self::Field(_) | Self::Sweep)
    }

    /// What is done with the path that was chosen.
    pub fn command(self, path: PathBuf) -> Command {
        match self {
            Self::Open => Command::Open(path),
            Self::Run => Command::AddRun(path),
            Self::InPlaceOf(id) => Command::OpenInPlace(id, path),
            Self::Field(side) => Command::NameReport(side, path),
            Self::Log => Command::OpenLog(path),
            Self::LogOf(id) => Command::AddLog(id, path),
            Self::Sweep => Command::OpenSweep(path),
        }
    }
}

/// What needs no open report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Sweep,
    Diagnose,
}

#[derive(Clone)]
pub(crate) enum Command {
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
    MakeReference(RunId),
    /// Leaves a run out of all pages, or shows it again.
    HideRun(RunId, bool),
    ReloadRun(RunId),
    CloseRun(RunId),
    Arrange(Arrangement),
    AlignSteps(StepsBy),
    /// Shows the fields for two reports on the home page.
    ChooseTwo,
    NameReport(Side, PathBuf),
    /// Shows the field for a path, with what may be meant.
    AskPath(PickFor),
    /// Opens the system's dialog for a path.
    Pick(PickFor),
    SelectTiles(TileSelection),
    /// Selects a variable before lowering, by its name.
    SelectVariable(String),
    /// Selects an operation and shows it among the others.
    SelectOperation(OperationName),
    Reload,
    /// Goes back to the home page.
    Close,
    /// Stops reading.
    Cancel,
    Go(Page),
    /// Selects a place and shows it.
    GoTo(Jump),
    Use(Tool),
    OpenLog(PathBuf),
    /// Reads a run again with a log that counts as those beside its profile.
    AddLog(RunId, PathBuf),
    /// Reads a run again with another module of its dump, by its name.
    OpenModule(RunId, String),
    OpenSweep(PathBuf),
    ToggleWarnings,
    /// Changes what the window remembers from one run to the next.
    Set(SettingChange),
    TogglePalette,
    ToggleKeys,
    /// Goes back to the selection before this one.
    Back,
    Forward,
    Export(ExportRequest),
    /// Asks which picture of the page shall be taken out, and how.
    ExportPicture,
    /// Write the runs as one HTML file.
    ExportReport,
}

/// Something to take out of the window.
#[derive(Clone)]
pub(crate) struct ExportRequest {
    /// What it is, for people and for the name of the file: "liveness curve".
    pub name: String,
    pub to: ExportTo,
    pub what: ExportSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportTo {
    Clipboard,
    /// A file that the user names.
    File,
}

#[derive(Clone)]
pub(crate) enum ExportSource {
    /// The picture of the page that has the name.
    Picture,
    Table(Sheet),
}

/// What is shown of a table.
#[derive(Clone)]
pub(crate) struct Sheet {
    pub rows: Arc<dyn Rows>,
    pub columns: Vec<TableColumn>,
    /// Which rows, in which order.
    pub order: Arc<Order>,
}

impl Sheet {
    /// All of a short table.
    pub fn of(columns: Vec<TableColumn>, rows: Vec<Vec<CellValue<'static>>>) -> Self {
        let all = (0..u32::try_from(rows.len()).unwrap_or(u32::MAX)).collect();
        let order = Order { rows: all, totals: Vec::new() };
        Self { rows: Arc::new(Listed { rows, cell }), columns, order: Arc::new(order) }
    }
}

fn cell<'a>(row: &'a Vec<CellValue<'static>>, column: usize) -> CellValue<'a> {
    row.get(column).cloned().unwrap_or_default()
}
