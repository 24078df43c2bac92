//! Where the tax goes: what a unit of work cost the physical host, and what a CPU-second yielded.

use super::comparison::{Arm, OverheadFigures};
use model::plan::Cell;
use model::record::{GUEST, HOST};
use model::{Area, Benchmark, Direction, HostCost, Metric, RunRecord, Unit};
use serde::Serialize;
use stats::Better;
use std::collections::BTreeMap;
use validity::Block;

/// A disk run whose QEMU moved less than this share of the guest's bytes was served by the host's page cache.
pub(super) const LEAST_DEVICE_SHARE: f64 = 0.8;

/// A unit of work.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Work {
    /// What tables call it, for example `1,000 I/Os`.
    pub title: String,
    /// How much that is, in `unit` times seconds.
    pub amount: f64,
    /// Unit of the rate whose integral is the work.
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::unit"))]
    pub unit: Unit,
}

/// What the work of a benchmark cost the physical host: all CPU time of the used runs by all of their work.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HostCostReport {
    /// The unit of work.
    pub work: Work,
    /// Blocks with cost data on both sides.
    pub blocks: usize,
    /// The work done by a process of the host.
    pub host: ArmCost,
    /// The same work done in the guest: all of QEMU.
    pub guest: ArmCost,
    /// CPU time of the guest's work by that of the host's; none where the host's is zero.
    pub factor: Option<f64>,
    /// The same from the rounds' paired ratios, with an interval.
    pub overhead: Option<OverheadFigures>,
}

/// CPU time on the physical host for one unit of work, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArmCost {
    /// All of it.
    pub cpu_seconds: f64,
    /// vCPU threads (host: the workload itself).
    pub vcpu_seconds: f64,
    /// iothreads and I/O workers.
    pub io_seconds: f64,
    /// Main loop and other threads.
    pub other_seconds: f64,
    /// Context switches for one unit of work.
    pub context_switches: f64,
    /// Most resident memory at the end of a run, bytes.
    pub resident_bytes: u64,
}

/// Score per CPU-second, as the machines themselves count CPU time: what the score would be if nothing else had run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CpuScore {
    /// The metric.
    pub metric: String,
    /// Host, metric's base unit times seconds by CPU-second.
    pub host: Arm,
    /// Guest.
    pub guest: Arm,
    /// From the rounds' paired ratios.
    pub overhead: Option<OverheadFigures>,
}

/// CPU time that a hypervisor took away.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StealShare {
    /// Over all used runs, as a fraction of the machine's CPU time.
    pub mean: f64,
    /// In the worst run.
    pub worst: f64,
}

/// The work of a benchmark, where its first primary rate is one.
fn work(benchmark: &Benchmark) -> Option<(&Metric, Work)> {
    let metric = benchmark.primary_metrics().find(|m| m.direction == Direction::Higher)?;
    let (title, amount) = match (metric.unit, benchmark.area) {
        (Unit::BytesPerSecond, _) => ("1 GiB", (1u64 << 30) as f64),
        (Unit::WhetstonePerSecond, _) => ("1,000 MWI", 1e9),
        (Unit::PerSecond, Area::Disk) => ("1,000 I/Os", 1e3),
        (Unit::PerSecond, _) if metric.shown.symbol.contains("lps") => ("1 M loops", 1e6),
        (Unit::PerSecond, _) => ("1 M operations", 1e6),
        (Unit::Seconds | Unit::Bytes | Unit::One, _) => return None,
    };
    Some((metric, Work { title: title.to_owned(), amount, unit: metric.unit }))
}

/// Seconds during which a run worked at the rate that it reports.
///
/// The counters of a tool span its start and end too, in which it does no work; where the cell says how long the tool
/// works (`time`, and `ramp` before it, which is load like the rest), that is what counts.
fn working_seconds(run: &RunRecord, cell: Option<&Cell>) -> Option<f64> {
    let wall = run.counters.as_ref().map(|c| c.wall_seconds).or(run.controller_seconds).filter(|s| *s > 0.0)?;
    let told = cell.filter(|_| !run.argv.is_empty()).and_then(|cell| {
        let ramp = cell.params.seconds("ramp").unwrap_or(0.0);
        Some(cell.params.seconds("time").ok()? + ramp)
    });
    Some(told.map_or(wall, |told| told.min(wall)))
}

/// Work that a run did, in the metric's base unit times seconds.
fn done(metric: &Metric, run: &RunRecord, cell: Option<&Cell>) -> Option<f64> {
    let done = run.outcome.value(&metric.id)? * working_seconds(run, cell)?;
    (done > 0.0 && done.is_finite()).then_some(done)
}

/// The host's cost of a benchmark; none where no block has cost data on both sides.
pub(super) fn host_cost(benchmark: &Benchmark, cell: Option<&Cell>, pairs: &[&Block<'_>]) -> Option<HostCostReport> {
    let (metric, work) = work(benchmark)?;
    let side = |run: &RunRecord| Some((run.host_cost.clone()?, done(metric, run, cell)?));
    let blocks: Vec<[(HostCost, f64); 2]> =
        pairs.iter().filter_map(|pair| Some([side(pair.host)?, side(pair.guest)?])).collect();
    let (hosts, guests): (Vec<(HostCost, f64)>, Vec<_>) = blocks.into_iter().map(|[host, guest]| (host, guest)).unzip();
    let ratios: Vec<f64> = hosts
        .iter()
        .zip(&guests)
        .filter_map(|(host, guest)| {
            stats::log_cost_ratio(host.0.cpu_seconds() / host.1, guest.0.cpu_seconds() / guest.1, Better::Lower)
        })
        .collect();
    let host = arm_cost(&work, &hosts)?;
    let guest = arm_cost(&work, &guests)?;
    Some(HostCostReport {
        work,
        blocks: hosts.len(),
        factor: (host.cpu_seconds > 0.0).then(|| guest.cpu_seconds / host.cpu_seconds),
        overhead: stats::overhead(&ratios).as_ref().map(|o| OverheadFigures::new(o, None)),
        host,
        guest,
    })
}

/// Sums over sums, so that the parts add up to the whole; none where no work was done.
fn arm_cost(work: &Work, runs: &[(HostCost, f64)]) -> Option<ArmCost> {
    let units = runs.iter().map(|(_, done)| done).sum::<f64>() / work.amount;
    let per_unit = |part: fn(&HostCost) -> f64| runs.iter().map(|(cost, _)| part(cost)).sum::<f64>() / units;
    (units > 0.0).then(|| ArmCost {
        cpu_seconds: per_unit(HostCost::cpu_seconds),
        vcpu_seconds: per_unit(|c| c.vcpu_seconds),
        io_seconds: per_unit(|c| c.io_seconds),
        other_seconds: per_unit(|c| c.other_seconds),
        context_switches: per_unit(|c| c.context_switches as f64),
        resident_bytes: runs.iter().map(|(c, _)| c.resident_bytes).max().unwrap_or(0),
    })
}

/// Bytes that QEMU moved to and from storage, by the bytes that the guest's tool moved as its bandwidth says; none without cost
/// data. The guest kernel's own count is of no use here: a request that io_uring first tries without waiting and then hands to a
/// worker is counted twice (seen with 1 MiB reads on Linux 6.1).
pub(super) fn device_share(benchmark: &Benchmark, cell: Option<&Cell>, pairs: &[&Block<'_>]) -> Option<f64> {
    if benchmark.area != Area::Disk {
        return None;
    }
    let is_rate = |m: &&Metric| m.unit == Unit::BytesPerSecond;
    let bandwidth = benchmark.primary_metrics().find(is_rate).or_else(|| benchmark.metrics.iter().find(is_rate));
    let (mut device, mut guest) = (0.0, 0.0);
    for pair in pairs {
        let moved = bandwidth.and_then(|metric| done(metric, pair.guest, cell));
        if let (Some(cost), Some(moved)) = (&pair.guest.host_cost, moved) {
            device += cost.read_bytes as f64 + cost.write_bytes as f64;
            guest += moved;
        }
    }
    (guest > 0.0).then(|| device / guest)
}

/// The score per CPU-second; none where a side has no counters.
pub(super) fn cpu_score(benchmark: &Benchmark, cell: Option<&Cell>, pairs: &[&Block<'_>]) -> Option<CpuScore> {
    let (metric, _) = work(benchmark)?;
    let score = |run: &RunRecord| {
        let counters = run.counters.as_ref()?;
        let cpu = counters.user_seconds + counters.system_seconds;
        (cpu > 0.0).then_some(done(metric, run, cell)? / cpu)
    };
    let scores: Vec<(f64, f64)> =
        pairs.iter().filter_map(|pair| Some((score(pair.host)?, score(pair.guest)?))).collect();
    let ratios: Vec<f64> =
        scores.iter().filter_map(|(host, guest)| stats::log_cost_ratio(*host, *guest, Better::Higher)).collect();
    Some(CpuScore {
        metric: metric.id.clone(),
        host: Arm::new(scores.iter().map(|s| s.0))?,
        guest: Arm::new(scores.iter().map(|s| s.1))?,
        overhead: stats::overhead(&ratios).as_ref().map(|o| OverheadFigures::new(o, Some(Direction::Higher))),
    })
}

/// Steal by machine, where it could be read.
pub(super) fn steal(pairs: &[&Block<'_>]) -> BTreeMap<String, StealShare> {
    let mut shares = BTreeMap::new();
    for machine in [HOST, GUEST] {
        let run = |pair: &&Block<'_>| stolen(if machine == HOST { pair.host } else { pair.guest });
        let readings: Vec<(f64, f64)> = pairs.iter().filter_map(run).collect();
        let capacity: f64 = readings.iter().map(|r| r.1).sum();
        if capacity > 0.0 {
            let mean = readings.iter().map(|r| r.0).sum::<f64>() / capacity;
            let worst = readings.iter().map(|r| r.0 / r.1).fold(0.0, f64::max);
            shares.insert(machine.to_owned(), StealShare { mean, worst });
        }
    }
    shares
}

/// Stolen seconds and all CPU seconds of a run.
fn stolen(run: &RunRecord) -> Option<(f64, f64)> {
    let counters = run.counters.as_ref()?;
    Some((counters.steal_seconds?, counters.cpu_capacity_seconds.filter(|c| *c > 0.0)?))
}
