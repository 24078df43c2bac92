//! Latencies of a load generator with a fixed rate.

use super::RunContext;
use crate::signal::{positive, ratio, shaped, unknown, warn_if};
use model::RunRecord;
use model::check::{Check, Status, Threat};

/// A latency of so many intervals between operations has kept others from being issued.
const LONG_INTERVALS: f64 = 10.0;

/// A generator that should issue operations at a fixed rate and waited for late answers instead: the operations that it did not
/// issue have no latency, so that percentiles look better than they are (Tene, "How NOT to measure latency").
pub(super) fn coordinated_omission(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    let work = record.work.as_ref()?;
    let target = work.target_rate?;
    let threat = Threat::CoordinatedOmission;
    let achieved = ratio(work.achieved_rate, Some(target));
    let interval = positive(Some(1.0 / target));
    let Some((achieved, interval)) = achieved.zip(interval) else { return Some(unknown(threat)) };
    let rate = |status| shaped(threat, status, "rate").with("achieved-share", achieved);
    if achieved < context.limits.rate_invalid {
        return Some(rate(Status::Invalid));
    }
    let longest = positive(work.longest_seconds);
    if work.from_intended_start != Some(true) {
        return Some(match longest {
            None => unknown(threat),
            Some(longest) if longest > LONG_INTERVALS * interval => {
                let check = shaped(threat, Status::Warn, "gap").with("longest-seconds", longest);
                check.with("interval-seconds", interval)
            }
            Some(_) if achieved < context.limits.rate_warn => rate(Status::Warn),
            Some(_) => rate(Status::Pass),
        });
    }
    Some(rate(warn_if(achieved < context.limits.rate_warn)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Scene;
    use model::Area;

    /// A run at 1,000 operations per second.
    fn paced(achieved: Option<f64>, longest: Option<f64>, corrected: Option<bool>) -> Option<Status> {
        let mut scene = Scene::guest(Area::Disk);
        let work = scene.record.work.as_mut().unwrap();
        (work.target_rate, work.achieved_rate) = (Some(1000.0), achieved);
        (work.longest_seconds, work.from_intended_start) = (longest, corrected);
        scene.status(Threat::CoordinatedOmission)
    }

    #[test]
    fn a_rate_that_was_not_kept_warns_and_then_rejects() {
        assert_eq!(paced(Some(999.0), Some(0.005), Some(false)), Some(Status::Pass));
        assert_eq!(paced(Some(980.0), Some(0.005), Some(false)), Some(Status::Warn));
        assert_eq!(paced(Some(980.0), None, Some(true)), Some(Status::Warn));
        assert_eq!(paced(Some(900.0), Some(0.005), Some(true)), Some(Status::Invalid));
        assert_eq!(paced(None, Some(0.005), Some(true)), Some(Status::Unknown));
        assert_eq!(paced(Some(f64::NAN), Some(0.005), Some(true)), Some(Status::Unknown));
    }

    #[test]
    fn a_long_gap_warns_unless_latencies_count_from_the_intended_start() {
        assert_eq!(paced(Some(1000.0), Some(0.02), Some(false)), Some(Status::Warn));
        assert_eq!(paced(Some(1000.0), Some(0.02), None), Some(Status::Warn));
        assert_eq!(paced(Some(1000.0), Some(0.02), Some(true)), Some(Status::Pass));
        assert_eq!(paced(Some(1000.0), None, Some(false)), Some(Status::Unknown));
    }

    #[test]
    fn a_generator_without_a_rate_of_its_own_is_not_under_this_threat() {
        assert_eq!(Scene::guest(Area::Disk).status(Threat::CoordinatedOmission), None);
    }
}
