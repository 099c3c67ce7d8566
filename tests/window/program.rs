//! XLA modules in the window: a dump opens with its largest module, every page is in the words of the system, and
//! another module is chosen by its name.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Theme};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use std::path::{Path, PathBuf};
use tilescope::format::Progress;
use tilescope::systems::xla::synth::{DumpOptions, XlaTarget, write_dump};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

use crate::support::{
    assert_text, assert_texts, choose, click, copied, drop_on, has_text, line, open_tab, press,
    settle, texts, type_into, window,
};

/// A real dump, which is not part of this package.
fn dump(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/profiles/xla").join(name);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: ../shared/profiles/xla is absent");
    None
}

fn go(harness: &mut Harness<'_, App>, page: Page) {
    harness.state_mut().go(page);
    settle(harness);
    is_in_its_own_words(harness);
}

/// Nothing in the window is in words of the IPU or of an allocator that runs.
#[track_caller]
fn is_in_its_own_words(harness: &Harness<'_, App>) {
    let words = [
        "engine",
        "tile",
        "tiles",
        "ipu",
        "ipus",
        "poplar",
        "poplibs",
        "lowering",
        "exchange",
        "vertex",
        "vertices",
        "event",
        "events",
        "cuda",
        "proportion",
        "availablememoryproportion",
    ];
    for text in texts(harness) {
        let lower = text.to_lowercase();
        let mut found = lower.split(|letter: char| !letter.is_alphanumeric());
        assert!(!found.any(|word| words.contains(&word)), "{text:?}");
        let several = ["always live", "compute set", "always-live", "control program"];
        assert!(!several.iter().any(|word| lower.contains(word)), "{text:?}");
    }
}

#[test]
fn a_dump_opens_with_its_largest_module_and_pages_are_in_its_words() {
    let Some(path) = dump("cpu-jax0.10.2-several") else { return };
    let mut harness = window(Theme::Dark, |ctx| App::open(ctx, path));
    for page in [
        Page::Overview,
        Page::Summary,
        Page::Insights,
        Page::Liveness,
        Page::Map,
        Page::Programs,
        Page::Operations,
    ] {
        go(&mut harness, page);
    }
    go(&mut harness, Page::Summary);
    assert_texts(&harness, &["jit_train_step", "Donated of these", "Lost to packing"]);
    go(&mut harness, Page::Operations);
    let operations = copied(&mut harness, "Operations");
    let dot = line(&operations, "jit(train_step)/transpose(jvp(layer1))/block/dot_general");
    assert!(dot.contains(&"16384".to_owned()), "{dot:?}");
    go(&mut harness, Page::Overview);
    choose(&mut harness, "Module", "jit__threefry_split, 1.02 KiB");
    assert_text(&harness, "jit__threefry_split");
    assert!(!has_text(&harness, "jit_train_step"), "another module is open");
}

#[test]
fn what_the_device_has_is_the_limit_of_the_curve() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, capacity_bytes) in [("known", Some(1 << 30)), ("not-known", None)] {
        let path = directory.path().join(name);
        let options = DumpOptions { capacity_bytes, ..DumpOptions::default() };
        write_dump(&options, &path, &Progress::default()).expect("a dump");
        let mut harness = window(Theme::Light, |ctx| App::open(ctx, path));
        go(&mut harness, Page::Overview);
        // What is too long for a line beside its name has one of its own.
        let name_at = harness.get_by_label("Temporary, most in use").rect();
        let value_at = harness.get_by_label_contains("iB at step ").rect();
        assert!(value_at.top() >= name_at.bottom(), "{name_at:?}, {value_at:?}");
        go(&mut harness, Page::Liveness);
        let is_known = capacity_bytes.is_some();
        for text in ["Limit", "+180.2 MiB over", "1.18 GiB alive, of 1.00 GiB"] {
            assert_eq!(has_text(&harness, text), is_known, "{text}: {:#?}", texts(&harness));
        }
        let peaks = copied(&mut harness, "peaks");
        for title in ["Against the limit", "Over the limit (bytes)", "Of limit"] {
            let has_it = peaks[0].iter().any(|column| column == title);
            assert_eq!(has_it, is_known, "{:?}", peaks[0]);
        }
    }
}

#[test]
fn who_owns_the_peak_leads_to_the_step_and_what_to_try_says_what_it_saves() {
    let Some(path) = dump("tpu-jax0.6.2-scan-oom") else { return };
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, path));
    go(&mut harness, Page::Insights);
    assert_texts(&harness, &["Parts of the temporary peak of HBM", "Lost bytes"]);
    harness.get_by_label("Step 181").click();
    settle(&mut harness);
    is_in_its_own_words(&harness);
    let selected = "Selected: step 181, fusion fusion.273, 19.5 GiB (20,896,029,184 B) temporary";
    assert_texts(&harness, &[selected, "Reserved throughout", "Temporary"]);
}

#[test]
fn a_value_says_its_layout_its_padding_what_makes_and_what_uses_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut options = DumpOptions { platform: XlaTarget::Tpu, ..DumpOptions::default() };
    (options.network.width, options.network.sequence) = (200, 100);
    write_dump(&options, directory.path(), &Progress::default()).expect("a dump");
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, directory.path().to_owned()));
    go(&mut harness, Page::Liveness);
    assert_text(&harness, "Without padding");
    open_tab(&mut harness, "Temporary");
    let values = copied(&mut harness, "temporary values");
    assert_eq!(values[0].last().map(String::as_str), Some("Padding (bytes)"));
    // Shapes have commas; the figures stand last.
    let padding = |row: &Vec<String>| row.last().and_then(|bytes| bytes.parse::<u64>().ok());
    let is_padded = |row: &&Vec<String>| padding(row).is_some_and(|bytes| bytes > 0);
    let padded = values.iter().skip(1).find(is_padded).expect("a padded value");
    let name = padded.first().expect("a name");
    harness.get_all_by_label(name).last().expect("a row").click();
    settle(&mut harness);
    is_in_its_own_words(&harness);
    assert_texts(&harness, &["Shape", "Layout", "With padding", "Made by", "Used by"]);
}

#[test]
fn a_value_that_is_selected_leads_to_its_allocation_and_its_operation() {
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, sample("keep")));
    go(&mut harness, Page::Map);
    assert_text(&harness, "Highest value");
    go(&mut harness, Page::Operations);
    assert_text(&harness, "Most at the peak; click a row to choose another");
    go(&mut harness, Page::Liveness);
    open_tab(&mut harness, "Temporary");
    let values = copied(&mut harness, "temporary values");
    let name = values.get(1).and_then(|row| row.first()).expect("a value");
    harness.get_all_by_label(name).last().expect("a row").click();
    settle(&mut harness);
    go(&mut harness, Page::Map);
    assert_texts(&harness, &["Selected value", name]);
    go(&mut harness, Page::Operations);
    assert!(!has_text(&harness, "Most at the peak; click"), "{:#?}", texts(&harness));
    press(&mut harness, Key::Num0);
    harness.key_press_modifiers(Modifiers::ALT, Key::ArrowLeft);
    settle(&mut harness);
    assert_eq!(harness.state().page(), Page::Liveness, "where it was selected");
}

#[test]
fn a_value_beside_the_curve_is_selected_by_a_click() {
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, sample("keep")));
    go(&mut harness, Page::Liveness);
    open_tab(&mut harness, "Temporary");
    let values = copied(&mut harness, "temporary values");
    let name = values.get(1).and_then(|row| row.first()).expect("a value");
    click(&mut harness, &format!("Select {name}"));
    go(&mut harness, Page::Map);
    assert_texts(&harness, &["Selected value", name]);
}

/// A dump of the samples, in the repository.
fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sample_profiles/xla").join(name)
}

#[test]
fn what_changed_between_two_programs_adds_up_in_every_table() {
    let mut harness = window(Theme::Dark, |ctx| {
        let loads = ["keep", "again"].map(|name| Load::start(sample(name), ctx));
        App::with_loads(ctx, loads.into())
    });
    settle(&mut harness);
    assert_eq!(harness.state().page(), Page::Comparison);
    is_in_its_own_words(&harness);
    assert_texts(&harness, &["In words", "No flag of XLA differs", "At the peaks"]);
    assert_text(&harness, "The module reserves 13.2 MiB less memory");
    let mut sums = Vec::new();
    for (tab, table) in [
        ("At the peaks by operation", "operations at both peaks"),
        ("By operation, shape and category", "values at both peaks"),
    ] {
        open_tab(&mut harness, tab);
        is_in_its_own_words(&harness);
        let rows = copied(&mut harness, table);
        // Shapes have commas; the figures stand last.
        let number = |row: &[String], from_end: usize| -> i64 {
            let cell = &row[row.len() - from_end];
            cell.replace('−', "-").parse().expect("a number")
        };
        let column = |from_end| rows[1..].iter().map(|row| number(row, from_end)).sum::<i64>();
        let [source, target, difference] = [3, 2, 1].map(column);
        assert_eq!(target - source, difference, "{table}");
        sums.push((source, target));
    }
    let [by_operation, by_value] = sums[..] else { panic!("{sums:?}") };
    assert_eq!(by_operation, by_value, "both add up to the peaks");
    let gone = by_operation.0 - by_operation.1;
    assert_eq!((gone * 10) >> 20, 131, "what was kept is gone: {by_operation:?}");
    type_into(&mut harness, "Capacity", "8MiB");
    open_tab(&mut harness, "Curves and peak");
    assert_text(&harness, "fits");
    for page in [Page::Overview, Page::Summary, Page::Insights, Page::Liveness, Page::Operations] {
        go(&mut harness, page);
    }
}

#[test]
fn the_text_of_an_error_is_explained_wherever_it_is_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("message");
    let message = "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO \
                   temporaries (16.10G) exceeds available HBM (15.75G).\n";
    std::fs::write(&path, message).expect("a file");
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, path));
    assert_text(&harness, "Explain an error");
    assert_text(&harness, "16.10G");
    assert!(harness.state().selected_steps().is_empty());
    settle(&mut harness);
}

#[test]
fn two_programs_stand_beside_each_other_in_the_words_of_the_system() {
    let names = ["cpu-jax0.10.2-scan", "cpu-jax0.10.2-scan-remat"];
    let [Some(first), Some(second)] = names.map(dump) else { return };
    let mut harness = window(Theme::Dark, |ctx| {
        App::with_loads(ctx, [first, second].map(|path| Load::start(path, ctx)).into())
    });
    settle(&mut harness);
    go(&mut harness, Page::Summary);
    assert_texts(&harness, &["Donated of these", "Difference"]);
    for page in [Page::Overview, Page::Insights, Page::Liveness, Page::Operations] {
        go(&mut harness, page);
    }
}

#[test]
fn of_modules_of_one_name_the_one_that_is_chosen_opens() {
    let mut harness = window(Theme::Dark, |ctx| App::open(ctx, sample("")));
    go(&mut harness, Page::Insights);
    let step = texts(&harness).into_iter().find(|text| text.starts_with("Step "));
    let step = step.expect("a way to a step");
    harness.get_all_by_label(&step).next().expect("a way to a step").click();
    settle(&mut harness);
    assert_eq!(harness.state().selected_steps().len(), 1);
    go(&mut harness, Page::Overview);
    for name in ["donate/", "again/"] {
        harness.get_by_role_and_label(Role::ComboBox, "Module").click();
        settle(&mut harness);
        let entry = texts(&harness).into_iter().find(|text| text.starts_with(name));
        let entry = entry.expect("an entry of each directory");
        click(&mut harness, &entry);
        settle(&mut harness);
        let (_, bytes) = entry.rsplit_once(", ").expect("bytes");
        assert!(texts(&harness).iter().any(|text| text == bytes), "{entry} is not open");
        // Its steps are others.
        assert_eq!(harness.state().selected_steps(), []);
    }
}

#[test]
fn a_module_is_found_by_typing_and_chosen_by_keys() {
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, sample("")));
    go(&mut harness, Page::Overview);
    let open = |harness: &mut Harness<'_, App>| {
        harness.get_by_role_and_label(Role::ComboBox, "Module").click();
        settle(harness);
    };
    let of = |harness: &Harness<'_, App>, name: &str| {
        texts(harness).into_iter().filter(|text| text.starts_with(name)).count()
    };
    open(&mut harness);
    assert!(of(&harness, "again/") > 0 && of(&harness, "donate/") > 0, "all are listed");
    type_into(&mut harness, "Find a module", "DONATE");
    assert_eq!((of(&harness, "again/"), of(&harness, "donate/")), (0, 1));
    press(&mut harness, Key::Escape);
    settle(&mut harness);
    let field = harness.query_by_role_and_label(Role::TextInput, "Find a module");
    assert!(field.is_none(), "Escape closes the list");
    open(&mut harness);
    type_into(&mut harness, "Find a module", "again");
    assert!(has_text(&harness, "1 of 3, the largest modules first"));
    let entry = texts(&harness).into_iter().find(|text| text.starts_with("again/"));
    press(&mut harness, Key::Enter);
    settle(&mut harness);
    let (_, bytes) = entry.as_deref().and_then(|entry| entry.rsplit_once(", ")).expect("bytes");
    assert!(texts(&harness).iter().any(|text| text == bytes), "{bytes} is not open");
    open(&mut harness);
    type_into(&mut harness, "Find a module", "nothing is called so");
    press(&mut harness, Key::Enter);
    settle(&mut harness);
    assert!(texts(&harness).iter().any(|text| text == bytes), "nothing was chosen");
}

#[test]
fn maps_are_colored_by_layer_until_another_coloring_is_chosen() {
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, sample("keep")));
    go(&mut harness, Page::Map);
    for view in ["One allocation", "Allocations over steps"] {
        open_tab(&mut harness, view);
        settle(&mut harness);
        assert_texts(&harness, &["feed_forward", "attention"]);
        choose(&mut harness, "Colors", "Category");
        assert!(!has_text(&harness, "feed_forward"), "{view}");
        choose(&mut harness, "Colors", "Layer");
        assert_texts(&harness, &["feed_forward", "attention"]);
    }
}

/// A dump of text alone, of modules that take so many bytes.
fn write_texts(directory: &Path, modules: &[(&str, u64)]) {
    std::fs::create_dir_all(directory).expect("a directory");
    for (name, bytes) in modules {
        let text = format!(
            "BufferAssignment:\nallocation 0: size {bytes}, preallocated-temp:\n value: <1 a @0> \
             (size={bytes},offset=0): u8[{bytes}]{{0}}\n\nTotal bytes used: {bytes}\n\nUsed values:\n<1 a @0>\n \
             positions:\n  a\n uses:\n  b, operand 0\n from instruction: %a = u8[{bytes}]{{0}} \
             custom-call()\nHloLiveRange (max 1):\n  InstructionSequence:\n    0:a\n  BufferLiveRange:\n    \
             a{{}}:0-1\n  Live ranges at 0 (peak):\n    a{{}}: {bytes} bytes\n"
        );
        let file = format!("module_0001.{name}.cpu_after_optimizations-buffer-assignment.txt");
        std::fs::write(directory.join(file), text).expect("a text");
    }
}

/// The modules that are shown, as their facts name them, without repetition.
fn shown_modules(harness: &mut Harness<'_, App>) -> Vec<String> {
    go(harness, Page::Summary);
    let names = ["jit_eval", "jit_step", "jit_init", "jit_other"];
    let mut shown: Vec<String> = texts(harness);
    shown.retain(|text| names.contains(&&**text));
    shown.sort();
    shown.dedup();
    shown
}

#[test]
fn of_several_dumps_the_largest_module_that_all_have_is_shown() {
    let directory = tempfile::tempdir().expect("a directory");
    let [first, second] = ["first", "second"].map(|name| directory.path().join(name));
    write_texts(&first, &[("jit_eval", 4096), ("jit_step", 1024), ("jit_init", 256)]);
    write_texts(&second, &[("jit_other", 8192), ("jit_init", 512), ("jit_step", 2048)]);
    let said = "Comparing jit_step, a module that all of these dumps have";
    let paths = [first.clone(), second.clone()];
    let mut harness = window(Theme::Dark, |ctx| {
        App::with_loads(ctx, paths.clone().map(|path| Load::start(path, ctx)).into())
    });
    settle(&mut harness);
    assert_text(&harness, said);
    assert_eq!(shown_modules(&mut harness), ["jit_step"]);
    // Added to one that is open, and dropped together.
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, first.clone()));
    assert_eq!(shown_modules(&mut harness), ["jit_eval"]);
    assert!(!has_text(&harness, said));
    drop_on(&mut harness, std::slice::from_ref(&second));
    settle(&mut harness);
    assert_eq!(shown_modules(&mut harness), ["jit_step"]);
    // What is read again may have others by now.
    std::fs::remove_file(
        second.join("module_0001.jit_step.cpu_after_optimizations-buffer-assignment.txt"),
    )
    .expect("it is there");
    click(&mut harness, "Reload");
    settle(&mut harness);
    assert_eq!(shown_modules(&mut harness), ["jit_init"]);
}

#[test]
fn a_module_that_was_chosen_stays_when_another_dump_comes() {
    let directory = tempfile::tempdir().expect("a directory");
    let [first, second, third] = ["a", "b", "c"].map(|name| directory.path().join(name));
    write_texts(&first, &[("jit_eval", 4096), ("jit_step", 1024), ("jit_init", 256)]);
    write_texts(&second, &[("jit_other", 8192), ("jit_step", 2048), ("jit_init", 512)]);
    write_texts(&third, &[("jit_other", 8192)]);
    let mut harness = window(Theme::Dark, |ctx| App::open(ctx, first));
    go(&mut harness, Page::Overview);
    choose(&mut harness, "Module", "jit_init, 256 B");
    drop_on(&mut harness, &[second]);
    settle(&mut harness);
    assert_eq!(shown_modules(&mut harness), ["jit_init"]);
    // Where all have none in common each stays what it is.
    drop_on(&mut harness, &[third]);
    settle(&mut harness);
    assert_eq!(shown_modules(&mut harness), ["jit_init", "jit_other"]);
}
