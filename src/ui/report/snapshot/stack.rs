//! A stack: the frames of the user's own code first, the others folded.

use eframe::egui::{self, CollapsingHeader, Label, RichText};

use super::short_frame;
use crate::store::snapshot::{Frame, Snapshot, StackId};
use crate::systems::pytorch::allocator::user_frame::{NO_STACK, frame_title, is_users};
use crate::text::{clean, counted, shortened};
use crate::ui::theme::fonts;
use crate::ui::theme::fonts::size;

/// Frames that are shown of the user's code, and of all.
const MOST_OWN: usize = 12;
const MOST: usize = 200;
/// Longest frame.
const FRAME: usize = 90;

/// Draws the stack of an allocation or of an event, in the width that is there.
pub fn stack_ui(ui: &mut egui::Ui, snapshot: &Snapshot, stack: StackId) {
    let frames: Vec<&Frame> = snapshot.frames_of(stack).take(MOST).collect();
    if frames.is_empty() {
        ui.weak(NO_STACK);
        return;
    }
    let own = || frames.iter().filter(|frame| is_users(snapshot, frame));
    for frame in own().take(MOST_OWN) {
        frame_ui(ui, snapshot, frame, true);
    }
    let others = frames.len() - own().count();
    if others == 0 {
        return;
    }
    let title = match own().next() {
        Some(_) => format!("{} of libraries, innermost first", counted(others as u64, "frame")),
        None => format!("{}, innermost first", counted(others as u64, "frame")),
    };
    let header = CollapsingHeader::new(fonts::caption(title)).id_salt("frames of libraries");
    header.default_open(own().next().is_none()).show(ui, |ui| {
        for frame in &frames {
            frame_ui(ui, snapshot, frame, is_users(snapshot, frame));
        }
    });
}

fn frame_ui(ui: &mut egui::Ui, snapshot: &Snapshot, frame: &Frame, is_own: bool) {
    let whole = frame_title(snapshot, frame);
    let short = shortened(short_frame(&whole), FRAME).into_owned();
    let text =
        if is_own { fonts::number(short) } else { RichText::new(short).size(size::CAPTION).weak() };
    ui.add(Label::new(text).truncate()).on_hover_text(clean(&whole));
}

/// The same in lines of text, for hints and copies: the user's frames, and how many others there are.
pub fn stack_lines(snapshot: &Snapshot, stack: StackId, most: usize) -> Vec<String> {
    let frames: Vec<&Frame> = snapshot.frames_of(stack).take(MOST).collect();
    if frames.is_empty() {
        return vec![NO_STACK.to_owned()];
    }
    let own = || frames.iter().filter(|frame| is_users(snapshot, frame));
    let line = |frame: &Frame| {
        let whole = frame_title(snapshot, frame);
        shortened(short_frame(&whole), FRAME).into_owned()
    };
    let mut lines: Vec<String> = own().take(most).map(|frame| line(frame)).collect();
    if lines.is_empty() {
        lines.extend(frames.first().map(|frame| line(frame)));
    }
    let others = frames.len().saturating_sub(lines.len());
    if others > 0 {
        lines.push(format!("and {}", counted(others as u64, "more frame")));
    }
    lines
}
