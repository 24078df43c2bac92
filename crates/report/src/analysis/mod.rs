//! From a study folder to figures: [`analyse`]. Everything that any report says is in [`Analysis`].

mod benchmark;
mod checks;
mod comparison;
mod cost;
mod course;
mod differences;
mod dropped;
mod latency;
mod notes;
mod settings;
mod summary;

pub use benchmark::BenchmarkReport;
pub use checks::CheckReport;
pub use comparison::{Arm, Comparison, IntervalFigures, OverheadFigures, Point, PrecisionFigures, Strength, Verdict};
pub use cost::{ArmCost, CpuScore, HostCostReport, StealShare, Work};
pub use course::{Attempt, Boots, Course, RunCounts, Trouble, TroubleKind};
pub use differences::Difference;
pub use dropped::{DroppedBlock, Reason, RunOutcome};
pub use latency::{Distribution, LatencyReport, Percentile, Raws};
pub use notes::{Flag, Note, NoteKind};
pub use settings::SettingCheck;
pub use summary::AreaSummary;

use benchmark::Sources;
use model::Benchmark;
use model::record::{GUEST, HOST, Line, Manifest};
use serde::Serialize;
use validity::Ledger;

/// Number of the JSON report's format; raised when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 2;

/// What a study found. Serialized, it is the JSON report: values in the metrics' base units, times in seconds, sizes in
/// bytes, shares as fractions of 1; fields whose names end in `percent` in percent, in `log` as natural logarithms of
/// (cost in the guest / cost on the host). A figure that is not known or not finite is null.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Analysis {
    /// Number of this format; raised when a field changes its meaning or goes away.
    #[cfg_attr(test, schemars(extend("const" = SCHEMA)))]
    pub schema: u32,
    /// Where the study folder is, if the caller knows and wants it shown; not part of the JSON report.
    #[serde(skip)]
    pub folder: Option<String>,
    /// The answer in one sentence.
    pub answer: String,
    /// What a reader must know before any figure.
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::notes"))]
    pub notes: Vec<Note>,
    /// One summary for each area that was planned.
    pub areas: Vec<AreaSummary>,
    /// The benchmarks of the plan, by area.
    pub benchmarks: Vec<BenchmarkReport>,
    /// What happened: rounds, runs, failures.
    pub course: Course,
    /// What the validity checks of the study as a whole said, the worst first.
    pub checks: Vec<CheckReport>,
    /// What differs between host and guest beside the virtualization itself.
    pub differences: Vec<Difference>,
    /// Settings asked for and seen in effect.
    pub settings: Vec<SettingCheck>,
    /// The manifest of the study, unchanged. It has a format number of its own and may hold fields that do not stand here.
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::manifest"))]
    pub manifest: Manifest,
}

impl Analysis {
    /// Facts of the host.
    pub fn host(&self) -> Option<&model::Facts> {
        self.manifest.machines.get(HOST)
    }

    /// Facts of the guest.
    pub fn guest(&self) -> Option<&model::Facts> {
        self.manifest.machines.get(GUEST)
    }

    /// True where the figures of some benchmark are not what they claim to be.
    pub(crate) fn has_invalid(&self) -> bool {
        self.benchmarks.iter().any(|b| b.invalid)
    }

    /// True where any benchmark was measured on both sides.
    pub(crate) fn has_figures(&self) -> bool {
        self.benchmarks.iter().any(|b| b.primary().next().is_some())
    }
}

/// Computes everything that reports say from what the study folder holds; `raws` gives the raw files that the journal names.
/// Same input, same output.
///
/// A round counts with its last complete attempt; in it, a block counts for a benchmark when host and guest were both
/// measured and no check rejected it.
pub fn analyse(manifest: &Manifest, journal: &[Line], raws: &Raws<'_>) -> Analysis {
    let ledger = Ledger::new(journal);
    let of_study = validity::machines::checks(manifest, journal);
    let sources = Sources::new(manifest, journal, &ledger, raws, &of_study);
    let mut declared: Vec<&Benchmark> = manifest.benchmarks.iter().collect();
    declared.sort_by_key(|b| b.area);
    let benchmarks: Vec<BenchmarkReport> = declared.into_iter().map(|b| sources.report(b)).collect();
    let areas = summary::summaries(manifest, &benchmarks);
    let course = course::course(manifest, journal, &ledger);
    let settings = settings::check(manifest);
    let notes = notes::notes(manifest, &course, &settings, &benchmarks);
    let answer = crate::answer::answer(manifest, &areas, benchmarks.iter().any(|b| b.invalid));
    Analysis {
        schema: SCHEMA,
        folder: None,
        answer,
        notes,
        areas,
        benchmarks,
        course,
        checks: checks::of_study(&of_study),
        differences: differences::differences(manifest),
        settings,
        manifest: manifest.clone(),
    }
}
