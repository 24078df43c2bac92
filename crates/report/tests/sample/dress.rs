//! What an analysis has beside its figures.

use model::record::{GUEST, HOST, Look, LookDecision};
use model::{Area, Fact, Status, Threat};
use std::collections::BTreeMap;
use vmtax_report::Analysis;
use vmtax_report::analysis::{
    CheckReport, Difference, Distribution, LatencyReport, Percentile, PrecisionFigures, Verdict,
};

/// What checks, looks and histograms add to an analysis, in the shape in which reports get it: some of every kind.
pub fn dress(a: &mut Analysis) {
    let check = |threat, status, evidence: &[(&str, Fact)], machine: Option<&str>, round| CheckReport {
        threat,
        status,
        counts: BTreeMap::from([(Status::Pass, 13), (status, 3)]),
        evidence: evidence.iter().map(|(key, fact)| ((*key).to_owned(), fact.clone())).collect(),
        machine: machine.map(str::to_owned),
        round,
    };
    let share = |value: f64| ("share", Fact::Number(value));
    a.checks = vec![
        check(Threat::Environment, Status::Warn, &[("differences", Fact::Number(4.0))], None, None),
        check(Threat::Accelerator, Status::Pass, &[("kvm", "yes".into())], Some(GUEST), None),
        check(Threat::Thermal, Status::Unknown, &[], Some(HOST), None),
    ];
    a.differences = [("kernel", "6.12.8", "6.1.0-18-cloud-amd64"), ("clock-source", "tsc", "kvm-clock")]
        .map(|(key, host, guest)| Difference { key: key.to_owned(), host: host.to_owned(), guest: guest.to_owned() })
        .into();
    for benchmark in &mut a.benchmarks {
        benchmark.checks = vec![
            check(Threat::Steal, Status::Warn, &[share(0.031)], Some(HOST), Some(2)),
            check(Threat::Clock, Status::Pass, &[("drift-share", Fact::Number(0.0001))], Some(GUEST), Some(1)),
        ];
        let narrow = benchmark.area == Area::Cpu;
        for metric in benchmark.metrics.iter_mut().filter(|c| c.metric.primary) {
            metric.precision = Some(PrecisionFigures {
                half_width_percent: if narrow { 1.2 } else { 7.3 },
                target_percent: 3.0,
                reached: narrow,
                forecast: (benchmark.area == Area::Memory).then_some(48),
            });
            if benchmark.area == Area::Disk {
                metric.verdict = Some(Verdict::Imprecise);
            }
            benchmark.looks.extend([8, 10, 12].map(|blocks| Look {
                round: blocks,
                benchmark: benchmark.id.clone(),
                metric: metric.metric.id.clone(),
                blocks: blocks as usize,
                typical_log: 0.012,
                half_width_log: 0.2 / f64::from(blocks),
                target_log: 1.03f64.ln(),
                decision: if blocks == 12 { LookDecision::Imprecise } else { LookDecision::MoreRounds },
                forecast: Some(48),
            }));
        }
        if benchmark.area == Area::Disk {
            let distribution = |slow: f64| Distribution {
                operations: 2_400_000,
                runs: 8,
                percentiles: [50.0, 90.0, 99.0, 99.9, 99.99]
                    .map(|percent: f64| {
                        let seconds = slow * 2e-4 * (1.0 / (1.0 - percent / 100.0)).powf(0.45);
                        let interval_seconds = Some([0.97 * seconds, 1.04 * seconds]);
                        Percentile { percent, seconds, interval_seconds }
                    })
                    .into(),
                curve: (1..400)
                    .map(|i| 1.0 - 10f64.powf(-f64::from(i) / 80.0))
                    .map(|share| [slow * 2e-4 * (1.0 / (1.0 - share)).powf(0.45), share])
                    .collect(),
                saturated: slow > 1.0,
            };
            benchmark.latency = Some(LatencyReport {
                machines: BTreeMap::from([(HOST.to_owned(), distribution(1.0)), (GUEST.to_owned(), distribution(1.4))]),
                missing: vec!["raw/3-1-disk.json".to_owned()],
            });
        }
    }
    // A block of the last row was dropped, and is missing from its points.
    let last = a.benchmarks.last_mut().expect("a benchmark");
    if last.blocks > 2 {
        last.blocks -= 1;
        last.blocks_dropped += 1;
        for metric in &mut last.metrics {
            metric.points.remove(2);
        }
    }
    let evidence = [("device-share", Fact::Number(0.02)), ("mode", "writeback".into())];
    last.checks.insert(0, check(Threat::PageCache, Status::Invalid, &evidence, Some(GUEST), Some(3)));
}
