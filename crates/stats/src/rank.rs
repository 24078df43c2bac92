//! What the rank methods share: midranks and the tails of their null distributions.

use crate::normal;

/// Up to this many values null distributions are exact, above it normal with continuity correction.
pub(crate) const EXACT_UP_TO: usize = 500;

/// How many of a distribution's lowest values fit into a lower tail, and their mass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tail {
    pub ranks: usize,
    pub mass: f64,
}

/// The largest `k` with `P(T <= k - 1) <= tail`, where `pmf` gives `P(T = 0), P(T = 1), ...`.
pub(crate) fn lower_tail(pmf: impl IntoIterator<Item = f64>, tail: f64) -> Tail {
    let mut fitting = Tail { ranks: 0, mass: 0.0 };
    for p in pmf {
        let mass = fitting.mass + p;
        if mass > tail {
            break;
        }
        fitting = Tail { ranks: fitting.ranks + 1, mass };
    }
    fitting
}

/// [`lower_tail`] of a whole-numbered variable that is nearly normal, with continuity correction.
pub(crate) fn lower_tail_normal(mean: f64, sd: f64, tail: f64) -> Option<Tail> {
    let last = (mean - 0.5 + normal::quantile(tail)? * sd).floor();
    Some(Tail { ranks: (last + 1.0).max(0.0) as usize, mass: tail })
}

/// The two-sided p value of `observed` under a distribution given by the weights of 0, 1, 2, ...:
/// twice the smaller tail, at most 1.
pub(crate) fn two_sided(weights: &[f64], observed: usize) -> f64 {
    let total: f64 = weights.iter().sum();
    let below: f64 = weights.iter().take(observed + 1).sum();
    let above: f64 = weights.iter().skip(observed).sum();
    (2.0 * below.min(above) / total).min(1.0)
}

/// [`two_sided`] for a nearly normal variable that moves in steps of at least `step`; 1 if it cannot vary.
pub(crate) fn two_sided_normal(observed: f64, mean: f64, sd: f64, step: f64) -> f64 {
    let distance = ((observed - mean).abs() - step / 2.0).max(0.0);
    if sd > 0.0 { (2.0 * normal::cdf(-distance / sd)).min(1.0) } else { 1.0 }
}

/// Twice the midrank (mean rank of equal values, from 1) of each value: doubled, so that it is a whole number.
pub(crate) fn doubled_midranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        for &at in equal {
            ranks[at] = 2 * before + equal.len() + 1;
        }
        before += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_the_mean_of_their_ranks() {
        assert_eq!(doubled_midranks(&[3.0, 1.0, 2.0]), [6, 2, 4]);
        assert_eq!(doubled_midranks(&[1.0, 1.0, 5.0, 1.0]), [4, 4, 8, 4]);
        assert_eq!(doubled_midranks(&[0.0, -0.0]), [3, 3]);
        assert!(doubled_midranks(&[]).is_empty());
    }

    #[test]
    fn a_tail_takes_what_fits_and_no_more() {
        let pmf = [0.25; 4];
        assert_eq!(lower_tail(pmf, 0.5), Tail { ranks: 2, mass: 0.5 });
        assert_eq!(lower_tail(pmf, 0.2), Tail { ranks: 0, mass: 0.0 });
        assert_eq!(lower_tail(pmf, f64::NAN).ranks, 4);
    }
}
