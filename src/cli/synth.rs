//! `tilescope synth`: writes a synthetic report.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::output::{self, CANNOT_WRITE};
use crate::synth::{self, tiny};

/// Arguments of `tilescope synth`.
#[derive(Debug, Args)]
pub struct SynthArguments {
    /// The network.
    #[arg(long, default_value = "tiny")]
    pub network: Network,
    /// Batch size.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub batch: u64,
    /// availableMemoryProportion of convolutions and matmuls.
    #[arg(long, default_value_t = 0.6, value_parser = proportion)]
    pub proportion: f64,
    /// Tiles of the IPU.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1472))]
    pub tiles_per_ipu: u32,
    /// The directory to write, which must not hold a profile yet.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

/// A network that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Network {
    /// Three convolutions and a fully connected layer.
    Tiny,
}

fn proportion(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if value > 0.0 && value <= 1.0 { Ok(value) } else { Err("above 0 and at most 1".to_owned()) }
}

/// Writes the report.
pub fn run(arguments: &SynthArguments) -> ExitCode {
    let model = match arguments.network {
        Network::Tiny => tiny::model(&tiny::Options {
            tiles: arguments.tiles_per_ipu,
            batch: arguments.batch,
            proportion: arguments.proportion,
        }),
    };
    match synth::write_report(&model, &arguments.output) {
        Ok(()) => output::print(&format!("{}\n", arguments.output.display()))
            .unwrap_or_else(ExitCode::from),
        Err(error) => {
            anstream::eprintln!("error: {error}");
            CANNOT_WRITE.into()
        }
    }
}
