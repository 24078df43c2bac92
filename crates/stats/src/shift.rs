//! By how much one sample lies above another that it is not paired with: the Hodges-Lehmann shift with the interval
//! that inverts the Mann-Whitney test (Hodges & Lehmann 1963; Hollander & Wolfe, ch. 4).

use crate::{describe::sorted, interval::Interval, mann_whitney, rank, search::least};

/// The shift of `b` against `a`, the median of all differences `b_j - a_i`, with its interval at level `1 - alpha` or
/// a little more: between the `k`-th smallest and the `k`-th greatest difference, `k` the largest with
/// `P(U <= k - 1) <= alpha/2`.
///
/// The `level` is the exact one if neither sample has more than 50 values, else the nominal one by normal
/// approximation with continuity correction. `n` counts the values of both. Equal values make the interval wider than
/// need be, never narrower. `None` if there are too few values for this `alpha` (four on each side give 95 %), if one is
/// not finite, or `alpha` is outside (0, 1).
pub fn shift(a: &[f64], b: &[f64], alpha: f64) -> Option<Interval> {
    if !(alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    let (a, b) = (sorted(a)?, sorted(b)?);
    let differences = a.len() * b.len();
    let rank::Tail { ranks: k, mass } = mann_whitney::lower_tail(a.len(), b.len(), alpha / 2.0)?;
    if k == 0 {
        return None;
    }
    let nth = |k| difference(&a, &b, k);
    let interval = Interval {
        estimate: f64::midpoint(nth(differences.div_ceil(2))?, nth(differences / 2 + 1)?),
        low: nth(k)?,
        high: nth(differences + 1 - k)?,
        level: 1.0 - 2.0 * mass,
        n: a.len() + b.len(),
    };
    interval.finite()
}

/// The `k`-th smallest difference (from 1) of two sorted samples, in O(n) memory: the least number that `k`
/// differences do not exceed.
fn difference(a: &[f64], b: &[f64], k: usize) -> Option<f64> {
    let (least_difference, greatest) = (b.first()? - a.last()?, b.last()? - a.first()?);
    least(least_difference, greatest, |limit| differences_up_to(a, b, limit) >= k)
}

/// How many differences of two sorted samples are at most `limit`. As `b` rises, fewer of `a` are near enough.
fn differences_up_to(a: &[f64], b: &[f64], limit: f64) -> usize {
    let mut begin = 0;
    let mut count = 0;
    for b in b {
        while begin < a.len() && b - a[begin] > limit {
            begin += 1;
        }
        count += a.len() - begin;
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mann_whitney_p;

    const A: [f64; 8] = [0.0953, 0.1044, 0.0862, 0.1103, 0.0917, 0.0998, 0.1270, 0.0841];
    const B: [f64; 10] = [0.1201, 0.1189, 0.1342, 0.1013, 0.1127, 0.1260, 0.1098, 0.1405, 0.1154, 0.1233];

    #[test]
    fn known_samples_have_their_golden_shift() {
        // All differences sorted with NumPy; the distribution of U and the p value from SciPy.
        let at_05 = shift(&A, &B, 0.05).unwrap();
        let at_01 = shift(&A, &B, 0.01).unwrap();
        for (found, low, high, level) in
            [(at_05, 0.0083, 0.0343, 0.956_579_368_344_074), (at_01, 0.0015, 0.0389, 0.991_452_991_452_991)]
        {
            assert!((found.estimate - 0.0213).abs() < 1e-12 && found.n == 18);
            assert!((found.low - low).abs() < 1e-12 && (found.high - high).abs() < 1e-12, "{found:?}");
            assert!((found.level - level).abs() < 1e-12, "{found:?}");
        }
        assert!((mann_whitney_p(&A, &B).unwrap() - 0.008_547_008_547_008_548).abs() < 1e-12);
    }

    #[test]
    fn three_values_have_no_95_percent_interval_and_four_have() {
        assert_eq!(shift(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.05), None);
        let four = shift(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0], 0.05).unwrap();
        assert_eq!((four.estimate, four.low, four.high), (10.0, 7.0, 13.0));
        assert!((four.level - (1.0 - 2.0 / 70.0)).abs() < 1e-12);
    }

    #[test]
    fn the_normal_approximation_joins_the_exact_interval() {
        let values = |n: u32, by: f64| (0..n).map(|i| f64::from(i * 7 % 53) + by).collect::<Vec<_>>();
        let exact = shift(&values(50, 0.0), &values(50, 4.5), 0.05).unwrap();
        let near = shift(&values(50, 0.0), &values(51, 4.5), 0.05).unwrap();
        assert!((exact.low - near.low).abs() <= 1.0 && (exact.high - near.high).abs() <= 1.0, "{exact:?} {near:?}");
    }

    #[test]
    fn what_is_not_data_has_no_shift() {
        assert_eq!(shift(&[], &A, 0.05), None);
        assert_eq!(shift(&A, &[f64::NAN; 8], 0.05), None);
        assert_eq!(shift(&[f64::MAX; 8], &[f64::MIN; 8], 0.05), None);
        for alpha in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!(shift(&A, &B, alpha), None);
        }
    }

    fn sample() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(prop_oneof![-9.0..9.0, (-3..3).prop_map(f64::from)], 1..14)
    }

    proptest! {
        #[test]
        fn differences_are_found_as_if_all_were_sorted(a in sample(), b in sample()) {
            let (a, b) = (sorted(&a).unwrap(), sorted(&b).unwrap());
            let all = sorted(&b.iter().flat_map(|b| a.iter().map(move |a| b - a)).collect::<Vec<_>>()).unwrap();
            for (k, expected) in all.iter().enumerate() {
                prop_assert_eq!(difference(&a, &b, k + 1), Some(*expected));
            }
        }

        #[test]
        fn the_interval_excludes_zero_exactly_when_the_test_rejects(
            a in prop::collection::vec(-1.0..1.0, 4..20),
            b in prop::collection::vec(-0.5..1.5, 4..20),
        ) {
            let interval = shift(&a, &b, 0.05).unwrap();
            prop_assert_eq!(!interval.contains(0.0), mann_whitney_p(&a, &b).unwrap() <= 0.05);
        }

        #[test]
        fn swapping_the_samples_mirrors_the_interval(a in sample(), b in sample()) {
            prop_assert_eq!(shift(&a, &b, 0.05).map(Interval::mirrored), shift(&b, &a, 0.05));
        }
    }
}
