//! What XLA itself states of a module beside what comes out of it: each figure twice, and where the two contradict each
//! other (formats/xla.md 6). The total of all memory spaces, and that of each, are the sizes of allocations.

use serde::Serialize;

use super::program::Program;
use crate::store::hlo::StatedTotal;

/// A figure as it is stated and as it comes out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedClaim {
    /// The file that states it.
    pub file: String,
    /// What XLA calls it.
    pub name: &'static str,
    /// The memory space that it is of; `None` of all together.
    pub color: Option<i64>,
    /// As XLA states it.
    pub claimed_bytes: u64,
    /// As it comes out of the module.
    pub bytes: u64,
    /// Whether both can be right.
    pub agrees: bool,
}

impl ComparedClaim {
    /// What it is, with the memory space that it is of.
    pub fn title(&self, color_words: impl Fn(i64) -> String) -> String {
        match self.color {
            Some(color) => format!("{} of {}", self.name, color_words(color)),
            None => self.name.to_owned(),
        }
    }
}

/// The figures that XLA states of a module.
pub fn compared_claims(program: &Program) -> Vec<ComparedClaim> {
    let compare = |stated: &StatedTotal| {
        let allocations = program.analysed.module.allocations.iter();
        let of_space = allocations.filter(|one| stated.color.is_none_or(|it| it == one.color));
        let bytes = of_space.fold(0_u64, |sum, one| sum.saturating_add(one.bytes));
        // Of a file that is cut there may have been more.
        let agrees = stated.bytes == bytes || (program.is_cut && stated.bytes > bytes);
        ComparedClaim {
            file: stated.file.clone(),
            name: if stated.color.is_some() { "Total bytes" } else { "Total bytes used" },
            color: stated.color,
            claimed_bytes: stated.bytes,
            bytes,
            agrees,
        }
    };
    program.claims.totals.iter().map(compare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::hlo::{Allocation, AllocationKind, HloModule, XlaClaims};

    #[test]
    fn totals_are_those_of_allocations_and_of_a_cut_file_no_more_than_that() {
        let allocation = |number: i64, bytes: u64, color: i64| Allocation {
            number,
            bytes,
            kind: AllocationKind::Temporary,
            is_live_out: false,
            color,
            parameter: None,
        };
        let allocations = vec![allocation(0, 40, 0), allocation(1, 2, 1)];
        let module = HloModule { allocations, ..HloModule::default() };
        let mut program = Program::of(module);
        let stated = |color, bytes| StatedTotal { file: "report.txt".to_owned(), color, bytes };
        program.claims.totals =
            vec![stated(None, 42), stated(Some(0), 41), stated(Some(1), 1), stated(Some(7), 8)];
        let agree = |program: &Program| {
            compared_claims(program).iter().map(|one| (one.bytes, one.agrees)).collect::<Vec<_>>()
        };
        assert_eq!(agree(&program), [(42, true), (40, false), (2, false), (0, false)]);
        program.is_cut = true;
        assert_eq!(agree(&program), [(42, true), (40, true), (2, false), (0, true)]);
        let titles: Vec<String> = (compared_claims(&program).iter())
            .map(|one| one.title(|color| format!("color {color}")))
            .collect();
        assert_eq!(titles[..2], ["Total bytes used", "Total bytes of color 0"]);
        program.claims = XlaClaims::default();
        assert_eq!(agree(&program), []);
    }
}
