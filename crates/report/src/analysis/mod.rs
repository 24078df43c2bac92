//! From a study folder to figures: [`analyse`]. Everything that any report says is in [`Analysis`].

mod checks;
mod comparison;
mod cost;
mod course;
mod latency;
mod notes;
mod settings;

pub use checks::CheckReport;
pub use comparison::{Arm, Comparison, IntervalFigures, OverheadFigures, Point, PrecisionFigures, Strength, Verdict};
pub use cost::{ArmCost, CpuScore, HostCostReport, StealShare, Work};
pub use course::{Attempt, Boots, Course, RunCounts, Trouble, TroubleKind};
pub use latency::{Distribution, LatencyReport, Percentile};
pub use notes::{Flag, Note, NoteKind};
pub use settings::SettingCheck;

use model::record::{GUEST, HOST, Line, Look, Manifest};
use model::{Area, Benchmark};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use validity::{Block, Ledger};

/// Number of the JSON report's format; raised when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// What a study found. Serialized, it is the JSON report: values in the metrics' base units, times in seconds, sizes in
/// bytes, shares as fractions of 1; fields whose names end in `percent` in percent, in `log` as natural logarithms of
/// (cost in the guest / cost on the host). A figure that is not known or not finite is null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Where the study folder is, if the caller knows and wants it shown; not part of the JSON report.
    #[serde(skip)]
    pub folder: Option<String>,
    /// The answer in one sentence.
    pub answer: String,
    /// What a reader must know before any figure.
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
    /// The manifest of the study, unchanged.
    pub manifest: Manifest,
}

/// A property that host and guest do not share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Its key, for example `kernel` or `clock-source`.
    pub key: String,
    /// The host's.
    pub host: String,
    /// The guest's.
    pub guest: String,
}

/// The primary metrics of one area together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AreaSummary {
    /// The area.
    pub area: Area,
    /// Differences below this do not matter in practice, percent.
    pub margin_percent: f64,
    /// Benchmarks that are in the summary.
    pub benchmarks: Vec<String>,
    /// Benchmarks that were planned and are not in it: never measured on both sides, or no figure of this area.
    pub left_out: Vec<String>,
    /// The geometric mean over the benchmarks in each round that has them all, then over the rounds.
    pub overhead: Option<OverheadFigures>,
    /// Its verdict; none without an interval.
    pub verdict: Option<Verdict>,
}

/// One benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchmarkReport {
    /// Its id.
    pub id: String,
    /// What tables call it.
    pub title: String,
    /// What it loads.
    pub area: Area,
    /// Blocks that were used: rounds in which host and guest were both measured.
    pub blocks: usize,
    /// Blocks of complete rounds that were not used, because a side was not measured.
    pub blocks_dropped: usize,
    /// What is wrong with or peculiar to its figures.
    pub flags: Vec<Flag>,
    /// Remarks of its driver, each once, with the number of runs that made it.
    pub remarks: BTreeMap<String, usize>,
    /// Its metrics that were measured on both sides, as declared.
    pub metrics: Vec<Comparison>,
    /// What its work cost the physical host.
    pub host_cost: Option<HostCostReport>,
    /// Its score per CPU-second.
    pub cpu_score: Option<CpuScore>,
    /// CPU time stolen during its runs.
    pub steal: BTreeMap<String, StealShare>,
    /// The last command by machine, for tools.
    pub commands: BTreeMap<String, Vec<String>>,
    /// What the validity checks of its runs and blocks said, the worst first.
    pub checks: Vec<CheckReport>,
    /// Every look at its primary metrics, in order.
    pub looks: Vec<Look>,
    /// Distribution of its latencies by machine; none where the tool gives no histogram.
    pub latency: Option<LatencyReport>,
}

impl BenchmarkReport {
    /// The metrics that carry the benchmark.
    pub fn primary(&self) -> impl Iterator<Item = &Comparison> {
        self.metrics.iter().filter(|c| c.metric.primary)
    }

    /// True where a flag says that the figures are not what the benchmark is about: it gets no verdict and has no part in a
    /// summary.
    pub fn is_refused(&self) -> bool {
        self.flags.iter().any(|flag| flag.refuses())
    }
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

    /// True where any benchmark was measured on both sides.
    pub(crate) fn has_figures(&self) -> bool {
        self.benchmarks.iter().any(|b| b.primary().next().is_some())
    }
}

/// Computes everything that reports say from what the study folder holds. Same input, same output.
///
/// A round counts with its last complete attempt; in it, a block counts for a benchmark when host and guest were both
/// measured.
pub fn analyse(manifest: &Manifest, journal: &[Line]) -> Analysis {
    let read = Ledger::new(journal);
    let mut declared: Vec<&Benchmark> = manifest.benchmarks.iter().collect();
    declared.sort_by_key(|b| b.area);
    let benchmarks: Vec<BenchmarkReport> = declared.into_iter().map(|b| benchmark(manifest, &read, b)).collect();
    let areas = summaries(&benchmarks);
    let course = course::course(manifest, journal, &read);
    let settings = settings::check(manifest);
    let notes = notes::notes(manifest, &course, &settings, &benchmarks);
    let answer = crate::answer::answer(manifest, &areas, benchmarks.iter().any(BenchmarkReport::is_refused));
    Analysis {
        schema: SCHEMA,
        folder: None,
        answer,
        notes,
        areas,
        benchmarks,
        course,
        checks: Vec::new(),
        differences: Vec::new(),
        settings,
        manifest: manifest.clone(),
    }
}

fn benchmark(manifest: &Manifest, ledger: &Ledger<'_>, benchmark: &Benchmark) -> BenchmarkReport {
    let (blocks, unmeasured) = ledger.blocks(&manifest.plan.limits, benchmark);
    let pairs: Vec<&Block<'_>> = blocks.iter().filter(|block| block.counts()).collect();
    let blocks_dropped = unmeasured + blocks.len() - pairs.len();
    let margin = benchmark.area.margin();
    let metrics: Vec<Comparison> =
        benchmark.metrics.iter().filter_map(|m| Comparison::new(m, &pairs, margin)).collect();
    let cell = manifest.plan.cell(&benchmark.id);
    let mut report = BenchmarkReport {
        id: benchmark.id.clone(),
        title: benchmark.title.clone(),
        area: benchmark.area,
        blocks: pairs.len(),
        blocks_dropped,
        flags: Vec::new(),
        remarks: BTreeMap::new(),
        host_cost: cost::host_cost(benchmark, cell, &pairs),
        cpu_score: cost::cpu_score(benchmark, cell, &pairs),
        steal: cost::steal(&pairs),
        commands: BTreeMap::new(),
        checks: Vec::new(),
        looks: Vec::new(),
        latency: None,
        metrics,
    };
    for run in ledger.runs(&benchmark.id) {
        for remark in &run.remarks {
            *report.remarks.entry(remark.clone()).or_insert(0) += 1;
        }
        if !run.argv.is_empty() {
            report.commands.insert(run.machine.clone(), run.argv.clone());
        }
    }
    report.flags = flags(manifest, benchmark, cell, &pairs, &report);
    if report.is_refused() {
        // The numbers stay, but they do not say what their row claims.
        report.metrics.iter_mut().for_each(|c| c.verdict = None);
    }
    report
}

fn flags(
    manifest: &Manifest,
    benchmark: &Benchmark,
    cell: Option<&model::plan::Cell>,
    pairs: &[&Block<'_>],
    report: &BenchmarkReport,
) -> Vec<Flag> {
    let mut flags = Vec::new();
    if let Some(share) = cost::device_share(benchmark, cell, pairs)
        && share < cost::LEAST_DEVICE_SHARE
    {
        flags.push(Flag::HostPageCache { share });
    }
    if benchmark.kernel_bound && notes::kernels_differ(manifest) {
        flags.push(Flag::DifferentKernels);
    }
    let overheads: Vec<&OverheadFigures> = report.primary().filter_map(|c| c.overhead.as_ref()).collect();
    if overheads.iter().any(|o| o.strength == Strength::Indicative) {
        flags.push(Flag::Indicative);
    }
    if overheads.iter().any(|o| o.tail_shift) {
        flags.push(Flag::TailShift);
    }
    if overheads.iter().any(|o| o.repeated) {
        flags.push(Flag::RepeatedValues);
    }
    flags
}

fn summaries(benchmarks: &[BenchmarkReport]) -> Vec<AreaSummary> {
    let areas: BTreeSet<Area> = benchmarks.iter().map(|b| b.area).collect();
    areas.into_iter().map(|area| summary(area, benchmarks)).collect()
}

fn summary(area: Area, benchmarks: &[BenchmarkReport]) -> AreaSummary {
    let of_area = || benchmarks.iter().filter(|b| b.area == area);
    let measured = |b: &&BenchmarkReport| !b.is_refused() && b.primary().any(|c| c.overhead.is_some());
    // Log cost ratios by attempt in time order; only rounds that have every metric of the summary are used.
    let mut rounds: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let mut metrics = 0;
    for comparison in of_area().filter(measured).flat_map(BenchmarkReport::primary).filter(|c| c.overhead.is_some()) {
        metrics += 1;
        for point in &comparison.points {
            rounds.entry(point.place).or_default().extend(point.log_cost_ratio);
        }
    }
    let complete: Vec<Vec<f64>> = rounds.into_values().filter(|round| round.len() == metrics).collect();
    let overhead = stats::suite(&complete);
    AreaSummary {
        area,
        margin_percent: 100.0 * area.margin(),
        benchmarks: of_area().filter(measured).map(|b| b.id.clone()).collect(),
        left_out: of_area().filter(|b| !measured(b)).map(|b| b.id.clone()).collect(),
        verdict: overhead.as_ref().and_then(|o| Verdict::of(o, area.margin())),
        overhead: overhead.as_ref().map(|o| OverheadFigures::new(o, None)),
    }
}
