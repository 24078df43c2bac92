//! Whether a series has reached a steady level. Where its warm-up ends is told by [`crate::mser`].

use crate::describe::mean;

/// The rounds that the SNIA rule looks at.
pub const SNIA_WINDOW: usize = 5;
/// How far apart the greatest and the least of them may lie, as a share of their mean.
const SNIA_RANGE: f64 = 0.20;
/// How much their least-squares line may rise or fall over the window, as a share of their mean.
const SNIA_RISE: f64 = 0.10;

/// Whether the last five rounds of a storage test are steady: `max - min <= 20 %` of their mean, and their
/// least-squares line rises or falls by no more than 10 % of it over the window (SNIA Solid State Storage Performance
/// Test Specification 2.0, 2.1.24).
///
/// `false` for fewer than five rounds, values that are not finite, or a mean that is not positive.
pub fn snia_steady(rounds: &[f64]) -> bool {
    let Some(window) = rounds.last_chunk::<SNIA_WINDOW>() else { return false };
    let mean = mean(window);
    let range = window.iter().fold(f64::MIN, |a, &b| a.max(b)) - window.iter().fold(f64::MAX, |a, &b| a.min(b));
    // The squares of the times sum to 10; the window is four steps long.
    let slope = window.iter().zip([-2.0, -1.0, 0.0, 1.0, 2.0]).map(|(value, time)| value * time).sum::<f64>() / 10.0;
    let rise = 4.0 * slope;
    mean > 0.0 && mean.is_finite() && range <= SNIA_RANGE * mean && rise.abs() <= SNIA_RISE * mean
}

/// By how much the two halves of a series differ: `|ln(mean of the second half / mean of the first half)|`. Of an odd
/// number of samples the middle one belongs to neither.
///
/// More than ln 1.05 after the warm-up was cut is `NONSTATIONARY_RUN`. `None` for fewer than two samples, or if a mean
/// is not positive and finite.
pub fn halves_differ(series: &[f64]) -> Option<f64> {
    let half = series.len() / 2;
    let (first, second) = (mean(&series[..half]), mean(&series[series.len() - half..]));
    let usable = half > 0 && [first, second].iter().all(|mean| *mean > 0.0 && mean.is_finite());
    usable.then(|| (second.ln() - first.ln()).abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_rounds_are_steady_and_only_the_last_five_count() {
        assert!(snia_steady(&[100.0, 104.0, 97.0, 101.0, 99.0]));
        assert!(snia_steady(&[500.0, 300.0, 100.0, 104.0, 97.0, 101.0, 99.0]));
        assert!(!snia_steady(&[500.0, 100.0, 104.0, 97.0, 101.0]));
    }

    #[test]
    fn both_limits_belong_to_the_steady_side() {
        assert!(snia_steady(&[100.0, 110.0, 100.0, 90.0, 100.0]), "a range of 20 %, a rise of 8 %");
        assert!(!snia_steady(&[100.0, 110.1, 100.0, 90.0, 100.0]));
        assert!(snia_steady(&[190.0, 195.0, 200.0, 205.0, 210.0]), "a rise of 10 %");
        assert!(!snia_steady(&[189.9, 195.0, 200.0, 205.0, 210.1]));
        assert!(!snia_steady(&[210.1, 205.0, 200.0, 195.0, 189.9]));
    }

    #[test]
    fn too_few_or_bad_rounds_are_not_steady() {
        for bad in [&[][..], &[1.0; 4], &[0.0; 5], &[-1.0; 5], &[f64::NAN; 5], &[f64::INFINITY; 5]] {
            assert!(!snia_steady(bad), "{bad:?}");
        }
        assert!(!snia_steady(&[1.0, 1.0, f64::NAN, 1.0, 1.0]));
    }

    #[test]
    fn halves_differ_by_the_logarithm_of_their_ratio() {
        let found = halves_differ(&[100.0, 100.0, 7.0, 50.0, 50.0]).unwrap();
        assert!((found - 2.0_f64.ln()).abs() < 1e-12);
        assert_eq!(halves_differ(&[3.0; 9]), Some(0.0));
        for bad in [&[][..], &[1.0], &[0.0, 1.0], &[1.0, -1.0], &[1.0, f64::NAN], &[1.0, f64::INFINITY]] {
            assert_eq!(halves_differ(bad), None);
        }
    }
}
