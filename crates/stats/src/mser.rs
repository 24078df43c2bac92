//! Where the warm-up of a run ends: MSER-m, the marginal standard error rule (White 1997; White, Cobb & Spratt 2000).

use crate::describe::{Running, mean};

/// Fewer samples than this have no rule: discard a fixed part instead.
const FEWEST: usize = 20;
/// From so many samples on, batches of five are used.
const LONG: usize = 100;

/// How many samples to discard at the start of a series. Use the greater cut for both sides of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truncation {
    /// The samples that belong to the warm-up.
    pub discard: usize,
    /// Whether the rest is a steady state. `false` (`NO_STEADY_STATE`) if the best cut is at the middle of the
    /// series, the latest that is looked at: the warm-up may not have ended there.
    pub steady: bool,
    /// The least value of the criterion: squared standard error of the mean of what is left.
    pub score: f64,
}

/// The cut of a series of samples, taken at equal intervals: MSER-5 from 100 samples on, MSER-1 from 20 on.
/// `None` for fewer, or if a sample is not finite.
pub fn mser(series: &[f64]) -> Option<Truncation> {
    match series.len() {
        LONG.. => mser_batched(series, 5),
        FEWEST.. => mser_batched(series, 1),
        _ => None,
    }
}

/// MSER-m: the means `Z` of batches of `batch` samples are cut where `Σ (Z_j - Z̄)² / (k - d)²` over the `k - d`
/// batches that are left is least, `d <= k/2`; of equal cuts the earliest. `None` for fewer than four whole batches or
/// if a sample is not finite.
pub fn mser_batched(series: &[f64], batch: usize) -> Option<Truncation> {
    if batch == 0 || series.len() / batch < 4 || !series.iter().all(|x| x.is_finite()) {
        return None;
    }
    let means: Vec<f64> = series.chunks_exact(batch).map(mean).collect();
    let latest = means.len() / 2;
    let mut rest = Running::default();
    let mut best: Option<(usize, f64)> = None;
    for (cut, &mean) in means.iter().enumerate().rev() {
        rest.push(mean);
        let score = rest.squares / (rest.n * rest.n);
        if cut <= latest && score.is_finite() && best.is_none_or(|(_, least)| score <= least) {
            best = Some((cut, score));
        }
    }
    let (cut, score) = best?;
    Some(Truncation { discard: cut * batch, steady: cut < latest, score })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_golden_series_has_no_steady_state() {
        let ramp = [50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 100.0, 99.0, 101.0, 100.0, 99.0, 100.0];
        let cut = mser_batched(&ramp, 1).unwrap();
        assert_eq!((cut.discard, cut.steady), (6, false));
        assert!((cut.score - 0.0787).abs() < 5e-5, "{}", cut.score);
    }

    #[test]
    fn a_short_ramp_is_cut_and_the_rest_is_steady() {
        let series: Vec<f64> =
            (0..200).map(|t| 100.0 - 30.0 * (-f64::from(t) / 5.0).exp() + f64::from(t * 7 % 11) / 10.0).collect();
        let cut = mser(&series).unwrap();
        assert!(cut.steady && (15..=50).contains(&cut.discard), "{cut:?}");
        assert_eq!(cut.discard % 5, 0);
        let short = mser(&series[..60]).unwrap();
        assert!(short.steady && (10..=30).contains(&short.discard), "{short:?}");
    }

    #[test]
    fn a_constant_series_is_kept_whole() {
        for n in [20, 99, 100, 300] {
            let cut = mser(&vec![0.1; n]).unwrap();
            assert_eq!(cut, Truncation { discard: 0, steady: true, score: 0.0 });
        }
    }

    #[test]
    fn a_series_that_only_rises_has_no_steady_state() {
        let rising: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(!mser(&rising).unwrap().steady);
    }

    #[test]
    fn a_series_that_is_too_short_or_not_finite_has_no_cut() {
        assert_eq!(mser(&[1.0; 19]), None);
        assert_eq!(mser_batched(&[1.0; 19], 5), None);
        assert_eq!(mser_batched(&[1.0; 30], 0), None);
        assert_eq!(mser(&[f64::NAN; 30]), None);
        let huge = [f64::MAX, f64::MIN].repeat(15);
        assert_eq!(mser(&huge), None);
    }
}
