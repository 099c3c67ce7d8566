//! Reports that were opened before: what is remembered of them, what they are called, and when it was.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::run::Verdict;
use crate::store::Report;
use crate::store::options::SideFact;
use crate::text::run_names::{run_name, run_names};
use crate::text::shortened;

/// Reports that are remembered.
const MOST: usize = 20;
/// Longest part of a title.
const NAME: usize = 80;
/// What side files call the model.
const MODEL_KEYS: [&str; 4] = ["model", "model_name", "network", "name"];

#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct RecentReport {
    /// What was opened, absolute.
    pub path: PathBuf,
    /// The model, if the report names it, and the directory.
    pub title: String,
    /// When, seconds since 1970.
    pub opened: u64,
    /// What was known of it then.
    #[serde(flatten)]
    pub known: KnownReport,
}

/// What is said of a report that was opened before, as far as it was known.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct KnownReport {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fits: Option<bool>,
    /// The same in words: "221 tiles over".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Bytes of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The name of its system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
}

/// Two reports or more that were compared. Versions that knew of two only read the first two.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct RecentComparison {
    source: PathBuf,
    target: PathBuf,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    more: Vec<PathBuf>,
    pub title: String,
    /// When, seconds since 1970.
    pub opened: u64,
}

impl RecentReport {
    pub fn now(report: &Report, verdict: Option<&Verdict>) -> Self {
        let path = std::path::absolute(&report.path).unwrap_or_else(|_| report.path.clone());
        let bytes: u64 = report.files().iter().filter_map(|file| file.bytes).sum();
        let known = KnownReport {
            fits: verdict.and_then(|verdict| verdict.outcome.went_well()),
            verdict: verdict.map(|verdict| verdict.short.clone()),
            bytes: (bytes > 0).then_some(bytes),
            system: Some(report.system.name.to_owned()),
        };
        Self { title: title(report, &path), path, opened: seconds_now(), known }
    }

    /// A directory that was read as a sweep.
    pub fn sweep(folder: &Path) -> Self {
        let path = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let (title, opened) = (shortened_name(&run_name(&path)), seconds_now());
        Self { title, path, opened, known: KnownReport::default() }
    }

    /// Its title with another name of the run: that which tells it from others.
    fn title_with(&self, name: &str) -> String {
        match self.title.strip_suffix(&shortened_name(&run_name(&self.path))) {
            Some(model) => format!("{model}{}", shortened_name(name)),
            // It was written by a version that had other names.
            None => self.title.clone(),
        }
    }
}

/// What reports are called in a list of them, in their order.
pub fn titles(reports: &[RecentReport]) -> Vec<String> {
    let names = run_names(reports.iter().map(|report| &*report.path));
    reports.iter().zip(names).map(|(report, name)| report.title_with(&name)).collect()
}

/// Seconds since 1970.
fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

impl RecentComparison {
    /// Reports that are compared, the reference first; `None` of fewer than two.
    pub fn of(reports: Vec<RecentReport>) -> Option<Self> {
        let opened = reports.first()?.opened;
        let titles = titles(&reports);
        let mut paths = reports.into_iter().map(|report| report.path);
        let (source, target) = (paths.next()?, paths.next()?);
        Some(Self { source, target, more: paths.collect(), title: titles.join(" → "), opened })
    }

    /// Where its reports are, the reference first.
    pub fn paths(&self) -> Vec<PathBuf> {
        [&self.source, &self.target].into_iter().chain(&self.more).cloned().collect()
    }

    /// Whether it is of the same reports, whichever is the reference.
    pub fn is_of(&self, paths: &[PathBuf]) -> bool {
        let (mut own, mut others) = (self.paths(), paths.to_vec());
        own.sort();
        others.sort();
        own == others
    }
}

/// Puts an entry first, in place of those that are the same.
pub fn put_first<T>(list: &mut Vec<T>, entry: T, is_same: impl Fn(&T) -> bool) {
    list.retain(|other| !is_same(other));
    list.insert(0, entry);
    list.truncate(MOST);
}

fn title(report: &Report, path: &Path) -> String {
    let name = shortened_name(&run_name(path));
    match report.about.get().and_then(|about| model(&about.app, &about.framework)) {
        Some(model) if model != name => format!("{model}, {name}"),
        _ => name,
    }
}

fn shortened_name(name: &str) -> String {
    shortened(name, NAME).into_owned()
}

/// What the side files call the model.
fn model(app: &[SideFact], framework: &[SideFact]) -> Option<String> {
    MODEL_KEYS.iter().find_map(|key| {
        let is_model =
            |fact: &&SideFact| fact.path.eq_ignore_ascii_case(key) && !fact.value.is_empty();
        let fact = app.iter().chain(framework).find(is_model)?;
        Some(shortened(&fact.value, NAME).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_name_the_model_and_the_directory() {
        let report = Report::new(PathBuf::from("/runs/amp-0.75/profile.pop"));
        assert_eq!(RecentReport::now(&report, None).title, "amp-0.75");
        let network = SideFact { path: "network".into(), value: "resnext101".into() };
        let about = crate::store::options::About { app: vec![network], ..Default::default() };
        report.about.fill(Some(about));
        assert_eq!(RecentReport::now(&report, None).title, "resnext101, amp-0.75");
    }

    #[test]
    fn recent_reports_of_the_same_directory_name_are_told_apart() {
        let report = |path: &str, title: &str| RecentReport {
            path: path.into(),
            title: title.to_owned(),
            opened: 7,
            known: KnownReport::default(),
        };
        let list = [
            report("/amp/0.6/report/profile.pop", "resnext101, report"),
            report("/amp/0.8/report", "report"),
            report("/amp/0.8/other", "as it was called before"),
        ];
        let expected = ["resnext101, 0.6/report", "0.8/report", "as it was called before"];
        assert_eq!(titles(&list), expected);
        let pair = RecentComparison::of(list.into_iter().take(2).collect()).expect("a pair");
        assert_eq!(pair.title, "resnext101, 0.6/report → 0.8/report");
    }

    #[test]
    fn two_are_written_as_ever_and_more_beside_them() {
        let reports = |names: &[&str]| {
            let report = |name: &&str| RecentReport {
                path: format!("/runs/{name}").into(),
                title: (*name).to_owned(),
                opened: 7,
                known: KnownReport::default(),
            };
            names.iter().map(report).collect::<Vec<_>>()
        };
        assert_eq!(RecentComparison::of(reports(&["a"])), None);
        let two = RecentComparison::of(reports(&["a", "b"])).expect("two");
        let text = serde_json::to_string(&two).expect("JSON");
        let expected = r#"{"source":"/runs/a","target":"/runs/b","title":"a → b","opened":7}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<RecentComparison>(expected).expect("a pair"), two);
        let three = RecentComparison::of(reports(&["c", "a", "b"])).expect("three");
        let text = serde_json::to_string(&three).expect("JSON");
        assert!(text.contains(r#""more":["/runs/b"]"#), "{text}");
        assert_eq!(serde_json::from_str::<RecentComparison>(&text).expect("three"), three);
        assert_eq!(three.title, "c → a → b");
        assert!(three.is_of(&["/runs/a".into(), "/runs/b".into(), "/runs/c".into()]));
        assert!(!three.is_of(&two.paths()));
    }

    #[test]
    fn the_latest_comes_first_and_once() {
        let mut list: Vec<usize> = Vec::new();
        for entry in (0..30).chain([15]) {
            put_first(&mut list, entry, |other| *other == entry);
        }
        assert_eq!((list.len(), list.first()), (MOST, Some(&15)));
        assert_eq!(list.iter().filter(|entry| **entry == 15).count(), 1);
    }
}
