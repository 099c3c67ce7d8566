//! Takes pictures out of the window, in either theme and form.

use crate::liveness_pair::{source, target};
use crate::report;
use crate::support::{
    choose, click, copied_text, has_text, settle, texts, type_into, wait_for, wait_for_output,
    window, window_on,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, OutputCommand, Theme};
use egui_kittest::kittest::Queryable as _;
use std::path::Path;
use std::sync::Arc;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

#[test]
fn the_picture_is_copied_and_saved() {
    let mut harness = window_on(Theme::Dark, report::small());
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    harness.get_by_label("Copy picture").click();
    let copied = wait_for_output(&mut harness, |output| {
        output.platform_output.commands.iter().find_map(|command| match command {
            OutputCommand::CopyImage(image) => Some(image.size),
            _ => None,
        })
    });
    // Two pixels a point beside the inspector, and a caption below.
    assert!(copied[0] > 1500 && copied[0] < 2560 && copied[1] > 500, "{copied:?}");
    assert_eq!(harness.ctx.theme(), Theme::Dark, "the window keeps its theme");
    click(&mut harness, "Save picture…");
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("curve.png");
    type_into(&mut harness, "File, .png or .svg", &path.display().to_string());
    click(&mut harness, "Save");
    wait_for(&mut harness, "Saved ");
    let light = image::open(&path).expect("a PNG").into_rgb8();
    let size = [light.width() as usize, light.height() as usize];
    assert_eq!(size, copied, "what is saved is what is copied");
    assert!(light.get_pixel(2, 2).0.iter().all(|part| *part > 200), "a light ground");
    click(&mut harness, "Save picture…");
    let path = directory.path().join("dark.png");
    type_into(&mut harness, "File, .png or .svg", &path.display().to_string());
    click(&mut harness, "1×");
    click(&mut harness, "Dark");
    harness.key_press(Key::Enter);
    wait_for(&mut harness, "Saved ");
    let dark = image::open(&path).expect("a PNG").into_rgb8();
    assert!(dark.width().abs_diff(light.width() / 2) <= 1, "half as wide");
    assert!(dark.get_pixel(2, 2).0.iter().all(|part| *part < 60), "a dark ground");
    click(&mut harness, "Export picture…");
    click(&mut harness, "SVG");
    let path = directory.path().join("curve.svg");
    type_into(&mut harness, "File, .png or .svg", &path.display().to_string());
    click(&mut harness, "Save");
    wait_for(&mut harness, "Saved ");
    let svg = std::fs::read_to_string(&path).expect("a file");
    for part in
        ["<svg ", ">Step</text>", ">Always live</text>", "<path ", ">Tilescope ", "@font-face"]
    {
        assert!(svg.contains(part), "{part} in {svg}");
    }
}

#[test]
fn every_page_is_exported_by_a_key_and_named_after_its_report() {
    let mut harness = window_on(Theme::Light, report::small());
    for page in [Page::Overview, Page::Insights, Page::Memory, Page::Liveness] {
        harness.state_mut().go(page);
        settle(&mut harness);
        harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
        settle(&mut harness);
        for text in ["Export picture", "File, .png or .svg"] {
            assert!(has_text(&harness, text), "{page:?}: {:#?}", texts(&harness));
        }
        let path = harness.get_by_role_and_label(Role::TextInput, "File, .png or .svg").value();
        let path = path.unwrap_or_default();
        assert!(
            Path::new(&path).extension().is_some_and(|end| end == "png") && !path.contains(' '),
            "{path}"
        );
        choose(&mut harness, "Picture", "Whole page");
        let path = harness.get_by_role_and_label(Role::TextInput, "File, .png or .svg").value();
        assert!(path.as_ref().is_some_and(|path| path.ends_with("-whole-page.png")), "{path:?}");
        click(&mut harness, "Cancel");
    }
}

#[test]
fn cards_of_runs_side_by_side_are_exported_each() {
    let (source, target) = (Arc::new(source()), Arc::new(target()));
    let mut harness = window(Theme::Light, |ctx| App::with_runs(ctx, vec![source, target]));
    harness.state_mut().go(Page::Insights);
    settle(&mut harness);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
    settle(&mut harness);
    let directory = tempfile::tempdir().expect("a directory");
    let saved = ["Source", "Target"].map(|run| {
        choose(&mut harness, "Picture", &format!("Tiles of {run}"));
        let path = directory.path().join(format!("{run}.png"));
        type_into(&mut harness, "File, .png or .svg", &path.display().to_string());
        click(&mut harness, "Save");
        wait_for(&mut harness, "Saved ");
        harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
        settle(&mut harness);
        image::open(&path).expect("a PNG").into_rgb8()
    });
    assert!(saved[0] != saved[1], "each has its own");
}

#[test]
fn every_picture_and_every_list_has_its_buttons() {
    let mut harness = window_on(Theme::Light, report::small());
    let pages: [(Page, Option<&str>, &[&str]); 9] = [
        (
            Page::Overview,
            None,
            &[
                "Save picture…: Memory of 2 IPUs, with gaps",
                "Save picture…: Memory over steps",
                "Copy picture: Tiles",
            ],
        ),
        (Page::Summary, None, &["Save as CSV…: facts", "Copy as CSV: Engine options"]),
        (
            Page::Insights,
            None,
            &[
                "Save as CSV…: IPUs",
                "Save as CSV…: Parts of the peak",
                "Save picture…: Tiles",
                "Copy as CSV: Largest",
            ],
        ),
        (Page::Memory, None, &["Save picture…"]),
        (Page::Map, Some("One tile"), &["Save picture…"]),
        (Page::Map, Some("All tiles"), &["Save picture…: map of all tiles"]),
        (Page::Map, Some("Floor plan"), &["Copy picture: floor plan"]),
        (Page::Liveness, None, &["Save picture…: Lifetimes at step 120", "Copy picture"]),
        (Page::Programs, None, &["Save picture…: Program tree", "Copy as CSV: program tree"]),
    ];
    for (page, view, names) in pages {
        harness.state_mut().go(page);
        settle(&mut harness);
        if let Some(view) = view {
            click(&mut harness, view);
        }
        let texts = texts(&harness);
        for name in names {
            assert!(texts.iter().any(|text| text == name), "{page:?}: {name} in {texts:#?}");
        }
    }
    let (source, target) = (Arc::new(source()), Arc::new(target()));
    let mut harness = window(Theme::Light, |ctx| App::with_runs(ctx, vec![source, target]));
    harness.state_mut().go(Page::Comparison);
    settle(&mut harness);
    for name in [
        "Save as CSV…: runs",
        "Save picture…: Memory over steps",
        "Save picture…: Why the peak fell, A → B",
    ] {
        assert!(has_text(&harness, name), "{name} in {:#?}", texts(&harness));
    }
}

#[test]
fn lists_of_cards_are_copied_as_tables() {
    let mut harness = window_on(Theme::Light, report::small());
    for (page, name, title, part) in [
        (Page::Insights, "Largest", "Kind,Name,Size (bytes)\n", "Step,"),
        (Page::Summary, "facts", "Group,Fact,synthetic\n", "Machine,Tiles,48\n"),
    ] {
        harness.state_mut().go(page);
        settle(&mut harness);
        harness.get_by_label(&format!("Copy as CSV: {name}")).click();
        let text = wait_for_output(&mut harness, copied_text);
        assert!(text.starts_with(title) && text.contains(part), "{text}");
    }
}
