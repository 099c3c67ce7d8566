//! `tilescope render`: a page of the window, or a picture of it, as PNG or SVG, where there is no display.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, ValueEnum};

use super::liveness::StepChoice;
use super::output::fail;
use super::room::RoomArguments;
use super::window::MOST_RUNS;
use crate::files::directory_of;
use crate::format::{Error, ErrorKind};
use crate::views::View;

/// Arguments of `tilescope render`.
#[derive(Debug, Args)]
pub struct RenderArguments {
    /// The runs, the reference first; for a sweep, the directory that holds them.
    #[arg(value_name = "PATH", required = true, num_args = 1..=MOST_RUNS)]
    pub paths: Vec<PathBuf>,
    /// The page, or the picture of one.
    #[arg(long, value_name = "NAME")]
    pub page: View,
    /// Another picture of the same page, by its name in "Export picture" of the window, such as "Memory over steps", or
    /// "whole page".
    #[arg(long, value_name = "NAME")]
    pub picture: Option<String>,
    /// The module to show where runs have several: a part of its name or of its file's name.
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// Select this step, or that of the peak.
    #[arg(long, value_name = "N|peak")]
    pub step: Option<StepChoice>,
    /// Only the tiles of this IPU.
    #[arg(long, value_name = "N", conflicts_with = "tile")]
    pub ipu: Option<u32>,
    /// Show this tile: its curve, its map, or its place among the others.
    #[arg(long, value_name = "N")]
    pub tile: Option<u32>,
    /// What the device has.
    #[command(flatten)]
    pub room: RoomArguments,
    /// The color theme.
    #[arg(long, value_name = "THEME", default_value = "light")]
    pub theme: Theme,
    /// Pixels per point of a PNG, 0.5 to 4.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = scale)]
    pub scale: f32,
    /// Width and height in points without the caption, such as 1200x600. By default a page is as high as its content. A
    /// picture with a fixed size keeps it.
    #[arg(long, value_name = "WxH")]
    pub size: Option<WindowSize>,
    /// The file to write, .png or .svg. An existing file is replaced.
    #[arg(short, long, value_name = "FILE", value_parser = OsStringValueParser::new().try_map(|name| picture_file(&name)))]
    pub output: PathBuf,
}

/// The colors of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Width and height, points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSize(pub f32, pub f32);

/// Least and most points of a side.
const SIDES: std::ops::RangeInclusive<u32> = 100..=5000;

impl FromStr for WindowSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let side = |text: &str| text.parse().ok().filter(|side| SIDES.contains(side));
        let (width, height) = text.split_once('x').ok_or("expected a size such as 1200x600")?;
        let (least, most) = (SIDES.start(), SIDES.end());
        let (width, height) = side(width).zip(side(height)).ok_or_else(|| {
            format!("expected two numbers from {least} to {most}, as in 1200x600")
        })?;
        Ok(Self(width as f32, height as f32))
    }
}

fn scale(text: &str) -> Result<f32, String> {
    let scale: Option<f32> = text.parse().ok();
    let is_possible = |scale: &f32| (0.5..=4.0).contains(scale);
    scale.filter(is_possible).ok_or_else(|| "expected a number from 0.5 to 4".to_owned())
}

/// The ending of a picture; the rest of its name may be no UTF-8.
fn picture_file(name: &OsStr) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    match extension.as_deref().and_then(OsStr::to_str) {
        Some("png" | "svg") => Ok(path),
        _ => Err("expected a file that ends in .png or .svg".to_owned()),
    }
}

/// Draws what the arguments name and writes it.
pub fn run(arguments: &RenderArguments) -> ExitCode {
    match checked(arguments).and_then(|()| draw(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, false),
    }
}

/// Whether the arguments fit each other, as far as that can be said before anything is read.
fn checked(arguments: &RenderArguments) -> Result<(), Error> {
    let RenderArguments { page, paths, .. } = arguments;
    let name = page.to_possible_value();
    let name = name.as_ref().map_or("", clap::builder::PossibleValue::get_name);
    let usage = |message: String| Err(Error::new(ErrorKind::Usage, message));
    if page.is_sweep() && paths.len() > 1 {
        return usage(format!("{name} takes one directory that holds runs"));
    }
    if page.needs_several() && paths.len() < 2 {
        return usage(format!("{name} takes two runs or more"));
    }
    for (option, is_given, is_taken) in [
        ("--step", arguments.step.is_some(), page.takes_step()),
        ("--tile", arguments.tile.is_some(), page.takes_tile()),
        ("--ipu", arguments.ipu.is_some(), page.takes_ipu()),
        ("--module", arguments.module.is_some(), !page.is_sweep()),
    ] {
        if is_given && !is_taken {
            return usage(format!("{option} does not apply to the page {name}"));
        }
    }
    let directory = directory_of(&arguments.output);
    if !directory.is_dir() {
        let message = format!("there is no directory {} to write to", directory.display());
        return Err(Error::new(ErrorKind::CannotWrite, message));
    }
    Ok(())
}

#[cfg(not(feature = "window"))]
fn draw(_arguments: &RenderArguments) -> Result<(), Error> {
    let message = "this program was built without the window (cargo feature `window`), whose pages \
                   `render` draws";
    Err(Error::new(ErrorKind::CannotWrite, message)
        .hint("Build it with `cargo build --features window`."))
}

#[cfg(feature = "window")]
fn draw(arguments: &RenderArguments) -> Result<(), Error> {
    use std::path::Path;

    use super::map::step_position;
    use super::output::print_warning;
    use super::scope::{ScopeArguments, scope_of};
    use crate::analysis::liveness::Scope;
    use crate::store::TileId;
    use crate::ui::headless::{Headless, NoPicture};

    let &RenderArguments { page, scale, .. } = arguments;
    let is_dark = arguments.theme == Theme::Dark;
    let (mut scope, mut step) = (Scope::Everything, None);
    let window = if page.is_sweep() {
        let directory = arguments.paths.first().map_or(Path::new("."), PathBuf::as_path);
        Headless::open_sweep(directory, arguments.room.room(), scale, is_dark)
    } else {
        let opened = Headless::open(&arguments.paths, arguments.module.as_deref(), scale, is_dark);
        let mut window = opened.map_err(|failure| failure.error)?;
        let room = arguments.room.room();
        if room.is_said() && !window.takes_capacity() {
            let message = "pictures of this run go by the memory that it states";
            return Err(Error::new(ErrorKind::Usage, message)
                .hint("Leave --capacity and --other out; summary and check take them."));
        }
        window.set_room(room);
        window.warnings().iter().for_each(print_warning);
        if let Some(derived) = window.reference().cloned() {
            let &RenderArguments { tile, ipu, .. } = arguments;
            scope = scope_of(&derived, ScopeArguments { arena: tile, device: ipu.map(i64::from) })?;
            step = match arguments.step {
                Some(StepChoice::Step(step)) => Some(step_position(derived.report(), step)?),
                Some(StepChoice::Peak) => window.peak_step(scope),
                None => None,
            };
        }
        window
    };
    let size = arguments.size.map(|WindowSize(width, height)| [width, height]);
    let tile = arguments.tile.map(TileId);
    let picture = arguments.picture.as_deref();
    let drawn = window.draw(page, scope, tile, step, picture, size);
    drawn.and_then(|picture| picture.write(&arguments.output)).map_err(|error| {
        let kind = match error {
            NoPicture::Absent(_) => ErrorKind::Damaged,
            NoPicture::Unknown { .. } => ErrorKind::Usage,
            NoPicture::NotWritten(_) => ErrorKind::CannotWrite,
        };
        let message = Error::new(kind, error.to_string());
        match error {
            NoPicture::Unknown { others, .. } => {
                message.hint(format!("It has: {}.", others.join(", ")))
            }
            _ => message,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_scales_and_files_are_checked() {
        assert_eq!("1200x600".parse(), Ok(WindowSize(1200.0, 600.0)));
        for wrong in ["", "1200", "x", "0x0", "1200x", "1e9x3", "99x100", "100x5001", "-1x5"] {
            assert!(wrong.parse::<WindowSize>().is_err(), "{wrong}");
        }
        assert_eq!(scale("2"), Ok(2.0));
        for wrong in ["0", "nan", "inf", "5", "two"] {
            assert!(scale(wrong).is_err(), "{wrong}");
        }
        assert!(picture_file("a/b.PNG".as_ref()).is_ok() && picture_file("b.svg".as_ref()).is_ok());
        assert!(picture_file("b.jpg".as_ref()).is_err() && picture_file("png".as_ref()).is_err());
    }
}
