//! Numbers from numbers: intervals and their helpers. Pure (no I/O, clock or threads); knows no benchmark.
//!
//! The path of a result. [`log_cost_ratio`] makes one number `d` of what the host and a guest did in one round;
//! [`overhead`] makes an [`Overhead`] of the rounds' `d` in time order: the typical value (Hodges-Lehmann) with the
//! interval that the report prints; [`verdict`] puts it into a word, [`decide`] says whether more rounds are needed.
//! [`suite`] does the same for many benchmarks at once.
//!
//! What a number is worth is asked of the runs behind it: [`mser`], [`snia_steady`], [`halves_differ`], [`level_drop`],
//! [`change_points`] and [`effective_size`] look at the series of one run, [`mann_kendall`], [`serial()`] and
//! [`variance_reduction`] at the rounds. [`shift`] and [`mann_whitney_p`] compare two studies.
//!
//! Everything is on the log scale, where "twice as slow" and "twice as fast" are equally far from 0, until
//! [`percent`], [`throughput_ratio`] or [`loss_percent`] turn it into what people read.
//!
//! Where there is no answer (no data, a value that is not finite, too few rounds) functions return `None`. Nothing
//! here panics, and no estimate, interval or p value is NaN or infinite.

#![forbid(unsafe_code)]

mod anytime;
mod beta;
mod change;
mod describe;
mod interval;
mod jackknife;
mod level_drop;
mod mann_whitney;
mod mser;
mod multiple;
pub mod normal;
mod overhead;
mod pairing;
mod rank;
mod search;
mod serial;
mod shift;
mod signed_rank;
mod splitmix;
mod steady;
mod stopping;
pub mod student;
mod trend;
mod verdict;

pub use anytime::{ANYTIME_G, anytime_radius, anytime_t};
pub use change::{CHANGE_ALPHA, CORRELATED_CHANGE_ALPHA, ChangePoint, Changes, SHORTEST_SEGMENT, change_points};
pub use describe::{MAD_TO_SD, geometric_mean, mad, median, median_interval, moments, quantile, robust_cv};
pub use interval::{Interval, Margin};
pub use jackknife::pooled_percentile_interval;
pub use level_drop::{LevelDrop, level_drop};
pub use mann_whitney::mann_whitney_p;
pub use mser::{Truncation, mser, mser_batched};
pub use multiple::{benjamini_hochberg, holm, rounds_for_family};
pub use overhead::{
    Better, INDICATIVE_ROUNDS, Overhead, REPORTED_LEVEL, STUDY_ALPHA, STUDY_ROUNDS, Strength, log_cost_ratio,
    loss_percent, overhead, percent, suite, throughput_ratio,
};
pub use pairing::variance_reduction;
pub use serial::{CORRELATED, Serial, effective_size, serial};
pub use shift::shift;
pub use signed_rank::{critical_rank, hodges_lehmann, pseudomedian, signed_rank_p};
pub use steady::{SNIA_WINDOW, halves_differ, snia_steady};
pub use stopping::{Decision, FORECAST_FROM, decide, forecast, looks, next_look, plan_rounds, precise_enough};
pub use student::mean_t;
pub use trend::{Trend, mann_kendall};
pub use verdict::{Verdict, verdict};
