//! The loop, played with a scripted lab and clock.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod budget;
mod fake;
mod precision;
mod resume;
mod rounds;
