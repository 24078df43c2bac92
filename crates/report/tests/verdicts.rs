//! What follows from intervals, checks and blocks that do not count.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod sample;

use model::check::{Check, Status, Threat};
use model::plan::Precision;
use model::record::{GUEST, HOST, Look, LookDecision};
use model::{Area, Event, Outcome, Runner};
use sample::Study;
use std::collections::BTreeMap;
use vmtax_report::Analysis;
use vmtax_report::analysis::{BenchmarkReport, CheckReport, Flag, Reason, RunOutcome, Verdict};

fn close(found: f64, known: f64) {
    assert!((found - known).abs() < 1e-9 * known.abs().max(1.0), "{found} is not {known}");
}

/// Only `memory.memcpy`, with these log cost ratios by round.
fn memcpy(ratios: &[f64]) -> Study {
    let rounds = ratios.len() as u32;
    let mut study = Study::kvm(rounds).only(&[Area::Memory]);
    study.manifest.benchmarks.truncate(1);
    study.manifest.plan.cells.truncate(1);
    let mut study = study.measured(rounds);
    study.each_run(|run| {
        let d = if run.machine == GUEST { ratios[run.round as usize - 1] } else { 0.0 };
        run.outcome = Outcome::Measured { values: BTreeMap::from([("rate".to_owned(), 1e9 * (-d).exp())]) };
    });
    study
}

fn named<'a>(analysis: &'a Analysis, id: &str) -> &'a BenchmarkReport {
    analysis.benchmarks.iter().find(|b| b.id == id).unwrap()
}

/// A check on every run of these that `pick` says.
fn checked(study: &mut Study, check: &Check, pick: impl Fn(&model::RunRecord) -> bool) {
    study.each_run(|run| {
        if pick(run) {
            run.checks.push(check.clone());
        }
    });
}

#[test]
fn an_interval_that_decides_nothing_is_imprecise_only_where_it_is_too_wide() {
    let wide: Vec<f64> =
        (0..10).map(|i| 0.05 + 0.02 * f64::from(i % 5) * if i % 2 == 0 { 1.0 } else { -2.0 }).collect();
    let mut study = memcpy(&wide);
    let of = |study: &Study| study.analyse().benchmarks[0].metrics[0].clone();
    let found = of(&study);
    let precision = found.precision.unwrap();
    assert_eq!((found.verdict, precision.reached, precision.target_percent), (Some(Verdict::Imprecise), false, 3.0));
    let interval = found.overhead.unwrap().interval.unwrap();
    let half_width = (interval.high_log - interval.low_log) / 2.0;
    close(precision.half_width_percent, 100.0 * half_width.exp_m1());
    let forecast = (10.0 * (half_width / 1.03f64.ln()).powi(2)).ceil() as usize;
    assert_eq!(precision.forecast, Some(forecast));
    study.manifest.plan.precision = Some(Precision::HalfWidth(0.5));
    let found = of(&study);
    assert_eq!(found.verdict, Some(Verdict::Inconclusive), "it is as narrow as was asked for");
    assert_eq!(found.precision.map(|p| (p.reached, p.forecast)), Some((true, None)));
}

#[test]
fn an_interval_that_decides_is_never_imprecise() {
    let study = memcpy(&[0.5, 0.9, 0.4, 1.0, 0.6, 0.7, 0.3, 1.2]);
    let found = &study.analyse().benchmarks[0].metrics[0];
    assert_eq!((found.verdict, found.precision.unwrap().reached), (Some(Verdict::Overhead), false));
}

#[test]
fn secondary_metrics_have_no_target() {
    let analysis = Study::kvm(8).only(&[Area::Disk]).measured(8).analyse();
    for comparison in &named(&analysis, "disk.randread-4k").metrics {
        assert_eq!(comparison.precision.is_some(), comparison.metric.primary, "{}", comparison.metric.id);
    }
}

#[test]
fn pairing_is_worth_the_noise_that_it_takes_away() {
    // ln host: 0, 1, 2, 3; ln guest the same plus d = 0, 0.1, 0, 0.1.
    let mut study = memcpy(&[0.0; 4]);
    study.each_run(|run| {
        let round = f64::from(run.round - 1);
        let d = if run.machine == GUEST && run.round % 2 == 0 { 0.1 } else { 0.0 };
        run.outcome = Outcome::Measured { values: BTreeMap::from([("rate".to_owned(), (round - d).exp())]) };
    });
    let found = study.analyse().benchmarks[0].metrics[0].variance_reduction.unwrap();
    // The variances are 5/3 for 0, 1, 2, 3; those of 0, 0.9, 2, 2.9 and of 0, 0.1, 0, 0.1 over three.
    let guest: f64 = [0.0, 0.9, 2.0, 2.9].iter().map(|x: &f64| (x - 1.45) * (x - 1.45)).sum();
    close(found, (5.0 + guest) / 0.01);
    assert_eq!(memcpy(&[0.1, 0.2]).analyse().benchmarks[0].metrics[0].variance_reduction, None);
}

#[test]
fn a_rejected_block_is_dropped_by_name_and_too_many_of_them_make_the_benchmark_invalid() {
    let invalid = Check::new(Threat::Steal, Status::Invalid).with("steal-share", 0.2);
    let id = "cpu.dhrystone";
    let mut study = Study::kvm(10).only(&[Area::Cpu]).measured(10);
    checked(&mut study, &invalid, |run| run.benchmark == id && run.round <= 2 && run.machine == GUEST);
    let analysis = study.analyse();
    let report = named(&analysis, id);
    assert_eq!((report.blocks, report.blocks_dropped, report.invalid), (8, 2, false), "20 % are allowed");
    let dropped = &report.dropped[1];
    assert_eq!((dropped.round, dropped.reason), (2, Reason::Rejected));
    assert_eq!(dropped.threats.iter().collect::<Vec<_>>(), [&Threat::Steal]);
    assert_eq!(dropped.values["rate"].len(), 2);
    assert_eq!(report.metrics[0].points.iter().map(|p| p.round).collect::<Vec<_>>(), (3..=10).collect::<Vec<_>>());
    assert_eq!(analysis.areas[0].overhead.unwrap().rounds, 8);

    checked(&mut study, &invalid, |run| run.benchmark == id && run.round == 3 && run.machine == HOST);
    let analysis = study.analyse();
    let report = named(&analysis, id);
    assert!(report.flags.contains(&Flag::BlocksRejected { share: 0.3 }), "{:?}", report.flags);
    assert_eq!(report.metrics[0].verdict, Some(Verdict::Invalid));
    assert!(report.metrics[0].overhead.is_some(), "the numbers stay");
    assert_eq!(analysis.areas[0].left_out, [id]);
    study.manifest.plan.limits.dropped_invalid = 0.5;
    assert!(!named(&study.analyse(), id).invalid, "the plan's own limit counts");
}

#[test]
fn a_block_without_both_sides_is_dropped_with_what_came_of_its_runs() {
    let mut study = Study::kvm(8).only(&[Area::Cpu]).measured(8);
    study.each_run(|run| {
        if run.benchmark == "cpu.whetstone" && run.round == 4 && run.machine == GUEST {
            run.outcome = Outcome::Skipped { why: "no time".to_owned() };
        }
    });
    let analysis = study.analyse();
    let report = named(&analysis, "cpu.whetstone");
    let dropped = &report.dropped[0];
    assert_eq!((report.blocks_dropped, dropped.round, dropped.reason), (1, 4, Reason::NotMeasured));
    assert_eq!((dropped.outcomes[HOST], dropped.outcomes[GUEST]), (RunOutcome::Measured, RunOutcome::Skipped));
    assert!(!report.invalid, "what was not measured was not rejected");
}

#[test]
fn checks_are_gathered_by_threat_and_machine_with_the_worst_evidence_first() {
    let mut study = Study::kvm(8).only(&[Area::Cpu]).measured(8);
    let steal = |status, share: f64| Check::new(Threat::Steal, status).with("steal-share", share);
    study.each_run(|run| {
        let warn = run.machine == GUEST && run.round >= 5;
        run.checks.push(if warn {
            steal(Status::Warn, f64::from(run.round) / 100.0)
        } else {
            steal(Status::Pass, 0.0)
        });
        run.checks.push(Check::new(Threat::Thermal, Status::Unknown));
    });
    // An attempt that does not count has no say.
    study.start(9, 1);
    let mut run = study.run(9, 1, 0, 0, GUEST);
    run.checks.push(steal(Status::Invalid, 0.9));
    study.log(Event::Run(Box::new(run)));
    study.close(9, 1, false, None);
    let analysis = study.analyse();
    // Those of blocks and of the whole course have no machine.
    let of_runs = |check: &&CheckReport| check.machine.is_some();
    let checks: Vec<&CheckReport> = named(&analysis, "cpu.dhrystone").checks.iter().filter(of_runs).collect();
    let told: Vec<_> = checks.iter().map(|c| (c.threat, c.status, c.machine.as_deref().unwrap())).collect();
    assert_eq!(
        told,
        [
            (Threat::Steal, Status::Warn, GUEST),
            (Threat::Thermal, Status::Unknown, GUEST),
            (Threat::Thermal, Status::Unknown, HOST),
            (Threat::Steal, Status::Pass, HOST),
        ]
    );
    assert_eq!(checks[0].counts, BTreeMap::from([(Status::Pass, 4), (Status::Warn, 4)]));
    assert_eq!((checks[0].round, &checks[0].evidence["steal-share"]), (Some(5), &0.05.into()));
}

#[test]
fn looks_are_told_in_order_with_their_benchmark() {
    let mut study = Study::kvm(8).only(&[Area::Cpu]).measured(8);
    for (round, decision) in [(8, LookDecision::MoreRounds), (10, LookDecision::Precise)] {
        study.log(Event::Look(Look {
            round,
            benchmark: "cpu.whetstone".to_owned(),
            metric: "rate".to_owned(),
            blocks: round as usize,
            typical_log: 0.01,
            half_width_log: 0.02,
            target_log: 0.0296,
            decision,
            forecast: None,
        }));
    }
    let analysis = study.analyse();
    assert_eq!(named(&analysis, "cpu.whetstone").looks.iter().map(|l| l.round).collect::<Vec<_>>(), [8, 10]);
    assert!(named(&analysis, "cpu.dhrystone").looks.is_empty());
}

#[test]
fn a_benchmark_that_leaves_early_is_not_dropped_and_the_suite_uses_the_rounds_that_have_all() {
    let mut study = Study::kvm(12).only(&[Area::Cpu]).measured(12);
    let early = "cpu.whetstone";
    study.lines.retain(|line| !matches!(&line.event, Event::Run(run) if run.benchmark == early && run.round > 8));
    for line in &mut study.lines {
        if let Event::RoundStarted { round: 9.., order, .. } = &mut line.event {
            order.retain(|id| id != early);
        }
    }
    let analysis = study.analyse();
    let blocks = |id: &str| (named(&analysis, id).blocks, named(&analysis, id).blocks_dropped);
    assert_eq!((blocks(early), blocks("cpu.dhrystone")), ((8, 0), (12, 0)));
    let area = &analysis.areas[0];
    assert_eq!((area.overhead.unwrap().rounds, area.left_out.as_slice(), area.benchmarks.len()), (8, &[][..], 3));
}

#[test]
fn the_canary_is_no_figure_of_the_cpu_unless_it_is_all_there_is() {
    let mut study = Study::kvm(8).only(&[Area::Cpu]).measured(8);
    study.manifest.benchmarks[1].runner = Runner::Workload { name: "canary".to_owned(), version: 1 };
    let analysis = study.analyse();
    assert_eq!(analysis.areas[0].left_out, ["cpu.whetstone"]);
    assert_eq!(analysis.areas[0].benchmarks, ["cpu.dhrystone", "cpu.file-copy-4k"]);
    study.manifest.benchmarks.swap(0, 1);
    study.manifest.benchmarks.truncate(1);
    let analysis = study.analyse();
    assert_eq!(analysis.areas[0].benchmarks, ["cpu.whetstone"]);
}

#[test]
fn what_host_and_guest_do_not_share_is_data() {
    let mut study = Study::kvm(1);
    let facts = |study: &mut Study, machine: &str, flags: &[&str], mitigation: &str| {
        let facts = study.manifest.machines.get_mut(machine).unwrap();
        facts.cpu.flags = flags.iter().map(|f| (*f).to_owned()).collect();
        facts.vulnerabilities = BTreeMap::from([("spectre_v2".to_owned(), mitigation.to_owned())]);
        facts.clock.source = Some(if machine == HOST { "tsc" } else { "kvm-clock" }.to_owned());
        facts.thp_enabled = Some("madvise".to_owned());
    };
    facts(&mut study, HOST, &["aes", "avx", "fma"], "Mitigation: IBRS");
    facts(&mut study, GUEST, &["aes", "hypervisor"], "Vulnerable");
    let analysis = study.analyse();
    let difference = |key: &str| {
        let found = analysis.differences.iter().find(|d| d.key == key);
        found.map(|d| (d.host.as_str(), d.guest.as_str()))
    };
    assert_eq!(difference("clock-source"), Some(("tsc", "kvm-clock")));
    assert_eq!(difference("cpu-flags"), Some(("3", "2")));
    assert_eq!(difference("cpu-flags-of-one-side"), Some(("avx fma", "hypervisor")));
    assert_eq!(difference("mitigation-spectre_v2"), Some(("Mitigation: IBRS", "Vulnerable")));
    assert_eq!(difference("huge-pages"), None, "they are the same");
    assert_eq!(difference("governor"), None, "a machine that does not tell does not differ");
    study.manifest.machines.remove(GUEST);
    assert!(study.analyse().differences.is_empty());
}
