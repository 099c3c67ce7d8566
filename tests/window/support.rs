//! Shared by all tests of the window: making one, waiting for it, reading its accessibility tree.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui::accesskit::{Role, Toggled};
use eframe::egui::{
    DroppedFile, DroppedFileHandle, Event, Key, Modifiers, PointerButton, Pos2, Theme, Vec2,
};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotOptions};
use tilescope::store::Report;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

/// Longest time that a background job may take.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The one place for tolerances: what lavapipe on different processors may differ by.
pub fn tolerances() -> SnapshotOptions {
    SnapshotOptions::new().threshold(1.0).max_failed_pixels(10)
}

/// The sizes of windows that pictures are stored of.
pub const SIZES: [Vec2; 2] = [Vec2::new(1280.0, 800.0), Vec2::new(1920.0, 1080.0)];

pub fn window<'a>(
    theme: Theme,
    app: impl FnOnce(&eframe::egui::Context) -> App,
) -> Harness<'a, App> {
    window_sized(theme, SIZES[0], app)
}

pub fn window_sized<'a>(
    theme: Theme,
    size: Vec2,
    app: impl FnOnce(&eframe::egui::Context) -> App,
) -> Harness<'a, App> {
    let mut harness = window_at_work(theme, size, app);
    settle(&mut harness);
    harness
}

/// A window that may have work left.
pub fn window_at_work<'a>(
    theme: Theme,
    size: Vec2,
    app: impl FnOnce(&eframe::egui::Context) -> App,
) -> Harness<'a, App> {
    // Tests that do not say where they begin begin with Memory.
    window_as_it_opens(theme, size, |ctx| {
        let mut app = app(ctx);
        if app.page() == Page::Overview {
            app.go(Page::Memory);
        }
        app
    })
}

/// A window on the page that comes first.
pub fn window_as_it_opens<'a>(
    theme: Theme,
    size: Vec2,
    app: impl FnOnce(&eframe::egui::Context) -> App,
) -> Harness<'a, App> {
    Harness::builder()
        .with_size(size)
        .with_theme(theme)
        .with_options(tolerances())
        // Names may be in any script; what the fonts lack is drawn as a box.
        .allow_missing_glyphs()
        .build_eframe(|creation| app(&creation.egui_ctx))
}

pub fn window_on(theme: Theme, report: Report) -> Harness<'static, App> {
    window(theme, |ctx| App::with_runs(ctx, vec![Arc::new(report)]))
}

/// Steps until the report is read, no job runs and no frame changes the layout any more.
pub fn settle(harness: &mut Harness<'_, App>) {
    let started = Instant::now();
    let mut idle_frames = 0;
    // A job may ask for another one when its answer comes, and be done before it is seen at work.
    while idle_frames < 6 {
        harness.step();
        if harness.state().is_busy(&harness.ctx) {
            idle_frames = 0;
            std::thread::sleep(Duration::from_millis(5));
        } else {
            idle_frames += 1;
        }
        assert!(started.elapsed() < PATIENCE, "the window does not come to rest");
    }
}

/// Steps until a text can be found.
pub fn wait_for(harness: &mut Harness<'_, App>, text: &str) {
    wait(harness, text, true);
}

/// Steps until a text is gone.
pub fn wait_until_gone(harness: &mut Harness<'_, App>, text: &str) {
    wait(harness, text, false);
}

fn wait(harness: &mut Harness<'_, App>, text: &str, is_wanted: bool) {
    let started = Instant::now();
    while has_text(harness, text) != is_wanted {
        let wanted = if is_wanted { "wanted" } else { "not wanted" };
        assert!(started.elapsed() < PATIENCE, "{text:?} is {wanted} in {:#?}", texts(harness));
        std::thread::sleep(Duration::from_millis(10));
        harness.step();
    }
}

/// All names and values of the accessibility tree.
pub fn texts(harness: &Harness<'_, App>) -> Vec<String> {
    let nodes = harness.root().children_recursive();
    nodes
        .flat_map(|node| {
            let node = node.accesskit_node();
            [node.label(), node.value()]
        })
        .flatten()
        // A value keeps its unit where a line ends.
        .map(|text| text.replace('\u{a0}', " "))
        .collect()
}

pub fn has_text(harness: &Harness<'_, App>, text: &str) -> bool {
    texts(harness).iter().any(|found| found.contains(text))
}

/// Puts the pointer over a position of a picture: at a share of its width, in the middle.
pub fn hover_share(harness: &mut Harness<'_, App>, name: &str, share: f32) {
    let rect = harness.get_by_label(name).rect();
    harness.hover_at(rect.left_center() + Vec2::new(rect.width() * share, 0.0));
    harness.run_steps(3);
}

/// Clicks at a place, with keys held.
pub fn click_at(harness: &mut Harness<'_, App>, at: Pos2, modifiers: Modifiers) {
    harness.hover_at(at);
    harness.event(Event::ModifiersChanged(modifiers));
    for pressed in [true, false] {
        let button = PointerButton::Primary;
        harness.event(Event::PointerButton { pos: at, button, pressed, modifiers });
    }
    harness.event(Event::ModifiersChanged(Modifiers::NONE));
    settle(harness);
}

/// Chooses an entry of a list that folds out.
pub fn choose(harness: &mut Harness<'_, App>, list: &str, entry: &str) {
    harness.get_by_role_and_label(Role::ComboBox, list).click();
    settle(harness);
    // The list is drawn after all else that may have the same name; a long one has a part in sight.
    harness.get_all_by_role_and_label(Role::Button, entry).last().expect("an entry").scroll_to_me();
    settle(harness);
    harness.get_all_by_role_and_label(Role::Button, entry).last().expect("an entry").click();
    settle(harness);
}

/// What the window asks its surroundings for, frame by frame until it comes.
pub fn wait_for_output<T>(
    harness: &mut Harness<'_, App>,
    find: impl Fn(&eframe::egui::FullOutput) -> Option<T>,
) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = find(harness.output()) {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "the window asks for nothing");
        harness.step();
    }
}

/// A text that the window puts on the clipboard.
pub fn copied_text(output: &eframe::egui::FullOutput) -> Option<String> {
    output.platform_output.commands.iter().find_map(|command| match command {
        eframe::egui::OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    })
}

/// Opens the menu of what is at a place.
pub fn right_click(harness: &mut Harness<'_, App>, at: Pos2) {
    harness.hover_at(at);
    for pressed in [true, false] {
        let (button, modifiers) = (PointerButton::Secondary, Modifiers::NONE);
        harness.event(Event::PointerButton { pos: at, button, pressed, modifiers });
    }
    settle(harness);
}

pub fn click(harness: &mut Harness<'_, App>, name: &str) {
    harness.get_by_label(name).click();
    settle(harness);
}

pub fn press(harness: &mut Harness<'_, App>, key: Key) {
    harness.key_press_modifiers(Modifiers::NONE, key);
    settle(harness);
}

/// Goes to a view of the Map page.
pub fn open_map(harness: &mut Harness<'_, App>, view: &str) {
    harness.state_mut().go(Page::Map);
    settle(harness);
    open_tab(harness, view);
}

/// Opens a menu of the map, such as that of its step, and chooses the entry that begins in such a way.
pub fn choose_map_step(harness: &mut Harness<'_, App>, menu: &str, entry: &str) {
    click(harness, menu);
    let found = texts(harness).into_iter().find(|text| text.starts_with(entry));
    click(harness, &found.expect("an entry"));
}

pub fn open_tab(harness: &mut Harness<'_, App>, tab: &str) {
    harness.get_by_role_and_label(Role::Button, tab).click();
    settle(harness);
}

/// Whether something is switched on, or selected.
pub fn is_on(harness: &Harness<'_, App>, role: Role, name: &str) -> bool {
    let node = harness.get_by_role_and_label(role, name);
    node.accesskit_node().toggled() == Some(Toggled::True)
}

pub fn is_enabled(harness: &Harness<'_, App>, name: &str) -> bool {
    !harness.get_by_label(name).accesskit_node().is_disabled()
}

#[track_caller]
pub fn assert_text(harness: &Harness<'_, App>, text: &str) {
    assert!(has_text(harness, text), "{text:?} in {:#?}", texts(harness));
}

#[track_caller]
pub fn assert_texts(harness: &Harness<'_, App>, expected: &[&str]) {
    for expected in expected {
        assert!(has_text(harness, expected), "{expected:?} in {:#?}", texts(harness));
    }
}

/// A table as it is copied: the cells of each line.
pub fn copied(harness: &mut Harness<'_, App>, table: &str) -> Vec<Vec<String>> {
    harness.get_by_label(&format!("Copy as CSV: {table}")).click();
    let text = wait_for_output(harness, copied_text);
    settle(harness);
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[track_caller]
pub fn line<'a>(table: &'a [Vec<String>], name: &str) -> &'a [String] {
    let found = table.iter().find(|line| line[0] == name);
    found.unwrap_or_else(|| panic!("{name:?} in {table:#?}"))
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("the window opens paths".to_owned())
    }
}

/// Drops files on the window.
pub fn drop_on(harness: &mut Harness<'_, App>, paths: &[PathBuf]) {
    let files = paths.iter().map(|path| Arc::new(Dropped(path.clone())) as DroppedFileHandle);
    harness.input_mut().dropped_files = files.collect();
    harness.run_steps(2);
}

/// Types a text into a field in place of what it has.
pub fn type_into(harness: &mut Harness<'_, App>, field: &str, text: &str) {
    harness.get_by_role_and_label(Role::TextInput, field).focus();
    harness.run_steps(2);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.run_steps(2);
    harness.get_by_role_and_label(Role::TextInput, field).type_text(text);
    settle(harness);
}
