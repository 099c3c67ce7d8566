//! The answers of a run of any system: verdict, advice, conclusions, claims, the peak and who owns it.
//!
//! The types know no system. A system fills them by implementing [`Answers`]; window, commands and lake read them.

pub mod advice;
pub mod alive;
pub mod allocations;
pub mod answers;
pub mod areas;
pub mod arena_layers;
pub mod arena_map;
pub mod beside_curve;
pub mod budget;
pub mod calls;
pub mod card;
pub mod claim;
pub mod compared;
pub mod conclusion;
pub mod cores;
pub mod evidence;
pub mod first_sight;
pub mod insights;
pub mod joined_logs;
pub mod known_devices;
pub mod modules;
pub mod need;
pub mod peak;
mod report_answers;
pub mod report_arenas;
pub mod room;
pub mod section;
pub mod tables;
pub mod variable_details;
pub mod verdict;

pub use advice::{Advice, HowTo, NotAdvised, Proposal, SavedOf, Saving};
pub use alive::{
    AliveBy, AliveVariable, AliveVariables, DetailedVariable, GroupBytes, StepBytes, with_details,
};
pub use allocations::{Allocation, Allocations, CodeFrame};
pub use answers::Answers;
pub use areas::{AreaColor, AreaGroup, AreasBy, AreasOf, StackedAreas};
pub use arena_map::{ArenaMap, ArenasOf};
pub use beside_curve::{BesideCurve, CurveLine, StepBand, StepMoment, StepSaid};
pub use budget::{BudgetFacts, BudgetFigure, BudgetedFigure};
pub use claim::Claim;
pub use compared::Compared;
pub use conclusion::Conclusion;
pub use evidence::{Evidence, Place};
pub use first_sight::FirstSight;
pub use insights::Insights;
pub use joined_logs::MessagePlace;
pub use known_devices::{CapacityArgument, KNOWN_DEVICES, KnownDevice, known_device_of};
pub use modules::ModuleOfRun;
pub use need::{AtLeast, Ending, FailedAsk, Judgement, Need};
pub use peak::{MemoryTotals, PeakOfRun, PeakRow, PeakVariable};
pub use report_answers::alive_rows_of_report;
pub use room::{Room, StatedRoom};
pub use section::{Cell, OwnFacts, Section, SectionBody};
pub use tables::{ColumnKind, RunTable, TableCell, TableRows, TableWriter};
pub use variable_details::{VariableBrief, VariableDetails};
pub use verdict::{DeviceVerdict, Outcome, Verdict, VerdictFigure};
