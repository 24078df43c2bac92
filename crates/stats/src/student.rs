//! Student's t distribution, to about 1e-9 or better, and the interval of the mean that it gives.

use crate::{beta, describe::moments, interval::Interval, normal, search::least};

/// Above so many degrees of freedom the normal approximation A&S 26.7.8 is better than 1e-12.
const NEARLY_NORMAL: f64 = 1e6;

/// `P(T <= t)` for `df` degrees of freedom (any positive number). `None` if `df` is not, or `t` is NaN.
pub fn cdf(t: f64, df: f64) -> Option<f64> {
    if df <= 0.0 || df.is_nan() || t.is_nan() {
        return None;
    }
    Some(if t < 0.0 { upper(-t, df) } else { 1.0 - upper(t, df) })
}

/// The `t` with `P(T <= t) = p`. `None` unless `0 < p < 1`, `df > 0`, and `t` is finite.
pub fn quantile(p: f64, df: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0 && df > 0.0) {
        return None;
    }
    if p < 0.5 {
        least(0.0, f64::MAX, |t| upper(t, df) <= p).map(|t| -t)
    } else {
        least(0.0, f64::MAX, |t| upper(t, df) <= 1.0 - p)
    }
}

/// `P(T > t)` for `t >= 0`.
fn upper(t: f64, df: f64) -> f64 {
    let square = t * t;
    if df > NEARLY_NORMAL {
        return normal::cdf(-(1.0 - 0.25 / df) / (1.0 / square + 0.5 / df).sqrt());
    }
    beta::incomplete(1.0 / (1.0 + square / df), 1.0 / (1.0 + df / square), df / 2.0, 0.5) / 2.0
}

/// The mean with its interval `mean ± t(1 - alpha/2) · sd/√n`, in the unit of the values.
///
/// On log ratios that is the geometric mean. `None` for fewer than two values, values that are not finite, or an
/// `alpha` outside (0, 1).
pub fn mean_t(values: &[f64], alpha: f64) -> Option<Interval> {
    let (mean, sd) = moments(values)?;
    let n = values.len();
    let t = -quantile(alpha / 2.0, (n - 1) as f64)?;
    let radius = t * sd / (n as f64).sqrt();
    let interval = Interval { estimate: mean, low: mean - radius, high: mean + radius, level: 1.0 - alpha, n };
    if alpha < 1.0 { interval.finite() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_have_their_known_values() {
        // From mpmath, 30 digits.
        for (p, df, t) in [
            (0.975, 1.0, 12.706_204_736_174_693),
            (0.975, 2.0, 4.302_652_729_749_462),
            (0.975, 4.0, 2.776_445_105_197_793_5),
            (0.975, 9.0, 2.262_157_162_798_205),
            (0.985, 7.0, 2.714_573_011_278_781),
            (0.985, 9.0, 2.573_803_977_546_803),
            (0.985, 63.0, 2.220_351_842_272_174),
            (0.6, 3.0, 0.276_670_662_332_689_85),
            (0.9995, 5.0, 6.868_826_625_881_275),
            (0.975, 0.5, 164.557_673_480_488_7),
            (0.975, 1e3, 1.962_339_080_826_408),
            (0.975, 1e5, 1.959_987_707_534_609_3),
            (0.975, 2e6, 1.959_965_170_676_374_6),
            (0.5, 9.0, 0.0),
        ] {
            let found = quantile(p, df).unwrap();
            assert!((found - t).abs() < 1e-10 * t.max(1.0), "t({p}, {df}) = {found}, not {t}");
            assert!((quantile(1.0 - p, df).unwrap() + t).abs() < 1e-9 * t.max(1.0));
        }
    }

    #[test]
    fn the_distribution_has_its_known_values() {
        for (t, df, p) in [
            (0.0, 3.0, 0.5),
            (1.0, 1.0, 0.75),
            (2.0, 5.0, 0.949_030_260_585_070_8),
            (-3.0, 10.0, 0.006_671_827_511_284_789),
            (0.01, 30.0, 0.503_956_253_713_411_1),
            (50.0, 4.0, 0.999_999_521_277_317_1),
            (f64::INFINITY, 4.0, 1.0),
            (f64::NEG_INFINITY, 4.0, 0.0),
        ] {
            let found = cdf(t, df).unwrap();
            assert!((found - p).abs() < 1e-14, "P(T <= {t}; {df}) = {found}, not {p}");
        }
    }

    #[test]
    fn quantiles_and_distribution_undo_each_other() {
        for df in [1.0, 2.5, 7.0, 30.0, 999.0, 1e7] {
            for p in [1e-6, 0.01, 0.3, 0.5, 0.77, 0.999] {
                let there_and_back = cdf(quantile(p, df).unwrap(), df).unwrap();
                assert!((there_and_back - p).abs() < 1e-12, "{p} {df}: {there_and_back}");
            }
        }
    }

    #[test]
    fn the_golden_vector_has_its_t_interval() {
        let d = [0.0953, 0.1044, 0.0862, 0.1103, 0.0917, 0.0998, 0.1270, 0.0841, 0.1011, 0.0960];
        let found = mean_t(&d, 0.05).unwrap();
        assert!((found.estimate - 0.09959).abs() < 1e-12);
        assert!((found.low - 0.0906544).abs() < 5e-8);
        assert!((found.high - 0.1085256).abs() < 5e-8);
        assert_eq!((found.level, found.n), (0.95, 10));
    }

    #[test]
    fn impossible_arguments_have_no_answer() {
        for p in [0.0, 1.0, -0.1, f64::NAN] {
            assert_eq!(quantile(p, 5.0), None);
        }
        for df in [0.0, -1.0, f64::NAN] {
            assert_eq!(quantile(0.9, df), None);
            assert_eq!(cdf(1.0, df), None);
        }
        assert_eq!(cdf(f64::NAN, 5.0), None);
        assert_eq!(quantile(0.9, f64::INFINITY).map(|t| t < 1.29), Some(true));
        for bad in [&[][..], &[1.0], &[1.0, f64::NAN], &[f64::MAX, f64::MIN]] {
            assert_eq!(mean_t(bad, 0.05), None);
        }
        for alpha in [0.0, 1.0, 1.5, 2.0, -1.0, f64::NAN] {
            assert_eq!(mean_t(&[1.0, 2.0, 3.0], alpha), None);
        }
    }
}
