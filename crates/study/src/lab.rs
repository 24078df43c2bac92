//! The seams: what carries out, writes down, tells the time and looks on.

use model::outcome::Outcome;
use model::plan::Cell;
use model::record::{Event, RunRecord};
use std::time::Instant;

/// Carries out what the loop decides: with guests and agents in the real tool, from a script in the loop's tests.
pub trait Lab {
    /// Boots the guests of this round afresh and warms them up; makes sure that the host's agent lives; looks at what else goes on
    /// there. Returns one [`Event::Booted`] per guest and one [`Event::Visited`] per machine. Nothing of an earlier round is left before. When the user asks to stop, it comes back
    /// soon, with whatever failure.
    fn start_round(&mut self, round: u32, attempt: u32) -> Result<Vec<Event>, RoundFailure>;

    /// One run of one cell on one machine. Never fails: a failure is an outcome. One whose cause
    /// [ends the round](model::FailureCause::ends_the_round) says that the machine is lost for the rest of the round.
    /// When the user asks to stop, it comes back soon, with [`Outcome::Cancelled`].
    fn run(&mut self, at: &Turn, cell: &Cell) -> RunRecord;

    /// Looks at the machines once more after the last block of a round that lost none of them; returns what to write down.
    fn leave_round(&mut self) -> Vec<Event>;

    /// Unmakes the guests of the round. Called once after every [`Lab::start_round`], also after one that failed.
    fn end_round(&mut self);
}

/// Why a round could not begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundFailure {
    /// What failed, on what, with the console's last lines.
    pub why: String,
}

/// The place of a run in the study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The round, from 1.
    pub round: u32,
    /// The attempt at it, from 1.
    pub attempt: u32,
    /// Place of the block in the round, from 0.
    pub block: u32,
    /// Place of this run in its block, from 0.
    pub turn: u32,
    /// The machine.
    pub machine: String,
}

impl Turn {
    /// The record of a run here of which nothing but the outcome is known.
    pub fn record(&self, benchmark: &str, outcome: Outcome) -> RunRecord {
        RunRecord {
            round: self.round,
            attempt: self.attempt,
            block: self.block,
            turn: self.turn,
            machine: self.machine.clone(),
            benchmark: benchmark.to_owned(),
            outcome,
            counters: None,
            host_cost: None,
            controller_seconds: None,
            total_seconds: 0.0,
            argv: Vec::new(),
            raw: None,
            remarks: Vec::new(),
            work: None,
            series: None,
            histogram: None,
            surroundings: None,
            checks: Vec::new(),
        }
    }
}

/// Whatever a journal says when it cannot be written.
pub type JournalError = Box<dyn std::error::Error + Send + Sync>;

/// Where events are written down.
pub trait Journal {
    /// Adds an event and returns when it cannot be lost any more.
    fn append(&mut self, event: &Event) -> Result<(), JournalError>;
}

/// Tells the time.
pub trait Clock {
    /// Seconds since this session began, monotonic. What came before the first round counts for the budget too.
    fn now(&self) -> f64;
}

/// The real clock: seconds since it was made.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts at zero now.
    #[allow(clippy::new_without_default, reason = "a default that depends on when it is made would surprise")]
    pub fn new() -> Self {
        Stopwatch(Instant::now())
    }
}

impl Clock for Stopwatch {
    fn now(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Looks on while the study goes on, for example to show it on a terminal. Never called while a run is under way.
pub trait Watcher {
    /// Something begins or is over.
    fn event(&mut self, progress: &Progress<'_>);
}

/// Where the study is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// The round under way, from 1.
    pub round: u32,
    /// Rounds of the plan, at most.
    pub rounds: u32,
    /// Benchmarks that are still open.
    pub open: usize,
    /// The attempt at this round, from 1.
    pub attempt: u32,
    /// Blocks of this round that are over.
    pub blocks_done: u32,
    /// Blocks of this round.
    pub blocks: u32,
    /// What begins or is over.
    pub step: Step<'a>,
    /// Time that the study took so far, earlier sessions included, seconds.
    pub elapsed_seconds: f64,
    /// Time that the study is expected to take from here, seconds; never more than the budget leaves.
    pub left_seconds: f64,
}

/// A step of the study.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step<'a> {
    /// The guests are about to be booted.
    Booting,
    /// A run begins.
    Running {
        /// Where.
        machine: &'a str,
        /// What.
        benchmark: &'a str,
    },
    /// A run is over and in the journal.
    Ran(&'a RunRecord),
    /// The round is over and in the journal.
    RoundOver {
        /// Why it is not complete; none where it is.
        why: Option<&'a str>,
    },
}

/// Who wants the study to stop. The text is the reason that journal and report give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StopReason {
    /// SIGINT.
    #[error("Stopped by Ctrl-C")]
    Interrupt,
    /// SIGTERM.
    #[error("Stopped by a signal to terminate")]
    Terminate,
    /// SIGHUP.
    #[error("Stopped because the terminal was closed")]
    Hangup,
}
