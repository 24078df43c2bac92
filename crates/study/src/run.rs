//! The loop.

use crate::budget;
use crate::estimate::{Costs, Forecast};
use crate::lab::{Clock, Journal, JournalError, Lab, Progress, Step, StopReason, Turn, Watcher};
use crate::order::{block_order, turn_order};
use crate::past::{Made, Past};
use crate::standing::Standings;
use model::plan::{Cell, Plan};
use model::quantity::show_duration;
use model::record::{Ending, Event, Line, RunRecord};
use model::{Benchmark, FailureCause, Outcome};

/// Most attempts at a round in one session. Who resumes a study that failed asks for as many again.
pub const MAX_ATTEMPTS: u32 = 3;

/// Everything around the loop.
pub struct World<'a> {
    /// Carries out.
    pub lab: &'a mut dyn Lab,
    /// Writes down.
    pub journal: &'a mut dyn Journal,
    /// Tells the time.
    pub clock: &'a dyn Clock,
    /// Looks on.
    pub watcher: &'a mut dyn Watcher,
    /// Says whether the user wants the study to stop. Asked before every round and run.
    pub stop: &'a dyn Fn() -> Option<StopReason>,
}

/// How a study ended, as its journal says it too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// How.
    pub how: Ending,
    /// In a sentence.
    pub why: String,
    /// Rounds that are complete, those of earlier sessions included.
    pub complete_rounds: u32,
}

/// Why a study could not even be ended.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// What cannot be written down is not measured.
    #[error("The study stopped in round {round}, because its journal cannot be written")]
    Journal {
        /// The round.
        round: u32,
        /// The journal's words, with what to do.
        #[source]
        source: JournalError,
    },
}

/// Makes the rounds of `plan` that `history` (the study's journal so far) lacks, on `machines`. `benchmarks` are those of the
/// plan, as declared; `costs` are for the remaining time until more is known.
///
/// With a precision in the plan, a round is made as long as some benchmark is open, and only open ones take part in it; without
/// one, all rounds are made with everything.
///
/// A run that loses its machine (the guest died, the pipe broke, no answer in time) ends the attempt at its round. The
/// round is made again, in a new order, at most [`MAX_ATTEMPTS`] times, with at most half as many repeats as the plan has
/// rounds (three are always allowed); after that the study has failed, and its complete rounds stay. Other failures cost
/// their block only. A benchmark that is skipped on one machine is left out from there on.
///
/// Every event is in the journal before the next step begins. Where the journal cannot be written the study stops at
/// once; otherwise it is ended by [`Event::Ended`]. A study that was finished before is left as it is.
pub fn run_study(
    plan: &Plan,
    benchmarks: &[Benchmark],
    machines: &[String],
    costs: Costs,
    history: &[Line],
    world: World<'_>,
) -> Result<Conclusion, StudyError> {
    let mut forecast = Forecast::new(costs);
    let past = Past::of(Standings::new(plan, benchmarks), history, &mut forecast);
    let mut study = Study { plan, machines, world, past, forecast, round: 1 };
    let was_finished = study.past.finished && study.goal_reached().is_some();
    for look in std::mem::take(&mut study.past.unwritten_looks) {
        study.journal(&Event::Look(look))?;
    }
    let End { how, why } = study.rounds()?;
    if !was_finished {
        study.journal(&Event::Ended { how, why: why.clone() })?;
    }
    Ok(Conclusion { how, why, complete_rounds: study.complete() })
}

/// Why nothing is left to do for `plan` after `history`; none where something is.
pub fn finished(plan: &Plan, benchmarks: &[Benchmark], history: &[Line]) -> Option<String> {
    let mut forecast = Forecast::new(Costs { round_seconds: 0.0, guest_run_seconds: 0.0 });
    goal_reached(plan, &Past::of(Standings::new(plan, benchmarks), history, &mut forecast))
}

/// Why the study has what it wants: all rounds, or all benchmarks precise enough or given up.
fn goal_reached(plan: &Plan, past: &Past<'_>) -> Option<String> {
    let mut cells = plan.cells.iter().filter(|cell| !past.skipped.contains_key(&cell.benchmark)).peekable();
    if (1..=plan.rounds).all(|round| past.complete.contains(&round)) {
        return Some(match plan.rounds {
            1 => "The round was made".to_owned(),
            rounds => format!("All {rounds} rounds were made"),
        });
    }
    if cells.peek().is_none() || cells.any(|cell| past.standings.is_open(&cell.benchmark)) {
        return None;
    }
    let rounds = past.complete.len();
    let imprecise = past.standings.imprecise();
    Some(if imprecise.is_empty() {
        format!("After {rounds} rounds every benchmark was as precise as asked for")
    } else {
        format!(
            "After {rounds} rounds more would not have helped: {} would not become precise enough",
            imprecise.join(", ")
        )
    })
}

struct Study<'a, 'w> {
    plan: &'a Plan,
    machines: &'a [String],
    world: World<'w>,
    past: Past<'a>,
    forecast: Forecast,
    /// The round at hand.
    round: u32,
}

/// The end of the study.
struct End {
    how: Ending,
    why: String,
}

/// The end of an attempt at a round.
enum RoundEnd {
    Complete,
    /// A machine was lost.
    Broken(String),
    /// The study ends with it.
    Stopped(End),
}

impl RoundEnd {
    /// Why the round is not complete; none where it is.
    fn why(&self) -> Option<&str> {
        match self {
            RoundEnd::Complete => None,
            RoundEnd::Broken(why) | RoundEnd::Stopped(End { why, .. }) => Some(why),
        }
    }
}

impl<'a> Study<'a, '_> {
    fn rounds(&mut self) -> Result<End, StudyError> {
        let rounds = self.plan.rounds;
        let most_repeats = (rounds / 2).max(3);
        let mut repeats = 0;
        for round in 1..=rounds {
            self.round = round;
            let mut attempts = 0;
            while !self.past.complete.contains(&round) && self.goal_reached().is_none() {
                if let Some(end) = self.no_more_rounds() {
                    return Ok(end);
                }
                attempts += 1;
                match self.attempt(round)? {
                    RoundEnd::Complete => {}
                    RoundEnd::Stopped(end) => return Ok(end),
                    RoundEnd::Broken(why) if attempts == MAX_ATTEMPTS => {
                        let why = format!("Round {round} was begun {attempts} times and broke off each time: {why}");
                        return Ok(End { how: Ending::Failed, why });
                    }
                    RoundEnd::Broken(why) if repeats == most_repeats => {
                        let why = format!("Rounds broke off {} times, too often to go on: {why}", repeats + 1);
                        return Ok(End { how: Ending::Failed, why });
                    }
                    RoundEnd::Broken(_) => repeats += 1,
                }
            }
        }
        let why = self.goal_reached().unwrap_or_default();
        Ok(self.nothing_left().unwrap_or(End { how: Ending::Finished, why }))
    }

    fn goal_reached(&self) -> Option<String> {
        goal_reached(self.plan, &self.past)
    }

    /// Why no other round is to begin.
    fn no_more_rounds(&self) -> Option<End> {
        let asked = self.asked_to_stop().or_else(|| self.nothing_left());
        asked.or_else(|| {
            let budget = self.plan.budget_seconds?;
            let round = self.forecast.round(self.open(), self.machines);
            (!budget::may_begin(budget, self.elapsed(), self.complete(), round)).then(|| self.budget_end(budget))
        })
    }

    fn asked_to_stop(&self) -> Option<End> {
        (self.world.stop)().map(|reason| End { how: Ending::Interrupted, why: reason.to_string() })
    }

    fn nothing_left(&self) -> Option<End> {
        if self.plan.cells.iter().any(|cell| !self.past.skipped.contains_key(&cell.benchmark)) {
            return None;
        }
        let why = match self.past.skipped.iter().next() {
            Some((benchmark, why)) => format!("Nothing is left to measure: {benchmark} was skipped: {why}"),
            None => "The plan has no benchmarks".to_owned(),
        };
        Some(End { how: Ending::Failed, why })
    }

    fn budget_end(&self, budget: f64) -> End {
        let (complete, rounds) = (self.complete(), self.plan.rounds);
        let why = format!("The budget of {} sufficed for {complete} of {rounds} rounds", show_duration(budget));
        End { how: Ending::Budget, why }
    }

    /// One attempt at a round, with its start and end in the journal. The lab is cleared whatever happens.
    fn attempt(&mut self, round: u32) -> Result<RoundEnd, StudyError> {
        let attempt = self.past.next_attempt(round);
        self.past.begin(round, attempt);
        let open: Vec<&Cell> = self.open().collect();
        let order = block_order(self.plan.seed, round, attempt, &open);
        let ids = order.iter().map(|cell| cell.benchmark.clone()).collect();
        self.journal(&Event::RoundStarted { round, attempt, order: ids })?;

        let mut place = Place { round, attempt, order: &order, blocks_done: 0 };
        let mut made = Made::default();
        let since = self.world.clock.now();
        let ended = self.blocks(&mut place, &mut made).and_then(|end| {
            if matches!(end, RoundEnd::Complete) {
                self.world.lab.leave_round().iter().try_for_each(|event| self.journal(event))?;
            }
            let why = end.why().map(str::to_owned);
            self.journal(&Event::RoundEnded { round, attempt, complete: why.is_none(), why })?;
            Ok(end)
        });
        self.world.lab.end_round();

        let end = ended?;
        if end.why().is_none() {
            self.forecast.see_round(self.world.clock.now() - since, made.runs_seconds());
            for look in self.past.complete(round, made) {
                self.journal(&Event::Look(look))?;
            }
        }
        let again = if matches!(end, RoundEnd::Broken(_)) { self.forecast.round(open, self.machines) } else { 0.0 };
        self.tell(&place, Step::RoundOver { why: end.why() }, again);
        Ok(end)
    }

    /// Boots and makes the blocks of a round.
    fn blocks(&mut self, place: &mut Place<'_>, made: &mut Made) -> Result<RoundEnd, StudyError> {
        let &mut Place { round, attempt, order, .. } = place;
        self.tell(place, Step::Booting, self.forecast.round(order.iter().copied(), self.machines));
        match self.world.lab.start_round(round, attempt) {
            Ok(booted) => booted.iter().try_for_each(|event| self.journal(event))?,
            Err(failure) => return Ok(self.broken(failure.why)),
        }
        for (block, cell) in (0u32..).zip(order) {
            let turns = turn_order(self.plan.seed, round, attempt, block, self.machines);
            for (turn, machine) in (0u32..).zip(&turns) {
                if let Some(end) = self.asked_to_stop().or_else(|| self.cut_by_budget()) {
                    return Ok(RoundEnd::Stopped(end));
                }
                let at = Turn { round, attempt, block, turn, machine: machine.clone() };
                let record = match made.skipped.get(&cell.benchmark) {
                    Some(why) => at.record(&cell.benchmark, Outcome::Skipped { why: why.clone() }),
                    None => {
                        let left = self.left_in_round(place, &turns[turn as usize..]);
                        self.tell(place, Step::Running { machine, benchmark: &cell.benchmark }, left);
                        finite(self.world.lab.run(&at, cell))
                    }
                };
                self.journal(&Event::Run(Box::new(record.clone())))?;
                made.see(&record);
                self.forecast.see_run(&record);
                let left = self.left_in_round(place, &turns[turn as usize + 1..]);
                self.tell(place, Step::Ran(&record), left);
                match record.outcome {
                    Outcome::Failed { cause, why } if cause.ends_the_round() => {
                        return Ok(self.broken(format!("{} on {machine}: {why}", cell.benchmark)));
                    }
                    Outcome::Cancelled => {
                        let why = format!("{} was cancelled on {machine}", cell.benchmark);
                        let end = self.asked_to_stop().unwrap_or(End { how: Ending::Interrupted, why });
                        return Ok(RoundEnd::Stopped(end));
                    }
                    Outcome::Measured { .. } | Outcome::Failed { .. } | Outcome::Skipped { .. } => {}
                }
            }
            place.blocks_done = block + 1;
        }
        Ok(RoundEnd::Complete)
    }

    /// Seconds of the runs that are to come in this round: `turns` of the block at hand and the blocks after it.
    fn left_in_round(&self, place: &Place<'_>, turns: &[String]) -> f64 {
        let mut blocks = place.order.iter().copied().skip(place.blocks_done as usize);
        let here = blocks.next().map_or(0.0, |cell| turns.iter().map(|machine| self.forecast.run(cell, machine)).sum());
        here + self.forecast.blocks(blocks, self.machines)
    }

    /// A lost machine. Where the user asked to stop, that is why it was lost: Ctrl-C reaches QEMU and tools too.
    fn broken(&self, why: String) -> RoundEnd {
        self.asked_to_stop().map_or(RoundEnd::Broken(why), RoundEnd::Stopped)
    }

    fn cut_by_budget(&self) -> Option<End> {
        let budget = self.plan.budget_seconds?;
        budget::must_cut(budget, self.elapsed(), self.complete()).then(|| self.budget_end(budget))
    }

    /// The cells that are still measured.
    fn open(&self) -> impl Iterator<Item = &'a Cell> {
        let (plan, past) = (self.plan, &self.past);
        let is_open =
            |cell: &&Cell| !past.skipped.contains_key(&cell.benchmark) && past.standings.is_open(&cell.benchmark);
        plan.cells.iter().filter(is_open).collect::<Vec<_>>().into_iter()
    }

    fn complete(&self) -> u32 {
        self.past.complete.range(..=self.plan.rounds).count() as u32
    }

    fn elapsed(&self) -> f64 {
        self.past.elapsed + self.world.clock.now()
    }

    fn journal(&mut self, event: &Event) -> Result<(), StudyError> {
        let round = self.round;
        self.world.journal.append(event).map_err(|source| StudyError::Journal { round, source })
    }

    /// Seconds of the rounds after `round`, as far as one can tell: each benchmark in as many of them as it will probably take.
    fn left_in_later_rounds(&self, round: u32) -> f64 {
        let left = (1..=self.plan.rounds).filter(|r| *r != round && !self.past.complete.contains(r)).count() as u32;
        let under_way = u32::from(!self.past.complete.contains(&round));
        let to_come =
            |cell: &Cell| self.past.standings.to_come(&cell.benchmark, left + under_way).saturating_sub(under_way);
        let open: Vec<(&Cell, u32)> = self.open().map(|cell| (cell, to_come(cell))).collect();
        let rounds = open.iter().map(|(_, rounds)| *rounds).max().unwrap_or(0);
        let runs = open.iter().map(|(cell, rounds)| f64::from(*rounds) * self.forecast.blocks([*cell], self.machines));
        f64::from(rounds) * self.forecast.round([], self.machines) + runs.sum::<f64>()
    }

    /// Tells the watcher; `left_in_round` in seconds.
    fn tell(&mut self, place: &Place<'_>, step: Step<'_>, left_in_round: f64) {
        let left = left_in_round + self.left_in_later_rounds(place.round);
        let elapsed_seconds = self.elapsed();
        let budget_left = self.plan.budget_seconds.map_or(f64::INFINITY, |budget| (budget - elapsed_seconds).max(0.0));
        self.world.watcher.event(&Progress {
            round: place.round,
            rounds: self.plan.rounds,
            open: self.open().count(),
            attempt: place.attempt,
            blocks_done: place.blocks_done,
            blocks: place.order.len() as u32,
            step,
            elapsed_seconds,
            left_seconds: left.min(budget_left),
        });
    }
}

/// Where the loop is in a round.
struct Place<'a> {
    round: u32,
    attempt: u32,
    order: &'a [&'a Cell],
    blocks_done: u32,
}

/// A figure that is none is a failure of its run, and must not cost the journal, which cannot hold it.
fn finite(mut record: RunRecord) -> RunRecord {
    if let Outcome::Measured { values } = &record.outcome
        && let Some((metric, value)) = values.iter().find(|(_, value)| !value.is_finite())
    {
        let why = format!("{} on {}: {metric} came out as {value}", record.benchmark, record.machine);
        record.outcome = Outcome::Failed { cause: FailureCause::Parse, why };
    }
    record
}
