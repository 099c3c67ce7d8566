//! Files beside a module in a dump: the target that it was compiled for, and the flags of the compiler.

use std::fs;
use std::path::Path;

use super::DumpName;
use crate::files;
use crate::store::hlo::{BesideModule, CapacityOf};

/// Bytes that are read of a small text.
const MOST_BYTES: usize = 1 << 20;

/// What lies beside the module of a file of a dump.
pub fn beside(path: &Path) -> BesideModule {
    let name = files::file_name(path);
    let mut beside = BesideModule::default();
    let Some(DumpName { prefix, .. }) = DumpName::of(&name) else { return beside };
    let directory = files::directory_of(path);
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(rest) = name.strip_prefix(prefix) else { continue };
        if rest.ends_with("gpu_target_config.pbtxt") {
            let text = small_text(&entry.path());
            let stated = value_of(&text, "device_memory_size").and_then(|bytes| bytes.parse().ok());
            if let Some(bytes) = stated {
                beside.set_capacity(bytes, &name, CapacityOf::File);
            }
            beside.device = value_of(&text, "device_description_str");
            beside.device_file = name;
        } else if rest.ends_with("target_arguments.txt") {
            let text = small_text(&entry.path());
            let version = value_of(&text, "version");
            let variant = value_of(&text, "variant");
            beside.device = version.map(|version| match variant {
                Some(variant) => format!("{version} {variant}"),
                None => version,
            });
            beside.device_file = name;
        } else if rest.ends_with("debug_options") {
            beside.flags = small_text(&entry.path()).lines().filter_map(pair).collect();
        }
    }
    beside
}

fn small_text(path: &Path) -> String {
    let Ok(file) = files::open(path) else { return String::new() };
    let mut bytes = vec![0; MOST_BYTES];
    let read = files::read_up_to_at(&file, &mut bytes, 0).unwrap_or(0);
    String::from_utf8_lossy(bytes.get(..read).unwrap_or_default()).into_owned()
}

/// A line `name: value`, the value without quotes.
fn pair(line: &str) -> Option<(String, String)> {
    let (name, value) = line.trim().split_once(": ")?;
    Some((name.to_owned(), value.trim().trim_matches('"').to_owned()))
}

/// The value of the first line with a name.
fn value_of(text: &str, name: &str) -> Option<String> {
    text.lines().filter_map(pair).find(|(known, _)| known == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_and_flags_are_read_from_beside() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        write(
            "module_0001.f.gpu_target_config.pbtxt",
            "a {\n  device_memory_size: 849\n}\ndevice_description_str: \"H\"\n",
        );
        write("module_0002.f.gpu_target_config.pbtxt", "device_memory_size: 1\n");
        write("module_0001.f.debug_options", "xla_a: true\nxla_b: \"x y\"\n");
        let beside =
            beside(&directory.path().join("module_0001.f.x_gpu_after_optimizations.hlo.pb"));
        assert_eq!(beside.capacity_bytes, Some(849));
        let file = "module_0001.f.gpu_target_config.pbtxt";
        assert_eq!(beside.capacity_file.as_deref(), Some(file));
        assert_eq!(beside.device.as_deref(), Some("H"));
        let flags = [("xla_a", "true"), ("xla_b", "x y")];
        assert_eq!(beside.flags, flags.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
