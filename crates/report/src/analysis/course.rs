//! What happened: rounds and attempts, runs, failures, boots, the end.

use model::record::{Ending, Event, Line, Manifest};
use model::{FailureCause, Outcome};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use validity::Ledger;

/// The course of a study.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Course {
    /// Rounds that the plan asked for.
    pub rounds_planned: u32,
    /// Rounds with a complete attempt: the ones that figures are made from.
    pub rounds_complete: usize,
    /// Attempts beyond the first of a round.
    pub repeated: usize,
    /// Every attempt, in time order.
    pub attempts: Vec<Attempt>,
    /// All runs by outcome.
    pub runs: RunCounts,
    /// Runs that gave no value, equal ones together, in the order of their first.
    pub troubles: Vec<Trouble>,
    /// Guest boots; none where no guest answered.
    pub boots: Option<Boots>,
    /// From the journal's first line to its last, seconds.
    pub seconds: f64,
    /// How it ended; none where it was killed or is going on.
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::ending"))]
    pub ending: Option<Ending>,
    /// In a sentence.
    pub ending_why: Option<String>,
    /// Builds that wrote the journal.
    pub builds: BTreeSet<String>,
}

/// One attempt at a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Attempt {
    /// The round, from 1.
    pub round: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Benchmark ids in the order of their blocks.
    pub order: Vec<String>,
    /// True where it lived to the end.
    pub complete: bool,
    /// True where figures are made from it.
    pub used: bool,
    /// Why it is not complete; none where nobody lived to say.
    pub why: Option<String>,
}

/// Runs by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunCounts {
    /// With values.
    pub measured: usize,
    /// Tried, and did not work.
    pub failed: usize,
    /// Not tried.
    pub skipped: usize,
    /// Stopped by the user.
    pub cancelled: usize,
}

/// Runs that gave no value for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Trouble {
    /// What kind of reason.
    pub kind: TroubleKind,
    /// The benchmark's id.
    pub benchmark: String,
    /// The machine.
    pub machine: String,
    /// What happened.
    pub why: String,
    /// How many runs.
    pub runs: usize,
    /// Their rounds, each once, in time order.
    pub rounds: Vec<u32>,
}

/// Why a run gave no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TroubleKind {
    /// The tool failed or did no work.
    Tool,
    /// Its output could not be read.
    Parse,
    /// The machine died or misbehaved.
    Guest,
    /// The pipe broke.
    Pipe,
    /// It did not end in time.
    Timeout,
    /// vmtax itself.
    Harness,
    /// It was not tried.
    Skipped,
}

/// Guest boots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Boots {
    /// How many.
    pub count: usize,
    /// Median from spawning QEMU to the agent's hello, seconds.
    pub ready_seconds_median: f64,
    /// The slowest.
    pub ready_seconds_worst: f64,
}

impl TroubleKind {
    /// The word in tables.
    pub fn word(self) -> &'static str {
        match self {
            TroubleKind::Tool => "tool failed",
            TroubleKind::Parse => "output unreadable",
            TroubleKind::Guest => "guest died",
            TroubleKind::Pipe => "pipe broke",
            TroubleKind::Timeout => "timeout",
            TroubleKind::Harness => "vmtax failed",
            TroubleKind::Skipped => "skipped",
        }
    }
}

impl From<FailureCause> for TroubleKind {
    fn from(cause: FailureCause) -> Self {
        match cause {
            FailureCause::Tool => TroubleKind::Tool,
            FailureCause::Parse => TroubleKind::Parse,
            FailureCause::Guest => TroubleKind::Guest,
            FailureCause::Pipe => TroubleKind::Pipe,
            FailureCause::Timeout => TroubleKind::Timeout,
            FailureCause::Harness => TroubleKind::Harness,
        }
    }
}

/// Tells what happened from the journal.
pub(super) fn course(manifest: &Manifest, lines: &[Line], read: &Ledger<'_>) -> Course {
    let used: BTreeSet<(u32, u32)> = read.used().iter().copied().collect();
    let mut course = Course {
        rounds_planned: manifest.plan.rounds,
        rounds_complete: used.len(),
        repeated: 0,
        attempts: Vec::new(),
        runs: RunCounts::default(),
        troubles: Vec::new(),
        boots: None,
        seconds: lines.first().zip(lines.last()).map_or(0.0, |(first, last)| (last.at - first.at).max(0.0)),
        ending: None,
        ending_why: None,
        builds: BTreeSet::from([manifest.build.clone()]),
    };
    let mut ready = Vec::new();
    let mut attempts: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let mut troubles = Troubles::default();
    for line in lines {
        match &line.event {
            Event::Opened { build, .. } => {
                course.builds.insert(build.clone());
                course.ending = None;
                course.ending_why = None;
            }
            Event::RoundStarted { round, attempt, order } => {
                attempts.insert((*round, *attempt), course.attempts.len());
                course.attempts.push(Attempt {
                    round: *round,
                    attempt: *attempt,
                    order: order.clone(),
                    complete: false,
                    used: used.contains(&(*round, *attempt)),
                    why: None,
                });
            }
            Event::RoundEnded { round, attempt, complete, why } => {
                if let Some(place) = attempts.get(&(*round, *attempt)) {
                    course.attempts[*place].complete = *complete;
                    course.attempts[*place].why.clone_from(why);
                }
            }
            Event::Booted { ready_seconds, .. } => ready.push(*ready_seconds),
            Event::Run(run) => match &run.outcome {
                Outcome::Measured { .. } => course.runs.measured += 1,
                Outcome::Failed { cause, why } => {
                    course.runs.failed += 1;
                    troubles.add((*cause).into(), run, why);
                }
                Outcome::Skipped { why } => {
                    course.runs.skipped += 1;
                    troubles.add(TroubleKind::Skipped, run, why);
                }
                Outcome::Cancelled => course.runs.cancelled += 1,
            },
            Event::Ended { how, why } => {
                course.ending = Some(*how);
                course.ending_why = Some(why.clone());
            }
            Event::Visited { .. } | Event::Look(_) | Event::Unknown => {}
        }
    }
    course.repeated = course.attempts.iter().filter(|a| a.attempt > 1).count();
    course.troubles = troubles.list;
    course.boots = stats::median(&ready).map(|median| Boots {
        count: ready.len(),
        ready_seconds_median: median,
        ready_seconds_worst: ready.iter().copied().fold(0.0, f64::max),
    });
    course
}

/// Troubles in the order of their first run, found again by what makes them equal.
#[derive(Default)]
struct Troubles<'a> {
    list: Vec<Trouble>,
    places: BTreeMap<(TroubleKind, &'a str, &'a str, &'a str), usize>,
}

impl<'a> Troubles<'a> {
    fn add(&mut self, kind: TroubleKind, run: &'a model::RunRecord, why: &'a str) {
        let place = *self.places.entry((kind, &run.benchmark, &run.machine, why)).or_insert_with(|| {
            self.list.push(Trouble {
                kind,
                benchmark: run.benchmark.clone(),
                machine: run.machine.clone(),
                why: why.to_owned(),
                runs: 0,
                rounds: Vec::new(),
            });
            self.list.len() - 1
        });
        let trouble = &mut self.list[place];
        trouble.runs += 1;
        if trouble.rounds.last() != Some(&run.round) {
            trouble.rounds.push(run.round);
        }
    }
}
