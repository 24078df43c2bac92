//! Which figures may be believed. PURE: evidence in, checks out; no I/O, no clock.
//!
//! Three layers, each with what it needs to know: [`run`] judges one run by what was seen around it, and its checks are stored
//! with the run; [`block`] judges the two arms of a block against each other; [`course`] and [`machines`] judge what only the
//! whole study shows. [`Ledger`] says which blocks count: it is the one place where a run is let into the figures, for the loop
//! that decides when to stop and for the reports alike.

#![forbid(unsafe_code)]

pub mod block;
mod ledger;

pub use ledger::{Block, Ledger};
