//! Builtin load kernels, one file each, listed once in [`ALL`]. CPU, memory and files. Knows no machine.
//!
//! Every kernel is written afresh from its published definition, versioned, and calls nothing foreign between clock start
//! and clock stop (style rule 13), so that a score does not depend on a C library.

use model::benchmark::Load;
use model::isa::InstructionSet;
use model::params::{ParamError, Params};
use std::collections::BTreeMap;
use std::path::Path;

/// Every builtin workload.
pub const ALL: &[&dyn Workload] = &[];

/// A builtin load kernel.
pub trait Workload: Load {
    /// Its name, by which the controller asks for it.
    fn name(&self) -> &'static str;

    /// Raised whenever its scores change; values of different versions are never compared.
    fn version(&self) -> u32;

    /// Everything that is not to be timed: buffers mapped, prefaulted and advised, files made, loops calibrated.
    fn prepare(&self, params: &Params, place: &Place<'_>) -> Result<Box<dyn Prepared>, WorkloadError>;
}

/// A workload that is ready to be timed.
pub trait Prepared {
    /// Does the work once and gives one value per metric, in base units. CPU time and steal are read around this call.
    fn run(&mut self) -> Result<BTreeMap<String, f64>, WorkloadError>;
}

/// Where a workload runs.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The instruction set that all machines of the study share. Never more than this CPU has.
    pub isa: InstructionSet,
    /// A directory on tmpfs with the same options on every machine.
    pub scratch: &'a Path,
}

/// Why a workload could not run.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// A parameter is missing.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The kernel refused something.
    #[error("{what} failed")]
    System {
        /// What was tried, on what.
        what: String,
        /// The kernel's answer.
        #[source]
        source: std::io::Error,
    },
    /// The work came out wrong, so its speed means nothing.
    #[error("The result of the work is wrong: {0}")]
    Wrong(String),
}

/// The workload called `name`.
pub fn find(name: &str) -> Option<&'static dyn Workload> {
    ALL.iter().copied().find(|w| w.name() == name)
}
