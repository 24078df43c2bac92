//! The anytime-valid t interval: it may be looked at after every round, and acted upon.
//!
//! The Gaussian-mixture (right-Haar) t confidence sequence: Wang & Ramdas 2023, arXiv 2310.03722; Lindon et al.,
//! arXiv 2210.08589. For early decisions only (racing, a gate's early exit); it is wider than a fixed one.

use crate::{describe::moments, interval::Interval};

/// The prior precision that suits 6 to 100 rounds; with it the interval is finite from six values on.
pub const ANYTIME_G: f64 = 2.0;

/// The mean with its interval at level `1 - alpha`, valid at all `n` at the same time.
///
/// `g > 0` is the prior's weight in values, see [`ANYTIME_G`]. `None` as long as the interval is infinite, or for
/// values that are not finite.
pub fn anytime_t(values: &[f64], alpha: f64, g: f64) -> Option<Interval> {
    let (mean, sd) = moments(values)?;
    let n = values.len();
    let radius = anytime_radius(n, sd, alpha, g)?;
    Interval { estimate: mean, low: mean - radius, high: mean + radius, level: 1.0 - alpha, n }.finite()
}

/// Half the width of [`anytime_t`] for `n` values with standard deviation `sd`:
/// `(sd/√n) √((n-1)(1-τ)/(τ-G))`, `G = g/(g+n)`, `τ = (alpha² G)^(1/n)`. `None` where it is infinite (`τ <= G`).
pub fn anytime_radius(n: usize, sd: f64, alpha: f64, g: f64) -> Option<f64> {
    let valid = n >= 2 && sd >= 0.0 && alpha > 0.0 && alpha < 1.0 && g > 0.0;
    let n = n as f64;
    let shrink = g / (g + n);
    let tau = (alpha * alpha * shrink).powf(1.0 / n);
    let radius = sd / n.sqrt() * ((n - 1.0) * (1.0 - tau) / (tau - shrink)).sqrt();
    (valid && tau > shrink && radius.is_finite()).then_some(radius)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::student;

    #[test]
    fn the_radius_has_its_golden_values() {
        for (n, radius) in [(10, 5.925348), (20, 0.877574)] {
            let found = anytime_radius(n, 1.0, 0.05, 10.0).unwrap();
            assert!((found - radius).abs() < 5e-7, "{n}: {found}");
        }
    }

    #[test]
    fn it_is_so_much_wider_than_the_fixed_interval() {
        assert_eq!(anytime_radius(5, 1.0, 0.05, ANYTIME_G), None);
        for (n, ratio) in [(6, 3.55), (8, 2.03), (10, 1.80), (20, 1.62), (50, 1.61)] {
            let fixed = student::quantile(0.975, n as f64 - 1.0).unwrap() / (n as f64).sqrt();
            let found = anytime_radius(n, 1.0, 0.05, ANYTIME_G).unwrap() / fixed;
            assert!((found - ratio).abs() < 0.005, "{n}: {found}");
        }
    }

    #[test]
    fn the_interval_lies_about_the_mean() {
        let values: Vec<f64> = (0..20).map(|i| f64::from(i % 5)).collect();
        let interval = anytime_t(&values, 0.05, ANYTIME_G).unwrap();
        assert!((interval.estimate - 2.0).abs() < 1e-12);
        assert!(interval.contains(2.0) && !interval.contains(0.0));
    }

    #[test]
    fn impossible_arguments_have_no_interval() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        assert_eq!(anytime_t(&values[..1], 0.05, 2.0), None);
        for (alpha, g) in [(0.0, 2.0), (1.0, 2.0), (f64::NAN, 2.0), (0.05, 0.0), (0.05, f64::NAN)] {
            assert_eq!(anytime_t(&values, alpha, g), None);
        }
        assert_eq!(anytime_radius(10, f64::INFINITY, 0.05, 2.0), None);
        assert_eq!(anytime_radius(0, 1.0, 0.05, 2.0), None);
    }
}
