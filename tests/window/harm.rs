//! Names that a terminal, a spreadsheet or a reader of text would obey: in every table's copy and in pictures.

use crate::dump::copy_tables;
use crate::support::{click, settle, type_into, wait_for, window};
use eframe::egui::accesskit::{Role, Toggled};
use eframe::egui::{Key, Modifiers, Theme};
use egui_kittest::Harness;
use egui_kittest::kittest::NodeT as _;
use resvg::usvg::roxmltree::Document;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use tilescope::format::Progress;
use tilescope::systems::poplar::cross_checks::contradictions;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

const HOSTILE: [&str; 2] =
    ["=cmd|'\u{1b}[2J\u{9b}31m\u{202e}\u{2066}!A0", "\t=1+1\u{fffe}\u{ffff}\u{7f}"];

fn hostile_report(name: &str) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_profiles/tiny");
    for file in ["profile.pop", "debug.cbor"] {
        std::fs::copy(sample.join(file), directory.path().join(file)).expect("a copy");
    }
    let profile = Connection::open(directory.path().join("profile.pop")).expect("a profile");
    for column in [
        "unlowered_vars SET name = ?1 || id % 5",
        "compute_sets SET name = ?1",
        "programs SET name = ?1",
        "vars_string_table SET string = ?1",
        "var_categories SET name = ?1 || id",
        "memory_by_category SET category_id = ?1 || rowid",
        "vertex_types SET name = ?1",
        "program_types SET name = ?1",
        "compilation_parameters SET value = ?1",
    ] {
        profile.execute(&format!("UPDATE {column}"), [name]).expect("a name");
    }
    directory
}

/// The names of the tabs that are not chosen.
fn tabs(harness: &Harness<'_, App>) -> Vec<String> {
    let all = harness.root().children_recursive();
    let tabs = all.filter_map(|node| {
        let node = node.accesskit_node();
        let is_tab = node.role() == Role::Tab || node.toggled() == Some(Toggled::False);
        if is_tab && node.role() != Role::CheckBox { node.label() } else { None }
    });
    tabs.collect()
}

fn check_copies(harness: &mut Harness<'_, App>) -> usize {
    let mut copies = String::new();
    copy_tables(harness, &mut copies);
    let obeyed = copies.chars().find(|character| {
        (character.is_control() && *character != '\n')
            || ('\u{202a}'..='\u{202e}').contains(character)
            || ('\u{2066}'..='\u{2069}').contains(character)
    });
    assert_eq!(obeyed, None, "{copies}");
    for cell in copies.lines().flat_map(|line| line.split(',')) {
        let cell = cell.trim_matches('"');
        let is_formula = cell.len() > 1 && cell.starts_with(['=', '+', '@', '\t']);
        assert!(!is_formula || cell.parse::<f64>().is_ok(), "{cell:?} in {copies}");
    }
    copies.lines().count()
}

#[test]
fn what_is_copied_and_exported_is_not_obeyed() {
    let pictures = tempfile::tempdir().expect("a directory");
    for (number, name) in HOSTILE.into_iter().enumerate() {
        let directory = hostile_report(name);
        let progress = Progress::default();
        let open = OpenReport::open(directory.path(), &progress).expect("a report");
        open.read_all(&progress, |report| contradictions(report, &progress)).expect("all of it");
        let mut harness =
            window(Theme::Light, |ctx| App::with_runs(ctx, vec![Arc::clone(&open.report)]));
        let mut lines = 0;
        for page in [Page::Overview, Page::Insights, Page::Memory, Page::Liveness] {
            harness.state_mut().go(page);
            settle(&mut harness);
            lines += check_copies(&mut harness);
            for tab in tabs(&harness) {
                let is_of_tables = [
                    "Tiles",
                    "Variables",
                    "Categories",
                    "Steps",
                    "Vertices",
                    "Exchanges",
                    "Compute sets",
                ];
                if is_of_tables.iter().any(|table| tab.starts_with(table)) {
                    click(&mut harness, &tab);
                    settle(&mut harness);
                    lines += check_copies(&mut harness);
                }
            }
            harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
            settle(&mut harness);
            click(&mut harness, "SVG");
            let path = pictures.path().join(format!("{number}-{page:?}.svg"));
            type_into(&mut harness, "File, .png or .svg", &path.display().to_string());
            click(&mut harness, "Save");
            wait_for(&mut harness, "Saved ");
            let svg = std::fs::read_to_string(&path).expect("a picture");
            Document::parse(&svg).expect("well-formed XML");
            let obeyed = svg.chars().find(|character| {
                matches!(
                    character,
                    '\u{1b}' | '\u{9b}' | '\u{202e}' | '\u{2066}' | '\u{fffe}' | '\u{ffff}'
                )
            });
            assert_eq!(obeyed, None, "{page:?}");
        }
        assert!(lines > 100, "{lines} lines were copied");
    }
}
