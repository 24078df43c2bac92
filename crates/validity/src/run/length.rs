//! Whether a run was long enough, and the same from its beginning to its end.

use super::RunContext;
use crate::signal::{default_seconds, known, positive, shaped, unknown, warn_if};
use crate::window::steady_from;
use model::benchmark::Runner;
use model::check::{Check, Status, Threat};
use model::{Benchmark, Outcome, RunRecord, Series};

/// A duration must be this many times the cost of a clock read, or the clock's resolution is part of the figure.
const CLOCK_READS: f64 = 100.0;

/// How long each of two levels must last to be told apart ([`stats::level_drop`]), seconds.
const LEVEL_SECONDS: f64 = 5.0;

/// Too short for what it claims: for its clock, for its kind of work, for its percentiles or for its own correlation.
pub(super) fn too_short(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    let threat = Threat::TooShort;
    let told = positive(record.work.as_ref().map(|w| w.steady_seconds));
    let steady = told.or_else(|| positive(record.counters.as_ref().map(|c| c.wall_seconds)));
    let Some(steady) = steady else { return Some(unknown(threat)) };
    let limits = context.limits;
    let length = |status, shape| shaped(threat, status, shape).with("steady-seconds", steady);

    let read = known(context.facts.clock.read_seconds);
    if let Some(read) = read.filter(|read| steady < CLOCK_READS * read) {
        return Some(length(Status::Invalid, "clock").with("read-seconds", read));
    }
    // A benchmark without a `time` does a fixed amount of work, and takes what that takes.
    if let Some(usual) = default_seconds(context.benchmark).filter(|_| steady < limits.steady_invalid) {
        let by_choice = context.cell.params.seconds("time").is_ok_and(|asked| asked < usual);
        return Some(if by_choice {
            length(Status::Warn, "chosen")
        } else {
            length(Status::Invalid, "steady").with("limit-seconds", limits.steady_invalid)
        });
    }
    if let Some((metric, samples, least)) = thin_percentile(context.benchmark, record) {
        let check = shaped(threat, Status::Warn, "percentile").with("metric", metric);
        return Some(check.with("samples", samples).with("least-samples", least));
    }
    let effective = sound(record.series.as_ref()).and_then(|series| stats::effective_size(&series.samples));
    if let Some(effective) = effective.filter(|n| *n < limits.effective_samples_warn) {
        return Some(shaped(threat, Status::Warn, "effective").with("effective-samples", effective));
    }
    if context.uses_disk() && steady < limits.steady_warn {
        return Some(length(Status::Warn, "steady").with("limit-seconds", limits.steady_warn));
    }
    Some(length(Status::Pass, "long"))
}

/// A percentile q that was made from fewer than 100/(1-q) samples: its metric, the samples, and how many it takes.
fn thin_percentile<'a>(benchmark: &'a Benchmark, record: &RunRecord) -> Option<(&'a str, f64, f64)> {
    let samples = record.work.as_ref()?.latency_samples? as f64;
    let Outcome::Measured { values } = &record.outcome else { return None };
    let measured = benchmark.metrics.iter().map(|m| m.id.as_str()).filter(|id| values.contains_key(*id));
    let needs = measured.filter_map(|id| Some((id, 100.0 / (1.0 - quantile(id)?))));
    let (metric, least) = needs.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (samples < least).then_some((metric, samples, least))
}

/// The quantile that a metric's id names: `latency-p99` is 0.99, `latency-p999` is 0.999.
fn quantile(id: &str) -> Option<f64> {
    let (_, digits) = id.rsplit_once("-p")?;
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let quantile = plain.then(|| format!("0.{digits}").parse::<f64>().ok()).flatten()?;
    (quantile < 1.0).then_some(quantile)
}

fn sound(series: Option<&Series>) -> Option<&Series> {
    series.filter(|series| series.is_sound() && seconds(series).is_finite())
}

fn seconds(series: &Series) -> f64 {
    series.samples.len() as f64 * series.step_seconds
}

/// No level to which the run settled, or another one in its second half than in its first.
pub(super) fn steady_state(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    let threat = Threat::SteadyState;
    let series = match watched(context, record)? {
        Ok(series) => series,
        Err(()) => return Some(unknown(threat)),
    };
    let Some(cut) = stats::mser(&series.samples) else { return Some(unknown(threat)) };
    let warm_up = steady_from(series) as f64 * series.step_seconds;
    if !cut.steady {
        return Some(shaped(threat, Status::Warn, "no-level").with("warm-up-seconds", warm_up));
    }
    let Some(change) =
        stats::halves_differ(&series.samples[cut.discard..]).map(f64::exp_m1).and_then(|c| known(Some(c)))
    else {
        return Some(unknown(threat));
    };
    let check = shaped(threat, warn_if(change >= context.limits.halves_warn), "halves");
    Some(check.with("change-share", change).with("warm-up-seconds", warm_up))
}

/// A lasting drop to a lower level, as a device or a provider makes it whose credits are used up.
pub(super) fn burst_credits(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    let threat = Threat::BurstCredits;
    let series = match watched(context, record)? {
        Ok(series) => series,
        Err(()) => return Some(unknown(threat)),
    };
    let seconds = seconds(series);
    if seconds < 2.0 * LEVEL_SECONDS {
        return Some(shaped(threat, Status::Unknown, "short").with("series-seconds", seconds));
    }
    Some(match stats::level_drop(&series.samples, 1.0 / series.step_seconds) {
        None => shaped(threat, Status::Pass, "level").with("series-seconds", seconds),
        Some(drop) => {
            let check = shaped(threat, Status::Warn, "drop").with("at-seconds", drop.at as f64 * series.step_seconds);
            check.with("after-share", (drop.after / drop.before).max(0.0))
        }
    })
}

/// The series of a run, or that it has none although its tool could give one. Builtin workloads have none by design.
fn watched<'a>(context: &RunContext<'_>, record: &'a RunRecord) -> Option<Result<&'a Series, ()>> {
    match (&record.series, &context.benchmark.runner) {
        (Some(series), _) => Some(sound(Some(series)).ok_or(())),
        (None, Runner::Tool { .. }) => Some(Err(())),
        (None, Runner::Workload { .. }) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Scene, level_series};
    use model::{Area, ParamValue};

    fn steady(area: Area, seconds: f64) -> Scene {
        let mut scene = Scene::guest(area);
        scene.counters().wall_seconds = seconds;
        if let Some(work) = &mut scene.record.work {
            work.steady_seconds = seconds;
        }
        scene
    }

    #[test]
    fn a_run_of_less_than_a_second_is_rejected_unless_the_user_asked_for_it() {
        for area in [Area::Cpu, Area::Memory, Area::Disk] {
            let mut scene = steady(area, 0.5);
            assert_eq!(scene.status(Threat::TooShort), Some(Status::Invalid), "{area:?}");
            scene.cell.params.set("time", ParamValue::Number(0.5));
            assert_eq!(scene.status(Threat::TooShort), Some(Status::Warn), "{area:?}");
        }
    }

    #[test]
    fn storage_that_is_loaded_for_less_than_ten_seconds_warns() {
        assert_eq!(steady(Area::Disk, 5.0).status(Threat::TooShort), Some(Status::Warn));
        assert_eq!(steady(Area::Disk, 10.0).status(Threat::TooShort), Some(Status::Pass));
        assert_eq!(steady(Area::Cpu, 2.0).status(Threat::TooShort), Some(Status::Pass));
        assert_eq!(steady(Area::Disk, f64::NAN).status(Threat::TooShort), Some(Status::Unknown));
    }

    #[test]
    fn a_run_as_short_as_some_reads_of_its_clock_is_rejected_even_if_asked_for() {
        let mut scene = steady(Area::Cpu, 1e-4);
        scene.cell.params.set("time", ParamValue::Number(1e-4));
        scene.facts.clock.read_seconds = Some(2e-6);
        assert_eq!(scene.status(Threat::TooShort), Some(Status::Invalid));
        scene.facts.clock.read_seconds = Some(2e-8);
        assert_eq!(scene.status(Threat::TooShort), Some(Status::Warn));
    }

    #[test]
    fn a_percentile_needs_a_hundred_samples_beyond_it() {
        let mut scene = Scene::guest(Area::Disk);
        scene.record.work.as_mut().unwrap().latency_samples = Some(10_000);
        assert_eq!(scene.status(Threat::TooShort), Some(Status::Pass));
        scene.record.work.as_mut().unwrap().latency_samples = Some(9_000);
        assert_eq!(scene.status(Threat::TooShort), Some(Status::Warn));
        let Outcome::Measured { values } = &mut scene.record.outcome else { unreachable!() };
        values.remove("latency-p99");
        assert_eq!(scene.status(Threat::TooShort), Some(Status::Pass), "a percentile that is not told claims nothing");
        for (id, q) in [("latency-p50", Some(0.5)), ("x-p999", Some(0.999)), ("latency-mean", None), ("a-p", None)] {
            assert_eq!(quantile(id), q, "{id}");
        }
    }

    #[test]
    fn a_series_that_is_worth_less_than_ten_samples_warns() {
        let mut scene = Scene::guest(Area::Disk);
        let drift = (0..60).map(|t| 100.0 + f64::from(t)).collect();
        scene.record.series = Some(level_series(drift));
        assert_eq!(scene.status(Threat::TooShort), Some(Status::Warn));
    }

    #[test]
    fn a_run_that_never_settles_or_changes_half_way_warns() {
        let mut scene = Scene::guest(Area::Disk);
        scene.record.series = Some(level_series((0..60).map(f64::from).collect()));
        assert_eq!(scene.status(Threat::SteadyState), Some(Status::Warn), "it only rises");
        let step = (0..60).map(|t| f64::from(t % 7) + if t < 40 { 100.0 } else { 109.0 }).collect();
        scene.record.series = Some(level_series(step));
        assert_eq!(scene.status(Threat::SteadyState), Some(Status::Warn), "a step of 9 % late in the run");
        scene.record.series = Some(level_series(vec![5.0; 10]));
        assert_eq!(scene.status(Threat::SteadyState), Some(Status::Unknown), "too few samples");
        scene.record.series = Some(level_series(vec![f64::NAN; 60]));
        assert_eq!(scene.status(Threat::SteadyState), Some(Status::Unknown));
        scene.record.series = None;
        assert_eq!(scene.status(Threat::SteadyState), Some(Status::Unknown));
        assert_eq!(Scene::guest(Area::Cpu).status(Threat::SteadyState), None);
    }

    #[test]
    fn a_lasting_drop_is_taken_for_credits_that_ran_out() {
        let mut scene = Scene::guest(Area::Disk);
        let dropped = (0..60).map(|t| f64::from(t % 7) + if t < 25 { 100.0 } else { 40.0 }).collect();
        scene.record.series = Some(level_series(dropped));
        assert_eq!(scene.status(Threat::BurstCredits), Some(Status::Warn));
        scene.record.series = Some(level_series((0..9).map(f64::from).collect()));
        assert_eq!(scene.status(Threat::BurstCredits), Some(Status::Unknown), "too short for two levels");
        scene.record.series = None;
        assert_eq!(scene.status(Threat::BurstCredits), Some(Status::Unknown));
        assert_eq!(Scene::guest(Area::Cpu).status(Threat::BurstCredits), None);
    }
}
