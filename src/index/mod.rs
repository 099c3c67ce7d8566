//! The index: what is costly to read of a report, kept in the user's cache directory and used in place.
//!
//! - [`Cache`] is the directory: a file for each report, found by the path of its profile, limited in total
//!   size, the one that was used longest ago out first.
//! - [`Identity`] says which files, in which state, and which version of this program an index was made from.
//!   Where anything differs it is not used, and made again.
//! - [`IndexFile`] is a file of it, an Arrow IPC file that is mapped into memory: columns by name, each with a
//!   checksum, which is verified before the first use of the column.
//! - [`Indexed`] is what of it belongs to one run.
//! - `parts` has which columns and bytes make up a part of a report. What else a system keeps is in its folder.
//! - [`ColumnSpace`] is where the columns of a large report grow while it is read.
//! - `mapping` has the `unsafe` code, two lines, and says why it is sound.
//!
//! An index is written to a temporary file in the same directory and renamed, and never changed after. If two processes
//! write the same index, the last wins; both wrote the same. That an index cannot be read or written is no error for
//! the user: it is a line in the log (`TILESCOPE_LOG=debug`), and the report is read from its own files.

mod cache;
mod file;
mod identity;
mod indexed;
mod mapping;
mod parts;
mod room;

pub use cache::{Cache, CacheFile, Limits, of_process, use_for_process};
pub use file::{ColumnWriter, IndexError, IndexFile, check};
pub use identity::Identity;
pub use indexed::Indexed;
pub use parts::{
    expected_bytes, fill_compute, fill_debug_info, fill_program_trees, fill_small_tables,
    fill_tile_variable_bytes, fill_variables, read_bytes_of_tiles, read_exchange_code,
    read_rows_of_variables, write_report,
};
pub use room::{ColumnSpace, Growing};
