//! The standard normal distribution, to about 1e-15.
//!
//! Near 0 the series of Marsaglia (2004, "Evaluating the normal distribution", J. Stat. Software 11(4)), whose terms
//! are all positive; in the tail the continued fraction of Laplace (Abramowitz & Stegun 26.2.14).

use std::f64::consts::PI;

use crate::search::least;

/// `P(Z <= z)`. NaN only for NaN.
pub fn cdf(z: f64) -> f64 {
    if z < 0.0 { upper(-z) } else { 1.0 - upper(z) }
}

/// The `z` with `P(Z <= z) = p`. `None` unless `0 < p < 1`.
pub fn quantile(p: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    if p < 0.5 {
        least(0.0, f64::MAX, |z| upper(z) <= p).map(|z| -z)
    } else {
        least(0.0, f64::MAX, |z| upper(z) <= 1.0 - p)
    }
}

/// `P(Z > z)` for `z >= 0`, precise far out into the tail.
fn upper(z: f64) -> f64 {
    let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
    if z < 2.0 {
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term > sum * 1e-17 {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        0.5 - density * sum
    } else {
        density / (1..=150).rev().fold(z, |below, k| z + f64::from(k) / below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (z, P(Z <= z)), from mpmath.
    const TABLE: [(f64, f64); 7] = [
        (0.0, 0.5),
        (0.5, 0.691_462_461_274_013_1),
        (1.0, 0.841_344_746_068_542_9),
        (1.999_999, 0.977_249_814_060_800_3),
        (2.0, 0.977_249_868_051_820_8),
        (3.0, 0.998_650_101_968_369_9),
        (-6.0, 9.865_876_450_376_98e-10),
    ];

    #[test]
    fn the_distribution_has_its_known_values() {
        for (z, p) in TABLE {
            assert!((cdf(z) - p).abs() <= 2e-15 * p.max(1e-3), "{z}: {} is not {p}", cdf(z));
            assert!((cdf(-z) - (1.0 - p)).abs() < 2e-15, "{z}");
        }
    }

    #[test]
    fn quantiles_have_their_known_values() {
        for (p, z) in [
            (0.975, 1.959_963_984_540_054),
            (0.985, 2.170_090_377_584_56),
            (0.5, 0.0),
            (0.6, 0.253_347_103_135_799_7),
            (1e-10, -6.361_340_902_404_056),
        ] {
            let found = quantile(p).unwrap();
            assert!((found - z).abs() < 1e-12, "{p}: {found} is not {z}");
        }
    }

    #[test]
    fn the_ends_have_no_quantile() {
        for p in [0.0, 1.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(quantile(p), None);
        }
        assert_eq!(cdf(f64::INFINITY), 1.0);
        assert_eq!(cdf(f64::NEG_INFINITY), 0.0);
    }
}
