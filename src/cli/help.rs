//! The help of the program: its commands in groups, and examples for each of them.

use std::sync::LazyLock;

use anstyle::Style;
use clap::Subcommand as _;
use clap::builder::Styles;

use super::CliCommand;
use super::output::wrapped;

/// Commands that serve one purpose.
struct CommandGroup {
    title: &'static str,
    commands: &'static [CommandHelp],
}

/// What the help says of a command beside its own words.
struct CommandHelp {
    name: &'static str,
    /// Command lines that can be typed as they are, with a run of one's own.
    examples: &'static [&'static str],
}

const fn command(name: &'static str, examples: &'static [&'static str]) -> CommandHelp {
    CommandHelp { name, examples }
}

/// Every command that is listed, in the order of the help.
const GROUPS: [CommandGroup; 5] = [
    CommandGroup {
        title: "Record a run",
        commands: &[command(
            "record",
            &[
                "tilescope record -- python train.py",
                "tilescope record -o runs/batch-8 batch=8 -- torchrun --nproc-per-node 4 train.py",
                "srun tilescope record -o run -- python train.py",
            ],
        )],
    },
    CommandGroup {
        title: "Look at a run",
        commands: &[
            command(
                "summary",
                &[
                    "tilescope summary run.pickle",
                    "tilescope summary dump --module train_step --capacity H100",
                    "zstd -dc run.pickle.zst | tilescope summary - --json",
                ],
            ),
            command(
                "liveness",
                &[
                    "tilescope liveness run.pickle --step peak --by module",
                    "tilescope liveness run.pickle --peaks 3",
                    "tilescope liveness dump --csv > curve.csv",
                ],
            ),
            command(
                "map",
                &["tilescope map run.pickle --arena 0", "tilescope map report --tile 39 --step 12"],
            ),
            command(
                "ops",
                &["tilescope ops report", "tilescope ops report --by module --csv > modules.csv"],
            ),
            command("tiles", &["tilescope tiles report --tile 0-15,39 --by category"]),
            command("trace", &["tilescope trace report --from 100000 --to 300000"]),
            command(
                "diagnose",
                &[
                    "tilescope diagnose train.log",
                    "python train.py 2>&1 | tilescope diagnose -",
                    "tilescope diagnose train.log 'rank*.pickle'",
                ],
            ),
        ],
    },
    CommandGroup {
        title: "Compare runs",
        commands: &[
            command(
                "compare",
                &[
                    "tilescope compare before.pickle after.pickle",
                    "tilescope compare before after --by operation",
                ],
            ),
            command(
                "sweep",
                &[
                    "tilescope sweep runs --capacity A100-80GB",
                    "tilescope sweep runs --by batch --and checkpoint",
                ],
            ),
        ],
    },
    CommandGroup {
        title: "Automate",
        commands: &[
            command(
                "check",
                &[
                    "tilescope check run.pickle --must-fit --capacity 24GiB",
                    "tilescope check run --max-peak-bytes 16GB --format junit > memory.xml",
                    "tilescope check run --max-growth 2 --baseline main/run --format github",
                ],
            ),
            command(
                "report",
                &[
                    "tilescope report run -o run.html",
                    "tilescope report before after -o change.html",
                ],
            ),
            command(
                "render",
                &["tilescope render run.pickle --page liveness --theme dark -o curve.png"],
            ),
            command(
                "export",
                &[
                    "tilescope export runs --parquet lake",
                    "tilescope export report --chrome-trace trace.json",
                ],
            ),
        ],
    },
    CommandGroup {
        title: "Other commands",
        commands: &[
            command("demo", &["tilescope demo"]),
            command(
                "synth",
                &[
                    "tilescope synth --batch 16 -o report",
                    "tilescope synth --batch 16 --size 1GiB -o large-report",
                ],
            ),
            command(
                "index",
                &[
                    "tilescope index runs/a runs/b",
                    "tilescope index --list",
                    "tilescope index --clear",
                ],
            ),
            command(
                "completions",
                &[
                    "tilescope completions bash > ~/.local/share/bash-completion/completions/tilescope",
                    "tilescope completions fish > ~/.config/fish/completions/tilescope.fish",
                ],
            ),
            command("man", &["tilescope man ~/.local/share/man/man1"]),
        ],
    },
];

/// The examples of a command, for the end of its help.
pub fn examples(name: &str) -> String {
    let commands = GROUPS.iter().flat_map(|group| group.commands);
    let examples = commands.filter(|command| command.name == name).flat_map(|of| of.examples);
    let lines: String = examples.map(|line| format!("  {line}\n")).collect();
    let heading = heading();
    format!("{heading}Examples:{heading:#}\n{}", lines.trim_end())
}

/// The help of the program as a template for clap, with its commands in groups.
pub fn template() -> &'static str {
    // clap asks for it each time it builds the program.
    static TEMPLATE: LazyLock<String> = LazyLock::new(|| {
        template_of(&CliCommand::augment_subcommands(clap::Command::new("tilescope")))
    });
    &TEMPLATE
}

fn template_of(program: &clap::Command) -> String {
    let width = GROUPS.iter().flat_map(|group| group.commands).map(|of| of.name.len()).max();
    let width = width.unwrap_or_default();
    let heading = heading();
    let literal = Styles::styled();
    let literal = literal.get_literal();
    let mut groups = String::new();
    for group in &GROUPS {
        groups += &format!("{heading}{}:{heading:#}\n", group.title);
        for command in group.commands {
            let about = program.find_subcommand(command.name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            // Wrapped first, then named: escape codes would count as width.
            let lines = wrapped(&" ".repeat(width.saturating_add(4)), &about);
            let name = format!("  {literal}{:width$}{literal:#}  ", command.name);
            groups += &(name + lines.trim_start());
        }
        groups.push('\n');
    }
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{heading}Arguments:{heading:#}\n{{positionals}}\n\n\
         {heading}Options:{heading:#}\n{{options}}\n\n\
         `tilescope help COMMAND` has the options and examples of a command.{{after-help}}"
    )
}

/// As clap writes headings.
fn heading() -> Style {
    *Styles::styled().get_header()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::Arguments;

    #[test]
    fn every_command_is_in_one_group_and_has_examples() {
        let program = Arguments::command();
        let listed: Vec<&str> =
            GROUPS.iter().flat_map(|group| group.commands).map(|command| command.name).collect();
        let names: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(names.len(), listed.len(), "{listed:?}");
        let all: BTreeSet<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(names, all);
        for command in program.get_subcommands() {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.starts_with("Examples:\n  "), "{}: {after}", command.get_name());
        }
    }

    #[test]
    fn every_example_is_accepted() {
        for command in GROUPS.iter().flat_map(|group| group.commands) {
            for example in command.examples {
                let line = example.split(" | ").last().unwrap_or_default();
                let line = line.split(" > ").next().unwrap_or_default();
                // A launcher may stand before the program.
                let words = shlex::split(line).expect(example).into_iter();
                let words: Vec<String> = words.skip_while(|word| word != "tilescope").collect();
                assert_eq!(words.get(1).map(String::as_str), Some(command.name), "{example}");
                let parsed = Arguments::try_parse_from(&words);
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn the_program_lists_its_commands_in_groups() {
        let help = Arguments::command().render_long_help().to_string();
        for group in &GROUPS {
            let (_, of_group) =
                help.split_once(&format!("\n{}:\n", group.title)).expect(group.title);
            for command in group.commands {
                let (listed, _) = of_group.split_once("\n\n").unwrap_or_default();
                assert!(
                    listed.contains(&format!("  {}  ", command.name)),
                    "{}: {help}",
                    command.name
                );
            }
        }
        assert!(help.contains("\nOptions:\n") && help.contains("Exit status: "), "{help}");
        assert!(help.contains("Usage: tilescope"), "{help}");
    }
}
