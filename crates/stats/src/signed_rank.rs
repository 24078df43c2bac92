//! Wilcoxon's signed-rank test and the Hodges-Lehmann estimate with the interval that inverts it
//! (Hodges & Lehmann 1963; Hollander & Wolfe, Nonparametric Statistical Methods, ch. 3).
//!
//! The estimate is the median of the Walsh averages `(d_i + d_j) / 2, i <= j`, the interval lies between the `k`-th
//! smallest and the `k`-th greatest of them. Its level is exact for every continuous symmetric distribution of `d`,
//! and pairing is what makes `d` symmetric.

use std::{cell::RefCell, collections::BTreeMap};

use crate::{
    describe::sorted,
    interval::Interval,
    rank::{self, EXACT_UP_TO, Tail},
    search::least,
};

/// The pseudomedian: the median of all Walsh averages. `None` if there is no value or one is not finite.
pub fn pseudomedian(values: &[f64]) -> Option<f64> {
    centre(&sorted(values)?)
}

/// The pseudomedian with its signed-rank interval at level `1 - alpha` or a little more: `level` is the exact one
/// (above 500 values the nominal one, by normal approximation with continuity correction).
///
/// `None` if there are too few values for this `alpha` (six give 95 %, seven 97 %), if a value is not finite, or
/// `alpha` is outside (0, 1). The order of the values does not matter.
pub fn hodges_lehmann(values: &[f64], alpha: f64) -> Option<Interval> {
    let sorted = sorted(values)?;
    let n = sorted.len();
    let Tail { ranks: k, mass } = critical(n, alpha)?;
    Some(Interval {
        estimate: centre(&sorted)?,
        low: walsh(&sorted, k)?,
        high: walsh(&sorted, averages(n) + 1 - k)?,
        level: 1.0 - 2.0 * mass,
        n,
    })
}

/// The rank `k` of the Walsh averages (from below and from above, from 1) that end the interval for `n` values: the
/// largest `k` with `P(T⁺ <= k - 1) <= alpha/2`. `None` if even `k = 1` is too much.
pub fn critical_rank(n: usize, alpha: f64) -> Option<usize> {
    Some(critical(n, alpha)?.ranks)
}

/// The two-sided p value of the hypothesis that the values are symmetric about 0.
///
/// Zeros are ranked with the others and their ranks then left out (Pratt 1959), equal distances from 0 get midranks;
/// given those, the p value is exact up to 500 values, by normal approximation with continuity correction above.
/// If all values are 0 it is 1. `None` if there is no value or one is not finite. The least possible p value is
/// `2^(1-n)`.
pub fn signed_rank_p(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !values.iter().all(|x| x.is_finite()) {
        return None;
    }
    let distances: Vec<f64> = values.iter().map(|x| x.abs()).collect();
    let ranks = rank::doubled_midranks(&distances);
    let ranked = || values.iter().zip(ranks.iter().copied());
    let plus: usize = ranked().filter(|(x, _)| **x > 0.0).map(|(_, rank)| rank).sum();
    let signed: Vec<usize> = ranked().filter(|(x, _)| **x != 0.0).map(|(_, rank)| rank).collect();
    if values.len() <= EXACT_UP_TO {
        return Some(rank::two_sided(&sum_distribution(signed), plus));
    }
    let mean = signed.iter().sum::<usize>() as f64 / 2.0;
    let sd = signed.iter().map(|&rank| (rank as f64 / 2.0).powi(2)).sum::<f64>().sqrt();
    Some(rank::two_sided_normal(plus as f64, mean, sd, 2.0))
}

thread_local! {
    /// What [`critical`] found for (n, alpha): 5 ms for 500 values, and all benchmarks of a study ask for the same.
    static KNOWN: RefCell<BTreeMap<(usize, u64), Option<Tail>>> = const { RefCell::new(BTreeMap::new()) };
}

fn critical(n: usize, alpha: f64) -> Option<Tail> {
    if n == 0 || !(alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    KNOWN.with_borrow_mut(|known| *known.entry((n, alpha.to_bits())).or_insert_with(|| compute_critical(n, alpha)))
}

fn compute_critical(n: usize, alpha: f64) -> Option<Tail> {
    let tail = if n <= EXACT_UP_TO {
        rank::lower_tail(sum_distribution(1..=n), alpha / 2.0)
    } else {
        let m = n as f64;
        let sd = (m * (m + 1.0) * (2.0 * m + 1.0) / 24.0).sqrt();
        rank::lower_tail_normal(m * (m + 1.0) / 4.0, sd, alpha / 2.0)?
    };
    (tail.ranks > 0).then_some(tail)
}

/// The null distribution of T⁺, the sum of those ranks whose value is positive, when each is with probability 1/2:
/// the probabilities of the sums 0, 1, 2, ... For no more than [`EXACT_UP_TO`] ranks: 2^500 ways are still a number.
fn sum_distribution(ranks: impl IntoIterator<Item = usize>) -> Vec<f64> {
    let (mut ways, mut share) = (vec![1.0], 1.0);
    for rank in ranks {
        ways.resize(ways.len() + rank, 0.0);
        share /= 2.0;
        // Each sum gains the ways of the sum `rank` below it. In blocks of `rank` from the top no block overlaps the
        // one that it reads, so that the compiler can add many at once.
        let mut end = ways.len();
        while end > rank {
            let begin = (end - rank).max(rank);
            let (below, block) = ways[..end].split_at_mut(begin);
            for (sum, lower) in block.iter_mut().zip(&below[begin - rank..]) {
                *sum += lower;
            }
            end = begin;
        }
    }
    ways.iter_mut().for_each(|ways| *ways *= share);
    ways
}

/// How many Walsh averages `n` values have.
fn averages(n: usize) -> usize {
    n * (n + 1) / 2
}

fn centre(sorted: &[f64]) -> Option<f64> {
    let all = averages(sorted.len());
    Some(f64::midpoint(walsh(sorted, all.div_ceil(2))?, walsh(sorted, all / 2 + 1)?))
}

/// The `k`-th smallest Walsh average (from 1) of sorted values, in O(n) memory: the least number that `k` averages do
/// not exceed.
fn walsh(sorted: &[f64], k: usize) -> Option<f64> {
    least(*sorted.first()?, *sorted.last()?, |limit| averages_up_to(sorted, limit) >= k)
}

/// How many Walsh averages of sorted values are at most `limit`. As `i` rises, the last `j` that fits falls.
fn averages_up_to(sorted: &[f64], limit: f64) -> usize {
    let mut end = sorted.len();
    let mut count = 0;
    for (i, &value) in sorted.iter().enumerate() {
        while end > i && f64::midpoint(value, sorted[end - 1]) > limit {
            end -= 1;
        }
        if end <= i {
            break;
        }
        count += end - i;
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOLDEN: [f64; 10] = [0.0953, 0.1044, 0.0862, 0.1103, 0.0917, 0.0998, 0.1270, 0.0841, 0.1011, 0.0960];

    fn close(found: f64, known: f64) {
        assert!((found - known).abs() < 1e-12, "{found} is not {known}");
    }

    #[test]
    fn the_golden_vector_has_its_intervals() {
        let at_05 = hodges_lehmann(&GOLDEN, 0.05).unwrap();
        close(at_05.estimate, 0.0982);
        close(at_05.low, 0.0911);
        close(at_05.high, 0.10935);
        assert!((at_05.level - 0.951172).abs() < 5e-7);
        assert_eq!(at_05.n, 10);

        let at_03 = hodges_lehmann(&GOLDEN, 0.03).unwrap();
        close(at_03.estimate, 0.0982);
        close(at_03.low, 0.09005);
        close(at_03.high, 0.11115);
        assert_eq!((critical_rank(10, 0.05), critical_rank(10, 0.03)), (Some(9), Some(7)));
    }

    #[test]
    fn the_golden_vector_has_its_p_value() {
        close(signed_rank_p(&GOLDEN.map(|d| d - 0.09)).unwrap(), 0.02734375);
    }

    #[test]
    fn the_critical_ranks_are_those_of_the_tables() {
        let at_05 = [(6, 1), (7, 3), (8, 4), (9, 6), (10, 9), (12, 14), (16, 30), (20, 53), (32, 160), (64, 748)];
        let at_03 = [
            (7, 1),
            (8, 3),
            (9, 5),
            (10, 7),
            (12, 12),
            (14, 19),
            (16, 27),
            (20, 48),
            (24, 75),
            (28, 109),
            (32, 149),
            (40, 250),
            (48, 378),
            (64, 717),
        ];
        for (table, alpha) in [(&at_05[..], 0.05), (&at_03[..], 0.03)] {
            for &(n, k) in table {
                assert_eq!(critical_rank(n, alpha), Some(k), "n = {n}, alpha = {alpha}");
            }
        }
        assert_eq!(critical_rank(5, 0.05), None);
        assert_eq!(critical_rank(6, 0.03), None);
    }

    #[test]
    fn the_null_distribution_is_that_of_all_signs() {
        for n in 1..=12 {
            let mut counts = vec![0_u32; averages(n) + 1];
            for signs in 0..1_u32 << n {
                counts[(1..=n).filter(|r| signs >> (r - 1) & 1 == 1).sum::<usize>()] += 1;
            }
            let all = f64::from(1_u32 << n);
            let enumerated: Vec<f64> = counts.into_iter().map(|c| f64::from(c) / all).collect();
            assert_eq!(sum_distribution(1..=n), enumerated, "n = {n}");
        }
    }

    /// The p value by going through all 2^n signs.
    fn p_of_all_signs(values: &[f64]) -> f64 {
        let ranks = rank::doubled_midranks(&values.iter().map(|x| x.abs()).collect::<Vec<_>>());
        let plus = |positive: &dyn Fn(usize) -> bool| -> usize {
            (0..values.len()).filter(|&i| values[i] != 0.0 && positive(i)).map(|i| ranks[i]).sum()
        };
        let observed = plus(&|i| values[i] > 0.0);
        let all = 1_u32 << values.len();
        let sums: Vec<usize> = (0..all).map(|signs| plus(&|i| signs >> i & 1 == 1)).collect();
        let low = sums.iter().filter(|&&sum| sum <= observed).count();
        let high = sums.iter().filter(|&&sum| sum >= observed).count();
        (2.0 * low.min(high) as f64 / f64::from(all)).min(1.0)
    }

    #[test]
    fn ties_and_zeros_keep_the_p_value_exact() {
        for values in [
            &[0.0, 0.0, 1.0, 1.0, -1.0, 2.0, 3.0][..],
            &[1.0, 1.0, 1.0, 1.0, 1.0, -1.0],
            &[0.0, 0.0, 0.0, 5.0],
            &[-2.0, -2.0, -3.0, 0.5, 0.5, 0.0, -7.0, -8.0],
        ] {
            close(signed_rank_p(values).unwrap(), p_of_all_signs(values));
        }
        assert_eq!(signed_rank_p(&[0.0, 0.0, 0.0]), Some(1.0));
        assert_eq!(signed_rank_p(&[1.0; 10]), Some(2.0_f64.powi(-9)));
    }

    #[test]
    fn the_normal_approximation_joins_the_exact_ranks() {
        let exact = critical_rank(500, 0.05).unwrap() as f64;
        let near = critical_rank(501, 0.05).unwrap() as f64;
        assert!((near - exact) > 0.0 && (near - exact) < 260.0, "{exact} {near}");

        let drift: Vec<f64> = (0..501).map(|i| f64::from(i % 7) - 2.9).collect();
        let exact = signed_rank_p(&drift[..500]).unwrap();
        let near = signed_rank_p(&drift).unwrap();
        assert!((exact - near).abs() < 0.02, "{exact} {near}");
    }

    #[test]
    fn what_is_not_data_has_no_answer() {
        for bad in [&[][..], &[f64::NAN; 10], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, f64::INFINITY]] {
            assert_eq!(pseudomedian(bad), None);
            assert_eq!(hodges_lehmann(bad, 0.05), None);
            assert_eq!(signed_rank_p(bad), None);
        }
        assert_eq!(hodges_lehmann(&[1.0; 5], 0.05), None);
        for alpha in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!(hodges_lehmann(&GOLDEN, alpha), None);
        }
        assert_eq!(critical_rank(0, 0.05), None);
    }

    #[test]
    fn one_value_is_its_own_pseudomedian_and_huge_values_do_not_overflow() {
        assert_eq!(pseudomedian(&[3.0]), Some(3.0));
        assert_eq!(pseudomedian(&[f64::MAX; 9]), Some(f64::MAX));
        assert!(hodges_lehmann(&[f64::MAX, f64::MIN, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 0.05).is_some());
    }

    proptest! {
        #[test]
        fn walsh_averages_are_found_as_if_all_were_sorted(
            values in prop::collection::vec(prop_oneof![-9.0..9.0, (-3..3).prop_map(f64::from)], 1..25),
        ) {
            let values = sorted(&values).unwrap();
            let mut all = Vec::new();
            for (i, a) in values.iter().enumerate() {
                all.extend(values[i..].iter().map(|b| f64::midpoint(*a, *b)));
            }
            let all = sorted(&all).unwrap();
            for (k, average) in all.iter().enumerate() {
                prop_assert_eq!(walsh(&values, k + 1), Some(*average));
            }
            prop_assert_eq!(centre(&values), crate::median(&all));
        }

        #[test]
        fn the_interval_excludes_zero_exactly_when_the_test_rejects(
            values in prop::collection::vec(-1.0..1.5, 8..30),
        ) {
            let interval = hodges_lehmann(&values, 0.05).unwrap();
            let p = signed_rank_p(&values).unwrap();
            prop_assert_eq!(!interval.contains(0.0), p <= 0.05);
        }
    }
}
