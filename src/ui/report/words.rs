//! Names of things that several pages show.

use crate::analysis::comparison::options::OptionDifference;
use crate::analysis::program::report_options::OptionKind;

pub fn option_name(option: &OptionDifference) -> String {
    match option.kind {
        OptionKind::AvailableMemoryProportion => {
            format!("availableMemoryProportion of {}", option.name)
        }
        OptionKind::Version => format!("Version of {}", option.name),
        _ => option.name.clone(),
    }
}
