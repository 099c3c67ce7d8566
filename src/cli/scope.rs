//! The part of the machine that a command is about: everything, a device, a tile.

use super::tiles::{check_ipu, check_tile};
use crate::analysis::liveness::Scope;
use crate::format::{Error, ErrorKind};
use crate::store::arena::Arenas;
use crate::store::{ArenaId, DeviceId, Report, System};

/// The part of the machine that arguments name.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScopeArguments {
    /// `--tile`.
    pub tile: Option<u32>,
    /// `--ipu`.
    pub ipu: Option<u32>,
    /// `--device`.
    pub device: Option<i64>,
}

/// The tile, or the tiles of the IPU, or the device, or everything.
///
/// # Errors
/// `usage` when the report has no such part, or a report of its system has none of that kind.
pub fn scope_of(report: &Report, arguments: ScopeArguments) -> Result<Scope, Error> {
    let ScopeArguments { tile, ipu, device } = arguments;
    let what = match report.system {
        System::PYTORCH => Some("a memory snapshot"),
        System::XLA => Some("a program of XLA"),
        _ => None,
    };
    if let Some(what) = what {
        let option = tile.map(|_| "--tile").or(ipu.map(|_| "--ipu"));
        return match (option, device) {
            (Some(option), _) => {
                let message = format!("{option} is of reports of Poplar, and this is {what}");
                let there = match titles_of_devices(report) {
                    titles if titles.is_empty() => String::new(),
                    titles => format!(" These are there: {}.", titles.join(", ")),
                };
                Err(Error::new(ErrorKind::Usage, message)
                    .hint(format!("--device N takes one device.{there}")))
            }
            (None, Some(device)) => scope_of_device(report, device),
            // Of several memory spaces the main one is meant, which has a curve where instructions are known: they are
            // not one memory.
            (None, None) => {
                let main = (report.system == System::XLA).then(|| scope_of_device(report, 0));
                Ok(main.and_then(Result::ok).unwrap_or(Scope::Everything))
            }
        };
    }
    if device.is_some() {
        let message = "--device is of other systems, and this is a report of Poplar";
        return Err(
            Error::new(ErrorKind::Usage, message).hint("--ipu N takes one IPU, --tile N one tile.")
        );
    }
    if let Some(tile) = tile {
        check_tile(report, tile)?;
        return Ok(Scope::Arena(ArenaId(tile)));
    }
    if let Some(ipu) = ipu {
        check_ipu(report, ipu)?;
        return Ok(Scope::Device(DeviceId(ipu)));
    }
    Ok(Scope::Everything)
}

fn titles_of_devices(report: &Report) -> Vec<String> {
    titles_of(report, report.arenas.get().map(Arenas::device_ids).unwrap_or_default())
}

/// The devices of which it is known when what they have lives.
fn titles_with_curves(report: &Report) -> Vec<String> {
    let curves = report.liveness.get().and_then(|liveness| liveness.deltas.as_ref());
    titles_of(report, curves.into_iter().flat_map(|curves| curves.by_device.keys().copied()))
}

fn titles_of(report: &Report, devices: impl IntoIterator<Item = DeviceId>) -> Vec<String> {
    let title = |device: DeviceId| match report.system {
        // A memory space goes by its number, and not by its name.
        System::XLA => format!("{device} ({})", report.device_title(device)),
        _ => report.device_title(device),
    };
    devices.into_iter().map(title).collect()
}

/// A device of a system that has no tiles.
fn scope_of_device(report: &Report, number: i64) -> Result<Scope, Error> {
    let curves = report.liveness.get().and_then(|liveness| liveness.deltas.as_ref());
    let device = DeviceId::of_number(number);
    if curves.is_some_and(|curves| curves.by_device.contains_key(&device)) {
        return Ok(Scope::Device(device));
    }
    let is_there = report.arenas.get().is_some_and(|all| all.device_ids().contains(&device));
    if curves.is_some() && is_there {
        let message = format!(
            "it is not known when values live in device {number} ({})",
            report.device_title(device)
        );
        let error = Error::new(ErrorKind::Usage, message);
        return Err(match titles_with_curves(report) {
            titles if titles.is_empty() => error,
            titles => error.hint(format!("It is known of: {}.", titles.join(", "))),
        });
    }
    let message = match titles_of_devices(report) {
        titles if titles.is_empty() => "this run does not say of which device it is".to_owned(),
        titles => format!("this run has no device {number}: {}", titles.join(", ")),
    };
    Err(Error::new(ErrorKind::Usage, message))
}

/// What a scope is called in an answer.
pub fn scope_name(report: &Report, scope: Scope) -> String {
    match scope {
        Scope::Everything => "everything".to_owned(),
        Scope::Device(device) if report.system != System::POPLAR => report.device_title(device),
        Scope::Device(ipu) => format!("ipu {ipu}"),
        Scope::Arena(tile) => format!("tile {tile}"),
        Scope::WorstArena => "worst tile".to_owned(),
    }
}
