//! Pages of SQLite that several others name.

use super::*;

/// The pages of a profile that a test writes.
struct Pages {
    bytes: Vec<u8>,
    page_bytes: usize,
}

impl Pages {
    fn read(directory: &Path) -> Self {
        let bytes = fs::read(directory.join("profile.pop")).unwrap();
        let page_bytes = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
        Self { bytes, page_bytes: if page_bytes == 1 { 65_536 } else { page_bytes } }
    }

    fn write(mut self, directory: &Path) {
        let pages = u32::try_from(self.bytes.len() / self.page_bytes).unwrap();
        self.bytes[28..32].copy_from_slice(&pages.to_be_bytes());
        fs::write(directory.join("profile.pop"), self.bytes).unwrap();
    }

    fn root(directory: &Path, table: &str) -> usize {
        let connection = Connection::open(directory.join("profile.pop")).unwrap();
        let sql = "SELECT rootpage FROM sqlite_master WHERE name = ?1";
        connection.query_row(sql, [table], |row| row.get(0)).unwrap()
    }

    fn page(&mut self, number: usize) -> &mut [u8] {
        let start = (number - 1) * self.page_bytes;
        &mut self.bytes[start..start + self.page_bytes]
    }

    fn add(&mut self, page: &[u8]) -> usize {
        self.bytes.extend_from_slice(page);
        self.bytes.len() / self.page_bytes
    }

    /// The leftmost leaf below a page.
    fn leaf(&mut self, mut number: usize) -> usize {
        // The first page has the header of the file before its own.
        loop {
            let head = if number == 1 { 100 } else { 0 };
            let page = self.page(number);
            if page[head] == 13 {
                return number;
            }
            let cell = usize::from(u16::from_be_bytes([page[head + 12], page[head + 13]]));
            number = u32::from_be_bytes(page[cell..cell + 4].try_into().unwrap()) as usize;
        }
    }

    /// An interior page all of whose children are the same; `head` bytes before it belong to something else.
    fn all_of(&self, child: usize, head: usize) -> Vec<u8> {
        let mut page = vec![0; self.page_bytes];
        let child = u32::try_from(child).unwrap().to_be_bytes();
        let cells = (self.page_bytes - head - 12) / 9;
        page[head] = 5;
        page[head + 3..head + 5].copy_from_slice(&u16::try_from(cells).unwrap().to_be_bytes());
        page[head + 8..head + 12].copy_from_slice(&child);
        for cell in 0..cells {
            let at = self.page_bytes - (cell + 1) * 7;
            let pointer = head + 12 + cell * 2;
            page[pointer..pointer + 2].copy_from_slice(&u16::try_from(at).unwrap().to_be_bytes());
            page[at..at + 4].copy_from_slice(&child);
            page[at + 4..at + 7].copy_from_slice(&[
                0x80 | 1,
                0x80 | (cell >> 7) as u8,
                (cell & 0x7f) as u8,
            ]);
        }
        page[head + 5..head + 7]
            .copy_from_slice(&u16::try_from(self.page_bytes - cells * 7).unwrap().to_be_bytes());
        page
    }

    /// Makes the rows of the first leaf of a tree come hundreds of millions of times.
    fn share(&mut self, root: usize) {
        let leaf = self.leaf(root);
        let copy = self.page(leaf).to_vec();
        let mut child = if root == 1 {
            // A leaf of the schema without the header of the file: one with no cells would be refused.
            leaf
        } else {
            self.add(&copy)
        };
        for _ in 0..3 {
            let page = self.all_of(child, 0);
            child = self.add(&page);
        }
        let head = if root == 1 { 100 } else { 0 };
        let page = self.all_of(child, head);
        self.page(root)[head..].copy_from_slice(&page[head..]);
    }
}

pub fn with_shared_pages(directory: &Path, tables: &[&str]) {
    let roots: Vec<usize> = tables.iter().map(|table| Pages::root(directory, table)).collect();
    let mut pages = Pages::read(directory);
    for root in roots {
        pages.share(root);
    }
    pages.write(directory);
}

/// Steps of SQLite that all commands together may take on a file of which one question was stopped: some questions each.
fn most_steps(directory: &Path) -> u64 {
    let bytes = fs::metadata(directory.join("profile.pop")).unwrap().len();
    40 * (2 * bytes + (1 << 20))
}

#[test]
fn pages_that_share_their_children_and_rows_that_nobody_wants() {
    let directory = harmed_sample(|directory| {
        without_indexes(directory, "programs");
        sql(directory, "UPDATE programs SET compilation_step_id = 1");
        with_shared_pages(directory, &["programs"]);
    });
    let (said, took) = ask_all(directory.path(), 150);
    assert!(said.contains("table programs") && said.contains("SQLite was stopped"), "{said}");
    assert!(took.work.steps < most_steps(directory.path()), "{}", took.work);
    let answer = summary(directory.path()).unwrap();
    let intact = summary(&sample()).unwrap();
    assert_eq!(answer["memory"], intact["memory"], "the rest is shown");
}

#[test]
fn pages_that_share_their_children_and_rows_in_an_order() {
    let directory = harmed_sample(|directory| {
        without_indexes(directory, "compilation_parameters");
        with_shared_pages(directory, &["compilation_parameters", "var_categories"]);
    });
    let (said, took) = ask_some(directory.path(), 150);
    assert!(said.contains("table compilation_parameters"), "{said}");
    assert!(took.work.steps < most_steps(directory.path()), "{}", took.work);
}

#[test]
fn pages_that_share_their_children_in_every_large_table() {
    let tables = [
        "vars_info",
        "var_bytes_by_eq_class",
        "depth_first_steps",
        "eq_class_step",
        "vars_string_table",
        "unlowered_vars",
        "memory_by_tile",
    ];
    let directory = harmed_sample(|directory| with_shared_pages(directory, &tables));
    let (said, took) = ask_some(directory.path(), 300);
    for table in ["vars_info", "eq_class_step", "memory_by_tile"] {
        assert!(said.contains(table), "{table}: {said}");
    }
    assert!(took.work.steps < 3 * most_steps(directory.path()), "{}", took.work);
}

#[test]
fn pages_of_the_schema_that_share_their_children() {
    let directory = harmed_sample(|directory| {
        // Rows of the schema that SQLite passes over.
        sql(
            directory,
            "PRAGMA writable_schema = ON; \
             UPDATE sqlite_master SET type = 'none', sql = NULL, rootpage = 0;",
        );
        let mut pages = Pages::read(directory);
        pages.share(1);
        pages.write(directory);
    });
    let (said, took) = ask_some(directory.path(), 150);
    assert!(!said.is_empty());
    assert!(took.work.steps < 3 * most_steps(directory.path()), "{}: {said}", took.work);
}
