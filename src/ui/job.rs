//! A piece of work on its own named thread, whose answer wakes the window.

use eframe::egui;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use crate::progress::Progress;

/// Tells a job that nobody waits for its answer any more.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Progress>);

impl Cancel {
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// The same for what reads files.
    pub fn progress(&self) -> &Progress {
        &self.0
    }
}

/// A running job. Dropping it cancels it.
pub struct Job<T> {
    answer: Receiver<T>,
    /// Why there is no answer, where none comes.
    failure: String,
    cancel: Cancel,
}

impl<T: Send + 'static> Job<T> {
    pub fn start(
        name: &str,
        ctx: &egui::Context,
        work: impl FnOnce(&Cancel) -> T + Send + 'static,
    ) -> Self {
        let (sender, answer) = sync_channel(1);
        let cancel = Cancel::default();
        let (wake, told) = (Wake::new(ctx), cancel.clone());
        let started = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            // Wakes the window also when the work panics, so that it sees that no answer will come.
            let wake = wake;
            // Let go of before that, so that who looks then finds it gone.
            let sender = sender;
            let answer = work(&told);
            if !told.is_cancelled() {
                // The window may be gone by now; then nobody needs the answer.
                drop(sender.try_send(answer));
            }
            drop(sender);
            drop(wake);
        });
        let failure = match started {
            Ok(_) => format!("{name} stopped: a bug in Tilescope"),
            Err(error) => format!("No thread could be started: {error}"),
        };
        Self { answer, failure, cancel }
    }

    /// Tells the job that nobody waits for its answer any more.
    pub fn cancel(&self) {
        self.cancel.0.cancel();
    }

    /// How far it is.
    pub fn progress(&self) -> &Progress {
        self.cancel.progress()
    }

    /// The answer, once, if it has come; why there is none where the job stopped without one.
    pub fn poll(&self) -> Option<Result<T, String>> {
        match self.answer.try_recv() {
            Err(TryRecvError::Empty) => None,
            answer => Some(answer.map_err(|_| self.failure.clone())),
        }
    }

    /// The same of a job that is over then.
    pub fn take(job: &mut Option<Self>) -> Option<Result<T, String>> {
        let answer = job.as_ref()?.poll()?;
        *job = None;
        Some(answer)
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.cancel.0.cancel();
    }
}

/// Threads that work for the window, those among them that were told to stop too.
pub fn in_flight(ctx: &egui::Context) -> usize {
    counter(ctx).load(Ordering::Relaxed)
}

fn counter(ctx: &egui::Context) -> Arc<AtomicUsize> {
    let key = egui::Id::unique("jobs in flight");
    ctx.data_mut(|data| Arc::clone(data.get_temp_mut_or_default(key)))
}

/// Counts what a thread does for the window, and wakes it at the end.
pub(super) struct Wake {
    ctx: egui::Context,
    counter: Arc<AtomicUsize>,
}

impl Wake {
    pub(super) fn new(ctx: &egui::Context) -> Self {
        let counter = counter(ctx);
        counter.fetch_add(1, Ordering::Relaxed);
        Self { ctx: ctx.clone(), counter }
    }
}

impl Drop for Wake {
    fn drop(&mut self) {
        self.counter.fetch_sub(1, Ordering::Relaxed);
        self.ctx.request_repaint();
    }
}

/// The answer to the latest of a row of questions, such as "what is alive at this step". One job
/// runs at a time: a new question cancels the job of the one before and waits for its end. The answer
/// before stays until the new one comes.
pub struct Latest<K, V> {
    job: Option<(K, Job<V>)>,
    answer: Option<(K, V)>,
    failure: Option<(K, String)>,
}

impl<K, V> Default for Latest<K, V> {
    fn default() -> Self {
        Self { job: None, answer: None, failure: None }
    }
}

impl<K: Clone + PartialEq, V: Send + 'static> Latest<K, V> {
    /// Asks, unless this was the last question; takes what has come. Called in every frame.
    pub fn ask(
        &mut self,
        name: &str,
        ctx: &egui::Context,
        key: &K,
        work: impl FnOnce(&Cancel) -> V + Send + 'static,
    ) {
        if let Some((asked, job)) = &self.job {
            let is_wanted = asked == key;
            if !is_wanted {
                job.cancel();
            }
            match job.poll() {
                None => return,
                Some(Ok(answer)) => {
                    self.answer = Some((asked.clone(), answer));
                    self.failure = None;
                }
                Some(Err(failure)) if is_wanted => self.failure = Some((asked.clone(), failure)),
                Some(Err(_)) => {}
            }
            self.job = None;
        }
        let is_answered = self.get(key).is_some();
        let has_failed = self.failure.as_ref().is_some_and(|(asked, _)| asked == key);
        if is_answered || has_failed {
            return;
        }
        self.job = Some((key.clone(), Job::start(name, ctx, work)));
    }

    /// As [`Self::ask`], but where little is looked at the answer is there at once: that takes less than a frame.
    pub fn ask_or_tell(
        &mut self,
        name: &str,
        ctx: &egui::Context,
        key: &K,
        is_little: bool,
        work: impl FnOnce(&Cancel) -> V + Send + 'static,
    ) {
        if !is_little {
            return self.ask(name, ctx, key, work);
        }
        if self.get(key).is_none() {
            let answer = work(&Cancel::default());
            (self.job, self.answer, self.failure) = (None, Some((key.clone(), answer)), None);
        }
    }

    /// The last answer with its question, which may be an earlier one.
    pub fn last(&self) -> Option<&(K, V)> {
        self.answer.as_ref()
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        self.answer.as_ref().filter(|(asked, _)| asked == key).map(|(_, answer)| answer)
    }

    /// How far the job is, while one runs.
    pub fn progress(&self) -> Option<&Progress> {
        self.job.as_ref().map(|(_, job)| job.progress())
    }

    /// Why there will be no answer.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_ref().map(|(_, failure)| &**failure)
    }
}

/// A part of a question: this very thing, not an equal one, which would take long to tell. It is kept,
/// so that no other thing can come to lie in its place.
pub struct Same<T: ?Sized>(pub Arc<T>);

impl<T: ?Sized> Clone for Same<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What was made of something, made again when that is another.
pub struct Made<K, V>(Option<(K, V)>);

/// The same of this very thing, not of an equal one.
pub type MadeFor<T, V> = Made<Same<T>, V>;

impl<K, V> Default for Made<K, V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: PartialEq, V> Made<K, V> {
    /// It, made now if it is of something else.
    pub fn of(&mut self, key: K, make: impl FnOnce(&K) -> V) -> &V {
        let made = self.0.take().filter(|(made_for, _)| *made_for == key);
        let made = made.unwrap_or_else(|| {
            let made = make(&key);
            (key, made)
        });
        &self.0.insert(made).1
    }
}

impl<T, V> MadeFor<T, V> {
    /// It, made now if it is of another thing.
    pub fn get(&mut self, from: &Arc<T>, make: impl FnOnce() -> V) -> &V {
        self.of(Same(Arc::clone(from)), |_| make())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn wait(ctx: &egui::Context) {
        let started = Instant::now();
        while in_flight(ctx) > 0 {
            assert!(started.elapsed() < Duration::from_secs(30), "the job ends");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn the_latest_question_is_answered_and_the_answer_before_stays_meanwhile() {
        let ctx = egui::Context::default();
        let mut latest: Latest<u32, u32> = Latest::default();
        let ask = |latest: &mut Latest<u32, u32>, key: u32| {
            latest.ask("test", &ctx, &key, move |_| key * 10);
        };
        ask(&mut latest, 1);
        wait(&ctx);
        ask(&mut latest, 1);
        assert_eq!(latest.get(&1), Some(&10));
        // 2 is asked, but 3 is wanted before it is answered.
        ask(&mut latest, 2);
        ask(&mut latest, 3);
        assert!(latest.last().is_some_and(|(asked, _)| *asked < 3));
        for _ in 0..3 {
            wait(&ctx);
            ask(&mut latest, 3);
        }
        assert_eq!(latest.get(&3), Some(&30));
        assert_eq!(latest.failure(), None);
    }

    #[test]
    fn little_is_answered_at_once_and_much_by_a_job() {
        let ctx = egui::Context::default();
        let mut latest: Latest<u32, std::thread::ThreadId> = Latest::default();
        let own = std::thread::current().id();
        let ask = |latest: &mut Latest<u32, _>, key, is_little| {
            latest.ask_or_tell("test", &ctx, &key, is_little, |_| std::thread::current().id());
        };
        ask(&mut latest, 1, true);
        assert_eq!((latest.get(&1), in_flight(&ctx)), (Some(&own), 0));
        ask(&mut latest, 2, false);
        assert_eq!(latest.get(&2), None);
        wait(&ctx);
        ask(&mut latest, 2, false);
        assert!(latest.get(&2).is_some_and(|of| *of != own));
    }

    #[test]
    fn a_job_that_panics_is_a_failure_until_another_question_comes() {
        let ctx = egui::Context::default();
        let mut latest: Latest<u32, u32> = Latest::default();
        latest.ask("test", &ctx, &1, |_| panic!("on purpose"));
        wait(&ctx);
        latest.ask("test", &ctx, &1, |_| 0);
        assert!(latest.failure().is_some_and(|failure| failure.contains("bug")));
        latest.ask("test", &ctx, &2, |_| 5);
        wait(&ctx);
        latest.ask("test", &ctx, &2, |_| 5);
        assert_eq!((latest.get(&2), latest.failure()), (Some(&5), None));
    }
}
