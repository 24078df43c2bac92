//! Who else wanted the CPUs, and who held them back.

use super::{RunContext, around, wall_seconds};
use crate::signal::{grade, known, ratio, shaped, unknown, warn_if};
use model::RunRecord;
use model::check::{Check, Status, Threat};

/// CPU time that a hypervisor took away from this machine, or from the host below it meanwhile. By itself it only warns: see
/// [`crate::block`].
pub(super) fn steal(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    let counters = record.counters.as_ref();
    let stolen = known(counters.and_then(|c| c.steal_seconds));
    let Some(own) = ratio(stolen, counters.and_then(|c| c.cpu_capacity_seconds)) else {
        return Some(unknown(Threat::Steal));
    };
    let share = known(around(record, |s| s.steal_share)).map_or(own, |below| below.max(own));
    let status = warn_if(share >= context.limits.steal_warn);
    Some(Check::new(Threat::Steal, status).with("steal-share", share))
}

/// Time for which vCPU threads (on the host: the threads of the workload) were ready and had no CPU. By itself it only warns: see
/// [`crate::block`].
///
/// Threads of QEMU wait for each other where they share CPUs. That is a cost of virtualization and no noise, so no more waiting is
/// counted than others worked on these CPUs meanwhile.
///
/// The share is of the time that was wanted: of the run's length where less than one CPU was wanted, else of running and waiting
/// together. Dividing by all vCPUs would hide a hog on the one CPU that a single-threaded benchmark uses.
pub(super) fn run_queue(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    let (waited, ran, wall) = if context.is_guest {
        let cost = record.host_cost.as_ref();
        (
            cost.and_then(|c| c.vcpu_wait_seconds),
            cost.map(|c| c.vcpu_seconds),
            cost.map(|c| c.wall_seconds).filter(|s| *s > 0.0),
        )
    } else {
        let counters = record.counters.as_ref();
        (
            counters.and_then(|c| c.run_queue_wait_seconds),
            counters.map(|c| c.user_seconds + c.system_seconds),
            counters.map(|c| c.wall_seconds).filter(|s| *s > 0.0),
        )
    };
    let others = known(around(record, |s| s.others_seconds));
    let caused = known(waited).map(|waited| others.map_or(waited, |others| waited.min(others)));
    let wanted = known(waited).zip(known(ran)).zip(known(wall)).map(|((waited, ran), wall)| wall.max(waited + ran));
    let Some((waited, share)) = caused.zip(ratio(caused, wanted)) else { return Some(unknown(Threat::RunQueue)) };
    let check = Check::new(Threat::RunQueue, warn_if(share >= context.limits.wait_warn));
    Some(check.with("wait-share", share).with("wait-seconds", waited))
}

/// A CPU quota that held back QEMU, the agent or the workload. No setting has one, so it is never what is measured.
pub(super) fn quota(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    let outside = known(around(record, |s| s.throttled_seconds));
    let inside = known(record.counters.as_ref().and_then(|c| c.throttled_seconds));
    let held = outside.unwrap_or(0.0).max(inside.unwrap_or(0.0));
    // On the host both are cgroups of one kernel; in a guest only the outside says what QEMU had to bear.
    let looked = outside.is_some() || (!context.is_guest && inside.is_some());
    if held > 0.0 {
        return Some(Check::new(Threat::Quota, Status::Invalid).with("throttled-seconds", held));
    }
    Some(if looked {
        Check::new(Threat::Quota, Status::Pass).with("throttled-seconds", held)
    } else {
        unknown(Threat::Quota)
    })
}

/// Load of others when the machine was visited: somebody waited for a CPU, for I/O or for memory; or CPUs were busy without anybody
/// waiting yet, which only warns.
pub(super) fn other_load(context: &RunContext<'_>, _record: &RunRecord) -> Option<Check> {
    let idle = context.idle;
    let pressures = [
        ("cpu", idle.and_then(|i| i.cpu_share)),
        ("io", idle.and_then(|i| i.io_share)),
        ("memory", idle.and_then(|i| i.memory_share)),
    ];
    let readings = pressures.into_iter().filter_map(|(what, share)| Some((what, known(share)?)));
    let worst = readings.max_by(|a, b| a.1.total_cmp(&b.1));
    let status = worst.map(|(_, share)| grade(share, context.limits.load_warn, context.limits.load_invalid));
    let busy = known(idle.and_then(|i| i.busy_share)).filter(|share| *share >= context.limits.load_invalid);
    Some(match (worst.zip(status), busy) {
        (pressed, Some(busy)) if pressed.is_none_or(|(_, status)| status == Status::Pass) => {
            shaped(Threat::OtherLoad, Status::Warn, "busy").with("busy-share", busy)
        }
        (Some(((what, share), status)), _) => {
            shaped(Threat::OtherLoad, status, "pressure").with("pressure-share", share).with("resource", what)
        }
        (None, _) => unknown(Threat::OtherLoad),
    })
}

/// Throttling of the physical CPUs for heat or power.
pub(super) fn thermal(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    let events = around(record, |s| s.thermal_events);
    let seconds = known(around(record, |s| s.thermal_seconds));
    let share = ratio(seconds, wall_seconds(record));
    if let Some(share) = share.filter(|share| *share >= context.limits.thermal_invalid) {
        return Some(shaped(Threat::Thermal, Status::Invalid, "time").with("throttled-share", share));
    }
    Some(match (events, seconds) {
        (Some(events), None | Some(0.0)) => {
            shaped(Threat::Thermal, warn_if(events > 0), "events").with("events", events as f64)
        }
        (_, Some(seconds)) => {
            shaped(Threat::Thermal, warn_if(seconds > 0.0), "seconds").with("throttled-seconds", seconds)
        }
        (None, None) => unknown(Threat::Thermal),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Scene;
    use crate::signal::seen;
    use model::Area;
    use model::evidence::Idle;

    #[test]
    fn stolen_time_warns_and_never_rejects_by_itself() {
        for mut scene in [Scene::host(Area::Cpu), Scene::guest(Area::Cpu)] {
            for (stolen, status) in
                [(0.0, Status::Pass), (0.05, Status::Pass), (0.2, Status::Warn), (5.0, Status::Warn)]
            {
                scene.counters().steal_seconds = Some(stolen);
                assert_eq!(scene.status(Threat::Steal), Some(status), "{stolen}");
            }
            for missing in [None, Some(f64::NAN), Some(-1.0)] {
                scene.counters().steal_seconds = missing;
                assert_eq!(scene.status(Threat::Steal), Some(Status::Unknown));
            }
        }
    }

    #[test]
    fn a_hog_on_the_one_cpu_that_the_guest_uses_shows_in_full() {
        let mut scene = Scene::guest(Area::Cpu);
        // Eight vCPUs, one of which works for half of the ten seconds and waits for the other half.
        let cost = scene.record.host_cost.as_mut().unwrap();
        (cost.wall_seconds, cost.vcpu_seconds, cost.vcpu_wait_seconds) = (10.0, 5.0, Some(5.0));
        scene.judge();
        assert_eq!(scene.status(Threat::RunQueue), Some(Status::Warn));
        assert_eq!(seen(&scene.record, Threat::RunQueue, "wait-share"), Some(0.5));
    }

    #[test]
    fn threads_of_qemu_that_wait_for_each_other_are_no_noise() {
        let mut scene = Scene::guest(Area::Cpu);
        let cost = scene.record.host_cost.as_mut().unwrap();
        (cost.wall_seconds, cost.vcpu_seconds, cost.vcpu_wait_seconds) = (10.0, 15.0, Some(4.0));
        scene.surroundings().others_seconds = Some(0.05);
        assert_eq!(scene.status(Threat::RunQueue), Some(Status::Pass));
        scene.surroundings().others_seconds = Some(8.0);
        assert_eq!(scene.status(Threat::RunQueue), Some(Status::Warn));
        scene.judge();
        assert_eq!(seen(&scene.record, Threat::RunQueue, "wait-share"), Some(4.0 / 19.0));
        scene.surroundings().others_seconds = None;
        assert_eq!(scene.status(Threat::RunQueue), Some(Status::Warn), "what is not known excuses nothing");
    }

    #[test]
    fn time_stolen_from_the_host_counts_for_the_guest_that_runs_on_it() {
        let mut scene = Scene::guest(Area::Cpu);
        scene.surroundings().steal_share = Some(0.2);
        scene.judge();
        assert_eq!(scene.status(Threat::Steal), Some(Status::Warn));
        assert_eq!(seen(&scene.record, Threat::Steal, "steal-share"), Some(0.2));
    }

    #[test]
    fn waiting_is_shared_out_among_the_cpus_that_were_wanted() {
        let mut scene = Scene::host(Area::Cpu);
        let counters = scene.counters();
        // Four busy threads that each wait for half a percent of the time.
        (counters.wall_seconds, counters.user_seconds, counters.system_seconds) = (10.0, 39.8, 0.0);
        counters.run_queue_wait_seconds = Some(0.2);
        assert_eq!(scene.status(Threat::RunQueue), Some(Status::Pass));
        scene.counters().run_queue_wait_seconds = Some(0.6);
        assert_eq!(scene.status(Threat::RunQueue), Some(Status::Warn));
        // A sleeper that waits for a moment each time that it wakes has hardly waited.
        let counters = scene.counters();
        (counters.user_seconds, counters.run_queue_wait_seconds) = (0.01, Some(0.02));
        assert_eq!(scene.status(Threat::RunQueue), Some(Status::Pass));
    }

    #[test]
    fn what_the_guest_says_of_its_own_run_queue_does_not_stand_in_for_the_hosts() {
        let mut scene = Scene::guest(Area::Cpu);
        scene.record.host_cost.as_mut().unwrap().vcpu_wait_seconds = None;
        scene.counters().run_queue_wait_seconds = Some(0.0);
        assert_eq!(scene.status(Threat::RunQueue), Some(Status::Unknown));
        let mut scene = Scene::host(Area::Cpu);
        scene.counters().run_queue_wait_seconds = None;
        assert_eq!(scene.status(Threat::RunQueue), Some(Status::Unknown));
    }

    #[test]
    fn any_throttling_by_a_quota_rejects() {
        let mut scene = Scene::guest(Area::Cpu);
        scene.surroundings().throttled_seconds = Some(0.001);
        assert_eq!(scene.status(Threat::Quota), Some(Status::Invalid));
        scene.surroundings().throttled_seconds = None;
        assert_eq!(scene.status(Threat::Quota), Some(Status::Unknown), "the guest does not see the quota of QEMU");
        scene.counters().throttled_seconds = Some(0.2);
        assert_eq!(scene.status(Threat::Quota), Some(Status::Invalid));
        let mut scene = Scene::host(Area::Cpu);
        scene.surroundings().throttled_seconds = None;
        assert_eq!(scene.status(Threat::Quota), Some(Status::Pass), "its own counters say it");
    }

    #[test]
    fn load_of_others_counts_by_the_worst_resource() {
        let mut scene = Scene::guest(Area::Cpu);
        let mut judged = |idle: Option<Idle>| {
            scene.idle = idle;
            scene.status(Threat::OtherLoad)
        };
        let calm = Idle { seconds: 2.0, cpu_share: Some(0.001), io_share: Some(0.0), ..Idle::default() };
        assert_eq!(judged(Some(calm)), Some(Status::Pass));
        assert_eq!(judged(Some(Idle { io_share: Some(0.05), ..calm })), Some(Status::Warn));
        assert_eq!(judged(Some(Idle { memory_share: Some(0.2), ..calm })), Some(Status::Invalid));
        assert_eq!(judged(Some(Idle { busy_share: Some(0.5), ..calm })), Some(Status::Warn));
        assert_eq!(judged(Some(Idle { busy_share: Some(0.5), cpu_share: Some(0.3), ..calm })), Some(Status::Invalid));
        assert_eq!(judged(Some(Idle { busy_share: Some(0.01), ..Idle::default() })), Some(Status::Unknown));
        assert_eq!(judged(None), Some(Status::Unknown));
    }

    #[test]
    fn throttling_for_heat_warns_and_rejects_once_it_took_a_hundredth_of_the_run() {
        let mut scene = Scene::host(Area::Cpu);
        scene.surroundings().thermal_events = Some(1);
        assert_eq!(scene.status(Threat::Thermal), Some(Status::Warn));
        scene.surroundings().thermal_seconds = Some(0.2);
        assert_eq!(scene.status(Threat::Thermal), Some(Status::Invalid));
        scene.surroundings().thermal_events = None;
        scene.surroundings().thermal_seconds = Some(0.001);
        assert_eq!(scene.status(Threat::Thermal), Some(Status::Warn));
        scene.surroundings().thermal_seconds = None;
        assert_eq!(scene.status(Threat::Thermal), Some(Status::Unknown));
    }
}
