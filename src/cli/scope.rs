//! The part of the machine that a command is about: everything, a device, an arena.

use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::format::{Error, ErrorKind};
use crate::store::{ArenaId, DeviceId, Report};

/// The part of the machine that arguments name.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct ScopeArguments {
    /// Only this device: an IPU, a GPU (-1 is pinned memory of the host), a memory space.
    #[arg(
        long,
        visible_alias = "ipu",
        value_name = "N",
        conflicts_with = "arena",
        allow_negative_numbers = true
    )]
    pub device: Option<i64>,
    /// Only this arena: a tile, a segment, an allocation.
    #[arg(long, visible_alias = "tile", value_name = "N")]
    pub arena: Option<u32>,
}

/// The arena, or the device, or the one that is looked at first where there is one, else everything.
///
/// # Errors
/// `usage` when the run has no such part.
pub fn scope_of(derived: &Derived, arguments: ScopeArguments) -> Result<Scope, Error> {
    let report = derived.report();
    match (arguments.arena, arguments.device) {
        (Some(arena), _) => {
            check_arena(report, ArenaId(arena))?;
            Ok(Scope::Arena(ArenaId(arena)))
        }
        (None, Some(device)) => scope_of_device(report, device),
        (None, None) => {
            let main = report.arenas.get().and_then(|arenas| arenas.main);
            let main = derived.first_device().or(main);
            let main = main.filter(|main| devices_with_curves(report).contains(main));
            Ok(main.map_or(Scope::Everything, Scope::Device))
        }
    }
}

/// Checks that a run has an arena, as far as it says which it has.
///
/// # Errors
/// `usage` when it has not.
pub fn check_arena(report: &Report, arena: ArenaId) -> Result<(), Error> {
    let Some(arenas) = report.arenas.get() else { return Ok(()) };
    if arenas.ids.position(arena).is_some() {
        return Ok(());
    }
    let words = report.system;
    let ids = arenas.ids.as_slice();
    let there = match (ids.first(), ids.last()) {
        (Some(first), Some(last)) => format!("its {} are {first} to {last}", words.arenas),
        _ => format!("it has no {}", words.arenas),
    };
    let message = format!("this run has no {} {arena}: {there}", words.arena_in_text);
    Err(Error::new(ErrorKind::Usage, message))
}

fn scope_of_device(report: &Report, number: i64) -> Result<Scope, Error> {
    let device = DeviceId::of_number(number);
    let with_curves = devices_with_curves(report);
    if with_curves.contains(&device) {
        return Ok(Scope::Device(device));
    }
    let there: Vec<DeviceId> = (report.arenas.get())
        .map_or_else(Vec::new, |arenas| arenas.device_ids().into_iter().collect());
    let is_there = there.contains(&device);
    // Where devices have no curves of their own, they are added up from those of arenas.
    if (is_there || report.arenas.get().is_none()) && with_curves.is_empty() {
        return Ok(Scope::Device(device));
    }
    if is_there {
        let message = format!(
            "it is not known when values live in device {number} ({})",
            report.device_title(device)
        );
        let error = Error::new(ErrorKind::Usage, message);
        return Err(match titles_of(report, with_curves) {
            titles if titles.is_empty() => error,
            titles => error.hint(format!("It is known of: {}.", titles.join(", "))),
        });
    }
    let message = match titles_of(report, there) {
        titles if titles.is_empty() => "this run does not say of which device it is".to_owned(),
        titles => format!("this run has no device {number}: {}", titles.join(", ")),
    };
    Err(Error::new(ErrorKind::Usage, message))
}

/// The devices of which it is known when what they have lives.
fn devices_with_curves(report: &Report) -> Vec<DeviceId> {
    let curves = report.deltas.get();
    curves.map_or_else(Vec::new, |curves| curves.devices().into_iter().collect())
}

/// Devices by the numbers that `--device` takes.
fn titles_of(report: &Report, devices: impl IntoIterator<Item = DeviceId>) -> Vec<String> {
    let title =
        |device: DeviceId| format!("{} ({})", device.to_number(), report.device_title(device));
    devices.into_iter().map(title).collect()
}

/// What a scope is called in an answer.
pub fn scope_name(report: &Report, scope: Scope) -> String {
    match scope {
        Scope::Everything => "everything".to_owned(),
        Scope::Device(device) => report.device_title(device),
        Scope::Arena(arena) => format!("{} {arena}", report.system.arena_in_text),
        Scope::WorstArena => report.system.worst_arena.to_owned(),
    }
}
