//! `tilescope synth`: writes synthetic runs, each system with options of its own.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, Id};

use super::output;
use crate::format::{Error, ErrorKind};
use crate::synth::{Synth, ToWrite};
use crate::systems::system::RunSystem;
use crate::systems::writers;
use crate::text::size;

#[derive(Debug, Args)]
pub struct SynthArguments {
    /// The system whose files are written.
    #[arg(long, default_value = first_system(), value_parser = written_systems())]
    pub system: String,
    /// Batch size.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub batch: u64,
    /// Repeat the network, the training steps, or the layers within one turn of a loop until the file has this size,
    /// for example 1GiB.
    #[arg(long, value_parser = file_size)]
    pub size: Option<u64>,
    /// The seed for differences between tiles, and for lengths and times of training steps.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The directory to write, without a profile or dump in it yet; for a PyTorch snapshot the file to write, which must
    /// not exist yet.
    #[arg(short, long, value_name = "PATH")]
    pub output: PathBuf,
    /// What only some systems have.
    #[command(flatten)]
    pub of_systems: SystemOptions,
}

/// How runs of a system are written; `None` of a name that none has.
pub(super) fn writer(name: &str) -> Option<Synth> {
    writers().find(|(system, _)| system.words().name == name).map(|(_, synth)| synth)
}

/// The name of the system that is meant where none is named.
pub(super) fn first_system() -> &'static str {
    writers().next().map_or("", |(system, _)| system.words().name)
}

/// The names of systems of which something is written.
pub(super) fn written_systems() -> PossibleValuesParser {
    let value = |(system, synth): (&dyn RunSystem, Synth)| {
        PossibleValue::new(system.words().name).help(synth.what)
    };
    PossibleValuesParser::new(writers().map(value))
}

/// What was given of the options that only some systems have.
#[derive(Debug)]
pub struct SystemOptions(ArgMatches);

impl FromArgMatches for SystemOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = matches.clone();
        Ok(())
    }
}

impl Args for SystemOptions {
    fn augment_args(command: Command) -> Command {
        writers().fold(command, |command, (_, synth)| {
            let is_new = |id: &Id| !command.get_arguments().any(|known| known.get_id() == id);
            let options = synth.options.get_arguments();
            let new: Vec<_> = options.filter(|option| is_new(option.get_id())).cloned().collect();
            command.args(new)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl SystemOptions {
    /// The first option that is of other systems than the one that was asked for, with what to do.
    fn misplaced(&self, system: &str) -> Option<String> {
        let all: Vec<_> = writers().collect();
        let has = |synth: &Synth, id: &Id| {
            synth.options.get_arguments().any(|option| option.get_id() == id)
        };
        let is_given = |id: &Id| self.0.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        let is_wrong = |id: &Id| {
            let own = all.iter().find(|(of, _)| of.words().name == system);
            is_given(id) && !own.is_some_and(|(_, synth)| has(synth, id))
        };
        let mut options = all.iter().flat_map(|(_, synth)| synth.options.get_arguments());
        let option = options.find(|option| is_wrong(option.get_id()))?;
        let owners: Vec<&dyn RunSystem> = all
            .iter()
            .filter(|(_, synth)| has(synth, option.get_id()))
            .map(|(of, _)| *of)
            .collect();
        let titles: Vec<&str> = owners.iter().map(|of| of.title()).collect();
        let names = owners.iter().map(|of| of.words().name);
        let named: Vec<_> = names.clone().map(|name| format!("--system {name}")).collect();
        let what_to_do = if names.clone().any(|name| name == first_system()) {
            "leave out --system".to_owned()
        } else {
            format!("add {}", named.join(" or "))
        };
        let name = option.get_long().unwrap_or_default();
        Some(format!("--{name} is for {}: {what_to_do}", titles.join(" and ")))
    }
}

/// The size of a file.
fn file_size(text: &str) -> Result<u64, String> {
    let most = 64 << 30;
    let bytes = size::parse(text)?;
    if bytes <= most { Ok(bytes) } else { Err("at most 64GiB".to_owned()) }
}

pub fn run(arguments: &SynthArguments) -> ExitCode {
    let SynthArguments { system, batch, size, seed, output, of_systems } = arguments;
    let Some(synth) = writer(system) else {
        let message = format!("nothing writes runs of {system}");
        return output::fail(&Error::new(ErrorKind::Usage, message), false);
    };
    if let Some(message) = of_systems.misplaced(system) {
        return output::fail(&Error::new(ErrorKind::Usage, message), false);
    }
    let wanted = ToWrite { batch: *batch, size: *size, seed: *seed, output };
    let written = output::with_progress_of(synth.title, output::ProgressUnit::Parts, |progress| {
        (synth.write)(&of_systems.0, &wanted, progress)
    });
    match written {
        Ok(()) => output::print(&format!("{}\n", output.display())).unwrap_or_else(ExitCode::from),
        Err(error) => output::cannot_write(&error),
    }
}
