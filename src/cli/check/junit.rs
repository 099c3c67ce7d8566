//! A JUnit report as GitLab, Jenkins, Azure and others read it: one suite for the run, one case for each budget.

use maud::{Markup, PreEscaped, html};

use super::CheckReport;
use crate::cli::output::error_lines;
use crate::format::Error;
use crate::text::{clean, xml_text};

/// The class name of every case.
const CLASS: &str = "tilescope check";

/// A case for each budget; one that is not kept is a failure.
pub fn of_answer(run: &str, report: &CheckReport) -> String {
    let failures = report.checks.iter().filter(|check| !check.passed).count();
    let cases = html! {
        @for check in &report.checks {
            @let text = shown(&check.text);
            testcase classname=(CLASS) name=(check.title()) {
                @if check.passed {
                    system-out { (text) }
                } @else {
                    failure type="budget" message=(text) { (text) }
                }
            }
        }
    };
    suites(run, [report.checks.len(), failures, 0], &cases)
}

/// A single case that could not be run.
pub fn of_error(run: &str, error: &Error) -> String {
    let lines: Vec<String> = error_lines(error).iter().map(|line| shown(line)).collect();
    let text = lines.join("\n");
    let cases = html! {
        testcase classname=(CLASS) name="read the run" {
            error type=(error.kind.as_str()) message=(text) { (text) }
        }
    };
    suites(run, [1, 0, 1], &cases)
}

/// The whole document. The counts are those of cases, of failures and of errors.
fn suites(run: &str, [tests, failures, errors]: [usize; 3], cases: &Markup) -> String {
    let document = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        testsuites name=(CLASS) tests=(tests) failures=(failures) errors=(errors) {
            testsuite name=(shown(run)) tests=(tests) failures=(failures) errors=(errors) { (cases) }
        }
    };
    document.into_string() + "\n"
}

/// A text for XML that shows the characters which XML would lose, such as line ends.
fn shown(text: &str) -> String {
    xml_text(&clean(text))
}

#[cfg(test)]
mod tests {
    use roxmltree::{Document, Node};

    use super::*;
    use crate::cli::check::tests::report_of;
    use crate::format::ErrorKind;

    const HOSTILE: &str = "a\u{0}b\u{1b}[31m\r\n]]>\u{fffe}\u{ffff}&amp;\u{202e}<failure>\"'";

    fn elements<'a>(document: &'a Document, name: &str) -> Vec<Node<'a, 'a>> {
        document.descendants().filter(|node| node.has_tag_name(name)).collect()
    }

    #[test]
    fn each_budget_is_a_case() {
        let report = report_of([(true, "within"), (false, "12 B more"), (false, HOSTILE)]);
        let text = of_answer(HOSTILE, &report);
        let document = Document::parse(&text).expect("well-formed");
        let suite = elements(&document, "testsuite")[0];
        let count = |name| suite.attribute(name);
        assert_eq!(
            [count("tests"), count("failures"), count("errors")],
            [Some("3"), Some("2"), Some("0")]
        );
        assert_eq!(elements(&document, "testcase").len(), 3);
        assert_eq!(elements(&document, "system-out")[0].text(), Some("within"));
        let failures = elements(&document, "failure");
        assert_eq!(failures[0].text(), Some("12 B more"));
        assert_eq!(failures[1].text(), failures[1].attribute("message"));
        let shown = failures[1].text().unwrap_or_default();
        assert!(shown.starts_with("a\\u{0}b\\u{1b}[31m\\u{d}\\u{a}"), "{shown}");
        assert!(shown.contains("]]>") && shown.contains("&amp;") && shown.contains("\\u{202e}"));
    }

    #[test]
    fn a_run_that_cannot_be_read_is_an_error() {
        let error = Error::new(ErrorKind::NotFound, HOSTILE).hint(HOSTILE);
        let text = of_error(HOSTILE, &error);
        let document = Document::parse(&text).expect("well-formed");
        let errors = elements(&document, "error");
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].attribute("type"), Some("not-found"));
        assert_eq!(elements(&document, "testsuites")[0].attribute("errors"), Some("1"));
    }
}
