//! Computation at the steps of a moment: vertices, estimated cycles and operations.

use std::sync::Arc;

use super::tables::{MomentColumns, StepOfRun};
use crate::analysis::compute::estimates::{self, NoEstimate, StepEstimate};
use crate::analysis::compute::vertices;
use crate::analysis::memory::over_tiles::OverTiles;
use crate::analysis::program::steps;
use crate::ui::report::figures::{Entries, EntryUnit, FigureEntry};
use crate::ui::report::moment::step_id;
use crate::ui::runs::{Needed, Needs, Runs};
use crate::ui::widget::rows::{CellValue, Listed, Rows, TableColumn};

/// What a table shows of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtSteps {
    Vertices,
    Cycles,
    Flops,
}

/// A table, or why there is none.
pub enum Computed {
    /// Figures, with what is said beside them.
    Figures(Arc<Entries>, String),
    /// A row for each step.
    Estimates(Arc<dyn Rows>),
    /// A title and a reason.
    Nothing(&'static str, String),
}

impl AtSteps {
    pub fn needs(self) -> Needs {
        match self {
            Self::Vertices => &[Needed::VertexTypes, Needed::ComputeSets, Needed::Axis],
            Self::Cycles | Self::Flops => &[Needed::ComputeSets, Needed::Exchanges, Needed::Axis],
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Vertices => "vertices at steps",
            Self::Cycles => "cycle estimates",
            Self::Flops => "FLOP estimates",
        }
    }

    pub fn of(self, runs: &Runs, moments: &MomentColumns) -> Computed {
        match self {
            Self::Vertices => vertices_at(runs, moments),
            Self::Cycles | Self::Flops => self.estimates(runs, moments),
        }
    }

    fn estimates(self, runs: &Runs, moments: &MomentColumns) -> Computed {
        let estimate = |at: &StepOfRun| {
            let run = runs.get(at.run).ok_or_else(|| NoEstimate::NotRead.to_string())?;
            let tiles = moments.timelines.scope.tiles(run.report.target.get());
            let step = at.step_there.ok_or_else(|| "No step there".to_owned())?;
            let of_step: Vec<StepEstimate> = estimates::at_steps(&run.report, tiles, &[step]);
            let of_step = of_step.first().ok_or_else(|| NoEstimate::NotRead.to_string())?;
            let figure = if self == Self::Flops { of_step.flops } else { of_step.cycles };
            figure.map_err(|why| why.to_string())
        };
        let row = |at: &StepOfRun| {
            let run = runs.get(at.run);
            let step = run.zip(at.step_there);
            EstimateRow {
                run: run.map_or(String::new(), |run| run.title.to_string()),
                step: step.map_or("–".to_owned(), |(run, step)| step_id(&run.report, step)),
                name: step.and_then(|(run, step)| {
                    Some(steps::name(&run.report, moments.timelines.device(run), step)?.to_string())
                }),
                figure: estimate(at),
            }
        };
        let rows = moments.list.iter().map(row).collect();
        Computed::Estimates(Arc::new(Listed { rows, cell: estimate_cell }))
    }
}

fn vertices_at(runs: &Runs, moments: &MomentColumns) -> Computed {
    let (mut by_name, mut unreadable): (Vec<FigureEntry>, Vec<String>) = (Vec::new(), Vec::new());
    for (column, at) in moments.list.iter().enumerate() {
        let Some(run) = runs.get(at.run) else { continue };
        let step: Vec<usize> = at.step_there.into_iter().collect();
        let tiles = moments.timelines.scope.tiles(run.report.target.get());
        let Some(rows) = vertices::at_steps(&run.report, tiles, &step) else {
            let absence = run.report.compute_set_tiles.is_settled().then_some("has none");
            let reason = format!("{} {}", run.title, absence.unwrap_or("is still being read"));
            return Computed::Nothing("The report does not say what computes", reason);
        };
        for row in rows {
            match row.instances.first().copied().flatten() {
                Some(count) => moments.add(&mut by_name, &row.name, column, count),
                // What cannot be read is not the same as what is not there.
                None if !unreadable.contains(&row.name) => unreadable.push(row.name),
                None => {}
            }
        }
    }
    by_name.retain(|entry| !unreadable.contains(&entry.name));
    if by_name.is_empty() && unreadable.is_empty() {
        let reason = "It computes nothing: choose another one".to_owned();
        return Computed::Nothing("No vertices run at this step", reason);
    }
    let note = match unreadable.len() {
        0 => "each run counted once".to_owned(),
        count => format!("{count} types cannot be read"),
    };
    Computed::Figures(moments.entries("Vertex type", EntryUnit::Count, by_name), note)
}

struct EstimateRow {
    run: String,
    step: String,
    name: Option<String>,
    figure: Result<OverTiles, String>,
}

pub fn estimate_columns() -> Vec<TableColumn> {
    vec![
        TableColumn::text("Run", 110.0),
        TableColumn::text("Step", 60.0),
        TableColumn::rest("Name"),
        TableColumn::count("Busiest tile", 96.0).not_summed(),
        TableColumn::count("All tiles", 110.0).not_summed(),
    ]
}

fn estimate_cell(row: &EstimateRow, column: usize) -> CellValue<'_> {
    match (column, &row.figure) {
        (0, _) => CellValue::text(&*row.run),
        (1, _) => CellValue::text(&*row.step),
        (2, Ok(_)) => CellValue::text(row.name.as_deref().unwrap_or_default()),
        // Where there is no figure, the reason is worth more than the name.
        (2, Err(why)) => CellValue::text(&**why),
        (3, Ok(figure)) => CellValue::Count(figure.most),
        (_, Ok(figure)) => CellValue::Count(figure.sum),
        (_, Err(_)) => CellValue::Nothing,
    }
}
