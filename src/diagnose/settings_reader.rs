//! What a run already does about memory, as its log says before it fails: the arguments of a command, a dump of them in
//! Python, YAML or JSON, what frameworks print.
//!
//! A setting counts with its value: `name=value`, `name: value`, a table's `name … value`, a flag on a line with a command.
//! Advice, comments, help texts and names without a value are mentions. What is said later is true of what fails later; a
//! command or a dump of arguments behind a failure begins another run, of which what was said before is not known. What
//! stands behind a failure is not read for it: it may be of the next run.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::message::regex;
use super::run_settings::{RunSettings, Sharding};

/// Bytes of a line before a name that are looked at.
const BEFORE: usize = 1024;
/// Bytes at the beginning of a log, and before each failure, in which settings are read.
const HEAD: usize = 1 << 16;
const WINDOW: usize = 1 << 16;
/// Bytes behind a name in which its value may lie.
const BEHIND: usize = 300;

/// Parts of the names of settings, and of what programs print.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        "checkpointing",
        "ecompute",
        "batch_size",
        "batch-size",
        "batch size per device = ",
        "bf16",
        "fp16",
        "bfloat16_enabled",
        "use_amp",
        "--amp",
        "precision",
        "Precision",
        "param_dtype",
        "8bit",
        "dafactor",
        "optim",
        "offload",
        "DeepSpeedCPUAdam",
        "zero_",
        "zero-stage",
        "ZeRO",
        "fsdp",
        "FSDP",
        "FullyShardedDataParallel(",
        "strategy",
        "zero/stage",
        "ipc",
        "hostIPC",
        "shm-size",
        "shm_size",
        "num_workers",
        "num-workers",
        "enforce_eager",
        "enforce-eager",
        "disable_cuda_graph",
        "disable-cuda-graph",
        "kv_cache_dtype",
        "kv-cache-dtype",
        "gpu_memory_utilization",
        "gpu-memory-utilization",
        "mem_fraction_static",
        "mem-fraction-static",
        // What begins a run.
        "ServerArgs(",
        "TrainingArguments(",
        "non-default args",
        "Namespace(",
        "accelerate launch",
        "torchrun ",
        "deepspeed ",
        "docker run",
        "podman run",
        "Running training",
    ];
    regex(&words.map(regex::escape).join("|"))
});

/// What says that a text is advice, or considers something.
static MENTION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i:\b(?:try|trying|consider\w*|please|want|wish|should|could|can|cannot|may|might|would|recommend\w*|suggest\w*|set|setting|enable|enabling|disable|disabling|reduc\w+|increas\w+|decreas\w+|lower|raise|instead|need|if|when|pass|passing|add|adding|usage|help|hint|tip|note|not|without|supports?)\b|(?:\A|[^-])\bdefaults?\b)",
    )
});

static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:python[0-9.]*|torchrun|accelerate|deepspeed|srun|mpirun|vllm|sglang|docker|podman|bash|launch|train|serve)\b|\.py\b|\.sh\b",
    )
});

/// A value within the braces behind a name.
static NESTED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"\A["']?\s*[:=]\s*\{[^{}]{0,240}?["']?(?:stage|enabled|device)["']?\s*[:=]\s*["']?([\w.+-]+)"#,
    )
});

/// Reads the settings in a log from one place to the next.
#[derive(Debug)]
pub struct SettingsReader {
    /// What is known at the last place.
    now: RunSettings,
    /// Whether it failed since its run began.
    has_failed: bool,
    /// What of the input is read, and where its head ends.
    done: usize,
    head: usize,
}

impl Default for SettingsReader {
    fn default() -> Self {
        Self { now: RunSettings::default(), has_failed: false, done: 0, head: HEAD }
    }
}

impl SettingsReader {
    /// What is said of a run before the line at a place; `is_failure` says whether
    /// something failed there.
    pub fn before(&mut self, log: &[u8], place: usize, is_failure: bool) -> RunSettings {
        self.read_head(log, place);
        if place > self.done {
            let from = self.done.max(place.saturating_sub(WINDOW));
            self.read(log, from, place);
            self.done = place;
        }
        self.has_failed |= is_failure;
        self.now
    }

    /// Reads the head of a log, as far as it lies before a place.
    pub fn read_head(&mut self, log: &[u8], place: usize) {
        let to = self.head.min(place);
        if to > self.done {
            self.read(log, self.done, to);
            self.done = to;
        }
    }

    /// The first bytes of the input are no longer there.
    pub fn forget(&mut self, bytes: usize) {
        self.done = self.done.saturating_sub(bytes);
        self.head = self.head.saturating_sub(bytes);
    }

    /// Reads a range of a log.
    fn read(&mut self, log: &[u8], from: usize, to: usize) {
        let range = log.get(from..to).unwrap_or_default();
        for found in WORDS.find_iter(range) {
            let start = from.saturating_add(found.start());
            self.word(log, start, start.saturating_add(found.len()));
        }
    }

    fn word(&mut self, log: &[u8], start: usize, end: usize) {
        let word = log.get(start..end).unwrap_or_default();
        let before = log.get(start.saturating_sub(BEFORE)..start).unwrap_or_default();
        let before = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let behind = log.get(end..log.len().min(end.saturating_add(BEHIND))).unwrap_or_default();
        if self.sign(word, before, behind) {
            return;
        }
        let is_name =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let name_start =
            before.iter().rposition(|byte| !is_name(byte)).map_or(0, |at| at.saturating_add(1));
        let name_end =
            behind.iter().position(|byte| !is_name(byte) || *byte == b'.').unwrap_or(behind.len());
        let (before, left) = before.split_at_checked(name_start).unwrap_or_default();
        let (right, behind) = behind.split_at_checked(name_end).unwrap_or_default();
        let whole = [left, word, right].concat();
        let is_flag = whole.starts_with(b"--");
        // `usage: a.py [--bf16]`
        if is_mention(before) || (is_flag && before.ends_with(b"[")) {
            return;
        }
        let whole = String::from_utf8_lossy(&whole).to_ascii_lowercase().replace('-', "_");
        let name = whole.rsplit('.').next().unwrap_or(&whole).trim_start_matches('_');
        if let Some(value) = value(behind) {
            self.now.set(name, &value);
        } else if is_flag && is_command(before, behind) {
            self.now.set(name, &flag_value(behind));
        }
    }

    /// Takes what a program prints; says whether it was that.
    fn sign(&mut self, word: &[u8], before: &[u8], behind: &[u8]) -> bool {
        let now = &mut self.now;
        match word {
            b"TrainingArguments("
            | b"Running training"
            | b"ServerArgs("
            | b"non-default args"
            | b"Namespace(" => self.begin(),
            b"accelerate launch" | b"torchrun " | b"deepspeed " | b"docker run" | b"podman run" => {
                if is_prompt(before) {
                    self.begin();
                }
            }
            b"batch size per device = " => {
                let size: Vec<u8> = behind.iter().copied().take_while(u8::is_ascii_digit).collect();
                now.is_single_of_device = Some(size == b"1");
            }
            b"checkpointing" if before.ends_with(b"incompatible with gradient ") => {
                now.has_checkpoints = true;
            }
            b"Precision"
                if before.ends_with(b"Automatic Mixed ")
                    || before.ends_with(b"utomatic mixed ") =>
            {
                now.is_mixed |= memchr::memmem::find(before, b"Using ").is_some();
            }
            b"precision" if before.ends_with(b"auto half ") || before.ends_with(b"amp half ") => {
                now.is_mixed |= memchr::memmem::find(before, b"Using ").is_some();
            }
            b"precision" if before.ends_with(b"Mixed ") && behind.starts_with(b" type: ") => {
                now.is_mixed = !behind.starts_with(b" type: no");
            }
            b"ZeRO" | b"zero/stage" => {
                let stage = behind.strip_prefix(b" stage ").or(behind.strip_prefix(b" Stage "));
                let stage = stage.or_else(|| (word == b"zero/stage").then_some(behind));
                let is_made =
                    word == b"zero/stage" || memchr::memmem::find(before, b"Creating").is_some();
                match stage.and_then(|stage| stage.iter().find(|byte| byte.is_ascii_digit())) {
                    Some(b'1' | b'2') if is_made => now.shard(Sharding::Optimizer),
                    Some(b'3') if is_made => now.shard(Sharding::Parameters),
                    _ => {}
                }
            }
            b"FullyShardedDataParallel(" => now.shard(Sharding::Parameters),
            b"DeepSpeedCPUAdam" => now.is_offloaded = true,
            _ => return false,
        }
        true
    }

    /// A command or a dump of arguments: of the same run, as long as nothing failed.
    fn begin(&mut self) {
        if self.has_failed {
            (self.now, self.has_failed) = (RunSettings::default(), false);
        }
    }
}

/// Whether what stands before a name in its line says that it is only spoken of.
fn is_mention(before: &[u8]) -> bool {
    let is_quoted = memchr::memchr_iter(b'`', before).count() % 2 == 1;
    let text = before.trim_ascii_start();
    is_quoted
        || text.starts_with(b"#")
        || text.starts_with(b"//")
        || memchr::memmem::find(before, b" # ").is_some()
        || MENTION.is_match(before.get(before.len().saturating_sub(120)..).unwrap_or_default())
}

/// Whether a command stands before a text in its line.
fn is_prompt(before: &[u8]) -> bool {
    let text = before.trim_ascii();
    let is_sign = matches!(text.last(), None | Some(b'+' | b'$' | b'#' | b'>' | b':' | b']'));
    (is_sign || text.contains(&b'=') || COMMAND.is_match(text)) && !is_mention(before)
}

/// Whether a flag stands in a command: behind a program, or in one of the lines that it goes on in.
fn is_command(before: &[u8], behind: &[u8]) -> bool {
    let line = behind.split(|byte| *byte == b'\n').next().unwrap_or_default();
    COMMAND.is_match(before)
        || (before.trim_ascii().is_empty() && line.trim_ascii_end().ends_with(b"\\"))
}

/// The value behind a name and a sign.
fn value(behind: &[u8]) -> Option<String> {
    if let Some(nested) = NESTED.captures(behind).and_then(|nested| nested.get(1)) {
        return Some(lower(nested.as_bytes()));
    }
    let rest = behind.strip_prefix(b"\"").or(behind.strip_prefix(b"'")).unwrap_or(behind);
    let rest = trim_blanks(rest);
    let dots = rest.iter().take_while(|byte| **byte == b'.').count();
    let rest = match rest.first() {
        Some(b'=' | b':' | b'|') => rest.get(1..),
        _ if dots > 2 => rest.get(dots..),
        _ if rest.starts_with("│".as_bytes()) => rest.get("│".len()..),
        _ => None,
    }?;
    Some(first_word(rest)).filter(|value| !value.is_empty())
}

/// The value of a flag: the next word, if it is none of its own.
fn flag_value(behind: &[u8]) -> String {
    let rest = behind.strip_prefix(b"',").or(behind.strip_prefix(b"\",")).unwrap_or(behind);
    let value = first_word(rest);
    let is_other = value.is_empty() || value.starts_with('-') || value.contains(".py");
    if is_other { "true".to_owned() } else { value }
}

fn trim_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    text.get(blanks..).unwrap_or_default()
}

fn first_word(text: &[u8]) -> String {
    let text = trim_blanks(text);
    let quotes = text.iter().take_while(|byte| matches!(byte, b'"' | b'\'' | b'[' | b'<')).count();
    let text = text.get(quotes..).unwrap_or_default();
    let is_value =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+');
    lower(&text.iter().take_while(is_value).copied().collect::<Vec<u8>>())
}

/// In small letters, without the name of an enumeration before it.
fn lower(word: &[u8]) -> String {
    let word = String::from_utf8_lossy(word).to_ascii_lowercase();
    let word = word.trim_end_matches('.');
    let last = word.rsplit_once('.').filter(|(of, _)| !of.ends_with(|c: char| c.is_ascii_digit()));
    last.map_or(word, |(_, last)| last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(log: &str) -> RunSettings {
        SettingsReader::default().before(log.as_bytes(), log.len(), false)
    }

    #[test]
    fn arguments_in_any_form_are_read() {
        for log in [
            "TrainingArguments(\nbf16=True,\ngradient_checkpointing=True,\nper_device_train_batch_size=1,\n)\n",
            "{'train_micro_batch_size_per_gpu': 1, 'activation_checkpointing': True, 'fp16': {'enabled': True, 'loss_scale': 0}}\n",
            "  micro_batch_size ........................ 1\n  bf16 .................... True\n  recompute_granularity ... full\n",
            "model.batch_size: 1\nuse_gradient_checkpointing: unsloth\nprecision: 16-mixed\n",
            "+ python -m train --train-batch-size 1 --mixed_precision bf16 --gradient-checkpointing\n",
            "cmd: ['torchrun', 'a.py', '--batch_size', '1', '--fp16', '--gradient_checkpointing', 'True']\n",
            "accelerate launch a.py \\\n  --batch_size 1 \\\n  --gradient_checkpointing \\\n  --mixed_precision=fp16 \\\n",
            "  Instantaneous batch size per device = 1\n`use_cache=True` is incompatible with gradient checkpointing. Setting \
             `use_cache=False`.\nUsing 16bit Automatic Mixed Precision (AMP)\n",
            "| batch_size | 1 |\n| gradient_checkpointing | true |\n| bf16 | true |\n",
        ] {
            let run = read(log);
            assert!(run.is_single_sample(), "{log}: {run:?}");
            assert!(run.has_checkpoints, "{log}: {run:?}");
            assert!(run.is_half(), "{log}: {run:?}");
        }
    }

    #[test]
    fn what_is_only_spoken_of_does_not_count() {
        for log in [
            "you may want gradient_checkpointing=True and batch_size=1\n",
            "Try setting bf16=True, enforce_eager=True.\n",
            "gradient_checkpointing: false\nbf16=False\nmixed_precision: 'no'\nzero_stage: 0\nfsdp=[],\nenforce_eager=False\n",
            "# gradient_checkpointing: true\n",
            "usage: python train.py [--bf16] [--gradient_checkpointing]\n  --bf16  Whether to compute in half precision\n",
            "    def __init__(self, gradient_checkpointing: bool = False, bf16: Optional[bool] = None)\n",
            "Use `gradient_checkpointing=True` for less memory\n",
            "eval_batch_size: 1\nmax_batch_size=1\nglobal_batch_size: 64\nper_device_train_batch_size=8\nbatch_size=1\n",
            "num_workers=4\nipc=private\n",
        ] {
            let run = read(log);
            assert!(
                !run.is_single_sample() && !run.is_half() && !run.has_checkpoints,
                "{log}: {run:?}"
            );
            assert!(!run.is_eager && !run.has_no_workers && !run.has_host_ipc, "{log}: {run:?}");
            assert_eq!(run.sharding, Sharding::None, "{log}");
        }
    }

    #[test]
    fn shards_servers_and_containers_are_read() {
        let sharded = |log| read(log).sharding;
        assert_eq!(
            sharded("fsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n"),
            Sharding::Parameters
        );
        assert_eq!(
            sharded("sharding_strategy=ShardingStrategy.SHARD_GRAD_OP\n"),
            Sharding::Optimizer
        );
        assert_eq!(
            sharded("  \"zero_optimization\": {\n    \"stage\": 3,\n"),
            Sharding::Parameters
        );
        assert_eq!(
            sharded("[Rank 0] Creating torch.bfloat16 ZeRO stage 2 optimizer\n"),
            Sharding::Optimizer
        );
        assert_eq!(
            sharded("  File \"/a/deepspeed/runtime/zero/stage3.py\", line 7, in step\n"),
            Sharding::Parameters
        );
        assert_eq!(sharded("ZeRO stage 3 would help\n"), Sharding::None);
        assert!(read("optim=paged_adamw_8bit,\n").has_small_optimizer);
        assert!(read("\"offload_optimizer\": {\"device\": \"cpu\"}\n").is_offloaded);
        assert!(read("+ docker run --gpus all --ipc=host a:1\n").has_host_ipc);
        assert!(read("    shm_size: '16gb'\n").has_shm_size);
        let vllm = read(
            "non-default args: {'kv_cache_dtype': 'fp8_e4m3', 'enforce_eager': True, 'gpu_memory_utilization': 0.9}\n",
        );
        assert_eq!(vllm.utilization, Some(90));
        assert!(vllm.is_eager && vllm.has_small_cache);
        let sglang = read("server_args=ServerArgs(model_path='m', mem_fraction_static=0.885)\n");
        assert_eq!(sglang.static_fraction, Some(88));
    }

    #[test]
    fn another_run_begins_behind_a_failure() {
        let mut reader = SettingsReader::default();
        let log = b"+ torchrun a.py --bf16\nfailed\nbf16=True\n+ torchrun a.py\nfailed\n";
        let second = log.len() - 7;
        assert!(reader.before(log, 23, true).is_half());
        assert!(!reader.before(log, second, true).is_half());
    }
}
