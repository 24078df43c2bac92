//! The loop that makes a study: rounds, blocks, turns, orders; repeats, budget, stop and resume.
//!
//! It decides what runs next and writes down what happened; a [`Lab`] carries it out. Generic over lab, journal, clock
//! and watcher, so that its tests take milliseconds. Touches no file, process or terminal itself.
//!
//! ```text
//! for every round that is not complete:
//!     RoundStarted, boot, Booted…
//!     for every block, in random order (the same for all machines):
//!         for every machine, in random order:    run, Run
//!     RoundEnded
//! Ended
//! ```

#![forbid(unsafe_code)]

mod budget;
mod estimate;
mod lab;
mod order;
mod past;
mod run;

pub use budget::{OVERTIME, ROUNDS_BEFORE_CUT, SPARE};
pub use estimate::{Costs, Estimate, estimate_seconds};
pub use lab::{Clock, Journal, JournalError, Lab, Progress, RoundFailure, Step, StopReason, Stopwatch, Turn, Watcher};
pub use order::{block_order, turn_order};
pub use run::{Conclusion, MAX_ATTEMPTS, StudyError, World, run_study};
