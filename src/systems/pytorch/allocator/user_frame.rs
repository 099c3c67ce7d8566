//! The frame of a stack that owns what was allocated (formats/pytorch.md 4.6): the innermost Python frame that is not
//! PyTorch's own, wherever it is installed, nor of what only forwards to it; else the innermost Python frame; else none.

use crate::store::snapshot::{Frame, Snapshot, StackId};

/// What an allocation without a frame of Python is called.
pub const NO_STACK: &str = "(no Python stack)";

/// Packages between a program and PyTorch that call what they are given, and make nothing of their own.
const FORWARDING: [&str; 2] = ["-packages/accelerate/", "-packages/functorch/"];
/// Parts of PyTorch by which it is known where it is not installed as a package.
const PARTS_OF_TORCH: [&str; 9] = [
    "_",
    "amp/",
    "autograd/",
    "cuda/",
    "distributed/",
    "nn/",
    "optim/",
    "utils/_",
    "utils/checkpoint.py",
];

/// Whether a file is one of Python: of C++ files are `??`.
pub(super) fn is_python_file(file: &str) -> bool {
    file.as_bytes().ends_with(b".py") || file.starts_with("<ipython-input")
}

/// The name of a file of PyTorch within its folder; `None` of any other.
pub(super) fn within_torch(file: &str) -> Option<&str> {
    if let Some((_, within)) = file.rsplit_once("-packages/torch/") {
        return Some(within);
    }
    let within = file.strip_prefix("torch/").or_else(|| Some(file.split_once("/torch/")?.1))?;
    PARTS_OF_TORCH.iter().any(|part| within.starts_with(part)).then_some(within)
}

/// Whether a frame is one of Python; others are of C++.
pub fn is_python(snapshot: &Snapshot, frame: &Frame) -> bool {
    is_python_file(snapshot.texts.get(frame.file))
}

/// Whether a frame is of a program or a library that uses PyTorch.
pub fn is_users(snapshot: &Snapshot, frame: &Frame) -> bool {
    let file = snapshot.texts.get(frame.file);
    let is_of_python = file.contains("/lib/python3") && !file.contains("-packages/");
    let is_generated = file.contains("torchinductor_") || file.starts_with("<string");
    is_python_file(file)
        && within_torch(file).is_none()
        && !is_of_python
        && !is_generated
        && !FORWARDING.iter().any(|part| file.contains(part))
}

/// The user frame of a stack.
pub fn user_frame(snapshot: &Snapshot, stack: StackId) -> Option<&Frame> {
    let python = || snapshot.frames_of(stack).filter(|frame| is_python(snapshot, frame));
    python().find(|frame| is_users(snapshot, frame)).or_else(|| python().next())
}

/// The frame that called the user frame of a stack, also not PyTorch's own.
pub fn caller(snapshot: &Snapshot, stack: StackId) -> Option<&Frame> {
    snapshot.frames_of(stack).filter(|frame| is_users(snapshot, frame)).nth(1)
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
        snapshot.push_stack((0..).zip(files).map(|(line, file)| (*file, "f", line)));
        snapshot
    }

    #[test]
    fn the_users_frame_is_the_innermost_that_is_not_of_pytorch() {
        let line =
            |files: &[&str]| user_frame(&snapshot(files), StackId(0)).map(|frame| frame.line);
        let torch = "/v/site-packages/torch/nn/modules/module.py";
        assert_eq!(line(&["??", torch, "/home/me/train.py", "/home/me/main.py"]), Some(2));
        assert_eq!(line(&["??", "/usr/lib/python3.11/runpy.py", torch]), Some(1));
        assert_eq!(line(&["<string>.py", "/v/dist-packages/a.py"]), Some(1));
        let model = "/v/lib/python3.11/site-packages/transformers/models/llama.py";
        assert_eq!(line(&[torch, model, torch, "/home/me/train.py"]), Some(1));
        let forwards = "/v/site-packages/accelerate/hooks.py";
        assert_eq!(line(&[torch, forwards, torch, model]), Some(3));
        assert_eq!(
            line(&["/src/pytorch/torch/nn/functional.py", "/home/me/torch/train.py"]),
            Some(1)
        );
        assert_eq!(line(&["??", "a.cpp"]), None);
        assert_eq!(user_frame(&snapshot(&[]), StackId::NONE), None);
        let one = snapshot(&["/home/me/train.py"]);
        assert_eq!(user_frame_title(&one, StackId(0)).unwrap(), "/home/me/train.py:0 (f)");
    }
}
