//! Lists that are filled at once with entries of the memo: in a large snapshot these are stacks of frames, one for each
//! event. Finding equal ones takes as long as the rest of reading, so a separate thread does it, some batches behind
//! the machine. Lists are compared by the numbers of their entries; these are resolved at the end, once for each list.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Builder, JoinHandle};

use super::intern::Interned;
use super::objects::SHORT_LIST;
use super::values::{Fault, MOST_ROWS, NONE};

/// Items after which a batch is handed over.
const BATCH_ITEMS: usize = 1 << 16;

/// Batches that there are: one that is filled, one that is looked up, and those that wait, as of the blocks of the file.
const BATCHES: usize = 8;

/// Lists end to end, and behind them room for another one.
#[derive(Default)]
struct Batch {
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Batch {
    /// Number of items in its lists.
    fn filled(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }
}

/// Lists by their contents, and the rows of all lists in the order in which they were filled.
struct Table {
    lists: Interned<u32>,
    rows: Vec<u32>,
    is_full: bool,
}

impl Table {
    fn new() -> Self {
        Self { lists: Interned::new(), rows: Vec::new(), is_full: false }
    }

    fn add(&mut self, batch: &mut Batch) {
        let added = self.lists.rows(&batch.items, &batch.ends, &mut self.rows);
        self.is_full |= added.is_none();
        batch.ends.clear();
    }

    fn bytes(&self) -> usize {
        self.lists.bytes().saturating_add(self.rows.capacity().saturating_mul(4))
    }
}

/// A thread with a table.
struct Worker {
    to: Option<SyncSender<Batch>>,
    /// Batches that are done, and the bytes that the table took then. Whoever has all of it takes them without a lock; the
    /// lock is for those who only look at lists, of which there are several.
    done: Mutex<Receiver<(Batch, usize)>>,
    thread: Option<JoinHandle<Table>>,
    /// Batches that were not filled yet.
    unused: usize,
    bytes: usize,
}

impl Worker {
    /// `None` where there are threads enough.
    fn start() -> Option<Self> {
        let (to, batches) = sync_channel::<Batch>(BATCHES);
        let (to_done, done) = sync_channel(BATCHES);
        let work = move || {
            let mut table = Table::new();
            for mut batch in batches {
                table.add(&mut batch);
                // Nobody waits for it behind the last one.
                drop(to_done.send((batch, table.bytes())));
            }
            table
        };
        let thread = Builder::new().name("lists of a snapshot".to_owned()).spawn(work).ok()?;
        let unused = BATCHES.saturating_sub(1);
        Some(Self { to: Some(to), done: Mutex::new(done), thread: Some(thread), unused, bytes: 0 })
    }

    /// Hands a batch over in exchange for an empty one, for which it waits. So what the table takes is known as of a
    /// fixed number of batches ago, however fast the thread is.
    fn exchange(&mut self, batch: &mut Batch) {
        let mut next = Batch::default();
        if self.unused > 0 {
            self.unused = self.unused.saturating_sub(1);
        } else if let Ok(done) = self.done.get_mut()
            && let Ok((done, bytes)) = done.recv()
        {
            (next, self.bytes) = (done, bytes);
        }
        self.hand_over(std::mem::replace(batch, next));
    }

    fn hand_over(&self, batch: Batch) {
        if let Some(to) = &self.to {
            // It takes all until this end is dropped.
            drop(to.send(batch));
        }
    }

    /// The table, when all is in it.
    fn end(&mut self) -> Option<thread::Result<Table>> {
        drop(self.to.take());
        Some(self.thread.take()?.join())
    }
}

impl Drop for Worker {
    /// Leaves no thread behind.
    fn drop(&mut self) {
        drop(self.end());
    }
}

/// Where lists are looked up.
enum ListPlace {
    Here(Table),
    Elsewhere(Worker),
    /// All were, and there are no more of them: what is in each row.
    Settled(Interned<u32>),
}

/// Lists by their contents. They have numbers in the order in which they are filled; when these are settled, the rows of
/// their contents in place of them.
pub(super) struct KnownLists {
    batch: Batch,
    count: u32,
    place: ListPlace,
}

impl KnownLists {
    pub(super) fn new() -> Self {
        Self { batch: Batch::default(), count: 0, place: ListPlace::Here(Table::new()) }
    }

    /// Where the items of the next list are put, behind those of others: room for a short list.
    #[inline]
    pub(super) fn open(&mut self) -> &mut [u32] {
        let filled = self.batch.filled();
        let items = &mut self.batch.items;
        if items.is_empty() {
            items.resize(BATCH_ITEMS.saturating_add(SHORT_LIST), 0);
        }
        items.get_mut(filled..).unwrap_or_default()
    }

    /// Makes a list of the first of what was put there; its number.
    ///
    /// # Errors
    /// When there are too many.
    #[inline]
    pub(super) fn close(&mut self, items: usize) -> Result<u32, Fault> {
        let number = self.count;
        if number >= MOST_ROWS {
            return Err(Fault::too_many());
        }
        self.count = number.saturating_add(1);
        let filled = self.batch.filled().saturating_add(items);
        self.batch.ends.push(filled);
        if filled.saturating_add(self.batch.ends.len()) >= BATCH_ITEMS {
            self.hand_over();
        }
        Ok(number)
    }

    #[cold]
    fn hand_over(&mut self) {
        if let ListPlace::Here(table) = &self.place
            && table.rows.is_empty()
            && let Some(worker) = Worker::start()
        {
            self.place = ListPlace::Elsewhere(worker);
        }
        match &mut self.place {
            ListPlace::Elsewhere(worker) => worker.exchange(&mut self.batch),
            ListPlace::Here(table) => table.add(&mut self.batch),
            ListPlace::Settled(_) => {}
        }
    }

    /// Waits until all are looked up, and puts entries in the place of their numbers; the row of each list by its number.
    /// There must be no more lists from now on.
    ///
    /// # Errors
    /// When there are too many.
    pub(super) fn settle(&mut self, memo: &[u32]) -> Result<Vec<u32>, Fault> {
        let mut batch = std::mem::take(&mut self.batch);
        let table = match &mut self.place {
            ListPlace::Settled(_) => return Ok(Vec::new()),
            ListPlace::Here(table) => {
                table.add(&mut batch);
                Some(std::mem::replace(table, Table::new()))
            }
            ListPlace::Elsewhere(worker) => {
                worker.hand_over(batch);
                let ended = worker.end();
                ended.map(|table| table.unwrap_or_else(|panic| resume_unwind(panic)))
            }
        };
        let Some(Table { mut lists, rows, is_full: false }) = table else {
            return Err(Fault::too_many());
        };
        lists.replace(|index| memo.get(index as usize).copied().unwrap_or(NONE));
        self.place = ListPlace::Settled(lists);
        Ok(rows)
    }

    /// Whether they have rows, not numbers.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self.place, ListPlace::Settled(_))
    }

    /// What is in the lists of a row, once they are settled.
    #[inline]
    pub(super) fn get(&self, row: u32) -> &[u32] {
        match &self.place {
            ListPlace::Settled(lists) => lists.get(row),
            _ => &[],
        }
    }

    /// Number of different lists, once they are settled.
    pub(super) fn len(&self) -> usize {
        match &self.place {
            ListPlace::Settled(lists) => lists.len(),
            _ => 0,
        }
    }

    /// Bytes of memory that they take, of the last few batches not yet.
    pub(super) fn bytes(&self) -> usize {
        match &self.place {
            ListPlace::Here(table) => table.bytes(),
            ListPlace::Elsewhere(worker) => worker.bytes,
            ListPlace::Settled(lists) => lists.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(lists: &mut KnownLists, items: &[u32]) -> Result<u32, Fault> {
        lists.open()[..items.len()].copy_from_slice(items);
        lists.close(items.len())
    }

    #[test]
    fn lists_have_the_rows_of_their_contents_in_the_order_in_which_they_were_filled() {
        // A few are looked up here, many by the thread.
        for count in [10_u32, 60_000] {
            let mut lists = KnownLists::new();
            let content = |number: u32| -> Vec<u32> { (0..number % 97).chain([7]).collect() };
            let memo: Vec<u32> = (0..100).map(|index| index * 3).collect();
            for number in 0..count {
                // What turned out to be no such list leaves nothing behind.
                lists.open()[0] = 3;
                assert_eq!(add(&mut lists, &content(number)), Ok(number));
            }
            assert!(!lists.is_settled());
            assert_eq!(lists.bytes() > 100_000, count > 10);
            let rows = lists.settle(&memo).unwrap();
            assert!(rows.iter().copied().eq((0..count).map(|number| number % 97)));
            let of_entries: Vec<u32> = content(5).iter().map(|index| index * 3).collect();
            assert_eq!((lists.len(), lists.get(5)), (97.min(count as usize), &of_entries[..]));
            assert_eq!((lists.settle(&memo), lists.is_settled()), (Ok(Vec::new()), true));
        }
        // Lists without anything in them are handed over, too.
        let mut lists = KnownLists::new();
        for number in 0..BATCH_ITEMS as u32 {
            assert_eq!(add(&mut lists, &[]), Ok(number));
        }
        assert!(matches!(lists.place, ListPlace::Elsewhere(_)));
        // What is not wanted any more ends its thread.
        let mut lists = KnownLists::new();
        for number in 0..=(BATCH_ITEMS / SHORT_LIST) as u32 {
            assert_eq!(add(&mut lists, &[1; SHORT_LIST]), Ok(number));
        }
        assert!(matches!(lists.place, ListPlace::Elsewhere(_)));
    }
}
