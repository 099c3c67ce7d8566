//! The reader on pickles that are written here, good ones and others.

mod dicts;

use std::io::Write as _;

use super::pickle_fixture::Pickle;
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
    assert_eq!(*events.stacks, [StackId(0), StackId(0), StackId::NONE]);
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
    assert_eq!(*snapshot.events.stacks, [StackId(0), StackId(0)]);
    assert_eq!(snapshot.frames_of(StackId(0)).count(), 1);
}

/// Frames that are known are named by a mark, entries of the memo, and the end of the list: read at once, with the same
/// outcome as item by item.
#[test]
fn lists_of_what_is_known_are_those_that_come_item_by_item() {
    let of = |frames: &[u8]| {
        let bytes = Pickle::new().dict(|root| {
            let root = root.text("known").raw(b"](");
            let root = (0..3).fold(root, |root, line| {
                let root = root.raw(b"}(").text("filename").text("/a.py").text("line");
                root.raw(&[b'K', line]).raw(b"u").raw(&[b'q', 200 + line])
            });
            let root = root.raw(b"e").text("device_traces");
            root.list(|list| {
                list.list(|events| {
                    events.dict(|event| {
                        let event = event.text("action").text("alloc").text("frames").raw(frames);
                        event.numbers(&[("addr", 1), ("size", 2)])
                    })
                })
            })
        });
        let (read, _) = read_all(&bytes.stop());
        read.map(|(snapshot, _)| {
            let lines = snapshot.frames_of(snapshot.events.stacks[0]).map(|frame| frame.line);
            lines.collect::<Vec<_>>()
        })
    };
    for (at_once, one_by_one, lines) in [
        (&b"](h\xC8h\xC9h\xCAe"[..], &b"]h\xC8ah\xC9ah\xCAa"[..], vec![0, 1, 2]),
        (b"](h\xCAj\xC8\0\0\0e", b"]h\xCAah\xC8a", vec![2, 0]),
        // Twice, and with something else between.
        (b"](h\xC8e(h\xC9h\xCAe", b"]h\xC8ah\xC9ah\xCAa", vec![0, 1, 2]),
        (b"](h\xC8Nh\xC9e", b"]h\xC8aNah\xC9a", vec![0, 1]),
        (b"](e", b"]", vec![]),
    ] {
        assert_eq!(of(at_once).unwrap(), lines);
        assert_eq!(of(one_by_one).unwrap(), lines);
    }
    // More than a list that is shared has.
    let many = [&b"]("[..], &b"h\xC8".repeat(700), b"e"].concat();
    assert_eq!(of(&many).unwrap(), vec![0; 700]);
    let says = |frames: &[u8]| of(frames).expect_err("an error").message;
    assert!(says(b"](h\xFEe").contains("memo entry 254 was never set"));
    assert!(says(b"}(h\xC8e").contains("a list to add to expected"));
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
    assert_eq!(*snapshot.events.sizes, [77, 77, 2, 77]);
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
    says(b"\x80\x04N.", "not a memory snapshot");
    says(b"\x80\x04}.", "not a memory snapshot");
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
fn events_of_a_cut_file_are_kept_only_where_all_segments_are_there() {
    let segments = |root: Pickle| {
        root.text("segments").list(|list| {
            let list = list.segment(4096, 4096, |blocks| blocks.block(4096, 4096, "inactive"));
            list.segment(8192, 4096, |blocks| blocks.block(8192, 4096, "inactive"))
        })
    };
    let traces = |root: Pickle| {
        root.text("device_traces")
            .list(|list| list.list(|events| events.event("segment_alloc", 4096, 4096)))
    };
    let annotations =
        |root: Pickle| root.text("external_annotations").list(|list| list.raw(&b"N".repeat(9)));
    // Where the second part begins, nothing of it is there yet; its last byte is missing otherwise.
    let of = |whole: &[u8], end: usize| read_all(&whole[..end]);
    let traces_first = root(|root| segments(traces(root)));
    let (read, warnings) = of(&traces_first, traces_first.len() - 2);
    let (snapshot, status) = read.unwrap();
    assert_eq!((status, snapshot.segments.len()), (FileStatus::Truncated, 2));
    assert_eq!(snapshot.devices[0].events, 0..0);
    let said = warnings.list().remove(0).message;
    assert!(said.contains("the first 2 segments are shown, and no events"), "{said}");
    let before_segments = Pickle::new().dict(traces).0.len() - 1;
    let error = of(&traces_first, before_segments).0.expect_err("no segments");
    assert!(error.message.contains("before any of its segments"), "{}", error.message);
    // Both are there, and something behind them is cut.
    let with_more = root(|root| annotations(segments(traces(root))));
    let (read, _) = of(&with_more, with_more.len() - 3);
    let snapshot = read.unwrap().0;
    assert_eq!((snapshot.segments.len(), snapshot.devices[0].events.clone()), (2, 0..1));
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

/// A small file in which `lists` lists name the same things over and over: a million of them, if all were made.
#[test]
fn what_is_named_again_and_again_is_made_once() {
    const TIMES: usize = 3000;
    let named = |memo: u8| [b'h', memo].repeat(TIMES);
    // A list of blocks is memo 200; each of the segments has it.
    let block = |list: Pickle| list.block(4096, 512, "inactive");
    let segment = |list: Pickle| {
        let segment = list.raw(b"}(").numbers(&[("device", 0), ("address", 4096)]);
        segment.numbers(&[("total_size", 512)]).text("blocks").raw(b"h\xC8u")
    };
    let same_list = root(|root| {
        let root = root.text("blocks_of_all").raw(b"]q\xC8(");
        let root = (0..TIMES).fold(root, |list, _| block(list)).raw(b"e");
        let root = root.text("segments").raw(b"](");
        (0..TIMES).fold(root, |list, _| segment(list)).raw(b"e")
    });
    let same_segment = root(|root| {
        let root =
            root.text("one").raw(b"}q\xC9(").numbers(&[("address", 4096), ("total_size", 9)]);
        let root = root.text("blocks").raw(b"](");
        let root = (0..TIMES).fold(root, |list, _| block(list)).raw(b"eu");
        root.text("segments").raw(b"](").raw(&named(0xC9)).raw(b"e")
    });
    let same_block = root(|root| {
        let root = root.text("one").raw(b"}q\xCA(").numbers(&[("size", 1)]);
        let root = root.text("state").text("inactive").raw(b"u");
        let root = root.text("segments").raw(b"](}(").numbers(&[("address", 1), ("total_size", 9)]);
        root.text("blocks").raw(b"](").raw(&named(0xCA)).raw(b"eue")
    });
    for bytes in [same_list, same_segment, same_block] {
        let (read, warnings) = read_all(&bytes);
        let snapshot = read.unwrap().0;
        let made = snapshot.blocks.len() + snapshot.segments.len();
        assert!(made <= 2 * TIMES, "{made} of {} bytes", bytes.len());
        assert!(warnings.list().iter().any(|one| one.message.contains("occur several times")));
    }
    // A list of events that every device has, and one event that stands in a list again, which may be.
    let same_events = root(|root| {
        let root = root.text("events_of_all").raw(b"]q\xC8(");
        let root = (0..TIMES).fold(root, |list, _| list.event("snapshot", 1, 1)).raw(b"e");
        root.text("device_traces").raw(b"](").raw(&named(0xC8)).raw(b"e")
    });
    let snapshot = read_all(&same_events).0.unwrap().0;
    assert_eq!((snapshot.events.len(), snapshot.devices.len()), (TIMES, 1));
    let again = |times: usize| {
        root(|root| {
            let root = root.text("one").raw(b"}q\xC8(").text("action").text("snapshot").raw(b"u");
            // As writers do, a thousand at once.
            let thousand = [&b"("[..], &[b'h', 0xC8].repeat(1000), b"e"].concat();
            let root = root.text("device_traces").raw(b"](]").raw(&thousand.repeat(times / 1000));
            root.raw(b"e")
        })
    };
    let events = |times: usize| read_all(&again(times)).0.unwrap().0.events.len();
    assert_eq!(events(TIMES), TIMES);
    // There is room for 32 MiB and three times the file.
    let most = ((32 << 20) + 3 * again(3_000_000).len()) / 33;
    assert_eq!(events(3_000_000), most);
    let setting = root(|root| {
        let pairs = |root: Pickle| {
            (0..200).fold(root, |root, key| {
                root.text(&format!("{key}{}", "k".repeat(200))).text(&"v".repeat(250))
            })
        };
        root.text("segments")
            .list(|list| list)
            .text("allocator_settings")
            .dict(|root| root.text("long").dict(pairs))
    });
    let settings = snapshot_of_any(&setting).settings.all;
    assert!(settings[0].1.len() < 2048, "{}", settings[0].1.len());
}

fn snapshot_of_any(bytes: &[u8]) -> Snapshot {
    read_all(bytes).0.unwrap().0
}

#[test]
fn free_bytes_are_those_of_the_file_or_unknown() {
    let bytes = Pickle::snapshot(
        |segments| segments,
        |events| {
            let oom = |events: Pickle, free: &[(&str, i64)]| {
                events.dict(|event| {
                    event.text("action").text("oom").numbers(&[("size", 5)]).numbers(free)
                })
            };
            oom(oom(events, &[]), &[("device_free", 0)])
        },
    );
    let events = snapshot(&bytes).events;
    assert_eq!([events.device_free(0), events.device_free(1)], [None, Some(0)]);
}

#[test]
fn a_timeline_says_what_is_wrong_with_the_form_that_it_has() {
    let read = |text: &str, progress: &Progress| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        super::timeline::read_timeline(file.path(), progress)
    };
    let message = |text: &str| read(text, &Progress::default()).expect_err("an error").message;
    let row = "[0, 1, 2, 3, 4, 5, 6, 7, 8]";
    // The mistake of a curve is in its fourth line, that of a list of changes in its third.
    let curve = format!("[[1, 2],\n[{row},\n{row},\n[0, null]]]");
    assert!(message(&curve).contains("line 4"), "{}", message(&curve));
    let changes = "[[1, 0, 2, 3],\n[1, 0, 2, 3],\n[1, null, 2, 3]]";
    assert!(message(changes).contains("line 3"), "{}", message(changes));
    assert!(message("[[1, 2], [\"x\"]]").contains("it has a text"));
    let progress = Progress::default();
    progress.cancel();
    assert!(matches!(read(&curve, &progress), Ok(None)));
}

#[test]
fn what_is_not_looked_into_is_said() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let closed = directory.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    let mode = |mode| std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(mode));
    mode(0o000).unwrap();
    let is_closed = std::fs::read_dir(&closed).is_err();
    let warnings = Warnings::default();
    super::discover::snapshots_below(directory.path(), &warnings, &Progress::default());
    mode(0o700).unwrap();
    // Root looks into everything.
    assert_eq!(warnings.list().len(), usize::from(is_closed));
    for name in 0..20_010 {
        std::fs::File::create(directory.path().join(name.to_string())).unwrap();
    }
    let warnings = Warnings::default();
    super::discover::snapshots_below(directory.path(), &warnings, &Progress::default());
    let said = warnings.list().remove(0).message;
    assert!(said.contains("only the first 20000 files"), "{said}");
}

#[test]
fn reading_says_how_much_there_is_to_read() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&Pickle::small_run()).unwrap();
    let progress = Progress::default();
    read_snapshot(file.path(), &Warnings::default(), &progress).unwrap().unwrap();
    let (done, expected) = progress.now();
    assert!(done == expected && done > 100, "{done} of {expected}");
}

#[test]
fn memory_bombs_are_refused() {
    for unit in
        [&b"}\x94"[..], b")\x94", b"]\x94(K\x01K\x02e", b"}(K\x01K\x02u", b"J\xff\xff\xff\xff\x94"]
    {
        let bytes = Pickle::new().raw(&unit.repeat((12 << 20) / unit.len()));
        let error = error(&bytes.0);
        let is_refused = error.message.contains("take more than");
        let is_nothing = error.message.contains("before any of its segments");
        assert!(is_refused || is_nothing, "{}", error.message);
    }
}
