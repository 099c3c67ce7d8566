//! The kind of a dict, by its keys; what segments state; snapshots that are lists of segments.

use super::{error, read_all, root, snapshot};
use crate::store::report::FileStatus;
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

/// A segment of 4 KiB with one block, and whatever else it states.
fn segment(pickle: Pickle, block: [i64; 2], states: &[(&str, i64)]) -> Pickle {
    let [address, size] = block;
    pickle.dict(|segment| {
        let segment = segment.text("segment_type").text("large");
        let segment = segment.numbers(&[("address", 8192), ("total_size", 4096)]).numbers(states);
        segment.text("blocks").list(|blocks| {
            blocks.dict(|block| {
                let numbers = [("address", address), ("size", size), ("requested_size", 100)];
                block.text("state").text("active_allocated").numbers(&numbers)
            })
        })
    })
}

fn warned(bytes: &[u8]) -> Vec<String> {
    read_all(bytes).1.list().into_iter().map(|warning| warning.message).collect()
}

#[test]
fn a_list_of_segments_is_a_snapshot_without_events() {
    let one = |list: Pickle| segment(list, [8192, 512], &[]);
    let whole = Pickle::new().list(|list| one(one(list))).stop();
    let found = snapshot(&whole);
    assert_eq!((found.segments.len(), found.blocks.len(), found.events.len()), (2, 2, 0));
    // One that is cut has what is complete.
    let (read, warnings) = read_all(&whole[..whole.len() - 3]);
    let (found, status) = read.unwrap();
    assert_eq!((found.segments.len(), status), (1, FileStatus::Truncated));
    assert!(warnings.list()[0].message.ends_with("the first 1 segments are shown"));
    // A list of anything else is none.
    for other in [Pickle::new().list(|list| list), Pickle::new().list(|list| list.number(3))] {
        assert!(error(&other.stop()).message.contains("a list of segments expected"));
    }
}

#[test]
fn what_segments_state_is_held_against_their_blocks() {
    let of = |block, states: &[(&str, i64)]| {
        root(|root| root.text("segments").list(|list| segment(list, block, states)))
    };
    let good =
        [("allocated_size", 512), ("active_size", 512), ("requested_size", 100), ("device", 0)];
    assert_eq!(warned(&of([8192, 512], &good)), [""; 0]);
    for place in 0..3 {
        let mut other = good;
        other[place].1 += 1;
        let said = warned(&of([8192, 512], &other));
        assert!(said[0].starts_with("1 segments state another"), "{place}: {said:?}");
    }
    for beyond in [[8191, 512], [8192, 4097], [8192 + 4096, 512], [8192, i64::MAX]] {
        let said = warned(&of(beyond, &[]));
        assert!(said[0].starts_with("1 blocks begin before or end behind"), "{beyond:?}: {said:?}");
    }
}
