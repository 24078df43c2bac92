//! What a journal says of earlier sessions, as far as it matters for going on.

use crate::estimate::Forecast;
use crate::standing::Standings;
use model::Outcome;
use model::record::{Ending, Event, Line, Look, RunRecord};
use std::collections::{BTreeMap, BTreeSet};

/// What an attempt at a round made.
#[derive(Default)]
pub(crate) struct Made {
    /// Its runs.
    pub runs: Vec<RunRecord>,
    /// Benchmarks that were skipped, with the first reason.
    pub skipped: BTreeMap<String, String>,
}

impl Made {
    /// Notes a run.
    pub(crate) fn see(&mut self, run: &RunRecord) {
        if let Outcome::Skipped { why } = &run.outcome {
            self.skipped.entry(run.benchmark.clone()).or_insert_with(|| why.clone());
        }
        self.runs.push(run.clone());
    }

    /// Sum of its runs, seconds.
    pub(crate) fn runs_seconds(&self) -> f64 {
        self.runs.iter().map(|run| run.total_seconds).sum()
    }
}

/// What is behind.
pub(crate) struct Past<'a> {
    /// Where the benchmarks stand.
    pub standings: Standings<'a>,
    /// Looks that follow from complete rounds and are not in the journal: a controller was killed before it wrote them.
    pub unwritten_looks: Vec<Look>,
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

impl<'a> Past<'a> {
    /// Reads `history` and teaches `forecast` what it says about time.
    pub(crate) fn of(standings: Standings<'a>, history: &[Line], forecast: &mut Forecast) -> Self {
        let mut past = Past {
            standings,
            unwritten_looks: Vec::new(),
            complete: BTreeSet::new(),
            attempts: BTreeMap::new(),
            skipped: BTreeMap::new(),
            elapsed: 0.0,
            finished: false,
        };
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
                        forecast.see_round(line.at - since, made.runs_seconds());
                        let looks = past.complete(*round, made);
                        past.unwritten_looks.extend(looks);
                    }
                }
                Event::Ended { how, .. } => past.finished = *how == Ending::Finished,
                Event::Look(look) => past.unwritten_looks.retain(|due| !is_same(due, look)),
                Event::Opened { .. } | Event::Visited { .. } | Event::Unknown => {}
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

    /// Notes that a round is complete, and what it made. Returns the looks that follow.
    pub(crate) fn complete(&mut self, round: u32, made: Made) -> Vec<Look> {
        self.complete.insert(round);
        let looks = self.standings.see_round(round, &made.runs);
        for (benchmark, why) in made.skipped {
            self.skipped.entry(benchmark).or_insert(why);
        }
        looks
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

/// True where two looks are at the same metric after the same round.
fn is_same(a: &Look, b: &Look) -> bool {
    (a.round, &a.benchmark, &a.metric) == (b.round, &b.benchmark, &b.metric)
}
