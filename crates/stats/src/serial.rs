//! Serial correlation: how much less a series of values in time order says than as many independent ones.

use crate::describe::{MAD_TO_SD, mad, moments};

/// A lag-1 correlation of `d` above this deserves the advisory `SERIAL_CORRELATION`.
pub const CORRELATED: f64 = 0.3;

/// The greatest correlation that is corrected for.
const MOST: f64 = 0.9;

/// The serial correlation of values in time order, and what follows from it for their interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Serial {
    /// Lag-1 correlation of the winsorised residuals, corrected for its bias in short series; 0 where it has no
    /// meaning (fewer than three values, or `quantised`).
    pub lag1: f64,
    /// By how much the interval is stretched about its estimate, at least 1: `√((1+r)/(1-r))`, `r` = `lag1`
    /// clipped to 0 ... 0.9.
    pub factor: f64,
    /// At least half of the values are equal (MAD = 0): they have no measurable scale, and the factor is 1.
    pub quantised: bool,
}

impl Serial {
    /// Whether the correlation deserves a warning. Below some 60 values chance alone can do that.
    pub fn is_correlated(&self) -> bool {
        self.lag1 > CORRELATED
    }
}

/// The serial correlation of values in time order about their `centre` (for overheads the pseudomedian).
///
/// Residuals are winsorised at `±3 · 1.4826 · MAD`, so that one spike neither hides nor makes a correlation. The
/// factor is always applied: a test for correlation would have too little power with so few rounds. `None` if there
/// is no value, or one (or the centre) is not finite.
pub fn serial(values: &[f64], centre: f64) -> Option<Serial> {
    let limit = 3.0 * MAD_TO_SD * mad(values)?;
    if !centre.is_finite() {
        return None;
    }
    let quantised = limit == 0.0;
    let residuals: Vec<f64> = values.iter().map(|value| (value - centre).max(-limit).min(limit)).collect();
    let lag1 = if quantised { 0.0 } else { corrected_lag1(&residuals).unwrap_or(0.0) };
    let r = lag1.clamp(0.0, MOST);
    Some(Serial { lag1, factor: ((1.0 + r) / (1.0 - r)).sqrt(), quantised })
}

/// The effective sample size of a series, `n (1 - r) / (1 + r)` with `r` its bias-corrected lag-1 correlation,
/// clipped to 0 ... 1: between 0 and `n`. It only serves the rule "this run is too short".
///
/// `None` for fewer than three values or values that are not finite. A constant series counts in full.
pub fn effective_size(series: &[f64]) -> Option<f64> {
    let (mean, _) = moments(series)?;
    if series.len() < 3 {
        return None;
    }
    let residuals: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let r = corrected_lag1(&residuals).unwrap_or(0.0).clamp(0.0, 1.0);
    Some(series.len() as f64 * (1.0 - r) / (1.0 + r))
}

/// `r + (1 + 4r)/n`, `r` the lag-1 correlation of the residuals. `None` for fewer than three, or if all are 0.
fn corrected_lag1(residuals: &[f64]) -> Option<f64> {
    let n = residuals.len();
    let greatest = residuals.iter().fold(0.0, |greatest: f64, e| greatest.max(e.abs()));
    if n < 3 || !(greatest > 0.0 && greatest.is_finite()) {
        return None;
    }
    // Scaled, so that squares neither overflow nor vanish.
    let scaled: Vec<f64> = residuals.iter().map(|e| e / greatest).collect();
    let products: f64 = scaled.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let r = products / scaled.iter().map(|e| e * e).sum::<f64>();
    Some(r + (1.0 + 4.0 * r) / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_that_of_the_formula() {
        // Residuals -2 -1 0 1 2: r = (2 + 0 + 0 + 2) / 10 = 0.4; corrected 0.4 + 2.6/5 = 0.92, clipped to 0.9.
        let rising = serial(&[1.0, 2.0, 3.0, 4.0, 5.0], 3.0).unwrap();
        assert!((rising.lag1 - 0.92).abs() < 1e-12);
        assert!((rising.factor - 19.0_f64.sqrt()).abs() < 1e-12);
        assert!(rising.is_correlated());

        // 1 1 -1 -1 repeated: r = 1/16 for 16 values; corrected 1/16 + 1.25/16.
        let pairs: Vec<f64> = [1.0, 1.0, -1.0, -1.0].repeat(4);
        let r: f64 = 2.25 / 16.0;
        let found = serial(&pairs, 0.0).unwrap();
        assert!((found.lag1 - r).abs() < 1e-12);
        assert!((found.factor - ((1.0 + r) / (1.0 - r)).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn alternating_values_never_shrink_the_interval() {
        let alternating: Vec<f64> = [1.0, -1.0].repeat(10);
        let found = serial(&alternating, 0.0).unwrap();
        assert!(found.lag1 < 0.0);
        assert_eq!(found.factor, 1.0);
    }

    #[test]
    fn a_pair_of_spikes_is_winsorised() {
        let mut values: Vec<f64> = [1.0, -1.0, 2.0, -2.0].repeat(10);
        values[20] = 1e6;
        values[21] = 1e6;
        assert!(serial(&values, 0.0).unwrap().lag1 < 0.2);
    }

    #[test]
    fn mostly_equal_values_are_quantised_and_not_stretched() {
        let found = serial(&[1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0], 1.0).unwrap();
        assert_eq!(found, Serial { lag1: 0.0, factor: 1.0, quantised: true });
    }

    #[test]
    fn few_values_have_no_correlation_and_bad_ones_no_answer() {
        assert_eq!(serial(&[1.0, 2.0], 1.5).unwrap().factor, 1.0);
        assert!(serial(&[1.0], 1.0).unwrap().quantised);
        assert_eq!(serial(&[], 0.0), None);
        assert_eq!(serial(&[1.0, f64::NAN, 2.0], 0.0), None);
        assert_eq!(serial(&[1.0, 2.0, 3.0], f64::NAN), None);
        assert!(serial(&[f64::MAX, f64::MIN, 0.0, 1.0], 0.0).is_none_or(|s| s.factor.is_finite()));
    }

    #[test]
    fn the_effective_size_lies_between_nothing_and_all() {
        let alternating: Vec<f64> = [1.0, -1.0].repeat(30);
        assert_eq!(effective_size(&alternating), Some(60.0));
        assert_eq!(effective_size(&[5.0; 60]), Some(60.0));
        let rising: Vec<f64> = (0..60).map(f64::from).collect();
        assert!(effective_size(&rising).unwrap() < 2.0);
        assert_eq!(effective_size(&[1.0, 2.0]), None);
    }
}
