//! Advice about the memory of the machine. None of it frees memory of a device.

use super::{Finding, Sentence, led_by};
use crate::diagnose::run_settings::{Framework, HostSystem};
use crate::text::bytes;

const LIMITS: &str = "Look at what limits the process: `ulimit -v`, the memory of the container (`docker run --memory`), of \
    the job (Slurm `--mem`) or pod (`resources.limits.memory`); `dmesg` names the processes that the kernel ended.";

/// How more memory is given where it is known what ran the job.
fn more(system: HostSystem) -> &'static str {
    match system {
        HostSystem::Windows => {
            "Make the paging file larger (Advanced system settings, Performance, Virtual memory), or let Windows choose its size: it \
             promises memory only as long as RAM and paging file together can hold all of it."
        }
        HostSystem::Slurm => {
            "Ask Slurm for more memory: `#SBATCH --mem=…`, or `--mem-per-cpu=…`; `sacct -j JOB -o State,MaxRSS,ReqMem` tells \
             what the job took."
        }
        HostSystem::Pbs => {
            "Ask PBS for more memory: `#PBS -l select=1:mem=…` (Torque `-l mem=…`); `qstat -fx JOB` tells what the job took."
        }
        HostSystem::Lsf => {
            "Ask LSF for more memory: `bsub -M … -R \"rusage[mem=…]\"`; `bjobs -l JOB` tells what the job took."
        }
        HostSystem::HtCondor => {
            "Ask HTCondor for more memory: `request_memory = …` in the submit file; the log of the job tells what it took \
             (`MemoryUsage`)."
        }
        HostSystem::GridEngine => {
            "Ask Grid Engine for more memory: `-l h_vmem=…`; `qacct -j JOB` tells what the job took (`maxvmem`)."
        }
        HostSystem::Yarn => {
            "Give the containers of YARN more memory: in Spark `spark.executor.memory` and `spark.executor.memoryOverhead`, in which \
             the memory of Python lies, or the same of the driver."
        }
        HostSystem::Kubernetes => {
            "Give the container more memory: `resources.limits.memory` of the pod; `kubectl describe pod` tells its limit and how it \
             ended, `kubectl top pod` what it takes."
        }
        HostSystem::Docker => {
            "Give the container more memory: `docker run --memory=…`, of Docker Desktop the memory of its machine; `docker stats` \
             tells what it takes."
        }
        HostSystem::Systemd => {
            "Give the service more memory (`MemoryMax=` of its unit), or the machine; `journalctl -k` names the processes that were \
             ended."
        }
    }
}

const COMPILED: &str = "If it happens while compiling, compile on a machine with more memory, or fewer programs at the same \
    time, and keep what was compiled (JAX `jax_compilation_cache_dir`).";

const MAPPED: &str = "Check what limits the addresses of the process: a mapped file needs as many as it is long, even where little \
    of it is read (`ulimit -v`, `vm.overcommit_memory`, the limit of the job). Load it in parts, or on a machine with more memory.";

const LOAD: &str = "Load less at once: fewer worker processes and a shorter prefetch of the data loader, \
    files that are mapped instead of read, one copy of a data set instead of one per worker.";

const LOAD_WITHOUT_WORKERS: &str = "Load less at once: files that are mapped instead of read, and no copy of the whole data set in \
    each process of the run; the data loader has no processes of its own already.";

/// What raises the limit that a language has of its own, by words of its messages.
const LANGUAGES: [(&[&str], &str); 3] = [
    (
        &["java.lang", "Java heap", "GC overhead", "Native memory allocation", "object heap"],
        "Raise what the virtual machine may take: `-Xmx` for the heap (Spark `spark.executor.memory`, `spark.driver.memory`), \
         `-XX:MaxDirectMemorySize` and `-XX:MaxMetaspaceSize` for the rest; the machine must have it.",
    ),
    (
        &["JavaScript heap"],
        "Raise the limit of the heap, in MiB: `NODE_OPTIONS=--max-old-space-size=8192`.",
    ),
    (&["Allowed memory size"], "Raise PHP's `memory_limit`."),
];

const WEIGHTS: &str = "Load the weights once: not in every process of a node at the same time, and in their final precision.";

const COMPILE: &str = "Compile fewer files at the same time: `MAX_JOBS=2` for PyTorch's and vLLM's extensions, `make -j2`, \
    `ninja -j2`, `NVCC_THREADS=1`. One file with templates for attention takes several gigabytes.";

pub fn of(finding: &Finding) -> Vec<Sentence> {
    let amount = match (finding.requested_bytes, finding.used_bytes, finding.limit_bytes) {
        (_, Some(used), Some(limit)) => {
            format!(" {} of {} were in use.", bytes(used), bytes(limit))
        }
        (Some(requested), ..) => format!(" {} were asked for.", bytes(requested)),
        (None, Some(used), None) => {
            format!(" The process that was ended had {} in use.", bytes(used))
        }
        _ => String::new(),
    };
    let system = finding.run.system;
    let give =
        system.map_or("Give the job more memory of the machine, or see what else fills it.", more);
    let give = format!(
        "{give}{amount} This is not device memory: a smaller batch on the device does not help by itself."
    );
    let says = |word: &str| finding.text.contains(word);
    let own = if says("ibv_") || says("pinned") || says("on host") {
        Some(
            "Raise what a process may lock: `ulimit -l unlimited`, in a container `--ulimit memlock=-1`; or lock less: \
             `pin_memory=False`.",
        )
    } else if says("requires more system memory") {
        Some(
            "Take a smaller model, one with fewer bits a weight, or a shorter context (`num_ctx`); or let more of its layers lie on \
             the GPU (`num_gpu`).",
        )
    } else if says("paging file") {
        Some("Start fewer worker processes: each loads all libraries.")
    } else if says("the node") || says("(tasks / actors)") {
        Some(
            "Give Ray's tasks their need (`@ray.remote(memory=…)`), so that fewer run at once; `RAY_memory_usage_threshold` \
             moves the limit.",
        )
    } else if says("from file <") {
        Some(MAPPED)
    } else if is_compiler(finding) {
        Some(COMPILE)
    } else if let Some((_, own)) =
        LANGUAGES.iter().find(|(words, _)| words.iter().any(|word| says(word)))
    {
        Some(*own)
    } else {
        (finding.run.framework == Some(Framework::Jax)).then_some(COMPILED)
    };
    let limits = system.is_none().then_some(LIMITS);
    let load = (!is_of_model_server(finding)).then(|| load(finding));
    led_by(give, [limits, own, load, weights(finding)].into_iter().flatten())
}

/// Whether it was Ollama, which loads no data.
fn is_of_model_server(finding: &Finding) -> bool {
    finding.text.contains("requires more system memory")
}

/// A compiler has none, nor have programs in other languages.
fn weights(finding: &Finding) -> Option<&'static str> {
    let is_other = finding.run.framework == Some(Framework::Other) || is_of_model_server(finding);
    (!is_other && !is_compiler(finding)).then_some(WEIGHTS)
}

fn load(finding: &Finding) -> &'static str {
    if finding.run.has_no_workers { LOAD_WITHOUT_WORKERS } else { LOAD }
}

/// Whether it was a compiler that had no memory.
fn is_compiler(finding: &Finding) -> bool {
    [
        "cc1",
        "cicc",
        "ptxas",
        "cudafe",
        "nvcc",
        "collect2",
        "LLVM",
        "ld terminated",
        "make",
        "SIGKILL: kill",
    ]
    .iter()
    .any(|word| finding.text.contains(word))
}

/// `/dev/shm`, which containers have little of.
pub fn shared(finding: &Finding) -> Vec<Sentence> {
    let amount = finding
        .requested_bytes
        .map_or_else(String::new, |requested| format!(": {} were asked for", bytes(requested)));
    let run = finding.run;
    let raise = if run.has_host_ipc {
        format!(
            "Make room in the shared memory of the machine (`/dev/shm`), which this container has already{amount}: \
             `mount -o remount,size=…` on the machine."
        )
    } else if run.has_shm_size {
        format!(
            "Give the container more shared memory (`/dev/shm`) than its `--shm-size` says now{amount}, or that of the machine: \
             `--ipc=host`."
        )
    } else {
        format!(
            "Give the container more shared memory (`/dev/shm`){amount}. `docker run --shm-size=8g` or `--ipc=host`; in \
             Kubernetes an `emptyDir` with `medium: Memory` at `/dev/shm`. The default of Docker is 64 MiB."
        )
    };
    led_by(
        raise,
        [
            "Look at what is there now: `df -h /dev/shm`; files of processes that ended badly stay (`ls -l /dev/shm`).",
            "Hand over less: fewer workers (`num_workers`), a shorter `prefetch_factor`, smaller batches.",
            "If it cannot be raised, share through files: `torch.multiprocessing.set_sharing_strategy(\"file_system\")`.",
        ],
    )
}

/// Who sent the signal is not said.
pub fn killed(finding: &Finding) -> Vec<Sentence> {
    let system = finding.run.system;
    let tool = match system {
        Some(HostSystem::Kubernetes) => "`kubectl describe pod` (`OOMKilled`)",
        Some(HostSystem::Slurm) => {
            "`sacct -o State,MaxRSS,ReqMem`, on the node `dmesg | grep -i kill`"
        }
        Some(HostSystem::Docker) => "`docker inspect` (`OOMKilled`), `dmesg | grep -i kill`",
        Some(_) => "`dmesg | grep -i kill`",
        None => {
            "`dmesg | grep -i kill`, in Kubernetes `kubectl describe pod` (`OOMKilled`), in Slurm \
             `sacct -o State,MaxRSS,ReqMem`"
        }
    };
    let look = format!(
        "Look whether the system ended it for want of memory of the machine: {tool}. The message itself only says signal 9; a \
         person, a time limit or a scheduler can have sent it, too."
    );
    let own = if is_compiler(finding) { COMPILE } else { load(finding) };
    let give = system.map_or(
        "Give the job more memory of the machine (`docker run --memory`, Slurm `--mem`, `resources.limits.memory`), and \
         watch it: `free -m`, the container's `memory.max` and `memory.current`.",
        more,
    );
    led_by(look, [Some(own), Some(give), weights(finding)].into_iter().flatten())
}
