//! A stack: the calls of the user's own code first, the others folded.

use eframe::egui::{self, CollapsingHeader, Label, RichText};

use crate::run::allocations::CodeFrame;
use crate::text::{clean, counted, shortened};
use crate::ui::report::areas::short_frame;
use crate::ui::theme::fonts;
use crate::ui::theme::fonts::size;

/// Calls that are shown of the user's code, and of all.
const MOST_OWN: usize = 12;
const MOST: usize = 200;
/// Longest call.
const FRAME: usize = 90;
/// What is said where there is none.
const NO_STACK: &str = "No stack was recorded";

/// Draws a stack, innermost call first, in the width that is there.
pub fn stack_ui(ui: &mut egui::Ui, stack: &[CodeFrame]) {
    let frames = stack.get(..MOST).unwrap_or(stack);
    if frames.is_empty() {
        ui.weak(NO_STACK);
        return;
    }
    let own = || frames.iter().filter(|frame| frame.is_own);
    for frame in own().take(MOST_OWN) {
        frame_ui(ui, frame);
    }
    let others = frames.len() - own().count();
    if others == 0 {
        return;
    }
    let title = match own().next() {
        Some(_) => {
            format!("{} of PyTorch and Python", counted(others as u64, "frame"))
        }
        None => counted(others as u64, "frame"),
    };
    let header = CollapsingHeader::new(fonts::caption(title)).id_salt("frames of libraries");
    header.default_open(own().next().is_none()).show(ui, |ui| {
        for frame in frames {
            frame_ui(ui, frame);
        }
    });
}

fn frame_ui(ui: &mut egui::Ui, frame: &CodeFrame) {
    let short = shortened(short_frame(&frame.title), FRAME).into_owned();
    let text = if frame.is_own {
        fonts::number(short)
    } else {
        RichText::new(short).size(size::CAPTION).weak()
    };
    ui.add(Label::new(text).truncate()).on_hover_text(clean(&frame.title));
}

/// The same in lines of text, for hints: the user's calls, and how many others there are.
pub fn stack_lines(stack: &[CodeFrame], most: usize) -> Vec<String> {
    let frames = stack.get(..MOST).unwrap_or(stack);
    let line = |frame: &CodeFrame| shortened(short_frame(&frame.title), FRAME).into_owned();
    let own = frames.iter().filter(|frame| frame.is_own);
    let mut lines: Vec<String> = own.take(most).map(line).collect();
    if lines.is_empty() {
        lines.extend(frames.first().map(line));
    }
    let others = frames.len().saturating_sub(lines.len());
    if others > 0 && !frames.is_empty() {
        lines.push(format!("and {}", counted(others as u64, "more frame")));
    }
    lines
}
