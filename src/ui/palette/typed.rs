//! Parses a text typed into the palette: tiles, a step, a path.

use std::path::{MAIN_SEPARATOR, PathBuf};

use crate::analysis::memory::selection::tiles_of_text;
use crate::store::{StepId, System};
use crate::text::shortened;
use crate::ui::command::Command;
use crate::ui::keys::TitledCommand;
use crate::ui::runs::{Run, Runs, StepAt};
use crate::ui::selection::Jump;

/// Longest text in a title.
const TEXT: usize = 100;

/// What a text names for sure, with what can be done with it; empty where it is a part of a title or a name.
pub fn named(text: &str, runs: Option<&Runs>) -> Vec<TitledCommand> {
    let text = text.trim();
    if begins_as_path(text) {
        return open_path(text, runs.is_some());
    }
    let Some((word, rest)) = text.split_once(char::is_whitespace) else { return Vec::new() };
    let rest = rest.trim();
    let is_number = rest.starts_with(|first: char| first.is_ascii_digit());
    match &*word.to_lowercase() {
        "tile" | "tiles" if is_number => vec![select_tiles(rest, runs)],
        "step" | "event" if is_number => vec![select_step(rest, runs)],
        _ => Vec::new(),
    }
}

/// Opening the report at a path, and comparing it with what is open.
pub fn open_path(text: &str, is_open: bool) -> Vec<TitledCommand> {
    let (path, shown) = (path_of(text), shortened(text, TEXT));
    let open = (format!("Open {shown}"), Command::Open(path.clone()));
    let compare = (format!("Compare with {shown}"), Command::AddRun(path));
    let all = [Some(open), Some(compare).filter(|_| is_open)];
    all.into_iter()
        .flatten()
        .map(|(title, command)| TitledCommand::new(title, &[], command, None))
        .collect()
}

/// Whether a text can be nothing but a path.
fn begins_as_path(text: &str) -> bool {
    let after_drive = text.get(1..3).is_some_and(|rest| rest == ":\\" || rest == ":/");
    text.starts_with(['/', '~', MAIN_SEPARATOR])
        || text.starts_with("./")
        || text.starts_with("..")
        || after_drive
}

/// Whether a text may be a path; names of variables have separators too.
pub fn may_be_path(text: &str) -> bool {
    text.contains(['/', MAIN_SEPARATOR])
}

/// The path that a text names; `~` is the directory of the user.
pub fn path_of(text: &str) -> PathBuf {
    let text = text.trim();
    let below_home = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (below_home, dirs::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(text),
    }
}

fn select_tiles(text: &str, runs: Option<&Runs>) -> TitledCommand {
    let word = if text.parse::<u32>().is_ok() { "tile" } else { "tiles" };
    let title = format!("Select {word} {} on Memory", shortened(text, TEXT));
    let memories = runs.into_iter().flat_map(Runs::iter).filter_map(|run| run.report.memory.get());
    let mut why_not = None;
    for memory in memories {
        match tiles_of_text(text, &memory.tiles) {
            Ok(tiles) => {
                return TitledCommand::new(title, &[], Command::SelectTiles(tiles), None);
            }
            Err(reason) => why_not = why_not.or(Some(reason)),
        }
    }
    let why_not = why_not.unwrap_or_else(|| lacks(runs, "tiles"));
    TitledCommand::impossible(title, why_not)
}

fn select_step(text: &str, runs: Option<&Runs>) -> TitledCommand {
    let system = runs.map_or(&System::GENERAL, Runs::system);
    let title = format!("Select {} {} on Liveness", system.step_in_text, shortened(text, TEXT));
    let step_of = |run: &Run| {
        let step = run.report.steps.get()?.ids.position(StepId(text.parse().ok()?))?;
        Some(StepAt { run: run.id, step })
    };
    // Of several runs the reference comes first.
    if let Some(at) = runs.and_then(|runs| runs.iter().find_map(step_of)) {
        return TitledCommand::new(title, &[], Command::GoTo(Jump::Step(at)), None);
    }
    let ids = runs.and_then(|runs| Some(&runs.reference().report.steps.get()?.ids));
    let why_not = match ids.map(|ids| (ids.as_slice().first(), ids.as_slice().last())) {
        Some((Some(first), Some(last))) => {
            format!("The {} are from {first} to {last}", system.steps)
        }
        _ => lacks(runs, system.steps),
    };
    TitledCommand::impossible(title, why_not)
}

fn lacks(runs: Option<&Runs>, what: &str) -> String {
    match runs {
        None => "No run is open".to_owned(),
        Some(runs) if runs.is_working() => format!("The {what} are being read"),
        Some(_) => format!("The run has no {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str) -> Vec<String> {
        named(text, None).into_iter().map(|action| action.title.into_owned()).collect()
    }

    #[test]
    fn paths_tiles_and_steps_are_told_from_parts_of_titles_and_names() {
        assert_eq!(titles("/runs/a b"), ["Open /runs/a b"]);
        assert_eq!(titles(" ../a"), ["Open ../a"]);
        assert_eq!(titles("C:\\runs"), ["Open C:\\runs"]);
        assert_eq!(titles("tile 39"), ["Select tile 39 on Memory"]);
        assert_eq!(titles("TILES 0-15, 952"), ["Select tiles 0-15, 952 on Memory"]);
        assert_eq!(titles("step 82"), ["Select step 82 on Liveness"]);
        for text in ["", "tile", "tiles over", "step", "steps", "align steps", "a/b", "step by"] {
            assert_eq!(titles(text), [""; 0], "{text:?}");
        }
        assert_eq!(open_path("/a", true).len(), 2);
        assert!(may_be_path("layer1/conv") && !may_be_path("layer1"));
        let home = path_of("~/runs");
        assert!(home.is_absolute() && home.ends_with("runs") || dirs::home_dir().is_none());
        assert_eq!(path_of("~other/runs"), PathBuf::from("~other/runs"));
    }

    #[test]
    fn without_a_report_they_say_why_not() {
        for (text, why_not) in [("tile 3", "No run is open"), ("step 3", "No run is open")] {
            let action = named(text, None).pop().expect("an action");
            assert_eq!(action.why_not.as_deref(), Some(why_not));
        }
    }
}
