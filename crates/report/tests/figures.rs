//! The figures: against numbers worked out by hand, and which runs they are made from.

mod sample;

use model::record::{GUEST, HOST};
use model::{Accelerator, Area, Event, FailureCause, Outcome};
use sample::{LOAD, Study};
use std::collections::BTreeMap;
use vmtax_report::analysis::{Flag, NoteKind, Strength, TroubleKind, Verdict};

fn close(found: f64, known: f64) {
    assert!((found - known).abs() < 1e-9 * known.abs().max(1.0), "{found} is not {known}");
}

/// Only `disk.randread-4k`, with these IOPS by round.
fn randread(host: &[f64], guest: &[f64]) -> Study {
    let mut study = Study::kvm(host.len() as u32).only(&[Area::Disk]);
    study.manifest.benchmarks.truncate(1);
    study.manifest.plan.cells.truncate(1);
    let mut study = study.measured(host.len() as u32);
    study.each_run(|run| {
        let iops = if run.machine == HOST { host } else { guest }[run.round as usize - 1];
        run.outcome = Outcome::Measured { values: BTreeMap::from([("iops".to_owned(), iops)]) };
    });
    study
}

#[test]
fn an_overhead_is_the_one_that_is_worked_out_by_hand() {
    let analysis = randread(&[100.0; 3], &[80.0, 50.0, 40.0]).analyse();
    let comparison = &analysis.benchmarks[0].metrics[0];
    let overhead = comparison.overhead.unwrap();
    // The cost ratios are 1.25, 2 and 2.5. Of the six Walsh averages of their logarithms the middle two are those of
    // (1.25, 2.5) and of 2 itself.
    let typical = 3.125f64.powf(0.25) * 2f64.sqrt();
    close(overhead.percent, 100.0 * (typical - 1.0));
    close(overhead.of_host_percent.unwrap(), 100.0 / typical);
    close(overhead.loss_percent.unwrap(), 100.0 - 100.0 / typical);
    close(overhead.geometric_mean_percent.unwrap(), 100.0 * (6.25f64.cbrt() - 1.0));
    // Mean 0.610861, standard deviation 0.353824, t(0.975; 2) = 4.302653.
    let interval = overhead.interval.unwrap();
    assert!((interval.low_log - -0.268_087).abs() < 1e-5, "{interval:?}");
    assert!((interval.high_log - 1.489_809).abs() < 1e-5, "{interval:?}");
    assert_eq!((overhead.rounds, overhead.strength), (3, Strength::Indicative));
    assert_eq!(comparison.verdict, Some(Verdict::Imprecise));
    assert_eq!((comparison.host.median, comparison.guest.median), (100.0, 50.0));
    assert_eq!(analysis.areas[0].overhead.unwrap().percent, overhead.percent, "one benchmark is its own summary");
}

#[test]
fn cpu_time_per_unit_of_work_is_the_one_that_is_worked_out_by_hand() {
    let mut study = randread(&[1000.0; 3], &[500.0; 3]);
    study.each_run(|run| {
        let guest = run.machine == GUEST;
        let cost = run.host_cost.as_mut().unwrap();
        (cost.vcpu_seconds, cost.io_seconds, cost.other_seconds) =
            if guest { (6.0, 2.0, 1.0) } else { (3.0, 0.0, 0.0) };
    });
    let analysis = study.analyse();
    let cost = analysis.benchmarks[0].host_cost.as_ref().unwrap();
    // fio works for 5 s after 1 s of ramp: 6000 I/Os on the host, 3000 in the guest; starting up is no work.
    assert_eq!((LOAD, cost.work.title.as_str(), cost.blocks), (6.0, "1,000 I/Os", 3));
    close(cost.host.cpu_seconds, 0.5);
    close(cost.guest.cpu_seconds, 3.0);
    close(cost.guest.vcpu_seconds, 2.0);
    close(cost.guest.io_seconds, 2.0 / 3.0);
    close(cost.guest.other_seconds, 1.0 / 3.0);
    close(cost.factor.unwrap(), 6.0);
    close(cost.overhead.unwrap().percent, 500.0);
}

#[test]
fn a_score_per_cpu_second_is_work_over_cpu_time() {
    let mut study = Study::kvm(3).only(&[Area::Cpu]).measured(3);
    study.each_run(|run| {
        let counters = run.counters.as_mut().unwrap();
        (counters.wall_seconds, counters.user_seconds, counters.system_seconds) = (5.0, 3.0, 1.0);
        run.outcome = Outcome::Measured { values: BTreeMap::from([("rate".to_owned(), 8.0e6)]) };
    });
    let score = study.analyse().benchmarks[0].cpu_score.clone().unwrap();
    close(score.host.median, 1.0e7);
    close(score.overhead.unwrap().percent, 0.0);
}

#[test]
fn a_round_counts_with_its_last_complete_attempt_and_the_rest_is_told() {
    let mut study = Study::kvm(3).only(&[Area::Disk]);
    study.round(1, 1);
    study.start(2, 1);
    let mut dead = study.run(2, 1, 0, 0, GUEST);
    dead.outcome = Outcome::Failed { cause: FailureCause::Guest, why: "Kernel panic - not syncing".to_owned() };
    study.log(Event::Run(Box::new(dead)));
    study.close(2, 1, false, Some("the guest died"));
    study.round(3, 1);
    study.round(2, 2);
    study.end();
    let analysis = study.analyse();
    let course = &analysis.course;
    assert_eq!((course.rounds_planned, course.rounds_complete, course.repeated), (3, 3, 1));
    let used: Vec<_> = course.attempts.iter().map(|a| (a.round, a.attempt, a.used)).collect();
    assert_eq!(used, [(1, 1, true), (2, 1, false), (3, 1, true), (2, 2, true)]);
    assert_eq!((course.troubles[0].kind, course.troubles[0].rounds.as_slice()), (TroubleKind::Guest, &[2][..]));
    let points: Vec<_> = analysis.benchmarks[0].metrics[0].points.iter().map(|p| (p.round, p.attempt)).collect();
    assert_eq!(points, [(1, 1), (3, 1), (2, 2)], "points stand in the order of time");
}

#[test]
fn a_round_that_nobody_ended_is_not_used() {
    let mut study = Study::kvm(2).only(&[Area::Cpu]);
    study.round(1, 1);
    study.round(2, 1);
    study.lines.pop();
    let analysis = study.analyse();
    assert_eq!(analysis.course.rounds_complete, 1);
    assert!(!analysis.course.attempts[1].used);
    assert_eq!(analysis.benchmarks[0].blocks, 1);
}

#[test]
fn a_failed_side_drops_its_block_only_and_the_round_from_the_summary() {
    let mut study = Study::kvm(8).only(&[Area::Disk]).measured(8);
    study.each_run(|run| {
        if run.benchmark == "disk.read-1m" && run.machine == HOST && run.round == 5 {
            run.outcome = Outcome::Failed { cause: FailureCause::Tool, why: "fio: No space left on device".to_owned() };
        }
    });
    let analysis = study.analyse();
    let blocks = |id: &str| analysis.benchmarks.iter().find(|b| b.id == id).map(|b| (b.blocks, b.blocks_dropped));
    assert_eq!(blocks("disk.read-1m"), Some((7, 1)));
    assert_eq!(blocks("disk.read-4k"), Some((8, 0)));
    assert_eq!(analysis.areas[0].overhead.unwrap().rounds, 7);
    assert!(analysis.areas[0].left_out.is_empty());
}

#[test]
fn a_benchmark_that_was_never_measured_is_left_out_of_the_summary_by_name() {
    let mut study = Study::kvm(8).only(&[Area::Disk]).measured(8);
    study.each_run(|run| {
        if run.benchmark == "disk.read-1m" {
            run.outcome = Outcome::Skipped { why: "fio is not installed".to_owned() };
        }
    });
    let analysis = study.analyse();
    assert_eq!(analysis.areas[0].left_out, ["disk.read-1m"]);
    assert_eq!(analysis.areas[0].overhead.unwrap().rounds, 8);
    assert_eq!(analysis.course.runs.skipped, 16);
    assert_eq!(analysis.course.troubles.len(), 2, "equal troubles are told once for each machine");
}

#[test]
fn a_disk_row_that_the_hosts_page_cache_served_is_refused() {
    let mut study = Study::kvm(8).only(&[Area::Disk]).measured(8);
    let id = "disk.randread-4k";
    let flagged = |study: &Study| {
        let analysis = study.analyse();
        let row = analysis.benchmarks.iter().find(|b| b.id == id).unwrap();
        let flag =
            row.flags.iter().find_map(|f| if let Flag::HostPageCache { share } = f { Some(*share) } else { None });
        (flag, row.metrics[0].verdict, analysis.areas[0].left_out.clone())
    };
    assert_eq!(flagged(&study), (None, Some(Verdict::Overhead), Vec::new()));
    let set = |study: &mut Study, share: f64| {
        study.each_run(|run| {
            let Some(rate) = run.outcome.value("bandwidth").filter(|_| run.benchmark == id && run.machine == GUEST)
            else {
                return;
            };
            run.host_cost.as_mut().unwrap().read_bytes = (share * rate * LOAD) as u64;
        });
    };
    set(&mut study, 0.85);
    assert_eq!(flagged(&study).0, None, "start and end of a run are no proof");
    set(&mut study, 0.25);
    let (share, verdict, left_out) = flagged(&study);
    assert!((share.unwrap() - 0.25).abs() < 1e-6);
    assert_eq!((verdict, left_out), (Some(Verdict::Invalid), vec![id.to_owned()]));
    study.each_run(|run| run.host_cost = None);
    assert_eq!(flagged(&study).0, None, "without cost data nothing is claimed");
}

#[test]
fn labels_say_what_puts_the_figures_into_another_light() {
    let kinds = |study: &Study| study.analyse().notes.iter().map(|n| n.kind).collect::<Vec<_>>();
    let emulated = kinds(&Study::emulated(3).measured(3));
    for kind in [NoteKind::Emulated, NoteKind::HostIsVm, NoteKind::Indicative, NoteKind::DifferentKernels] {
        assert!(emulated.contains(&kind), "{kind:?}");
    }
    let mut study = Study::kvm(8).measured(8);
    assert_eq!(kinds(&study), [NoteKind::DifferentKernels]);
    study.manifest.observed.insert("disk.cache".to_owned(), "writeback".to_owned());
    study.manifest.hypervisor.kvm = false;
    assert_eq!(kinds(&study), [NoteKind::NotAccelerated, NoteKind::Setting, NoteKind::DifferentKernels]);
    assert_eq!(study.manifest.accelerator, Accelerator::Kvm);
}

#[test]
fn only_kernel_bound_rows_are_flagged_for_different_kernels() {
    let analysis = Study::kvm(8).measured(8).analyse();
    let flagged: Vec<&str> = analysis
        .benchmarks
        .iter()
        .filter(|b| b.flags.contains(&Flag::DifferentKernels))
        .map(|b| b.id.as_str())
        .collect();
    assert_eq!(flagged, ["cpu.file-copy-4k"]);
}

#[test]
fn memory_that_the_guests_kernel_keeps_is_no_missing_memory() {
    let mut study = Study::kvm(1);
    let memory = |study: &Study| study.analyse().settings.iter().find(|s| s.key == "vm.memory").unwrap().in_effect;
    assert_eq!(memory(&study), Some(true));
    study.manifest.observed.insert("vm.memory".to_owned(), "536870912".to_owned());
    assert_eq!(memory(&study), Some(false));
    study.manifest.observed.remove("vm.memory");
    assert_eq!(memory(&study), None);
}

#[test]
fn values_without_a_ratio_are_shown_and_not_compared() {
    let analysis = randread(&[0.0; 3], &[5.0; 3]).analyse();
    let comparison = &analysis.benchmarks[0].metrics[0];
    assert_eq!((comparison.points.len(), comparison.overhead, comparison.verdict), (3, None, None));
    assert_eq!(analysis.areas[0].left_out, ["disk.randread-4k"]);
}

#[test]
fn a_hundred_thousand_outcomes_are_analysed() {
    let analysis = Study::large().analyse();
    assert_eq!(analysis.course.runs.measured, 120_000);
    assert!(analysis.benchmarks.iter().all(|b| b.blocks == 1000));
}
