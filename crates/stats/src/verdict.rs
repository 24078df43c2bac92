//! One word for an interval, given the margin below which a difference does not matter in practice.

use crate::interval::{Interval, Margin};

/// What an interval of the log cost ratio says about the overhead.
///
/// That an interval is too wide to say much (IMPRECISE) or comes from runs that do not count (INVALID) is not known
/// here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The whole interval lies above the margin.
    Overhead,
    /// The whole interval lies below the negative margin. Check whether that can be true.
    FasterThanHost,
    /// The whole interval lies inside the margin (two one-sided tests).
    Equivalent,
    /// The interval excludes 0 and straddles the margin: there is a difference, and it may be too small to matter.
    Small,
    /// The interval contains 0 and reaches beyond the margin.
    Inconclusive,
}

/// The verdict of an interval on the log scale. An end exactly on the margin is inside it.
pub fn verdict(interval: &Interval, margin: Margin) -> Verdict {
    let Interval { low, high, .. } = *interval;
    let margin = margin.log();
    if low > margin {
        Verdict::Overhead
    } else if high < -margin {
        Verdict::FasterThanHost
    } else if -margin <= low && high <= margin {
        Verdict::Equivalent
    } else if low > 0.0 || high < 0.0 {
        Verdict::Small
    } else {
        Verdict::Inconclusive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(low: f64, high: f64) -> Verdict {
        let (estimate, margin) = (f64::midpoint(low, high), Margin::relative(0.02).unwrap());
        verdict(&Interval { estimate, low, high, level: 0.95, n: 8 }, margin)
    }

    #[test]
    fn each_verdict_has_its_place_on_the_scale() {
        assert_eq!(of(0.03, 0.05), Verdict::Overhead);
        assert_eq!(of(-0.05, -0.03), Verdict::FasterThanHost);
        assert_eq!(of(-0.01, 0.015), Verdict::Equivalent);
        assert_eq!(of(0.005, 0.015), Verdict::Equivalent);
        assert_eq!(of(0.01, 0.05), Verdict::Small);
        assert_eq!(of(-0.05, -0.01), Verdict::Small);
        assert_eq!(of(-0.01, 0.05), Verdict::Inconclusive);
        assert_eq!(of(-0.05, 0.05), Verdict::Inconclusive);
        assert_eq!(of(0.0, 0.05), Verdict::Inconclusive);
    }

    #[test]
    fn the_margin_is_compared_on_the_log_scale_and_belongs_to_the_inside() {
        let edge = Margin::relative(0.02).unwrap().log();
        assert!((edge - 1.02_f64.ln()).abs() < 1e-15);
        assert_eq!(of(-edge, edge), Verdict::Equivalent);
        assert_eq!(of(edge, 0.1), Verdict::Small);
        assert_eq!(of(0.01, 0.0199), Verdict::Small, "ln 1.02 is 0.0198");
    }
}
