//! The least `f64` with a property, found by halving the numbers themselves: at most 64 steps, and exact.

/// The least number of `[low, high]` for which `holds` is true, or `None` if there is none.
///
/// `holds` must be monotone: once true, true for all greater numbers.
pub(crate) fn least(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    if low > high || !holds(high) {
        return None;
    }
    let (mut low, mut high) = (key(low), key(high));
    while low < high {
        let middle = u64::midpoint(low, high);
        if holds(number(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(number(high) + 0.0) // -0.0 + 0.0 is 0.0
}

const SIGN: u64 = 1 << 63;

/// Numbers in order have keys in order.
fn key(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn number(key: u64) -> f64 {
    f64::from_bits(if key & SIGN == 0 { !key } else { key ^ SIGN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_number_is_found_exactly() {
        for bound in [-1e300, -2.5, -f64::MIN_POSITIVE, 0.0, 1e-310, 0.1, 3.0, f64::MAX] {
            assert_eq!(least(f64::MIN, f64::MAX, |x| x >= bound), Some(bound));
        }
        assert_eq!(least(0.0, f64::MAX, |x| x >= -1.0), Some(0.0));
    }

    #[test]
    fn a_property_that_nothing_has_gives_none() {
        assert_eq!(least(f64::MIN, f64::MAX, |_| false), None);
        assert_eq!(least(f64::MIN, f64::MAX, |x| x.is_nan()), None);
        assert_eq!(least(1.0, 0.0, |_| true), None);
    }
}
