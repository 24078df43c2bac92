//! The rank-sum test of Mann & Whitney (1947) and Wilcoxon, for samples that are not paired.

use crate::rank::{self, Tail};

/// Samples up to this size each have exact p values, as in benchstat.
const EXACT_UP_TO: usize = 50;

/// The two-sided p value of the hypothesis that both samples have the same distribution.
///
/// Exact up to 50 values on each side, by counting all ways to divide the ranks; equal values get midranks, and the
/// p value is then the exact one given the ties. Above that by normal approximation with correction for ties and
/// continuity. `None` if a sample is empty or a value is not finite.
pub fn mann_whitney_p(a: &[f64], b: &[f64]) -> Option<f64> {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let pooled = [few, many].concat();
    if few.is_empty() || !pooled.iter().all(|x| x.is_finite()) {
        return None;
    }
    let mut ranks = rank::doubled_midranks(&pooled);
    let rank_sum = |ranks: &[usize]| ranks[..few.len()].iter().sum::<usize>();
    if many.len() <= EXACT_UP_TO {
        if ranks.iter().all(|rank| rank % 2 == 0) {
            ranks.iter_mut().for_each(|rank| *rank /= 2); // half as many sums to count
        }
        return Some(rank::two_sided(&ways(&ranks, few.len()), rank_sum(&ranks)));
    }
    let observed = rank_sum(&ranks);
    let (m, n, all) = (few.len() as f64, many.len() as f64, pooled.len() as f64);
    let mean_rank = all + 1.0; // doubled, as the ranks are
    let squares: f64 = ranks.iter().map(|&rank| (rank as f64 - mean_rank).powi(2)).sum();
    let sd = (m * n * squares / (all * (all - 1.0))).sqrt();
    Some(rank::two_sided_normal(observed as f64, m * mean_rank, sd, 2.0))
}

/// The lower tail of U, of how many of the `m · n` differences between two samples are negative, when the samples have
/// the same distribution: how many values of U fit into `tail`. `None` if `tail` is not in (0, 1).
pub(crate) fn lower_tail(m: usize, n: usize, tail: f64) -> Option<Tail> {
    let (few, many, all) = (m.min(n), m.max(n), m + n);
    if many <= EXACT_UP_TO {
        let ranks: Vec<usize> = (1..=all).collect();
        let ways = ways(&ranks, few);
        let total: f64 = ways.iter().sum();
        // U is the rank sum less its least value.
        return Some(rank::lower_tail(ways.iter().skip(few * (few + 1) / 2).map(|ways| ways / total), tail));
    }
    let pairs = few as f64 * many as f64;
    rank::lower_tail_normal(pairs / 2.0, (pairs * (all as f64 + 1.0) / 12.0).sqrt(), tail)
}

/// In how many ways `size` of the ranks have the sum 0, 1, 2, ...
fn ways(ranks: &[usize], size: usize) -> Vec<f64> {
    let mut greatest = ranks.to_vec();
    greatest.sort_unstable_by(|a, b| b.cmp(a));
    let most: usize = greatest.iter().take(size).sum();
    let mut ways = vec![vec![0.0; most + 1]; size + 1];
    ways[0][0] = 1.0;
    for (seen, &rank) in ranks.iter().enumerate() {
        // No more can be taken than were seen, and the rest must suffice to take all.
        for taken in ((size + seen + 1).saturating_sub(ranks.len()).max(1)..=size.min(seen + 1)).rev() {
            let (fewer, these) = ways.split_at_mut(taken);
            for (sum, lower) in these[0].iter_mut().skip(rank).zip(&fewer[taken - 1]) {
                *sum += lower;
            }
        }
    }
    ways.swap_remove(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fully_separated_samples_have_their_golden_value() {
        let p = mann_whitney_p(&[0.10, 0.11, 0.12, 0.13, 0.14], &[0.15, 0.16, 0.17, 0.18, 0.19]);
        assert!((p.unwrap() - 2.0 / 252.0).abs() < 1e-15);
        let p = mann_whitney_p(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]);
        assert!((p.unwrap() - 2.0 / 70.0).abs() < 1e-15);
    }

    #[test]
    fn the_p_value_with_ties_is_that_of_all_divisions() {
        let (a, b) = ([1.0, 2.0, 2.0, 3.0], [2.0, 3.0, 3.0, 4.0, 5.0]);
        let ranks = rank::doubled_midranks(&[&a[..], &b[..]].concat());
        let observed: usize = ranks[..4].iter().sum();
        let sums: Vec<usize> = (0..1_u32 << 9)
            .filter(|chosen| chosen.count_ones() == 4)
            .map(|chosen| (0..9).filter(|i| chosen >> i & 1 == 1).map(|i| ranks[i]).sum())
            .collect();
        let low = sums.iter().filter(|&&sum| sum <= observed).count();
        let high = sums.iter().filter(|&&sum| sum >= observed).count();
        let enumerated = 2.0 * low.min(high) as f64 / sums.len() as f64;
        assert!((mann_whitney_p(&a, &b).unwrap() - enumerated).abs() < 1e-15);
        assert_eq!(mann_whitney_p(&a, &b), mann_whitney_p(&b, &a));
    }

    #[test]
    fn the_normal_approximation_joins_the_exact_value() {
        let values = |n: u32, by: f64| (0..n).map(|i| f64::from(i * 7 % 41) + by).collect::<Vec<_>>();
        let exact = mann_whitney_p(&values(50, 0.0), &values(50, 4.5)).unwrap();
        let near = mann_whitney_p(&values(50, 0.0), &values(51, 4.5)).unwrap();
        assert!((exact - near).abs() < 0.02, "{exact} {near}");
    }

    #[test]
    fn equal_values_show_no_difference_and_no_values_no_answer() {
        assert_eq!(mann_whitney_p(&[1.0; 5], &[1.0; 6]), Some(1.0));
        assert_eq!(mann_whitney_p(&[1.0; 60], &[1.0; 60]), Some(1.0));
        assert_eq!(mann_whitney_p(&[1.0], &[2.0]), Some(1.0));
        assert_eq!(mann_whitney_p(&[], &[1.0]), None);
        assert_eq!(mann_whitney_p(&[1.0], &[f64::NAN]), None);
    }
}
