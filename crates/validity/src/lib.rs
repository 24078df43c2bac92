//! Which figures may be believed. PURE: evidence in, checks out; no I/O, no clock.
//!
//! Three layers, each with what it needs to know: [`run`] judges one run by what was seen around it, and its checks are stored
//! with the run; [`block`] judges the two arms of a block against each other; [`course`] and [`machines`] judge what only the
//! whole study shows. [`Ledger`] says which blocks count: it is the one place where a run is let into the figures, for the loop
//! that decides when to stop and for the reports alike.
//!
//! A check has a status and the numbers that it was made from. Where one threat can show in several ways, its evidence has the
//! word `shape`, by which the texts of reports choose their sentence; a signal that could not be read is the shape `unknown`.
//! `docs/checks.md` has the table of all rules.

#![forbid(unsafe_code)]

pub mod block;
pub mod course;
mod ledger;
pub mod machines;
pub mod run;
mod signal;
mod window;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod soundness;
#[cfg(test)]
mod texts;

pub use ledger::{Block, Ledger};
