//! Adds up what is alive in both reports by operation and by variable, a cell for each row of an
//! [`Attribution`].

use super::attribution::Attribution;
use super::category_bytes::class_states;
use super::contribution::BytesOfTwo;
use super::moment::ScopeStep;
use super::owners::Owned;
use crate::analysis::compute::vertex_state::StateBytes;
use crate::analysis::figures::difference::Side;
use crate::analysis::liveness::variables::rows_of_scope;
use crate::analysis::memory::selection::TileSelection;
use crate::store::Report;
use crate::store::liveness::Liveness;

/// Bytes of both reports.
#[derive(Clone, Debug)]
pub struct Tally {
    /// For each row of [`Attribution::operations`].
    pub operations: Vec<BytesOfTwo>,
    /// For each row of [`Attribution::variables`].
    pub variables: Vec<BytesOfTwo>,
}

/// What pseudo variables count together and tables tell apart by exchange, compute set or program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pseudo {
    ExchangeCode,
    VertexState,
    ControlCode,
}

impl Pseudo {
    /// What the pseudo variable of a name counts; the names are those of categories.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "internalExchangeCode" => Some(Self::ExchangeCode),
            "vertexInstanceState"
            | "vertexFieldData"
            | "copyDescriptor"
            | "vectorListDescriptor" => Some(Self::VertexState),
            "controlCode" => Some(Self::ControlCode),
            _ => None,
        }
    }
}

impl Tally {
    pub fn new(attribution: &Attribution) -> Self {
        Self {
            operations: vec![BytesOfTwo::default(); attribution.operations.rows().len()],
            variables: vec![BytesOfTwo::default(); attribution.variables.rows().len()],
        }
    }

    /// Adds what is alive in one of the reports. `None` where the bytes by variable are absent.
    pub fn add(
        &mut self,
        attribution: &Attribution,
        side: Side,
        report: &Report,
        moment: &ScopeStep,
    ) -> Option<()> {
        let liveness = report.liveness.get()?;
        let states = class_states(&liveness.classes, moment.step);
        let pseudo = pseudo_variables(liveness);
        let owners = attribution.owners(side);
        // Whether anything that a pseudo variable counts is not always live.
        let mut has_temporary = [false; 3];
        rows_of_scope(report, moment.scope)?.each(|row| {
            let class = liveness.classes.ids.position(row.class);
            let Some(is_always_live) = class.and_then(|class| *states.get(class)?) else { return };
            let Some(variable) = liveness.variable_ids.position(row.variable) else { return };
            let of_variable = attribution.variables.row_of(side, variable);
            add_to(&mut self.variables, of_variable, side, is_always_live, row.bytes);
            if let Some(pseudo) = pseudo.get(variable).copied().flatten() {
                if let Some(flag) = has_temporary.get_mut(pseudo as usize) {
                    *flag |= !is_always_live && row.bytes > 0;
                }
            } else if let Some((operation, _)) = owners.variables.of(liveness, &row) {
                let of_operation = attribution.operations.row_of(side, operation as usize);
                add_to(&mut self.operations, of_operation, side, is_always_live, row.bytes);
            }
        });
        let tiles = TileSelection::of_scope(moment.scope.tiles(report.target.get()));
        let [has_temporary_code, has_temporary_state, has_temporary_control] = has_temporary;
        let mut add_owned = |rows: Option<Vec<Owned>>| {
            for (owner, bytes) in rows.into_iter().flatten() {
                if let (Some(owner), Some(bytes)) = (owner, bytes) {
                    let row = attribution.operations.row_of(side, owner as usize);
                    add_to(&mut self.operations, row, side, true, bytes);
                }
            }
        };
        if !has_temporary_code {
            add_owned(owners.exchange_code(report, &tiles));
        }
        if !has_temporary_control {
            add_owned(owners.control_code(report, &tiles));
        }
        if !has_temporary_state {
            let of_set = |state| StateBytes::on(state, &tiles).total();
            add_owned(report.compute_set_tiles.get().map(|sets| {
                owners.compute_sets.iter().copied().zip(sets.state.iter().map(of_set)).collect()
            }));
        }
        Some(())
    }
}

fn pseudo_variables(liveness: &Liveness) -> Vec<Option<Pseudo>> {
    liveness.variable_names.iter().map(Pseudo::of).collect()
}

fn add_to(
    cells: &mut [BytesOfTwo],
    row: Option<usize>,
    side: Side,
    is_always_live: bool,
    bytes: u64,
) {
    if let Some(cell) = row.and_then(|row| cells.get_mut(row)) {
        cell.side_mut(side).add(is_always_live, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::contribution::LiveBytes;
    use super::super::fixture::{Content, matching, report};
    use crate::analysis::liveness::Scope;
    use crate::store::ArenaId;

    /// The operation fc has 8 bytes of weights, code of 40 bytes, state of 28, control code of 9, of which
    /// tile 2 has 8, 30, 3 and 5. The pseudo variables of code and state have its context as well.
    fn content() -> Content {
        Content {
            contexts: vec!["fc"],
            variables: vec![(0, 1), (3, 1), (4, 1), (7, 0)],
            classes: vec![(0, 6)],
            cells: vec![
                (2, 0, 1, 0, 8, 0),
                (2, 1, 1, 1, 30, 8),
                (2, 2, 1, 0, 3, 50),
                (1, 1, 1, 1, 12, 0),
                (1, 2, 1, 0, 25, 16),
                (1, 3, 1, 2, 100, 50),
            ],
            steps: vec![1, 0, 0, 0, 0, 0],
            code: vec![[0, 10, 30, 0], [0, 2, 0, 0]],
            state: vec![[0, 0, 0, 0], [0, 25, 3, 0]],
            control: vec![[4, 0, 5, 0], [0, 0, 7, 0]],
            surplus: 0,
        }
    }

    fn of_fc(content: &Content, scope: Scope) -> LiveBytes {
        let report = report(content);
        let attribution = Attribution::of([&report; 2], &matching(&report, &report, &[(0, 0)]));
        let mut tally = Tally::new(&attribution);
        let moment = ScopeStep { scope, step: 0 };
        tally.add(&attribution, Side::Target, &report, &moment).expect("bytes by variable");
        let BytesOfTwo([source, target]) = tally.operations[0];
        assert_eq!(source, LiveBytes::default());
        target
    }

    fn bytes(always_live: i64, not_always_live: i64) -> LiveBytes {
        LiveBytes { always_live, not_always_live, other: 0 }
    }

    #[test]
    fn code_and_state_count_once() {
        let content = content();
        // The second exchange is run by a program of no operation.
        assert_eq!(of_fc(&content, Scope::Everything), bytes(8 + 40 + 28 + 9, 0));
        assert_eq!(of_fc(&content, Scope::Arena(ArenaId(2))), bytes(8 + 30 + 3 + 5, 0));
    }

    #[test]
    fn code_that_is_not_always_live_stays_with_nobody() {
        let mut content = content();
        content.cells.push((3, 1, 2, 1, 5, 0));
        assert_eq!(of_fc(&content, Scope::Everything), bytes(8 + 28 + 9, 0));
        assert_eq!(
            of_fc(&content, Scope::Arena(ArenaId(2))),
            bytes(8 + 30 + 3 + 5, 0),
            "not there"
        );
    }
}
