//! A memory snapshot as it comes about: blocks are handed out and given back, each in a segment of its own, on any
//! number of devices and in pinned memory of the host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::pickle::pickle;

pub const MIB: u64 = 1 << 20;

/// A device, or pinned memory of the host, which is −1.
pub type Device = i64;

pub const HOST: Device = -1;

#[derive(Debug, Default)]
pub struct Recording {
    /// Of each device.
    events: BTreeMap<Device, Vec<Value>>,
    /// Device, bytes and stack by address.
    live: BTreeMap<u64, (Device, u64, Value)>,
    annotations: Vec<Value>,
    settings: BTreeMap<String, Value>,
    next_address: u64,
    time: u64,
}

/// A stack of frames, innermost first: file, line, function.
pub fn stack(frames: &[(&str, u64, &str)]) -> Value {
    let frame = |(file, line, name): &(&str, u64, &str)| json!({ "filename": file, "line": line, "name": name });
    frames.iter().map(frame).collect()
}

/// No Python stack, as of the backward pass.
pub fn no_stack() -> Value {
    stack(&[("??", 0, "c10::Engine")])
}

impl Recording {
    pub fn alloc(&mut self, device: Device, bytes: u64, frames: &Value) -> u64 {
        let address = 0x7F00_0000_0000 + self.next_address;
        self.next_address += bytes.next_multiple_of(512) + (1 << 22);
        self.event(device, "segment_alloc", address, bytes.next_multiple_of(512), frames);
        self.event(device, "alloc", address, bytes, frames);
        self.live.insert(address, (device, bytes, frames.clone()));
        address
    }

    pub fn free(&mut self, address: u64) {
        let (device, bytes, _) = self.live.remove(&address).expect("a block");
        for action in ["free_requested", "free_completed"] {
            self.event(device, action, address, bytes, &json!([]));
        }
        self.event(device, "segment_free", address, bytes.next_multiple_of(512), &json!([]));
    }

    /// A request that fails.
    pub fn out_of_memory(&mut self, device: Device, bytes: u64, free: u64) {
        let time = self.tick();
        self.events.entry(device).or_default().push(json!({
            "action": "oom", "size": bytes, "device_free": free, "stream": 0, "time_us": time, "frames": [],
        }));
    }

    /// The begin or the end of a named part of the run.
    pub fn annotate(&mut self, device: Device, stage: &str, name: &str) {
        let time = self.tick();
        self.annotations
            .push(json!({ "stage": stage, "name": name, "device": device, "time_us": time }));
    }

    pub fn set(&mut self, setting: &str, value: impl Into<Value>) {
        self.settings.insert(setting.to_owned(), value.into());
    }

    /// Forgets all but the last events of each device, as a ring of so many does.
    pub fn keep_last(&mut self, most: usize) {
        for events in self.events.values_mut() {
            events.drain(..events.len().saturating_sub(most));
        }
    }

    fn tick(&mut self) -> u64 {
        self.time += 1;
        self.time
    }

    fn event(&mut self, device: Device, action: &str, address: u64, bytes: u64, frames: &Value) {
        let time = self.tick();
        self.events.entry(device).or_default().push(json!({
            "action": action, "addr": address, "size": bytes, "stream": 0, "time_us": time, "frames": frames,
        }));
    }

    /// What PyTorch would dump now.
    pub fn snapshot(&self) -> Value {
        let segment = |(address, (device, bytes, frames)): (&u64, &(Device, u64, Value))| {
            let size = bytes.next_multiple_of(512);
            json!({
                "device": device, "address": address, "total_size": size, "allocated_size": size, "active_size": size,
                "requested_size": bytes, "stream": 0, "segment_type": "large", "is_expandable": false, "frames": [],
                "blocks": [{
                    "address": address, "size": size, "requested_size": bytes, "state": "active_allocated",
                    "frames": frames,
                }],
            })
        };
        let of = |is_host: bool| -> Value {
            let wanted = self.live.iter().filter(|(_, (device, ..))| (*device == HOST) == is_host);
            wanted.map(segment).collect()
        };
        let devices = self.events.keys().max().map_or(0, |last| last + 1);
        let traces =
            (0..devices).map(|device| self.events.get(&device).cloned().unwrap_or_default());
        json!({
            "segments": of(false),
            "device_traces": traces.collect::<Vec<_>>(),
            "external_annotations": self.annotations,
            "allocator_settings": self.settings,
            "host_segments": of(true),
            "host_traces": self.events.get(&HOST).cloned().unwrap_or_default(),
        })
    }

    /// The snapshot as a file.
    pub fn write(&self, directory: &Path, name: &str) -> PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, pickle(&self.snapshot())).expect("a file");
        path
    }
}
