//! Describing one arm: location and spread of plain values. Shapes are free; units are the values' own.

use crate::{interval::Interval, rank};

/// For normal data `1.4826 · MAD` estimates the standard deviation.
pub const MAD_TO_SD: f64 = 1.4826;

/// The mean and the standard deviation (divisor `n - 1`). `None` for fewer than two values, or if a value or a
/// result is not finite.
pub fn moments(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let mut running = Running::default();
    values.iter().for_each(|&value| running.push(value));
    let sd = (running.squares / (running.n - 1.0)).sqrt();
    (running.mean.is_finite() && sd.is_finite()).then_some((running.mean, sd))
}

/// Mean and sum of squared deviations, one value at a time (Welford 1962): exactly 0 for equal values.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Running {
    pub n: f64,
    pub mean: f64,
    pub squares: f64,
}

impl Running {
    pub fn push(&mut self, value: f64) {
        self.n += 1.0;
        let from_mean = value - self.mean;
        self.mean += from_mean / self.n;
        self.squares += from_mean * (value - self.mean);
    }
}

/// The mean; 0 of no values, and not finite if a value is not.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let mut running = Running::default();
    values.iter().for_each(|&value| running.push(value));
    running.mean
}

/// The values in rising order; `None` if there are none or one is not finite.
pub(crate) fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || !values.iter().all(|x| x.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

/// The `p` quantile, linear between order statistics: type 7 of Hyndman & Fan (1996), the default of R and NumPy.
/// `None` unless `0 <= p <= 1`, there is a value and all are finite.
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    let sorted = sorted(values)?;
    let at = p * (sorted.len() - 1) as f64;
    let (low, high) = (sorted.get(at.floor() as usize)?, sorted.get(at.ceil() as usize)?);
    let part = at.fract();
    Some(low * (1.0 - part) + high * part)
}

/// The median: the middle value, or the mean of the middle two. `None` if there is none or a value is not finite.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values)?;
    let n = sorted.len();
    Some(f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]))
}

/// The median absolute deviation from the median, unscaled (see [`MAD_TO_SD`]). `None` as for [`median`].
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    median(&values.iter().map(|x| (x - centre).abs()).collect::<Vec<_>>())
}

/// The robust coefficient of variation, `1.4826 · MAD / median`, as a fraction. `None` if the median is not positive.
pub fn robust_cv(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let cv = MAD_TO_SD * mad(values)? / centre;
    (centre > 0.0 && cv.is_finite()).then_some(cv)
}

/// The geometric mean. `None` if there is no value or one is not positive and finite.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !values.iter().all(|x| x.is_finite() && *x > 0.0) {
        return None;
    }
    Some(mean(&values.iter().map(|x| x.ln()).collect::<Vec<_>>()).exp())
}

/// The median with the distribution-free interval between order statistics `k` and `n + 1 - k`, `k` the largest with
/// `P(B <= k - 1) <= alpha/2`, `B` binomial (n, 1/2). Its level is the exact one (above 500 values the nominal one,
/// by normal approximation).
///
/// At `alpha = 0.05` it needs six values; with fewer it is `None`, as for values that are not finite.
pub fn median_interval(values: &[f64], alpha: f64) -> Option<Interval> {
    if !(alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    let sorted = sorted(values)?;
    let n = sorted.len();
    let tail = if n <= rank::EXACT_UP_TO {
        rank::lower_tail(fair_coin(n), alpha / 2.0)
    } else {
        rank::lower_tail_normal(n as f64 / 2.0, (n as f64).sqrt() / 2.0, alpha / 2.0)?
    };
    if tail.ranks == 0 {
        return None;
    }
    Some(Interval {
        estimate: median(values)?,
        low: sorted[tail.ranks - 1],
        high: sorted[n - tail.ranks],
        level: 1.0 - 2.0 * tail.mass,
        n,
    })
}

/// The probabilities of 0, 1, ..., n heads in n throws.
fn fair_coin(n: usize) -> impl Iterator<Item = f64> {
    let none = 0.5_f64.powi(n as i32);
    (0..=n).scan(none, move |p, heads| {
        let this = *p;
        *p *= (n - heads) as f64 / (heads + 1) as f64;
        Some(this)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_spread_of_a_few_values() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0];
        assert_eq!(median(&values), Some(3.5));
        assert_eq!(mad(&values), Some(2.0));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(mad(&[7.0]), Some(0.0));
        assert!((robust_cv(&values).unwrap() - 1.4826 * 2.0 / 3.5).abs() < 1e-15);
    }

    #[test]
    fn quantiles_are_those_of_r_and_numpy() {
        let values = [10.0, 20.0, 30.0, 40.0];
        assert_eq!(quantile(&values, 0.0), Some(10.0));
        assert_eq!(quantile(&values, 0.25), Some(17.5));
        assert_eq!(quantile(&values, 0.5), median(&values));
        assert_eq!(quantile(&values, 1.0), Some(40.0));
        assert_eq!(quantile(&values, 1.01), None);
        assert_eq!(quantile(&values, f64::NAN), None);
    }

    #[test]
    fn moments_use_n_minus_one() {
        let (mean, sd) = moments(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((mean - 5.0).abs() < 1e-15);
        assert!((sd - (32.0_f64 / 7.0).sqrt()).abs() < 1e-15);
        assert_eq!(moments(&[0.1; 10]), Some((0.1, 0.0)));
        assert_eq!(moments(&[1.0]), None);
        assert_eq!(moments(&[f64::MAX, f64::MIN]), None);
    }

    #[test]
    fn the_median_of_five_values_has_no_interval_and_of_six_it_has() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(median_interval(&values[..5], 0.05), None);
        let all = median_interval(&values, 0.05).unwrap();
        assert_eq!((all.estimate, all.low, all.high, all.n), (3.5, 1.0, 6.0, 6));
        assert!((all.level - 0.96875).abs() < 1e-15);
    }

    #[test]
    fn the_normal_approximation_joins_the_exact_ranks_of_the_median() {
        for n in [100, 300, 500] {
            let exact = rank::lower_tail(fair_coin(n), 0.025).ranks;
            let (mean, sd) = (n as f64 / 2.0, (n as f64).sqrt() / 2.0);
            let near = rank::lower_tail_normal(mean, sd, 0.025).unwrap().ranks;
            assert!(exact.abs_diff(near) <= 1, "{n}: {exact} {near}");
        }
        let many: Vec<f64> = (0..1001).map(f64::from).collect();
        let interval = median_interval(&many, 0.05).unwrap();
        assert_eq!(interval.estimate, 500.0);
        assert_eq!(interval.low + interval.high, 1000.0);
        assert!((interval.half_width() - 31.0).abs() <= 1.0);
    }

    #[test]
    fn a_geometric_mean_needs_positive_values() {
        assert!((geometric_mean(&[1.0, 10.0, 100.0]).unwrap() - 10.0).abs() < 1e-12);
        for bad in [&[][..], &[1.0, 0.0], &[1.0, -1.0], &[1.0, f64::NAN], &[f64::INFINITY]] {
            assert_eq!(geometric_mean(bad), None);
        }
    }

    #[test]
    fn nothing_describes_no_values_or_values_that_are_not_finite() {
        for bad in [&[][..], &[1.0, f64::NAN], &[f64::INFINITY, 1.0]] {
            assert_eq!(median(bad), None);
            assert_eq!(mad(bad), None);
            assert_eq!(robust_cv(bad), None);
            assert_eq!(quantile(bad, 0.5), None);
            assert_eq!(moments(bad), None);
            assert_eq!(median_interval(bad, 0.05), None);
        }
        assert_eq!(robust_cv(&[0.0, 0.0]), None);
        assert_eq!(median_interval(&[1.0; 20], 0.0), None);
    }
}
