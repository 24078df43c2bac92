//! Which runs count. The one place where a run is let into the figures.

use crate::{block, window};
use model::check::{Check, Status, worst};
use model::record::{Event, GUEST, HOST, Line};
use model::{Benchmark, Direction, Limits, Metric, Outcome, RunRecord};
use stats::Better;
use std::collections::BTreeMap;

/// The journal, sorted for reading.
pub struct Ledger<'a> {
    arms: [&'a str; 2],
    /// Attempts that count, in the order in which they ended.
    used: Vec<(u32, u32)>,
    /// Every run by benchmark, in the order of the journal.
    runs: BTreeMap<&'a str, Vec<&'a RunRecord>>,
}

/// Both arms of one benchmark in one round that was completed.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// Place of the attempt among those that count, in time order.
    pub place: usize,
    /// The run on the host (or whatever is the 100 %).
    pub host: &'a RunRecord,
    /// The guest's run.
    pub guest: &'a RunRecord,
    /// Checks of the two against each other.
    pub checks: Vec<Check>,
    /// What the common window makes of values that the series of host and guest carry.
    windows: [f64; 2],
}

impl<'a> Block<'a> {
    /// Judges two measured runs of one round.
    pub fn new(
        limits: &Limits,
        benchmark: &Benchmark,
        place: usize,
        host: &'a RunRecord,
        guest: &'a RunRecord,
    ) -> Self {
        let checks = block::checks(limits, benchmark, host, guest);
        Block { place, host, guest, checks, windows: window::common(host, guest) }
    }

    /// The worst of all its checks.
    pub fn status(&self) -> Status {
        worst(self.host.checks.iter().chain(&self.guest.checks).chain(&self.checks))
    }

    /// True where it has a part in the figures: by rule only, never by its values.
    pub fn counts(&self) -> bool {
        self.status() < Status::Invalid
    }

    /// Host's and guest's value of a metric, in its base unit. Where both have a series of it, both are the means of the part that
    /// is steady in both: from the later of the two ends of the warm-up on (statistics.md, 1.5).
    pub fn values(&self, metric: &Metric) -> Option<[f64; 2]> {
        let carried = [self.host, self.guest].iter().all(|run| window::carries(run, &metric.id));
        let [host, guest] = if carried { self.windows } else { [1.0; 2] };
        let value = |run: &RunRecord, change: f64| {
            run.outcome.value(&metric.id).map(|whole| whole * change).filter(|value| value.is_finite())
        };
        Some([value(self.host, host)?, value(self.guest, guest)?])
    }

    /// ln(cost in the guest / cost on the host); none where a value allows no ratio.
    pub fn log_cost_ratio(&self, metric: &Metric) -> Option<f64> {
        let [host, guest] = self.values(metric)?;
        let better = match metric.direction {
            Direction::Higher => Better::Higher,
            Direction::Lower => Better::Lower,
        };
        stats::log_cost_ratio(host, guest, better)
    }
}

impl<'a> Ledger<'a> {
    /// Host against guest.
    pub fn new(lines: &'a [Line]) -> Self {
        Ledger::between(lines, HOST, GUEST)
    }

    /// Any machine (`other`) against any other (`base`).
    pub fn between(lines: &'a [Line], base: &'a str, other: &'a str) -> Self {
        let mut last: BTreeMap<u32, (u32, usize)> = BTreeMap::new();
        let mut runs: BTreeMap<&str, Vec<&RunRecord>> = BTreeMap::new();
        for (place, line) in lines.iter().enumerate() {
            match &line.event {
                Event::RoundEnded { round, attempt, complete: true, .. }
                    if last.get(round).is_none_or(|(known, _)| attempt >= known) =>
                {
                    last.insert(*round, (*attempt, place));
                }
                Event::Run(run) => runs.entry(&run.benchmark).or_default().push(run),
                _ => {}
            }
        }
        let mut ended: Vec<(usize, (u32, u32))> = last.into_iter().map(|(r, (a, place))| (place, (r, a))).collect();
        ended.sort_unstable();
        Ledger { arms: [base, other], used: ended.into_iter().map(|(_, attempt)| attempt).collect(), runs }
    }

    /// Rounds and attempts that count, in time order.
    pub fn used(&self) -> &[(u32, u32)] {
        &self.used
    }

    /// Every run of a benchmark on any machine, whether it counts or not.
    pub fn runs(&self, benchmark: &str) -> &[&'a RunRecord] {
        self.runs.get(benchmark).map_or(&[], Vec::as_slice)
    }

    /// The blocks of a benchmark in complete rounds that were measured on both sides, in time order, whether they
    /// [count](Block::counts) or not; and how many were not measured on both.
    pub fn blocks(&self, limits: &Limits, benchmark: &Benchmark) -> (Vec<Block<'a>>, usize) {
        // A block that was written twice (a controller killed between writing and noting it) counts as it was last.
        let mut sides: BTreeMap<(u32, u32), [Option<&RunRecord>; 2]> = BTreeMap::new();
        for &run in self.runs(&benchmark.id) {
            if let Some(side) = self.arms.iter().position(|arm| *arm == run.machine) {
                sides.entry((run.round, run.attempt)).or_default()[side] = Some(run);
            }
        }
        let mut blocks = Vec::new();
        let mut unmeasured = 0;
        for (place, attempt) in self.used.iter().enumerate() {
            match sides.get(attempt) {
                Some([Some(host), Some(guest)]) if measured(host) && measured(guest) => {
                    blocks.push(Block::new(limits, benchmark, place, host, guest));
                }
                Some(_) => unmeasured += 1,
                None => {}
            }
        }
        (blocks, unmeasured)
    }
}

fn measured(run: &RunRecord) -> bool {
    matches!(run.outcome, Outcome::Measured { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Scene, arms, level_series};
    use model::Area;

    fn block<'a>(arms: &'a [Scene; 2]) -> Block<'a> {
        Block::new(&arms[0].limits, &arms[0].benchmark, 0, &arms[0].record, &arms[1].record)
    }

    #[test]
    fn metrics_of_a_series_are_taken_from_the_common_window_and_others_stay() {
        let mut arms = arms(Area::Disk);
        let metrics = arms[0].benchmark.metrics.clone();
        arms[0].record.series = Some(level_series(vec![50.0; 60]));
        arms[1].record.series = Some(level_series((0..60).map(|t| if t < 12 { 40.0 } else { 80.0 }).collect()));
        let [host, guest] = block(&arms).values(&metrics[0]).unwrap();
        assert!(host == 100.0 && (guest - 100.0 * 80.0 / 72.0).abs() < 1e-9, "{host} {guest}");
        assert_eq!(block(&arms).values(&metrics[1]), Some([1e-4, 1e-4]));
        arms[0].record.series.as_mut().unwrap().metrics.clear();
        assert_eq!(block(&arms).values(&metrics[0]), Some([100.0, 100.0]), "one side's window would favour it");
    }

    #[test]
    fn runs_without_series_keep_their_values() {
        let arms = arms(Area::Cpu);
        assert_eq!(block(&arms).values(&arms[0].benchmark.metrics[0]), Some([100.0, 100.0]));
    }

    #[test]
    fn a_block_counts_unless_a_check_of_it_or_of_its_runs_rejects() {
        let mut arms = arms(Area::Cpu);
        assert_eq!((block(&arms).status(), block(&arms).counts()), (Status::Pass, true));
        arms[1].surroundings().frequency_hertz = Some(1e9);
        assert!(!block(&arms).counts(), "the arms ran at different frequencies");
        arms[1].surroundings().frequency_hertz = None;
        assert_eq!((block(&arms).status(), block(&arms).counts()), (Status::Unknown, true));
        arms[1].surroundings().kvm = Some(false);
        arms[1].judge();
        assert!(!block(&arms).counts(), "the guest's own check");
    }
}
