//! How long it takes: first from what the benchmarks say they need, then from what was seen.

use model::plan::{Cell, FIRST_LOOK, Plan};
use model::record::{HOST, RunRecord};
use model::{Accelerator, Outcome};
use std::collections::BTreeMap;

/// What a study costs beside its benchmarks, as far as it is known before the first round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Booting the guests of a round, their warm-up and unmaking them, seconds.
    pub round_seconds: f64,
    /// What each run in a guest takes on top of [`model::Needs::seconds`], seconds.
    pub guest_run_seconds: f64,
}

impl Costs {
    /// What to expect where nothing has been seen yet. Under TCG a Debian kernel boots in 2 to 3 s, the warm-up starts
    /// each tool once, and tools start slowly (fio: 1.2 s).
    pub fn typical(accelerator: Accelerator) -> Self {
        match accelerator {
            Accelerator::Kvm => Costs { round_seconds: 4.0, guest_run_seconds: 0.2 },
            Accelerator::Tcg => Costs { round_seconds: 8.0, guest_run_seconds: 1.2 },
        }
    }
}

/// How long a study is expected to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// One round, seconds.
    pub per_round: f64,
    /// As many rounds as are made in any case, seconds: all of them, or with a precision those up to the first look.
    pub least: f64,
    /// All rounds, seconds, without the time budget.
    pub most: f64,
}

/// How long `plan` will take on these machines, to be shown before it starts (statistics.md 2.3, item 8). A budget below
/// `per_round` yields no complete round.
pub fn estimate_seconds(plan: &Plan, machines: &[String], costs: Costs) -> Estimate {
    let per_round = Forecast::new(costs).round(&plan.cells, machines);
    let least = if plan.precision.is_some() { plan.rounds.min(FIRST_LOOK) } else { plan.rounds };
    Estimate { per_round, least: per_round * f64::from(least), most: per_round * f64::from(plan.rounds) }
}

/// What is expected of the rest, corrected by everything that is seen.
pub(crate) struct Forecast {
    costs: Costs,
    /// Seconds of a run, by machine and benchmark.
    runs: BTreeMap<String, BTreeMap<String, Mean>>,
    /// Seconds of a round that belong to none of its runs.
    between: Mean,
}

#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn see(&mut self, seconds: f64) {
        self.sum += seconds.max(0.0);
        self.count += 1;
    }

    fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

impl Forecast {
    pub(crate) fn new(costs: Costs) -> Self {
        Forecast { costs, runs: BTreeMap::new(), between: Mean::default() }
    }

    /// A run is over. Failed ones count: they may fail again, and take as long.
    pub(crate) fn see_run(&mut self, run: &RunRecord) {
        if matches!(run.outcome, Outcome::Measured { .. } | Outcome::Failed { .. }) {
            let seen = self.runs.entry(run.machine.clone()).or_default().entry(run.benchmark.clone()).or_default();
            seen.see(run.total_seconds);
        }
    }

    /// A complete round is over.
    pub(crate) fn see_round(&mut self, round_seconds: f64, runs_seconds: f64) {
        self.between.see(round_seconds - runs_seconds);
    }

    /// A run of `cell` on `machine`, seconds.
    pub(crate) fn run(&self, cell: &Cell, machine: &str) -> f64 {
        let seen = self.runs.get(machine).and_then(|runs| runs.get(&cell.benchmark)).and_then(|mean| mean.value());
        let extra = if machine == HOST { 0.0 } else { self.costs.guest_run_seconds };
        seen.unwrap_or(cell.needs.seconds + extra)
    }

    /// The runs of `cells` on all machines, seconds.
    pub(crate) fn blocks<'a>(&self, cells: impl IntoIterator<Item = &'a Cell>, machines: &[String]) -> f64 {
        cells.into_iter().flat_map(|cell| machines.iter().map(move |machine| self.run(cell, machine))).sum()
    }

    /// A whole round of `cells`, seconds.
    pub(crate) fn round<'a>(&self, cells: impl IntoIterator<Item = &'a Cell>, machines: &[String]) -> f64 {
        self.between.value().unwrap_or(self.costs.round_seconds) + self.blocks(cells, machines)
    }
}
