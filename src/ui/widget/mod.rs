//! Widgets that know nothing of reports' files: curves, tables, facts.

pub mod bar;
pub mod bins;
pub mod card;
pub mod choice;
mod column_widths;
pub mod curve;
pub mod data_table;
mod data_table_cells;
pub mod diverging;
pub mod exports;
pub mod facts;
pub mod flame;
pub mod hatch;
pub mod inspector;
pub mod legend;
pub mod measured;
pub mod navigate;
pub mod overview;
pub mod picture;
pub mod place_menu;
pub mod plane;
pub mod row_ticks;
pub mod rows;
pub mod sign;
pub mod ticks;
pub mod toolbar;
pub mod view;
