//! A table in GitHub's Markdown, for the summary of a job or a comment.

use super::CheckReport;
use crate::cli::output::error_lines;
use crate::format::Error;
use crate::text::clean;

/// The verdict, and a row for each budget.
pub fn of_answer(run: &str, report: &CheckReport) -> String {
    let heading = heading(run, &report.verdict());
    let rows = report.checks.iter().map(|check| {
        let verdict = if check.passed { "passed" } else { "**failed**" };
        format!("| {} | {verdict} | {} |\n", escaped(&check.title()), escaped(&check.text))
    });
    heading + "\n| budget | verdict | what was found |\n|---|---|---|\n" + &rows.collect::<String>()
}

/// Why there is no answer.
pub fn of_error(run: &str, error: &Error) -> String {
    let lines: Vec<String> = error_lines(error).iter().map(|line| escaped(line)).collect();
    heading(run, "Cannot check") + "\n" + &lines.join("<br>\n") + "\n"
}

fn heading(run: &str, verdict: &str) -> String {
    format!("### Memory of {}\n\n{}\n", escaped(run), escaped(verdict))
}

/// A text in one line whose characters cannot start markup, a table cell or HTML.
fn escaped(text: &str) -> String {
    const OBEYED: &str = "\\`*_[]<>|~$#&";
    let mut escaped = String::with_capacity(text.len());
    for character in clean(text).chars() {
        if OBEYED.contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::check::tests::report_of;
    use crate::format::ErrorKind;

    #[test]
    fn names_stay_in_their_cells() {
        let report = report_of([(true, "within"), (false, "a|b\n| c | <img src=x> `d`")]);
        assert_eq!(
            of_answer("runs/[x](y)", &report),
            "### Memory of runs/\\[x\\](y)\n\n\
             Failed: 1 of 2 budgets are not kept\n\n\
             | budget | verdict | what was found |\n\
             |---|---|---|\n\
             | max-total-bytes | passed | within |\n\
             | max-total-bytes | **failed** | a\\|b\\\\u{a}\\| c \\| \\<img src=x\\> \\`d\\` |\n"
        );
    }

    #[test]
    fn an_error_has_a_line_for_each_of_its_parts() {
        let error = Error::new(ErrorKind::NotFound, "no such file").hint("Check the path.");
        let text = of_error("run.pickle", &error);
        assert!(text.ends_with("\nno such file<br>\n  hint: Check the path.\n"), "{text}");
    }
}
