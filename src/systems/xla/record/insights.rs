//! What a record says at first sight: that it ran, with the most that was in use, of how much.

use super::OpenRecord;
use super::report::DEVICE;
use crate::run::{
    Conclusion, DeviceVerdict, Ending, Evidence, Insights, Need, Outcome, Room, StatedRoom,
    Verdict, VerdictFigure,
};
use crate::text::{bytes, clean, grouped, time_text};

/// A time in words.
pub(super) fn nanoseconds_text(nanoseconds: u64) -> String {
    time_text(nanoseconds as f64 * 1e-9)
}

/// How fragmented what is free is: `39 %`.
pub(super) fn percent_text(fraction: f64) -> String {
    format!("{:.0} %", fraction * 100.0)
}

/// The verdict, and what follows.
pub(super) fn insights(open: &OpenRecord) -> Insights {
    let verdict = verdict(open);
    let figures = &open.figures;
    let mut conclusions = vec![Conclusion::new(verdict.outcome.key(), verdict.text.clone())];
    let step = i64::try_from(figures.peak_event).unwrap_or(i64::MAX);
    if let Some(program) = &figures.peak_program {
        let in_use = bytes(figures.peak_in_use_bytes);
        let name = clean(program);
        let text = match open.program_bytes(program) {
            Some(reserved) => format!(
                "{name}, which was started at the peak, reserves {} of the {in_use} in use then",
                bytes(reserved)
            ),
            None => {
                let several = open.programs.get(&**program).map_or_else(String::new, |named| {
                    format!(
                        "; {} programs of the profile have that name, and reserve {} to {}",
                        grouped(named.count),
                        bytes(named.least_bytes),
                        bytes(named.most_bytes)
                    )
                });
                format!("{name} was started at the peak, when {in_use} were in use{several}")
            }
        };
        let reserved = open.program_bytes(program).unwrap_or(figures.peak_in_use_bytes);
        let evidence = Evidence::of(&**program, reserved).at_step(step);
        let evidence = vec![evidence];
        conclusions.push(Conclusion { evidence, ..Conclusion::new("program-at-peak", text) });
    }
    let spare = spare_bytes(open);
    if spare >= figures.peak_in_use_bytes / 100 && spare > 0 {
        let text = format!(
            "Nobody asked for {} of the {} in use at the peak: the allocator rounds blocks up, and splits a block only \
             if it is twice as large as the request, or if 128 MiB would be left",
            bytes(spare),
            bytes(figures.peak_in_use_bytes)
        );
        conclusions.push(Conclusion::new("not-asked-for", text));
    }
    if let Some(fragmentation) = figures.peak_fragmentation.filter(|part| *part >= 0.01) {
        let text = format!(
            "At the peak {} of the allocator's free memory was outside its largest free piece",
            percent_text(fragmentation)
        );
        conclusions.push(Conclusion::new("fragmentation", text));
    }
    Insights { verdict: Some(verdict), conclusions, ..Insights::default() }
}

/// Most bytes that were in use since the process began, as far as the record says.
fn used_bytes(open: &OpenRecord) -> u64 {
    open.record.process_peak_bytes.unwrap_or(0).max(open.figures.peak_in_use_bytes)
}

/// What the process needed, which was there.
pub(super) fn need(open: &OpenRecord) -> Need {
    Need {
        title: open.record.name.clone(),
        verb: "used",
        bytes: Some(used_bytes(open)),
        ending: Ending::Ran,
        stated: StatedRoom { capacity_bytes: open.record.capacity_bytes(), other_bytes: None },
        ..Need::default()
    }
}

/// Bytes of the blocks at the peak that nobody asked for.
fn spare_bytes(open: &OpenRecord) -> u64 {
    open.blocks_at_peak().fold(0, |sum, block| sum.saturating_add(block.spare_bytes))
}

/// It ran: what it needed was there.
pub(super) fn verdict(open: &OpenRecord) -> Verdict {
    let (figures, record) = (&open.figures, &open.record);
    let (recorded, used) = (figures.peak_in_use_bytes, used_bytes(open));
    let capacity_bytes = record.capacity_bytes();
    let since = if used > recorded {
        format!(", and up to {} since the process began", bytes(used))
    } else {
        String::new()
    };
    let (of, capacity_from) = match (record.limit_bytes, record.memory_bytes) {
        (Some(limit), memory) if memory.is_none_or(|memory| limit <= memory) => {
            let of = format!("; the allocator may take {}", bytes(limit));
            (of, Some(format!("the allocator's limit in {}", open.file)))
        }
        (_, Some(memory)) => {
            let of = format!("; the device has {}", bytes(memory));
            (of, Some(format!("the device's memory in {}", open.file)))
        }
        _ => (String::new(), None),
    };
    let text = format!(
        "{} had up to {} in use while it was recorded{since}{of}",
        clean(&record.name),
        bytes(recorded)
    );
    let time = nanoseconds_text(figures.peak_time_ns);
    let at = format!("at event {}, {time}", grouped(figures.peak_event as u64));
    let mut said = vec![VerdictFigure::of("In use, peak", recorded, at)];
    if used > recorded {
        said.push(VerdictFigure::of("Peak of the process", used, "in use since it began"));
    }
    let of_room = |title, bytes, note| VerdictFigure {
        is_of_room: true,
        ..VerdictFigure::of::<&str>(title, bytes, note)
    };
    said.extend(record.limit_bytes.map(|limit| of_room("Limit", limit, "of the allocator")));
    said.extend(record.memory_bytes.map(|memory| of_room("Memory", memory, "of the device")));
    // What ran within a capacity that is known fits it.
    let outcome = need(open).judge(Room::default()).outcome;
    Verdict {
        outcome,
        short: outcome.word().to_owned(),
        text,
        figures: said,
        used_bytes: Some(used),
        capacity_bytes,
        capacity_from,
        over_bytes: (outcome == Outcome::Fits).then_some(0),
        used_of_all: capacity_bytes.map(|capacity| (used, capacity)),
        devices: vec![DeviceVerdict {
            device: DEVICE,
            name: record.name.clone(),
            outcome,
            used_bytes: Some(used),
            capacity_bytes,
            peak_bytes: Some(recorded),
            peak_step: i64::try_from(figures.peak_event).ok(),
            over_bytes: (outcome == Outcome::Fits).then_some(0),
            ..DeviceVerdict::default()
        }],
        ..Verdict::default()
    }
}
