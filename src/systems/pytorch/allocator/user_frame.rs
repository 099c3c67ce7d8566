//! The frame of a stack that is the user's own (formats/pytorch.md 4.6): the innermost Python frame whose file is of
//! no package and not of Python itself; else the innermost Python frame; else none.

use crate::store::snapshot::{Frame, Snapshot, StackId};

/// What an allocation without a frame of Python is called.
pub const NO_STACK: &str = "(no Python stack)";

/// Parts of the names of files that are not the user's.
const NOT_THE_USERS: [&str; 4] = ["/site-packages/", "/dist-packages/", "/lib/python3", "<"];

/// Whether a file is one of Python: of C++ files are `??`.
pub(super) fn is_python_file(file: &str) -> bool {
    file.as_bytes().ends_with(b".py")
}

/// Whether a frame is one of Python; others are of C++.
pub fn is_python(snapshot: &Snapshot, frame: &Frame) -> bool {
    is_python_file(snapshot.texts.get(frame.file))
}

/// Whether a frame is of the user's own code.
pub fn is_users(snapshot: &Snapshot, frame: &Frame) -> bool {
    let file = snapshot.texts.get(frame.file);
    is_python_file(file) && !NOT_THE_USERS.iter().any(|part| file.contains(part))
}

/// The user frame of a stack.
pub fn user_frame(snapshot: &Snapshot, stack: StackId) -> Option<&Frame> {
    let mut python = snapshot.frames_of(stack).filter(|frame| is_python(snapshot, frame));
    let first = python.next()?;
    if is_users(snapshot, first) {
        return Some(first);
    }
    Some(python.find(|frame| is_users(snapshot, frame)).unwrap_or(first))
}

/// A frame as it is written: `file:line (name)`.
pub fn frame_title(snapshot: &Snapshot, frame: &Frame) -> String {
    let (file, name) = (snapshot.texts.get(frame.file), snapshot.texts.get(frame.name));
    format!("{file}:{} ({name})", frame.line)
}

/// The function of a frame as it is written: `file (function)`.
pub fn function_title(snapshot: &Snapshot, frame: &Frame) -> String {
    format!("{} ({})", snapshot.texts.get(frame.file), snapshot.texts.get(frame.name))
}

/// The title of the user frame of a stack.
pub fn user_frame_title(snapshot: &Snapshot, stack: StackId) -> Option<String> {
    user_frame(snapshot, stack).map(|frame| frame_title(snapshot, frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(files: &[&str]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (row, file) in (0..).zip(files) {
            let (file, name) = (snapshot.texts.push(file), snapshot.texts.push("f"));
            snapshot.frames.push(Frame { file, name, line: row });
            snapshot.stacks.frames.push(row);
        }
        snapshot.stacks.ends.push(files.len());
        snapshot
    }

    #[test]
    fn the_users_frame_is_the_innermost_of_no_package() {
        let line =
            |files: &[&str]| user_frame(&snapshot(files), StackId(0)).map(|frame| frame.line);
        let torch = "/v/site-packages/torch/nn/modules/module.py";
        assert_eq!(line(&["??", torch, "/home/me/train.py", "/home/me/main.py"]), Some(2));
        assert_eq!(line(&["??", "/usr/lib/python3.11/runpy.py", torch]), Some(1));
        assert_eq!(line(&["<string>.py", "/v/dist-packages/a.py"]), Some(0));
        assert_eq!(line(&["??", "a.cpp"]), None);
        assert_eq!(user_frame(&snapshot(&[]), StackId::NONE), None);
        let one = snapshot(&["/home/me/train.py"]);
        assert_eq!(user_frame_title(&one, StackId(0)).unwrap(), "/home/me/train.py:0 (f)");
    }
}
