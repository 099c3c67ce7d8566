//! Files beside a module in a dump: the target that it was compiled for, and the flags of the compiler.

use std::path::Path;

use super::DumpName;
use crate::files;
use crate::store::hlo::{BesideModule, CapacityOf};

/// Bytes that are read of a small text.
const MOST_BYTES: usize = 1 << 20;

/// Endings of the names of such files.
const ENDINGS: [&str; 3] = ["gpu_target_config.pbtxt", "target_arguments.txt", "debug_options"];

/// The files of a directory that say for what its modules were compiled. It is listed once for all of them.
#[derive(Debug, Default)]
pub struct FilesBeside {
    /// Their names, sorted.
    names: Vec<String>,
    /// Whether files of several modules lie there.
    pub has_several_modules: bool,
}

impl FilesBeside {
    /// Lists those of a directory.
    pub fn of(directory: &Path) -> Self {
        let mut listed = Self::default();
        let mut module: Option<String> = None;
        let entries = files::listed(directory).into_iter().flatten();
        for name in entries.map(|entry| entry.file_name().to_string_lossy().into_owned()) {
            if let Some(DumpName { prefix, .. }) = DumpName::of(&name) {
                let first = module.get_or_insert_with(|| prefix.to_owned());
                listed.has_several_modules |= first != prefix;
            }
            if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
                listed.names.push(name);
            }
        }
        listed.names.sort();
        listed
    }

    /// The names that begin so.
    fn that_begin<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        let from = self.names.partition_point(|name| name.as_str() < prefix);
        let names = self.names.iter().skip(from).map(String::as_str);
        names.take_while(move |name| name.starts_with(prefix))
    }

    /// What they say of the module of a file of the dump.
    pub fn read(&self, path: &Path) -> BesideModule {
        let name = files::file_name(path);
        let mut beside = BesideModule::default();
        let Some(DumpName { prefix, .. }) = DumpName::of(&name) else { return beside };
        for name in self.that_begin(prefix) {
            let text = small_text(&path.with_file_name(name));
            if name.ends_with(ENDINGS[0]) {
                let stated = value_of(&text, "device_memory_size");
                if let Some(bytes) = stated.and_then(|bytes| bytes.parse().ok()) {
                    beside.set_capacity(bytes, name, CapacityOf::File);
                }
                beside.device = value_of(&text, "device_description_str");
                name.clone_into(&mut beside.device_file);
            } else if name.ends_with(ENDINGS[1]) {
                let version = value_of(&text, "version");
                let variant = value_of(&text, "variant");
                beside.device = version.map(|version| match variant {
                    Some(variant) => format!("{version} {variant}"),
                    None => version,
                });
                name.clone_into(&mut beside.device_file);
            } else {
                beside.flags = text.lines().filter_map(pair).collect();
            }
        }
        beside
    }
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
    use std::fs;

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
        let listed = FilesBeside::of(directory.path());
        assert!(listed.has_several_modules);
        let module = directory.path().join("module_0001.f.x_gpu_after_optimizations.hlo.pb");
        let beside = listed.read(&module);
        assert_eq!(beside.capacity_bytes, Some(849));
        let file = "module_0001.f.gpu_target_config.pbtxt";
        assert_eq!(beside.capacity_file.as_deref(), Some(file));
        assert_eq!(beside.device.as_deref(), Some("H"));
        assert_eq!(beside.device_file, file);
        let flags = [("xla_a", "true"), ("xla_b", "x y")];
        assert_eq!(beside.flags, flags.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
