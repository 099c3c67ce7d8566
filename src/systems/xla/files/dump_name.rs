//! Names of files of a dump (formats/xla.md 2): `[<microseconds>.]module_<number>.<module name>.<stage …>`.

/// A name of a file of a dump in its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DumpName<'a> {
    /// With what all files of the module begin: `12.module_0028.jit_step.`
    pub prefix: &'a str,
    /// The name of the module, which may have dots; empty where the name of the file would have been too long.
    pub module: &'a str,
}

/// What begins behind the name of a module: stages of the compiler, and what else it writes. Before that of a GPU stands
/// its architecture, before others of a TPU the number of the compiler's change list.
const BEHIND: [&str; 10] = [
    "after_codegen",
    "after_optimizations",
    "after_spmd_partitioner",
    "basic_compiler_metadata",
    "before_optimizations",
    "cpu_after_optimizations",
    "debug_options",
    "gpu_target_config",
    "oom_",
    "target_arguments",
];

impl<'a> DumpName<'a> {
    /// Of a name; `None` of what is called otherwise.
    pub fn of(name: &'a str) -> Option<Self> {
        let rest = name.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let (number, rest) = rest.strip_prefix("module_")?.split_once('.')?;
        // Without a stage that is known the name of the module is taken to have no dot.
        let (module, stage) = match stage_of(rest) {
            Some(stage) => {
                let module = rest.strip_suffix(stage)?;
                (module.strip_suffix('.').unwrap_or(module), stage)
            }
            None => rest.split_once('.')?,
        };
        let prefix = name.strip_suffix(stage)?;
        is_number(number).then_some(Self { prefix, module })
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit())
}

/// What is behind the name of a module, where it is known.
fn stage_of(rest: &str) -> Option<&str> {
    let is_known = |part: &str| {
        BEHIND.iter().any(|known| part.starts_with(known))
            || part.contains("gpu_after_optimizations")
    };
    let behind_dots = rest.rmatch_indices('.').map(|(dot, _)| dot.saturating_add(1));
    let at = behind_dots.chain([0]).find(|at| rest.get(*at..).is_some_and(is_known))?;
    let part_before = |at: usize| {
        let before = rest.get(..at)?.strip_suffix('.')?;
        let start = before.rfind('.').map_or(0, |dot| dot.saturating_add(1));
        Some((start, before.get(start..)?))
    };
    let with_before = |at: usize, word: &str| match part_before(at) {
        Some((start, part)) if part.strip_prefix(word).is_some_and(is_number) => start,
        _ => at,
    };
    // `sm_9.0a_gpu_after_optimizations`, `cl_933746096.after_optimizations`.
    rest.get(with_before(with_before(at, "sm_"), "cl_")..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_time_number_module_and_stage() {
        let of = |name: &'static str| DumpName::of(name).map(|one| (one.prefix, one.module));
        assert_eq!(
            of("1795309.module_0028.jit_step.cpu_after_optimizations-buffer-assignment.txt"),
            Some(("1795309.module_0028.jit_step.", "jit_step"))
        );
        assert_eq!(of("module_0001.f.sm_9.0a_gpu.hlo.pb"), Some(("module_0001.f.", "f")));
        for (name, prefix, module) in [
            ("module_0001.step.v2.before_optimizations.hlo.pb", "module_0001.step.v2.", "step.v2"),
            (
                "module_0003.Graph.35.sm_9.0a_gpu_after_optimizations.hlo.pb.gz",
                "module_0003.Graph.35.",
                "Graph.35",
            ),
            (
                "module_0003.Graph.35.gfx90a_gpu_after_optimizations-live-range.txt",
                "module_0003.Graph.35.",
                "Graph.35",
            ),
            (
                "7.module_0000.f.x.cl_93.after_optimizations-buffer-assignment.txt",
                "7.module_0000.f.x.",
                "f.x",
            ),
            ("module_0000.f.x.cl_93.target_arguments.txt", "module_0000.f.x.", "f.x"),
            ("module_0000.f.x.debug_options", "module_0000.f.x.", "f.x"),
            ("module_0000.cpu_after_optimizations.hlo.pb", "module_0000.", ""),
        ] {
            assert_eq!(of(name), Some((prefix, module)), "{name}");
        }
        for other in
            ["module_x.y.z", "a.txt", "buffer_assignment.pb", "module_0001.f", "x.module_1.a.b"]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
