//! What must hold whatever a journal says.

use crate::fixture::{Scene, manifest, visit};
use crate::run::{RunContext, checks};
use crate::{Block, block, course, machines};
use model::check::{Check, Fact, Status};
use model::evidence::{ClockRate, Idle};
use model::record::{GUEST, HOST};
use model::{Area, Counters, HostCost, Limits, Outcome, RunRecord, Series, Surroundings, Work};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use stats::{Interval, Margin};

/// Any number that a broken machine could write, and often a plausible one.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0..100.0,
        2 => any::<f64>(),
        1 => proptest::num::f64::ANY,
        1 => prop::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, f64::MAX]),
    ]
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![0..10u64, any::<u64>()]
}

fn counters() -> impl Strategy<Value = Counters> {
    let seconds = (vec(number(), 3), vec(of(number()), 4));
    (seconds, vec(of(count()), 6)).prop_map(|((plain, seconds), counts)| Counters {
        wall_seconds: plain[0],
        user_seconds: plain[1],
        system_seconds: plain[2],
        steal_seconds: seconds[0],
        cpu_capacity_seconds: seconds[1],
        run_queue_wait_seconds: seconds[2],
        throttled_seconds: seconds[3],
        anon_huge_bytes: counts[0],
        context_switches: counts[1],
        read_bytes: counts[2],
        write_bytes: counts[3],
        swapped_pages: counts[4],
        oom_kills: counts[5],
    })
}

fn host_cost() -> impl Strategy<Value = HostCost> {
    (vec(number(), 2), of(number()), count(), count()).prop_map(|(plain, wait, read, written)| HostCost {
        vcpu_seconds: plain[0],
        wall_seconds: plain[1],
        vcpu_wait_seconds: wait,
        read_bytes: read,
        write_bytes: written,
        ..HostCost::default()
    })
}

fn work() -> impl Strategy<Value = Work> {
    (vec(number(), 2), vec(of(number()), 5), vec(of(any::<bool>()), 2), vec(of(count()), 2)).prop_map(
        |(plain, numbers, words, counts)| Work {
            steady_seconds: plain[0],
            ramp_seconds: plain[1],
            bytes: numbers[0],
            read_bytes: numbers[1],
            target_rate: numbers[2],
            achieved_rate: numbers[3],
            longest_seconds: numbers[4],
            direct: words[0],
            from_intended_start: words[1],
            span_bytes: counts[0],
            latency_samples: counts[1],
        },
    )
}

fn surroundings() -> impl Strategy<Value = Surroundings> {
    (vec(of(number()), 7), vec(of(count()), 4), vec(of(any::<bool>()), 2), of((number(), number()))).prop_map(
        |(numbers, counts, words, clock)| Surroundings {
            steal_share: numbers[5],
            others_seconds: numbers[6],
            thermal_seconds: numbers[0],
            frequency_hertz: numbers[1],
            throttled_seconds: numbers[2],
            allocated_share: numbers[3],
            huge_share: numbers[4],
            thermal_events: counts[0],
            swapped_pages: counts[1],
            oom_kills: counts[2],
            merged_pages: counts[3],
            descriptor_direct: words[0],
            kvm: words[1],
            clock: clock.map(|(rate, uncertainty)| ClockRate { rate, uncertainty }),
        },
    )
}

fn series() -> impl Strategy<Value = Series> {
    let samples = prop_oneof![vec(90.0..110.0, 0..130), vec(number(), 0..60)];
    (number(), samples).prop_map(|(step_seconds, samples)| Series {
        metrics: vec!["rate".to_owned()],
        step_seconds,
        samples,
    })
}

fn idle() -> impl Strategy<Value = Idle> {
    vec(of(number()), 4).prop_map(|n| Idle {
        seconds: 2.0,
        cpu_share: n[0],
        io_share: n[1],
        memory_share: n[2],
        busy_share: n[3],
    })
}

/// A run of which any part may be missing or nonsense, judged.
pub(crate) fn scene() -> impl Strategy<Value = Scene> {
    let kind = (0..3usize, any::<bool>(), number(), any::<u64>(), any::<u32>());
    let evidence = (of(counters()), of(host_cost()), of(work()), of(surroundings()), of(series()), of(idle()));
    (kind, evidence, of(number()), of(number())).prop_map(|(kind, evidence, controller, read)| {
        let (area, is_guest, value, memory, turn) = kind;
        let area = [Area::Cpu, Area::Memory, Area::Disk][area];
        let mut scene = if is_guest { Scene::guest(area) } else { Scene::host(area) };
        scene.cell.needs.memory = memory;
        scene.facts.memory_total = memory;
        scene.facts.clock.read_seconds = read;
        let record = &mut scene.record;
        record.turn = turn;
        (record.counters, record.host_cost, record.work, record.surroundings, record.series, scene.idle) = evidence;
        record.controller_seconds = controller;
        if let Outcome::Measured { values } = &mut record.outcome {
            values.insert("rate".to_owned(), value);
        }
        scene.judge();
        scene
    })
}

fn sound(checks: &[Check]) -> bool {
    let fits = |fact: &Fact| !matches!(fact, Fact::Number(number) if !number.is_finite());
    checks.iter().all(|check| check.evidence.values().all(fits))
}

/// Everything that can be said of these runs as rounds of a study.
pub(crate) fn all_checks(scenes: &[Scene], canary: f64, interval: &Interval) -> Vec<Check> {
    let mut found: Vec<Check> = scenes.iter().flat_map(|scene| scene.record.checks.clone()).collect();
    let pairs: Vec<(&Scene, &Scene)> = scenes.chunks_exact(2).map(|pair| (&pair[0], &pair[1])).collect();
    let blocks: Vec<Block<'_>> = pairs
        .iter()
        .map(|(host, guest)| Block::new(&host.limits, &host.benchmark, 0, &host.record, &guest.record))
        .collect();
    found.extend(blocks.iter().flat_map(|block| block.checks.clone()));
    if let Some((host, guest)) = pairs.first() {
        let counted: Vec<&Block<'_>> = blocks.iter().collect();
        let metric = &host.benchmark.metrics[0];
        found.extend(course::checks(&host.limits, metric, &counted));
        let margin = Margin::relative(0.05).unwrap();
        found.push(course::faster_than_host(&host.benchmark, &guest.disk, interval, margin, &counted));
        let manifest = manifest();
        let lines = [visit(HOST, 1, false, 0.05), visit(GUEST, 1, false, canary), visit(GUEST, 1, true, 0.05)];
        found.extend(machines::checks(&manifest, &lines));
        found.extend(machines::of_benchmark(&manifest, &host.benchmark));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_a_journal_holds_nothing_panics_and_evidence_is_finite(
        scenes in vec(scene(), 0..24), canary in number(), high in number()
    ) {
        let interval = Interval { estimate: 0.0, low: high, high, level: 0.95, n: 8 };
        let found = all_checks(&scenes, canary, &interval);
        prop_assert!(sound(&found), "{:?}", found);
    }

    #[test]
    fn a_status_depends_on_nothing_but_the_evidence(scene in scene()) {
        prop_assert_eq!(scene.checks(), scene.checks());
    }
}

/// Ways to lose a signal.
const LOSSES: &[fn(&mut RunRecord)] =
    &[|r| r.counters = None, |r| r.host_cost = None, |r| r.surroundings = None, |r| r.work = None, |r| r.series = None];

#[test]
fn losing_a_signal_never_turns_anything_into_a_pass() {
    for area in [Area::Cpu, Area::Memory, Area::Disk] {
        for good in [Scene::host(area), Scene::guest(area)] {
            for lose in LOSSES {
                let mut scene = good.clone();
                lose(&mut scene.record);
                for check in scene.checks() {
                    let before = good.status(check.threat);
                    assert!(check.status == Status::Unknown || before == Some(Status::Pass), "{check:?}");
                }
            }
        }
    }
}

#[test]
fn numbers_that_cannot_be_are_signals_that_were_not_read() {
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        for mut scene in [Scene::host(Area::Disk), Scene::guest(Area::Disk), Scene::guest(Area::Memory)] {
            let counters = scene.counters();
            (counters.steal_seconds, counters.cpu_capacity_seconds) = (Some(bad), Some(bad));
            (counters.run_queue_wait_seconds, counters.throttled_seconds) = (Some(bad), Some(bad));
            let surroundings = scene.surroundings();
            (surroundings.thermal_events, surroundings.thermal_seconds) = (None, Some(bad));
            (surroundings.throttled_seconds, surroundings.allocated_share) = (Some(bad), Some(bad));
            (surroundings.huge_share, surroundings.frequency_hertz) = (Some(bad), Some(bad));
            if let Some(cost) = &mut scene.record.host_cost {
                cost.vcpu_wait_seconds = Some(bad);
            }
            scene.idle = Some(Idle { cpu_share: Some(bad), ..Idle::default() });
            use model::Threat::{OtherLoad, Quota, RunQueue, Steal, Thermal, ThinProvisioning};
            for threat in [Steal, RunQueue, Quota, Thermal, OtherLoad] {
                assert_eq!(scene.status(threat), Some(Status::Unknown), "{bad} {threat:?}");
            }
            assert!(matches!(scene.status(ThinProvisioning), None | Some(Status::Unknown)));
            scene.judge();
            let found = block::checks(&Limits::default(), &scene.benchmark, &scene.record, &scene.record);
            assert!(found.iter().all(|check| check.status == Status::Unknown), "{found:?}");
        }
    }
}

#[test]
fn a_record_is_judged_without_its_context_being_complete() {
    let scene = Scene::guest(Area::Disk);
    let context = RunContext {
        limits: &scene.limits,
        benchmark: &scene.benchmark,
        cell: &scene.cell,
        accelerator: scene.accelerator,
        disk: &scene.disk,
        is_guest: true,
        facts: &Default::default(),
        other: None,
        idle: None,
    };
    let found = checks(&context, &scene.record);
    assert!(found.iter().any(|check| check.status == Status::Unknown));
    assert!(found.iter().all(|check| check.status <= Status::Unknown), "{found:?}");
}
