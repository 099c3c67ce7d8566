//! Messages about the memory of the machine that drives the devices: of C++, Python, Linux, schedulers
//! and the like.

use super::container;
use super::finding::{Finding, Kind, UsedPart};
use super::message::{Message, MessageFound, readable};

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "(?<terminate>terminate called after throwing an instance of 'std::bad_alloc')\
                  (?<what> what\\(\\):\\s*[^\r\n]*)?",
        read: host,
        example: "terminate called after throwing an instance of 'std::bad_alloc'",
        meaning: "A program in C++ got no memory of the machine, and ended.",
    },
    Message {
        // Not in quotes, where it is the name of an exception.
        pattern: "(?:(?m:^)|[\t\\x20(])std::bad_alloc\\b",
        read: host,
        example: "RuntimeError: std::bad_alloc",
        meaning: "The same, as Python reports it.",
    },
    Message {
        pattern: "(?<wrapper>(?m:^)(?:[0-9A-Za-z_.]{1,80}[.])?(?:_?ArrayMemoryError|MemoryError))\
                  (?::[^\r\n]*|[\t\\x20\r]*(?m:$))",
        read: host,
        example: "MemoryError",
        meaning: "Python got no memory of the machine.",
    },
    Message {
        pattern: "Unable to allocate (?:(?<requested>{size}) for an )?array with shape \\([0-9, ]*\\)\
                  (?: and data type {word})?",
        read: host,
        example: "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.50 GiB for an array with shape (1000, \
                  1006633) and data type float64",
        meaning: "NumPy got no memory of the machine for an array.",
    },
    Message {
        pattern: "DefaultCPUAllocator: (?:can't allocate memory|not enough memory): you tried to allocate \
                  (?<requested>{n}) bytes(?:[.] Error code 12 \\(Cannot allocate memory\\))?",
        read: host,
        example: "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you \
                  tried to allocate 2359296 bytes. Error code 12 (Cannot allocate memory)",
        meaning: "PyTorch got no memory of the machine for a tensor on the CPU.",
    },
    Message {
        pattern: "(?:[Uu]nable to (?:open|write to|mmap|resize|allocate|truncate)(?: (?<requested>{n}) bytes)?|[Cc]ould not (?:open|map|unlink)|[Ff]ailed to \
                  (?:open|map))[^<\0]{0,60}<(?<file>[^>\r\n]{1,200})>[^\r\n]{0,80}: (?:Cannot allocate memory|No space left on \
                  device|Resource temporarily unavailable)(?: \\({n}\\))?",
        read: file,
        example: "RuntimeError: unable to write to file </torch_1234_5678_0>: No space left on device (28)",
        meaning: "PyTorch got no shared memory of the machine (`/dev/shm`) for a tensor that processes share.",
    },
    Message {
        // A library that is loaded too late says the last of it; the machine has memory.
        pattern: "(?<mlock>failed to mlock [^\r\n]{0,120})?(?:\\[Errno 12\\] )?[Cc]annot allocate memory(?<tls> in static TLS block)?",
        // A mapped file that cannot be locked is read all the same.
        read: |found| match (found.word("tls"), found.word("mlock")) {
            (_, Some(_)) => None,
            (Some(_), _) => Some(Finding::new(Kind::UnknownMemoryMessage)),
            _ => host(found),
        },
        example: "OSError: [Errno 12] Cannot allocate memory",
        meaning: "The system gave a process no memory: too little is free, or a limit of the process is reached.",
    },
    Message {
        // The number is the same in every language.
        pattern: "(?:WinError 1455\\][^\r\n]{0,20})?[Tt]he paging file is too small for this operation to complete\
                  (?:[.]? \\(os error 1455\\))?|(?:Win|os )[Ee]rror 1455\\b",
        read: host,
        example: "OSError: [WinError 1455] The paging file is too small for this operation to complete.",
        meaning: "Windows has promised all of its memory and paging file. It happens while libraries are loaded, too.",
    },
    Message {
        pattern: "Out of memory allocating (?<requested>{n}) bytes",
        read: host,
        example: "RESOURCE_EXHAUSTED: Out of memory allocating 17179869184 bytes.",
        meaning: "XLA on the CPU got no memory of the machine.",
    },
    Message {
        pattern: "DataLoader worker (?:\\(pids? {n}\\) )?is killed by signal: Bus error(?:[.] It is possible that dataloader's \
                  workers are out of shared memory)?",
        read: |_| Some(Finding::new(Kind::HostSharedMemory)),
        example: "RuntimeError: DataLoader worker (pid 551) is killed by signal: Bus error. It is possible that dataloader's \
                  workers are out of shared memory. Please try to raise your shared memory limit.",
        meaning: "A worker of PyTorch's DataLoader found `/dev/shm` full, through which it hands batches over.",
    },
    Message {
        pattern: "(?<part>U)nexpected bus error encountered in worker[.] This might be caused by insufficient shared memory",
        read: |_| Some(Finding::new(Kind::HostSharedMemory)),
        example: "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
        meaning: "The same, from the worker itself.",
    },
    Message {
        pattern: "Error while creating shared memory segment (?<file>/dev/shm/[^\\s]{1,100})(?: \\(size (?<requested>{n})\\))?",
        read: |found| Some(found.finding(Kind::HostSharedMemory)),
        example: "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-bzMA4w (size 33030528)",
        meaning: "NCCL got no shared memory of the machine (`/dev/shm`), through which the GPUs of a node talk.",
    },
    Message {
        pattern: "Out of memory: Kill(?:ed)? process (?<process>{n}) \\((?<name>[^)\r\n]{1,64})\\)\
                  (?: score {n} or sacrifice child(?: Killed process {n} \\([^)\r\n]{1,64}\\))?)?\
                  (?:(?:,? UID {n},)? total-vm:{n}kB, anon-rss:(?<used>{n}kB))?",
        read: |found| Some(killed(found)),
        example: "Out of memory: Killed process 1234 (python) total-vm:2418296kB, anon-rss:2048512kB, file-rss:0kB, \
                  shmem-rss:0kB, UID:1000 pgtables:4804kB oom_score_adj:0",
        meaning: "Linux ended a process because the machine had no memory left.",
    },
    Message {
        pattern: "Memory cgroup out of memory: Kill(?:ed)? process (?<process>{n}) \\((?<name>[^)\r\n]{1,64})\\)\
                  (?: score {n} or sacrifice child(?: Killed process {n} \\([^)\r\n]{1,64}\\))?)?\
                  (?:(?:,? UID {n},)? total-vm:{n}kB, anon-rss:(?<used>{n}kB))?",
        read: |found| Some(killed_in_container(found)),
        example: "Memory cgroup out of memory: Killed process 77 (train), UID 1000, total-vm:30720000kB, anon-rss:20971520kB, \
                  file-rss:0kB",
        meaning: "Linux ended a process because its container, job or service had reached its limit of memory.",
    },
    Message {
        pattern: "Detected {count} oom[-_]kill event(?:\\(s\\)|s)? in [^\\s,;]{1,80}",
        read: |found| {
            let instance = container::tasks_of_slurm(found.after);
            Some(Finding { instance, ..Finding::new(Kind::HostOutOfMemory) })
        },
        example: "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.batch. Some of your processes may have been killed \
                  by the cgroup out-of-memory handler.",
        meaning: "Slurm: the job reached the memory that was asked for, and processes of it were ended.",
    },
    Message {
        pattern: "(?<part>\\b)(?:(?<host>[A-Za-z0-9._-]{1,80}): )?(?<tasks>tasks? [0-9][0-9,-]*): Out Of Memory\\b",
        read: |found| {
            let on = found.word("host").map_or_else(String::new, |host| format!(" on {host}"));
            let instance = found.word("tasks").map(|tasks| readable(tasks.as_bytes()) + &on);
            Some(Finding { instance, ..Finding::new(Kind::HostOutOfMemory) })
        },
        example: "srun: error: node3: task 2: Out Of Memory",
        meaning: "Slurm ended a task of a job for want of memory.",
    },
    Message {
        // The unit depends on the version.
        pattern: "[Ee]xceeded (?:job |step )?memory limit(?: \\({n} > {n}\\), being killed| at some point)",
        read: host,
        example: "slurmstepd: error: StepId=7.batch exceeded memory limit (734003200 > 52428800), being killed",
        meaning: "Slurm: the job took more memory than was asked for.",
    },
    Message {
        pattern: "Native memory allocation \\([a-z]{1,20}\\) failed to (?:map|allocate) (?<requested>{n}) bytes(?: of memory)?\
                  (?: for [^\r\n]{1,80})?",
        read: host,
        example: "# Native memory allocation (mmap) failed to map 65536 bytes for committing reserved memory.",
        meaning: "A virtual machine of Java got no memory of the machine, outside of its heap.",
    },
    Message {
        pattern: "TERM_MEMLIMIT(?:: job killed after reaching LSF memory usage limit)?|job killed: (?:v?mem|pmem|pvmem) (?<used>{size}) \
                  exceeded limit (?<limit>{size})",
        read: |found| Some(found.finding(Kind::HostOutOfMemory).with_excess()),
        example: "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.",
        meaning: "LSF or PBS: the job took more memory than was asked for.",
    },
    Message {
        pattern: "(?:\"?[Rr]eason\"?[:=]\\s*\"?|\"?[Ss]tatus\"?[:=]\\s*\"?|(?m:^)[\\s\"(]*|terminated[:,]? \\(?|exited[:,]? |\\()OOMKilled\\b\
                  (?<is_not>\"?[:=]\\s*(?:false|0\\b)|[a-z\\x20]{1,20}: 0\\b)?(?:[\\s\\S]{1,20}?[Ee]xit[ _]?[Cc]ode\"?[:\\s]+137\\b\\)?)?",
        read: |found| {
            let is_said = found.word("is_not").is_none() && !container::is_query(found);
            is_said.then(|| container::killed(found.before, found.after))
        },
        example: "    Reason:       OOMKilled",
        meaning: "Kubernetes: a container reached its limit of memory and was ended. A GPU's memory is none of it.",
    },
    Message {
        // A line of `kubectl get pods`.
        pattern: "(?m:^)(?:[a-z0-9-]{1,63}[\\x20\t]+)?(?<pod>[a-z0-9][a-z0-9.-]{0,252})[\\x20\t]+{n}/{n}[\\x20\t]+(?:Init:)?OOMKilled\\b",
        read: |found| {
            let instance = found.word("pod").map(|pod| format!("pod {pod}"));
            Some(Finding { instance, ..Finding::new(Kind::HostOutOfMemory) })
        },
        example: "train-0   0/2     OOMKilled   3 (12s ago)   9m12s",
        meaning: "The same, as `kubectl get pods` lists it.",
    },
    Message {
        pattern: "The node was low on resource: memory(?:[.] Threshold quantity: {size}, available: (?<free>{size})[.]?)?\
                  (?:[.]? Container (?<container>[^\\s]{1,80}) was using (?<used>{size}))?",
        read: |found| {
            let instance = found.word("container").map(|name| format!("container {name}"));
            Some(Finding { instance, ..found.finding(Kind::HostOutOfMemory) })
        },
        example: "The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Mi. Container train was using \
                  30Gi, request is 0",
        meaning: "Kubernetes put a pod off a node that had hardly any memory left.",
    },
    Message {
        pattern: "[Hh]as been killed by the OOM killer",
        read: host,
        example: "train.service: A process of this unit has been killed by the OOM killer.",
        meaning: "systemd: Linux ended a process of a service for want of memory.",
    },
    Message {
        pattern: "(?<part>F|f)ailed with result 'oom-kill'",
        read: host,
        example: "train.service: Failed with result 'oom-kill'.",
        meaning: "The same, when the service ends.",
    },
    Message {
        pattern: "Killed (?<unit>/[^\\s]{1,400}) due to memory (?:pressure for [^\\s]{1,400} being [0-9.]{1,8}% > [0-9.]{1,8}%|\
                  used \\((?<used>{n})\\) / total \\((?<limit>{n})\\))",
        read: |found| {
            let unit = found.word("unit")?;
            let name = unit.rsplit('/').next().map(str::to_owned);
            Some(Finding { instance: name, ..found.finding(Kind::HostOutOfMemory) })
        },
        example: "systemd-oomd[512]: Killed /user.slice/user-1001.slice/train.scope due to memory pressure for /user.slice being \
                  71.20% > 60.00% for > 30s with reclaim activity",
        meaning: "systemd-oomd ended a service or session because the machine had hardly any memory left.",
    },
    Message {
        pattern: "(?:low memory! at or below SIG(?:TERM|KILL) limits[^\r\n]{0,160}\\s+)?sending SIG(?:TERM|KILL) to process \
                  (?<process>{n}) (?:uid {n} )?\"(?<name>[^\"\r\n]{1,64})\"(?:[^\r\n]{0,80}?VmRSS (?<used>{size}))?",
        read: |found| Some(killed(found)),
        example: "earlyoom[512]: sending SIGTERM to process 4242 uid 1001 \"python\": badness 845, VmRSS 30720 MiB",
        meaning: "earlyoom ended a process because the machine had hardly any memory left.",
    },
    Message {
        pattern: "\\b(?:[mc]|re|mm)alloc of size (?<requested>{n}) failed",
        read: host,
        example: "pyarrow.lib.ArrowMemoryError: malloc of size 8589934592 failed",
        meaning: "Arrow (pyarrow, datasets, Parquet) got no memory of the machine.",
    },
    Message {
        pattern: "(?:Task was killed due to the node running low on memory[.]? )?Memory on the node \\(IP: (?<address>[0-9A-Fa-f.:]{2,45})\
                  [^)\r\n]{0,200}\\) where the [^\r\n]{1,400}? was running was (?<used>{size}) / (?<limit>{size}) \
                  \\((?<share>[0-9.]{1,20})\\), which exceeds the memory usage threshold of (?<threshold>[0-9.]{1,8}[0-9])",
        read: |found| {
            Some(Finding { instance: node(found), ..found.finding(Kind::HostOutOfMemory) })
        },
        example: "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: \
                  10.0.0.1, ID: 0f3a) where the task (task ID: 45ff, name=train, pid=4242, memory used=21.30GB) was running was \
                  60.50GB / 62.00GB (0.975806), which exceeds the memory usage threshold of 0.95.",
        meaning: "Ray ended a task because the machine had hardly any memory left.",
    },
    Message {
        pattern: "(?<part>Task )was killed due to the node running low on memory",
        read: host,
        example: "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
        meaning: "The same without figures.",
    },
    Message {
        pattern: "(?<part>{count} )Workers? \\(tasks / actors\\) killed due to memory pressure \\(OOM\\)\
                  (?:[^\r\n]{0,80}? at node \\(ID: [^\\s,)]{1,80}, IP: (?<address>[0-9A-Fa-f.:]{2,45})\\))?",
        read: |found| {
            Some(Finding { instance: node(found), ..Finding::new(Kind::HostOutOfMemory) })
        },
        example: "(raylet) node_manager.cc:3007: 2 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed \
                  due to other reasons at node (ID: 0f3a, IP: 10.0.0.1)",
        meaning: "Ray ended workers because the machine had hardly any memory left.",
    },
    Message {
        pattern: "[Ww]orker (?<worker>[^\\s]{1,100}) \\(pid=(?<process>{n})\\) exceeded {n}% memory budget",
        read: |found| {
            let (worker, process) = (found.word("worker")?, found.word("process")?);
            let instance = Some(format!("worker {worker}, process {process}"));
            Some(Finding { instance, ..Finding::new(Kind::HostOutOfMemory) })
        },
        example: "distributed.nanny.memory - WARNING - Worker tcp://127.0.0.1:34567 (pid=1234) exceeded 95% memory budget. \
                  Restarting...",
        meaning: "Dask ended a worker that took more memory than it may.",
    },
    Message {
        pattern: "session crashed after using all available RAM",
        read: host,
        example: "Your session crashed after using all available RAM.",
        meaning: "Colab: the notebook took all memory of its machine.",
    },
    Message {
        pattern: "\\b(?:cc1plus|cc1|ld|as|collect2|cicc|ptxas|LLVM ERROR)(?:[.]exe)?: (?:error: )?(?:out of memory|memory exhausted)\
                  (?: allocating (?<requested>{n}) bytes(?: after a total of {n} bytes)?)?|virtual memory exhausted(?:: Cannot allocate memory)?",
        read: |found| Some(found.finding(Kind::HostOutOfMemory)),
        example: "cc1plus: out of memory allocating 65536 bytes after a total of 4294967296 bytes",
        meaning: "A compiler or linker got no memory of the machine.",
    },
];

#[expect(clippy::unnecessary_wraps, reason = "messages are read so")]
fn host(found: &MessageFound) -> Option<Finding> {
    Some(Finding {
        requested_bytes: found.number("requested"),
        ..Finding::new(Kind::HostOutOfMemory)
    })
}

/// A file of `/dev/shm`, whose name PyTorch writes without a directory, or one of a disk.
fn file(found: &MessageFound) -> Option<Finding> {
    let file = found.word("file")?;
    let is_shared =
        file.starts_with("/dev/shm/") || !file.trim_start_matches('/').contains(['/', '\\']);
    if is_shared {
        return Some(found.finding(Kind::HostSharedMemory));
    }
    // What a disk has no room for is no memory.
    let is_of_disk = found.captures.get_match().as_bytes();
    let is_of_disk = memchr::memmem::find(is_of_disk, b"No space left").is_some();
    (!is_of_disk).then(|| found.finding(Kind::HostOutOfMemory))
}

/// The machine of Ray by its address.
fn node(found: &MessageFound) -> Option<String> {
    Some(format!("node {}", found.word("address")?))
}

/// The kernel writes kB for 2¹⁰ bytes. What the process had in use is its share of the machine's memory.
fn killed(found: &MessageFound) -> Finding {
    let on = container::node_of_event(found.before)
        .map_or_else(String::new, |node| format!(" on {node}"));
    Finding {
        used_bytes: found.number("used"),
        instance: found
            .word("process")
            .zip(found.word("name"))
            .map(|(process, name)| format!("process {process} ({name}){on}")),
        ..Finding::new(Kind::HostOutOfMemory)
    }
}

/// What counts is what all processes of the container use; that one of them had is a part of it.
fn killed_in_container(found: &MessageFound) -> Finding {
    let finding = killed(found);
    let (used, limit) = container::kernel_usage(found.before).unzip();
    let own = finding.used_bytes.filter(|_| used.is_some());
    Finding {
        used_bytes: used.or(finding.used_bytes),
        limit_bytes: limit,
        breakdown: own
            .map(|bytes| UsedPart { name: "the process that was ended".to_owned(), bytes })
            .into_iter()
            .collect(),
        ..finding
    }
}
