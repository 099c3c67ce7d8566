//! Messages about processes that were killed by signal 9. Who did it is not said: mostly the system, for want of
//! memory of the machine.

use super::container;
use super::finding::{Finding, Kind};
use super::message::{Message, MessageFound};

pub const MESSAGES: &[Message] = &[
    Message {
        pattern: "DataLoader worker (?:\\(pids? (?<process>{n})\\) )?is killed by signal: Killed",
        read: killed,
        example: "RuntimeError: DataLoader worker (pid 18123) is killed by signal: Killed.",
        meaning: "A worker of PyTorch's DataLoader was killed. Each worker may hold a copy of the data set and of prefetched \
                  batches.",
    },
    Message {
        pattern: "(?<part>DataLoader )worker \\(pid(?:\\(s\\))? (?<process>{n})(?:, {n})*\\) exited unexpectedly",
        read: killed,
        example: "RuntimeError: DataLoader worker (pid(s) 18123, 18124) exited unexpectedly",
        meaning: "Workers of PyTorch's DataLoader ended without an error of their own: mostly they were killed for want of \
                  memory of the machine.",
    },
    Message {
        pattern: "(?:exits?|exited|finished|failed|terminated|died|ended)[^\r\n]{0,60}?(?:return|exit)(?: |_)?code:?\\s*=?\\s*-9\\b|\
                  \\breturn(?: |_)?code\\s*[=:]\\s*-9\\b",
        read: killed,
        example: "[launch.py:321:sigkill_handler] ['/usr/bin/python', '-u', 'train.py', '--local_rank=3'] exits with return code = \
                  -9",
        meaning: "A launcher (DeepSpeed, PyTorch) says that a process was ended by signal 9.",
    },
    Message {
        pattern: "(?:exit(?: |_)?code\\s*[:=]\\s*|exit(?:ed)? with (?:exit )?code )-9\\b(?:[^\r\n]{0,60}?\\(?pid: (?<process>{n})\\))?",
        read: killed,
        example: "  exitcode  : -9 (pid: 18123)",
        meaning: "torchrun says that a process was ended by signal 9.",
    },
    Message {
        pattern: "(?<part>S)ignal 9 \\(SIGKILL\\) received by PID (?<process>{n})",
        read: killed,
        example: "traceback : Signal 9 (SIGKILL) received by PID 18123",
        meaning: "The same in the summary of torchrun.",
    },
    Message {
        pattern: "(?:died with <Signals[.]SIGKILL: 9>|terminated with signal SIGKILL|[{(]SIGKILL\\(-9\\)[^\r\n}]{0,80}[})])",
        read: killed,
        example: "subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGKILL: 9>.",
        meaning: "A process that Python started was ended by signal 9.",
    },
    Message {
        pattern: "process rank (?<rank>{n}) with PID {n} on node (?<node>[^\\s]{1,80}) exited on signal 9(?: \\(Killed\\))?",
        read: |found| {
            let instance = Some(format!("rank {} on {}", found.word("rank")?, found.word("node")?));
            Some(Finding { instance, ..Finding::new(Kind::ProcessKilled) })
        },
        example: "mpirun noticed that process rank 3 with PID 18123 on node n01 exited on signal 9 (Killed).",
        meaning: "mpirun says that a rank was ended by signal 9.",
    },
    Message {
        pattern: "task {n}: Killed\\b|KILLED BY SIGNAL: 9",
        read: killed,
        example: "srun: error: node3: task 2: Killed",
        meaning: "Slurm or MPI says that a task was ended by signal 9.",
    },
    Message {
        pattern: "[Ee]xit(?:ed)?(?: with)?(?:(?: |_)?[Cc]ode|[ _][Ss]tatus)?\"?\\s*[:=(]?\\s*137\\b|\\bError 137\\b",
        read: killed,
        example: "command terminated with exit code 137",
        meaning: "A process in a container or a shell was ended by signal 9 (128 + 9).",
    },
    Message {
        pattern: "(?:fatal error|error|internal compiler error): (?:Killed signal terminated program|Killed \\(program) (?<name>[a-z0-9+_-]{1,40})",
        read: |found| {
            Some(Finding { instance: found.word("name"), ..Finding::new(Kind::ProcessKilled) })
        },
        example: "c++: fatal error: Killed signal terminated program cc1plus",
        meaning: "A compiler was killed. Building CUDA extensions takes gigabytes for each file that is compiled at once.",
    },
    Message {
        pattern: "'?(?<name>cicc|ptxas|cudafe[+][+]|fatbinary|nvlink|nvcc)'? died due to signal 9",
        read: |found| {
            Some(Finding { instance: found.word("name"), ..Finding::new(Kind::ProcessKilled) })
        },
        example: "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
        meaning: "A part of NVIDIA's compiler was killed.",
    },
    Message {
        pattern: "(?:ld terminated with signal 9|unable to execute command: Killed|\\bsignal: killed\\b|\\(signal: 9, SIGKILL: kill\\))",
        read: killed,
        example: "collect2: fatal error: ld terminated with signal 9 [Killed]",
        meaning: "A linker or compiler was killed.",
    },
    Message {
        // As a shell says it.
        pattern: "(?m:^)(?:[^\\s:]{1,120}: line {n}:[\t\\x20]+(?<process>{n})[\t\\x20]+Killed[\t\\x20]+[^\r\n]{1,200}|\
                  zsh: killed[\t\\x20]+[^\r\n]{1,200}|make(?:\\[{n}\\])?: [*]{3} \\[[^\r\n\\]]{1,200}\\] Killed|[\t\\x20]*Killed[\t\\x20\r]*(?m:$))",
        read: killed,
        example: "./train.sh: line 12: 18123 Killed                  python train.py",
        meaning: "A shell says that a program was ended by signal 9.",
    },
];

#[expect(clippy::unnecessary_wraps, reason = "messages are read so")]
fn killed(found: &MessageFound) -> Option<Finding> {
    let rank = container::rank_of_torchrun(found);
    Some(Finding {
        instance: rank.or_else(|| Some(format!("process {}", found.word("process")?))),
        ..Finding::new(Kind::ProcessKilled)
    })
}
