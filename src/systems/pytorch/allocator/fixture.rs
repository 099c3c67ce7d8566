//! Snapshots that tests make, stack by stack and event by event.

use crate::store::snapshot::{Action, Frame, Snapshot, StackId};

impl Snapshot {
    /// Adds a stack of frames, the innermost first: file, function, line.
    pub fn push_stack<'a>(
        &mut self,
        frames: impl IntoIterator<Item = (&'a str, &'a str, u32)>,
    ) -> StackId {
        for (file, name, line) in frames {
            // Each frame once, as the reader has them.
            let is_same = |frame: &Frame| {
                let (of, by) = (self.texts.get(frame.file), self.texts.get(frame.name));
                (of, by, frame.line) == (file, name, line)
            };
            let known = self.frames.iter().position(is_same);
            self.stacks.frames.push(known.unwrap_or(self.frames.len()) as u32);
            if known.is_none() {
                let (file, name) = (self.texts.push(file), self.texts.push(name));
                self.frames.push(Frame { file, name, line });
            }
        }
        self.stacks.ends.push(self.stacks.frames.len());
        StackId(self.stacks.len() as u32 - 1)
    }

    /// Adds an event.
    pub fn push_event(&mut self, action: Action, address: u64, bytes: u64, stack: StackId) {
        self.events.actions.push(action);
        self.events.addresses.push(address);
        self.events.sizes.push(bytes);
        self.events.stacks.push(stack);
    }
}
