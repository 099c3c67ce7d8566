//! Wrappers around messages: exceptions of Poplar as C++, PopTorch, TensorFlow and PopART report them. An exception
//! counts only where the message in it is not known by itself.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::finding::{Finding, Kind};
use super::message::{Match, Message, MessageFound};

/// The exceptions. Their patterns take in the rest of the line, so that a message lies within.
pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "(?<terminate>terminate called after throwing an instance of \
                  'poplar::(?<memory>{word})_memory_allocation_error')\
                  (?<what> what\\(\\):\\s*[^\r\n]*)?",
        read,
        example: "terminate called after throwing an instance of 'poplar::graph_memory_allocation_error'\n  what():  no room",
        meaning: "Poplar ended the program because it does not fit into the IPU.",
    },
    Message {
        pattern: "(?<wrapper>'poplar_(?<memory>{word})_memory_allocation_error':)\\s*[^\r\n]*",
        read,
        example: "'poplar_stream_memory_allocation_error': a stream does not fit",
        meaning: "The same, as PopTorch reports it; `stream` is about the buffers in the memory of the host.",
    },
    Message {
        pattern: "(?<wrapper>\\[Poplar\\]\\[[^\\]\r\n]{1,60}\\] \
                  (?<memory>{word})_memory_allocation_error:)\\s*[^\r\n]*",
        read,
        example: "[Poplar][Compile graph] graph_memory_allocation_error: no room for the stack",
        meaning: "The same, as TensorFlow reports it.",
    },
    Message {
        // As an exception that nobody caught is named, with its text or without; not in the code that
        // catches one.
        pattern: "(?:(?m:^)|[\\]:>|] )(?<wrapper>(?:poplar(?:::|[.]))?(?<memory>graph|stream|{word})_memory_allocation_error)\
                  (?:[\t\\x20]*:[^\r\n]*|[\t\\x20\r]*(?m:$))",
        read,
        example: "poplar.graph_memory_allocation_error: no room for the stack",
        meaning: "The same, as Python reports it.",
    },
    Message {
        pattern: "(?<wrapper>popart\\.(?:session\\.)?OutOfMemoryException:)\\s*[^\r\n]*",
        read,
        example: "popart.session.OutOfMemoryException: the graph does not compile",
        meaning: "The same, as PopART reports it.",
    },
];

#[expect(clippy::unnecessary_wraps, reason = "messages are read so")]
fn read(found: &MessageFound) -> Option<Finding> {
    let is_stream = found.word("memory").is_some_and(|memory| memory == "stream");
    Some(Finding::new(if is_stream { Kind::HostBuffer } else { Kind::OutOfMemory }))
}

/// Of all matches in a text those that count, in the order of the text: no message within another, no
/// exception whose message is there. Where several processes write at once, several `terminate
/// called` lines may come before their `what()` lines.
pub fn those_that_count<'t>(matches: Vec<Match<'t>>, text: &[u8]) -> Vec<Match<'t>> {
    let is_wrapper = |one: &Match| one.has("terminate") || one.has("wrapper");
    let (wrappers, messages): (Vec<_>, Vec<_>) = matches.into_iter().partition(is_wrapper);
    let messages = without_overlaps(messages);
    let mut is_claimed = vec![false; messages.len()];
    let (mut kept, mut waiting) = (Vec::new(), VecDeque::new());
    for wrapper in without_overlaps(wrappers) {
        let next = messages.partition_point(|message| message.start() < wrapper.start());
        let is_within = messages.get(next).is_some_and(|next| next.start() < wrapper.end());
        match is_claimed.get_mut(next) {
            Some(claimed) if is_within => *claimed = true,
            _ if wrapper.has("terminate") && !wrapper.has("what") => waiting.push_back(wrapper),
            _ => kept.push(wrapper),
        }
    }
    for (message, is_claimed) in messages.iter().zip(is_claimed) {
        let before = text.get(..message.start()).unwrap_or_default().trim_ascii_end();
        let waits = waiting.front().is_some_and(|first| first.start() < message.start());
        if !is_claimed && waits && before.ends_with(b"what():") {
            waiting.pop_front();
        }
    }
    kept.extend(waiting);
    kept.extend(messages);
    without_overlaps(kept)
}

/// In the order of the text, and of those that overlap the first, the longest of equals.
fn without_overlaps(mut matches: Vec<Match<'_>>) -> Vec<Match<'_>> {
    matches.sort_by_key(|one| (one.start(), Reverse(one.end())));
    let mut end = 0;
    matches.retain(|one| {
        let is_free = one.start() >= end;
        if is_free {
            end = one.end();
        }
        is_free
    });
    matches
}
