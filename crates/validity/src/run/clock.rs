//! The guest's clock, by which its figures are made.

use super::{RunContext, around};
use crate::signal::{grade, known, positive, shaped, unknown, warn_if};
use model::check::{Check, Status, Threat};
use model::{Limits, RunRecord};

/// How much later one message may be on its way than another on a machine that is busy, seconds. The begin and the end of the
/// timed region reach the controller as messages, so that durations may differ by so much with right clocks on both sides.
const MESSAGE_SECONDS: f64 = 0.1;

/// Clock sources with which guests keep time: of KVM, of the CPU; and of Hyper-V.
const TRUSTED: [&str; 3] = ["kvm-clock", "tsc", "arch_sys_counter"];
const TRUSTED_PREFIX: &str = "hyperv";

/// How fast the guest's clock ran by comparing it with the controller's before and after; and, because a clock may be right at
/// both ends and wrong in between, how long each says that the run took. The host's agent reads the controller's own clock.
pub(super) fn rate(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    if !context.is_guest {
        return None;
    }
    let by_rate = compared(context.limits, record);
    let by_duration = durations(context.limits, record);
    Some(match by_duration {
        Some(check) if check.status > by_rate.status.max(Status::Unknown) => check,
        _ => by_rate,
    })
}

fn compared(limits: &Limits, record: &RunRecord) -> Check {
    let clock = around(record, |s| s.clock);
    let (rate, uncertainty) = (positive(clock.map(|c| c.rate)), known(clock.map(|c| c.uncertainty)));
    let Some((rate, uncertainty)) = rate.zip(uncertainty) else { return unknown(Threat::Clock) };
    let error = (rate - 1.0).abs();
    let status = if error <= uncertainty {
        // Nothing that the comparison could not explain; but one that explains everything tells nothing.
        if uncertainty > limits.clock_invalid { Status::Unknown } else { Status::Pass }
    } else {
        grade(error, limits.clock_warn, limits.clock_invalid)
    };
    shaped(Threat::Clock, status, "rate").with("error-share", error).with("uncertainty-share", uncertainty)
}

fn durations(limits: &Limits, record: &RunRecord) -> Option<Check> {
    let own = known(record.counters.as_ref().map(|c| c.wall_seconds))?;
    let controller = positive(record.controller_seconds)?;
    let unexplained = ((own - controller).abs() - MESSAGE_SECONDS).max(0.0) / controller;
    let check = shaped(Threat::Clock, grade(unexplained, limits.clock_warn, limits.clock_invalid), "duration");
    let check = check.with("guest-seconds", own).with("controller-seconds", controller);
    Some(check.with("message-seconds", MESSAGE_SECONDS))
}

/// What the guest's kernel keeps time with, and what that costs each time that a tool asks.
pub(super) fn source(context: &RunContext<'_>, _record: &RunRecord) -> Option<Check> {
    if !context.is_guest {
        return None;
    }
    let Some(source) = &context.facts.clock.source else { return Some(unknown(Threat::ClockSource)) };
    let trusted = TRUSTED.contains(&source.as_str()) || source.starts_with(TRUSTED_PREFIX);
    let status = warn_if(!trusted);
    Some(match known(context.facts.clock.read_seconds) {
        Some(cost) => {
            shaped(Threat::ClockSource, status, "cost").with("source", source.as_str()).with("read-seconds", cost)
        }
        None => shaped(Threat::ClockSource, status, "source").with("source", source.as_str()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Scene;
    use model::Area;
    use model::evidence::ClockRate;

    fn with_rate(rate: f64, uncertainty: f64) -> Option<Status> {
        let mut scene = Scene::guest(Area::Cpu);
        scene.surroundings().clock = Some(ClockRate { rate, uncertainty });
        scene.status(Threat::Clock)
    }

    #[test]
    fn a_clock_that_runs_wrong_by_five_percent_is_rejected() {
        assert_eq!(with_rate(1.05, 1e-4), Some(Status::Invalid));
        assert_eq!(with_rate(0.95, 1e-4), Some(Status::Invalid));
        assert_eq!(with_rate(1.002, 1e-4), Some(Status::Warn));
        assert_eq!(with_rate(1.0005, 1e-4), Some(Status::Pass));
    }

    #[test]
    fn an_error_within_the_uncertainty_is_no_error_and_a_useless_comparison_no_pass() {
        assert_eq!(with_rate(1.004, 0.005), Some(Status::Pass));
        assert_eq!(with_rate(1.006, 0.005), Some(Status::Warn));
        assert_eq!(with_rate(1.03, 0.04), Some(Status::Unknown));
        assert_eq!(with_rate(1.05, 0.04), Some(Status::Invalid));
        for (rate, uncertainty) in [(f64::NAN, 0.0), (1.0, f64::NAN), (-1.0, 0.0), (f64::INFINITY, 0.0), (1.0, -1.0)] {
            assert_eq!(with_rate(rate, uncertainty), Some(Status::Unknown), "{rate} {uncertainty}");
        }
    }

    #[test]
    fn durations_that_differ_by_more_than_messages_can_explain_betray_a_wrong_clock() {
        let mut scene = Scene::guest(Area::Cpu);
        scene.record.controller_seconds = Some(5.0);
        for (own, status) in
            [(4.75, Status::Invalid), (5.25, Status::Invalid), (4.88, Status::Warn), (4.92, Status::Pass)]
        {
            scene.counters().wall_seconds = own;
            assert_eq!(scene.status(Threat::Clock), Some(status), "{own}");
        }
        scene.surroundings().clock = None;
        assert_eq!(scene.status(Threat::Clock), Some(Status::Unknown), "durations alone are too coarse to pass");
        scene.counters().wall_seconds = 4.75;
        assert_eq!(scene.status(Threat::Clock), Some(Status::Invalid));
    }

    #[test]
    fn the_host_is_not_compared_with_itself() {
        assert_eq!(Scene::host(Area::Cpu).status(Threat::Clock), None);
        assert_eq!(Scene::host(Area::Cpu).status(Threat::ClockSource), None);
    }

    #[test]
    fn a_clock_source_that_guests_do_not_keep_time_with_warns() {
        let mut scene = Scene::guest(Area::Cpu);
        for good in ["kvm-clock", "tsc", "arch_sys_counter", "hyperv_clocksource_tsc_page"] {
            scene.facts.clock.source = Some(good.to_owned());
            assert_eq!(scene.status(Threat::ClockSource), Some(Status::Pass), "{good}");
        }
        for bad in ["hpet", "acpi_pm", "jiffies", "refined-jiffies"] {
            scene.facts.clock.source = Some(bad.to_owned());
            assert_eq!(scene.status(Threat::ClockSource), Some(Status::Warn), "{bad}");
        }
        scene.facts.clock.source = None;
        assert_eq!(scene.status(Threat::ClockSource), Some(Status::Unknown));
    }
}
