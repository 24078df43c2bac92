//! The words of vmtax: units, plans, catalog, settings, machines, outcomes, agent messages.
//!
//! PURE: no I/O, no clock, no threads. Everything that crosses a room, a pipe or the disk is a type of this crate,
//! so that the format of the study folder and of the agent's frames can be read in one place.

pub mod benchmark;
pub mod catalog;
pub mod check;
pub mod evidence;
pub mod facts;
pub mod isa;
pub mod limits;
pub mod machine;
pub mod messages;
pub mod nearest;
pub mod outcome;
pub mod params;
pub mod plan;
pub mod quantity;
pub mod record;
pub mod settings;
pub mod text;
pub mod units;
pub mod wire;

pub use benchmark::{Area, Benchmark, Direction, Load, Metric, Needs, Runner};
pub use catalog::Catalog;
pub use check::{Check, Fact, Status, Threat};
pub use evidence::{Series, Surroundings, Work};
pub use facts::Facts;
pub use isa::InstructionSet;
pub use limits::Limits;
pub use machine::{Accelerator, DiskSpec, MachineSpec};
pub use outcome::{Counters, FailureCause, HostCost, Outcome};
pub use params::{ParamKind, ParamSpec, ParamValue, Params};
pub use plan::Plan;
pub use record::{Event, Manifest, RunRecord};
pub use settings::{Configuration, Setting};
pub use units::Unit;
