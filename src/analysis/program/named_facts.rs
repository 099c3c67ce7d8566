//! Facts that side files name in one of several ways: the model, its commit, the batch size.
//!
//! Names count whatever their case and without what is no letter or digit in them, by the last part of
//! their path; of several facts the one nearest to the top of the file, and none when two of them are as
//! near and contradict each other. `app.json` comes before `framework.json`.

use crate::analysis::program::report_options::last_part;
use crate::store::Report;
use crate::store::options::SideFact;

const MODEL: [&str; 4] = ["model", "modelname", "network", "networkname"];
const COMMIT: [&str; 10] = [
    "commit",
    "commithash",
    "commitid",
    "commitsha",
    "gitcommit",
    "gitcommithash",
    "githash",
    "gitrevision",
    "gitsha",
    "revision",
];

/// The fact that has one of some names, lower case, and a value that counts.
pub(crate) fn nearest_to_the_top<T: PartialEq>(
    facts: &[SideFact],
    names: &[&str],
    value: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let mut found: Vec<(usize, T)> = Vec::new();
    for fact in facts {
        let name: String = last_part(&fact.path)
            .chars()
            .filter(|character| character.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect();
        if names.contains(&name.as_str())
            && let Some(value) = value(&fact.value)
        {
            found.push((fact.path.matches(" / ").count(), value));
        }
    }
    let depth = found.iter().map(|(depth, _)| *depth).min()?;
    let mut nearest = found.into_iter().filter(|row| row.0 == depth).map(|(_, value)| value);
    let first = nearest.next()?;
    nearest.all(|other| other == first).then_some(first)
}

/// What the model is called.
pub(crate) fn model(report: &Report) -> Option<String> {
    text(report, &MODEL)
}

/// The commit that it was made from.
pub(crate) fn commit(report: &Report) -> Option<String> {
    text(report, &COMMIT)
}

fn text(report: &Report, names: &[&str]) -> Option<String> {
    let about = report.about.get()?;
    let text = |value: &str| Some(value.trim().to_owned()).filter(|text| !text.is_empty());
    let of = |facts| nearest_to_the_top(facts, names, text);
    of(&about.app).or_else(|| of(&about.framework))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::side_facts;
    use crate::store::options::About;

    #[test]
    fn model_and_commit_are_found_under_usual_names() {
        let of = |app: &[(&str, &str)], framework: &[(&str, &str)]| {
            let report = Report::default();
            let (app, framework) = (side_facts(app), side_facts(framework));
            report.about.fill(Some(About { framework, app, ..About::default() }));
            (model(&report), commit(&report))
        };
        let some = |model: &str, commit: &str| (Some(model.to_owned()), Some(commit.to_owned()));
        let nested = [("run / Model-Name", "bert"), ("run / git / git_commit", "0a1b")];
        assert_eq!(of(&nested, &[("network", "x")]), some("bert", "0a1b"));
        assert_eq!(of(&[("network", "tiny")], &[("revision", "7")]), some("tiny", "7"));
        let contradicting = [("a / model", "x"), ("b / model", "y"), ("commit", " ")];
        assert_eq!(of(&contradicting, &[]), (None, None));
        assert_eq!((model(&Report::default()), commit(&Report::default())), (None, None));
    }
}
