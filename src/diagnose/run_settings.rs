//! What a run is, and what it does about memory: its settings by their names.

/// A program that serves requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InferenceServer {
    Vllm,
    Sglang,
    TextGeneration,
    TensorRtLlm,
    LmDeploy,
}

/// What computes on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framework {
    PyTorch,
    Jax,
    TensorFlow,
    /// llama.cpp, and programs that have it.
    LlamaCpp,
    /// A program in another language than Python, or with an allocator of its own.
    Other,
}

/// What a program did when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPhase {
    Training,
    /// It computed gradients.
    Backward,
    /// The optimizer changed the parameters.
    Optimizer,
    Inference,
    /// It made images.
    Images,
}

/// What ran a job, and limits its memory of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostSystem {
    Windows,
    Slurm,
    Pbs,
    Lsf,
    HtCondor,
    GridEngine,
    Yarn,
    Kubernetes,
    Docker,
    Systemd,
}

/// How much of the state of training is divided among devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
pub enum Sharding {
    #[default]
    None,
    /// The optimizer's state, and gradients.
    Optimizer,
    /// Parameters as well.
    Parameters,
}

/// What the log says that the run does.
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSettings {
    /// Activations are computed again.
    pub has_checkpoints: bool,
    /// The optimizer has little state, or keeps it in the memory of the machine.
    pub has_small_optimizer: bool,
    pub sharding: Sharding,
    pub is_offloaded: bool,
    /// A container has the shared memory of the machine.
    pub has_host_ipc: bool,
    /// A container was given shared memory.
    pub has_shm_size: bool,
    /// The data loader has no processes.
    pub has_no_workers: bool,
    pub is_eager: bool,
    pub has_small_cache: bool,
    /// Parts of the device that a server may have, in percent.
    pub utilization: Option<u8>,
    pub static_fraction: Option<u8>,
    pub server: Option<InferenceServer>,
    pub framework: Option<Framework>,
    pub phase: Option<RunPhase>,
    pub system: Option<HostSystem>,
    is_bf16: bool,
    is_fp16: bool,
    pub is_mixed: bool,
    /// Whether a device computes one sample at once, as a setting of a device says, and as one that may be of all.
    pub is_single_of_device: Option<bool>,
    is_single: bool,
}

impl RunSettings {
    /// Whether it computes in half precision.
    pub fn is_half(&self) -> bool {
        self.is_bf16 || self.is_fp16 || self.is_mixed
    }

    /// Whether it is known to compute no gradients.
    pub fn is_inference(&self) -> bool {
        self.server.is_some() || matches!(self.phase, Some(RunPhase::Inference | RunPhase::Images))
    }

    /// Whether it may train with one of the frameworks that compute gradients.
    pub fn may_train(&self) -> bool {
        !self.is_inference()
            && !matches!(self.framework, Some(Framework::LlamaCpp | Framework::Other))
    }

    /// Whether a device computes one sample at once.
    pub fn is_single_sample(&self) -> bool {
        self.is_single_of_device.unwrap_or(self.is_single)
    }

    /// Takes what a setting says. `name` has only small letters and `_`.
    pub fn set(&mut self, name: &str, value: &str) {
        let truth = match value {
            "true" | "1" | "yes" | "on" => Some(true),
            "false" | "0" | "no" | "off" | "none" | "null" => Some(false),
            _ => None,
        };
        let is = |flag: &mut bool| *flag = truth.unwrap_or(*flag);
        let has = |part: &str| name.contains(part);
        match name {
            "bf16" | "bf16_enabled" | "bfloat16_enabled" => {
                self.is_bf16 = truth.unwrap_or(self.is_bf16 || value == "auto");
            }
            "fp16" | "fp16_enabled" => is(&mut self.is_fp16),
            "amp" | "use_amp" | "amp_enabled" => is(&mut self.is_mixed),
            "mixed_precision" | "precision" | "mixed_precision_param" | "param_dtype" => {
                let is_half = ["16", "half", "fp8"].iter().any(|word| value.contains(word));
                let is_full = value.starts_with("no") || value.contains("32") || value == "fp64";
                if is_half || is_full || truth.is_some() {
                    self.is_mixed = is_half || truth == Some(true);
                }
            }
            "recompute_granularity" => self.has_checkpoints = matches!(value, "full" | "selective"),
            "recompute_activations"
            | "activation_recomputation"
            | "use_recompute"
            | "recompute" => {
                is(&mut self.has_checkpoints);
            }
            "use_8bit_adam" | "use_adafactor" | "adafactor" => is(&mut self.has_small_optimizer),
            "optim" | "optimizer" | "optimizer_type" | "optimizer_name" => {
                self.has_small_optimizer =
                    ["8bit", "4bit", "adafactor", "lomo", "galore", "apollo"]
                        .iter()
                        .any(|word| value.contains(word));
            }
            "offload_optimizer"
            | "offload_optimizer_device"
            | "cpu_offload"
            | "offload_param"
            | "offload_param_device"
            | "fsdp_offload_params"
            | "offload_params" => {
                self.is_offloaded |= truth == Some(true) || matches!(value, "cpu" | "nvme");
            }
            "zero_stage" | "zero_optimization_stage" | "zero_optimization" => {
                self.shard(match value.parse() {
                    Ok(0_u8) => Sharding::None,
                    Ok(1 | 2) => Sharding::Optimizer,
                    Ok(3) => Sharding::Parameters,
                    _ => return,
                });
            }
            "fsdp"
            | "fsdp_sharding_strategy"
            | "sharding_strategy"
            | "distributed_type"
            | "strategy" => {
                self.shard(match value {
                    "fsdp" | "fsdp2" | "full_shard" | "hybrid_shard" | "1" => Sharding::Parameters,
                    "shard_grad_op" | "2" => Sharding::Optimizer,
                    "no_shard" | "ddp" | "no" => Sharding::None,
                    _ if value.contains("stage_3") => Sharding::Parameters,
                    _ if value.contains("stage_2") => Sharding::Optimizer,
                    "true" if name == "fsdp" => Sharding::Parameters,
                    _ => return,
                });
            }
            "ipc" | "hostipc" => self.has_host_ipc = matches!(value, "host" | "true"),
            "shm_size" => self.has_shm_size = value.starts_with(|c: char| c.is_ascii_digit()),
            "num_workers" | "dataloader_num_workers" | "n_workers" => {
                self.has_no_workers = value == "0";
            }
            "enforce_eager" | "disable_cuda_graph" => is(&mut self.is_eager),
            "kv_cache_dtype" => {
                self.has_small_cache = value.contains("fp8") || value.contains("int8");
            }
            "gpu_memory_utilization" => self.utilization = percent(value).or(self.utilization),
            "mem_fraction_static" => self.static_fraction = percent(value).or(self.static_fraction),
            _ if has("checkpointing") && is_of_checkpoints(name) => match value {
                "unsloth" | "full" | "selective" | "offload" => self.has_checkpoints = true,
                _ => is(&mut self.has_checkpoints),
            },
            _ if is_of_batch(name) => {
                if let Ok(size) = value.parse::<u64>() {
                    let is_of_device =
                        ["micro", "per_device", "per_gpu", "per_rank"].iter().any(|part| has(part));
                    if is_of_device {
                        self.is_single_of_device = Some(size == 1);
                    } else {
                        self.is_single = size == 1;
                    }
                }
            }
            _ => {}
        }
    }

    pub fn shard(&mut self, sharding: Sharding) {
        // A dump names the same thing several times, and not each name is used.
        if sharding == Sharding::None || sharding > self.sharding {
            self.sharding = sharding;
        }
    }
}

/// A part of 1 in percent.
fn percent(value: &str) -> Option<u8> {
    let decimals = value.strip_prefix("0.")?;
    let two: String = decimals.chars().chain(['0', '0']).take(2).collect();
    two.parse().ok()
}

fn is_of_checkpoints(name: &str) -> bool {
    const WHOLE: [&str; 3] =
        ["gradient_checkpointing", "activation_checkpointing", "grad_checkpointing"];
    WHOLE.iter().any(|whole| name.ends_with(whole))
}

/// Whether a name is that of the samples that a training step computes at once on a device.
fn is_of_batch(name: &str) -> bool {
    let is_size =
        ["batch_size", "batch_size_per_gpu", "batch_size_per_device", "batch_size_per_rank"]
            .iter()
            .any(|whole| name.ends_with(whole));
    let others = [
        "eval", "val", "test", "infer", "max", "min", "global", "total", "prefill", "decode",
        "auto", "gen", "rollout", "ref", "mini",
    ];
    is_size && !name.split('_').any(|word| others.iter().any(|other| word.starts_with(other)))
}
