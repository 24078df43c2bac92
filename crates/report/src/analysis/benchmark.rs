//! One benchmark: its blocks, and all figures that are made from them.

use super::checks::{CheckReport, Seen, gather};
use super::comparison::{Comparison, OverheadFigures, Strength, Verdict};
use super::cost::{self, CpuScore, HostCostReport, StealShare};
use super::dropped::{self, DroppedBlock, Reason};
use super::latency::{LatencyReport, Raws, latency};
use super::notes::{self, Flag};
use model::plan::{Cell, Precision};
use model::record::{Event, Line, Look, Manifest};
use model::{Area, Benchmark, Check, RunRecord, Status};
use serde::Serialize;
use std::collections::BTreeMap;
use validity::course::{self, Consequence};
use validity::{Block, Ledger};

/// One benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchmarkReport {
    /// Its id.
    pub id: String,
    /// What tables call it.
    pub title: String,
    /// What it loads.
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::area"))]
    pub area: Area,
    /// Blocks that were used: complete rounds in which host and guest were both measured, and no check rejected that.
    pub blocks: usize,
    /// Blocks of complete rounds that were begun and not used. A round that the benchmark has left, being precise enough, is
    /// none of them.
    pub blocks_dropped: usize,
    /// Those blocks, and why.
    pub dropped: Vec<DroppedBlock>,
    /// True where its figures are not what they claim to be, as checks and flags say: their verdict is INVALID, and they have no
    /// part in a summary.
    pub invalid: bool,
    /// What is wrong with or peculiar to its figures.
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::flags"))]
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
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::looks"))]
    pub looks: Vec<Look>,
    /// Distribution of its latencies by machine; none where the tool gives no histogram.
    pub latency: Option<LatencyReport>,
}

impl BenchmarkReport {
    /// The metrics that carry the benchmark.
    pub fn primary(&self) -> impl Iterator<Item = &Comparison> {
        self.metrics.iter().filter(|c| c.metric.primary)
    }

    /// True where a flag says that the figures are not what the benchmark is about.
    pub fn is_refused(&self) -> bool {
        self.flags.iter().any(|flag| flag.refuses())
    }
}

/// Where reports of benchmarks come from.
pub(super) struct Sources<'a> {
    manifest: &'a Manifest,
    ledger: &'a Ledger<'a>,
    raws: &'a Raws<'a>,
    /// Place in time by round and attempt, of those that count.
    places: BTreeMap<(u32, u32), usize>,
    looks: BTreeMap<&'a str, Vec<&'a Look>>,
    /// What the checks of the whole study leave of every verdict.
    consequence: Consequence,
}

impl<'a> Sources<'a> {
    pub(super) fn new(
        manifest: &'a Manifest,
        journal: &'a [Line],
        ledger: &'a Ledger<'a>,
        raws: &'a Raws<'a>,
        of_study: &[Check],
    ) -> Self {
        let mut looks: BTreeMap<&str, Vec<&Look>> = BTreeMap::new();
        for line in journal {
            if let Event::Look(look) = &line.event {
                looks.entry(&look.benchmark).or_default().push(look);
            }
        }
        let places = ledger.used().iter().enumerate().map(|(place, attempt)| (*attempt, place)).collect();
        Sources { manifest, ledger, raws, places, looks, consequence: course::consequence(of_study) }
    }

    /// The last run of each machine in each attempt that counts.
    fn runs(&self, benchmark: &str) -> BTreeMap<(usize, &'a str), &'a RunRecord> {
        let runs = self.ledger.runs(benchmark).iter();
        runs.filter_map(|&run| Some(((*self.places.get(&(run.round, run.attempt))?, run.machine.as_str()), run)))
            .collect()
    }

    /// Everything about one benchmark.
    pub(super) fn report(&self, benchmark: &Benchmark) -> BenchmarkReport {
        let plan = &self.manifest.plan;
        let (blocks, _) = self.ledger.blocks(&plan.limits, benchmark);
        let runs = self.runs(&benchmark.id);
        let counted: Vec<&Block<'_>> = blocks.iter().filter(|block| block.counts()).collect();
        let dropped = dropped::dropped(benchmark, &blocks, &runs);
        let rejected = blocks.len() - counted.len();
        let of_course = course::dropped_blocks(&plan.limits, counted.len(), rejected);
        // Where too many were rejected for a verdict, the figures of all are shown and called INVALID: a row without any would
        // leave the reader guessing what was wrong.
        let pairs = if of_course.status == Status::Invalid { blocks.iter().collect() } else { counted.clone() };
        let margin = benchmark.area.margin();
        let target = plan.precision.unwrap_or(Precision::ByArea).of(benchmark.area);
        let metrics = benchmark.metrics.iter().filter_map(|m| Comparison::new(m, &pairs, margin, target)).collect();
        let cell = plan.cell(&benchmark.id);
        let mut report = BenchmarkReport {
            id: benchmark.id.clone(),
            title: benchmark.title.clone(),
            area: benchmark.area,
            blocks: counted.len(),
            blocks_dropped: dropped.len(),
            dropped,
            flags: Vec::new(),
            remarks: BTreeMap::new(),
            host_cost: cost::host_cost(benchmark, cell, &pairs),
            cpu_score: cost::cpu_score(benchmark, cell, &pairs),
            steal: cost::steal(&pairs),
            commands: BTreeMap::new(),
            checks: Vec::new(),
            invalid: false,
            looks: self.looks.get(benchmark.id.as_str()).into_iter().flatten().map(|&look| look.clone()).collect(),
            latency: latency(&pairs, self.raws),
            metrics,
        };
        for run in self.ledger.runs(&benchmark.id) {
            for remark in &run.remarks {
                *report.remarks.entry(remark.clone()).or_insert(0) += 1;
            }
            if !run.argv.is_empty() {
                report.commands.insert(run.machine.clone(), run.argv.clone());
            }
        }
        report.flags = flags(self.manifest, benchmark, cell, &pairs, &report);
        let whole = self.whole_checks(benchmark, &pairs, &report.metrics, of_course);
        report.checks = checks(&blocks, &runs, &whole);
        let consequence = course::consequence(&whole).max(self.consequence);
        report.invalid = consequence == Consequence::Invalid || report.flags.iter().any(|flag| flag.invalidates());
        for comparison in &mut report.metrics {
            // The numbers stay, but they do not say what their row claims.
            if report.invalid {
                comparison.verdict = Some(Verdict::Invalid);
            } else if consequence == Consequence::Imprecise && comparison.verdict.is_some() {
                comparison.verdict = Some(Verdict::Imprecise);
            }
        }
        report
    }

    /// What only all blocks together show, and what holds for the benchmark on these machines.
    fn whole_checks(
        &self,
        benchmark: &Benchmark,
        pairs: &[&Block<'_>],
        metrics: &[Comparison],
        dropped: Check,
    ) -> Vec<Check> {
        let plan = &self.manifest.plan;
        let mut checks = vec![dropped];
        checks.extend(validity::machines::of_benchmark(self.manifest, benchmark));
        for metric in benchmark.primary_metrics() {
            checks.extend(course::checks(&plan.limits, metric, pairs));
            let interval = metrics.iter().find(|c| c.metric.id == metric.id).and_then(Comparison::interval);
            if let Some((interval, margin)) = interval.zip(stats::Margin::relative(benchmark.area.margin())) {
                checks.push(course::faster_than_host(benchmark, &plan.machine.disk, &interval, margin, pairs));
            }
        }
        checks
    }
}

/// The checks of all runs in complete rounds, of all blocks whether they count or not, and of the whole.
fn checks(blocks: &[Block<'_>], runs: &BTreeMap<(usize, &str), &RunRecord>, whole: &[Check]) -> Vec<CheckReport> {
    let of_runs = runs.values().flat_map(|run| {
        let seen = |check| Seen { check, machine: Some(run.machine.as_str()), round: Some(run.round) };
        run.checks.iter().map(seen)
    });
    let of_blocks = blocks.iter().flat_map(|block| {
        block.checks.iter().map(|check| Seen { check, machine: None, round: Some(block.host.round) })
    });
    let of_whole = whole.iter().map(|check| Seen { check, machine: None, round: None });
    gather(of_runs.chain(of_blocks).chain(of_whole))
}

fn flags(
    manifest: &Manifest,
    benchmark: &Benchmark,
    cell: Option<&Cell>,
    pairs: &[&Block<'_>],
    report: &BenchmarkReport,
) -> Vec<Flag> {
    let mut flags = Vec::new();
    if let Some(share) = cost::device_share(benchmark, cell, pairs)
        && share < cost::LEAST_DEVICE_SHARE
    {
        flags.push(Flag::HostPageCache { share });
    }
    let rejected = report.dropped.iter().filter(|block| block.reason == Reason::Rejected).count();
    let share = rejected as f64 / (rejected + report.blocks) as f64;
    if share > manifest.plan.limits.dropped_invalid {
        flags.push(Flag::BlocksRejected { share });
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
