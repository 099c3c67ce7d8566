//! One operation owns all peaks: to make it smaller is enough.

use super::how;
use super::planned::is_planned;
use super::{AdviceContext, Candidate, IpuTechnique, advice_of, operation_title};
use crate::run::{Advice, Evidence};
use crate::systems::poplar::insights::timeline::AliveRow;

/// The advice; `None` where no operation or several run where too much is alive.
pub fn candidate<'a>(context: &AdviceContext<'a>) -> Option<Candidate<'a>> {
    let [pressure] = context.pressure.operations.as_slice() else { return None };
    let wanted = pressure.operation;
    let operation = context.owners.operations().get(wanted as usize)?;
    let title = operation_title(operation);
    let is_matmul =
        operation.kind.as_ref().is_some_and(|kind| kind.to_lowercase().contains("matmul"));
    let (what, how) = if is_matmul {
        (format!("Serialize {title} into a sequence of smaller matmuls"), how::serialised_matmul())
    } else if is_planned(operation) {
        let what = format!("Give {title} an availableMemoryProportion of its own, or split it");
        (what, how::proportion("p", &context.verdict.ipus_concerned()))
    } else {
        (format!("Split {title}, or compute it in parts one after the other"), Vec::new())
    };
    let owners = context.owners;
    let is_temporary =
        move |row: &AliveRow| owners.variables.of_life(row.class_row) == Some(wanted);
    let evidence =
        Evidence::new(format!("temporaries of {title}, the only operation above the limit"))
            .bytes(pressure.temporary_bytes)
            .alive_at(context.report, &pressure.at.0, pressure.at.1)
            .of_operation(Some(operation));
    let advice = Advice {
        text: what,
        how,
        evidence: vec![evidence],
        caution: "Parts computed one after the other take more cycles",
        ..advice_of(IpuTechnique::MakeOneOperationSmaller)
    };
    let basis = "its temporaries halved, as in two parts, everything else unchanged";
    Some(Candidate::at_best(advice, basis, is_temporary, |bytes| bytes.div_ceil(2)))
}
