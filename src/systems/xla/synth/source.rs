//! Where instructions come from: paths of operations as JAX writes them, and the lines of the user's program.

use super::message::ProtoMessage;
use super::program::Origin;

/// The user's program.
const FILE: &str = "/workspace/train.py";

/// Lines of it, by the frame that each is: the innermost of its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Embedding = 4,
    Scan = 5,
    Head = 6,
    Loss = 7,
    Adam = 8,
    FirstSum = 9,
    SecondSum = 10,
    Norm1 = 13,
    Qkv = 14,
    Scores = 15,
    Softmax = 16,
    Attended = 17,
    Projected = 18,
    Norm2 = 19,
    Up = 20,
    Gelu = 21,
    Down = 22,
}

/// Frames from 1: function, line, and the frame that called it.
const FRAMES: [(&str, u64, u64); 22] = [
    ("<module>", 71, 0),
    ("train_step", 60, 1),
    ("train_step", 61, 1),
    ("loss", 50, 2),
    ("loss", 51, 2),
    ("loss", 52, 2),
    ("loss", 53, 2),
    ("adam", 43, 3),
    ("layer", 35, 5),
    ("layer", 37, 5),
    ("layer", 34, 5),
    ("layer", 36, 5),
    ("attention", 18, 11),
    ("attention", 19, 11),
    ("attention", 20, 11),
    ("attention", 21, 11),
    ("attention", 22, 11),
    ("attention", 23, 11),
    ("feed_forward", 27, 12),
    ("feed_forward", 28, 12),
    ("feed_forward", 29, 12),
    ("feed_forward", 30, 12),
];

/// The part of a training step that an operation is of; of a layer its place in a turn, where there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Forward,
    ForwardLayer(Option<u64>),
    Backward,
    BackwardLayer(Option<u64>),
    /// The backward pass of a layer that is computed again.
    BackwardAgain(Option<u64>),
    /// A layer that is computed again.
    Again(Option<u64>),
    Update,
}

impl Pass {
    fn path(self) -> String {
        let layer =
            |layer: Option<u64>| layer.map_or_else(String::new, |layer| format!("/layer_{layer}"));
        let (forward, backward) = ("jit(train_step)/jvp()", "jit(train_step)/transpose(jvp())");
        let body = "while/body/closed_call";
        match self {
            Self::Forward => forward.to_owned(),
            Self::ForwardLayer(number) => format!("{forward}/{body}{}", layer(number)),
            Self::Backward => backward.to_owned(),
            Self::BackwardLayer(number) => format!("{backward}/{body}{}", layer(number)),
            Self::BackwardAgain(number) => format!("{backward}/{body}/checkpoint{}", layer(number)),
            Self::Again(number) => {
                format!("{backward}/{body}/checkpoint/rematted_computation{}", layer(number))
            }
            Self::Update => "jit(train_step)/adam".to_owned(),
        }
    }
}

pub(super) fn operation(pass: Pass, path: &str, line: Code) -> Origin {
    Origin { path: format!("{}/{path}", pass.path()), frame: line as u32 }
}

/// What the loop of a pass does around its layers.
pub(super) fn in_loop(pass: Pass, path: &str) -> Origin {
    Origin { path: format!("{}/while/body/{path}", pass.path()), frame: Code::Scan as u32 }
}

/// The frames, as a module has them.
pub(super) fn write_frames(message: &mut ProtoMessage) {
    let mut functions: Vec<&str> = FRAMES.iter().map(|(function, ..)| *function).collect();
    functions.dedup();
    message.text(1, FILE);
    for function in &functions {
        message.text(2, function);
    }
    for (function, line, _) in FRAMES {
        let number = functions.iter().position(|one| *one == function).unwrap_or(0) + 1;
        message.message(3, |location| {
            location.number(1, 1_u64);
            location.number(2, number as u64);
            location.number(3, line);
            location.number(4, 5_u64);
        });
    }
    for (location, (.., parent)) in (1_u64..).zip(FRAMES) {
        message.message(4, |frame| {
            frame.number(1, location);
            frame.number(2, parent);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_frame_below_those_that_call_it() {
        let function = |line: Code| FRAMES[line as usize - 1].0;
        assert_eq!(function(Code::Loss), "loss");
        assert_eq!(function(Code::Adam), "adam");
        assert_eq!(function(Code::Norm1), "attention");
        assert_eq!(function(Code::Projected), "attention");
        assert_eq!(function(Code::Norm2), "feed_forward");
        assert_eq!(function(Code::Down), "feed_forward");
        assert!((1..).zip(FRAMES).all(|(number, (.., parent))| parent < number));
        let path = operation(Pass::Again(Some(3)), "attention/dot_general", Code::Qkv).path;
        let expected = "jit(train_step)/transpose(jvp())/while/body/closed_call/checkpoint/rematted_computation/layer_3/attention/dot_general";
        assert_eq!(path, expected);
    }
}
