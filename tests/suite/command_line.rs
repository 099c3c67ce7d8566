//! What shells and manuals are told of the command line, and what the program says of itself.

use std::process::{Command, Stdio};

use clap::{CommandFactory as _, ValueEnum as _};
use clap_complete::Shell;
use tilescope::cli::Arguments;

use crate::common::{tilescope, tilescope_in};

#[test]
fn completions_know_every_command_and_option() {
    let program = Arguments::command();
    for shell in Shell::value_variants() {
        let output = tilescope(&["completions", &shell.to_string()]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        let script = String::from_utf8(output.stdout).unwrap();
        for command in program.get_subcommands() {
            assert!(script.contains(command.get_name()), "{shell} {}", command.get_name());
        }
        assert!(script.contains("max-peak-bytes"), "{shell}");
    }
    assert_eq!(tilescope(&["completions", "cmd"]).status.code(), Some(2));
}

#[test]
fn zsh_takes_the_first_word_for_the_command() {
    let script = String::from_utf8(tilescope(&["completions", "zsh"]).stdout).unwrap();
    assert!(script.contains("case $line[1] in\n            (summary)"), "{script}");
    assert!(!script.contains("$line[2]") && !script.contains("\n'::runs"), "{script}");
    assert!(script.contains("\n': :{_tilescope_commands; _files}' \\\n"), "{script}");
}

#[test]
fn bash_can_read_its_completions() {
    let script = tilescope(&["completions", "bash"]).stdout;
    let mut bash =
        Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().expect("bash, as in scripts");
    std::io::Write::write_all(&mut bash.stdin.take().unwrap(), &script).unwrap();
    assert!(bash.wait().unwrap().success());
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().join("man/man1");
    let output = tilescope(&["man", pages.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap();
    assert!(page("tilescope.1").starts_with(".ie") && page("tilescope.1").contains(".TH"));
    for command in Arguments::command().get_subcommands() {
        let page = page(&format!("tilescope-{}.1", command.get_name()));
        assert!(page.contains("Examples:") && page.contains("tilescope"), "{page}");
        assert!(!page.contains('\u{1b}'), "{page}");
        let heading = page.lines().find(|line| line.starts_with(".TH")).unwrap();
        assert!(heading.contains(concat!("tilescope ", env!("CARGO_PKG_VERSION"))), "{heading}");
    }
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let output = tilescope(&["man", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains(file.to_str().unwrap()));
}

#[test]
fn the_version_begins_with_that_of_the_package() {
    let output = tilescope(&["--version"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with(concat!("tilescope ", env!("CARGO_PKG_VERSION"))), "{text}");
}

#[test]
fn help_has_no_styles_where_it_is_no_terminal() {
    for arguments in [&["--help"][..], &["-h"], &["help", "check"], &["check", "-h"]] {
        let text = String::from_utf8(tilescope(arguments).stdout).unwrap();
        assert!(!text.contains('\u{1b}') && text.contains("Options:"), "{text}");
        let mut lines = text.lines().filter(|line| !line.starts_with("Usage:"));
        assert!(lines.all(|line| line.chars().count() <= 100), "{text}");
    }
}

/// The demo of who names no system is small, and says at once what it does; the second time there is nothing to write.
#[cfg(target_os = "linux")]
#[test]
fn the_usual_demo_is_said_to_be_written_once() {
    let cache = tempfile::tempdir().unwrap();
    let demo = || {
        let output = Command::new(env!("CARGO_BIN_EXE_tilescope"))
            .arg("demo")
            .env("XDG_CACHE_HOME", cache.path())
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .output()
            .unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (directory, said) = demo();
    let directory = directory.trim();
    assert!(said.starts_with(&format!("Writing the demo into {directory}")), "{said}");
    let (same, said) = demo();
    assert_eq!(same.trim(), directory);
    assert!(!said.contains("Writing"), "{said}");
    let sweep = tilescope(&["sweep", directory, "--capacity", "8GiB"]);
    assert_eq!(sweep.status.code(), Some(0), "{}", String::from_utf8_lossy(&sweep.stderr));
    assert!(String::from_utf8_lossy(&sweep.stdout).contains("segments-0"));
}

/// Ctrl-C, the end of a job in Slurm, and a lost connection reach a command that is recorded.
#[cfg(unix)]
#[test]
fn a_recorded_command_can_be_ended() {
    use std::os::unix::process::ExitStatusExt as _;

    let directory = tempfile::tempdir().unwrap();
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let end = format!("kill -{name} $$; echo alive");
        let output = tilescope_in(directory.path(), &["record", "--", "sh", "-c", &end]);
        assert_eq!((output.status.signal(), output.stdout), (Some(number), Vec::new()), "{name}");
    }
}
