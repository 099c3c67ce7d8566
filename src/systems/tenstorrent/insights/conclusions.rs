//! What follows from the figures of a rank, in sentences.

use super::decisive::DecisiveMoment;
use super::places::{at_operation, of_buffer, of_largest, operation_text};
use crate::diagnose::tenstorrent::TenstorrentForm;
use crate::run::{Conclusion, Evidence};
use crate::systems::tenstorrent::memory::ProgramState;
use crate::systems::tenstorrent::memory::facts::{RankView, free_ranges, largest};
use crate::systems::tenstorrent::memory::scratch_facts::{closest, largest as largest_scratch};
use crate::systems::tenstorrent::memory::spaces::{
    KeptToEnd, alive_at, buffers_by_address, held_bytes,
};
use crate::systems::tenstorrent::recorded::BufferSpace;
use crate::text::{bytes, counted, exact_bytes, grouped};

/// The share of a whole, in percent, below which something is not worth a sentence.
const LEAST_PERCENT: u64 = 10;

/// All of them, the weightiest first.
pub fn conclusions(view: &RankView<'_>, moment: &DecisiveMoment<'_>) -> Vec<Conclusion> {
    let all = [
        clash(view, moment),
        text_is_missing(moment),
        peak(view, moment),
        within(view, moment),
        scratch(view, moment),
        unknown_scratch(view),
        headroom(view, moment),
        lost(view),
        kept(view, moment),
    ];
    all.into_iter().flatten().collect()
}

fn is_worth(part: u64, of: u64) -> bool {
    part > 0 && part.saturating_mul(100) / LEAST_PERCENT >= of
}

/// The buffers that lie where circular buffers were to be.
fn clash(view: &RankView<'_>, moment: &DecisiveMoment<'_>) -> Option<Conclusion> {
    let TenstorrentForm::Clash { scratch_end_address, lowest_l1_address, .. } =
        moment.said.as_ref()?.form
    else {
        return None;
    };
    let of_l1 = moment.alive.iter().filter(|(life, _)| life.key.space == BufferSpace::L1);
    let in_the_way: Vec<_> =
        of_l1.filter(|(life, _)| life.key.address < scratch_end_address).copied().collect();
    let depth = |address: u64| scratch_end_address.saturating_sub(address);
    let text = format!(
        "Circular buffers of the program that failed end {} above the lowest L1 buffer: {} in the way",
        exact_bytes(depth(lowest_l1_address)),
        match in_the_way.len() {
            0 => "the report does not say which buffers are".to_owned(),
            1 => "one buffer is".to_owned(),
            count => format!("{} are", counted(count as u64, "buffer")),
        }
    );
    let at = (moment.device, moment.operation);
    let evidence = |one: &(_, _)| {
        let (life, _): &(&crate::systems::tenstorrent::memory::BufferLife, _) = one;
        let below = depth(life.key.address);
        let evidence = of_buffer(view, at, *one);
        Evidence { text: format!("{}, {} below that end", evidence.text, bytes(below)), ..evidence }
    };
    let evidence = in_the_way.iter().take(6).map(evidence).collect();
    Some(Conclusion { evidence, ..Conclusion::new("scratch-clash", text) })
}

/// Up to schema 3.3 the row of an error has no text of the exception: the log has it.
fn text_is_missing(moment: &DecisiveMoment<'_>) -> Option<Conclusion> {
    moment.error.filter(|error| error.kind == "incomplete_operation" && moment.said.is_none())?;
    let text = "The report does not have the text of the error: tilescope diagnose explains it from the log of the run. \
        TT-NN 0.81 and later write it into the report";
    Some(Conclusion::new("error-text-missing", text))
}

fn peak(view: &RankView<'_>, moment: &DecisiveMoment<'_>) -> Option<Conclusion> {
    let at = view.memory.peak(BufferSpace::L1)?;
    let device = view.rank.machine.device?;
    let free = free_ranges(&device, buffers_by_address(view, BufferSpace::L1, at));
    let sum = free.iter().fold(0_u64, |sum, range| sum.saturating_add(range.bytes));
    let level = view.memory.level(BufferSpace::L1, at);
    let one_piece = match largest(&free) {
        largest if largest < sum => format!(", the largest piece {}", bytes(largest)),
        _ => String::new(),
    };
    let text = format!(
        "The L1 peak of a core is {} at {}; {} are free{one_piece}",
        bytes(level),
        operation_text(view, at),
        bytes(sum)
    );
    let alive = alive_at(view, BufferSpace::L1, at).into_iter();
    let evidence = of_largest(view, (moment.device, Some(at)), alive);
    Some(Conclusion { evidence, ..Conclusion::new("l1-peak", text) })
}

/// What is in L1 within an operation and gone at its end.
fn within(view: &RankView<'_>, moment: &DecisiveMoment<'_>) -> Option<Conclusion> {
    let within = view.memory.transient?;
    let ends = [BufferSpace::L1, BufferSpace::L1Small].map(|space| {
        let peak = view.memory.peak(space);
        peak.map_or(0, |at| view.memory.level(space, at))
    });
    let ends = ends.into_iter().fold(0_u64, u64::saturating_add);
    let more = within.bytes.saturating_sub(ends);
    is_worth(more, within.bytes).then(|| {
        let text = format!(
            "Within {}, L1 of a core has {}, {} more than at the end of any operation",
            operation_text(view, within.operation),
            bytes(within.bytes),
            bytes(more)
        );
        let evidence = Evidence::of("the most within an operation", within.bytes);
        let evidence = vec![at_operation(evidence, view, moment.device, within.operation)];
        Conclusion { evidence, ..Conclusion::new("within-operation", text) }
    })
}

fn scratch(view: &RankView<'_>, moment: &DecisiveMoment<'_>) -> Option<Conclusion> {
    let known = largest_scratch(view)?;
    let program = known.program;
    let how = match program.state {
        ProgramState::Inferred => ", inferred from an earlier program with the same arguments",
        _ => "",
    };
    let text = format!(
        "The largest known circular buffers take {} of a core, at {}{how}",
        bytes(known.bytes),
        operation_text(view, program.moment.operation)
    );
    let evidence = Evidence::of(view.name(program.device_operation), known.bytes);
    let evidence = vec![at_operation(evidence, view, moment.device, program.moment.operation)];
    Some(Conclusion { evidence, ..Conclusion::new("largest-scratch", text) })
}

fn unknown_scratch(view: &RankView<'_>) -> Option<Conclusion> {
    let programs = &view.memory.programs;
    let unknown = programs.iter().filter(|program| program.state == ProgramState::Unknown).count();
    (unknown > 0).then(|| {
        let text = format!(
            "The report does not have the circular buffers of {} of {}: what these took of a core is not in any figure",
            grouped(unknown as u64),
            counted(programs.len() as u64, "program")
        );
        Conclusion::new("unknown-scratch", text)
    })
}

fn headroom(view: &RankView<'_>, moment: &DecisiveMoment<'_>) -> Option<Conclusion> {
    let known = closest(view)?;
    let left = u64::try_from(known.headroom_bytes()).ok()?;
    let at = known.program.moment.operation;
    let text = format!(
        "Circular buffers come nearest to the buffers in L1 at {}: {} lie between them",
        operation_text(view, at),
        exact_bytes(left)
    );
    let evidence = Evidence::of("between circular buffers and the lowest L1 buffer", left);
    let evidence = vec![at_operation(evidence, view, moment.device, at)];
    Some(Conclusion { evidence, ..Conclusion::new("least-headroom", text) })
}

/// What buffers at the peak of L1 reserve on all cores and do not hold.
fn lost(view: &RankView<'_>) -> Option<Conclusion> {
    let at = view.memory.peak(BufferSpace::L1)?;
    let banks = view.banks(BufferSpace::L1);
    let reserved = view.memory.level(BufferSpace::L1, at).saturating_mul(banks);
    let alive = alive_at(view, BufferSpace::L1, at);
    let used = held_bytes(&alive)?;
    let lost = reserved.saturating_sub(used);
    is_worth(lost, reserved).then(|| {
        let text = format!(
            "At the peak of L1, {} of the {} that buffers reserve on {} hold no data: every buffer takes the same addresses on \
             all cores, also on those that have no part of it",
            bytes(lost),
            bytes(reserved),
            counted(banks, "core")
        );
        Conclusion::new("reserved-not-used", text)
    })
}

/// What is still in L1 at the end although it was read and was not needed any more.
fn kept(view: &RankView<'_>, moment: &DecisiveMoment<'_>) -> Option<Conclusion> {
    let end = view.last_operation()?;
    let kept = KeptToEnd::of(view, BufferSpace::L1).read_then_kept;
    let level = view.memory.level(BufferSpace::L1, end);
    is_worth(kept.bytes_per_bank, level).then(|| {
        let ended = match moment.error {
            Some(_) => "The run broke off, so it is not known whether they would have been read again",
            None => "What the next call reads has to stay; the rest can be freed",
        };
        let verb = if kept.buffers == 1 { "was" } else { "were" };
        let text = format!(
            "{} in L1 with {} of a core {verb} read and then kept to the end of the report. {ended}",
            counted(kept.buffers, "buffer"),
            bytes(kept.bytes_per_bank)
        );
        let alive = alive_at(view, BufferSpace::L1, end).into_iter();
        let is_kept = |reads: &crate::systems::tenstorrent::memory::LifeReads| {
            reads.is_visible && reads.last.is_some_and(|last| last < end)
        };
        let evidence = alive.filter(|(_, reads)| is_kept(reads));
        let evidence = of_largest(view, (moment.device, Some(end)), evidence);
        Conclusion { evidence, ..Conclusion::new("kept-in-l1", text) }
    })
}
