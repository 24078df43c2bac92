//! Known overheads: what was put in must come out.

use super::{Head, Rate, Series, Tally, head, padded};
use model::record::{HOST, Line, Manifest};
use serde::Serialize;

/// Share of eight-round intervals that must contain the injected value.
const CONTAINS: f64 = 0.94;
/// By how many standard errors of independent verdicts it may be missed.
const SLACK: f64 = 2.0;
/// How far the estimate of all rounds may be off beside its standard error, percentage points.
const BIAS_POINTS: f64 = 0.2;

/// How well known overheads were found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Injected {
    /// The study.
    #[serde(flatten)]
    pub head: Head,
    /// Intervals that contain the injected value.
    pub contains: Rate,
    /// Every injection, from the smallest.
    pub series: Vec<Recovery>,
}

/// One injection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recovery {
    /// The machine whose work was made longer.
    pub machine: String,
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// By how much, percent.
    pub injected_percent: f64,
    /// Blocks that count.
    pub blocks: usize,
    /// Blocks that do not.
    pub dropped: usize,
    /// Groups of eight.
    pub groups: usize,
    /// Groups whose interval contains the injected value.
    pub contains: usize,
    /// What all rounds together show, percent.
    pub recovered_percent: Option<f64>,
    /// Its 95 % interval, percent.
    pub recovered_interval_percent: Option<[f64; 2]>,
    /// Recovered minus injected, percentage points.
    pub bias_points: Option<f64>,
    /// How far it may be off, percentage points.
    pub bias_limit_points: Option<f64>,
    /// True where it is not further off.
    pub within: bool,
}

pub(super) fn evaluate(manifest: &Manifest, lines: &[Line], paddings: &[u64]) -> Injected {
    let mut paddings = paddings.to_vec();
    paddings.sort_unstable();
    let mut contains = Tally::default();
    let mut all = Vec::new();
    for percent in paddings {
        let machine = padded(percent);
        for series in Series::all(manifest, lines, HOST, &machine) {
            all.push(recovery(&machine, percent as f64, &series, &mut contains));
        }
    }
    let contains = contains.rate(CONTAINS, SLACK, -1.0);
    let groups = all.iter().map(|recovery| recovery.groups).min();
    let head = head(manifest, lines, groups, contains.within && all.iter().all(|recovery| recovery.within));
    Injected { head, contains, series: all }
}

fn recovery(machine: &str, percent: f64, series: &Series<'_>, contains: &mut Tally) -> Recovery {
    let injected = (percent / 100.0).ln_1p();
    let mut recovery = Recovery {
        machine: machine.to_owned(),
        benchmark: series.benchmark.id.clone(),
        metric: series.metric.id.clone(),
        injected_percent: percent,
        blocks: series.ratios.len(),
        dropped: series.dropped,
        groups: 0,
        contains: 0,
        recovered_percent: None,
        recovered_interval_percent: None,
        bias_points: None,
        bias_limit_points: None,
        within: false,
    };
    for (group, interval) in series.groups().enumerate() {
        let Some(interval) = interval else { continue };
        let is_in = interval.contains(injected);
        contains.note(group, is_in);
        recovery.groups += 1;
        recovery.contains += usize::from(is_in);
    }
    let Some(overall) = stats::overhead(&series.ratios) else { return recovery };
    let recovered = stats::percent(overall.typical);
    let bias = recovered - percent;
    recovery.recovered_percent = Some(recovered);
    recovery.bias_points = Some(bias);
    if let Some(interval) = overall.interval {
        let ends = [stats::percent(interval.low), stats::percent(interval.high)];
        let limit = BIAS_POINTS + standard_error(ends);
        recovery.recovered_interval_percent = Some(ends);
        recovery.bias_limit_points = Some(limit);
        recovery.within = bias.abs() <= limit;
    }
    recovery
}

/// The standard error of an estimate whose interval has these ends, as if it were normal.
fn standard_error([low, high]: [f64; 2]) -> f64 {
    let z = stats::normal::quantile(1.0 - stats::STUDY_ALPHA / 2.0).unwrap_or(2.0);
    (high - low) / 2.0 / z
}
