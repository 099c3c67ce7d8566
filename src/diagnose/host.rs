//! Messages about the memory of the machine that drives the devices: of C++, Python, Linux and Slurm.

use super::finding::{Finding, Kind};
use super::message::{Message, MessageFound};

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "(?<terminate>terminate called after throwing an instance of 'std::bad_alloc')\
                  (?<what> what\\(\\):\\s*[^\r\n]*)?",
        read: host,
    },
    Message {
        // Not in quotes, where it is the name of an exception. The library of RAPIDS throws it of GPUs.
        pattern: "(?:(?m:^)|[\t\\x20(])std::bad_alloc\\b(?<of_gpu>: out_of_memory: (?:CUDA|RMM))?",
        read: |found| match found.word("of_gpu") {
            Some(_) => Finding::new(Kind::CudaOutOfMemory),
            None => host(found),
        },
    },
    Message {
        pattern: "(?<wrapper>(?m:^)(?:[0-9A-Za-z_.]{1,80}[.])?(?:_?ArrayMemoryError|MemoryError))\
                  (?::[^\r\n]*|[\t\\x20\r]*(?m:$))",
        read: host,
    },
    Message {
        pattern: "Unable to allocate (?:(?<requested>{size}) for an )?array with shape \\([0-9, ]*\\)\
                  (?: and data type {word})?",
        read: host,
    },
    Message {
        pattern: "DefaultCPUAllocator: (?:can't allocate memory|not enough memory): you tried to allocate \
                  (?<requested>{n}) bytes(?:[.] Error code 12 \\(Cannot allocate memory\\))?",
        read: host,
    },
    Message {
        // A library that is loaded too late says the last of it; the machine has memory.
        pattern: "(?:\\[Errno 12\\] )?[Cc]annot allocate memory(?<tls> in static TLS block)?",
        read: |found| match found.word("tls") {
            Some(_) => Finding::new(Kind::UnknownMemoryMessage),
            None => host(found),
        },
    },
    Message { pattern: "Out of memory allocating (?<requested>{n}) bytes", read: host },
    Message {
        pattern: "(?:Memory cgroup out|Out) of memory: Kill(?:ed)? process (?<process>{n}) \\((?<name>[^)\r\n]{1,64})\\)\
                  (?:(?:, UID {n},)? total-vm:{n}kB, anon-rss:(?<used>{n}kB))?",
        read: killed,
    },
    Message {
        pattern: "Detected {count} oom[-_]kill event(?:\\(s\\)|s)? in [^\\s,;]{1,80}",
        read: host,
    },
    Message { pattern: "task {n}: Out Of Memory\\b", read: host },
    Message {
        // The unit depends on the version.
        pattern: "exceeded memory limit \\({n} > {n}\\), being killed",
        read: host,
    },
];

fn host(found: &MessageFound) -> Finding {
    Finding { requested_bytes: found.number("requested"), ..Finding::new(Kind::HostOutOfMemory) }
}

/// The kernel writes kB for 2¹⁰ bytes. What the process had in use is its share of the machine's memory.
fn killed(found: &MessageFound) -> Finding {
    Finding {
        used_bytes: found.number("used"),
        instance: found
            .word("process")
            .zip(found.word("name"))
            .map(|(process, name)| format!("process {process} ({name})")),
        ..Finding::new(Kind::HostOutOfMemory)
    }
}
