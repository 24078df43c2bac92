//! Latencies: histograms of the runs, merged by adding counts (statistics.md, section 6). Percentiles are read from what was
//! merged and never averaged.

use hdrhistogram::Histogram as Merged;
use model::record::{GUEST, HOST, Histogram};
use serde::Serialize;
use std::collections::BTreeMap;
use validity::Block;

/// Gives the bytes of a raw file of the study by the name that the journal has, or says why not.
pub type Raws<'a> = dyn Fn(&str) -> Result<Vec<u8>, String> + 'a;

/// The longest latency that is told apart: one hour, nanoseconds.
const LONGEST: u64 = 3_600_000_000_000;
/// Significant digits of a merged latency.
const DIGITS: u8 = 3;
/// Most operations of one distribution: beyond this no count is exact, and no storage makes so many.
const MOST_OPERATIONS: u64 = 1 << 53;
/// Percentiles that are told where they stand on at least [`LEAST_BEYOND`] operations.
const PERCENTS: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];
const LEAST_BEYOND: f64 = 10.0;
/// From so many runs on percentiles have an interval.
const JACKKNIFE_FROM: usize = 8;
/// Most groups of the jackknife: of more runs, neighbours are left out together.
const GROUPS: usize = 64;
const JACKKNIFE_ALPHA: f64 = 0.05;
/// Most points of a curve.
const CURVE_POINTS: usize = 100;

/// Latencies of one benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LatencyReport {
    /// By machine.
    pub machines: BTreeMap<String, Distribution>,
    /// Histograms that the journal names and the study folder does not have, or that cannot be read.
    pub missing: Vec<String>,
}

/// The merged distribution of one machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Percentile {
    /// Which, for example 99.9.
    pub percent: f64,
    /// Its latency, seconds.
    pub seconds: f64,
    /// Its 95 % interval by the jackknife over runs, seconds; none below eight runs.
    pub interval_seconds: Option<[f64; 2]>,
}

/// The latencies of the blocks that count; none where no run of theirs names a histogram.
pub(super) fn latency(pairs: &[&Block<'_>], raws: &Raws<'_>) -> Option<LatencyReport> {
    let mut report = LatencyReport { machines: BTreeMap::new(), missing: Vec::new() };
    for machine in [HOST, GUEST] {
        let run = |pair: &&Block<'_>| if machine == HOST { pair.host } else { pair.guest }.histogram.clone();
        let names: Vec<String> = pairs.iter().filter_map(run).collect();
        let mut pool = Pool::new(names.len());
        for (place, name) in names.into_iter().enumerate() {
            // One file at a time: what stays is the sum.
            let read = raws(&name).ok().and_then(|bytes| serde_json::from_slice::<Histogram>(&bytes).ok());
            if !read.is_some_and(|histogram| pool.add(place, &histogram)) {
                report.missing.push(name);
            }
        }
        report.machines.extend(pool.distribution().map(|d| (machine.to_owned(), d)));
    }
    (!report.machines.is_empty() || !report.missing.is_empty()).then_some(report)
}

/// Histograms of one machine's runs, in groups of neighbours that the jackknife leaves out together.
struct Pool {
    /// Runs that were to come.
    expected: usize,
    /// Runs that came.
    runs: usize,
    groups: Vec<Option<Merged<u64>>>,
    operations: u64,
    saturated: bool,
}

fn empty() -> Option<Merged<u64>> {
    Merged::new_with_bounds(1, LONGEST, DIGITS).ok()
}

impl Pool {
    fn new(expected: usize) -> Self {
        let groups = (0..expected.min(GROUPS)).map(|_| None).collect();
        Pool { expected, runs: 0, groups, operations: 0, saturated: false }
    }

    /// Adds the run in this place; false where its counts cannot be true.
    fn add(&mut self, place: usize, histogram: &Histogram) -> bool {
        let sum = histogram.bins.iter().try_fold(self.operations, |sum, (_, count)| sum.checked_add(*count));
        let Some(sum) = sum.filter(|sum| *sum > self.operations && *sum <= MOST_OPERATIONS) else { return false };
        let group = place * self.groups.len() / self.expected;
        if self.groups[group].is_none() {
            self.groups[group] = empty();
        }
        let Some(group) = &mut self.groups[group] else { return false };
        for (nanoseconds, count) in histogram.bins.iter().filter(|(_, count)| *count > 0) {
            group.saturating_record_n(*nanoseconds, *count);
            self.saturated |= histogram.saturated_at.is_some_and(|at| *nanoseconds >= at);
        }
        self.operations = sum;
        self.runs += 1;
        true
    }

    /// None where nothing was added.
    fn distribution(self) -> Option<Distribution> {
        let groups: Vec<Merged<u64>> = self.groups.into_iter().flatten().collect();
        let mut all = empty()?;
        for group in &groups {
            all.add(group).ok()?;
        }
        let told = |percent: &f64| all.len() as f64 * (1.0 - percent / 100.0) >= LEAST_BEYOND - 1e-6;
        let percents: Vec<f64> = PERCENTS.into_iter().filter(told).collect();
        let seconds = seconds(&all, &percents);
        let intervals = if self.runs >= JACKKNIFE_FROM {
            jackknife(&mut all.clone(), &groups, &percents, &seconds)
        } else {
            vec![None; percents.len()]
        };
        let percentiles = percents.into_iter().zip(seconds).zip(intervals);
        (self.runs > 0).then(|| Distribution {
            operations: all.len(),
            runs: self.runs,
            percentiles: percentiles
                .map(|((percent, seconds), interval_seconds)| Percentile { percent, seconds, interval_seconds })
                .collect(),
            curve: curve(&all),
            saturated: self.saturated,
        })
    }
}

fn seconds(histogram: &Merged<u64>, percents: &[f64]) -> Vec<f64> {
    histogram.value_at_percentiles(percents.iter().copied()).map(|ns| ns as f64 * 1e-9).collect()
}

/// Interval of each percentile, by leaving out one group after the other.
fn jackknife(
    all: &mut Merged<u64>,
    groups: &[Merged<u64>],
    percents: &[f64],
    seconds_of_all: &[f64],
) -> Vec<Option<[f64; 2]>> {
    let mut without: Vec<Vec<f64>> = Vec::with_capacity(groups.len());
    for group in groups {
        // Exact counts: what was subtracted comes back.
        if all.subtract(group).is_err() {
            return vec![None; percents.len()];
        }
        without.push(seconds(all, percents));
        if all.add(group).is_err() {
            return vec![None; percents.len()];
        }
    }
    let interval = |(place, whole): (usize, &f64)| {
        let theta: Vec<f64> = without.iter().map(|left| left[place]).collect();
        stats::pooled_percentile_interval(*whole, &theta, JACKKNIFE_ALPHA).map(|found| [found.low, found.high])
    };
    seconds_of_all.iter().enumerate().map(interval).collect()
}

/// Recorded latencies at equal steps of the share, and towards the end at equal steps of the tail's logarithm.
fn curve(all: &Merged<u64>) -> Vec<[f64; 2]> {
    let total = all.len() as f64;
    let half = CURVE_POINTS / 2;
    let body = (0..half).map(|i| i as f64 / half as f64);
    // From the last step of the body down to a single operation.
    let (from, to) = ((1.0 / half as f64).ln(), (1.0 / total).ln());
    // The longest latency of all is drawn anyway.
    let steps = half - 1;
    let tail = (0..steps).map(|i| 1.0 - (from + (to - from).min(0.0) * i as f64 / (steps - 1) as f64).exp());
    let mut targets = body.chain(tail).peekable();
    let mut points = Vec::new();
    let mut below = 0u64;
    for value in all.iter_recorded() {
        below += value.count_at_value();
        let share = below as f64 / total;
        let mut is_due = below == all.len();
        while targets.next_if(|target| *target <= share).is_some() {
            is_due = true;
        }
        if is_due {
            points.push([value.value_iterated_to() as f64 * 1e-9, share]);
        }
    }
    points
}
