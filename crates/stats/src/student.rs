//! Student's t distribution, to about 1e-9 or better, and the interval of the mean that it gives.

use crate::{beta, describe::moments, interval::Interval, normal, search::least};

/// Above so many degrees of freedom the normal approximation A&S 26.7.8 is better than 1e-12.
const NEARLY_NORMAL: f64 = 1e6;

/// `P(T <= t)` for `df` degrees of freedom (any positive number). `None` if `df` is not, or `t` is NaN.
pub fn cdf(t: f64, df: f64) -> Option<f64> {
    if !(df > 0.0) || t.is_nan() {
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
    if df > NEARLY_NORMAL {
        return normal::cdf(-t * (1.0 - 0.25 / df) / (1.0 + t * t / (2.0 * df)).sqrt());
    }
    let square = t * t;
    beta::incomplete(1.0 / (1.0 + square / df), 1.0 / (1.0 + df / square), df / 2.0, 0.5) / 2.0
}

/// The mean with its interval `mean ± t(1 - alpha/2) · sd/√n`, in the unit of the values.
///
/// On log ratios that is the geometric mean. `None` for fewer than two values, values that are not finite, or an
/// `alpha` outside (0, 1).
pub fn mean_t(values: &[f64], alpha: f64) -> Option<Interval> {
    let (mean, sd) = moments(values)?;
    let n = values.len();
    let radius = quantile(1.0 - alpha / 2.0, (n - 1) as f64)? * sd / (n as f64).sqrt();
    if !(alpha > 0.0) {
        return None;
    }
    Interval { estimate: mean, low: mean - radius, high: mean + radius, level: 1.0 - alpha, n }.finite()
}
