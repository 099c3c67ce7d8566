//! The figures that XLA states of a module, each beside the one that follows from it, and where the two contradict each
//! other (formats/xla.md 6). The total of all memory spaces, and that of each, are the sizes of allocations.

use serde::Serialize;

use super::program::AnalysedModule;
use crate::store::hlo::{AllocationKind, BufferAllocation, Platform, StatedFigure, StatedOf};

/// A figure as it is stated and as it comes out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleClaim {
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

impl ModuleClaim {
    /// What it is, with the memory space that it is of.
    pub fn title(&self, color_words: impl Fn(i64) -> String) -> String {
        match self.color {
            Some(color) => format!("{} of {}", self.name, color_words(color)),
            None => self.name.to_owned(),
        }
    }
}

/// The figures that XLA states of a module.
pub fn compared_claims(program: &AnalysedModule) -> Vec<ModuleClaim> {
    program.claims.figures.iter().map(|stated| compared(program, stated)).collect()
}

/// Adds what the file of `compiled.memory_analysis()` states, which does not name its module: where that is not the only
/// one of its directory, the file is of the one of which all figures are right.
pub fn add_memory_analysis(
    program: &mut AnalysedModule,
    mut stated: Vec<StatedFigure>,
    is_alone: bool,
) {
    // Compiled ahead of time for a TPU, temporaries are counted by other rules (formats/xla.md 6).
    stated.retain(|one| program.platform != Some(Platform::Tpu) || one.of != StatedOf::Temporary);
    if is_alone || stated.iter().all(|one| compared(program, one).agrees) {
        program.claims.figures.extend(stated);
    }
}

fn compared(program: &AnalysedModule, stated: &StatedFigure) -> ModuleClaim {
    let is_of = |one: &BufferAllocation| match stated.of {
        StatedOf::All => true,
        StatedOf::MemorySpace(color) => one.color == color,
        StatedOf::Temporary => one.kind == AllocationKind::Temporary,
        StatedOf::Arguments => one.kind == AllocationKind::Parameter,
        StatedOf::Donated => one.is_donated(),
        StatedOf::Outputs => one.kind == AllocationKind::LiveOut || one.is_donated(),
    };
    let allocations = program.analysed.module.allocations.iter().filter(|one| is_of(one));
    let bytes = allocations.fold(0_u64, |sum, one| sum.saturating_add(one.bytes));
    ModuleClaim {
        file: stated.file.clone(),
        name: stated.of.name(),
        color: match stated.of {
            StatedOf::MemorySpace(color) => Some(color),
            _ => None,
        },
        claimed_bytes: stated.bytes,
        bytes,
        // Of a file that is cut there may have been more.
        agrees: stated.bytes == bytes || (program.is_cut && stated.bytes > bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::hlo::{HloModule, XlaClaims};

    fn stated(of: StatedOf, bytes: u64) -> StatedFigure {
        StatedFigure { file: "beside".to_owned(), of, bytes }
    }

    fn allocation(bytes: u64, kind: AllocationKind, is_live_out: bool) -> BufferAllocation {
        BufferAllocation { number: 0, bytes, kind, is_live_out, color: 0, parameter: None }
    }

    #[test]
    fn totals_are_those_of_allocations_and_of_a_cut_file_no_more_than_that() {
        let allocation = |number: i64, bytes: u64, color: i64| BufferAllocation {
            number,
            bytes,
            kind: AllocationKind::Temporary,
            is_live_out: false,
            color,
            parameter: None,
        };
        let allocations = vec![allocation(0, 40, 0), allocation(1, 2, 1)];
        let module = HloModule { allocations, ..HloModule::default() };
        let mut program = AnalysedModule::of(module);
        let of_space = |color, bytes| stated(StatedOf::MemorySpace(color), bytes);
        program.claims.figures =
            vec![stated(StatedOf::All, 42), of_space(0, 41), of_space(1, 1), of_space(7, 8)];
        let agree = |program: &AnalysedModule| {
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

    #[test]
    fn what_names_no_module_is_of_the_only_one_or_of_the_one_that_it_fits() {
        use AllocationKind::{Constant, LiveOut, Parameter, Temporary};
        let allocations = vec![
            allocation(1, Parameter, false),
            allocation(2, Parameter, true),
            allocation(4, LiveOut, true),
            allocation(8, Temporary, false),
            allocation(16, Constant, false),
        ];
        let module = HloModule { allocations, ..HloModule::default() };
        let figures = |temporary| {
            vec![
                stated(StatedOf::Temporary, temporary),
                stated(StatedOf::Arguments, 3),
                stated(StatedOf::Donated, 2),
                stated(StatedOf::Outputs, 6),
            ]
        };
        let found = |temporary, is_alone, platform| {
            let mut program = AnalysedModule::of(module.clone());
            program.platform = Some(platform);
            add_memory_analysis(&mut program, figures(temporary), is_alone);
            compared_claims(&program).iter().map(|one| one.agrees).collect::<Vec<_>>()
        };
        assert_eq!(found(8, true, Platform::Cpu), [true; 4]);
        assert_eq!(found(8, false, Platform::Gpu), [true; 4]);
        assert_eq!(found(9, true, Platform::Cpu), [false, true, true, true]);
        assert!(found(9, false, Platform::Cpu).is_empty(), "it is of another module");
        assert_eq!(found(9, true, Platform::Tpu), [true; 3], "temporaries are not those here");
    }
}
