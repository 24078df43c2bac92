//! Many comparisons at once: adjusted p values, to be compared with the level itself.

/// Holm's adjusted p values (1979), in the order given: for confirmatory families, valid under any dependence.
/// `None` if one is not in [0, 1].
pub fn holm(p: &[f64]) -> Option<Vec<f64>> {
    let m = p.len();
    let order = ascending(p)?;
    let mut greatest = 0.0_f64;
    Some(adjusted(order.into_iter().enumerate(), m, |step, at| {
        greatest = greatest.max(p[at] * (m - step) as f64);
        greatest
    }))
}

/// The adjusted p values of Benjamini & Hochberg (1995), in the order given: for exploratory tables, where the share
/// of false discoveries counts. `None` if one is not in [0, 1].
pub fn benjamini_hochberg(p: &[f64]) -> Option<Vec<f64>> {
    let m = p.len();
    let order = ascending(p)?;
    let mut least = 1.0_f64;
    Some(adjusted(order.into_iter().enumerate().rev(), m, |step, at| {
        least = least.min(p[at] * m as f64 / (step + 1) as f64);
        least
    }))
}

/// How many rounds the signed-rank test needs before it can reject at all in a family of `m` comparisons at level
/// `alpha`: `1 + log2(m/alpha)`, rounded up. `None` for an empty family or an `alpha` outside (0, 1).
pub fn rounds_for_family(m: usize, alpha: f64) -> Option<usize> {
    (m > 0 && alpha > 0.0 && alpha < 1.0).then(|| (1.0 + (m as f64 / alpha).log2()).ceil() as usize)
}

/// Indices from the least p value to the greatest.
fn ascending(p: &[f64]) -> Option<Vec<usize>> {
    if !p.iter().all(|p| (0.0..=1.0).contains(p)) {
        return None;
    }
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    Some(order)
}

/// Goes through (step, index) and puts each adjusted value, at most 1, to its index.
fn adjusted(
    steps: impl Iterator<Item = (usize, usize)>,
    m: usize,
    mut adjust: impl FnMut(usize, usize) -> f64,
) -> Vec<f64> {
    let mut all = vec![1.0; m];
    for (step, at) in steps {
        all[at] = adjust(step, at).min(1.0);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 8] = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205];

    fn close(found: &[f64], known: &[f64]) {
        assert_eq!(found.len(), known.len());
        for (a, b) in found.iter().zip(known) {
            assert!((a - b).abs() < 5e-7, "{found:?} is not {known:?}");
        }
    }

    #[test]
    fn both_adjustments_have_their_golden_values() {
        close(&holm(&P).unwrap(), &[0.008, 0.056, 0.234, 0.234, 0.234, 0.234, 0.234, 0.234]);
        close(&benjamini_hochberg(&P).unwrap(), &[0.008, 0.032, 0.0672, 0.0672, 0.0672, 0.08, 0.084571, 0.205]);
    }

    #[test]
    fn the_order_given_is_kept() {
        let mut turned = P;
        turned.reverse();
        for adjust in [holm, benjamini_hochberg] {
            let mut expected = adjust(&P).unwrap();
            expected.reverse();
            assert_eq!(adjust(&turned).unwrap(), expected);
        }
    }

    #[test]
    fn no_adjusted_value_exceeds_one_and_what_is_no_probability_has_none() {
        assert_eq!(holm(&[0.9, 0.8]), Some(vec![1.0, 1.0]));
        assert_eq!(holm(&[0.04]), Some(vec![0.04]));
        assert_eq!(holm(&[]), Some(vec![]));
        for bad in [f64::NAN, -0.1, 1.1] {
            assert_eq!(holm(&[0.5, bad]), None);
            assert_eq!(benjamini_hochberg(&[0.5, bad]), None);
        }
    }

    #[test]
    fn greater_families_need_more_rounds() {
        for (m, rounds) in [(6, 8), (20, 10), (100, 12)] {
            assert_eq!(rounds_for_family(m, 0.05), Some(rounds));
        }
        assert_eq!(rounds_for_family(0, 0.05), None);
        assert_eq!(rounds_for_family(6, f64::NAN), None);
    }
}
