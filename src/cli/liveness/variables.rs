//! The variables of a step, each with its details only while it is written: a run may have hundreds of thousands.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::analysis::derived::Derived;
use crate::run::{AliveVariable, DetailedVariable, with_details};

/// Variables of a run.
#[derive(Debug)]
pub(super) struct VariablesToWrite {
    pub derived: Arc<Derived>,
    pub list: Vec<AliveVariable>,
}

impl VariablesToWrite {
    /// Each with its details.
    pub fn rows(&self) -> impl Iterator<Item = DetailedVariable<'_>> + Clone {
        with_details(&self.derived, &self.list)
    }
}

impl Serialize for VariablesToWrite {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}
