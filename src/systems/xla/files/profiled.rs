//! What a profile says of its devices' memory (formats/xla.md 4.4).

use std::collections::{HashMap, HashSet};

use super::allocator_events::allocator_records;
use super::wire::{Wire, WireField};
use crate::store::hlo::{AllocatorRecord, ProfiledMemory};

/// Names of statistics that are kept of a plane: real ones have hundreds.
const MOST_NAMES: usize = 1 << 16;
/// What a profile says of the memory of its devices; `None` where it says nothing.
pub(super) fn profiled(message: &[u8], file: &str) -> Option<ProfiledMemory> {
    let mut devices = Vec::new();
    for plane in bytes_of(message, 1).filter(|plane| is_device(plane)) {
        devices.push(ProfiledDevice::of(plane, &StatNames::of(plane)));
    }
    // What is left out is said where a record is opened.
    let allocators = allocator_records(message, &mut |_| {});
    // Those on which something ran, for others may be of any kind.
    if devices.iter().any(|device| device.is_used) {
        devices.retain(|device| device.is_used);
    }
    let first = devices.first().and_then(|device| device.name.clone());
    let device = first.filter(|name| devices.iter().all(|one| one.name.as_ref() == Some(name)));
    let most = allocators.iter().max_by_key(|record| record.process_peak_bytes);
    let found = ProfiledMemory {
        file: file.to_owned(),
        device,
        memory_bytes: devices.iter().filter_map(|device| device.memory_bytes).min(),
        limit_bytes: allocators.iter().filter_map(|record| record.limit_bytes).min(),
        peak_in_use_bytes: most.and_then(|record| record.process_peak_bytes),
        allocator: most.map(|record| record.name.clone()),
        allocators: allocators.iter().filter_map(AllocatorRecord::figures).collect(),
    };
    let is_said = found.device.is_some()
        || found.memory_bytes.is_some()
        || found.limit_bytes.is_some()
        || found.peak_in_use_bytes.is_some();
    is_said.then_some(found)
}

/// Names beside `hlo_module` on planes of the host that no plane of a device has. A module among them ran on the processor,
/// so what a profile says of devices is not about it.
pub(super) fn names_of_host(message: &[u8]) -> HashSet<&[u8]> {
    let (mut of_host, mut of_devices) = (HashSet::new(), HashSet::new());
    for plane in bytes_of(message, 1) {
        let names_in = |field| names(plane, field).take(MOST_NAMES).map(|(_, name)| name);
        if is_device(plane) {
            of_devices.extend(names_in(5));
            // There a module may be an event: `jit_step(28)`.
            of_devices.extend(names_in(4).filter_map(|name| name.split(|at| *at == b'(').next()));
        } else if names_in(5).any(|name| name == b"hlo_module") {
            of_host.extend(names_in(5));
        }
    }
    of_host.retain(|name| !of_devices.contains(name));
    of_host
}

pub(super) fn is_device(plane: &[u8]) -> bool {
    bytes_of(plane, 2).any(|name| name.starts_with(b"/device:"))
}

/// The names of a plane's statistics by their numbers.
pub(super) struct StatNames<'a>(HashMap<i64, &'a [u8]>);

impl<'a> StatNames<'a> {
    pub(super) fn of(plane: &'a [u8]) -> Self {
        Self(names(plane, 5).take(MOST_NAMES).collect())
    }

    /// A statistic with its name; `None` of a number with a point.
    pub(super) fn named(&self, statistic: &'a [u8]) -> Option<(&'a [u8], StatValue<'a>)> {
        let (mut id, mut value) = (0, None);
        let mut fields = Wire::of(statistic);
        while let Ok(Some((number, field))) = fields.next_field() {
            match (number, field) {
                (1, field) => id = field.number(),
                (3 | 4, field) => value = Some(StatValue::Number(field.number())),
                (5, field) => value = Some(StatValue::Text(field.bytes())),
                (7, field) => value = self.0.get(&field.number()).copied().map(StatValue::Text),
                _ => {}
            }
        }
        Some((self.0.get(&id)?, value?))
    }

    /// The name of a statistic.
    pub(super) fn name_of(&self, statistic: &'a [u8]) -> Option<&'a [u8]> {
        let (_, id) = Wire::of(statistic).next_field().ok()?.filter(|(number, _)| *number == 1)?;
        self.0.get(&id.number()).copied()
    }

    /// The bytes of the device that a plane is of.
    pub(super) fn memory_bytes(&self, plane: &'a [u8]) -> Option<u64> {
        let named = bytes_of(plane, 6).filter_map(|one| self.named(one));
        let size = |(name, value): (&[u8], StatValue<'_>)| {
            (name == b"memory_size").then(|| value.bytes())?
        };
        named.filter_map(size).find(|bytes| *bytes > 0)
    }
}

/// What a statistic states.
#[derive(Clone, Copy)]
pub(super) enum StatValue<'a> {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(&'a [u8]),
}

impl StatValue<'_> {
    /// A number that is not negative, and below an exbibyte: no machine has as much, and sums of larger numbers overflow.
    pub(super) fn bytes(self) -> Option<u64> {
        match self {
            Self::Number(number) => u64::try_from(number).ok().filter(|bytes| *bytes < 1 << 60),
            Self::Text(_) => None,
        }
    }
}

/// A device as its plane describes it.
struct ProfiledDevice {
    /// What kind it is: `TPU v5 lite`.
    name: Option<String>,
    memory_bytes: Option<u64>,
    is_used: bool,
}

impl ProfiledDevice {
    fn of<'a>(plane: &'a [u8], statistics: &StatNames<'a>) -> Self {
        let is_used = bytes_of(plane, 3).next().is_some();
        let memory_bytes = statistics.memory_bytes(plane);
        let mut device = Self { name: None, memory_bytes, is_used };
        for (name, value) in bytes_of(plane, 6).filter_map(|one| statistics.named(one)) {
            if let (b"device_type_string", StatValue::Text(text)) = (name, value) {
                device.name = Some(String::from_utf8_lossy(text).into_owned());
            }
        }
        device
    }
}

/// The texts or messages of one field.
pub(super) fn bytes_of(message: &[u8], wanted: u32) -> impl Iterator<Item = &[u8]> {
    let mut fields = Wire::of(message);
    std::iter::from_fn(move || {
        loop {
            match fields.next_field() {
                Ok(Some((number, WireField::Bytes(bytes)))) if number == wanted => {
                    return Some(bytes);
                }
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    })
}

/// The names of a map of metadata by their numbers.
pub(super) fn names(plane: &[u8], field: u32) -> impl Iterator<Item = (i64, &[u8])> {
    bytes_of(plane, field).filter_map(|entry| {
        let mut fields = Wire::of(entry);
        let (mut id, mut name) = (0, None);
        while let Ok(Some((number, field))) = fields.next_field() {
            match number {
                1 => id = field.number(),
                2 => name = bytes_of(field.bytes(), 2).next(),
                _ => {}
            }
        }
        Some((id, name?))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A field of bytes.
    fn part(field: u8, bytes: &[u8]) -> Vec<u8> {
        let mut part = vec![field << 3 | 2];
        part.extend(varint(bytes.len() as u64));
        part.extend(bytes);
        part
    }

    fn varint(mut number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            let low = (number & 0x7F) as u8;
            number >>= 7;
            bytes.push(if number > 0 { low | 0x80 } else { low });
            if number == 0 {
                return bytes;
            }
        }
    }

    fn number(field: u8, number: u64) -> Vec<u8> {
        [vec![field << 3], varint(number)].concat()
    }

    const STATISTICS: [&str; 8] = [
        "memory_size",
        "device_type_string",
        "allocator_name",
        "peak_bytes_in_use",
        "bytes_allocated",
        "bytes_available",
        "bytes_reserved",
        "GPU_1_bfc",
    ];

    fn id(name: &str) -> u64 {
        (1..).zip(STATISTICS).find(|(_, known)| *known == name).unwrap().0
    }

    fn statistic(name: &str, value: u64) -> Vec<u8> {
        [number(1, id(name)), number(3, value)].concat()
    }

    fn text(name: &str, value: &str) -> Vec<u8> {
        [number(1, id(name)), part(5, value.as_bytes())].concat()
    }

    /// A plane whose lines lie before the names of what is in them, as XLA writes it.
    fn plane(name: &str, lines: &[Vec<Vec<u8>>], statistics: &[Vec<u8>]) -> Vec<u8> {
        let entry = |(id, name): (u64, &&str)| {
            [number(1, id), part(2, &[number(1, id), part(2, name.as_bytes())].concat())].concat()
        };
        let named = |field: u8, names: &[&str]| -> Vec<u8> {
            (1..).zip(names).flat_map(|one| part(field, &entry(one))).collect()
        };
        let lines = lines.iter().flat_map(|line| {
            part(3, &line.iter().flat_map(|event| part(4, event)).collect::<Vec<u8>>())
        });
        let plane = [
            part(2, name.as_bytes()),
            lines.collect(),
            named(4, &["MemoryAllocation", "MemoryDeallocation", "Other"]),
            named(5, &STATISTICS),
            statistics.iter().flat_map(|one| part(6, one)).collect(),
        ];
        part(1, &plane.concat())
    }

    fn event(kind: u64, statistics: &[Vec<u8>]) -> Vec<u8> {
        let all = statistics.iter().flat_map(|one| part(4, one)).collect::<Vec<u8>>();
        [number(1, kind), all].concat()
    }

    fn allocator(kind: u64, name: Vec<u8>, [peak, in_use, available]: [u64; 3]) -> Vec<u8> {
        event(
            kind,
            &[
                name,
                statistic("peak_bytes_in_use", peak),
                statistic("bytes_allocated", in_use),
                statistic("bytes_available", available),
                statistic("bytes_reserved", 0),
            ],
        )
    }

    fn of_name(name: &str) -> Vec<u8> {
        text("allocator_name", name)
    }

    #[test]
    fn a_module_that_only_the_host_ran_is_of_no_device() {
        let named = |field: u8, name: &str| {
            let entry = part(2, name.as_bytes());
            part(field, &[number(1, 1), part(2, &entry)].concat())
        };
        let plane = |name: &str, events: &[&str], statistics: &[&str]| {
            let events = events.iter().flat_map(|event| named(4, event));
            let statistics = statistics.iter().flat_map(|one| named(5, one));
            part(1, &[part(2, name.as_bytes()), events.chain(statistics).collect()].concat())
        };
        let host = plane("/host:CPU", &[], &["hlo_module", "jit_a", "jit_b", "jit_c"]);
        let gpu = plane("/device:GPU:0", &["jit_c(28)"], &["hlo_module", "jit_a"]);
        let both = [host, gpu].concat();
        let found = names_of_host(&both);
        assert_eq!(
            ["jit_a", "jit_b", "jit_c"].map(|name| found.contains(name.as_bytes())),
            [false, true, false]
        );
        let calls = plane("/host:CPU", &[], &["module_name", "jit_a"]);
        assert!(names_of_host(&calls).is_empty(), "it only started them");
    }

    #[test]
    fn devices_and_allocators_are_read() {
        let by_reference = [number(1, id("allocator_name")), number(7, id("GPU_1_bfc"))].concat();
        let events = vec![
            allocator(1, of_name("GPU_0_bfc"), [700, 600, 400]),
            allocator(2, of_name("GPU_0_bfc"), [700, 100, 900]),
            allocator(1, by_reference, [800, 800, 300]),
            allocator(1, of_name("xla_gpu_host_bfc"), [9000, 9000, 1]),
            allocator(3, of_name("GPU_0_bfc"), [9999, 1, 1]),
        ];
        let used = vec![event(3, &[])];
        let size = |bytes| [statistic("memory_size", bytes)];
        let profile = [
            plane("/device:GPU:0", std::slice::from_ref(&used), &size(2000)),
            plane("/device:GPU:1", &[used], &size(1900)),
            plane("/device:GPU:2", &[], &size(50)),
            plane("/host:CPU", &[vec![], events], &[]),
        ];
        let found = profiled(&profile.concat(), "host.xplane.pb").unwrap();
        assert_eq!(found.memory_bytes, Some(1900), "of those that something ran on");
        assert_eq!(found.limit_bytes, Some(1000));
        assert_eq!(found.peak_in_use_bytes, Some(800), "of devices only");
        assert_eq!(found.allocator.as_deref(), Some("GPU_1_bfc"));
        assert_eq!((found.device.as_deref(), &*found.file), (None, "host.xplane.pb"));
    }

    #[test]
    fn what_contradicts_itself_or_is_not_there_is_not_known() {
        let device = |number: u32, kind: &str| {
            plane(&format!("/device:TPU:{number}"), &[], &[text("device_type_string", kind)])
        };
        let same = [device(0, "TPU v5 lite"), device(1, "TPU v5 lite")].concat();
        let found = profiled(&same, "a").unwrap();
        assert_eq!(found.device.as_deref(), Some("TPU v5 lite"));
        assert_eq!(
            (found.memory_bytes, found.limit_bytes, found.peak_in_use_bytes),
            (None, None, None)
        );
        assert_eq!(profiled(&[device(0, "TPU v4"), device(1, "TPU v5")].concat(), "a"), None);
        let events =
            vec![allocator(1, of_name("A"), [5, 5, 10]), allocator(1, of_name("A"), [6, 6, 10])];
        let found = profiled(&plane("/host:CPU", &[events], &[]), "a").unwrap();
        assert_eq!((found.limit_bytes, found.peak_in_use_bytes), (None, Some(6)));
        let negative = allocator(1, of_name("A"), [5, 5, -1_i64 as u64]);
        let found = profiled(&plane("/host:CPU", &[vec![negative]], &[]), "a").unwrap();
        assert_eq!(found.limit_bytes, None);
        assert_eq!(profiled(&plane("/host:CPU", &[], &[]), "a"), None);
    }

    /// A profile with devices and events, to be damaged.
    fn whole() -> Vec<u8> {
        let event = |kind, address: u64| {
            let own = [of_name("GPU_0_bfc"), statistic("bytes_allocated", 600)];
            let more = [statistic("bytes_available", 400), number(1, address)];
            event(kind, &[own.to_vec(), more.to_vec()].concat())
        };
        let events = vec![event(1, 1), event(2, 1), event(1, 2), event(3, 1)];
        [
            plane("/device:GPU:0", &[vec![]], &[statistic("memory_size", 2000)]),
            plane("/host:CPU", &[vec![], events], &[]),
        ]
        .concat()
    }

    #[test]
    fn events_that_lack_a_figure_are_left_out_and_said() {
        let lacking = event(1, &[of_name("A"), statistic("peak_bytes_in_use", 9)]);
        let events = vec![
            lacking,
            allocator(1, of_name("A"), [5, 5, 10]),
            event(2, &[statistic("bytes_allocated", 9)]),
        ];
        let profile = plane("/host:CPU", &[events], &[]);
        let mut said = Vec::new();
        let records = allocator_records(&profile, &mut |message| said.push(message));
        let [record] = &records[..] else { panic!("one: {records:?}") };
        assert_eq!((record.events.len(), record.blocks()), (1, None), "it has no address");
        let figures = record.figures().unwrap();
        assert_eq!((figures.peak_in_use_bytes, figures.limit_bytes), (5, Some(15)));
        let [message] = &said[..] else { panic!("one: {said:?}") };
        assert!(message.starts_with("2 events of allocators do not say"), "{message}");
    }

    proptest! {
        #[test]
        fn damaged_profiles_come_to_an_end(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)
        ) {
            let mut bytes = whole();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let found = profiled(&bytes, "a");
            let allocators = found.iter().flat_map(|found| &found.allocators);
            for one in allocators {
                prop_assert!(one.events > 0 && one.peak_event < one.events);
            }
        }

        #[test]
        fn any_bytes_come_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = profiled(&bytes, "a");
            let _ = profiled(&part(1, &bytes), "a");
            let _ = names_of_host(&part(1, &bytes));
        }
    }
}
