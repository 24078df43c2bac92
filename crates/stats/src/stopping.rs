//! When to stop measuring: at planned looks, when the interval is narrow enough or will not become so.
//!
//! Never because the interval excludes 0: that would find a difference in a third of all comparisons without any.
//! Stopping on width alone costs one or two points of coverage, which the level of [`crate::overhead`] has in reserve.
//! It was calibrated for the looks below; whoever changes them must calibrate again.

use crate::interval::{Interval, Margin};

/// From so many rounds on, a forecast beyond the cap ends the measurement.
pub const FORECAST_FROM: usize = 12;

/// The first looks; each later one is 1.25 times the one before it, rounded up.
const FIRST_LOOKS: [usize; 12] = [8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64];

/// What to do after a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Narrow enough: stop.
    Precise,
    /// Not yet: go on to the next look.
    MoreRounds {
        /// How many rounds it will take in all, as far as one can tell.
        forecast: usize,
    },
    /// Not narrow enough, and the cap is reached or would be: stop and say what was achieved.
    Imprecise {
        /// How many rounds it would have taken in all.
        forecast: usize,
    },
}

/// The numbers of rounds (replication units) after which to look: 8, 10, 12, 14, 16, 20, ..., 64, 80, 100, 125, ...
pub fn looks() -> impl Iterator<Item = usize> {
    let last = FIRST_LOOKS[FIRST_LOOKS.len() - 1];
    let later = std::iter::successors(Some(last), |n: &usize| n.checked_add(n.div_ceil(4))).skip(1);
    FIRST_LOOKS.into_iter().chain(later)
}

/// The next look after `done` rounds, not later than the `cap`. `None` when the cap is reached.
pub fn next_look(done: usize, cap: usize) -> Option<usize> {
    let next = looks().find(|&look| look > done).map_or(cap, |look| look.min(cap));
    (next > done).then_some(next)
}

/// Whether the interval's half-width on the log scale is within the target.
pub fn precise_enough(interval: &Interval, target: Margin) -> bool {
    interval.half_width() <= target.log()
}

/// How many rounds in all the target will take, `n (half-width / target)²`, rounded up. `usize::MAX` stands for never.
pub fn forecast(interval: &Interval, target: Margin) -> usize {
    if precise_enough(interval, target) {
        return interval.n;
    }
    (interval.n as f64 * (interval.half_width() / target.log()).powi(2)).ceil() as usize
}

/// What to do after a look at this interval, when no more than `cap` rounds are allowed.
pub fn decide(interval: &Interval, target: Margin, cap: usize) -> Decision {
    let forecast = forecast(interval, target);
    if precise_enough(interval, target) {
        Decision::Precise
    } else if interval.n >= cap || (interval.n >= FORECAST_FROM && forecast > cap) {
        Decision::Imprecise { forecast }
    } else {
        Decision::MoreRounds { forecast }
    }
}

/// For planning, before anything is measured: how many rounds the target will take if `d` has the standard deviation
/// `sd`, `1.05 (2.17 sd / target)²`, at least the first look. `None` if `sd` is negative or not finite.
pub fn plan_rounds(sd: f64, target: Margin) -> Option<usize> {
    if !(sd.is_finite() && sd >= 0.0) {
        return None;
    }
    let rounds = 1.05 * (2.17 * sd / target.log()).powi(2);
    Some((rounds.ceil() as usize).max(FIRST_LOOKS[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(n: usize, half_width: f64) -> Interval {
        Interval { estimate: 0.1, low: 0.1 - half_width, high: 0.1 + half_width, level: 0.95, n }
    }

    fn margin(tolerance: f64) -> Margin {
        Margin::relative(tolerance).unwrap()
    }

    #[test]
    fn the_looks_are_those_that_were_calibrated() {
        let first: Vec<usize> = looks().take(17).collect();
        assert_eq!(first, [8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 80, 100, 125, 157, 197]);
        assert!(looks().count() < 300, "the schedule ends where usize does");
    }

    #[test]
    fn the_next_look_never_passes_the_cap() {
        assert_eq!(next_look(0, 64), Some(8));
        assert_eq!(next_look(8, 64), Some(10));
        assert_eq!(next_look(16, 18), Some(18));
        assert_eq!(next_look(18, 18), None);
        assert_eq!(next_look(0, 5), Some(5));
        assert_eq!(next_look(0, 0), None);
        assert_eq!(next_look(usize::MAX, usize::MAX), None);
    }

    #[test]
    fn precision_is_judged_on_the_log_scale() {
        assert!(precise_enough(&interval(8, 0.0295), margin(0.03)));
        assert!(!precise_enough(&interval(8, 0.0297), margin(0.03)), "ln 1.03 is 0.02956");
    }

    #[test]
    fn twice_the_width_takes_four_times_the_rounds() {
        let h = margin(0.03);
        assert_eq!(forecast(&interval(10, 2.0 * h.log() - 1e-9), h), 40);
        assert_eq!(forecast(&interval(10, 0.01), h), 10);
        assert_eq!(forecast(&interval(10, 0.01), margin(0.0)), usize::MAX);
    }

    #[test]
    fn a_hopeless_measurement_ends_before_its_cap_but_not_before_twelve_rounds() {
        let h = margin(0.03);
        assert_eq!(decide(&interval(8, 0.02), h, 64), Decision::Precise);
        assert!(matches!(decide(&interval(10, 0.5), h, 64), Decision::MoreRounds { .. }));
        assert!(matches!(decide(&interval(12, 0.5), h, 64), Decision::Imprecise { .. }));
        assert!(matches!(decide(&interval(12, 0.04), h, 64), Decision::MoreRounds { forecast: 22 }));
        assert!(matches!(decide(&interval(64, 0.0297), h, 64), Decision::Imprecise { .. }));
    }

    #[test]
    fn planning_gives_the_rounds_of_the_table() {
        let h = margin(0.02);
        for (ratio, rounds) in [(1.0, 8), (2.0, 20), (3.0, 45), (5.0, 124)] {
            assert_eq!(plan_rounds(ratio * h.log(), h), Some(rounds));
        }
        assert_eq!(plan_rounds(f64::NAN, h), None);
        assert_eq!(plan_rounds(-1.0, h), None);
        assert_eq!(plan_rounds(0.0, margin(0.0)), Some(8));
    }
}
