//! Where the level of a series changes: E-divisive with means (Matteson & James 2014, JASA 109), with a seeded
//! permutation test.
//!
//! The statistic of a split of `n + m` values is
//! `Q = nm/(n+m) · (2 · mean|X - Y| - mean|Xi - Xj| - mean|Yi - Yj|)`. Of all splits, and of all ends of the part after
//! the split, the greatest counts; a change is believed if few random orders of the same values reach it, and then
//! both sides are searched in the same way.

use crate::{
    describe::mean,
    serial::{CORRELATED, serial},
    splitmix::SplitMix,
};

/// The least number of values on either side of a change: a change is seen three values late.
pub const SHORTEST_SEGMENT: usize = 3;
/// The p value that a change must reach.
pub const CHANGE_ALPHA: f64 = 0.01;
/// The p value that it must reach if the residuals are serially correlated: the least that can be reached.
pub const CORRELATED_CHANGE_ALPHA: f64 = 0.001;
/// Random orders of the permutation test; the p value is `(1 + those that reach the statistic) / 1000`.
const PERMUTATIONS: u32 = 999;
/// Longer series are averaged in batches to at most this length: the cost rises with its square.
const LONGEST: usize = 300;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The first value of the new level.
    pub at: usize,
    /// The mean since the change before this one (or the start), in the unit of the series.
    pub before: f64,
    /// The mean until the next change (or the end).
    pub after: f64,
    /// The p value of the permutation test, from 0.001.
    pub p: f64,
}

/// The changes of level of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// In time order.
    pub points: Vec<ChangePoint>,
    /// The values about their levels are serially correlated (lag-1 above 0.3), so that only changes with
    /// [`CORRELATED_CHANGE_ALPHA`] are listed. Even of those some may be mere wandering: warn.
    pub correlated: bool,
}

/// The changes of level by at least `least` (in the unit of the series), in time order.
///
/// A series of more than 300 values is averaged in batches of equal length first; changes are then found to that
/// precision, and values that do not fill the last batch are left out. The same series and seed always give the same
/// answer. `None` if a value or `least` is not finite.
pub fn change_points(series: &[f64], least: f64, seed: u64) -> Option<Changes> {
    if !least.is_finite() || !series.iter().all(|x| x.is_finite()) {
        return None;
    }
    let batch = series.len().div_ceil(LONGEST).max(1);
    let values: Vec<f64> = series.chunks_exact(batch).map(mean).collect();
    let detect = |alpha| {
        let mut found = Vec::new();
        search(&values, 0, alpha, &mut SplitMix(seed), &mut found);
        levels(&values, found, least)
    };
    let mut points = detect(CHANGE_ALPHA);
    let correlated = serial(&residuals(&values, &points), 0.0).is_some_and(|serial| serial.lag1 > CORRELATED);
    if correlated {
        points = detect(CORRELATED_CHANGE_ALPHA);
    }
    points.iter_mut().for_each(|point| point.at *= batch);
    Some(Changes { points, correlated })
}

/// Adds the changes (place, p value) of a segment that begins at `start`, in time order.
fn search(segment: &[f64], start: usize, alpha: f64, random: &mut SplitMix, found: &mut Vec<(usize, f64)>) {
    let Some((at, p)) = significant_split(segment, alpha, random) else { return };
    search(&segment[..at], start, alpha, random, found);
    found.push((start + at, p));
    search(&segment[at..], start + at, alpha, random, found);
}

/// The best split of a segment and its p value, if that is at most `alpha`.
fn significant_split(segment: &[f64], alpha: f64, random: &mut SplitMix) -> Option<(usize, f64)> {
    let (at, observed) = best_split(segment)?;
    let mut shuffled = segment.to_vec();
    let mut reached = 1;
    for _ in 0..PERMUTATIONS {
        random.shuffle(&mut shuffled);
        // Sums in another order differ in their last digits: what is equal but for those has reached it too.
        if best_split(&shuffled).is_some_and(|(_, q)| q >= observed * (1.0 - 1e-9)) {
            reached += 1;
        }
        if f64::from(reached) / f64::from(PERMUTATIONS + 1) > alpha {
            return None; // whatever the other orders do
        }
    }
    Some((at, f64::from(reached) / f64::from(PERMUTATIONS + 1)))
}

/// The split with the greatest statistic, over all ends of the part after it: the first place of the new level, and
/// the statistic in units of the greatest value. `None` if the segment is too short or all its values are equal. O(n²) time, O(n) memory.
fn best_split(x: &[f64]) -> Option<(usize, f64)> {
    let greatest = x.iter().fold(0.0, |greatest: f64, x| greatest.max(x.abs()));
    // Scaled, so that sums do not overflow. Values that are all 0 become NaN, and then no statistic is above 0.
    let x: Vec<f64> = x.iter().map(|x| x / greatest).collect();
    let distance = |i: usize, j: usize| (x[i] - x[j]).abs();
    // The sum of the distances of each value to all before it, and to those before the split.
    let to_earlier: Vec<f64> = (0..x.len()).map(|j| (0..j).map(|i| distance(i, j)).sum()).collect();
    let mut to_left = vec![0.0; x.len()];
    let (mut left, mut best) = (0.0, None);
    for split in 1..=x.len().saturating_sub(SHORTEST_SEGMENT) {
        left += to_earlier[split - 1];
        let (mut cross, mut right) = (0.0, 0.0);
        for end in split..x.len() {
            to_left[end] += distance(split - 1, end);
            cross += to_left[end];
            right += to_earlier[end] - to_left[end];
            let size = end + 1 - split;
            if split >= SHORTEST_SEGMENT && size >= SHORTEST_SEGMENT {
                let q = statistic(split, size, [left, cross, right]);
                if q > 0.0 && best.is_none_or(|(_, most)| q > most) {
                    best = Some((split, q));
                }
            }
        }
    }
    best
}

/// Q of `n` values and the `m` after them, from the sums of the distances within the first, between the two, and
/// within the second.
fn statistic(n: usize, m: usize, [left, cross, right]: [f64; 3]) -> f64 {
    let (n, m) = (n as f64, m as f64);
    2.0 / (n + m) * (cross - left * m / (n - 1.0) - right * n / (m - 1.0))
}

/// The changes with the means on both sides; the smallest is dropped and its sides joined as long as it is less than
/// `least`.
fn levels(values: &[f64], mut found: Vec<(usize, f64)>, least: f64) -> Vec<ChangePoint> {
    loop {
        let points: Vec<ChangePoint> = found
            .iter()
            .enumerate()
            .map(|(i, &(at, p))| {
                let begin = if i == 0 { 0 } else { found[i - 1].0 };
                let end = found.get(i + 1).map_or(values.len(), |next| next.0);
                ChangePoint { at, before: mean(&values[begin..at]), after: mean(&values[at..end]), p }
            })
            .collect();
        let size = |point: &ChangePoint| (point.after - point.before).abs();
        let smallest = (0..points.len()).min_by(|&a, &b| size(&points[a]).total_cmp(&size(&points[b])));
        match smallest.filter(|&i| size(&points[i]) < least) {
            Some(i) => found.remove(i),
            None => return points,
        };
    }
}

/// The values about the levels between the changes.
fn residuals(values: &[f64], points: &[ChangePoint]) -> Vec<f64> {
    let ends = points.iter().map(|point| point.at).chain([values.len()]);
    let mut begin = 0;
    let mut residuals = Vec::with_capacity(values.len());
    for end in ends {
        let level = mean(&values[begin..end]);
        residuals.extend(values[begin..end].iter().map(|value| value - level));
        begin = end;
    }
    residuals
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Q straight from its definition.
    fn by_definition(x: &[f64], y: &[f64]) -> f64 {
        let within = |x: &[f64]| {
            let distances: Vec<f64> =
                (0..x.len()).flat_map(|j| (0..j).map(move |i| (i, j))).map(|(i, j)| (x[i] - x[j]).abs()).collect();
            mean(&distances)
        };
        let between: Vec<f64> = x.iter().flat_map(|x| y.iter().map(move |y| (x - y).abs())).collect();
        let (n, m) = (x.len() as f64, y.len() as f64);
        n * m / (n + m) * (2.0 * mean(&between) - within(x) - within(y))
    }

    /// About 0, from `at` on about `step`.
    fn stepped(n: usize, at: usize, step: f64) -> Vec<f64> {
        (0..n).map(|i| (i * 37 % 23) as f64 / 23.0 + if i < at { 0.0 } else { step }).collect()
    }

    #[test]
    fn the_statistic_has_its_golden_value() {
        let (x, y) = ([1.0, 2.0, 1.0, 2.0], [5.0, 6.0, 5.0, 6.0]);
        assert!((by_definition(&x, &y) - 40.0 / 3.0).abs() < 1e-12);
        assert!((statistic(4, 4, [4.0, 64.0, 4.0]) - 40.0 / 3.0).abs() < 1e-12);
        let (at, q) = best_split(&[x, y].concat()).unwrap();
        assert_eq!(at, 4);
        assert!((q * 6.0 - 40.0 / 3.0).abs() < 1e-12, "in units of the greatest value");
    }

    #[test]
    fn steps_are_found_where_they_are_with_their_levels() {
        let found = change_points(&stepped(30, 12, 3.0), 0.5, 1).unwrap();
        assert_eq!((found.points.len(), found.correlated), (1, false));
        let point = found.points[0];
        assert_eq!((point.at, point.p), (12, 0.001));
        assert!((point.after - point.before - 3.0).abs() < 0.3);

        let pulse: Vec<f64> =
            stepped(60, 20, 3.0).iter().enumerate().map(|(i, x)| if i < 40 { *x } else { x - 3.0 }).collect();
        let at: Vec<usize> = change_points(&pulse, 0.5, 1).unwrap().points.iter().map(|point| point.at).collect();
        assert_eq!(at, [20, 40], "a level that comes back");
    }

    #[test]
    fn steps_that_do_not_matter_are_not_listed() {
        let series = stepped(60, 30, 1.0);
        assert_eq!(change_points(&series, 0.5, 1).unwrap().points.len(), 1);
        assert_eq!(change_points(&series, 1.5, 1).unwrap().points, []);
    }

    #[test]
    fn a_change_needs_three_values_on_either_side() {
        let late = |after: usize| [[1.0, 1.1, 0.9, 1.05].repeat(6), vec![9.0; after]].concat();
        assert_eq!(change_points(&late(1), 0.0, 1).unwrap().points, []);
        assert_eq!(change_points(&late(3), 0.0, 1).unwrap().points.first().map(|point| point.at), Some(24));
        assert_eq!(best_split(&[1.0, 1.0, 1.0, 2.0, 2.0]), None);
    }

    #[test]
    fn what_wanders_is_said_to_be_correlated() {
        let slow: Vec<f64> = (0..80).map(|i| (f64::from(i) / 3.0).sin()).collect();
        let found = change_points(&slow, 0.0, 1).unwrap();
        assert!(found.correlated);
        assert!(found.points.iter().all(|point| point.p <= CORRELATED_CHANGE_ALPHA));
    }

    #[test]
    fn long_series_are_averaged_and_found_again() {
        let found = change_points(&stepped(1700, 900, 3.0), 0.5, 1).unwrap().points;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].at, 900, "a multiple of the batch of six");
    }

    #[test]
    fn the_same_seed_gives_the_same_answer() {
        let series = stepped(40, 20, 0.5);
        assert_eq!(change_points(&series, 0.0, 5), change_points(&series, 0.0, 5));
    }

    #[test]
    fn constant_short_and_bad_series_have_no_changes() {
        for series in [&[][..], &[1.0; 50], &[0.0; 50], &[1.0, 2.0, 9.0]] {
            assert_eq!(change_points(series, 0.0, 1), Some(Changes { points: vec![], correlated: false }));
        }
        assert_eq!(change_points(&[1.0, f64::NAN], 0.0, 1), None);
        assert_eq!(change_points(&[1.0, 2.0], f64::NAN, 1), None);
        let huge = [[f64::MAX; 10], [f64::MIN; 10]].concat();
        assert_eq!(change_points(&huge, 0.0, 1).unwrap().points.len(), 1);
    }

    proptest! {
        #[test]
        fn the_best_split_is_that_of_all_splits_by_definition(x in prop::collection::vec(-9.0..9.0, 6..25)) {
            let mut best = (0, 0.0);
            for split in 3..=x.len() - 3 {
                for end in split + 3..=x.len() {
                    let q = by_definition(&x[..split], &x[split..end]);
                    if q > best.1 {
                        best = (split, q);
                    }
                }
            }
            let greatest = x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let found = best_split(&x).map_or((0, 0.0), |(at, q)| (at, q * greatest));
            prop_assert!((found.1 - best.1).abs() < 1e-9, "{found:?} {best:?}");
        }
    }
}
