//! One figure for an area: the geometric mean of its benchmarks.

use super::BenchmarkReport;
use super::comparison::{OverheadFigures, Verdict};
use model::record::Manifest;
use model::{Area, Benchmark, Runner};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The builtin whose work is the same everywhere: it tells how noisy a machine is, not what virtualization costs.
const PROBE: &str = "canary";

/// The primary metrics of one area together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AreaSummary {
    /// The area.
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::area"))]
    pub area: Area,
    /// Differences below this do not matter in practice, percent.
    pub margin_percent: f64,
    /// Benchmarks that are in the summary.
    pub benchmarks: Vec<String>,
    /// Benchmarks that were planned and are not in it: never measured on both sides, no figure of this area, or a
    /// probe of the machine's noise.
    pub left_out: Vec<String>,
    /// The geometric mean over the benchmarks in each round that has them all, then over the rounds. A benchmark
    /// that was precise enough leaves the later rounds, which then have no part here.
    pub overhead: Option<OverheadFigures>,
    /// Its verdict; none without an interval.
    pub verdict: Option<Verdict>,
}

/// A summary for each area of the plan.
pub(super) fn summaries(manifest: &Manifest, benchmarks: &[BenchmarkReport]) -> Vec<AreaSummary> {
    let areas: BTreeSet<Area> = benchmarks.iter().map(|b| b.area).collect();
    areas.into_iter().map(|area| summary(area, manifest, benchmarks)).collect()
}

fn is_probe(benchmark: &Benchmark) -> bool {
    matches!(&benchmark.runner, Runner::Workload { name, .. } if name == PROBE)
}

fn summary(area: Area, manifest: &Manifest, benchmarks: &[BenchmarkReport]) -> AreaSummary {
    let of_area = || benchmarks.iter().filter(|b| b.area == area);
    let declared = || manifest.benchmarks.iter().filter(|b| b.area == area);
    let probes: BTreeSet<&str> = declared().filter(|b| is_probe(b)).map(|b| b.id.as_str()).collect();
    // Whoever asks for the probe alone wants to see it.
    let only_probes = declared().all(is_probe);
    let measured = |b: &&BenchmarkReport| {
        !b.invalid && (only_probes || !probes.contains(b.id.as_str())) && b.primary().any(|c| c.overhead.is_some())
    };
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
