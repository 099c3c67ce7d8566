//! Finds what the window shows by its name, and writes it down: the accessibility tree, and all that
//! tables have.

use std::fmt::Write as _;
use std::time::Instant;

use crate::support::{PATIENCE, copied_text, settle};
use eframe::egui::Rect;
use eframe::egui::accesskit::{Role, Toggled};
use egui_kittest::kittest::NodeT as _;
use egui_kittest::{Harness, Node};
use tilescope::ui::app::App;

/// What the names of the buttons that copy tables begin with.
const COPY: &str = "Copy as CSV: ";

/// All that has one of the roles and this name and can be used, in the order in which it is drawn.
pub fn places(
    harness: &Harness<'_, App>,
    roles: &[Role],
    is_name: impl Fn(&str) -> bool,
) -> Vec<Rect> {
    let all = harness.root().children_recursive();
    let found = all.filter(|node| {
        let node = node.accesskit_node();
        let is_it = roles.contains(&node.role()) && !node.is_disabled();
        is_it && node.label().is_some_and(|label| is_name(&label))
    });
    found.map(|node| node.rect()).collect()
}

/// Where the first thing of this name is, or else the first whose name begins so.
pub fn place(harness: &Harness<'_, App>, roles: &[Role], name: &str) -> Option<Rect> {
    let exact = places(harness, roles, |label| label == name);
    let found = exact.first().copied();
    found.or_else(|| places(harness, roles, |label| label.starts_with(name)).first().copied())
}

/// Whether a description of the window says where things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    Shown,
    Left,
}

/// Writes a part of the accessibility tree; what only holds others together has no line.
pub fn describe(node: &Node<'_>, depth: usize, places: Places, text: &mut String) {
    let access = node.accesskit_node();
    let (role, label, value) = (access.role(), access.label(), access.value());
    if role == Role::TextRun {
        return;
    }
    let is_holder = matches!(role, Role::GenericContainer | Role::Unknown | Role::Window);
    let is_told = !is_holder || label.is_some() || value.is_some();
    if is_told {
        write!(text, "{}{role:?}", "  ".repeat(depth)).expect("a text");
        let value = value.filter(|value| label.as_ref() != Some(value));
        for (before, told) in [(" ", label), (" = ", value)] {
            // That a value keeps its unit where a line ends is not written down.
            if let Some(told) = told.map(|told| told.replace('\u{a0}', " ")) {
                write!(text, "{before}{told:?}").expect("a text");
            }
        }
        if let Some(number) = access.numeric_value() {
            write!(text, " number {number:.2}").expect("a text");
        }
        let toggled = access.toggled().map(|toggled| match toggled {
            Toggled::True => "on",
            Toggled::False => "off",
            Toggled::Mixed => "mixed",
        });
        let selected = access.is_selected().filter(|is_selected| *is_selected).map(|_| "selected");
        let disabled = access.is_disabled().then_some("disabled");
        for state in [toggled, selected, disabled].into_iter().flatten() {
            write!(text, " {state}").expect("a text");
        }
        if let Some(rect) = access.bounding_box().filter(|_| places == Places::Shown) {
            let [x, y] = [rect.x0, rect.y0].map(f64::round);
            let [width, height] = [rect.width(), rect.height()].map(f64::round);
            write!(text, " [{x} {y} {width} {height}]").expect("a text");
        }
        text.push('\n');
    }
    for child in node.children() {
        describe(&child, depth + usize::from(is_told), places, text);
    }
}

/// All that the tables have, by their own copies: the name of the button, and what it copies.
pub fn copied_tables(harness: &mut Harness<'_, App>) -> Vec<(String, String)> {
    let is_copy = |node: &Node<'_>| {
        let label = node.accesskit_node().label();
        label.is_some_and(|label| label.starts_with(COPY))
    };
    let count = harness.root().children_recursive().filter(is_copy).count();
    let mut tables = Vec::new();
    for index in 0..count {
        let name = {
            let mut copies = harness.root().children_recursive().filter(is_copy);
            let Some(copy) = copies.nth(index) else { break };
            // What lies outside of the visible part of the page is reached too.
            copy.click_accesskit();
            copy.accesskit_node().label().unwrap_or_default()
        };
        let table = wait_for_copy(harness).unwrap_or_else(|| "nothing was copied\n".to_owned());
        tables.push((name, table));
        settle(harness);
    }
    tables
}

/// What comes to the clipboard; nothing when the window comes to rest before.
fn wait_for_copy(harness: &mut Harness<'_, App>) -> Option<String> {
    let started = Instant::now();
    let mut idle_frames = 0;
    while idle_frames < 6 && started.elapsed() < PATIENCE {
        harness.step();
        if let Some(copied) = copied_text(harness.output()) {
            return Some(copied);
        }
        idle_frames = if harness.state().is_busy(&harness.ctx) { 0 } else { idle_frames + 1 };
    }
    None
}

/// Writes all that the tables have.
pub fn copy_tables(harness: &mut Harness<'_, App>, text: &mut String) {
    for (name, table) in copied_tables(harness) {
        writeln!(text, "\n{name}\n{table}").expect("a text");
    }
}
