//! Names of files of a dump (formats/xla.md 2): `[<microseconds>.]module_<number>.<module name>.<stage …>`.

/// A name of a file of a dump in its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DumpName<'a> {
    /// With what all files of the module begin: `12.module_0028.jit_step.`
    pub prefix: &'a str,
    /// The name of the module, or of the stage where the name of the file would have been too long.
    pub module: &'a str,
}

impl<'a> DumpName<'a> {
    /// Of a name; `None` of what is called otherwise.
    pub fn of(name: &'a str) -> Option<Self> {
        let rest = name.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let (number, rest) = rest.strip_prefix("module_")?.split_once('.')?;
        let (module, stage) = rest.split_once('.')?;
        let is_number = !number.is_empty() && number.bytes().all(|letter| letter.is_ascii_digit());
        let prefix = name.get(..name.len().saturating_sub(stage.len()))?;
        is_number.then_some(Self { prefix, module })
    }
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
        for other in
            ["module_x.y.z", "a.txt", "buffer_assignment.pb", "module_0001.f", "x.module_1.a.b"]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
