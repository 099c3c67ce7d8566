//! What a run needs of a device, and whether it fits: one judgement for every page and command (definitions.md, "Every
//! system").

use super::room::{Room, StatedRoom};
use super::verdict::{DeviceVerdict, Outcome, Verdict, VerdictFigure};
use crate::text::{bytes, capitalised, exact_bytes, words};

words! {
    /// How a run ended, as far as its own files say.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Ending by key {
        /// To its end.
        Ran = "ran",
        /// At a request that failed.
        Failed = "failed",
        /// Its compiler found no room for it.
        Refused = "refused",
        /// Nobody says.
        #[default]
        NotKnown = "not-known",
    }
}

/// Why bytes are no more than a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtLeast {
    /// The key of a verdict that goes by it: `cut`, `not-recorded`, `recorded-window`, `one-step`, `one-moment`,
    /// `unfinished`, `contradictory`.
    pub cause: &'static str,
    /// The same in a word or two, for a chip: "the file is cut".
    pub short: &'static str,
    /// The same in a clause: "the file ends before its contents do, so it may be more".
    pub why: &'static str,
}

impl AtLeast {
    /// Of a recording that does not show all; its chip says only "not known".
    pub const fn of(cause: &'static str, why: &'static str) -> Self {
        Self { cause, short: "not known", why }
    }

    /// Of a file that ends before its contents do.
    pub const CUT: Self = Self {
        cause: "cut",
        short: "the file is cut",
        why: "the file ends before its contents do, so it may be more",
    };
    /// Of a run that a failed request ended.
    pub const FAILED: Self = Self {
        cause: "request-failed",
        short: "out of memory",
        why: "the run ran out of memory, so what it needs in full is not known",
    };
}

/// A request that ended a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedAsk {
    /// Bytes that it asked for.
    pub bytes: u64,
    /// Bytes that the run could still have had of the device.
    pub free_bytes: Option<u64>,
    /// Where it is: "at event 1,786", "as the error text beside it says".
    pub at: String,
}

/// What a run, or one of its devices, needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// The device; `None` of the run as a whole.
    pub device: Option<i64>,
    /// Its title; empty of the run as a whole.
    pub title: String,
    /// "needs", "reserves".
    pub verb: &'static str,
    /// Bytes that there must be; `None` where the run does not say.
    pub bytes: Option<u64>,
    /// What they are of, where that is a part of the device: "the fullest tile".
    pub of_part: Option<&'static str>,
    /// The arena that this is.
    pub arena: Option<u32>,
    /// Why it may be more.
    pub at_least: Option<AtLeast>,
    /// How it ended.
    pub ending: Ending,
    /// What failed, where a request did.
    pub failed: Option<FailedAsk>,
    /// What something beside the run states of the device.
    pub stated: StatedRoom,
    /// Who states it, behind "that": "the error text beside it states".
    pub stated_by: &'static str,
    /// Who refused it, where it was: "XLA refused it".
    pub refusal: &'static str,
    /// Whether a capacity is of something else, unless the user names this device with it.
    pub is_beside: bool,
}

/// What is said of a need where so much is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// How the run comes out.
    pub outcome: Outcome,
    /// The key of what decides it, as of [`Verdict::cause`].
    pub cause: Option<&'static str>,
    /// Bytes of the device.
    pub capacity_bytes: Option<u64>,
    /// Bytes of it that are not others'.
    pub limit_bytes: Option<u64>,
    /// Bytes that others have.
    pub other_bytes: u64,
    /// By how much the need is over the limit; `None` where one of them is not known, or the need only by a bound that is
    /// within.
    pub over_bytes: Option<u64>,
    /// The same in a clause that begins with "it".
    pub text: String,
}

/// What a device has: as the user says, else as something beside a run states it.
struct KnownRoom {
    capacity_bytes: u64,
    is_stated: bool,
    other_bytes: u64,
    is_other_stated: bool,
}

impl Need {
    /// Of a run whose verdict is all that it says.
    pub fn of_verdict(verdict: &Verdict) -> Self {
        Self {
            verb: "needs",
            bytes: verdict.used_bytes,
            of_part: verdict.used_of,
            ending: match verdict.outcome {
                Outcome::Ran => Ending::Ran,
                Outcome::OutOfMemory => Ending::Failed,
                Outcome::DoesNotFit if verdict.over_bytes.is_none_or(|over| over == 0) => {
                    Ending::Refused
                }
                _ => Ending::NotKnown,
            },
            stated: StatedRoom { capacity_bytes: verdict.capacity_bytes, other_bytes: None },
            refusal: "it did not fit",
            ..Self::default()
        }
    }

    fn known_room(&self, room: Room) -> Option<KnownRoom> {
        let capacity_bytes = room.capacity_bytes.or(self.stated.capacity_bytes)?;
        let is_stated = room.capacity_bytes.is_none();
        let others = self.stated.other_bytes.filter(|_| is_stated && !room.is_other_said);
        Some(KnownRoom {
            capacity_bytes,
            is_stated,
            other_bytes: others.unwrap_or(room.other_bytes),
            is_other_stated: others.is_some(),
        })
    }

    /// Bytes that others have of the device.
    pub fn other_bytes(&self, room: Room) -> u64 {
        self.known_room(room).map_or(room.other_bytes, |known| known.other_bytes)
    }

    /// Whether it fits, where the user says so much of the device.
    pub fn judge(&self, room: Room) -> Judgement {
        let known = self.known_room(room);
        let of_known = |bytes: u64, known: &KnownRoom| {
            bytes.saturating_add(known.other_bytes).saturating_sub(known.capacity_bytes)
        };
        let over = self.bytes.zip(known.as_ref()).map(|(bytes, known)| of_known(bytes, known));
        let is_refused = self.ending == Ending::Refused && room.capacity_bytes.is_none();
        let (outcome, cause) = match (self.ending, over, self.at_least) {
            (Ending::Failed, ..) => (Outcome::OutOfMemory, Some("request-failed")),
            // It ran on the device that is stated.
            (Ending::Ran, Some(1..), _) if !room.is_said() => (Outcome::Ran, None),
            (_, Some(1..), _) => (Outcome::DoesNotFit, Some("capacity")),
            _ if is_refused => (Outcome::DoesNotFit, Some("refused")),
            (_, Some(0), None) => (Outcome::Fits, None),
            (Ending::Ran, None, _) => (Outcome::Ran, None),
            (_, _, Some(at_least)) => (Outcome::Unknown, Some(at_least.cause)),
            (_, None, None) if self.bytes.is_none() => (Outcome::Unknown, Some("not-recorded")),
            (_, None, None) => (Outcome::Unknown, Some("capacity-not-known")),
        };
        Judgement {
            outcome,
            cause,
            capacity_bytes: known.as_ref().map(|known| known.capacity_bytes),
            limit_bytes: known
                .as_ref()
                .map(|known| known.capacity_bytes.saturating_sub(known.other_bytes)),
            other_bytes: self.other_bytes(room),
            over_bytes: over.filter(|over| match outcome {
                Outcome::Ran => false,
                Outcome::Fits | Outcome::OutOfMemory => true,
                _ => *over > 0,
            }),
            text: self.text(known.as_ref(), over, outcome, is_refused),
        }
    }

    fn text(
        &self,
        known: Option<&KnownRoom>,
        over: Option<u64>,
        outcome: Outcome,
        is_refused: bool,
    ) -> String {
        let Some(needed) = self.bytes else {
            return "it is not known what it needs".to_owned();
        };
        let least = if self.at_least.is_some() { "at least " } else { "" };
        let on = self.of_part.map_or_else(String::new, |part| format!(" on {part}"));
        let needs = format!("it {} {least}{}{on}", self.verb, bytes(needed));
        let why = match self.ending {
            _ if is_refused => Some(self.refusal),
            _ => self.at_least.map(|at_least| at_least.why),
        };
        let Some(known) = known else {
            let not_known = "the capacity of the device is not known";
            return match why {
                Some(why) => format!("{needs}; {why}, and {not_known}"),
                None => format!("{needs}, and {not_known}"),
            };
        };
        let by = match (known.is_stated, self.stated_by) {
            (false, _) | (_, "") => String::new(),
            (true, by) => format!(" that {by}"),
        };
        let (before, after) = match (known.other_bytes, known.is_other_stated) {
            (0, _) => (String::new(), String::new()),
            (other, false) => (format!(" and others have {}", bytes(other)), String::new()),
            (other, true) => (
                String::new(),
                format!(", of which others had {} when that request failed", bytes(other)),
            ),
        };
        let limit = known.capacity_bytes.saturating_sub(known.other_bytes);
        let compared = match (over, why) {
            (Some(over @ 1..), _) => format!(", {} too much", exact_bytes(over)),
            (_, Some(why)) if outcome != Outcome::Fits => format!("; {why}"),
            _ => format!(", so {} are left", exact_bytes(limit.saturating_sub(needed))),
        };
        format!("{needs}{before} of the {}{by}{after}{compared}", bytes(known.capacity_bytes))
    }
}

impl Verdict {
    /// The same where the user says so much of the device; a verdict by what the files say where he says nothing.
    #[must_use]
    pub fn in_room(self, need: &Need, room: Room) -> Self {
        let judged = need.judge(room);
        let is_same = self.outcome == judged.outcome;
        // What a system says in its own words of what its files say is better than what holds for all.
        let is_own = is_same && !room.is_said();
        let is_bound = judged.outcome == Outcome::Unknown && need.at_least.is_some();
        let mut figures = self.figures;
        let mut used_of_all = self.used_of_all;
        if room.is_said() {
            figures.retain(|figure| !figure.is_of_room);
            let capacity = room.capacity_bytes.map(|bytes| ("Capacity", bytes, room.from()));
            let other = Some(("Used by others", room.other_bytes, String::new()));
            let other = other.filter(|(_, bytes, _)| *bytes > 0);
            let said = [capacity, other].into_iter().flatten();
            figures.extend(said.map(|(title, bytes, note)| VerdictFigure {
                is_of_room: true,
                ..VerdictFigure::of(title, bytes, note)
            }));
            let used = need.bytes.filter(|_| need.of_part.is_none());
            let used = used.map(|used| used.saturating_add(judged.other_bytes));
            used_of_all = used.zip(judged.capacity_bytes);
        }
        Self {
            outcome: judged.outcome,
            cause: if is_own { self.cause } else { judged.cause },
            short: match (need.at_least.filter(|_| is_bound), is_same) {
                (Some(at_least), _) => at_least.short.to_owned(),
                (None, true) if is_own || judged.outcome == Outcome::OutOfMemory => self.short,
                _ => judged.outcome.word().to_owned(),
            },
            text: match judged.outcome {
                Outcome::OutOfMemory | Outcome::Ran => self.text,
                _ if is_own => self.text,
                _ if room.is_said() || is_bound => capitalised(&judged.text),
                _ => self.text,
            },
            details: if room.is_said() { Vec::new() } else { self.details },
            figures,
            capacity_bytes: judged.capacity_bytes.or(self.capacity_bytes),
            capacity_from: match room.capacity_bytes {
                Some(_) => Some(room.from()),
                None => self.capacity_from,
            },
            // What a request lacked is more than bytes say.
            over_bytes: match judged.outcome {
                Outcome::OutOfMemory if room.capacity_bytes.is_some() => judged.over_bytes,
                Outcome::OutOfMemory => self.over_bytes,
                Outcome::DoesNotFit if is_own => self.over_bytes,
                _ => judged.over_bytes,
            },
            used_of_all,
            at_least: need.at_least,
            ..self
        }
    }
}

impl DeviceVerdict {
    /// The same where the user says so much of the device.
    #[must_use]
    pub fn in_room(self, need: &Need, room: Room) -> Self {
        // That another device failed says nothing of this one.
        let is_of_other = need.ending == Ending::Failed && self.outcome == Outcome::Ran;
        let own = is_of_other.then(|| Need { ending: Ending::Ran, ..need.clone() });
        let of = Verdict::of_device(&self).in_room(own.as_ref().unwrap_or(need), room);
        Self {
            outcome: of.outcome,
            cause: of.cause,
            capacity_bytes: of.capacity_bytes,
            over_bytes: of.over_bytes,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: AtLeast = AtLeast::of("recorded-window", "it may have been more before");

    fn room(capacity: u64, other_bytes: u64) -> Room {
        Room { capacity_bytes: Some(capacity), other_bytes, ..Room::default() }
    }

    fn need(bytes: u64, ending: Ending, at_least: Option<AtLeast>) -> Need {
        Need { verb: "needs", bytes: Some(bytes), ending, at_least, ..Need::default() }
    }

    fn said(need: &Need, room: Room) -> (Outcome, Option<&'static str>, Option<u64>) {
        let found = need.judge(room);
        (found.outcome, found.cause, found.over_bytes)
    }

    #[test]
    fn a_device_beside_the_one_that_failed_ran() {
        let device = |outcome| DeviceVerdict {
            device: 0,
            name: String::new(),
            outcome,
            cause: None,
            used_bytes: Some(10),
            capacity_bytes: None,
            over_bytes: None,
            peak_bytes: None,
            peak_step: None,
        };
        let failed = need(10, Ending::Failed, Some(AtLeast::FAILED));
        let outcome = |own| device(own).in_room(&failed, Room::default()).outcome;
        assert_eq!(outcome(Outcome::Ran), Outcome::Ran);
        assert_eq!(outcome(Outcome::OutOfMemory), Outcome::OutOfMemory);
    }

    #[test]
    fn a_capacity_decides_unless_the_run_failed() {
        let ran = need(2000, Ending::Ran, None);
        assert_eq!(said(&ran, room(2100, 100)), (Outcome::Fits, None, Some(0)));
        assert_eq!(said(&ran, room(1600, 100)), (Outcome::DoesNotFit, Some("capacity"), Some(500)));
        assert_eq!(said(&ran, Room::default()), (Outcome::Ran, None, None));
        let failed = need(10, Ending::Failed, Some(AtLeast::FAILED));
        let out = |over| (Outcome::OutOfMemory, Some("request-failed"), over);
        assert_eq!(said(&failed, room(100, 0)), out(Some(0)));
        assert_eq!(said(&failed, room(4, 1)), out(Some(7)));
        assert_eq!(said(&failed, Room::default()), out(None));
        let compiled = need(10, Ending::NotKnown, None);
        let unknown = (Outcome::Unknown, Some("capacity-not-known"), None);
        assert_eq!(said(&compiled, Room::default()), unknown);
        assert_eq!(said(&compiled, room(10, 0)), (Outcome::Fits, None, Some(0)));
    }

    #[test]
    fn a_lower_bound_never_fits_and_may_well_not_fit() {
        for ending in [Ending::Ran, Ending::NotKnown] {
            let bound = need(10, ending, Some(WINDOW));
            let found = said(&bound, room(100, 0));
            assert_eq!(found, (Outcome::Unknown, Some("recorded-window"), None));
            let found = said(&bound, room(9, 0));
            assert_eq!(found, (Outcome::DoesNotFit, Some("capacity"), Some(1)));
        }
        let ran = need(10, Ending::Ran, Some(WINDOW));
        assert_eq!(said(&ran, Room::default()).0, Outcome::Ran);
        let cut = need(10, Ending::NotKnown, Some(AtLeast::CUT));
        assert_eq!(said(&cut, Room::default()), (Outcome::Unknown, Some("cut"), None));
        let text = "it needs at least 10 B of the 100 B; it may have been more before";
        assert_eq!(ran.judge(room(100, 0)).text, text);
    }

    #[test]
    fn what_was_refused_says_nothing_of_another_device() {
        let stated = StatedRoom { capacity_bytes: Some(100), other_bytes: None };
        let refused = Need { stated, ..need(10, Ending::Refused, None) };
        assert_eq!(said(&refused, Room::default()), (Outcome::DoesNotFit, Some("refused"), None));
        let others = Room { other_bytes: 5, ..Room::default() };
        assert_eq!(said(&refused, others).0, Outcome::DoesNotFit);
        assert_eq!(said(&refused, room(100, 0)).0, Outcome::Fits);
    }

    #[test]
    fn what_others_had_counts_with_the_capacity_that_says_it() {
        let stated = StatedRoom { capacity_bytes: Some(100), other_bytes: Some(95) };
        let ran = Need { stated, ..need(10, Ending::Ran, None) };
        assert_eq!(said(&ran, Room::default()), (Outcome::Ran, None, None), "it did run there");
        let compiled = Need { ending: Ending::NotKnown, ..ran.clone() };
        let too_much = (Outcome::DoesNotFit, Some("capacity"), Some(5));
        assert_eq!(said(&compiled, Room::default()), too_much);
        assert_eq!(said(&ran, room(100, 0)).0, Outcome::Fits, "it is another device");
        let alone = Room { is_other_said: true, ..Room::default() };
        assert_eq!(said(&ran, alone).0, Outcome::Fits);
    }

    #[test]
    fn a_verdict_keeps_its_own_words_where_nobody_says_more() {
        let own = Verdict {
            outcome: Outcome::DoesNotFit,
            cause: Some("curve"),
            short: "1 tile over".to_owned(),
            text: "1 of 4 tiles is over".to_owned(),
            used_bytes: Some(105),
            used_of: Some("the fullest tile"),
            capacity_bytes: Some(100),
            over_bytes: Some(5),
            ..Verdict::default()
        };
        let need = Need::of_verdict(&own);
        assert_eq!(own.clone().in_room(&need, Room::default()), own);
        let larger = own.in_room(&need, room(200, 0));
        assert_eq!((larger.outcome, larger.cause, &*larger.short), (Outcome::Fits, None, "fits"));
        assert_eq!(
            larger.text,
            "It needs 105 B on the fullest tile of the 200 B, so 95 B are left"
        );
        assert_eq!(larger.capacity_from.as_deref(), Some("the user"));
    }
}
