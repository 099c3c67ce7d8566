//! Replays the events of a snapshot while they are read, on a separate thread. Everything else that is computed waits
//! for both.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::Builder;

use crate::store::snapshot::{EventPart, ToldEvents};
use crate::systems::pytorch::allocator::replay::ReplayAhead;

/// Bytes of a file from which on it is worthwhile.
const LARGE: u64 = 16 << 20;

/// Parts that wait for the replay; there are some thousand events in each.
const WAITING: usize = 64;

/// Lets `read` read a snapshot of so many bytes, and replays the events that it tells of; what it gives, and the replay, where there is
/// one that may be of use.
pub(super) fn replayed_ahead<T>(
    bytes: u64,
    read: impl FnOnce(&mut dyn FnMut(ToldEvents)) -> T,
) -> (T, Option<ReplayAhead>) {
    if bytes < LARGE {
        return (read(&mut |_| {}), None);
    }
    let (to, parts) = sync_channel::<EventPart>(WAITING);
    let replay = Builder::new().name("replay ahead".to_owned()).spawn(move || {
        let mut ahead = ReplayAhead::default();
        // Who reads sees that nobody listens any more where it is of no use, or takes more than a file that is made to
        // do harm may have.
        let goes_on = |part: EventPart| ahead.add(&part) && ahead.bytes() <= bytes / 2;
        parts.iter().all(goes_on).then_some(ahead)
    });
    let mut to: Option<SyncSender<EventPart>> = Some(to);
    let read = read(&mut |events| match events {
        ToldEvents::Part(part) => {
            if to.as_ref().is_some_and(|to| to.send(part).is_err()) {
                to = None;
            }
        }
        ToldEvents::Changed => to = None,
    });
    let is_told = to.take().is_some();
    let ahead = replay.ok().and_then(|replay| replay.join().ok()).flatten();
    (read, ahead.filter(|_| is_told))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::snapshot::Action;

    fn part(action: Action) -> ToldEvents {
        ToldEvents::Part(EventPart {
            actions: vec![action],
            addresses: vec![1 << 21],
            sizes: vec![1 << 21],
        })
    }

    #[test]
    fn a_replay_comes_of_large_files_whose_events_stay_as_they_were_told() {
        let of = |bytes, told: &[ToldEvents]| {
            let read = |tell: &mut dyn FnMut(ToldEvents)| told.iter().cloned().for_each(tell);
            replayed_ahead(bytes, read).1.is_some()
        };
        let segment = || part(Action::SegmentAlloc);
        assert!(of(LARGE, &[segment(), part(Action::Alloc), part(Action::FreeCompleted)]));
        assert!(!of(LARGE - 1, &[segment()]));
        assert!(!of(LARGE, &[segment(), ToldEvents::Changed]));
        // More blocks than so small a file may have.
        let blocks = ToldEvents::Part(EventPart {
            actions: std::iter::once(Action::SegmentAlloc)
                .chain(std::iter::repeat_n(Action::Alloc, 1 << 18))
                .collect(),
            addresses: std::iter::once(1 << 40)
                .chain((0..1 << 18).map(|block| (1 << 40) + block * 512))
                .collect(),
            sizes: std::iter::once(1 << 30).chain(std::iter::repeat_n(512, 1 << 18)).collect(),
        });
        assert!(of(LARGE << 3, std::slice::from_ref(&blocks)));
        assert!(!of(LARGE, &[blocks]));
        // It is of no use, however much is told after that.
        let many: Vec<ToldEvents> = (0..1000).map(|_| part(Action::FreeCompleted)).collect();
        assert!(!of(LARGE, &many));
    }
}
