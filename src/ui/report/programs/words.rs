//! Names of programs in the tree.

use crate::analysis::program::compiled_programs::CompiledPrograms;
use crate::analysis::program::tree::{ProgramGroup, TreeShape};
use crate::analysis::program_links::ProgramLinks;
use crate::store::System;
use crate::text::{grouped, shortened};

/// Longest kind.
const KIND: usize = 60;
/// Longest name.
const NAME: usize = 300;

/// Stands where the file does not say the kind.
pub const UNKNOWN_KIND: &str = "Unknown kind";

/// What programs at the top of the tree are called together.
pub fn group_title(group: ProgramGroup, system: &System) -> &'static str {
    match group {
        ProgramGroup::Control => system.control_programs,
        _ => group.title(),
    }
}

/// Its kind with what that leads to: `Function 3: Sequence`, `Call of function 3`, `Repeat × 4`.
pub fn kind_words(
    compiled: &CompiledPrograms<'_>,
    shape: &TreeShape,
    program: usize,
    is_top: bool,
) -> String {
    let kind = shortened(compiled.kind(program).unwrap_or(UNKNOWN_KIND), KIND);
    let mut words = match (compiled.callee(program), compiled.repeat_count(program)) {
        (Some((function, _)), _) => format!("{kind} of function {function}"),
        (None, Some(count)) => format!("{kind} × {}", grouped(count)),
        (None, None) => kind.into_owned(),
    };
    if let Some(function) = shape.function_at(program).filter(|_| is_top) {
        words = format!("Function {function}: {words}");
    }
    words
}

/// Its name, or that of its operation, at most so many characters of it, with whether it is its own; empty without one.
pub fn name_words(
    compiled: &CompiledPrograms<'_>,
    links: &ProgramLinks,
    program: usize,
    most: usize,
) -> (String, bool) {
    if let Some(name) = compiled.name(program) {
        return (shortened(name, most).into_owned(), true);
    }
    let Some((_, operation)) = links.operation(program) else { return (String::new(), true) };
    let words = match (&operation.name, &operation.kind) {
        (Some(name), Some(kind)) => {
            format!("{} ({})", shortened(name, most), shortened(kind, KIND))
        }
        (Some(name), None) => shortened(name, most).into_owned(),
        (None, _) => shortened(operation.title(), KIND).into_owned(),
    };
    (words, false)
}

/// Kind and name in one line, for the pointer.
pub fn title_words(
    compiled: &CompiledPrograms<'_>,
    links: &ProgramLinks,
    program: usize,
) -> String {
    let kind = kind_words(compiled, &links.shape, program, true);
    let (name, _) = name_words(compiled, links, program, NAME);
    if name.is_empty() { kind } else { format!("{kind} {name}") }
}
