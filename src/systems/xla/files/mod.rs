//! Files of XLA (formats/xla.md): HloProto with its buffer assignment, the same within a profile, a bare assignment.
//!
//! A proto is read from memory, field by field into columns (`wire`): no tree of messages is made.

mod allocator_events;
mod assignment;
mod beside;
mod claims;
mod contents;
mod device_profile;
mod discover;
mod dump_name;
mod host_calls;
mod layouts;
mod listing;
mod memory_analysis;
mod message_kind;
mod module;
mod profiled;
pub mod text;
mod texts;
mod wire;

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;

use self::allocator_events::allocator_records;
use self::assignment::AssignmentParts;
pub use self::beside::FilesBeside;
pub use self::claims::claims;
pub use self::device_profile::{DeviceProfile, LiveSample, ProfileFrame, read_device_profile};
pub use self::discover::{
    ModuleFile, ProtoKind, module_files, platform_of_name, read_bytes, read_module,
};
pub use self::dump_name::DumpName;
pub use self::listing::{FoundModule, ModuleAt, list_modules, texts_of};
pub use self::memory_analysis::memory_analysis;
use self::message_kind::MessageKind;
use self::module::ModuleParts;
use self::texts::{Allowance, NO_ROOM, XlaTexts};
use self::wire::{Malformed, Wire, WireField};
use crate::format::{Error, Progress};
use crate::store::hlo::{AllocatorRecord, HloModule};
use crate::store::report::FileStatus;
use crate::store::{WarningCode, Warnings};
use crate::text::grouped;

/// One message that is read, and what is said of it.
struct Proto<'a> {
    message: &'a [u8],
    /// The file's name.
    name: &'a str,
    warnings: &'a Warnings,
    progress: &'a Progress,
    is_cut: Cell<bool>,
    /// Parts of which one was said to be damaged, and how many more there were.
    said: RefCell<Vec<(String, usize)>>,
    /// Parts for which there was no room, and how many.
    left_out: RefCell<Vec<(String, u64)>>,
}

impl<'a> Proto<'a> {
    fn of(
        message: &'a [u8],
        name: &'a str,
        warnings: &'a Warnings,
        progress: &'a Progress,
    ) -> Self {
        Self {
            message,
            name,
            warnings,
            progress,
            is_cut: Cell::new(false),
            said: RefCell::default(),
            left_out: RefCell::default(),
        }
    }

    /// Where in the message a part of it begins.
    fn offset(&self, part: &[u8]) -> usize {
        part.as_ptr().addr().saturating_sub(self.message.as_ptr().addr())
    }

    /// Remembers that the message ends too soon.
    fn note_cut(&self, field: &WireField<'_>) {
        if let WireField::Cut(_) = field {
            self.is_cut.set(true);
        }
    }

    /// Warns of a damaged part; of the same kind of part once.
    fn damaged(&self, part: &str, at: usize, fault: &Malformed) {
        if fault.0 == NO_ROOM {
            let mut left_out = self.left_out.borrow_mut();
            match left_out.iter_mut().find(|(known, _)| known == part) {
                Some((_, count)) => *count = count.saturating_add(1),
                None => left_out.push((part.to_owned(), 1)),
            }
            return;
        }
        let mut said = self.said.borrow_mut();
        if let Some((_, more)) = said.iter_mut().find(|(known, _)| known == part) {
            *more = more.saturating_add(1);
            return;
        }
        said.push((part.to_owned(), 0));
        self.inconsistent(format!("byte {at}: {part} is damaged and left out: {}", fault.0));
    }

    fn inconsistent(&self, message: String) {
        self.warnings.add(WarningCode::Inconsistent, self.name, message);
    }

    fn is_over(&self) -> bool {
        self.progress.is_cancelled()
    }

    /// Says what was not said yet, and in what state the message is.
    fn finish(&self, room: &Allowance) -> FileStatus {
        if room.is_used_up {
            let mut what = String::new();
            for (part, count) in &*self.left_out.borrow() {
                // Writing into a text does not fail.
                let _ = match count {
                    1 => write!(what, ", {part}"),
                    _ => write!(what, ", {part} ({} times)", grouped(*count)),
                };
            }
            let what = what.strip_prefix(", ").unwrap_or("a part of them");
            self.inconsistent(format!(
                "its contents need more memory than the {} B that are allowed for a file of {} B; left out: {what}",
                grouped(Allowance::most(self.message.len()) as u64),
                grouped(self.message.len() as u64)
            ));
        }
        let mut text = String::new();
        for (part, more) in self.said.borrow().iter().filter(|(_, more)| *more > 0) {
            // Writing into a text does not fail.
            let _ =
                write!(text, "{}{more} more times {part}", if text.is_empty() { "" } else { ", " });
        }
        if !text.is_empty() {
            self.inconsistent(format!("damaged as well: {text}"));
        }
        if self.is_cut.get() {
            let message = format!(
                "ends at byte {} before its contents do; the complete part is shown",
                self.message.len()
            );
            self.warnings.add(WarningCode::Truncated, self.name, message);
            return FileStatus::Truncated;
        }
        FileStatus::Ok
    }
}

/// The parts of an HloProto, as far as they are there.
struct HloProto<'a> {
    module: Option<&'a [u8]>,
    assignment: Option<&'a [u8]>,
}

impl<'a> HloProto<'a> {
    fn of(message: &'a [u8], reading: &Proto<'_>) -> Result<Self, Malformed> {
        let mut proto = Self { module: None, assignment: None };
        let mut fields = Wire::of(message);
        loop {
            let at = reading.offset(fields.rest());
            match fields.next_field() {
                Ok(None) => return Ok(proto),
                Ok(Some((number, field))) => {
                    reading.note_cut(&field);
                    match number {
                        1 => proto.module = Some(field.bytes()),
                        3 => proto.assignment = Some(field.bytes()),
                        _ => {}
                    }
                }
                Err(_) if proto.assignment.is_some() => {
                    reading.inconsistent(bytes_behind(at));
                    return Ok(proto);
                }
                Err(fault) => return Err(fault),
            }
        }
    }
}

/// That what follows a whole proto is none.
fn bytes_behind(at: impl std::fmt::Display) -> String {
    format!("from byte {at} on it is not a proto; the part before that is shown")
}

/// A module that has been read, and in what state its file is.
#[derive(Debug)]
pub struct ReadModule {
    /// The module.
    pub module: HloModule,
    /// Whether the file is whole.
    pub status: FileStatus,
}

/// Reads an HloProto, or a bare BufferAssignmentProto; `None` where it has no assignment, or reading was canceled.
///
/// # Errors
/// With words of what is wrong, when it is neither, or its allocations are more than there is room for.
pub fn read_proto(
    message: &[u8],
    name: &str,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<ReadModule>, String> {
    let reading = Proto::of(message, name, warnings, progress);
    let proto = match MessageKind::of(message) {
        MessageKind::HloProto => {
            HloProto::of(message, &reading).map_err(|fault| no_proto(&fault.0))?
        }
        MessageKind::Assignment => HloProto { module: None, assignment: Some(message) },
        MessageKind::Profile | MessageKind::Other => {
            return Err(no_proto("neither a module nor an assignment"));
        }
    };
    let Some(assignment) = proto.assignment else { return Ok(None) };
    let (mut texts, mut parts) = (XlaTexts::of(message.len()), ModuleParts::default());
    // Without allocations all else is of no use, and heap traces are of least.
    let mut assigned = AssignmentParts::default();
    assigned.read(assignment, &mut texts, &reading);
    if let Some(module) = proto.module {
        parts.read(module, &mut texts, &reading);
    }
    assigned.read_traces(&mut texts, &reading);
    if progress.is_cancelled() {
        return Ok(None);
    }
    let mut module = HloModule {
        name: std::mem::take(&mut parts.name),
        computations: std::mem::take(&mut parts.computations),
        entry: parts.entry,
        instructions: std::mem::take(&mut parts.instructions),
        frames: std::mem::take(&mut parts.frames),
        ..HloModule::default()
    };
    let is_too_large = texts.room.is_used_up;
    // As of a file that is cut: nobody says that it fits.
    let status = match reading.finish(&texts.room) {
        _ if assigned.lacks_allocations => FileStatus::Truncated,
        status => status,
    };
    (module.texts, module.shapes) = texts.finish();
    module.donated = donated(&module, &parts);
    assigned.put_into(&mut module, &parts, &reading);
    match module.allocations.is_empty() {
        true if is_too_large => Err(format!(
            "the module is too large for the memory that a file of {} bytes may take",
            message.len()
        )),
        true => Err(no_proto("it has no allocation")),
        false => {
            if proto.module.is_some() {
                note_no_schedule(&module, is_too_large, &reading);
            }
            Ok(Some(ReadModule { module, status }))
        }
    }
}

fn no_proto(why: &str) -> String {
    format!("not a proto of XLA's: {why}")
}

/// Warns where it is not known in which order instructions are run.
fn note_no_schedule(module: &HloModule, is_too_large: bool, reading: &Proto<'_>) {
    let why = match module.entry {
        _ if module.has_schedule() && module.entry.is_some() => return,
        _ if is_too_large => "is too large to be read whole",
        None => "names an entry computation that it does not have",
        Some(_) => "has no order of the entry computation's instructions",
    };
    reading.inconsistent(format!("the module {why}; it is not known when values live"));
}

/// Donations as number and place within the parameter's shape.
fn donated(module: &HloModule, parts: &ModuleParts) -> Vec<(i64, u32)> {
    let parameters = module.entry_parameters();
    let place = |(number, path): &(i64, Vec<i64>)| {
        let shape = module.instructions.shape(*parameters.get(number)?);
        Some((*number, module.shapes.place(shape, path.iter().copied())?))
    };
    parts.donations.iter().filter_map(place).collect()
}

/// Reads what an allocator did that was listed; `None` where it is a program, is not there any more, or reading was
/// canceled.
///
/// # Errors
/// When its file cannot be read.
pub fn read_record(
    found: &FoundModule,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<AllocatorRecord>, Error> {
    let ModuleAt::Record(file, place) = &found.at else { return Ok(None) };
    let Some(bytes) = read_bytes(file, warnings, progress)? else { return Ok(None) };
    let mut warn = |message| warnings.add(WarningCode::Inconsistent, &file.name, message);
    let mut records = allocator_records(&bytes, &mut warn);
    Ok((*place < records.len()).then(|| records.swap_remove(*place)))
}

/// Reads a module that was listed; `None` where it is not there any more, or reading was canceled.
///
/// # Errors
/// When its file cannot be read, or is damaged beyond use.
pub fn read_listed(
    found: &FoundModule,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<ReadModule>, Error> {
    let listed = &found.listed;
    match &found.at {
        ModuleAt::Proto(file, place) => read_module(file, *place, warnings, progress),
        ModuleAt::Record(..) => Ok(None),
        ModuleAt::Texts(files) => {
            let mut texts = Vec::new();
            for file in files {
                let Some(text) = read_bytes(file, warnings, progress)? else { return Ok(None) };
                texts.push(text);
            }
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let mut note = |message| warnings.add(WarningCode::Inconsistent, &listed.file, message);
            let module = text::read_texts(&texts, &mut note, &|| progress.is_cancelled());
            let Some(ReadModule { module, status }) = module else { return Ok(None) };
            if status == FileStatus::Truncated {
                let message = "ends before its contents do, or a text beside it does; the \
                    complete part is shown";
                warnings.add(WarningCode::Truncated, &listed.file, message);
            }
            let name = listed.module.clone().unwrap_or_default();
            Ok(Some(ReadModule { module: HloModule { name, ..module }, status }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_no_room_for_is_not_said_to_be_damaged() {
        let (warnings, progress) = (Warnings::default(), Progress::default());
        let reading = Proto::of(&[0; 1000], "a.hlo.pb", &warnings, &progress);
        let mut room = Allowance::of(1000);
        let fault = room.take(usize::MAX).unwrap_err();
        for part in ["an instruction", "the schedule", "an instruction"] {
            reading.damaged(part, 7, &fault);
        }
        assert_eq!(reading.finish(&room), FileStatus::Ok);
        let said: Vec<String> = warnings.list().into_iter().map(|one| one.message).collect();
        assert_eq!(
            said,
            [
                "its contents need more memory than the 33,556,932 B that are allowed for a file of 1,000 B; left out: an \
              instruction (2 times), the schedule"
            ]
        );
    }
}
