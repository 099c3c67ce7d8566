//! Pickles for tests, written opcode by opcode.

/// A pickle that is being written.
#[derive(Clone, Default)]
pub(crate) struct Pickle(pub(crate) Vec<u8>);

impl Pickle {
    /// One of protocol 4.
    pub(crate) fn new() -> Self {
        Self(vec![0x80, 4])
    }

    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn text(self, text: &str) -> Self {
        let length = u8::try_from(text.len()).expect("a short text");
        self.raw(&[0x8C, length]).raw(text.as_bytes()).raw(&[0x94])
    }

    pub(crate) fn number(self, number: i64) -> Self {
        match i32::try_from(number) {
            Ok(number) => self.raw(b"J").raw(&number.to_le_bytes()),
            Err(_) => self.raw(&[0x8A, 8]).raw(&number.to_le_bytes()),
        }
    }

    pub(crate) fn dict(self, pairs: impl FnOnce(Self) -> Self) -> Self {
        pairs(self.raw(&[b'}', 0x94, b'('])).raw(b"u")
    }

    pub(crate) fn list(self, items: impl FnOnce(Self) -> Self) -> Self {
        items(self.raw(&[b']', 0x94, b'('])).raw(b"e")
    }

    pub(crate) fn numbers(mut self, pairs: &[(&str, i64)]) -> Self {
        for (key, number) in pairs {
            self = self.text(key).number(*number);
        }
        self
    }

    pub(crate) fn event(self, action: &str, address: i64, size: i64) -> Self {
        self.dict(|dict| {
            dict.text("action").text(action).numbers(&[
                ("addr", address),
                ("size", size),
                ("stream", 0),
                ("time_us", 1000),
            ])
        })
    }

    pub(crate) fn frame(self, file: &str, line: i64, name: &str) -> Self {
        self.dict(|dict| {
            let dict = dict.text("name").text(name).text("filename").text(file);
            dict.numbers(&[("line", line)])
        })
    }

    pub(crate) fn block(self, address: i64, size: i64, state: &str) -> Self {
        self.dict(|dict| {
            let dict =
                dict.numbers(&[("address", address), ("size", size), ("requested_size", size)]);
            dict.text("state").text(state)
        })
    }

    pub(crate) fn segment(
        self,
        address: i64,
        size: i64,
        blocks: impl FnOnce(Self) -> Self,
    ) -> Self {
        self.dict(|dict| {
            let dict = dict.numbers(&[("device", 0), ("address", address), ("total_size", size)]);
            dict.text("blocks").list(blocks)
        })
    }

    pub(crate) fn stop(self) -> Vec<u8> {
        self.raw(b".").0
    }

    /// A snapshot of one device, with these segments and events.
    pub(crate) fn snapshot(
        segments: impl FnOnce(Self) -> Self,
        events: impl FnOnce(Self) -> Self,
    ) -> Vec<u8> {
        let root = Self::new().dict(|root| {
            let root = root.text("segments").list(segments);
            root.text("device_traces").list(|traces| traces.list(events))
        });
        root.stop()
    }

    /// A small run: a segment of 2 MiB, of which one block is left and one was freed.
    pub(crate) fn small_run() -> Vec<u8> {
        const AT: i64 = 0x7F00_0000_0000;
        Self::snapshot(
            |segments| {
                segments.segment(AT, 2 << 20, |blocks| {
                    let blocks = blocks.block(AT, 1024, "active_allocated");
                    blocks.block(AT + 1024, (2 << 20) - 1024, "inactive")
                })
            },
            |events| {
                events
                    .event("segment_alloc", AT, 2 << 20)
                    .event("alloc", AT, 1024)
                    .event("alloc", AT + 1024, 4096)
                    .event("free_requested", AT + 1024, 4096)
                    .event("free_completed", AT + 1024, 4096)
            },
        )
    }
}
