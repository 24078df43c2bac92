//! The part of a run that counts: where a tool gives a series, both arms of a block are cut at the same moment (statistics.md, 1.5).

use model::{RunRecord, Series};

/// The sample at which the steady part of a series begins; the first where that cannot be told.
pub(crate) fn steady_from(series: &Series) -> usize {
    if series.is_sound() { stats::mser(&series.samples).map_or(0, |cut| cut.discard) } else { 0 }
}

/// By what the values of both arms change when both are cut at the later of their two ends of the warm-up: the mean after the cut by
/// the mean of all. 1 for both unless both have a series that can be cut there.
pub(crate) fn common(host: &RunRecord, guest: &RunRecord) -> [f64; 2] {
    let both = host.series.as_ref().zip(guest.series.as_ref()).filter(|(a, b)| a.is_sound() && b.is_sound());
    let Some((host, guest)) = both else { return [1.0; 2] };
    let seconds = |series: &Series| steady_from(series) as f64 * series.step_seconds;
    let cut = seconds(host).max(seconds(guest));
    match (change(host, cut), change(guest, cut)) {
        (Some(host), Some(guest)) => [host, guest],
        _ => [1.0; 2],
    }
}

/// The mean from `cut` seconds on by the mean of all.
fn change(series: &Series, cut: f64) -> Option<f64> {
    // Rounded, because a cut of whole steps of one series need not be one of the other.
    let rest = series.samples.get((cut / series.step_seconds).round() as usize..)?;
    let mean = |samples: &[f64]| stats::moments(samples).map(|(mean, _)| mean);
    let change = mean(rest)? / mean(&series.samples)?;
    (change.is_finite() && change > 0.0).then_some(change)
}

/// True where the run has a series of this metric.
pub(crate) fn carries(run: &RunRecord, metric: &str) -> bool {
    run.series.as_ref().is_some_and(|series| series.metrics.iter().any(|id| id == metric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Scene, level_series};
    use model::Area;

    /// 60 samples of a second: `ramp` of them at half of the level.
    fn ramped(ramp: usize, level: f64) -> Series {
        level_series((0..60).map(|t| if t < ramp { level / 2.0 } else { level }).collect())
    }

    fn pair(host: Option<Series>, guest: Option<Series>) -> [RunRecord; 2] {
        let mut records = [Scene::host(Area::Disk).record, Scene::guest(Area::Disk).record];
        (records[0].series, records[1].series) = (host, guest);
        records
    }

    #[test]
    fn both_arms_are_cut_where_the_slower_one_is_warm() {
        let [host, guest] = pair(Some(ramped(0, 100.0)), Some(ramped(12, 80.0)));
        let [a, b] = common(&host, &guest);
        assert_eq!(a, 1.0, "a level series has the same mean after any cut");
        assert!((b - 80.0 / 72.0).abs() < 1e-12, "{b}");
        let [a, b] = common(&guest, &host);
        assert!((a - 80.0 / 72.0).abs() < 1e-12 && b == 1.0);
    }

    #[test]
    fn steps_of_different_length_are_cut_at_the_same_moment() {
        let mut fine = level_series((0..120).map(|t| if t < 24 { 50.0 } else { 100.0 }).collect());
        fine.step_seconds = 0.5;
        let [host, guest] = pair(Some(fine), Some(ramped(12, 100.0)));
        let [a, b] = common(&host, &guest);
        assert!((a - 100.0 / 90.0).abs() < 0.01 && (b - 100.0 / 90.0).abs() < 0.01, "{a} {b}");
    }

    #[test]
    fn without_two_sound_series_nothing_is_cut() {
        let ramp = || Some(ramped(12, 80.0));
        let mut short = ramped(0, 1.0);
        short.samples.truncate(5);
        for (host, guest) in [
            (None, None),
            (ramp(), None),
            (None, ramp()),
            (ramp(), Some(level_series(vec![f64::NAN; 60]))),
            (ramp(), Some(level_series(vec![0.0; 60]))),
            (ramp(), Some(short)),
        ] {
            let [host, guest] = pair(host, guest);
            assert_eq!(common(&host, &guest), [1.0; 2]);
        }
    }
}
