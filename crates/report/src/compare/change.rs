//! One metric in two studies: what changed, whether that is more than chance and more than matters.

use super::{ALPHA, FEWEST_ROUNDS};
use crate::analysis::{BenchmarkReport, Comparison, IntervalFigures};
use model::{Area, Direction, Metric};
use serde::Serialize;

/// One metric that both studies have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The benchmark's id.
    pub benchmark: String,
    /// What tables call it.
    pub title: String,
    /// What it loads.
    pub area: Area,
    /// The metric, as A declares it.
    pub metric: Metric,
    /// Changes below this do not matter in practice, percent.
    pub margin_percent: f64,
    /// The baseline.
    pub a: Side,
    /// What is judged.
    pub b: Side,
    /// What happened to the cost in the guest relative to the host; none below [`FEWEST_ROUNDS`] on a side.
    pub shift: Option<Shift>,
    /// Speed of the host in B against A, percent, more is faster. Information: the ratio cancels it.
    pub host_speed_percent: f64,
    /// The same of the guest.
    pub guest_speed_percent: f64,
    /// In one word; only primary metrics have one.
    pub verdict: Option<Verdict>,
    /// What the repetition says of a regression.
    pub confirmation: Option<Confirmation>,
    #[serde(skip)]
    margin: stats::Margin,
}

/// One study's part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Rounds with a ratio.
    pub rounds: usize,
    /// Median of the overhead over the rounds, percent.
    pub overhead_percent: Option<f64>,
    /// Median on the host, in the metric's base unit.
    pub host: f64,
    /// Median in the guest.
    pub guest: f64,
    /// d of each round.
    #[serde(skip)]
    ratios: Vec<f64>,
}

/// From A to B: the same work in the guest, relative to the host, costs so much more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shift {
    /// Median of all differences between a round of B and one of A (Hodges-Lehmann).
    pub typical_log: f64,
    /// The same as percent.
    pub percent: f64,
    /// Its 95 % interval, the inverse of the test.
    pub interval: IntervalFigures,
    /// Two-sided p value of the Mann-Whitney test.
    pub p: f64,
    /// The same, adjusted for all primary metrics (Holm).
    pub adjusted_p: Option<f64>,
}

/// What a second, fresh study says of a regression.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Confirmation {
    /// Its part; none where C does not have the cell.
    pub c: Option<Side>,
    /// From A to C; adjusted for the regressions that were to be confirmed.
    pub shift: Option<Shift>,
    /// Whether it shows the regression too; none where it cannot tell.
    pub shown: Option<bool>,
}

/// What is known of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// Worse by more than the margin: the whole interval lies above it, and the adjusted p value is below 0.05.
    Regression,
    /// Better by more than the margin, the mirror image.
    Improvement,
    /// Any change is within the margin.
    NoChange,
    /// None of these.
    Unclear,
    /// Too few rounds for this many metrics: no result could have been called a change.
    TooFew,
    /// B is worse, and its repetition does not show it.
    NotConfirmed,
}

impl Verdict {
    /// All of them, the gravest first.
    pub const ALL: [Verdict; 6] = [
        Verdict::Regression,
        Verdict::NotConfirmed,
        Verdict::Improvement,
        Verdict::NoChange,
        Verdict::Unclear,
        Verdict::TooFew,
    ];

    /// The word in every language.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Regression => "REGRESSION",
            Verdict::Improvement => "IMPROVEMENT",
            Verdict::NoChange => "NO_CHANGE",
            Verdict::Unclear => "UNCLEAR",
            Verdict::TooFew => "TOO_FEW",
            Verdict::NotConfirmed => "NOT_CONFIRMED",
        }
    }

    /// True where it is known whether the metric got worse.
    pub(super) fn is_decided(self) -> bool {
        !matches!(self, Verdict::Unclear | Verdict::TooFew)
    }
}

impl Side {
    fn new(comparison: &Comparison) -> Self {
        let ratios: Vec<f64> = comparison.points.iter().filter_map(|p| p.log_cost_ratio).collect();
        Side {
            rounds: ratios.len(),
            overhead_percent: stats::median(&ratios).map(stats::percent),
            host: comparison.host.median,
            guest: comparison.guest.median,
            ratios,
        }
    }
}

impl Shift {
    /// None with too few rounds.
    fn new(a: &Side, b: &Side) -> Option<Self> {
        if a.rounds.min(b.rounds) < FEWEST_ROUNDS {
            return None;
        }
        let interval = stats::shift(&a.ratios, &b.ratios, ALPHA)?;
        Some(Shift {
            typical_log: interval.estimate,
            percent: stats::percent(interval.estimate),
            interval: IntervalFigures {
                low_percent: stats::percent(interval.low),
                high_percent: stats::percent(interval.high),
                low_log: interval.low,
                high_log: interval.high,
                level: interval.level,
            },
            p: stats::mann_whitney_p(&a.ratios, &b.ratios)?,
            adjusted_p: None,
        })
    }
}

impl Change {
    /// The same metric of the same cell in both studies; no verdict yet.
    pub(super) fn new(benchmark: &BenchmarkReport, a: &Comparison, b: &Comparison, margin: f64) -> Option<Self> {
        let faster = |from: f64, to: f64| match a.metric.direction {
            Direction::Higher => 100.0 * (to / from - 1.0),
            Direction::Lower => 100.0 * (from / to - 1.0),
        };
        let (side_a, side_b) = (Side::new(a), Side::new(b));
        Some(Change {
            benchmark: benchmark.id.clone(),
            title: benchmark.title.clone(),
            area: benchmark.area,
            metric: a.metric.clone(),
            margin_percent: 100.0 * margin,
            shift: Shift::new(&side_a, &side_b),
            a: side_a,
            b: side_b,
            host_speed_percent: faster(a.host.median, b.host.median),
            guest_speed_percent: faster(a.guest.median, b.guest.median),
            verdict: None,
            confirmation: None,
            margin: stats::Margin::relative(margin)?,
        })
    }

    /// In one word, in a family of so many tests.
    fn judged(&self, family: usize) -> Verdict {
        let Some(shift) = &self.shift else { return Verdict::TooFew };
        let (low, high, margin) = (shift.interval.low_log, shift.interval.high_log, self.margin.log());
        let significant = shift.adjusted_p.is_some_and(|p| p < ALPHA);
        if significant && low > margin {
            Verdict::Regression
        } else if significant && high < -margin {
            Verdict::Improvement
        } else if -margin <= low && high <= margin {
            Verdict::NoChange
        } else if least_p(self.a.rounds, self.b.rounds) * family as f64 >= ALPHA {
            // Not even complete separation could have been told from chance (statistics.md 3.2).
            Verdict::TooFew
        } else {
            Verdict::Unclear
        }
    }
}

/// Adjusts the p values of the primary metrics and gives each its verdict. Returns how many were tested.
pub(super) fn judge(changes: &mut [Change]) -> usize {
    let p: Vec<f64> = changes.iter().filter(|c| c.metric.primary).filter_map(|c| Some(c.shift?.p)).collect();
    let family = p.len();
    let mut adjusted = stats::holm(&p).unwrap_or_default().into_iter();
    for change in changes.iter_mut().filter(|c| c.metric.primary) {
        if let Some(shift) = &mut change.shift {
            shift.adjusted_p = adjusted.next();
        }
        change.verdict = Some(change.judged(family));
    }
    family
}

/// Lets a fresh study speak on each regression; `repeated` are the changes from A to it. As its data are new, only the regressions
/// are tested, and make the family.
pub(super) fn confirm(changes: &mut [Change], mut repeated: Vec<Change>) {
    let same = |one: &Change, other: &Change| one.benchmark == other.benchmark && one.metric.id == other.metric.id;
    let regressed = |change: &Change| change.verdict == Some(Verdict::Regression);
    repeated.retain(|again| changes.iter().any(|change| regressed(change) && same(change, again)));
    judge(&mut repeated);
    for change in changes.iter_mut().filter(|change| regressed(change)) {
        let again = repeated.iter().find(|again| same(change, again));
        let shown = again.and_then(|again| match again.verdict {
            None | Some(Verdict::TooFew) => None,
            verdict => Some(verdict == Some(Verdict::Regression)),
        });
        if shown != Some(true) {
            change.verdict = Some(Verdict::NotConfirmed);
        }
        change.confirmation =
            Some(Confirmation { c: again.map(|c| c.b.clone()), shift: again.and_then(|c| c.shift), shown });
    }
}

/// The p value of samples of these sizes when every value of one lies above every value of the other: the least that the
/// Mann-Whitney test can give, 2 / C(a + b, a).
fn least_p(a: usize, b: usize) -> f64 {
    let ways: f64 = (1..=a).map(|i| (b + i) as f64 / i as f64).product();
    (2.0 / ways).min(1.0)
}

/// Rounds in each study with which the test can call one of so many metrics changed. (`stats::rounds_for_family` is about the paired
/// test inside one study, whose least p is larger.)
pub(super) fn rounds_needed(family: usize) -> usize {
    let enough = |rounds: &usize| least_p(*rounds, *rounds) * (family as f64) < ALPHA;
    (FEWEST_ROUNDS..).find(enough).unwrap_or(FEWEST_ROUNDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_p_is_that_of_complete_separation() {
        for (a, b) in [(4, 4), (5, 5), (4, 9), (8, 8)] {
            let low: Vec<f64> = (0..a).map(f64::from).collect();
            let high: Vec<f64> = (0..b).map(|i| 100.0 + f64::from(i)).collect();
            let p = stats::mann_whitney_p(&low, &high).unwrap();
            assert!((least_p(low.len(), high.len()) - p).abs() < 1e-14, "{a} {b}");
        }
        assert_eq!(least_p(0, 5), 1.0);
    }

    #[test]
    fn larger_families_need_more_rounds() {
        // 2/C(8,4) = .0286; 2/C(10,5) = .0079; 2/C(12,6) = .00216; 2/C(14,7) = .00058
        assert_eq!([1, 2, 6, 7, 12, 23, 24].map(rounds_needed), [4, 5, 5, 6, 6, 6, 7]);
    }
}
