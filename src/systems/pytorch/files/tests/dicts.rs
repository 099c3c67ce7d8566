//! The kind of a dict, by its keys.

use super::{read_all, root, snapshot};
use crate::store::snapshot::{Action, StackId};
use crate::systems::pytorch::files::pickle_fixture::Pickle;

#[test]
fn a_dict_is_what_most_of_its_keys_say() {
    let other = |pairs: Pickle, key: &str| pairs.text(key).text("of later");
    let frame = |frames: Pickle| {
        frames.dict(|frame| {
            let frame = other(frame, "state").text("filename").text("/a.py");
            frame.text("name").text("f").numbers(&[("line", 3)])
        })
    };
    let event = |events: Pickle| {
        events.dict(|event| {
            let event = other(other(event, "state"), "filename").text("action").text("alloc");
            let event = event.numbers(&[("addr", 4096), ("size", 100)]);
            event.text("frames").list(frame)
        })
    };
    let block = |blocks: Pickle| {
        blocks.dict(|block| {
            let block = other(block, "action").numbers(&[("address", 4096), ("size", 512)]);
            block.text("state").text("active_allocated").numbers(&[("requested_size", 100)])
        })
    };
    let segment = |segments: Pickle| {
        segments.dict(|segment| {
            let segment = other(segment, "state");
            let segment = segment.numbers(&[("address", 4096), ("total_size", 512)]);
            segment.text("blocks").list(block)
        })
    };
    let bytes = root(|root| {
        let root = other(other(root, "state"), "action").text("segments").list(segment);
        root.text("device_traces").list(|list| list.list(event))
    });
    let snapshot = snapshot(&bytes);
    assert_eq!(snapshot.events.actions, [Action::Alloc]);
    assert_eq!((snapshot.segments.len(), snapshot.blocks.len()), (1, 1));
    let frames: Vec<_> = snapshot.frames_of(StackId(0)).map(|frame| frame.line).collect();
    assert_eq!(frames, [3]);
    // An action by itself is an event, which cannot be one of the allocator.
    let alone = |events: Pickle| events.dict(|event| event.text("action").text("teleport"));
    let (read, warnings) = read_all(&Pickle::snapshot(|segments| segments, alone));
    assert!(read.is_ok() && !warnings.list().is_empty());
}
