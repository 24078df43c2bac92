//! The same against itself: everything that is found there is a false alarm.

use super::{Head, PAIRS, Rate, Series, Tally, head};
use model::record::{Line, Manifest};
use serde::Serialize;

/// Share of eight-round intervals that may exclude 0.
const EXCLUDES_ZERO: f64 = 0.05;
/// By how many standard errors of independent verdicts it may be missed.
const SLACK: f64 = 2.0;
/// Share of eight-round verdicts that may be OVERHEAD or FASTER_THAN_HOST.
const BEYOND_MARGIN: f64 = 0.01;

/// How often this machine cries wolf.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Aa {
    /// The study.
    #[serde(flatten)]
    pub head: Head,
    /// Intervals that exclude 0.
    pub excludes_zero: Rate,
    /// Verdicts of a difference beyond the area's margin.
    pub beyond_margin: Rate,
    /// Every metric of every pair.
    pub series: Vec<Noise>,
}

/// One metric between two machines that are the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// The machine that stands for the host.
    pub base: String,
    /// Its twin.
    pub other: String,
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// Blocks that count.
    pub blocks: usize,
    /// Blocks that do not.
    pub dropped: usize,
    /// Groups of eight.
    pub groups: usize,
    /// Groups whose interval excludes 0.
    pub excludes_zero: usize,
    /// Groups whose verdict is a difference beyond the margin.
    pub beyond_margin: usize,
    /// The margin, percent.
    pub margin_percent: f64,
    /// What all rounds together show, percent.
    pub overall_percent: Option<f64>,
    /// Its 95 % interval, percent.
    pub overall_interval_percent: Option<[f64; 2]>,
    /// The noise floor: the median half-width of the groups' intervals, percent. A smaller difference cannot be seen in eight rounds.
    pub floor_percent: Option<f64>,
    /// Spread of single runs: 1.4826 times the median absolute deviation, percent of the median; of the less steady of the two.
    pub run_spread_percent: Option<f64>,
}

pub(super) fn evaluate(manifest: &Manifest, lines: &[Line]) -> Aa {
    let (mut zero, mut margin) = (Tally::default(), Tally::default());
    let mut all = Vec::new();
    for [base, other] in PAIRS {
        for series in Series::all(manifest, lines, base, other) {
            all.push(noise(base, other, &series, &mut zero, &mut margin));
        }
    }
    let excludes_zero = zero.rate(EXCLUDES_ZERO, SLACK, 1.0);
    let beyond_margin = margin.rate(BEYOND_MARGIN, 0.0, 1.0);
    let groups = all.iter().map(|noise| noise.groups).min();
    let head = head(manifest, lines, groups, excludes_zero.within && beyond_margin.within);
    Aa { head, excludes_zero, beyond_margin, series: all }
}

fn noise(base: &str, other: &str, series: &Series<'_>, zero: &mut Tally, beyond: &mut Tally) -> Noise {
    let area = series.benchmark.area;
    let margin = stats::Margin::relative(area.margin());
    let mut noise = Noise {
        base: base.to_owned(),
        other: other.to_owned(),
        benchmark: series.benchmark.id.clone(),
        metric: series.metric.id.clone(),
        blocks: series.ratios.len(),
        dropped: series.dropped,
        groups: 0,
        excludes_zero: 0,
        beyond_margin: 0,
        margin_percent: 100.0 * area.margin(),
        overall_percent: None,
        overall_interval_percent: None,
        floor_percent: None,
        run_spread_percent: None,
    };
    let mut widths = Vec::new();
    for (group, interval) in series.groups().enumerate() {
        let (Some(interval), Some(margin)) = (interval, margin) else { continue };
        let excludes = !interval.contains(0.0);
        let verdict = stats::verdict(&interval, margin);
        let differs = matches!(verdict, stats::Verdict::Overhead | stats::Verdict::FasterThanHost);
        zero.note(group, excludes);
        beyond.note(group, differs);
        noise.groups += 1;
        noise.excludes_zero += usize::from(excludes);
        noise.beyond_margin += usize::from(differs);
        widths.push(interval.half_width());
    }
    noise.floor_percent = stats::median(&widths).map(stats::percent);
    if let Some(overall) = stats::overhead(&series.ratios) {
        noise.overall_percent = Some(stats::percent(overall.typical));
        noise.overall_interval_percent = overall.interval.map(|i| [stats::percent(i.low), stats::percent(i.high)]);
    }
    let spread = |side: usize| {
        let values: Vec<f64> = series.values.iter().map(|both| both[side]).collect();
        if values.len() < stats::INDICATIVE_ROUNDS { None } else { stats::robust_cv(&values) }
    };
    noise.run_spread_percent = spread(0).into_iter().chain(spread(1)).reduce(f64::max).map(|cv| 100.0 * cv);
    noise
}
