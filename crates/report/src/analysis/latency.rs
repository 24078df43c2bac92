//! Latencies: histograms of the runs, merged by adding counts (statistics.md, section 6).

use serde::Serialize;
use std::collections::BTreeMap;

/// Latencies of one benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencyReport {
    /// By machine.
    pub machines: BTreeMap<String, Distribution>,
    /// Histograms that the journal names and the study folder does not have, or that cannot be read.
    pub missing: Vec<String>,
}

/// The merged distribution of one machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// Operations.
    pub operations: u64,
    /// Runs that were merged.
    pub runs: usize,
    /// Pooled percentiles, rising; those that stand on fewer than ten operations are left out.
    pub percentiles: Vec<Percentile>,
    /// Latency in seconds and the share of operations that took no longer, rising; thinned for drawing.
    pub curve: Vec<[f64; 2]>,
    /// True where some operation took longer than the tool can tell apart.
    pub saturated: bool,
}

/// A percentile of all operations together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentile {
    /// Which, for example 99.9.
    pub percent: f64,
    /// Its latency, seconds.
    pub seconds: f64,
    /// Its 95 % interval by the jackknife over runs, seconds; none below eight runs.
    pub interval_seconds: Option<[f64; 2]>,
}
