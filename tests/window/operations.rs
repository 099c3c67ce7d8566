//! Drives the page of operations through its accessibility tree.

use crate::copies::sample_named;
use crate::support::{
    assert_text, assert_texts, choose, click, click_at, copied, has_text, line, open_tab, press,
    settle, texts, window_sized,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

fn page_sized(size: Vec2, names: &[&str]) -> Harness<'static, App> {
    let mut harness = window_sized(Theme::Light, size, |ctx| {
        let load = |name: &&str| Load::start(sample_named(name), ctx);
        App::with_loads(ctx, names.iter().map(load).collect())
    });
    harness.state_mut().go(Page::Operations);
    settle(&mut harness);
    harness
}

fn page(names: &[&str]) -> Harness<'static, App> {
    page_sized(Vec2::new(1440.0, 900.0), names)
}

fn choose_row(harness: &mut Harness<'_, App>, name: &str) {
    // Where its name is: the middle of a wide row lies beside the table.
    let rect = harness.get_by_role_and_label(Role::Row, name).rect();
    click_at(harness, rect.left_center() + Vec2::new(30.0, 0.0), Modifiers::NONE);
}

#[test]
fn a_chosen_operation_has_its_options_and_its_steps() {
    let mut harness = page(&["pair-0.6"]);
    assert_texts(&harness, &["7 operations; most at the peak: ", "Most at the peak; click a row"]);
    choose_row(&mut harness, "layer1.0.conv2");
    assert_texts(&harness, &["convolution of PopLibs", "resnext.py:93", "kernelShape", "[3, 3]"]);
    assert_texts(&harness, &["PyTorch  convolution", "PopLibs  convolution", "numConvGroups"]);
    // As figure of the operation, and among the options of the call.
    let options = texts(&harness);
    assert!(options.iter().filter(|text| *text == "availableMemoryProportion").count() >= 2);
    assert_text(&harness, "Code by tile of layer1.0.conv2 (convolution)");
    // The same click takes the choice back.
    choose_row(&mut harness, "layer1.0.conv2");
    assert_text(&harness, "Most at the peak; click a row");
    choose_row(&mut harness, "conv1");
    let steps = texts(&harness);
    let step =
        steps.iter().find(|text| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit()));
    assert!(step.is_some(), "{steps:#?}");
}

#[test]
fn a_step_leads_to_liveness() {
    let mut harness = page(&["pair-0.6"]);
    choose_row(&mut harness, "layer1.0.conv2");
    let links = harness.query_all_by_role(Role::Link);
    links.into_iter().next().expect("a step").click();
    settle(&mut harness);
    assert_eq!(harness.state().page(), Page::Liveness);
    harness.state_mut().go(Page::Operations);
    settle(&mut harness);
    harness.get_by_role_and_label(Role::Link, "Its programs in the tree").click();
    settle(&mut harness);
    assert_eq!(harness.state().page(), Page::Programs);
}

#[test]
fn figures_add_up_and_modules_have_totals() {
    let mut harness = page(&["pair-0.6"]);
    let sum = |table: &[Vec<String>], title: &str| -> i64 {
        let column = table[0].iter().position(|cell| cell == title).expect("a column");
        table[1..].iter().filter_map(|line| line[column].parse::<i64>().ok()).sum()
    };
    let operations = copied(&mut harness, "Operations");
    open_tab(&mut harness, "Modules");
    let modules = copied(&mut harness, "Operations");
    for title in ["At the peak (bytes)", "Variables (bytes)", "Code (bytes)", "Measured cycles"] {
        assert!(sum(&operations, title) > 0, "{title}");
        assert_eq!(sum(&operations, title), sum(&modules, title), "{title}");
    }
    assert_eq!(line(&modules, "layer1.0")[1], "4 operations");
    assert_eq!(
        line(&modules, "Without an operation")[2],
        line(&operations, "Without an operation")[2]
    );
}

#[test]
fn measured_cycles_by_tile_stand_beside_the_estimated_ones() {
    let mut harness = page(&["pair-0.6"]);
    choose_row(&mut harness, "layer1.0.conv2");
    harness.get_by_role_and_label(Role::Button, "Measured cycles").click();
    settle(&mut harness);
    assert_text(&harness, "Measured cycles by tile of layer1.0.conv2 (convolution)");
    harness.get_by_role_and_label(Role::Button, "Estimated cycles").click();
    settle(&mut harness);
    assert!(!has_text(&harness, "Measured cycles by tile of"), "none were estimated");
    // Where nothing was recorded there is no such choice.
    let harness = page(&["tiny"]);
    assert!(harness.query_by_role_and_label(Role::Button, "Measured cycles").is_none());
}

#[test]
fn the_layer_is_chosen() {
    let mut harness = page(&["pair-0.6"]);
    choose(&mut harness, "Software layer", "ONNX");
    let table = copied(&mut harness, "Operations");
    assert_eq!(line(&table, "model.layer1.0.conv2")[1], "Conv 0.6");
    choose(&mut harness, "Software layer", "PyTorch");
    let table = copied(&mut harness, "Operations");
    assert_eq!(line(&table, "model.fc")[1], "matMul 0.6");
}

#[test]
fn columns_are_chosen_and_stay() {
    let mut harness = page(&["pair-0.6"]);
    let titles = copied(&mut harness, "Operations").remove(0);
    assert!(!titles.contains(&"Vertices".to_owned()));
    click(&mut harness, "Columns ▾");
    harness.get_by_role_and_label(Role::CheckBox, "Vertices").click();
    settle(&mut harness);
    press(&mut harness, Key::Escape);
    let titles = copied(&mut harness, "Operations").remove(0);
    assert!(titles.contains(&"Vertices".to_owned()), "{titles:?}");
    harness.state_mut().go(Page::Memory);
    settle(&mut harness);
    harness.state_mut().go(Page::Operations);
    settle(&mut harness);
    let titles = copied(&mut harness, "Operations").remove(0);
    assert!(titles.contains(&"Vertices".to_owned()), "{titles:?}");
}

#[test]
fn two_runs_have_columns_and_changes() {
    let mut harness = page(&["pair-0.6", "pair-0.2"]);
    let table = copied(&mut harness, "Operations");
    let titles = &table[0];
    let column = |title: &str| {
        titles.iter().position(|cell| cell == title).unwrap_or_else(|| panic!("{titles:?}"))
    };
    let conv = line(&table, "layer1.0.conv2");
    assert_eq!(conv[1], "convolution 0.6 → 0.2");
    let at = |title: &str| conv[column(title)].parse::<i64>().expect("a number");
    let (source, target) =
        (at("Source: At its worst step (bytes)"), at("Target: At its worst step (bytes)"));
    assert!(target < source, "a smaller plan needs less");
    assert_eq!(at("Target: At its worst step (change) (bytes)"), target - source);
    choose_row(&mut harness, "layer1.0.conv2");
    assert_texts(&harness, &["convolution of PopLibs", "Target"]);
}

#[test]
fn a_small_window_has_all_of_it() {
    let mut harness = page_sized(Vec2::new(1024.0, 700.0), &["pair-0.6"]);
    choose_row(&mut harness, "conv1");
    assert_texts(&harness, &["Cycles against memory", "By tile", "Operations"]);
}
