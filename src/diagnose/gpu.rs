//! Messages of XLA (JAX) and TensorFlow about the memory of GPUs. Their allocators serve other devices and
//! the host as well; the message names which.

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::Regex;

use super::amount;
use super::finding::{Finding, Kind, OfProgram, UsedPart};
use super::lines::bare;
use super::message::{Message, MessageFound, pattern};
use super::xla_listing;

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?Out of memory while trying to allocate \
                  (?<requested>{size})",
        read: of_xla,
    },
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?Failed to allocate request for {size} \
                  \\((?<requested>{n})B\\) on device ordinal (?<ordinal>{n})",
        read: |found| Finding {
            instance: found.word("ordinal").map(|ordinal| format!("device {ordinal}")),
            ..requested(Kind::GpuOutOfMemory, found)
        },
    },
    Message {
        pattern: "[Ff]ailed to allocate {size} \\((?<requested>{n}) bytes\\) from device: \
                  (?:CUDA|HIP)_ERROR_OUT_OF_MEMORY(?:: out of memory)?",
        read: |found| requested(Kind::GpuOutOfMemory, found),
    },
    Message {
        pattern: "(?:R(?:ESOURCE_EXHAUSTED|esource exhausted): )?OOM when allocating tensor with shape\
                  \\[(?<shape>[0-9, ]*)\\]\
                  (?: and type (?<type>{word}) on (?<device>[^\\s'\"]{1,200}) by allocator (?<allocator>{word}))?",
        read: tensor,
    },
    Message {
        pattern: "(?:Allocator \\((?<allocator>[^)\r\n]{1,80})\\) ran|Ran) out of memory trying to allocate \
                  (?<requested>{size})(?: with freed_by_count={n})?\
                  (?<harmless>[.]? The caller indicates that this is not a failure)?",
        read: allocator,
    },
];

fn requested(kind: Kind, found: &MessageFound) -> Finding {
    Finding { requested_bytes: found.amount("requested"), ..Finding::new(kind) }
}

static STATISTICS: LazyLock<Regex> = LazyLock::new(|| {
    // Loggers put something before each line.
    pattern(
        "\\A[^\r\n]{0,200}\\s+[^\r\n]{0,200}?BufferAssignment OOM Debugging[.]\\s+\
         [^\r\n]{0,200}?BufferAssignment stats:",
    )
});
static PART: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "\\A[^\r\n:]*?(?<name>[a-z_]+(?:[\t\\x20][a-z_]+)?)[\t\\x20]+allocation:[\t\\x20]+(?<size>{size})",
    )
});

/// The statistics behind the message, where they are there, say what the program needs in all and what is alive at
/// the peak.
fn of_xla(found: &MessageFound) -> Finding {
    let mut finding = requested(Kind::GpuOutOfMemory, found);
    let Some(head) = STATISTICS.find(found.after) else { return finding };
    let lines = found.after.get(head.end()..).unwrap_or_default();
    let listing = xla_listing::read(lines);
    finding.of_program = OfProgram { packing: listing.packing, ..OfProgram::default() }.if_any();
    finding.allocations = listing.allocations;
    for line in xla_listing::lines_of(lines) {
        let line = bare(line);
        // Between the parts it says what packing loses of the temporary one.
        if memmem::find(line, b" fragmentation:").is_some() {
            continue;
        }
        let Some(part) = PART.captures(line) else { break };
        let text =
            |group| String::from_utf8_lossy(part.name(group).map_or(b"", |text| text.as_bytes()));
        let Some(bytes) = amount::bytes(&text("size")) else { break };
        if text("name") == "total" {
            finding.used_bytes = Some(bytes);
            break;
        }
        finding.breakdown.push(UsedPart { name: text("name").into_owned(), bytes });
    }
    finding
}

/// Whose memory a name of TensorFlow means: `/job:localhost/…/device:GPU:0`, `GPU_0_bfc`, `cpu`.
fn kind_of(name: &str) -> Kind {
    let name = name.to_ascii_lowercase();
    let is = |word: &str| name.contains(word);
    if is("cpu") || is("host_bfc") {
        Kind::HostOutOfMemory
    } else if is("tpu") {
        Kind::TpuOutOfMemory
    } else if is("ipu") {
        Kind::OutOfMemory
    } else {
        Kind::GpuOutOfMemory
    }
}

fn tensor(found: &MessageFound) -> Finding {
    let (device, allocator) = (found.word("device"), found.word("allocator"));
    let by_allocator = kind_of(allocator.as_deref().unwrap_or_default());
    // Memory of the host that a device can reach belongs to the host.
    let kind = match by_allocator {
        Kind::HostOutOfMemory => by_allocator,
        _ => kind_of(device.as_deref().unwrap_or_default().rsplit('/').next().unwrap_or_default()),
    };
    let shape = found.word("shape").unwrap_or_default();
    let instance = device.and_then(|device| Some(device.rsplit_once("device:")?.1.to_owned()));
    Finding {
        requested_bytes: found.word("type").and_then(|of| tensor_bytes(&shape, &of)),
        instance,
        ..Finding::new(kind)
    }
}

/// The size of a tensor of TensorFlow.
fn tensor_bytes(shape: &str, of: &str) -> Option<u64> {
    let bytes = match of {
        "bool" | "int8" | "uint8" | "qint8" | "quint8" => 1,
        "half" | "bfloat16" | "int16" | "uint16" => 2,
        "float" | "int32" | "uint32" | "qint32" => 4,
        "double" | "int64" | "uint64" | "complex64" => 8,
        "complex128" => 16,
        _ => return None,
    };
    let extents = shape.split(',').map(str::trim).filter(|extent| !extent.is_empty());
    extents
        .map(|extent| extent.parse::<u64>().ok())
        .try_fold(bytes, |product: u64, extent| product.checked_mul(extent?))
}

fn allocator(found: &MessageFound) -> Finding {
    let name = found.word("allocator").unwrap_or_default();
    let kind = match kind_of(&name) {
        Kind::GpuOutOfMemory if found.word("harmless").is_some() => Kind::GpuMemoryTight,
        kind => kind,
    };
    Finding { instance: Some(name).filter(|name| !name.is_empty()), ..requested(kind, found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_have_the_size_of_their_shape() {
        assert_eq!(tensor_bytes("3,3,512,1024", "float"), Some(18_874_368));
        assert_eq!(tensor_bytes("", "double"), Some(8), "a scalar");
        assert_eq!(tensor_bytes("0, 7", "half"), Some(0));
        assert_eq!(tensor_bytes("4", "string"), None);
        assert_eq!(tensor_bytes("4294967296,4294967296", "half"), None);
    }

    #[test]
    fn names_say_whose_memory_it_is() {
        for (name, kind) in [
            ("GPU_0_bfc", Kind::GpuOutOfMemory),
            ("device:XLA_GPU:1", Kind::GpuOutOfMemory),
            ("cuda_host_bfc", Kind::HostOutOfMemory),
            ("mklcpu", Kind::HostOutOfMemory),
            ("device:TPU:0", Kind::TpuOutOfMemory),
            ("device:IPU:0", Kind::OutOfMemory),
        ] {
            assert_eq!(kind_of(name), kind, "{name}");
        }
    }
}
