//! What a failure happened in: whose device, which framework and server, what the program did, and what ran the job.
//!
//! It is decided here alone, by words. Those nearest to a failure count first: its message and line, its traceback, what the
//! same writer wrote before it and behind it, the whole log.

use std::sync::LazyLock;

use regex::bytes::{RegexSet, RegexSetBuilder};

use super::finding::Device;
use super::run_settings::{Framework, HostSystem, InferenceServer, RunPhase, RunSettings};

/// What a word tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clue {
    /// A device, or software that is for it alone. Programs for other GPUs have names of CUDA, too.
    Device(Device),
    /// A GPU of NVIDIA by its own name.
    Nvidia,
    Framework(Framework),
    Server(InferenceServer),
    Phase(RunPhase),
    /// Nothing is computed for gradients there, whatever program calls it.
    NoGradients,
    System(HostSystem),
}

/// Words of a clue. Of frameworks, servers and systems in one place the first counts.
const CLUES: &[(Clue, &str)] = &[
    (
        Clue::Device(Device::Rocm),
        r"\b(?:ROCm[0-9]*|rocm|ROCM|amdgpu|AMDGPU|MIOpen|RCCL|rccl|rocBLAS|rocblas|hip(?:Error|blas|MemAlloc|Malloc)[A-Za-z]*|HIP_VISIBLE_DEVICES|MI[23][0-9]{2}[XA]?|Radeon|gfx(?:9|1[0-2])[0-9a-f]{2,3})\b",
    ),
    (
        Clue::Device(Device::Xpu),
        r"\b(?:XPU|xpu|intel_extension_for_pytorch|level_zero|Level-Zero|oneCCL|SYCL[0-9]*|ZE_AFFINITY_MASK)\b",
    ),
    (
        Clue::Device(Device::Npu),
        r"\b(?:NPU|npu|torch_npu|[Aa]scend|ASCEND|HCCL|hccl|CANN[0-9]*|ASCEND_RT_VISIBLE_DEVICES)\b",
    ),
    (Clue::Device(Device::Mps), r"\b(?:MPS|mps|Apple M[0-9]|ggml_metal[a-z_]*|MLX|mlx)\b"),
    (Clue::Device(Device::Hpu), r"\b(?:HPU|hpu|habana[a-z_]*|Habana|Gaudi[0-9]?|HCL)\b"),
    (
        Clue::Device(Device::Neuron),
        r"\b(?:neuronx?|Neuron|NEURON_RT_[A-Z_]+|neuronx?_[a-z]+|trn[12]|inf[12]|NRT)\b",
    ),
    (
        Clue::Device(Device::Tenstorrent),
        r"\b(?:TT_FATAL|TT_THROW|ttnn|TT-NN|tt[-_]metal|TT-Metalium|libtt_metal|[Tt]enstorrent|Tensix)\b",
    ),
    (
        Clue::Device(Device::Tpu),
        r"\b(?:TPU|tpu|libtpu|LIBTPU_INIT_ARGS|TPU_[A-Z_]+|tpu_[a-z_]+|XLA:TPU)\b",
    ),
    (
        Clue::Device(Device::Ipu),
        r"\b(?:IPU|ipu|[Pp]oplar|poptorch|PopTorch|popart|PopART|poplibs|POPLAR_[A-Z_]+)\b",
    ),
    (
        Clue::Device(Device::Cuda),
        r"\b(?:CUDA|cuda|nvidia|NVIDIA|NCCL|nccl|cuDNN|CUBLAS|cuBLAS|CUDA_VISIBLE_DEVICES)\b|\bcu(?:da|blas|dnn)[A-Z][A-Za-z]+",
    ),
    (
        Clue::Nvidia,
        r"\b(?:nvidia-smi|NVIDIA|GeForce|RTX[ _-]?[0-9A]|Tesla [A-Z]|[AHB][1-3]00|L40S?|V100|CU(?:BLAS|DNN|SOLVER|SPARSE|FFT|RAND)_STATUS)",
    ),
    (
        Clue::Server(InferenceServer::Vllm),
        r"/vllm/|\bvllm (?:serve|API|bench)|\bvllm\.|\bvLLM\b|\bEngineCore|VllmWorker|non-default args",
    ),
    (
        Clue::Server(InferenceServer::Sglang),
        r"/(?:sglang|sgl)/|\bsglang\.|\bSGLang\b|ServerArgs\(|--mem-fraction-static|Scheduler hit an exception|\[[0-9-]{10} [0-9:]{8}(?: (?:DP|TP|PP|EP)[0-9]+)+\]",
    ),
    (
        Clue::Server(InferenceServer::TextGeneration),
        r"text_generation_(?:server|launcher)|text-generation-(?:server|launcher|inference)",
    ),
    (Clue::Server(InferenceServer::TensorRtLlm), r"\[TRT-LLM\]|tensorrt_llm|\btrtllm"),
    (Clue::Server(InferenceServer::LmDeploy), r"\blmdeploy\b|[Tt]urbo[Mm]ind|\[TM\]"),
    (
        Clue::Framework(Framework::Jax),
        r"\bjax(?:lib)?\b|\bJAX\b|\b(?:Xla|Jax)RuntimeError|\bflax\b|[Mm]ax[Tt]ext|\bjit_[a-z_]+|XLA_PYTHON_CLIENT",
    ),
    // Before TensorFlow, because Paddle has errors of the same names.
    (Clue::Framework(Framework::Other), r"\b[Pp]addle(?:[Pp]addle)?\b|/paddle/"),
    (
        Clue::Framework(Framework::TensorFlow),
        r"\btensorflow\b|\bTensorFlow\b|\b[Kk]eras\b|OP_REQUIRES|OOM when allocating tensor|ResourceExhaustedError|Dst tensor|\btf\.[a-z]",
    ),
    (
        Clue::Framework(Framework::PyTorch),
        r"\btorch(?:_xla)?\b|\b[Pp]y[Tt]orch\b|\bc10::|\bat::native\b|\btransformers\b|\bdiffusers\b|\bdeepspeed\b",
    ),
    (Clue::Framework(Framework::LlamaCpp), r"\bggml|\bllama(?:_|\.cpp)|\bgguf\b|\bollama\b|kIOGPU"),
    (
        // In another language, or with an allocator of its own.
        Clue::Framework(Framework::Other),
        r"\.rs:[0-9]|\bpanicked at\b|\bDriverError\(|\bcandle\b|\.jl:[0-9]|\bStacktrace:|\b(?:CUDA|AMDGPU|Metal)\.jl\b|\bHIPError\(|\bCuError\(|(?i:\b_?(?:catboost|xgboost|lightgbm|cupy|cudf|cuml|numba|faiss|opencv|taichi|gromacs|lammps|namd|openmm|blender|ffmpeg)\b)|terminate called|\.java:[0-9]|\bgoroutine [0-9]",
    ),
    (Clue::Phase(RunPhase::Optimizer), r"\boptimi[sz]er\.step\(|/optim/|\bexp_avg(?:_sq)?\b"),
    (Clue::Phase(RunPhase::Backward), r"\bbackward\(|\bin backward\b|/autograd/|\.grad\("),
    (
        Clue::NoGradients,
        r"\bno_grad\b|inference_mode|decorate_context|\bevaluation_loop\b|\b(?:in|\.)\s?evaluate\b|\b(?:eval|validation|predict(?:ion)?|test)_step\b|\.(?:generate|predict|transcribe|translate)\(|\bin (?:generate|predict|transcribe|translate)\b|/generation/",
    ),
    (
        Clue::Phase(RunPhase::Training),
        r"/?trainer\.py|\btraining_step|\btrain_step|TrainingArguments|Running training|\btrain(?:ing)?[._]|\b_?train\b|\btrain[a-z_]*\.py|\bin train|[Ff]ine-?[Tt]un|'loss'|\b[Ll]oss[ =:]|\b[Ee]pochs?\b|\bgrad_norm\b|\bgradient_|\boptimizer\b|\bjvp\(|\bdeepspeed\b|\bFSDP\b",
    ),
    (
        Clue::Phase(RunPhase::Images),
        r"\bdiffusers\b|[Cc]omfy(?:UI)?\b|\bKSampler\b|\bVAE\b|\bvae\b|\bautoencoder|[Ss]table[ -]?[Dd]iffusion",
    ),
    (
        Clue::Phase(RunPhase::Inference),
        r"/pipelines/|\bpredict\b|\binference\b|\binfer(?:ence)?\.py|\bgenerate\.py|\bwhisper\b|\btritonserver\b|(?i:\b(?:torchserve|uvicorn|gunicorn|fastapi|asgi|flask|gradio|streamlit)\b)|\bjit_(?:eval|generate|sample|decode|prefill)",
    ),
    (
        Clue::System(HostSystem::Windows),
        r"\bWinError\b|\b[A-Z]:\\|\.\.\\\w+\\|[Pp]aging file|\bos error 1455\b|\bWindows\b",
    ),
    (
        Clue::System(HostSystem::Pbs),
        r"\bPBS\b|\bjob killed: (?:v|p)?mem\b|\bPBS_[A-Z]+|\bqsub\b|\bResource_List\b",
    ),
    (Clue::System(HostSystem::Lsf), r"\bTERM_MEMLIMIT\b|\bLSF\b|\bLSB_[A-Z]+|\bbsub\b"),
    (Clue::System(HostSystem::HtCondor), r"\bslot[0-9_]+@|(?i:\b(?:ht)?condor\b|\bcondor_)"),
    (Clue::System(HostSystem::GridEngine), r"\bh_vmem\b|\bqacct\b|\bSGE\b|\bSGE_[A-Z]+"),
    (
        Clue::System(HostSystem::Slurm),
        r"\bslurm(?:stepd|d|_[a-z]+)?\b|\bSLURM\b|\bSLURM_[A-Z]+|\bSlurm\b|\bsrun:|\bsbatch\b|\boom[-_]kill event|\bStepId=",
    ),
    (
        Clue::System(HostSystem::Yarn),
        r"\bYARN\b|\byarn\b|\bNodeManager\b|\bspark\.|\bSparkContext\b",
    ),
    (
        Clue::System(HostSystem::Kubernetes),
        r"\bkubepods|\bOOMKilled\b|\bkube(?:let|ctl)\b|\bKubernetes\b|\bkubernetes\b|\bpods?/|\bPod\b|\bpod_name\b|\bhostNodeName\b|\bk8s\b",
    ),
    (Clue::System(HostSystem::Docker), r"\bdocker\b|\bpodman\b|/docker-|\bDocker\b"),
    (Clue::System(HostSystem::Systemd), r"\bsystemd(?:-oomd)?\b|[a-z0-9_-]+\.service\b"),
];

// [`Clues`] has a bit for each.
const _: () = assert!(CLUES.len() <= 64);

static WORDS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSetBuilder::new(CLUES.iter().map(|(_, words)| *words))
        .unicode(false)
        .build()
        .expect("constant expressions")
});

/// The clues in some text: a bit for each of [`CLUES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clues(u64);

impl Clues {
    /// What the lines of a text tell.
    pub fn of(text: &[u8]) -> Self {
        let mut found = Self::default();
        for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
            // `TPU available: False` and the like name what is not there.
            let is_absent = |words: &[u8]| memchr::memmem::find(line, words).is_some();
            if !(line.is_empty() || is_absent(b" available: False") || is_absent(b" not available"))
            {
                let bits = WORDS.matches(line).into_iter().map(|index| 1 << index);
                found.0 = bits.fold(found.0, |all, bit: u64| all | bit);
            }
        }
        found
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn clues(self) -> impl Iterator<Item = Clue> {
        let is_found = move |index: usize| self.0 & 1 << index != 0;
        CLUES
            .iter()
            .enumerate()
            .filter(move |(index, _)| is_found(*index))
            .map(|(_, (clue, _))| *clue)
    }

    fn has(self, clue: Clue) -> bool {
        self.clues().any(|found| found == clue)
    }

    /// The only device that is named, but for that of NVIDIA.
    fn device(self) -> Option<Device> {
        let mut named = self.clues().filter_map(|clue| match clue {
            Clue::Device(device) if device != Device::Cuda => Some(device),
            _ => None,
        });
        named.next().filter(|_| named.next().is_none())
    }

    fn framework(self) -> Option<Framework> {
        self.clues().find_map(|clue| match clue {
            Clue::Framework(framework) => Some(framework),
            _ => None,
        })
    }

    fn server(self) -> Option<InferenceServer> {
        self.clues().find_map(|clue| match clue {
            Clue::Server(server) => Some(server),
            _ => None,
        })
    }

    fn system(self) -> Option<HostSystem> {
        self.clues().find_map(|clue| match clue {
            Clue::System(system) => Some(system),
            _ => None,
        })
    }

    /// A phase, if its words are there.
    fn phase(self, phase: RunPhase) -> Option<RunPhase> {
        self.has(Clue::Phase(phase)).then_some(phase)
    }

    fn trains(self) -> bool {
        [RunPhase::Optimizer, RunPhase::Backward, RunPhase::Training]
            .iter()
            .any(|phase| self.has(Clue::Phase(*phase)))
    }

    /// What a traceback does in its calls.
    fn phase_of_calls(self) -> Option<RunPhase> {
        let without_gradients = || {
            self.has(Clue::NoGradients)
                .then(|| self.phase(RunPhase::Images).unwrap_or(RunPhase::Inference))
        };
        self.phase(RunPhase::Optimizer)
            .or_else(|| self.phase(RunPhase::Backward))
            .or_else(without_gradients)
            .or_else(|| self.phase(RunPhase::Training))
            .or_else(|| self.phase(RunPhase::Images))
            .or_else(|| self.phase(RunPhase::Inference))
    }

    /// What a program does of which lines say various things.
    fn phase_of_lines(self) -> Option<RunPhase> {
        if self.trains() {
            return Some(RunPhase::Training);
        }
        let serves = || {
            (self.has(Clue::NoGradients) || self.server().is_some()).then_some(RunPhase::Inference)
        };
        self.phase(RunPhase::Images).or_else(|| self.phase(RunPhase::Inference)).or_else(serves)
    }
}

/// The clues near a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailureClues {
    /// In its message, and in the line before it.
    pub own: Clues,
    /// In the traceback that ends with it.
    pub calls: Clues,
    /// In what its writer wrote before it, and behind it.
    pub before: Clues,
    pub behind: Clues,
}

impl FailureClues {
    /// The places of clues from the nearest on; the last is the whole log.
    fn places(self, log: Clues) -> [Clues; 5] {
        [self.own, self.calls, self.before, self.behind, log]
    }

    /// The device that the message and its traceback name.
    pub fn device_of_calls(self) -> Option<Device> {
        self.own.device().or_else(|| self.calls.device())
    }

    /// The device that the lines around it name, else the log.
    pub fn device_of_lines(self, log: Clues) -> Option<Device> {
        let places = self.places(log);
        let device = places.iter().skip(2).find_map(|place| place.device());
        let has_cuda = || places.iter().any(|place| place.has(Clue::Device(Device::Cuda)));
        // Whatever else is named: where it is unclear which, that of NVIDIA is no answer.
        let is_clear =
            !log.clues().any(|clue| matches!(clue, Clue::Device(device) if device != Device::Cuda));
        device.or_else(|| (is_clear && has_cuda()).then_some(Device::Cuda))
    }

    /// Whether words of CUDA are said by a program for GPUs of AMD.
    pub fn is_of_amd(self, log: Clues) -> bool {
        for place in self.places(log) {
            if place.has(Clue::Nvidia) {
                return false;
            }
            if place.device() == Some(Device::Rocm) {
                return true;
            }
        }
        false
    }

    /// What is known of the run.
    pub fn describe(self, log: Clues, run: &mut RunSettings) {
        let places = self.places(log);
        // Its message names the allocator's framework, whatever program has it.
        run.framework = places.iter().find_map(|place| place.framework());
        run.system = places.iter().find_map(|place| place.system());
        let near = [self.own, self.calls].into_iter().find_map(Clues::phase_of_calls);
        let far = || places.iter().skip(2).find_map(|place| place.phase_of_lines());
        run.phase = near.or_else(far);
        let computes_gradients = matches!(near, Some(RunPhase::Optimizer | RunPhase::Backward));
        let server = places.iter().find_map(|place| {
            // A program that trains may serve as well.
            place.server().map(Some).or_else(|| place.trains().then_some(None))
        });
        run.server = server.flatten().filter(|_| !computes_gradients);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is known of a run by lines before a failure, its calls and its own line.
    fn run(before: &str, calls: &str, own: &str) -> RunSettings {
        let clues = FailureClues {
            own: Clues::of(own.as_bytes()),
            calls: Clues::of(calls.as_bytes()),
            before: Clues::of(before.as_bytes()),
            behind: Clues::default(),
        };
        let mut run = RunSettings::default();
        clues.describe(Clues::of(b"PyTorch, JAX and TensorFlow are there"), &mut run);
        run
    }

    #[test]
    fn what_failed_is_known_by_the_nearest_words() {
        let phase = |before, calls| run(before, calls, "").phase;
        let trainer = "  File \"/a/transformers/trainer.py\", line 2, in train\n";
        assert_eq!(phase("{'loss': 2.1}", "    loss.backward()"), Some(RunPhase::Backward));
        assert_eq!(
            phase("", "  File \"/a/torch/optim/sgd.py\", line 9"),
            Some(RunPhase::Optimizer)
        );
        assert_eq!(
            phase("epoch 3", "    return model.generate(**batch)"),
            Some(RunPhase::Inference)
        );
        assert_eq!(phase("", trainer), Some(RunPhase::Training));
        assert_eq!(phase("epoch 3", ""), Some(RunPhase::Training));
        assert_eq!(phase("", "  File \"/a/diffusers/b.py\", line 1"), Some(RunPhase::Images));
        assert_eq!(phase("", ""), None);
        let server = |before, calls, own| run(before, calls, own).server;
        let vllm = "  File \"/a/vllm/worker.py\", line 3, in step\n";
        assert_eq!(server("", vllm, ""), Some(InferenceServer::Vllm));
        assert_eq!(server(vllm, trainer, ""), None);
        assert_eq!(server(vllm, "", ""), Some(InferenceServer::Vllm));
        let own = "[2026-01-02 03:04:05 DP1 TP3] CUDA error: out of memory";
        assert_eq!(server("", "", own), Some(InferenceServer::Sglang));
        assert_eq!(
            run("import torch", "", "jaxlib._jax.XlaRuntimeError").framework,
            Some(Framework::Jax)
        );
        assert_eq!(run("", "", "").framework, Some(Framework::Jax), "the log");
        assert_eq!(run("SLURM_JOB_ID=7", "", "").system, Some(HostSystem::Slurm));
    }

    #[test]
    fn a_gpu_of_amd_is_known_where_its_program_speaks_of_cuda() {
        let is_of_amd = |before: &str, log: &str| {
            let clues =
                FailureClues { before: Clues::of(before.as_bytes()), ..FailureClues::default() };
            clues.is_of_amd(Clues::of(log.as_bytes()))
        };
        assert!(is_of_amd("found 2 ROCm devices", ""));
        assert!(is_of_amd("", "Device 0: AMD Radeon RX 7900"));
        assert!(!is_of_amd("NVIDIA H100", "set HIP_VISIBLE_DEVICES on ROCm"));
        assert!(!is_of_amd("ROCm available: False", ""));
        assert!(!is_of_amd("", "CUDA 12.4"));
    }
}
