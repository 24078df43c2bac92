//! Which benchmarks go on: those whose primary metrics are not yet as precise as the plan asks (statistics.md 2.3).
//!
//! A benchmark that is precise leaves the later rounds, so that the time goes where the uncertainty is; so does one that will not
//! become precise within the rounds that are allowed, and one of which too many blocks were dropped. Nothing ever leaves because
//! its interval excludes zero. With a fixed number of rounds everything stays to the end.

use model::outcome::Outcome;
use model::plan::Plan;
use model::record::{GUEST, HOST, Look, LookDecision, RunRecord};
use model::{Benchmark, Metric};
use stats::{Decision, Margin, decide, next_look, overhead};
use std::collections::BTreeMap;
use validity::Block;

/// Where the benchmarks of a plan stand.
pub(crate) struct Standings<'a> {
    plan: &'a Plan,
    benchmarks: BTreeMap<&'a str, Standing<'a>>,
}

/// Where one benchmark stands.
struct Standing<'a> {
    benchmark: &'a Benchmark,
    metrics: Vec<Tracked<'a>>,
    /// Blocks of complete rounds that do not count: a side was not measured, or a check rejects them.
    dropped: u32,
}

/// A primary metric over the blocks so far.
struct Tracked<'a> {
    metric: &'a Metric,
    target: Margin,
    /// ln(cost in the guest / cost on the host), in time order.
    ratios: Vec<f64>,
    decision: Option<Decision>,
}

impl Tracked<'_> {
    fn is_open(&self) -> bool {
        !matches!(self.decision, Some(Decision::Precise | Decision::Imprecise { .. }))
    }

    /// Takes another ratio in; looks where the schedule has a look, or where no more than `cap` blocks can be had.
    fn see(&mut self, ratio: f64, cap: usize) -> Option<Decision> {
        let due = next_look(self.ratios.len(), cap);
        self.ratios.push(ratio);
        if due != Some(self.ratios.len()) {
            return None;
        }
        let interval = overhead(&self.ratios)?.interval?;
        let decision = decide(&interval, self.target, cap);
        self.decision = Some(decision);
        Some(decision)
    }

    fn look(&self, round: u32, benchmark: &str, decision: Decision) -> Option<Look> {
        let overhead = overhead(&self.ratios)?;
        let (decision, forecast) = match decision {
            Decision::Precise => (LookDecision::Precise, Some(self.ratios.len())),
            Decision::MoreRounds { forecast } => (LookDecision::MoreRounds, Some(forecast)),
            Decision::Imprecise { forecast } => (LookDecision::Imprecise, Some(forecast)),
        };
        Some(Look {
            round,
            benchmark: benchmark.to_owned(),
            metric: self.metric.id.clone(),
            blocks: self.ratios.len(),
            typical_log: overhead.typical,
            half_width_log: overhead.interval?.half_width(),
            target_log: self.target.log(),
            decision,
            forecast: forecast.filter(|rounds| *rounds < usize::MAX),
        })
    }

    /// Blocks that it will probably take from here, at most `most`.
    fn to_come(&self, most: usize) -> usize {
        if !self.is_open() {
            return 0;
        }
        let first = stats::STUDY_ROUNDS.saturating_sub(self.ratios.len());
        let forecast = match self.decision {
            Some(Decision::MoreRounds { forecast }) => forecast.saturating_sub(self.ratios.len()),
            _ => first,
        };
        // An open metric takes at least the block at hand, however the forecast turned out.
        forecast.clamp(1.min(most), most)
    }
}

impl<'a> Standings<'a> {
    pub(crate) fn new(plan: &'a Plan, benchmarks: &'a [Benchmark]) -> Self {
        let standing = |benchmark: &'a Benchmark| {
            let target = |precision: model::plan::Precision| Margin::relative(precision.of(benchmark.area));
            let tracked = |metric: &'a Metric| {
                let target = plan.precision.and_then(target)?;
                Some(Tracked { metric, target, ratios: Vec::new(), decision: None })
            };
            let metrics = benchmark.primary_metrics().filter_map(tracked).collect();
            (benchmark.id.as_str(), Standing { benchmark, metrics, dropped: 0 })
        };
        Standings { plan, benchmarks: benchmarks.iter().map(standing).collect() }
    }

    /// Takes in what a complete round measured and says at what was looked.
    pub(crate) fn see_round(&mut self, round: u32, runs: &[RunRecord]) -> Vec<Look> {
        let mut blocks: BTreeMap<&str, [Option<&RunRecord>; 2]> = BTreeMap::new();
        for run in runs {
            if let Some(side) = [HOST, GUEST].iter().position(|machine| *machine == run.machine) {
                blocks.entry(&run.benchmark).or_default()[side] = Some(run);
            }
        }
        let mut looks = Vec::new();
        for (id, sides) in blocks {
            if let Some(standing) = self.benchmarks.get_mut(id) {
                standing.see_block(self.plan, round, sides, &mut looks);
            }
        }
        looks
    }

    /// True where the benchmark takes part in the next round.
    pub(crate) fn is_open(&self, benchmark: &str) -> bool {
        self.plan.precision.is_none()
            || self.benchmarks.get(benchmark).is_none_or(|standing| {
                !standing.is_hopeless(self.plan)
                    && (standing.metrics.is_empty() || standing.metrics.iter().any(Tracked::is_open))
            })
    }

    /// Rounds in which the benchmark will probably take part yet, when `left` are allowed.
    pub(crate) fn to_come(&self, benchmark: &str, left: u32) -> u32 {
        if self.plan.precision.is_none() {
            return left;
        }
        if !self.is_open(benchmark) {
            return 0;
        }
        let tracked = self.benchmarks.get(benchmark).map_or(&[][..], |standing| &standing.metrics);
        tracked.iter().map(|metric| metric.to_come(left as usize) as u32).max().unwrap_or(left)
    }

    /// Benchmarks that left without being precise, in the order of the plan.
    pub(crate) fn imprecise(&self) -> Vec<&'a str> {
        let imprecise = |standing: &Standing<'a>| {
            let given_up = |metric: &Tracked<'_>| matches!(metric.decision, Some(Decision::Imprecise { .. }));
            standing.metrics.iter().any(given_up) || (!standing.metrics.is_empty() && standing.is_hopeless(self.plan))
        };
        let cells = self.plan.cells.iter().filter_map(|cell| self.benchmarks.get(cell.benchmark.as_str()));
        cells.filter(|standing| imprecise(standing)).map(|standing| standing.benchmark.id.as_str()).collect()
    }
}

impl<'a> Standing<'a> {
    fn see_block(&mut self, plan: &Plan, round: u32, sides: [Option<&RunRecord>; 2], looks: &mut Vec<Look>) {
        let measured = |run: &&RunRecord| matches!(run.outcome, Outcome::Measured { .. });
        let block = match sides.map(|side| side.filter(measured)) {
            [Some(host), Some(guest)] => Some(Block::new(&plan.limits, self.benchmark, 0, host, guest)),
            _ => None,
        };
        let Some(block) = block.filter(Block::counts) else {
            self.dropped += 1;
            return;
        };
        let cap = plan.rounds.saturating_sub(self.dropped) as usize;
        for tracked in self.metrics.iter_mut().filter(|metric| metric.is_open()) {
            let decision = block.log_cost_ratio(tracked.metric).and_then(|ratio| tracked.see(ratio, cap));
            looks.extend(decision.and_then(|decision| tracked.look(round, &self.benchmark.id, decision)));
        }
    }

    /// True where more blocks were dropped than a verdict may stand on, even if all others counted.
    fn is_hopeless(&self, plan: &Plan) -> bool {
        f64::from(self.dropped) > plan.limits.dropped_invalid * f64::from(plan.rounds)
    }
}
