//! Whether values in time order tend to rise or to fall: the test of Mann (1945) and Kendall (1975).

use crate::rank;

/// Up to so many values, if none are equal, the p value is exact.
const EXACT_UP_TO: usize = 50;

/// The tendency of values in time order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Kendall's rank correlation with time (tau-b), -1 (always falling) to 1 (always rising); 0 if all are equal.
    pub tau: f64,
    /// The two-sided p value of the hypothesis that the values come in random order.
    pub p: f64,
}

/// The Mann-Kendall test of values in time order.
///
/// Up to 50 values without ties the p value is exact, by counting the orders with so many inversions. Else it is the
/// normal approximation with correction for ties and continuity (Kendall 1975), good from about ten values on. `None`
/// for fewer than three values, or if one is not finite.
pub fn mann_kendall(values: &[f64]) -> Option<Trend> {
    let n = values.len();
    if n < 3 || !values.iter().all(|x| x.is_finite()) {
        return None;
    }
    let ranks = rank::doubled_midranks(values);
    let ties = ties(&ranks);
    let score = score(&ranks);
    let pairs = (n * (n - 1) / 2) as f64;
    let untied = pairs - ties.iter().map(|t| t * (t - 1.0) / 2.0).sum::<f64>();
    let p = if ties.is_empty() && n <= EXACT_UP_TO {
        // Without ties the score is (pairs - inversions) - inversions.
        rank::two_sided(&inversions(n), ((pairs - score) / 2.0) as usize)
    } else {
        let spread = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
        let variance = spread(n as f64) - ties.iter().map(|&t| spread(t)).sum::<f64>();
        rank::two_sided_normal(score, 0.0, variance.sqrt(), 2.0)
    };
    Some(Trend { tau: if untied > 0.0 { score / (pairs * untied).sqrt() } else { 0.0 }, p })
}

/// How many values share a rank, for each rank that is shared.
fn ties(ranks: &[usize]) -> Vec<f64> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).filter(|equal| equal.len() > 1).map(|equal| equal.len() as f64).collect()
}

/// The rising pairs minus the falling ones, in O(n log n): a Fenwick tree (1994) counts the ranks met so far.
fn score(ranks: &[usize]) -> f64 {
    let mut met = vec![0_usize; 2 * ranks.len() + 1];
    let up_to = |met: &[usize], mut rank: usize| {
        let mut count = 0;
        while rank > 0 {
            count += met[rank];
            rank &= rank - 1;
        }
        count
    };
    let mut score = 0.0;
    for (before, &rank) in ranks.iter().enumerate() {
        let (smaller, greater) = (up_to(&met, rank - 1), before - up_to(&met, rank));
        score += smaller as f64 - greater as f64;
        let mut at = rank;
        while at < met.len() {
            met[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    score
}

/// How many orders of `n` different values have 0, 1, 2, ... inversions (the Mahonian numbers).
fn inversions(n: usize) -> Vec<f64> {
    let mut orders = vec![1.0];
    for size in 2..=n {
        // The value that comes last has 0 to size - 1 greater ones before it.
        let mut window = 0.0;
        orders = (0..orders.len() + size - 1)
            .map(|count| {
                window += orders.get(count).unwrap_or(&0.0);
                window -= count.checked_sub(size).map_or(0.0, |gone| orders[gone]);
                window
            })
            .collect();
    }
    orders
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn permutations(n: usize) -> Vec<Vec<f64>> {
        (1..=n).fold(vec![vec![]], |shorter, next| {
            shorter
                .iter()
                .flat_map(|order| {
                    (0..next).map(move |at| {
                        let mut order: Vec<f64> = order.clone();
                        order.insert(at, next as f64);
                        order
                    })
                })
                .collect()
        })
    }

    fn score_of_all_pairs(values: &[f64]) -> f64 {
        let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
        (0..values.len()).flat_map(|j| (0..j).map(move |i| (i, j))).map(|(i, j)| sign(values[j] - values[i])).sum()
    }

    #[test]
    fn the_p_value_without_ties_is_that_of_all_orders() {
        for n in 3..=7 {
            let orders = permutations(n);
            let scores: Vec<f64> = orders.iter().map(|order| score_of_all_pairs(order)).collect();
            for (order, score) in orders.iter().zip(&scores).step_by(7) {
                let beyond = scores.iter().filter(|other| other.abs() >= score.abs()).count();
                let enumerated = beyond as f64 / orders.len() as f64;
                let found = mann_kendall(order).unwrap();
                assert!((found.p - enumerated).abs() < 1e-12, "{order:?}: {found:?}, not {enumerated}");
            }
        }
    }

    #[test]
    fn known_series_have_their_golden_values() {
        // Exact: scipy.stats.kendalltau(method="exact"); with ties: pymannkendall.original_test, tau-b from scipy.
        let exact = [23.0, 31.0, 19.0, 40.0, 35.0, 28.0, 44.0, 50.0, 38.0, 61.0];
        let ties = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0, 9.0, 7.0, 9.0, 3.0];
        let long: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 61) + 0.4 * f64::from(i)).collect();
        for (values, tau, p) in [
            (&exact[..], 0.6, 0.016_666_115_520_282_188),
            (&ties, 0.417_786_374_293_674_77, 0.032_171_490_663_501_334),
            (&long, 0.308_474_576_271_186_46, 0.000_509_007_736_601_230_2),
        ] {
            let found = mann_kendall(values).unwrap();
            assert!((found.tau - tau).abs() < 1e-12 && (found.p - p).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn rising_and_falling_are_mirrored_and_equal_values_show_nothing() {
        let rising: Vec<f64> = (0..8).map(f64::from).collect();
        let falling: Vec<f64> = rising.iter().map(|x| -x).collect();
        let (up, down) = (mann_kendall(&rising).unwrap(), mann_kendall(&falling).unwrap());
        assert_eq!((up.tau, down.tau), (1.0, -1.0));
        assert!((up.p - 2.0 / 40320.0).abs() < 1e-18 && up.p == down.p);
        assert_eq!(mann_kendall(&[5.0; 9]), Some(Trend { tau: 0.0, p: 1.0 }));
    }

    #[test]
    fn too_few_or_bad_values_have_no_trend() {
        for bad in [&[][..], &[1.0, 2.0], &[1.0, 2.0, f64::NAN], &[f64::INFINITY; 5]] {
            assert_eq!(mann_kendall(bad), None);
        }
    }

    proptest! {
        #[test]
        fn the_score_is_that_of_all_pairs(
            values in prop::collection::vec(prop_oneof![-9.0..9.0, (-3..3).prop_map(f64::from)], 3..60),
        ) {
            let found = score(&rank::doubled_midranks(&values));
            prop_assert_eq!(found, score_of_all_pairs(&values));
        }
    }
}
