//! Cards: what only one system says of a run, beside verdict and advice, in a form that the window draws alike.

use super::evidence::Place;
use super::section::Cell;

/// The id of the card that says what the peak consists of. Of a run without one, pages work it out of the report.
pub const PEAK: &str = "peak";

/// A card of Insights or Overview.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    /// What tells it apart from the other cards of a run: a fixed key, by which choices are kept.
    pub id: &'static str,
    /// Its title.
    pub title: String,
    /// The part of the run that it is of, a place among the parts of [`FirstSight`](super::FirstSight); `None` of a card
    /// that is shown for each of them.
    pub part: Option<usize>,
    /// What it is about, in a sentence without its full stop; may be empty.
    pub about: String,
    /// The way to what it is about.
    pub link: Option<Link>,
    /// Its rows.
    pub body: CardBody,
    /// Sentences below the rows.
    pub notes: Vec<CardNote>,
}

impl Card {
    /// A card of sizes as bars.
    pub fn of_bars(id: &'static str, title: impl Into<String>, lists: Vec<BarList>) -> Self {
        Self { id, title: title.into(), body: CardBody::Bars(lists), ..Self::default() }
    }

    /// A card of a table.
    pub fn of_table(
        id: &'static str,
        title: impl Into<String>,
        columns: Vec<CardColumn>,
        rows: Vec<CardRow>,
    ) -> Self {
        let body = CardBody::Table(CardTable { columns, rows });
        Self { id, title: title.into(), body, ..Self::default() }
    }
}

/// The rows of a card.
#[derive(Clone, Debug, PartialEq)]
pub enum CardBody {
    /// Sizes as bars: one list, or several to choose from by their titles.
    Bars(Vec<BarList>),
    /// A table.
    Table(CardTable),
}

impl Default for CardBody {
    fn default() -> Self {
        Self::Bars(Vec::new())
    }
}

/// A way to another page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// What it is called.
    pub title: String,
    /// What the pointer learns of it.
    pub hover: String,
    /// Where it leads.
    pub place: Place,
    /// Whether that is shown on Map; else on the page of what the place is.
    pub is_on_map: bool,
}

/// A sentence below the rows of a card, without its full stop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardNote {
    /// The sentence.
    pub text: String,
    /// Whether it says what the rows cannot.
    pub is_caution: bool,
    /// Where a click on it leads, and what the pointer learns of that.
    pub leads: Option<(Place, &'static str)>,
}

impl From<String> for CardNote {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Sizes of things, the largest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarList {
    /// What they are put together by: `Line`.
    pub title: &'static str,
    /// What they are parts of; `None` where percentages say nothing, and the largest bar is the widest.
    pub whole_bytes: Option<u64>,
    /// The rows.
    pub rows: Vec<BarRow>,
    /// Things that no row is of.
    pub more: usize,
    /// The titles of name, further texts, bytes and further figures, where the list is taken out as a table.
    pub columns: Vec<&'static str>,
}

impl BarList {
    /// A list without a title of its own, by what its columns are called where it is taken out.
    pub fn of(columns: &[&'static str], whole_bytes: Option<u64>, rows: Vec<BarRow>) -> Self {
        Self { whole_bytes, rows, columns: columns.to_vec(), ..Self::default() }
    }
}

/// A size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarRow {
    /// What it is of.
    pub name: String,
    /// What the pointer learns of it.
    pub hover: String,
    /// The size.
    pub bytes: u64,
    /// What it is a part of, where that is another whole than that of the list.
    pub whole_bytes: Option<u64>,
    /// How it is colored.
    pub color: BarColor,
    /// Where its name leads.
    pub leads: Option<Place>,
    /// A way beside it.
    pub link: Option<Link>,
    /// Further cells of the list as a table.
    pub cells: Vec<Cell>,
}

impl BarRow {
    /// A size with what the pointer learns of it.
    pub fn of(name: impl Into<String>, hover: impl Into<String>, bytes: u64) -> Self {
        Self { name: name.into(), hover: hover.into(), bytes, ..Self::default() }
    }
}

/// How a bar is colored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BarColor {
    /// As memory that is in use for a while.
    #[default]
    Temporary,
    /// As memory that is in use throughout.
    Throughout,
    /// As memory that is reserved and not in use.
    Gap,
    /// As what is too much.
    Over,
    /// As what is free.
    Free,
    /// As what others have.
    Others,
    /// As the category of this title, with a patch before the name.
    Category(String),
}

/// A table of a card.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardTable {
    /// The columns.
    pub columns: Vec<CardColumn>,
    /// The rows, of as many cells.
    pub rows: Vec<CardRow>,
}

/// A column of such a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardColumn {
    /// Its title where the table is taken out.
    pub title: &'static str,
    /// Its title on the card; `None` where it is only in the table that is taken out.
    pub shown: Option<&'static str>,
    /// Whether long names stand in it.
    pub is_wide: bool,
    /// Whether it is drawn once for rows that begin with the same cell.
    pub is_of_group: bool,
}

impl CardColumn {
    /// A column by its titles where the table is taken out and on the card.
    pub fn of(title: &'static str, shown: Option<&'static str>) -> Self {
        Self { title, shown, ..Self::default() }
    }
}

/// A row of such a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardRow {
    /// The cells.
    pub cells: Vec<CardCell>,
    /// A bar behind the first cell.
    pub bar: Option<CardBar>,
    /// Whether it is only in the table that is taken out.
    pub is_folded: bool,
    /// A sentence below it.
    pub note: Option<String>,
}

/// A bar in a table, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardBar {
    /// What is in use.
    pub used: u64,
    /// What is reserved and not in use.
    pub unused: u64,
    /// As much as it is wide.
    pub whole: u64,
    /// As much as there may be.
    pub limit: Option<u64>,
}

/// A cell of such a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardCell {
    /// What it says.
    pub cell: Cell,
    /// What the pointer learns of it.
    pub hover: String,
    /// Whether it says that something fits, or does not.
    pub fits: Option<bool>,
    /// Whether it is by how much something is over.
    pub is_over: bool,
    /// Where it leads.
    pub link: Option<Link>,
}

impl From<Cell> for CardCell {
    fn from(cell: Cell) -> Self {
        Self { cell, ..Self::default() }
    }
}
