//! Where a value stands in a chart, and which values are marked.

/// A stretch of values laid over a stretch of the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// `low` is drawn at `from`, `high` at `to`. An empty stretch is widened.
    pub fn new(low: f64, high: f64, from: f64, to: f64) -> Self {
        let (low, high) = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
        Scale { low, high, from, to }
    }

    /// The place of a value; values outside stand at the edge.
    pub fn at(&self, value: f64) -> f64 {
        let part = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + part * (self.to - self.from)
    }

    /// True where the value stands at its own place.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// Round numbers within `low..=high`, at most about `most` of them.
pub(super) fn ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return Vec::new();
    }
    let rough = span / most.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|step| *step >= rough).unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).take(2 * most + 2).map(|i| i as f64 * step).collect()
}

/// 1, 2 and 5 times the powers of ten within `low..=high`, thinned to about `most`.
pub(super) fn decades(low: f64, high: f64, most: usize) -> Vec<f64> {
    if !(low > 0.0 && high > low && high.is_finite()) {
        return Vec::new();
    }
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let marks = |steps: &[f64]| -> Vec<f64> {
        let all = powers.clone().flat_map(|p| steps.iter().map(move |s| s * 10f64.powi(p)));
        all.filter(|v| (low..=high).contains(v)).collect()
    };
    [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]]
        .into_iter()
        .map(marks)
        .find(|found| found.len() <= most)
        .unwrap_or_else(|| marks(&[1.0]))
}

/// Overheads in percent that are marked on an axis of log cost ratios: round ones, and never too close together.
pub(super) fn overhead_ticks(low: f64, high: f64) -> Vec<f64> {
    const LARGE: [f64; 20] = [
        -99.0,
        -90.0,
        -75.0,
        -50.0,
        -25.0,
        0.0,
        25.0,
        50.0,
        100.0,
        200.0,
        400.0,
        900.0,
        1900.0,
        4900.0,
        9900.0,
        49_900.0,
        99_900.0,
        999_900.0,
        9_999_900.0,
        99_999_900.0,
    ];
    let within = |percent: &f64| (low..=high).contains(&(percent / 100.0).ln_1p());
    let span = high - low;
    let candidates: Vec<f64> = if span < 0.9 {
        ticks(stats::percent(low), stats::percent(high), 6)
    } else {
        LARGE.into_iter().filter(within).collect()
    };
    let mut kept: Vec<f64> = candidates.iter().copied().filter(|p| *p == 0.0).collect();
    for percent in candidates {
        let far = |other: &f64| ((percent / 100.0).ln_1p() - (other / 100.0).ln_1p()).abs() > 0.18 * span;
        if kept.iter().all(far) {
            kept.push(percent);
        }
    }
    kept.sort_by(f64::total_cmp);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(-3.0, 9.0, 6), [-2.0, 0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(decades(2.9e6, 57e6, 6), [5e6, 1e7, 2e7, 5e7]);
        assert!(ticks(1.0, 1.0, 5).is_empty() && decades(0.0, 1.0, 5).is_empty() && ticks(f64::NAN, 1.0, 4).is_empty());
    }

    #[test]
    fn zero_is_always_marked_and_huge_overheads_get_few_marks() {
        let small = overhead_ticks(-0.02, 0.06);
        assert!(small.contains(&0.0) && small.len() >= 3, "{small:?}");
        let huge = overhead_ticks(-0.1, (1.0f64 + 30.0).ln());
        assert!(huge.contains(&0.0) && (4..=7).contains(&huge.len()), "{huge:?}");
    }

    #[test]
    fn values_outside_stand_at_the_edge() {
        let scale = Scale::new(0.0, 2.0, 10.0, 90.0);
        assert_eq!((scale.at(1.0), scale.at(-5.0), scale.at(9.0)), (50.0, 10.0, 90.0));
        assert!(scale.holds(2.0) && !scale.holds(2.1));
    }
}
