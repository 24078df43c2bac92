//! The loop that makes a study: rounds, blocks, turns, orders; repeats, budget, stop and resume.
//!
//! It decides what runs next and writes down what happened; a [`Lab`] carries it out. Generic over lab, journal, clock
//! and watcher, so that its tests take milliseconds. Touches no file, process or terminal itself.
//!
//! ```text
//! while a benchmark is open and rounds are left:
//!     RoundStarted, boot, Booted…, Visited…
//!     for every open benchmark, in random order (the same for all machines):
//!         for every machine, in random order:    run, Run
//!     Visited…, RoundEnded, Look…
//! Ended
//! ```

#![forbid(unsafe_code)]

mod budget;
mod estimate;
mod lab;
mod order;
mod past;
mod run;
mod standing;

pub use budget::{OVERTIME, ROUNDS_BEFORE_CUT, SPARE};
pub use estimate::{Costs, Estimate, estimate_seconds};
pub use lab::{Clock, Journal, JournalError, Lab, Progress, RoundFailure, Step, StopReason, Stopwatch, Turn, Watcher};
pub use order::{block_order, turn_order};
pub use run::{Conclusion, MAX_ATTEMPTS, StudyError, World, finished, run_study};
