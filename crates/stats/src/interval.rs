//! An estimate with its interval, and the tolerances that intervals are compared with. Both on the log scale.

/// An estimate with its confidence interval, `low <= estimate <= high`.
///
/// The numbers have the unit of the data that they were made from; for overheads that is the log cost ratio `d`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The point estimate.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The confidence level, 0 to 1: exact where the method has an exact one, else nominal.
    pub level: f64,
    /// How many values (replication units) it was made from.
    pub n: usize,
}

impl Interval {
    /// Half the distance between the ends: the "±" of a table, on the log scale for overheads.
    pub fn half_width(&self) -> f64 {
        self.high / 2.0 - self.low / 2.0
    }

    /// Whether `value` lies inside or on an end.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The interval of the negated data: what results when host and guest are swapped.
    pub fn mirrored(self) -> Interval {
        Interval { estimate: -self.estimate, low: -self.high, high: -self.low, ..self }
    }

    /// The interval of the data with `by` added to each value: a constant factor on the ratio scale.
    pub fn shifted(self, by: f64) -> Interval {
        Interval { estimate: self.estimate + by, low: self.low + by, high: self.high + by, ..self }
    }

    /// Both ends `factor` times as far from the estimate. The level is kept: say what it means now.
    pub fn stretched(self, factor: f64) -> Interval {
        Interval {
            low: self.estimate - factor * (self.estimate - self.low),
            high: self.estimate + factor * (self.high - self.estimate),
            ..self
        }
    }

    /// `self` if all of its numbers are finite.
    pub(crate) fn finite(self) -> Option<Interval> {
        let Interval { estimate, low, high, .. } = self;
        [estimate, low, high].iter().all(|x| x.is_finite()).then_some(self)
    }
}

/// A relative tolerance, held as its logarithm: the practical margin δ of a verdict or the wanted precision h.
///
/// 3 % is ±ln 1.03 on the log scale, the same distance upwards and downwards, so that swapping host and guest
/// mirrors every decision.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Margin(f64);

impl Margin {
    /// The margin of a relative tolerance, `0.03` for 3 %. `None` if it is negative or not finite.
    pub fn relative(tolerance: f64) -> Option<Margin> {
        (tolerance.is_finite() && tolerance >= 0.0).then(|| Margin(tolerance.ln_1p()))
    }

    /// `ln(1 + tolerance)`.
    pub fn log(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Interval = Interval { estimate: 2.0, low: 1.0, high: 4.0, level: 0.95, n: 8 };

    #[test]
    fn an_interval_is_stretched_about_its_estimate() {
        let wide = INTERVAL.stretched(2.0);
        assert_eq!((wide.estimate, wide.low, wide.high), (2.0, 0.0, 6.0));
        assert_eq!(wide.half_width(), 2.0 * INTERVAL.half_width());
    }

    #[test]
    fn mirroring_twice_changes_nothing() {
        assert_eq!(INTERVAL.mirrored().mirrored(), INTERVAL);
        assert_eq!(INTERVAL.mirrored().low, -4.0);
        assert_eq!(INTERVAL.shifted(1.0).low, 2.0);
    }

    #[test]
    fn the_ends_belong_to_the_interval() {
        assert!(INTERVAL.contains(1.0) && INTERVAL.contains(4.0));
        assert!(!INTERVAL.contains(0.999) && !INTERVAL.contains(f64::NAN));
    }

    #[test]
    fn a_margin_is_a_logarithm_and_never_negative() {
        assert_eq!(Margin::relative(0.0).map(Margin::log), Some(0.0));
        assert!((Margin::relative(0.03).unwrap().log() - 1.03_f64.ln()).abs() < 1e-15);
        for bad in [-0.01, f64::NAN, f64::INFINITY] {
            assert_eq!(Margin::relative(bad), None);
        }
    }
}
