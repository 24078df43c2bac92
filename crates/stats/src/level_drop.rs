//! Whether a device or network lowered its level during a run, as a token bucket does when its credits are used up
//! (Uta et al., NSDI 2020).

use crate::describe::Running;

/// The smallest drop that counts, as a share of the level before it.
const LEAST_DROP: f64 = 0.20;
/// How long each of the two levels must last, in seconds.
const LEAST_SECONDS: f64 = 5.0;
/// And in samples: fewer would let one outlier at an end pass for a level.
const LEAST_SAMPLES: f64 = 3.0;
/// The least share of the squared deviations that the two levels must explain.
const LEAST_SHARE: f64 = 0.60;

/// A lasting fall of a series from one level to a lower one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelDrop {
    /// The first sample of the lower level.
    pub at: usize,
    /// The mean before, in the unit of the series.
    pub before: f64,
    /// The mean from there on.
    pub after: f64,
    /// The share of the squared deviations from one common mean that the two levels explain, 0 to 1.
    pub sse_share: f64,
}

/// The drop of a throughput series, if it has one: of all ways to fit two levels of at least five seconds the one with
/// the least squared error must fall by 20 % or more, and explain at least 60 % of the squared deviations.
///
/// `None` also where it cannot be told: values that are not finite, a rate that is not positive, or a series that is
/// too short for two levels.
pub fn level_drop(series: &[f64], samples_per_second: f64) -> Option<LevelDrop> {
    if !(samples_per_second > 0.0 && series.iter().all(|x| x.is_finite())) {
        return None;
    }
    let shortest = (LEAST_SECONDS * samples_per_second).ceil().max(LEAST_SAMPLES) as usize;
    let last = series.len().checked_sub(shortest).filter(|&last| last >= shortest)?;

    let before = levels(series.iter());
    let mut after = levels(series.iter().rev());
    after.reverse();
    let error = |at: usize| before[at - 1].squares + after[at].squares;
    let at = (shortest..=last).min_by(|&a, &b| error(a).total_cmp(&error(b)))?;

    let (total, before, after) = (after[0].squares, before[at - 1].mean, after[at].mean);
    let sse_share = 1.0 - error(at) / total;
    let dropped = before > 0.0 && before - after >= LEAST_DROP * before && sse_share >= LEAST_SHARE;
    (dropped && after.is_finite()).then_some(LevelDrop { at, before, after, sse_share })
}

/// Mean and squared deviations of the first, the first two, the first three, ... samples.
fn levels<'a>(series: impl Iterator<Item = &'a f64>) -> Vec<Running> {
    let mut running = Running::default();
    series
        .map(|&sample| {
            running.push(sample);
            running
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `before` samples about 100, then `after` samples about `level`, all with a little noise.
    fn series(before: usize, after: usize, level: f64) -> Vec<f64> {
        let noise = |i: usize| (i * 7 % 11) as f64 / 5.0 - 1.0;
        (0..before + after).map(|i| noise(i) + if i < before { 100.0 } else { level }).collect()
    }

    #[test]
    fn a_bucket_that_runs_empty_is_found_where_it_does() {
        let found = level_drop(&series(25, 35, 40.0), 1.0).unwrap();
        assert_eq!(found.at, 25);
        assert!((found.before - 100.0).abs() < 0.5 && (found.after - 40.0).abs() < 0.5);
        assert!(found.sse_share > 0.99);
    }

    #[test]
    fn both_levels_must_last_five_seconds() {
        assert!(level_drop(&series(5, 30, 60.0), 1.0).is_some());
        assert_eq!(level_drop(&series(4, 5, 60.0), 1.0), None);
        assert!(level_drop(&series(30, 30, 60.0), 6.0).is_some());
        assert_eq!(level_drop(&series(30, 29, 60.0), 6.0), None);
        let spike = [vec![100.0; 57], vec![1.0; 3]].concat();
        assert_eq!(level_drop(&spike, 1.0), None, "five samples cannot all be low");
        assert_eq!(level_drop(&[100.0, 99.0, 50.0, 51.0], 0.1), None, "two samples are no level");
    }

    #[test]
    fn a_small_drop_a_rise_and_a_gradual_decline_with_noise_stay_silent() {
        assert_eq!(level_drop(&series(30, 30, 85.0), 1.0), None);
        assert_eq!(level_drop(&series(30, 30, 150.0), 1.0), None);
        let noisy: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i * 37 % 61) - f64::from(i) / 2.0).collect();
        assert_eq!(level_drop(&noisy, 1.0), None);
        assert_eq!(level_drop(&[100.0; 60], 1.0), None);
    }

    #[test]
    fn a_drop_to_nothing_is_a_drop_and_a_series_from_nothing_has_none() {
        let stop = [vec![100.0; 20], vec![0.0; 20]].concat();
        assert_eq!(level_drop(&stop, 1.0), Some(LevelDrop { at: 20, before: 100.0, after: 0.0, sse_share: 1.0 }));
        assert_eq!(level_drop(&[vec![0.0; 20], vec![-100.0; 20]].concat(), 1.0), None);
    }

    #[test]
    fn what_is_not_a_series_has_no_drop() {
        let good = series(30, 30, 40.0);
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(level_drop(&good, rate), None);
        }
        assert_eq!(level_drop(&[], 1.0), None);
        assert_eq!(level_drop(&[vec![100.0; 20], vec![f64::NAN; 20]].concat(), 1.0), None);
        assert_eq!(level_drop(&[vec![f64::MAX; 20], vec![f64::MIN; 20]].concat(), 1.0), None);
    }
}
