//! Foreign tools: the argv they get and the output they print. PURE: no process is started here.
//!
//! `samples/` holds real outputs, one per tool, version and mode. A run that did no work is an error, whatever its exit code.

pub mod fio;

use model::benchmark::Load;
use model::evidence::{Series, Work};
use model::params::{ParamError, Params};
use model::record::Histogram;
use std::collections::BTreeMap;

/// Every tool that is driven.
pub const ALL: &[&dyn Driver] = &[&fio::Fio];

/// A foreign tool.
pub trait Driver: Load {
    /// The program's name, by which it is looked up in PATH or the toolbox.
    fn name(&self) -> &'static str;

    /// Program and arguments of one run.
    fn command(&self, params: &Params, target: &Target) -> Result<Command, ParamError>;

    /// What one run printed and wrote, as values in base units.
    fn parse(&self, params: &Params, output: &Output) -> Result<Parsed, DriverError>;
}

/// What a tool works on, on the machine where it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The data disk: a file on the host, a block device in a guest.
    pub data: Option<String>,
}

/// A command line; no shell is involved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Environment beside the minimal one.
    pub env: BTreeMap<String, String>,
    /// Files that it leaves in its working folder, by plain name. They must not be there before.
    pub files: Vec<String>,
}

/// What a run left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// The files that [`Command::files`] names; empty or absent where the tool left none.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// What came out of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// Value by metric id, in base units; all finite.
    pub values: BTreeMap<String, f64>,
    /// The tool's words about its version.
    pub version: Option<String>,
    /// Things a reader must know, in sentences.
    pub remarks: Vec<String>,
    /// What the tool says it did.
    pub work: Option<Work>,
    /// Throughput over the steady part.
    pub series: Option<Series>,
    /// Every latency.
    pub histogram: Option<Histogram>,
}

/// Why an output is no measurement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// It cannot be read.
    #[error("{tool}: cannot read its output at {path}: {message}")]
    Unreadable {
        /// Tool and version.
        tool: String,
        /// Place in the output.
        path: String,
        /// What was expected.
        message: String,
    },
    /// The tool says that something went wrong, or did no work.
    #[error("{tool}: {message}")]
    NoWork {
        /// Tool and version.
        tool: String,
        /// What it said or failed to do.
        message: String,
    },
    /// Parameters.
    #[error(transparent)]
    Param(#[from] ParamError),
}

/// The driver called `name`.
pub fn find(name: &str) -> Option<&'static dyn Driver> {
    ALL.iter().copied().find(|d| d.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Catalog, Runner};

    #[test]
    fn every_benchmark_names_the_driver_that_runs_it() {
        for driver in ALL {
            assert_eq!(find(driver.name()).map(|d| d.name()), Some(driver.name()));
            for benchmark in driver.benchmarks() {
                assert_eq!(benchmark.runner, Runner::Tool { driver: driver.name().to_owned() }, "{}", benchmark.id);
                assert_eq!(benchmark.primary_metrics().count(), 1, "{}", benchmark.id);
            }
        }
        let catalog = Catalog::new(ALL.iter().map(|d| *d as &dyn Load), &[]);
        assert_eq!(catalog.select("disk.*").map(|found| found.len()), Ok(6));
        assert!(find("no such tool").is_none());
    }
}
