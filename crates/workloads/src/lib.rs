//! Builtin load kernels, one file each, listed once in [`ALL`]. CPU, memory and files. Knows no machine.
//!
//! Every kernel is written afresh from its published definition, versioned, and calls nothing foreign between clock start
//! and clock stop (style rule 13), so that a score does not depend on a C library.

mod buffer;
mod canary;
mod clock_read;
mod copy_kernels;
mod dhrystone;
mod file_copy;
mod memory;
mod timing;
mod whetstone;

pub use clock_read::clock_read_seconds;

use model::benchmark::Load;
use model::isa::InstructionSet;
use model::params::{ParamError, Params};
use std::collections::BTreeMap;
use std::path::Path;

/// Every builtin workload.
pub const ALL: &[&dyn Workload] = &[
    &dhrystone::Dhrystone,
    &whetstone::Whetstone,
    &file_copy::FileCopy,
    &memory::MEMCPY,
    &memory::DUMB,
    &memory::MCBLOCK,
    &canary::Canary,
];

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

#[cfg(test)]
mod tests {
    use super::*;
    use model::benchmark::{Benchmark, Runner};
    use std::collections::BTreeSet;

    fn benchmarks() -> Vec<(&'static dyn Workload, Benchmark)> {
        ALL.iter().flat_map(|w| w.benchmarks().into_iter().map(|b| (*w, b))).collect()
    }

    #[test]
    fn every_benchmark_leads_back_to_its_workload() {
        for (workload, benchmark) in benchmarks() {
            let Runner::Workload { name, version } = &benchmark.runner else { panic!("{} is a tool", benchmark.id) };
            let found = find(name).unwrap();
            assert_eq!((found.name(), found.version()), (workload.name(), *version), "{}", benchmark.id);
        }
        assert!(find("drystone").is_none());
    }

    #[test]
    fn ids_are_unique_and_begin_with_the_area() {
        let all = benchmarks();
        let ids: BTreeSet<&str> = all.iter().map(|(_, b)| b.id.as_str()).collect();
        assert_eq!(ids.len(), all.len());
        for (_, benchmark) in &all {
            assert!(benchmark.id.starts_with(&format!("{}.", benchmark.area.name())), "{}", benchmark.id);
            assert_eq!(benchmark.primary_metrics().count(), 1, "{}", benchmark.id);
        }
    }

    #[test]
    fn missing_parameters_are_an_error_and_defaults_are_enough() {
        let place = Place { isa: InstructionSet::Baseline, scratch: Path::new("/nowhere") };
        for (workload, benchmark) in benchmarks().into_iter().filter(|(_, b)| !b.params.is_empty()) {
            assert!(workload.needs(&Params::default()).is_err(), "{}", benchmark.id);
            let refused = workload.prepare(&Params::default(), &place);
            assert!(matches!(refused, Err(WorkloadError::Param(_))), "{}", benchmark.id);
            let needs = workload.needs(&Params::defaults(&benchmark.params)).unwrap();
            assert!(needs.seconds > 0.0 && needs.cpus == 1, "{}: {needs:?}", benchmark.id);
        }
    }
}
