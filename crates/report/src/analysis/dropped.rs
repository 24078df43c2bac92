//! Blocks of complete rounds that have no part in the figures.

use model::record::{GUEST, HOST};
use model::{Benchmark, Outcome, RunRecord, Status, Threat};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use validity::Block;

/// One block that was begun and not used.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DroppedBlock {
    /// Place among the rounds that count, in time order, from 0.
    pub place: usize,
    /// The round's number, from 1.
    pub round: u32,
    /// The attempt that counts, from 1.
    pub attempt: u32,
    /// Why it was not used.
    pub reason: Reason,
    /// The checks that rejected it.
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::threats"))]
    pub threats: BTreeSet<Threat>,
    /// What came of its runs, by machine.
    pub outcomes: BTreeMap<String, RunOutcome>,
    /// What the host and the guest had, by metric, where both were measured; in the metric's base unit.
    pub values: BTreeMap<String, [f64; 2]>,
}

/// Why a block was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Checks say that its figures are not what they claim to be.
    Rejected,
    /// Host and guest were not both measured.
    NotMeasured,
}

/// What came of a run, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// It has values.
    Measured,
    /// It was tried, and did not work.
    Failed,
    /// It was not tried.
    Skipped,
    /// The user stopped it.
    Cancelled,
}

impl RunOutcome {
    /// The word in the JSON and CSV reports.
    pub fn word(self) -> &'static str {
        match self {
            RunOutcome::Measured => "measured",
            RunOutcome::Failed => "failed",
            RunOutcome::Skipped => "skipped",
            RunOutcome::Cancelled => "cancelled",
        }
    }
}

impl From<&Outcome> for RunOutcome {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Measured { .. } => RunOutcome::Measured,
            Outcome::Failed { .. } => RunOutcome::Failed,
            Outcome::Skipped { .. } => RunOutcome::Skipped,
            Outcome::Cancelled => RunOutcome::Cancelled,
        }
    }
}

/// The blocks that do not count, in time order; `runs` are those of complete rounds by place and machine.
pub(super) fn dropped(
    benchmark: &Benchmark,
    blocks: &[Block<'_>],
    runs: &BTreeMap<(usize, &str), &RunRecord>,
) -> Vec<DroppedBlock> {
    let judged: BTreeMap<usize, &Block<'_>> = blocks.iter().map(|block| (block.place, block)).collect();
    let mut all: BTreeMap<usize, DroppedBlock> = BTreeMap::new();
    for ((place, machine), run) in runs.iter().filter(|((_, machine), _)| [HOST, GUEST].contains(machine)) {
        let block = judged.get(place);
        if block.is_some_and(|block| block.counts()) {
            continue;
        }
        let dropped = all.entry(*place).or_insert_with(|| DroppedBlock {
            place: *place,
            round: run.round,
            attempt: run.attempt,
            reason: if block.is_some() { Reason::Rejected } else { Reason::NotMeasured },
            threats: block.map_or_else(BTreeSet::new, |block| rejecting(block)),
            outcomes: BTreeMap::new(),
            values: block.map_or_else(BTreeMap::new, |block| {
                let values = benchmark.metrics.iter();
                values.filter_map(|metric| Some((metric.id.clone(), block.values(metric)?))).collect()
            }),
        });
        dropped.outcomes.insert((*machine).to_owned(), RunOutcome::from(&run.outcome));
    }
    all.into_values().collect()
}

fn rejecting(block: &Block<'_>) -> BTreeSet<Threat> {
    let checks = block.host.checks.iter().chain(&block.guest.checks).chain(&block.checks);
    checks.filter(|check| check.status == Status::Invalid).map(|check| check.threat).collect()
}
