//! What pairing gains.

use crate::describe::moments;

/// The variance reduction factor, `(Var ln g + Var ln h) / Var d`: how many times fewer rounds the paired ratios `d`
/// take than unpaired values of the same scatter (1 = pairing gains nothing, below 1 = it costs).
///
/// Host, guest and `d` are those of the same rounds; the sign of `d` does not matter. Trust it from eight rounds on.
/// `None` if the lengths differ, for fewer than two rounds, values that are not finite, or a `d` that does not vary.
pub fn variance_reduction(host_logs: &[f64], guest_logs: &[f64], d: &[f64]) -> Option<f64> {
    if host_logs.len() != d.len() || guest_logs.len() != d.len() {
        return None;
    }
    let variance = |values: &[f64]| Some(moments(values)?.1.powi(2));
    let factor = (variance(host_logs)? + variance(guest_logs)?) / variance(d)?;
    factor.is_finite().then_some(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(host: &[f64], guest: &[f64]) -> Option<f64> {
        let d: Vec<f64> = host.iter().zip(guest).map(|(host, guest)| guest - host).collect();
        variance_reduction(host, guest, &d)
    }

    #[test]
    fn noise_that_both_sides_share_makes_pairing_worth_it() {
        let machine = [0.0, 0.3, -0.2, 0.5, -0.4, 0.1, 0.2, -0.5];
        let own = [0.01, -0.01, 0.01, 0.01, -0.01, -0.01, 0.01, -0.01];
        let guest: Vec<f64> = machine.iter().zip(own).map(|(machine, own)| machine + own).collect();
        assert!(factor(&machine, &guest).unwrap() > 100.0);
        let opposite: Vec<f64> = machine.iter().map(|x| -x).collect();
        assert!((factor(&machine, &opposite).unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn unrelated_sides_have_a_factor_of_one() {
        let (host, guest) = ([1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0]);
        assert!((factor(&host, &guest).unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn without_variation_or_with_bad_values_there_is_no_factor() {
        assert_eq!(factor(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0]), None);
        assert_eq!(factor(&[1.0], &[2.0]), None);
        assert_eq!(factor(&[1.0, f64::NAN], &[2.0, 1.0]), None);
        assert_eq!(variance_reduction(&[1.0, 2.0], &[1.0, 2.0], &[0.0, 0.1, 0.2]), None);
        assert_eq!(variance_reduction(&[1e200, -1e200], &[0.0, 1.0], &[0.0, 1.0]), None);
    }
}
