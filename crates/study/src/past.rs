//! What a journal says of earlier sessions, as far as it matters for going on.

use crate::estimate::Forecast;
use model::Outcome;
use model::record::{Ending, Event, Line, RunRecord};
use std::collections::{BTreeMap, BTreeSet};

/// What an attempt at a round made.
#[derive(Default)]
pub(crate) struct Made {
    /// Sum of its runs, seconds.
    pub runs_seconds: f64,
    /// Benchmarks that were skipped, with the first reason.
    pub skipped: BTreeMap<String, String>,
}

impl Made {
    /// Notes a run.
    pub(crate) fn see(&mut self, run: &RunRecord) {
        self.runs_seconds += run.total_seconds;
        if let Outcome::Skipped { why } = &run.outcome {
            self.skipped.entry(run.benchmark.clone()).or_insert_with(|| why.clone());
        }
    }
}

/// What is behind.
#[derive(Default)]
pub(crate) struct Past {
    /// Rounds that are complete and not repeated.
    pub complete: BTreeSet<u32>,
    /// Highest attempt at each round that was begun. A round that was cut off goes on as another attempt: the guests of
    /// its runs are gone.
    pub attempts: BTreeMap<u32, u32>,
    /// Benchmarks that were skipped on some machine in a complete round, with the reason. They stay out of later rounds.
    /// What was skipped in a round that broke off is tried again, so that the reason stands where reports look for it.
    pub skipped: BTreeMap<String, String>,
    /// Time that controllers worked on the study, seconds.
    pub elapsed: f64,
    /// True where the study was finished.
    pub finished: bool,
}

impl Past {
    /// Reads `history` and teaches `forecast` what it says about time.
    pub(crate) fn of(history: &[Line], forecast: &mut Forecast) -> Self {
        let mut past = Past::default();
        // The attempt at hand: its place, when it began, what it made.
        let mut at_hand: Option<((u32, u32), f64, Made)> = None;
        for line in history {
            match &line.event {
                Event::RoundStarted { round, attempt, .. } => {
                    past.begin(*round, *attempt);
                    at_hand = Some(((*round, *attempt), line.at, Made::default()));
                }
                Event::Booted { round, attempt, .. } => past.begin(*round, *attempt),
                Event::Run(run) => {
                    past.begin(run.round, run.attempt);
                    forecast.see_run(run);
                    if let Some((_, _, made)) = &mut at_hand {
                        made.see(run);
                    }
                }
                Event::RoundEnded { round, attempt, complete, .. } => {
                    past.begin(*round, *attempt);
                    let ended = at_hand.take().filter(|(place, ..)| *place == (*round, *attempt));
                    if *complete {
                        let (_, since, made) = ended.unwrap_or(((*round, *attempt), line.at, Made::default()));
                        forecast.see_round(line.at - since, made.runs_seconds);
                        past.complete(*round, made);
                    }
                }
                Event::Ended { how, .. } => past.finished = *how == Ending::Finished,
                Event::Opened { .. } | Event::Visited { .. } | Event::Look(_) | Event::Unknown => {}
            }
        }
        // Between a last line and the next `Opened` nobody worked. A wall clock can be set back.
        past.elapsed = history
            .windows(2)
            .filter(|pair| !matches!(pair[1].event, Event::Opened { .. }))
            .map(|pair| (pair[1].at - pair[0].at).max(0.0))
            .sum();
        past
    }

    /// Notes that a round is complete, and what it made.
    pub(crate) fn complete(&mut self, round: u32, made: Made) {
        self.complete.insert(round);
        for (benchmark, why) in made.skipped {
            self.skipped.entry(benchmark).or_insert(why);
        }
    }

    /// Notes that this attempt was begun.
    pub(crate) fn begin(&mut self, round: u32, attempt: u32) {
        let highest = self.attempts.entry(round).or_default();
        *highest = (*highest).max(attempt);
    }

    /// The number of the next attempt at a round.
    pub(crate) fn next_attempt(&self, round: u32) -> u32 {
        self.attempts.get(&round).map_or(1, |highest| highest.saturating_add(1))
    }
}
