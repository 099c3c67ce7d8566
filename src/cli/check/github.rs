//! Workflow commands of GitHub Actions: <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.

use super::CheckReport;
use crate::cli::output::error_lines;
use crate::cli::workflow_commands::without_commands;
use crate::format::Error;
use crate::text::clean;

/// The verdict and the budgets that are kept as text; each other budget as an annotation.
pub fn of_answer(report: &CheckReport) -> String {
    let mut lines = report.verdict() + "\n";
    for check in &report.checks {
        let text = without_commands(&clean(&check.text));
        if check.passed {
            lines += &format!("passed {}: {text}\n", check.title());
        } else {
            lines += &annotation(&check.title(), &text);
        }
    }
    lines
}

/// An annotation that says why there is no answer.
pub fn of_error(error: &Error) -> String {
    annotation("cannot check", &without_commands(&error_lines(error).join("\n")))
}

fn annotation(title: &str, message: &str) -> String {
    let title = property(&format!("tilescope check: {title}"));
    format!("::error title={title}::{}\n", data(message))
}

/// The text of a command, escaped as in GitHub's `actions/toolkit`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of a command, which ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::check::tests::report_of;
    use crate::format::ErrorKind;

    #[test]
    fn only_budgets_that_are_not_kept_are_annotations() {
        let report = report_of([(true, "100 % ##[x]"), (false, "99 %::\r\n::add-mask::x, y: z")]);
        assert_eq!(
            of_answer(&report),
            "Failed: 1 of 2 budgets are not kept\n\
             passed max-total-bytes: 100 % ##\\u{5b}x]\n\
             ::error title=tilescope check%3A max-total-bytes::99 %25::\\u{d}\\u{a}::add-mask::x, y: z\n"
        );
    }

    #[test]
    fn an_error_is_one_command() {
        let error = Error::new(ErrorKind::NotFound, "a\nb: no such file").hint("Check the path.");
        let text = of_error(&error);
        let expected = "::error title=tilescope check%3A cannot check::a%0Ab: no such file%0A  hint: Check the path.\n";
        assert_eq!(text, expected);
        assert_eq!(property("a:b,c%\r\n"), "a%3Ab%2Cc%25%0D%0A");
    }
}
