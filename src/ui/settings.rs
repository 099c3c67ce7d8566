//! The settings that the window keeps from one start to the next: the values and how they change.
//!
//! They live in a JSON object that other windows, and other versions of the program, write too: a
//! change touches its own key and leaves the others as they are.

use eframe::egui::ThemePreference;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::recent::{RecentComparison, RecentReport, put_first};
use super::units::Units;

const THEME: &str = "theme";
const MENU: &str = "menu_collapsed";
const UNITS: &str = "units";
const SPLITTERS: &str = "splitters";
const OPERATION_COLUMNS: &str = "operation_columns";
const REPORTS: &str = "recent_reports";
const COMPARISONS: &str = "recent_pairs";
const SWEEPS: &str = "recent_sweeps";

/// The settings as they are in the file.
pub type Object = Map<String, Value>;

/// What is remembered. What the file lacks, or has in a form that is not known here, is as at first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Colors; `None` follows the system.
    pub theme: Option<ThemePreference>,
    pub is_menu_collapsed: bool,
    pub units: Units,
    /// Sizes beside splitters, by the splitters' names.
    pub splitters: BTreeMap<String, f32>,
    /// Columns of the table of operations, by the keys of their figures; none as at first.
    pub operation_columns: Vec<String>,
    /// Reports that were opened, the latest first.
    pub recent_reports: Vec<RecentReport>,
    /// Comparisons, the latest first.
    pub recent_comparisons: Vec<RecentComparison>,
    /// Directories that were read as sweeps, the latest first.
    pub recent_sweeps: Vec<RecentReport>,
}

impl From<&Object> for Settings {
    fn from(object: &Object) -> Self {
        Self {
            theme: theme_of(&value::<String>(object, THEME)),
            is_menu_collapsed: value(object, MENU),
            units: value(object, UNITS),
            splitters: value(object, SPLITTERS),
            operation_columns: value(object, OPERATION_COLUMNS),
            recent_reports: value(object, REPORTS),
            recent_comparisons: value(object, COMPARISONS),
            recent_sweeps: value(object, SWEEPS),
        }
    }
}

#[derive(Clone)]
pub enum SettingChange {
    Theme(ThemePreference),
    /// Whether the menu has icons only, or icons with titles.
    Menu(bool),
    Units(Units),
    /// A splitter was moved, or put back to where it was at first.
    Splitter(String, Option<f32>),
    /// Columns of the table of operations, by the keys of their figures.
    OperationColumns(Vec<String>),
    Opened(RecentReport),
    Forget(PathBuf),
    Compared(RecentComparison),
    ForgetComparison(Vec<PathBuf>),
    Swept(RecentReport),
    ForgetSweep(PathBuf),
}

impl SettingChange {
    pub fn apply(&self, object: &mut Object) {
        match self {
            Self::Theme(theme) => set(object, THEME, theme_name(*theme)),
            Self::Menu(is_collapsed) => set(object, MENU, is_collapsed),
            Self::Units(units) => set(object, UNITS, units),
            Self::Splitter(name, size) => {
                edit(object, SPLITTERS, |sizes: &mut BTreeMap<String, f32>| match size {
                    Some(size) => drop(sizes.insert(name.clone(), *size)),
                    None => drop(sizes.remove(name)),
                });
            }
            Self::OperationColumns(keys) => set(object, OPERATION_COLUMNS, keys),
            Self::Opened(report) => put(object, REPORTS, report),
            Self::Forget(path) => forget(object, REPORTS, path),
            Self::Swept(sweep) => put(object, SWEEPS, sweep),
            Self::ForgetSweep(path) => forget(object, SWEEPS, path),
            Self::Compared(comparison) => edit(object, COMPARISONS, |list| {
                let paths = comparison.paths();
                put_first(list, comparison.clone(), |other| other.is_of(&paths));
            }),
            Self::ForgetComparison(paths) => {
                edit(object, COMPARISONS, |list: &mut Vec<RecentComparison>| {
                    list.retain(|comparison| !comparison.is_of(paths));
                });
            }
        }
    }
}

/// A value of the object; what is absent or of another form is as at first.
fn value<T: DeserializeOwned + Default>(object: &Object, key: &str) -> T {
    object.get(key).and_then(|value| T::deserialize(value).ok()).unwrap_or_default()
}

fn put(object: &mut Object, key: &str, entry: &RecentReport) {
    edit(object, key, |list| {
        put_first(list, entry.clone(), |other: &RecentReport| other.path == entry.path);
    });
}

fn forget(object: &mut Object, key: &str, path: &Path) {
    edit(object, key, |list: &mut Vec<RecentReport>| list.retain(|entry| entry.path != *path));
}

fn edit<T>(object: &mut Object, key: &str, change: impl FnOnce(&mut T))
where
    T: DeserializeOwned + Default + Serialize,
{
    let mut value: T = value(object, key);
    change(&mut value);
    set(object, key, value);
}

fn set(object: &mut Object, key: &str, value: impl Serialize) {
    // Only a path that is not Unicode cannot be written; then the list stays as it was.
    if let Ok(value) = serde_json::to_value(value) {
        object.insert(key.to_owned(), value);
    }
}

fn theme_name(theme: ThemePreference) -> &'static str {
    match theme {
        ThemePreference::System => "system",
        ThemePreference::Light => "light",
        ThemePreference::Dark => "dark",
    }
}

fn theme_of(name: &str) -> Option<ThemePreference> {
    let all = [ThemePreference::System, ThemePreference::Light, ThemePreference::Dark];
    all.into_iter().find(|theme| theme_name(*theme) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::ui::recent::KnownReport;

    fn report(path: &str) -> RecentReport {
        let known = KnownReport::default();
        RecentReport { path: path.into(), title: path.to_owned(), opened: 1, known }
    }

    #[test]
    fn changes_are_read_back_and_leave_other_keys() {
        let mut object = Object::new();
        object.insert("of_a_later_version".into(), Value::Bool(true));
        let pair = RecentComparison::of(vec![report("/a"), report("/b")]).expect("a pair");
        for change in [
            SettingChange::Theme(ThemePreference::Dark),
            SettingChange::Menu(true),
            SettingChange::Units(Units::Bytes),
            SettingChange::Splitter("tables".into(), Some(120.0)),
            SettingChange::Splitter("facts".into(), Some(80.0)),
            SettingChange::Splitter("facts".into(), None),
            SettingChange::OperationColumns(vec!["steps".into()]),
            SettingChange::Opened(report("/a")),
            SettingChange::Opened(report("/b")),
            SettingChange::Opened(report("/a")),
            SettingChange::Compared(pair.clone()),
            SettingChange::Swept(report("/s")),
            SettingChange::Swept(report("/t")),
        ] {
            change.apply(&mut object);
        }
        let settings = Settings::from(&object);
        assert_eq!(settings.theme, Some(ThemePreference::Dark));
        assert!(settings.is_menu_collapsed);
        assert_eq!(settings.units, Units::Bytes);
        assert_eq!(settings.operation_columns, ["steps"]);
        assert_eq!(settings.splitters, [("tables".to_owned(), 120.0)].into());
        assert_eq!(settings.recent_reports, [report("/a"), report("/b")]);
        assert_eq!(settings.recent_comparisons, [pair]);
        assert_eq!(settings.recent_sweeps, [report("/t"), report("/s")]);
        SettingChange::ForgetSweep("/t".into()).apply(&mut object);
        assert_eq!(Settings::from(&object).recent_sweeps, [report("/s")]);
        SettingChange::Forget("/a".into()).apply(&mut object);
        SettingChange::ForgetComparison(vec!["/a".into(), "/b".into()]).apply(&mut object);
        let settings = Settings::from(&object);
        assert_eq!(settings.recent_reports, [report("/b")]);
        assert_eq!(settings.recent_comparisons, []);
        assert_eq!(object.get("of_a_later_version"), Some(&Value::Bool(true)));
    }

    #[test]
    fn values_of_another_form_are_as_at_first() {
        let text = r#"{"theme": 7, "menu_collapsed": "no", "units": "acres", "splitters": []}"#;
        let object: Object = serde_json::from_str(text).expect("an object");
        assert_eq!(Settings::from(&object), Settings::default());
    }
}
