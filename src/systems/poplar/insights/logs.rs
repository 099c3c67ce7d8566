//! The logs beside a report: the messages that [`crate::diagnose`] knows.

use std::io::{self, Read};

use serde::Serialize;

use crate::diagnose::{Kind, diagnose_reader};
use crate::store::Report;
use crate::store::log::LogMessage;

/// The messages of a log, for `OpenReport::read_logs`.
///
/// # Errors
/// What the reader says.
pub fn log_messages(log: &mut (dyn Read + Send)) -> io::Result<Vec<LogMessage>> {
    let findings = diagnose_reader(log)?.findings.into_iter();
    let message = findings.map(|finding| LogMessage {
        kind: finding.kind.key(),
        line: finding.line,
        text: finding.text,
    });
    Ok(message.collect())
}

/// Messages of one kind in a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warned {
    pub file: String,
    /// The line of the first of them.
    pub line: u64,
    pub count: u64,
}

/// The logs in which the planner says that it is at the minimum of memory.
pub fn planner_at_minimum(report: &Report) -> Vec<Warned> {
    let wanted = Kind::PlannerAtMinimum.key();
    let logs = report.logs.get().map_or(&[][..], Vec::as_slice).iter();
    let warned = logs.filter_map(|log| {
        let mut of_kind = log.messages.iter().filter(|message| message.kind == wanted);
        let first = of_kind.next()?;
        let count = (of_kind.count() as u64).saturating_add(1);
        Some(Warned { file: log.file.clone(), line: first.line, count })
    });
    warned.collect()
}

/// How often logs say so; `None` without a log.
pub fn warnings_at_minimum(report: &Report) -> Option<u64> {
    report.logs.get().filter(|logs| !logs.is_empty())?;
    Some(planner_at_minimum(report).iter().map(|log| log.count).fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::log::Log;

    #[test]
    fn warnings_of_the_planner_are_counted_by_log() {
        let text = "2031-05-04T01:02:03.000001Z PL:POPLIN    7.7 I: Planning convolution\n\
            2031-05-04T01:02:03.000002Z PL:POPLIN    7.7 W: Warning: convolution planner unable to meet \
            memory target. Optimizing for minimum memory...\n";
        let messages = log_messages(&mut text.repeat(3).as_bytes()).unwrap();
        assert_eq!(messages.len(), 3);
        let report = Report::default();
        assert!(planner_at_minimum(&report).is_empty());
        let log = |file: &str, messages| Log { file: file.to_owned(), messages };
        report.logs.fill(Some(vec![log("a.log", messages), log("b.log", Vec::new())]));
        let expected = Warned { file: "a.log".to_owned(), line: 2, count: 3 };
        assert_eq!(planner_at_minimum(&report), [expected]);
    }
}
