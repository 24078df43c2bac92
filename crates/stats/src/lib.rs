//! Numbers from numbers: intervals and their helpers. Pure (no I/O, clock or threads); knows no benchmark.
//!
//! The path of a result. [`log_cost_ratio`] makes one number `d` of what the host and a guest did in one round;
//! [`overhead`] makes an [`Overhead`] of the rounds' `d` in time order: the typical value (Hodges-Lehmann) with the
//! interval that the report prints; [`verdict`] puts it into a word, [`decide`] says whether more rounds are needed.
//! [`suite`] does the same for many benchmarks at once.
//!
//! Everything is on the log scale, where "twice as slow" and "twice as fast" are equally far from 0, until
//! [`percent`], [`throughput_ratio`] or [`loss_percent`] turn it into what people read.
//!
//! Where there is no answer (no data, a value that is not finite, too few rounds) functions return `None`. Nothing
//! here panics, and no estimate, interval or p value is NaN or infinite.

#![forbid(unsafe_code)]

mod anytime;
mod beta;
mod describe;
mod interval;
mod mann_whitney;
mod mser;
mod multiple;
pub mod normal;
mod overhead;
mod rank;
mod search;
mod serial;
mod signed_rank;
mod stopping;
pub mod student;
mod verdict;

pub use anytime::{ANYTIME_G, anytime_radius, anytime_t};
pub use describe::{MAD_TO_SD, geometric_mean, mad, median, median_interval, moments, quantile, robust_cv};
pub use interval::{Interval, Margin};
pub use mann_whitney::mann_whitney_p;
pub use mser::{Truncation, mser, mser_batched};
pub use multiple::{benjamini_hochberg, holm, rounds_for_family};
pub use overhead::{
    Better, INDICATIVE_ROUNDS, Overhead, REPORTED_LEVEL, STUDY_ALPHA, STUDY_ROUNDS, Strength, log_cost_ratio,
    loss_percent, overhead, percent, suite, throughput_ratio,
};
pub use serial::{CORRELATED, Serial, effective_size, serial};
pub use signed_rank::{critical_rank, hodges_lehmann, pseudomedian, signed_rank_p};
pub use stopping::{Decision, FORECAST_FROM, decide, forecast, looks, next_look, plan_rounds, precise_enough};
pub use student::mean_t;
pub use verdict::{Verdict, verdict};
