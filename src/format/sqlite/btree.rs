//! Table b-trees ("SQLite file format", sections 1.6, B-tree Pages, and 1.6.1, Cell Payload Overflow Pages).
//!
//! The pages between the root and the leaves say which row ids lie below each of their children. A page, a leaf too,
//! may only have ids between those that it was found by, in ascending order, and none may be without any. So a page
//! that is met again, in a loop or because two name it, has no id that is still allowed, and no row comes twice,
//! whatever a file says. Overflow pages hold no rows; no more of them are read than the file has.

use std::ops::{ControlFlow, RangeInclusive};

use super::header::Header;
use super::record::{Fields, Layout, Record, RowWanted, varint};
use super::{DatabaseFile, Refusal, StoredTable};
use crate::limits;
use crate::progress::Progress;

/// Levels of pages that SQLite goes down (`BTCURSOR_MAX_DEPTH` is 20).
const MOST_LEVELS: usize = 19;
/// Leaves are read together where they lie together: as many bytes at once.
const RUN_BYTES: usize = 256 << 10;
/// So many pages between two leaves are read with them rather than left out with another call.
const MOST_BETWEEN: u32 = 3;
/// SQLite is told to refuse what is longer than this, or longer than the file (`SQLITE_LIMIT_LENGTH`).
const MOST_PAYLOAD: u64 = limits::RECORD_BYTES;
/// Bytes that the size of a payload takes at most.
const MOST_SIZE_BYTES: usize = 5;

const LEAF: u8 = 13;
const INTERIOR: u8 = 5;

/// Reads the rows of a range of row ids, in their order, into `each`, until it breaks or nobody waits any more.
///
/// # Errors
/// When a page or a row is not what it must be; the rows until then are right.
pub fn read_rows(
    file: &DatabaseFile,
    table: &StoredTable,
    layout: &Layout<'_>,
    ids: &RangeInclusive<i64>,
    progress: &Progress,
    each: &mut dyn FnMut(&Record<'_>) -> ControlFlow<()>,
) -> Result<(), Refusal> {
    if ids.is_empty() {
        return Ok(());
    }
    let header = file.header();
    let mut walk = PageWalk {
        file,
        header,
        most_local: header.usable_bytes.saturating_sub(35),
        // ((U-12)*32/255)-23 of the format's definition.
        least_local: (header.usable_bytes.saturating_sub(12).saturating_mul(32) / 255)
            .saturating_sub(23),
        layout,
        ids: ids.clone(),
        progress,
        each,
        fields: Fields::of(layout),
        cells: Vec::new(),
        overflow: OverflowPages { payload: Vec::new(), page: Vec::new(), pages_left: header.pages },
    };
    file.check_page(table.root, 1)?;
    let levels = walk.levels(table.root)?;
    let root = Child { page: table.root, first: i64::MIN, last: i64::MAX };
    if levels == 0 {
        let mut page = Vec::new();
        file.read_pages(root.page, 1, &mut page)?;
        return walk.leaf(root, &page, PageRun::default(), true).map(drop);
    }
    walk.interior(root, levels).map(drop)
}

/// A page with the row ids that may lie below it.
#[derive(Clone, Copy)]
struct Child {
    page: u32,
    first: i64,
    last: i64,
}

/// A row on a leaf.
#[derive(Clone, Copy)]
struct LeafCell {
    row: i64,
    /// Bytes of the record, and how many of them are on the leaf.
    total: usize,
    local: usize,
    /// Where they begin.
    start: usize,
}

struct PageWalk<'a> {
    file: &'a DatabaseFile,
    header: Header,
    /// Bytes of a record that are on the leaf: all up to the first, or else at least the second.
    most_local: usize,
    least_local: usize,
    layout: &'a Layout<'a>,
    ids: RangeInclusive<i64>,
    progress: &'a Progress,
    each: &'a mut dyn FnMut(&Record<'_>) -> ControlFlow<()>,
    fields: Fields,
    cells: Vec<LeafCell>,
    overflow: OverflowPages,
}

/// Pages that were read together.
#[derive(Clone, Copy, Default)]
struct PageRun<'b> {
    first: u32,
    bytes: &'b [u8],
    page_bytes: usize,
}

impl<'b> PageRun<'b> {
    fn page(&self, page: u32) -> Option<&'b [u8]> {
        let start = (page.checked_sub(self.first)? as usize).checked_mul(self.page_bytes)?;
        self.bytes.get(start..start.checked_add(self.page_bytes)?).filter(|page| !page.is_empty())
    }
}

/// Records that do not fit on their leaf.
struct OverflowPages {
    payload: Vec<u8>,
    page: Vec<u8>,
    pages_left: u32,
}

impl PageWalk<'_> {
    /// Levels of pages above the leaves: they are all at the same depth.
    fn levels(&self, root: u32) -> Result<usize, Refusal> {
        let (mut page, mut bytes) = (root, Vec::new());
        for levels in 0..=MOST_LEVELS {
            self.file.read_pages(page, 1, &mut bytes)?;
            match bytes.first() {
                Some(&LEAF) => return Ok(levels),
                Some(&INTERIOR) => {}
                kind => {
                    let kind = kind.copied().unwrap_or_default();
                    return Err(Refusal::page(page, "a page of a table with row ids", kind));
                }
            }
            let leftmost =
                big_endian(&bytes, 12, 2).and_then(|at| big_endian(&bytes, at as usize, 4));
            let child = leftmost.unwrap_or(0);
            self.file.check_page(child, page)?;
            page = child;
        }
        Err(Refusal::page(root, "at most 20 levels", MOST_LEVELS))
    }

    /// Goes through what lies below a page that is `level` levels above the leaves.
    fn interior(&mut self, of: Child, level: usize) -> Result<ControlFlow<()>, Refusal> {
        let mut bytes = Vec::new();
        self.file.read_pages(of.page, 1, &mut bytes)?;
        let mut children = self.children(of, &bytes)?;
        drop(bytes);
        // Those after the range stay: SQLite looks at the first row beyond it, too.
        children.retain(|child| child.last >= *self.ids.start());
        if level == 1 {
            return self.leaves(&children);
        }
        for child in children {
            if self.interior(child, level.saturating_sub(1))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The children of a page with the row ids that each may have.
    fn children(&self, of: Child, bytes: &[u8]) -> Result<Vec<Child>, Refusal> {
        let (usable, pointers) = self.pointers(of.page, bytes, INTERIOR, 12)?;
        let mut children = Vec::with_capacity(pointers.len().saturating_add(1));
        let mut first = of.first;
        for pointer in pointers {
            let at = usize::from(u16::from_be_bytes(*pointer));
            let cell = usable.get(at..).unwrap_or_default();
            let pointers_end = pointers.len().saturating_mul(2).saturating_add(12);
            let (child, key) = match cell {
                [a, b, c, d, key @ ..] if at >= pointers_end => {
                    (u32::from_be_bytes([*a, *b, *c, *d]), varint(key))
                }
                _ => (0, None),
            };
            let Some((key, _)) = key else {
                return Err(Refusal::page(of.page, "a cell within the page", at));
            };
            let last = key.cast_signed();
            let next = last.checked_add(1).filter(|_| last >= first && last <= of.last);
            let Some(next) = next else {
                return Err(Refusal::page(of.page, "row ids in ascending order", last));
            };
            self.file.check_page(child, of.page)?;
            children.push(Child { page: child, first, last });
            first = next;
        }
        let right = big_endian(usable, 8, 4).unwrap_or(0);
        self.file.check_page(right, of.page)?;
        if children.is_empty() || first > of.last {
            return Err(Refusal::page(of.page, "a page with cells", children.len()));
        }
        children.push(Child { page: right, first, last: of.last });
        Ok(children)
    }

    /// Checks the head of a page. Returns the bytes of it that are in use, and the pointers to its cells.
    fn pointers<'b>(
        &self,
        page: u32,
        bytes: &'b [u8],
        kind: u8,
        head_bytes: usize,
    ) -> Result<(&'b [u8], &'b [[u8; 2]]), Refusal> {
        if bytes.first() != Some(&kind) {
            let expected = if kind == LEAF { "a leaf (13)" } else { "an interior page (5)" };
            return Err(Refusal::page(page, expected, bytes.first().copied().unwrap_or_default()));
        }
        let usable = bytes.get(..self.header.usable_bytes).unwrap_or_default();
        let count = big_endian(usable, 3, 2).unwrap_or(0) as usize;
        let most = self.header.page_bytes.saturating_sub(8) / 6;
        let end = count.saturating_mul(2).saturating_add(head_bytes);
        match usable.get(head_bytes..end).filter(|_| count <= most) {
            Some(pointers) => Ok((usable, pointers.as_chunks().0)),
            None => Err(Refusal::page(page, "room for the cells of the page", count)),
        }
    }

    /// Goes through leaves. Those that lie close together in the file are read at once.
    fn leaves(&mut self, leaves: &[Child]) -> Result<ControlFlow<()>, Refusal> {
        let page_bytes = self.header.page_bytes;
        let most_pages = (RUN_BYTES.checked_div(page_bytes)).unwrap_or(1).max(1);
        let mut buffer = Vec::new();
        let mut rest = leaves;
        while let [start, others @ ..] = rest {
            if self.progress.is_cancelled() {
                return Ok(ControlFlow::Break(()));
            }
            let (mut count, mut last) = (1_usize, start.page);
            for next in others {
                let apart = next.page.checked_sub(last).is_some_and(|apart| {
                    apart.checked_sub(1).is_some_and(|between| between <= MOST_BETWEEN)
                });
                let span = next.page.saturating_sub(start.page) as usize;
                if !apart || span >= most_pages || next.first > *self.ids.end() {
                    break;
                }
                count = count.saturating_add(1);
                last = next.page;
            }
            let span = (last.saturating_sub(start.page) as usize).saturating_add(1);
            self.file.read_pages(start.page, span, &mut buffer)?;
            let (run, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = after;
            let pages = PageRun { first: start.page, bytes: &buffer, page_bytes };
            for leaf in run {
                let bytes = pages.page(leaf.page).unwrap_or_default();
                if self.leaf(*leaf, bytes, pages, false)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Hands out the rows of a leaf that are in the range. Breaks at a row beyond it. Overflow pages are mostly among those
    /// that were read with it.
    fn leaf(
        &mut self,
        leaf: Child,
        bytes: &[u8],
        pages: PageRun<'_>,
        is_root: bool,
    ) -> Result<ControlFlow<()>, Refusal> {
        self.find_cells(leaf, bytes)?;
        if self.cells.is_empty() && !is_root {
            return Err(Refusal::page(leaf.page, "a page with rows", 0));
        }
        let from = self.cells.partition_point(|cell| cell.row < *self.ids.start());
        for cell in self.cells.iter().skip(from) {
            if cell.row > *self.ids.end() {
                return Ok(ControlFlow::Break(()));
            }
            let end = cell.start.saturating_add(cell.local);
            let local = bytes.get(cell.start..end).unwrap_or_default();
            let mut payload = bytes.get(cell.start..).unwrap_or_default();
            let LeafCell { row, total, .. } = *cell;
            let (layout, fields) = (self.layout, &mut self.fields);
            let mut needed = match layout.is_wanted(fields, local, payload, total, row)? {
                RowWanted::No => continue,
                RowWanted::TakenApart => 0,
                RowWanted::Yes => fields.parse(local, total, row, layout, &layout.cells)?,
            };
            if needed > local.len() {
                // Once for a header that is longer than what is on the leaf, once for the columns.
                let first = big_endian(bytes, end, 4).unwrap_or(0);
                for _ in 0..3 {
                    self.overflow.gather(self.file, pages, local, first, needed, *cell)?;
                    let gathered = &self.overflow.payload;
                    needed = fields.parse(gathered, total, row, layout, &layout.cells)?;
                    if needed <= gathered.len() {
                        break;
                    }
                }
                payload = &self.overflow.payload;
                if needed > payload.len() {
                    return Err(Refusal::row(row, "a record within its payload", needed));
                }
            }
            let record = Record::new(row, payload, fields, &layout.cells);
            if (self.each)(&record).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Finds the rows of a leaf, all of which are checked before one is handed out, as SQLite does.
    fn find_cells(&mut self, leaf: Child, bytes: &[u8]) -> Result<(), Refusal> {
        let (usable, pointers) = self.pointers(leaf.page, bytes, LEAF, 8)?;
        let pointers_end = pointers.len().saturating_mul(2).saturating_add(8);
        let most = self.file.bytes().min(MOST_PAYLOAD);
        self.cells.clear();
        let mut least = Some(leaf.first);
        let mut in_use = pointers_end;
        for pointer in pointers {
            let at = usize::from(u16::from_be_bytes(*pointer));
            let cell = usable.get(at..).filter(|cell| at >= pointers_end && cell.len() >= 4);
            let parsed = cell.and_then(|cell| {
                // Longer than it need be, SQLite takes it for another number.
                let (total, rest) = varint(cell)
                    .filter(|(_, rest)| cell.len().saturating_sub(rest.len()) <= MOST_SIZE_BYTES)?;
                let (row, rest) = varint(rest)?;
                Some((total, row.cast_signed(), rest))
            });
            let Some((total, row, rest)) = parsed.filter(|(total, ..)| *total <= most) else {
                return Err(Refusal::page(leaf.page, "a cell within the page", at));
            };
            let total = usize::try_from(total).unwrap_or(usize::MAX);
            let (local, taken) = if total <= self.most_local {
                (total, total)
            } else {
                let local = self.local(total);
                (local, local.saturating_add(4))
            };
            if taken > rest.len() {
                return Err(Refusal::page(leaf.page, "a record within the page", total));
            }
            if least.is_none_or(|least| row < least) || row > leaf.last {
                return Err(Refusal::page(leaf.page, "row ids in ascending order", row));
            }
            // Cells that lie upon each other would make many bytes of few.
            let head = usable.len().saturating_sub(at).saturating_sub(rest.len());
            in_use = in_use.saturating_add(head).saturating_add(taken);
            if in_use > usable.len() {
                return Err(Refusal::page(leaf.page, "cells beside each other", row));
            }
            least = row.checked_add(1);
            let start = usable.len().saturating_sub(rest.len());
            self.cells.push(LeafCell { row, total, local, start });
        }
        Ok(())
    }

    /// Bytes on the leaf of a record that does not fit on it.
    fn local(&self, total: usize) -> usize {
        let on_a_page = self.header.usable_bytes.saturating_sub(4);
        let beyond = total.saturating_sub(self.least_local).checked_rem(on_a_page).unwrap_or(0);
        let local = self.least_local.saturating_add(beyond);
        if local <= self.most_local { local } else { self.least_local }
    }
}

impl OverflowPages {
    /// Puts the first `needed` bytes of a record together: `local` and what follows on the chain from page `next`.
    fn gather(
        &mut self,
        file: &DatabaseFile,
        pages: PageRun<'_>,
        local: &[u8],
        mut next: u32,
        needed: usize,
        cell: LeafCell,
    ) -> Result<(), Refusal> {
        self.payload.clear();
        self.payload.extend_from_slice(local);
        while self.payload.len() < needed {
            file.check_page(next, next)?;
            self.pages_left = self
                .pages_left
                .checked_sub(1)
                .ok_or_else(|| Refusal::row(cell.row, "overflow pages of its own", needed))?;
            let page = match pages.page(next) {
                Some(page) => page,
                None => {
                    file.read_pages(next, 1, &mut self.page)?;
                    &*self.page
                }
            };
            next = big_endian(page, 0, 4).unwrap_or(0);
            let content = page.get(4..file.header().usable_bytes).unwrap_or_default();
            let left = cell.total.saturating_sub(self.payload.len());
            self.payload.extend_from_slice(content.get(..left).unwrap_or(content));
        }
        Ok(())
    }
}

/// A number of two or four bytes, most significant first.
fn big_endian(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().fold(0, |number, byte| (number << 8) | u32::from(*byte)))
}
