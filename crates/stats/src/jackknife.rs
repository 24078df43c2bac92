//! The interval of a number that is made from all runs together, such as a percentile of merged histograms.

use crate::{describe::moments, interval::Interval, student};

/// A percentile of the merged histograms of `R` runs with its interval, by the jackknife over runs on the log scale:
/// `θ = ln p_q(merged)`, `se = √((R-1)/R · Σ (θ₋ᵢ - θ̄)²)`, `θ ± t(R-1) · se`.
///
/// Runs, not samples, are what is repeated: an order-statistic interval of the pooled samples contains the truth in
/// little more than half of all cases when runs differ. `percentile` is that of the merged histogram,
/// `without_each[i]` that of all runs but the `i`-th, all in one unit; so are the ends of the interval. In simulation
/// its 95 % are 92 to 94. `None` for fewer than two runs, or unless all are positive and finite and so is the result.
pub fn pooled_percentile_interval(percentile: f64, without_each: &[f64], alpha: f64) -> Option<Interval> {
    let positive = |x: f64| x > 0.0 && x.is_finite();
    if !(positive(percentile) && without_each.iter().all(|&x| positive(x)) && alpha < 1.0) {
        return None;
    }
    let runs = without_each.len();
    let (_, sd) = moments(&without_each.iter().map(|x| x.ln()).collect::<Vec<_>>())?;
    let degrees = (runs - 1) as f64;
    let error = sd * degrees / (runs as f64).sqrt();
    let radius = -student::quantile(alpha / 2.0, degrees)? * error;
    let (low, high) = (percentile * (-radius).exp(), percentile * radius.exp());
    Interval { estimate: percentile, low, high, level: 1.0 - alpha, n: runs }.finite()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{geometric_mean, mean_t};

    #[test]
    fn for_a_geometric_mean_the_jackknife_is_the_t_interval_of_the_logs() {
        let runs: [f64; 6] = [1.2, 0.9, 1.5, 1.1, 3.0, 0.7];
        let without = |i: usize| geometric_mean(&[&runs[..i], &runs[i + 1..]].concat()).unwrap();
        let without_each: Vec<f64> = (0..6).map(without).collect();
        let found = pooled_percentile_interval(geometric_mean(&runs).unwrap(), &without_each, 0.05).unwrap();
        let t = mean_t(&runs.map(f64::ln), 0.05).unwrap();
        assert!((found.low.ln() - t.low).abs() < 1e-12 && (found.high.ln() - t.high).abs() < 1e-12);
        assert_eq!((found.n, found.level), (6, 0.95));
    }

    #[test]
    fn runs_that_agree_have_a_point_and_one_run_has_none() {
        let same = pooled_percentile_interval(2.0, &[2.0; 5], 0.05).unwrap();
        assert_eq!((same.low, same.high), (2.0, 2.0));
        assert_eq!(pooled_percentile_interval(2.0, &[2.0], 0.05), None);
        assert_eq!(pooled_percentile_interval(2.0, &[], 0.05), None);
    }

    #[test]
    fn what_is_no_percentile_has_no_interval() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(pooled_percentile_interval(bad, &[1.0, 2.0], 0.05), None);
            assert_eq!(pooled_percentile_interval(1.0, &[1.0, bad], 0.05), None);
        }
        for alpha in [0.0, 1.0, 1.5, f64::NAN] {
            assert_eq!(pooled_percentile_interval(1.0, &[1.0, 2.0], alpha), None);
        }
        assert_eq!(pooled_percentile_interval(1.0, &[1e-300, 1e300], 0.05), None, "wider than numbers go");
    }
}
