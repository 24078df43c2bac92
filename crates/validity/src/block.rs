//! Checks that need both arms of a block.
//!
//! Contention that both arms bear cancels in the pair, so steal and waiting reject a block only where one arm had much of it and the
//! other much less. The shares are those that the checks of the runs have seen ([`crate::run`]).

use crate::signal::{grade, positive, ratio, seen, shaped, unknown, warn_if};
use model::check::{Check, Status, Threat};
use model::{Area, Benchmark, Limits, RunRecord};

/// The checks of a block: of its `base` arm (the host) against its `other` arm.
pub fn checks(limits: &Limits, benchmark: &Benchmark, base: &RunRecord, other: &RunRecord) -> Vec<Check> {
    let mut checks = vec![contention(limits, base, other), frequency(limits, base, other)];
    checks.extend(huge_pages(limits, benchmark, base, other));
    checks
}

/// Steal or waiting in one arm only.
fn contention(limits: &Limits, base: &RunRecord, other: &RunRecord) -> Check {
    let signals = [
        ("steal", Threat::Steal, "steal-share", limits.steal_invalid),
        ("waiting", Threat::RunQueue, "wait-share", limits.wait_invalid),
    ];
    let mut found = Vec::new();
    for (shape, threat, key, invalid) in signals {
        let arms = seen(base, threat, key).zip(seen(other, threat, key));
        found.push(match arms {
            None => unknown(Threat::Contention),
            Some((base, other)) => {
                let alone = base.max(other) >= invalid && (base - other).abs() >= limits.contention_invalid;
                let status = if alone { Status::Invalid } else { Status::Pass };
                shaped(Threat::Contention, status, shape).with("base-share", base).with("other-share", other)
            }
        });
    }
    worst_of(found).unwrap_or_else(|| unknown(Threat::Contention))
}

/// CPU frequency of the two arms.
fn frequency(limits: &Limits, base: &RunRecord, other: &RunRecord) -> Check {
    let threat = Threat::Frequency;
    let of = |run: &RunRecord| positive(run.surroundings.as_ref().and_then(|s| s.frequency_hertz));
    let difference = of(base)
        .zip(of(other))
        .and_then(|(base, other)| Some((base, other, ratio(Some((base - other).abs()), Some(base.max(other)))?)));
    let Some((base, other, difference)) = difference else { return unknown(threat) };
    let status = grade(difference, limits.frequency_warn, limits.frequency_invalid);
    let check = shaped(threat, status, "arms").with("base-hertz", base).with("other-hertz", other);
    check.with("difference-share", difference)
}

/// Huge pages under one arm only: of the machine's own, or of the host below the guest.
fn huge_pages(limits: &Limits, benchmark: &Benchmark, base: &RunRecord, other: &RunRecord) -> Option<Check> {
    let threat = Threat::HugePages;
    // The runs know whether memory matters to this benchmark.
    if ![base, other].iter().any(|run| run.checks.iter().any(|check| check.threat == threat)) {
        return None;
    }
    let levels = ["huge-share", "backing-share"].map(|key| seen(base, threat, key).zip(seen(other, threat, key)));
    let [Some(own), Some(below)] = levels else { return Some(unknown(threat)) };
    let distance = |(base, other): (f64, f64)| (base - other).abs();
    let (shape, (base, other)) = if distance(own) >= distance(below) { ("own", own) } else { ("backing", below) };
    let apart = distance((base, other)) >= limits.huge_pages_invalid;
    let status = match benchmark.area {
        Area::Memory if apart => Status::Invalid,
        _ => warn_if(apart),
    };
    Some(shaped(threat, status, shape).with("base-share", base).with("other-share", other))
}

/// The gravest of several checks of one threat, the first of equals.
fn worst_of(checks: Vec<Check>) -> Option<Check> {
    checks.into_iter().reduce(|worst, next| if next.status > worst.status { next } else { worst })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Scene, arms, status};

    fn judged(arms: &mut [Scene; 2], threat: Threat) -> Option<Status> {
        arms.iter_mut().for_each(Scene::judge);
        let [host, guest] = arms;
        status(&checks(&host.limits, &host.benchmark, &host.record, &guest.record), threat)
    }

    #[test]
    fn two_good_arms_pass_every_check() {
        for area in [Area::Cpu, Area::Memory, Area::Disk] {
            let [host, guest] = arms(area);
            let found = checks(&host.limits, &host.benchmark, &host.record, &guest.record);
            assert!(found.len() >= 2 && found.iter().all(|c| c.status == Status::Pass), "{area:?} {found:?}");
        }
    }

    #[test]
    fn a_hog_in_the_guests_turn_only_rejects_the_block() {
        let mut pair = arms(Area::Cpu);
        pair[1].record.host_cost.as_mut().unwrap().vcpu_wait_seconds = Some(4.0);
        assert_eq!(judged(&mut pair, Threat::Contention), Some(Status::Invalid));
        pair[0].counters().run_queue_wait_seconds = Some(4.0);
        assert_eq!(judged(&mut pair, Threat::Contention), Some(Status::Pass), "what both bear cancels");
        let mut pair = arms(Area::Cpu);
        pair[0].counters().steal_seconds = Some(2.0);
        assert_eq!(judged(&mut pair, Threat::Contention), Some(Status::Invalid));
        pair[0].counters().steal_seconds = Some(0.8);
        assert_eq!(judged(&mut pair, Threat::Contention), Some(Status::Pass), "4 % are not enough");
    }

    #[test]
    fn contention_that_one_arm_cannot_tell_is_unknown() {
        let mut pair = arms(Area::Cpu);
        pair[0].counters().steal_seconds = None;
        assert_eq!(judged(&mut pair, Threat::Contention), Some(Status::Unknown));
        pair[1].record.host_cost.as_mut().unwrap().vcpu_wait_seconds = Some(4.0);
        assert_eq!(judged(&mut pair, Threat::Contention), Some(Status::Invalid), "the other signal is enough");
    }

    #[test]
    fn frequencies_that_differ_warn_and_then_reject() {
        let mut pair = arms(Area::Cpu);
        for (hertz, expected) in [
            (Some(2.95e9), Status::Pass),
            (Some(2.85e9), Status::Warn),
            (Some(3.15e9), Status::Warn),
            (Some(2.4e9), Status::Invalid),
            (None, Status::Unknown),
        ] {
            pair[1].surroundings().frequency_hertz = hertz;
            assert_eq!(judged(&mut pair, Threat::Frequency), Some(expected), "{hertz:?}");
        }
    }

    #[test]
    fn huge_pages_on_one_side_reject_a_memory_benchmark() {
        let mut pair = arms(Area::Memory);
        pair[0].counters().anon_huge_bytes = Some(0);
        assert_eq!(
            judged(&mut pair, Threat::HugePages),
            Some(Status::Invalid),
            "QEMU has them, the host's buffers not"
        );
        pair[1].counters().anon_huge_bytes = Some(0);
        assert_eq!(judged(&mut pair, Threat::HugePages), Some(Status::Invalid), "the guest's memory lies in them");
        pair[1].surroundings().huge_share = Some(0.0);
        assert_eq!(judged(&mut pair, Threat::HugePages), Some(Status::Pass), "nobody has them");
        pair[1].surroundings().huge_share = None;
        assert_eq!(judged(&mut pair, Threat::HugePages), Some(Status::Unknown));
    }

    #[test]
    fn huge_pages_on_one_side_warn_for_a_cpu_benchmark_with_much_memory_and_are_nothing_to_a_disk() {
        let mut pair = arms(Area::Cpu);
        pair.iter_mut().for_each(|scene| scene.cell.needs.memory = 256 << 20);
        assert_eq!(judged(&mut pair, Threat::HugePages), Some(Status::Pass));
        pair[1].surroundings().huge_share = Some(0.1);
        assert_eq!(judged(&mut pair, Threat::HugePages), Some(Status::Warn));
        pair.iter_mut().for_each(|scene| scene.cell.needs.memory = 1 << 20);
        assert_eq!(judged(&mut pair, Threat::HugePages), None);
        assert_eq!(judged(&mut arms(Area::Disk), Threat::HugePages), None);
    }
}
