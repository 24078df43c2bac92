//! Benchmarks and their metrics, as data; and what they need from a machine.

use crate::params::{ParamError, ParamSpec, Params};
use crate::units::{Scale, Unit};
use serde::{Deserialize, Serialize};

/// What part of a machine a benchmark loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Area {
    /// Processors.
    Cpu,
    /// Memory.
    Memory,
    /// Block storage.
    Disk,
}

impl Area {
    /// The word in ids and headings.
    pub fn name(self) -> &'static str {
        match self {
            Area::Cpu => "cpu",
            Area::Memory => "memory",
            Area::Disk => "disk",
        }
    }

    /// Practical margin (delta of statistics.md 2.4) as a fraction: 2 % for CPU and memory, 5 % for I/O.
    pub fn margin(self) -> f64 {
        match self {
            Area::Cpu | Area::Memory => 0.02,
            Area::Disk => 0.05,
        }
    }

    /// The half-width at which a primary metric is precise enough (h of statistics.md 2.3) as a fraction: 3 % for CPU and memory,
    /// 5 % for I/O.
    pub fn precision(self) -> f64 {
        match self {
            Area::Cpu | Area::Memory => 0.03,
            Area::Disk => 0.05,
        }
    }
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Rates.
    Higher,
    /// Times and latencies.
    Lower,
}

/// One figure that a run yields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Key in [`crate::Outcome::Measured`].
    pub id: String,
    /// What it is called in tables.
    pub title: String,
    /// Base unit on disk.
    pub unit: Unit,
    /// How it is shown.
    pub shown: Scale,
    /// Which way is better.
    pub direction: Direction,
    /// Primary metrics drive the number of rounds and the suite summary.
    pub primary: bool,
}

impl Metric {
    /// A metric; `shown` as (symbol, base units in one shown unit).
    pub fn new(id: &str, title: &str, unit: Unit, shown: (&str, f64), direction: Direction) -> Self {
        Metric {
            id: id.to_owned(),
            title: title.to_owned(),
            unit,
            shown: Scale::new(shown.0, shown.1),
            direction,
            primary: false,
        }
    }

    /// The same metric as a primary one.
    pub fn primary(mut self) -> Self {
        self.primary = true;
        self
    }
}

/// Who does the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Runner {
    /// A builtin kernel of this binary. Values of different versions are never compared.
    Workload {
        /// Its name in the workloads room.
        name: String,
        /// Raised whenever its scores change.
        version: u32,
    },
    /// A foreign tool.
    Tool {
        /// The driver's name, which is also the program's.
        driver: String,
    },
}

/// A workload or tool with a preset of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    /// `area.name`, for example `disk.randread-4k`.
    pub id: String,
    /// What tables call it.
    pub title: String,
    /// One paragraph: what is measured, and whose definition it is.
    pub doc: String,
    /// What it loads.
    pub area: Area,
    /// Who does the work.
    pub runner: Runner,
    /// Its parameters; the defaults are the preset.
    pub params: Vec<ParamSpec>,
    /// Its metrics.
    pub metrics: Vec<Metric>,
    /// True where the work is done by the kernel (file copy, pipes, file systems): such rows are labelled when host and
    /// guest run different kernels.
    pub kernel_bound: bool,
}

impl Benchmark {
    /// The metric called `id`.
    pub fn metric(&self, id: &str) -> Option<&Metric> {
        self.metrics.iter().find(|m| m.id == id)
    }

    /// The metrics that drive the study.
    pub fn primary_metrics(&self) -> impl Iterator<Item = &Metric> {
        self.metrics.iter().filter(|m| m.primary)
    }
}

/// What a benchmark needs before it can start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// Programs, by name.
    pub tools: Vec<String>,
    /// Bytes of memory that it touches.
    pub memory: u64,
    /// Bytes of a data disk (zero: none).
    pub disk: u64,
    /// Processors.
    pub cpus: u32,
    /// About how long one run takes, seconds, set-up included.
    pub seconds: f64,
}

/// Something that can be run: a builtin workload or a tool's driver. The rooms `workloads` and `drivers` list theirs once;
/// the catalog is made of both.
pub trait Load: Sync {
    /// Its benchmarks: itself with each of its presets.
    fn benchmarks(&self) -> Vec<Benchmark>;

    /// What it needs with these parameters.
    fn needs(&self, params: &Params) -> Result<Needs, ParamError>;
}
