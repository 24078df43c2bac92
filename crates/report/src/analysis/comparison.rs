//! One metric, host against guest.

use model::{Direction, Metric};
use serde::Serialize;
use validity::Block;

/// One metric of one benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The metric, as declared.
    #[serde(flatten)]
    #[cfg_attr(test, schemars(with = "crate::schema_types::Metric"))]
    pub metric: Metric,
    /// The host's values.
    pub host: Arm,
    /// The guest's values.
    pub guest: Arm,
    /// What the guest costs; none where no value allows a ratio (zero or negative).
    pub overhead: Option<OverheadFigures>,
    /// In one word; none without an interval, unless the figure is not what it claims to be.
    pub verdict: Option<Verdict>,
    /// How narrow the interval is, against what was asked for; none for secondary metrics and without an interval.
    pub precision: Option<PrecisionFigures>,
    /// By how much pairing reduced the variance: (Var ln host + Var ln guest) / Var d. Below 1 it did harm. None below three
    /// rounds, and where the ratios do not vary.
    pub variance_reduction: Option<f64>,
    /// The rounds that were used, in time order.
    pub points: Vec<Point>,
}

/// The width of an interval against what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PrecisionFigures {
    /// Half of the interval's width as a factor beyond 1, percent: the overhead's factor is known to within ± so much.
    pub half_width_percent: f64,
    /// What was asked for, percent.
    pub target_percent: f64,
    /// True where it was reached.
    pub reached: bool,
    /// Rounds that the target would have taken in all, as far as one can tell; none where it was reached or never will be.
    pub forecast: Option<usize>,
}

/// Values of one machine over the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Arm {
    /// Median, in the metric's base unit.
    pub median: f64,
    /// Spread: 1.4826 times the median absolute deviation, as a fraction of the median; from three values.
    pub robust_cv: Option<f64>,
}

/// One round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Point {
    /// Place among the rounds that count, in time order, from 0.
    pub place: usize,
    /// The round's number, from 1.
    pub round: u32,
    /// The attempt that counts, from 1.
    pub attempt: u32,
    /// The host's value.
    pub host: f64,
    /// The guest's value.
    pub guest: f64,
    /// ln(cost in the guest / cost on the host).
    pub log_cost_ratio: Option<f64>,
}

/// How much the number of rounds lets one say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Strength {
    /// One or two rounds: no interval.
    PointOnly,
    /// Three to seven rounds: Student's t interval of the mean.
    Indicative,
    /// Eight rounds or more: the exact signed-rank interval.
    Study,
}

/// What the interval says (see [`stats::Verdict`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// The guest is slower by more than the margin.
    Overhead,
    /// The guest is faster by more than the margin.
    FasterThanHost,
    /// Any difference is within the margin.
    Equivalent,
    /// There is a difference, and it may be within the margin.
    Small,
    /// Not known yet.
    Inconclusive,
    /// Not known, and the interval is wider than the precision that was asked for: more rounds would be needed than are allowed.
    Imprecise,
    /// The figure is not what it claims to be.
    Invalid,
}

/// An overhead as people read it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OverheadFigures {
    /// Rounds that it was made from.
    pub rounds: usize,
    /// What the number of rounds is worth.
    pub strength: Strength,
    /// The typical log cost ratio (Hodges-Lehmann).
    pub typical_log: f64,
    /// How much more the same work costs, 100 (e^typical_log - 1).
    pub percent: f64,
    /// Its 95 % interval.
    pub interval: Option<IntervalFigures>,
    /// For throughputs, the guest's as percent of the host's.
    pub of_host_percent: Option<f64>,
    /// For throughputs, what is lost.
    pub loss_percent: Option<f64>,
    /// The geometric mean of the ratios, which unlike `percent` shows rare stalls.
    pub geometric_mean_percent: Option<f64>,
    /// Its 95 % t interval.
    pub geometric_mean_interval: Option<IntervalFigures>,
    /// The two estimates are further apart than half of the interval: one side has a tail of rare slow runs.
    pub tail_shift: bool,
    /// Lag-1 correlation of the rounds.
    pub serial_correlation: f64,
    /// By how much the interval was stretched for it.
    pub stretch: f64,
    /// At least half of the rounds repeat another one's value exactly.
    pub repeated: bool,
}

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IntervalFigures {
    /// Lower end, percent.
    pub low_percent: f64,
    /// Upper end, percent.
    pub high_percent: f64,
    /// Lower end on the log scale.
    pub low_log: f64,
    /// Upper end on the log scale.
    pub high_log: f64,
    /// Its level, 0 to 1.
    pub level: f64,
}

impl Comparison {
    /// None where no block has the metric on both sides; `margin` and `target` (the half-width that was asked for) as
    /// fractions.
    pub(super) fn new(metric: &Metric, blocks: &[&Block<'_>], margin: f64, target: f64) -> Option<Self> {
        let points: Vec<Point> = blocks.iter().filter_map(|block| point(metric, block)).collect();
        let ratios: Vec<f64> = points.iter().filter_map(|p| p.log_cost_ratio).collect();
        let overhead = stats::overhead(&ratios);
        let interval = overhead.as_ref().and_then(|o| o.interval);
        let precision = interval.filter(|_| metric.primary).and_then(|i| PrecisionFigures::new(&i, target));
        let verdict = match overhead.as_ref().and_then(|o| Verdict::of(o, margin)) {
            Some(Verdict::Small | Verdict::Inconclusive) if precision.is_some_and(|p| !p.reached) => {
                Some(Verdict::Imprecise)
            }
            verdict => verdict,
        };
        Some(Comparison {
            metric: metric.clone(),
            host: Arm::new(points.iter().map(|p| p.host))?,
            guest: Arm::new(points.iter().map(|p| p.guest))?,
            verdict,
            overhead: overhead.as_ref().map(|o| OverheadFigures::new(o, Some(metric.direction))),
            precision,
            variance_reduction: variance_reduction(&points),
            points,
        })
    }
}

impl Comparison {
    /// The interval on the log scale, as the statistics want it.
    pub(super) fn interval(&self) -> Option<stats::Interval> {
        let overhead = self.overhead.as_ref()?;
        let IntervalFigures { low_log: low, high_log: high, level, .. } = overhead.interval?;
        Some(stats::Interval { estimate: overhead.typical_log, low, high, level, n: overhead.rounds })
    }
}

/// Over the rounds that have a ratio.
fn variance_reduction(points: &[Point]) -> Option<f64> {
    let paired: Vec<(f64, &Point)> = points.iter().filter_map(|p| Some((p.log_cost_ratio?, p))).collect();
    if paired.len() < stats::INDICATIVE_ROUNDS {
        return None;
    }
    let of = |value: fn(&(f64, &Point)) -> f64| paired.iter().map(value).collect::<Vec<f64>>();
    stats::variance_reduction(&of(|(_, p)| p.host.ln()), &of(|(_, p)| p.guest.ln()), &of(|(d, _)| *d))
}

impl PrecisionFigures {
    fn new(interval: &stats::Interval, target: f64) -> Option<Self> {
        let margin = stats::Margin::relative(target)?;
        let reached = stats::precise_enough(interval, margin);
        let forecast = (!reached).then(|| stats::forecast(interval, margin)).filter(|rounds| *rounds < usize::MAX);
        Some(PrecisionFigures {
            half_width_percent: stats::percent(interval.half_width()),
            target_percent: 100.0 * target,
            reached,
            forecast,
        })
    }
}

fn point(metric: &Metric, block: &Block<'_>) -> Option<Point> {
    let [host, guest] = block.values(metric)?;
    Some(Point {
        place: block.place,
        round: block.host.round,
        attempt: block.host.attempt,
        host,
        guest,
        log_cost_ratio: block.log_cost_ratio(metric),
    })
}

impl Arm {
    /// None where there is no value.
    pub(super) fn new(values: impl Iterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.collect();
        // One value has no spread, and two have no middle to measure it from.
        let robust_cv = if values.len() >= 3 { stats::robust_cv(&values) } else { None };
        Some(Arm { median: stats::median(&values)?, robust_cv })
    }
}

impl OverheadFigures {
    /// With a direction of [`Direction::Higher`] it is also said as throughput.
    pub(super) fn new(overhead: &stats::Overhead, direction: Option<Direction>) -> Self {
        let throughput = direction == Some(Direction::Higher);
        let typical = overhead.typical;
        OverheadFigures {
            rounds: overhead.n,
            strength: match overhead.strength {
                stats::Strength::PointOnly => Strength::PointOnly,
                stats::Strength::Indicative => Strength::Indicative,
                stats::Strength::Study => Strength::Study,
            },
            typical_log: typical,
            percent: stats::percent(typical),
            interval: overhead.interval.as_ref().map(IntervalFigures::new),
            of_host_percent: throughput.then(|| 100.0 * stats::throughput_ratio(typical)),
            loss_percent: throughput.then(|| stats::loss_percent(typical)),
            geometric_mean_percent: overhead.geometric_mean.map(|g| stats::percent(g.estimate)),
            geometric_mean_interval: overhead.geometric_mean.as_ref().map(IntervalFigures::new),
            tail_shift: overhead.tail_shift,
            serial_correlation: overhead.serial.lag1,
            stretch: overhead.serial.factor,
            repeated: overhead.repeated,
        }
    }
}

impl IntervalFigures {
    fn new(interval: &stats::Interval) -> Self {
        IntervalFigures {
            low_percent: stats::percent(interval.low),
            high_percent: stats::percent(interval.high),
            low_log: interval.low,
            high_log: interval.high,
            level: interval.level,
        }
    }
}

impl Verdict {
    /// None without an interval; `margin` as a fraction.
    pub(super) fn of(overhead: &stats::Overhead, margin: f64) -> Option<Self> {
        let margin = stats::Margin::relative(margin)?;
        Some(match stats::verdict(&overhead.interval?, margin) {
            stats::Verdict::Overhead => Verdict::Overhead,
            stats::Verdict::FasterThanHost => Verdict::FasterThanHost,
            stats::Verdict::Equivalent => Verdict::Equivalent,
            stats::Verdict::Small => Verdict::Small,
            stats::Verdict::Inconclusive => Verdict::Inconclusive,
        })
    }

    /// The word of the specification.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Overhead => "OVERHEAD",
            Verdict::FasterThanHost => "FASTER_THAN_HOST",
            Verdict::Equivalent => "EQUIVALENT",
            Verdict::Small => "SMALL",
            Verdict::Inconclusive => "INCONCLUSIVE",
            Verdict::Imprecise => "IMPRECISE",
            Verdict::Invalid => "INVALID",
        }
    }
}
