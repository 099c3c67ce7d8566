//! Whether two runs fit, in a sentence: by the same judgement as everywhere.

use super::Compared;
use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::Difference;
use crate::run::{Conclusion, Ending, Evidence, Judgement, Need, Outcome, Room};
use crate::text::capitalised;

const SIDES: [&str; 2] = ["source", "target"];

impl Compared {
    /// Whether each side fits, where the user says so much of the device; `None` where no capacity is known, and nothing
    /// failed. It is better only where one is known to fit, or ran, and the other not, and both `are_alike`.
    pub(super) fn fit_conclusion(
        &self,
        room: Room,
        are_alike: bool,
        size: &dyn Fn(u64) -> String,
    ) -> Option<Conclusion> {
        let needs = self.sides.each_ref().map(|side| &side.need);
        let judged = needs.map(|need| need.judge(self.room_of(need, room)));
        let is_said =
            |of: &Judgement| of.capacity_bytes.is_some() || of.outcome.went_well() == Some(false);
        if !judged.iter().any(is_said) {
            return None;
        }
        let sides = SIDES.iter().zip(needs).zip(&judged);
        let mut texts = sides.map(|((side, need), judged)| said(side, need, judged, size));
        let (source, target) = (texts.next()?, texts.next()?);
        let [before, behind] = self.shared_room(room, &judged, size).unwrap_or_default();
        let text = capitalised(&format!("{before}{source}; {target}{behind}"));
        let is_better = match judged.each_ref().map(|judged| judged.outcome.went_well()) {
            _ if !are_alike => None,
            [Some(false), Some(true)] => Some(true),
            [Some(true), Some(false)] => Some(false),
            _ => None,
        };
        let needed = Difference::of(needs.map(|need| need.bytes));
        let evidence = vec![Evidence::change("Needed", Unit::Bytes, needed)];
        Some(Conclusion { is_better, evidence, ..Conclusion::new(super::FITS, text) })
    }

    /// What is said of the device of a side: by the user, else beside the other run where that is of the machine.
    fn room_of(&self, need: &Need, room: Room) -> Room {
        let own = need.stated.capacity_bytes;
        if room.is_said() || own.is_some() || !self.words.is_capacity_of_machine {
            return room;
        }
        let stated = self.sides.iter().map(|side| side.need.stated);
        let stated = stated.into_iter().find(|stated| stated.capacity_bytes.is_some());
        stated.map_or(room, |stated| Room {
            capacity_bytes: stated.capacity_bytes,
            other_bytes: stated.other_bytes.unwrap_or(0),
            ..room
        })
    }

    /// What both devices have, if that is the same: a text before the sentence, or, where a file beside one of the runs
    /// states it, a text behind it.
    fn shared_room(
        &self,
        room: Room,
        judged: &[Judgement; 2],
        size: &dyn Fn(u64) -> String,
    ) -> Option<[String; 2]> {
        let [of, other] = judged;
        let capacity = of.capacity_bytes.filter(|_| {
            (of.capacity_bytes, of.other_bytes) == (other.capacity_bytes, other.other_bytes)
        })?;
        let by = self.sides.iter().zip(SIDES).find_map(|(side, name)| {
            let states = side.need.stated.capacity_bytes == Some(capacity);
            (states && !side.need.stated_by.is_empty())
                .then(|| side.need.stated_by.replace(" it ", &format!(" the {name} ")))
        });
        let others = match (of.other_bytes, room.is_said()) {
            (0, _) => String::new(),
            (others, true) => format!(", of which others have {}", size(others)),
            (others, false) => {
                format!(", of which others had {} when that request failed", size(others))
            }
        };
        let capacity = size(capacity);
        Some(match by.filter(|_| room.capacity_bytes.is_none()) {
            Some(by) => {
                let text = format!(". The device has {capacity}{others}, as {by}");
                [String::new(), text]
            }
            None => [format!("of the {capacity}{others}: "), String::new()],
        })
    }
}

/// What is said of one side.
fn said(side: &str, need: &Need, judged: &Judgement, size: &dyn Fn(u64) -> String) -> String {
    let Some(needed) = need.bytes else {
        return format!("it is not known what the {side} needs");
    };
    let least = if need.at_least.is_some() { "at least " } else { "" };
    let needs = format!("the {side} {} {least}{}", need.verb, size(needed));
    match (judged.outcome, judged.over_bytes, need.at_least) {
        (Outcome::OutOfMemory, ..) => match &need.failed {
            Some(failed) => {
                let free = failed.free_bytes.map_or_else(String::new, |free| {
                    format!(" and {} were free for it", size(free))
                });
                let at = &failed.at;
                format!(
                    "the {side} ran out of memory{at} when it asked for {}{free}",
                    size(failed.bytes)
                )
            }
            None => format!("the {side} ran out of memory on another device"),
        },
        (Outcome::DoesNotFit, Some(over), _) => {
            format!("{needs} and is {least}{} over", size(over))
        }
        (Outcome::DoesNotFit, None, _) => format!("{needs}, and {}", need.refusal),
        (Outcome::Fits, ..) => format!("{needs} and fits"),
        (Outcome::Ran, ..) => {
            format!("the {side} ran to its end and {} {least}{}", need.verb, size(needed))
        }
        (Outcome::Unknown, _, Some(at_least)) => {
            format!("{needs}, and whether it fits is not known: {}", at_least.why)
        }
        (Outcome::Unknown, _, None)
            if need.ending == Ending::NotKnown && judged.capacity_bytes.is_none() =>
        {
            format!("{needs} of a memory of unknown size")
        }
        (Outcome::Unknown, ..) => format!("{needs}, and whether it fits is not known"),
    }
}
