//! A piece of work on its own named thread, whose answer wakes the window.

use eframe::egui;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

/// Tells a job that nobody waits for its answer any more.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Whether the job shall stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A running job. Dropping it cancels it.
#[derive(Debug)]
pub struct Job<T> {
    answer: Receiver<T>,
    cancel: Cancel,
}

/// What a job has to say now.
#[derive(Debug)]
pub enum Answer<T> {
    /// Still working.
    Working,
    /// The answer, once.
    Done(T),
    /// It ended without an answer.
    Failed,
}

impl<T: Send + 'static> Job<T> {
    /// Starts a job.
    ///
    /// # Errors
    /// When the operating system gives no thread.
    pub fn start(
        name: &str,
        ctx: &egui::Context,
        work: impl FnOnce(&Cancel) -> T + Send + 'static,
    ) -> std::io::Result<Self> {
        let (sender, answer) = sync_channel(1);
        let cancel = Cancel::default();
        let (wake, told) = (Wake::new(ctx), cancel.clone());
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            // Wakes the window also when the work panics, so that it sees that no answer will come.
            let wake = wake;
            let answer = work(&told);
            if !told.is_cancelled() {
                // The window may be gone by now; then nobody needs the answer.
                drop(sender.try_send(answer));
            }
            drop(sender);
            drop(wake);
        })?;
        Ok(Self { answer, cancel })
    }

    /// The answer, if it has come.
    pub fn poll(&self) -> Answer<T> {
        match self.answer.try_recv() {
            Ok(answer) => Answer::Done(answer),
            Err(TryRecvError::Empty) => Answer::Working,
            Err(TryRecvError::Disconnected) => Answer::Failed,
        }
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.cancel.0.store(true, Ordering::Relaxed);
    }
}

/// Number of jobs that are running.
pub fn in_flight(ctx: &egui::Context) -> usize {
    counter(ctx).load(Ordering::Relaxed)
}

fn counter(ctx: &egui::Context) -> Arc<AtomicUsize> {
    let key = egui::Id::unique("jobs in flight");
    ctx.data_mut(|data| Arc::clone(data.get_temp_mut_or_default(key)))
}

/// Counts a job, and wakes the window when it ends.
struct Wake {
    ctx: egui::Context,
    counter: Arc<AtomicUsize>,
}

impl Wake {
    fn new(ctx: &egui::Context) -> Self {
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

/// The answer to the latest of a row of questions, such as "what is alive at this step": a new
/// question cancels the job of the one before, whose answer stays until the new one comes.
#[derive(Debug)]
pub struct Latest<K, V> {
    asked: Option<K>,
    job: Option<Job<V>>,
    answer: Option<(K, V)>,
    failure: Option<String>,
}

impl<K, V> Default for Latest<K, V> {
    fn default() -> Self {
        Self { asked: None, job: None, answer: None, failure: None }
    }
}

impl<K: Clone + PartialEq, V: Send + 'static> Latest<K, V> {
    /// Asks, unless this was the last question; takes the answer if it has come.
    pub fn ask(
        &mut self,
        name: &str,
        ctx: &egui::Context,
        key: &K,
        work: impl FnOnce(&Cancel) -> V + Send + 'static,
    ) {
        if self.asked.as_ref() != Some(key) {
            self.asked = Some(key.clone());
            self.failure = None;
            self.job = None;
            match Job::start(name, ctx, work) {
                Ok(job) => self.job = Some(job),
                Err(error) => self.failure = Some(format!("No thread to work on: {error}")),
            }
        }
        match self.job.as_ref().map(Job::poll) {
            Some(Answer::Done(answer)) => {
                self.answer = Some((key.clone(), answer));
                self.job = None;
            }
            Some(Answer::Failed) => {
                self.failure = Some(format!("{name} stopped: a mistake in Tilescope"));
                self.job = None;
            }
            Some(Answer::Working) | None => {}
        }
    }

    /// The last answer with its question, which may be an earlier one.
    pub fn last(&self) -> Option<&(K, V)> {
        self.answer.as_ref()
    }

    /// The answer to this question.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.answer.as_ref().filter(|(asked, _)| asked == key).map(|(_, answer)| answer)
    }

    /// Why there will be no answer.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
