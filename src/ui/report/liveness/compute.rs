//! What runs at the selected steps: their vertices, and the estimates of cycles and of floating point
//! operations.

use std::sync::Arc;

use crate::analysis::compute::estimates::{self, NoEstimate, StepEstimate};
use crate::analysis::compute::vertices::{self, StepVertexRow};
use crate::analysis::liveness::Scope;
use crate::analysis::memory::over_tiles::OverTiles;
use crate::analysis::program::steps;
use crate::store::Report;
use crate::ui::widget::rows::{Column, Rows, Value};

/// What a table shows of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtSteps {
    /// Vertices by type, a column a step.
    Vertices,
    /// Estimated cycles, a row a step.
    Cycles,
    /// Estimated floating point operations, a row a step.
    Flops,
}

impl AtSteps {
    /// Whether what it needs has been read.
    pub fn is_settled(self, report: &Report) -> bool {
        match self {
            Self::Vertices => {
                report.vertex_types.is_settled() && report.compute_set_tiles.is_settled()
            }
            Self::Cycles | Self::Flops => {
                report.compute_set_tiles.is_settled() && report.exchanges.is_settled()
            }
        }
    }

    /// The columns, for steps of these titles.
    pub fn columns(self, steps: &[String]) -> Vec<Column> {
        match self {
            Self::Vertices => {
                let fixed =
                    [Column::rest("Vertex type"), Column::bytes("Size of one", 92.0).not_summed()];
                let of_steps = steps.iter().map(|step| Column::count(step.clone(), 92.0));
                fixed.into_iter().chain(of_steps).collect()
            }
            Self::Cycles | Self::Flops => vec![
                Column::text("Step", 60.0),
                Column::rest("Name"),
                Column::count("Busiest tile", 96.0),
                Column::count("All tiles", 110.0),
            ],
        }
    }

    /// The rows; `None` where the report lacks what they need.
    pub fn rows(
        self,
        report: &Arc<Report>,
        scope: Scope,
        steps: &[usize],
    ) -> Option<Arc<dyn Rows>> {
        let tiles = scope.tiles(report.target.get());
        Some(match self {
            Self::Vertices => Arc::new(VertexRows(vertices::at_steps(report, tiles, steps)?)),
            Self::Cycles | Self::Flops => {
                let found = estimates::at_steps(report, tiles, steps);
                let figure = |estimate: &StepEstimate| match self {
                    Self::Flops => estimate.flops,
                    _ => estimate.cycles,
                };
                let rows = steps.iter().zip(&found);
                let rows = rows.map(|(step, estimate)| (*step, figure(estimate))).collect();
                Arc::new(EstimateRows { report: Arc::clone(report), rows })
            }
        })
    }
}

struct VertexRows(Vec<StepVertexRow>);

impl Rows for VertexRows {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(row) = self.0.get(row) else { return Value::Nothing };
        match column {
            0 => Value::text(&*row.name),
            1 => Value::bytes(row.size),
            column => {
                let count = row.instances.get(column - 2).copied().flatten();
                count.map_or(Value::Nothing, Value::Count)
            }
        }
    }
}

struct EstimateRows {
    report: Arc<Report>,
    rows: Vec<(usize, Result<OverTiles, NoEstimate>)>,
}

impl Rows for EstimateRows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some((step, figure)) = self.rows.get(row) else { return Value::Nothing };
        match (column, figure) {
            (0, _) => {
                let id = self.report.steps.get().and_then(|steps| steps.ids.get(*step));
                Value::Id(id.map_or(*step as u64, |id| u64::from(id.0)))
            }
            (1, Ok(_)) => Value::text(steps::name(&self.report, *step).unwrap_or_default()),
            // Where there is no figure, the reason is worth more than the name.
            (1, Err(why)) => Value::text(why.to_string()),
            (2, Ok(figure)) => Value::Count(figure.most),
            (_, Ok(figure)) => Value::Count(figure.sum),
            (_, Err(_)) => Value::Nothing,
        }
    }
}
