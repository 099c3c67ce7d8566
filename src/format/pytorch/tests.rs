//! The reader on pickles that are written here, good ones and others.

use std::io::Write as _;

use super::pickles::Pickle;
use super::read_snapshot;
use crate::format::{Error, ErrorKind, Progress};
use crate::store::report::FileStatus;
use crate::store::snapshot::{Action, Snapshot, StackId};
use crate::store::{WarningCode, Warnings};

/// What comes of a file that has these bytes.
fn read_all(bytes: &[u8]) -> (Result<(Snapshot, FileStatus), Error>, Warnings) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let warnings = Warnings::default();
    let read = read_snapshot(file.path(), &warnings, &Progress::default());
    (read.map(|read| read.expect("not cancelled")), warnings)
}

#[track_caller]
fn snapshot(bytes: &[u8]) -> Snapshot {
    let (read, warnings) = read_all(bytes);
    assert_eq!(warnings.list(), []);
    let (snapshot, status) = read.unwrap();
    assert_eq!(status, FileStatus::Ok);
    snapshot
}

#[track_caller]
fn error(bytes: &[u8]) -> Error {
    read_all(bytes).0.expect_err("an error")
}

fn root(pairs: impl FnOnce(Pickle) -> Pickle) -> Vec<u8> {
    Pickle::new().dict(pairs).stop()
}

#[test]
fn events_become_columns_and_stacks_are_shared() {
    let bytes = Pickle::snapshot(
        |segments| segments,
        |events| {
            let events = events.dict(|event| {
                let event = event.text("action").text("alloc").text("frames");
                let event =
                    event.list(|frames| frames.frame("/a.py", 3, "f").frame("/b.py", 4, "g"));
                event.numbers(&[("addr", 4096), ("size", 100), ("stream", 7)])
            });
            // The same frames in a list of its own, and an event without frames.
            let events = events.dict(|event| {
                let event = event.text("frames");
                let event =
                    event.list(|frames| frames.frame("/a.py", 3, "f").frame("/b.py", 4, "g"));
                event
                    .text("action")
                    .text("free_completed")
                    .numbers(&[("addr", 4096), ("size", 100)])
            });
            events.dict(|event| {
                let event = event.text("action").text("oom");
                event.numbers(&[("size", 5), ("device_free", 17), ("time_us", 33)])
            })
        },
    );
    let snapshot = snapshot(&bytes);
    let events = &snapshot.events;
    assert_eq!(events.actions, [Action::Alloc, Action::FreeCompleted, Action::OutOfMemory]);
    assert_eq!((&*events.addresses, &*events.sizes), (&[4096, 4096, 17][..], &[100, 100, 5][..]));
    assert_eq!(events.stacks, [StackId(0), StackId(0), StackId::NONE]);
    let streams: Vec<u64> =
        events.streams.iter().map(|row| snapshot.streams[*row as usize]).collect();
    assert_eq!(streams, [7, 0, 0]);
    assert_eq!([events.time(0), events.time(2)], [None, Some(33)]);
    let frames: Vec<_> = (snapshot.frames_of(StackId(0)))
        .map(|frame| (snapshot.texts.get(frame.file), frame.line, snapshot.texts.get(frame.name)))
        .collect();
    assert_eq!(frames, [("/a.py", 3, "f"), ("/b.py", 4, "g")]);
}

#[test]
fn the_order_of_keys_means_nothing_and_unknown_ones_are_skipped() {
    let segments = |root: Pickle| {
        root.text("segments")
            .list(|list| list.segment(4096, 4096, |blocks| blocks.block(4096, 4096, "inactive")))
    };
    let traces = |root: Pickle| {
        root.text("device_traces").list(|list| list.list(|events| events.event("alloc", 1, 2)))
    };
    let other = |root: Pickle| {
        root.text("of_later").dict(|dict| dict.text("a").list(|list| list.number(1).raw(b"N\x88")))
    };
    let one = snapshot(&root(|pairs| other(traces(segments(pairs)))));
    let two = snapshot(&root(|pairs| segments(other(traces(pairs)))));
    for snapshot in [&one, &two] {
        assert_eq!(snapshot.devices.len(), 1);
        assert_eq!(snapshot.devices[0].events, 0..1);
        assert_eq!((snapshot.segments.len(), snapshot.blocks.len()), (1, 1));
    }
    assert_eq!(one.segments, two.segments);
}

#[test]
fn a_list_that_changes_after_it_was_named_changes_everywhere() {
    // The list of frames is memo 0; it gets its frame, set item by item, when events name it already.
    let bytes = Pickle::new().raw(&[b']', 0x94]).dict(|root| {
        root.text("device_traces").list(|list| {
            list.list(|events| {
                let event = |events: Pickle| {
                    events.dict(|event| {
                        let event = event.text("action").text("alloc");
                        event.numbers(&[("addr", 1), ("size", 2)]).text("frames").raw(b"h\x00")
                    })
                };
                event(event(events))
            })
        })
    });
    let late = bytes
        .raw(b"h\x00}\x94")
        .text("filename")
        .text("/late.py")
        .raw(b"s")
        .text("name")
        .text("f")
        .raw(b"sa0")
        .0;
    // Above lies the list, which `0` (POP) would take away: it is refused, so the pickle ends with a tuple of both.
    let whole = [&late[..late.len() - 1], &b"."[..]].concat();
    assert!(error(&whole).message.contains("segments or device_traces"), "the list is on top");
    // The same with the dict on top: the list is changed before, within the events.
    let bytes = Pickle::new().dict(|root| {
        root.text("device_traces").list(|list| {
            list.list(|events| {
                let event = |events: Pickle, frames: &dyn Fn(Pickle) -> Pickle| {
                    events.dict(|event| {
                        let event = event.text("action").text("alloc");
                        frames(event.numbers(&[("addr", 1), ("size", 2)]).text("frames"))
                    })
                };
                // `q 200` names the list; the second event's is the same, with a frame appended then.
                let events = event(events, &|event| event.raw(b"]q\xC8"));
                event(events, &|event| event.raw(b"h\xC8").frame("/late.py", 1, "f").raw(b"a"))
            })
        })
    });
    let snapshot = snapshot(&bytes.stop());
    assert_eq!(snapshot.events.stacks, [StackId(0), StackId(0)]);
    assert_eq!(snapshot.frames_of(StackId(0)).count(), 1);
}

#[test]
fn an_event_that_is_changed_later_is_one_event() {
    let bytes = Pickle::new().dict(|root| {
        root.text("device_traces").list(|list| {
            list.list(|events| {
                let events = events.raw(b"}q\xC8(").text("action").text("alloc");
                let events = events.numbers(&[("addr", 1), ("size", 2)]).raw(b"u");
                // Again, with another size; and a third time, which is out of order.
                let events = events.raw(b"h\xC8").text("size").number(77).raw(b"s");
                events.event("free_completed", 1, 2).raw(b"h\xC8")
            })
        })
    });
    let snapshot = snapshot(&bytes.stop());
    assert_eq!(snapshot.events.sizes, [77, 77, 2, 77]);
    assert_eq!(snapshot.devices[0].events, 0..4);
}

#[test]
fn what_would_run_code_is_refused_by_name_and_place() {
    let opcodes: [(u8, &str); 13] = [
        (b'c', "GLOBAL"),
        (0x93, "STACK_GLOBAL"),
        (b'R', "REDUCE"),
        (b'b', "BUILD"),
        (b'i', "INST"),
        (b'o', "OBJ"),
        (0x81, "NEWOBJ"),
        (0x92, "NEWOBJ_EX"),
        (b'P', "PERSID"),
        (b'Q', "BINPERSID"),
        (0x82, "EXT1"),
        (0x83, "EXT2"),
        (0x84, "EXT4"),
    ];
    for (opcode, name) in opcodes {
        let error = error(&Pickle::new().text("os").raw(&[opcode]).raw(b"os\nsystem\n.").0);
        assert_eq!((error.kind, error.at.as_deref()), (ErrorKind::Damaged, Some("byte 7")));
        for part in ["not a plain memory snapshot", name, "would run code; nothing was run"] {
            assert!(error.message.contains(part), "{}", error.message);
        }
    }
    for opcode in (0..=u8::MAX).filter(|opcode| {
        !b"\x80\x95(.}])\x85\x86\x87tldaesuJKM\x8aG\x8cX\x8dN\x88\x89\x94qrhj".contains(opcode)
    }) {
        let refusal = error(&Pickle::new().raw(&[opcode, b'.']).0).message;
        assert!(refusal.contains("nothing was run"), "{opcode:#x}: {refusal}");
    }
}

#[test]
fn lengths_marks_and_memo_are_checked_before_anything_is_made() {
    let says = |bytes: &[u8], what: &str| {
        let error = error(bytes);
        assert!(error.message.contains(what), "{}", error.message);
    };
    says(b"\x80\x04X\xff\xff\xff\xff.", "more than are left");
    says(b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", "more than are left");
    says(b"\x80\x04\x8a\x0a0123456789.", "an integer of 10 bytes");
    says(b"\x80\x04\x8a\x09\0\0\0\0\0\0\0\0\x02.", "beyond 64 bits");
    says(b"\x80\x04h\x05.", "memo entry 5 was never set");
    says(b"\x80\x04Nr\xff\xff\xff\xff.", "memo entry 4294967295");
    says(b"\x80\x04e.", "a mark expected");
    says(b"\x80\x04(e.", "nothing found");
    says(b"\x80\x04](a.", "nothing found");
    says(b"\x80\x04}(Nu.", "a key without a value");
    says(b"\x80\x04](NNu.", "a dict to set items of expected");
    says(b"\x80\x04N(Ne.", "a dict or list expected");
    says(b"\x80\x01N.", "protocol 2 to 5");
    says(b"\x80\x04N.", "no memory snapshot");
    says(b"\x80\x04}.", "no memory snapshot");
    says(b"\x80\x04", "ends at byte 2");
    let marks = Pickle::new().raw(&b"(".repeat(20_000));
    says(&marks.0, "more than 10000 marks");
}

#[test]
fn containers_within_themselves_are_refused() {
    let within = |list: &[u8]| {
        root(|root| root.text("segments").list(|list| list).text("device_traces").raw(list))
    };
    for list in [
        // A list in itself, through a list, a tuple, a dict, and the frames of an event.
        &b"]q\xC8h\xC8a"[..],
        b"]q\xC8](h\xC8ea",
        b"]q\xC8h\xC8\x85a",
        b"]q\xC8}(X\x01\0\0\0ah\xC8ua",
        b"]q\xC8}(X\x06\0\0\0actionX\x05\0\0\0allocX\x06\0\0\0framesh\xC8ua",
    ] {
        let error = error(&within(list));
        assert!(error.message.contains("within itself"), "{}", error.message);
    }
    // One that comes twice is not.
    assert!(read_all(&within(b"]q\xC8](]q\xC9h\xC9ea")).0.is_ok());
}

#[test]
fn numbers_below_zero_and_unknown_actions_do_nothing_and_are_counted() {
    let bytes = Pickle::snapshot(
        |segments| segments,
        |events| {
            let events = events.event("alloc", 4096, -5).event("alloc", -1, 5);
            let events = events.event("teleport", 1, 1).event("alloc", 4096, 5);
            events.dict(|event| event.text("action").raw(b"N"))
        },
    );
    let (read, warnings) = read_all(&bytes);
    let snapshot = read.unwrap().0;
    assert_eq!(snapshot.events.len(), 5, "numbers of events stay those of the file");
    let known = snapshot.events.actions.iter().filter(|action| **action != Action::Unknown);
    assert_eq!(known.count(), 1);
    let warnings: Vec<_> =
        warnings.list().into_iter().map(|warning| (warning.code, warning.message)).collect();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(warnings.iter().any(|(_, message)| message.contains("teleport")));
    assert!(warnings.iter().any(|(_, message)| message.starts_with("2 events lack")));
    assert!(warnings.iter().any(|(code, _)| *code == WarningCode::UnknownValue));
}

#[test]
fn blocks_of_the_oldest_files_get_their_addresses_by_adding_up() {
    let bytes = root(|root| {
        root.text("segments").list(|list| {
            list.segment(4096, 1024, |blocks| {
                let old = |blocks: Pickle, state: &str| {
                    blocks.dict(|block| {
                        let block = block.numbers(&[("size", 512)]).text("state").text(state);
                        block.text("history").list(|list| {
                            list.dict(|dict| {
                                let dict = dict.numbers(&[("addr", 1), ("real_size", 300)]);
                                dict.text("frames").list(|frames| frames.frame("/a.py", 1, "f"))
                            })
                        })
                    })
                };
                old(old(blocks, "active_allocated"), "active_awaiting_free")
            })
        })
    });
    let snapshot = snapshot(&bytes);
    let blocks: Vec<_> = (snapshot.blocks.iter())
        .map(|block| (block.address, block.requested_bytes, block.stack))
        .collect();
    assert_eq!(blocks, [(4096, 300, StackId(0)), (4608, 300, StackId(0))]);
    let segment = &snapshot.segments[0];
    assert_eq!((segment.allocated_bytes, segment.active_bytes), (512, 1024));
}

#[test]
fn opcodes_of_other_writers_and_long_texts_are_understood() {
    // FRAME, MARK … DICT, LIST and TUPLE, SETITEM, LONG_BINPUT, BINUNICODE8, and a text longer than is kept.
    let long = "é".repeat(150_000);
    let mut bytes = Pickle::new().raw(b"\x95\x10\0\0\0\0\0\0\0(").text("device_traces");
    bytes = bytes.raw(b"(((").text("action").text("alloc").numbers(&[("addr", 1), ("size", 2)]);
    bytes = bytes.text("user_metadata").raw(b"X").raw(&300_000_u32.to_le_bytes());
    bytes = bytes.raw(long.as_bytes()).raw(b"r\xff\0\0\0");
    bytes = bytes.text("pool_id").raw(b"(K\x00M\x05\x00t").raw(b"dlld");
    bytes = bytes.raw(b"\x8d\x08\0\0\0\0\0\0\0segments]s.");
    let snapshot = snapshot(&bytes.0);
    assert_eq!(snapshot.devices[0].events, 0..1);
    let text = snapshot.texts.get(snapshot.events.text(0).unwrap());
    assert!(text.starts_with("éé") && text.len() < 200_000, "{}", text.len());
}

#[test]
fn a_file_that_is_cut_gives_what_is_complete() {
    let whole = Pickle::small_run();
    let all = snapshot(&whole);
    let (mut without_events, mut nothing) = (0, 0);
    for end in 2..whole.len() {
        match read_all(&whole[..end]) {
            (Ok((snapshot, status)), warnings) => {
                assert_eq!(status, FileStatus::Truncated, "{end}");
                assert!(warnings.has(WarningCode::Truncated), "{end}");
                assert!(snapshot.segments.len() <= 1 && snapshot.events.len() <= all.events.len());
                without_events +=
                    usize::from(snapshot.devices.iter().all(|device| device.events.is_empty()));
            }
            (Err(error), _) => {
                assert!(
                    error.message.contains("ends at byte"),
                    "{end} of {}: {}",
                    whole.len(),
                    error.message
                );
                nothing += 1;
            }
        }
    }
    assert!(without_events > 100 && nothing > 10, "{without_events}, {nothing}");
}

#[test]
fn memory_bombs_are_refused() {
    for unit in
        [&b"}\x94"[..], b")\x94", b"]\x94(K\x01K\x02e", b"}(K\x01K\x02u", b"J\xff\xff\xff\xff\x94"]
    {
        let bytes = Pickle::new().raw(&unit.repeat((12 << 20) / unit.len()));
        let error = error(&bytes.0);
        let is_refused = error.message.contains("takes more than");
        let is_nothing = error.message.contains("before anything");
        assert!(is_refused || is_nothing, "{}", error.message);
    }
}
